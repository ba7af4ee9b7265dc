"""RuleFit: what its rules and linear terms say is what it predicts."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit
from sklearn.base import is_classifier
from sklearn.datasets import load_diabetes, load_iris, make_friedman1
from sklearn.linear_model import Lasso, LogisticRegression

from sklearn_interpret._core.statistics.score_losses import HalfSquared, Logistic
from sklearn_interpret.rules import (
    RuleFitClassifier,
    RuleFitRegressor,
    _ensemble_search,
)
from sklearn_interpret.rules._ensemble_search import boosted_rules
from sklearn_interpret.rules._lasso import LassoProblem
from tests.references.rules import condition_holds, is_missing, rule_holds
from tests.rules.test_rules import random_case
from tests.speeds import examples

# Classes that are noise may never be predicted.
pytestmark = pytest.mark.filterwarnings(
    "ignore::sklearn_interpret.exceptions.NoRuleWarning"
)

SMALL = {"max_rules": 10, "n_folds": 2, "learning_rate": 0.2, "random_state": 0}
BOTH = [RuleFitRegressor(**SMALL), RuleFitClassifier(**SMALL)]
L1 = {"l1_ratio": 1}
if LogisticRegression().penalty == "l2":  # until scikit-learn 1.7
    L1["penalty"] = "elasticnet"
both = pytest.mark.parametrize("model", BOTH, ids=lambda m: type(m).__name__)


def score_by_hand(model, row, label):
    """Sum up the rules and linear terms of a class for one row."""
    total = 0.0
    for rule in model.rules_:
        if rule.prediction == label and rule_holds(rule, row):
            total += rule.coef
    for term in model.linear_terms_:
        value = row[term.feature]
        if term.prediction == label and not is_missing(value):
            bounded = min(max(value, term.low), term.high)
            total += term.coef * (bounded - term.mean)
    return total


def predictions_by_hand(model, rows):
    """Predict numbers, or probabilities, by rules and linear terms."""
    if not is_classifier(model):
        return [model.intercept_ + score_by_hand(model, row, None) for row in rows]
    labels = model.classes_ if len(model.classes_) > 2 else model.classes_[-1:]
    scores = [[score_by_hand(model, row, label) for label in labels] for row in rows]
    scores = np.array(scores) + model.intercept_
    if len(model.classes_) == 1:
        return np.ones(scores.shape)
    if len(labels) == 1:
        scores = np.hstack([-scores, scores])
    shares = expit(scores)
    return shares / shares.sum(axis=1, keepdims=True)


@both
@examples(5)
@given(seed=st.integers(0, 2**32 - 1), n_classes=st.sampled_from([1, 2, 3]))
def test_rules_evaluated_by_hand_give_the_predictions(model, seed, n_classes):
    X, y, new = random_case(seed, n_classes)
    weights = np.random.default_rng(seed).choice([0.1, 0.3, 2.0], size=len(X))
    model.fit(X, y, sample_weight=weights)
    for rows in (X, new):
        ask = model.predict_proba if is_classifier(model) else model.predict
        found, expected = ask(rows), predictions_by_hand(model, rows)
        assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
        holds = [[rule_holds(rule, row) for rule in model.rules_] for row in rows]
        assert_array_equal(model.transform(rows), np.array(holds, dtype=float))
        for by in ("features", "rules"):
            explanation = model.explain(rows, by=by)
            assert_allclose(explanation.additivity_error(), 0, atol=1e-10)
    by_features = model.explain(X)
    means = np.tensordot(weights, by_features.values, axes=1) / weights.sum()
    assert_allclose(means, 0, atol=1e-9)
    held = model.transform(X)
    coverage = [rule.coverage for rule in model.rules_]
    assert_allclose(coverage, weights @ held / weights.sum(), atol=1e-12)


@both
@examples(5)
@given(seed=st.integers(0, 2**32 - 1), n_classes=st.sampled_from([2, 3]))
def test_no_condition_is_redundant(model, seed, n_classes):
    X, y, _ = random_case(seed, n_classes)
    model.fit(X, y)
    for label in {rule.prediction for rule in model.rules_}:
        rules = [rule for rule in model.rules_ if rule.prediction == label]
        held = np.array([rule.holds(X) for rule in rules])
        one_side = held ^ held[:, :1]
        assert len(np.unique(one_side, axis=0)) == len(rules)
        assert len({rule.conditions for rule in rules}) == len(rules)
    for rule in model.rules_:
        features = [condition.feature for condition in rule.conditions]
        assert features
        assert len(set(features)) == len(features)
        assert 0 < rule.coverage < 1
        assert rule.coef != 0
        for condition in rule.conditions:
            assert not condition.holds(X).all(), str(condition)
            assert "None" not in str(condition)


@pytest.mark.thorough(after=1)
@pytest.mark.parametrize("logistic", [True, False])
def test_lasso_against_scikit_learn(logistic):
    rng = np.random.default_rng(0)
    columns = (rng.random((200, 20)) < 0.3).astype(float)
    score = 2 * columns[:, 0] - 3 * columns[:, 1] + rng.normal(size=200)
    weights = rng.integers(1, 4, size=200) / 400
    weights /= weights.sum()
    targets = (score > 0).astype(float) if logistic else score
    loss = Logistic() if logistic else HalfSquared()
    problem = LassoProblem(columns.T == 1, targets, weights, loss)
    for penalty in problem.penalties()[1:60:7]:
        problem.solve(penalty)
    peer = Lasso(alpha=penalty, tol=1e-10)
    if logistic:
        peer = LogisticRegression(
            C=1 / penalty, solver="saga", tol=1e-6, max_iter=100_000, **L1
        )
    peer.fit(columns, targets, sample_weight=weights)
    assert 3 < (peer.coef_ != 0).sum() < 20
    assert_allclose(problem.coefficients, np.ravel(peer.coef_), atol=0.02)
    assert_allclose(problem.intercept, np.ravel(peer.intercept_)[0], atol=0.02)


@pytest.mark.thorough
def test_friedman_1():
    X, y = make_friedman1(n_samples=800, n_features=8, noise=1, random_state=0)
    model = RuleFitRegressor(
        max_rules=500, learning_rate=0.05, n_folds=3, random_state=0
    )
    model.fit(X[:500], y[:500])
    assert model.score(X[500:], y[500:]) > 0.85
    assert set(np.argsort(-model.feature_importances_)[:5]) == set(range(5))


def test_folds_grow_few_rules(monkeypatch):
    grown = []

    def grow(table, targets, weights, loss, growth, random):
        grown.append(growth.max_rules)
        return boosted_rules(table, targets, weights, loss, growth, random)

    monkeypatch.setattr(_ensemble_search, "boosted_rules", grow)
    monkeypatch.setattr(_ensemble_search, "_MAX_RULES_OF_FOLD", 20)
    X, y = make_friedman1(n_samples=60, random_state=0)
    for max_rules, expected in (40, [40, 20, 20]), (10, [10, 10, 10]):
        grown.clear()
        RuleFitRegressor(max_rules=max_rules, n_folds=2, random_state=0).fit(X, y)
        assert grown == expected


def test_noise_is_left_alone():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(200, 5))
    model = RuleFitRegressor(max_rules=100, n_folds=3, random_state=0)
    model.fit(X, rng.normal(size=200))
    assert len(model.rules_) + len(model.linear_terms_) <= 2


def test_importances_are_spreads():
    X, y = make_friedman1(n_samples=300, n_features=6, random_state=0)
    model = RuleFitRegressor(max_rules=60, n_folds=2, random_state=0).fit(X, y)
    explanation = model.explain(X, by="rules")
    sizes = [entry.importance for entry in [*model.rules_, *model.linear_terms_]]
    assert_allclose(explanation.values.std(axis=0), sizes, rtol=1e-9)
    assert_allclose(model.feature_importances_.sum(), sum(sizes))
    for rule, columns in zip(model.rules_, explanation.columns, strict=False):
        assert columns == tuple(c.feature for c in rule.conditions)


def test_units_of_the_target_do_not_matter():
    X, y = make_friedman1(n_samples=150, n_features=5, random_state=0)
    model = RuleFitRegressor(max_rules=60, n_folds=2, random_state=0)
    one = model.fit(X, y).predict(X)
    assert_allclose(model.fit(X, 1e9 * y - 1e6).predict(X), 1e9 * one - 1e6, rtol=1e-5)


@both
def test_constant_columns_and_targets(model):
    X, y = np.ones((12, 2)), np.arange(12) % 2
    assert not model.fit(X, y).rules_
    assert model.transform(X).shape == (12, 0)
    assert model.explain(X, by="rules").values.shape == (12, 0)
    X[:6] = 0
    assert not model.fit(X, np.full(12, 3)).rules_
    assert model.predict(X).tolist() == [3] * 12
    assert model.to_frame().columns.tolist() == ["rule"]


@both
def test_one_row(model):
    model.fit([[1.0, np.nan]], [2])
    assert model.predict([[5.0, 2.0], [np.nan, np.nan]]).tolist() == [2, 2]


def test_tree_size_may_be_huge():
    X, y = np.arange(6.0)[:, None], np.arange(6.0) ** 2
    model = RuleFitRegressor(tree_size=10**20, max_rules=9, random_state=0).fit(X, y)
    assert np.isfinite(model.predict(X)).all()


def test_missing_values_are_asked_for():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    X[rng.random(300) < 0.3, 0] = np.nan
    y = 5.0 * np.isnan(X[:, 0])
    model = RuleFitRegressor(max_rules=30, n_folds=2, random_state=0).fit(X, y)
    assert str(model.rules_[0]) in ("x0 is missing", "x0 is not missing")
    assert model.score(X, y) > 0.99


@pytest.mark.parametrize("seed", range(4))
def test_missing_values_are_told_from_values_that_were_not_drawn(seed):
    X = np.linspace(0, 1, 400)[:, None]
    X[::4] = np.nan
    y = 5.0 * np.isnan(X[:, 0])
    model = RuleFitRegressor(max_rules=1, linear=False, random_state=seed).fit(X, y)
    (rule,) = model.rules_
    assert str(rule) in ("x0 is missing", "x0 is not missing")


def test_levels_are_sets():
    rng = np.random.default_rng(0)
    X = rng.choice(list("abcdef"), size=(300, 1)).astype(object)
    y = np.isin(X[:, 0], ["b", "e"]) * 4.0
    model = RuleFitRegressor(max_rules=30, n_folds=2, random_state=0).fit(X, y)
    assert set(model.rules_[0].conditions[0].levels) in ({"b", "e"}, set("acdf"))
    assert model.predict([["unseen"]]) == pytest.approx(model.intercept_)


def test_linear_terms_are_bounded():
    X = np.linspace(0, 1, 200)[:, None]
    model = RuleFitRegressor(max_rules=10, trim=0.1, random_state=0).fit(X, 3 * X[:, 0])
    (term,) = model.linear_terms_
    assert (term.low, term.high) == pytest.approx((X[19, 0], X[179, 0]))
    assert_allclose(term.values([[-9.0], [np.nan], [9.0]])[[0, 1, 2]][1], 0)
    assert not RuleFitRegressor(linear=False, **SMALL).fit(X, X[:, 0]).linear_terms_


def test_table_of_rules_and_terms():
    X, y = load_iris(return_X_y=True, as_frame=True)
    model = RuleFitClassifier(**SMALL).fit(X, y)
    frame = model.to_frame()
    assert len(frame) == len(model.rules_) + len(model.linear_terms_)
    assert {"rule", "prediction", "coverage", "coef", "importance"} <= {*frame}
    names = model.get_feature_names_out().tolist()
    assert names == [f"{rule.prediction}: {rule}" for rule in model.rules_]


def test_conditions_without_limits_are_of_known_values():
    X = np.array([[1.0], [np.nan]])
    rng = np.random.default_rng(0)
    X = np.where(rng.random((200, 2)) < 0.5, np.nan, rng.normal(size=(200, 2)))
    y = np.nan_to_num(X[:, 0]) + 3.0 * np.isnan(X[:, 0]) * ~np.isnan(X[:, 1])
    model = RuleFitRegressor(max_rules=60, n_folds=2, random_state=0).fit(X, y)
    for rule in model.rules_:
        for condition in rule.conditions:
            own = [
                condition_holds(condition, value) for value in X[:, condition.feature]
            ]
            assert_array_equal(condition.holds(X), own)


def test_bad_by():
    model = RuleFitRegressor(**SMALL).fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(ValueError, match="by='rule'"):
        model.explain([[0.0]], by="rule")


def test_text_evaluated_by_hand_gives_the_predictions():
    """Each line of the text is a number to add, where its condition holds."""
    X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    X = X[["bmi", "bp", "s5"]]
    model = RuleFitRegressor(**SMALL).fit(X, y)
    assert model.rules_
    assert model.linear_terms_
    first, *lines = model.to_text(digits=None).split("\n")
    found = np.full(len(X), float(first.removeprefix("prediction = ")))
    for line in lines:
        sign, size, factor = line.split(maxsplit=2)
        parts = re.fullmatch(r"\* \((\w+) - (.*)\), \1 taken from (.*) to (.*)", factor)
        if parts is None:
            held = X.eval(factor.removeprefix("if "))
        else:
            mean, low, high = map(float, parts.groups()[1:])
            held = X[parts[1]].clip(low, high) - mean
        found += float(sign + size) * np.array(held)
    assert_allclose(found, model.predict(X), rtol=1e-12)


def test_text_of_few_digits():
    X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    model = RuleFitRegressor(**SMALL).fit(X[["bmi", "bp", "s5"]], y)
    few, whole = (model.to_text(digits=d).split("\n") for d in (3, None))
    for short, long in zip(few, whole, strict=True):
        (coefficients, rule), (numbers, same) = (
            line.partition(" if ")[::2] for line in (short, long)
        )
        # Conditions have all digits, or rows would change sides.
        assert rule == same
        expected = [float(f"{float(x):.3g}") for x in re.findall(r"[\d.]+", numbers)]
        assert list(map(float, re.findall(r"[\d.]+", coefficients))) == expected
    with pytest.raises(ValueError, match="digits == 0"):
        model.to_text(digits=0)
    assert model.explain(X[["bmi", "bp", "s5"]]).value_name == "contribution"


def test_text_names_the_class_of_each_sum():
    X, y = load_iris(return_X_y=True)
    model = RuleFitClassifier(**SMALL).fit(X, y)
    lines = model.to_text().split("\n")
    heads = [line.split(" = ")[0] for line in lines if not line.startswith(" ")]
    assert heads == ["log-odds of 0", "log-odds of 1", "log-odds of 2"]


def test_targets_whose_squares_are_not_finite_are_refused():
    with pytest.raises(ValueError, match=r"y has a value of the size 6e\+306"):
        RuleFitRegressor().fit([[0.1], [0.2]], [6e306, 1e306])
