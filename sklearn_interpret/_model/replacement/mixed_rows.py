"""Rows that take some columns from one row and the others from another; each once."""

from dataclasses import dataclass

import numpy as np

from sklearn_interpret._model.parallel import slices


def responses_to_mixed(response, rows, columns, batches):
    """Responses to batches of points (bases, donors, sets), one after the other.

    Each point is its base, with the columns of its set from its donor.
    """
    return np.concatenate(
        [
            response(_mixed(rows, bases, donors, sets, columns))
            for bases, donors, sets in batches
        ]
    )


def _mixed(rows, bases, donors, sets, columns):
    """Rows `bases`, the columns of each one's set taken from rows `donors`."""
    used = np.flatnonzero(np.bincount(sets))
    moving = {}
    for j in sorted({j for which in used for j in columns[which]}):
        moves = np.array([j in members for members in columns])
        everywhere = moves[used].all()
        moving[j] = donors if everywhere else np.where(moves[sets], donors, bases)
    return rows.mixed(bases, moving)


class RowKeys:
    """Keys of rows, and of their parts; those of parts add up to those of rows.

    Parameters
    ----------
    codes : ndarray of shape (n_rows, n_players)
        For each player, which of its distinct values a row has.
    """

    def __init__(self, codes):
        sizes = [int(column.max(initial=0)) + 1 for column in codes.T]
        radices = np.cumprod([1, *sizes[:-1]], dtype=object)
        if radices[-1] * sizes[-1] < 2**63:
            self._words = radices.astype(np.uint64)[:, None]
        else:
            # The numbers would be too large. Two random sums replace them; that two
            # points share both does not happen.
            rng = np.random.default_rng(0)
            self._words = rng.integers(2**64, size=(len(sizes), 2), dtype=np.uint64)
        self._codes = codes
        self.whole = self.of_players(range(len(sizes)))

    def of_players(self, players):
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
        Which of them each row has.
    bases, base_of : ndarray
        The same for the columns outside of the set.
    base_shares : ndarray of shape (n_bases,)
        Share of the rows' weight.
    donor_keys, base_keys : ndarray of shape (n_donors or n_bases, n_words)
        They add up to the keys of points.
    """

    players: tuple
    donors: np.ndarray
    donor_of: np.ndarray
    bases: np.ndarray
    base_of: np.ndarray
    base_shares: np.ndarray
    donor_keys: np.ndarray
    base_keys: np.ndarray

    @classmethod
    def of_rows(cls, players, keys, shares, positions=None):
        """The grid of a set of players, from the keys and shares of the rows.

        `positions` (n_rows,) set the order of the donors; any order without them.
        """
        inside = keys.of_players(players)
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
            bases,
            base_of,
            np.bincount(base_of, shares),
            inside[donors],
            outside[bases],
        )

    def blocks(self, most_points):
        """Slices of bases, each with about as many points at most."""
        return slices(len(self.bases), max(1, most_points // len(self.donors)))


def distinct(keys):
    """First row of each distinct key (n_rows, n_words), and which one each row has."""
    order = np.lexsort(keys.T)
    ordered = keys[order]
    starts = np.ones(len(keys), dtype=bool)
    starts[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    which = np.empty(len(keys), dtype=np.intp)
    which[order] = np.cumsum(starts) - 1
    return order[starts], which


class ResponseCache:
    """Responses to points by key, within a number of bytes.

    Sorted runs of about doubling sizes are kept, so that adding to many costs little.
    """

    def __init__(self, most_bytes):
        self._bytes_left = most_bytes
        self._runs = []

    def find(self, keys, n_outputs):
        """Which keys are known, (n,) bool, and their responses, (n_known, k)."""
        responses = np.empty((len(keys), n_outputs))
        is_known = np.zeros(len(keys), dtype=bool)
        for known, values in self._runs:
            place = np.searchsorted(known[:, 0], keys[:, 0])
            place = np.minimum(place, len(known) - 1)
            same = np.flatnonzero((known[place] == keys).all(axis=1))
            responses[same] = values[place[same]]
            is_known[same] = True
        return is_known, responses[is_known]

    def add(self, keys, responses):
        """Keep the responses (n, k) to points of distinct keys, if they fit."""
        size = keys.nbytes + responses.nbytes
        if not len(keys) or size > self._bytes_left:
            return
        self._bytes_left -= size
        while self._runs and len(self._runs[-1][0]) < 2 * len(keys):
            earlier, known = self._runs.pop()
            keys = np.concatenate([earlier, keys])
            responses = np.concatenate([known, responses])
        order = np.argsort(keys[:, 0], kind="stable")
        self._runs.append((keys[order], responses[order]))
