"""SAGE values: the model's loss, attributed to features."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.frozen import FrozenEstimator
from sklearn.utils import check_random_state

from sklearn_interpret._core.games.coalitions import all_coalitions, values_of_all
from sklearn_interpret._core.games.loss_games import (
    means_of_draws,
    membership,
    paired_coalitions,
    paired_gains,
    responses_of_coalitions,
    squared_error_moments,
    squared_error_values,
)
from sklearn_interpret._core.statistics import losses
from sklearn_interpret._inspectors.params import estimator_dataclass
from sklearn_interpret._model._sklearn_compat import Interval, StrOptions
from sklearn_interpret._model.parallel import rows_in_memory, run, slices, worker_slices
from sklearn_interpret._model.replacement.response_games import CoalitionGame
from sklearn_interpret._model.responses.predictors import (
    check_has_classes,
    is_classifier,
    unfrozen,
)
from sklearn_interpret._model.responses.response import make_response
from sklearn_interpret._model.responses.scoring import class_indicators
from sklearn_interpret._model.rows.arrays import as_rows
from sklearn_interpret._model.rows.partitioned import merged
from sklearn_interpret._model.rows.sample import Sample
from sklearn_interpret._model.rows.validation import call_given
from sklearn_interpret.importance._base import BaseImportance
from sklearn_interpret.interactions import FunctionalDecomposition

# The method of the model, and the loss of rows.
_LOSSES = {
    "squared_error": ("predict", losses.squared),
    "log_loss": ("predict_proba", losses.log_loss),
    "brier": ("predict_proba", losses.brier),
}
# Rows of the background if the model is called.
_BACKGROUND = 100
# Most components that are computed, and most weights of leaves, which take seconds.
_MOST_SETS, _MOST_WEIGHTS = 2**12, 2**22
# Most players whose coalitions are all evaluated.
_MOST_PLAYERS = 10
# Sampling stops if errors are below this share of the range of values.
_PRECISION = 0.025
# Pairs of orders that all rows have together: at least, for errors to be reliable, and
# at most, if values are nearly zero. Each row has at least three: the variance of two
# is hardly known, and Student's factor is for the variances of all rows together.
_FEWEST_PAIRS, _MOST_PAIRS, _PAIRS_OF_ROW = 20, 2**18, 3
# What to do where too many rows would go to the model.
_ADVICE = "Use fewer rows, in fit and in the background (subsample), or feature_groups"


@estimator_dataclass
class SAGE(BaseImportance):
    """Shapley values of the loss that features remove.

    A coalition of features removes the difference between the loss of the mean response
    and that of the response with the other features averaged out:

    .. math:: v(S) = E[L(f_\\emptyset, y)] - E[L(f_S(x_S), y)], \\qquad
        f_S(x_S) = E_b[f(x_S, b_{-S})]

    b are the rows of the background. The loss is that of the averaged response. The
    Shapley values of v sum to the difference between the loss of the mean response and
    the loss of the model.

    Parameters
    ----------
    estimator : estimator
        The model; a clone of it is fitted. Pass a fitted one as
        ``FrozenEstimator(model)``, and rows that it has not seen.
    loss : {"auto", "squared_error", "log_loss", "brier"} or callable, default="auto"
        "auto" is the squared error of regressors and the log loss of classifiers.
        "brier" is the squared error of the probabilities, summed over classes, and half
        of that for two. A callable ``loss(y, prediction)`` returns one number for each
        row; predictions are those of `predict` of regressors and `predict_proba`, else
        `decision_function`, of classifiers, for two classes those of the second alone.
    method : {"auto", "exact", "sampling"}, default="auto"
        "sampling" takes random orders of the features, and has standard errors; it is
        "exact" if all coalitions are not more than those of the orders. "auto" is
        "exact" where that is affordable: see Notes.
    n_permutations : int, default=None
        Number of sampled orders for each row, at least six; an odd number is made even,
        and there are more for fewer than seven rows of equal weight, or rows that
        outweigh all others. None stops when the largest standard error is
        below 2.5 % of the range of the values.
    background : {array-like, sparse matrix, DataFrame}, default=None
        Rows that replace absent features; all are used, with equal weights. None takes
        `subsample` of the rows of `fit`, with their weights.
    feature_groups : dict of str to list, default=None
        Features that are taken together, as one.
    threshold : float, default=0.0
        The importance above which `transform` keeps a feature.
    subsample : int, float or None, default=None
        Number or share of the rows of `fit` in the background. None takes all, but 100
        if the model is called.
    random_state : int, RandomState or None, default=None
        Seed of the subsample and of the orders.
    n_jobs : int or None, default=None
        Number of workers, among which the rows are split.
    verbose : int or None, default=None
        1 prints the share done and the time left, 0 nothing. None writes one line to
        the standard error of calls that will take more than five seconds.

    Attributes
    ----------
    estimator_ : estimator
        The fitted model.
    importances_ : ndarray of shape (n_players, 1)
        SAGE value of each feature, or feature group.
    importances_mean_, importances_std_ : ndarray of shape (n_players,)
        The same values, and zeros.
    feature_importances_ : ndarray of shape (`n_features_in_`,)
        The value of each feature; members of a group have the group's.
    standard_errors_ : ndarray of shape (n_players,)
        Standard errors of the values, due to sampled orders; zero if exact.
    loss_reduction_ : float
        The sum of the values: the loss of the mean response less that of the model.
    loss_ : str or callable
        The loss.
    method_ : {"exact", "sampling"}
        The method.
    n_permutations_ : int
        Number of sampled orders for each row; zero if exact.
    background_ : {ndarray, sparse matrix, DataFrame}
        The rows of the background.
    features_ : list of tuple of int
        Columns of each player.
    player_names_ : list of str
        Names of features and groups.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if the input has string column names.
    classes_ : ndarray
        Class labels of a classifier.

    Raises
    ------
    ValueError
        In `fit`: no targets, a loss that does not fit the model, predictions that do
        not fit the targets, or ``method="exact"`` where it is not affordable.

    Warns
    -----
    CostlyInspectionWarning
        In `fit`: if more than 1e8 rows are about to be sent to the model.

    See Also
    --------
    PermutationImportance : Faster; copies of a feature hide each other's importance.
    sklearn_interpret.interactions.FunctionalDecomposition : The components.

    Notes
    -----
    The response is a sum of components, one for each set of features. Those of trees,
    linear and additive models are read: squared errors and the Brier score then have
    exact values for any number of rows, from the mean products of components. Other
    losses have exact values for at most 10 features. Otherwise orders of the features
    are sampled for each row, without calls of the model if components are known. Those
    of more than 4096 sets, and of deep trees, are not computed.

    Any other model predicts each row ``n_permutations * (n_players - 1)`` times with
    each row of the background. It has exact values if all coalitions are not more, as
    for three features, or with ``method="exact"``, for at most 10 features.

    Orders come in pairs with their reverses. All rows have the same number of them, so
    that values sum to `loss_reduction_`, and errors come from the orders only, not from
    the rows. They include Student's factor, for few rows.

    `fit` also takes rows in partitions, see :mod:`sklearn_interpret.partitions`, if
    `background` is given and values are exact: it reads them once.

    References
    ----------
    Covert, I., Lundberg, S. & Lee, S.-I. (2020). Understanding global feature
    contributions with additive importance measures. NeurIPS 33.
    https://doi.org/10.48550/arXiv.2004.00668

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.ensemble import GradientBoostingRegressor
    >>> from sklearn_interpret.importance import SAGE
    >>> X = np.random.default_rng(0).uniform(size=(300, 3))
    >>> y = 6 * X[:, 0] * X[:, 1]
    >>> inspector = SAGE(GradientBoostingRegressor(random_state=0)).fit(X, y)
    >>> inspector.method_
    'exact'
    >>> bool(abs(inspector.importances_.sum() - inspector.loss_reduction_) < 1e-10)
    True
    """

    loss: str | Callable[..., Any] = "auto"
    method: str = "auto"
    n_permutations: int | None = None
    background: Any = None
    feature_groups: dict[str, Any] | None = None
    threshold: float = 0.0
    subsample: float | None = None
    random_state: int | np.random.RandomState | None = None
    n_jobs: int | None = None
    verbose: int | None = None

    standard_errors_: NDArray[np.float64] = field(init=False)
    loss_reduction_: float = field(init=False)
    loss_: str | Callable[..., Any] = field(init=False)
    method_: str = field(init=False)
    n_permutations_: int = field(init=False)
    background_: Any = field(init=False)

    _parameter_constraints = {
        **BaseImportance._parameter_constraints,
        "loss": [StrOptions({"auto", *_LOSSES}), callable],
        "method": [StrOptions({"auto", "exact", "sampling"})],
        "n_permutations": [Interval(Integral, 4, None, closed="left"), None],
        "background": "no_validation",
    }

    _takes_partitions = True

    def _make_response(self):
        model, classifies = self.estimator_, is_classifier(self.estimator_)
        default = "log_loss" if classifies else "squared_error"
        self.loss_ = default if self.loss == "auto" else self.loss
        if callable(self.loss_):
            return make_response(model)
        needed, _ = _LOSSES[self.loss_]
        name = type(unfrozen(model)).__name__
        if classifies == (needed == "predict"):
            kind = "regressors" if classifies else "classifiers"
            raise ValueError(f"loss={self.loss_!r} is one of {kind}; {name} is not.")
        if not hasattr(model, needed):
            raise ValueError(
                f"loss={self.loss_!r} takes probabilities, and {name} has no {needed}: "
                "pass a loss(y, prediction) of its decision function."
            )
        check_has_classes(model)
        return make_response(model, needed)

    def _choose_sample(self, rows, y, weights):
        return Sample.of_positive_weight(
            rows, y, weights
        )  # `subsample` is that of the background

    def _measure(self, sample, response):
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        sample = self._with_targets(sample)
        if self.background is None and not isinstance(sample, Sample):
            raise ValueError(
                "background=None takes rows of X, which are in partitions: pass some "
                "of them as background."
            )
        game = self._components(sample, response, seed)
        if game is None:
            game = self._coalitions(sample, response, seed)
        targets_of = partial(
            _targets, self.loss_, response.classes, len(game.base_values)
        )
        n_pairs = self._fewest_pairs(sample)
        self.method_ = self._chosen(game, n_pairs)
        errors, self.n_permutations_ = np.zeros(len(self.features_)), 0
        task = game, self._row_loss
        if self.method_ == "sampling":
            rng, given = np.random.default_rng(seed), (targets_of, n_pairs)
            values, errors = self._sampled(task, sample, *given, rng)
        elif self._multiplies(game):
            values = self._by_products(game, sample, targets_of)
        else:
            values = self._by_coalitions(task, sample, targets_of)
        self.standard_errors_ = errors
        self.loss_reduction_ = float(values.sum())
        return values[:, None]

    def _result_facts(self):
        loss = getattr(self.loss_, "__name__", self.loss_)
        return {"loss": loss, "loss reduction": self.loss_reduction_}

    def _fewest_pairs(self, sample):
        """The least number of pairs of orders for each row, for reliable errors.

        A row that outweighs all others counts alone.
        """
        n_rows = sample.rows.n_rows
        if isinstance(sample, Sample):
            n_rows = sample.weights.sum() ** 2 / (sample.weights**2).sum()
        asked = -(-(self.n_permutations or 0) // 2)
        return max(asked, _PAIRS_OF_ROW, int(np.ceil(_FEWEST_PAIRS / n_rows)))

    @property
    def _row_loss(self):
        """The function of targets and responses (m, c, k)."""
        if callable(self.loss_):
            return partial(_given_losses, self.loss_)
        return _LOSSES[self.loss_][1]

    def _components(self, sample, response, seed):
        """All components of the response, or None if they are not affordable."""
        if self.background is None:
            drawn = self._draw(sample, self.subsample, seed)
        else:  # components depend on the background alone
            drawn = Sample(sample.rows.take(np.arange(1)), None, np.ones(1))
        order, largest = 0, 1
        while order < largest:
            order += 1
            parts = FunctionalDecomposition(
                FrozenEstimator(self.estimator_),
                max_order=order,
                background=self.background,
                feature_groups=self.feature_groups,
                response_method=response.method,
                n_jobs=self.n_jobs,
            ).fit(drawn.rows.native, sample_weight=drawn.weights)
            self.background_, source = parts.background_, parts._source
            largest = source.largest_order
            if (
                source.asks_model
                or max(2**largest - 1, len(source.sets)) > _MOST_SETS
                or source.n_weights > _MOST_WEIGHTS
            ):
                return None
        return _Components(parts, membership(source.sets, len(self.features_)))

    def _coalitions(self, sample, response, seed):
        """The game of coalitions, for which the model is called."""
        if self.background is None:
            drawn = self._draw(sample, self.subsample or _BACKGROUND, seed)
            background, weights = drawn.rows, drawn.weights
        else:
            background = as_rows(self.background)
            weights = np.ones(background.n_rows)
        self.background_ = background.native
        return _Coalitions(CoalitionGame(response, background, weights, self.features_))

    def _multiplies(self, game):
        """Whether exact values are means of products of components."""
        squares = self.loss_ in ("squared_error", "brier")
        return squares and isinstance(game, _Components)

    def _chosen(self, game, n_pairs):
        """The method that is used."""
        n_players = len(self.features_)
        affordable = n_players <= _MOST_PLAYERS or self._multiplies(game)
        if self.method == "exact" and not affordable:
            raise ValueError(
                f'method="exact" takes at most {_MOST_PLAYERS} features with this loss '
                f"and model, and there are {n_players}: join some by feature_groups, "
                'or use method="sampling".'
            )
        known = isinstance(game, _Components) and self.method == "auto"
        no_more_work = 2**n_players - 2 <= 2 * n_pairs * (n_players - 1)
        exact = self.method == "exact" or known or no_more_work
        return "exact" if affordable and exact else "sampling"

    def _by_products(self, game, sample, targets_of):
        """Values from the mean products of components, for squared errors."""
        reduce = partial(_sums_of_products, game, targets_of)
        weight, *sums = sample.map_reduce(reduce, merged)
        values = squared_error_values(game.members, *(own / weight for own in sums))
        n_outputs = len(game.base_values)
        return values / n_outputs if self.loss_ == "squared_error" else values

    def _by_coalitions(self, task, sample, targets_of):
        """Values from the losses of all coalitions."""
        coalitions = all_coalitions(len(self.features_))
        task[0].warn_of_cost(sample.rows.n_rows, len(coalitions))
        given = (*task, coalitions), targets_of, self.n_jobs
        weight, losses = sample.map_reduce(partial(_sums_of_losses, *given), merged)
        return values_of_all(-losses[:, None] / weight)[:, 0]

    def _sampled(self, task, sample, targets_of, n_more, rng):
        """Values and their standard errors."""
        if not isinstance(sample, Sample):
            raise ValueError(
                'method="sampling" needs all rows in memory, and X is in partitions: '
                f'pass method="exact", for at most {_MOST_PLAYERS} features, or for '
                "any number with squared errors of trees and linear models."
            )
        targets = targets_of(sample.y)
        n_rows, n_players = sample.rows.n_rows, len(self.features_)
        gains = np.empty((n_rows, 0, n_players))
        while n_more:
            task[0].warn_of_cost(n_rows, 2 * n_more * (n_players - 1))
            orders = np.tile(np.arange(n_players), (n_rows, n_more, 1))
            given = targets, rng.permuted(orders, axis=-1)
            drawn = _of_parts(_gains, task, sample, given, self.n_jobs)
            gains = np.concatenate([gains, np.concatenate(drawn)], axis=1)
            values, errors = means_of_draws(gains, sample.weights)
            n_more = self._n_more(gains, values, errors.max())
        self.n_permutations_ = 2 * gains.shape[1]
        return values, errors

    def _n_more(self, gains, values, error):
        """Number of pairs of orders still to draw for each row."""
        (n_rows, n_pairs, _), allowed = gains.shape, _PRECISION * np.ptp([*values, 0.0])
        if self.n_permutations is not None or not error > allowed:
            return 0
        needed = n_pairs * (error / allowed) ** 2 if allowed > 0 else np.inf
        # At most as many again: the error is an estimate.
        most = min(2 * n_pairs, max(n_pairs, _MOST_PAIRS // n_rows))
        return int(min(np.ceil(needed), most)) - n_pairs


@dataclass(frozen=True)
class _Components:
    """Responses of coalitions of players, from all components of the response."""

    parts: FunctionalDecomposition
    members: np.ndarray  # (n_sets, n_players)

    @property
    def base_values(self):
        """Response of nobody, (k,)."""
        return np.atleast_1d(self.parts.base_values_)

    @property
    def coalition_bytes(self):
        """Memory for a coalition of a row."""
        return 8 * len(self.members) * len(self.base_values)

    def warn_of_cost(self, n_rows, n_coalitions):
        """Nothing: the model is not called."""

    def of_rows(self, rows):
        """Components, (m, n_sets, k)."""
        return self.parts._attribute(rows)[0]

    def responses(self, rows, coalitions):
        """Responses of nobody, coalitions (m or 1, c, n_players), and everybody."""
        components = self.of_rows(rows)
        inner = responses_of_coalitions(coalitions, self.members, components)
        everybody = components.sum(axis=1, keepdims=True)
        nobody = np.zeros_like(everybody)
        return self.base_values + np.concatenate([nobody, inner, everybody], axis=1)


@dataclass(frozen=True)
class _Coalitions:
    """Responses of coalitions of players, from calls of the model."""

    game: CoalitionGame

    @property
    def base_values(self):
        """Response of nobody, (k,)."""
        return self.game.base_values

    @property
    def coalition_bytes(self):
        """Memory for a coalition of a row."""
        return len(self.game.players) + 24 * len(self.base_values)

    def warn_of_cost(self, n_rows, n_coalitions):
        """Warn before a very large number of rows goes to the model."""
        self.game.warn_of_cost(n_rows, n_coalitions, _ADVICE)

    def responses(self, rows, coalitions):
        """Responses of nobody, coalitions (m or 1, c, n_players), and everybody."""
        played, (m, c) = self.game.play(rows), (rows.n_rows, coalitions.shape[1])
        coalitions = np.broadcast_to(coalitions, (m, *coalitions.shape[1:]))
        which = np.repeat(np.arange(m), c)
        inner = played.coalition_values(
            which, coalitions.reshape(-1, coalitions.shape[-1])
        )
        everybody = played.predictions[:, None]
        nobody = np.broadcast_to(self.base_values, everybody.shape)
        inner = inner.reshape(m, c, everybody.shape[-1])
        return np.concatenate([nobody, inner, everybody], axis=1)


def _targets(loss, classes, n_outputs, y):
    """Targets of the loss (n, ...), which fit the number of the model's outputs."""
    if callable(loss):
        return y
    if loss == "squared_error":
        targets = call_given("y", np.asarray, y, np.float64)
        targets = targets.reshape(len(targets), -1)
    elif isinstance(classes, np.ndarray) and y.size == len(y):
        targets = class_indicators(y.ravel(), classes)
        if len(classes) == 1:
            targets = np.hstack([1 - targets, targets])
    else:
        raise ValueError(f"loss={loss!r} takes classifiers with one target.")
    expected = targets.shape[1]
    if loss != "squared_error" and expected == 2:
        expected = 1  # that of the second class
    if n_outputs != expected:
        raise ValueError(
            f"loss={loss!r}: y asks for predictions with {expected} columns; the "
            f"model's have {n_outputs}."
        )
    return targets


