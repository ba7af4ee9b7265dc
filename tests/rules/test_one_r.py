"""OneR against its definition."""

import numpy as np
from numpy.testing import assert_allclose

from sklearn_interpret._core.rules.bins import majority_bins, uniform_bins
from sklearn_interpret.rules import OneRClassifier


def test_bins_are_closed_where_another_class_takes_over():
    # Holte's manner: three of a class at least, and no change within a bin.
    labels = np.array([0, 0, 0, 0, 1, 1, 0, 1, 1, 1])
    assert majority_bins(np.eye(2)[labels], [3, 3]) == [(0, 3), (4, 9)]
    assert majority_bins(np.eye(2)[labels], [1, 1]) == [(0, 3), (4, 5), (6, 6), (7, 9)]


def test_bins_of_one_majority_are_joined():
    sums = np.array([[3, 0], [1, 2], [2, 0], [0, 1]], dtype=float)
    # Values 1 and 2 are of the first class too; the last bin may be small.
    assert majority_bins(sums, [3, 3]) == [(0, 2), (3, 3)]


def test_uniform_bins_hold_values():
    values = np.array([0.0, 1.0, 2.0, 9.0, 10.0])
    assert uniform_bins(values, 5) == [(0, 2), (3, 4)]
    assert uniform_bins(values, 8) == [(0, 1), (2, 2), (3, 4)]
    assert uniform_bins(values, 1) == [(0, 4)]
    assert uniform_bins(values[:1], 5) == [(0, 0)]


def test_the_first_of_equally_good_features():
    X = np.array([[1, 0, 0], [1, 1, 1]] * 8, dtype=float)
    model = OneRClassifier().fit(X, X[:, 1])
    assert model.feature_ == 1
    assert_allclose(model.errors_, [0.5, 0, 0])


def test_missing_values_are_a_level():
    X = np.array([[np.nan]] * 7 + [[1.0]] * 9 + [[2.0]] * 8)
    y = np.repeat(["m", "a", "b"], [7, 9, 8])
    model = OneRClassifier().fit(X, y)
    assert model.errors_.tolist() == [0]
    assert model.to_text().splitlines() == [
        "IF x0 = 1 THEN a",
        "ELSE IF x0 = 2 THEN b",
        "ELSE IF x0 is missing THEN m",
        "ELSE a",
    ]
