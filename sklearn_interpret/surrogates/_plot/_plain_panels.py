"""Coefficients as bars, and a surrogate's answers against the model's."""

import numpy as np

from sklearn_interpret._plotting.axes import merged_style
from sklearn_interpret._plotting.bars import check_count, name_rows
from sklearn_interpret._plotting.labels import (
    DOWN_COLOUR,
    OKABE_ITO,
    UP_COLOUR,
    number_text,
    plain_number_ticks,
)
from sklearn_interpret._plotting.points import point_area

MANY_POINTS = 3000
NUMBER_ROOM = 0.2
TIMES = "\N{MULTIPLICATION SIGN}"


def strongest(effects, max_display):
    """Positions of the effects that are shown, the largest first, and of the others."""
    check_count(max_display, "max_display")
    order = np.argsort(-np.abs(effects), kind="stable")
    return order[:max_display], order[len(order[:max_display]) :]


def draw_effects(ax, names, effects, max_display, style):
    """Bars for signed effects, the strongest on top.

    Parameters
    ----------
    ax : Axes
        Where to draw.
    names : list of str
        Of the columns.
    effects : ndarray of shape (q,)
        Coefficients times deviations.
    max_display : int or None
        Largest number of bars.
    style : dict or None
        Of the bars.

    Returns
    -------
    BarContainer
    """
    from matplotlib.patches import Rectangle

    shown, others = strongest(effects, max_display)
    values = effects[shown]
    places = np.arange(len(shown))[::-1]
    shades = [UP_COLOUR if value > 0 else DOWN_COLOUR for value in values]
    looks = {"color": shades, "edgecolor": "white", "linewidth": 0.5, "zorder": 2}
    if style and {"color", "facecolor", "fc"} & style.keys():
        del looks["color"]
    bars = ax.barh(places, values, height=0.78, **merged_style(looks, style, Rectangle))
    low, high = min(values.min(), 0.0), max(values.max(), 0.0)
    span = high - low if high > low else 1.0
    room = [NUMBER_ROOM * span * bool(end) for end in (low < 0, high > 0)]
    ax.set_xlim(low - room[0], high + room[1] if high > low else 1.0)
    for place, value in zip(places, values, strict=True):
        ax.annotate(
            number_text(value, signed=True),
            (value, place),
            xytext=(4 if value >= 0 else -4, 0),
            textcoords="offset points",
            ha="left" if value >= 0 else "right",
            va="center",
            fontsize="small",
        )
    ax.axvline(0, color="0.2", linewidth=0.8, zorder=2.3)
    name_rows(ax, [names[j] for j in shown])
    plain_number_ticks(ax)
    label = f"Coefficient {TIMES} standard deviation of the column"
    if len(others):
        most = np.abs(effects[others]).max()
        label += f"\n({len(others)} others, none beyond {number_text(most)})"
    ax.set_xlabel(label)
    ax.spines[["top", "right"]].set_visible(False)
    return bars


def draw_answers(ax, values, answers, style):
    """Points, or the density of many, of the surrogate's answers over the model's.

    Returns
    -------
    PathCollection or PolyCollection
    """
    from matplotlib.collections import PathCollection

    both = np.concatenate([values, answers])
    low, high = float(both.min()), float(both.max())
    room = 0.04 * (high - low) or 0.5
    ends = low - room, high + room
    if len(values) > MANY_POINTS:
        looks = {"gridsize": 40, "mincnt": 1, "bins": "log", "cmap": "viridis"}
        looks |= {"linewidths": 0.1, "extent": (*ends, *ends), **(style or {})}
        shown = ax.hexbin(values, answers, **looks)
    else:
        looks = {"s": point_area(len(values)), "color": OKABE_ITO[0], "alpha": 0.6}
        looks |= {"linewidths": 0, "zorder": 2}
        shown = ax.scatter(
            values, answers, **merged_style(looks, style, PathCollection)
        )
    ax.plot(ends, ends, color="0.2", linewidth=1, zorder=1.5, linestyle="--")
    ax.set(xlim=ends, ylim=ends)
    for axis in "xy":
        plain_number_ticks(ax, axis)
    ax.spines[["top", "right"]].set_visible(False)
    return shown
