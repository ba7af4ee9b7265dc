"""Points coloured by the values of another feature."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sklearn_interpret._plotting.axes import SIDE_WIDTH, side_legend
from sklearn_interpret._plotting.labels import (
    DOWN_COLOUR,
    NEUTRAL_COLOUR,
    colours,
    feature_map,
    literal,
    shorten,
)
from sklearn_interpret._plotting.points import clipped_range, draw_shaded_points

MAX_COLOURS = 6


@dataclass
class Shaded:
    """What was drawn."""

    points: list = field(default_factory=list)
    grey: Any = None
    colorbar: Any = None
    legend: Any = None


def draw_with_companion(ax, x, y, companion, style, *, area, explained):
    """Points coloured by a scale of numbers, by levels, or in one colour.

    Parameters
    ----------
    ax : Axes
        Where to draw.
    x, y : ndarray of shape (n,)
        Places.
    companion : FeatureValues or None
        What colours them; None gives one colour.
    style : dict or None
        Of the points.
    area : float
        Of a point.
    explained : bool
        Whether a bar or a legend explains the colours.

    Returns
    -------
    Shaded
    """
    style = style or {}
    if companion is None:
        shades = np.full(len(x), np.nan)
        one_colour = {"facecolor": DOWN_COLOUR, **style}
        _, points = draw_shaded_points(ax, x, y, shades, one_colour, area=area)
        return Shaded([points])
    if companion.levels is not None:
        return _draw_levels(ax, x, y, companion, style, area, explained)
    limits = clipped_range(companion.numbers)
    if limits[0] == limits[1]:  # one colour needs a range to stand in
        limits = limits[0] - 0.5, limits[0] + 0.5
    points, grey = draw_shaded_points(
        ax, x, y, companion.numbers, style, area=area, limits=limits
    )
    drawn = Shaded([] if points is None else [points], grey)
    if explained and points is not None and points.get_array() is not None:
        drawn.colorbar = _add_bar(ax, points, companion, limits, grey is not None)
    return drawn


def _add_bar(ax, points, companion, limits, has_grey):
    from matplotlib.ticker import MaxNLocator

    known = companion.numbers[companion.known]
    below, above = known.min() < limits[0], known.max() > limits[1]
    extend = {(0, 0): "neither", (1, 0): "min", (0, 1): "max"}.get(
        (int(below), int(above)), "both"
    )
    whole = bool(np.all(known == np.round(known)))
    bar = ax.figure.colorbar(
        points,
        ax=ax,
        extend=extend,
        ticks=MaxNLocator(nbins=6, integer=whole),
        aspect=30,
        pad=0.02,
    )
    bar.outline.set_visible(False)
    bar.solids.set_alpha(1)
    label = shorten(companion.name)
    bar.set_label(literal(f"{label}\n(grey: missing)" if has_grey else label))
    return bar


def _draw_levels(ax, x, y, companion, style, area, explained):
    """One colour for each level; the rarest levels share a grey where they are many."""
    texts = companion.level_texts
    counts = np.bincount(
        companion.numbers[companion.known].astype(np.intp), minlength=len(texts)
    )
    named = np.arange(len(texts))
    if len(texts) > MAX_COLOURS:
        named = np.sort(np.argsort(-counts, kind="stable")[: MAX_COLOURS - 1])
    palette = colours(max(len(named), 1))
    if companion.ordered:
        palette = list(feature_map()(np.linspace(0, 1, max(len(named), 1))))
    drawn, handles, labels = Shaded(), [], []
    left = np.ones(len(x), dtype=bool)
    for level, colour in zip(named, palette, strict=False):
        mask = companion.numbers == level
        left &= ~mask
        if mask.any():
            points = _draw_plain(ax, x[mask], y[mask], colour, style, area)
            drawn.points.append(points)
            handles.append(points)
            labels.append(texts[level])
    if left.any():
        drawn.grey = _draw_plain(ax, x[left], y[left], NEUTRAL_COLOUR, style, area)
        handles.append(drawn.grey)
        labels.append(_rest_text(companion, len(texts) - len(named)))
    if explained:
        drawn.legend = side_legend(
            ax,
            handles,
            labels,
            title=literal(shorten(companion.name, SIDE_WIDTH)),
            scatterpoints=1,
            markerscale=1.6,
        )
    return drawn


def _draw_plain(ax, x, y, colour, style, area):
    shades = np.full(len(x), np.nan)
    style = {"facecolor": [colour], **style}
    return draw_shaded_points(ax, x, y, shades, style, area=area)[1]


def _rest_text(companion, n_others):
    parts = [f"{n_others} others"] if n_others else []
    if not companion.known.all():
        parts.append("missing")
    return ", ".join(parts)
