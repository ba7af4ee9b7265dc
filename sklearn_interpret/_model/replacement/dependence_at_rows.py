"""Partial dependence at the rows' own values, of any model.

A *player* is a feature, or several that move as one. Partial dependence at the rows'
own values, H statistics and exact permutation importance need responses at the same
points: the values of one row, the *donor*, for a set of players, with everything else
from another row, the *base*. Each distinct point goes to the model once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn import get_config

from sklearn_interpret._model.formulas.formula import read_formula
from sklearn_interpret._model.formulas.trees.tree_response import tree_response
from sklearn_interpret._model.parallel import batch_rows, run, slices
from sklearn_interpret._model.progress import with_progress
from sklearn_interpret._model.replacement.mixed_rows import (
    Grid,
    MixedPoints,
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

if TYPE_CHECKING:
    from sklearn_interpret._model.responses.response import Response
    from sklearn_interpret._model.rows.base import Rows

# Sets of players of one size.
Sets = NDArray[np.intp] | Sequence[tuple[int, ...]]

# Largest number of players that come from the donor together.
_MOST_PLAYERS = 3

# Bytes of the position and key of a point, and the number of points that are planned
# together, for all workers: 25 MB.
_POINT_BYTES = 96
_MOST_POINTS = 2**18

# Sets whose points are counted together, to bound memory.
_SETS_COUNTED = 2**14


def dependence_at_rows(
    method: str,
    response: Response,
    rows: Rows,
    weights: NDArray[np.float64],
    players: list[tuple[int, ...]],
    *,
    averaged: bool,
    n_jobs: int | None = None,
) -> TreeDependenceAtRows | DependenceAtRows:
    """Partial dependence at the rows' own values, from trees or from `predict`.

    Parameters
    ----------
    method : {"auto", "tree", "brute"}
        "auto" takes the trees where they give the means or responses, "tree" insists
        on the trees.
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

    def by_trees() -> TreeDependenceAtRows:
        trees = tree_response(response, labels=not averaged)
        return TreeDependenceAtRows(trees, *sample, n_jobs=n_jobs)

    readers = [] if method == "brute" else [by_trees]
    by_formula = read_formula(readers, required=method == "tree")
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
        For each player, the position of each row's value among its distinct values,
        its *points*.
    n_points : list of int
        Number of points of each player.
    predictions : ndarray of shape (n_rows, k)
        Responses to the rows as they are.
    """

    adds_players = False  # not known of any model

    def __init__(
        self,
        response: Response,
        rows: Rows,
        weights: NDArray[np.float64],
        players: list[tuple[int, ...]],
        *,
        n_jobs: int | None = None,
    ) -> None:
        self._response = response
        self._rows = rows
        self._players = [tuple(columns) for columns in players]
        self._shares = weights / weights.sum()
        self._n_jobs = n_jobs
        moved = {column for columns in self._players for column in columns}
        unmoved = [column for column in range(rows.n_columns) if column not in moved]
        codes: list[NDArray[Any]] = [
            rows.encode(columns)[0].astype(np.int32) for columns in self._players
        ]
        self.positions = codes[:]
        self.n_points = [int(positions.max()) + 1 for positions in codes]
        if unmoved:  # perhaps very many, whose joint labels would be large
            by_column = [rows.encode([j])[0].astype(np.int32) for j in unmoved]
            codes.append(distinct(RowKeys(np.array(by_column).T).all_players)[1])
        self._keys = RowKeys(np.array(codes).T)
        # Where no value of any player repeats, points of two sets are different: a
        # player outside of both sets tells the bases apart, a player of one the donors.
        no_value_repeats = all(values.max() + 1 == rows.n_rows for values in codes)
        self._may_repeat = not no_value_repeats or len(codes) <= 2 * _MOST_PLAYERS
        self._cache = ResponseCache(get_config()["working_memory"] * 2**20 / 4)

    @cached_property
    def predictions(self) -> NDArray[np.float64]:
        """Responses to the rows as they are: (n_rows, k)."""
        first, positions = distinct(self._keys.all_players)
        if len(first) == self._rows.n_rows:
            return plain_responses(self._response, self._rows)
        return plain_responses(self._response, self._rows.take(first))[positions]

    def joint(self, sets: Iterable[Sequence[int]]) -> Iterator[NDArray[np.float64]]:
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
        for (_, grid, bases), responses in self._responses(sets):
            if not bases.start:
                total = np.zeros((len(grid.donors), n_outputs))
            total += np.einsum("b,bdk->dk", grid.base_shares[bases], responses)
            if bases.stop == len(grid.bases):
                yield total[grid.donor_of]

    def responses_at_points(self, reduce: Callable[..., Any]) -> list[list[Any]]:
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
        reduced: list[list[Any]] = [[] for _ in self._players]
        for block, responses in self._responses(with_progress(self._single_players)):
            reduced[block.number] += _reduce_block(reduce, block, responses)
        return reduced

    @property
    def _single_players(self) -> list[tuple[int, ...]]:
        """Sets of a single player."""
        return [(player,) for player in range(len(self._players))]

    def most_rows(self, *sets: Sets) -> float:
        """Largest number of rows that the means of sets send to the model.

        Sets of one size are the rows of an array, or a list. Fewer are sent where sets
        have points in common.
        """
        n_bases = len(distinct(self._keys.all_players)[0])
        n_points, total = np.array(self.n_points, dtype=np.float64), float(n_bases)
        for sets_of_size in (self._single_players, *sets):
            for batch in slices(len(sets_of_size), _SETS_COUNTED):
                players = np.array(sets_of_size[batch], dtype=np.intp)
                n_donors = np.minimum(n_points[players].prod(axis=1), n_bases)
                total += n_donors.sum() * (n_bases - 1)
        return total

    def seconds(self, reduce: Callable[..., Any], enough: float) -> float:
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
        bases = next(grid.blocks(batch_rows(self._rows.row_bytes)))
        start = perf_counter()
        timed_block = _GridBlock(player, grid, bases)
        for block, responses in self._responses_of_wave([timed_block]):
            list(_reduce_block(reduce, block, responses))
        seconds_of_point = (perf_counter() - start) / timed_block.n_points
        n_workers = effective_n_jobs(self._n_jobs)
        return seconds_of_point * self.most_rows() / n_workers

    def most_sums(self, pairs: Sets, triples: Sets) -> float:
        """Number of sums over the leaves of trees: none."""
        return 0.0

    def _grid(self, players: Sequence[int]) -> Grid:
        positions = self.positions[players[0]] if len(players) == 1 else None
        return Grid.of_rows(players, self._keys, self._shares, positions)

    def _responses(
        self, sets: Iterable[Sequence[int]]
    ) -> Iterator[tuple[_GridBlock, NDArray[np.float64]]]:
        """For each set the blocks of its grid, and responses (n_bases, n_donors, k).

        Blocks that are small go to the workers together.
        """
        # An eighth of the working memory; a point has its responses twice, as doubles.
        allowed = get_config()["working_memory"] * 2**20 / 8
        point_bytes = _POINT_BYTES + 16 * self.predictions.shape[1]
        most_points = max(1, int(min(_MOST_POINTS, allowed // point_bytes)))
        wave: list[_GridBlock] = []
        n_points = 0
        for number, grid in enumerate(map(self._grid, sets)):
            for bases in grid.blocks(most_points):
                block = _GridBlock(number, grid, bases)
                if wave and n_points + block.n_points > most_points:
                    yield from self._responses_of_wave(wave)
                    wave, n_points = [], 0
                wave.append(block)
                n_points += block.n_points
        if wave:
            yield from self._responses_of_wave(wave)

    def _responses_of_wave(
        self, wave: list[_GridBlock]
    ) -> Iterator[tuple[_GridBlock, NDArray[np.float64]]]:
        """Responses of some blocks; their unknown points are sent together."""
        tables, unknown, points, keys = [], [], [], []
        for position, block in enumerate(wave):
            responses, is_unknown = self._known_responses(block)
            base, donor = np.nonzero(is_unknown)
            tables.append(responses)
            unknown.append(is_unknown)
            points.append(block.points(base, donor, position))
            if self._may_repeat:
                keys.append(block.keys(base, donor))
        columns_of_sets = [
            tuple(j for player in block.grid.players for j in self._players[player])
            for block in wave
        ]
        all_points = MixedPoints(*map(np.concatenate, zip(*points, strict=True)))
        if self._may_repeat:
            answers = self._look_up(columns_of_sets, all_points, np.concatenate(keys))
        else:
            answers = self._send(columns_of_sets, all_points)
        ends = np.cumsum([len(of_block.bases) for of_block in points])
        for block, responses, is_unknown, block_answers in zip(
            wave, tables, unknown, np.split(answers, ends[:-1]), strict=True
        ):
            responses[is_unknown] = block_answers
            yield block, responses

    def _known_responses(
        self, block: _GridBlock
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Responses (n_bases, n_donors, k) of a block, and mask of those not known."""
        grid, inside = block.grid, block.rows
        shape = block.bases.stop - block.bases.start, len(grid.donors)
        responses = np.empty((*shape, self.predictions.shape[1]))
        is_unknown = np.ones(shape, dtype=bool)
        # Points whose base and donor are one and the same row are known.
        diagonal = grid.base_of[inside] - block.bases.start, grid.donor_of[inside]
        responses[diagonal] = self.predictions[inside]
        is_unknown[diagonal] = False
        return responses, is_unknown

    def _look_up(
        self,
        columns_of_sets: list[tuple[int, ...]],
        points: MixedPoints,
        keys: NDArray[np.uint64],
    ) -> NDArray[np.float64]:
        """Responses (m, k) to points, from the cache, or sent once for equal points."""
        responses = np.empty((len(keys), self.predictions.shape[1]))
        is_cached, cached = self._cache.find(keys, responses.shape[1])
        responses[is_cached] = cached
        new = np.flatnonzero(~is_cached)
        first_points, positions = distinct(keys[new])
        first_points = new[first_points]
        answers = self._send(columns_of_sets, points.take(first_points))
        responses[new] = answers[positions]
        self._cache.add(keys[first_points], answers)
        return responses

    def _send(
        self, columns_of_sets: list[tuple[int, ...]], points: MixedPoints
    ) -> NDArray[np.float64]:
        """Responses (m, k) of the model to points."""
        if not len(points.bases):
            return np.empty((0, self.predictions.shape[1]))
        batches = points.batches(batch_rows(self._rows.row_bytes))
        n_tasks = min(4 * effective_n_jobs(self._n_jobs), len(batches))
        edges = np.linspace(0, len(batches), n_tasks + 1).astype(int)
        tasks = [
            (self._response, self._rows, columns_of_sets, batches[first:last])
            for first, last in pairwise(edges)
        ]
        return np.concatenate(list(run(responses_to_mixed, tasks, n_jobs=self._n_jobs)))


