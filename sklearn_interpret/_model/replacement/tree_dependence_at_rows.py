"""Partial dependence at the rows' own values, from the trees of a model."""

from functools import cached_property, partial
from itertools import islice

import numpy as np
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
    row_tasks,
    sums_of_passes,
)

# Parts whose conditions have more steps on average are no intervals: their terms are
# found from the rows that meet the conditions.
_MOST_STEPS = 8

# Pairs that are listed together; passes over the trees take some of them.
_MOST_PAIRS = 2**16

# Numbers in memory for a mean over a player, while it is made and used.
_NUMBERS_OF_MEAN = 8

# Sets of players in a task, and in the tasks that are started together.
_SETS_OF_TASK = 8
_SETS_OF_WAVE = 2**9

# Sets whose points are counted together.
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

    def __init__(self, trees, rows, weights, players, *, n_jobs=None):
        self._trees, self._weights, self._n_jobs = trees, weights, n_jobs
        self._shares = weights / weights.sum()
        self._codes = trees.checked_codes(rows)[:]
        ensemble = trees.ensemble
        used = np.zeros(ensemble.n_features, dtype=bool)
        used[ensemble.feature[~ensemble.is_leaf]] = True
        parts, self.positions = [], []
        for columns in players:
            own = np.flatnonzero(used & np.isin(trees.model.columns, columns))
            points, at = _distinct(self._codes[:, own])
            parts.append(MovedFeatures(own, points.astype(np.intp), (len(points),)))
            self.positions.append(at.astype(np.min_scalar_type(len(points))))
        self.n_points = [part.n_points for part in parts]
        self._groups = [(range(len(parts)), parts)]
        self._moved = TreeEffects(
            ensemble, ensemble.value, ensemble.base, parts, len(self._codes)
        )
        self._sums = ensemble.raw_of_codes(self._codes)
        self.predictions = trees.of_sums(self._sums)

    def most_rows(self, *sets):
        """The number of rows that the model gets: none."""
        return 0

    def seconds(self, reduce, enough):
        """Time of the model's predictions: none."""
        return 0.0

    def most_sums(self, pairs, triples):
        """About how many sums over rows and leaves, or of like cost, are to be made."""
        if not self._trees.additive:
            return self._sums_of_points(pairs, triples)
        # A pass over the trees has as many pairs as the working memory holds.
        n_pairs, n_rows, n_bytes = len(pairs), len(self._codes), 0.0
        n_points, k = np.array(self.n_points), self._sums.shape[1]
        for part in slices(n_pairs, _MOST_PAIRS // 4):
            first, second = pairs[part].T
            n_leaves = self._leaves_of_pairs[first, second]
            shape = n_points[first], n_points[second]
            sizes = pairwise_interactions.bytes_of_pairs(shape, n_rows, n_leaves, k)
            n_bytes += sizes[n_leaves > 0].sum()
        n_passes = 1 + n_bytes / self._bytes_of_curves + len(triples)
        return sums_of_passes(self._trees.ensemble, n_rows, n_passes, n_pairs)

    def _sums_of_points(self, pairs, triples):
        """As `most_sums`, where the link is evaluated at every row and point."""
        n_points = np.array(self.n_points, dtype=np.float64)
        n_rows, total = len(self._codes), n_points.sum()
        for sets in (pairs, triples):
            for part in slices(len(sets), _SETS_COUNTED):
                n_donors = n_points[np.array(sets[part])].prod(axis=1)
                total += np.minimum(n_donors, n_rows).sum()
        n_leaves = np.count_nonzero(self._trees.ensemble.is_leaf)
        return total * n_rows * (1 + n_leaves / _LEAVES_OF_SUM)

    @property
    def adds_players(self):
        """Whether responses are sums of trees that each split on one player only."""
        trees = self._trees.ensemble
        owner = np.empty(trees.n_features, dtype=np.intp)
        for player, part in enumerate(self._moved.moved_features):
            owner[part.features] = player
        inner = np.flatnonzero(~trees.is_leaf & (trees.parents >= 0))
        above = trees.feature[trees.parents[inner]]
        same = owner[trees.feature[inner]] == owner[above]
        return bool(self._trees.additive and same.all())

    def all_but(self):
        """Mean responses with one player from the sample, all else as the row's."""
        if not self._trees.additive:
            yield from super().all_but()
            return
        curves = TreeCurves(self._moved)
        shares = [
            np.bincount(at, self._shares, n_points)
            for at, n_points in zip(self.positions, self.n_points, strict=True)
        ]
        bytes_of_row = _NUMBERS_OF_MEAN * 8 * len(shares) * self._sums.shape[1]
        n_words = int(self._bytes_of_curves / max(bytes_of_row, 1)) // 64
        size = min(self._moved.block_rows, 64 * max(1, n_words))
        for rows, means in self._parts(curves.expectations, shares, size):
            yield rows, slice(None), means

    def joint(self, sets):
        """Mean responses with some players as the row has them, set by set."""
        sets = map(tuple, sets)
        return self._joint_sums(sets) if self._trees.additive else self._linked(sets)

    def responses_at_points(self, reduce):
        """Reduced responses with one player at each of its points, in order of rows."""
        return self.responses(partial(_at_all_points, reduce), n_jobs=self._n_jobs)

    @property
    def _bytes_of_curves(self):
        return get_config()["working_memory"] * 2**20 / 4

    def _effects(self):
        return [(self._groups[0][0], self._moved)]

    @cached_property
    def _leaf_weights(self):
        """Weight of the rows at each leaf that they reach but for one condition."""
        return self._summed_leaf_weights(self._moved, self._weights, self._n_jobs)

    @cached_property
    def _averages(self):
        """Mean responses with each player at each of its points."""
        if not self._trees.additive:
            return super()._averages
        return self._moved.averages(self._leaf_weights, self._weights.sum())

    @cached_property
    def _leaves_of_pairs(self):
        return pairwise_interactions.leaves_of_pairs(self._moved)

    def _linked(self, sets):
        """Mean responses given sets of players, for a function of sums."""
        trees = LinkedTreeSets(self._moved, self.positions)
        given = self._codes, self._weights, self._sums, self._trees.of_sums
        while wave := list(islice(sets, _SETS_OF_WAVE)):
            tasks = [
                (trees, wave[some], *given) for some in slices(len(wave), _SETS_OF_TASK)
            ]
            for averages in run_in_threads(
                LinkedTreeSets.averages, tasks, n_jobs=self._n_jobs
            ):
                yield from averages

    def _joint_sums(self, sets):
        """Mean responses given sets of players, for sums of trees."""
        simple = pairwise_interactions.mean_steps(self._moved) <= _MOST_STEPS
        pairs = []
        for players in sets:
            is_simple = len(players) == 2 and simple[list(players)].all()
            if is_simple:
                pairs.append(players)
            if len(pairs) == _MOST_PAIRS or not is_simple:
                yield from self._pairs(pairs)
                pairs = []
            if not is_simple:
                yield self._mean_given(players)
        yield from self._pairs(pairs)

    def _pairs(self, pairs):
        """Mean responses given two players, pair by pair."""
        if not pairs:
            return
        n_leaves = self._leaves_of_pairs
        mean = np.average(self._sums, axis=0, weights=self._weights)
        terms = self._terms([pair for pair in pairs if n_leaves[pair]], n_leaves)
        for pair in pairs:
            both = self.alone(pair[0]) + self.alone(pair[1]) - mean
            yield both + next(terms) if n_leaves[pair] else both

    def _terms(self, pairs, n_leaves):
        """Interaction terms of pairs that share leaves, as memory allows."""
        n_rows, together, size = len(self._codes), [], 0
        n_points, k = np.array(self.n_points), self._sums.shape[1]
        for pair in pairs:
            shape = n_points[list(pair)]
            n_bytes = pairwise_interactions.bytes_of_pairs(
                shape, n_rows, n_leaves[pair], k
            )
            if together and size + n_bytes > self._bytes_of_curves:
                yield from self._terms_of_pass(together)
                together, size = [], 0
            together.append(pair)
            size += n_bytes
        if together:
            yield from self._terms_of_pass(together)

    def _terms_of_pass(self, pairs):
        terms = pairwise_interactions.TreePairs(self._moved, pairs)
        both = self._summed_leaf_weights(terms, self._weights, self._n_jobs)
        total = self._weights.sum()
        return terms.terms(self._leaf_weights, both, total, self.positions)

    def _mean_given(self, players):
        """Mean responses (n_rows, k) given some players."""
        parts, trees = self._moved.moved_features, self._trees.ensemble
        features = np.concatenate([parts[player].features for player in players])
        sets = TreeSets(trees, trees.value, features, self._moved.block_rows)
        given = self._summed_leaf_weights(sets, self._weights, self._n_jobs)
        found = np.empty_like(self._sums)
        for rows, part in self._parts(sets.outputs, given, sets.block_rows):
            found[rows] = part
        return found + trees.base

    def _parts(self, function, given, size):
        """Slices of the rows with ``function(codes, given)``, `size` rows at a time."""
        tasks = [
            (function, self._codes[rows], given, size)
            for rows in row_tasks(len(self._codes), size)
        ]
        start = 0
        for part in run_in_threads(_in_turn, tasks, n_jobs=self._n_jobs):
            yield slice(start, start + len(part)), part
            start += len(part)


def _distinct(codes):
    """Distinct rows of codes, in order, and which one each row has."""
    if codes.shape[1] == 1:  # without sorting
        points = np.flatnonzero(np.bincount(codes[:, 0]))
        return points[:, None], np.searchsorted(points, codes[:, 0])
    points, at = np.unique(codes, axis=0, return_inverse=True)
    return points, at.reshape(-1)


def _at_all_points(reduce, player, index, points, responses):
    """A reduction of responses, which have all points."""
    return reduce(player, index, responses)


def _in_turn(function, codes, given, size):
    """Results of a function of codes, `size` rows at a time."""
    return np.concatenate(
        [function(codes[rows], given) for rows in slices(len(codes), size)]
    )
