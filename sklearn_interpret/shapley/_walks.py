"""Orders in which players come in one after the other, and what they add on the way."""

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from sklearn_interpret.shapley._base_coalitional import Valuer

# Interactions that are smaller than this, relative to the responses that they are
# differences of, are rounding.
_ROUNDING = 1e-12
# Squares that agree so far, relative to the largest, are the same.
_DIGITS = 12


class Walk(Valuer):
    """Lets players come in along one order for each row.

    A subclass says which (`_paths`).
    """

    def values(self, game, played):
        """Attributions of rows, and None for their standard errors.

        Parameters
        ----------
        game, played : CoalitionGame, PlayedRows
            The game and the rows.
        """
        values, _ = self.walk(game, played)
        return values, None

    def walk(self, game, played):
        """Attributions of rows, and at which step each player came in.

        Parameters
        ----------
        game, played : CoalitionGame, PlayedRows
            The game and the rows.

        Returns
        -------
        values : ndarray of shape (m, n_players, k)
            Players that come in together share equally.
        steps : ndarray of shape (m, n_players), intp
            Numbers of steps, from 0.
        """
        n_players = played.active.shape[1]
        paths = list(self._paths(game, played))
        steps = np.array([_numbers(path, n_players) for path in paths])
        # Only players that differ from the background add something.
        moves = [
            [step for step in path if active[list(step)].any()]
            for path, active in zip(paths, played.active, strict=True)
        ]
        gains = self._gains(game, played, moves)
        values = np.zeros((played.n_rows, n_players, played.predictions.shape[1]))
        for row, (path, gained) in enumerate(zip(moves, gains, strict=True)):
            for step, gain in zip(path, gained, strict=True):
                values[row, list(step)] = gain / len(step)
        return values, steps

    def _paths(self, game, played):
        """Steps of each row in order, tuples of players, all of them once."""
        raise NotImplementedError

    def _gains(self, game, played, paths):
        """What each step of each row adds, (n_steps, k)."""
        which, coalitions = [], []
        for row, path in enumerate(paths):
            present = np.zeros(played.active.shape[1], dtype=bool)
            for step in path[:-1]:  # all together are the prediction
                present[list(step)] = True
                which.append(row)
                coalitions.append(present.copy())
        shape = len(which), played.active.shape[1]
        coalitions = np.array(coalitions, dtype=bool).reshape(shape)
        worth = played.values(np.array(which, dtype=np.intp), coalitions)
        start = 0
        for row, path in enumerate(paths):
            stop = start + max(len(path) - 1, 0)
            on_the_way = worth[start:stop], played.predictions[row : row + 1]
            levels = np.concatenate([game.base_values[None], *on_the_way])
            yield np.diff(levels, axis=0)[: len(path)]
            start = stop


def _numbers(path, n_players):
    numbers = np.empty(n_players, dtype=np.intp)
    for number, step in enumerate(path):
        numbers[list(step)] = number
    return numbers


@dataclass(frozen=True)
class GivenWalk(Walk):
    """The same order for all rows.

    Parameters
    ----------
    path : tuple of tuple of int
        Players of each step.
    """

    path: tuple

    def n_coalitions(self, n_players):
        """As many as there are steps."""
        return len(self.path)

    def _paths(self, game, played):
        return [self.path] * played.n_rows


class GreedyWalk(Walk):
    """From the player that alone adds most to the one that alone adds least."""

    def n_coalitions(self, n_players):
        """Each alone; later as many steps."""
        return n_players

    def _paths(self, game, played):
        designed = played.designed(self._design)
        for (players, worth), active in zip(designed, played.active, strict=True):
            # What each entry adds alone: all outputs count, as a mean square.
            path = _greedy(*self._entries(len(players), worth, game.base_values))
            moved = [tuple(players[list(step)].tolist()) for step in path]
            yield moved + [(player,) for player in np.flatnonzero(~active).tolist()]

    def _design(self, n_players):
        return np.eye(n_players, dtype=bool)

    def _entries(self, n_players, worth, base):
        """Candidates for a step, and what is theirs alone, (n_entries, k)."""
        return [(player,) for player in range(n_players)], worth - base


class PairingWalk(GreedyWalk):
    """The same, where pairs whose interaction is larger come in together."""

    def n_coalitions(self, n_players):
        """Each alone and each pair."""
        return n_players * (n_players + 1) // 2

    def _design(self, n_players):
        alone = super()._design(n_players)
        pairs = np.array(list(combinations(range(n_players), 2)), dtype=np.intp)
        first, second = pairs.reshape(-1, 2).T
        return np.concatenate([alone, alone[first] | alone[second]])

    def _entries(self, n_players, worth, base):
        entries, alone = super()._entries(n_players, worth[:n_players], base)
        pairs = list(combinations(range(n_players), 2))
        first, second = np.array(pairs, dtype=np.intp).reshape(-1, 2).T
        together = worth[n_players:] - base - alone[first] - alone[second]
        size = np.abs(base) + np.abs(worth).max(axis=0, initial=0.0)
        together[np.abs(together) <= _ROUNDING * size] = 0
        return entries + pairs, np.concatenate([alone, together])


def _greedy(entries, gains):
    """Entries from large to small; each player comes in with the first that has it."""
    sizes = np.square(gains).mean(axis=1)
    # Ties must not hang on rounding.
    sizes = np.round(sizes / (sizes.max(initial=0.0) or 1.0), _DIGITS)
    path, taken = [], set()
    for place in np.argsort(-sizes, kind="stable"):
        entry = entries[place]
        if taken.isdisjoint(entry):
            path.append(entry)
            taken.update(entry)
    return path
