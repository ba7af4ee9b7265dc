"""Base of the counterfactual methods: targets, actionability, confirmed answers."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, replace
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sklearn_interpret._inspectors.row_search import (
    BaseRowSearch,
    checked_limits,
    warn_of_failures,
)
from sklearn_interpret._model._sklearn_compat import Interval, StrOptions
from sklearn_interpret._model.actions.actionability import (
    LARGEST_INTEGER,
    Actionability,
)
from sklearn_interpret._model.actions.problem import SearchProblem
from sklearn_interpret._model.actions.target import TargetOutcome
from sklearn_interpret._model.progress import shows_progress
from sklearn_interpret._model.rows.base import label_key
from sklearn_interpret._model.rows.features import (
    near_names,
    resolve_categorical,
    resolve_keys,
)
from sklearn_interpret._model.rows.validation import empty_for_no_rows
from sklearn_interpret.explanations import RowExplanation


@dataclass(frozen=True)
class Found:
    """The result of a search for one row.

    Parameters
    ----------
    values : ndarray of shape (n_found, n_columns)
        Encoded rows, as `Actionability` has them.
    reason : str, default=""
        Why there are none, or fewer than asked for.
    lower_bound : float, default=0.0
        No row that satisfies the target is nearer; infinite if none is possible.
    """

    values: np.ndarray
    reason: str = ""
    lower_bound: float = 0.0


@dataclass(eq=False, repr=False)
class BaseCounterfactual(BaseRowSearch):
    """Base of the counterfactual methods.

    A subclass gets ready in `fit` (`_fit_search`) and searches (`_search`).
    """

    estimator: Any
    _: KW_ONLY
    desired: Any = "other"
    target: Any = None
    features_to_vary: Any = None
    permitted_range: dict[Any, Any] | str | None = None
    direction: dict[Any, str] | None = None
    categorical_features: Any = "auto"
    max_changes: int | None = None
    distance: str | dict[Any, float] = "mad"
    n_counterfactuals: int = 1
    steps: dict[Any, float] | str | None = None

    _parameter_constraints = {
        **BaseRowSearch._parameter_constraints,
        "desired": "no_validation",
        "permitted_range": [dict, StrOptions({"any"}), None],
        "direction": [dict, None],
        "categorical_features": "no_validation",
        "max_changes": [Interval(Integral, 1, None, closed="left"), None],
        "distance": [StrOptions({"mad", "std", "gower"}), dict],
        "n_counterfactuals": [Interval(Integral, 1, None, closed="left")],
        "steps": [dict, StrOptions({"exact"}), None],
    }

    def _make_response(self):
        return TargetOutcome.of_model(self.estimator_, self.desired, self.target)

    def _make_actionability(self, rows, weights):
        """The constraints on changes, from the parameters."""
        names, named = rows.names, rows.named
        categorical = resolve_categorical(self.categorical_features, rows)
        anything = self.permitted_range == "any"
        ranges, directions = (
            resolve_keys(given, names, named=named, parameter=parameter)
            for parameter, given in (
                ("permitted_range", {} if anything else self.permitted_range),
                ("direction", self.direction),
            )
        )
        distance = self.distance
        if isinstance(distance, Mapping):
            distance = resolve_keys(distance, names, named=named, parameter="distance")
            _check_costs(distance, names)
        steps = self.steps
        if isinstance(steps, Mapping):
            steps = resolve_keys(steps, names, named=named, parameter="steps")
            _check_steps(steps, rows, categorical)
        ranges = _checked_ranges(ranges, rows, categorical)
        _check_directions(directions, rows, categorical)
        stepped = list(steps) if isinstance(steps, Mapping) else []
        free = ~np.isin(np.arange(rows.n_columns), list(ranges))
        two_valued = free & ~categorical
        two_valued &= [rows.dates(j) is None for j in range(rows.n_columns)]
        two_valued[stepped] = False
        successive, apart = _of_two_values(rows, weights > 0, two_valued)
        return Actionability(
            rows,
            weights,
            categorical=categorical | apart,
            vary=self._varying(rows),
            ranges=ranges,
            directions=directions,
            distance=distance,
            within_data=successive if anything else free,
            two_valued=successive,
            steps=steps,
        )

    @abstractmethod
    def _search(self, problem, index):
        """`Found` of each row at `index` of a problem; none satisfies the target."""

    @empty_for_no_rows
    @shows_progress
    def explain(self, X: Any) -> RowExplanation:
        """Find rows that satisfy the target, near each of some rows.

        Parameters
        ----------
        X : {array-like, DataFrame} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        RowExplanation
            Rows that satisfy the target, the nearest first, and why others have none.

        Warns
        -----
        NoCounterfactualWarning
            Nothing was found for some row.
        """
        check_is_fitted(self)
        rows = self._check_rows(X, reset=False)
        problem = SearchProblem(self._outcome, self._actionability, rows)
        found = self._found(problem)
        values, origin = _rows_of(found)
        asked = problem.asked(values, origin)
        holds = problem.fulfilled[origin]
        if not holds.all():
            holds |= asked.holds(problem.own_of(origin))
        if not holds.all():
            found = _kept(found, holds)
            values, origin = _rows_of(found)
            asked = problem.asked(values, origin)
        status = np.array(["found"] * rows.n_rows, dtype=object)
        for row, of_row in enumerate(found):
            if not len(of_row.values):
                impossible = np.isinf(of_row.lower_bound)
                status[row] = "impossible" if impossible else "failed"
        status[problem.fulfilled] = "unchanged"
        warn_of_failures(status, [f.reason for f in found])
        return self._explanation(
            problem,
            values,
            origin,
            asked,
            valid=np.ones(len(origin), dtype=bool),
            status=status,
            reasons=[f.reason for f in found],
            **self._proofs(found, problem),
        )

    def _proofs(self, found, problem):
        """Further fields of the explanation, of methods that prove something."""
        return {}

    def _found(self, problem):
        """`Found` of all rows, the nearest first."""
        found = [Found(values[None]) for values in problem.values]
        index = np.flatnonzero(~problem.fulfilled)
        if len(index):
            for row, of_row in zip(index, self._search(problem, index), strict=True):
                values = of_row.values
                origins = np.repeat(problem.values[[row]], len(values), axis=0)
                order = np.argsort(self._nearness(values, origins), kind="stable")
                found[row] = replace(of_row, values=values[order])
        return found

    def _nearness(self, values, origins):
        """Keys by which the rows found for a row are sorted."""
        return self._actionability.distances(values, origins)


def _rows_of(found):
    """Encoded rows of the results of all searches, and the rows that they are for."""
    origin = np.repeat(np.arange(len(found)), [len(of_row.values) for of_row in found])
    return np.concatenate([of_row.values for of_row in found]), origin


def _kept(found, holds):
    """The results that are left where some do not hold when the model is asked."""
    ends = np.cumsum([len(of_row.values) for of_row in found])
    kept = []
    for of_row, its in zip(found, np.split(holds, ends[:-1]), strict=True):
        reason = of_row.reason
        if len(its) and not its.any():
            reason = "the model answers otherwise when it is asked about the row found"
        kept.append(replace(of_row, values=of_row.values[its], reason=reason))
    return kept


def _of_two_values(rows, counted, columns):
    """Masks of columns with two whole numbers: successive ones, and others."""
    successive, apart = np.zeros((2, rows.n_columns), dtype=bool)
    for j in np.flatnonzero(columns).tolist():
        values = rows.numbers(j)[counted]
        values = np.unique(values[~np.isnan(values)])
        if len(values) == 2 and (np.abs(values) < LARGEST_INTEGER).all():
            whole = (values == np.rint(values)).all()
            successive[j] = whole and values[1] == values[0] + 1
            apart[j] = whole and not successive[j]
    return successive, apart


def _check_costs(costs, names):
    for j, cost in costs.items():
        # Beyond these limits sums and ratios of costs overflow.
        if not (isinstance(cost, Real) and 1e-100 <= cost <= 1e100):
            raise ValueError(
                f"distance has the cost {cost!r} of {names[j]!r}; positive numbers, "
                "from 1e-100 to 1e100, are accepted."
            )


def _check_steps(steps, rows, categorical):
    for j, step in steps.items():
        whole = rows.is_integer(j)
        valid = isinstance(step, Real) and 1e-22 <= step <= 1e22
        if categorical[j] or not valid or (whole and step != np.rint(step)):
            kinds = "levels" if categorical[j] else "whole numbers" if whole else ""
            raise ValueError(
                f"steps has {step!r} for {rows.names[j]!r}"
                + (f", a feature of {kinds}" if kinds else "")
                + "; positive numbers from 1e-22 to 1e22 are accepted for numbers, "
                "whole ones for whole numbers."
            )


def _checked_ranges(ranges, rows, categorical):
    """Levels of categories; of other features the lowest and the highest number."""
    checked = dict(ranges)
    for j, limits in ranges.items():
        if categorical[j]:
            _check_levels(limits, rows, j)
        else:
            checked[j] = checked_limits(limits, rows, j, "permitted_range")
    return checked


def _check_levels(levels, rows, j):
    if isinstance(levels, str) or not hasattr(levels, "__iter__"):
        raise ValueError(
            f"permitted_range has {levels!r} for {rows.names[j]!r}; a list of its "
            "levels is accepted."
        )
    known = rows.encode_column(j)[1]
    keys = set(map(label_key, known))
    for level in levels:
        if label_key(level) not in keys:
            raise ValueError(
                f"permitted_range has the unknown level {level!r} of "
                f"{rows.names[j]!r}; {near_names(level, known, 'known levels:')}"
            )


def _check_directions(directions, rows, categorical):
    for j, direction in directions.items():
        if direction not in ("increase", "decrease"):
            raise ValueError(
                f"direction has {direction!r} for {rows.names[j]!r}; accepted are "
                "'increase' and 'decrease'."
            )
        if categorical[j] and not rows.is_ordered(j):
            raise ValueError(
                f"direction names {rows.names[j]!r}, whose categories have no order."
            )
