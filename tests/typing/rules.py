"""Types of rules, as users see them."""

from typing import assert_type

import numpy as np
from matplotlib.container import BarContainer
from matplotlib.text import Text
from numpy.typing import NDArray
from pandas import DataFrame

from sklearn_interpret.explanations import Condition, Explanation
from sklearn_interpret.rules import (
    BayesianRule,
    BayesianRuleListClassifier,
    LinearTerm,
    OneRClassifier,
    RIPPERClassifier,
    Rule,
    RuleFitClassifier,
    RuleFitDisplay,
    RuleFitRegressor,
    RulesDisplay,
    SkopeRule,
    SkopeRulesClassifier,
    WeightedRule,
)

Floats = NDArray[np.float64]


def lists(X: Floats, y: list[str]) -> None:
    one = OneRClassifier(strategy="uniform").fit(X, y)
    assert_type(one, OneRClassifier)
    assert_type(one.feature_, int)
    assert_type(one.errors_, Floats)
    assert_type(one.rules_, list[Rule])
    ripper = RIPPERClassifier(prune=False, class_weight={"yes": 2.0}).fit(X, y)
    assert_type(ripper, RIPPERClassifier)
    assert_type(ripper.rules_, list[Rule])
    assert_type(ripper.rules_[0].conditions, tuple[Condition, ...])
    assert_type(ripper.rules_[0].holds(X), NDArray[np.bool_])
    assert_type(ripper.decision_rule(X), NDArray[np.intp])
    assert_type(ripper.predict_proba(X), Floats)
    assert_type(ripper.score(X, y), float)
    assert_type(ripper.transform(X), Floats)
    assert_type(ripper.to_text(), str)
    assert_type(ripper.to_frame(), DataFrame)
    bayesian = BayesianRuleListClassifier(n_chains=2).fit(X, y)
    assert_type(bayesian, BayesianRuleListClassifier)
    assert_type(bayesian.rules_, list[BayesianRule])
    assert_type(bayesian.rules_[0].shares_low, tuple[float, ...] | None)
    assert_type(bayesian.log_posteriors_, Floats)
    assert_type(bayesian.r_hat_, float)
    _, share = bayesian.posterior_[0]
    assert_type(share, float)


def sets(X: Floats, y: list[str]) -> None:
    skope = SkopeRulesClassifier(precision_min=0.6).fit(X, y)
    assert_type(skope, SkopeRulesClassifier)
    assert_type(skope.rules_, list[SkopeRule])
    assert_type(skope.rules_[0].recall, float | None)
    assert_type(skope.predict_proba(X), Floats)
    display = RulesDisplay.from_estimator(skope, max_rules=3)
    assert_type(display, RulesDisplay)
    assert_type(display.plot(max_rules=None), RulesDisplay)
    assert_type(display.texts_, list[Text])
    assert_type(display.to_frame(), DataFrame)
    assert_type(RulesDisplay(skope.rules_).plot(), RulesDisplay)


def sums(X: Floats, y: Floats, labels: list[str]) -> None:
    regressor = RuleFitRegressor(max_rules=100).fit(X, y)
    assert_type(regressor, RuleFitRegressor)
    assert_type(regressor.rules_, list[WeightedRule])
    assert_type(regressor.rules_[0].coef, float)
    assert_type(regressor.linear_terms_, list[LinearTerm])
    assert_type(regressor.intercept_, float)
    assert_type(regressor.penalty_, float)
    assert_type(regressor.feature_importances_, Floats)
    assert_type(regressor.predict(X), Floats)
    assert_type(regressor.to_text(digits=3), str)
    assert_type(regressor.explain(X, by="rules"), Explanation)
    display = RuleFitDisplay.from_estimator(regressor, max_entries=5)
    assert_type(display, RuleFitDisplay)
    assert_type(display.plot(max_entries=3), RuleFitDisplay)
    assert_type(display.bars_, list[BarContainer])
    assert_type(display.to_frame(), DataFrame)
    classifier = RuleFitClassifier(linear=False).fit(X, labels)
    assert_type(classifier, RuleFitClassifier)
    assert_type(classifier.intercept_, float | Floats)
    assert_type(classifier.decision_function(X), Floats)
    assert_type(classifier.predict_proba(X), Floats)
    assert_type(classifier.explain(X), Explanation)
