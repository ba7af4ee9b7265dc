"""The input column of each output column of a fitted transformer.

Transformers are known by their class. A subclass that overrides `transform`, or what it
calls, is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from sklearn import preprocessing
from sklearn.compose import ColumnTransformer
from sklearn.feature_selection import SelectorMixin
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.pipeline import FeatureUnion, Pipeline

from sklearn_interpret._model._sklearn_compat import columns_of_transformers
from sklearn_interpret._model.formulas.formula import errors_in
from sklearn_interpret._model.formulas.formula_class import (
    ModelClass,
    keys_of,
    overridden_methods,
)
from sklearn_interpret._model.responses.predictors import unfrozen
from sklearn_interpret._model.rows.arrays import as_days
from sklearn_interpret.exceptions import UnreadableModelError

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    _Rule = Callable[[BaseEstimator, int], NDArray[np.intp] | list[int]]


def input_columns(transformer: BaseEstimator, n_columns: int) -> NDArray[np.intp]:
    """Input column that each output column of a transformer is computed from.

    Parameters
    ----------
    transformer : fitted transformer, "passthrough" or None
        An UnreadableModelError refuses one that mixes columns or is not known.
    n_columns : int
        Number of its input columns.

    Returns
    -------
    ndarray of shape (n_output_columns,), intp
        Output j is a function of the input column ``input_columns(...)[j]`` alone;
        column 0 stands for a constant.
    """
    try:
        return _lineage(transformer, n_columns)
    except UnreadableModelError as error:
        names = sorted(
            cls.__name__ if isinstance(cls, type) else f"{cls[0]}'s {cls[1]}"
            for cls in _RULES
            if cls is not SelectorMixin
        )
        raise UnreadableModelError(
            f"{error} Known to work column by column: {', '.join(names)}, and feature "
            "selectors (SelectorMixin)."
        ) from error


def n_input_columns(estimator: BaseEstimator) -> int | None:
    """Number of columns that a fitted estimator takes; None if unknown.

    Unlike `n_features_in_`, this skips steps that are passed through.
    """
    estimator = unfrozen(estimator)
    if isinstance(estimator, Pipeline):
        steps = [step for _, step in estimator.steps if not is_passthrough(step)]
        return n_input_columns(steps[0]) if steps else None
    if isinstance(estimator, FeatureUnion):
        counts = [n_input_columns(step) for _, step in estimator.transformer_list]
        return next((count for count in counts if count is not None), None)
    return getattr(estimator, "n_features_in_", None)


def first_steps(
    pipeline: BaseEstimator, n_outputs: int
) -> tuple[Pipeline | None, NDArray[np.intp], int]:
    """Steps before the last one of a fitted pipeline, if they work column by column.

    Parameters
    ----------
    pipeline : fitted Pipeline
        It ends in a predictor. An UnreadableModelError names a step that can't be read.
    n_outputs : int
        Number of columns that its last step was fitted on.

    Returns
    -------
    steps : Pipeline or None
        The steps that are not passed through, if any.
    columns : ndarray of shape (n_outputs,), intp
        Input column of the pipeline that each column of the last step is computed from.
    n_columns : int
        Number of input columns of the pipeline.
    """
    steps = [
        (name, step) for name, step in pipeline.steps[:-1] if not is_passthrough(step)
    ]
    if not steps:
        return None, np.arange(n_outputs), n_outputs
    steps_before = Pipeline(steps)
    n_columns = n_input_columns(steps_before)
    if n_columns is None:
        name, step = steps[0]
        raise UnreadableModelError(
            f"its step {name!r} ({type(step).__name__}) has no number of columns that "
            "it was fitted on."
        )
    columns = input_columns(steps_before, n_columns)
    if len(columns) != n_outputs:
        raise UnreadableModelError(
            f"its last step was fitted on {n_outputs} columns, and is given "
            f"{len(columns)}."
        )
    return steps_before, columns, n_columns


def is_passthrough(step: BaseEstimator | str | None) -> bool:
    """Whether a step is "passthrough", None, or a pipeline of only such steps."""
    step = unfrozen(step)
    if isinstance(step, Pipeline):
        return all(is_passthrough(inner) for _, inner in step.steps)
    return step is None or (isinstance(step, str) and step == "passthrough")


def _lineage(transformer: BaseEstimator, n_columns: int) -> NDArray[np.intp]:
    """As :func:`input_columns`, without the list of known classes in errors."""
    if is_passthrough(transformer):
        return np.arange(n_columns)
    transformer = unfrozen(transformer)
    rule = _find_rule(transformer)
    fitted_on = n_input_columns(transformer)
    if fitted_on not in (None, n_columns):
        raise UnreadableModelError(
            f"{type(transformer).__name__} was fitted on {fitted_on} columns, and is "
            f"given {n_columns}."
        )
    return np.asarray(rule(transformer, n_columns), dtype=np.intp)


def _find_rule(transformer: BaseEstimator) -> _Rule:
    """The function in `_RULES` for a transformer; an error if there is none."""
    cls = type(transformer)
    for base in cls.__mro__:
        rule = next((_RULES[key] for key in keys_of(base) if key in _RULES), None)
        if rule is not None:
            overridden = overridden_methods(transformer, base)
            if overridden:
                raise UnreadableModelError(
                    f"{cls.__name__} is a {base.__name__} that overrides "
                    f"{overridden[0]}, which may mix columns."
                )
            return rule
        if base.__module__.startswith("sklearn."):
            reason = _REASONS.get(base.__name__)
            package = base.__module__.split(".")[1]
            if reason is None and package in _MIXING_PACKAGES:
                reason = "mixes columns"
            if reason is not None:
                raise UnreadableModelError(f"{cls.__name__} {reason}.")
    raise UnreadableModelError(f"{cls.__name__} is not known to work column by column.")


# Why transformers are refused, by class name: importing experimental ones would enable
# them.
_REASONS = {
    "Normalizer": "mixes columns: it divides each row by the norm of all of them",
    "KNNImputer": "mixes columns: it fills in from rows that are near in all of them",
    "IterativeImputer": "mixes columns: it fills in what the others predict",
    "KernelCenterer": "mixes columns",
    "TfidfTransformer": "mixes columns: it divides each row by the norm of all of them",
}

# Subpackages of scikit-learn whose transformers all mix columns.
_MIXING_PACKAGES = {
    "cluster",
    "cross_decomposition",
    "decomposition",
    "discriminant_analysis",
    "ensemble",
    "kernel_approximation",
    "manifold",
    "neighbors",
    "neural_network",
    "random_projection",
}


def _one_to_one(_: BaseEstimator, n_columns: int) -> NDArray[np.intp]:
    return np.arange(n_columns)


def _spline_columns(spline: BaseEstimator, n_columns: int) -> NDArray[np.intp]:
    return np.repeat(np.arange(n_columns), spline.n_features_out_ // n_columns)


def _target_encoder_columns(encoder: BaseEstimator, n_columns: int) -> NDArray[np.intp]:
    return np.repeat(np.arange(n_columns), len(encoder.encodings_) // n_columns)


def _bin_columns(discretizer: BaseEstimator, n_columns: int) -> NDArray[np.intp]:
    if discretizer.encode == "ordinal":
        return np.arange(n_columns)
    return np.repeat(np.arange(n_columns), discretizer.n_bins_)


def _category_columns(encoder: BaseEstimator, n_columns: int) -> NDArray[np.intp]:
    """One column per category; infrequent ones share one, dropped ones have none."""
    counts = np.array([len(labels) for labels in encoder.categories_], dtype=np.intp)
    for j, infrequent in enumerate(getattr(encoder, "infrequent_categories_", [])):
        if infrequent is not None:
            counts[j] -= len(infrequent) - 1
    if encoder.drop_idx_ is not None:
        counts -= [dropped is not None for dropped in encoder.drop_idx_]
    return np.repeat(np.arange(n_columns), counts)


def _encoded_columns(encoder: BaseEstimator, _: int) -> list[int]:
    """Columns of scikit-survival's OneHotEncoder: "a=b" is that of the level b of a."""
    inputs: dict[str, int] = {}
    for j, name in enumerate(encoder.feature_names_in_):
        levels = encoder.categories_.get(name)
        names = [name] if levels is None else [f"{name}={level}" for level in levels]
        inputs |= dict.fromkeys(names, j)
    return [inputs[name] for name in encoder.encoded_columns_]


