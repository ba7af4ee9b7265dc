"""Fitted models of other libraries that are no scikit-learn estimators, as such."""

from __future__ import annotations

from typing import Any

from sklearn.frozen import FrozenEstimator

from sklearn_interpret._model.adapters.boosters import (
    adapt_catboost,
    adapt_lightgbm,
    adapt_xgboost,
)
from sklearn_interpret._model.responses.predictors import unfrozen

# By package and name: no other library is imported here.
_ADAPTERS = {
    ("xgboost", "Booster"): adapt_xgboost,
    ("lightgbm", "Booster"): adapt_lightgbm,
    ("catboost", "CatBoost"): adapt_catboost,
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
    kind = type(model)
    adapt = _ADAPTERS.get((kind.__module__.partition(".")[0], kind.__name__))
    if adapt is None or (model is estimator and hasattr(model, "fit")):
        return estimator
    adapted = adapt(model)
    return estimator if adapted is model else FrozenEstimator(adapted)
