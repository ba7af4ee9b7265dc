"""A tree above its leaves, or its rules, with the distribution of each leaf's rows."""

from textwrap import wrap

import numpy as np

from sklearn_interpret._plotting.axes import axes_inches, merged_style
from sklearn_interpret._plotting.colours import (
    NEUTRAL_COLOUR,
    OKABE_ITO,
    colours,
    ink,
    paper,
    seen,
    shade,
    text_on,
)
from sklearn_interpret._plotting.labels import (
    NICE_STEPS,
    literal,
    number_beside,
    plain_number_ticks,
    shorten,
    wrapped,
)
from sklearn_interpret.surrogates._plot._global_arrays import Leaf, leaf_order

N_BINS = 30
LEAF_HEIGHT, LEVEL_HEIGHT = 2.3, 0.85  # inches
SLOT_WIDTH, NARROWEST = 1.2, 0.62
SMALL_PER_INCH, RULES_PER_INCH = 13, 14.5  # characters of small print
MODEL_COLOUR, SURROGATE_COLOUR = OKABE_ITO[0], OKABE_ITO[1]
SURROGATE_STYLE = {"color": SURROGATE_COLOUR, "linewidth": 1.8, "zorder": 3}
LINE_HEIGHT, LEAST_PITCH, TWO_LINES_PITCH = 0.16, 0.42, 0.55  # inches
KEY = "bars: the model, line: the surrogate"
LEAST_NAME = 5  # characters to which a name may be shortened
KEY_OF_SHARES = "wide bars: the model, narrow ones: the surrogate"


def tree_size(trees):
    """Width and height of a panel for trees, in inches."""
    n_leaves = max(len(leaf_order(tree)) for tree in trees)
    depth = max(int(_places_of(tree)[1].max()) for tree in trees)
    width = float(np.clip(1.0 + SLOT_WIDTH * n_leaves, 5.6, 14.0))
    return width, 1.4 + LEAF_HEIGHT + LEVEL_HEIGHT * depth


def fits(ax, tree):
    """Whether the leaves of a tree have room side by side."""
    return axes_inches(ax)[0] / len(leaf_order(tree)) >= NARROWEST


def draw_tree(ax, tree, by_output, names, name, style):
    """Draw the tests of a tree over what is in its leaves; bars and texts.

    These are distributions of the one output's responses, or shares of several, which
    have names.
    """
    leaves = by_output[0]
    places = {node: place for place, node in enumerate(leaf_order(tree))}
    across, depths = _places_of(tree)
    depth = int(depths.max())
    low, high = limits = _value_range(leaves) if len(by_output) == 1 else (0.0, 1.0)
    share = LEAF_HEIGHT / (LEAF_HEIGHT + LEVEL_HEIGHT * depth)
    if axes_inches(ax)[1] > 2:
        share = max(share, 0.3)
    top = low + (high - low) / share
    ax.set(xlim=(-0.5, len(places) - 0.5), ylim=(low, top))
    if len(by_output) == 1:
        bars = _draw_leaves(ax, places, leaves, limits, style)
    else:
        at = np.array([places[leaf.node] for leaf in leaves])
        sides = (at - 0.09, 0.66), (at + 0.34, 0.16)
        bars = _draw_shares(ax, ax.bar, by_output, names, *sides, style)
    texts = []
    if depth:
        step = (top - high) / depth
        level = top - (depths + 0.42) * step
        texts = _draw_ways(ax, tree, across, level, step, high)
        texts += _draw_tests(ax, tree, across, depths, level)
    _finish_tree(ax, places, leaves, limits)
    ax.set_ylabel(name, y=(high - low) / 2 / (top - low))  # beside the leaves
    return bars, texts


