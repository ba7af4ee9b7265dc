"""Fidelity of a global surrogate, by any score."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sklearn.metrics import get_scorer

from sklearn_interpret._core.statistics.losses import agreement, mean_r_squared
from sklearn_interpret._model._sklearn_compat import scorer_takes_weights
from sklearn_interpret._model.responses.predictors import is_classifier
from sklearn_interpret._model.responses.scoring import as_number, scored, takes_weights
from sklearn_interpret._model.surrogates.surrogate_predictions import (
    SurrogatePredictions,
    squeeze_outputs,
)


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

    scoring: str | Callable
    predictions: SurrogatePredictions
    inspector: Any

    def measure(self, rows, weights, responses, labels):
        """Fidelity on rows with weights (n,), responses (n, k) and labels of the model.

        Labels are None if the model predicts none.
        """
        surrogate, scoring = self.predictions, self.scoring
        if scoring == "accuracy":
            self._refuse_accuracy(labels)
            return agreement(labels, surrogate.predictions(rows.native), weights)
        if isinstance(scoring, str) and scoring != "r2":
            return self._scored(rows, weights, responses, labels)
        if callable(scoring) and surrogate.predicts_labels:
            return self._compared(labels, surrogate.predictions(rows.native), weights)
        mine = surrogate.responses(rows.native)
        if mine is None:
            raise ValueError(
                'scoring="r2" compares probabilities where the surrogate is a '
                f"classifier, and {self._without_probabilities()}: use "
                'scoring="accuracy", or a regressor as surrogate.'
            )
        if callable(scoring):
            return self._compared(
                squeeze_outputs(responses), squeeze_outputs(mine), weights
            )
        return mean_r_squared(responses, mine, weights)

    def _without_probabilities(self):
        if self.predictions.has_probabilities:
            return f"the model's response is {self.predictions.response.method!r}"
        return f"{type(self.predictions.surrogate).__name__} has no predict_proba"

    def _refuse_accuracy(self, labels):
        model = self.predictions.response.estimator
        why = self.predictions.why_no_labels()
        if not is_classifier(model):
            why = f"{type(model).__name__} is no classifier"
        elif labels is None:
            why = "the model has no predict"
        if why is not None:
            raise ValueError(f'scoring="accuracy" compares labels, but {why}.')

    def _scored(self, rows, weights, responses, labels):
        """A scikit-learn score, with the model's predictions as targets."""
        scorer = get_scorer(self.scoring)
        params = self._weights_for(scorer_takes_weights(scorer), weights)
        targets = squeeze_outputs(responses) if labels is None else labels
        score = scored(scorer, self.inspector, rows.native, targets, **params)
        return self._checked(score)

    def _compared(self, of_model, of_surrogate, weights):
        params = self._weights_for(takes_weights(self.scoring), weights)
        return self._checked(self.scoring(of_model, of_surrogate, **params))

    def _weights_for(self, taken, weights):
        if (weights == weights[0]).all():
            return {}
        if not taken:
            raise ValueError(
                f"scoring={self.scoring!r} takes no sample_weight, and rows have "
                "different weights."
            )
        return {"sample_weight": weights}

    def _checked(self, score):
        number = as_number(score)
        if number is None:
            raise ValueError(f"scoring={self.scoring!r} must be a number; got {score}.")
        return number
