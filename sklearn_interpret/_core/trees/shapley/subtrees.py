"""Bottom subtrees of few splits, whose leaves are looked up together.

`cut_into_units` cuts trees into these *units*, `TreeUnits`.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from sklearn_interpret._core.trees.structure.ensemble import TreeEnsemble
    from sklearn_interpret._core.trees.structure.paths import TreePaths

# Largest number of conditions of a leaf whose patterns are tabulated. Chosen by hand:
# each one more doubles the table, while few of its patterns occur.
MAX_TABLE_CONDITIONS = 8
# Largest number of bits of the patterns of units of several leaves. Chosen by hand, for
# the same reason.
MAX_UNIT_BITS = 9


@dataclass(frozen=True, eq=False)
class TreeUnits:
    """Subtrees at the bottom of trees that have equally many splits and conditions.

    The leaves of a *unit* depend on a few bits of a row alone, its *pattern* there: bit
    i is whether the row meets the condition of slot i at the unit's root; the bits
    above say which splits of the unit send the row to the left. With p
    conditions above and s splits, a unit has s + 1 leaves, p + s bits, and at most
    p + s players.

    Parameters
    ----------
    n_path, n_splits : int
        Number of conditions above, p, and of splits, s.
    root : ndarray of shape (n_units,), intp
        Root of each unit, as a node of the ensemble; increasing.
    splits : ndarray of shape (n_units, s), intp
        The unit's own splits, in the order of their nodes.
    leaves : ndarray of shape (n_units, s + 1), intp
        The unit's leaves, leaves with fewer conditions first.
    n_conditions : ndarray of shape (n_units, s + 1), intp
        Number of conditions of each leaf; later slots are void.
    masks : ndarray of shape (n_units, s + 1, p + s), int64
        The bits of the unit's pattern that each condition needs; 0 in void slots.
    flips : ndarray of shape (n_units, s + 1), int64
        The bits that the leaf needs to be off instead of on.
    columns : ndarray of shape (n_units, s + 1, p + s), intp
        Which of the unit's players each slot belongs to.
    players : ndarray of shape (n_units, p + s), intp
        The unit's players, -1 where there are fewer: first the players of the
        conditions above, then for each split the player that it brings in.
    """

    n_path: int
    n_splits: int
    root: np.ndarray
    splits: np.ndarray
    leaves: np.ndarray
    n_conditions: np.ndarray
    masks: np.ndarray
    flips: np.ndarray
    columns: np.ndarray
    players: np.ndarray

    @property
    def n_bits(self) -> int:
        """Number of bits of the patterns."""
        return self.n_path + self.n_splits

    @property
    def is_deep(self) -> bool:
        """Whether the units are single leaves with too many patterns for a table."""
        return self.n_path > MAX_TABLE_CONDITIONS and self.n_splits == 0

    def __len__(self) -> int:
        return len(self.root)

    def __getitem__(self, index: slice | NDArray[np.intp]) -> TreeUnits:
        """Some of the units, by a slice or by positions."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        arrays: dict[str, Any] = {
            name: array[index]
            for name, array in values.items()
            if isinstance(array, np.ndarray)
        }
        return replace(self, **arrays)

    def leaf_patterns(self, leaf: int) -> NDArray[np.intp]:
        """Pattern at a leaf for each pattern of the units: (n_units, 2 ** n_bits)."""
        patterns = np.arange(2**self.n_bits) ^ self.flips[:, leaf, None]
        at_leaf = np.zeros(patterns.shape, dtype=np.intp)
        for slot in range(self.n_conditions[:, leaf].max(initial=0)):
            mask = self.masks[:, leaf, slot, None]
            met = ((patterns & mask) == mask) & (mask > 0)
            at_leaf |= met.astype(np.intp) << slot
        return at_leaf


