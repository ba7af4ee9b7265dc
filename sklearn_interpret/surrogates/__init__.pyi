"""Types for static checkers, written by .ci/make_stubs.py."""

from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.colorbar import Colorbar
from matplotlib.container import BarContainer
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.legend import Legend
from matplotlib.text import Annotation, Text
from numpy.typing import ArrayLike, NDArray
from pandas import DataFrame

from sklearn_interpret.surrogates._global import GlobalSurrogate
from sklearn_interpret.surrogates._lime_image import ImageExplanation, LimeImage
from sklearn_interpret.surrogates._lime_tabular import LimeTabular
from sklearn_interpret.surrogates._lime_text import LimeText, TextExplanation
from sklearn_interpret.surrogates._local_explanation import LocalExplanation

__all__ = [
    "GlobalSurrogate",
    "GlobalSurrogateDisplay",
    "ImageExplanation",
    "LimeDisplay",
    "LimeImage",
    "LimeImageDisplay",
    "LimeTabular",
    "LimeText",
    "LimeTextDisplay",
    "LocalExplanation",
    "TextExplanation",
]

class GlobalSurrogateDisplay:
    responses: ArrayLike
    surrogate_responses: ArrayLike | None
    trees: Sequence[dict[str, Any]] | None
    leaves: ArrayLike | None
    coefficients: ArrayLike | None
    deviations: ArrayLike | None
    column_names: Any
    output_names: Any
    target: Any
    sample_weight: ArrayLike | None
    agreement: float | None
    response_name: str
    model_name: str | None
    surrogate_name: str | None
    figure_: Figure
    axes_: NDArray[np.object_]
    bars_: list[Any]
    texts_: list[list[Text]]
    kind_: str
    legend_: Legend | None
    def __init__(
        self,
        responses: ArrayLike,
        surrogate_responses: ArrayLike | None = None,
        *,
        trees: Sequence[dict[str, Any]] | None = None,
        leaves: ArrayLike | None = None,
        coefficients: ArrayLike | None = None,
        deviations: ArrayLike | None = None,
        column_names: Any = None,
        output_names: Any = None,
        target: Any = None,
        sample_weight: ArrayLike | None = None,
        agreement: float | None = None,
        response_name: str = "response",
        model_name: str | None = None,
        surrogate_name: str | None = None,
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
        surrogate: Any = None,
        scoring: str | Callable[..., float] = "r2",
        subset: Callable[[Any], ArrayLike] | None = None,
        min_fidelity: float | None = 0.2,
        max_rows: int | None = None,
        response_method: str | Sequence[str] | Callable[..., Any] = "auto",
        subsample: float | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int | None = None,
        target: Any = None,
        response_name: str = "response",
        model_name: str | None = None,
        surrogate_name: str | None = None,
        kind: str = "auto",
        max_entries: int | None = 20,
        bar_kw: dict[str, Any] | None = None,
    ) -> Self: ...
    def plot(
        self,
        ax: Any = None,
        *,
        kind: str = "auto",
        max_entries: int | None = 20,
        bar_kw: dict[str, Any] | None = None,
    ) -> Self: ...
    def to_frame(self) -> DataFrame: ...

class LimeDisplay:
    explanation: LocalExplanation
    row: int | None
    target: Any
    response_name: str | None
    figure_: Figure
    axes_: NDArray[np.object_]
    bars_: list[BarContainer]
    errors_: list[LineCollection] | None
    def __init__(
        self,
        explanation: LocalExplanation,
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
        n_features_to_select: int | None = 10,
        n_samples: int = 5000,
        kernel_width: float | None = None,
        discretize: bool | int = True,
        feature_selection: str = "lars",
        surrogate: Any = None,
        sample_around: str = "training",
        correlated: bool = False,
        categorical_features: Any = "auto",
        method: str = "auto",
        min_fidelity: float | None = 0.2,
        max_rows: int | None = None,
        response_method: str | Sequence[str] | Callable[..., Any] = "auto",
        target: Any = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int | None = None,
        row: int | None = None,
        response_name: str | None = None,
        max_entries: int | None = 12,
        n_cols: int = 3,
        bar_kw: dict[str, Any] | None = None,
    ) -> Self: ...
    @classmethod
    def from_explanation(
        cls,
        explanation: LocalExplanation,
        *,
        target_name: str | None = None,
        unit: str | None = None,
        ax: Any = None,
        row: int | None = None,
        target: Any = None,
        response_name: str | None = None,
        max_entries: int | None = 12,
        n_cols: int = 3,
        bar_kw: dict[str, Any] | None = None,
    ) -> Self: ...
    def plot(
        self,
        ax: Any = None,
        *,
        max_entries: int | None = 12,
        n_cols: int = 3,
        bar_kw: dict[str, Any] | None = None,
    ) -> Self: ...
    def to_frame(self) -> DataFrame: ...

