"""Explanations with one number per training row: influence, neighbours' votes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sklearn_interpret._inspectors.sklearn_bases import DataFrame
from sklearn_interpret._model.parallel import rows_in_memory, slices
from sklearn_interpret._model.rows.number_format import entry_text
from sklearn_interpret.explanations._base import (
    FILLED,
    SHOWN_ROWS,
    BaseExplanation,
    checked_array,
    checked_names,
    optional_library,
)


@dataclass(frozen=True, eq=False, repr=False)
class TrainingExplanation(BaseExplanation):
    """One number per explained row and training row, or group of training rows.

    Parameters
    ----------
    values : {array-like, sparse array} of shape (n_rows, n_training)
        Effect of each training row on each explained one; `value_name` names it.
    training_data : {ndarray, sparse matrix, DataFrame} of n_training rows, default=None
        The training rows; None if the values are those of groups.
    predictions : array-like of shape (n_rows[, n_outputs]), default=None
        The model's responses to the rows.
    data : {ndarray, sparse matrix, DataFrame} of n_rows rows, default=None
        The explained rows, in the container in which they were given.
    feature_names : sequence of str, default=None
        A name for each feature; None takes those of the training rows.
    output_names : sequence, default=None
        A class label or position for each output; None means positions.
    response_name : str, default=None
        Name of the response: "prediction", "probability", "log-odds"...
    target_name : str, default=None
        Name of the target.
    training_names : sequence of length n_training, default=None
        A name for each training row or group; None takes the index of a pandas table,
        or positions.
    training_targets : array-like of shape (n_training, ...), default=None
        Targets of the training rows.
    value_name : str, default="value"
        Name of the values.
    smallest_first : bool, default=False
        Whether the smallest values matter most, as of :class:`DataValues`, and not the
        largest sizes. Displays leave out values that are NaN then.

    Raises
    ------
    ValueError
        If parts have inconsistent shapes, or are not numbers.

    Examples
    --------
    >>> from sklearn_interpret.explanations import TrainingExplanation
    >>> explanation = TrainingExplanation(
    ...     values=[[0.1, -0.5, 0.0]],
    ...     training_data=[[1.0], [2.0], [3.0]],
    ...     value_name="change of the loss",
    ... )
    >>> explanation
    TrainingExplanation(n_rows=1, n_training=3)
    largest mean size of the change of the loss: 0.5 (1), 0.1 (0), 0 (2)
    >>> explanation.largest(2)
    array([[1, 0]])
    """

    values: NDArray[np.float64]
    training_data: Any = None
    training_names: Sequence[Any] = field(default=FILLED, kw_only=True)
    training_targets: NDArray[Any] | None = field(default=None, kw_only=True)
    value_name: str = field(default="value", kw_only=True)
    smallest_first: bool = field(default=False, kw_only=True)

    _arrays_by_row: ClassVar[tuple[str, ...]] = (
        "values",
        *BaseExplanation._arrays_by_row,
    )
    _displays: ClassVar[str] = "InfluenceDisplay and InfluenceTreeDisplay"

    def __post_init__(self) -> None:
        if sparse.issparse(self.values):
            self._set("values", sparse.csr_array(self.values, dtype=np.float64))
        else:
            self._set("values", checked_array(self.values, "values"))
        if self.values.ndim != 2:
            raise ValueError(
                f"values has the shape {self.values.shape}; (n_rows, n_training) is "
                "accepted."
            )
        n_training, n_features = self.values.shape[1], 0
        if self.training_data is not None:
            if not hasattr(self.training_data, "shape"):
                self._set("training_data", np.asarray(self.training_data))
            n_given, n_features = self.training_data.shape
            if n_given != n_training:
                raise ValueError(
                    f"training_data has {n_given} rows, but values has {n_training} "
                    "columns."
                )
        names = self.training_names
        if names is None:
            index = getattr(self.training_data, "index", None)
            names = range(n_training) if index is None else index
        names = checked_names(names, "training_names", n_training)
        self._set("training_names", names)
        if self.training_targets is not None:
            self._set("training_targets", np.asarray(self.training_targets))
            if len(self.training_targets) != n_training:
                raise ValueError(
                    f"training_targets has {len(self.training_targets)} entries, but "
                    f"values has {n_training} columns."
                )
        if self.feature_names is not None:
            n_features = len(self.feature_names)
        elif hasattr(self.training_data, "columns"):
            self._set("feature_names", list(self.training_data.columns))
        self._check_common_fields(n_features)

    def __len__(self) -> int:
        """Return the number of explained rows."""
        return self.values.shape[0]

    @property
    def mean_sizes(self) -> NDArray[np.float64]:
        """Mean absolute value of each training row over the explained rows."""
        return abs(self.values).mean(axis=0)

    def largest(self, k: int = 5) -> NDArray[np.intp]:
        """Return the training rows with the largest absolute values, for each row.

        With ``smallest_first``, those with the smallest values.

        Parameters
        ----------
        k : int, default=5
            Number of training rows.

        Returns
        -------
        ndarray of shape (n_rows, k), int
            Positions of the training rows, the largest value first.
        """
        return self._ranked(k)[0]

    def _ranked(self, k: int) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """Positions (n_rows, k) in the order of `largest`, and values at these."""
        n_rows, n_training = self.values.shape
        shape = n_rows, len(range(n_training)[:k])
        positions, ranked = np.empty(shape, dtype=np.intp), np.empty(shape)
        # A row needs its values, their sizes and the order of these.
        for block in slices(n_rows, rows_in_memory(4 * 8 * n_training)):
            values: Any = self.values[block]
            values = values.toarray() if sparse.issparse(values) else values
            sizes = values if self.smallest_first else -np.abs(values)
            order = np.argsort(sizes, axis=1, kind="stable")[:, :k]
            positions[block] = order
            ranked[block] = np.take_along_axis(values, order, axis=1)
        return positions, ranked

    def to_frame(self, k: int | None = None) -> DataFrame:
        """Return the values as a table, one line for each pair of rows.

        Parameters
        ----------
        k : int, default=None
            Number of training rows of the largest absolute values for each explained
            one; None means all, in their order, of sparse values those that are
            stored.

        Returns
        -------
        pandas.DataFrame
            Columns "row" (`row_names` of the explained row), "training_row" (the name
            of the training row or group) and "value".

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        pandas = optional_library("pandas", "TrainingExplanation.to_frame")
        n_rows, n_training = self.values.shape
        rows: Any
        positions: Any
        values: Any = self.values
        if k is not None:
            positions, values = self._ranked(k)
            rows = np.repeat(np.arange(n_rows), positions.shape[1])
        elif sparse.issparse(values):
            entries = values.tocoo()
            rows, positions, values = entries.row, entries.col, entries.data
        else:
            rows, positions = np.indices(values.shape)
        names = np.empty(n_training, dtype=object)
        names[:] = self.training_names
        return pandas.DataFrame(
            {
                "row": self.row_names[rows.ravel()],
                "training_row": names[positions.ravel()],
                "value": values.ravel(),
            }
        ).infer_objects()

    def _units(self) -> dict[str, str | None]:
        return {"value": self.value_name}

    def _size(self) -> str:
        n_rows, n_training = self.values.shape
        return f"n_rows={n_rows}, n_training={n_training}"

    def _summary(self) -> list[str]:
        if not self.values.size:
            return []
        mean_sizes = self.mean_sizes
        largest = np.argsort(-mean_sizes, kind="stable")[:SHOWN_ROWS]
        texts = [
            f"{entry_text(mean_sizes[k])} ({entry_text(self.training_names[k])})"
            for k in largest
        ]
        return [f"largest mean size of the {self.value_name}: {', '.join(texts)}"]

    def _html_table(self) -> tuple[list[str], list[list[str]]]:
        head = ["row", *(f"largest {k + 1}" for k in range(SHOWN_ROWS))]
        shown = self[:SHOWN_ROWS]
        body = [
            [
                str(name),
                *(
                    f"{entry_text(self.training_names[k])}: {entry_text(value)}"
                    for k, value in zip(positions, values, strict=True)
                ),
            ]
            for name, positions, values in zip(
                shown.row_names, *shown._ranked(SHOWN_ROWS), strict=True
            )
        ]
        return head, body


