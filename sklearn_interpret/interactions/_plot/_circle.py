"""Places of features on a circle, and the part of a network that is drawn."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sklearn_interpret._plotting.labels import shorten_all

MOST_LEVEL = 12  # more nodes have labels that point outwards
LONGEST, SHORTEST = 24, 8  # characters of a name
LINE = 0.19  # inches from a line of text to the next, at the usual size
CHARACTER = 0.088  # width in inches, at the usual size
MARGIN = 0.05  # inches around everything
USUAL_SIZE = 10.0  # of a font, in points
POINTS_PER_INCH = 72.0
LARGEST = 20.0  # diameter of a node in points
STEPS = 20  # of the search for a font size


@dataclass(frozen=True)
class Subnetwork:
    """The part of a network that is drawn."""

    players: np.ndarray  # positions of the features, in their order
    edges: np.ndarray  # (n_edges, 2): positions within `players`, the weakest first
    strengths: np.ndarray  # of these edges
    left_out: tuple  # numbers of edges and of features that are not drawn


def strongest_subnetwork(
    adjacency: NDArray[np.float64],
    main_effects: NDArray[np.float64] | None,
    max_entries: int | None,
    max_edges: int | None,
) -> Subnetwork:
    """The features with the strongest edges, and the strongest edges of these."""
    n_features = len(adjacency)
    pairs = np.argwhere(np.triu(np.nan_to_num(adjacency) > 0, 1))
    strengths = adjacency[tuple(pairs.T)]
    order = np.argsort(strengths, kind="stable")
    pairs, strengths, n_pairs = pairs[order], strengths[order], len(pairs)
    strongest = np.zeros(n_features)
    np.maximum.at(strongest, pairs.ravel(), np.repeat(strengths, 2))
    second = np.zeros(n_features) if main_effects is None else main_effects
    ranks = np.lexsort((-second, -strongest))
    players = np.sort(ranks[:max_entries])
    is_inside = np.isin(pairs, players).all(axis=1)
    pairs, strengths = pairs[is_inside], strengths[is_inside]
    if max_edges is not None:
        pairs, strengths = pairs[-max_edges:], strengths[-max_edges:]
    return Subnetwork(
        players,
        np.searchsorted(players, pairs),
        strengths,
        (n_pairs - len(pairs), n_features - len(players)),
    )


@dataclass(frozen=True)
class Room:
    """Size of an axes in inches, and its strips outside of the circle."""

    size: tuple  # width and height
    right: float = 0.0
    bottom: float = 0.0

    @property
    def half(self) -> NDArray[np.float64]:
        """Half of the width and height left for the circle."""
        width, height = self.size
        return np.array([width - self.right, height - self.bottom]) / 2

    def limits(self, layout: Layout) -> tuple[tuple[float, float], tuple[float, float]]:
        """Limits of the axes, in units of the circle's radius."""
        across, up = self.half / layout.radius
        right, below = self.right / layout.radius, self.bottom / layout.radius
        middle = _middle(layout.angles)
        return (-across, across + right), (middle - up - below, middle + up)


@dataclass(frozen=True)
class Layout:
    """Places of nodes, at distance one from the middle, and of their labels."""

    angles: np.ndarray  # of the nodes, in radians
    names: list  # shortened to the room that they have
    level: bool  # whether labels are horizontal; else they point outwards
    font_size: float  # points
    radius: float  # of the circle, in inches

    @property
    def largest(self) -> float:
        """Diameter that the nodes may have, in points."""
        return _largest(self.radius, len(self.angles))

    @property
    def gap(self) -> float:
        """Points from the middle of a node to its label."""
        return POINTS_PER_INCH * _gap(self.radius, len(self.angles))

    @property
    def points(self) -> NDArray[np.float64]:
        """Places of the nodes: (n, 2)."""
        return np.stack([np.cos(self.angles), np.sin(self.angles)], axis=1)


