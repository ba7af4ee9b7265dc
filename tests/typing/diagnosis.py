"""Types of diagnosis, as users see them."""

from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray
from pandas import DataFrame
from sklearn.linear_model import LinearRegression

from sklearn_interpret.diagnosis import (
    Change,
    ChangeAttribution,
    ChangeDisplay,
    Changes,
    ErrorSlice,
    ErrorSlices,
    ErrorSlicesDisplay,
    ModelDifference,
    SliceLossDisplay,
)
from sklearn_interpret.effects import PartialDependence

Floats = NDArray[np.float64]


def model_difference(X: Floats, old: LinearRegression, new: LinearRegression) -> None:
    difference = ModelDifference([new, old], weights=[1, -1], response_method="auto")
    assert_type(difference, ModelDifference)
    assert_type(difference.fit(X), ModelDifference)
    assert_type(difference.predict(X), NDArray[Any])
    assert_type(difference.n_features_in_, int)
    assert_type(difference.feature_names_in_, NDArray[np.object_])
    inspector = PartialDependence(difference, target={1: 1, 0: -1}).fit(X)
    assert_type(inspector, PartialDependence)


def error_slices(X: Floats, y: Floats) -> None:
    inspector = ErrorSlices(LinearRegression(), loss="absolute_error").fit(X, y)
    assert_type(inspector, ErrorSlices)
    assert_type(inspector.slices_, list[ErrorSlice])
    assert_type(inspector.losses_, Floats)
    assert_type(inspector.mean_loss_, float)
    assert_type(inspector.transform(X), Floats)
    assert_type(inspector.slices_[0].holds(X), NDArray[np.bool_])
    bars = ErrorSlicesDisplay.from_estimator(inspector, max_entries=3)
    assert_type(bars, ErrorSlicesDisplay)
    around = SliceLossDisplay.from_estimator(inspector, number=1)
    assert_type(around, SliceLossDisplay)


def change_attribution(X: Floats, y: Floats, change: Change, changes: Changes) -> None:
    inspector = ChangeAttribution(LinearRegression(), loss="brier").fit(X, y)
    assert_type(inspector, ChangeAttribution)
    assert_type(inspector.method_, str)
    assert_type(inspector.to_frame(), DataFrame)
    assert_type(change.values, Floats)
    assert_type(change.loss, Change | None)
    assert_type(changes["June"], Change)
    display = ChangeDisplay.from_estimator(inspector, X_new=X, y_new=y, show_loss=True)
    assert_type(display, ChangeDisplay)
    assert_type(ChangeDisplay.from_change(changes, max_entries=3), ChangeDisplay)
    assert_type(display.to_frame(), DataFrame)
