"""Points at which a model is asked: rows whose players come from two rows of a sample.

A point of a set S of players has the values of one row of the sample, the *donor*, for
S, and those of another one, the *base*, for everything else. Points are told apart by
keys, which add up from those of the two rows.
"""

from dataclasses import dataclass

import numpy as np


class RowKeys:
    """Keys of the rows of a sample, and of their parts.

    Parameters
    ----------
    codes : ndarray of shape (n_rows, n_players)
        For each player, which of its distinct values a row has.
    """

    def __init__(self, codes):
        sizes = [int(column.max(initial=0)) + 1 for column in codes.T]
        radices = np.cumprod([1, *sizes[:-1]], dtype=object)
        if radices[-1] * sizes[-1] < 2**63:
            words = radices.astype(np.uint64)[:, None]
        else:
            # Two random sums stand for numbers too large: that different points have
            # both in common does not happen.
            rng = np.random.default_rng(0)
            words = rng.integers(2**64, size=(len(sizes), 2), dtype=np.uint64)
        self._parts = codes.astype(np.uint64)[:, :, None] * words  # wraps around
        self.whole = self._parts.sum(axis=1, dtype=np.uint64)

    def of(self, players):
        """Keys (n_rows, n_words) of the rows' values of some players."""
        return self._parts[:, list(players)].sum(axis=1, dtype=np.uint64)


@dataclass(frozen=True)
class Grid:
    """All points of one set of players: distinct donors times distinct bases.

    Parameters
    ----------
    players : tuple of int
        The set.
    donors : ndarray of shape (n_donors,)
        A row for each distinct value of the set.
    donor_of : ndarray of shape (n_rows,)
        Which of them each row has.
    donor_shares : ndarray of shape (n_donors,)
        Share of the rows' weight.
    bases, base_of, base_shares : ndarray
        The same for what is outside of the set.
    donor_keys, base_keys : ndarray of shape (n_donors or n_bases, n_words)
        They add up to the keys of points.
    """

    players: tuple
    donors: np.ndarray
    donor_of: np.ndarray
    donor_shares: np.ndarray
    bases: np.ndarray
    base_of: np.ndarray
    base_shares: np.ndarray
    donor_keys: np.ndarray
    base_keys: np.ndarray

    @classmethod
    def of_rows(cls, players, keys, shares, positions=None):
        """The grid of a set of players.

        Parameters
        ----------
        players : tuple of int
            The set.
        keys : RowKeys
            Of the sample.
        shares : ndarray of shape (n_rows,)
            Shares of the rows' weight.
        positions : ndarray of shape (n_rows,), optional
            Order of the distinct values wanted; any without it.
        """
        inside = keys.of(players)
        if positions is None:
            donors, donor_of = distinct(inside)
        else:
            _, donors = np.unique(positions, return_index=True)
            donor_of = positions
        outside = keys.whole - inside
        bases, base_of = distinct(outside)
        return cls(
            tuple(players),
            donors,
            donor_of,
            np.bincount(donor_of, shares),
            bases,
            base_of,
            np.bincount(base_of, shares),
            inside[donors],
            outside[bases],
        )

    def keys(self, block, donors, bases):
        """Keys of points, given by donors and bases counted from the block's first."""
        return self.donor_keys[donors] + self.base_keys[block][bases]

    def blocks(self, most_points):
        """Slices of bases, each with about as many points at most."""
        step = max(1, most_points // len(self.donors))
        return [
            slice(start, min(start + step, len(self.bases)))
            for start in range(0, len(self.bases), step)
        ]


def distinct(keys):
    """First row of each distinct key (n_rows, n_words), and which one each row has."""
    order = np.lexsort(keys.T)
    ordered = keys[order]
    starts = np.ones(len(keys), dtype=bool)
    starts[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    which = np.empty(len(keys), dtype=np.intp)
    which[order] = np.cumsum(starts) - 1
    return order[starts], which


class Remembered:
    """Answers to points, found again by key.

    Sorted runs of about doubling sizes are kept, so that adding to many costs little.

    Parameters
    ----------
    most_bytes : float
        Where they would take more than this, further ones are not kept.
    """

    def __init__(self, most_bytes):
        self._most_bytes = most_bytes
        self._bytes = 0
        self._runs = []

    def find(self, keys, answers):
        """Fill in the answers (n_points, k) that are known; tell which ones are."""
        found = np.zeros(len(keys), dtype=bool)
        for known, values in self._runs:
            place = np.searchsorted(known[:, 0], keys[:, 0])
            place = np.minimum(place, len(known) - 1)
            same = np.flatnonzero((known[place] == keys).all(axis=1))
            answers[same] = values[place[same]]
            found[same] = True
        return found

    def add(self, keys, answers):
        """Keep the answers (n_points, k) to points of distinct keys."""
        size = keys.nbytes + answers.nbytes
        if not len(keys) or self._bytes + size > self._most_bytes:
            return
        self._bytes += size
        while self._runs and len(self._runs[-1][0]) < 2 * len(keys):
            earlier, known = self._runs.pop()
            keys = np.concatenate([earlier, keys])
            answers = np.concatenate([known, answers])
        order = np.argsort(keys[:, 0], kind="stable")
        self._runs.append((keys[order], answers[order]))


def may_meet(first, second, unique):
    """Whether points of two sets can be the same, other than rows of the sample.

    Let the points be (a for S, b elsewhere) and (c for T, d elsewhere). Each player
    without repeated values, wherever it stands, says that two of these four rows are
    the same one; a = b or c = d leave rows of the sample only.

    Parameters
    ----------
    first, second : frozenset of int
        The sets S and T.
    unique : frozenset of int
        Players that have another value in every row.

    Returns
    -------
    bool
    """
    both = first & second
    # b = d, a = c, and a = d or c = b.
    outside = unique - first - second
    inside = unique & both
    across = unique & (first ^ second)
    if across and (outside or inside):
        return False
    # From the same base, disjoint sets cannot change the same.
    return not outside or bool(both)
