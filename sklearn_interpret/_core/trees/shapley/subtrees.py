"""Bottom subtrees of few splits, whose leaves are looked up together."""

from dataclasses import dataclass, fields
from functools import cached_property
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
        The unit's own splits, in the order of their nodes.
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


@dataclass(frozen=True, eq=False)
class UnitCut:
    """Where trees are cut into units.

    Build it with :meth:`of_ensemble`.

    Parameters
    ----------
    ensemble : TreeEnsemble
        The trees.
    paths : TreePaths
        Their paths.
    root : ndarray of shape (n_units,), intp
        Root of each unit; increasing.
    n_path, n_splits : ndarray of shape (n_units,), intp
        Number of conditions above each unit, and of its splits.
    unit : ndarray of shape (n_nodes,), intp
        The unit that each node is in; -1 above the units.
    number : ndarray of shape (n_nodes,), intp
        Number of each split among those of its unit; -1 at other nodes.
    column : ndarray of shape (n_nodes,), intp
        Which of the players of a unit each node's condition belongs to; -1 at the roots
        of trees.
    brings : ndarray of shape (n_units, max_splits), intp
        Player that each split brings in; -1 where it brings in none.
    """

    ensemble: object
    paths: object
    root: np.ndarray
    n_path: np.ndarray
    n_splits: np.ndarray
    unit: np.ndarray
    number: np.ndarray
    column: np.ndarray
    brings: np.ndarray

    @classmethod
    def of_ensemble(cls, ensemble, paths, *, max_splits):
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
        UnitCut
        """
        parents, shape = ensemble.parents, (ensemble.n_nodes,)
        n_below, most = _below(ensemble, paths, max_splits)
        small = (n_below <= max_splits) & (most <= MAX_TABLE_CONDITIONS)
        small &= paths.n_conditions + n_below <= MAX_UNIT_BITS
        small |= ensemble.is_leaf
        is_root = small & ~np.append(small, False)[parents]
        root, below = np.flatnonzero(is_root), np.flatnonzero(small & ~is_root)
        unit, number = (np.full(shape, -1, dtype=np.intp) for _ in range(2))
        unit[root] = np.arange(len(root))
        for _ in range(max_splits):
            unit[below] = unit[parents[below]]
        n_path, n_splits = paths.n_conditions[root], n_below[root]
        splits = np.flatnonzero(small & ~ensemble.is_leaf)
        owner = unit[splits]
        by_unit = np.argsort(owner, kind="stable")
        before = np.repeat(np.cumsum(n_splits) - n_splits, n_splits)
        number[splits[by_unit]] = np.arange(len(splits)) - before
        brings = np.full((len(root), max_splits), -1, dtype=np.intp)
        child = ensemble.left[splits]
        brings[owner, number[splits]] = np.where(
            paths.previous[child] < 0, paths.player[child], -1
        )
        first = _first_alike(brings)
        column = paths.slot.copy()
        new = below[paths.slot[below] >= n_path[unit[below]]]
        highest = new
        for _ in range(1, max_splits):
            above = paths.previous[highest]
            highest = np.where(above < 0, highest, above)
        column[new] = n_path[unit[new]] + first[unit[new], number[parents[highest]]]
        return cls(
            ensemble, paths, root, n_path, n_splits, unit, number, column, brings
        )

    def __getstate__(self):
        """The fields alone: what was derived from them is found again."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def __len__(self):
        return len(self.root)

    @cached_property
    def n_bits(self):
        """Number of bits of the patterns of each unit."""
        return self.n_path + self.n_splits

    @cached_property
    def is_deep(self):
        """Which units are single leaves with too many patterns for a table."""
        return (self.n_path > MAX_TABLE_CONDITIONS) & (self.n_splits == 0)

    @property
    def is_wide(self):
        """Which units have patterns that are too long for integers."""
        return self.n_bits > MAX_PATTERN_BITS

    @cached_property
    def kind(self):
        """Number of conditions above and of splits, as one number."""
        return self.n_path * (self.brings.shape[1] + 1) + self.n_splits

    @cached_property
    def groups(self):
        """The units, those with equally many conditions above and splits together.

        Returns
        -------
        list of TreeUnits
            By increasing number of conditions above, and of splits.
        """
        leaves = np.flatnonzero(self.ensemble.is_leaf)
        splits = np.flatnonzero(self.number >= 0)
        leaves, splits = (
            nodes[np.argsort(self.unit[nodes], kind="stable")]
            for nodes in (leaves, splits)
        )
        before = np.cumsum(self.n_splits) - self.n_splits
        found = []
        for kind in np.unique(self.kind):
            units = np.flatnonzero(self.kind == kind)
            n_path, n_splits = int(self.n_path[units[0]]), int(self.n_splits[units[0]])
            first = before[units, None]
            own_splits = splits[first + np.arange(n_splits)]
            first = first + units[:, None]  # a unit has one leaf more
            own_leaves = leaves[first + np.arange(n_splits + 1)]
            found.append(
                _units_of_kind(self, units, n_path, n_splits, own_splits, own_leaves)
            )
        return found


