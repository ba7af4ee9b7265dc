"""HopSkipJump, an attack from labels alone (Chen, Jordan & Wainwright 2020).

From the nearest known row on target, each step estimates the normal of the boundary at
the row reached, moves along it, and returns to the boundary by bisection.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from sklearn.utils import check_random_state

from sklearn_interpret._model._sklearn_compat import Interval
from sklearn_interpret._model.actions.problem import SearchProblem
from sklearn_interpret._model.progress import with_progress
from sklearn_interpret.adversarial._base import AttackResult, BaseAttack, Budget

if TYPE_CHECKING:
    from sklearn_interpret._model.actions.actionability import Actionability
    from sklearn_interpret._model.actions.target import TargetOutcome
    from sklearn_interpret._model.rows.sample import Sample

# Names of the norms in SciPy.
_METRICS = {"inf": "chebyshev", "2": "euclidean", "1": "cityblock"}
# The numbers below are chosen by hand: larger numbers ask the model about more rows,
# and may find nearer rows.
# Known rows of the target outcome that are compared at the boundary; further rows, up
# to a largest number, are asked about where none of the first stays on target with the
# fixed columns of the attacked row.
_N_STARTS = 10
_MAX_KNOWN_ASKED = 500
# Bisections between a row and its origin: to compare known rows, after each step, and
# at the end, where the last interval is a millionth of the distance.
_N_COARSE_BISECTIONS = 4
_N_BISECTIONS = 7
_N_FINAL_BISECTIONS = 20
# Distance of draws from the row at the boundary, relative to the distance of that row
# from its origin: nearer draws differ by rounding alone where numbers are whole,
# farther draws miss the normal.
_RELATIVE_RADIUS = 0.3
# Largest number of halvings of a step that crosses the boundary.
_MAX_HALVINGS = 8
# Shares of changes that are undone at the end, one after the other, as long as each
# step saves at least this share of the distance.
_UNDONE_SHARES = (1, 0.5, 0.25, 1, 0.5, 0.25, 0.1)
_MIN_SAVING = 0.01


class _Draws(NamedTuple):
    """Random numbers of a step, the same for all rows."""

    directions: NDArray[np.float64]  # (n_draws, n_columns): of length one
    # (n_draws, n_columns): where between two whole numbers a draw is rounded up
    dithers: NDArray[np.float64]


@dataclass(eq=False, repr=False)
class HopSkipJump(BaseAttack):
    r"""A near row that the model answers differently, from its labels alone.

    HopSkipJump (Chen, Jordan & Wainwright 2020) starts at the nearest known row with
    the required answer, and walks along the decision boundary towards the attacked
    row. It calls nothing but `predict`: any model will do, trees too.

    Parameters
    ----------
    estimator : estimator
        Any predictor; a clone of it is fitted. Pass a fitted one as
        ``FrozenEstimator(model)``.
    n_steps : int, default=8
        Number of steps along the boundary.
    n_draws : int, default=20
        Number of rows drawn around each row for the first step. Step t takes this times
        :math:`\sqrt{t}`.
    target : class label or int, default=None
        The class to be reached; None means any other than the row's own. Of a regressor
        with several outputs, the output.
    desired : (low, high), default=None
        Of a regressor: the interval to be reached, with None for an open end.
    norm : {"inf", "2", "1"}, default="2"
        Norm of the perturbation.
    units : {"std", "raw"}, default="std"
        Unit of the numbers: the standard deviation of their feature in `fit`, or the
        number itself.
    bounds : (low, high) or dict, default=None
        Limits of the numbers: a pair of numbers, or of arrays of one for each feature,
        or pairs by feature. None, or a feature left out, means the lowest and
        highest in `fit`. A number that lies outside may enter, or stays as it is.
    features_to_vary : list of ints or strs, or bool mask, default=None
        Features that may change; None means all numbers. Categories stay.
    max_rows : int, default=None
        Largest number of rows that a call sends to the model; an error before says what
        is possible. None is no limit.
    random_state : int, RandomState or None, default=None
        For the draws, which are the same for all rows.
    n_jobs : int or None, default=None
        Workers, which share the rows.
    verbose : int or None, default=None
        1 prints the share done and the time left, 0 nothing. None writes one line to
        the standard error of calls that will take more than five seconds.

    Attributes
    ----------
    estimator_ : estimator
        The fitted model.
    n_features_in_, feature_names_in_, classes_ : int, ndarray, ndarray
        Number of features; their names, where the columns have any; class labels.

    Raises
    ------
    ValueError
        In `fit`: a class, an interval or bounds that do not fit the model or the
        table.
    TypeError
        In `fit`: a sparse table.

    See Also
    --------
    MinimalPerturbation : Exact for linear models and trees, and quicker along slopes.
    OnePixelAttack : Few features, changed by any amount.

    Notes
    -----
    The known rows are those of `fit`, with the frozen columns and the categories of the
    attacked row. Where none of the nearest 500 satisfies the target, the status of the
    row is "failed".

    At a row x next to the boundary that satisfies the target, the normal of the
    boundary is estimated from draws :math:`u_b` by the signs :math:`\phi` of the
    answers, 1 on target and -1 otherwise:

    .. math:: \sum_b (\phi(x + \delta u_b) - \bar\phi) \, u_b

    The step goes where this gains most in the norm, and is halved until its end
    satisfies the target; bisection leads back to the boundary, towards the attacked
    row. Unlike the authors' random ones, starts are known rows, and up to as many draws
    of a step as there are features are orthogonal, which makes the estimate better. In
    the end needless changes are undone, and others are made smaller, where that pays:
    with trees it does.

    The row is near, not the nearest: the model may be fooled by less.

    References
    ----------
    Chen, J., Jordan, M. I. & Wainwright, M. J. (2020). HopSkipJumpAttack: A
    query-efficient decision-based attack. IEEE Symposium on Security and Privacy.
    https://doi.org/10.1109/SP40000.2020.00045

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from sklearn_interpret.adversarial import HopSkipJump
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = RandomForestClassifier(n_estimators=20, random_state=0)
    >>> attack = HopSkipJump(model, random_state=0).fit(X, y)
    >>> explanation = attack.explain(X[70:73], y[70:73])
    >>> explanation.valid
    array([ True,  True,  True])
    >>> attack.predict(explanation.rows)
    array([2, 2, 2])
    """

    estimator: Any
    _: KW_ONLY
    n_steps: int = 8
    n_draws: int = 20
    target: Any = None
    desired: tuple[float | None, float | None] | None = None
    norm: str = "2"
    units: str = "std"
    bounds: Any = None
    features_to_vary: Any = None
    max_rows: int | None = None
    random_state: int | np.random.RandomState | None = None
    n_jobs: int | None = None
    verbose: int | None = None

    _parameter_constraints = {
        **BaseAttack._parameter_constraints,
        "n_steps": [Interval(Integral, 1, None, closed="left")],
        "n_draws": [Interval(Integral, 1, None, closed="left")],
    }

    _budget = None

    def _fit_search(
        self, sample: Sample, outcome: TargetOutcome, actionability: Actionability
    ) -> None:
        rows = actionability.distinct(sample.rows)
        self._training = SearchProblem(outcome, actionability, rows)
        random = check_random_state(self.random_state)
        # Chen et al. (2020): the number of draws grows as the root of the step number.
        n_draws_by_step = self.n_draws * np.sqrt(np.arange(1, self.n_steps + 1))
        self._draws = [
            _draw_directions(random, int(n), actionability.vary)
            for n in n_draws_by_step
        ]

    def _n_asked_per_row(self) -> int:
        # Of a row, draws are in memory about four times, distances of known rows (one
        # number for each, not for each column) three times.
        n_known, n_columns = self._training.values.shape
        n_draws = len(self._draws[-1].directions)
        return max(_N_STARTS, 4 * n_draws, 3 * n_known // n_columns)

    def _why_failed(self) -> str:
        return "with its fixed features no near known row satisfies the target"

    def _attack(self, problem: SearchProblem, index: NDArray[np.intp]) -> AttackResult:
        best = problem.values[index]
        values, has_start = self._find_starts(problem, index)
        budget = Budget(problem, index[has_start], np.inf)
        values = _move_to_boundary(budget, values, _N_BISECTIONS)
        for step_number, draws in enumerate(with_progress(self._draws), 1):
            normals = _estimate_normals(budget, values, draws)
            values = _step_along_normals(budget, values, normals, step_number)
        values = _undo_changes(budget, values)
        best[has_start] = _move_to_boundary(budget, values, _N_FINAL_BISECTIONS)
        return AttackResult(best)

    def _find_starts(
        self, problem: SearchProblem, index: NDArray[np.intp]
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Starts: known rows on target moved to the boundary, the nearest of each row.

        And a mask (n,) of the rows that have a start.
        """
        order, n_on_target = self._nearest_known(problem, index)
        starts, has_start = problem.values[index], np.zeros(len(index), dtype=bool)
        n_asked = np.minimum(n_on_target, _MAX_KNOWN_ASKED)
        # Rows without a start try their next nearest known rows, a few at a time.
        for first_rank in range(0, n_asked.max(initial=0), _N_STARTS):
            rows_without_start = np.flatnonzero(~has_start)
            ranks = np.arange(first_rank, first_rank + _N_STARTS)
            position, rank = np.nonzero(ranks < n_asked[rows_without_start, None])
            row = rows_without_start[position]
            known_rows = order[row, ranks[rank]]
            values = problem.projected(self._training.values[known_rows], index[row])
            holds = problem.holds(values, index[row])
            row, values = row[holds], values[holds]
            budget = Budget(problem, index[row], np.inf)
            values = _move_to_boundary(budget, values, _N_COARSE_BISECTIONS)
            by_distance = np.lexsort((problem.distances(values, index[row]), row))
            rows_with_start, nearest = np.unique(row[by_distance], return_index=True)
            starts[rows_with_start] = values[by_distance[nearest]]
            has_start[rows_with_start] = True
        return starts[has_start], has_start

    def _nearest_known(
        self, problem: SearchProblem, index: NDArray[np.intp]
    ) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Known rows by distance (n, n_known), with rows off target last.

        And the number (n,) of known rows on target. Missing numbers count as the mean.
        """
        known_values = self._training.values
        costs = problem.actionability.costs * problem.actionability.vary
        n_present = np.maximum((~np.isnan(known_values)).sum(axis=0), 1)
        means = np.nansum(known_values, axis=0) / n_present
        points = [
            np.where(np.isnan(rows), means, rows) * costs
            for rows in (problem.values[index], known_values)
        ]
        distances = cdist(*points, _METRICS[self.norm])
        on_target = self._training.rows_on_target(problem, index)
        distances[~on_target] = np.inf
        return np.argsort(distances, axis=1, kind="stable"), on_target.sum(axis=1)


def _draw_directions(
    random: np.random.RandomState, number: int, free: NDArray[np.bool_]
) -> _Draws:
    """Random directions, orthogonal within blocks of as many as columns are free."""
    n_free = free.sum()
    directions = np.zeros((number, len(free)))
    for start in range(0, number if n_free else 0, max(n_free, 1)):
        n = min(n_free, number - start)
        axes, triangle = np.linalg.qr(random.normal(size=(n_free, n)))
        # The signs of a QR decomposition differ between LAPACK versions.
        directions[start : start + n, free] = (axes * np.sign(np.diag(triangle))).T
    return _Draws(directions, random.uniform(size=directions.shape))


def _steps_to(budget: Budget, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Steps from the origins to some rows, in units."""
    return np.nan_to_num((values - budget.origins) * budget.actionability.costs)


