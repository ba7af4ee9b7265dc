"""The part of a network that is drawn, and where its features stand on a circle.

`strongest_subnetwork` chooses features and edges; `lay_out` finds the radius of the
circle and the size of the labels for an axes, whose space is a `Room`. Positions are in
units of the radius, from the centre of the circle; sizes are in inches. Sizes without a
reason next to them are chosen by hand, by looking at drawings.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sklearn_interpret._plotting.labels import shorten_all

# Most nodes whose labels are horizontal; more have labels that point outwards.
MOST_HORIZONTAL = 12
LONGEST_NAME = 24  # most characters of a name
SHORTEST_NAME = 8  # characters that a name keeps, however little room there is
FONT_SIZE = 10.0  # usual and largest size of the labels, in points
LINE_HEIGHT = 0.19  # inches from a line of text to the next, at the usual size
CHARACTER_WIDTH = 0.088  # inches, at the usual size
MARGIN = 0.05  # inches around everything
POINTS_PER_INCH = 72.0
LARGEST_NODE = 20.0  # diameter in points
NODE_TO_LABEL = 3.0  # points from the edge of the largest node to its label
FONT_SIZE_STEPS = 20  # of the search for a font size
# Sines and cosines below this are those of nodes on an axis of the circle.
ROUNDING = 1e-9


@dataclass(frozen=True)
class Subnetwork:
    """The part of a network that is drawn."""

    features: NDArray[np.intp]  # their positions in the network, increasing
    edges: NDArray[np.intp]  # (n_edges, 2): positions in `features`, the weakest first
    strengths: NDArray[np.float64]  # of these edges
    n_edges_left_out: int
    n_features_left_out: int


def strongest_subnetwork(
    adjacency: NDArray[np.float64],
    main_effects: NDArray[np.float64] | None,
    max_entries: int | None,
    max_edges: int | None,
) -> Subnetwork:
    """The features with the strongest edges, and the strongest edges of these."""
    n_features = len(adjacency)
    edges = np.argwhere(np.triu(np.nan_to_num(adjacency) > 0, 1))
    strengths = adjacency[tuple(edges.T)]
    order = np.argsort(strengths, kind="stable")
    edges, strengths, n_edges = edges[order], strengths[order], len(edges)
    strongest_edges = np.zeros(n_features)
    np.maximum.at(strongest_edges, edges.ravel(), np.repeat(strengths, 2))
    effects = np.zeros(n_features) if main_effects is None else main_effects
    ranks = np.lexsort((-effects, -strongest_edges))  # the last key counts first
    features = np.sort(ranks[:max_entries])
    is_inside = np.isin(edges, features).all(axis=1)
    edges, strengths = edges[is_inside], strengths[is_inside]
    if max_edges is not None:
        edges, strengths = edges[-max_edges:], strengths[-max_edges:]
    return Subnetwork(
        features,
        np.searchsorted(features, edges),
        strengths,
        n_edges - len(edges),
        n_features - len(features),
    )


@dataclass(frozen=True)
class Room:
    """Size of an axes in inches, and its strips outside of the circle."""

    width: float
    height: float
    right: float = 0.0
    bottom: float = 0.0

    @property
    def half_sides(self) -> NDArray[np.float64]:
        """Half of the width and height left for the circle and its labels."""
        return np.array([self.width - self.right, self.height - self.bottom]) / 2

    def limits(self, layout: Layout) -> tuple[tuple[float, float], tuple[float, float]]:
        """Limits of the axes along x and y, in units of the circle's radius."""
        half_width, half_height = self.half_sides / layout.radius
        right, bottom = self.right / layout.radius, self.bottom / layout.radius
        middle = _middle_height(layout.angles)
        ylim = middle - half_height - bottom, middle + half_height
        return (-half_width, half_width + right), ylim


@dataclass(frozen=True)
class Layout:
    """Places of nodes, at distance one from the centre, and of their labels."""

    angles: NDArray[np.float64]  # of the nodes, in radians
    names: list[str]  # shortened to the room that they have
    horizontal: bool  # whether labels are horizontal; else they point outwards
    font_size: float  # points
    radius: float  # of the circle, in inches

    @property
    def largest_diameter(self) -> float:
        """Diameter that the nodes may have, in points."""
        return _largest_diameter(self.radius, len(self.angles))

    @property
    def label_offset(self) -> float:
        """Points from the centre of a node to its label."""
        return POINTS_PER_INCH * _label_offset(self.radius, len(self.angles))

    @property
    def points(self) -> NDArray[np.float64]:
        """Places of the nodes: (n, 2)."""
        return np.stack([np.cos(self.angles), np.sin(self.angles)], axis=1)


