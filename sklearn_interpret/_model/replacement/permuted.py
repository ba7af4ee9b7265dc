"""Scores of a model on rows whose columns take values of other, or similar, rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray

from sklearn_interpret._core.statistics.permutations import (
    random_donors,
    swapped_halves,
)
from sklearn_interpret._model.parallel import batch_rows, stream
from sklearn_interpret._model.replacement.repeated_scores import (
    CachedModel,
    RepeatedScore,
    split_copies,
)
from sklearn_interpret._model.row_limit import SLOW_CALL, announce_rows, rows_sent
from sklearn_interpret._model.rows.base import copy_of, same_content

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from sklearn_interpret._model.responses.scoring import Metric
    from sklearn_interpret._model.rows.sample import Sample


# Rows of permuted copies that go to the model together: in small tables the cost of a
# call exceeds that of its rows.
_ROWS_TOGETHER = 2**12

# Ways to draw, for each row, the row whose values it takes.
DRAW_DONORS = {"permutation": random_donors, "split": swapped_halves}


class _Block(NamedTuple):
    """Copies of the rows in which some columns are permuted together."""

    columns: Sequence[int]
    seeds: NDArray[np.integer]  # of the permutations, one for each copy
    strata: NDArray[np.intp] | None  # groups of rows, (n_rows,); None for one


class PermutedScores:
    """A model's scores on the rows of a sample, and on permuted copies of them.

    Parameters
    ----------
    estimator : fitted predictor
        The model. Scorers see it with the user's own containers.
    sample : Sample
        Rows, targets and weights.
    metrics : list of Metric
        The scores. Those of the same method of the model share its predictions.
    method : {"permutation", "split"}
        How values are permuted.

    Attributes
    ----------
    baseline : ndarray of shape (n_metrics,)
        Scores on the rows as they are.
    """

    def __init__(
        self,
        estimator: BaseEstimator,
        sample: Sample,
        metrics: list[Metric],
        method: str,
    ) -> None:
        self._estimator, self._draw_donors = estimator, DRAW_DONORS[method]
        self._rows, self._weights = sample.rows, sample.weights
        equal = (sample.weights == sample.weights[0]).all()
        weights = None if equal else sample.weights
        self._metrics = [RepeatedScore(metric, sample.y, weights) for metric in metrics]
        # A model may write to its input: it gets copies from then on.
        sent = copy_of(self._rows.native)
        model = CachedModel(estimator, sent, [sent], changes_input=False)
        start, n_before = perf_counter(), rows_sent()
        baseline = [score.baseline(model, sent) for score in self._metrics]
        self.baseline = np.array(baseline)
        # Of the rows as they are: seconds, and how many the scores send.
        seconds, self._n_sent = perf_counter() - start, rows_sent() - n_before
        self._seconds = seconds if seconds > SLOW_CALL else 0.0
        self._changes_input = not same_content(self._rows.native, sent)

    def scores(
        self,
        players: Sequence[Sequence[int]],
        seeds: NDArray[np.integer],
        strata: Sequence[NDArray[np.intp] | None],
        n_jobs: int | None,
    ) -> NDArray[np.float64]:
        """Scores with each player permuted: (n_players, n_repeats, n_metrics).

        `players` are tuples of columns, `seeds` (n_players, n_repeats) seed the
        permutations, and `strata` has for each player the groups of rows within which
        values are permuted, None for one.
        """
        n_repeats, n_rows = seeds.shape[1], self._rows.n_rows
        rows_together = min(_ROWS_TOGETHER, batch_rows(self._rows.row_bytes))
        n_copies = max(1, rows_together // n_rows)
        blocks = [
            _Block(columns, player_seeds[start : start + n_copies], player_strata)
            for columns, player_seeds, player_strata in zip(
                players, seeds, strata, strict=True
            )
            for start in range(0, n_repeats, n_copies)
        ]
        workers = effective_n_jobs(n_jobs)
        announce_rows(
            seeds.size * self._n_sent,
            {"rows": n_rows, "features": len(seeds), "repeats": n_repeats},
            "Use fewer rows (subsample), features (feature_groups) or n_repeats",
            # At least: a call has as many rows, or more.
            seconds=lambda: len(blocks) * self._seconds / workers,
        )
        n_groups = min(len(blocks), 4 * workers) if workers > 1 else 1
        edges = np.linspace(0, len(blocks), n_groups + 1).astype(int)
        groups = [(self, blocks[start:stop]) for start, stop in pairwise(edges)]
        task = PermutedScores.scores_of_blocks
        scores = stream(task, groups, len(blocks), n_jobs=n_jobs)
        return np.concatenate(list(scores)).reshape(*seeds.shape, -1)

    def scores_of_blocks(
        self, blocks: Iterable[_Block]
    ) -> Iterator[NDArray[np.float64]]:
        """For each block, scores of a player's repeats: (n_repeats, n_metrics)."""
        tiles = {}
        rng = np.random.RandomState(0)  # seeding it is much faster than making it
        for columns, seeds, strata in blocks:
            n_copies = len(seeds)
            if n_copies not in tiles:
                tiles[n_copies] = self._rows.tiles(0, self._rows.n_rows, n_copies)
            donors = np.empty((self._rows.n_rows, n_copies), dtype=np.intp)
            for repeat, seed in enumerate(seeds):
                rng.seed(seed)
                donors[:, repeat] = self._draw_donors(self._weights, rng, strata)
            sources = [self._rows.column(j) for j in columns]
            table = tiles[n_copies].replace(columns, sources, [donors] * len(columns))
            copies = split_copies(table, n_copies)
            model = CachedModel(
                self._estimator, table, copies, changes_input=self._changes_input
            )
            yield np.array(
                [[score(model, X) for score in self._metrics] for X in copies]
            )


def check_several_rows(n_rows: int) -> None:
    """Refuse a single row, which has no other row to exchange values with."""
    if n_rows < 2:
        raise ValueError(
            "Values are permuted among rows, and X has n_samples = 1 of positive "
            "weight."
        )
