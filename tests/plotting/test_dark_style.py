"""What is drawn in one colour is seen on dark paper, too."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_rgb

from sklearn_interpret.base import Explanation
from sklearn_interpret.effects import IndividualConditionalExpectationDisplay
from sklearn_interpret.importance import PermutationImportanceDisplay
from sklearn_interpret.interactions import VariableInteractionNetworkDisplay
from sklearn_interpret.shapley import ShapleyForceDisplay, ShapleyWaterfallDisplay
from sklearn_interpret.surrogates import GlobalSurrogateDisplay

STUMP = {
    "left": np.array([1, -1, -1]),
    "right": np.array([2, -1, -1]),
    "tests": ["x ≤ 0.5", "", ""],
    "yes_left": [True, True, True],
    "rules": ["", "x ≤ 0.5", "x > 0.5"],
}


def contrast(first, second):
    """Difference of brightness, at most 1."""
    weights = np.array([0.299, 0.587, 0.114])
    return abs(weights @ to_rgb(first) - weights @ to_rgb(second))


@pytest.fixture(params=["default", "dark_background"])
def paper(request):
    with plt.style.context(request.param):
        yield plt.rcParams["axes.facecolor"]


def test_lines_and_names(paper):
    explanation = Explanation([[1.0, -3.0]], [10.0], standard_errors=[[0.1, 0.2]])
    fall = ShapleyWaterfallDisplay.from_explanation(explanation)
    many = ShapleyForceDisplay.from_explanation(
        Explanation([[1.0, -3.0], [0.5, 2.0]], [10.0, 10.0]), order="input"
    )
    ice = IndividualConditionalExpectationDisplay(
        [np.arange(3.0)], [np.ones((2, 3))], [np.ones(3)], feature_names=["age"]
    ).plot()
    spread = PermutationImportanceDisplay([[1.0, 2.0]], feature_names=["age"]).plot()
    network = VariableInteractionNetworkDisplay(
        [[0, 1.0], [1.0, 0]], feature_names=["age", "income"]
    ).plot()
    drawn = [
        fall.prediction_line_.get_color(),
        fall.errors_.get_color()[0],
        many.prediction_line_.get_color(),
        ice.lines_[0][0].get_color(),
        spread.spreads_[0].get_color()[0],
        *(label.get_color() for label in network.labels_),
    ]
    assert min(contrast(colour, paper) for colour in drawn) > 0.8


def test_texts_in_boxes(paper):
    force = ShapleyForceDisplay.from_explanation(Explanation([[1.0, -3.0]], [10.0]))
    tree = GlobalSurrogateDisplay(
        [1.0, 2.0], [1.0, 2.0], trees=[STUMP], leaves=[1, 2]
    ).plot()
    for text in (*force.ax_.texts, *tree.axes_[0, 0].texts):
        box = text.get_bbox_patch()
        assert contrast(text.get_color(), box.get_facecolor()) > 0.3
