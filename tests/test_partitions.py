"""Rows in partitions: batches, Dask collections, other engines, and refusals."""

import logging
import os
from contextlib import nullcontext
from operator import add

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression

from sklearn_interpret.effects import AccumulatedLocalEffects, PartialDependence
from sklearn_interpret.explanations import Explanation
from sklearn_interpret.importance import PermutationImportance
from sklearn_interpret.partitions import Partitions, RowBatches
from sklearn_interpret.shapley import TreeSHAP
from tests.instances import ARGUMENTS, instances
from tests.partitions import in_batches

RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.normal(size=(600, 4)), columns=list("abcd"))
Y = X["a"] * X["b"] + X["c"]
WEIGHTS = pd.Series(RNG.integers(0, 3, len(X)), name="weight")
MODEL = FrozenEstimator(
    GradientBoostingRegressor(n_estimators=4, random_state=0).fit(X, Y)
)
LINE = FrozenEstimator(LinearRegression().fit(X.to_numpy(), Y))


def assert_same_effects(found, expected):
    for here, there in zip(found.effects_, expected.effects_, strict=True):
        assert_allclose(here, there, rtol=0, atol=1e-12)


class Halves(Partitions):
    """The rows of a table in two halves: an engine."""

    def __init__(self, *tables):
        self.tables = tables

    def map_reduce(self, function, merge, columns=None):
        first, second = (
            function(index, *(None if t is None else t[part] for t in self.tables))
            for index, part in enumerate((slice(0, 200), slice(200, None)))
        )
        return merge(first, second)


def test_an_engine_fills_one_method():
    expected = AccumulatedLocalEffects(LINE).fit(X.to_numpy(), sample_weight=WEIGHTS)
    halves = Halves(X.to_numpy(), None, WEIGHTS.to_numpy())
    assert_same_effects(AccumulatedLocalEffects(LINE).fit(halves), expected)


def test_batches_of_parquet_files(tmp_path):
    dataset = pytest.importorskip("pyarrow.dataset")
    for part, start in enumerate((0, 100, 100, 450)):
        stop = (100, 100, 450, 600)[part]
        table = X.assign(target=Y, weight=WEIGHTS).iloc[start:stop]
        table.to_parquet(tmp_path / f"{part}.parquet", index=False)
    whole = dataset.dataset(tmp_path)
    parts = [dataset.dataset(path) for path in sorted(tmp_path.iterdir())]
    expected = AccumulatedLocalEffects(MODEL).fit(X, sample_weight=WEIGHTS)
    for source in (whole, parts):
        batches = RowBatches(source, y="target", sample_weight="weight")
        assert batches.head().columns.tolist() == list("abcd")
        assert_same_effects(AccumulatedLocalEffects(MODEL).fit(batches), expected)


@pytest.mark.parametrize("kind", ["frame", "array"])
def test_dask_collections(kind):
    dask = pytest.importorskip("dask")
    model, rows = (MODEL, X) if kind == "frame" else (LINE, X.to_numpy())
    expected = AccumulatedLocalEffects(model).fit(rows, sample_weight=WEIGHTS)
    if kind == "frame":
        frame = pytest.importorskip("dask.dataframe")
        table, weights = (
            frame.from_pandas(t, npartitions=5).clear_divisions() for t in (X, WEIGHTS)
        )
    else:
        array = pytest.importorskip("dask.array")
        table = array.from_array(rows, chunks=(150, 3))
        weights = array.from_array(WEIGHTS.to_numpy(), chunks=150)
    with dask.config.set(scheduler="synchronous"):
        found = AccumulatedLocalEffects(model).fit(table, sample_weight=weights)
        assert_same_effects(found, expected)
        values = found.transform(table)
        assert type(values).__module__.startswith("dask")
        assert_array_equal(values, found.transform(rows))
        if kind == "frame":  # known beforehand, and the index is kept
            assert values.columns.tolist() == list("abcd")
            assert values.dtypes.tolist() == [np.dtype(float)] * 4
            found.set_output(transform="pandas")
            pd.testing.assert_frame_equal(
                found.transform(table).compute(), found.transform(X)
            )
        else:
            assert values.shape == (600, 4)
    with pytest.raises(TypeError, match=r"y must be a Dask collection.*Series"):
        PermutationImportance(model).fit(table, Y)
    few = weights.partitions[:2] if kind == "frame" else weights[:10]
    with pytest.raises(ValueError, match=r"sample_weight has \d partitions, and X"):
        PartialDependence(model).fit(table, sample_weight=few)


