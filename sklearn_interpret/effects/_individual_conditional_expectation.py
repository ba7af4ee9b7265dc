"""Individual conditional expectation: one curve per row (Goldstein et al. 2015)."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.frozen import FrozenEstimator

from sklearn_interpret._core.statistics.grids import derivative
from sklearn_interpret._core.statistics.weighted import Moments
from sklearn_interpret._inspectors.params import estimator_dataclass
from sklearn_interpret._model.progress import shows_progress
from sklearn_interpret._model.responses.response import (
    drop_single_output,
    make_response,
)
from sklearn_interpret._model.rows.axes import label_text, values_along
from sklearn_interpret._model.rows.base import is_missing, label_key
from sklearn_interpret._model.rows.features import resolve_keys
from sklearn_interpret._model.rows.lazy import lazy_transformer
from sklearn_interpret._model.rows.plain import PlainState
from sklearn_interpret._model.rows.validation import empty_for_no_rows
from sklearn_interpret.effects._axes import (
    GRID_CONSTRAINTS,
    grid_quantiles,
    make_grid_axis,
    number_of_points,
)
from sklearn_interpret.effects._base import (
    BaseEffect,
    Points,
    grid_replacement,
    one_or_pair,
    row_curves,
)
from sklearn_interpret.explanations._selection import row_position

if TYPE_CHECKING:
    from sklearn_interpret._model.responses.response import Response
    from sklearn_interpret._model.rows.axes import Axis
    from sklearn_interpret._model.rows.base import Rows
    from sklearn_interpret._model.rows.sample import Sample


@dataclass(frozen=True)
class _Anchor(PlainState):
    """The point of an axis at which all curves of an entry are zero."""

    # Its position among the axis' values, counted from the end if negative.
    point: int
    # The axis' values and the anchor's, which is the last, if it is not among them.
    levels: Any = None


@lazy_transformer
@estimator_dataclass
class IndividualConditionalExpectation(BaseEffect):
    """Response of each row as one or two of its features vary (ICE).

    The curve of row i at a value v of a feature j is :math:`f(v, x_{i, -j})`. Centred
    curves (c-ICE) start from a common point. Slopes (d-ICE) show where rows differ:
    without interactions all slopes at a value are equal.

    Parameters
    ----------
    estimator : estimator
        The predictor to inspect; a clone of it is fitted. Pass a fitted one as
        ``FrozenEstimator(model)``.
    features : None, int, str, bool mask, or list of ints, strs and pairs, default=None
        Features to vary, by position or name; a pair is varied jointly. None takes
        every feature alone.
    categorical_features : "auto", None, or list of ints or strs, default="auto"
        Features whose values are levels. "auto" takes the category, object, string
        and boolean columns of a DataFrame.
    feature_groups : dict of str to list, default=None
        Features that move together as one, over their observed joint values.
    grid_resolution : int, default=100
        Largest number of points along a numeric feature.
    percentiles : tuple of two floats, default=(0.05, 0.95)
        Quantiles between which the equally spaced points lie.
    custom_values : dict of feature to array-like, default=None
        Points to use instead, in the feature's units (dates for dates), in any order;
        results keep the order.
    center : None, "start", "end", float, label, or dict of feature to one, default=None
        Subtract from each curve its value at the first or last point, or at a value
        of the feature, at which the model is evaluated too.
    derivative : bool, default=False
        Whether to compute slopes along numeric features.
    method : {"auto", "tree", "brute"}, default="auto"
        How the curves are computed: from the model's trees, or from predictions, as in
        :class:`PartialDependence`.
    subsample : int, float or None, default=10_000
        Number or share of the rows that get a curve; None takes all. More curves than
        the default take gigabytes.
    max_rows : int, default=None
        Largest number of rows that a call sends to the model; an error before says what
        is possible. None is no limit.
    response_method : str, list of str or callable, default="auto"
        As in :class:`PartialDependence`.
    target : class label, int or dict, default=None
        Output to keep, or a contrast {output: weight}. None keeps the only one, the
        positive class of a binary classifier, or all.
    random_state : int, RandomState or None, default=None
        Draws the subsample.
    n_jobs : int or None, default=None
        Number of workers.
    verbose : int or None, default=None
        1 prints the share done and the time left, 0 nothing. None writes one line to
        the standard error of calls that will take more than five seconds.

    Attributes
    ----------
    estimator_ : estimator
        The fitted model.
    grid_values_ : list
        For each entry of `features`, the points along it: an array of shape (G,), or
        a pair of those.
    curves_ : list of ndarray of shape (n, G) or (n, G1, G2)
        One curve (or surface) per row of positive weight; with several outputs these
        lead, as in (k, n, G).
    average_ : list of ndarray of shape (G,) or (G1, G2)
        Weighted mean of the curves; without centring the partial dependence.
    derivatives_ : list of ndarray of shape (n, G), or None
        Slopes of the curves; None for categorical features and pairs. Only with
        ``derivative=True``.
    derivative_std_ : list of ndarray of shape (G,), or None
        Weighted standard deviation of the slopes over the rows.
    heterogeneity_ : ndarray of shape (n_entries,) or (k, n_entries)
        Differences in shape between the curves: the square root of the mean over the
        grid of the variance over the rows of curves centred at their own means. Zero
        without interactions.
    feature_importances_ : ndarray of shape (`n_features_in_`,)
        Root mean square over rows of the standard deviation of a curve along the
        grid, mean over outputs; zero for features that are not inspected alone.
    features_ : list of tuple of int
        Columns of each entry.
    effect_names_ : list of str or pair of str
        Name of each entry.
    axes_ : list of tuple of Axis
        The axes of each entry.
    sample_indices_ : ndarray of shape (n,)
        Rows of `X` that have a curve.
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
        In `fit`: as :class:`PartialDependence`; if `center` is not a value of the
        feature.

    References
    ----------
    Goldstein, A., Kapelner, A., Bleich, J. & Pitkin, E. (2015). Peeking inside the
    black box. Journal of Computational and Graphical Statistics 24(1).
    https://doi.org/10.1080/10618600.2014.907095

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.ensemble import RandomForestRegressor
    >>> from sklearn_interpret.effects import IndividualConditionalExpectation
    >>> X = np.random.default_rng(0).uniform(size=(200, 2))
    >>> y = X[:, 0] * X[:, 1]
    >>> ice = IndividualConditionalExpectation(
    ...     RandomForestRegressor(20, random_state=0), features=[0], center="start"
    ... ).fit(X, y)
    >>> ice.curves_[0].shape
    (200, 100)
    >>> ice.heterogeneity_.round(2)
    array([0.08])
    """

    features: Any = None
    categorical_features: ArrayLike | None = "auto"
    feature_groups: dict[str, Any] | None = None
    grid_resolution: int = 100
    percentiles: tuple[float, float] = (0.05, 0.95)
    custom_values: dict[Any, Any] | None = None
    center: Any = None
    derivative: bool = False
    method: str = "auto"
    subsample: float | None = 10_000

    grid_values_: Points = field(init=False)
    average_: list[NDArray[np.float64]] = field(init=False)
    curves_: list[NDArray[np.float64]] = field(init=False)
    derivatives_: list[NDArray[np.float64] | None] = field(init=False)
    derivative_std_: list[NDArray[np.float64] | None] = field(init=False)
    heterogeneity_: NDArray[np.float64] = field(init=False)
    sample_indices_: NDArray[np.intp] = field(init=False)

    _make_axis, _quantiles_of = make_grid_axis, grid_quantiles
    _size_of_axes = number_of_points
    _points_attribute = "grid_values_"
    _number_attributes = {"value": "average_", "slope_std": "derivative_std_"}

    _parameter_constraints = {
        **BaseEffect._parameter_constraints,
        **GRID_CONSTRAINTS,
        "center": "no_validation",
        "derivative": ["boolean"],
    }

    def _measure(self, sample: Sample, response: Response) -> int:
        self.grid_values_ = [
            one_or_pair([axis.displayed for axis in axes]) for axes in self.axes_
        ]
        self._anchors = self._resolve_anchors(sample.rows)
        self._rows_class = type(sample.rows)
        self.sample_indices_ = sample.index
        all_curves = self._compute_curves(sample.rows, response, range(len(self.axes_)))
        weights, spreads = sample.weights, []
        self.average_, self._deviations = [], []
        for curves in all_curves:
            average = np.tensordot(curves, weights, (1, 0)) / weights.sum()
            self.average_.append(drop_single_output(average))
            spreads.append(_shape_spread(curves, weights))
            self._deviations.append(_mean_deviation(curves, weights))
        self.curves_ = list(map(drop_single_output, all_curves))
        self.heterogeneity_ = drop_single_output(np.stack(spreads, axis=1))
        if self.derivative:
            self._set_derivatives(all_curves, weights)
        return len(all_curves[0])

    def _set_derivatives(
        self, all_curves: list[NDArray[np.float64]], weights: NDArray[np.float64]
    ) -> None:
        """Set slopes of the curves of each entry, and their spread over the rows."""
        self.derivatives_, self.derivative_std_ = [], []
        for axes, curves in zip(self.axes_, all_curves, strict=True):
            if len(axes) > 1 or axes[0].categorical:
                self.derivatives_.append(None)
                self.derivative_std_.append(None)
                continue
            order = axes[0].order
            slopes = np.empty_like(curves)
            slopes[..., order] = derivative(curves[..., order], axes[0].values[order])
            moments = Moments.of_rows(slopes.swapaxes(0, 1), weights)
            self.derivatives_.append(drop_single_output(slopes))
            self.derivative_std_.append(drop_single_output(np.sqrt(moments.variance)))

    def _entry_blocks(
        self,
        entry: int,
        attributes: dict[str, str],
        rows: NDArray[np.intp] | None = None,
    ) -> list[dict[str, Any]]:
        row_attributes = {"value": "curves_", "slope": "derivatives_"}
        return [
            *super()._entry_blocks(entry, attributes),
            *super()._entry_blocks(entry, row_attributes, self.sample_indices_),
        ]

    def _resolve_anchors(self, rows: Rows) -> list[_Anchor | None]:
        """Anchor of each entry, None if its curves are not centred."""
        if not isinstance(self.center, dict):
            return [_find_anchor(axes, self.center, rows) for axes in self.axes_]
        centers = resolve_keys(
            self.center,
            rows.names,
            named=rows.named,
            parameter="center",
            groups=self.feature_groups,
        )
        anchors = []
        for axes in self.axes_:
            center = None
            if len(axes) == 1:
                (axis,) = axes
                key = axis.name if len(axis.columns) > 1 else axis.columns[0]
                center = centers.get(key)
            anchors.append(_find_anchor(axes, center, rows))
        return anchors

    def _compute_curves(
        self, rows: Rows, response: Response, entries: Iterable[int]
    ) -> list[NDArray[np.float64]]:
        """Centred curves of the rows, (k, n, G) or (k, n, G1, G2) for each entry."""
        axes = [self.axes_[entry] for entry in entries]
        anchors = [self._anchors[entry] for entry in entries]
        grids = [
            grid_replacement(entry_axes, anchor.levels if anchor else None)
            for entry_axes, anchor in zip(axes, anchors, strict=True)
        ]
        if not isinstance(rows, self._rows_class):
            grids = [grid.recast(rows) for grid in grids]
        responses = row_curves(self.method, response, rows, grids, n_jobs=self.n_jobs)
        return list(map(_centre_curves, responses, axes, anchors))

    @empty_for_no_rows
    @shows_progress
    def transform(self, X: Any) -> NDArray[np.float64]:
        """Curves of the rows of `X` along the features' grids.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
            Rows whose curves are computed.

        Returns
        -------
        ndarray of shape (n_samples, sum of grid sizes x n_outputs)
            Concatenated curves along the single features.
        """
        rows = self._check_rows(X, reset=False)
        response = make_response(self.estimator_, self.response_method, self.target)
        curves = self._compute_curves(rows, response, self._entries_to_transform())
        # (k, n, G) -> (n, G, k): outputs of a point are adjacent columns.
        return np.hstack(
            [
                np.moveaxis(entry_curves, 0, -1).reshape(rows.n_rows, -1)
                for entry_curves in curves
            ]
        )

    def _column_suffixes(self, axis: Axis) -> list[str]:
        return [f"={label_text(value)}" for value in axis.displayed]

    def _importance(self, entry: int) -> float:
        return self._deviations[entry]


@estimator_dataclass
class GridInspector(IndividualConditionalExpectation):
    """The grids of ICE without the curves: the model predicts no row."""

    subsample: float | None = None  # grids of all rows cost little

    def _measure(self, sample: Sample, response: Response) -> int:
        self._deviations = [0.0] * len(self.axes_)
        return 1


def inspect_row(
    inspector: IndividualConditionalExpectation, X: Any, row: Any, entries: list[int]
) -> Any:
    """Fitted ICE of one row of X, over the grids of entries of an ICE inspector.

    The row's own values are added to the grids; they are `row_values_`. Its response is
    `prediction_` (k,).
    """
    rows = inspector._check_rows(X, reset=False)
    inspected = rows.take(np.array([row_position(row, rows.n_rows)]))
    grids, row_values = {}, []
    for entry in entries:
        axis, *second_axis = inspector.axes_[entry]
        if second_axis:
            raise ValueError(
                f"features has the pair {inspector.effect_names_[entry]!r}; ceteris "
                "paribus profiles vary one feature at a time."
            )
        (value,) = values_along(axis.columns, inspected, axis.categorical)
        feature = axis.name if len(axis.columns) > 1 else axis.columns[0]
        grids[feature] = list(axis.displayed)
        row_values.append(value)
        is_point = axis.categorical or not is_missing(value)
        if is_point and label_key(value) not in map(label_key, axis.displayed):
            grids[feature].append(value)
    ice: Any = IndividualConditionalExpectation(
        FrozenEstimator(inspector.estimator_),
        features=list(grids),
        # A feature that is always missing has no points.
        custom_values={feature: values for feature, values in grids.items() if values},
        categorical_features=inspector.categorical_features,
        feature_groups=inspector.feature_groups,
        method=inspector.method,
        response_method=inspector.response_method,
        target=inspector.target,
        n_jobs=inspector.n_jobs,
    )
    ice.fit(inspected.native)
    (ice.prediction_,) = ice._make_response()(inspected.native)
    ice.row_values_ = row_values
    return ice


def _find_anchor(axes: tuple[Axis, ...], center: Any, rows: Rows) -> _Anchor | None:
    """Anchor of an entry, from the user's `center` for it."""
    if center is None:
        return None
    if isinstance(center, str) and center in ("start", "end"):
        return _Anchor(0 if center == "start" else -1)
    if len(axes) > 1:
        raise ValueError(
            f'center={center!r} is for features alone; pairs take "start" or "end".'
        )
    (axis,) = axes
    points = {label_key(value): point for point, value in enumerate(axis.displayed)}
    if isinstance(center, Hashable) and label_key(center) in points:
        return _Anchor(points[label_key(center)])
    number = np.nan
    if not axis.categorical and (axis.date_dtype or isinstance(center, Real)):
        with suppress(TypeError, ValueError):
            (number,) = rows.as_numbers(axis.columns[0], [center])
    if not np.isfinite(number):
        kind = "number" if axis.date_dtype is None else "date"
        raise ValueError(
            f"center={center!r} is not a value of the feature {axis.name!r}; "
            f'use "start", "end", '
            + ("one of its levels." if axis.categorical else f"or a finite {kind}.")
        )
    return _Anchor(len(axis.values), axis.levels_with(rows, number))


