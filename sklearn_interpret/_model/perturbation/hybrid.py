"""Responses to rows of which some players are taken from the other rows of a sample.

A *player* is a feature, or several that move as one. What partial dependence at the
rows' own values, H statistics and exact permutation importance ask of a model are the
same points: the values that one row has for a set of players, with everything else from
another row. Each distinct point goes to the model once.
"""

from functools import cached_property
from itertools import pairwise

import numpy as np
from joblib import effective_n_jobs
from sklearn import get_config

from sklearn_interpret._model.parallel import batch_rows, run
from sklearn_interpret._model.perturbation.hybrid_points import (
    Grid,
    Remembered,
    RowKeys,
    distinct,
    may_meet,
)
from sklearn_interpret._model.perturbation.hybrid_trees import read_observed
from sklearn_interpret._model.perturbation.perturbed import plain_responses

# Largest number of players that are exchanged together.
_MOST_PLAYERS = 3

# Points that are planned at once, for all workers; and what one of them takes, in
# bytes, beside its answers: positions and keys.
_MOST_POINTS = 2**18
_POINT_BYTES = 96


class ObservedResponses:
    """What any model answers when players of a row come from the other rows.

    Points that are rows of the sample, and rows alike outside of what is exchanged, are
    asked once. So are points that different sets of players have in common, as far as a
    quarter of the working memory can hold the answers.

    Parameters
    ----------
    response : Response
        The model.
    rows : Rows
        The sample.
    weights : ndarray of shape (n_rows,)
        Positive weights.
    players : list of tuple of int
        Columns of each player. Columns of no player always stay together.
    n_jobs : int or None, default=None
        Workers.
    verbose : int, default=0
        Passed to joblib.
    on_block : callable, optional
        Called with no arguments after each block of work.

    Attributes
    ----------
    positions : list of ndarray of shape (n_rows,)
        For each player, which of its distinct values, its *points*, each row has.
    n_points : list of int
        Number of these.
    predictions : ndarray of shape (n_rows, k)
        Responses to the rows as they are.
    """

    def __init__(
        self,
        response,
        rows,
        weights,
        players,
        *,
        n_jobs=None,
        verbose=0,
        on_block=None,
    ):
        self._response = response
        self._rows = rows
        self._players = [tuple(columns) for columns in players]
        self._shares = weights / weights.sum()
        self._loop = {"n_jobs": n_jobs, "verbose": verbose}
        self._on_block = on_block or _nothing
        self.positions = [rows.encode(columns)[0] for columns in self._players]
        self.n_points = [int(codes.max()) + 1 for codes in self.positions]
        moved = {column for columns in self._players for column in columns}
        rest = [column for column in range(rows.n_columns) if column not in moved]
        codes = list(self.positions)
        if rest:
            codes.append(rows.encode(rest)[0])
        self._keys = RowKeys(np.stack(codes, axis=1))
        self._unique = frozenset(
            player
            for player, found in enumerate(codes)
            if found.max() + 1 == rows.n_rows
        )
        self._known = Remembered(get_config()["working_memory"] * 2**20 / 4)
        self._kept = []

    @cached_property
    def predictions(self):
        """Responses to the rows as they are: (n_rows, k)."""
        first, which = distinct(self._keys.whole)
        if len(first) == self._rows.n_rows:
            return plain_responses(self._response, self._rows)
        return plain_responses(self._response, self._rows.take(first))[which]

    def alone(self):
        """Partial dependence on each player at each row's own value.

        Returns
        -------
        ndarray of shape (n_rows, n_players, k)
            The weighted mean over the sample of the response with the row's value of
            the player.
        """
        return self._averages[0]

    def all_but(self):
        """Partial dependence on all but one player at each row's own values.

        Returns
        -------
        ndarray of shape (n_rows, n_players, k)
            The weighted mean, over the values of the player in the sample, of the
            response to the row.
        """
        return self._averages[1]

    def joint(self, sets):
        """Partial dependence on several players at each row's own values.

        Parameters
        ----------
        sets : iterable of tuple of int
            Sets of two or three players.

        Yields
        ------
        ndarray of shape (n_rows, k)
            For each set.
        """
        grids = [self._grid(players) for players in sets]
        n_outputs = self.predictions.shape[1]
        total, at = None, 0
        for which, block, answers in self._answered(grids):
            if which > at:
                yield total[grids[at].donor_of]
                total, at = None, which
            grid = grids[which]
            if total is None:
                total = np.zeros((len(grid.donors), n_outputs))
            total += np.einsum("b,bdk->dk", grid.base_shares[block], answers)
        if grids:
            yield total[grids[at].donor_of]

    def outcomes(self, reduce):
        """Responses to every row with each player at each of its points.

        Parameters
        ----------
        reduce : callable
            ``reduce(player, index, answers)``: the player, the rows' positions, and
            answers of shape (n_rows, n_points, k). Its results are collected.

        Returns
        -------
        list of list
            For each player, the results.
        """
        grids = [self._grid((player,)) for player in range(len(self._players))]
        found = [[] for _ in grids]
        for which, block, answers in self._answered(grids):
            base_of = grids[which].base_of
            index = np.flatnonzero((base_of >= block.start) & (base_of < block.stop))
            # Rows may be many more than bases.
            for start in range(0, len(index), len(answers)):
                part = index[start : start + len(answers)]
                chosen = answers[base_of[part] - block.start]
                found[which].append(reduce(which, part, chosen))
        return found

    @cached_property
    def _averages(self):
        grids = [self._grid((player,)) for player in range(len(self._players))]
        shape = self._rows.n_rows, len(grids), self.predictions.shape[1]
        alone, all_but = np.zeros(shape), np.empty(shape)
        for which, block, answers in self._answered(grids, all_may_follow=True):
            grid = grids[which]
            means = np.einsum("b,bdk->dk", grid.base_shares[block], answers)
            alone[:, which] += means[grid.donor_of]
            means = np.einsum("d,bdk->bk", grid.donor_shares, answers)
            inside = (grid.base_of >= block.start) & (grid.base_of < block.stop)
            all_but[inside, which] = means[grid.base_of[inside] - block.start]
        return alone, all_but

    def _grid(self, players):
        positions = self.positions[players[0]] if len(players) == 1 else None
        return Grid.of_rows(players, self._keys, self._shares, positions)

    def _answered(self, grids, *, all_may_follow=False):
        """Blocks of bases of the grids, in order, with the answers (bases, donors, k).

        Blocks that are small go to the workers together.
        """
        to_find, to_keep = self._shared(grids, all_may_follow=all_may_follow)
        allowed = get_config()["working_memory"] * 2**20 / 8
        point_bytes = _POINT_BYTES + 16 * self.predictions.shape[1]
        most = max(1, int(min(_MOST_POINTS, allowed // point_bytes)))
        wave, size = [], 0
        for which, grid in enumerate(grids):
            for block in grid.blocks(most):
                n_points = len(grid.donors) * (block.stop - block.start)
                if wave and size + n_points > most:
                    yield from self._wave(grids, wave, to_find, to_keep)
                    wave, size = [], 0
                wave.append((which, block))
                size += n_points
        if wave:
            yield from self._wave(grids, wave, to_find, to_keep)

    def _shared(self, grids, *, all_may_follow):
        """Which grids have points that may be known, and which to keep for others.

        With `all_may_follow` these are single players, and any sets will follow.
        """
        sets = [frozenset(grid.players) for grid in grids]
        unique = self._unique
        to_find, to_keep = [], []
        for position, players in enumerate(sets):
            to_find.append(any(may_meet(players, kept, unique) for kept in self._kept))
            if all_may_follow:
                others = set(range(len(self._players))) - players
                kept = bool(others - unique) or len(unique - players) <= _MOST_PLAYERS
            else:
                # Where both start from the same base, what they have in common are
                # points of the players in both, asked before.
                kept = any(
                    may_meet(players, later, unique)
                    and (players <= later or not unique - players - later)
                    for later in sets[position + 1 :]
                )
            to_keep.append(kept)
            if kept:
                self._kept.append(players)
        return to_find, to_keep

    def _wave(self, grids, wave, to_find, to_keep):
        """Answers to some blocks, the unknown points of all of them asked at once."""
        n_outputs = self.predictions.shape[1]
        found, points = [], []
        for which, block in wave:
            grid = grids[which]
            shape = block.stop - block.start, len(grid.donors), n_outputs
            answers = np.empty(shape)
            unknown = np.ones(shape[:2], dtype=bool)
            own = np.flatnonzero(
                (grid.base_of >= block.start) & (grid.base_of < block.stop)
            )
            place = grid.base_of[own] - block.start, grid.donor_of[own]
            answers[place] = self.predictions[own]
            unknown[place] = False
            found.append(answers)
            points.append(np.nonzero(unknown))
        sizes = [len(bases) for bases, _ in points]
        flat = np.empty((sum(sizes), n_outputs))
        ends = np.cumsum(sizes)
        shared = [
            (slice(end - size, end), grids[which].keys(block, donors, bases))
            for (which, block), (bases, donors), size, end in zip(
                wave, points, sizes, ends, strict=True
            )
            if to_find[which] or to_keep[which]
        ]
        self._ask(grids, wave, points, ends, shared, flat)
        for (which, block), answers, place, size, end in zip(
            wave, found, points, sizes, ends, strict=True
        ):
            answers[place] = flat[end - size : end]
            yield which, block, answers
        self._on_block()

    def _ask(self, grids, wave, points, ends, shared, flat):
        """Fill in the answers `flat` (n_points, k) to the points of a wave."""
        wanted = np.ones(len(flat), dtype=bool)
        if shared:
            place = np.concatenate([np.r_[part] for part, _ in shared])
            keys = np.concatenate([keys for _, keys in shared])
            answers = np.empty((len(keys), flat.shape[1]))
            new = np.flatnonzero(~self._known.find(keys, answers))
            flat[place] = answers
            wanted[place] = False
            first, which = distinct(keys[new])
            wanted[place[new[first]]] = True
        wanted = np.flatnonzero(wanted)
        sets = np.searchsorted(ends, wanted, side="right")
        bases = np.concatenate(
            [
                grids[which].bases[block][chosen]
                for (which, block), (chosen, _) in zip(wave, points, strict=True)
            ]
        )[wanted]
        donors = np.concatenate(
            [
                grids[which].donors[chosen]
                for (which, _), (_, chosen) in zip(wave, points, strict=True)
            ]
        )[wanted]
        columns = [
            tuple(j for player in grids[which].players for j in self._players[player])
            for which, _ in wave
        ]
        flat[wanted] = self._responses(bases, donors, sets, columns, flat.shape[1])
        if shared:
            asked = flat[place[new[first]]]
            flat[place[new]] = asked[which]
            self._known.add(keys[new[first]], asked)

    def _responses(self, bases, donors, sets, columns, n_outputs):
        """Responses to rows, each a base whose columns of a set come from its donor."""
        if not len(bases):
            return np.empty((0, n_outputs))
        size = batch_rows(self._rows.row_bytes)
        batches = [
            (bases[part], donors[part], sets[part])
            for part in (
                slice(start, start + size) for start in range(0, len(bases), size)
            )
        ]
        n_tasks = min(4 * effective_n_jobs(self._loop["n_jobs"]), len(batches))
        edges = np.linspace(0, len(batches), n_tasks + 1).astype(int)
        tasks = [
            (self._response, self._rows, columns, batches[first:last])
            for first, last in pairwise(edges)
        ]
        return np.concatenate(list(run(_answer, tasks, **self._loop)))


def _nothing():
    pass


def _answer(response, rows, columns, batches):
    """Responses to batches of points, one after the other."""
    return np.concatenate(
        [
            response(_exchanged(rows, bases, donors, sets, columns))
            for bases, donors, sets in batches
        ]
    )


def _exchanged(rows, bases, donors, sets, columns):
    """Rows `bases`, the columns of each one's set taken from rows `donors`."""
    used = np.flatnonzero(np.bincount(sets))
    moving = {}
    for j in sorted({j for which in used for j in columns[which]}):
        moves = np.array([j in members for members in columns])
        everywhere = moves[used].all()
        moving[j] = donors if everywhere else np.where(moves[sets], donors, bases)
    return rows.mixed(bases, moving)


def observed(method, response, rows, weights, players, *, averaged, **loop):
    """What the model answers when players of a row come from the other rows.

    Parameters
    ----------
    method : {"auto", "tree", "brute"}
        "auto" works with trees where they can be read, "tree" wants them.
    response, rows, weights, players : object
        As :class:`ObservedResponses` takes them.
    averaged : bool
        Whether means of responses are needed: trees know them for plain sums only, and
        single outcomes also through a link function.
    **loop : dict
        `n_jobs`, `verbose` and `on_block`.

    Returns
    -------
    ObservedTrees or ObservedResponses

    Raises
    ------
    UnreadableModelError
        With "tree"; means that trees do not know raise it when they are asked for.
    """
    trees = read_observed(method, response, rows, weights, players, **loop)
    if trees is not None and (trees.additive or method == "tree" or not averaged):
        return trees
    return ObservedResponses(response, rows, weights, players, **loop)
