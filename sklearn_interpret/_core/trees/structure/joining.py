"""Ensembles made from other ensembles: sums, multiples, other features and outputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sklearn_interpret._core.trees.structure.ensemble import NODE_FIELDS, stack_tables

if TYPE_CHECKING:
    from sklearn_interpret._core.trees.structure.ensemble import Tree, TreeEnsemble


def drop_unreached_nodes(tree: Tree) -> Tree:
    """A tree of arrays without the nodes that no path from its root leads to.

    Libraries leave such nodes behind where they prune. Other nodes keep their order.
    """
    left, right = np.asarray(tree.left), np.asarray(tree.right)
    reached = np.zeros(len(left), dtype=np.bool_)
    nodes = np.zeros(1, dtype=np.intp)
    while len(nodes):
        reached[nodes] = True
        inner = nodes[left[nodes] >= 0]
        nodes = np.concatenate([left[inner], right[inner]])
    if reached.all():
        return tree
    position = np.where(reached, np.cumsum(reached) - 1, -1)
    node_fields = {name: getattr(tree, name)[reached] for name in NODE_FIELDS}
    return replace(
        tree,
        left=np.where(left < 0, -1, position[left])[reached],
        right=np.where(left < 0, -1, position[right])[reached],
        **node_fields,
    )


def sum_ensembles(ensembles: list[TreeEnsemble]) -> TreeEnsemble:
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

    def shift_indices(name: str, offsets: NDArray[np.intp]) -> NDArray[np.intp]:
        """Indices of all ensembles, each raised by an offset; -1 stays."""
        indices = [getattr(trees, name) for trees in ensembles]
        offset = np.repeat(offsets[:-1], [len(index) for index in indices])
        index = np.concatenate(indices)
        return np.where(index < 0, -1, index + offset).astype(np.intp)

    columns: dict[str, Any] = {
        name: np.concatenate([getattr(trees, name) for trees in ensembles])
        for name in ("feature", "threshold", "missing_left", "value", "cover")
    }
    return replace(
        first,
        roots=shift_indices("roots", nodes),
        left=shift_indices("left", nodes),
        right=shift_indices("right", nodes),
        category_set=shift_indices("category_set", sets),
        categories_left=stack_tables(tables),
        categories_known=stack_tables([trees.categories_known for trees in ensembles]),
        base=np.sum([trees.base for trees in ensembles], axis=0),
        **columns,
    )


def scale_outputs(trees: TreeEnsemble, factor: float) -> TreeEnsemble:
    """The ensemble with its outputs multiplied by a number."""
    return replace(trees, value=trees.value * factor, base=trees.base * factor)


def with_outputs(
    trees: TreeEnsemble, positions: NDArray[np.intp] | Sequence[int], n_outputs: int
) -> TreeEnsemble:
    """The ensemble with its outputs put at `positions` among `n_outputs`, else zero."""
    value = np.zeros((trees.n_nodes, n_outputs))
    value[:, positions] = trees.value
    base = np.zeros(n_outputs)
    base[positions] = trees.base
    return replace(trees, value=value, base=base)


def with_features(
    trees: TreeEnsemble, positions: NDArray[np.intp] | Sequence[int], n_features: int
) -> TreeEnsemble:
    """The ensemble with its features taken from `positions` among `n_features`."""
    columns = np.append(np.asarray(positions, dtype=np.intp), -1)
    return replace(trees, feature=columns[trees.feature], n_features=n_features)


def in_float64(trees: TreeEnsemble) -> TreeEnsemble:
    """The ensemble for inputs in float64; numbers equal to a threshold go to the left.

    Every threshold is replaced by the largest float64 that the old comparison sends to
    the left, so that no row changes its leaf.
    """
    threshold = trees.threshold
    with np.errstate(over="ignore"):  # numbers past the largest one are infinite
        if trees.precision == np.float32:
            largest = _round_down(threshold)  # float32 that goes to the left
            if trees.strict:
                is_equal = largest.astype(np.float64) == threshold
                largest = np.where(is_equal, _previous_float32(largest), largest)
            threshold = _last_rounded_to(largest)
        elif trees.strict:
            threshold = np.nextafter(threshold, -np.inf)
    return replace(
        trees, threshold=threshold, precision=np.dtype(np.float64), strict=False
    )


def _previous_float32(numbers: NDArray[np.float32]) -> NDArray[np.float32]:
    """The next smaller float32 of each number."""
    return np.nextafter(numbers, np.float32(-np.inf))


def _round_down(numbers: NDArray[np.float64]) -> NDArray[np.float32]:
    """The largest float32 up to each float64."""
    nearest = numbers.astype(np.float32)
    is_above = nearest.astype(np.float64) > numbers
    return np.where(is_above, _previous_float32(nearest), nearest)


def _last_rounded_to(numbers: NDArray[np.float32]) -> NDArray[np.float64]:
    """For each float32, the largest float64 that is cast to it or to less."""
    following = np.nextafter(numbers, np.float32(np.inf))
    # In place of infinity: the successor of the largest float32, if it had one.
    limit = 2.0**128
    low = np.clip(numbers.astype(np.float64), -limit, limit)
    high = np.clip(following.astype(np.float64), -limit, limit)
    middle = low + (high - low) / 2
    is_low = middle.astype(np.float32) <= numbers  # ties go to the even number
    last = np.where(is_low, middle, np.nextafter(middle, -np.inf))
    return np.where(np.isposinf(numbers) | np.isnan(numbers), numbers, last)