def _centre_curves(
    responses: NDArray[np.float64], axes: tuple[Axis, ...], anchor: _Anchor | None
) -> NDArray[np.float64]:
    """Responses (k, n, V) as curves over the grid, minus the value at the anchor."""
    shape = [len(axis.values) for axis in axes]
    n_points = int(np.prod(shape))
    curves = responses[:, :, :n_points]
    if anchor is not None and n_points:
        curves = curves - responses[:, :, [anchor.point]]
    return curves.reshape(*responses.shape[:2], *shape)


def _shape_spread(
    curves: NDArray[np.float64], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Heterogeneity: root mean variance over rows of curves without their means."""
    if not curves.size:
        return np.zeros(len(curves))
    flat = curves.reshape(*curves.shape[:2], -1)
    shapes = flat - flat.mean(axis=2, keepdims=True)
    variance = Moments.of_rows(shapes.swapaxes(0, 1), weights).variance
    return np.sqrt(variance.mean(axis=1))


def _mean_deviation(curves: NDArray[np.float64], weights: NDArray[np.float64]) -> float:
    """Importance: root mean square of the curves' standard deviations."""
    if not curves.size:
        return 0.0
    variances = curves.reshape(*curves.shape[:2], -1).var(axis=2)
    return np.sqrt(variances @ weights / weights.sum()).mean()
