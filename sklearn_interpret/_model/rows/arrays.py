"""Rows of numpy arrays."""

import numpy as np

from sklearn_interpret._model.rows.base import Rows, Tiles, checked_cast, plain_list


class ArrayRows(Rows):
    """Rows of a numpy array."""

    @property
    def row_bytes(self):
        """Memory of a row."""
        return max(self.native.itemsize * self.n_columns, 1)

    def take(self, index):
        """Rows at `index`."""
        return ArrayRows(self.native[index])

    def part(self, rows):
        """Rows of a slice, not copied."""
        return ArrayRows(self.native[rows])

    def keep_columns(self, columns):
        """Some of the columns."""
        return ArrayRows(self.native[:, columns])

    def _number_arrays(self):
        return [self.native]

    def mixed(self, index, donors):
        """Rows whose columns come from several rows, without the copy in `Tiles`."""
        mixed = self.native[index]
        for j, places in donors.items():
            mixed[:, j] = self.native[places, j]
        return mixed

    def followed_by(self, others):
        """Rows behind these; numbers and texts together become objects."""
        below = others.native
        if not isinstance(others, ArrayRows):
            below = [others.values(j) for j in range(others.n_columns)]
            below = np.stack(below, axis=1)
        if (self.native.dtype.kind in "US") != (below.dtype.kind in "US"):
            below = below.astype(object)
        return ArrayRows(np.concatenate([self.native, below]))

    def blended(self, n_bases, donors, present):
        """Copies of the first rows, with some columns taken from a later row."""
        # Column by column: long stretches of memory, half of which hold a single value.
        blended = np.empty((self.n_columns, len(donors), n_bases), self.native.dtype)
        for j, column in enumerate(blended):
            column[:] = self.native[:n_bases, j]
            copies = np.flatnonzero(present[:, j])
            column[copies] = self.native[donors[copies], j, None]
        return blended.reshape(self.n_columns, -1).T

    def column(self, j):
        """Column `j`."""
        return self.native[:, j]

    def values(self, j):
        """Column `j`; objects that are all numbers become floats."""
        column = self.native[:, j]
        if column.dtype.kind in "US":
            return column.astype(object)
        if column.dtype.kind == "O" and not self.is_categorical(j):
            try:
                return column.astype(np.float64)
            except (TypeError, ValueError):
                return column
        return column

    def is_categorical(self, j):
        """Strings and booleans are categories; numbers never are."""
        kind = self.native.dtype.kind
        if kind == "O":
            return any(isinstance(v, str | bool | np.bool_) for v in self.native[:, j])
        return kind in "USb"

    def cast(self, j, values):
        """`values` in the array's dtype."""
        if self.native.dtype.kind in "US":
            cast = np.asarray(plain_list(values), dtype=self.native.dtype.kind)
            return cast.astype(np.result_type(cast, self.native.dtype))
        if self.native.dtype.kind == "O":
            cast = np.empty(len(values), dtype=object)
            cast[:] = plain_list(values)
            return cast
        return checked_cast(values, self.native.dtype, self.names[j])

    def tiles(self, start, stop, repeats):
        """A work array of repeated rows."""
        return ArrayTiles(self.native[start:stop], repeats)


class ArrayTiles(Tiles):
    """One work array; replaced columns are restored before the next replacement."""

    def __init__(self, block, repeats):
        super().__init__(len(block), repeats)
        self._set_work(np.repeat(block, repeats, axis=0))
        self._columns = np.asfortranarray(block)  # contiguous, to restore from
        self._replaced = ()

    def _set_work(self, work):
        self._work = work
        self._cube = work.reshape(self.n_rows, self.repeats, work.shape[1])

    def replaced(self, columns, levels, codes):
        levels = [np.asarray(values) for values in levels]
        widest = np.result_type(self._work, *levels)
        if widest != self._work.dtype:  # longer texts, or fractions among integers
            self._set_work(self._work.astype(widest))
        for j in self._replaced:
            if j not in columns:
                self._cube[:, :, j] = self._columns[:, j, None]
        for j, values, places in zip(columns, levels, codes, strict=True):
            self._cube[:, :, j] = values[places]
        self._replaced = tuple(columns)
        return self._work
