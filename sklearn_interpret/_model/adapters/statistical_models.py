"""Results of statsmodels, and models of pyGAM, as scikit-learn estimators."""

from __future__ import annotations

from abc import ABC, abstractmethod
from copy import deepcopy
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

# Models of statsmodels whose predictions are sums of columns times coefficients.
_LINEAR = {"OLS", "WLS", "GLS", "GLSAR", "RLM", "QuantReg"}
# Models of two classes, besides those of the binomial family.
_BINARY = {"Logit", "Probit"}


def adapt_statsmodels(results: Any) -> Any:
    """An estimator with the predictions of results; other objects as they are."""
    if not (hasattr(results, "predict") and hasattr(results, "params")):
        return results
    model = results.model
    name, by_formula = type(model).__name__, getattr(model, "formula", None) is not None
    inflation = getattr(model, "exog_infl", None)
    inflates_by_columns = inflation is not None and np.ptp(inflation, axis=0).any()
    if hasattr(model, "smoother") or inflates_by_columns:
        raise TypeError(
            f"Results of {name} predict from two tables, exog and exog_smooth or "
            "exog_infl, and here rows are of one: pass a FrozenEstimator of an object "
            "whose predict(X) splits the columns of X."
        )
    if name in _LINEAR and not by_formula:
        return LinearResults(results)
    is_binomial = type(getattr(model, "family", None)).__name__ == "Binomial"
    if (is_binomial or name in _BINARY) and np.isin(model.endog, (0, 1)).all():
        return BinaryResults(results)
    return StatsmodelsResults(results)


class _BinaryClassifier(ClassifierMixin, BaseEstimator, ABC):
    """A classifier of classes 0 and 1, from probabilities of the second."""

    @property
    def classes_(self) -> NDArray[np.intp]:
        """The classes."""
        return np.array([0, 1])

    @abstractmethod
    def _probabilities(self, X: Any) -> NDArray[np.float64]:
        """Probabilities of the class 1, (n_samples,)."""

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Probabilities of both classes, (n_samples, 2)."""
        probabilities = self._probabilities(X)
        return np.column_stack([1 - probabilities, probabilities])

    def predict(self, X: Any) -> NDArray[Any]:
        """The classes, (n_samples,)."""
        return (self._probabilities(X) > 0.5).astype(np.intp)


class StatsmodelsResults(RegressorMixin, BaseEstimator):
    """Results of a model of statsmodels: they predict means, or probabilities.

    Rows have the columns of the model's `exog`, its constant among them, or those that
    its formula names.

    Parameters
    ----------
    results : statsmodels results
        The object that `fit` of the model has returned.
    """

    estimator_to_fit = "LinearRegression"

    def __init__(self, results: Any) -> None:
        self.results = self.results_ = results
        model = results.model
        if getattr(model, "formula", None) is None and model.exog is not None:
            # Some models have further parameters, and names of these in `exog_names`.
            self.n_features_in_ = model.exog.shape[1]
            names = getattr(model.data.orig_exog, "columns", ())
            if len(names) and all(isinstance(name, str) for name in names):
                self.feature_names_in_ = np.array(names, dtype=object)

    def fit(self, X: Any, y: Any = None) -> Self:
        """Nothing: the results are of a fit."""
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Predictions of the results, (n_samples,)."""
        returned = self.results.predict(exog=X)
        values = getattr(returned, "predicted_values", returned)  # of PHReg
        return np.asarray(values, dtype=np.float64)


class LinearResults(StatsmodelsResults):
    """Results of a model that is linear in its columns."""

    @property
    def coef_(self) -> NDArray[np.float64]:
        """The parameters, (n_features,); that of a constant is one of them."""
        return np.asarray(self.results.params, dtype=np.float64)


class BinaryResults(_BinaryClassifier, StatsmodelsResults):
    """Results of a model of two classes."""

    estimator_to_fit = "LogisticRegression"

    def _probabilities(self, X: Any) -> NDArray[np.float64]:
        return StatsmodelsResults.predict(self, X)


def adapt_pygam(model: Any) -> Any:
    """A classifier for a LogisticGAM, else a regressor; objects of no model stay."""
    if not hasattr(model, "predict"):
        return model
    classifies = hasattr(model, "predict_proba")
    return PyGAMClassifier(model) if classifies else PyGAMRegressor(model)


class PyGAMRegressor(RegressorMixin, BaseEstimator):
    """A model of pyGAM, which predicts numbers.

    Parameters
    ----------
    gam : pygam.GAM
        The model, fitted or not.
    """

    def __init__(self, gam: Any) -> None:
        self.gam = gam

    def __sklearn_clone__(self) -> Self:
        gam = deepcopy(self.gam)  # scikit-learn's clone loses its terms
        vars(gam).pop("coef_", None)  # where it is fitted
        return type(self)(gam)

    def __sklearn_is_fitted__(self) -> bool:
        return bool(self.gam._is_fitted)

    def fit(
        self, X: Any, y: Any, sample_weight: ArrayLike | None = None, **params: Any
    ) -> Self:
        """Fit the model."""
        self.gam.fit(X, np.asarray(y), weights=sample_weight, **params)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Predictions of the model, (n_samples,)."""
        return np.asarray(self.gam.predict(X), dtype=np.float64)


class PyGAMClassifier(_BinaryClassifier, PyGAMRegressor):
    """A classifier of pyGAM: classes 0 and 1."""

    def _probabilities(self, X: Any) -> NDArray[np.float64]:
        return np.asarray(self.gam.predict_proba(X), dtype=np.float64)
