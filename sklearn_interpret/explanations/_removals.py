"""Words whose removal from a text changes the model's answer."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from itertools import accumulate, groupby
from operator import itemgetter
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sklearn_interpret._inspectors.sklearn_bases import DataFrame
from sklearn_interpret._model.rows.number_format import entry_text
from sklearn_interpret.explanations._base import (
    FILLED,
    BaseExplanation,
    Markup,
    counts_text,
)

_STRUCK = "text-decoration: line-through; color: #b00; background: #fdd"


@dataclass(frozen=True, eq=False, repr=False)
class RemovalExplanation(BaseExplanation):
    """Words whose removal changes the model's answer, for each explained text.

    Parameters
    ----------
    pieces : sequence of n_rows sequences of str
        Pieces of each text, which concatenate to it: words, and separators between
        them.
    removed : sequence of n_rows sequences of bool
        Whether each piece is removed.
    words : sequence of n_rows sequences of str
        Distinct words that are removed.
    texts : sequence of str or None, of length n_rows
        The texts without these words; None if nothing was found.
    answers, original_answers : array-like of shape (n_rows,)
        The model's predictions for them, and for the explained texts.
    status : array-like of shape (n_rows,), str
        "found", "unchanged" (the text satisfies the target already), "impossible" or
        "failed".
    optimal : array-like of shape (n_rows,), bool
        Whether it is proved that no smaller set of words suffices, or none at all.
    predictions : array-like of shape (n_rows[, n_outputs]), default=None
        The model's responses to `texts`; NaN if nothing was found.
    data : {list, ndarray, Series} of n_rows str, default=None
        The explained texts, in the container in which they were given.
    feature_names : sequence of str, default=None
        All words that are removed from some text, which is the default.
    output_names : sequence, default=None
        A class label or position for each output; None means positions.
    response_name : str, default=None
        Name of the response: "prediction", "probability"...
    target_name : str, default=None
        Name of the target.
    reasons : sequence of str, of length n_rows, default=None
        Why nothing was found; empty otherwise.
    original_predictions : array-like of shape (n_rows[, n_outputs]), default=None
        The model's responses to the explained texts.

    Raises
    ------
    ValueError
        If parts have inconsistent shapes, or are not numbers.

    Examples
    --------
    >>> from sklearn_interpret.explanations import RemovalExplanation
    >>> explanation = RemovalExplanation(
    ...     pieces=[["a", " ", "free", " ", "phone"]],
    ...     removed=[[False, False, True, False, False]],
    ...     words=[["free"]],
    ...     texts=["a  phone"],
    ...     answers=["fine"],
    ...     original_answers=["spam"],
    ...     status=["found"],
    ...     optimal=[True],
    ... )
    >>> explanation
    RemovalExplanation(n_rows=1)
    without 'free': spam -> fine
    >>> explanation.spans(0)
    [(2, 6)]
    """

    pieces: NDArray[np.object_]
    removed: NDArray[np.object_]
    words: NDArray[np.object_]
    texts: NDArray[np.object_]
    answers: NDArray[np.object_]
    original_answers: NDArray[np.object_]
    status: NDArray[np.object_]
    optimal: NDArray[np.bool_]
    reasons: NDArray[np.object_] = field(default=FILLED, kw_only=True)
    original_predictions: NDArray[np.float64] | None = field(default=None, kw_only=True)

    _objects: ClassVar[tuple[str, ...]] = (
        "pieces",
        "removed",
        "words",
        "texts",
        "answers",
        "original_answers",
        "status",
        "optimal",
        "reasons",
    )
    _facts_by_row = ("original_predictions",)
    _arrays_by_row: ClassVar[tuple[str, ...]] = (
        *BaseExplanation._arrays_by_row,
        "original_predictions",
        *_objects,
    )
    _displays: ClassVar[str] = "TextCounterfactualDisplay"

    def __post_init__(self) -> None:
        for name in ("pieces", "removed", "words"):
            self._set(name, [tuple(entry) for entry in getattr(self, name)])
        self._set_objects()
        self._set("optimal", self.optimal.astype(bool))
        for row in range(len(self)):
            if len(self.pieces[row]) != len(self.removed[row]):
                raise ValueError(
                    f"pieces has {len(self.pieces[row])} pieces of text {row}, but "
                    f"removed has {len(self.removed[row])}."
                )
        removed_words = (word for words in self.words for word in words)
        self._check_common_fields(self._name_features(removed_words))

    def __len__(self) -> int:
        """Return the number of explained texts."""
        return len(self.status)

    @property
    def n_removed(self) -> NDArray[np.intp]:
        """Number of words removed from each text: int, (n_rows,)."""
        return np.array([len(words) for words in self.words], dtype=int)

    def spans(self, row: int) -> list[tuple[int, int]]:
        """Return the positions of the removed words in a text.

        Parameters
        ----------
        row : int
            Position of the text.

        Returns
        -------
        list of (int, int)
            Start and end of each word, as in ``text[start:end]``.
        """
        pieces, removed = self.pieces[row], self.removed[row]
        ends = accumulate(map(len, pieces))
        return [
            (end - len(piece), end)
            for piece, end, is_removed in zip(pieces, ends, removed, strict=True)
            if is_removed
        ]

    def to_frame(self) -> DataFrame:
        """Return the removed words as a table, one row for each explained text.

        Returns
        -------
        pandas.DataFrame
            Columns "removed" (list of words), "n_removed", "text" (without them),
            "before" and "after" (the model's predictions), "status", "optimal" and
            "reason". The index is that of `data`, if `data` is a pandas object.

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        columns = {
            "removed": list(map(list, self.words)),
            "n_removed": self.n_removed,
            "text": self.texts,
            "before": self.original_answers,
            "after": self.answers,
            "status": self.status,
            "optimal": self.optimal,
            "reason": self.reasons,
        }
        return self._frame_by_row(columns)

    def to_html(self, row: int = 0) -> str:
        """Return a text with the removed words struck out.

        Parameters
        ----------
        row : int, default=0
            Position of the text.

        Returns
        -------
        str
            HTML; the text is escaped.
        """
        pairs = zip(self.pieces[row], self.removed[row], strict=True)
        fragments = []
        for is_removed, group in groupby(pairs, key=itemgetter(1)):
            text = escape("".join(piece for piece, _ in group))
            struck = f'<del style="{_STRUCK}">{text}</del>'
            fragments.append(struck if is_removed else text)
        html = f'<span style="white-space: pre-wrap">{"".join(fragments)}</span>'
        # Lone surrogates cannot be written to a file or a notebook.
        return html.encode("utf-8", "xmlcharrefreplace").decode("utf-8")

    def text(self, row: int) -> str:
        """Return the removed words and the changed prediction as text.

        Parameters
        ----------
        row : int
            Position of the text.

        Returns
        -------
        str
            The words and the model's predictions, or why nothing was found.
        """
        words = ", ".join(map(repr, self.words[row]))
        return f"without {words}: " * bool(words) + self._outcome(row)

    def _outcome(self, row: int) -> str:
        """The model's predictions before and after, or why nothing was found."""
        if self.status[row] != "found":
            return super()._outcome(row)
        before, after = self.original_answers[row], self.answers[row]
        return f"{entry_text(before)} -> {entry_text(after)}"

    def _summary(self) -> list[str]:
        return self._first_lines(self.text)

    def _html_table(self) -> tuple[list[str], list[list[str]]]:
        head = ["row", "prediction", "words removed", "text"]
        body = [
            [str(name), self._outcome(row), str(n), Markup(self.to_html(row))]
            for row, name, n in zip(
                self._shown_rows, self.row_names, self.n_removed, strict=False
            )
        ]
        return head, body

    def _caption(self) -> str:
        return f"{counts_text(self.status)}; the first texts"
