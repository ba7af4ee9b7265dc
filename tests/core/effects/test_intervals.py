"""Intervals of least estimated error: against the enumeration of all unions."""

from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from sklearn_interpret._core.effects.intervals import least_error_edges


def estimated_error(kept, edges, weights, steps, errors):
    """Squared bias and variance of the curve with some of the edges."""
    shares = np.zeros(len(edges))
    shares[1:] += weights / 2
    shares[:-1] += weights / 2
    shares /= shares.sum()
    total = 0.0
    for step, error in zip(steps, errors, strict=True):
        for first, last in pairwise(kept):
            length = edges[last] - edges[first]
            ramp = np.clip((edges - edges[first]) / length, 0, 1)
            inner = range(first + 1, last)
            for place in inner:
                # The distance to the chord is a sum of the steps with these factors.
                factors = np.where(np.arange(first, last) < place, 1.0, 0.0)
                factors -= ramp[place]
                distance = factors @ step[first:last]
                by_noise = factors**2 @ error[first:last] ** 2
                total += shares[place] * (distance**2 - 2 * by_noise)
            deviations = error[first:last] * np.sqrt(weights[first:last])
            of_end = deviations.sum() ** 2 / weights[first:last].sum()
            mean = shares @ ramp
            total += of_end * (shares @ (ramp - mean) ** 2)
    return total


@given(
    n_steps=st.integers(1, 6),
    n_outputs=st.integers(1, 2),
    offset=st.sampled_from([0.0, 1e6]),
    seed=st.integers(0, 2**16),
)
def test_the_best_of_all_unions(n_steps, n_outputs, offset, seed):
    rng = np.random.default_rng(seed)
    given = (
        offset + np.cumsum(rng.uniform(0.1, 2, n_steps + 1)),
        rng.integers(1, 20, n_steps).astype(float),
        rng.normal(size=(n_outputs, n_steps)),
        rng.uniform(0, 1, size=(n_outputs, n_steps)),
    )
    kept = least_error_edges(*given)
    inner = range(1, n_steps)
    unions = [
        (0, *chosen, n_steps)
        for size in range(n_steps)
        for chosen in combinations(inner, size)
    ]
    least = min(estimated_error(union, *given) for union in unions)
    assert estimated_error(kept, *given) == pytest.approx(least, abs=1e-9)
    assert (kept[0], kept[-1]) == (0, n_steps)


def test_straight_curves_have_one_interval_and_steps_keep_their_edges():
    edges, weights = np.linspace(0, 1, 11), np.full(10, 50.0)
    errors = np.full((1, 10), 0.01)
    straight = least_error_edges(edges, weights, np.full((1, 10), 0.1), errors)
    assert_array_equal(straight, [0, 10])
    # So have they without noise, whatever the rounding errors.
    exact = np.diff(1e6 + 0.1 * edges)[None]
    assert_array_equal(least_error_edges(edges, weights, exact, 0 * errors), [0, 10])
    jump = np.zeros((1, 10))
    jump[0, 6] = 1.0
    assert_array_equal(least_error_edges(edges, weights, jump, errors), [0, 6, 7, 10])
