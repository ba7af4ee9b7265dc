"""A panel for each feature: the distribution of the data, and marked values."""

import numpy as np

from sklearn_interpret._model.rows.arrays import as_rows
from sklearn_interpret._model.rows.base import label_key
from sklearn_interpret._model.rows.dates import days, shown
from sklearn_interpret._model.rows.number_format import (
    MINUS,
    as_decimal,
    decimal_text,
    interval_text,
    number_beside,
    value_text,
)
from sklearn_interpret._plotting.axes import axes_inches
from sklearn_interpret._plotting.colours import (
    NEUTRAL_COLOUR,
    mixed,
    paper,
    seen,
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

# Inches: width of a panel, height of the data in it, and of titles and labels around.
PANEL_WIDTH, DATA_HEIGHT, AROUND = 3.6, 0.9, 0.65
ALONE_WIDTH, LEAST_WIDTH = 5.6, 2.2
MOST_LEVELS = 10
# Share of the smallest and of the largest numbers that may lie outside of the axis.
TAIL = 0.005
MARGIN = 0.04


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

    def __init__(self, rows, j, name, marked):
        self.name, self.levels = name, None
        values, self._date_dtype = rows.column_array(j), rows.date_dtype(j)
        if values.dtype.kind in "iuf" and not rows.is_categorical(j):
            marked = list(map(days, marked))
            self._marked = np.array(marked, dtype=np.float64)
            self._numbers = values[np.isfinite(values)].astype(np.float64)
            self._all = np.concatenate([values, np.asarray(marked)])
            return
        codes, labels = rows.encode_column(j)
        counts = np.bincount(codes, minlength=len(labels)).tolist()
        counts = dict(zip(map(label_key, labels), counts, strict=True))
        for value in marked:
            counts.setdefault(label_key(value), 0)
        # Of many levels the most frequent, and those that are marked.
        own = set(map(label_key, marked))
        order = sorted(counts, key=lambda key: (key not in own, -counts[key]))
        frequent = set(order[: max(MOST_LEVELS, len(own))])
        keys = [key for key in counts if key in frequent]
        self._places = {key: place for place, key in enumerate(keys)}
        self._counts = np.array([counts[key] for key in keys])
        texts = {label_key(label): value_text(label) for label in [*labels, *marked]}
        self.levels = [texts[key] for key in keys]

    def place(self, value):
        """Place of a value along the axis; NaN if it has none."""
        if self.levels is None:
            return as_decimal(days(value))
        return float(self._places.get(label_key(value), np.nan))

    def text(self, value, change):
        """A level, or a number to two digits of a change, and all of a decimal."""
        if self.levels is not None:
            return shorten(value_text(value), LEVEL_WIDTH)
        if self._date_dtype is not None:
            return value_text(shown([days(value)], self._date_dtype)[0])
        text, decimal = number_beside(value, 10 * change), decimal_text(value)
        if np.array_equal(self._all, np.round(self._all), equal_nan=True):
            text = value_text(value)
        written = "".join(c for c in text.replace(MINUS, "-") if c in "-.e0123456789")
        if decimal is None or float(written) == float(decimal):
            return text
        return decimal.replace("-", MINUS)

    def interval_text(self, low, high, change):
        """The values from `low` to `high` in short."""
        text = interval_text(low, high, change, self._date_dtype)
        return text if self._date_dtype is not None else text.replace("-", MINUS)

    def change(self, before, after):
        """Distance between two values in standard deviations; 1 for levels."""
        if self.levels is not None:
            return 1.0
        spread = self._numbers.std() if len(self._numbers) else 0.0
        return abs(after - before) / (spread or 1.0)

    def draw(self, ax, height=1.0):
        """The distribution of the data; a share of the axes is its height."""
        colour = mixed(paper(ax), NEUTRAL_COLOUR, 0.6)
        if self.levels is not None:
            heights = height * self._counts / max(self._counts.max(initial=0), 1)
            ax.bar(np.arange(len(heights)), heights, 0.8, color=colour, zorder=0.6)
            ax.set_xlim(-0.6, len(self.levels) - 0.4)
            label_levels(ax, self.levels)
        else:
            ends = [*clipped_range(self._numbers, TAIL), *self._marked]
            low, high = np.nanmin(ends), np.nanmax(ends)
            margin = MARGIN * (high - low) or 0.5
            ax.set_xlim(low - margin, high + margin)
            inside = (self._numbers >= low) & (self._numbers <= high)
            style = {"facecolor": colour}
            draw_histogram(ax, self._numbers[inside], style, height=height)
            plain_number_ticks(ax)
            date_ticks(ax, self._date_dtype)
        name_axes(ax, x=date_label(self.name, self._date_dtype))
        ax.set(ylim=(0, 1), yticks=[])
        ax.tick_params(axis="y", length=0, grid_linewidth=0)
        ax.spines[["top", "right", "left"]].set_visible(False)


class FeaturesDisplay(OneRowDisplay):
    """Base of the displays of one row, some of whose features have a panel."""

    def _known(self):
        """Rows whose distribution is drawn."""
        data = as_rows(self.explanation.data)
        known = data if self.background is None else as_rows(self.background)
        if known.n_columns != data.n_columns:
            raise ValueError(
                f"background has {known.n_columns} columns; the explained rows have "
                f"{data.n_columns}."
            )
        return known

    def _take_panels(self, ax, columns, title, *, n_cols, height):
        """Axes for columns, `height` inches each, and lines of a title above them."""
        ticks = [level_inches(column.levels or []) for column in columns]
        n_panels = max(len(columns), 1)
        width = ALONE_WIDTH if n_panels == 1 else PANEL_WIDTH
        if hasattr(ax, "get_subplotspec"):  # one axes, which is divided up
            n_cols = min(n_cols, max(1, int(axes_inches(ax)[0] / LEAST_WIDTH)))
        size = width, height + AROUND + max(ticks, default=0)
        canvas = self._take_grid(ax, n_panels, n_cols, size)
        first, own = canvas.main[0], canvas.own_figure
        width = axes_inches(canvas.frame or first)[0]
        if own:
            width = canvas.figure.get_figwidth()
        self.title_ = write_title(first, title, width, own_figure=own)
        if own:
            canvas.figure.draw_without_rendering()  # settles the axes' sizes


def tint(ax, colour):
    """A pale colour for an area behind the data."""
    share = 0.35 if text_on(paper(ax)) == "black" else 0.6
    return mixed(paper(ax), seen(colour, ax), share)