def cut_into_units(
    ensemble: TreeEnsemble, paths: TreePaths, max_splits: int
) -> list[TreeUnits]:
    """Cut trees into units of at most `max_splits` splits.

    Leaves with more than ``MAX_TABLE_CONDITIONS`` conditions are units of their own.

    Returns
    -------
    list of TreeUnits
        Units with equally many conditions above and splits together, by increasing
        numbers of both.
    """
    is_root, is_in_unit, n_below = _roots_of_units(ensemble, paths, max_splits)
    root, below = np.flatnonzero(is_root), np.flatnonzero(is_in_unit & ~is_root)
    unit = np.full(ensemble.n_nodes, -1, dtype=np.intp)
    unit[root] = np.arange(len(root))
    for _ in range(max_splits):
        unit[below] = unit[ensemble.parents[below]]
    n_path, n_splits = paths.n_conditions[root], n_below[root]

    splits = _nodes_by_unit(unit, is_in_unit & ~ensemble.is_leaf)
    leaves = _nodes_by_unit(unit, ensemble.is_leaf)
    first_split = np.cumsum(n_splits) - n_splits
    first_leaf = first_split + np.arange(len(root))  # a unit has one leaf more
    number = np.full(ensemble.n_nodes, -1, dtype=np.intp)
    number[splits] = np.arange(len(splits)) - np.repeat(first_split, n_splits)
    unit_players = _PlayersOfUnits(ensemble, paths, unit, number, n_path, max_splits)

    kind = n_path * (max_splits + 1) + n_splits
    groups = []
    for unit_kind in np.unique(kind):
        units = np.flatnonzero(kind == unit_kind)
        s = n_splits[units[0]]
        unit_splits = splits[first_split[units, None] + np.arange(s)]
        unit_leaves = leaves[first_leaf[units, None] + np.arange(s + 1)]
        groups.append(unit_players.units(units, root[units], unit_splits, unit_leaves))
    return groups


def _roots_of_units(
    ensemble: TreeEnsemble, paths: TreePaths, max_splits: int
) -> tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.intp]]:
    """Which nodes are roots of units, or in units; number of splits at and below."""
    n_below, most_conditions = _count_splits_below(ensemble, paths, max_splits)
    is_in_unit = (n_below <= max_splits) & (most_conditions <= MAX_TABLE_CONDITIONS)
    is_in_unit &= paths.n_conditions + n_below <= MAX_UNIT_BITS
    is_in_unit |= ensemble.is_leaf
    is_root = is_in_unit & ~np.append(is_in_unit, False)[ensemble.parents]
    return is_root, is_in_unit, n_below


