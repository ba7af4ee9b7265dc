"""Drawing of features on a circle, joined where they interact."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sklearn_interpret._model.rows.number_format import column_texts, number_text
from sklearn_interpret._plotting.axes import (
    LEAST_WIDTH,
    axes_inches,
    is_constrained,
    named_legend,
)
from sklearn_interpret._plotting.colours import (
    PALETTE,
    paper,
    shade,
    sign_colours,
    stand_out,
    strength_map,
    text_on,
)
from sklearn_interpret._plotting.displays import DisplayMixin
from sklearn_interpret._plotting.labels import JOIN, literal_lines, shorten, write_near
from sklearn_interpret._plotting.points import draw_points
from sklearn_interpret.interactions._plot._circle import (
    Room,
    lay_out,
    needed_size,
    strongest_subnetwork,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import Collection, PathCollection
    from matplotlib.legend import Legend
    from matplotlib.text import Annotation
    from matplotlib.typing import ColorType

    from sklearn_interpret._plotting.axes import Style
    from sklearn_interpret.interactions._plot._circle import Layout, Subnetwork

LEGEND_WIDTH, LEGEND_HEIGHT, NOTE_HEIGHT = 1.65, 0.8, 0.2  # inches
SETS_LEGEND_WIDTH = 3.0  # inches of a legend with larger sets
SET_NAME_LENGTH = 36  # characters of a larger set and its strength there
SMALLEST_NODE, USUAL_NODE = 5.0, 9.0  # diameters in points
THINNEST_EDGE, THICKEST_EDGE = 0.8, 6.0  # widths in points
NODE_COLOUR = "#E69F00"
# Shares of ink in nodes without an edge or a larger set, and in their names.
ISOLATED_INK, ISOLATED_NAME_INK = 0.3, 0.6


class LargerSet(NamedTuple):
    """A set of three features or more."""

    members: Sequence[int]
    strength: float


@dataclass(frozen=True)
class Network:
    """Strengths to draw; with `signed`, colours show their signs."""

    names: list[Any]  # of the features
    adjacency: NDArray[np.float64]  # (p, p): strengths of the edges
    main_effects: NDArray[np.float64] | None  # (p,): sizes of the nodes
    larger_sets: Sequence[LargerSet] = ()  # the strongest first
    signed: bool = False

    def strongest_part(
        self, max_entries: int | None, max_edges: int | None
    ) -> tuple[Subnetwork, list[LargerSet]]:
        """The part that is drawn, and the larger sets within it, by its positions."""
        sizes = None if self.main_effects is None else np.abs(self.main_effects)
        subnetwork = strongest_subnetwork(
            np.abs(self.adjacency), sizes, max_entries, max_edges
        )
        positions = {
            feature: position for position, feature in enumerate(subnetwork.features)
        }
        larger_sets = [
            LargerSet([positions[feature] for feature in members], strength)
            for members, strength in self.larger_sets
            if positions.keys() >= set(members)
        ]
        return subnetwork, larger_sets

    def signed_strengths(self, subnetwork: Subnetwork) -> NDArray[np.float64]:
        """Strengths of the edges that are drawn, with their signs."""
        return self.adjacency[tuple(subnetwork.features[subnetwork.edges].T)]


class NetworkMixin(DisplayMixin):
    """Adds the drawing of a `Network` to a display."""

    @abstractmethod
    def _strength_label(self) -> str:
        """Name of the strengths, and of the response."""

    def _draw_network(
        self,
        ax: Axes,
        network: Network,
        max_entries: int | None,
        max_edges: int | None,
        edge_kw: Style | None,
        node_kw: Style | None,
        max_sets: int | None = None,
        set_kw: Style | None = None,
    ) -> None:
        """Draw on an axes, or in a new figure; set the artists."""
        subnetwork, larger_sets = network.strongest_part(max_entries, max_edges)
        larger_sets = larger_sets[:max_sets]
        note = _note_text(subnetwork, len(network.larger_sets) - len(larger_sets))
        names = [str(network.names[feature]) for feature in subnetwork.features]
        legend_width = SETS_LEGEND_WIDTH if larger_sets else LEGEND_WIDTH
        layout, at_side = self._lay_out(ax, names, legend_width, note=bool(note))
        self.sets_ = self._draw_sets(larger_sets, layout.points, network, set_kw)
        self.edges_ = self._draw_edges(subnetwork, layout.points, network, edge_kw)
        joined = set(subnetwork.edges.ravel().tolist())
        joined.update(*(members for members, _ in larger_sets))
        is_isolated = ~np.isin(np.arange(len(names)), list(joined))
        self.nodes_ = self._draw_nodes(
            subnetwork.features, layout, is_isolated, network, node_kw
        )
        self.labels_ = self._draw_labels(layout, is_isolated)
        entries = self._legend_entries(
            subnetwork, network, layout.largest_diameter, at_side=at_side
        )
        if at_side:
            entries += self._set_entries(larger_sets, layout.names, network)
        # The two largest nodes may follow each other in a legend of signs.
        spacing = 1.4 if at_side and network.signed else 0.9
        self.legend_ = self._draw_legend(entries, spacing, at_side=at_side)
        self.note_ = self._draw_note(note)

    def _lay_out(
        self, ax: Axes, names: list[str], legend_width: float, *, note: bool
    ) -> tuple[Layout, bool]:
        """Take an axes; places of the nodes, and whether the legend is at the side."""
        width, height = needed_size(names)
        ax = self._take_axes(ax, (width + legend_width, height))
        room = _axes_room(ax, legend_width, note=note)
        layout = lay_out(names, room)
        ax.set_axis_off()
        xlim, ylim = room.limits(layout)
        ax.set(xlim=xlim, ylim=ylim, aspect="equal")
        return layout, room.right > 0

    def _draw_sets(
        self,
        larger_sets: list[LargerSet],
        points: NDArray[np.float64],
        network: Network,
        style: Style | None,
    ) -> list[Any]:
        """A polygon for each set; its members are in the order of the circle."""
        from matplotlib.patches import Polygon

        palette: Sequence[str] | NDArray[np.str_]
        palette = [colour for colour in PALETTE if colour != NODE_COLOUR]
        palette = [palette[number % len(palette)] for number in range(len(larger_sets))]
        strengths = np.array([strength for _, strength in larger_sets])
        if network.signed:
            palette = sign_colours(strengths)
        # The same transparency is invisible on dark paper.
        max_alpha = 0.3 if text_on(paper(self.ax_)) == "black" else 0.55
        patches = []
        for (members, _), share, base_colour in zip(
            larger_sets, _relative_strengths(np.abs(strengths)), palette, strict=True
        ):
            colour = stand_out(base_colour, self.ax_)
            patch_style: Style = {
                "facecolor": (colour, max_alpha * (0.25 + 0.75 * share))
            }
            patch_style |= {"linewidth": 1.0, "linestyle": ":", "edgecolor": colour}
            patch = Polygon(points[members], zorder=0.5, **patch_style)
            patch.set(**(style or {}))
            patches.append(self.ax_.add_patch(patch))
        return patches

    def _draw_edges(
        self,
        subnetwork: Subnetwork,
        points: NDArray[np.float64],
        network: Network,
        style: Style | None,
    ) -> Collection:
        from matplotlib.collections import LineCollection

        shares = _relative_strengths(subnetwork.strengths)
        edges = LineCollection(
            list(points[subnetwork.edges]),
            linewidths=_edge_widths(shares),
            colors=self._edge_colours(network.signed_strengths(subnetwork), network),
            capstyle="round",
            zorder=1,
        )
        edges.set(**(style or {}))
        return self.ax_.add_collection(edges, autolim=False)

    def _edge_colours(
        self, strengths: NDArray[np.float64], network: Network
    ) -> NDArray[np.float64] | list[Any]:
        """Colours by sign, or darker ones for stronger edges."""
        if network.signed:
            return [stand_out(colour, self.ax_) for colour in sign_colours(strengths)]
        return _edge_shades(self.ax_, _relative_strengths(strengths))

    def _draw_nodes(
        self,
        features: NDArray[np.intp],
        layout: Layout,
        is_isolated: NDArray[np.bool_],
        network: Network,
        style: Style | None,
    ) -> PathCollection:
        diameters = np.full(len(features), min(USUAL_NODE, layout.largest_diameter))
        effects = network.main_effects
        if effects is not None and np.abs(effects).max() > 0:
            shares = np.abs(effects[features]) / np.abs(effects).max()
            diameters = _node_diameters(shares, layout.largest_diameter)
        node_style: Style = {"edgecolor": paper(self.ax_), "linewidth": 0.8}
        node_style["zorder"] = 2
        node_style["facecolor"] = [
            self._node_colour(isolated) for isolated in is_isolated
        ]
        if network.signed and effects is not None:
            signs = sign_colours(effects[features])
            node_style["facecolor"] = [stand_out(colour, self.ax_) for colour in signs]
        x, y = layout.points.T
        return draw_points(self.ax_, x, y, style, s=diameters**2, **node_style)

    def _node_colour(self, isolated: bool) -> ColorType:
        if isolated:
            return shade(self.ax_, ISOLATED_INK)
        return stand_out(NODE_COLOUR, self.ax_)

    def _draw_labels(self, layout: Layout, is_isolated: NDArray[np.bool_]) -> list[Any]:
        """Names outside of the circle, horizontal or pointing outwards."""
        labels = []
        for name, point, angle, isolated in zip(
            layout.names, layout.points, layout.angles, is_isolated, strict=True
        ):
            x, y = np.round(point, 9)  # zero where only rounding moves it from an axis
            text_style: Style = {"ha": "left" if x >= 0 else "right"}
            text_style["va"] = "center"
            if layout.horizontal and x == 0:
                text_style = {"ha": "center", "va": "bottom" if y > 0 else "top"}
            if not layout.horizontal:
                rotation = np.degrees(angle) % 360 - 180 * (x < 0)
                text_style |= {"rotation": rotation, "rotation_mode": "anchor"}
            text_style |= {"fontsize": layout.font_size, "annotation_clip": False}
            text_style["color"] = shade(self.ax_, ISOLATED_NAME_INK if isolated else 1)
            labels.append(
                write_near(
                    self.ax_, name, point, layout.label_offset * point, **text_style
                )
            )
        return labels

    def _legend_entries(
        self,
        subnetwork: Subnetwork,
        network: Network,
        largest_diameter: float,
        *,
        at_side: bool,
    ) -> list[tuple[Any, str]]:
        """Handles and texts of some edges and nodes with their numbers."""
        from matplotlib.lines import Line2D

        count, entries = 3 if at_side else 2, []
        strengths = network.signed_strengths(subnetwork)
        examples = _legend_values(strengths, count)
        texts = column_texts(examples, signed=network.signed)
        for strength, text in zip(examples, texts, strict=True):
            highest = subnetwork.strengths.max()
            (colour,) = self._edge_colours(np.array([strength, highest]), network)[:1]
            line_style = {
                "color": colour,
                "linewidth": _edge_widths(abs(strength) / highest),
            }
            entries.append((Line2D([], [], **line_style), f"edge {text}"))
        effects = network.main_effects
        if effects is None or not np.abs(effects).max() > 0:
            return entries
        examples = _legend_values(effects[subnetwork.features], count)
        texts = column_texts(examples, signed=network.signed)
        node_style: Style = {"marker": "o", "linestyle": "", "markeredgewidth": 0.8}
        node_style["markeredgecolor"] = paper(self.ax_)
        for effect, text in zip(examples, texts, strict=True):
            nothing_joined = not len(subnetwork.edges) and not network.larger_sets
            colour = self._node_colour(nothing_joined)
            if network.signed:
                colour = stand_out(str(sign_colours(np.array(effect))), self.ax_)
            share = abs(effect) / np.abs(effects).max()
            size = _node_diameters(share, largest_diameter)
            handle = Line2D([], [], color=colour, markersize=size, **node_style)
            entries.append((handle, f"main effect {text}"))
        return entries

    def _set_entries(
        self, larger_sets: list[LargerSet], names: list[str], network: Network
    ) -> list[tuple[Any, str]]:
        """Handles and texts of larger sets."""
        entries = []
        for patch, (members, strength) in zip(self.sets_, larger_sets, strict=True):
            number = number_text(strength, signed=network.signed)
            joined_names = JOIN.join(names[member] for member in members)
            name = shorten(joined_names, SET_NAME_LENGTH - len(f": {number}"))
            entries.append((patch, f"{name}: {number}"))
        return entries

    def _draw_legend(
        self, entries: list[tuple[Any, str]], spacing: float, *, at_side: bool
    ) -> Legend | None:
        """Legend in the strip that is left free for it."""
        if not entries:
            return None
        handles, texts = zip(*entries, strict=True)
        legend_kwargs: Style = {"loc": "upper right", "alignment": "left"}
        if not at_side:
            legend_kwargs = {"loc": "lower center", "ncols": 2, "columnspacing": 1.0}
        return named_legend(
            self.ax_,
            handles,
            texts,
            title=literal_lines(self._strength_label(), 30),
            fontsize="small",
            title_fontsize="small",
            frameon=False,
            borderaxespad=0.1,
            labelspacing=spacing,
            **legend_kwargs,
        )

    def _draw_note(self, text: str) -> Annotation | None:
        """Draw the note in the corner below the circle."""
        if not text:
            return None
        text_style: Style = {"xycoords": "axes fraction", "va": "bottom"}
        return write_near(self.ax_, text, (0, 0), (2, 2), **text_style)


def _note_text(subnetwork: Subnetwork, n_sets: int) -> str:
    """Note that there are no edges, and on edges, features and sets left out."""
    counts = {
        "weaker edge": subnetwork.n_edges_left_out,
        "feature": subnetwork.n_features_left_out,
        "larger set": n_sets,
    }
    texts = [
        f"{count} {kind}{'s' if count > 1 else ''}"
        for kind, count in counts.items()
        if count
    ]
    lines = [] if len(subnetwork.edges) else ["no interactions"]
    if texts:
        texts[-2:] = [" and ".join(texts[-2:])]
        lines.append(f"not shown: {', '.join(texts)}")
    return "\n".join(lines)


def _axes_room(ax: Axes, legend_width: float, *, note: bool) -> Room:
    """Room of the axes, with strips for the legend and for the note."""
    width, height = axes_inches(ax)
    figure = ax.figure.figure
    if is_constrained(ax.figure) and len(figure.axes) == 1:
        # Without texts outside of it, the axes will fill the figure.
        width, height = figure.get_size_inches() - 0.1
    bottom = NOTE_HEIGHT if note else 0.0
    if width >= LEAST_WIDTH + legend_width / 2:
        return Room(width, height, legend_width, bottom)
    return Room(width, height, 0.0, bottom + LEGEND_HEIGHT)


def _node_diameters(shares: Any, largest: float) -> Any:
    """Diameters of nodes in points: their areas grow with the shares."""
    smallest = min(SMALLEST_NODE, largest / 2)
    return np.sqrt(smallest**2 + (largest**2 - smallest**2) * shares)


def _relative_strengths(strengths: NDArray[np.float64]) -> NDArray[np.float64]:
    """Strengths in units of the largest."""
    return strengths / strengths.max() if len(strengths) else strengths


def _edge_widths(shares: Any) -> Any:
    """Widths of edges in points, linear in the shares."""
    return THINNEST_EDGE + (THICKEST_EDGE - THINNEST_EDGE) * shares


def _edge_shades(ax: Axes, shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Colours of edges: stronger ones have more contrast with the paper."""
    return strength_map(ax)(0.3 + 0.7 * shares)


def _legend_values(values: NDArray[np.float64], count: int) -> list[float]:
    """The largest and the smallest positive value, and one between them.

    If these hardly differ, only the largest; of signed values, the ends of their range.
    """
    if (values < 0).any():
        ends = dict.fromkeys([values.max(), values.min()])
        return [end for end in ends if end]
    values = values[values > 0]
    if not len(values):
        return []
    high, low = values.max(), values.min()
    if low > 0.7 * high:
        return [high]
    return [high, low] if count == 2 else [high, low / 2 + high / 2, low]
