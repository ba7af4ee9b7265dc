"""Types for static checkers, written by .ci/make_stubs.py."""

from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.container import BarContainer
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.lines import Line2D
from matplotlib.patches import Polygon
from matplotlib.text import Annotation, Text
from numpy.typing import ArrayLike, NDArray
from pandas import DataFrame

from sklearn_interpret.counterfactuals._anchors import Anchors
from sklearn_interpret.counterfactuals._anchors_text import AnchorsText
from sklearn_interpret.counterfactuals._exact import ExactCounterfactual
from sklearn_interpret.counterfactuals._growing_spheres import GrowingSpheres
from sklearn_interpret.counterfactuals._text import TextCounterfactual
from sklearn_interpret.counterfactuals._wachter import WachterCounterfactual
from sklearn_interpret.explanations._removals import RemovalExplanation
from sklearn_interpret.explanations._rows import RowExplanation
from sklearn_interpret.explanations._rules import RuleExplanation

__all__ = [
    "Anchors",
    "AnchorsDisplay",
    "AnchorsText",
    "CounterfactualDisplay",
    "ExactCounterfactual",
    "GrowingSpheres",
    "TextCounterfactual",
    "TextCounterfactualDisplay",
    "WachterCounterfactual",
]

class AnchorsDisplay:
    explanation: RuleExplanation
    row: int | None
    background: ArrayLike | None
    figure_: Figure
    axes_: NDArray[np.object_]
    title_: Text
    legend_: Legend | None
    spans_: list[list[Polygon]]
    texts_: list[Annotation]
    def __init__(
        self,
        explanation: RuleExplanation,
        *,
        row: int | None = None,
        background: ArrayLike | None = None,
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
        precision: float = 0.95,
        delta: float = 0.1,
        tau: float = 0.15,
        beam_size: int = 4,
        max_anchor_size: int | None = None,
        n_samples: int = 2000,
        n_coverage_samples: int = 10000,
        max_rows: int | None = None,
        discretize: bool | int = True,
        categorical_features: Any = "auto",
        tolerance: float | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int | None = None,
        row: int | None = None,
        background: ArrayLike | None = None,
        n_cols: int = 3,
        span_kw: dict[str, Any] | None = None,
    ) -> Self: ...
    @classmethod
    def from_explanation(
        cls,
        explanation: RuleExplanation,
        *,
        target_name: str | None = None,
        unit: str | None = None,
        ax: Any = None,
        row: int | None = None,
        background: ArrayLike | None = None,
        n_cols: int = 3,
        span_kw: dict[str, Any] | None = None,
    ) -> Self: ...
    def plot(
        self, ax: Any = None, *, n_cols: int = 3, span_kw: dict[str, Any] | None = None
    ) -> Self: ...
    def to_frame(self) -> DataFrame: ...

class CounterfactualDisplay:
    explanation: RowExplanation
    row: int | None
    target: Any
    response_name: str | None
    background: ArrayLike | None
    figure_: Figure
    axes_: NDArray[np.object_]
    title_: Text
    before_lines_: list[Line2D]
    legend_: Legend | None
    arrows_: list[list[PolyCollection]]
    boxes_: list[list[BarContainer]]
    def __init__(
        self,
        explanation: RowExplanation,
        *,
        row: int | None = None,
        target: Any = None,
        response_name: str | None = None,
        background: ArrayLike | None = None,
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
        desired: Any = "other",
        target: Any = None,
        features_to_vary: Any = None,
        permitted_range: dict[Any, Any] | str | None = None,
        direction: dict[Any, str] | None = None,
        categorical_features: Any = "auto",
        max_changes: int | None = None,
        distance: str | dict[Any, float] = "mad",
        n_counterfactuals: int = 1,
        steps: dict[Any, float] | str | None = None,
        n_samples: int = 100,
        first_radius: float = 1.0,
        decrease: float = 2.0,
        max_rows: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int | None = None,
        row: int | None = None,
        response_name: str | None = None,
        background: ArrayLike | None = None,
        max_entries: int | None = 9,
        n_cols: int = 3,
        arrow_kw: dict[str, Any] | None = None,
    ) -> Self: ...
    @classmethod
    def from_explanation(
        cls,
        explanation: RowExplanation,
        *,
        target_name: str | None = None,
        unit: str | None = None,
        ax: Any = None,
        row: int | None = None,
        target: Any = None,
        response_name: str | None = None,
        background: ArrayLike | None = None,
        max_entries: int | None = 9,
        n_cols: int = 3,
        arrow_kw: dict[str, Any] | None = None,
    ) -> Self: ...
    def plot(
        self,
        ax: Any = None,
        *,
        max_entries: int | None = 9,
        n_cols: int = 3,
        arrow_kw: dict[str, Any] | None = None,
    ) -> Self: ...
    def to_frame(self) -> DataFrame: ...

class TextCounterfactualDisplay:
    explanation: RemovalExplanation
    row: int | None
    target: Any
    response_name: str | None
    figure_: Figure
    ax_: Axes
    texts_: list[Annotation]
    strikes_: LineCollection
    def __init__(
        self,
        explanation: RemovalExplanation,
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
        desired: Any = "other",
        target: Any = None,
        max_removed: int | None = None,
        method: str = "auto",
        max_iter: int = 50,
        tokenizer: Callable[[str], Sequence[str]] | None = None,
        split_expression: str = "\\W+",
        bow: bool = True,
        mask_token: str | None = None,
        max_rows: int | None = None,
        n_jobs: int | None = None,
        verbose: int | None = None,
        row: int | None = None,
        response_name: str | None = None,
        max_lines: int = 14,
        strike_kw: dict[str, Any] | None = None,
    ) -> Self: ...
    @classmethod
    def from_explanation(
        cls,
        explanation: RemovalExplanation,
        *,
        target_name: str | None = None,
        unit: str | None = None,
        ax: Any = None,
        row: int | None = None,
        target: Any = None,
        response_name: str | None = None,
        max_lines: int = 14,
        strike_kw: dict[str, Any] | None = None,
    ) -> Self: ...
    def plot(
        self,
        ax: Any = None,
        *,
        max_lines: int = 14,
        strike_kw: dict[str, Any] | None = None,
    ) -> Self: ...
    def to_frame(self) -> DataFrame: ...
