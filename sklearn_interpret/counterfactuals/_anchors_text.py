"""Anchors of texts: words that are enough for a prediction (Ribeiro et al. 2018)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import NDArray

from sklearn_interpret._core.local.anchors import Neighbours
from sklearn_interpret._inspectors.texts import TextInputMixin, copied_bytes
from sklearn_interpret._model._sklearn_compat import StrOptions
from sklearn_interpret._model.parallel import batch_rows, slices
from sklearn_interpret._model.responses.response import plain_responses
from sklearn_interpret.counterfactuals._base_anchors import AnchorProblem, BaseAnchors
from sklearn_interpret.explanations import WordCondition

if TYPE_CHECKING:
    from sklearn_interpret._core.local.tokens import Key, Tokens
    from sklearn_interpret._model.responses.response import Response
    from sklearn_interpret._model.rows.sample import Sample
    from sklearn_interpret._model.rows.texts import TextRows

# Texts with the same number of words share the draws of their masks. The draws are kept
# in memory for this number of different numbers of words.
_CACHED_LENGTHS = 8


@dataclass(eq=False, repr=False)
class AnchorsText(TextInputMixin, BaseAnchors):
    r"""Words that are enough for the prediction of a text (anchors).

    The rule of a text is a set of its words. Where they stand, the model nearly always
    gives the answer that it gives to the text, whatever becomes of the other words.

    Parameters
    ----------
    estimator : estimator
        Any predictor of texts, such as a pipeline that begins with a vectorizer; a
        clone of it is fitted. Pass a fitted one as ``FrozenEstimator(model)``.
    precision : float, default=0.95
        How often the model has to keep its answer under a rule.
    delta : float, default=0.1
        Probability that the precision is below its lower bound, and as much for the
        upper one.
    tau : float, default=0.15
        By how much rules may be less precise than the best of their size, and still be
        extended in place of them.
    beam_size : int, default=4
        How many rules of each size are extended.
    max_anchor_size : int or None, default=None
        How many words a rule has at most; None means any number.
    n_samples : int, default=2000
        By how many copies of a text a rule is compared with others, and by how many new
        ones it is judged, at most.
    n_coverage_samples : int, default=10000
        How many texts of `fit` are kept to count coverage on.
    max_rows : int, default=None
        Largest number of rows that a call sends to the model; an error before says what
        is possible. None is no limit.
    replacement : {"mask", "corpus"}, default="mask"
        The replacement of a word that is left out: `mask_token`, or a word of the texts
        of `fit`, drawn by its frequency.
    mask_token : str, default=None
        Stands in place of a word that is left out; None leaves nothing there.
    tokenizer : callable, default=None
        ``tokenizer(text)``: the words of a text as a list of str, as they stand in it
        and in their order. The text between them stays. None splits by
        `split_expression`.
    split_expression : str, default=r"\W+"
        Regular expression of the separators of words; ``""`` splits into letters.
    bow : bool, default=True
        Whether a word is one wherever it stands, as in a bag of words. False leaves out
        each of its places on its own, for models that look at the order of words.
    tolerance : float or None, default=None
        How far a regressor's prediction may be from the text's and still be the same
        answer; None takes half of the standard deviation of its predictions in `fit`.
        Classifiers have to predict the text's class.
    random_state : int, RandomState or None, default=None
        Draws which words are left out, once in `fit`.
    n_jobs : int or None, default=None
        Workers, which share the texts to explain.
    verbose : int or None, default=None
        1 prints the share done and the time left, 0 nothing. None writes one line to
        the standard error of calls that will take more than five seconds.

    Attributes
    ----------
    estimator_ : estimator
        The fitted model.
    classes_ : ndarray
        Class labels of a classifier.

    Raises
    ------
    TypeError
        `X` is a single text, no container of texts, or has entries that are no str.
    ValueError
        In `fit`: no texts, an invalid regular expression as `split_expression`.

    See Also
    --------
    Anchors : For tables, and how rules are found.

    Notes
    -----
    In `fit` and `explain`, `X` is a list, a one-dimensional array or a pandas or polars
    Series of str. The model gets texts in the container of `fit`. There is no
    `n_features_in_`. Words are one word where the analyzer of the model's vectorizer
    makes them equal, as by case; for other models each spelling is a word.

    The precision of a rule is the probability that the model keeps its answer when its
    words stay, and each other word is left out with probability one half. Coverage is
    the share of the texts of `fit` that have all words of the rule.

    References
    ----------
    Ribeiro, M. T., Singh, S. & Guestrin, C. (2018). Anchors: high-precision
    model-agnostic explanations. Proceedings of the AAAI Conference on Artificial
    Intelligence 32. https://doi.org/10.1609/aaai.v32i1.11491

    Examples
    --------
    >>> from sklearn.feature_extraction.text import CountVectorizer
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn_interpret.counterfactuals import AnchorsText
    >>> texts = ["win a free phone", "free free money", "nice song", "a song for you"]
    >>> labels = ["spam", "spam", "fine", "fine"]
    >>> model = make_pipeline(CountVectorizer(), LogisticRegression())
    >>> inspector = AnchorsText(model, random_state=0).fit(texts, labels)
    >>> inspector.explain(["a free phone for everyone"]).text(0)
    "'free'"
    """

    _: KW_ONLY
    replacement: str = "mask"
    mask_token: str | None = None
    tokenizer: Callable[[str], Sequence[str]] | None = None
    split_expression: str = r"\W+"
    bow: bool = True
    tolerance: float | None = None
    random_state: int | np.random.RandomState | None = None
    n_jobs: int | None = None
    verbose: int | None = None

    _parameter_constraints = {
        **BaseAnchors._parameter_constraints,
        **TextInputMixin._text_constraints,
        "replacement": [StrOptions({"mask", "corpus"})],
    }

    def _fit_perturbations(self, sample: Sample) -> None:
        self._split = self._make_splitter()
        self._texts_with: dict[Key, list[int]] = {}
        frequencies: dict[str, float] = {}  # of words in all texts, by weight
        for i, text in enumerate(cast("TextRows", sample.rows)):
            tokens = self._split(text)
            for key in tokens.keys:
                self._texts_with.setdefault(key, []).append(i)
            for feature in tokens.features[tokens.features >= 0].tolist():
                word, _ = tokens.keys[feature]
                frequencies[word] = frequencies.get(word, 0.0) + self._shares[i]
        self._corpus_words = np.array(list(frequencies), dtype=np.object_)
        self._cumulated_frequencies = np.cumsum(list(frequencies.values()))

    def _problems(self, rows: TextRows) -> Iterator[AnchorProblem]:
        draw_masks = lru_cache(_CACHED_LENGTHS)(self._draw_masks)
        draw_replacements = lru_cache(_CACHED_LENGTHS)(self._draw_replacements)
        responses = plain_responses(self._response, rows)
        for text, answer in zip(rows, responses, strict=True):
            tokens = self._split(text)
            n_words = len(tokens.keys)
            copies = _TextCopies(
                self._response,
                self._like,
                text,
                tokens,
                draw_masks(n_words),
                self.mask_token,
                draw_replacements(n_words),
            )
            covered = np.zeros((len(self._shares), n_words), dtype=bool)
            for feature, key in enumerate(tokens.keys):
                covered[self._texts_with.get(key, []), feature] = True
            ask = partial(self._ask, answer, copies)
            neighbours = Neighbours(copies.masks, ask, covered, self._shares)
            yield AnchorProblem(neighbours, partial(self._make_condition, tokens.keys))

    def _ask(
        self,
        answer: NDArray[np.float64],
        copies: _TextCopies,
        draws: NDArray[np.intp],
        changed: NDArray[np.bool_],
    ) -> NDArray[np.bool_]:
        """Whether the model keeps its answer on copies of a text: (m,).

        `changed` (m, n_words) marks the words that are put back in each draw.
        """
        return self._keeps_answer(answer, copies.responses(draws, changed))

    def _make_condition(self, keys: Sequence[Key], feature: int) -> WordCondition:
        """The condition that a word stands in a text."""
        return WordCondition(*keys[feature], self._split)

    def _draw_masks(self, n_words: int) -> NDArray[np.bool_]:
        """Mask of the words that each draw keeps: (2 n_samples, n_words)."""
        rng = np.random.default_rng([self._seed, n_words])
        return rng.random((2 * self.n_samples, n_words)) < 0.5

    def _draw_replacements(self, n_words: int) -> NDArray[np.object_] | None:
        """The word that replaces each word of a draw, or None for `mask_token`."""
        if self.replacement == "mask" or not len(self._corpus_words):
            return None
        rng = np.random.default_rng([self._seed, n_words, 1])
        cumulated = self._cumulated_frequencies
        points = rng.random((2 * self.n_samples, n_words)) * cumulated[-1]
        positions = np.searchsorted(cumulated, points, side="right")
        return self._corpus_words[np.minimum(positions, len(cumulated) - 1)]


class _TextCopies:
    """Copies of a text without some of its words, and the responses to the copies.

    The model is asked once about equal copies. `masks` (n_draws, n_words) are the words
    that each draw keeps; `replacements` has a word in the place of each word of a draw,
    or is None for `mask_token`.
    """

    def __init__(
        self,
        response: Response,
        like: TextRows,
        text: str,
        tokens: Tokens,
        masks: NDArray[np.bool_],
        mask_token: str | None,
        replacements: NDArray[np.object_] | None,
    ) -> None:
        self._response, self._like, self._tokens = response, like, tokens
        self.masks, self._mask_token = masks, mask_token
        self._replacements = replacements
        self._batch_size = batch_rows(copied_bytes(text, tokens, mask_token))
        self._response_of_copy: dict[str, NDArray[np.float64]] = {}

    def responses(
        self, draws: NDArray[np.intp], changed: NDArray[np.bool_]
    ) -> NDArray[np.float64]:
        """Responses to draws in which changed words are put back: (m, n_outputs)."""
        copies = [
            copy
            for batch_slice in slices(len(draws), self._batch_size)
            for copy in self._make_copies(draws[batch_slice], changed[batch_slice])
        ]
        unknown_copies = [
            copy for copy in dict.fromkeys(copies) if copy not in self._response_of_copy
        ]
        for batch_slice in slices(len(unknown_copies), self._batch_size):
            batch = unknown_copies[batch_slice]
            responses = self._response(self._like.with_texts(batch))
            self._response_of_copy.update(zip(batch, responses, strict=True))
        return np.array([self._response_of_copy[copy] for copy in copies])

    def _make_copies(
        self, draws: NDArray[np.intp], changed: NDArray[np.bool_]
    ) -> list[str]:
        """Copies of the text by draws, in which changed words are put back."""
        present = self.masks[draws] | changed
        if self._replacements is None:
            return self._tokens.copies(present, self._mask_token)
        return self._tokens.copies(present, self._replacements[draws])
