"""Accumulated local effects, loop by loop as defined.

Daniel W. Apley and Jingyu Zhu (2020), "Visualizing the effects of predictor variables
in black box supervised learning models", JRSS B 82(4). Centring at the intervals'
mid-values and the treatment of levels follow the authors' own ALEPlot. A row of weight
w counts as w rows. Where every row lies on an edge, it has the effect of this edge.
"""

import numpy as np


def interval_of(value, edges):
    """Number of the interval (z_{k-1}, z_k] of a value, the first one closed."""
    for k in range(len(edges) - 1):
        if edges[k] < value <= edges[k + 1] or (k == 0 and value == edges[0]):
            return k
    return -1


def first_order_numeric(f, X, j, edges, weights, *, centred=True):
    """Effect of a numeric feature at the edges (equations 15 and 16)."""
    edges = np.asarray(edges, dtype=float)
    X, weights = with_weight(X, weights)
    n_intervals = len(edges) - 1
    cells = [interval_of(row[j], edges) for row in X]
    effect = [0.0]
    for k in range(n_intervals):
        total, weight = 0.0, 0.0
        for row, cell, w in zip(X, cells, weights, strict=True):
            if cell == k:
                total += w * (at(f, row, {j: edges[k + 1]}) - at(f, row, {j: edges[k]}))
                weight += w
        effect.append(effect[-1] + (total / weight if weight else 0.0))
    effect = np.array(effect)
    if not centred:
        return effect
    side = Side("edges", edges, [row[j] for row in X])
    mean, weight = 0.0, 0.0
    for row, cell, w in zip(X, cells, weights, strict=True):
        if cell >= 0:
            mean += w * np.mean(effect[side.cell_nodes(row[j])])
            weight += w
    return effect - mean / weight


def first_order_levels(f, X, j, levels, weights):
    """Effect of a categorical feature at its ordered levels.

    The step between two neighbouring levels is averaged over the rows of both.
    """
    effect = [0.0]
    for k in range(len(levels) - 1):
        total, weight = 0.0, 0.0
        for row, w in zip(X, weights, strict=True):
            if row[j] in (levels[k], levels[k + 1]):
                step = at(f, row, {j: levels[k + 1]}) - at(f, row, {j: levels[k]})
                total += w * step
                weight += w
        effect.append(effect[-1] + total / weight)
    effect = np.array(effect)
    places = [list(levels).index(row[j]) for row in X]
    return effect - np.average(effect[places], weights=weights)


def second_order(f, X, pair, axes, weights):
    """Pure interaction of two features (equations 17 to 20).

    Parameters
    ----------
    f : callable
        Row (list of values) to number.
    X : list of rows
        The data.
    pair : (int, int)
        The two features.
    axes : pair of ("edges", values) or ("levels", values)
        Edges of intervals, or ordered levels.
    weights : sequence of float
        Weights of the rows.

    Returns
    -------
    ndarray of shape (n_nodes_1, n_nodes_2)
    """
    X, weights = with_weight(X, weights)
    sides = [
        Side(kind, values, [row[j] for row in X])
        for (kind, values), j in zip(axes, pair, strict=True)
    ]
    local, weight = _second_differences(f, X, pair, sides, weights)
    _fill_from_nearest(local, weight, sides)
    n1, n2 = (len(side.nodes) for side in sides)
    h = np.zeros((n1, n2))
    for a in range(n1):
        for b in range(n2):
            h[a, b] = local[:a, :b].sum()
    main = [_main_effect(h, X, pair, sides, weights, which) for which in (0, 1)]
    h = h - main[0][:, None] - main[1][None, :]
    mean, total = 0.0, 0.0
    for row, w in zip(X, weights, strict=True):
        corners = [side.cell_nodes(row[j]) for side, j in zip(sides, pair, strict=True)]
        mean += w * np.mean([h[a, b] for a in corners[0] for b in corners[1]])
        total += w
    return h - mean / total


def with_weight(X, weights):
    """The rows that have a weight, and their weights."""
    return zip(*[(row, w) for row, w in zip(X, weights, strict=True) if w], strict=True)


class Side:
    """One axis of a second-order effect, asked about single values."""

    def __init__(self, kind, values, of_rows):
        self.by_level = kind == "levels"
        self.nodes = list(values)
        inside = [v for v in of_rows if self.by_level or interval_of(v, values) >= 0]
        self.on_nodes = all(value in self.nodes for value in inside)
        self.places = np.arange(len(values)) if self.by_level else np.asarray(values)

    def cell_nodes(self, value):
        """Nodes whose mean stands for the cell of a value."""
        if self.on_nodes:
            return [self.nodes.index(value)]
        k = interval_of(value, self.nodes)
        return [k, k + 1]

    def steps(self, value):
        """Steps between nodes in which a value takes part."""
        if not self.by_level:
            return [interval_of(value, self.nodes)]
        k = self.nodes.index(value)
        return [s for s in (k - 1, k) if 0 <= s < len(self.nodes) - 1]

    def middles(self):
        """Middle of each step, the whole axis having length one."""
        middle = (self.places[:-1] + self.places[1:]) / 2
        reach = self.places[-1] - self.places[0]
        return middle / reach if reach else middle


def _second_differences(f, X, pair, sides, weights):
    """Mean second difference over each rectangle, and the weight behind it."""
    shape = [len(side.nodes) - 1 for side in sides]
    total, weight = np.zeros(shape), np.zeros(shape)
    (i, j), (one, two) = pair, sides
    for row, w in zip(X, weights, strict=True):
        for a in one.steps(row[i]):
            for b in two.steps(row[j]):
                low1, high1 = one.nodes[a], one.nodes[a + 1]
                low2, high2 = two.nodes[b], two.nodes[b + 1]
                total[a, b] += w * (
                    (at(f, row, {i: high1, j: high2}) - at(f, row, {i: low1, j: high2}))
                    - (at(f, row, {i: high1, j: low2}) - at(f, row, {i: low1, j: low2}))
                )
                weight[a, b] += w
    return np.where(weight > 0, total / np.where(weight > 0, weight, 1), 0.0), weight


def _fill_from_nearest(local, weight, sides):
    """Rectangles without rows take the value of the nearest one with rows.

    Of equally near ones, up to rounding, the first.
    """
    one, two = (side.middles() for side in sides)
    taken = [(a, b) for a, b in np.ndindex(local.shape) if weight[a, b] > 0]
    for a, b in np.ndindex(local.shape):
        if weight[a, b] == 0:
            distances = [
                (one[c] - one[a]) ** 2 + (two[d] - two[b]) ** 2 for c, d in taken
            ]
            local[a, b] = local[taken[int(np.argmin(np.round(distances, 12)))]]


def _main_effect(h, X, pair, sides, weights, which):
    """First-order effect of the surface `h` along one of its axes."""
    side, other = sides[which], sides[1 - which]
    surface = h if which == 0 else h.T
    effect = [0.0]
    for k in range(len(side.nodes) - 1):
        total, weight = 0.0, 0.0
        for row, w in zip(X, weights, strict=True):
            if k in side.steps(row[pair[which]]):
                across = other.cell_nodes(row[pair[1 - which]])
                total += w * np.mean(surface[k + 1, across] - surface[k, across])
                weight += w
        effect.append(effect[-1] + (total / weight if weight else 0.0))
    return np.array(effect)


def at(f, row, changes):
    """Response to a row with some of its values exchanged."""
    return f([changes.get(place, value) for place, value in enumerate(row)])
