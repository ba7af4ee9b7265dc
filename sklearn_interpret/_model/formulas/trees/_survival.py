"""Trees, forests and gradient boosting of scikit-survival, without importing it.

A node of a survival tree has the cumulative hazard and the survival function at all
times of the training rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from sklearn_interpret._model.formulas.formula_class import ModelClass, formula_class
from sklearn_interpret._model.formulas.trees._sklearn_boosting import read_boosting
from sklearn_interpret._model.formulas.trees._sklearn_combined import read_pipeline
from sklearn_interpret._model.formulas.trees._sklearn_trees import mean_of_trees
from sklearn_interpret._model.formulas.trees.tree_model import Reader, TreeModel
from sklearn_interpret._model.responses.predictors import unfrozen
from sklearn_interpret.exceptions import UnreadableModelError

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

_NAMES = "SurvivalTree", "RandomSurvivalForest", "ExtraSurvivalTrees"
_TREES: list[ModelClass] = [("sksurv", name) for name in _NAMES]


def _members(model: BaseEstimator) -> list[BaseEstimator]:
    """The trees of a forest, or a tree itself."""
    check_is_fitted(model)
    return getattr(model, "estimators_", [model])


def _risks_of_nodes(tree: BaseEstimator) -> NDArray[np.float64]:
    """Risk scores (n_nodes, 1): cumulative hazards, summed over the times of events."""
    value = tree.tree_.value
    if tree.low_memory:  # the sums alone were stored
        return value[:, :, 0]
    return value[:, tree.is_event_time_, 0].sum(axis=1, keepdims=True)


def _read_trees(model: BaseEstimator, _: object) -> TreeModel:
    return mean_of_trees(model, _members(model), _risks_of_nodes)


def _read_boosting(
    model: BaseEstimator, read: Callable[[BaseEstimator], TreeModel]
) -> TreeModel:
    """The risk score, or the predicted time and the sum that is its logarithm."""
    trees = read_boosting(model, read)
    is_risk = model.loss == "coxph"
    return trees if is_risk else replace(trees, raw_method=None, link="exp")


def _read_functions(model: BaseEstimator, _: object) -> TreeModel:
    """The survival or cumulative hazard function of trees, at some times."""
    check_is_fitted(model)
    # Position among the values of a node.
    function = int(model.response_method == "survival")

    def outputs_of(tree: BaseEstimator) -> NDArray[np.float64]:
        # As sksurv's StepFunction: the value of the last step up to a time.
        steps = np.searchsorted(tree.unique_times_, model.times_, side="right") - 1
        return tree.tree_.value[:, np.maximum(steps, 0), function]

    def read(inner: BaseEstimator) -> TreeModel:
        inner = unfrozen(inner)
        known_class = formula_class(inner, (Pipeline, *_TREES))
        if known_class is Pipeline:
            return read_pipeline(inner, read)
        if known_class is None:
            name = type(inner).__name__
            raise UnreadableModelError(f"functions of {name} are no means of trees.")
        return mean_of_trees(inner, _members(inner), outputs_of)

    return read(model.estimator_)


READERS: dict[ModelClass, Reader] = {
    **dict.fromkeys(_TREES, _read_trees),
    ("sksurv", "GradientBoostingSurvivalAnalysis"): _read_boosting,
    ("sklearn_interpret", "SurvivalModel"): _read_functions,
}
