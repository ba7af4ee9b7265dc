"""RuleFit: a sparse sum of rules and linear terms."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sklearn_interpret._core.statistics import score_losses
from sklearn_interpret._core.statistics.weighted import Moments
from sklearn_interpret._inspectors.predictor import most_probable_class
from sklearn_interpret._inspectors.sklearn_bases import ClassifierMixin, RegressorMixin
from sklearn_interpret.rules._ensemble_search import Target
from sklearn_interpret.rules._rule_classifiers import (
    CLASS_WEIGHT,
    class_weights_of,
    warn_of_unpredicted_classes,
)
from sklearn_interpret.rules._rule_ensemble import BaseRuleFit

if TYPE_CHECKING:
    from sklearn_interpret._model.rows.sample import Sample

# Relative standard deviation below which targets are constant.
_CONSTANT = 1e-12


@dataclass(kw_only=True, eq=False, repr=False)
class RuleFitRegressor(RegressorMixin, BaseRuleFit):
    """A sparse sum of rules and linear terms, for numbers.

    Rules come from the nodes of small boosted trees. The lasso gives a coefficient to
    few of them, and to few features: a prediction is the intercept, plus the
    coefficients of the rules that hold, plus the linear terms.

    Parameters
    ----------
    max_rules : int, default=2000
        Largest number of rules that the lasso chooses from.
    tree_size : float, default=4
        Mean number of leaves of a tree. Each has two at least, and a random number
        beyond, exponentially distributed: few rules have many conditions.
    learning_rate : float, default=0.01
        Share of each tree that the next ones take for known.
    linear : bool, default=True
        Whether numbers may have linear terms, too.
    trim : float, default=0.025
        Share of the rows at each end whose values are moved to the bounds of a linear
        term.
    n_folds : int, default=5
        Number of folds of the rows that choose the penalty.
    categorical_features : "auto", None, or list of ints or strs, default="auto"
        Features whose values are levels. "auto" takes the category, object, string
        and boolean columns of a DataFrame.
    random_state : int, RandomState or None, default=None
        Draws the rows and the size of each tree, and the folds.
    verbose : int or None, default=None
        1 prints the share done and the time left, 0 nothing. None writes one line to
        the standard error of calls that will take more than five seconds.

    Attributes
    ----------
    rules_ : list of WeightedRule
        The rules, the most important first.
    linear_terms_ : list of LinearTerm
        The linear terms, the most important first.
    intercept_ : float
        Prediction where no rule holds, at the means of the linear terms.
    feature_importances_ : ndarray of shape (`n_features_in_`,)
        Importances of rules and linear terms, those of rules shared equally by their
        features (Friedman & Popescu 2008, equation 35).
    penalty_ : float
        The lasso's penalty.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Their names, where X has names that are all strings.

    Warns
    -----
    IdentifierWarning
        A category has more than half as many levels as rows; it is left out, unless
        `categorical_features` names it.

    See Also
    --------
    RuleFitClassifier : The same for classes.
    RuleFitDisplay : Draws the importances.

    Notes
    -----
    The penalty is chosen on rows that a fold leaves out, by rules that are grown
    without these rows: at most 500 in each fold, whatever `max_rules` is. Folds share
    no rules, but the penalties that are tried, and bounds and scales of linear terms.
    Rules that hold for the same rows, or for all but these, are one rule.

    A condition is an interval of numbers, some levels of a category, or that the value
    is missing, or is not. A missing value meets no condition but that it is missing: a
    split that sends missing values along with others leaves them out of its rules. The
    levels of a category are ordered by
    their mean target before trees split them. A row with an unseen level meets no
    condition on this feature, and one beyond the range of `fit` those of the nearest
    value. In a linear term a missing value counts as the mean.

    A row of weight two is as good as two rows, also where rows are drawn.

    References
    ----------
    Friedman, J. H. & Popescu, B. E. (2008). Predictive learning via rule ensembles.
    Annals of Applied Statistics 2(3). https://doi.org/10.1214/07-AOAS148

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn_interpret.rules import RuleFitRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    >>> model = RuleFitRegressor(max_rules=200, random_state=0).fit(X, y)
    >>> print(model.rules_[0], round(model.rules_[0].coef, 1))
    s5 > 4.6 and s6 > 98.5 21.5
    >>> print(model.linear_terms_[0])
    sex, linear from 1 to 2
    """

    categorical_features: Any = "auto"
    random_state: int | np.random.RandomState | None = None
    verbose: int | None = None

    intercept_: float = field(init=False)
    penalty_: float = field(init=False)

    _loss, _response_name = score_losses.HalfSquared(), "prediction"

    def _targets(self, y: NDArray[Any], weights: NDArray[np.float64]) -> list[Target]:
        moments = Moments.of_rows(y, weights)
        mean, unit = float(moments.mean), float(np.sqrt(moments.variance))
        if unit <= _CONSTANT * np.abs(y).max():
            return [Target(np.zeros(len(y)), origin=mean)]
        return [Target((y - mean) / unit, origin=mean, unit=unit)]

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Predictions for rows.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Numbers.
        """
        return self._scores(X)


