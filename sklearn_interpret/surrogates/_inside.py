"""What is inside a global surrogate: the leaves of its trees, or its coefficients."""

from dataclasses import dataclass

import numpy as np

from sklearn_interpret._core.statistics.weighted import averaged_quantile
from sklearn_interpret._model._sklearn_compat import has_category_splits
from sklearn_interpret._model.formulas.linear import coefficient_table
from sklearn_interpret._model.responses.predictors import is_classifier
from sklearn_interpret._model.surrogates.inner_predictors import (
    column_deviations,
    inner_predictors,
)
from sklearn_interpret._model.surrogates.tree_rules import leaf_order, read_tree

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


@dataclass(frozen=True)
class Leaf:
    """The rows in a leaf, and the responses to them."""

    node: int  # its number in the tree
    rule: str  # the tests on the path to it
    values: np.ndarray  # (n,): responses of the model
    weights: np.ndarray  # (n,): weights of the rows
    share: float  # of all weight
    surrogate: float  # mean response of the surrogate; NaN where that is not known

    @property
    def mean(self):
        """Mean response of the model."""
        return float(np.average(self.values, weights=self.weights))

    @property
    def percent(self):
        """Share of the rows, in words."""
        percent = 100 * self.share
        return "<1 %" if 0 < percent < 0.95 else f"{percent:.0f} %"

    @property
    def n_rows(self):
        """Number of the rows, in words."""
        return f"{len(self.values)} row{'s'[: len(self.values) != 1]}"

    def numbers(self):
        """Row of a table."""
        names = [f"q{100 * q:02.0f}" for q in QUANTILES]
        values = averaged_quantile(self.values, np.array(QUANTILES), self.weights)
        return {
            "leaf": self.node,
            "rule": self.rule,
            "n_rows": len(self.values),
            "share": self.share,
            "mean": self.mean,
            **dict(zip(names, values.tolist(), strict=True)),
            "surrogate": self.surrogate,
        }


def leaves_of(tree, nodes, values, surrogate, weights):
    """The `Leaf` of each node that rows fall into, from left to right."""
    leaves = []
    for node in leaf_order(tree):
        inside = nodes == node
        if not inside.any():
            continue
        own = weights[inside]
        mean = np.nan
        if surrogate is not None:
            mean = float(np.average(surrogate[inside], weights=own))
        share = float(own.sum() / weights.sum())
        rule = tree["rules"][node]
        leaves.append(Leaf(node, rule, values[inside], own, share, mean))
    return leaves


def leaf_columns(leaves):
    """Columns of a table with a line for each leaf."""
    lines = [leaf.numbers() for leaf in leaves]
    return {name: [line[name] for line in lines] for name in lines[0]}


def coefficient_columns(names, coefficients, deviations):
    """Columns of a table with a line for each column, the largest effect first."""
    effects = coefficients * deviations
    order = np.argsort(-np.abs(effects), kind="stable")
    return {
        "column": [names[j] for j in order],
        "coef": coefficients[order],
        "std": deviations[order],
        "effect": effects[order],
    }


def surrogate_blocks(inspector, rows, weights, responses, predicted):
    """Table of a fitted surrogate: of leaves, or of columns, output by output.

    `responses` are the model's, (n, k), and `predicted` the surrogate's, or None. A
    surrogate that has neither has the importances of the features, if any.
    """
    found, blocks = inside(inspector, rows, weights), []
    for output, name in enumerate(inspector.output_names_):
        block = {"output": name} if len(inspector.output_names_) > 1 else {}
        if "trees" in found:
            which = output if len(found["trees"]) > 1 else 0
            tree, nodes = found["trees"][which], found["leaves"][:, which]
            own = None if predicted is None else predicted[:, output]
            leaves = leaves_of(tree, nodes, responses[:, output], own, weights)
            block |= leaf_columns(leaves)
        elif found:
            coefficients = of_output(found["coefficients"], output)
            deviations = of_output(found["deviations"], output)
            columns = found["column_names"], coefficients, deviations
            block |= coefficient_columns(*columns)
        else:
            block |= {"feature": list(rows.names)}
            importances = getattr(inspector, "feature_importances_", None)
            if importances is not None:
                block["importance"] = importances
            return [block]
        blocks.append(block)
    return blocks


def of_output(table, output):
    """The row of an output, or the one row for all of them."""
    table = np.atleast_2d(np.asarray(table, np.float64))
    return table[output] if len(table) > 1 else table[0]


def inside(inspector, rows, weights):
    """The surrogate's trees, or its coefficients."""
    predictors = inner_predictors(inspector.surrogate_)
    trees = [getattr(inner.predictor, "tree_", None) for inner in predictors]
    if all(tree is not None and not has_category_splits(tree) for tree in trees):
        read = [read_tree(inner, rows) for inner in predictors]
        return {
            "trees": [tree for tree, _ in read],
            "leaves": np.stack([leaves for _, leaves in read], axis=1),
        }
    if all(getattr(p.predictor, "coef_", None) is not None for p in predictors):
        return _lines(inspector, predictors, rows, weights)
    return {}


def _lines(inspector, predictors, rows, weights):
    """Coefficients (k, q) and the deviations of their columns, one row each output."""
    tables, deviations, names = [], [], []
    for inner in predictors:
        columns = inner.columns_of(rows)
        tables.append(_for_outputs(inner.predictor, inspector))
        deviations.append(column_deviations(columns, weights))
        names.append(list(map(str, inner.described(rows))))
    if len({len(one) for one in names}) > 1:
        return {}  # steps that differ from output to output
    return {
        "coefficients": np.concatenate(tables),
        "deviations": np.stack(deviations),
        "column_names": names[0],
    }


def _for_outputs(model, inspector):
    """Coefficients of a linear model, in the order of the outputs."""
    table = coefficient_table(model)
    if not is_classifier(inspector.surrogate_):
        return table
    outputs, known = inspector.output_names_, model.classes_.tolist()
    if len(table) == 1:  # coefficients of the second of two classes
        return table if outputs[0] == known[-1] or len(outputs) > 1 else -table
    missing = np.full(table.shape[1], np.nan)
    rows = [table[known.index(o)] if o in known else missing for o in outputs]
    return np.stack(rows)
