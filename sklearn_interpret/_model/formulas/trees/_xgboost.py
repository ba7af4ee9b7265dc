"""XGBoost's models, through their scikit-learn wrappers, without importing XGBoost.

The trees are read from the model's JSON form, which is public and has a schema. They
are evaluated as XGBoost does:

- numbers are cast to float32, and ``x < threshold`` goes left;
- entries that a sparse matrix does not store are missing, as is the value `missing`;
- categories are truncated to integers; a split lists those that go right, and all
  others, negative ones too, go left.

XGBoost sums margins in float32, this library in float64: they differ by rounding.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise, repeat
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from sklearn_interpret._core.trees.structure.ensemble import Tree, join_trees
from sklearn_interpret._core.trees.structure.joining import drop_unreached_nodes
from sklearn_interpret._model.formulas.formula_class import ModelClass
from sklearn_interpret._model.formulas.trees.tree_model import (
    ArrayEncoder,
    CategorySplit,
    ListedCategories,
    Reader,
    TreeModel,
    category_table,
    column_numbers,
    is_frame,
    listed_categories,
    listed_positions,
    response_fields,
)
from sklearn_interpret._model.rows.base import is_missing
from sklearn_interpret.exceptions import UnreadableModelError

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

_SINGLE = np.dtype(np.float32)

# Link functions of the objectives.
_IDENTITY = (
    "reg:squarederror",
    "reg:squaredlogerror",
    "reg:pseudohubererror",
    "reg:absoluteerror",
    "reg:quantileerror",
    "reg:expectileerror",
    "rank:ndcg",
    "rank:map",
    "rank:pairwise",
)
_EXP = ("count:poisson", "reg:gamma", "reg:tweedie", "survival:cox", "survival:aft")
_LOGISTIC = ("reg:logistic", "binary:logistic")
_SOFTMAX = ("multi:softprob", "multi:softmax")
_LINKS = {
    **dict.fromkeys(_IDENTITY, "identity"),
    **dict.fromkeys(_EXP, "exp"),
    **dict.fromkeys(_LOGISTIC, "logistic"),
    **dict.fromkeys(_SOFTMAX, "softmax"),
}
# Functions from `base_score`, a prediction, to a margin; the identity for others.
_BASE_MARGINS: dict[str, Callable[[NDArray[np.float32]], NDArray[np.float32]]] = {
    **dict.fromkeys(_EXP, np.log),
    **dict.fromkeys(_LOGISTIC, lambda p: -np.log(1 / p - 1)),
}
# Objectives whose several levels are put in order in each row, and the version since
# when they are: the prediction of a level depends on the margins of the others.
_IN_ORDER_SINCE = {"reg:quantileerror": [3, 4], "reg:expectileerror": [3, 3]}


@dataclass(frozen=True)
class XGBoostEncoder:
    """Numbers as XGBoost compares them."""

    array_encoder: ArrayEncoder
    listed: tuple[ListedCategories, ...]
    # For each column the labels of its categories in the training frame: integers, or
    # bytes of texts; None for numbers, and for models fitted on arrays.
    levels: tuple[tuple[Any, ...] | None, ...]
    cuts_labels: bool  # of pandas frames, see `_cut_labels`

    def __call__(self, X: Any) -> NDArray[np.floating]:
        if is_frame(X):
            cuts_labels = repeat(self.cuts_labels)
            positions = list(map(_label_positions, X.dtypes, self.levels, cuts_labels))
            columns = column_numbers(X, positions, _refuse_unseen)
            X = np.column_stack([column.astype(_SINGLE) for column in columns])
        numbers = self.array_encoder(X)
        if not self.listed:
            return numbers
        numbers = numbers.copy()
        for column, categories in self.listed:
            values = numbers[:, column]
            # Unlisted and negative values go left.
            values = np.where(values < 0, -1, values)
            numbers[:, column] = listed_positions(values, categories, len(categories))
        return numbers


def _label_positions(
    dtype: Any, levels: tuple[Any, ...] | None, cuts_labels: bool
) -> dict[Any, Any] | None:
    """The number of each label of a column; None for a column of numbers.

    `dtype` is that of the rows; labels that the model has not seen have the number
    None, or none at all.
    """
    is_category = str(dtype) == "category"
    if levels is None:  # fitted on arrays, or by an old version: by position
        return _position_of_each(dtype.categories) if is_category else None
    positions = _position_of_each(levels)
    if not isinstance(levels[0], bytes):
        return positions
    if is_category and cuts_labels:
        labels = list(dtype.categories)
        return dict(zip(labels, map(positions.get, _cut_labels(labels)), strict=True))
    return {text.decode(errors="replace"): i for text, i in positions.items()}


def _position_of_each(labels: Iterable[Any]) -> dict[Any, Any]:
    """The position of each label."""
    return {label: position for position, label in enumerate(labels)}


def _cut_labels(labels: Sequence[Any]) -> list[bytes]:
    """Labels as XGBoost before 3.4 stores and compares those of pandas frames.

    It concatenates their bytes, but splits at numbers of characters, which is wrong for
    characters that are not ASCII.
    """
    text = "".join(map(str, labels))
    stops = np.cumsum([0, *(len(str(label)) for label in labels)])
    return [text.encode()[start:stop] for start, stop in pairwise(stops)]


def _refuse_unseen(name: str, label: Any) -> NoReturn:
    """Raise, for a label that the model has not seen in the column of a name."""
    raise ValueError(
        f"The feature {name!r} has the category {label!r}, which the model has not "
        "seen: XGBoost refuses it, or confuses it with another. Make it missing."
    )


def _read(estimator: BaseEstimator, _: object) -> TreeModel:
    """Read a fitted XGBModel."""
    check_is_fitted(estimator)
    booster = estimator.get_booster()
    content = json.loads(booster.save_raw(raw_format="json"))
    learner, version = content["learner"], content["version"]  # the one that runs
    gradient_booster = learner["gradient_booster"]
    if gradient_booster["name"] == "gblinear":
        raise UnreadableModelError("booster='gblinear' has no trees.")
    base = _base_margins(learner)
    objective = learner["objective"]["name"]
    if len(base) > 1 and version >= _IN_ORDER_SINCE.get(objective, [np.inf]):
        raise UnreadableModelError(
            "XGBoost puts the quantiles or expectiles of a row in order, so that they "
            "are not sums of its trees."
        )
    # With dropout, XGBoost before 3.3 wraps its plain booster.
    forest = gradient_booster.get("gbtree", gradient_booster)["model"]
    # A block is what XGBoost stores of a tree: lists with an entry for each node.
    blocks = forest["trees"][: _n_trees_in_use(estimator, forest)]
    # Dropout weights the trees; 3.4 moved the weights into the "model".
    weights = {**gradient_booster, **forest}.get("weight_drop", np.ones(len(blocks)))
    n_columns = int(learner["learner_model_param"]["num_feature"])
    listed = listed_categories(chain.from_iterable(map(_category_splits, blocks)))
    # Blocks stop at the best iteration, outputs and weights are those of all trees.
    trees = [
        _read_tree(block, output, len(base), np.float32(weight), listed)
        for block, output, weight in zip(
            blocks, forest["tree_info"], weights, strict=False
        )
    ]
    missing = None if is_missing(estimator.missing) else float(estimator.missing)
    model = TreeModel(
        ensemble=join_trees(
            trees, base=base, n_features=n_columns, precision=_SINGLE, strict=True
        ),
        encoder=XGBoostEncoder(
            ArrayEncoder(n_columns, _SINGLE, absent_is_missing=True, missing=missing),
            listed,
            _training_levels(forest, n_columns),
            cuts_labels=version < [3, 4],
        ),
        columns=np.arange(n_columns),
        n_columns=n_columns,
        raw_method="predict",
        raw_params={"output_margin": True},
        cover="hessian",
        **response_fields(estimator, _LINKS.get(objective)),
    )
    _check_margin(model, estimator)
    return model


def _check_margin(model: TreeModel, estimator: BaseEstimator) -> None:
    """Check one prediction: XGBoost's versions store the base score differently."""
    row = np.full((1, model.n_columns), np.nan)
    margin = estimator.predict(row, validate_features=False, **model.raw_params)
    if not np.allclose(model.raw(row), margin, rtol=1e-4, atol=1e-4):
        raise UnreadableModelError(
            "the sum of its trees is not its prediction; this version of XGBoost, or "
            "this objective, is not supported."
        )


