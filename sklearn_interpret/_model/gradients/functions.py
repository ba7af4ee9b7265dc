"""Functions of rows with vector-Jacobian products, and their compositions.

A function returns (n_rows, k) outputs for rows; `vjp(X, weights)`, the vector-Jacobian
product, returns the gradients of ``(weights * outputs).sum(axis=1)`` with respect to
the columns of X, (n_rows, p). Categories and missing values have the gradient zero.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sklearn_interpret._model._sklearn_compat import safe_indexing
from sklearn_interpret._model.parallel import batch_rows, slices
from sklearn_interpret._model.rows.arrays import as_rows
from sklearn_interpret._model.rows.dates import TO_NUMBERS

# An array of floats, whose shape docstrings say.
_Array = NDArray[np.float64]

# Half the difference over which a derivative is taken, in the unit of a column: the
# cube root of a double's precision balances rounding and curvature.
_STEP = 6e-6


def numbers_of(X: Any) -> _Array:
    """Rows of numbers, which may be sparse, as float64: (n_rows, n_columns)."""
    dense = X.toarray() if sparse.issparse(X) else X
    if hasattr(X, "columns"):
        rows = as_rows(dense)
        for j in range(rows.n_columns):
            if rows.dates(j) is not None:
                raise ValueError(
                    f"The feature {rows.names[j]!r} has dates, which have no slopes: "
                    f"{TO_NUMBERS}."
                )
    return np.asarray(dense, dtype=np.float64)


def _like_container(numbers: _Array, X: Any) -> Any:
    """Numbers in a container like that of X, with the names of its columns."""
    if not hasattr(X, "columns"):
        return numbers
    names = "schema" if hasattr(X, "schema") else "columns"
    return type(X)(numbers, **{names: list(X.columns)})


class Function(Protocol):
    """A function of rows with a vector-Jacobian product."""

    def __call__(self, X: Any, /) -> _Array: ...

    def vjp(self, X: Any, weights: _Array, /) -> _Array: ...


@dataclass(frozen=True, eq=False)
class Affine:
    """Columns times a matrix (n_columns, k), or each times a number (n_columns,)."""

    call: Callable[[Any], Any]
    slopes: np.ndarray

    def __call__(self, X: Any) -> _Array:
        return numbers_of(self.call(X))

    def vjp(self, X: Any, weights: _Array) -> _Array:
        if self.slopes.ndim == 1:
            return weights * self.slopes
        return weights @ self.slopes.T


@dataclass(frozen=True, eq=False)
class Smooth:
    """A smooth function whose vector-Jacobian product is given by a rule.

    Parameters
    ----------
    call : callable
        Function from rows to outputs.
    vjp_rule : callable
        Function from the numbers of the rows, and weights, to gradients.
    """

    call: Callable[[Any], Any]
    vjp_rule: Callable[[_Array, _Array], _Array]

    def __call__(self, X: Any) -> _Array:
        return numbers_of(self.call(X))

    def vjp(self, X: Any, weights: _Array) -> _Array:
        return self.vjp_rule(numbers_of(X), weights)


@dataclass(frozen=True, eq=False)
class Columnwise:
    """A function whose outputs depend on one column each: by central differences.

    Parameters
    ----------
    call : callable
        The function.
    columns : ndarray of shape (k,), intp
        The column that each output depends on.
    """

    call: Callable[[Any], Any]
    columns: np.ndarray

    def __call__(self, X: Any) -> _Array:
        return numbers_of(self.call(X))

    def vjp(self, X: Any, weights: _Array) -> _Array:
        numbers = numbers_of(X)
        steps = _STEP * (1 + np.abs(numbers))
        low, high = numbers - steps, numbers + steps
        differences = self(_like_container(high, X)) - self(_like_container(low, X))
        distances = (high - low)[:, self.columns]
        gradients = np.zeros(numbers.shape)
        np.add.at(gradients.T, self.columns, (weights * differences / distances).T)
        return np.nan_to_num(gradients, nan=0.0)


@dataclass(frozen=True, eq=False)
class Differences:
    """Any smooth function of numbers, by central differences of each column."""

    call: Callable[[Any], Any]

    def __call__(self, X: Any) -> _Array:
        return numbers_of(self.call(X))

    def vjp(self, X: Any, weights: _Array) -> _Array:
        numbers = numbers_of(X)
        n_rows, n_columns = numbers.shape
        gradients = np.empty((n_rows, n_columns))
        column = np.arange(n_columns)
        # For each row: two ends of 8 bytes for each changed column and each column.
        size = batch_rows(16 * n_columns * max(n_columns, 1))
        for block in slices(n_rows, size):
            rows = numbers[block]
            steps = _STEP * (1 + np.abs(rows))
            ends = np.repeat(rows[None, None], n_columns, axis=1).repeat(2, axis=0)
            ends = ends.transpose(0, 2, 1, 3).copy()  # end, row, changed column, column
            ends[0, :, column, column] -= steps.T
            ends[1, :, column, column] += steps.T
            distances = ends[1, :, column, column] - ends[0, :, column, column]
            outputs = self(_like_container(ends.reshape(-1, n_columns), X))
            low, high = outputs.reshape(2, len(rows), n_columns, -1)
            differences = np.einsum("rjk,rk->rj", high - low, weights[block])
            gradients[block] = differences / distances.T
        return gradients


class Constant:
    """A function without slopes: categories encoded, numbers in bins."""

    def __init__(self, call: Callable[[Any], Any]) -> None:
        self.call = call

    def __call__(self, X: Any) -> _Array:
        return numbers_of(self.call(X))

    def vjp(self, X: Any, weights: _Array) -> _Array:
        return np.zeros(X.shape)


@dataclass(frozen=True, eq=False)
class Chain:
    """Functions one after the other."""

    functions: list[Function]

    def __call__(self, X: Any) -> _Array:
        for function in self.functions:
            X = function(X)
        return X

    def vjp(self, X: Any, weights: _Array) -> _Array:
        inputs = [X]
        for function in self.functions[:-1]:
            inputs.append(function(inputs[-1]))
        for function, rows in zip(self.functions[::-1], inputs[::-1], strict=True):
            weights = function.vjp(rows, weights)
        return weights


class ColumnBlock(NamedTuple):
    """A function of some of the columns."""

    function: Function
    columns: NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class ColumnBlocks:
    """Functions of some of the columns each, their outputs side by side.

    Parameters
    ----------
    blocks : list of ColumnBlock
        The functions.
    """

    blocks: list[ColumnBlock]

    def __call__(self, X: Any) -> _Array:
        outputs = [
            function(safe_indexing(X, columns, axis=1))
            for function, columns in self.blocks
        ]
        return np.hstack([np.empty((X.shape[0], 0)), *outputs])

    def vjp(self, X: Any, weights: _Array) -> _Array:
        gradients = np.zeros(X.shape)
        start = 0
        for function, columns in self.blocks:
            rows = safe_indexing(X, columns, axis=1)
            stop = start + function(rows).shape[1]
            gradient = function.vjp(rows, weights[:, start:stop])
            np.add.at(gradients.T, columns, gradient.T)
            start = stop
        return gradients
