"""Validation of the input of `fit`: rows, targets and weights.

Nothing here needs a wrapped model: the library's own predictors use it too.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array, check_consistent_length, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from sklearn_interpret._model._sklearn_compat import check_sample_weight, warn
from sklearn_interpret._model.rows.arrays import as_rows
from sklearn_interpret._model.rows.base import is_missing
from sklearn_interpret._model.rows.lazy import is_dask
from sklearn_interpret.exceptions import LowWeightWarning

if TYPE_CHECKING:
    from sklearn_interpret._model.rows.base import Rows

F = TypeVar("F", bound=Callable[..., Any])

# Range of the largest absolute value of columns and targets, for models that take third
# powers: these are from 1e-180 to 1e180, and sums of them neither overflow nor vanish.
_SMALLEST_SCALE = 1e-60
_LARGEST_SCALE = 1e60
# Range of positive weights: products of two, as in variances, stay finite and positive.
_SMALLEST_WEIGHT = 1e-100
_LARGEST_TOTAL = 1e100


class FitArguments(NamedTuple):
    """The arguments of `fit`."""

    X: Any  # the rows, in the user's container
    y: ArrayLike | None
    sample_weight: ArrayLike | None
    params: dict[str, Any]


def check_rows(estimator: Any, X: Any, *, reset: bool) -> Rows:
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
    n_features = getattr(estimator, "n_features_in_", None)
    if not reset and n_features is None:
        check_is_fitted(estimator)
    rows = as_rows(X)
    takes_none = not reset and getattr(estimator, "_takes_no_rows", False)
    for count, item in ((rows.n_rows, "sample"), (rows.n_columns, "feature")):
        if count == 0 and not (takes_none and item == "sample"):
            raise ValueError(
                f"Found array with 0 {item}(s) (shape={rows.native.shape}) while a "
                f"minimum of 1 is required by {type(estimator).__name__}."
            )
    if rows.named and len(set(rows.names)) < rows.n_columns:
        twice = next(name for name in rows.names if rows.names.count(name) > 1)
        raise ValueError(f"X has the column name {twice!r} more than once.")
    if rows.named:
        _check_names_are_text(rows.names)
    # Two checks of scikit-learn take as long as the values of a row.
    has_names = rows.named or hasattr(estimator, "feature_names_in_")
    if reset or has_names or rows.n_columns != n_features:
        validate_data(estimator, rows.native, reset=reset, skip_check_array=True)
    if reset:
        estimator._first_row = rows.take(np.array([0])).native
    return rows


def empty_for_no_rows(method: F) -> F:
    """Let `method(self, X, ...)` of a fitted estimator accept a table without rows.

    Models refuse such tables: the result is an empty slice of that of the first row,
    unless the estimator has it without a call of the model (`_takes_no_rows`).
    """

    @wraps(method)
    def of_rows(self: Any, X: Any, *args: Any, **options: Any) -> Any:
        shape = None if is_dask(X) else getattr(X, "shape", None)
        has_rows = shape is None or len(shape) != 2 or shape[0] != 0
        if has_rows or getattr(self, "_takes_no_rows", False):
            return method(self, X, *args, **options)
        check_is_fitted(self)
        validate_data(self, as_rows(X).native, reset=False, skip_check_array=True)
        options.pop("y", None)  # it does not belong to the first row
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return method(self, self._first_row, **options)[:0]

    return cast(F, of_rows)


def _check_names_are_text(names: list[str]) -> None:
    """Refuse names with lone surrogates, which files, frames and figures refuse."""
    try:
        "".join(names).encode()
    except UnicodeEncodeError as error:
        name = next(n for n in names if n != n.encode(errors="ignore").decode())
        raise ValueError(
            f"X has the column name {name!r}, which is not Unicode text: it holds half "
            "of a surrogate pair."
        ) from error


def call_parameter(
    parameter: str, function: Callable[..., Any], *arguments: Any
) -> Any:
    """Call a function that the user passed; errors name the parameter."""
    try:
        return function(*arguments)
    except (TypeError, ValueError, NotImplementedError) as error:
        raise TypeError(f"{parameter} cannot be used: {error}") from error


def check_not_masked(values: Any, name: str) -> None:
    """Refuse a masked array: masked entries would be used like others."""
    if isinstance(values, np.ma.MaskedArray):
        raise TypeError(f"{name} is a masked array: fill it, or leave out those rows.")


def check_not_missing(y: Any) -> None:
    """Refuse masked targets, and missing labels, which cannot be sorted."""
    check_not_masked(y, "y")
    labels = np.asarray(y)
    if labels.dtype != object:
        return
    missing = [is_missing(label) for label in labels.ravel()]
    if any(missing):
        position = missing.index(True)
        raise ValueError(
            f"y has the missing label {labels.ravel()[position]!r} in row "
            f"{position * len(labels) // len(missing)}: leave out rows without one."
        )


def target_numbers(y: Any) -> NDArray[np.float64]:
    """Targets as numbers; refuse those of survival, an event and a time in one."""
    fields = np.asarray(y).dtype.names
    if fields:
        raise TypeError(
            f"y has the fields {' and '.join(fields)}, and a number for each row is "
            "needed here. PermutationImportance takes scores of survival models."
        )
    return call_parameter("y", np.asarray, y, np.float64)


def check_scale(values: NDArray[np.float64], name: str) -> None:
    """Refuse numbers whose products would overflow or vanish."""
    largest = float(np.fmax.reduce(np.abs(values), initial=0.0))  # ignores NaN
    if 0 < largest < _SMALLEST_SCALE or _LARGEST_SCALE < largest < np.inf:
        raise ValueError(
            f"{name} has numbers up to {largest:g}; the largest may be "
            f"{_SMALLEST_SCALE:g} to {_LARGEST_SCALE:g}, or zero: rescale it."
        )


def check_scales(rows: Rows) -> None:
    """Check the scale of each float column."""
    for j in range(rows.n_columns):
        if rows.column_array(j).dtype.kind == "f":
            check_scale(rows.column_array(j), f"Column {rows.names[j]!r} of X")


def check_weights(
    sample_weight: ArrayLike | None, rows: Rows, *, count_rows: bool = False
) -> NDArray[np.float64]:
    """Weights of rows as float64, ones by default; read-only.

    With `count_rows`, for standard errors that use their sum as the number of rows, a
    sum below two raises a warning.
    """
    if sample_weight is None:
        return np.broadcast_to(1.0, rows.n_rows)
    check_not_masked(sample_weight, "sample_weight")
    numbers = np.asarray(sample_weight)
    for weight in numbers.ravel().tolist() if numbers.dtype.kind in "OSU" else ():
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
    smallest = weights[weights > 0].min()
    if not (smallest > _SMALLEST_WEIGHT and total < _LARGEST_TOTAL):
        raise ValueError(
            f"sample_weight holds weights up to {weights.max():g}; positive ones are "
            f"accepted from {_SMALLEST_WEIGHT:g} on, and their sum below "
            f"{_LARGEST_TOTAL:g}: rescale them."
        )
    if count_rows and total < 2:
        warn(
            "Scale sample_weight to sum to the number of rows: it sums to "
            f"{total:.3g}, less than two rows, and standard errors use weights as "
            "numbers of equal rows.",
            LowWeightWarning,
        )
    return weights


def offsets_of(column: int | None, rows: Rows) -> NDArray[np.float64]:
    """Known parts of the linear predictor."""
    if column is None:
        return np.zeros(rows.n_rows)
    offsets = rows.column_array(column)
    if offsets.dtype.kind not in "iuf" or not np.isfinite(offsets).all():
        name = rows.names[column]
        raise ValueError(f"offset takes a column of finite numbers, not {name!r}.")
    return offsets.astype(np.float64)


def check_targets(
    estimator: Any, rows: Rows, y: Any, *, dtype: type | None = None
) -> NDArray[Any]:
    """Validated targets of rows, (n_rows,), unchanged or cast to a dtype."""
    if y is not None:
        check_not_missing(y)
    # Raises the error for y=None.
    validate_data(estimator, rows.native, y, reset=False, skip_check_array=True)
    y = check_array(y, ensure_2d=False, dtype=dtype, input_name="y")
    y = column_or_1d(y, warn=True)
    check_consistent_length(rows.native, y)
    return y


def check_labels(
    estimator: Any, rows: Rows, y: Any
) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Classes (n_classes,), and the position of each row's class (n_rows,)."""
    y = check_targets(estimator, rows, y)
    check_classification_targets(y)
    return np.unique(y, return_inverse=True)
