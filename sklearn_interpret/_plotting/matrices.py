"""Tables of pairs of features, in colours."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from textwrap import fill
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_interpret._model.rows.number_format import column_texts
from sklearn_interpret._plotting.axes import Style, axes_inches
from sklearn_interpret._plotting.colours import text_on
from sklearn_interpret._plotting.labels import (
    CHARACTERS_PER_INCH,
    literal,
    shorten_all,
    tick_positions,
)
from sklearn_interpret._plotting.sources import check_numbers, first_position
from sklearn_interpret._plotting.surfaces import (
    cell_bounds,
    draw_colour_bar,
    draw_heat_map,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import QuadMesh
    from matplotlib.colorbar import Colorbar
    from matplotlib.text import Text

PITCH = 0.5  # inches of a cell
NUMBER_WIDTH = 0.42  # inches of a cell that has room for a number
# Characters of a name; a note of twice as many does not reach the colour bar's label.
NAME_WIDTH = 18
LEAST_NAME_WIDTH = 8  # characters of a name next to a narrow table
BAR_WIDTH = 0.9  # inches of a colour bar with its label
MOST_STRETCHED = 1.5  # width of a table, in its heights, up to which cells are square
NAMES_PER_INCH = 6.5  # of small names below each other, with a space between them
LEAST_PITCH = 0.4  # inches of a row below which names are small


@overload
def check_strengths(
    values: ArrayLike, shape: tuple[int, ...], name: str
) -> NDArray[np.float64]: ...


@overload
def check_strengths(
    values: ArrayLike | None, shape: tuple[int, ...], name: str
) -> NDArray[np.float64] | None: ...


def check_strengths(
    values: ArrayLike | None, shape: tuple[int, ...], name: str
) -> NDArray[np.float64] | None:
    """Strengths of a shape, or None; tables must be symmetric, unknown pairs NaN."""
    if values is None:
        return None
    owner = f"{shape[0]} feature names"
    strengths = check_numbers(np.array(values), name, [shape], owner, finite=False)
    is_valid = np.isfinite(strengths) & (strengths >= 0)
    if len(shape) == 2:
        is_valid |= np.isnan(strengths)
    if not is_valid.all():
        position = first_position(~is_valid)
        raise ValueError(f"{name} is negative or not finite at position {position}.")
    if not np.array_equal(strengths, strengths.T, equal_nan=True):
        raise ValueError(f"{name} is not symmetric.")
    return strengths


def table_size(n_features: int) -> tuple[float, float]:
    """Width and height of a figure for a table, in inches."""
    side = float(np.clip(PITCH * n_features, 2.0, 8.0))
    return side + 2.9, side + 1.3


def draw_table(
    ax: Axes,
    table: NDArray[np.float64],
    names: Sequence[object],
    order: NDArray[np.intp],
    strength_name: str,
    style: Style | None,
    *,
    highest: float | None = None,
    notes: Sequence[str] = (),
) -> tuple[QuadMesh, Colorbar, list[Text]]:
    """Cells for the pairs of some features, the first on top and to the left.

    `order` has their positions in the `names` and in the `table` of all pairs. The
    colours end at the `highest` strength, by default that of the cells. `notes` are
    lines of the title, besides one on features that are left out. Returns the heat map,
    its colour bar, and the numbers on cells that are large enough.
    """
    n_features, n_left_out = len(order), len(names) - len(order)
    if n_left_out:
        weaker = f"{n_left_out} weaker feature{'s' if n_left_out > 1 else ''}"
        notes = [*notes, f"not shown: {weaker}"]
    table, texts = table[np.ix_(order, order)], [str(names[j]) for j in order]
    width, height = axes_inches(ax)
    letters = int(np.clip(5 * width, LEAST_NAME_WIDTH, NAME_WIDTH))
    # Without the names and the colour bar, which a layout puts next to the axes.
    width = 1.25 * width - letters / CHARACTERS_PER_INCH - BAR_WIDTH
    is_wide = width > MOST_STRETCHED * height  # square cells would leave the rest empty
    if not is_wide:
        width = height = min(width, height)
    most = max(2 * letters, int(CHARACTERS_PER_INCH * width))
    ax.set_title("\n".join(fill(note, most) for note in notes), fontsize="small")
    bounds = cell_bounds(np.arange(n_features))
    if highest is None:
        highest = np.nanmax(table, initial=0.0)
    limits = 0.0, highest if highest > 0 else 1.0
    mesh = draw_heat_map(ax, bounds, bounds, table.T, limits, style)
    ax.set(ylim=(n_features - 0.5, -0.5), xlim=(-0.5, n_features - 0.5))
    ax.set_aspect("auto" if is_wide else "equal")
    name_cells(ax, texts, texts, (width, height), (letters, letters))
    bar = draw_colour_bar(ax, mesh, strength_name)
    has_room = width / n_features >= NUMBER_WIDTH and height / n_features >= 0.2
    numbers = _write_numbers(ax, table, mesh, highest) if has_room else []
    return mesh, bar, numbers


def name_cells(
    ax: Axes,
    rows: Sequence[str],
    columns: Sequence[str],
    inches: tuple[float, float] | NDArray[np.float64],
    letters: tuple[int, int],
) -> None:
    """Name the rows and the columns of cells, fewer where they are crowded.

    Parameters
    ----------
    ax : Axes
        With the cells at 0, 1, ...
    rows, columns : list of str
        Names.
    inches : pair of float
        Width and height of all cells.
    letters : pair of int
        Most letters of the name of a column, and of a row.
    """
    width, height = inches
    is_crowded = max(len(rows), len(columns)) > 12 or height / len(rows) < LEAST_PITCH
    style_kwargs: Style = {"fontsize": "small" if is_crowded else None}
    x_ticks, x_texts = _ticks_and_names(columns, width, letters[0])
    y_ticks, y_texts = _ticks_and_names(rows, height, letters[1])
    rotation_kwargs: Style = {"rotation": 45, "ha": "right", "rotation_mode": "anchor"}
    longest = max(map(len, x_texts))
    if longest + 2 <= CHARACTERS_PER_INCH * width / len(columns):
        rotation_kwargs = {}
    ax.set_xticks(x_ticks, x_texts, **style_kwargs, **rotation_kwargs)
    ax.set_yticks(y_ticks, y_texts, **style_kwargs)
    ax.tick_params(length=0)
    ax.grid(visible=False)  # it would show through the empty cells
    ax.spines[:].set_visible(False)


def _ticks_and_names(
    names: Sequence[str], inches: float, letters: int
) -> tuple[NDArray[np.intp], list[str]]:
    """Positions of as many names as there is room for, and these names."""
    ticks = tick_positions(len(names), int(inches * NAMES_PER_INCH))
    short_names = shorten_all([names[tick] for tick in ticks], letters)
    return ticks, list(map(literal, short_names))


def write_cells(
    ax: Axes, cells: Iterable[Any], texts: Iterable[str], fills: Iterable[Any]
) -> list[Text]:
    """Write into cells (row, column), in black or white by their colours."""
    style_kwargs: Style = {"ha": "center", "va": "center", "fontsize": "small"}
    return [
        ax.text(column, row, literal(text), color=text_on(fill), **style_kwargs)
        for (row, column), text, fill in zip(cells, texts, fills, strict=True)
    ]


def _write_numbers(
    ax: Axes, table: NDArray[np.float64], mesh: QuadMesh, highest: float
) -> list[Text]:
    """Write the numbers of the cells, with the precision of the highest."""
    cells = np.argwhere(~np.isnan(table))
    values = table[tuple(cells.T)]
    # Two digits of the highest; larger numbers, beyond the colours, have more.
    decades_beyond = np.log10(values.max() / highest) if highest > 0 else 0.0
    texts = column_texts(values, 2 + max(0, int(np.ceil(decades_beyond))))
    return write_cells(ax, cells, texts, mesh.to_rgba(values))
