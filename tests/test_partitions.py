"""Rows in partitions: batches, Dask collections, other engines, and refusals."""

import logging
import os
from operator import add

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
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
        partitions = Partitions.of(array.from_array(rows, chunks=(5, 2)))
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
