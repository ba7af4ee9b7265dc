"""Fit an inspector to a Ray dataset: ``python ray_partitions.py``, where Ray is."""

import numpy as np
import pandas as pd
import ray
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.frozen import FrozenEstimator

from sklearn_interpret.effects import AccumulatedLocalEffects

# [engine]
from sklearn_interpret.partitions import Partitions


class RayPartitions(Partitions):
    """The blocks of a Ray dataset of pandas tables."""

    def __init__(self, dataset, y=None):
        self.blocks, self.y = dataset.to_pandas_refs(), y

    def map_reduce(self, function, merge, columns=None):
        """Call the function for each block, and merge the results in order."""

        def of_block(function, index, block, y):
            target = None if y is None else block.pop(y)
            return function(index, block, target)

        task, shared = ray.remote(of_block), ray.put(function)
        states = [
            task.remote(shared, index, block, self.y)
            for index, block in enumerate(self.blocks)
        ]
        merged = None
        for state in states:  # in the order of the blocks
            merged = merge(merged, ray.get(state))
        return merged


# [end]

if __name__ == "__main__":
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(10_000, 3)), columns=["age", "dose", "week"])
    model = HistGradientBoostingRegressor(max_iter=20).fit(X, X["age"] * X["dose"])
    rows = RayPartitions(ray.data.from_pandas(X).repartition(8))
    effect = AccumulatedLocalEffects(FrozenEstimator(model)).fit(rows)
    expected = AccumulatedLocalEffects(FrozenEstimator(model)).fit(X)
    for found, one in zip(effect.effects_, expected.effects_, strict=True):
        np.testing.assert_allclose(found, one, rtol=0, atol=1e-12)
    print(effect.feature_importances_)
