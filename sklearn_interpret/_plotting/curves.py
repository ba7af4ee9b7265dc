"""Lines, bands, rugs and histograms on given axes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_interpret._plotting.colours import ink, paper, shade, stand_out, text_on
from sklearn_interpret._plotting.labels import literal, wrap_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import Collection, LineCollection, PolyCollection
    from matplotlib.lines import Line2D
    from matplotlib.typing import ColorType

    from sklearn_interpret._plotting.axes import Style

# More values are drawn by quantiles: 200 ticks of 0.7 points cover two thirds of the
# width of an axes of 2.9 inches.
MAX_RUG_TICKS = 200
FEW_POINTS = 12  # lines of at most this number of points mark them
# Heights of marks of the data at the bottom, in shares of the axes.
RUG_HEIGHT = 0.045
BAR_HEIGHT = 0.07
HISTOGRAM_HEIGHT = 0.14
MAX_BINS = 50  # of a histogram: bars of 4 points in a panel of 2.9 inches
STEP_TOLERANCE = 1e-3  # deviation of values from equal steps, in steps: rounding


def draw_line(
    ax: Axes,
    x: NDArray[np.float64] | list[float],
    y: NDArray[np.float64] | list[float],
    colour: ColorType,
    style: Style | None,
    *,
    as_points: bool = False,
    across: bool = False,
) -> Line2D:
    """A line, or only points; a line of few points has markers.

    In all functions that take it, `across` exchanges the axes.
    """
    style_kwargs: Style = {
        "color": stand_out(colour, ax),
        "linewidth": 2.0,
        "zorder": 3,
    }
    if as_points:
        style_kwargs |= {"linestyle": "none", "marker": "o", "markersize": 5.5}
    elif len(x) <= FEW_POINTS:
        style_kwargs |= {"marker": "o", "markersize": 5}
    x, y = (y, x) if across else (x, y)
    (line,) = ax.plot(x, y, **style_kwargs)
    line.set(**(style or {}))
    return line


def draw_thin_lines(
    ax: Axes,
    x: NDArray[np.float64],
    curves: NDArray[np.float64] | list[NDArray[np.float64]],
    colour: ColorType,
    style: Style | None,
    *,
    as_points: bool = False,
    across: bool = False,
) -> list[Line2D]:
    """One thin line, or row of small points, for each of `curves` (n, G)."""
    style_kwargs: Style = {
        "color": stand_out(colour, ax),
        "linewidth": 0.9,
        "alpha": 0.45,
    }
    if as_points or len(x) == 1:
        style_kwargs |= {"linestyle": "none", "marker": "o", "markersize": 3}
    pairs = [(curve, x) if across else (x, curve) for curve in curves]
    lines = [ax.plot(*pair, zorder=2.5, **style_kwargs)[0] for pair in pairs]
    for line in lines:
        line.set(**(style or {}))
    return lines


def draw_aside(
    ax: Axes, x: float, values: ArrayLike, colours: Sequence[ColorType], text: str
) -> list[Line2D]:
    """Hollow marks to the right of the lines, with a name above or below them."""
    numbers = np.asarray(values, dtype=np.float64)
    are_low = numbers.mean() < np.mean(ax.get_ylim())
    ax.text(
        x,
        0.97 if are_low else 0.03,
        text,
        transform=ax.get_xaxis_transform(),
        rotation=90,
        ha="center",
        va="top" if are_low else "bottom",
        fontsize="x-small",
        color=shade(ax, 0.7),
    )
    style: Style = {"marker": "D", "markersize": 6, "linestyle": "none", "zorder": 3}
    style["markerfacecolor"] = paper(ax)
    return [
        ax.plot([x], [value], color=stand_out(colour, ax), **style)[0]
        for value, colour in zip(numbers, colours, strict=True)
    ]


def draw_curves(
    ax: Axes,
    x: NDArray[np.float64],
    curves: NDArray[np.float64],
    colours: Sequence[ColorType],
    style: Style | None,
    *,
    across: bool = False,
) -> LineCollection:
    """Many transparent curves (n, G) as one artist, of one colour or one each."""
    from matplotlib.collections import LineCollection

    # The same transparency is invisible on dark paper.
    highest = 0.6 if text_on(paper(ax)) == "black" else 0.9
    alpha = float(np.clip(50 * highest / max(len(curves), 1), 0.1, highest))
    if len(colours) > 1:  # readers compare the colours of single curves
        alpha = max(alpha, 0.5)
    style_kwargs: Style = {"alpha": alpha, "linewidths": 0.8, "zorder": 2}
    palette = [stand_out(each, ax) for each in colours]
    segments = [np.column_stack([x, curve]) for curve in curves]
    if across:
        segments = [segment[:, ::-1] for segment in segments]
    collection = LineCollection(segments, colors=palette, **style_kwargs)
    collection.set(**(style or {}))
    ax.add_collection(collection)
    return collection


def draw_band(
    ax: Axes,
    x: NDArray[np.float64],
    low: NDArray[np.float64],
    high: NDArray[np.float64],
    colour: ColorType,
    style: Style | None,
    *,
    as_points: bool = False,
    across: bool = False,
) -> Collection:
    """A band around a line, or error bars around points."""
    draw: Callable[..., Collection]
    if as_points or len(x) == 1:
        draw = ax.hlines if across else ax.vlines
        style_kwargs: Style = {"colors": [stand_out(colour, ax)], "linewidths": 1.6}
        style_kwargs["zorder"] = 2.8
    else:
        draw = ax.fill_betweenx if across else ax.fill_between
        # The same transparency is invisible on dark paper.
        alpha = 0.2 if text_on(paper(ax)) == "black" else 0.45
        style_kwargs = {
            "facecolor": stand_out(colour, ax),
            "alpha": alpha,
            "linewidth": 0,
        }
        style_kwargs["zorder"] = 1.5
    band = draw(x, low, high, **style_kwargs)
    band.set(**(style or {}))
    return band


def rug_ticks(
    values: NDArray[np.float64], low: float, high: float
) -> NDArray[np.float64]:
    """Values within [low, high]; quantiles of them where there are many."""
    values = np.sort(values[(values >= low) & (values <= high)])
    if len(values) > MAX_RUG_TICKS:
        ranks = np.linspace(0, len(values) - 1, MAX_RUG_TICKS).round().astype(np.intp)
        values = values[ranks]
    return values


def draw_rug(
    ax: Axes, values: NDArray[np.float64], low: float, high: float, style: Style | None
) -> LineCollection:
    """Ticks at the bottom for the data between the ends of the curve."""
    ticks = rug_ticks(values, low, high)
    segments = [[(tick, 0.0), (tick, RUG_HEIGHT)] for tick in ticks]
    return _draw_at_bottom(ax, segments, {"linewidths": 0.7, "alpha": 0.55}, style)


def draw_shares(
    ax: Axes, shares: NDArray[np.float64], style: Style | None, *, across: bool = False
) -> LineCollection:
    """Bars at the bottom (left) for the share of the data at each level."""
    scale = BAR_HEIGHT / max(shares.max(initial=0.0), 1e-300)
    segments = [
        [(level, 0.0), (level, share * scale)] for level, share in enumerate(shares)
    ]
    width = 6.0 if len(shares) <= 12 else 3.0
    style_kwargs: Style = {"linewidths": width, "alpha": 0.35, "capstyle": "butt"}
    return _draw_at_bottom(ax, segments, style_kwargs, style, across=across)


def rug_handle(rug: LineCollection, *, across: bool = False) -> Line2D:
    """Handle of a legend for a rug, or for bars of shares."""
    from matplotlib.lines import Line2D

    return Line2D(
        [],
        [],
        linestyle="none",
        marker="_" if across else "|",
        color=tuple(np.ravel(rug.get_color())[:4]),
        alpha=rug.get_alpha(),
        markersize=9,
        markeredgewidth=max(np.ravel(rug.get_linewidth())[0], 1),
    )


def draw_histogram(
    ax: Axes,
    values: NDArray[np.float64],
    style: Style | None,
    *,
    height: float = HISTOGRAM_HEIGHT,
) -> PolyCollection | None:
    """A histogram of the values at the bottom; its `height` is a share of the axes."""
    from matplotlib.collections import PolyCollection

    if not len(values):
        return None
    lefts, rights, counts = _histogram_bars(values, np.ptp(ax.get_xlim()) / 30)
    heights = height * counts / counts.max()
    zeros = np.zeros(len(counts))
    x = np.stack([lefts, lefts, rights, rights], axis=1)
    y = np.stack([zeros, heights, heights, zeros], axis=1)
    style_kwargs: Style = {"facecolor": shade(ax, 0.18), "edgecolor": paper(ax)}
    style_kwargs |= {"linewidth": 0.4, "zorder": 0.6}
    style_kwargs["transform"] = ax.get_xaxis_transform()
    bars = PolyCollection(list(np.stack([x, y], axis=2)[counts > 0]), **style_kwargs)
    bars.set(**(style or {}))
    # Heights are shares of the axes, and do not widen the range of values.
    ax.add_collection(bars, autolim=False)
    return bars


def _histogram_bars(
    values: NDArray[np.float64], most_width: float
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.intp]]:
    """Left and right ends of the bars, and the number of values in each.

    Few distinct values have a bar each, of at most `most_width`. Bars of whole numbers,
    or of other values in equal steps, hold the same number of steps.
    """
    distinct, counts = np.unique(values, return_counts=True)
    if len(distinct) <= FEW_POINTS:
        half = min(0.8 * np.diff(distinct).min(initial=np.inf), most_width) / 2
        return distinct - half, distinct + half, counts
    n_bins = int(np.clip(np.sqrt(len(values)) * 1.5, 5, MAX_BINS))
    edges = np.linspace(distinct[0], distinct[-1], n_bins + 1)
    step = np.diff(distinct).min()
    n_steps = (distinct - distinct[0]) / step
    if np.abs(n_steps - np.round(n_steps)).max() < STEP_TOLERANCE:
        steps_per_bin = np.ceil((n_steps[-1] + 1) / n_bins)
        n_bins = int(np.ceil((n_steps[-1] + 1) / steps_per_bin))
        edges = distinct[0] + step * (steps_per_bin * np.arange(n_bins + 1) - 0.5)
    bins = np.searchsorted(edges[1:-1], values, side="right")
    return edges[:-1], edges[1:], np.bincount(bins, minlength=n_bins)


def _draw_at_bottom(
    ax: Axes,
    segments: Sequence[Sequence[tuple[float, float]]],
    style_kwargs: Style,
    style: Style | None,
    *,
    across: bool = False,
) -> LineCollection:
    from matplotlib.collections import LineCollection

    transform = ax.get_xaxis_transform()
    if across:
        transform = ax.get_yaxis_transform()
        segments = [[(y, x) for x, y in segment] for segment in segments]
    style_kwargs |= {"colors": ink(ax), "zorder": 1, "transform": transform}
    collection = LineCollection(segments, **style_kwargs)
    collection.set(**(style or {}))
    # Heights are shares of the axes, and do not widen the range of values.
    ax.add_collection(collection, autolim=False)
    return collection


def note_empty(ax: Axes, text: str) -> None:
    """Write in the middle of the axes why nothing is drawn."""
    style: Style = {"ha": "center", "va": "center", "transform": ax.transAxes}
    ax.text(0.5, 0.5, text, wrap=True, **style)


def name_axes(
    ax: Axes, x: object = None, y: str | None = None, title: object = None
) -> None:
    """Set the labels that are given; names are drawn literally."""
    if x is not None:
        ax.set_xlabel(literal(wrap_name(x)))
    if y is not None:
        ax.set_ylabel(y)
    if title is not None:
        ax.set_title(literal(wrap_name(title)), fontsize="medium")
