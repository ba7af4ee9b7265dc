"""k-medoids: BUILD, FasterPAM's swaps, and the alternating search.

Medoids are the k rows with the least sum of distances of all rows from their nearest
medoid. BUILD (Kaufman & Rousseeuw 1990) chooses the first medoids; FasterPAM (Schubert
& Rousseeuw 2021) and the alternating search improve them.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

# Arrays, whose shapes comments and docstrings say.
_Array = NDArray[np.floating]
_Positions = NDArray[np.intp]

# Distances in a block of candidates (32 MB). It does not depend on the memory: the
# block size changes the order of swaps, and so the result. benchmarks/bench_medoids.py
# times the searches.
_BLOCK = 2**22
# Least and largest number of candidates in a block: fewer make calls of numpy count;
# more wait longer for the first swap, after which most gains are outdated.
_LEAST = 16
_MOST = 64
# Number of rows whose distances are summed one after the other: sums of more are less
# exact in single precision.
_CHUNK = 2048
# After as many swaps within a block its candidates are tried again: where fewer help,
# those of other blocks help more.
_SEVERAL = 2
# Number of outdated gains that are computed together: more are mostly in vain, since a
# few updates settle which candidate is best; fewer are slow products.
_STALE = 32
# In place of the gain of a row that is a medoid already; gains are not negative.
_CHOSEN = -1.0
# Changes below this share of the sum of distances are rounding.
_ROUNDING = 1e-12


class MedoidSearch(NamedTuple):
    """Result of a search for medoids."""

    medoids: _Positions  # (k,): positions
    n_iter: int  # passes over all candidates, or assignments of the rows
    converged: bool  # whether the last one changed nothing


class Distances(Protocol):
    """A symmetric matrix of distances, or an object that computes some of its rows."""

    def __getitem__(self, rows: Any, /) -> _Array:
        """Distances of rows, by positions or a slice, from all: (len(rows), n)."""


def candidate_blocks(n_rows: int) -> list[slice]:
    """Slices of candidates; the best of each may be swapped in before the next."""
    step = int(np.clip(_BLOCK // n_rows, _LEAST, _MOST))
    starts = range(0, n_rows, step)
    return [slice(start, min(start + step, n_rows)) for start in starts]


def build(distances: Distances, weights: _Array, n_medoids: int) -> _Positions:
    """Kaufman & Rousseeuw's BUILD: each medoid lowers the sum of distances the most.

    Parameters
    ----------
    distances : Distances
        Distances between all rows.
    weights : ndarray of shape (n,)
        Weights of the rows.
    n_medoids : int
        How many of the rows to choose.

    Returns
    -------
    ndarray of shape (n_medoids,), int
        Positions, in the order of their choice; the first of equally good rows.
    """
    blocks = candidate_blocks(len(weights))
    weights = weights.astype(distances[:1].dtype)
    sums = [distances[block] @ weights for block in blocks]
    medoids = [int(np.argmin(np.concatenate(sums)))]
    (nearest,) = distances[medoids]

    def gains(rows: _Positions | slice, nearest: _Array) -> _Array:
        """How much each row would lower the sum as the next medoid."""
        return (nearest - np.minimum(distances[rows], nearest)) @ weights

    if n_medoids > 1:
        bounds = np.concatenate([gains(block, nearest) for block in blocks])
    while len(medoids) < n_medoids:
        # Gains never grow with further medoids: old ones are upper bounds.
        bounds[medoids] = _CHOSEN
        stale = np.ones(len(weights), dtype=bool)
        while stale[best := int(np.argmax(bounds))]:
            rows = np.flatnonzero(stale)
            if len(rows) > _STALE:
                rows = rows[np.argpartition(-bounds[rows], _STALE)[:_STALE]]
                rows = np.union1d(rows, best)
            bounds[rows] = np.where(bounds[rows] < 0, _CHOSEN, gains(rows, nearest))
            stale[rows] = False
        medoids.append(best)
        nearest = np.minimum(nearest, distances[[best]][0])
    return np.array(medoids)


class _Assignment:
    """The nearest medoid of each row, and the distances of the nearest two."""

    def __init__(
        self, distances: Distances, weights: _Array, medoids: _Positions
    ) -> None:
        self.weights, self.medoids = weights, np.array(medoids)
        self._to_medoids = np.array(distances[self.medoids])
        dtype, n_rows = self._to_medoids.dtype, len(weights)
        self._rounded_weights = weights.astype(dtype)
        self.nearest, self._second_nearest = np.zeros((2, n_rows), dtype=np.intp)
        self.first_distance, self._second_distance = np.zeros((2, n_rows), dtype=dtype)
        # The weight of a row at its chunk and nearest medoid, (n_chunks k, n).
        self._chunks = [slice(i, i + _CHUNK) for i in range(0, n_rows, _CHUNK)]
        self._members = sparse.csc_array(
            (self._rounded_weights, np.zeros(n_rows, int), np.arange(n_rows + 1)),
            shape=(len(self._chunks) * len(medoids), n_rows),
        )
        self._find_nearest(np.arange(n_rows))

    def _find_nearest(self, rows: _Positions) -> None:
        """Find the nearest medoids of some rows anew."""
        distances, each = self._to_medoids[:, rows], np.arange(len(rows))
        nearest = distances.argmin(axis=0)
        self.nearest[rows] = nearest
        self._members.indices[rows] = nearest + rows // _CHUNK * len(distances)
        self.first_distance[rows] = distances[nearest, each]
        distances[nearest, each] = np.inf  # of the others, the nearest is the second
        second = distances.argmin(axis=0)
        self._second_nearest[rows] = second
        self._second_distance[rows] = distances[second, each]
        sums = np.bincount(
            self.nearest, self.weights * self.first_distance, len(distances)
        )
        self.sums, self.total = sums, float(sums.sum())

    def swap(self, position: int, candidate: int, row: _Array) -> bool:
        """Let a candidate take a medoid's place if the sum falls; whether it does."""
        remaining = np.where(
            self.nearest == position, self._second_distance, self.first_distance
        )
        change = self.weights @ np.minimum(remaining, row) - self.total
        if not change < -_ROUNDING * self.total:
            return False
        self.medoids[position] = candidate
        self._to_medoids[position] = row
        moved = (self.nearest == position) | (self._second_nearest == position)
        self._find_nearest(np.flatnonzero(moved | (row < self._second_distance)))
        return True

    def swap_changes(self, columns: _Array) -> _Array:
        """By how much the sum changes where candidates take a medoid's place, (k, b).

        Equations 10 to 12 of Schubert & Rousseeuw (2021): a row goes to the candidate
        or its nearest medoid; without this medoid, to the candidate or the second
        nearest one. `columns` are the distances from the candidates, (n, b).
        """
        # With d the distance from the candidate, and the two nearest distances:
        # min(d, first) = first + min(d, second) - clip(d, first, second).
        capped = np.minimum(columns, self._second_distance[:, None])
        weights = self._rounded_weights
        capped_sums = sum(weights[chunk] @ capped[chunk] for chunk in self._chunks)
        clipped = np.maximum(capped, self.first_distance[:, None], out=capped)
        shape = len(self._chunks), len(self.medoids), -1
        clipped_sums = (self._members @ clipped).reshape(shape).sum(axis=0)
        kept_sums = capped_sums - clipped_sums.sum(axis=0)
        return clipped_sums + kept_sums - self.sums[:, None]

    def swap_in(self, candidates: slice, columns: _Array) -> int:
        """Swap the best candidates for medoids while the sum falls; how many were."""
        changes = self.swap_changes(columns)
        best = changes.argmin(axis=1)
        for n_swaps, position in enumerate(changes.min(axis=1).argsort().tolist()):
            column = columns[:, best[position]]
            if not self.swap(position, int(candidates.start + best[position]), column):
                return n_swaps
        return len(best)


