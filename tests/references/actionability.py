"""All rows that a row may become, one by one, and what each costs."""

from itertools import product

import numpy as np
import pandas as pd


class EveryRow:
    """The rows that `ExactCounterfactual` may return, of a frame of few values.

    Numbers are whole ones, whose columns have no others in `fit`; unless `grids` has
    the values at which a column is looked at.

    Parameters
    ----------
    known : DataFrame
        The rows of `fit`.
    costs : dict of str to float
        The cost of a unit of each number, or of a change of a category.
    vary : list of str
        Columns that may change.
    ranges : dict or "any"
        As `permitted_range`.
    directions : dict
        As `direction`.
    constraints : list of (dict, float)
        As `constraints`.
    max_changes : int or None
        As `max_changes`.
    grids : dict of str to function of the own value, default=()
        Values of numbers that are not whole.
    """

    def __init__(
        self,
        known,
        costs,
        vary,
        ranges,
        directions,
        constraints,
        max_changes,
        grids=(),
    ):
        self.known, self.costs, self.vary = known, costs, vary
        self.ranges, self.directions = ranges, directions
        self.constraints, self.max_changes = constraints, max_changes
        self.grids = dict(grids)

    def of(self, row):
        """Rows as a frame, with the distance and the number of changes of each.

        `row` is a frame of one row.
        """
        own = {name: row[name].iloc[0] for name in self.known}
        values = [self._values(name, own[name]) for name in self.known]
        costs = [
            [self._cost(name, own[name], value) for value in column]
            for name, column in zip(self.known, values, strict=True)
        ]
        places = np.array(list(product(*(range(len(column)) for column in values))))
        rows = pd.DataFrame(
            {
                name: _column([column[k] for k in places[:, j]], row[name].dtype)
                for j, (name, column) in enumerate(zip(own, values, strict=True))
            }
        )
        parts = np.column_stack(
            [np.array(cost)[places[:, j]] for j, cost in enumerate(costs)]
        )
        n_changed = (parts > 0).sum(axis=1)
        kept = np.ones(len(rows), dtype=bool)
        for coefficients, bound in self.constraints:
            total = sum(c * rows[name].to_numpy(float) for name, c in coefficients.items())
            kept &= total <= bound + 1e-9 * (1 + abs(bound))
        if self.max_changes is not None:
            kept &= n_changed <= self.max_changes
        return rows[kept], parts.sum(axis=1)[kept], n_changed[kept]

    def _cost(self, name, own, value):
        if value is own or value == own:
            return 0.0
        if pd.isna(own) or not pd.api.types.is_numeric_dtype(self.known[name]):
            return self.costs[name]
        if len(self._flag(name)) and np.ptp(self._flag(name)) > 1:
            return self.costs[name]
        return self.costs[name] * abs(value - own)

    def _flag(self, name):
        """The two whole numbers of a column that takes no others; else none."""
        values = np.unique(self.known[name].dropna())
        limited = self.ranges != "any" and name in self.ranges
        whole = len(values) == 2 and (values == np.rint(values)).all()
        return values if whole and not limited else values[:0]

    def _values(self, name, own):
        """The own value, and the others that a column may take."""
        if name not in self.vary:
            return [own]
        numeric = pd.api.types.is_numeric_dtype(self.known[name])
        if not numeric:
            values = self._levels(name)
        elif len(self._flag(name)):
            values = self._flag(name).tolist()
        else:
            values = self._numbers(name, own)
        direction = self.directions.get(name)
        if direction is not None:
            order = list(self.known[name].cat.categories) if not numeric else None
            if pd.isna(own) or (order is not None and own not in order):
                return [own]
            place = float if order is None else order.index
            sign = 1 if direction == "increase" else -1
            values = [v for v in values if sign * (place(v) - place(own)) > 0]
        return [own, *(v for v in values if v != own)]

    def _levels(self, name):
        seen = list(self.known[name].dropna().unique())
        return seen if self.ranges == "any" else list(self.ranges.get(name, seen))

    def _numbers(self, name, own):
        low, high = self.known[name].min(), self.known[name].max()
        if self.ranges == "any":
            low, high = -12, 12  # enough for these tables
        elif name in self.ranges:
            low, high = self.ranges[name]
        elif not pd.isna(own):
            low, high = min(low, own), max(high, own)
        if name in self.grids:
            return [v for v in self.grids[name](own, low, high) if low <= v <= high]
        return np.arange(np.ceil(low), np.floor(high) + 1).tolist()


def _column(values, dtype):
    if isinstance(dtype, pd.CategoricalDtype):
        return pd.Categorical(values, dtype=dtype)
    return pd.array(values, dtype=dtype)
