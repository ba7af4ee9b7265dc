"""The lasso path of a loss, followed from one change of the features to the next.

Between two changes the coefficients move smoothly with the penalty, and the conditions
of the optimum give their slopes (Park & Hastie 2007). With the squared error they move
along straight lines, and one step leads to the next change (Efron et al. 2004).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve, lstsq
from scipy.special import expit, softmax

# A feature, an output, and the sign of the coefficient that enters; 0 of one that goes.
_Event = tuple[int, int, int]
# Signs by feature and output.
_Signs = dict[tuple[int, int], int]

# Relative standard deviation below which a column is constant.
_CONSTANT = 1e-10
# Relative spread of the penalties of features: of equally good ones the first enters.
_TIES = 1e-8
# Closing speeds below this are zero: copies of a feature in use follow the penalty.
_FLAT = 1e-7
# Relative precision of a penalty at a change.
_SAME = 1e-9
# Relative length of a stretch of the path that counts as empty, up to ties.
_SHORT = 1e-7
# Share of the first penalty below which changes are rounding.
_FLOOR = 1e-8
# Smallest next penalty, as a share of the last, where slopes change: a longer step
# would start Newton's method too far from the path.
_TRUSTED = 0.5
# Largest gradient at which Newton's method ends, in units of the penalty and absolute.
_GRADIENT, _ZERO = 1e-10, 1e-13
# Limits of loops that end before, but for rounding: Newton's steps, penalties tried per
# change, changes per feature.
_STEPS, _TRIES, _CHANGES = 30, 60, 20
# Correlations below this are zero: no feature explains the targets.
_NO_CORRELATION = 1e-12
# Share by which correlations clearly exceed the penalty, and coefficients zero.
_CROSSED = 1e-6


class SquaredError:
    """Half the squared error of scores (n, 1)."""

    # Whether the Hessian is constant, and the share of the first penalty where the path
    # ends.
    quadratic, end = True, 0.0

    def null(self, mean: NDArray[np.float64]) -> NDArray[np.float64]:
        """Intercepts of a model without features, from the mean of the targets."""
        return mean

    def mean(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Predicted targets."""
        return scores

    def change(
        self, mean: NDArray[np.float64], slopes: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Slopes of the predicted targets, from those of the scores."""
        return slopes

    def curvature(
        self,
        columns: NDArray[np.float64],
        outputs: NDArray[np.intp],
        mean: NDArray[np.float64],
        weights: NDArray[np.float64],
    ) -> NDArray[np.float64]:
        """Second derivatives by coefficients of columns (n, m), one output each."""
        return (columns.T * weights) @ columns


class LogLoss:
    """Minus the log-likelihood: scores (n, 1) of two classes, (n, K) of more."""

    # Coefficients of classes that can be separated grow without end.
    quadratic, end = False, 1e-6

    def null(self, mean: NDArray[np.float64]) -> NDArray[np.float64]:
        """Intercepts of a model without features, from the shares of the classes."""
        reference = 1 - mean if len(mean) == 1 else mean[-1:]
        return np.log(mean / reference)[: max(1, len(mean) - 1)]

    def mean(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Probabilities."""
        return expit(scores) if scores.shape[1] == 1 else softmax(scores, axis=1)

    def change(
        self, mean: NDArray[np.float64], slopes: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Slopes of the probabilities, from those of the scores."""
        return mean * (slopes - (mean * slopes).sum(axis=1, keepdims=True))

    def curvature(
        self,
        columns: NDArray[np.float64],
        outputs: NDArray[np.intp],
        mean: NDArray[np.float64],
        weights: NDArray[np.float64],
    ) -> NDArray[np.float64]:
        """Second derivatives by coefficients of columns (n, m), one output each."""
        shares = columns * mean[:, outputs]
        same_output = outputs[:, None] == outputs
        within = np.where(same_output, (columns.T * weights) @ shares, 0.0)
        return within - (shares.T * weights) @ shares


@dataclass(frozen=True)
class LassoPath:
    """Coefficients at the penalties where features enter or leave.

    Parameters
    ----------
    penalties : ndarray of shape (m,)
        From the least penalty that leaves no feature, down.
    coefficients : ndarray of shape (m, p, K)
        Coefficients.
    intercepts : ndarray of shape (m, K)
        Intercepts.
    order : list of int
        Features in the order in which they enter for the first time.
    scale : ndarray of shape (p,)
        Standard deviations of the features; 1 of constant ones.
    """

    penalties: NDArray[np.float64]
    coefficients: NDArray[np.float64]
    intercepts: NDArray[np.float64]
    order: list[int]
    scale: NDArray[np.float64]

    @property
    def sizes(self) -> NDArray[np.intp]:
        """Number of features in use at each penalty."""
        return self.coefficients.any(axis=2).sum(axis=1)


def lasso_path(
    X: NDArray[np.float64],
    targets: NDArray[np.float64],
    weights: NDArray[np.float64],
    loss: SquaredError | LogLoss,
    n_features: int | None,
) -> LassoPath:
    """Follow the lasso path along its first stretch with `n_features` features.

    It stops where the next feature enters. If one leaves instead, it stops half-way.
    The penalty is for standardized features, the results for those of X.

    Parameters
    ----------
    X : ndarray of shape (n, p)
        Features.
    targets : ndarray of shape (n, K)
        Targets, or indicators of classes.
    weights : ndarray of shape (n,)
        Weights of the rows, which sum to one.
    loss : SquaredError or LogLoss
        The loss that is penalised.
    n_features : int or None
        Number of features to stop with; None follows the path to its end.

    Returns
    -------
    LassoPath
    """
    centre = weights @ X
    design = X - centre
    spread = np.sqrt(weights @ np.square(design))
    varies = spread > _CONSTANT * np.abs(X).max(axis=0)
    scale = np.where(varies, spread, 1.0)
    unit = scale * (1 + _TIES * np.arange(len(scale)) / len(scale))
    walk = _Walk(np.where(varies, design / unit, 0.0), targets, weights, loss)
    walk.follow(n_features)
    penalties, coefficients, intercepts = map(np.array, zip(*walk.points, strict=True))
    coefficients /= unit[:, None]
    intercepts = intercepts - np.einsum("j,mjk->mk", centre, coefficients)
    if intercepts.shape[1] > 1:  # determined up to a constant
        intercepts -= intercepts.mean(axis=1, keepdims=True)
    return LassoPath(penalties, coefficients, intercepts, walk.order, scale)


class _Walk:
    """A walk along the path: coefficients in use, and points where these change."""

    def __init__(
        self,
        design: NDArray[np.float64],
        targets: NDArray[np.float64],
        weights: NDArray[np.float64],
        loss: SquaredError | LogLoss,
    ) -> None:
        n_rows, self._n_features = design.shape
        self._design = np.column_stack([design, np.ones(n_rows)])
        self._targets, self._weights, self._loss = targets, weights, loss
        # Signs of the coefficients in use, by feature and output. Those of the column
        # of ones are intercepts, of sign 0; of three and more one is free.
        n_intercepts = max(1, targets.shape[1] - 1)
        self._use({(self._n_features, k): 0 for k in range(n_intercepts)})
        self.points: list[tuple[float, NDArray[np.float64], NDArray[np.float64]]] = []
        self.order: list[int] = []

    def _use(self, signs: _Signs) -> None:
        """Take the coefficients of these signs into use."""
        self._signs = signs
        self._matrix: NDArray[np.float64] | None = None
        self._used = tuple(map(np.array, zip(*signs, strict=True)))
        self._sides = np.array(list(signs.values()), dtype=np.float64)
        self._columns = self._design[:, self._used[0]]

    def follow(self, n_features: int | None) -> None:
        """Walk until `n_features` features are in use."""
        values = self._loss.null(self._weights @ self._targets)
        mean = self._loss.mean(self._scores(values))
        correlations = self._correlations(self._targets - mean)[:-1]
        event, size = _strongest(correlations), 0
        since = np.inf  # the penalty at which this number of features came into use
        penalty = 0.0 if event is None else np.abs(correlations).max()
        self._end = self._loss.end * penalty
        self._floor = max(_FLOOR * penalty, self._end)
        self._note(penalty, values)
        for _ in range(_CHANGES * correlations.size):
            if event is None:
                break
            first = values = self._exchange(event, values)
            if _size(self._signs) != size:
                size, since = _size(self._signs), penalty
            before = penalty
            values, penalty, event = self._next_change(values, before)
            after = size if event is None else _size(_exchanged(self._signs, event))
            is_last = size == n_features and since - penalty > _SHORT * since
            if is_last and after < size:
                values, penalty = self._half_way((first, before), (values, penalty))
            elif event is not None and not event[-1]:
                values[list(self._signs).index(event[:2])] = 0.0
            if event is None or before - penalty > _SHORT * before:
                self._note(penalty, values)
            if is_last and after != size:
                break

    def _note(self, penalty: float, values: NDArray[np.float64]) -> None:
        """Add a point of the path."""
        table = np.zeros((self._n_features + 1, self._targets.shape[1]))
        table[self._used] = values
        self.points.append((penalty, table[:-1], table[-1]))

    def _exchange(
        self, event: _Event, values: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Add or drop a coefficient; the values of those then in use."""
        old_values = dict(zip(self._signs, values, strict=True))
        self._use(_exchanged(self._signs, event))
        if event[0] not in self.order:
            self.order.append(event[0])
        return np.array([old_values.get(pair, 0.0) for pair in self._signs])

    def _next_change(
        self, values: NDArray[np.float64], start: float
    ) -> tuple[NDArray[np.float64], float, _Event | None]:
        """Values, penalty and event of the next coefficient that comes or goes.

        The event is None where the path ends.
        """
        event: _Event | None
        penalty = last = start
        guess, slopes = values, np.zeros(len(values))
        for _ in range(_TRIES):
            fitted = self._fitted(guess, penalty)
            if fitted is None:  # too far for Newton's method
                penalty = (penalty + last) / 2
            else:
                (values, mean), last = fitted, penalty
                slopes = -self._solved(mean, self._sides)
                next_penalty, event = self._nearest(values, slopes, mean, last, start)
                start = last if next_penalty <= last else start
                if next_penalty <= self._floor:
                    next_penalty, event = self._end, None
                if abs(next_penalty - last) <= _SAME * last:
                    return values, last, event
                least = 0.0 if self._loss.quadratic else _TRUSTED * last
                penalty = max(next_penalty, least)
            guess = values + slopes * (penalty - last)
        return values, last, None

    def _half_way(
        self,
        first: tuple[NDArray[np.float64], float],
        last: tuple[NDArray[np.float64], float],
    ) -> tuple[NDArray[np.float64], float]:
        """Values and penalty between two points, nearer to the last one if need be."""
        fitted = None
        while fitted is None:
            values, penalty = (first[0] + last[0]) / 2, (first[1] + last[1]) / 2
            fitted = self._fitted(values, penalty)
            first = values, penalty
        return fitted[0], penalty

    def _nearest(
        self,
        values: NDArray[np.float64],
        slopes: NDArray[np.float64],
        mean: NDArray[np.float64],
        penalty: float,
        start: float,
    ) -> tuple[float, _Event]:
        """Penalty and event of the next change along the slopes."""
        used, signs = self._used, self._sides
        correlations = self._correlations(self._targets - mean)
        correlations_fall = self._correlations(
            self._loss.change(mean, self._scores(slopes))
        )
        # The correlation of a feature reaches the penalty, with either sign; a
        # coefficient in use reaches zero.
        sides = np.array([1, -1])[:, None, None]
        room, closing = penalty - sides * correlations, 1 + sides * correlations_fall
        closing[closing <= _FLAT] = 0.0
        signed, nears = signs * values, signs * slopes > 0
        has_crossed = signed < -_CROSSED * np.abs(values).max()
        backwards = np.where(has_crossed, -penalty, 0.0)
        room[0][used], room[1][used] = np.where(nears, signed, backwards), 0.0
        closing[0][used], closing[1][used] = np.where(nears, signs * slopes, 0.0), 0.0
        with np.errstate(divide="ignore", invalid="ignore"):
            penalties = np.where(closing > 0, penalty - room / closing, -np.inf)
        # Those beyond their bound have crossed it below the start.
        crossed = (penalties > start) | (room < -_CROSSED * penalty) & (closing == 0)
        penalties = np.where(crossed, (penalty + start) / 2, penalties)[:, :-1]
        side, feature, output = np.unravel_index(penalties.argmax(), penalties.shape)
        entry = int(feature), int(output)
        sign = 0 if entry in self._signs else 1 - 2 * int(side)
        return penalties[side, feature, output], (*entry, sign)

    def _scores(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Scores (n, K) of the values in use."""
        in_output = self._used[1][:, None] == range(self._targets.shape[1])
        return self._columns @ (values[:, None] * in_output)

    def _correlations(self, residuals: NDArray[np.float64]) -> NDArray[np.float64]:
        """Weighted products of features and residuals (n, K): (p + 1, K)."""
        return self._design.T @ (self._weights[:, None] * residuals)

    def _fitted(
        self, values: NDArray[np.float64], penalty: float
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
        """Values in use at a penalty, and predicted targets; None where that fails."""
        outputs, weights = self._used[1], self._weights[:, None]
        for _ in range(_STEPS):
            mean = self._loss.mean(self._scores(values))
            residuals = (weights * (self._targets - mean))[:, outputs]
            gradient = np.einsum("nm,nm->m", self._columns, residuals)
            gradient -= penalty * self._sides
            if np.abs(gradient).max() <= _GRADIENT * penalty + _ZERO:
                return values, mean
            values = values + self._solved(mean, gradient)
            if not np.isfinite(values).all():
                return None
        return None

    def _solved(
        self, mean: NDArray[np.float64], gradient: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Newton's step for a gradient."""
        if self._matrix is None or not self._loss.quadratic:
            self._matrix = self._loss.curvature(
                self._columns, self._used[1], mean, self._weights
            )
        try:
            return cho_solve(cho_factor(self._matrix), gradient)
        except LinAlgError:
            return lstsq(self._matrix, gradient)[0]


def _strongest(correlations: NDArray[np.float64]) -> _Event | None:
    """The coefficient of the largest correlation, with its sign, or None."""
    feature, output = np.unravel_index(
        np.abs(correlations).argmax(), correlations.shape
    )
    correlation = correlations[feature, output]
    if abs(correlation) <= _NO_CORRELATION:
        return None
    return int(feature), int(output), int(np.sign(correlation))


def _exchanged(signs: _Signs, event: _Event) -> _Signs:
    """Signs of the coefficients in use after one comes, or goes (sign 0)."""
    feature, output, sign = event
    signs = {key: value for key, value in signs.items() if key != (feature, output)}
    return {**signs, (feature, output): sign} if sign else signs


def _size(signs: _Signs) -> int:
    """Number of features in use."""
    return len({feature for (feature, _), sign in signs.items() if sign})
