"""Base of the counterfactual methods: targets, actionability, confirmed answers."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import KW_ONLY, dataclass, replace
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
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

if TYPE_CHECKING:
    from sklearn_interpret._model.rows.base import Rows


@dataclass(frozen=True)
class SearchResult:
    """The result of a search for one row.

    Parameters
    ----------
    values : ndarray of shape (n_found, n_columns)
        Encoded rows, as `Actionability` has them.
    reason : str, default=""
        Why there are no rows, or fewer than asked for.
    lower_bound : float, default=0.0
        No row that satisfies the target is nearer; infinite if no row can satisfy it.
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

    def _make_response(self) -> Any:
        return TargetOutcome.of_model(self.estimator_, self.desired, self.target)

    def _make_actionability(
        self, rows: Rows, weights: NDArray[np.float64]
    ) -> Actionability:
        """The constraints on changes, from the parameters."""
        names, named = rows.names, rows.named
        categorical = resolve_categorical(self.categorical_features, rows)
        permits_any_value = self.permitted_range == "any"
        ranges, directions = (
            resolve_keys(features, names, named=named, parameter=parameter)
            for parameter, features in (
                ("permitted_range", {} if permits_any_value else self.permitted_range),
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
        ranges = _check_ranges(ranges, rows, categorical)
        _check_directions(directions, rows, categorical)
        has_no_range = ~np.isin(np.arange(rows.n_columns), list(ranges))
        are_numbers = has_no_range & ~categorical
        are_numbers &= [rows.dates(j) is None for j in range(rows.n_columns)]
        if isinstance(steps, Mapping):
            are_numbers[list(steps)] = False
        successive, not_successive = _two_valued_columns(rows, weights > 0, are_numbers)
        return Actionability(
            rows,
            weights,
            categorical=categorical | not_successive,
            vary=self._columns_to_vary(rows),
            ranges=ranges,
            directions=directions,
            distance=distance,
            within_data=successive if permits_any_value else has_no_range,
            two_valued=successive,
            steps=steps,
        )

    @abstractmethod
    def _search(
        self, problem: SearchProblem, index: NDArray[np.intp]
    ) -> Iterable[SearchResult]:
        """The result of each row at `index` of a problem, which all miss the target."""

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
        results = self._search_problem(problem)
        values, origin = _join_rows(results)
        asked = problem.asked(values, origin)
        is_confirmed = problem.fulfilled[origin]
        if not is_confirmed.all():
            is_confirmed |= asked.holds(problem.classes_of(origin))
        if not is_confirmed.all():
            results = _drop_unconfirmed(results, is_confirmed)
            values, origin = _join_rows(results)
            asked = problem.asked(values, origin)
        status = np.array(["found"] * rows.n_rows, dtype=object)
        for row, result in enumerate(results):
            if not len(result.values):
                is_impossible = np.isinf(result.lower_bound)
                status[row] = "impossible" if is_impossible else "failed"
        status[problem.fulfilled] = "unchanged"
        reasons = [result.reason for result in results]
        warn_of_failures(status, reasons)
        return self._explanation(
            problem,
            values,
            origin,
            asked,
            valid=np.ones(len(origin), dtype=bool),
            status=status,
            reasons=reasons,
            **self._proofs(results, problem),
        )

    def _proofs(
        self, results: list[SearchResult], problem: SearchProblem
    ) -> dict[str, NDArray[Any]]:
        """Further fields of the explanation, of methods that prove something."""
        return {}

    def _search_problem(self, problem: SearchProblem) -> list[SearchResult]:
        """The result of each row of a problem, with the rows found, nearest first."""
        results = [SearchResult(values[None]) for values in problem.values]
        index = np.flatnonzero(~problem.fulfilled)
        if len(index):
            for row, result in zip(index, self._search(problem, index), strict=True):
                values = result.values
                origins = np.repeat(problem.values[[row]], len(values), axis=0)
                order = np.argsort(self._sort_keys(values, origins), kind="stable")
                results[row] = replace(result, values=values[order])
        return results

    def _sort_keys(
        self, values: NDArray[np.float64], origins: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Keys by which the rows found for a row are sorted."""
        return self._actionability.distances(values, origins)


def _join_rows(
    results: list[SearchResult],
) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Encoded rows that all searches found, and the explained row of each."""
    n_found = [len(result.values) for result in results]
    origin = np.repeat(np.arange(len(results)), n_found)
    return np.concatenate([result.values for result in results]), origin


def _drop_unconfirmed(
    results: list[SearchResult], holds: NDArray[np.bool_]
) -> list[SearchResult]:
    """Results without the rows for which the model's own answer misses the target."""
    ends = np.cumsum([len(result.values) for result in results])
    confirmed = []
    for result, mask in zip(results, np.split(holds, ends[:-1]), strict=True):
        reason = result.reason
        if len(mask) and not mask.any():
            reason = "the model answers otherwise when it is asked about the row found"
        confirmed.append(replace(result, values=result.values[mask], reason=reason))
    return confirmed


def _two_valued_columns(
    rows: Rows, counted: NDArray[np.bool_], columns: NDArray[np.bool_]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Masks of columns that hold two whole numbers: successive, and not successive."""
    successive, not_successive = np.zeros((2, rows.n_columns), dtype=bool)
    for j in np.flatnonzero(columns).tolist():
        values = rows.numbers(j)[counted]
        values = np.unique(values[~np.isnan(values)])
        if len(values) == 2 and (np.abs(values) < LARGEST_INTEGER).all():
            are_whole = (values == np.rint(values)).all()
            successive[j] = are_whole and values[1] == values[0] + 1
            not_successive[j] = are_whole and not successive[j]
    return successive, not_successive


def _check_costs(costs: Any, names: Any) -> None:
    for j, cost in costs.items():
        # Beyond 1e-100 and 1e100, sums and ratios of costs overflow.
        if not (isinstance(cost, Real) and 1e-100 <= float(cost) <= 1e100):
            raise ValueError(
                f"distance has the cost {cost!r} of {names[j]!r}; positive numbers, "
                "from 1e-100 to 1e100, are accepted."
            )


def _check_steps(steps: Any, rows: Rows, categorical: NDArray[np.bool_]) -> None:
    for j, step in steps.items():
        is_whole = rows.is_integer(j)
        valid = isinstance(step, Real) and 1e-22 <= float(step) <= 1e22
        if categorical[j] or not valid or (is_whole and step != np.rint(step)):
            kinds = "levels" if categorical[j] else "whole numbers" if is_whole else ""
            raise ValueError(
                f"steps has {step!r} for {rows.names[j]!r}"
                + (f", a feature of {kinds}" if kinds else "")
                + "; positive numbers from 1e-22 to 1e22 are accepted for numbers, "
                "whole ones for whole numbers."
            )


def _check_ranges(
    ranges: dict[Any, Any], rows: Rows, categorical: NDArray[np.bool_]
) -> dict[Any, Any]:
    """Valid ranges: levels of categories, the lowest and highest of other numbers."""
    checked = dict(ranges)
    for j, limits in ranges.items():
        if categorical[j]:
            _check_levels(limits, rows, j)
        else:
            checked[j] = checked_limits(limits, rows, j, "permitted_range")
    return checked


def _check_levels(levels: Any, rows: Rows, j: int) -> None:
    if isinstance(levels, str) or not hasattr(levels, "__iter__"):
        raise ValueError(
            f"permitted_range has {levels!r} for {rows.names[j]!r}; a list of its "
            "levels is accepted."
        )
    own_levels = rows.encode_column(j)[1]
    keys = set(map(label_key, own_levels))
    for level in levels:
        if label_key(level) not in keys:
            raise ValueError(
                f"permitted_range has the unknown level {level!r} of "
                f"{rows.names[j]!r}; {near_names(level, own_levels, 'known levels:')}"
            )


def _check_directions(
    directions: dict[Any, Any], rows: Rows, categorical: NDArray[np.bool_]
) -> None:
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