def _imputer_columns(imputer: BaseEstimator, n_columns: int) -> NDArray[np.intp]:
    """Columns without values are dropped; indicators come last."""
    has_values = np.ones(n_columns, dtype=bool)
    if not imputer.keep_empty_features:
        has_values = imputer.statistics_ == imputer.statistics_  # False where NaN
    if imputer.indicator_ is None:
        return np.flatnonzero(has_values)
    return np.concatenate([np.flatnonzero(has_values), imputer.indicator_.features_])


def _power_columns(polynomial: BaseEstimator, _: int) -> NDArray[np.intp]:
    powers = polynomial.powers_
    if (np.count_nonzero(powers, axis=1) > 1).any():
        raise UnreadableModelError(
            "PolynomialFeatures mixes columns: it multiplies them. It does not of a "
            "single column, nor with degree=1."
        )
    return powers.argmax(axis=1)  # the constant is assigned to the first column


def _function_columns(transformer: BaseEstimator, n_columns: int) -> NDArray[np.intp]:
    function = transformer.func
    if function is None:
        return np.arange(n_columns)
    # Generalised ufuncs (with a signature) work on whole vectors.
    elementwise = (
        isinstance(function, np.ufunc)
        and (function.nin, function.nout) == (1, 1)
        and function.signature is None
    )
    elementwise |= function is as_days
    if not elementwise or transformer.kw_args:
        name = getattr(function, "__name__", repr(function))
        raise UnreadableModelError(
            f"FunctionTransformer calls {name}, which may mix columns: only numpy's "
            "ufuncs of one argument (np.log1p, np.sqrt), without kw_args, are known "
            "to work entry by entry."
        )
    return np.arange(n_columns)


