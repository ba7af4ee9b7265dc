"""Scores of a model on rows whose columns take values of other, or similar, rows."""

from dataclasses import replace
from functools import partial, reduce, wraps
from itertools import pairwise
from operator import add

import numpy as np
from joblib import effective_n_jobs
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
from sklearn_interpret._model.responses.response import check_length
from sklearn_interpret._model.rows.arrays import as_rows
from sklearn_interpret._model.rows.base import copy_of, gather, same_content

# Rows of permuted copies that go to the model together: for small tables.
_ROWS_TOGETHER = 2**12

_DRAWS = {"permutation": random_donors, "split": swapped_halves}

# Kinds of dtypes that are numbers.
_NUMBERS = "biuf"

# Largest relative difference between a scorer and its formula that is rounding.
_ROUNDING = 1e-10

# Fewer rows are a poor sample of a distribution, more are less similar.
LEAST_ROWS = 10

# Only the largest categories are predicted, one by one.
_MOST_LEVELS = 32

# Less than this share of the variance at the root is rounding.
_CONSTANT = 1e-12


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

    def __init__(self, estimator, sample, metrics, method):
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

    def scores(self, players, seeds, strata, n_jobs):
        """Scores with each player permuted: (n_players, n_repeats, n_metrics).

        `players` are tuples of columns, `seeds` (n_players, n_repeats) seed the
        permutations, and `strata` has for each player the groups of rows within which
        values are permuted, None for one.
        """
        n_repeats = seeds.shape[1]
        n_copies = min(_ROWS_TOGETHER, batch_rows(self._rows.row_bytes))
        n_copies = max(1, n_copies // self._rows.n_rows)
        blocks = [
            (columns, of_player[start : start + n_copies], stratum)
            for columns, of_player, stratum in zip(players, seeds, strata, strict=True)
            for start in range(0, n_repeats, n_copies)
        ]
        workers = effective_n_jobs(n_jobs)
        n_groups = min(len(blocks), 4 * workers) if workers > 1 else 1
        edges = np.linspace(0, len(blocks), n_groups + 1).astype(int)
        groups = [(self, blocks[start:stop]) for start, stop in pairwise(edges)]
        found = stream(_scores_of_blocks, groups, len(blocks), n_jobs=n_jobs)
        return np.concatenate(list(found)).reshape(*seeds.shape, -1)

    def of_blocks(self, blocks):
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
            whole = tiles[n_copies].replaced(columns, levels, [donors] * len(columns))
            parts = _interleaved(whole, n_copies)
            model = _CachedModel(
                self._estimator, whole, parts, changes_input=self._changes_input
            )
            of_parts = [[score(model, X) for score in self._metrics] for X in parts]
            yield np.array(of_parts)


def check_several_rows(n_rows):
    """Refuse a single row, which has none to exchange values with."""
    if n_rows < 2:
        raise ValueError(
            "Values are permuted among rows, and X has n_samples = 1 of positive "
            "weight."
        )


def scores_in_partitions(estimator, sample, players, metrics, method, seeds):
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
    parts = sample.map_reduce(partial(_weights_of_partition, with_r2), add, [0])
    numbers, weights, moments = zip(*parts, strict=True)
    starts = np.cumsum([0, *map(len, weights)])[:-1]
    weights = np.concatenate(weights)
    check_several_rows(len(weights))
    shares = r2_shares(reduce(Moments.merge, moments).variance) if with_r2 else None
    given = estimator, metrics, shares, dict(zip(numbers, starts, strict=True))
    # The rows as they are come first: no column is permuted.
    draws = [((), 0)]
    for columns, of_player in zip(players, seeds, strict=True):
        draws += [(columns, seed) for seed in of_player]
    widest = max(sample.rows.keep_columns(columns).row_bytes for columns in players)
    step = max(2, int(working_bytes() / 2 // (len(weights) * widest)))
    parts = [draws[part] for part in slices(len(draws), step)]
    sums = [_sums_of_draws(sample, own, weights, method, given) for own in parts]
    means = np.concatenate(sums) / weights.sum()
    pairs = zip(metrics, means.T, strict=True)
    scores = np.stack([metric.as_loss(own) for metric, own in pairs], axis=1)
    return scores[0], scores[1:].reshape(*seeds.shape, -1)


def _sums_of_draws(sample, draws, weights, method, given):
    """Sums of losses with permuted values, (n_draws, n_metrics), by two passes."""
    permuted, dtypes = _permuted(sample, draws, weights, _DRAWS[method])
    task = partial(_losses_of_partition, *given, permuted)
    return replace(sample, dtypes=dtypes).map_reduce(task, np.add)


def _weights_of_partition(with_moments, sample):
    """Number and weights of a partition, and moments of its targets if asked for."""
    moments = None
    if with_moments:
        targets = sample.y.astype(np.float64).reshape(len(sample.y), -1)
        moments = Moments.of_rows(targets, sample.weights)
    return [(sample.partition, sample.weights, moments)]


def _columns_of_partition(columns, sample):
    return sample.rows.keep_columns(columns)


def _joined(first, second):
    return first.joined(second)


def _permuted(sample, draws, weights, draw_donors):
    """Columns of each draw with vectors of their permuted values; and their dtypes."""
    columns = sorted({j for own, _ in draws for j in own})
    task = partial(_columns_of_partition, columns)
    rows = sample.map_reduce(task, _joined, columns)
    vectors = {j: rows.column(place) for place, j in enumerate(columns)}
    permuted, rng = [], np.random.RandomState(0)
    for own, seed in draws:
        rng.seed(seed)
        donors = draw_donors(weights, rng) if own else None
        permuted.append((own, [gather(vectors[j], donors) for j in own]))
    return permuted, {j: rows.dtype(place) for place, j in enumerate(columns)}


def _losses_of_partition(estimator, metrics, shares, starts, permuted, sample):
    """Sums of losses of a partition, with permuted values: (n_draws, n_metrics)."""
    n_rows, start = sample.rows.n_rows, starts[sample.partition]
    tiles, places = sample.rows.tiles(0, n_rows, 1), np.arange(n_rows)[:, None]
    by_response = [
        (response, *zip(*members, strict=True))
        for response, members in losses_by_response(metrics, estimator, sample, shares)
    ]
    sums = np.empty((len(permuted), len(metrics)))
    for own_sums, (columns, vectors) in zip(sums, permuted, strict=True):
        values = [vector[start : start + n_rows] for vector in vectors]
        X = tiles.replaced(columns, values, [places] * len(columns))
        for response, which, losses in by_response:
            own_sums[list(which)] = sums_of_losses(losses, sample.weights, response(X))
    return sums


def _scores_of_blocks(scores, blocks):
    return scores.of_blocks(blocks)


def _interleaved(whole, n_parts):
    """The tables of which `whole` holds a row each in turn."""
    if n_parts == 1:
        return [whole]
    if isinstance(whole, np.ndarray):
        return [whole[part::n_parts] for part in range(n_parts)]
    rows, index = as_rows(whole), np.arange(0, whole.shape[0], n_parts)
    return [rows.take(index + part).native for part in range(n_parts)]


class RepeatedScore:
    """A score, or a loss, on one table after another with the same targets.

    Scikit-learn's metrics check the targets at each call, which takes longer than the
    predictions of small models. Where the plain formula of a score gives the scorer's
    number for the rows as they are, it is used instead.
    """

    def __init__(self, metric, y, weights):
        self._metric, self._y, self._weights = metric, y, weights
        self._targets, self._scale = None, 1.0
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

    def baseline(self, model, X):
        """The number for the rows as they are; to be called first."""
        number = self._metric(model, X, self._y, self._weights)
        found = self._by_formula(model, X)
        if found is not None and np.isclose(found, number, rtol=_ROUNDING, atol=0):
            return found
        self._targets = None
        return number

    def __call__(self, model, X):
        """The number for other rows."""
        found = self._by_formula(model, X)
        if found is not None:
            return found
        return self._metric(model, X, self._y, self._weights)

    def _by_formula(self, model, X):
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


def _are_numbers(values):
    return values.dtype.kind in _NUMBERS


class _CachedModel:
    """A fitted model that predicts once for several tables, and for all scorers.

    It has the model's attributes and kind. The tables lie in `whole`, row by row in
    turn; the first prediction for any of them lets the model predict for all of them.
    """

    def __init__(self, estimator, whole, parts, *, changes_input):
        self._estimator = estimator
        self._whole, self._parts = whole, parts
        self._changes_input = changes_input
        self._cache = {}

    def __getattr__(self, name):
        attribute = getattr(self._estimator, name)
        if name not in (*RESPONSE_METHODS, "score"):
            return attribute

        @wraps(attribute)
        def call(X, *args, **kwargs):
            plain = name != "score" and not (args or kwargs)
            for place, part in enumerate(self._parts):
                if plain and X is part:
                    if name not in self._cache:
                        found = attribute(self._own(self._whole))
                        check_length(self._estimator, found, self._whole.shape[0])
                        self._cache[name] = found
                    return self._of_part(self._cache[name], place)
            return attribute(self._own(X), *args, **kwargs)

        return call

    @property  # type: ignore[misc]
    def __class__(self):
        """The model's: checks of its kind see that."""
        return type(self._estimator)

    def _own(self, X):
        """A copy of `X` where the model may write to it."""
        return copy_of(X) if self._changes_input else X

    def _of_part(self, predictions, place):
        if isinstance(predictions, list):
            if np.ndim(predictions[0]) == 2:  # one array for each output
                return [self._of_part(one, place) for one in predictions]
            predictions = np.asarray(predictions)
        return predictions[place :: len(self._parts)]


def similar_rows(rows, columns, weights, random_state=0):
    """Number of each row's group, within which columns say little about the others.

    Groups are leaves of a regression tree that predicts the columns from all others,
    with at least ten rows. Branches that chance would grow too are cut, so that for
    columns which do not depend on the others all rows are nearly always one group.
    """
    others = [j for j in range(rows.n_columns) if j not in columns]
    one_group = np.zeros(rows.n_rows, dtype=np.intp)
    if not others or rows.n_rows < 2 * LEAST_ROWS:
        return one_group
    targets = np.hstack([_targets(rows, j, weights) for j in columns])
    if not targets.shape[1]:
        return one_group
    features = np.column_stack([_ordinal(rows, j) for j in others])
    tree = DecisionTreeRegressor(
        min_samples_leaf=LEAST_ROWS, random_state=random_state
    ).fit(features, targets, sample_weight=weights)
    leaf = _pruned_leaves(tree.tree_, len(others))[tree.apply(features)]
    return np.unique(leaf, return_inverse=True)[1].reshape(-1)


def _is_numeric(rows, j):
    return rows.column_array(j).dtype.kind in "iuf" and not rows.is_categorical(j)


def _ordinal(rows, j):
    """A column as ranks of its values or categories, NaN where a number is missing."""
    if not _is_numeric(rows, j):
        return rows.encode([j])[0].astype(np.float64)
    values = rows.column_array(j).astype(np.float64)
    ranks = np.unique(values, return_inverse=True)[1]
    return np.where(np.isnan(values), np.nan, ranks.reshape(-1))


def _targets(rows, j, weights):
    """A column as what the tree predicts: (n_rows, n_targets) of weighted mean zero.

    Numbers are their ranks, and whether they are missing, each of variance one;
    categories are indicators, together of variance one.
    """
    if _is_numeric(rows, j):
        ranks = _ordinal(rows, j)
        missing = np.isnan(ranks)
        mean = 0.0
        if not missing.all():
            mean = np.average(ranks[~missing], weights=weights[~missing])
        parts = [np.where(missing, mean, ranks)[:, None], 1.0 * missing[:, None]]
    else:
        codes = rows.encode([j])[0]
        largest = np.argsort(-np.bincount(codes, weights), kind="stable")
        parts = [1.0 * (codes[:, None] == largest[:_MOST_LEVELS])]
    return np.hstack([_standardised(part, weights) for part in parts])


def _standardised(part, weights):
    """Columns centred, and scaled to total variance one; none if they are constant."""
    part = part - np.average(part, axis=0, weights=weights)
    scale = np.sqrt(np.average(part**2, axis=0, weights=weights).sum())
    return part / scale if scale > 0 else part[:, :0]


def _pruned_leaves(tree, n_features):
    """For each node of a regression tree, the leaf that holds it after pruning.

    A branch is kept if it reduces the logarithm of the variance within its rows by more
    than the best of all splits of noise would: each of its splits counts as a choice
    among `n_features` times the number of rows thresholds.
    """
    left, right, n_rows = tree.children_left, tree.children_right, tree.n_node_samples
    within = np.maximum(tree.impurity, tree.impurity[0] * _CONSTANT) * n_rows
    n_splits = np.zeros(tree.node_count)
    # Children come after their parents: bottom up, then top down.
    for node in np.flatnonzero(left >= 0)[::-1]:
        children = [left[node], right[node]]
        splits, rest = n_splits[children].sum() + 1, within[children].sum()
        gain = n_rows[node] * np.log(within[node] / rest) if rest > 0 else 0.0
        if gain > 2 * splits * np.log(n_rows[node] * n_features):
            n_splits[node], within[node] = splits, rest
    leaf = np.arange(tree.node_count)
    for node in np.flatnonzero(left >= 0):
        if not n_splits[node] or leaf[node] != node:
            leaf[[left[node], right[node]]] = leaf[node]
    return leaf
