"""Substitutes: queries counted, labels learned, and what the model itself says."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from sklearn_interpret.adversarial import (
    FastGradientSign,
    ProjectedGradient,
    SubstituteAttack,
)
from sklearn_interpret.exceptions import UnreadableModelError


class Oracle(ClassifierMixin, BaseEstimator):
    """Predicts labels, and nothing else; keeps the rows that it is asked about."""

    def fit(self, X, y=None):
        """Keep nothing but the classes."""
        self.classes_ = np.array(["high", "low"])
        self.asked_ = []
        return self

    def predict(self, X):
        """Whether the first two columns have a large product."""
        self.asked_.append(np.array(X))
        return np.where(X[:, 0] * X[:, 1] > 0.2, "high", "low")


def table(n_rows=80):
    X = np.random.default_rng(0).normal(size=(n_rows, 3)).round(3)
    return X, np.where(X[:, 0] + X[:, 1] > 0, "high", "low")


X, Y = table()


def of(model, attack=None, **arguments):
    """An attack with few seeds and a quick substitute."""
    attack = FastGradientSign(None, epsilon=0.8) if attack is None else attack
    quick = {"substitute": LogisticRegression(), "n_seeds": 20, "random_state": 0}
    return SubstituteAttack(model, attack=attack, **(quick | arguments))


@pytest.mark.thorough
def test_it_agrees_with_a_model_that_it_has_asked_little():
    X, y = load_digits(return_X_y=True)
    X = X / 16
    model = FrozenEstimator(SVC().fit(X[:1200], y[:1200]))
    attack = ProjectedGradient(None, epsilon=0.2, units="raw", bounds=(0, 1))
    attack = SubstituteAttack(model, attack=attack, n_rounds=1, random_state=0)
    attack.fit(X[:1200])
    assert attack.n_queries_ == 200
    substitute = attack.substitute_.predict(X[1200:])
    assert (substitute == model.predict(X[1200:])).mean() > 0.75
    assert attack.agreement_ > 0.75
    assert attack.robust_score(X[1200:1250], y[1200:1250]) < 0.9


@pytest.mark.parametrize("max_queries", [None, 20, 50, 7])
def test_queries_are_labels_and_counted(max_queries):
    oracle = FrozenEstimator(Oracle().fit(X))
    attack = of(oracle, n_rounds=2, max_queries=max_queries).fit(X)
    n_queries = min(80, max_queries or 80)
    assert attack.n_queries_ == n_queries
    # First one row is sent, to see whether the model changes it.
    first, *asked = attack.estimator_.estimator.asked_
    assert len(first) == 1
    others = asked.pop()
    assert sum(map(len, asked)) == n_queries
    known = {tuple(row) for row in X}
    seeds = {tuple(row) for row in asked[0]}
    assert seeds < known
    assert {tuple(row) for row in others} == known - seeds
    low, high = X.min(axis=0), X.max(axis=0)
    for added in asked[1:]:
        assert ((added >= low) & (added <= high)).all()


def test_rows_are_added_along_the_slopes():
    """Of a linear substitute all go the same ways: away from the label they have."""
    oracle = FrozenEstimator(Oracle().fit(X))
    attack = of(oracle, n_seeds=80, n_rounds=1, step_size=0.2).fit(X)
    _, seeds, added, _ = attack.estimator_.estimator.asked_
    learned = LogisticRegression().fit(seeds, oracle.predict(seeds))
    away = np.where(oracle.predict(seeds) == "low", -1, 1)[:, None]
    # Classes are in the order of the alphabet: "low" is the positive one.
    expected = seeds + 0.2 * X.std(axis=0) * away * np.sign(learned.coef_)
    assert_allclose(added, np.clip(expected, X.min(axis=0), X.max(axis=0)))
    # Some rows are held out, however many seeds are asked for.
    assert len(seeds) == 0.9 * len(X)
    assert 0 <= attack.agreement_ <= 1


def test_valid_is_what_the_model_says():
    forest = RandomForestClassifier(10, random_state=0).fit(X, Y)
    attack = of(FrozenEstimator(forest)).fit(X)
    explanation = attack.explain(X, Y)
    assert_array_equal(explanation.valid, forest.predict(explanation.rows) != Y)
    moved = explanation.status != "unchanged"
    of_substitute = attack.attack_.explain(X).rows
    assert_array_equal(explanation.rows[moved], of_substitute[moved])
    one = attack.explain(X[:1], Y[:1])
    assert_array_equal(one.rows, explanation.rows[:1])
    curve = attack.robustness_curve(X, Y, sizes=[0, 0.8, 3.0])
    assert curve[0] == forest.score(X, Y)
    assert curve[1] == attack.robust_score(X, Y)
    assert curve[2] <= curve[1] < curve[0]


def test_the_attack_says_the_target_and_what_may_change():
    limits = {"features_to_vary": [0, 1], "bounds": (-1, 1), "target": "high"}
    attack = of(
        RandomForestClassifier(10, random_state=0), FastGradientSign(None, **limits)
    ).fit(X, Y)
    explanation = attack.explain(X)
    assert_array_equal(explanation.valid, attack.predict(explanation.rows) == "high")
    assert_array_equal(explanation.rows[:, 2], X[:, 2])
    moved = explanation.rows[explanation.changed]
    assert (np.abs(moved) <= 1).all()
    assert attack.attack.estimator is None


def test_regressors_have_intervals():
    y = X[:, 0] + X[:, 1] ** 2
    forest = RandomForestRegressor(10, random_state=0).fit(X, y)
    outcome = ProjectedGradient(None, epsilon=1.0, desired=(1.5, None))
    attack = of(FrozenEstimator(forest), outcome, substitute=LinearRegression()).fit(X)
    explanation = attack.explain(X)
    assert_array_equal(explanation.valid, forest.predict(explanation.rows) >= 1.5)
    assert explanation.valid.sum() > (forest.predict(X) >= 1.5).sum()
    assert 0 < attack.agreement_ <= 1


@pytest.mark.parametrize("output", [0, 1])
def test_regressors_of_several_outputs(output):
    model = LinearRegression().fit(X, X[:, :2])
    outcome = FastGradientSign(None, epsilon=3.0, desired=(0.5, 1.5), target=output)
    attack = of(FrozenEstimator(model), outcome, substitute=LinearRegression()).fit(X)
    assert_allclose(attack.substitute_.predict(X), X[:, output], atol=1e-9)


def test_one_label_is_nothing_to_learn():
    stump = DecisionTreeClassifier(min_samples_leaf=80).fit(X, Y)
    attack = of(FrozenEstimator(stump)).fit(X)
    explanation = attack.explain(X[:3])
    assert not explanation.valid.any()
    assert not explanation.n_changed.any()
    assert "gave all seeds one label" in explanation.reasons[0]
    assert attack.n_queries_ == 20


def test_a_class_that_is_not_met_is_named():
    stump = DecisionTreeClassifier(min_samples_leaf=80).fit(X, Y)
    (never,) = {"high", "low"} - set(stump.predict(X))
    with pytest.raises(ValueError, match=f"n_seeds=20.*target='{never}'"):
        of(FrozenEstimator(stump), FastGradientSign(None, target=never)).fit(X)


def test_one_feature_and_one_row():
    attack = of(DecisionTreeClassifier(max_depth=2)).fit(X[:, :1], Y)
    assert attack.explain(X[:1, :1]).valid.shape == (1,)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"attack": LogisticRegression()}, "attack"),
        ({"substitute": "network"}, "substitute"),
        ({"attack": FastGradientSign(None, bounds=(1, 0))}, "bounds"),
        ({"attack": FastGradientSign(None, target="sideways")}, "target"),
        ({"attack": FastGradientSign(None, desired=(0, 1))}, "desired"),
    ],
)
def test_bad_parameters(wrong, message):
    with pytest.raises(ValueError, match=message):
        SubstituteAttack(LogisticRegression(), **wrong).fit(X, Y)


def test_a_substitute_needs_slopes():
    substitute = DecisionTreeClassifier(max_depth=3)
    with pytest.raises(UnreadableModelError, match="no slopes"):
        of(LogisticRegression(), substitute=substitute).fit(X, Y)
