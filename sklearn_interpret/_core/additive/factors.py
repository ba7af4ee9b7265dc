"""Factors of X'WX + S, the matrix of penalised least squares, with a diagonal S.

`CholeskyFactor` factors the matrix. `RowsFactor` is for more coefficients than rows:
its factor has a row for each row of X.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky, lapack, solve_triangular

# An array of floats, whose shape comments and docstrings say.
_Array = NDArray[np.float64]
Blocks = Sequence[NDArray[np.intp] | slice]

# `RowsFactor` is for up to this number of rows for each coefficient: with more,
# `CholeskyFactor` takes less time.
_ROWS_PER_COEFFICIENT = 0.5
# Columns of X'WX whose size is below this share of the largest are rounding.
_NEGLIGIBLE = 1e-20
# Columns of V that are computed at a time.
_BLOCK = 256


def rows_root(products: _Array, n_rows: float) -> _Array | None:
    """A matrix R of few rows, (n, p), with R'R = X'WX; None where rows are many."""
    diagonal = np.diag(products)
    if n_rows > _ROWS_PER_COEFFICIENT * len(diagonal):
        return None
    scales = np.sqrt(np.where(diagonal > _NEGLIGIBLE * diagonal.max(), diagonal, 0))
    inverse_scales = np.divide(1, scales, out=np.zeros_like(scales), where=scales > 0)
    factor, pivots, rank, _ = lapack.dpstrf(
        inverse_scales[:, None] * products * inverse_scales
    )
    root = np.empty((rank, len(diagonal)))
    root[:, pivots - 1] = np.triu(factor[:rank])
    return root * scales


class CholeskyFactor:
    """Cholesky's factor of X'WX + S.

    Parameters
    ----------
    products : ndarray of shape (p, p)
        X'WX.
    penalties : ndarray of shape (p,)
        The diagonal of S.

    Attributes
    ----------
    log_determinant : float
        Logarithm of the determinant of X'WX + S.
    """

    def __init__(self, products: _Array, penalties: _Array) -> None:
        self._sums_of_products = products
        self.matrix = products.copy()
        np.fill_diagonal(self.matrix, np.diag(products) + penalties)
        self._scales = np.sqrt(np.diag(self.matrix))
        scaled_matrix = self.matrix / np.outer(self._scales, self._scales)
        self._factor = cholesky(scaled_matrix, check_finite=False)
        self.log_determinant = 2 * np.log(np.diag(self._factor) * self._scales).sum()

    def solve(self, sums: _Array) -> _Array:
        """Coefficients that solve the equations with `sums`, (p,) or (p, n) both."""
        solution, _ = lapack.dpotrs(self._factor, (sums.T / self._scales).T)
        return (solution.T / self._scales).T

    @cached_property
    def inverse(self) -> _Array:
        """The inverse V of X'WX + S."""
        inverse, _ = lapack.dpotri(self._factor)  # its upper part, zeros below
        diagonal = np.diag(inverse).copy()
        inverse = inverse + inverse.T
        np.fill_diagonal(inverse, diagonal)
        inverse /= self._scales
        inverse /= self._scales[:, None]
        return inverse

    @property
    def variances(self) -> _Array:
        """The diagonal of V, (p,)."""
        return np.diag(self.inverse)

    def products(self, weights: Any) -> _Array:
        """W V W' of rows `weights` W, an array or sparse array (m, p)."""
        return (weights @ self.inverse) @ weights.T

    def squared_products(self, weights: Any) -> _Array:
        """W Q W' of rows `weights` W, where Q has the squares of the numbers of V."""
        return (weights @ self.inverse**2) @ weights.T

    def information_matrices(self, blocks: Blocks) -> list[_Array]:
        """X'WX of each block of coefficients, less what the others explain of it.

        These matrices are Schur's complements. Computed as the inverse of the block of
        V, less S, they would lose all digits where penalties are large.
        """
        products, offsets = self._sums_of_products, [0]
        cross_blocks = []
        for block in blocks:
            cross_blocks.append(products[:, block].copy())
            cross_blocks[-1][block] = 0
            offsets.append(offsets[-1] + cross_blocks[-1].shape[1])
        spans = list(map(slice, offsets, offsets[1:]))
        # One product for all blocks: products of few columns are bound by memory.
        cross_products = np.hstack(cross_blocks)
        coefs = _solve_without_blocks(self.inverse, cross_products, blocks, spans)
        # A step of refinement: V has large numbers where terms explain each other.
        residuals = cross_products - self.matrix @ coefs
        for block, span in zip(blocks, spans, strict=True):
            residuals[block, span] = 0
        coefs += _solve_without_blocks(self.inverse, residuals, blocks, spans)
        return [
            products[block][:, block] - cross_products[:, span].T @ coefs[:, span]
            for block, span in zip(blocks, spans, strict=True)
        ]


