"""Base of the displays in which explained rows stand side by side, in an order."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sklearn_interpret._core.statistics.seriation import order_rows
from sklearn_interpret._plotting.axes import axes_inches
from sklearn_interpret._plotting.feature_values import FeatureReader
from sklearn_interpret._plotting.labels import literal, shorten, tick_positions
from sklearn_interpret.explanations import Explanation
from sklearn_interpret.shapley._plot._base import ShapleyDisplay

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

    from sklearn_interpret._plotting.feature_values import FeatureValues

# Orders of rows, in the label of their axis.
ORDER_TEXTS = {
    "similarity": "by the similarity of their {}s",
    "prediction": "by the prediction",
    "input": "as they were given",
}
LABEL_LENGTH = 12  # characters of a row's name, which is upright
# Width of the names, which stand side by side, and of the gap between them.
_CHARACTERS_PER_INCH = 9
_GAP = 2  # characters


@dataclass(eq=False, repr=False)
class OrderedRowsDisplay(ShapleyDisplay):
    """Base of the displays in which rows stand side by side."""

    explanation: Explanation
    _: KW_ONLY
    row: int | None = None
    target: Any = None
    response_name: str | None = None
    order: str | int = "similarity"

    def _row_order(self, explanation: Explanation) -> NDArray[np.intp]:
        """Positions of the rows from the left."""
        if isinstance(self.order, str) and self.order in ORDER_TEXTS:
            if self.order == "input":
                return np.arange(len(explanation))
            if self.order == "prediction":
                return np.argsort(explanation.predictions_or_sums, kind="stable")
            return order_rows(explanation.values)
        return np.argsort(self._order_values(explanation).numbers, kind="stable")

    def _order_values(self, explanation: Explanation) -> FeatureValues:
        """Values of the feature that orders the rows; missing ones come last."""
        reader = FeatureReader(explanation)
        feature = reader.position(self.order, "order")
        values = reader.any_values(feature) if reader.has_data else None
        if values is None:
            raise ValueError(
                f"order={self.order!r} asks for the values of a feature, but the "
                "explanation has no data."
            )
        return values

    def _names_of_rows(self) -> NDArray[Any]:
        """Names of the rows that are drawn, in the explanation's order."""
        return np.asarray(self._row_names)[self._positions()]

    def _name_order(self, ax: Axes, explanation: Explanation) -> None:
        """Label the x axis by the rows and their order."""
        if isinstance(self.order, str) and self.order in ORDER_TEXTS:
            texts = list(map(str, self._names_of_rows()[self.row_order_]))
            description = ORDER_TEXTS[self.order].format(explanation.value_name)
            ax.set_xlabel(literal(f"Row, {description}"))
        else:
            values = self._order_values(explanation)
            texts = values.texts()[self.row_order_].tolist()
            ax.set_xlabel(literal(f"Rows by {shorten(values.name)}"))
        label_rows(ax, texts)

    def to_frame(self) -> Any:
        """Numbers drawn, as a long DataFrame, all features on lines of their own.

        Returns
        -------
        pandas.DataFrame
            One line per row and feature, rows as drawn from the left and the features
            from the strongest down, with the columns "row", "place" (from the left),
            "base_value", "prediction", "feature", "value" (in the data, where there is
            one) and "shapley_value" (or what the explanation calls its values).
        """
        explanation = self._drawn_explanation()
        order = getattr(self, "row_order_", None)
        if order is None:  # clustering takes time, and is done once
            order = self._row_order(explanation)
        ordered = explanation[order]
        columns = {
            "row": self._names_of_rows()[order],
            "place": np.arange(len(order)),
            "base_value": ordered.base_values,
            "prediction": ordered.predictions_or_sums,
        }
        return self._long_table(ordered, columns)


def draw_steps(ax: Axes, values: NDArray[np.float64], **line_style: Any) -> Line2D:
    """A line that is level along each row."""
    edges = np.arange(len(values) + 1) - 0.5
    closed = np.append(values, values[-1:])
    return ax.plot(edges, closed, drawstyle="steps-post", **line_style)[0]


def label_rows(ax: Axes, texts: list[str]) -> None:
    """Name some rows along the x axis, as many as fit."""
    longest = min(max(map(len, texts)), LABEL_LENGTH)
    per_inch = _CHARACTERS_PER_INCH / (longest + _GAP)
    ticks = tick_positions(len(texts), int(axes_inches(ax)[0] * per_inch) + 1)
    names = [literal(shorten(texts[tick], LABEL_LENGTH)) for tick in ticks]
    ax.set_xticks(ticks, names)
