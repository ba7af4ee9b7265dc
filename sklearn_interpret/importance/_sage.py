"""SAGE values: the model's loss, attributed to features (Covert et al. 2020)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import ceil, inf
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.frozen import FrozenEstimator
from sklearn.utils import check_random_state

from sklearn_interpret._core.games.coalitions import all_coalitions, values_of_all
from sklearn_interpret._core.games.hierarchies import Hierarchy
from sklearn_interpret._core.games.loss_games import (
    means_of_draws,
    membership,
    nested_squared_error_values,
    paired_coalitions,
    paired_gains,
    responses_of_coalitions,
    squared_error_moments,
    squared_error_values,
)
from sklearn_interpret._inspectors.dependence import (
    DEPENDENCE_CONSTRAINTS,
    conditional_game,
    error_of_dependence,
)
from sklearn_interpret._inspectors.params import estimator_dataclass
from sklearn_interpret._inspectors.players import NESTING_CONSTRAINTS, nesting_of
from sklearn_interpret._model._sklearn_compat import Interval, StrOptions, warn
from sklearn_interpret._model.parallel import rows_in_memory, run, slices, worker_slices
from sklearn_interpret._model.replacement.response_games import (
    CoalitionGame,
    ResponseGame,
)
from sklearn_interpret._model.responses.row_losses import RowLoss
from sklearn_interpret._model.row_limit import rows_left
from sklearn_interpret._model.rows.arrays import as_rows
from sklearn_interpret._model.rows.base import Rows
from sklearn_interpret._model.rows.partitioned import PartitionedSample, merge_states
from sklearn_interpret._model.rows.sample import Sample
from sklearn_interpret.exceptions import CostlyInspectionWarning
from sklearn_interpret.importance._base import AnySample, BaseImportance
from sklearn_interpret.interactions import FunctionalDecomposition

if TYPE_CHECKING:
    from sklearn_interpret._model.responses.response import Response

# Losses that SAGE takes by name.
_LOSSES = {"auto", "squared_error", "log_loss", "brier"}
# Rows of the background if the model is called. Chosen by hand: more take longer.
_BACKGROUND = 100
# Most components that are computed, and most weights of leaves, which take seconds.
_MOST_SETS = 2**12
_MOST_WEIGHTS = 2**22
# Most players whose coalitions, 1024 of ten, are all evaluated.
_MOST_PLAYERS = 10
# Largest errors of values are mostly below twice the largest standard error.
_ERRORS_OF_LARGEST = 2.0
# Fewest pairs of orders of all rows together: errors from fewer are not reliable.
_FEWEST_PAIRS = 20
# Most pairs of orders of all rows together, drawn if values are nearly zero.
_MOST_PAIRS = 2**18
# Fewest pairs of orders of each row: the variance of two is hardly known, and Student's
# factor is for the variances of all rows together.
_FEWEST_PAIRS_OF_ROW = 3
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
        outweigh all others. None stops by `tolerance`.
    tolerance : float, default=0.05
        Largest error that is allowed, as a share of the range of the values: without
        `n_permutations`, sampling stops when twice the largest standard error is below.
    max_rows : int, default=None
        Largest number of rows that a call sends to the model: fewer coalitions are
        evaluated if needed, and an error before says what is possible. None is no
        limit.
    background : {array-like, sparse matrix, DataFrame}, default=None
        Rows that replace absent features; all are used, with equal weights. None takes
        `subsample` of the rows of `fit`, with their weights.
    feature_groups : dict of str to list or dict, or "correlation", default=None
        Features that are taken together, as one, or with `within_groups` are credited
        together; dicts nest groups in groups. "correlation", for `within_groups` alone,
        makes a binary tree of the features by the correlations of their ranks.
    within_groups : bool, default=False
        Whether each feature gets a value inside its groups (Owen, 1977; Winter, 1989):
        the members of a group join one after the other, and share its value.
    dependence : str, regressor, callable or None, default=None
        How absent features depend on the present ones. None takes them from the
        background as they are; other kinds average the response given the present
        features, as for :class:`~sklearn_interpret.shapley.ExactShapley`.
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
    dependence_ : str, regressor or callable
        The kind of dependence, with `dependence`.
    dependence_error_ : float
        Mean of (f(X) - v(S))**2 over held-out rows and random coalitions: what one kind
        has less than another is nearer to the true v. Computed on first access.
    dependence_errors_ : dict of str to float
        The same for each kind, with ``dependence="auto"``.
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
    tolerance: float = 0.05
    max_rows: int | None = None
    background: Any = None
    feature_groups: dict[str, Any] | str | None = None
    within_groups: bool = False
    dependence: Any = None
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
    dependence_: Any = field(init=False)
    dependence_error_ = property(error_of_dependence)
    dependence_errors_: dict[str, float] = field(init=False)

    _caches = (*BaseImportance._caches, "_held_out_data")

    _parameter_constraints = {
        **BaseImportance._parameter_constraints,
        **NESTING_CONSTRAINTS,
        **DEPENDENCE_CONSTRAINTS,
        "loss": [StrOptions(_LOSSES), callable],
        "method": [StrOptions({"auto", "exact", "sampling"})],
        "n_permutations": [Interval(Integral, 4, None, closed="left"), None],
        "tolerance": [Interval(Real, 0, None, closed="neither")],
    }

    _takes_partitions = True

    def _make_response(self) -> Response:
        row_loss = RowLoss.of_model(self.loss, self.estimator_)
        self.loss_ = row_loss.loss
        return row_loss.response

    def _choose_sample(
        self, rows: Rows, y: ArrayLike | None, weights: NDArray[np.float64]
    ) -> Sample:
        # `subsample` is that of the background.
        return Sample.of_positive_weight(rows, y, weights)

    def _measure(self, sample: AnySample, response: Response) -> NDArray[np.float64]:
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        sample = self._check_has_targets(sample)
        self._hierarchy = nesting_of(self, sample).hierarchy
        self._held_out_data = self._dependence_error = None
        game: _Game | None = None
        if self.dependence is None:
            game = self._find_components(sample, response, seed)
        if game is None:
            game = self._make_coalition_game(sample, response, seed)
        row_loss = RowLoss(self.loss_, response)
        n_pairs = self._fewest_pairs(sample)
        self.method_ = self._choose_method(game, n_pairs, sample.rows.n_rows)
        errors, self.n_permutations_ = np.zeros(len(self.features_)), 0
        if self.method_ == "sampling":
            rng = np.random.default_rng(seed)
            values, errors = self._values_by_sampling(
                game, sample, row_loss, n_pairs, rng
            )
        elif isinstance(game, _Components) and self._is_square:
            values = self._values_by_products(game, sample, row_loss)
        else:
            values = self._values_by_coalitions(game, sample, row_loss)
        self.standard_errors_ = errors
        self.loss_reduction_ = float(values.sum())
        return values[:, None]

    def _result_facts(self) -> dict[str, Any]:
        loss = getattr(self.loss_, "__name__", self.loss_)
        return {"loss": loss, "loss reduction": self.loss_reduction_}

    def _fewest_pairs(self, sample: AnySample) -> int:
        """Fewest pairs of orders for each row, for reliable errors.

        Weighted rows have an effective number: one if a row outweighs all others.
        """
        n_rows = sample.rows.n_rows
        if isinstance(sample, Sample):
            n_rows = sample.weights.sum() ** 2 / (sample.weights**2).sum()
        requested = ceil((self.n_permutations or 0) / 2)
        needed = int(np.ceil(_FEWEST_PAIRS / n_rows))
        return max(requested, _FEWEST_PAIRS_OF_ROW, needed)

    def _find_components(
        self, sample: AnySample, response: Response, seed: int
    ) -> _Components | None:
        """All components of the response, or None if they are too many."""
        if self.background is None:
            background = self._draw_background(sample, self.subsample, seed)
        else:  # components depend on the background alone
            background = Sample(sample.rows.take(np.arange(1)), None, np.ones(1))
        settings: dict[str, Any] = {
            "background": self.background,
            "feature_groups": None if self.within_groups else self.feature_groups,
            "response_method": response.method,
            "n_jobs": self.n_jobs,
        }
        # The order rises until no component is missing, or there are too many of them.
        model, order, largest_order = FrozenEstimator(self.estimator_), 0, 1
        while order < largest_order:
            order += 1
            decomposition = FunctionalDecomposition(model, max_order=order, **settings)
            decomposition.fit(background.rows.native, sample_weight=background.weights)
            self.background_, source = decomposition.background_, decomposition._source
            largest_order = source.largest_order
            if (
                source.asks_model
                or max(2**largest_order - 1, len(source.sets)) > _MOST_SETS
                or source.n_weights > _MOST_WEIGHTS
            ):
                return None
        return _Components(decomposition, membership(source.sets, len(self.features_)))

    def _make_coalition_game(
        self, sample: AnySample, response: Response, seed: int
    ) -> _Coalitions:
        """The game of coalitions, for which the model is called."""
        if self.background is None:
            subsample = self.subsample or _BACKGROUND
            background = self._draw_background(sample, subsample, seed)
        else:
            rows = as_rows(self.background)
            background = Sample(rows, None, np.ones(rows.n_rows))
        rows, weights = background.rows, background.weights
        self.background_ = rows.native
        if self.dependence is None:
            game = CoalitionGame(response, rows, weights, self.features_)
            return _Coalitions(game)
        all_rows: Any = sample if self.background is None else background
        n_draws = rows.n_rows
        return _Coalitions(
            conditional_game(self, response, all_rows, n_draws, "identity", seed)
        )

    def _draw_background(
        self, sample: AnySample, subsample: float | None, seed: int
    ) -> Sample:
        """Draw the background from the rows of `fit`."""
        if isinstance(sample, PartitionedSample):
            raise ValueError(
                "background=None takes rows of X, which are in partitions: pass some "
                "of them as background."
            )
        return self._draw(sample, subsample, seed)

    @property
    def _is_square(self) -> bool:
        """Whether the loss is a square: exact values then are means of products."""
        return self.loss_ in ("squared_error", "brier")

    def _choose_method(self, game: _Game, n_pairs: int, n_rows: int) -> str:
        """The method, "exact" or "sampling"; an error if "exact" takes too long."""
        n_players = len(self.features_)
        n_coalitions = 2**n_players
        if self._hierarchy is not None:
            n_coalitions = self._hierarchy.n_coalitions
        has_components = isinstance(game, _Components)
        has_products = has_components and self._is_square
        is_affordable = n_coalitions <= 2**_MOST_PLAYERS or has_products
        if self.method == "exact" and not is_affordable:
            raise ValueError(
                f'method="exact" takes at most {_MOST_PLAYERS} features with this loss '
                f"and model, or {2**_MOST_PLAYERS} coalitions within groups, and there "
                f"are {n_players} and {n_coalitions}: join some by feature_groups, "
                'or use method="sampling".'
            )
        n_sent = game.rows_sent(n_rows, n_coalitions - 2)
        if n_sent > rows_left() and self.method != "exact":
            return "sampling"
        is_cheap = has_components and self.method == "auto"
        # All coalitions are no more than those that sampling would evaluate for a row.
        is_no_more_work = n_coalitions - 2 <= 2 * n_pairs * (n_players - 1)
        is_preferred = self.method == "exact" or is_cheap or is_no_more_work
        return "exact" if is_affordable and is_preferred else "sampling"

    def _values_by_products(
        self, game: _Components, sample: AnySample, row_loss: RowLoss
    ) -> NDArray[np.float64]:
        """Values from the mean products of components, for squared errors."""
        reduce = partial(_sum_products, game, row_loss)
        weight, *sums = sample.map_reduce(reduce, merge_states)
        linear, gram = (total / weight for total in sums)
        if self._hierarchy is None:
            values = squared_error_values(game.members, linear, gram)
        else:
            values = nested_squared_error_values(
                game.members, linear, gram, self._hierarchy
            )
        n_outputs = len(game.base_values)
        return values / n_outputs if self.loss_ == "squared_error" else values

    def _values_by_coalitions(
        self, game: _Game, sample: AnySample, row_loss: RowLoss
    ) -> NDArray[np.float64]:
        """Values from the losses of all coalitions."""
        hierarchy = self._hierarchy
        if hierarchy is None:
            coalitions = all_coalitions(len(self.features_))
        else:
            nested = hierarchy.coalition_sums()
            coalitions = nested.coalitions[1:-1]
        game.announce(sample.rows.n_rows, len(coalitions))
        sums = partial(_sum_losses_of_block, game, row_loss, coalitions)
        reduce = partial(_sum_losses, game, row_loss, sums, self.n_jobs)
        weight, total = sample.map_reduce(reduce, merge_states)
        if hierarchy is None:
            return values_of_all(-total[:, None] / weight)[:, 0]
        return nested.coefficients @ (-total / weight)

    def _values_by_sampling(
        self,
        game: _Game,
        sample: AnySample,
        row_loss: RowLoss,
        n_new_pairs: int,
        rng: np.random.Generator,
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Values and their standard errors, from pairs of random orders."""
        if isinstance(sample, PartitionedSample):
            raise ValueError(
                'method="sampling" needs all rows in memory, and X is in partitions: '
                f'pass method="exact", for at most {_MOST_PLAYERS} features, or for '
                "any number with squared errors of trees and linear models."
            )
        targets = row_loss.targets(sample.y, len(game.base_values))
        n_rows, n_players = sample.rows.n_rows, len(self.features_)
        gains = np.empty((n_rows, 0, n_players))
        gains_of_block = partial(_gains_of_orders, game, row_loss)
        hierarchy = self._hierarchy or Hierarchy.flat(n_players)
        while n_new_pairs:
            is_first = not gains.size
            n_new_pairs = self._affordable_pairs(game, n_rows, n_new_pairs, is_first)
            if not n_new_pairs:
                warn(
                    f"Allow more rows (max_rows={self.max_rows}): standard errors have "
                    f"not reached tolerance={self.tolerance:g}.",
                    CostlyInspectionWarning,
                )
                break
            game.announce(n_rows, 2 * n_new_pairs * (n_players - 1))
            orders = hierarchy.draw_orders(n_rows * n_new_pairs, rng)
            arrays = targets, orders.reshape(n_rows, n_new_pairs, n_players)
            try:
                blocks = _map_blocks(gains_of_block, sample, arrays, self.n_jobs)
            except KeyboardInterrupt:
                if is_first:
                    raise
                warn(
                    "Fit again for smaller standard errors: the call was interrupted.",
                    CostlyInspectionWarning,
                )
                break
            gains = np.concatenate([gains, np.concatenate(blocks)], axis=1)
            values, errors = means_of_draws(gains, sample.weights)
            n_new_pairs = self._pairs_to_draw(gains, values, errors.max())
        self.n_permutations_ = 2 * gains.shape[1]
        return values, errors

    def _affordable_pairs(
        self, game: _Game, n_rows: int, n_pairs: int, is_first: bool
    ) -> int:
        """Number of pairs of orders, less than asked for if `max_rows` is used up."""
        if rows_left() == inf or not game.rows_sent(1, 1):
            return n_pairs
        n_plain = game.rows_sent(n_rows, 0)
        n_each = game.rows_sent(n_rows, 2 * (len(self.features_) - 1)) - n_plain
        n_allowed = int(max(rows_left() - n_plain, 0) // max(n_each, 1))
        # Too many are refused when they are announced.
        return n_pairs if is_first else min(n_pairs, n_allowed)

    def _pairs_to_draw(
        self, gains: NDArray[np.float64], values: NDArray[np.float64], error: float
    ) -> int:
        """Number of pairs of orders that are still to be drawn for each row."""
        n_rows, n_pairs, _ = gains.shape
        allowed = self.tolerance / _ERRORS_OF_LARGEST * np.ptp([*values, 0.0])
        if self.n_permutations is not None or not error > allowed:
            return 0
        needed = n_pairs * (error / allowed) ** 2 if allowed > 0 else np.inf
        # At most as many again: the error is an estimate.
        largest = min(2 * n_pairs, max(n_pairs, _MOST_PAIRS // n_rows))
        return int(min(np.ceil(needed), largest)) - n_pairs


@dataclass(frozen=True)
class _Components:
    """Responses of coalitions of players, from all components of the response."""

    decomposition: FunctionalDecomposition
    members: NDArray[np.float64]  # (n_sets, n_players)

    @property
    def base_values(self) -> NDArray[np.float64]:
        """Response of nobody, (k,)."""
        return np.atleast_1d(self.decomposition.base_values_)

    @property
    def coalition_bytes(self) -> int:
        """Memory for a coalition of a row: a float for each component and output."""
        return 8 * len(self.members) * len(self.base_values)

    def announce(self, n_rows: int, n_coalitions: int) -> None:
        """Nothing: the model is not called."""

    def rows_sent(self, n_rows: int, n_coalitions: int) -> int:
        """None: the model is not called."""
        return 0

    def components_of(self, rows: Rows) -> NDArray[np.float64]:
        """Components, (m, n_sets, k)."""
        return self.decomposition._attribute(rows)[0]

    def responses(
        self, rows: Rows, coalitions: NDArray[np.bool_]
    ) -> NDArray[np.float64]:
        """Responses of nobody, coalitions (m or 1, c, n_players), and everybody."""
        components = self.components_of(rows)
        inner = responses_of_coalitions(coalitions, self.members, components)
        everybody = components.sum(axis=1, keepdims=True)
        nobody = np.zeros_like(everybody)
        return self.base_values + np.concatenate([nobody, inner, everybody], axis=1)


@dataclass(frozen=True)
class _Coalitions:
    """Responses of coalitions of players, from calls of the model."""

    game: ResponseGame

    @property
    def base_values(self) -> NDArray[np.float64]:
        """Response of nobody, (k,)."""
        return self.game.base_values[: self.game.n_outputs]

    @property
    def coalition_bytes(self) -> int:
        """Memory for a coalition of a row: a flag a player, three floats an output."""
        return len(self.game.players) + 24 * len(self.base_values)

    def announce(self, n_rows: int, n_coalitions: int) -> None:
        """Announce that coalitions of rows go to the model."""
        self.game.announce(n_rows, n_coalitions, _ADVICE)

    def rows_sent(self, n_rows: int, n_coalitions: int) -> int:
        """Rows that go to the model: rows, and coalitions of each."""
        return n_rows * (1 + n_coalitions * self.game.n_draws)

    def responses(
        self, rows: Rows, coalitions: NDArray[np.bool_]
    ) -> NDArray[np.float64]:
        """Responses of nobody, coalitions (m or 1, c, n_players), and everybody."""
        row_games, n_rows = self.game.games_of_rows(rows), rows.n_rows
        _, n_coalitions, n_players = coalitions.shape
        coalitions = np.broadcast_to(coalitions, (n_rows, n_coalitions, n_players))
        inner = row_games.coalition_values(
            np.repeat(np.arange(n_rows), n_coalitions),
            coalitions.reshape(-1, n_players),
        )
        everybody = row_games.predictions[:, None, : self.game.n_outputs]
        inner = inner[:, : self.game.n_outputs].reshape(
            n_rows, n_coalitions, everybody.shape[-1]
        )
        nobody = np.broadcast_to(self.base_values, everybody.shape)
        return np.concatenate([nobody, inner, everybody], axis=1)


_Game = _Components | _Coalitions


def _sum_products(game: _Components, row_loss: RowLoss, sample: Sample) -> list[Any]:
    """Sums over rows: weights, and the two sums of `squared_error_moments`."""
    weights, n_outputs = sample.weights, len(game.base_values)
    targets = row_loss.targets(sample.y, n_outputs)
    sums: list[Any] = [0.0, 0.0]
    # The components of a block, and temporary arrays of their size.
    for block in slices(len(weights), rows_in_memory(4 * game.coalition_bytes)):
        components = game.components_of(sample.rows.sliced(block))
        residuals = targets[block, -n_outputs:] - game.base_values
        moments = squared_error_moments(components, residuals, weights[block])
        sums = merge_states(sums, moments)
    return [weights.sum(), *sums]


def _sum_losses(
    game: _Game,
    row_loss: RowLoss,
    sums_of_block: Callable[..., NDArray[np.float64]],
    n_jobs: int | None,
    sample: Sample,
) -> list[Any]:
    """Sums over rows: weights, and losses of coalitions."""
    targets = row_loss.targets(sample.y, len(game.base_values))
    arrays = targets, sample.weights
    blocks = _map_blocks(sums_of_block, sample, arrays, n_jobs)
    return [sample.weights.sum(), sum(blocks)]


def _map_blocks(
    function: Callable[..., NDArray[np.float64]],
    sample: Sample,
    arrays: Sequence[NDArray[Any]],
    n_jobs: int | None,
) -> list[NDArray[np.float64]]:
    """Results of ``function(rows, *arrays)`` for blocks of the rows."""
    tasks = [
        (sample.rows.sliced(block), *(array[block] for array in arrays))
        for block in worker_slices(sample.rows.n_rows, n_jobs)
    ]
    return list(run(function, tasks, n_jobs=n_jobs))


def _sum_losses_of_block(
    game: _Game,
    row_loss: RowLoss,
    coalitions: NDArray[np.bool_],
    rows: Rows,
    targets: NDArray[Any],
    weights: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Losses of nobody, coalitions (c, n_players) and everybody, summed over rows."""
    total = np.zeros(len(coalitions) + 2)
    # Coalitions, nobody and everybody of each row.
    step = rows_in_memory((len(coalitions) + 2) * game.coalition_bytes)
    for block in slices(rows.n_rows, step):
        responses = game.responses(rows.sliced(block), coalitions[None])
        total += weights[block] @ row_loss(targets[block], responses)
    return total


def _gains_of_orders(
    game: _Game,
    row_loss: RowLoss,
    rows: Rows,
    targets: NDArray[Any],
    orders: NDArray[np.intp],
) -> NDArray[np.float64]:
    """Losses that players remove, in pairs of orders (m, n_pairs, n_players)."""
    # A row has two orders in each pair, and a coalition (of flags) for each player.
    n_coalitions, flag_bytes = 2 * orders[0].size, orders.shape[-1]
    step = rows_in_memory(n_coalitions * (flag_bytes + game.coalition_bytes))
    gains = []
    for block in slices(rows.n_rows, step):
        coalitions = paired_coalitions(orders[block])
        responses = game.responses(rows.sliced(block), coalitions)
        gains.append(paired_gains(orders[block], row_loss(targets[block], responses)))
    return np.concatenate(gains)
