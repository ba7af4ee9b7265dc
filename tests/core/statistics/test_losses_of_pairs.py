"""Sums of losses over all pairs are those of the pairs written out."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose

from sklearn_interpret._core.statistics import losses, losses_of_pairs
from tests.speeds import examples

SHARES = np.array([0.5, 2.0])

LOSSES = {
    "squared": (losses.squared, losses_of_pairs.squared),
    "weighted_squared": (
        partial(losses.weighted_squared, shares=SHARES),
        partial(losses_of_pairs.weighted_squared, shares=SHARES),
    ),
    "absolute": (losses.absolute, losses_of_pairs.absolute),
    "relative": (losses.relative, losses_of_pairs.relative),
}


def over_pairs(loss, targets, rest, part, weights, strata):
    """For each row the weighted sum over the partners in its stratum."""
    predictions = rest[:, None] + part[None]
    partners = weights * (strata[:, None] == strata)
    return (partners * loss(targets, predictions)).sum(axis=1)


def label_loss(targets, sums):
    return losses.zero_one(targets, (sums > 0).astype(float))


def sample(n_outputs, n_rows=30, seed=0):
    """Targets, rest and part with ties, weights, strata of which one is a row alone."""
    rng = np.random.default_rng(seed)
    numbers = rng.integers(-3, 4, size=(3, n_rows, n_outputs)) / 2
    strata = np.append(rng.integers(0, 4, size=n_rows - 1), 4)
    return *numbers, rng.uniform(0.2, 3, size=n_rows), strata


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("kind", LOSSES)
def test_losses_of_numbers(kind, grouped):
    targets, rest, part, weights, strata = sample(2)
    targets = targets + 5  # relative errors of zero targets are huge
    pairs = rest, part, weights, strata * grouped
    loss, of_pairs = LOSSES[kind]
    found = of_pairs(targets, losses_of_pairs.Pairs(*pairs))
    expected = over_pairs(loss, targets, *pairs)
    assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("grouped", [False, True])
def test_labels_of_sums_of_which_many_are_zero(grouped):
    numbers, rest, part, weights, strata = sample(1)
    targets = np.hstack([numbers <= 0, numbers > 0]).astype(float)
    pairs = rest, part, weights, strata * grouped
    found = losses_of_pairs.zero_one(targets, losses_of_pairs.Pairs(*pairs))
    expected = over_pairs(label_loss, targets, *pairs)
    assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


NUMBERS = st.floats(-1e3, 1e3).map(lambda number: round(number, 3))


@examples(25)
@given(numbers=arrays(np.float64, (3, 7, 1), elements=NUMBERS), shift=NUMBERS)
def test_any_numbers(numbers, shift):
    targets, rest, part = numbers
    weights, strata = np.arange(1.0, 8.0), np.array([0, 1, 0, 1, 1, 0, 0])
    for loss, of_pairs in (LOSSES["squared"], LOSSES["absolute"]):
        expected = over_pairs(loss, targets, rest, part, weights, strata)
        # A constant moves between the two summands without effect.
        pairs = losses_of_pairs.Pairs(rest - shift, part + shift, weights, strata)
        found = of_pairs(targets, pairs)
        assert_allclose(found, expected, rtol=1e-9, atol=1e-6)