def _solve_without_blocks(
    inverse: _Array, sums: _Array, blocks: Blocks, spans: list[slice]
) -> _Array:
    """Coefficients for columns of `sums`, zero in the block of each column."""
    solutions = inverse @ sums
    for block, span in zip(blocks, spans, strict=True):
        columns = inverse[:, block]
        solutions[:, span] -= columns @ np.linalg.solve(
            columns[block], solutions[block, span]
        )
    return solutions


class RowsFactor:
    """Factor of R'R + S, where R has fewer rows than columns.

    The intercept, which comes first, has no penalty, and all others have one: V is that
    of a model with one fixed effect and random effects of variances 1 / S. Matrices of
    as many rows and columns as R has rows are factored.

    Parameters
    ----------
    root : ndarray of shape (n, p)
        R.
    penalties : ndarray of shape (p,)
        The diagonal of S, which is zero at the intercept.

    Attributes
    ----------
    log_determinant : float
        Logarithm of the determinant of R'R + S.
    """

    def __init__(self, root: _Array, penalties: _Array) -> None:
        self._root, self._penalties = root, penalties
        random_columns, variances = root[:, 1:], 1 / penalties[1:]
        covariance = np.eye(len(root)) + (random_columns * variances) @ random_columns.T
        factor = cholesky(covariance, lower=True, check_finite=False)
        whitened = solve_triangular(factor, root, lower=True, check_finite=False)
        size = np.linalg.norm(whitened[:, 0])
        self._whitened, self._unit_intercept = whitened, whitened[:, 0] / size
        self._intercept_projections = self._unit_intercept @ whitened
        self._variances = np.append(0, variances)
        # V = diag(variances) - A'A + bb', with these A (n, p) and b (p,).
        self._explained = whitened * self._variances
        self._intercept = -self._intercept_projections * self._variances
        self._intercept[0] = 1 / size
        self.log_determinant = (
            2 * np.log(np.diag(factor)).sum()
            + 2 * np.log(size)
            + np.log(penalties[1:]).sum()
        )

    @property
    def matrix(self) -> _Array:
        """R'R + S."""
        return self._root.T @ self._root + np.diag(self._penalties)

    def solve(self, sums: _Array) -> _Array:
        """Coefficients that solve the equations with `sums`, (p,) or (p, n) both."""
        solution = (self._variances * sums.T).T
        solution -= self._explained.T @ (self._explained @ sums)
        return solution + np.multiply.outer(self._intercept, self._intercept @ sums)

    def _inverse_block(self, rows: slice, columns: slice) -> _Array:
        """A block of V that begins on the diagonal."""
        block = self._explained[:, rows].T @ self._explained[:, columns]
        outer = np.outer(self._intercept[rows], self._intercept[columns])
        np.subtract(outer, block, out=block)
        np.fill_diagonal(block, np.diag(block) + self._variances[columns])
        return block

    @cached_property
    def inverse(self) -> _Array:
        """The inverse V of R'R + S."""
        return self._inverse_block(slice(None), slice(None))

    @property
    def variances(self) -> _Array:
        """The diagonal of V, (p,)."""
        explained = (self._explained**2).sum(axis=0)
        return self._variances + self._intercept**2 - explained

    def products(self, weights: Any) -> _Array:
        """W V W' of rows `weights` W, an array or sparse array (m, p)."""
        explained, intercept = weights @ self._explained.T, weights @ self._intercept
        independent = (weights * self._variances) @ weights.T
        return independent - explained @ explained.T + np.outer(intercept, intercept)

    def squared_products(self, weights: Any) -> _Array:
        """W Q W' of rows `weights` W, where Q has the squares of the numbers of V."""
        total = np.zeros((weights.shape[0], weights.shape[0]))
        # By blocks that fit into caches: V takes longer to write than to compute.
        for start in range(0, weights.shape[1], _BLOCK):
            rows, columns = slice(start, None), slice(start, start + _BLOCK)
            block = self._inverse_block(rows, columns) ** 2
            # The blocks on the diagonal count once, all others twice.
            block[:_BLOCK] /= 2
            products = weights[:, rows] @ block @ weights[:, columns].T
            total += products + products.T
        return total

    def information_matrices(self, blocks: Blocks) -> list[_Array]:
        """R'R of each block of coefficients, less what the others explain of it."""
        matrices = []
        for block in blocks:
            # The same with the block among the others, which Woodbury takes out.
            projections = self._intercept_projections[block]
            variances = self._variances[block]
            columns = self._whitened[:, block] - np.outer(
                self._unit_intercept, projections
            )
            information = columns.T @ columns
            system = np.eye(len(variances)) - information * variances
            matrices.append(np.linalg.solve(system, information))
        return matrices
