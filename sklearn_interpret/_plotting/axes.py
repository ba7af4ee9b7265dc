"""Axes to draw on, their layout, and legends; matplotlib is imported late."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from textwrap import wrap
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_interpret._plotting.labels import (
    ALONGSIDE_PER_INCH,
    CHARACTERS_PER_INCH,
    NAME_WIDTH,
    literal,
    shorten,
    shorten_all,
)

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.backend_bases import RendererBase
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.gridspec import SubplotSpec
    from matplotlib.legend import Legend
    from matplotlib.text import Text
    from matplotlib.transforms import Bbox

# Keyword arguments of an artist.
Style = dict[str, Any]

# Sizes in inches.
PANEL_WIDTH = 3.6  # of a panel in a grid
PANEL_HEIGHT = 2.9
BAR_PANEL_WIDTH = 4.4  # of a panel with a colour bar
# Of panels on an axes that is given: width next to a colour bar, and height.
LEAST_BAR_PANEL_WIDTH = 2.0
LEAST_PANEL_HEIGHT = 1.5
BELOW_HEIGHT = 1.5  # of the smaller panel below a panel
SINGLE_WIDTH = 5.6  # of a panel that is alone
SINGLE_HEIGHT = 4.0
LEAST_WIDTH = 3.4  # of an axes that has something to its right
LEAST_LEGEND_WIDTH = 0.6  # there
LABEL_MARGIN = 0.1  # by which a label may reach beyond what is next to it
TICK_GAP = 0.03  # least distance between labels of ticks
MOST_BINS = 6  # between ticks whose labels need room
LEAST_LETTERS = 12  # in a line of a label, however short its axes are
EDGE_GAP = 0.04  # least distance from texts to the edge of a figure
MOST_ABOVE = 4  # entries of a legend above an axes, one below the other
LEGEND_LINE_HEIGHT = 0.23
HANDLE_WIDTH = 0.7  # of a legend
SIDE_NAME_LENGTH = 24  # characters of a name in a legend to the right
LINE_SHARE = 1e-3  # share of the height of panels that a line above them has
BELOW_LABEL = "below"  # label of the lower axes of a panel
# More panels are laid out without measuring their labels, which takes about as long as
# drawing them. Their margins and gaps, in inches, leave room for usual labels:
MOST_MEASURED = 30
COLUMN_GAP, BAR_COLUMN_GAP = 0.5, 1.7  # without, and with, a colour bar
ROW_GAP = 0.75
LEFT_MARGIN, TOP_MARGIN = 0.9, 0.5
RIGHT_MARGIN, BAR_RIGHT_MARGIN = 0.2, 1.0
LEGEND_MARGIN = 0.3  # below the last row's labels

_LEGEND_STYLE: Style = {"title_fontsize": "medium", "frameon": False}


def import_late(module: str, caller: str) -> Any:
    """Import an optional package, or a module of it, when `caller` needs it."""
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise ImportError(
            f"{caller} needs {package}; install it with `pip install {package}`."
        ) from error


def merge_styles(defaults: Style, style: Style | None, artist: type[Artist]) -> Style:
    """Keyword arguments of an artist: `defaults`, overruled by what the user gave.

    Parameters
    ----------
    defaults : dict
        Under matplotlib's full names.
    style : dict or None
        Also under its short names, such as "lw".
    artist : type
        The kind of artist, which knows the short names.
    """
    from matplotlib.cbook import normalize_kwargs

    return {**defaults, **normalize_kwargs(style or {}, artist)}


@dataclass(frozen=True)
class Slot:
    """Space for one panel: a smaller panel below, a colour bar, names of levels."""

    below: bool = False  # whether there is a smaller panel below
    bar: bool = False  # whether there is a colour bar to the right
    level_height: float = 0.0  # inches that names of levels take below
    level_width: float = 0.0  # inches that names of levels take to the left
    height: float = 0.0  # least height in inches


@dataclass
class Canvas:
    """Axes for a number of panels, some of which have a smaller one below."""

    figure: Figure | SubFigure  # where the axes are
    axes: NDArray[np.object_]  # (n_rows, n_columns), None where there is no panel
    main: list[Axes]  # one axes per panel
    below: list[Axes | None]  # the smaller one below each panel, or None
    own_figure: bool  # whether the figure was made here
    # Which panels are the first of a row; None where the user arranged them.
    starts_row: list[bool] | None
    frame: Axes | None = None  # the user's axes that was divided up


def take_axes(
    ax: Any,
    slots: list[Slot],
    *,
    n_columns: int,
    caller: str,
    panel_size: tuple[float, float] | NDArray[np.float64] | None = None,
) -> Canvas:
    """Axes for panels: of a new figure, of an axes to divide up, or the user's own.

    Parameters
    ----------
    ax : None, Axes or array-like of Axes
        None makes a figure. A single axes is used as it is for a single panel, and
        divided into a grid for several. An array has one axes per panel, and behind
        these one for each panel below.
    slots : list of Slot
        One per panel.
    n_columns : int
        Largest number of panels in a row.
    caller : str
        The method that draws, for errors.
    panel_size : pair of float, optional
        Width and height of a panel in a figure made here, in inches.

    Returns
    -------
    Canvas
    """
    plt = import_late("matplotlib.pyplot", caller)
    if n_columns < 1:
        raise ValueError(f"n_cols={n_columns!r} must be at least 1.")
    if ax is not None and not isinstance(ax, plt.Axes):
        return _canvas_of_array(ax, slots, plt.Axes)
    shape = grid_shape(len(slots), n_columns)
    if ax is None:
        size = figure_size(shape, slots)
        if panel_size is not None:
            size = shape[1] * panel_size[0], shape[0] * panel_size[1]
        layout = "none" if len(slots) > MOST_MEASURED else "constrained"
        figure = plt.figure(figsize=size, layout=layout)
        return _make_grid(figure, None, shape, slots)
    if len(slots) == 1 and not slots[0].below:
        return Canvas(ax.figure, np.array([[ax]]), [ax], [None], False, None)
    if any(slot.bar for slot in slots):
        width, height = axes_inches(ax)
        most = max(int(width / LEAST_BAR_PANEL_WIDTH), 1)
        fewer = grid_shape(len(slots), min(n_columns, most))
        if height / fewer[0] >= LEAST_PANEL_HEIGHT:
            shape = fewer
    cell = _divide(ax, _count_axes(slots), caller)
    return _make_grid(ax.figure, cell, shape, slots, frame=ax)


def take_stacks(
    ax: Any,
    heights: tuple[float, float],
    *,
    n_stacks: int,
    width: float,
    around: float,
    n_columns: int,
    caller: str,
) -> NDArray[np.object_]:
    """Pairs of axes (2, n_stacks), one above the other, each with its own margins.

    `ax` is as in `take_axes`: an array has the upper axes first. `heights` are the
    heights of both axes in inches, of which given axes take the ratio. `width` is the
    width of a pair, and `around` the height of title and labels around it, in a new
    figure.
    """
    plt = import_late("matplotlib.pyplot", caller)
    if ax is not None and not isinstance(ax, plt.Axes):
        slots = [Slot()] * (2 * n_stacks)
        return _canvas_of_array(ax, slots, plt.Axes).axes.reshape(2, n_stacks)
    shape = grid_shape(n_stacks, n_columns)
    if ax is None:
        size = (shape[1] * width, shape[0] * (sum(heights) + around))
        figure = plt.figure(figsize=size, layout="constrained")
        grid = figure.add_gridspec(*shape)
    else:
        figure = ax.figure
        grid = _divide(ax, 2 * n_stacks, caller).subgridspec(*shape)
    axes = np.empty((2, n_stacks), dtype=object)
    for stack in range(n_stacks):
        halves = grid[divmod(stack, shape[1])].subgridspec(2, 1, height_ratios=heights)
        # Each axes has a grid of its own: labels of one do not narrow the other.
        axes[0, stack] = figure.add_subplot(halves[0].subgridspec(1, 1)[0])
        below = halves[1].subgridspec(1, 1)[0]
        if not is_constrained(figure):  # the layout makes no room for labels
            inner = halves[1].subgridspec(
                2, 2, width_ratios=(1, 3), height_ratios=(5, 1), wspace=0, hspace=0
            )
            below = inner[0, 1]
        axes[1, stack] = figure.add_subplot(below)
    return axes


def axes_inches(ax: Axes) -> tuple[float, float]:
    """Present width and height of an axes, in inches."""
    box = ax.get_position()
    width, height = ax.figure.figure.get_size_inches()
    return box.width * width, box.height * height


def letters_along(ax: Axes, side: int) -> int:
    """Characters of a label along the width (0) or height (1) of an axes."""
    size = ax.yaxis.label.get_fontproperties().get_size_in_points()  # the style's
    return int(axes_inches(ax)[side] * ALONGSIDE_PER_INCH * 10 / size)


def is_constrained(figure: Figure | SubFigure) -> bool:
    """Whether the figure has matplotlib's constrained layout."""
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    return isinstance(figure.get_layout_engine(), ConstrainedLayoutEngine)


