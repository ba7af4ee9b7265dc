"""Explanations that are rules: anchors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sklearn_interpret._core.local.tokens import feature_name
from sklearn_interpret._core.rules.coded_conditions import all_hold
from sklearn_interpret._inspectors.sklearn_bases import DataFrame
from sklearn_interpret._model.rows.arrays import as_rows
from sklearn_interpret._model.rows.base import is_missing, label_key
from sklearn_interpret._model.rows.dates import days
from sklearn_interpret._model.rows.number_format import (
    decimal_text,
    entry_text,
    rounded_text,
)
from sklearn_interpret._model.rows.texts import as_texts
from sklearn_interpret.explanations._base import FILLED, BaseExplanation


@dataclass(frozen=True)
class Condition:
    """A condition on a feature of a table: an interval, or some levels.

    Parameters
    ----------
    feature : int
        Position of the column.
    name : str
        Name of the column.
    low, high : float, numpy.datetime64 or numpy.timedelta64, default=None
        The value is larger than `low`, and at most `high`; None is no limit. A missing
        value never meets the condition, even without limits.
    levels : tuple, default=None
        The value is one of the levels; NaN and None stand for missing values. None
        means a condition by `low` and `high`.
    only : float, default=None
        For a column of two whole numbers, the one in the interval; the text then names
        it.

    Examples
    --------
    >>> from sklearn_interpret.explanations import Condition
    >>> print(Condition(0, "age", low=30, high=37))
    30 < age <= 37
    >>> print(Condition(1, "job", levels=("cook", "nurse")))
    job in {cook, nurse}
    """

    feature: int
    name: str
    low: float | np.datetime64 | np.timedelta64 | None = None
    high: float | np.datetime64 | np.timedelta64 | None = None
    levels: tuple[Any, ...] | None = None
    only: float | None = None

    def __str__(self) -> str:
        return self._as_text(entry_text)

    def to_text(self, digits: int | None = None) -> str:
        """Return the condition as text.

        Parameters
        ----------
        digits : int, default=None
            Significant digits of numbers; None writes all, which gives the exact
            condition. ``str(condition)`` has four. Thresholds of up to 15 digits have
            all of them in any case.

        Returns
        -------
        str
            The condition.
        """
        return self._as_text(partial(entry_text, digits=digits))

    def _as_text(self, format_value: Callable[..., Any]) -> str:
        """The condition, its values as ``format_value(value)``."""
        if self.only is not None:
            return f"{self.name} = {format_value(self.only)}"
        if self.levels is None:
            if self.low is None and self.high is None:
                return f"{self.name} is not missing"
            # Fewer digits could move rows to the other side.
            low, high = (
                decimal_text(limit) or format_value(limit)
                for limit in (self.low, self.high)
            )
            if self.high is None:
                return f"{self.name} > {low}"
            lower = "" if self.low is None else f"{low} < "
            return f"{lower}{self.name} <= {high}"
        if len(self.levels) > 1:
            return f"{self.name} in {{{', '.join(map(format_value, self.levels))}}}"
        (level,) = self.levels
        if is_missing(level):
            return f"{self.name} is missing"
        return f"{self.name} = {format_value(level)}"

    def holds(self, X: Any) -> NDArray[np.bool_]:
        """Return the rows for which the condition holds.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,), bool
            True where it holds.
        """
        return self._flags(self._read(X))

    @property
    def _source(self) -> tuple[int, bool]:
        """Key of the data that `_read` returns: the column, and whether as levels."""
        return self.feature, self.levels is not None

    def _read(self, X: Any) -> Any:
        """The column as numbers; as levels, codes and the code of each level."""
        rows = as_rows(X)
        if self.levels is None:
            return rows.numbers(self.feature)
        codes, labels = rows.encode_column(self.feature)
        return codes, {label_key(label): code for code, label in enumerate(labels)}

    def _flags(self, column: Any) -> NDArray[np.bool_]:
        """Rows for which the condition holds, from the result of `_read`."""
        if self.levels is None:
            low = -np.inf if self.low is None else days(self.low)
            high = np.inf if self.high is None else days(self.high)
            return (column > low) & (column <= high)
        codes, code_of_label = column
        levels = [code_of_label.get(label_key(level), -1) for level in self.levels]
        return codes == levels[0] if len(levels) == 1 else np.isin(codes, levels)


@dataclass(frozen=True)
class WordCondition:
    """The condition that a text contains a word.

    Parameters
    ----------
    word : str
        The word.
    number : int
        The required occurrence, counted from 1; 0 means any.
    split : callable
        ``split(text).keys`` are the pairs of word and number of a text.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> from sklearn_interpret.explanations import WordCondition
    >>> def split(text):
    ...     return SimpleNamespace(keys=[(word, 0) for word in text.split()])
    >>> WordCondition("free", 0, split).holds(["free of charge", "a charge"])
    array([ True, False])
    """

    word: str
    number: int
    split: Callable[[str], Any] = field(repr=False, compare=False)

    def __str__(self) -> str:
        return repr(feature_name((self.word, self.number)))

    def holds(self, X: Any) -> NDArray[np.bool_]:
        """Return the texts that contain the word.

        Parameters
        ----------
        X : list, array or Series of str
            Texts.

        Returns
        -------
        ndarray of shape (n_samples,), bool
            True where it holds.
        """
        return self._flags(self._read(X))

    @property
    def _source(self) -> Callable[[str], Any]:
        """Key of the data that `_read` returns: the function that splits texts."""
        return self.split

    def _read(self, X: Any) -> list[Any]:
        """The words of each text."""
        return [self.split(text).keys for text in as_texts(X)]

    def _flags(self, words: list[Any]) -> NDArray[np.bool_]:
        """Texts that contain the word, from the result of `_read`."""
        key = self.word, self.number
        return np.array([key in words_of_text for words_of_text in words], bool)


@dataclass(frozen=True, eq=False, repr=False)
class RuleExplanation(BaseExplanation):
    """Rules under which the model keeps its answer, one for each explained row.

    Parameters
    ----------
    rules : sequence of n_rows sequences of conditions
        The conditions of each rule, all of which must hold: :class:`Condition` for
        tables, :class:`WordCondition` for texts. A rule without conditions always
        holds.
    precision : array-like of shape (n_rows,)
        Probability that the model keeps its answer if the rule holds.
    precision_low, precision_high : array-like of shape (n_rows,)
        Bounds of the precision.
    coverage : array-like of shape (n_rows,)
        Share of the rows of `fit` for which the rule holds.
    answers : array-like of shape (n_rows,)
        The model's prediction for each row: a class label, or a number.
    status : array-like of shape (n_rows,), str
        "found" if the lower bound reaches the required precision, else "failed".
    predictions : array-like of shape (n_rows[, n_outputs]), default=None
        The model's responses to the rows.
    data : {ndarray, sparse matrix, DataFrame, list} of n_rows rows, default=None
        The explained rows, in the container in which they were given.
    feature_names : sequence of str, default=None
        A name for each feature; None takes those that occur in rules.
    output_names : sequence, default=None
        A class label or position for each output; None means positions.
    response_name : str, default=None
        Name of the response: "prediction", "probability"...
    target_name : str, default=None
        Name of the target.
    reasons : array-like of shape (n_rows,), str, default=None
        Why no rule of the required precision was found; empty otherwise.

    Raises
    ------
    ValueError
        If parts have inconsistent shapes, or are not numbers.

    Notes
    -----
    ``explanation[index]`` selects rows; their axis is kept.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_interpret.explanations import Condition, RuleExplanation
    >>> rule = Condition(0, "age", high=37.0), Condition(1, "job", levels=("b",))
    >>> explanation = RuleExplanation(
    ...     rules=[rule],
    ...     precision=[0.98],
    ...     precision_low=[0.95],
    ...     precision_high=[1.0],
    ...     coverage=[0.25],
    ...     answers=["yes"],
    ...     status=["found"],
    ... )
    >>> explanation
    RuleExplanation(n_rows=1)
    age <= 37 and job = b: yes (precision 0.98, coverage 0.25)
    >>> explanation.holds(np.array([[30, "b"], [30, "a"]], dtype=object))
    array([[ True, False]])
    """

    rules: NDArray[np.object_]
    precision: NDArray[np.float64]
    precision_low: NDArray[np.float64]
    precision_high: NDArray[np.float64]
    coverage: NDArray[np.float64]
    answers: NDArray[np.object_]
    status: NDArray[np.object_]
    reasons: NDArray[np.object_] = field(default=FILLED, kw_only=True)

    _numbers: ClassVar[tuple[str, ...]] = (
        "precision",
        "precision_low",
        "precision_high",
        "coverage",
    )
    _objects: ClassVar[tuple[str, ...]] = ("rules", "answers", "status", "reasons")
    _arrays_by_row: ClassVar[tuple[str, ...]] = (
        *BaseExplanation._arrays_by_row,
        *_numbers,
        *_objects,
    )
    _displays: ClassVar[str] = "AnchorsDisplay"

    def __post_init__(self) -> None:
        self._set("rules", [tuple(rule) for rule in self.rules])
        for name in self._numbers:
            self._set_array(name, (len(self),))
        self._set_objects()
        names = (
            str(getattr(condition, "name", condition))
            for rule in self.rules
            for condition in rule
        )
        self._check_common_fields(self._name_features(names))

    def __len__(self) -> int:
        """Return the number of explained rows."""
        return len(self.rules)

    def text(self, row: int) -> str:
        """Return the rule of a row as text.

        Parameters
        ----------
        row : int
            Position of the row.

        Returns
        -------
        str
            The conditions of the rule, or "always" if it has none.
        """
        return " and ".join(map(str, self.rules[row])) or "always"

    def holds(self, X: Any) -> NDArray[np.bool_]:
        """Return the rows for which each rule holds.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame, list or Series of str}
            Rows of a table, or texts, like the explained ones.

        Returns
        -------
        ndarray of shape (n_rows, n_samples), bool
            For each rule, whether it holds for each of the rows of `X`.
        """
        n_samples = X.shape[0] if hasattr(X, "shape") else len(X)
        return all_hold(self.rules, X, n_samples)

    def to_frame(self) -> DataFrame:
        """Return the rules as a table, one row for each explained row.

        Returns
        -------
        pandas.DataFrame
            Columns "rule" (as text), "answer", "precision", "precision_low",
            "precision_high", "coverage", "status" and "reason". The index is that of
            `data`, if `data` is a pandas object.

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        columns = {
            "rule": [self.text(row) for row in range(len(self))],
            "answer": self.answers,
            **{name: getattr(self, name) for name in self._numbers},
            "status": self.status,
            "reason": self.reasons,
        }
        return self._frame_by_row(columns)

    def _summary(self) -> list[str]:
        return self._first_lines(
            lambda row: (
                f"{self.text(row)}: {entry_text(self.answers[row])} (precision "
                f"{entry_text(self.precision[row], 3)}, coverage "
                f"{entry_text(self.coverage[row], 3)})"
            )
        )

    def _html_table(self) -> tuple[list[str], list[list[str]]]:
        head = ["row", "rule", "answer", "precision", "coverage", "status"]
        body = []
        for row in self._shown_rows:
            low = rounded_text(self.precision_low[row], down=True)
            high = rounded_text(self.precision_high[row], down=False)
            body.append(
                [
                    str(self.row_names[row]),
                    self.text(row),
                    entry_text(self.answers[row]),
                    f"{entry_text(self.precision[row], 3)} ({low} to {high})",
                    entry_text(self.coverage[row], 3),
                    self._outcome(row),
                ]
            )
        return head, body
