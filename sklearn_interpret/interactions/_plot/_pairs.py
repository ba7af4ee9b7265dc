"""Pairs of features as groups of bars, and as a table in colours."""

from dataclasses import dataclass

import numpy as np

from sklearn_interpret._plotting.axes import axes_inches
from sklearn_interpret._plotting.bars import ranked
from sklearn_interpret._plotting.colours import text_on
from sklearn_interpret._plotting.labels import (
    CHARACTERS_PER_INCH,
    literal,
    number_text,
    shorten,
    shown_ticks,
)
from sklearn_interpret._plotting.surfaces import (
    cell_bounds,
    draw_colour_bar,
    draw_heat_map,
)

JOIN = " \N{MULTIPLICATION SIGN} "
LABEL_WIDTH = 30
TWO_LINES_PITCH = 0.3  # inches
PITCH = 0.5  # inches of a cell
NUMBER_WIDTH = 0.42  # inches that a number takes
NAME_WIDTH = 18
NAMES_PER_INCH = 6.5


@dataclass(frozen=True)
class Group:
    """Lines of one kind, the strongest first."""

    title: str  # what they are
    names: list  # one name, or those of a pair
    values: np.ndarray  # (n_lines,): strengths
    # Standard deviations (n_lines,), NaN for the line of the others.
    spreads: np.ndarray | None
    n_others: int  # number of those that share the last line, which is their mean

    def __len__(self):
        return len(self.names)


def checked_strengths(values, shape, name):
    """Numbers of a shape (None stays), symmetric tables with NaN for unknown pairs."""
    if values is None:
        return None
    values = np.array(values, dtype=np.float64)
    if values.shape != shape or not values.size:
        raise ValueError(
            f"{name} has the shape {values.shape}; {shape} is needed, for {shape[0]} "
            "feature names."
        )
    fine = np.isfinite(values) & (values >= 0)
    if len(shape) == 2:
        fine |= np.isnan(values)
    if not fine.all():
        bad = np.argwhere(~fine)[0].tolist()
        place = tuple(bad) if len(bad) > 1 else bad[0]
        raise ValueError(f"{name} is negative or not finite at position {place}.")
    if not np.array_equal(values, values.T, equal_nan=True):
        raise ValueError(f"{name} is not symmetric.")
    return values


def known_pairs(pairwise):
    """Positions (n_pairs, 2) of the pairs j < k that have a strength."""
    upper = np.triu(np.ones_like(pairwise, dtype=bool), 1)
    return np.argwhere(upper & ~np.isnan(pairwise))


def make_group(title, names, values, spreads, max_display):
    """The strongest of them, and one line for the mean of the others."""
    shown, rest = ranked(values, max_display)
    names = [names[place] for place in shown]
    kept = values[shown]
    spreads = None if spreads is None else spreads[shown]
    if len(rest):
        names.append((f"mean of {len(rest)} others",))
        kept = np.append(kept, values[rest].mean())
        spreads = None if spreads is None else np.append(spreads, np.nan)
    return Group(title, names, kept, spreads, len(rest))


def name_lines(ax, groups):
    """Name the lines of all groups, one left free in between; the places of each."""
    n_lines = sum(map(len, groups)) + len(groups) - 1
    width, height = axes_inches(ax)
    two_lines = height / n_lines >= TWO_LINES_PITCH
    most = int(np.clip(width * CHARACTERS_PER_INCH / 2.5, 20, LABEL_WIDTH))
    places, top, texts = [], n_lines - 1.0, []
    for group in groups:
        places.append(top - np.arange(len(group)))
        top -= len(group) + 1
        texts += [_joined(name, most, two_lines=two_lines) for name in group.names]
    small = "small" if not two_lines or any("\n" in text for text in texts) else None
    ax.set_yticks(np.concatenate(places), texts, fontsize=small)
    ax.set_ylim(-0.6, n_lines - 0.4)
    ax.tick_params(axis="y", length=0)
    return places


def _joined(names, most, *, two_lines):
    """One name, or two joined, that fit on a line or on two."""
    if len(JOIN.join(names)) <= most or len(names) == 1:
        return literal(shorten(JOIN.join(names), most))
    if two_lines:
        first, second = (shorten(name, most - 2) for name in names)
        return literal(f"{first}{JOIN.rstrip()}\n{second}")
    # A short name leaves its room to the other one.
    room = most - len(JOIN)
    longest = max(room // 2, room - min(map(len, names)))
    return literal(JOIN.join(shorten(name, longest) for name in names))


def table_size(n_features):
    """Width and height of a figure for a table, in inches."""
    side = float(np.clip(PITCH * n_features, 2.0, 8.0))
    return side + 2.9, side + 1.3


def draw_table(ax, table, names, strength_name, style):
    """Cells for the pairs (p, p), the first feature on top and to the left.

    Returns the heat map, its colour bar, and the numbers on cells that are large
    enough.
    """
    p = len(names)
    width, height = axes_inches(ax)
    side = min(0.75 * width, height)  # without the names and the colour bar
    bounds = cell_bounds(np.arange(p))
    highest = np.nanmax(table, initial=0.0)
    limits = 0.0, highest if highest > 0 else 1.0
    shown = draw_heat_map(ax, bounds, bounds, table.T, limits, style)
    ax.set(ylim=(p - 0.5, -0.5), xlim=(-0.5, p - 0.5), aspect="equal")
    places = shown_ticks(p, int(side * NAMES_PER_INCH))
    texts = [literal(shorten(names[place], NAME_WIDTH)) for place in places]
    small = "small" if len(texts) > 12 else None
    ax.set_yticks(places, texts, fontsize=small)
    level = max(map(len, texts)) * 0.09 < 0.9 * side / p
    turned = {} if level else {"rotation": 45, "ha": "right", "rotation_mode": "anchor"}
    ax.set_xticks(places, texts, fontsize=small, **turned)
    ax.tick_params(length=0)
    ax.grid(visible=False)  # it would show through the empty cells
    ax.spines[:].set_visible(False)
    bar = draw_colour_bar(ax, shown, strength_name)
    numbers = []
    if side / p >= NUMBER_WIDTH:
        numbers = _write_numbers(ax, table, shown, highest)
    return shown, bar, numbers


def _write_numbers(ax, table, shown, highest):
    """The numbers of the cells, as exact as the highest, dark on bright cells."""
    unit = 10.0 ** (np.floor(np.log10(highest)) - 1) if highest > 0 else 1.0
    texts = []
    for row, column in np.argwhere(~np.isnan(table)):
        value = table[row, column]
        text = number_text(unit * np.round(value / unit), 2)
        looks = {"ha": "center", "va": "center", "fontsize": "small"}
        looks["color"] = text_on(shown.to_rgba(value))
        texts.append(ax.text(column, row, text, **looks))
    return texts
