"""Skope rules: leaves of many small trees, judged on rows they were not grown on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from sklearn_interpret._core.rules.coded_conditions import all_hold, distinct_rows
from sklearn_interpret._core.rules.out_of_bag import (
    draw_share,
    f1,
    score_rules,
    without_overlaps,
)
from sklearn_interpret._inspectors.ordered_table import OrderedTable
from sklearn_interpret._inspectors.predictor import most_probable_class
from sklearn_interpret._inspectors.sklearn_bases import ClassifierMixin
from sklearn_interpret._model._sklearn_compat import Interval
from sklearn_interpret._model.parallel import batch_rows, slices
from sklearn_interpret.rules._rule_classifiers import (
    CLASS_WEIGHT,
    class_weights_of,
    first_rule_that_holds,
    warn_of_unpredicted_classes,
)
from sklearn_interpret.rules._rules import Rule, RuleModel, check_digits

if TYPE_CHECKING:
    from sklearn_interpret._inspectors.condition_space import ConditionSpace
    from sklearn_interpret._model.rows.base import Rows
    from sklearn_interpret._model.rows.sample import Sample
    from sklearn_interpret.explanations import Condition


# Relative rounding errors of sums of weights.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class SkopeRule(Rule):
    """Conditions under which a class is more frequent than elsewhere.

    Parameters
    ----------
    conditions : tuple of Condition
        The conditions, at most one for each feature; the default rule has none.
    prediction : object
        The class.
    coverage : float
        Share of the rows of `fit`, by weight, for which the rule holds; of the default
        rule, for which no other does.
    precision : float, default=None
        Share of the class, among rows that were not drawn for the rule's trees and for
        which it holds; of the default rule, among all rows that are left to it.
    shares : tuple of float, default=None
        Shares of all classes among these rows; `class_weight` counts here, and in the
        precision.
    n_rows : float, default=None
        Number of rows that coverage is of, as the sum of their weights.
    recall : float, default=None
        Share of the rows of the class, among those not drawn, for which the rule holds.
        The default rule has none.

    Examples
    --------
    >>> from sklearn_interpret.explanations import Condition
    >>> from sklearn_interpret.rules import SkopeRule
    >>> old = Condition(0, "age", low=60.0)
    >>> print(SkopeRule((old,), "yes", 0.2, precision=0.8, recall=0.4))
    age > 60
    """

    recall: float | None = None


class _TrainingRows(NamedTuple):
    """Distinct rows of `fit`, on which rules are scores."""

    rows: Rows
    classes: NDArray[np.float64]  # (n_rows, n_classes): 1 for the class of a row
    weights: NDArray[np.float64]  # (n_rows,): numbers of copies
    factors: NDArray[np.float64]  # (n_rows,): `class_weight` of the row's class

    @property
    def min_weight(self) -> float:
        """Weight of a mean row (with fractional weights, a distinct one)."""
        n_rows = max(self.weights.sum(), len(self.weights))
        return self.weights @ self.factors / n_rows * (1 - _ROUNDING)


@dataclass(kw_only=True, eq=False, repr=False)
class SkopeRulesClassifier(ClassifierMixin, RuleModel):
    r"""Rules of high precision and recall, which vote.

    Small trees are grown on rows that are drawn, one for each class against the others.
    Each leaf is a rule for the class whose share it raises most. Its precision and
    recall are those among the rows not drawn, over all trees that have it. Rules that
    are good enough are kept, but for those that nearly repeat a better one.

    Parameters
    ----------
    precision_min : float, default=0.5
        Least precision of a rule.
    recall_min : float, default=0.01
        Least recall of a rule.
    n_estimators : int, default=20
        Number of draws, and of trees for each class.
    max_depth : int, default=3
        Largest depth of a tree, and number of conditions of a rule.
    max_samples : float, default=0.8
        Chance of a row to be drawn for a tree.
    max_overlap : float, default=0.8
        Two rules of a class overlap in the rows for which both hold, as a share of
        those for which one does. Of rules that overlap more, the better one is kept: of
        larger F1, the harmonic mean of precision and recall. 1 keeps all.
    class_weight : dict, "balanced" or None, default=None
        Weight of each class, by which those of its rows are multiplied as rules are
        sought and as shares of classes are predicted; a dict leaves the classes that it
        lacks at 1. "balanced" makes all classes weigh the same. Coverage and numbers
        of rows are of the rows as they are.
    categorical_features : "auto", None, or list of ints or strs, default="auto"
        Features whose values are levels. "auto" takes the category, object, string
        and boolean columns of a DataFrame.
    random_state : int, RandomState or None, default=None
        Draws rows, and chooses among equal splits of trees.

    Attributes
    ----------
    rules_ : list of SkopeRule
        The rules, the best F1 first; the last one, without conditions, is the default.
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
    RIPPERClassifier : Rules that are asked one after the other, and much fewer of them.
    sklearn.ensemble.BaggingClassifier : All leaves of trees on drawn rows.

    Notes
    -----
    With :math:`h_r(x)` 1 where rule r holds for x and 0 elsewhere, its precision
    :math:`w_r` and its shares :math:`s_{rk}`, the probability of class k is

    .. math::

       p_k(x) = \frac{\sum_r w_r h_r(x) s_{rk}}{\sum_r w_r h_r(x)}

    over all rules but the default, whose shares it is where none of them holds.

    A rule is judged on rows of the weight of a mean row at least: where `class_weight`
    makes rows of a class weigh little, some of these alone make no rule.

    Precision and recall of the rules kept are a little too high, since they were chosen
    by them. For a rare class, set `precision_min` below the precision that can be had,
    and look at the rules for this class: `predict` needs a share above all others.

    The package skope-rules also grows regression trees. On 0 and 1, their splits are
    those of classification trees, so there is one kind here, and twice as many. There,
    weights are costs; here a row of weight two is as good as two rows, with the same
    draws: these do not depend on the order of the rows.

    A condition is a bound of a number, some levels of a category, or that the value is
    missing, or is not. A missing value meets no condition but that it is missing: a
    split that sends missing values along with others leaves them out of its rule. A row
    with a level that was not drawn for a tree meets no condition of this tree on the
    feature.

    References
    ----------
    Goix, N., Gardin, F., Gautier, R., et al. (2018). skope-rules.
    https://github.com/scikit-learn-contrib/skope-rules

    Friedman, J. H., & Popescu, B. E. (2008). Predictive learning via rule ensembles.
    The Annals of Applied Statistics 2. https://doi.org/10.1214/07-AOAS148

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn_interpret.rules import SkopeRulesClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> X.columns = ["sepal length", "sepal width", "petal length", "petal width"]
    >>> model = SkopeRulesClassifier(precision_min=0.8, recall_min=0.8, random_state=0)
    >>> for rule in model.fit(X, y).rules_:
    ...     print(rule, "->", rule.prediction)
    petal width <= 0.8 -> 0
    petal length <= 4.95 and 0.8 < petal width <= 1.75 -> 1
    petal length > 4.85 and petal width > 1.75 -> 2
    otherwise -> 2
    >>> model.rules_[2].precision, round(model.rules_[2].recall, 2)
    (1.0, 0.87)
    >>> model.predict_proba(X.iloc[[0, 133]]).round(2)
    array([[1.  , 0.  , 0.  ],
           [0.  , 0.33, 0.67]])
    """

    precision_min: float = 0.5
    recall_min: float = 0.01
    n_estimators: int = 20
    max_depth: int = 3
    max_samples: float = 0.8
    max_overlap: float = 0.8
    class_weight: str | dict[Any, float] | None = None
    categorical_features: Any = "auto"
    random_state: int | np.random.RandomState | None = None

    classes_: NDArray[Any] = field(init=False)
    rules_: list[SkopeRule] = field(init=False)

    _parameter_constraints = {
        "class_weight": CLASS_WEIGHT,
        "precision_min": [Interval(Real, 0, 1, closed="both")],
        "recall_min": [Interval(Real, 0, 1, closed="both")],
        "n_estimators": [Interval(Integral, 1, None, closed="left")],
        "max_depth": [Interval(Integral, 1, None, closed="left")],
        "max_samples": [Interval(Real, 0, 1, closed="neither")],
        "max_overlap": [Interval(Real, 0, 1, closed="both")],
        "random_state": ["random_state"],
    }

    # Coverage counts rows.
    _weights_count_rows = True

    decision_rule, predict = first_rule_that_holds, most_probable_class

    def _fit(self, sample: Sample) -> None:
        space = self._condition_space(sample.rows)
        class_weights = class_weights_of(self, sample)
        self.rules_ = self._choose_rules(sample, space, class_weights)
        warn_of_unpredicted_classes(self, sample)

    def _choose_rules(
        self, sample: Sample, space: ConditionSpace, class_weights: NDArray[np.float64]
    ) -> list[SkopeRule]:
        """Rules of a `Sample` of labels 0, 1, ..., in their order; the default last."""
        index, weights = distinct_rows(space.table.codes, sample.y, sample.weights)
        codes, labels = space.table.codes[:, index], sample.y[index]
        factors = class_weights[labels]
        random = check_random_state(self.random_state)
        trees = range(self.n_estimators)
        draws = np.array([draw_share(weights, self.max_samples, random) for _ in trees])
        tree = DecisionTreeClassifier(max_depth=self.max_depth, random_state=random)
        draws_by_rule: dict[tuple[Condition, ...], list[int]] = {}
        for draw, copies in enumerate(draws):
            used = copies > 0
            drawn_weights = (copies * factors)[used]
            leaves = _leaf_rules(
                tree, space, codes[:, used], labels[used], drawn_weights
            )
            for leaf in leaves:
                draws_by_rule.setdefault(leaf, []).append(draw)
        rows, classes = sample.rows.take(index), np.eye(len(self.classes_))[labels]
        training = _TrainingRows(rows, classes, weights, factors)
        outside = (weights - draws) * factors
        rules = self._select_precise_rules(draws_by_rule, training, outside)
        return self._drop_overlapping_rules(rules, training)

    def _select_precise_rules(
        self,
        draws_by_rule: dict[tuple[Condition, ...], list[int]],
        training: _TrainingRows,
        outside: NDArray[np.float64],
    ) -> list[SkopeRule]:
        """Rules with at least the smallest precision and recall, the best first.

        A rule is judged by the weights `outside` (n_draws, n_rows) that the draws in
        which it was found have left out.
        """
        rules, all_conditions = [], list(draws_by_rule)
        n_rows = training.rows.n_rows
        # Three arrays of 8 bytes for each row and rule are in memory.
        for block in slices(len(all_conditions), batch_rows(24 * n_rows)):
            batch = all_conditions[block]
            is_of_draw = np.zeros((len(batch), len(outside)))
            for k, conditions in enumerate(batch):
                is_of_draw[k, draws_by_rule[conditions]] = 1
            holds = all_hold(batch, training.rows, n_rows)
            scores = score_rules(holds, is_of_draw @ outside, training.classes)
            n_covered = holds @ training.weights
            is_good = scores.precision >= self.precision_min
            is_good &= scores.recall >= self.recall_min
            is_good &= scores.weight >= training.min_weight
            for k in np.flatnonzero(is_good).tolist():
                shares, label = scores.shares[k], int(scores.label[k])
                rule = self._make_rule(batch[k], shares, label, n_covered[k], training)
                rules.append(replace(rule, recall=float(scores.recall[k])))
        return sorted(rules, key=_negative_f1)

    def _drop_overlapping_rules(
        self, rules: list[SkopeRule], training: _TrainingRows
    ) -> list[SkopeRule]:
        """Rules that do not overlap too much with better rules, and the default."""
        weights = training.weights
        conditions, rows = [rule.conditions for rule in rules], training.rows
        holds = all_hold(conditions, rows, rows.n_rows)
        predicted = np.array([rule.prediction for rule in rules])
        selected = []
        for label in self.classes_:
            of_class = np.flatnonzero(predicted == label)
            distinct = without_overlaps(holds[of_class], weights, self.max_overlap)
            selected.extend(of_class[distinct].tolist())
        selected.sort()
        uncovered = ~holds[selected].any(axis=0) * weights
        is_enough = uncovered @ training.factors >= training.min_weight
        default_weights = uncovered if is_enough else weights
        sums = (default_weights * training.factors) @ training.classes
        shares = sums / sums.sum()
        label = int(shares.argmax())
        default = self._make_rule((), shares, label, uncovered.sum(), training)
        return [*(rules[k] for k in selected), default]

    def _make_rule(
        self,
        conditions: tuple[Condition, ...],
        shares: NDArray[np.float64],
        label: int,
        n_rows: float,
        training: _TrainingRows,
    ) -> SkopeRule:
        """A rule for a class, from the shares of the classes where it holds."""
        return SkopeRule(
            conditions,
            prediction=self.classes_[label],
            coverage=float(n_rows / training.weights.sum()),
            precision=float(shares[label]),
            shares=tuple(shares.tolist()),
            n_rows=float(n_rows),
        )

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Mean shares of the rules that hold, weighted by their precision.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Probabilities, in the order of `classes_`.
        """
        holds = self._holds(X)
        # The default votes where no other rule holds.
        holds[-1] = ~holds[:-1].any(axis=0)
        precision = np.array([rule.precision for rule in self.rules_])
        shares = np.array([rule.shares for rule in self.rules_])
        votes = holds.T * precision
        return votes @ shares / votes.sum(axis=1, keepdims=True)

    def to_text(self, digits: int | None = 4) -> str:
        """Return the rules as they are read aloud.

        Parameters
        ----------
        digits : int or None, default=4
            Significant digits of the conditions; None writes all.

        Returns
        -------
        str
            A line for each rule, the best first.

        Raises
        ------
        ValueError
            `digits` is no positive whole number.
        """
        check_is_fitted(self)
        check_digits(digits)
        *rules, default = self.rules_
        lines = [
            f"IF {rule._in_words(digits)} THEN {rule.prediction} "
            f"(precision {rule.precision:.2f}, recall {rule.recall:.2f}, "
            f"{rule.n_rows:g} rows)"
            for rule in rules
        ]
        lines.append(f"IF none holds THEN {default.prediction}")
        return "\n".join(lines)


def _negative_f1(rule: SkopeRule) -> float:
    return -f1(rule.precision or 0.0, rule.recall or 0.0)


def _leaf_rules(
    tree: DecisionTreeClassifier,
    space: ConditionSpace,
    codes: NDArray[Any],
    labels: NDArray[np.intp],
    weights: NDArray[np.float64],
) -> Iterator[tuple[Condition, ...]]:
    """Conditions of the leaves of a tree for each class against the others."""
    classes = np.unique(labels)
    if len(classes) == 2:  # trees for either class have the same leaves
        classes = classes[1:]
    for label in classes:
        positive = labels == label
        table = OrderedTable.of_codes(space, codes, positive, weights)
        tree.fit(table.ranks.T, positive, sample_weight=weights)
        left_children = tree.tree_.children_left
        for rule, left_child in zip(table.rules(tree), left_children, strict=True):
            is_leaf = left_child < 0
            if rule and is_leaf:
                yield table.conditions(rule)
