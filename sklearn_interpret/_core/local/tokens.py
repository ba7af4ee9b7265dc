"""Texts split into words and the pieces between them, and joined again."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

# A word, in the form that equal words share, and the number of its occurrence.
Key = tuple[str, int]


@dataclass(frozen=True, eq=False)
class Tokens:
    """A text in pieces.

    Parameters
    ----------
    pieces : tuple of str
        Nonempty parts that concatenate to the text.
    features : ndarray of shape (n_pieces,), intp
        Feature of each piece; -1 for pieces between words.
    keys : tuple of (str, int)
        Word of each feature, in the form that equal words share, and the number of its
        occurrence, from 1; 0 if the feature is all occurrences.
    """

    pieces: tuple[str, ...]
    features: NDArray[np.intp]
    keys: tuple[Key, ...]

    def copies(
        self, present: NDArray[np.bool_], mask_token: str | NDArray | None = None
    ) -> list[str]:
        """Copies of the text with the features of a mask (n_copies, n_features).

        `mask_token` replaces each word that is left out; None removes the word. An
        array of the shape of `present` holds one replacement per copy and feature.
        """
        if not self.keys:
            return ["".join(self.pieces)] * len(present)
        pieces, is_between = np.array(self.pieces, dtype=object), self.features < 0
        if isinstance(mask_token, np.ndarray):
            replacements = mask_token[:, self.features]
        else:
            replacements = np.where(is_between, pieces, mask_token or "")
        stays = present[:, self.features] | is_between
        copies = np.where(stays, pieces, replacements)
        return ["".join(copy) for copy in copies.tolist()]


@dataclass(frozen=True)
class Splitter:
    """Splits texts into words and the pieces between them.

    Parameters
    ----------
    expression : str
        Regular expression of separators between words. It may match the empty string,
        and then splits between two letters.
    tokenizer : callable or None
        Text -> words, in the order in which they occur; replaces `expression`.
    together : bool
        Whether all occurrences of a word are one feature.
    form : callable, default=None
        Word -> str, the same for words that count as equal. None compares words as they
        are.
    """

    expression: str
    tokenizer: Callable[[str], Any] | None
    together: bool
    form: Callable[[str], str] | None = None

    def __call__(self, text: str) -> Tokens:
        """Tokens of a text."""
        if self.tokenizer is None:
            spans = _spans_between(self.expression, text)
        else:
            spans = _spans_of_tokens(_tokenize(self.tokenizer, text), text)
        feature_of: dict[Key, int] = {}
        counts: dict[str, int] = {}
        forms: dict[str, str] = {}
        pieces, features, end = [], [], 0
        for start, stop in spans:
            if start > end:
                pieces.append(text[end:start])
                features.append(-1)
            word, end = text[start:stop], stop
            pieces.append(word)
            if self.form is not None:
                if word not in forms:
                    forms[word] = self.form(word)
                word = forms[word]
            counts[word] = counts.get(word, 0) + 1
            key = (word, 0 if self.together else counts[word])
            features.append(feature_of.setdefault(key, len(feature_of)))
        if end < len(text):
            pieces.append(text[end:])
            features.append(-1)
        keys = tuple(feature_of)
        return Tokens(tuple(pieces), np.array(features, dtype=np.intp), keys)


def _tokenize(tokenizer: Callable[[str], Any], text: str) -> Any:
    """Tokens of the tokenizer; a TypeError if it does not take a text."""
    try:
        tokens = tokenizer(text)
        return tokens if isinstance(tokens, str | bytes) else list(tokens)
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"tokenizer={tokenizer!r} does not return the words of a text as "
            f"a list of str: {error}"
        ) from error


def _spans_between(expression: str, text: str) -> Iterator[tuple[int, int]]:
    """Starts and ends of the pieces between the matches of an expression."""
    end = 0
    for match in re.finditer(expression, text):
        if match.start() > end:
            yield end, match.start()
        end = match.end()
    if end < len(text):
        yield end, len(text)


def _spans_of_tokens(tokens: Any, text: str) -> Iterator[tuple[int, int]]:
    """Starts and ends of tokens, found from left to right."""
    if isinstance(tokens, str | bytes):
        raise TypeError(
            f"tokenizer returned {type(tokens).__name__}; it must return the words of "
            "a text as a list of str."
        )
    end = 0
    for index, token in enumerate(tokens):
        if not isinstance(token, str):
            raise TypeError(
                f"tokenizer returned {type(token).__name__} as token {index}; its "
                "tokens must be str."
            )
        start = text.find(token, end)
        if start < 0:
            raise ValueError(
                f"tokenizer returned the token {token!r} (number {index}), which does "
                f"not stand in the text from position {end} on: "
                f"{_quote_beginning(text[end:])}. Tokens must be parts of the text as "
                "they stand there, in order."
            )
        end = start + len(token)
        if token:
            yield start, end


def _quote_beginning(text: str, max_length: int = 40) -> str:
    """The beginning of a text, quoted."""
    return repr(text if len(text) <= max_length else text[:max_length] + "...")


def feature_name(key: Key) -> str:
    """Name of a feature: its word, and its number if it is not the first of several."""
    word, number = key
    return word if number < 2 else f"{word} ({number})"
