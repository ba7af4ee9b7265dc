"""Importances that fitted models have as attributes."""

from operator import attrgetter

import numpy as np
from scipy import sparse
from sklearn.pipeline import Pipeline

from sklearn_interpret._model.response import unfrozen

_ATTRIBUTES = ("coef_", "feature_importances_")


def native_importances(estimator, getter, n_features):
    """Importances of a fitted model's own, one finite number for each feature.

    A getter "auto" takes `coef_` or `feature_importances_`, whichever is found first,
    of the model or of the last step of a pipeline. Another string is the path of an
    attribute, such as "named_steps.model.coef_"; a callable is called with the model.

    Coefficients count by their absolute values; a table with a row for each output is
    summed over outputs, in absolute values.
    """
    values, what = _get(unfrozen(estimator), getter)
    values = values.toarray() if sparse.issparse(values) else values
    values = np.asarray(values, dtype=np.float64)
    if values.ndim == 2:
        values = np.abs(values).sum(axis=0)
    elif what.endswith("coef_"):
        values = np.abs(values)
    if values.shape != (n_features,):
        raise ValueError(
            f"importance_getter={getter!r} gives {what} of shape {values.shape}, and "
            f"X has {n_features} features: one number for each feature is needed. A "
            "model whose steps change the columns has such numbers inside of "
            "PermutationImportance."
        )
    if not np.isfinite(values).all():
        raise ValueError(f"importance_getter={getter!r} gives what is not finite.")
    return values


def _get(model, getter):
    """Importances that the getter returns, and its name."""
    if callable(getter):
        return getter(model), getattr(getter, "__name__", type(getter).__name__)
    if getter != "auto":
        try:
            return attrgetter(getter)(model), getter
        except AttributeError as error:
            raise ValueError(f"importance_getter={getter!r} fails: {error}.") from error
    last = model
    while isinstance(last, Pipeline):
        last = unfrozen(last[-1])
    for name in _ATTRIBUTES:
        if hasattr(last, name):
            return getattr(last, name), name
    raise ValueError(
        f"importance_getter='auto' finds none of {', '.join(_ATTRIBUTES)} in the "
        f"{type(last).__name__}. Pass the model inside of PermutationImportance, or a "
        "callable."
    )
