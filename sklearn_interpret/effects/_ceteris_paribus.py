"""Ceteris paribus profiles: the curves of one row as its features vary one by one."""

from copy import copy
from dataclasses import replace

import numpy as np

from sklearn_interpret._model.rows.axes import labels_array
from sklearn_interpret._model.rows.base import is_missing, label_key
from sklearn_interpret.effects._individual_conditional_expectation import (
    IndividualConditionalExpectation,
)
from sklearn_interpret.explanations._selection import row_position


class GridInspector(IndividualConditionalExpectation):
    """The grids of ICE without its curves, so that no row is predicted."""

    def _measure(self, sample, response):
        self._kind = type(sample.rows)
        self._deviations = [0.0] * len(self.axes_)
        return 1


def with_profiles(inspector, X, row, entries):
    """A copy of an ICE inspector with the curves of one row of X.

    It has `profiles_` (k, G) for each of the entries, over grids to which the row's own
    values are added; these, `row_values_`; and the row's response, `prediction_` (k,).
    """
    rows = inspector._check_rows(X, reset=False)
    one = rows.take([row_position(row, rows.n_rows)])
    axes = [_single_axis(inspector, entry) for entry in entries]
    own = copy(inspector)
    own._anchors = [None] * len(inspector.axes_)  # not centred
    response = own._make_response()
    (own.prediction_,) = response(one.native)
    curves = own._curves(one, response, entries)
    own.output_names_ = response.output_names(len(own.prediction_))
    own.row_values_ = [_value_along(axis, one) for axis in axes]
    added = [
        _with_point(*parts, own.prediction_)
        for parts in zip(axes, curves, own.row_values_, strict=True)
    ]
    own.axes_ = [(axis,) for axis, _ in added]
    own.profiles_ = [profile for _, profile in added]
    own.features_ = [axis.columns for axis in axes]
    own.effect_names_ = [axis.name for axis in axes]
    own.feature_importances_ = np.zeros(rows.n_columns)
    for columns, profile in zip(own.features_, own.profiles_, strict=True):
        own.feature_importances_[list(columns)] = profile.std(axis=1).mean()
    return own


def _single_axis(inspector, entry):
    """The axis of an entry, which must not be a pair."""
    if len(inspector.axes_[entry]) > 1:
        raise ValueError(
            f"features has the pair {inspector.effect_names_[entry]!r}; ceteris "
            "paribus profiles vary one feature at a time."
        )
    return inspector.axes_[entry][0]


def _value_along(axis, one):
    """The one row's number, or its level."""
    if axis.categorical:
        return one.encode(axis.columns)[1][0]
    return one.numbers(axis.columns[0])[0]


def _with_point(axis, curves, value, prediction):
    """The axis and the profile (k, G) with the row's own value as a point.

    A missing number has no place on the axis.
    """
    profile, known = curves[:, 0], set(map(label_key, axis.values))
    if label_key(value) in known or (is_missing(value) and not axis.categorical):
        return axis, profile
    values = labels_array([*axis.values, value])
    return replace(axis, values=values), np.column_stack([profile, prediction])
