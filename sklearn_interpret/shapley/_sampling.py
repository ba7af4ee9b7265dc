"""Shapley values from sampled permutations (Strumbelj & Kononenko, 2014).

An order is a permutation of the players, who join the coalition one after the other.
The Shapley value is the mean of a player's gain: the change of the coalition's value as
the player joins. Antithetic sampling adds the reverse of each order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from sklearn_interpret._core.games.coalitions import distinct_coalitions
from sklearn_interpret._core.games.hierarchies import Hierarchy
from sklearn_interpret._core.statistics.weighted import student_factor
from sklearn_interpret._inspectors.dependence import error_of_dependence
from sklearn_interpret._inspectors.params import estimator_dataclass
from sklearn_interpret._inspectors.players import NESTING_CONSTRAINTS
from sklearn_interpret._model._sklearn_compat import Interval
from sklearn_interpret._model.parallel import rows_in_memory, slices
from sklearn_interpret._model.progress import with_progress
from sklearn_interpret.shapley._base import Attributor, BaseCoalitional

if TYPE_CHECKING:
    from sklearn_interpret._model.replacement.response_games import (
        ResponseGame,
        ResponseRowGames,
    )

# Largest number of orders, whose gains are all in memory.
_MOST_ORDERS = 10**6
# Least standard deviation of gains between orders, relative to the value: equal gains
# in a few orders do not prove that they are equal in all. Chosen by hand.
_LEAST_DEVIATION = 1e-3


@estimator_dataclass
class ShapleySampling(BaseCoalitional):
    r"""Shapley values of any model, from permutations of the features.

    Features join one after the other, in many orders; the value of a feature is the
    mean of its marginal contributions:

    .. math:: \phi_j = \frac{1}{M} \sum_{\pi}
        \left(v(S_{\pi j} \cup j) - v(S_{\pi j})\right)

    :math:`S_{\pi j}` are the features before j in the permutation :math:`\pi`, and v(S)
    is the mean response to the background's rows with the features in S replaced by
    those of the explained row.

    Parameters
    ----------
    estimator : estimator
        Any predictor; a clone of it is fitted. Pass a fitted one as
        ``FrozenEstimator(model)``.
    n_permutations : int, default=50
        Number of orders, at least two. All orders are taken if there are no more.
    tolerance : float, default=None
        Largest error of a row's values that is allowed, as a share of its largest
        value: a row takes no more orders once 2.5 times its largest standard error is
        below. A warning says how many rows do not reach it. None takes all of them.
    antithetic : bool, default=True
        Whether each drawn order is followed by its reverse, which counts as a second
        one (an odd number of orders is made even): their errors often cancel.
    within_groups : bool, default=False
        Whether each feature gets a value inside its groups (Owen, 1977; Winter, 1989):
        the members of a group join one after the other, and share its value.
    causal_order : list of lists of features, default=None
        All features or groups, causes first: each joins after those of earlier lists
        (Frye et al., 2020). None takes all orders.
    dependence : str, regressor, callable or None, default=None
        How absent features depend on the present ones. None takes them from the
        background as they are; other kinds give :math:`v(S) = E[f(X) | X_S = x_S]`,
        estimated from all rows of `fit`, or of `background`. "gaussian" and "copula"
        draw from normal distributions, of numbers or of ranks and levels, once for each
        row of the background; "neighbors" weighs as many nearest rows; "regression", or
        a regressor, is fitted to the response for each coalition. A callable
        ``sampler(X, columns, n_draws)`` returns `n_draws` rows for each row of X, with
        its values at the positions `columns`. "auto" takes the smallest
        `dependence_error_`.
    max_rows : int, default=None
        Largest number of rows that a call sends to the model: fewer coalitions are
        evaluated if needed, and an error before says what is possible. None is no
        limit.
    link : {"identity", "logit"}, default="identity"
        Function of the mean responses that are attributed; "logit" maps probabilities
        to log-odds, and 0 and 1 to -36 and 36 with a warning.
    background : {array-like, sparse matrix, DataFrame}, default=None
        Rows that replace absent features; all are used, with equal weights. None draws
        `subsample` of the rows of `fit`, with their weights.
    feature_groups : dict of str to list or dict, or "correlation", default=None
        Features that are one player of the game or, with `within_groups`, are credited
        together; dicts nest groups in groups. "correlation", for `within_groups` alone,
        makes a binary tree of the features by the correlations of their ranks.
    response_method : str, list of str or callable, default="auto"
        "auto" takes `predict` of regressors, and of classifiers `predict_proba` or else
        `decision_function`. Or names of methods, of which the first that exists is
        taken, "centered_log_proba", or a callable ``f(estimator, X)``.
    target : class label, int or dict, default=None
        Output to keep, or a contrast {output: weight}. None keeps the only one, the
        positive class of a binary classifier, or all.
    subsample : int, float or None, default=100
        Number or share of the rows of `fit` in the background; None takes all.
    random_state : int, RandomState or None, default=None
        Seed of the subsample and the permutations, which are drawn in `fit`.
    n_jobs : int or None, default=None
        Number of workers, among which the rows to explain are split.
    verbose : int or None, default=None
        1 prints the share done and the time left, 0 nothing. None writes one line to
        the standard error of calls that will take more than five seconds.

    Attributes
    ----------
    estimator_ : estimator
        The fitted model.
    base_values_ : float or ndarray of shape (k,)
        The mean response over the background, after the link; with `dependence`, over
        all rows of `fit` if `background` is None.
    background_ : {ndarray, sparse matrix, DataFrame}
        The rows of the background.
    feature_importances_ : ndarray of shape (`n_features_in_`,)
        Mean absolute attribution over the drawn rows of `fit`, and over outputs.
        Computed on first access.
    features_, player_names_ : list
        Columns and name of each player.
    dependence_ : str, regressor or callable
        The kind of dependence, with `dependence`.
    dependence_error_ : float
        Mean of (f(X) - v(S))**2 over held-out rows and random coalitions: what one kind
        has less than another is nearer to the true v. Computed on first access.
    dependence_errors_ : dict of str to float
        The same for each kind, with ``dependence="auto"``.
    response_method_, output_names_ : str or callable, list
        The explained response; class labels, or positions of outputs.
    n_features_in_, feature_names_in_, classes_ : int, ndarray, ndarray
        Number of features; their names, if the columns have any; class labels.

    Raises
    ------
    ValueError
        In `fit`: more than a million orders to draw. With ``link="logit"``, mean
        responses that are not probabilities.

    Warns
    -----
    SaturatedResponseWarning
        If mean responses of 0 or 1 are clipped, with ``link="logit"``.

    See Also
    --------
    KernelSHAP : Needs fewer rows of the model for the same accuracy.
    ExactShapley : Takes all coalitions, for few features.

    Notes
    -----
    Every order begins with the mean response and ends with the row's, so the values sum
    to the prediction exactly. For a row with a features that differ from the
    background, the model gets at most ``n_permutations * (a - 1)`` rows for each row of
    the background: coalitions that several orders have in common are evaluated once, as
    far as memory allows.

    Orders are drawn in `fit`, by number of features, without repetition, and are the
    same for all rows. The standard error of a value from M orders, or from M pairs of
    an order and
    its reverse, is

    .. math:: \mathrm{se}_j^2 = \frac{t^2}{M} \cdot
        \frac{s_0^2 + \sum_m (g_{mj} - \phi_j)^2}{1 + (M - 1)}

    :math:`g_{mj}` is the feature's marginal contribution in an order, or its mean over
    the two orders of a pair.
    :math:`s_0^2` is the variance between single orders, averaged over the features of
    the row (half of it for pairs), plus a millionth of the mean square of the values.
    It counts as one more observation: few orders often agree on a feature by chance. t
    is Student's 97.5 % quantile, with the number of single orders less one as
    degrees of freedom, divided by the normal's: intervals of 1.96 standard errors to
    each side should contain the exact value in 95 % of the cases. With few pairs
    coverage is larger; it is smaller if a feature contributes only in rare orders,
    which may not be drawn: in a conjunction of all features, only the last to join
    contributes. If all orders were taken, errors are zero; if all agree, as for
    additive models, they are below a thousandth of the values.

    References
    ----------
    Strumbelj, E. & Kononenko, I. (2014). Explaining prediction models and individual
    predictions with feature contributions. Knowledge and Information Systems 41.
    https://doi.org/10.1007/s10115-013-0679-x

    Mitchell, R., Cooper, J., Frank, E. & Holmes, G. (2022). Sampling permutations for
    Shapley value estimation. Journal of Machine Learning Research 23.
    https://jmlr.org/papers/v23/21-0439.html

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.neighbors import KNeighborsRegressor
    >>> from sklearn_interpret.shapley import ShapleySampling
    >>> X, y = load_diabetes(return_X_y=True)
    >>> inspector = ShapleySampling(
    ...     KNeighborsRegressor(), n_permutations=10, subsample=20, random_state=0
    ... ).fit(X, y)
    >>> explanation = inspector.explain(X[:2])
    >>> explanation.standard_errors.shape
    (2, 10)
    >>> bool(abs(explanation.additivity_error()).max() < 1e-10)
    True
    """

    n_permutations: int = 50
    tolerance: float | None = None
    antithetic: bool = True
    within_groups: bool = False
    causal_order: Sequence[Any] | None = None
    dependence: Any = None

    dependence_: Any = field(init=False)
    dependence_error_ = property(error_of_dependence)
    dependence_errors_: dict[str, float] = field(init=False)

    _parameter_constraints = {
        **BaseCoalitional._parameter_constraints,
        **NESTING_CONSTRAINTS,
        "n_permutations": [Interval(Integral, 2, None, closed="left")],
        "antithetic": ["boolean"],
    }

    def _make_attributor(self) -> Attributor:
        seed = check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
        attributor = _Permutations(
            self.n_permutations, self.antithetic, seed, self._nesting.hierarchy
        )
        if attributor.n_orders(len(self.features_)) > _MOST_ORDERS:
            raise ValueError(
                f"n_permutations={self.n_permutations} of {len(self.features_)} "
                f"players are more than {_MOST_ORDERS}, which is the most."
            )
        return attributor


@dataclass(frozen=True)
class _Permutations(Attributor):
    """Attributions from random orders, drawn for each number of active players."""

    n_permutations: int
    antithetic: bool
    seed: int
    hierarchy: Hierarchy | None  # of all players, of which none is left out

    def _hierarchy_of(self, n_players: int) -> Hierarchy:
        return self.hierarchy or Hierarchy.flat(n_players)

    def n_coalitions(self, n_players: int) -> int:
        """Number of coalitions of the orders that are evaluated together."""
        return self._orders_at_once(n_players) * max(n_players - 1, 1)

    def n_coalitions_in_all(self, n_players: int) -> int:
        """Number of coalitions of all orders."""
        return min(self.n_orders(n_players) * max(n_players - 1, 1), 2**n_players)

    def fewest_coalitions(self, n_players: int) -> int:
        """Those of two orders, or all."""
        return min(2 * max(n_players - 1, 1), 2**n_players)

    def within(self, n_coalitions: int, n_players: int) -> _Permutations:
        """The first orders, of at most a number of coalitions for each row."""
        n_orders = n_coalitions // max(n_players - 1, 1)
        if n_coalitions >= 2**n_players:
            n_orders = self.n_permutations
        n_orders -= n_orders % 2
        return replace(self, n_permutations=max(2, min(n_orders, self.n_permutations)))

    def _orders_at_once(self, n_players: int) -> int:
        """Even number of orders that are evaluated together, in whole pairs."""
        # An order has a coalition for each player, of a boolean for each player.
        n_orders = min(self.n_permutations, rows_in_memory(n_players**2))
        return max(2, n_orders + n_orders % 2)

    def n_orders(self, n_players: int) -> int:
        """Number of orders that are taken; an even one with antithetic orders."""
        is_odd = self.n_permutations % 2
        n_orders = self.n_permutations + (is_odd if self.antithetic else 0)
        return min(n_orders, self._hierarchy_of(n_players).n_orders)

    def _takes_all(self, n_players: int) -> bool:
        return self.n_orders(n_players) == self._hierarchy_of(n_players).n_orders

    def _draw_orders(self, n_players: int) -> NDArray[np.intp]:
        """All orders of the players, or distinct random ones: (n, n_players)."""
        hierarchy = self._hierarchy_of(n_players)
        if self._takes_all(n_players):
            return hierarchy.all_orders()
        rng = np.random.default_rng([self.seed, n_players])
        n_drawn = self.n_orders(n_players) // (1 + self.antithetic)
        # Each with its reverse, by the smaller of the two.
        pairs: dict[bytes, list[NDArray[np.intp]]] = {}
        while len(pairs) < n_drawn:
            orders = hierarchy.draw_orders(n_drawn - len(pairs), rng)
            reverses = hierarchy.reverse_orders(orders)
            for order, reverse in zip(orders, reverses, strict=True):
                key = order.tobytes()
                if self.antithetic:
                    key = min(key, reverse.tobytes())
                if key in pairs:
                    continue
                pairs[key] = [order, reverse][: 1 + self.antithetic]
                if len(pairs) == 1 and not self.antithetic:
                    # With its reverse, each feature precedes each other one in some.
                    pairs[reverse.tobytes()] = [reverse]
        return np.concatenate(list(pairs.values())[:n_drawn])

    def attribute(
        self, game: ResponseGame, row_games: ResponseRowGames
    ) -> tuple[NDArray[np.float64], dict[str, NDArray[Any]]]:
        """Attributions, as means over orders, and their standard errors."""
        n_rows, n_players = row_games.active.shape
        numbers_of_players = np.unique(row_games.active.sum(axis=1)).tolist()
        orders = {
            n_active: self._draw_orders(n_active) for n_active in numbers_of_players
        }
        gains: list[list[NDArray[np.float64]]] = [[] for _ in range(n_rows)]
        n_orders = max(map(len, orders.values()), default=0)
        blocks = list(slices(n_orders, self._orders_at_once(n_players)))
        for block in with_progress(blocks):
            order_coalitions = {
                n_active: _OrderCoalitions.of_orders(orders[n_active][block])
                for n_active in numbers_of_players
            }
            coalitions = {
                n_active: coalitions_of_orders.coalitions
                for n_active, coalitions_of_orders in order_coalitions.items()
            }
            players_and_values = row_games.values_by_design(coalitions.__getitem__)
            for row, (players, coalition_values) in enumerate(players_and_values):
                empty_value, grand_value = game.base_values, row_games.predictions[row]
                orders_of_row = order_coalitions[len(players)]
                gains[row].append(
                    orders_of_row.gains(coalition_values, empty_value, grand_value)
                )
        values, errors = np.zeros((2, n_rows, n_players, len(game.base_values)))
        for row, active in enumerate(row_games.active):
            row_gains = np.concatenate(gains[row])
            values[row, active] = row_gains.mean(axis=0)
            if not self._takes_all(active.sum()):
                errors[row, active] = self._standard_errors(row_gains)
        return values, {"standard_errors": errors}

    def _standard_errors(self, gains: NDArray[np.float64]) -> NDArray[np.float64]:
        """Standard error of the mean of gains (n, n_active, k) over orders."""
        values = gains.mean(axis=0)
        deviations = gains - values
        # The mean variance over players counts as one more observation of each player.
        prior = np.square(deviations).sum(axis=0).mean(axis=0) / (len(gains) - 1)
        prior += np.square(_LEAST_DEVIATION * values).mean(axis=0)
        # An order and its reverse are one observation, the mean of the two orders.
        orders_per_observation = 1 + self.antithetic
        prior /= orders_per_observation
        deviations = deviations.reshape(-1, orders_per_observation, *values.shape)
        deviations = deviations.mean(axis=1)
        variances = (prior + np.square(deviations).sum(axis=0)) / len(deviations)
        return student_factor(len(gains) - 1) * np.sqrt(variances / len(deviations))


@dataclass(frozen=True, eq=False)
class _OrderCoalitions:
    """Orders of players, and the distinct coalitions of their first players."""

    orders: NDArray[np.intp]  # (n, n_players)
    coalitions: NDArray[np.bool_]  # (m, n_players): neither empty nor grand
    # Positions of the coalitions of each order, from the empty to the grand coalition,
    # (n, n_players + 1): 0 is the empty coalition, 1 to m are `coalitions`, m + 1 is
    # the grand coalition.
    positions: NDArray[np.intp]

    @classmethod
    def of_orders(cls, orders: NDArray[np.intp]) -> _OrderCoalitions:
        """Find the distinct coalitions of orders, and their positions."""
        n, n_players = orders.shape
        if n_players < 2:
            positions = np.tile(np.arange(n_players + 1), (n, 1))
            return cls(orders, np.empty((0, n_players), dtype=bool), positions)
        ranks = np.argsort(orders, axis=1)
        members = ranks[:, None, :] < np.arange(1, n_players)[:, None]
        members = members.reshape(-1, n_players)
        first, number = distinct_coalitions(members)
        positions = np.zeros((n, n_players + 1), dtype=np.intp)
        positions[:, 1:-1] = number.reshape(n, -1) + 1
        positions[:, -1] = len(first) + 1
        return cls(orders, members[first], positions)

    def gains(
        self,
        responses: NDArray[np.float64],
        empty_value: NDArray[np.float64],
        grand_value: NDArray[np.float64],
    ) -> NDArray[np.float64]:
        """Gains of players as they join, (n, n_players, k), by values of coalitions."""
        values = np.vstack([empty_value, responses, grand_value])
        gains_in_order = np.diff(values[self.positions], axis=1)
        gains = np.empty_like(gains_in_order)
        np.put_along_axis(gains, self.orders[:, :, None], gains_in_order, axis=1)
        return gains
