"""All rows that a row may become, one by one, and random tables small enough for that.

Numbers are whole ones, tenths and halves. The rows to explain have values that `fit`
did not have: levels, numbers between these or beyond the range, missing ones.
"""

from dataclasses import dataclass
from itertools import product

import numpy as np
import pandas as pd
from sklearn.base import is_classifier
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    ExtraTreesClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

MODELS = {
    "linear": [LogisticRegression(C=100.0), RidgeClassifier(), LinearRegression()],
    "tree": [
        DecisionTreeClassifier(max_depth=4, random_state=0),
        DecisionTreeRegressor(max_depth=3, random_state=0),
    ],
    "forest": [
        RandomForestClassifier(4, random_state=0),
        RandomForestRegressor(3, max_depth=3, random_state=0),
        ExtraTreesClassifier(3, random_state=0),
        HistGradientBoostingClassifier(max_iter=3, min_samples_leaf=1),
    ],
}
_N_ROWS = 12
_COLUMNS = {
    "flag": lambda rng: np.r_[0.0, 1.0, rng.integers(0, 2, _N_ROWS - 2)],
    "sign": lambda rng: rng.choice([-1, 1], _N_ROWS),
    "whole": lambda rng: rng.integers(-2, 3, _N_ROWS),
    "few": lambda rng: rng.choice([0, 2, 3], _N_ROWS),
    "tenths": lambda rng: np.r_[0.1, rng.integers(0, 6, _N_ROWS - 1) / 10],
    "halves": lambda rng: np.r_[0.5, rng.integers(-2, 3, _N_ROWS - 1) / 2],
    "level": lambda rng: pd.Categorical(rng.choice(list("ab"), _N_ROWS), list("abc")),
    "size": lambda rng: pd.Categorical(
        rng.choice(list("abc"), _N_ROWS), list("abcd"), ordered=True
    ),
}
# Numbers of steps in a unit.
_STEPS_IN_ONE = {"tenths": 10, "halves": 2}
# Where ranges are lifted, numbers are looked at up to this size.
_FAR = 9


