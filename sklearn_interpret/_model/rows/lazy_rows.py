"""Arrays computed from rows: held where they are small, else computed by need."""

from abc import ABC, abstractmethod

import numpy as np

from sklearn_interpret._model.parallel import batch_rows, held_rows, slices


class LazyRows(ABC):
    """Some small numbers for each row, which need not be held all at once.

    A slice of it is an array, as a slice of the array is that :meth:`held` may return.

    Parameters
    ----------
    rows : Rows
        The rows.
    n_columns : int
        How many numbers are made of a row.
    dtype : numpy.dtype
        Their dtype.
    making_bytes : int
        Memory that making a row takes, besides that of the row.
    """

    def __init__(self, rows, n_columns, dtype, making_bytes):
        self.rows = rows
        self.n_columns = n_columns
        self.dtype = np.dtype(dtype)
        self._batch_bytes = rows.row_bytes + making_bytes

    @abstractmethod
    def _made(self, rows):
        """The array of some `Rows`: (n, n_columns)."""

    def __len__(self):
        return self.rows.n_rows

    @property
    def row_bytes(self):
        """Memory of what is made of one row."""
        return self.dtype.itemsize * self.n_columns

    def __getitem__(self, part):
        """For the rows of a slice without a step: (n, n_columns), Fortran order."""
        start, stop, _ = part.indices(len(self))
        made = self.empty(stop - start)
        for some in self.batches(start, stop):
            made[some.start - start : some.stop - start] = self._made(
                self.rows.part(some)
            )
        return made

    def empty(self, n_rows):
        """An array for what is made of so many rows."""
        return np.empty((n_rows, self.n_columns), self.dtype, "F")

    def batches(self, start, stop):
        """Slices of rows that are worked on at once."""
        for part in slices(stop - start, batch_rows(self._batch_bytes)):
            yield slice(start + part.start, start + part.stop)

    @property
    def is_small(self):
        """Whether it may be held for all rows."""
        return len(self) <= held_rows(self.row_bytes)

    def held(self):
        """The array of all rows where it is small, else this object."""
        return self[:] if self.is_small else self
