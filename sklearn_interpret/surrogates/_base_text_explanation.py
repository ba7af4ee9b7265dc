"""Result of the surrogates of texts: what words weigh, and where they stand."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any, ClassVar

import numpy as np

from sklearn_interpret._choosing import output_position
from sklearn_interpret._model._sklearn_compat import safe_indexing
from sklearn_interpret.surrogates._base_explanation import LocalExplanation

# Of words that raise and lower the response, told apart by colour-blind readers.
UP_RGB, DOWN_RGB = (213, 94, 0), (0, 114, 178)
# Black letters stay readable on the strongest, and the weakest is still seen.
LEAST_ALPHA, MOST_ALPHA = 0.1, 0.7
# Of the largest weight: smaller ones are rounding.
_NEGLIGIBLE = 1e-9
# A glance: how much of an explanation a notebook shows by itself.
_SHOWN_TEXTS, _SHOWN_OUTPUTS, _SHOWN_PIECES = 3, 3, 600


@dataclass(frozen=True, eq=False, repr=False)
class TextExplanation(LocalExplanation):
    """Weights of the words of texts, and where these words stand.

    Features are the words of all explained texts, in the order in which they first
    come up; a text that does not have a word has a zero there.

    Parameters
    ----------
    values : array-like of shape (n_rows, n_features[, n_outputs])
        Weights of the surrogate: what a word adds to the response by being there; zero
        for words that were not selected.
    base_values : array-like of shape (n_rows[, n_outputs])
        Intercepts of the surrogate.
    predictions : array-like of shape (n_rows[, n_outputs]), default=None
        The model's responses to the texts.
    data : list, ndarray or Series of str, default=None
        The explained texts, in the container in which they were given.
    feature_names : sequence of str, default=None
        The words; None makes up ``x0``, ``x1``...
    output_names : sequence, default=None
        A class label or position for each output; None makes up positions.
    standard_errors : array-like of the shape of `values`, default=None
        Standard errors of the weights, for the choice of the samples.
    columns : None, default=None
        Texts have no columns.
    fidelity : array-like of shape (n_rows[, n_outputs]), default=None
        Weighted R^2 of the surrogate on the samples around each text.
    local_predictions : array-like of shape (n_rows[, n_outputs]), default=None
        What the surrogate predicts for the texts.
    selected : array-like of the shape of `values`, default=None
        Which words the surrogate uses; None takes those whose weight is not zero.
    scales : array-like of shape (n_features,), default=None
        None means one.
    conditions : None, default=None
        Weights speak of the words themselves.
    tokens : sequence of sequences of str
        For each text the pieces that it consists of: words, and what stands between
        them. One after the other they are the text.
    token_features : sequence of sequences of int
        For each piece the position of its feature; -1 for what stands between words.

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

    tokens: Any = field(kw_only=True)
    token_features: Any = field(kw_only=True)

    _arrays_by_row: ClassVar[tuple] = (
        *LocalExplanation._arrays_by_row,
        "tokens",
        "token_features",
    )

    def __post_init__(self):
        super().__post_init__()
        n_rows, n_features = self.values.shape[:2]
        for name, kind in (("tokens", str), ("token_features", int)):
            entries = [tuple(map(kind, row)) for row in getattr(self, name)]
            if len(entries) != n_rows:
                raise ValueError(
                    f"{name} has {len(entries)} texts, but values has {n_rows}."
                )
            array = np.empty(n_rows, dtype=object)
            for row, entry in enumerate(entries):
                array[row] = entry
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

    def _check_data(self):
        for name in ("columns", "conditions"):
            if getattr(self, name) is not None:
                raise ValueError(f"{name} must be None: texts have none.")
        if self.data is not None and len(self.data) != len(self):
            raise ValueError(
                f"data has {len(self.data)} texts, but values has {len(self)}."
            )

    def _data_rows(self, taken):
        return safe_indexing(self.data, taken)

    def _data_array(self):
        return None  # a word has no value beside that it is there

    def words(self, row: int, target: Any = None) -> list[tuple[str, float]]:
        """Words that the surrogate of a text uses, those of the largest weight first.

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
            Several outputs and no `target`.
        """
        output = output_position(self.output_names, target)
        weights, used = self._of_output(row, output)
        order = np.argsort(-np.abs(weights), kind="stable")
        return [(self.feature_names[j], float(weights[j])) for j in order if used[j]]

    def to_html(self, row: int = 0, target: Any = None) -> str:
        """Return a text with its words highlighted by their weights.

        Orange words raise the response, blue ones lower it; the weight of a word is
        shown when it is pointed at.

        Parameters
        ----------
        row : int, default=0
            Position of the text.
        target : class label or int, default=None
            The output; None shows all, one after the other.

        Returns
        -------
        str
            HTML, with everything in it escaped.
        """
        outputs = range(len(self.output_names))
        if target is not None:
            outputs = [output_position(self.output_names, target)]
        return self._html(range(len(self))[row], outputs)

    def _of_output(self, row, output):
        """Weights of a text's words, and which are used, for one output."""
        values, selected = self.values[row], self.selected[row]
        if values.ndim == 1:
            return values, selected
        return values[:, output], selected[:, output]

    def _numbers_of(self, row, output):
        """What is known of a text's surrogate, in words."""
        parts = []
        for name, label in (
            ("predictions", "response"),
            ("local_predictions", "surrogate"),
            ("fidelity", "fidelity (R²)"),
        ):
            array = getattr(self, name)
            if array is not None:
                parts.append(f"{label} {np.ravel(array[row])[output]:.3g}")
        return ", ".join(parts)

    def _html(self, row, outputs: Sequence[int], most=None):
        weights = [self._of_output(row, output)[0] for output in outputs]
        largest = max((np.abs(w).max(initial=0.0) for w in weights), default=0.0)
        blocks = []
        for output, own in zip(outputs, weights, strict=True):
            name = f", output {self.output_names[output]}"
            head = f"Text {row}{name}: {self._numbers_of(row, output)}"
            head = head.removesuffix(": ")
            blocks.append(
                f'<div style="color: #333; font-size: 0.9em">{escape(head)}</div>'
                '<div style="white-space: pre-wrap; overflow-wrap: anywhere; '
                'line-height: 1.6; margin: 0 0 0.8em 0">'
                f"{self._marked(row, own, largest, most)}</div>"
            )
        return (
            '<div style="background: white; color: black; padding: 0.4em">'
            f"{''.join(blocks)}</div>"
        )

    def _marked(self, row, weights, largest, most):
        """The text, with tags around its words of some weight."""
        pieces, features = self.tokens[row], self.token_features[row]
        shown = []
        for piece, feature in zip(pieces[:most], features[:most], strict=True):
            weight = weights[feature] if feature >= 0 else 0.0
            alpha = highlight(weight, largest)
            if not alpha:
                shown.append(escape(piece))
                continue
            red, green, blue = UP_RGB if weight > 0 else DOWN_RGB
            title = f"{self.feature_names[feature]}: {weight:+.3g}"
            shown.append(
                f'<span title="{escape(title)}" style="background: '
                f'rgba({red}, {green}, {blue}, {alpha:.2f}); border-radius: 0.2em">'
                f"{escape(piece)}</span>"
            )
        if most is not None and len(pieces) > most:
            shown.append(" …")
        return "".join(shown)

    def _repr_html_(self) -> str:
        """Return the first texts with their words highlighted."""
        n_rows, n_outputs = len(self), len(self.output_names)
        shown = range(min(n_rows, _SHOWN_TEXTS))
        outputs = range(min(n_outputs, _SHOWN_OUTPUTS))
        head = (
            f"{type(self).__name__}: {n_rows} texts, {self.values.shape[1]} words, "
            f"{n_outputs} outputs; orange raises the response, blue lowers it"
        )
        blocks = [self._html(row, outputs, _SHOWN_PIECES) for row in shown]
        return f"<div><div>{escape(head)}</div>{''.join(blocks)}</div>"


def highlight(weight, largest):
    """How opaque the colour behind a word is.

    Parameters
    ----------
    weight : float
        Of the word.
    largest : float
        Largest absolute weight that is shown beside it.

    Returns
    -------
    float
        Zero for a weight that is none, but for rounding.
    """
    if abs(weight) <= _NEGLIGIBLE * largest:
        return 0.0
    return LEAST_ALPHA + (MOST_ALPHA - LEAST_ALPHA) * min(1.0, abs(weight) / largest)
