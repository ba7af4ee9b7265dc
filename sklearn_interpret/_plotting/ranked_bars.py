"""Ranked bars: features from the strongest down, their names, bars and numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sklearn_interpret._model.rows.number_format import column_texts
from sklearn_interpret._plotting.axes import (
    Style,
    add_legend,
    axes_inches,
    legend_columns,
    merge_styles,
    named_legend,
    place_above,
)
from sklearn_interpret._plotting.colours import (
    DOWN_COLOUR,
    NEUTRAL_COLOUR,
    UP_COLOUR,
    colours,
    ink,
    paper,
    shade,
    sign_colours,
    stand_out,
)
from sklearn_interpret._plotting.labels import (
    AND,
    CHARACTERS_PER_INCH,
    JOIN,
    join_names,
    lines_of,
    literal,
    plain_number_ticks,
    shorten,
    shorten_all,
    wrap_name,
    write_near,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import LineCollection, PolyCollection
    from matplotlib.container import BarContainer
    from matplotlib.legend import Legend
    from matplotlib.patches import Rectangle
    from matplotlib.text import Annotation
    from matplotlib.typing import ColorType

    from sklearn_interpret._plotting.axes import Canvas

# An array of floats, whose shape comments and docstrings say.
_Array = NDArray[np.float64]

MANY_NAMES = 40  # more rows have names of one line: the figure is 16 inches high
LABEL_WIDTH = 30  # characters of a name
TWO_LINES_PITCH = 0.32  # inches of a row whose name has two lines
LINE_HEIGHT = 0.145  # inches
RULE_WIDTH = 36  # characters of a line of a rule
MOST_LINES = 5  # of a rule
LEARNER = "learner's value, 95 %"  # label of lines over folds
LEAST_BAR = 0.3  # inches that the longest bars keep next to their labels
BAR_HEIGHT = 0.7  # of the distance from bar to bar
PALE = 0.35  # opacity of bars whose p-value is not small
# Room to the right of bars, in shares of their width: without texts, for numbers, and
# for numbers with p-values.
ROOM = 0.04
NUMBER_ROOM = 0.16
P_ROOM = 0.24
_MEDIAN_STYLE: Style = {"linewidth": 1.4, "zorder": 2.6}


def rank_entries(
    strengths: _Array, max_entries: int | None
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Features from the strongest down: with a line of their own, and the remaining.

    Parameters
    ----------
    strengths : ndarray of shape (p,)
        Numbers to rank; equal ones keep their order.
    max_entries : int or None
        Largest number of lines; the remaining features share the last of them.

    Returns
    -------
    positions, remaining : ndarray of intp
        The `remaining` are none, or two or more.
    """
    order = np.argsort(-strengths, kind="stable")
    if max_entries is None or len(order) <= max_entries:
        return order, order[:0]
    return order[: max_entries - 1], order[max_entries - 1 :]


def append_combined(
    values: _Array,
    positions: NDArray[np.intp],
    remaining: NDArray[np.intp],
    combine: Callable[..., Any] = np.mean,
) -> _Array:
    """Values (p, ...) at `positions`, and below them the combined remaining values."""
    if not len(remaining):
        return values[positions]
    combined = combine(values[remaining], axis=0, keepdims=True)
    return np.concatenate([values[positions], combined])


def others_text(n_others: int, columns: Iterable[Iterable[int]] | None = None) -> str:
    """Name of the line for the sum of several features.

    Features whose `columns` overlap, such as rules, are called terms.
    """
    members = [j for indices in columns or () for j in indices]
    terms = len(set(members)) < len(members)
    return f"{n_others} other {'terms' if terms else 'features'}"


def row_height(n_rows: int, pitch: float = 0.36) -> float:
    """Height in inches of a figure whose axes holds that many named rows."""
    return max(2.2, 1.2 + pitch * n_rows)


def name_pitch(names: Sequence[str]) -> float:
    """Inches that a row needs for its name, with conditions on lines of their own."""
    rules = [name.split(AND) for name in names if AND in name]
    lines = [lines_of(rule, RULE_WIDTH, MOST_LINES) for rule in rules]
    return max(0.36, 0.06 + LINE_HEIGHT * max(map(len, lines), default=0))


