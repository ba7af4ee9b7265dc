"""Bars, boxes, spreads and null distributions on the lines of an axes."""

from dataclasses import dataclass, field

import numpy as np

from sklearn_interpret._plotting.axes import merged_style
from sklearn_interpret._plotting.labels import NEUTRAL_COLOUR, colours
from sklearn_interpret.importance._plot._lines import deviation

THICKNESS = 0.78
PALE = 0.35
SPREAD_STYLE = {"color": "0.15", "linewidth": 1.1, "zorder": 2.6}
MEDIAN_STYLE = {"color": "black", "linewidth": 1.4, "zorder": 2.6}
NULL_STYLE = {"color": "black", "linewidth": 2.2, "zorder": 2.5}


@dataclass
class Marks:
    """Artists of a display of importances, and how far they reach.

    Parameters
    ----------
    bars : list of BarContainer
        Of each sample, bars or boxes.
    spreads : list of LineCollection
        Of each sample, lines for the spread, or the whiskers of the boxes.
    points : list of PathCollection
        Of each sample, its folds, or where a null distribution has the boxes, the
        importances.
    null : artist or None
        The null distribution.
    ends : list of ndarray of shape (n_lines,)
        Places that the axis must hold.
    """

    bars: list = field(default_factory=list)
    spreads: list = field(default_factory=list)
    points: list = field(default_factory=list)
    null: object = None
    ends: list = field(default_factory=list)


def offsets(n_samples):
    """Where the bars of each sample stand across a line, and how thick they are."""
    thickness = THICKNESS / n_samples
    return ((n_samples - 1) / 2 - np.arange(n_samples)) * thickness, thickness


def draw_bars(ax, lines, *, no_effect, alpha, as_points, style):
    """Bars for the means, with their spread; a null distribution as a line on them.

    Parameters
    ----------
    ax : Axes
        Where to draw.
    lines : Lines
        What to draw.
    no_effect : float
        Where bars start.
    alpha : float or None
        Bars of p-values that are not below it are pale.
    as_points : bool
        Whether the draws are shown as points, and not as their spread.
    style : dict or None
        Of the bars.

    Returns
    -------
    Marks
    """
    marks = Marks()
    places = np.arange(len(lines))[::-1]
    across, thickness = offsets(len(lines.samples))
    for place, draws, colour in zip(
        across, lines.samples, colours(len(lines.samples)), strict=True
    ):
        means = draws.mean(axis=1)
        bars = _bars(ax, places + place, no_effect, means, thickness, colour, style)
        _mute(bars, lines, alpha, draws.shape[1], len(lines.samples))
        marks.bars.append(bars)
        marks.ends.append(means)
        if draws.shape[1] == 1:
            continue
        if as_points:
            marks.points.append(_fold_points(ax, draws, places + place))
            marks.ends += [draws.min(axis=1), draws.max(axis=1)]
        else:
            low, high = means - deviation(draws), means + deviation(draws)
            marks.spreads.append(ax.hlines(places + place, low, high, **SPREAD_STYLE))
            marks.ends += [low, high]
    if lines.null is not None:
        low, high = null_ends(lines.null, alpha)
        seam = {**NULL_STYLE, "color": "white", "linewidth": 5, "zorder": 2.4}
        ax.hlines(places, low, high, **seam)  # to stand out against the bars
        marks.null = ax.hlines(places, low, high, **NULL_STYLE)
        marks.ends += [low, high]
    return marks


def null_ends(null, alpha):
    """Quantiles of the null distribution that are shown."""
    tail = 0.05 if alpha is None else alpha
    return np.quantile(null, [tail, 1 - tail], axis=1)


def draw_boxes(ax, lines, *, style):
    """Boxes from quartile to quartile, with whiskers to the smallest and largest draw.

    Where there is a null distribution the boxes are its, and points the importances.

    Returns
    -------
    Marks
    """
    marks = Marks()
    places = np.arange(len(lines))[::-1]
    samples = lines.samples if lines.null is None else [lines.null]
    shades = colours(len(samples)) if lines.null is None else [NEUTRAL_COLOUR]
    across, thickness = offsets(len(samples))
    for place, draws, colour in zip(across, samples, shades, strict=True):
        low, first, middle, third, high = np.quantile(
            draws, [0, 0.25, 0.5, 0.75, 1], axis=1
        )
        at = places + place
        marks.spreads.append(ax.hlines(at, low, high, **{**SPREAD_STYLE, "zorder": 1}))
        # Edges of the same colour, so that a box without width is seen, and a median
        # that leaves its ends free.
        looks = {"edgecolor": colour, "linewidth": 1.2, **(style or {})}
        boxes = _bars(ax, at, first, third, 0.8 * thickness, colour, looks)
        marks.bars.append(boxes)
        half = 0.22 * thickness
        ax.vlines(middle, at - half, at + half, **MEDIAN_STYLE)
        marks.ends += [low, high]
    if lines.null is not None:
        marks.null = marks.bars[0]
        for draws in lines.samples:
            means = draws.mean(axis=1)
            looks = {"s": 30, "marker": "D", "color": colours(1)[0], "zorder": 3}
            marks.points.append(ax.scatter(means, places, **looks))
            marks.ends.append(means)
    return marks


def _bars(ax, places, starts, stops, thickness, colour, style):
    from matplotlib.patches import Rectangle

    defaults = {"facecolor": colour, "edgecolor": "white", "linewidth": 0.5}
    return ax.barh(
        places,
        stops - starts,
        left=starts,
        height=thickness,
        **merged_style({**defaults, "zorder": 2}, style, Rectangle),
    )


def _mute(bars, lines, alpha, n_draws, n_samples):
    """Pale bars for what is not significant, a grey one for the others."""
    if lines.pvalues is not None and alpha is not None:
        for patch, pvalue in zip(bars.patches, lines.pvalues, strict=True):
            if pvalue >= alpha:
                patch.set_alpha(PALE)
    if lines.n_others and n_samples == 1:
        bars.patches[-1].set_facecolor(NEUTRAL_COLOUR)


def _fold_points(ax, draws, places):
    looks = {"s": 14, "facecolor": "white", "edgecolor": "black", "linewidth": 0.8}
    at = np.repeat(places, draws.shape[1])
    return ax.scatter(draws.ravel(), at, zorder=3, **looks)
