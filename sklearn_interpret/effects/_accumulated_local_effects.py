"""Accumulated local effects (Apley & Zhu 2020)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import field
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri
from sklearn.utils import check_random_state

from sklearn_interpret._core.effects.intervals import least_error_edges
from sklearn_interpret._inspectors.params import estimator_dataclass
from sklearn_interpret._model._sklearn_compat import Interval, StrOptions, warn
from sklearn_interpret._model.responses.response import drop_single_output
from sklearn_interpret._model.rows.base import label_key
from sklearn_interpret._model.rows.features import resolve_keys
from sklearn_interpret._model.rows.sample import Sample
from sklearn_interpret.effects._axes import (
    AxisRequest,
    interval_quantiles,
    make_interval_axis,
    number_of_intervals,
)
from sklearn_interpret.effects._base import (
    BaseEffect,
    Points,
    curve_at,
    deviation_of_curves,
    one_or_pair,
)
from sklearn_interpret.effects._local_effects import (
    local_effects,
    reorder_levels,
    similar_levels_first,
)
from sklearn_interpret.exceptions import EmptyIntervalWarning

if TYPE_CHECKING:
    from sklearn_interpret._core.effects.accumulation import LocalEffects
    from sklearn_interpret._model.responses.response import Response
    from sklearn_interpret._model.rows.axes import Axis
    from sklearn_interpret._model.rows.base import Rows

# n_intervals="auto" joins neighbours among narrow intervals, at most this many. Chosen
# by hand: each takes differences of its rows.
_MOST_NARROW = 100
# Rows of a narrow interval: fewer do not tell the spread of differences.
_ROWS_OF_NARROW = 5


@estimator_dataclass
class AccumulatedLocalEffects(BaseEffect):
    """Accumulated local effects of one or two features (ALE).

    Within each interval of a feature the response is differenced between the
    interval's two edges, for the rows in it, and the mean differences are summed up.
    Rows are moved only within their own interval, so the curve does not depend on
    combinations of values that do not occur in the data.

    .. math:: ALE_j(z_k) = \\sum_{l \\le k} \\frac{1}{n_l}
        \\sum_{x_{ij} \\in (z_{l-1}, z_l]}
        [f(z_l, x_{i, -j}) - f(z_{l-1}, x_{i, -j})] - c

    Parameters
    ----------
    estimator : estimator
        The predictor to inspect; a clone of it is fitted. Pass a fitted one as
        ``FrozenEstimator(model)``.
    features : None, int, str, bool mask, or list of ints, strs and pairs, default=None
        Features by position or name; a pair gets its second-order effect, free of
        both main effects. None takes every feature alone.
    categorical_features : "auto", None, or list of ints or strs, default="auto"
        Features whose values are levels. "auto" takes the category, object, string
        and boolean columns of a DataFrame.
    feature_groups : dict of str to list, default=None
        Features that are replaced together, by their observed joint values.
    n_intervals : int, "auto" or None, default=None
        Largest number of intervals along a numeric feature; their edges are the
        distinct inverted-CDF quantiles. None means 40; for pairs of features with few
        rows fewer, but at least 4, so that a cell holds ten distinct rows on average.
        "auto" chooses the intervals of a feature alone among at most 100 such ones and
        their unions, by the estimated mean squared error of the curve: wide where it is
        straight, narrow where it bends (as in RHALE). It asks for the responses twice.
    custom_values : dict of feature to array-like, default=None
        Edges (levels in order, for categories) to use instead. Rows outside are
        ignored.
    categorical_order : {"similarity", "sorted"} or dict of feature to list, \
