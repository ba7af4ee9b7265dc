"""The forces on many predictions, as areas side by side."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from sklearn_interpret._plotting.axes import axes_inches, merged_style, side_legend
from sklearn_interpret._plotting.labels import (
    NEUTRAL_COLOUR,
    OKABE_ITO,
    UPRIGHT_PER_INCH,
    colours,
    literal,
    shorten,
    shown_ticks,
)
from sklearn_interpret._plotting.layouts import force_edges
from sklearn_interpret._plotting.numbers import plain_number_ticks

MOST_NAMED = 14
LABEL_LENGTH = 12


@dataclass
class Balances:
    """What was drawn for several rows."""

    areas: list
    base: Any
    prediction: Any
    legend: Any


def draw_balances(ax, pushes, names, *, n_alone, bases, predictions, style):
    """Draw what raises each prediction below it, and what lowers it above.

    Parameters
    ----------
    ax : Axes
        Where to draw.
    pushes : ndarray of shape (n_rows, p)
        Signed lengths, the strongest first.
    names : list of str
        What they stand for.
    n_alone : int
        How many stand for one feature; what follows is grey.
    bases, predictions : ndarray of shape (n_rows,)
        Where the forces lead from and to.
    style : dict or None
        Of the areas.

    Returns
    -------
    Balances
    """
    far, near = force_edges(predictions, pushes)
    palette = _area_colours(n_alone)
    palette += [NEUTRAL_COLOUR] * (pushes.shape[1] - n_alone)
    areas = [
        _draw_area(ax, outer, inner, colour, style)
        for outer, inner, colour in zip(far.T, near.T, palette, strict=True)
    ]
    edges = np.arange(len(predictions) + 1) - 0.5
    (line,) = ax.plot(
        edges,
        _closed(predictions),
        color="black",
        linewidth=1.3 if len(predictions) <= 200 else 0.8,
        drawstyle="steps-post",
    )
    (base,) = ax.plot(
        edges,
        _closed(bases),
        color="0.25",
        linewidth=1.0,
        linestyle="--",
        drawstyle="steps-post",
    )
    ax.set_xlim(edges[0], edges[-1])
    ax.margins(y=0.04)
    plain_number_ticks(ax, "y")
    ax.spines[["top", "right"]].set_visible(False)
    return Balances(areas, base, line, _explain(ax, [line, base], areas, names))


def _closed(values):
    """Values of rows as steps: the last one holds to the end."""
    return np.append(values, values[-1:], axis=0)


def _draw_area(ax, far, near, colour, style):
    """One part's pushes in all rows, as one artist."""
    from matplotlib.collections import PolyCollection

    edges = np.arange(len(far) + 1) - 0.5
    x = np.repeat(edges, 2)[1:-1]
    there = np.column_stack([x, np.repeat(far, 2)])
    back = np.column_stack([x, np.repeat(near, 2)])[::-1]
    defaults = {"facecolor": colour, "edgecolor": "none", "alpha": 0.9, "zorder": 1.5}
    area = PolyCollection(
        [np.vstack([there, back])], **merged_style(defaults, style, PolyCollection)
    )
    ax.add_collection(area)
    return area


def _area_colours(n):
    """Colours without black, which is the line's."""
    return list(colours(n) if n < len(OKABE_ITO) else colours(n + 1)[:n])


def _explain(ax, lines, areas, names):
    """A legend: the lines, then the areas as far as there is room."""
    return side_legend(
        ax,
        [*lines, *areas[:MOST_NAMED]],
        ["prediction f(x)", "base value E[f(X)]", *names[:MOST_NAMED]],
        title="below f(x): raises it\nabove f(x): lowers it",
    )


def label_rows(ax, texts):
    """Name some rows along the x axis, as many as fit."""
    longest = min(max(map(len, texts)), LABEL_LENGTH)
    per_inch = UPRIGHT_PER_INCH * 1.2 / (longest + 2)
    places = shown_ticks(len(texts), int(axes_inches(ax)[0] * per_inch) + 1)
    ax.set_xticks(places, [literal(shorten(texts[p], LABEL_LENGTH)) for p in places])
