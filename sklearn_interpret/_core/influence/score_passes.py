"""A model of one linear score without a penalty, fitted in passes over its rows.

Each pass is a step of iterated weighted least squares (McCullagh & Nelder, 1989) for
the residuals of the last parameters, on columns that the pass before has made nearly
orthonormal, as "Cholesky QR2" does (Yamamoto et al., 2015).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial, reduce
from operator import add
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import block_diag
from scipy.linalg.lapack import dpstrf

from sklearn_interpret._core.influence.score_models import ScoreModel
from sklearn_interpret._core.regression.separation import FLAT
from sklearn_interpret._core.regression.working_regression import (
    FittedRegression,
    SumsOverRows,
)
from sklearn_interpret._core.statistics.score_losses import (
    HalfTweedie,
    Logistic,
    RegressionLoss,
)
from sklearn_interpret._core.statistics.weighted import (
    CrossProducts,
    Moments,
    ratio_or_zero,
    row_blocks,
)

_Model: TypeAlias = ScoreModel[RegressionLoss]

# Columns whose residual on others is below this share of their size depend on them:
# cross products have half the digits of their columns.
_DEPENDENT = 1e-6
# Columns of a size below this share of their mean are constant: the rest is rounding.
_CONSTANT = 1e-12
# A step below this share of the parameters' errors is rounding.
_CLOSE = 1e-11
# Limits the passes over the rows: passes to the maximum of a likelihood converge
# quadratically; along a separating direction each pass gains 1 / e of the last gain.
_MOST_PASSES = 50
# Relative rise of the deviance that is rounding.
_RISE = 1e-9
# Relative rounding of the deviance.
_ROUNDING = 1e-12
# Least ratio of the gains of two passes that do not converge quadratically.
_LINEAR = 0.1
_EPS = np.finfo(np.float64).eps


class Totals(NamedTuple):
    """Sums over rows."""

    n_rows: float
    weight: float
    targets: float  # weighted
    deviance: float
    null_deviance: float
    pearson: float  # squared Pearson residuals
    pearson_leverages: float  # squared Pearson residuals times leverages

    def merge(self, totals: Totals) -> Totals:
        """Totals of both sets of rows."""
        return Totals._make(map(add, self, totals))


@dataclass(frozen=True)
class Step:
    """Parameters, and the columns that the next change is computed in.

    Parameters
    ----------
    parameters : ndarray of shape (d,)
        The parameters; the last one is an intercept if `free`.
    centre, matrix : ndarray of shape (d',), (d', r)
        Columns less the centre are multiplied by the matrix; in the first pass it is
        None, and the columns stay as they are.
    free : bool
        Whether there is an intercept.
    null_score : float
        The score of a model of the intercept alone.
    """

    parameters: NDArray[np.float64]
    centre: NDArray[np.float64]
    matrix: NDArray[np.float64] | None
    free: bool
    null_score: float = 0.0

    @property
    def directions(self) -> NDArray[np.float64]:
        """The matrix of a step after the first pass."""
        assert self.matrix is not None
        return self.matrix


@dataclass(frozen=True)
class PassSums:
    """Sums over rows at some parameters; sums of two sets of rows can be merged.

    Parameters
    ----------
    products : CrossProducts
        Products of the transformed columns, with the working residuals as the last
        column, by the working weights.
    columns : Moments
        Weight and mean of the columns themselves.
    totals : Totals
        Totals of the rows.
    largest, flattest : float
        Largest size of a score, and smallest curvature of a row.
    """

    products: CrossProducts
    columns: Moments
    totals: Totals
    largest: float
    flattest: float

    @classmethod
    def of_model(cls, step: Step, model: _Model) -> PassSums:
        """Sums of the rows of a `ScoreModel` at a step."""
        blocks = row_blocks(*model.design.shape)
        return reduce(cls.merge, (cls._of_rows(step, model, block) for block in blocks))

    @classmethod
    @np.errstate(all="ignore")  # steps that are too long are halved
    def _of_rows(cls, step: Step, model: _Model, rows: slice) -> PassSums:
        """Sums of some of the rows."""
        loss, weights, targets = model.loss, model.weights[rows], model.targets[rows]
        columns = model.design[rows, : len(step.centre)]
        scores = model.scores_at(step.parameters[:, None], rows)
        expected = loss.curvatures(loss.means(scores), scores)[:, 0, 0]
        slopes = -loss.slopes(targets, scores)[:, 0]
        residuals = ratio_or_zero(slopes, expected)
        working = weights * expected
        transformed = columns
        if step.matrix is not None:
            transformed = (columns - step.centre) @ step.matrix
        products = CrossProducts.of_rows(
            np.column_stack([transformed, residuals]), working, centred=step.free
        )
        null = np.full_like(targets, step.null_score)
        pearson = working * residuals**2
        leverages = working * np.einsum("nr,nr->n", transformed, transformed)
        totals = Totals(
            n_rows=float(len(weights)),
            weight=weights.sum(),
            targets=float(weights @ targets[:, 0]),
            deviance=float(2 * weights @ loss.values(targets, scores)),
            null_deviance=float(2 * weights @ loss.values(targets, null)),
            pearson=pearson.sum(),
            pearson_leverages=pearson @ leverages,
        )
        mean = working @ columns / (working.sum() or 1.0)
        moments = Moments(np.asarray(working.sum()), mean, 0 * mean)
        largest, flattest = np.abs(scores).max(), expected.min()
        return cls(products, moments, totals, largest, flattest)

    def merge(self, other: PassSums) -> PassSums:
        """Sums of both sets of rows."""
        return PassSums(
            self.products.merge(other.products),
            self.columns.merge(other.columns),
            self.totals.merge(other.totals),
            max(self.largest, other.largest),
            min(self.flattest, other.flattest),
        )

    def drop_dependent(self, step: Step) -> tuple[PassSums, Step, NDArray[np.intp]]:
        """Sums and step of independent columns of size one, and dependent columns."""
        products, means = self.products.products[:-1, :-1], self.columns.mean
        sizes = np.sqrt(np.diag(products))
        flat = sizes <= _CONSTANT * np.abs(means) * np.sqrt(self.columns.weight)
        sizes = np.where(flat, 1.0, sizes)
        scaled = np.where(flat | flat[:, None], 0.0, products / np.outer(sizes, sizes))
        _, order, rank, _ = dpstrf(scaled, tol=_DEPENDENT**2, lower=1)
        independent = np.sort(order[:rank] - 1)
        matrix = (np.eye(len(sizes)) / sizes)[:, independent]
        transform = block_diag(matrix, 1.0)
        cross = CrossProducts(
            self.products.weight,
            self.products.means @ transform,
            transform.T @ self.products.products @ transform,
        )
        _, vectors = np.linalg.eigh(scaled)
        null_vectors = vectors[:, : len(sizes) - rank] / sizes[:, None]
        constants = [means @ null_vectors] * step.free
        null_vectors = np.vstack([null_vectors * sizes[:, None], *constants])
        dependent = np.flatnonzero((np.abs(null_vectors) > _DEPENDENT).any(axis=1))
        sums = replace(self, products=cross)
        return sums, replace(step, matrix=matrix), dependent

    def next_step(self, step: Step, loss: RegressionLoss) -> tuple[Step, float]:
        """The next step, and its gain: its squared length in errors of parameters."""
        products, means = self.products.products, self.products.means
        white = _whitening_matrix(products[:-1, :-1])
        gains = white.T @ products[:-1, -1]
        shift = white @ gains
        parameters, change = step.parameters.copy(), step.directions @ shift
        parameters[: len(change)] += change
        gain, centre, null = float(gains @ gains), step.centre, 0.0
        if step.free:
            parameters[-1] += means[-1] - means[:-1] @ shift - step.centre @ change
            gain += self.columns.weight * means[-1] ** 2
            centre = self.columns.mean
            mean = np.array([self.totals.targets / self.totals.weight])
            null = float(loss.scores(mean)[0])
        matrix = step.directions @ white
        return Step(parameters, centre, matrix, step.free, null), gain

    @property
    def _rounding(self) -> float:
        """Square of rounding errors of the scores, over the rows."""
        return float((10 * _EPS * self.largest) ** 2 * self.columns.weight)

    def is_rounding(self, gain: float) -> bool:
        """Whether the gain of a step is too small to matter."""
        least = _CLOSE**2 * self.totals.pearson / self.totals.weight
        return gain <= max(least, self._rounding)

    def distance(self, gain: float) -> float:
        """The gain of the first step, in units of the gains of single rows."""
        totals = self.totals
        rounding = _ROUNDING * totals.null_deviance
        single = totals.pearson_leverages + rounding + self._rounding
        return gain / single if single > 0 else 0.0

    def may_be_separated(self, loss: RegressionLoss) -> bool:
        """Whether a curvature is far below the curvature without effects."""
        if isinstance(loss, Logistic):
            middle = 0.25
        elif isinstance(loss, HalfTweedie) and 1 <= loss.power < 2:
            middle = (self.totals.targets / self.totals.weight) ** (2 - loss.power)
        else:
            return False
        return not self.flattest > FLAT * middle

    def inverse(self, step: Step) -> NDArray[np.float64]:
        """V (d, r) with the inverse information V V', at a step along V."""
        if not step.free:
            return step.directions
        constants = -self.columns.mean @ step.directions
        intercept = np.append(0 * step.centre, 1 / np.sqrt(self.columns.weight))
        return np.column_stack([np.vstack([step.directions, constants]), intercept])


