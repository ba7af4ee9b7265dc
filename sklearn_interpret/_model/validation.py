"""Validation of the input of `fit`: rows, targets, weights, and subsamples.

Nothing here needs a wrapped model: the library's own predictors use it too.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from numbers import Integral
from typing import Any, TypeVar, cast

import numpy as np
from sklearn.utils import (
    check_array,
    check_consistent_length,
    check_random_state,
    column_or_1d,
    resample,
)
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from sklearn_interpret._model import response
from sklearn_interpret._model._sklearn_compat import check_sample_weight, warn
from sklearn_interpret._model.rows.arrays import as_rows
from sklearn_interpret._model.rows.base import Rows, gather, is_missing
from sklearn_interpret._model.rows.lazy import is_dask
from sklearn_interpret.exceptions import LowWeightWarning

F = TypeVar("F", bound=Callable[..., Any])

# Range of the largest absolute value of columns and targets for models that take third
# powers: these must neither overflow nor vanish.
_SCALES = 1e-60, 1e60


def check_rows(estimator, X, *, reset):
    """Wrap `X` as `Rows`; check its shape and its feature names.

    Parameters
    ----------
    estimator : estimator
        With `reset`, gets `n_features_in_` and `feature_names_in_`.
    X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
        Rows.
    reset : bool
        True in `fit`, False for later input, which needs a fitted estimator.

    Returns
    -------
    Rows
    """
    if not reset:
        check_is_fitted(estimator)
    rows = as_rows(X)
    for count, what in ((rows.n_rows, "sample"), (rows.n_columns, "feature")):
        if count == 0:
            raise ValueError(
                f"Found array with 0 {what}(s) (shape={rows.native.shape}) while a "
                f"minimum of 1 is required by {type(estimator).__name__}."
            )
    if rows.named and len(set(rows.names)) < rows.n_columns:
        twice = next(name for name in rows.names if rows.names.count(name) > 1)
        raise ValueError(f"X has the column name {twice!r} more than once.")
    if rows.named:
        _check_names_are_text(rows.names)
    validate_data(estimator, rows.native, reset=reset, skip_check_array=True)
    if reset:
        estimator._first_row = rows.take(np.array([0])).native
    return rows


def empty_for_no_rows(method: F) -> F:
    """Let `method(self, X, ...)` of a fitted estimator accept a table without rows.

    Models refuse such tables: the result is an empty slice of that of the first row.
    """

    @wraps(method)
    def of_rows(self, X, *args, **options):
        shape = () if is_dask(X) else getattr(X, "shape", ())
        if len(shape) != 2 or shape[0] != 0:
            return method(self, X, *args, **options)
        check_is_fitted(self)
        validate_data(self, as_rows(X).native, reset=False, skip_check_array=True)
        options.pop("y", None)  # it does not belong to the first row
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return method(self, self._first_row, **options)[:0]

    return cast(F, of_rows)


def _check_names_are_text(names):
    """Refuse names with lone surrogates, which files, frames and figures refuse."""
    try:
        "".join(names).encode()
    except UnicodeEncodeError as error:
        name = next(n for n in names if n != n.encode(errors="ignore").decode())
        raise ValueError(
            f"X has the column name {name!r}, which is not Unicode text: it holds half "
            "of a surrogate pair."
        ) from error


def call_given(parameter, function, *arguments):
    """Call a function that the user passed; errors name the parameter."""
    try:
        return function(*arguments)
    except (TypeError, ValueError, NotImplementedError) as error:
        raise TypeError(f"{parameter} cannot be used: {error}") from error


def check_fits_rows(estimator, X):
    """Check that a frozen estimator is fitted on the same columns as `X`."""
    response.check_predictor_is_fitted(estimator)
    # Images have no columns to count.
    if not response.has_tags(estimator) or getattr(X, "ndim", 2) > 2:
        return
    model = response.unfrozen(estimator)
    # CatBoost checks its own copy of the names, but ignores their order.
    names = getattr(model, "feature_names_", None)
    if names is None:
        if not _are_lightgbm_names(model, X):
            validate_data(model, X, reset=False, skip_check_array=True)
        return
    rows = as_rows(X)
    if rows.named and rows.names != list(names) and set(rows.names) == set(names):
        raise ValueError(
            "The feature names should match those that were passed during fit. Feature "
            "names must be in the same order as they were in fit."
        )


def _are_lightgbm_names(model, X):
    """Whether the names of a model are those of X as LightGBM writes them."""
    # A meta-estimator has the names of the LightGBM model inside. Any other model that
    # was fitted on names with underlines refuses blanks itself.
    names = getattr(model, "feature_names_in_", None)
    if names is None or not hasattr(X, "columns") or not as_rows(X).named:
        return False
    return [name.replace(" ", "_") for name in as_rows(X).names] == list(names)


def check_not_masked(values, name):
    """Refuse a masked array: masked entries would be used like others."""
    if isinstance(values, np.ma.MaskedArray):
        raise TypeError(f"{name} is a masked array: fill it, or leave out those rows.")


def check_known(y):
    """Refuse masked targets, and missing labels, which cannot be sorted."""
    check_not_masked(y, "y")
    labels = np.asarray(y)
    if labels.dtype != object:
        return
    missing = [is_missing(label) for label in labels.ravel()]
    if any(missing):
        place = missing.index(True)
        raise ValueError(
            f"y has the missing label {labels.ravel()[place]!r} in row "
            f"{place * len(labels) // len(missing)}: leave out rows without one."
        )


def check_scale(values, what):
    """Refuse numbers whose products would overflow or vanish."""
    largest = float(np.fmax.reduce(np.abs(values), initial=0.0))  # ignores NaN
    if 0 < largest < _SCALES[0] or _SCALES[1] < largest < np.inf:
        raise ValueError(
            f"{what} has numbers up to {largest:g}; the largest may be "
            f"{_SCALES[0]:g} to {_SCALES[1]:g}, or zero: rescale it."
        )


def check_scales(rows):
    """Check the scale of each float column."""
    for j in range(rows.n_columns):
        if rows.values(j).dtype.kind == "f":
            check_scale(rows.values(j), f"Column {rows.names[j]!r} of X")


def check_weights(sample_weight, rows, *, count_rows=False):
    """Weights of rows as float64, ones by default; read-only.

    With `count_rows`, for standard errors that use their sum as the number of rows, a
    sum below two raises a warning.
    """
    if sample_weight is None:
        return np.broadcast_to(1.0, rows.n_rows)
    check_not_masked(sample_weight, "sample_weight")
    given = np.asarray(sample_weight)
    for weight in given.ravel().tolist() if given.dtype.kind in "OSU" else ():
        if isinstance(weight, str | bytes):
            raise TypeError(f"sample_weight has {weight!r}; weights are numbers.")
    weights = check_sample_weight(sample_weight, rows.native, dtype=np.float64)
    if (weights < 0).any():
        raise ValueError(
            f"sample_weight must not be negative; its smallest is {weights.min():g}."
        )
    with np.errstate(over="ignore"):
        total = weights.sum()
    if not weights.any():
        raise ValueError("sample_weight is zero for every row: nothing to inspect.")
    # Products of two weights, as in variances, must stay finite and positive.
    if not (weights[weights > 0].min() > 1e-100 and total < 1e100):
        raise ValueError(
            f"sample_weight holds weights up to {weights.max():g}; positive ones are "
            "accepted from 1e-100 on, and their sum below 1e100: rescale them."
        )
    if count_rows and total < 2:
        warn(
            "Scale sample_weight to sum to the number of rows: it sums to "
            f"{total:.3g}, less than two rows, and standard errors use weights as "
            "numbers of equal rows.",
            LowWeightWarning,
        )
    return weights


def offsets_of(column, rows):
    """Known parts of the linear predictor."""
    if column is None:
        return np.zeros(rows.n_rows)
    offsets = rows.values(column)
    if offsets.dtype.kind not in "iuf" or not np.isfinite(offsets).all():
        name = rows.names[column]
        raise ValueError(f"offset takes a column of finite numbers, not {name!r}.")
    return offsets.astype(np.float64)


def check_targets(estimator, rows, y, *, dtype=None):
    """Validated targets of rows, (n_rows,), unchanged or cast to a dtype."""
    if y is not None:
        check_known(y)
    # Raises the error for y=None.
    validate_data(estimator, rows.native, y, reset=False, skip_check_array=True)
    y = check_array(y, ensure_2d=False, dtype=dtype, input_name="y")
    y = column_or_1d(y, warn=True)
    check_consistent_length(rows.native, y)
    return y


def check_labels(estimator, rows, y):
    """Classes (n_classes,), and the position of each row's class (n_rows,)."""
    y = check_targets(estimator, rows, y)
    check_classification_targets(y)
    return np.unique(y, return_inverse=True)


