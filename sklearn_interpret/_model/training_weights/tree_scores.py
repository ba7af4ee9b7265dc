"""Scores of models of trees, as functions of the weights of the training rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sklearn_interpret._core.influence.leaf_influence import (
    BoostedLeaves,
    LeafMeans,
    LeafScores,
)
from sklearn_interpret._core.statistics.score_losses import (
    Brier,
    HalfSquared,
    Loss,
    Softmax,
)
from sklearn_interpret._model.formulas.formula import errors_in
from sklearn_interpret._model.formulas.formula_class import formula_class
from sklearn_interpret._model.formulas.trees.tree_response import (
    read_trees as read_tree_model,
)
from sklearn_interpret._model.responses.predictors import is_classifier
from sklearn_interpret._model.rows.arrays import as_rows
from sklearn_interpret._model.training_weights.boosting import (
    BOOSTING,
    leaves_of,
    read_stages,
)
from sklearn_interpret._model.training_weights.leaves import LEAF_MEANS, read_trees

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from sklearn_interpret._model.rows.base import Rows
    from sklearn_interpret._model.training_weights.base import TrainingData


@dataclass(frozen=True, eq=False)
class TreeScores:
    """Scores of a model of trees, by the leaves of rows.

    Parameters
    ----------
    leaf_scores : LeafScores
        Scores of rows in leaves.
    leaves_of : callable
        Leaves (m, n_trees) of rows.
    n_outputs : int
        Number of scores, k.
    """

    leaf_scores: LeafScores
    leaves_of: Callable[[Rows], NDArray[np.integer]]
    n_outputs: int

    @property
    def width(self) -> int:
        """Number of scores."""
        return self.n_outputs

    def activations(self, X: Any) -> list[NDArray[Any]]:
        """The leaves of rows, and their scores."""
        leaves = self.leaves_of(as_rows(X))
        return [leaves, self.leaf_scores.scores(leaves)]


def is_tree_model(model: BaseEstimator) -> bool:
    """Whether a fitted model is one of trees that can be read."""
    return formula_class(model, [*LEAF_MEANS, *BOOSTING]) is not None


def read_tree_scores(
    model: BaseEstimator, data: TrainingData
) -> tuple[TreeScores, Loss]:
    """Scores of a fitted model of trees, and the loss that they are explained with.

    Raises
    ------
    UnreadableModelError
        The values of its leaves are not known.
    """
    with errors_in(f"{type(model).__name__} can't be read"):
        targets = data.targets
        if is_classifier(model) and targets.shape[1] == 2:
            targets = targets[:, 1:]
        if formula_class(model, BOOSTING) is None:
            leaves = read_trees(model, data)
            means = LeafMeans(leaves.shares, targets)
            loss = Brier() if is_classifier(model) else HalfSquared()
            return TreeScores(means, leaves.leaves, targets.shape[1]), loss
        trees, stages = read_stages(model, data)
        boosted = BoostedLeaves(stages, targets)
        scores = TreeScores(boosted, partial(leaves_of, trees), stages.n_outputs)
        return scores, stages.rules.loss


def own_scores(model: BaseEstimator, X: Any, loss: Loss) -> NDArray[np.float64]:
    """Scores (m, k) of rows by the methods of a fitted model of trees.

    Scores of the softmax are centred: it does not know their mean.
    """
    if formula_class(model, BOOSTING) is not None:
        return centred(read_tree_model(model).raw_response(model, X), loss)
    if is_classifier(model):
        probabilities = model.predict_proba(X)
        return probabilities[:, 1:] if probabilities.shape[1] == 2 else probabilities
    predictions = np.asarray(model.predict(X))
    return predictions.reshape(len(predictions), -1)


def centred(scores: NDArray[np.float64], loss: Loss) -> NDArray[np.float64]:
    """Scores (m, k), those of the softmax without their mean, which has no effect."""
    if isinstance(loss, Softmax):
        return scores - scores.mean(axis=1, keepdims=True)
    return scores
