"""LightGBM's models, through their scikit-learn wrappers, without importing LightGBM.

The trees are read from the model's text form, which is public and stable. They are
evaluated as LightGBM does:

- numbers are compared in float64, but numbers within 1e-35 of zero count as zero;
- the missing type of a split is none (NaN counts as zero), NaN, or zero (NaN counts as
  zero);
- categories are truncated to integers; those that a split does not list go right, and
  so do missing ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils import check_array

from sklearn_interpret._core.trees.structure.ensemble import Tree, join_trees
from sklearn_interpret._model.adapters.boosters import LightGBMBooster
from sklearn_interpret._model.formulas.formula_class import ModelClass
from sklearn_interpret._model.formulas.trees import tree_model
from sklearn_interpret.exceptions import UnreadableModelError

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

# Names and values of a header, or of a tree.
_Fields = dict[str, str]

# Absolute values up to this are zero: LightGBM's constant, which is a float32.
_ZERO = float(np.float32(1e-35))

# Bits of LightGBM's decision type: the split is on categories, missing values go left.
_CATEGORICAL, _DEFAULT_LEFT = 1, 2
# Its next two bits are the missing type: missing values do not occur, or zero is one.
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
    """Numbers as LightGBM compares them."""

    n_columns: int
    zero_is_missing: tuple[int, ...]  # columns in which it is
    listed: tuple[tree_model.ListedCategories, ...]
    # Labels of each column of category dtype in the training frame, in its order.
    levels: tuple[tuple[Any, ...], ...]

    def __call__(self, X: Any) -> NDArray[np.float64]:
        numbers = self._as_float64(X)
        numbers[np.abs(numbers) <= _ZERO] = 0.0
        for column in self.zero_is_missing:
            numbers[numbers[:, column] == 0, column] = np.nan
        for column, categories in self.listed:
            numbers[:, column] = tree_model.listed_positions(
                numbers[:, column], categories, np.nan
            )
        return numbers

    def _as_float64(self, X: Any) -> NDArray[np.float64]:
        """Rows as float64, always a copy."""
        if tree_model.is_frame(X):
            columns = tree_model.column_numbers(
                X, self._label_positions(X), lambda *_: np.nan
            )
            return np.column_stack(columns).astype(np.float64)
        if issparse(X):
            X = X.toarray()
        X = check_array(X, ensure_all_finite=False)
        if X.dtype not in (np.float32, np.float64):
            X = X.astype(np.float32)  # LightGBM casts integers so
        tree_model.check_width(X.shape[1], self.n_columns)
        return X.astype(np.float64)

    def _label_positions(self, X: Any) -> list[dict[Any, int] | None]:
        """Positions of labels, for the columns of category dtype in their order."""
        positions: list[dict[Any, int] | None] = [None] * X.shape[1]
        columns = [j for j, dtype in enumerate(X.dtypes) if str(dtype) == "category"]
        if len(columns) != len(self.levels):
            raise ValueError(
                f"X has {len(columns)} columns of category dtype, and the model was "
                f"fitted on {len(self.levels)}."
            )
        for column, labels in zip(columns, self.levels, strict=True):
            positions[column] = {label: i for i, label in enumerate(labels)}
        return positions


def _read(estimator: BaseEstimator, _: object) -> tree_model.TreeModel:
    """Read a fitted LGBMModel."""
    booster = estimator.booster_  # raises if it is not fitted
    header, blocks = _parse_model(booster.model_to_string())
    n_outputs = int(header["num_tree_per_iteration"])
    if any(int(block.get("is_linear", 0)) for block in blocks):
        raise UnreadableModelError("its leaves hold linear models (linear_tree=True).")
    n_columns = int(header["max_feature_idx"]) + 1
    listed = tree_model.listed_categories(
        chain.from_iterable(map(_category_splits, blocks))
    )
    encoder = LightGBMEncoder(
        n_columns=n_columns,
        zero_is_missing=_columns_with_zero_missing(blocks),
        listed=listed,
        levels=tuple(map(tuple, booster.pandas_categorical or ())),
    )
    is_mean = "average_output" in header  # boosting_type="rf"
    weight = n_outputs / len(blocks) if is_mean else 1.0
    trees = [
        _read_tree(block, i % n_outputs, n_outputs, weight, listed)
        for i, block in enumerate(blocks)
    ]
    ensemble = join_trees(
        trees,
        base=np.zeros(n_outputs),
        n_features=n_columns,
        precision=np.dtype(np.float64),
    )
    return tree_model.TreeModel(
        ensemble=ensemble,
        encoder=encoder,
        columns=np.arange(n_columns),
        n_columns=n_columns,
        cover="rows",
        **_with_sum_method(_link_fields(estimator, header.get("objective")), is_mean),
    )


def _parse_model(text: str) -> tuple[_Fields, list[_Fields]]:
    """Fields of the header, and of each tree."""
    trees, _, _ = text.partition("\nend of trees")
    header, *blocks = trees.split("\nTree=")
    return _parse_fields(header), [_parse_fields(block) for block in blocks]


def _parse_fields(block: str) -> _Fields:
    """Fields of a block, whose lines are name=value."""
    pairs = (line.partition("=") for line in block.splitlines())
    return {name: value for name, _, value in pairs}


def _parse_numbers(block: _Fields, name: str, dtype: type) -> NDArray[Any]:
    """Numbers of a field; none where there is no such field."""
    return np.array(block.get(name, "").split(), dtype=np.float64).astype(dtype)


def _link_fields(estimator: BaseEstimator, objective: str | None) -> dict[str, Any]:
    """Fields of TreeModel for the link from raw scores to responses."""
    name, *options = objective.split() if objective else [""]
    link = _LINKS.get(name)
    if not name and not hasattr(estimator, "classes_"):
        link = "identity"  # a custom objective
    if "sqrt" in options:
        link = None
    fields = tree_model.response_fields(estimator, link)
    if link == "logistic":
        scales = dict(option.split(":") for option in options if ":" in option)
        fields["link_scale"] = float(scales.get("sigmoid", 1))
    return fields


def _with_sum_method(response: dict[str, Any], is_mean: bool) -> dict[str, Any]:
    """The fields, with those of the method that returns the sum of the trees.

    `raw_score=True` returns the sum also where a response is the mean of the trees.
    """
    if not is_mean:
        raw: dict[str, Any] = {
            "raw_method": "predict",
            "raw_params": {"raw_score": True},
        }
    elif response["link"] == "identity":
        raw = {"raw_method": response["response_method"]}
    else:
        raw = {"raw_method": None}
    return {**response, **raw}


class _Splits(NamedTuple):
    """The splits of a tree, (n_inner,) each."""

    feature: NDArray[np.intp]
    missing_type: NDArray[np.intp]
    default_left: NDArray[np.bool_]  # missing values go left
    categorical: NDArray[np.bool_]

    @classmethod
    def of_block(cls, block: _Fields) -> _Splits:
        """The splits of a tree's block."""
        decision = _parse_numbers(block, "decision_type", np.intp)
        return cls(
            _parse_numbers(block, "split_feature", np.intp),
            (decision >> 2) & 3,
            (decision & _DEFAULT_LEFT) > 0,
            (decision & _CATEGORICAL) > 0,
        )


