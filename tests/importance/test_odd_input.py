"""Odd input of the importances: a clear error, or the right result."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import KFold

from sklearn_interpret.importance import (
    SAGE,
    DropColumnImportance,
    PartialDependenceImportance,
    PermutationImportance,
    PermutationTest,
)
from tests.importance.quick import linear_table

X, Y = linear_table(40)
HALVES = [(np.arange(20), np.arange(20, 40)), (np.arange(20, 40), np.arange(20))]


class ListRegressor(RegressorMixin, BaseEstimator):
    """Predictions are a list of numbers."""

    def fit(self, X, y):
        """Fit."""
        self.model_ = LinearRegression().fit(X, y)
        return self

    def predict(self, X):
        """Predict."""
        return self.model_.predict(X).tolist()


class ListClassifier(ClassifierMixin, BaseEstimator):
    """Predictions are lists, and probabilities lists of lists."""

    def fit(self, X, y):
        """Fit."""
        self.model_ = LogisticRegression().fit(X, y)
        self.classes_ = self.model_.classes_
        return self

    def predict(self, X):
        """Predict."""
        return self.model_.predict(X).tolist()

    def predict_proba(self, X):
        """Predict."""
        return self.model_.predict_proba(X).tolist()


class NoSplits(KFold):
    """A splitter that yields nothing."""

    def split(self, X, y=None, groups=None):
        """Yield nothing."""
        return iter(())


def inspectors(model):
    """Quick importances of all kinds."""
    return [
        PermutationImportance(model, n_repeats=2, random_state=0),
        PermutationImportance(model, method="exact"),
        PermutationImportance(model, method="split", n_repeats=2, random_state=0),
        DropColumnImportance(model, cv=2),
        PartialDependenceImportance(model, grid_resolution=4),
        PermutationTest(model, n_permutations=2, random_state=0),
        SAGE(model, subsample=5, n_permutations=4, random_state=0),
    ]


@pytest.mark.parametrize("which", range(7))
@pytest.mark.parametrize(
    "lists, arrays, y",
    [
        (ListRegressor(), LinearRegression(), Y),
        (ListClassifier(), LogisticRegression(), Y > 0),
    ],
)
def test_predictions_may_be_lists(which, lists, arrays, y):
    found = inspectors(lists)[which].fit(X, y)
    expected = inspectors(arrays)[which].fit(X, y)
    assert_allclose(found.importances_, expected.importances_, atol=1e-12)


@pytest.mark.parametrize("scoring", ["neg_log_loss", "neg_brier_score", "accuracy"])
def test_scores_of_lists(scoring):
    found, expected = (
        PermutationImportance(model, n_repeats=2, random_state=0, scoring=scoring)
        for model in (ListClassifier(), LogisticRegression())
    )
    found.fit(X, Y > 0)
    expected.fit(X, Y > 0)
    assert_allclose(found.importances_, expected.importances_)


@pytest.mark.filterwarnings("ignore::sklearn_interpret.exceptions.LowWeightWarning")
@pytest.mark.parametrize("which", [0, 1, 2, 3, 4, 5, 6])
def test_weights_near_the_ends_of_floats(which):
    model = FrozenEstimator(LinearRegression().fit(X, Y))
    shares = np.linspace(1, 2, len(Y))
    # As counts of rows, large ones are as good as infinitely many.
    few, many = (
        inspectors(model)[which].fit(X, Y, sample_weight=shares * size).importances_
        for size in (1e-90, 1e90)
    )
    small, large = (
        inspectors(model)[which].fit(X, Y, sample_weight=shares * size).importances_
        for size in (1e-3, 1e12)
    )
    assert_allclose(few, small, rtol=1e-9, atol=1e-12)
    assert_allclose(many, large, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("which", [0, 3])
def test_weights_without_a_sum(which):
    weights = np.full(len(Y), 1.7e308)
    with pytest.raises(ValueError, match="sample_weight holds weights up to"):
        inspectors(LinearRegression())[which].fit(X, Y, sample_weight=weights)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("which", [1, 5])
def test_targets_too_large_for_squares(which):
    model = inspectors(LinearRegression())[which]
    with pytest.raises(
        ValueError, match=r"beyond 1e\+75|importance of 'x0' is not finite"
    ):
        model.fit(X, Y * 1e200)


@pytest.mark.parametrize(
    "cv", [NoSplits(2), [], iter(()), [(np.arange(20),)], [1, 2], {"a": 1}]
)
def test_what_yields_no_splits(cv):
    with pytest.raises(ValueError, match=r"cv must yield pairs \(train, test\)"):
        DropColumnImportance(LinearRegression(), cv=cv).fit(X, Y)


@pytest.mark.parametrize(
    "train, test",
    [
        (np.arange(0), np.arange(40)),
        (np.arange(40), np.arange(0)),
        (np.arange(40), np.arange(90)),
        ([0.5, 1.0], [2, 3]),
        (np.ones(50, dtype=bool), np.ones(40, dtype=bool)),
    ],
)
def test_splits_that_are_none(train, test):
    cv = [*HALVES, (train, test)]
    with pytest.raises(ValueError, match=r"cv must yield pairs \(train, test\)"):
        DropColumnImportance(LinearRegression(), cv=cv).fit(X, Y)


def test_an_iterator_is_used_once():
    importance = DropColumnImportance(LinearRegression(), cv=iter(HALVES)).fit(X, Y)
    with pytest.raises(ValueError, match="an iterator works only once"):
        importance.fit(X, Y)


def test_flags_and_negative_positions_are_positions():
    flags = [np.arange(40) < 20, np.arange(40) >= 20]
    cuts = [(flags[0], flags[1]), (np.arange(-20, 0), np.arange(20))]
    found, expected = (
        DropColumnImportance(LinearRegression(), cv=cv).fit(X, Y).importances_
        for cv in (cuts, HALVES)
    )
    assert_array_equal(found, expected)


@pytest.mark.parametrize("count", [True, 10**20])
@pytest.mark.parametrize(
    "importance, name",
    [(PermutationImportance, "n_repeats"), (PermutationTest, "n_permutations")],
)
def test_counts_that_are_no_counts(importance, name, count):
    with pytest.raises(ValueError, match=name):
        importance(LinearRegression(), **{name: count}).fit(X, Y)
