"""HopSkipJump, an attack from labels alone (Chen, Jordan & Wainwright 2020)."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from sklearn.utils import check_random_state

from sklearn_interpret._model._sklearn_compat import Interval
from sklearn_interpret._model.actions.problem import SearchProblem
from sklearn_interpret._model.progress import counted
from sklearn_interpret.adversarial._base import BaseAttack, Budget, Tries

if TYPE_CHECKING:
    from sklearn_interpret._model.actions.actionability import Actionability
    from sklearn_interpret._model.actions.target import TargetOutcome
    from sklearn_interpret._model.rows.sample import Sample

_METRICS = {"inf": "chebyshev", "2": "euclidean", "1": "cityblock"}
# Known rows of the target outcome that are compared at the boundary, and the largest
# number tried where none keeps it with the fixed columns of the row.
_STARTS, _MOST_ASKED = 10, 500
# Bisections between a row and its origin: to compare known rows, after each step, and
# in the end.
_COARSE, _FINE, _FINEST = 4, 7, 20
# Distance of draws from the row at the boundary, relative to that of the row.
_RADIUS = 0.3
# Largest number of halvings of a step that crosses the boundary.
_HALVINGS = 8
# Shares of changes that are undone in the end, one after the other, as long as each
# saves at least this part of the distance.
_SHARES, _LEAST_SAVING = (1, 0.5, 0.25, 1, 0.5, 0.25, 0.1), 0.01


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
        numbers = self.n_draws * np.sqrt(np.arange(1, self.n_steps + 1))
        self._draws = [_draws(random, int(n), actionability.vary) for n in numbers]

    def _n_asked_per_row(self) -> int:
        # Draws are in memory about four times, distances of known rows three times.
        n_known, n_columns = self._training.values.shape
        return max(_STARTS, 4 * len(self._draws[-1][0]), 3 * n_known // n_columns)

    def _failure(self) -> str:
        return "with its fixed features no near known row satisfies the target"

    def _attack(self, problem: SearchProblem, index: NDArray[np.intp]) -> Tries:
        best = problem.values[index]
        values, has_start = self._starts(problem, index)
        budget = Budget(problem, index[has_start], np.inf)
        values = _nearer(budget, values, _FINE)
        for number, draws in enumerate(counted(self._draws), 1):
            normals = _normals(budget, values, *draws)
            values = _stepped(budget, values, normals, number)
        best[has_start] = _nearer(budget, _undone(budget, values), _FINEST)
        return Tries(best)

    def _starts(
        self, problem: SearchProblem, index: NDArray[np.intp]
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """The nearest known rows on target, near the boundary; rows that have one."""
        order, number = self._nearest_known(problem, index)
        starts, has_start = problem.values[index], np.zeros(len(index), dtype=bool)
        number = np.minimum(number, _MOST_ASKED)
        for first in range(0, number.max(initial=0), _STARTS):
            left = np.flatnonzero(~has_start)
            row, position = np.nonzero(
                np.arange(first, first + _STARTS) < number[left, None]
            )
            row = left[row]
            values = self._training.values[order[row, first + position]]
            values = problem.projected(values, index[row])
            holds = problem.holds(values, index[row])
            row, values = row[holds], values[holds]
            values = _nearer(Budget(problem, index[row], np.inf), values, _COARSE)
            nearest = np.lexsort((problem.distances(values, index[row]), row))
            owner, nearest_of = np.unique(row[nearest], return_index=True)
            starts[owner], has_start[owner] = values[nearest[nearest_of]], True
        return starts[has_start], has_start

    def _nearest_known(
        self, problem: SearchProblem, index: NDArray[np.intp]
    ) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Known rows by distance, those off target last; the number of the others.

        Missing numbers are taken for the mean.
        """
        candidates, costs = (
            self._training.values,
            problem.actionability.costs * problem.actionability.vary,
        )
        present = np.maximum((~np.isnan(candidates)).sum(axis=0), 1)
        means = np.nansum(candidates, axis=0) / present
        points = [
            np.where(np.isnan(rows), means, rows) * costs
            for rows in (problem.values[index], candidates)
        ]
        distances = cdist(*points, _METRICS[self.norm])
        on_target = self._training.satisfying(problem, index)
        distances[~on_target] = np.inf
        return np.argsort(distances, axis=1, kind="stable"), on_target.sum(axis=1)