def _pipeline_columns(pipeline: BaseEstimator, n_columns: int) -> NDArray[np.intp]:
    columns = np.arange(n_columns)
    for name, step in pipeline.steps:
        with errors_in(f"its step {name!r}"):
            columns = columns[_lineage(step, len(columns))]
    return columns


def _transformer_columns(transformer: BaseEstimator, _: int) -> NDArray[np.intp]:
    columns_by_member = [np.empty(0, dtype=np.intp)]
    for name, member, columns in fitted_transformers(transformer):
        with errors_in(f"its transformer {name!r}"):
            columns_by_member.append(np.array(columns)[_lineage(member, len(columns))])
    return np.concatenate(columns_by_member)


def fitted_transformers(
    column_transformer: BaseEstimator,
) -> Iterator[tuple[str, BaseEstimator, list[int]]]:
    """Yield name, transformer and input columns of the parts with output columns."""
    columns = columns_of_transformers(column_transformer)
    for name, transformer, _ in column_transformer.transformers_:
        # Transformers without columns are not fitted.
        if len(columns[name]) and not _is_dropped(transformer):
            yield name, transformer, columns[name]


def _union_columns(union: BaseEstimator, n_columns: int) -> NDArray[np.intp]:
    columns_by_member = [np.empty(0, dtype=np.intp)]
    for name, transformer in union.transformer_list:
        if not _is_dropped(transformer):
            with errors_in(f"its transformer {name!r}"):
                columns_by_member.append(_lineage(transformer, n_columns))
    return np.concatenate(columns_by_member)


def _is_dropped(transformer: BaseEstimator | str) -> bool:
    return isinstance(transformer, str) and transformer == "drop"


# Functions of a fitted transformer and its number of columns, to input columns.
_RULES: dict[ModelClass, _Rule] = {
    preprocessing.Binarizer: _one_to_one,
    preprocessing.MaxAbsScaler: _one_to_one,
    preprocessing.MinMaxScaler: _one_to_one,
    preprocessing.OrdinalEncoder: _one_to_one,
    preprocessing.PowerTransformer: _one_to_one,
    preprocessing.QuantileTransformer: _one_to_one,
    preprocessing.RobustScaler: _one_to_one,
    preprocessing.StandardScaler: _one_to_one,
    preprocessing.FunctionTransformer: _function_columns,
    preprocessing.KBinsDiscretizer: _bin_columns,
    preprocessing.OneHotEncoder: _category_columns,
    preprocessing.PolynomialFeatures: _power_columns,
    preprocessing.SplineTransformer: _spline_columns,
    preprocessing.TargetEncoder: _target_encoder_columns,
    ("sksurv", "OneHotEncoder"): _encoded_columns,
    MissingIndicator: lambda indicator, _: indicator.features_,
    SimpleImputer: _imputer_columns,
    SelectorMixin: lambda selector, _: selector.get_support(indices=True),
    ColumnTransformer: _transformer_columns,
    FeatureUnion: _union_columns,
    Pipeline: _pipeline_columns,
}
