"""The lasso on columns that share a scale, and its penalty by cross-validation."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import lasso_path

from sklearn_interpret._core.statistics.score_losses import constant_score
from sklearn_interpret._model.progress import with_progress

# Number of penalties, the last as a share of the first, and number of consecutive ones
# worse than the best after which the search ends.
_N_PENALTIES, _LAST, _PATIENCE = 100, 1e-3, 10
# Least curvature of a row's loss, change of scores that ends Newton's method, and most
# steps.
_CURVATURE, _CHANGE, _STEPS = 1e-5, 1e-4, 25
# Most halvings of a step, and least decrease of the objective.
_HALVINGS, _GAIN = 10, 1e-10
# Relative excess of a slope over the penalty that is tolerated.
_EXCESS = 1e-2
# Cyclic descent draws no coordinates, but scikit-learn draws a seed for them: here, and
# not of numpy's global state. A new generator would take as long as a small problem.
_UNUSED = np.random.RandomState(0)


class LassoProblem:
    """The lasso on columns, followed from large penalties to small ones.

    Parameters
    ----------
    columns : ndarray of shape (n_rows, n_columns)
        Columns.
    targets, weights : ndarray of shape (n_rows,)
        Targets of the rows, and weights that sum to one.
    loss : HalfSquared or Logistic
        The loss, of which the weighted mean is penalised.
    """

    def __init__(
        self,
        columns: NDArray[np.float64],
        targets: NDArray[np.float64],
        weights: NDArray[np.float64],
        loss: Any,
    ) -> None:
        self._columns, self._weights, self._loss = columns, weights, loss
        self._targets = targets[:, None]
        self._centre = weights @ columns
        self.intercept = float(constant_score(loss, targets, weights))
        self.coefficients = np.zeros(columns.shape[1])
        self._scores = np.full((len(targets), 1), self.intercept)
        self._slopes = self._all_slopes()
        self.largest = self._penalty = np.abs(self._slopes).max(initial=0.0)
        self._first = self.intercept, self._slopes
        self._products: NDArray[np.float64] | None = None
        # Squares are solved in one step, by products of columns alone.
        self._squared = (self._curvatures() == 1).all()

    def penalties(self) -> NDArray[np.float64]:
        """Decreasing penalties; at the first all coefficients are zero."""
        return self.largest * np.geomspace(1, _LAST, _N_PENALTIES)

    def move(self, penalty: float) -> None:
        """Find the coefficients at the next smaller penalty.

        Columns whose coefficients are probably zero are left out, and taken in again if
        they violate the optimality conditions (strong rule, Tibshirani et al. 2012).
        """
        active = np.abs(self._slopes) >= 2 * penalty - self._penalty
        active |= self.coefficients != 0
        while active.any():
            solve = self._solve_squares if self._squared else self._solve
            self._slopes = solve(np.flatnonzero(active), penalty)
            missed = ~active & (np.abs(self._slopes) > (1 + _EXCESS) * penalty)
            if not missed.any():
                break
            active |= missed
        self._penalty = penalty

    def scores(self, columns: NDArray[np.float64]) -> NDArray[np.float64]:
        """Scores of rows by the present coefficients."""
        used = np.flatnonzero(self.coefficients)
        return self.intercept + columns[:, used] @ self.coefficients[used]

    def _all_slopes(self) -> NDArray[np.float64]:
        """Slope of the loss along each coefficient."""
        slopes = self._loss.slopes(self._targets, self._scores)[:, 0]
        weighted = self._weights * slopes
        # The intercept takes the mean of the columns.
        return weighted @ self._columns - weighted.sum() * self._centre

    def _curvatures(self) -> NDArray[np.float64]:
        """Curvature of the loss of each row: (n_rows,)."""
        return self._loss.curvatures(self._targets, self._scores)[:, 0, 0]

    def _solve_squares(
        self, active: NDArray[np.intp], penalty: float
    ) -> NDArray[np.float64]:
        """The lasso on squares, whose products of columns are computed once."""
        products = self._products
        if products is None:
            products = _centred_gram(self._columns, self._weights, self._centre)
            self._products = products
            squares = np.square(self._targets[:, 0] - self.intercept)
            self._size = float(self._weights @ squares)
        intercept, slopes = self._first
        before = self.coefficients[active]
        gram = products[np.ix_(active, active)]
        after = _least_squares(gram, -slopes[active], self._size, before, penalty)
        self.coefficients[active] = after
        self.intercept = intercept - float(self._centre[active] @ after)
        used = np.flatnonzero(self.coefficients)
        return slopes + self.coefficients[used] @ products.take(used, axis=0)

    def _solve(self, active: NDArray[np.intp], penalty: float) -> NDArray[np.float64]:
        """Newton's method, each step a lasso on squares by coordinate descent."""
        for _ in range(_STEPS):
            curvature = self._weights * np.maximum(self._curvatures(), _CURVATURE)
            slopes = self._loss.slopes(self._targets, self._scores)[:, 0]
            slopes = self._weights * slopes
            before, columns = self.coefficients[active], self._columns[:, active]
            total = curvature.sum()
            centre = curvature @ columns / total
            # Working targets: least squares with the slopes and curvatures of the loss.
            working = columns @ before - slopes / curvature
            working -= curvature @ working / total
            gram, size = (
                _centred_gram(columns, curvature, centre),
                curvature @ working**2,
            )
            products = (curvature * working) @ columns
            after = _least_squares(gram, products, size, before, penalty)
            change = after - before
            rise = -slopes.sum() / total - centre @ change
            moved = rise + columns @ change
            share = self._step(before, change, moved, penalty)
            self.coefficients[active] = before + share * change
            self.intercept += share * rise
            self._scores = self._scores + share * moved[:, None]
            if share * np.abs(moved).max() < _CHANGE:
                break
        return self._all_slopes()

    def _step(
        self,
        before: NDArray[np.float64],
        change: NDArray[np.float64],
        moved: NDArray[np.float64],
        penalty: float,
    ) -> float:
        """Share of a step, halved until the objective decreases; else zero."""

        def objective(share: float) -> float:
            scores = self._scores + share * moved[:, None]
            size = np.abs(before + share * change).sum()
            loss = self._weights @ self._loss.values(self._targets, scores)
            return loss + penalty * size

        start = objective(0.0)
        shares = 0.5 ** np.arange(_HALVINGS)
        better = (share for share in shares if objective(share) < start - _GAIN)
        return next(better, 0.0)


