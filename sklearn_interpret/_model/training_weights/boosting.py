"""Weights of the training targets in trees boosted on squared error.

Private names of scikit-learn, confined to this module: the seed of the held-out rows of
HistGradientBoosting (`_random_seed`). That a tree draws one number after the rows of
its stage is private, too.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import GradientBoostingRegressor, HistGradientBoostingRegressor
from sklearn.model_selection import train_test_split

from sklearn_interpret._core.influence.boosting_weights import (
    BoostingRules,
    BoostingStages,
)
from sklearn_interpret._model._sklearn_compat import random_sample_mask
from sklearn_interpret._model.formulas.formula_class import (
    ModelClass,
    computes_as,
    formula_class,
)
from sklearn_interpret._model.formulas.trees.tree_model import TreeModel
from sklearn_interpret._model.formulas.trees.tree_response import read_trees
from sklearn_interpret._model.rows.base import Rows
from sklearn_interpret._model.training_weights.base import TrainingData, TrainingWeights
from sklearn_interpret.exceptions import UnreadableModelError

# Trees draw the seed of their splitter below this number.
_MOST_SEED = 0x7FFFFFFF

# Settings of other libraries with which leaves are regularised means of residuals.
_XGBOOST = (
    "objective=reg:squarederror booster=gbtree num_parallel_tree=1 subsample=1 alpha=0 "
    "max_delta_step=0 monotone_constraints=()"
)
_LIGHTGBM = (
    "objective=regression boosting=gbdt data_sample_strategy=bagging "
    "bagging_fraction=1 lambda_l1=0 max_delta_step=0 path_smooth=0 linear_tree=0 "
    "use_quantized_grad=0 monotone_constraints= reg_sqrt=0"
)


@dataclass(frozen=True, eq=False)
class BoostingWeights(TrainingWeights):
    """Weights of the training targets in a sum of boosted trees."""

    trees: TreeModel
    columns: NDArray[np.intp]  # the trees that average residuals
    stages: BoostingStages
    offset: float = 0.0

    @property
    def row_bytes(self) -> int:
        # Weights, those of a block with a product, and the row and leaves of the trees.
        ensemble = self.trees.ensemble
        n = len(self.stages.rules.weights)
        return 8 * (4 * n + ensemble.n_features + 2 * ensemble.n_trees)

    def weights(self, rows: Rows) -> NDArray[np.float64]:
        return self.stages.target_weights(_leaves(self.trees, rows)[:, self.columns])


def read_boosting(model: BaseEstimator, data: TrainingData) -> TrainingWeights:
    """Read the weights of the targets in a fitted model of boosted trees.

    Raises
    ------
    UnreadableModelError
        If its leaves are not regularised means of residuals, or if rows that it held
        out cannot be told.
    """
    key = formula_class(model, BOOSTING)
    if key is None:
        raise UnreadableModelError("it does not boost trees on squared error.")
    trees = read_trees(model)
    rules = BOOSTING[key](model, data, trees)
    has_splits = ~trees.ensemble.is_leaf[trees.ensemble.roots]
    columns = np.flatnonzero(has_splits | rules.roots_average)
    leaves = _leaves(trees, data.rows)[:, columns].T
    leaves = leaves.astype(np.min_scalar_type(leaves.max(initial=0)))
    stages = BoostingStages(leaves, rules)
    return BoostingWeights(trees, columns, stages, rules.start or 0.0)


def _leaves(trees: TreeModel, rows: Rows) -> NDArray[np.intp]:
    """Leaves of rows (m, n_trees), counted within each tree."""
    return trees.ensemble.apply(trees.encode(rows.native)) - trees.ensemble.roots


def _check_settings(settings: dict[str, Any], readable: str) -> None:
    """Raise an UnreadableModelError unless settings are as in "name=value name=value".

    Settings that a version does not have are as they should be.
    """
    for name, _, value in (text.partition("=") for text in readable.split()):
        if settings.get(name, value) != value:
            raise UnreadableModelError(
                f"of {name}={settings[name]!r}: weights are known for {value!r}."
            )


def _integer_seed(model: BaseEstimator) -> int:
    """The seed by which a model draws rows; an error if it has none."""
    if not isinstance(model.random_state, Integral):
        raise UnreadableModelError("its random rows need an integer random_state.")
    return int(model.random_state)


def _hold_out(
    weights: NDArray[np.float64], share: float, seed: int
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Rows that are left, in order, and weights: zero for rows that are held out."""
    index = np.arange(len(weights))
    index, held_out = train_test_split(index, test_size=share, random_state=seed)
    weights = weights.copy()
    weights[held_out] = 0
    return index, weights


