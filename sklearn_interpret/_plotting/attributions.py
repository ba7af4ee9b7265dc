"""Bars, arrows and swarms of points that stand for attributions, on given axes."""

import numpy as np

from sklearn_interpret._plotting.axes import axes_inches, merged_style
from sklearn_interpret._plotting.labels import (
    CHARACTERS_PER_INCH,
    NEUTRAL_COLOUR,
    feature_map,
    literal,
    shorten,
    wrapped,
)

MANY_POINTS = 3000
MANY_NAMES = 40
POINTS_PER_INCH = 72.0
LABEL_WIDTH = 30
TWO_LINES_PITCH = 0.32  # inches


def name_rows(ax, names):
    """Name the rows of an axes, the first on top, at n - 1, n - 2, ..., 0."""
    width, height = axes_inches(ax)
    pitch = height / max(len(names), 1)
    most = int(np.clip(width * CHARACTERS_PER_INCH / 2, 12, LABEL_WIDTH))
    two_lines = len(names) <= MANY_NAMES and pitch > TWO_LINES_PITCH
    texts = [
        wrapped(name, most) if two_lines else shorten(name, most) for name in names
    ]
    texts = list(map(literal, texts))
    crowded = pitch < 0.3
    places = np.arange(len(names))[::-1]
    ax.set_yticks(places, texts, fontsize="small" if crowded else None)
    ax.set_ylim(-0.6, len(names) - 0.4)
    ax.tick_params(axis="y", length=0)


def draw_arrows(ax, far, near, places, height, head, colour, style, *, notched=False):
    """Horizontal arrows from `far` to `near`, as one artist.

    Parameters
    ----------
    ax : Axes
        Where to draw.
    far, near : ndarray of shape (n,)
        Where each arrow starts, and where its point is.
    places : ndarray of shape (n,)
        Their middles across.
    height : float
        Their breadth.
    head : float
        Length of a point, at most; a short arrow is all point.
    colour : colour
        Of the arrows.
    style : dict or None
        Of the PolyCollection.
    notched : bool, default=False
        Whether the tails are cut out, so that arrows in a row fit into each other.

    Returns
    -------
    PolyCollection
    """
    from matplotlib.collections import PolyCollection

    length = near - far
    point = np.sign(length) * np.minimum(np.abs(length), head)
    tail = far + point if notched else far
    x = np.stack([far, near - point, near, near - point, far, tail], axis=1)
    half = height / 2
    y = np.asarray(places)[:, None] + half * np.array([-1, -1, 0, 1, 1, 0])
    defaults = {"facecolor": [colour], "edgecolor": "white", "linewidth": 0.6}
    arrows = PolyCollection(
        np.stack([x, y], axis=2),
        **merged_style({**defaults, "zorder": 2}, style, PolyCollection),
    )
    ax.add_collection(arrows)
    return arrows


def point_area(n_points):
    """Area of a point, in square points of print: smaller where there are many."""
    return float(np.clip(24 - 5 * np.log10(max(n_points, 1) / 30), 7, 24))


def draw_shaded_points(ax, x, y, shades, style, *, area, limits=(0, 1)):
    """Points coloured by numbers; those without one are grey and lie behind.

    Parameters
    ----------
    ax : Axes
        Where to draw.
    x, y : ndarray of shape (n,)
        Places.
    shades : ndarray of shape (n,)
        Numbers, NaN where there is none.
    style : dict or None
        Of the PathCollections.
    area : float
        Of a point.
    limits : pair of float, default=(0, 1)
        Numbers at the ends of the colours.

    Returns
    -------
    shaded, grey : PathCollection or None
        None where there are no such points.
    """
    from matplotlib.collections import PathCollection

    known = np.isfinite(shades)
    style = merged_style(
        {
            "linewidth": 0,
            "alpha": 0.85,
            "zorder": 2.5,
            "rasterized": len(x) > MANY_POINTS,
        },
        style,
        PathCollection,
    )
    if "c" in style:  # as matplotlib's scatter calls it
        style["color"] = style.pop("c")
    built = {"s": style.pop("s", area), "marker": style.pop("marker", None)}
    shaded = grey = None
    if not known.all():
        grey = ax.scatter(x[~known], y[~known], **built)
        grey.set(**{"facecolor": NEUTRAL_COLOUR, **style, "zorder": 2.4})
    if known.any():
        shaded = ax.scatter(x[known], y[known], **built)
        if not {"color", "facecolor"} & style.keys():
            shaded.set_array(shades[known])
            shaded.set(cmap=feature_map(), clim=limits)
        shaded.set(**style)
    return shaded, grey


def swarm_sizes(ax, n_rows, area):
    """Number of bins along an axes, and a point's diameter in rows."""
    width, height = axes_inches(ax)
    diameter = np.sqrt(area) / POINTS_PER_INCH
    n_bins = max(int(width / diameter), 10)
    return n_bins, float(diameter * n_rows / max(height, 0.1))


def clipped_range(values, share=0.05):
    """Range of numbers without their tails, where that leaves more than one number.

    Parameters
    ----------
    values : ndarray
        NaN allowed.
    share : float, default=0.05
        Of the numbers in each tail.

    Returns
    -------
    low, high : float
        Equal where all numbers are; (0, 0) where there are none.
    """
    known = values[np.isfinite(values)]
    if not len(known):
        return 0.0, 0.0
    for tail in (share, share / 5):
        low, high = np.quantile(known, [tail, 1 - tail], method="inverted_cdf")
        if low < high:
            return float(low), float(high)
    return float(known.min()), float(known.max())


def shares_of_range(values, low, high):
    """Numbers as shares of a range, cut at its ends; NaN stays, equal ends give 1/2."""
    if low == high:
        return np.where(np.isfinite(values), 0.5, np.nan)
    # The difference of huge numbers may overflow, that of halves does not.
    return np.clip((values / 2 - low / 2) / (high / 2 - low / 2), 0, 1)
