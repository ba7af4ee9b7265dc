"""The leaves of the trees of a global surrogate, or its coefficients, and their tables.

`read_surrogate` reads the fitted surrogate, `leaves_of` and `row_of_output` pick what
belongs to one output of the model, and `surrogate_blocks` makes the table.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sklearn_interpret._core.statistics.weighted import averaged_quantile
from sklearn_interpret._model._sklearn_compat import has_category_splits
from sklearn_interpret._model.formulas.linear import coefficient_table
from sklearn_interpret._model.responses.predictors import is_classifier
from sklearn_interpret._model.surrogates.inner_predictors import (
    column_deviations,
    inner_predictors,
)
from sklearn_interpret._model.surrogates.tree_rules import leaf_order, read_tree

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from sklearn_interpret._model.rows.base import Rows
    from sklearn_interpret._model.surrogates.inner_predictors import InnerPredictor

# Quantiles of the responses in a leaf that tables have.
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


class SurrogateTrees(NamedTuple):
    """The trees of a surrogate: one for all outputs of the model, or one for each."""

    trees: list[dict[str, Any]]  # as `read_tree` returns them
    leaves: NDArray[np.intp]  # (n_rows, n_trees): node that each row falls into


class SurrogateCoefficients(NamedTuple):
    """The coefficients of a linear surrogate, a row for all outputs or one for each."""

    coefficients: NDArray[np.float64]  # (n_tables, n_columns)
    deviations: NDArray[np.float64]  # (n_tables, n_columns): of the columns
    column_names: list[str]


@dataclass(frozen=True)
class Leaf:
    """The rows in a leaf, and the responses to them."""

    node: int  # its number in the tree
    rule: str  # the tests on the path to it
    responses: NDArray[np.float64]  # (n_rows,): of the model
    weights: NDArray[np.float64]  # (n_rows,): of the rows
    share: float  # of all weight
    surrogate_mean: float  # mean response of the surrogate; NaN where not known

    @property
    def n_rows(self) -> int:
        """Number of the rows."""
        return len(self.responses)

    @property
    def mean(self) -> float:
        """Mean response of the model."""
        return float(np.average(self.responses, weights=self.weights))

    @property
    def rows_text(self) -> str:
        """Number of the rows, in words."""
        return "1 row" if self.n_rows == 1 else f"{self.n_rows} rows"

    @property
    def percent_text(self) -> str:
        """Share of all weight, in words."""
        percent = 100 * self.share
        return "<1 %" if 0 < percent < 0.95 else f"{percent:.0f} %"

    def table_row(self) -> dict[str, Any]:
        """Numbers of the leaf by column of a table."""
        names = [f"q{100 * q:02.0f}" for q in QUANTILES]
        values = averaged_quantile(self.responses, np.array(QUANTILES), self.weights)
        return {
            "leaf": self.node,
            "rule": self.rule,
            "n_rows": self.n_rows,
            "share": self.share,
            "mean": self.mean,
            **dict(zip(names, values.tolist(), strict=True)),
            "surrogate": self.surrogate_mean,
        }


def leaves_of(
    tree: dict[str, Any],
    nodes: NDArray[np.intp],
    responses: NDArray[np.float64],
    surrogate_responses: NDArray[np.float64] | None,
    weights: NDArray[np.float64],
) -> list[Leaf]:
    """The `Leaf` of each node that rows fall into, from left to right."""
    leaves = []
    for node in leaf_order(tree):
        in_leaf = nodes == node
        if not in_leaf.any():
            continue
        rule, in_weights = tree["rules"][node], weights[in_leaf]
        share, mean = float(in_weights.sum() / weights.sum()), np.nan
        if surrogate_responses is not None:
            mean = float(np.average(surrogate_responses[in_leaf], weights=in_weights))
        leaves.append(Leaf(node, rule, responses[in_leaf], in_weights, share, mean))
    return leaves


def leaf_columns(leaves: list[Leaf]) -> dict[str, Any]:
    """Columns of a table with a line for each leaf."""
    lines = [leaf.table_row() for leaf in leaves]
    return {name: [line[name] for line in lines] for name in lines[0]}


def coefficient_columns(
    names: list[str], coefficients: NDArray[Any], deviations: NDArray[Any]
) -> dict[str, Any]:
    """Columns of a table with a line for each column, the largest effect first."""
    effects = coefficients * deviations
    order = np.argsort(-np.abs(effects), kind="stable")
    return {
        "column": [names[j] for j in order],
        "coef": coefficients[order],
        "std": deviations[order],
        "effect": effects[order],
    }


def surrogate_blocks(
    inspector: Any,
    rows: Rows,
    weights: NDArray[np.float64],
    responses: NDArray[np.float64],
    surrogate_responses: NDArray[np.float64] | None,
) -> list[dict[str, Any]]:
    """Table of a fitted `GlobalSurrogate`: of leaves, or of columns, output by output.

    Responses are (n_rows, n_outputs). A surrogate without leaves and coefficients has
    the importances of the features, if any.
    """
    surrogate, output_names = inspector.surrogate_, inspector.output_names_
    content = read_surrogate(surrogate, output_names, rows, weights)
    if content is None:
        importances = getattr(inspector, "feature_importances_", None)
        columns = {} if importances is None else {"importance": importances}
        return [{"feature": list(rows.names), **columns}]
    blocks = []
    for output, name in enumerate(output_names):
        block = {"output": name} if len(output_names) > 1 else {}
        if isinstance(content, SurrogateTrees):
            tree_number = output if len(content.trees) > 1 else 0
            leaves = leaves_of(
                content.trees[tree_number],
                content.leaves[:, tree_number],
                responses[:, output],
                None if surrogate_responses is None else surrogate_responses[:, output],
                weights,
            )
            block |= leaf_columns(leaves)
        else:
            coefficients = row_of_output(content.coefficients, output)
            deviations = row_of_output(content.deviations, output)
            names = content.column_names
            block |= coefficient_columns(names, coefficients, deviations)
        blocks.append(block)
    return blocks


def row_of_output(table: Any, output: int) -> NDArray[np.float64]:
    """The row of an output, or the one row for all of them."""
    table = np.atleast_2d(np.asarray(table, np.float64))
    return table[output] if len(table) > 1 else table[0]


def read_surrogate(
    surrogate: BaseEstimator,
    output_names: list[Any],
    rows: Rows,
    weights: NDArray[np.float64],
) -> SurrogateTrees | SurrogateCoefficients | None:
    """The surrogate's trees, or its coefficients; None if it has neither."""
    predictors = inner_predictors(surrogate)
    trees = [getattr(inner.predictor, "tree_", None) for inner in predictors]
    if all(tree is not None and not has_category_splits(tree) for tree in trees):
        trees_and_leaves = [read_tree(inner, rows) for inner in predictors]
        return SurrogateTrees(
            [tree for tree, _ in trees_and_leaves],
            np.stack([leaves for _, leaves in trees_and_leaves], axis=1),
        )
    if all(getattr(p.predictor, "coef_", None) is not None for p in predictors):
        labels = output_names if is_classifier(surrogate) else None
        return _read_coefficients(predictors, labels, rows, weights)
    return None


