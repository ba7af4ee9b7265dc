"""Result of break down: attributions along one order of the features."""

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from sklearn_interpret._explanation import Explanation


@dataclass(frozen=True, eq=False, repr=False)
class BreakDownExplanation(Explanation):
    """Attributions along one order of the features for each row.

    Parameters
    ----------
    values : array-like of shape (n_rows, n_features[, n_outputs])
        What each feature gave to each response, in the response's unit.
    base_values : array-like of shape (n_rows[, n_outputs])
        Where the steps start from: the response without any feature.
    predictions : array-like of shape (n_rows[, n_outputs]), default=None
        The model's responses to the rows.
    data : {ndarray, sparse matrix, DataFrame} of n_rows rows, default=None
        The explained rows, in the container in which they were given.
    feature_names : sequence of str, default=None
        A name for each feature or group of features; None makes up ``x0``, ``x1``...
    output_names : sequence, default=None
        A class label or position for each output; None makes up positions.
    standard_errors : array-like of the shape of `values`, default=None
        Standard errors of sampled values; None where the values are exact.
    columns : sequence of sequences of int, default=None
        The columns of `data` behind each feature, for groups of features; None means
        column j for feature j.
    step_numbers : array-like of shape (n_rows, n_features), default=None
        The step, counted from 0, at which each feature came in. Features that came in
        together have the same, and their values share what the step added. None takes
        the features in their order.

    Examples
    --------
    >>> from sklearn_interpret.shapley import BreakDownExplanation
    >>> explanation = BreakDownExplanation(
    ...     [[0.5, 2.0, 0.5]],
    ...     [1.0],
    ...     feature_names=["age", "town", "sex"],
    ...     step_numbers=[[1, 0, 1]],
    ... )
    >>> explanation.steps(0)
    [(1,), (0, 2)]
    >>> explanation.step_names(0)
    ['town', 'age:sex']
    """

    step_numbers: Any = field(default=None, kw_only=True)

    _arrays_by_row: ClassVar[tuple] = (*Explanation._arrays_by_row, "step_numbers")

    def __post_init__(self):
        super().__post_init__()
        shape = self.values.shape[:2]
        numbers = self.step_numbers
        if numbers is None:
            numbers = np.broadcast_to(np.arange(shape[1]), shape)
        numbers = np.asarray(numbers)
        if numbers.shape != shape or numbers.dtype.kind not in "iu":
            raise ValueError(
                f"step_numbers has the shape {numbers.shape} and the dtype "
                f"{numbers.dtype}; whole numbers of the shape {shape} are needed."
            )
        self._set("step_numbers", numbers.astype(np.intp))

    def steps(self, row: int) -> list[tuple[int, ...]]:
        """Positions of the features that came in at each step of a row, in order.

        Parameters
        ----------
        row : int
            Position of the row.

        Returns
        -------
        list of tuple of int
            One position for most steps, two for those of a pair.
        """
        numbers = self.step_numbers[row]
        return [
            tuple(np.flatnonzero(numbers == number).tolist())
            for number in np.unique(numbers)
        ]

    def step_names(self, row: int) -> list[str]:
        """Names of the steps of a row, in order; a pair is called ``"a:b"``.

        Parameters
        ----------
        row : int
            Position of the row.

        Returns
        -------
        list of str
            One for each step.
        """
        return [
            ":".join(self.feature_names[j] for j in step) for step in self.steps(row)
        ]
