"""A model of one linear score as a weighted least squares fit at its optimum.

The working weight of row i is w_i v_i, where w_i is its weight and v_i the expected
curvature of its loss. A penalty is a prior, to which the rows are added. Formulas
follow McCullagh & Nelder (1989). :class:`FittedRegression` has the results that need
only sums over rows, :class:`WorkingRegression` also results that need each row;
:class:`WaldTests` are standard errors and tests of the parameters.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr, stdtrit

from sklearn_interpret._core.influence.score_models import ScoreModel
from sklearn_interpret._core.regression.overdispersion import (
    OverdispersionTest,
    Trials,
    excess_of_counts,
)
from sklearn_interpret._core.statistics.score_losses import (
    HalfSquared,
    Logistic,
    RegressionLoss,
)
from sklearn_interpret._core.statistics.weighted import row_blocks

_Model: TypeAlias = ScoreModel[RegressionLoss]
# Takes a function of a model of some rows, and a function that merges two of its
# results; gives the result for all rows.
SumsOverRows: TypeAlias = Callable[
    [Callable[[_Model], Any], Callable[[Any, Any], Any]], Any
]

# A row whose leverage is this near to one determines a parameter alone,
_DECISIVE = 1e-12
# or this near where leverages come from passes over the rows, which are less exact than
# singular vectors.
_DECISIVE_IN_PASSES = 1e-9
# Share of such rows in a parameter's variance that is rounding.
_ROUNDING_OF_SHARE = 1e-12
# Residuals below this share of the largest target are rounding.
_ROUNDING = 1e-14
# Residual degrees of freedom below this are rounding.
_ROUNDING_OF_DOF = 1e-9
# Columns whose residual on others is below this share of their size depend on them.
_DEPENDENT = 1e-9
# Newton's method for the intercept of a model without terms: the largest number of
# steps, more than halving an overflow takes;
_MAX_STEPS = 50
# the length of the last one;
_LAST_STEP = 1e-9
# and the relative rise of the deviance that is rounding.
_ROUNDING_OF_DEVIANCE = 1e-12


class FittedRegression:
    """Results of a fitted model of one score that need only sums over its rows.

    Subclasses have the properties below: `inverse` is V (d, r) with the inverse
    information V V', and `counts_rows` whether weights are numbers of equal rows and
    not precisions.
    """

    if TYPE_CHECKING:  # dataclasses would take them for the defaults of their fields

        @property
        def parameters(self) -> NDArray[np.float64]: ...
        @property
        def inverse(self) -> NDArray[np.float64]: ...
        @property
        def loss(self) -> RegressionLoss: ...
        @property
        def known_dispersion(self) -> bool: ...
        @property
        def counts_rows(self) -> bool: ...
        @property
        def n_rows(self) -> int: ...
        @property
        def total_weight(self) -> float: ...
        @property
        def effective_dof(self) -> float: ...
        @property
        def pearson_statistic(self) -> float: ...
        @property
        def sums(self) -> SumsOverRows: ...

    @property
    def n_observations(self) -> float:
        """Sum of the weights that count rows, else the number of rows."""
        return float(self.total_weight if self.counts_rows else self.n_rows)

    @property
    def residual_dof(self) -> float:
        """Number of observations, less the degrees of freedom."""
        return _without_rounding(self.n_observations - self.effective_dof)

    @cached_property
    def _trials(self) -> Trials:
        """Trials and successes at each log-odds, where targets are classes."""
        return self.sums(partial(_trials_by_log_odds, self.parameters), Trials.merge)

    @property
    def overdispersion(self) -> OverdispersionTest:
        """Test of counts, or of classes whose rows of equal log-odds are one target."""
        if isinstance(self.loss, Logistic):
            trials = self._trials
            statistic = trials.pearson_statistic
            excess, variance = trials.excess_sums()
        else:
            statistic = self.pearson_statistic
            task = partial(_excess_of_counts, self.parameters, self.counts_rows)
            excess, variance = self.sums(task, np.add)
        dof = self.dispersion_dof
        dispersion = statistic / dof if dof else np.nan
        return OverdispersionTest(dispersion, dof, excess, variance, self.effective_dof)

    @property
    def dispersion_dof(self) -> float:
        """Degrees of freedom of an estimated dispersion."""
        if isinstance(self.loss, Logistic):
            return _without_rounding(len(self._trials.trials) - self.effective_dof)
        return self.residual_dof

    @property
    def dispersion(self) -> float:
        """One where it is known, else Pearson's estimate."""
        if self.known_dispersion:
            return 1.0
        if isinstance(self.loss, Logistic):
            return self._trials.pearson_statistic / self.dispersion_dof
        return self.pearson_statistic / self.residual_dof

    def sandwich(self, kind: str) -> NDArray[np.float64]:
        """Covariance of the parameters (MacKinnon & White, 1985).

        In HC2 and HC3 it is NaN for parameters that rows of leverage one determine
        alone.
        """
        power = {"HC0": 0, "HC1": 0, "HC2": 1, "HC3": 2}[kind]
        task = partial(
            _bread_and_meat, self.parameters, self.inverse, power, self.counts_rows
        )
        observed, meat, decisive = self.sums(task, np.add)
        if kind == "HC1":
            meat = meat * (self.n_observations / self.residual_dof)
        bread = self.inverse @ np.linalg.inv(observed)
        covariance = bread @ meat @ bread.T
        if power:
            # Directions of rows of leverage one are orthogonal to all others: their
            # share in the variance of a parameter is one, or rounding.
            variances = (self.inverse**2).sum(axis=1)
            by_decisive = ((self.inverse @ decisive) * self.inverse).sum(axis=1)
            is_undetermined = by_decisive > _ROUNDING_OF_SHARE * variances
            covariance[is_undetermined] = covariance[:, is_undetermined] = np.nan
        return covariance

    def deviance_without_terms(self, has_intercept: bool) -> float:
        """The deviance of the intercept and the offsets, or of the offsets alone."""
        # Far from the optimum, numbers may overflow: steps are halved then.
        with np.errstate(over="ignore", invalid="ignore"):
            sums = self._sums_at_score(0.0)
            if not has_intercept:
                return sums.deviance
            mean = np.asarray(sums.target / sums.weight)
            score = float(self.loss.scores(mean) - sums.offset / sums.weight)
            last_score, lowest = score, np.inf
            for _ in range(_MAX_STEPS):
                sums = self._sums_at_score(score)
                if not sums.deviance <= lowest * (1 + _ROUNDING_OF_DEVIANCE):
                    score = (score + last_score) / 2
                    continue
                last_score, lowest = score, sums.deviance
                step = sums.slope / sums.curvature
                if abs(step) <= _LAST_STEP:
                    break
                score -= step
        return lowest

    def _sums_at_score(self, score: float) -> _SumsWithoutTerms:
        """Sums of a model without terms whose score is one number plus the offsets."""
        sums = self.sums(partial(_sums_without_terms, score), np.add)
        return _SumsWithoutTerms(*sums)


