"""Scores of trees without each training row, to first order, with the splits held.

The structure of all trees stays as it is; the values of leaves are functions of the
weights of the training rows (LeafInfluence: Sharchilev, Ustinovskiy, Serdyukov & de
Rijke, 2018). Without row i, scores F change by -w_i dF / dw_i.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from sklearn_interpret._core.influence.boosting_weights import BoostingStages

# An array of floats, whose shape docstrings say.
_Array = NDArray[np.float64]


class LeafScores(Protocol):
    """Scores of rows in leaves (m, n_trees), as functions of the training rows."""

    def scores(self, leaves: NDArray[np.integer]) -> _Array:
        """Scores (m, k)."""

    def changes(self, leaves: NDArray[np.integer], deleted: csr_array) -> _Array:
        """Changes (m, n_deletions, k) without the rows of each deletion.

        `deleted` has a line for each deletion: ones for the rows that it removes.
        """


@dataclass(frozen=True, eq=False)
class LeafMeans:
    """Means of the targets in leaves, all trees counting the same.

    Parameters
    ----------
    shares : sparse array (n_leaves, n)
        Shares of the training rows in the leaves of all trees.
    targets : ndarray of shape (n, k)
        Targets.
    """

    shares: csr_array
    targets: _Array

    @cached_property
    def means(self) -> _Array:
        """Means (n_leaves, k) of the targets."""
        return self.shares @ self.targets

    def scores(self, leaves: NDArray[np.integer]) -> _Array:
        """Scores (m, k)."""
        return leaf_visits(leaves, len(self.means)) @ self.means

    def changes(self, leaves: NDArray[np.integer], deleted: csr_array) -> _Array:
        """Changes (m, n_deletions, k) without the rows of each deletion.

        The derivative of a leaf's mean along the weight of a row is the row's share of
        the weight, times what its target is above the mean, by the weight.
        """
        (m, _), (n_leaves, k) = leaves.shape, self.means.shape
        weights = leaf_visits(leaves, n_leaves) @ self.shares
        changes = np.empty((m, deleted.shape[0], k))
        for output in range(k):
            of_targets = weights @ (deleted * self.targets[:, output]).T
            visits = leaf_visits(leaves, n_leaves, self.means[:, output])
            of_means = visits @ self.shares @ deleted.T
            changes[:, :, output] = (of_means - of_targets).toarray()
        return changes


def leaf_visits(
    leaves: NDArray[np.integer], n_leaves: int, factors: _Array | None = None
) -> csr_array:
    """Shares (m, n_leaves) of the trees in the leaves of rows, times factors of leaves.

    `leaves` (m, n_trees) count the leaves of all trees.
    """
    m, n_trees = leaves.shape
    entries = np.full(leaves.size, 1 / n_trees)
    if factors is not None:
        entries *= factors[leaves.ravel()]
    ends = np.arange(0, leaves.size + 1, n_trees)
    return csr_array((entries, leaves.ravel(), ends), shape=(m, n_leaves))


class _Stage(NamedTuple):
    """A stage at the scores before it: values of leaves, and what they depend on."""

    values: _Array  # of leaves, (k * n_leaves,)
    curvatures: _Array  # of the loss, (n, k, k)
    factors: _Array  # -rate - value * slope of the variance, by the Hessian, (n, k)
    of_weights: _Array  # derivatives of values along the weights of rows, (n, k)


@dataclass(frozen=True, eq=False)
class BoostedLeaves:
    """Scores of boosted trees: sums of Newton steps of leaves.

    Parameters
    ----------
    stages : BoostingStages
        The training rows in the leaves.
    targets : ndarray of shape (n, k)
        Targets, as the loss takes them.
    """

    stages: BoostingStages
    targets: _Array

    @cached_property
    def _start(self) -> _Array:
        """Scores (k,) before the first stage."""
        rules = self.stages.rules
        if rules.start is not None:
            return np.full(self.stages.n_outputs, rules.start)
        return rules.loss.scores(self._mean)

    @property
    def _mean(self) -> _Array:
        """Weighted mean (k,) of the targets."""
        weights = self.stages.rules.weights
        return weights @ self.targets / weights.sum()

    @cached_property
    def _fitted(self) -> tuple[_Array, _Array]:
        """Values of leaves (n_stages, k * n_leaves); scores (n, k) of training rows."""
        stages, scores = self.stages, np.tile(self._start, (len(self.targets), 1))
        values = np.empty((stages.n_stages, stages.n_outputs * stages.n_leaves))
        for stage in range(stages.n_stages):
            nodes = stages.nodes(stage)
            values[stage] = self._stage(stage, nodes, scores).values
            scores += values[stage][nodes]
        return values, scores

    def scores(self, leaves: NDArray[np.integer]) -> _Array:
        """Scores (m, k) of rows in leaves."""
        m, k = len(leaves), self.stages.n_outputs
        values = self._fitted[0].reshape(-1, self.stages.n_leaves)
        of_trees = values[np.arange(len(values)), leaves]
        return self._start + of_trees.reshape(m, -1, k).sum(axis=1)

    def changes(self, leaves: NDArray[np.integer], deleted: csr_array) -> _Array:
        """Changes (m, n_deletions, k) without the rows of each deletion."""
        k = self.stages.n_outputs
        changes = np.empty((len(leaves), deleted.shape[0], k))
        for block in self.stages.blocks(len(leaves)):
            by_row = self.stages.rules.weights[:, None] * self._of_weights(
                leaves[block]
            )
            of_block = (deleted @ by_row).reshape(deleted.shape[0], -1, k)
            changes[block] = -of_block.transpose(1, 0, 2)
        return changes

    def _of_weights(self, leaves: NDArray[np.integer]) -> _Array:
        """Derivatives (n, m * k) of the scores of few rows along the weights."""
        stages, (n, k) = self.stages, self.targets.shape
        values, scores = self._fitted
        scores = scores.copy()
        starts = np.arange(0, n * k * (k + 1) + 1, k)

        def along_leaves(stage: int, nodes: NDArray[np.int32]) -> csr_array:
            """Derivatives of leaves, along scores of rows and then along weights."""
            scores[...] -= values[stage][nodes]  # those before the stage
            at = self._stage(stage, nodes, scores)
            of_scores = at.factors[:, None] * at.curvatures
            entries = np.append(of_scores, at.of_weights)
            columns = np.append(np.repeat(nodes, k, axis=0), nodes)
            shape = n * (k + 1), k * stages.n_leaves
            return csr_array((entries, columns, starts), shape)

        derivatives = stages.carry_back(leaves, n * (k + 1), along_leaves)
        of_weights = derivatives[n * k :]
        if stages.rules.start is None:
            of_start = derivatives[: n * k].reshape(n, k, -1).sum(axis=0)
            of_start += np.tile(np.eye(k), len(leaves))
            slopes = stages.rules.loss.score_slopes(self._mean)
            slopes = slopes / stages.rules.weights.sum()
            of_weights += ((self.targets - self._mean) * slopes) @ of_start
        return of_weights

    def _stage(self, stage: int, nodes: NDArray[np.int32], scores: _Array) -> _Stage:
        """A stage at the scores (n, k) before it."""
        stages, rules = self.stages, self.stages.rules
        weights = stages.weights(stage)[:, None]
        slopes = rules.loss.slopes(self.targets, scores)
        curvatures = rules.loss.curvatures(self.targets, scores)
        hessians = np.diagonal(curvatures, axis1=1, axis2=2)
        steps = stages.steps(stage, nodes, weights * hessians)
        gradients = np.bincount(nodes.ravel(), (weights * slopes).ravel(), len(steps))
        values = -rules.learning_rate * gradients * steps
        of_variance = rules.loss.variance_slopes(self.targets + slopes)
        factors = -rules.learning_rate - values[nodes] * of_variance
        of_weights = -rules.learning_rate * slopes - values[nodes] * hessians
        in_bag = weights > 0
        return _Stage(
            values,
            curvatures,
            weights * steps[nodes] * factors,
            in_bag * steps[nodes] * of_weights,
        )