@dataclass(kw_only=True, eq=False, repr=False)
class RuleFitClassifier(ClassifierMixin, BaseRuleFit):
    """A sparse sum of rules and linear terms, for the log-odds of classes.

    Rules come from the nodes of small boosted trees. The lasso gives a coefficient to
    few of them, and to few features: the log-odds of a class are the intercept, plus
    the coefficients of the rules that hold, plus the linear terms. With more than two
    classes, each has a sum of its own, for this class against all others.

    Parameters
    ----------
    max_rules : int, default=2000
        Largest number of rules that the lasso chooses from, for each sum.
    tree_size : float, default=4
        Mean number of leaves of a tree. Each has two at least, and a random number
        beyond, exponentially distributed: few rules have many conditions.
    learning_rate : float, default=0.01
        Share of each tree that the next ones take for known.
    linear : bool, default=True
        Whether numbers may have linear terms, too.
    trim : float, default=0.025
        Share of the rows at each end whose values are moved to the bounds of a linear
        term.
    n_folds : int, default=5
        Number of folds of the rows that choose the penalty.
    class_weight : dict, "balanced" or None, default=None
        Weight of each class, by which those of its rows are multiplied as trees are
        grown and the lasso chooses; a dict leaves the classes that it lacks at 1.
        "balanced" makes all classes weigh the same. Coverage, means and importances
        are of the rows as they are.
    categorical_features : "auto", None, or list of ints or strs, default="auto"
        Features whose values are levels. "auto" takes the category, object, string
        and boolean columns of a DataFrame.
    random_state : int, RandomState or None, default=None
        Draws the rows and the size of each tree, and the folds.
    verbose : int or None, default=None
        1 prints the share done and the time left, 0 nothing. None writes one line to
        the standard error of calls that will take more than five seconds.

    Attributes
    ----------
    rules_ : list of WeightedRule
        The rules, class by class, the most important first. `prediction` is the class
        whose log-odds a rule adds to: of two classes, always the second.
    linear_terms_ : list of LinearTerm
        The linear terms, likewise.
    intercept_ : float or ndarray of shape (n_classes,)
        Log-odds where no rule holds, at the means of the linear terms.
    feature_importances_ : ndarray of shape (`n_features_in_`,)
        Importances of rules and linear terms of all classes, those of rules shared
        equally by their features (Friedman & Popescu 2008, equation 35).
    penalty_ : float or ndarray of shape (n_classes,)
        The lasso's penalty.
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Their names, where X has names that are all strings.

    Warns
    -----
    IdentifierWarning
        A category has more than half as many levels as rows; it is left out, unless
        `categorical_features` names it.
    NoRuleWarning
        Some class is predicted for no row of `fit`, as where its rows are few.

    See Also
    --------
    RuleFitRegressor : The same for numbers.
    RuleFitDisplay : Draws the importances.

    Notes
    -----
    Trees and lasso have the logistic loss, where the paper has a squared one of scores
    that are cut off. With more than two classes, probabilities of each class against
    the others are divided by their sum.

    The penalty is chosen on rows that a fold leaves out, by rules that are grown
    without these rows: at most 500 in each fold, whatever `max_rules` is. Folds share
    no rules, but the penalties that are tried, and bounds and scales of linear terms.
    Rules that hold for the same rows, or for all but these, are one rule.

    A condition is an interval of numbers, some levels of a category, or that the value
    is missing, or is not. A missing value meets no condition but that it is missing: a
    split that sends missing values along with others leaves them out of its rules. The
    levels of a category are ordered by
    their share of the class before trees split them. A row with an unseen level meets
    no condition on this feature, and one beyond the range of `fit` those of the nearest
    value. In a linear term a missing value counts as the mean.

    A row of weight two is as good as two rows, also where rows are drawn.

    References
    ----------
    Friedman, J. H. & Popescu, B. E. (2008). Predictive learning via rule ensembles.
    Annals of Applied Statistics 2(3). https://doi.org/10.1214/07-AOAS148

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn_interpret.rules import RuleFitClassifier
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = RuleFitClassifier(max_rules=100, random_state=0).fit(X, y)
    >>> for condition in model.rules_[0].conditions:
    ...     print(condition)
    mean concave points > 0.0488
    worst area > 711.3
    worst concavity > 0.2262
    >>> bool(model.rules_[0].coef < 0)
    True
    """

    class_weight: str | dict[Any, float] | None = None
    categorical_features: Any = "auto"
    random_state: int | np.random.RandomState | None = None
    verbose: int | None = None

    _loss, _response_name = score_losses.Logistic(), "log-odds"

    classes_: NDArray[Any] = field(init=False)

    _parameter_constraints = {
        **BaseRuleFit._parameter_constraints,
        "class_weight": CLASS_WEIGHT,
    }

    def _fit(self, sample: Sample) -> None:
        super()._fit(sample)
        warn_of_unpredicted_classes(self, sample)

    def _row_factors(self, sample: Sample) -> NDArray[np.float64]:
        return class_weights_of(self, sample)[sample.y]

    def _targets(self, y: NDArray[Any], weights: NDArray[np.float64]) -> list[Target]:
        labels = list(enumerate(self.classes_))
        if len(labels) < 3:
            labels = labels[-1:]
        return [Target(1.0 * (y == k), label) for k, label in labels]

    predict = most_probable_class

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Log-odds, of the second of two classes, or of each against all others.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            Log-odds.
        """
        return self._scores(X)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Probability of each class.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Probabilities, in the order of `classes_`.
        """
        scores = self.decision_function(X)
        if len(self.classes_) == 1:
            return np.ones((len(scores), 1))
        return score_losses.one_vs_rest_shares(scores)
