"""How trees were boosted, and weights of the training targets under squared error.

Private names of scikit-learn, confined to this module: the seed of the held-out rows of
HistGradientBoosting (`_random_seed`). That a tree draws one number after the rows of
its stage is private, too.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from sklearn.model_selection import train_test_split

from sklearn_interpret._core.influence.boosting_weights import (
    BoostingRules,
    BoostingStages,
)
from sklearn_interpret._core.statistics.score_losses import (
    CanonicalLoss,
    HalfSquared,
    Logistic,
    Softmax,
)
from sklearn_interpret._model._sklearn_compat import random_sample_mask
from sklearn_interpret._model.formulas.formula_class import (
    ModelClass,
    computes_as,
    formula_class,
)
from sklearn_interpret._model.formulas.trees.tree_model import TreeModel
from sklearn_interpret._model.formulas.trees.tree_response import read_trees
from sklearn_interpret._model.responses.predictors import is_classifier
from sklearn_interpret._model.rows.base import Rows
from sklearn_interpret._model.training_weights.base import TrainingData, TrainingWeights
from sklearn_interpret._model.training_weights.leaves import class_factors, labels_of
from sklearn_interpret.exceptions import UnreadableModelError

# Trees draw the seed of their splitter below this number.
_MOST_SEED = 0x7FFFFFFF

# Settings of other libraries with which leaves are regularised Newton steps.
_XGBOOST = (
    "booster=gbtree num_parallel_tree=1 subsample=1 alpha=0 max_delta_step=0 "
    "monotone_constraints=() multi_strategy=one_output_per_tree scale_pos_weight=1"
)
_LIGHTGBM = (
    "boosting=gbdt data_sample_strategy=bagging bagging_fraction=1 "
    "pos_bagging_fraction=1 neg_bagging_fraction=1 lambda_l1=0 max_delta_step=0 "
    "path_smooth=0 linear_tree=0 use_quantized_grad=0 monotone_constraints= reg_sqrt=0 "
    "is_unbalance=0 scale_pos_weight=1 sigmoid=1"
)
_LOSSES: dict[str, type[CanonicalLoss]] = {
    **dict.fromkeys(("squared_error", "reg:squarederror", "regression"), HalfSquared),
    **dict.fromkeys(("binary:logistic", "binary"), Logistic),
    **dict.fromkeys(("multi:softprob", "multi:softmax", "multiclass"), Softmax),
}


@dataclass(frozen=True, eq=False)
class BoostingWeights(TrainingWeights):
    """Weights of the training targets in a sum of boosted trees."""

    trees: TreeModel
    stages: BoostingStages
    offset: float = 0.0

    @property
    def row_bytes(self) -> int:
        # Weights, those of a block with a product, and the row and leaves of the trees.
        ensemble = self.trees.ensemble
        n = len(self.stages.rules.weights)
        return 8 * (4 * n + ensemble.n_features + 2 * ensemble.n_trees)

    def weights(self, rows: Rows) -> NDArray[np.float64]:
        return self.stages.target_weights(leaves_of(self.trees, rows))


def read_boosting(model: BaseEstimator, data: TrainingData) -> TrainingWeights:
    """Read the weights of the targets in a fitted model of boosted trees.

    Raises
    ------
    UnreadableModelError
        If its leaves are not regularised means of residuals, or if rows that it held
        out cannot be told.
    """
    trees, stages = read_stages(model, data)
    if not isinstance(stages.rules.loss, HalfSquared):
        raise UnreadableModelError("it does not boost trees on squared error.")
    return BoostingWeights(trees, stages, stages.rules.start or 0.0)


def read_stages(
    model: BaseEstimator, data: TrainingData
) -> tuple[TreeModel, BoostingStages]:
    """Read the trees of a fitted model of boosted trees, and how they were boosted.

    Raises
    ------
    UnreadableModelError
        If its leaves are not regularised Newton steps, or if rows that it held out
        cannot be told.
    """
    key = formula_class(model, BOOSTING)
    if key is None:
        raise UnreadableModelError("it is no known model of boosted trees.")
    trees = read_trees(model)
    rules, ensemble = BOOSTING[key](model, data, trees), trees.ensemble
    leaves = leaves_of(trees, data.rows).T
    n_leaves = np.diff(np.append(ensemble.roots, len(ensemble.is_leaf)))
    stages = BoostingStages(
        leaves.astype(np.min_scalar_type(leaves.max(initial=0))),
        rules,
        n_leaves.max(initial=1),
        ensemble.n_outputs,
        ~ensemble.is_leaf[ensemble.roots] | rules.roots_average,
    )
    return trees, stages


def leaves_of(trees: TreeModel, rows: Rows) -> NDArray[np.intp]:
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


def _loss_of(name: str, value: str, n_outputs: int) -> CanonicalLoss:
    """The loss that a setting names; an UnreadableModelError for others."""
    if value == "log_loss":
        return Logistic() if n_outputs == 1 else Softmax()
    if value not in _LOSSES:
        raise UnreadableModelError(
            f"of {name}={value!r}: it is known for squared error and log loss."
        )
    return _LOSSES[value]()


def _weigh_classes(
    model: BaseEstimator, data: TrainingData, labels: NDArray[Any]
) -> TrainingData:
    """The training data, with weights times those of the classes."""
    factors = class_factors(model.class_weight, labels)
    return replace(data, weights=data.weights * factors)


def _step_share(loss: CanonicalLoss, n_outputs: int) -> float:
    """(k - 1) / k of several classes: Friedman's factor of their Newton steps."""
    return (n_outputs - 1) / n_outputs if isinstance(loss, Softmax) else 1.0


