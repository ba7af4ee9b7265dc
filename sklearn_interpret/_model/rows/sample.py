"""The rows that an estimator uses, with their targets and weights."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state, resample

from sklearn_interpret._model.rows.base import Rows, gather


def observed_levels(
    rows: Rows, columns: Sequence[int]
) -> tuple[list[Any], tuple[Any, ...]]:
    """Labels of the joint values of columns in rows, and a native vector per column."""
    _, labels, first_rows = rows.encode(columns)
    return labels, tuple(gather(rows.column(j), first_rows) for j in columns)


def draw_rows(
    n_rows: int,
    subsample: float | None,
    *,
    stratify: NDArray[Any] | None = None,
    random_state: int | np.random.RandomState | None = None,
) -> NDArray[np.intp]:
    """Increasing positions of rows, drawn without replacement.

    Parameters
    ----------
    n_rows : int
        Number of rows to draw from.
    subsample : int, float in (0, 1] or None
        Number or share of rows to draw; None, or at least `n_rows`, keeps all.
    stratify : ndarray of shape (n_rows,) or None
        Class labels whose shares are kept.
    random_state : int, RandomState or None
        Source of the draw.

    Returns
    -------
    ndarray of int
    """
    size = n_rows if subsample is None else subsample
    if not isinstance(size, Integral):
        size = max(1, round(size * n_rows))
    if size >= n_rows:
        return np.arange(n_rows)
    if stratify is not None and size < len(np.unique(stratify)):
        stratify = None
    positions = resample(
        np.arange(n_rows),
        replace=False,
        n_samples=int(size),
        stratify=stratify,
        random_state=check_random_state(random_state),
    )
    return np.sort(positions)


@dataclass(frozen=True)
class Sample:
    """The rows that an estimator uses, with their targets and weights.

    Parameters
    ----------
    rows : Rows
        Rows of positive weight.
    y : ndarray or None
        Targets of the rows.
    weights : ndarray of shape (n_rows,)
        Weights of the rows; read-only.
    positions : ndarray of shape (n_rows,), default=None
        Positions of the rows in the input; None for all rows, which saves memory.
    partition : int, default=0
        Number of the rows' partition.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_interpret._model.rows.arrays import as_rows
    >>> from sklearn_interpret._model.rows.sample import Sample
    >>> weights = np.array([1.0, 0.0, 2.0])
    >>> sample = Sample.of_positive_weight(as_rows(np.eye(3)), [4, 5, 6], weights)
    >>> sample.index, sample.y, sample.weights
    (array([0, 2]), array([4, 6]), array([1., 2.]))
    """

    rows: Rows
    y: Any
    weights: NDArray[np.float64]
    positions: NDArray[np.intp] | None = None
    partition: int = 0

    @property
    def index(self) -> NDArray[np.intp]:
        """Positions of the rows in the input: (n_rows,)."""
        return np.arange(self.rows.n_rows) if self.positions is None else self.positions

    @classmethod
    def of_positive_weight(
        cls, rows: Rows, y: ArrayLike | None, weights: NDArray[np.float64]
    ) -> Self:
        """The rows of positive weight.

        Parameters
        ----------
        rows : Rows
            All rows.
        y : array-like or None
            Targets of the rows.
        weights : ndarray of shape (n_rows,)
            Weights of the rows.

        Returns
        -------
        Sample
            The sample without the rows of weight zero.
        """
        everything = cls(rows, None if y is None else np.asarray(y), weights)
        positive = weights > 0
        return everything if positive.all() else everything.take(positive.nonzero()[0])

    def map_reduce(
        self,
        function: Callable[..., Any],
        merge: Callable[..., Any],
        columns: Iterable[int] | None = None,
    ) -> Any:
        """Merged results of a function of parts of the rows: here of all in one.

        Parameters
        ----------
        function : callable
            Takes a `Sample`.
        merge : callable
            Merges the results of two neighbouring parts of rows in partitions.
        columns : sequence of int, default=None
            The only columns that the function reads; None for all.

        Returns
        -------
        object
            The result.
        """
        return function(self)

    def with_values_and_levels(
        self,
        quantiles: Mapping[int, NDArray[np.float64] | None],
        level_sets: Sequence[tuple[int, ...]],
        most_distinct: int,
    ) -> Self:
        """The sample with `values_of` some columns and `levels_of` some sets of them.

        Parameters
        ----------
        quantiles : dict of int to array-like or None
            For each numeric column, the quantiles that `values_of` must give exactly;
            None asks for all values.
        level_sets : iterable of tuple of int
            Columns of each set.
        most_distinct : int
            Up to this number of distinct values all are kept.

        Returns
        -------
        Sample
            Here the sample itself, which has all values.
        """
        return self

    def values_of(self, j: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Numbers of a column, NaN left out, and their weights.

        Parameters
        ----------
        j : int
            The column.

        Returns
        -------
        values, weights : ndarray of shape (n_known,)
            Values and weights of the rows whose number is not missing.
        """
        values, weights = self.rows.numbers(j), self.weights
        present = ~np.isnan(values)
        if present.all():
            return values, weights
        return values[present], weights[present]

    def levels_of(self, columns: Sequence[int]) -> tuple[list[Any], tuple[Any, ...]]:
        """Distinct joint values of columns.

        Parameters
        ----------
        columns : tuple of int
            The columns.

        Returns
        -------
        labels : list
            Labels of the joint values, in their natural order.
        levels : tuple of native vectors
            For each column, its values at the labels.
        """
        return observed_levels(self.rows, columns)

    def n_distinct(self, columns: Sequence[int], limit: int) -> int:
        """Number of distinct joint values of columns, at most `limit`.

        Parameters
        ----------
        columns : tuple of int
            The columns.
        limit : int
            Result if there are more.

        Returns
        -------
        int
            The number.
        """
        return min(limit, int(self.rows.encode(columns)[0].max()) + 1)

    @property
    def total_weight(self) -> float:
        """Sum of the weights."""
        return self.weights.sum()

    def distinct(self, columns: Sequence[int] | None = None) -> Sample:
        """The distinct rows with their targets, sorted, and weighted by their copies.

        Parameters
        ----------
        columns : list of int, default=None
            The columns in which rows may differ; None means all.

        Returns
        -------
        Sample
            Depends neither on the order of the rows nor on how weights and copies
            share the same total.
        """
        compared = range(self.rows.n_columns) if columns is None else columns
        codes = [self.rows.encode_column(j)[0] for j in compared]
        targets = self.y.reshape(len(self.y), -1).T
        codes += [np.unique(output, return_inverse=True)[1] for output in targets]
        _, first_copies, copies = np.unique(
            codes, axis=1, return_index=True, return_inverse=True
        )
        weights = np.bincount(copies.ravel(), self.weights).astype(np.float64)
        return Sample(
            self.rows.take(first_copies),
            self.y[first_copies],
            weights,
            positions=self.index[first_copies],
        )

    def draw(
        self,
        subsample: float | None,
        random_state: int | np.random.RandomState | None,
        *,
        stratified: bool,
    ) -> Sample:
        """A random subset of the rows, drawn without replacement.

        Parameters
        ----------
        subsample : int, float in (0, 1] or None
            Number or share of rows; None keeps all.
        random_state : int, RandomState or None
            Source of the draw.
        stratified : bool
            Whether to stratify by label; ignored for several columns of labels.

        Returns
        -------
        Sample
            The rows drawn, in order.
        """
        if subsample is None:
            return self
        by_class = stratified and self.y is not None and self.y.ndim == 1
        positions = draw_rows(
            self.rows.n_rows,
            subsample,
            stratify=self.y if by_class else None,
            random_state=random_state,
        )
        return self.take(positions)

    def take(self, positions: NDArray[np.intp]) -> Self:
        """The rows at increasing positions; `self` if these are all.

        Parameters
        ----------
        positions : ndarray of int
            Positions of the rows.

        Returns
        -------
        Sample
            The rows.
        """
        if len(positions) == self.rows.n_rows:
            return self
        y = None if self.y is None else self.y[positions]
        rows, weights = self.rows.take(positions), self.weights[positions]
        return type(self)(rows, y, weights, self.index[positions])
