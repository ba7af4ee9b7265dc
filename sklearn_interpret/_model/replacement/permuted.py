"""Scores of a model on rows whose columns take values of other, or similar, rows.

`PermutedScores` scores rows in memory, `scores_in_partitions` rows in partitions.
`similar_rows` finds the groups of rows within which values are permuted for conditional
importance: leaves of a tree (Molnar et al. 2023).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial, reduce, wraps
from itertools import pairwise
from operator import add
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeRegressor

from sklearn_interpret._core.statistics.permutations import (
    random_donors,
    swapped_halves,
)
from sklearn_interpret._core.statistics.weighted import Moments
from sklearn_interpret._model.parallel import batch_rows, slices, stream, working_bytes
from sklearn_interpret._model.replacement.all_pairs import (
    losses_by_response,
    r2_shares,
    sums_of_losses,
)
from sklearn_interpret._model.responses.predictors import RESPONSE_METHODS
from sklearn_interpret._model.responses.response import check_length, is_list_of_outputs
from sklearn_interpret._model.rows.arrays import as_rows
from sklearn_interpret._model.rows.base import copy_of, gather, same_content

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from sklearn_interpret._model.responses.scoring import Metric
    from sklearn_interpret._model.rows.base import Rows
    from sklearn_interpret._model.rows.partitioned import PartitionedSample
    from sklearn_interpret._model.rows.sample import Sample


# Rows of permuted copies that go to the model together: in small tables the cost of a
# call exceeds that of its rows.
_ROWS_TOGETHER = 2**12

_DRAWS = {"permutation": random_donors, "split": swapped_halves}

# Kinds of dtypes that are numbers.
_NUMBERS = "biuf"

# Largest relative difference between a scorer and its formula that is rounding: both
# compute in double precision, in another order.
_ROUNDING = 1e-10

# Fewer rows are a poor sample of a distribution, more are less similar.
LEAST_ROWS = 10

# Only the largest categories are predicted, one by one: each is a target of the tree.
_MOST_LEVELS = 32

# Less than this share of the variance at the root is rounding.
_CONSTANT = 1e-12


class _Block(NamedTuple):
    """Copies of the rows in which some columns are permuted together."""

    columns: Sequence[int]
    seeds: NDArray[np.integer]  # of the permutations, one for each copy
    strata: NDArray[np.intp] | None  # groups of rows, (n_rows,); None for one


class _Draw(NamedTuple):
    """A permutation of some columns."""

    columns: Sequence[int]
    seed: int


class _PermutedColumns(NamedTuple):
    """Columns with their permuted values, of the rows of all partitions."""

    columns: Sequence[int]
    vectors: list[Any]  # a native one for each column


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
        self._estimator, self._draw_donors = estimator, _DRAWS[method]
        self._rows, self._weights = sample.rows, sample.weights
        equal = (sample.weights == sample.weights[0]).all()
        weights = None if equal else sample.weights
        self._metrics = [RepeatedScore(metric, sample.y, weights) for metric in metrics]
        # A model may write to its input: it gets copies from then on.
        sent = copy_of(self._rows.native)
        model = _CachedModel(estimator, sent, [sent], changes_input=False)
        baseline = [score.baseline(model, sent) for score in self._metrics]
        self.baseline = np.array(baseline)
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
        n_repeats = seeds.shape[1]
        n_copies = min(_ROWS_TOGETHER, batch_rows(self._rows.row_bytes))
        n_copies = max(1, n_copies // self._rows.n_rows)
        blocks = [
            _Block(columns, player_seeds[start : start + n_copies], player_strata)
            for columns, player_seeds, player_strata in zip(
                players, seeds, strata, strict=True
            )
            for start in range(0, n_repeats, n_copies)
        ]
        workers = effective_n_jobs(n_jobs)
        n_groups = min(len(blocks), 4 * workers) if workers > 1 else 1
        edges = np.linspace(0, len(blocks), n_groups + 1).astype(int)
        groups = [(self, blocks[start:stop]) for start, stop in pairwise(edges)]
        score = PermutedScores.scores_of_blocks
        scores = stream(score, groups, len(blocks), n_jobs=n_jobs)
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
            levels = [self._rows.column(j) for j in columns]
            table = tiles[n_copies].replace(columns, levels, [donors] * len(columns))
            copies = _split_copies(table, n_copies)
            model = _CachedModel(
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
    partitions = sample.map_reduce(partial(_weights_of_partition, with_r2), add, [0])
    numbers, partition_weights, moments = zip(*partitions, strict=True)
    starts = np.cumsum([0, *map(len, partition_weights)])[:-1]
    weights = np.concatenate(partition_weights)
    check_several_rows(len(weights))
    shares = r2_shares(reduce(Moments.merge, moments).variance) if with_r2 else None
    starts_by_number = dict(zip(numbers, starts.tolist(), strict=True))
    losses = partial(_losses_of_partition, estimator, metrics, shares, starts_by_number)
    # The rows as they are come first: no column is permuted.
    draws = [_Draw((), 0)]
    for columns, player_seeds in zip(players, seeds, strict=True):
        draws += [_Draw(columns, seed) for seed in player_seeds]
    widest = max(sample.rows.keep_columns(columns).row_bytes for columns in players)
    # Half of the memory for the permuted columns of all rows, draw by draw.
    step = max(2, int(working_bytes() / 2 // (len(weights) * widest)))
    sums = [
        _sums_of_draws(sample, draws[batch], weights, method, losses)
        for batch in slices(len(draws), step)
    ]
    means = np.concatenate(sums) / weights.sum()
    pairs = zip(metrics, means.T, strict=True)
    scores = np.stack([metric.as_loss(mean) for metric, mean in pairs], axis=1)
    return scores[0], scores[1:].reshape(*seeds.shape, -1)


def _sums_of_draws(
    sample: PartitionedSample,
    draws: list[_Draw],
    weights: NDArray[np.float64],
    method: str,
    losses: Callable[..., NDArray[np.float64]],
) -> NDArray[np.float64]:
    """Sums of losses with permuted values, (n_draws, n_metrics), by two passes."""
    permuted, dtypes = _permute_columns(sample, draws, weights, _DRAWS[method])
    return replace(sample, dtypes=dtypes).map_reduce(partial(losses, permuted), np.add)


def _weights_of_partition(
    with_moments: bool, sample: Sample
) -> list[tuple[int, NDArray[np.float64], Moments | None]]:
    """Number and weights of a partition, and moments of its targets if asked for."""
    moments = None
    if with_moments:
        targets = sample.y.astype(np.float64).reshape(len(sample.y), -1)
        moments = Moments.of_rows(targets, sample.weights)
    return [(sample.partition, sample.weights, moments)]


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
        values = [gather(vectors[j], donors) for j in columns]
        permuted.append(_PermutedColumns(columns, values))
    return permuted, {j: rows.dtype(i) for i, j in enumerate(used)}


def _losses_of_partition(
    estimator: BaseEstimator,
    metrics: list[Metric],
    shares: NDArray[np.float64] | None,
    starts: dict[int, int],
    permuted: list[_PermutedColumns],
    sample: Sample,
) -> NDArray[np.float64]:
    """Sums of losses of a partition, with permuted values: (n_draws, n_metrics)."""
    n_rows, start = sample.rows.n_rows, starts[sample.partition]
    tiles, codes = sample.rows.tiles(0, n_rows, 1), np.arange(n_rows)[:, None]
    by_response = losses_by_response(metrics, estimator, sample, shares)
    sums = np.empty((len(permuted), len(metrics)))
    for draw_sums, (columns, vectors) in zip(sums, permuted, strict=True):
        values = [vector[start : start + n_rows] for vector in vectors]
        X = tiles.replace(columns, values, [codes] * len(columns))
        for response, members in by_response:
            positions, losses = zip(*members, strict=True)
            draw_sums[list(positions)] = sums_of_losses(
                losses, sample.weights, response(X)
            )
    return sums


def _split_copies(table: Any, n_copies: int) -> list[Any]:
    """The tables whose rows alternate in a table."""
    if n_copies == 1:
        return [table]
    if isinstance(table, np.ndarray):
        return [table[start::n_copies] for start in range(n_copies)]
    rows, index = as_rows(table), np.arange(0, table.shape[0], n_copies)
    return [rows.take(index + start).native for start in range(n_copies)]


class RepeatedScore:
    """A score, or a loss, on one table after another with the same targets.

    Scikit-learn's metrics check the targets at each call, which takes longer than the
    predictions of small models. Where the plain formula of a score gives the scorer's
    number for the rows as they are, it is used instead.
    """

    def __init__(
        self, metric: Metric, y: NDArray[Any], weights: NDArray[np.float64] | None
    ) -> None:
        self._metric, self._y, self._weights = metric, y, weights
        self._targets: NDArray[Any] | None = None
        self._scale = 1.0
        if not isinstance(y, np.ndarray) or y.ndim != 1:
            return
        if metric.row_loss == "zero_one":
            self._targets = y
        elif metric.row_loss in ("squared", "absolute", "r2") and _are_numbers(y):
            self._targets = y.astype(np.float64)
        if metric.row_loss == "r2" and self._targets is not None:
            centred = self._targets - np.average(self._targets, weights=weights)
            self._scale = np.average(centred**2, weights=weights)
            if not self._scale > 0:
                self._targets = None

    def baseline(self, model: BaseEstimator, X: Any) -> float:
        """The number for the rows as they are; to be called first."""
        number = self._metric(model, X, self._y, self._weights)
        computed = self._score_by_formula(model, X)
        if computed is not None and np.isclose(
            computed, number, rtol=_ROUNDING, atol=0
        ):
            return computed
        self._targets = None
        return number

    def __call__(self, model: BaseEstimator, X: Any) -> float:
        """The number for other rows."""
        number = self._score_by_formula(model, X)
        if number is not None:
            return number
        return self._metric(model, X, self._y, self._weights)

    def _score_by_formula(self, model: BaseEstimator, X: Any) -> float | None:
        """The number by its formula; None where there is none, or it is not finite."""
        if self._targets is None:
            return None
        predictions, y = model.predict(X), self._targets
        if getattr(predictions, "shape", None) != y.shape:
            return None
        if _are_numbers(predictions) != _are_numbers(y):
            return None
        if self._metric.row_loss == "zero_one":
            losses = predictions != y
        elif self._metric.row_loss == "absolute":
            losses = np.abs(predictions - y)
        else:
            losses = np.square(predictions - y)
        loss = np.average(losses, weights=self._weights) / self._scale
        return float(self._metric.as_loss(loss)) if np.isfinite(loss) else None


def _are_numbers(values: NDArray[Any]) -> bool:
    return values.dtype.kind in _NUMBERS


class _CachedModel:
    """A fitted model that predicts once for several tables, and for all scorers.

    It has the model's attributes and kind. The rows of the `copies` alternate in
    `table`; the first prediction for any of them lets the model predict for all.
    """

    def __init__(
        self,
        estimator: BaseEstimator,
        table: Any,
        copies: list[Any],
        *,
        changes_input: bool,
    ) -> None:
        self._estimator = estimator
        self._table, self._copies = table, copies
        self._changes_input = changes_input
        self._cache: dict[str, Any] = {}

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(self._estimator, name)
        if name not in (*RESPONSE_METHODS, "score"):
            return attribute

        @wraps(attribute)
        def call(X: Any, *args: Any, **kwargs: Any) -> Any:
            plain = name != "score" and not (args or kwargs)
            for start, copied in enumerate(self._copies):
                if plain and X is copied:
                    if name not in self._cache:
                        returned = attribute(self._input_or_copy(self._table))
                        check_length(self._estimator, returned, self._table.shape[0])
                        self._cache[name] = returned
                    return self._predictions_of_copy(self._cache[name], start)
            return attribute(self._input_or_copy(X), *args, **kwargs)

        return call

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        """The class of the model, so that checks of its kind accept this object."""
        return type(self._estimator)

    def _input_or_copy(self, X: Any) -> Any:
        """A copy of `X` where the model may write to it."""
        return copy_of(X) if self._changes_input else X

    def _predictions_of_copy(self, predictions: Any, start: int) -> Any:
        """Predictions for the copy whose first row is the table's row `start`."""
        if is_list_of_outputs(predictions):
            return [self._predictions_of_copy(output, start) for output in predictions]
        if isinstance(predictions, list):
            predictions = np.asarray(predictions)
        return predictions[start :: len(self._copies)]


