"""Partial dependence at the rows' own values, from the trees of a model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, partial
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config

from sklearn_interpret._core.trees.effects import pairwise_interactions
from sklearn_interpret._core.trees.effects.curves import TreeCurves
from sklearn_interpret._core.trees.effects.feature_sets import LinkedTreeSets, TreeSets
from sklearn_interpret._core.trees.effects.tree_effects import (
    MovedFeatures,
    TreeEffects,
)
from sklearn_interpret._model.parallel import run_in_threads, slices
from sklearn_interpret._model.replacement.point_means import PointMeans
from sklearn_interpret._model.replacement.replaced_trees import (
    ReplacedTrees,
    ReplacementGroup,
    row_tasks,
    sums_of_passes,
)

if TYPE_CHECKING:
    from sklearn_interpret._model.formulas.trees.tree_response import TreeResponse
    from sklearn_interpret._model.replacement.dependence_at_rows import Sets
    from sklearn_interpret._model.rows.base import Rows

# Mean responses (n_rows, k), for one set of players after the other.
_MeansOfSets = Iterator[NDArray[np.float64]]

# The conditions on players that have more steps on average are no intervals: their
# terms follow from the rows that meet the conditions.
_MOST_STEPS = 8

# Pairs that are listed together, to bound memory; passes over the trees take some of
# them.
_MOST_PAIRS = 2**16

# Numbers in memory for a mean over a player, while it is made and used.
_NUMBERS_OF_MEAN = 8

# Seconds for a row at a point, of two outputs: measured for forests.
_SECONDS_OF_POINT = 3e-8

# Sets of players in a task: fewer make the threads wait for each other more often.
_SETS_OF_TASK = 8
# Sets in the tasks that are started together, whose results are in memory.
_SETS_OF_WAVE = 2**9

# Sets whose points are counted together, to bound memory.
_SETS_COUNTED = 2**14

# A number in a product of matrices over this number of leaves costs one sum more.
_LEAVES_OF_SUM = 1000


class TreeDependenceAtRows(PointMeans, ReplacedTrees):
    """Partial dependence at the rows' own values, from trees and the link of sums.

    It has the methods of `DependenceAtRows`; there, a player's points are its distinct
    values, and here those of them between which the trees can split.

    Parameters
    ----------
    trees : TreeResponse
        A sum of trees, or a function of such sums.
    rows : Rows
        The sample.
    weights : ndarray of shape (n_rows,)
        Weights of the rows.
    players : list of tuple of int
        Columns of each player; no two players share one.
    n_jobs : int or None, default=None
        Workers.

    Raises
    ------
    UnreadableModelError
        The trees do not give the responses of the model.
    """

    def __init__(
        self,
        trees: TreeResponse,
        rows: Rows,
        weights: NDArray[np.float64],
        players: list[tuple[int, ...]],
        *,
        n_jobs: int | None = None,
    ) -> None:
        self._trees, self._weights, self._n_jobs = trees, weights, n_jobs
        self._shares = weights / weights.sum()
        self._codes = trees.encode_and_check(rows)[:]
        ensemble = trees.ensemble
        used = np.zeros(ensemble.n_features, dtype=bool)
        used[ensemble.feature[~ensemble.is_leaf]] = True
        moved_features, self.positions = [], []
        for columns in players:
            features = np.flatnonzero(used & np.isin(trees.model.columns, columns))
            points, positions = _distinct_codes(self._codes[:, features])
            moved = MovedFeatures(features, points.astype(np.intp), (len(points),))
            moved_features.append(moved)
            self.positions.append(positions.astype(np.min_scalar_type(len(points))))
        self.n_points = [moved.n_points for moved in moved_features]
        self._groups = [ReplacementGroup(range(len(players)), moved_features)]
        self._tree_effects = TreeEffects(
            ensemble, ensemble.value, ensemble.base, moved_features, len(self._codes)
        )
        self._sums = ensemble.raw_of_codes(self._codes)
        self.predictions = trees.link_sums(self._sums)

    def most_rows(self, *sets: Sets) -> float:
        """The number of rows that the model gets: none."""
        return 0.0

    def seconds(self, reduce: Callable[..., Any], enough: float) -> float:
        """Estimated seconds for :meth:`responses_at_points`."""
        return _SECONDS_OF_POINT * len(self._codes) * sum(self.n_points)

    def most_sums(
        self, pairs: NDArray[np.intp], triples: list[tuple[int, ...]]
    ) -> float:
        """About how many sums over rows and leaves, or of like cost, are to be made."""
        if not self._trees.additive:
            return self._sums_of_points(pairs, triples)
        # A pass over the trees has as many pairs as the working memory holds.
        n_pairs, n_rows, n_bytes = len(pairs), len(self._codes), 0.0
        n_points, k = np.array(self.n_points), self._sums.shape[1]
        for batch in slices(n_pairs, _MOST_PAIRS // 4):
            first, second = pairs[batch].T
            n_leaves = self._leaves_of_pairs[first, second]
            shape = n_points[first], n_points[second]
            pair_bytes = pairwise_interactions.bytes_of_pairs(
                shape, n_rows, n_leaves, k
            )
            n_bytes += pair_bytes[n_leaves > 0].sum()
        n_passes = 1 + n_bytes / self._bytes_of_curves + len(triples)
        return sums_of_passes(self._trees.ensemble, n_rows, n_passes, n_pairs)

    def _sums_of_points(self, pairs: Sets, triples: Sets) -> float:
        """As `most_sums`, where the link is evaluated at every row and point."""
        n_points = np.array(self.n_points, dtype=np.float64)
        n_rows, total = len(self._codes), n_points.sum()
        for sets in (pairs, triples):
            for batch in slices(len(sets), _SETS_COUNTED):
                n_donors = n_points[np.array(sets[batch])].prod(axis=1)
                total += np.minimum(n_donors, n_rows).sum()
        n_leaves = np.count_nonzero(self._trees.ensemble.is_leaf)
        return total * n_rows * (1 + n_leaves / _LEAVES_OF_SUM)

    @property
    def adds_players(self) -> bool:
        """Whether responses are sums of trees that each split on one player only."""
        trees = self._trees.ensemble
        owner = np.empty(trees.n_features, dtype=np.intp)
        for player, moved in enumerate(self._tree_effects.moved_features):
            owner[moved.features] = player
        inner = np.flatnonzero(~trees.is_leaf & (trees.parents >= 0))
        above = trees.feature[trees.parents[inner]]
        one_owner = owner[trees.feature[inner]] == owner[above]
        return bool(self._trees.additive and one_owner.all())

    def dependence_on_others(
        self,
    ) -> Iterator[tuple[slice, slice, NDArray[np.float64]]]:
        """Mean responses with one player from the sample, all else as the row's."""
        if not self._trees.additive:
            yield from super().dependence_on_others()
            return
        curves, shares = TreeCurves(self._tree_effects), self._point_shares
        bytes_of_row = _NUMBERS_OF_MEAN * 8 * len(shares) * self._sums.shape[1]
        # Rows are bits of 64-bit words: blocks have whole words of rows.
        n_words = int(self._bytes_of_curves / max(bytes_of_row, 1)) // 64
        size = min(self._tree_effects.block_rows, 64 * max(1, n_words))
        for rows, means in self._evaluate(curves.expectations, shares, size):
            yield rows, slice(None), means

    def joint(self, sets: Iterable[Sequence[int]]) -> _MeansOfSets:
        """Mean responses with some players as the row has them, set by set."""
        joint = self._means_of_sums if self._trees.additive else self._linked_means
        return joint(map(tuple, sets))

    def responses_at_points(self, reduce: Callable[..., Any]) -> list[list[Any]]:
        """Reduced responses with one player at each of its points, in order of rows."""
        return self.responses(partial(_reduce_all, reduce), n_jobs=self._n_jobs)

    @property
    def _bytes_of_curves(self) -> int:
        return get_config()["working_memory"] * 2**20 // 4

    def _effects(self) -> list[tuple[Sequence[int], TreeEffects]]:
        return [(self._groups[0].numbers, self._tree_effects)]

    @cached_property
    def _leaf_weights(self) -> NDArray[np.float64]:
        """Weight of the rows at each leaf that they reach but for one condition."""
        return self._summed_leaf_weights(
            self._tree_effects, self._weights, self._n_jobs
        )

    @cached_property
    def _averages(self) -> list[NDArray[np.float64]]:
        """Mean responses with each player at each of its points."""
        if not self._trees.additive:
            return super()._averages
        return self._tree_effects.averages(self._leaf_weights, self._weights.sum())

    @cached_property
    def _leaves_of_pairs(self) -> NDArray[np.int32]:
        return pairwise_interactions.leaves_of_pairs(self._tree_effects)

    def _linked_means(self, sets: Iterator[tuple[int, ...]]) -> _MeansOfSets:
        """Mean responses given sets of players, for a function of sums."""
        average = LinkedTreeSets(self._tree_effects, self.positions).averages
        inputs = self._codes, self._weights, self._sums, self._trees.link_sums
        while wave := list(islice(sets, _SETS_OF_WAVE)):
            tasks = [
                (wave[batch], *inputs) for batch in slices(len(wave), _SETS_OF_TASK)
            ]
            for averages in run_in_threads(average, tasks, n_jobs=self._n_jobs):
                yield from averages

    def _means_of_sums(self, sets: Iterator[tuple[int, ...]]) -> _MeansOfSets:
        """Mean responses given sets of players, for sums of trees."""
        are_intervals = (
            pairwise_interactions.mean_steps(self._tree_effects) <= _MOST_STEPS
        )
        pairs: list[Any] = []
        for players in sets:
            is_pair = len(players) == 2 and are_intervals[list(players)].all()
            if is_pair:
                pairs.append(players)
            if len(pairs) == _MOST_PAIRS or not is_pair:
                yield from self._means_of_pairs(pairs)
                pairs = []
            if not is_pair:
                yield self._means_given(players)
        yield from self._means_of_pairs(pairs)

    def _means_of_pairs(self, pairs: list[tuple[int, int]]) -> _MeansOfSets:
        """Mean responses given two players, pair by pair."""
        if not pairs:
            return
        n_leaves = self._leaves_of_pairs
        mean = np.average(self._sums, axis=0, weights=self._weights)
        pairs_that_share = [pair for pair in pairs if n_leaves[pair]]
        terms = self._interaction_terms(pairs_that_share, n_leaves)
        for pair in pairs:
            added = self.dependence_on(pair[0]) + self.dependence_on(pair[1]) - mean
            yield added + next(terms) if n_leaves[pair] else added

    def _interaction_terms(
        self, pairs: list[tuple[int, int]], n_leaves: NDArray[np.int32]
    ) -> _MeansOfSets:
        """Interaction terms of pairs that share leaves, as memory allows."""
        n_rows, bytes_of_pass = len(self._codes), 0
        pairs_of_pass: list[tuple[int, int]] = []
        n_points, k = np.array(self.n_points), self._sums.shape[1]
        first, second = np.array(pairs, dtype=np.intp).reshape(-1, 2).T
        pair_bytes = pairwise_interactions.bytes_of_pairs(
            (n_points[first], n_points[second]), n_rows, n_leaves[first, second], k
        )
        for pair, n_bytes in zip(pairs, pair_bytes.tolist(), strict=True):
            if pairs_of_pass and bytes_of_pass + n_bytes > self._bytes_of_curves:
                yield from self._terms_of_pass(pairs_of_pass)
                pairs_of_pass, bytes_of_pass = [], 0
            pairs_of_pass.append(pair)
            bytes_of_pass += n_bytes
        if pairs_of_pass:
            yield from self._terms_of_pass(pairs_of_pass)

    def _terms_of_pass(self, pairs: list[tuple[int, int]]) -> list[NDArray[np.float64]]:
        """Interaction terms (n_rows, k) of pairs, from one pass over the trees."""
        terms = pairwise_interactions.TreePairs(self._tree_effects, pairs)
        weights = self._summed_leaf_weights(terms, self._weights, self._n_jobs)
        total = self._weights.sum()
        return terms.terms(self._leaf_weights, weights, total, self.positions)

    def _means_given(self, players: tuple[int, ...]) -> NDArray[np.float64]:
        """Mean responses (n_rows, k) given some players."""
        trees, moved_features = self._trees.ensemble, self._tree_effects.moved_features
        features = [moved_features[player].features for player in players]
        size = self._tree_effects.block_rows
        sets = TreeSets(trees, trees.value, np.concatenate(features), size)
        leaf_weights = self._summed_leaf_weights(sets, self._weights, self._n_jobs)
        means = np.empty_like(self._sums)
        for rows, outputs in self._evaluate(
            sets.outputs, leaf_weights, sets.block_rows
        ):
            means[rows] = outputs
        return means + trees.base

    def _evaluate(
        self, function: Callable[..., Any], weights: Any, size: int
    ) -> Iterator[tuple[slice, NDArray[np.float64]]]:
        """Slices of the rows with ``function(codes, weights)``, `size` at a time."""
        tasks = [
            (function, self._codes[rows], weights, size)
            for rows in row_tasks(len(self._codes), size)
        ]
        start = 0
        for values in run_in_threads(_call_in_blocks, tasks, n_jobs=self._n_jobs):
            yield slice(start, start + len(values)), values
            start += len(values)


def _distinct_codes(
    codes: NDArray[np.integer],
) -> tuple[NDArray[np.integer], NDArray[np.intp]]:
    """Distinct rows of codes, in order, and which one each row has."""
    if codes.shape[1] == 1:  # without sorting
        points = np.flatnonzero(np.bincount(codes[:, 0]))
        return points[:, None], np.searchsorted(points, codes[:, 0])
    points, positions = np.unique(codes, axis=0, return_inverse=True)
    return points, positions.reshape(-1)


def _reduce_all(
    reduce: Callable[..., Any],
    player: int,
    index: NDArray[np.intp],
    points: slice,
    responses: NDArray[np.float64],
) -> Any:
    """A reduction of responses, which have all points."""
    return reduce(player, index, responses)


def _call_in_blocks(
    function: Callable[..., NDArray[np.float64]],
    codes: NDArray[Any],
    weights: Any,
    size: int,
) -> NDArray[np.float64]:
    """Results of a function of codes, `size` rows at a time."""
    return np.concatenate(
        [function(codes[rows], weights) for rows in slices(len(codes), size)]
    )
