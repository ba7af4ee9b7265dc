"""Types for static checkers, written by .ci/make_stubs.py."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

import numpy as np
from matplotlib.artist import Artist
from matplotlib.collections import LineCollection, PathCollection, QuadMesh
from matplotlib.colorbar import Colorbar
from matplotlib.contour import QuadContourSet
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.lines import Line2D
from numpy.typing import ArrayLike, NDArray
from pandas import DataFrame

from sklearn_interpret.effects._accumulated_local_effects import AccumulatedLocalEffects
from sklearn_interpret.effects._conditional_dependence import ConditionalDependence
from sklearn_interpret.effects._individual_conditional_expectation import (
    IndividualConditionalExpectation,
)
from sklearn_interpret.effects._partial_dependence import PartialDependence
from sklearn_interpret.effects._regional_effects import Region, RegionalEffects

__all__ = [
    "AccumulatedLocalEffects",
    "AccumulatedLocalEffectsDisplay",
    "CeterisParibusDisplay",
    "ConditionalDependence",
    "ConditionalDependenceDisplay",
    "EffectComparisonDisplay",
    "IndividualConditionalExpectation",
    "IndividualConditionalExpectationDisplay",
    "PartialDependence",
    "PartialDependenceDisplay",
    "Region",
    "RegionalEffectDisplay",
    "RegionalEffects",
]

class AccumulatedLocalEffectsDisplay:
    edges: list[Any]
    effects: list[Any]
    feature_names: list[Any]
    output_names: list[Any] | None
    response_name: str
    categorical: list[Any] | None
    data: list[Any] | None
    importances: ArrayLike | None
    by_similarity: list[Any] | None
    standard_errors: list[Any] | None
    intervals_low: list[Any] | None
    intervals_high: list[Any] | None
    confidence_level: float | None
    interval_counts: list[Any] | None
    fold_effects: list[Any] | None
    figure_: Figure
    axes_: NDArray[np.object_]
    lines_: list[list[Line2D]]
    bands_: list[list[Artist]]
    fold_lines_: list[list[list[Line2D]]]
    rug_: list[LineCollection] | None
    contours_: list[QuadContourSet] | None
    heatmaps_: list[QuadMesh] | None
    points_: list[PathCollection] | None
    colorbars_: list[Colorbar] | None
    legend_: Legend | None
    def __init__(
        self,
        edges: list[Any],
        effects: list[Any],
        *,
        feature_names: list[Any],
        output_names: list[Any] | None = None,
        response_name: str = "response",
        categorical: list[Any] | None = None,
        data: list[Any] | None = None,
        importances: ArrayLike | None = None,
        by_similarity: list[Any] | None = None,
        standard_errors: list[Any] | None = None,
        intervals_low: list[Any] | None = None,
        intervals_high: list[Any] | None = None,
        confidence_level: float | None = None,
        interval_counts: list[Any] | None = None,
        fold_effects: list[Any] | None = None,
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
        categorical_features: ArrayLike | None = "auto",
        feature_groups: dict[str, Any] | None = None,
        n_intervals: int | str | None = None,
        custom_values: dict[Any, Any] | None = None,
        categorical_order: str | dict[Any, Any] = "similarity",
        centered: bool = True,
        confidence_level: float | None = None,
        confidence_method: str = "standard_error",
        n_bootstraps: int = 200,
        method: str = "auto",
        max_rows: int | None = None,
        response_method: str | Sequence[str] | Callable[..., Any] = "auto",
        target: Any = None,
        subsample: float | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int | None = None,
        n_cols: int = 3,
        max_entries: int | None = 20,
        order: str = "levels",
        share_y: bool = True,
        rug: bool = True,
        band: bool = True,
        line_kw: dict[str, Any] | None = None,
        band_kw: dict[str, Any] | None = None,
        fold_kw: dict[str, Any] | None = None,
        rug_kw: dict[str, Any] | None = None,
        contour_kw: dict[str, Any] | None = None,
        heatmap_kw: dict[str, Any] | None = None,
        points_kw: dict[str, Any] | None = None,
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
        categorical_features: ArrayLike | None = "auto",
        feature_groups: dict[str, Any] | None = None,
        n_intervals: int | str | None = None,
        custom_values: dict[Any, Any] | None = None,
        categorical_order: str | dict[Any, Any] = "similarity",
        centered: bool = True,
        confidence_level: float | None = None,
        confidence_method: str = "standard_error",
        n_bootstraps: int = 200,
        method: str = "auto",
        max_rows: int | None = None,
        response_method: str | Sequence[str] | Callable[..., Any] = "auto",
        target: Any = None,
        subsample: float | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int | None = None,
        n_cols: int = 3,
        max_entries: int | None = 20,
        order: str = "levels",
        share_y: bool = True,
        rug: bool = True,
        band: bool = True,
        line_kw: dict[str, Any] | None = None,
        band_kw: dict[str, Any] | None = None,
        fold_kw: dict[str, Any] | None = None,
        rug_kw: dict[str, Any] | None = None,
        contour_kw: dict[str, Any] | None = None,
        heatmap_kw: dict[str, Any] | None = None,
        points_kw: dict[str, Any] | None = None,
    ) -> Self: ...
    def plot(
        self,
        ax: Any = None,
        *,
        n_cols: int = 3,
        max_entries: int | None = 20,
        order: str = "levels",
        share_y: bool = True,
        rug: bool = True,
        band: bool = True,
        line_kw: dict[str, Any] | None = None,
        band_kw: dict[str, Any] | None = None,
        fold_kw: dict[str, Any] | None = None,
        rug_kw: dict[str, Any] | None = None,
        contour_kw: dict[str, Any] | None = None,
        heatmap_kw: dict[str, Any] | None = None,
        points_kw: dict[str, Any] | None = None,
    ) -> Self: ...
    def to_frame(self) -> DataFrame: ...

class CeterisParibusDisplay:
    grid_values: list[Any]
    profiles: list[Any]
    feature_names: list[Any]
    output_names: list[Any] | None
    response_name: str
    categorical: list[Any] | None
    data: list[Any] | None
    importances: ArrayLike | None
    row_values: list[Any]
    prediction: ArrayLike
    row: Any
    models: list[str] | None
    figure_: Figure
    axes_: NDArray[np.object_]
    lines_: list[list[Line2D]]
    marks_: list[list[Line2D]]
    missing_: list[list[Line2D]]
    bands_: list[list[Artist]]
    fold_lines_: list[list[list[Line2D]]]
    rug_: list[LineCollection] | None
    legend_: Legend | None
    def __init__(
        self,
        grid_values: list[Any],
        profiles: list[Any],
        *,
        feature_names: list[Any],
        output_names: list[Any] | None = None,
        response_name: str = "response",
        categorical: list[Any] | None = None,
        data: list[Any] | None = None,
        importances: ArrayLike | None = None,
        row_values: list[Any],
        prediction: ArrayLike,
        row: Any = 0,
        models: list[str] | None = None,
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
        categorical_features: ArrayLike | None = "auto",
        feature_groups: dict[str, Any] | None = None,
        grid_resolution: int = 100,
        percentiles: tuple[float, float] = ...,
        custom_values: dict[Any, Any] | None = None,
        method: str = "auto",
        max_rows: int | None = None,
        response_method: str | Sequence[str] | Callable[..., Any] = "auto",
        target: Any = None,
        n_jobs: int | None = None,
        verbose: int | None = None,
        row: Any = 0,
        n_cols: int = 3,
        max_entries: int | None = 20,
        order: str = "levels",
        share_y: bool = True,
        rug: bool = True,
        band: bool = True,
        line_kw: dict[str, Any] | None = None,
        band_kw: dict[str, Any] | None = None,
        fold_kw: dict[str, Any] | None = None,
        rug_kw: dict[str, Any] | None = None,
        contour_kw: dict[str, Any] | None = None,
        heatmap_kw: dict[str, Any] | None = None,
        points_kw: dict[str, Any] | None = None,
    ) -> Self: ...
    @classmethod
    def from_estimators(
        cls,
        estimators: Any,
        X: Any,
        features: Any = None,
        *,
        sample_weight: ArrayLike | None = None,
        target_name: str | None = None,
        unit: str | None = None,
        ax: Any = None,
        categorical_features: ArrayLike | None = "auto",
        feature_groups: dict[str, Any] | None = None,
        grid_resolution: int = 100,
        percentiles: tuple[float, float] = ...,
        custom_values: dict[Any, Any] | None = None,
        method: str = "auto",
        max_rows: int | None = None,
        response_method: str | Sequence[str] | Callable[..., Any] = "auto",
        target: Any = None,
        n_jobs: int | None = None,
        verbose: int | None = None,
        row: Any = 0,
        n_cols: int = 3,
        max_entries: int | None = 20,
        order: str = "levels",
        share_y: bool = True,
        rug: bool = True,
        band: bool = True,
        line_kw: dict[str, Any] | None = None,
        band_kw: dict[str, Any] | None = None,
        fold_kw: dict[str, Any] | None = None,
        rug_kw: dict[str, Any] | None = None,
        contour_kw: dict[str, Any] | None = None,
        heatmap_kw: dict[str, Any] | None = None,
        points_kw: dict[str, Any] | None = None,
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
        categorical_features: ArrayLike | None = "auto",
        feature_groups: dict[str, Any] | None = None,
        grid_resolution: int = 100,
        percentiles: tuple[float, float] = ...,
        custom_values: dict[Any, Any] | None = None,
        method: str = "auto",
        max_rows: int | None = None,
        response_method: str | Sequence[str] | Callable[..., Any] = "auto",
        target: Any = None,
        n_jobs: int | None = None,
        verbose: int | None = None,
        row: int = 0,
        n_cols: int = 3,
        max_entries: int | None = 20,
        order: str = "levels",
        share_y: bool = True,
        rug: bool = True,
        band: bool = True,
        line_kw: dict[str, Any] | None = None,
        band_kw: dict[str, Any] | None = None,
        fold_kw: dict[str, Any] | None = None,
        rug_kw: dict[str, Any] | None = None,
        contour_kw: dict[str, Any] | None = None,
        heatmap_kw: dict[str, Any] | None = None,
        points_kw: dict[str, Any] | None = None,
    ) -> Self: ...
    def plot(
        self,
        ax: Any = None,
        *,
        n_cols: int = 3,
        max_entries: int | None = 20,
        order: str = "levels",
        share_y: bool = True,
        rug: bool = True,
        band: bool = True,
        line_kw: dict[str, Any] | None = None,
        band_kw: dict[str, Any] | None = None,
        fold_kw: dict[str, Any] | None = None,
        rug_kw: dict[str, Any] | None = None,
        contour_kw: dict[str, Any] | None = None,
        heatmap_kw: dict[str, Any] | None = None,
        points_kw: dict[str, Any] | None = None,
    ) -> Self: ...
    def to_frame(self) -> DataFrame: ...

class ConditionalDependenceDisplay:
    edges: list[Any]
    centers: list[Any]
    average: list[Any]
    feature_names: list[Any]
    output_names: list[Any] | None
    response_name: str
    categorical: list[Any] | None
    data: list[Any] | None
    importances: ArrayLike | None
    standard_errors: list[Any] | None
    fold_averages: list[Any] | None
    figure_: Figure
    axes_: NDArray[np.object_]
    lines_: list[list[Line2D]]
    bands_: list[list[Artist]]
    fold_lines_: list[list[list[Line2D]]]
    rug_: list[LineCollection] | None
    contours_: list[QuadContourSet] | None
    heatmaps_: list[QuadMesh] | None
    points_: list[PathCollection] | None
    colorbars_: list[Colorbar] | None
    legend_: Legend | None
    def __init__(
        self,
        edges: list[Any],
        centers: list[Any],
        average: list[Any],
        *,
        feature_names: list[Any],
        output_names: list[Any] | None = None,
        response_name: str = "response",
        categorical: list[Any] | None = None,
        data: list[Any] | None = None,
        importances: ArrayLike | None = None,
        standard_errors: list[Any] | None = None,
        fold_averages: list[Any] | None = None,
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
        categorical_features: ArrayLike | None = "auto",
        feature_groups: dict[str, Any] | None = None,
        n_intervals: int | None = None,
        custom_values: dict[Any, Any] | None = None,
        max_rows: int | None = None,
        response_method: str | Sequence[str] | Callable[..., Any] = "auto",
        target: Any = None,
        subsample: float | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int | None = None,
        n_cols: int = 3,
        max_entries: int | None = 20,
        order: str = "levels",
        share_y: bool = True,
        rug: bool = True,
        band: bool = True,
        line_kw: dict[str, Any] | None = None,
        band_kw: dict[str, Any] | None = None,
        fold_kw: dict[str, Any] | None = None,
        rug_kw: dict[str, Any] | None = None,
        contour_kw: dict[str, Any] | None = None,
        heatmap_kw: dict[str, Any] | None = None,
        points_kw: dict[str, Any] | None = None,
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
        categorical_features: ArrayLike | None = "auto",
        feature_groups: dict[str, Any] | None = None,
        n_intervals: int | None = None,
        custom_values: dict[Any, Any] | None = None,
        max_rows: int | None = None,
        response_method: str | Sequence[str] | Callable[..., Any] = "auto",
        target: Any = None,
        subsample: float | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int | None = None,
        n_cols: int = 3,
        max_entries: int | None = 20,
        order: str = "levels",
        share_y: bool = True,
        rug: bool = True,
        band: bool = True,
        line_kw: dict[str, Any] | None = None,
        band_kw: dict[str, Any] | None = None,
        fold_kw: dict[str, Any] | None = None,
        rug_kw: dict[str, Any] | None = None,
        contour_kw: dict[str, Any] | None = None,
        heatmap_kw: dict[str, Any] | None = None,
        points_kw: dict[str, Any] | None = None,
    ) -> Self: ...
    def plot(
        self,
        ax: Any = None,
        *,
        n_cols: int = 3,
        max_entries: int | None = 20,
        order: str = "levels",
        share_y: bool = True,
        rug: bool = True,
        band: bool = True,
        line_kw: dict[str, Any] | None = None,
        band_kw: dict[str, Any] | None = None,
        fold_kw: dict[str, Any] | None = None,
        rug_kw: dict[str, Any] | None = None,
        contour_kw: dict[str, Any] | None = None,
        heatmap_kw: dict[str, Any] | None = None,
        points_kw: dict[str, Any] | None = None,
    ) -> Self: ...
    def to_frame(self) -> DataFrame: ...

class EffectComparisonDisplay:
    points: list[Any]
    effects: list[Any]
    methods: list[str]
    feature_name: str
    output_names: list[Any] | None
    response_name: str
    fold_effects: list[Any] | None
    categorical: bool | None
    data: Any
    by_similarity: bool
    models: list[str] | None
    figure_: Figure
    axes_: NDArray[np.object_]
    lines_: list[list[Line2D]]
    bands_: list[list[Artist]]
    fold_lines_: list[list[list[Line2D]]]
    rug_: list[LineCollection] | None
    legend_: Legend
    def __init__(
        self,
        points: list[Any],
        effects: list[Any],
        *,
        methods: list[str],
        feature_name: str,
        output_names: list[Any] | None = None,
        response_name: str = "response",
        fold_effects: list[Any] | None = None,
        categorical: bool | None = None,
        data: Any = None,
        by_similarity: bool = False,
        models: list[str] | None = None,
    ) -> None: ...
    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any = None,
        feature: int | str | None = None,
        *,
        sample_weight: ArrayLike | None = None,
        target_name: str | None = None,
        unit: str | None = None,
        ax: Any = None,
        methods: Sequence[str] = ...,
        centered: bool | None = None,
        categorical_features: ArrayLike | None = "auto",
        feature_groups: dict[str, Any] | None = None,
        grid_resolution: int = 100,
        percentiles: tuple[float, float] = ...,
        custom_values: dict[Any, Any] | None = None,
        method: str = "auto",
        max_rows: int | None = None,
        response_method: str | Sequence[str] | Callable[..., Any] = "auto",
        target: Any = None,
        subsample: float | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int | None = None,
        n_intervals: int | None = None,
        categorical_order: str | dict[Any, Any] = "similarity",
        confidence_level: float | None = None,
        confidence_method: str = "standard_error",
        n_bootstraps: int = 200,
        n_cols: int = 3,
        order: str = "levels",
        share_y: bool = True,
        rug: bool = True,
        band: bool = True,
        line_kw: dict[str, Any] | None = None,
        band_kw: dict[str, Any] | None = None,
        fold_kw: dict[str, Any] | None = None,
        rug_kw: dict[str, Any] | None = None,
    ) -> Self: ...
    @classmethod
    def from_estimators(
        cls,
        estimators: Any,
        X: Any,
        feature: int | str | None = None,
        *,
        sample_weight: ArrayLike | None = None,
        target_name: str | None = None,
        unit: str | None = None,
        ax: Any = None,
        centered: bool | None = None,
        effect: str = "partial_dependence",
        categorical_features: ArrayLike | None = "auto",
        feature_groups: dict[str, Any] | None = None,
        grid_resolution: int = 100,
        percentiles: tuple[float, float] = ...,
        custom_values: dict[Any, Any] | None = None,
        method: str = "auto",
        max_rows: int | None = None,
        response_method: str | Sequence[str] | Callable[..., Any] = "auto",
        target: Any = None,
        subsample: float | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int | None = None,
        n_intervals: int | None = None,
        categorical_order: str | dict[Any, Any] = "similarity",
        confidence_level: float | None = None,
        confidence_method: str = "standard_error",
        n_bootstraps: int = 200,
        n_cols: int = 3,
        order: str = "levels",
        share_y: bool = True,
        rug: bool = True,
        band: bool = True,
        line_kw: dict[str, Any] | None = None,
        band_kw: dict[str, Any] | None = None,
        fold_kw: dict[str, Any] | None = None,
        rug_kw: dict[str, Any] | None = None,
    ) -> Self: ...
    @classmethod
    def from_cv_results(
        cls,
        cv_results: Mapping[str, Any],
        X: Any = None,
        feature: int | str | None = None,
        *,
        sample_weight: ArrayLike | None = None,
        target_name: str | None = None,
        unit: str | None = None,
        ax: Any = None,
        methods: Sequence[str] = ...,
        centered: bool | None = None,
        categorical_features: ArrayLike | None = "auto",
        feature_groups: dict[str, Any] | None = None,
        grid_resolution: int = 100,
        percentiles: tuple[float, float] = ...,
        custom_values: dict[Any, Any] | None = None,
        method: str = "auto",
        max_rows: int | None = None,
        response_method: str | Sequence[str] | Callable[..., Any] = "auto",
        target: Any = None,
        subsample: float | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int | None = None,
        n_intervals: int | None = None,
        categorical_order: str | dict[Any, Any] = "similarity",
        confidence_level: float | None = None,
        confidence_method: str = "standard_error",
        n_bootstraps: int = 200,
        n_cols: int = 3,
        order: str = "levels",
        share_y: bool = True,
        rug: bool = True,
        band: bool = True,
        line_kw: dict[str, Any] | None = None,
        band_kw: dict[str, Any] | None = None,
        fold_kw: dict[str, Any] | None = None,
        rug_kw: dict[str, Any] | None = None,
    ) -> Self: ...
    def plot(
        self,
        ax: Any = None,
        *,
        n_cols: int = 3,
        order: str = "levels",
        share_y: bool = True,
        rug: bool = True,
        band: bool = True,
        line_kw: dict[str, Any] | None = None,
        band_kw: dict[str, Any] | None = None,
        fold_kw: dict[str, Any] | None = None,
        rug_kw: dict[str, Any] | None = None,
    ) -> Self: ...
    def to_frame(self) -> DataFrame: ...

class IndividualConditionalExpectationDisplay:
    grid_values: list[Any]
    curves: list[Any]
    average: list[Any]
    feature_names: list[Any]
    output_names: list[Any] | None
    response_name: str
    categorical: list[Any] | None
    data: list[Any] | None
    importances: ArrayLike | None
    derivatives: list[Any] | None
    derivative_std: list[Any] | None
    rows: NDArray[np.intp] | None
    color_by: str | None
    color_values: NDArray[Any] | None
    color_levels: Any
    fold_averages: list[Any] | None
    centered: bool
    figure_: Figure
    axes_: NDArray[np.object_]
    lines_: list[list[Line2D]]
    curves_: list[LineCollection] | None
    curve_rows_: NDArray[np.float64]
    spread_lines_: list[Line2D] | None
    bands_: list[list[Artist]]
    fold_lines_: list[list[list[Line2D]]]
    rug_: list[LineCollection] | None
    contours_: list[QuadContourSet] | None
    heatmaps_: list[QuadMesh] | None
    points_: list[PathCollection] | None
    colorbars_: list[Colorbar] | None
    legend_: Legend | None
    def __init__(
        self,
        grid_values: list[Any],
        curves: list[Any],
        average: list[Any],
        *,
        feature_names: list[Any],
        output_names: list[Any] | None = None,
        response_name: str = "response",
        categorical: list[Any] | None = None,
        data: list[Any] | None = None,
        importances: ArrayLike | None = None,
        derivatives: list[Any] | None = None,
        derivative_std: list[Any] | None = None,
        rows: NDArray[np.intp] | None = None,
        color_by: str | None = None,
        color_values: NDArray[Any] | None = None,
        color_levels: Any = None,
        fold_averages: list[Any] | None = None,
        centered: bool = False,
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
        categorical_features: ArrayLike | None = "auto",
        feature_groups: dict[str, Any] | None = None,
        grid_resolution: int = 100,
        percentiles: tuple[float, float] = ...,
        custom_values: dict[Any, Any] | None = None,
        center: Any = None,
        derivative: bool = False,
        method: str = "auto",
        subsample: float | None = 10000,
        max_rows: int | None = None,
        response_method: str | Sequence[str] | Callable[..., Any] = "auto",
        target: Any = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int | None = None,
        color_by: str | None = None,
        kind: str = "curves",
        n_curves: int | None = 100,
        n_cols: int = 3,
        max_entries: int | None = 20,
        order: str = "levels",
        share_y: bool = True,
        rug: bool = True,
        band: bool = True,
        curve_kw: dict[str, Any] | None = None,
        line_kw: dict[str, Any] | None = None,
        band_kw: dict[str, Any] | None = None,
        fold_kw: dict[str, Any] | None = None,
        rug_kw: dict[str, Any] | None = None,
        contour_kw: dict[str, Any] | None = None,
        heatmap_kw: dict[str, Any] | None = None,
        points_kw: dict[str, Any] | None = None,
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
        categorical_features: ArrayLike | None = "auto",
        feature_groups: dict[str, Any] | None = None,
        grid_resolution: int = 100,
        percentiles: tuple[float, float] = ...,
        custom_values: dict[Any, Any] | None = None,
        center: Any = None,
        derivative: bool = False,
        method: str = "auto",
        subsample: float | None = 10000,
        max_rows: int | None = None,
        response_method: str | Sequence[str] | Callable[..., Any] = "auto",
        target: Any = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int | None = None,
        color_by: str | None = None,
        kind: str = "curves",
        n_curves: int | None = 100,
        n_cols: int = 3,
        max_entries: int | None = 20,
        order: str = "levels",
        share_y: bool = True,
        rug: bool = True,
        band: bool = True,
        curve_kw: dict[str, Any] | None = None,
        line_kw: dict[str, Any] | None = None,
        band_kw: dict[str, Any] | None = None,
        fold_kw: dict[str, Any] | None = None,
        rug_kw: dict[str, Any] | None = None,
        contour_kw: dict[str, Any] | None = None,
        heatmap_kw: dict[str, Any] | None = None,
        points_kw: dict[str, Any] | None = None,
    ) -> Self: ...
    def plot(
        self,
        ax: Any = None,
        *,
        kind: str = "curves",
        n_curves: int | None = 100,
        random_state: int | np.random.RandomState | None = 0,
        n_cols: int = 3,
        max_entries: int | None = 20,
        order: str = "levels",
        share_y: bool = True,
        rug: bool = True,
        band: bool = True,
        curve_kw: dict[str, Any] | None = None,
        line_kw: dict[str, Any] | None = None,
        band_kw: dict[str, Any] | None = None,
        fold_kw: dict[str, Any] | None = None,
        rug_kw: dict[str, Any] | None = None,
        contour_kw: dict[str, Any] | None = None,
        heatmap_kw: dict[str, Any] | None = None,
        points_kw: dict[str, Any] | None = None,
    ) -> Self: ...
    def to_frame(self) -> DataFrame: ...

class PartialDependenceDisplay:
    grid_values: list[Any]
    average: list[Any]
    feature_names: list[Any]
    output_names: list[Any] | None
    response_name: str
    categorical: list[Any] | None
    data: list[Any] | None
    importances: ArrayLike | None
    standard_errors: list[Any] | None
    shape_standard_errors: list[Any] | None
    missing_average: list[Any] | None
    fold_averages: list[Any] | None
    centered: bool
    figure_: Figure
    axes_: NDArray[np.object_]
    lines_: list[list[Line2D]]
    bands_: list[list[Artist]]
    fold_lines_: list[list[list[Line2D]]]
    missing_: list[list[Line2D]]
    rug_: list[LineCollection] | None
    contours_: list[QuadContourSet] | None
    heatmaps_: list[QuadMesh] | None
    points_: list[PathCollection] | None
    colorbars_: list[Colorbar] | None
    legend_: Legend | None
    def __init__(
        self,
        grid_values: list[Any],
        average: list[Any],
        *,
        feature_names: list[Any],
        output_names: list[Any] | None = None,
        response_name: str = "response",
        categorical: list[Any] | None = None,
        data: list[Any] | None = None,
        importances: ArrayLike | None = None,
        standard_errors: list[Any] | None = None,
        shape_standard_errors: list[Any] | None = None,
        missing_average: list[Any] | None = None,
        fold_averages: list[Any] | None = None,
        centered: bool = False,
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
        categorical_features: ArrayLike | None = "auto",
        feature_groups: dict[str, Any] | None = None,
        grid_resolution: int = 100,
        percentiles: tuple[float, float] = ...,
        custom_values: dict[Any, Any] | None = None,
        centered: bool = False,
        method: str = "auto",
        max_rows: int | None = None,
        response_method: str | Sequence[str] | Callable[..., Any] = "auto",
        target: Any = None,
        subsample: float | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int | None = None,
        n_cols: int = 3,
        max_entries: int | None = 20,
        order: str = "levels",
        share_y: bool = True,
        rug: bool = True,
        band: bool = True,
        line_kw: dict[str, Any] | None = None,
        band_kw: dict[str, Any] | None = None,
        fold_kw: dict[str, Any] | None = None,
        rug_kw: dict[str, Any] | None = None,
        contour_kw: dict[str, Any] | None = None,
        heatmap_kw: dict[str, Any] | None = None,
        points_kw: dict[str, Any] | None = None,
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
        categorical_features: ArrayLike | None = "auto",
        feature_groups: dict[str, Any] | None = None,
        grid_resolution: int = 100,
        percentiles: tuple[float, float] = ...,
        custom_values: dict[Any, Any] | None = None,
        centered: bool = False,
        method: str = "auto",
        max_rows: int | None = None,
        response_method: str | Sequence[str] | Callable[..., Any] = "auto",
        target: Any = None,
        subsample: float | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int | None = None,
        n_cols: int = 3,
        max_entries: int | None = 20,
        order: str = "levels",
        share_y: bool = True,
        rug: bool = True,
        band: bool = True,
        line_kw: dict[str, Any] | None = None,
        band_kw: dict[str, Any] | None = None,
        fold_kw: dict[str, Any] | None = None,
        rug_kw: dict[str, Any] | None = None,
        contour_kw: dict[str, Any] | None = None,
        heatmap_kw: dict[str, Any] | None = None,
        points_kw: dict[str, Any] | None = None,
    ) -> Self: ...
    def plot(
        self,
        ax: Any = None,
        *,
        n_cols: int = 3,
        max_entries: int | None = 20,
        order: str = "levels",
        share_y: bool = True,
        rug: bool = True,
        band: bool = True,
        line_kw: dict[str, Any] | None = None,
        band_kw: dict[str, Any] | None = None,
        fold_kw: dict[str, Any] | None = None,
        rug_kw: dict[str, Any] | None = None,
        contour_kw: dict[str, Any] | None = None,
        heatmap_kw: dict[str, Any] | None = None,
        points_kw: dict[str, Any] | None = None,
    ) -> Self: ...
    def to_frame(self) -> DataFrame: ...

class RegionalEffectDisplay:
    grid_values: NDArray[Any]
    curves: NDArray[np.float64]
    average: NDArray[np.float64]
    feature_name: str
    conditions: list[list[str]]
    individual: NDArray[np.float64] | None
    region: NDArray[np.intp] | None
    rows: NDArray[np.intp] | None
    data: NDArray[Any] | None
    tree: dict[str, Any] | None
    output_names: list[Any] | None
    response_name: str
    categorical: bool | None
    by_similarity: bool
    figure_: Figure
    axes_: NDArray[np.object_]
    lines_: list[list[Line2D]]
    average_lines_: list[list[Line2D]]
    curves_: list[LineCollection] | None
    rug_: list[LineCollection] | None
    legend_: Legend | None
    def __init__(
        self,
        grid_values: NDArray[Any],
        curves: NDArray[np.float64],
        average: NDArray[np.float64],
        *,
        feature_name: str,
        conditions: list[list[str]],
        individual: NDArray[np.float64] | None = None,
        region: NDArray[np.intp] | None = None,
        rows: NDArray[np.intp] | None = None,
        data: NDArray[Any] | None = None,
        tree: dict[str, Any] | None = None,
        output_names: list[Any] | None = None,
        response_name: str = "response",
        categorical: bool | None = None,
        by_similarity: bool = False,
    ) -> None: ...
    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any = None,
        feature: int | str | None = None,
        *,
        sample_weight: ArrayLike | None = None,
        target_name: str | None = None,
        unit: str | None = None,
        ax: Any = None,
        effect: str = "ice",
        split_features: Any = None,
        categorical_features: ArrayLike | None = "auto",
        feature_groups: dict[str, Any] | None = None,
        joint: bool = False,
        max_depth: int = 2,
        min_samples_leaf: float = 0.05,
        min_gain: float = 0.1,
        alpha: float | None = None,
        grid_resolution: int = 20,
        percentiles: tuple[float, float] = ...,
        custom_values: dict[Any, Any] | None = None,
        method: str = "auto",
        max_rows: int | None = None,
        response_method: str | Sequence[str] | Callable[..., Any] = "auto",
        target: Any = None,
        subsample: float | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int | None = None,
        n_curves: int | None = 100,
        n_cols: int = 3,
        rug: bool = True,
        curve_kw: dict[str, Any] | None = None,
        line_kw: dict[str, Any] | None = None,
        rug_kw: dict[str, Any] | None = None,
    ) -> Self: ...
    def plot(
        self,
        ax: Any = None,
        *,
        n_curves: int | None = 100,
        n_cols: int = 3,
        rug: bool = True,
        curve_kw: dict[str, Any] | None = None,
        line_kw: dict[str, Any] | None = None,
        rug_kw: dict[str, Any] | None = None,
    ) -> Self: ...
    def to_frame(self) -> DataFrame: ...
