"""The lasso path of a loss, followed from one change of the features to the next.

Between two changes the coefficients move smoothly with the penalty, and the conditions
of the optimum give their slopes (Park & Hastie 2007). With the squared error they move
along straight lines, and one step leads to the next change (Efron et al. 2004).

:func:`lasso_path` standardizes the features, :class:`_Walk` follows the path. The
*correlation* of a feature and an output is the weighted product of the feature and the
residuals of the output; where the feature is in use, its size is the penalty.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve, lstsq
from scipy.special import expit, softmax

# An array of floats, whose shape docstrings say.
_Array = NDArray[np.float64]


class _Event(NamedTuple):
    """A coefficient enters the model, or leaves it."""

    feature: int
    output: int
    sign: int  # of the coefficient that enters; 0 of one that leaves


class _Point(NamedTuple):
    """A point of the path."""

    penalty: float
    coefficients: _Array  # (p, K)
    intercepts: _Array  # (K,)


# Signs of coefficients by feature and output; 0 of intercepts.
_Signs = dict[tuple[int, int], int]

# Relative standard deviation below which a column is constant.
_CONSTANT = 1e-10
# Relative spread of the penalties of features: the first of equally good ones enters.
_TIES = 1e-8
# Closing speeds below this are zero: copies of a feature in use follow the penalty.
_NO_SPEED = 1e-7
# Relative precision of a penalty at a change.
_SAME = 1e-9
# Relative length of a stretch of the path that counts as empty, up to ties.
_SHORT = 1e-7
# Share of the first penalty below which changes are rounding.
_FLOOR = 1e-8
# Smallest next penalty, as a share of the last, where slopes change: a longer step
# would start Newton's method too far from the path.
_SMALLEST_STEP = 0.5
# Largest gradient at which Newton's method ends, in units of the penalty,
_GRADIENT = 1e-10
# and absolute.
_ZERO_GRADIENT = 1e-13
# Limits of loops that end before, but for rounding: Newton's steps,
_MAX_STEPS = 30
# penalties tried for each change,
_MAX_PENALTIES = 60
# and changes for each feature.
_MAX_CHANGES = 20
# Correlations below this are zero: no feature explains the targets.
_NO_CORRELATION = 1e-12
# Share by which correlations clearly exceed the penalty, and coefficients zero.
_CROSSED = 1e-6


class SquaredError:
    """Half the squared error of scores (n, 1)."""

    end = 0.0  # share of the first penalty at which the path ends

    def null_intercepts(self, mean: _Array) -> _Array:
        """Intercepts of a model without features, from the mean of the targets."""
        return mean


class LogLoss:
    """Minus the log-likelihood: scores (n, 1) of two classes, (n, K) of more."""

    end = 1e-6  # coefficients of classes that can be separated grow without end

    def null_intercepts(self, mean: _Array) -> _Array:
        """Intercepts of a model without features, from the shares of the classes."""
        reference = 1 - mean if len(mean) == 1 else mean[-1:]
        return np.log(mean / reference)[: max(1, len(mean) - 1)]

    def mean(self, scores: _Array) -> _Array:
        """Probabilities."""
        return expit(scores) if scores.shape[1] == 1 else softmax(scores, axis=1)

    def mean_slopes(self, mean: _Array, slopes: _Array) -> _Array:
        """Slopes of the probabilities, from the slopes of the scores."""
        return mean * (slopes - (mean * slopes).sum(axis=1, keepdims=True))

    def curvature(
        self, columns: _Array, outputs: NDArray[np.intp], mean: _Array, weights: _Array
    ) -> _Array:
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

    penalties: _Array
    coefficients: _Array
    intercepts: _Array
    order: list[int]
    scale: _Array

    @property
    def sizes(self) -> NDArray[np.intp]:
        """Number of features in use at each penalty."""
        return self.coefficients.any(axis=2).sum(axis=1)


def lasso_path(
    X: _Array,
    targets: _Array,
    weights: _Array,
    loss: SquaredError | LogLoss,
    n_features: int | None,
) -> LassoPath:
    """Follow the lasso path along its first stretch with `n_features` features.

    The path stops where the next feature enters. If a feature leaves instead, it stops
    half-way. The penalty is on standardized features, the results are for X itself.

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
    design = np.where(varies, design / unit, 0.0)
    walk: _Walk
    if isinstance(loss, SquaredError):
        walk = _SquaresWalk(design, targets, weights, loss)
    else:
        walk = _LogLossWalk(design, targets, weights, loss)
    walk.follow(n_features)
    penalties, coefficients, intercepts = map(np.array, zip(*walk.points, strict=True))
    # Back from standardized features, centred at zero.
    coefficients /= unit[:, None]
    intercepts = intercepts - np.einsum("j,mjk->mk", centre, coefficients)
    if intercepts.shape[1] > 1:  # determined up to a constant
        intercepts -= intercepts.mean(axis=1, keepdims=True)
    return LassoPath(penalties, coefficients, intercepts, walk.order, scale)


