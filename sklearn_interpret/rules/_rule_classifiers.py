"""Classifiers made of rules and a default; weights of classes."""

from __future__ import annotations

from abc import abstractmethod
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from sklearn_interpret._inspectors.predictor import most_probable_class
from sklearn_interpret._inspectors.sklearn_bases import ClassifierMixin
from sklearn_interpret._model._sklearn_compat import (
    StrOptions,
    compute_class_weight,
    warn,
)
from sklearn_interpret.exceptions import NoRuleWarning
from sklearn_interpret.rules._rules import Rule, RuleModel, check_digits

if TYPE_CHECKING:
    from sklearn_interpret._inspectors.condition_space import ConditionSpace
    from sklearn_interpret._model.rows.sample import Sample
    from sklearn_interpret.explanations import Condition

CLASS_WEIGHT = [StrOptions({"balanced"}), dict, None]
# Bounds of class weights, whose products with weights of rows are finite.
_SMALLEST, _LARGEST = 1e-9, 1e9


def first_rule_that_holds(self: Any, X: Any) -> NDArray[np.intp]:
    """Which rule is the first that holds for each row; in a list, it decides.

    Parameters
    ----------
    X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
        Rows.

    Returns
    -------
    ndarray of shape (n_samples,), int
        Positions in `rules_`, of which the last is the default rule.
    """
    rows = self._check_rows(X, reset=False)
    return self._first_that_holds([rule.conditions for rule in self.rules_], rows)


class RuleListClassifier(ClassifierMixin, RuleModel):
    """Base of classifiers that ask rules one after the other.

    A method fills `_find_rules`. The default rule comes last, and has no conditions.
    """

    classes_: NDArray[Any]

    # Coverage counts rows.
    _weights_count_rows = True

    _parameter_constraints = {"class_weight": CLASS_WEIGHT}

    decision_rule, predict = first_rule_that_holds, most_probable_class

    @abstractmethod
    def _find_rules(
        self, space: ConditionSpace, sample: Sample, class_weights: NDArray[np.float64]
    ) -> list[tuple[Condition, ...]]:
        """Conditions of each rule, in the order of the list, without the default."""

    def _fit(self, sample: Sample) -> None:
        space = self._condition_space(sample.rows)
        class_weights = class_weights_of(self, sample)
        rules = self._find_rules(space, sample, class_weights)
        self.rules_ = self._order_rules(rules, sample, class_weights)
        warn_of_unpredicted_classes(self, sample)

    def _order_rules(
        self,
        rules: list[tuple[Condition, ...]],
        sample: Sample,
        class_weights: NDArray[np.float64],
    ) -> list[Rule]:
        """Rules that decide any row, and the default, with shares and coverage."""
        n_classes = len(self.classes_)
        conditions: list[tuple[Condition, ...]] = [*rules, ()]
        deciding = self._first_that_holds(conditions, sample.rows)
        sums = np.zeros((len(conditions), n_classes))
        np.add.at(sums, (deciding, sample.y), sample.weights)
        all_sums = sums.sum(axis=0)
        return [
            self._make_rule(rule, rule_sums, all_sums, class_weights)
            for rule, rule_sums in zip(conditions, sums, strict=True)
            if rule_sums.any() or not rule
        ]

    def _make_rule(
        self,
        conditions: tuple[Condition, ...],
        sums: NDArray[Any],
        all_sums: NDArray[Any],
        class_weights: NDArray[np.float64],
    ) -> Rule:
        """A rule, from the weights of classes among its rows and among all rows."""
        decides = sums.any()
        shares = class_weights * (sums if decides else all_sums)
        shares = shares / shares.sum()
        label = shares.argmax()
        return Rule(
            conditions,
            prediction=self.classes_[label],
            coverage=float(sums.sum() / all_sums.sum()),
            precision=float(sums[label] / sums.sum()) if decides else None,
            shares=tuple(shares.tolist()),
            n_rows=float(sums.sum()),
        )

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Share of each class, as the rule that decides on a row has it.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Probabilities, in the order of `classes_`.
        """
        deciding = self.decision_rule(X)
        return np.array([rule.shares for rule in self.rules_])[deciding]

    def to_text(self, digits: int | None = 4) -> str:
        """Return the list of rules as it is read aloud.

        Parameters
        ----------
        digits : int or None, default=4
            Significant digits of numbers. None writes all: evaluated by hand, the list
            then gives what `predict` does.

        Returns
        -------
        str
            A line for each rule.

        Raises
        ------
        ValueError
            `digits` is no positive whole number.
        """
        check_is_fitted(self)
        check_digits(digits)
        *rules, default = self.rules_
        lines = [f"IF {r._in_words(digits)} THEN {r.prediction}" for r in rules]
        lines.append(str(default.prediction))
        return "\nELSE ".join(lines)


def class_weights_of(model: Any, sample: Sample) -> NDArray[np.float64]:
    """Factor of the weights of each class's rows, by `class_weight`: (n_classes,)."""
    class_weight, classes = model.class_weight, model.classes_
    if isinstance(class_weight, str):
        # As in scikit-learn, but a row of weight two counts as two rows.
        sums = np.bincount(sample.y, sample.weights, minlength=len(classes))
        balanced = np.ones(len(classes))
        mean = sums.sum() / np.count_nonzero(sums)
        return np.divide(mean, sums, out=balanced, where=sums > 0)
    for label, weight in (class_weight or {}).items():
        if not (isinstance(weight, Real) and _SMALLEST <= float(weight) <= _LARGEST):
            raise ValueError(
                f"class_weight={{{label!r}: {weight!r}}} is not accepted: weights of "
                f"classes are numbers from {_SMALLEST:g} to {_LARGEST:g}."
            )
    return compute_class_weight(class_weight, classes=classes, y=classes)


def warn_of_unpredicted_classes(model: Any, sample: Sample) -> None:
    """Warn of classes in `fit` that the model predicts for no row of `fit`."""
    predicted = set(model.predict(sample.rows.native).tolist())
    sums = np.bincount(sample.y, sample.weights, minlength=len(model.classes_))
    unpredicted = [
        f"{label!r} ({n:g} of {sums.sum():g} rows)"
        for label, n in zip(model.classes_.tolist(), sums.tolist(), strict=True)
        if n and label not in predicted
    ]
    if unpredicted:
        texts, n_others = ", ".join(unpredicted[:5]), len(unpredicted) - 5
        texts += f" and {n_others} others" * (n_others > 0)
        warn(
            "Give rare classes more weight by class_weight, which is "
            f"{model.class_weight!r}: {type(model).__name__} predicts the class "
            f"{texts} for no row of `fit`.",
            NoRuleWarning,
        )
