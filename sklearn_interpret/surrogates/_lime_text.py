"""LIME for texts (Ribeiro, Singh & Guestrin 2016)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from html import escape
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sklearn_interpret._core.local.masks import sized_masks
from sklearn_interpret._core.local.tokens import feature_name
from sklearn_interpret._inspectors.params import estimator_dataclass
from sklearn_interpret._inspectors.texts import TextInputMixin, copied_bytes
from sklearn_interpret._model.parallel import batch_rows
from sklearn_interpret._model.rows.number_format import entry_text
from sklearn_interpret._model.rows.tables import as_objects
from sklearn_interpret.explanations._selection import output_position
from sklearn_interpret.surrogates._base import (
    BaseLocalSurrogate,
    MaskedSample,
    MaskSampler,
)
from sklearn_interpret.surrogates._local_explanation import (
    LocalExplanation,
    r_squared_text,
)
from sklearn_interpret.surrogates._local_fits import drop_output_axis, fields_of

if TYPE_CHECKING:
    from sklearn_interpret._core.local.tokens import Key, Splitter
    from sklearn_interpret._model.rows.sample import Sample
    from sklearn_interpret._model.rows.texts import TextRows
    from sklearn_interpret.surrogates._base import Sampler
    from sklearn_interpret.surrogates._local_fits import LocalFit

# Colours of words that raise and lower the response, from Okabe and Ito's palette,
# which is safe for the colour-blind.
UP_RGB, DOWN_RGB = (213, 94, 0), (0, 114, 178)
# Opacity of the weakest and the strongest words: visible, and black letters readable.
LEAST_ALPHA, MOST_ALPHA = 0.1, 0.7
# Weights below this, relative to the largest, are rounding errors.
_NEGLIGIBLE = 1e-9
# Most texts, outputs and pieces of a text in the HTML repr, which is to fit a screen.
_N_HTML_TEXTS = 3
_N_HTML_OUTPUTS = 3
_N_HTML_PIECES = 600


@dataclass(frozen=True, eq=False, repr=False)
class TextExplanation(LocalExplanation):
    """Weights of the words of texts, with the positions of words.

    Features are the words of all explained texts, in order of first occurrence; the
    weight of a word that a text lacks is zero.

    Parameters
    ----------
    values : array-like of shape (n_rows, n_features[, n_outputs])
        Weights of the surrogate: effects of the presence of a word on the response;
        zero for words that were not selected.
    base_values : array-like of shape (n_rows[, n_outputs])
        Intercepts of the surrogate.
    predictions, data, feature_names, output_names : array-like, default=None
        As in :class:`LocalExplanation`, of texts and their words.
    response_name, target_name : str, default=None
        As in :class:`~sklearn_interpret.explanations.Explanation`.
    standard_errors : array-like of the shape of `values`, default=None
        Sampling standard errors of the weights.
    columns : None, default=None
        Texts have no columns.
    approximation : str, default=None
        As in :class:`~sklearn_interpret.explanations.Explanation`.
    value_name : str, default="weight"
        As in :class:`~sklearn_interpret.explanations.Explanation`.
    groups : dict, default=None
        As in :class:`~sklearn_interpret.explanations.Explanation`.
    partial : bool, default=False
        As in :class:`~sklearn_interpret.explanations.Explanation`.
    fidelity, local_predictions, selected, scales : array-like, default=None
        As in :class:`LocalExplanation`.
    conditions : None, default=None
        Not used.
    tokens : sequence of sequences of str
        Pieces of each text, which concatenate to it: words, and separators between
        them.
    token_features : sequence of sequences of int
        Position of each piece's feature; -1 for separators.

    Raises
    ------
    ValueError
        Parts that do not fit each other, or that are not numbers.

    Examples
    --------
    >>> from sklearn_interpret.surrogates import TextExplanation
    >>> explanation = TextExplanation(
    ...     values=[[0.5, 0.0, -0.25]],
    ...     base_values=[0.3],
    ...     feature_names=["free", "of", "charge"],
    ...     tokens=[["free", " ", "of", " ", "charge", "!"]],
    ...     token_features=[[0, -1, 1, -1, 2, -1]],
    ... )
    >>> explanation.words(0)
    [('free', 0.5), ('charge', -0.25)]
    """

    tokens: NDArray[np.object_] = field(kw_only=True)
    token_features: NDArray[np.object_] = field(kw_only=True)

    _arrays_by_row: ClassVar[tuple[str, ...]] = (
        *LocalExplanation._arrays_by_row,
        "tokens",
        "token_features",
    )
    _features_are_columns: ClassVar[bool] = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.conditions is not None:
            raise ValueError("conditions must be None: texts have none.")
        n_rows, n_features = self.values.shape[:2]
        for name, kind in (("tokens", str), ("token_features", int)):
            entries = [tuple(map(kind, row)) for row in getattr(self, name)]
            if len(entries) != n_rows:
                raise ValueError(
                    f"{name} has {len(entries)} texts, but values has {n_rows}."
                )
            array = np.empty(n_rows, dtype=object)
            array[:] = entries
            self._set(name, array)
        pairs = zip(self.tokens, self.token_features, strict=True)
        for row, (pieces, features) in enumerate(pairs):
            if len(pieces) != len(features):
                raise ValueError(
                    f"tokens has {len(pieces)} pieces of text {row}, but "
                    f"token_features has {len(features)}."
                )
            if features and not -1 <= min(features) <= max(features) < n_features:
                raise ValueError(
                    f"token_features of text {row} point beyond the {n_features} "
                    "features."
                )

    def words(self, row: int, target: Any = None) -> list[tuple[str, float]]:
        """Return the words of a text's surrogate, the largest weights first.

        Parameters
        ----------
        row : int
            Position of the text.
        target : class label or int, default=None
            The output; None takes the only one.

        Returns
        -------
        list of (str, float)
            Words and their weights.

        Raises
        ------
        ValueError
            If there are several outputs and no `target`.
        """
        weights, used = self._output_weights(
            row, output_position(self.output_names, target)
        )
        order = np.argsort(-np.abs(weights), kind="stable")
        return [(self.feature_names[j], float(weights[j])) for j in order if used[j]]

    def to_html(self, row: int = 0, target: Any = None) -> str:
        """Return a text with its words highlighted by their weights.

        Orange words raise the response, blue ones lower it; a tooltip shows the weight
        of a word.

        Parameters
        ----------
        row : int, default=0
            Position of the text.
        target : class label or int, default=None
            The output; None shows all, one after the other.

        Returns
        -------
        str
            HTML; the text is escaped.
        """
        outputs: Sequence[int] = range(len(self.output_names))
        if target is not None:
            outputs = [output_position(self.output_names, target)]
        return self._text_html(range(len(self))[row], outputs)

    def _output_weights(
        self, row: int, output: int
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Weights of a text's words, and a mask of the words in use, for one output."""
        values, selected = self.values[row], self.selected[row]
        if values.ndim == 1:
            return values, selected
        return values[:, output], selected[:, output]

    def _fit_text(self, row: int, output: int) -> str:
        """Text of the response, the surrogate's prediction and the fidelity."""
        texts = {
            "predictions": lambda number: f"response {entry_text(number)}",
            "local_predictions": lambda number: f"surrogate {entry_text(number)}",
            "fidelity": r_squared_text,
        }
        values = {name: getattr(self, name) for name in texts}
        return ", ".join(
            texts[name](np.ravel(array[row])[output])
            for name, array in values.items()
            if array is not None
        )

    def _text_html(
        self, row: int, outputs: Sequence[int], max_pieces: int | None = None
    ) -> str:
        """HTML of the first pieces of a text, with highlights for each output."""
        weights = [self._output_weights(row, output)[0] for output in outputs]
        largest = max((np.abs(w).max(initial=0.0) for w in weights), default=0.0)
        blocks = []
        for output, word_weights in zip(outputs, weights, strict=True):
            head = f"Text {row}, output {self.output_names[output]}"
            head = ": ".join(filter(None, [head, self._fit_text(row, output)]))
            blocks.append(
                f'<div style="color: #333; font-size: 0.9em">{escape(head)}</div>'
                '<div style="white-space: pre-wrap; overflow-wrap: anywhere; '
                'line-height: 1.6; margin: 0 0 0.8em 0">'
                f"{self._highlight_html(row, word_weights, largest, max_pieces)}</div>"
            )
        style = "background: white; color: black; padding: 0.4em"
        html = f'<div style="{style}">{"".join(blocks)}</div>'
        # Lone surrogates cannot be written to a file or a notebook.
        return html.encode("utf-8", "xmlcharrefreplace").decode("utf-8")

    def _highlight_html(
        self, row: int, weights: NDArray[Any], largest: float, max_pieces: int | None
    ) -> str:
        """HTML of a text, with its weighted words in tags."""
        pieces, features = self.tokens[row], self.token_features[row]
        tags = []
        for piece, feature in zip(
            pieces[:max_pieces], features[:max_pieces], strict=True
        ):
            weight = weights[feature] if feature >= 0 else 0.0
            alpha = highlight(weight, largest)
            if not alpha:
                tags.append(escape(piece))
                continue
            red, green, blue = UP_RGB if weight > 0 else DOWN_RGB
            title = f"{self.feature_names[feature]}: {entry_text(weight, signed=True)}"
            tags.append(
                f'<span title="{escape(title)}" style="background: '
                f'rgba({red}, {green}, {blue}, {alpha:.2f}); border-radius: 0.2em">'
                f"{escape(piece)}</span>"
            )
        if max_pieces is not None and len(pieces) > max_pieces:
            tags.append(" …")
        return "".join(tags)

    def _repr_html_(self) -> str:
        """Return the first texts with their words highlighted."""
        n_rows, n_outputs = len(self), len(self.output_names)
        texts = range(min(n_rows, _N_HTML_TEXTS))
        outputs = range(min(n_outputs, _N_HTML_OUTPUTS))
        head = (
            f"{type(self).__name__}: {n_rows} texts, {self.values.shape[1]} words, "
            f"{n_outputs} outputs; orange raises the response, blue lowers it"
        )
        blocks = [self._text_html(row, outputs, _N_HTML_PIECES) for row in texts]
        return f"<div><div>{escape(head)}</div>{''.join(blocks)}</div>"


