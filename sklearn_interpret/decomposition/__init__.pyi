"""Types for static checkers, written by .ci/make_stubs.py."""

from collections.abc import Sequence
from typing import Any, Self

from matplotlib.axes import Axes
from matplotlib.container import BarContainer
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.lines import Line2D
from matplotlib.text import Text
from numpy.typing import ArrayLike
from pandas import DataFrame

from sklearn_interpret.decomposition._naive_bayes import NaiveBayesContributions
from sklearn_interpret.decomposition._neighbor import NeighborContributions
from sklearn_interpret.decomposition._tree_path import TreePathContributions

__all__ = [
    "DecisionPathDisplay",
    "NaiveBayesContributions",
    "NeighborContributions",
    "TreePathContributions",
]

class DecisionPathDisplay:
    conditions: Sequence[str]
    values: ArrayLike
    n_rows: ArrayLike
    deviations: ArrayLike | None
    output_names: Sequence[Any] | None
    response_name: str
    count_name: str
    tree_name: str
    total: float | None
    row_name: Any
    figure_: Figure
    ax_: Axes
    bars_: list[BarContainer]
    lines_: list[Line2D]
    texts_: list[Text]
    legend_: Legend | None
    def __init__(
        self,
        conditions: Sequence[str],
        values: ArrayLike,
        n_rows: ArrayLike,
        *,
        deviations: ArrayLike | None = None,
        output_names: Sequence[Any] | None = None,
        response_name: str = "response",
        count_name: str = "training rows",
        tree_name: str = "",
        total: float | None = None,
        row_name: Any = None,
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
        response_method: str | Sequence[str] = "auto",
        target: Any = None,
        row: int = 0,
        tree: int = 0,
        node_kw: dict[str, Any] | None = None,
    ) -> Self: ...
    def plot(
        self, ax: Any = None, *, node_kw: dict[str, Any] | None = None
    ) -> Self: ...
    def to_frame(self) -> DataFrame: ...
