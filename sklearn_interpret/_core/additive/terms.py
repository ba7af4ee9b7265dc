"""Terms of an additive model: a basis, or the products of two."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sklearn_interpret._core.additive.bases import LevelBasis, LineBasis, SplineBasis

Basis = SplineBasis | LevelBasis | LineBasis


@dataclass(frozen=True)
class Term:
    """A summand of the linear predictor: a function of one column or two.

    Parameters
    ----------
    bases : tuple of one or two bases
        Functions of each column; of two, all products, the second's running faster.
    coordinates : ndarray of shape (n_products, n_coordinates)
        Coordinates of the term, as columns.
    penalties : ndarray of shape (n_penalties, n_coordinates)
        Diagonals of penalty matrices.
    blocks : int
        Number of equal blocks of products, each of which is centred.
    centred_columns : tuple of two bool
        Along which column of two the mean over the rows is zero, at each value of the
        other.
    """

    bases: tuple[Basis, ...]
    coordinates: NDArray[np.float64]
    penalties: NDArray[np.float64]
    blocks: int = 1
    centred_columns: tuple[bool, bool] = (False, False)

    def centred(self, means: NDArray[np.float64]) -> Term:
        """The term with functions that sum to zero over the rows.

        Products that sum to one, over all rows or the rows of a level, can be shifted
        by a constant; products with a straight line stay as they are.

        Parameters
        ----------
        means : ndarray of shape (n_functions,) or (n_functions, n_functions_2)
            Means of the functions, or of the products of two, over the rows.
        """
        if isinstance(self.bases[0], LineBasis):
            return self
        n_products, n_coordinates = self.coordinates.shape
        products = self.coordinates.reshape(*means.shape, n_coordinates)
        for axis, is_centred in enumerate(self.centred_columns):
            if is_centred:
                weights = means.sum(axis=1 - axis)
                products = products - np.average(
                    products, axis=axis, weights=weights, keepdims=True
                )
        each = n_products // self.blocks
        blocks = products.reshape(self.blocks, each, n_coordinates)
        means = means.reshape(self.blocks, 1, -1)
        shifts = means @ blocks / means.sum(axis=2, keepdims=True)
        return replace(
            self, coordinates=(blocks - shifts).reshape(self.coordinates.shape)
        )

    def evaluate(self, columns: list[NDArray[np.float64]]) -> NDArray[np.float64]:
        """Values of the coordinates, (n_rows, n_coordinates), of one or two columns."""
        pairs = zip(self.bases, columns, strict=True)
        values = [basis.evaluate(column) for basis, column in pairs]
        if len(values) == 2:
            outer, inner = values
            values = [(outer[:, :, None] * inner[:, None]).reshape(len(outer), -1)]
        return values[0] @ self.coordinates


def single_term(basis: Basis, shrinkage: bool) -> Term:
    """A function of one column; with `shrinkage` all its coordinates have penalties."""
    vectors, penalties, unpenalised_masks = basis.coordinates
    penalties = np.vstack([penalties, unpenalised_masks])
    if not shrinkage:
        penalties = penalties[: int(not isinstance(basis, LevelBasis))]
    first = int(not isinstance(basis, LineBasis))
    return _term((basis,), vectors[:, first:], penalties[:, first:])


def tensor_term(
    bases: tuple[Basis, Basis], has_main: tuple[bool, bool], shrinkage: bool
) -> Term:
    """A function of two columns, without what the terms of one of them hold.

    At each value of a column that has a term, its mean over the rows' values of the
    other column is zero.

    Parameters
    ----------
    bases : tuple of two bases
        Functions of each column.
    has_main : tuple of two bool
        Whether there is a term of that column alone.
    shrinkage : bool
        Whether all coordinates have penalties.
    """
    outer, inner = (basis.coordinates for basis in bases)
    shape = len(outer.penalties), len(inner.penalties)
    penalties = [np.repeat(outer.penalties, shape[1])]
    penalties.append(np.tile(inner.penalties, shape[0]))
    if shrinkage:
        penalties.append(np.add(*penalties) == 0)
    # Products that are constant in one column are functions of the other.
    selected = np.ones(shape, dtype=bool)
    selected[0, 0] = False
    if has_main[0]:
        selected[1:, 0] = False
    if has_main[1]:
        selected[0, 1:] = False
    columns = np.flatnonzero(selected)
    products = np.kron(outer.vectors, inner.vectors)
    term = _term(bases, products[:, columns], np.array(penalties)[:, columns])
    return replace(term, centred_columns=(has_main[1], has_main[0]))


def varying_term(
    by: LevelBasis | LineBasis, basis: SplineBasis, has_main: bool, shrinkage: bool
) -> Term:
    """A function for each level of a column, or one that multiplies a column.

    Parameters
    ----------
    by : LevelBasis or LineBasis
        The column.
    basis : SplineBasis
        Functions of the other column.
    has_main : bool
        Whether there is a term of the column alone, which has its straight line.
    shrinkage : bool
        Whether all coordinates have penalties.
    """
    vectors, roughness, unpenalised_masks = basis.coordinates
    penalties = roughness[None]
    if shrinkage:
        penalties = np.vstack([roughness, unpenalised_masks])
    if isinstance(by, LineBasis):
        # The constant of the basis is the slope of a straight line.
        if shrinkage:
            penalties = np.stack([roughness, roughness == 0])
        first = int(has_main)
        return _term((by, basis), vectors[:, first:], penalties[:, first:])
    levels = np.eye(by.n_levels)
    term = _term(
        (by, basis), np.kron(levels, vectors[:, 1:]), np.kron(levels, penalties[:, 1:])
    )
    return replace(term, blocks=by.n_levels)


def _term(
    bases: tuple[Basis, ...],
    coordinates: NDArray[np.floating],
    penalties: NDArray[np.floating],
) -> Term:
    """A term, without the penalties that are zero everywhere."""
    penalties = penalties[penalties.any(axis=1)]
    return Term(bases, coordinates.astype(float), penalties.astype(float))