class Residuals(NamedTuple):
    """Residuals of rows, (n,) each."""

    deviance: NDArray[np.float64]
    pearson: NDArray[np.float64]


class Factors(NamedTuple):
    """Factors of the hat matrix U U' and of the inverse information V V'.

    With the working design A = diag(root) X and the penalties L:
    A (A'A + L)^-1 A' = U U', and (A'A + L)^-1 = V V'.
    """

    basis: NDArray[np.float64]  # U (n, r): its squares sum to leverages
    inverse: NDArray[np.float64]  # V (d, r)


@dataclass(frozen=True, eq=False)
class WorkingRegression(FittedRegression):
    """Leverages, residuals and dispersion of a model of one score.

    Parameters
    ----------
    model : ScoreModel
        With one score, at its optimum.
    known_dispersion : bool
        Whether the dispersion is one, as of classes and counts.
    rank : int, default=None
        Number of the largest directions of the columns that least squares used; None
        takes all that exceed rounding.
    counts_rows : bool, default=True
        Whether weights are numbers of equal rows, and not precisions.
    """

    model: _Model
    known_dispersion: bool
    rank: int | None = None
    counts_rows: bool = True

    @property
    def loss(self) -> RegressionLoss:
        """The loss of the model."""
        return self.model.loss

    @cached_property
    def penalty(self) -> NDArray[np.float64]:
        """Penalties of the squared parameters, (d,)."""
        model = self.model
        return (model.penalty + model.weights.sum() * model.row_penalty)[:, 0]

    @cached_property
    def roots(self) -> NDArray[np.float64]:
        """Roots of the working weights, (n,)."""
        model = self.model
        scores = model.scores_at(model.parameters)
        curvatures = model.loss.curvatures(model.loss.means(scores), scores)
        return np.sqrt(model.weights * curvatures[:, 0, 0])

    @cached_property
    def parameters(self) -> NDArray[np.float64]:
        """Parameters (d,); of least squares, the solution along the used directions."""
        if not isinstance(self.model.loss, HalfSquared):
            return self.model.parameters[:, 0]
        basis, inverse = self.factors
        targets = (self.model.targets - self.model.offsets)[:, 0]
        return inverse @ (basis.T @ (self.roots * targets))

    @cached_property
    def residuals(self) -> Residuals:
        """Deviance residuals and Pearson residuals, zero where they are rounding."""
        model, loss, working_roots = self.model, self.model.loss, self.roots
        scores = model.scores_at(self.parameters[:, None])
        means = loss.means(scores)
        errors = (model.targets - means)[:, 0]
        sizes = np.maximum(np.abs(model.targets), np.abs(means)).max(initial=0)
        is_rounding = np.abs(errors) <= _ROUNDING * sizes
        deviances = 2 * np.maximum(loss.values(model.targets, scores), 0)
        deviance = np.sign(errors) * np.sqrt(model.weights * deviances)
        slopes = -model.weights * loss.slopes(model.targets, scores)[:, 0]
        pearson = np.divide(
            slopes,
            working_roots,
            out=np.zeros_like(working_roots),
            where=working_roots > 0,
        )
        return Residuals(
            np.where(is_rounding, 0, deviance), np.where(is_rounding, 0, pearson)
        )

    @cached_property
    def factors(self) -> Factors:
        """Factors; parameters that the rows do not determine stay at zero."""
        design, root, penalty = self.model.design, self.roots, self.penalty
        # An intercept without a penalty is handled by centring the other columns.
        has_free_intercept = bool(
            (design[:, -1:] == 1).all() and penalty[-1:] == 0 and root.any()
        )
        columns = design[:, : design.shape[1] - has_free_intercept]
        scale, centre = np.linalg.norm(root), np.zeros(columns.shape[1])
        if has_free_intercept:
            centre = (root / scale) ** 2 @ columns
        # A, with the roots of the penalties as further rows: its singular vectors and
        # values give U and V.
        working_design = columns - centre
        working_design *= root[:, None]
        column_norms = np.linalg.norm(working_design, axis=0)
        is_rounding = column_norms <= _epsilon(design) * np.abs(centre) * scale
        working_design[:, is_rounding] = 0
        if penalty.any():
            prior = np.diag(np.sqrt(penalty[: columns.shape[1]]))
            working_design = np.vstack([working_design, prior])
        basis, singular_values, right_vectors = np.linalg.svd(
            working_design, full_matrices=False
        )
        rounding = _epsilon(design) * singular_values.max(initial=0)
        rank = int((singular_values > rounding).sum())
        rank = rank if self.rank is None else min(rank, self.rank)
        basis = basis[: len(design), :rank]
        inverse = right_vectors[:rank].T / singular_values[:rank]
        if not has_free_intercept:
            return Factors(basis, inverse)
        # The direction of the intercept, whose column is the roots themselves.
        intercept = np.append(np.zeros(columns.shape[1]), 1 / scale)
        inverse = np.column_stack([np.vstack([inverse, -centre @ inverse]), intercept])
        return Factors(np.column_stack([basis, root / scale]), inverse)

    @cached_property
    def columns(self) -> NDArray[np.float64]:
        """The design in the directions V, (n, r)."""
        return self.model.design @ self.inverse

    @property
    def undetermined(self) -> NDArray[np.intp]:
        """Positions of the columns that depend on others, or are zero."""
        design = self.model.design
        if self.inverse.shape[1] == design.shape[1]:
            return np.arange(0)
        sizes = np.linalg.norm(design, axis=0)
        columns = design / np.where(sizes > 0, sizes, 1)
        _, singular_values, right_vectors = np.linalg.svd(
            np.linalg.qr(columns, mode="r")
        )
        null_vectors = right_vectors[
            int((singular_values > _DEPENDENT * singular_values.max()).sum()) :
        ]
        dependent = np.flatnonzero((np.abs(null_vectors) > _DEPENDENT).any(axis=0))
        # Where no column depends on others, their scales differ too much.
        return dependent if len(dependent) else np.arange(design.shape[1])

    @cached_property
    def leverages(self) -> NDArray[np.float64]:
        """Diagonal of the hat matrix, (n,)."""
        basis = self.factors.basis
        leverages = np.einsum("nr,nr->n", basis, basis)
        return np.where(leverages > 1 - _DECISIVE, 1.0, leverages)

    @cached_property
    def effective_dof(self) -> float:
        """Trace of the hat matrix: the number of parameters, less what is penalised."""
        return float(self.leverages.sum())

    @cached_property
    def deviance(self) -> float:
        """The deviance."""
        return float((self.residuals.deviance**2).sum())

    @cached_property
    def pearson_statistic(self) -> float:
        """Sum of the squared Pearson residuals."""
        return float((self.residuals.pearson**2).sum())

    @property
    def inverse(self) -> NDArray[np.float64]:
        """V (d, r) of the factors."""
        return self.factors.inverse

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.model.design)

    @property
    def total_weight(self) -> float:
        """Sum of the weights."""
        return self.model.weights.sum()

    def null_deviance(self, has_intercept: bool) -> float:
        """The deviance of the intercept, or of a score of zero."""
        model, scores = self.model, np.zeros_like(self.model.targets)
        if has_intercept:
            mean = np.average(model.targets, weights=model.weights, axis=0)
            scores += model.loss.scores(mean)
        return float(2 * model.weights @ model.loss.values(model.targets, scores))

    def sums(
        self, function: Callable[[_Model], Any], merge: Callable[[Any, Any], Any]
    ) -> Any:
        """The result of a function of the model, which has all rows."""
        return function(self.model)


