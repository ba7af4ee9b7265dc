"""Base of all displays of Shapley values: their arrays and their sources."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sklearn_interpret._model.rows.arrays import as_rows
from sklearn_interpret._plotting.displays import ExplanationDisplay
from sklearn_interpret._plotting.feature_values import FeatureReader
from sklearn_interpret._plotting.labels import literal
from sklearn_interpret._plotting.ranked_bars import (
    append_combined,
    others_text,
    rank_entries,
)
from sklearn_interpret.explanations import Explanation
from sklearn_interpret.explanations._selection import (
    one_output,
    output_position,
    row_position,
)
from sklearn_interpret.shapley._values import ShapleyValues

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colorbar import Colorbar


class ShapleyDisplay(ExplanationDisplay):
    """Base of the displays of attributions, by whatever inspector explains rows."""

    _kinds = (ShapleyValues, "explain")
    row_order_: NDArray[np.intp]  # of the displays that order rows

    @classmethod
    def _check_request(cls, estimator: Any, X: Any, parameters: dict[str, Any]) -> None:
        if as_rows(X).n_rows == 1 and parameters.get("background") is None:
            raise ValueError(
                "X has one row, which would be compared with itself: pass background=, "
                "or more rows in X and row=."
            )

    def _one_output(self) -> Explanation:
        """The explanation of the output that is drawn, without an axis of outputs."""
        return one_output(check_explanation(self.explanation), self.target)

    def _response(self) -> str:
        names = self.explanation.output_names
        return self._response_label(names, output_position(names, self.target))

    @property
    def _column(self) -> str:
        """The column of the values in tables."""
        return self.explanation.value_name.lower().replace(" ", "_")

    def _drawn_explanation(self) -> Explanation:
        """The explanation of the rows that are drawn, for one output."""
        return self._one_output()[self._positions()]

    def _entry_texts(
        self, members: list[tuple[int, ...]], *, in_full: bool = False
    ) -> list[str]:
        """Names of features that act together, with their values in the drawn row."""
        # The decimals of a value depend on all rows of the explanation.
        reader, (row,) = FeatureReader(self.explanation), self._positions()
        return [
            reader.joint_entry_text(features, row, in_full=in_full)
            for features in members
        ]

    def _long_table(
        self,
        explanation: Explanation,
        rows: dict[str, Any],
        cells: Callable[..., dict[str, Any]] | None = None,
        data: Explanation | None = None,
        by_feature: bool = False,
    ) -> Any:
        """A table with a line for each row and feature, the strongest feature first.

        `rows` has columns with an entry for each row. ``cells(values)`` makes further
        columns (n_rows, n_features) from the values in the order of the table. `data`
        is the explanation that has the values of the features, by default the same.
        `by_feature` has all lines of a feature below each other.
        """
        order, _ = rank_entries(np.abs(explanation.values).mean(axis=0), None)
        values = explanation.values[:, order]
        reader = FeatureReader(explanation if data is None else data)
        names = np.array(explanation.feature_names, dtype=object)[order]
        by_row = {name: np.asarray(column)[:, None] for name, column in rows.items()}
        columns: dict[str, Any] = {**by_row, "feature": names}
        if by_feature:
            columns = {"feature": names, **by_row}
        if reader.has_data:
            columns["value"] = reader.table(order)
        columns |= {self._column: values, **(cells(values) if cells else {})}
        flat_columns = {}
        for name, column in columns.items():
            column = np.broadcast_to(column, values.shape)
            flat_columns[name] = (column.T if by_feature else column).ravel()
        return self._frame(flat_columns)

    def _positions(self) -> NDArray[np.intp]:
        """Positions in the explanation of the rows that are drawn."""
        n_rows = len(self.explanation)
        if self.row is None:
            return np.arange(n_rows)
        return np.array([row_position(self.row, n_rows)])


def add_colour_bar(ax: Axes, mappable: Any, label: str, **bar_kwargs: Any) -> Colorbar:
    """A narrow colour bar next to an axes."""
    bar = ax.figure.colorbar(mappable, ax=ax, pad=0.02, **{"aspect": 30, **bar_kwargs})
    bar.outline.set_visible(False)
    bar.set_label(literal(label))
    return bar


def check_explanation(explanation: Explanation) -> Explanation:
    """The explanation, if it has rows and features to draw."""
    if not isinstance(explanation, Explanation):
        raise TypeError(
            f"An Explanation is needed; got {type(explanation).__name__}. Its values "
            "alone become one by Explanation(values, base_values)."
        )
    n_rows, n_features = explanation.values.shape[:2]
    for count, kind in ((n_rows, "rows"), (n_features, "features")):
        if not count:
            raise ValueError(f"The explanation has no {kind}: nothing to draw.")
    for name in ("values", "base_values", "predictions"):
        array = getattr(explanation, name)
        if array is None or np.isfinite(array).all():
            continue
        is_finite = np.isfinite(array).reshape(n_rows, -1).all(axis=1)
        bad_rows = np.flatnonzero(~is_finite)
        raise ValueError(
            f"The explanation's {name} are not finite in row {bad_rows[0]} "
            f"({len(bad_rows)} such rows)."
        )
    return explanation


def strongest_features(
    explanation: Explanation, max_entries: int | None
) -> tuple[NDArray[np.intp], NDArray[np.float64], list[str]]:
    """The strongest features, with their values and names.

    Returns positions, values (n_rows, n_lines) and names. If there are more features
    than `max_entries`, the last line is the sum of the weaker ones, without a position.
    """
    values = explanation.values
    selected, remaining = rank_entries(np.abs(values).mean(axis=0), max_entries)
    names = [explanation.feature_names[j] for j in selected]
    if len(remaining):
        names.append(f"sum of {others_text(len(remaining), explanation.columns)}")
    return selected, append_combined(values.T, selected, remaining, np.sum).T, names
