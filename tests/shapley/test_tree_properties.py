"""Axioms of Shapley values, for random trees and random fitted models."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import (
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    RandomForestRegressor,
)

from sklearn_interpret._core.trees.shapley.games import (
    InterventionalGame,
    PathDependentGame,
)
from sklearn_interpret._core.trees.shapley.values import TreePlan, shapley_values
from sklearn_interpret._core.trees.structure.ensemble import Tree, join_trees
from tests.model.trees.data import table
from tests.references.trees import random_ensemble, raw, telling_rows
from tests.shapley.truth import inspected

N_FEATURES, N_ROWS = 5, 6
CLOSE = {"rtol": 1e-10, "atol": 1e-10}

seeds = st.integers(0, 2**16)
perturbations = st.sampled_from(["interventional", "path_dependent"])


def trees_with_cover(seed, **options):
    """Random trees, and covers that add up."""
    options = {"n_trees": 3, "depth": 5, "n_features": N_FEATURES, **options}
    trees = random_ensemble(seed, **options)
    rng = np.random.default_rng(seed)
    cover = np.where(trees.is_leaf, rng.integers(1, 9, trees.n_nodes), 0).astype(float)
    for level in reversed(trees.levels()):
        inner = level[~trees.is_leaf[level]]
        cover[inner] = cover[trees.left[inner]] + cover[trees.right[inner]]
    return replace(trees, cover=cover)


def valued(trees, perturbation, rows, background, order=1, weights=None):
    """Values (k, n_features[, n_features], n_rows) and base values (k,)."""
    plan = TreePlan.of_ensemble(trees)
    weights = np.ones(len(background)) if weights is None else weights
    if perturbation == "path_dependent":
        game = PathDependentGame(trees, plan.paths)
    else:
        game = InterventionalGame(trees, plan.paths, trees.codes(background), weights)
    values = shapley_values(plan, game, trees.codes(rows), order)
    return values, game.base_values()


def rows_for(trees, seed):
    """Rows to explain, and others."""
    rows = telling_rows(trees, N_ROWS + 7, seed)
    return rows[:N_ROWS], rows[N_ROWS:]


@given(seed=seeds, perturbation=perturbations, k=st.integers(1, 3))
def test_efficiency(seed, perturbation, k):
    """Values and the base value add up to the output."""
    trees = trees_with_cover(seed, k=k)
    rows, background = rows_for(trees, seed)
    values, base = valued(trees, perturbation, rows, background)
    np.testing.assert_allclose(
        values.sum(axis=1).T + base, raw(trees, rows), atol=1e-12
    )


@given(seed=seeds, perturbation=perturbations, order=st.sampled_from([1, 2]))
def test_dummy(seed, perturbation, order):
    """A feature that no tree splits on gets nothing at all, alone or in a pair."""
    unused = seed % N_FEATURES
    trees = trees_with_cover(seed, n_features=N_FEATURES - 1)
    feature = trees.feature + (trees.feature >= unused)
    trees = replace(trees, feature=feature, n_features=N_FEATURES)
    rows, background = rows_for(trees, seed)
    values, _ = valued(trees, perturbation, rows, background, order)
    np.testing.assert_array_equal(values[:, unused], 0)
    if order == 2:
        np.testing.assert_array_equal(values[:, :, unused], 0)


@given(seed=seeds, perturbation=perturbations)
def test_symmetry(seed, perturbation):
    """Features that the trees use alike get the same where they are alike."""
    one = trees_with_cover(seed)
    exchanged = one.feature.copy()
    exchanged[one.feature == 0], exchanged[one.feature == 1] = 1, 0
    both = joined(one, replace(one, feature=exchanged))
    rows, background = rows_for(both, seed)
    rows[:, 1], background[:, 1] = rows[:, 0], background[:, 0]
    values, _ = valued(both, perturbation, rows, background)
    np.testing.assert_allclose(values[:, 0], values[:, 1], atol=1e-12)


def joined(*ensembles):
    """The trees of several ensembles side by side; their outputs add up."""
    trees = []
    for ensemble in ensembles:
        ends = np.append(ensemble.roots, ensemble.n_nodes)
        for start, stop in pairwise(ends):
            part = slice(start, stop)
            children = [
                np.where(side[part] < 0, -1, side[part] - start)
                for side in (ensemble.left, ensemble.right)
            ]
            trees.append(
                Tree(
                    left=children[0],
                    right=children[1],
                    feature=ensemble.feature[part],
                    threshold=ensemble.threshold[part],
                    value=ensemble.value[part],
                    cover=ensemble.cover[part],
                    missing_left=ensemble.missing_left[part],
                )
            )
    return join_trees(
        trees,
        base=sum(ensemble.base for ensemble in ensembles),
        n_features=ensembles[0].n_features,
        precision=ensembles[0].precision,
        strict=ensembles[0].strict,
    )


@given(seed=seeds, perturbation=perturbations, order=st.sampled_from([1, 2]))
def test_linearity(seed, perturbation, order):
    """The values of two models together are the sums of their values."""
    one, other = trees_with_cover(seed), trees_with_cover(seed + 1)
    both = joined(one, other)
    rows, background = rows_for(both, seed)
    parts = [
        valued(trees, perturbation, rows, background, order) for trees in (one, other)
    ]
    values, base = valued(both, perturbation, rows, background, order)
    np.testing.assert_allclose(values, parts[0][0] + parts[1][0], atol=1e-12)
    np.testing.assert_allclose(base, parts[0][1] + parts[1][1], atol=1e-12)


@given(seed=seeds, perturbation=perturbations, amount=st.floats(0.1, 10))
def test_consistency(seed, perturbation, amount):
    """Raising what the row's own values lead to lowers the value of no feature.

    The row meets every condition of its leaf, so that a higher leaf makes each feature
    above it worth more to every coalition, and the others no less.
    """
    trees = trees_with_cover(seed, n_trees=2)
    rows, background = rows_for(trees, seed)
    before, _ = valued(trees, perturbation, rows, background)
    leaf = trees.apply(rows[:1])[0, 0]
    value = trees.value.copy()
    value[leaf] += amount
    after, _ = valued(replace(trees, value=value), perturbation, rows, background)
    gained = (after - before)[0, :, 0]
    assert gained.min() >= -1e-12
    share = reached(trees, leaf, perturbation, background)
    np.testing.assert_allclose(gained.sum(), amount * (1 - share), atol=1e-12)


def reached(trees, leaf, perturbation, background):
    """Share of the background, or of the training rows, that comes to a leaf."""
    if perturbation == "interventional":
        return np.mean(trees.apply(background) == leaf, axis=0).sum()
    root = trees.roots[np.searchsorted(trees.roots, leaf, side="right") - 1]
    return trees.cover[leaf] / trees.cover[root]


@given(seed=seeds, data=st.data())
def test_duplicates_in_the_background_are_weights(seed, data):
    trees = trees_with_cover(seed)
    rows, background = rows_for(trees, seed)
    counts = data.draw(st.lists(st.integers(1, 4), min_size=7, max_size=7))
    repeated = np.repeat(background, counts, axis=0)
    twice, _ = valued(trees, "interventional", rows, repeated)
    weighted, _ = valued(
        trees, "interventional", rows, background, weights=np.array(counts, float)
    )
    np.testing.assert_allclose(twice, weighted, atol=1e-12)


@settings(max_examples=15)
@given(seed=seeds, perturbation=perturbations, order=st.sampled_from([1, 2]))
def test_batches_and_their_order_do_not_matter(seed, perturbation, order):
    trees = trees_with_cover(seed, depth=7)
    rows, background = rows_for(trees, seed)
    together, _ = valued(trees, perturbation, rows, background, order)
    alone = [
        valued(trees, perturbation, row[None], background, order)[0] for row in rows
    ]
    np.testing.assert_allclose(np.concatenate(alone, axis=-1), together, **CLOSE)
    place = np.random.default_rng(seed).permutation(N_ROWS)
    other, _ = valued(trees, perturbation, rows[place], background, order)
    np.testing.assert_allclose(other, together[..., place], **CLOSE)
    many = np.repeat(rows, 400, axis=0)
    found, _ = valued(trees, perturbation, many, background, order)
    np.testing.assert_allclose(found[..., ::400], together, **CLOSE)


@given(seed=seeds)
def test_the_background_may_stand_in_any_order(seed):
    trees = trees_with_cover(seed)
    rows, background = rows_for(trees, seed)
    values, _ = valued(trees, "interventional", rows, background)
    other, _ = valued(trees, "interventional", rows, background[::-1])
    np.testing.assert_allclose(other, values, atol=1e-12)


FITTED = {
    "forest": RandomForestRegressor(5, max_depth=7, random_state=0),
    "boosting": GradientBoostingRegressor(n_estimators=15, max_depth=4, random_state=0),
    "histogram": HistGradientBoostingRegressor(max_iter=10),
}


@pytest.fixture(scope="module", params=FITTED)
def fitted(request):
    """A fitted model with its rows."""
    X, y = table(400, 6)
    return FITTED[request.param].fit(X, y), X


@pytest.mark.parametrize("perturbation", ["interventional", "path_dependent"])
def test_rows_of_a_fitted_model_do_not_depend_on_the_others(fitted, perturbation):
    model, X = fitted
    inspector = inspected(model, X[:40], perturbation=perturbation)
    everything = inspector.transform(X)
    rng = np.random.default_rng(0)
    for size in (1, 2, 3, 7, 15, 30):
        chosen = rng.integers(0, len(X), size)
        found = inspector.transform(X[chosen])
        np.testing.assert_allclose(found, everything[chosen], **CLOSE)


@pytest.mark.parametrize("layout", [np.asfortranarray, np.float32])
def test_layout_and_precision_of_arrays_change_no_bit(fitted, layout):
    model, X = fitted
    X = X.astype(np.float32).astype(np.float64)
    expected = inspected(model, X[:40]).transform(X[:30])
    found = inspected(model, layout(X[:40])).transform(layout(X[:30]))
    np.testing.assert_array_equal(found, expected)
