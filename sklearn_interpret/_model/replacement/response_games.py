"""Games of the players of a row: responses when some of the players are absent.

The value of a coalition is the mean response to the background's rows with the
coalition's columns taken from the explained row.
"""

from functools import cached_property

import numpy as np
from scipy.special import logit

from sklearn_interpret._model._sklearn_compat import warn
from sklearn_interpret._model.parallel import batch_rows, slices
from sklearn_interpret._model.progress import counted
from sklearn_interpret._model.responses.response import plain_responses
from sklearn_interpret.exceptions import CostlyInspectionWarning

# Probabilities are clipped to [eps, 1 - eps]: their logit is then at most 36.
_EPSILON = np.finfo(np.float64).eps
# Rows sent to the model that take minutes: more raise a warning.
_MANY_ROWS = 10**8
# Largest excess of a mean probability over [0, 1] that counts as rounding.
_ROUNDING = 1e-9


def _logit(means):
    if not ((means >= -_ROUNDING) & (means <= 1 + _ROUNDING)).all():
        bad = means[~((means >= -_ROUNDING) & (means <= 1 + _ROUNDING))].flat[0]
        raise ValueError(
            f"link='logit' takes mean responses between 0 and 1; got {bad:g}."
        )
    return logit(np.clip(means, _EPSILON, 1 - _EPSILON))


LINKS = {"identity": np.positive, "logit": _logit}


class CoalitionGame:
    """The game of a model, a background and players.

    Parameters
    ----------
    response : Response
        The model.
    background : Rows
        Rows that absent players are taken from, together.
    weights : ndarray of shape (n_background,)
        Their weights.
    players : list of tuple of int
        Columns of each player; every column belongs to one.
    link : {"identity", "logit"}, default="identity"
        Function of mean responses.

    Attributes
    ----------
    base_values : ndarray of shape (k,)
        Value without any player.
    saturated : bool
        Whether the link clipped a mean response to the background.
    """

    def __init__(self, response, background, weights, players, link="identity"):
        self.response, self.background, self.link = response, background, link
        self.players = players
        self._shares = weights / weights.sum()
        self._player_of_column = np.empty(background.n_columns, dtype=np.intp)
        for player, columns in enumerate(players):
            self._player_of_column[list(columns)] = player
        responses = plain_responses(response, background)
        means = self.weighed(responses[None])
        self.saturated = bool(self.clipped(means).any())
        self.base_values = LINKS[link](means[0])

    def warn_of_cost(self, n_rows, n_coalitions, advice):
        """Warn before a very large number of rows goes to the model."""
        sent = n_rows * n_coalitions * self.background.n_rows
        if sent > _MANY_ROWS:
            warn(
                f"{advice}: up to {sent} rows go to the model, {n_rows} rows x "
                f"{n_coalitions} coalitions x {self.background.n_rows} of the "
                "background.",
                CostlyInspectionWarning,
            )

    def play(self, rows):
        """The game of the players of some `Rows`, which are to be explained."""
        return PlayedRows(self, rows)

    def columns(self, coalitions):
        """Columns of coalitions: (m, n_columns), bool, from (m, n_players)."""
        return coalitions[:, self._player_of_column]

    def clipped(self, means):
        """Mask (m,) of mean responses (m, k) that the link clips in any output."""
        if self.link == "identity":
            return np.zeros(len(means), dtype=bool)
        return ((means < _EPSILON) | (means > 1 - _EPSILON)).any(axis=1)

    def weighed(self, responses, bases=slice(None)):
        """Weighted sums (m, k) of responses (m, n_bases, k) to some background rows."""
        return np.einsum("mbk,b->mk", responses, self._shares[bases])


class PlayedRows:
    """Rows whose players form coalitions.

    Attributes
    ----------
    n_rows : int
        Their number.
    predictions : ndarray of shape (n_rows, k)
        Values of all players together.
    saturated : ndarray of shape (n_rows,), bool
        Rows of which the link has clipped a mean response so far.
    """

    def __init__(self, game, rows):
        self._game, self.n_rows = game, rows.n_rows
        step = batch_rows(game.background.row_bytes)
        self._parts = [
            (bases, game.background.part(bases).followed_by(rows))
            for bases in slices(game.background.n_rows, step)
        ]
        self._most_rows = step
        responses = plain_responses(game.response, rows)
        self.saturated = game.clipped(responses)
        self.predictions = LINKS[game.link](responses)

    @cached_property
    def active(self):
        """Players whose values in the row differ from some row of the background.

        Of shape (n_rows, n_players), bool; the others add nothing to any coalition.
        """
        agree = np.ones((self.n_rows, self._game.background.n_columns), dtype=bool)
        for bases, rows in self._parts:
            agree &= rows.agreeing(bases.stop - bases.start)
        return np.stack(
            [~agree[:, list(own)].all(axis=1) for own in self._game.players], axis=1
        )

    def designed(self, design):
        """Values of the same coalitions of each row's active players.

        Parameters
        ----------
        design : callable
            From a number of players to their coalitions (m, n_players), bool; called
            once for each number.

        Yields
        ------
        players : ndarray of shape (n_active,), intp
            The row's active players.
        values : ndarray of shape (m, k)
            Values of their coalitions.
        """
        players = [np.flatnonzero(active) for active in self.active]
        made = {number: design(number) for number in {*map(len, players)}}
        designs = [made[len(own)] for own in players]
        ends = np.cumsum([0, *map(len, designs)])
        coalitions = np.zeros((ends[-1], self.active.shape[1]), dtype=bool)
        for own, part, start in zip(players, designs, ends[:-1], strict=True):
            coalitions[start : start + len(part), own] = part
        which = np.repeat(np.arange(self.n_rows), np.diff(ends))
        values = self.coalition_values(which, coalitions)
        for own, start, stop in zip(players, ends[:-1], ends[1:], strict=True):
            yield own, values[start:stop]

    def coalition_values(self, which, coalitions):
        """Values (m, k) of coalitions (m, n_players), each of the row at `which`."""
        game = self._game
        means = np.zeros((len(which), self.predictions.shape[1]))
        for bases, rows in counted(self._parts):
            n_bases = bases.stop - bases.start
            parts = slices(len(which), max(1, self._most_rows // n_bases))
            for part in counted(list(parts)):
                present = game.columns(coalitions[part])
                X = rows.blended(n_bases, which[part] + n_bases, present)
                responses = game.response(X).reshape(len(present), n_bases, -1)
                means[part] += game.weighed(responses, bases)
        self.saturated[which[game.clipped(means)]] = True
        return LINKS[game.link](means)
