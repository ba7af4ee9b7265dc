"""RuleFit: a sparse sum of rules and linear terms."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin, RegressorMixin, is_classifier
from sklearn.utils import check_random_state, check_scalar
from sklearn.utils.validation import check_is_fitted

from sklearn_interpret._core.rules.coded_conditions import distinct_rows
from sklearn_interpret._core.statistics.score_losses import (
    HalfSquared,
    Logistic,
    one_vs_rest_shares,
)
from sklearn_interpret._core.statistics.weighted import Moments, shares_of
from sklearn_interpret._model._sklearn_compat import Interval, fit_context
from sklearn_interpret._model.rows.arrays import as_rows
from sklearn_interpret._model.rows.bounds import entry_text
from sklearn_interpret._model.validation import (
    check_labels,
    check_rows,
    check_targets,
    empty_for_no_rows,
)
from sklearn_interpret.explanations import Explanation
from sklearn_interpret.rules._class_weights import (
    CLASS_WEIGHT,
    class_weights_of,
    warn_of_unpredicted_classes,
)
from sklearn_interpret.rules._rules import RuleModel
from sklearn_interpret.rules._sparse_sums import SumSearch, Target, linear_terms
from sklearn_interpret.rules._weighted_rules import LinearTerm, WeightedRule

# Parameters that say how rules are grown.
_GROWTH = ("max_rules", "tree_size", "learning_rate")
# Standard deviation of a constant, in units of its size.
_CONSTANT = 1e-12


class RuleFit(RuleModel):
    """Base of both: grows rules, and fits the lasso on them and linear terms.

    A subclass says what is fitted (`_read_targets`, `_targets`) and by which `_loss`.
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
    def _targets(self, y, weights):
        """The `Target` of each score."""

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

        Warns
        -----
        NoRuleWarning
            A classifier predicts some class for no row of `fit`.
        """
        rows = check_rows(self, X, reset=True)
        targets = self._read_targets(rows, y)
        sample, space = self._read(rows, targets, sample_weight)
        # Distinct rows, so that a weight is as good as copies.
        _, ranks = np.unique(sample.y, return_inverse=True)
        index, weights = distinct_rows(space.table.codes, ranks, sample.weights)
        # Weights of parts of rows are taken for shares of so many rows.
        scale = max(1.0, len(weights) / weights.sum())
        weights, class_weights = weights * scale, np.ones(len(weights))
        if is_classifier(self):
            class_weights = class_weights_of(self, sample)[sample.y[index]]
        numbers = np.flatnonzero(~space.nominal).tolist() if self.linear else []
        distinct = sample.rows.take(index)
        search = SumSearch(
            space,
            space.table.codes[:, index],
            weights,
            class_weights,
            linear_terms(distinct, numbers, shares_of(weights), self.trim),
            self._loss,
            {name: getattr(self, name) for name in _GROWTH},
        )
        random = check_random_state(self.random_state)
        sums = [
            search.find(target, self.n_folds, random)
            for target in self._targets(sample.y[index], weights)
        ]
        *numbers, entries = zip(*sums, strict=True)
        entries = [entry for found in entries for entry in found]
        rules = [entry for entry in entries if isinstance(entry, WeightedRule)]
        self.rules_ = [replace(rule, n_rows=rule.n_rows / scale) for rule in rules]
        self.linear_terms_ = [e for e in entries if isinstance(e, LinearTerm)]
        self.intercept_, self.penalty_ = (
            np.array(each) if len(each) > 1 else float(each[0]) for each in numbers
        )
        sizes = np.array([entry.importance for entry in self._entries])
        self.feature_importances_ = sizes @ self._shares()
        if is_classifier(self):
            warn_of_unpredicted_classes(self, sample)
        return self

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

    def _coefficients(self):
        """Coefficients, in the columns of the scores they add to: (n_entries[, k])."""
        entries = self._entries
        coefficients = np.array([entry.coefficient for entry in entries])
        if not np.ndim(self.intercept_):
            return coefficients
        labels = np.array([e.prediction for e in entries], dtype=self.classes_.dtype)
        return coefficients[:, None] * (labels[:, None] == self.classes_)

    def _values(self, X):
        """Whether rules hold, and values of linear terms: (n_rows, n_entries)."""
        holds, rows = self._holds(X), as_rows(X)
        return np.vstack([holds, *(term.values(rows) for term in self.linear_terms_)]).T

    def _scores(self, X):
        """Intercept plus rules plus linear terms, (n_rows,), or (n_rows, k)."""
        values = self._values(X)
        return self.intercept_ + values @ self._coefficients()

    def _name(self, entry):
        return (
            f"{entry.prediction}: {entry}" if np.ndim(self.intercept_) else str(entry)
        )

    def to_text(self, *, digits: int | None = None) -> str:
        """Return the sum as it is read aloud.

        Parameters
        ----------
        digits : int, default=None
            Significant digits of numbers. None writes all: evaluated by hand, the text
            then gives what `predict` does.

        Returns
        -------
        str
            What the prediction, or the log-odds of each class, is the sum of, a line
            for each rule and linear term.

        Raises
        ------
        ValueError
            `digits` is no positive whole number.
        """
        check_is_fitted(self)
        if digits is not None:
            check_scalar(digits, "digits", Integral, min_val=1)
        intercepts = np.ravel(self.intercept_)
        labels = getattr(self, "classes_", [None])[-len(intercepts) :]
        lines = []
        for label, intercept in zip(labels, intercepts.tolist(), strict=True):
            what = self._response_name + ("" if label is None else f" of {label}")
            lines.append(f"{what} = {entry_text(intercept, digits)}")
            own = [e for e in self._entries if label in (None, e.prediction)]
            for entry in own:
                sign = "-" if entry.coefficient < 0 else "+"
                size = entry_text(abs(entry.coefficient), digits)
                lines.append(f"  {sign} {size} {entry.to_text(digits)}")
        return "\n".join(lines)

    @empty_for_no_rows
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
        coefficients, deviations = self._coefficients(), self._values(rows) - mean
        if by == "features":
            shares = np.einsum("ej,e...->ej...", self._shares(), coefficients)
            values = np.tensordot(deviations, shares, axes=1)
            names, columns = rows.names, None
        else:
            values = np.einsum("ie,e...->ie...", deviations, coefficients)
            names, columns = list(map(self._name, self._entries)), self._columns()
        base = self.intercept_ + mean @ coefficients
        classes = getattr(self, "classes_", None)
        return Explanation(
            values,
            np.full((rows.n_rows, *np.shape(base)), base),
            predictions=self._scores(rows),
            data=rows.native,
            feature_names=names,
            # Of two classes, the second.
            output_names=None if classes is None else classes[-np.size(base) :],
            response_name=self._response_name,
            value_name="contribution",
            columns=columns,
        )


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
    >>> print(model.rules_[0], round(model.rules_[0].coefficient, 1))
    s5 > 4.6 and s6 > 98.5 21.5
    >>> print(model.linear_terms_[0])
    sex, linear from 1 to 2
    """

    _loss, _response_name = HalfSquared(), "prediction"

    def _read_targets(self, rows, y):
        return check_targets(self, rows, y, dtype=np.float64)

    def _targets(self, y, weights):
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
    >>> bool(model.rules_[0].coefficient < 0)
    True
    """

    _loss, _response_name = Logistic(), "log-odds"

    _parameter_constraints = {
        **RuleFit._parameter_constraints,
        "class_weight": CLASS_WEIGHT,
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
        class_weight: str | dict[Any, float] | None = None,
        categorical_features: Any = "auto",
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        super().__init__(
            max_rules=max_rules,
            tree_size=tree_size,
            learning_rate=learning_rate,
            linear=linear,
            trim=trim,
            n_folds=n_folds,
            categorical_features=categorical_features,
            random_state=random_state,
        )
        self.class_weight = class_weight

    def _read_targets(self, rows, y):
        self.classes_, labels = check_labels(self, rows, y)
        return labels

    def _targets(self, y, weights):
        labels = list(enumerate(self.classes_))
        if len(labels) < 3:
            labels = labels[-1:]
        return [Target(1.0 * (y == k), label) for k, label in labels]

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
        return one_vs_rest_shares(scores)

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
