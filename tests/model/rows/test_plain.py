"""Containers of every kind as plain objects, which skops can hold."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest

from sklearn_interpret._model.rows.arrays import as_rows
from sklearn_interpret._model.rows.base import same_content
from sklearn_interpret._model.rows.plain import from_plain, to_plain
from tests.model import containers

TABLES = {
    **containers.CONTAINERS,
    "pandas_sparse": lambda: pd.DataFrame(np.eye(3)).astype(pd.SparseDtype(float, 0)),
    "named_index": lambda: pd.DataFrame({"a": [1, 2]}, pd.Index([3, 5], name="key")),
    "other_index": lambda: pd.DataFrame({"a": [1]}, pd.date_range("2020", periods=1)),
    "dates": lambda: pd.DataFrame({"a": pd.date_range("2020", periods=2, tz="CET")}),
}
# Without a plain form; pickle takes them.
OTHERS = {"other_index"}


def assert_same_table(left, right):
    assert type(left) is type(right)
    if isinstance(left, pd.DataFrame):
        pd.testing.assert_frame_equal(left, right, check_index_type="exact")
    elif isinstance(left, pl.DataFrame):
        assert left.schema == right.schema
        assert left.equals(right)
    else:
        assert same_content(left, right)


@pytest.mark.parametrize("kind", TABLES)
def test_tables(kind):
    table = TABLES[kind]()
    assert_same_table(from_plain(to_plain(table)), table)
    rows = pickle.loads(pickle.dumps(as_rows(table)))
    assert_same_table(rows.native, table)
    if isinstance(table, pd.DataFrame | pl.DataFrame):
        assert (to_plain(table) is table) == (kind in OTHERS)
        vector = rows.column(0)
        restored = from_plain(to_plain({(0, 1): [vector]}))[0, 1][0]
        assert type(restored) is type(vector)
        assert list(map(str, restored)) == list(map(str, vector))


@pytest.mark.parametrize("kind", sorted(set(TABLES) - OTHERS - {"dates"}))
def test_tables_in_a_file_of_skops(kind):
    skops = pytest.importorskip("skops.io")
    rows = as_rows(TABLES[kind]())
    file = skops.dumps(rows)
    found = skops.loads(file, trusted=skops.get_untrusted_types(data=file))
    assert_same_table(found.native, rows.native)
