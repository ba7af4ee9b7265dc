"""Every display draws what every estimator explains."""

import numpy as np
import pytest
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression

from sklearn_interpret.shapley import (
    BreakDown,
    ExactShapley,
    KernelSHAP,
    LinearSHAP,
    ShapleyDecisionDisplay,
    ShapleyDependenceDisplay,
    ShapleyForceDisplay,
    ShapleyHeatmapDisplay,
    ShapleyImportanceDisplay,
    ShapleySampling,
    ShapleySummaryDisplay,
    ShapleyValues,
    ShapleyWaterfallDisplay,
)
from tests.figures import draw

pd = pytest.importorskip("pandas")

RNG = np.random.default_rng(0)
FRAME = pd.DataFrame(RNG.normal(size=(12, 4)), columns=["a", "b", "$c_<i>$", "d"])
MODEL = LinearRegression().fit(FRAME, FRAME["a"] - 2 * FRAME["d"])
ESTIMATORS = {
    "values": (ShapleyValues, {}),
    "exact": (ExactShapley, {"subsample": 5, "random_state": 0}),
    "kernel": (KernelSHAP, {"n_coalitions": 10, "subsample": 5, "random_state": 0}),
    "groups": (KernelSHAP, {"feature_groups": {"b, c": [1, 2]}, "subsample": 5}),
    "permutations": (ShapleySampling, {"n_permutations": 2, "subsample": 5}),
    "linear": (LinearSHAP, {"perturbation": "correlation"}),
    "break down": (BreakDown, {"subsample": 5, "interactions": True}),
}
DISPLAYS = {
    ShapleyImportanceDisplay: {},
    ShapleySummaryDisplay: {},
    ShapleyDependenceDisplay: {"feature": "d"},
    ShapleyForceDisplay: {},
    ShapleyHeatmapDisplay: {"order": "prediction"},
    ShapleyDecisionDisplay: {},
    ShapleyWaterfallDisplay: {"row": 3},
}


@pytest.mark.parametrize("name", ESTIMATORS)
def test_all_displays(name):
    kind, params = ESTIMATORS[name]
    inspector = kind(FrozenEstimator(MODEL), **params).fit(FRAME)
    explanation = inspector.explain(FRAME)
    for display, own in DISPLAYS.items():
        drawn = display.from_explanation(explanation, **own)
        again = display.from_estimator(inspector, FRAME, **own)
        pd.testing.assert_frame_equal(drawn.to_frame(), again.to_frame())
        draw(drawn.figure_)
