"""New values of some columns, variant by variant."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sklearn_interpret._core.statistics.weighted import Averages, Moments, RowMoments

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sklearn_interpret._model.replacement.replaced import ReplacedResponses
    from sklearn_interpret._model.replacement.replaced_trees import ReplacedTrees
    from sklearn_interpret._model.rows.base import Rows


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

    columns: tuple[int, ...]
    levels: tuple[Any, ...]
    codes: tuple[NDArray[np.intp], ...]
    rows: NDArray[np.intp] | None = None
    together: bool = False
    shape: tuple[int, ...] | None = None

    @property
    def n_variants(self) -> int:
        """Number of perturbed copies of each row."""
        return self.codes[0].shape[1]

    def recast(self, rows: Rows) -> Replacement:
        """The replacement with its values in the types of another container."""
        pairs = zip(self.columns, self.levels, strict=True)
        levels = tuple(
            rows.cast(j, np.asarray(level) if rows.dates(j) is None else list(level))
            for j, level in pairs
        )
        return replace(self, levels=levels)


def averages_of_rows(
    model: ReplacedResponses | ReplacedTrees,
    weights: NDArray[np.float64],
    masses: Sequence[NDArray[np.float64] | None] | None,
    n_jobs: int | None,
) -> Averages:
    """Weighted means over rows and their errors, from the responses of single rows."""
    reduce = RowMoments(weights, masses)
    blocks = model.responses(reduce, merge=Moments.merge, n_jobs=n_jobs)
    return Averages.of_blocks(blocks, model.n_outputs, weights.sum())
