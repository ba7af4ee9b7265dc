"""Rows in the order of their similarity."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sklearn_interpret._core.statistics import seriation as ordering
from sklearn_interpret._core.statistics.seriation import order_rows


@given(arrays(float, st.tuples(st.integers(1, 30), st.just(2)), elements=st.floats()))
def test_every_row_once(values):
    values = np.nan_to_num(values)
    assert sorted(order_rows(values)) == list(range(len(values)))


def test_rows_on_a_line_come_in_their_order():
    values = np.random.default_rng(0).permutation(40).astype(float)[:, None] ** 1.2
    ordered = values[order_rows(values), 0]
    assert (np.diff(ordered) > 0).all() or (np.diff(ordered) < 0).all()


@pytest.mark.parametrize("scale", [1.0, 1e-200, 1e200])
def test_clusters_stay_together(scale):
    rng = np.random.default_rng(0)
    group = rng.integers(0, 4, 60)
    values = (10.0 * np.eye(4)[group] + 0.1 * rng.normal(size=(60, 4))) * scale
    assert (np.diff(group[order_rows(values)]) != 0).sum() == 3


def test_many_rows_join_the_closest_of_some(monkeypatch):
    monkeypatch.setattr(ordering, "MAX_CLUSTERED", 50)
    rng = np.random.default_rng(0)
    group = rng.integers(0, 4, 300)
    values = 10.0 * np.eye(4)[group] + 0.1 * rng.normal(size=(300, 4))
    order = order_rows(values)
    assert sorted(order) == list(range(300))
    assert (np.diff(group[order]) != 0).sum() == 3
