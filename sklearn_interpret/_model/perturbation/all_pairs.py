"""Losses of a model over all pairs of rows, one of which lends the other some columns.

The mean over pairs is what the mean over random permutations tends to. A row of weight
w counts as w rows that are alike, and so as its own partner w - 1 times.
"""

from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from sklearn_interpret._core.statistics import losses
from sklearn_interpret._model.perturbation.hybrid import observed
from sklearn_interpret._model.response import make_response
from sklearn_interpret._model.scoring import ROW_LOSSES, LossOfModel

_METHODS = {
    "values": "predict",
    "probabilities": "predict_proba",
    "labels": "predict",
}

# Losses are worked on while they are in the processor's cache.
_ENTRIES_AT_ONCE = 2**15

# How far the parts of a mean over rows may be from the whole.
_RELATIVE_ERROR = 1e-9


@dataclass(frozen=True, eq=False)
class _RowLoss:
    """A loss with one number for each row and point.

    Parameters
    ----------
    function : callable
        One of the core's losses.
    targets : ndarray of shape (n_rows, k)
        Numbers, or indicators of classes.
    """

    function: object
    targets: np.ndarray

    def total(self, index, answers, weights, shares):
        """Sum over rows and points, times the rows' weights and the points' shares."""
        height = max(1, _ENTRIES_AT_ONCE // max(1, answers[0].size))
        total = 0.0
        for start in range(0, len(answers), height):
            rows = slice(start, start + height)
            found = self.function(self.targets[index[rows]], answers[rows])
            if shares.ndim == 1:
                total += weights[rows] @ (found @ shares)
            else:
                total += weights[rows] @ np.einsum("ij,ij->i", found, shares[rows])
        return total


@dataclass(frozen=True, eq=False)
class _GivenLoss:
    """A loss callable of the user's, a mean over rows.

    Parameters
    ----------
    loss : LossOfModel
        The loss.
    targets : ndarray of shape (n_rows, ...)
        As the user passed them.
    """

    loss: LossOfModel
    targets: np.ndarray

    def total(self, index, answers, weights, shares):
        """Sum over rows and points, times the rows' weights and the points' shares."""
        m, n_points, k = answers.shape
        masses = (weights[:, None] * shares).ravel()
        targets = np.repeat(self.targets[index], n_points, axis=0)
        told = self.loss.from_responses(answers.reshape(m * n_points, k))
        some = masses > 0
        total = masses[some].sum()
        return self.loss.mean(targets[some], told[some], masses[some]) * total


@dataclass(frozen=True, eq=False)
class _Exchange:
    """What is made of the answers to rows with a player at each of its points.

    Parameters
    ----------
    found : list of _RowLoss and _GivenLoss
        The losses.
    weights : ndarray of shape (n_rows,)
        Weights of the rows.
    positions : list of ndarray of shape (n_rows,)
        For each player the point of each row.
    strata : list of (ndarray of shape (n_rows,) or None)
        For each player the rows that exchange it among each other.
    """

    found: list
    weights: np.ndarray
    positions: list
    strata: list

    def __call__(self, player, index, answers):
        """Sums over all partners of the rows `index`, themselves too: (n_losses,)."""
        shares = self._shares(player, index, answers.shape[1])
        weights = self.weights[index]
        return np.array(
            [loss.total(index, answers, weights, shares) for loss in self.found]
        )

    def _shares(self, player, index, n_points):
        """Weight of the partners at each point, in all or for each row."""
        positions, strata = self.positions[player], self.strata[player]
        if strata is None:
            return np.bincount(positions, self.weights, n_points)
        known, place = np.unique(strata[index], return_inverse=True)
        row = np.searchsorted(known, strata)
        row[row == len(known)] = 0
        partner = np.flatnonzero(known[row] == strata)
        cell = row[partner] * n_points + positions[partner]
        size = len(known) * n_points
        shares = np.bincount(cell, self.weights[partner], size)
        return shares.reshape(-1, n_points)[place.reshape(-1)]


def exchanged_losses(estimator, sample, players, metrics, strata, **loop):
    """Mean losses of the rows as they are, and over all pairs of rows.

    Parameters
    ----------
    estimator : fitted predictor
        The model.
    sample : Sample
        Rows, targets and weights, which count rows.
    players : list of tuple of int
        Columns that one row lends another.
    metrics : list of Metric
        The losses, or scores that belong to one.
    strata : list of (ndarray of shape (n_rows,) or None)
        For each player the rows that exchange it among each other; None means all.
    **loop : dict
        `n_jobs`, `verbose` and `on_block`.

    Returns
    -------
    plain : ndarray of shape (n_metrics,)
        Losses of the rows.
    exchanged : ndarray of shape (n_players, n_metrics)
        Losses over all pairs of rows.

    Raises
    ------
    ValueError
        A metric is no mean over rows; no two rows can be paired.
    """
    prepared = [_prepared(metric, estimator, sample) for metric in metrics]
    masses = np.array([_mass_of_pairs(sample.weights, of_one) for of_one in strata])
    plain = np.empty(len(metrics))
    exchanged = np.empty((len(players), len(metrics)))
    for response, which in _by_response([response for response, _ in prepared]):
        found = [prepared[metric][1] for metric in which]
        weights = sample.weights
        answers = observed(
            "auto", response, sample.rows, weights, players, averaged=False, **loop
        )
        predictions = answers.predictions
        plain[which] = _own_losses(found, weights, predictions) / weights.sum()
        exchange = _Exchange(found, weights, answers.positions, strata)
        sums = np.stack([sum(part) for part in answers.outcomes(exchange)])
        # Of its own partners a row of weight w has w - 1, or none.
        sums -= _own_losses(found, weights * np.minimum(weights, 1), predictions)
        exchanged[:, which] = sums / masses[:, None]
    return plain, exchanged


def _own_losses(found, weights, predictions):
    """Sums of losses of rows that are their own partners: (n_losses,)."""
    index, own = np.arange(len(weights)), np.ones(1)
    return np.array(
        [loss.total(index, predictions[:, None], weights, own) for loss in found]
    )


def _mass_of_pairs(weights, strata):
    """Total weight of all pairs of rows, of one stratum."""
    strata = np.zeros(len(weights), dtype=np.intp) if strata is None else strata
    totals = np.bincount(strata, weights)
    mass = (totals**2).sum() - weights @ np.minimum(weights, 1)
    if not mass > 0:
        raise ValueError("method='exact' takes pairs of rows, and X has 1 sample.")
    return mass


def _by_response(responses):
    """Responses that are asked alike, and their positions."""
    groups = {}
    for place, response in enumerate(responses):
        key = response.method, response.classes is None
        groups.setdefault(key, (response, []))[1].append(place)
    return groups.values()


def _prepared(metric, estimator, sample):
    """How the model is asked for a metric, and its loss with the targets."""
    if isinstance(metric.scorer, LossOfModel):
        loss = metric.scorer
        response = loss.response
        _check_is_mean(metric.name, loss, estimator, sample)
        return response, _GivenLoss(loss, sample.y)
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
        targets = _as_numbers(metric, sample.y)
        response = replace(response, classes=None)
    else:
        targets = _indicators(metric, sample.y, response.classes)
    if function is losses.weighted_squared:
        function = partial(function, shares=_r2_shares(targets, sample.weights))
    return response, _RowLoss(function, targets)


def _as_numbers(metric, y):
    try:
        targets = np.asarray(y, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"scoring: {metric.name!r} takes numbers as targets: {error}."
        ) from error
    return targets.reshape(len(targets), -1)


def _indicators(metric, y, classes):
    """Targets as a 0/1 column for each class."""
    if classes is None or isinstance(classes, list) or np.ndim(y) != 1:
        raise ValueError(
            f'scoring: method="exact" takes {metric.name!r} of classifiers with one '
            'target: use method="permutation".'
        )
    indicators = np.asarray(y)[:, None] == classes
    unknown = np.flatnonzero(~indicators.any(axis=1))
    if len(unknown):
        raise ValueError(
            f"y has the class {y[unknown[0]]!r}, and the classes of the model are "
            f"{classes.tolist()!r}."
        )
    return indicators.astype(np.float64)


def _r2_shares(targets, weights):
    """What a squared error of each output counts in one minus R squared."""
    mean = np.average(targets, axis=0, weights=weights)
    variance = np.average((targets - mean) ** 2, axis=0, weights=weights)
    if not (variance > 0).all():
        raise ValueError("scoring: R squared is not defined, for y has one value only.")
    return 1 / (variance * targets.shape[1])


def _check_is_mean(name, loss, estimator, sample):
    """Refuse losses that are not the mean of those of parts of the rows."""
    answer, weights = loss.predictions(estimator, sample.rows.native), sample.weights
    whole = loss.mean(sample.y, answer, weights)
    if len(weights) < 2:
        return
    total, size = 0.0, abs(whole)
    for part in (slice(None, None, 2), slice(1, None, 2)):
        mean = loss.mean(sample.y[part], answer[part], weights[part])
        total += mean * weights[part].sum() / weights.sum()
        size += abs(mean)
    if not abs(total - whole) <= _RELATIVE_ERROR * size:
        raise ValueError(
            f'scoring: method="exact" takes losses that are means over rows, and '
            f"{name!r} is not: of all rows it is {whole:g}, and the mean over both "
            f"halves of the rows is {total:g}."
        )
