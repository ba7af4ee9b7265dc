"""Conditional dependence: the M-plot, means of responses in intervals of a feature."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial, partialmethod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_interpret._core.effects.cell_errors import cell_errors
from sklearn_interpret._core.statistics.grids import conditioning_edges, look_up
from sklearn_interpret._core.statistics.weighted import Moments
from sklearn_interpret._inspectors.params import estimator_dataclass
from sklearn_interpret._model.responses.response import (
    drop_single_output,
    plain_responses,
)
from sklearn_interpret._model.rows.axes import CellsOfRows
from sklearn_interpret._model.rows.dates import as_dates
from sklearn_interpret._model.rows.partitioned import merge_states
from sklearn_interpret.effects._axes import (
    INTERVAL_CONSTRAINTS,
    interval_quantiles,
    make_interval_axis,
    number_of_intervals,
)
from sklearn_interpret.effects._base import (
    BaseEffect,
    Points,
    deviation_of_curves,
    distinct_axes,
    one_or_pair,
)

if TYPE_CHECKING:
    from sklearn_interpret._model.responses.response import Response
    from sklearn_interpret._model.rows.axes import Axis
    from sklearn_interpret._model.rows.base import Rows
    from sklearn_interpret._model.rows.sample import Sample


@estimator_dataclass
class ConditionalDependence(BaseEffect):
    """Mean response of the rows whose feature lies in an interval (M-plot).

    .. math:: M_j(k) = E[f(X) \\mid X_j \\in (z_{k-1}, z_k]]

    Rows are not changed. The curve therefore mixes the feature's effect with those of
    all features that depend on it.

    Parameters
    ----------
    estimator : estimator
        The predictor to inspect; a clone of it is fitted. Pass a fitted one as
        ``FrozenEstimator(model)``.
    features : None, int, str, bool mask, or list of ints, strs and pairs, default=None
        Features to condition on, by position or name; for a pair, on both. None takes
        every feature alone.
    categorical_features : "auto", None, or list of ints or strs, default="auto"
        Features whose values are levels. "auto" takes the category, object, string
        and boolean columns of a DataFrame.
    feature_groups : dict of str to list, default=None
        Features taken as one, over their observed joint values.
    n_intervals : int or None, default=None
        Largest number of intervals along a numeric feature; their edges are quantiles.
        None means 40; for pairs of features with few rows fewer, but at least 4, so
        that a cell holds ten distinct rows on average.
    custom_values : dict of feature to array-like, default=None
        Edges (levels for categories) to use instead. Rows outside are ignored.
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
        Draws the subsample.
    n_jobs : int or None, default=None
        Not used: there is one pass over the rows. Present because all inspectors have
        it.
    verbose : int or None, default=None
        1 prints the share done and the time left, 0 nothing. None writes one line to
        the standard error of calls that will take more than five seconds.

    Attributes
    ----------
    estimator_ : estimator
        The fitted model.
    edges_ : list
        For each entry of `features`, the edges of shape (K + 1,), or the levels; a
        pair of those for pairs. Few distinct values get one interval each; the first
        goes from the smallest value to itself.
    centers_ : list
        Weighted mean of the feature in each interval, of shape (K,), or the levels; a
        pair of those for pairs.
    average_ : list of ndarray of shape (K,) or (K1, K2)
        Mean response in each interval; NaN without rows. With several outputs their
        axis comes first, as in (k, K).
    standard_errors_ : list of ndarray
        Standard errors of the averages, of the same shapes, with the sum of the
        weights as number of rows. Cells of less than 11 rows take the variance of
        their neighbours; that of a single row in all is NaN.
    interval_counts_ : list of ndarray of shape (K,) or (K1, K2)
        Total weight of the rows in each interval.
    n_missing_ : ndarray of shape (n_entries,)
        Total weight of the ignored rows: feature missing, or outside the edges.
    feature_importances_ : ndarray of shape (`n_features_in_`,)
        Weighted standard deviation of the average over the rows, mean over outputs;
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
        In `fit`: as :class:`PartialDependence`.

    References
    ----------
    Apley, D. W. & Zhu, J. (2020). Visualizing the effects of predictor variables in
    black box supervised learning models. Journal of the Royal Statistical Society B
    82(4), section 2. https://doi.org/10.1111/rssb.12377

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LinearRegression
    >>> from sklearn_interpret.effects import ConditionalDependence
    >>> X = np.arange(12.0).reshape(-1, 1)
    >>> effect = ConditionalDependence(LinearRegression(), n_intervals=3)
    >>> effect.fit(X, 2 * X.ravel()).average_[0].round(6)
    array([ 3., 11., 19.])
    """

    features: Any = None
    categorical_features: ArrayLike | None = "auto"
    feature_groups: dict[str, Any] | None = None
    n_intervals: int | None = None
    custom_values: dict[Any, Any] | None = None

    edges_: Points = field(init=False)
    interval_counts_: list[NDArray[np.float64]] = field(init=False)
    n_missing_: NDArray[np.float64] = field(init=False)
    centers_: Points = field(init=False)
    average_: list[NDArray[np.float64]] = field(init=False)
    standard_errors_: list[NDArray[np.float64]] = field(init=False)

    _errors_count_rows = _takes_partitions = True
    _make_axis = partialmethod(make_interval_axis, make_edges=conditioning_edges)
    _size_of_axes, _quantiles_of = number_of_intervals, interval_quantiles

    _points_attribute = "centers_"
    _number_attributes = {"value": "average_", "standard_error": "standard_errors_"}

    _parameter_constraints = {
        **BaseEffect._parameter_constraints,
        **INTERVAL_CONSTRAINTS,
    }

    def _measure(self, sample: Sample, response: Response) -> int:
        task = partial(_moments_of_entries, self.axes_, response)
        entries: list[_CellMoments] = sample.map_reduce(task, merge_states)
        n_outputs = entries[0].responses.mean.shape[1]
        self.edges_, self.centers_, self.interval_counts_ = [], [], []
        self._averages, errors = [], []
        for axes, cells in zip(self.axes_, entries, strict=True):
            shape = tuple(map(_n_cells, axes))
            moments = cells.responses
            is_empty = moments.weight == 0
            means = np.where(is_empty, np.nan, moments.mean)
            ordered = not any(axis.categorical for axis in axes)
            cell_error = cell_errors(moments, ordered=ordered)
            cell_error = np.where(is_empty, np.nan, cell_error)
            self._averages.append(means.T.reshape(n_outputs, *shape))
            errors.append(cell_error.T.reshape(n_outputs, *shape))
            self.interval_counts_.append(moments.weight.reshape(shape))
            self.edges_.append(one_or_pair([axis.displayed for axis in axes]))
            centers = list(map(_cell_centers, axes, cells.features))
            self.centers_.append(one_or_pair(centers))
        self.n_missing_ = np.array([cells.outside for cells in entries])
        self.average_ = [drop_single_output(average) for average in self._averages]
        self.standard_errors_ = [drop_single_output(error) for error in errors]
        return n_outputs

    def _importance(self, entry: int) -> float:
        counts = self.interval_counts_[entry]
        # As `grid_sums` of rows that are all at a cell, and not on the way to the next.
        sums = np.stack([counts, 0 * counts, 0 * counts])
        return deviation_of_curves(np.nan_to_num(self._averages[entry]), sums)

    def _effect_at(self, entry: int, rows: Rows) -> NDArray[np.float64]:
        (axis,) = self.axes_[entry]
        return look_up(axis.cells(rows), self._averages[entry])


@dataclass(frozen=True)
class _CellMoments:
    """Moments of an entry over some rows."""

    responses: Moments  # by cell, (n_cells, k)
    features: list[Moments]  # of each feature by its intervals, see `_feature_moments`
    outside: float  # weight of the rows in no cell

    def merge(self, second: _CellMoments) -> _CellMoments:
        """The moments over the rows of both."""
        return _CellMoments(
            self.responses.merge(second.responses),
            merge_states(self.features, second.features),
            self.outside + second.outside,
        )


def _n_cells(axis: Axis) -> int:
    """Number of levels, or of intervals between edges."""
    if axis.categorical:
        return len(axis.values)
    return max(len(axis.values) - 1, 0)


def _moments_of_entries(
    entries: Sequence[tuple[Axis, ...]], response: Response, sample: Sample
) -> list[_CellMoments]:
    """The moments of each entry, over the rows of a sample."""
    rows, weights = sample.rows, sample.weights
    responses = plain_responses(response, rows)
    distinct, columns = distinct_axes(entries)
    cells = CellsOfRows(distinct, rows)[:]
    moments = []
    for axes, positions in zip(entries, columns, strict=True):
        shape = tuple(map(_n_cells, axes))
        cells_of_axes = cells.T[positions]
        is_inside = (cells_of_axes >= 0).all(axis=0)
        joint_cells = np.zeros(is_inside.sum(), dtype=np.intp)
        if len(joint_cells):
            # Masking one axis at a time is far faster than a two-dimensional mask.
            inside = [axis_cells[is_inside] for axis_cells in cells_of_axes]
            joint_cells += np.ravel_multi_index(inside, shape)
        of_responses = Moments.of_groups(
            responses[is_inside], joint_cells, int(np.prod(shape)), weights[is_inside]
        )
        features = [
            _feature_moments(axis, axis_cells, sample)
            for axis, axis_cells in zip(axes, cells_of_axes, strict=True)
        ]
        outside = weights[~is_inside].sum()
        moments.append(_CellMoments(of_responses, features, outside))
    return moments


def _feature_moments(axis: Axis, cells: NDArray[np.intp], sample: Sample) -> Moments:
    """Moments of a feature in each interval, in its `_overflow_free_unit`.

    Levels have moments of zeros, which nothing reads.
    """
    inside = cells >= 0
    cells, weights = cells[inside], sample.weights[inside]
    numbers = np.zeros(len(cells))
    if not axis.categorical:
        numbers = sample.rows.numbers(axis.columns[0])[inside] / _overflow_free_unit(
            axis
        )
    return Moments.of_groups(numbers[:, None], cells, _n_cells(axis), weights)


def _overflow_free_unit(axis: Axis) -> float:
    """A unit of the feature in which sums of huge numbers do not overflow."""
    return max(np.abs(axis.values).max(initial=0.0), 1.0)


def _cell_centers(axis: Axis, moments: Moments) -> NDArray[Any]:
    """Weighted mean of the feature in each interval, or the levels."""
    if axis.categorical:
        return axis.values
    low, high = axis.values[:-1], axis.values[1:]
    means = (moments.mean[:, 0] * _overflow_free_unit(axis)).clip(low, high)
    centers = np.where(moments.weight[:, 0] > 0, means, low / 2 + high / 2)
    if axis.date_dtype is None:
        return centers
    # Means of dates are no whole days: they are in seconds.
    return as_dates(centers, f"{axis.date_dtype.kind}8[s]")
