"""What part of a distribution over points meets the conditions of trees."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array

from sklearn_interpret._core.tree_paths import TreePaths
from sklearn_interpret._core.tree_steps import code_intervals


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
class _Sums:
    """Which points of a part are added up for its places.

    Parameters
    ----------
    which, point : ndarray of shape (n,), intp
        Sums, in increasing order, and for each their points in increasing order.
    n_sums : int
        How many there are.
    missing : ndarray of intp
        Points that are missing values, where these are kept apart.
    cumulated : bool
        Whether the sums are summed up one after another.
    """

    which: np.ndarray
    point: np.ndarray
    n_sums: int
    missing: np.ndarray
    cumulated: bool


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
    points : list of slice
        Where the points of each part stand among all that are looked at: none for
        parts that are not split on.
    n_points : int
        Number of these points.
    places : SplitPlaces
        Where in the tables the splits stand.
    n_places : int
        Length of the tables.
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
        self.points, self.n_points, self.n_places = [], 0, 0
        found = []
        for player, part in enumerate(parts):
            splits = order[ends[player] : ends[player + 1]]
            n_points = part.n_points if len(splits) else 0
            self.points.append(slice(self.n_points, self.n_points + n_points))
            if len(splits):
                found.append((player, self._sums_of(player, part, splits)))
                # Where nothing has been added up comes first.
                self.n_places += 1 + found[-1][1].n_sums
            self.n_points += n_points
        self._join(found, len(parts))
        del self._ensemble, self._paths
        for name in ("_intervals", "_with_missing"):
            self.__dict__.pop(name, None)

    def _sums_of(self, player, part, splits):
        if len(part.features) == 1:
            (feature,) = part.features
            if not self._ensemble.split_codes.categorical[feature]:
                return self._sums_of_numbers(player, part, splits)
        return self._sums_of_sets(part, splits)

    def _join(self, found, n_parts):
        """All sums in one matrix."""
        which, point, apart = [], [], []
        self._cumulated, self._copied = [], []
        n_sums = place = 0
        for player, sums in found:
            first = self.points[player].start
            which.append(sums.which + n_sums)
            point.append(sums.point + first)
            apart += [(player, entry + first) for entry in sums.missing]
            runs = self._cumulated if sums.cumulated else self._copied
            runs.append(
                (
                    slice(n_sums, n_sums + sums.n_sums),
                    slice(place, place + 1 + sums.n_sums),
                )
            )
            n_sums += sums.n_sums
            place += 1 + sums.n_sums
        none = np.empty(0, dtype=np.intp)
        self._members = matrix_of_ones(
            np.concatenate([none, *which]),
            np.concatenate([none, *point]),
            (n_sums, self.n_points),
        )
        self._missing = None
        if apart:
            self._missing = matrix_of_ones(
                *np.array(apart).T, (n_parts + 1, self.n_points)
            )

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

    def _sums_of_numbers(self, player, part, splits):
        """Conditions are intervals of codes, and missing values."""
        trees, places = self._ensemble, self.places
        missing_code = trees.split_codes.missing[part.features[0]]
        codes = part.codes[:, 0]
        known, which = np.unique(codes, return_inverse=True)
        which = which.reshape(-1)
        known = known[known < missing_code]
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
        is_missing = codes >= missing_code
        if is_missing.any():
            for into, child in (
                (places.missing_left, left),
                (places.missing_right, right),
            ):
                into[splits[self._with_missing[child]]] = player
        points = np.flatnonzero(~is_missing)
        points = points[np.argsort(which[points], kind="stable")]
        return _Sums(
            which=which[points],
            point=points,
            n_sums=len(known),
            missing=np.flatnonzero(is_missing),
            cumulated=True,
        )

    def _sums_of_sets(self, part, splits):
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
        return _Sums(
            which=members,
            point=point,
            n_sums=len(first),
            missing=np.empty(0, dtype=np.intp),
            cumulated=False,
        )

    def of_amounts(self, amounts):
        """Tables of amounts at the points.

        Parameters
        ----------
        amounts : ndarray of shape (n_points, m)
            Amounts at the points of all parts, of m distributions.

        Returns
        -------
        table : ndarray of shape (n_places, m)
        missing : ndarray of shape (n_parts + 1, m) or None
            Amounts at missing values, where they are looked up; 0 last.
        """
        table = np.empty((self.n_places, amounts.shape[1]))
        sums = self._members @ amounts
        for of_sums, places in self._cumulated:
            into = table[places]
            into[0] = 0
            np.cumsum(sums[of_sums], axis=0, out=into[1:])
        for of_sums, places in self._copied:
            into = table[places]
            into[0] = 0
            into[1:] = sums[of_sums]
        return table, None if self._missing is None else self._missing @ amounts


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
