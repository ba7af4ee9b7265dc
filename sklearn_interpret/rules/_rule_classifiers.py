"""Classifiers made of rules and a default."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin

from sklearn_interpret._model._sklearn_compat import fit_context
from sklearn_interpret._model.validation import check_labels, check_rows
from sklearn_interpret.rules._class_weights import (
    CLASS_WEIGHT,
    class_weights_of,
    warn_of_unpredicted_classes,
)
from sklearn_interpret.rules._rules import RuleModel


class RuleClassifier(ClassifierMixin, RuleModel):
    """Base of classifiers whose last rule is the default, without conditions.

    A method fills `_found_rules` and `predict_proba`.
    """

    # What is counted are rows.
    _weights_count_rows = True

    _parameter_constraints = {"class_weight": CLASS_WEIGHT}

    @fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Find the rules.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
            Rows of numbers and categories; values may be missing.
        y : array-like of shape (n_samples,), default=None
            Their classes, which are needed.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows: a row of weight two counts as two rows.

        Returns
        -------
        self : object
            The fitted estimator.

        Warns
        -----
        NoRuleWarning
            Some class is predicted for no row of `fit`, as where its rows are few.
        """
        rows = check_rows(self, X, reset=True)
        self.classes_, labels = check_labels(self, rows, y)
        sample, space = self._read(rows, labels, sample_weight)
        class_weights = class_weights_of(self, sample)
        self.rules_ = self._found_rules(sample, space, class_weights)
        warn_of_unpredicted_classes(self, sample)
        return self

    @abstractmethod
    def _found_rules(self, sample, space, class_weights):
        """Rules of a `Sample` of labels 0, 1, ..., in their order; the default last."""

    @abstractmethod
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Probability of each class, in the order of `classes_`."""

    def decision_rule(self, X: Any) -> NDArray[np.intp]:
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
        return self._holds(X).argmax(axis=0)

    def predict(self, X: Any) -> NDArray[Any]:
        """The class with the largest share; of equal ones the first.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Class labels.
        """
        largest = self.predict_proba(X).argmax(axis=1)
        return self.classes_[largest]