def _without_rounding(dof: float) -> float:
    """Degrees of freedom, zero where they are rounding."""
    return float(dof) if dof > _ROUNDING_OF_DOF else 0.0


def _trials_by_log_odds(parameters: NDArray[np.float64], model: _Model) -> Trials:
    """Trials of classes at rows of equal log-odds."""
    scores = model.scores_at(parameters[:, None])[:, 0]
    return Trials.of_rows(scores, model.weights, model.weights * model.targets[:, 0])


def _excess_of_counts(
    parameters: NDArray[np.float64], counts_rows: bool, model: _Model
) -> NDArray[np.float64]:
    """Sums over rows of the excess and of its variance, as of `excess_of_counts`.

    A weight is a number of equal rows, or the number of counts that a row averages.
    """
    means = model.loss.means(model.scores_at(parameters[:, None]))[:, 0]
    counts, ones = model.targets[:, 0], np.ones_like(means)
    if counts_rows:
        return np.array(excess_of_counts(counts, means, ones)) @ model.weights
    return np.sum(excess_of_counts(counts, means, model.weights), axis=1)


class _SumsWithoutTerms(NamedTuple):
    """Weighted sums over the rows of a model without terms."""

    deviance: float
    slope: float  # of half of the deviance
    curvature: float  # of half of the deviance
    weight: float
    target: float
    offset: float


