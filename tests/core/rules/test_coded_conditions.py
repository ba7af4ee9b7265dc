"""Sums of all conditions at once, against one condition after the other."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from sklearn_interpret._core.rules.coded_conditions import (
    CodedTable,
    distinct_rows,
    merge_conditions,
)
from tests.speeds import examples


def random_codes(seed):
    """Return a generator and a table of two ordered and two nominal columns."""
    rng = np.random.default_rng(seed)
    n_known = rng.integers(1, 9, size=4)
    n_rows = int(rng.integers(1, 25))
    codes = np.array([rng.integers(n + 1, size=n_rows) for n in n_known])
    codes[0] = np.minimum(codes[0], n_known[0] - 1)  # nothing missing
    return rng, CodedTable(codes, n_known, np.array([False, False, True, True]))


@examples(60)
@given(st.integers(0, 2**32 - 1))
def test_candidates_are_all_conditions(seed):
    rng, table = random_codes(seed)
    n_columns, n_rows = table.codes.shape
    kept = rng.random(n_rows) < 0.7
    weights = rng.random((3, n_rows))
    found = table.candidates(table.sorted_rows(kept), weights)
    sets = set()
    for column, first, last, sums in zip(*found[:3], found.sums.T, strict=True):
        held = kept & table.holds([(column, first, last)])
        assert_allclose(sums, weights @ held, atol=1e-12)
        assert held.any()
        assert (kept & ~held).any()
        sets.add((column, tuple(held)))
    assert len(sets) == len(found.column)  # no two hold for the same rows
    for column in range(n_columns):
        codes, n_known = table.codes[column], table.n_known[column]
        present = set(codes[kept])
        ordered = not table.nominal[column]
        single = {c for c in present if not ordered or c == n_known}
        expected = {tuple(kept & (codes == c)) for c in single if present != {c}}
        known = sorted(c for c in present if c < n_known)
        if ordered:
            for cut in known[:-1]:
                expected.add(tuple(kept & (codes <= cut)))
                expected.add(tuple(kept & (codes > cut) & (codes < n_known)))
        assert {held for j, held in sets if j == column} == expected


def test_bounds_lie_between_rows():
    table = CodedTable(np.arange(10)[None], np.array([10]), np.array([False]))
    kept = np.isin(np.arange(10), [1, 6])
    found = table.candidates(table.sorted_rows(kept), np.ones((1, 10)))
    assert list(zip(*map(np.ndarray.tolist, found[:3]), strict=True)) == [
        (0, 0, 3),
        (0, 4, 9),
    ]


def test_rows_are_sorted_within_rows():
    _, table = random_codes(3)
    some = np.arange(table.codes.shape[1]) % 3 > 0
    fewer = some & (table.codes[1] > 0)
    within = table.sorted_rows(fewer, table.sorted_rows(some))
    assert_array_equal(within, table.sorted_rows(fewer))
    assert (np.diff(np.take_along_axis(table.codes, within, axis=1)) >= 0).all()


def test_number_of_conditions():
    codes = np.array([[0, 1, 2, 3], [0, 0, 1, 2], [0, 1, 2, 0]])
    table = CodedTable(codes, np.array([4, 2, 2]), np.array([False, False, True]))
    # Two for each of three bounds; two and missing; two levels and missing.
    assert table.n_conditions == 6 + 3 + 3


def test_conditions_of_a_column_are_merged():
    rule = [(2, 0, 7), (0, 1, 1), (2, 3, 9), (2, 0, 5)]
    assert merge_conditions(rule) == [(2, 3, 5), (0, 1, 1)]


@examples(30)
@given(st.integers(0, 2**32 - 1))
def test_distinct_rows_do_not_depend_on_order(seed):
    rng = np.random.default_rng(seed)
    codes, labels = rng.integers(2, size=(2, 30)), rng.integers(3, size=30)
    weights = rng.integers(1, 5, size=30).astype(float)
    index, sums = distinct_rows(codes, labels, weights)
    rows = [(*codes[:, i], labels[i]) for i in index]
    assert len(set(rows)) == len(rows)
    totals = dict.fromkeys(rows, 0)
    for row, weight in zip(zip(*codes, labels, strict=True), weights, strict=True):
        totals[row] += weight
    assert sums.tolist() == list(totals.values())
    order = rng.permutation(30)
    again, _ = distinct_rows(codes[:, order], labels[order], weights[order])
    assert rows == [(*codes[:, order][:, i], labels[order][i]) for i in again]
