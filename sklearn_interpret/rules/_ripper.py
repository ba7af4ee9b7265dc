"""RIPPER: rules for one class after the other (Cohen 1995)."""

from __future__ import annotations

from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from sklearn_interpret._core.rules.ripper import ripper
from sklearn_interpret._model._sklearn_compat import Interval
from sklearn_interpret.rules._rule_classifiers import RuleListClassifier
from sklearn_interpret.rules._rules import Rule

if TYPE_CHECKING:
    from sklearn_interpret._inspectors.condition_space import ConditionSpace
    from sklearn_interpret._model.rows.sample import Sample
    from sklearn_interpret.explanations import Condition


@dataclass(kw_only=True, eq=False, repr=False)
class RIPPERClassifier(RuleListClassifier):
    """Rules for one class after the other, from the rarest to the most frequent.

    For each class but the last, rules are found that tell its rows from those of all
    later classes. A rule grows on two thirds of the rows, by the condition of the
    largest gain (FOIL's), until it makes no errors; it is pruned on the rest, by its
    precision there. Rules are added as long as they are right more often than wrong,
    and the description of the rules and their errors is at most 64 bits longer than
    the shortest one. Then each rule is weighed against a replacement, grown afresh,
    and a revision, which adds to it: the one with the shortest description stays.

    Parameters
    ----------
    prune : bool, default=True
        Whether rules are pruned and optimized. Without it, they are grown on all rows,
        until they make no errors: sequential covering, for data without noise.
    n_optimizations : int, default=2
        How often all rules of a class are optimized.
    min_weight : float, default=2.0
        Number of rows of its class, as the sum of their weights, for which a rule has
        to hold as it is grown.
    class_weight : dict, "balanced" or None, default=None
        Weight of each class, by which those of its rows are multiplied as rules are
        sought and as shares of classes are predicted; a dict leaves the classes that it
        lacks at 1. "balanced" makes all classes weigh the same. Coverage and numbers
        of rows are of the rows as they are, and so is precision.
    categorical_features : "auto", None, or list of ints or strs, default="auto"
        Features whose values are levels. "auto" takes the category, object, string
        and boolean columns of a DataFrame.
    random_state : int, RandomState or None, default=None
        Draws the rows that rules grow on. Without pruning there is nothing to draw.

    Attributes
    ----------
    rules_ : list of Rule
        The rules, in the order in which they are asked; the last one, without
        conditions, is the default. Rules that decide on no row of `fit` are left out.
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
    OneRClassifier : Rules on a single feature.
    sklearn.tree.DecisionTreeClassifier : Its leaves are rules that exclude each other.

    Notes
    -----
    A condition is a bound of a number, a level of a category, or that the value is
    missing; a missing value meets no other. A bound lies between two values of the
    data, on a number of few digits. A row with an unseen level meets no condition on
    this feature, and one beyond the range of `fit` those of the nearest value.

    Rows that are equal in all features and class are drawn together. So a row of weight
    two is as good as two rows, also where rules are pruned.

    Rules are found in the manner of JRip, Weka's version of RIPPER.

    References
    ----------
    Cohen, W. W. (1995). Fast effective rule induction. Proceedings of the 12th
    International Conference on Machine Learning.
    https://doi.org/10.1016/B978-1-55860-377-6.50023-2

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn_interpret.rules import RIPPERClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = RIPPERClassifier(random_state=0).fit(X, y)
    >>> print(model.to_text())
    IF petal length (cm) <= 2.5 THEN 0
    ELSE IF petal width (cm) <= 1.65 and petal length (cm) <= 4.95 THEN 1
    ELSE 2
    >>> model.decision_rule(X.iloc[[0, 75, 148]])
    array([0, 1, 2])
    >>> model.predict_proba(X.iloc[[148]]).round(2)
    array([[0.  , 0.06, 0.94]])
    """

    prune: bool = True
    n_optimizations: int = 2
    min_weight: float = 2.0
    class_weight: str | dict[Any, float] | None = None
    categorical_features: Any = "auto"
    random_state: int | np.random.RandomState | None = None

    rules_: list[Rule] = field(init=False)

    _parameter_constraints = {
        **RuleListClassifier._parameter_constraints,
        "prune": ["boolean"],
        "n_optimizations": [Interval(Integral, 0, None, closed="left")],
        "min_weight": [Interval(Real, 0, None, closed="left")],
        "random_state": ["random_state"],
    }

    def _find_rules(
        self, space: ConditionSpace, sample: Sample, class_weights: NDArray[np.float64]
    ) -> list[tuple[Condition, ...]]:
        rules = ripper(
            space.table,
            sample.y,
            sample.weights,
            class_weights,
            prune=self.prune,
            n_optimizations=self.n_optimizations,
            min_weight=self.min_weight,
            random=check_random_state(self.random_state),
        )
        return [space.conditions(rule) for rule in rules]