class _Walk(ABC):
    """A walk along the path: the coefficients in use, and the points where they change.

    In all methods, `values` are the coefficients and intercepts in use, in the order of
    `_signs`. A subclass fits them at a penalty (`_fit_at`), and knows their slopes and
    the correlations of features there, from a state that fits return.
    """

    # Smallest next penalty, as a share of the last.
    _smallest_step: float

    def __init__(
        self,
        design: _Array,
        targets: _Array,
        weights: _Array,
        loss: SquaredError | LogLoss,
    ) -> None:
        n_rows, self._n_features = design.shape
        self._design = np.column_stack([design, np.ones(n_rows)])
        self._targets, self._weights, self._loss = targets, weights, loss
        # Signs of the coefficients in use, by feature and output. The coefficients of
        # the column of ones are the intercepts, of sign 0; of three and more, one is
        # free.
        n_intercepts = max(1, targets.shape[1] - 1)
        self._use_signs({(self._n_features, k): 0 for k in range(n_intercepts)})
        self.points: list[_Point] = []
        self.order: list[int] = []

    def _use_signs(self, signs: _Signs) -> None:
        """Take the coefficients of these signs into use."""
        self._signs = signs
        self._used = tuple(map(np.array, zip(*signs, strict=True)))  # features, outputs
        self._used_signs = np.array(list(signs.values()), dtype=np.float64)

    @abstractmethod
    def _fit_at(self, values: _Array, penalty: float) -> tuple[_Array, _Array] | None:
        """Values in use at a penalty, from others, and a state; None if that fails."""

    @abstractmethod
    def _slopes(self, state: _Array) -> _Array:
        """Slopes of the values in use as the penalty grows."""

    @abstractmethod
    def _correlations_and_falls(
        self, state: _Array, slopes: _Array
    ) -> tuple[_Array, _Array]:
        """Correlations (p + 1, K) of all features, and their falls along slopes."""

    def follow(self, n_features: int | None) -> None:
        """Walk until `n_features` features are in use."""
        values = self._loss.null_intercepts(self._weights @ self._targets)
        residuals = self._targets - self._weights @ self._targets
        correlations = (self._design.T @ (self._weights[:, None] * residuals))[:-1]
        event, size = _strongest_event(correlations), 0
        since = np.inf  # the penalty at which this number of features came into use
        penalty = 0.0 if event is None else np.abs(correlations).max()
        self._end = self._loss.end * penalty
        self._floor = max(_FLOOR * penalty, self._end)
        self._add_point(penalty, values)
        for _ in range(_MAX_CHANGES * correlations.size):
            if event is None:
                break
            start_values = values = self._exchange(event, values)
            if _n_used(self._signs) != size:
                size, since = _n_used(self._signs), penalty
            start = penalty
            values, penalty, event = self._next_change(values, start)
            next_signs = _signs_after(self._signs, event) if event else self._signs
            next_size = _n_used(next_signs)
            is_last = size == n_features and since - penalty > _SHORT * since
            if is_last and next_size < size:
                values, penalty = self._fit_middle(start_values, start, values, penalty)
            elif event is not None and not event.sign:
                pair = event.feature, event.output
                values[list(self._signs).index(pair)] = 0.0
            if event is None or start - penalty > _SHORT * start:
                self._add_point(penalty, values)
            if is_last and next_size != size:
                break

    def _add_point(self, penalty: float, values: _Array) -> None:
        """Add a point of the path."""
        table = np.zeros((self._n_features + 1, self._targets.shape[1]))
        table[self._used] = values
        self.points.append(_Point(penalty, table[:-1], table[-1]))

    def _exchange(self, event: _Event, values: _Array) -> _Array:
        """Add or drop a coefficient; the values of the coefficients then in use."""
        old_values = dict(zip(self._signs, values, strict=True))
        self._use_signs(_signs_after(self._signs, event))
        if event.feature not in self.order:
            self.order.append(event.feature)
        return np.array([old_values.get(pair, 0.0) for pair in self._signs])

    def _next_change(
        self, values: _Array, start: float
    ) -> tuple[_Array, float, _Event | None]:
        """Values, penalty and event of the next coefficient that comes or goes.

        The event is None where the path ends.
        """
        event: _Event | None
        penalty = last = start
        guess, slopes = values, np.zeros(len(values))
        for _ in range(_MAX_PENALTIES):
            fitted = self._fit_at(guess, penalty)
            if fitted is None:  # too far for Newton's method
                penalty = (penalty + last) / 2
            else:
                (values, state), last = fitted, penalty
                slopes = self._slopes(state)
                next_penalty, event = self._next_event(
                    values, slopes, state, last, start
                )
                start = last if next_penalty <= last else start
                if next_penalty <= self._floor:
                    next_penalty, event = self._end, None
                if abs(next_penalty - last) <= _SAME * last:
                    return values, last, event
                penalty = max(next_penalty, self._smallest_step * last)
            guess = values + slopes * (penalty - last)
        return values, last, None

    def _fit_middle(
        self, values: _Array, penalty: float, last_values: _Array, last_penalty: float
    ) -> tuple[_Array, float]:
        """Values and penalty between two points, nearer to the last one if need be."""
        fitted = None
        while fitted is None:
            values, penalty = (values + last_values) / 2, (penalty + last_penalty) / 2
            fitted = self._fit_at(values, penalty)
        return fitted[0], penalty

    def _next_event(
        self,
        values: _Array,
        slopes: _Array,
        state: _Array,
        penalty: float,
        start: float,
    ) -> tuple[float, _Event]:
        """Penalty and event of the next change along the slopes."""
        used, used_signs = self._used, self._used_signs
        correlations, correlations_fall = self._correlations_and_falls(state, slopes)
        # Gaps (2, p + 1, K) to the next changes, and speeds at which they close as the
        # penalty falls. The correlation of a feature reaches the penalty, with either
        # sign; a coefficient in use reaches zero (it has the first of the two entries).
        signs = np.array([1, -1])[:, None, None]
        gaps, speeds = penalty - signs * correlations, 1 + signs * correlations_fall
        speeds[speeds <= _NO_SPEED] = 0.0
        sizes, shrinks = used_signs * values, used_signs * slopes > 0
        has_crossed = sizes < -_CROSSED * np.abs(values).max()
        gap_beyond = np.where(has_crossed, -penalty, 0.0)
        gaps[0][used], gaps[1][used] = np.where(shrinks, sizes, gap_beyond), 0.0
        speeds[0][used] = np.where(shrinks, used_signs * slopes, 0.0)
        speeds[1][used] = 0.0
        with np.errstate(divide="ignore", invalid="ignore"):
            penalties = np.where(speeds > 0, penalty - gaps / speeds, -np.inf)
        # Coefficients beyond their bound have crossed it between the start and here.
        is_beyond = (penalties > start) | (gaps < -_CROSSED * penalty) & (speeds == 0)
        penalties = np.where(is_beyond, (penalty + start) / 2, penalties)[:, :-1]
        side, feature, output = np.unravel_index(penalties.argmax(), penalties.shape)
        pair = int(feature), int(output)
        sign = 0 if pair in self._signs else 1 - 2 * int(side)
        return penalties[side, feature, output], _Event(*pair, sign)


