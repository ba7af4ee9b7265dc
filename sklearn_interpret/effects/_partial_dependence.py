"""Partial dependence (Friedman 2001)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_interpret._core.statistics.grids import masses_of_sums
from sklearn_interpret._core.statistics.weighted import Averages
from sklearn_interpret._inspectors.params import estimator_dataclass
from sklearn_interpret._model._sklearn_compat import (
    StrOptions,
    recursion_partial_dependence,
)
from sklearn_interpret._model.replacement.replaced import choose_evaluator
from sklearn_interpret._model.responses.predictors import is_classifier, unfrozen
from sklearn_interpret._model.responses.response import (
    drop_single_output,
    make_response,
)
from sklearn_interpret._model.rows.partitioned import merge_states
from sklearn_interpret._model.rows.tables import effect_blocks
from sklearn_interpret.effects._axes import (
    GRID_CONSTRAINTS,
    grid_quantiles,
    make_grid_axis,
    number_of_points,
)
from sklearn_interpret.effects._base import (
    BaseEffect,
    Points,
    curve_at,
    deviation_of_curves,
    grid_replacement,
    one_or_pair,
    sums_of_entries,
)

if TYPE_CHECKING:
    from sklearn_interpret._model.replacement.replacement import Replacement
    from sklearn_interpret._model.responses.response import Response
    from sklearn_interpret._model.rows.axes import Axis
    from sklearn_interpret._model.rows.base import Rows
    from sklearn_interpret._model.rows.sample import Sample


@estimator_dataclass
class PartialDependence(BaseEffect):
    """Partial dependence of a model's response on one or two features.

    At a value v of a feature, the mean of the response over the rows, with that
    feature set to v in all of them:

    .. math:: PD_j(v) = \\frac{\\sum_i w_i f(v, x_{i, -j})}{\\sum_i w_i}

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
        Features that are replaced together, by their observed joint values.
    grid_resolution : int, default=100
        Largest number of points along a numeric feature. A feature with fewer
        distinct values is evaluated at these, and integers only at observed values.
    percentiles : tuple of two floats, default=(0.05, 0.95)
        Quantiles between which the equally spaced points lie.
    custom_values : dict of feature to array-like, default=None
        Points to use instead, in the feature's units (dates for dates), in any order;
        results keep the order.
    centered : bool, default=False
        Subtract the weighted mean of the curve over the rows. `standard_errors_` are
        then `shape_standard_errors_`.
    method : {"auto", "tree", "brute", "recursion"}, default="auto"
        "brute" sends all perturbed rows to the model. "tree" computes the same numbers
        from the trees of the model: the response must be a sum of trees that can be
        read, at a cost that hardly depends on the grid, or a link function of such a
        sum. "auto" is "tree" where that works, and else "brute". "recursion" is
        scikit-learn's weighted tree traversal: another quantity, which uses the
        training rows' shares at each split instead of the background rows, and no
        weights.
    max_rows : int, default=None
        Largest number of rows that a call sends to the model; an error before says what
        is possible. None is no limit.
    response_method : str, list of str or callable, default="auto"
        "auto" is `predict` of regressors, and `predict_proba`, else
        `decision_function`, of classifiers. Also a method's name ("score_samples" of
        detectors of outliers, say), a list of names of which the first found is used,
        "centered_log_proba", or ``f(estimator, X)``.
        With "predict", a classifier has one 0/1 column per class.
    target : class label, int or dict, default=None
        Output to keep, or a contrast {output: weight}. None keeps the only one, the
        positive class of a binary classifier, or all.
    subsample : int, float or None, default=None
        Number or share of the rows to average over; None takes all.
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
    average_ : list of ndarray of shape (G,) or (G1, G2)
        The partial dependence; with several outputs these lead, as in (k, G).
    standard_errors_ : list of ndarray, or None
        Standard errors of the averages, of the same shapes, for rows drawn at random,
        with the sum of the weights as their number; None with "recursion". With trees
        they cost more than the averages and are computed on first access, from the rows
        of `fit`, which are not pickled.
    shape_standard_errors_ : list of ndarray or None, or None
        Standard errors of the curves' shapes: of the mean over rows of
        :math:`f(v, x_{i, -j}) - \\sum_g m_g f(g, x_{i, -j})`, with :math:`m_g` the
        share of the rows at the grid's point g. Vertical shifts of whole curves do not
        count. None for pairs unless `centered`, and with "recursion".
    missing_average_ : list of float, ndarray of shape (k,), or None
        The average with the feature missing, for numeric features with missing values;
        else None.
    feature_importances_ : ndarray of shape (`n_features_in_`,)
        Weighted standard deviation of the curve over the rows, mean over outputs;
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
        In `fit`: unknown or repeated features, more than two features in an entry, a
        grid that cannot be built, a non-finite response, a fitted model not frozen
        without `y`.
    UnreadableModelError
        In `fit` with "tree": the trees can't be read, or the response is neither their
        sum nor a link function of it.

    Notes
    -----
    The model gets n x G rows for an entry of G points with "brute", and only a few, to
    check the trees, with "tree". With dependent features some perturbed rows are far
    from all data; :class:`AccumulatedLocalEffects` does not use such rows.

    References
    ----------
    Friedman, J. H. (2001). Greedy function approximation: A gradient boosting machine.
    Annals of Statistics 29(5). https://doi.org/10.1214/aos/1013203451

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import LinearRegression
    >>> from sklearn_interpret.effects import PartialDependence
    >>> X, y = load_diabetes(return_X_y=True)
    >>> effect = PartialDependence(LinearRegression(), features=[2], grid_resolution=5)
    >>> effect.fit(X, y).average_[0].round(1)
    array([117.5, 137.3, 157. , 176.8, 196.5])
    >>> effect.transform(X[:2]).round(1)
    array([[184.2],
           [125.4]])
    """

    features: Any = None
    categorical_features: ArrayLike | None = "auto"
    feature_groups: dict[str, Any] | None = None
    grid_resolution: int = 100
    percentiles: tuple[float, float] = (0.05, 0.95)
    custom_values: dict[Any, Any] | None = None
    centered: bool = False
    method: str = "auto"

    grid_values_: Points = field(init=False)
    average_: list[NDArray[np.float64]] = field(init=False)
    missing_average_: list[float | NDArray[np.float64] | None] = field(init=False)

    _errors_count_rows = _takes_partitions = True
    _caches = (*BaseEffect._caches, "_error_pass")

    _make_axis, _quantiles_of = make_grid_axis, grid_quantiles
    _size_of_axes = number_of_points
    _points_attribute = "grid_values_"
    _number_attributes = {
        "value": "average_",
        "standard_error": "standard_errors_",
        "shape_standard_error": "shape_standard_errors_",
    }

    _parameter_constraints = {
        **BaseEffect._parameter_constraints,
        **GRID_CONSTRAINTS,
        "centered": ["boolean"],
        "method": [StrOptions({"auto", "tree", "brute", "recursion"})],
    }

    def _measure(self, sample: Sample, response: Response) -> int:
        self.grid_values_ = [
            one_or_pair([axis.displayed for axis in axes]) for axes in self.axes_
        ]
        # Stored, since standard errors may be computed after a call of `set_params`.
        self._centred, self._has_errors = self.centered, False
        self._errors: list[NDArray[np.float64]] | None = None
        self._error_pass: Callable[[], Averages] | None = None
        self._sums, masses = self._sums_of_rows(sample)
        if self.method == "recursion":
            averages = self._averages_by_recursion(sample)
            if is_classifier(self.estimator_):
                raw = make_response(self.estimator_, "decision_function")
                self._response_name = raw.name
            missing: list[Any] = [None] * len(averages)
        else:
            means = self._average_over_rows(sample, response, masses).means
            if self.centered:
                means = [
                    entry_means - mass @ entry_means
                    for entry_means, mass in zip(means, masses, strict=True)
                ]
            outputs_first = [entry_means.T for entry_means in means]
            averages = list(map(_reshape_to_grid, self.axes_, outputs_first))
            missing = list(map(_values_at_missing, self.axes_, outputs_first))
        self._averages, self._missing = averages, missing
        self.average_ = [drop_single_output(average) for average in averages]
        self.missing_average_ = [
            None if values is None else drop_single_output(values) for values in missing
        ]
        return len(averages[0])

    def _entry_blocks(
        self,
        entry: int,
        attributes: dict[str, str],
        rows: NDArray[np.intp] | None = None,
    ) -> list[dict[str, Any]]:
        blocks, missing = super()._entry_blocks(entry, attributes), self._missing[entry]
        if missing is not None:
            (axis,), numbers = self.axes_[entry], {"value": missing[:, None]}
            points = ([np.nan],)
            blocks += effect_blocks([axis.name], points, numbers, self.output_names_)
        return blocks

    @property
    def standard_errors_(self) -> list[NDArray[np.float64]] | None:
        """Standard errors of the averages; with trees computed on first access."""
        return self._standard_errors_of_entries(of_shape=False)

    @property
    def shape_standard_errors_(self) -> list[NDArray[np.float64] | None] | None:
        """Standard errors of the centred curves, computed like `standard_errors_`."""
        return self._standard_errors_of_entries(of_shape=True)

    def _standard_errors_of_entries(self, *, of_shape: bool) -> Any:
        """Standard errors of each entry's averages, or of its centred curves."""
        if "_errors" not in vars(self):
            raise AttributeError(f"This {type(self).__name__} is not fitted yet.")
        if not self._has_errors:
            return None
        if self._errors is None:
            if self._error_pass is None:
                raise AttributeError(
                    "Standard errors of trees are computed from the rows of fit, which "
                    "are not pickled: read standard_errors_ before pickling."
                )
            self._errors = self._error_pass().standard_errors
        # The first outputs are errors of the averages, the last of centred curves.
        n_outputs, of_shape = len(self.output_names_), of_shape or self._centred
        outputs = slice(-n_outputs, None) if of_shape else slice(n_outputs)
        return [
            drop_single_output(_reshape_to_grid(axes, errors[:, outputs].T))
            if not of_shape or self._centres_curves(axes)
            else None
            for axes, errors in zip(self.axes_, self._errors, strict=True)
        ]

    def _centres_curves(self, axes: tuple[Axis, ...]) -> bool:
        """Whether the curves of rows are centred, which takes all of their points."""
        return self._centred or len(axes) == 1

    def _reset(self) -> None:
        super()._reset()
        vars(self).pop("_errors", None)

    def _sums_of_rows(self, sample: Sample) -> tuple[list[Any], list[Any]]:
        """Sums of the rows by point of each entry, and masses of the points.

        A mass is a share of the rows. Masses are in the order of the grid, with missing
        values last. Pairs have no sums, and masses only if curves are centred.
        """
        columns = {j for axes in self.axes_ for axis in axes for j in axis.columns}
        task = partial(sums_of_entries, self.axes_, self.centered)
        totals = sample.map_reduce(task, merge_states, columns)
        sums: list[Any] = []
        masses = []
        for axes, total in zip(self.axes_, totals, strict=True):
            mass = None
            if len(axes) > 1:
                sums.append(None)
                if self.centered:
                    mass = total / (total.sum() or 1.0)
            else:
                may_miss = not axes[0].categorical and self.method != "recursion"
                has_missing = may_miss and total[0, -1] > 0
                sums.append(total if has_missing else total[:, :-1])
                # Sums are in increasing order.
                mass, order = masses_of_sums(sums[-1]), axes[0].order
                mass[order] = mass[: len(order)].copy()
            masses.append(mass)
        return sums, masses

    def _average_over_rows(
        self,
        sample: Sample,
        response: Response,
        masses: list[NDArray[np.float64] | None],
    ) -> Averages:
        """Averages at all points of the grids, followed by those at missing values."""
        grids = []
        for axes, sums in zip(self.axes_, self._sums, strict=True):
            levels, axis = None, axes[0]
            if sums is not None and sums.shape[1] > len(axis.values):
                levels = axis.levels_with(sample.rows, np.nan)
            together = self._centres_curves(axes)
            grids.append(grid_replacement(axes, levels, together=together))
        task = partial(
            _sample_averages, self.method, response, grids, masses, self.n_jobs
        )
        averages = sample.map_reduce(partial(task, False), Averages.merge)
        self._has_errors = True
        if averages.with_errors:
            self._errors = averages.standard_errors
        else:
            task = partial(task, True)
            self._error_pass = partial(sample.map_reduce, task, Averages.merge)
        return averages

    def _importance(self, entry: int) -> float:
        curves, missing = self._averages[entry], self._missing[entry]
        curves = curves[:, self.axes_[entry][0].order]
        if missing is not None:
            curves = np.hstack([curves, missing[:, None]])
        return deviation_of_curves(curves, self._sums[entry])

    def _averages_by_recursion(self, sample: Sample) -> list[NDArray[np.float64]]:
        """Averages (k, G[, G2]) from scikit-learn's traversal of its trees."""
        model = unfrozen(self.estimator_)
        if self.response_method not in ("auto", "decision_function"):
            raise ValueError(
                'method="recursion" averages raw scores: response_method must be '
                f'"auto" or "decision_function"; got {self.response_method!r}.'
            )
        smallest, negative = sample.map_reduce(_range_of_weights, np.minimum, [0])
        if smallest != -negative:
            raise ValueError(
                'method="recursion" does not use the rows, and so ignores weights: '
                'use method="brute" with sample_weight.'
            )
        if any(axis.categorical for axes in self.axes_ for axis in axes):
            raise ValueError(
                'method="recursion" traverses numeric splits only; use method="brute" '
                "for categorical features and groups."
            )
        averages = []
        for axes in self.axes_:
            mesh = np.meshgrid(*[axis.values for axis in axes], indexing="ij")
            points = np.stack([values.ravel() for values in mesh], axis=1)
            columns = [axis.columns[0] for axis in axes]
            average = recursion_partial_dependence(model, points, columns)
            averages.append(average.reshape(len(average), *mesh[0].shape))
        # Raw scores are those of the second of two classes.
        selection = self._make_response().read(np.eye(len(averages[0])))
        return [np.tensordot(selection, average, (0, 0)) for average in averages]

    def _effect_at(self, entry: int, rows: Rows) -> NDArray[np.float64]:
        (axis,), missing = self.axes_[entry], self._missing[entry]
        values = curve_at(axis, rows, self._averages[entry])
        if missing is not None:
            values[np.isnan(rows.numbers(axis.columns[0]))] = missing
        return values


