"""Sums of rules and linear terms: how they are fitted, read and explained."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field, replace
from itertools import chain
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from sklearn_interpret._core.rules.coded_conditions import distinct_rows
from sklearn_interpret._core.statistics.weighted import shares_of
from sklearn_interpret._model._sklearn_compat import Interval
from sklearn_interpret._model.progress import with_progress
from sklearn_interpret._model.rows.arrays import as_rows
from sklearn_interpret._model.rows.number_format import entry_text
from sklearn_interpret._model.rows.validation import empty_for_no_rows
from sklearn_interpret.explanations import Explanation
from sklearn_interpret.rules._ensemble_search import (
    EnsembleSearch,
    Growth,
    linear_terms,
)
from sklearn_interpret.rules._rules import RuleModel, check_digits
from sklearn_interpret.rules._weighted_rules import LinearTerm, WeightedRule

if TYPE_CHECKING:
    from sklearn_interpret._model.rows.sample import Sample
    from sklearn_interpret.rules._ensemble_search import SparseSum, Target


@dataclass(kw_only=True, eq=False, repr=False)
class BaseRuleFit(RuleModel):
    """Base of the regressor and the classifier: rules and linear terms, by the lasso.

    A subclass says what is fitted (`_targets`) and by which `_loss`.
    """

    max_rules: int = 2000
    tree_size: float = 4
    learning_rate: float = 0.01
    linear: bool = True
    trim: float = 0.025
    n_folds: int = 5

    if TYPE_CHECKING:  # the subclasses' last parameters: fields here would come first
        random_state: int | np.random.RandomState | None

    rules_: list[WeightedRule] = field(init=False)
    linear_terms_: list[LinearTerm] = field(init=False)
    intercept_: float | NDArray[np.float64] = field(init=False)
    feature_importances_: NDArray[np.float64] = field(init=False)
    penalty_: float | NDArray[np.float64] = field(init=False)

    # A weight is the number of copies of a row, which are drawn.
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
        "verbose": ["verbose", None],
    }

    @abstractmethod
    def _targets(self, y: NDArray[Any], weights: NDArray[np.float64]) -> list[Target]:
        """The `Target` of each score."""

    def _row_factors(self, sample: Sample) -> NDArray[np.float64]:
        """Factor of each row's weight where rows are not counted: (n_rows,)."""
        return np.ones(sample.rows.n_rows)

    def _fit(self, sample: Sample) -> None:
        space = self._condition_space(sample.rows)
        # Distinct rows, so that a weight is as good as copies.
        _, ranks = np.unique(sample.y, return_inverse=True)
        index, weights = distinct_rows(space.table.codes, ranks, sample.weights)
        # Weights that sum to less than the number of rows are scaled up to it.
        scale = max(1.0, len(weights) / weights.sum())
        weights = weights * scale
        numeric_columns = np.flatnonzero(~space.nominal).tolist() if self.linear else []
        rows = sample.rows.take(index)
        search = EnsembleSearch(
            space,
            space.table.codes[:, index],
            weights,
            self._row_factors(sample)[index],
            linear_terms(rows, numeric_columns, shares_of(weights), self.trim),
            self._loss,
            Growth(self.max_rules, self.tree_size, self.learning_rate),
        )
        random = check_random_state(self.random_state)
        sums = [
            search.find(target, self.n_folds, random)
            for target in with_progress(self._targets(sample.y[index], weights))
        ]
        self._set_results(sums, scale)

    def _set_results(self, sums: list[SparseSum], scale: float) -> None:
        """Set the attributes; `scale` has multiplied the weights of the rows."""
        terms = list(chain.from_iterable(fitted.terms for fitted in sums))
        rules = [term for term in terms if isinstance(term, WeightedRule)]
        self.rules_ = [replace(r, n_rows=(r.n_rows or 0.0) / scale) for r in rules]
        self.linear_terms_ = [term for term in terms if isinstance(term, LinearTerm)]
        self.intercept_ = _number_or_array([fitted.intercept for fitted in sums])
        self.penalty_ = _number_or_array([fitted.penalty for fitted in sums])
        importances = np.array([term.importance for term in self._terms])
        self.feature_importances_ = importances @ self._feature_shares()

    @property
    def _terms(self) -> list[Any]:
        """All terms of the sum: rules, then linear terms."""
        return [*self.rules_, *self.linear_terms_]

    def _term_columns(self) -> list[tuple[int, ...]]:
        """Columns of the features of each rule and linear term."""
        rules = [tuple(c.feature for c in rule.conditions) for rule in self.rules_]
        return rules + [(term.feature,) for term in self.linear_terms_]

    def _feature_shares(self) -> NDArray[np.float64]:
        """Equal shares of the features of each term: (n_terms, n_features)."""
        columns = self._term_columns()
        shares = np.zeros((len(columns), self.n_features_in_))
        for k, features in enumerate(columns):
            shares[k, list(features)] = 1 / len(features)
        return shares

    def _coefficients(self) -> NDArray[np.float64]:
        """Coefficients, in the columns of the scores they add to: (n_terms[, k])."""
        terms = self._terms
        coefficients = np.array([term.coef for term in terms])
        if not np.ndim(self.intercept_):
            return coefficients
        labels = np.array([t.prediction for t in terms], dtype=self.classes_.dtype)
        return coefficients[:, None] * (labels[:, None] == self.classes_)

    def _term_values(self, X: Any) -> NDArray[np.float64]:
        """Whether rules hold, and values of linear terms: (n_rows, n_terms)."""
        holds, rows = self._holds(X), as_rows(X)
        return np.vstack([holds, *(term.values(rows) for term in self.linear_terms_)]).T

    def _scores(self, X: Any) -> NDArray[np.float64]:
        """Intercept plus rules plus linear terms, (n_rows,), or (n_rows, k)."""
        values = self._term_values(X)
        return self.intercept_ + values @ self._coefficients()

    def _rule_text(self, term: Any) -> str:
        has_several_sums = np.ndim(self.intercept_) > 0
        return f"{term.prediction}: {term}" if has_several_sums else str(term)

    def _result_facts(self) -> dict[str, Any]:
        facts = {"intercept": self.intercept_, "penalty": self.penalty_}
        return {name: np.asarray(fact).tolist() for name, fact in facts.items()}

    def to_text(self, digits: int | None = 4) -> str:
        """Return the sum as it is read aloud.

        Parameters
        ----------
        digits : int or None, default=4
            Significant digits of numbers. None writes all: evaluated by hand, the text
            then gives what `predict` does.

        Returns
        -------
        str
            The sum of the prediction, or of the log-odds of each class, with a line for
            each rule and linear term.

        Raises
        ------
        ValueError
            `digits` is no positive whole number.
        """
        check_is_fitted(self)
        check_digits(digits)
        intercepts = np.ravel(self.intercept_)
        labels = getattr(self, "classes_", [None])[-len(intercepts) :]
        lines = []
        for label, intercept in zip(labels, intercepts.tolist(), strict=True):
            response = self._response_name + ("" if label is None else f" of {label}")
            lines.append(f"{response} = {entry_text(intercept, digits)}")
            terms = [t for t in self._terms if label in (None, t.prediction)]
            for term in terms:
                sign = "-" if term.coef < 0 else "+"
                size = entry_text(abs(term.coef), digits)
                lines.append(f"  {sign} {size} {term.to_text(digits)}")
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
        rows = self._check_rows(X, reset=False)
        coverage = [rule.coverage for rule in self.rules_]
        means = np.array(coverage + [0.0] * len(self.linear_terms_))
        coefficients, deviations = self._coefficients(), self._term_values(rows) - means
        if by == "features":
            shares = np.einsum("ej,e...->ej...", self._feature_shares(), coefficients)
            values = np.tensordot(deviations, shares, axes=1)
            names, columns = rows.names, None
        else:
            values = np.einsum("ie,e...->ie...", deviations, coefficients)
            names = list(map(self._rule_text, self._terms))
            columns = self._term_columns()
        base_value = self.intercept_ + means @ coefficients
        labels = getattr(self, "classes_", range(1))
        return Explanation(
            values,
            np.full((rows.n_rows, *np.shape(base_value)), base_value),
            predictions=self._scores(rows),
            data=rows.native,
            feature_names=names,
            # The second of two classes is the output.
            output_names=labels[-np.size(base_value) :],
            response_name=self._response_name,
            value_name="contribution",
            columns=columns,
        )


def _number_or_array(numbers: list[float]) -> float | NDArray[np.float64]:
    """The single number, or an array of several."""
    return np.array(numbers) if len(numbers) > 1 else float(numbers[0])
