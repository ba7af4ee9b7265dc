"""What changes of the columns of a table do to the linear function of a model."""

import numpy as np

from sklearn_interpret._model.linear import READABLE, explained_linear, read_linear
from sklearn_interpret.exceptions import UnreadableModelError

# Rows at which the linear function is compared with what changes add up to.
_SPOTS = 50
_TOLERANCE = 1e-7
_DOUBLE = np.finfo(np.float64).eps


def precision(actionability):
    """The precision of the least precise column of numbers."""
    numbers = np.flatnonzero(~actionability.categorical)
    kinds = {actionability.dtypes[j] for j in numbers}
    return float(
        max((np.finfo(k).eps for k in kinds if k.kind == "f"), default=_DOUBLE)
    )


class ColumnEffects:
    """Slopes of numbers and effects of levels, of a linear model of encoded columns.

    `slopes` and `levels` have one entry for each column, None where it is of the other
    kind. `errors` (n_columns, k) are the errors of a unit of each number, or of a
    level, and `rounding` is the relative rounding error of the model's sums, in the
    precision of the columns.

    Parameters
    ----------
    estimator : fitted estimator
        The model; an UnreadableModelError says why it is not linear in its columns.
    actionability : Actionability
        The columns.
    rows : Rows
        Known rows.
    decode : callable
        From encoded rows, and positions of the known rows they come from, to rows as
        the model takes them.
    """

    def __init__(self, estimator, actionability, rows, decode):
        # Where pairs of classes vote, the formula of their scores is not the model's.
        explained_linear(estimator).check(rows)
        self.model = read_linear(estimator)
        self.actionability, self.rows, self._decode = actionability, rows, decode
        values = actionability.encode(rows)
        self._whole = np.flatnonzero(~np.isnan(values).any(axis=1))
        if not len(self._whole):
            raise UnreadableModelError("every row of X has missing values.")
        self._values = values
        self._precision = precision(actionability)
        # Terms are made by a few operations each, and added up one after the other.
        self.rounding = (len(self.model.columns) / 2 + 2) * self._precision
        first = self._whole[:1]
        self._size = self._sizes(self.model.derived(rows.take(first).native))[0]
        parts = zip(*map(self._effects, range(rows.n_columns)), strict=True)
        self.slopes, self.levels, errors = parts
        self.errors = np.array(errors).reshape(rows.n_columns, -1)
        zero = np.zeros(len(self._size))
        slopes = [zero if part is None else np.abs(part) for part in self.slopes]
        self._absolute_slopes = np.array(slopes)
        self._check()

    def margins(self, native):
        """The linear functions of rows in the model's container, (n_rows, k)."""
        return self.model.margin(self.model.derived(native))

    def margins_and_doubts(self, native, values):
        """Linear functions of rows, and by how much the model's may differ, (n, k)."""
        derived = self.model.derived(native)
        sizes = self._sizes(derived)
        if self.model.steps:  # the numbers that steps begin with
            sizes += np.abs(np.nan_to_num(values)) @ self._absolute_slopes
        return self.model.margin(derived), self.rounding * sizes

    def _sizes(self, derived):
        """Sizes of the terms that the functions are sums of, (n_rows, k)."""
        terms = abs(derived) @ np.abs(self.model.coefficients)
        return terms + np.abs(self.model.intercept)

    def _effects(self, j):
        """Slope (k,) of a number, or the functions at the levels (n_levels, k).

        And the error of either.
        """
        rounding = self.rounding * _DOUBLE / self._precision * self._size
        if self.actionability.categorical[j]:
            levels = np.arange(len(self.actionability.levels[j]), dtype=np.float64)
            return None, self._margins_at(j, levels), rounding
        known = self._values[self._whole, j]
        low, high = known.min(), known.max()
        if low == high:
            high = low + 1 if abs(low) < 2 else np.rint(low / 2)
        below, above = self._margins_at(j, np.array([low, high]))
        slopes = (above - below) / (high - low)
        size = 4 * self._precision * np.abs(slopes) * max(abs(low), abs(high))
        errors = (size + rounding) / abs(high - low)
        errors += self.rounding * np.abs(slopes)
        return slopes, None, np.where(slopes == 0, 0.0, errors)

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
        native = self.rows.take(some).native
        expected, doubts = self.margins_and_doubts(native, self._values[some])
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
        if (np.abs(found - expected) > _TOLERANCE * (1 + size) + doubts).any():
            raise UnreadableModelError(
                "a step of the pipeline is no linear function of the numbers. What can "
                f"be read: {READABLE}."
            )
