"""Results of estimators, their comparison, and expected errors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import fields, is_dataclass, replace
from datetime import date
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.testing import assert_allclose
from numpy.typing import NDArray
from scipy.sparse import issparse

from sklearn_interpret.estimator_checks._tables import days

if TYPE_CHECKING:
    from sklearn_interpret.base import BaseInspector

# Fitted attributes that describe the input, and are no results.
_OF_THE_INPUT = {"estimator_", "feature_names_in_", "n_features_in_", "classes_"}

# Methods that return a result for each row.
BY_ROW = ("predict", "transform", "explain", "interaction_values")


def fitted_results(estimator: BaseInspector) -> dict[str, Any]:
    """Public fitted attributes and properties by name.

    Without models, and without positions of rows, which differ if rows are repeated.
    """
    cls = type(estimator)
    properties = [name for name in dir(cls) if isinstance(getattr(cls, name), property)]
    results = {}
    for name in (*vars(estimator), *properties):
        public = name.endswith("_") and not name.startswith("_")
        if public and not name.endswith("indices_") and name not in _OF_THE_INPUT:
            with suppress(AttributeError):  # of properties that only some models have
                results[name] = getattr(estimator, name)
    return {name: value for name, value in results.items() if not hasattr(value, "fit")}


def responses(estimator: BaseInspector, X: Any) -> dict[str, Any]:
    """Results of the estimator for each of the rows `X`, by method."""
    methods = [name for name in BY_ROW if hasattr(estimator, name)]
    if "explain" in methods and "transform" in methods:
        # `check_explanation_equals_transform` compares both.
        methods.remove("transform")
    return {name: getattr(estimator, name)(X) for name in methods}


def all_results(estimator: BaseInspector, X: Any) -> dict[str, Any]:
    """Fitted results, and responses to the rows `X`."""
    return {**fitted_results(estimator), **responses(estimator, X)}


def assert_same(
    left: Any,
    right: Any,
    where: str = "result",
    *,
    rtol: float = 1e-10,
    atol: float = 1e-12,
) -> None:
    """Compare nested results: numbers closely, everything else exactly.

    Parameters
    ----------
    left, right : object
        Arrays, also sparse ones, vectors of any library, numbers, labels; dicts, lists,
        tuples and dataclasses of such values.
    where : str, default="result"
        Name of the result in error messages.
    rtol, atol : float
        Tolerances for numbers: sums of the same numbers may differ by rounding.
    """
    if issparse(left) and issparse(right):
        left, right = left.toarray(), right.toarray()
    if is_dataclass(left):
        left, right = _as_dict(left), _as_dict(right)
    if isinstance(left, Mapping):
        _require(set(left) == set(right), where, sorted(left), sorted(right))
        for key in left:
            assert_same(left[key], right[key], f"{where} {key}", rtol=rtol, atol=atol)
    elif isinstance(left, list | tuple):
        _require(len(left) == len(right), where, left, right)
        for i, (first, second) in enumerate(zip(left, right, strict=True)):
            assert_same(first, second, f"{where}[{i}]", rtol=rtol, atol=atol)
    elif left is None or isinstance(left, str):
        _require(left == right, where, left, right)
    else:
        _assert_same_arrays(np.asarray(left), np.asarray(right), where, rtol, atol)


def _assert_same_arrays(
    left: NDArray[Any], right: NDArray[Any], where: str, rtol: float, atol: float
) -> None:
    _require(left.shape == right.shape, where, left, right)
    if left.dtype.kind in "biufc" and right.dtype.kind in "biufc":
        assert_allclose(left, right, rtol=rtol, atol=atol, err_msg=where)
        return
    pairs = zip(
        map(_as_scalar, left.ravel()), map(_as_scalar, right.ravel()), strict=True
    )
    for first, second in pairs:
        if isinstance(first, tuple) or is_dataclass(first):  # rules of conditions
            assert_same(first, second, where, rtol=rtol, atol=atol)
            continue
        # In frames, pandas has NaN where polars has None.
        both_missing = all(value is None or value != value for value in (first, second))
        _require(both_missing or first == second, where, first, second)


def _as_scalar(value: Any) -> Any:
    """A scalar as Python's own, and a date as days: dates of two libraries differ."""
    value = value.item() if isinstance(value, np.number | np.str_ | np.bool_) else value
    return days([value])[0] if isinstance(value, date | np.datetime64) else value


def _as_dict(value: Any) -> dict[str, Any]:
    compared = [field.name for field in fields(value) if field.compare]
    return {name: getattr(value, name) for name in compared}


def _require(condition: bool, where: str, left: Any, right: Any) -> None:
    if not condition:
        raise AssertionError(f"{where} differs: {left!r} is not {right!r}")


def nearest_rows(explanation: Any) -> Any:
    """The nearest row found for each explained row, and its distance; NaN for none.

    The explanation is a `RowExplanation` of rows of numbers.
    """
    rows, first_found = np.unique(explanation.origin, return_index=True)
    nearest = np.full(np.shape(explanation.data), np.nan)
    nearest[rows] = np.asarray(explanation.rows)[first_found]
    distances = np.full(len(explanation), np.nan)
    distances[rows] = explanation.distances[first_found]
    return nearest, distances


def repeat_rows(value: Any, counts: NDArray[np.intp]) -> Any:
    """A result in which every axis of rows is repeated, row i `counts[i]` times."""
    if isinstance(value, Mapping):
        return {key: repeat_rows(entry, counts) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(repeat_rows(entry, counts) for entry in value)
    if isinstance(value, np.ndarray):
        for axis in range(value.ndim):
            if value.shape[axis] == len(counts):
                value = np.repeat(value, counts, axis=axis)
    return value


def rename_training_rows(results: dict[str, Any], names: Any) -> dict[str, Any]:
    """Results in which training rows, named by their positions, have these names."""
    return {
        key: replace(
            value, training_names=[names[index] for index in value.training_names]
        )
        if getattr(value, "training_data", None) is not None
        else value
        for key, value in results.items()
    }


@contextmanager
def expect_error(
    kinds: type[Exception] | tuple[type[Exception], ...], *words: str, doing: str
) -> Iterator[Any]:
    """Demand an error of these kinds whose message has all the words.

    Parameters
    ----------
    kinds : exception class or tuple of exception classes
        Exceptions that are accepted.
    *words : str
        Words that the message has to contain.
    doing : str
        The attempt, for the report.
    """
    try:
        yield
    except kinds as error:
        missing = [word for word in words if word not in str(error)]
        if missing:
            raise AssertionError(
                f"{doing}: the message does not say {missing}: {error}"
            ) from error
        return
    except Exception as error:
        raise AssertionError(
            f"{doing}: {type(error).__name__} was raised, expected {kinds}: {error}"
        ) from error
    raise AssertionError(f"{doing}: nothing was raised, expected {kinds}")
