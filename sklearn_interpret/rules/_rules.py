"""Rules, and the base of all models made of rules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import is_classifier
from sklearn.utils import Tags, check_scalar
from sklearn.utils.validation import check_is_fitted

from sklearn_interpret._core.rules.coded_conditions import all_hold
from sklearn_interpret._inspectors.condition_space import ConditionSpace
from sklearn_interpret._inspectors.predictor import BasePredictor
from sklearn_interpret._inspectors.sklearn_bases import TransformerMixin
from sklearn_interpret._model._sklearn_compat import check_feature_names_in
from sklearn_interpret._model.rows.arrays import as_rows
from sklearn_interpret._model.rows.lazy import lazy_transformer
from sklearn_interpret._model.rows.validation import check_labels, empty_for_no_rows
from sklearn_interpret.explanations import Condition

if TYPE_CHECKING:
    from sklearn_interpret._model.rows.base import Rows


@dataclass(frozen=True)
class Rule:
    """Conditions that hold together, and the prediction where they do.

    Parameters
    ----------
    conditions : tuple of Condition
        The conditions, at most one for each feature. Without any, the rule holds
        always: it is the default of a list of rules.
    prediction : object
        The prediction: a class label, or a number.
    coverage : float
        Share of the rows of `fit`, by weight, that the rule decides on.
    precision : float, default=None
        Share of the predicted class among these rows; None if it decides on no row.
    shares : tuple of float, default=None
        Share of each class that is predicted; `class_weight` counts here.
    n_rows : float, default=None
        Number of these rows, as the sum of their weights.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_interpret.explanations import Condition
    >>> from sklearn_interpret.rules import Rule
    >>> young = Condition(0, "age", high=30.0)
    >>> nurse = Condition(1, "job", levels=("nurse",))
    >>> rule = Rule((young, nurse), prediction="yes", coverage=0.25, precision=0.9)
    >>> print(rule)
    age <= 30 and job = nurse
    >>> rule.holds(np.array([[28, "nurse"], [31, "nurse"]], dtype=object))
    array([ True, False])
    """

    conditions: tuple[Condition, ...]
    prediction: Any
    coverage: float
    precision: float | None = None
    shares: tuple[float, ...] | None = None
    n_rows: float | None = None

    def __str__(self) -> str:
        return self._in_words(None)

    def _in_words(self, digits: int | None) -> str:
        texts = [condition.to_text(digits) for condition in self.conditions]
        return " and ".join(texts) or "otherwise"

    def holds(self, X: Any) -> NDArray[np.bool_]:
        """Whether all conditions hold for each of some rows.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,), bool
            True where they do.
        """
        rows = as_rows(X)
        return all_hold([self.conditions], rows, rows.n_rows)[0]


@lazy_transformer
class RuleModel(TransformerMixin, BasePredictor):
    """Base of models made of rules: `categorical_features` in, `rules_` out.

    `rules_` is a list of :class:`Rule`, or of a class of its own fields, which
    :meth:`to_frame` shows too.
    """

    rules_: Sequence[Any]
    # A parameter of each subclass.
    categorical_features: Any

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.allow_nan = True
        return tags

    def _check_targets(self, rows: Rows, y: ArrayLike | None) -> NDArray[Any]:
        if not is_classifier(self):
            return super()._check_targets(rows, y)
        self.classes_, positions = check_labels(self, rows, y)
        return positions

    def _condition_space(self, rows: Rows) -> ConditionSpace:
        """Conditions on the rows."""
        return ConditionSpace.of_rows(rows, self.categorical_features)

    @property
    def _terms(self) -> Sequence[Any]:
        """The rules, and any linear terms: one row of the table each."""
        return self.rules_

    def _holds(self, X: Any) -> NDArray[np.bool_]:
        """Whether each rule holds for each row: (n_rules, n_rows)."""
        rows = self._check_rows(X, reset=False)
        conditions = [rule.conditions for rule in self.rules_]
        return all_hold(conditions, rows, rows.n_rows)

    def _first_that_holds(
        self, rules: Sequence[tuple[Condition, ...]], rows: Rows
    ) -> NDArray[np.intp]:
        """Position of the first rule that holds, for each row."""
        return all_hold(rules, rows, rows.n_rows).argmax(axis=0)

    @empty_for_no_rows
    def transform(self, X: Any) -> NDArray[np.float64]:
        """Whether each rule holds for each row, whichever rules come before it.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_rules)
            1 where a rule holds, else 0.
        """
        return self._holds(X).T.astype(np.float64)

    def get_feature_names_out(
        self, input_features: ArrayLike | None = None
    ) -> NDArray[np.object_]:
        """Names of the columns that `transform` returns: the rules in words.

        Parameters
        ----------
        input_features : array-like of str or None, default=None
            Names of the input features where `fit` saw none.

        Returns
        -------
        ndarray of str objects
            The conditions of each rule, no two texts alike; of sums for more than two
            classes, the class is in front.
        """
        check_is_fitted(self)
        names = check_feature_names_in(self, input_features)
        texts: list[str] = []
        n_seen: Counter[str] = Counter()
        for rule in self.rules_:
            conditions = [replace(c, name=names[c.feature]) for c in rule.conditions]
            text = self._rule_text(replace(rule, conditions=tuple(conditions)))
            n_seen[text] += 1
            texts.append(f"{text} ({n_seen[text]})" if n_seen[text] > 1 else text)
        return np.array(texts, dtype=object)

    def _rule_text(self, rule: Any) -> str:
        """A rule in words, with its class where there are several sums."""
        return str(rule)

    def _result_blocks(self) -> list[dict[str, Any]]:
        """A line for each rule. Column "rule" has the conditions in words; the others
        are those attributes of the rules that they have: "prediction", "coverage",
        "precision", for each class "share of" it, "n_rows", and bounds of shares where
        a model gives them.
        """
        return [rule_columns(self._terms, getattr(self, "classes_", None))]


def check_digits(digits: int | None) -> None:
    """Refuse a number of digits that is neither None nor a positive whole number."""
    if digits is not None:
        check_scalar(digits, "digits", Integral, min_val=1)


def rule_columns(rules: Sequence[Any], classes: Any) -> dict[str, Any]:
    """Columns of a table of rules: their words, and the attributes that they have."""
    columns: dict[str, Any] = {"rule": list(map(str, rules))}
    for name in dict.fromkeys(field.name for rule in rules for field in fields(rule)):
        entries = [getattr(rule, name, None) for rule in rules]
        if name == "conditions" or set(entries) == {None}:
            continue
        if name.startswith("shares"):
            # "shares", or "shares_low" and the like: a column for each class.
            title = f"{name.removeprefix('shares').removeprefix('_')} share".strip()
            for label, class_shares in zip(
                classes, zip(*entries, strict=True), strict=True
            ):
                columns[f"{title} of {label}"] = class_shares
        else:
            columns[name] = entries
    return columns