def test_explanations_of_partitions_are_joined():
    frame = pytest.importorskip("dask.dataframe")
    table = frame.from_pandas(X, npartitions=3)
    inspector = TreeSHAP(MODEL, perturbation="path_dependent").fit(X)
    with pytest.raises(TypeError, match=r"transform.*lazy.*Explanation.concatenate"):
        inspector.explain(table)
    parts = [inspector.explain(part.compute()) for part in table.partitions]
    joined, whole = Explanation.concatenate(parts), inspector.explain(X)
    for name in ("values", "base_values", "predictions"):
        assert_array_equal(getattr(joined, name), getattr(whole, name))
    pd.testing.assert_frame_equal(joined.data, X)
    other = TreeSHAP(LINE_TREES, perturbation="path_dependent").fit(X[["a", "b"]])
    with pytest.raises(ValueError, match="differ in feature_names"):
        Explanation.concatenate([parts[0], other.explain(X[["a", "b"]])])
    with pytest.raises(ValueError, match="explanations is empty"):
        Explanation.concatenate([])


LINE_TREES = FrozenEstimator(
    GradientBoostingRegressor(n_estimators=2, random_state=0).fit(X[["a", "b"]], Y)
)


@pytest.mark.thorough
def test_a_lost_worker_changes_nothing(tmp_path):
    """The function is sent again, and lost results are computed again."""
    distributed = pytest.importorskip("distributed")
    array = pytest.importorskip("dask.array")

    # Not a function of this module, whose imports take a worker seconds.
    def summed(index, rows, y, weights, mark=tmp_path / "ended"):
        if index == 4 and not mark.exists():
            mark.touch()
            os._exit(1)
        return rows.sum()

    rows = np.arange(60.0).reshape(-1, 2)
    with (
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            dashboard_address="127.0.0.1:0",
            silence_logs=logging.CRITICAL,
        ) as local,
        distributed.Client(local),
    ):
        partitions = Partitions.from_input(array.from_array(rows, chunks=(5, 2)))
        assert partitions.map_reduce(summed, add) == rows.sum()
    assert (tmp_path / "ended").exists()


def bad_partition(change):
    """Batches of which the second one is changed."""
    return RowBatches(lambda: iter([X[:300], change(X[300:])]))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda rows: rows[["a", "b"]], r"'a', 'b'.*2 in all.*4 in all"),
        (lambda rows: rows[list("bacd")], r"'b', 'a'.*'a', 'b'"),
        (lambda rows: rows.assign(a=np.inf), "infinity .*the feature 'a'"),
        (lambda rows: rows.assign(a="text"), "'a' is not numeric"),
        (lambda rows: (rows, None, -np.ones(300)), "must not be negative"),
        (lambda rows: (rows, None, np.ones(7)), "shape"),
    ],
)
def test_errors_name_the_partition(change, message):
    with pytest.raises(ValueError, match=message) as caught:
        PartialDependence(MODEL, features=["a"]).fit(bad_partition(change))
    assert "partition 1" in " ".join(caught.value.__notes__)


def test_what_cannot_be_fitted_says_so():
    batches = in_batches(X, None, None, 3)
    with pytest.raises(TypeError, match=r"fits no model.*FrozenEstimator"):
        PartialDependence(LinearRegression()).fit(batches)
    with pytest.raises(TypeError, match=r"subsample=50.*pass a sample"):
        PartialDependence(MODEL, subsample=50).fit(batches)
    with pytest.raises(ValueError, match="belong to the partitions"):
        PartialDependence(MODEL).fit(batches, Y)
    with pytest.raises(ValueError, match="X has no rows"):
        PartialDependence(MODEL).fit(RowBatches(lambda: iter([X[:0]])))
    with pytest.raises(ValueError, match="no rows of positive weight"):
        PartialDependence(MODEL).fit(in_batches(X, None, 0 * WEIGHTS, 3))
    for source in ([], X, [X]):
        with pytest.raises(TypeError, match="source must be"):
            RowBatches(source)
    with pytest.raises(ValueError, match="no column is named 'target'"):
        PartialDependence(MODEL).fit(RowBatches(lambda: iter([X]), y="target"))


def once(batches):
    """A source that returns the same iterator whenever it is called."""
    iterator = iter(batches)
    return lambda: iterator