def _n_trees_in_use(estimator: BaseEstimator, forest: dict[str, Any]) -> int:
    """Number of trees up to the best iteration, if training stopped early."""
    try:
        rounds = estimator.best_iteration + 1
    except AttributeError:
        return len(forest["trees"])
    return forest["iteration_indptr"][rounds]


def _base_margins(learner: dict[str, Any]) -> NDArray[np.float64]:
    """Margin of each output before the first tree."""
    parameters = learner["learner_model_param"]
    n_outputs = int(parameters["num_class"]), int(parameters.get("num_target", 1))
    scores = parameters["base_score"].strip("[]").split(",")
    scores = np.array(scores, dtype=np.float32)
    to_margin = _BASE_MARGINS.get(learner["objective"]["name"])
    if to_margin is not None:
        scores = to_margin(scores)
    return np.resize(scores, max(*n_outputs, 1)).astype(np.float64)


def _training_levels(
    forest: dict[str, Any], n_columns: int
) -> tuple[tuple[Any, ...] | None, ...]:
    """Labels of the training frame's categories by column; None without any."""
    columns = forest.get("cats", {}).get("enc", [])
    if not columns:
        return (None,) * n_columns
    levels = tuple(map(_labels_of_column, columns))
    if any(len(set(level or ())) < len(level or ()) for level in levels):
        raise UnreadableModelError(
            "it has categories whose names XGBoost cannot distinguish (not ASCII)."
        )
    return levels


