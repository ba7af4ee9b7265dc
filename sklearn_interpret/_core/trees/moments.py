r"""Means and covariances of trees over features that are independent of each other.

Where the features are independent, the chance that a point reaches a node is a product
over the features: of the chances to meet the conditions on the way to the node. Let a
point reach a split on feature j with chance P, and let q be the condition on j from the
splits above it. With :math:`a_q = P(q)` and :math:`S_q = E[s_j 1_q]` for a statistic
:math:`s_j` of the feature with mean zero, of which :math:`a_l` and :math:`S_l` go to
the left, and with :math:`U_l` and :math:`U_r` the mean outputs below its children,

.. math:: U = U_r + \frac{a_l}{a_q} (U_l - U_r), \qquad
    Cov(s_j, f) = \sum_{splits\ on\ j} \frac{P}{a_q}
    \left(S_l - \frac{a_l}{a_q} S_q\right) (U_l - U_r).

So two passes over the splits are enough: down for P, up for U. Nothing is sampled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from sklearn_interpret._core.trees.structure.paths import TreePaths

if TYPE_CHECKING:
    from sklearn_interpret._core.trees.effects.tree_effects import MovedFeatures
    from sklearn_interpret._core.trees.structure.ensemble import TreeEnsemble

# An array of floats, whose shape comments and docstrings say.
_Array = NDArray[np.float64]

# Sizes of blocks. Chosen by hand: smaller blocks call numpy more often, larger ones
# leave the caches. Numbers of all tables (4 MB), and distributions:
_MOST_NUMBERS = 2**19
_MOST_DISTRIBUTIONS = 16
# Points times distributions whose statistics are computed together (64 kB), and splits
# times distributions that are evaluated together (1 MB):
_MOST_POINTS = 2**13
_MOST_SPLITS = 2**17

# Divisor in place of a probability of zero.
_LEAST = np.finfo(np.float64).tiny

# Function of amounts (m, n_points): sums at places, and sums of missing values.
_Sums = Callable[[_Array], tuple[_Array, _Array | float]]


@dataclass(frozen=True, eq=False)
class ProductMoments:
    """Moments of statistics of features, and of a response, for m distributions.

    Parameters
    ----------
    mean : ndarray of shape (m, k)
        Means of the response.
    covariance : ndarray of shape (m, n_moved, k)
        Covariances of each player's statistic and the response.
    statistic : ndarray of shape (m, n_moved)
        Means of the statistics.
    variance : ndarray of shape (m, n_moved)
        Variances of the statistics.
    """

    mean: _Array
    covariance: _Array
    statistic: _Array
    variance: _Array


class _Table(NamedTuple):
    """Sums of amounts at the players' points, for m distributions: see `_SplitTables`.

    The amounts are shares :math:`P`, or shares times centred statistics, :math:`s_j`.
    """

    at_places: _Array  # (n_places, m)
    missing: _Array  # (n_moved + 1, m): sums of missing values, by player


class TreeProducts:
    """Moments of trees whose features, or groups of them, move independently.

    Parameters
    ----------
    ensemble : TreeEnsemble
        The trees.
    values : ndarray of shape (n_nodes, k)
        Value of each leaf, zero at other nodes.
    base : ndarray of shape (k,)
        Constant that is added to the sum of the trees.
    moved_features : list of MovedFeatures
        The features and their points; each feature of a split is in one of them.

    Attributes
    ----------
    block_size : int
        Number of distributions that are evaluated together.

    Raises
    ------
    ValueError
        A feature is split on and does not move.
    """

    def __init__(
        self,
        ensemble: TreeEnsemble,
        values: _Array,
        base: _Array,
        moved_features: list[MovedFeatures],
    ) -> None:
        # Trees that are a single leaf add to every output.
        self._constant = base + values[ensemble.roots].sum(axis=0)
        self._n_moved = len(moved_features)
        self._tables = _SplitTables(ensemble, moved_features)
        if (self._tables.player[~ensemble.is_leaf] == len(moved_features)).any():
            raise ValueError("The trees split on a feature that does not move.")
        n_splits = int(np.count_nonzero(~ensemble.is_leaf))
        k = max(1, len(base))
        size = max(1, self._tables.n_places, min(n_splits, _MOST_SPLITS) * k)
        self.block_size = int(np.clip(_MOST_NUMBERS // size, 1, _MOST_DISTRIBUTIONS))
        most_splits = _MOST_SPLITS // (self.block_size * k)
        self._blocks = [
            _Block(ensemble, values, self._tables, roots, len(moved_features))
            for roots in _roots_of_blocks(ensemble, most_splits)
        ]

    def moments(self, shares: list[_Array], statistics: list[_Array]) -> ProductMoments:
        """Moments of the response over products of distributions.

        Parameters
        ----------
        shares : list of ndarray of shape (m, n_points)
            For each player, m distributions over its points; each sums to 1.
        statistics : list of ndarray of shape (m, n_points) or (n_points,)
            For each player a number at each point, for all distributions or each.

        Returns
        -------
        ProductMoments
        """
        m, n_moved, k = len(shares[0]), self._n_moved, len(self._constant)
        moments = ProductMoments(
            mean=np.empty((m, k)),
            covariance=np.zeros((m, n_moved, k)),
            statistic=np.empty((m, n_moved)),
            variance=np.empty((m, n_moved)),
        )
        for start in range(0, m, self.block_size):
            rows = slice(start, min(start + self.block_size, m))
            chances, centred = (
                self._tables.new_table(rows.stop - start) for _ in range(2)
            )
            for player, (share, statistic) in enumerate(
                zip(shares, statistics, strict=True)
            ):
                if statistic.ndim > 1:
                    statistic = statistic[rows]
                for chunk in _centre_statistics(share[rows], statistic):
                    chunk_rows = slice(
                        start + chunk.rows.start, start + chunk.rows.stop
                    )
                    moments.statistic[chunk_rows, player] = chunk.mean
                    moments.variance[chunk_rows, player] = chunk.variance
                    self._tables.fill(chances, player, chunk.shares, chunk.rows)
                    self._tables.fill(centred, player, chunk.amounts, chunk.rows)
            mean = np.repeat(self._constant[:, None], rows.stop - start, axis=1)
            covariance = np.zeros((k, n_moved, rows.stop - start))
            for block in self._blocks:
                block.add(chances, centred, mean, covariance)
            moments.mean[rows] = mean.T
            moments.covariance[rows] = covariance.transpose(2, 1, 0)
        return moments


class _CentredStatistics(NamedTuple):
    """Moments of a player's statistic, for some distributions (c,)."""

    rows: slice  # which of the distributions
    shares: _Array  # (c, n_points)
    amounts: _Array  # (c, n_points): shares times centred statistics
    mean: _Array  # (c,)
    variance: _Array  # (c,)