class _GridBlock(NamedTuple):
    """The points of a grid whose bases are in a slice."""

    number: int  # of the set of players
    grid: Grid
    bases: slice

    @property
    def n_points(self) -> int:
        """Number of points."""
        return len(self.grid.donors) * (self.bases.stop - self.bases.start)

    @property
    def rows(self) -> NDArray[np.intp]:
        """Rows whose base is in the slice."""
        base_of = self.grid.base_of
        return np.flatnonzero(
            (base_of >= self.bases.start) & (base_of < self.bases.stop)
        )

    def points(
        self, base: NDArray[np.intp], donor: NDArray[np.intp], position: int
    ) -> MixedPoints:
        """Some cells of the block as points of the set at a position."""
        bases = self.grid.bases[self.bases][base]
        return MixedPoints(bases, self.grid.donors[donor], np.full(len(base), position))

    def keys(
        self, base: NDArray[np.intp], donor: NDArray[np.intp]
    ) -> NDArray[np.uint64]:
        """Keys of some cells of the block, (m, n_words)."""
        return self.grid.donor_keys[donor] + self.grid.base_keys[self.bases][base]


def _reduce_block(
    reduce: Callable[..., Any], block: _GridBlock, responses: NDArray[np.float64]
) -> Iterator[Any]:
    """Reduced responses of the rows whose bases are in a block, batch by batch."""
    index = block.rows
    # Rows may be many more than bases.
    for batch in slices(len(index), len(responses)):
        rows = index[batch]
        bases = block.grid.base_of[rows] - block.bases.start
        yield reduce(block.number, rows, responses[bases])
