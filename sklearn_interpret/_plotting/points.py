"""Points: coloured by numbers, in swarms, and of the data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sklearn_interpret._core.statistics.weighted import weighted_quantile
from sklearn_interpret._plotting.axes import Style, axes_inches, merge_styles
from sklearn_interpret._plotting.colours import NEUTRAL_COLOUR, feature_map

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PathCollection

# More points are rasterized in vector graphics, where they take less memory as pixels.
MANY_POINTS = 3000
MAX_POSITIONS = 500  # points drawn of the data: more would cover the surface
POINTS_PER_INCH = 72.0  # of print, matplotlib's unit


def point_area(n_points: int) -> float:
    """Area of a point, in square points of print: smaller where there are many."""
    return float(np.clip(24 - 5 * np.log10(max(n_points, 1) / 30), 7, 24))


def draw_points(
    ax: Axes,
    x: NDArray[np.float64],
    y: NDArray[Any],
    style: Style | None = None,
    **style_kwargs: Any,
) -> PathCollection:
    """Points drawn with `style_kwargs`, overruled by the user's style."""
    from matplotlib.collections import PathCollection

    style_kwargs = {"rasterized": len(x) > MANY_POINTS, **style_kwargs}
    return ax.scatter(x, y, **merge_styles(style_kwargs, style, PathCollection))


def draw_shaded_points(
    ax: Axes,
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    shades: NDArray[np.float64],
    style: Style | None,
    *,
    area: float,
    limits: tuple[float, float] = (0, 1),
) -> tuple[PathCollection | None, PathCollection | None]:
    """Points coloured by numbers; points without a number are grey and lie behind.

    Parameters
    ----------
    ax : Axes
        Where to draw.
    x, y : ndarray of shape (n,)
        Positions.
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

    has_number = np.isfinite(shades)
    style_kwargs: Style = {"linewidth": 0, "alpha": 0.85, "zorder": 2.5}
    style_kwargs["rasterized"] = len(x) > MANY_POINTS
    style = merge_styles(style_kwargs, style, PathCollection)
    if "c" in style:  # as matplotlib's scatter calls it
        style["color"] = style.pop("c")
    # Set when points are made; the other properties afterwards.
    scatter_kwargs = {"s": style.pop("s", area), "marker": style.pop("marker", None)}
    shaded = grey = None
    if not has_number.all():
        grey = ax.scatter(x[~has_number], y[~has_number], **scatter_kwargs)
        grey.set(**{"facecolor": NEUTRAL_COLOUR, **style, "zorder": 2.4})
    if has_number.any():
        shaded = ax.scatter(x[has_number], y[has_number], **scatter_kwargs)
        if not {"color", "facecolor"} & style.keys():
            shaded.set_array(shades[has_number])
            shaded.set(cmap=feature_map(ax), clim=limits)
        shaded.set(**style)
    return shaded, grey


def swarm_sizes(ax: Axes, n_rows: int, area: float) -> tuple[int, float]:
    """Number of bins along an axes, and a point's diameter in rows."""
    width, height = axes_inches(ax)
    diameter = np.sqrt(area) / POINTS_PER_INCH
    n_bins = max(int(width / diameter), 10)
    return n_bins, float(diameter * n_rows / max(height, 0.1))


def swarm_offsets(
    values: NDArray[np.float64],
    limits: tuple[float, float],
    *,
    n_bins: int,
    diameter: float,
    reach: float = 0.4,
) -> NDArray[np.float64]:
    """Offsets across a row that spread points of nearly equal values: a swarm.

    The row is cut into `n_bins` between the `limits`. The points of a bin stand side by
    side across the row, centred; a point has the `diameter`, in heights of a row. If
    the fullest bin would be wider than `reach` to each side, the widths of all bins are
    reduced. Larger widths are reduced by more, but fuller bins stay wider.
    """
    bins = np.zeros(len(values), dtype=np.intp)
    if limits[1] > limits[0]:
        share = shares_of_range(values, *limits)
        bins = np.clip(share * n_bins, 0, n_bins - 1).astype(np.intp)
    counts = np.bincount(bins)
    widths = (counts - 1.0) * diameter
    widest = max(widths.max(initial=0.0), 2 * reach)
    reduced = 2 * reach * np.sqrt(np.maximum(widths, 0) / widest)
    steps = np.minimum(widths, reduced) / np.maximum(counts - 1, 1)
    order = np.lexsort((values, bins))
    sorted_bins = bins[order]
    starts = (np.cumsum(counts) - counts)[sorted_bins]
    ranks = np.arange(len(values)) - starts  # within the bin
    offsets = np.empty(len(values))
    offsets[order] = _centre_out(ranks, counts[sorted_bins]) * steps[sorted_bins]
    return offsets


def _centre_out(
    ranks: NDArray[np.intp], sizes: NDArray[np.intp]
) -> NDArray[np.float64]:
    """Positions -(size - 1) / 2, ..., (size - 1) / 2, from the middle outwards."""
    odd = np.where(ranks % 2, 1, -1) * np.ceil(ranks / 2)
    even = np.where(ranks % 2, -1, 1) * (np.floor(ranks / 2) + 0.5)
    return np.where(sizes % 2, odd, even) + 0.0  # no negative zero


def clipped_range(
    values: NDArray[np.float64], share: float = 0.05
) -> tuple[float, float]:
    """Range of numbers without a share in each tail, if more than one number is left.

    NaN is left out. Both ends are equal if all numbers are equal, and zero if there are
    no numbers.
    """
    finite = values[np.isfinite(values)]
    if not len(finite):
        return 0.0, 0.0
    for tail in (share, share / 5):
        low, high = weighted_quantile(finite, [tail, 1 - tail])
        if low < high:
            return float(low), float(high)
    return float(finite.min()), float(finite.max())


def shares_of_range(
    values: NDArray[np.float64], low: float, high: float
) -> NDArray[np.float64]:
    """Numbers as shares of a range, cut at its ends; NaN stays, equal ends give 1/2."""
    # The difference of huge numbers may overflow; that of halves does not.
    if low / 2 == high / 2:
        return np.where(np.isfinite(values), 0.5, np.nan)
    return np.clip((values / 2 - low / 2) / (high / 2 - low / 2), 0, 1)


def draw_positions(
    ax: Axes, x: NDArray[np.float64], y: NDArray[np.float64], style: Style | None
) -> PathCollection:
    """Small transparent points at some of the data, within the axes' present range."""
    (left, right), (bottom, top) = sorted(ax.get_xlim()), sorted(ax.get_ylim())
    inside = np.flatnonzero((x >= left) & (x <= right) & (y >= bottom) & (y <= top))
    if len(inside) > MAX_POSITIONS:
        inside = np.random.default_rng(0).choice(inside, MAX_POSITIONS, replace=False)
    style_kwargs: Style = {"facecolors": "white", "edgecolors": "black", "s": 8}
    style_kwargs |= {"linewidths": 0.5, "alpha": 0.55}
    # The points are within the range, and add no margin.
    limits = ax.get_xlim(), ax.get_ylim()
    points = draw_points(ax, x[inside], y[inside], style, **style_kwargs)
    ax.set(xlim=limits[0], ylim=limits[1])
    return points


def jitter_positions(positions: NDArray[np.float64], seed: int) -> NDArray[np.float64]:
    """Positions of levels with a jitter that depends on the seed alone."""
    return positions + np.random.default_rng(seed).uniform(-0.3, 0.3, len(positions))
