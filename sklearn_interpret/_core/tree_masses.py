"""What part of a distribution over points meets the conditions of trees."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array

from sklearn_interpret._core.tree_paths import TreePaths
from sklearn_interpret._core.tree_steps import code_intervals

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


class ConditionTables:
    """Tables of shares of distributions that meet conditions.

    Parameters
    ----------
    ensemble : TreeEnsemble
        The trees.
    parts : list of Part
        The points that the features move to; no two of them share a feature.

    Attributes
    ----------
    masses : list of (int, slice, NumberMasses or SetMasses)
        The parts that are split on, the places of each, and what fills these in.
    places : SplitPlaces
        Where in the tables the splits stand.
    n_places : int
        Length of the tables.
    has_missing : bool
        Whether there are missing values to be looked up besides.
    """

    def __init__(self, ensemble, parts):
        self._ensemble = ensemble
        players = np.full(ensemble.n_features, len(parts))
        for player, part in enumerate(parts):
            players[part.features] = player
        self._paths = TreePaths.of_ensemble(ensemble, players, n_players=len(parts) + 1)
        where = np.append(players, len(parts))[ensemble.feature]
        self.places = SplitPlaces(
            *np.zeros((3, ensemble.n_nodes), dtype=np.intp),
            *np.full((2, ensemble.n_nodes), len(parts)),
            part=where,
        )
        order = np.argsort(where, kind="stable")
        ends = np.searchsorted(where[order], np.arange(len(parts) + 1))
        self.masses, self.n_places = [], 0
        for player, part in enumerate(parts):
            splits = order[ends[player] : ends[player + 1]]
            if len(splits):
                masses = self._masses(player, part, splits)
                first = self.n_places
                self.n_places += masses.n_places
                self.masses.append((player, slice(first, self.n_places), masses))
        self.has_missing = bool(np.min(self.places.missing_left) < len(parts))
        self.has_missing |= bool(np.min(self.places.missing_right) < len(parts))
        del self._ensemble, self._paths
        for name in ("_intervals", "_with_missing"):
            self.__dict__.pop(name, None)

    def _masses(self, player, part, splits):
        if len(part.features) == 1:
            (feature,) = part.features
            if not self._ensemble.split_codes.categorical[feature]:
                return self._masses_of_numbers(player, part, splits)
        return self._masses_of_sets(part, splits)

    @cached_property
    def _intervals(self):
        return code_intervals(self._ensemble, self._paths)

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

    def _masses_of_numbers(self, player, part, splits):
        """Conditions are intervals of codes, and missing values."""
        trees, places = self._ensemble, self.places
        missing_code = trees.split_codes.missing[part.features[0]]
        codes = part.codes[:, 0]
        order = np.argsort(codes, kind="stable")
        in_order = codes[order]
        n_known = int(np.searchsorted(in_order, missing_code))
        known = in_order[:n_known].astype(np.intp)
        last = np.flatnonzero(np.append(np.diff(known) > 0, True)[:n_known])
        known = known[last]
        low, high = self._intervals
        left, right = trees.left[splits], trees.right[splits]
        above = self._paths.previous[left]
        low = np.where(above < 0, 0, low[above])
        low = self.n_places + np.searchsorted(known, low, "left")
        high = np.where(above < 0, missing_code, high[above])
        high = self.n_places + np.searchsorted(known, high, "right")
        high = np.maximum(low, high)  # what no value meets
        middle = trees.split_codes.rank[splits]
        middle = self.n_places + np.searchsorted(known, middle, "right")
        places.low[splits], places.high[splits] = low, high
        places.middle[splits] = np.clip(middle, low, high)
        if n_known < len(codes):
            for into, child in (
                (places.missing_left, left),
                (places.missing_right, right),
            ):
                into[splits[self._with_missing[child]]] = player
        in_place = np.array_equal(order, np.arange(len(order)))
        return NumberMasses(None if in_place else order, last, n_known)

    def _masses_of_sets(self, part, splits):
        """Conditions are sets of points."""
        trees = self._ensemble
        distinct, which = np.unique(part.codes, axis=0, return_inverse=True)
        which = which.reshape(-1)
        above = self._paths.previous[trees.left[splits]]
        given = np.ones((len(splits), len(distinct)), dtype=bool)
        lefts = _lefts(trees, splits, part.features, distinct)
        row = np.zeros(trees.n_nodes, dtype=np.intp)
        row[splits] = np.arange(len(splits))
        # Splits further down are given what those above them leave.
        parents = np.where(above < 0, -1, trees.parents[above])
        depth = trees.depth[splits]
        for level in np.unique(depth[above >= 0]):
            at = np.flatnonzero((depth == level) & (above >= 0))
            upper = row[parents[at]]
            is_left = trees.left[parents[at]] == above[at]
            given[at] = given[upper] & (lefts[upper] == is_left[:, None])
        sets = np.concatenate([given, given & lefts])
        packed = np.packbits(sets, axis=1)
        _, first, number = np.unique(
            packed, axis=0, return_index=True, return_inverse=True
        )
        high, middle = number.reshape(2, len(splits))
        self.places.low[splits] = self.n_places
        self.places.middle[splits] = self.n_places + 1 + middle
        self.places.high[splits] = self.n_places + 1 + high
        # Points in order: sums over larger sets are never smaller.
        members, point = np.nonzero(sets[first][:, which])
        return SetMasses(matrix_of_ones(members, point, (len(first), len(which))))


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
