"""Building ensembles: out of single trees, and out of other ensembles."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sklearn_interpret._core.trees.structure.ensemble import NODE_FIELDS, TreeEnsemble


@dataclass(frozen=True, eq=False)
class Tree:
    """One tree, its nodes counted from zero, the root first.

    Parameters
    ----------
    left, right : array-like of shape (n_nodes,)
        Children, negative at leaves.
    feature : array-like of shape (n_nodes,)
        Feature split on; whatever at leaves.
    threshold : array-like of shape (n_nodes,)
        Of numeric splits; whatever elsewhere.
    value : array-like of shape (n_nodes, k)
        Leaf values; whatever elsewhere.
    cover : array-like of shape (n_nodes,)
        Weight of training rows.
    missing_left : array-like of shape (n_nodes,) or bool, default=False
        Where missing values go.
    category_set : array-like of shape (n_nodes,), default=-1
        Row of this tree's category tables; negative for numeric splits.
    categories_left, categories_known : array-like of shape (n_sets, n_categories)
        Category tables; none by default.
    """

    left: Sequence
    right: Sequence
    feature: Sequence
    threshold: Sequence
    value: Sequence
    cover: Sequence
    missing_left: Sequence | bool = False
    category_set: Sequence | int = -1
    categories_left: Sequence = ()
    categories_known: Sequence = ()


def join_trees(trees, *, base, n_features, precision, strict=False):
    """One ensemble out of single trees.

    Parameters
    ----------
    trees : list of Tree
        May be empty.
    base : array-like of shape (k,)
        Output without any tree.
    n_features : int
        Number of features.
    precision : dtype
        float32 or float64.
    strict : bool, default=False
        Whether a number equal to the threshold goes to the right.

    Returns
    -------
    TreeEnsemble
    """
    base = np.atleast_1d(np.asarray(base, dtype=np.float64))
    sizes = [len(tree.left) for tree in trees]
    n_nodes = sum(sizes)
    starts = np.cumsum([0, *sizes[:-1]], dtype=np.intp)[: len(trees)]
    offset = np.repeat(starts, sizes).astype(np.intp)
    left = _column(trees, "left", np.intp)
    right = _column(trees, "right", np.intp)
    leaf = left < 0
    sets = [_table(tree.categories_left) for tree in trees]
    known = [_table(tree.categories_known) for tree in trees]
    first_set = np.cumsum([0, *map(len, sets)])[: len(trees)]
    category_set = _column(trees, "category_set", np.intp)
    categorical = (category_set >= 0) & ~leaf
    category_set = np.where(
        categorical, category_set + np.repeat(first_set, sizes).astype(np.intp), -1
    )
    threshold = _column(trees, "threshold", np.float64)
    value = np.zeros((n_nodes, len(base)))
    if trees:
        value[:] = np.concatenate([np.asarray(tree.value) for tree in trees])
    return TreeEnsemble(
        roots=starts,
        left=np.where(leaf, -1, left + offset),
        right=np.where(leaf, -1, right + offset),
        feature=np.where(leaf, -1, _column(trees, "feature", np.intp)),
        threshold=np.where(leaf | categorical, np.nan, threshold),
        missing_left=_column(trees, "missing_left", np.bool_) & ~leaf,
        category_set=category_set,
        categories_left=_stacked(sets),
        categories_known=_stacked(known),
        value=np.where(leaf[:, None], value, 0.0),
        cover=_column(trees, "cover", np.float64),
        base=base,
        n_features=int(n_features),
        precision=np.dtype(precision),
        strict=bool(strict),
    )


def without_unreached(tree):
    """A tree of arrays without the nodes that no path from its root leads to.

    Libraries leave such nodes behind where they prune. The others keep their order.
    """
    reached = np.zeros(len(tree.left), dtype=bool)
    nodes = np.zeros(1, dtype=np.intp)
    while len(nodes):
        reached[nodes] = True
        inner = nodes[tree.left[nodes] >= 0]
        nodes = np.concatenate([tree.left[inner], tree.right[inner]])
    if reached.all():
        return tree
    place = np.where(reached, np.cumsum(reached) - 1, -1)
    kept = {name: getattr(tree, name)[reached] for name in NODE_FIELDS}
    leaf = tree.left < 0
    return replace(
        tree,
        left=np.where(leaf, -1, place[tree.left])[reached],
        right=np.where(leaf, -1, place[tree.right])[reached],
        **kept,
    )


def merged(ensembles):
    """The sum of ensembles over the same features and outputs.

    Where their comparisons differ (precision, strictness), the sum compares
    as :func:`in_float64` does.
    """
    first = ensembles[0]
    if len(ensembles) == 1:
        return first
    if len({(trees.precision, trees.strict) for trees in ensembles}) > 1:
        ensembles = [in_float64(trees) for trees in ensembles]
        first = ensembles[0]
    tables = [trees.categories_left for trees in ensembles]
    nodes = np.cumsum([0, *(trees.n_nodes for trees in ensembles)])
    sets = np.cumsum([0, *map(len, tables)])

    def shifted(name, by):
        parts = [getattr(trees, name) for trees in ensembles]
        parts = [
            np.where(part < 0, -1, part + n) for part, n in zip(parts, by, strict=False)
        ]
        return np.concatenate(parts).astype(np.intp)

    def together(name):
        return np.concatenate([getattr(trees, name) for trees in ensembles])

    return replace(
        first,
        roots=shifted("roots", nodes),
        left=shifted("left", nodes),
        right=shifted("right", nodes),
        category_set=shifted("category_set", sets),
        categories_left=_stacked(tables),
        categories_known=_stacked([trees.categories_known for trees in ensembles]),
        base=np.sum([trees.base for trees in ensembles], axis=0),
        **{
            name: together(name)
            for name in ("feature", "threshold", "missing_left", "value", "cover")
        },
    )


def scaled(trees, factor):
    """The ensemble with its outputs multiplied by a number."""
    return replace(trees, value=trees.value * factor, base=trees.base * factor)


def with_outputs(trees, positions, n_outputs):
    """The ensemble with its outputs put at `positions` among `n_outputs`, else zero."""
    value = np.zeros((trees.n_nodes, n_outputs))
    value[:, positions] = trees.value
    base = np.zeros(n_outputs)
    base[positions] = trees.base
    return replace(trees, value=value, base=base)


def with_features(trees, positions, n_features):
    """The ensemble with its features taken from `positions` among `n_features`."""
    positions = np.append(np.asarray(positions, dtype=np.intp), -1)
    return replace(trees, feature=positions[trees.feature], n_features=n_features)


def in_float64(trees):
    """The same ensemble for inputs in float64, a number equal to the threshold left.

    Every threshold is replaced by the largest float64 that the old comparison sends to
    the left, so that no row changes its leaf.
    """
    largest = trees.threshold
    with np.errstate(over="ignore"):  # infinity is what lies past the largest number
        if trees.precision == np.float32:
            below = _rounded_down(largest)
            if trees.strict:
                reached = below.astype(np.float64) == largest
                below = np.where(reached, _previous(below), below)
            largest = _last_rounded_to(below)
        elif trees.strict:
            largest = np.nextafter(largest, -np.inf)
    return replace(
        trees, threshold=largest, precision=np.dtype(np.float64), strict=False
    )


def _previous(numbers):
    """The next smaller float32 of each."""
    return np.nextafter(numbers, np.float32(-np.inf))


def _rounded_down(numbers):
    """The largest float32 that is no larger, for each float64."""
    nearest = numbers.astype(np.float32)
    above = nearest.astype(np.float64) > numbers
    return np.where(above, _previous(nearest), nearest)


def _last_rounded_to(numbers):
    """The largest float64 that is cast to at most the float32, for each of them."""
    following = np.nextafter(numbers, np.float32(np.inf))
    # Infinity stands where the next number would be, were there no largest one.
    past = 2.0**128
    low = np.clip(numbers.astype(np.float64), -past, past)
    high = np.clip(following.astype(np.float64), -past, past)
    middle = low + (high - low) / 2
    is_low = middle.astype(np.float32) <= numbers  # ties go to the even number
    last = np.where(is_low, middle, np.nextafter(middle, -np.inf))
    return np.where(np.isposinf(numbers) | np.isnan(numbers), numbers, last)


def _column(trees, name, dtype):
    parts = [getattr(tree, name) for tree in trees]
    # Most are arrays already, of very many trees.
    if not all(isinstance(part, np.ndarray) and part.ndim for part in parts):
        sizes = [len(tree.left) for tree in trees]
        if all(np.ndim(part) == 0 for part in parts):  # one number for all nodes
            return np.repeat(np.array(parts, dtype=dtype), sizes)
        parts = [
            np.asarray(part) if np.ndim(part) else np.full(size, part)
            for size, part in zip(sizes, parts, strict=True)
        ]
    if not parts:
        return np.empty(0, dtype=dtype)
    return np.concatenate(parts, dtype=dtype, casting="unsafe")


_NO_TABLE = np.zeros((0, 0), dtype=bool)


def _table(rows):
    return np.asarray(rows, dtype=bool) if len(rows) else _NO_TABLE


def _stacked(tables):
    """Tables of different width below each other."""
    width = max((table.shape[1] for table in tables), default=0)
    stacked = np.zeros((sum(map(len, tables)), width), dtype=bool)
    row = 0
    for table in filter(len, tables):
        stacked[row : row + len(table), : table.shape[1]] = table
        row += len(table)
    return stacked
