"""The numbers of one effect, as all displays hold them."""

from dataclasses import dataclass

import numpy as np

from sklearn_interpret.effects._plot._line_panel import Series
from sklearn_interpret.effects._plot._looks import level_places

N_ERRORS = 2.0


@dataclass(frozen=True)
class Effect:
    """Numbers of one entry.

    Parameters
    ----------
    names : tuple of str
        One or two features.
    places : tuple of ndarray
        Values or levels along them.
    levelled : tuple of bool
        Which of them are categories.
    values : ndarray of shape (k, G) or (k, G1, G2)
        The effect.
    low, high : ndarray or None
        Ends of the bands.
    folds : ndarray of shape (n_folds, k, ...) or None
        The effect of each fold's model.
    data : tuple of ndarray or None
        The features' values in the data.
    bounds : tuple of ndarray or None
        Ends of cells, where values belong to these.
    """

    names: tuple
    places: tuple
    levelled: tuple
    values: np.ndarray
    low: np.ndarray | None = None
    high: np.ndarray | None = None
    folds: np.ndarray | None = None
    data: tuple | None = None
    bounds: tuple | None = None

    def series(self, output, label, colour, levels=None):
        """One output of a one-way effect as a line.

        Along a category, x are positions among `levels`, by default its own.
        """
        (places,) = self.places
        if self.levelled[0]:
            places = level_places(places, places if levels is None else levels)

        def pick(part):
            return None if part is None else part[output]

        folds = None if self.folds is None else self.folds[:, output]
        return Series(
            np.asarray(places, dtype=np.float64),
            self.values[output],
            pick(self.low),
            pick(self.high),
            folds,
            label,
            colour,
        )


def with_outputs(values, n_axes):
    """The array with an axis of outputs in front."""
    values = np.asarray(values, dtype=np.float64)
    return values[None] if values.ndim == n_axes else values


def folds_with_outputs(folds, n_axes):
    """Folds (n_folds, ...) with an axis of outputs behind that of the folds."""
    folds = np.asarray(folds, dtype=np.float64)
    return folds[:, None] if folds.ndim == n_axes + 1 else folds


def fold_band(folds, n_axes):
    """Folds, and one standard deviation over them to each side of their mean."""
    folds = folds_with_outputs(folds, n_axes)
    mean, std = folds.mean(axis=0), folds.std(axis=0)
    return {"low": mean - std, "high": mean + std, "folds": folds}


def error_band(values, errors, n_axes):
    """`N_ERRORS` standard errors to each side."""
    values, reach = (with_outputs(part, n_axes) for part in (values, errors))
    return {"low": values - N_ERRORS * reach, "high": values + N_ERRORS * reach}