def _read_coefficients(
    predictors: list[InnerPredictor],
    labels: list[Any] | None,
    rows: Rows,
    weights: NDArray[np.float64],
) -> SurrogateCoefficients | None:
    """The coefficients, in the order of a classifier's labels.

    None if outputs have columns of their own: one list of names would not hold for all.
    """
    tables, deviations, names = [], [], []
    for inner in predictors:
        table = coefficient_table(inner.predictor)
        tables.append(table if labels is None else _sort_by_label(table, inner, labels))
        deviations.append(column_deviations(inner.columns_of(rows), weights))
        names.append(list(map(str, inner.describe_columns(rows))))
    if any(output_names != names[0] for output_names in names):
        return None
    return SurrogateCoefficients(
        np.concatenate(tables), np.stack(deviations), column_names=names[0]
    )


def _sort_by_label(
    table: NDArray[np.float64], inner: InnerPredictor, labels: list[Any]
) -> NDArray[np.float64]:
    """Coefficients of some labels, NaN for labels that the classifier has not seen."""
    classes = inner.predictor.classes_.tolist()
    if len(table) == 1:  # of the second of two classes; the first has the opposite
        table = np.concatenate([-table, table])
    missing = np.full(table.shape[1], np.nan)
    rows = [table[classes.index(k)] if k in classes else missing for k in labels]
    return np.stack(rows)
