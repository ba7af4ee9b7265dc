"""Weights of the training targets in linear smoothers: rows of their hat matrix.

A function of a row gives its weights but for those of the mean target, which models
with an intercept add to what the weighted sum of centred targets predicts. Private
names of scikit-learn, confined to this module: `_get_kernel` of KernelRidge, which
knows its parameters. Missing: a public form of the kernel.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve, eigh, svd
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import BayesianRidge, LinearRegression, Ridge, RidgeCV
from sklearn.utils import check_array

from sklearn_interpret._model.formulas.formula_class import ModelClass, formula_class
from sklearn_interpret._model.rows.base import Rows, copy_of
from sklearn_interpret._model.training_weights.agreement import check_agreement
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
    key = formula_class(model, _READERS)
    if key is None:
        raise UnreadableModelError("its predictions are not known linear functions of y.")
    return check_agreement(_READERS[key](model, data), model, data)


def _read_linear(
    model: BaseEstimator, data: TrainingData, penalty: float
) -> SmootherWeights:
    """Weights of a linear model with a penalty on the squared coefficients."""
    if getattr(model, "positive", False):
        raise UnreadableModelError("positive=True bounds its coefficients.")
    X, n = _numbers(data.rows.native), data.rows.n_rows
    mean_weights = np.zeros(n)
    if model.fit_intercept:
        mean_weights = data.weights / data.weights.sum()
    fit = _fit_rows if issparse(X) and X.shape[1] > n else _fit_columns
    return SmootherWeights(fit(X, data.weights, mean_weights, penalty), mean_weights)


def _fit_columns(
    X: Any, weights: _Array, mean_weights: _Array, penalty: float
) -> Callable[[Any], _Array]:
    """Function of rows, by singular values of the dense columns."""
    centre, roots = mean_weights @ X, np.sqrt(weights)
    dense = X.toarray() if issparse(X) else X
    left, values, right = svd(
        (dense - centre) * roots[:, None], full_matrices=False, check_finite=False
    )
    inverses = _inverses(values**2, penalty, values > _rank_limit(values, X.shape))
    return partial(_project, centre, right.T * (inverses * values), left.T * roots)


def _project(centre: _Array, projection: _Array, targets: _Array, X: Any) -> _Array:
    """Weights of rows, by a projection (p, r) of columns and one of targets (r, n)."""
    return (_numbers(X) @ projection - centre @ projection) @ targets


def _fit_rows(
    X: Any, weights: _Array, mean_weights: _Array, penalty: float
) -> Callable[[Any], _Array]:
    """Function of rows, by products of the rows, of which there are fewer."""
    roots, products = np.sqrt(weights), _centred_products(X, mean_weights, X)
    values, vectors = eigh(products * np.outer(roots, roots), check_finite=False)
    inverses = _inverses(values, penalty, values > _rank_limit(values, X.shape))
    vectors *= roots[:, None]
    return partial(_expand, X, mean_weights, vectors, inverses)


def _expand(
    training: Any, mean_weights: _Array, vectors: _Array, inverses: _Array, X: Any
) -> _Array:
    """Weights of rows, by their products with training rows and eigenvectors."""
    products = _centred_products(training, mean_weights, _numbers(X))
    return (products @ vectors * inverses) @ vectors.T


def _centred_products(training: Any, mean_weights: _Array, X: Any) -> _Array:
    """Products (m, n) of rows less the mean training row."""
    centre = mean_weights @ training
    means, training_means = X @ centre, training @ centre
    products: _Array = (X @ training.T).toarray()
    return products - np.add.outer(means, training_means - centre @ centre)


def _rank_limit(values: _Array, shape: tuple[int, int]) -> float:
    """Singular values or eigenvalues up to this are rounding errors of zero."""
    return values.max(initial=0) * max(shape) * np.finfo(np.float64).eps


def _inverses(values: _Array, penalty: float, in_rank: NDArray[np.bool_]) -> _Array:
    """Inverses of penalised eigenvalues; zero beyond the rank."""
    inverses = np.zeros(len(values))
    return np.divide(1, values + penalty, out=inverses, where=in_rank)


def _numbers(X: Any) -> Any:
    """Native rows as a float64 array or csr."""
    return check_array(X, accept_sparse="csr", dtype=np.float64)


def _one_number(penalty: Any) -> float:
    """A penalty of all outputs; an UnreadableModelError if they have different ones."""
    penalties = np.unique(penalty)
    if len(penalties) > 1:
        raise UnreadableModelError("its outputs have different penalties (alpha).")
    return float(penalties[0])


def _read_least_squares(model: Any, data: TrainingData) -> SmootherWeights:
    return _read_linear(model, data, 0.0)


def _read_ridge(model: Any, data: TrainingData) -> SmootherWeights:
    penalty = getattr(model, "alpha_", None)  # chosen by RidgeCV
    return _read_linear(
        model, data, _one_number(model.alpha if penalty is None else penalty)
    )


def _read_bayesian(model: Any, data: TrainingData) -> SmootherWeights:
    return _read_linear(model, data, model.lambda_ / model.alpha_)


def _read_kernel_ridge(model: Any, data: TrainingData) -> SmootherWeights:
    roots = np.sqrt(data.weights)
    products = model._get_kernel(model.X_fit_) * np.outer(roots, roots)
    products[np.diag_indices_from(products)] += _one_number(model.alpha)
    try:
        factor = cho_factor(products, lower=True)
    except np.linalg.LinAlgError:
        raise UnreadableModelError("its kernel is singular: raise alpha.") from None
    kernel = partial(_kernel_of_ridge, model, roots)
    return SmootherWeights(partial(_solve, factor, kernel, roots), np.zeros(len(roots)))


def _kernel_of_ridge(model: Any, roots: _Array, X: Any) -> _Array:
    """Kernel (m, n) between rows and weighted training rows."""
    return model._get_kernel(_numbers(X), model.X_fit_) * roots


def _read_process(model: Any, data: TrainingData) -> SmootherWeights:
    n = len(model.X_train_)
    mean_weights = np.full(n, 1 / n if model.normalize_y else 0.0)
    kernel = partial(_kernel_of_process, model)
    hat = partial(_solve, (model.L_, True), kernel, np.ones(n))
    return SmootherWeights(hat, mean_weights)


def _kernel_of_process(model: Any, X: Any) -> _Array:
    """Kernel (m, n) between rows and training rows."""
    return model.kernel_(_numbers(X), model.X_train_)


def _solve(
    factor: tuple[_Array, bool],
    kernel: Callable[[Any], _Array],
    roots: _Array,
    X: Any,
) -> _Array:
    """Weights of rows, by the Cholesky factor of the training rows' kernel."""
    weights: _Array = cho_solve(factor, kernel(X).T).T
    return weights * roots


_READERS: dict[ModelClass, Callable[[Any, TrainingData], SmootherWeights]] = {
    LinearRegression: _read_least_squares,
    Ridge: _read_ridge,
    RidgeCV: _read_ridge,
    BayesianRidge: _read_bayesian,
    KernelRidge: _read_kernel_ridge,
    GaussianProcessRegressor: _read_process,
}
