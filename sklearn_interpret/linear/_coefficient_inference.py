"""The table of a regression: weights, their errors, tests and intervals.

`_inspect` fits the regression in passes over the rows where that suffices
(`_fit_by_passes`), and otherwise from all rows in memory (`_fit_all_rows`): only this
finds dependent columns and terms that separate classes. `_set_tests` makes the table.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning

from sklearn_interpret._core.influence.score_passes import PassedRegression
from sklearn_interpret._core.regression import working_regression
from sklearn_interpret._core.regression.overdispersion import DISPERSED
from sklearn_interpret._core.regression.profile_likelihood import profile_bounds
from sklearn_interpret._core.regression.separation import (
    rules_out_separation,
    without_separated_rows,
)
from sklearn_interpret._core.statistics.score_losses import HalfSquared, HalfTweedie
from sklearn_interpret._inspectors.params import estimator_dataclass
from sklearn_interpret._inspectors.regression import (
    BaseRegressionInspector,
    column_names,
    feature_columns,
    has_known_dispersion,
    score_model_of,
)
from sklearn_interpret._inspectors.results import ResultsMixin
from sklearn_interpret._inspectors.sklearn_bases import (
    TransformerMixin,
    feature_names_out,
)
from sklearn_interpret._model._sklearn_compat import (
    Interval,
    StrOptions,
    check_feature_names_in,
    warn,
)
from sklearn_interpret._model.formulas.linear import set_weights
from sklearn_interpret._model.gradients.objectives import (
    LinearLayer,
    check_is_optimum,
    read_objective,
)
from sklearn_interpret._model.parallel import run_in_threads
from sklearn_interpret._model.responses.predictors import innermost
from sklearn_interpret._model.responses.response import make_response
from sklearn_interpret._model.rows.base import copy_of
from sklearn_interpret._model.rows.features import feature_index
from sklearn_interpret._model.rows.lazy import lazy_transformer
from sklearn_interpret._model.rows.sample import Sample
from sklearn_interpret._model.rows.tables import as_objects
from sklearn_interpret._model.rows.validation import (
    check_scales,
    empty_for_no_rows,
    offsets_of,
)
from sklearn_interpret.exceptions import (
    DependentTermsWarning,
    LeverageWarning,
    OverdispersionWarning,
    SeparationWarning,
)
from sklearn_interpret.explanations import Explanation

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from sklearn_interpret._core.influence.score_models import ScoreModel
    from sklearn_interpret._core.influence.score_passes import PassSums
    from sklearn_interpret._core.regression.working_regression import FittedRegression
    from sklearn_interpret._model.gradients.objectives import Objective
    from sklearn_interpret._model.rows.base import Rows
    from sklearn_interpret._model.rows.partitioned import PartitionedSample

    Regression = PassedRegression | working_regression.WorkingRegression

__all__ = ["CoefficientInference"]

# Largest number of terms that a message names.
_MOST_NAMED = 10
# First rows in which the column of the offset is found; later all rows are checked.
_OFFSET_ROWS = 100
# Columns of the table, with their attributes.
_COLUMNS = {
    "coef": "coef_",
    "standard_error": "standard_errors_",
    "statistic": "statistics_",
    "pvalue": "pvalues_",
    "low": "intervals_low_",
    "high": "intervals_high_",
}


@lazy_transformer
@estimator_dataclass
class CoefficientInference(ResultsMixin, TransformerMixin, BaseRegressionInspector):
    """Standard errors, tests and intervals of the weights of a linear model or a GLM.

    The model has no penalty: a penalty shrinks weights, and tests and intervals of
    least squares or of maximum likelihood do not hold for these. Interactions and
    splines are made by steps of a pipeline, such as
    :class:`~sklearn.preprocessing.PolynomialFeatures` and
    :class:`~sklearn.preprocessing.SplineTransformer`; the columns that the model gets
    are the terms.

    Parameters
    ----------
    estimator : estimator
        :class:`~sklearn.linear_model.LinearRegression`, a
        :class:`~sklearn.linear_model.LogisticRegression` of two classes with
        ``C=np.inf``, :class:`~sklearn.linear_model.PoissonRegressor`,
        :class:`~sklearn.linear_model.GammaRegressor` or
        :class:`~sklearn.linear_model.TweedieRegressor` with ``alpha=0``, or a pipeline
        that ends in one; a clone of it is fitted. A fitted one is passed as
        ``FrozenEstimator(model)``, with the rows and weights that it was fitted on.
    target : class label or int, default=None
        Of a classifier, the class whose log-odds the weights are of; None takes the
        second in the order of `classes_`. With the other one all signs turn.
    covariance : {"model", "HC0", "HC1", "HC2", "HC3"}, default="model"
        "model" takes the variance of the targets as the model has it. The others are
        right too where it is another one for each row (sandwich estimates): "HC0" for
        all models, the others, which correct it for few rows, for least squares. "HC0"
        is too small for few rows: with three features, tests at 5 % reject a true null
        in 14 % of the cases at 12 rows, 10 % at 20 and 8 % at 50; those of "HC3" in 3
        to 5 %.
    dispersion : {"model", "quasi"}, default="model"
        Of classes and counts, "model" takes the dispersion to be 1, and "quasi"
        estimates it: counts often vary more than Poisson's distribution has it. Rows of
        classes that have the same terms are taken together for it, for single classes
        cannot vary more than their probability says. For other models it is always
        estimated.
    offset : int or str, default=None
        Feature that is added to the linear predictor as it is, such as the logarithm of
        an exposure; of classes to the log-odds of the second one. It is no term: its
        weight is one. The model must get it as a column of its own, unchanged, and
        `estimator_` has the weights of the fit with it. A frozen model must have the
        weight one there.
    weights : {"frequency", "precision"}, default="frequency"
        What `sample_weight` says. "frequency": how often a row occurs; their sum is the
        number of rows. "precision": the variance of a target is that of the model by
        its weight, as of a mean of several targets, or of a rate by its exposure;
        their scale does not matter where the dispersion is estimated, or the covariance
        is not the model's.
    interval : {"wald", "profile"}, default="wald"
        "wald" takes a multiple of the standard error to each side. "profile" takes the
        weights with which the likelihood, at its largest over all other weights, is not
        significantly lower; that is slower, and nearer to the nominal coverage where
        rows are few. For least squares both are the same.
    confidence_level : float, default=0.95
        Of the intervals.
    n_jobs : int or None, default=None
        Workers that follow profiles.
    verbose : int or None, default=None
        1 prints the share done and the time left, 0 nothing. None writes one line to
        the standard error of calls that will take more than five seconds.

    Attributes
    ----------
    estimator_ : estimator
        The fitted model.
    term_names_ : list of str
        Names of the terms: the columns that the model gets, without the offset, and
        "intercept" behind them if it has one.
    output_names_ : list
        The class whose log-odds the weights are of, or 0.
    coef_ : ndarray of shape (n_terms,)
        Weights. Those where the likelihood is largest, to rounding, wherever the
        model's solver has stopped.
    standard_errors_ : ndarray of shape (n_terms,)
        Standard errors.
    statistics_ : ndarray of shape (n_terms,)
        Weights by their standard errors.
    pvalues_ : ndarray of shape (n_terms,)
        Two-sided p-values of weights of zero.
    intervals_low_, intervals_high_ : ndarray of shape (n_terms,)
        Ends of the confidence intervals.
    exponentiated_ : ndarray of shape (n_terms,)
        Of classes odds ratios, of other models with a link "log" ratios of means (rate
        ratios): exponentials of the weights. Models without a link have none.
    covariance_ : ndarray of shape (n_terms, n_terms)
        Covariance of the weights.
    dispersion_ : float
        The dispersion; for least squares the residual variance.
    r2_ : float
        Share of the deviance that the terms explain; for least squares that of the sum
        of squares. Without an intercept it is the share of the deviance from a linear
        predictor of zero, or of the offset. NaN for targets that do not vary.
    adjusted_r2_ : float
        The same with deviances divided by their degrees of freedom; NaN where none is
        left.
    residual_dof_ : float
        Sum of the weights of the rows, or their number where these are precisions, less
        the number of terms.
    intercept_ : float
        The model's own intercept: effects of a row, its offset and this sum to the
        linear predictor of the model.
    n_features_in_, feature_names_in_, classes_ : int, ndarray, ndarray
        Number of features; their names, where the columns have any; class labels.

    Raises
    ------
    UnreadableModelError
        In `fit`: the model is none of those above.
    ValueError
        In `fit`: the model has a penalty, or weights of classes; there are too few
        rows; the covariance is not known for the model, or for intervals by profile;
        `y` is missing, or has several columns or more than two classes; the model does
        not get the offset as it is.

    Warns
    -----
    DependentTermsWarning
        Columns depend on each other, as those of all levels of a category do. Errors,
        tests and intervals of their weights are NaN, and those of others as they would
        be if one were left out.
    LeverageWarning
        Single rows determine terms alone, as that of a level of one row does. Their
        errors of "HC2" and "HC3", tests and intervals are NaN, and those of the others
        are those of the fit without these rows.
    OverdispersionWarning
        Counts, or classes whose weights are numbers of trials, vary more than 1.5 times
        as much as their distribution says, and not by chance, and the covariance and
        the dispersion are the model's.
    SeparationWarning
        Terms separate some rows' classes without error, or zero counts from others:
        their likeliest weights are infinite. Their `coef_` are then the model's own,
        and their errors, tests and intervals NaN. The other terms have those of the
        rows that are not told apart, to which the likelihood tends.
    ConvergenceWarning
        The search for an end of an interval by profile did not converge. The end is
        NaN.
    OtherTrainingRowsWarning
        The weights of a frozen model are far from the likeliest ones.

    See Also
    --------
    CoefficientDisplay : Weights with their intervals.
    LinearEffectDisplay : Effects of the terms on all rows.
    sklearn_interpret.influence.RegressionInfluence : What single rows do to the fit.

    Notes
    -----
    With :math:`w_i` the weight of a row, :math:`r_i` its Pearson residual for a weight
    of one, :math:`v_i` the expected second derivative of half its unit deviance along
    the linear predictor, V the diagonal matrix of :math:`w_i v_i`, N the sum of the
    weights, or the number of rows where these are precisions, and p the number of
    terms,

    .. math::

        \\mathrm{Cov} &= \\phi\\, (X^\\top V X)^{-1}, \\qquad
        \\phi = \\textstyle\\sum_i w_i r_i^2 / (N - p) \\\\
        \\mathrm{Cov}_{HC} &= (X^\\top O X)^{-1} \\Big(\\sum_i w_i^m v_i
        \\frac{c\\, r_i^2}{(1 - h_i)^k}\\, x_i x_i^\\top\\Big) (X^\\top O X)^{-1}

    where O has the observed second derivatives in the place of the expected ones (they
    are the same for least squares, classes and counts), k is 1 for "HC2", 2 for "HC3"
    and else 0, and c is N / (N - p) for "HC1" and else 1. Where weights count rows, m
    is 1 and :math:`h_i` the leverage of a single copy of the row; where they are
    precisions, m is 2 and :math:`h_i` the leverage of the row. Where the dispersion is
    estimated, statistics are compared with Student's t distribution of N - p degrees of
    freedom, whatever the covariance, and with the normal distribution where it is
    known: as in R. Statsmodels does so with ``use_t=True``. For classes,
    ``dispersion="quasi"`` takes rows of equal log-odds together: N is then their
    number, :math:`w_i` the number of trials and :math:`r_i` the residual of the share
    of successes. Over partitions it keeps three numbers for each.

    Intervals by profile end where the deviance, at its least over all other weights,
    has risen by :math:`\\phi q^2`, with q the quantile that "wald" multiplies standard
    errors by.

    Weights that count rows, the default, say how often a row stands there: a weight of
    two gives what two copies give (``freq_weights`` of statsmodels). Those of
    ``weights="precision"`` are its ``var_weights``, and R's ``weights``: rates y /
    exposure, weighted by the exposure, have the table that y has with the logarithm of
    the exposure as `offset`, whatever the covariance. A row that determines a term
    alone has no residual to tell its variance by, which "HC2" and "HC3" divide by zero.

    References
    ----------
    McCullagh, P. & Nelder, J. A. (1989). Generalized Linear Models. Chapman & Hall.

    Correia, S., Guimarães, P. & Zylkin, T. (2019). Verifying the existence of maximum
    likelihood estimates for generalized linear models.
    https://arxiv.org/abs/1903.01633

    MacKinnon, J. G. & White, H. (1985). Some heteroskedasticity-consistent covariance
    matrix estimators with improved finite sample properties. Journal of Econometrics
    29(3). https://doi.org/10.1016/0304-4076(85)90158-7

    Venzon, D. J. & Moolgavkar, S. H. (1988). A method for computing profile-likelihood
    based confidence intervals. Applied Statistics 37(1).
    https://doi.org/10.2307/2347496

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import LinearRegression
    >>> from sklearn_interpret.linear import CoefficientInference
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    >>> inspector = CoefficientInference(LinearRegression()).fit(X[["bmi", "bp"]], y)
    >>> inspector.to_frame().round(3)[["coef", "standard_error", "statistic"]]
                  coef  standard_error  statistic
    term
    bmi          8.519           0.705     12.089
    bp           1.385           0.225      6.152
    intercept -203.623          22.234     -9.158
    >>> inspector.transform(X[["bmi", "bp"]])[:1].round(1)
    array([[273.5, 139.9]])
    """

    target: Any = None
    covariance: str = "model"
    dispersion: str = "model"
    offset: int | str | None = None
    weights: str = "frequency"
    interval: str = "wald"
    confidence_level: float = 0.95
    n_jobs: int | None = None
    verbose: int | None = None

    term_names_: list[str] = field(init=False)
    output_names_: list[Any] = field(init=False)
    coef_: NDArray[np.float64] = field(init=False)
    standard_errors_: NDArray[np.float64] = field(init=False)
    statistics_: NDArray[np.float64] = field(init=False)
    pvalues_: NDArray[np.float64] = field(init=False)
    intervals_low_: NDArray[np.float64] = field(init=False)
    intervals_high_: NDArray[np.float64] = field(init=False)
    exponentiated_: NDArray[np.float64] = field(init=False)
    covariance_: NDArray[np.float64] = field(init=False)
    dispersion_: float = field(init=False)
    r2_: float = field(init=False)
    adjusted_r2_: float = field(init=False)
    residual_dof_: float = field(init=False)
    intercept_: float = field(init=False)

    _for_any_model = "PermutationTest tests the features of any model."

    _result_index = "term"
    # The unit of a weight is the response's per that of its feature.
    _result_own_units = frozenset(
        {
            *("coef", "standard_error", "low", "high"),
            *("exponentiated", "exponentiated_low", "exponentiated_high"),
        }
    )
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BaseRegressionInspector._parameter_constraints,
        "covariance": [StrOptions({"model", "HC0", "HC1", "HC2", "HC3"})],
        "dispersion": [StrOptions({"model", "quasi"})],
        "offset": [str, Integral, None],
        "weights": [StrOptions({"frequency", "precision"})],
        "interval": [StrOptions({"wald", "profile"})],
        "confidence_level": [Interval(Real, 0, 1, closed="neither")],
    }
    _takes_partitions = True

    @property
    def _weights_count_rows(self) -> bool:
        return self.weights == "frequency"

    _errors_count_rows = _weights_count_rows

    def _make_response(self) -> Objective:
        model = innermost(self.estimator_)
        # A penalty is named first, also for models that are refused below, as Lasso.
        alpha = getattr(model, "alpha_", getattr(model, "alpha", 0))
        if hasattr(model, "coef_") and np.any(alpha):
            _refuse_penalty(model)
        if getattr(model, "class_weight", None) is not None:
            raise ValueError(
                f"class_weight={model.class_weight!r} of the {type(model).__name__} "
                "makes rows count more often than they stand there, and standard "
                "errors with them; class_weight=None is accepted, and sample_weight "
                "in fit."
            )
        objective = super()._make_response()
        if isinstance(self.target, dict):
            raise ValueError(f"target={self.target!r} must be a class, or None.")
        method = "predict" if objective.classes is None else "decision_function"
        response = make_response(self.estimator_, method, self.target)
        # Log-odds of the first class are minus those of the second.
        self._sign = float(response.read(np.ones((1, 1)))[0, 0])
        self.output_names_ = response.output_names(1)
        return objective

    def _inspect(self, sample: Sample | PartitionedSample, response: Objective) -> None:
        self._check_covariance(response)
        self._objective = response
        self._response_name = _response_name(response)
        self._name_terms(sample.rows)
        parameters = self._sign * response.score_function.parameters
        self.intercept_ = float(parameters[-1])
        weights = parameters[self._term_parameters]
        regression = self._fit_by_passes(sample, weights)
        if regression is None:
            assert isinstance(sample, Sample)  # otherwise passes raise an error
            fit = self._fit_all_rows(sample, weights)
        else:
            fit = _Fit(regression, regression, regression.undetermined)
        self.coef_ = fit.tested.parameters.copy()
        # Terms that the tested regression leaves out have the weights of the model.
        if fit.tested is not fit.regression or len(fit.unknown_terms) == len(weights):
            self.coef_[fit.unknown_terms] = weights[fit.unknown_terms]
        self._set_tests(fit.tested, fit.unknown_terms)
        self._set_deviance_shares(fit.regression)
        if self._has_known_dispersion and self.covariance == "model":
            self._warn_of_overdispersion(fit.tested)
        if self._offset is not None and not self._is_frozen:
            self._set_model_weights(self._offset)

    def _fit_by_passes(
        self, sample: Sample | PartitionedSample, weights: NDArray[np.float64]
    ) -> PassedRegression | None:
        """The regression by passes over the rows; None if it needs all rows in memory.

        The passes start at the weights of the model.
        """
        loss: Any = self._objective.loss
        in_memory = isinstance(sample, Sample)
        if self.interval == "profile" and not isinstance(loss, HalfSquared):
            if in_memory:
                return None
            raise ValueError(
                'interval="profile" takes many passes over the rows, and they are in '
                'partitions: "wald" is accepted.'
            )
        # Rows in memory are read once, rows in partitions in each pass.
        score_model = None
        if isinstance(sample, Sample):
            score_model = self._scores_reader()(sample)

        def sum_over_rows(
            function: Callable[..., Any], merge: Callable[..., Any]
        ) -> PassSums:
            if score_model is not None:
                return function(score_model)
            task = partial(_apply_to_scores, self._scores_reader(), function)
            return sample.map_reduce(task, merge)

        regression = PassedRegression.fit(
            sum_over_rows,
            loss,
            weights,
            self._has_intercept,
            self._has_known_dispersion,
            self._weights_count_rows,
        )
        if score_model is not None:
            if regression is None or len(regression.undetermined):
                return None
            if regression.flat and not rules_out_separation(
                score_model, regression.parameters
            ):
                return None
        elif regression is None or regression.slow:
            raise ValueError(
                "The likelihood still grows after many passes over the rows: terms may "
                "separate classes, or zeros from positive targets. Fit a sample of the "
                "rows in memory, which names them."
            )
        if not self._has_known_dispersion:
            self._check_dispersion(regression)
        if len(regression.undetermined):
            self._warn_of_dependence(regression.undetermined)
        check_is_optimum(self.estimator_, self._objective.model, regression.distance)
        return regression

    def _fit_all_rows(self, sample: Sample, weights: NDArray[np.float64]) -> _Fit:
        """The regression of all rows, and of the rows that no term separates.

        `weights` are the weights of the model.
        """
        model = self._scores_reader()(sample).at_optimum()
        known_dispersion = self._has_known_dispersion
        regression = working_regression.WorkingRegression(
            model, known_dispersion, counts_rows=self._weights_count_rows
        )
        if not known_dispersion:
            self._check_dispersion(regression)
        dependent = regression.undetermined
        if len(dependent):
            self._warn_of_dependence(dependent)
        unseparated_model = without_separated_rows(model)
        if unseparated_model is model:
            distance = model.distance(weights[:, None])
            check_is_optimum(self.estimator_, self._objective.model, distance)
            return _Fit(regression, regression, dependent)
        unseparated, unknown = regression, np.arange(len(weights))
        if len(unseparated_model.design):
            unseparated = replace(regression, model=unseparated_model)
            if known_dispersion or unseparated.dispersion_dof:
                unknown = unseparated.undetermined
        self._warn_of_separation(np.setdiff1d(unknown, dependent))
        tested = unseparated if len(unknown) < len(weights) else regression
        return _Fit(regression, tested, unknown)

    def _scores_reader(self) -> Callable[[Sample], ScoreModel]:
        """Function from a sample to the `ScoreModel` of its rows; it can be pickled."""
        name = type(self).__name__
        return partial(_score_model, name, self.estimator_, self._sign, self._offset)

    @property
    def _has_known_dispersion(self) -> bool:
        """Whether the dispersion is known to be one."""
        return has_known_dispersion(self._objective.loss) and self.dispersion == "model"

    @property
    def _linear_layer(self) -> LinearLayer:
        """The weights of the model, as a network of one layer."""
        score_function = self._objective.score_function
        assert isinstance(score_function, LinearLayer)  # others are refused
        return score_function

    @property
    def _has_intercept(self) -> bool:
        return bool(self._objective.model.fit_intercept)

    def _name_terms(self, rows: Rows) -> None:
        """Set the terms, which are columns of the model, and the offset."""
        names = column_names(self._objective, rows.names)
        # The feature of each column of the model; None where steps mix features.
        self._column_features = feature_columns(self._objective, rows.n_columns)
        terms = np.arange(len(names))
        self._offset: _Offset | None = None
        if self.offset is not None:
            self._offset = self._find_offset(rows, names)
            terms = np.delete(terms, self._offset.column)
        self._term_columns = terms
        self.term_names_ = [names[j] for j in terms]
        # Positions of the tested weights among the parameters of the model, whose last
        # one is the intercept.
        self._term_parameters = np.array(terms, dtype=np.intp)
        if self._has_intercept:
            self._term_parameters = np.append(self._term_parameters, len(names))
            self.term_names_.append("intercept")

    def _find_offset(self, rows: Rows, names: list[str]) -> _Offset:
        """The feature of the offset, and the column of the model that it becomes."""
        feature = feature_index(
            self.offset, rows.names, named=rows.named, parameter="offset"
        )
        name = rows.names[feature]
        first_rows = rows.take(np.arange(min(rows.n_rows, _OFFSET_ROWS)))
        inputs, _ = self._objective.activations(first_rows.native)
        is_offset = _are_offsets(inputs, feature, first_rows)
        if self._column_features is not None:
            is_offset &= self._column_features == feature
        elif is_offset.sum() > 1:  # ColumnTransformer writes its steps before names
            is_offset &= [str(n).rpartition("__")[2] == name for n in names]
        columns = np.flatnonzero(is_offset)
        if len(columns) != 1:
            raise _offset_error(name)
        weight = self._linear_layer.coefs[0][columns[0], 0]
        if self._is_frozen and not np.isclose(weight, 1):
            raise ValueError(
                f"offset={name!r} has the weight one, and the frozen "
                f"{type(self._objective.model).__name__} has {weight:.4g} there: pass "
                "an unfitted estimator, which is fitted here. The estimator_ of that "
                "fit can be frozen."
            )
        return _Offset(feature, int(columns[0]), name)

    def _set_model_weights(self, offset: _Offset) -> None:
        """Give the model the weights of the fit with the offset."""
        weights = self._objective.score_function.parameters
        weights[self._term_parameters] = self._sign * self.coef_
        weights[offset.column] = 1.0
        set_weights(self._objective.model, weights)
        self._objective = read_objective(self.estimator_)
        self.intercept_ = float(self._sign * weights[-1])

    def _check_dispersion(self, regression: FittedRegression) -> None:
        """Refuse too few rows to estimate the dispersion."""
        self._check_residuals(regression)
        if not regression.dispersion_dof:
            raise ValueError(
                'dispersion="quasi" takes rows of classes that have the same terms '
                f"together, and no more of these are left than the "
                f"{regression.effective_dof:g} parameters: the dispersion is unknown. "
                'dispersion="model" is accepted.'
            )

    def _check_covariance(self, objective: Objective) -> None:
        """Refuse a covariance that the interval or the model has no formula for."""
        kind = self.covariance
        if kind == "model":
            return
        if self.interval == "profile":
            raise ValueError(
                f'interval="profile" follows the likelihood, covariance="{kind}" '
                'does not: covariance="model" or interval="wald" is needed.'
            )
        if kind != "HC0" and not isinstance(objective.loss, HalfSquared):
            raise ValueError(
                f'covariance="{kind}" is known for least squares; of a '
                f'{type(objective.model).__name__} "model" and "HC0" are accepted.'
            )

    def _term_list(self, terms: NDArray[np.intp]) -> str:
        """Names of terms as a list in words."""
        names = [repr(str(self.term_names_[term])) for term in terms]
        n_more = len(names) - _MOST_NAMED
        text = ", ".join(names[:_MOST_NAMED])
        return f"{text} and {n_more} more" if n_more > 0 else text

    def _warn_of_dependence(self, terms: NDArray[np.intp]) -> None:
        warn(
            "Leave out one of the columns that depend on each other, as "
            'OneHotEncoder(drop="first"), and PolynomialFeatures and '
            "SplineTransformer with include_bias=False, do: the rows do not determine "
            f"the weights of {self._term_list(terms)}. Their errors, tests and "
            "intervals are NaN.",
            DependentTermsWarning,
        )

    def _warn_of_leverage(self, terms: NDArray[np.intp]) -> None:
        warn(
            "Leave out levels of one row, or join them with others, or use "
            f'covariance="HC1": single rows determine {self._term_list(terms)} alone. '
            f'Their residuals are zero, so that covariance="{self.covariance}" has no '
            "errors, tests and intervals of these terms, and they are NaN. The others "
            "have those of the fit without these rows.",
            LeverageWarning,
        )

    def _warn_of_overdispersion(self, regression: FittedRegression) -> None:
        """Warn of overdispersed counts, and of overdispersed classes with trials."""
        subject, reference = "targets vary", "Poisson's distribution"
        if self._objective.classes is not None:
            if not regression.total_weight > regression.n_rows:
                return  # single classes have the variance of their mean
            subject, reference = "rows of equal terms vary", "independent trials"
        elif regression.pearson_statistic < DISPERSED * regression.residual_dof:
            return
        test = regression.overdispersion
        if test.warns:
            warn(
                f'Use dispersion="quasi": {subject} {test.dispersion:.3g} times as '
                f"much as {reference} (p-value {test.pvalue:.1g}), and standard "
                "errors, intervals and p-values are too small.",
                OverdispersionWarning,
            )

    def _warn_of_separation(self, terms: NDArray[np.intp]) -> None:
        reason = "some rows' classes"
        if self._objective.classes is None:
            reason = "zeros from positive targets"
        warn(
            f"Remove the terms that separate {reason} without error, or pass more "
            f"rows: {self._term_list(terms)}. The likelihood grows with their weights: "
            "they have no likeliest weights, and their errors, tests and intervals "
            "are NaN.",
            SeparationWarning,
        )

    def _set_tests(self, regression: Regression, unknown: NDArray[np.intp]) -> None:
        """Set errors, tests and intervals of the weights, NaN for unknown terms."""
        tests = working_regression.WaldTests(regression, self.covariance)
        self.covariance_, self.dispersion_ = tests.covariance, regression.dispersion
        if self.covariance in ("HC2", "HC3"):
            undetermined = np.flatnonzero(np.isnan(np.diag(self.covariance_)))
            by_leverage = np.setdiff1d(undetermined, unknown)
            if len(by_leverage):
                self._warn_of_leverage(by_leverage)
        self.covariance_[unknown] = self.covariance_[:, unknown] = np.nan
        self.standard_errors_ = np.sqrt(np.diag(self.covariance_))
        with np.errstate(divide="ignore", invalid="ignore"):
            self.statistics_ = self.coef_ / self.standard_errors_
        self.pvalues_ = tests.pvalues(self.statistics_)
        quantile = tests.quantile(self.confidence_level)
        bounds = np.array([[-quantile], [quantile]]) * self.standard_errors_
        bounds += self.coef_
        is_least_squares = isinstance(self._objective.loss, HalfSquared)
        if self.interval == "profile" and not is_least_squares:
            estimated = np.flatnonzero(np.isfinite(self.standard_errors_))
            deviance_rise = regression.dispersion * quantile**2
            tasks = [(regression, term, deviance_rise) for term in estimated]
            ends = run_in_threads(profile_bounds, tasks, n_jobs=self.n_jobs)
            for term, low_and_high in zip(estimated, ends, strict=True):
                bounds[:, term] = low_and_high
            self._warn_of_lost_ends(
                estimated[np.isnan(bounds[:, estimated]).any(axis=0)]
            )
        self.intervals_low_, self.intervals_high_ = bounds
        if not is_least_squares:
            with np.errstate(over="ignore"):
                self.exponentiated_ = np.exp(self.coef_)

    def _warn_of_lost_ends(self, terms: NDArray[np.intp]) -> None:
        """Warn of terms, if any, without an end of their profile interval."""
        if len(terms):
            warn(
                'Use interval="wald", or for counts in another unit '
                'dispersion="quasi": the search for ends of profile intervals did not '
                f"converge, and they are NaN: {self._term_list(terms)}. The rows say "
                "too little of these terms.",
                ConvergenceWarning,
            )

    def _set_deviance_shares(self, regression: Regression) -> None:
        """Set the shares of the deviance that the terms explain."""
        self.residual_dof_ = regression.residual_dof
        self._n_observations = regression.n_observations
        with np.errstate(divide="ignore", invalid="ignore"):
            if self._offset is None:
                total = regression.null_deviance(self._has_intercept)
            else:
                total = regression.deviance_without_terms(self._has_intercept)
        dof = regression.n_observations - self._has_intercept
        with np.errstate(divide="ignore", invalid="ignore"):
            unexplained = np.float64(regression.deviance) / total
            self.r2_ = float(1 - unexplained)
            adjusted = unexplained * dof / np.float64(self.residual_dof_)
            self.adjusted_r2_ = float(1 - adjusted)

    @empty_for_no_rows
    def transform(self, X: Any) -> NDArray[np.float64]:
        """Effects of the terms on rows: weight times value.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_terms)
            Effects, without the intercept: with `intercept_` and the offset those of a
            row sum to the model's linear predictor.
        """
        return self._effects(self._check_rows_for_model(X))[1]

    def _check_rows_for_model(self, X: Any) -> Rows:
        """Rows like the rows of `fit`, which the model accepts."""
        rows = self._check_rows(X, reset=False)
        self.estimator_.predict(copy_of(rows.native))  # the model's own checks
        return rows

    def _effects(self, rows: Rows) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Columns of the model that are terms, and their effects, (m, n_terms) each."""
        inputs = self._objective.activations(rows.native)[0][:, self._term_columns]
        weights = self._linear_layer.coefs[0][self._term_columns, 0]
        return inputs, inputs * (self._sign * weights)

    @empty_for_no_rows
    def explain(self, X: Any) -> Explanation:
        """Effects of the features on rows.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        Explanation
            Of the linear predictor, from the intercept and the offset on: weight times
            value, summed over the terms made of one feature, such as the levels of a
            category. Where a step of a pipeline mixes features, as products do, each
            term has its own effect.
        """
        rows = self._check_rows_for_model(X)
        inputs, effects = self._effects(rows)
        base_values = np.full(len(effects), self.intercept_)
        data, names, columns = rows.native, rows.names, None
        if self._column_features is None:
            data, names = inputs, self.term_names_[: inputs.shape[1]]
        else:
            term_effects = effects
            effects = np.zeros((rows.n_rows, rows.n_columns))
            np.add.at(
                effects.T, self._column_features[self._term_columns], term_effects.T
            )
        if self._offset is not None:
            base_values += self._sign * offsets_of(self._offset.feature, rows)
            if self._column_features is not None:
                columns = np.delete(np.arange(rows.n_columns), self._offset.feature)
                effects, names = effects[:, columns], [names[j] for j in columns]
        return Explanation(
            effects,
            base_values,
            predictions=effects.sum(axis=1) + base_values,
            data=data,
            feature_names=names,
            output_names=self.output_names_,
            response_name=self._response_name,
            target_name=self._target_name,
            value_name="effect",
            columns=None if columns is None else [[j] for j in columns],
        )

    get_feature_names_out = feature_names_out

    def _column_names(self, input_features: ArrayLike | None) -> list[str]:
        """Names of the terms."""
        feature_names = check_feature_names_in(self, input_features)
        names = column_names(self._objective, feature_names)
        return np.array(names, dtype=object)[self._term_columns].tolist()

    def _result_blocks(self) -> list[dict[str, Any]]:
        """A line for each term, under its name. Columns "class" (of a classifier: the
        class whose log-odds the weights are of), "coef", "standard_error", "statistic",
        "pvalue", "low", "high", and of classes and models with a link "log"
        "exponentiated", "exponentiated_low" and "exponentiated_high".
        """
        columns = {
            name: getattr(self, attribute) for name, attribute in _COLUMNS.items()
        }
        if self._objective.classes is not None:
            columns = {"class": self.output_names_[0], **columns}
        if hasattr(self, "exponentiated_"):
            columns["exponentiated"] = self.exponentiated_
            with np.errstate(over="ignore"):
                columns["exponentiated_low"] = np.exp(self.intervals_low_)
                columns["exponentiated_high"] = np.exp(self.intervals_high_)
        return [{"term": as_objects(self.term_names_)} | columns]

    def _result_facts(self) -> dict[str, Any]:
        return {
            "model": type(self._objective.model).__name__,
            "rows": self._n_observations,
            "residual dof": self.residual_dof_,
            "R²": self.r2_,
            "adjusted R²": self.adjusted_r2_,
            "dispersion": float(self.dispersion_),
            "covariance": self.covariance,
            "interval": f"{self.interval}, {100 * self.confidence_level:g} %",
        }

    def _result_units(self) -> dict[str, str]:
        return {"coef": self._response_name}