def _centre_statistics(
    shares: _Array, statistics: _Array
) -> Iterator[_CentredStatistics]:
    """Moments of statistics under shares (m, n_points), some at a time."""
    m, n_points = shares.shape
    step = max(1, _MOST_POINTS // max(1, n_points))
    for start in range(0, m, step):
        rows = slice(start, min(start + step, m))
        # Rows are summed up: each should be one stretch of memory.
        share = np.ascontiguousarray(shares[rows], dtype=np.float64)
        statistic = statistics if statistics.ndim == 1 else statistics[rows]
        statistic = np.ascontiguousarray(statistic, dtype=np.float64)
        mean = (share * statistic).sum(axis=1)
        centred = statistic - mean[:, None]
        amounts = share * centred
        variance = (centred * amounts).sum(axis=1)
        yield _CentredStatistics(rows, share, amounts, mean, variance)


class _Block:
    """Some trees, their splits level by level."""

    def __init__(
        self,
        ensemble: TreeEnsemble,
        values: _Array,
        tables: _SplitTables,
        roots: NDArray[np.intp],
        n_moved: int,
    ) -> None:
        self._levels, all_splits = [], []
        splits, n_before = roots, 0
        while len(splits):
            all_splits.append(splits)
            children = np.concatenate([ensemble.left[splits], ensemble.right[splits]])
            is_leaf = ensemble.is_leaf[children]
            inner, leaves = np.flatnonzero(~is_leaf), np.flatnonzero(is_leaf)
            position = np.empty(len(children), dtype=np.intp)
            position[inner] = np.arange(len(inner))
            position[leaves] = len(inner) + np.arange(len(leaves))
            n = len(splits)
            self._levels.append(
                _Level(
                    splits=slice(n_before, n_before + n),
                    inner=inner,
                    left=position[:n],
                    right=position[n:],
                    leaves=np.ascontiguousarray(values[children[leaves]].T)[:, :, None],
                )
            )
            n_before += n
            splits = children[inner]
        splits = np.concatenate(all_splits)
        self._low, self._middle = tables.low[splits], tables.middle[splits]
        self._high = tables.high[splits]
        self._has_missing = tables.has_missing
        self._missing_left = tables.missing_left[splits]
        self._missing_right = tables.missing_right[splits]
        player = tables.player[splits]
        order = np.argsort(player, kind="stable")
        self._by_player = _matrix_of_ones(player[order], order, (n_moved, len(order)))
        self._n_roots = len(roots)

    def add(
        self, chances: _Table, centred: _Table, mean: _Array, covariance: _Array
    ) -> None:
        """Add the trees' means to `mean` (k, m), and to `covariance` (k, n_moved, m).

        Both arrays are changed in place.
        """
        reached, left, right = self._look_up(chances)
        np.maximum(reached, _LEAST, out=reached)
        ratio = left / reached
        conditioned, gain, _ = self._look_up(centred)
        conditioned *= ratio
        gain -= conditioned
        self._go_down(reached, left, right, gain)
        covariances = self._go_up(ratio, gain, mean)
        for output, of_splits in enumerate(covariances):
            covariance[output] += self._by_player @ of_splits

    def _look_up(self, table: _Table) -> tuple[_Array, _Array, _Array]:
        """Sums (n_splits, m) of amounts that reach splits, that go left, and right."""
        low, middle, high = (
            table.at_places.take(places, axis=0)
            for places in (self._low, self._middle, self._high)
        )
        reached, left = high - low, np.subtract(middle, low, out=low)
        right = np.subtract(high, middle, out=high)
        if self._has_missing:
            missing_left = table.missing.take(self._missing_left, axis=0)
            missing_right = table.missing.take(self._missing_right, axis=0)
            left += missing_left
            right += missing_right
            reached += missing_left
            reached += missing_right
        return reached, left, right

    def _go_down(
        self, shares: _Array, left: _Array, right: _Array, gain: _Array
    ) -> None:
        """Multiply `gain` (n_splits, m) in place by P / a_q, as in the formulas."""
        chances = np.ones((self._n_roots, gain.shape[1]))
        for level in self._levels:
            chances /= shares[level.splits]
            gain[level.splits] *= chances
            n = len(chances)
            children = np.empty((2 * n, gain.shape[1]))
            np.multiply(chances, left[level.splits], out=children[:n])
            np.multiply(chances, right[level.splits], out=children[n:])
            chances = children.take(level.inner, axis=0)

    def _go_up(self, ratio: _Array, gain: _Array, mean: _Array) -> _Array:
        """Add the means of the trees to `mean`; covariances by split, (k, n_splits, m).

        `ratio` is a_l / a_q; differences are taken between the means of the children.
        """
        k, m = mean.shape
        covariances = np.empty((k, *gain.shape))
        node_means = np.empty((k, 0, m))
        for level in reversed(self._levels):
            n_inner = node_means.shape[1]
            values = np.empty((k, n_inner + level.leaves.shape[1], m))
            values[:, :n_inner] = node_means
            values[:, n_inner:] = level.leaves
            difference = values.take(level.left, axis=1)
            node_means = values.take(level.right, axis=1)
            difference -= node_means
            np.multiply(
                difference, gain[level.splits], out=covariances[:, level.splits]
            )
            difference *= ratio[level.splits]
            node_means += difference
        mean += node_means.sum(axis=1)
        return covariances


@dataclass(frozen=True, eq=False)
class _Level:
    """The splits of a block at one depth, and their children: all left, then all right.

    Parameters
    ----------
    splits : slice
        Positions of the splits in the block.
    inner : ndarray of intp
        Positions of the children that are splits: the splits of the next level.
    left, right : ndarray of shape (n_splits,), intp
        Positions of the children, where children that are splits come first.
    leaves : ndarray of shape (k, n_leaves, 1)
        Values of the children that are leaves.
    """

    splits: slice
    inner: NDArray[np.intp]
    left: NDArray[np.intp]
    right: NDArray[np.intp]
    leaves: _Array


def _roots_of_blocks(
    ensemble: TreeEnsemble, most_splits: int
) -> list[NDArray[np.intp]]:
    """Roots of some trees at a time, without roots that are leaves."""
    # A tree has one leaf more than splits.
    n_splits = np.diff(ensemble.roots, append=ensemble.n_nodes) // 2
    used = n_splits > 0
    block = (np.cumsum(n_splits[used]) - 1) // max(1, most_splits)
    roots = ensemble.roots[used]
    pieces = np.split(roots, np.flatnonzero(np.diff(block)) + 1)
    return [piece for piece in pieces if len(piece)]


class _SplitTables:
    """Tables of the shares of distributions that meet the conditions of splits.

    Each player has its *places*, rows of the tables. For a split, the share that meets
    the conditions of the splits above on the same player is the entry at `high` less
    the entry at `low`. The share between `low` and `middle` goes to the left, the share
    between `middle` and `high` to the right. Shares grow along a table, so that no
    difference is negative, even after rounding.

    Parameters
    ----------
    ensemble : TreeEnsemble
        The trees.
    moved_features : list of MovedFeatures
        The points that the features move to; no two of them share a feature.

    Attributes
    ----------
    low, middle, high : ndarray of shape (n_nodes,), intp
        Places; of no meaning at leaves.
    missing_left, missing_right : ndarray of shape (n_nodes,), intp
        The player whose missing values, which have a table of their own, go to the left
        or right too; `n_moved` where there are none.
    player : ndarray of shape (n_nodes,), intp
        The player that is split on; `n_moved` at leaves, and where no player moves.
    n_places : int
        Length of the tables.
    """

    def __init__(
        self, ensemble: TreeEnsemble, moved_features: list[MovedFeatures]
    ) -> None:
        self._ensemble, self._moved_features = ensemble, moved_features
        n_moved = len(moved_features)
        players = np.full(ensemble.n_features + 1, n_moved)  # leaves look at the last
        for player, moved in enumerate(moved_features):
            players[moved.features] = player
        self._paths = TreePaths.of_ensemble(
            ensemble, players[:-1], n_players=n_moved + 1
        )
        self.low, self.middle, self.high = np.zeros((3, ensemble.n_nodes), np.intp)
        self.missing_left, self.missing_right = np.full((2, ensemble.n_nodes), n_moved)
        self.player = players[ensemble.feature]
        self.n_places = 0
        self._sums: dict[int, tuple[slice, _Sums]] = {}
        order = np.argsort(self.player, kind="stable")
        ends = np.searchsorted(self.player[order], np.arange(n_moved + 1))
        for player in np.flatnonzero(np.diff(ends)).tolist():
            splits = order[ends[player] : ends[player + 1]]
            sums, n_places = self._place_splits(player, splits)
            end = self.n_places + n_places
            self._sums[player] = slice(self.n_places, end), sums
            self.n_places = end
        missing = np.minimum(self.missing_left, self.missing_right)
        self.has_missing = bool((missing < n_moved).any())

    def new_table(self, m: int) -> _Table:
        """A table for m distributions whose places are not filled."""
        missing = np.zeros((len(self._moved_features) + 1, m))
        return _Table(np.empty((self.n_places, m)), missing)

    def fill(self, table: _Table, player: int, amounts: _Array, rows: slice) -> None:
        """Write sums of amounts (c, n_points) to a player's places, for `rows` of m."""
        if player in self._sums:
            places, sums = self._sums[player]
            at_places, missing = sums(amounts)
            table.at_places[places.start, rows] = 0
            table.at_places[places.start + 1 : places.stop, rows] = at_places
            table.missing[player, rows] = missing

    def _place_splits(self, player: int, splits: NDArray[np.intp]) -> tuple[_Sums, int]:
        """Set the places of splits; return a player's sums, and number of places."""
        moved = self._moved_features[player]
        if len(moved.features) == 1:
            (feature,) = moved.features
            if not self._ensemble.split_codes.categorical[feature]:
                return self._place_number_splits(player, feature, splits)
        return self._place_set_splits(moved, splits)

    @cached_property
    def _intervals(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Lowest and highest code with which numbers meet each condition."""
        return self._paths.code_intervals()

    @cached_property
    def _with_missing(self) -> NDArray[np.bool_]:
        """Whether missing values meet each condition."""
        trees = self._ensemble
        meets = np.ones(trees.n_nodes, dtype=bool)
        inner = np.flatnonzero(~trees.is_leaf)
        meets[trees.left[inner]] = trees.missing_left[inner]
        meets[trees.right[inner]] = ~trees.missing_left[inner]
        for nodes, previous in self._paths.narrowing_steps:
            meets[nodes] &= meets[previous]
        return meets

    def _place_number_splits(
        self, player: int, feature: int, splits: NDArray[np.intp]
    ) -> tuple[_Sums, int]:
        """Set places for a numeric feature, whose conditions are intervals of codes."""
        trees = self._ensemble
        codes = self._moved_features[player].codes[:, 0].astype(np.intp)
        order = np.argsort(codes, kind="stable")
        sorted_codes = codes[order]
        n_known = np.searchsorted(sorted_codes, trees.split_codes.missing[feature])
        # The last point of each known code: there is a place behind each.
        ends = np.flatnonzero(np.diff(sorted_codes[:n_known], append=-1))
        self._set_places(splits, sorted_codes[ends])
        if n_known < len(codes):
            meets_left = self._with_missing[trees.left[splits]]
            meets_right = self._with_missing[trees.right[splits]]
            self.missing_left[splits[meets_left]] = player
            self.missing_right[splits[meets_right]] = player
        in_order = (np.diff(order) > 0).all()
        sums = partial(_number_sums, None if in_order else order, ends, n_known)
        return sums, len(ends) + 1

    def _set_places(self, splits: NDArray[np.intp], values: NDArray[np.intp]) -> None:
        """Set the places of splits, among the codes of values that are not missing."""
        lowest, highest = self._intervals
        # Codes that meet the player's conditions above the split; all without any.
        previous = self._paths.previous[self._ensemble.left[splits]]
        has_none = previous < 0
        lowest = np.where(has_none, 0, lowest[previous])
        highest = np.where(has_none, np.iinfo(np.intp).max, highest[previous])
        low = np.searchsorted(values, lowest, "left")
        high = np.searchsorted(values, highest, "right")
        high = np.maximum(low, high)  # where no code is between them
        rank = self._ensemble.split_codes.rank[splits]
        middle = np.clip(np.searchsorted(values, rank, "right"), low, high)
        self.low[splits] = self.n_places + low
        self.middle[splits] = self.n_places + middle
        self.high[splits] = self.n_places + high

    def _place_set_splits(
        self, moved: MovedFeatures, splits: NDArray[np.intp]
    ) -> tuple[_Sums, int]:
        """Set places for other players, whose conditions are sets of points."""
        distinct, point_number = np.unique(moved.codes, axis=0, return_inverse=True)
        lefts = _points_going_left(self._ensemble, splits, moved.features, distinct)
        within = self._points_within(splits, lefts)
        sets = np.concatenate([within, within & lefts])
        _, kind, number = np.unique(
            np.packbits(sets, axis=1), axis=0, return_index=True, return_inverse=True
        )
        high, middle = number.reshape(2, len(splits))
        self.low[splits] = self.n_places
        self.middle[splits] = self.n_places + 1 + middle
        self.high[splits] = self.n_places + 1 + high
        # Points in order: sums over larger sets are never smaller.
        members, point = np.nonzero(sets[kind][:, point_number.reshape(-1)])
        matrix = _matrix_of_ones(members, point, (len(kind), moved.n_points))
        return partial(_set_sums, matrix), len(kind) + 1

    def _points_within(
        self, splits: NDArray[np.intp], lefts: NDArray[np.bool_]
    ) -> NDArray[np.bool_]:
        """Masks of points that meet the conditions of splits above on the same player.

        `lefts` (n_splits, n_points) says which points go left at each split.
        """
        trees = self._ensemble
        within = np.ones_like(lefts)
        previous = self._paths.previous[trees.left[splits]]
        position = np.zeros(trees.n_nodes, dtype=np.intp)
        position[splits] = np.arange(len(splits))
        # Top down: the points of the player's split above that go to the same side.
        below = np.flatnonzero(previous >= 0)
        depth = trees.depth[splits[below]]
        for level in np.unique(depth):
            selected = below[depth == level]
            upper_splits = trees.parents[previous[selected]]
            upper = position[upper_splits]
            is_left = trees.left[upper_splits] == previous[selected]
            same_side = lefts[upper] == is_left[:, None]
            within[selected] = within[upper] & same_side
        return within


def _number_sums(
    order: NDArray[np.intp] | None,
    ends: NDArray[np.intp],
    n_known: int,
    amounts: _Array,
) -> tuple[_Array, _Array]:
    """Sums of amounts (m, n_points) up to each place, and over missing values."""
    if order is not None:
        amounts = amounts.take(order, axis=1)
    table = amounts[:, :n_known].cumsum(axis=1).take(ends, axis=1).T
    return table, amounts[:, n_known:].sum(axis=1)


def _set_sums(matrix: csr_array, amounts: _Array) -> tuple[_Array, float]:
    """Sums of amounts (m, n_points) over sets of points; none is missing."""
    return matrix @ np.ascontiguousarray(amounts.T), 0.0


def _matrix_of_ones(
    row: NDArray[np.intp], column: NDArray[np.intp], shape: tuple[int, int]
) -> csr_array:
    """A sparse matrix of ones that sums up columns; `row` increases."""
    starts = np.searchsorted(row, np.arange(shape[0] + 1))
    return csr_array((np.ones(len(row)), column, starts), shape=shape)


def _points_going_left(
    trees: TreeEnsemble,
    splits: NDArray[np.intp],
    features: NDArray[np.intp],
    points: NDArray[np.integer],
) -> NDArray[np.bool_]:
    """Masks of points (n_points, m) that go left at splits: (n_splits, n_points)."""
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