def _draws(
    random: np.random.RandomState, number: int, free: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Directions of length one, orthogonal in blocks of the free columns; and dithers.

    A dither decides where between two whole numbers a draw is rounded up.
    """
    size = free.sum()
    directions = np.zeros((number, len(free)))
    for start in range(0, number if size else 0, max(size, 1)):
        n = min(size, number - start)
        axes, triangle = np.linalg.qr(random.normal(size=(size, n)))
        # The signs of a QR decomposition differ between LAPACK versions.
        directions[start : start + n, free] = (axes * np.sign(np.diag(triangle))).T
    return directions, random.uniform(size=directions.shape)


def _steps(budget: Budget, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Steps from the origins to some rows, in units."""
    return np.nan_to_num((values - budget.origins) * budget.actionability.costs)


def _nearer(
    budget: Budget, values: NDArray[np.float64], n_halvings: int
) -> NDArray[np.float64]:
    """Rows moved towards their origins to the boundary, by bisection."""
    steps = _steps(budget, values)
    low, high = np.zeros(len(values)), np.ones(len(values))
    for _ in range(n_halvings if len(values) else 0):
        middle = (low + high) / 2
        trials = budget.rows_after(middle[:, None] * steps)
        holds = budget.problem.holds(trials, budget.index)
        values = np.where(holds[:, None], trials, values)
        low, high = np.where(holds, low, middle), np.where(holds, middle, high)
    return values


def _normals(
    budget: Budget,
    values: NDArray[np.float64],
    directions: NDArray[np.float64],
    dithers: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Estimates of the normals of the boundary at rows, from answers to draws around.

    The estimate with a baseline (Chen et al. 2020), from projected draws.
    """
    if not len(values):
        return values
    problem, actionability = budget.problem, budget.actionability
    radius = _RADIUS * np.linalg.norm(_steps(budget, values), axis=1)
    draws = values[:, None] + radius[:, None, None] * directions / actionability.costs
    draws = np.where(actionability.integer, np.floor(draws + dithers), draws)
    index = np.repeat(budget.index, len(directions))
    draws = problem.projected(draws.reshape(len(index), -1), index)
    holds = problem.holds(draws, index).reshape(len(values), -1)
    moved = draws.reshape(*holds.shape, -1) - values[:, None]
    moved = np.nan_to_num(moved * actionability.costs)
    signs = np.where(holds, 1.0, -1.0)
    means = signs.mean(axis=1, keepdims=True)
    signs = np.where(np.abs(means) < 1, signs - means, signs)
    # A product per row gives each row the same result in any batch.
    return np.matmul(signs[:, None], moved)[:, 0]


def _stepped(
    budget: Budget,
    values: NDArray[np.float64],
    normals: NDArray[np.float64],
    number: int,
) -> NDArray[np.float64]:
    """Rows after a step along the normals and back to the boundary, if nearer."""
    problem, left = budget.problem, np.arange(len(values))
    distances = problem.distances(values, budget.index)
    sizes, reached = distances / np.sqrt(number), values.copy()
    for _ in range(_HALVINGS):
        if not len(left):
            break
        remaining = budget.part(left)
        steps = _steps(remaining, values[left])
        trials = remaining.rows_after(
            remaining.farthest(normals[left], sizes[left], steps)
        )
        holds = problem.holds(trials, remaining.index)
        reached[left[holds]] = trials[holds]
        left = left[~holds]
        sizes[left] /= 2
    reached = _nearer(budget, reached, _FINE)
    nearer = problem.distances(reached, budget.index) < distances
    return np.where(nearer[:, None], reached, values)


def _undone(budget: Budget, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rows with fewer and smaller changes, while that makes them nearer."""
    problem, values, left = budget.problem, values.copy(), np.arange(len(values))
    refinement = problem.refinement(values, budget.index, problem.holds)
    for share in _SHARES:
        before = problem.distances(refinement.values, refinement.index)
        refinement.undo(1, share)
        values[left] = refinement.values
        distances = problem.distances(refinement.values, refinement.index)
        nearer = np.flatnonzero(distances < (1 - _LEAST_SAVING) * before)
        refinement.keep(nearer)
        left = left[nearer]
    return values
