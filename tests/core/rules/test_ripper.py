"""Parts of RIPPER against their formulas."""

import numpy as np
import pytest

from sklearn_interpret._core.rules.coded_conditions import CodedTable
from sklearn_interpret._core.rules.ripper import (
    ClassRules,
    error_bits,
    subset_bits,
    theory_bits,
)


def search(codes, positive, weights=None, min_weight=1.0):
    """Return the search for rules on ordered columns."""
    codes = np.array(codes)
    table = CodedTable(codes, codes.max(axis=1) + 1, np.zeros(len(codes), bool))
    weights = np.ones(codes.shape[1]) if weights is None else np.asarray(weights)
    random = np.random.RandomState(0)
    return ClassRules(table, np.array(positive, bool), weights, min_weight, random)


def foil_gain(held, positive, weights):
    """Return p (log2(p / t) - log2(P / T)) of the rows for which a condition holds."""
    p, t = (weights * positive)[held].sum(), weights[held].sum()
    share = (weights * positive).sum() / weights.sum()
    return p * (np.log2(p / t) - np.log2(share)) if p else 0.0


def test_the_condition_of_the_largest_gain():
    rng = np.random.default_rng(0)
    for _ in range(20):
        codes = rng.integers(6, size=(3, 30))
        positive, weights = rng.random(30) < 0.4, rng.integers(1, 4, size=30)
        own = search(codes, positive, weights)
        (first, *_) = own.grow(np.ones(30, dtype=bool))
        held = own.table.holds([first])
        best = max(
            foil_gain(side, positive, weights)
            for column in codes
            for cut in range(5)
            for side in (column <= cut, column > cut)
        )
        assert foil_gain(held, positive, weights) == pytest.approx(best)


def test_rules_grow_until_they_make_no_errors():
    own = search([[0, 0, 1, 1], [0, 1, 0, 1]], [0, 0, 0, 1])
    rule = own.grow(np.ones(4, dtype=bool))
    assert own.table.holds(rule).tolist() == [False, False, False, True]


def test_two_thirds_of_each_kind_of_row_are_grown_on():
    own = search([np.arange(90)], np.arange(90) < 30)
    rows = np.arange(90) % 2 == 0
    grown_on, pruned_on = own._split(rows)
    assert (grown_on ^ pruned_on == rows).all()
    assert grown_on[:30].sum() == 10
    assert grown_on[30:].sum() == 20


def test_last_conditions_are_pruned():
    codes = [[0, 0, 0, 0, 1, 1, 1, 1], [0, 0, 1, 1, 0, 0, 1, 1]]
    own = search(codes, [1, 1, 1, 1, 0, 0, 0, 0])
    everywhere = np.ones(8, dtype=bool)
    useful, useless = (0, 0, 0), (1, 0, 0)
    assert own._prune([useful, useless], everywhere) == [useful]
    assert own._prune([useful, useless], everywhere, by_accuracy=True) == [useful]
    assert own._prune([useful, useless], ~everywhere) == [useful, useless]


def test_rules_that_save_no_bits_are_left_out():
    codes = np.arange(200) // 100
    own = search([codes, np.arange(200) % 50], codes == 0)
    good, repeated, odd = (
        own._measure_rule([condition])
        for condition in ((0, 0, 0), (0, 0, 0), (1, 7, 7))
    )
    kept, bits = own._drop_useless([good, repeated, odd])
    assert [rule.rule for rule in kept] == [[(0, 0, 0)]]
    assert bits == pytest.approx(own._description_length(kept))
    assert bits < own._description_length([good, odd])


def test_bits_of_subsets():
    # Which 3 of 10 things: log2 of one over the probability of any such set.
    assert subset_bits(10, 3, 0.3) == pytest.approx(-np.log2(0.3**3 * 0.7**7))
    assert subset_bits(10, 0, 0) == pytest.approx(0, abs=1e-9)
    assert np.isfinite(subset_bits(10, 5, 1))


def test_bits_of_rules():
    assert theory_bits(0, 100) == 0
    assert theory_bits(1, 100) == pytest.approx(subset_bits(100, 1, 0.01) / 2)
    length = np.log2(3) + 2 * np.log2(np.log2(3))
    expected = (length + subset_bits(100, 3, 0.03)) / 2
    assert theory_bits(3, 100) == pytest.approx(expected)


def test_bits_of_errors():
    few = np.log2(101) + subset_bits(40, 4, 0.1) + subset_bits(60, 6, 0.7 * 10 / 60)
    assert error_bits(40, 60, 4, 6, 0.3) == pytest.approx(few)
    most = np.log2(101) + subset_bits(60, 6, 0.3 * 10 / 60) + subset_bits(40, 4, 0.1)
    assert error_bits(60, 40, 6, 4, 0.3) == pytest.approx(most)
    assert np.isfinite(error_bits(0, 10, 0, 5, 0.5))
    assert np.isfinite(error_bits(10, 0, 5, 0, 0.5))


def test_rounding_of_weights_gains_nothing():
    # 0.1 seven times is not 0.7, and a third of 49 not 49 / 3.
    codes = np.zeros((2, 7), dtype=int)
    table = CodedTable(codes, np.ones(2, dtype=int), np.ones(2, dtype=bool))
    positive, random = np.arange(7) < 3, np.random.RandomState(0)
    own = ClassRules(table, positive, np.full(7, 0.1), 0, random)
    assert own.grow(np.ones(7, dtype=bool)) == []
    own = search([np.tile([0, 1], 49)], np.arange(98) < 2)
    assert own.grow(np.ones(98, dtype=bool)) == []
