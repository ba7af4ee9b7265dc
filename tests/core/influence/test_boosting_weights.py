"""Weights of targets equal those of a slow loop over the stages of boosting."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from sklearn_interpret._core.influence import boosting_weights
from sklearn_interpret._core.influence.boosting_weights import (
    BoostingRules,
    BoostingStages,
)
from tests.speeds import examples


def boosted(stages, leaves, y):
    """Predictions of rows in leaves (m, n_stages), leaf by leaf."""
    rules = stages.rules
    start = np.average(y, weights=rules.weights) if rules.start is None else rules.start
    fitted, predictions = np.full(len(y), start), np.full(len(leaves), start)
    for t, of_training in enumerate(stages.leaves):
        in_bag = 1 if rules.in_bag is None else rules.in_bag[t]
        weights, residuals = rules.weights * in_bag, y - fitted
        for leaf in np.unique([*of_training, *leaves[:, t]]):
            inside = of_training == leaf
            size = weights[inside].sum()
            if size > 0:
                mean = weights[inside] @ residuals[inside] / (size + rules.l2)
                fitted[inside] += rules.learning_rate * mean
                predictions[leaves[:, t] == leaf] += rules.learning_rate * mean
    return predictions


def random_stages(rng, n, n_stages, start=None, l2=0.0, bagged=False):
    """Stages of random leaves and weights, some of which are zero."""
    weights = rng.integers(0, 4, n).astype(float)
    weights[0] = 1
    in_bag = rng.random((n_stages, n)) < 0.6 if bagged else None
    leaves = rng.integers(0, 5, (n_stages, n)).astype(np.uint8)
    return BoostingStages(leaves, BoostingRules(0.3, l2, weights, start, in_bag), 6)


@given(
    seed=st.integers(0, 2**16),
    n=st.integers(1, 30),
    n_stages=st.integers(0, 6),
    start=st.sampled_from([None, 0.0, 2.5]),
    l2=st.sampled_from([0.0, 1.5]),
    bagged=st.booleans(),
    block=st.integers(1, 5),
)
@examples(100)
def test_weights_are_those_of_the_loop(seed, n, n_stages, start, l2, bagged, block):
    rng = np.random.default_rng(seed)
    stages = random_stages(rng, n, n_stages, start, l2, bagged)
    leaves, y = rng.integers(0, 6, (7, n_stages)), rng.normal(size=n)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(boosting_weights, "_MOST_ROWS", block)
        weights = stages.target_weights(leaves)
    offset = start or 0.0
    predictions = boosted(stages, leaves, y)
    assert_allclose(offset + weights @ (y - offset), predictions, atol=1e-12)
    if start is None:
        assert_allclose(weights.sum(axis=1), 1, rtol=1e-12)
    changed = rng.integers(n)
    y[changed] += 1
    change = boosted(stages, leaves, y) - predictions
    assert_allclose(weights[:, changed], change, atol=1e-12)


def test_a_row_alone_has_the_weights_that_it_has_among_others():
    rng = np.random.default_rng(0)
    stages, leaves = random_stages(rng, 40, 5), rng.integers(0, 5, (200, 5))
    together = stages.target_weights(leaves)
    alone = [stages.target_weights(row[None])[0] for row in leaves]
    assert_allclose(together, alone, atol=1e-14)
