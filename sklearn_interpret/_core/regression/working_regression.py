"""A model of one linear score as a weighted least squares fit at its optimum.

The root of a row's working weight is the root of w_i v_i, where v_i is the expected
curvature of its loss. A penalty is a prior that the rows are added to. Formulas are
those of McCullagh & Nelder (1989). Its parameters have standard errors and Wald tests.
"""

from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
from scipy.special import stdtr, stdtrit

from sklearn_interpret._core.statistics.score_losses import HalfSquared
from sklearn_interpret._core.statistics.weighted import row_blocks

# A row whose leverage is this near to one determines a parameter alone.
_ALONE = 1e-12
# Residuals below this part of the largest target are rounding, and so are residual
# degrees of freedom below the second number.
_ROUNDING, _NONE_LEFT = 1e-14, 1e-9
# Columns whose residual on others is below this part of their size depend on them.
_DEPENDENT = 1e-9


class FittedRegression:
    """What follows from sums over the rows of a fitted model of one score.

    Subclasses have `parameters` and `inverse`, V (d, r) with the inverse information
    V V', and ``sums(function, merge)``: the result of a function of a `ScoreModel`.
    """

    @property
    def residual_dof(self):
        """Sum of the weights, less the degrees of freedom."""
        dof = float(self.total_weight - self.effective_dof)
        return dof if dof > _NONE_LEFT else 0.0

    def sandwich(self, kind):
        """Covariance of the parameters (MacKinnon & White, 1985)."""
        power = {"HC0": 0, "HC1": 0, "HC2": 1, "HC3": 2}[kind]
        task = partial(_bread_and_meat, self.parameters, self.inverse, power)
        observed, meat = self.sums(task, np.add)
        if kind == "HC1":
            meat = meat * (self.total_weight / self.residual_dof)
        bread = self.inverse @ np.linalg.inv(observed)
        return bread @ meat @ bread.T


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
        Number of the largest directions of the columns that least squares has taken;
        None takes all that are no rounding.
    """

    model: object
    known_dispersion: bool
    rank: int | None = None

    @cached_property
    def penalty(self):
        """Penalties of the squared parameters, (d,)."""
        model = self.model
        return (model.penalty + model.weights.sum() * model.row_penalty)[:, 0]

    @cached_property
    def roots(self):
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
        basis, inverse = self.factors
        return inverse @ (basis.T @ (self.roots * self.model.targets[:, 0]))

    @cached_property
    def residuals(self):
        """Deviance residuals and Pearson residuals, (n,) each."""
        model, loss, root = self.model, self.model.loss, self.roots
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
    def factors(self):
        """Orthonormal columns U (n, r), whose squares sum to leverages, and V (d, r).

        With the working design A = diag(root) X: A (A'A + L)^-1 A' = U U', and
        (A'A + L)^-1 = V V'. The parameters that rows do not determine stay at zero.
        """
        design, root, penalty = self.model.design, self.roots, self.penalty
        # An intercept without a penalty is handled by centring the other columns.
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
    def columns(self):
        """The design in the directions V, (n, r)."""
        return self.model.design @ self.factors[1]

    @property
    def undetermined(self):
        """Positions of the columns that depend on others, or are zero."""
        design = self.model.design
        if self.factors[1].shape[1] == design.shape[1]:
            return np.arange(0)
        sizes = np.linalg.norm(design, axis=0)
        columns = design / np.where(sizes > 0, sizes, 1)
        _, sizes, right = np.linalg.svd(np.linalg.qr(columns, mode="r"))
        without = right[int((sizes > _DEPENDENT * sizes.max()).sum()) :]
        found = np.flatnonzero((np.abs(without) > _DEPENDENT).any(axis=0))
        # Where no column depends on others, their scales differ too much.
        return found if len(found) else np.arange(design.shape[1])

    @cached_property
    def leverages(self):
        """Diagonal of the hat matrix, (n,)."""
        basis, _ = self.factors
        leverages = np.einsum("nr,nr->n", basis, basis)
        return np.where(leverages > 1 - _ALONE, 1.0, leverages)

    @cached_property
    def effective_dof(self):
        """Trace of the hat matrix: the number of parameters, less what is penalised."""
        return float(self.leverages.sum())

    @cached_property
    def deviance(self):
        return float((self.residuals[0] ** 2).sum())

    @cached_property
    def dispersion(self):
        """One where it is known, else Pearson's estimate."""
        if self.known_dispersion:
            return 1.0
        return float((self.residuals[1] ** 2).sum() / self.residual_dof)

    @property
    def inverse(self):
        """V (d, r) of the factors."""
        return self.factors[1]

    @property
    def n_rows(self):
        """Number of rows."""
        return len(self.model.design)

    @property
    def total_weight(self):
        """Sum of the weights."""
        return self.model.weights.sum()

    def null_deviance(self, has_intercept):
        """The deviance of the intercept, or of a score of zero."""
        model, scores = self.model, np.zeros_like(self.model.targets)
        if has_intercept:
            mean = np.average(model.targets, weights=model.weights, axis=0)
            scores += model.loss.scores(mean)
        return 2 * model.weights @ model.loss.values(model.targets, scores)

    def sums(self, function, merge):
        """A function of the model, which has all rows."""
        return function(self.model)


def _bread_and_meat(parameters, inverse, power, model):
    """Observed information and squared slopes of rows, along V: (2, r, r)."""
    total = np.zeros((2, inverse.shape[1], inverse.shape[1]))
    for rows in row_blocks(*model.design.shape):
        loss, weights, targets = model.loss, model.weights[rows], model.targets[rows]
        columns = model.design[rows] @ inverse
        scores = model.design[rows] @ parameters[:, None]
        expected = loss.curvatures(loss.means(scores), scores)[:, 0, 0]
        observed = loss.curvatures(targets, scores)[:, 0, 0]
        # Each copy of a row of weight two has half of its leverage.
        left = 1 - expected * (columns**2).sum(axis=1)
        squares = loss.slopes(targets, scores)[:, 0] ** 2
        squares /= np.where(left > _ALONE, left, np.nan) ** power
        total[0] += (columns.T * (weights * observed)) @ columns
        columns *= np.sqrt(weights * squares)[:, None]
        total[1] += columns.T @ columns
    return total


def _epsilon(design):
    """Relative size below which numbers are rounding, as in least squares of LAPACK."""
    return max(design.shape) * np.finfo(np.float64).eps


@dataclass(frozen=True, eq=False)
class WaldTests:
    """Standard errors and tests of the parameters of an unpenalised regression.

    Weights are numbers of copies of rows.

    Parameters
    ----------
    regression : WorkingRegression
        Without a penalty.
    kind : {"model", "HC0", "HC1", "HC2", "HC3"}
        Of the covariance: the model's, or a sandwich.
    """

    regression: object
    kind: str = "model"

    @cached_property
    def covariance(self):
        """Covariance of the parameters, (d, d)."""
        regression = self.regression
        if self.kind == "model":
            return regression.dispersion * regression.inverse @ regression.inverse.T
        return regression.sandwich(self.kind)

    @property
    def _dof(self):
        """Degrees of freedom of Student's t; infinite where the dispersion is known."""
        regression = self.regression
        return np.inf if regression.known_dispersion else regression.residual_dof

    def pvalues(self, statistics):
        """Two-sided p-values of parameters by their standard errors."""
        return 2 * stdtr(self._dof, -np.abs(statistics))

    def quantile(self, level):
        """Size of the statistic that is exceeded with a probability of 1 - level."""
        return float(stdtrit(self._dof, (1 + level) / 2))
