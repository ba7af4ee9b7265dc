"""From what the user passes in to inspectors fitted on the rows to be shown."""

from numbers import Integral

import numpy as np
from sklearn.frozen import FrozenEstimator

from sklearn_interpret._model.response import make_response
from sklearn_interpret._model.rows.containers import as_rows
from sklearn_interpret._model.tags import check_predictor_is_fitted
from sklearn_interpret._plotting.parameters import fold_estimators, refuse_settings
from sklearn_interpret.base import BaseInspector

MAX_DATA_ROWS = 5000


def inspected(estimator, X, kind, *, sample_weight, parameters, display):
    """A fitted inspector of class `kind` of a fitted predictor, or the one given.

    Raises
    ------
    TypeError
        An inspector of another class.
    NotFittedError
        Predictor or inspector not fitted.
    ValueError
        Parameters given beside a fitted inspector, which they cannot change.
    """
    refuse_other_inspectors(estimator, kind, display)
    check_predictor_is_fitted(estimator)
    if isinstance(estimator, kind):
        refuse_settings(estimator, parameters, sample_weight)
        estimator._check_rows(X, reset=False)
        return estimator
    inspector = kind(FrozenEstimator(estimator), **parameters)
    return inspector.fit(X, sample_weight=sample_weight)


def inspected_folds(cv_results, X, kind, *, sample_weight, parameters, display):
    """One inspector per fold's model, all fitted on the same rows.

    Raises
    ------
    ValueError
        No estimators in `cv_results`, or models of different outputs.
    """
    inspectors = []
    # Without a number of its own, each fold would draw other rows.
    seed = int(np.random.default_rng().integers(np.iinfo(np.int32).max))
    for estimator in fold_estimators(cv_results):
        refuse_other_inspectors(estimator, kind, display)
        check_predictor_is_fitted(estimator)
        settings = {}
        if isinstance(estimator, kind):
            settings = estimator.get_params(deep=False)
            del settings["estimator"]
            estimator = estimator.estimator_
        settings |= parameters
        if not isinstance(settings.get("random_state"), Integral):
            settings["random_state"] = seed
        inspector = kind(FrozenEstimator(estimator), **settings)
        inspectors.append(inspector.fit(X, sample_weight=sample_weight))
    outputs = [list(inspector.output_names_) for inspector in inspectors]
    if any(names != outputs[0] for names in outputs):
        raise ValueError(
            "The models of the folds have different outputs, which cannot be averaged: "
            f"{outputs!r}."
        )
    return inspectors


def refuse_other_inspectors(estimator, kind, display):
    """An inspector of another class answers another question: say so."""
    if isinstance(estimator, BaseInspector) and not isinstance(estimator, kind):
        raise TypeError(
            f"{display} shows {kind.__name__}; got {type(estimator).__name__}, which "
            "inspects something else. Pass its estimator_, or another display."
        )


def data_along(inspector, X, sample_weight=None):
    """Values of each entry's features in the data, cut to a bounded number of rows.

    Returns
    -------
    list of ndarray of shape (n,), or pair of those
        Numbers with NaN, or labels.
    """
    rows = as_rows(X)
    kept = np.arange(rows.n_rows)
    if sample_weight is not None:
        kept = np.flatnonzero(np.asarray(sample_weight) > 0)
    if len(kept) > MAX_DATA_ROWS:
        draw = np.random.default_rng(0).choice(len(kept), MAX_DATA_ROWS, replace=False)
        kept = kept[np.sort(draw)]
    if len(kept) < rows.n_rows:
        rows = rows.take(kept)
    columns = {}
    for axis in {id(axis): axis for axes in inspector.axes_ for axis in axes}.values():
        columns[id(axis)] = _values_along(axis, rows)
    return [
        columns[id(axes[0])]
        if len(axes) == 1
        else tuple(columns[id(axis)] for axis in axes)
        for axes in inspector.axes_
    ]


def _values_along(axis, rows):
    if not axis.categorical:
        return rows.numbers(axis.columns[0])
    codes, labels, _ = rows.encode(axis.columns)
    values = np.empty(len(labels), dtype=object)
    values[:] = labels
    return values[codes]


def response_text(inspector):
    """What the response is called: the model's method."""
    if getattr(inspector, "method", None) == "recursion":
        classifier = hasattr(inspector.estimator_, "classes_")
        return "decision_function" if classifier else "predict"
    method = make_response(
        inspector.estimator_, inspector.response_method, inspector.target
    ).method
    return (
        getattr(method, "__name__", type(method).__name__)
        if callable(method)
        else method
    )


def output_texts(inspector):
    """Names of the outputs, or None where there is one that needs no name."""
    names = list(inspector.output_names_)
    unnamed = not hasattr(inspector.estimator_, "classes_") and inspector.target is None
    return None if len(names) == 1 and unnamed else names


def chosen_entries(inspector, features):
    """Positions of the entries of a fitted inspector that `features` names."""
    if features is None:
        return list(range(len(inspector.effect_names_)))
    if isinstance(features, str | Integral):
        features = [features]
    if {type(feature) for feature in features} <= {bool, np.bool_}:
        features = np.flatnonzero(features).tolist()
    chosen = []
    for entry in features:
        wanted = tuple(entry) if isinstance(entry, tuple | list) else (entry,)
        for place, axes in enumerate(inspector.axes_):
            keys = [{axis.name, *_only_column(axis)} for axis in axes]
            if len(keys) == len(wanted) and all(map(_is_in, wanted, keys)):
                chosen.append(place)
                break
        else:
            raise ValueError(
                f"The fitted {type(inspector).__name__} has no entry {entry!r}; it has "
                f"{inspector.effect_names_!r}."
            )
    return chosen


def _only_column(axis):
    return axis.columns if len(axis.columns) == 1 else ()


def _is_in(value, collection):
    return value in collection
