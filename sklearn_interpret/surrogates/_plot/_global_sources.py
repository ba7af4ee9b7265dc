"""The display of a global surrogate from a predictor or an inspector."""

import numpy as np

from sklearn_interpret._core.statistics.losses import agreement
from sklearn_interpret._model.linear import coefficient_table
from sklearn_interpret._model.response import make_response
from sklearn_interpret._model.rows.containers import as_rows
from sklearn_interpret._model.surrogates.inner_predictors import (
    column_deviations,
    inner_predictors,
    innermost_name,
)
from sklearn_interpret._model.surrogates.surrogate_predictions import (
    SurrogatePredictions,
)
from sklearn_interpret._model.surrogates.tree_rules import read_tree
from sklearn_interpret._model.tags import is_classifier
from sklearn_interpret._model.validation import check_weights
from sklearn_interpret._plotting.displays import Display
from sklearn_interpret._plotting.sources import response_name
from sklearn_interpret.surrogates._global import GlobalSurrogate, rows_inside


class SurrogateSources(Display):
    """Constructors of the display of a global surrogate."""

    _kinds = (GlobalSurrogate,)
    _choices = frozenset({"target", "response_name", "model_name", "surrogate_name"})
    _shows_rows = _weighs_rows = True

    @classmethod
    def _parameter_names(cls):
        # The surrogate is fitted to all outputs, of which the display shows one.
        return super()._parameter_names() - {"target"}

    @classmethod
    def _from_inspector(cls, inspector, X, sample_weight, **choices):
        return cls(**{**surrogate_arrays(inspector, X, sample_weight), **choices})


def surrogate_arrays(inspector, X, sample_weight):
    """Constructor arguments that hold how a fitted surrogate does on rows."""
    rows = as_rows(X)
    weights = check_weights(sample_weight, rows)
    rows, weights = rows_inside(inspector, rows, weights)
    response = make_response(
        inspector.estimator_, inspector.response_method, inspector.target
    )
    surrogate = SurrogatePredictions(inspector.surrogate_, response)
    share = None
    if hasattr(inspector, "agreement_"):
        labels = inspector.predict(rows.native)
        share = agreement(inspector.black_box_predict(rows.native), labels, weights)
    return {
        "responses": response(rows.native),
        "surrogate_responses": surrogate.responses(rows.native),
        "sample_weight": weights,
        "agreement": share,
        "output_names": list(inspector.output_names_),
        "response_name": response_name(inspector),
        "model_name": innermost_name(inspector.estimator_),
        "surrogate_name": innermost_name(inspector.surrogate_),
        **_inside(inspector, rows, weights),
    }


def _inside(inspector, rows, weights):
    """The surrogate's trees, or its coefficients."""
    predictors = inner_predictors(inspector.surrogate_)
    if all(hasattr(inner.predictor, "tree_") for inner in predictors):
        read = [read_tree(inner, rows) for inner in predictors]
        return {
            "trees": [tree for tree, _ in read],
            "leaves": np.stack([leaves for _, leaves in read], axis=1),
        }
    if all(getattr(p.predictor, "coef_", None) is not None for p in predictors):
        return _lines(inspector, predictors, rows, weights)
    return {}


def _lines(inspector, predictors, rows, weights):
    """Coefficients (k, q) and the deviations of their columns, one row each output."""
    tables, deviations, names = [], [], []
    for inner in predictors:
        columns = inner.columns_of(rows)
        tables.append(_for_outputs(inner.predictor, inspector))
        deviations.append(column_deviations(columns, weights))
        names.append(list(map(str, inner.described(rows))))
    if len({len(one) for one in names}) > 1:
        return {}  # steps that differ from output to output
    return {
        "coefficients": np.concatenate(tables),
        "deviations": np.stack(deviations),
        "column_names": names[0],
    }


def _for_outputs(model, inspector):
    """Coefficients of a linear model, in the order of the outputs."""
    table = coefficient_table(model)
    if not is_classifier(inspector.surrogate_):
        return table
    outputs, known = inspector.output_names_, model.classes_.tolist()
    if len(table) == 1:  # of the second class, in terms of which there are two
        return table if outputs[0] == known[-1] or len(outputs) > 1 else -table
    missing = np.full(table.shape[1], np.nan)
    rows = [table[known.index(o)] if o in known else missing for o in outputs]
    return np.stack(rows)