def settle_layout(figure: Figure | SubFigure, axes: Sequence[Axes] = ()) -> None:
    """Give axes the room that texts leave; break labels of some `axes` without room."""
    engine = figure.get_layout_engine()
    if engine is None or not is_constrained(figure):
        make_room(figure, axes)
        return
    if len(figure.axes) <= MOST_MEASURED:
        engine.execute(figure.figure)
        if _break_labels(axes):
            engine.execute(figure.figure)
    _thin_ticks(axes)


def _break_labels(axes: Sequence[Axes]) -> bool:
    """Break titles and labels that have no room; whether there were any."""
    n_broken = 0
    for ax in axes:
        room = ax.get_tightbbox(for_layout_only=True)
        texts = [(ax.title, 0), (ax.xaxis.label, 0), (ax.yaxis.label, 1)]
        for text, side in texts if ax.axison else texts[:1]:
            if room is not None and text.get_visible() and text.get_text():
                n_broken += _fit_along(ax, room, text, side)
    return n_broken > 0


def _fit_along(ax: Axes, room: Bbox, text: Text, side: int) -> bool:
    """Break lines of a text that are longer than the room along its axes, if any is.

    A label below that needs more than a further line stands below names of ticks, too.
    """
    (start, stop), (low, high), edges = (
        (box.min[side], box.max[side])
        for box in (ax.get_window_extent(), room, ax.figure.bbox)
    )
    margin = LABEL_MARGIN * ax.figure.dpi
    low, high = np.clip((low - margin, high + margin), *edges)
    middle, length = (start + stop) / 2, text.get_window_extent().size[side]
    widest = max(2 * min(middle - low, high - middle), 0)
    lines = text.get_text().split("\n")
    letters = 0.95 * max(map(len, lines)) / max(length, 1)  # of a pixel
    # Broken, a label at the side would take more width and still be too long.
    if length <= widest or (side and letters * widest < LEAST_LETTERS):
        return False
    broken = _break_lines(lines, letters * widest)
    below = _break_lines(lines, letters * (stop - low))
    if text is not ax.xaxis.label or len(broken) <= max(len(below), len(lines) + 1):
        text.set_text("\n".join(broken))
    else:
        ax.set_xlabel("\n".join(below), loc="right")
    return True


