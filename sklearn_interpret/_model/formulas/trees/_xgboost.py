"""XGBoost's models, through their scikit-learn wrappers, without importing XGBoost.

The trees are read from the model's JSON form, which is public and has a schema. They
are evaluated as XGBoost does:

- numbers are cast to float32, and ``x < threshold`` goes left;
- entries that a sparse matrix does not store are missing, as is the value `missing`;
- categories are truncated to integers; a split lists those that go right, and all
  others, negative ones too, go left.

XGBoost sums margins in float32, this library in float64: they differ by rounding.
"""

import json
from dataclasses import dataclass
from itertools import chain, count, pairwise

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sklearn_interpret._core.trees.structure.ensemble import Tree, join_trees
from sklearn_interpret._core.trees.structure.joining import without_unreached
from sklearn_interpret._model.formulas.trees.tree_model import (
    ArrayEncoder,
    TreeModel,
    category_table,
    column_numbers,
    is_frame,
    listed_categories,
    listed_positions,
    response_fields,
)
from sklearn_interpret.exceptions import UnreadableModelError

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
_MARGINS = {
    **dict.fromkeys(_EXP, np.log),
    **dict.fromkeys(_LOGISTIC, lambda p: -np.log(1 / p - 1)),
}


@dataclass(frozen=True)
class XGBoostEncoder:
    """Numbers as XGBoost compares them.

    `numbers` encodes arrays. `listed` are the categorical columns, each with the
    categories in any split. `levels` are, for each column, the labels of its categories
    in the training frame (integers, or bytes for text), or None.
    """

    numbers: ArrayEncoder
    listed: tuple
    levels: tuple

    def __call__(self, X):
        if is_frame(X):
            columns = column_numbers(X, self._places(X), _refuse_unseen)
            X = np.column_stack([column.astype(_SINGLE) for column in columns])
        numbers = self.numbers(X)
        if not self.listed:
            return numbers
        numbers = numbers.copy()
        for column, categories in self.listed:
            values = numbers[:, column]
            # Unlisted and negative values go left.
            values = np.where(values < 0, -1, values)
            numbers[:, column] = listed_positions(values, categories, len(categories))
        return numbers

    def _places(self, X):
        """Positions of labels in the columns of categories."""
        places = []
        for dtype, level in zip(X.dtypes, self.levels, strict=False):
            place = None if level is None else dict(zip(level, count()))
            if str(dtype) == "category":
                declared = list(dtype.categories)
                if level is None:  # fitted on arrays, or old: by position
                    place = dict(zip(declared, count()))
                elif isinstance(level[0], bytes):
                    names = dict(zip(declared, _stored_labels(declared), strict=True))
                    place = {label: place.get(name) for label, name in names.items()}
            elif place is not None and isinstance(level[0], bytes):
                place = {name.decode(errors="replace"): i for name, i in place.items()}
            places.append(place)
        return places


def _stored_labels(labels):
    """Labels as XGBoost stores and compares those of pandas frames.

    It concatenates their bytes, but splits at numbers of characters, which is wrong for
    characters that are not ASCII.
    """
    text = "".join(map(str, labels))
    stops = np.cumsum([0, *(len(str(label)) for label in labels)])
    return [text.encode()[start:stop] for start, stop in pairwise(stops)]


def _refuse_unseen(name, label):
    raise ValueError(
        f"The feature {name!r} has the category {label!r}, which the model has not "
        "seen: XGBoost refuses it, or confuses it with another. Make it missing."
    )


def _read(estimator, _):
    check_is_fitted(estimator)
    booster = estimator.get_booster()
    learner = json.loads(booster.save_raw(raw_format="json"))["learner"]
    gradient_booster = learner["gradient_booster"]
    name = gradient_booster["name"]
    if name == "gblinear":
        raise UnreadableModelError("booster='gblinear' has no trees.")
    dart = name == "dart"
    forest = (gradient_booster["gbtree"] if dart else gradient_booster)["model"]
    blocks = forest["trees"][: _n_trees_in_use(estimator, forest)]
    weights = gradient_booster["weight_drop"] if dart else np.ones(len(blocks))
    base = _base(learner)
    n_columns = int(learner["learner_model_param"]["num_feature"])
    listed = listed_categories(chain.from_iterable(map(_category_splits, blocks)))
    outputs = zip(blocks, forest["tree_info"], weights, strict=False)
    trees = [
        _tree(block, output, len(base), np.float32(weight), listed)
        for block, output, weight in outputs
    ]
    model = TreeModel(
        ensemble=join_trees(
            trees, base=base, n_features=n_columns, precision=_SINGLE, strict=True
        ),
        encoder=_encoder(estimator, forest, listed, n_columns),
        columns=np.arange(n_columns),
        n_columns=n_columns,
        raw_method="predict",
        raw_params={"output_margin": True},
        cover="hessian",
        **response_fields(estimator, _LINKS.get(learner["objective"]["name"])),
    )
    _check_margin(model, estimator)
    return model


