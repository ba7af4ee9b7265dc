"""The reader of each class of models."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sklearn import neighbors

from sklearn_interpret._model.formulas.formula import errors_in
from sklearn_interpret._model.formulas.formula_class import formula_class
from sklearn_interpret._model.training_weights.boosting import BOOSTING, read_boosting
from sklearn_interpret._model.training_weights.leaves import LEAF_MEANS, read_trees
from sklearn_interpret._model.training_weights.neighbors import read_neighbors
from sklearn_interpret._model.training_weights.smoothers import SMOOTHERS, read_smoother
from sklearn_interpret.exceptions import UnreadableModelError

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from sklearn_interpret._model.formulas.formula_class import ModelClass
    from sklearn_interpret._model.training_weights.base import (
        Reader,
        TrainingData,
        TrainingWeights,
    )

READERS: dict[ModelClass, Reader] = {
    neighbors.KNeighborsClassifier: read_neighbors,
    neighbors.KNeighborsRegressor: read_neighbors,
    neighbors.RadiusNeighborsClassifier: read_neighbors,
    neighbors.RadiusNeighborsRegressor: read_neighbors,
    **dict.fromkeys(LEAF_MEANS, read_trees),
    **dict.fromkeys(BOOSTING, read_boosting),
    **dict.fromkeys(SMOOTHERS, read_smoother),
}


def read_weights(model: BaseEstimator, data: TrainingData) -> TrainingWeights:
    """Weights of the training rows in a fitted model's predictions.

    Parameters
    ----------
    model : fitted predictor
        The last step of a pipeline.
    data : TrainingData
        The rows that it was fitted on.

    Returns
    -------
    TrainingWeights

    Raises
    ------
    UnreadableModelError
        The weights of the model are not known.
    """
    with errors_in(f"{type(model).__name__} can't be read"):
        known_class = formula_class(model, READERS)
        if known_class is None:
            raise UnreadableModelError(
                "no formula of its training weights is known: trees, forests, bagged "
                "trees, boosting of squared errors, nearest neighbours, least squares, "
                "ridge regression, Gaussian processes and additive models have one."
            )
        return READERS[known_class](model, data)