def _move_to_boundary(
    budget: Budget, values: NDArray[np.float64], n_bisections: int
) -> NDArray[np.float64]:
    """Rows moved towards their origins to the boundary, by bisection."""
    steps = _steps_to(budget, values)
    low, high = np.zeros(len(values)), np.ones(len(values))
    for _ in range(n_bisections if len(values) else 0):
        middle = (low + high) / 2
        trials = budget.rows_after(middle[:, None] * steps)
        holds = budget.problem.holds(trials, budget.index)
        values = np.where(holds[:, None], trials, values)
        low, high = np.where(holds, low, middle), np.where(holds, middle, high)
    return values


def _estimate_normals(
    budget: Budget, values: NDArray[np.float64], draws: _Draws
) -> NDArray[np.float64]:
    """Estimates of the normals of the boundary at rows, from answers to draws around.

    The estimate with a baseline (Chen et al. 2020), from projected draws.
    """
    if not len(values):
        return values
    problem, actionability = budget.problem, budget.actionability
    radius = _RELATIVE_RADIUS * np.linalg.norm(_steps_to(budget, values), axis=1)
    moves = radius[:, None, None] * draws.directions / actionability.costs
    trials = values[:, None] + moves
    rounded = np.floor(trials + draws.dithers)
    trials = np.where(actionability.integer, rounded, trials)
    index = np.repeat(budget.index, len(draws.directions))
    trials = problem.projected(trials.reshape(len(index), -1), index)
    holds = problem.holds(trials, index).reshape(len(values), -1)
    moves = trials.reshape(*holds.shape, -1) - values[:, None]
    moves = np.nan_to_num(moves * actionability.costs)
    signs = np.where(holds, 1.0, -1.0)
    baseline = signs.mean(axis=1, keepdims=True)
    # Answers that are all the same have no deviation from their mean.
    signs = np.where(np.abs(baseline) < 1, signs - baseline, signs)
    # A product per row gives each row the same result in any batch.
    return np.matmul(signs[:, None], moves)[:, 0]


