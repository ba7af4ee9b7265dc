"""Generalised additive models of classes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets

from sklearn_interpret._core.statistics.score_losses import one_vs_rest_shares
from sklearn_interpret._inspectors.predictor import most_probable_class
from sklearn_interpret._inspectors.sklearn_bases import ClassifierMixin
from sklearn_interpret.additive._gam import BaseGAM


class GAMClassifier(ClassifierMixin, BaseGAM):
    """Sum of smooth functions of features, for the log-odds of classes.

    The log-odds are an intercept and a term for each feature: a curve of splines whose
    wiggles are penalised, a number for each level. All penalties are chosen together,
    by restricted maximum likelihood. Of several classes, each has a model against all
    others.

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
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    term_names_ : ndarray of shape (n_terms,)
        Names of the terms, `"a:b"` for those of two features.
    intercept_ : float or ndarray of shape (n_classes,)
        The linear predictor where all terms are zero, which they are on average.
    coef_ : ndarray of shape (n_coefficients,)
        Coefficients of the terms' functions, in coordinates of their penalties.
    covariance_ : ndarray of shape (1 + n_coefficients, 1 + n_coefficients)
        Of intercept and coefficients, in the Bayesian view of penalties; with what
        estimating the smoothing parameters adds (Wood, Pya & Saefken 2016).
    scale_ : float or ndarray of shape (n_classes,)
        The dispersion, 1.
    dispersion_ : float or ndarray of shape (n_classes,)
        Pearson's statistic by `residual_dof_`.
    smoothing_ : ndarray of shape (n_penalties,)
        Smoothing parameters of the penalties, term after term.
    effective_dof_ : ndarray of shape (n_terms,)
        Effective degrees of freedom of each term.
    residual_dof_ : float or ndarray of shape (n_classes,)
        Rows, less the effective degrees of freedom of terms and intercept.
    statistics_, pvalues_ : ndarray of shape (n_terms,)
        Score test of each term being zero everywhere (Zhang & Lin 2003).
    concurvity_ : ndarray of shape (n_terms,)
        Share of each term's functions that all other terms reproduce, from 0 to 1: of
        their squares, summed over the rows of `fit`. This is the measure "estimate" of
        mgcv; it does not depend on the targets, so it is the same for all classes, and
        is defined for terms that vanish.
    deviance_explained_ : float or ndarray of shape (n_classes,)
        Share of the deviance of a model without terms that the terms take away.
    reml_ : float or ndarray of shape (n_classes,)
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
    SeparationWarning
        In `fit`: terms separate classes without error.
    CostlyInspectionWarning
        In `fit`: the number of coefficients makes it take more than a minute.
    ExtrapolationWarning
        In predictions: rows are beyond the values that `fit` saw of a term's feature by
        more than a tenth of their range, or in a gap wider than that.

    See Also
    --------
    GAMRegressor : The same for numbers.
    sklearn.linear_model.LogisticRegression : A linear model of log-odds.

    Notes
    -----
    With more than two classes, all attributes have the classes as their first axis.

    Columns of more than 256 different numbers are rounded to the means of about 256
    bins while the model is fitted: a design of all rows and coefficients is never made,
    which saves memory and time. Predictions are of exact values. Rounding adds noise:
    where the noise of the targets is below a hundredth of a curve's range,
    `scale_` and standard errors are too large.

    `fit` takes rows in partitions, such as a Dask DataFrame or
    :class:`~sklearn_interpret.partitions.RowBatches`: the model is that of the rows in
    memory, up to rounding. `fit` then reads the columns of the terms alone: twice, then
    `n_iter_` + 2 times for each class, and once more for each time that a step is
    halved.

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
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn_interpret.additive import GAMClassifier
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> terms = ["mean radius", "mean texture", "mean symmetry"]
    >>> model = GAMClassifier(terms=terms).fit(X, y)
    >>> model.effective_dof_.round(1)
    array([1., 3., 1.])
    >>> model.predict_proba(X[:2]).round(2)
    array([[0.96, 0.04],
           [1.  , 0.  ]])
    """

    classes_: NDArray[Any]

    _family, _link = "binomial", "logit"

    def _labels_reader(self) -> Callable[[NDArray[Any]], NDArray[Any]]:
        return _distinct_labels

    def _set_models(self, labels: NDArray[Any]) -> None:
        """Set the classes, of which each has a model; of two, the second alone."""
        self.classes_ = labels
        if len(labels) < 2:
            raise ValueError(
                f"y has one class only, {labels.tolist()[0]!r}, among rows of "
                "positive weight; a classifier needs two."
            )

    @property
    def _model_labels(self) -> NDArray[Any]:
        return self.classes_[1:] if len(self.classes_) == 2 else self.classes_

    def _targets_of_models(self, y: NDArray[Any]) -> NDArray[np.float64]:
        if unknown := set(y.tolist()) - set(self.classes_.tolist()):
            raise ValueError(f"y has {unknown.pop()!r}, which is no class of `fit`.")
        return super()._targets_of_models(y)

    predict = most_probable_class

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Log-odds.

        Parameters
        ----------
        X : {array-like, DataFrame} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            Log-odds of the second class, of several classes each against the others.
        """
        predictors, _, _ = self._effects(X, warns_of_extrapolation=True)
        return predictors[0] if len(predictors) == 1 else predictors.T

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Probabilities of the classes.

        Parameters
        ----------
        X : {array-like, DataFrame} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Probabilities, in the order of `classes_`.
        """
        return one_vs_rest_shares(self.decision_function(X))


def _distinct_labels(y: NDArray[Any]) -> NDArray[Any]:
    """Distinct labels of targets, which must be classes."""
    check_classification_targets(y)
    return np.unique(y)
