"""Games of the players of a row: responses when some of the players are absent.

The value of a coalition is the mean response to the background's rows with the
coalition's columns taken from the explained row. `ResponseGame` and `ResponseRowGames`
are what games of mean responses have in common.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from functools import cached_property, partial
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit

from sklearn_interpret._model.parallel import batch_rows, most_batch_rows, slices
from sklearn_interpret._model.progress import with_progress
from sklearn_interpret._model.responses.response import plain_responses
from sklearn_interpret._model.row_limit import SLOW_CALL, announce_rows

if TYPE_CHECKING:
    from sklearn_interpret._model.responses.response import Response
    from sklearn_interpret._model.rows.base import Rows

# Probabilities are clipped to [eps, 1 - eps]: their logit is then at most 36.
_EPSILON = np.finfo(np.float64).eps
# Largest excess of a mean probability over [0, 1] that counts as rounding, of weighted
# means in double precision.
_ROUNDING = 1e-9


def _logit(means: NDArray[np.float64]) -> NDArray[np.float64]:
    """Logits of mean probabilities; an error if one is not between 0 and 1."""
    is_probability = (means >= -_ROUNDING) & (means <= 1 + _ROUNDING)
    if not is_probability.all():
        bad = means[~is_probability].flat[0]
        raise ValueError(
            f"link='logit' takes mean responses between 0 and 1; got {bad:g}."
        )
    return logit(np.clip(means, _EPSILON, 1 - _EPSILON))


LINKS: dict[str, Callable[[NDArray[np.float64]], NDArray[np.float64]]] = {
    "identity": np.positive,
    "logit": _logit,
}


class ResponseGame(ABC):
    """A game of mean responses, of rows that are explained one by one.

    Parameters
    ----------
    response : Response
        The model.
    background : Rows
        Rows that the values of absent players are taken from.
    players : list of tuple of int
        Columns of each player; every column belongs to one.
    link : {"identity", "logit"}, default="identity"
        Function of mean responses.

    Attributes
    ----------
    base_values : ndarray of shape (k,)
        Value without any player.
    saturated : bool
        Whether the link clipped a mean response without any player.
    n_batches : int
        Number of batches of draws that have values of their own: behind the outputs of
        all draws, all values have those of each batch.
    omits_equal : bool, default=True
        Whether players are inactive if the row equals all of the background in them.
    """

    base_values: NDArray[np.float64]
    saturated: bool
    n_batches = 0
    omits_equal = True
    fewest_draws = 1
    _draws_name = "rows of the background"
    _seconds_per_row = _most_seconds_per_row = 0.0
    _calls_cost = False

    def __init__(
        self,
        response: Response,
        background: Rows,
        players: list[tuple[int, ...]],
        link: str = "identity",
    ) -> None:
        self.response, self.background, self.link = response, background, link
        self.players = players
        self._player_of_column = np.empty(background.n_columns, dtype=np.intp)
        for player, columns in enumerate(players):
            self._player_of_column[list(columns)] = player

    @property
    def n_outputs(self) -> int:
        """Number of outputs of the response, k."""
        return len(self.base_values) // (1 + self.n_batches)

    @property
    @abstractmethod
    def n_draws(self) -> int:
        """Number of rows that go to the model for a row and a coalition."""

    @abstractmethod
    def games_of_rows(self, rows: Rows) -> ResponseRowGames:
        """The games of some rows that are to be explained: one game for each row."""

    def seconds(self, n_rows: int, n_coalitions: int) -> float:
        """Seconds of the model for coalitions of rows; zero if it is quick."""
        return self._seconds_per_row * n_rows * n_coalitions * self.n_draws

    def most_seconds(self, n_coalitions: int) -> float:
        """Seconds for coalitions of a row if calls of many rows are no quicker."""
        return self._most_seconds_per_row * n_coalitions * self.n_draws

    def announce(self, n_rows: int, n_coalitions: int, advice: str) -> None:
        """Announce that coalitions of rows go to the model."""
        announce_rows(
            n_rows * (1 + n_coalitions * self.n_draws),  # each row as it is, too
            {
                "rows": n_rows,
                "coalitions": n_coalitions,
                self._draws_name: self.n_draws,
            },
            advice,
            seconds=partial(self.seconds, n_rows, n_coalitions),
        )

    def columns(self, coalitions: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Columns of coalitions: (m, n_columns), bool, from (m, n_players)."""
        return coalitions[:, self._player_of_column]

    def is_clipped(self, means: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Mask (m,) of mean responses (m, k) that the link clips in any output."""
        if self.link == "identity":
            return np.zeros(len(means), dtype=bool)
        means = means[:, : means.shape[1] // (1 + self.n_batches)]
        return np.any((means < _EPSILON) | (means > 1 - _EPSILON), axis=1)

    def _set_base_values(self, means: NDArray[np.float64]) -> None:
        """Set the values without any player from mean responses (k,)."""
        self.saturated = bool(self.is_clipped(means[None]).any())
        self.base_values = LINKS[self.link](means)


class ResponseRowGames(ABC):
    """The games of some rows, whose values are asked of the model together.

    Attributes
    ----------
    n_rows : int
        Number of the explained rows.
    responses : ndarray of shape (n_rows, k)
        Responses to the rows.
    predictions : ndarray of shape (n_rows, k)
        Values of the coalition of all players.
    saturated : ndarray of shape (n_rows,), bool
        Rows of which the link has clipped a mean response so far.
    """

    _kept: dict[bytes, NDArray[np.float64]] | None = None

    def __init__(self, game: ResponseGame, rows: Rows) -> None:
        self._game, self.n_rows = game, rows.n_rows
        self.responses = np.tile(
            plain_responses(game.response, rows), 1 + game.n_batches
        )
        self.saturated = game.is_clipped(self.responses)
        self.predictions = LINKS[game.link](self.responses)

    @abstractmethod
    def _constant_columns(self) -> NDArray[np.bool_]:
        """Mask (n_rows, n_columns) of cells whose value the whole background has."""

    @abstractmethod
    def mean_responses(
        self, index: NDArray[np.intp], coalitions: NDArray[np.bool_]
    ) -> NDArray[np.float64]:
        """Mean responses (m, k) of coalitions (m, n_players) of the rows at `index`."""

    @cached_property
    def active(self) -> NDArray[np.bool_]:
        """Players whose values in the row differ from some row of the background.

        Of shape (n_rows, n_players), bool; other players add nothing to any coalition.
        """
        if not self._game.omits_equal:
            return np.ones((self.n_rows, len(self._game.players)), dtype=bool)
        is_constant = self._constant_columns()
        return np.stack(
            [
                ~is_constant[:, list(columns)].all(axis=1)
                for columns in self._game.players
            ],
            axis=1,
        )

    def values_by_design(
        self, design: Callable[[int], NDArray[np.bool_]]
    ) -> Iterator[tuple[NDArray[np.intp], NDArray[np.float64]]]:
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
            Values of the coalitions of these players.
        """
        players = [np.flatnonzero(active) for active in self.active]
        by_number = {number: design(number) for number in {*map(len, players)}}
        designs = [by_number[len(row_players)] for row_players in players]
        ends = np.cumsum([0, *map(len, designs)])
        coalitions = np.zeros((ends[-1], self.active.shape[1]), dtype=bool)
        for row_players, row_coalitions, start, stop in zip(
            players, designs, ends[:-1], ends[1:], strict=True
        ):
            coalitions[start:stop, row_players] = row_coalitions
        index = np.repeat(np.arange(self.n_rows), np.diff(ends))
        values = self.coalition_values(index, coalitions)
        for row_players, start, stop in zip(players, ends[:-1], ends[1:], strict=True):
            yield row_players, values[start:stop]

    def keep_values(self) -> None:
        """Keep the values of coalitions of a single row, for those that come again."""
        self._kept = {}

    def coalition_values(
        self, index: NDArray[np.intp], coalitions: NDArray[np.bool_]
    ) -> NDArray[np.float64]:
        """Values (m, k) of coalitions (m, n_players), each of the row at `index`."""
        if self._kept is None:
            return self._new_values(index, coalitions)
        keys = [packed.tobytes() for packed in np.packbits(coalitions, axis=1)]
        new = [i for i, key in enumerate(keys) if key not in self._kept]
        if new:
            values = self._new_values(index[new], coalitions[new])
            self._kept.update(zip((keys[i] for i in new), values, strict=True))
        kept = [self._kept[key] for key in keys]
        return np.array(kept).reshape(len(keys), self.responses.shape[1])

    def _new_values(
        self, index: NDArray[np.intp], coalitions: NDArray[np.bool_]
    ) -> NDArray[np.float64]:
        means = self.mean_responses(index, coalitions)
        self.saturated[index[self._game.is_clipped(means)]] = True
        return LINKS[self._game.link](means)


class CoalitionGame(ResponseGame):
    """The game of a model, a background and players.

    Parameters
    ----------
    response : Response
        The model.
    background : Rows
        Rows that the columns of absent players are taken from, all of one row.
    weights : ndarray of shape (n_background,)
        Weights of the background's rows.
    players : list of tuple of int
        Columns of each player; every column belongs to one.
    link : {"identity", "logit"}, default="identity"
        Function of mean responses.
    """

    def __init__(
        self,
        response: Response,
        background: Rows,
        weights: NDArray[np.float64],
        players: list[tuple[int, ...]],
        link: str = "identity",
    ) -> None:
        super().__init__(response, background, players, link)
        self._background_weights = weights / weights.sum()
        start = perf_counter()
        responses = plain_responses(response, background)
        seconds, n_others = perf_counter() - start, background.n_rows - 1
        self._most_seconds_per_row = seconds / background.n_rows
        if seconds > SLOW_CALL and n_others:
            # The cost of a call, whatever its rows, is taken off.
            start = perf_counter()
            response(background.take([0]).native)
            seconds_of_call = perf_counter() - start
            self._seconds_per_row = max(seconds - seconds_of_call, 0.0) / n_others
            n_rows = batch_rows(background.row_bytes)
            self._calls_cost = seconds_of_call > self._seconds_per_row * n_rows
        self._set_base_values(self.background_means(responses[None])[0])

    @property
    def n_draws(self) -> int:
        """Number of rows of the background."""
        return self.background.n_rows

    def games_of_rows(self, rows: Rows) -> RowGames:
        """The games of some rows that are to be explained: one game for each row."""
        return RowGames(self, rows)

    def background_means(
        self, responses: NDArray[np.float64], block: slice = slice(None)
    ) -> NDArray[np.float64]:
        """Weighted sums (m, k) of responses (m, n, k) to n of the background rows."""
        return np.einsum("mbk,b->mk", responses, self._background_weights[block])


class RowGames(ResponseRowGames):
    """The games of some rows against the background."""

    _game: CoalitionGame

    def __init__(self, game: CoalitionGame, rows: Rows) -> None:
        super().__init__(game, rows)
        batch = most_batch_rows if game._calls_cost else batch_rows
        self._batch_rows = batch(game.background.row_bytes)
        # Blocks of the background, each followed by the explained rows.
        self._blocks = [
            (block, game.background.sliced(block).followed_by(rows))
            for block in slices(game.background.n_rows, self._batch_rows)
        ]

    def _constant_columns(self) -> NDArray[np.bool_]:
        shape = self.n_rows, self._game.background.n_columns
        is_constant = np.ones(shape, dtype=bool)
        for block, rows in self._blocks:
            is_constant &= rows.equals_first_rows(block.stop - block.start)
        return is_constant

    def mean_responses(
        self, index: NDArray[np.intp], coalitions: NDArray[np.bool_]
    ) -> NDArray[np.float64]:
        """Mean responses (m, k) to the background with the coalitions' columns."""
        game = self._game
        means = np.zeros((len(index), self.responses.shape[1]))
        for block, rows in with_progress(self._blocks):
            n_background = block.stop - block.start
            batches = slices(len(index), max(1, self._batch_rows // n_background))
            for batch in with_progress(list(batches)):
                present = game.columns(coalitions[batch])
                # The explained rows stand behind the block's background rows.
                X = rows.blend(n_background, index[batch] + n_background, present)
                responses = game.response(X).reshape(len(present), n_background, -1)
                means[batch] += game.background_means(responses, block)
        return means
