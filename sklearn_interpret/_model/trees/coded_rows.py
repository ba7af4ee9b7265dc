"""Rows as the codes that trees compare, made as they are asked for."""

import numpy as np

from sklearn_interpret._model.parallel import batch_rows, held_rows

# What a model's own numbers and the first codes take for each feature, in bytes.
_IN_PASSING = 12


class CodedRows:
    """Codes of rows, which need not be held all at once.

    Parameters
    ----------
    model : TreeModel
        Knows what its trees compare of a row.
    ensemble : TreeEnsemble
        Trees of the model, whose codes are wanted.
    rows : Rows
        The rows.
    """

    def __init__(self, model, ensemble, rows):
        self.model = model
        self.ensemble = ensemble
        self.rows = rows
        most = int(ensemble.split_codes.n_codes.max(initial=1)) - 1
        self.dtype = np.min_scalar_type(most)

    def __len__(self):
        return self.rows.n_rows

    @property
    def row_bytes(self):
        """Memory of the codes of one row."""
        return self.dtype.itemsize * self.ensemble.n_features

    def __getitem__(self, part):
        """Codes of the rows of a slice.

        Parameters
        ----------
        part : slice
            Without a step.

        Returns
        -------
        ndarray of shape (n, n_features), unsigned integers, column after column
        """
        start, stop, _ = part.indices(len(self))
        codes = np.empty((stop - start, self.ensemble.n_features), self.dtype, "F")
        passing = self.rows.row_bytes + _IN_PASSING * self.ensemble.n_features
        step = batch_rows(passing)
        for first in range(start, stop, step):
            here = slice(first, min(first + step, stop))
            numbers = self.model.encode(self.rows.part(here).native)
            codes[here.start - start : here.stop - start] = self.ensemble.codes(numbers)
        return codes

    def held(self):
        """The codes of all rows where these are small, else these makers of them."""
        return self[:] if len(self) <= held_rows(self.row_bytes) else self
