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
from sklearn_interpret._model.responses.scoring import as_number, scored, takes_weights
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
        surrogate, scoring = self.predictions, self.scoring
        if scoring == "accuracy":
            model_labels = self._comparable(labels)
            return agreement(model_labels, surrogate.predictions(rows.native), weights)
        if isinstance(scoring, str) and scoring != "r2":
            return self._scored(rows, weights, responses, labels)
        if callable(scoring) and surrogate.predicts_labels:
            predictions = surrogate.predictions(rows.native)
            return self._compared(scoring, labels, predictions, weights)
        predictions = surrogate.responses(rows.native)
        if predictions is None:
            raise ValueError(
                'scoring="r2" compares probabilities where the surrogate is a '
                f"classifier, and {self._without_probabilities()}: use "
                'scoring="accuracy", or a regressor as surrogate.'
            )
        if callable(scoring):
            return self._compared(
                scoring,
                squeeze_outputs(responses),
                squeeze_outputs(predictions),
                weights,
            )
        return mean_r_squared(responses, predictions, weights)

    def _without_probabilities(self) -> str:
        if self.predictions.has_probabilities:
            return f"the model's response is {self.predictions.response.method!r}"
        return f"{type(self.predictions.surrogate).__name__} has no predict_proba"

    def _comparable(self, labels: NDArray[Any] | None) -> NDArray[Any]:
        model = self.predictions.response.estimator
        reason = self.predictions.why_no_labels()
        if not is_classifier(model):
            reason = f"{type(model).__name__} is no classifier"
        elif labels is None:
            reason = "the model has no predict"
        if labels is None or reason is not None:
            raise ValueError(f'scoring="accuracy" compares labels, but {reason}.')
        return labels

    def _scored(
        self,
        rows: Rows,
        weights: NDArray[np.float64],
        responses: NDArray[np.float64],
        labels: Any,
    ) -> Any:
        """A scikit-learn score, with the model's predictions as targets."""
        scorer = get_scorer(self.scoring)
        params = self._weights_for(scorer_takes_weights(scorer), weights)
        targets = squeeze_outputs(responses) if labels is None else labels
        score = scored(scorer, self.inspector, rows.native, targets, **params)
        return self._checked(score)

    def _compared(
        self,
        scoring: Callable[..., Any],
        answers: Any,
        predictions: Any,
        weights: NDArray[np.float64],
    ) -> float:
        """A score of the surrogate's predictions, against the model's answers."""
        params = self._weights_for(takes_weights(scoring), weights)
        return self._checked(scoring(answers, predictions, **params))

    def _weights_for(
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

    def _checked(self, score: float) -> float:
        number = as_number(score)
        if number is None:
            raise ValueError(f"scoring={self.scoring!r} must be a number; got {score}.")
        return number
