"""Types of survival, as users see them."""

from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray
from pandas import DataFrame

from sklearn_interpret.effects import PartialDependence
from sklearn_interpret.survival import EffectOverTimeDisplay, SurvivalModel

Floats = NDArray[np.float64]


def survival_model(X: Floats, y: NDArray[Any], forest: Any) -> None:
    model = SurvivalModel(forest, response_method="survival", times=[30, 90])
    assert_type(model, SurvivalModel)
    assert_type(model.fit(X, y), SurvivalModel)
    assert_type(model.predict(X), Floats)
    assert_type(model.score(X, y), float)
    assert_type(model.times_, Floats)
    assert_type(model.output_names_, list[str])
    inspector = PartialDependence(model, features=[0]).fit(X, y)
    display = EffectOverTimeDisplay.from_estimator(inspector, X, max_entries=3)
    assert_type(display, EffectOverTimeDisplay)
    assert_type(display.to_frame(), DataFrame)