@dataclass
class SmallProblem:
    """A fitted model, its table, rows to explain, and parameters of a search.

    `found_by` compares what a search finds with `every_row`.
    """

    model: object
    known: pd.DataFrame
    rows: pd.DataFrame
    limits: dict
    constraints: list
    steps_in_one: dict

    @classmethod
    def drawn(cls, rng, kind):
        """A random problem for a kind of model."""
        names = rng.choice(list(_COLUMNS), rng.integers(1, 5))
        known = pd.DataFrame({f"x{j}": _COLUMNS[k](rng) for j, k in enumerate(names)})
        for name in known:
            # Whole numbers with gaps would be floats.
            if known[name].dtype.kind != "i" and rng.random() < 0.25:
                known.loc[2:4, name] = None
        model = _fitted(rng, known, kind)
        limits = _limits(rng, known, model)
        in_one = {f"x{j}": _STEPS_IN_ONE.get(k, 1) for j, k in enumerate(names)}
        # Halves are taken for tenths, unless this is said.
        limits["steps"] = {name: 0.5 for name, n in in_one.items() if n == 2}
        constraints = []
        numbers = [n for n in known if _is_number(known, n, limits)]
        for _ in range(rng.integers(0, 3) if numbers and rng.random() < 0.4 else 0):
            some = rng.choice(numbers, rng.integers(1, len(numbers) + 1), replace=False)
            constraint = {str(name): float(rng.choice([-1, 1, 2])) for name in some}
            constraints.append((constraint, float(rng.integers(-3, 5))))
        rows = _odd_rows(rng, known, in_one)
        return cls(model, known, rows, limits, constraints, in_one)

    def holds(self, rows, own):
        """Whether the answers to rows satisfy the target."""
        desired, answers = self.limits["desired"], self.model.predict(rows)
        if desired == "other":
            return answers != own
        if not isinstance(desired, tuple):
            return answers == desired
        high = np.inf if desired[1] is None else desired[1]
        return (answers >= desired[0]) & (answers <= high)

    def every_row(self, row):
        """Rows that a frame of one row may become; distances; numbers of changes."""
        own = {name: row[name].iloc[0] for name in self.known}
        values = {name: self._values(name, value) for name, value in own.items()}
        places = np.array(list(product(*(range(len(v)) for v in values.values()))))
        rows, costs = {}, np.zeros(places.shape)
        for j, (name, column) in enumerate(values.items()):
            rows[name] = pd.array([column[k] for k in places[:, j]], row[name].dtype)
            price = np.array([self._cost(name, own[name], value) for value in column])
            costs[:, j] = price[places[:, j]]
        rows, n_changed = pd.DataFrame(rows), (costs > 0).sum(axis=1)
        possible = n_changed <= (self.limits["max_changes"] or np.inf)
        for coefficients, bound in self.constraints:
            total = rows[list(coefficients)].to_numpy(float) @ [*coefficients.values()]
            possible &= total <= bound + 1e-9
        return rows[possible], costs.sum(axis=1)[possible], n_changed[possible]

    def _cost(self, name, own, value):
        price = self.limits["distance"][name]
        if value is own or value == own:
            return 0.0
        if pd.isna(own) or not _is_number(self.known, name, self.limits):
            return price
        return price * abs(value - own)

    def _values(self, name, own):
        """The own value, and the others that a column may take."""
        if name not in self.limits["features_to_vary"]:
            return [own]
        column, ranges = self.known[name], self.limits["permitted_range"]
        limited, n = ranges != "any" and name in ranges, self.steps_in_one[name]
        if column.dtype.kind not in "if":
            seen = [level for level in column.cat.categories if (column == level).any()]
            values = ranges[name] if limited else seen
        elif not limited and column.nunique() == 2 and not column.mod(1).any():
            values = sorted(column.dropna().unique().tolist())
        else:
            low, high = column.min(), column.max()
            if limited:
                low, high = ranges[name]
            elif ranges == "any":
                low, high = -_FAR / n, _FAR / n
            elif not pd.isna(own):
                low, high = min(low, own), max(high, own)
            low, high = np.ceil(low * n - 1e-9), np.floor(high * n + 1e-9)
            values = (np.arange(low, high + 1) / n + 0.0).tolist()
        direction = (self.limits["direction"] or {}).get(name)
        if direction is not None:
            order = column.cat.categories.get_loc if column.dtype.kind == "O" else float
            sign = 1 if direction == "increase" else -1
            values = [
                value
                for value in values
                if not pd.isna(own) and sign * (order(value) - order(own)) > 0
            ]
        return [own, *(value for value in values if value != own)]

    def _is_far(self, rows):
        return any(
            (np.abs(rows[name].to_numpy(float)) * n > _FAR).any()
            for name, n in self.steps_in_one.items()
            if rows[name].dtype.kind in "if"
        )

    def found_by(self, inspector):
        """Compare the rows that a fitted search finds with all possible ones.

        Yields
        ------
        row : int
            Position of the explained row.
        found : RowExplanation
            What the search found for it.
        is_possible : bool
            Whether the row found is among the possible ones that satisfy the target;
            true of no row.
        least : (float, int, float)
            The least distance of these; their fewest changes, and the least distance of
            those with as few. Infinite where there is none.
        """
        for i in range(len(self.rows)):
            row = self.rows[i : i + 1]
            own = self.model.predict(row)
            if self.holds(row, own)[0]:
                continue
            found = inspector.explain(row)
            rows, distances, n_changed = self.every_row(row)
            on_target = np.zeros(0, dtype=bool)
            if len(rows):
                on_target = self.holds(rows, own)
            rows, distances, n_changed = (
                part[on_target] for part in (rows, distances, n_changed)
            )
            if self.limits["permitted_range"] == "any" and self._is_far(found.rows):
                continue
            least = np.inf, np.inf, np.inf
            if len(rows):
                few = n_changed == n_changed.min()
                least = distances.min(), n_changed.min(), distances[few].min()
            elif self.limits["permitted_range"] == "any":
                continue  # there may be rows farther away
            possible = set(map(_as_text, rows.itertuples(index=False)))
            there = map(_as_text, found.rows.itertuples(index=False))
            yield i, found, possible.issuperset(there), least


