"""Trees, forests and gradient boosting of scikit-survival, without importing it.

A node of a survival tree has the cumulative hazard and the survival function at all
times of the training rows. A private name, confined to this module: the weights of
trees that were boosted with dropout (`_scale`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from sklearn_interpret._model.formulas.formula_class import ModelClass, formula_class
from sklearn_interpret._model.formulas.trees._sklearn_combined import read_pipeline
from sklearn_interpret._model.formulas.trees._sklearn_trees import (
    mean_of_trees,
    plain_model,
    tree_of,
)
from sklearn_interpret._model.formulas.trees.tree_model import (
    Reader,
    TreeModel,
    response_fields,
)
from sklearn_interpret._model.responses.predictors import unfrozen
from sklearn_interpret.exceptions import UnreadableModelError

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

_TREES: tuple[ModelClass, ...] = (
    ("sksurv", "SurvivalTree"),
    ("sksurv", "RandomSurvivalForest"),
    ("sksurv", "ExtraSurvivalTrees"),
)

# Position of the functions of time among the values of a node.
_FUNCTIONS = {"cumulative_hazard": 0, "survival": 1}


def _members(model: BaseEstimator) -> list[BaseEstimator]:
    """The trees of a forest, or a tree itself."""
    return getattr(model, "estimators_", [model])


def _risks_of_nodes(tree: BaseEstimator) -> NDArray[np.float64]:
    """Risk scores (n_nodes, 1): cumulative hazards, summed over the times of events."""
    value = tree.tree_.value
    if tree.low_memory:  # the sums alone were stored
        return value[:, :, 0]
    return value[:, tree.is_event_time_, 0].sum(axis=1, keepdims=True)


def _read_trees(model: BaseEstimator, _: object) -> TreeModel:
    """The risk score of a survival tree, or of a forest."""
    check_is_fitted(model)
    return mean_of_trees(model, _members(model), _risks_of_nodes)


def _read_boosting(model: BaseEstimator, _: object) -> TreeModel:
    """The risk score of gradient boosting, or the logarithm of its predicted time."""
    check_is_fitted(model)
    members = model.estimators_[:, 0]
    weights = model.learning_rate * getattr(model, "_scale", np.ones(len(members)))
    trees = [
        tree_of(member, weight * member.tree_.value[:, :, 0])
        for member, weight in zip(members, weights, strict=True)
    ]
    is_risk = model.loss == "coxph"
    fields = response_fields(model, "identity" if is_risk else "exp")
    raw_method = "predict" if is_risk else None
    return plain_model(model, trees, np.zeros(1), raw_method, **fields)


def _read_functions(
    survival_model: BaseEstimator, _: Callable[[BaseEstimator], TreeModel]
) -> TreeModel:
    """The survival or cumulative hazard function of trees, at some times."""
    check_is_fitted(survival_model)
    function = _FUNCTIONS[survival_model.response_method]
    times = survival_model.times_

    def outputs_of(tree: BaseEstimator) -> NDArray[np.float64]:
        # As sksurv's StepFunction: the value of the last step up to a time.
        steps = np.searchsorted(tree.unique_times_, times, side="right") - 1
        return tree.tree_.value[:, np.maximum(steps, 0), function]

    def read(model: BaseEstimator) -> TreeModel:
        model = unfrozen(model)
        known_class = formula_class(model, (Pipeline, *_TREES))
        if known_class is Pipeline:
            return read_pipeline(model, read)
        if known_class is None:
            raise UnreadableModelError(
                f"the functions of {type(model).__name__} are not averages of trees."
            )
        return mean_of_trees(model, _members(model), outputs_of)

    return read(survival_model.estimator_)


def _read_scored(
    scored: BaseEstimator, read: Callable[[BaseEstimator], TreeModel]
) -> TreeModel:
    """A model within one of sksurv's wrappers for scores."""
    check_is_fitted(scored)
    return read(scored.estimator_)


READERS: dict[ModelClass, Reader] = {
    **dict.fromkeys(_TREES, _read_trees),
    ("sksurv", "GradientBoostingSurvivalAnalysis"): _read_boosting,
    ("sksurv", "as_concordance_index_ipcw_scorer"): _read_scored,
    ("sksurv", "as_cumulative_dynamic_auc_scorer"): _read_scored,
    ("sksurv", "as_integrated_brier_score_scorer"): _read_scored,
    ("sklearn_interpret", "SurvivalModel"): _read_functions,
}