def fasterpam(
    distances: Distances, weights: _Array, starts: Sequence[_Positions], max_iter: int
) -> list[MedoidSearch]:
    """Swap medoids for other rows until no single swap lowers the sum of distances.

    Swaps are made block by block of candidates: for each medoid that of the best one,
    in the order of what they were to gain, until one does not lower the sum.

    Parameters
    ----------
    distances : Distances
        Distances between all rows.
    weights : ndarray of shape (n,)
        Weights of the rows.
    starts : sequence of ndarray of shape (k,), int
        Where to start: searches that share the distances, and nothing else.
    max_iter : int
        Largest number of passes over all candidates.

    Returns
    -------
    list of MedoidSearch
        A medoid that was swapped in has the place of the medoid it replaces.
    """
    searches = [_Assignment(distances, weights, medoids) for medoids in starts]
    blocks, unchanged = candidate_blocks(len(weights)), np.zeros(len(starts), dtype=int)
    n_iter = np.full(len(starts), max_iter)
    for step in range(max_iter * len(blocks)):
        block = blocks[step % len(blocks)]
        # The matrix is symmetric: sums over rows of contiguous columns are the fastest.
        columns = np.ascontiguousarray(distances[block].T)
        for number in np.flatnonzero(unchanged < len(blocks)):
            n_swaps = _SEVERAL
            while n_swaps >= _SEVERAL:
                n_swaps = searches[number].swap_in(block, columns)
                unchanged[number] = 0 if n_swaps else unchanged[number] + 1
            n_iter[number] = step // len(blocks) + 1
        if (unchanged == len(blocks)).all():
            break
    return [
        MedoidSearch(search.medoids, int(n), bool(n_blocks == len(blocks)))
        for search, n, n_blocks in zip(searches, n_iter, unchanged, strict=True)
    ]


def alternate(
    distances: Distances, weights: _Array, medoids: _Positions, max_iter: int
) -> MedoidSearch:
    """Assign rows to medoids, and take each cluster's best row, until none changes.

    Parameters and returns as of `fasterpam`; faster, with larger sums.
    """
    medoids = np.array(medoids)
    for n_iter in range(1, max_iter + 1):
        nearest = distances[medoids].argmin(axis=0)
        before = medoids.copy()
        for position, medoid in enumerate(before):
            members = np.flatnonzero(nearest == position)
            medoids[position] = _central_row(distances, weights, members, medoid)
        if np.array_equal(medoids, before):
            return MedoidSearch(medoids, n_iter, True)
    return MedoidSearch(medoids, max_iter, False)


def _central_row(
    distances: Distances, weights: _Array, members: _Positions, medoid: int
) -> int:
    """The member of least summed distances from the others; `medoid` if it ties."""
    if not len(members):  # all rows are as near to another medoid
        return medoid
    step = candidate_blocks(len(weights))[0].stop
    blocks = np.split(members, range(step, len(members), step))
    sums = np.concatenate(
        [distances[block][:, members] @ weights[members] for block in blocks]
    )
    sums[members == medoid] *= 1 - _ROUNDING
    return members[sums.argmin()]