def _break_lines(lines: Sequence[str], letters: float) -> list[str]:
    """Lines of about this many letters each."""
    width = max(int(letters), LEAST_LETTERS)
    return [part for line in lines for part in wrap(line, width) or [line]]


def _thin_ticks(axes: Sequence[Axes]) -> None:
    """Leave out ticks at round numbers whose labels lie over each other."""
    from matplotlib.ticker import MaxNLocator

    for ax in axes:
        for side, axis in enumerate((ax.xaxis, ax.yaxis) if ax.axison else ()):
            locator, n_bins = axis.get_major_locator(), MOST_BINS
            while (
                n_bins and isinstance(locator, MaxNLocator) and _is_crowded(axis, side)
            ):
                locator.set_params(nbins=n_bins)
                n_bins -= 1


def _is_crowded(axis: Axis, side: int) -> bool:
    """Whether labels of ticks lie over each other."""
    low, high = sorted(axis.get_view_interval())
    boxes = [
        text.get_window_extent()
        for text, place in zip(axis.get_ticklabels(), axis.get_ticklocs(), strict=False)
        if low <= place <= high
    ]
    low_ends = np.sort([box.min[side] for box in boxes])
    high_ends = np.sort([box.max[side] for box in boxes])
    gap = TICK_GAP * axis.figure.dpi
    return bool((low_ends[1:] < high_ends[:-1] + gap).any())


