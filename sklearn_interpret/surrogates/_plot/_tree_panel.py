"""A tree drawn above its leaves, each with the distribution of what fell into it."""

from dataclasses import dataclass, field
from textwrap import wrap

import numpy as np

from sklearn_interpret._plotting.axes import axes_inches, merged_style
from sklearn_interpret._plotting.labels import (
    NEUTRAL_COLOUR,
    NICE_STEPS,
    OKABE_ITO,
    literal,
    number_beside,
    plain_number_ticks,
    shorten,
    wrapped,
)
from sklearn_interpret.surrogates._plot._leaves import (
    Leaf,
    leaf_order,
    places_of,
    shape_of,
    share_text,
    value_range,
)

LEAF_HEIGHT, LEVEL_HEIGHT = 2.3, 0.85  # inches
SLOT_WIDTH, NARROWEST = 1.2, 0.62
SMALL_PER_INCH, RULES_PER_INCH = 13, 14.5  # characters of small print
MODEL_COLOUR, SURROGATE_COLOUR = OKABE_ITO[0], OKABE_ITO[1]
LINE_HEIGHT, LEAST_PITCH, TWO_LINES_PITCH = 0.16, 0.42, 0.55  # inches
KEY = "bars: the model, line: the surrogate"


@dataclass
class Marks:
    """Artists of a panel.

    Parameters
    ----------
    bars : list of StepPatch
        The distributions, leaf by leaf.
    answers : artist or None
        What the surrogate answers.
    texts : list of Text
        Tests, or nothing.
    """

    bars: list = field(default_factory=list)
    answers: object = None
    texts: list = field(default_factory=list)


def tree_size(trees):
    """Width and height of a panel for trees, in inches."""
    n_leaves = max(len(leaf_order(tree)) for tree in trees)
    depth = max(int(places_of(tree)[1].max()) for tree in trees)
    width = float(np.clip(1.0 + SLOT_WIDTH * n_leaves, 5.6, 14.0))
    return width, 1.4 + LEAF_HEIGHT + LEVEL_HEIGHT * depth


def fits(ax, tree):
    """Whether the leaves of a tree have room side by side."""
    return axes_inches(ax)[0] / len(leaf_order(tree)) >= NARROWEST


def draw_tree(ax, tree, leaves, name, style):
    """Draw the tests of a tree and, below, the distribution in each leaf.

    Parameters
    ----------
    ax : Axes
        Where to draw.
    tree : dict
        The tree.
    leaves : list of Leaf
        Those with rows.
    name : str
        Of what the model answers.
    style : dict or None
        Of the distributions.

    Returns
    -------
    Marks
    """
    order = leaf_order(tree)
    across, depths = places_of(tree)
    depth = max(int(depths.max()), 0)
    limits = value_range(_spanned(leaves))
    height = axes_inches(ax)[1]
    share = LEAF_HEIGHT / (LEAF_HEIGHT + LEVEL_HEIGHT * depth) if depth else 1.0
    share = max(share, 0.3) if height > 2 else share
    low, high = limits
    top = low + (high - low) / share
    ax.set(xlim=(-0.5, len(order) - 0.5), ylim=(low, top))
    marks = _draw_leaves(ax, order, leaves, limits, style)
    _draw_tests(ax, tree, across, depths, (high, top), marks)
    _finish(ax, limits, order, leaves)
    ax.set_ylabel(name, y=(high - low) / 2 / (top - low))  # beside the leaves
    return marks


def _spanned(leaves):
    """All that is answered."""
    answers = np.array([leaf.answer for leaf in leaves])
    values = np.concatenate([leaf.values for leaf in leaves])
    return np.concatenate([values, answers[np.isfinite(answers)]])


