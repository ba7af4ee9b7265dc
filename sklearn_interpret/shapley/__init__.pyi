"""Types for static checkers, written by .ci/make_stubs.py."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import (
    LineCollection,
    PathCollection,
    PolyCollection,
    QuadMesh,
)
from matplotlib.colorbar import Colorbar
from matplotlib.container import BarContainer
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.lines import Line2D
from matplotlib.text import Text
from numpy.typing import ArrayLike, NDArray
from pandas import DataFrame

from sklearn_interpret.explanations._attributions import Explanation
from sklearn_interpret.shapley._break_down import BreakDown, BreakDownExplanation
from sklearn_interpret.shapley._exact import ExactShapley
from sklearn_interpret.shapley._kernel import KernelSHAP
from sklearn_interpret.shapley._linear import LinearSHAP
from sklearn_interpret.shapley._sampling import ShapleySampling
from sklearn_interpret.shapley._tree import TreeSHAP
from sklearn_interpret.shapley._values import ShapleyValues

__all__ = [
    "BreakDown",
    "BreakDownExplanation",
    "ExactShapley",
    "KernelSHAP",
    "LinearSHAP",
    "ShapleyDecisionDisplay",
    "ShapleyDependenceDisplay",
    "ShapleyForceDisplay",
    "ShapleyHeatmapDisplay",
    "ShapleyImportanceDisplay",
    "ShapleyInteractionDisplay",
    "ShapleySampling",
    "ShapleySummaryDisplay",
    "ShapleyValues",
    "ShapleyWaterfallDisplay",
    "TreeSHAP",
]

class ShapleyDecisionDisplay:
    explanation: Explanation
    row: int | None
    target: Any
    response_name: str | None
    figure_: Figure
    ax_: Axes
    lines_: LineCollection
    named_lines_: LineCollection | None
    base_line_: Line2D | None
    legend_: Legend | None
    def __init__(
        self,
        explanation: Explanation,
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
        algorithm: str = "auto",
        budget: int | None = None,
        tolerance: float | None = None,
        max_rows: int | None = None,
        background: Any = None,
        feature_groups: dict[str, Any] | str | None = None,
        within_groups: bool = False,
        causal_order: Sequence[Any] | None = None,
        dependence: Any = None,
        response_method: str | Sequence[str] | Callable[..., Any] = "auto",
        target: Any = None,
        subsample: float | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int | None = None,
        row: int | None = None,
        response_name: str | None = None,
        max_entries: int | None = 20,
        highlight: ArrayLike | None = None,
        line_kw: dict[str, Any] | None = None,
    ) -> Self: ...
    @classmethod
    def from_explanation(
        cls,
        explanation: Explanation,
        *,
        target_name: str | None = None,
        unit: str | None = None,
        ax: Any = None,
        row: int | None = None,
        target: Any = None,
        response_name: str | None = None,
        max_entries: int | None = 20,
        highlight: ArrayLike | None = None,
        line_kw: dict[str, Any] | None = None,
    ) -> Self: ...
    def plot(
        self,
        ax: Any = None,
        *,
        max_entries: int | None = 20,
        highlight: ArrayLike | None = None,
        line_kw: dict[str, Any] | None = None,
    ) -> Self: ...
    def to_frame(self) -> DataFrame: ...

class ShapleyDependenceDisplay:
    explanation: Explanation
    feature: int | str | tuple[int | str, int | str]
    along: int | str | None
    color_by: int | str | None
    interaction_values: ArrayLike | None
    target: Any
    response_name: str | None
    categorical_features: Any
    figure_: Figure
    ax_: Axes
    color_feature_: str | None
    points_: list[PathCollection]
    grey_points_: PathCollection | None
    missing_area_: Artist | None
    histogram_: Artist | None
    colorbar_: Colorbar | None
    legend_: Legend | None
    def __init__(
        self,
        explanation: Explanation,
        *,
        feature: int | str | tuple[int | str, int | str],
        along: int | str | None = None,
        color_by: int | str | None = "auto",
        interaction_values: ArrayLike | None = None,
        target: Any = None,
        response_name: str | None = None,
        categorical_features: Any = "auto",
    ) -> None: ...
    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any = None,
        feature: int | str | tuple[int | str, int | str] | None = None,
        *,
        sample_weight: ArrayLike | None = None,
        target_name: str | None = None,
        unit: str | None = None,
        ax: Any = None,
        algorithm: str = "auto",
        budget: int | None = None,
        tolerance: float | None = None,
        max_rows: int | None = None,
        background: Any = None,
        feature_groups: dict[str, Any] | str | None = None,
        within_groups: bool = False,
        causal_order: Sequence[Any] | None = None,
        dependence: Any = None,
        response_method: str | Sequence[str] | Callable[..., Any] = "auto",
        target: Any = None,
        subsample: float | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int | None = None,
        interaction_values: ArrayLike | None = None,
        along: int | str | None = None,
        color_by: int | str | None = "auto",
        response_name: str | None = None,
        categorical_features: Any = "auto",
        histogram: bool = True,
        colorbar: bool = True,
        point_kw: dict[str, Any] | None = None,
        histogram_kw: dict[str, Any] | None = None,
    ) -> Self: ...
    @classmethod
    def from_explanation(
        cls,
        explanation: Explanation,
        feature: int | str | tuple[int | str, int | str],
        *,
        target_name: str | None = None,
        unit: str | None = None,
        ax: Any = None,
        along: int | str | None = None,
        color_by: int | str | None = "auto",
        interaction_values: ArrayLike | None = None,
        target: Any = None,
        response_name: str | None = None,
        categorical_features: Any = "auto",
        histogram: bool = True,
        colorbar: bool = True,
        point_kw: dict[str, Any] | None = None,
        histogram_kw: dict[str, Any] | None = None,
    ) -> Self: ...
    def plot(
        self,
        ax: Any = None,
        *,
        histogram: bool = True,
        colorbar: bool = True,
        point_kw: dict[str, Any] | None = None,
        histogram_kw: dict[str, Any] | None = None,
    ) -> Self: ...
    def to_frame(self) -> DataFrame: ...

class ShapleyForceDisplay:
    explanation: Explanation
    row: int | None
    target: Any
    response_name: str | None
    order: str | int
    figure_: Figure
    ax_: Axes
    row_order_: NDArray[np.intp]
    ups_: PolyCollection | None
    downs_: PolyCollection | None
    labels_: list[Text]
    areas_: list[PolyCollection]
    base_line_: Artist
    prediction_line_: Artist
    legend_: Legend | None
    def __init__(
        self,
        explanation: Explanation,
        *,
        row: int | None = None,
        target: Any = None,
        response_name: str | None = None,
        order: str | int = "similarity",
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
        algorithm: str = "auto",
        budget: int | None = None,
        tolerance: float | None = None,
        max_rows: int | None = None,
        background: Any = None,
        feature_groups: dict[str, Any] | str | None = None,
        within_groups: bool = False,
        causal_order: Sequence[Any] | None = None,
        dependence: Any = None,
        response_method: str | Sequence[str] | Callable[..., Any] = "auto",
        target: Any = None,
        subsample: float | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int | None = None,
        row: int | None = None,
        response_name: str | None = None,
        order: str | int = "similarity",
        max_entries: int | None = 7,
        force_kw: dict[str, Any] | None = None,
    ) -> Self: ...
    @classmethod
    def from_explanation(
        cls,
        explanation: Explanation,
        *,
        target_name: str | None = None,
        unit: str | None = None,
        ax: Any = None,
        row: int | None = None,
        target: Any = None,
        response_name: str | None = None,
        order: str | int = "similarity",
        max_entries: int | None = 7,
        force_kw: dict[str, Any] | None = None,
    ) -> Self: ...
    def plot(
        self,
        ax: Any = None,
        *,
        max_entries: int | None = 7,
        force_kw: dict[str, Any] | None = None,
    ) -> Self: ...
    def to_frame(self) -> DataFrame: ...

class ShapleyHeatmapDisplay:
    explanation: Explanation
    row: int | None
    target: Any
    response_name: str | None
    order: str | int
    figure_: Figure
    ax_: Axes
    row_order_: NDArray[np.intp]
    heatmap_: QuadMesh
    curve_ax_: Axes
    prediction_line_: Line2D
    base_line_: Line2D
    colorbar_: Colorbar | None
    def __init__(
        self,
        explanation: Explanation,
        *,
        row: int | None = None,
        target: Any = None,
        response_name: str | None = None,
        order: str | int = "similarity",
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
        algorithm: str = "auto",
        budget: int | None = None,
        tolerance: float | None = None,
        max_rows: int | None = None,
        background: Any = None,
        feature_groups: dict[str, Any] | str | None = None,
        within_groups: bool = False,
        causal_order: Sequence[Any] | None = None,
        dependence: Any = None,
        response_method: str | Sequence[str] | Callable[..., Any] = "auto",
        target: Any = None,
        subsample: float | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int | None = None,
        row: int | None = None,
        response_name: str | None = None,
        order: str | int = "similarity",
        max_entries: int | None = 20,
        colorbar: bool = True,
        heatmap_kw: dict[str, Any] | None = None,
    ) -> Self: ...
    @classmethod
    def from_explanation(
        cls,
        explanation: Explanation,
        *,
        target_name: str | None = None,
        unit: str | None = None,
        ax: Any = None,
        row: int | None = None,
        target: Any = None,
        response_name: str | None = None,
        order: str | int = "similarity",
        max_entries: int | None = 20,
        colorbar: bool = True,
        heatmap_kw: dict[str, Any] | None = None,
    ) -> Self: ...
    def plot(
        self,
        ax: Any = None,
        *,
        max_entries: int | None = 20,
        colorbar: bool = True,
        heatmap_kw: dict[str, Any] | None = None,
    ) -> Self: ...
    def to_frame(self) -> DataFrame: ...

class ShapleyImportanceDisplay:
    importances: ArrayLike
    feature_names: Any
    output_names: Any
    response_name: str
    fold_importances: ArrayLike | None
    value_name: str
    groups: dict[str, Any] | None
    figure_: Figure
    ax_: Axes
    bars_: list[BarContainer]
    labels_: list[Text]
    fold_points_: list[PathCollection]
    spreads_: LineCollection | None
    legend_: Legend | None
    def __init__(
        self,
        importances: ArrayLike,
        *,
        feature_names: Any,
        output_names: Any = None,
        response_name: str = "response",
        fold_importances: ArrayLike | None = None,
        value_name: str = "Shapley value",
        groups: dict[str, Any] | None = None,
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
        target: Any = None,
        response_name: str | None = None,
        algorithm: str = "auto",
        budget: int | None = None,
        tolerance: float | None = None,
        max_rows: int | None = None,
        background: Any = None,
        feature_groups: dict[str, Any] | str | None = None,
        within_groups: bool = False,
        causal_order: Sequence[Any] | None = None,
        dependence: Any = None,
        response_method: str | Sequence[str] | Callable[..., Any] = "auto",
        subsample: float | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int | None = None,
        max_entries: int | None = 20,
        arrangement: str = "stacked",
        bar_kw: dict[str, Any] | None = None,
    ) -> Self: ...
    @classmethod
    def from_cv_results(
        cls,
        cv_results: Mapping[str, Any],
        X: Any = None,
        *,
        sample_weight: ArrayLike | None = None,
        target_name: str | None = None,
        unit: str | None = None,
        ax: Any = None,
        target: Any = None,
        response_name: str | None = None,
        algorithm: str = "auto",
        budget: int | None = None,
        tolerance: float | None = None,
        max_rows: int | None = None,
        background: Any = None,
        feature_groups: dict[str, Any] | str | None = None,
        within_groups: bool = False,
        causal_order: Sequence[Any] | None = None,
        dependence: Any = None,
        response_method: str | Sequence[str] | Callable[..., Any] = "auto",
        subsample: float | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int | None = None,
        max_entries: int | None = 20,
        arrangement: str = "stacked",
        bar_kw: dict[str, Any] | None = None,
    ) -> Self: ...
    @classmethod
    def from_explanation(
        cls,
        explanation: Explanation,
        *,
        target_name: str | None = None,
        unit: str | None = None,
        ax: Any = None,
        target: Any = None,
        response_name: str | None = None,
        max_entries: int | None = 20,
        arrangement: str = "stacked",
        bar_kw: dict[str, Any] | None = None,
    ) -> Self: ...
    def plot(
        self,
        ax: Any = None,
        *,
        max_entries: int | None = 20,
        arrangement: str = "stacked",
        bar_kw: dict[str, Any] | None = None,
    ) -> Self: ...
    def to_frame(self) -> DataFrame: ...

class ShapleyInteractionDisplay:
    interactions: ArrayLike
    feature_names: Any
    response_name: str
    output_names: Any
    figure_: Figure
    ax_: Axes
    heatmap_: QuadMesh
    labels_: list[Text]
    colorbar_: Colorbar
    def __init__(
        self,
        interactions: ArrayLike,
        *,
        feature_names: Any,
        response_name: str = "response",
        output_names: Any = None,
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
        algorithm: str = "auto",
        budget: int | None = None,
        tolerance: float | None = None,
        max_rows: int | None = None,
        background: Any = None,
        feature_groups: dict[str, Any] | str | None = None,
        within_groups: bool = False,
        causal_order: Sequence[Any] | None = None,
        dependence: Any = None,
        response_method: str | Sequence[str] | Callable[..., Any] = "auto",
        target: Any = None,
        subsample: float | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int | None = None,
        max_entries: int | None = 10,
        heatmap_kw: dict[str, Any] | None = None,
    ) -> Self: ...
    def plot(
        self,
        ax: Any = None,
        *,
        max_entries: int | None = 10,
        heatmap_kw: dict[str, Any] | None = None,
    ) -> Self: ...
    def to_frame(self) -> DataFrame: ...

class ShapleySummaryDisplay:
    explanation: Explanation
    target: Any
    response_name: str | None
    categorical_features: Any
    figure_: Figure
    ax_: Axes
    points_: list[PathCollection] | None
    grey_points_: list[PathCollection] | None
    other_points_: PathCollection | None
    colorbar_: Colorbar | None
    def __init__(
        self,
        explanation: Explanation,
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
        algorithm: str = "auto",
        budget: int | None = None,
        tolerance: float | None = None,
        max_rows: int | None = None,
        background: Any = None,
        feature_groups: dict[str, Any] | str | None = None,
        within_groups: bool = False,
        causal_order: Sequence[Any] | None = None,
        dependence: Any = None,
        response_method: str | Sequence[str] | Callable[..., Any] = "auto",
        target: Any = None,
        subsample: float | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int | None = None,
        response_name: str | None = None,
        categorical_features: Any = "auto",
        max_entries: int | None = 20,
        colorbar: bool = True,
        point_kw: dict[str, Any] | None = None,
    ) -> Self: ...
    @classmethod
    def from_explanation(
        cls,
        explanation: Explanation,
        *,
        target_name: str | None = None,
        unit: str | None = None,
        ax: Any = None,
        target: Any = None,
        response_name: str | None = None,
        categorical_features: Any = "auto",
        max_entries: int | None = 20,
        colorbar: bool = True,
        point_kw: dict[str, Any] | None = None,
    ) -> Self: ...
    def plot(
        self,
        ax: Any = None,
        *,
        max_entries: int | None = 20,
        colorbar: bool = True,
        point_kw: dict[str, Any] | None = None,
    ) -> Self: ...
    def to_frame(self) -> DataFrame: ...

class ShapleyWaterfallDisplay:
    explanation: Explanation
    row: int | None
    target: Any
    response_name: str | None
    figure_: Figure
    ax_: Axes
    ups_: PolyCollection
    downs_: PolyCollection
    labels_: list[Text]
    base_line_: Line2D
    prediction_line_: Line2D
    errors_: LineCollection | None
    def __init__(
        self,
        explanation: Explanation,
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
        algorithm: str = "auto",
        budget: int | None = None,
        tolerance: float | None = None,
        max_rows: int | None = None,
        background: Any = None,
        feature_groups: dict[str, Any] | str | None = None,
        within_groups: bool = False,
        causal_order: Sequence[Any] | None = None,
        dependence: Any = None,
        response_method: str | Sequence[str] | Callable[..., Any] = "auto",
        target: Any = None,
        subsample: float | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int | None = None,
        row: int | None = None,
        response_name: str | None = None,
        max_entries: int | None = 20,
        step_kw: dict[str, Any] | None = None,
    ) -> Self: ...
    @classmethod
    def from_explanation(
        cls,
        explanation: Explanation,
        *,
        target_name: str | None = None,
        unit: str | None = None,
        ax: Any = None,
        row: int | None = None,
        target: Any = None,
        response_name: str | None = None,
        max_entries: int | None = 20,
        step_kw: dict[str, Any] | None = None,
    ) -> Self: ...
    def plot(
        self,
        ax: Any = None,
        *,
        max_entries: int | None = 20,
        step_kw: dict[str, Any] | None = None,
    ) -> Self: ...
    def to_frame(self) -> DataFrame: ...
