"""What arrays have to be like to be an ensemble of binary trees."""

import numpy as np


def check_ensemble(trees):
    """Refuse arrays that are no ensemble: a ValueError names the first broken rule."""
    _check_shapes(trees)
    _check_forest(trees)
    _check_splits(trees)
    _check_numbers(trees)


def _demand(holds, rule):
    if not np.all(holds):
        raise ValueError(f"Not a tree ensemble: {rule}.")


def _check_shapes(trees):
    nodes, sets = (trees.n_nodes,), trees.categories_left.shape
    expected = {
        "roots": (np.intp, (trees.n_trees,)),
        "left": (np.intp, nodes),
        "right": (np.intp, nodes),
        "feature": (np.intp, nodes),
        "threshold": (np.float64, nodes),
        "missing_left": (np.bool_, nodes),
        "category_set": (np.intp, nodes),
        "categories_left": (np.bool_, (*sets[:1], *sets[1:2])),
        "categories_known": (np.bool_, sets),
        "value": (np.float64, (*nodes, trees.n_outputs)),
        "cover": (np.float64, nodes),
        "base": (np.float64, (trees.n_outputs,)),
    }
    for name, (dtype, shape) in expected.items():
        array = getattr(trees, name)
        _demand(
            array.dtype == dtype and array.shape == shape,
            f"{name} is {array.dtype} of shape {array.shape}, not {np.dtype(dtype)} "
            f"of shape {shape}",
        )
    precisions = (np.dtype(np.float32), np.dtype(np.float64))
    _demand(trees.precision in precisions, "precision is neither float32 nor float64")


def _check_forest(trees):
    leaf = trees.is_leaf
    for name in ("right", "feature"):
        _demand(
            (getattr(trees, name) < 0) == leaf, f"left and {name} disagree on leaves"
        )
    children = np.concatenate([trees.left[~leaf], trees.right[~leaf]])
    pointed = np.concatenate([trees.roots, children])
    _demand((pointed >= 0) & (pointed < trees.n_nodes), "a child is out of range")
    # As many pointers as nodes, and each node met: then there is no circle either.
    times = np.bincount(pointed, minlength=trees.n_nodes)
    _demand(times == 1, "a node has no parent, or several")
    met = np.zeros(trees.n_nodes, dtype=bool)
    for nodes in trees.levels:
        met[nodes] = True
    _demand(met, "a node is not reached from any root")


def _check_splits(trees):
    inner = ~trees.is_leaf
    sets = trees.category_set
    numeric = inner & (sets < 0)
    _demand(trees.feature < trees.n_features, "a feature is out of range")
    _demand(sets < len(trees.categories_left), "a category set is out of range")
    _demand(inner[sets >= 0], "a leaf has a category set")
    _demand(np.isnan(trees.threshold) == ~numeric, "thresholds and splits disagree")
    both = np.intersect1d(trees.feature[numeric], trees.feature[sets >= 0])
    _demand(len(both) == 0, "a feature is split both as number and as category")
    _demand(
        trees.categories_known | ~trees.categories_left, "an unknown category goes left"
    )


def _check_numbers(trees):
    for name in ("value", "cover", "base"):
        _demand(np.isfinite(getattr(trees, name)), f"{name} is not finite")
    _demand(trees.cover >= 0, "a cover is negative")
    _demand(trees.value[~trees.is_leaf] == 0, "an inner node has a value")
