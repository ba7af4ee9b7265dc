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
    PyGAMRegressor,
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
    """A model of another library as a predictor; other estimators as they are.

    Parameters
    ----------
    estimator : object
        A model, frozen or not.

    Returns
    -------
    object
        The estimator itself, or a scikit-learn estimator: in a FrozenEstimator, unless
        the model can be fitted again, and is not frozen.
    """
    model = unfrozen(estimator)
    adapted = _adapted(model)
    if adapted is model:
        return estimator
    refits = model is estimator and isinstance(adapted, PyGAMRegressor)
    return adapted if refits else FrozenEstimator(adapted)


def check_can_be_refitted(estimator: Any, purpose: str) -> None:
    """Refuse a model that cannot be fitted again; `purpose` says what fits it."""
    model = unfrozen(estimator)
    adapted = _adapted(model)
    if adapted is model or isinstance(adapted, PyGAMRegressor):
        return
    name = getattr(adapted, "estimator_to_fit", type(adapted).__name__)
    raise TypeError(
        f"{purpose} fits the model again, and a {type(model).__name__} cannot be "
        f"fitted again: pass a scikit-learn estimator, such as {name}(...)."
    )


def _adapted(model: Any) -> Any:
    """A model of another library as a scikit-learn estimator; others as they are."""
    adapt = _ADAPTERS.get(type(model).__module__.partition(".")[0])
    return model if adapt is None else adapt(model)