def _centred_gram(
    columns: NDArray[np.float64],
    weights: NDArray[np.float64],
    centre: NDArray[np.float64],
) -> NDArray[np.float64]:
    centred = np.sqrt(weights)[:, None] * (columns - centre)
    return centred.T @ centred


def _least_squares(
    gram: NDArray[np.float64],
    products: NDArray[np.float64],
    size: float,
    start: NDArray[np.float64],
    penalty: float,
) -> NDArray[np.float64]:
    """Coefficients of the lasso on centred squares, from products of the columns.

    Products are with each other, and with the targets; size is that of the targets.
    """
    # scikit-learn reads the number of rows, which multiplies the penalty, and the size
    # of the targets alone.
    path = lasso_path(
        np.zeros((1, len(gram)), order="F"),
        np.sqrt([size]),
        alphas=[penalty],
        precompute=np.ascontiguousarray(gram),
        Xy=products,
        coef_init=start.copy(),  # scikit-learn writes to it
        check_input=False,
        max_iter=10_000,
        random_state=_UNUSED,
    )
    return path[1][:, 0]


def best_penalty(penalties: NDArray[np.float64], folds: list[Any], loss: Any) -> int:
    """The penalty with the least loss on the rows left out; of equal ones the first.

    Parameters
    ----------
    penalties : ndarray
        From the largest down.
    folds : list of (LassoProblem, columns, targets, weights)
        The problem of each fold, and its rows that were left out.
    loss : HalfSquared or Logistic
        The loss.

    Returns
    -------
    int
        Its position.
    """
    losses = []
    for penalty in with_progress(penalties):
        total = 0.0
        for problem, columns, targets, weights in folds:
            problem.move(penalty)
            scores = problem.scores(columns)[:, None]
            total += weights @ loss.values(targets[:, None], scores)
        losses.append(total)
        if len(losses) - np.argmin(losses) > _PATIENCE:
            break
    return int(np.argmin(losses))
