"""The contract of our estimators, as checks that any estimator can be held to.

As scikit-learn's own estimator checks, each takes an unfitted estimator and raises
where a promise is not kept. What is promised follows from what the estimator can do:
every one has parameters and a `fit`; some take weights, wrap a model, explain,
transform, or have results as a table. The parameters have to fit a table of five
numeric features at positions 0 to 4, and a wrapped model has to take numbers.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any
from unittest import SkipTest

from sklearn.exceptions import SkipTestWarning
from sklearn.utils.validation import has_fit_parameter

from sklearn_interpret.estimator_checks import (
    _every,
    _explains,
    _tabulates,
    _transforms,
    _weights,
    _wraps,
)

__all__ = ["check_estimator", "estimator_checks_generator"]


# Capabilities of estimators, and the module with the checks of each. Predictors and
# clusterers have further checks in scikit-learn.
_CAPABILITIES = (
    (lambda estimator: True, _every),
    (lambda estimator: has_fit_parameter(estimator, "sample_weight"), _weights),
    (lambda estimator: "estimator" in estimator.get_params(deep=False), _wraps),
    (lambda estimator: hasattr(estimator, "explain"), _explains),
    (lambda estimator: hasattr(estimator, "to_frame"), _tabulates),
    (lambda estimator: hasattr(estimator, "transform"), _transforms),
)


def estimator_checks_generator(
    estimator: Any,
) -> Iterator[tuple[str, Callable[[Any], None]]]:
    """The checks that an estimator has to pass, one by one.

    Parameters
    ----------
    estimator : estimator
        An unfitted instance.

    Yields
    ------
    name : str
        Name of the check.
    check : callable
        Takes the estimator.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> from sklearn_interpret.effects import PartialDependence
    >>> from sklearn_interpret.estimator_checks import estimator_checks_generator
    >>> estimator = PartialDependence(LinearRegression())
    >>> names = [name for name, check in estimator_checks_generator(estimator)]
    >>> "check_weights_equal_repeated_rows" in names
    True
    """
    for has_capability, module in _CAPABILITIES:
        if has_capability(estimator):
            yield from _checks_in(module)


def _checks_in(module: ModuleType) -> Iterator[tuple[str, Callable[..., Any]]]:
    """The checks that a module defines, by name, in order."""
    for name, value in vars(module).items():
        if name.startswith("check_") and value.__module__ == module.__name__:
            yield name, value


def check_estimator(estimator: Any) -> None:
    """Run all checks that an estimator has to pass.

    Parameters
    ----------
    estimator : estimator
        An unfitted instance.

    Raises
    ------
    AssertionError
        A promise is not kept; the first one found.

    Warns
    -----
    SkipTestWarning
        A check needs an optional library that is not installed.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> from sklearn_interpret.effects import PartialDependence
    >>> from sklearn_interpret.estimator_checks import check_estimator
    >>> check_estimator(PartialDependence(LinearRegression(), grid_resolution=5))
    """
    for name, check in estimator_checks_generator(estimator):
        try:
            check(estimator)
        except SkipTest as reason:
            warnings.warn(f"{name} is skipped: {reason}", SkipTestWarning, stacklevel=2)