def similar_rows(
    rows: Rows,
    columns: Sequence[int],
    weights: NDArray[np.float64],
    random_state: int = 0,
) -> NDArray[np.intp]:
    """Number of each row's group, within which `columns` hardly depend on the others.

    Groups are leaves of a regression tree that predicts the columns from all others,
    with at least ten rows. Branches that chance would grow too are cut, so that for
    columns which do not depend on the others all rows are nearly always one group.
    """
    predictors = [j for j in range(rows.n_columns) if j not in columns]
    one_group = np.zeros(rows.n_rows, dtype=np.intp)
    if not predictors or rows.n_rows < 2 * LEAST_ROWS:
        return one_group
    targets = np.hstack([_as_targets(rows, j, weights) for j in columns])
    if not targets.shape[1]:
        return one_group
    features = np.column_stack([_ranks(rows, j) for j in predictors])
    tree = DecisionTreeRegressor(
        min_samples_leaf=LEAST_ROWS, random_state=random_state
    ).fit(features, targets, sample_weight=weights)
    leaf = _pruned_leaves(tree.tree_, len(predictors))[tree.apply(features)]
    return np.unique(leaf, return_inverse=True)[1].reshape(-1)


def _is_numeric(rows: Rows, j: int) -> bool:
    return rows.column_array(j).dtype.kind in "iuf" and not rows.is_categorical(j)


