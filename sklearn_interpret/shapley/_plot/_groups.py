"""Lines of features and of groups of features: their order, and how they are named.

Groups stand above their members, which are indented. Groups of more than two levels,
such as those of a hierarchical clustering, are a tree next to the names instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from sklearn_interpret._inspectors.nested_groups import Entry, walk
from sklearn_interpret._plotting.colours import shade
from sklearn_interpret._plotting.ranked_bars import name_rows, others_text, rank_entries

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.transforms import Affine2DBase

    from sklearn_interpret._plotting.axes import Style

MOST_LEVELS = 2  # of groups with lines; deeper ones are drawn as a tree
# Fewest lines that show a group with members: its own, a member's and the others'.
LEAST_LINES = 3
INNER_HEIGHT = 0.62  # of bars, relative to the bars around them
INDENT = "\N{EM SPACE}"
POINTS_PER_INCH = 72
# Inches between axes, names and tree.
GAP = 0.06
TREE_WIDTH = 0.8  # largest width in inches
LEVEL_WIDTH = 0.16  # of a level of the tree, where there are few


class Line(NamedTuple):
    """A line of a figure: of an entry, or of several together."""

    entries: tuple[Entry, ...]
    depth: int = 0  # number of groups around it that have lines

    @property
    def is_group(self) -> bool:
        """Whether it is the line of one group."""
        return len(self.entries) == 1 and bool(self.entries[0].children)

    @property
    def features(self) -> tuple[int, ...]:
        """Positions of all its features."""
        return tuple(each.position for each in walk(self.entries) if not each.children)

    def name(self, prefix: str = "", columns: Any = None) -> str:
        """Name of the entry, or a text for several, which begins with the prefix."""
        if len(self.entries) == 1:
            return self.entries[0].name
        are_groups = [bool(entry.children) for entry in self.entries]
        if not any(are_groups):
            return prefix + others_text(len(self.entries), columns)
        noun = "groups" if all(are_groups) else "groups and features"
        return f"{prefix}{len(self.entries)} other {noun}"


@dataclass(frozen=True)
class Lines:
    """The lines of a figure, from the top."""

    lines: list[Line]
    entries: list[Entry]  # all of them, each followed by those within it
    has_tree: bool  # whether groups are a tree, without lines

    @property
    def depths(self) -> NDArray[np.intp]:
        """Number of groups with lines around each line."""
        return np.array([line.depth for line in self.lines])

    @property
    def heights(self) -> NDArray[np.float64]:
        """Heights of bars, relative to those of the outermost lines."""
        return np.power(INNER_HEIGHT, self.depths, dtype=np.float64)

    @property
    def are_combined(self) -> NDArray[np.bool_]:
        """Which lines are of several entries."""
        return np.array([len(line.entries) > 1 for line in self.lines])

    def sums(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Values (n_features + n_groups, ...) of the lines: sums over their entries."""
        positions = [[entry.position for entry in line.entries] for line in self.lines]
        return np.stack([values[each].sum(axis=0) for each in positions])

    def write_names(self, ax: Axes, names: Sequence[str]) -> None:
        """Name the lines, those within groups indented, with the tree on the left."""
        name_rows(ax, names)
        if not self.has_tree and not self.depths.any():
            return
        rows = len(names) - 1 - ax.get_yticks().astype(int)  # those with a name
        indented = []
        for row, label in zip(rows, ax.get_yticklabels(), strict=True):
            indent = INDENT * self.lines[row].depth
            indented.append(indent + label.get_text().replace("\n", "\n" + indent))
        ax.set_yticks(ax.get_yticks(), indented)
        labels = ax.get_yticklabels()
        for row, label in zip(rows, labels, strict=True):
            label.set_horizontalalignment("left")
            label.set_fontweight("bold" if self.lines[row].is_group else "normal")
        widths = [label.get_window_extent().width for label in labels]
        width = max(widths, default=0.0) / ax.figure.figure.dpi
        ax.tick_params(axis="y", pad=POINTS_PER_INCH * (width + GAP))
        if self.has_tree:
            self._draw_tree(ax, width + 2 * GAP)

    def _draw_tree(self, ax: Axes, left: float) -> None:
        """Draw the tree of groups, some inches to the left of the axes."""
        from matplotlib.transforms import ScaledTranslation, blended_transform_factory

        rows = {
            line.entries[0].position: float(len(self.lines) - 1 - row)
            for row, line in enumerate(self.lines)
            if len(line.entries) == 1
        }
        segments: list[tuple[float, float]] = []  # levels and heights of lines

        def join(entry: Entry) -> tuple[float, float] | None:
            """Level and height of an entry; None if none of its features has a line."""
            if not entry.children:
                height = rows.get(entry.position)
                return None if height is None else (0, height)
            points = [point for child in entry.children if (point := join(child))]
            if len(points) < 2:
                return points[0] if points else None
            level = 1 + max(level for level, _ in points)
            middle = (points[0][1] + points[-1][1]) / 2
            for start, height in points:
                segments.extend([(start, height), (level, height), (level, middle)])
                segments.append((np.nan, np.nan))
            return level, middle

        for entry in self.entries:
            if len(entry.path) == 1:
                join(entry)
        if not segments:
            return
        levels, heights = np.array(segments).T
        step = min(LEVEL_WIDTH, TREE_WIDTH / np.nanmax(levels))
        axes_corner = ScaledTranslation(0, 0, cast("Affine2DBase", ax.transAxes))
        inches = ax.figure.dpi_scale_trans + axes_corner
        transform = blended_transform_factory(inches, ax.transData)
        style: Style = {"color": shade(ax, 0.6), "linewidth": 1.0, "clip_on": False}
        ax.plot(-left - step * levels, heights, transform=transform, **style)


