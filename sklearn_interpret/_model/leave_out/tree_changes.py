"""Changes of the scores of trees at fixed structure, without some training rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.base import clone

from sklearn_interpret._model.gradients.objectives import (
    ScoredModel,
    best_steps_and_model,
)
from sklearn_interpret._model.leave_out.score_changes import ScoreChanges
from sklearn_interpret._model.leave_out.training import transform_by_steps
from sklearn_interpret._model.progress import with_progress
from sklearn_interpret._model.responses.predictors import (
    is_classifier,
    weight_parameter,
)
from sklearn_interpret._model.rows.arrays import as_rows
from sklearn_interpret._model.training_weights.agreement import (
    are_missed,
    refuse_other_rows,
    rows_to_check,
)
from sklearn_interpret._model.training_weights.base import TrainingData
from sklearn_interpret._model.training_weights.tree_scores import (
    centred,
    own_scores,
    read_tree_scores,
)
from sklearn_interpret.exceptions import UnreadableModelError

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from sklearn_interpret._core.influence.leaf_influence import LeafScores
    from sklearn_interpret._model.rows.base import Rows
    from sklearn_interpret._model.rows.sample import Sample


@dataclass(frozen=True, eq=False)
class TreeChanges(ScoreChanges):
    """Changes to first order; the values of leaves change, the splits stay.

    Parameters
    ----------
    leaf_scores : LeafScores
        Scores of rows in leaves.
    deleted : sparse array (n_deletions, n_all)
        Ones for the rows that each deletion removes; rows without weight are counted.
    rows : Rows
        The training rows, as the model gets them.
    """

    scored_model: ScoredModel
    inputs: NDArray[np.integer]
    weights: NDArray[np.float64]
    deletion_of_row: NDArray[np.intp]
    leaf_scores: LeafScores
    deleted: csr_array
    rows: Rows

    def scores(self, inputs: NDArray[Any]) -> NDArray[np.float64]:
        return self.leaf_scores.scores(inputs)

    def changes(
        self, inputs: NDArray[Any], deletions: Any = slice(None)
    ) -> NDArray[np.float64]:
        return self.leaf_scores.changes(inputs, self.deleted[deletions])

    def own_changes(self) -> NDArray[np.float64]:
        n = len(self.inputs)
        own = np.empty((n, self.scored_model.score_function.n_outputs))
        for block in with_progress(list(self.row_blocks(n, self.n_deletions))):
            changes = self.changes(self.inputs[block])
            own[block] = changes[np.arange(len(changes)), self.deletion_of_row[block]]
        return own

    def deletion_blocks(self, n_rows: int) -> Iterator[slice]:
        # One deletion takes as long as all.
        return self._blocks(self.n_deletions, n_rows, np.inf)

    def losses_after_refit(
        self, mask: NDArray[np.bool_], y: NDArray[Any], weights: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        self.check_keeps_classes(mask, y)
        refit, loss, params = clone(self.scored_model.model), self.scored_model.loss, {}
        if (weights != 1).any():
            params = {str(weight_parameter(refit)): weights[mask]}
        refit.fit(self.rows.take(np.flatnonzero(mask)).native, y[mask], **params)
        scores = own_scores(refit, self.rows.native, loss)
        return loss.values(self.scored_model.targets(y), scores)


def read_tree_changes(
    estimator: BaseEstimator,
    training: Sample,
    sample: Sample,
    deletion_of_row: NDArray[np.intp],
) -> TreeChanges:
    """Changes of a fitted model of trees.

    Parameters
    ----------
    estimator : fitted estimator
        The model, at the end of a pipeline perhaps.
    training : Sample
        All rows that the model was fitted on: random draws are from them.
    sample : Sample
        The rows of positive weight.
    deletion_of_row : ndarray of shape (n_rows,)
        The deletion that removes each row of the sample.
    """
    steps, model = best_steps_and_model(estimator)
    rows = as_rows(transform_by_steps(steps, training.rows.native))
    data = TrainingData(rows, _targets(model, training), training.weights)
    score_function, loss = read_tree_scores(model, data)
    classes = model.classes_ if is_classifier(model) else None
    scored = ScoredModel(score_function, loss, model, classes, steps)
    _check_scores(scored, data)
    n_deletions, n_all = deletion_of_row.max() + 1, rows.n_rows
    positions = deletion_of_row, sample.index
    rows = rows if sample.rows.n_rows == n_all else rows.take(sample.index)
    return TreeChanges(
        scored,
        score_function.leaves_of(rows),
        sample.weights,
        deletion_of_row,
        score_function.leaf_scores,
        csr_array((np.ones(rows.n_rows), positions), shape=(n_deletions, n_all)),
        rows,
    )


def _targets(model: BaseEstimator, training: Sample) -> NDArray[np.float64]:
    """Targets (n, k), of a classifier indicators of its classes; these have rows."""
    targets = training.y.reshape(training.rows.n_rows, -1)
    if not is_classifier(model):
        return targets.astype(np.float64)
    name = type(model).__name__
    if targets.shape[1] > 1:
        raise UnreadableModelError(f"{name} can't be read: it has columns of labels.")
    indicators = (targets == model.classes_).astype(np.float64)
    n_weighted = np.count_nonzero(training.weights @ indicators)
    n_needed = max(2, len(model.classes_))
    if n_weighted < n_needed:
        raise ValueError(
            f"Rows of positive weight are of {n_weighted} "
            f"class{'es' if n_weighted > 1 else ''}: the {name} needs rows of all "
            f"{n_needed}."
        )
    return indicators


def _check_scores(scored: ScoredModel, data: TrainingData) -> None:
    """Refuse leaf values that do not give the model's own scores of training rows."""
    checked, loss = rows_to_check(data.rows).native, scored.loss
    expected = own_scores(scored.model, checked, loss)
    scores = centred(scored.score_function.activations(checked)[-1], loss)
    size = np.abs(expected) + np.abs(data.targets).mean()
    if are_missed(scored.model, scores, expected, size, expected.std(axis=0)).any():
        refuse_other_rows(scored.model, "values of leaves by the rows")