def _integer_seed(model: BaseEstimator) -> int:
    """The seed by which a model draws rows; an error if it has none."""
    if not isinstance(model.random_state, Integral):
        raise UnreadableModelError("its random rows need an integer random_state.")
    return int(model.random_state)


def _hold_out(
    model: BaseEstimator, data: TrainingData, seed: int
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Rows that are left, in order, and weights: zero for rows that are held out."""
    index, held_out = train_test_split(
        np.arange(len(data.weights)),
        test_size=model.validation_fraction,
        random_state=seed,
        stratify=data.targets.argmax(axis=1) if is_classifier(model) else None,
    )
    weights = data.weights.copy()
    weights[held_out] = 0
    return index, weights


def _read_gradient_boosting(
    model: GradientBoostingRegressor | GradientBoostingClassifier,
    data: TrainingData,
    trees: TreeModel,
) -> BoostingRules:
    k = trees.ensemble.n_outputs
    loss = _loss_of("loss", model.loss, k)
    start = model.init_
    if computes_as(start, DummyRegressor):
        _check_settings(vars(start), "strategy=mean")
    elif computes_as(start, DummyClassifier):
        _check_settings(vars(start), "strategy=prior")
    elif not isinstance(start, str):
        raise UnreadableModelError(f"it starts from a {type(start).__name__}.")
    weights, index = data.weights, np.arange(data.rows.n_rows)
    if model.n_iter_no_change is not None:
        index, weights = _hold_out(model, data, _integer_seed(model))
    in_bag = _rows_in_bag(model, data, index) if model.subsample < 1 else None
    return BoostingRules(
        model.learning_rate * _step_share(loss, k),
        0.0,
        weights,
        0.0 if isinstance(start, str) else None,  # "zero"
        in_bag,
        loss=loss,
    )


def _rows_in_bag(
    model: GradientBoostingRegressor | GradientBoostingClassifier,
    data: TrainingData,
    index: NDArray[np.intp],
) -> NDArray[np.bool_]:
    """Rows (n_stages, n) that each tree is fitted to, of the rows at an index."""
    random_state = np.random.RandomState(_integer_seed(model))
    in_bag = np.zeros((len(model.estimators_), data.rows.n_rows), dtype=bool)
    n_in_bag = max(1, int(model.subsample * len(index)))
    for mask in in_bag:
        mask[index] = random_sample_mask(len(index), n_in_bag, random_state)
        random_state.randint(0, _MOST_SEED, size=model.estimators_.shape[1])
    return in_bag


def _read_hist_boosting(
    model: HistGradientBoostingRegressor | HistGradientBoostingClassifier,
    data: TrainingData,
    trees: TreeModel,
) -> BoostingRules:
    loss = _loss_of("loss", model.loss, trees.ensemble.n_outputs)
    if model.monotonic_cst is not None:
        raise UnreadableModelError("monotonic_cst bounds the values of its leaves.")
    if is_classifier(model):  # it weighs encoded classes
        data = _weigh_classes(model, data, data.targets.argmax(axis=1))
    weights = data.weights
    if model.do_early_stopping_ and model.validation_fraction is not None:
        _, weights = _hold_out(model, data, model._random_seed)
    rates = model.learning_rate, model.l2_regularization
    return BoostingRules(*rates, weights, roots_average=False, loss=loss)


def _read_xgboost(model: Any, data: TrainingData, trees: TreeModel) -> BoostingRules:
    learner = json.loads(model.get_booster().save_config())["learner"]
    settings = learner["learner_train_param"] | learner["learner_model_param"]
    settings |= learner["objective"].get("reg_loss_param", {})
    for name in ("tree_train_param", "gbtree_model_param"):
        settings |= learner["gradient_booster"].get(name, {})
    _check_settings(settings, _XGBOOST)
    loss = _loss_of("objective", settings["objective"], trees.ensemble.n_outputs)
    # Its second derivatives of several classes are twice as large.
    share = 0.5 if isinstance(loss, Softmax) else 1.0
    rates = share * float(settings["eta"]), share * float(settings["lambda"])
    is_best = settings["boost_from_average"] == "1"
    start = None if is_best else float(trees.ensemble.base[0])
    return BoostingRules(*rates, data.weights, start, loss=loss)


def _read_lightgbm(model: Any, data: TrainingData, trees: TreeModel) -> BoostingRules:
    text = model.booster_.model_to_string()
    settings = dict(re.findall(r"^\[(\w+): (.*)\]$", text, flags=re.MULTILINE))
    if settings["bagging_freq"] == "0":  # fractions have no effect
        settings = {k: v for k, v in settings.items() if "bagging_fraction" not in k}
    _check_settings(settings, _LIGHTGBM)
    if (trees.ensemble.category_set >= 0).any():
        raise UnreadableModelError("splits on categories add cat_l2 to some leaves.")
    if is_classifier(model):
        data = _weigh_classes(model, data, labels_of(model, data.targets))
    k = trees.ensemble.n_outputs
    loss = _loss_of("objective", settings["objective"], k)
    share = _step_share(loss, k)  # second derivatives are larger by its inverse
    rates = float(settings["learning_rate"]), float(settings["lambda_l2"])
    start = None if settings["boost_from_average"] == "1" else 0.0
    return BoostingRules(
        share * rates[0],
        share * rates[1],
        data.weights,
        start,
        roots_average=False,
        loss=loss,
    )


BOOSTING: dict[ModelClass, Callable[[Any, TrainingData, TreeModel], BoostingRules]] = {
    GradientBoostingClassifier: _read_gradient_boosting,
    GradientBoostingRegressor: _read_gradient_boosting,
    HistGradientBoostingClassifier: _read_hist_boosting,
    HistGradientBoostingRegressor: _read_hist_boosting,
    ("xgboost", "XGBClassifier"): _read_xgboost,
    ("xgboost", "XGBRegressor"): _read_xgboost,
    ("lightgbm", "LGBMClassifier"): _read_lightgbm,
    ("lightgbm", "LGBMRegressor"): _read_lightgbm,
}
