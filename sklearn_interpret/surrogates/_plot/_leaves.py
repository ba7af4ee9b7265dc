"""What the leaves of a tree hold: pure functions from arrays to numbers."""

from dataclasses import dataclass

import numpy as np

from sklearn_interpret._core.statistics.weighted import weighted_quantile

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
N_BINS = 30


@dataclass(frozen=True)
class Leaf:
    """The rows in a leaf, and what is answered to them.

    Parameters
    ----------
    node : int
        Its number in the tree.
    rule : str
        The way to it.
    values : ndarray of shape (n,)
        What the model answers.
    weights : ndarray of shape (n,)
        Weights of the rows.
    share : float
        Of all weight.
    answer : float
        What the surrogate answers, on average; NaN where that is not known.
    """

    node: int
    rule: str
    values: np.ndarray
    weights: np.ndarray
    share: float
    answer: float

    @property
    def mean(self):
        """Mean of the model's answers."""
        return float(np.average(self.values, weights=self.weights))

    @property
    def quantiles(self):
        """Their quantiles at `QUANTILES`."""
        return weighted_quantile(self.values, np.array(QUANTILES), self.weights)


def leaves_of(tree, nodes, values, answers, weights):
    """The leaves that rows fall into, from left to right.

    Parameters
    ----------
    tree : dict
        The tree.
    nodes : ndarray of shape (n,)
        Leaf of each row.
    values : ndarray of shape (n,)
        What the model answers.
    answers : ndarray of shape (n,) or None
        What the surrogate answers.
    weights : ndarray of shape (n,)
        Weights of the rows.

    Returns
    -------
    list of Leaf
        Without those that no row falls into.
    """
    found = []
    for node in leaf_order(tree):
        inside = nodes == node
        if not inside.any():
            continue
        own = weights[inside]
        answer = np.nan
        if answers is not None:
            answer = float(np.average(answers[inside], weights=own))
        share = float(own.sum() / weights.sum())
        rule = tree["rules"][node]
        found.append(Leaf(node, rule, values[inside], own, share, answer))
    return found


def leaf_order(tree):
    """Leaves of a tree from left to right."""
    order, waiting = [], [0]
    while waiting:
        node = waiting.pop()
        if tree["left"][node] < 0:
            order.append(int(node))
        else:
            waiting += [tree["right"][node], tree["left"][node]]
    return order


def places_of(tree):
    """Where the nodes of a tree stand: across, its leaves at 0, 1, ..., and down.

    Returns
    -------
    across : ndarray of shape (n_nodes,)
        A node stands between its children.
    depths : ndarray of shape (n_nodes,), intp
        Zero for the root.
    """
    n_nodes = len(tree["left"])
    across, depths = np.zeros(n_nodes), np.zeros(n_nodes, dtype=np.intp)
    order = leaf_order(tree)
    across[order] = np.arange(len(order))
    parents_first, waiting = [], [0]
    while waiting:
        node = waiting.pop()
        parents_first.append(node)
        for child in (tree["left"][node], tree["right"][node]):
            if child >= 0:
                depths[child] = depths[node] + 1
                waiting.append(int(child))
    for node in reversed(parents_first):
        if tree["left"][node] >= 0:
            children = [tree["left"][node], tree["right"][node]]
            across[node] = across[children].mean()
    return across, depths


def value_range(values):
    """Lowest and highest value with some room, never the same."""
    low, high = float(values.min()), float(values.max())
    if low == high:
        reach = max(abs(low), 1e-300) / 2 if low else 0.5
        return low - reach, high + reach
    room = 0.04 * (high / 2 - low / 2) * 2
    return low - room, high + room


def shape_of(values, weights, limits):
    """Heights of a histogram, the largest 1, and the ends of its bins."""
    low, high = limits
    edges = np.linspace(low, high, N_BINS + 1)
    places = np.clip(((values - low) / (high - low) * N_BINS), 0, N_BINS - 1)
    heights = np.bincount(places.astype(np.intp), weights, minlength=N_BINS)
    return heights / heights.max(), edges


def share_text(share):
    """A share in per cent."""
    percent = 100 * share
    if 0 < percent < 0.95:
        return "<1 %"
    return f"{percent:.0f} %"
