"""Transformers as functions with vector-Jacobian products, by class.

:func:`read_step` reads one transformer, :func:`read_steps` the steps of a pipeline.
Readers take a fitted transformer and its number of columns.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn import (
    cross_decomposition,
    decomposition,
    discriminant_analysis,
    kernel_approximation,
    preprocessing,
    random_projection,
)
from sklearn.compose import ColumnTransformer
from sklearn.feature_selection import SelectorMixin
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.pipeline import FeatureUnion, Pipeline

from sklearn_interpret._model.formulas import column_lineage
from sklearn_interpret._model.formulas.formula import errors_in
from sklearn_interpret._model.formulas.formula_class import formula_class
from sklearn_interpret._model.gradients.functions import (
    Affine,
    Chain,
    ColumnBlock,
    ColumnBlocks,
    Columnwise,
    Constant,
    Differences,
    Function,
    Smooth,
    numbers_of,
)
from sklearn_interpret._model.gradients.kernels import named_kernel
from sklearn_interpret._model.responses.predictors import unfrozen
from sklearn_interpret.exceptions import UnreadableModelError

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator


# An array of floats, whose shape docstrings say.
_Array = NDArray[np.float64]


def read_step(transformer: BaseEstimator, n_columns: int) -> Function:
    """A fitted transformer, or "passthrough", as a function.

    An UnreadableModelError names one whose slopes are not known.
    """
    if column_lineage.is_passthrough(transformer):
        return Affine(lambda X: X, np.ones(n_columns))
    transformer = unfrozen(transformer)
    name = type(transformer).__name__
    with errors_in(f"slopes of {name} are not known"):
        known_class = formula_class(transformer, _READERS)
    if known_class is None:
        raise UnreadableModelError(
            f"slopes of {name} are not known. Known are those of "
            f"{', '.join(sorted(cls.__name__ for cls in _READERS))}."
        )
    return _READERS[known_class](transformer, n_columns)


def read_steps(steps: list[tuple[str, BaseEstimator]]) -> list[Function]:
    """Steps of a fitted pipeline as functions, without steps that pass rows through."""
    functions = []
    for name, step in steps:
        if column_lineage.is_passthrough(step):
            continue
        with errors_in(f"its step {name!r}"):
            n_columns = column_lineage.n_input_columns(step)
            if n_columns is None:
                raise UnreadableModelError("it has no number of columns.")
            functions.append(read_step(step, n_columns))
    return functions


def _read_scaler(scaler: BaseEstimator, n_columns: int) -> Affine:
    """A scaler that divides by its `scale_`; None divides by nothing."""
    scale = np.ones(n_columns) if scaler.scale_ is None else scaler.scale_
    return Affine(scaler.transform, 1 / scale)


def _read_columnwise(transformer: BaseEstimator, n_columns: int) -> Columnwise:
    return Columnwise(
        transformer.transform, column_lineage.input_columns(transformer, n_columns)
    )


def _read_range_scaler(scaler: BaseEstimator, n_columns: int) -> Affine | Columnwise:
    if scaler.clip:
        return _read_columnwise(scaler, n_columns)
    return Affine(scaler.transform, scaler.scale_)


def _read_constant(transformer: BaseEstimator, _: int) -> Constant:
    return Constant(transformer.transform)


def _read_affine(transformer: BaseEstimator, n_columns: int) -> Affine:
    """An affine transformer: its results for unit vectors minus its result for zero."""
    rows = np.vstack([np.zeros(n_columns), np.eye(n_columns)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # these rows have no names
        outputs = numbers_of(transformer.transform(rows))
    return Affine(transformer.transform, outputs[1:] - outputs[0])


def _read_function(transformer: BaseEstimator, n_columns: int) -> Function:
    try:
        return _read_columnwise(transformer, n_columns)
    except UnreadableModelError:
        return Differences(transformer.transform)


def _read_polynomial(polynomial: BaseEstimator, _: int) -> Smooth:
    powers = polynomial.powers_

    def vjp_rule(X: _Array, weights: _Array) -> _Array:
        gradients = np.empty(X.shape)
        for j in range(X.shape[1]):
            used = np.flatnonzero(powers[:, j])
            # The derivative of x^p is p x^(p - 1).
            lower_powers = powers[used]
            factors = lower_powers[:, j].copy()
            lower_powers[:, j] -= 1
            slopes = np.prod(X[:, None] ** lower_powers, axis=2) * factors
            gradients[:, j] = (weights[:, used] * slopes).sum(axis=1)
        return gradients

    return Smooth(polynomial.transform, vjp_rule)


def _read_nystroem(nystroem: BaseEstimator, _: int) -> Smooth:
    params = nystroem._get_kernel_params()
    kernel = named_kernel(
        nystroem.kernel,
        gamma=params.get("gamma") or 1 / nystroem.components_.shape[1],
        degree=params.get("degree") or 3,
        coef0=params.get("coef0", 1),
    )

    def vjp_rule(X: _Array, weights: _Array) -> _Array:
        points = nystroem.components_
        return kernel.vjp(X, points, weights @ nystroem.normalization_)

    return Smooth(nystroem.transform, vjp_rule)


def _read_fourier(sampler: BaseEstimator, _: int) -> Smooth:
    directions, n_components = sampler.random_weights_, sampler.n_components

    def vjp_rule(X: _Array, weights: _Array) -> _Array:
        angles = X @ directions + sampler.random_offset_
        slopes = -np.sqrt(2 / n_components) * np.sin(angles)
        return (weights * slopes) @ directions.T

    return Smooth(sampler.transform, vjp_rule)


def _read_normalizer(normalizer: BaseEstimator, _: int) -> Smooth:
    def vjp_rule(X: _Array, weights: _Array) -> _Array:
        sizes = np.linalg.norm(X, ord=_ORDERS[normalizer.norm], axis=1, keepdims=True)
        sizes[sizes == 0] = 1
        along = (weights * X).sum(axis=1, keepdims=True) / sizes**2
        if normalizer.norm == "l2":
            slopes = X / sizes
        elif normalizer.norm == "l1":
            slopes = np.sign(X)
        else:
            slopes = np.sign(X) * (np.abs(X) == sizes)
        return weights / sizes - along * slopes

    return Smooth(normalizer.transform, vjp_rule)


_ORDERS = {"l1": 1, "l2": 2, "max": np.inf}


def _read_column_transformer(transformer: BaseEstimator, _: int) -> ColumnBlocks:
    blocks = []
    for name, member, columns in column_lineage.fitted_transformers(transformer):
        with errors_in(f"its transformer {name!r}"):
            function = read_step(member, len(columns))
        blocks.append(ColumnBlock(function, np.asarray(columns, dtype=np.intp)))
    return ColumnBlocks(blocks)


def _read_union(union: BaseEstimator, n_columns: int) -> ColumnBlocks:
    columns = np.arange(n_columns)
    blocks = []
    for name, member in union.transformer_list:
        if isinstance(member, str) and member == "drop":
            continue
        with errors_in(f"its transformer {name!r}"):
            blocks.append(ColumnBlock(read_step(member, n_columns), columns))
    return ColumnBlocks(blocks)


_READERS: dict[Any, Callable[[BaseEstimator, int], Function]] = {
    preprocessing.StandardScaler: _read_scaler,
    preprocessing.MaxAbsScaler: _read_scaler,
    preprocessing.RobustScaler: _read_scaler,
    preprocessing.MinMaxScaler: _read_range_scaler,
    preprocessing.PowerTransformer: _read_columnwise,
    preprocessing.QuantileTransformer: _read_columnwise,
    preprocessing.SplineTransformer: _read_columnwise,
    preprocessing.FunctionTransformer: _read_function,
    preprocessing.PolynomialFeatures: _read_polynomial,
    preprocessing.Normalizer: _read_normalizer,
    preprocessing.Binarizer: _read_constant,
    preprocessing.KBinsDiscretizer: _read_constant,
    preprocessing.OneHotEncoder: _read_constant,
    preprocessing.OrdinalEncoder: _read_constant,
    preprocessing.TargetEncoder: _read_constant,
    MissingIndicator: _read_constant,
    SimpleImputer: _read_columnwise,
    SelectorMixin: _read_columnwise,
    decomposition.PCA: _read_affine,
    decomposition.IncrementalPCA: _read_affine,
    decomposition.TruncatedSVD: _read_affine,
    decomposition.FastICA: _read_affine,
    decomposition.FactorAnalysis: _read_affine,
    random_projection.GaussianRandomProjection: _read_affine,
    random_projection.SparseRandomProjection: _read_affine,
    discriminant_analysis.LinearDiscriminantAnalysis: _read_affine,
    cross_decomposition.PLSRegression: _read_affine,
    kernel_approximation.Nystroem: _read_nystroem,
    kernel_approximation.RBFSampler: _read_fourier,
    ColumnTransformer: _read_column_transformer,
    FeatureUnion: _read_union,
    Pipeline: lambda pipeline, _: Chain(read_steps(pipeline.steps)),
}
