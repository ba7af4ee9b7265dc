"""Trees, forests and bagged trees: means of the targets in the leaves of a row.

A tree predicts the mean of its leaf, weighted by how often its sample has each training
row. The weights are random forest weights, of quantile regression forests too
(Meinshausen, 2006).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn import ensemble
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils import check_array
from sklearn.utils.class_weight import compute_sample_weight

from sklearn_interpret._core.influence.leaf_influence import leaf_visits
from sklearn_interpret._model._sklearn_compat import weights_of_fit
from sklearn_interpret._model.formulas.formula_class import computes_as
from sklearn_interpret._model.training_weights.base import TrainingWeights
from sklearn_interpret.exceptions import UnreadableModelError

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from sklearn_interpret._model.formulas.formula_class import ModelClass
    from sklearn_interpret._model.rows.base import Rows
    from sklearn_interpret._model.training_weights.base import TrainingData

# Models of trees whose leaves have means of the targets.
LEAF_MEANS: tuple[ModelClass, ...] = (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ensemble.RandomForestClassifier,
    ensemble.RandomForestRegressor,
    ensemble.ExtraTreesClassifier,
    ensemble.ExtraTreesRegressor,
    ensemble.BaggingClassifier,
    ensemble.BaggingRegressor,
)
# Criteria whose leaves have the mean of the targets.
_OF_MEANS = {"squared_error", "friedman_mse", "poisson", "gini", "entropy", "log_loss"}
# Bytes of an entry of a sparse matrix: a double and an index.
_ENTRY_BYTES = 12


@dataclass(frozen=True, eq=False)
class LeafWeights(TrainingWeights):
    """Weights by the leaves of trees, all trees counting the same.

    Parameters
    ----------
    trees : list of fitted trees
        The trees.
    columns : list of ndarray or slice
        Columns of the rows that each tree gets.
    shares : sparse array (n_nodes, n)
        Shares of the training rows in each leaf; the nodes of all trees in turn.
    """

    trees: list[Any]
    columns: list[Any]
    shares: sparse.csr_array

    @property
    def row_bytes(self) -> int:
        n_nodes, n = self.shares.shape
        per_tree = self.shares.nnz // n_nodes + 1
        return 8 * n + _ENTRY_BYTES * (n + len(self.trees) * per_tree)

    def weights(self, rows: Rows) -> NDArray[np.float64]:
        visits = leaf_visits(self.leaves(rows), self.shares.shape[0])
        return (visits @ self.shares).toarray()

    def leaves(self, rows: Rows) -> NDArray[np.intp]:
        """Leaves (m, n_trees) of rows, counted over all trees."""
        counts = [tree.tree_.node_count for tree in self.trees]
        leaves = np.column_stack(list(_leaves_of(self.trees, self.columns, rows)))
        leaves += np.cumsum(counts) - counts  # nodes of the trees before
        return leaves


def read_trees(model: BaseEstimator, data: TrainingData) -> LeafWeights:
    """Weights of a tree, a forest or bagged trees."""
    trees = getattr(model, "estimators_", [model])
    for tree in trees:
        _check_predicts_means(tree)
    columns = getattr(model, "estimators_features_", [slice(None)] * len(trees))
    leaves = _leaves_of(trees, columns, data.rows)
    shares = []
    for tree, nodes, weights in zip(
        trees, leaves, _weights_in_trees(model, data), strict=True
    ):
        (rows,) = np.nonzero(weights)
        totals = np.bincount(nodes[rows], weights[rows])
        entries = weights[rows] / totals[nodes[rows]]
        shape = tree.tree_.node_count, len(nodes)
        shares.append(sparse.coo_array((entries, (nodes[rows], rows)), shape=shape))
    return LeafWeights(trees, columns, sparse.vstack(shares, format="csr"))


def _check_predicts_means(tree: BaseEstimator) -> None:
    """Refuse trees whose leaves do not have the means of their rows."""
    if not computes_as(tree, DecisionTreeRegressor, DecisionTreeClassifier):
        raise UnreadableModelError(f"{type(tree).__name__} is no tree of scikit-learn.")
    if tree.criterion not in _OF_MEANS:
        raise UnreadableModelError(
            f"criterion={tree.criterion!r}: its leaves do not have the mean of the "
            "targets."
        )
    if getattr(tree, "monotonic_cst", None) is not None:
        raise UnreadableModelError(
            "monotonic_cst is set: leaves that would break it have no mean of targets."
        )


def _leaves_of(
    trees: list[Any], columns: list[Any], rows: Rows
) -> Iterator[NDArray[np.intp]]:
    """Leaf of each row, in one tree after the other."""
    numbers = check_array(
        rows.native, accept_sparse="csr", dtype=np.float32, ensure_all_finite=False
    )
    for tree, chosen in zip(trees, columns, strict=True):
        yield tree.apply(numbers[:, chosen], check_input=False)


def _weights_in_trees(model: Any, data: TrainingData) -> Iterator[NDArray[np.float64]]:
    """Weights of the training rows in the `fit` of each tree, (n,)."""
    labels = labels_of(model, data.targets) if hasattr(model, "classes_") else None
    is_bagging = hasattr(model, "estimators_features_")
    class_weight = getattr(
        model.estimator_ if is_bagging else model, "class_weight", None
    )
    if not hasattr(model, "estimators_samples_"):
        yield data.weights * class_factors(class_weight, labels)
        return
    is_drawn = is_bagging or model.bootstrap
    by_sample = class_weight == "balanced_subsample" and is_drawn
    factors = class_factors(None if by_sample else class_weight, labels)
    # Bagged trees weigh classes after the draw, forests before it.
    weights = data.weights if is_bagging else data.weights * factors
    draws, weights = weights_of_fit(model, weights)
    for indices in model.estimators_samples_:
        counts = np.bincount(indices, minlength=len(weights)).astype(np.float64)
        if not len(counts) == len(weights) == len(data.weights):
            raise UnreadableModelError(
                f"it was not fitted on these {len(data.weights)} rows."
            )
        if not (draws and is_drawn):
            counts *= weights
        if is_bagging:
            counts *= factors
        elif by_sample:
            counts *= class_factors("balanced", labels, indices=indices)
        yield counts


def labels_of(model: Any, targets: NDArray[np.float64]) -> NDArray[Any]:
    """Labels (n[, k]) of rows, from the indicators of all classes."""
    if not isinstance(model.classes_, list):
        codes = targets.argmax(axis=1)
        # Bagging encodes labels before its trees get them.
        encodes = hasattr(model, "estimators_features_")
        return codes if encodes else model.classes_[codes]
    ends = np.cumsum([len(classes) for classes in model.classes_])[:-1]
    outputs = zip(model.classes_, np.split(targets, ends, axis=1), strict=True)
    return np.column_stack([c[indicators.argmax(axis=1)] for c, indicators in outputs])


def class_factors(class_weight: Any, labels: Any, **kwargs: Any) -> Any:
    """Factors of weights due to `class_weight`."""
    if labels is None or class_weight is None:
        return 1.0
    if class_weight == "balanced_subsample":  # of whole samples
        class_weight = "balanced"
    return compute_sample_weight(class_weight, labels, **kwargs)
