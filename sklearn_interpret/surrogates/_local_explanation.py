"""Explanations by local surrogates: small models of single predictions."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sklearn_interpret._model.rows.number_format import entry_text, number_text
from sklearn_interpret.explanations import Explanation

# Default of the fields that `__post_init__` fills: they are never None afterwards.
FILLED: Any = None


@dataclass(frozen=True, eq=False, repr=False)
class LocalExplanation(Explanation):
    """Weights of a surrogate around each row, with its local fidelity.

    Parameters
    ----------
    values : array-like of shape (n_rows, n_features[, n_outputs])
        Weights of the surrogate, in the response's unit for a unit of the feature; zero
        for features that were not selected.
    base_values : array-like of shape (n_rows[, n_outputs])
        Intercepts of the surrogate.
    predictions, data, feature_names, output_names : array-like, default=None
        As in :class:`~sklearn_interpret.explanations.Explanation`.
    response_name, target_name : str, default=None
        As in :class:`~sklearn_interpret.explanations.Explanation`.
    standard_errors : array-like of the shape of `values`, default=None
        Sampling standard errors of the weights, or None.
    columns : sequence of sequences of int, default=None
        The columns of `data` behind each feature.
    approximation : str, default=None
        As in :class:`~sklearn_interpret.explanations.Explanation`.
    value_name : str, default="weight"
        As in :class:`~sklearn_interpret.explanations.Explanation`.
    groups : dict, default=None
        As in :class:`~sklearn_interpret.explanations.Explanation`.
    partial : bool, default=False
        As in :class:`~sklearn_interpret.explanations.Explanation`.
    fidelity : array-like of shape (n_rows[, n_outputs]), default=None
        Weighted R² of the surrogate on the samples around each row; NaN if the model's
        response to them is constant.
    local_predictions : array-like of shape (n_rows[, n_outputs]), default=None
        Predictions of the surrogate for the rows.
    selected : array-like of the shape of `values`, default=None
        Mask of the features that the surrogate uses; None takes those of nonzero
        weight.
    scales : array-like of shape (n_features,), default=None
        Typical change of each feature: weights times scales are comparable. None means
        one.
    conditions : array-like of shape (n_rows, n_features), default=None
        Condition that each weight refers to, such as ``"1 < age <= 3"``; None means the
        features.

    Examples
    --------
    >>> from sklearn_interpret.surrogates import LocalExplanation
    >>> explanation = LocalExplanation(
    ...     values=[[0.5, 0.0, -2.0]],
    ...     base_values=[1.0],
    ...     feature_names=["age", "income", "debt"],
    ...     fidelity=[0.8],
    ...     scales=[10.0, 1.0, 1.0],
    ... )
    >>> explanation.effects
    array([[ 5.,  0., -2.]])
    >>> explanation
    LocalExplanation(n_rows=1, n_features=3)
    mean absolute effect: age 5, debt 2, income 0
    R² = 0.8
    """

    value_name: str = field(default="weight", kw_only=True)
    fidelity: NDArray[np.float64] | None = field(default=None, kw_only=True)
    local_predictions: NDArray[np.float64] | None = field(default=None, kw_only=True)
    selected: NDArray[np.bool_] = field(default=FILLED, kw_only=True)
    scales: NDArray[np.float64] = field(default=FILLED, kw_only=True)
    conditions: NDArray[np.object_] | None = field(default=None, kw_only=True)

    _facts_by_row = (*Explanation._facts_by_row, "fidelity")
    _arrays_by_row: ClassVar[tuple[str, ...]] = (
        *Explanation._arrays_by_row,
        "fidelity",
        "local_predictions",
        "selected",
        "conditions",
    )
    _displays: ClassVar[str] = "LimeDisplay"
    _strength_name: ClassVar[str] = "effect"

    def __post_init__(self) -> None:
        super().__post_init__()
        shape = self.values.shape
        shape_without_features = (shape[0], *shape[2:])
        for name in ("fidelity", "local_predictions"):
            if getattr(self, name) is not None:
                self._set_array(name, shape_without_features)
        if self.scales is None:
            self._set("scales", np.ones(shape[1]))
        self._set_array("scales", shape[1:2])
        if self.selected is None:
            self._set("selected", self.values != 0)
        for name, dtype, expected in (
            ("selected", bool, shape),
            ("conditions", object, shape[:2]),
        ):
            if getattr(self, name) is None:
                continue
            array = np.asarray(getattr(self, name), dtype=dtype)
            if array.shape != expected:
                raise ValueError(
                    f"{name} has the shape {array.shape}; these values need {expected}."
                )
            self._set(name, array)

    @property
    def intercepts(self) -> NDArray[np.float64]:
        """Intercepts of the surrogates: another name of `base_values`."""
        return self.base_values

    @property
    def effects(self) -> NDArray[np.float64]:
        """Comparable weights: multiplied by the features' scales."""
        scales = self.scales if self.values.ndim == 2 else self.scales[:, None]
        return self.values * scales

    def texts(self, row: int) -> list[str]:
        """Return the conditions or features that the weights of a row refer to.

        Parameters
        ----------
        row : int
            Position of the row.

        Returns
        -------
        list of str
            One for each feature.
        """
        if self.conditions is None:
            return list(self.feature_names)
        return [str(text) for text in self.conditions[row]]

    def labels(self, row: int) -> list[str]:
        """Return the conditions, or features with values, of the weights of a row.

        Parameters
        ----------
        row : int
            Position of the row.

        Returns
        -------
        list of str
            Such as ``"1 < age <= 3"``, or ``"age (2)"`` if `data` is known.
        """
        texts = self.texts(row)
        entries = self._entries(row, np.arange(len(texts)))
        return [
            f"{text}{entry}" if text == name else text
            for text, entry, name in zip(
                texts, entries, self.feature_names, strict=True
            )
        ]

    def _strengths(self) -> NDArray[np.float64]:
        return np.abs(self.effects)

    def _summary(self) -> list[str]:
        lines = super()._summary()
        if self.fidelity is not None and len(self):
            # fmin, fmax: NaN only if no output has an R².
            lowest = np.fmin.reduce(self.fidelity, None)
            highest = np.fmax.reduce(self.fidelity, None)
            text = r_squared_text(lowest)
            if lowest < highest:
                text += f" to {entry_text(highest, 3)}"
            lines.append(text)
        return lines

    def _html_table(self) -> Any:
        """The base's table with a column of R²."""
        head, body = super()._html_table()
        if self.fidelity is not None and body:
            fidelity = self.fidelity.reshape(len(self), -1)
            # Lines are sorted by row, then by output.
            n_rows = len(self._shown_rows)
            r_squared = fidelity[:n_rows, : len(body) // n_rows].ravel()
            position = head.index("base value")
            head.insert(position, "fidelity")
            for cells, line_r_squared in zip(body, r_squared, strict=True):
                cells.insert(position, r_squared_text(line_r_squared))
        return head, body


def r_squared_text(r_squared: float) -> str:
    """Text of R², which may be undefined."""
    if np.isnan(r_squared):
        return "R² undefined"
    return f"R² = {number_text(r_squared)}"
