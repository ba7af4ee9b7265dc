"""Rules that lead to the nodes of boosted trees."""

import numpy as np
from sklearn.tree import DecisionTreeRegressor

from sklearn_interpret._core.rules.coded_conditions import rows_in_memory
from sklearn_interpret._core.statistics.score_losses import constant_score

# Trees in a row that have no rule that is new, after which no more are grown.
_IN_VAIN = 10
# Least curvature of a loss, for leaves of which all rows are of one class.
_CURVATURE = 1e-3


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
    ranks = np.ascontiguousarray(table.ranks.T)
    scores = np.full((len(targets), 1), constant_score(loss, targets, weights))
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
        curvature = np.bincount(leaf[drawn], own * (curvatures + _CURVATURE), n_nodes)
        steps = np.divide(rise, curvature, out=np.zeros(n_nodes), where=curvature > 0)
        scores[:, 0] += learning_rate * steps[leaf]
        before = len(rules)
        for rule in table.rules(tree.tree_)[1:]:
            held = rows_in_memory(table.ranks, rule)[used]
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