def _draw_leaves(ax, order, leaves, limits, style):
    from matplotlib.patches import Rectangle, StepPatch

    marks, (low, high) = Marks(), limits
    for place in range(len(order)):
        field_ = Rectangle(
            (place - 0.46, low), 0.92, high - low, facecolor="0.955", linewidth=0
        )
        field_.set_zorder(0.5)
        ax.add_patch(field_)
    looks = {"facecolor": MODEL_COLOUR, "linewidth": 0, "zorder": 2}
    for leaf in leaves:
        place = order.index(leaf.node)
        lengths, edges = shape_of(leaf.values, leaf.weights, limits)
        start = place - 0.42
        marks.bars.append(
            ax.stairs(
                start + 0.8 * lengths,
                edges,
                baseline=start,
                orientation="horizontal",
                fill=True,
                **merged_style(looks, style, StepPatch),
            )
        )
    known = [leaf for leaf in leaves if np.isfinite(leaf.answer)]
    if known:
        at = np.array([order.index(leaf.node) for leaf in known])
        answers = np.array([leaf.answer for leaf in known])
        looks = {"color": SURROGATE_COLOUR, "linewidth": 1.8, "zorder": 3}
        marks.answers = ax.hlines(answers, at - 0.46, at + 0.46, **looks)
        for place, answer in zip(at, answers, strict=True):
            _name_answer(ax, place, answer, limits)
    return marks


def _name_answer(ax, place, answer, limits):
    """The surrogate's answer in figures, above its line or below it."""
    low, high = limits
    above = answer < low + 0.88 * (high - low)
    ax.annotate(
        number_beside(answer, high - low),
        (place + 0.45, answer),
        xytext=(0, 2 if above else -2),
        textcoords="offset points",
        ha="right",
        va="bottom" if above else "top",
        fontsize="small",
        color="black",
        zorder=4,
        bbox={"facecolor": "white", "alpha": 0.7, "linewidth": 0, "pad": 0.6},
    )


def _draw_tests(ax, tree, across, depths, limits, marks):
    """The tests in boxes, joined by lines to what follows."""
    low, high = limits
    depth = int(depths.max())
    if depth == 0:
        return
    step = (high - low) / depth
    level = high - (depths + 0.42) * step
    inches = axes_inches(ax)[0] / (across.max() + 1)
    inner = [n for n in range(len(across)) if tree["left"][n] >= 0]
    for node in inner:
        for side in ("left", "right"):
            child = tree[side][node]
            end = level[child] if tree["left"][child] >= 0 else low
            ax.plot(
                [across[node], across[child], across[child]],
                [level[node], level[node], end],
                color="0.45",
                linewidth=1,
                zorder=1,
            )
            passes = (side == "left") == bool(tree["yes_left"][node])
            marks.texts.append(
                ax.text(
                    across[child],
                    level[node] - 0.43 * step,
                    "yes" if passes else "no",
                    ha="center",
                    va="center",
                    fontsize="small",
                    color="0.25",
                    bbox={"facecolor": "white", "linewidth": 0, "pad": 0.8},
                    zorder=1.5,
                )
            )
    for node in inner:
        same = [m for m in inner if depths[m] == depths[node] and m != node]
        gaps = [abs(across[m] - across[node]) for m in same]
        edges = [2 * (across[node] + 0.5), 2 * (across.max() + 0.5 - across[node])]
        room = min(gaps + edges) * inches
        marks.texts.append(
            ax.text(
                across[node],
                level[node],
                _test_text(tree["tests"][node], room),
                ha="center",
                va="center",
                fontsize="small",
                linespacing=1.05,
                zorder=2,
                bbox={
                    "boxstyle": "round,pad=0.25",
                    "facecolor": "white",
                    "edgecolor": "0.45",
                    "linewidth": 0.8,
                },
            )
        )


def _test_text(test, room):
    """A test over a few lines of what room there is, in inches."""
    width = int(np.clip((room - 0.15) * SMALL_PER_INCH, 7, 28))
    name, sign, number = _halves(test)
    tail = shorten(f"{sign} {number}".strip(), max(width, 12))
    name = shorten(name, 2 * width)
    if len(name) + 1 + len(tail) <= width:
        return literal(f"{name} {tail}")
    return literal("\n".join([wrapped(name, width), tail]).rstrip())


def _halves(test):
    for sign in (" ≤ ", " = "):
        name, found, rest = test.rpartition(sign)
        if found:
            return name, sign.strip(), rest
    return test, "", ""


def _finish(ax, limits, order, leaves):
    """Ticks, and axes that end where the leaves do."""
    from matplotlib.ticker import MaxNLocator

    low, high = limits
    by_place = {order.index(leaf.node): leaf for leaf in leaves}
    wide = axes_inches(ax)[0] / len(order) >= 0.85
    texts = [_count_text(by_place.get(place), wide) for place in range(len(order))]
    ax.set_xticks(range(len(order)), texts, fontsize="small")
    ax.tick_params(axis="x", length=0)
    ticks = MaxNLocator(nbins=5, steps=NICE_STEPS).tick_values(low, high)
    ax.set_yticks([tick for tick in ticks if low <= tick <= high])
    ax.spines[["top", "right", "bottom", "left"]].set_visible(False)