default="similarity"
        Order in which levels are accumulated. "similarity" places levels next to each
        other whose rows are similar in the other features; ordered and boolean dtypes
        keep their own order. A dict gives levels in order.
    centered : bool, default=True
        Subtract the weighted mean over the rows, each with the mean effect of its
        interval's two edges, as in ALEPlot, or with the effect at its own value where
        every distinct value is an edge or a level. Otherwise the curve starts at zero.
    confidence_level : float or None, default=None
        Level of pointwise confidence bands, such as 0.95.
    confidence_method : {"standard_error", "bootstrap"}, default="standard_error"
        "standard_error" accumulates those of the intervals (single features only).
        "bootstrap" resamples rows, with fixed edges, and takes quantiles; it needs
        several rows in each interval.
    n_bootstraps : int, default=200
        Number of bootstrap draws.
    method : {"auto", "tree", "brute"}, default="auto"
        How the differences are computed: from the trees of a model that is their sum,
        or from predictions, as in :class:`PartialDependence`. "auto" predicts also
        where trees are so large that this takes less time.
    max_rows : int, default=None
        Largest number of rows that a call sends to the model; an error before says what
        is possible. None is no limit.
    response_method : str, list of str or callable, default="auto"
        As in :class:`PartialDependence`.
    target : class label, int or dict, default=None
        Output to keep, or a contrast {output: weight}. None keeps the only one, the
        positive class of a binary classifier, or all.
    subsample : int, float or None, default=None
        Number or share of the rows to average over; None takes all.
    random_state : int, RandomState or None, default=None
        Draws the subsample and the bootstrap.
    n_jobs : int or None, default=None
        Number of workers.
    verbose : int or None, default=None
        1 prints the share done and the time left, 0 nothing. None writes one line to
        the standard error of calls that will take more than five seconds.

    Attributes
    ----------
    estimator_ : estimator
        The fitted model.
    edges_ : list
        For each entry of `features`, the edges of shape (K + 1,), or the levels in
        order; a pair of those for pairs.
    by_similarity_ : list of bool or pair of bool
        Whether the levels are ordered by similarity.
    effects_ : list of ndarray of shape (K + 1,), (levels,) or (K1 + 1, K2 + 1)
        The effect at the edges or levels; with several outputs these lead.
    local_effects_ : list of ndarray of shape (K,), (levels - 1,) or (K1, K2)
        Mean difference over each interval, or from each level to the next; NaN in
        cells of pairs without rows.
    local_effects_std_ : list of ndarray
        Weighted standard deviation of those differences over the rows.
    interval_counts_ : list of ndarray of shape (K,), (levels,) or two-way
        Total weight of the rows in each interval or at each level.
    standard_errors_ : list of ndarray of shape (K + 1,) or (levels,), or None
        Standard errors of the centred effects, for the model as it is, from the
        differences between rows; None for pairs. Intervals of less than 11 rows take
        the variance of their neighbours, in proportion to the squared widths.
    intervals_low_, intervals_high_ : list of ndarray, or None for an entry
        Ends of the confidence bands, of the shapes of `effects_`. Only with a
        confidence level; None for pairs unless bootstrapped.
    n_missing_ : ndarray of shape (n_entries,)
        Total weight of the ignored rows: feature missing, or outside the edges.
    feature_importances_ : ndarray of shape (`n_features_in_`,)
        Weighted standard deviation of the effect over the rows, mean over outputs;
        zero for features that are not inspected alone.
    features_ : list of tuple of int
        Columns of each entry.
    effect_names_ : list of str or pair of str
        Name of each entry.
    axes_ : list of tuple of Axis
        The axes of each entry.
    categorical_features_ : ndarray of bool of shape (`n_features_in_`,)
        Which features are categorical.
    output_names_ : list
        Class labels, or positions of outputs.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if the input has string column names.
    classes_ : ndarray
        Class labels of a classifier.

    Raises
    ------
    ValueError
        In `fit`: as :class:`PartialDependence`; if a categorical order is not an order
        of the feature's levels.

    Notes
    -----
    With "brute" the model gets 2 n rows for a numeric feature, 4 n for two of them, and
    3 n for a categorical one, which has two neighbouring levels.

    References
    ----------
    Apley, D. W. & Zhu, J. (2020). Visualizing the effects of predictor variables in
    black box supervised learning models. Journal of the Royal Statistical Society B
    82(4). https://doi.org/10.1111/rssb.12377

    Gkolemis, V., Dalamagas, T., Ntoutsi, E. & Diou, C. (2023). RHALE: Robust and
    Heterogeneity-Aware Accumulated Local Effects. ECAI 2023.
    https://doi.org/10.3233/FAIA230354

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LinearRegression
    >>> from sklearn_interpret.effects import AccumulatedLocalEffects
    >>> X = np.random.default_rng(0).uniform(size=(100, 2))
    >>> ale = AccumulatedLocalEffects(LinearRegression(), n_intervals=4)
    >>> ale.fit(X, X @ [3, -1])
    AccumulatedLocalEffects(estimator=LinearRegression(), n_intervals=4)
    >>> slopes = np.diff(ale.effects_[0]) / np.diff(ale.edges_[0])
    >>> slopes.round(6)
    array([3., 3., 3., 3.])
    """

    features: Any = None
    categorical_features: ArrayLike | None = "auto"
    feature_groups: dict[str, Any] | None = None
    n_intervals: int | str | None = None
    custom_values: dict[Any, Any] | None = None
    categorical_order: str | dict[Any, Any] = "similarity"
    centered: bool = True
    confidence_level: float | None = None
    confidence_method: str = "standard_error"
    n_bootstraps: int = 200
    method: str = "auto"

    edges_: Points = field(init=False)
    interval_counts_: list[NDArray[np.float64]] = field(init=False)
    n_missing_: NDArray[np.float64] = field(init=False)
    by_similarity_: list[bool | tuple[bool, bool]] = field(init=False)
    effects_: list[NDArray[np.float64]] = field(init=False)
    local_effects_: list[NDArray[np.float64]] = field(init=False)
    local_effects_std_: list[NDArray[np.float64]] = field(init=False)
    standard_errors_: list[NDArray[np.float64] | None] = field(init=False)
    intervals_low_: list[NDArray[np.float64] | None] = field(init=False)
    intervals_high_: list[NDArray[np.float64] | None] = field(init=False)

    _points_attribute = "edges_"
    _number_attributes = {
        "value": "effects_",
        "standard_error": "standard_errors_",
        "low": "intervals_low_",
        "high": "intervals_high_",
    }

    _parameter_constraints = {
        **BaseEffect._parameter_constraints,
        "n_intervals": [
            Interval(Integral, 1, None, closed="left"),
            StrOptions({"auto"}),
            None,
        ],
        "categorical_order": [StrOptions({"similarity", "sorted"}), dict],
        "centered": ["boolean"],
        "confidence_level": [Interval(Real, 0, 1, closed="neither"), None],
        "confidence_method": [StrOptions({"standard_error", "bootstrap"})],
        "n_bootstraps": [Interval(Integral, 1, None, closed="left")],
    }

    _errors_count_rows = _takes_partitions = True

    @property
    def _weights_count_rows(self) -> bool:
        return self.n_intervals == "auto"

    _quantiles_of = interval_quantiles

    def _size_of_axes(self, sample: Sample, entry: Sequence[tuple[int, ...]]) -> int:
        if self.n_intervals == "auto" and len(entry) == 1:
            n_intervals = int(sample.total_weight / _ROWS_OF_NARROW)
            return min(_MOST_NARROW, max(n_intervals, 1))
        return number_of_intervals(self, sample, entry)

    def _make_axis(self, sample: Sample, request: AxisRequest) -> Axis:
        axis = make_interval_axis(self, sample, request)
        has_order = request.custom is not None or not axis.categorical
        return axis if has_order else self._order_levels(axis, sample)

    def _order_levels(self, axis: Axis, sample: Sample) -> Axis:
        """The axis with its levels in the order in which effects are accumulated."""
        rows, columns = sample.rows, axis.columns
        orders = self._resolve_custom_orders(rows)
        key = axis.name if len(columns) > 1 else columns[0]
        if key in orders:
            return reorder_levels(axis, _positions_of_levels(axis, orders[key]))
        has_order = len(columns) == 1 and rows.is_ordered(columns[0])
        if has_order or self.categorical_order == "sorted":
            return axis
        return similar_levels_first(axis, sample, self.categorical_features_)

    def _resolve_custom_orders(self, rows: Rows) -> dict[Any, Any]:
        """The user's orders, by column or name of a group."""
        if not isinstance(self.categorical_order, dict):
            return {}
        orders = resolve_keys(
            self.categorical_order,
            rows.names,
            named=rows.named,
            parameter="categorical_order",
            groups=self.feature_groups,
        )
        for key in orders:
            if not isinstance(key, str) and not self.categorical_features_[key]:
                raise ValueError(
                    f"categorical_order has the feature {rows.names[key]!r}, which is "
                    "not categorical: name it in categorical_features."
                )
        return orders

    def _measure(self, sample: Sample, response: Response) -> int:
        self._resolve_custom_orders(
            sample.rows
        )  # checks all names, also of other features
        if self.n_intervals == "auto":
            self._choose_intervals(sample, response)
        self.edges_ = [
            one_or_pair([axis.displayed for axis in axes]) for axes in self.axes_
        ]
        self.by_similarity_ = [
            one_or_pair([axis.by_similarity for axis in axes]) for axes in self.axes_
        ]
        bootstraps = (
            self.confidence_level is not None and self.confidence_method == "bootstrap"
        )
        if bootstraps and not isinstance(sample, Sample):
            raise ValueError(
                'confidence_method="bootstrap" draws from the differences of all rows, '
                'which are in partitions here: "standard_error" is accepted.'
            )
        effects, state = local_effects(
            self.axes_,
            sample,
            response,
            self.method,
            keep_rows=bootstraps,
            n_jobs=self.n_jobs,
        )
        self._sums, self.n_missing_ = state.sums, np.array(state.outside)
        self._warn_if_empty(effects)
        self._set_effects(effects)
        if self.confidence_level is not None:
            nodes = state.nodes[:] if bootstraps else None
            self._set_intervals(effects, self.confidence_level, nodes, sample)
        return len(self._effects[0])

    def _choose_intervals(self, sample: Sample, response: Response) -> None:
        """Join narrow intervals of single features into unions of least error."""
        entries = [
            entry
            for entry, (axis, *second) in enumerate(self.axes_)
            if not second
            and not axis.categorical
            and axis.name not in self._names_with_custom_values
        ]
        if not entries:
            return
        axes = [self.axes_[entry] for entry in entries]
        effects, _ = local_effects(
            axes, sample, response, self.method, n_jobs=self.n_jobs
        )
        for entry, (axis,), effect in zip(entries, axes, effects, strict=True):
            weights = effect.step_weights
            if len(weights) > 1:
                edges = least_error_edges(
                    axis.values, weights, effect.local, effect.local_error
                )
                self.axes_[entry] = (reorder_levels(axis, edges),)

    def _set_effects(self, effects: list[LocalEffects]) -> None:
        """Set the fitted attributes, except the ends of the bands."""
        self._effects = [effect.effect(centred=self.centered) for effect in effects]
        self.effects_ = [drop_single_output(effect) for effect in self._effects]
        self.local_effects_ = [
            drop_single_output(effect.observed_local) for effect in effects
        ]
        self.local_effects_std_ = [
            drop_single_output(effect.local_std) for effect in effects
        ]
        self.interval_counts_ = [effect.counts for effect in effects]
        self.standard_errors_ = [
            drop_single_output(effect.effect_error)
            if len(effect.steps.axes) == 1
            else None
            for effect in effects
        ]

    def _warn_if_empty(self, effects: list[LocalEffects]) -> None:
        """Warn of single features that have intervals without rows."""
        for axes, effect in zip(self.axes_, effects, strict=True):
            empty = effect.step_weights == 0
            if len(axes) == 1 and empty.any():
                warn(
                    "Use fewer intervals (n_intervals) or other edges (custom_values): "
                    f"{np.count_nonzero(empty)} intervals of the feature "
                    f"{axes[0].name!r} have no rows; their local effect is set to 0.",
                    EmptyIntervalWarning,
                )

    def _set_intervals(
        self,
        effects: list[LocalEffects],
        level: float,
        nodes: NDArray[np.integer] | None,
        sample: Sample,
    ) -> None:
        """Set the ends of the bands, by bootstrap if `nodes` of rows are given.

        Pairs have bands only by bootstrap.
        """
        rng = check_random_state(self.random_state)
        seeds = rng.randint(np.iinfo(np.int32).max, size=len(effects))
        self.intervals_low_, self.intervals_high_ = [], []
        for effect, values, seed in zip(effects, self._effects, seeds, strict=True):
            if nodes is not None:
                low, high = self._bootstrap_band(effect, level, nodes, sample, seed)
            elif len(effect.steps.axes) == 1:
                half_width = ndtri((1 + level) / 2) * effect.effect_error
                low, high = values - half_width, values + half_width
            else:
                self.intervals_low_.append(None)
                self.intervals_high_.append(None)
                continue
            self.intervals_low_.append(drop_single_output(low))
            self.intervals_high_.append(drop_single_output(high))

    def _bootstrap_band(
        self,
        effect: LocalEffects,
        level: float,
        nodes: NDArray[np.integer],
        sample: Sample,
        seed: int,
    ) -> NDArray[np.float64]:
        """Low and high ends of the effect over draws of the rows with replacement."""
        rng = np.random.default_rng(seed)
        n_rows = sample.rows.n_rows
        draws = []
        for _ in range(self.n_bootstraps):
            # Resampled rows are weights of the same differences: no new responses.
            index = rng.integers(n_rows, size=n_rows)
            weights = sample.weights * np.bincount(index, minlength=n_rows)
            resampled = effect.with_weights(nodes, weights)
            draws.append(resampled.effect(centred=self.centered))
        tail = (1 - level) / 2
        return np.quantile(draws, [tail, 1 - tail], axis=0)

    def _importance(self, entry: int) -> float:
        return deviation_of_curves(self._effects[entry], self._sums[entry][:, :-1])

    def _effect_at(self, entry: int, rows: Rows) -> NDArray[np.float64]:
        (axis,) = self.axes_[entry]
        return curve_at(axis, rows, self._effects[entry])


def _positions_of_levels(axis: Axis, levels: Iterable[Any]) -> NDArray[np.intp]:
    """Positions of the axis' levels, in the order of the user."""
    codes = {label_key(label): code for code, label in enumerate(axis.values)}
    try:
        order = [codes.get(label_key(label), -1) for label in levels]
    except TypeError as error:
        raise ValueError(
            f"categorical_order for the feature {axis.name!r} must be a sequence of "
            f"levels; got {levels!r}."
        ) from error
    order = [code for code in order if code >= 0]  # drops levels without rows
    if sorted(order) != list(range(len(axis.values))):
        raise ValueError(
            f"categorical_order for the feature {axis.name!r} must have each of its "
            f"levels once: {list(axis.values)!r}; got {list(levels)!r}."
        )
    return np.array(order)
