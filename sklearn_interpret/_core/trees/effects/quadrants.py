"""Sums of amounts on a plane over all that lies below and to the left of points."""

import numpy as np


class QuadrantSums:
    r"""Amounts at cells of a grid, added up over the quadrants of given points.

    For each point (u, v) the sum of the amounts at all cells (u', v') with
    :math:`u' \le u` and :math:`v' \le v`.

    Parameters
    ----------
    u, v : ndarray of shape (n,), intp
        The points.
    shape : tuple of int
        Height and width of the grid.
    k : int
        Number of sums for each point.

    Notes
    -----
    A grid of all cells may be large. So its rows are taken in bands. What lies in
    earlier bands is counted on a grid that has one row per band. Within a band only
    the columns of its own points count: its second grid has one column per point.
    With bands of height :math:`h / \sqrt n` both have some :math:`w \sqrt n` cells.
    """

    def __init__(self, u, v, shape, k):
        height, width = shape
        self._width = width
        self._band = max(1, round(height / np.sqrt(max(len(u), 1))))
        n_bands = -(-height // self._band)
        band = u // self._band
        order = np.lexsort((v, band))
        # Each band's columns: one for each of its points, by v, and one behind them.
        self._column = np.empty(len(u), dtype=np.intp)
        self._column[order] = np.arange(len(u)) + band[order]
        # By band and v: the first of the columns whose points are no less.
        points = np.bincount(band * width + v, minlength=n_bands * width)
        points = points.reshape(n_bands, width)
        self._upto = np.cumsum(points, dtype=np.int32).reshape(n_bands, width)
        self._upto -= points.astype(np.int32)
        self._upto += np.arange(n_bands, dtype=np.int32)[:, None]
        self._ends = self._upto[:, 0]
        self._at = u, v, band
        self._n_columns = len(u) + n_bands
        self._bands = np.zeros((k, n_bands * width))
        self._cells = np.zeros((k, self._band * self._n_columns))

    @staticmethod
    def n_cells(n, shape):
        """How many numbers are kept for n points and one sum each.

        Parameters
        ----------
        n : int
            Number of points.
        shape : tuple of int
            Height and width of the grid.

        Returns
        -------
        int
        """
        band = max(1, round(shape[0] / np.sqrt(max(n, 1))))
        n_bands = -(-shape[0] // band)
        return 2 * n_bands * shape[1] + band * (n + n_bands)

    def add(self, u, v, amounts):
        """Put amounts on the grid.

        Parameters
        ----------
        u, v : ndarray of shape (m,), intp
            Their cells.
        amounts : ndarray of shape (m, k)
            Amounts.
        """
        band, inside = np.divmod(u, self._band)
        in_bands = band * self._width + v
        in_cells = inside * self._n_columns + self._upto.reshape(-1)[in_bands]
        for output, amount in enumerate(amounts.T):
            np.add.at(self._bands[output], in_bands, amount)
            np.add.at(self._cells[output], in_cells, amount)

    def sums(self):
        """The sums: (n, k)."""
        u, v, band = self._at
        k, n_bands = len(self._bands), len(self._ends)
        bands = self._bands.reshape(k, n_bands, self._width)
        before = np.cumsum(np.cumsum(bands, axis=1) - bands, axis=2)
        cells = self._cells.reshape(k, self._band, self._n_columns)
        cells = np.cumsum(np.cumsum(cells, axis=1), axis=2)
        row, first = u % self._band, self._ends[band]
        earlier = np.where(first > 0, cells[:, row, first - 1], 0.0)
        return (before[:, band, v] + cells[:, row, self._column] - earlier).T