def _read_gradient_boosting(
    model: GradientBoostingRegressor, data: TrainingData, trees: TreeModel
) -> BoostingRules:
    _check_settings(vars(model), "loss=squared_error")
    start = model.init_
    if computes_as(start, DummyRegressor):
        _check_settings(vars(start), "strategy=mean")
    elif not isinstance(start, str):
        raise UnreadableModelError(f"it starts from a {type(start).__name__}.")
    weights, index = data.weights, np.arange(data.rows.n_rows)
    if model.n_iter_no_change is not None:
        seed = _integer_seed(model)
        index, weights = _hold_out(weights, model.validation_fraction, seed)
    in_bag = _rows_in_bag(model, data, index) if model.subsample < 1 else None
    fixed = 0.0 if isinstance(start, str) else None  # "zero"
    return BoostingRules(model.learning_rate, 0.0, weights, fixed, in_bag)


def _rows_in_bag(
    model: GradientBoostingRegressor, data: TrainingData, index: NDArray[np.intp]
) -> NDArray[np.bool_]:
    """Rows (n_stages, n) that each tree is fitted to, of the rows at an index."""
    random_state = np.random.RandomState(_integer_seed(model))
    in_bag = np.zeros((len(model.estimators_), data.rows.n_rows), dtype=bool)
    n_in_bag = max(1, int(model.subsample * len(index)))
    for mask in in_bag:
        mask[index] = random_sample_mask(len(index), n_in_bag, random_state)
        random_state.randint(0, _MOST_SEED)
    return in_bag


def _read_hist_boosting(
    model: HistGradientBoostingRegressor, data: TrainingData, trees: TreeModel
) -> BoostingRules:
    _check_settings(vars(model), "loss=squared_error")
    if model.monotonic_cst is not None:
        raise UnreadableModelError("monotonic_cst bounds the values of its leaves.")
    weights, share = data.weights, model.validation_fraction
    if model.do_early_stopping_ and share is not None:
        _, weights = _hold_out(weights, share, model._random_seed)
    l2 = model.l2_regularization
    return BoostingRules(model.learning_rate, l2, weights, roots_average=False)


def _read_xgboost(model: Any, data: TrainingData, _: TreeModel) -> BoostingRules:
    learner = json.loads(model.get_booster().save_config())["learner"]
    settings = learner["learner_train_param"] | learner["learner_model_param"]
    for name in ("tree_train_param", "gbtree_model_param"):
        settings |= learner["gradient_booster"].get(name, {})
    _check_settings(settings, _XGBOOST)
    rates = float(settings["eta"]), float(settings["lambda"])
    start = float(settings["base_score"].strip("[]"))
    is_mean = settings["boost_from_average"] == "1"
    return BoostingRules(*rates, data.weights, None if is_mean else start)


def _read_lightgbm(model: Any, data: TrainingData, trees: TreeModel) -> BoostingRules:
    text = model.booster_.model_to_string()
    settings = dict(re.findall(r"^\[(\w+): (.*)\]$", text, flags=re.MULTILINE))
    if settings["bagging_freq"] == "0":
        del settings["bagging_fraction"]  # of no effect
    _check_settings(settings, _LIGHTGBM)
    if (trees.ensemble.category_set >= 0).any():
        raise UnreadableModelError("splits on categories add cat_l2 to some leaves.")
    rates = float(settings["learning_rate"]), float(settings["lambda_l2"])
    start = None if settings["boost_from_average"] == "1" else 0.0
    return BoostingRules(*rates, data.weights, start, roots_average=False)


BOOSTING: dict[ModelClass, Callable[[Any, TrainingData, TreeModel], BoostingRules]] = {
    GradientBoostingRegressor: _read_gradient_boosting,
    HistGradientBoostingRegressor: _read_hist_boosting,
    ("xgboost", "XGBRegressor"): _read_xgboost,
    ("lightgbm", "LGBMRegressor"): _read_lightgbm,
}