class LimeImageDisplay:
    explanation: ImageExplanation
    row: int | None
    target: Any
    n_top_labels: int
    response_name: str | None
    figure_: Figure
    axes_: NDArray[np.object_]
    image_: AxesImage
    overlays_: list[AxesImage]
    outlines_: list[LineCollection]
    colour_bar_: Colorbar
    def __init__(
        self,
        explanation: ImageExplanation,
        *,
        row: int | None = None,
        target: Any = None,
        n_top_labels: int = 3,
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
        image_shape: Sequence[int] | None = None,
        segmentation: Callable[..., Any] | None = None,
        n_segments: int | None = None,
        hide_color: Any = None,
        n_features_to_select: int | None = None,
        n_samples: int = 1000,
        kernel_width: float | None = None,
        feature_selection: str = "lars",
        surrogate: Any = None,
        min_fidelity: float | None = 0.2,
        max_rows: int | None = None,
        response_method: str | Sequence[str] | Callable[..., Any] = "auto",
        target: Any = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int | None = None,
        row: int | None = None,
        n_top_labels: int = 3,
        response_name: str | None = None,
        max_entries: int | None = 5,
        n_cols: int | None = None,
        outline_kw: dict[str, Any] | None = None,
    ) -> Self: ...
    @classmethod
    def from_explanation(
        cls,
        explanation: ImageExplanation,
        *,
        target_name: str | None = None,
        unit: str | None = None,
        ax: Any = None,
        row: int | None = None,
        target: Any = None,
        n_top_labels: int = 3,
        response_name: str | None = None,
        max_entries: int | None = 5,
        n_cols: int | None = None,
        outline_kw: dict[str, Any] | None = None,
    ) -> Self: ...
    def plot(
        self,
        ax: Any = None,
        *,
        max_entries: int | None = 5,
        n_cols: int | None = None,
        outline_kw: dict[str, Any] | None = None,
    ) -> Self: ...
    def to_frame(self) -> DataFrame: ...

class LimeTextDisplay:
    explanation: TextExplanation
    row: int | None
    target: Any
    response_name: str | None
    figure_: Figure
    axes_: NDArray[np.object_]
    texts_: list[list[Annotation]]
    bars_: list[BarContainer]
    errors_: list[LineCollection] | None
    def __init__(
        self,
        explanation: TextExplanation,
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
        n_features_to_select: int | None = 10,
        n_samples: int = 1000,
        tokenizer: Callable[[str], Sequence[str]] | None = None,
        split_expression: str = "\\W+",
        bow: bool = True,
        mask_token: str | None = None,
        kernel_width: float | None = None,
        feature_selection: str = "lars",
        surrogate: Any = None,
        min_fidelity: float | None = 0.2,
        max_rows: int | None = None,
        response_method: str | Sequence[str] | Callable[..., Any] = "auto",
        target: Any = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int | None = None,
        row: int | None = None,
        response_name: str | None = None,
        max_entries: int | None = 12,
        max_lines: int = 14,
        bar_kw: dict[str, Any] | None = None,
    ) -> Self: ...
    @classmethod
    def from_explanation(
        cls,
        explanation: TextExplanation,
        *,
        target_name: str | None = None,
        unit: str | None = None,
        ax: Any = None,
        row: int | None = None,
        target: Any = None,
        response_name: str | None = None,
        max_entries: int | None = 12,
        max_lines: int = 14,
        bar_kw: dict[str, Any] | None = None,
    ) -> Self: ...
    def plot(
        self,
        ax: Any = None,
        *,
        max_entries: int | None = 12,
        max_lines: int = 14,
        bar_kw: dict[str, Any] | None = None,
    ) -> Self: ...
    def to_frame(self) -> DataFrame: ...
