"""Weights of the training targets in linear smoothers: rows of their hat matrix.

A function of a row gives its weights but for those of the mean target, which models
with an intercept add to what the weighted sum of centred targets predicts. Fits of our
GAMs round columns to bins: these models compute them again from the training rows.

Private names of scikit-learn, confined to this module: `_get_kernel` of KernelRidge,
which knows its parameters. Missing: a public form of the kernel.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve, svd
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import BayesianRidge, LinearRegression, Ridge, RidgeCV
from sklearn.utils import check_array
from sklearn.utils.extmath import safe_sparse_dot

from sklearn_interpret._model.formulas.formula_class import ModelClass, formula_class
from sklearn_interpret._model.rows.arrays import as_rows
from sklearn_interpret._model.rows.base import Rows, copy_of
from sklearn_interpret._model.training_weights.base import TrainingData, TrainingWeights
from sklearn_interpret.exceptions import UnreadableModelError

# An array of floats, whose shape docstrings say.
_Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SmootherWeights(TrainingWeights):
    """Weights of the training targets in a linear smoother.

    Parameters
    ----------
    hat : callable
        Weights (m, n) for native rows, but for those of the mean target.
    mean_weights : ndarray of shape (n,)
        Weights of the mean that is added; zeros without.
    """

    hat: Callable[[Any], _Array]
    mean_weights: _Array

    @property
    def row_bytes(self) -> int:
        return 8 * 3 * len(self.mean_weights)  # weights, a factor, the mean's weights

    def weights(self, rows: Rows) -> _Array:
        weights = self.hat(copy_of(rows.native))
        missing = 1 - weights.sum(axis=1)
        return weights + np.outer(missing, self.mean_weights)


def read_smoother(model: BaseEstimator, data: TrainingData) -> TrainingWeights:
    """Read the weights of the targets in a fitted linear smoother.

    Smoothing parameters that the model has chosen are taken as fixed.

    Raises
    ------
    UnreadableModelError
        If the predictions are not known to be linear in the targets.
    """
    key = formula_class(model, SMOOTHERS)
    if key is None:
        raise UnreadableModelError("its predictions are not known to be linear in y.")
    return SMOOTHERS[key](model, data)


def _read_linear(
    model: BaseEstimator, data: TrainingData, penalty: float = 0.0
) -> SmootherWeights:
    """Weights of a linear model with a penalty on the squared coefficients."""
    if getattr(model, "positive", False):
        raise UnreadableModelError("positive=True bounds its coefficients.")
    X, mean_weights = _numbers(data.rows.native), np.zeros(data.rows.n_rows)
    if model.fit_intercept:
        mean_weights = data.weights / data.weights.sum()
    if issparse(X) and X.shape[1] > X.shape[0] and penalty > 0:
        kernel = partial(_centred_products, X, mean_weights @ X)
        return _kernel_smoother(kernel, data, penalty, mean_weights)
    centre, roots = mean_weights @ X, np.sqrt(data.weights)
    dense = X.toarray() if issparse(X) else X
    left, values, right = svd((dense - centre) * roots[:, None], full_matrices=False)
    # Smaller singular values are rounding errors of zero.
    limit = values.max(initial=0) * max(X.shape) * np.finfo(np.float64).eps
    gains = np.zeros(len(values))
    np.divide(values, values**2 + penalty, out=gains, where=values > limit)
    hat = partial(_project, centre, right.T * gains, left.T * roots)
    return SmootherWeights(hat, mean_weights)


def _project(centre: _Array, projection: _Array, targets: _Array, X: Any) -> _Array:
    """Weights of rows, by a projection (p, r) of columns and one of targets (r, n)."""
    return (_numbers(X) @ projection - centre @ projection) @ targets


def _centred_products(training: Any, centre: _Array, X: Any) -> _Array:
    """Products (m, n) of sparse rows and training rows, both less the centre."""
    products: _Array = safe_sparse_dot(X, training.T, dense_output=True)
    return products - np.add.outer(X @ centre, training @ centre - centre @ centre)


def _kernel_smoother(
    kernel: Callable[[Any], _Array],
    data: TrainingData,
    penalty: float,
    mean_weights: _Array,
) -> SmootherWeights:
    """Weights of a penalised sum of a kernel's values at the training rows."""
    roots = np.sqrt(data.weights)
    products = kernel(data.rows.native) * np.outer(roots, roots)
    products[np.diag_indices_from(products)] += penalty
    try:
        factor = cho_factor(products, lower=True)
    except np.linalg.LinAlgError:
        raise UnreadableModelError("its kernel is singular: raise alpha.") from None
    return SmootherWeights(partial(_solve, factor, kernel, roots), mean_weights)


