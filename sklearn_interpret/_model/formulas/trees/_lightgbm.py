"""LightGBM's models, through their scikit-learn wrappers, without importing LightGBM.

The trees are read from the model's text form, which is public and stable. They are
evaluated as LightGBM does:

- numbers are compared in float64, but numbers within 1e-35 of zero count as zero;
- the missing type of a split is none (NaN counts as zero), NaN, or zero (NaN counts as
  zero);
- categories are truncated to integers; those that a split does not list go right, and
  so do missing ones.
"""

from dataclasses import dataclass
from itertools import chain

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import check_array

from sklearn_interpret._core.trees.structure.ensemble import Tree, join_trees
from sklearn_interpret._model.formulas.trees import tree_model
from sklearn_interpret.exceptions import UnreadableModelError

# Absolute values up to this are zero: LightGBM's constant, which is a float32.
_ZERO = float(np.float32(1e-35))

# Bits of LightGBM's decision type, and its codes of missing types.
_CATEGORICAL, _DEFAULT_LEFT = 1, 2
_NO_MISSING, _ZERO_MISSING = 0, 1

# Link functions of the objectives.
_IDENTITY = (
    "regression",
    "regression_l1",
    "huber",
    "fair",
    "quantile",
    "mape",
    "lambdarank",
    "rank_xendcg",
)
_LINKS = {
    **dict.fromkeys(_IDENTITY, "identity"),
    **dict.fromkeys(("poisson", "gamma", "tweedie"), "exp"),
    **dict.fromkeys(("binary", "multiclassova", "cross_entropy"), "logistic"),
    "multiclass": "softmax",
}


@dataclass(frozen=True)
class LightGBMEncoder:
    """Numbers as LightGBM compares them.

    Zero means missing in the columns `zero_is_missing`. `listed` are the categorical
    columns, each with the categories in any split; `levels` are the labels of the
    category columns of the training frame, in order.
    """

    n_columns: int
    zero_is_missing: tuple
    listed: tuple
    levels: tuple

    def __call__(self, X):
        numbers = self._numbers(X)
        numbers[np.abs(numbers) <= _ZERO] = 0.0
        for column in self.zero_is_missing:
            numbers[numbers[:, column] == 0, column] = np.nan
        for column, categories in self.listed:
            numbers[:, column] = tree_model.listed_positions(
                numbers[:, column], categories, np.nan
            )
        return numbers

    def _numbers(self, X):
        """Rows as float64, always a copy."""
        if tree_model.is_frame(X):
            columns = tree_model.column_numbers(X, self._places(X), lambda *_: np.nan)
            return np.column_stack(columns).astype(np.float64)
        if issparse(X):
            X = X.toarray()
        X = check_array(X, ensure_all_finite=False)
        if X.dtype not in (np.float32, np.float64):
            X = X.astype(np.float32)  # LightGBM casts integers so
        tree_model.check_width(X.shape[1], self.n_columns)
        return X.astype(np.float64)

    def _places(self, X):
        """Positions of labels, for the columns of category dtype in their order."""
        places = [None] * X.shape[1]
        found = [j for j, dtype in enumerate(X.dtypes) if str(dtype) == "category"]
        if len(found) != len(self.levels):
            raise ValueError(
                f"X has {len(found)} columns of category dtype, and the model was "
                f"fitted on {len(self.levels)}."
            )
        for column, labels in zip(found, self.levels, strict=True):
            places[column] = {label: place for place, label in enumerate(labels)}
        return places


def _read(estimator, _):
    booster = estimator.booster_  # raises if it is not fitted
    header, blocks = _parsed(booster.model_to_string())
    k = int(header["num_tree_per_iteration"])
    if any(int(block.get("is_linear", 0)) for block in blocks):
        raise UnreadableModelError("its leaves hold linear models (linear_tree=True).")
    n_columns = int(header["max_feature_idx"]) + 1
    listed = tree_model.listed_categories(
        chain.from_iterable(map(_category_splits, blocks))
    )
    encoder = LightGBMEncoder(
        n_columns=n_columns,
        zero_is_missing=_zero_columns(blocks),
        listed=tuple((j, tuple(found)) for j, found in listed.items()),
        levels=tuple(map(tuple, booster.pandas_categorical or ())),
    )
    is_mean = "average_output" in header  # boosting_type="rf"
    share = k / len(blocks) if is_mean else 1.0
    trees = [_tree(block, i % k, k, share, listed) for i, block in enumerate(blocks)]
    ensemble = join_trees(
        trees, base=np.zeros(k), n_features=n_columns, precision=np.dtype(np.float64)
    )
    return tree_model.TreeModel(
        ensemble=ensemble,
        encoder=encoder,
        columns=np.arange(n_columns),
        n_columns=n_columns,
        cover="rows",
        **_methods(_response(estimator, header.get("objective")), is_mean),
    )