def _columns_with_zero_missing(blocks: list[_Fields]) -> tuple[int, ...]:
    """Columns in which zero means missing."""
    answers: dict[int, set[bool]] = {}  # of all splits on each column
    for block in blocks:
        splits = _Splits.of_block(block)
        numeric = ~splits.categorical
        zero_is_missing = splits.missing_type[numeric] == _ZERO_MISSING
        for column, answer in zip(
            splits.feature[numeric].tolist(), zero_is_missing.tolist(), strict=True
        ):
            answers.setdefault(column, set()).add(answer)
    if any(len(of_column) > 1 for of_column in answers.values()):
        raise UnreadableModelError(
            "zero is a missing value in some of its trees, but not in others."
        )
    return tuple(sorted(j for j, of_column in answers.items() if of_column == {True}))


def _category_splits(block: _Fields) -> Iterator[tree_model.CategorySplit]:
    """Yield categorical splits: node, column, and categories that go left."""
    boundaries = _parse_numbers(block, "cat_boundaries", np.intp)
    words = _parse_numbers(block, "cat_threshold", np.uint32).astype("<u4")
    set_index = _parse_numbers(block, "threshold", np.float64)
    splits = _Splits.of_block(block)
    for node in np.flatnonzero(splits.categorical).tolist():
        start, stop = boundaries[int(set_index[node]) :][:2]
        bits = np.unpackbits(words[start:stop].view(np.uint8), bitorder="little")
        column = int(splits.feature[node])
        yield tree_model.CategorySplit(node, column, np.flatnonzero(bits))


def _read_tree(
    block: _Fields,
    output: int,
    n_outputs: int,
    weight: float,
    listed: tuple[tree_model.ListedCategories, ...],
) -> Tree:
    """A tree that adds to one output; its inner nodes come first, then its leaves."""
    splits = _Splits.of_block(block)
    n_inner, n_leaves = len(splits.feature), int(block["num_leaves"])
    leaves = np.full(n_leaves, -1)

    def children(name: str) -> NDArray[np.intp]:
        child = _parse_numbers(block, name, np.intp)  # ~k for leaf k
        return np.append(np.where(child < 0, n_inner + ~child, child), leaves)

    threshold = _parse_numbers(block, "threshold", np.float64)
    # Where missing values do not occur, NaN counts as zero.
    missing_left = np.where(
        splits.missing_type == _NO_MISSING, threshold >= 0, splits.default_left
    )
    missing_left &= ~splits.categorical
    value = np.zeros((n_inner + n_leaves, n_outputs))
    value[n_inner:, output] = weight * _parse_numbers(block, "leaf_value", np.float64)
    counts = _parse_numbers(block, "leaf_count", np.float64)
    counts = np.resize(counts, n_leaves) if len(counts) else np.zeros(n_leaves)
    sets, left_sets = tree_model.category_table(
        _category_splits(block), listed, n_inner
    )
    table = left_sets[:, :-1]  # categories in no split are encoded as missing
    return Tree(
        left=children("left_child"),
        right=children("right_child"),
        feature=np.append(splits.feature, leaves),
        threshold=np.append(threshold, np.zeros(n_leaves)),
        value=value,
        cover=np.append(_parse_numbers(block, "internal_count", np.float64), counts),
        missing_left=np.append(missing_left, np.zeros(n_leaves, dtype=bool)),
        category_set=np.append(sets, leaves),
        categories_left=table,
        categories_known=np.ones_like(table),
    )


READERS: dict[ModelClass, tree_model.Reader] = {
    ("lightgbm", "LGBMModel"): _read,
    LightGBMBooster: _read,
}
