"""What a reader has to get right: the numbers that the model itself returns."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import issparse

from sklearn_interpret._model.formulas.trees.tree_response import read_trees
from tests.references.tree_validity import check_ensemble
from tests.references.trees import telling_values


def telling_inputs(model, X, *, n_rows=200, missing, infinite=False, seed=0):
    """Rows of X with values put in that lie on either side of each threshold.

    For models whose columns are plain numbers.
    """
    rng = np.random.default_rng(seed)
    rows = X[rng.integers(len(X), size=n_rows)].astype(np.float64)
    for feature, column in enumerate(model.columns):
        values = telling_values(model.ensemble, feature)
        # Beyond float32 is infinite for those who cast to it.
        usable = np.abs(values) < 3e38
        if missing:
            usable |= np.isnan(values)
        if infinite:
            usable |= ~np.isnan(values)
        put = rng.random(n_rows) < 0.7
        rows[put, column] = rng.choice(values[usable], size=put.sum())
    return rows


def in_single_precision(rows):
    """The same rows as float32, infinite where they are too large for it."""
    with np.errstate(over="ignore"):
        return rows.astype(np.float32)


def numbers_of_leaves(model):
    """For each node its number among the leaves of its tree, -1 at inner nodes."""
    trees = model.ensemble
    before = np.cumsum(trees.is_leaf) - trees.is_leaf
    tree = np.repeat(trees.roots, np.diff([*trees.roots, trees.n_nodes]))
    return np.where(trees.is_leaf, before - before[tree], -1)


def assert_same_outputs(model, estimator, X, *, rtol=1e-12):
    """Raw outputs and responses are the model's own."""
    raw = model.raw(X)
    assert raw.dtype == np.float64
    assert raw.shape == (X.shape[0], model.ensemble.n_outputs)
    encoded = model.encode(X)
    assert encoded.dtype == model.ensemble.precision
    assert encoded.shape == (X.shape[0], model.ensemble.n_features)
    if model.raw_method is not None:
        asked = model.raw_response(estimator, X)
        scale = max(1.0, np.abs(asked).max(initial=0.0))
        assert_allclose(raw, asked, rtol=rtol, atol=rtol * scale)
    if model.link is not None:
        answer = getattr(estimator, model.response_method)(X)
        answer = np.hstack(answer) if isinstance(answer, list) else np.asarray(answer)
        assert_allclose(
            model.response(raw),
            answer.reshape(len(answer), -1),
            rtol=10 * rtol,
            atol=10 * rtol,
        )


def assert_read(estimator, X, *, missing=True, infinite=False, rtol=1e-12):
    """The model can be read, and its trees return what it returns itself.

    At the rows of X and, for columns of plain numbers, at values equal to thresholds
    and next to them in either precision, at -0.0, and at NaN where `missing`.
    """
    model = read_trees(estimator)
    trees = model.ensemble
    check_ensemble(trees)
    assert model.columns.shape == (trees.n_features,)
    assert set(model.columns) <= set(range(model.n_columns))
    assert model.n_columns == X.shape[1]
    assert_cover_adds_up(trees)
    seen = assert_made_of_their_columns(model, X)
    assert seen or X.shape[0] == 1
    assert_same_outputs(model, estimator, X, rtol=rtol)
    are_numbers = isinstance(X, np.ndarray) and X.dtype.kind != "O"
    if are_numbers and not (trees.category_set >= 0).any():
        rows = telling_inputs(model, X, missing=missing, infinite=infinite)
        assert_same_outputs(model, estimator, rows, rtol=rtol)
        rows = in_single_precision(rows)
        assert_same_outputs(model, estimator, rows, rtol=rtol)
    return model


def with_rows_exchanged(X, column, order):
    """A copy of the rows in which one column comes from the rows at `order`."""
    if issparse(X):
        changed = X.tolil(copy=True)
        changed[:, [column]] = changed[order][:, [column]]
        return changed.asformat(X.format)
    if isinstance(X, np.ndarray):
        changed = X.copy()
        changed[:, column] = X[order, column]
        return changed
    if hasattr(X, "iloc"):
        changed = X.copy()
        changed.isetitem(column, X.iloc[order, column].array)
        return changed
    return X.with_columns(X.to_series(column)[order])


def assert_made_of_their_columns(model, X, *, n_columns=12, seed=0):
    """A change in a column of the rows changes the features made of it, no others.

    Returns
    -------
    set of int
        The columns whose change was seen in a feature.
    """
    rng = np.random.default_rng(seed)
    X = X[:100]
    before = model.encode(X)
    seen = set()
    for column in rng.permutation(model.n_columns)[:n_columns]:
        changed = with_rows_exchanged(X, column, rng.permutation(X.shape[0]))
        after = model.encode(changed)
        same = (before == after) | (np.isnan(before) & np.isnan(after))
        features = np.flatnonzero(~same.all(axis=0))
        assert set(model.columns[features]) <= {column}
        if len(features):
            seen.add(int(column))
    return seen


def assert_cover_adds_up(trees, rtol=1e-6):
    """What reaches a node goes on to its children."""
    inner = np.flatnonzero(~trees.is_leaf)
    children = trees.cover[trees.left[inner]] + trees.cover[trees.right[inner]]
    assert_allclose(children, trees.cover[inner], rtol=rtol)


def assert_same_leaves(model, X, leaves, tree_nodes=None):
    """Each row reaches the leaf that the library says, counted within its tree.

    `tree_nodes` maps the nodes of the flat table to the library's numbers; by default
    both count the nodes of a tree in the same order.
    """
    found = model.ensemble.apply(model.encode(X))
    if tree_nodes is None:
        found = found - model.ensemble.roots
    else:
        found = tree_nodes[found]
    assert_array_equal(found, np.reshape(leaves, found.shape))