def _labels_of_column(column: dict[str, Any]) -> tuple[Any, ...] | None:
    """Labels of a column's categories, texts as bytes; None without any."""
    values = column["values"]
    if "offsets" not in column:
        return tuple(values) if values else None
    text = bytes(value % 256 for value in values)
    bounds = column["offsets"]
    if len(bounds) == 0:
        return None
    return tuple(text[start:stop] for start, stop in pairwise(bounds))


def _category_splits(block: dict[str, Any]) -> Iterator[CategorySplit]:
    """Yield categorical splits: node, column, and categories that go right."""
    sets = zip(
        block["categories_nodes"],
        block["categories_segments"],
        block["categories_sizes"],
        strict=True,
    )
    for node, start, size in sets:
        categories = block["categories"][start : start + size]
        yield CategorySplit(node, block["split_indices"][node], categories)


def _read_tree(
    block: dict[str, Any],
    output: int,
    n_outputs: int,
    weight: np.float32,
    listed: tuple[ListedCategories, ...],
) -> Tree:
    """A tree that adds to one output, or has leaves with values of all."""
    left, right = np.array(block["left_children"]), np.array(block["right_children"])
    is_leaf = left < 0
    value = np.zeros((len(left), n_outputs))
    # Thresholds of inner nodes, and values of leaves where these have one output.
    threshold = np.array(block["split_conditions"], dtype=np.float32)
    if int(block["tree_param"]["size_leaf_vector"]) > 1:
        value[is_leaf] = weight * _leaf_vectors(block, n_outputs, is_leaf)
    else:
        value[:, output] = weight * threshold  # in float32, as XGBoost
    category_sets, go_right = category_table(_category_splits(block), listed, len(left))
    tree = Tree(
        left=left,
        right=right,
        feature=np.array(block["split_indices"]),
        threshold=threshold,
        value=value,
        cover=np.array(block["sum_hessian"]),
        missing_left=np.array(block["default_left"], dtype=bool),
        category_set=category_sets,
        categories_left=~go_right,
        categories_known=np.ones_like(go_right),
    )
    return drop_unreached_nodes(tree)


def _leaf_vectors(
    block: dict[str, Any], n_outputs: int, is_leaf: NDArray[np.bool_]
) -> NDArray[np.float32]:
    """Values (n_leaves, n_outputs) at the leaves of a tree."""
    if "leaf_weights" not in block:
        raise UnreadableModelError(
            "its trees have several outputs each (multi_strategy='multi_output_tree'), "
            "and XGBoost before 3.2 does not keep the cover of such trees."
        )
    vectors = np.array(block["leaf_weights"], dtype=np.float32).reshape(-1, n_outputs)
    # XGBoost stores the index of a leaf's vector as its right child.
    return vectors[np.array(block["right_children"])[is_leaf]]


READERS: dict[ModelClass, Reader] = {("xgboost", "XGBModel"): _read}