def _step_along_normals(
    budget: Budget,
    values: NDArray[np.float64],
    normals: NDArray[np.float64],
    step_number: int,
) -> NDArray[np.float64]:
    """Rows after a step along the normals and back to the boundary, if nearer."""
    problem, remaining = budget.problem, np.arange(len(values))
    distances = problem.distances(values, budget.index)
    sizes, reached = distances / np.sqrt(step_number), values.copy()
    for _ in range(_MAX_HALVINGS):
        if not len(remaining):
            break
        remaining_budget = budget.take(remaining)
        steps = _steps_to(remaining_budget, values[remaining])
        longer = remaining_budget.farthest(normals[remaining], sizes[remaining], steps)
        trials = remaining_budget.rows_after(longer)
        holds = problem.holds(trials, remaining_budget.index)
        reached[remaining[holds]] = trials[holds]
        remaining = remaining[~holds]
        sizes[remaining] /= 2
    reached = _move_to_boundary(budget, reached, _N_BISECTIONS)
    nearer = problem.distances(reached, budget.index) < distances
    return np.where(nearer[:, None], reached, values)


def _undo_changes(budget: Budget, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rows with fewer and smaller changes, as long as the rows get nearer."""
    problem, values, active = budget.problem, values.copy(), np.arange(len(values))
    refinement = problem.refinement(values, budget.index, problem.holds)
    for share in _UNDONE_SHARES:
        distances_before = problem.distances(refinement.values, refinement.index)
        refinement.undo(1, share)
        values[active] = refinement.values
        distances = problem.distances(refinement.values, refinement.index)
        saves = np.flatnonzero(distances < (1 - _MIN_SAVING) * distances_before)
        refinement.keep(saves)
        active = active[saves]
    return values
