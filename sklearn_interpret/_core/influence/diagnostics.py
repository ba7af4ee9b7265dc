"""What single rows do to a regression: leverages, and measures of deletion.

At its optimum a model of one linear score is a weighted least squares fit: the root of
a row's working weight is the root of w_i v_i, where v_i is the expected curvature of
its loss. A penalty is a prior that the rows are added to. Formulas are those of
Belsley, Kuh & Welsch (1980), for generalized linear models of Williams (1987).
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import fdtr

from sklearn_interpret._core.statistics.score_losses import HalfSquared

# A leverage this near to one: the other rows say nothing of some parameter.
_ALONE = 1e-12
# Residuals beneath this part of the largest target are rounding, and so are fewer
# degrees of freedom.
_ROUNDING, _NONE_LEFT = 1e-14, 1e-9
# Numbers that a block of deletions may take.
_BLOCK = 2**22


@dataclass(frozen=True, eq=False)
class RegressionDiagnostics:
    """Measures of leaving out each row of a model of one score.

    Measures are NaN for a row of leverage one, and where no residual degree of freedom
    is left.

    Parameters
    ----------
    model : ScoreModel
        With one score, at its optimum.
    known_dispersion : bool
        Whether the dispersion is one, as of classes and counts.
    without : ndarray of shape (n, d), default=None
        Parameters without each row; None takes one step from those of all rows.
    rank : int, default=None
        Number of the largest directions of the columns that least squares has taken;
        None takes all that are no rounding.
    """

    model: object
    known_dispersion: bool
    without: np.ndarray | None = None
    rank: int | None = None

    @cached_property
    def penalty(self):
        """Penalties of the squared parameters, (d,)."""
        model = self.model
        return (model.penalty + model.weights.sum() * model.row_penalty)[:, 0]

    @cached_property
    def _root(self):
        """Roots of the working weights, (n,)."""
        model = self.model
        scores = model.design @ model.parameters
        curvatures = model.loss.curvatures(model.loss.means(scores), scores)
        return np.sqrt(model.weights * curvatures[:, 0, 0])

    @cached_property
    def parameters(self):
        """Parameters (d,); of least squares those along the directions taken."""
        if not isinstance(self.model.loss, HalfSquared):
            return self.model.parameters[:, 0]
        basis, inverse = self._factors
        return inverse @ (basis.T @ (self._root * self.model.targets[:, 0]))

    @cached_property
    def _residuals(self):
        """Deviance residuals and Pearson residuals, (n,) each."""
        model, loss, root = self.model, self.model.loss, self._root
        scores = model.design @ self.parameters[:, None]
        means = loss.means(scores)
        errors = (model.targets - means)[:, 0]
        sizes = np.maximum(np.abs(model.targets), np.abs(means)).max(initial=0)
        exact = np.abs(errors) <= _ROUNDING * sizes
        deviances = 2 * np.maximum(loss.values(model.targets, scores), 0)
        deviance = np.sign(errors) * np.sqrt(model.weights * deviances)
        slopes = -model.weights * loss.slopes(model.targets, scores)[:, 0]
        pearson = np.divide(slopes, root, out=np.zeros_like(root), where=root > 0)
        return np.where(exact, 0, deviance), np.where(exact, 0, pearson)

    @cached_property
    def _factors(self):
        """Orthonormal columns U (n, r), whose squares sum to leverages, and V (d, r).

        With the working design A = diag(root) X: A (A'A + L)^-1 A' = U U', and
        (A'A + L)^-1 = V V'. The parameters that rows do not determine stay at zero.
        """
        design, root, penalty = self.model.design, self._root, self.penalty
        # A constant that is not penalised is taken out first: the rest is centred.
        free = bool((design[:, -1:] == 1).all() and penalty[-1:] == 0 and root.any())
        columns = design[:, : design.shape[1] - free]
        scale = np.linalg.norm(root)
        centre = (root / scale) ** 2 @ columns if free else np.zeros(columns.shape[1])
        working = columns - centre
        working *= root[:, None]
        sizes = np.linalg.norm(working, axis=0)
        dust = sizes <= _epsilon(design) * np.abs(centre) * scale
        working[:, dust] = 0
        if penalty.any():
            prior = np.diag(np.sqrt(penalty[: columns.shape[1]]))
            working = np.vstack([working, prior])
        basis, sizes, right = np.linalg.svd(working, full_matrices=False)
        rank = int((sizes > _epsilon(design) * sizes.max(initial=0)).sum())
        rank = rank if self.rank is None else min(rank, self.rank)
        basis = basis[: len(design), :rank]
        inverse = right[:rank].T / sizes[:rank]
        if not free:
            return basis, inverse
        alone = np.append(np.zeros(columns.shape[1]), 1 / scale)
        inverse = np.column_stack([np.vstack([inverse, -centre @ inverse]), alone])
        return np.column_stack([basis, root / scale]), inverse

    @cached_property
    def leverages(self):
        """Diagonal of the hat matrix, (n,)."""
        basis, _ = self._factors
        leverages = np.einsum("nr,nr->n", basis, basis)
        return np.where(leverages > 1 - _ALONE, 1.0, leverages)

    @cached_property
    def _remaining(self):
        """One minus the leverage, NaN for zero."""
        return np.where(self.leverages < 1, 1 - self.leverages, np.nan)

    @cached_property
    def _solved(self):
        """(A'A + L)^-1 times each row of A, (n, d)."""
        basis, inverse = self._factors
        return basis @ inverse.T

    @cached_property
    def effective_dof(self):
        """Trace of the hat matrix: the number of parameters, less what is penalised."""
        return float(self.leverages.sum())

    @cached_property
    def residual_dof(self):
        """Sum of the weights, less the degrees of freedom."""
        dof = float(self.model.weights.sum() - self.effective_dof)
        return dof if dof > _NONE_LEFT else 0.0

    @cached_property
    def _deviance(self):
        return float((self._residuals[0] ** 2).sum())

    @cached_property
    def dispersion(self):
        """One where it is known, else Pearson's estimate."""
        if self.known_dispersion:
            return 1.0
        return float((self._residuals[1] ** 2).sum() / self.residual_dof)

    @cached_property
    def dfbeta(self):
        """Parameters less those without each row, (n, d)."""
        if self.without is not None:
            changes = self.parameters - self.without
            return np.where(self.leverages[:, None] < 1, changes, np.nan)
        return self._solved * (self._residuals[0] / self._remaining)[:, None]

    @cached_property
    def _deviances_without(self):
        """Deviance of the other rows at the parameters without each row, (n,)."""
        if self.without is not None:
            return _deviances_of_others(self.model, self.without)
        # With L b the slope of the deviance, and the row's own part taken off.
        steps, of_penalty = self._residuals[0] / self._remaining, self._penalised
        slopes = self._solved @ (self.penalty * self.parameters)
        own = steps**2 * (self.leverages - of_penalty) - steps**2
        return self._deviance + 2 * steps * slopes + own

    @cached_property
    def _penalised(self):
        """What the penalty takes off each leverage: a' (A'A+L)^-1 L (A'A+L)^-1 a."""
        if not self.penalty.any():
            return np.zeros(len(self._root))
        return self._solved**2 @ self.penalty

    @cached_property
    def sigma(self):
        """Residual standard deviation without each row, (n,)."""
        dof = self.residual_dof - self.model.weights
        dof = dof + self._penalised / self._remaining
        dof = np.where(dof > _NONE_LEFT, dof, np.nan)
        return np.sqrt(np.maximum(self._deviances_without, 0) / dof)

    @cached_property
    def residuals_standardized(self):
        """Deviance residuals in units of their standard deviation."""
        spread = np.sqrt(self.dispersion * self._remaining)
        return _ratio(self._residuals[0], spread)

    @cached_property
    def residuals_studentized(self):
        """Signed roots of the change of the deviance without each row."""
        deviance, pearson = self._residuals
        unit = 1.0 if self.known_dispersion else self.sigma
        change = deviance**2 + self.leverages * pearson**2 / self._remaining
        if self.without is not None:
            before = self.penalty @ self.parameters**2
            change = self._deviance - self._deviances_without
            change += before - self.without**2 @ self.penalty
        change = np.where(self.leverages < 1, change, np.nan)
        return _ratio(np.sign(deviance) * np.sqrt(np.maximum(change, 0)), unit)

    @cached_property
    def cooks_distances(self):
        """Squared length of the parameters' change, for each degree of freedom."""
        steps = self._residuals[1] / self._remaining
        lengths = steps**2 * self.leverages
        if self.without is not None:
            working = self._root[:, None] * self.model.design
            information = working.T @ working + np.diag(self.penalty)
            lengths = np.einsum("nd,de,ne->n", self.dfbeta, information, self.dfbeta)
        return _ratio(lengths, self.effective_dof * self.dispersion)

    @cached_property
    def dffits(self):
        """Change of each row's own score, in its standard errors."""
        steps = self._residuals[0] / self._remaining * np.sqrt(self.leverages)
        if self.without is not None:
            changes = np.einsum("nd,nd->n", self.model.design, self.dfbeta)
            steps = _ratio(changes * self._root, np.sqrt(self.leverages))
        return _ratio(steps, self.sigma)

    @cached_property
    def dfbetas(self):
        """Changes of the parameters in their standard errors, (n, d)."""
        errors = np.linalg.norm(self._factors[1], axis=1)
        return self.dfbeta * _ratio(1, self.sigma)[:, None] * _ratio(1, errors)

    @cached_property
    def covratio(self):
        """Ratio of the determinants of the parameters' covariance."""
        rank = self._factors[1].shape[1]
        variance = self._deviance / self.residual_dof
        return _ratio(self.sigma**2, variance) ** rank / self._remaining

    @cached_property
    def influential(self):
        """Rows that some measure marks, by the cut-offs of R's influence.measures."""
        k, rest = self.effective_dof, self.residual_dof
        return (
            ((self.dfbetas > 1) | (self.dfbetas < -1)).any(axis=1)
            | (np.abs(self.dffits) > 3 * np.sqrt(k / rest))
            | (np.abs(1 - self.covratio) > 3 * k / rest)
            | (fdtr(k, rest, self.cooks_distances) > 0.5)
            | (self.leverages > 3 * k / (k + rest))
        )


def _epsilon(design):
    """Relative size below which numbers are rounding, as in least squares of LAPACK."""
    return max(design.shape) * np.finfo(np.float64).eps


def _ratio(above, below):
    """A quotient, NaN where there is none."""
    below = np.asarray(below)
    return above / np.where(below > 0, below, np.nan)


def _deviances_of_others(model, without):
    """Deviances of all rows but one, at the parameters without it each."""
    deviances = np.empty(len(without))
    together = max(1, _BLOCK // len(model.design))
    for start in range(0, len(without), together):
        part = slice(start, start + together)
        scores = (model.design @ without[part].T)[..., None]
        losses = model.weights[:, None] * model.loss.values(
            model.targets[:, None], scores
        )
        own = losses[np.arange(len(without))[part], np.arange(scores.shape[1])]
        deviances[part] = 2 * (losses.sum(axis=0) - own)
    return deviances
