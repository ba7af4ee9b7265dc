"""Derivatives of scores along the weights of rows are those of finite differences."""

from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.sparse import csr_array, eye_array

from sklearn_interpret._core.influence.boosting_weights import (
    BoostingRules,
    BoostingStages,
)
from sklearn_interpret._core.influence.leaf_influence import BoostedLeaves, LeafMeans
from sklearn_interpret._core.statistics.score_losses import (
    HalfSquared,
    Logistic,
    Softmax,
)
from tests.speeds import examples

LOSSES = {HalfSquared(): 1, Logistic(): 1, Softmax(): 3}


def random_boosting(rng, loss, k, n_stages, start, l2, bagged):
    """Boosted trees of random leaves, some of them without values."""
    n, n_trees = 20, n_stages * k
    rules = BoostingRules(
        0.3,
        l2,
        rng.integers(1, 4, n) * (rng.random(n) < 0.8) + 0.0,
        start,
        rng.random((n_stages, n)) < 0.6 if bagged else None,
        loss=loss,
    )
    leaves = rng.integers(0, 4, (n_trees, n)).astype(np.uint8)
    has_values = rng.random(n_trees) < 0.8
    targets = np.eye(3)[np.arange(n) % 3][:, :k]
    if isinstance(loss, HalfSquared):
        targets = rng.normal(size=(n, k))
    rules.weights[:3] = 1  # of each class
    return BoostedLeaves(BoostingStages(leaves, rules, 6, k, has_values), targets)


@given(
    seed=st.integers(0, 2**16),
    loss=st.sampled_from(list(LOSSES)),
    n_stages=st.integers(0, 5),
    start=st.sampled_from([None, 0.0, 0.5]),
    l2=st.sampled_from([0.0, 1.5]),
    bagged=st.booleans(),
)
@examples(60)
def test_derivatives_of_boosting(seed, loss, n_stages, start, l2, bagged):
    rng = np.random.default_rng(seed)
    model = random_boosting(rng, loss, LOSSES[loss], n_stages, start, l2, bagged)
    leaves = rng.integers(0, 6, (5, len(model.stages.leaves)))
    rules, n = model.stages.rules, len(model.targets)
    changes = model.changes(leaves, csr_array(eye_array(n)))

    def scores(weights):
        stages = replace(model.stages, rules=replace(rules, weights=weights))
        return replace(model, stages=stages).scores(leaves)

    for row in range(n):
        step = 1e-4 * rules.weights * (np.arange(n) == row)
        slope = scores(rules.weights + step) - scores(rules.weights - step)
        assert_allclose(changes[:, row], -slope / 2e-4, rtol=1e-5, atol=1e-7)
    # Together in groups, their changes add up.
    groups = csr_array((np.ones(n), (np.arange(n) % 4, np.arange(n))))
    sums = [changes[:, np.arange(n) % 4 == group].sum(axis=1) for group in range(4)]
    assert_allclose(model.changes(leaves, groups), np.stack(sums, axis=1), atol=1e-12)


def test_derivatives_of_means():
    rng = np.random.default_rng(0)
    n, weights, targets = 12, rng.integers(1, 4, 12) + 0.0, rng.normal(size=(12, 2))
    of_trees = rng.integers(0, 3, (n, 2)) + [0, 3]  # two trees of three leaves

    def model(weights):
        shares = np.zeros((6, n))
        for tree in of_trees.T:
            shares[tree, np.arange(n)] = weights
        return LeafMeans(csr_array(shares / shares.sum(axis=1)[:, None]), targets)

    changes = model(weights).changes(of_trees, csr_array(eye_array(n)))
    for row in range(n):
        step = 1e-4 * weights * (np.arange(n) == row)
        slope = model(weights + step).scores(of_trees)
        slope -= model(weights - step).scores(of_trees)
        assert_allclose(changes[:, row], -slope / 2e-4, atol=1e-7)
