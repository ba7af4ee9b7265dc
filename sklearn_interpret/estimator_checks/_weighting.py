"""Checks of sample weights: a row of weight two is a row that stands twice."""

import numpy as np
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator

from sklearn_interpret.estimator_checks._results import (
    answers,
    assert_same,
    fitted_results,
    rows_repeated,
)
from sklearn_interpret.estimator_checks._tables import (
    N_ROWS,
    numeric_table,
    target_for,
    without_draws,
)


def check_weights_equal_repeated_rows(inspector):
    """Whole-number weights give what repeating the rows gives.

    The model is held fixed, for models do not all keep this promise; of an inspector
    that fits it again it is not asked, which has a true attribute `_refits`. Results
    that another seed changes are estimates, and differ with the rows that are drawn.

    Parameters
    ----------
    inspector : inspector
        An unfitted instance.
    """
    if getattr(inspector, "_refits", False):
        return
    X, y = numeric_table(), target_for(inspector)
    counts = np.random.default_rng(2).integers(1, 4, size=N_ROWS)
    weighted = _frozen(inspector).fit(X, y, sample_weight=counts)
    repeated = _frozen(inspector).fit(np.repeat(X, counts, 0), np.repeat(y, counts))
    drawn = _drawn(inspector)
    expected = rows_repeated(fitted_results(weighted), counts)
    assert_same(_without(drawn, fitted_results(repeated)), _without(drawn, expected))
    if not drawn:
        assert_same(answers(weighted, X), answers(repeated, X))


def check_zero_weights_are_left_out(inspector):
    """Rows of weight zero might as well not be there.

    Parameters
    ----------
    inspector : inspector
        An unfitted instance.
    """
    X, y = numeric_table(), target_for(inspector)
    weights = np.random.default_rng(3).random(N_ROWS).round(1)
    weights[:5] = 0
    kept = weights > 0
    weighted = _frozen(inspector).fit(X, y, sample_weight=weights)
    without = _frozen(inspector).fit(X[kept], y[kept], sample_weight=weights[kept])
    assert_same(fitted_results(weighted), fitted_results(without))
    assert_same(answers(weighted, X), answers(without, X))


def check_scale_of_weights(inspector):
    """Weights multiplied by a constant give the same averages.

    An inspector that averages over pairs of rows, whose weights are then numbers of
    rows, has a true attribute `_weights_count_rows`; of it this is not asked, and not
    of one that fits the model again.

    Parameters
    ----------
    inspector : inspector
        An unfitted instance.
    """
    if getattr(inspector, "_weights_count_rows", False) or getattr(
        inspector, "_refits", False
    ):
        return
    X, y = numeric_table(), target_for(inspector)
    rng = np.random.default_rng(4)
    for weights in (
        np.ones(N_ROWS),
        rng.integers(1, 4, size=N_ROWS),
        rng.random(N_ROWS),
    ):
        one = _frozen(inspector).fit(X, y, sample_weight=weights)
        other = _frozen(inspector).fit(X, y, sample_weight=weights / weights.sum())
        assert_same(_averages(one), _averages(other))
        assert_same(answers(one, X), answers(other, X))


def _frozen(inspector):
    """An inspector of a model that was fitted without weights."""
    model = clone(inspector.estimator).fit(numeric_table(), target_for(inspector))
    return without_draws(inspector, estimator=FrozenEstimator(model))


def _drawn(inspector):
    """Names of the results that depend on the seed."""
    X, y = numeric_table(), target_for(inspector)
    one, other = _frozen(inspector), _frozen(inspector)
    if "random_state" not in other.get_params(deep=False):
        return set()
    one = fitted_results(one.fit(X, y))
    other = fitted_results(other.set_params(random_state=1).fit(X, y))
    return {name for name in one if not _are_same(one[name], other[name])}


def _are_same(one, other):
    try:
        assert_same(one, other)
    except AssertionError:
        return False
    return True


def _without(names, results):
    return {name: value for name, value in results.items() if name not in names}


def _averages(inspector):
    """Results that do not count rows: no totals, and no standard errors."""
    return {
        name: value
        for name, value in fitted_results(inspector).items()
        if not name.startswith("n_")
        and not name.endswith(("counts_", "standard_errors_"))
    }
