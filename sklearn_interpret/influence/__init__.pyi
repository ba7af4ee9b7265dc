"""Types for static checkers, written by .ci/make_stubs.py."""

from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection, PolyCollection
from matplotlib.container import BarContainer
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.lines import Line2D
from matplotlib.text import Annotation, Text
from numpy.typing import ArrayLike
from pandas import DataFrame
from sklearn.pipeline import Pipeline
from sklearn.tree import DecisionTreeRegressor

from sklearn_interpret.explanations._training import TrainingExplanation
from sklearn_interpret.influence._data_values import DataValues
from sklearn_interpret.influence._deletion_diagnostics import DeletionDiagnostics
from sklearn_interpret.influence._influence_functions import InfluenceFunctions
from sklearn_interpret.influence._prediction_weights import PredictionWeights
from sklearn_interpret.influence._regression_influence import RegressionInfluence

__all__ = [
    "DataValues",
    "DeletionDiagnostics",
    "InfluenceDisplay",
    "InfluenceFunctions",
    "InfluenceTreeDisplay",
    "PredictionWeights",
    "RegressionInfluence",
    "RegressionInfluenceDisplay",
]

class InfluenceDisplay:
    explanation: TrainingExplanation | None
    row: int | None
    features: Sequence[str | int] | None
    removal: dict[str, Any] | None
    figure_: Figure
    ax_: Axes
    bars_: BarContainer
    line_: Line2D
    random_line_: Line2D
    smallest_line_: Line2D
    band_: PolyCollection
    legend_: Legend
    def __init__(
        self,
        explanation: TrainingExplanation | None = None,
        *,
        row: int | None = None,
        features: Sequence[str | int] | None = None,
        removal: dict[str, Any] | None = None,
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
        rows: ArrayLike | None = None,
        what: str = "prediction",
        groups: ArrayLike | None = None,
        response_method: str | Sequence[str] | Callable[..., Any] = "auto",
        target: Any = None,
        subsample: float | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int | None = None,
        row: int | None = None,
        features: Sequence[str | int] | None = None,
        max_entries: int | None = 15,
        bar_kw: dict[str, Any] | None = None,
        line_kw: dict[str, Any] | None = None,
        band_kw: dict[str, Any] | None = None,
    ) -> Self: ...
    @classmethod
    def from_explanation(
        cls,
        explanation: TrainingExplanation,
        *,
        target_name: str | None = None,
        unit: str | None = None,
        ax: Any = None,
        row: int | None = None,
        features: Sequence[str | int] | None = None,
        max_entries: int | None = 15,
        bar_kw: dict[str, Any] | None = None,
        line_kw: dict[str, Any] | None = None,
        band_kw: dict[str, Any] | None = None,
    ) -> Self: ...
    @classmethod
    def from_removal(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        influence: ArrayLike,
        *,
        X_test: Any = None,
        y_test: ArrayLike | None = None,
        sizes: ArrayLike | None = None,
        scoring: Any = None,
        n_draws: int = 10,
        both_ends: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        ax: Any = None,
        line_kw: dict[str, Any] | None = None,
        band_kw: dict[str, Any] | None = None,
    ) -> Self: ...
    def plot(
        self,
        ax: Any = None,
        *,
        max_entries: int | None = 15,
        bar_kw: dict[str, Any] | None = None,
        line_kw: dict[str, Any] | None = None,
        band_kw: dict[str, Any] | None = None,
    ) -> Self: ...
    def to_frame(self) -> DataFrame: ...

class InfluenceTreeDisplay:
    explanation: TrainingExplanation
    max_depth: int
    min_samples_leaf: int | float
    tree_: DecisionTreeRegressor | Pipeline
    figure_: Figure
    ax_: Axes
    bars_: list[Any]
    texts_: list[Text]
    legend_: Legend | None
    def __init__(
        self,
        explanation: TrainingExplanation,
        *,
        max_depth: int = 3,
        min_samples_leaf: int | float = 0.02,
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
        rows: ArrayLike | None = None,
        what: str = "prediction",
        groups: ArrayLike | None = None,
        response_method: str | Sequence[str] | Callable[..., Any] = "auto",
        target: Any = None,
        subsample: float | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int | None = None,
        max_depth: int = 3,
        min_samples_leaf: int | float = 0.02,
        kind: str = "auto",
        bar_kw: dict[str, Any] | None = None,
    ) -> Self: ...
    @classmethod
    def from_explanation(
        cls,
        explanation: TrainingExplanation,
        *,
        target_name: str | None = None,
        unit: str | None = None,
        ax: Any = None,
        max_depth: int = 3,
        min_samples_leaf: int | float = 0.02,
        kind: str = "auto",
        bar_kw: dict[str, Any] | None = None,
    ) -> Self: ...
    def plot(
        self,
        ax: Any = None,
        *,
        kind: str = "auto",
        bar_kw: dict[str, Any] | None = None,
    ) -> Self: ...
    def to_frame(self) -> DataFrame: ...

class RegressionInfluenceDisplay:
    leverages: ArrayLike
    residuals: ArrayLike
    cooks_distances: ArrayLike
    effective_dof: float
    residual_dof: float | None
    row_names: Sequence[Any] | None
    figure_: Figure
    ax_: Axes
    points_: PathCollection
    named_points_: PathCollection
    contours_: list[list[Line2D]]
    texts_: list[Annotation]
    legend_: Legend | None
    def __init__(
        self,
        leverages: ArrayLike,
        residuals: ArrayLike,
        cooks_distances: ArrayLike,
        *,
        effective_dof: float,
        residual_dof: float | None = None,
        row_names: Sequence[Any] | None = None,
    ) -> None: ...
    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any = None,
        y: ArrayLike | None = None,
        *,
        sample_weight: ArrayLike | None = None,
        ax: Any = None,
        approximation: str = "one_step",
        n_jobs: int | None = None,
        verbose: int | None = None,
        levels: Sequence[float] = ...,
        max_names: int = 5,
        point_kw: dict[str, Any] | None = None,
        line_kw: dict[str, Any] | None = None,
    ) -> Self: ...
    def plot(
        self,
        ax: Any = None,
        *,
        levels: Sequence[float] = ...,
        max_names: int = 5,
        point_kw: dict[str, Any] | None = None,
        line_kw: dict[str, Any] | None = None,
    ) -> Self: ...
    def to_frame(self) -> DataFrame: ...
