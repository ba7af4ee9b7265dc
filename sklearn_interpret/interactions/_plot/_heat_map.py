"""A table of pairs in colours, on given axes."""

import numpy as np

from sklearn_interpret._plotting.axes import axes_inches
from sklearn_interpret._plotting.labels import (
    literal,
    number_text,
    shorten,
    shown_ticks,
)
from sklearn_interpret._plotting.surfaces import (
    cell_bounds,
    draw_colour_bar,
    draw_heat_map,
)

PITCH = 0.5  # inches of a cell
NUMBER_WIDTH = 0.42  # inches that a number takes
NAME_WIDTH = 18
NAMES_PER_INCH = 6.5
DARK = 0.55  # brightness below which white numbers are read best


def heat_map_size(n_features):
    """Width and height of a figure for a table, in inches."""
    side = float(np.clip(PITCH * n_features, 2.0, 8.0))
    return side + 2.9, side + 1.3


def draw_pairs(ax, table, names, strength_name, style):
    """Cells for the pairs (p, p), the first feature on top and to the left.

    Parameters
    ----------
    ax : Axes
        Where to draw.
    table : ndarray of shape (p, p)
        Strengths; NaN is left blank.
    names : list of str
        Names of the features.
    strength_name : str
        What the numbers are.
    style : dict or None
        Of the heat map.

    Returns
    -------
    heatmap : QuadMesh
    colorbar : Colorbar
    numbers : list of Text
        On the cells, where these are few enough.
    """
    p = len(names)
    width, height = axes_inches(ax)
    width *= 0.75  # without the names and the colour bar
    bounds = cell_bounds(np.arange(p))
    highest = np.nanmax(table, initial=0.0)
    limits = 0.0, highest if highest > 0 else 1.0
    shown = draw_heat_map(ax, bounds, bounds, table.T, limits, style)
    ax.set(ylim=(p - 0.5, -0.5), xlim=(-0.5, p - 0.5))
    ax.set_aspect("equal")
    side = min(width, height)
    places = shown_ticks(p, int(side * NAMES_PER_INCH))
    texts = [literal(shorten(names[place], NAME_WIDTH)) for place in places]
    small = "small" if len(texts) > 12 else None
    ax.set_yticks(places, texts, fontsize=small)
    level = max(map(len, texts)) * 0.09 < 0.9 * side / p
    turned = {} if level else {"rotation": 45, "ha": "right", "rotation_mode": "anchor"}
    ax.set_xticks(places, texts, fontsize=small, **turned)
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    bar = draw_colour_bar(ax, shown, strength_name.split("\n")[0])
    numbers = []
    if side / p >= NUMBER_WIDTH:
        numbers = _numbers(ax, table, shown, highest)
    return shown, bar, numbers


def _numbers(ax, table, shown, highest):
    """The numbers of the cells, as exact as the highest, dark on bright cells."""
    texts = []
    unit = 10.0 ** (np.floor(np.log10(highest)) - 1) if highest > 0 else 1.0
    for row, column in np.argwhere(~np.isnan(table)):
        value = table[row, column]
        red, green, blue, _ = shown.to_rgba(value)
        dark = 0.299 * red + 0.587 * green + 0.114 * blue < DARK
        texts.append(
            ax.text(
                column,
                row,
                number_text(unit * np.round(value / unit), 2),
                ha="center",
                va="center",
                fontsize="small",
                color="white" if dark else "black",
            )
        )
    return texts
