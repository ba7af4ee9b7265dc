"""Types of decompositions, as users see them."""

from typing import assert_type

import numpy as np
from matplotlib.axes import Axes
from matplotlib.container import BarContainer
from numpy.typing import NDArray
from pandas import DataFrame
from sklearn.ensemble import RandomForestRegressor
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsRegressor

from sklearn_interpret.decomposition import (
    DecisionPathDisplay,
    NaiveBayesContributions,
    NeighborContributions,
    TreePathContributions,
)
from sklearn_interpret.explanations import Explanation, NeighborExplanation

Floats = NDArray[np.float64]


def naive_bayes(X: Floats, y: Floats) -> None:
    inspector = NaiveBayesContributions(GaussianNB(), target=1).fit(X, y)
    assert_type(inspector, NaiveBayesContributions)
    assert_type(inspector.base_values_, float | Floats)
    assert_type(inspector.feature_importances_, Floats)
    assert_type(inspector.transform(X), Floats)
    assert_type(inspector.explain(X), Explanation)


def neighbors(X: Floats, y: Floats) -> None:
    inspector = NeighborContributions(KNeighborsRegressor()).fit(X, y)
    assert_type(inspector, NeighborContributions)
    explanation = inspector.explain(X)
    assert_type(explanation, NeighborExplanation)
    assert_type(explanation.feature_distances, Floats | None)


def tree_path(X: Floats, y: Floats) -> None:
    inspector = TreePathContributions(RandomForestRegressor()).fit(X, y)
    assert_type(inspector, TreePathContributions)
    assert_type(inspector.response_method_, str)
    assert_type(inspector.explain(X), Explanation)
    path = inspector.decision_path(X[:1], tree=3)
    assert_type(path.conditions, list[str])
    assert_type(path.means, Floats)
    display = DecisionPathDisplay.from_estimator(inspector, X[:1], tree=3)
    assert_type(display, DecisionPathDisplay)
    assert_type(display.ax_, Axes)
    assert_type(display.bars_, list[BarContainer])
    assert_type(display.plot(), DecisionPathDisplay)
    assert_type(display.to_frame(), DataFrame)
