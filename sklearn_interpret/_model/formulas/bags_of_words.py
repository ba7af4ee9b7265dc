"""Reader of linear models of word counts: what each word of a text adds.

:class:`BagOfWords` reads such a model, and finds words to remove so that a target is
reached; :func:`word_form` says which words a model of any kind takes for equal.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.special import logit
from sklearn.feature_extraction.text import (
    CountVectorizer,
    HashingVectorizer,
    TfidfTransformer,
)
from sklearn.feature_selection import SelectorMixin
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.preprocessing import MaxAbsScaler

from sklearn_interpret._core.local.removals import linear_hint
from sklearn_interpret._model.formulas.formula_class import computes_as, formula_class
from sklearn_interpret._model.formulas.linear import LinearModel, read_linear
from sklearn_interpret._model.responses.predictors import unfrozen
from sklearn_interpret._model.responses.response import make_response
from sklearn_interpret.exceptions import UnreadableModelError

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from sklearn_interpret._core.local.tokens import Tokens
    from sklearn_interpret._model.actions.target import TargetOutcome

READABLE = (
    "a Pipeline of a CountVectorizer, TfidfVectorizer or HashingVectorizer of single "
    "words (analyzer='word', ngram_range=(1, 1), no tokenizer or preprocessor), of "
    "TfidfTransformer, MaxAbsScaler and selectors of features, and of a linear model"
)
# Steps that work column by column, but for a norm.
_STEPS = (TfidfTransformer, MaxAbsScaler, SelectorMixin)
_SINGLE_WORDS = {
    "input": "content",
    "analyzer": "word",
    "ngram_range": (1, 1),
    "tokenizer": None,
    "preprocessor": None,
}
# Relative difference between a text and the sum of its words that counts as rounding:
# far above that of double precision, far below the effect of a word.
_TOLERANCE = 1e-7


class _HalfSpaces(NamedTuple):
    """Functions ``directions @ margins + shifts``, not negative on target."""

    directions: NDArray[np.float64]  # (m, n_outputs)
    shifts: NDArray[np.float64]  # (m,)


class _Contributions(NamedTuple):
    """Contributions of words to linear functions, before the norm divides."""

    effects: csr_array  # (n_words, n_outputs)
    sizes: NDArray[np.float64]  # (n_words,): to the norm, or to its square
    total: NDArray[np.float64]  # (n_outputs,): of all words
    norm: str | None  # "l1", "l2", or none


class _Analyzer(NamedTuple):
    """How a vectorizer makes terms of a text."""

    kind: Any  # its parameter `analyzer`
    analyze: Callable[[str], Any]
    preprocess: Callable[[str], Any]


@dataclass(frozen=True, eq=False)
class BagOfWords:
    """A linear model of how often words stand in a text, built by :meth:`read`."""

    vectorizer: CountVectorizer | HashingVectorizer
    # All but the last, one by one: a pipeline of hashing alone counts as unfitted.
    steps: list[BaseEstimator]
    last: BaseEstimator
    model: LinearModel  # the last step
    outcome: TargetOutcome

    @classmethod
    def read(cls, outcome: TargetOutcome) -> BagOfWords:
        """Read the model of a `TargetOutcome`; an UnreadableModelError says why not."""
        pipeline = unfrozen(outcome.estimator)
        steps = pipeline.steps if computes_as(pipeline, Pipeline) else []
        fitted = [unfrozen(s) for _, s in steps if s is not None and s != "passthrough"]
        if len(fitted) < 2 or not (
            formula_class(fitted[0], (CountVectorizer, HashingVectorizer))
            and _SINGLE_WORDS.items() <= fitted[0].get_params().items()
            and all(formula_class(step, _STEPS) for step in fitted[1:-1])
        ):
            raise UnreadableModelError(
                f"{type(pipeline).__name__} is no linear bag of words. What can be "
                f"read: {READABLE}."
            )
        model = read_linear(fitted[-1])
        if model.exponential:
            raise UnreadableModelError("It is the exponential of a linear function.")
        return cls(fitted[0], fitted[:-1], fitted[-1], model, outcome)

    def removal_hints(
        self, tokens: Tokens, class_position: int, max_words: int
    ) -> tuple[tuple[NDArray[np.bool_], ...], int] | None:
        """Sets of words to remove, and a bound of their size; None if not readable.

        `class_position` is the position of the text's class, for the target of any
        other class.
        """
        spaces = self._half_spaces(class_position)
        if spaces is None:
            return None
        words = self._read_contributions(tokens)
        if words is None:
            return None
        hints = [
            linear_hint(
                words.effects @ direction,
                words.sizes,
                words.total @ direction,
                self.model.intercept @ direction + shift,
                words.norm,
                max_words,
            )
            for direction, shift in zip(*spaces, strict=True)
        ]
        sets, bounds = zip(*hints, strict=True)
        return sets, (min if self.outcome.is_other else max)(bounds)

    def _half_spaces(self, class_position: int) -> _HalfSpaces | None:
        """The half-spaces of the target; None if they are not known.

        One of them is enough for the target of any other class, else all are needed.
        """
        outcome, n_outputs = self.outcome, len(self.model.intercept)
        if outcome.interval is None:
            directions: NDArray[np.float64] = (
                np.eye(n_outputs) if n_outputs > 1 else np.array([[-1.0], [1.0]])
            )
            position = class_position if outcome.wanted is None else outcome.wanted
            directions = directions[position] - np.delete(directions, position, axis=0)
            directions = -directions if outcome.is_other else directions
            return _HalfSpaces(directions, np.zeros(len(directions)))
        low, high = outcome.interval
        if outcome.response.method == "predict_proba":
            margin = make_response(outcome.estimator, "decision_function")
            if margin.name != "log-odds":
                return None
            low, high = logit(np.clip([low, high], 0, 1))
            direction = np.array([-1.0 if outcome.response.target == 0 else 1.0])
        else:
            direction = outcome.response.read(np.eye(n_outputs))[:, 0]
        directions, shifts = np.array([direction, -direction]), np.array([-low, high])
        has_end = np.isfinite(shifts)
        if not has_end.any():
            return None
        return _HalfSpaces(directions[has_end], shifts[has_end])

    def _read_contributions(self, tokens: Tokens) -> _Contributions | None:
        """Contributions of the words; None if the text is not the sum of its words."""
        if not self._words_stand_alone(tokens):
            return None
        n_words = len(tokens.keys)
        pieces: list[list[str]] = [[] for _ in range(n_words)]
        for piece, feature in zip(tokens.pieces, tokens.features, strict=True):
            if feature >= 0:
                pieces[feature].append(piece)
        X: Any = ["".join(tokens.pieces), *map(" ".join, pieces)]
        for step in self.steps:
            X = step.transform(X)
        X = csr_array(X, dtype=np.float64)
        margins = self.model.margin(X)
        answers = getattr(self.last, self.model.method)(X)
        if not np.allclose(np.reshape(answers, margins.shape), margins):
            return None
        used = np.union1d(X.indices, [0])  # few of all columns
        coefficients, X = self.model.coefficients[used], X[:, used]
        text, words = X[[0]], X[1:]
        # The part of the text in the columns of each word. With a norm, that of the
        # text is one, and each word alone is its part, divided by the part's norm.
        in_text = csr_array((words != 0).multiply(text))
        for norm, by_word in ((None, words), ("l1", in_text), ("l2", in_text)):
            power = 2 if norm == "l2" else 1
            sizes = (abs(by_word) ** power).sum(axis=1)
            rescaled = csr_array(words.multiply(sizes[:, None] ** (1 / power)))
            has_norm = np.isclose(sizes.sum(), 1) and not _differ(rescaled, by_word)
            if norm and not has_norm:
                continue
            if not _differ(text, csr_array(by_word.sum(axis=0)[None])):
                total = (text @ coefficients)[0]
                return _Contributions(by_word @ coefficients, sizes, total, norm)
        return None

    def _words_stand_alone(self, tokens: Tokens) -> bool:
        """Whether the terms of each word do not depend on the words next to it."""
        analyze = self.vectorizer.build_analyzer()
        terms, is_separated = [], True
        for piece, feature in zip(tokens.pieces, tokens.features, strict=True):
            piece_terms = analyze(piece)
            # Two words are separated by text that stays and has no words.
            if piece_terms and (feature < 0 or not is_separated):
                return False
            is_separated = feature < 0 or (is_separated and not piece_terms)
            terms += piece_terms
        return terms == analyze("".join(tokens.pieces))


def word_form(estimator: BaseEstimator) -> Callable[[str], str] | None:
    """Function of a word that is the same for words which a model takes for equal.

    Words are equal where the analyzers of all vectorizers at the start of the model
    make them equal. None for a model without vectorizers.
    """
    analyzers = [
        _Analyzer(v.analyzer, v.build_analyzer(), v.build_preprocessor())
        for v in _vectorizers(estimator)
    ]
    return partial(_common_form, analyzers) if analyzers else None


def _common_form(analyzers: list[_Analyzer], word: str) -> str:
    """The form that all analyzers give a word; the word where they differ."""
    forms = set()
    for kind, analyze, preprocess in analyzers:
        is_of_letters = kind in ("char", "char_wb")
        tokens = [] if is_of_letters else list(analyze(word))
        if len(tokens) == 1 and isinstance(tokens[0], str):
            forms.add(tokens[0])
        else:
            forms.add(word if callable(kind) else preprocess(word))
    return (forms.pop() or word) if len(forms) == 1 else word


def _vectorizers(estimator: BaseEstimator) -> list[BaseEstimator]:
    """The vectorizers of texts that a model begins with."""
    model = unfrozen(estimator)
    if isinstance(model, Pipeline):
        return _vectorizers(model[0]) if len(model) else []
    if isinstance(model, FeatureUnion):
        return [v for _, member in model.transformer_list for v in _vectorizers(member)]
    is_vectorizer = isinstance(model, CountVectorizer | HashingVectorizer)
    return [model] if is_vectorizer and model.input == "content" else []


def _differ(first: csr_array, second: csr_array) -> bool:
    """Whether two sparse arrays differ by more than rounding."""
    size = max(abs(first).max(), abs(second).max())
    return abs(first - second).max() > _TOLERANCE * size
