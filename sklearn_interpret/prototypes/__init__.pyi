"""Types for static checkers, written by .ci/make_stubs.py."""

from typing import Any, Self

import numpy as np
from matplotlib.collections import PathCollection, QuadMesh
from matplotlib.colorbar import Colorbar
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.legend import Legend
from numpy.typing import ArrayLike, NDArray
from pandas import DataFrame

from sklearn_interpret.prototypes._k_medoids import KMedoids
from sklearn_interpret.prototypes._mmd_critic import MMDCritic
from sklearn_interpret.prototypes._nearest_prototype import (
    NearestPrototypeClassifier,
    NearestPrototypeRegressor,
)

__all__ = [
    "KMedoids",
    "MMDCritic",
    "NearestPrototypeClassifier",
    "NearestPrototypeRegressor",
    "PrototypeDisplay",
]

class PrototypeDisplay:
    data: Any
    prototype_indices: ArrayLike
    criticism_indices: ArrayLike
    y: ArrayLike | None
    feature_names: Any
    image_shape: tuple[int, ...] | None
    figure_: Figure
    axes_: NDArray[np.object_]
    heat_map_: QuadMesh | None
    colour_bar_: Colorbar | None
    images_: list[AxesImage]
    points_: list[PathCollection]
    legend_: Legend | None
    def __init__(
        self,
        data: Any,
        prototype_indices: ArrayLike,
        criticism_indices: ArrayLike = ...,
        *,
        y: ArrayLike | None = None,
        feature_names: Any = None,
        image_shape: tuple[int, ...] | None = None,
    ) -> None: ...
    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike | None = None,
        *,
        image_shape: tuple[int, ...] | None = None,
        ax: Any = None,
        kind: str = "auto",
        max_entries: int | None = 12,
    ) -> Self: ...
    def plot(
        self, ax: Any = None, *, kind: str = "auto", max_entries: int | None = 12
    ) -> Self: ...
    def to_frame(self) -> DataFrame: ...