def grouped_lines(
    entries: list[Entry], strengths: NDArray[np.float64], max_entries: int | None
) -> Lines:
    """Lines of features and groups, the strongest on top, and members below groups.

    `strengths` are (n_features + n_groups,). At most `max_entries` lines: groups are
    whole where there is room, the weakest members of the next one share a line, and the
    weaker entries the last line.
    """
    ranked = _ranked(entries, strengths)
    listed = walk(ranked)
    if max(len(entry.path) for entry in listed) <= MOST_LEVELS:
        return Lines(_fit_lines(ranked, max_entries, 0), listed, False)
    features = [entry for entry in listed if not entry.children]
    single, remaining = rank_entries(
        strengths[[entry.position for entry in features]], max_entries
    )
    lines = [Line((features[k],)) for k in np.sort(single)]
    if len(remaining):
        lines.append(Line(tuple(features[k] for k in remaining)))
    return Lines(lines, listed, True)


def _ranked(entries: Sequence[Entry], strengths: NDArray[np.float64]) -> list[Entry]:
    """Entries from the strongest down, and so within the groups."""
    order, _ = rank_entries(strengths[[entry.position for entry in entries]], None)
    return [
        entries[k]._replace(children=tuple(_ranked(entries[k].children, strengths)))
        if entries[k].children
        else entries[k]
        for k in order
    ]


def _fit_lines(entries: Sequence[Entry], most: int | None, depth: int) -> list[Line]:
    """Lines of entries and of those within them, at most `most`."""
    sizes = [len(walk([entry])) for entry in entries]
    n_whole, room = len(entries), 0
    if most is not None and sum(sizes) > most:
        n_whole = int((np.cumsum(sizes) < most).sum())
        room = most - 1 - sum(sizes[:n_whole])
    lines = []
    for entry in entries[:n_whole]:
        lines += [Line((entry,), depth), *_fit_lines(entry.children, None, depth + 1)]
    if room >= LEAST_LINES:
        inner = _fit_lines(entries[n_whole].children, room - 1, depth + 1)
        lines += [Line((entries[n_whole],), depth), *inner]
        n_whole += 1
    if n_whole < len(entries):
        lines.append(Line(tuple(entries[n_whole:]), depth))
    return lines