def _as_text(row):
    return tuple("missing" if pd.isna(value) else str(value) for value in row)


def _is_number(known, name, limits):
    """Whether a column has an order and units: two numbers apart are levels."""
    column, ranges = known[name], limits["permitted_range"]
    values = np.unique(column.dropna()) if column.dtype.kind in "if" else []
    limited = ranges != "any" and name in ranges
    levels = len(values) == 2 and values[1] - values[0] != 1 and not limited
    levels = levels and not np.mod(values, 1).any()
    return column.dtype.kind in "if" and not levels


def _fitted(rng, known, kind):
    """A model of a kind on random targets."""
    levels = [name for name in known if known[name].dtype.kind not in "if"]
    fill = SimpleImputer(keep_empty_features=True)
    encoder = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), levels),
        remainder=fill if kind == "linear" else "passthrough",
        sparse_threshold=0,
    )
    model = MODELS[kind][rng.integers(len(MODELS[kind]))]
    y = rng.integers(0, rng.choice([2, 3]), _N_ROWS)
    y[:2] = 0, 1
    return make_pipeline(encoder, model).fit(known, y)


def _limits(rng, known, model):
    """Parameters that all searches have."""
    names = list(known)
    limits = {
        "distance": {name: float(rng.choice([0.5, 1, 2])) for name in names},
        "features_to_vary": [n for n in names if rng.random() < 0.85] or names[:1],
        "permitted_range": {},
        "direction": None,
        "max_changes": [None, None, 1, 2][rng.integers(4)],
    }
    if rng.random() < 0.2:
        limits["permitted_range"] = "any"
    else:
        for name in names:
            if rng.random() < 0.3 and known[name].dtype.kind != "f":
                limits["permitted_range"][name] = _permitted(rng, known[name])
    ordered = [
        name
        for name in names
        if _is_number(known, name, limits) or getattr(known[name].dtype, "ordered", 0)
    ]
    if rng.random() < 0.3 and ordered:
        ways = "increase", "decrease"
        limits["direction"] = {n: ways[rng.integers(2)] for n in ordered[:2]}
    if is_classifier(model):
        limits["desired"] = ["other", *model.classes_.tolist()][rng.integers(3)]
    else:
        # Responses to many rows at once may differ from those to one by rounding.
        low = float(rng.choice(model.predict(known))) - 1e-6
        limits["desired"] = low, None if rng.random() < 0.5 else low + 0.5
    return limits


def _permitted(rng, column):
    """A range of numbers, or some of the levels."""
    if column.dtype.kind not in "if":
        seen = [level for level in column.cat.categories if (column == level).any()]
        return [level for level in seen if rng.random() < 0.6] or seen[:1]
    low = float(rng.choice([-3, -1, 0, 1]))
    return low, low + float(rng.choice([0, 1, 2, 3.5]))


def _odd_rows(rng, known, steps_in_one):
    """Rows of a table, some of their values exchanged for those that it has not."""
    rows = known.iloc[rng.integers(_N_ROWS, size=3)].reset_index(drop=True)
    numbers = [name for name in known if known[name].dtype.kind in "if"]
    rows = rows.astype(dict.fromkeys(numbers, float))
    for name in known:
        odd = [None, known[name].cat.categories[-1]] if name not in numbers else []
        whole = steps_in_one[name] == 1
        more = [1.5, -4.0, 4.0, 6.5] if whole else [0.25, 0.3001, -0.8, 0.9, 1.04]
        odd = odd or [np.nan, 0.5, -0.5, *more]
        for i in np.flatnonzero(rng.random(len(rows)) < 0.5).tolist():
            rows.loc[i, name] = odd[rng.integers(len(odd))]
    return rows
