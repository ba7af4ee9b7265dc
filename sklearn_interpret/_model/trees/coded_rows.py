"""Rows as the codes that trees compare, made as they are asked for."""

import numpy as np

from sklearn_interpret._model.rows.lazy_rows import MadeRows

# What a model's own numbers and the first codes take for each feature, in bytes.
_IN_PASSING = 12

# Rows on which the model is asked whether it is what was read.
_ROWS_ASKED = 8


class CodedRows(MadeRows):
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
        most = int(ensemble.split_codes.n_codes.max(initial=1)) - 1
        n_features = ensemble.n_features
        dtype = np.min_scalar_type(most)
        super().__init__(rows, n_features, dtype, _IN_PASSING * n_features)

    def of(self, rows):
        """The same for other `Rows`."""
        return CodedRows(self.model, self.ensemble, rows)

    def _made(self, rows):
        return self.ensemble.codes(self.model.encode(rows.native))

    def seen(self, look):
        """As :meth:`held`, after a look at the numbers that the trees compare.

        Parameters
        ----------
        look : callable
            Called with the position of the first of some rows and their numbers, for
            all rows, some after the other.

        Returns
        -------
        ndarray or CodedRows
        """
        held = self.is_small
        codes = np.empty((len(self) if held else 0, self.n_columns), self.dtype, "F")
        for here in self._batches(0, len(self)):
            numbers = self.model.encode(self.rows.part(here).native)
            look(here.start, numbers)
            if held:
                codes[here] = self.ensemble.codes(numbers)
        return codes if held else self


class TellingRows:
    """Finds rows that tell whether a model is what was read.

    Some rows far from each other, and for each feature the first one with a missing or
    infinite value, which the model may well refuse.

    Parameters
    ----------
    coded : CodedRows
        The rows.
    """

    def __init__(self, coded):
        self._coded = coded
        spread = np.linspace(0, len(coded) - 1, _ROWS_ASKED)
        self._places = [spread.astype(np.intp)]
        self._finite = np.ones(coded.n_columns, dtype=bool)

    def __call__(self, start, numbers):
        """Look at the numbers (n, n_features) of the rows from `start` on."""
        special = ~np.isfinite(numbers)
        if special.any():
            new = np.flatnonzero(special.any(axis=0) & self._finite)
            self._places.append(start + special[:, new].argmax(axis=0))
            self._finite[new] = False

    @property
    def places(self):
        """Positions of the rows that have been found: increasing."""
        return np.unique(np.concatenate(self._places))

    def check(self, trees, response):
        """Have trees checked against the model on these rows.

        Parameters
        ----------
        trees : AdditiveTrees or LinkedTrees
            What was read.
        response : Response
            The model.
        """
        rows = self._coded.rows.take(self.places)
        trees.check(response, rows.native, self._coded.of(rows)[:])
