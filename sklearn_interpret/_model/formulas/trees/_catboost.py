"""CatBoost's models, through their scikit-learn wrappers, without importing CatBoost.

The trees are read from the model's JSON form, which is public, but only written to
files. Numbers are cast to float32, and ``x > border`` goes right. Missing values count
as below or above all borders, depending on the model's parameters.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError

from sklearn_interpret._core.trees.structure.ensemble import Tree, join_trees
from sklearn_interpret._model.formulas.formula_class import ModelClass
from sklearn_interpret._model.formulas.trees import tree_model
from sklearn_interpret.exceptions import UnreadableModelError

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

_SINGLE = np.dtype(np.float32)

# Link functions of the losses.
_IDENTITY = (
    "RMSE",
    "MAE",
    "Quantile",
    "MultiQuantile",
    "LogLinQuantile",
    "Expectile",
    "MAPE",
    "Lq",
    "Huber",
    "MultiRMSE",
    "LogCosh",
)
_LINKS = {
    **dict.fromkeys(_IDENTITY, "identity"),
    **dict.fromkeys(("Logloss", "CrossEntropy", "MultiClassOneVsAll"), "logistic"),
    **dict.fromkeys(("Poisson", "Tweedie"), "exp"),
    "MultiClass": "softmax",
}


@dataclass(frozen=True)
class CatBoostEncoder:
    """Numbers as CatBoost compares them: the columns of its float features."""

    n_columns: int
    columns: tuple[int, ...]

    def __call__(self, X: Any) -> NDArray[np.floating]:
        if tree_model.is_frame(X):
            columns = tree_model.column_numbers(
                X, [None] * self.n_columns, lambda *_: np.nan
            )
            numbers = [columns[j].astype(_SINGLE) for j in self.columns]
            return np.column_stack(numbers)
        return tree_model.ArrayEncoder(self.n_columns, _SINGLE)(X)[
            :, list(self.columns)
        ]


def _read(estimator: BaseEstimator, _: object) -> tree_model.TreeModel:
    """Read a fitted CatBoost model."""
    if not estimator.is_fitted():
        raise NotFittedError(f"This {type(estimator).__name__} is not fitted yet.")
    content = _export_json(estimator)
    loss = content["model_info"]["params"]["loss_function"]["type"]
    features = content["features_info"]["float_features"]
    columns = np.array([f["flat_feature_index"] for f in features], dtype=np.intp)
    scale, bias = content["scale_and_bias"]
    base = np.ravel(np.asarray(bias, dtype=np.float64))
    n_columns = len(estimator.feature_names_)  # n_features_in_ is not saved to files
    missing_left = np.array([f["nan_value_treatment"] != "AsTrue" for f in features])
    trees = [
        _read_symmetric_tree(tree, len(base), scale, missing_left)
        for tree in content.get("oblivious_trees", ())
    ] + [
        _read_tree(tree, len(base), scale, missing_left)
        for tree in content.get("trees", ())
    ]
    ensemble = join_trees(trees, base=base, n_features=len(columns), precision=_SINGLE)
    return tree_model.TreeModel(
        ensemble=ensemble,
        encoder=CatBoostEncoder(n_columns, tuple(columns.tolist())),
        columns=columns,
        n_columns=n_columns,
        raw_method="predict",
        raw_params={"prediction_type": "RawFormulaVal"},
        **tree_model.response_fields(estimator, _LINKS.get(loss)),
    )


def _read_ranker(estimator: BaseEstimator, _: object) -> tree_model.TreeModel:
    """Read a fitted ranker: its scores are the sum, whatever the loss.

    Its `predict` takes no type of prediction.
    """
    return replace(
        _read(estimator, _), raw_params={}, link="identity", response_method="predict"
    )


def _export_json(estimator: BaseEstimator) -> dict[str, Any]:
    """The model's JSON form."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        estimator.save_model(str(path), format="json")
        return json.loads(path.read_text(encoding="utf-8"))


