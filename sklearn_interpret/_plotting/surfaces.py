"""Contours and heat maps on given axes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_interpret._plotting.axes import Style, merge_styles
from sklearn_interpret._plotting.colours import (
    DIVERGING_MAP,
    SEQUENTIAL_MAP,
    mix,
    paper,
)
from sklearn_interpret._plotting.labels import NICE_STEPS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.cm import ScalarMappable
    from matplotlib.collections import QuadMesh
    from matplotlib.colorbar import Colorbar
    from matplotlib.colors import Colormap
    from matplotlib.contour import QuadContourSet
    from matplotlib.patches import Patch

N_LEVELS = 12  # of contours: more are hard to distinguish


def colour_limits(
    values: NDArray[np.float64], *, diverging: bool = False, negligible: float = 0.0
) -> tuple[float, float]:
    """Range of values that the colours span; a diverging one is centred at zero.

    Numbers of a diverging range up to `negligible` are rounding errors, and have the
    colour of zero.
    """
    finite = values[np.isfinite(values)]
    low, high = (finite.min(), finite.max()) if len(finite) else (0.0, 1.0)
    if diverging:
        reach = max(abs(low), abs(high))
        reach = reach if reach > negligible else 1.0
        return -reach, reach
    if low == high:  # a colour needs a range around it
        return low - 0.5, high + 0.5
    return low, high


def draw_contours(
    ax: Axes,
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    values: NDArray[np.float64],
    limits: tuple[float, float],
    style: Style | None,
    *,
    diverging: bool = False,
) -> QuadContourSet:
    """Filled contours of `values` (len(x), len(y)), at round levels.

    A diverging scale has a step around zero, in the neutral colour.
    """
    from matplotlib.ticker import MaxNLocator

    locator = MaxNLocator(nbins=N_LEVELS, steps=NICE_STEPS, symmetric=diverging)
    levels = np.asarray(locator.tick_values(*limits))
    if diverging:
        half = (levels[1] - levels[0]) / 2
        levels = np.append(levels - half, levels[-1] + half)
    style_kwargs: Style = {
        "levels": levels,
        "cmap": _colour_map(diverging),
        **(style or {}),
    }
    return ax.contourf(x, y, np.ma.masked_invalid(values.T), **style_kwargs)


def draw_heat_map(
    ax: Axes,
    x_bounds: NDArray[np.float64],
    y_bounds: NDArray[np.float64],
    values: NDArray[np.float64],
    limits: tuple[float, float],
    style: Style | None,
    *,
    diverging: bool = False,
) -> QuadMesh:
    """Cells of `values` (len(x_bounds) - 1, len(y_bounds) - 1)."""
    from matplotlib.collections import QuadMesh

    style_kwargs: Style = {"cmap": _colour_map(diverging), "rasterized": True}
    style_kwargs |= {"vmin": limits[0], "vmax": limits[1], "linewidth": 0}
    style_kwargs = merge_styles(style_kwargs, style, QuadMesh)
    return ax.pcolormesh(
        x_bounds, y_bounds, np.ma.masked_invalid(values.T), **style_kwargs
    )


def draw_empty_cells(
    ax: Axes,
    x_bounds: NDArray[np.float64],
    y_bounds: NDArray[np.float64],
    empty: NDArray[np.bool_],
) -> Patch | None:
    """Hatch the cells (len(x_bounds) - 1, len(y_bounds) - 1) that hold no row.

    Returns
    -------
    Patch or None
        Their handle in a legend.
    """
    from matplotlib.collections import PolyCollection
    from matplotlib.patches import Patch

    if not empty.any():
        return None
    i, j = np.nonzero(empty)
    x = np.stack([x_bounds[i], x_bounds[i + 1], x_bounds[i + 1], x_bounds[i]], axis=1)
    y = np.stack([y_bounds[j], y_bounds[j], y_bounds[j + 1], y_bounds[j + 1]], axis=1)
    # No scale has these colours, in any style.
    style_kwargs: Style = {"facecolor": mix(paper(ax), "0.5", 0.6), "hatch": "///"}
    style_kwargs |= {"edgecolor": "0.4", "linewidth": 0}
    cells = PolyCollection(list(np.stack([x, y], axis=2)), zorder=1.2, **style_kwargs)
    ax.add_collection(cells, autolim=False)
    return Patch(**style_kwargs)


def colour_scale(colour_map: Colormap, limits: tuple[float, float]) -> ScalarMappable:
    """Colours by numbers, for a colour bar."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    return ScalarMappable(Normalize(*limits), colour_map)


def draw_colour_bar(
    axes: Axes | list[Axes], mappable: ScalarMappable, label: str
) -> Colorbar:
    """Colour bar of one or several axes of a figure, with few round ticks."""
    from matplotlib.ticker import MaxNLocator

    ticks = MaxNLocator(nbins=7, steps=NICE_STEPS)
    figure = (axes[0] if isinstance(axes, list) else axes).figure
    bar = figure.colorbar(mappable, ax=axes, ticks=ticks)
    bar.set_label(label)
    return bar


def _colour_map(diverging: bool) -> str:
    return DIVERGING_MAP if diverging else SEQUENTIAL_MAP


def cell_bounds(centres: ArrayLike) -> NDArray[np.float64]:
    """Ends of cells around increasing centres, half-way between them."""
    centres = np.asarray(centres, dtype=np.float64)
    if len(centres) == 1:
        return centres[0] + np.array([-0.5, 0.5])
    middle = (centres[:-1] + centres[1:]) / 2
    first = 2 * centres[0] - middle[0]
    last = 2 * centres[-1] - middle[-1]
    return np.concatenate([[first], middle, [last]])
