"""Explanations with one number per training row: influence, neighbours' votes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sklearn_interpret._inspectors.sklearn_bases import DataFrame
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
    values : array-like of shape (n_rows, n_training)
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
        return len(self.values)

    @property
    def mean_sizes(self) -> NDArray[np.float64]:
        """Mean absolute value of each training row over the explained rows."""
        return np.abs(self.values).mean(axis=0)

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
        sizes = self.values if self.smallest_first else -np.abs(self.values)
        return np.argsort(sizes, axis=1, kind="stable")[:, :k]

    def to_frame(self, k: int | None = None) -> DataFrame:
        """Return the values as a table, one line for each pair of rows.

        Parameters
        ----------
        k : int, default=None
            Number of training rows of the largest absolute values for each explained
            one; None means all, in their order.

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
        if k is None:
            positions = np.tile(np.arange(n_training), (n_rows, 1))
        else:
            positions = self.largest(k)
        names = np.empty(n_training, dtype=object)
        names[:] = self.training_names
        return pandas.DataFrame(
            {
                "row": np.repeat(self.row_names, positions.shape[1]),
                "training_row": names[positions.ravel()],
                "value": np.take_along_axis(self.values, positions, axis=1).ravel(),
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
        body = [
            [
                str(self.row_names[row]),
                *(
                    f"{entry_text(self.training_names[k])}: "
                    f"{entry_text(self.values[row, k])}"
                    for k in self.largest(SHOWN_ROWS)[row]
                ),
            ]
            for row in self._shown_rows
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
    values : array-like of shape (n_rows, n_training)
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
        """Weights times targets: (n_rows, n_training[, n_outputs])."""
        if self.target_values.ndim == 1:
            return self.values * self.target_values
        return self.values[:, :, None] * self.target_values

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
