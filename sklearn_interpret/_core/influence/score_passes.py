"""A model of one linear score without a penalty, fitted in passes over its rows.

Each pass is a step of iterated weighted least squares (McCullagh & Nelder, 1989) for
the residuals of the last parameters, on columns that the pass before has made nearly
orthonormal: as Cholesky QR twice (Yamamoto et al., 2015).
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import block_diag
from scipy.linalg.lapack import dpstrf

from sklearn_interpret._core.regression.separation import FLAT
from sklearn_interpret._core.regression.working_regression import FittedRegression
from sklearn_interpret._core.statistics.score_losses import Logistic
from sklearn_interpret._core.statistics.weighted import (
    CrossProducts,
    Moments,
    row_blocks,
)

# Columns whose residual on others is below this part of their size depend on them:
# cross products have half the digits of their columns. Smaller sizes, relative to the
# mean, are rounding.
_DEPENDENT, _CONSTANT = 1e-6, 1e-12
# A step below this part of the parameters' errors is rounding; most passes.
_CLOSE, _MOST_PASSES = 1e-11, 50
# Relative rise of the deviance, and size of the objective, that are rounding.
_RISE, _ROUNDING = 1e-9, 1e-12
# Least ratio of the gains of two passes that do not converge quadratically.
_LINEAR = 0.1
_EPS = np.finfo(np.float64).eps


@dataclass(frozen=True)
class Step:
    """Parameters, and the columns in which their next change is found.

    Parameters
    ----------
    parameters : ndarray of shape (d,)
        The parameters; with an intercept as the last one if `free`.
    centre, matrix : ndarray of shape (d',), (d', r)
        Columns less the centre are multiplied by the matrix; None leaves them.
    free : bool
        Whether there is an intercept.
    null_score : float
        The score of a model of the intercept alone.
    """

    parameters: np.ndarray
    centre: np.ndarray
    matrix: np.ndarray
    free: bool
    null_score: float = 0.0


@dataclass(frozen=True)
class PassSums:
    """Sums over rows at some parameters; those of two sets of rows can be merged.

    Parameters
    ----------
    products : CrossProducts
        Of the transformed columns and the working residuals behind them, with the
        working weights.
    columns : Moments
        Weight and mean of the columns themselves.
    totals : ndarray of shape (7,)
        Number of rows, weight, weighted targets, deviance, null deviance, squared
        Pearson residuals, and these times leverages.
    largest, flattest : float
        Largest size of a score, and smallest curvature of a row.
    """

    products: CrossProducts
    columns: Moments
    totals: np.ndarray
    largest: float
    flattest: float

    @classmethod
    def of_model(cls, step: Any, model: Any) -> Any:
        """Sums of the rows of a `ScoreModel` at a step."""
        blocks = row_blocks(*model.design.shape)
        return reduce(cls.merge, (cls._of_rows(step, model, block) for block in blocks))

    @classmethod
    @np.errstate(all="ignore")  # steps that are too long are halved
    def _of_rows(cls, step: Any, model: Any, rows: Any) -> Any:
        loss, weights, targets = model.loss, model.weights[rows], model.targets[rows]
        columns = model.design[rows, : len(step.centre)]
        scores = model.scores_at(step.parameters[:, None], rows)
        expected = loss.curvatures(loss.means(scores), scores)[:, 0, 0]
        slopes = -loss.slopes(targets, scores)[:, 0]
        residuals = np.divide(slopes, expected, out=0 * slopes, where=expected > 0)
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
        totals = [
            len(weights),
            weights.sum(),
            weights @ targets[:, 0],
            2 * weights @ loss.values(targets, scores),
            2 * weights @ loss.values(targets, null),
            pearson.sum(),
            pearson @ leverages,
        ]
        mean = working @ columns / (working.sum() or 1.0)
        moments = Moments(np.asarray(working.sum()), mean, 0 * mean)
        sizes = np.abs(scores).max(), expected.min()
        return cls(products, moments, np.array(totals), *sizes)

    def merge(self, other: Any) -> Any:
        """Sums of both sets of rows."""
        return PassSums(
            self.products.merge(other.products),
            self.columns.merge(other.columns),
            self.totals + other.totals,
            max(self.largest, other.largest),
            min(self.flattest, other.flattest),
        )

    def independent(self, step: Any) -> Any:
        """The sums and the step of independent columns of size one, and the others."""
        products, means = self.products.products[:-1, :-1], self.columns.mean
        sizes = np.sqrt(np.diag(products))
        flat = sizes <= _CONSTANT * np.abs(means) * np.sqrt(self.columns.weight)
        sizes = np.where(flat, 1.0, sizes)
        scaled = np.where(flat | flat[:, None], 0.0, products / np.outer(sizes, sizes))
        _, order, rank, _ = dpstrf(scaled, tol=_DEPENDENT**2, lower=1)
        kept = np.sort(order[:rank] - 1)
        matrix = (np.eye(len(sizes)) / sizes)[:, kept]
        both = block_diag(matrix, 1.0)
        cross = CrossProducts(
            self.products.weight,
            self.products.means @ both,
            both.T @ self.products.products @ both,
        )
        _, vectors = np.linalg.eigh(scaled)
        without = vectors[:, : len(sizes) - rank] / sizes[:, None]
        constants = [means @ without] * step.free
        without = np.vstack([without * sizes[:, None], *constants])
        dependent = np.flatnonzero((np.abs(without) > _DEPENDENT).any(axis=1))
        sums = replace(self, products=cross)
        return sums, replace(step, matrix=matrix), dependent

    def next(self, step: Any, loss: Any) -> Any:
        """The next step, and its gain: its squared length in errors of parameters."""
        products, means = self.products.products, self.products.means
        white = _whitening(products[:-1, :-1])
        gains = white.T @ products[:-1, -1]
        shift = white @ gains
        parameters, moved = step.parameters.copy(), step.matrix @ shift
        parameters[: len(moved)] += moved
        gain, centre, null = gains @ gains, step.centre, 0.0
        if step.free:
            parameters[-1] += means[-1] - means[:-1] @ shift - step.centre @ moved
            gain += self.columns.weight * means[-1] ** 2
            centre = self.columns.mean
            null = float(loss.scores(self.totals[2:3] / self.totals[1])[0])
        matrix = step.matrix @ white
        return Step(parameters, centre, matrix, step.free, null), gain

    @property
    def _rounding(self) -> Any:
        """Square of rounding errors of the scores, over the rows."""
        return (10 * _EPS * self.largest) ** 2 * self.columns.weight

    def is_rounding(self, gain: NDArray[np.float64]) -> Any:
        """Whether the gain of a step is too small to matter."""
        return gain <= max(_CLOSE**2 * self.totals[5] / self.totals[1], self._rounding)

    def distance(self, gain: NDArray[np.float64]) -> Any:
        """The gain of the first step, in gains of single rows."""
        single = self.totals[6] + _ROUNDING * self.totals[4] + self._rounding
        return gain / single if single > 0 else 0.0

    def may_be_separated(self, loss: Any) -> Any:
        """Whether a curvature is far below that without effects."""
        middle = 0.25
        if not isinstance(loss, Logistic):
            if not 1 <= getattr(loss, "power", 0) < 2:
                return False
            middle = (self.totals[2] / self.totals[1]) ** (2 - loss.power)
        return not self.flattest > FLAT * middle

    def inverse(self, step: Any) -> Any:
        """V (d, r) with the inverse information V V', at a step along V."""
        if not step.free:
            return step.matrix
        constants = -self.columns.mean @ step.matrix
        alone = np.append(0 * step.centre, 1 / np.sqrt(self.columns.weight))
        return np.column_stack([np.vstack([step.matrix, constants]), alone])


