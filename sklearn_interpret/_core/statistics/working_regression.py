"""A model of one linear score as a weighted least squares fit at its optimum.

The root of a row's working weight is the root of w_i v_i, where v_i is the expected
curvature of its loss. A penalty is a prior that the rows are added to. Formulas are
those of McCullagh & Nelder (1989). Its parameters have standard errors and Wald tests.
"""

from dataclasses import dataclass
from functools import cached_property, partial, reduce

import numpy as np
from scipy.linalg import eigh
from scipy.special import stdtr, stdtrit

from sklearn_interpret._core.statistics.score_losses import HalfSquared
from sklearn_interpret._core.statistics.weighted import CrossProducts

# A row whose leverage is this near to one determines a parameter alone.
_ALONE = 1e-12
# Residuals below this part of the largest target are rounding, and so are residual
# degrees of freedom below the second number.
_ROUNDING, NONE_LEFT = 1e-14, 1e-9
# Columns whose residual on others is below this part of their size depend on them.
_DEPENDENT = 1e-9
# Largest condition number of cross products from which columns are made orthonormal:
# what is lost in the first pass over the rows is recovered in the second.
_CONDITION = 1e10


@dataclass(frozen=True, eq=False)
class WorkingRegression:
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
        model, roots = self.model, np.empty(len(self.model.design))
        for b in self.blocks:
            scores = model.design[b] @ model.parameters
            curvatures = model.loss.curvatures(model.loss.means(scores), scores)
            roots[b] = np.sqrt(model.weights[b] * curvatures[:, 0, 0])
        return roots

    @cached_property
    def parameters(self):
        """Parameters (d,); of least squares those along the directions taken."""
        if not isinstance(self.model.loss, HalfSquared):
            return self.model.parameters[:, 0]
        targets = self.roots * self.model.targets[:, 0]
        return self.inverse @ sum(self.basis(b).T @ targets[b] for b in self.blocks)

    @cached_property
    def residuals(self):
        """Deviance residuals and Pearson residuals, (n,) each."""
        model, loss, largest = self.model, self.model.loss, 0.0
        deviance, pearson = np.zeros((2, len(self.roots)))
        for b in self.blocks:
            means = loss.means(self.scores(b))
            largest = max(largest, np.abs(model.targets[b]).max(), np.abs(means).max())
        for b in self.blocks:
            targets, scores, root = model.targets[b], self.scores(b), self.roots[b]
            errors = (targets - loss.means(scores))[:, 0]
            counts = np.abs(errors) > _ROUNDING * largest
            deviances = 2 * np.maximum(loss.values(targets, scores), 0)
            signed = np.sign(errors) * np.sqrt(model.weights[b] * deviances)
            np.copyto(deviance[b], signed, where=counts)
            slopes = -model.weights[b] * loss.slopes(targets, scores)[:, 0]
            np.divide(slopes, root, out=pearson[b], where=counts & (root > 0))
        return deviance, pearson

    @property
    def blocks(self):
        """Blocks of the rows, as slices."""
        return self.model.blocks

    def scores(self, rows):
        """Scores of a slice of rows, (m, 1)."""
        return self.model.design[rows] @ self.parameters[:, None]

    @cached_property
    def inverse(self):
        """V (d, r): (A'A + L)^-1 = V V' for the working design A = diag(root) X.

        The parameters that rows do not determine stay at zero.
        """
        centre, inverse, _ = self._factors
        if not self._free:
            return inverse
        alone = np.append(np.zeros(len(centre)), 1 / self._scale)
        return np.column_stack([np.vstack([inverse, -centre @ inverse]), alone])

    def basis(self, rows):
        """U = A V of a slice of rows (m, r); its squares sum to their leverages."""
        centre, inverse, basis = self._factors
        made = self._working(rows, centre) @ inverse if basis is None else basis[rows]
        if not self._free:
            return made
        return np.column_stack([made, self.roots[rows] / self._scale])

    def products(self, weights):
        """U' W U (r, r), where ``weights(rows)`` are those of a slice of rows."""
        return sum(
            CrossProducts.of_rows(self.basis(b), weights(b), centred=False).products
            for b in self.blocks
        )

    @cached_property
    def _free(self):
        """Whether an intercept without a penalty is handled by centring the others."""
        ones = (self.model.design[:, -1:] == 1).all()
        return bool(ones and self.penalty[-1:] == 0 and self.roots.any())

    @cached_property
    def _scale(self):
        """Length of the roots."""
        return np.linalg.norm(self.roots)

    def _columns(self, rows):
        """Columns of a slice of rows, without a free intercept."""
        design = self.model.design
        return design[rows, : design.shape[1] - self._free]

    def _working(self, rows, centre):
        """Centred columns of a slice of rows, times the roots."""
        working = self._columns(rows) - centre
        working *= self.roots[rows, None]
        return working

    @cached_property
    def _factors(self):
        """Centre (d',), V (d', r') and U (n, r'), or None, of the centred columns."""
        found = None
        if len(self.blocks) > 1 and self.rank is None:
            found = self._factors_of_products()
        return self._factors_of_columns() if found is None else found

    def _factors_of_products(self):
        """V from sums over blocks of rows; None where the products have few digits.

        As Cholesky QR twice (Yamamoto et al., 2015), with eigenvectors.
        """
        weights = self.roots**2
        of_blocks = (
            CrossProducts.of_rows(self._columns(b), weights[b], centred=self._free)
            for b in self.blocks
        )
        sums = reduce(CrossProducts.merge, of_blocks)
        prior = np.diag(self.penalty[: len(sums.means)])
        rounding = _epsilon(self.model.design) * self._scale * sums.means
        inverse = whitening(sums.products + prior, rounding)
        if inverse is None:
            return None
        products = inverse.T @ prior @ inverse
        for b in self.blocks:
            working = self._working(b, sums.means) @ inverse
            products += working.T @ working
        return sums.means, inverse @ whitening(products), None

    def _factors_of_columns(self):
        """V and U from the singular values of the columns."""
        design, root, everything = self.model.design, self.roots, slice(None)
        columns = self._columns(everything)
        centre = np.zeros(columns.shape[1])
        if self._free:
            centre = (root / self._scale) ** 2 @ columns
        working = self._working(everything, centre)
        sizes = np.linalg.norm(working, axis=0)
        dust = sizes <= _epsilon(design) * np.abs(centre) * self._scale
        working[:, dust] = 0
        if self.penalty.any():
            prior = np.diag(np.sqrt(self.penalty[: columns.shape[1]]))
            working = np.vstack([working, prior])
        basis, sizes, right = np.linalg.svd(working, full_matrices=False)
        rank = int((sizes > _epsilon(design) * sizes.max(initial=0)).sum())
        rank = rank if self.rank is None else min(rank, self.rank)
        return centre, right[:rank].T / sizes[:rank], basis[: len(design), :rank]

    @cached_property
    def columns(self):
        """The design in the directions V, (n, r)."""
        return self.model.design @ self.inverse

    @property
    def undetermined(self):
        """Positions of the columns that depend on others, or are zero."""
        design = self.model.design
        if self.inverse.shape[1] == design.shape[1]:
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
        leverages = np.empty(len(self.roots))
        for b in self.blocks:
            basis = self.basis(b)
            np.einsum("nr,nr->n", basis, basis, out=leverages[b])
        return np.where(leverages > 1 - _ALONE, 1.0, leverages)

    @cached_property
    def effective_dof(self):
        """Trace of the hat matrix: the number of parameters, less what is penalised."""
        return float(self.leverages.sum())

    @cached_property
    def residual_dof(self):
        """Sum of the weights, less the degrees of freedom."""
        dof = float(self.model.weights.sum() - self.effective_dof)
        return dof if dof > NONE_LEFT else 0.0

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
    def n_rows(self):
        """Number of rows."""
        return len(self.model.design)

    @property
    def total_weight(self):
        """Sum of the weights."""
        return self.model.weights.sum()

    def null_deviance(self, has_intercept):
        """The deviance of the intercept, or of a score of zero."""
        model, score = self.model, np.zeros(1)
        if has_intercept:
            mean = np.average(model.targets, weights=model.weights, axis=0)
            score = model.loss.scores(mean)
        return 2 * sum(
            model.weights[b] @ model.loss.values(model.targets[b], score)
            for b in model.blocks
        )

    def sandwich(self, kind):
        """Covariance of the parameters (MacKinnon & White, 1985)."""
        bread = self.inverse @ np.linalg.inv(self.products(self._observed))
        return bread @ self.products(partial(self._squares, kind)) @ bread.T

    def _observed(self, rows):
        """Observed curvatures of a slice of rows by those to be expected, (m,)."""
        model, scores = self.model, self.scores(rows)
        observed = model.loss.curvatures(model.targets[rows], scores)[:, 0, 0]
        expected = self.roots[rows] ** 2 / model.weights[rows]
        ones = np.ones_like(expected)
        return np.divide(observed, expected, out=ones, where=expected > 0)

    def _squares(self, kind, rows):
        """Squared residuals of a slice of rows in the meat of the sandwich."""
        weights = self.model.weights[rows]
        squares = self.residuals[1][rows] ** 2 / weights
        if kind == "HC1":
            return squares * (self.total_weight / self.residual_dof)
        power = {"HC0": 0, "HC2": 1, "HC3": 2}[kind]
        # Each copy of a row of weight two has half of its leverage.
        left = 1 - self.leverages[rows] / weights
        return squares / np.where(left > 0, left, np.nan) ** power


def _epsilon(design):
    """Relative size below which numbers are rounding, as in least squares of LAPACK."""
    return max(design.shape) * np.finfo(np.float64).eps


def whitening(products, rounding=0.0):
    """M (d, d) by which M' P M is the identity for cross products P (d, d).

    None where columns are rounding, or P has few digits.
    """
    sizes = np.sqrt(np.diag(products))
    if (sizes <= np.maximum(np.abs(rounding), _DEPENDENT * sizes.max())).any():
        return None
    values, vectors = eigh(products / np.outer(sizes, sizes))
    if values[0] * _CONDITION < values[-1]:
        return None
    return vectors / np.sqrt(values) / sizes[:, None]


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
        regression, inverse = self.regression, self.regression.inverse
        if self.kind == "model":
            return regression.dispersion * inverse @ inverse.T
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
