"""Columns one by one: their distinct values, how often each comes, and in which bin."""

from dataclasses import dataclass

import numpy as np

from sklearn_interpret._core.statistics.weighted import Moments, weighted_quantile
from sklearn_interpret._model.rows.base import is_missing, label_key
from sklearn_interpret._model.rows.containers import as_rows


@dataclass(frozen=True, eq=False)
class Standing:
    """Where rows stand along each column.

    Parameters
    ----------
    scores : ndarray of shape (n_rows, n_columns)
        Of numeric columns the distance from the mean in standard deviations; zero where
        the value is missing, and of other columns.
    codes : ndarray of shape (n_rows, n_columns), int
        Bin or category; -1 for categories that were never seen. Of numeric columns
        without bins, 1 where the value is missing, else 0.
    """

    scores: np.ndarray
    codes: np.ndarray

    def take(self, index):
        """That of some rows."""
        return Standing(self.scores[index], self.codes[index])


def squared_distances(scores, codes, own_scores, own_codes):
    """Squared distances along columns, in standard deviations.

    One between bins, categories, and a missing value and another.
    """
    return np.where(codes != own_codes, 1.0, (scores - own_scores) ** 2)


def drawn_places(shares, points):
    """Places that are drawn with given chances.

    Parameters
    ----------
    shares : ndarray of shape (n,)
        Chances of the places, which sum to 1.
    points : ndarray of shape (m,)
        Uniform in (0, 1).

    Returns
    -------
    ndarray of shape (m,), intp
    """
    place = np.searchsorted(np.cumsum(shares), points, side="left")
    return np.minimum(place, len(shares) - 1)


class Marginals:
    """What is known of each column of some rows.

    Parameters
    ----------
    rows : Rows
        The rows.
    weights : ndarray of shape (n_rows,)
        Their weights.
    categorical : ndarray of shape (n_columns,), bool
        Columns whose values have no order.
    n_bins : int or None
        Into how many bins, of about equal weight, numeric columns are cut; None leaves
        them whole.

    Attributes
    ----------
    columns : list of Marginal
        One for each column.
    nominal, discrete : ndarray of shape (n_columns,), bool
        Columns without order, and columns of bins or categories.
    means, spreads : ndarray of shape (n_columns,)
        Mean and standard deviation of numeric columns, 0 of others.
    centers, scales : ndarray of shape (n_columns,)
        What scores are measured from, and in: the same for numeric columns without
        bins, with a scale of 1 where nothing varies; 0 and 1 of others.
    """

    def __init__(self, rows, weights, categorical, n_bins):
        self.rows = rows
        self.nominal = nominal = categorical | ~rows.are_numbers
        self.columns = [
            _Nominal(rows, weights, j)
            if nominal[j]
            else _Numeric(rows, weights, j, n_bins)
            for j in range(rows.n_columns)
        ]
        self.discrete = np.array([column.discrete for column in self.columns], bool)
        self.means = np.array([column.mean for column in self.columns])
        self.spreads = np.array([column.spread for column in self.columns])
        self.centers = np.where(self.discrete, 0.0, self.means)
        varies = ~self.discrete & (self.spreads > 0)
        self.scales = np.where(varies, self.spreads, 1.0)

    def drawn(self, points):
        """Rows whose columns are drawn independently of each other.

        Parameters
        ----------
        points : ndarray of shape (n, n_columns)
            Uniform in (0, 1).

        Returns
        -------
        native : native container of n rows
            Values that occur, as often as they do.
        standing : Standing
            Of these rows.
        """
        scores, codes = self._empty(len(points))
        donors = {}
        for j, column in enumerate(self.columns):
            level = column.level_at(points[:, j])
            donors[j] = column.first[level]
            scores[:, j], codes[:, j] = column.scores[level], column.codes[level]
        native = self.rows.mixed(np.zeros(len(points), dtype=np.intp), donors)
        return native, Standing(scores, codes)

    def standing(self, rows):
        """Where any rows stand.

        Parameters
        ----------
        rows : Rows
            With the same columns.

        Returns
        -------
        Standing
        """
        scores, codes = self._empty(rows.n_rows)
        for j, column in enumerate(self.columns):
            scores[:, j], codes[:, j] = column.standing(rows, j)
        return Standing(scores, codes)

    def levels(self):
        """The distinct values of all columns, in the container of the rows.

        Returns
        -------
        Rows
            Column j has its values first, in the order of its `_Marginal`, and then the
            last one again and again.
        """
        height = max(len(column.first) for column in self.columns)
        places = np.arange(height)
        donors = {
            j: column.first[np.minimum(places, len(column.first) - 1)]
            for j, column in enumerate(self.columns)
        }
        return as_rows(self.rows.mixed(np.zeros(height, dtype=np.intp), donors))

    def tilted(self, own, width):
        r"""Chances of each column's values where near ones count more.

        A value v of a column weighs :math:`\exp(-d(v, x)^2 / (2 \sigma^2))` beside its
        share; d is the distance from that of the row, as in
        :func:`squared_distances`.

        Parameters
        ----------
        own : Standing
            Of the rows to be near to.
        width : float
            The kernel's width sigma.

        Returns
        -------
        shares : list of ndarray of shape (n_rows, n_levels)
            For each column; each row sums to 1.
        statistics : list of ndarray of shape (n_rows, n_levels) or (n_levels,)
            For each column what a surrogate sees of its values.
        """
        shares, statistics = [], []
        for j, column in enumerate(self.columns):
            scores, codes = own.scores[:, [j]], own.codes[:, [j]]
            squares = squared_distances(column.scores, column.codes, scores, codes)
            squares -= squares.min(axis=1, keepdims=True)
            found = column.shares * np.exp(-squares / (2 * width**2))
            shares.append(found / found.sum(axis=1, keepdims=True))
            same = (column.codes == codes).astype(np.float64)
            statistics.append(same if column.discrete else column.scores)
        return shares, statistics

    def _empty(self, n_rows):
        shape = n_rows, len(self.columns)
        return np.zeros(shape), np.zeros(shape, dtype=np.intp)

    def texts(self, standing):
        """What each weight speaks of, row by row.

        Parameters
        ----------
        standing : Standing
            Of the rows.

        Returns
        -------
        ndarray of shape (n_rows, n_columns), object
            Such as ``"1 < age <= 3"``; the column's name where it has no bins.
        """
        texts = np.empty(standing.codes.shape, dtype=object)
        for j, column in enumerate(self.columns):
            known = {
                code: column.text(code, str(self.rows.names[j]))
                for code in np.unique(standing.codes[:, j]).tolist()
            }
            texts[:, j] = [known[code] for code in standing.codes[:, j].tolist()]
        return texts


