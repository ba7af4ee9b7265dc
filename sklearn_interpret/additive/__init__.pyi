"""Types for static checkers, written by .ci/make_stubs.py."""

from typing import Any, Self

import numpy as np
from matplotlib.artist import Artist
from matplotlib.collections import LineCollection, QuadMesh
from matplotlib.colorbar import Colorbar
from matplotlib.contour import QuadContourSet
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.lines import Line2D
from numpy.typing import ArrayLike, NDArray
from pandas import DataFrame

from sklearn_interpret.additive._diagnostics import BasisCheck
from sklearn_interpret.additive._gam_classifier import GAMClassifier
from sklearn_interpret.additive._gam_regressor import GAMRegressor

__all__ = ["BasisCheck", "GAMClassifier", "GAMRegressor", "SmoothTermDisplay"]

class SmoothTermDisplay:
    values: list[Any]
    effects: list[Any]
    feature_names: list[Any]
    effective_dof: ArrayLike | None
    standard_errors: list[Any] | None
    residual_dof: float | None
    output_names: list[Any] | None
    response_name: str
    data: list[Any] | None
    residuals: list[Any] | None
    missing_effects: list[Any] | None
    importances: list[float] | None
    figure_: Figure
    axes_: NDArray[np.object_]
    lines_: list[list[Line2D]]
    bands_: list[list[Artist]]
    missing_: list[list[Line2D]]
    rug_: list[LineCollection] | None
    points_: list[Any]
    contours_: list[QuadContourSet] | None
    heatmaps_: list[QuadMesh] | None
    colorbars_: list[Colorbar] | None
    legend_: Legend | None
    def __init__(
        self,
        values: list[Any],
        effects: list[Any],
        *,
        feature_names: list[Any],
        effective_dof: ArrayLike | None = None,
        standard_errors: list[Any] | None = None,
        residual_dof: float | None = None,
        output_names: list[Any] | None = None,
        response_name: str = "prediction",
        data: list[Any] | None = None,
        residuals: list[Any] | None = None,
        missing_effects: list[Any] | None = None,
        importances: list[float] | None = None,
    ) -> None: ...
    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any = None,
        y: ArrayLike | None = None,
        *,
        terms: Any = None,
        target: Any = None,
        target_name: str | None = None,
        unit: str | None = None,
        ax: Any = None,
        n_cols: int = 3,
        max_entries: int | None = 20,
        share_y: bool = True,
        rug: bool = True,
        band: bool = True,
        line_kw: dict[str, Any] | None = None,
        band_kw: dict[str, Any] | None = None,
        rug_kw: dict[str, Any] | None = None,
        residual_kw: dict[str, Any] | None = None,
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
        share_y: bool = True,
        rug: bool = True,
        band: bool = True,
        line_kw: dict[str, Any] | None = None,
        band_kw: dict[str, Any] | None = None,
        rug_kw: dict[str, Any] | None = None,
        residual_kw: dict[str, Any] | None = None,
        contour_kw: dict[str, Any] | None = None,
        heatmap_kw: dict[str, Any] | None = None,
        points_kw: dict[str, Any] | None = None,
    ) -> Self: ...
    def to_frame(self) -> DataFrame: ...
