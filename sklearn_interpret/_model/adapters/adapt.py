"""Fitted models of other libraries that are no scikit-learn estimators, as such."""

from __future__ import annotations

from typing import Any

from sklearn.frozen import FrozenEstimator

from sklearn_interpret._model.adapters.boosters import (
    adapt_catboost,
    adapt_lightgbm,
    adapt_xgboost,
)
from sklearn_interpret._model.adapters.statistical_models import (
    adapt_pygam,
    adapt_statsmodels,
)
from sklearn_interpret._model.responses.predictors import unfrozen

# By package: no other library is imported here. An adapter returns what is a
# scikit-learn estimator as it is.
_ADAPTERS = {
    "xgboost": adapt_xgboost,
    "lightgbm": adapt_lightgbm,
    "catboost": adapt_catboost,
    "statsmodels": adapt_statsmodels,
    "pygam": adapt_pygam,
}


def as_predictor(estimator: Any) -> Any:
    """A model of another library as a frozen predictor; other estimators as they are.

    Parameters
    ----------
    estimator : object
        A model, frozen or not. One that has a `fit` is fitted again, unless frozen.

    Returns
    -------
    object
        The estimator itself, or a FrozenEstimator of a scikit-learn estimator.
    """
    model = unfrozen(estimator)
    adapt = _ADAPTERS.get(type(model).__module__.partition(".")[0])
    if adapt is None or (model is estimator and hasattr(model, "fit")):
        return estimator
    adapted = adapt(model)
    return estimator if adapted is model else FrozenEstimator(adapted)
