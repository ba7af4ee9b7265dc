"""RuleFit: a sparse sum of rules and linear terms."""

from __future__ import annotations

from abc import abstractmethod
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils import (
    check_array,
    check_consistent_length,
    check_random_state,
    column_or_1d,
)
from sklearn.utils.validation import check_is_fitted, validate_data

from sklearn_interpret._core.rules.conditions import distinct_rows
from sklearn_interpret._core.statistics.score_losses import HalfSquared, Logistic
from sklearn_interpret._core.statistics.weighted import Moments, shares_of
from sklearn_interpret._model._sklearn_compat import Interval, fit_context
from sklearn_interpret._model.validation import check_labels, check_rows
from sklearn_interpret.explanations import Explanation
from sklearn_interpret.rules._rules import RuleModel
from sklearn_interpret.rules._sparse_sums import SumSearch, bounded_numbers
from sklearn_interpret.rules._weighted_rules import LinearTerm, WeightedRule

# Standard deviation of a constant, in units of its size.
_CONSTANT = 1e-12


class RuleFit(RuleModel):
    """Base of both: grows rules, and fits the lasso on them and linear terms.

    A subclass says what is fitted (`_read_targets`, `_outputs`) and by which `_loss`.
    """

    # Rows are drawn, by their number.
    _weights_count_rows = True
    _loss: ClassVar[Any]
    _response_name: ClassVar[str]

    _parameter_constraints = {
        "max_rules": [Interval(Integral, 1, None, closed="left")],
        "tree_size": [Interval(Real, 2, None, closed="left")],
        "learning_rate": [Interval(Real, 0, 1, closed="right")],
        "linear": ["boolean"],
        "trim": [Interval(Real, 0, 0.5, closed="left")],
        "n_folds": [Interval(Integral, 2, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        *,
        max_rules: int = 2000,
        tree_size: float = 4,
        learning_rate: float = 0.01,
        linear: bool = True,
        trim: float = 0.025,
        n_folds: int = 5,
        categorical_features: Any = "auto",
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.max_rules = max_rules
        self.tree_size = tree_size
        self.learning_rate = learning_rate
        self.linear = linear
        self.trim = trim
        self.n_folds = n_folds
        self.categorical_features = categorical_features
        self.random_state = random_state

    @abstractmethod
    def _read_targets(self, rows, y):
        """Checked targets as numbers, or positions of classes: (n_rows,)."""

    @abstractmethod
    def _outputs(self, targets, weights):
        """Targets of each score, the class it is of, and what they start from.

        Quadruples of targets (n_rows,), label, start and unit.
        """

    @fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Grow rules, and choose among them and the linear terms.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
            Rows of numbers and categories; values may be missing.
        y : array-like of shape (n_samples,), default=None
            Their targets, which are needed.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows: a row of weight two counts as two rows.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        rows = check_rows(self, X, reset=True)
        targets = self._read_targets(rows, y)
        sample, space = self._read(rows, targets, sample_weight)
        # Distinct rows, so that a weight is as good as copies.
        _, ranks = np.unique(sample.y, return_inverse=True)
        index, weights = distinct_rows(space.table.codes, ranks, sample.weights)
        # Weights of parts of rows are taken for shares of so many rows.
        weights = weights * max(1.0, len(weights) / weights.sum())
        search = SumSearch(
            space,
            space.table.codes[:, index],
            weights,
            self._bounded(sample.rows.take(index), space, shares_of(weights)),
            self._loss,
            {
                "max_rules": self.max_rules,
                "tree_size": self.tree_size,
                "learning_rate": self.learning_rate,
            },
        )
        random, intercepts, penalties = check_random_state(self.random_state), [], []
        self.rules_, self.linear_terms_ = [], []
        for own, label, start, unit in self._outputs(sample.y[index], weights):
            found = search.find(own, self.n_folds, random)
            intercepts.append(start + unit * found.intercept)
            penalties.append(unit * found.penalty)
            self._add(found, rows.names, label, unit)
        several = len(intercepts) > 1
        self.intercept_ = np.array(intercepts) if several else intercepts[0]
        self.penalty_ = np.array(penalties) if several else penalties[0]
        sizes = np.array([entry.importance for entry in self._entries])
        self.feature_importances_ = sizes @ self._shares()
        return self

    def _bounded(self, rows, space, weights):
        """Numbers that may have linear terms."""
        columns = np.flatnonzero(~space.nominal).tolist() if self.linear else []
        return bounded_numbers(rows, columns, weights, self.trim)

    def _add(self, found, names, label, unit):
        """Note the rules and linear terms of one score, the most important first."""
        rules = []
        for conditions, coverage, coefficient in found.rules:
            size = unit * abs(coefficient) * np.sqrt(coverage * (1 - coverage))
            rule = WeightedRule(
                conditions,
                prediction=label,
                coverage=coverage,
                coefficient=unit * coefficient,
                importance=float(size),
            )
            rules.append(rule)
        terms = []
        for number, coefficient in found.linear:
            slope, size = unit * coefficient / number.spread, unit * abs(coefficient)
            ends = number.low, number.high, number.mean
            name = names[number.feature]
            terms.append(LinearTerm(number.feature, name, *ends, label, slope, size))
        self.rules_ += sorted(rules, key=_importance, reverse=True)
        self.linear_terms_ += sorted(terms, key=_importance, reverse=True)

    @property
    def _entries(self):
        """Everything that is summed: rules, then linear terms."""
        return [*self.rules_, *self.linear_terms_]

    def _columns(self):
        """Columns of the features of each rule and linear term."""
        rules = [tuple(c.feature for c in rule.conditions) for rule in self.rules_]
        return rules + [(term.feature,) for term in self.linear_terms_]

    def _shares(self):
        """Share of each feature in each rule and linear term, which sum to one."""
        columns = self._columns()
        shares = np.zeros((len(columns), self.n_features_in_))
        for own, features in zip(shares, columns, strict=True):
            own[list(features)] = 1 / len(features)
        return shares

    def _names(self):
        """Words for each rule and linear term, with its class where there are many."""
        if not np.ndim(self.intercept_):
            return list(map(str, self._entries))
        return [f"{entry.prediction}: {entry}" for entry in self._entries]

    def _coefficients(self):
        """Coefficients, in the columns of the scores they add to: (n_entries, k)."""
        labels = getattr(self, "classes_", [None])
        n_scores = np.size(self.intercept_)
        table = np.zeros((len(self._entries), n_scores))
        places = {label: k for k, label in enumerate(labels)} if n_scores > 1 else {}
        for own, entry in zip(table, self._entries, strict=True):
            own[places.get(entry.prediction, 0)] = entry.coefficient
        return table

    def _values(self, X):
        """Whether rules hold, and values of linear terms: (n_rows, n_entries)."""
        check_is_fitted(self)
        terms = [term.values(X)[None] for term in self.linear_terms_]
        return np.concatenate([self._holds(X), *terms]).T

    def _scores(self, X):
        """Intercept plus rules plus linear terms, (n_rows,), or (n_rows, k)."""
        values = self._values(X)
        scores = self.intercept_ + values @ self._coefficients()
        return scores if np.ndim(self.intercept_) else scores[:, 0]

    def explain(self, X: Any, *, by: str = "features") -> Explanation:
        """Find the share of each feature, or of each rule, in the score of each row.

        A rule gives its coefficient times by how much the row differs from the mean
        row of `fit` in whether it holds; its features share that equally.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
            Rows.
        by : {"features", "rules"}, default="features"
            Whose shares: of features, or of rules and linear terms, whose `columns` are
            those of their features.

        Returns
        -------
        Explanation
            Shares in the prediction of a regression, or in the log-odds of a class.

        Raises
        ------
        ValueError
            Another `by`.
        """
        check_is_fitted(self)
        if by not in ("features", "rules"):
            raise ValueError(f"by={by!r} must be 'features' or 'rules'.")
        rows = check_rows(self, X, reset=False)
        coverage = [rule.coverage for rule in self.rules_]
        mean = np.array(coverage + [0.0] * len(self.linear_terms_))
        coefficients, columns = self._coefficients(), None
        deviations, names = self._values(X) - mean, rows.names
        if by == "features":
            shares = self._shares()[:, :, None] * coefficients[:, None]
            values = np.tensordot(deviations, shares, axes=1)
        else:
            values = deviations[:, :, None] * coefficients
            names, columns = self._names(), self._columns()
        base = np.tile(self.intercept_ + mean @ coefficients, (len(values), 1))
        output_names = getattr(self, "classes_", None)
        if values.shape[2] == 1:
            values, base = values[:, :, 0], base[:, 0]
            output_names = None if output_names is None else output_names[-1:]
        return Explanation(
            values,
            base,
            predictions=self._scores(X),
            data=rows.native,
            feature_names=names,
            output_names=output_names,
            response_name=self._response_name,
            columns=columns,
        )


def _importance(entry):
    return entry.importance


class RuleFitRegressor(RegressorMixin, RuleFit):
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

    Attributes
    ----------
    rules_ : list of WeightedRule
        The rules, the most important first.
    linear_terms_ : list of LinearTerm
        The linear terms, the most important first.
    intercept_ : float
        What is predicted where no rule holds, at the means of the linear terms.
    feature_importances_ : ndarray of shape (`n_features_in_`,)
        Importances of rules and linear terms, those of rules shared equally by their
        features (Friedman & Popescu 2008, equation 35).
    penalty_ : float
        The lasso's penalty.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Their names, where X has names that are all strings.

    See Also
    --------
    RuleFitClassifier : The same for classes.
    RuleFitDisplay : Draws the importances.

    Notes
    -----
    The penalty is chosen on rows that a fold leaves out, by rules that are grown
    without these rows. Rules that hold for the same rows, or for all but these, are
    one rule.

    A condition is an interval of numbers, some levels of a category, or that the value
    is missing; a missing value meets no other. The levels of a category are ordered by
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
    >>> print(model.rules_[0], round(model.rules_[0].coefficient, 1))
    s5 > 4.6 and s6 > 98.5 21.5
    >>> print(model.linear_terms_[0])
    sex, linear from 1 to 2
    """

    _loss, _response_name = HalfSquared(), "prediction"

    def _read_targets(self, rows, y):
        validate_data(self, rows.native, y, reset=False, skip_check_array=True)
        y = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y")
        y = column_or_1d(y, warn=True)
        check_consistent_length(rows.native, y)
        return y

    def _outputs(self, targets, weights):
        moments = Moments.of_rows(targets, weights)
        unit = float(np.sqrt(moments.variance))
        if unit <= _CONSTANT * np.abs(targets).max():
            unit = 0.0
        scaled = (targets - moments.mean) / unit if unit else np.zeros(len(targets))
        return [(scaled, None, float(moments.mean), unit or 1.0)]

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


class RuleFitClassifier(ClassifierMixin, RuleFit):
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
    categorical_features : "auto", None, or list of ints or strs, default="auto"
        Features whose values are levels. "auto" takes the category, object, string
        and boolean columns of a DataFrame.
    random_state : int, RandomState or None, default=None
        Draws the rows and the size of each tree, and the folds.

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
    without these rows. Rules that hold for the same rows, or for all but these, are
    one rule.

    A condition is an interval of numbers, some levels of a category, or that the value
    is missing; a missing value meets no other. The levels of a category are ordered by
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
    >>> round(model.rules_[0].coefficient, 1)
    -3.4
    """

    _loss, _response_name = Logistic(), "log-odds"

    def _read_targets(self, rows, y):
        self.classes_, labels = check_labels(self, rows, y)
        return labels

    def _outputs(self, targets, weights):
        labels = list(enumerate(self.classes_))
        if len(labels) < 3:
            labels = labels[-1:]
        return [(1.0 * (targets == k), label, 0.0, 1.0) for k, label in labels]

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
        if scores.ndim == 1:
            scores = np.stack([-scores, scores], axis=1)
        shares = expit(scores)
        return shares / shares.sum(axis=1, keepdims=True)

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable class; of equal ones the first.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Class labels.
        """
        largest = self.predict_proba(X).argmax(axis=1)
        return self.classes_[largest]
