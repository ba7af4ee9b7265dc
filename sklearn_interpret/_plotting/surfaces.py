"""Contours, heat maps and the data's position on given axes."""

import numpy as np

from sklearn_interpret._plotting.axes import merged_style
from sklearn_interpret._plotting.labels import (
    DIVERGING_MAP,
    NICE_STEPS,
    SEQUENTIAL_MAP,
)

N_LEVELS = 12
MAX_POINTS = 500


def colour_limits(values, diverging, negligible=0.0):
    """Range of values that the colours span; a diverging one is centred at zero.

    Parameters
    ----------
    values : ndarray
        NaN allowed.
    diverging : bool
        Whether zero is the middle.
    negligible : float, default=0.0
        A diverging range that reaches no further is rounding noise, and is drawn in
        the colour of zero.

    Returns
    -------
    tuple of two floats
    """
    known = values[np.isfinite(values)]
    low, high = (known.min(), known.max()) if len(known) else (0.0, 1.0)
    if diverging:
        reach = max(abs(low), abs(high))
        reach = reach if reach > negligible else 1.0
        return -reach, reach
    if low == high:  # one colour needs a range to stand in
        return low - 0.5, high + 0.5
    return low, high


def draw_contours(ax, x, y, values, limits, style, *, diverging=False):
    """Filled contours of `values` (len(x), len(y)), at round levels.

    A diverging scale has a step around zero, in the neutral colour.

    Returns
    -------
    QuadContourSet
    """
    from matplotlib.ticker import MaxNLocator

    locator = MaxNLocator(nbins=N_LEVELS, steps=NICE_STEPS, symmetric=diverging)
    levels = locator.tick_values(*limits)
    if diverging:
        half = (levels[1] - levels[0]) / 2
        levels = np.append(levels - half, levels[-1] + half)
    defaults = {"levels": levels, "cmap": _map(diverging)}
    masked = np.ma.masked_invalid(values.T)
    return ax.contourf(x, y, masked, **{**defaults, **(style or {})})


def draw_colour_bar(ax, shown, label):
    """Colour bar of a surface beside its axes, with few round ticks.

    Returns
    -------
    Colorbar
    """
    from matplotlib.ticker import MaxNLocator

    ticks = MaxNLocator(nbins=7, steps=NICE_STEPS)
    bar = ax.figure.colorbar(shown, ax=ax, ticks=ticks)
    bar.set_label(label)
    return bar


def _map(diverging):
    return DIVERGING_MAP if diverging else SEQUENTIAL_MAP


def draw_heat_map(ax, x_bounds, y_bounds, values, limits, style, *, diverging=False):
    """Cells of `values` (len(x_bounds) - 1, len(y_bounds) - 1).

    Returns
    -------
    QuadMesh
    """
    from matplotlib.collections import QuadMesh

    defaults = {
        "cmap": _map(diverging),
        "vmin": limits[0],
        "vmax": limits[1],
        "linewidth": 0,
        "rasterized": True,
    }
    kw = merged_style(defaults, style, QuadMesh)
    return ax.pcolormesh(x_bounds, y_bounds, np.ma.masked_invalid(values.T), **kw)


def cell_bounds(centres):
    """Ends of cells around increasing centres, half-way between them."""
    centres = np.asarray(centres, dtype=np.float64)
    if len(centres) == 1:
        return centres[0] + np.array([-0.5, 0.5])
    middle = (centres[:-1] + centres[1:]) / 2
    first = 2 * centres[0] - middle[0]
    last = 2 * centres[-1] - middle[-1]
    return np.concatenate([[first], middle, [last]])


def draw_positions(ax, x, y, style):
    """Small transparent points at some of the data, within the axes' present range.

    Returns
    -------
    PathCollection
    """
    from matplotlib.collections import PathCollection

    (left, right), (bottom, top) = sorted(ax.get_xlim()), sorted(ax.get_ylim())
    inside = np.flatnonzero((x >= left) & (x <= right) & (y >= bottom) & (y <= top))
    if len(inside) > MAX_POINTS:
        inside = np.random.default_rng(0).choice(inside, MAX_POINTS, replace=False)
    defaults = {
        "s": 8,
        "facecolors": "white",
        "edgecolors": "black",
        "linewidths": 0.5,
        "alpha": 0.55,
    }
    # The points lie within the range: no margin is to be added around them.
    limits = ax.get_xlim(), ax.get_ylim()
    points = ax.scatter(
        x[inside], y[inside], **merged_style(defaults, style, PathCollection)
    )
    ax.set(xlim=limits[0], ylim=limits[1])
    return points


def jittered(places, seed):
    """Positions of levels moved a little, always by the same amounts."""
    return places + np.random.default_rng(seed).uniform(-0.3, 0.3, len(places))
