"""New values of some columns, variant by variant."""

from dataclasses import dataclass, replace

import numpy as np

from sklearn_interpret._core.statistics.weighted import Averages, Moments, RowMoments


@dataclass(frozen=True)
class Replacement:
    """New values of some columns, variant by variant.

    Parameters
    ----------
    columns : tuple of int
        Columns to replace.
    levels : tuple of native vectors
        For each column, the values that occur.
    codes : tuple of ndarray of shape (1 or n_rows, n_variants)
        For each column, which of its values stands in which row and variant. A first
        axis of length one means the same for every row.
    rows : ndarray of int or None
        Rows that take part; None means all. Trees take all.
    together : bool, default=False
        Whether all variants of a row are needed in one block. Trees always do that.
    shape : tuple of int or None
        Points along the two axes of the grid that the variants make up; None means a
        single axis.
    """

    columns: tuple
    levels: tuple
    codes: tuple
    rows: np.ndarray | None = None
    together: bool = False
    shape: tuple | None = None

    @property
    def n_variants(self):
        """Number of perturbed copies of each row."""
        return self.codes[0].shape[1]

    def recast(self, rows):
        """The replacement with its values in the types of another container."""
        pairs = zip(self.columns, self.levels, strict=True)
        levels = tuple(
            rows.cast(j, np.asarray(level) if rows.dates(j) is None else list(level))
            for j, level in pairs
        )
        return replace(self, levels=levels)


def averages_of_rows(model, weights, masses, n_jobs):
    """Weighted means over rows and their errors, from the responses of single rows."""
    reduce = RowMoments(weights, masses)
    blocks = model.responses(reduce, merge=Moments.merge, n_jobs=n_jobs)
    return Averages.of_blocks(blocks, model.n_outputs, weights.sum())
