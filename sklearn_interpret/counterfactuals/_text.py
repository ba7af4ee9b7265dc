"""Counterfactuals of texts: words without which the model answers otherwise (SEDC)."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import KW_ONLY, dataclass
from itertools import chain, compress, islice
from numbers import Integral
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from sklearn_interpret._core.local.removals import smallest_removal
from sklearn_interpret._core.local.tokens import feature_name
from sklearn_interpret._inspectors.row_search import warn_of_failures
from sklearn_interpret._inspectors.texts import TextInputMixin, copied_bytes
from sklearn_interpret._model._sklearn_compat import Interval, StrOptions
from sklearn_interpret._model.actions.target import TargetOutcome
from sklearn_interpret._model.formulas.bags_of_words import BagOfWords
from sklearn_interpret._model.formulas.formula import read_formula
from sklearn_interpret._model.parallel import batch_rows, run, slices, worker_slices
from sklearn_interpret._model.progress import phases, shows_progress
from sklearn_interpret._model.rows.tables import as_objects
from sklearn_interpret.base import BaseInspector
from sklearn_interpret.exceptions import UnreadableModelError
from sklearn_interpret.explanations import RemovalExplanation

if TYPE_CHECKING:
    from sklearn_interpret._core.local.removals import RemovalSearch
    from sklearn_interpret._core.local.tokens import Tokens
    from sklearn_interpret._model.actions.target import AskedRows
    from sklearn_interpret._model.rows.sample import Sample

# Largest number of sets of words that the model is asked about for a proof, chosen by
# hand: all sets of up to three of 29 words. More prove more, and take longer.
_MAX_SETS_OF_PROOF = 4096


class _Result(NamedTuple):
    """Result of the search for a text."""

    status: str  # "found", "unchanged", "impossible" or "failed"
    reason: str  # why nothing was found
    is_proved: bool  # whether no smaller set of words is enough


@dataclass(eq=False, repr=False)
class TextCounterfactual(TextInputMixin, BaseInspector):
    r"""The fewest words whose removal changes the prediction of a text.

    A word is removed with all its occurrences, as in Martens & Provost (2014).
    Everything else stays as it is, to the letter.

    Parameters
    ----------
    estimator : estimator
        Any predictor of texts, such as a pipeline that begins with a vectorizer; a
        clone of it is fitted. Pass a fitted one as ``FrozenEstimator(model)``.
    desired : "other", class label or (low, high), default="other"
        The target outcome: any other class, this one, or a probability (of a
        classifier) or prediction (of a regressor) in this interval, an end of which may
        be None.
    target : class label or int, default=None
        The class or output that an interval is of, where there are several.
    max_removed : int or None, default=None
        How many words may be removed; None means any number.
    method : {"auto", "exact", "search"}, default="auto"
        "exact" reads a linear bag of words, and raises an error for other models;
        "search" asks any model about copies of the texts. "auto" reads what it can.
    max_iter : int, default=50
        How many sets of words the search extends by each other word, for each text.
    tokenizer : callable, default=None
        ``tokenizer(text)``: the words of a text as a list of str, as they stand in it
        and in their order. The text between them stays. None splits by
        `split_expression`.
    split_expression : str, default=r"\W+"
        Regular expression of the separators of words; ``""`` splits into letters.
    bow : bool, default=True
        Whether a word is one wherever it stands, as in a bag of words. False removes
        each of its places on its own, for models that look at the order of words.
    mask_token : str, default=None
        The replacement of a word that is removed; None leaves nothing there.
    max_rows : int, default=None
        Largest number of rows that a call sends to the model; an error before says what
        is possible. None is no limit.
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
        In `fit`: no texts, an invalid regular expression as `split_expression`, a
        target that does not fit the model.
    UnreadableModelError
        With ``method="exact"``: the model is no linear bag of words.

    See Also
    --------
    AnchorsText : Words that are enough for the prediction.
    TextCounterfactualDisplay : Draws the texts with the words struck out.

    Notes
    -----
    In `fit` and `explain`, `X` is a list, a one-dimensional array or a pandas or polars
    Series of str. The model gets texts in the container of `fit`. There is no
    `n_features_in_`. Words are one word where the analyzer of the model's vectorizer
    makes them equal, as by case; for other models each spelling is a word.

    *Linear bags of words* are pipelines of a vectorizer that counts single words (also
    as tf-idf) and a linear model. What words add to its decision is a sum, and the
    words that add most are removed first: no smaller set changes the class. A norm
    scales the sum, and the intercept counts for more the less text is left: lines
    bound the norm, and the sets that are found are as a rule proved to be smallest.

    *Any other model* is asked about texts without each of the words, without those that
    count most, and then best-first: the set of words whose removal brings the model
    nearest to the target is extended by each other word, `max_iter` times. Needless
    words are put back into the text.

    In both cases, the model is asked about all smaller sets of words where they are
    few. `optimal` says for which texts the set is proved to be smallest.

    References
    ----------
    Martens, D. & Provost, F. (2014). Explaining data-driven document classifications.
    MIS Quarterly 38(1), 73-100. https://doi.org/10.25300/MISQ/2014/38.1.04

    Examples
    --------
    >>> from sklearn.feature_extraction.text import CountVectorizer
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn_interpret.counterfactuals import TextCounterfactual
    >>> texts = ["win a free phone", "free free money", "nice song", "a song for you"]
    >>> labels = ["spam", "spam", "fine", "fine"]
    >>> model = make_pipeline(CountVectorizer(), LogisticRegression())
    >>> inspector = TextCounterfactual(model).fit(texts, labels)
    >>> inspector.explain(["a free song, free for you"])
    RemovalExplanation(n_rows=1)
    without 'free': spam -> fine
    """

    estimator: Any
    _: KW_ONLY
    desired: Any = "other"
    target: Any = None
    max_removed: int | None = None
    method: str = "auto"
    max_iter: int = 50
    tokenizer: Callable[[str], Sequence[str]] | None = None
    split_expression: str = r"\W+"
    bow: bool = True
    mask_token: str | None = None
    max_rows: int | None = None
    n_jobs: int | None = None
    verbose: int | None = None

    _for_any_model = 'method="auto" takes any model.'

    _parameter_constraints = {
        **BaseInspector._parameter_constraints,
        **TextInputMixin._text_constraints,
        "desired": "no_validation",
        "max_removed": [Interval(Integral, 1, None, closed="left"), None],
        "method": [StrOptions({"auto", "exact", "search"})],
        "max_iter": [Interval(Integral, 0, None, closed="left")],
    }

    def _make_response(self) -> Any:
        return TargetOutcome.of_model(self.estimator_, self.desired, self.target)

    def _inspect(self, sample: Sample, response: TargetOutcome) -> None:
        self._outcome = response
        self._response_name = response.response.name
        self._split = self._make_splitter()
        self._bag = self._read_bag()

    def _read_bag(self) -> BagOfWords | None:
        """The model as a linear bag of words; None where it is to be searched."""
        if self.method == "search":
            return None
        if self.mask_token and self.method == "exact":
            raise UnreadableModelError(
                f"mask_token={self.mask_token!r} is put in place of words: what they "
                "add is not lost."
            )
        if self.mask_token:
            return None
        return read_formula(
            [BagOfWords.read], self._outcome, required=self.method == "exact"
        )

    @shows_progress
    def explain(self, X: Any) -> RemovalExplanation:
        """Find the fewest words whose removal makes the model reach the target.

        Parameters
        ----------
        X : list, array or Series of str
            Texts.

        Returns
        -------
        RemovalExplanation
            For each text the words, and the text without them; or why there are none.

        Warns
        -----
        NoCounterfactualWarning
            Nothing was found for some text.
        """
        check_is_fitted(self)
        rows = self._check_rows(X, reset=False)
        outcome, tokens = self._outcome, [self._split(text) for text in rows]
        originals = outcome.asked(rows.native)
        answers = originals.answers
        answers = np.zeros(rows.n_rows, dtype=int) if answers is None else answers
        searches = self._search_texts(originals, tokens, answers)
        removed = list(map(_removed_words, tokens, searches))
        copies = [
            text.copies(~words[None], self.mask_token)[0]
            for text, words in zip(tokens, removed, strict=True)
        ]
        shortened = outcome.asked(self._like.with_texts(copies))
        holds = shortened.holds(answers)
        results = list(map(_make_result, searches, holds))
        status, reasons = [r.status for r in results], [r.reason for r in results]
        warn_of_failures(np.array(status), reasons, "texts")
        return self._explanation(originals, shortened, tokens, removed, copies, results)

    def _explanation(
        self,
        originals: AskedRows,
        shortened: AskedRows,
        tokens: list[Tokens],
        removed: list[NDArray[np.bool_]],
        copies: list[str],
        results: list[_Result],
    ) -> RemovalExplanation:
        """The explanation of texts; `copies` lack the removed words."""
        status = as_objects([result.status for result in results])
        succeeded = np.isin(status, ["found", "unchanged"])
        scores_before = originals.scores
        scores_after = np.where(succeeded[:, None], shortened.scores, np.nan)
        n_outputs = scores_before.shape[1]
        if n_outputs == 1:
            scores_before, scores_after = scores_before[:, 0], scores_after[:, 0]
        predict = self._outcome.response.returned_by
        answers, original_answers = (
            np.asarray(predict("predict", asked.native)).tolist()
            for asked in (shortened, originals)
        )
        masks, words = [], []
        for text, mask, success in zip(tokens, removed, succeeded, strict=True):
            removed_words = mask & success
            # Pieces between words, which have feature -1, take the last entry.
            masks.append(np.append(removed_words, False)[text.features].tolist())
            words.append(list(map(feature_name, compress(text.keys, removed_words))))
        return RemovalExplanation(
            as_objects([text.pieces for text in tokens]),
            as_objects(masks),
            as_objects(words),
            as_objects(_none_where_failed(succeeded, copies)),
            as_objects(_none_where_failed(succeeded, answers)),
            as_objects(original_answers),
            status=status,
            optimal=np.array([result.is_proved for result in results]),
            reasons=as_objects([result.reason for result in results]),
            predictions=scores_after,
            original_predictions=scores_before,
            data=originals.native,
            output_names=self._outcome.response.output_names(n_outputs),
            response_name=self._response_name,
            target_name=self._target_name,
        )

    def _search_texts(
        self, originals: AskedRows, tokens: list[Tokens], answers: NDArray[np.intp]
    ) -> list[RemovalSearch | None]:
        """A finished `RemovalSearch` for each text; None if it satisfies the target."""
        searched = np.flatnonzero(~originals.holds(answers))
        tasks = [
            ([tokens[i] for i in searched[block]], answers[searched[block]])
            for block in worker_slices(len(searched), self.n_jobs)
        ]
        blocks = run(self._search, tasks, n_jobs=self.n_jobs)
        searches = dict(zip(searched, chain.from_iterable(blocks), strict=True))
        return [searches.get(i) for i in range(len(tokens))]

    def _search(
        self, tokens: list[Tokens], answers: NDArray[np.intp]
    ) -> list[RemovalSearch | None]:
        """Search for the words of some texts, with one call of the model per round."""
        finished: list[RemovalSearch | None] = [None] * len(tokens)
        searches = list(map(self._start_search, tokens, answers))
        # A search yields sets of words, and is sent the replies to them.
        replies: dict[int, list[tuple[float, bool]] | None]
        replies = dict.fromkeys(range(len(tokens)))
        progress = phases(len(tokens) + 1)
        next(progress)
        while replies:
            asked = {}
            for i, reply in replies.items():
                try:
                    asked[i] = searches[i].send(reply)
                except StopIteration as stop:
                    finished[i] = stop.value
                    next(progress)
            replies = {**self._ask_about_sets(asked, tokens, answers)}
        return finished

    def _start_search(
        self, tokens: Tokens, answer: int
    ) -> Generator[Any, Any, RemovalSearch]:
        """The search for the words of one text."""
        n_words = len(tokens.keys)
        max_removed = min(n_words, self.max_removed or n_words)
        hint = None
        if self._bag is not None and n_words:
            hint = self._bag.removal_hints(tokens, answer, max_removed)
        first_sets, min_removed = ((), 1) if hint is None else hint
        limits = max_removed, self.max_iter, _MAX_SETS_OF_PROOF
        return smallest_removal(n_words, *limits, first_sets, min_removed)

    def _ask_about_sets(
        self,
        asked: dict[int, NDArray[np.bool_]],
        tokens: list[Tokens],
        answers: NDArray[np.intp],
    ) -> dict[int, list[tuple[float, bool]]]:
        """Margins of sets of words of some texts, and whether they reach the target."""
        sizes = [copied_bytes("".join(t.pieces), t, self.mask_token) for t in tokens]
        batch_size = batch_rows(max(sizes))
        copies = (
            (answers[i], copy)
            for i, sets in asked.items()
            for batch in slices(len(sets), batch_size)
            for copy in tokens[i].copies(~sets[batch], self.mask_token)
        )
        replies: list[tuple[float, bool]] = []
        while pairs := list(islice(copies, batch_size)):
            original_answers = np.array([answer for answer, _ in pairs])
            texts = [copy for _, copy in pairs]
            asked_rows = self._outcome.asked(self._like.with_texts(texts))
            margins = asked_rows.margins(original_answers)
            reaches = np.array(margins) >= 0
            # The model's own answers decide where the margins allow for the target.
            if reaches.any():
                likely = self._like.with_texts(list(compress(texts, reaches)))
                answers_of_likely = original_answers[reaches]
                reaches[reaches] = self._outcome.asked(likely).holds(answers_of_likely)
            replies.extend(zip(margins, reaches, strict=True))
        remaining = iter(replies)
        return {i: list(islice(remaining, len(sets))) for i, sets in asked.items()}


def _removed_words(tokens: Tokens, search: RemovalSearch | None) -> NDArray[np.bool_]:
    """Mask (n_words,) of the words that a search has found, if any."""
    if search is None or search.best is None:
        return np.zeros(len(tokens.keys), dtype=bool)
    return search.best


def _make_result(search: RemovalSearch | None, holds: bool) -> _Result:
    """The result of a search; `holds` says if the model confirms the text found."""
    if search is None:
        return _Result("unchanged", "", True)
    if search.best is not None and holds:
        return _Result("found", "", search.proved)
    if search.best is not None:
        reason = "the model answers otherwise when it is asked about the text found"
        return _Result("failed", reason, False)
    if not search.n_words:
        return _Result("impossible", "the text has no words", True)
    limit = (
        f"at most {search.max_words} of " if search.max_words < search.n_words else ""
    )
    sets = f"no set of {limit}its {search.n_words} words"
    if search.proved:
        return _Result("impossible", f"{sets} is enough", True)
    return _Result("failed", f"{sets} that the model was asked about is enough", False)


def _none_where_failed(mask: NDArray[np.bool_], entries: list[Any]) -> list[Any]:
    """Entries, None where the mask is False."""
    return [
        entry if valid else None for entry, valid in zip(entries, mask, strict=True)
    ]
