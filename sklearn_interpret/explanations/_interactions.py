"""Explanations with one number per row and set of features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from numbers import Integral
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_scalar

from sklearn_interpret._core.games.interaction_indices import COEFFICIENTS, index_matrix
from sklearn_interpret._inspectors.sklearn_bases import DataFrame
from sklearn_interpret.explanations._attributions import Explanation
from sklearn_interpret.explanations._base import (
    BaseExplanation,
    checked_array,
    ranking_text,
    sizes_text,
)

# Most sets in the HTML table: what fits on a screen.
_SHOWN_SETS = 8
# Largest remainder, relative to the values' sizes, that counts as rounding.
_ROUNDING = 1e-8


@dataclass(frozen=True, eq=False, repr=False)
class InteractionExplanation(BaseExplanation):
    """Parts of a model's responses that belong to sets of features, row by row.

    Parameters
    ----------
    values : array-like of shape (n_rows, n_sets[, n_outputs])
        Value of each set, in the response's unit. There is an axis of outputs if
        several are explained.
    base_values : array-like of shape (n_rows[, n_outputs])
        Value of the empty set.
    interactions : sequence of sequences of int
        Positions in `feature_names` of the members of each set.
    predictions : array-like of shape (n_rows[, n_outputs])
        The model's responses to the rows.
    data : {ndarray, sparse matrix, DataFrame} of n_rows rows, default=None
        The explained rows, in the container in which they were given.
    feature_names : sequence of str
        A name for each feature or group of features.
    output_names : sequence, default=None
        A class label or position for each output; None means positions.
    response_name : str, default=None
        Name of the response: "prediction", "probability", "log-odds"...
    target_name : str, default=None
        Name of the target.
    columns : sequence of sequences of int, default=None
        The columns of `data` behind each feature, for groups of features; None means
        column j for feature j.
    largest_order : int, default=None
        Largest number of features whose interaction can be other than zero; None means
        all.
    index : str, default="component"
        What the values are: components of the functional decomposition, or an
        interaction index.

    Attributes
    ----------
    interaction_names : tuple of str
        Names of the members of each set.
    remainder : ndarray of shape (n_rows[, n_outputs])
        Prediction less base value and values: what other sets add.

    Raises
    ------
    ValueError
        If parts have inconsistent shapes, or are not numbers.

    Examples
    --------
    >>> from sklearn_interpret.explanations import InteractionExplanation
    >>> explanation = InteractionExplanation(
    ...     values=[[1.0, -3.0, 0.5]],
    ...     base_values=[10.0],
    ...     interactions=[(0,), (1,), (0, 1)],
    ...     predictions=[8.5],
    ...     feature_names=["age", "income"],
    ... )
    >>> explanation.interaction_names
    ('age', 'income', 'age x income')
    >>> explanation.to_explanation().values
    array([[ 1.25, -2.75]])
    >>> explanation.to_index("SII").values
    array([[ 1.25, -2.75,  0.5 ]])
    """

    values: NDArray[np.float64]
    base_values: NDArray[np.float64]
    interactions: Sequence[Sequence[int]]
    predictions: NDArray[np.float64] = field(kw_only=True)
    feature_names: Sequence[str] = field(kw_only=True)
    columns: Sequence[Sequence[int]] | None = field(default=None, kw_only=True)
    largest_order: int | None = field(default=None, kw_only=True)
    index: str = field(default="component", kw_only=True)

    _facts_by_row = ("predictions", "base_values")
    _arrays_by_row: ClassVar[tuple[str, ...]] = (
        *BaseExplanation._arrays_by_row,
        "values",
        "base_values",
    )
    _displays: ClassVar[str] = (
        "FunctionalDecompositionDisplay and InteractionNetworkDisplay"
    )

    def __post_init__(self) -> None:
        values = checked_array(self.values, "values")
        sets = tuple(tuple(map(int, members)) for members in self.interactions)
        if values.ndim not in (2, 3) or values.shape[1] != len(sets):
            raise ValueError(
                f"values has the shape {values.shape}; (n_rows, {len(sets)}) or "
                f"(n_rows, {len(sets)}, n_outputs) is needed for {len(sets)} "
                "interactions."
            )
        n_features = len(self.feature_names)
        for members in sets:
            if sorted({*members}) != [*members] or not members:
                raise ValueError(
                    f"interactions has the entry {members}; its members must increase."
                )
            if not 0 <= members[0] <= members[-1] < n_features:
                raise ValueError(
                    f"interactions has the entry {members}, but there are "
                    f"{n_features} feature_names."
                )
        self._set("values", values)
        self._set("interactions", sets)
        n_rows, outputs = len(values), values.shape[2:]
        self._set_array("base_values", (n_rows, *outputs))
        self._check_common_fields(n_features, outputs)

    def __len__(self) -> int:
        """Return the number of explained rows."""
        return len(self.values)

    @property
    def interaction_names(self) -> tuple[str, ...]:
        """Names of the members of each set."""
        return tuple(
            " x ".join(self.feature_names[j] for j in members)
            for members in self.interactions
        )

    @property
    def remainder(self) -> NDArray[np.float64]:
        """Prediction less base value and values."""
        return self.predictions - self.base_values - self.values.sum(axis=1)

    def order(self, r: int) -> InteractionExplanation:
        """Return the values of the sets of `r` features.

        Parameters
        ----------
        r : int
            Number of features.

        Returns
        -------
        InteractionExplanation
            The values of these sets; all others are in the remainder.

        Raises
        ------
        TypeError, ValueError
            If `r` is no positive whole number.
        """
        check_scalar(r, "r", Integral, min_val=1)
        orders = list(map(len, self.interactions))
        positions = [k for k, order in enumerate(orders) if order == r]
        sets = [self.interactions[k] for k in positions]
        return replace(self, values=self.values[:, positions], interactions=sets)

    def to_index(self, index: str, *, order: int = 2) -> InteractionExplanation:
        """Return an interaction index of the rows' games.

        Parameters
        ----------
        index : {"SII", "k-SII", "STII", "FSII", "BII"}
            Shapley interaction index; the one of its kind that sums to the prediction;
            Shapley-Taylor; faithful Shapley; Banzhaf.
        order : int, default=2
            Largest number of features of a set.

        Returns
        -------
        InteractionExplanation
            Values of the index. Values of "k-SII", "STII" and "FSII" sum to the
            prediction.

        Raises
        ------
        TypeError, ValueError
            The index is unknown, `order` is no positive whole number, or the values are
            no components that sum to the predictions.
        """
        check_scalar(order, "order", Integral, min_val=1)
        if not isinstance(index, str) or index not in COEFFICIENTS:
            raise ValueError(
                f"index={index!r} must be one of {', '.join(COEFFICIENTS)}."
            )
        self._check_is_complete(f"to_index({index!r})")
        # Larger orders have no further sets, nor other values.
        order = min(order, max(map(len, self.interactions), default=1))
        sets, matrix = index_matrix(self.interactions, index, order)
        values = np.empty((len(self), len(sets), *self.values.shape[2:]))
        for i, components in enumerate(self.values):
            values[i] = matrix @ components
        return replace(self, values=values, interactions=sets, index=index)

    def to_explanation(self) -> Explanation:
        """Return the Shapley values: each component is shared out among its features.

        Returns
        -------
        Explanation
            Shapley values of the features.

        Raises
        ------
        ValueError
            The values are no components that sum to the predictions.
        """
        self._check_is_complete("to_explanation()")
        values = np.zeros((len(self), len(self.feature_names), *self.values.shape[2:]))
        for k, members in enumerate(self.interactions):
            values[:, list(members)] += self.values[:, [k]] / len(members)
        return Explanation(
            values,
            self.base_values,
            predictions=self.predictions,
            data=self.data,
            feature_names=self.feature_names,
            output_names=self.output_names,
            response_name=self.response_name,
            target_name=self.target_name,
            columns=self.columns,
        )

    def _check_is_complete(self, method: str) -> None:
        """Refuse values that are not all components."""
        if self.index != "component":
            raise ValueError(
                f"{method} needs components of the functional decomposition; these "
                f"values are {self.index}."
            )
        size = np.abs(self.predictions) + np.abs(self.values).sum(axis=1)
        if (np.abs(self.remainder) > _ROUNDING * size).any():
            highest = max(map(len, self.interactions), default=0)
            largest = self.largest_order or len(self.feature_names)
            raise ValueError(
                f"{method} needs all components, and these are of at most {highest} "
                f"features: the remainder is up to {np.abs(self.remainder).max():.3g}. "
                f"max_order={largest} of FunctionalDecomposition gives all."
            )

    def to_frame(self) -> DataFrame:
        """Return the values as a table, one row for each explained row.

        Returns
        -------
        pandas.DataFrame of shape (n_rows, n_sets x n_outputs)
            One column per set, or per set and output with a two-level header. The index
            is that of `data`, if `data` is a pandas object.

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        return self._frame_of_values(self.interaction_names, "interaction")

    def _by_strength(self) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """Sets by falling mean absolute value, and these means."""
        sizes = np.abs(self.values)
        axes = (0, *range(2, sizes.ndim))
        means = sizes.mean(axis=axes) if len(self) else np.zeros(sizes.shape[1])
        return np.argsort(-means, kind="stable"), means

    def _size(self) -> str:
        return sizes_text(self.values.shape, "n_rows", "n_interactions", "n_outputs")

    def _summary(self) -> list[str]:
        order, means = self._by_strength()
        if not self.values.size:
            return []
        ranking = ranking_text(self.interaction_names, means, order)
        return [f"mean absolute {self.index}: {ranking}"]

    def _html_table(self) -> tuple[list[str], list[list[str]]]:
        order = self._by_strength()[0][:_SHOWN_SETS]
        return self._table_of_values(
            self.interaction_names, order, lambda row: [""] * len(order)
        )
