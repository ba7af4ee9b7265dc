"""OneR: rules on one feature (Holte 1993)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Tags

from sklearn_interpret._core.rules.bins import majority_bins, uniform_bins
from sklearn_interpret._model._sklearn_compat import Interval, StrOptions
from sklearn_interpret._model.rows.base import label_key
from sklearn_interpret._model.rows.dates import days
from sklearn_interpret.rules._rule_classifiers import RuleListClassifier
from sklearn_interpret.rules._rules import Rule

if TYPE_CHECKING:
    from sklearn_interpret._inspectors.condition_space import ConditionSpace
    from sklearn_interpret._model.rows.base import Rows
    from sklearn_interpret._model.rows.sample import Sample
    from sklearn_interpret.explanations import Condition


@dataclass(kw_only=True, eq=False, repr=False)
class OneRClassifier(RuleListClassifier):
    """Rules on the one feature that alone makes the fewest errors.

    Each level of a category, and each bin of a number, gets the class that most of its
    rows have. It is done for every feature, and the best of them is kept. What does
    little better than this needs no larger model.

    Parameters
    ----------
    strategy : {"majority", "uniform"}, default="majority"
        How numbers are cut into bins. `"majority"`: from the smallest value on, a bin
        is closed before another class takes over, once its own majority class has
        `min_bin_size` rows; neighbours of one majority class are joined. `"uniform"`:
        bins of equal width, whose bounds are moved to between values of the data.
    min_bin_size : float, default=6
        Number of rows, as the sum of their weights, that the majority class of a bin
        has at least, but in the last one; for `strategy="majority"`. On thousands of
        noisy rows, bins of 6, Holte's choice and Weka's, follow the noise.
    n_bins : int, default=5
        Number of bins, for `strategy="uniform"`.
    class_weight : dict, "balanced" or None, default=None
        Weight of each class, by which those of its rows are multiplied as rules are
        sought and as shares of classes are predicted; a dict leaves the classes that it
        lacks at 1. "balanced" makes all classes weigh the same. Coverage and numbers
        of rows are of the rows as they are, and so is precision.
    categorical_features : "auto", None, or list of ints or strs, default="auto"
        Features whose values are levels. "auto" takes the category, object, string
        and boolean columns of a DataFrame.

    Attributes
    ----------
    feature_ : int
        Position of the feature; of equally good ones the first.
    errors_ : ndarray of shape (`n_features_in_`,)
        Share of the rows of `fit` that the rules on each feature get wrong, by the
        weights of rows and classes.
    rules_ : list of Rule
        The rules: one for each bin or level, one for missing values if there are any,
        and the default rule for everything else.
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
    RIPPERClassifier : Rules of several conditions on all features.
    sklearn.tree.DecisionTreeClassifier : With ``max_depth=1``, two bins of a number.

    Notes
    -----
    Missing values are a level of their own. A level that was not there in `fit` gets
    the default rule, as missing values do if none were; it predicts the shares of
    classes among all rows. The first and last bin have no outer bounds.

    Errors are counted on the rows of `fit`: a category with a level for nearly every
    row, such as an identifier, makes none, and is best left out.

    References
    ----------
    Holte, R. C. (1993). Very simple classification rules perform well on most commonly
    used datasets. Machine Learning 11. https://doi.org/10.1023/A:1022631118932

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn_interpret.rules import OneRClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = OneRClassifier().fit(X, y)
    >>> print(model.to_text())
    IF petal width (cm) <= 0.8 THEN 0
    ELSE IF 0.8 < petal width (cm) <= 1.75 THEN 1
    ELSE IF petal width (cm) > 1.75 THEN 2
    ELSE 0
    >>> model.errors_.round(2)
    array([0.25, 0.4 , 0.05, 0.04])
    """

    strategy: str = "majority"
    min_bin_size: float = 6
    n_bins: int = 5
    class_weight: str | dict[Any, float] | None = None
    categorical_features: Any = "auto"

    feature_: int = field(init=False)
    errors_: NDArray[np.float64] = field(init=False)
    rules_: list[Rule] = field(init=False)

    _parameter_constraints = {
        **RuleListClassifier._parameter_constraints,
        "strategy": [StrOptions({"majority", "uniform"})],
        "min_bin_size": [Interval(Real, 0, None, closed="neither")],
        "n_bins": [Interval(Integral, 1, None, closed="left")],
    }

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags

    def _find_rules(
        self, space: ConditionSpace, sample: Sample, class_weights: NDArray[np.float64]
    ) -> list[tuple[Condition, ...]]:
        bins, errors = [], []
        weights = sample.weights * class_weights[sample.y]
        for j, codes in enumerate(space.table.codes):
            sums = np.zeros((len(space.values[j]) + 1, len(self.classes_)))
            np.add.at(sums, (codes, sample.y), weights)
            bins.append(self._bins_of_column(space, j, sums, class_weights))
            # In each bin the majority class is predicted.
            right_weight = sum(
                sums[first : last + 1].sum(axis=0).max() for first, last in bins[j]
            )
            errors.append(1 - right_weight / weights.sum())
        self.errors_ = np.array(errors)
        # The first of the columns whose errors are smallest, to rounding.
        best = int(np.argmax(self.errors_ <= self.errors_.min() + 1e-12))
        self.feature_ = best
        all_values = 0, len(space.values[best]) - 1  # no condition on known values
        return [
            (space.condition(best, first, last),)
            for first, last in bins[best]
            if (first, last) != all_values
        ]

    def _bins_of_column(
        self,
        space: ConditionSpace,
        j: int,
        sums: NDArray[np.float64],
        class_weights: NDArray[np.float64],
    ) -> list[tuple[int, int]]:
        """Levels or bins of a column, as first and last code.

        `sums` (n_values + 1, n_classes) are weights by code, of missing values last.
        """
        codes = np.flatnonzero(sums.any(axis=1)).tolist()
        missing_code = len(space.values[j])
        bins = [(code, code) for code in codes if code < missing_code]
        if bins and not space.nominal[j]:
            if self.strategy == "uniform":
                bins = uniform_bins(np.asarray(space.values[j]), self.n_bins)
            else:
                bins = majority_bins(sums[:-1], self.min_bin_size * class_weights)
        if missing_code in codes:
            bins = [*bins, (missing_code, missing_code)]
        return bins

    def _first_that_holds(
        self, rules: Sequence[tuple[Condition, ...]], rows: Rows
    ) -> NDArray[np.intp]:
        # Rules grow in number with the rows: they are looked up, instead of asked.
        bins = [rule[0] for rule in rules[:-1]]
        if not bins:
            return np.zeros(rows.n_rows, dtype=np.intp)
        if bins[0].levels is None:
            highs = [
                np.inf if c.high is None else days(c.high)
                for c in bins
                if c.levels is None
            ]
            # NaN comes last: to the rule for missing values, or to the default.
            return np.searchsorted(highs, rows.numbers(self.feature_))
        codes, code_of_label = bins[0]._read(rows)
        rule_of_code = np.full(len(code_of_label), len(bins))
        for position, condition in enumerate(bins):
            for level in condition.levels or ():
                code = code_of_label.get(label_key(level))
                if code is not None:
                    rule_of_code[code] = position
        return rule_of_code[codes]
