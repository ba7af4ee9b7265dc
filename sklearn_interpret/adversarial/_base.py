"""Base of the attacks: actionability, targets, confirmed answers, robust scores."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_consistent_length
from sklearn.utils.validation import check_is_fitted, column_or_1d

from sklearn_interpret._core.search.norm_balls import NORMS, farthest
from sklearn_interpret._inspectors.row_search import (
    BaseRowSearch,
    checked_limits,
    warn_of_failures,
)
from sklearn_interpret._model._sklearn_compat import (
    Interval,
    StrOptions,
    check_sample_weight,
)
from sklearn_interpret._model.actions.actionability import (
    Actionability,
    blocks_of_numbers,
    lowest_and_highest,
)
from sklearn_interpret._model.actions.problem import SearchProblem
from sklearn_interpret._model.actions.target import TargetOutcome
from sklearn_interpret._model.gradients.margins import Margins
from sklearn_interpret._model.parallel import batch_rows
from sklearn_interpret._model.progress import shows_progress, with_progress
from sklearn_interpret._model.responses.predictors import (
    check_has_classes,
    is_classifier,
)
from sklearn_interpret._model.responses.response import make_response
from sklearn_interpret._model.rows.features import resolve_keys, shortened
from sklearn_interpret._model.rows.validation import empty_for_no_rows
from sklearn_interpret.explanations import RowExplanation

if TYPE_CHECKING:
    from sklearn_interpret._model.rows.base import Rows
    from sklearn_interpret._model.rows.sample import Sample

# Number of sizes of a curve if the user gives no sizes.
_N_SIZES = 11


@dataclass(frozen=True)
class AttackResult:
    """The row that an attack ends with, for each of some rows.

    Parameters
    ----------
    values : ndarray of shape (n_rows, n_columns)
        Encoded rows, as `Actionability` has them.
    lower_bounds : ndarray of shape (n_rows,), default=None
        No row that satisfies the target is nearer.
    """

    values: np.ndarray
    lower_bounds: np.ndarray | None = None


class BaseAttack(BaseRowSearch):
    """Base of the attacks.

    A subclass gets ready in `fit` (`_fit_search`) and attacks rows (`_attack`).
    """

    # Parameters or properties of each subclass.
    desired: Any
    target: Any
    units: str
    norm: Any
    bounds: Any

    _for_any_model = "HopSkipJump takes any model, MinimalPerturbation also trees."

    _parameter_constraints = {
        **BaseRowSearch._parameter_constraints,
        "desired": [tuple, list, None],
        "bounds": [tuple, list, dict, None],
        "norm": [StrOptions(set(NORMS))],
        "units": [StrOptions({"std", "raw"})],
    }

    # The parameter that limits changes; None for the nearest row at any distance.
    _budget: str | None = "epsilon"

    def _make_response(self) -> Any:
        model, target = self.estimator_, self.target
        if not is_classifier(model):
            return TargetOutcome.of_model(model, self.desired, target)
        if self.desired is not None:
            raise ValueError(
                f"desired={self.desired!r} is an interval of a regressor's "
                f"predictions, and {type(model).__name__} is a classifier: pass the "
                "class to be reached as target, or None for any other."
            )
        methods = ["decision_function", "predict_proba", "predict"]
        response = make_response(model, methods)
        if not isinstance(response.classes, np.ndarray):
            check_has_classes(model)
            raise ValueError("Attacks need a model of one set of classes.")
        target_position: Any = None
        if target is not None:
            target_position = make_response(model, methods, target).target
        return TargetOutcome(model, response, wanted=target_position)

    def _make_actionability(
        self, rows: Rows, weights: NDArray[np.float64]
    ) -> Actionability:
        categorical = np.zeros(rows.n_columns, dtype=bool)
        categorical[list(rows.detected_categorical)] = True
        return Actionability(
            rows,
            weights,
            categorical=categorical,
            vary=self._columns_to_vary(rows) & ~categorical,
            ranges=self._ranges(rows, categorical),
            directions={},
            distance=self.units,
            norm=float(self.norm),
            missing_stays=True,
        )

    def _ranges(
        self, rows: Rows, categorical: NDArray[np.bool_]
    ) -> dict[int, tuple[float, float]]:
        """Lowest and highest values of columns of numbers: of the data, or `bounds`."""
        ranges: dict[int, tuple[float, float]] = {}
        for columns, values in blocks_of_numbers(rows, categorical):
            low, high = lowest_and_highest(values)
            without_number = low > high
            low[without_number] = high[without_number] = 0.0
            limits = zip(low.tolist(), high.tolist(), strict=True)
            ranges.update(zip(columns.tolist(), limits, strict=True))
        if self.bounds is None:
            return ranges
        if isinstance(self.bounds, Mapping):
            bounds = resolve_keys(
                self.bounds, rows.names, named=rows.named, parameter="bounds"
            )
        else:
            bounds = _bounds_by_column(self.bounds, rows.n_columns)
            # Numbers are no bounds of dates, which stay within the data.
            bounds = {
                j: bound_pair
                for j, bound_pair in bounds.items()
                if rows.dates(j) is None
            }
        for j, limits in bounds.items():
            if j in ranges:
                ranges[j] = checked_limits(limits, rows, j, "bounds")
        return ranges

    @abstractmethod
    def _attack(self, problem: SearchProblem, index: NDArray[np.intp]) -> AttackResult:
        """The result for rows at `index` of a problem, which all miss the target."""

    def _n_asked_per_row(self) -> int:
        """Number of rows in one call of the model, per attacked row."""
        return 1

    @empty_for_no_rows
    @shows_progress
    def explain(self, X: Any, y: ArrayLike | None = None) -> RowExplanation:
        """Attack rows.

        Parameters
        ----------
        X : {array-like, DataFrame} of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,), default=None
            True classes, which the model is to be led away from; None takes its own
            predictions. Not used where a class or an interval is to be reached.

        Returns
        -------
        RowExplanation
            One row for each: as the attack leaves it, `valid` where it succeeded.
            Rows that satisfy the target already are returned as they are.

        Warns
        -----
        NoCounterfactualWarning
            An attack that searches at any distance found nothing for some row.
        """
        check_is_fitted(self)
        rows = self._check_rows(X, reset=False)
        problem = self._make_problem(rows, y)
        explanation = self._make_explanation(problem, self._attack_all(problem))
        if self._budget is None:
            warn_of_failures(explanation.status, explanation.reasons.tolist())
        return explanation

    def _make_problem(self, rows: Rows, y: ArrayLike | None) -> SearchProblem:
        """The problem of some rows, whose true classes may be given."""
        classes = None
        if y is not None and self._outcome.is_other:
            check_consistent_length(rows.native, y)
            model_classes: Any = self._outcome.response.classes
            labels = column_or_1d(y)
            classes = np.searchsorted(model_classes, labels)
            last = len(model_classes) - 1
            is_class = model_classes[np.minimum(classes, last)] == labels
            if not is_class.all():
                unknown = np.unique(labels[~is_class]).tolist()
                raise ValueError(
                    f"y has the labels {shortened(unknown)}, which are no classes of "
                    f"the model; its classes are {shortened(model_classes.tolist())}."
                )
        return SearchProblem(self._outcome, self._actionability, rows, classes)

    def _attack_all(self, problem: SearchProblem) -> AttackResult:
        """The result for all rows, which workers attack in blocks."""
        index = np.flatnonzero(~problem.fulfilled)
        values = problem.values.copy()
        bounds = None
        block_size = batch_rows(problem.rows.row_bytes * self._n_asked_per_row())
        for block, result in self._in_blocks(self._attack, problem, index, block_size):
            values[block] = result.values
            if result.lower_bounds is not None:
                bounds = np.zeros(len(values)) if bounds is None else bounds
                bounds[block] = result.lower_bounds
        return AttackResult(values, bounds)

    def _make_explanation(
        self, problem: SearchProblem, result: AttackResult
    ) -> RowExplanation:
        """The explanation, with the model's answers to the rows themselves."""
        origin = np.arange(problem.rows.n_rows)
        answers = problem.asked(result.values, origin)
        valid = answers.holds(problem.classes)
        status = np.where(valid, "found", "failed").astype(object)
        proofs = {}
        if result.lower_bounds is not None:
            status[~valid & np.isinf(result.lower_bounds)] = "impossible"
            proofs["lower_bounds"] = result.lower_bounds
        status[problem.fulfilled] = "unchanged"
        reasons = np.full(len(status), "", dtype=object)
        failed = np.flatnonzero(~valid)
        if len(failed):
            margins_before = problem.originals.margins(problem.classes)[failed]
            margins_after = answers.margins(problem.classes)[failed]
            reasons[failed] = [
                f"{self._why_failed()}; the margin went from {-old:.3g} to {-new:.3g}"
                for old, new in zip(margins_before, margins_after, strict=True)
            ]
        return self._explanation(
            problem,
            result.values,
            origin,
            answers,
            valid=valid,
            status=status,
            reasons=reasons,
            **proofs,
        )

    def _why_failed(self) -> str:
        """Why an attack failed, in words."""
        return "the model's answer does not satisfy the target"

    @shows_progress
    def robust_score(
        self, X: Any, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> float:
        """Share of rows that the model answers rightly, and still does when attacked.

        Parameters
        ----------
        X : {array-like, DataFrame} of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,), default=None
            True classes; None takes the model's own predictions. Not used of
            regressors, where rows count that the attack does not bring into the
            interval: also those that are there without it.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.

        Returns
        -------
        float
            Accuracy under attack.
        """
        _, (score,) = self._sizes_and_scores(X, y, [None], sample_weight)
        return float(score)

    @shows_progress
    def robustness_curve(
        self,
        X: Any,
        y: ArrayLike | None = None,
        *,
        sizes: ArrayLike,
        sample_weight: ArrayLike | None = None,
    ) -> NDArray[np.float64]:
        """Robust scores where perturbations are limited to some sizes.

        Parameters
        ----------
        X : {array-like, DataFrame} of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,), default=None
            True classes, as of :meth:`robust_score`.
        sizes : array-like of shape (n_sizes,)
            Sizes of perturbations in the units and the norm of the attack; zero is the
            accuracy without one. They take the place of `epsilon`, or of `n_pixels`.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.

        Returns
        -------
        ndarray of shape (n_sizes,)
            Accuracy under attack at each size.

        Raises
        ------
        ValueError
            Sizes that are negative, NaN or no numbers.
        """
        limits = column_or_1d(sizes, dtype=np.float64)
        if not (limits >= 0).all():
            raise ValueError(
                f"sizes={limits.tolist()!r} must hold numbers that are not negative."
            )
        _, scores = self._sizes_and_scores(X, y, limits.tolist(), sample_weight)
        return scores

    def _sizes_and_scores(
        self,
        X: Any,
        y: ArrayLike | None,
        sizes: Sequence[float | None] | None,
        sample_weight: ArrayLike | None,
    ) -> tuple[Sequence[float | None], NDArray[np.float64]]:
        """Sizes of perturbations and robust scores under attacks of each.

        A size of None is the attack's own. Without sizes the curve goes up to twice the
        budget, or has the distances at which the score of a search falls.
        """
        check_is_fitted(self)
        problem = self._make_problem(self._check_rows(X, reset=False), y)
        is_right = np.ones(problem.rows.n_rows, dtype=bool)
        if y is not None and is_classifier(self.estimator_):
            labels = self._outcome.response.labels(problem.rows.native)
            is_right = labels == column_or_1d(y)

        if self._budget is None:
            losing_distances = self._losing_distances(problem)
            if sizes is None:
                distances = losing_distances[is_right & np.isfinite(losing_distances)]
                sizes = np.unique(np.append(distances, 0.0)).tolist()
            limits = [np.finfo(float).max if size is None else size for size in sizes]
            masks = [is_right & (losing_distances > limit) for limit in limits]
        else:
            if sizes is None:
                sizes = self._default_sizes(self._budget).tolist()
            masks = self._withstanding_rows(problem, is_right, sizes)
        weights = None
        if sample_weight is not None:
            weights = check_sample_weight(sample_weight, is_right)
        scores = [np.average(mask, weights=weights) for mask in masks]
        return sizes, np.array(scores)

    def _losing_distances(self, problem: SearchProblem) -> NDArray[np.float64]:
        """Distance of the row that a search finds for each row; infinite if none is."""
        index, values = np.arange(problem.rows.n_rows), self._attack_all(problem).values
        is_lost = problem.holds(values, index) & ~problem.fulfilled
        return np.where(is_lost, problem.distances(values, index), np.inf)

    def _withstanding_rows(
        self,
        problem: SearchProblem,
        is_right: NDArray[np.bool_],
        sizes: Sequence[float | None],
    ) -> list[NDArray[np.bool_]]:
        """Masks of rows that are answered rightly under attacks up to each size."""
        masks = [is_right] * len(sizes)
        for i in with_progress(
            np.argsort([size or 0 for size in sizes], kind="stable")
        ):
            is_right = is_right & self._withstands_size(problem, sizes[i])
            masks[i] = is_right
        return masks

    def _default_sizes(self, budget: str) -> NDArray[np.float64]:
        """Sizes of a curve if the user gives no sizes, of attacks with a budget."""
        largest = 2 * getattr(self, budget)
        if budget != "epsilon":  # a count
            return np.arange(largest + 1)
        return np.linspace(0, largest, _N_SIZES)

    def _with_size(self, size: float) -> BaseAttack:
        """The same attack with another budget."""
        attack = copy(self)
        setattr(attack, str(self._budget), size)
        return attack

    def _withstands_size(
        self, problem: SearchProblem, size: float | None
    ) -> NDArray[np.bool_]:
        """Mask of rows that an attack of some size does not bring to the target."""
        index, attack = np.arange(problem.rows.n_rows), self
        if size == 0:
            return np.ones(len(index), dtype=bool)
        if size is not None:
            attack = self._with_size(size)
        values = attack._attack_all(problem).values
        return ~problem.holds(values, index) | problem.fulfilled


class Budget:
    """The norm ball and the box of some rows of a problem, in units of their columns.

    Parameters
    ----------
    problem : SearchProblem
        The rows.
    index : ndarray of shape (n,), int
        Positions of the rows.
    epsilon : float
        The largest norm.
    """

    def __init__(
        self, problem: SearchProblem, index: NDArray[np.intp], epsilon: float
    ) -> None:
        self.problem, self.index, self.epsilon = problem, index, float(epsilon)
        self.actionability = problem.actionability
        self.norm = self.actionability.norm
        self.origins = problem.values[index]
        limits = self.actionability.limits(self.origins)
        step_limits = [
            (limit - self.origins) * self.actionability.costs for limit in limits
        ]
        lowest, highest = self.actionability.permitted_limits(self.origins)
        outside = np.maximum(lowest - self.origins, self.origins - highest)
        # Missing entries stay, and numbers that lie too far outside of their bounds.
        is_fixed = ~(outside * self.actionability.costs <= self.epsilon)
        self.low, self.high = (
            np.where(is_fixed, 0, step_limit) for step_limit in step_limits
        )

    def take(self, index: NDArray[np.intp]) -> Budget:
        """The budget of some of the rows."""
        budget = copy(self)
        for name in ("index", "origins", "low", "high"):
            setattr(budget, name, getattr(self, name)[index])
        return budget

    def farthest(
        self,
        slopes: NDArray[np.float64],
        radius: NDArray[np.float64] | float,
        steps: NDArray[np.float64] | float = 0.0,
    ) -> NDArray[np.float64]:
        """Steps extended by a norm of `radius` where slopes gain most."""
        low, high = self.low - steps, self.high - steps
        return steps + farthest(slopes, low, high, radius, self.norm)

    def rows_after(self, steps: NDArray[np.float64]) -> NDArray[np.float64]:
        """Encoded rows after some steps, in the ball, with values of their columns."""
        changes = steps / self.actionability.costs
        changes = np.where(self.actionability.integer, np.trunc(changes), changes)
        values = np.where(changes == 0, self.origins, self.origins + changes)
        low, high = self.actionability.permitted_limits(self.origins)
        # Cells that start outside of their bounds stay if the step does not reach them:
        # the projection below would lengthen the step.
        remains_outside = (values < low) & (self.origins < low)
        remains_outside |= (values > high) & (self.origins > high)
        values = np.where(remains_outside, self.origins, values)
        values = self.actionability.projected(values, self.origins)
        if np.isfinite(self.epsilon):
            self._return_to_ball(values, np.abs(changes))
        return values

    def _return_to_ball(
        self, values: NDArray[np.float64], largest_moves: NDArray[np.float64]
    ) -> None:
        """Move rows that rounding took out of the ball back, by the smallest moves."""
        remaining = np.arange(len(values))
        while True:
            origins, moved_rows = self.origins[remaining], values[remaining]
            outside = self.actionability.distances(moved_rows, origins) > self.epsilon
            if not outside.any():
                return
            remaining = remaining[outside]
            origins, moved_rows = origins[outside], moved_rows[outside]
            distance = np.abs(moved_rows - origins)
            moves_back = distance > largest_moves[remaining]
            # If no cell was rounded up, the norm was: real numbers move back first.
            real_numbers = (distance > 0) & ~self.actionability.integer
            for candidates in (real_numbers, distance > 0):
                moves_back |= candidates & ~moves_back.any(axis=1, keepdims=True)
            nearer = self.actionability.step_nearer(moved_rows, origins)
            values[remaining] = np.where(moves_back, nearer, moved_rows)


class BaseGradientAttack(BaseAttack):
    """Base of the attacks along the slopes of a model, within a budget.

    Sets `by_formula_`.
    """

    epsilon: float
    by_formula_: bool

    _parameter_constraints = {
        **BaseAttack._parameter_constraints,
        "epsilon": [Interval(Real, 0, None, closed="neither")],
    }

    def _fit_search(
        self, sample: Sample, outcome: TargetOutcome, actionability: Actionability
    ) -> None:
        self._margins = Margins(SearchProblem(outcome, actionability, sample.rows))
        self.by_formula_ = self._margins.by_formula
        has_integers = (actionability.integer & actionability.vary).any()
        # Margins of a linear model after a step follow from the slopes.
        self._is_linear = self._margins.are_linear and not has_integers

    def _one_step(self, budget: Budget) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
        """Rows after the step of the full size towards the best rival, and that rival.

        The model is asked where margins are not linear and there are several rivals.
        """
        rivals = self._margins.rivals(budget.problem, budget.index)
        n_rows, n_rivals = rivals.shape  # rows, and rivals of each row
        # The rivals of a row follow each other.
        rival_budget = budget.take(np.arange(n_rows).repeat(n_rivals))
        points = budget.problem, rival_budget.origins, rival_budget.index
        slopes = self._margins.slopes(*points, rivals.ravel())
        steps = farthest(
            slopes, rival_budget.low, rival_budget.high, budget.epsilon, budget.norm
        )
        best, rows = np.zeros(n_rows, dtype=np.intp), np.arange(n_rows)
        if n_rivals > 1 and self._is_linear:
            scores = budget.problem.originals.scores[budget.index]
            answers = budget.problem.classes[budget.index]
            margins = self._margins.margins_of_scores(scores, answers)
            gains = np.einsum("ij,ij->i", slopes, steps).reshape(n_rows, n_rivals)
            best = (np.take_along_axis(margins, rivals, axis=1) + gains).argmax(axis=1)
        elif n_rivals > 1:
            best = self._best_rows(
                rival_budget, rival_budget.rows_after(steps), n_rivals
            )
        values = budget.rows_after(steps.reshape(n_rows, n_rivals, -1)[rows, best])
        return values, rivals[rows, best]

    def _best_rows(
        self, budget: Budget, values: NDArray[np.float64], n_candidates: int
    ) -> NDArray[np.intp]:
        """Position of the best of `n_candidates` rows for each attacked row.

        Rows that satisfy the target come first, then rows with the largest margin.
        """
        problem, index = budget.problem, budget.index
        holds = problem.holds(values, index).reshape(-1, n_candidates)
        margins = self._margins.margins_at(problem, values, index)[1].reshape(
            -1, n_candidates
        )
        row_holds = holds.any(axis=1, keepdims=True)
        return np.where(holds == row_holds, margins, -np.inf).argmax(axis=1)

    def _why_failed(self) -> str:
        return f"no row that reaches the target was found within epsilon={self.epsilon}"

    def _n_asked_per_row(self) -> int:
        n_columns = len(self._actionability.vary)
        return self._margins.n_rivals * (1 if self.by_formula_ else 2 * n_columns)


def _bounds_by_column(
    bounds: tuple[Any, ...], n_columns: int
) -> dict[int, tuple[float, float]]:
    """Limits by column, from a pair of numbers, or of arrays with one per column."""
    if len(bounds) != 2:
        raise ValueError(
            f"bounds={bounds!r} must be a pair (low, high), of numbers or of one for "
            "each feature, or a dict of such pairs by feature."
        )
    try:
        limits = [
            np.broadcast_to(np.asarray(limit, float), n_columns) for limit in bounds
        ]
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"bounds={bounds!r} must hold numbers, or one for each of {n_columns} "
            "features."
        ) from error
    return {j: (float(limits[0][j]), float(limits[1][j])) for j in range(n_columns)}
