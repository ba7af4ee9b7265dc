"""Results of statsmodels, and pyGAM's classifier, as fitted scikit-learn estimators."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

# Models of statsmodels whose predictions are sums of columns times coefficients.
_LINEAR = {"OLS", "WLS", "GLS", "GLSAR", "RLM", "QuantReg"}


def adapt_statsmodels(results: Any) -> Any:
    """A regressor with the predictions of results; other objects as they are."""
    if not (hasattr(results, "predict") and hasattr(results, "params")):
        return results
    by_formula = getattr(results.model, "formula", None) is not None
    if type(results.model).__name__ in _LINEAR and not by_formula:
        return LinearResults(results)
    return StatsmodelsResults(results)


class StatsmodelsResults(RegressorMixin, BaseEstimator):
    """Results of a model of statsmodels: they predict means, or probabilities.

    Rows have the columns of the model's `exog`, its constant among them, or those that
    its formula names.

    Parameters
    ----------
    results : statsmodels results
        The object that `fit` of the model has returned.
    """

    def __init__(self, results: Any) -> None:
        self.results = self.results_ = results
        if getattr(results.model, "formula", None) is None:
            names = results.model.exog_names
            self.n_features_in_ = len(names)
            if hasattr(results.model.data.orig_exog, "columns"):
                self.feature_names_in_ = np.array(names, dtype=object)

    def fit(self, X: Any, y: Any = None) -> Self:
        """Nothing: the results are of a fit."""
        return self

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Predictions of the results, (n_samples,)."""
        return np.asarray(self.results.predict(X), dtype=np.float64)


class LinearResults(StatsmodelsResults):
    """Results of a model that is linear in its columns."""

    @property
    def coef_(self) -> NDArray[np.float64]:
        """The parameters, (n_features,); that of a constant is one of them."""
        return np.asarray(self.results.params, dtype=np.float64)


def adapt_pygam(model: Any) -> Any:
    """A classifier for a LogisticGAM; others predict numbers, and stay as they are."""
    return PyGAMClassifier(model) if hasattr(model, "predict_proba") else model


class PyGAMClassifier(ClassifierMixin, BaseEstimator):
    """A fitted classifier of pyGAM: classes 0 and 1.

    Parameters
    ----------
    gam : pygam.LogisticGAM
        The model.
    """

    def __init__(self, gam: Any) -> None:
        self.gam = self.gam_ = gam
        self.classes_ = np.array([0, 1])

    def fit(self, X: Any, y: Any = None) -> Self:
        """Nothing: the model is fitted."""
        return self

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Probabilities of both classes, (n_samples, 2)."""
        probabilities = np.asarray(self.gam.predict_proba(X), dtype=np.float64)
        return np.column_stack([1 - probabilities, probabilities])

    def predict(self, X: Any) -> NDArray[np.intp]:
        """The classes, (n_samples,)."""
        return np.asarray(self.gam.predict(X)).astype(np.intp)
