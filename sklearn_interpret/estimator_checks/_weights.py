"""Checks of sample weights: a row of weight two is a row that stands twice."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator

from sklearn_interpret.estimator_checks._results import (
    assert_same,
    fitted_results,
    rename_training_rows,
    repeat_rows,
    responses,
)
from sklearn_interpret.estimator_checks._tables import (
    FEW_ROWS,
    N_ROWS,
    numeric_table,
    target_for,
    without_draws,
)


def check_weights_equal_repeated_rows(estimator: Any) -> None:
    """Whole-number weights have the results of repeated rows.

    A wrapped model is frozen, since not all models do so. Inspectors that fit it again
    have a true attribute `_refits`, and are not checked. Results that depend on the
    seed are estimates, and are not compared.
    """
    if getattr(estimator, "_refits", False):
        return
    X, y = numeric_table(), target_for(estimator)
    counts = np.random.default_rng(2).integers(1, 4, size=N_ROWS)
    weighted = _freeze(estimator).fit(X, y, sample_weight=counts)
    repeated = _freeze(estimator).fit(np.repeat(X, counts, 0), np.repeat(y, counts))
    random_names = _names_of_random_results(estimator)
    expected = repeat_rows(fitted_results(weighted), counts)
    assert_same(
        _leave_out(random_names, fitted_results(repeated)),
        _leave_out(random_names, expected),
    )
    if not random_names:
        assert_same(responses(weighted, X[FEW_ROWS]), responses(repeated, X[FEW_ROWS]))


def check_zero_weights_are_left_out(estimator: Any) -> None:
    """Rows of weight zero change no result."""
    X, y = numeric_table(), target_for(estimator)
    weights = np.random.default_rng(3).random(N_ROWS).round(1)
    weights[:5] = 0
    positive = weights > 0
    weighted = _freeze(estimator).fit(X, y, sample_weight=weights)
    without = _freeze(estimator).fit(
        X[positive], y[positive], sample_weight=weights[positive]
    )
    # Results of each row, such as a label, may exist for these rows too.
    expected = repeat_rows(fitted_results(weighted), positive.astype(int))
    assert_same(expected, fitted_results(without))
    # Training rows keep the positions that they have among all rows given.
    names = np.flatnonzero(positive).tolist()
    expected = rename_training_rows(responses(without, X[FEW_ROWS]), names)
    assert_same(responses(weighted, X[FEW_ROWS]), expected)


def check_scale_of_weights(estimator: Any) -> None:
    """Weights multiplied by a constant give the same averages.

    Not checked are inspectors that average over pairs of rows, where weights are
    numbers of rows (a true attribute `_weights_count_rows`), or that fit the model
    again.
    """
    exempting = ("_weights_count_rows", "_refits")
    if any(getattr(estimator, name, False) for name in exempting):
        return
    X, y = numeric_table(), target_for(estimator)
    rng = np.random.default_rng(4)
    for weights in (
        np.ones(N_ROWS),
        rng.integers(1, 4, size=N_ROWS),
        rng.random(N_ROWS),
    ):
        original = _freeze(estimator).fit(X, y, sample_weight=weights)
        # Standard errors that count rows would warn of a sum below two.
        scaled_weights = 3 * weights / weights.sum()
        scaled = _freeze(estimator).fit(X, y, sample_weight=scaled_weights)
        assert_same(_averages_of_rows(original), _averages_of_rows(scaled))
        assert_same(responses(original, X[:5]), responses(scaled, X[:5]))


def _freeze(estimator: Any) -> Any:
    """The estimator, around a model that was fitted without weights."""
    if not hasattr(estimator, "estimator"):
        return without_draws(estimator)
    model = clone(estimator.estimator).fit(numeric_table(), target_for(estimator))
    return without_draws(estimator, estimator=FrozenEstimator(model))


def _names_of_random_results(estimator: Any) -> set[str]:
    """Names of the results that depend on the seed."""
    X, y = numeric_table(), target_for(estimator)
    frozen = _freeze(estimator)
    if "random_state" not in frozen.get_params(deep=False):
        return set()
    first = fitted_results(frozen.fit(X, y))
    second = fitted_results(_freeze(estimator).set_params(random_state=1).fit(X, y))
    return {name for name in first if not _are_same(first[name], second[name])}


def _are_same(first: Any, second: Any) -> bool:
    try:
        assert_same(first, second)
    except AssertionError:
        return False
    return True


def _leave_out(names: set[str], results: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in results.items() if name not in names}


def _averages_of_rows(estimator: Any) -> dict[str, Any]:
    """Results that do not count rows: no totals, and no standard errors."""
    return {
        name: value
        for name, value in fitted_results(estimator).items()
        if not name.startswith("n_")
        and not name.endswith(("counts_", "standard_errors_"))
    }
