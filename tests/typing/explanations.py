"""Types of explanations, as users see them."""

from collections.abc import Sequence
from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray
from pandas import DataFrame
from sklearn.linear_model import LinearRegression

from sklearn_interpret.base import BaseInspector
from sklearn_interpret.explanations import (
    AttributionTransformerMixin,
    BaseExplanation,
    Condition,
    Explanation,
    NeighborExplanation,
    RemovalExplanation,
    RowExplanation,
    RuleExplanation,
    TrainingExplanation,
    WordCondition,
)

Floats = NDArray[np.float64]
Integers = NDArray[np.intp]
Flags = NDArray[np.bool_]
Objects = NDArray[np.object_]


def any_kind(explanation: BaseExplanation) -> None:
    assert_type(explanation[[0, 1]], BaseExplanation)
    assert_type(next(iter(explanation)), BaseExplanation)
    assert_type(len(explanation), int)
    assert_type(explanation.predictions, Floats | None)
    assert_type(explanation.feature_names, Sequence[str])
    assert_type(explanation.response_name, str | None)
    assert_type(explanation.to_frame(), DataFrame)


def attributions(values: Floats, base_values: Floats) -> None:
    explanation = Explanation(values, base_values, feature_names=["age", "income"])
    assert_type(explanation.values, Floats)
    assert_type(explanation.base_values, Floats)
    assert_type(explanation.standard_errors, Floats | None)
    assert_type(explanation.columns, Sequence[Sequence[int]] | None)
    assert_type(explanation.approximation, str | None)
    assert_type(explanation.additivity_error(), Floats)
    assert_type(explanation.predictions_or_sums, Floats)
    assert_type(explanation[0], Explanation)
    assert_type(explanation.to_frame(), DataFrame)


class Terms(AttributionTransformerMixin, BaseInspector):
    """An inspector of a user."""

    def _inspect(self, sample: Any, response: Any) -> None:
        self.output_names_ = [0]

    def _attributed(self) -> list[tuple[tuple[int], str]]:
        return [((j,), f"x{j}") for j in range(self.n_features_in_)]

    def explain(self, X: Floats) -> Explanation:
        terms = X * self.estimator_.coef_
        return Explanation(terms, np.full(len(X), self.estimator_.intercept_))


def own_inspector(X: Floats, y: Floats) -> None:
    terms = Terms(LinearRegression()).fit(X, y)
    assert_type(terms, Terms)
    assert_type(terms.transform(X), Floats)
    assert_type(terms.get_feature_names_out(), Objects)


def rows(explanation: RowExplanation) -> None:
    assert_type(explanation.origin, Integers)
    assert_type(explanation.valid, Flags)
    assert_type(explanation.distances, Floats)
    assert_type(explanation.status, Objects)
    assert_type(explanation.reasons, Objects)
    assert_type(explanation.lower_bounds, Floats | None)
    assert_type(explanation.optimal, Flags | None)
    assert_type(explanation.low, Floats | None)
    assert_type(explanation.beyond_data, Flags | None)
    assert_type(explanation.changed, Flags)
    assert_type(explanation.n_changed, Integers)
    assert_type(explanation.perturbations, Floats)
    assert_type(explanation.to_frame(), DataFrame)


def rules(explanation: RuleExplanation, X: Floats) -> None:
    assert_type(explanation.rules, Objects)
    assert_type(explanation.precision, Floats)
    assert_type(explanation.coverage, Floats)
    assert_type(explanation.text(0), str)
    assert_type(explanation.holds(X), Flags)
    assert_type(explanation.to_frame(), DataFrame)
    condition = Condition(0, "age", low=30.0)
    assert_type(condition.low, float | np.datetime64 | np.timedelta64 | None)
    assert_type(condition.to_text(digits=3), str)
    assert_type(condition.holds(X), Flags)


def words(explanation: RemovalExplanation, condition: WordCondition) -> None:
    assert_type(explanation.words, Objects)
    assert_type(explanation.optimal, Flags)
    assert_type(explanation.original_predictions, Floats | None)
    assert_type(explanation.n_removed, Integers)
    assert_type(explanation.spans(0), list[tuple[int, int]])
    assert_type(explanation.to_html(0), str)
    assert_type(explanation.to_frame(), DataFrame)
    assert_type(condition.holds(["free of charge"]), Flags)


def training_rows(values: Floats, neighbors: Integers, distances: Floats) -> None:
    explanation = TrainingExplanation(values, value_name="change of the loss")
    assert_type(explanation.values, Floats)
    assert_type(explanation.mean_sizes, Floats)
    assert_type(explanation.largest(2), Integers)
    assert_type(explanation.to_frame(k=3), DataFrame)
    votes = NeighborExplanation(values, neighbors=neighbors, distances=distances)
    assert_type(votes.neighbors, Integers)
    assert_type(votes.distances, Floats)
    assert_type(votes.feature_distances, Floats | None)
    assert_type(votes[0], NeighborExplanation)