def _read_split(split: dict[str, Any]) -> tuple[int, float]:
    """Feature and border of a numeric split; other splits are refused."""
    kind = split["split_type"]
    if kind != "FloatFeature":
        raise UnreadableModelError(
            f"it splits on categories, texts or embeddings (a split of type {kind}), "
            "which it encodes internally; models of numeric columns can be read."
        )
    return split["float_feature_index"], split["border"]


def _read_symmetric_tree(
    tree: dict[str, Any], n_outputs: int, scale: float, missing_left: NDArray[np.bool_]
) -> Tree:
    """An oblivious tree: all nodes of a level share a split; the root's is the last.

    Bit i of a leaf's number is set if split i sent the row to the right. `missing_left`
    says whether missing values of each feature go left.
    """
    splits = [_read_split(split) for split in reversed(tree["splits"] or ())]
    depth = len(splits)
    first_leaf, n_leaves = 2**depth - 1, 2**depth
    node = np.arange(first_leaf)
    leaves = np.full(n_leaves, -1)  # no children, no feature
    # Breadth-first order: level d begins at node 2**d - 1.
    level = np.repeat(np.arange(depth), 2 ** np.arange(depth))
    feature = np.array([j for j, _ in splits], dtype=np.intp)[level]
    border = np.array([border for _, border in splits], dtype=np.float32)[level]
    value = np.zeros((first_leaf + n_leaves, n_outputs))
    value[first_leaf:] = scale * np.reshape(tree["leaf_values"], (n_leaves, n_outputs))
    cover = [np.array(tree["leaf_weights"], dtype=np.float64)]
    for _ in range(depth):  # of the level above
        cover.insert(0, cover[0].reshape(-1, 2).sum(axis=1))
    return Tree(
        left=np.append(2 * node + 1, leaves),
        right=np.append(2 * node + 2, leaves),
        feature=np.append(feature, leaves),
        threshold=np.append(border, np.zeros(n_leaves)),
        value=value,
        cover=np.concatenate(cover),
        missing_left=np.append(missing_left[feature], np.zeros(n_leaves, dtype=bool)),
    )


class _Node(NamedTuple):
    """A node of a tree; the defaults are those of leaves."""

    value: NDArray[np.float64]  # (n_outputs,)
    cover: float
    left: int = -1
    right: int = -1
    feature: int = -1
    threshold: float | np.float32 = 0.0


def _read_tree(
    tree: dict[str, Any], n_outputs: int, scale: float, missing_left: NDArray[np.bool_]
) -> Tree:
    """A tree of any shape, as grown by leaf or by depth; see `_read_symmetric_tree`."""
    nodes: list[_Node | None] = []

    def append(json_node: dict[str, Any]) -> tuple[int, _Node]:
        """Append a node, then those below it; return its position and itself."""
        position = len(nodes)
        nodes.append(None)
        if "split" not in json_node:
            value = scale * np.ravel(json_node["value"])
            node = _Node(value, json_node["weight"])
        else:
            feature, border = _read_split(json_node["split"])
            left, left_node = append(json_node["left"])
            right, right_node = append(json_node["right"])
            cover = left_node.cover + right_node.cover
            zeros = np.zeros(n_outputs)
            node = _Node(zeros, cover, left, right, feature, np.float32(border))
        nodes[position] = node
        return position, node

    append(tree)
    value, cover, left, right, features, threshold = zip(*nodes, strict=True)
    feature = np.array(features, dtype=np.intp)
    return Tree(
        left=left,
        right=right,
        feature=feature,
        threshold=threshold,
        value=value,
        cover=cover,
        missing_left=np.append(missing_left, False)[feature],
    )


READERS: dict[ModelClass, tree_model.Reader] = {
    ("catboost", "CatBoost"): _read,
    ("catboost", "CatBoostRanker"): _read_ranker,
}
