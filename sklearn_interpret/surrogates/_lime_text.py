"""Linear surrogates around texts: what a prediction loses without some of its words."""

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from sklearn_interpret._core.local.masks import sized_masks
from sklearn_interpret._core.local.tokens import Splitter, name_of
from sklearn_interpret._model.parallel import batch_rows
from sklearn_interpret._model.rows.samples import TextRows, as_texts
from sklearn_interpret.surrogates._base import BaseLocalSurrogate
from sklearn_interpret.surrogates._base_fitting import arrays_of, by_output
from sklearn_interpret.surrogates._base_masked import MaskedSurroundings
from sklearn_interpret.surrogates._base_text_explanation import TextExplanation

# Of a pointer to a piece, while copies are joined, and of a letter.
_POINTER_BYTES, _LETTER_BYTES = 8, 2


class LimeText(BaseLocalSurrogate):
    r"""Linear surrogates of a model of texts, one around each text (LIME).

    The model is asked about copies of a text in which some of its words are left out.
    A weighted linear regression of its answers on which words stayed says what each
    word adds. Copies that are nearer to the text weigh more; one that keeps the share s
    of the words has the weight

    .. math:: \pi = \exp\left(-\frac{(1 - \sqrt{s})^2}{2 \sigma^2}\right).

    Parameters
    ----------
    estimator : estimator
        Any predictor of texts, such as a pipeline that begins with a vectorizer; a
        clone of it is fitted. Pass a fitted one as ``FrozenEstimator(model)``.
    n_features_to_select : int or None, default=10
        How many words a surrogate uses; None means all.
    n_samples : int, default=1000
        How many copies of a text the model is asked about, the text itself among them.
        Where there are no more sets of its words than this, each is taken once, and
        nothing is left to chance.
    tokenizer : callable, default=None
        ``tokenizer(text)``: the words of a text as a list of str, as they stand in it
        and in their order. What stands between them stays where it is. None splits by
        `split_expression`.
    split_expression : str, default=r"\W+"
        Regular expression of what stands between words. ``""`` makes each letter a
        word.
    bow : bool, default=True
        Whether a word is one feature wherever it stands, as in a bag of words. False
        makes each of its places a feature of its own, for models that look at the
        order of words.
    mask_token : str, default=None
        What stands in place of a word that is left out; None leaves nothing there, but
        what stood around it.
    kernel_width : float or None, default=None
        Width of the kernel that weighs samples by their distance; None means 0.25,
        in cosine distance.
    feature_selection : {"lars", "forward", "highest_weights", "none"}, default="lars"
        How features are selected: those that least angle regression takes first, those
        that explain most of what is left, one after the other, those of the largest
        weights in a regression on all, or none are.
    surrogate : estimator or None, default=None
        What is fitted to the selected features: a regressor that takes sample weights
        and has ``coef_`` or ``feature_importances_``. None means least squares.
    min_fidelity : float or None, default=0.2
        Warn where a surrogate's local R^2 is lower.
    response_method : str, list of str or callable, default="auto"
        "auto" asks regressors for `predict` and classifiers for `predict_proba`, else
        `decision_function`. A method's name, several of which the first that exists is
        taken, "centered_log_proba", or a callable ``f(estimator, X)``.
    target : class label or int, default=None
        Output to keep. None keeps the only one, the positive class of a binary
        classifier, or all.
    random_state : int, RandomState or None, default=None
        Draws the samples, once in `fit`.
    n_jobs : int or None, default=None
        Workers, which share the rows to explain.
    verbose : int, default=0
        Verbosity of the loop.

    Attributes
    ----------
    estimator_ : estimator
        The fitted model.
    response_method_ : str or callable
        What is explained.
    output_names_ : list
        Class labels, or positions of outputs.
    stability_ : float
        Mean similarity of the strongest words of a text between draws of the samples,
        over some of the texts of `fit`. Computed when first asked for.
    classes_ : ndarray
        Class labels of a classifier.

    Raises
    ------
    TypeError
        `X` is a single text, no container of texts, or has entries that are no str.
    ValueError
        In `fit`: no texts, a `split_expression` that is no regular expression, a fitted
        model passed bare without `y`.

    Warns
    -----
    LowFidelityWarning
        In `explain`: a surrogate follows the model less well than `min_fidelity`.

    See Also
    --------
    LimeTextDisplay : Draws the words and their weights.

    Notes
    -----
    In `fit`, `explain` and `stability_score`, `X` is a list, a one-dimensional array or
    a pandas or polars Series of str. The model is asked with texts in the container of
    `fit`. There is no `n_features_in_`.

    The number of words that stay is uniform between none and all, and sets of words of
    a size are equally likely; they are Sobol points, which cover the sets more evenly
    than independent draws. Texts of as many words share their sets, so that a text has
    the same explanation whatever is explained with it. A text of w different words is
    asked about in min(`n_samples`, 2^w) copies.

    Words are told apart as they are written: "Free" and "free" are two, and a model
    that takes them for one sees each left out on its own. What stands between words
    always stays, also punctuation that the model may count.

    In ``explain(X)``, features are the words of all texts in X together; a text's
    values are zero for words that it does not have. With ``bow=False``, the second
    place of a word in a text is called ``"word (2)"``. Many long texts are better
    explained a few hundred at a time, since these tables have a column for each word.

    References
    ----------
    Ribeiro, M. T., Singh, S. & Guestrin, C. (2016). "Why should I trust you?":
    Explaining the predictions of any classifier. Proceedings of the 22nd ACM SIGKDD
    International Conference on Knowledge Discovery and Data Mining.
    https://doi.org/10.1145/2939672.2939778

    Examples
    --------
    >>> from sklearn.feature_extraction.text import CountVectorizer
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn_interpret.surrogates import LimeText
    >>> texts = ["win a free phone", "free free money", "nice song", "a song for you"]
    >>> labels = ["spam", "spam", "fine", "fine"]
    >>> model = make_pipeline(CountVectorizer(), LogisticRegression())
    >>> inspector = LimeText(model, target="spam", random_state=0).fit(texts, labels)
    >>> explanation = inspector.explain(["a free song"])
    >>> [word for word, weight in explanation.words(0)]
    ['free', 'song', 'a']
    >>> bool(explanation.fidelity[0] > 0.95)
    True
    >>> inspector.stability_  # all sets of few words were asked about
    1.0
    """

    _parameter_constraints = {
        **BaseLocalSurrogate._parameter_constraints,
        "tokenizer": [callable, None],
        "split_expression": [str],
        "bow": ["boolean"],
        "mask_token": [str, None],
    }

    def __init__(
        self,
        estimator: Any,
        *,
        n_features_to_select: int | None = 10,
        n_samples: int = 1000,
        tokenizer: Callable[[str], Sequence[str]] | None = None,
        split_expression: str = r"\W+",
        bow: bool = True,
        mask_token: str | None = None,
        kernel_width: float | None = None,
        feature_selection: str = "lars",
        surrogate: Any = None,
        min_fidelity: float | None = 0.2,
        response_method: str | Sequence[str] | Callable[..., Any] = "auto",
        target: Any = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            estimator,
            n_features_to_select=n_features_to_select,
            n_samples=n_samples,
            kernel_width=kernel_width,
            feature_selection=feature_selection,
            surrogate=surrogate,
            min_fidelity=min_fidelity,
            response_method=response_method,
            target=target,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        self.tokenizer = tokenizer
        self.split_expression = split_expression
        self.bow = bow
        self.mask_token = mask_token

    def _check_rows(self, X, *, reset):
        rows = as_texts(X)
        if reset:
            self._check_expression()
            self._like = rows.take([0])
        elif type(rows.native) is not type(self._like.native):
            rows = TextRows(self._like.like(list(rows.native)))
        return rows

    def _check_expression(self):
        try:
            re.compile(self.split_expression)
        except re.error as error:
            raise ValueError(
                f"split_expression={self.split_expression!r} is no regular expression: "
                f"{error}."
            ) from error

    def _prepare(self, sample):
        self._split = Splitter(self.split_expression, self.tokenizer, self.bow)

    def _surroundings(self, seed):
        return _LeftOut(
            self._response,
            self._split,
            self._like,
            self.mask_token,
            self.n_samples,
            self.kernel_width,
            seed,
        )

    def _describe(self, rows, fits, **fields):
        texts = [self._split(text) for text in rows.native]
        numbers = {}
        places = [
            np.array([numbers.setdefault(key, len(numbers)) for key in text.keys], int)
            for text in texts
        ]
        return TextExplanation(
            **by_output(arrays_of(fits, places, len(numbers))),
            data=rows.native,
            feature_names=list(map(name_of, numbers)),
            tokens=[text.pieces for text in texts],
            token_features=[
                np.append(place, -1)[text.features]
                for text, place in zip(texts, places, strict=True)
            ],
            **fields,
        )

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        return tags


class _LeftOut(MaskedSurroundings):
    """Copies of texts with words left out.

    Parameters
    ----------
    response : Response
        The model.
    split : Splitter
        Takes texts apart.
    like : TextRows
        Texts in the container that the model knows.
    mask_token : str or None
        Stands in place of a word.
    n_samples : int
        How many copies.
    kernel_width : float or None
        Of the kernel.
    seed : list of int
        Of the draws.
    """

    def __init__(
        self, response, split, like, mask_token, n_samples, kernel_width, seed
    ):
        super().__init__(response, sized_masks, n_samples, kernel_width, seed)
        self.split = split
        self.like = like
        self.mask_token = mask_token

    def _apart(self, sample):
        tokens = self.split(sample)
        masked = len(tokens.features) * len(self.mask_token or "")
        size = _LETTER_BYTES * (len(sample) + masked)
        size += _POINTER_BYTES * len(tokens.features)

        def together(kept):
            return self.like.like(tokens.copies(kept, self.mask_token))

        return len(tokens.keys), together, batch_rows(size)
