"""Counterfactuals of texts: words without which the model answers otherwise."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain, compress, islice
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from joblib import effective_n_jobs
from sklearn.utils.validation import check_is_fitted

from sklearn_interpret._core.local.removals import smallest_removal
from sklearn_interpret._core.local.tokens import feature_name
from sklearn_interpret._model._sklearn_compat import Interval, StrOptions
from sklearn_interpret._model.bags_of_words import BagOfWords
from sklearn_interpret._model.desired import Wish
from sklearn_interpret._model.parallel import batch_rows, run, slices
from sklearn_interpret._texts import TextInputMixin, copied_bytes
from sklearn_interpret.base import BaseInspector
from sklearn_interpret.counterfactuals._base import warn_of_failures
from sklearn_interpret.exceptions import UnreadableModelError
from sklearn_interpret.explanations import RemovalExplanation

# Sets of words that a proof may ask for.
_MOST_SETS = 4096
_OTHERWISE = "the model answers otherwise when it is asked once more"
# Pieces of work for each worker.
_TASKS_PER_WORKER = 4


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
        What the model should answer: any other class, this one, or a probability
        (of a classifier) or prediction (of a regressor) in this interval, an end of
        which may be None.
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
        and in their order. What stands between them stays where it is. None splits by
        `split_expression`.
    split_expression : str, default=r"\W+"
        Regular expression of what stands between words; ``""`` splits into letters.
    bow : bool, default=True
        Whether a word is one wherever it stands, as in a bag of words. False removes
        each of its places on its own, for models that look at the order of words.
    mask_token : str, default=None
        What stands in place of a word that is removed; None leaves nothing there.
    n_jobs : int or None, default=None
        Workers, which share the texts to explain.
    verbose : int, default=0
        Verbosity of the loop.

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
        In `fit`: no texts, a `split_expression` that is no regular expression, a wish
        that the model cannot fulfil.
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
    `n_features_in_`. Words are told apart by case.

    *Linear bags of words* are pipelines of a vectorizer that counts single words (also
    as tf-idf) and a linear model. What words add to its decision is a sum, and the
    words that add most are removed first: no smaller set changes the class. A norm
    scales the sum, and the intercept counts for more the less text is left: lines
    bound the norm, and the sets that are found are as a rule proved to be smallest.

    *Any other model* is asked about texts without each of the words, without those that
    count most, and then best-first: the set of words whose removal brings the model
    nearest to the wish is extended by each other word, `max_iter` times. Of what is
    found words are given back until none can be.

    In both cases, the model is asked about all smaller sets of words where they are
    few. `optimal` tells for which texts the set is proved to be smallest.

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

    _parameter_constraints = {
        **{
            name: BaseInspector._parameter_constraints[name]
            for name in ("n_jobs", "verbose")
        },
        **TextInputMixin._text_constraints,
        "desired": "no_validation",
        "target": "no_validation",
        "max_removed": [Interval(Integral, 1, None, closed="left"), None],
        "method": [StrOptions({"auto", "exact", "search"})],
        "max_iter": [Interval(Integral, 0, None, closed="left")],
    }

    def __init__(
        self,
        estimator: Any,
        *,
        desired: Any = "other",
        target: Any = None,
        max_removed: int | None = None,
        method: str = "auto",
        max_iter: int = 50,
        tokenizer: Callable[[str], Sequence[str]] | None = None,
        split_expression: str = r"\W+",
        bow: bool = True,
        mask_token: str | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.desired = desired
        self.target = target
        self.max_removed = max_removed
        self.method = method
        self.max_iter = max_iter
        self.tokenizer = tokenizer
        self.split_expression = split_expression
        self.bow = bow
        self.mask_token = mask_token
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _make_response(self):
        return Wish.of(self.estimator_, self.desired, self.target)

    def _inspect(self, sample, response, on_block):
        self._wish = response
        self._response_name = response.response.name
        self._split = self._make_splitter()
        self._bag = self._read_bag()
        on_block()

    def _read_bag(self):
        """The model as a linear bag of words; None where it is to be searched."""
        if self.method == "search":
            return None
        try:
            if self.mask_token:
                raise UnreadableModelError(
                    f"mask_token={self.mask_token!r} is put in place of words: what "
                    "they add is not lost."
                )
            return BagOfWords.of(self._wish)
        except UnreadableModelError:
            if self.method == "exact":
                raise
            return None

    def explain(self, X: Any) -> RemovalExplanation:
        """Find the fewest words whose removal makes the model answer as wished.

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
        tokens = [self._split(text) for text in rows]
        outcomes = self._outcomes(rows, tokens)
        removed = [outcome.removed for outcome in outcomes]
        status = np.array([outcome.status for outcome in outcomes], dtype=object)
        reasons = [outcome.reason for outcome in outcomes]
        warn_of_failures(status, reasons, "texts")
        pairs = list(zip(tokens, removed, strict=True))
        texts = [self._copies(text, words[None])[0] for text, words in pairs]
        return RemovalExplanation(
            [text.pieces for text in tokens],
            [np.append(words, False)[text.features].tolist() for text, words in pairs],
            [list(map(feature_name, compress(text.keys, w))) for text, w in pairs],
            **self._answers(rows, texts, np.isin(status, ["found", "unchanged"])),
            status=status,
            optimal=[outcome.optimal for outcome in outcomes],
            reasons=reasons,
            data=rows.native,
            response_name=self._response_name,
            target_name=self._target_name,
        )

    def _answers(self, rows, texts, there):
        """The model's answers to texts and to their copies, as fields."""
        response, predict = self._wish.response, self.estimator_.predict
        copies = self._like.like(texts)
        before, after = response(rows.native), response(copies)
        after[~there] = np.nan
        single = before.shape[1] == 1
        answers = zip(np.asarray(predict(copies)).tolist(), there, strict=True)
        return {
            "texts": [
                text if is_there else None
                for text, is_there in zip(texts, there, strict=True)
            ],
            "answers": [answer if is_there else None for answer, is_there in answers],
            "original_answers": np.asarray(predict(rows.native)).tolist(),
            "predictions": after[:, 0] if single else after,
            "original_predictions": before[:, 0] if single else before,
            "output_names": response.output_names(before.shape[1]),
        }

    def _outcomes(self, rows, tokens):
        """What is found for each text, checked by asking the model again."""
        own = self._wish.answers(rows.native)
        own = np.zeros(rows.n_rows, dtype=int) if own is None else own
        open_ = np.flatnonzero(~self._wish.holds(rows.native, own))
        n_workers = effective_n_jobs(self.n_jobs)
        n_tasks = 1 if n_workers == 1 else _TASKS_PER_WORKER * n_workers
        tasks = [
            (self, [tokens[i] for i in open_[part]], own[open_[part]])
            for part in slices(len(open_), max(1, -(-len(open_) // n_tasks)))
        ]
        parts = run(_search, tasks, n_jobs=self.n_jobs, verbose=self.verbose)
        outcomes = [
            Outcome(np.zeros(len(text.keys), bool), "unchanged", "", True)
            for text in tokens
        ]
        for i, search in zip(open_, chain.from_iterable(parts), strict=True):
            outcomes[i] = self._outcome(search)
        found = [i for i in open_ if outcomes[i].status == "found"]
        if found:
            texts = [self._copies(tokens[i], outcomes[i].removed[None]) for i in found]
            holds = self._wish.holds(self._like.like([*chain(*texts)]), own[found])
            for i in compress(found, ~holds):
                none = outcomes[i].removed & False
                outcomes[i] = Outcome(none, "failed", _OTHERWISE, False)
        return outcomes

    def _outcome(self, search):
        """The outcome of a `RemovalSearch`."""
        if search.best is not None:
            return Outcome(search.best, "found", "", search.proved)
        none = np.zeros(search.n_words, dtype=bool)
        n_words = "no words" if not search.n_words else f"{search.n_words} words"
        if not search.proved:
            reason = (
                f"none of the sets of its {n_words} that were asked about is enough; "
                f"max_iter={self.max_iter}, max_removed={self.max_removed}"
            )
            return Outcome(none, "failed", reason, False)
        reason = f"the text has {n_words}, and no set of them is enough"
        if search.most < search.n_words:
            reason += f" that has at most max_removed={self.max_removed}"
        return Outcome(none, "impossible", reason, True)

    def _searches(self, tokens, own):
        """A `RemovalSearch` for each of some texts; all ask in one call per round."""
        at_once = batch_rows(
            max(copied_bytes("".join(t.pieces), t, self.mask_token) for t in tokens)
        )
        found = [None] * len(tokens)
        searches = list(map(self._start, tokens, own))
        replies = dict.fromkeys(range(len(tokens)))
        while replies:
            asked = {}
            for i, reply in replies.items():
                try:
                    asked[i] = searches[i].send(reply)
                except StopIteration as stop:
                    found[i] = stop.value
            replies = self._replies(asked, tokens, own, at_once)
        return found

    def _start(self, tokens, own):
        """The search for the words of one text."""
        n_words = len(tokens.keys)
        most = n_words if self.max_removed is None else self.max_removed
        hint = None
        if self._bag is not None and n_words:
            hint = self._bag.hint(tokens, own, min(most, n_words))
        sets, bound = ((), 1) if hint is None else hint
        return smallest_removal(n_words, most, self.max_iter, _MOST_SETS, sets, bound)

    def _replies(self, asked, tokens, own, at_once):
        """Margins of sets of words of some texts, and whether they are as wished."""
        copies = ((own[i], c) for i in asked for c in self._copies(tokens[i], asked[i]))
        replies = []
        while some := list(islice(copies, at_once)):
            owns, texts = zip(*some, strict=True)
            owns = np.array(owns)
            margins = self._wish.margins(self._like.like(list(texts)), owns)
            holds = margins >= 0
            if holds.any():
                near = self._like.like(list(compress(texts, holds)))
                holds[holds] = self._wish.holds(near, owns[holds])
            replies.append(np.array([margins, holds]))
        replies = np.concatenate(replies, axis=1) if replies else None
        ends = np.cumsum([len(sets) for sets in asked.values()])
        return {
            i: (
                replies[0, end - len(sets) : end],
                replies[1, end - len(sets) : end] > 0,
            )
            for (i, sets), end in zip(asked.items(), ends, strict=True)
        }

    def _copies(self, tokens, removed):
        """Copies of a text without some words, (n_copies, n_words)."""
        return tokens.copies(~removed, self.mask_token)


class Outcome(NamedTuple):
    """What is found for one text."""

    removed: np.ndarray
    status: str
    reason: str
    optimal: bool


def _search(inspector, tokens, own):
    return inspector._searches(tokens, own)