def _sums_without_terms(score: float, model: _Model) -> NDArray[np.float64]:
    """Fields of `_SumsWithoutTerms` at a score plus the offsets, as an array."""
    scores = np.full_like(model.targets, score) + model.offsets
    means = model.loss.means(scores)
    summands = [
        2 * model.loss.values(model.targets, scores),
        model.loss.slopes(model.targets, scores)[:, 0],
        model.loss.curvatures(means, scores)[:, 0, 0],
        np.ones(len(scores)),
        model.targets[:, 0],
        np.broadcast_to(model.offsets, scores.shape)[:, 0],
    ]
    return np.array(summands) @ model.weights


def _bread_and_meat(
    parameters: NDArray[np.float64],
    inverse: NDArray[np.float64],
    power: float,
    counts_rows: bool,
    model: _Model,
) -> NDArray[np.float64]:
    """Sums of products of rows along V (d, r), the `inverse`: (3, r, r).

    They are the observed information; the meat, with squared slopes over (1 -
    leverage)^power; and the expected information of rows of leverage one.
    """
    total = np.zeros((3, inverse.shape[1], inverse.shape[1]))
    for rows in row_blocks(*model.design.shape):
        loss, weights, targets = model.loss, model.weights[rows], model.targets[rows]
        columns = model.design[rows] @ inverse
        scores = model.scores_at(parameters[:, None], rows)
        expected = loss.curvatures(loss.means(scores), scores)[:, 0, 0]
        observed = loss.curvatures(targets, scores)[:, 0, 0]
        # Each copy of a row of weight two has half of the row's leverage; a row of a
        # weight below one is a single copy.
        copies = np.maximum(weights, 1) if counts_rows else np.ones_like(weights)
        one_minus_leverages = 1 - weights / copies * expected * (columns**2).sum(axis=1)
        is_decisive = one_minus_leverages <= _DECISIVE_IN_PASSES
        total[0] += (columns.T * (weights * observed)) @ columns
        roots = np.sqrt(weights * expected)
        decisive_rows = columns[is_decisive] * roots[is_decisive, None]
        total[2] += decisive_rows.T @ decisive_rows
        slopes = loss.slopes(targets, scores)[:, 0]
        if power:  # residuals of rows of leverage one are zero
            slopes /= np.where(is_decisive, np.inf, one_minus_leverages) ** (power / 2)
        columns *= (slopes * (np.sqrt(weights) if counts_rows else weights))[:, None]
        total[1] += columns.T @ columns
    return total


