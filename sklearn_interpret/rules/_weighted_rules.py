"""Rules and linear terms that add up to a score."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_interpret._model.rows.arrays import as_rows
from sklearn_interpret._model.rows.dates import days
from sklearn_interpret._model.rows.number_format import entry_text
from sklearn_interpret.rules._rules import Rule


@dataclass(frozen=True)
class WeightedRule(Rule):
    """A rule that adds its coefficient where it holds.

    Parameters
    ----------
    conditions : tuple of Condition
        The conditions, at most one for each feature.
    prediction : object
        The class whose log-odds it adds to; None for a regression.
    coverage : float
        Share of the rows of `fit`, by weight, for which it holds: its support.
    precision : float, default=None
        None.
    shares : tuple of float, default=None
        None.
    n_rows : float, default=None
        Number of these rows, as the sum of their weights.
    coef : float, default=0.0
        Number added where it holds.
    importance : float, default=0.0
        Standard deviation of the added number, over the rows of `fit`.

    Examples
    --------
    >>> from sklearn_interpret.explanations import Condition
    >>> from sklearn_interpret.rules import WeightedRule
    >>> rule = WeightedRule((Condition(0, "age", high=30.0),), None, 0.5, coef=2)
    >>> print(rule)
    age <= 30
    """

    coef: float = 0.0
    importance: float = 0.0

    def to_text(self, digits: int | None = None) -> str:
        """Return the factor of the coefficient, in words.

        Parameters
        ----------
        digits : int, default=None
            Significant digits of numbers; None writes all.

        Returns
        -------
        str
            When the rule holds.
        """
        return f"if {self._in_words(digits)}"


@dataclass(frozen=True)
class LinearTerm:
    """A feature that adds in proportion to its value, within bounds.

    Parameters
    ----------
    feature : int
        Position of the column.
    name : str
        Its name.
    low, high : float or numpy.datetime64
        Smaller and larger values are taken for these.
    mean : float or numpy.datetime64
        Mean of the values of `fit`, so bounded; a missing value is taken for it.
    prediction : object
        The class whose log-odds it adds to; None for a regression.
    coef : float
        Number added for each unit above the mean; of dates, for each day.
    importance : float
        Standard deviation of the added number, over the rows of `fit`.

    Examples
    --------
    >>> from sklearn_interpret.rules import LinearTerm
    >>> term = LinearTerm(0, "age", 20.0, 60.0, 35.0, None, 0.5, 4.0)
    >>> print(term)
    age, linear from 20 to 60
    >>> term.values([[10.0], [50.0]])
    array([-15.,  15.])
    """

    feature: int
    name: str
    low: float | np.datetime64 | np.timedelta64
    high: float | np.datetime64 | np.timedelta64
    mean: float | np.datetime64 | np.timedelta64
    prediction: Any
    coef: float
    importance: float

    def __str__(self) -> str:
        low, high = entry_text(self.low), entry_text(self.high)
        return f"{self.name}, linear from {low} to {high}"

    def to_text(self, digits: int | None = None) -> str:
        """Return the factor of the coefficient, in words.

        Parameters
        ----------
        digits : int, default=None
            Significant digits of numbers; None writes all.

        Returns
        -------
        str
            How far the bounded value is above the mean.
        """
        numbers = self.mean, self.low, self.high
        mean, low, high = (entry_text(number, digits) for number in numbers)
        return f"* ({self.name} - {mean}), {self.name} taken from {low} to {high}"

    def values(self, X: Any) -> NDArray[np.float64]:
        """How far the bounded value of each row is above the mean.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Zero where the value is missing.
        """
        low, high, mean = map(days, (self.low, self.high, self.mean))
        bounded = np.clip(as_rows(X).numbers(self.feature), low, high)
        return np.nan_to_num(bounded - mean)
