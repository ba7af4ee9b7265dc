"""Counterfactuals by descent to the target (Wachter, Mittelstadt & Russell 2017)."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from numbers import Integral, Real
from typing import TYPE_CHECKING, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from sklearn_interpret._core.search.penalised_descents import penalised_descent
from sklearn_interpret._model._sklearn_compat import Interval, StrOptions
from sklearn_interpret._model.actions.problem import SearchProblem
from sklearn_interpret.counterfactuals._heuristic import (
    BaseHeuristicCounterfactual,
    Candidates,
    nearest_of_each,
)

if TYPE_CHECKING:
    from sklearn_interpret._model.actions.actionability import Actionability
    from sklearn_interpret._model.actions.target import TargetOutcome
    from sklearn_interpret._model.rows.sample import Sample

# Ratio of second to first differences below which a response counts as smooth: it is 1
# at a jump, and falls with the step on a curve. Chosen by hand.
_MAX_CURVATURE = 0.1
# Relative rounding error of differences.
_ROUNDING = 1e-11
# Known rows, and changes of a category, at which descents start besides the row itself:
# each costs as much as the descent of the row. Chosen by hand.
_N_FURTHER_STARTS = 2


class _Differences(NamedTuple):
    """Margins at points and a small step away from them, in each number that varies."""

    margins: NDArray[np.float64]  # (m,)
    below: NDArray[np.float64]  # (m, n_numbers)
    above: NDArray[np.float64]  # (m, n_numbers)
    distances: NDArray[np.float64]  # (m, n_numbers): from below to above


@dataclass(eq=False, repr=False)
class WachterCounterfactual(BaseHeuristicCounterfactual):
    r"""Counterfactuals by descent to the target (Wachter et al.).

    The distance from the explained row is minimised together with the gap between the
    model's answer and the target, whose weight grows until the gap is closed.

    Parameters
    ----------
    estimator : estimator
        Any predictor; a clone of it is fitted. Pass a fitted one as
        ``FrozenEstimator(model)``.
    desired : "other", class label or (low, high), default="other"
        The target outcome: any other class, a class, or an interval of the probability
        of the positive class or of `target`; of a regressor an interval of the
        prediction. None is an open end.
    target : class label or int, default=None
        The class whose probability, or the output of which, `desired` is an interval.
    features_to_vary : list of ints or strs, or bool mask, default=None
        Features that may change; None means all.
    permitted_range : dict, "any" or None, default=None
        The values that features may take: (low, high) of a number or date; levels of
        a category. A value that lies outside may enter, or stay as it is. None, or a
        feature left out, means the values of `fit`: numbers from the lowest to the
        highest, extended to the row's own where that lies beyond; known levels. "any"
        lifts that. A feature with two whole numbers in `fit` takes only these in either
        case. A missing value may be filled, unless its feature has a `direction`.
    direction : dict, default=None
        Which way features may go: "increase" or "decrease".
    categorical_features : "auto", None, or list of ints or strs, default="auto"
        Features without order, or a boolean mask of them; None means none. "auto" takes
        categories, strings and booleans by dtype.
    max_changes : int, default=None
        Largest number of features that may change.
    distance : {"mad", "std", "gower"} or dict, default="mad"
        Changes add up, each in units of its feature's median absolute deviation (the
        standard deviation where that is zero), standard deviation, or range over the
        number of features; a change of a category, or of a missing value, counts as
        one unit. A dict gives the cost of a unit, and leaves "mad" for the others.
    n_counterfactuals : int, default=1
        Number of rows to find. Each is at least half as far from those before it as the
        nearest is from the explained row.
    steps : dict, "exact" or None, default=None
        Steps of numbers: a feature that changes takes a multiple of its step. None, or
        a feature left out, means that of the values of `fit`: 1 where all are whole,
        else the last of their decimals, but not below six significant digits of the
        largest value or a thousandth of the median absolute deviation, whichever is
        finer. "exact" allows all numbers of a column's dtype.
    tolerance : float, default=1e-3
        Margin beyond the bound of the target that the descent aims at, in the unit of
        the response.
    max_iter : int, default=100
        Largest number of steps of a descent.
    method : {"auto", "search"}, default="auto"
        "search" changes one feature after the other to values that it has in `fit`.
        "auto" descends along differences of the response where they look smooth, and
        searches elsewhere, as with trees.
    max_rows : int, default=None
        Largest number of rows that a call sends to the model; an error before says what
        is possible. None is no limit.
    random_state : int, RandomState or None, default=None
        Not used: nothing is random.
    n_jobs : int or None, default=None
        Workers, which share the rows to explain.
    verbose : int or None, default=None
        1 prints the share done and the time left, 0 nothing. None writes one line to
        the standard error of calls that will take more than five seconds.

    Attributes
    ----------
    estimator_ : estimator
        The fitted model.
    method_ : {"differences", "search"}
        How rows are found.
    n_iter_ : int
        Steps of the longest descent from some rows of `fit`, for comparison with
        `max_iter`. Computed on access.
    n_features_in_, feature_names_in_, classes_ : int, ndarray, ndarray
        Number of features; their names, where the columns have any; class labels.

    Raises
    ------
    ValueError
        In `fit`: a target, a range, a direction or a distance that does not fit the
        model or the table.
    TypeError
        In `fit`: a sparse table.

    See Also
    --------
    GrowingSpheres : Draws rows around the explained one.

    Notes
    -----
    Minimised is

    .. math:: \lambda \max(0, y' - f(x'))^2 + d(x, x'),

    where f is the margin of the answer, y' is the `tolerance`, and :math:`\lambda`
    grows until f is not negative. The margin is the score of the target class less the
    best of the others, or the distance to the nearer end of an interval.

    With differences, each step solves this for a linear f: features are changed in the
    order of their slopes in the unit of `distance`, each as long as that pays, within a
    distance that shrinks where f turns out not to be linear. The search takes the
    single change that lowers this most, and raises :math:`\lambda` where none does; in
    most steps it tries only the best changes of an earlier step.

    Near rows of `fit` that satisfy the target are candidates too, with differences also
    the rows that a short search finds; all candidates are refined as by
    :class:`GrowingSpheres`.

    References
    ----------
    Wachter, S., Mittelstadt, B. & Russell, C. (2017). Counterfactual explanations
    without opening the black box: automated decisions and the GDPR. Harvard Journal of
    Law & Technology, 31, 841. https://doi.org/10.48550/arXiv.1711.00399

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn_interpret.counterfactuals import WachterCounterfactual
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> inspector = WachterCounterfactual(
    ...     LogisticRegression(max_iter=1000),
    ...     desired="virginica",
    ...     features_to_vary=["petal length (cm)", "petal width (cm)"],
    ... )
    >>> names = load_iris().target_names
    >>> explanation = inspector.fit(X, names[y]).explain(X[60:61])
    >>> explanation.to_frame()["feature"].tolist()
    ['petal length (cm)']
    >>> inspector.predict(explanation.rows).tolist()
    ['virginica']
    """

    _: KW_ONLY
    tolerance: float = 1e-3
    max_iter: int = 100
    method: str = "auto"
    max_rows: int | None = None
    random_state: int | np.random.RandomState | None = None
    n_jobs: int | None = None
    verbose: int | None = None

    method_: Literal["differences", "search"] = field(init=False)

    _parameter_constraints = {
        **BaseHeuristicCounterfactual._parameter_constraints,
        "tolerance": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "method": [StrOptions({"auto", "search"})],
    }

    _where_searched: ClassVar[str] = "near the rows of fit, nor by descent"

    def _fit_search(
        self, sample: Sample, outcome: TargetOutcome, actionability: Actionability
    ) -> None:
        super()._fit_search(sample, outcome, actionability)
        self._numbers = np.flatnonzero(actionability.movable)
        self._margin_aim = min(self.tolerance, self._margin_aim)
        is_smooth = self.method == "auto" and self._is_smooth(outcome, actionability)
        self.method_ = "differences" if is_smooth else "search"
        if not is_smooth:
            self._max_steps = self.max_iter

    def _is_smooth(self, outcome: TargetOutcome, actionability: Actionability) -> bool:
        """Whether differences of the response show that it is smooth."""
        if not len(self._numbers):
            return False
        problem = SearchProblem(outcome, actionability, self._test_rows)
        index = np.arange(problem.rows.n_rows)
        margins, below, above, _ = self._differences(problem, problem.values, index)
        margins = margins[:, None]
        first_differences = np.abs(above - below)
        second_differences = np.abs(above - 2 * margins + below)
        has_slope = first_differences > _ROUNDING * (1 + np.abs(margins))
        is_straight = second_differences < _MAX_CURVATURE * first_differences
        is_straight &= has_slope
        most_rows_slope = has_slope.any(axis=1).mean() >= 0.5
        return bool(most_rows_slope and is_straight.sum() >= 0.5 * has_slope.sum())

    def _differences(
        self,
        problem: SearchProblem,
        values: NDArray[np.float64],
        index: NDArray[np.intp],
    ) -> _Differences:
        """The model's margins at encoded rows and around them."""
        trials, owner, between = problem.shifted_copies(values, index, self._numbers)
        margins = problem.margins(np.vstack([values, trials]), np.append(index, owner))
        at_values, at_trials = np.split(margins, [len(values)])
        below, above = at_trials.reshape(2, *between.shape)
        distances = between * problem.actionability.costs[self._numbers]
        return _Differences(at_values, below, above, distances)

    def _n_asked_per_row(self) -> int:
        return 2 * (len(self._numbers) + 1) * (_N_FURTHER_STARTS + 2)

    def _find_candidates(
        self, problem: SearchProblem, index: NDArray[np.intp], starts: Candidates
    ) -> Candidates:
        if self.method_ == "search":
            return starts.take(np.arange(0))
        all_starts = self._descent_starts(problem, index, starts)
        values, _ = self._descend(problem, all_starts)
        values = problem.actionability.step_away(
            values, problem.values[all_starts.owner]
        )
        values = problem.projected(values, all_starts.owner)
        return Candidates(values, all_starts.owner).on_target(problem)

    @property
    def n_iter_(self) -> int:
        """Steps of the longest descent from some rows of `fit`, computed here."""
        check_is_fitted(self)
        problem = SearchProblem(self._outcome, self._actionability, self._test_rows)
        index = np.flatnonzero(~problem.fulfilled)
        if not len(index):
            return 0
        if self.method_ == "search":
            _, n_steps = self._search_coordinates(problem, index)
        else:
            no_starts = Candidates(problem.values[:0], index[:0])
            all_starts = self._descent_starts(problem, index, no_starts)
            _, n_steps = self._descend(problem, all_starts)
        return n_steps

    def _descent_starts(
        self, problem: SearchProblem, index: NDArray[np.intp], starts: Candidates
    ) -> Candidates:
        """Starts of descents: the rows, near starts, the best changes of a category."""
        rows = Candidates(problem.values[index], index)
        blocks = [rows, starts.nearest(problem, _N_FURTHER_STARTS)]
        is_category = problem.actionability.categorical[self._grid_columns]
        columns = self._grid_columns[is_category]
        levels = self._grid_values[is_category]
        if len(columns):
            owner = np.repeat(index, len(columns))
            trials = problem.values[owner]
            cells = np.arange(len(owner)), np.tile(columns, len(index))
            trials[cells] = np.tile(levels, len(index))
            trials = problem.projected(trials, owner)
            margins = problem.margins(trials, owner)
            best = nearest_of_each(-margins, owner, _N_FURTHER_STARTS)
            blocks.append(Candidates(trials, owner).take(best))
        return Candidates.of_blocks(blocks)

    def _descend(
        self, problem: SearchProblem, starts: Candidates
    ) -> tuple[NDArray[np.float64], int]:
        """Rows at the ends of descents along the numbers that vary; number of steps."""
        start_values, owner = starts
        # Differences over steps would be coarse.
        problem = problem.with_actionability(
            problem.actionability.without_limits("steps")
        )
        numbers, costs = self._numbers, problem.actionability.costs[self._numbers]
        origins = problem.values[owner][:, numbers]
        # Filled entries move from where they start.
        origins = np.where(np.isnan(origins), start_values[:, numbers], origins)
        limits = problem.actionability.limits(problem.values[owner])
        low, high = ((ends[:, numbers] - origins) * costs for ends in limits)
        # Missing entries stay: their limits and changes are zero.
        low, high = np.where(np.isnan(low), 0, low), np.where(np.isnan(high), 0, high)

        def encode_points(
            points: NDArray[np.float64], rows: NDArray[np.intp]
        ) -> NDArray[np.float64]:
            """Rows of the table at points, changes in the unit of the distance."""
            values = start_values[rows]
            values[:, numbers] = origins[rows] + points / costs
            return problem.projected(values, owner[rows])

        def scale_values(
            values: NDArray[np.float64], rows: NDArray[np.intp]
        ) -> NDArray[np.float64]:
            """Points, changes in the unit of the distance, of rows of the table."""
            return np.nan_to_num((values[:, numbers] - origins[rows]) * costs)

        def evaluate(
            points: NDArray[np.float64], rows: NDArray[np.intp]
        ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
            values = encode_points(points, rows)
            margins, below, above, distances = self._differences(
                problem, values, owner[rows]
            )
            gradients = np.zeros_like(distances)
            np.divide(above - below, distances, out=gradients, where=distances > 0)
            return scale_values(values, rows), margins, gradients

        every_row = np.arange(len(start_values))
        start = scale_values(start_values, every_row)
        points, n_steps = penalised_descent(
            start, low, high, evaluate, aim=self._margin_aim, max_iter=self.max_iter
        )
        return encode_points(points, every_row), n_steps
