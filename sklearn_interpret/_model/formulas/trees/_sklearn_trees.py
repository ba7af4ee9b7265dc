"""scikit-learn's single trees, forests and isolation forests.

Only public attributes are read: `tree_` and its arrays.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    IsolationForest,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils.validation import check_is_fitted

from sklearn_interpret._core.trees.structure.ensemble import Tree, join_trees
from sklearn_interpret._model._sklearn_compat import has_category_splits
from sklearn_interpret._model.formulas.formula_class import ModelClass
from sklearn_interpret._model.formulas.trees import tree_model
from sklearn_interpret.exceptions import UnreadableModelError

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from sklearn_interpret._model.formulas.trees.tree_model import TreeModel

# Dtype to which scikit-learn's trees cast inputs; thresholds are float64.
PRECISION = np.dtype(np.float32)


def tree_of(
    estimator: BaseEstimator,
    value: NDArray[np.float64],
    features: NDArray[np.intp] | None = None,
) -> Tree:
    """A fitted scikit-learn tree with other values (n_nodes, k) of its nodes.

    `features` are the positions of its features in the ensemble.
    """
    tree = estimator.tree_
    if has_category_splits(tree):
        raise UnreadableModelError("it splits by sets of categories.")
    feature = tree.feature
    if features is not None:
        feature = np.asarray(features)[np.maximum(feature, 0)]  # unused at leaves
    return Tree(
        left=tree.children_left,
        right=tree.children_right,
        feature=feature,
        threshold=tree.threshold,
        value=value,
        cover=tree.weighted_n_node_samples,
        missing_left=np.asarray(tree.missing_go_to_left, dtype=bool),
    )


def node_outputs(estimator: BaseEstimator) -> NDArray[np.float64]:
    """Predictions of a fitted tree's nodes, all outputs and classes side by side."""
    value = estimator.tree_.value
    if not isinstance(estimator, DecisionTreeClassifier):
        return value[:, :, 0]
    # scikit-learn pads the table to the largest number of classes.
    n_classes = np.atleast_1d(estimator.n_classes_)
    return np.hstack([value[:, j, :n] for j, n in enumerate(n_classes)])


def plain_model(
    estimator: BaseEstimator,
    trees: list[Tree],
    base: NDArray[np.float64],
    raw_method: str | None,
    **kwargs: Any,
) -> TreeModel:
    """A sum of scikit-learn's trees over numbers, one tree feature per column."""
    n_columns = estimator.n_features_in_
    return tree_model.TreeModel(
        ensemble=join_trees(
            trees, base=base, n_features=n_columns, precision=PRECISION
        ),
        encoder=tree_model.ArrayEncoder(n_columns, PRECISION),
        columns=np.arange(n_columns),
        n_columns=n_columns,
        raw_method=raw_method,
        **kwargs,
    )


def mean_of_trees(
    estimator: BaseEstimator,
    members: list[BaseEstimator],
    outputs_of: Callable[[BaseEstimator], NDArray[np.float64]] = node_outputs,
) -> TreeModel:
    """The mean of the trees, which the estimator predicts.

    `outputs_of` returns the outputs (n_nodes, k) of the nodes of a tree.
    """
    values = [outputs_of(member) / len(members) for member in members]
    trees = list(map(tree_of, members, values))
    base = np.zeros(values[0].shape[1])
    fields = tree_model.response_fields(estimator, "identity")
    fields["n_averaged"] = len(members)
    return plain_model(estimator, trees, base, fields["response_method"], **fields)


def _read_tree(estimator: BaseEstimator, _: object) -> TreeModel:
    check_is_fitted(estimator)
    return mean_of_trees(estimator, [estimator])


def _read_forest(estimator: BaseEstimator, _: object) -> TreeModel:
    check_is_fitted(estimator)
    return mean_of_trees(estimator, estimator.estimators_)


def _read_isolation_forest(estimator: BaseEstimator, _: object) -> TreeModel:
    """The mean length of the path that isolates a row.

    A leaf of several rows adds the expected path length of a random tree of them. The
    score of a row is 2 ** -(length / expected length).
    """
    check_is_fitted(estimator)
    trees = []
    members = zip(estimator.estimators_, estimator.estimators_features_, strict=True)
    for member, features in members:
        depth = member.tree_.compute_node_depths() - 1
        # Equation 1 of the paper stands for the part of the tree that was not grown.
        length = depth + expected_path_length(member.tree_.n_node_samples)
        length = length / len(estimator.estimators_)
        trees.append(tree_of(member, length[:, None], features))
    expected = expected_path_length(np.array([estimator.max_samples_])).item()
    return plain_model(
        estimator,
        trees,
        # With a single training row the expected length is 0; the ratio is set to 1.
        base=np.array([0.0 if expected else 1.0]),
        raw_method=None,
        link="isolation",
        link_scale=1 / expected if expected else 1.0,
        response_method="score_samples",
    )


def expected_path_length(n_rows: NDArray[np.integer]) -> NDArray[np.float64]:
    """Mean length of an unsuccessful search in a binary search tree of `n_rows` rows.

    F. T. Liu, K. M. Ting and Z.-H. Zhou (2008). Isolation forest. Equation 1.
    """
    n = np.maximum(n_rows, 2).astype(np.float64)
    length = 2 * (np.log(n - 1) + np.euler_gamma) - 2 * (n - 1) / n
    return np.select([n_rows <= 1, n_rows == 2], [0.0, 1.0], length)


READERS: dict[ModelClass, tree_model.Reader] = {
    DecisionTreeClassifier: _read_tree,
    DecisionTreeRegressor: _read_tree,
    RandomForestClassifier: _read_forest,
    RandomForestRegressor: _read_forest,
    ExtraTreesClassifier: _read_forest,
    ExtraTreesRegressor: _read_forest,
    IsolationForest: _read_isolation_forest,
}