def _places_of(tree):
    """Positions of nodes, between their children (leaves at 0, 1, ...), and depths.

    Both are of shape (n_nodes,); the depth of the root is zero.
    """
    n_nodes = len(tree["left"])
    across, depths = np.zeros(n_nodes), np.zeros(n_nodes, dtype=np.intp)
    order = leaf_order(tree)
    across[order] = np.arange(len(order))
    parents_first, waiting = [], [0]
    while waiting:
        node = waiting.pop()
        if tree["left"][node] < 0:
            continue
        parents_first.append(node)
        children = [int(tree["left"][node]), int(tree["right"][node])]
        depths[children] = depths[node] + 1
        waiting += children
    for node in reversed(parents_first):
        across[node] = (across[tree["left"][node]] + across[tree["right"][node]]) / 2
    return across, depths


def _value_range(leaves):
    """Lowest and highest response with some room, never the same."""
    means = np.array([leaf.surrogate for leaf in leaves])
    values = np.concatenate([leaf.values for leaf in leaves] + [means])
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    if low == high:
        reach = max(abs(low), 1e-300) / 2 if low else 0.5
        return low - reach, high + reach
    room = 0.04 * (high / 2 - low / 2) * 2
    return low - room, high + room


def _draw_distribution(ax, leaf, limits, start, length, style, **looks):
    """A histogram of a leaf's responses, as high as `length` from `start`."""
    from matplotlib.patches import StepPatch

    low, high = limits
    edges = np.linspace(low, high, N_BINS + 1)
    bins = np.clip((leaf.values - low) / (high - low) * N_BINS, 0, N_BINS - 1)
    heights = np.bincount(bins.astype(np.intp), leaf.weights, minlength=N_BINS)
    looks = {"facecolor": MODEL_COLOUR, "linewidth": 0, "zorder": 2, **looks}
    ends = start + length * heights / heights.max()
    looks = merged_style(looks, style, StepPatch)
    return ax.stairs(ends, edges, baseline=start, fill=True, **looks)


def _draw_leaves(ax, places, leaves, limits, style):
    """The distributions, on grey fields, and the surrogate's responses on them."""
    low, high = limits
    fields = np.arange(len(places))
    looks = {"width": 0.92, "color": shade(ax, 0.05), "linewidth": 0, "zorder": 0.5}
    ax.bar(fields, high - low, bottom=low, **looks)
    bars = []
    for leaf in leaves:
        place = places[leaf.node]
        level = {"orientation": "horizontal"}
        bar = _draw_distribution(ax, leaf, limits, place - 0.42, 0.8, style, **level)
        bars.append(bar)
        if np.isfinite(leaf.surrogate):
            ends = place - 0.46, place + 0.46
            ax.hlines(leaf.surrogate, *ends, **SURROGATE_STYLE)
            _write_number(ax, place, leaf.surrogate, limits)
    return bars


def share_colours(ax, n):
    """Colours of the shares of `n` classes."""
    return [seen(colour, ax) for colour in colours(n)]


def _draw_shares(ax, draw, by_output, names, wide, narrow, style):
    """Shares on each other: wide bars of the model, narrow ones of the surrogate.

    `draw` is the axes' `bar` or `barh`; `wide` and `narrow` are places and widths.
    Names stand in the wide bars where they have room.
    """
    from matplotlib.patches import Rectangle

    model = [[leaf.mean for leaf in leaves] for leaves in by_output]
    surrogate = [[leaf.surrogate for leaf in leaves] for leaves in by_output]
    bars = []
    for shares, (places, width) in ((model, wide), (surrogate, narrow)):
        shares = np.nan_to_num(shares)
        starts = np.cumsum(shares, axis=0) - shares
        for each, start, colour in zip(
            shares, starts, share_colours(ax, len(shares)), strict=True
        ):
            looks = {"color": colour, "edgecolor": paper(ax), "linewidth": 0.5}
            looks = merged_style({**looks, "zorder": 2}, style, Rectangle)
            bars.append(draw(places, each, width, start, **looks))
    _name_bars(ax, bars[: len(names)], names)
    return bars


