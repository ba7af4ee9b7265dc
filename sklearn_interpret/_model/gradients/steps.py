"""Transformers as functions with vector-Jacobian products, by class."""

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


def _scaled(attribute: str, power: float) -> Callable[[BaseEstimator, int], Affine]:
    def read(scaler: BaseEstimator, n_columns: int) -> Affine:
        scale = getattr(scaler, attribute)
        slopes = np.ones(n_columns) if scale is None else np.asarray(scale) ** power
        return Affine(scaler.transform, slopes)

    return read


def _columnwise(transformer: BaseEstimator, n_columns: int) -> Columnwise:
    return Columnwise(
        transformer.transform, column_lineage.input_columns(transformer, n_columns)
    )


def _scaled_to_range(scaler: BaseEstimator, n_columns: int) -> Affine | Columnwise:
    if scaler.clip:
        return _columnwise(scaler, n_columns)
    return Affine(scaler.transform, scaler.scale_)


def _constant(transformer: BaseEstimator, _: int) -> Constant:
    return Constant(transformer.transform)


def _affine(transformer: BaseEstimator, n_columns: int) -> Affine:
    """An affine transformer, by its results for unit vectors less that for zero."""
    rows = np.vstack([np.zeros(n_columns), np.eye(n_columns)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # these rows have no names
        outputs = numbers_of(transformer.transform(rows))
    return Affine(transformer.transform, outputs[1:] - outputs[0])


def _of_function(transformer: BaseEstimator, n_columns: int) -> Function:
    try:
        return _columnwise(transformer, n_columns)
    except UnreadableModelError:
        return Differences(transformer.transform)


def _of_powers(polynomial: BaseEstimator, _: int) -> Smooth:
    powers = polynomial.powers_

    def vjp_rule(
        X: NDArray[np.float64], weights: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        gradients = np.empty(X.shape)
        for j in range(X.shape[1]):
            used = np.flatnonzero(powers[:, j])
            lower = powers[used]
            factors = lower[:, j].copy()
            lower[:, j] -= 1
            slopes = np.prod(X[:, None] ** lower, axis=2) * factors
            gradients[:, j] = (weights[:, used] * slopes).sum(axis=1)
        return gradients

    return Smooth(polynomial.transform, vjp_rule)


def _of_nystroem(nystroem: BaseEstimator, _: int) -> Smooth:
    params = nystroem._get_kernel_params()
    kernel = named_kernel(
        nystroem.kernel,
        gamma=params.get("gamma") or 1 / nystroem.components_.shape[1],
        degree=params.get("degree") or 3,
        coef0=params.get("coef0", 1),
    )

    def vjp_rule(
        X: NDArray[np.float64], weights: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        points = nystroem.components_
        return kernel.vjp(X, points, weights @ nystroem.normalization_)

    return Smooth(nystroem.transform, vjp_rule)


def _of_fourier(sampler: BaseEstimator, _: int) -> Smooth:
    directions, n_components = sampler.random_weights_, sampler.n_components

    def vjp_rule(
        X: NDArray[np.float64], weights: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        angles = X @ directions + sampler.random_offset_
        slopes = -np.sqrt(2 / n_components) * np.sin(angles)
        return (weights * slopes) @ directions.T

    return Smooth(sampler.transform, vjp_rule)


def _normalized(normalizer: BaseEstimator, _: int) -> Smooth:
    def vjp_rule(
        X: NDArray[np.float64], weights: NDArray[np.float64]
    ) -> NDArray[np.float64]:
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


def read_steps(steps: list[tuple[str, BaseEstimator]]) -> list[Function]:
    """Steps of a fitted pipeline, those that do something, as functions."""
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


def _of_chosen(transformer: BaseEstimator, _: int) -> ColumnBlocks:
    blocks = []
    for name, member, columns in column_lineage.fitted_transformers(transformer):
        with errors_in(f"its transformer {name!r}"):
            function = read_step(member, len(columns))
        blocks.append((function, np.asarray(columns, dtype=np.intp)))
    return ColumnBlocks(blocks)


def _of_union(union: BaseEstimator, n_columns: int) -> ColumnBlocks:
    columns = np.arange(n_columns)
    blocks = []
    for name, member in union.transformer_list:
        if isinstance(member, str) and member == "drop":
            continue
        with errors_in(f"its transformer {name!r}"):
            blocks.append((read_step(member, n_columns), columns))
    return ColumnBlocks(blocks)


_READERS: dict[Any, Callable[[BaseEstimator, int], Function]] = {
    preprocessing.StandardScaler: _scaled("scale_", -1),
    preprocessing.MaxAbsScaler: _scaled("scale_", -1),
    preprocessing.RobustScaler: _scaled("scale_", -1),
    preprocessing.MinMaxScaler: _scaled_to_range,
    preprocessing.PowerTransformer: _columnwise,
    preprocessing.QuantileTransformer: _columnwise,
    preprocessing.SplineTransformer: _columnwise,
    preprocessing.FunctionTransformer: _of_function,
    preprocessing.PolynomialFeatures: _of_powers,
    preprocessing.Normalizer: _normalized,
    preprocessing.Binarizer: _constant,
    preprocessing.KBinsDiscretizer: _constant,
    preprocessing.OneHotEncoder: _constant,
    preprocessing.OrdinalEncoder: _constant,
    preprocessing.TargetEncoder: _constant,
    MissingIndicator: _constant,
    SimpleImputer: _columnwise,
    SelectorMixin: _columnwise,
    decomposition.PCA: _affine,
    decomposition.IncrementalPCA: _affine,
    decomposition.TruncatedSVD: _affine,
    decomposition.FastICA: _affine,
    decomposition.FactorAnalysis: _affine,
    random_projection.GaussianRandomProjection: _affine,
    random_projection.SparseRandomProjection: _affine,
    discriminant_analysis.LinearDiscriminantAnalysis: _affine,
    cross_decomposition.PLSRegression: _affine,
    kernel_approximation.Nystroem: _of_nystroem,
    kernel_approximation.RBFSampler: _of_fourier,
    ColumnTransformer: _of_chosen,
    FeatureUnion: _of_union,
    Pipeline: lambda pipeline, _: Chain(read_steps(pipeline.steps)),
}