def _epsilon(design: NDArray[np.float64]) -> float:
    """Relative size below which numbers are rounding, as of LAPACK's least squares."""
    return max(design.shape) * np.finfo(np.float64).eps


@dataclass(frozen=True, eq=False)
class WaldTests:
    """Standard errors and tests of the parameters of an unpenalised regression.

    Parameters
    ----------
    regression : FittedRegression
        The regression, without a penalty.
    kind : {"model", "HC0", "HC1", "HC2", "HC3"}
        Covariance of the parameters: the model's, or a sandwich.
    """

    regression: FittedRegression
    kind: str = "model"

    @cached_property
    def covariance(self) -> NDArray[np.float64]:
        """Covariance of the parameters, (d, d)."""
        regression = self.regression
        if self.kind == "model":
            return regression.dispersion * regression.inverse @ regression.inverse.T
        return regression.sandwich(self.kind)

    @property
    def _dof(self) -> float:
        """Degrees of freedom of Student's t; infinite where the dispersion is known."""
        regression = self.regression
        return np.inf if regression.known_dispersion else regression.dispersion_dof

    def pvalues(self, statistics: NDArray[np.float64]) -> NDArray[np.float64]:
        """Two-sided p-values of parameters by their standard errors."""
        return 2 * stdtr(self._dof, -np.abs(statistics))

    def quantile(self, level: float) -> float:
        """Size of the statistic that is exceeded with a probability of 1 - level."""
        return float(stdtrit(self._dof, (1 + level) / 2))
