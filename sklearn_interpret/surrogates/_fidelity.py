"""Fidelity of a global surrogate, by any score."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import get_scorer

from sklearn_interpret._core.statistics.losses import agreement, mean_r_squared
from sklearn_interpret._model._sklearn_compat import scorer_takes_weights
from sklearn_interpret._model.responses.predictors import is_classifier
from sklearn_interpret._model.responses.scoring import (
    as_number,
    call_scorer,
    takes_weights,
)
from sklearn_interpret._model.surrogates.surrogate_predictions import (
    SurrogatePredictions,
    squeeze_outputs,
)

if TYPE_CHECKING:
    from sklearn_interpret._model.rows.base import Rows


@dataclass(frozen=True)
class Fidelity:
    """Fidelity of the predictions of a surrogate to its model.

    Parameters
    ----------
    scoring : str or callable
        As in :class:`~sklearn_interpret.surrogates.GlobalSurrogate`.
    predictions : SurrogatePredictions
        Predictions of the surrogate.
    inspector : estimator
        Estimator for scikit-learn's scorers; its `predict` is the surrogate's.
    """

    scoring: str | Callable[..., Any]
    predictions: SurrogatePredictions
    inspector: Any

    def measure(
        self,
        rows: Rows,
        weights: NDArray[np.float64],
        responses: NDArray[np.float64],
        labels: NDArray[Any] | None,
    ) -> float:
        """Fidelity on rows with weights (n,), responses (n, k) and labels of the model.

        Labels are None if the model predicts none.
        """
        scoring, X = self.scoring, rows.native
        if scoring == "accuracy":
            labels = self._check_labels(labels)
            return agreement(labels, self.predictions.predictions(X), weights)
        if scoring == "r2":
            return mean_r_squared(responses, self._surrogate_responses(X), weights)
        if isinstance(scoring, str):
            return self._sklearn_score(X, weights, responses, labels)
        if self.predictions.predicts_labels:
            predictions = self.predictions.predictions(X)
            return self._callable_score(scoring, labels, predictions, weights)
        targets = squeeze_outputs(responses)
        predictions = squeeze_outputs(self._surrogate_responses(X))
        return self._callable_score(scoring, targets, predictions, weights)

    def _surrogate_responses(self, X: Any) -> NDArray[np.float64]:
        """Estimates (n, k) of the model's responses; probabilities of a classifier."""
        responses = self.predictions.responses(X)
        if responses is None:
            raise ValueError(
                'scoring="r2" compares probabilities where the surrogate is a '
                f"classifier, and {self._why_no_probabilities()}: use "
                'scoring="accuracy", or a regressor as surrogate.'
            )
        return responses

    def _why_no_probabilities(self) -> str:
        if self.predictions.has_probabilities:
            return f"the model's response is {self.predictions.response.method!r}"
        return f"{type(self.predictions.surrogate).__name__} has no predict_proba"

    def _check_labels(self, labels: NDArray[Any] | None) -> NDArray[Any]:
        """Labels of the model; an error if model or surrogate have no labels."""
        model = self.predictions.response.estimator
        reason = self.predictions.why_no_labels()
        if not is_classifier(model):
            reason = f"{type(model).__name__} is no classifier"
        elif labels is None:
            reason = "the model has no predict"
        if labels is None or reason is not None:
            raise ValueError(f'scoring="accuracy" compares labels, but {reason}.')
        return labels

    def _sklearn_score(
        self,
        X: Any,
        weights: NDArray[np.float64],
        responses: NDArray[np.float64],
        labels: Any,
    ) -> Any:
        """A scikit-learn score, with the model's predictions as targets."""
        scorer = get_scorer(self.scoring)
        params = self._weight_params(scorer_takes_weights(scorer), weights)
        targets = squeeze_outputs(responses) if labels is None else labels
        score = call_scorer(scorer, self.inspector, X, targets, **params)
        return self._as_finite_number(score)

    def _callable_score(
        self,
        scoring: Callable[..., Any],
        targets: Any,
        predictions: Any,
        weights: NDArray[np.float64],
    ) -> float:
        """A user's score, with the model's predictions as targets."""
        params = self._weight_params(takes_weights(scoring), weights)
        return self._as_finite_number(scoring(targets, predictions, **params))

    def _weight_params(
        self, takes_weights: bool | None, weights: NDArray[np.float64]
    ) -> dict[str, Any]:
        if (weights == weights[0]).all():
            return {}
        if not takes_weights:
            raise ValueError(
                f"scoring={self.scoring!r} takes no sample_weight, and rows have "
                "different weights."
            )
        return {"sample_weight": weights}

    def _as_finite_number(self, score: float) -> float:
        number = as_number(score)
        if number is None:
            raise ValueError(f"scoring={self.scoring!r} must be a number; got {score}.")
        return number
