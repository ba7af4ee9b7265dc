"""The forces on one prediction, as arrows along a line."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from sklearn_interpret._plotting.attributions import draw_arrows
from sklearn_interpret._plotting.axes import axes_inches
from sklearn_interpret._plotting.labels import (
    CHARACTERS_PER_INCH,
    DOWN_COLOUR,
    UP_COLOUR,
    literal,
)
from sklearn_interpret._plotting.layouts import force_edges, label_lines
from sklearn_interpret._plotting.numbers import (
    number_beside,
    number_text,
    plain_number_ticks,
)

ARROW_HEIGHT = 0.8
N_LINES = 5
FIRST_LINE, LINE_HEIGHT = -0.85, 0.52
ENDS_LINE = 0.55


@dataclass
class Balance:
    """What was drawn for one row."""

    ups: Any
    downs: Any
    labels: list
    base: Any
    prediction: Any
    legend: Any


def draw_balance(ax, pushes, texts, *, base, prediction, style):
    """Draw arrows that meet at the prediction, and name them below.

    Parameters
    ----------
    ax : Axes
        Where to draw.
    pushes : ndarray of shape (p,)
        Signed lengths, the strongest first.
    texts : list of str
        What they stand for.
    base, prediction : float
        Where the forces lead from and to.
    style : dict or None
        Of the arrows.

    Returns
    -------
    Balance
    """
    far, near = force_edges(prediction, pushes)
    edges = np.concatenate([far, near, [base, prediction]])
    low, high = edges.min(), edges.max()
    span = (high - low) or max(abs(low), 1.0) * 0.1
    ax.set_xlim(low - 0.05 * span, high + 0.05 * span)
    plain_number_ticks(ax, most=8)
    arrows = []
    for mask, colour in ((pushes > 0, UP_COLOUR), (pushes < 0, DOWN_COLOUR)):
        arrows.append(
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
        )
    labels, lowest = _name_pushes(ax, (far + near) / 2, pushes, texts)
    lines, highest = _mark_ends(ax, base, prediction, high - low)
    ax.set_ylim(lowest - 0.45, highest + 0.5)
    ax.set_yticks([])
    ax.spines[["top", "right", "left"]].set_visible(False)
    return Balance(*arrows, labels, *lines, _explain_colours(ax))


def _name_pushes(ax, centres, pushes, texts):
    """Names below the arrows, as far as there is room; and how low they reach."""
    texts = [
        f"{text} ({number_text(push, signed=True)})"
        for text, push in zip(texts, pushes, strict=True)
    ]
    lines, places = _lines(ax, centres, texts, N_LINES)
    labels = []
    for push, text, line, centre, place in zip(
        pushes, texts, lines, centres, places, strict=True
    ):
        if line < 0:
            continue
        colour = UP_COLOUR if push > 0 else DOWN_COLOUR if push < 0 else "0.4"
        y = FIRST_LINE - LINE_HEIGHT * line
        ax.plot(
            [centre, centre, place],
            [-ARROW_HEIGHT / 2, y + 0.32, y + 0.18],
            color=colour,
            linewidth=0.6,
            alpha=0.6,
            zorder=1,
        )
        label = ax.text(
            place,
            y,
            literal(text),
            color=colour,
            ha="center",
            va="center",
            fontsize="small",
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.8},
            zorder=3,
        )
        labels.append(label)
    return labels, FIRST_LINE - LINE_HEIGHT * lines.max(initial=0)


def _mark_ends(ax, base, prediction, span):
    """Lines at both ends of the way, named above the arrows."""
    ends = np.array([prediction, base])
    texts = [
        f"prediction f(x) = {number_beside(prediction, span)}",
        f"base value E[f(X)] = {number_beside(base, span)}",
    ]
    lines, places = _lines(ax, ends, texts, 2)
    drawn = []
    for end, text, line, place, looks in zip(
        ends, texts, lines, places, ({"color": "black"}, {"color": "0.4"}), strict=True
    ):
        y = ENDS_LINE + LINE_HEIGHT * line
        drawn += ax.plot(
            [end, end], [-ARROW_HEIGHT / 2, y], linewidth=1.2, zorder=2.5, **looks
        )
        ax.text(
            place,
            y + 0.03,
            text,
            ha="center",
            va="bottom",
            fontsize="small",
            **looks,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.8},
        )
    return (drawn[1], drawn[0]), ENDS_LINE + LINE_HEIGHT * lines.max()


def _lines(ax, centres, texts, n_lines):
    limits = ax.get_xlim()
    per_character = np.ptp(limits) / axes_inches(ax)[0] / CHARACTERS_PER_INCH
    widths = np.array([len(text) + 2 for text in texts]) * per_character
    return label_lines(centres, widths, limits, n_lines)


def _explain_colours(ax):
    from matplotlib.patches import Patch

    return ax.legend(
        handles=[
            Patch(color=UP_COLOUR, label="raises the prediction"),
            Patch(color=DOWN_COLOUR, label="lowers the prediction"),
        ],
        loc="lower left",
        bbox_to_anchor=(0, 1),
        ncols=2,
        fontsize="small",
        frameon=False,
        borderaxespad=0.1,
    )