def _range_of_weights(sample: Sample) -> NDArray[np.float64]:
    """The smallest weight and minus the largest one: minima of both can be merged."""
    return np.array([sample.weights.min(), -sample.weights.max()])


def _number_of_points(axes: tuple[Axis, ...]) -> int:
    """Number of points of a grid."""
    return int(np.prod([len(axis.values) for axis in axes]))


def _reshape_to_grid(
    axes: tuple[Axis, ...], values: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Values (k, n_variants) in the shape of the grid, without the missing value."""
    shape = [len(axis.values) for axis in axes]
    return values[:, : _number_of_points(axes)].reshape(len(values), *shape)


def _values_at_missing(
    axes: tuple[Axis, ...], values: NDArray[np.float64]
) -> NDArray[np.float64] | None:
    """Values (k,) at the missing value, after the grid's points, or None."""
    n_points = _number_of_points(axes)
    return values[:, n_points] if values.shape[1] > n_points else None


def _sample_averages(
    method: str,
    response: Response,
    grids: list[Replacement],
    masses: list[NDArray[np.float64] | None],
    n_jobs: int | None,
    with_errors: bool,
    sample: Sample,
) -> Averages:
    """Averages over the rows of a sample."""
    model = choose_evaluator(method, response, sample.rows, grids)
    return model.averages(
        sample.weights, masses, with_errors=with_errors, n_jobs=n_jobs
    )
