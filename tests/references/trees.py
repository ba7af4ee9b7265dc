"""Tree ensembles taken one row and one node at a time, and random ones."""

from dataclasses import replace

import numpy as np

from sklearn_interpret._core.trees.shapley.values import (
    add_value_parts,
    value_parts_of_task,
    value_tasks,
)
from sklearn_interpret._core.trees.structure.ensemble import Tree, join_trees


def goes_left(trees, node, x):
    """The definition of a split: whether the value `x` goes to the left child."""
    if np.isnan(x):
        return trees.missing_left[node]
    if trees.category_set[node] >= 0:
        known = trees.categories_known[trees.category_set[node]]
        if x < 0 or x >= len(known) or not known[int(x)]:
            return trees.missing_left[node]
        return trees.categories_left[trees.category_set[node], int(x)]
    with np.errstate(over="ignore"):
        x = float(trees.precision.type(x))
    return x < trees.threshold[node] if trees.strict else x <= trees.threshold[node]


def leaf_of(trees, node, row):
    """The leaf below `node` that a row reaches."""
    while trees.left[node] >= 0:
        left = goes_left(trees, node, row[trees.feature[node]])
        node = trees.left[node] if left else trees.right[node]
    return node


def apply(trees, X):
    """The leaf of each row in each tree."""
    leaves = [[leaf_of(trees, root, row) for root in trees.roots] for row in X]
    return np.array(leaves, dtype=np.intp).reshape(len(X), len(trees.roots))


def raw(trees, X):
    """Base plus the sum of leaf values of each row."""
    return np.array(
        [trees.base + trees.value[leaves].sum(axis=0) for leaves in apply(trees, X)]
    ).reshape(len(X), len(trees.base))


def random_tree(rng, *, n_features, depth, k, thresholds, n_categorical=0):
    """A random tree; the first features are categorical, with 5 categories."""
    nodes = []
    sets = []

    def grow(level):
        node = len(nodes)
        nodes.append(None)
        if level == depth or (level > 0 and rng.random() < 0.2):
            nodes[node] = (-1, -1, -2, np.nan, -1, False, rng.normal(size=k))
            return node
        feature = rng.integers(n_features)
        category_set, threshold = -1, rng.choice(thresholds)
        if feature < n_categorical:
            category_set, threshold = len(sets), np.nan
            known = rng.random(5) < 0.8
            sets.append((known & (rng.random(5) < 0.5), known))
        left, right = grow(level + 1), grow(level + 1)
        side = rng.random() < 0.5
        nodes[node] = (left, right, feature, threshold, category_set, side, np.zeros(k))
        return node

    grow(0)
    left, right, feature, threshold, category_set, side, value = zip(
        *nodes, strict=True
    )
    return Tree(
        left=left,
        right=right,
        feature=feature,
        threshold=threshold,
        value=value,
        cover=np.ones(len(nodes)),
        missing_left=side,
        category_set=category_set,
        categories_left=[s[0] for s in sets],
        categories_known=[s[1] for s in sets],
    )


def random_ensemble(
    seed=0,
    *,
    n_trees=5,
    n_features=4,
    depth=5,
    k=1,
    n_categorical=0,
    precision=np.float64,
    strict=False,
    thresholds=None,
):
    """A random ensemble that splits on few thresholds again and again."""
    rng = np.random.default_rng(seed)
    if thresholds is None:
        thresholds = np.append(rng.normal(size=8), [0.0, np.inf])
    if np.dtype(precision) == np.float32:  # some of them no float32
        thresholds = np.append(thresholds, np.float32(thresholds).astype(float))
    trees = [
        random_tree(
            rng,
            n_features=n_features,
            depth=depth,
            k=k,
            thresholds=thresholds,
            n_categorical=n_categorical,
        )
        for _ in range(n_trees)
    ]
    return join_trees(
        trees,
        base=rng.normal(size=k),
        n_features=n_features,
        precision=precision,
        strict=strict,
    )


def with_cover(trees, seed):
    """Covers that add up, of small whole numbers at the leaves, zero among them."""
    rng = np.random.default_rng(seed)
    cover = np.zeros(trees.n_nodes)
    cover[trees.is_leaf] = rng.integers(0, 4, trees.is_leaf.sum())
    for level in reversed(trees.levels):
        inner = level[~trees.is_leaf[level]]
        cover[inner] = cover[trees.left[inner]] + cover[trees.right[inner]]
    return replace(trees, cover=cover)


def neighbours(numbers):
    """Numbers, and those next to them in float32 and float64."""
    with np.errstate(over="ignore"):
        single = np.asarray(numbers, dtype=np.float32)
        low, high = np.nextafter(single, -np.inf), np.nextafter(single, np.inf)
        # What is cast up and what is cast down: the middles, and the numbers there.
        middles = [(single.astype(np.float64) + other) / 2 for other in (low, high)]
    near = [numbers, *middles]
    near += [np.nextafter(n, side) for n in near for side in (-np.inf, np.inf)]
    return np.unique(np.concatenate([*near, single, low, high]).astype(np.float64))


def telling_values(trees, feature):
    """Values of a feature that lie on every side of every one of its splits."""
    at = (trees.feature == feature) & (trees.category_set < 0)
    values = neighbours(trees.threshold[at])
    special = [np.nan, 0.0, -0.0, 5e-324, -5e-324, 1e300, -1e300, np.inf, -np.inf]
    return np.concatenate([values, special])


def telling_rows(trees, n_rows, seed=0, n_categorical=0):
    """Rows whose every value is a telling one."""
    rng = np.random.default_rng(seed)
    columns = [
        rng.choice(
            np.array([0, 1, 2, 3, 4, 5, 77, -1, np.nan])
            if j < n_categorical
            else telling_values(trees, j),
            size=n_rows,
        )
        for j in range(trees.n_features)
    ]
    return np.column_stack(columns)


def shapley_values(plan, game, codes, order=1, **options):
    """Values of rows, or of pairs, in one process, with the options of `value_tasks`.

    By output, player (of pairs also the larger player, zero elsewhere), and row.
    """
    shape = plan.ensemble.n_outputs, *[plan.paths.n_players] * order, len(codes)
    values = np.zeros(shape)
    for task in value_tasks(plan, game, codes, order, **options):
        add_value_parts(values, value_parts_of_task(*task))
    return values
