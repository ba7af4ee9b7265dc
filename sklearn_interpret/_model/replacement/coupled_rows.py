"""Mean gains of players that go from the rows of one sample to those of another."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sklearn_interpret._core.games.couplings import random_coupling
from sklearn_interpret._core.games.loss_games import paired_coalitions, paired_gains
from sklearn_interpret._core.statistics.weighted import shares_of
from sklearn_interpret._model.parallel import batch_rows, run, slices
from sklearn_interpret._model.responses.response import plain_responses
from sklearn_interpret._model.row_limit import announce_rows

if TYPE_CHECKING:
    from sklearn_interpret._model.responses.response import Response
    from sklearn_interpret._model.rows.base import Rows
    from sklearn_interpret._model.rows.sample import Sample


class RowGains(NamedTuple):
    """Mean gains of the pairs of each row, (n_rows, n_players, k)."""

    old: NDArray[np.float64]
    new: NDArray[np.float64]


def gains_of_pairs(
    response: Response,
    players: list[tuple[int, ...]],
    samples: tuple[Sample, Sample],
    n_couplings: int,
    rng: np.random.Generator,
    n_jobs: int | None,
) -> RowGains:
    """Gains of players in random pairs of an old and a new row.

    In each coupling of the samples, each pair of rows has a random order of the players
    and its reverse, in which they go from the old to the new row.
    """
    old, new = samples
    rows, n_players = old.rows.followed_by(new.rows), len(players)
    player_of_column = np.empty(rows.n_columns, dtype=np.intp)
    for player, columns in enumerate(players):
        player_of_column[list(columns)] = player
    shares = [shares_of(sample.weights) for sample in samples]
    # Couplings have as many pairs each; these draws are used for their number alone.
    n_pairs = len(random_coupling(shares[0], shares[1], deepcopy(rng))[0])
    n_between = 2 * (n_players - 1)
    announce_rows(
        rows.n_rows + n_couplings * n_pairs * n_between,
        {"pairs of rows": n_pairs, "couplings": n_couplings, "rows between": n_between},
        "Use fewer rows, n_permutations, or players (feature_groups)",
    )
    responses = plain_responses(response, rows)
    path = _Path(response, rows, player_of_column, responses)
    n_old, n_rows, n_outputs = old.rows.n_rows, rows.n_rows, responses.shape[1]
    sums = np.zeros((n_rows, n_players, n_outputs))
    step = max(1, batch_rows(rows.row_bytes) // max(1, 2 * (n_players - 1)))
    for _ in range(n_couplings):
        first, second, masses = random_coupling(shares[0], shares[1], rng)
        second += n_old
        orders = rng.permuted(np.tile(np.arange(n_players), (len(first), 1)), axis=1)
        tasks = [
            (path, first[block], second[block], orders[block])
            for block in slices(len(first), step)
        ]
        gains = np.concatenate(list(run(_Path.gains, tasks, n_jobs=n_jobs)))
        gains *= masses[:, None, None] / n_couplings
        np.add.at(sums, first, gains)
        np.add.at(sums, second, gains)
    means = sums / np.concatenate(shares)[:, None, None]
    return RowGains(means[:n_old], means[n_old:])


@dataclass(frozen=True, eq=False)
class _Path:
    """Responses on the way from one row to another; it is sent to workers."""

    response: Response
    rows: Rows
    player_of_column: NDArray[np.intp]
    responses: NDArray[np.float64]  # to the rows, (n_rows, k)

    def gains(
        self, starts: NDArray[np.intp], ends: NDArray[np.intp], orders: NDArray[np.intp]
    ) -> NDArray[np.float64]:
        """Gains (m, n_players, k), means of orders and their reverses.

        Pairs go from rows `starts` to `ends` (m,) in `orders` (m, n_players).
        """
        orders = orders[:, None]
        coalitions = paired_coalitions(orders)
        n_pairs, n_between, _ = coalitions.shape
        shape = n_pairs, n_between, self.responses.shape[1]
        between: NDArray[np.float64] = np.empty(shape)
        if n_between:
            moved = coalitions.reshape(-1, coalitions.shape[2])[
                :, self.player_of_column
            ]
            bases, donors = np.repeat(starts, n_between), np.repeat(ends, n_between)
            sources = {
                j: np.where(moved[:, j], donors, bases) for j in range(moved.shape[1])
            }
            between = self.response(self.rows.mix(bases, sources)).reshape(shape)
        path = np.concatenate(
            [self.responses[starts, None], between, self.responses[ends, None]], axis=1
        )
        gains = [-paired_gains(orders, path[..., k])[:, 0] for k in range(shape[2])]
        return np.stack(gains, axis=2)
