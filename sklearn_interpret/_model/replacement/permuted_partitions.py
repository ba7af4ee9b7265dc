"""Scores of a model on rows in partitions whose columns are permuted among all rows.

`scores_in_partitions` reads the partitions three times: their weights
(`_read_partition`), the values of the columns (`_permute_columns`), and the losses with
permuted values (`_PartitionLosses`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial, reduce
from operator import add
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sklearn_interpret._core.statistics.weighted import Moments
from sklearn_interpret._model.parallel import slices, working_bytes
from sklearn_interpret._model.replacement.all_pairs import (
    losses_by_response,
    r2_shares,
    sums_of_losses,
)
from sklearn_interpret._model.replacement.permuted import (
    DRAW_DONORS,
    check_several_rows,
)
from sklearn_interpret._model.rows.base import gather

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from sklearn_interpret._model.responses.scoring import Metric
    from sklearn_interpret._model.rows.base import Rows
    from sklearn_interpret._model.rows.partitioned import PartitionedSample
    from sklearn_interpret._model.rows.sample import Sample


class _Partition(NamedTuple):
    """What the first pass reads of a partition."""

    number: int
    weights: NDArray[np.float64]
    moments: Moments | None  # of its targets, for R squared


class _Draw(NamedTuple):
    """A permutation of some columns."""

    columns: Sequence[int]
    seed: int


class _PermutedColumns(NamedTuple):
    """Columns with their permuted values, of the rows of all partitions."""

    columns: Sequence[int]
    vectors: list[Any]  # a native one for each column


def scores_in_partitions(
    estimator: BaseEstimator,
    sample: PartitionedSample,
    players: Sequence[Sequence[int]],
    metrics: list[Metric],
    method: str,
    seeds: NDArray[np.integer],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Scores of rows in partitions that are means over rows, and permuted ones.

    There is one pass for the weights, and then two for as many permutations as half of
    the working memory holds: one for the values of the columns, which are permuted as
    in memory, and one for the losses.

    Parameters
    ----------
    estimator, metrics, method : object
        As in `PermutedScores`.
    sample : PartitionedSample
        The rows.
    players, seeds : object
        As in `PermutedScores.scores`.

    Returns
    -------
    baseline : ndarray of shape (n_metrics,)
        Scores of the rows as they are.
    scores : ndarray of shape (n_players, n_repeats, n_metrics)
        Scores with each player permuted.
    """
    with_r2 = any(metric.row_loss == "r2" for metric in metrics)
    read = partial(_read_partition, with_r2)
    partitions: list[_Partition] = sample.map_reduce(read, add, [0])
    weights = np.concatenate([partition.weights for partition in partitions])
    check_several_rows(len(weights))
    all_moments = [partition.moments for partition in partitions]
    moments = [of_partition for of_partition in all_moments if of_partition is not None]
    shares = r2_shares(reduce(Moments.merge, moments).variance) if moments else None
    starts = np.cumsum([0, *(len(partition.weights) for partition in partitions)])
    numbers = [partition.number for partition in partitions]
    starts_by_number = dict(zip(numbers, starts[:-1].tolist(), strict=True))
    losses = _PartitionLosses(estimator, metrics, shares, starts_by_number)
    # The rows as they are come first: no column is permuted.
    draws = [_Draw((), 0)]
    for columns, player_seeds in zip(players, seeds, strict=True):
        draws += [_Draw(columns, seed) for seed in player_seeds]
    widest = max(sample.rows.keep_columns(columns).row_bytes for columns in players)
    # Half of the memory for the permuted columns of all rows, draw by draw.
    step = max(2, int(working_bytes() / 2 // (len(weights) * widest)))
    donors_of_draw, sums = DRAW_DONORS[method], []
    for batch in slices(len(draws), step):  # two passes each
        permuted, dtypes = _permute_columns(
            sample, draws[batch], weights, donors_of_draw
        )
        task = partial(losses.sums, permuted)
        sums.append(replace(sample, dtypes=dtypes).map_reduce(task, np.add))
    means = np.concatenate(sums) / weights.sum()
    pairs = zip(metrics, means.T, strict=True)
    scores = np.stack([metric.as_loss(mean) for metric, mean in pairs], axis=1)
    return scores[0], scores[1:].reshape(*seeds.shape, -1)


def _read_partition(with_moments: bool, sample: Sample) -> list[_Partition]:
    """A partition, in a list: lists of partitions are joined."""
    moments = None
    if with_moments:
        targets = sample.y.astype(np.float64).reshape(len(sample.y), -1)
        moments = Moments.of_rows(targets, sample.weights)
    return [_Partition(sample.partition, sample.weights, moments)]


def _columns_of_partition(columns: Sequence[int], sample: Sample) -> Rows:
    return sample.rows.keep_columns(columns)


def _join_rows(first: Rows, second: Rows) -> Rows:
    return first.joined(second)


def _permute_columns(
    sample: PartitionedSample,
    draws: list[_Draw],
    weights: NDArray[np.float64],
    draw_donors: Callable[..., NDArray[np.intp]],
) -> tuple[list[_PermutedColumns], dict[int, Any]]:
    """The permuted columns of each draw, and the dtype of each column."""
    used = sorted({j for columns, _ in draws for j in columns})
    task = partial(_columns_of_partition, used)
    rows = sample.map_reduce(task, _join_rows, used)
    vectors = {j: rows.column(i) for i, j in enumerate(used)}
    permuted, rng = [], np.random.RandomState(0)
    for columns, seed in draws:
        rng.seed(seed)
        donors = draw_donors(weights, rng) if columns else np.arange(0)
        vectors_of_draw = [gather(vectors[j], donors) for j in columns]
        permuted.append(_PermutedColumns(columns, vectors_of_draw))
    return permuted, {j: rows.dtype(i) for i, j in enumerate(used)}


class _PartitionLosses(NamedTuple):
    """The losses of a model, to be summed over the rows of a partition."""

    estimator: BaseEstimator
    metrics: list[Metric]
    r2_shares: NDArray[np.float64] | None  # of all partitions; None without R squared
    starts: dict[int, int]  # position of each partition's first row, by its number

    def sums(
        self, permuted: list[_PermutedColumns], sample: Sample
    ) -> NDArray[np.float64]:
        """Sums of a partition's losses, with permuted values: (n_draws, n_metrics)."""
        n_rows, start = sample.rows.n_rows, self.starts[sample.partition]
        tiles, own_row = sample.rows.tiles(0, n_rows, 1), np.arange(n_rows)[:, None]
        by_response = losses_by_response(
            self.metrics, self.estimator, sample, self.r2_shares
        )
        sums = np.empty((len(permuted), len(self.metrics)))
        for draw, (columns, vectors) in enumerate(permuted):
            sources = [vector[start : start + n_rows] for vector in vectors]
            X = tiles.replace(columns, sources, [own_row] * len(columns))
            for response, members in by_response:
                metric_positions, losses = zip(*members, strict=True)
                sums[draw, list(metric_positions)] = sums_of_losses(
                    losses, sample.weights, response(X)
                )
        return sums
