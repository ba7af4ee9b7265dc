"""Texts, images and whatever else a model takes that is no table."""

import numpy as np

from sklearn_interpret._model._sklearn_compat import safe_indexing


class SampleRows:
    """Samples along the first axis of a list, a series or an array.

    As much of `Rows` as samples have that are no
    rows of a table.

    Parameters
    ----------
    native : list, Series or ndarray
        What the user passed in.
    """

    named = False

    def __init__(self, native):
        self.native = native
        self.n_rows = len(native)

    def __iter__(self):
        """Go through the samples."""
        return iter(self.native)

    @property
    def row_bytes(self):
        """Memory that one sample takes, about, in bytes."""
        if isinstance(self.native, np.ndarray) and self.native.dtype != object:
            return self.native[:1].nbytes
        return sum(len(str(sample)) for sample in self.native) // max(1, self.n_rows)

    def take(self, index):
        """Samples at the integer positions `index`, as `SampleRows`."""
        return SampleRows(safe_indexing(self.native, index))

    def part(self, rows):
        """Samples of a slice, as `SampleRows`."""
        start, stop, _ = rows.indices(self.n_rows)
        if stop - start == self.n_rows:
            return self
        return self.take(np.arange(start, stop))
