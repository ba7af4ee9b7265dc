"""CatBoost's models, through their scikit-learn wrappers, without importing CatBoost.

The trees are read from the model's JSON form, which is public, but only written to
files. Numbers are cast to float32, and ``x > border`` goes right. Missing values count
as below or above all borders, depending on the model's parameters.
"""

import json
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from sklearn.exceptions import NotFittedError

from sklearn_interpret._core.trees.structure.ensemble import Tree, join_trees
from sklearn_interpret._model.formulas.trees import tree_model
from sklearn_interpret.exceptions import UnreadableModelError

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
    columns: tuple

    def __call__(self, X):
        if tree_model.is_frame(X):
            columns = tree_model.column_numbers(X, [None] * self.n_columns, None)
            chosen = [columns[j].astype(_SINGLE) for j in self.columns]
            return np.column_stack(chosen)
        return tree_model.ArrayEncoder(self.n_columns, _SINGLE)(X)[
            :, list(self.columns)
        ]


def _read(estimator, _):
    if not estimator.is_fitted():
        raise NotFittedError(f"This {type(estimator).__name__} is not fitted yet.")
    content = _exported(estimator)
    loss = content["model_info"]["params"]["loss_function"]["type"]
    features = content["features_info"]["float_features"]
    columns = np.array([f["flat_feature_index"] for f in features], dtype=np.intp)
    scale, bias = content["scale_and_bias"]
    base = np.ravel(np.asarray(bias, dtype=np.float64))
    missing_left = np.array([f["nan_value_treatment"] != "AsTrue" for f in features])
    trees = [
        _symmetric_tree(tree, len(base), scale, missing_left)
        for tree in content.get("oblivious_trees", ())
    ] + [
        _tree(tree, len(base), scale, missing_left) for tree in content.get("trees", ())
    ]
    ensemble = join_trees(trees, base=base, n_features=len(columns), precision=_SINGLE)
    return tree_model.TreeModel(
        ensemble=ensemble,
        encoder=CatBoostEncoder(estimator.n_features_in_, tuple(columns.tolist())),
        columns=columns,
        n_columns=estimator.n_features_in_,
        raw_method="predict",
        raw_params={"prediction_type": "RawFormulaVal"},
        **tree_model.response_fields(estimator, _LINKS.get(loss)),
    )


def _read_ranker(estimator, read):
    """The scores of any loss are the sum; `predict` takes no type of prediction."""
    fields = {"raw_params": {}, "link": "identity", "response_method": "predict"}
    return replace(_read(estimator, read), **fields)


def _exported(estimator):
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        estimator.save_model(str(path), format="json")
        return json.loads(path.read_text(encoding="utf-8"))


def _split(split):
    """Feature and border of a numeric split; other splits are refused."""
    kind = split["split_type"]
    if kind != "FloatFeature":
        raise UnreadableModelError(
            f"it splits on categories, texts or embeddings (a split of type {kind}), "
            "which it encodes internally; models of numeric columns can be read."
        )
    return split["float_feature_index"], split["border"]


def _symmetric_tree(tree, k, scale, missing_left):
    """An oblivious tree: all nodes of a level share a split; the root's is the last.

    Bit i of a leaf's number is set if split i sent the row to the right.
    """
    splits = [_split(split) for split in reversed(tree["splits"] or ())]
    depth = len(splits)
    first_leaf, n_leaves = 2**depth - 1, 2**depth
    node = np.arange(first_leaf)
    none = np.full(n_leaves, -1)
    # Breadth-first order: level d begins at node 2**d - 1.
    level = np.repeat(np.arange(depth), 2 ** np.arange(depth))
    feature = np.array([j for j, _ in splits], dtype=np.intp)[level]
    border = np.array([border for _, border in splits], dtype=np.float32)[level]
    value = np.zeros((first_leaf + n_leaves, k))
    value[first_leaf:] = scale * np.reshape(tree["leaf_values"], (n_leaves, k))
    cover = [np.array(tree["leaf_weights"], dtype=np.float64)]
    for _ in range(depth):
        cover.insert(0, cover[0].reshape(-1, 2).sum(axis=1))
    return Tree(
        left=np.append(2 * node + 1, none),
        right=np.append(2 * node + 2, none),
        feature=np.append(feature, none),
        threshold=np.append(border, np.zeros(n_leaves)),
        value=value,
        cover=np.concatenate(cover),
        missing_left=np.append(missing_left[feature], np.zeros(n_leaves, dtype=bool)),
    )


def _tree(tree, k, scale, missing_left):
    """A tree of any shape, as grown by leaf or by depth."""
    nodes = []

    def visit(node):
        place = len(nodes)
        nodes.append(None)
        if "split" not in node:
            value = scale * np.ravel(node["value"])
            nodes[place] = -1, -1, -1, 0.0, value, node["weight"]
            return place
        feature, border = _split(node["split"])
        left, right = visit(node["left"]), visit(node["right"])
        weight = nodes[left][-1] + nodes[right][-1]
        nodes[place] = left, right, feature, np.float32(border), np.zeros(k), weight
        return place

    visit(tree)
    left, right, feature, threshold, value, cover = zip(*nodes, strict=True)
    feature = np.array(feature, dtype=np.intp)
    return Tree(
        left=left,
        right=right,
        feature=feature,
        threshold=threshold,
        value=value,
        cover=cover,
        missing_left=np.append(missing_left, False)[feature],
    )


READERS = {
    ("catboost", "CatBoost"): _read,
    ("catboost", "CatBoostRanker"): _read_ranker,
}