def _sums_of_products(game, targets_of, sample):
    """Sums over rows: weights, and `squared_error_moments`."""
    weights, targets = sample.weights, targets_of(sample.y)
    sums, n_outputs = [0.0, 0.0], len(game.base_values)
    for part in slices(len(weights), rows_in_memory(4 * game.coalition_bytes)):
        components = game.of_rows(sample.rows.part(part))
        residuals = targets[part, -n_outputs:] - game.base_values
        found = squared_error_moments(components, residuals, weights[part])
        sums = merged(sums, found)
    return [weights.sum(), *sums]


def _sums_of_losses(task, targets_of, n_jobs, sample):
    """Sums over rows: weights, and losses of coalitions."""
    given = targets_of(sample.y), sample.weights
    found = _of_parts(_sums_of_part, task, sample, given, n_jobs)
    return [sample.weights.sum(), sum(found)]


def _of_parts(function, task, sample, given, n_jobs):
    """Results of ``function(*task, rows, *given)`` for parts of the rows."""
    tasks = [
        (*task, sample.rows.part(part), *(array[part] for array in given))
        for part in worker_slices(sample.rows.n_rows, n_jobs)
    ]
    return list(run(function, tasks, n_jobs=n_jobs))


def _given_losses(loss, y, responses):
    """Losses (m, c) of responses (m, c, k), by the user's function."""
    m, c, k = responses.shape
    predictions = responses.reshape(m * c, k)
    predictions = predictions[:, 0] if k == 1 else predictions
    y = np.repeat(y, c, axis=0)
    found = np.asarray(call_given("loss", loss, y, predictions))
    if found.shape != (m * c,):
        raise ValueError(
            f"loss must return one number for each row; for {m * c} rows it returned "
            f"the shape {found.shape}."
        )
    return found.reshape(m, c)


def _sums_of_part(game, loss, coalitions, rows, targets, weights):
    """Losses of nobody, coalitions (c, n_players) and everybody, summed over rows."""
    total = 0.0
    step = rows_in_memory((len(coalitions) + 2) * game.coalition_bytes)
    for part in slices(rows.n_rows, step):
        responses = game.responses(rows.part(part), coalitions[None])
        total += weights[part] @ loss(targets[part], responses)
    return total


def _gains(game, loss, rows, targets, orders):
    """Losses that players remove in pairs of orders (m, r, n_players)."""
    step = rows_in_memory(
        2 * orders[0].size * (orders.shape[-1] + game.coalition_bytes)
    )
    gains = []
    for part in slices(rows.n_rows, step):
        coalitions = paired_coalitions(orders[part])
        responses = game.responses(rows.part(part), coalitions)
        gains.append(paired_gains(orders[part], loss(targets[part], responses)))
    return np.concatenate(gains)
