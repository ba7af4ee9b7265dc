"""From what the user passes in to the arrays of a display of a global surrogate."""

import numpy as np
from sklearn.frozen import FrozenEstimator
from sklearn.utils.validation import check_is_fitted

from sklearn_interpret._core.statistics.fidelity import agreement
from sklearn_interpret._model.response import check_is_predictor, make_response
from sklearn_interpret._model.rows.containers import as_rows
from sklearn_interpret._model.surrogates.parts import (
    coefficients,
    column_deviations,
    innermost_name,
    parts_of,
)
from sklearn_interpret._model.surrogates.surrogate_predictions import StandIn
from sklearn_interpret._model.surrogates.tree_rules import read_tree
from sklearn_interpret._model.tags import check_predictor_is_fitted, is_classifier
from sklearn_interpret._model.validation import check_weights
from sklearn_interpret._plotting.parameters import refuse_settings
from sklearn_interpret.base import BaseInspector
from sklearn_interpret.surrogates._base_subset import taken_inside
from sklearn_interpret.surrogates._global import GlobalSurrogate


def fitted_surrogate(estimator, X, sample_weight, parameters, display):
    """The surrogate of a fitted predictor, or the fitted one given.

    Raises
    ------
    NotFittedError
        Predictor or inspector not fitted.
    TypeError
        An inspector of another kind, or no predictor.
    ValueError
        Parameters beside a fitted inspector.
    """
    if isinstance(estimator, GlobalSurrogate):
        check_is_fitted(estimator, "surrogate_")
        refuse_settings(estimator, parameters)
        return estimator
    if isinstance(estimator, BaseInspector):
        raise TypeError(
            f"{display} shows a GlobalSurrogate; got {type(estimator).__name__}. Pass "
            "its estimator_, or another display."
        )
    check_is_predictor(estimator)
    check_predictor_is_fitted(estimator)
    inspector = GlobalSurrogate(FrozenEstimator(estimator), **parameters)
    return inspector.fit(X, sample_weight=sample_weight)


def surrogate_arrays(inspector, X, sample_weight):
    """Constructor arguments that hold how a fitted surrogate does on rows."""
    rows = as_rows(X)
    weights = check_weights(sample_weight, rows)
    rows, weights = taken_inside(inspector.subset, rows, weights)
    response = make_response(
        inspector.estimator_, inspector.response_method, inspector.target
    )
    stand_in = StandIn(inspector.surrogate_, response)
    share = None
    if hasattr(inspector, "agreement_"):
        labels = inspector.predict(rows.native)
        share = agreement(inspector.black_box_predict(rows.native), labels, weights)
    return {
        "responses": response(rows.native),
        "surrogate_responses": stand_in.responses(rows.native),
        "sample_weight": weights,
        "agreement": share,
        "output_names": list(inspector.output_names_),
        "response_name": _response_text(inspector, response),
        "model_name": innermost_name(inspector.estimator_),
        "surrogate_name": innermost_name(inspector.surrogate_),
        **_inside(inspector, rows, weights),
    }


def _response_text(inspector, response):
    """What the model is asked for, and which output where there is one of several."""
    method, names = response.method, inspector.output_names_
    if callable(method):
        return getattr(method, "__name__", type(method).__name__)
    chosen = is_classifier(inspector.estimator_) or inspector.target is not None
    return f"{method}[{names[0]}]" if chosen and len(names) == 1 else method


def _inside(inspector, rows, weights):
    """The surrogate's trees, or its coefficients."""
    parts = parts_of(inspector.surrogate_)
    if all(hasattr(part.last, "tree_") for part in parts):
        read = [read_tree(part, rows) for part in parts]
        return {
            "trees": [tree for tree, _ in read],
            "leaves": np.stack([leaves for _, leaves in read], axis=1),
        }
    if all(getattr(part.last, "coef_", None) is not None for part in parts):
        return _lines(inspector, parts, rows, weights)
    return {}


def _lines(inspector, parts, rows, weights):
    """Coefficients (k, q) and the deviations of their columns, one row each output."""
    tables, deviations, names = [], [], []
    for part in parts:
        columns = part.columns_of(rows)
        tables.append(_for_outputs(part.last, inspector))
        deviations.append(column_deviations(columns, weights))
        names.append(list(map(str, part.described(rows))))
    if len({len(one) for one in names}) > 1:
        return {}  # steps that differ from output to output
    return {
        "coefficients": np.concatenate(tables),
        "deviations": np.stack(deviations),
        "column_names": names[0],
    }


def _for_outputs(model, inspector):
    """Coefficients of a linear model, in the order of the outputs."""
    table = coefficients(model)
    if not is_classifier(inspector.surrogate_):
        return table
    outputs, known = inspector.output_names_, model.classes_.tolist()
    if len(table) == 1:  # of the second class, in terms of which there are two
        return table if outputs[0] == known[-1] or len(outputs) > 1 else -table
    missing = np.full(table.shape[1], np.nan)
    rows = [table[known.index(o)] if o in known else missing for o in outputs]
    return np.stack(rows)
