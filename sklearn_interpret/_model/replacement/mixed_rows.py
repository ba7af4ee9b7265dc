"""Rows that take some columns from one row and the other columns from another row.

A *donor* lends its values of a set of players to a *base*. `responses_to_mixed` makes
such rows and asks the model; `RowKeys` and `Grid` list the distinct rows of one set; a
`ResponseCache` remembers the responses to them by key.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sklearn_interpret._model.parallel import slices

if TYPE_CHECKING:
    from sklearn_interpret._model.responses.response import Response
    from sklearn_interpret._model.rows.base import Rows


class MixedPoints(NamedTuple):
    """Rows `bases` in which the columns of a set are those of rows `donors`."""

    bases: NDArray[np.intp]  # (m,)
    donors: NDArray[np.intp]  # (m,)
    sets: NDArray[np.intp]  # (m,), positions of the sets in a list of them

    def take(self, index: NDArray[np.intp] | slice) -> MixedPoints:
        """Some of the points."""
        return MixedPoints(self.bases[index], self.donors[index], self.sets[index])

    def batches(self, size: int) -> list[MixedPoints]:
        """The points in batches of `size`."""
        return [self.take(batch) for batch in slices(len(self.bases), size)]


def responses_to_mixed(
    response: Response,
    rows: Rows,
    columns_of_sets: list[tuple[int, ...]],
    batches: Iterable[MixedPoints],
) -> NDArray[np.float64]:
    """Responses (m, k) to batches of points, one after the other."""
    return np.concatenate(
        [response(_mix_rows(rows, points, columns_of_sets)) for points in batches]
    )


def _mix_rows(
    rows: Rows, points: MixedPoints, columns_of_sets: list[tuple[int, ...]]
) -> Any:
    """The points in the native container."""
    bases, donors, sets = points
    used = np.flatnonzero(np.bincount(sets))
    sources = {}
    for j in sorted({j for number in used for j in columns_of_sets[number]}):
        moves = np.array([j in columns for columns in columns_of_sets])
        everywhere = moves[used].all()
        sources[j] = donors if everywhere else np.where(moves[sets], donors, bases)
    return rows.mix(bases, sources)


class RowKeys:
    """Keys of the values of players in rows, which add up to those of all players.

    Parameters
    ----------
    codes : ndarray of shape (n_rows, n_players)
        For each player, the position of a row's value among its distinct values.
    """

    def __init__(self, codes: NDArray[np.integer]) -> None:
        n_values = [int(column.max(initial=0)) + 1 for column in codes.T]
        radices = np.cumprod([1, *n_values[:-1]], dtype=object)
        if radices[-1] * n_values[-1] < 2**63:
            self._words = radices.astype(np.uint64)[:, None]
        else:
            # The numbers would be too large. Two random sums replace them; that two
            # points share both does not happen.
            rng = np.random.default_rng(0)
            self._words = rng.integers(2**64, size=(len(n_values), 2), dtype=np.uint64)
        self._codes = codes
        self.all_players = self.of_players(range(len(n_values)))

    def of_players(self, players: Iterable[int]) -> NDArray[np.uint64]:
        """Keys (n_rows, n_words) of the rows' values of some players."""
        keys = np.zeros((len(self._codes), self._words.shape[1]), dtype=np.uint64)
        for player in players:
            codes = self._codes[:, player, None].astype(np.uint64)
            keys += codes * self._words[player]  # wraps around
        return keys


@dataclass(frozen=True, eq=False)
class Grid:
    """All points of one set of players: distinct donors times distinct bases.

    Parameters
    ----------
    players : tuple of int
        The set.
    donors : ndarray of shape (n_donors,)
        A row for each distinct value of the set.
    donor_of : ndarray of shape (n_rows,)
        The donor that each row has.
    bases, base_of : ndarray
        A row for each distinct value of the columns outside of the set, and the base
        that each row has.
    base_shares : ndarray of shape (n_bases,)
        Share of the rows' weight that has each base.
    donor_keys, base_keys : ndarray of shape (n_donors or n_bases, n_words)
        Keys of donors and bases, which add up to the keys of points.
    """

    players: tuple[int, ...]
    donors: NDArray[np.intp]
    donor_of: NDArray[np.intp]
    bases: NDArray[np.intp]
    base_of: NDArray[np.intp]
    base_shares: NDArray[np.number]
    donor_keys: NDArray[np.uint64]
    base_keys: NDArray[np.uint64]

    @classmethod
    def of_rows(
        cls,
        players: Sequence[int],
        keys: RowKeys,
        shares: NDArray[np.float64],
        positions: NDArray[np.intp] | None = None,
    ) -> Grid:
        """The grid of a set of players, from the keys and shares of the rows.

        `positions` (n_rows,) set the order of the donors; any order without them.
        """
        inside = keys.of_players(players)
        if positions is None:
            donors, donor_of = distinct(inside)
        else:
            _, donors = np.unique(positions, return_index=True)
            donor_of = positions
        outside = keys.all_players - inside
        bases, base_of = distinct(outside)
        return cls(
            tuple(players),
            donors,
            donor_of,
            bases,
            base_of,
            base_shares=np.bincount(base_of, shares),
            donor_keys=inside[donors],
            base_keys=outside[bases],
        )

    def blocks(self, most_points: int) -> Iterator[slice]:
        """Slices of bases with at most `most_points` points, or of one base."""
        return slices(len(self.bases), max(1, most_points // len(self.donors)))


def distinct(keys: NDArray[np.uint64]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """First row of each distinct key (n_rows, n_words), and the key of each row."""
    order = np.lexsort(keys.T)
    ordered = keys[order]
    starts = np.ones(len(keys), dtype=bool)
    starts[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    positions = np.empty(len(keys), dtype=np.intp)
    positions[order] = np.cumsum(starts) - 1
    return order[starts], positions


class ResponseCache:
    """Responses to points by key, within a number of bytes.

    Sorted runs of about doubling sizes are kept, so that adding to many costs little.
    """

    def __init__(self, most_bytes: float) -> None:
        self._bytes_left = most_bytes
        self._runs: list[tuple[NDArray[np.uint64], NDArray[np.float64]]] = []

    def find(
        self, keys: NDArray[np.uint64], n_outputs: int
    ) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
        """Mask (n,) of the keys that are cached, and their responses, (n_cached, k)."""
        responses = np.empty((len(keys), n_outputs))
        is_cached = np.zeros(len(keys), dtype=bool)
        for cached_keys, cached_responses in self._runs:
            position = np.searchsorted(cached_keys[:, 0], keys[:, 0])
            position = np.minimum(position, len(cached_keys) - 1)
            equal = np.flatnonzero((cached_keys[position] == keys).all(axis=1))
            responses[equal] = cached_responses[position[equal]]
            is_cached[equal] = True
        return is_cached, responses[is_cached]

    def add(self, keys: NDArray[np.uint64], responses: NDArray[np.float64]) -> None:
        """Keep the responses (n, k) to points of distinct keys, if they fit."""
        size = keys.nbytes + responses.nbytes
        if not len(keys) or size > self._bytes_left:
            return
        self._bytes_left -= size
        while self._runs and len(self._runs[-1][0]) < 2 * len(keys):
            cached_keys, cached_responses = self._runs.pop()
            keys = np.concatenate([cached_keys, keys])
            responses = np.concatenate([cached_responses, responses])
        order = np.argsort(keys[:, 0], kind="stable")
        self._runs.append((keys[order], responses[order]))