def _solve(
    factor: Any, kernel: Callable[[Any], _Array], roots: _Array, X: Any
) -> _Array:
    """Weights of rows, by the Cholesky factor of the training rows' kernel."""
    return roots * cho_solve(factor, (kernel(X) * roots).T).T


def _numbers(X: Any) -> Any:
    """Native rows as a float64 array or csr."""
    return check_array(X, accept_sparse="csr", dtype=np.float64)


def _penalty(model: Any) -> float:
    """The penalty alpha, of all outputs; an error if they have different ones."""
    penalties = np.unique(model.alpha_ if hasattr(model, "alpha_") else model.alpha)
    if len(penalties) > 1:
        raise UnreadableModelError("its outputs have different penalties alpha.")
    return float(penalties[0])


def _read_ridge(model: Any, data: TrainingData) -> SmootherWeights:
    return _read_linear(model, data, _penalty(model))


def _read_bayesian(model: Any, data: TrainingData) -> SmootherWeights:
    return _read_linear(model, data, model.lambda_ / model.alpha_)


def _read_kernel_ridge(model: Any, data: TrainingData) -> SmootherWeights:
    data = replace(data, rows=_stored_rows(model.X_fit_, data))
    kernel, no_mean = partial(model._get_kernel, Y=model.X_fit_), 0 * data.weights
    return _kernel_smoother(kernel, data, _penalty(model), no_mean)


def _stored_rows(X: Any, data: TrainingData) -> Rows:
    """The training rows that a model has stored, as many as the data has."""
    rows = as_rows(X)
    if rows.n_rows != data.rows.n_rows:
        raise UnreadableModelError(f"it was fitted on {rows.n_rows} rows.")
    return rows


def _read_process(model: Any, data: TrainingData) -> SmootherWeights:
    _stored_rows(model.X_train_, data)
    n, kernel = data.rows.n_rows, partial(model.kernel_, Y=model.X_train_)
    hat = partial(_solve, (model.L_, True), kernel, np.ones(n))
    return SmootherWeights(hat, np.full(n, 1 / n if model.normalize_y else 0.0))


def _read_additive(model: Any, data: TrainingData) -> SmootherWeights:
    if model._link != "identity":
        raise UnreadableModelError(
            f"the {model._link} of its predictions is the sum of its terms: weights "
            "are known for normal targets with the link 'identity'."
        )
    if model.offset is not None:
        raise UnreadableModelError("it adds an offset, which no target determines.")
    if any((model.monotonic_cst or {}).values()):
        raise UnreadableModelError("monotonic_cst bounds the slopes of its curves.")
    try:
        targets = model._target_projection(data.rows.native, data.weights)
    except ValueError as error:
        raise UnreadableModelError(
            f"it was not fitted on these rows: {error}"
        ) from None
    return SmootherWeights(
        partial(_multiply, model._design, targets), data.weights / data.weights.sum()
    )


def _multiply(design: Callable[[Any], _Array], targets: _Array, X: Any) -> _Array:
    """Weights of rows, by their design (m, p) and a projection of targets (p, n)."""
    return design(X) @ targets


SMOOTHERS: dict[ModelClass, Callable[[Any, TrainingData], SmootherWeights]] = {
    LinearRegression: _read_linear,
    Ridge: _read_ridge,
    RidgeCV: _read_ridge,
    BayesianRidge: _read_bayesian,
    KernelRidge: _read_kernel_ridge,
    GaussianProcessRegressor: _read_process,
    ("sklearn_interpret", "GAMRegressor"): _read_additive,
}
