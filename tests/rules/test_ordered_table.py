"""Columns as trees take them, and intervals of ranks as conditions."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn.tree import DecisionTreeRegressor

from sklearn_interpret._core.rules.coded_conditions import all_hold, rule_mask
from sklearn_interpret._inspectors.condition_space import ConditionSpace
from sklearn_interpret._inspectors.ordered_table import OrderedTable
from sklearn_interpret._model.rows.arrays import as_rows
from tests.rules.test_rules import random_table
from tests.speeds import examples


def space_of(X):
    """Return the conditions on rows without further categories."""
    rows = as_rows(X)
    return ConditionSpace(rows, np.zeros(rows.n_columns, dtype=bool))


def test_levels_are_ordered_by_their_mean_target():
    X = np.array([["a", 1.0], ["b", 2.0], ["c", np.nan], [None, 4.0]], dtype=object)
    space = space_of(X)
    targets, weights = np.array([5.0, 3.0, 4.0, 0.0]), np.array([1.0, 2.0, 0.0, 1.0])
    table = OrderedTable.of_codes(space, space.table.codes, targets, weights)
    # "c" has no weight; a missing value has twice the rank that would be next.
    assert_array_equal(table.ranks, [[1, 0, -1, 4], [0, 1, 6, 2]])
    assert table.n_known.tolist() == [2, 3]
    words = [
        " and ".join(map(str, table.conditions(rule)))
        for rule in [
            ((0, 0, 0),),
            ((0, 0, 1), (1, 0, 2)),
            ((0, 3, 4), (1, 0, 1)),
            ((1, 5, 6),),
        ]
    ]
    assert words == [
        "x0 = b",
        "x0 in {a, b} and x1 is not missing",
        "x0 is missing and x1 <= 3",
        "x1 is missing",
    ]


@examples(25)
@given(seed=st.integers(0, 2**32 - 1))
def test_conditions_hold_where_the_intervals_do(seed):
    rng = np.random.default_rng(seed)
    X = random_table(rng, 60)
    space = space_of(X)
    targets, weights = rng.normal(size=60), rng.integers(3, size=60)
    weights[0] = 1
    table = OrderedTable.of_codes(space, space.table.codes, targets, weights)
    tree = DecisionTreeRegressor(max_leaf_nodes=9, random_state=0)
    tree.fit(table.ranks.T, targets, sample_weight=weights)
    for rule in table.rules(tree):
        held = all_hold([table.conditions(rule)], as_rows(X), 60)[0]
        assert_array_equal(held, rule_mask(table.ranks, rule))