def _encoder(estimator, forest, listed, n_columns):
    missing = np.nan if estimator.missing is None else float(estimator.missing)
    return XGBoostEncoder(
        numbers=ArrayEncoder(n_columns, _SINGLE, absent=np.nan, missing=missing),
        listed=tuple((j, tuple(categories)) for j, categories in listed.items()),
        levels=_levels(forest, n_columns),
    )


def _check_margin(model, estimator):
    """Check one prediction: XGBoost's versions store the base score differently."""
    row = np.full((1, model.n_columns), np.nan)
    margin = estimator.predict(row, validate_features=False, **model.raw_params)
    if not np.allclose(model.raw(row), margin, rtol=1e-4, atol=1e-4):
        raise UnreadableModelError(
            "the sum of its trees is not its prediction; this version of XGBoost, or "
            "this objective, is not supported."
        )


def _n_trees_in_use(estimator, forest):
    """Number of trees up to the best iteration, if training stopped early."""
    try:
        rounds = estimator.best_iteration + 1
    except AttributeError:
        return len(forest["trees"])
    return forest["iteration_indptr"][rounds]


def _base(learner):
    """Margin of each output before the first tree."""
    parameters = learner["learner_model_param"]
    k = max(int(parameters["num_class"]), int(parameters.get("num_target", 1)), 1)
    scores = parameters["base_score"].strip("[]").split(",")
    scores = np.array(scores, dtype=np.float32)
    margin = _MARGINS.get(learner["objective"]["name"])
    if margin is not None:
        scores = margin(scores)
    return np.resize(scores, k).astype(np.float64)


def _levels(forest, n_columns):
    """Labels of the training frame's categories by column; None without any."""
    columns = forest.get("cats", {}).get("enc", [])
    if not columns:
        return (None,) * n_columns
    levels = tuple(map(_labels, columns))
    if any(len(set(level or ())) < len(level or ()) for level in levels):
        raise UnreadableModelError(
            "it has categories whose names XGBoost cannot distinguish (not ASCII)."
        )
    return levels


def _labels(column):
    values = column["values"]
    if "offsets" not in column:
        return tuple(values) if values else None
    text = bytes(value % 256 for value in values)
    bounds = column["offsets"]
    if len(bounds) == 0:
        return None
    return tuple(text[start:stop] for start, stop in pairwise(bounds))


def _category_splits(block):
    """Yield categorical splits: node, column, and categories that go right."""
    parts = zip(
        block["categories_nodes"],
        block["categories_segments"],
        block["categories_sizes"],
        strict=True,
    )
    for node, start, size in parts:
        categories = block["categories"][start : start + size]
        yield node, block["split_indices"][node], categories


def _tree(block, output, k, weight, listed):
    left, right = np.array(block["left_children"]), np.array(block["right_children"])
    leaf = left < 0
    value = np.zeros((len(left), k))
    threshold = np.array(block["split_conditions"], dtype=np.float32)
    if int(block["tree_param"]["size_leaf_vector"]) > 1:
        value[leaf] = _leaf_vectors(block, k, leaf)
    else:
        value[:, output] = weight * threshold  # in float32, as XGBoost
    sets, go_right = category_table(_category_splits(block), listed, len(left))
    tree = Tree(
        left=left,
        right=right,
        feature=np.array(block["split_indices"]),
        threshold=threshold,
        value=value,
        cover=np.array(block["sum_hessian"]),
        missing_left=np.array(block["default_left"], dtype=bool),
        category_set=sets,
        categories_left=~go_right,
        categories_known=np.ones_like(go_right),
    )
    return without_unreached(tree)


def _leaf_vectors(block, k, leaf):
    """Values for all outputs at the leaves of a tree."""
    if "leaf_weights" not in block:
        raise UnreadableModelError(
            "its trees have several outputs each (multi_strategy='multi_output_tree'), "
            "and XGBoost before 3.2 does not keep the cover of such trees."
        )
    vectors = np.array(block["leaf_weights"], dtype=np.float32).reshape(-1, k)
    # XGBoost stores the index of a leaf's vector as its right child.
    return vectors[np.array(block["right_children"])[leaf]]


READERS = {("xgboost", "XGBModel"): _read}
