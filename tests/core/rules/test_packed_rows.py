"""Weights of sets of rows, against sums of their flags."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from sklearn_interpret._core.rules.packed_rows import PackedRows, _unit

WEIGHTS = {
    "ones": lambda rng, n: np.ones(n),
    "whole": lambda rng, n: rng.integers(1, 40, size=n).astype(float),
    "tenths": lambda rng, n: rng.choice([0.1, 0.3, 2.0], size=n),
    "real": lambda rng, n: rng.exponential(size=n),
}


@pytest.mark.parametrize("kind", WEIGHTS)
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_sums_are_of_flags(kind, seed):
    rng = np.random.default_rng(seed)
    n_rows, n_classes = int(rng.integers(1, 2500)), int(rng.integers(1, 5))
    labels, weights = rng.integers(n_classes, size=n_rows), WEIGHTS[kind](rng, n_rows)
    rows = PackedRows(labels, weights, n_classes)
    flags = rng.random((2, 7, n_rows)) < 0.5
    expected = [
        (flags * (weights * (labels == label))).sum(axis=-1)
        for label in range(n_classes)
    ]
    sets = np.stack([rows.pack(own) for own in flags])
    tolerance = 1e-6 * weights.sum() * n_rows if kind == "real" else 1e-12
    sums = rows.unit * rows.sums(sets)
    assert_allclose(sums, expected, rtol=1e-12, atol=tolerance)
    both = rows.sums(rows.pack(flags[0] & flags[1, 0]))
    assert (both == rows.sums(sets[0] & sets[1, :, :1])).all()
    assert (both == rows.sums(sets[0], within=sets[1, :, 0])).all()
    everything = rows.sums(rows.everything[:, None])[:, 0] * rows.unit
    assert_allclose(everything.sum(), weights.sum(), atol=tolerance)


def test_units_of_weights():
    labels = np.zeros(3, dtype=int)
    for weights, unit in (([1, 2, 5], 1), ([0.1, 0.3, 2], 0.1), ([1 / 7] * 3, 1 / 7)):
        assert PackedRows(labels, np.array(weights, dtype=float), 1).unit == unit


def test_rows_are_counted_however_many():
    assert _unit(np.ones(2**20 + 1)) == 1
