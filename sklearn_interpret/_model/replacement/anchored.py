"""Rows of a table that are changed to meet conditions on some of their columns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sklearn_interpret._model.parallel import batch_rows, slices
from sklearn_interpret._model.rows.marginals import draw_positions

if TYPE_CHECKING:
    from sklearn_interpret._model.rows.base import Rows


class AnchoredRows:
    """Known rows in which some columns take values of other rows.

    Parameters
    ----------
    rows : Rows
        The known rows.
    weights : ndarray of shape (n_rows,)
        Weights of the rows.
    n_draws : int
        Number of rows that are drawn, with replacement.
    seed : int
        Seed of all random numbers.
    """

    def __init__(
        self, rows: Rows, weights: NDArray[np.float64], n_draws: int, seed: int
    ) -> None:
        self.rows, self.shares = rows, weights / weights.sum()
        self._n_draws, self._seed = n_draws, seed
        points = np.random.default_rng(seed).random(n_draws)
        self.drawn_rows = draw_positions(self.shares, points)

    def blocks(
        self,
        draws: NDArray[np.intp],
        changed: NDArray[np.bool_],
        donors_of_conditions: list[tuple[int, NDArray[np.intp]]],
    ) -> Iterator[Any]:
        """Yield the rows drawn, with changed columns, as native containers.

        Parameters
        ----------
        draws : ndarray of shape (m,), int
            Positions of the draws.
        changed : ndarray of shape (m, n_changeable), bool
            Mask of the columns that are changed in each.
        donors_of_conditions : list of (int, ndarray of int)
            For each column that may change, its position, and the rows that its new
            values are drawn from, by weight and independently of the other columns.
        """
        source_rows = self.drawn_rows[draws]
        donor_rows = {}
        for condition in np.flatnonzero(changed.any(axis=0)).tolist():
            column, donors = donors_of_conditions[condition]
            is_changed = changed[:, condition]
            # A point for each draw, whichever rows are asked for: a draw has the same
            # donors in every call of the same condition.
            points = np.random.default_rng([self._seed, column]).random(self._n_draws)
            shares = self.shares[donors]
            drawn = draw_positions(shares / shares.sum(), points[draws[is_changed]])
            donor_rows[column] = source_rows.copy()
            donor_rows[column][is_changed] = donors[drawn]
        for batch in slices(len(source_rows), batch_rows(self.rows.row_bytes)):
            row_of_column = {column: rows[batch] for column, rows in donor_rows.items()}
            yield self.rows.mix(source_rows[batch], row_of_column)
