"""Generalised additive models of numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
from numpy.typing import NDArray
from scipy.stats import gamma, nbinom, t

from sklearn_interpret._core.additive.families import FAMILIES, LINKS, negative_binomial
from sklearn_interpret._core.additive.gram import RoundedDesign, RoundedRows
from sklearn_interpret._core.additive.inference import overdispersion_test
from sklearn_interpret._core.additive.smoothing import NormalEquations, PenalisedFit
from sklearn_interpret._core.regression.overdispersion import DISPERSED
from sklearn_interpret._inspectors.params import estimator_dataclass
from sklearn_interpret._inspectors.sklearn_bases import RegressorMixin
from sklearn_interpret._model._sklearn_compat import StrOptions, warn
from sklearn_interpret._model.rows.sample import Sample
from sklearn_interpret.additive._gam import BaseGAM
from sklearn_interpret.exceptions import OverdispersionWarning

if TYPE_CHECKING:
    from sklearn_interpret._core.additive.fitting import TargetRows
    from sklearn_interpret.additive._gam import FittedModel


@estimator_dataclass
class GAMRegressor(RegressorMixin, BaseGAM):
    """Sum of smooth functions of features, each as smooth as the data say.

    A link of the mean is an intercept and a term for each feature: a curve of splines
    whose wiggles are penalised, a number for each level. All penalties are chosen
    together, by restricted maximum likelihood.

    Parameters
    ----------
    terms : dict, list or None, default=None
        The terms. A dict maps the feature of a term, or its pair of features, to its
        kind: `"spline"`, a smooth curve; `"cyclic"`, one that closes (see `periods`);
        `"linear"`, a straight line; `"category"`, a number for each level; for a pair
        `"tensor"`, a smooth surface, less what a term of one of them alone says; or
        `"auto"`. A list has features and pairs that are `"auto"`: categories, strings
        and booleans by dtype are `"category"`, numbers `"spline"`. None takes all
        features alone.
    family : {"normal", "binomial", "poisson", "gamma", "quasibinomial", \
"quasipoisson", "negative_binomial"}, default="normal"
        Distribution of the targets; `"binomial"` takes shares of 0 to 1, with numbers
        of trials as weights. The "quasi" families multiply the variance by a dispersion
        that is estimated; `"negative_binomial"` has the variance m + m^2 / theta at the
        mean m, with theta estimated.
    link : {"identity", "log", "logit", "inverse"} or None, default=None
        Function of the mean that the terms sum to: identity or log of `"normal"`, logit
        of shares, log of counts, log or inverse of `"gamma"`. None takes the first of
        them.
    n_splines : int or dict, default=20
        Number of B-splines of a feature. A pair has as many for each of its features,
        but at most 8. A dict has the numbers of single features and pairs. A feature
        has at most as many as it has distinct values; between up to 12 values the
        curve is a straight line from each to the next.
    knots : {"uniform", "quantile"}, default="uniform"
        Whether splines meet at equal distances, or at quantiles of the rows.
    by : dict, default=None
        Features with a curve for each level of a second feature, or with a curve that
        is multiplied by it where that is a number: `{"age": "sex"}`. The second
        feature's own effect, a number for each level or a straight line, is a term of
        its own.
    periods : dict, default=None
        Periods of features of `"cyclic"` terms: `{"hour": 24}`.
    monotonic_cst : dict, default=None
        Features whose curve or straight line must not fall, 1, or not rise, -1; also
        each of the curves that `by` gives the levels of a category.
    interactions : {"auto"}, int, list of pairs or None, default=None
        Pairs of features that have a surface, besides the pairs in `terms`. A list
        names the pairs. `"auto"` searches pairs that interact in what the other terms
        leave, and an int is the largest number of pairs to find. The search is among
        features that have a curve, or an effect of levels, as a term.
    max_terms : int or None, default=None
        Largest number of terms of a single feature, None for all features. Of more,
        `fit` takes those whose score tests in a model without terms have the smallest
        p-values, and those of features in pairs and `by`. `pvalues_` do not allow for
        this choice: they are too small.
    offset : int or str, default=None
        Feature that is added to the linear predictor as it is.
    smoothing : {"reml", "gcv"} or float, default="reml"
        Choice of the smoothness: by restricted maximum likelihood, by generalised
        cross-validation, or by a number that multiplies all penalties.
    shrinkage : bool, default=True
        Whether straight lines and levels are penalised too, so that useless terms
        vanish.
    extrapolation : {"linear", "constant", "error"}, default="linear"
        How curves continue outside of the range of `fit`: as a straight line up to a
        tenth of the range, and constant farther away; constant everywhere; or not.
    handle_unknown : {"error", "zero"}, default="error"
        Treatment of levels that `fit` did not see, and of missing values where it saw
        none: their effect is zero, or an error is raised.
    missing : {"error", "level"}, default="error"
        Whether missing values are refused, or a level of their own.
    max_iter : int, default=100
        Largest number of least squares problems; smoothing parameters are chosen in the
        first 20 of them.

    Attributes
    ----------
    term_names_ : ndarray of shape (n_terms,)
        Names of the terms, `"a:b"` for those of two features.
    intercept_ : float
        The linear predictor where all terms are zero, which they are on average.
    coef_ : ndarray of shape (n_coefficients,)
        Coefficients of the terms' functions, in coordinates of their penalties.
    covariance_ : ndarray of shape (1 + n_coefficients, 1 + n_coefficients)
        Of intercept and coefficients, in the Bayesian view of penalties; with what
        estimating the smoothing parameters adds (Wood, Pya & Saefken 2016).
    scale_ : float
        The dispersion that errors and tests take: known, or `dispersion_`.
    dispersion_ : float
        Pearson's statistic by `residual_dof_`: how many times as much the targets vary
        as the family says.
    theta_ : float or None
        Shape of `family="negative_binomial"`, estimated; None of others.
    smoothing_ : ndarray of shape (n_penalties,)
        Smoothing parameters of the penalties, term after term.
    effective_dof_ : ndarray of shape (n_terms,)
        Effective degrees of freedom of each term.
    residual_dof_ : float
        Rows, less the effective degrees of freedom of terms and intercept.
    statistics_, pvalues_ : ndarray of shape (n_terms,)
        Score test of each term being zero everywhere (Zhang & Lin 2003).
    concurvity_ : ndarray of shape (n_terms,)
        Share of each term's functions that all other terms reproduce, from 0 to 1: of
        their squares, summed over the rows of `fit`. This is the measure "estimate" of
        mgcv; it does not depend on the targets, and is defined for terms that vanish.
    deviance_explained_ : float
        Share of the deviance of a model without terms that the terms take away.
    reml_ : float
        Logarithm of the restricted likelihood; larger is better.
    n_iter_ : int
        Number of least squares problems that were solved.
    interaction_pairs_ : list of tuple of two ints
        Positions of the features of each term that is a pair.
    interaction_pvalues_ : ndarray of shape (n_pairs,)
        P-value of each pair. Of a pair that was searched, it is that of an F test of
        the interaction in what the terms before it leave, times the number of pairs
        that were compared; of other pairs, it is the smallest of `pvalues_`.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Their names, where X has names that are all strings.

    Warns
    -----
    OverdispersionWarning
        In `fit`: of `family="poisson"` or `"binomial"`, `dispersion_` is 1.5 or more,
        and not by chance.
    SeparationWarning
        In `fit`: terms separate zeros from positive targets without error.
    CostlyInspectionWarning
        In `fit`: the number of coefficients makes it take more than a minute.
    ExtrapolationWarning
        In predictions: rows are beyond the values that `fit` saw of a term's feature by
        more than a tenth of their range, or in a gap wider than that.

    See Also
    --------
    GAMClassifier : The same for classes.
    sklearn.preprocessing.SplineTransformer : Splines for a linear model.

    Notes
    -----
    Columns of more than 256 different numbers are rounded to the means of about 256
    bins while the model is fitted, so that memory and time do not grow with the number
    of rows times that of coefficients. Predictions are of exact values. Rounding adds
    noise: where the noise of the targets is below a hundredth of a curve's range,
    `scale_` and standard errors are too large.

    `fit` takes rows in partitions, such as a Dask DataFrame or
    :class:`~sklearn_interpret.partitions.RowBatches`: the model is that of the rows in
    memory, up to rounding. `fit` then reads the columns of the terms alone: three times
    for normal targets, `n_iter_` + 4 times for other families, and once more for each
    time that a step is halved.

    A weight is the number of rows that a row stands for: the dispersion, and with it
    all standard errors, are those of rows that are repeated.

    p-values are those of a score test of each term, which does not depend on the term's
    own smoothing parameter: those of a feature without effect are uniform. Smooth
    effects are found first; the statistic has a mean of one without an effect. Standard
    errors, intervals and tests of a model with `monotonic_cst` are those of the model
    without.

    References
    ----------
    Wood, S. N. (2011). Fast stable restricted maximum likelihood and marginal
    likelihood estimation of semiparametric generalized linear models. Journal of the
    Royal Statistical Society B 73(1). https://doi.org/10.1111/j.1467-9868.2010.00749.x

    Wood, S. N., Li, Z., Shaddick, G. & Augustin, N. H. (2017). Generalized additive
    models for gigadata. Journal of the American Statistical Association 112(519).
    https://doi.org/10.1080/01621459.2016.1195744

    Wood, S. N., Pya, N. & Saefken, B. (2016). Smoothing parameter and model selection
    for general smooth models. Journal of the American Statistical Association 111(516).
    https://doi.org/10.1080/01621459.2016.1180986

    Marra, G. & Wood, S. N. (2011). Practical variable selection for generalized
    additive models. Computational Statistics & Data Analysis 55(7).
    https://doi.org/10.1016/j.csda.2011.02.004

    Zhang, D. & Lin, X. (2003). Hypothesis testing in semiparametric additive mixed
    models. Biostatistics 4(1). https://doi.org/10.1093/biostatistics/4.1.57

    Eilers, P. H. C. & Marx, B. D. (1996). Flexible smoothing with B-splines and
    penalties. Statistical Science 11(2). https://doi.org/10.1214/ss/1038425655

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn_interpret.additive import GAMRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    >>> model = GAMRegressor(terms=["age", "bmi", "bp", "sex"]).fit(X, y)
    >>> model.effective_dof_.round(1)
    array([1.7, 1. , 1.4, 0.6])
    >>> model.predict(X[:2]).round()
    array([208.,  98.])
    """

    terms: dict[Any, str] | list[Any] | None = None
    family: str = "normal"
    link: str | None = None

    intercept_: float = field(init=False)
    scale_: float = field(init=False)
    dispersion_: float = field(init=False)
    theta_: float | None = field(init=False)
    residual_dof_: float = field(init=False)
    deviance_explained_: float = field(init=False)
    reml_: float = field(init=False)

    _parameter_constraints = {
        **BaseGAM._parameter_constraints,
        "family": [StrOptions(set(FAMILIES))],
        "link": [StrOptions(set(LINKS)), None],
    }

    def _labels_reader(self) -> Callable[[NDArray[Any]], NDArray[Any]]:
        family = FAMILIES[self.family]
        if self.link not in (None, *family.links):
            raise ValueError(
                f"link={self.link!r} does not go with family={self.family!r}; accepted "
                f"are {', '.join(map(repr, family.links))}."
            )
        return partial(_check_domain, self.family)

    def _set_models(self, labels: NDArray[Any]) -> None:
        self._family = self.family
        self._link = self.link or FAMILIES[self.family].links[0]
        self._trials = self.family.endswith("binomial") and self._link == "logit"

    def _set_results(self, models: list[FittedModel]) -> None:
        super()._set_results(models)
        fit = models[0].fit
        family = fit.problem.likelihood.family
        self.theta_ = family.shape
        if family.excess is None or self.dispersion_ < DISPERSED:
            return
        # Targets that are all zero or one have the variance that their mean determines:
        # they cannot be overdispersed.
        if not fit.problem.rows.sum(_count_other_than_0_1):
            return
        test = overdispersion_test(fit)
        if test.warns:
            alternative = " or 'negative_binomial'" if self.family == "poisson" else ""
            warn(
                f"Use family='quasi{self.family}'{alternative}: targets vary "
                f"{self.dispersion_:.3g} times as much as family={self.family!r} says "
                f"(dispersion_; p-value {test.pvalue:.1g}), and standard errors, "
                "intervals and p-values are too small.",
                OverdispersionWarning,
            )

    @overload
    def predict(
        self, X: Any, return_std: Literal[False] = False
    ) -> NDArray[np.float64]: ...

    @overload
    def predict(
        self, X: Any, return_std: Literal[True]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...

    def predict(
        self, X: Any, return_std: bool = False
    ) -> NDArray[np.float64] | tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Expected targets.

        Parameters
        ----------
        X : {array-like, DataFrame} of shape (n_samples, n_features)
            Rows.
        return_std : bool, default=False
            Whether to return standard errors too.

        Returns
        -------
        means : ndarray of shape (n_samples,)
            Expected targets.
        standard_errors : ndarray of shape (n_samples,)
            Of these means, not of targets; only with `return_std`.
        """
        covariances = self._covariances if return_std else None
        predictors, _, errors = self._effects(
            X, covariances=covariances, warns_of_extrapolation=True
        )
        link, predictor = LINKS[self._link], predictors[0]
        if not return_std:
            return link.mean(predictor)
        return link.mean(predictor), np.abs(link.slope(predictor)) * errors[0]

    def _predict_with_leverages(
        self, X: Any
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Linear predictors, and weights of the rows' targets in them: (n_samples,).

        The smoothing parameters are taken for known, and the family for normal.
        """
        predictors, _, errors = self._effects(
            X, covariances=[self._inverse_information]
        )
        return predictors[0], errors[0] ** 2

    def _design(self, X: Any) -> NDArray[np.float64]:
        """Values of the intercept and all coordinates of terms, (n_samples, p)."""
        rows = self._check_rows(X, reset=False)
        blocks = [np.ones((rows.n_rows, 1))]
        for term in self._terms:
            columns = term.read(rows, self.handle_unknown, self.extrapolation)
            blocks.append(term.term.evaluate(columns))
        return np.hstack(blocks)

    def _target_projection(
        self, X: Any, weights: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """The map from normal targets to coefficients: (p, n_samples).

        Parameters
        ----------
        X : {array-like, DataFrame} of shape (n_samples, n_features)
            Rows of `fit`; a ValueError if some have values that `fit` did not see.
        weights : ndarray of shape (n_samples,)
            Their weights.
        """
        all_rows = self._check_rows(X, reset=False)
        sample = Sample.of_positive_weight(all_rows, None, weights)
        rows, weights = sample.rows, sample.weights
        coded = [term.code(rows) for term in self._terms]
        histograms = [coded_term.histogram(weights) for coded_term in coded]
        terms, bins = [term.term for term in self._terms], [c.bins for c in coded]
        design = RoundedDesign(terms, bins, histograms)
        functions = RoundedRows(design, coded, rows.n_rows).coordinates
        # The least squares problem of the fit; its own targets do not matter.
        sums = weights * functions.T
        products, total = sums @ functions, float(weights.sum())
        equations = NormalEquations(
            products, products[0], total, total, design.penalties, None
        )
        penalised_fit = PenalisedFit(equations, np.log(self.smoothing_))
        projection = np.zeros((len(sums), all_rows.n_rows))
        projection[:, sample.index] = penalised_fit.solve(sums)
        return projection

    def predict_interval(
        self, X: Any, alpha: float = 0.05
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Prediction intervals: ranges of the targets of new rows.

        Parameters
        ----------
        X : {array-like, DataFrame} of shape (n_samples, n_features)
            Rows.
        alpha : float, default=0.05
            Share of the targets that are outside, half of it on either side.

        Returns
        -------
        low, high : ndarray of shape (n_samples,)
            Ends of the intervals, which allow for the spread of targets and for that of
            the estimated mean.
        """
        if not 0 < alpha < 1:
            raise ValueError(f"alpha={alpha!r} must be between 0 and 1.")
        mean, error = self.predict(X, return_std=True)
        tails = np.array([[alpha / 2], [1 - alpha / 2]])
        family = FAMILIES[self._family]
        if self.theta_ is not None:
            family = negative_binomial(self.theta_)
        variance = self.scale_ * family.variance(mean)
        low, high = _target_quantiles(
            self._family, tails, mean, error, self.scale_, variance, self.residual_dof_
        )
        return low, high


def _check_domain(family_name: str, y: NDArray[np.float64]) -> NDArray[np.float64]:
    """No labels, after a check that the family takes the targets."""
    family = FAMILIES[family_name]
    if not (holds := family.holds(y)).all():
        raise ValueError(
            f"y has the value {y[~holds][0]:g}; family={family_name!r} takes "
            f"{family.domain}."
        )
    return np.empty(0)


def _count_other_than_0_1(rows: TargetRows) -> int:
    """Number of targets that are neither zero nor one."""
    return int(np.count_nonzero((rows.targets != 0) & (rows.targets != 1)))


def _target_quantiles(
    family: str,
    probabilities: NDArray[np.float64],
    mean: NDArray[np.float64],
    error: NDArray[np.float64],
    scale: float,
    variance: NDArray[np.float64],
    residual_dof: float,
) -> NDArray[np.float64]:
    """Quantiles of targets whose mean has a standard error: (n_probabilities, n)."""
    if family == "normal":
        return mean + t.ppf(probabilities, residual_dof) * np.sqrt(scale + error**2)
    if family == "gamma":
        # The relative error of the mean adds to the dispersion.
        relative = np.maximum((error / mean) ** 2, 1e-12)
        dispersion = scale + relative + scale * relative
        return gamma.ppf(probabilities, 1 / dispersion, scale=mean * dispersion)
    if family.endswith("binomial") and family != "negative_binomial":
        raise ValueError(
            f"family={family!r} has no intervals of targets, which are 0 or 1; "
            "predict(X, return_std=True) has those of their mean."
        )
    # Counts of a negative binomial distribution with that mean and variance.
    excess = np.maximum(variance + error**2 - mean, 1e-12 * mean**2)
    return nbinom.ppf(probabilities, mean**2 / excess, mean / (mean + excess))
