"""Scores of a model on rows whose columns take values of other rows."""

from itertools import chain, pairwise

import numpy as np
from joblib import effective_n_jobs

from sklearn_interpret._core.statistics.permutations import (
    exchanged_halves,
    random_donors,
)
from sklearn_interpret._model.parallel import batch_rows, run
from sklearn_interpret._model.perturbation.cached_model import RememberingModel
from sklearn_interpret._model.perturbation.repeated_scores import RepeatedScore
from sklearn_interpret._model.rows.base import copy_of, same_content
from sklearn_interpret._model.rows.containers import as_rows

# Tables of few rows go to the model together; with more, that is no quicker.
_ROWS_TOGETHER = 2**12

DRAWS = {"permutation": random_donors, "split": exchanged_halves}


class PermutedScores:
    """A model's scores on the rows of a sample, and on permuted copies of them.

    Parameters
    ----------
    estimator : fitted predictor
        The model, asked through its own methods with the user's own containers.
    sample : Sample
        Rows, targets and weights.
    metrics : list of Metric
        The scores. All that look at the same method of the model share its answer.

    Attributes
    ----------
    baseline : ndarray of shape (n_metrics,)
        Scores on the rows as they are.
    """

    def __init__(self, estimator, sample, metrics):
        self._estimator = estimator
        self._rows, self._weights = sample.rows, sample.weights
        equal = (sample.weights == sample.weights[0]).all()
        weights = None if equal else sample.weights
        self._scores = [RepeatedScore(metric, sample.y, weights) for metric in metrics]
        self.baseline = self._watched_baseline()

    def _watched_baseline(self):
        """Scores of the rows; looks whether the model writes to what it is given."""
        sent = copy_of(self._rows.native)
        model = RememberingModel(self._estimator, changes_input=False)
        model.look_at(sent, [sent])
        found = np.array([score.of_own_rows(model, sent) for score in self._scores])
        self._changes_input = not same_content(self._rows.native, sent)
        return found

    def permuted(self, tasks, n_repeats, *, n_jobs=None, verbose=0, on_block=None):
        """Scores with players permuted.

        Parameters
        ----------
        tasks : list of tuple
            For each player its columns, how donors are drawn (a key of `DRAWS`), a seed
            for each repeat, and the rows' strata or None.
        n_repeats : int
            Draws of donors for each.
        n_jobs : int or None, default=None
            Workers.
        verbose : int, default=0
            Passed to joblib.
        on_block : callable, optional
            Called with no arguments after each block of work.

        Returns
        -------
        ndarray of shape (n_players, n_repeats, n_metrics)
        """
        at_once = min(_ROWS_TOGETHER, batch_rows(self._rows.row_bytes)) // self.n_rows
        at_once = max(1, min(n_repeats, at_once))
        blocks = [
            (columns, draw, seeds[start : start + at_once], strata)
            for columns, draw, seeds, strata in tasks
            for start in range(0, n_repeats, at_once)
        ]
        workers = effective_n_jobs(n_jobs)
        if workers <= 1:
            answered = self.of_blocks(blocks)
        else:
            edges = np.linspace(0, len(blocks), min(len(blocks), 4 * workers) + 1)
            groups = [(self, blocks[a:b]) for a, b in pairwise(edges.astype(int))]
            answered = chain.from_iterable(
                run(_scores_of_blocks, groups, n_jobs=n_jobs, verbose=verbose)
            )
        found = []
        for scores in answered:
            found.append(scores)
            if on_block is not None:
                on_block()
        return np.concatenate(found).reshape(len(tasks), n_repeats, -1)

    @property
    def n_rows(self):
        """Number of rows."""
        return self._rows.n_rows

    def of_blocks(self, blocks):
        """Scores of a player for some repeats, block by block: (n_repeats, n_metrics).

        The work copy of the rows serves all blocks of as many repeats.
        """
        tiles, standing = None, 0
        rng = np.random.RandomState(0)  # which takes longer to make than to seed
        for columns, draw, seeds, strata in blocks:
            if len(seeds) != standing:
                standing = len(seeds)
                tiles = self._rows.tiles(0, self.n_rows, standing)
            donors = np.empty((self.n_rows, standing), dtype=np.intp)
            for repeat, seed in enumerate(seeds):
                rng.seed(seed)
                donors[:, repeat] = DRAWS[draw](self._weights, rng, strata)
            whole = tiles.replaced(
                columns,
                [self._rows.column(j) for j in columns],
                [donors] * len(columns),
            )
            yield self._scores_of(whole, _apart(whole, standing))

    def _scores_of(self, whole, parts):
        model = RememberingModel(self._estimator, self._changes_input)
        model.look_at(whole, parts)
        return np.array([[score(model, X) for score in self._scores] for X in parts])


def _scores_of_blocks(scores, blocks):
    return list(scores.of_blocks(blocks))


def _apart(whole, n_parts):
    """Tables whose rows stand in `whole` in turn."""
    if n_parts == 1:
        return [whole]
    if isinstance(whole, np.ndarray):
        return [whole[part::n_parts] for part in range(n_parts)]
    tiled, index = as_rows(whole), np.arange(0, whole.shape[0], n_parts)
    return [tiled.take(index + part).native for part in range(n_parts)]
