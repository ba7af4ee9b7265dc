"""Rows in partitions of unequal sizes, some of them empty."""

from itertools import pairwise

import numpy as np

from sklearn_interpret.partitions import RowBatches


def in_batches(X, y, weights, n_partitions, seed=0):
    """`RowBatches` of a table, its targets and weights, or None."""
    n_rows = X.shape[0]
    cuts = np.sort(np.random.default_rng(seed).integers(0, n_rows, n_partitions - 1))
    cuts[: len(cuts) // 4] = 0  # the first partitions are empty
    ends = [0, *cuts.tolist(), n_rows]

    def parts():
        for start, stop in pairwise(ends):
            rows = X.iloc[start:stop] if hasattr(X, "iloc") else X[start:stop]
            others = (y, weights)
            yield (rows, *(None if o is None else o[start:stop] for o in others))

    return RowBatches(parts)