def circle_angles(n: int) -> NDArray[np.float64]:
    """Angles clockwise from the top; an even number has none at the very top."""
    first = np.pi / 2 - (0 if n % 2 else np.pi / n)
    return first - 2 * np.pi * np.arange(n) / n


def _middle(angles: NDArray[np.float64]) -> float:
    """Height half-way between the lowest and the highest node."""
    heights = np.sin(angles)
    return (heights.min() + heights.max()) / 2


def needed_size(names: list[str]) -> tuple[float, float]:
    """Width and height in inches for a circle with these labels."""
    n = len(names)
    circle = float(np.clip(2.4 + 0.07 * n, 2.6, 10.0))
    labels = 2 * CHARACTER * min(max(map(len, names)), LONGEST) + 0.4
    return circle + labels, circle + (0.7 if n <= MOST_LEVEL else labels)


def lay_out(names: list[str], room: Room) -> Layout:
    """Nodes on a circle with labels outside of it that do not overlap."""
    n, half = len(names), room.half
    angles = circle_angles(n)
    if n <= MOST_LEVEL:
        texts = _shortened(names, half[0])
        radius = _radius(texts, angles, half, USUAL_SIZE, level=True)
        if _labels_fit(angles, radius + _gap(radius, n)):
            return Layout(angles, texts, True, USUAL_SIZE, radius)
    texts = _shortened(names, half.min())
    size = USUAL_SIZE
    for _ in range(STEPS):  # the size of labels and the radius depend on each other
        radius = _radius(texts, angles, half, size, level=False)
        size = (size + _fitting_size(radius, n)) / 2
    return Layout(angles, texts, False, _fitting_size(radius, n), radius)


def _largest(radius: float, n: int) -> float:
    """Largest diameter of a node on the circle, in points."""
    return min(LARGEST, 0.7 * POINTS_PER_INCH * 2 * np.pi * radius / n)


def _gap(radius: float, n: int) -> float:
    """Inches from the middle of a node to its label."""
    return (_largest(radius, n) / 2 + 3) / POINTS_PER_INCH


def _fitting_size(radius: float, n: int) -> float:
    """Font size at which labels that point outwards do not overlap."""
    pitch = 2 * np.pi * (radius + _gap(radius, n)) / n
    return min(USUAL_SIZE, USUAL_SIZE * pitch / LINE)


def _shortened(names: list[str], half: float) -> list[str]:
    """Names shortened to about half of the way from the middle to the edge."""
    max_length = int(np.clip(0.48 * half / CHARACTER, SHORTEST, LONGEST))
    return shorten_all(names, max_length)


def _radius(
    names: list[str],
    angles: NDArray[np.float64],
    half: NDArray[np.float64],
    size: float,
    *,
    level: bool,
) -> float:
    """Radius in inches of the largest circle that leaves room for the labels."""
    scale = size / USUAL_SIZE
    lengths = scale * CHARACTER * np.array([len(name) for name in names])
    line = scale * LINE
    across = np.abs(np.cos(angles))
    up = np.abs(np.sin(angles) - _middle(angles))
    gap = _gap(half.min(), len(names))
    if level:
        middle = across < 1e-9
        beside = np.where(middle, lengths / 2, lengths)
        over = np.where(middle, line, line / 2)
    else:
        beside = lengths * across + line / 2
        over = lengths * np.abs(np.sin(angles)) + line / 2
    available = half - MARGIN - gap
    with np.errstate(divide="ignore"):
        wide, high = (available[0] - beside) / across, (available[1] - over) / up
    return float(np.clip(min(wide.min(), high.min()), half.min() / 4, half.max()))


def _labels_fit(angles: NDArray[np.float64], radius: float) -> bool:
    """Whether horizontal labels on each side are at least a line apart."""
    for side in (np.cos(angles) > -1e-9, np.cos(angles) < 1e-9):
        heights = np.sort(radius * np.sin(angles[side]))
        if (np.diff(heights) < LINE).any():
            return False
    return True
