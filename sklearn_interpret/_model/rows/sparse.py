"""Rows of scipy's sparse matrices and arrays."""

from functools import cached_property
from operator import itemgetter

import numpy as np
from scipy import sparse

from sklearn_interpret._model.rows.base import Rows, Tiles, checked_cast


class SparseRows(Rows):
    """Rows of a scipy sparse matrix or array."""

    def __init__(self, native):
        super().__init__(native)
        # Perturbed rows are not diagonal, and scipy would warn.
        self._format = "csr" if native.format == "dia" else native.format

    @cached_property
    def _csr(self):
        return self.native.tocsr()

    @cached_property
    def _csc(self):
        return self.native.tocsc()

    @property
    def row_bytes(self):
        """Memory of an average row: value and index of each stored entry."""
        return 16 * (self._csr.nnz // max(self.n_rows, 1) + 1)

    def take(self, index):
        """Rows at `index`, in the same format."""
        return SparseRows(self._csr[index].asformat(self._format))

    def keep_columns(self, columns):
        """Some of the columns, in the same format."""
        return SparseRows(self._csc[:, columns].asformat(self._format))

    def _number_arrays(self):
        return [self._csr]

    def are_within(self, limit):
        """False, for unknown: some models treat entries not stored as missing."""
        return False

    def followed_by(self, others):
        """These rows, then `others`, in the same format."""
        below = others.native
        if not isinstance(others, SparseRows):
            numbers = [others.numbers(j) for j in range(others.n_columns)]
            below = np.stack(numbers, axis=1)
        below = type(self._csr)(below)
        return SparseRows(sparse.vstack([self._csr, below], format=self._format))

    def blended(self, n_bases, donors, present):
        """Copies of the first rows, with some columns taken from a later row."""
        own = self._csr[np.tile(np.arange(n_bases), len(donors))]
        taken = self._csr[np.repeat(donors, n_bases)]
        for part, wanted in ((own, False), (taken, True)):
            entries = np.repeat(np.arange(part.shape[0]), np.diff(part.indptr))
            part.data[present[entries // n_bases, part.indices] != wanted] = 0
            part.eliminate_zeros()
        return (own + taken).asformat(self._format)

    def agreeing(self, n_bases):
        """Mask of the columns in which all first rows have the value of a later row."""
        first = self._csr[:1].toarray()
        own = self._csr[:n_bases]
        low, high = own.min(axis=0).toarray(), own.max(axis=0).toarray()
        constant = (low == high).reshape(-1)
        return constant & (self._csr[n_bases:].toarray() == first)

    def column(self, j):
        """Column `j`, dense."""
        return self._csc[:, [j]].toarray().ravel()

    values = column

    def is_categorical(self, j):
        """Booleans are categories; numbers never are."""
        return self.native.dtype.kind == "b"

    def cast(self, j, values):
        """`values` in the matrix's dtype."""
        return checked_cast(values, self.native.dtype, self.names[j])

    def tiles(self, start, stop, repeats):
        """Repeated rows, in the same format."""
        index = np.repeat(np.arange(start, stop), repeats)
        return _SparseTiles(self._csr[index], stop - start, repeats, self._format)


class _SparseTiles(Tiles):
    """Repeated rows; replaced columns are stacked between the kept ones."""

    def __init__(self, repeated, n_rows, repeats, format):
        super().__init__(n_rows, repeats)
        self._columns = repeated.tocsc()
        self._kind = type(self._columns)  # a matrix or an array, as the rows
        self._format = format

    def replaced(self, columns, levels, codes):
        pieces, begin = [], 0
        by_column = sorted(zip(columns, levels, codes, strict=True), key=itemgetter(0))
        for j, values, places in by_column:
            fresh = np.asarray(values)[self._cells(places)]
            pieces += [self._columns[:, begin:j], self._kind(fresh[:, None])]
            begin = j + 1
        pieces.append(self._columns[:, begin:])
        kept = [piece for piece in pieces if piece.shape[1]]
        return sparse.hstack(kept, format=self._format)
