"""Weights of the training targets in trees boosted on squared error.

Private names of scikit-learn, confined to this module: the seed of the held-out rows of
HistGradientBoosting (`_random_seed`), and the sampling of rows by GradientBoosting
(`_random_sample_mask`, and that a tree draws one number more).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import GradientBoostingRegressor, HistGradientBoostingRegressor
from sklearn.ensemble._gradient_boosting import _random_sample_mask
from sklearn.model_selection import train_test_split

from sklearn_interpret._core.influence.boosting_weights import BoostingStages
from sklearn_interpret._model.formulas.formula_class import (
    ModelClass,
    computes_as,
    formula_class,
)
from sklearn_interpret._model.formulas.trees.tree_model import TreeModel
from sklearn_interpret._model.formulas.trees.tree_response import read_trees
from sklearn_interpret._model.rows.base import Rows
from sklearn_interpret._model.training_weights.agreement import check_agreement
from sklearn_interpret._model.training_weights.base import TrainingData, TrainingWeights
from sklearn_interpret.exceptions import UnreadableModelError

# Trees draw the seed of their splitter below this number.
_MOST_SEED = 0x7FFFFFFF


@dataclass(frozen=True, eq=False)
class _Rules:
    """How a model was boosted; fields as of `BoostingStages`."""

    learning_rate: float
    l2: float
    weights: NDArray[np.float64]  # zero for rows that were held out
    start: float | None = None  # a fixed prediction; None for the mean target
    in_bag: NDArray[np.bool_] | None = None
    roots_average: bool = True  # or trees without splits predict zero


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
        n = len(self.stages.weights)
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
    key = formula_class(model, _READERS)
    if key is None:
        raise UnreadableModelError("it does not boost trees on squared error.")
    trees = read_trees(model)
    rules = _READERS[key](model, data, trees)
    columns = np.arange(trees.ensemble.n_trees)
    if not rules.roots_average:
        columns = columns[~trees.ensemble.is_leaf[trees.ensemble.roots]]
    leaves = _leaves(trees, data.rows)[:, columns].T
    start_weights = rules.weights / rules.weights.sum()
    stages = BoostingStages(
        leaves.astype(np.min_scalar_type(leaves.max(initial=0))),
        rules.weights,
        start_weights if rules.start is None else np.zeros(len(start_weights)),
        rules.learning_rate,
        rules.l2,
        rules.in_bag if rules.in_bag is None else rules.in_bag[columns],
    )
    weights = BoostingWeights(trees, columns, stages, rules.start or 0.0)
    return check_agreement(weights, model, data)


def _leaves(trees: TreeModel, rows: Rows) -> NDArray[np.intp]:
    """Leaves of rows (m, n_trees), counted within each tree."""
    leaves: NDArray[np.intp] = trees.ensemble.apply(trees.encode(rows.native))
    return leaves - trees.ensemble.roots


def _check_settings(settings: Mapping[str, Any], readable: dict[str, Any]) -> None:
    """Raise an UnreadableModelError unless settings have the values that are read."""
    for name, value in readable.items():
        actual = settings.get(name, value)
        if actual != value:
            raise UnreadableModelError(
                f"{name}={actual!r}: its leaves are not known to be means of residuals "
                f"of known rows, as with {value!r}."
            )


def _random_seed(model: BaseEstimator, reason: str) -> int:
    """The seed of a model; an UnreadableModelError if it has none."""
    if not isinstance(model.random_state, Integral):
        raise UnreadableModelError(
            f"{reason} at random, and its random_state is no integer that tells them."
        )
    return int(model.random_state)


def _read_gradient_boosting(
    model: GradientBoostingRegressor, data: TrainingData, _: TreeModel
) -> _Rules:
    _check_settings(vars(model), {"loss": "squared_error"})
    index = np.arange(data.rows.n_rows)
    if model.n_iter_no_change is not None:
        seed = _random_seed(model, "n_iter_no_change holds rows out")
        index, _ = train_test_split(
            index, test_size=model.validation_fraction, random_state=seed
        )
    return _Rules(
        model.learning_rate,
        0.0,
        np.where(np.isin(np.arange(data.rows.n_rows), index), data.weights, 0.0),
        start=_read_start(model.init_),
        in_bag=_rows_in_bag(model, data, index) if model.subsample < 1 else None,
    )


def _read_start(start: Any) -> float | None:
    """The fixed prediction before the first tree; None for the mean of the targets."""
    if isinstance(start, str):  # "zero"
        return 0.0
    if not computes_as(start, DummyRegressor):
        raise UnreadableModelError(f"it starts from a {type(start).__name__}.")
    _check_settings(vars(start), {"strategy": "mean"})
    return None


def _rows_in_bag(
    model: GradientBoostingRegressor, data: TrainingData, index: NDArray[np.intp]
) -> NDArray[np.bool_]:
    """Rows (n_stages, n) that each tree is fitted to, of the rows at an index."""
    seed = _random_seed(model, "subsample draws rows")
    random_state = np.random.RandomState(seed)
    in_bag = np.zeros((len(model.estimators_), data.rows.n_rows), dtype=bool)
    n_in_bag = max(1, int(model.subsample * len(index)))
    for mask in in_bag:
        mask[index] = _random_sample_mask(len(index), n_in_bag, random_state)
        random_state.randint(0, _MOST_SEED)
    return in_bag


def _read_hist_boosting(
    model: HistGradientBoostingRegressor, data: TrainingData, _: TreeModel
) -> _Rules:
    _check_settings(vars(model), {"loss": "squared_error"})
    if model.monotonic_cst is not None:
        raise UnreadableModelError("monotonic_cst bounds the values of its leaves.")
    weights = data.weights.copy()
    if model.do_early_stopping_ and model.validation_fraction is not None:
        _, held_out = train_test_split(
            np.arange(len(weights)),
            test_size=model.validation_fraction,
            random_state=model._random_seed,
        )
        weights[held_out] = 0
    return _Rules(
        model.learning_rate, model.l2_regularization, weights, roots_average=False
    )


def _read_xgboost(model: Any, data: TrainingData, _: TreeModel) -> _Rules:
    learner = json.loads(model.get_booster().save_config())["learner"]
    start = learner["learner_model_param"]
    _check_settings(
        learner["learner_train_param"],
        {"objective": "reg:squarederror", "booster": "gbtree"},
    )
    booster = learner["gradient_booster"]
    settings = booster["tree_train_param"]
    _check_settings(
        settings | booster["gbtree_model_param"],
        {
            "num_parallel_tree": "1",
            "subsample": "1",
            "alpha": "0",
            "max_delta_step": "0",
            "monotone_constraints": "()",
        },
    )
    base_score = float(start["base_score"].strip("[]"))
    return _Rules(
        float(settings["eta"]),
        float(settings["lambda"]),
        data.weights,
        start=None if start["boost_from_average"] == "1" else base_score,
    )


def _read_lightgbm(model: Any, data: TrainingData, trees: TreeModel) -> _Rules:
    text = model.booster_.model_to_string()
    settings = dict(re.findall(r"^\[(\w+): (.*)\]$", text, flags=re.MULTILINE))
    _check_settings(
        settings,
        {
            "objective": "regression",
            "boosting": "gbdt",
            "data_sample_strategy": "bagging",
            "lambda_l1": "0",
            "max_delta_step": "0",
            "path_smooth": "0",
            "linear_tree": "0",
            "use_quantized_grad": "0",
            "monotone_constraints": "",
            "reg_sqrt": "0",
        },
    )
    if settings["bagging_freq"] != "0":
        _check_settings(settings, {"bagging_fraction": "1"})
    if (trees.ensemble.category_set >= 0).any():
        raise UnreadableModelError("its splits on categories add cat_l2 to some leaves.")
    return _Rules(
        float(settings["learning_rate"]),
        float(settings["lambda_l2"]),
        data.weights,
        start=None if settings["boost_from_average"] == "1" else 0.0,
        roots_average=False,
    )


_READERS: dict[ModelClass, Callable[[Any, TrainingData, TreeModel], _Rules]] = {
    GradientBoostingRegressor: _read_gradient_boosting,
    HistGradientBoostingRegressor: _read_hist_boosting,
    ("xgboost", "XGBRegressor"): _read_xgboost,
    ("lightgbm", "LGBMRegressor"): _read_lightgbm,
}
