"""What is made of rows: held where it is small, else made as it is asked for."""

from abc import ABC, abstractmethod

import numpy as np

from sklearn_interpret._model.parallel import batch_rows, held_rows


class MadeRows(ABC):
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
    passing_bytes : int, default=0
        Memory that is needed in passing for each row, beside that of the row.
    """

    def __init__(self, rows, n_columns, dtype, passing_bytes=0):
        self.rows = rows
        self.n_columns = n_columns
        self.dtype = np.dtype(dtype)
        self._passing = rows.row_bytes + passing_bytes

    @abstractmethod
    def _made(self, rows):
        """What is made of some `Rows`: an array of shape (n, n_columns)."""

    @abstractmethod
    def of(self, rows):
        """The same for other `Rows`."""

    def __len__(self):
        return self.rows.n_rows

    @property
    def row_bytes(self):
        """Memory of what is made of one row."""
        return self.dtype.itemsize * self.n_columns

    def __getitem__(self, part):
        """What is made of the rows of a slice.

        Parameters
        ----------
        part : slice
            Without a step.

        Returns
        -------
        ndarray of shape (n, n_columns), column after column
        """
        start, stop, _ = part.indices(len(self))
        found = np.empty((stop - start, self.n_columns), self.dtype, "F")
        for here in self._batches(start, stop):
            made = self._made(self.rows.part(here))
            found[here.start - start : here.stop - start] = made
        return found

    def _batches(self, start, stop):
        step = batch_rows(self._passing)
        for first in range(start, stop, step):
            yield slice(first, min(first + step, stop))

    @property
    def is_small(self):
        """Whether it may be held for all rows."""
        return len(self) <= held_rows(self.row_bytes)

    def held(self):
        """What is made of all rows where that is small, else these makers of it."""
        return self[:] if self.is_small else self


class Stretch:
    """Some of the rows of what is held or made, as if there were no others.

    Parameters
    ----------
    whole : ndarray or MadeRows
        For all rows.
    rows : slice
        The rows.
    """

    def __init__(self, whole, rows):
        self._whole = whole
        self._start, self._stop, _ = rows.indices(len(whole))

    def __len__(self):
        return self._stop - self._start

    def __getitem__(self, part):
        """For the rows of a slice."""
        start, stop, _ = part.indices(len(self))
        return self._whole[self._start + start : self._start + stop]

    def __reduce__(self):
        # Only the rows themselves travel.
        rows = slice(self._start, self._stop)
        if isinstance(self._whole, np.ndarray):
            part = self._whole[rows]
        else:
            part = self._whole.of(self._whole.rows.part(rows))
        return type(self), (part, slice(None))