def _count_splits_below(
    ensemble: TreeEnsemble, paths: TreePaths, max_splits: int
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Number of splits at and below each node; most conditions of a leaf below.

    Exact for nodes with up to `max_splits` splits; other nodes get a larger number.
    """
    n_splits = np.where(ensemble.is_leaf, 0, max_splits + 1)
    most_conditions = paths.n_conditions.copy()
    inner = np.flatnonzero(~ensemble.is_leaf)
    for _ in range(max_splits):
        left, right = ensemble.left[inner], ensemble.right[inner]
        is_complete = np.maximum(n_splits[left], n_splits[right]) <= max_splits
        left, right = left[is_complete], right[is_complete]
        n_splits[inner[is_complete]] = 1 + n_splits[left] + n_splits[right]
        most_conditions[inner[is_complete]] = np.maximum(
            most_conditions[left], most_conditions[right]
        )
        inner = inner[~is_complete]
    return n_splits, most_conditions


def _nodes_by_unit(unit: NDArray[np.intp], mask: NDArray[np.bool_]) -> NDArray[np.intp]:
    """The nodes of a mask, unit by unit."""
    nodes = np.flatnonzero(mask)
    return nodes[np.argsort(unit[nodes], kind="stable")]


class _PlayersOfUnits:
    """Players of units: of the conditions above units, and of splits inside them.

    Parameters
    ----------
    unit, number : ndarray of shape (n_nodes,), intp
        The unit that each node is in, and the number of each split among the splits of
        its unit; -1 at other nodes.
    n_path : ndarray of shape (n_units,), intp
        Number of conditions above each unit.
    """

    def __init__(
        self,
        ensemble: TreeEnsemble,
        paths: TreePaths,
        unit: NDArray[np.intp],
        number: NDArray[np.intp],
        n_path: NDArray[np.intp],
        max_splits: int,
    ) -> None:
        self._ensemble, self._paths, self._number = ensemble, paths, number
        splits = np.flatnonzero(number >= 0)
        child = ensemble.left[splits]
        # The player whose first condition on the path each split begins, else -1.
        begun = np.full((len(n_path), max_splits), -1, dtype=np.intp)
        begun[unit[splits], number[splits]] = np.where(
            paths.previous[child] < 0, paths.player[child], -1
        )
        self._brings, first_split = _first_split_of_player(begun)
        inside = np.flatnonzero((unit >= 0) & (paths.player >= 0))
        # Conditions that begin in the unit, and the highest node of each there.
        new = inside[paths.slot[inside] >= n_path[unit[inside]]]
        highest = new
        for _ in range(1, max_splits):
            previous = paths.previous[highest]
            highest = np.where(previous < 0, highest, previous)
        # Position of the player of each node's condition among the unit's players.
        self._column = paths.slot.copy()
        first_split = first_split[unit[new], number[ensemble.parents[highest]]]
        self._column[new] = n_path[unit[new]] + first_split

    def units(
        self,
        units: NDArray[np.intp],
        root: NDArray[np.intp],
        splits: NDArray[np.intp],
        leaves: NDArray[np.intp],
    ) -> TreeUnits:
        """Units with equally many conditions above and splits."""
        ensemble, paths = self._ensemble, self._paths
        n_path, n_splits = int(paths.n_conditions[root[0]]), splits.shape[1]
        # Leaves with fewer conditions first, else in the order of the ensemble.
        keys = np.sort(paths.n_conditions[leaves] * ensemble.n_nodes + leaves, axis=1)
        leaves = keys % ensemble.n_nodes
        slots = np.arange(n_path + n_splits)
        shape = (*leaves.shape, len(slots))
        slot_bits = np.where(slots < n_path, 1 << np.minimum(slots, 62), 0)
        masks = np.broadcast_to(slot_bits, shape).copy()
        columns = np.broadcast_to(slots, shape).copy()
        flips = np.zeros(leaves.shape, dtype=np.int64)
        # Go up from all leaves together: the unit and leaf of each path, and its node.
        unit, leaf = np.indices(leaves.shape).reshape(2, -1)
        node = leaves.ravel()
        while len(node):
            is_below_root = node != root[unit]
            unit, leaf, node = (array[is_below_root] for array in (unit, leaf, node))
            split, slot = ensemble.parents[node], paths.slot[node]
            bit = 1 << (n_path + self._number[split])
            masks[unit, leaf, slot] |= bit
            flips[unit, leaf] |= np.where(ensemble.left[split] == node, 0, bit)
            columns[unit, leaf, slot] = self._column[node]
            node = split
        path_players = paths.player[paths.conditions_by_slot(root).T]
        return TreeUnits(
            n_path=n_path,
            n_splits=n_splits,
            root=root,
            splits=splits,
            leaves=leaves,
            n_conditions=paths.n_conditions[leaves],
            masks=masks,
            flips=flips,
            columns=columns,
            players=np.hstack([path_players, self._brings[units, :n_splits]]),
        )


def _first_split_of_player(
    begun: NDArray[np.intp],
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Players that splits bring into units, and the first split of each one's player.

    `begun` (n_units, max_splits) are the players of the splits, or -1. The first result
    has -1 for splits after the first one of their player, too.
    """
    brings = begun.copy()
    first = np.tile(np.arange(brings.shape[1]), (len(brings), 1))
    for first_split, later_split in combinations(range(brings.shape[1]), 2):
        player = brings[:, first_split]
        is_same = (player == brings[:, later_split]) & (player >= 0)
        first[is_same, later_split] = first_split
        brings[is_same, later_split] = -1
    return brings, first
