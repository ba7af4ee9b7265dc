"""Types for static checkers, written by .ci/make_stubs.py."""

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.colorbar import Colorbar
from matplotlib.container import BarContainer
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.legend import Legend
from matplotlib.lines import Line2D
from numpy.typing import ArrayLike, NDArray
from pandas import DataFrame

from sklearn_interpret.adversarial._adversarial_patch import AdversarialPatch
from sklearn_interpret.adversarial._fast_gradient_sign import FastGradientSign
from sklearn_interpret.adversarial._hop_skip_jump import HopSkipJump
from sklearn_interpret.adversarial._minimal_perturbation import MinimalPerturbation
from sklearn_interpret.adversarial._one_pixel import OnePixelAttack
from sklearn_interpret.adversarial._projected_gradient import ProjectedGradient
from sklearn_interpret.adversarial._substitute import SubstituteAttack
from sklearn_interpret.explanations._rows import RowExplanation

__all__ = [
    "AdversarialDisplay",
    "AdversarialPatch",
    "FastGradientSign",
    "HopSkipJump",
    "MinimalPerturbation",
    "OnePixelAttack",
    "ProjectedGradient",
    "RobustnessCurveDisplay",
    "SubstituteAttack",
]

class AdversarialDisplay:
    explanation: RowExplanation
    row: int | None
    image_shape: tuple[int, ...] | None
    spreads: ArrayLike | None
    figure_: Figure
    axes_: NDArray[np.object_]
    bars_: BarContainer | None
    images_: list[AxesImage]
    colour_bar_: Colorbar | None
    def __init__(
        self,
        explanation: RowExplanation,
        *,
        row: int | None = 0,
        image_shape: tuple[int, ...] | None = None,
        spreads: ArrayLike | None = None,
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
        epsilon: float = 0.3,
        n_steps: int = 40,
        step_size: float | None = None,
        n_restarts: int = 1,
        target: Any = None,
        desired: tuple[float | None, float | None] | None = None,
        norm: str = "inf",
        units: str = "std",
        bounds: Any = None,
        features_to_vary: Any = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int | None = None,
        row: int | None = 0,
        image_shape: tuple[int, ...] | None = None,
        spreads: ArrayLike | None = None,
        max_entries: int | None = 20,
        bar_kw: dict[str, Any] | None = None,
    ) -> Self: ...
    @classmethod
    def from_explanation(
        cls,
        explanation: RowExplanation,
        *,
        target_name: str | None = None,
        unit: str | None = None,
        ax: Any = None,
        row: int | None = 0,
        image_shape: tuple[int, ...] | None = None,
        spreads: ArrayLike | None = None,
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

class RobustnessCurveDisplay:
    sizes: ArrayLike
    scores: ArrayLike
    label: str | None
    size_name: str
    score_name: str
    figure_: Figure
    ax_: Axes
    line_: Line2D
    fold_lines_: list[Line2D]
    band_: PolyCollection | None
    legend_: Legend | None
    def __init__(
        self,
        sizes: ArrayLike,
        scores: ArrayLike,
        *,
        label: str | None = None,
        size_name: str = "Perturbation",
        score_name: str = "Accuracy under attack",
    ) -> None: ...
    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any = None,
        y: ArrayLike | None = None,
        sizes: ArrayLike | None = None,
        *,
        sample_weight: ArrayLike | None = None,
        ax: Any = None,
        epsilon: float = 0.3,
        n_steps: int = 40,
        step_size: float | None = None,
        n_restarts: int = 1,
        target: Any = None,
        desired: tuple[float | None, float | None] | None = None,
        norm: str = "inf",
        units: str = "std",
        bounds: Any = None,
        features_to_vary: Any = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int | None = None,
        label: str | None = None,
        line_kw: dict[str, Any] | None = None,
        band_kw: dict[str, Any] | None = None,
    ) -> Self: ...
    @classmethod
    def from_cv_results(
        cls,
        cv_results: Mapping[str, Any],
        X: Any = None,
        y: ArrayLike | None = None,
        sizes: ArrayLike | None = None,
        *,
        sample_weight: ArrayLike | None = None,
        ax: Any = None,
        epsilon: float = 0.3,
        n_steps: int = 40,
        step_size: float | None = None,
        n_restarts: int = 1,
        target: Any = None,
        desired: tuple[float | None, float | None] | None = None,
        norm: str = "inf",
        units: str = "std",
        bounds: Any = None,
        features_to_vary: Any = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int | None = None,
        label: str | None = None,
        line_kw: dict[str, Any] | None = None,
        band_kw: dict[str, Any] | None = None,
    ) -> Self: ...
    def plot(
        self,
        ax: Any = None,
        *,
        line_kw: dict[str, Any] | None = None,
        band_kw: dict[str, Any] | None = None,
    ) -> Self: ...
    def to_frame(self) -> DataFrame: ...