@pytest.mark.parametrize(
    "rows",
    [X, X.to_numpy(), pl.DataFrame(dict(X)), sparse.csr_array(X)],
    ids=["pandas", "array", "polars", "sparse"],
)
@pytest.mark.parametrize("n_batches", [1, 3])
def test_batches_that_can_be_read_once_are_refused(rows, n_batches):
    """By methods of one pass, too."""
    model = LINE if isinstance(rows, np.ndarray | sparse.sparray) else MODEL
    if isinstance(rows, pl.DataFrame):
        model = FrozenEstimator(LinearRegression().fit(rows, Y))
    size = len(X) // n_batches
    batches = [(rows[k : k + size], Y[k : k + size]) for k in range(0, len(X), size)]
    for inspector in (PartialDependence(model), PermutationImportance(model)):
        inspector.fit(RowBatches(lambda: iter(batches)))
        with pytest.raises(ValueError, match=r"lambda: pandas.read_csv.*only once"):
            inspector.fit(RowBatches(once(batches)))


@pytest.mark.parametrize(
    ("later", "message"),
    [
        (X[::-1], "begins with other rows than at first"),
        (X[:-1], "has 2 batches of 600 rows at first, and later 2 of 599"),
        (X[:0], "has rows at first, and later none"),
    ],
)
def test_batches_that_change_are_refused(later, message):
    passes = iter([X, X, later])

    def source():
        rows = next(passes)
        return iter([rows[:300], rows[300:]])

    batches = RowBatches(source)
    batches.head()
    for error in (None, message):
        with pytest.raises(ValueError, match=error) if error else nullcontext():
            batches.map_reduce(lambda index, rows: len(rows), add)


def test_a_second_fit_takes_longer_tables():
    tables = [X[:400], X]
    batches = RowBatches(lambda: iter([tables[0]]))
    PartialDependence(MODEL).fit(batches)
    expected = PartialDependence(MODEL).fit(tables.pop())
    tables[0] = X
    assert_array_equal(
        PartialDependence(MODEL).fit(batches).average_[0], expected.average_[0]
    )


def test_missing_numbers_of_sparse_batches_are_the_same():
    holes = X.to_numpy(copy=True)
    holes[3, 1] = np.nan
    batches = RowBatches(lambda: iter([sparse.csc_matrix(holes)]))
    batches.head()
    assert batches.map_reduce(lambda index, rows: rows.shape, add) == (600, 4)
    holes[3, :2] = holes[3, 1::-1]
    with pytest.raises(ValueError, match="begins with other rows"):
        batches.map_reduce(lambda index, rows: rows.shape, add)


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        (
            X,
            X.to_numpy(),
            "partition is of type ndarray, .* of type DataFrame: pass all",
        ),
        (
            X.to_numpy(),
            X,
            "partition is of type DataFrame, .* of type ndarray: pass all",
        ),
        (
            X.to_numpy(),
            sparse.csr_array(X),
            "type csr_array, .* type ndarray: pass all",
        ),
    ],
)
def test_partitions_of_several_kinds_are_refused(first, second, message):
    batches = RowBatches(lambda: iter([first[:300], second[300:]]))
    with pytest.raises(TypeError, match=message) as caught:
        PartialDependence(MODEL if first is X else LINE).fit(batches)
    assert "partition 1" in " ".join(caught.value.__notes__)


def test_a_table_of_pyarrow_is_no_dataset():
    table = pytest.importorskip("pyarrow").Table.from_pandas(X)
    for source in (table, [table], table.to_batches()[0]):
        with pytest.raises(TypeError, match=r"source must.*table.to_pandas\(\)"):
            RowBatches(source)
    batches = RowBatches(lambda: iter([table]))
    with pytest.raises(TypeError, match=r"pyarrow.*Table; supported .*to_pandas\(\)"):
        PartialDependence(MODEL).fit(batches)


IN_MEMORY = [kind for kind in ARGUMENTS if not getattr(kind, "_takes_partitions", 0)]


@pytest.mark.parametrize("kind", IN_MEMORY, ids=lambda kind: kind.__name__)
def test_all_others_need_rows_in_memory(kind):
    batches = RowBatches(lambda: iter([(X, Y)]))
    with pytest.raises(TypeError, match=r"partitions|list.*of str"):
        instances(kind)[0].fit(batches)


def test_progress_counts_batches(capsys):
    batches = in_batches(X.to_numpy(), None, None, 4)
    PartialDependence(LINE, verbose=1).fit(batches)
    assert "[PartialDependence.fit] 100 % done" in capsys.readouterr().out
    assert batches.map_reduce(lambda index, *_: [index], add) == [0, 1, 2, 3]