@dataclass(frozen=True)
class PassedRegression(FittedRegression):
    """The fitted model, for `WaldTests`.

    Parameters
    ----------
    parameters : ndarray of shape (d,)
        Parameters of the largest likelihood; one solution if columns are dependent.
    inverse : ndarray of shape (d, r)
        V with the inverse information V V'.
    undetermined : ndarray of int
        Columns that depend on each other.
    totals : Totals
        Totals of all rows.
    loss : loss of `score_losses`
        The loss.
    known_dispersion : bool
        Whether the dispersion is one.
    counts_rows : bool
        Whether weights are numbers of equal rows, and not precisions.
    distance : float
        Squared distance of the first parameters, as of `PassSums.distance`.
    flat : bool
        Whether terms may separate classes, or zeros from positive targets.
    slow : bool
        Whether terms seem to separate, since the passes converged slowly.
    sums : callable
        Takes a function of a `ScoreModel`, and a function that merges two of its
        results; returns the result for all rows.
    """

    parameters: NDArray[np.float64]
    inverse: NDArray[np.float64]
    undetermined: NDArray[np.intp]
    totals: Totals
    loss: RegressionLoss
    known_dispersion: bool
    counts_rows: bool
    distance: float
    flat: bool
    slow: bool
    sums: SumsOverRows

    @classmethod
    def fit(
        cls,
        sums: SumsOverRows,
        loss: RegressionLoss,
        start: NDArray[np.float64],
        free: bool,
        known_dispersion: bool,
        counts_rows: bool,
    ) -> PassedRegression | None:
        """Fit in passes; None if they do not converge.

        Parameters
        ----------
        sums : callable
            As above.
        loss : loss of `score_losses`
            The loss.
        start : ndarray of shape (d,)
            Parameters to begin with.
        free : bool
            Whether the last one is an intercept.
        known_dispersion, counts_rows : bool
            As above.
        """
        n_columns = len(start) - free
        step = Step(start, np.zeros(n_columns), None, free)
        first_gain: float | None = None
        dependent, last_gain = np.arange(0), np.inf
        before, deviance = start, np.inf
        for _ in range(_MOST_PASSES):
            state = sums(partial(PassSums.of_model, step), PassSums.merge)
            if first_gain is not None and not state.totals.deviance <= deviance * (
                1 + _RISE
            ):
                halved = (step.parameters + before) / 2
                step = replace(step, parameters=halved)
                continue
            before, deviance = step.parameters, state.totals.deviance
            if first_gain is None:
                state, step, dependent = state.drop_dependent(step)
            following, gain = state.next_step(step, loss)
            if first_gain is None:
                first_gain = gain
            elif state.is_rounding(gain):
                flat = state.may_be_separated(loss)
                # Along a separating direction each pass gains 1 / e of the last one.
                was_rounding = state.is_rounding(last_gain)
                slow = not was_rounding and gain > _LINEAR * last_gain
                return cls(
                    parameters=step.parameters,
                    inverse=state.inverse(following),
                    undetermined=dependent,
                    totals=state.totals,
                    loss=loss,
                    known_dispersion=known_dispersion,
                    counts_rows=counts_rows,
                    distance=state.distance(first_gain),
                    flat=flat,
                    slow=flat and slow,
                    sums=sums,
                )
            step, last_gain = following, gain
        return None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.totals.n_rows)

    @property
    def total_weight(self) -> float:
        """Sum of the weights."""
        return self.totals.weight

    @property
    def effective_dof(self) -> float:
        """Number of parameters that the rows determine."""
        return self.inverse.shape[1]

    @property
    def deviance(self) -> float:
        """The deviance."""
        return self.totals.deviance

    def null_deviance(self, has_intercept: bool) -> float:
        """The deviance of the intercept, or of a score of zero."""
        return self.totals.null_deviance

    @property
    def pearson_statistic(self) -> float:
        """Sum of the squared Pearson residuals."""
        return self.totals.pearson


def _whitening_matrix(products: NDArray[np.float64]) -> NDArray[np.float64]:
    """M (r, r) by which M' P M is the identity, for products P of independent columns.

    Eigenvectors, which have the most digits.
    """
    values, vectors = np.linalg.eigh(products)
    return vectors / np.sqrt(np.maximum(values, _EPS * values.max(initial=0)))