def make_room(figure: Figure | SubFigure, axes: Sequence[Axes] = ()) -> None:
    """Widen the margins of a figure without a layout until all texts fit.

    Texts of some `axes` are broken once the margins have room for the others.
    """
    from matplotlib.transforms import Bbox

    if not _is_unarranged(figure):
        _break_labels(axes)
        _thin_ticks(axes)
        return
    pars, inner = figure.subplotpars, figure.bbox.padded(-EDGE_GAP * figure.dpi)
    # Pairs, along width and height, in shares of the figure. Axes keep half of theirs.
    least_size = np.array([pars.right - pars.left, pars.top - pars.bottom]) / 2
    for step in range(4):  # an axes of fixed aspect moves by less than its margin
        boxes = [
            ax.get_tightbbox(for_layout_only=step == 0)
            for ax in figure.axes
            if ax.get_visible()
        ]
        box = Bbox.union([inner, *filter(None, boxes)])
        # How far texts go beyond the lower left, and the upper right, edges.
        excess_low = np.subtract(inner.min, box.min) / figure.bbox.size
        excess_high = np.subtract(box.max, inner.max) / figure.bbox.size
        low, high = np.array([[pars.left, pars.bottom], [pars.right, pars.top]])
        # The share of the excess for which axes can give way.
        size_to_lose, excess = high - low - least_size, excess_low + excess_high
        share = np.clip(size_to_lose / (excess + 1e-9), 0, 1)
        left, bottom = low + share * excess_low
        right, top = high - share * excess_high
        if excess.any():
            figure.subplots_adjust(left=left, bottom=bottom, right=right, top=top)
        elif step:
            break
        if not step:
            _break_labels(axes)
        _thin_ticks(axes)


def _is_unarranged(figure: Figure | SubFigure) -> TypeGuard[Figure]:
    """Whether the figure has no layout, and no axes placed by hand."""
    if figure is not figure.figure or len(figure.axes) > MOST_MEASURED:
        return False  # figures within others share their margins
    gridded = [ax.get_in_layout() and ax.get_subplotspec() for ax in figure.axes]
    return figure.get_layout_engine() is None and all(gridded)


