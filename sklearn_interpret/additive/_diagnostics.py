"""Methods of fitted additive models: check of the terms, draws of effects, summary."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state, check_scalar
from sklearn.utils.validation import check_is_fitted

from sklearn_interpret._core.additive.bases import LevelBasis
from sklearn_interpret._core.additive.families import FAMILIES, LINKS, negative_binomial
from sklearn_interpret._core.additive.neighbours import Neighbours, neighbour_test
from sklearn_interpret._core.statistics.residual_interactions import quantile_codes
from sklearn_interpret._inspectors.sklearn_bases import DataFrame
from sklearn_interpret._model._sklearn_compat import check_pandas_support
from sklearn_interpret._model.rows.sample import Sample
from sklearn_interpret._model.rows.tables import text_table
from sklearn_interpret._model.rows.validation import check_weights

if TYPE_CHECKING:
    from sklearn_interpret.additive._gam import BaseGAM
    from sklearn_interpret.additive._terms import FittedTerm


@dataclass(frozen=True, eq=False, repr=False)
class BasisCheck:
    """Whether terms have enough functions, as `check` of an additive model returns it.

    Parameters
    ----------
    term : ndarray of shape (n_lines,)
        Names of the terms that have a feature of numbers; of several classes with the
        class behind.
    n_functions : ndarray of shape (n_lines,)
        Number of functions of each term: its largest degrees of freedom.
    effective_dof : ndarray of shape (n_lines,)
        Effective degrees of freedom.
    k_index : ndarray of shape (n_lines,)
        Residual variance that the differences of neighbours show, over the variance of
        all residuals: about 1 without a pattern, less where residuals of neighbours
        agree.
    pvalue : ndarray of shape (n_lines,)
        Probability of as small an index without a pattern.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_interpret.additive import GAMRegressor
    >>> X = np.random.default_rng(0).random((300, 1))
    >>> y = np.sin(6 * np.pi * X[:, 0])
    >>> GAMRegressor(n_splines=5).fit(X, y).check(X, y)
    term  n_functions  effective_dof  k_index    pvalue
    x0              4           3.47  0.00986  < 0.0001
    """

    term: NDArray[np.object_]
    n_functions: NDArray[np.intp]
    effective_dof: NDArray[np.float64]
    k_index: NDArray[np.float64]
    pvalue: NDArray[np.float64]

    def to_frame(self) -> DataFrame:
        """Return the check as a table.

        Returns
        -------
        pandas.DataFrame
            A line for each term: columns "n_functions", "effective_dof", "k_index" and
            "pvalue".
        """
        pandas = check_pandas_support("BasisCheck.to_frame")
        return pandas.DataFrame(vars(self)).set_index("term")

    def __repr__(self) -> str:
        return text_table([vars(self)], digits=3)


def check(
    self: BaseGAM, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None
) -> BasisCheck:
    """Check whether terms have enough functions to follow the targets.

    A term with too few functions leaves a pattern: the residuals of rows that are
    neighbours along its feature agree. A small p-value of a term whose effective
    degrees of freedom are near its number of functions is a reason to raise
    `n_splines`. If they are far below it, a feature or a pair may be missing, or rows
    may depend on each other.

    Neighbours have consecutive values of a number. In the term of a category and a
    number, they have the same level. In a surface, the first feature is cut at
    quantiles, and neighbours lie in the same group. Equal values count in all their
    orders. The residuals are Pearson residuals.

    Parameters
    ----------
    X : {array-like, DataFrame} of shape (n_samples, n_features)
        Rows of `fit`.
    y : array-like of shape (n_samples,)
        Their targets.
    sample_weight : array-like of shape (n_samples,), default=None
        Their weights in `fit`. A row counts once, whatever its weight: repeat rows that
        stand for several equal rows.

    Returns
    -------
    BasisCheck
        A line for each term that has a feature of numbers.

    References
    ----------
    von Neumann, J. (1941). Distribution of the ratio of the mean square successive
    difference to the variance. Annals of Mathematical Statistics 12(4).
    https://doi.org/10.1214/aoms/1177731677

    Wood, S. N. (2017). Generalized additive models: an introduction with R, 2nd
    edition, section 5.9. https://doi.org/10.1201/9781315370279
    """
    check_is_fitted(self)
    rows = self._check_rows(X, reset=False)
    weights = check_weights(sample_weight, rows)
    sample = Sample.of_positive_weight(rows, self._check_targets(rows, y), weights)
    residuals, slopes = _pearson_residuals(self, sample)
    inverses = np.reshape(self._inverse_information, self._covariances.shape)
    blocks, n_models = self._term_slices(), len(inverses)
    dof = np.reshape(self.effective_dof_, (n_models, len(blocks)))
    tests = np.full((*dof.shape, 2), np.nan)
    for k, (term, block) in enumerate(zip(self._terms, blocks, strict=True)):
        columns = term.read(sample.rows, self.handle_unknown, self.extrapolation)
        neighbours = _neighbours(term, columns)
        if neighbours is None:
            continue
        design = term.term.evaluate(columns)
        for model, inverse in enumerate(inverses[:, block, block]):
            scaled, term_dof = slopes[model][:, None] * design, 1 + dof[model, k]
            tests[model, k] = neighbour_test(
                residuals[model], scaled, inverse, term_dof, neighbours
            )
    n_functions = np.tile([block.stop - block.start for block in blocks], n_models)
    k_index, pvalues = np.moveaxis(tests, 2, 0)
    is_checked = ~np.isnan(pvalues.ravel())
    names = self.get_feature_names_out()
    arrays = (names, n_functions, dof, k_index, pvalues)
    return BasisCheck(*(np.ravel(array)[is_checked] for array in arrays))


def _pearson_residuals(
    gam: BaseGAM, sample: Sample
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Pearson residuals (n_models, n), and their slopes along the linear predictors.

    Deviance residuals of classes and counts have means that vary with the expected
    target: they have a pattern where no function is missing.
    """
    theta = getattr(gam, "theta_", None)
    family = FAMILIES[gam._family] if theta is None else negative_binomial(theta)
    link = LINKS[gam._link]
    predictors, _, _ = gam._effects(sample.rows.native)
    means = link.mean(predictors)
    scales = np.sqrt(sample.weights / family.variance(means))
    residuals = scales * (gam._targets_of_models(sample.y) - means)
    return residuals, scales * link.slope(predictors)


