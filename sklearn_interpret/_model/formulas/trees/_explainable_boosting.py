"""Explainable boosting machines of `interpret`, without importing it.

Each term is a table of scores: a bin of missing values, bins between the cuts of a
number or bins of categories, and a bin of unknown values, for one column or more. A
table is a balanced tree over its bins.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from sklearn_interpret._core.trees.structure.ensemble import Tree, join_trees
from sklearn_interpret._model.formulas.formula_class import ModelClass
from sklearn_interpret._model.formulas.trees.tree_model import (
    Reader,
    TreeModel,
    check_width,
    response_fields,
)
from sklearn_interpret._model.rows.arrays import as_rows
from sklearn_interpret._model.rows.base import is_missing

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

_LINKS = {
    "identity": "identity",
    "log": "exp",
    "logit": "logistic",
    "mlogit": "softmax",
}


@dataclass(frozen=True, eq=False)
class BinEncoder:
    """Numbers as they are, and categories as the positions of their bins.

    `levels` has for each column the bins of its categories by their text, or None.
    """

    levels: tuple[Mapping[str, int] | None, ...]

    def __call__(self, X: Any) -> NDArray[np.float64]:
        rows = as_rows(X)
        check_width(rows.n_columns, len(self.levels))
        numbers = np.empty((rows.n_rows, len(self.levels)))
        for j, bins in enumerate(self.levels):
            if bins is None:
                numbers[:, j] = rows.column_array(j)
                continue
            codes, labels, _ = rows.encode([j])
            # The last bin is that of unseen categories.
            unseen = 1 + max(bins.values(), default=0)
            positions = [
                np.nan if is_missing(label) else bins.get(str(label), unseen)
                for label in labels
            ]
            numbers[:, j] = np.array(positions)[codes]
        return numbers


class _Axis(NamedTuple):
    """The column of an axis of a table, and the least numbers of its bins but one."""

    column: int
    cuts: NDArray[np.float64]


def _read(model: BaseEstimator, _: object) -> TreeModel:
    """Read a fitted explainable boosting machine."""
    check_is_fitted(model)
    levels = tuple(
        bins[0] if bins and isinstance(bins[0], dict) else None for bins in model.bins_
    )
    base = np.ravel(model.intercept_).astype(np.float64)
    trees = []
    for columns, scores, weights in zip(
        model.term_features_, model.term_scores_, model.bin_weights_, strict=True
    ):
        axes = [_axis(model.bins_[j], j, len(columns)) for j in columns]
        table = np.reshape(scores, (*weights.shape, len(base)))
        # Numbers have no last bin: it is that of texts.
        has_last = tuple(
            slice(None, n if levels[axis.column] is not None else -1)
            for axis, n in zip(axes, weights.shape, strict=True)
        )
        trees.append(_tree(axes, table[has_last], weights[has_last]))
    n_columns = len(model.bins_)
    raw_method = "decision_function" if hasattr(model, "decision_function") else None
    link = _LINKS.get(model.link_)
    if raw_method is None and link == "identity":
        raw_method = "predict"
    return TreeModel(
        ensemble=join_trees(
            trees, base=base, n_features=n_columns, precision=np.float64, strict=True
        ),
        encoder=BinEncoder(levels),
        columns=np.arange(n_columns),
        n_columns=n_columns,
        raw_method=raw_method,
        **response_fields(model, link),
    )


def _axis(bins: Sequence[Any], column: int, n_columns: int) -> _Axis:
    """The axis of a column in a term of several columns, which have fewer bins."""
    of_term = bins[min(len(bins), n_columns) - 1]
    if isinstance(of_term, dict):
        return _Axis(column, np.arange(1.5, len(set(of_term.values())) + 1))
    return _Axis(column, np.asarray(of_term, dtype=np.float64))


def _tree(
    axes: Sequence[_Axis], scores: NDArray[np.float64], weights: NDArray[np.float64]
) -> Tree:
    """A tree with a leaf for each bin of scores (n_bins, ..., k)."""
    nodes: list[dict[str, Any]] = []

    def add(axis: int, block: tuple[Any, ...]) -> int:
        """Append the nodes of a block: single bins of axes before, a slice of one."""
        position, bins = len(nodes), block[axis]
        weight = weights[block].sum()
        nodes.append({"left": -1, "right": -1, "feature": -1, "cover": weight})
        node, (start, stop) = nodes[position], (bins.start, bins.stop)
        if stop - start == 1:
            inner = (*block[:axis], start, *block[axis + 1 :])
            if axis + 1 < len(axes):
                nodes.pop()
                return add(axis + 1, inner)
            node["value"] = scores[inner]
            return position
        # The first bin is that of missing values: nothing else is below -inf.
        of_missing = start == 0
        middle = 1 if of_missing else (start + stop) // 2
        node["feature"] = axes[axis].column
        node["threshold"] = -np.inf if of_missing else axes[axis].cuts[middle - 2]
        node["missing_left"] = of_missing
        halves = slice(start, middle), slice(middle, stop)
        node["left"], node["right"] = (
            add(axis, (*block[:axis], half, *block[axis + 1 :])) for half in halves
        )
        return position

    add(0, tuple(slice(0, n) for n in weights.shape))
    defaults = {
        "threshold": 0.0,
        "missing_left": False,
        "value": np.zeros(scores.shape[-1]),
    }
    columns = {
        name: np.array([node.get(name, defaults.get(name)) for node in nodes])
        for name in ("left", "right", "feature", "cover", *defaults)
    }
    return Tree(**columns)


READERS: dict[ModelClass, Reader] = {
    ("interpret", "ExplainableBoostingClassifier"): _read,
    ("interpret", "ExplainableBoostingRegressor"): _read,
}
