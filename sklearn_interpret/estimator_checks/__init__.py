"""The contract of an inspector, as checks that any inspector can be held to.

As scikit-learn's own estimator checks, each takes an unfitted instance and raises where
a promise is not kept. The instance's parameters have to fit a table of five numeric
features at positions 0 to 4, and its estimator has to take numbers.
"""

import warnings
from collections.abc import Callable, Iterator
from typing import Any
from unittest import SkipTest

from sklearn.exceptions import SkipTestWarning

from sklearn_interpret.estimator_checks._containers import (
    check_array_not_changed,
    check_frame_equals_array,
    check_frame_not_changed,
    check_mixed_frame_not_changed,
    check_model_sees_array,
    check_model_sees_pandas,
    check_model_sees_polars,
    check_polars_equals_pandas,
)
from sklearn_interpret.estimator_checks._determinism import (
    check_batches_are_independent,
    check_copies,
    check_global_random_state_untouched,
    check_jobs_are_independent,
    check_looking_changes_nothing,
    check_refit_forgets,
    check_rows_are_independent,
    check_same_seed_same_result,
)
from sklearn_interpret.estimator_checks._interface import (
    check_bad_parameters,
    check_feature_names_out,
    check_no_predictor,
    check_pandas_output,
    check_parameters_are_kept,
    check_polars_output,
    check_unknown_feature_lists_near_matches,
)
from sklearn_interpret.estimator_checks._local import (
    check_explanation_adds_up,
    check_explanation_describes_the_rows,
    check_explanation_equals_transform,
    check_explanation_escapes_names,
    check_explanation_of_a_row_alone,
    check_interaction_values_add_up,
)
from sklearn_interpret.estimator_checks._standing_in import (
    check_delegation,
    check_fitted_bare_without_y,
    check_frozen_is_not_refitted,
    check_given_estimator_is_cloned,
    check_has_what_the_estimator_has,
    check_not_fitted,
    check_tags_of_the_estimator,
    check_unfitted_frozen,
)
from sklearn_interpret.estimator_checks._weighting import (
    check_scale_of_weights,
    check_weights_equal_repeated_rows,
    check_zero_weights_are_left_out,
)

__all__ = [
    "check_array_not_changed",
    "check_bad_parameters",
    "check_batches_are_independent",
    "check_copies",
    "check_delegation",
    "check_explanation_adds_up",
    "check_explanation_describes_the_rows",
    "check_explanation_equals_transform",
    "check_explanation_escapes_names",
    "check_explanation_of_a_row_alone",
    "check_feature_names_out",
    "check_fitted_bare_without_y",
    "check_frame_equals_array",
    "check_frame_not_changed",
    "check_frozen_is_not_refitted",
    "check_given_estimator_is_cloned",
    "check_global_random_state_untouched",
    "check_has_what_the_estimator_has",
    "check_inspector",
    "check_interaction_values_add_up",
    "check_jobs_are_independent",
    "check_looking_changes_nothing",
    "check_mixed_frame_not_changed",
    "check_model_sees_array",
    "check_model_sees_pandas",
    "check_model_sees_polars",
    "check_no_predictor",
    "check_not_fitted",
    "check_pandas_output",
    "check_parameters_are_kept",
    "check_polars_equals_pandas",
    "check_polars_output",
    "check_refit_forgets",
    "check_rows_are_independent",
    "check_same_seed_same_result",
    "check_scale_of_weights",
    "check_tags_of_the_estimator",
    "check_unfitted_frozen",
    "check_unknown_feature_lists_near_matches",
    "check_weights_equal_repeated_rows",
    "check_zero_weights_are_left_out",
    "inspector_checks",
]


def inspector_checks() -> Iterator[tuple[str, Callable[[Any], None]]]:
    """All checks of the contract, to be run one by one.

    Yields
    ------
    name : str
        Name of the check.
    check : callable
        Takes an unfitted inspector.

    Examples
    --------
    >>> from sklearn_interpret.estimator_checks import inspector_checks
    >>> names = [name for name, check in inspector_checks()]
    >>> "check_weights_equal_repeated_rows" in names
    True
    """
    for name in __all__:
        if name not in ("check_inspector", "inspector_checks"):
            yield name, globals()[name]


def check_inspector(inspector: Any) -> None:
    """Run all checks of the contract.

    Parameters
    ----------
    inspector : inspector
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
    >>> from sklearn_interpret.estimator_checks import check_inspector
    >>> check_inspector(PartialDependence(LinearRegression(), grid_resolution=5))
    """
    for name, check in inspector_checks():
        try:
            check(inspector)
        except SkipTest as reason:
            warnings.warn(f"{name} is skipped: {reason}", SkipTestWarning, stacklevel=2)
