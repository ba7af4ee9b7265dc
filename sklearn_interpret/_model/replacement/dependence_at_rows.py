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
from typing import TYPE_CHECKING, Any

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn import get_config

from sklearn_interpret._model.formulas.door import formula
from sklearn_interpret._model.formulas.trees.tree_response import tree_response
from sklearn_interpret._model.parallel import batch_rows, run, slices
from sklearn_interpret._model.progress import with_progress
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

if TYPE_CHECKING:
    from sklearn_interpret._model.responses.response import Response
    from sklearn_interpret._model.rows.base import Rows

# Sets of players of one size.
Sets = NDArray[np.intp] | Sequence[tuple[int, ...]]

# Largest number of players that come from the donor together.
_MOST_PLAYERS = 3

# Points that are planned together, for all workers (25 MB), and the bytes of the
# position and key of one of them.
_MOST_POINTS = 2**18
_POINT_BYTES = 96

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

    def by_trees() -> TreeDependenceAtRows:
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
        For each player, the position of each row's value among its distinct values,
        its *points*.
    n_points : list of int
        Number of these.
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
        # Where no value of any player repeats, points of two sets are different: their
        # bases by a player outside of both, their donors by a player of one of them.
        unique = all(values.max() + 1 == rows.n_rows for values in codes)
        self._may_repeat = not unique or len(codes) <= 2 * _MOST_PLAYERS
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
        for _, grid, block, responses in self._responses(sets):
            if not block.start:
                total = np.zeros((len(grid.donors), n_outputs))
            total += np.einsum("b,bdk->dk", grid.base_shares[block], responses)
            if block.stop == len(grid.bases):
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
        for block in self._responses(with_progress(self._single_players)):
            reduced[block[0]] += _reduced(reduce, *block)
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
        block = next(grid.blocks(batch_rows(self._rows.row_bytes)))
        start = perf_counter()
        for answered in self._of_wave([(player, grid, block)]):
            list(_reduced(reduce, *answered))
        n_points = len(grid.donors) * (block.stop - block.start)
        n_workers = effective_n_jobs(self._n_jobs)
        return (perf_counter() - start) / n_points * self.most_rows() / n_workers

    def most_sums(self, pairs: Sets, triples: Sets) -> float:
        """Number of sums over the leaves of trees: none."""
        return 0.0

    def _grid(self, players: Sequence[int]) -> Grid:
        positions = self.positions[players[0]] if len(players) == 1 else None
        return Grid.of_rows(players, self._keys, self._shares, positions)

    def _responses(
        self, sets: Iterable[Sequence[int]]
    ) -> Iterator[tuple[int, Grid, slice, NDArray[np.float64]]]:
        """For each set its grid, block by block of bases, and the responses to these.

        Yields the set's number, the grid, the block, and (bases, donors, k).

        Blocks that are small go to the workers together.
        """
        allowed = get_config()["working_memory"] * 2**20 / 8
        point_bytes = _POINT_BYTES + 16 * self.predictions.shape[1]
        most = max(1, int(min(_MOST_POINTS, allowed // point_bytes)))
        wave: list[tuple[int, Grid, slice]] = []
        size = 0
        for number, grid in enumerate(map(self._grid, sets)):
            for block in grid.blocks(most):
                n_points = len(grid.donors) * (block.stop - block.start)
                if wave and size + n_points > most:
                    yield from self._of_wave(wave)
                    wave, size = [], 0
                wave.append((number, grid, block))
                size += n_points
        if wave:
            yield from self._of_wave(wave)

    def _of_wave(
        self, wave: list[tuple[int, Grid, slice]]
    ) -> Iterator[tuple[int, Grid, slice, NDArray[np.float64]]]:
        """Responses of some blocks; their unknown points are sent together."""
        blocks, cells, points = [], [], []
        for _, grid, block in wave:
            shape = block.stop - block.start, len(grid.donors)
            responses = np.empty((*shape, self.predictions.shape[1]))
            unknown = np.ones(shape, dtype=bool)
            # Points whose base and donor are one and the same row are known.
            inside = (grid.base_of >= block.start) & (grid.base_of < block.stop)
            diagonal = grid.base_of[inside] - block.start, grid.donor_of[inside]
            responses[diagonal] = self.predictions[inside]
            unknown[diagonal] = False
            base, donor = np.nonzero(unknown)
            keys = np.empty(0, dtype=np.uint64)
            if self._may_repeat:
                keys = grid.donor_keys[donor] + grid.base_keys[block][base]
            blocks.append(responses)
            cells.append((base, donor))
            points.append((grid.bases[block][base], grid.donors[donor], keys))
        columns = [
            tuple(j for player in grid.players for j in self._players[player])
            for _, grid, _ in wave
        ]
        sizes = [len(base) for base, _ in cells]
        sets = np.repeat(np.arange(len(wave)), sizes)
        bases, donors, keys = map(np.concatenate, zip(*points, strict=True))
        send = self._of_keys if self._may_repeat else self._send
        flat = send(columns, bases, donors, sets, keys)
        by_block = np.split(flat, np.cumsum(sizes[:-1]))
        for item, responses, unknown_cells, answers in zip(
            wave, blocks, cells, by_block, strict=True
        ):
            responses[unknown_cells] = answers
            yield *item, responses

    def _of_keys(
        self,
        columns: list[tuple[int, ...]],
        bases: NDArray[np.intp],
        donors: NDArray[np.intp],
        sets: NDArray[np.intp],
        keys: NDArray[np.uint64],
    ) -> NDArray[np.float64]:
        """Responses (m, k) to points; some may be cached, and some the same."""
        responses = np.empty((len(bases), self.predictions.shape[1]))
        is_cached, cached = self._cache.find(keys, responses.shape[1])
        responses[is_cached] = cached
        new = np.flatnonzero(~is_cached)
        first, positions = distinct(keys[new])
        first = new[first]
        answers = self._send(columns, bases[first], donors[first], sets[first])
        responses[new] = answers[positions]
        self._cache.add(keys[first], answers)
        return responses

    def _send(
        self,
        columns: list[tuple[int, ...]],
        bases: NDArray[np.intp],
        donors: NDArray[np.intp],
        sets: NDArray[np.intp],
        keys: NDArray[np.uint64] | None = None,
    ) -> NDArray[np.float64]:
        """Responses (m, k) to bases whose columns of a set are their donors'."""
        if not len(bases):
            return np.empty((0, self.predictions.shape[1]))
        batches = [
            (bases[batch], donors[batch], sets[batch])
            for batch in slices(len(bases), batch_rows(self._rows.row_bytes))
        ]
        n_tasks = min(4 * effective_n_jobs(self._n_jobs), len(batches))
        edges = np.linspace(0, len(batches), n_tasks + 1).astype(int)
        tasks = [
            (self._response, self._rows, columns, batches[first:last])
            for first, last in pairwise(edges)
        ]
        return np.concatenate(list(run(responses_to_mixed, tasks, n_jobs=self._n_jobs)))


def _reduced(
    reduce: Callable[..., Any],
    number: int,
    grid: Grid,
    block: slice,
    responses: NDArray[np.float64],
) -> Iterator[Any]:
    """Reduced responses of the rows whose bases are in a block, batch by batch."""
    bases = grid.base_of
    index = np.flatnonzero((bases >= block.start) & (bases < block.stop))
    # Rows may be many more than bases.
    for batch in slices(len(index), len(responses)):
        rows = index[batch]
        yield reduce(number, rows, responses[bases[rows] - block.start])