def highlight(weight: float, largest: float) -> float:
    """Opacity of the colour behind a word; zero if its weight is rounding error.

    Parameters
    ----------
    weight : float
        Weight of the word.
    largest : float
        Largest absolute weight in the figure.
    """
    if abs(weight) <= _NEGLIGIBLE * largest:
        return 0.0
    return LEAST_ALPHA + (MOST_ALPHA - LEAST_ALPHA) * min(1.0, abs(weight) / largest)


@estimator_dataclass
class LimeText(TextInputMixin, BaseLocalSurrogate[TextExplanation]):
    r"""Linear surrogates of a model of texts, one around each text (LIME).

    The model predicts copies of a text without some of its words. A linear regression
    of the responses on the remaining words estimates the effect of each word.
    A copy that keeps the share s of the words has the weight

    .. math:: \pi = \exp\left(-\frac{(1 - \sqrt{s})^2}{2 \sigma^2}\right).

    Parameters
    ----------
    estimator : estimator
        Any predictor of texts, such as a pipeline that begins with a vectorizer; a
        clone of it is fitted. Pass a fitted one as ``FrozenEstimator(model)``.
    n_features_to_select : int or None, default=10
        Number of words that a surrogate uses; None means all.
    n_samples : int, default=1000
        Number of copies of a text that the model predicts. If there are at most this
        many sets of its words, all are taken, and nothing is random.
    tokenizer : callable, default=None
        ``tokenizer(text)`` returns the words of a text as a list of str, unchanged and
        in order. Separators between them are kept. None splits by `split_expression`.
    split_expression : str, default=r"\W+"
        Regular expression of separators between words; ``""`` splits into letters.
    bow : bool, default=True
        Whether all occurrences of a word are one feature, as in a bag of words. False
        makes each occurrence a feature, for models that use the order of words.
    mask_token : str, default=None
        Replacement of words that are left out; None removes them.
    kernel_width : float or None, default=None
        Width sigma of the kernel of copies, in cosine distance; None means 0.25.
    feature_selection : {"lars", "forward", "highest_weights", "none"}, default="lars"
        Selection of words: by least angle regression, by forward selection, by their
        weights in a regression on all words, or none.
    surrogate : estimator or None, default=None
        Estimator that is fitted to the selected words: a regressor that takes sample
        weights and has ``coef_`` or ``feature_importances_``. None means least squares.
    min_fidelity : float or None, default=0.2
        Local R² below which a warning is raised.
    max_rows : int, default=None
        Largest number of rows that a call sends to the model; an error before says what
        is possible. None is no limit.
    response_method : str, list of str or callable, default="auto"
        "auto" takes `predict` of regressors, and of classifiers `predict_proba` or else
        `decision_function`. Or names of methods, of which the first that exists is
        taken, "centered_log_proba", or a callable ``f(estimator, X)``.
    target : class label, int or dict, default=None
        Output to keep, or a contrast {output: weight}. None keeps the only one, the
        positive class of a binary classifier, or all.
    random_state : int, RandomState or None, default=None
        Seed of the samples, which are drawn once in `fit`.
    n_jobs : int or None, default=None
        Number of workers, among which the rows to explain are split.
    verbose : int or None, default=None
        1 prints the share done and the time left, 0 nothing. None writes one line to
        the standard error of calls that will take more than five seconds.

    Attributes
    ----------
    estimator_ : estimator
        The fitted model.
    response_method_, output_names_ : str or callable, list
        The explained response; class labels, or positions of outputs.
    stability_ : float
        Mean Jaccard similarity of the five strongest words between draws of the
        samples, over some of the texts of `fit`. Computed on first access.
    classes_ : ndarray
        Class labels of a classifier.

    Raises
    ------
    TypeError
        If `X` is a single text, not a container of texts, or has entries that are not
        str.
    ValueError
        In `fit`: if there are no texts, or `split_expression` is not a regular
        expression.

    See Also
    --------
    LimeTextDisplay : Draws the words and their weights.

    Notes
    -----
    In `fit`, `explain` and `stability_score`, `X` is a list, a one-dimensional array or
    a pandas or polars Series of str. The model gets texts in the container of
    `fit`. There is no `n_features_in_`. Words count as equal if the analyzer of the
    model's vectorizer makes them equal, for instance by case; for other models, if they
    are identical.

    The number of words that are kept is uniform between none and all, and sets of one
    size are equally likely. They are Sobol points, which cover the sets more evenly
    than independent draws, are drawn in `fit`, and are the same for texts with equal
    numbers of words. A text of w different words has min(`n_samples`, 2^w) copies.

    Separators between words are always kept, even punctuation that the model may count.

    The features of ``explain(X)`` are the words of all texts in X together: explain
    many long texts a few hundred at a time. With ``bow=False``, the second occurrence
    of a word in a text is called ``"word (2)"``.

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
    >>> inspector.stability_  # all sets of few words are taken
    1.0
    """

    n_features_to_select: int | None = 10
    n_samples: int = 1000
    tokenizer: Callable[[str], Sequence[str]] | None = None
    split_expression: str = r"\W+"
    bow: bool = True
    mask_token: str | None = None
    kernel_width: float | None = None
    feature_selection: str = "lars"
    surrogate: Any = None

    _parameter_constraints = {
        **BaseLocalSurrogate._parameter_constraints,
        **TextInputMixin._text_constraints,
    }

    def _fit_samplers(self, sample: Sample) -> None:
        self._split = self._make_splitter()

    def _make_sampler(self, seed: list[int]) -> Sampler:
        split = partial(
            _masked_text, split=self._split, like=self._like, mask_token=self.mask_token
        )
        return MaskSampler(
            self._response, split, sized_masks, self.n_samples, self.kernel_width, seed
        )

    def _explanation(
        self, rows: TextRows, fits: list[LocalFit], **fields: Any
    ) -> TextExplanation:
        texts = [self._split(text) for text in rows]
        feature_of_word: dict[Key, int] = {}  # of the words of all texts
        positions = []
        for text in texts:
            features = [
                feature_of_word.setdefault(word, len(feature_of_word))
                for word in text.keys
            ]
            positions.append(np.array(features, dtype=np.intp))
        return TextExplanation(
            **drop_output_axis(fields_of(fits, positions, len(feature_of_word))),
            **fields,
            feature_names=list(map(feature_name, feature_of_word)),
            tokens=as_objects([text.pieces for text in texts]),
            token_features=as_objects(
                [
                    # Pieces between words, which have feature -1, take the last entry.
                    np.append(columns, -1)[text.features].tolist()
                    for text, columns in zip(texts, positions, strict=True)
                ]
            ),
        )


def _masked_text(
    text: str, split: Splitter, like: TextRows, mask_token: str | None
) -> MaskedSample:
    """A text whose words can be left out, for `MaskSampler`."""
    tokens = split(text)
    batch_size = batch_rows(copied_bytes(text, tokens, mask_token))

    def make_copies(present: NDArray[np.bool_]) -> Any:
        return like.with_texts(tokens.copies(present, mask_token))

    return MaskedSample(len(tokens.keys), make_copies, batch_size)