class _Marginal:
    """Distinct values of a column.

    Attributes
    ----------
    first : ndarray of shape (n_levels,), intp
        A row that has the value.
    shares : ndarray of shape (n_levels,)
        Share of the weight.
    scores, codes : ndarray of shape (n_levels,)
        Where the value stands.
    """

    mean, spread = 0.0, 0.0

    def __init__(self, rows, weights, j):
        codes, self.labels, self.first = rows.encode([j])
        self.shares = np.bincount(codes, weights, len(self.labels)) / weights.sum()

    def level_at(self, points):
        """Position of the value at points of the distribution function."""
        return drawn_places(self.shares, points)


class _Nominal(_Marginal):
    """Categories."""

    discrete = True

    def __init__(self, rows, weights, j):
        super().__init__(rows, weights, j)
        self.codes = np.arange(len(self.labels))
        self.scores = np.zeros(len(self.labels))
        self._known = {label_key(v): code for code, v in enumerate(self.labels)}

    def standing(self, rows, j):
        codes, labels, _ = rows.encode([j])
        known = [self._known.get(label_key(label), -1) for label in labels]
        return 0.0, np.array(known, dtype=np.intp)[codes]

    def text(self, code, name):
        if code < 0:
            return f"{name} is new"
        label = self.labels[code]
        return f"{name} is missing" if is_missing(label) else f"{name} = {label}"


class _Numeric(_Marginal):
    """Numbers, cut into bins or not."""

    def __init__(self, rows, weights, j, n_bins):
        super().__init__(rows, weights, j)
        values = rows.numbers(j)
        there = ~np.isnan(values)
        values, weights = values[there], weights[there]
        self.discrete = n_bins is not None
        self._edges = np.empty(0)
        if len(values):
            moments = Moments.of_rows(values, weights)
            self.mean, spread = float(moments.mean), np.sqrt(moments.variance)
            # Nothing but rounding is no spread.
            varies = spread > 1e-12 * np.abs(values).max()
            self.spread = float(spread) if varies else 0.0
        if len(values) and self.discrete:
            inner = np.arange(1, n_bins) / n_bins
            edges = np.unique(weighted_quantile(values, inner, weights))
            self._edges = edges[edges < values.max()]
        self.scores, self.codes = self._place(rows.numbers(j)[self.first])

    def _place(self, values):
        missing = np.isnan(values)
        if not self.discrete:
            scores = (values - self.mean) / (self.spread or 1.0)
            return np.where(missing, 0.0, scores), missing.astype(np.intp)
        codes = np.searchsorted(self._edges, values, side="left")
        return np.zeros(len(values)), np.where(missing, len(self._edges) + 1, codes)

    def standing(self, rows, j):
        return self._place(rows.numbers(j))

    def text(self, code, name):
        edges = self._edges
        if not self.discrete or not len(edges):
            return name
        if code > len(edges):
            return f"{name} is missing"
        if code == 0:
            return f"{name} <= {edges[0]:.4g}"
        if code == len(edges):
            return f"{name} > {edges[-1]:.4g}"
        return f"{edges[code - 1]:.4g} < {name} <= {edges[code]:.4g}"