def _name_bars(ax, bars, names):
    """Write names into the bars that have room for them."""
    width, height = axes_inches(ax)
    (left, right), (bottom, top) = ax.get_xlim(), ax.get_ylim()
    for name, container in zip(names, bars, strict=True):
        for bar in container:
            room = bar.get_width() / (right - left) * width * SMALL_PER_INCH
            high = bar.get_height() / (top - bottom) * height > LINE_HEIGHT
            if not high or room < min(len(str(name)), LEAST_NAME):
                continue
            ax.text(
                bar.get_x() + bar.get_width() / 2,
                bar.get_y() + bar.get_height() / 2,
                literal(shorten(name, int(room))),
                ha="center",
                va="center",
                fontsize="small",
                color=text_on(bar.get_facecolor()[:3]),
                zorder=3,
            )


def _write_number(ax, place, number, limits):
    """The surrogate's response in figures, above its line or below it."""
    low, high = limits
    above = number < low + 0.88 * (high - low)
    ax.annotate(
        number_beside(number, high - low),
        (place + 0.45, number),
        xytext=(0, 2 if above else -2),
        textcoords="offset points",
        ha="right",
        va="bottom" if above else "top",
        fontsize="small",
        color=ink(ax),
        zorder=4,
        bbox={"facecolor": paper(ax), "alpha": 0.7, "linewidth": 0, "pad": 0.6},
    )


def _inner_nodes(tree):
    return [node for node in range(len(tree["left"])) if tree["left"][node] >= 0]


def _draw_ways(ax, tree, across, level, step, bottom):
    """Lines from tests to what follows, with "yes" and "no" on them."""
    box = {"facecolor": paper(ax), "linewidth": 0, "pad": 0.8}
    looks = {"ha": "center", "va": "center", "fontsize": "small"}
    looks["color"] = shade(ax, 0.75)
    texts = []
    for node in _inner_nodes(tree):
        for side in ("left", "right"):
            child = tree[side][node]
            end = level[child] if tree["left"][child] >= 0 else bottom
            ax.plot(
                [across[node], across[child], across[child]],
                [level[node], level[node], end],
                color=shade(ax, 0.55),
                linewidth=1,
                zorder=1,
            )
            at = across[child], level[node] - 0.43 * step
            text = "yes" if side == "left" else "no"
            texts.append(ax.text(*at, text, bbox=box, zorder=1.5, **looks))
    return texts


def _draw_tests(ax, tree, across, depths, level):
    """The tests in boxes, as wide as their neighbours let them be."""
    box = {"boxstyle": "round,pad=0.25", "facecolor": paper(ax)}
    box |= {"edgecolor": shade(ax, 0.55), "linewidth": 0.8}
    looks = {"ha": "center", "va": "center", "fontsize": "small", "linespacing": 1.05}
    looks["color"] = ink(ax)
    inner = _inner_nodes(tree)
    width = across.max() + 1
    inches = axes_inches(ax)[0] / width
    texts = []
    for node in inner:
        same = [m for m in inner if depths[m] == depths[node] and m != node]
        gaps = [abs(across[m] - across[node]) for m in same]
        gaps += [2 * (across[node] + 0.5), 2 * (width - 0.5 - across[node])]
        text = _test_text(tree["tests"][node], min(gaps) * inches)
        at = across[node], level[node]
        texts.append(ax.text(*at, text, bbox=box, zorder=2, **looks))
    return texts


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
        name, sign, rest = test.rpartition(sign)
        if sign:
            return name, sign.strip(), rest
    return test, "", ""


