"""Scores of a model over all pairs of rows, one of which lends the other some columns.

The mean over pairs is the limit of the mean over random permutations: the mean over
rows of the mean over each row's partners (Fisher, Rudin and Dominici 2019). A row of
weight w counts as w equal rows, and so as its own partner w - 1 times.

`all_pairs_scores` returns scores over pairs, in closed form where players add up;
`loss_increases` the increase of each row's loss. `losses_by_response` prepares losses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from sklearn_interpret._core.statistics import losses, losses_of_pairs
from sklearn_interpret._core.statistics.permutations import random_donors
from sklearn_interpret._model.formulas.formula import read_formula
from sklearn_interpret._model.formulas.linear import explained_linear
from sklearn_interpret._model.parallel import batch_rows
from sklearn_interpret._model.progress import with_progress
from sklearn_interpret._model.replacement.dependence_at_rows import dependence_at_rows
from sklearn_interpret._model.replacement.mixed_rows import (
    MixedPoints,
    responses_to_mixed,
)
from sklearn_interpret._model.responses.predictors import is_classifier
from sklearn_interpret._model.responses.response import make_response, plain_responses
from sklearn_interpret._model.responses.scoring import (
    ROW_LOSSES,
    LossOfModel,
    class_indicators,
)
from sklearn_interpret._model.row_limit import COSTLY_SECONDS, announce_rows, ask_model
from sklearn_interpret._model.rows.arrays import as_rows
from sklearn_interpret._model.rows.validation import target_numbers

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from sklearn_interpret._model.formulas.linear import LinearModel
    from sklearn_interpret._model.replacement.dependence_at_rows import DependenceAtRows
    from sklearn_interpret._model.replacement.tree_dependence_at_rows import (
        TreeDependenceAtRows,
    )
    from sklearn_interpret._model.responses.response import Response
    from sklearn_interpret._model.responses.scoring import Metric
    from sklearn_interpret._model.rows.base import Rows
    from sklearn_interpret._model.rows.sample import Sample

_METHODS = {"values": "predict", "probabilities": "predict_proba", "labels": "predict"}

# A loss whose relative difference between all rows and their halves is larger is not
# a mean over rows: means differ by rounding, 1e-16 times the square root of the rows.
_RELATIVE_ERROR = 1e-9

# Partners of a row where the trees can't be read. The model predicts a row for each, so
# that five cost as much as permutation importance with five repeats.
_N_DONORS = 5

# Relative differences of losses below this are rounding.
_ROUNDING = 1e-12

# Repeats of permutation importance that the warning offers instead.
_N_REPEATS = 10


@dataclass(frozen=True, eq=False)
class _RowLoss:
    """One of the core's losses, a function of targets (n_rows, k) and predictions."""

    function: Callable[..., NDArray[np.float64]]
    targets: NDArray[np.float64]
    # The function of `losses_of_pairs`, where there is one.
    loss_of_pairs: Callable[..., NDArray[np.float64]] | None = None

    def total(
        self,
        index: NDArray[np.intp],
        predictions: NDArray[np.float64],
        weights: NDArray[np.float64],
        shares: NDArray[Any],
    ) -> float:
        """Sum over rows and points of the losses of predictions (m, n_points, k).

        Rows `index` weigh `weights` (m,), and points `shares` (n_points,), or
        (m, n_points) where they differ by row.
        """
        losses_at_points = self.function(self.targets[index], predictions)
        if shares.ndim == 1:
            return float(weights @ (losses_at_points @ shares))
        return float(weights @ np.einsum("ij,ij->i", losses_at_points, shares))


@dataclass(frozen=True, eq=False)
class _CallableLoss:
    """A loss callable of the user's, a mean over rows, with its targets."""

    loss: LossOfModel
    targets: NDArray[Any]
    loss_of_pairs: None = None

    def total(
        self,
        index: NDArray[np.intp],
        predictions: NDArray[np.float64],
        weights: NDArray[np.float64],
        shares: NDArray[Any],
    ) -> float:
        """The sum that `_RowLoss.total` describes."""
        m, n_points, k = predictions.shape
        weights = (weights[:, None] * shares).ravel()
        targets = np.repeat(self.targets[index], n_points, axis=0)
        predictions = self.loss.from_responses(predictions.reshape(m * n_points, k))
        counted_points = weights > 0
        mean = self.loss.mean(
            targets[counted_points],
            predictions[counted_points],
            weights[counted_points],
        )
        return mean * weights[counted_points].sum()


