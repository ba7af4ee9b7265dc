"""Types for static checkers, written by .ci/make_stubs.py."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from matplotlib.axes import Axes
from matplotlib.container import BarContainer
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.text import Text
from numpy.typing import ArrayLike, NDArray
from pandas import DataFrame

from sklearn_interpret.rules._bayesian_rule_list import (
    BayesianRule,
    BayesianRuleListClassifier,
)
from sklearn_interpret.rules._one_r import OneRClassifier
from sklearn_interpret.rules._ripper import RIPPERClassifier
from sklearn_interpret.rules._rule_fit import RuleFitClassifier, RuleFitRegressor
from sklearn_interpret.rules._rules import Rule
from sklearn_interpret.rules._skope_rules import SkopeRule, SkopeRulesClassifier
from sklearn_interpret.rules._weighted_rules import LinearTerm, WeightedRule

__all__ = [
    "BayesianRule",
    "BayesianRuleListClassifier",
    "LinearTerm",
    "OneRClassifier",
    "RIPPERClassifier",
    "Rule",
    "RuleFitClassifier",
    "RuleFitDisplay",
    "RuleFitRegressor",
    "RulesDisplay",
    "SkopeRule",
    "SkopeRulesClassifier",
    "WeightedRule",
]

class RuleFitDisplay:
    rules: Any
    coefficients: ArrayLike
    rule_importances: ArrayLike
    feature_importances: ArrayLike
    feature_names: Any
    response_name: str
    figure_: Figure
    axes_: NDArray[np.object_]
    bars_: list[BarContainer]
    legend_: Legend
    def __init__(
        self,
        rules: Any,
        coefficients: ArrayLike,
        rule_importances: ArrayLike,
        feature_importances: ArrayLike,
        *,
        feature_names: Any = None,
        response_name: str = "prediction",
    ) -> None: ...
    @classmethod
    def from_estimator(
        cls, estimator: Any, *, ax: Any = None, max_entries: int | None = 10
    ) -> Self: ...
    def plot(self, ax: Any = None, *, max_entries: int | None = 10) -> Self: ...
    def to_frame(self) -> DataFrame: ...

class RulesDisplay:
    rules: Sequence[Rule]
    classes: ArrayLike | None
    figure_: Figure
    ax_: Axes
    bars_: list[BarContainer]
    texts_: list[Text]
    legend_: Legend | None
    def __init__(
        self, rules: Sequence[Rule], *, classes: ArrayLike | None = None
    ) -> None: ...
    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        ax: Any = None,
        max_rules: int | None = 12,
        bar_kw: dict[str, Any] | None = None,
    ) -> Self: ...
    def plot(
        self,
        ax: Any = None,
        *,
        max_rules: int | None = 12,
        bar_kw: dict[str, Any] | None = None,
    ) -> Self: ...
    def to_frame(self) -> DataFrame: ...
