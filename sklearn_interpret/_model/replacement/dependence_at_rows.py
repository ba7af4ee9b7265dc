"""Partial dependence at the rows' own values, of any model.

A *player* is a feature, or several that move as one. Partial dependence at the rows'
own values, H statistics and exact permutation importance need responses at the same
points: the values of one row, the *donor*, for a set of players, with everything else
from another row, the *base*. Each distinct point goes to the model once.
"""

from functools import cached_property
from itertools import pairwise
from time import perf_counter

import numpy as np
from joblib import effective_n_jobs
from sklearn import get_config

from sklearn_interpret._model.formulas.door import formula
from sklearn_interpret._model.formulas.trees.tree_response import tree_response
from sklearn_interpret._model.parallel import batch_rows, run, slices
from sklearn_interpret._model.progress import counted
from sklearn_interpret._model.replacement.mixed_rows import (
    Grid,
    ResponseCache,
    RowKeys,
    distinct,
    responses_to_mixed,
)
from sklearn_interpret._model.replacement.point_means import PointMeans
from sklearn_interpret._model.replacement.tree_dependence_at_rows import (
    TreeDependenceAtRows,
)
from sklearn_interpret._model.responses.response import plain_responses

# Largest number of players that come from the donor together.
_MOST_PLAYERS = 3

# Points that are planned together, for all workers, and the bytes of the position and
# key of one of them.
_MOST_POINTS = 2**18
_POINT_BYTES = 96

# Sets whose points are counted together.
_SETS_COUNTED = 2**14


def dependence_at_rows(
    method, response, rows, weights, players, *, averaged, n_jobs=None
):
    """Partial dependence at the rows' own values, from trees or from `predict`.

    Parameters
    ----------
    method : {"auto", "tree", "brute"}
        "auto" takes the trees where they give the means or responses, "tree" insists
        on them.
    response, rows, weights, players : object
        As :class:`DependenceAtRows` takes them.
    averaged : bool
        Whether means of responses are needed: the trees do not give those of labels.
    n_jobs : int or None, default=None
        Workers.

    Returns
    -------
    TreeDependenceAtRows or DependenceAtRows

    Raises
    ------
    UnreadableModelError
        With "tree".
    """
    sample = rows, weights, players

    def by_trees():
        trees = tree_response(response, labels=not averaged)
        return TreeDependenceAtRows(trees, *sample, n_jobs=n_jobs)

    readers = [] if method == "brute" else [by_trees]
    by_formula = formula(readers, required=method == "tree")
    return by_formula or DependenceAtRows(response, *sample, n_jobs=n_jobs)


