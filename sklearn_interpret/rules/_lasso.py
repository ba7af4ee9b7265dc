"""The lasso on columns that share a scale, and its penalty by cross-validation.

`best_penalty` compares penalties, from the largest down, on the rows that folds leave
out. `LassoProblem` finds the coefficients at one penalty after the other: of squared
errors by coordinate descent, of other losses by Newton's method, each step of which is
a lasso on weighted squares (Friedman, Hastie & Tibshirani 2010).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import lasso_path

from sklearn_interpret._core.statistics.score_losses import constant_score
from sklearn_interpret._core.statistics.weighted import row_blocks
from sklearn_interpret._model.progress import with_progress

if TYPE_CHECKING:
    from sklearn_interpret._core.statistics.score_losses import Loss

# An array of floats, whose shape comments and docstrings say.
_Array = NDArray[np.float64]
# Columns, each an array (n_rows,) of numbers, or of flags: an eighth of the memory.
_Columns = Sequence[NDArray[Any]] | NDArray[Any]

# Number of penalties, and the last as a share of the first: as in scikit-learn's
# `LassoCV`.
_N_PENALTIES = 100
_LAST_SHARE = 1e-3
# The search ends after this number of consecutive penalties that are worse than the
# best: more cost time, fewer may stop at a local minimum. Chosen by hand.
_PATIENCE = 10
# Curvatures of a row's loss are raised to this: they vanish where a class is certain,
# and working targets divide by them.
_MIN_CURVATURE = 1e-5
# Newton's method ends when no score changes by this, a change of probabilities by at
# most a quarter of it, or after this number of steps, where a few are usual.
_MIN_SCORE_CHANGE = 1e-4
_MAX_NEWTON_STEPS = 25
# A step is halved at most nine times: if no size lowers the objective by more than
# rounding, the coefficients are as good as they get.
_N_STEP_SIZES = 10
_MIN_DECREASE = 1e-10
# A column that was left out is taken in where its slope exceeds the penalty by more
# than this share: less would be the error of the solver.
_SLOPE_TOLERANCE = 1e-2
# Flags are numbers all the time where these take 8 MB at most.
_FEW_NUMBERS = 2**20
# Cyclic descent draws no coordinates, but scikit-learn draws a seed for them: here, and
# not of numpy's global state. A new generator would take as long as a small problem.
_UNUSED_RANDOM_STATE = np.random.RandomState(0)


class LassoProblem:
    """The lasso on columns, followed from large penalties to small ones.

    Parameters
    ----------
    columns : sequence of ndarray of shape (n_rows,), float or bool
        Columns.
    targets, weights : ndarray of shape (n_rows,)
        Targets of the rows, and weights that sum to one.
    loss : Loss of one score
        The loss, of which the weighted mean is penalised.
    """

    def __init__(
        self, columns: _Columns, targets: _Array, weights: _Array, loss: Loss
    ) -> None:
        if len(columns) * len(targets) <= _FEW_NUMBERS:
            columns = _numbers(columns)
        self._columns, self._weights, self._loss = columns, weights, loss
        self._targets = targets[:, None]
        self._means = _weighted_sums(columns, weights)
        self.intercept = float(constant_score(loss, targets, weights))
        self.coefficients = np.zeros(len(columns))
        self._scores = np.full((len(targets), 1), self.intercept)
        self._slopes = self._coefficient_slopes()
        self._largest_penalty = np.abs(self._slopes).max(initial=0.0)
        self._penalty = self._largest_penalty
        self._initial_intercept, self._initial_slopes = self.intercept, self._slopes
        self._gram: _Array | None = None
        self._is_least_squares = (self._curvatures() == 1).all()

    def penalties(self) -> _Array:
        """Decreasing penalties; at the first all coefficients are zero."""
        return self._largest_penalty * np.geomspace(1, _LAST_SHARE, _N_PENALTIES)

    def solve(self, penalty: float) -> None:
        """Find the coefficients at the next smaller penalty.

        Columns whose coefficients are probably zero are left out, and taken in again if
        they violate the optimality conditions (strong rule, Tibshirani et al. 2012).
        """
        solve = self._solve_squares if self._is_least_squares else self._solve_by_newton
        active = np.abs(self._slopes) >= 2 * penalty - self._penalty
        active |= self.coefficients != 0
        while active.any():
            self._slopes = solve(np.flatnonzero(active), penalty)
            exceeds = np.abs(self._slopes) > (1 + _SLOPE_TOLERANCE) * penalty
            if not (exceeds & ~active).any():
                break
            active |= exceeds
        self._penalty = penalty

    def scores(self, columns: _Columns, n_rows: int) -> _Array:
        """Scores (n_rows,) of rows by the current coefficients."""
        scores = np.full(n_rows, self.intercept)
        for k in np.flatnonzero(self.coefficients).tolist():
            scores += self.coefficients[k] * columns[k]
        return scores

    def _coefficient_slopes(self) -> _Array:
        """Slopes of the mean loss along the coefficients, at its best intercept."""
        slopes = self._score_slopes()
        # A change of a coefficient moves the intercept by minus the column's mean.
        return _weighted_sums(self._columns, slopes) - slopes.sum() * self._means

    def _score_slopes(self) -> _Array:
        """Slope of the weighted mean loss along the score of each row: (n_rows,)."""
        return self._weights * self._loss.slopes(self._targets, self._scores)[:, 0]

    def _curvatures(self) -> _Array:
        """Curvature of the loss of each row: (n_rows,)."""
        return self._loss.curvatures(self._targets, self._scores)[:, 0, 0]

    def _solve_squares(self, active: NDArray[np.intp], penalty: float) -> _Array:
        """Solve for the coefficients of the active columns; slopes along all columns.

        Products of the columns, computed once, replace the rows.
        """
        if self._gram is None:
            self._gram = _centred_gram(self._columns, self._weights, self._means)
            squares = np.square(self._targets[:, 0] - self.intercept)
            self._mean_square = float(self._weights @ squares)
        solution = _lasso_from_products(
            self._gram[np.ix_(active, active)],
            -self._initial_slopes[active],
            self._mean_square,
            self.coefficients[active],
            penalty,
        )
        self.coefficients[active] = solution
        self.intercept = self._initial_intercept - float(self._means[active] @ solution)
        used = np.flatnonzero(self.coefficients)
        products = self.coefficients[used] @ self._gram.take(used, axis=0)
        return self._initial_slopes + products

    def _solve_by_newton(self, active: NDArray[np.intp], penalty: float) -> _Array:
        """Solve for coefficients of the active columns; slopes along all columns."""
        columns = _numbers([self._columns[k] for k in active.tolist()])
        for _ in range(_MAX_NEWTON_STEPS):
            curvatures = np.maximum(self._curvatures(), _MIN_CURVATURE)
            row_weights = self._weights * curvatures
            slopes, total_weight = self._score_slopes(), row_weights.sum()
            coefficients = self.coefficients[active]
            # Least squares to these targets have the slopes and curvatures of the loss.
            targets = coefficients @ columns - slopes / row_weights
            targets -= row_weights @ targets / total_weight
            means = columns @ row_weights / total_weight
            solution = _lasso_from_products(
                _centred_gram(columns, row_weights, means),
                columns @ (row_weights * targets),
                float(row_weights @ targets**2),
                coefficients,
                penalty,
            )
            change = solution - coefficients
            intercept_change = -slopes.sum() / total_weight - means @ change
            score_change = intercept_change + change @ columns
            step = self._step_size(coefficients, change, score_change, penalty)
            self.coefficients[active] = coefficients + step * change
            self.intercept += step * intercept_change
            self._scores = self._scores + step * score_change[:, None]
            if step * np.abs(score_change).max() < _MIN_SCORE_CHANGE:
                break
        return self._coefficient_slopes()

    def _step_size(
        self, coefficients: _Array, change: _Array, score_change: _Array, penalty: float
    ) -> float:
        """Size of a step, halved from 1 until the objective decreases; else zero."""

        def objective(step: float) -> float:
            scores = self._scores + step * score_change[:, None]
            loss = self._weights @ self._loss.values(self._targets, scores)
            return loss + penalty * np.abs(coefficients + step * change).sum()

        bound = objective(0.0) - _MIN_DECREASE
        steps = 0.5 ** np.arange(_N_STEP_SIZES)
        return next((step for step in steps if objective(step) < bound), 0.0)


def _numbers(columns: _Columns, rows: slice = slice(None)) -> _Array:
    """Columns as numbers, (n_columns, r), of some rows."""
    if isinstance(columns, np.ndarray):
        return columns[:, rows]
    return np.array([column[rows] for column in columns], dtype=np.float64)


def _weighted_sums(columns: _Columns, weights: _Array) -> _Array:
    """Weighted sums of columns, (n_columns,)."""
    blocks = row_blocks(len(columns), len(weights))
    return np.hstack([[], *(_numbers(columns[few]) @ weights for few in blocks)])


def _centred_gram(columns: _Columns, weights: _Array, means: _Array) -> _Array:
    """Weighted products of columns less their means: (n_columns, n_columns)."""
    gram, roots = np.zeros((len(columns), len(columns))), np.sqrt(weights)
    # Large blocks, since each adds to all products.
    for rows in row_blocks(len(weights), len(columns) // 4):
        centred = roots[rows] * (_numbers(columns, rows) - means[:, None])
        gram += centred @ centred.T
    return gram


def _lasso_from_products(
    gram: _Array, products: _Array, sum_of_squares: float, start: _Array, penalty: float
) -> _Array:
    """Coefficients of the lasso, from products of the centred columns and targets.

    `gram` has the products of the columns with each other, `products` the products of
    the columns with the targets, and `sum_of_squares` is that of the targets.
    """
    # Of `X` and `y` scikit-learn reads the number of rows, which multiplies the
    # penalty, and the sum of squares of `y` alone: one row of that size is enough.
    _, coefficients, *_ = lasso_path(
        np.zeros((1, len(gram)), order="F"),
        np.sqrt([sum_of_squares]),
        alphas=[penalty],
        precompute=np.ascontiguousarray(gram),
        Xy=products,
        coef_init=start.copy(),  # scikit-learn writes to it
        check_input=False,
        max_iter=10_000,
        random_state=_UNUSED_RANDOM_STATE,
    )
    return coefficients[:, 0]


class LassoFold(NamedTuple):
    """A fold of the cross-validation: its problem, and the rows that it leaves out."""

    problem: LassoProblem
    columns: _Columns  # of the rows out
    targets: _Array  # (n_rows_out,)
    weights: _Array  # (n_rows_out,)


def best_penalty(penalties: _Array, folds: Sequence[LassoFold], loss: Loss) -> int:
    """The position of the penalty with the least loss on the rows left out.

    Penalties fall; of equal losses the first counts.
    """
    losses: list[float] = []
    for penalty in with_progress(penalties):
        total = 0.0
        for fold in folds:
            fold.problem.solve(penalty)
            scores = fold.problem.scores(fold.columns, len(fold.targets))
            losses_out = loss.values(fold.targets[:, None], scores[:, None])
            total += float(fold.weights @ losses_out)
        losses.append(total)
        if len(losses) - np.argmin(losses) > _PATIENCE:
            break
    return int(np.argmin(losses))
