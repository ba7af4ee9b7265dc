"""The path of one row through one tree: conditions as text, and node statistics.

:func:`decision_path` follows the row; the text of a condition, and the statistics of
the leaves below a node, come from the helpers behind it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sklearn_interpret._core.trees.structure.ensemble import node_means
from sklearn_interpret._model.rows.base import default_names, is_missing
from sklearn_interpret._model.rows.number_format import rounded_between
from sklearn_interpret._model.surrogates.inner_predictors import Column

if TYPE_CHECKING:
    from sklearn_interpret._core.trees.structure.ensemble import TreeEnsemble
    from sklearn_interpret._model.formulas.trees.tree_model import TreeModel
    from sklearn_interpret._model.formulas.trees.tree_response import TreeResponse
    from sklearn_interpret._model.rows.base import Rows


@dataclass(frozen=True)
class DecisionPath:
    """Statistics of the d nodes from the root to the leaf."""

    conditions: list[str]  # as text; "all rows" for the root
    cover: NDArray[np.float64]  # (d,)
    cover_name: str  # what the cover is
    means: NDArray[np.float64]  # (d, k)
    deviations: NDArray[np.float64]  # (d, k): standard deviations
    are_shares: bool  # means are shares of the classes, which sum to one
    n_trees: int  # number of trees of the model
    output: int  # position of the output that the means are of


def decision_path(
    response: TreeResponse,
    row: Rows,
    tree: int,
    names: list[str] | None = None,
    encoded: Sequence[Column] = (),
) -> DecisionPath:
    """The `DecisionPath` of a row (`Rows` of one) through a tree of a TreeResponse.

    Means of a forest's tree are its own predictions; those of boosting are the tree's
    contributions. `encoded` describes the columns that the trees get, as
    `InnerPredictor.describe_columns` returns them.
    """
    model = response.model
    trees = model.ensemble
    is_integer = isinstance(tree, Integral) and not isinstance(tree, bool)
    if not is_integer or not 0 <= tree < trees.n_trees:
        raise ValueError(
            f"tree={tree!r} is accepted from 0 to {trees.n_trees - 1}: the model has "
            f"{trees.n_trees} trees."
        )
    names = default_names(model.n_columns) if names is None else names
    numbers = model.encode(row.native)
    codes = trees.codes(numbers)[0]
    nodes, conditions = [trees.roots[tree]], ["all rows"]
    if len(encoded) != trees.n_features:
        encoded = [Column("")] * trees.n_features
    while not trees.is_leaf[nodes[-1]]:
        node = nodes[-1]
        feature = trees.feature[node]
        left = bool(trees.goes_left(np.array([node]), codes[[feature]])[0])
        column, number = model.columns[feature], numbers[0, feature]
        value = row.column_array(column)[0]
        text: str | None = "is missing"
        if not (is_missing(value) and np.isnan(number)):
            text = _levels_text(model, node, left, row, encoded[feature])
            text = text or _bound_text(trees, node, left, number, value)
        conditions.append(f"{names[column]} {text}")
        nodes.append((trees.left if left else trees.right)[node])
    are_shares = model.raw_method == "predict_proba" and trees.n_outputs > 1
    are_shares = are_shares and not isinstance(model.classes, list)
    ensemble = trees if are_shares else response.ensemble
    means, deviations = _moments_below(ensemble, tree, nodes)
    scale, cover, output = model.n_averaged, trees.cover[nodes], 0
    if are_shares:
        scale = 1 / means[0].sum()  # a tree may have only a part of the vote
    else:  # the output that a tree of boosting contributes to
        output = np.abs(means).max(axis=0).argmax()
        means, deviations = means[:, [output]], deviations[:, [output]]
    return DecisionPath(
        conditions,
        cover,
        _cover_name(model.cover, cover),
        means * scale,
        deviations * scale,
        are_shares,
        trees.n_trees,
        int(output),
    )


def _cover_name(kind: str, cover: NDArray[np.float64]) -> str:
    """Name of the quantity in the cover of nodes."""
    if kind == "rows" or (kind == "weight" and not (cover % 1).any()):
        return "training rows"
    return {"weight": "weight of rows", "hessian": "hessian"}.get(kind, "cover")


def _levels_text(
    model: TreeModel, node: int, left: bool, row: Rows, encoded: Column
) -> str | None:
    """Text of the levels on the row's side of a split; None for numeric splits."""
    trees = model.ensemble
    if encoded.category is not None:
        return f"{'≠' if left else '='} {encoded.category}"
    feature, in_order = trees.feature[node], encoded.in_order
    labels: Sequence[Any] | None = encoded.levels
    if labels is not None:
        positions, threshold = np.arange(len(labels)), trees.threshold[node]
        goes_left = positions < threshold if trees.strict else positions <= threshold
    elif trees.category_set[node] < 0:
        return None
    else:
        column = model.columns[feature]
        labels = row.categories(column)
        if labels is None:
            return f"= {row.column_array(column)[0]}, or a level of the same side"
        # Copies of the row with each of the levels.
        levels = [row.cast(column, labels)], [np.arange(len(labels))[None]]
        copies = row.tiles(0, 1, len(labels)).replace([column], *levels)
        codes = trees.codes(model.encode(copies))[:, feature]
        goes_left = trees.goes_left(np.full(len(codes), node), codes)
    texts = np.array(list(map(str, labels)), dtype=object)
    row_levels, other_levels = texts[goes_left == left], texts[goes_left != left]
    if len(row_levels) <= max(len(other_levels), 1):
        return f"= {' or '.join(in_order(row_levels))}"
    return f"≠ {' or '.join(in_order(other_levels))}"


def _bound_text(
    trees: TreeEnsemble, node: int, left: bool, number: float, value: float
) -> str:
    """Text of the bound that a row meets; `number` is its encoded `value`."""
    if isinstance(value, bool | np.bool_):
        return f"= {value}"
    below, above = ("<", "≥") if trees.strict else ("≤", ">")
    # The fewest digits that send the row the same way.
    side = np.nextafter(number, np.inf, dtype=np.float64) if trees.strict else number
    threshold = rounded_between(trees.threshold[node], np.array([side]))
    text = f"{below if left else above} {threshold}"
    is_number = np.issubdtype(np.asarray(value).dtype, np.number)
    if is_number and np.isclose(float(value), number, rtol=1e-6, atol=0):
        return text
    return f"{text} as transformed"


def _moments_below(
    trees: TreeEnsemble, tree: int, nodes: list[int]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Means and standard deviations, by cover, of the leaves below nodes of a tree."""
    ends = np.append(trees.roots, trees.n_nodes)
    span = slice(int(ends[tree]), int(ends[tree + 1]))
    one_tree = trees.slice_trees(slice(tree, tree + 1), span)
    nodes_of_tree = np.array(nodes) - span.start
    all_means = node_means(one_tree)
    means, root_mean = all_means[nodes_of_tree], all_means[one_tree.roots[0]]
    # Squares of deviations from the mean of the root lose fewer digits.
    deviations = np.where(one_tree.is_leaf[:, None], one_tree.value - root_mean, 0.0)
    squares = node_means(replace(one_tree, value=deviations**2))[nodes_of_tree]
    variances = squares - (means - root_mean) ** 2
    return means, np.sqrt(np.maximum(variances, 0))