@dataclass(frozen=True)
class _Offset:
    """The offset."""

    feature: int  # position among the features
    column: int  # position among the columns of the model
    name: str


class _Fit(NamedTuple):
    """The regression, and which of its weights the rows do not determine."""

    regression: Regression  # of all rows
    tested: Regression  # without separated rows
    unknown_terms: NDArray[np.intp]


def _score_model(
    name: str,
    estimator: BaseEstimator,
    sign: float,
    offset: _Offset | None,
    sample: Sample,
) -> ScoreModel:
    """The model's scores at the rows of a sample, with their signs."""
    model = score_model_of(name, estimator, sample)
    if model.penalty.any() or model.row_penalty.any():
        _refuse_penalty(innermost(estimator))
    if offset is not None:
        model = _with_offset(model, offset, sample.rows)
    return model if sign > 0 else _swap_classes(model)


def _with_offset(model: ScoreModel, offset: _Offset, rows: Rows) -> ScoreModel:
    """The score model with the column of the offset as offset, and not as term."""
    values = model.design[:, offset.column, None]
    if not _are_offsets(values, offset.feature, rows).all():
        raise _offset_error(offset.name)
    terms = np.delete(np.arange(model.design.shape[1]), offset.column)
    return replace(
        model,
        design=model.design[:, terms],
        offsets=values.copy(),
        parameters=model.parameters[terms],
        penalty=model.penalty[terms],
        row_penalty=model.row_penalty[terms],
    )


