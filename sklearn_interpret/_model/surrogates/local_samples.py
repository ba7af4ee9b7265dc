"""Rows drawn around others: by the columns' own distributions, or with joint ones."""

import numpy as np
from scipy.special import ndtri

from sklearn_interpret._core.local.masks import quasi_random_points
from sklearn_interpret._model.rows.base import rounded
from sklearn_interpret._model.rows.marginals import draw_positions


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

    def __init__(self, marginals, weights, n_samples, *, correlated, rng):
        self._marginals = marginals
        rows = marginals.rows
        self._numeric = np.flatnonzero(~marginals.nominal)
        others = np.flatnonzero(marginals.nominal).tolist()
        if correlated:
            points = quasi_random_points(n_samples, 1 + len(self._numeric), rng)
            drawn = draw_positions(weights / weights.sum(), points[:, 0])
            self._donors = dict.fromkeys(others, drawn)
            self._shifts = self._smoothed(drawn, weights, ndtri(points[:, 1:]))
        else:
            points = quasi_random_points(n_samples, rows.n_columns, rng)
            self._donors = {}
            for j in others:
                column = marginals.columns[j]
                self._donors[j] = column.first[column.level_at(points[:, j])]
            noise = ndtri(points[:, self._numeric])
            self._shifts = noise * marginals.spreads[self._numeric]

    def _smoothed(self, drawn, weights, noise):
        r"""Deviations of drawn rows from the mean, blurred.

        With the bandwidth h of Silverman's rule, :math:`\sqrt{1 - h^2}` times the
        deviation plus h times noise of the rows' covariance.
        """
        rows, means = self._marginals.rows, self._marginals.means[self._numeric]
        values = np.empty((rows.n_rows, len(self._numeric)))
        for place, j in enumerate(self._numeric.tolist()):
            values[:, place] = rows.numbers(j)
        values = np.where(np.isnan(values), 0.0, values - means)
        shares = weights / weights.sum()
        size, effective = len(self._numeric), 1 / (shares**2).sum()
        h = min(1.0, (4 / ((size + 2) * effective)) ** (1 / (size + 4)))
        covariance = (values * shares[:, None]).T @ values
        variances, axes = np.linalg.eigh(covariance)
        # The symmetric root does not depend on signs or order of the axes.
        root = (axes * np.sqrt(variances.clip(min=0))) @ axes.T
        return np.sqrt(1 - h**2) * values[drawn] + h * noise @ root

    @property
    def n_samples(self):
        """Number of rows drawn around each row."""
        return len(self._shifts)

    def around_mean(self):
        """The draws around the mean row: native container of n_samples rows."""
        return self._placed(self._marginals.rows.take([0]), self._marginals.means[None])

    def around(self, rows):
        """The draws around `Rows`, first those around the first row: native container.

        Where a number is missing, the mean stands for it.
        """
        means = self._marginals.means
        values = np.tile(means, (rows.n_rows, 1))
        for j in self._numeric.tolist():
            values[:, j] = rows.numbers(j)
        return self._placed(rows, np.where(np.isnan(values), means, values))

    def _placed(self, rows, centers):
        tiles = rows.tiles(0, rows.n_rows, self.n_samples)
        every = np.arange(rows.n_rows * self.n_samples).reshape(rows.n_rows, -1)
        known = self._marginals.rows
        levels, codes = [], []
        for j in range(known.n_columns):
            if j in self._donors:
                levels.append(known.column(j))
                codes.append(self._donors[j][None])
                continue
            shifts = self._shifts[:, np.searchsorted(self._numeric, j)]
            values = self._possible(j, (centers[:, j, None] + shifts).ravel())
            levels.append(known.cast(j, values))
            codes.append(every)
        return tiles.replaced(list(range(known.n_columns)), levels, codes)

    def _possible(self, j, values):
        """Values of a numeric column, whole numbers where it takes these alone."""
        rows = self._marginals.rows
        if not rows.is_integer(j):
            return values
        known = rows.numbers(j)
        values = np.rint(values).clip(np.nanmin(known), np.nanmax(known))
        return rounded(values, rows.column_array(j).dtype)
