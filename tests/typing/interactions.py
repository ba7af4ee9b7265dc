"""Types of interactions, as users see them."""

from typing import assert_type

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.container import BarContainer
from numpy.typing import NDArray
from pandas import DataFrame
from sklearn.ensemble import RandomForestRegressor

from sklearn_interpret.explanations import Explanation, InteractionExplanation
from sklearn_interpret.interactions import (
    FunctionalDecomposition,
    FunctionalDecompositionDisplay,
    HStatistic,
    HStatisticDisplay,
    InteractionNetworkDisplay,
    PartialDependenceInteraction,
    VariableInteractionNetwork,
    VariableInteractionNetworkDisplay,
)

Floats = NDArray[np.float64]
MODEL = RandomForestRegressor()


def functional_decomposition(X: Floats, y: Floats) -> None:
    inspector = FunctionalDecomposition(MODEL, max_order=3, subsample=50).fit(X, y)
    assert_type(inspector, FunctionalDecomposition)
    assert_type(inspector.interactions_, list[tuple[int, ...]])
    assert_type(inspector.variances_, Floats)
    assert_type(inspector.shares_, Floats)
    assert_type(inspector.unexplained_, float | Floats)
    assert_type(inspector.feature_importances_, Floats)
    assert_type(inspector.player_names_, list[str])
    assert_type(inspector.transform(X), Floats)
    explanation = inspector.explain(X)
    assert_type(explanation, InteractionExplanation)
    assert_type(explanation.values, Floats)
    assert_type(explanation.remainder, Floats)
    assert_type(explanation.order(2), InteractionExplanation)
    assert_type(explanation[0], InteractionExplanation)
    assert_type(explanation.to_index("STII", order=2), InteractionExplanation)
    assert_type(explanation.to_explanation(), Explanation)
    assert_type(explanation.to_frame(), DataFrame)
    display = FunctionalDecompositionDisplay.from_estimator(inspector, X, max_panels=2)
    assert_type(display, FunctionalDecompositionDisplay)
    assert_type(display.bars_, BarContainer)
    assert_type(display.to_frame(), DataFrame)
    network = InteractionNetworkDisplay.from_explanation(explanation, row=0, max_sets=2)
    assert_type(network, InteractionNetworkDisplay)
    assert_type(network.edges_, LineCollection)
    assert_type(network.plot(), InteractionNetworkDisplay)


def h_statistic(X: Floats, y: Floats) -> None:
    inspector = HStatistic(MODEL, three_way=True, n_repeats=2, subsample=50).fit(X, y)
    assert_type(inspector, HStatistic)
    assert_type(inspector.pairwise_, Floats)
    assert_type(inspector.pairwise_unnormalized_, Floats)
    assert_type(inspector.pairwise_std_, Floats | None)
    assert_type(inspector.overall_, Floats)
    assert_type(inspector.overall_std_, Floats | None)
    assert_type(inspector.three_way_, dict[tuple[str, str, str], float | Floats])
    assert_type(inspector.total_, float | Floats)
    assert_type(inspector.feature_importances_, Floats)
    assert_type(inspector.features_, list[tuple[int, ...]])
    assert_type(inspector.player_names_, list[str])
    assert_type(inspector.pairs_, list[tuple[int, int]])
    assert_type(inspector.transform(X), Floats)
    assert_type(inspector.get_feature_names_out(), NDArray[np.object_])
    display = HStatisticDisplay.from_estimator(inspector, kind="heatmap")
    assert_type(display, HStatisticDisplay)
    assert_type(display.bars_, list[BarContainer])
    assert_type(display.plot(max_entries=5), HStatisticDisplay)
    assert_type(display.to_frame(), DataFrame)


def partial_dependence_interaction(X: Floats, y: Floats) -> None:
    inspector = PartialDependenceInteraction(MODEL, grid_resolution=10).fit(X, y)
    assert_type(inspector, PartialDependenceInteraction)
    assert_type(inspector.pairwise_, Floats)
    assert_type(inspector.pairs_, list[tuple[int, int]])
    assert_type(HStatisticDisplay.from_estimator(inspector), HStatisticDisplay)


def variable_interaction_network(X: Floats, y: Floats) -> None:
    inspector = VariableInteractionNetwork(MODEL, max_order=3).fit(X, y)
    assert_type(inspector, VariableInteractionNetwork)
    assert_type(inspector.graph_, dict[tuple[str, str], float | Floats])
    assert_type(inspector.adjacency_, Floats)
    assert_type(inspector.cliques_, list[tuple[str, ...]])
    assert_type(inspector.strengths_, dict[tuple[str, ...], float | Floats])
    assert_type(inspector.standard_errors_, dict[tuple[str, ...], float | Floats])
    assert_type(inspector.main_effects_, Floats)
    display = VariableInteractionNetworkDisplay.from_estimator(MODEL, X, max_edges=9)
    assert_type(display, VariableInteractionNetworkDisplay)
    assert_type(display.edges_, LineCollection)
    assert_type(display.plot(), VariableInteractionNetworkDisplay)
    assert_type(display.to_frame(), DataFrame)
