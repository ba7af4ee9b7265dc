"""Wishes: what may be asked for, and when it is fulfilled."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC

from sklearn_interpret._model.actions.target import TargetOutcome

X, TWO = make_classification(60, 4, random_state=0)
_, THREE = make_classification(
    60, 4, n_informative=3, n_redundant=0, n_classes=3, random_state=0
)
NAMES = np.array(["a", "b", "other"])

CLASSIFIERS = [
    LogisticRegression(),
    LinearSVC(),
    RandomForestClassifier(5, max_depth=3, random_state=0),
    KNeighborsClassifier(3),
]


@pytest.mark.parametrize("y", [TWO, THREE, NAMES[TWO]], ids=["two", "three", "texts"])
@pytest.mark.parametrize("model", CLASSIFIERS, ids=lambda m: type(m).__name__)
def test_any_other_class(model, y):
    model = model.fit(X, y)
    outcome = TargetOutcome.of_model(model, "other")
    own = outcome.asked(X[:1]).answers[[0] * len(X)]
    expected = model.predict(X) != model.predict(X[:1])
    assert_array_equal(outcome.asked(X).holds(own), expected)
    margins = outcome.asked(X).margins(own)
    assert_array_equal(margins[margins != 0] > 0, expected[margins != 0])


@pytest.mark.parametrize("y", [TWO, THREE, NAMES[TWO]], ids=["two", "three", "texts"])
@pytest.mark.parametrize("model", CLASSIFIERS, ids=lambda m: type(m).__name__)
def test_a_class(model, y):
    model = model.fit(X, y)
    for desired in model.classes_:
        outcome = TargetOutcome.of_model(model, desired)
        expected = model.predict(X) == desired
        assert_array_equal(outcome.asked(X).holds(), expected)
        margins = outcome.asked(X).margins()
        assert_array_equal(margins[margins != 0] > 0, expected[margins != 0])


def test_a_class_that_is_called_other():
    model = LogisticRegression().fit(X, NAMES[TWO + 1])
    outcome = TargetOutcome.of_model(model, "other")
    assert not outcome.is_other
    assert_array_equal(outcome.asked(X).holds(), model.predict(X) == "other")


@pytest.mark.parametrize(
    ("desired", "low", "high"),
    [((0.6, None), 0.6, 1), ((None, 0.3), 0, 0.3), ([0.2, 0.8], 0.2, 0.8)],
)
def test_an_interval_of_a_probability(desired, low, high):
    model = LogisticRegression().fit(X, TWO)
    probability = model.predict_proba(X)[:, 1]
    outcome = TargetOutcome.of_model(model, desired)
    expected = (probability >= low) & (probability <= high)
    assert_array_equal(outcome.asked(X).holds(), expected)
    of_first = TargetOutcome.of_model(model, desired, target=0)
    expected = (1 - probability >= low) & (1 - probability <= high)
    assert_array_equal(of_first.asked(X).holds(), expected)


def test_an_interval_of_one_of_three_classes():
    model = LogisticRegression().fit(X, THREE)
    outcome = TargetOutcome.of_model(model, (0.5, None), target=2)
    expected = model.predict_proba(X)[:, 2] >= 0.5
    assert_array_equal(outcome.asked(X).holds(), expected)


def test_an_interval_of_a_prediction():
    model = LinearRegression().fit(X, X[:, 0] + X[:, 1])
    outcome = TargetOutcome.of_model(model, (-0.5, 0.5))
    predicted = model.predict(X)
    assert_array_equal(outcome.asked(X).holds(), np.abs(predicted) <= 0.5)
    assert_allclose(outcome.asked(X).margins(), 0.5 - np.abs(predicted))


@pytest.mark.parametrize(
    ("model", "desired", "target", "words"),
    [
        (LogisticRegression().fit(X, TWO), "no class", None, ["desired", "no class"]),
        (LogisticRegression().fit(X, TWO), 5, None, ["desired", "5"]),
        (
            LogisticRegression().fit(X, TWO),
            (0.8, 0.2),
            None,
            ["desired", "low <= high"],
        ),
        (LogisticRegression().fit(X, TWO), (None, None), None, ["desired"]),
        (LogisticRegression().fit(X, TWO), (float("nan"), 1), None, ["desired"]),
        (LogisticRegression().fit(X, TWO), (0.5, None), 7, ["target", "7"]),
        (
            LogisticRegression().fit(X, THREE),
            (0.5, None),
            None,
            ["target", "3 classes"],
        ),
        (LinearRegression().fit(X, TWO), "other", None, ["desired", "interval"]),
        (LinearRegression().fit(X, TWO), 1.5, None, ["desired", "interval"]),
        (LinearRegression().fit(X, TWO), (True, 2), None, ["desired", "interval"]),
    ],
)
def test_wishes_that_cannot_be(model, desired, target, words):
    with pytest.raises(ValueError) as error:
        TargetOutcome.of_model(model, desired, target)
    assert all(word in str(error.value) for word in words)