def grid_shape(n_panels: int, n_columns: int) -> tuple[int, int]:
    """Rows and columns, the panels evened out over the rows.

    Examples
    --------
    >>> from sklearn_interpret._plotting.axes import grid_shape
    >>> grid_shape(4, 3), grid_shape(7, 3)
    ((2, 2), (3, 3))
    """
    n_rows = -(-n_panels // n_columns)
    return n_rows, -(-n_panels // n_rows)


def figure_size(shape: tuple[int, int], slots: list[Slot]) -> tuple[float, float]:
    """Width and height of a figure for the panels, in inches."""
    n_rows, n_columns = shape
    extra = BELOW_HEIGHT if any(slot.below for slot in slots) else 0.0
    extra += max(slot.level_height for slot in slots)
    level_width = max(slot.level_width for slot in slots)
    if n_rows == n_columns == 1:
        return SINGLE_WIDTH + level_width, max(SINGLE_HEIGHT, slots[0].height) + extra
    width = BAR_PANEL_WIDTH if any(slot.bar for slot in slots) else PANEL_WIDTH
    heights = _row_heights(shape, slots)
    return (width + level_width) * n_columns, sum(heights) + extra * n_rows


def _row_heights(shape: tuple[int, int], slots: list[Slot]) -> list[float]:
    """Height in inches of the panels of each row."""
    n_rows, n_columns = shape
    rows = [slots[row * n_columns : (row + 1) * n_columns] for row in range(n_rows)]
    return [max([PANEL_HEIGHT, *(slot.height for slot in row)]) for row in rows]


def fixed_spaces(
    shape: tuple[int, int], size: tuple[float, float], slots: list[Slot]
) -> dict[str, float]:
    """Margins and gaps of a grid of many panels, as arguments of GridSpec."""
    has_bars = any(slot.bar for slot in slots)
    level_width = max(slot.level_width for slot in slots)
    column_gap = (BAR_COLUMN_GAP if has_bars else COLUMN_GAP) + level_width
    row_gap = ROW_GAP + max(slot.level_height for slot in slots)
    left = LEFT_MARGIN + level_width
    right = BAR_RIGHT_MARGIN if has_bars else RIGHT_MARGIN
    top, bottom = TOP_MARGIN, row_gap + LEGEND_MARGIN
    (n_rows, n_columns), (width, height) = shape, size
    mean_width = (width - left - right - column_gap * (n_columns - 1)) / n_columns
    mean_height = (height - top - bottom - row_gap * (n_rows - 1)) / n_rows
    return {
        "left": left / width,
        "right": 1 - right / width,
        "bottom": bottom / height,
        "top": 1 - top / height,
        "wspace": column_gap / mean_width,
        "hspace": row_gap / mean_height,
    }


def _count_axes(slots: list[Slot]) -> int:
    """Number of axes, of panels and of smaller panels below them."""
    return len(slots) + sum(slot.below for slot in slots)


def _divide(ax: Axes, n_axes: int, caller: str) -> SubplotSpec:
    """The cell of an axes in a grid of subplots, to be divided for several axes.

    The axes, for titles and legends, becomes a line above them, where a layout makes
    room: it would lay the axes in its cell over what stands above it.
    """
    cell = ax.get_subplotspec()
    if ax.axison and cell is not None:
        ax.set_axis_off()
        if not is_constrained(ax.figure):
            return cell
        halves = cell.subgridspec(2, 1, height_ratios=(LINE_SHARE, 1))
        ax.set_subplotspec(halves[0])
        return halves[1]
    why = (
        "it was divided by another plot already (pass display.axes_ to draw there)"
        if cell is not None
        else "it is not one of a grid of subplots"
    )
    raise ValueError(
        f"{caller} has {n_axes} panels to draw, and cannot divide the single axes "
        f"given: {why}. An array of axes will do, too."
    )


def _make_grid(
    figure: Figure | SubFigure,
    outer: SubplotSpec | None,
    shape: tuple[int, int],
    slots: list[Slot],
    frame: Axes | None = None,
) -> Canvas:
    """A grid of axes in the `outer` cell of a grid, or in a figure (None)."""
    n_rows, n_columns = shape
    step = 2 if any(slot.below for slot in slots) else 1
    constrained = is_constrained(figure)
    spaces = {}
    if not constrained and outer is None:
        width, height = figure.figure.get_size_inches()
        spaces = fixed_spaces((n_rows * step, n_columns), (width, height), slots)
    elif not constrained:  # the layout makes no room for labels
        spaces = {"hspace": 0.5, "wspace": 0.3}
    make = figure.add_gridspec if outer is None else outer.subgridspec
    heights = _row_heights(shape, slots)
    ratios = [ratio for top in heights for ratio in (top, BELOW_HEIGHT)[:step]]
    spec = make(n_rows * step, n_columns, height_ratios=ratios, **spaces)
    axes = np.full((n_rows * step, n_columns), None, dtype=object)
    main: list[Axes] = []
    below: list[Axes | None] = []
    for panel, slot in enumerate(slots):
        row, column = divmod(panel, n_columns)
        row *= step
        cell = spec[row, column]
        if step == 2 and not slot.below:  # labels of levels have room there
            cell = spec[row : row + 2, column]
        height = heights[row // step]
        needed = max(PANEL_HEIGHT, slot.height)
        if step == 1 and needed < height:
            cell = cell.subgridspec(2, 1, height_ratios=(needed, height - needed))[0]
        elif slot.bar and constrained and not slot.below:
            # In a grid of its own, so that the bar widens no gap of other panels.
            cell = cell.subgridspec(1, 1)[0, 0]
        upper = axes[row, column] = figure.add_subplot(cell)
        main.append(upper)
        if slot.below:
            lower = figure.add_subplot(
                spec[row + 1, column], sharex=upper, label=BELOW_LABEL
            )
            axes[row + 1, column] = lower
        below.append(axes[row + 1, column] if slot.below else None)
    starts_row = [panel % n_columns == 0 for panel in range(len(slots))]
    return Canvas(figure, axes, main, below, outer is None, starts_row, frame)


def _canvas_of_array(ax: ArrayLike, slots: list[Slot], kind: type[Axes]) -> Canvas:
    """The axes of an array, as they are."""
    axes = np.asarray(ax, dtype=object)
    flat = [member for member in axes.flat if member is not None]
    for member in flat:
        if not isinstance(member, kind):
            raise TypeError(
                "ax must be None, a matplotlib Axes or an array of those; got "
                f"{type(member).__name__}."
            )
    if len(flat) != _count_axes(slots):
        raise ValueError(
            f"ax has {len(flat)} axes, but there are {_count_axes(slots)} panels to "
            "draw."
        )
    flat.sort(key=lambda member: member.get_label() == BELOW_LABEL)
    lower = iter(flat[len(slots) :])
    below = [next(lower) if slot.below else None for slot in slots]
    axes = axes if axes.ndim == 2 else axes.reshape(1, -1)
    return Canvas(flat[0].figure, axes, flat[: len(slots)], below, False, None)


def add_legend(
    canvas: Canvas,
    handles: Sequence[Any],
    labels: list[str],
    note: str | None = None,
    *,
    earlier: Legend | None = None,
) -> Legend | None:
    """A legend below the panels of a new figure, else above or in the first panel.

    A new figure grows by the height of the legend. A legend above the panels leaves
    room for a title. The `note` is the title of the legend, which replaces an `earlier`
    legend at the same position.
    """
    is_below, n_earlier_lines = canvas.own_figure, 0
    if earlier is not None:
        is_below = earlier in canvas.figure.legends
        earlier_handles, earlier_note = legend_entries(earlier)
        n_earlier_lines = _count_legend_lines(
            canvas, list(earlier_handles), earlier_note
        )
        note = note or earlier_note
        earlier.remove()
    if not handles and note is None:
        return None
    if not is_below:
        return _legend_above(canvas, handles, labels, note)
    n_added_lines = _count_legend_lines(canvas, labels, note) - n_earlier_lines
    return _legend_below(canvas, handles, labels, note, n_added_lines)


def _legend_below(
    canvas: Canvas,
    handles: Sequence[Any],
    labels: list[str],
    note: str | None,
    n_added_lines: int,
) -> Legend:
    """A legend below the panels, for which the figure grows by some lines."""
    figure = canvas.figure.figure
    width, height = figure.get_size_inches()
    outside = "outside " if is_constrained(canvas.figure) else ""
    style_kwargs: Style = {
        **_LEGEND_STYLE,
        "title": note,
        "loc": f"{outside}lower center",
        "ncols": legend_columns(labels, width),
    }
    figure.set_figheight(height + LEGEND_LINE_HEIGHT * n_added_lines)
    return named_legend(canvas.figure, handles, labels, **style_kwargs)


def _legend_above(
    canvas: Canvas, handles: Sequence[Any], labels: list[str], note: str | None
) -> Legend:
    """A legend above the panels, or in the first panel where no layout makes room."""
    style_kwargs: Style = {"title": note, "title_fontsize": "medium"}
    style_kwargs["fontsize"] = "small"
    if not is_constrained(canvas.figure):
        style_kwargs["frameon"] = True
        return named_legend(canvas.main[0], handles, labels, **style_kwargs)
    ax = canvas.main[0] if canvas.frame is None else canvas.frame
    style_kwargs["ncols"] = legend_columns(labels, 1.25 * axes_inches(ax)[0])
    return named_legend(ax, handles, labels, **style_kwargs, **place_above(ax))


def place_above(ax: Axes) -> Style:
    """Where a legend stands above an axes: below its title, by the end with room."""
    # Matplotlib sets the title of an axes above the axes within it: an empty one takes
    # up the box of the legend.
    ax.inset_axes((0, 1, 1, 0)).set_axis_off()
    ax.child_axes[-1].set_axes_locator(partial(_box_of_legend, ax))
    # A legend that is wider than a narrow axes stands above the names to its left.
    is_narrow = ax.axison and axes_inches(ax)[0] < LEAST_WIDTH
    corner, x = ("lower right", 1) if is_narrow else ("lower left", 0)
    return {"loc": corner, "bbox_to_anchor": (x, 1), "frameon": False}


def _count_legend_lines(canvas: Canvas, labels: list[str], note: str | None) -> int:
    """Lines of a legend below the panels."""
    n_columns = legend_columns(labels, canvas.figure.figure.get_figwidth())
    return -(-len(labels) // n_columns) + (note.count("\n") + 1 if note else 0)


def _box_of_legend(ax: Axes, _: Axes, renderer: RendererBase) -> Bbox:
    """Box above an axes that its legend takes up, in shares of the figure."""
    from matplotlib.transforms import Bbox

    box, legend = ax.get_window_extent(renderer), ax.get_legend()
    tops = [box.y1]
    if legend is not None:
        tops.append(legend.get_window_extent(renderer).y1)
    above = Bbox.from_extents(box.x0, box.y1, box.x1, max(tops))
    return above.transformed(ax.figure.transSubfigure.inverted())


def legend_entries(legend: Legend) -> tuple[dict[str, Any], str | None]:
    """Handles by label of a legend, and its note."""
    labels = [text.get_text().replace(r"\$", "$") for text in legend.get_texts()]
    entries = dict(zip(labels, legend.legend_handles, strict=True))
    return entries, legend.get_title().get_text() or None


def legend_columns(labels: list[str], width: float) -> int:
    """Number of columns of a legend that fit into a width in inches."""
    sizes = [len(shorten(x)) / CHARACTERS_PER_INCH + HANDLE_WIDTH for x in labels]
    for n_columns in range(len(labels), 1, -1):
        # Matplotlib fills columns one after the other; each is as wide as its labels.
        if sum(map(max, np.array_split(sizes, n_columns))) <= width:
            return n_columns
    return 1


def named_legend(
    owner: Axes | Figure | SubFigure,
    handles: Sequence[Any],
    labels: Sequence[object],
    *,
    most: int = NAME_WIDTH,
    **style_kwargs: Any,
) -> Legend:
    """A legend of an axes or a figure whose labels are drawn literally.

    Parameters
    ----------
    owner : Axes or Figure
        Whose legend it is.
    handles : list of artist
        Artists, or containers of them, that the legend explains.
    labels : sequence
        Names of any kind.
    most : int, default=36
        Largest number of characters of a name.
    **style_kwargs : dict
        Keyword arguments of matplotlib's legend.
    """
    # Names are set afterwards: matplotlib drops labels that begin with "_".
    numbers = list(map(str, range(len(labels))))
    legend = owner.legend(handles, numbers, **style_kwargs)
    for text, label in zip(legend.get_texts(), shorten_all(labels, most), strict=True):
        text.set_text(literal(label))
    return legend


def has_side_room(ax: Axes, inches: float) -> bool:
    """Whether something of a width has room to the right of an axes."""
    return _has_room_around(ax) and axes_inches(ax)[0] >= LEAST_WIDTH + inches


def _has_room_around(ax: Axes) -> bool:
    """Whether the figure makes room around an axes."""
    if is_constrained(ax.figure):
        return True
    return ax.figure.axes == [ax] and _is_unarranged(ax.figure)


def side_legend(
    ax: Axes,
    handles: Sequence[Any],
    labels: Sequence[object],
    *,
    title: str | None = None,
    corner: str = "upper right",
    **style_kwargs: Any,
) -> Legend | None:
    """A legend to the right of an axes, or above a narrow one, if it has room there.

    Else it stands in the corner. None without handles.
    """
    if not handles:
        return None
    position: Style = {"loc": corner, "framealpha": 0.85}
    if has_side_room(ax, LEAST_LEGEND_WIDTH):
        position = {
            "loc": "upper left",
            "bbox_to_anchor": (1.01, 1),
            "frameon": False,
            "borderaxespad": 0,
        }
    elif _has_room_around(ax) and len(labels) <= MOST_ABOVE:
        position = place_above(ax)
    style_kwargs = {**position, "alignment": "left", **style_kwargs}
    return named_legend(
        ax,
        handles,
        labels,
        most=SIDE_NAME_LENGTH,
        title=title,
        fontsize="small",
        title_fontsize="small",
        **style_kwargs,
    )
