"""Bottom subtrees of few splits, whose leaves are looked up together."""

from dataclasses import dataclass, fields
from itertools import combinations

import numpy as np

# Leaves with more conditions than this have too many patterns to go through them all.
MAX_TABLE_CONDITIONS = 8
# Patterns longer than this are no integers.
MAX_PATTERN_BITS = 62
# Nor are units made whose patterns have more bits than this.
MAX_UNIT_BITS = 9


@dataclass(frozen=True, eq=False)
class TreeUnits:
    """Subtrees at the bottom of trees that have equally many splits and conditions.

    All that the leaves of a *unit* can tell of a row is in a few bits, the row's
    *pattern* there: bit i is whether the row meets the condition of slot i at the
    unit's root; the bits above say which splits of the unit send the row to the left.
    With p conditions above and s splits, a unit has s + 1 leaves, p + s bits, and at
    most p + s players.

    Parameters
    ----------
    n_path : int
        Number of conditions above, p.
    n_splits : int
        Number of splits, s.
    root : ndarray of shape (n_units,), intp
        Root of each unit, as a node of the ensemble; increasing.
    splits : ndarray of shape (n_units, s), intp
        The unit's own splits, top down.
    leaves : ndarray of shape (n_units, s + 1), intp
        The unit's leaves, those with fewer conditions first.
    n_conditions : ndarray of shape (n_units, s + 1), intp
        Number of conditions of each leaf; its slots from there on hold nothing.
    masks : ndarray of shape (n_units, s + 1, p + s), int64
        The bits of the unit's pattern that the condition needs, zero where there is
        none.
    flips : ndarray of shape (n_units, s + 1), int64
        The bits that the leaf needs to be off instead of on.
    columns : ndarray of shape (n_units, s + 1, p + s), intp
        Which of the unit's players each slot belongs to.
    players : ndarray of shape (n_units, p + s), intp
        The unit's players, -1 where there are fewer: first those of the conditions
        above, then for each split the player that it brings in.
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
    def n_bits(self):
        """Number of bits of the patterns."""
        return self.n_path + self.n_splits

    def __len__(self):
        return len(self.root)

    def __getitem__(self, index):
        """Some of the units, by a slice or by positions."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        parts = {
            name: value[index] if isinstance(value, np.ndarray) else value
            for name, value in values.items()
        }
        return type(self)(**parts)

    @property
    def is_deep(self):
        """Whether these are single leaves with too many patterns for a table."""
        return self.n_path > MAX_TABLE_CONDITIONS and self.n_splits == 0

    @property
    def is_wide(self):
        """Whether these are single leaves whose patterns are too long for integers."""
        return self.n_bits > MAX_PATTERN_BITS

    def leaf_patterns(self, leaf):
        """What each pattern of the units is at one of their leaves.

        Parameters
        ----------
        leaf : int
            Which of the units' leaves.

        Returns
        -------
        ndarray of shape (n_units, 2 ** n_bits), intp
            Bit i is whether the condition in slot i of the leaf is met.
        """
        patterns = np.arange(2**self.n_bits) ^ self.flips[:, leaf, None]
        found = np.zeros(patterns.shape, dtype=np.intp)
        for slot in range(self.n_conditions[:, leaf].max(initial=0)):
            mask = self.masks[:, leaf, slot, None]
            met = ((patterns & mask) == mask) & (mask > 0)
            found |= met.astype(np.intp) << slot
        return found


def units_of(ensemble, paths, *, max_splits):
    """Cut trees into units.

    Parameters
    ----------
    ensemble : TreeEnsemble
        The trees.
    paths : TreePaths
        Their paths.
    max_splits : int
        Largest number of splits of a unit. Leaves with more than
        ``MAX_TABLE_CONDITIONS`` conditions are units of their own.

    Returns
    -------
    list of TreeUnits
        By increasing number of conditions above, and of splits.
    """
    n_below, most = _below(ensemble, paths)
    small = (n_below <= max_splits) & (most <= MAX_TABLE_CONDITIONS)
    small &= paths.n_conditions + n_below <= MAX_UNIT_BITS
    small |= ensemble.is_leaf
    roots = np.flatnonzero(small & ~np.append(small, False)[ensemble.parents])
    kinds = np.stack([paths.n_conditions[roots], n_below[roots]], axis=1)
    number = np.full(ensemble.n_nodes, -1, dtype=np.intp)  # of splits in their units
    found = []
    for kind in np.unique(kinds, axis=0):
        of_kind = roots[(kinds == kind).all(axis=1)]
        found.append(_units_of_kind(ensemble, paths, number, of_kind, *map(int, kind)))
    return found