def _below(ensemble, paths, max_splits):
    """Number of splits at and below each node; most conditions of a leaf below.

    Right for nodes with up to `max_splits` splits; the others have more.
    """
    n_splits = np.where(ensemble.is_leaf, 0, max_splits + 1)
    most = paths.n_conditions.copy()
    inner = np.flatnonzero(~ensemble.is_leaf)
    for _ in range(max_splits):
        left, right = ensemble.left[inner], ensemble.right[inner]
        known = np.maximum(n_splits[left], n_splits[right]) <= max_splits
        now, left, right = inner[known], left[known], right[known]
        n_splits[now] = 1 + n_splits[left] + n_splits[right]
        most[now] = np.maximum(most[left], most[right])
        inner = inner[~known]
    return n_splits, most


def _first_alike(brings):
    """For each split of units the first that brings in the same player.

    The player is left to that one.
    """
    first = np.tile(np.arange(brings.shape[1]), (len(brings), 1))
    for one, other in combinations(range(brings.shape[1]), 2):
        alike = np.flatnonzero(
            (brings[:, one] == brings[:, other]) & (brings[:, one] >= 0)
        )
        first[alike, other] = one
        brings[alike, other] = -1
    return first


def _units_of_kind(cut, units, n_path, n_splits, splits, leaves):
    """Units with equally many conditions above and splits."""
    ensemble, paths, roots = cut.ensemble, cut.paths, cut.root[units]
    # Leaves with fewer conditions first, else as they stand in the ensemble.
    keys = np.sort(paths.n_conditions[leaves] * ensemble.n_nodes + leaves, axis=1)
    leaves = keys % ensemble.n_nodes
    n_units, n_slots = len(roots), n_path + n_splits
    slots = np.arange(n_slots)
    shape = (n_units, n_splits + 1, n_slots)
    masks = np.broadcast_to(
        np.where(slots < n_path, 1 << np.minimum(slots, 62), 0), shape
    ).copy()
    columns = np.broadcast_to(slots, shape).copy()
    flips = np.zeros(shape[:2], dtype=np.int64)
    unit, leaf = np.indices(shape[:2]).reshape(2, -1)
    node = leaves.ravel()
    while len(node):  # up to the roots
        below = node != roots[unit]
        unit, leaf, node = unit[below], leaf[below], node[below]
        split, slot = ensemble.parents[node], paths.slot[node]
        bit = n_path + cut.number[split]
        masks[unit, leaf, slot] |= 1 << bit
        flips[unit, leaf] |= np.where(ensemble.left[split] == node, 0, 1 << bit)
        columns[unit, leaf, slot] = cut.column[node]
        node = split
    return TreeUnits(
        n_path=n_path,
        n_splits=n_splits,
        root=roots,
        splits=splits,
        leaves=leaves,
        n_conditions=paths.n_conditions[leaves],
        masks=masks,
        flips=flips,
        columns=columns,
        players=np.hstack(
            [paths.player[paths.of_nodes(roots).T], cut.brings[units, :n_splits]]
        ),
    )
