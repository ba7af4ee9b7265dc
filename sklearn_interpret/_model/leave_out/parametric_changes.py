"""Changes of scores with parameters: Newton steps without some training rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from sklearn_interpret._core.influence.networks import minimise_objective
from sklearn_interpret._core.influence.score_models import (
    Deletions,
    PickledWithoutCaches,
)
from sklearn_interpret._model.gradients import objectives
from sklearn_interpret._model.leave_out.score_changes import ScoreChanges
from sklearn_interpret._model.responses.predictors import weight_parameter
from sklearn_interpret._model.rows.base import copy_of

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from sklearn_interpret._model.gradients.objectives import Objective
    from sklearn_interpret._model.rows.sample import Sample

# Newton steps end when a step is below this share of the change so far. Chosen by hand:
# what remains is far below the differences between influential rows.
_PRECISION = 0.02
# Parameters of the refits, where the model has them.
_PRECISE_FIT = {"tol": 1e-8, "max_iter": 100_000}


@dataclass(frozen=True, eq=False)
class ParametricChanges(PickledWithoutCaches, ScoreChanges):
    """The optimum of a model, and changes of its parameters without each deletion.

    Parameters
    ----------
    parameters : ndarray of shape (n_parameters,)
        Parameters at the optimum.
    deletions : Deletions, or ndarray of shape (n_deletions, n_parameters)
        Their changes.
    distance : float
        Of the fitted parameters from the optimum.
    value_and_gradient : callable or None
        The objective of a network.
    """

    scored_model: Objective
    inputs: NDArray[np.float64]
    weights: NDArray[np.float64]
    deletion_of_row: NDArray[np.intp]
    parameters: NDArray[np.float64]
    deletions: Any
    distance: float
    value_and_gradient: Callable[..., Any] | None = None

    @cached_property
    def parameter_changes(self) -> NDArray[np.float64]:
        deletions = self.deletions
        if not isinstance(deletions, Deletions):
            return deletions
        # The last parameter is the intercept: it is zero if the model has none. The
        # scale of residuals comes after the scores.
        n, k = len(deletions.converged), self.scored_model.score_function.n_outputs
        table = np.zeros((n, self.inputs.shape[1] + 1, k))
        table[:, : deletions.changes.shape[1]] = deletions.changes[..., :k]
        return table.reshape(n, -1)

    def scores(self, inputs: NDArray[Any]) -> NDArray[np.float64]:
        score_function = self.scored_model.score_function
        return score_function.scores_at(inputs, self.parameters[None])[:, 0]

    def changes(
        self, inputs: NDArray[Any], deletions: Any = slice(None)
    ) -> NDArray[np.float64]:
        score_function = self.scored_model.score_function
        if isinstance(score_function, objectives.LinearLayer):
            has_intercept = inputs.shape[1] < len(self.deletions.model.parameters)
            design = objectives.with_ones(inputs) if has_intercept else inputs
            changes = self.deletions.score_changes(design, deletions)
            return changes[..., : score_function.n_outputs]
        changes_of = score_function.score_changes(
            self.parameters, self.deletions[deletions]
        )
        return changes_of(inputs)

    def own_changes(self) -> NDArray[np.float64]:
        changes = self.parameter_changes[self.deletion_of_row]
        score_function = self.scored_model.score_function
        changed = score_function.scores_by_row(self.inputs, self.parameters + changes)
        return changed - self.scores(self.inputs)

    def losses_after_refit(
        self, mask: NDArray[np.bool_], y: NDArray[Any], weights: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        objective, inputs = self.scored_model, self.inputs
        self.check_keeps_classes(mask, y)
        targets = objective.targets(y)
        if self.value_and_gradient is not None:  # descends from where it is
            parameters = minimise_objective(
                self.value_and_gradient, self.parameters, weights * mask
            )
            scores = objective.score_function.scores_at(inputs, parameters[None])[:, 0]
            return objective.loss.values(targets, scores)
        refit = clone(objective.model)
        accepted = refit.get_params(deep=False)
        refit.set_params(
            **{name: _PRECISE_FIT[name] for name in _PRECISE_FIT if name in accepted}
        )
        params = {}
        if np.ptp(weights) > 0:
            params = {str(weight_parameter(refit)): weights[mask]}
        refit.fit(inputs[mask], y[mask], **params)
        return objective.loss.values(
            targets, objectives.read_objective(refit).activations(inputs)[-1]
        )


def read_parametric_changes(
    estimator: BaseEstimator,
    sample: Sample,
    deletion_of_row: NDArray[np.intp],
    damping: float,
) -> ParametricChanges:
    """Changes of a fitted linear model or network.

    Parameters
    ----------
    estimator : fitted estimator
        The model, at the end of a pipeline perhaps.
    sample : Sample
        The training rows.
    deletion_of_row : ndarray of shape (n_rows,)
        The deletion that removes each row.
    damping : float
        Penalty of the distance from the parameters of all rows.
    """
    objective = objectives.read_objective(estimator)
    if not hasattr(objective.model, "coefs_"):
        return _linear_changes(estimator, objective, sample, deletion_of_row, damping)
    distance, model = objectives.network_model(
        estimator, sample.rows.native, sample.y, sample.weights, damping
    )
    return ParametricChanges(
        objective,
        objective.activations(sample.rows.native)[0],
        model.weights,
        deletion_of_row,
        model.parameters,
        model.changes_without(_deleted_rows(deletion_of_row)),
        distance,
        model.value_and_gradient,
    )


def _linear_changes(
    estimator: BaseEstimator,
    objective: Objective,
    sample: Sample,
    deletion_of_row: NDArray[np.intp],
    damping: float,
) -> ParametricChanges:
    """Changes of a model of linear scores."""
    X = sample.rows.native
    if not objective.model.fit_intercept:  # the table would be that of the caller
        X = copy_of(X)
    model = objectives.score_model_at_optimum(estimator, X, sample.y, sample.weights)
    # d parameters of each of k outputs.
    d, k = len(model.parameters), objective.score_function.n_outputs
    # The scale of the residuals is fitted with the scores, but is no parameter.
    fitted = model.parameters.copy()
    fitted[:, :k] = objective.score_function.parameters.reshape(-1, k)[:d]
    distance = model.distance(fitted)
    if damping:
        model = replace(model, damping=damping)
    deletions = model.deletions(_deleted_rows(deletion_of_row), _PRECISION)
    objectives.check_converged(objective.model, deletions.converged)
    n_inputs = objective.score_function.parameters.size // k - 1
    # The last parameter is the intercept: it is zero if the model has none.
    parameters = np.zeros((n_inputs + 1, k))
    parameters[:d] = model.parameters[:, :k]
    return ParametricChanges(
        objective,
        model.design[:, :n_inputs],
        model.weights,
        deletion_of_row,
        parameters.ravel(),
        deletions,
        distance,
    )


def _deleted_rows(deletion_of_row: NDArray[np.intp]) -> Any:
    """Positions of the rows that each deletion removes together."""
    if np.array_equal(deletion_of_row, np.arange(len(deletion_of_row))):
        return deletion_of_row[:, None]
    order = np.argsort(deletion_of_row, kind="stable")
    return np.split(order, np.cumsum(np.bincount(deletion_of_row))[:-1])
