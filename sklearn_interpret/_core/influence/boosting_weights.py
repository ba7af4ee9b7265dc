"""Weights of the training targets in predictions of trees boosted on squared error.

Stage t takes the residuals r from r to r - A_t r, where row i of A_t averages the
training rows in the leaf of row i, times the learning rate. A prediction sums a_t(x)' r
over the stages; backwards, g <- g - A_t' g + a_t(x) gathers the weights of the first
residuals (the adjoint of the recursion). A stage takes a sum by leaf and a gather.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

# An array of floats, whose shape docstrings say.
_Array = NDArray[np.float64]

# Explained rows of a block, and the bytes that its weights take: both are chosen by
# hand. Longer rows of a table are no quicker to add, larger tables leave the cache.
_MOST_ROWS, _BLOCK_BYTES = 64, 2**23


@dataclass(frozen=True, eq=False)
class BoostingRules:
    """How trees are boosted.

    Parameters
    ----------
    learning_rate : float
        Factor of the mean residuals of leaves.
    l2 : float
        Added to the sum of weights by which a leaf divides.
    weights : ndarray of shape (n,)
        Weights of the training rows; zero for rows that are held out.
    start : float or None
        A fixed prediction before the first stage; None for the mean target.
    in_bag : ndarray of shape (n_stages, n), bool, or None
        Which rows each tree is fitted to; None for all.
    roots_average : bool
        Whether trees without splits predict the mean residual, or zero.
    """

    learning_rate: float
    l2: float
    weights: _Array
    start: float | None = None
    in_bag: NDArray[np.bool_] | None = None
    roots_average: bool = True


@dataclass(frozen=True, eq=False)
class BoostingStages:
    """The training rows in the leaves of boosted trees.

    Parameters
    ----------
    leaves : ndarray of shape (n_stages, n), of integers
        The leaf of each training row, counted within each tree.
    rules : BoostingRules
        How the trees are boosted.
    """

    leaves: NDArray[np.integer]
    rules: BoostingRules

    def target_weights(self, leaves: NDArray[np.intp]) -> _Array:
        """Weights (m, n) of the targets for rows in leaves (m, n_stages)."""
        weights = self.rules.weights
        target_weights = np.empty((len(leaves), len(weights)))
        step = max(1, min(_MOST_ROWS, _BLOCK_BYTES // (8 * len(weights))))
        for start in range(0, len(leaves), step):
            block = slice(start, start + step)
            adjoint = self._adjoint(leaves[block])
            if self.rules.start is None:
                adjoint += np.outer(weights / weights.sum(), 1 - adjoint.sum(axis=0))
            target_weights[block] = adjoint.T
        return target_weights

    def _adjoint(self, leaves: NDArray[np.intp]) -> _Array:
        """Weights (n, m) of the residuals before the first stage, for few rows."""
        adjoint = np.zeros((len(self.rules.weights), len(leaves)))
        columns = np.arange(len(leaves))
        for stage in reversed(range(len(self.leaves))):
            indicators, averages = self._stage(stage, leaves[:, stage].max())
            sums = indicators.T @ adjoint
            sums[leaves[:, stage], columns] -= 1
            adjoint -= averages @ sums
        return adjoint

    def _stage(self, stage: int, last: np.intp) -> tuple[csr_array, csr_array]:
        """The leaf of each training row, 1 and its share in the step: (n, n_leaves)."""
        rules, leaves = self.rules, self.leaves[stage].astype(np.int32)
        weights = rules.weights
        if rules.in_bag is not None:
            weights = weights * rules.in_bag[stage]
        sizes = np.bincount(leaves, weights, last + 1)
        steps = np.zeros(len(sizes))
        np.divide(rules.learning_rate, sizes + rules.l2, out=steps, where=sizes > 0)
        shape, starts = (len(leaves), len(sizes)), np.arange(len(leaves) + 1)
        return (
            csr_array((np.ones(len(leaves)), leaves, starts), shape),
            csr_array((weights * steps[leaves], leaves, starts), shape),
        )
