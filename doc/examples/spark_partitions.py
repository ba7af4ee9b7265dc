"""Fit an inspector to a Spark table: ``python spark_partitions.py``, where Spark is."""

import pickle

import numpy as np
import pandas as pd
from pyspark import TaskContext
from pyspark.sql import SparkSession
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.frozen import FrozenEstimator

from sklearn_interpret.effects import AccumulatedLocalEffects
from sklearn_interpret.partitions import Partitions


class SparkPartitions(Partitions):
    """The partitions of a Spark data frame."""

    def __init__(self, frame, y=None):
        self.frame, self.y = frame, y

    def map_reduce(self, function, merge, columns=None):
        """Call the function for each partition, and merge the results in order."""
        y, shared = self.y, self.frame.sparkSession.sparkContext.broadcast(function)

        def of_partition(batches):
            index = TaskContext.get().partitionId()
            rows = pd.concat(list(batches), ignore_index=True)
            target = None if y is None else rows.pop(y)
            state = pickle.dumps(shared.value(index, rows, target))
            yield pd.DataFrame({"index": [index], "state": [state]})

        found = self.frame.mapInPandas(of_partition, "index int, state binary")
        merged = None
        for row in sorted(found.collect(), key=lambda row: row["index"]):
            merged = merge(merged, pickle.loads(row["state"]))
        return merged


if __name__ == "__main__":
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(10_000, 3)), columns=["age", "dose", "week"])
    model = HistGradientBoostingRegressor(max_iter=20).fit(X, X["age"] * X["dose"])
    spark = SparkSession.builder.master("local[2]").getOrCreate()
    rows = SparkPartitions(spark.createDataFrame(X).repartition(8))
    effect = AccumulatedLocalEffects(FrozenEstimator(model)).fit(rows)
    expected = AccumulatedLocalEffects(FrozenEstimator(model)).fit(X)
    for found, one in zip(effect.effects_, expected.effects_, strict=True):
        np.testing.assert_allclose(found, one, rtol=0, atol=1e-12)
    print(effect.feature_importances_)
