"""Frames larger than memory, partition by partition."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import LinearRegression

from sklearn_interpret.effects import AccumulatedLocalEffects
from sklearn_interpret.shapley import KernelSHAP


def test_frames_larger_than_memory_are_explained_in_partitions():
    """`transform` is a function of the row, so partitions do not show."""
    pytest.importorskip("dask.dataframe")
    pandas = pytest.importorskip("pandas")
    import dask.dataframe

    X = np.random.default_rng(0).normal(size=(200, 5))
    y = X[:, 0] * X[:, 1] + X[:, 2]
    frame = pandas.DataFrame(X, columns=list("abcde"))
    inspector = AccumulatedLocalEffects(HistGradientBoostingRegressor(max_iter=5))
    inspector.set_output(transform="pandas").fit(frame, y)
    parts = dask.dataframe.from_pandas(frame, npartitions=3)
    whole = parts.map_partitions(inspector.transform, meta=inspector.transform(frame))
    pandas.testing.assert_frame_equal(
        whole.compute(scheduler="synchronous"), inspector.transform(frame)
    )


def test_collections_are_not_computed_unasked():
    array = pytest.importorskip("dask.array")
    X = np.random.default_rng(0).normal(size=(50, 3))
    blocks = array.from_array(X, chunks=(20, 3))
    inspector = KernelSHAP(LinearRegression(), background=X[:3], random_state=0)
    with pytest.raises(TypeError, match=r"dask\.array.*fit a sample.*map_blocks"):
        inspector.fit(blocks, X[:, 0])
    inspector.fit(X, X[:, 0])
    for ask in (inspector.transform, inspector.explain):
        with pytest.raises(TypeError, match="map_blocks"):
            ask(blocks)
    mapped = blocks[np.arange(50) < 0].map_blocks(inspector.transform, dtype=float)
    assert mapped.compute(scheduler="synchronous").shape == (0, 3)
    mapped = blocks.map_blocks(inspector.transform, dtype=float)
    found = mapped.compute(scheduler="synchronous")
    assert_allclose(found, inspector.transform(X), atol=1e-10)
