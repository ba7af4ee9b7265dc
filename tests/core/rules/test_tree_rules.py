"""Nodes of trees as rules, against the rows that reach them."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn.tree import DecisionTreeRegressor

from sklearn_interpret._core.rules.coded_conditions import node_rules, rule_mask
from tests.speeds import examples


def test_nodes_are_rules():
    # x0 <= 2 | x0 > 2: x1 <= 3 | x1 missing: x0 <= 4 | x0 > 4
    left, right = [1, -1, 3, -1, 5, -1, -1], [2, -1, 4, -1, 6, -1, -1]
    column, cut = [0, -2, 1, -2, 0, -2, -2], [2.5, -2, 5.5, -2, 4, -2, -2]
    n_known = np.array([9, 4])
    assert node_rules(*map(np.array, (left, right, column, cut)), n_known) == [
        (),
        ((0, 0, 2),),
        ((0, 3, 8),),
        ((0, 3, 8), (1, 0, 3)),
        ((0, 3, 8), (1, 6, 8)),
        ((0, 3, 4), (1, 6, 8)),
        ((0, 5, 8), (1, 6, 8)),
    ]
    assert node_rules(*map(np.array, ([-1], [-1], [-2], [-2.0])), n_known) == [()]


@examples(25)
@given(seed=st.integers(0, 2**32 - 1))
def test_rules_hold_for_the_rows_of_the_node(seed):
    rng = np.random.default_rng(seed)
    n_known = rng.integers(1, 6, size=3)
    ranks = np.array([rng.integers(n + 1, size=40) for n in n_known])
    missing = ranks == n_known[:, None]
    ranks[missing] *= 2
    tree = DecisionTreeRegressor(max_leaf_nodes=8, random_state=seed % 100)
    tree.fit(ranks.T, rng.normal(size=40))
    reached = tree.decision_path(ranks.T).toarray().astype(bool).T
    tree = tree.tree_
    arrays = tree.children_left, tree.children_right, tree.feature, tree.threshold
    rules = node_rules(*arrays, n_known)
    for rule, rows in zip(rules, reached, strict=True):
        held = rule_mask(ranks, rule)
        # A missing value among known ones meets no condition.
        lost = np.zeros(40, dtype=bool)
        for j, first, _ in rule:
            lost |= missing[j] & (first < n_known[j])
        assert_array_equal(held, rows & ~lost)
