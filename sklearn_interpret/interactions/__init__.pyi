"""Types for static checkers, written by .ci/make_stubs.py."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PathCollection, QuadMesh
from matplotlib.colorbar import Colorbar
from matplotlib.container import BarContainer
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.lines import Line2D
from matplotlib.patches import Polygon
from matplotlib.text import Annotation, Text
from numpy.typing import ArrayLike, NDArray
from pandas import DataFrame

from sklearn_interpret.explanations._interactions import InteractionExplanation
from sklearn_interpret.interactions._functional_decomposition import (
    FunctionalDecomposition,
)
from sklearn_interpret.interactions._h_statistic import HStatistic
from sklearn_interpret.interactions._partial_dependence_interaction import (
    PartialDependenceInteraction,
)
from sklearn_interpret.interactions._variable_interaction_network import (
    VariableInteractionNetwork,
)

__all__ = [
    "FunctionalDecomposition",
    "FunctionalDecompositionDisplay",
    "HStatistic",
    "HStatisticDisplay",
    "InteractionNetworkDisplay",
    "PartialDependenceInteraction",
    "VariableInteractionNetwork",
    "VariableInteractionNetworkDisplay",
]

class FunctionalDecompositionDisplay:
    explanation: InteractionExplanation
    target: Any
    response_name: str | None
    categorical_features: Any
    figure_: Figure
    axes_: NDArray[np.object_]
    bars_: BarContainer
    labels_: list[Annotation]
    lines_: list[list[Line2D]]
    heatmaps_: list[QuadMesh] | None
    colorbars_: list[Colorbar] | None
    rug_: list[LineCollection] | None
    legend_: Legend | None
    def __init__(
        self,
        explanation: InteractionExplanation,
        *,
        target: Any = None,
        response_name: str | None = None,
        categorical_features: Any = "auto",
    ) -> None: ...
    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any = None,
        *,
        sample_weight: ArrayLike | None = None,
        target_name: str | None = None,
        unit: str | None = None,
        ax: Any = None,
        max_order: int = 2,
        max_rows: int | None = None,
        perturbation: str = "interventional",
        background: Any = None,
        feature_groups: dict[str, Any] | None = None,
        response_method: str | Sequence[str] = "auto",
        target: Any = None,
        subsample: float | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int | None = None,
        response_name: str | None = None,
        categorical_features: Any = "auto",
        max_entries: int | None = 7,
        max_panels: int | None = 5,
        n_cols: int = 3,
        share_y: bool = True,
        rug: bool = True,
        bar_kw: dict[str, Any] | None = None,
        line_kw: dict[str, Any] | None = None,
        rug_kw: dict[str, Any] | None = None,
        heatmap_kw: dict[str, Any] | None = None,
    ) -> Self: ...
    @classmethod
    def from_explanation(
        cls,
        explanation: InteractionExplanation,
        *,
        target_name: str | None = None,
        unit: str | None = None,
        ax: Any = None,
        target: Any = None,
        response_name: str | None = None,
        categorical_features: Any = "auto",
        max_entries: int | None = 7,
        max_panels: int | None = 5,
        n_cols: int = 3,
        share_y: bool = True,
        rug: bool = True,
        bar_kw: dict[str, Any] | None = None,
        line_kw: dict[str, Any] | None = None,
        rug_kw: dict[str, Any] | None = None,
        heatmap_kw: dict[str, Any] | None = None,
    ) -> Self: ...
    def plot(
        self,
        ax: Any = None,
        *,
        max_entries: int | None = 7,
        max_panels: int | None = 5,
        n_cols: int = 3,
        share_y: bool = True,
        rug: bool = True,
        bar_kw: dict[str, Any] | None = None,
        line_kw: dict[str, Any] | None = None,
        rug_kw: dict[str, Any] | None = None,
        heatmap_kw: dict[str, Any] | None = None,
    ) -> Self: ...
    def to_frame(self) -> DataFrame: ...

class HStatisticDisplay:
    pairwise: ArrayLike
    feature_names: Any
    overall: ArrayLike | None
    pairwise_std: ArrayLike | None
    overall_std: ArrayLike | None
    strength_name: str
    spread_name: str
    figure_: Figure
    ax_: Axes
    bars_: list[BarContainer]
    spreads_: list[LineCollection]
    labels_: list[Text]
    heatmap_: QuadMesh | None
    colorbar_: Colorbar | None
    legend_: Legend | None
    def __init__(
        self,
        pairwise: ArrayLike,
        *,
        feature_names: Any,
        overall: ArrayLike | None = None,
        pairwise_std: ArrayLike | None = None,
        overall_std: ArrayLike | None = None,
        strength_name: str = "Interaction",
        spread_name: str = "draws",
    ) -> None: ...
    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any = None,
        features: Any = None,
        *,
        sample_weight: ArrayLike | None = None,
        target_name: str | None = None,
        unit: str | None = None,
        ax: Any = None,
        pairs: Any = None,
        three_way: Any = False,
        squared: bool = True,
        method: str = "auto",
        n_repeats: int = 1,
        feature_groups: dict[str, Any] | None = None,
        max_rows: int | None = None,
        response_method: str | Sequence[str] | Callable[..., Any] = "auto",
        target: Any = None,
        subsample: float | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int | None = None,
        unnormalized: bool = False,
        kind: str = "bar",
        max_entries: int | None = 10,
        bar_kw: dict[str, Any] | None = None,
        heatmap_kw: dict[str, Any] | None = None,
    ) -> Self: ...
    @classmethod
    def from_cv_results(
        cls,
        cv_results: Mapping[str, Any],
        X: Any = None,
        features: Any = None,
        *,
        sample_weight: ArrayLike | None = None,
        target_name: str | None = None,
        unit: str | None = None,
        ax: Any = None,
        pairs: Any = None,
        three_way: Any = False,
        squared: bool = True,
        method: str = "auto",
        n_repeats: int = 1,
        feature_groups: dict[str, Any] | None = None,
        max_rows: int | None = None,
        response_method: str | Sequence[str] | Callable[..., Any] = "auto",
        target: Any = None,
        subsample: float | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int | None = None,
        unnormalized: bool = False,
        kind: str = "bar",
        max_entries: int | None = 10,
        bar_kw: dict[str, Any] | None = None,
        heatmap_kw: dict[str, Any] | None = None,
    ) -> Self: ...
    def plot(
        self,
        ax: Any = None,
        *,
        kind: str = "bar",
        max_entries: int | None = 10,
        bar_kw: dict[str, Any] | None = None,
        heatmap_kw: dict[str, Any] | None = None,
    ) -> Self: ...
    def to_frame(self) -> DataFrame: ...

class InteractionNetworkDisplay:
    explanation: InteractionExplanation
    row: int | None
    target: Any
    response_name: str | None
    figure_: Figure
    ax_: Axes
    edges_: LineCollection
    nodes_: PathCollection
    sets_: list[Polygon]
    labels_: list[Annotation]
    legend_: Legend | None
    note_: Text | None
    def __init__(
        self,
        explanation: InteractionExplanation,
        *,
        row: int | None = None,
        target: Any = None,
        response_name: str | None = None,
    ) -> None: ...
    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any = None,
        *,
        sample_weight: ArrayLike | None = None,
        target_name: str | None = None,
        unit: str | None = None,
        ax: Any = None,
        max_order: int = 2,
        max_rows: int | None = None,
        perturbation: str = "interventional",
        background: Any = None,
        feature_groups: dict[str, Any] | None = None,
        response_method: str | Sequence[str] = "auto",
        target: Any = None,
        subsample: float | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int | None = None,
        row: int | None = None,
        response_name: str | None = None,
        max_entries: int | None = 40,
        max_edges: int | None = 60,
        max_sets: int | None = 3,
        edge_kw: dict[str, Any] | None = None,
        node_kw: dict[str, Any] | None = None,
        set_kw: dict[str, Any] | None = None,
    ) -> Self: ...
    @classmethod
    def from_explanation(
        cls,
        explanation: InteractionExplanation,
        *,
        target_name: str | None = None,
        unit: str | None = None,
        ax: Any = None,
        row: int | None = None,
        target: Any = None,
        response_name: str | None = None,
        max_entries: int | None = 40,
        max_edges: int | None = 60,
        max_sets: int | None = 3,
        edge_kw: dict[str, Any] | None = None,
        node_kw: dict[str, Any] | None = None,
        set_kw: dict[str, Any] | None = None,
    ) -> Self: ...
    def plot(
        self,
        ax: Any = None,
        *,
        max_entries: int | None = 40,
        max_edges: int | None = 60,
        max_sets: int | None = 3,
        edge_kw: dict[str, Any] | None = None,
        node_kw: dict[str, Any] | None = None,
        set_kw: dict[str, Any] | None = None,
    ) -> Self: ...
    def to_frame(self) -> DataFrame: ...

class VariableInteractionNetworkDisplay:
    adjacency: ArrayLike
    feature_names: Any
    main_effects: ArrayLike | None
    strength_name: str
    figure_: Figure
    ax_: Axes
    edges_: LineCollection
    nodes_: PathCollection
    labels_: list[Annotation]
    legend_: Legend | None
    note_: Text | None
    def __init__(
        self,
        adjacency: ArrayLike,
        *,
        feature_names: Any,
        main_effects: ArrayLike | None = None,
        strength_name: str = "Share of variance",
    ) -> None: ...
    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any = None,
        features: Any = None,
        *,
        sample_weight: ArrayLike | None = None,
        target_name: str | None = None,
        unit: str | None = None,
        ax: Any = None,
        threshold: float = 0.01,
        max_order: int = 2,
        n_repeats: int = 10,
        feature_groups: dict[str, Any] | None = None,
        max_rows: int | None = None,
        response_method: str | Sequence[str] | Callable[..., Any] = "auto",
        target: Any = None,
        subsample: float | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int | None = None,
        max_entries: int | None = 40,
        max_edges: int | None = 60,
        edge_kw: dict[str, Any] | None = None,
        node_kw: dict[str, Any] | None = None,
    ) -> Self: ...
    def plot(
        self,
        ax: Any = None,
        *,
        max_entries: int | None = 40,
        max_edges: int | None = 60,
        edge_kw: dict[str, Any] | None = None,
        node_kw: dict[str, Any] | None = None,
    ) -> Self: ...
    def to_frame(self) -> DataFrame: ...