class _SquaresWalk(_Walk):
    """A walk with the squared error: products of features take the place of rows.

    The state of a fit are the correlations of all features.
    """

    _smallest_step = 0.0  # slopes stay the same until the next change

    def __init__(self, *args: Any) -> None:
        self._products: dict[int, _Array] = {}  # by feature, with all features (p + 1,)
        super().__init__(*args)
        weighted = self._weights[:, None] * self._targets
        self._first_correlations = self._design.T @ weighted

    def _use_signs(self, signs: _Signs) -> None:
        super()._use_signs(signs)
        features = self._used[0].tolist()
        for feature in features:
            if feature not in self._products:
                weighted = self._weights * self._design[:, feature]
                self._products[feature] = weighted @ self._design
        self._used_products = np.array(
            [self._products[feature] for feature in features]
        )
        self._hessian = self._used_products[:, features]
        self._slopes_of_signs = -_solve(self._hessian, self._used_signs)

    def _fit_at(self, values: _Array, penalty: float) -> tuple[_Array, _Array]:
        gradient = self._first_correlations[self._used] - self._hessian @ values
        gradient -= penalty * self._used_signs
        # A solution anew would move coefficients that are zero by rounding.
        if np.abs(gradient).max() > _GRADIENT * penalty + _ZERO_GRADIENT:
            values = values + _solve(self._hessian, gradient)
        products = values @ self._used_products
        return values, self._first_correlations - products[:, None]

    def _slopes(self, state: _Array) -> _Array:
        return self._slopes_of_signs

    def _correlations_and_falls(
        self, state: _Array, slopes: _Array
    ) -> tuple[_Array, _Array]:
        return state, (slopes @ self._used_products)[:, None]


