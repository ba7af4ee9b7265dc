"""The path of one row through one tree: conditions as text, and node statistics."""

from dataclasses import dataclass, replace
from numbers import Integral

import numpy as np
from numpy.typing import NDArray

from sklearn_interpret._core.trees.structure.ensemble import node_means
from sklearn_interpret._model.rows.base import default_names, is_missing
from sklearn_interpret._model.rows.number_format import rounded_between
from sklearn_interpret._model.surrogates.inner_predictors import Column


@dataclass(frozen=True)
class DecisionPath:
    """Statistics of the d nodes from the root to the leaf."""

    conditions: list[str]  # as text; "all rows" for the root
    cover: NDArray[np.float64]
    cover_name: str
    means: NDArray[np.float64]  # (d, k)
    deviations: NDArray[np.float64]
    are_shares: bool  # means are shares of the classes, which sum to one
    n_trees: int  # number of trees of the model
    output: int  # position of the output that the means are of


def decision_path(response, row, tree, names=None, encoded=()):
    """The `DecisionPath` of a row (`Rows` of one) through a tree of a TreeResponse.

    Means of a forest's tree are its own predictions; those of boosting are the tree's
    contributions. `encoded` describes the columns that the trees get, as
    `InnerPredictor.described` returns them.
    """
    model = response.model
    trees = model.ensemble
    whole = isinstance(tree, Integral) and not isinstance(tree, bool)
    if not whole or not 0 <= tree < trees.n_trees:
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
        j = trees.feature[node]
        left = bool(trees.goes_left(np.array([node]), codes[[j]])[0])
        column, number = model.columns[j], numbers[0, j]
        value = row.column_array(column)[0]
        if is_missing(value) and number != number:
            text = "is missing"
        else:
            text = _levels_text(model, node, left, row, encoded[j])
            text = text or _bound_text(trees, node, left, number, value)
        conditions.append(f"{names[column]} {text}")
        nodes.append((trees.left if left else trees.right)[node])
    shares = model.raw_method == "predict_proba" and trees.n_outputs > 1
    shares = shares and not isinstance(model.classes, list)
    means, deviations = _moments(trees if shares else response.ensemble, tree, nodes)
    scale, cover, output = model.n_averaged, trees.cover[nodes], 0
    if shares:
        scale = 1 / means[0].sum()  # a tree may have only a share of the vote
    else:  # the output that a tree of boosting contributes to
        output = np.abs(means).max(axis=0).argmax()
        means, deviations = means[:, [output]], deviations[:, [output]]
    return DecisionPath(
        conditions,
        cover,
        _cover_name(model.cover, cover),
        means * scale,
        deviations * scale,
        shares,
        trees.n_trees,
        int(output),
    )


def _cover_name(kind, cover):
    """Name of the quantity in the cover of nodes."""
    if kind == "rows" or (kind == "weight" and not (cover % 1).any()):
        return "training rows"
    return {"weight": "weight of rows", "hessian": "hessian"}.get(kind, "cover")


def _levels_text(model, node, left, row, encoded):
    """Text of the levels on the row's side of a split; None for numeric splits."""
    trees = model.ensemble
    if encoded.category is not None:
        return f"{'≠' if left else '='} {encoded.category}"
    labels, j, in_order = encoded.levels, trees.feature[node], encoded.in_order
    if labels is not None:
        places, threshold = np.arange(len(labels)), trees.threshold[node]
        same = places < threshold if trees.strict else places <= threshold
    elif trees.category_set[node] < 0:
        return None
    else:
        column = model.columns[j]
        labels = row.categories(column)
        if labels is None:
            return f"= {row.column_array(column)[0]}, or a level of the same side"
        cells = [row.cast(column, labels)], [np.arange(len(labels))[None]]
        levels = row.tiles(0, 1, len(labels)).replaced([column], *cells)
        codes = trees.codes(model.encode(levels))[:, j]
        same = trees.goes_left(np.full(len(codes), node), codes)
    labels = np.array(list(map(str, labels)), dtype=object)
    kept, others = labels[same == left], labels[same != left]
    if len(kept) <= max(len(others), 1):
        return f"= {' or '.join(in_order(kept))}"
    return f"≠ {' or '.join(in_order(others))}"


def _bound_text(trees, node, left, number, value):
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


def _moments(trees, tree, nodes):
    """Means and standard deviations, by cover, of the leaves below nodes of a tree."""
    ends = np.append(trees.roots, trees.n_nodes)
    own = slice(int(ends[tree]), int(ends[tree + 1]))
    one, nodes = trees.part(slice(tree, tree + 1), own), np.array(nodes) - own.start
    means = node_means(one)
    around = np.where(one.is_leaf[:, None], one.value - means[one.roots[0]], 0.0)
    squares = node_means(replace(one, value=around**2))[nodes]
    variances = squares - (means[nodes] - means[one.roots[0]]) ** 2
    return means[nodes], np.sqrt(np.maximum(variances, 0))
