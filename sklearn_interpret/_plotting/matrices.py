"""Tables of pairs of features, in colours."""

import numpy as np

from sklearn_interpret._plotting.axes import axes_inches
from sklearn_interpret._plotting.colours import text_on
from sklearn_interpret._plotting.labels import (
    column_texts,
    literal,
    shorten_all,
    shown_ticks,
)
from sklearn_interpret._plotting.surfaces import (
    cell_bounds,
    draw_colour_bar,
    draw_heat_map,
)

PITCH = 0.5  # inches of a cell
NUMBER_WIDTH = 0.42  # inches of a cell that has room for a number
NAME_WIDTH = 18
NAMES_PER_INCH = 6.5


def checked_strengths(values, shape, name):
    """Checked numbers of a shape, or None; tables are symmetric, unknown pairs NaN."""
    if values is None:
        return None
    values = np.array(values, dtype=np.float64)
    if values.shape != shape or not values.size:
        raise ValueError(
            f"{name} has the shape {values.shape}; {shape} is needed, for {shape[0]} "
            "feature names."
        )
    fine = np.isfinite(values) & (values >= 0)
    if len(shape) == 2:
        fine |= np.isnan(values)
    if not fine.all():
        bad = np.argwhere(~fine)[0].tolist()
        place = tuple(bad) if len(bad) > 1 else bad[0]
        raise ValueError(f"{name} is negative or not finite at position {place}.")
    if not np.array_equal(values, values.T, equal_nan=True):
        raise ValueError(f"{name} is not symmetric.")
    return values


def table_size(n_features):
    """Width and height of a figure for a table, in inches."""
    side = float(np.clip(PITCH * n_features, 2.0, 8.0))
    return side + 2.9, side + 1.3


def draw_table(ax, table, names, strength_name, style, highest=None):
    """Cells for the pairs (p, p), the first feature on top and to the left.

    The colours end at the `highest` strength, by default that of the table. Returns the
    heat map, its colour bar, and the numbers on cells that are large enough.
    """
    p = len(names)
    width, height = axes_inches(ax)
    side = min(0.75 * width, height)  # without the names and the colour bar
    bounds = cell_bounds(np.arange(p))
    if highest is None:
        highest = np.nanmax(table, initial=0.0)
    limits = 0.0, highest if highest > 0 else 1.0
    shown = draw_heat_map(ax, bounds, bounds, table.T, limits, style)
    ax.set(ylim=(p - 0.5, -0.5), xlim=(-0.5, p - 0.5), aspect="equal")
    places = shown_ticks(p, int(side * NAMES_PER_INCH))
    shown_names = [names[place] for place in places]
    texts = list(map(literal, shorten_all(shown_names, NAME_WIDTH)))
    small = "small" if len(texts) > 12 else None
    ax.set_yticks(places, texts, fontsize=small)
    level = max(map(len, texts)) * 0.09 < 0.9 * side / p
    turned = {} if level else {"rotation": 45, "ha": "right", "rotation_mode": "anchor"}
    ax.set_xticks(places, texts, fontsize=small, **turned)
    ax.tick_params(length=0)
    ax.grid(visible=False)  # it would show through the empty cells
    ax.spines[:].set_visible(False)
    bar = draw_colour_bar(ax, shown, strength_name)
    numbers = []
    if side / p >= NUMBER_WIDTH:
        numbers = _write_numbers(ax, table, shown, highest)
    return shown, bar, numbers


def _write_numbers(ax, table, shown, highest):
    """The numbers of the cells, as exact as the highest, dark on bright cells."""
    places = np.argwhere(~np.isnan(table))
    values = table[tuple(places.T)]
    beyond = np.log10(values.max() / highest) if highest > 0 else 0.0
    texts = column_texts(values, 2 + max(0, int(np.ceil(beyond))))
    return [
        ax.text(
            column,
            row,
            text,
            ha="center",
            va="center",
            fontsize="small",
            color=text_on(shown.to_rgba(value)),
        )
        for (row, column), value, text in zip(places, values, texts, strict=True)
    ]