class _LogLossWalk(_Walk):
    """A walk with the log-loss; the state of a fit are the probabilities (n, K)."""

    _smallest_step = _SMALLEST_STEP
    _loss: LogLoss

    def _use_signs(self, signs: _Signs) -> None:
        super()._use_signs(signs)
        self._columns = self._design[:, self._used[0]]

    def _scores(self, values: _Array) -> _Array:
        """Scores (n, K) of the values in use."""
        in_output = self._used[1][:, None] == range(self._targets.shape[1])
        return self._columns @ (values[:, None] * in_output)

    def _correlations(self, residuals: _Array) -> _Array:
        """Weighted products of features and residuals (n, K): (p + 1, K)."""
        return self._design.T @ (self._weights[:, None] * residuals)

    def _correlations_and_falls(
        self, state: _Array, slopes: _Array
    ) -> tuple[_Array, _Array]:
        falls = self._loss.mean_slopes(state, self._scores(slopes))
        return self._correlations(self._targets - state), self._correlations(falls)

    def _fit_at(self, values: _Array, penalty: float) -> tuple[_Array, _Array] | None:
        outputs, weights = self._used[1], self._weights[:, None]
        for _ in range(_MAX_STEPS):
            mean = self._loss.mean(self._scores(values))
            residuals = (weights * (self._targets - mean))[:, outputs]
            gradient = np.einsum("nm,nm->m", self._columns, residuals)
            gradient -= penalty * self._used_signs
            if np.abs(gradient).max() <= _GRADIENT * penalty + _ZERO_GRADIENT:
                return values, mean
            values = values + self._newton_step(mean, gradient)
            if not np.isfinite(values).all():
                return None
        return None

    def _slopes(self, state: _Array) -> _Array:
        return -self._newton_step(state, self._used_signs)

    def _newton_step(self, mean: _Array, gradient: _Array) -> _Array:
        """Newton's step for a gradient."""
        hessian = self._loss.curvature(
            self._columns, self._used[1], mean, self._weights
        )
        return _solve(hessian, gradient)


def _solve(hessian: _Array, gradient: _Array) -> _Array:
    """The Newton step for a gradient; the shortest one if the Hessian is singular."""
    try:
        return cho_solve(cho_factor(hessian), gradient)
    except LinAlgError:
        return lstsq(hessian, gradient)[0]


def _strongest_event(correlations: _Array) -> _Event | None:
    """The coefficient of the largest correlation, with its sign, or None."""
    feature, output = np.unravel_index(
        np.abs(correlations).argmax(), correlations.shape
    )
    correlation = correlations[feature, output]
    if abs(correlation) <= _NO_CORRELATION:
        return None
    return _Event(int(feature), int(output), int(np.sign(correlation)))


def _signs_after(signs: _Signs, event: _Event) -> _Signs:
    """Signs of the coefficients in use after one enters, or leaves (sign 0)."""
    pair = event.feature, event.output
    unchanged = {key: sign for key, sign in signs.items() if key != pair}
    return {**unchanged, pair: event.sign} if event.sign else unchanged


def _n_used(signs: _Signs) -> int:
    """Number of features in use."""
    return len({feature for (feature, _), sign in signs.items() if sign})
