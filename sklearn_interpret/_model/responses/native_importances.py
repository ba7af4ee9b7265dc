"""Importances that are attributes of fitted models."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sklearn_interpret._model.responses.predictors import final_step, unfrozen

_ATTRIBUTES = ("coef_", "feature_importances_")


def native_importances(
    estimator: Any, getter: str | Callable[[Any], Any], n_features: int
) -> NDArray[np.float64]:
    """Importances from an attribute of a fitted model: one finite number per feature.

    The getter "auto" takes `coef_` or `feature_importances_`, the first that exists, of
    the model or of the last step of a pipeline. Another string is the path of an
    attribute, such as "named_steps.model.coef_"; a callable is called with the model.

    Coefficients are replaced by absolute values, and tables with one row per output by
    their sums over outputs.
    """
    values, name = _get_importances(unfrozen(estimator), getter)
    values = values.toarray() if sparse.issparse(values) else values
    values = np.asarray(values, dtype=np.float64)
    if values.ndim == 2:
        values = np.abs(values).sum(axis=0)
    elif name.endswith("coef_"):
        values = np.abs(values)
    if values.shape != (n_features,):
        raise ValueError(
            f"importance_getter={getter!r} returns {name} of shape {values.shape}, but "
            f"X has {n_features} features: one number for each feature is needed. For "
            "a model whose steps change the columns, pass an inspector with "
            "feature_importances_ around it."
        )
    if not np.isfinite(values).all():
        raise ValueError(
            f"importance_getter={getter!r} returns values that are not finite."
        )
    return values


def _get_importances(model: Any, getter: str | Callable[[Any], Any]) -> tuple[Any, str]:
    """Importances that the getter returns, and its name."""
    if callable(getter):
        return getter(model), getattr(getter, "__name__", type(getter).__name__)
    if getter != "auto":
        try:
            return attrgetter(getter)(model), getter
        except AttributeError as error:
            raise ValueError(f"importance_getter={getter!r} fails: {error}.") from error
    predictor = final_step(model)
    for name in _ATTRIBUTES:
        if hasattr(predictor, name):
            return getattr(predictor, name), name
    raise ValueError(
        f"importance_getter='auto' finds none of {', '.join(_ATTRIBUTES)} in the "
        f'{type(predictor).__name__}. Pass "permutation", which takes any model, a '
        "callable, or an inspector with feature_importances_ around the model."
    )
