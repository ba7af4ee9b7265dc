"""Types for static checkers, written by .ci/make_stubs.py."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PathCollection
from matplotlib.container import BarContainer
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.lines import Line2D
from matplotlib.text import Annotation
from numpy.typing import ArrayLike, NDArray
from pandas import DataFrame

from sklearn_interpret.linear._coefficient_inference import CoefficientInference
from sklearn_interpret.linear._sparse_linear import (
    SparseLinearClassifier,
    SparseLinearRegressor,
)

__all__ = [
    "CoefficientDisplay",
    "CoefficientInference",
    "LinearEffectDisplay",
    "SparseLinearClassifier",
    "SparseLinearRegressor",
    "SparsePathDisplay",
]

class CoefficientDisplay:
    coef: ArrayLike
    intervals_low: ArrayLike
    intervals_high: ArrayLike
    term_names: Sequence[str]
    confidence_level: float
    response_name: str
    output_names: Sequence[Any] | None
    figure_: Figure
    ax_: Axes
    points_: PathCollection
    intervals_: LineCollection
    zero_: Line2D
    def __init__(
        self,
        coef: ArrayLike,
        intervals_low: ArrayLike,
        intervals_high: ArrayLike,
        *,
        term_names: Sequence[str],
        confidence_level: float = 0.95,
        response_name: str = "prediction",
        output_names: Sequence[Any] | None = None,
    ) -> None: ...
    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any = None,
        y: ArrayLike | None = None,
        *,
        sample_weight: ArrayLike | None = None,
        target_name: str | None = None,
        unit: str | None = None,
        ax: Any = None,
        target: Any = None,
        covariance: str = "model",
        dispersion: str = "model",
        offset: int | str | None = None,
        weights: str = "frequency",
        interval: str = "wald",
        confidence_level: float = 0.95,
        n_jobs: int | None = None,
        verbose: int | None = None,
        max_entries: int | None = 20,
        exponentiate: bool = False,
        point_kw: dict[str, Any] | None = None,
        line_kw: dict[str, Any] | None = None,
    ) -> Self: ...
    def plot(
        self,
        ax: Any = None,
        *,
        max_entries: int | None = 20,
        exponentiate: bool = False,
        point_kw: dict[str, Any] | None = None,
        line_kw: dict[str, Any] | None = None,
    ) -> Self: ...
    def to_frame(self) -> DataFrame: ...

class LinearEffectDisplay:
    effects: ArrayLike
    term_names: Sequence[str]
    values: ArrayLike | None
    row_names: Sequence[Any] | None
    response_name: str
    output_names: Sequence[Any] | None
    figure_: Figure
    ax_: Axes
    boxes_: BarContainer
    whiskers_: LineCollection
    points_: list[PathCollection]
    zero_: Line2D
    legend_: Legend | None
    def __init__(
        self,
        effects: ArrayLike,
        *,
        term_names: Sequence[str],
        values: ArrayLike | None = None,
        row_names: Sequence[Any] | None = None,
        response_name: str = "prediction",
        output_names: Sequence[Any] | None = None,
    ) -> None: ...
    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any = None,
        y: ArrayLike | None = None,
        *,
        sample_weight: ArrayLike | None = None,
        target_name: str | None = None,
        unit: str | None = None,
        ax: Any = None,
        target: Any = None,
        covariance: str = "model",
        dispersion: str = "model",
        offset: int | str | None = None,
        weights: str = "frequency",
        interval: str = "wald",
        confidence_level: float = 0.95,
        n_jobs: int | None = None,
        verbose: int | None = None,
        rows: Sequence[int] = ...,
        max_entries: int | None = 20,
        box_kw: dict[str, Any] | None = None,
        point_kw: dict[str, Any] | None = None,
    ) -> Self: ...
    def plot(
        self,
        ax: Any = None,
        *,
        rows: Sequence[int] = ...,
        max_entries: int | None = 20,
        box_kw: dict[str, Any] | None = None,
        point_kw: dict[str, Any] | None = None,
    ) -> Self: ...
    def to_frame(self) -> DataFrame: ...

class SparsePathDisplay:
    alphas: ArrayLike
    coef_path: ArrayLike
    alpha: float | None
    scale: ArrayLike | None
    feature_names: Sequence[str] | None
    classes: Sequence[Any] | None
    figure_: Figure
    axes_: NDArray[np.object_]
    lines_: list[list[Line2D]]
    other_lines_: list[list[Line2D]]
    texts_: list[list[Annotation]]
    model_lines_: list[Line2D]
    model_points_: list[PathCollection]
    def __init__(
        self,
        alphas: ArrayLike,
        coef_path: ArrayLike,
        *,
        alpha: float | None = None,
        scale: ArrayLike | None = None,
        feature_names: Sequence[str] | None = None,
        classes: Sequence[Any] | None = None,
    ) -> None: ...
    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        ax: Any = None,
        max_names: int | None = 12,
        n_cols: int = 2,
        line_kw: dict[str, Any] | None = None,
    ) -> Self: ...
    def plot(
        self,
        ax: Any = None,
        *,
        max_names: int | None = 12,
        n_cols: int = 2,
        line_kw: dict[str, Any] | None = None,
    ) -> Self: ...
    def to_frame(self) -> DataFrame: ...
