"""Rules that lead to the nodes of boosted trees."""

from typing import NamedTuple

import numpy as np
from sklearn.tree import DecisionTreeRegressor

# Trees in a row that have no rule that is new, after which no more are grown.
_IN_VAIN = 10
# Least curvature of a loss, for leaves of which all rows are of one class.
_CURVATURE = 1e-3


class OrderedTable(NamedTuple):
    """Rows of codes whose levels are in the order of their mean target.

    Parameters
    ----------
    ranks : ndarray of shape (n_columns, n_rows), int
        Of known values from 0; -1 of levels that have no weight.
    n_known : ndarray of shape (n_columns,), int
        Number of known values, which is the rank of missing ones.
    levels : dict of int to ndarray
        For each column of levels, their codes in order.
    """

    ranks: np.ndarray
    n_known: np.ndarray
    levels: dict

    @classmethod
    def of(cls, codes, space, targets, weights):
        """Order the levels, by rows of positive weight.

        The best set of levels is then an interval (Breiman et al. 1984, 4.2.2).
        """
        ranks, n_known = codes.copy(), np.array([len(v) for v in space.values])
        levels = {}
        for j in np.flatnonzero(space.nominal).tolist():
            missing = n_known[j]
            sums = np.bincount(codes[j], weights, missing + 1)
            used = np.flatnonzero(sums[:missing])
            means = np.bincount(codes[j], weights * targets, missing + 1)[used]
            levels[j] = used[np.argsort(means / sums[used], kind="stable")]
            rank = np.full(missing + 1, -1)
            rank[levels[j]], rank[missing] = np.arange(len(used)), len(used)
            ranks[j], n_known[j] = rank[codes[j]], len(used)
        return cls(ranks, n_known, levels)

    def holds(self, rule):
        """Whether a rule holds for each row: (n_rows,), bool."""
        held = np.ones(self.ranks.shape[1], dtype=bool)
        for j, first, last in rule:
            held &= (self.ranks[j] >= first) & (self.ranks[j] <= last)
        return held

    def conditions(self, rule, space):
        """A rule as a tuple of `Condition`."""
        return tuple(self._condition(*interval, space) for interval in rule)

    def _condition(self, j, first, last, space):
        if first == self.n_known[j]:
            missing = len(space.values[j])
            return space.condition(j, missing, missing)
        if j in self.levels:
            return space.one_of(j, np.sort(self.levels[j][first : last + 1]))
        return space.condition(j, first, last)


def boosted_rules(
    table, targets, weights, loss, *, max_rules, tree_size, learning_rate, random
):
    """Rules that hold for different rows, of trees that are boosted by a loss.

    Each tree has a random number of leaves, of mean `tree_size`, and a part of the rows
    (Friedman & Popescu 2008, section 3.3). Of rules that hold for the same rows, or for
    all but these, the first is kept.

    Parameters
    ----------
    table : OrderedTable
        Rows; those of weight zero are not used.
    targets, weights : ndarray of shape (n_rows,)
        Their targets and weights.
    loss : HalfSquared or Logistic
        The loss.
    max_rules : int
        Largest number of rules.
    tree_size, learning_rate : float
        Mean number of leaves, and share of each tree that is added.
    random : RandomState
        Draws rows and sizes.

    Returns
    -------
    list of tuple of (column, first, last)
        Intervals of ranks.
    """
    used = np.flatnonzero(weights)
    ranks = np.ascontiguousarray(table.ranks.T, dtype=np.float32)
    scores = np.full((len(targets), 1), constant_score(targets, weights, loss))
    targets, rules, in_vain = targets[:, None], {}, 0
    while len(rules) < max_rules and in_vain < _IN_VAIN:
        drawn, own = _draw(used, weights, random)
        n_leaves = 2 + int(random.exponential(tree_size - 2))
        tree = DecisionTreeRegressor(max_leaf_nodes=n_leaves, random_state=random)
        residuals = -loss.slopes(targets, scores)[:, 0]
        tree.fit(ranks[drawn], residuals[drawn], own, check_input=False)
        leaf = tree.apply(ranks, check_input=False)
        curvatures = loss.curvatures(targets[drawn], scores[drawn])[:, 0, 0]
        n_nodes = tree.tree_.node_count
        rise = np.bincount(leaf[drawn], own * residuals[drawn], n_nodes)
        bend = np.bincount(leaf[drawn], own * (curvatures + _CURVATURE), n_nodes)
        steps = np.divide(rise, bend, out=np.zeros(n_nodes), where=bend > 0)
        scores[:, 0] += learning_rate * steps[leaf]
        before = len(rules)
        for rule in _rules_of_nodes(tree.tree_, table.n_known):
            held = table.holds(rule)[used]
            if held.any() and not held.all():
                rules.setdefault(np.packbits(held ^ held[0]).tobytes(), rule)
        in_vain = 0 if len(rules) > before else in_vain + 1
    return list(rules.values())[:max_rules]


def _draw(used, weights, random):
    """Some rows, and how often each is drawn: a weight is as good as copies."""
    order = random.permutation(used)
    ends = np.cumsum(weights[order])
    n_rows = ends[-1]
    # Friedman & Popescu (2008), section 3.3.
    n_drawn = np.ceil(min(n_rows / 2, 100 + 6 * np.sqrt(n_rows)))
    places = ends * n_drawn / n_rows + random.random_sample()
    times = np.diff(np.floor(places), prepend=0.0)
    drawn = times > 0
    return order[drawn], times[drawn]


def constant_score(targets, weights, loss):
    """The score for all rows that is best by a loss, by Newton's method."""
    score = np.zeros((len(targets), 1))
    for _ in range(20):
        slope = weights @ loss.slopes(targets[:, None], score)[:, 0]
        score -= slope / (weights @ loss.curvatures(targets[:, None], score)[:, 0, 0])
    return float(score[0, 0])


def _rules_of_nodes(tree, n_known):
    """The way to each node of a tree but the root; missing values are split alone."""
    ways = [{}]
    for node in range(tree.node_count):
        left, right = tree.children_left[node], tree.children_right[node]
        if left < 0:
            continue
        ways += [None] * (max(left, right) + 1 - len(ways))
        j, last = int(tree.feature[node]), int(np.floor(tree.threshold[node]))
        low, high = ways[node].get(j, (0, int(n_known[j])))
        ways[left] = {**ways[node], j: (low, last)}
        ways[right] = {**ways[node], j: (last + 1, high)}
    for way in ways[1:]:
        # A missing value meets no condition on known ones.
        tops = {j: int(n_known[j]) - (way[j][0] < n_known[j]) for j in way}
        yield tuple((j, way[j][0], min(way[j][1], tops[j])) for j in sorted(way))
