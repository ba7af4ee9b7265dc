"""Groups of similar rows, within which values are permuted."""

import numpy as np
import pandas as pd
from numpy.testing import assert_array_equal

from sklearn_interpret._model.conditionals.similar_rows import LEAST_ROWS, similar_rows
from sklearn_interpret._model.rows.arrays import as_rows


def groups(X, columns, weights=None):
    weights = np.ones(len(X)) if weights is None else weights
    return similar_rows(as_rows(X), columns, weights)


def test_what_depends_on_nothing_is_hardly_ever_split():
    rng = np.random.default_rng(0)
    splits = [groups(rng.normal(size=(300, 5)), (0,)).max() for _ in range(20)]
    assert sum(splits) <= 2


def test_a_copy_is_split_as_far_as_rows_go():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 3))
    X = np.column_stack([X, X[:, 0]])
    found = groups(X, (0,))
    sizes = np.bincount(found)
    assert sizes.min() >= LEAST_ROWS
    assert len(sizes) > 20
    within = sum(X[found == g, 0].var() * n for g, n in enumerate(sizes)) / 500
    assert within < 0.02
    assert groups(X, (0, 3)).max() == 0


def test_categories_and_missing_values():
    rng = np.random.default_rng(0)
    town = rng.choice(["a", "b", "c"], size=300)
    number = np.where(town == "a", 0.0, 5.0) + rng.normal(size=300)
    number[::10] = np.nan
    X = pd.DataFrame({"town": town, "number": number, "noise": rng.normal(size=300)})
    found = groups(X, (1,))
    assert found.max() == 1
    assert_array_equal(found == found[np.argmax(town == "a")], town == "a")
    assert groups(X, (0,)).max() >= 1
    assert groups(X, (2,)).max() == 0


def test_constant_columns_and_few_rows():
    X = np.column_stack([np.ones(100), np.arange(100.0)])
    assert groups(X, (0,)).max() == 0
    assert groups(X, (0, 1)).max() == 0
    assert groups(np.arange(20.0).reshape(10, 2), (0,)).max() == 0


def test_order_is_all_that_counts():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    X[:, 1] = X[:, 0] + rng.normal(size=200) / 4
    assert_array_equal(groups(X, (0,)), groups(np.exp(X), (0,)))