def _ranks(rows: Rows, j: int) -> NDArray[np.float64]:
    """A column as ranks of its values or categories, NaN where a number is missing."""
    if not _is_numeric(rows, j):
        return rows.encode([j])[0].astype(np.float64)
    values = rows.column_array(j).astype(np.float64)
    ranks = np.unique(values, return_inverse=True)[1]
    return np.where(np.isnan(values), np.nan, ranks.reshape(-1))


def _as_targets(
    rows: Rows, j: int, weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """A column as what the tree predicts: (n_rows, n_targets) of weighted mean zero.

    Numbers are their ranks, and whether they are missing, each of variance one;
    categories are indicators, together of variance one.
    """
    if _is_numeric(rows, j):
        ranks = _ranks(rows, j)
        missing = np.isnan(ranks)
        mean = 0.0
        if not missing.all():
            mean = np.average(ranks[~missing], weights=weights[~missing])
        targets = [np.where(missing, mean, ranks)[:, None], 1.0 * missing[:, None]]
    else:
        codes = rows.encode([j])[0]
        largest = np.argsort(-np.bincount(codes, weights), kind="stable")
        targets = [1.0 * (codes[:, None] == largest[:_MOST_LEVELS])]
    return np.hstack([_standardise(target, weights) for target in targets])


def _standardise(
    targets: NDArray[np.float64], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Columns centred and scaled to total variance one; no columns if constant."""
    centred = targets - np.average(targets, axis=0, weights=weights)
    scale = np.sqrt(np.average(centred**2, axis=0, weights=weights).sum())
    return centred / scale if scale > 0 else centred[:, :0]


def _pruned_leaves(tree: Any, n_features: int) -> NDArray[np.intp]:
    """For each node of a regression tree, the leaf that holds it after pruning.

    A branch is kept if it reduces the logarithm of the variance within its rows by more
    than the best of all splits of noise would: each of its splits counts as a choice
    among `n_features` times the number of rows thresholds.
    """
    n_rows = tree.n_node_samples
    children = np.stack([tree.children_left, tree.children_right], axis=1)
    # Sums of squares around the means of the leaves below each node, after pruning.
    squares = np.maximum(tree.impurity, tree.impurity[0] * _CONSTANT) * n_rows
    n_splits = np.zeros(tree.node_count)
    inner_nodes = np.flatnonzero(tree.children_left >= 0)
    # Children come after their parents: bottom up, then top down.
    for node in inner_nodes[::-1]:
        splits = n_splits[children[node]].sum() + 1
        squares_of_leaves = squares[children[node]].sum()
        gain = 0.0
        if squares_of_leaves > 0:
            gain = n_rows[node] * np.log(squares[node] / squares_of_leaves)
        if gain > 2 * splits * np.log(n_rows[node] * n_features):
            n_splits[node], squares[node] = splits, squares_of_leaves
    leaf = np.arange(tree.node_count)
    for node in inner_nodes:
        if not n_splits[node] or leaf[node] != node:
            leaf[children[node]] = leaf[node]
    return leaf
