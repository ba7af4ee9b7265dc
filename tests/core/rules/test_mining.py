"""Mined rules against all rules; bins against their criterion."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from sklearn_interpret._core.rules.bins import entropy_bins, quantile_bins
from sklearn_interpret._core.rules.coded_conditions import CodedTable
from sklearn_interpret._core.rules.mining import (
    PackedRows,
    _common_unit,
    _unions_of_bins,
    mine_rules,
)
from tests.speeds import examples

WEIGHTS = {
    "ones": lambda rng, n: np.ones(n),
    "whole": lambda rng, n: rng.integers(1, 40, size=n).astype(float),
    "tenths": lambda rng, n: rng.choice([0.1, 0.3, 2.0], size=n),
    "real": lambda rng, n: rng.exponential(size=n),
}


def random_table(seed):
    """Return a generator, a table of ordered and nominal columns, classes, weights."""
    rng = np.random.default_rng(seed)
    n_rows = int(rng.integers(1, 60))
    codes, n_known = np.empty((3, n_rows), dtype=int), np.empty(3, dtype=int)
    for j in range(3):
        values, own = np.unique(rng.integers(5, size=n_rows), return_inverse=True)
        n_known[j] = len(values) - (j > 0 and len(values) > 1)  # the last is missing
        codes[j] = own
    table = CodedTable(codes, n_known, np.array([False, False, True]))
    labels = rng.integers(3, size=n_rows)
    return rng, table, labels, rng.integers(1, 4, size=n_rows).astype(float)


def all_conditions(table, labels, weights):
    """Return all intervals of bins, levels, and missing values."""
    for column, codes in enumerate(table.codes):
        n_known = table.n_known[column]
        edges = [(code, code) for code in range(n_known)]
        if not table.nominal[column]:
            sums = np.zeros((n_known, 3))
            known = codes < n_known
            np.add.at(sums, (codes[known], labels[known]), weights[known])
            edges = _unions_of_bins(sums)
            # That a number is known is no condition.
            edges = [edge for edge in edges if edge != (0, n_known - 1)]
        for first, last in [*edges, (n_known, n_known)]:
            yield column, int(first), int(last)


@examples(20)
@given(st.integers(0, 2**32 - 1), st.sampled_from([0, 0.1, 0.35, 1]))
def test_all_frequent_rules_are_mined(seed, min_support):
    _, table, labels, weights = random_table(seed)
    mined = mine_rules(
        table,
        labels,
        weights,
        3,
        min_support=min_support,
        max_conditions=3,
        max_rules=10**6,
    )
    of_class = np.bincount(labels, weights, minlength=3)
    shortest = {}
    conditions = list(all_conditions(table, labels, weights))
    for size in (1, 2, 3):
        for rule in combinations(conditions, size):
            held = table.holds(rule)
            sums = np.bincount(labels, weights * held, minlength=3)
            frequent = (sums >= min_support * of_class - 1e-9) & (sums > 0)
            if len({c[0] for c in rule}) == size and frequent.any() and not held.all():
                shortest.setdefault(tuple(held), size)
    found = {tuple(table.holds(rule)): len(rule) for rule in mined.rules}
    assert found == shortest
    assert len(mined.rules) == len(found)
    assert mined.sizes.tolist() == list(map(len, mined.rules))
    expected = [
        np.bincount(labels, weights * table.holds(rule), minlength=3)
        for rule in mined.rules
    ]
    sums = mined.rows.sums(mined.sets).T
    assert sums.tolist() == np.reshape(expected, (-1, 3)).tolist()


def test_the_most_informative_rules_are_kept():
    rng = np.random.default_rng(0)
    labels = np.arange(80) // 40
    codes = np.stack(
        [rng.integers(2, size=80), labels, labels ^ (rng.random(80) < 0.1)]
    )
    table = CodedTable(codes, np.array([2, 2, 2]), np.ones(3, dtype=bool))
    options = {"min_support": 0.1, "max_conditions": 1}
    mined = mine_rules(table, labels, np.ones(80), 2, max_rules=2, **options)
    assert mined.rules == [[(1, 0, 0)], [(1, 1, 1)]]


def entropy(labels):
    """Return the entropy of classes in bits."""
    shares = np.unique(labels, return_counts=True)[1] / len(labels)
    return -(shares * np.log2(shares)).sum()


def cuts(values, labels):
    """Return the cuts of Fayyad and Irani, by their formulas, row by row."""
    n, best = len(values), None
    for cut in np.unique(values)[:-1]:
        below, above = labels[values <= cut], labels[values > cut]
        left = (len(below) * entropy(below) + len(above) * entropy(above)) / n
        if best is None or left < best[0] - 1e-12:
            best = left, cut, below, above
    if best is None:
        return []
    left, cut, *parts = best
    k, k1, k2 = (len(np.unique(own)) for own in (labels, *parts))
    e, e1, e2 = (entropy(own) for own in (labels, *parts))
    delta = np.log2(3**k - 2) - (k * e - k1 * e1 - k2 * e2)
    if e - left <= np.log2(max(n - 1, 1)) / n + delta / n:
        return []
    sides = values <= cut, values > cut
    below, above = (cuts(values[side], labels[side]) for side in sides)
    return [*below, cut, *above]


@pytest.mark.parametrize("seed", range(10))
def test_bins_by_the_minimal_description_length(seed):
    rng = np.random.default_rng(seed)
    values = rng.integers(12, size=150)
    values[:12] = np.arange(12)
    labels = (values // 4 + (rng.random(150) < 0.15)) % 3
    sums = np.zeros((12, 3))
    np.add.at(sums, (values, labels), 1)
    bins = entropy_bins(sums)
    assert [last for _, last in bins][:-1] == cuts(values, labels)
    assert bins[0][0] == 0
    assert bins[-1][1] == 11


def test_numbers_that_tell_nothing_are_cut_into_quarters():
    sums = np.ones((9, 2))
    assert entropy_bins(sums) == [(0, 8)]
    quarters = quantile_bins(sums.sum(axis=1), 4)
    assert quarters == [(0, 1), (2, 3), (4, 6), (7, 8)]
    unions = [(a, b) for i, (a, _) in enumerate(quarters) for _, b in quarters[i:]]
    assert set(_unions_of_bins(sums)) == set(unions)
    assert quantile_bins(np.array([9.0, 1.0]), 4) == [(0, 0), (1, 1)]
    assert _unions_of_bins(sums[:1]) == [(0, 0)]


@pytest.mark.parametrize("kind", WEIGHTS)
@examples(15)
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
    assert _common_unit(np.ones(2**20 + 1)) == 1
