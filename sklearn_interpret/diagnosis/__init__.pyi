"""Types for static checkers, written by .ci/make_stubs.py."""

from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection, QuadMesh
from matplotlib.colorbar import Colorbar
from matplotlib.container import BarContainer
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.text import Annotation
from numpy.typing import ArrayLike
from pandas import DataFrame

from sklearn_interpret._model.responses.model_difference import ModelDifference
from sklearn_interpret.diagnosis._change import Change, Changes
from sklearn_interpret.diagnosis._change_attribution import ChangeAttribution
from sklearn_interpret.diagnosis._error_slices import ErrorSlice, ErrorSlices

__all__ = [
    "Change",
    "ChangeAttribution",
    "ChangeDisplay",
    "Changes",
    "ErrorSlice",
    "ErrorSlices",
    "ErrorSlicesDisplay",
    "ModelDifference",
    "SliceLossDisplay",
]

class ChangeDisplay:
    changes: Any
    show_loss: bool
    target: Any
    figure_: Figure
    ax_: Axes
    ups_: PolyCollection
    downs_: PolyCollection
    labels_: list[Annotation]
    lines_: list[Line2D]
    intervals_: list[LineCollection]
    legend_: Legend | None
    def __init__(
        self, changes: Any, *, show_loss: bool = False, target: Any = None
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
        loss: str | Callable[..., Any] | None = "auto",
        n_permutations: int = 16,
        feature_groups: dict[str, Any] | None = None,
        response_method: str | Sequence[str] | Callable[..., Any] = "auto",
        target: Any = None,
        cv: Any = None,
        alpha: float = 0.05,
        max_rows: int | None = None,
        subsample: float | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int | None = None,
        X_new: Any = None,
        y_new: ArrayLike | None = None,
        weight_new: ArrayLike | None = None,
        show_loss: bool = False,
        max_entries: int | None = 8,
        step_kw: dict[str, Any] | None = None,
        line_kw: dict[str, Any] | None = None,
    ) -> Self: ...
    @classmethod
    def from_change(
        cls,
        change: Any,
        *,
        show_loss: bool = False,
        target: Any = None,
        target_name: str | None = None,
        unit: str | None = None,
        ax: Any = None,
        max_entries: int | None = 8,
        step_kw: dict[str, Any] | None = None,
        line_kw: dict[str, Any] | None = None,
    ) -> Self: ...
    def plot(
        self,
        ax: Any = None,
        *,
        max_entries: int | None = 8,
        step_kw: dict[str, Any] | None = None,
        line_kw: dict[str, Any] | None = None,
    ) -> Self: ...
    def to_frame(self) -> DataFrame: ...

class ErrorSlicesDisplay:
    slices: Sequence[ErrorSlice]
    alpha: float
    loss_name: str
    pvalue_name: str
    figure_: Figure
    ax_: Axes
    bars_: BarContainer
    intervals_: LineCollection
    labels_: list[Annotation]
    legend_: Legend | None
    def __init__(
        self,
        slices: Sequence[ErrorSlice],
        *,
        alpha: float = 0.05,
        loss_name: str = "loss",
        pvalue_name: str = "adjusted p",
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
        loss: str | Callable[..., Any] = "auto",
        direction: str = "worse",
        max_conditions: int = 2,
        n_slices: int = 5,
        min_samples: float = 0.02,
        n_bins: int | None = None,
        cv: Any = None,
        correction: str | None = "holm",
        alpha: float = 0.05,
        categorical_features: Any = "auto",
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int | None = None,
        max_entries: int | None = 20,
        bar_kw: dict[str, Any] | None = None,
    ) -> Self: ...
    def plot(
        self,
        ax: Any = None,
        *,
        max_entries: int | None = 20,
        bar_kw: dict[str, Any] | None = None,
    ) -> Self: ...
    def to_frame(self) -> DataFrame: ...

class SliceLossDisplay:
    means: ArrayLike
    bins: Sequence[Sequence[str]]
    feature_names: Sequence[str]
    frame: Sequence[tuple[int, int]]
    loss_name: str
    title: str | None
    figure_: Figure
    ax_: Axes
    mesh_: QuadMesh
    frame_: Rectangle
    colour_bar_: Colorbar
    def __init__(
        self,
        means: ArrayLike,
        *,
        bins: Sequence[Sequence[str]],
        feature_names: Sequence[str],
        frame: Sequence[tuple[int, int]],
        loss_name: str = "loss",
        title: str | None = None,
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
        loss: str | Callable[..., Any] = "auto",
        direction: str = "worse",
        max_conditions: int = 2,
        n_slices: int = 5,
        min_samples: float = 0.02,
        n_bins: int | None = None,
        cv: Any = None,
        correction: str | None = "holm",
        alpha: float = 0.05,
        categorical_features: Any = "auto",
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int | None = None,
        number: int = 0,
        mesh_kw: dict[str, Any] | None = None,
    ) -> Self: ...
    def plot(
        self, ax: Any = None, *, mesh_kw: dict[str, Any] | None = None
    ) -> Self: ...
    def to_frame(self) -> DataFrame: ...
