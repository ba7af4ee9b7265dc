"""Lists of rules: the first rule that holds for a row decides."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from sklearn_interpret._core.rules.coded_conditions import all_hold
from sklearn_interpret.rules._rule_classifiers import RuleClassifier
from sklearn_interpret.rules._rules import Rule


class RuleListClassifier(RuleClassifier):
    """Base of classifiers that ask rules one after the other.

    A method fills `_find_rules`. The default rule comes last, and has no conditions.
    """

    @abstractmethod
    def _find_rules(self, space, labels, weights, class_weights):
        """Tuples of `Condition`, as they are asked, without the default."""

    def _found_rules(self, sample, space, class_weights):
        found = self._find_rules(space, sample.y, sample.weights, class_weights)
        return self._in_order(found, sample, class_weights)

    def _in_order(self, found, sample, class_weights):
        """Rules of these conditions and the default, with what they say of the rows."""
        n_classes = len(self.classes_)
        conditions = [*found, ()]
        holds = all_hold(conditions, sample.rows, sample.rows.n_rows)
        all_sums = np.bincount(sample.y, sample.weights, minlength=n_classes)
        left, rules = sample.weights.copy(), []
        for of_rule, held in zip(conditions, holds, strict=True):
            sums = np.bincount(sample.y, left * held, minlength=n_classes)
            left[held] = 0
            if sums.any() or not of_rule:
                rules.append(self._rule(of_rule, sums, all_sums, class_weights))
        return rules

    def _rule(self, conditions, sums, all_sums, class_weights):
        """A rule that decides on rows of these sums of classes, of all the sums."""
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

    def to_text(self) -> str:
        """Return the list of rules as it is read aloud.

        Returns
        -------
        str
            A line for each rule, with all digits of its numbers: evaluated by hand, it
            gives what `predict` does.
        """
        check_is_fitted(self)
        *rules, default = self.rules_
        lines = [f"IF {rule} THEN {rule.prediction}" for rule in rules]
        lines.append(str(default.prediction))
        return "\nELSE ".join(lines)