@dataclass(frozen=True)
class PassedRegression(FittedRegression):
    """The fitted model, for `WaldTests`.

    Parameters
    ----------
    parameters : ndarray of shape (d,)
        Where the likelihood is largest; of dependent columns some.
    inverse : ndarray of shape (d, r)
        V with the inverse information V V'.
    undetermined : ndarray of int
        Columns that depend on each other.
    totals : ndarray of shape (7,)
        As of `PassSums`.
    loss : object
        The loss.
    known_dispersion : bool
        Whether the dispersion is one.
    counts_rows : bool
        Whether weights are numbers of equal rows, and not precisions.
    distance : float
        Squared distance of the first parameters, in those of single rows.
    flat : bool
        Whether terms may separate classes, or zeros from positive targets.
    slow : bool
        Whether they seem to do so, for the passes gained as little as then.
    sums : callable
        Of a function of a `ScoreModel` and a merge: the result for all rows.
    """

    parameters: np.ndarray
    inverse: np.ndarray
    undetermined: np.ndarray
    totals: np.ndarray
    loss: object
    known_dispersion: bool
    counts_rows: bool
    distance: float
    flat: bool
    slow: bool
    sums: Callable

    @classmethod
    def fit(
        cls,
        sums: NDArray[np.float64],
        loss: Any,
        own: Any,
        free: NDArray[np.bool_],
        known_dispersion: Any,
        counts_rows: Any,
    ) -> Any:
        """Fit in passes; None if they do not converge.

        Parameters
        ----------
        sums : callable
            As above.
        loss : object
            The loss.
        own : ndarray of shape (d,)
            Parameters to begin with.
        free : bool
            Whether the last one is an intercept.
        known_dispersion, counts_rows : bool
            As above.
        """
        n_columns = len(own) - free
        step = Step(own, np.zeros(n_columns), None, free)
        first = dependent = last = None
        before, deviance = own, np.inf
        for _ in range(_MOST_PASSES):
            found = sums(partial(PassSums.of_model, step), PassSums.merge)
            if not found.totals[3] <= deviance * (1 + _RISE) and first is not None:
                halved = (step.parameters + before) / 2
                step = replace(step, parameters=halved)
                continue
            before, deviance = step.parameters, found.totals[3]
            if first is None:
                found, step, dependent = found.independent(step)
            following, gain = found.next(step, loss)
            if first is None:
                first = gain
            elif found.is_rounding(gain):
                flat = found.may_be_separated(loss)
                # Along a separating direction each pass gains 1 / e of the last one.
                slow = not found.is_rounding(last) and gain > _LINEAR * last
                return cls(
                    step.parameters,
                    found.inverse(replace(following, parameters=step.parameters)),
                    dependent,
                    found.totals,
                    loss,
                    known_dispersion,
                    counts_rows,
                    found.distance(first),
                    flat,
                    flat and slow,
                    sums,
                )
            step, last = following, gain
        return None

    @property
    def n_rows(self) -> Any:
        """Number of rows."""
        return int(self.totals[0])

    @property
    def total_weight(self) -> Any:
        """Sum of the weights."""
        return self.totals[1]

    @property
    def effective_dof(self) -> Any:
        """Number of parameters that the rows determine."""
        return self.inverse.shape[1]

    @property
    def deviance(self) -> Any:
        """The deviance."""
        return self.totals[3]

    def null_deviance(self, has_intercept: Any) -> Any:
        """The deviance of the intercept, or of a score of zero."""
        return self.totals[4]

    @property
    def pearson_statistic(self) -> Any:
        """Sum of the squared Pearson residuals."""
        return self.totals[5]


def _whitening(products: NDArray[np.float64]) -> Any:
    """M (r, r) by which M' P M is the identity, for products P of independent columns.

    Eigenvectors, which have the most digits.
    """
    values, vectors = np.linalg.eigh(products)
    return vectors / np.sqrt(np.maximum(values, _EPS * values.max(initial=0)))
