"""Leaves of a surrogate's trees: their rows, as distributions or as shares."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sklearn_interpret._model.rows.number_format import number_beside
from sklearn_interpret._model.surrogates.tree_rules import leaf_order
from sklearn_interpret._plotting.axes import axes_inches
from sklearn_interpret._plotting.colours import NEUTRAL_COLOUR, PALETTE, shade
from sklearn_interpret._plotting.labels import (
    NICE_STEPS,
    plain_number_ticks,
    write_near,
)
from sklearn_interpret._plotting.ranked_bars import draw_stacked_bars, name_rows
from sklearn_interpret._plotting.tree_diagram import draw_tests
from sklearn_interpret.surrogates._leaves_and_coefficients import Leaf

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.container import BarContainer

    from sklearn_interpret._plotting.axes import Style

N_BINS = 30  # of the histogram of a leaf
LEAST_PITCH = 0.42  # inches from rule to rule
WIDE_LEAF = 0.85  # inches in which "12 rows" has room
MODEL_COLOUR, SURROGATE_COLOUR = PALETTE[0], PALETTE[1]
SURROGATE_STYLE: dict[str, Any] = {"color": SURROGATE_COLOUR, "linewidth": 1.8}
SURROGATE_STYLE["zorder"] = 3
_NO_NODE = -1  # node of several leaves in one
# Offset from the position of a leaf, and breadth, of the bars for shares of the model
# and of the bars for shares of the surrogate.
MODEL_BARS, SURROGATE_BARS = (-0.09, 0.66), (0.34, 0.16)


def draw_tree(
    ax: Axes,
    tree: dict[str, Any],
    by_output: list[list[Leaf]],
    name: str,
    style: Style | None,
) -> tuple[list[Any], list[Any]]:
    """Draw the tests of a tree over what is in its leaves; bars and texts.

    `by_output` has the leaves with the responses of each output: distributions of one
    output's responses are drawn, or shares of several.
    """
    leaves = by_output[0]
    column_of = {node: column for column, node in enumerate(leaf_order(tree))}
    low, high = limits = _value_range(leaves) if len(by_output) == 1 else (0.0, 1.0)
    texts, share = draw_tests(ax, tree, limits)
    positions = [column_of[leaf.node] for leaf in leaves]
    if len(by_output) == 1:
        bar_style: Style = {"width": 0.92, "color": shade(ax, 0.05), "linewidth": 0}
        ax.bar(range(len(column_of)), high - low, bottom=low, zorder=0.5, **bar_style)
        bars = _draw_distributions(ax, positions, leaves, limits, style, upright=True)
    else:
        bars = _draw_shares(ax, np.array(positions), by_output, style, upright=True)
    ax.set_ylabel(name, y=share / 2)  # next to the leaves
    _finish_tree(ax, column_of, leaves, limits)
    return bars, texts


def _finish_tree(
    ax: Axes, column_of: dict[int, int], leaves: list[Leaf], limits: tuple[float, float]
) -> None:
    """Ticks: what is in each leaf, and responses as far as the leaves reach."""
    from matplotlib.ticker import MaxNLocator

    has_room = axes_inches(ax)[0] / len(column_of) >= WIDE_LEAF
    texts = ["no rows"] * len(column_of)
    for leaf in leaves:
        rows_text = leaf.rows_text if has_room else f"n={leaf.n_rows}"
        texts[column_of[leaf.node]] = f"{leaf.percent_text}\n{rows_text}"
    ax.set_xticks(range(len(texts)), texts, fontsize="small")
    ax.tick_params(axis="x", length=0)
    ax.grid(visible=False)
    low, high = limits
    ticks = MaxNLocator(nbins=5, steps=NICE_STEPS).tick_values(low, high)
    ax.set_yticks([tick for tick in ticks if low <= tick <= high])
    ax.spines[["top", "right", "bottom", "left"]].set_visible(False)


def draw_rules(
    ax: Axes, by_output: list[list[Leaf]], max_entries: int | None, style: Style | None
) -> tuple[list[Any], list[Any]]:
    """Draw a line for the rule of each leaf, the largest on top; bars and texts.

    `by_output` is as in `draw_tree`. Leaves beyond `max_entries`, or beyond the lines
    that have room, share the last line.
    """
    if max_entries is not None:
        room = int(axes_inches(ax)[1] / LEAST_PITCH)
        max_entries = min(max_entries, max(2, room))
    by_output = [_merge_small_leaves(leaves, max_entries) for leaves in by_output]
    leaves, has_one_output = by_output[0], len(by_output) == 1
    name_rows(ax, [leaf.rule for leaf in leaves])
    positions = np.arange(len(leaves))[::-1]
    text_style: Style = {"xycoords": ax.get_yaxis_transform(), "va": "center"}
    size_texts = [
        write_near(
            ax,
            f"{leaf.percent_text} ({leaf.rows_text})",
            (1.02, position),
            **text_style,
        )
        for position, leaf in zip(positions, leaves, strict=True)
    ]
    limits = _value_range(leaves) if has_one_output else (0.0, 1.0)
    ax.set_xlim(limits)
    if has_one_output:
        ax.hlines(
            positions - 0.42, *limits, color=shade(ax, 0.3), linewidth=0.8, zorder=1
        )
        bars = _draw_distributions(ax, positions, leaves, limits, style, upright=False)
    else:
        bars = _draw_shares(ax, positions, by_output, style, upright=False)
    plain_number_ticks(ax)
    ax.spines[["top", "right", "left"]].set_visible(False)
    return bars, [*ax.get_yticklabels(), *size_texts]


def _value_range(leaves: list[Leaf]) -> tuple[float, float]:
    """Lowest and highest response with some room, never the same."""
    means = np.array([leaf.surrogate_mean for leaf in leaves])
    values = np.concatenate([leaf.responses for leaf in leaves] + [means])
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    if low == high:
        reach = max(abs(low), 1e-300) / 2 if low else 0.5
        return low - reach, high + reach
    room = 0.04 * (high / 2 - low / 2) * 2
    return low - room, high + room


def _draw_distributions(
    ax: Axes,
    positions: Iterable[int],
    leaves: list[Leaf],
    limits: tuple[float, float],
    style: Style | None,
    *,
    upright: bool,
) -> list[Any]:
    """A histogram of each leaf's responses, and a line at the surrogate's response.

    `upright` is a scale of responses along the y axis, whose lines have numbers.
    """
    edges = np.linspace(*limits, N_BINS + 1)
    draw_line = ax.hlines if upright else ax.vlines
    bars = []
    for position, leaf in zip(positions, leaves, strict=True):
        bins = (leaf.responses - limits[0]) / (limits[1] - limits[0]) * N_BINS
        bins = np.clip(bins, 0, N_BINS - 1).astype(np.intp)
        heights = np.bincount(bins, leaf.weights, minlength=N_BINS)
        colour = NEUTRAL_COLOUR if leaf.node == _NO_NODE else MODEL_COLOUR
        bar_style: Style = {"facecolor": colour, "linewidth": 0, "zorder": 2}
        bar_style["fill"] = True
        bar_style["orientation"] = "horizontal" if upright else "vertical"
        ends = position - 0.42 + 0.8 * heights / heights.max()
        bars.append(ax.stairs(ends, edges, baseline=position - 0.42, **bar_style))
        bars[-1].set(**(style or {}))
        if np.isfinite(leaf.surrogate_mean):
            draw_line(
                leaf.surrogate_mean, position - 0.46, position + 0.46, **SURROGATE_STYLE
            )
            if upright:
                _write_number(ax, position, leaf.surrogate_mean, limits)
    return bars


def _write_number(
    ax: Axes, position: int, number: float, limits: tuple[float, float]
) -> None:
    """Write the surrogate's response above its line, or below it near the top."""
    low, high = limits
    is_above = number < low + 0.88 * (high - low)
    text_style = {"ha": "right", "va": "bottom" if is_above else "top", "zorder": 4}
    offset, text = (0, 2 if is_above else -2), number_beside(number, high - low)
    write_near(ax, text, (position + 0.45, number), offset, over=0.7, **text_style)


