"""Outputs of single rows as features, or groups of them, move over points.

An *entry* is a row, a leaf that the row reaches, or would reach without one condition,
and a step of this condition. Entries of all players are found in one pass, and added to
the curves from the point of the step onwards.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sklearn_interpret._core.trees.structure.bits import RowBits, set_bits

if TYPE_CHECKING:
    from sklearn_interpret._core.trees.effects.tree_effects import Reached, TreeEffects

# Words of bit sets that are listed together: 512 kB, which fit the cache.
_MOST_WORDS = 2**16


class TreeCurves:
    """Outputs of single rows as their players move, at all points or on average.

    Parameters
    ----------
    effects : TreeEffects
        The trees, and the players that move.
    """

    def __init__(self, effects: TreeEffects) -> None:
        self.effects = effects
        self._n_moved = len(effects.moved_features)
        self._k = effects.values.shape[1]
        self._n_points = sum(moved.n_points for moved in effects.moved_features)

    def block_rows(self, most_bytes: int) -> int:
        """Number of rows whose curves fit the memory: a multiple of 64."""
        # 8 bytes for each output of a row at each point, and without each player.
        bytes_of_row = 8 * self._k * (self._n_points + self._n_moved)
        n_words = int(most_bytes / max(bytes_of_row, 1)) // 64
        return min(self.effects.block_rows, 64 * max(1, n_words))

    def expectations(
        self, codes: NDArray[np.integer], shares: list[NDArray[np.float64]]
    ) -> NDArray[np.float64]:
        """Mean outputs of rows with each player drawn from its points.

        Parameters
        ----------
        codes : ndarray of shape (n_rows, n_features), int
            The rows' codes, at most ``effects.block_rows`` of them.
        shares : list of ndarray of shape (n_points,)
            For each player, with one axis, the probabilities of its points.

        Returns
        -------
        ndarray of shape (n_rows, n_moved, k)
        """
        effects = self.effects
        met = self._shares_of_conditions(shares)
        fixed, means = np.zeros((2, self._k, len(codes) * self._n_moved))
        for reached in self._reached_leaves(codes, fixed):
            entry, row = set_bits(reached.all_but_one)
            index = (
                row * self._n_moved + effects.paths.player[reached.conditions][entry]
            )
            values = effects.values[reached.leaves[reached.leaf]]
            amounts = values * met[reached.conditions][:, None]
            for sums, amount in zip(means, amounts.T, strict=True):
                np.add.at(sums, index, amount[entry])
        return (fixed + means).T.reshape(len(codes), self._n_moved, self._k)

    def _shares_of_conditions(
        self, shares: list[NDArray[np.float64]]
    ) -> NDArray[np.number]:
        """Probability of meeting each condition: (n_nodes,)."""
        n_nodes = self.effects.ensemble.n_nodes
        # A condition that begins to hold at a point holds at all later points.
        later = [np.cumsum(share[::-1])[::-1] for share in shares]
        node, point, sign = self.effects.steps.of_conditions(np.arange(n_nodes))
        amounts = sign * np.concatenate([*later, np.empty(0)])[point]
        return np.bincount(node, amounts, n_nodes)

    def curves(
        self, codes: NDArray[np.integer]
    ) -> Iterator[tuple[int, NDArray[np.float64]]]:
        """Outputs of each row with each player at each of its points.

        Parameters
        ----------
        codes : ndarray of shape (n_rows, n_features), int
            The rows' codes, at most ``effects.block_rows`` of them.

        Yields
        ------
        player : int
            The player.
        outputs : ndarray of shape (n_rows, n_points, k)
        """
        fixed = np.zeros((self._k, len(codes), self._n_moved))
        sums = np.zeros((self._k, len(codes), self._n_points))
        for reached in self._reached_leaves(codes, fixed.reshape(self._k, -1)):
            self._add_entries(reached, sums.reshape(self._k, -1))
        for player, moved in enumerate(self.effects.moved_features):
            first = self.effects.first[player]
            curves = sums[:, :, first : first + moved.n_points]
            if moved.n_points:
                curves[:, :, 0] += fixed[:, :, player]
            moved.sum_up(curves, axis=2)
            yield player, np.moveaxis(curves, 0, 2)

    def _add_entries(self, reached: Reached, sums: NDArray[np.float64]) -> None:
        """Add what leaves contribute from the first point of each of their steps."""
        steps = self.effects.steps
        condition, step = steps.positions(reached.conditions)
        amounts = self.effects.values[reached.leaves[reached.leaf]].take(
            condition, axis=0
        )
        amounts = amounts * steps.sign.take(step)[:, None]
        point = steps.point.take(step)
        size = max(1, _MOST_WORDS // reached.all_but_one.shape[1])
        for start in range(0, len(condition), size):
            chunk = slice(start, start + size)
            entry, row = set_bits(reached.all_but_one.take(condition[chunk], axis=0))
            index = row * self._n_points + point[chunk].take(entry)
            for total, amount in zip(sums, amounts[chunk].T, strict=True):
                np.add.at(total, index, amount.take(entry))

    def _reached_leaves(
        self, codes: NDArray[np.integer], fixed: NDArray[np.float64]
    ) -> Iterator[Reached]:
        """Leaves with their rows; `fixed` gets outputs without each player's leaves.

        `fixed` (k, n_rows * n_moved) holds zeros, and is complete at the end.
        """
        player, values = self.effects.paths.player, self.effects.values
        outputs = np.zeros((self._k, len(codes)))
        for reached in self.effects.leaves(RowBits(self.effects.ensemble, codes)):
            leaf, row = set_bits(reached.inside)
            step, step_row = set_bits(reached.inside.take(reached.leaf, axis=0))
            index = step_row * self._n_moved + player[reached.conditions].take(step)
            for output, amounts in enumerate(values[reached.leaves].T):
                outputs[output] += np.bincount(row, amounts.take(leaf), len(codes))
                lost = amounts.take(reached.leaf).take(step)
                np.subtract.at(fixed[output], index, lost)
            yield reached
        outputs += self.effects.constant[:, None]
        fixed += np.repeat(outputs, self._n_moved, axis=1)
