"""Types of effects, as users see them."""

from typing import assert_type

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray
from pandas import DataFrame
from sklearn.linear_model import LinearRegression

from sklearn_interpret.effects import PartialDependence, PartialDependenceDisplay

Floats = NDArray[np.float64]


def partial_dependence(X: Floats, y: Floats) -> None:
    effect = PartialDependence(LinearRegression(), features=[0]).fit(X, y)
    assert_type(effect, PartialDependence)
    assert_type(effect.standard_errors_, list[Floats] | None)
    assert_type(effect.average_, list[Floats])
    assert_type(effect.transform(X), Floats)
    display = PartialDependenceDisplay.from_estimator(effect, band=False)
    assert_type(display, PartialDependenceDisplay)
    assert_type(display.figure_, Figure)
    assert_type(display.plot(), PartialDependenceDisplay)
    assert_type(display.to_frame(), DataFrame)
