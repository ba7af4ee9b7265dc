"""Skope rules against their definitions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.model_selection import cross_val_score

from sklearn_interpret._core.rules.out_of_bag import (
    draw_share,
    score_rules,
    without_overlaps,
)
from sklearn_interpret.exceptions import IdentifierWarning
from sklearn_interpret.rules import SkopeRulesClassifier
from tests.references.rules import rule_holds
from tests.rules.test_rules import any_number_of_classes, random_case
from tests.speeds import examples

# Classes that are noise may never be predicted.
pytestmark = pytest.mark.filterwarnings(
    "ignore::sklearn_interpret.exceptions.NoRuleWarning"
)


def votes_by_hand(rules, row):
    """Return probabilities from what the rules say."""
    *rules, default = rules
    held = [rule for rule in rules if rule_holds(rule, row)] or [default]
    total = sum(rule.precision for rule in held)
    columns = zip(*(rule.shares for rule in held), strict=True)
    return [
        sum(rule.precision * s for rule, s in zip(held, shares, strict=True)) / total
        for shares in columns
    ]


@examples(15)
@given(seed=st.integers(0, 2**32 - 1), n_classes=any_number_of_classes)
def test_rules_evaluated_by_hand_give_the_predictions(seed, n_classes):
    X, y, new = random_case(seed, n_classes)
    weights = np.random.default_rng(seed).choice([0.1, 0.3, 2.0], size=len(X))
    model = SkopeRulesClassifier(n_estimators=5, random_state=seed, recall_min=0)
    model.fit(X, y, sample_weight=weights)
    rules = model.rules_
    for rows in (X, new):
        expected = [votes_by_hand(rules, row) for row in rows]
        assert_allclose(model.predict_proba(rows), expected, rtol=0, atol=1e-12)
        holds = np.array([[rule_holds(rule, row) for rule in rules] for row in rows])
        assert_array_equal(model.transform(rows), holds.astype(float))
        assert_array_equal(model.decision_rule(rows), holds.argmax(axis=1))
    holds = model.transform(X)
    holds[:, -1] = ~holds[:, :-1].any(axis=1)
    coverage = [rule.coverage for rule in rules]
    assert_allclose(coverage, weights @ holds / weights.sum(), atol=1e-12)
    for rule in rules[:-1]:
        assert (
            rule.precision == rule.shares[list(model.classes_).index(rule.prediction)]
        )
        assert rule.precision >= 0.5
        assert 0 < rule.recall <= 1


def test_rules_are_judged_by_rows_that_were_not_drawn():
    rng = np.random.default_rng(0)
    holds, weights = rng.random((4, 50)) < 0.3, rng.integers(4, size=(4, 50))
    holds[3] = False
    labels = rng.integers(3, size=50)
    rated = score_rules(holds, weights, np.eye(3)[labels])
    for k in range(3):
        rows = np.repeat(np.arange(50), weights[k])
        everywhere = np.bincount(labels[rows], minlength=3)
        shares = np.bincount(labels[rows][holds[k, rows]], minlength=3)
        shares = shares / shares.sum()
        label = (shares / everywhere).argmax()
        assert rated.label[k] == label
        assert_allclose(rated.shares[k], shares)
        assert_allclose(rated.precision[k], shares[label])
        assert_allclose(rated.recall[k], holds[k, rows][labels[rows] == label].mean())
    assert rated.precision[3] == rated.recall[3] == 0


def test_a_share_of_the_weight_is_drawn():
    weights = np.tile([0.5, 1.0, 2.0, 2.25, 900.0], 40)
    random = np.random.RandomState(0)
    drawn = np.array([draw_share(weights, 0.8, random) for _ in range(200)])
    assert_allclose(drawn.mean(axis=0) / weights, 0.8, atol=0.15)
    seen = [np.unique(drawn[:, k::5]).tolist() for k in range(4)]
    assert seen == [[0, 0.5], [0, 1], [0, 1, 2], [0, 0.25, 1, 1.25, 2, 2.25]]
    assert drawn[:, 4::5].min() > 600


def test_weights_of_any_size():
    X, y = load_iris(return_X_y=True)
    model = SkopeRulesClassifier(n_estimators=3, random_state=0)
    for scale in (1e-90, 1e90):
        assert model.fit(X, y, sample_weight=np.full(150, scale)).score(X, y) > 0.9


def test_rules_that_overlap():
    holds = np.array([[1, 1, 1, 0, 0], [1, 1, 0, 0, 0], [0, 0, 1, 1, 1]], dtype=bool)
    holds = np.vstack([holds, holds[:1]])
    weights = np.array([1.0, 1, 1, 1, 2])
    assert without_overlaps(holds, weights, 1.0) == [0, 1, 2, 3]
    assert without_overlaps(holds, weights, 2 / 3) == [0, 1, 2]
    assert without_overlaps(holds, weights, 0.6) == [0, 2]
    assert without_overlaps(holds, weights, 0.0) == [0]
    assert without_overlaps(holds[:0], weights, 0.5) == []


def test_overlap_is_within_a_class():
    X, y = load_wine(return_X_y=True)
    model = SkopeRulesClassifier(max_overlap=0.5, random_state=0).fit(X, y)
    rules, holds = model.rules_[:-1], model.transform(X).astype(bool).T
    for i, rule in enumerate(rules):
        for j in range(i):
            if rule.prediction == rules[j].prediction:
                either = (holds[i] | holds[j]).sum()
                assert (holds[i] & holds[j]).sum() <= 0.5 * either
    f1 = [1 / (1 / rule.precision + 1 / rule.recall) for rule in rules]
    assert_allclose(f1, sorted(f1, reverse=True))


def test_thresholds_are_kept():
    X, y = load_breast_cancer(return_X_y=True)
    model = SkopeRulesClassifier(precision_min=0.9, recall_min=0.6, random_state=0)
    rules = model.fit(X, y).rules_[:-1]
    assert {rule.prediction for rule in rules} == {0, 1}
    assert min(rule.precision for rule in rules) >= 0.9
    assert min(rule.recall for rule in rules) >= 0.6
    assert max(len(rule.conditions) for rule in rules) <= 3


def test_rules_for_a_rare_class():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 4))
    chance = np.where((X[:, 0] > 1) & (X[:, 1] > 0.5), 0.35, 0.01)
    y = rng.random(3000) < chance
    model = SkopeRulesClassifier(precision_min=0.2, recall_min=0.2, random_state=0)
    best = next(rule for rule in model.fit(X, y).rules_ if rule.prediction)
    assert {condition.feature for condition in best.conditions} >= {0, 1}
    new = rng.normal(size=(3000, 4))
    share = (best.holds(new) & (new[:, 0] > 1) & (new[:, 1] > 0.5)).sum()
    assert share > 0.8 * best.holds(new).sum()


def test_levels_are_ordered_by_the_class():
    rng = np.random.default_rng(0)
    X = rng.choice(list("abcdefgh"), size=(400, 1)).astype(object)
    y = np.isin(X[:, 0], ["b", "e", "h"])
    X[:40] = None
    y[:40] = rng.random(40) < 0.9
    model = SkopeRulesClassifier(max_depth=2, random_state=0).fit(X, y)
    assert "x0 in {b, e, h}" in {str(rule) for rule in model.rules_}
    assert "x0 is missing" in {str(rule) for rule in model.rules_}
    assert model.predict([["b"], ["a"], [None]]).tolist() == [True, False, True]


def test_known_values_make_a_rule():
    X = np.tile([np.nan, 1.0, 2.0, np.nan], 20)[:, None]
    model = SkopeRulesClassifier(random_state=0).fit(X, np.isnan(X[:, 0]))
    rules = {(str(rule), bool(rule.prediction)) for rule in model.rules_[:-1]}
    assert rules == {("x0 is missing", True), ("x0 is not missing", False)}


def test_identifiers_make_no_rules():
    rng = np.random.default_rng(0)
    X = np.array([f"id{k}" for k in range(100)], dtype=object)[:, None]
    y = rng.random(100) < 0.5
    with pytest.warns(IdentifierWarning):
        assert len(SkopeRulesClassifier(random_state=0).fit(X, y).rules_) == 1


@pytest.mark.thorough(after=1)
@pytest.mark.parametrize(
    ("load", "least"), [(load_iris, 0.92), (load_breast_cancer, 0.91)]
)
def test_accuracy(load, least):
    X, y = load(return_X_y=True)
    scores = cross_val_score(SkopeRulesClassifier(random_state=0), X, y, cv=5)
    assert scores.mean() > least


@pytest.mark.parametrize("seed", range(3))
def test_rows_of_little_weight_make_no_rules(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(80, 2)), rng.integers(3, size=80)
    weights = {0: 1000, 1: 1e-4, 2: 1e-4}
    model = SkopeRulesClassifier(class_weight=weights, random_state=0).fit(X, y)
    assert not model.predict(10 * X).any()