def name_rows(ax: Axes, names: Iterable[object], most: int | None = None) -> None:
    """Name the rows of an axes, the first on top, at n - 1, n - 2, ..., 0.

    Rules are in small letters, on as many lines as there is room for. Rows with an
    empty name have no tick. `most` is the largest number of characters of a line; None
    takes it from the width of the axes.
    """
    width, height = axes_inches(ax)
    labels = list(map(str, names))
    pitch = height / max(len(labels), 1)
    has_rules = any(AND in label for label in labels)
    widest = RULE_WIDTH if has_rules else LABEL_WIDTH
    share = 0.85 if has_rules else 0.5  # small letters are narrower
    if most is None:
        most = int(np.clip(share * width * CHARACTERS_PER_INCH, 12, widest))
    two_lines = len(labels) <= MANY_NAMES and pitch > TWO_LINES_PITCH
    fit = wrap_name if two_lines else shorten
    n_lines = max(int(pitch / LINE_HEIGHT), 1)

    def fit_lines(name: str, most: int) -> str:
        conditions, pair = name.split(AND), name.split(JOIN)
        if len(pair) == 2:
            return join_names(pair, most, two_lines=two_lines)
        if len(conditions) > 1:
            return "\n".join(lines_of(conditions, most, n_lines))
        return fit(name, most)

    texts = shorten_all(labels, most, fit_lines)
    named = [row for row, text in enumerate(texts) if text]
    ticks = len(labels) - 1 - np.array(named, dtype=np.intp)
    texts = [literal(texts[row]) for row in named]
    is_small = pitch < 0.3 or has_rules
    ax.set_yticks(ticks, texts, fontsize="small" if is_small else None)
    ax.set_ylim(-0.6, len(labels) - 0.4)
    # The grid of a style would cross the numbers in the rows.
    ax.tick_params(axis="y", length=0, grid_linewidth=0)


def finish_rows(ax: Axes, label: str, hidden: Sequence[str] = ("top", "right")) -> None:
    """Ticks and label of the numbers along rows; `hidden` sides have no spine."""
    plain_number_ticks(ax)
    ax.set_xlabel(label)
    ax.spines[list(hidden)].set_visible(False)


def finish_bars(
    ax: Axes, ends: _Array, label: str, *, start: float = 0.0, room: float | None = None
) -> None:
    """Limits, ticks and label of bars from `start`, and a line there.

    `ends` are the ends of all marks, with the start. `room` is the share of their width
    that texts need on the right, None without texts.
    """
    low, high = ends.min(), ends.max()
    span = high - low
    right = high + (ROOM * (high > start) if room is None else room) * span
    left = low - ROOM * span if low < start else low
    ax.set_xlim(left, right if span > 0 else low + 1.0)
    finish_rows(ax, label)
    if low < start:
        ax.axvline(start, color=shade(ax, 0.8), linewidth=0.8, zorder=2.3)


def draw_bars(
    ax: Axes,
    places: NDArray[Any],
    lengths: _Array,
    colour: NDArray[np.str_] | Sequence[ColorType] | ColorType,
    style: Style | None,
    *,
    height: float | _Array,
    starts: _Array | float = 0,
    upright: bool = False,
) -> BarContainer:
    """Bars of a breadth `height`; `colour` may be one for each bar."""
    from matplotlib.colors import to_rgba_array
    from matplotlib.patches import Rectangle

    palette = [stand_out(each, ax) for each in to_rgba_array(colour)]
    style_kwargs: Style = {"color": palette, "edgecolor": paper(ax), "linewidth": 0.5}
    breadth, start = ("width", "bottom") if upright else ("height", "left")
    style_kwargs |= {breadth: height, start: starts, "zorder": 2}
    if style and {"facecolor", "fc"} & style.keys():
        del style_kwargs["color"]
    style_kwargs = merge_styles(style_kwargs, style, Rectangle)
    draw = ax.bar if upright else ax.barh
    return draw(places, lengths, **style_kwargs)


def side_by_side(n_bars: int, height: float = 0.78) -> tuple[_Array, float]:
    """Offsets of bars that share a line, and the height of each."""
    height = height / n_bars
    offsets = ((n_bars - 1) / 2 - np.arange(n_bars, dtype=np.float64)) * height
    return offsets, height


def draw_spreads(
    ax: Axes,
    places: NDArray[Any],
    low: _Array,
    high: _Array,
    *,
    linewidth: float = 1.1,
    zorder: float = 2.6,
) -> LineCollection:
    """Thin lines along the rows, from `low` to `high`."""
    return ax.hlines(
        places, low, high, color=ink(ax), linewidth=linewidth, zorder=zorder
    )


