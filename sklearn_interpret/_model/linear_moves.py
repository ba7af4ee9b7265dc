"""What changes of the columns of a table do to the linear function of a model."""

import numpy as np

from sklearn_interpret._model.linear import READABLE, explained_linear, read_linear
from sklearn_interpret.exceptions import UnreadableModelError

# Rows at which the linear function is compared with what changes add up to.
_SPOTS = 50
_TOLERANCE = 1e-7


class ColumnEffects:
    """Slopes of numbers and effects of levels, of a linear model of encoded columns.

    Parameters
    ----------
    estimator : fitted estimator
        The model; an UnreadableModelError says why it is not linear in its columns.
    feasible : FeasibleRows
        The columns.
    rows : Rows
        Known rows.
    decode : callable
        From encoded rows, and positions of the known rows they come from, to rows as
        the model takes them.
    """

    def __init__(self, estimator, feasible, rows, decode):
        # Where pairs of classes vote, the formula of their scores is not the model's.
        explained_linear(estimator).check(rows)
        self.model = read_linear(estimator)
        self.feasible, self.rows, self._decode = feasible, rows, decode
        values = feasible.encode(rows)
        self._whole = np.flatnonzero(~np.isnan(values).any(axis=1))
        if not len(self._whole):
            raise UnreadableModelError("every row of X has missing values.")
        self._values = values
        self.slopes, self.levels = [], []
        for j in range(rows.n_columns):
            slopes, levels = self._effects(j)
            self.slopes.append(slopes)
            self.levels.append(levels)
        self._check()

    def margins(self, native):
        """The linear functions of rows in the model's container, (n_rows, k)."""
        return self.model.margin(self.model.derived(native))

    def _effects(self, j):
        """Slope (k,) of a number, or the functions at the levels (n_levels, k)."""
        if self.feasible.categorical[j]:
            levels = np.arange(len(self.feasible.levels[j]), dtype=np.float64)
            return None, self._margins_at(j, levels)
        known = self._values[self._whole, j]
        low, high = known.min(), known.max()
        if low == high:  # another number, which any dtype holds
            half = np.trunc(low / 2) if self.feasible.integer[j] else low / 2
            high = half if low else 1.0
        below, above = self._margins_at(j, np.array([low, high]))
        return (above - below) / (high - low), None

    def _margins_at(self, j, column):
        """The functions at a known row with other values of a column."""
        first = self._whole[:1]
        values = np.repeat(self._values[first], len(column), axis=0)
        values[:, j] = column
        index = np.repeat(first, len(column))
        return self.margins(self._decode(values, index))

    def _check(self):
        """Raise if the functions at known rows are not what changes add up to."""
        some = self._whole[:: max(1, len(self._whole) // _SPOTS)]
        expected = self.margins(self.rows.take(some).native)
        first = self._whole[0]
        found = np.repeat(self.margins(self.rows.take([first]).native), len(some), 0)
        size = np.abs(found) + np.abs(expected)
        for j, (slope, levels) in enumerate(zip(self.slopes, self.levels, strict=True)):
            own, start = self._values[some, j], self._values[first, j]
            if levels is None:
                change = (own - start)[:, None] * slope
            else:
                change = levels[own.astype(int)] - levels[int(start)]
            found += change
            size += np.abs(change)
        if (np.abs(found - expected) > _TOLERANCE * (1 + size)).any():
            raise UnreadableModelError(
                "a step of the pipeline is no linear function of the numbers. What can "
                f"be read: {READABLE}."
            )
