"""What part of a distribution over points meets the conditions of trees."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array

from sklearn_interpret._core.trees.structure.paths import TreePaths

# Points alike, on average, from which on they are added up before all are cumulated.
_MANY_ALIKE = 6


@dataclass(frozen=True, eq=False)
class SplitPlaces:
    """Where to read in a table how much of a part's distribution passes its splits.

    The table has *places*, for each part its own. What a split can be given by the
    splits above it on the same part is what stands at `high` less what stands at `low`;
    that between `low` and `middle` goes to the left, the rest to the right. All of it
    has more than each of the two in floating point, too.

    Parameters
    ----------
    low, middle, high : ndarray of shape (n_nodes,), intp
        Places; of no meaning at leaves.
    missing_left, missing_right : ndarray of shape (n_nodes,), intp
        The part whose missing values go there besides, which have tables of their own;
        `n_parts` where there are none.
    part : ndarray of shape (n_nodes,), intp
        The part that is split on; `n_parts` at leaves, and where no part moves.
    """

    low: np.ndarray
    middle: np.ndarray
    high: np.ndarray
    missing_left: np.ndarray
    missing_right: np.ndarray
    part: np.ndarray


@dataclass(frozen=True, eq=False)
class NumberMasses:
    """A distribution over the points of a part that is one number, summed up.

    Parameters
    ----------
    order : ndarray of shape (n_points,), intp, or None
        Points by their codes, missing values last; None where they are in order.
    ends : ndarray of shape (n_places - 1,), intp
        Where in this order the last point stands that counts for each place.
    n_known : int
        Number of points that are not missing.
    """

    order: np.ndarray | None
    ends: np.ndarray
    n_known: int

    @property
    def n_places(self):
        """Number of places; 0 comes first."""
        return len(self.ends) + 1

    def put(self, amounts, table, missing):
        """Sum up amounts.

        Parameters
        ----------
        amounts : ndarray of shape (m, n_points)
            Of m distributions, C-contiguous.
        table : ndarray of shape (n_places, m)
            Filled.
        missing : ndarray of shape (m,)
            Filled with what is not in the table.
        """
        if self.order is not None:
            amounts = amounts.take(self.order, axis=1)
        table[0] = 0
        known = amounts[:, : self.n_known]
        if self.n_known > _MANY_ALIKE * len(self.ends):
            starts = np.append(0, self.ends[:-1] + 1)
            sums = np.add.reduceat(known, starts, axis=1)
            np.cumsum(sums.T, axis=0, out=table[1:])
        else:
            table[1:] = known.cumsum(axis=1).take(self.ends, axis=1).T
        missing[:] = amounts[:, self.n_known :].sum(axis=1)


@dataclass(frozen=True, eq=False)
class SetMasses:
    """A distribution over the points of a part whose conditions are sets of them.

    Parameters
    ----------
    members : csr_array of shape (n_places - 1, n_points)
        Which points are in each set.
    """

    members: csr_array

    @property
    def n_places(self):
        """Number of places; 0 comes first."""
        return self.members.shape[0] + 1

    def put(self, amounts, table, missing):
        """As :meth:`NumberMasses.put`."""
        table[0] = 0
        table[1:] = self.members @ np.ascontiguousarray(amounts.T)
        missing[:] = 0


@dataclass(frozen=True, eq=False)
class ConditionTables:
    """Tables of the shares of distributions that meet conditions.

    Build it with :meth:`of_parts`.

    Parameters
    ----------
    masses : dict of int to (slice, NumberMasses or SetMasses)
        For each part that is split on its places, and what fills these in.
    places : SplitPlaces
        Where in the tables the splits stand.
    n_places : int
        Length of the tables.
    has_missing : bool
        Whether there are missing values to be looked up besides.
    """

    masses: dict
    places: SplitPlaces
    n_places: int
    has_missing: bool

    @classmethod
    def of_parts(cls, ensemble, parts):
        """Tables for trees whose features are moved.

        Parameters
        ----------
        ensemble : TreeEnsemble
            The trees.
        parts : list of Part
            The points that the features move to; no two of them share a feature.

        Returns
        -------
        ConditionTables
        """
        conditions = _Conditions(ensemble, parts)
        masses, n_places = {}, 0
        for player, splits in conditions.by_part():
            of_part = conditions.masses(player, splits, n_places)
            end = n_places + of_part.n_places
            masses[player] = slice(n_places, end), of_part
            n_places = end
        places = conditions.places
        missing = np.minimum(places.missing_left, places.missing_right)
        return cls(masses, places, n_places, bool((missing < len(parts)).any()))


class _Conditions:
    """The conditions of trees, and where in tables those of splits are put."""

    def __init__(self, ensemble, parts):
        self._ensemble, self._parts = ensemble, parts
        players = np.full(
            ensemble.n_features + 1, len(parts)
        )  # leaves look at the last
        for player, part in enumerate(parts):
            players[part.features] = player
        self._paths = TreePaths.of_ensemble(
            ensemble, players[:-1], n_players=len(parts) + 1
        )
        self.places = SplitPlaces(
            *np.zeros((3, ensemble.n_nodes), dtype=np.intp),
            *np.full((2, ensemble.n_nodes), len(parts)),
            part=players[ensemble.feature],
        )

    def by_part(self):
        """Parts that are split on, and their splits."""
        part, n_parts = self.places.part, len(self._parts)
        order = np.argsort(part, kind="stable")
        ends = np.searchsorted(part[order], np.arange(n_parts + 1))
        for player in range(n_parts):
            if ends[player] < ends[player + 1]:
                yield player, order[ends[player] : ends[player + 1]]

    def masses(self, player, splits, first):
        """How a part is summed up, its places from `first` on; note them."""
        part = self._parts[player]
        if len(part.features) == 1:
            (feature,) = part.features
            if not self._ensemble.split_codes.categorical[feature]:
                return self._of_numbers(player, feature, splits, first)
        return self._of_sets(part, splits, first)

    @cached_property
    def _intervals(self):
        return self._paths.code_intervals(self._ensemble)

    @cached_property
    def _with_missing(self):
        """Whether missing values meet each condition."""
        trees = self._ensemble
        meets = np.ones(trees.n_nodes, dtype=bool)
        inner = np.flatnonzero(~trees.is_leaf)
        meets[trees.left[inner]] = trees.missing_left[inner]
        meets[trees.right[inner]] = ~trees.missing_left[inner]
        for nodes, previous in self._paths.merged:
            meets[nodes] &= meets[previous]
        return meets

    def _of_numbers(self, player, feature, splits, first):
        """Conditions are intervals of codes, and missing values."""
        missing_code = self._ensemble.split_codes.missing[feature]
        codes = self._parts[player].codes[:, 0].astype(np.intp)
        order = np.argsort(codes, kind="stable")
        known = codes[order]
        known = known[: np.searchsorted(known, missing_code)]
        is_last = np.ones(len(known), dtype=bool)
        is_last[:-1] = known[:-1] < known[1:]
        self._note_intervals(splits, known[is_last], first)
        if len(known) < len(codes):
            self._note_missing(splits, player)
        if np.array_equal(order, np.arange(len(order))):
            order = None
        return NumberMasses(order, np.flatnonzero(is_last), len(known))

    def _note_intervals(self, splits, known, first):
        """Places of splits among the codes that are known, from `first` on."""
        low, high = self._intervals
        above = self._paths.previous[self._ensemble.left[splits]]
        low = np.where(above < 0, 0, low[above])
        low = np.searchsorted(known, low, "left")
        high = np.where(above < 0, np.iinfo(np.intp).max, high[above])
        high = np.searchsorted(known, high, "right")
        high = np.maximum(low, high)  # where no code is between them
        middle = self._ensemble.split_codes.rank[splits]
        middle = np.clip(np.searchsorted(known, middle, "right"), low, high)
        self.places.low[splits] = first + low
        self.places.middle[splits] = first + middle
        self.places.high[splits] = first + high

    def _note_missing(self, splits, player):
        trees, places = self._ensemble, self.places
        for into, child in (
            (places.missing_left, trees.left),
            (places.missing_right, trees.right),
        ):
            into[splits[self._with_missing[child[splits]]]] = player

    def _of_sets(self, part, splits, first):
        """Conditions are sets of points."""
        distinct, which = np.unique(part.codes, axis=0, return_inverse=True)
        lefts = _lefts(self._ensemble, splits, part.features, distinct)
        given = self._given(splits, lefts)
        sets = np.concatenate([given, given & lefts])
        _, kind, number = np.unique(
            np.packbits(sets, axis=1), axis=0, return_index=True, return_inverse=True
        )
        high, middle = number.reshape(2, len(splits))
        self.places.low[splits] = first
        self.places.middle[splits] = first + 1 + middle
        self.places.high[splits] = first + 1 + high
        # Points in order: sums over larger sets are never smaller.
        members, point = np.nonzero(sets[kind][:, which.reshape(-1)])
        return SetMasses(matrix_of_ones(members, point, (len(kind), part.n_points)))

    def _given(self, splits, lefts):
        """Which points the splits above on the same part leave: as `lefts`."""
        trees = self._ensemble
        given = np.ones_like(lefts)
        above = self._paths.previous[trees.left[splits]]
        row = np.zeros(trees.n_nodes, dtype=np.intp)
        row[splits] = np.arange(len(splits))
        below = np.flatnonzero(above >= 0)
        depth = trees.depth[splits[below]]
        for level in np.unique(depth):
            at = below[depth == level]
            parents = trees.parents[above[at]]
            is_left = trees.left[parents] == above[at]
            given[at] = given[row[parents]] & (lefts[row[parents]] == is_left[:, None])
        return given


def matrix_of_ones(row, column, shape):
    """A sparse matrix of ones; `row` increases.

    Products with it are sums, taken in the given order, of each column as if it were
    alone.
    """
    starts = np.searchsorted(row, np.arange(shape[0] + 1))
    return csr_array((np.ones(len(row)), column, starts), shape=shape)


def _lefts(trees, splits, features, points):
    """Which points (n_points, m) go to the left at splits: (n_splits, n_points)."""
    signature = np.column_stack(
        [
            array[splits]
            for array in (
                trees.feature,
                trees.split_codes.rank,
                trees.category_set,
                trees.missing_left,
            )
        ]
    )
    _, first, kind = np.unique(
        signature, axis=0, return_index=True, return_inverse=True
    )
    lefts = np.empty((len(first), len(points)), dtype=bool)
    for row, split in enumerate(splits[first]):
        (column,) = np.flatnonzero(features == trees.feature[split])
        codes = points[:, column].astype(np.intp)
        lefts[row] = trees.goes_left(np.full(len(points), split), codes)
    return lefts[kind.reshape(-1)]
