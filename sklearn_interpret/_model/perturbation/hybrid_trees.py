"""Responses to rows whose values come from each other, for models made of trees.

What `hybrid` finds by sending mixed rows to the model
follows here from the trees themselves.
"""

from dataclasses import replace

import numpy as np
from sklearn import get_config

from sklearn_interpret._core.trees.effects.joint import TreeSets
from sklearn_interpret._core.trees.effects.outcomes import TreeOutcomes
from sklearn_interpret._core.trees.effects.pairs import (
    TreePairs,
    bytes_of_pair,
    leaves_of_pairs,
    steps_of_parts,
)
from sklearn_interpret._core.trees.effects.responses import TreeEffects
from sklearn_interpret._core.trees.effects.steps import MovedFeatures
from sklearn_interpret._model.parallel import run_in_threads, slices
from sklearn_interpret._model.trees.coded_rows import CodedRows, TellingRows
from sklearn_interpret._model.trees.linked import linked_trees
from sklearn_interpret.exceptions import UnreadableModelError

# Pieces of work for all workers; their number must not depend on that of the workers.
_MOST_TASKS = 16

# Parts whose conditions begin and cease more often on average are no intervals: their
# terms are found from the rows that meet conditions instead.
_MOST_STEPS = 8


class ObservedTrees:
    """What a model of trees answers when players of a row are taken from other rows.

    Parameters
    ----------
    response : Response
        The model.
    rows : Rows
        The sample.
    weights : ndarray of shape (n_rows,)
        Weights of the rows.
    players : list of tuple of int
        Columns of each player; no two players share one.
    n_jobs : int or None, default=None
        Workers.
    verbose : int, default=0
        Passed to joblib.
    on_block : callable, optional
        Called with no arguments after each block of work.

    Attributes
    ----------
    predictions : ndarray of shape (n_rows, k)
        Responses to the rows as they are.
    positions : list of ndarray of shape (n_rows,), intp
        For each player, which of its points each row has: those of its values that the
        trees tell apart.
    n_points : list of int
        For each player the number of its points.

    Raises
    ------
    UnreadableModelError
        The response is no known function of a sum of trees.
    """

    def __init__(
        self, response, rows, weights, players, *, n_jobs=None, verbose=0, on_block=None
    ):
        self._trees = trees = linked_trees(response)
        coded = CodedRows(trees.model, trees.model.ensemble, rows)
        telling = TellingRows(coded)
        self._codes = coded.seen(telling)[:]
        telling.check(trees, response)
        self._weights = weights
        self._how = {"n_jobs": n_jobs, "verbose": verbose}
        self._on_block = on_block
        used = np.zeros(trees.model.ensemble.n_features, dtype=bool)
        used[trees.model.ensemble.feature[~trees.model.ensemble.is_leaf]] = True
        parts = [
            _part(self._codes, np.flatnonzero(used & np.isin(trees.model.columns, own)))
            for own in players
        ]
        self.positions = [at for _, at in parts]
        self.n_points = [part.n_points for part, _ in parts]
        self._effects = TreeEffects(
            trees.model.ensemble, trees.values, trees.base, [part for part, _ in parts]
        )
        self._outcomes = TreeOutcomes(self._effects)
        added = replace(trees.model.ensemble, value=trees.values, base=trees.base)
        self._sums = added.raw_of_codes(self._codes)
        self.predictions = trees.finished(self._sums)
        self._found = {}

    @property
    def additive(self):
        """Whether the response is a plain sum of trees, so that its means are known."""
        return self._trees.link is None

    def alone(self):
        """Mean responses with one player as the row has it, all else from the sample.

        Returns
        -------
        ndarray of shape (n_rows, n_players, k)
            Weighted means over the sample.

        Raises
        ------
        UnreadableModelError
            The response is no plain sum of trees.
        """
        self._check_additive()
        curves = self._averages()
        at = zip(curves, self.positions, strict=True)
        return np.stack([curve[places] for curve, places in at], axis=1)

    def all_but(self):
        """Mean responses with one player from the sample, all else as the row has it.

        Returns
        -------
        ndarray of shape (n_rows, n_players, k)
            Weighted means over the sample.

        Raises
        ------
        UnreadableModelError
            The response is no plain sum of trees.
        """
        self._check_additive()
        shares = [
            np.bincount(at, self._weights, n_points) / self._weights.sum()
            for at, n_points in zip(self.positions, self.n_points, strict=True)
        ]
        tasks = [
            (self._outcomes, self._codes[rows], shares)
            for rows in self._tasks(self._effects.rows_at_once)
        ]
        return np.concatenate(list(self._run(_expectations, tasks)))

    def joint(self, sets):
        """Mean responses with some players as the row has them.

        Parameters
        ----------
        sets : list of tuple of int
            Positions of two or more players.

        Yields
        ------
        ndarray of shape (n_rows, k)
            For each set the weighted means over the sample.

        Raises
        ------
        UnreadableModelError
            The response is no plain sum of trees.
        """
        self._check_additive()
        simple = steps_of_parts(self._effects) <= _MOST_STEPS
        sets = [tuple(players) for players in sets]
        quick = [len(players) == 2 and simple[list(players)].all() for players in sets]
        start = 0
        while start < len(sets):
            if not quick[start]:
                yield self._mean_given(sets[start])
                start += 1
                continue
            stop = start + self._n_pairs(sets[start:], quick[start:])
            yield from self._pairs(sets[start:stop])
            start = stop

    def outcomes(self, reduce):
        """Responses to rows with one player as each row of the sample has it, reduced.

        Parameters
        ----------
        reduce : callable
            ``reduce(player, index, answers)``: the position of the player, the rows'
            positions, and their responses with the player at each of its points, of
            shape (n, n_points, k), not to be kept. Its results are collected.

        Returns
        -------
        list of list
            For each player, the results, in the order of the rows.
        """
        most_bytes = get_config()["working_memory"] * 2**20 / 4
        size = self._outcomes.rows_at_once(self._codes, most_bytes)
        tasks = [
            (self._outcomes, self._trees, self._codes, rows, size, reduce)
            for rows in self._tasks(size)
        ]
        found = [[] for _ in self.n_points]
        for blocks in self._run(_reduced, tasks):
            for kept, reduced in zip(found, blocks, strict=True):
                kept += reduced
        return found

    def _check_additive(self):
        if not self.additive:
            raise self._trees.refusal

    def _arrived(self):
        """Weight of the rows that reach leaves in spite of one condition."""
        if "arrived" not in self._found:
            self._found["arrived"] = self._summed(self._effects)
        return self._found["arrived"]

    def _averages(self):
        """Mean responses with each player at each of its points."""
        if "averages" not in self._found:
            self._found["averages"] = self._effects.averages(
                self._arrived(), self._weights.sum()
            )
        return self._found["averages"]

    def _n_pairs(self, sets, quick):
        """How many of the next sets are pairs to be worked on together."""
        n_bytes = get_config()["working_memory"] * 2**20 / 4
        n_leaves = leaves_of_pairs(self._effects)
        for number, (pair, is_pair) in enumerate(zip(sets, quick, strict=True)):
            if not is_pair:
                return number
            n_bytes -= bytes_of_pair(
                self._effects, pair, len(self._codes), n_leaves[pair]
            )
            if n_bytes < 0:
                return max(number, 1)
        return len(sets)

    def _pairs(self, pairs):
        """Mean responses given two players, for several pairs."""
        terms = TreePairs(self._effects, pairs)
        found = terms.terms(
            self._arrived(), self._summed(terms), self._weights.sum(), self.positions
        )
        curves = self._averages()
        mean = np.average(self._sums, axis=0, weights=self._weights)
        for players, term in zip(pairs, found, strict=True):
            for player in players:
                term += curves[player][self.positions[player]]
            yield term - mean

    def _mean_given(self, players):
        """Mean responses given some players."""
        effects = self._effects
        features = [effects.parts[player].features for player in players]
        sets = TreeSets(
            effects.ensemble,
            effects.values,
            np.concatenate(features),
            effects.rows_at_once,
        )
        arrived = self._summed(sets)
        tasks = [
            (sets, self._codes[rows], arrived, effects.rows_at_once)
            for rows in self._tasks(effects.rows_at_once)
        ]
        return np.concatenate(list(self._run(_outputs, tasks))) + self._trees.base

    def _summed(self, made):
        """Sums over all rows of what ``made.leaf_weights`` returns."""
        size = self._effects.rows_at_once
        tasks = [
            (made, self._codes[rows], self._weights[rows], size)
            for rows in self._tasks(size)
        ]
        total = None
        for arrived in self._run(_arrivals, tasks):
            total = _added(total, arrived)
        return total

    def _tasks(self, size):
        """Slices of rows, each a multiple of `size` of them."""
        n_rows = len(self._codes)
        size *= -(-n_rows // (size * _MOST_TASKS))
        return list(slices(n_rows, size))

    def _run(self, function, tasks):
        for result in run_in_threads(function, tasks, **self._how):
            yield result
            if self._on_block is not None:
                self._on_block()


def read_observed(
    method, response, rows, weights, players, *, n_jobs=None, verbose=0, on_block=None
):
    """The trees to work with, or None where the model is to be asked.

    Parameters
    ----------
    method : {"auto", "tree", "brute"}
        "auto" works with trees where they can be read, "tree" wants them.
    response, rows, weights, players, n_jobs, verbose, on_block : object
        As :class:`ObservedTrees` takes them.

    Returns
    -------
    ObservedTrees or None

    Raises
    ------
    UnreadableModelError
        With "tree".
    """
    if method == "brute":
        return None
    try:
        return ObservedTrees(
            response,
            rows,
            weights,
            players,
            n_jobs=n_jobs,
            verbose=verbose,
            on_block=on_block,
        )
    except UnreadableModelError:
        if method == "tree":
            raise
        return None


def _part(codes, features):
    """Features that move together over the points that rows have; those of the rows."""
    points, at = np.unique(codes[:, features], axis=0, return_inverse=True)
    moved = MovedFeatures(features, points.astype(np.intp), (len(points),))
    return moved, at.reshape(-1)


def _arrivals(made, codes, weights, size):
    total = None
    for rows in slices(len(codes), size):
        total = _added(total, made.leaf_weights(codes[rows], weights[rows]))
    return total


def _added(total, arrived):
    if total is None:
        return arrived
    if isinstance(total, np.ndarray):
        return np.add(total, arrived, out=total)
    for sums, more in zip(total, arrived, strict=True):
        sums += more
    return total


def _expectations(outcomes, codes, shares):
    size = outcomes.effects.rows_at_once
    found = [
        outcomes.expectations(codes[rows], shares) for rows in slices(len(codes), size)
    ]
    return np.concatenate(found)


def _outputs(sets, codes, arrived, size):
    found = [sets.outputs(codes[rows], arrived) for rows in slices(len(codes), size)]
    return np.concatenate(found)


def _reduced(outcomes, trees, codes, rows, size, reduce):
    """For each player its reduced responses, block by block."""
    found = [[] for _ in outcomes.effects.parts]
    for start in range(rows.start, rows.stop, size):
        index = np.arange(start, min(start + size, rows.stop))
        for player, some, sums in outcomes.curves(codes[index]):
            answers = trees.finished(sums)
            found[player].append(reduce(player, index[some], answers))
    return found
