"""Input of texts and their splitting into words, for inspectors of texts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sklearn_interpret._core.local.tokens import Splitter
from sklearn_interpret._model.formulas.bags_of_words import word_form
from sklearn_interpret._model.rows.texts import TextRows, as_texts
from sklearn_interpret.base import BaseInspector

if TYPE_CHECKING:
    from sklearn_interpret._core.local.tokens import Tokens


class TextInputMixin(BaseInspector):
    """Takes texts in place of tables.

    Splits them by the parameters `tokenizer`, `split_expression` and `bow`.
    """

    tokenizer: Callable[[str], Iterable[str]] | None
    split_expression: str
    bow: bool

    _text_constraints = {
        "tokenizer": [callable, None],
        "split_expression": [str],
        "bow": ["boolean"],
        "mask_token": [str, None],
    }

    def _check_rows(self, X: Any, *, reset: bool) -> Any:
        if not reset:
            check_is_fitted(self)
        rows = as_texts(X)
        if reset:
            self._check_expression()
            self._like = rows.take(np.array([0]))
        elif type(rows.native) is not type(self._like.native):
            rows = TextRows(self._like.with_texts(list(rows.native)))
        return rows

    def _check_expression(self) -> None:
        try:
            re.compile(self.split_expression)
        except re.error as error:
            raise ValueError(
                f"split_expression={self.split_expression!r} is no regular expression: "
                f"{error}."
            ) from error

    def _make_splitter(self) -> Splitter:
        form = word_form(self.estimator_)
        return Splitter(self.split_expression, self.tokenizer, self.bow, form)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        return tags


def copied_bytes(text: str, tokens: Tokens, mask_token: str | None) -> int:
    """Approximate memory of joining a masked copy of a text, in bytes."""
    # A character takes 1 to 4 bytes, mostly 1 or 2; a pointer to a piece takes 8.
    n_pieces = len(tokens.features)
    return 2 * (len(text) + n_pieces * len(mask_token or "")) + 8 * n_pieces