def observed_levels(rows, columns):
    """Labels of the joint values of columns in rows, and native vectors of these."""
    _, labels, first = rows.encode(columns)
    return labels, tuple(gather(rows.column(j), first) for j in columns)


def draw_rows(n_rows, subsample, *, stratify=None, random_state=None):
    """Increasing positions of rows, drawn without replacement.

    Parameters
    ----------
    n_rows : int
        Number of rows to draw from.
    subsample : int, float in (0, 1] or None
        Number or share of rows to draw; None, or at least `n_rows`, keeps all.
    stratify : ndarray of shape (n_rows,) or None
        Class labels whose shares are kept.
    random_state : int, RandomState or None
        Source of the draw.

    Returns
    -------
    ndarray of int
    """
    size = n_rows if subsample is None else subsample
    if not isinstance(size, Integral):
        size = max(1, round(size * n_rows))
    if size >= n_rows:
        return np.arange(n_rows)
    if stratify is not None and size < len(np.unique(stratify)):
        stratify = None
    drawn = resample(
        np.arange(n_rows),
        replace=False,
        n_samples=int(size),
        stratify=stratify,
        random_state=check_random_state(random_state),
    )
    return np.sort(drawn)


@dataclass(frozen=True)
class Sample:
    """The rows that an estimator uses, with their targets and weights.

    Parameters
    ----------
    rows : Rows
        Rows of positive weight.
    y : ndarray or None
        Their targets.
    weights : ndarray of shape (n_rows,)
        Their weights; read-only.
    kept : ndarray of shape (n_rows,), default=None
        Their positions in the input; None for all rows, which saves memory.
    partition : int, default=0
        Number of their partition.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_interpret._model.rows.arrays import as_rows
    >>> from sklearn_interpret.base import Sample
    >>> weights = np.array([1.0, 0.0, 2.0])
    >>> sample = Sample.of(as_rows(np.eye(3)), [4, 5, 6], weights)
    >>> sample.index, sample.y, sample.weights
    (array([0, 2]), array([4, 6]), array([1., 2.]))
    """

    rows: Rows
    y: Any
    weights: np.ndarray
    kept: np.ndarray | None = None
    partition: int = 0

    @property
    def index(self):
        """Positions of the rows in the input: (n_rows,)."""
        return np.arange(self.rows.n_rows) if self.kept is None else self.kept

    @classmethod
    def of(cls, rows, y, weights):
        """The rows of positive weight.

        Parameters
        ----------
        rows : Rows
            All rows.
        y : array-like or None
            Their targets.
        weights : ndarray of shape (n_rows,)
            Their weights.

        Returns
        -------
        Sample
            The sample without the rows of weight zero.
        """
        everything = cls(rows, None if y is None else np.asarray(y), weights)
        positive = weights > 0
        return everything if positive.all() else everything._take(positive.nonzero()[0])

    def map_reduce(self, function, merge, columns=None):
        """Merged results of a function of parts of the rows: here of all in one.

        Parameters
        ----------
        function : callable
            Takes a `Sample`.
        merge : callable
            Merges the results of two neighbouring parts of rows in partitions.
        columns : sequence of int, default=None
            The only columns that the function reads; None for all.

        Returns
        -------
        object
            The result.
        """
        return function(self)

    def summarised(self, quantiles, level_sets, most_distinct):
        """The sample with `values_of` some columns and `levels_of` some sets of them.

        Parameters
        ----------
        quantiles : dict of int to array-like or None
            For each numeric column, the quantiles that `values_of` must give exactly;
            None asks for all values.
        level_sets : iterable of tuple of int
            Columns of each set.
        most_distinct : int
            Up to this number of distinct values all are kept.

        Returns
        -------
        Sample
            Here the sample itself, which has all values.
        """
        return self

    def values_of(self, j):
        """Numbers of a column, NaN left out, and their weights.

        Parameters
        ----------
        j : int
            The column.

        Returns
        -------
        values, weights : ndarray of shape (n_known,)
            Those of the rows.
        """
        values, weights = self.rows.numbers(j), self.weights
        known = ~np.isnan(values)
        return (values, weights) if known.all() else (values[known], weights[known])

    def levels_of(self, columns):
        """Distinct joint values of columns.

        Parameters
        ----------
        columns : tuple of int
            The columns.

        Returns
        -------
        labels : list
            In their natural order.
        levels : tuple of native vectors
            For each column.
        """
        return observed_levels(self.rows, columns)

    def n_distinct(self, columns, most):
        """Number of distinct joint values of columns, at most `most`.

        Parameters
        ----------
        columns : tuple of int
            The columns.
        most : int
            Result if there are more.

        Returns
        -------
        int
            The number.
        """
        return min(most, int(self.rows.encode(columns)[0].max()) + 1)

    @property
    def total_weight(self):
        """Sum of the weights."""
        return self.weights.sum()

    def distinct(self, columns=None):
        """The distinct rows with their targets, sorted, and weighted by their copies.

        Parameters
        ----------
        columns : list of int, default=None
            The columns in which rows may differ; None means all.

        Returns
        -------
        Sample
            Depends neither on the order of the rows nor on how weights and copies
            share the same total.
        """
        every = range(self.rows.n_columns) if columns is None else columns
        columns = [self.rows.encode_column(j)[0] for j in every]
        targets = self.y.reshape(len(self.y), -1).T
        columns += [np.unique(part, return_inverse=True)[1] for part in targets]
        _, first, copies = np.unique(
            columns, axis=1, return_index=True, return_inverse=True
        )
        weights = np.bincount(copies.ravel(), self.weights)
        return Sample(
            self.rows.take(first), self.y[first], weights, kept=self.index[first]
        )

    def draw(self, subsample, random_state, *, stratified):
        """A random subset of the rows, drawn without replacement.

        Parameters
        ----------
        subsample : int, float in (0, 1] or None
            Number or share of rows; None keeps all.
        random_state : int, RandomState or None
            Source of the draw.
        stratified : bool
            Whether to stratify by label; ignored for several columns of labels.

        Returns
        -------
        Sample
            The rows drawn, in order.
        """
        if subsample is None:
            return self
        by_class = stratified and self.y is not None and self.y.ndim == 1
        drawn = draw_rows(
            self.rows.n_rows,
            subsample,
            stratify=self.y if by_class else None,
            random_state=random_state,
        )
        return self._take(drawn)

    def _take(self, positions):
        # Increasing positions of this number are all rows.
        if len(positions) == self.rows.n_rows:
            return self
        y = None if self.y is None else self.y[positions]
        kept = positions if self.kept is None else self.kept[positions]
        return Sample(self.rows.take(positions), y, self.weights[positions], kept)
