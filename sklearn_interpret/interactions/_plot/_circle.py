"""Places of features on a circle, and what of a network is drawn: pure functions."""

from dataclasses import dataclass

import numpy as np

from sklearn_interpret._plotting.labels import shorten_all

MOST_LEVEL = 12
LONGEST, SHORTEST = 24, 8  # characters of a name
LINE = 0.19  # inches from a line of text to the next, at the usual size
CHARACTER = 0.088  # inches
MARGIN = 0.05  # inches around everything
USUAL_SIZE = 10.0
POINTS_PER_INCH = 72.0
LARGEST = 20.0  # diameter of a node in points
STEPS = 20


@dataclass(frozen=True)
class Chosen:
    """The part of a network that is drawn."""

    players: np.ndarray  # positions of the features, in their order
    edges: np.ndarray  # (n_edges, 2): positions within `players`, the weakest first
    strengths: np.ndarray  # of these edges
    left_out: tuple  # numbers of edges and of features that are not drawn


def choose(adjacency, main_effects, max_entries, max_edges):
    """The features with the strongest edges, and the strongest edges of these."""
    p = len(adjacency)
    pairs = np.argwhere(np.triu(np.nan_to_num(adjacency) > 0, 1))
    strengths = adjacency[tuple(pairs.T)]
    order = np.argsort(strengths, kind="stable")
    pairs, strengths, n_pairs = pairs[order], strengths[order], len(pairs)
    strongest = np.zeros(p)
    np.maximum.at(strongest, pairs.ravel(), np.repeat(strengths, 2))
    second = np.zeros(p) if main_effects is None else main_effects
    ranks = np.lexsort((-second, -strongest))
    players = np.sort(ranks[:max_entries])
    both = np.isin(pairs, players).all(axis=1)
    pairs, strengths = pairs[both], strengths[both]
    if max_edges is not None:
        pairs, strengths = pairs[-max_edges:], strengths[-max_edges:]
    return Chosen(
        players,
        np.searchsorted(players, pairs),
        strengths,
        (n_pairs - len(pairs), p - len(players)),
    )


@dataclass(frozen=True)
class Room:
    """An axes in inches, and strips of it that the circle leaves to other things."""

    size: tuple  # width and height
    right: float = 0.0
    bottom: float = 0.0

    @property
    def half(self):
        """Half of what is left."""
        width, height = self.size
        return np.array([width - self.right, height - self.bottom]) / 2

    def limits(self, layout):
        """Limits of the axes, in units of the circle's radius."""
        across, up = self.half / layout.radius
        right, below = self.right / layout.radius, self.bottom / layout.radius
        middle = _middle(layout.angles)
        return (-across, across + right), (middle - up - below, middle + up)


@dataclass(frozen=True)
class Layout:
    """Places of nodes, at distance one from the middle, and of their labels."""

    angles: np.ndarray  # of the nodes, in radians
    names: list  # shortened to what there is room for
    level: bool  # whether labels are level; else they point outwards
    font_size: float  # points
    radius: float  # of the circle, in inches

    @property
    def largest(self):
        """Diameter that the nodes may have, in points."""
        return _largest(self.radius, len(self.angles))

    @property
    def gap(self):
        """Points from the middle of a node to its label."""
        return POINTS_PER_INCH * _gap(self.radius, len(self.angles))

    @property
    def points(self):
        """Places of the nodes: (n, 2)."""
        return np.stack([np.cos(self.angles), np.sin(self.angles)], axis=1)


def circle_angles(n):
    """Angles clockwise from the top; of even numbers none is at the very top."""
    first = np.pi / 2 - (0 if n % 2 else np.pi / n)
    return first - 2 * np.pi * np.arange(n) / n


def _middle(angles):
    """Height half-way between the lowest and the highest node."""
    heights = np.sin(angles)
    return (heights.min() + heights.max()) / 2


def needed_size(names):
    """Width and height in inches that serve a circle with these labels."""
    n = len(names)
    circle = float(np.clip(2.4 + 0.07 * n, 2.6, 10.0))
    labels = 2 * CHARACTER * min(max(map(len, names)), LONGEST) + 0.4
    return circle + labels, circle + (0.7 if n <= MOST_LEVEL else labels)


def lay_out(names, room):
    """Nodes on a circle with labels outside of it that do not overlap."""
    n, half = len(names), room.half
    angles = circle_angles(n)
    if n <= MOST_LEVEL:
        texts = _shortened(names, half[0])
        radius = _radius(texts, angles, half, USUAL_SIZE, level=True)
        if _apart(angles, radius + _gap(radius, n)):
            return Layout(angles, texts, True, USUAL_SIZE, radius)
    texts = _shortened(names, half.min())
    size = USUAL_SIZE
    for _ in range(STEPS):  # smaller labels leave more room, which lets them be larger
        radius = _radius(texts, angles, half, size, level=False)
        size = (size + _fitting_size(radius, n)) / 2
    return Layout(angles, texts, False, _fitting_size(radius, n), radius)


def _largest(radius, n):
    """Points that a node on the circle may take up."""
    return min(LARGEST, 0.7 * POINTS_PER_INCH * 2 * np.pi * radius / n)


def _gap(radius, n):
    """Inches from the middle of a node to its label."""
    return (_largest(radius, n) / 2 + 3) / POINTS_PER_INCH


def _fitting_size(radius, n):
    """Font size at which labels that point outwards do not overlap."""
    pitch = 2 * np.pi * (radius + _gap(radius, n)) / n
    return min(USUAL_SIZE, USUAL_SIZE * pitch / LINE)


def _shortened(names, half):
    """Names that leave about half of the way from the middle to the circle."""
    most = int(np.clip(0.48 * half / CHARACTER, SHORTEST, LONGEST))
    return shorten_all(names, most)


def _radius(names, angles, half, size, *, level):
    """Inches of the largest circle around which there is room for the labels."""
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
    left = half - MARGIN - gap
    with np.errstate(divide="ignore"):
        wide, high = (left[0] - beside) / across, (left[1] - over) / up
    return float(np.clip(min(wide.min(), high.min()), half.min() / 4, half.max()))


def _apart(angles, radius):
    """Whether level labels on each side are a line apart."""
    for side in (np.cos(angles) > -1e-9, np.cos(angles) < 1e-9):
        heights = np.sort(radius * np.sin(angles[side]))
        if (np.diff(heights) < LINE).any():
            return False
    return True
