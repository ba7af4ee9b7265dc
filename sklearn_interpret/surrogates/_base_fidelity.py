"""How closely a surrogate of all rows follows its model, by whatever measure."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sklearn.metrics import get_scorer

from sklearn_interpret._core.statistics.losses import agreement, r_squared
from sklearn_interpret._model._sklearn_compat import scorer_takes_weights
from sklearn_interpret._model.scoring import as_number, takes_weights
from sklearn_interpret._model.surrogates.surrogate_predictions import (
    SurrogatePredictions,
    squeeze_outputs,
)
from sklearn_interpret._model.tags import is_classifier


@dataclass(frozen=True)
class Fidelity:
    """Compares what a surrogate answers with what its model does.

    Parameters
    ----------
    scoring : str or callable
        As :class:`~sklearn_interpret.surrogates.GlobalSurrogate` takes it.
    predictions : SurrogatePredictions
        Those of the surrogate.
    inspector : estimator
        What scikit-learn's scorers ask: its `predict` is the surrogate's.
    """

    scoring: str | Callable
    predictions: SurrogatePredictions
    inspector: Any

    def measure(self, rows, weights, answers, labels):
        """Fidelity on rows.

        Parameters
        ----------
        rows : Rows
            The rows.
        weights : ndarray of shape (n,)
            Their weights.
        answers : ndarray of shape (n, k)
            The model's responses to them.
        labels : ndarray of shape (n,) or (n, k), or None
            What the model predicts, where that is labels.

        Returns
        -------
        float

        Raises
        ------
        ValueError
            The measure does not suit what the surrogate was fitted to, or is no number.
        """
        surrogate, scoring = self.predictions, self.scoring
        if scoring == "accuracy":
            self._refuse_accuracy(labels)
            return agreement(labels, surrogate.predictions(rows.native), weights)
        if isinstance(scoring, str) and scoring != "r2":
            return self._scored(rows, weights, answers, labels)
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
                squeeze_outputs(answers), squeeze_outputs(mine), weights
            )
        return float(r_squared(answers, mine, weights).mean())

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

    def _scored(self, rows, weights, answers, labels):
        """The score of a scorer whose targets are the model's predictions."""
        scorer = get_scorer(self.scoring)
        params = self._weights_for(scorer_takes_weights(scorer), weights)
        targets = squeeze_outputs(answers) if labels is None else labels
        return self._checked(scorer(self.inspector, rows.native, targets, **params))

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

    def _checked(self, found):
        number = as_number(found)
        if number is None:
            raise ValueError(f"scoring={self.scoring!r} must be a number; got {found}.")
        return number
