"""Games of the players of a row, with absent players drawn given the present ones.

The value of a coalition is the mean response given the columns of its players (Aas,
Jullum & Loland 2021), v_x(S) = E[f(X) | X_S = x_S]. How the distribution of absent
columns given the present ones is estimated is its `dependence`.
"""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sklearn_interpret._core.statistics.weighted import shares_of
from sklearn_interpret._model.conditionals.draws import (
    FEWEST_DRAWS,
    CopulaDraws,
    GaussianDraws,
    NeighborDraws,
    SamplerDraws,
)
from sklearn_interpret._model.conditionals.regressions import ConditionalRegressions
from sklearn_interpret._model.replacement.response_games import (
    ResponseGame,
    ResponseRowGames,
)

if TYPE_CHECKING:
    from sklearn_interpret._model.conditionals.draws import ConditionalMeans
    from sklearn_interpret._model.responses.response import Response
    from sklearn_interpret._model.rows.base import Rows
    from sklearn_interpret._model.rows.sample import Sample

# Estimators by the name that users pass as `dependence`.
_KINDS: dict[str, type[ConditionalMeans]] = {
    "gaussian": GaussianDraws,
    "copula": CopulaDraws,
    "neighbors": NeighborDraws,
    "regression": ConditionalRegressions,
}
DEPENDENCES = set(_KINDS)


class ConditionalGame(ResponseGame):
    """The game of a model with conditional means, estimated from the rows of fit.

    Parameters
    ----------
    response : Response
        The model.
    sample : Sample
        The rows of fit and their weights.
    draws : int
        Number of draws, or neighbours, for each row and coalition; unused by
        regressions.
    players : list of tuple of int
        Columns of each player; every column belongs to one.
    link : {"identity", "logit"}, default="identity"
        Function of mean responses.
    dependence : str, regressor or callable, default="gaussian"
        How absent columns are drawn: one of `DEPENDENCES`; a regressor that is fitted
        for each coalition; or a function ``sampler(X, columns, n_draws)`` that returns
        a table of n_draws rows for each row of X, in which the columns at the positions
        `columns` count as given.
    seed : int, default=0
        Seed of the draws.

    Attributes
    ----------
    n_batches : int
        Number B of batches of draws; zero if there is no error of draws to estimate.
    base_values : ndarray of shape (k (1 + B),)
        Mean response to the rows of fit, after the link, repeated for each batch of
        draws. Other values of the game have the same outputs.
    saturated : bool
        Whether the link clipped a mean response.
    """

    _draws_name = "draws"
    fewest_draws = FEWEST_DRAWS

    def __init__(
        self,
        response: Response,
        sample: Sample,
        draws: int,
        players: list[tuple[int, ...]],
        link: str = "identity",
        dependence: Any = "gaussian",
        seed: int = 0,
    ) -> None:
        super().__init__(response, sample.rows, players, link)
        kind = _KINDS.get(dependence) if isinstance(dependence, str) else None
        if kind is None:
            is_regressor = hasattr(dependence, "fit")
            kind = ConditionalRegressions if is_regressor else SamplerDraws
        if draws < FEWEST_DRAWS and kind is not ConditionalRegressions:
            raise ValueError(
                "dependence draws once for each row of the background (subsample), and "
                f"takes at least {FEWEST_DRAWS}; there are {draws}."
            )
        start = perf_counter()
        self.conditional = kind(response, sample, draws, dependence, seed)
        # Draws take time, too.
        self._most_seconds_per_row = (perf_counter() - start) / sample.rows.n_rows
        self.n_batches = self.conditional.n_batches
        self.first_row = sample.rows.take([0])
        joint = sample.rows.followed_by(self.first_row)
        self.is_constant = joint.equals_first_rows(sample.rows.n_rows)[0]
        # Known better than from the draws: the mean response to all rows.
        means = shares_of(sample.weights) @ self.conditional.targets
        self.base_means = np.tile(means, 1 + self.n_batches)
        self._set_base_values(self.base_means)

    @property
    def n_draws(self) -> int:
        """Number of rows that go to the model for a row and a coalition."""
        return self.conditional.n_draws

    def games_of_rows(self, rows: Rows) -> ConditionalRowGames:
        """The games of some rows that are to be explained: one game for each row."""
        return ConditionalRowGames(self, rows)


class ConditionalRowGames(ResponseRowGames):
    """The games of some rows, whose absent players are drawn given the present ones."""

    _game: ConditionalGame

    def __init__(self, game: ConditionalGame, rows: Rows) -> None:
        self._rows, self._located = rows, game.conditional.locate(rows)
        super().__init__(game, rows)

    def _constant_columns(self) -> NDArray[np.bool_]:
        joint = self._game.first_row.followed_by(self._rows)
        return joint.equals_first_rows(1) & self._game.is_constant

    def mean_responses(
        self, index: NDArray[np.intp], coalitions: NDArray[np.bool_]
    ) -> NDArray[np.float64]:
        """Mean responses (m, k (1 + B)) given the coalitions' columns."""
        game = self._game
        means, present = self.responses[index], game.columns(coalitions)
        means[~present.any(axis=1)] = game.base_means
        mixed = np.flatnonzero(present.any(axis=1) & ~present.all(axis=1))
        if len(mixed):
            means[mixed] = game.conditional.means(
                self._located, index[mixed], present[mixed]
            )
        return means


def choose_coalitions(
    n_players: int, n_coalitions: int, rng: np.random.Generator
) -> NDArray[np.bool_]:
    """Random coalitions, neither empty nor grand, with sizes equally often."""
    sizes = rng.integers(1, max(n_players, 2), size=n_coalitions)
    ranks = rng.permuted(np.tile(np.arange(n_players), (n_coalitions, 1)), axis=1)
    return ranks < sizes[:, None]


def dependence_error(
    game: ConditionalGame, rows: Rows, coalitions: NDArray[np.bool_]
) -> float:
    """Mean squared error of conditional means as predictions of the response.

    It is the mean of (f(x) - v_x(S))^2 over rows, coalitions (m, n_players) and
    outputs, before the link. For rows that the game was not built on, it exceeds that
    of the true conditional means by the mean squared error of the estimated ones
    (Olsen et al. 2024).
    """
    row_games = game.games_of_rows(rows)
    index = np.repeat(np.arange(rows.n_rows), len(coalitions))
    means = row_games.mean_responses(index, np.tile(coalitions, (rows.n_rows, 1)))
    n_outputs = means.shape[1] // (1 + game.n_batches)
    errors = (row_games.responses[index] - means)[:, :n_outputs]
    return float(np.mean(errors**2))