def quartiles(draws: _Array) -> _Array:
    """Smallest values, the three quartiles and largest values, (5, n), of (n, r)."""
    return np.quantile(draws, [0, 0.25, 0.5, 0.75, 1], axis=1)


def draw_boxes(
    ax: Axes,
    places: NDArray[np.intp],
    draws: _Array,
    colour: ColorType,
    style: Style | None,
    height: float,
) -> tuple[BarContainer, LineCollection]:
    """Boxes of `draws` (n, r) from quartile to quartile, with whiskers and medians.

    Whiskers reach to the smallest and the largest draw. Returns boxes and whiskers.
    """
    low, first_quartile, medians, third_quartile, high = quartiles(draws)
    whiskers = draw_spreads(ax, places, low, high, zorder=1)
    # Edges of the same colour show a box without width; the median leaves its ends
    # free.
    style = {"edgecolor": stand_out(colour, ax), "linewidth": 1.2, **(style or {})}
    lengths, starts = third_quartile - first_quartile, first_quartile
    boxes = draw_bars(
        ax, places, lengths, colour, style, height=0.8 * height, starts=starts
    )
    half = 0.22 * height
    ax.vlines(medians, places - half, places + half, color=ink(ax), **_MEDIAN_STYLE)
    return boxes, whiskers


def grey_last(bars: BarContainer) -> None:
    """Draw the last bar, of several features together, in grey."""
    bars.patches[-1].set_facecolor(NEUTRAL_COLOUR)


def make_pale(bars: BarContainer, mask: NDArray[np.bool_]) -> Rectangle | None:
    """Make some bars pale; return the first pale bar, or None."""
    pale = [bars.patches[position] for position in np.flatnonzero(mask)]
    for patch in pale:
        patch.set_alpha(PALE)
    return pale[0] if pale else None


def pvalue_legend(
    canvas: Canvas,
    bars: BarContainer,
    is_small: NDArray[np.bool_],
    level: float,
    pvalue_name: str,
    *,
    mark: Any = None,
    intervals: LineCollection | None = None,
    note: str | None = None,
) -> Legend | None:
    """Legend of bars with p-values: marked below a level, pale above it.

    `mark` is the handle of p-values below the level; by default a bar is.
    """
    entries: dict[str, Any] = {}
    if is_small.any():
        entries[f"{pvalue_name} < {level:g}"] = mark or bars.patches[is_small.argmax()]
    if not is_small.all():
        entries[f"{pvalue_name} ≥ {level:g}"] = bars.patches[is_small.argmin()]
    if intervals is not None:
        entries[f"{100 * (1 - level):.4g} % interval"] = intervals
    return add_legend(canvas, list(entries.values()), list(entries), note)


def label_ends(
    ax: Axes,
    ends: _Array,
    places: NDArray[Any],
    values: _Array,
    *,
    texts: Sequence[str] | None = None,
    signed: bool = False,
    gap: int = 4,
) -> list[Annotation]:
    """Numbers at the ends of bars; signed ones on both sides.

    Parameters
    ----------
    ax : Axes
        Where to draw.
    ends, places : ndarray of shape (n,)
        Where the bars end, and their middles across.
    values : ndarray of shape (n,)
        The numbers.
    texts : list of str, optional
        Texts in place of the numbers.
    signed : bool, default=False
        Whether negative numbers stand to the left.
    gap : float, default=4
        Points from a bar to its number.

    Returns
    -------
    list of Annotation
    """
    if texts is None:
        texts = column_texts(values, signed=signed)
    labels = []
    for text, value, end, middle in zip(texts, values, ends, places, strict=True):
        left = signed and value < 0
        style_kwargs: Style = {"ha": "right" if left else "left", "va": "center"}
        offset = -gap if left else gap, 0
        labels.append(write_near(ax, text, (end, middle), offset, **style_kwargs))
    return labels


def reach_ends(ax: Axes, values: _Array, reach: float, longest: int) -> None:
    """Set a range that is equal on each side with bars, with room for labels there.

    `longest` is the number of characters of the longest label.
    """
    inches = (longest + 1) / CHARACTERS_PER_INCH
    has_bars = [(values < 0).any(), (values > 0).any()]  # to the left, to the right
    n_sides = max(1, sum(has_bars))
    width = max(axes_inches(ax)[0] - n_sides * inches, LEAST_BAR)
    reach += n_sides * reach * inches / width
    low, high = (reach if has_bar else 0.04 * reach for has_bar in has_bars)
    ax.set_xlim(-low, high)


