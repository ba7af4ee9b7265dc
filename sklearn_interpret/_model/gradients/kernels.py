"""Kernels between rows and points, and the gradients of their weighted sums.

A kernel returns (n_rows, n_points) values; `vjp(X, points, weights)` the gradients of
``(weights * values).sum(axis=1)`` with respect to rows X.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.gaussian_process import kernels as of_processes
from sklearn.metrics.pairwise import pairwise_kernels

from sklearn_interpret.exceptions import UnreadableModelError

# An array of floats, whose shape docstrings say.
_Array = NDArray[np.float64]


def _towards_points(X: _Array, points: _Array, weights: _Array) -> _Array:
    """Minus the gradients of weighted sums of half the squared distances, (n_rows, p).

    `weights` are (n_rows, n_points).
    """
    return weights @ points - weights.sum(axis=1, keepdims=True) * X


@dataclass(frozen=True, eq=False)
class NamedKernel:
    """One of scikit-learn's named kernels: "linear", "poly", "rbf", "sigmoid"."""

    name: str
    gamma: float = 1.0
    degree: float = 3
    coef0: float = 0.0

    def __call__(self, X: _Array, points: _Array) -> _Array:
        params = {"gamma": self.gamma, "degree": self.degree, "coef0": self.coef0}
        return pairwise_kernels(
            X, points, metric=self.name, filter_params=True, **params
        )

    def vjp(self, X: _Array, points: _Array, weights: _Array) -> _Array:
        if self.name == "linear":
            return weights @ points
        if self.name == "rbf":
            weights = 2 * self.gamma * weights * self(X, points)
            return _towards_points(X, points, weights)
        if self.name == "sigmoid":
            return (self.gamma * weights * (1 - self(X, points) ** 2)) @ points
        inner = self.gamma * (X @ points.T) + self.coef0
        slopes = self.degree * self.gamma * inner ** (self.degree - 1)
        return (weights * slopes) @ points


NAMED = ("linear", "poly", "polynomial", "rbf", "sigmoid")


def named_kernel(name: str, *, gamma: float, degree: int, coef0: float) -> NamedKernel:
    """The kernel of a name; an UnreadableModelError where its slopes are not known."""
    if name not in NAMED:
        raise UnreadableModelError(
            f"its kernel is {name!r}; known: {', '.join(NAMED)}."
        )
    return NamedKernel("poly" if name == "polynomial" else name, gamma, degree, coef0)


class ProcessKernel:
    """A kernel of Gaussian processes: sums and products of the known ones."""

    def __init__(self, kernel: of_processes.Kernel) -> None:
        self.kernel = kernel
        _check_known(kernel)

    def __call__(self, X: _Array, points: _Array) -> _Array:
        return self.kernel(X, points)

    def vjp(self, X: _Array, points: _Array, weights: _Array) -> _Array:
        return _kernel_vjp(self.kernel, X, points, weights)


# Kernels whose values at different points are constant.
_CONSTANT = of_processes.ConstantKernel, of_processes.WhiteKernel


def _check_known(kernel: of_processes.Kernel) -> None:
    """Raise an UnreadableModelError unless slopes of a kernel are known."""
    if isinstance(kernel, of_processes.KernelOperator):
        _check_known(kernel.k1)
        _check_known(kernel.k2)
    elif type(kernel) not in (of_processes.RBF, of_processes.DotProduct, *_CONSTANT):
        raise UnreadableModelError(f"slopes of its kernel {kernel} are not known.")


def _kernel_vjp(
    kernel: of_processes.Kernel, X: _Array, points: _Array, weights: _Array
) -> _Array:
    """`vjp` of a kernel of scikit-learn's Gaussian processes."""
    if isinstance(kernel, of_processes.Sum):
        terms = kernel.k1, kernel.k2
        return np.sum([_kernel_vjp(k, X, points, weights) for k in terms], axis=0)
    if isinstance(kernel, of_processes.Product):
        first, second = kernel.k1, kernel.k2
        first_weights = weights * second(X, points)
        second_weights = weights * first(X, points)
        first_gradients = _kernel_vjp(first, X, points, first_weights)
        return first_gradients + _kernel_vjp(second, X, points, second_weights)
    if isinstance(kernel, of_processes.RBF):
        gradients = _towards_points(X, points, weights * kernel(X, points))
        return gradients / np.square(kernel.length_scale)
    if isinstance(kernel, of_processes.DotProduct):
        return weights @ points
    return np.zeros(X.shape)
