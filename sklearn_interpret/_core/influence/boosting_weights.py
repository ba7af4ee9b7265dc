"""Trees boosted on any number of outputs, and the derivatives of their scores.

A stage adds to the scores of a row the values of its leaves, one for each output, which
depend on the scores of the training rows before the stage. Derivatives of the scores of
explained rows are carried back through the stages by the adjoint of this recursion: a
stage takes a sum by leaf and a gather.

With squared error, stage t takes the residuals r from r to r - A_t r, where row i of
A_t averages the training rows in the leaf of row i, times the learning rate: these
derivatives are the weights of the training targets in predictions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from sklearn_interpret._core.statistics.score_losses import CanonicalLoss, HalfSquared

# An array of floats, whose shape docstrings say.
_Array = NDArray[np.float64]

# Explained rows of a block, and the bytes that its derivatives take: both are chosen by
# hand. Longer rows of a table are no quicker to add, larger tables leave the cache.
_MOST_ROWS, _BLOCK_BYTES = 64, 2**23


@dataclass(frozen=True, eq=False)
class BoostingRules:
    """How trees are boosted.

    Parameters
    ----------
    learning_rate : float
        Factor of the Newton steps of leaves: their mean residuals of squared error.
    l2 : float
        Added to the sum of second derivatives by which a leaf divides.
    weights : ndarray of shape (n,)
        Weights of the training rows; zero for rows that are held out.
    start : float or None
        Fixed scores before the first stage; None for the best constant ones.
    in_bag : ndarray of shape (n_stages, n), bool, or None
        Which rows each stage is fitted to; None for all.
    roots_average : bool
        Whether trees without splits have a value, or predict zero.
    loss : loss of `score_losses`, default=HalfSquared()
        The loss.
    """

    learning_rate: float
    l2: float
    weights: _Array
    start: float | None = None
    in_bag: NDArray[np.bool_] | None = None
    roots_average: bool = True
    loss: CanonicalLoss = field(default_factory=HalfSquared)


@dataclass(frozen=True, eq=False)
class BoostingStages:
    """The training rows in the leaves of boosted trees.

    Parameters
    ----------
    leaves : ndarray of shape (n_trees, n), of integers
        The leaf of each training row, counted within each tree. The trees of a stage,
        one for each output, follow each other.
    rules : BoostingRules
        How the trees are boosted.
    n_leaves : int
        More than any leaf's number.
    n_outputs : int
        Number of outputs, k.
    has_values : ndarray of shape (n_trees,), bool, or None
        Whether trees predict anything but zero; None means that all do.
    """

    leaves: NDArray[np.integer]
    rules: BoostingRules
    n_leaves: int
    n_outputs: int = 1
    has_values: NDArray[np.bool_] | None = None

    @property
    def n_stages(self) -> int:
        """Number of stages."""
        return len(self.leaves) // self.n_outputs

    def blocks(self, n_rows: int) -> Iterator[slice]:
        """Slices of explained rows whose derivatives are carried back together."""
        row_bytes = 8 * len(self.rules.weights) * self.n_outputs**2
        step = max(1, min(_MOST_ROWS, _BLOCK_BYTES // row_bytes))
        return (slice(start, start + step) for start in range(0, n_rows, step))

    def target_weights(self, leaves: NDArray[np.integer]) -> _Array:
        """Weights (m, n) of the targets for rows in leaves (m, n_trees).

        The loss is the squared error of one output.
        """
        weights = self.rules.weights
        target_weights = np.empty((len(leaves), len(weights)))
        for block in self.blocks(len(leaves)):
            adjoint = -self.carry_back(leaves[block], len(weights), self._averages)
            if self.rules.start is None:
                adjoint += np.outer(weights / weights.sum(), 1 - adjoint.sum(axis=0))
            target_weights[block] = adjoint.T
        return target_weights

    def carry_back(
        self,
        leaves: NDArray[np.integer],
        n_derivatives: int,
        along_leaves: Callable[[int, NDArray[np.int32]], csr_array],
    ) -> _Array:
        """Derivatives of the scores of few rows in leaves (m, n_trees).

        Parameters
        ----------
        leaves : ndarray of shape (m, n_trees)
            The leaves of the explained rows.
        n_derivatives : int
            Number of derivatives. The first n * k are along the scores of the training
            rows before the stage, output by output within each row.
        along_leaves : callable
            ``along_leaves(stage, nodes)`` returns the derivatives of the values of a
            stage's leaves, (n_derivatives, k * n_leaves), where nodes (n, k) are the
            columns of the training rows. It is called for the last stage first.

        Returns
        -------
        ndarray of shape (n_derivatives, m * k)
        """
        m, k, n = len(leaves), self.n_outputs, len(self.rules.weights)
        derivatives = np.zeros((n_derivatives, m * k))
        columns = np.arange(m * k).reshape(m, k)
        entries = np.ones(n * k), np.arange(n * k + 1)
        for stage in reversed(range(self.n_stages)):
            nodes = self.nodes(stage)
            indicators = csr_array(
                (entries[0], nodes.ravel(), entries[1]), (n * k, k * self.n_leaves)
            )
            of_values = indicators.T @ derivatives[: n * k]
            trees = slice(k * stage, k * (stage + 1))
            of_values[leaves[:, trees] + self._first_nodes, columns] += 1
            derivatives += along_leaves(stage, nodes) @ of_values
        return derivatives

    @property
    def _first_nodes(self) -> NDArray[np.int32]:
        """Number of the first leaf of each output's tree, among those of a stage."""
        return self.n_leaves * np.arange(self.n_outputs, dtype=np.int32)

    def nodes(self, stage: int) -> NDArray[np.int32]:
        """Leaves (n, k) of the training rows among all leaves of a stage."""
        trees = slice(self.n_outputs * stage, self.n_outputs * (stage + 1))
        leaves = self.leaves[trees].T.astype(np.int32)
        return np.ascontiguousarray(leaves + self._first_nodes)

    def weights(self, stage: int) -> _Array:
        """Weights (n,) of the training rows in the fit of a stage."""
        in_bag = self.rules.in_bag
        return self.rules.weights * (1 if in_bag is None else in_bag[stage])

    def steps(self, stage: int, nodes: NDArray[np.int32], hessians: _Array) -> _Array:
        """Inverse sums of second derivatives (n, k), by leaf: (k * n_leaves,).

        Zero for leaves without weight, and for trees without values.
        """
        n_nodes = self.n_outputs * self.n_leaves
        sums = np.bincount(nodes.ravel(), hessians.ravel(), n_nodes)
        steps = np.zeros(n_nodes)
        np.divide(1, sums + self.rules.l2, out=steps, where=sums > 0)
        if self.has_values is not None:
            trees = slice(self.n_outputs * stage, self.n_outputs * (stage + 1))
            steps *= np.repeat(self.has_values[trees], self.n_leaves)
        return steps

    def _averages(self, stage: int, nodes: NDArray[np.int32]) -> csr_array:
        """Derivatives of the values of leaves, along the scores of training rows."""
        weights = self.weights(stage)
        steps = self.rules.learning_rate * self.steps(stage, nodes, weights)
        entries = -weights * steps[nodes[:, 0]]
        starts = np.arange(len(nodes) + 1)
        return csr_array((entries, nodes[:, 0], starts), (len(nodes), self.n_leaves))
