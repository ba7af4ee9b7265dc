"""The lasso on columns that share a scale, and its penalty by cross-validation."""

import numpy as np
from sklearn.linear_model import lasso_path

from sklearn_interpret._core.statistics.score_losses import constant_score
from sklearn_interpret._model.progress import counted

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

    def __init__(self, columns, targets, weights, loss):
        self._columns, self._weights, self._loss = columns, weights, loss
        self._targets = targets[:, None]
        self._centre = weights @ columns
        self._products = None
        self.intercept = constant_score(loss, targets, weights)
        self.coefficients = np.zeros(columns.shape[1])
        self._scores = np.full((len(targets), 1), self.intercept)
        self._slopes = self._all_slopes()
        self.largest = self._penalty = np.abs(self._slopes).max(initial=0.0)

    def penalties(self):
        """Decreasing penalties; at the first all coefficients are zero."""
        return self.largest * np.geomspace(1, _LAST, _N_PENALTIES)

    def move(self, penalty):
        """Find the coefficients at the next smaller penalty.

        Columns whose coefficients are probably zero are left out, and taken in again if
        they violate the optimality conditions (strong rule, Tibshirani et al. 2012).
        """
        kept = np.abs(self._slopes) >= 2 * penalty - self._penalty
        kept |= self.coefficients != 0
        while kept.any():
            self._solve(np.flatnonzero(kept), penalty)
            self._slopes = self._all_slopes()
            missed = ~kept & (np.abs(self._slopes) > (1 + _EXCESS) * penalty)
            if not missed.any():
                break
            kept |= missed
        self._penalty = penalty

    def scores(self, columns):
        """Scores of rows by the present coefficients."""
        used = np.flatnonzero(self.coefficients)
        return self.intercept + columns[:, used] @ self.coefficients[used]

    def _all_slopes(self):
        """Slope of the loss along each coefficient."""
        slopes = self._loss.slopes(self._targets, self._scores)[:, 0]
        weighted = self._weights * slopes
        # The intercept takes the mean of the columns.
        return weighted @ self._columns - weighted.sum() * self._centre

    def _solve(self, kept, penalty):
        """Newton's method, each step a lasso on squares by coordinate descent."""
        for _ in range(_STEPS):
            curvature = self._loss.curvatures(self._targets, self._scores)[:, 0, 0]
            constant = (curvature == 1).all()
            curvature = self._weights * np.maximum(curvature, _CURVATURE)
            slopes = self._loss.slopes(self._targets, self._scores)[:, 0]
            slopes = self._weights * slopes
            before, own = self.coefficients[kept], self._columns[:, kept]
            total = curvature.sum()
            centre = curvature @ own / total
            # Working targets: least squares with the slopes and curvatures of the loss.
            working = own @ before - slopes / curvature
            working -= curvature @ working / total
            gram = (
                self._gram(kept) if constant else _centred_gram(own, curvature, centre)
            )
            found = _least_squares(gram, own, curvature, working, before, penalty)
            change = found - before
            rise = -slopes.sum() / total - centre @ change
            moved = rise + own @ change
            share = self._step(before, change, moved, penalty)
            self.coefficients[kept] = before + share * change
            self.intercept += share * rise
            self._scores = self._scores + share * moved[:, None]
            if constant or share * np.abs(moved).max() < _CHANGE:
                break

    def _step(self, before, change, moved, penalty):
        """Share of a step, halved until the objective decreases; else zero."""

        def objective(share):
            scores = self._scores + share * moved[:, None]
            size = np.abs(before + share * change).sum()
            loss = self._weights @ self._loss.values(self._targets, scores)
            return loss + penalty * size

        now = objective(0.0)
        shares = 0.5 ** np.arange(_HALVINGS)
        better = (share for share in shares if objective(share) < now - _GAIN)
        return next(better, 0.0)

    def _gram(self, kept):
        """Products of columns for equal curvatures of all rows, computed once."""
        if self._products is None:
            self._products = _centred_gram(self._columns, self._weights, self._centre)
        return self._products[np.ix_(kept, kept)]


def _centred_gram(columns, weights, centre):
    centred = np.sqrt(weights)[:, None] * (columns - centre)
    return centred.T @ centred


def _least_squares(gram, columns, weights, targets, start, penalty):
    """Coefficients of the lasso on centred least squares, from products of columns."""
    # scikit-learn reads the number of rows, which multiplies the penalty, and the size
    # of the targets alone.
    found = lasso_path(
        np.zeros((1, len(gram)), order="F"),
        np.sqrt([weights @ np.square(targets)]),
        alphas=[penalty],
        precompute=np.ascontiguousarray(gram),
        Xy=(weights * targets) @ columns,
        coef_init=start.copy(),  # scikit-learn writes to it
        check_input=False,
        max_iter=10_000,
        random_state=0,  # numpy's global state is not used
    )
    return found[1][:, 0]


def best_penalty(penalties, folds, loss):
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
    for penalty in counted(penalties):
        total = 0.0
        for problem, columns, targets, weights in folds:
            problem.move(penalty)
            scores = problem.scores(columns)[:, None]
            total += weights @ loss.values(targets[:, None], scores)
        losses.append(total)
        if len(losses) - np.argmin(losses) > _PATIENCE:
            break
    return int(np.argmin(losses))