def _count_text(leaf, wide):
    if leaf is None:
        return "no rows"
    rows = _n_rows(leaf) if wide else f"n={len(leaf.values)}"
    return f"{share_text(leaf.share)}\n{rows}"


def draw_rules(ax, leaves, max_display, style):
    """Draw one line for each leaf, the largest on top: its rule and its distribution.

    Parameters
    ----------
    ax : Axes
        Where to draw.
    leaves : list of Leaf
        Those with rows.
    max_display : int or None
        Largest number of lines, fewer where these have no room; the others share the
        last one.
    style : dict or None
        Of the distributions.

    Returns
    -------
    Marks
    """
    from matplotlib.patches import StepPatch

    leaves = sorted(leaves, key=lambda leaf: -leaf.share)
    n_others, (width, height) = 0, axes_inches(ax)
    if max_display is not None:
        max_display = min(max_display, max(2, int(height / LEAST_PITCH)))
    if max_display is not None and len(leaves) > max_display:
        n_others = len(leaves) - max_display + 1
        leaves = [*leaves[: max_display - 1], _together(leaves[max_display - 1 :])]
    limits, marks = value_range(_spanned(leaves)), Marks()
    pitch = height / len(leaves)
    n_lines = 2 if pitch > TWO_LINES_PITCH else 1
    strip = float(np.clip(0.92 - n_lines * LINE_HEIGHT / pitch, 0.3, 0.6))
    places = np.arange(len(leaves))[::-1]
    for place, leaf in zip(places, leaves, strict=True):
        heights, edges = shape_of(leaf.values, leaf.weights, limits)
        grey = bool(n_others) and place == 0
        looks = {
            "facecolor": NEUTRAL_COLOUR if grey else MODEL_COLOUR,
            "linewidth": 0,
            "zorder": 2,
        }
        marks.bars.append(
            ax.stairs(
                place + strip * heights,
                edges,
                baseline=place,
                fill=True,
                **merged_style(looks, style, StepPatch),
            )
        )
        ax.axhline(place, color="0.8", linewidth=0.8, zorder=1)
        if np.isfinite(leaf.answer):
            looks = {"color": SURROGATE_COLOUR, "linewidth": 1.8, "zorder": 3}
            marks.answers = ax.vlines(leaf.answer, place, place + strip, **looks)
        text = f"{share_text(leaf.share)} ({_n_rows(leaf)}): {leaf.rule}"
        at = (0.0, place + strip + 0.02)
        marks.texts.append(
            ax.text(
                *at,
                _rule_text(text, int(width * RULES_PER_INCH), n_lines),
                transform=ax.get_yaxis_transform(),
                va="bottom",
                fontsize="small",
                linespacing=1.05,
            )
        )
    ax.set(yticks=[], ylim=(-0.04, len(leaves)), xlim=limits)
    plain_number_ticks(ax)
    ax.spines[["top", "right", "left"]].set_visible(False)
    return marks


def _rule_text(text, width, most):
    """A rule over few lines, the parts of a condition together."""
    text = shorten(text, most * width - (8 if most > 1 else 0))
    # Spaces within conditions are no places to break at.
    joined = text.replace(" ", "\N{NO-BREAK SPACE}")
    joined = joined.replace("\N{NO-BREAK SPACE}and\N{NO-BREAK SPACE}", " and ")
    lines = wrap(joined, width, break_on_hyphens=False)
    if len(lines) > most:
        lines = wrap(text, width)[:most]
    return literal("\n".join(lines).replace("\N{NO-BREAK SPACE}", " "))


def _n_rows(leaf):
    n = len(leaf.values)
    return f"{n} {'row' if n == 1 else 'rows'}"


def _together(leaves):
    """Several leaves as one."""
    values = np.concatenate([leaf.values for leaf in leaves])
    weights = np.concatenate([leaf.weights for leaf in leaves])
    share = sum(leaf.share for leaf in leaves)
    return Leaf(-1, f"{len(leaves)} other leaves", values, weights, share, np.nan)
