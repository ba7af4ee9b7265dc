"""Frames larger than memory, partition by partition."""

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingRegressor

from sklearn_interpret.effects import AccumulatedLocalEffects


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
