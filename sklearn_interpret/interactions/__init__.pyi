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
from matplotlib.text import Annotation, Text
from numpy.typing import ArrayLike
from pandas import DataFrame

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
    "HStatistic",
    "HStatisticDisplay",
    "PartialDependenceInteraction",
    "VariableInteractionNetwork",
    "VariableInteractionNetworkDisplay",
]

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
        response_method: str | Sequence[str] | Callable[..., Any] = "auto",
        target: Any = None,
        subsample: float | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
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
        response_method: str | Sequence[str] | Callable[..., Any] = "auto",
        target: Any = None,
        subsample: float | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
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
        response_method: str | Sequence[str] | Callable[..., Any] = "auto",
        target: Any = None,
        subsample: float | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
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