def _below(ensemble, paths):
    """Number of splits at and below each node; most conditions of a leaf below."""
    n_splits = np.zeros(ensemble.n_nodes, dtype=np.intp)
    most = paths.n_conditions.copy()
    for level in reversed(ensemble.levels()):
        inner = level[~ensemble.is_leaf[level]]
        left, right = ensemble.left[inner], ensemble.right[inner]
        n_splits[inner] = 1 + n_splits[left] + n_splits[right]
        most[inner] = np.maximum(most[left], most[right])
    return n_splits, most


def _units_of_kind(ensemble, paths, number, roots, n_path, n_splits):
    """Units with equally many conditions above and splits."""
    splits, leaves = _nodes_of(ensemble, roots, n_splits)
    # Leaves with fewer conditions first, else as they stand in the ensemble.
    keys = np.sort(paths.n_conditions[leaves] * ensemble.n_nodes + leaves, axis=1)
    leaves = keys % ensemble.n_nodes
    n_units, n_slots = len(roots), n_path + n_splits
    slots = np.arange(n_slots)
    shape = (n_units, n_splits + 1, n_slots)
    n_conditions = paths.n_conditions[leaves]
    masks = np.broadcast_to(
        np.where(slots < n_path, 1 << np.minimum(slots, 62), 0), shape
    ).copy()
    columns = np.broadcast_to(slots, shape).copy()
    players = np.full((n_units, n_slots), -1, dtype=np.intp)
    if n_path:
        players[:, :n_path] = paths.player[paths.of_nodes(roots)]
    flips = np.zeros(shape[:2], dtype=np.int64)
    number[splits] = np.arange(n_splits)
    unit, leaf = np.indices(shape[:2]).reshape(2, -1)
    node = leaves.ravel()
    while len(node):  # up to the roots, so the split that brings a player in is last
        below = node != roots[unit]
        unit, leaf, node = unit[below], leaf[below], node[below]
        split = ensemble.parents[node]
        bit = n_path + number[split]
        slot = paths.slot[node]
        masks[unit, leaf, slot] |= 1 << bit
        flips[unit, leaf] |= np.where(ensemble.left[split] == node, 0, 1 << bit)
        new = paths.previous[node] < 0
        columns[unit[new], leaf[new], slot[new]] = bit[new]
        players[unit[new], bit[new]] = paths.player[node[new]]
        node = split
    _join_columns(columns, players, n_path)
    return TreeUnits(
        n_path=n_path,
        n_splits=n_splits,
        root=roots,
        splits=splits,
        leaves=leaves,
        n_conditions=n_conditions,
        masks=masks,
        flips=flips,
        columns=columns,
        players=players,
    )


def _join_columns(columns, players, n_path):
    """Give splits that bring in the same player one column, the first one's."""
    for first, second in combinations(range(n_path, players.shape[1]), 2):
        alike = np.flatnonzero(
            (players[:, first] == players[:, second]) & (players[:, first] >= 0)
        )
        of_alike = columns[alike]
        columns[alike] = np.where(of_alike == second, first, of_alike)
        players[alike, second] = -1


def _nodes_of(ensemble, roots, n_splits):
    """Splits and leaves of units that have equally many of them, top down."""
    splits = np.empty((len(roots), n_splits), dtype=np.intp)
    leaves = np.empty((len(roots), n_splits + 1), dtype=np.intp)
    n_found = {True: np.zeros(len(roots), dtype=np.intp)}
    n_found[False] = n_found[True].copy()
    unit, node = np.arange(len(roots)), roots
    while len(node):
        for is_leaf, into in ((True, leaves), (False, splits)):
            of_this = np.flatnonzero(ensemble.is_leaf[node] == is_leaf)
            owner = unit[of_this]
            # Nodes of a unit stand side by side: count up within each run.
            within = np.arange(len(owner)) - np.searchsorted(owner, owner)
            into[owner, n_found[is_leaf][owner] + within] = node[of_this]
            n_found[is_leaf] += np.bincount(owner, minlength=len(roots))
        unit, node = np.repeat(unit[of_this], 2), node[of_this]
        node = np.column_stack([ensemble.left[node], ensemble.right[node]]).ravel()
    return splits, leaves
