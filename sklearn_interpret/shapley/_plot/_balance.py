"""Forces that balance at predictions: arrows for one row, areas for many."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from sklearn_interpret._plotting.axes import axes_inches, merged_style, side_legend
from sklearn_interpret._plotting.bars import draw_arrows
from sklearn_interpret._plotting.colours import (
    DOWN_COLOUR,
    NEUTRAL_COLOUR,
    OKABE_ITO,
    READ,
    UP_COLOUR,
    colours,
    ink,
    paper,
    seen,
    shade,
    sign_colours,
)
from sklearn_interpret._plotting.labels import (
    column_texts,
    literal,
    number_beside,
    plain_number_ticks,
)
from sklearn_interpret.shapley._plot._rows import draw_steps

ARROW_HEIGHT = 0.8
N_LINES = 5
FIRST_LINE, LINE_HEIGHT = -0.85, 0.52
ENDS_LINE = 0.55
MOST_NAMED = 14
SMALL_PER_INCH = 13  # small letters


@dataclass
class Balance:
    """Artists: arrows and labels for one row, areas for many."""

    base: Any
    prediction: Any
    legend: Any
    ups: Any = None
    downs: Any = None
    labels: Any = ()
    areas: Any = ()


def force_edges(prediction, contributions):
    """Segments that push towards the prediction, from below and from above.

    Positive contributions stand below the prediction and negative ones above it, the
    first of each kind next to it. Returns the end of each segment that is away from the
    prediction, and the one towards it, of the shape (p,) or (n, p) of `contributions`.
    """
    up = np.maximum(contributions, 0.0)
    down = np.maximum(-contributions, 0.0)
    before = np.where(
        contributions > 0,
        up - np.cumsum(up, axis=-1),
        np.cumsum(down, axis=-1) - down,
    )
    near = np.asarray(prediction)[..., None] + before
    return near - contributions, near


def draw_balance(ax, pushes, texts, *, base, prediction, style):
    """Arrows of one row's pushes (p,) that meet at the prediction, names below them."""
    far, near = force_edges(prediction, pushes)
    edges = np.concatenate([far, near, [base, prediction]])
    low, high = edges.min(), edges.max()
    span = (high - low) or max(abs(low), 1.0) * 0.1
    ax.set_xlim(low - 0.05 * span, high + 0.05 * span)
    plain_number_ticks(ax, most=8)
    ups, downs = (
        draw_arrows(
            ax,
            far[mask],
            near[mask],
            np.zeros(mask.sum()),
            ARROW_HEIGHT,
            0.008 * span,
            colour,
            style,
            notched=True,
        )
        for mask, colour in ((pushes > 0, UP_COLOUR), (pushes < 0, DOWN_COLOUR))
    )
    labels, lowest = _name_pushes(ax, (far + near) / 2, pushes, texts)
    prediction_line, base_line, highest = _mark_ends(ax, prediction, base, high - low)
    ax.set_ylim(lowest - 0.45, highest + 0.5)
    ax.set_yticks([])
    ax.spines[["top", "right", "left"]].set_visible(False)
    legend = _explain_colours(ax)
    return Balance(base_line, prediction_line, legend, ups, downs, labels)


def _name_pushes(ax, centres, pushes, texts):
    """Names below the arrows, as far as there is room; and how low they reach."""
    texts = [
        f"{text} ({push})"
        for text, push in zip(texts, column_texts(pushes, signed=True), strict=True)
    ]
    lines, places = _lines(ax, centres, texts, N_LINES)
    shades = [seen(colour, ax, READ) for colour in sign_colours(pushes)]
    labels, box = [], _box(ax)
    for label in np.flatnonzero(lines >= 0):
        centre, place, colour = centres[label], places[label], shades[label]
        y = FIRST_LINE - LINE_HEIGHT * lines[label]
        ax.plot(
            [centre, centre, place],
            [-ARROW_HEIGHT / 2, y + 0.32, y + 0.18],
            color=colour,
            linewidth=0.6,
            alpha=0.6,
            zorder=1,
        )
        looks = {"fontsize": "small", "color": colour, "zorder": 3, "bbox": box}
        text = literal(texts[label])
        labels.append(ax.text(place, y, text, ha="center", va="center", **looks))
    return labels, FIRST_LINE - LINE_HEIGHT * lines.max(initial=0)