def _parsed(text):
    """Fields of the header, and of each tree."""
    trees, _, _ = text.partition("\nend of trees")
    header, *blocks = trees.split("\nTree=")
    return _fields(header), [_fields(block) for block in blocks]


def _fields(block):
    pairs = (line.partition("=") for line in block.splitlines())
    return {name: value for name, _, value in pairs}


def _array(block, name, dtype):
    return np.array(block.get(name, "").split(), dtype=np.float64).astype(dtype)


def _response(estimator, objective):
    """Fields of TreeModel for the link from raw scores to responses."""
    name, *options = objective.split() if objective else [None]
    link = _LINKS.get(name)
    if name is None and not hasattr(estimator, "classes_"):
        link = "identity"  # a custom objective
    if "sqrt" in options:
        link = None
    fields = tree_model.response_fields(estimator, link)
    if link == "logistic":
        scales = dict(option.split(":") for option in options if ":" in option)
        fields["link_scale"] = float(scales.get("sigmoid", 1))
    return fields


def _methods(response, is_mean):
    """Fields with the method of raw scores; for a mean it returns the sum."""
    if not is_mean:
        raw = {"raw_method": "predict", "raw_params": {"raw_score": True}}
    elif response["link"] == "identity":
        raw = {"raw_method": response["response_method"]}
    else:
        raw = {"raw_method": None}
    return {**response, **raw}


def _splits(block):
    """Features, missing types, and flags of categorical splits."""
    decision = _array(block, "decision_type", np.intp)
    categorical = (decision & _CATEGORICAL) > 0
    return _array(block, "split_feature", np.intp), (decision >> 2) & 3, categorical


def _zero_columns(blocks):
    """Columns in which zero means missing."""
    kinds = {}
    for block in blocks:
        feature, missing, categorical = _splits(block)
        for j, kind in zip(
            feature[~categorical].tolist(), missing[~categorical].tolist(), strict=True
        ):
            kinds.setdefault(j, set()).add(kind == _ZERO_MISSING)
    if any(len(found) > 1 for found in kinds.values()):
        raise UnreadableModelError(
            "zero is a missing value in some of its trees, but not in others."
        )
    return tuple(sorted(j for j, found in kinds.items() if found == {True}))


def _category_splits(block):
    """Yield categorical splits: node, column, and categories that go left."""
    boundaries = _array(block, "cat_boundaries", np.intp)
    words = _array(block, "cat_threshold", np.uint32).astype("<u4")
    place = _array(block, "threshold", np.float64)
    feature, _, categorical = _splits(block)
    for node in np.flatnonzero(categorical):
        start, stop = boundaries[int(place[node]) :][:2]
        bits = np.unpackbits(words[start:stop].view(np.uint8), bitorder="little")
        yield node, feature[node], np.flatnonzero(bits)


def _tree(block, output, k, share, listed):
    """A tree with inner nodes first, then leaves."""
    feature, missing, categorical = _splits(block)
    n_inner, n_leaves = len(feature), int(block["num_leaves"])
    leaves = np.full(n_leaves, -1)

    def children(name):
        child = _array(block, name, np.intp)
        return np.append(np.where(child < 0, n_inner + ~child, child), leaves)

    threshold = _array(block, "threshold", np.float64)
    default = (_array(block, "decision_type", np.intp) & _DEFAULT_LEFT) > 0
    left = np.where(missing == _NO_MISSING, threshold >= 0, default) & ~categorical
    value = np.zeros((n_inner + n_leaves, k))
    value[n_inner:, output] = share * _array(block, "leaf_value", np.float64)
    counts = _array(block, "leaf_count", np.float64)
    counts = np.resize(counts, n_leaves) if len(counts) else np.zeros(n_leaves)
    sets, left_sets = tree_model.category_table(
        _category_splits(block), listed, n_inner
    )
    table = left_sets[:, :-1]  # categories in no split are encoded as missing
    return Tree(
        left=children("left_child"),
        right=children("right_child"),
        feature=np.append(feature, leaves),
        threshold=np.append(threshold, np.zeros(n_leaves)),
        value=value,
        cover=np.append(_array(block, "internal_count", np.float64), counts),
        missing_left=np.append(left, np.zeros(n_leaves, dtype=bool)),
        category_set=np.append(sets, leaves),
        categories_left=table,
        categories_known=np.ones_like(table),
    )


READERS = {("lightgbm", "LGBMModel"): _read}