def draw_arrows(
    ax: Axes,
    starts: _Array,
    tips: _Array,
    places: NDArray[Any],
    height: float | _Array,
    head: float,
    colour: ColorType,
    style: Style | None,
    *,
    notched: bool = False,
) -> PolyCollection:
    """Horizontal arrows from `starts` to `tips`, as one artist.

    Parameters
    ----------
    ax : Axes
        Where to draw.
    starts, tips : ndarray of shape (n,)
        Where each arrow starts, and where its point is.
    places : ndarray of shape (n,)
        Their middles across.
    height : float or ndarray of shape (n,)
        Their breadth.
    head : float
        Largest length of a point; a short arrow is a point alone.
    colour : colour
        Of the arrows.
    style : dict or None
        Of the PolyCollection.
    notched : bool, default=False
        Whether the tails have a notch, so that arrows in a row fit into each other.

    Returns
    -------
    PolyCollection
    """
    from matplotlib.collections import PolyCollection

    length = tips - starts
    point = np.sign(length) * np.minimum(np.abs(length), head)
    tail = starts + point if notched else starts
    x = np.stack([starts, tips - point, tips, tips - point, starts, tail], axis=1)
    half = np.reshape(height, (-1, 1)) / 2
    y = np.asarray(places)[:, None] + half * np.array([-1, -1, 0, 1, 1, 0])
    style_kwargs: Style = {"facecolor": [stand_out(colour, ax)], "edgecolor": paper(ax)}
    style_kwargs |= {"linewidth": 0.6, "zorder": 2}
    arrows = PolyCollection(list(np.stack([x, y], axis=2)), **style_kwargs)
    arrows.set(**(style or {}))
    ax.add_collection(arrows)
    return arrows


def draw_ranked_bars(
    ax: Axes,
    names: Sequence[object],
    values: _Array,
    style: Style | None,
    *,
    palette: Sequence[ColorType] | None = None,
    margins: _Array | float = 0.0,
    reach: float | None = None,
    texts: Sequence[str] | None = None,
) -> tuple[BarContainer, LineCollection | None]:
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
    colour = sign_colours(values) if palette is None else palette
    bars = draw_bars(ax, places, values, colour, style, height=BAR_HEIGHT)
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


def draw_stacked_bars(
    ax: Axes,
    places: NDArray[Any],
    lengths: _Array,
    style: Style | None,
    *,
    height: float,
    upright: bool = False,
) -> list[BarContainer]:
    """Draw stacked bars of segments; one BarContainer for each column of segments.

    Parameters
    ----------
    ax : Axes
        Where to draw.
    places : ndarray of shape (n_bars,)
        Middles of the bars.
    lengths : ndarray of shape (n_bars, n_segments)
        Lengths of the segments.
    style : dict or None
        Style of the bars.
    height : float
        Breadth of the bars.
    upright : bool, default=False
        Whether the bars are vertical.
    """
    starts = np.cumsum(lengths, axis=1) - lengths
    draw, palette = partial(draw_bars, ax, places), colours(lengths.shape[1])
    return [
        draw(length, colour, style, height=height, starts=start, upright=upright)
        for length, colour, start in zip(lengths.T, palette, starts.T, strict=True)
    ]


def draw_signed_arrows(
    ax: Axes,
    starts: _Array,
    ends: _Array,
    places: NDArray[Any],
    height: float | _Array,
    head: float,
    style: Style | None,
    *,
    notched: bool = False,
) -> list[PolyCollection]:
    """Draw arrows up and arrows down in the colours of the signs.

    Parameters are those of `draw_arrows`. Returns the two PolyCollections.
    """
    arrows, heights = [], np.broadcast_to(height, len(starts))
    for mask, colour in ((ends >= starts, UP_COLOUR), (ends < starts, DOWN_COLOUR)):
        x, tips, y, breadth = starts[mask], ends[mask], places[mask], heights[mask]
        arrows.append(
            draw_arrows(ax, x, tips, y, breadth, head, colour, style, notched=notched)
        )
    return arrows


def sign_legend(ax: Axes, up: str, down: str) -> Legend:
    """A legend above an axes for the colours of the two signs."""
    from matplotlib.patches import Patch

    handles = [
        Patch(color=stand_out(colour, ax)) for colour in (UP_COLOUR, DOWN_COLOUR)
    ]
    n_columns = legend_columns([up, down], 1.5 * axes_inches(ax)[0])
    style_kwargs: Style = {"fontsize": "small", "ncols": n_columns, **place_above(ax)}
    return named_legend(ax, handles, [up, down], **style_kwargs)
