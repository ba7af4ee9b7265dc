"""Responses to hybrid rows of models made of trees, without their `predict`."""

from functools import cached_property

import numpy as np
from sklearn import get_config

from sklearn_interpret._core.trees.effects.joint import TreeSets
from sklearn_interpret._core.trees.effects.outcomes import TreeOutcomes
from sklearn_interpret._core.trees.effects.pairwise_interactions import (
    TreePairs,
    bytes_of_pairs,
    leaves_of_pairs,
    steps_of_parts,
)
from sklearn_interpret._core.trees.effects.responses import TreeEffects
from sklearn_interpret._core.trees.effects.steps import MovedFeatures
from sklearn_interpret._model.parallel import run_in_threads, slices
from sklearn_interpret._model.perturbation.perturbed_trees import (
    reported,
    row_tasks,
    sums_of_passes,
)

# Parts whose conditions begin and cease more often on average are no intervals: their
# terms are found from the rows that meet conditions instead.
_MOST_STEPS = 8

# Pairs that are listed at once, of which passes over the trees take their parts.
_PAIRS_AT_ONCE = 2**16

# Numbers that a mean over a player takes while it is made and used.
_NUMBERS_OF_MEAN = 8


class HybridTrees:
    """Responses to hybrid rows from the trees of a model.

    It has the methods of `HybridResponses`; there, a player's points are its distinct
    values, and here what the trees tell apart of them.

    Parameters
    ----------
    trees : TreeResponse
        A sum of trees.
    rows : Rows
        The sample.
    weights : ndarray of shape (n_rows,)
        Weights of the rows.
    players : list of tuple of int
        Columns of each player; no two players share one.
    n_jobs, verbose, on_block : object
        As for `HybridResponses`.

    Raises
    ------
    UnreadableModelError
        The trees do not give what the model returns.
    """

    def __init__(
        self, trees, rows, weights, players, *, n_jobs=None, verbose=0, on_block=None
    ):
        self._trees, self._weights = trees, weights
        self._codes = trees.checked_codes(rows)[:]
        self._loop = {"n_jobs": n_jobs, "verbose": verbose}
        self._on_block = on_block
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
        self._effects = TreeEffects(ensemble, ensemble.value, ensemble.base, parts)
        self._outcomes = TreeOutcomes(self._effects)
        self._sums = ensemble.raw_of_codes(self._codes)
        self.predictions = trees.of_sums(self._sums)

    def most_rows(self, *sets):
        """The model gets no row."""
        return 0

    def seconds(self, reduce, enough):
        """Little, beside responses of a model."""
        return 0.0

    def most_sums(self, pairs, triples):
        """About how many sums over rows and leaves, or of like cost, are to be made.

        Each pass over the trees looks at every row and leaf, for as many pairs as the
        working memory holds.
        """
        n_pairs, n_rows, n_bytes = len(pairs), len(self._codes), 0.0
        n_points, k = np.array(self.n_points), self._sums.shape[1]
        for part in slices(n_pairs, _PAIRS_AT_ONCE // 4):
            first, second = pairs[part].T
            n_leaves = self._leaves_of_pairs[first, second]
            shape = n_points[first], n_points[second]
            sizes = bytes_of_pairs(shape, n_rows, n_leaves, k)
            n_bytes += sizes[n_leaves > 0].sum()
        n_passes = 1 + n_bytes / self._bytes_at_once + len(triples)
        return sums_of_passes(self._trees.ensemble, n_rows, n_passes, n_pairs)

    @property
    def adds_players(self):
        """Whether responses are sums of trees that each look at one player alone."""
        trees = self._trees.ensemble
        owner = np.empty(trees.n_features, dtype=np.intp)
        for player, part in enumerate(self._effects.parts):
            owner[part.features] = player
        inner = np.flatnonzero(~trees.is_leaf & (trees.parents >= 0))
        above = trees.feature[trees.parents[inner]]
        same = owner[trees.feature[inner]] == owner[above]
        return bool(self._trees.additive and same.all())

    @property
    def _bytes_at_once(self):
        return get_config()["working_memory"] * 2**20 / 4

    def alone(self, player, rows=slice(None)):
        """Mean responses with one player as the row's, all else from the sample."""
        return self._averages[player][self.positions[player][rows]]

    def all_but(self):
        """Mean responses with one player from the sample, all else as the row's."""
        shares = [
            np.bincount(at, self._weights, n_points) / self._weights.sum()
            for at, n_points in zip(self.positions, self.n_points, strict=True)
        ]
        most_bytes = self._bytes_at_once
        bytes_of_row = _NUMBERS_OF_MEAN * 8 * len(shares) * self._sums.shape[1]
        n_words = int(most_bytes / max(bytes_of_row, 1)) // 64
        size = min(self._effects.rows_at_once, 64 * max(1, n_words))
        for rows, means in self._parts(self._outcomes.expectations, shares, size):
            yield rows, slice(None), means

    def joint(self, sets):
        """Mean responses with some players as the row has them, set by set."""
        simple = steps_of_parts(self._effects) <= _MOST_STEPS
        pairs = []
        for players in map(tuple, sets):
            is_simple = len(players) == 2 and simple[list(players)].all()
            if is_simple:
                pairs.append(players)
            if len(pairs) == _PAIRS_AT_ONCE or not is_simple:
                yield from self._pairs(pairs)
                pairs = []
            if not is_simple:
                yield self._mean_given(players)
        yield from self._pairs(pairs)

    def outcomes(self, reduce):
        """Reduced responses with one player at each of its points, in order of rows."""
        most_bytes = self._bytes_at_once
        size = self._outcomes.rows_at_once(self._codes, most_bytes)
        tasks = [
            (self._outcomes, self._trees, self._codes, rows, size, reduce)
            for rows in row_tasks(len(self._codes), size)
        ]
        found = [[] for _ in self.n_points]
        for blocks in self._run(_reduced, tasks):
            for kept, reduced in zip(found, blocks, strict=True):
                kept += reduced
        return found

    @cached_property
    def _leaf_weights(self):
        """Weight of the rows at each leaf that they reach but for one condition."""
        return self._summed(self._effects)

    @cached_property
    def _averages(self):
        """Mean responses with each player at each of its points."""
        return self._effects.averages(self._leaf_weights, self._weights.sum())

    @cached_property
    def _leaves_of_pairs(self):
        return leaves_of_pairs(self._effects)

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
        """What pairs with leaves in common add, as many at once as memory allows."""
        n_rows, together, size = len(self._codes), [], 0
        n_points, k = np.array(self.n_points), self._sums.shape[1]
        for pair in pairs:
            shape = n_points[list(pair)]
            n_bytes = bytes_of_pairs(shape, n_rows, n_leaves[pair], k)
            if together and size + n_bytes > self._bytes_at_once:
                yield from self._terms_at_once(together)
                together, size = [], 0
            together.append(pair)
            size += n_bytes
        if together:
            yield from self._terms_at_once(together)

    def _terms_at_once(self, pairs):
        terms = TreePairs(self._effects, pairs)
        return terms.terms(
            self._leaf_weights, self._summed(terms), self._weights.sum(), self.positions
        )

    def _mean_given(self, players):
        """Mean responses given some players."""
        effects, trees = self._effects, self._trees.ensemble
        features = [effects.parts[player].features for player in players]
        sets = TreeSets(
            trees, trees.value, np.concatenate(features), effects.rows_at_once
        )
        size = effects.rows_at_once
        return self._concatenated(sets.outputs, self._summed(sets), size) + trees.base

    def _summed(self, made):
        """Sums over all rows of what ``made.leaf_weights`` returns."""
        size = self._effects.rows_at_once
        tasks = [
            (made, self._codes[rows], self._weights[rows], size)
            for rows in row_tasks(len(self._codes), size)
        ]
        total = None
        for part in self._run(_sum_weights, tasks):
            total = _added(total, part)
        return total

    def _concatenated(self, function, given, size):
        """Results of ``function(codes, given)`` for all rows."""
        found = None
        for rows, part in self._parts(function, given, size):
            if found is None:  # filled at once: a list of parts would be a second one
                found = np.empty((len(self._codes), *part.shape[1:]))
            found[rows] = part
        return found

    def _parts(self, function, given, size):
        """Slices of the rows with their results, which are found `size` at a time."""
        tasks = [
            (function, self._codes[rows], given, size)
            for rows in row_tasks(len(self._codes), size)
        ]
        start = 0
        for part in self._run(_in_turn, tasks):
            yield slice(start, start + len(part)), part
            start += len(part)

    def _run(self, function, tasks):
        return reported(run_in_threads(function, tasks, **self._loop), self._on_block)


def _distinct(codes):
    """Distinct rows of codes, in order, and which one each row has."""
    if codes.shape[1] == 1:  # without sorting
        points = np.flatnonzero(np.bincount(codes[:, 0]))
        return points[:, None], np.searchsorted(points, codes[:, 0])
    points, at = np.unique(codes, axis=0, return_inverse=True)
    return points, at.reshape(-1)


def _sum_weights(made, codes, weights, size):
    total = None
    for rows in slices(len(codes), size):
        total = _added(total, made.leaf_weights(codes[rows], weights[rows]))
    return total


def _added(total, part):
    """The sum of two arrays, or of two lists of them; the first is written over."""
    if total is None:
        return part
    if isinstance(total, np.ndarray):
        return np.add(total, part, out=total)
    for sums, more in zip(total, part, strict=True):
        sums += more
    return total


def _in_turn(function, codes, given, size):
    """Results of a function of codes, `size` rows at a time."""
    return np.concatenate(
        [function(codes[rows], given) for rows in slices(len(codes), size)]
    )


def _reduced(outcomes, trees, codes, rows, size, reduce):
    """For each player its reduced responses, block by block."""
    found = [[] for _ in outcomes.effects.parts]
    for start in range(rows.start, rows.stop, size):
        index = np.arange(start, min(start + size, rows.stop))
        for player, some, sums in outcomes.curves(codes[index]):
            responses = trees.of_sums(sums)
            found[player].append(reduce(player, index[some], responses))
    return found
