"""Check that weighted sums of the training targets are a model's predictions."""

import numpy as np
from sklearn.base import BaseEstimator

from sklearn_interpret._model.rows.base import copy_of
from sklearn_interpret._model.training_weights.base import TrainingData, TrainingWeights
from sklearn_interpret.exceptions import UnreadableModelError

# Training rows that are compared.
_N_ROWS = 32
# Largest differences: in standard deviations of the targets, which iterative solvers
# leave, and relative to the targets, which some libraries store in single precision.
_OF_DEVIATION, _OF_SIZE = 1e-3, 1e-6


def check_agreement(
    weights: TrainingWeights, model: BaseEstimator, data: TrainingData
) -> TrainingWeights:
    """The weights; an UnreadableModelError if they do not give the predictions.

    They do not where a model was fitted on other rows, or by other rules.
    """
    n = data.rows.n_rows
    index = np.unique(np.linspace(0, n - 1, min(_N_ROWS, n)).astype(np.intp))
    rows, targets = data.rows.take(index), data.targets
    sums = weights.offset + weights.weights(rows) @ (targets - weights.offset)
    difference = np.abs(sums - model.predict(copy_of(rows.native)).reshape(sums.shape))
    allowed = _OF_DEVIATION * targets.std(axis=0) + _OF_SIZE * np.abs(targets).max()
    if not (difference <= allowed).all():
        raise UnreadableModelError(
            f"sums of the targets miss its predictions by {difference.max():.2g}: "
            "other rows, targets or weights trained it, or its solver stopped early."
        )
    return weights
