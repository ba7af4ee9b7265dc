"""Types for static checkers, written by .ci/make_stubs.py."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PathCollection
from matplotlib.container import BarContainer
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.text import Annotation
from numpy.typing import ArrayLike
from pandas import DataFrame

from sklearn_interpret.importance._conditional_importance_test import (
    ConditionalImportanceTest,
)
from sklearn_interpret.importance._drop_column import DropColumnImportance
from sklearn_interpret.importance._partial_dependence import PartialDependenceImportance
from sklearn_interpret.importance._permutation import PermutationImportance, Scoring
from sklearn_interpret.importance._permutation_test import PermutationTest
from sklearn_interpret.importance._sage import SAGE

__all__ = [
    "SAGE",
    "ConditionalImportanceDisplay",
    "ConditionalImportanceTest",
    "DropColumnImportance",
    "PartialDependenceImportance",
    "PermutationImportance",
    "PermutationImportanceDisplay",
    "PermutationTest",
]

class ConditionalImportanceDisplay:
    importances: ArrayLike
    feature_names: Any
    pvalues: ArrayLike
    alpha: float
    intervals_low: ArrayLike | None
    intervals_high: ArrayLike | None
    nuisance_scores: ArrayLike | None
    importance_name: str
    pvalue_name: str
    figure_: Figure
    ax_: Axes
    bars_: BarContainer
    intervals_: LineCollection | None
    marks_: PathCollection
    labels_: list[Annotation]
    scores_: list[Annotation]
    legend_: Legend
    def __init__(
        self,
        importances: ArrayLike,
        *,
        feature_names: Any,
        pvalues: ArrayLike,
        alpha: float = 0.05,
        intervals_low: ArrayLike | None = None,
        intervals_high: ArrayLike | None = None,
        nuisance_scores: ArrayLike | None = None,
        importance_name: str = "Importance",
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
        test: str = "pcm",
        nuisance: Any = None,
        feature_groups: dict[str, Any] | None = None,
        cv: Any = 5,
        n_splits: int = 8,
        correction: str | None = "holm",
        alpha: float = 0.05,
        sampler: str | Callable[..., Any] = "residuals",
        n_samples: int = 200,
        max_rows: int | None = None,
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

class PermutationImportanceDisplay:
    importances: ArrayLike
    feature_names: Any
    test_importances: ArrayLike | None
    null_importances: ArrayLike | None
    pvalues: ArrayLike | None
    standard_errors: ArrayLike | None
    alpha: float | None
    importance_name: str
    draws_name: str
    no_effect: float
    figure_: Figure
    ax_: Axes
    bars_: list[BarContainer]
    spreads_: list[LineCollection]
    points_: list[PathCollection]
    null_: LineCollection | BarContainer | None
    labels_: list[Annotation]
    legend_: Legend | None
    def __init__(
        self,
        importances: ArrayLike,
        *,
        feature_names: Any,
        test_importances: ArrayLike | None = None,
        null_importances: ArrayLike | None = None,
        pvalues: ArrayLike | None = None,
        standard_errors: ArrayLike | None = None,
        alpha: float | None = None,
        importance_name: str = "Importance",
        draws_name: str = "repeats",
        no_effect: float = 0.0,
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
        scoring: Scoring | list[Scoring] | dict[str, Scoring] | None = None,
        n_repeats: int = 10,
        comparison: str = "difference",
        method: str = "permutation",
        feature_groups: dict[str, Any] | None = None,
        conditional: bool = False,
        threshold: float = 0.0,
        max_rows: int | None = None,
        response_method: str | Sequence[str] | Callable[..., Any] = "auto",
        subsample: float | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int | None = None,
        X_test: Any = None,
        y_test: ArrayLike | None = None,
        test_sample_weight: ArrayLike | None = None,
        score_name: str | None = None,
        kind: str = "bar",
        max_entries: int | None = 20,
        bar_kw: dict[str, Any] | None = None,
    ) -> Self: ...
    @classmethod
    def from_cv_results(
        cls,
        cv_results: Mapping[str, Any],
        X: Any = None,
        y: ArrayLike | None = None,
        *,
        sample_weight: ArrayLike | None = None,
        ax: Any = None,
        scoring: Scoring | list[Scoring] | dict[str, Scoring] | None = None,
        n_repeats: int = 10,
        comparison: str = "difference",
        method: str = "permutation",
        feature_groups: dict[str, Any] | None = None,
        conditional: bool = False,
        threshold: float = 0.0,
        max_rows: int | None = None,
        response_method: str | Sequence[str] | Callable[..., Any] = "auto",
        subsample: float | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int | None = None,
        score_name: str | None = None,
        kind: str = "bar",
        max_entries: int | None = 20,
        bar_kw: dict[str, Any] | None = None,
    ) -> Self: ...
    def plot(
        self,
        ax: Any = None,
        *,
        kind: str = "bar",
        max_entries: int | None = 20,
        bar_kw: dict[str, Any] | None = None,
    ) -> Self: ...
    def to_frame(self) -> DataFrame: ...
