"""Bars for ranked features: names to the left, numbers at the ends."""

import numpy as np

from sklearn_interpret._plotting.axes import merged_style, named_legend
from sklearn_interpret._plotting.bars import (
    draw_arrows,
    draw_bars,
    draw_spreads,
    label_ends,
    name_rows,
    reach_ends,
)
from sklearn_interpret._plotting.colours import (
    DOWN_COLOUR,
    UP_COLOUR,
    colours,
    paper,
    seen,
    shade,
    sign_colours,
)
from sklearn_interpret._plotting.labels import column_texts, plain_number_ticks

BAR_HEIGHT = 0.7  # of the distance from bar to bar


def draw_ranked_bars(
    ax, names, values, style, *, palette=None, margins=0.0, reach=None, texts=None
):
    """Draw a bar to the left or right of zero for each number, the first on top.

    Parameters
    ----------
    ax : Axes
        Where to draw.
    names : list of str
        Names of the bars; further ones leave room below.
    values : ndarray of shape (n,)
        Lengths of the bars.
    style : dict or None
        Style of the bars.
    palette : list of colours, default=None
        Colours of the bars. None takes those of the signs.
    margins : float or ndarray of shape (n,), default=0.0
        Half lengths of the error lines around the ends of the bars; zero for none.
    reach : float, default=None
        Distance from zero to the ends of the axis. None takes the longest bar.
    texts : list of str, default=None
        Texts at the ends of the bars. None writes the values.

    Returns
    -------
    bars : BarContainer
    errors : LineCollection or None
    """
    places = np.arange(len(names))[::-1][: len(values)]
    name_rows(ax, names)
    palette = sign_colours(values) if palette is None else palette
    bars = draw_bars(ax, places, values, palette, style, height=BAR_HEIGHT)
    ax.axvline(0, color=shade(ax, 0.6), linewidth=0.8, zorder=2.5)
    errors = None
    if np.any(margins):
        low, high = values - margins, values + margins
        errors = draw_spreads(ax, places, low, high, linewidth=1.0, zorder=3)
    texts = column_texts(values, signed=True) if texts is None else texts
    reach = np.abs(values).max(initial=0.0) if reach is None else reach
    reach_ends(ax, values, reach or 1.0, max(map(len, texts), default=0))
    ends = values + np.where(values < 0, -1, 1) * margins
    label_ends(ax, ends, places, values, texts=texts, signed=True, gap=3)
    plain_number_ticks(ax)
    ax.spines[["top", "right", "left"]].set_visible(False)
    return bars, errors


def draw_stacked_bars(ax, places, lengths, style, *, height, upright=False):
    """Draw bars of parts on each other; one BarContainer for each part.

    Parameters
    ----------
    ax : Axes
        Where to draw.
    places : ndarray of shape (n_bars,)
        Middles of the bars.
    lengths : ndarray of shape (n_bars, n_parts)
        Lengths of the parts.
    style : dict or None
        Style of the bars.
    height : float
        Breadth of the bars.
    upright : bool, default=False
        Whether the bars are vertical.
    """
    from matplotlib.patches import Rectangle

    starts = np.cumsum(lengths, axis=1) - lengths
    palette = colours(lengths.shape[1])
    draw, bars = ax.bar if upright else ax.barh, []
    for part, start, colour in zip(lengths.T, starts.T, palette, strict=True):
        looks = {"color": seen(colour, ax), "edgecolor": paper(ax), "linewidth": 0.5}
        looks = merged_style({**looks, "zorder": 2}, style, Rectangle)
        bars.append(draw(places, part, height, start, **looks))
    return bars


def draw_signed_arrows(ax, starts, ends, places, height, head, style, *, notched=False):
    """Draw arrows up and arrows down in the colours of the signs.

    Parameters are those of `draw_arrows`. Returns the two PolyCollections.
    """
    parts = (ends >= starts, UP_COLOUR), (ends < starts, DOWN_COLOUR)
    return [
        draw_arrows(
            *(ax, starts[mask], ends[mask], places[mask], height, head, colour, style),
            notched=notched,
        )
        for mask, colour in parts
    ]


def sign_legend(ax, up, down):
    """A legend above an axes for the colours of the two signs."""
    from matplotlib.patches import Patch

    handles = [Patch(color=seen(colour, ax)) for colour in (UP_COLOUR, DOWN_COLOUR)]
    place = {"loc": "lower left", "bbox_to_anchor": (0, 1), "ncols": 2}
    looks = {"frameon": False, "fontsize": "small", **place}
    return named_legend(ax, handles, [up, down], **looks)