class DependenceAtRows(PointMeans):
    """Partial dependence at the rows' own values, from responses of the model.

    Equal points are sent once, as long as a quarter of the working memory holds the
    responses.

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

    Attributes
    ----------
    positions : list of ndarray of shape (n_rows,)
        For each player, which of its distinct values, its *points*, each row has.
    n_points : list of int
        Number of these.
    predictions : ndarray of shape (n_rows, k)
        Responses to the rows as they are.
    """

    adds_players = False  # not known of any model

    def __init__(self, response, rows, weights, players, *, n_jobs=None):
        self._response = response
        self._rows = rows
        self._players = [tuple(columns) for columns in players]
        self._shares = weights / weights.sum()
        self._n_jobs = n_jobs
        moved = {column for columns in self._players for column in columns}
        rest = [column for column in range(rows.n_columns) if column not in moved]
        parts = [*self._players, rest] if rest else self._players
        codes = np.empty((len(parts), rows.n_rows), dtype=np.int32)
        for own, columns in zip(codes, self._players, strict=False):
            own[:] = rows.encode(columns)[0]
        if rest:  # perhaps of very many columns, whose joint labels would be large
            alike = np.empty((len(rest), rows.n_rows), dtype=np.int32)
            for own, column in zip(alike, rest, strict=True):
                own[:] = rows.encode([column])[0]
            codes[-1] = distinct(RowKeys(alike.T).whole)[1]
        self.positions = list(codes[: len(self._players)])
        self.n_points = [int(own.max()) + 1 for own in self.positions]
        self._keys = RowKeys(codes.T)
        # Where no value of any player repeats, points of two sets are different: their
        # bases by a player outside of both, their donors by a player of one of them.
        unique = all(own.max() + 1 == rows.n_rows for own in codes)
        self._may_repeat = not unique or len(codes) <= 2 * _MOST_PLAYERS
        self._cache = ResponseCache(get_config()["working_memory"] * 2**20 / 4)

    @cached_property
    def predictions(self):
        """Responses to the rows as they are: (n_rows, k)."""
        first, which = distinct(self._keys.whole)
        if len(first) == self._rows.n_rows:
            return plain_responses(self._response, self._rows)
        return plain_responses(self._response, self._rows.take(first))[which]

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
        n_outputs, total = self.predictions.shape[1], None
        for _, grid, block, responses in self._responses(sets):
            if not block.start:
                total = np.zeros((len(grid.donors), n_outputs))
            total += np.einsum("b,bdk->dk", grid.base_shares[block], responses)
            if block.stop == len(grid.bases):
                yield total[grid.donor_of]

    def responses_at_points(self, reduce):
        """Responses to every row with each player at each of its points.

        Parameters
        ----------
        reduce : callable
            ``reduce(player, index, responses)``: the player, the rows' positions, and
            responses of shape (n, n_points, k), not to be kept. Its results are
            collected.

        Returns
        -------
        list of list
            For each player, the results.
        """
        reduced = [[] for _ in self._players]
        for block in self._responses(counted(self._alone)):
            reduced[block[0]] += _reduced(reduce, *block)
        return reduced

    @property
    def _alone(self):
        """Sets of a single player."""
        return [(player,) for player in range(len(self._players))]

    def most_rows(self, *sets):
        """Largest number of rows that `all_but` and `joint` of sets send to the model.

        Sets of one size are the rows of an array, or a list. Fewer are sent where sets
        have points in common.
        """
        n_bases = len(distinct(self._keys.whole)[0])
        n_points, total = np.array(self.n_points, dtype=np.float64), float(n_bases)
        for of_size in (self._alone, *sets):
            for part in slices(len(of_size), _SETS_COUNTED):
                places = np.array(of_size[part], dtype=np.intp)
                n_donors = np.minimum(n_points[places].prod(axis=1), n_bases)
                total += n_donors.sum() * (n_bases - 1)
        return total

    def seconds(self, reduce, enough):
        """Estimated seconds for :meth:`responses_at_points`, or a bound below `enough`.

        The bound comes from the rows as they are, else the time from a batch of points:
        calls of few rows take longer for each row.
        """
        start = perf_counter()
        n_rows = len(self.predictions)
        at_most = (perf_counter() - start) / n_rows * self.most_rows()
        if at_most < enough:
            return at_most
        player = int(np.argmax(self.n_points))
        grid = self._grid((player,))
        block = next(grid.blocks(batch_rows(self._rows.row_bytes)))
        start = perf_counter()
        for part in self._of_wave([(player, grid, block)]):
            list(_reduced(reduce, *part))
        n_points = len(grid.donors) * (block.stop - block.start)
        n_workers = effective_n_jobs(self._n_jobs)
        return (perf_counter() - start) / n_points * self.most_rows() / n_workers

    def most_sums(self, pairs, triples):
        """Number of sums over the leaves of trees: none."""
        return 0

    def _grid(self, players):
        positions = self.positions[players[0]] if len(players) == 1 else None
        return Grid.of_rows(players, self._keys, self._shares, positions)

    def _responses(self, sets):
        """For each set its grid, block by block of bases, and the responses to these.

        Yields the set's number, the grid, the block, and (bases, donors, k).

        Blocks that are small go to the workers together.
        """
        allowed = get_config()["working_memory"] * 2**20 / 8
        point_bytes = _POINT_BYTES + 16 * self.predictions.shape[1]
        most = max(1, int(min(_MOST_POINTS, allowed // point_bytes)))
        wave, size = [], 0
        for which, grid in enumerate(map(self._grid, sets)):
            for block in grid.blocks(most):
                n_points = len(grid.donors) * (block.stop - block.start)
                if wave and size + n_points > most:
                    yield from self._of_wave(wave)
                    wave, size = [], 0
                wave.append((which, grid, block))
                size += n_points
        if wave:
            yield from self._of_wave(wave)

    def _of_wave(self, wave):
        """Responses of some blocks; their unknown points are sent together."""
        blocks, places, points = [], [], []
        for _, grid, block in wave:
            shape = block.stop - block.start, len(grid.donors)
            responses = np.empty((*shape, self.predictions.shape[1]))
            unknown = np.ones(shape, dtype=bool)
            # Points whose base and donor are one and the same row are known.
            inside = (grid.base_of >= block.start) & (grid.base_of < block.stop)
            own = grid.base_of[inside] - block.start, grid.donor_of[inside]
            responses[own] = self.predictions[inside]
            unknown[own] = False
            base, donor = place = np.nonzero(unknown)
            keys = ()
            if self._may_repeat:
                keys = grid.donor_keys[donor] + grid.base_keys[block][base]
            blocks.append(responses)
            places.append(place)
            points.append((grid.bases[block][base], grid.donors[donor], keys))
        columns = [
            tuple(j for player in grid.players for j in self._players[player])
            for _, grid, _ in wave
        ]
        sizes = [len(base) for base, _ in places]
        sets = np.repeat(np.arange(len(wave)), sizes)
        bases, donors, keys = map(np.concatenate, zip(*points, strict=True))
        send = self._of_keys if self._may_repeat else self._send
        flat = send(columns, bases, donors, sets, keys)
        parts = np.split(flat, np.cumsum(sizes[:-1]))
        for item, responses, place, part in zip(
            wave, blocks, places, parts, strict=True
        ):
            responses[place] = part
            yield *item, responses

    def _of_keys(self, columns, bases, donors, sets, keys):
        """Responses (m, k) to points; some may be cached, and some the same."""
        responses = np.empty((len(bases), self.predictions.shape[1]))
        is_known, known = self._cache.find(keys, responses.shape[1])
        responses[is_known] = known
        new = np.flatnonzero(~is_known)
        first, which = distinct(keys[new])
        send = new[first]
        sent = self._send(columns, bases[send], donors[send], sets[send])
        responses[new] = sent[which]
        self._cache.add(keys[send], sent)
        return responses

    def _send(self, columns, bases, donors, sets, keys=None):
        """Responses (m, k) to bases whose columns of a set are their donors'."""
        if not len(bases):
            return np.empty((0, self.predictions.shape[1]))
        batches = [
            (bases[part], donors[part], sets[part])
            for part in slices(len(bases), batch_rows(self._rows.row_bytes))
        ]
        n_tasks = min(4 * effective_n_jobs(self._n_jobs), len(batches))
        edges = np.linspace(0, len(batches), n_tasks + 1).astype(int)
        tasks = [
            (self._response, self._rows, columns, batches[first:last])
            for first, last in pairwise(edges)
        ]
        return np.concatenate(list(run(responses_to_mixed, tasks, n_jobs=self._n_jobs)))


def _reduced(reduce, which, grid, block, responses):
    """Reduced responses of the rows whose bases are in a block, part by part."""
    bases = grid.base_of
    index = np.flatnonzero((bases >= block.start) & (bases < block.stop))
    # Rows may be many more than bases.
    for part in slices(len(index), len(responses)):
        some = index[part]
        yield reduce(which, some, responses[bases[some] - block.start])
