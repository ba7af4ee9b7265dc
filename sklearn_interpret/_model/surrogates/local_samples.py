"""Rows drawn around others: by the columns' own distributions, or from their joint one.

As in LIME (Ribeiro, Singh and Guestrin 2016), but from quasi-random points.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from sklearn_interpret._core.local.masks import quasi_random_points
from sklearn_interpret._model.rows.base import round_to_dtype
from sklearn_interpret._model.rows.marginals import draw_positions

if TYPE_CHECKING:
    from sklearn_interpret._model.rows.base import Rows
    from sklearn_interpret._model.rows.marginals import Marginals


class LocalDraws:
    """Draws of rows, to be placed around the mean row or around any other.

    Numeric columns are shifted by draws of the same size everywhere; all others are
    taken from rows that were drawn.

    Parameters
    ----------
    marginals : Marginals
        Marginal distributions of the columns.
    weights : ndarray of shape (n_rows,)
        Weights of the rows that these were read from.
    n_samples : int
        Number of rows to draw.
    correlated : bool
        Whether columns are drawn together: from whole rows, with a little noise
        that leaves means and covariances what they are; else each for itself, numeric
        ones from normal distributions.
    rng : numpy.random.Generator
        Draws them.
    """

    def __init__(
        self,
        marginals: Marginals,
        weights: NDArray[np.float64],
        n_samples: int,
        *,
        correlated: bool,
        rng: np.random.Generator,
    ) -> None:
        self._marginals = marginals
        rows = marginals.rows
        self._numeric = np.flatnonzero(~marginals.nominal)
        nominal = np.flatnonzero(marginals.nominal).tolist()
        if correlated:
            points = quasi_random_points(n_samples, 1 + len(self._numeric), rng)
            positions = draw_positions(weights / weights.sum(), points[:, 0])
            self._donors = dict.fromkeys(nominal, positions)
            self._shifts = self._smooth_shifts(positions, weights, ndtri(points[:, 1:]))
        else:
            points = quasi_random_points(n_samples, rows.n_columns, rng)
            self._donors = {}
            for j in nominal:
                column = marginals.columns[j]
                self._donors[j] = column.first[column.level_at(points[:, j])]
            noise = ndtri(points[:, self._numeric])
            self._shifts = noise * marginals.spreads[self._numeric]

    def _smooth_shifts(
        self,
        positions: NDArray[np.intp],
        weights: NDArray[np.float64],
        noise: NDArray[np.float64],
    ) -> NDArray[np.float64]:
        r"""Deviations of drawn rows from the mean, blurred.

        With the bandwidth h of Silverman's rule, :math:`\sqrt{1 - h^2}` times the
        deviation plus h times noise of the rows' covariance.
        """
        rows, means = self._marginals.rows, self._marginals.means[self._numeric]
        values = np.empty((rows.n_rows, len(self._numeric)))
        for k, j in enumerate(self._numeric.tolist()):
            values[:, k] = rows.numbers(j)
        deviations = np.where(np.isnan(values), 0.0, values - means)
        shares = weights / weights.sum()
        p, n_effective = len(self._numeric), 1 / (shares**2).sum()
        bandwidth = min(1.0, (4 / ((p + 2) * n_effective)) ** (1 / (p + 4)))
        covariance = (deviations * shares[:, None]).T @ deviations
        variances, axes = np.linalg.eigh(covariance)
        # The symmetric root does not depend on signs or order of the axes.
        root = (axes * np.sqrt(variances.clip(min=0))) @ axes.T
        shrunken = np.sqrt(1 - bandwidth**2) * deviations[positions]
        return shrunken + bandwidth * noise @ root

    @property
    def n_samples(self) -> int:
        """Number of rows drawn around each row."""
        return len(self._shifts)

    def draws_around_mean(self) -> Any:
        """The draws around the mean row: native container of n_samples rows."""
        return self._place(self._marginals.rows.take([0]), self._marginals.means[None])

    def draws_around(self, rows: Rows) -> Any:
        """The draws around `Rows`, first those around the first row: native container.

        Where a number is missing, the mean stands for it.
        """
        means = self._marginals.means
        values = np.tile(means, (rows.n_rows, 1))
        for j in self._numeric.tolist():
            values[:, j] = rows.numbers(j)
        return self._place(rows, np.where(np.isnan(values), means, values))

    def _place(self, rows: Rows, centers: NDArray[np.float64]) -> Any:
        """The draws around `Rows` whose numbers are `centers`, (n_rows, n_columns)."""
        tiles = rows.tiles(0, rows.n_rows, self.n_samples)
        own_codes = np.arange(rows.n_rows * self.n_samples).reshape(rows.n_rows, -1)
        marginal_rows = self._marginals.rows
        levels, codes = [], []
        for j in range(marginal_rows.n_columns):
            if j in self._donors:
                levels.append(marginal_rows.column(j))
                codes.append(self._donors[j][None])
                continue
            shifts = self._shifts[:, np.searchsorted(self._numeric, j)]
            values = self._round_to_column(j, (centers[:, j, None] + shifts).ravel())
            levels.append(marginal_rows.cast(j, values))
            codes.append(own_codes)
        return tiles.replace(list(range(marginal_rows.n_columns)), levels, codes)

    def _round_to_column(self, j: int, values: NDArray[np.float64]) -> NDArray[Any]:
        """Values of a numeric column, whole numbers where it takes these alone."""
        rows = self._marginals.rows
        if not rows.is_integer(j):
            return values
        observed = rows.numbers(j)
        values = np.rint(values).clip(np.nanmin(observed), np.nanmax(observed))
        return round_to_dtype(values, rows.column_array(j).dtype)