def _mark_ends(ax, prediction, base, span):
    """Lines at both ends, named above the arrows; and how high these names reach."""
    ends = np.array([prediction, base])
    names = "prediction f(x)", "base value"
    texts = [
        f"{name} = {number_beside(end, span)}"
        for name, end in zip(names, ends, strict=True)
    ]
    lines, places = _lines(ax, ends, texts, 2)
    heights = ENDS_LINE + LINE_HEIGHT * lines
    drawn, box = [], _box(ax)
    for i, (colour, dashes) in enumerate(((ink(ax), "-"), (shade(ax, 0.65), "--"))):
        x, y = [ends[i], ends[i]], [-ARROW_HEIGHT / 2, heights[i]]
        style = {"linewidth": 1.2, "linestyle": dashes, "zorder": 2.5}
        drawn += ax.plot(x, y, color=colour, **style)
        looks = {"fontsize": "small", "color": colour, "bbox": box}
        at = places[i], heights[i] + 0.03
        ax.text(*at, texts[i], ha="center", va="bottom", **looks)
    return *drawn, heights.max()


def _box(ax):
    return {"facecolor": paper(ax), "edgecolor": "none", "pad": 0.8}


def _lines(ax, centres, texts, n_lines):
    limits = ax.get_xlim()
    per_character = np.ptp(limits) / axes_inches(ax)[0] / SMALL_PER_INCH
    widths = np.array([len(text) + 2 for text in texts]) * per_character
    return label_lines(centres, widths, limits, n_lines)


def label_lines(centres, widths, limits, n_lines):
    """Lines of text on which labels do not overlap, the first labels served first.

    Returns the line of each label (-1 where there is no room), and the centres, moved
    so that labels end within the limits.
    """
    low, high = limits
    half = np.asarray(widths) / 2
    centres = np.maximum(np.minimum(centres, high - half), low + half)
    lines = np.full(len(centres), -1, dtype=np.intp)
    for label in range(len(centres)):
        apart = np.abs(centres[:label] - centres[label]) >= half[:label] + half[label]
        taken = set(lines[:label][~apart].tolist())
        free = [line for line in range(n_lines) if line not in taken]
        if free:
            lines[label] = free[0]
    return lines, centres


def _explain_colours(ax):
    from matplotlib.patches import Patch

    return ax.legend(
        handles=[
            Patch(color=seen(UP_COLOUR, ax), label="raises the prediction"),
            Patch(color=seen(DOWN_COLOUR, ax), label="lowers the prediction"),
        ],
        loc="lower left",
        bbox_to_anchor=(0, 1),
        ncols=2,
        fontsize="small",
        frameon=False,
        borderaxespad=0.1,
    )


def draw_balances(ax, pushes, names, *, n_alone, bases, predictions, style):
    """Areas for the pushes (n_rows, p): those that raise a prediction are below it.

    The first `n_alone` pushes are those of one feature each; the others are grey.
    """
    far, near = force_edges(predictions, pushes)
    # Black is the line's colour.
    palette = colours(n_alone + (n_alone >= len(OKABE_ITO)))[:n_alone]
    palette += [NEUTRAL_COLOUR] * (pushes.shape[1] - n_alone)
    areas = [
        _draw_area(ax, outer, inner, colour, style)
        for outer, inner, colour in zip(far.T, near.T, palette, strict=True)
    ]
    thick = 1.3 if len(predictions) <= 200 else 0.8
    line = draw_steps(ax, predictions, color=ink(ax), linewidth=thick)
    base = draw_steps(ax, bases, color=shade(ax, 0.75), linewidth=1.0, linestyle="--")
    ax.set_xlim(-0.5, len(predictions) - 0.5)
    ax.margins(y=0.04)
    plain_number_ticks(ax, "y")
    ax.spines[["top", "right"]].set_visible(False)
    legend = side_legend(
        ax,
        [line, base, *areas[:MOST_NAMED]],
        ["prediction f(x)", "base value", *names[:MOST_NAMED]],
        title="below f(x): raises it\nabove f(x): lowers it",
    )
    return Balance(base, line, legend, areas=areas)


def _draw_area(ax, far, near, colour, style):
    """One part's pushes in all rows, as one artist."""
    from matplotlib.collections import PolyCollection

    edges = np.arange(len(far) + 1) - 0.5
    x = np.repeat(edges, 2)[1:-1]
    there = np.column_stack([x, np.repeat(far, 2)])
    back = np.column_stack([x, np.repeat(near, 2)])[::-1]
    looks = {"facecolor": colour, "edgecolor": "none", "alpha": 0.9, "zorder": 1.5}
    looks = merged_style(looks, style, PolyCollection)
    area = PolyCollection([np.vstack([there, back])], **looks)
    ax.add_collection(area)
    return area