def circle_angles(n: int) -> NDArray[np.float64]:
    """Angles clockwise from the top; an even number has none at the very top."""
    first = np.pi / 2 - (0 if n % 2 else np.pi / n)
    return first - 2 * np.pi * np.arange(n) / n


def _middle_height(angles: NDArray[np.float64]) -> float:
    """Height half-way between the lowest and the highest node."""
    heights = np.sin(angles)
    return (heights.min() + heights.max()) / 2


def needed_size(names: list[str]) -> tuple[float, float]:
    """Width and height in inches for a circle with these labels."""
    n = len(names)
    diameter = float(np.clip(2.4 + 0.07 * n, 2.6, 10.0))
    longest = min(max(map(len, names)), LONGEST_NAME)
    label_widths = 2 * CHARACTER_WIDTH * longest + 0.4  # on both sides
    label_heights = 0.7 if n <= MOST_HORIZONTAL else label_widths
    return diameter + label_widths, diameter + label_heights


def lay_out(names: list[str], room: Room) -> Layout:
    """Nodes on a circle with labels outside of it that do not overlap."""
    n, half_sides = len(names), room.half_sides
    angles = circle_angles(n)
    if n <= MOST_HORIZONTAL:
        texts = _shorten_names(names, half_sides[0])
        radius = _largest_radius(texts, angles, half_sides, FONT_SIZE, horizontal=True)
        if _labels_fit(angles, radius + _label_offset(radius, n)):
            return Layout(angles, texts, True, FONT_SIZE, radius)
    texts = _shorten_names(names, half_sides.min())
    font_size = FONT_SIZE
    # The size of the labels and the radius depend on each other.
    for _ in range(FONT_SIZE_STEPS):
        radius = _largest_radius(texts, angles, half_sides, font_size, horizontal=False)
        font_size = (font_size + _fitting_font_size(radius, n)) / 2
    return Layout(angles, texts, False, _fitting_font_size(radius, n), radius)


def _largest_diameter(radius: float, n: int) -> float:
    """Largest diameter of one of n nodes on the circle, in points."""
    arc = POINTS_PER_INCH * 2 * np.pi * radius / n  # from a node to the next
    return min(LARGEST_NODE, 0.7 * arc)


def _label_offset(radius: float, n: int) -> float:
    """Inches from the centre of a node to its label."""
    return (_largest_diameter(radius, n) / 2 + NODE_TO_LABEL) / POINTS_PER_INCH


def _fitting_font_size(radius: float, n: int) -> float:
    """Font size at which labels that point outwards do not overlap."""
    arc = 2 * np.pi * (radius + _label_offset(radius, n)) / n
    return min(FONT_SIZE, FONT_SIZE * arc / LINE_HEIGHT)


def _shorten_names(names: list[str], half_side: float) -> list[str]:
    """Names shortened to about half of the way from the centre to the edge."""
    n_characters = 0.48 * half_side / CHARACTER_WIDTH
    return shorten_all(names, int(np.clip(n_characters, SHORTEST_NAME, LONGEST_NAME)))


def _largest_radius(
    names: list[str],
    angles: NDArray[np.float64],
    half_sides: NDArray[np.float64],
    font_size: float,
    *,
    horizontal: bool,
) -> float:
    """Radius in inches of the largest circle that leaves room for the labels."""
    scale = font_size / FONT_SIZE
    lengths = scale * CHARACTER_WIDTH * np.array([len(name) for name in names])
    line_height = scale * LINE_HEIGHT
    # Distances of the nodes from the centre, in units of the radius.
    x = np.abs(np.cos(angles))
    y = np.abs(np.sin(angles) - _middle_height(angles))
    # Space in inches that a label takes from its node on, along x and y.
    if horizontal:
        is_top_or_bottom = x < ROUNDING  # whose labels are centred
        label_x = np.where(is_top_or_bottom, lengths / 2, lengths)
        label_y = np.where(is_top_or_bottom, line_height, line_height / 2)
    else:
        label_x = lengths * x + line_height / 2
        label_y = lengths * np.abs(np.sin(angles)) + line_height / 2
    offset = _label_offset(half_sides.min(), len(names))
    available = half_sides - MARGIN - offset
    with np.errstate(divide="ignore"):
        radii_x, radii_y = (available[0] - label_x) / x, (available[1] - label_y) / y
    radius = min(radii_x.min(), radii_y.min())
    return float(np.clip(radius, half_sides.min() / 4, half_sides.max()))


def _labels_fit(angles: NDArray[np.float64], radius: float) -> bool:
    """Whether horizontal labels on each side are at least a line apart."""
    x = np.cos(angles)
    for is_on_side in (x > -ROUNDING, x < ROUNDING):
        heights = np.sort(radius * np.sin(angles[is_on_side]))
        if (np.diff(heights) < LINE_HEIGHT).any():
            return False
    return True