def _neighbours(
    term: FittedTerm, columns: list[NDArray[np.float64]]
) -> Neighbours | None:
    """Rows that are neighbours along a term's numbers, None of a term of levels."""
    series: NDArray[Any] = np.zeros(len(columns[0]))
    numbers = []
    for basis, column in zip(term.term.bases, columns, strict=True):
        if isinstance(basis, LevelBasis):
            series = column
        else:
            numbers.append(basis.moved_to_first_period(column))
    if not numbers:
        return None
    if len(numbers) == 2:
        # Then neighbours are about as near along the first number as along the second.
        series = quantile_codes(numbers[0], max(round(np.sqrt(len(series))), 1))
    # Missing values are a series of their own.
    is_missing = np.isnan(numbers[-1])
    return Neighbours(2 * series + is_missing, np.nan_to_num(numbers[-1]))


def sample_effects(
    self: BaseGAM,
    X: Any,
    n_draws: int = 100,
    random_state: int | np.random.RandomState | None = None,
) -> NDArray[np.float64]:
    """Draws of the effects of the terms, with coefficients from their posterior.

    The posterior is normal, with mean `coef_` and covariance `covariance_`. A draw has
    the same coefficients for all rows, so it holds a curve of each term.

    Parameters
    ----------
    X : {array-like, DataFrame} of shape (n_samples, n_features)
        Rows.
    n_draws : int, default=100
        Number of draws.
    random_state : int, RandomState or None, default=None
        Draws the coefficients.

    Returns
    -------
    ndarray of shape (n_draws, n_samples, n_terms) or \
(n_draws, n_samples, n_classes * n_terms)
        Effects, in the order of `transform`.
    """
    check_is_fitted(self)
    check_scalar(n_draws, "n_draws", Integral, min_val=1)
    normal = check_random_state(random_state).multivariate_normal
    draws = []
    for mean, covariance in zip(self._coefficients, self._covariances, strict=True):
        # Next to much larger variances, small ones would lose all digits.
        errors = np.sqrt(np.diag(covariance))
        correlations = covariance / np.outer(errors, errors)
        scores = normal(0 * mean, correlations, n_draws, check_valid="ignore")
        draws.append(mean + errors * scores)
    _, effects, _ = self._effects(X, coefficients=np.concatenate(draws))
    return np.concatenate(np.split(effects, len(draws)), axis=2)


def summary(self: BaseGAM) -> str:
    """Summary of the model and its terms, the text of `to_text`.

    Returns
    -------
    str
        The family and the fit, and a table with a line for each term.
    """
    return self.to_text()
