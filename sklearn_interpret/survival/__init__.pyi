"""Types for static checkers, written by .ci/make_stubs.py."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

import numpy as np
from matplotlib.collections import LineCollection, QuadMesh
from matplotlib.colorbar import Colorbar
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from numpy.typing import ArrayLike, NDArray
from pandas import DataFrame

from sklearn_interpret.survival._survival_model import SurvivalModel

__all__ = ["EffectOverTimeDisplay", "SurvivalModel"]

class EffectOverTimeDisplay:
    grid_values: list[Any]
    average: list[Any]
    times: ArrayLike
    feature_names: list[Any]
    output_names: list[Any] | None
    response_name: str
    categorical: list[Any] | None
    data: list[Any] | None
    importances: ArrayLike | None
    fold_averages: list[Any] | None
    centered: bool
    figure_: Figure
    axes_: NDArray[np.object_]
    heatmaps_: list[QuadMesh]
    rug_: list[LineCollection] | None
    colorbars_: list[Colorbar]
    legend_: Legend | None
    def __init__(
        self,
        grid_values: list[Any],
        average: list[Any],
        times: ArrayLike,
        *,
        feature_names: list[Any],
        output_names: list[Any] | None = None,
        response_name: str = "response",
        categorical: list[Any] | None = None,
        data: list[Any] | None = None,
        importances: ArrayLike | None = None,
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
        rug: bool = True,
        rug_kw: dict[str, Any] | None = None,
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
        rug: bool = True,
        rug_kw: dict[str, Any] | None = None,
        heatmap_kw: dict[str, Any] | None = None,
    ) -> Self: ...
    def plot(
        self,
        ax: Any = None,
        *,
        n_cols: int = 3,
        max_entries: int | None = 20,
        rug: bool = True,
        rug_kw: dict[str, Any] | None = None,
        heatmap_kw: dict[str, Any] | None = None,
    ) -> Self: ...
    def to_frame(self) -> DataFrame: ...