_Loss = _RowLoss | _CallableLoss


class MetricLoss(NamedTuple):
    """The loss of a metric."""

    position: int  # of the metric
    loss: _Loss


class _PartnerSums(NamedTuple):
    """Sums of losses over all partners of rows, themselves too."""

    metric_losses: list[MetricLoss]
    predictions: NDArray[np.float64]  # for the rows as they are, (n_rows, k)
    sums: NDArray[np.float64]  # (n_players, n_losses)


@dataclass(frozen=True, eq=False)
class _SumOverPairs:
    """Sums of losses over all partners of rows, themselves too.

    For each player, `shares` (n_rows,) weigh the sums of the rows, `positions` say
    which of its distinct points each row has, and `strata` which groups of rows are
    partners; None is one group.
    """

    losses: list[_Loss]
    weights: NDArray[np.float64]
    shares: NDArray[np.float64]
    positions: list[NDArray[np.intp]]
    strata: Sequence[NDArray[np.intp] | None]

    def __call__(
        self, player: int, index: NDArray[np.intp], predictions: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Sums (n_losses,) from predictions for rows `index` with a player's points."""
        shares_of_points = self._shares_of_points(player, index, predictions.shape[1])
        shares_of_rows = self.shares[player, index]
        return np.array(
            [
                loss.total(index, predictions, shares_of_rows, shares_of_points)
                for loss in self.losses
            ]
        )

    def _shares_of_points(
        self, player: int, index: NDArray[np.intp], n_points: int
    ) -> NDArray[Any]:
        """Weight of the partners at each point: (n_points,), or with strata by row."""
        positions, strata = self.positions[player], self.strata[player]
        if strata is None:
            return np.bincount(positions, self.weights, n_points)
        stratum_labels, stratum = np.unique(strata[index], return_inverse=True)
        partners = np.flatnonzero(np.isin(strata, stratum_labels))
        cells = np.searchsorted(stratum_labels, strata[partners])
        cells = cells * n_points + positions[partners]
        shares = np.bincount(
            cells, self.weights[partners], len(stratum_labels) * n_points
        )
        return shares.reshape(-1, n_points)[stratum.reshape(-1)]


def all_pairs_scores(
    estimator: BaseEstimator,
    sample: Sample,
    players: list[tuple[int, ...]],
    metrics: list[Metric],
    strata: Sequence[NDArray[np.intp] | None],
    n_jobs: int | None,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Scores, or losses, of the rows as they are, and over all pairs of rows.

    For each of the `players`, tuples of columns that one row lends another, `strata`
    has groups of rows that are partners; None is one group. Weights of the sample count
    rows. Returns arrays (n_metrics,) and (n_players, 1, n_metrics). A metric has to be
    a mean over rows; others raise a ValueError.
    """
    weights = sample.weights
    groups = strata if strata[0] is not None else strata[:1]
    shares = np.stack([_shares_of_pairs(weights, labels) for labels in groups])
    baseline = np.empty(len(metrics))
    over_pairs = np.empty((len(players), 1, len(metrics)))
    for response, losses_of_response in losses_by_response(metrics, estimator, sample):
        for metric_losses, predictions, sums in _sums_over_partners(
            response, losses_of_response, sample, players, strata, shares, n_jobs
        ):
            positions, row_losses = zip(*metric_losses, strict=True)
            sums_of_rows = sums_of_losses(row_losses, weights, predictions)
            baseline[list(positions)] = sums_of_rows / weights.sum()
            # A row of weight w is its own partner w - 1 times, or never, and not w.
            sums_with_itself = [
                sums_of_losses(row_losses, pair_weights, predictions)
                for pair_weights in shares * np.minimum(weights, 1)
            ]
            over_pairs[:, 0, positions] = sums - sums_with_itself
    # A difference within rounding is zero: an ignored feature has no importance.
    magnitude = np.maximum(np.abs(over_pairs), np.abs(baseline))
    is_equal = np.abs(over_pairs - baseline) <= _ROUNDING * magnitude
    over_pairs = np.where(is_equal, baseline, over_pairs)
    for i, metric in enumerate(metrics):
        baseline[i] = metric.as_loss(baseline[i])
        over_pairs[..., i] = metric.as_loss(over_pairs[..., i])
    return baseline, over_pairs


def _sums_over_partners(
    response: Response,
    metric_losses: list[MetricLoss],
    sample: Sample,
    players: list[tuple[int, ...]],
    strata: Sequence[NDArray[np.intp] | None],
    shares: NDArray[np.float64],
    n_jobs: int | None,
) -> Iterator[_PartnerSums]:
    """Sums of the losses: first losses in closed form, then losses over all pairs.

    The closed form needs predictions that are sums over players.
    """
    rows, weights = sample.rows, sample.weights
    shares = np.broadcast_to(shares, (len(players), len(weights)))
    in_closed_form = [
        member for member in metric_losses if member.loss.loss_of_pairs is not None
    ]
    pair_losses = [
        partial(loss.loss_of_pairs, loss.targets)
        for _, loss in in_closed_form
        if loss.loss_of_pairs is not None
    ]
    additive_model = (
        additive_linear(response, rows, players) if in_closed_form else None
    )
    if additive_model is None or len(in_closed_form) < len(metric_losses):
        responses = dependence_at_rows(
            "auto", response, rows, weights, players, averaged=False, n_jobs=n_jobs
        )
        if additive_model is None and in_closed_form and responses.adds_players:
            sums = responses.predictions
            additive_model = AdditiveModel(sums, sums, responses.dependence_on)
    if additive_model is None:
        in_closed_form = []
    else:
        sums = _sums_in_closed_form(
            additive_model, pair_losses, weights, strata, shares
        )
        yield _PartnerSums(in_closed_form, additive_model.predictions, sums)
    remaining_losses = [
        member for member in metric_losses if member not in in_closed_form
    ]
    if remaining_losses:
        row_losses = [member.loss for member in remaining_losses]
        reduce = _SumOverPairs(row_losses, weights, shares, responses.positions, strata)
        _announce(responses, reduce)
        sums_of_blocks = responses.responses_at_points(reduce)
        sums = np.stack([sum(block_sums) for block_sums in sums_of_blocks])
        yield _PartnerSums(remaining_losses, responses.predictions, sums)


def _sums_in_closed_form(
    additive_model: AdditiveModel,
    pair_losses: Sequence[Callable[..., NDArray[np.float64]]],
    weights: NDArray[np.float64],
    strata: Sequence[NDArray[np.intp] | None],
    shares: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Sums of losses over all partners of rows, (n_players, n_losses), in closed form.

    A sum is sum_i s_i sum_i' w_i' L(y_i, f_i - f_ij + f_i'j) over rows i, of shares
    s_i, and rows i' of their stratum, of weights w_i', with losses L, targets y_i, and
    sums f_i, to which the player j adds f_ij.
    """
    sums = np.empty((len(strata), len(pair_losses)))
    for player, groups in enumerate(with_progress(strata)):
        groups = np.zeros(len(weights), dtype=np.intp) if groups is None else groups
        effect = additive_model.effect(player)
        pairs = losses_of_pairs.Pairs(
            additive_model.sums - effect, effect, weights, groups
        )
        for i, pair_loss in enumerate(pair_losses):
            row_losses = pair_loss(pairs)
            sums[player, i] = shares[player] @ row_losses
    return sums


def _announce(
    responses: DependenceAtRows | TreeDependenceAtRows, reduce: _SumOverPairs
) -> None:
    """Announce predictions for all pairs of rows."""
    n_rows, n_players = len(reduce.weights), len(responses.positions)
    announce_rows(
        responses.most_rows(),
        {"rows": n_rows, "other rows": n_rows, "features": n_players},
        "Use half of the rows (subsample=0.5), which takes a quarter of the time, or "
        f'method="permutation" with n_repeats={_N_REPEATS}, which sends '
        f"{_N_REPEATS * n_players * n_rows} rows",
        power=2,
        seconds=partial(responses.seconds, reduce, COSTLY_SECONDS),
    )


def loss_increases(
    estimator: BaseEstimator,
    sample: Sample,
    players: list[tuple[int, ...]],
    shares: NDArray[np.float64],
    rng: np.random.RandomState,
) -> NDArray[np.float64]:
    """Increase of each row's loss with a player's values of other rows: (p, n_rows).

    Means over all rows where the trees can be read, and else over random ones. The loss
    of regressors is the squared error, summed over outputs with the `shares` (k,); that
    of classifiers is the Brier score, or where they have no probabilities 0-1.
    """
    response, loss = _response_and_loss(estimator, sample.y, shares)
    rows, weights = sample.rows, sample.weights
    by_trees = partial(dependence_at_rows, "tree", averaged=False)
    responses = read_formula([by_trees], response, rows, weights, players)
    if responses is None:
        predictions = response(rows.native)
        after = _mean_losses_over_donors(response, loss, sample, players, rng)
    else:
        predictions = responses.predictions
        after = _mean_losses_over_all(responses, loss, weights)
    before = loss.function(loss.targets, predictions)
    increases = after - before
    increases[np.abs(increases) <= _ROUNDING * max(before.max(), after.max())] = 0.0
    return increases


def _response_and_loss(
    estimator: BaseEstimator, y: NDArray[Any], shares: NDArray[np.float64]
) -> tuple[Response, _RowLoss]:
    """The response that the loss of a kind of model uses, and the loss."""
    if not is_classifier(estimator):
        response = replace(make_response(estimator, "predict"), classes=None)
        targets = target_numbers(y).reshape(len(y), -1)
        return response, _RowLoss(
            partial(losses.weighted_squared, shares=shares), targets
        )
    has_probabilities = hasattr(estimator, "predict_proba")
    method = "predict_proba" if has_probabilities else "predict"
    response = make_response(estimator, method)
    # A class that the model has not seen has no column, and any prediction is wrong.
    targets = (np.asarray(y)[:, None] == response.classes).astype(np.float64)
    return response, _RowLoss(
        losses.brier if has_probabilities else losses.zero_one, targets
    )


def _mean_losses_over_all(
    responses: DependenceAtRows | TreeDependenceAtRows,
    loss: _RowLoss,
    weights: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Each row's mean loss with each player of all rows: (n_players, n_rows)."""

    def reduce(
        player: int, index: NDArray[np.intp], predictions: NDArray[np.float64]
    ) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        shares = np.bincount(responses.positions[player], weights)
        losses_at_points = loss.function(loss.targets[index], predictions)
        return index, losses_at_points @ (shares / weights.sum())

    after = np.empty((len(responses.positions), len(weights)))
    for losses_of_rows, blocks in zip(
        after, responses.responses_at_points(reduce), strict=True
    ):
        for index, means in blocks:
            losses_of_rows[index] = means
    return after


def _mean_losses_over_donors(
    response: Response,
    loss: _RowLoss,
    sample: Sample,
    players: list[tuple[int, ...]],
    rng: np.random.RandomState,
) -> NDArray[np.float64]:
    """Each row's mean loss with each player of random donors: (n_players, n_rows)."""
    rows, p, n = sample.rows, len(players), sample.rows.n_rows
    donors_of_players = [
        [random_donors(sample.weights, rng) for _ in range(_N_DONORS)] for _ in players
    ]
    # One after the other: player, row, donor.
    points = MixedPoints(
        bases=np.tile(np.repeat(np.arange(n), _N_DONORS), p),
        donors=np.array(donors_of_players).transpose(0, 2, 1).ravel(),
        sets=np.repeat(np.arange(p), n * _N_DONORS),
    )
    batches = points.batches(batch_rows(rows.row_bytes))
    predictions = responses_to_mixed(response, rows, players, batches)
    predictions = predictions.reshape(p, n, _N_DONORS, -1)
    return np.stack(
        [loss.function(loss.targets, values).mean(axis=1) for values in predictions]
    )


def sums_of_losses(
    row_losses: Iterable[_Loss],
    weights: NDArray[np.float64],
    predictions: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Weighted sums of losses of the rows as they are: (n_losses,)."""
    index, one_point = np.arange(len(weights)), np.ones(1)
    predictions = predictions[:, None]
    return np.array(
        [loss.total(index, predictions, weights, one_point) for loss in row_losses]
    )


def _shares_of_pairs(
    weights: NDArray[np.float64], strata: NDArray[np.intp] | None
) -> NDArray[np.float64]:
    """Each row's share of the weight, over the weight of its partners: (n_rows,)."""
    strata = np.zeros(len(weights), dtype=np.intp) if strata is None else strata
    partners = np.bincount(strata, weights)[strata] - np.minimum(weights, 1)
    if not partners.min() > 0:
        raise ValueError(
            'method="exact" takes pairs of rows: those that row '
            f"{partners.argmin()} may be paired with have next to no sample_weight."
        )
    return weights / weights.sum() / partners


def losses_by_response(
    metrics: list[Metric],
    estimator: BaseEstimator,
    sample: Sample,
    shares: NDArray[np.float64] | None = None,
) -> Iterable[tuple[Response, list[MetricLoss]]]:
    """Distinct responses, each with the losses of the metrics that use it.

    `shares` are the `r2_shares`; None takes those of the sample.
    """
    groups: dict[Any, tuple[Response, list[MetricLoss]]] = {}
    for position, metric in enumerate(metrics):
        response, loss = _prepare_loss(metric, estimator, sample, shares)
        key = response.method, response.classes is None
        _, metric_losses = groups.setdefault(key, (response, []))
        metric_losses.append(MetricLoss(position, loss))
    return groups.values()


def _prepare_loss(
    metric: Metric,
    estimator: BaseEstimator,
    sample: Sample,
    shares: NDArray[np.float64] | None,
) -> tuple[Response, _Loss]:
    """The response that a metric uses, and its loss with the targets."""
    if isinstance(metric.scorer, LossOfModel):
        loss = metric.scorer
        _check_is_mean(metric.name, loss, estimator, sample)
        return loss.response, _CallableLoss(loss, sample.y)
    if metric.row_loss is None:
        raise ValueError(
            f'scoring: method="exact" takes losses that are means over rows, and '
            f"{metric.name!r} is not known to be one: name one of scikit-learn's "
            "scorers that is, or pass a loss(y_true, y_pred), or use "
            'method="permutation".'
        )
    function, kind = ROW_LOSSES[metric.row_loss]
    response = make_response(estimator, _METHODS[kind])
    if kind == "values":
        targets = _targets_as_numbers(metric, sample.y)
        response = replace(response, classes=None)
    else:
        targets = _targets_as_indicators(metric, sample.y, response.classes)
    # The closed form over pairs has the name of the loss.
    loss_of_pairs = getattr(losses_of_pairs, function.__name__, None)
    if function is losses.weighted_squared:
        if shares is None:
            mean = np.average(targets, axis=0, weights=sample.weights)
            squares = (targets - mean) ** 2
            shares = r2_shares(np.average(squares, axis=0, weights=sample.weights))
        function = partial(function, shares=shares)
        loss_of_pairs = partial(losses_of_pairs.weighted_squared, shares=shares)
    return response, _RowLoss(function, targets, loss_of_pairs)


def _targets_as_numbers(metric: Metric, y: NDArray[Any]) -> NDArray[np.float64]:
    try:
        targets = np.asarray(y, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"scoring: {metric.name!r} takes numbers as targets: {error}."
        ) from error
    return targets.reshape(len(targets), -1)


def _targets_as_indicators(
    metric: Metric, y: NDArray[Any], classes: NDArray[Any] | list[NDArray[Any]] | None
) -> NDArray[np.float64]:
    """Targets as a 0/1 column for each class."""
    if classes is None or isinstance(classes, list) or np.ndim(y) != 1:
        raise ValueError(
            f"scoring: the mean over rows of {metric.name!r} is that of classifiers "
            'with one target: use method="permutation" with rows in memory.'
        )
    return class_indicators(y, classes)


def r2_shares(variance: NDArray[np.float64]) -> NDArray[np.float64]:
    """Factors of each output's mean squared error in one minus R squared."""
    if not (variance > 0).all():
        raise ValueError("scoring: R squared is not defined, for y has one value only.")
    return 1 / (variance * len(variance))


def _check_is_mean(
    name: str, loss: LossOfModel, estimator: BaseEstimator, sample: Sample
) -> None:
    """Refuse a loss that is not the mean of its values on two halves of the rows."""
    rows, weights = sample.rows, sample.weights
    predict = partial(loss.predictions, estimator)
    predictions = ask_model(predict, rows.native, rows.n_rows)
    overall = loss.mean(sample.y, predictions, weights)
    mean_of_halves, magnitude = 0.0, abs(overall)
    for half in (slice(None, None, 2), slice(1, None, 2)):
        half_mean = loss.mean(sample.y[half], predictions[half], weights[half])
        mean_of_halves += half_mean * weights[half].sum() / weights.sum()
        magnitude += abs(half_mean)
    if not abs(mean_of_halves - overall) <= _RELATIVE_ERROR * magnitude:
        raise ValueError(
            f'scoring: method="exact" takes losses that are means over rows, and '
            f"{name!r} is not: of all rows it is {overall:g}, and the mean over both "
            f"halves of the rows is {mean_of_halves:g}."
        )


@dataclass(frozen=True, eq=False)
class AdditiveModel:
    """A model of a sample's rows.

    Parameters
    ----------
    predictions : ndarray of shape (n_rows, n_outputs)
        Responses to the rows.
    sums : ndarray of shape (n_rows, k)
        The responses themselves, or a function that is positive where the response is
        the second of two classes.
    effect : callable
        Function of a player: its term in the rows' sums, up to a constant, (n_rows, k).
    """

    predictions: NDArray[np.float64]
    sums: NDArray[np.float64]
    effect: Callable[[int], NDArray[np.float64]]


def additive_linear(
    response: Response, rows: Rows, players: list[tuple[int, ...]]
) -> Any:
    """A linear model as an `AdditiveModel`, or None.

    The response is `predict`, as numbers or as two classes; each column belongs to one
    of the `players`.
    """
    has_classes = response.classes is not None
    method = "decision_function" if has_classes else "predict"
    try:
        explained = explained_linear(response.estimator, method)
        effect = _linear_effect(explained.model, rows, players)
        furthest = _furthest_rows(rows, players, effect)
        explained.check(rows)
        explained.check(furthest)
    # The columns of a model that can't be read may be no numbers, too.
    except (TypeError, ValueError):
        return None
    sums = predictions = plain_responses(explained.response, rows)
    if has_classes:
        predictions = plain_responses(response, rows)
        if not np.array_equal(predictions, sums > 0):
            return None
    return AdditiveModel(predictions, sums, effect)


def _linear_effect(
    model: LinearModel, rows: Rows, players: list[tuple[int, ...]]
) -> Callable[[int], NDArray[np.float64]]:
    """Function of a player: what it adds to the rows, (n_rows, k)."""
    derived = model.derived_columns(rows.native)
    derived = derived.tocsc() if issparse(derived) else derived
    positions = [np.flatnonzero(np.isin(model.columns, player)) for player in players]
    return lambda j: derived[:, positions[j]] @ model.coefficients[positions[j]]


def _furthest_rows(
    rows: Rows,
    players: list[tuple[int, ...]],
    effect: Callable[[int], NDArray[np.float64]],
) -> Rows:
    """Rows with the largest and smallest sums that values of the rows can make.

    A model that cuts off its sums may be linear on the rows, and not on the extremes.
    """
    effects = map(effect, range(len(players)))
    extreme_rows = [
        np.append(values.argmax(axis=0), values.argmin(axis=0)) for values in effects
    ]
    donors = {
        j: extreme_rows[player]
        for player, columns in enumerate(players)
        for j in columns
    }
    return as_rows(rows.mix(np.zeros_like(extreme_rows[0]), donors))