@dataclass(frozen=True, eq=False, repr=False)
class NeighborExplanation(TrainingExplanation):
    """Shares of the training rows in the votes of nearest neighbours.

    Parameters
    ----------
    values : array-like of shape (n_rows, n_training)
        Share of each training row in the vote for each explained one.
    training_data : {ndarray, sparse matrix, DataFrame} of n_training rows, default=None
        The training rows.
    predictions : array-like of shape (n_rows[, n_outputs]), default=None
        The model's responses to the rows.
    data : {ndarray, sparse matrix, DataFrame} of n_rows rows, default=None
        The explained rows, in the container in which they were given.
    feature_names : sequence of str, default=None
        A name for each feature; None takes those of the training rows.
    output_names : sequence, default=None
        A class label or position for each output; None means positions.
    response_name : str, default=None
        Name of the response: "prediction", "probability", "log-odds"...
    target_name : str, default=None
        Name of the target.
    training_names : sequence of length n_training, default=None
        A name for each training row or group; None takes the index of a pandas table,
        or positions.
    training_targets : array-like of shape (n_training, ...), default=None
        Targets of the training rows.
    value_name : str, default="value"
        Name of the values.
    smallest_first : bool, default=False
        Whether the smallest values matter most.
    neighbors : array-like of shape (n_rows, k), int
        Positions of the training rows that vote, the nearest first.
    distances : array-like of shape (n_rows, k)
        Distances of the training rows that vote.
    feature_distances : array-like of shape (n_rows, k, n_features), default=None
        Contribution of each feature to the power of the distance that is a sum over
        features, such as the square of a Euclidean distance. None if no power is.

    Examples
    --------
    >>> from sklearn_interpret.explanations import NeighborExplanation
    >>> explanation = NeighborExplanation(
    ...     values=[[0.5, 0.0, 0.5]],
    ...     training_data=[[1.0, 0.0], [9.0, 9.0], [0.0, 3.0]],
    ...     neighbors=[[0, 2]],
    ...     distances=[[1.0, 3.0]],
    ...     feature_distances=[[[1.0, 0.0], [0.0, 9.0]]],
    ... )
    >>> explanation.feature_distances.sum(axis=2) ** 0.5
    array([[1., 3.]])
    """

    neighbors: NDArray[np.intp] = field(kw_only=True)
    distances: NDArray[np.float64] = field(kw_only=True)
    feature_distances: NDArray[np.float64] | None = field(default=None, kw_only=True)

    _arrays_by_row: ClassVar[tuple[str, ...]] = (
        *TrainingExplanation._arrays_by_row,
        "neighbors",
        "distances",
        "feature_distances",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        shape = len(self), np.shape(self.neighbors)[-1]
        self._set_array("neighbors", shape, np.intp)
        self._set_array("distances", shape)
        if self.feature_distances is not None:
            n_features = len(self.feature_names)
            self._set_array("feature_distances", (*shape, n_features))


@dataclass(frozen=True, eq=False, repr=False)
class WeightExplanation(TrainingExplanation):
    """Weights of the targets of the training rows in predictions.

    A prediction is the base value plus the sum of the contributions: weights times
    targets.

    Parameters
    ----------
    values : {array-like, sparse array} of shape (n_rows, n_training)
        Weight of each training row in the prediction for each explained one.
    training_data : {ndarray, sparse matrix, DataFrame} of n_training rows, default=None
        The training rows.
    predictions : array-like of shape (n_rows[, n_outputs]), default=None
        The model's responses to the rows.
    data : {ndarray, sparse matrix, DataFrame} of n_rows rows, default=None
        The explained rows, in the container in which they were given.
    feature_names : sequence of str, default=None
        A name for each feature; None takes those of the training rows.
    output_names : sequence, default=None
        A class label or position for each output; None means positions.
    response_name : str, default=None
        Name of the response: "prediction", "probability"...
    target_name : str, default=None
        Name of the target.
    training_names : sequence of length n_training, default=None
        A name for each training row; None takes the index of a pandas table, or
        positions.
    training_targets : array-like of shape (n_training, ...), default=None
        Targets of the training rows.
    value_name : str, default="value"
        Name of the values.
    smallest_first : bool, default=False
        Whether the smallest values matter most.
    target_values : array-like of shape (n_training[, n_outputs])
        What the weights multiply: targets that are numbers, less the base value, or
        indicators of classes.
    base_values : array-like of shape (n_rows[, n_outputs])
        The prediction from which training starts, which is zero for most models.

    Examples
    --------
    >>> from sklearn_interpret.explanations import WeightExplanation
    >>> explanation = WeightExplanation(
    ...     values=[[0.5, 0.0, 0.5]],
    ...     training_data=[[1.0], [9.0], [2.0]],
    ...     predictions=[4.0],
    ...     target_values=[3.0, 7.0, 5.0],
    ...     base_values=[0.0],
    ... )
    >>> explanation.contributions
    array([[1.5, 0. , 2.5]])
    >>> explanation.effective_neighbors
    array([2.])
    """

    target_values: NDArray[np.float64] = field(kw_only=True)
    base_values: NDArray[np.float64] = field(kw_only=True)

    _arrays_by_row: ClassVar[tuple[str, ...]] = (
        *TrainingExplanation._arrays_by_row,
        "base_values",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        outputs = np.shape(self.target_values)[1:]
        self._set_array("target_values", (self.values.shape[1], *outputs))
        self._set_array("base_values", (len(self), *outputs))

    @property
    def contributions(self) -> NDArray[np.float64]:
        """Weights times targets: (n_rows, n_training[, n_outputs]).

        Of sparse weights a csr_array, or a list with one for each output.
        """
        values: Any = self.values
        if sparse.issparse(values):
            columns = self.target_values.reshape(values.shape[1], -1).T
            products: Any = [values.multiply(column).tocsr() for column in columns]
            return products[0] if self.target_values.ndim == 1 else products
        if self.target_values.ndim == 1:
            return values * self.target_values
        return values[:, :, None] * self.target_values

    @property
    def effective_neighbors(self) -> NDArray[np.float64]:
        """One by the sum of the squared weights of each explained row: (n_rows,).

        As many rows of equal weights, which sum to one, have the same sum.
        """
        return 1 / (self.values**2).sum(axis=1)

    def additivity_error(self) -> NDArray[np.float64]:
        """Return the differences of sums of contributions and predictions.

        Returns
        -------
        ndarray of shape (n_rows[, n_outputs])
            Base value plus sum of the contributions, minus prediction: zero up to
            rounding, where all weights are kept.

        Raises
        ------
        ValueError
            If the explanation has no predictions.
        """
        if self.predictions is None:
            raise ValueError(
                "This explanation has no predictions to compare its sums with."
            )
        return self.base_values + self.values @ self.target_values - self.predictions