def _are_offsets(columns: Any, feature: int, rows: Rows) -> NDArray[np.bool_]:
    """Which columns (n, d) equal the feature; steps may round it to float32."""
    offsets = offsets_of(feature, rows)[:, None]
    return np.isclose(columns, offsets, rtol=1e-6, atol=0).all(axis=0)


def _offset_error(name: str) -> ValueError:
    """The error for a model that does not get the offset unchanged."""
    return ValueError(
        f"offset={name!r} is added to the linear predictor as it is, and the model "
        "does not get it as one column, unchanged: a ColumnTransformer passes it on "
        'with ("passthrough", ...), beside the steps of the other columns.'
    )


def _apply_to_scores(
    scores: Callable[[Sample], ScoreModel],
    function: Callable[[ScoreModel], Any],
    sample: Sample,
) -> Any:
    """A function of the scores at the rows of a partition."""
    check_scales(sample.rows)
    return function(scores(sample))


def _swap_classes(model: ScoreModel) -> ScoreModel:
    """The scores of the first of two classes, which are minus those of the second."""
    targets, parameters = 1 - model.targets, -model.parameters
    offsets = -model.offsets
    return replace(model, targets=targets, parameters=parameters, offsets=offsets)


def _response_name(objective: Objective) -> str:
    """Name of the linear predictor."""
    if objective.classes is not None:
        return "log-odds"
    return "log" if isinstance(objective.loss, HalfTweedie) else "prediction"


def _refuse_penalty(model: BaseEstimator) -> NoReturn:
    """Raise the error that weights are penalised."""
    raise ValueError(
        f"{type(model).__name__} is fitted with a penalty, which shrinks its weights: "
        "standard errors, p-values and intervals of least squares or maximum "
        "likelihood do not hold for them. Fits without a penalty are accepted: "
        "LinearRegression, LogisticRegression(C=np.inf), and PoissonRegressor, "
        "GammaRegressor and TweedieRegressor with alpha=0."
    )