def _draw_shares(
    ax: Axes,
    positions: NDArray[np.intp],
    by_output: list[list[Leaf]],
    style: Style | None,
    *,
    upright: bool,
) -> list[BarContainer]:
    """Stacked shares: wide bars of the model, narrow bars of the surrogate."""
    sign, bars = (1 if upright else -1), []
    means = [[leaf.mean for leaf in leaves] for leaves in by_output]
    surrogate = [[leaf.surrogate_mean for leaf in leaves] for leaves in by_output]
    for shares, (offset, breadth) in (means, MODEL_BARS), (surrogate, SURROGATE_BARS):
        lengths = np.nan_to_num(shares).T
        bar_kwargs: Style = {"height": breadth, "upright": upright}
        bars += draw_stacked_bars(
            ax, positions + sign * offset, lengths, style, **bar_kwargs
        )
    return bars


def _merge_small_leaves(leaves: list[Leaf], max_entries: int | None) -> list[Leaf]:
    """The largest leaves first; beyond `max_entries`, the last is all others in one."""
    leaves = sorted(leaves, key=lambda leaf: -leaf.share)
    if max_entries is None or len(leaves) <= max_entries:
        return leaves
    others = leaves[max_entries - 1 :]
    responses = np.concatenate([leaf.responses for leaf in others])
    weights = np.concatenate([leaf.weights for leaf in others])
    share = sum(leaf.share for leaf in others)
    rule = f"{len(others)} other leaves"
    merged = Leaf(_NO_NODE, rule, responses, weights, share, np.nan)
    return [*leaves[: max_entries - 1], merged]