def _finish_tree(ax, places, leaves, limits):
    """Ticks: what is in each leaf, and responses as far as the leaves reach."""
    from matplotlib.ticker import MaxNLocator

    wide = axes_inches(ax)[0] / len(places) >= 0.85
    texts = ["no rows"] * len(places)
    for leaf in leaves:
        rows = _n_rows(leaf) if wide else f"n={len(leaf.values)}"
        texts[places[leaf.node]] = f"{_share_text(leaf.share)}\n{rows}"
    ax.set_xticks(range(len(texts)), texts, fontsize="small")
    ax.tick_params(axis="x", length=0)
    ax.grid(visible=False)
    low, high = limits
    ticks = MaxNLocator(nbins=5, steps=NICE_STEPS).tick_values(low, high)
    ax.set_yticks([tick for tick in ticks if low <= tick <= high])
    ax.spines[["top", "right", "bottom", "left"]].set_visible(False)


def _share_text(share):
    """A share in per cent."""
    percent = 100 * share
    return "<1 %" if 0 < percent < 0.95 else f"{percent:.0f} %"


def _n_rows(leaf):
    n = len(leaf.values)
    return f"{n} {'row' if n == 1 else 'rows'}"


def draw_rules(ax, by_output, names, max_entries, style):
    """Draw the rule of each leaf and what is in it, the largest on top.

    These are distributions of the one output's responses, or shares of several. Lines
    beyond `max_entries`, or those that have no room, share the last one. Returns the
    bars and the texts of the rules.
    """
    width, height = axes_inches(ax)
    if max_entries is not None:
        max_entries = min(max_entries, max(2, int(height / LEAST_PITCH)))
    cut = max_entries is not None and len(by_output[0]) > max_entries
    by_output = [_largest(leaves, max_entries) for leaves in by_output]
    leaves, single = by_output[0], len(by_output) == 1
    limits = _value_range(leaves) if single else (0.0, 1.0)
    pitch = height / len(leaves)
    n_lines = 2 if pitch > TWO_LINES_PITCH else 1
    strip = float(np.clip(0.92 - n_lines * LINE_HEIGHT / pitch, 0.3, 0.6))
    bars, texts = [], []
    ax.set(yticks=[], ylim=(-0.04, len(leaves)), xlim=limits)
    lines = np.arange(len(leaves))[::-1]
    if not single:
        sides = (lines + 0.6 * strip, 0.72 * strip), (lines + 0.1 * strip, 0.2 * strip)
        bars = _draw_shares(ax, ax.barh, by_output, names, *sides, style)
    for place, leaf in zip(lines.tolist(), leaves, strict=True):
        if single:
            grey = cut and place == 0
            looks = {"facecolor": NEUTRAL_COLOUR if grey else MODEL_COLOUR}
            bar = _draw_distribution(ax, leaf, limits, place, strip, style, **looks)
            bars.append(bar)
            ax.axhline(place, color=shade(ax, 0.3), linewidth=0.8, zorder=1)
        if single and np.isfinite(leaf.surrogate):
            ax.vlines(leaf.surrogate, place, place + strip, **SURROGATE_STYLE)
        text = f"{_share_text(leaf.share)} ({_n_rows(leaf)}): {leaf.rule}"
        text = ax.text(
            0.0,
            place + strip + 0.02,
            _rule_text(text, int(width * RULES_PER_INCH), n_lines),
            transform=ax.get_yaxis_transform(),
            va="bottom",
            fontsize="small",
            linespacing=1.05,
        )
        texts.append(text)
    plain_number_ticks(ax)
    ax.spines[["top", "right", "left"]].set_visible(False)
    return bars, texts


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


def _largest(leaves, most):
    """The largest leaves, the last of them all others together."""
    leaves = sorted(leaves, key=lambda leaf: -leaf.share)
    if most is None or len(leaves) <= most:
        return leaves
    return [*leaves[: most - 1], _together(leaves[most - 1 :])]


def _together(leaves):
    """Several leaves as one."""
    values = np.concatenate([leaf.values for leaf in leaves])
    weights = np.concatenate([leaf.weights for leaf in leaves])
    share = sum(leaf.share for leaf in leaves)
    return Leaf(-1, f"{len(leaves)} other leaves", values, weights, share, np.nan)
