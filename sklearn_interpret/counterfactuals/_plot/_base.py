"""A panel for each feature: the distribution of the data, and marked values."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

import numpy as np

from sklearn_interpret._model.rows.arrays import as_rows
from sklearn_interpret._model.rows.base import label_key
from sklearn_interpret._model.rows.dates import as_dates, days
from sklearn_interpret._model.rows.number_format import (
    MINUS,
    as_decimal,
    decimal_text,
    interval_text,
    number_beside,
    value_text,
)
from sklearn_interpret._plotting.axes import add_legend, axes_inches, is_constrained
from sklearn_interpret._plotting.colours import (
    NEUTRAL_COLOUR,
    mix,
    paper,
    stand_out,
    text_on,
)
from sklearn_interpret._plotting.curves import draw_histogram, name_axes
from sklearn_interpret._plotting.displays import OneRowDisplay
from sklearn_interpret._plotting.labels import (
    LEVEL_WIDTH,
    date_label,
    date_ticks,
    label_levels,
    level_inches,
    plain_number_ticks,
    shorten,
)
from sklearn_interpret._plotting.points import clipped_range
from sklearn_interpret._plotting.text_layout import write_title

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from sklearn_interpret._model.rows.base import Rows

# Inches: width of one of several panels, of a single panel, and of the narrowest panel
# in which labels have room; height of the data in a panel, and of titles and labels.
PANEL_WIDTH = 3.6
ONLY_PANEL_WIDTH = 5.6
MIN_PANEL_WIDTH = 2.2
DATA_HEIGHT = 0.9
LABELS_HEIGHT = 0.65
ROW_VALUE = "value of the row"  # in the legend
LEGEND_HEIGHT = 2.0  # of given axes, in inches: in lower ones, panels would vanish
MOST_LEVELS = 10  # names of levels that have room below a panel
# Share of the smallest and of the largest numbers that may lie outside of the axis.
TAIL = 0.005
MARGIN = 0.04  # share of the numbers' range that is left free at each end of the axis


class FeatureColumn:
    """A feature along an axis: its numbers, or its levels at 0, 1, ...

    Parameters
    ----------
    rows : Rows
        The data.
    j : int
        Position of the feature.
    name : str
        Its name.
    marked : list
        Values that need a place besides those of the data.
    """

    def __init__(self, rows: Rows, j: int, name: str, marked: list[float]) -> None:
        self.name, self.levels = name, None
        values, self._date_dtype = rows.column_array(j), rows.date_dtype(j)
        if values.dtype.kind in "iuf" and not rows.is_categorical(j):
            marked = list(map(days, marked))
            self._marked = np.array(marked, dtype=np.float64)
            self._numbers = values[np.isfinite(values)].astype(np.float64)
            self._written_numbers = np.concatenate([values, np.asarray(marked)])
            return
        codes, labels = rows.encode_column(j)
        counts = np.bincount(codes, minlength=len(labels)).tolist()
        counts = dict(zip(map(label_key, labels), counts, strict=True))
        for value in marked:
            counts.setdefault(label_key(value), 0)
        # If there are many levels: the marked ones, and the most frequent.
        marked_keys = set(map(label_key, marked))
        order = sorted(counts, key=lambda key: (key not in marked_keys, -counts[key]))
        selected = set(order[: max(MOST_LEVELS, len(marked_keys))])
        keys = [key for key in counts if key in selected]
        self._positions = {key: position for position, key in enumerate(keys)}
        self._counts = np.array([counts[key] for key in keys])
        texts = {label_key(label): value_text(label) for label in [*labels, *marked]}
        self.levels = [texts[key] for key in keys]

    def position(self, value: float) -> float:
        """Position of a value along the axis; NaN if it has none."""
        if self.levels is None:
            return as_decimal(days(value))
        return float(self._positions.get(label_key(value), np.nan))

    def text(self, value: float, change: float) -> str:
        """A level, or a number to two digits of a change; decimals are not cut."""
        if self.levels is not None:
            return shorten(value_text(value), LEVEL_WIDTH)
        if self._date_dtype is not None:
            return value_text(as_dates([days(value)], self._date_dtype)[0])
        text, decimal = number_beside(value, 10 * change), decimal_text(value)
        numbers = self._written_numbers
        if np.array_equal(numbers, np.round(numbers), equal_nan=True):
            text = value_text(value)
        number = "".join(c for c in text.replace(MINUS, "-") if c in "-.e0123456789")
        if decimal is None or float(number) == float(decimal):
            return text
        return decimal.replace("-", MINUS)

    def interval_text(self, low: float, high: float, change: float) -> str:
        """Short text of the interval from `low` to `high`."""
        text = interval_text(low, high, change, self._date_dtype)
        return text if self._date_dtype is not None else text.replace("-", MINUS)

    def change(self, before: float, after: float) -> float:
        """Distance between two values in standard deviations; 1 for levels."""
        if self.levels is not None:
            return 1.0
        spread = self._numbers.std() if len(self._numbers) else 0.0
        return abs(after - before) / (spread or 1.0)

    def draw(self, ax: Axes, height: float = 1.0) -> None:
        """Draw the distribution of the data; `height` is a share of the axes."""
        style: dict[str, Any] = {"facecolor": mix(paper(ax), NEUTRAL_COLOUR, 0.6)}
        style["label"] = "number of rows" if height else ""
        if self.levels is not None:
            heights = height * self._counts / max(self._counts.max(initial=0), 1)
            ax.bar(np.arange(len(heights)), heights, 0.8, zorder=0.6, **style)
            ax.set_xlim(-0.6, len(self.levels) - 0.4)
            label_levels(ax, self.levels)
        else:
            ends = [*clipped_range(self._numbers, TAIL), *self._marked]
            low, high = np.nanmin(ends), np.nanmax(ends)
            margin = MARGIN * (high - low) or 0.5
            ax.set_xlim(low - margin, high + margin)
            in_range = (self._numbers >= low) & (self._numbers <= high)
            draw_histogram(ax, self._numbers[in_range], style, height=height)
            plain_number_ticks(ax)
            date_ticks(ax, self._date_dtype)
        name_axes(ax, x=date_label(self.name, self._date_dtype))
        ax.set(ylim=(0, 1), yticks=[])
        ax.tick_params(axis="y", length=0, grid_linewidth=0)
        ax.spines[["top", "right", "left"]].set_visible(False)


class FeaturesDisplay(OneRowDisplay):
    """Base of the displays of one row, some of whose features have a panel."""

    background: Any

    def _background_rows(self) -> Rows:
        """Rows whose distribution is drawn."""
        data = as_rows(self.explanation.data)
        background = data if self.background is None else as_rows(self.background)
        if background.n_columns != data.n_columns:
            raise ValueError(
                f"background has {background.n_columns} columns; the explained rows "
                f"have {data.n_columns}."
            )
        return background

    def _take_panels(
        self,
        ax: Axes,
        columns: Collection[FeatureColumn],
        title: list[str],
        *,
        n_cols: int,
        height: float,
    ) -> None:
        """Axes for columns, `height` inches each, and lines of a title above them."""
        tick_heights = [level_inches(column.levels or []) for column in columns]
        n_panels = max(len(columns), 1)
        width = ONLY_PANEL_WIDTH if n_panels == 1 else PANEL_WIDTH
        if hasattr(ax, "get_subplotspec"):  # one axes, which is divided up
            n_cols = min(n_cols, max(1, int(axes_inches(ax)[0] / MIN_PANEL_WIDTH)))
        size = width, height + LABELS_HEIGHT + max(tick_heights, default=0)
        self._canvas = canvas = self._take_grid(ax, n_panels, n_cols, size)
        first, own_figure = canvas.main[0], canvas.own_figure
        width = axes_inches(canvas.frame or first)[0]
        if own_figure:
            width = canvas.figure.figure.get_figwidth()
        self.title_ = write_title(first, title, width, own_figure=own_figure)
        if own_figure and (engine := canvas.figure.get_layout_engine()):
            for panel in canvas.main:
                panel.set_yticks([])  # as `FeatureColumn.draw` does
            engine.execute(canvas.figure.figure)  # settles the axes' sizes

    def _draw_legend(self) -> None:
        """The legend of what is drawn in the panels, where it hides none of them."""
        self.legend_ = None
        frame = self._canvas.frame
        has_room = frame is None or axes_inches(frame)[1] > LEGEND_HEIGHT
        has_layout = self._canvas.own_figure or is_constrained(self._canvas.figure)
        if not (has_room and has_layout):
            return
        entries: dict[str, Any] = {}
        for ax in self.axes_:
            handles, labels = ax.get_legend_handles_labels()
            entries |= zip(labels, handles, strict=True)
        self.legend_ = add_legend(self._canvas, list(entries.values()), list(entries))


def tint(ax: Axes, colour: str) -> tuple[float, float, float]:
    """A pale colour for an area behind the data."""
    share = 0.35 if text_on(paper(ax)) == "black" else 0.6
    return mix(paper(ax), stand_out(colour, ax), share)
