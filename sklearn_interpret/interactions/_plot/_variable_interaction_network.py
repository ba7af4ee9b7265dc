"""Display of a network of features on a circle."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from sklearn_interpret._plotting.axes import (
    WIDE,
    axes_inches,
    is_constrained,
    named_legend,
)
from sklearn_interpret._plotting.colours import paper, seen, shade, strength_map
from sklearn_interpret._plotting.labels import column_texts, literal_lines, write_near
from sklearn_interpret._plotting.matrices import checked_strengths
from sklearn_interpret._plotting.points import draw_points
from sklearn_interpret.explanations._selection import output_position
from sklearn_interpret.interactions._plot._circle import (
    Room,
    choose,
    lay_out,
    needed_size,
)
from sklearn_interpret.interactions._plot._sources import InteractionSources, one_output
from sklearn_interpret.interactions._variable_interaction_network import (
    VariableInteractionNetwork,
)

LEGEND_WIDTH, LEGEND_HEIGHT, NOTE_HEIGHT = 1.65, 0.8, 0.2  # inches
SMALLEST, USUAL = 5.0, 9.0  # diameters of nodes in points
THINNEST, THICKEST = 0.8, 6.0  # widths of edges in points
NODE_COLOUR = "#E69F00"
ALONE, ALONE_TEXT = 0.3, 0.6  # shares of ink in grey nodes and names


@dataclass(eq=False, repr=False)
class VariableInteractionNetworkDisplay(InteractionSources):
    """Features on a circle, joined where they interact.

    The stronger an edge, the wider and darker it is; the larger a node, the larger the
    feature's effect alone. Features without an edge are grey.

    Build it with `from_estimator`, or from arrays of your own, such as the strengths
    that other inspectors find for pairs.

    Parameters
    ----------
    adjacency : array-like of shape (n_features, n_features)
        Symmetric strengths of the edges, zero or NaN where there is none; the diagonal
        is left out.
    feature_names : sequence of str
        Name of each feature.
    main_effects : array-like of shape (n_features,), default=None
        Sizes of the nodes; None draws them alike.
    strength_name : str, default="Share of variance"
        Name of the numbers, for the legend.

    Attributes
    ----------
    figure_ : matplotlib Figure
        The figure drawn on.
    ax_ : matplotlib Axes
        The axes drawn on.
    edges_ : LineCollection
        The edges, the weakest first.
    nodes_ : PathCollection
        The nodes, in the order of the features.
    labels_ : list of Annotation
        Their names.
    legend_ : matplotlib Legend or None
        Widths and sizes of some strengths and main effects.
    note_ : Text or None
        Numbers of edges and features that are not drawn.

    See Also
    --------
    sklearn_interpret.interactions.VariableInteractionNetwork : What it shows.

    Examples
    --------
    >>> from sklearn_interpret.interactions import VariableInteractionNetworkDisplay
    >>> display = VariableInteractionNetworkDisplay(
    ...     [[0, 0.3], [0.3, 0]], feature_names=["age", "income"]
    ... ).plot()
    >>> display.to_frame()
      feature feature2  strength
    0     age   income       0.3
    """

    _kinds = (VariableInteractionNetwork,)
    _choices = frozenset({"target"})

    adjacency: ArrayLike
    _: KW_ONLY
    feature_names: Any
    main_effects: ArrayLike | None = None
    strength_name: str = "Share of variance"

    @classmethod
    def _from_inspector(cls, inspector, data, *, target: Any = None):
        output = output_position(inspector.output_names_, target)
        display = cls(
            one_output(inspector.adjacency_, 2, output),
            main_effects=one_output(inspector.main_effects_, 1, output),
            feature_names=list(inspector.player_names_),
        )
        return display._set_response(inspector, target)

    def plot(
        self,
        ax: Any = None,
        *,
        max_entries: int | None = 40,
        max_edges: int | None = 60,
        edge_kw: dict[str, Any] | None = None,
        node_kw: dict[str, Any] | None = None,
    ) -> Self:
        """Draw the network.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            None makes a figure. The axes' frame is switched off.
        max_entries : int, default=40
            Largest number of features: those with the strongest edges, and then those
            with the largest main effects. None shows all.
        max_edges : int, default=60
            Largest number of edges, the strongest; None shows all. A note says what is
            not drawn.
        edge_kw, node_kw : dict, default=None
            Styles of the edges and of the nodes.

        Returns
        -------
        self : object
            The display.

        Raises
        ------
        ValueError
            A `max_entries` or `max_edges` that is not a positive whole number, or
            arrays that do not fit each other.
        """
        adjacency, main_effects = self._arrays()
        chosen = choose(adjacency, main_effects, max_entries, max_edges)
        names = [str(self.feature_names[place]) for place in chosen.players]
        width, height = needed_size(names)
        ax = self._take(ax, (width + LEGEND_WIDTH, height))
        note = _note(chosen)
        room = _room(ax, note=bool(note))
        layout = lay_out(names, room)
        largest = layout.largest
        ax.set_axis_off()
        xlim, ylim = room.limits(layout)
        ax.set(xlim=xlim, ylim=ylim, aspect="equal")
        diameters = np.full(len(names), min(USUAL, largest))
        if main_effects is not None and main_effects.max() > 0:
            shares = main_effects[chosen.players] / main_effects.max()
            diameters = _diameters(shares, largest)
        self.edges_ = self._draw_edges(chosen, layout.points, edge_kw)
        alone = ~np.isin(np.arange(len(names)), chosen.edges)
        self.nodes_ = self._draw_nodes(layout.points, diameters, alone, node_kw)
        self.labels_ = self._draw_labels(layout, alone)
        self.legend_ = self._draw_legend(
            chosen, main_effects, largest, beside=room.right > 0
        )
        self.note_ = self._draw_note(note)
        return self

    def _arrays(self):
        """Adjacency and main effects, checked against the names."""
        p = len(self.feature_names)
        adjacency = checked_strengths(self.adjacency, (p, p), "adjacency")
        return adjacency, checked_strengths(self.main_effects, (p,), "main_effects")

    def _draw_edges(self, chosen, points, style):
        from matplotlib.collections import LineCollection

        shares = _shares(chosen.strengths)
        edges = LineCollection(
            points[chosen.edges],
            linewidths=_widths(shares),
            colors=_shades(self.ax_, shares),
            capstyle="round",
            zorder=1,
        )
        edges.set(**(style or {}))
        return self.ax_.add_collection(edges, autolim=False)

    def _draw_nodes(self, points, diameters, alone, style):
        looks = {"edgecolor": paper(self.ax_), "linewidth": 0.8, "zorder": 2}
        looks["facecolor"] = [self._node_colour(each) for each in alone]
        return draw_points(self.ax_, *points.T, style, s=diameters**2, **looks)

    def _node_colour(self, alone):
        return shade(self.ax_, ALONE) if alone else seen(NODE_COLOUR, self.ax_)

    def _draw_labels(self, layout, alone):
        """Names outside of the circle, level or pointing outwards."""
        labels = []
        for name, point, angle, lonely in zip(
            layout.names, layout.points, layout.angles, alone, strict=True
        ):
            right, up = np.round(point, 9)
            looks = {"ha": "left" if right >= 0 else "right", "va": "center"}
            if layout.level and right == 0:
                looks = {"ha": "center", "va": "bottom" if up > 0 else "top"}
            if not layout.level:
                turn = np.degrees(angle) % 360 - 180 * (right < 0)
                looks |= {"rotation": turn, "rotation_mode": "anchor"}
            looks |= {"fontsize": layout.font_size, "annotation_clip": False}
            looks["color"] = shade(self.ax_, ALONE_TEXT if lonely else 1)
            labels.append(
                write_near(self.ax_, name, point, layout.gap * point, **looks)
            )
        return labels

    def _draw_legend(self, chosen, main_effects, largest, *, beside):
        """Legend of some edges and nodes with their numbers, in its strip."""
        from matplotlib.lines import Line2D

        strengths = _examples(chosen.strengths, 3 if beside else 2)
        texts, looks = [f"edge {text}" for text in column_texts(strengths)], []
        for strength in strengths:
            share = strength / chosen.strengths.max()
            look = {"color": _shades(self.ax_, share), "linewidth": _widths(share)}
            looks.append(look)
        if main_effects is not None and main_effects.max() > 0:
            effects = _examples(main_effects[chosen.players], 3 if beside else 2)
            texts += [f"main effect {text}" for text in column_texts(effects)]
            node = {"color": self._node_colour(not len(chosen.edges)), "marker": "o"}
            node |= {"markeredgecolor": paper(self.ax_), "markeredgewidth": 0.8}
            sizes = [_diameters(e / main_effects.max(), largest) for e in effects]
            looks += [{**node, "linestyle": "", "markersize": size} for size in sizes]
        if not texts:
            return None
        handles = [Line2D([], [], **look) for look in looks]
        looks = {"loc": "upper right", "alignment": "left"}
        if not beside:
            looks = {"loc": "lower center", "ncols": 2, "columnspacing": 1.0}
        return named_legend(
            self.ax_,
            handles,
            texts,
            title=literal_lines(self._label(), 30),
            fontsize="small",
            title_fontsize="small",
            frameon=False,
            borderaxespad=0.1,
            labelspacing=0.9,
            **looks,
        )

    def _draw_note(self, text):
        """Draw the note in the corner below the circle."""
        if not text:
            return None
        looks = {"xycoords": "axes fraction", "va": "bottom"}
        return write_near(self.ax_, text, (0, 0), (2, 2), **looks)

    def to_frame(self) -> Any:
        """All edges as a DataFrame, the strongest first, and all main effects.

        Returns
        -------
        pandas.DataFrame
            With the columns "feature", "feature2" and "strength"; where there are main
            effects, these follow in the column "main_effect", on one line for each
            feature, without a second one.
        """
        adjacency, main_effects = self._arrays()
        names = list(map(str, self.feature_names))
        chosen = choose(adjacency, main_effects, None, None)
        firsts, seconds = chosen.edges[::-1].T
        n_nodes = 0 if main_effects is None else len(names)
        seconds = [names[place] for place in seconds] + [None] * n_nodes
        columns = {
            "feature": [names[place] for place in firsts] + names[:n_nodes],
            "feature2": seconds,
            "strength": np.append(chosen.strengths[::-1], np.full(n_nodes, np.nan)),
        }
        if main_effects is not None:
            unknown = np.full(len(firsts), np.nan)
            columns["main_effect"] = np.append(unknown, main_effects)
        return self._frame(columns).astype({"feature2": "string"})


def _note(chosen):
    """Note on missing edges, and on edges and features that are not drawn."""
    parts = [
        f"{count} {what}{'s' if count > 1 else ''}"
        for count, what in zip(chosen.left_out, ("weaker edge", "feature"), strict=True)
        if count
    ]
    lines = [] if len(chosen.edges) else ["no interactions"]
    return "\n".join(lines + ([f"not shown: {' and '.join(parts)}"] if parts else []))


def _room(ax, *, note):
    """Room of the axes, with strips for the legend and for the note."""
    width, height = axes_inches(ax)
    figure = ax.figure.figure
    if is_constrained(ax.figure) and len(figure.axes) == 1:
        # Without texts outside of it, the axes will fill the figure.
        width, height = figure.get_size_inches() - 0.1
    bottom = NOTE_HEIGHT if note else 0.0
    if width >= WIDE + LEGEND_WIDTH / 2:
        return Room((width, height), LEGEND_WIDTH, bottom)
    return Room((width, height), 0.0, bottom + LEGEND_HEIGHT)


def _diameters(shares, largest):
    """Diameters of nodes in points: their areas grow with the shares."""
    smallest = min(SMALLEST, largest / 2)
    return np.sqrt(smallest**2 + (largest**2 - smallest**2) * shares)


def _shares(strengths):
    return strengths / strengths.max() if len(strengths) else strengths


def _widths(shares):
    return THINNEST + (THICKEST - THINNEST) * shares


def _shades(ax, shares):
    """Colours of edges: stronger ones have more contrast with the paper."""
    return strength_map(ax)(0.3 + 0.7 * shares)


def _examples(values, count):
    """The largest value and the smallest above zero, and one between them.

    The largest alone if they hardly differ.
    """
    values = values[values > 0]
    if not len(values):
        return []
    high, low = values.max(), values.min()
    if low > 0.7 * high:
        return [high]
    return [high, low] if count == 2 else [high, low / 2 + high / 2, low]
