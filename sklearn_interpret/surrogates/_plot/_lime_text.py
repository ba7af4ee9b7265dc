"""Display of a text with its words highlighted, and their weights as bars."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from sklearn_interpret._model.rows.texts import as_texts
from sklearn_interpret._plotting.axes import axes_inches, settle_layout, take_stacks
from sklearn_interpret._plotting.colours import DOWN_COLOUR, UP_COLOUR
from sklearn_interpret._plotting.labels import shorten
from sklearn_interpret._plotting.text_layout import Passage, write_plain_title
from sklearn_interpret.surrogates._lime_text import LimeText, TextExplanation, highlight
from sklearn_interpret.surrogates._plot._base import LocalDisplay, largest_weight

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from sklearn_interpret._plotting.axes import Style
    from sklearn_interpret.surrogates._plot._base import Weights

# Inches: width of a single text, and of one of several texts.
WIDTH = 7.0
NARROW_WIDTH = 4.8
N_COLUMNS = 3  # texts in a row
TITLE_LINES = 2  # the response, and how well the surrogate follows it
# Share of the width without text: margins, and the wider letters of a screen.
MARGIN = 0.09
# Inches: from bar to bar, and around the text and the bars in a figure of their own.
BAR_PITCH = 0.42
MARGIN_HEIGHT = 0.95


class LimeTextDisplay(LocalDisplay):
    """A text with its words highlighted, and the words' weights as bars below it.

    Build it with `from_estimator` or `from_explanation`. Orange words raise the
    response, blue ones lower it; the stronger the colour, the larger the weight. The
    title has the model's response and the local R² of the surrogate.

    Parameters
    ----------
    explanation : TextExplanation
        The explained text, or several of which `row` is drawn.
    row : int, default=None
        Position of the text to draw; None takes the only one.
    target : class label or int, default=None
        The output to draw; None draws all, side by side, or of more than six the
        three of the largest responses.
    response_name : str, default=None
        Response that the weights add to; None says "response".

    Attributes
    ----------
    figure_ : matplotlib Figure
        The figure drawn on.
    axes_ : ndarray of Axes of shape (2, n_outputs)
        Those of the texts, and below them those of the bars.
    texts_ : list of list of Annotation
        For each output the parts of the text.
    bars_ : list of BarContainer
        For each output the bars, from the top.
    errors_ : list of LineCollection or None
        Two standard errors to each side of the bars' ends, where there are some.

    See Also
    --------
    LimeText : Explains texts.
    TextExplanation.to_html : The same as HTML.

    Notes
    -----
    Letters that neither matplotlib's font nor another one that is installed has are
    drawn as boxes. Name a font in matplotlib's setting "font.family" for more.

    Examples
    --------
    >>> from sklearn_interpret.surrogates import LimeTextDisplay, TextExplanation
    >>> explanation = TextExplanation(
    ...     values=[[0.5, 0.0, -0.25]],
    ...     base_values=[0.3],
    ...     feature_names=["free", "of", "charge"],
    ...     tokens=[["free", " ", "of", " ", "charge", "!"]],
    ...     token_features=[[0, -1, 1, -1, 2, -1]],
    ... )
    >>> display = LimeTextDisplay.from_explanation(explanation)
    >>> display.to_frame()[["word", "weight"]]
         word  weight
    0    free    0.50
    1  charge   -0.25
    """

    _kinds, _explanation_kind = (LimeText,), TextExplanation
    _sample = "text"

    @classmethod
    def _as_rows(cls, X: Any) -> Any:
        return as_texts(X)

    def plot(
        self,
        ax: Any = None,
        *,
        max_entries: int | None = 12,
        max_lines: int = 14,
        bar_kw: dict[str, Any] | None = None,
    ) -> Self:
        """Draw the text and the weights of its words.

        Parameters
        ----------
        ax : matplotlib Axes or array of Axes, default=None
            None makes a figure. A single axes is divided up; an array has the axes of
            the texts, one for each output, and behind these those of the bars.
        max_entries : int, default=12
            Largest number of words that have a bar; None shows all that are selected.
        max_lines : int, default=14
            Largest number of lines of the text; a longer one ends in an ellipsis.
        bar_kw : dict, default=None
            Style of the bars.

        Returns
        -------
        self : LimeTextDisplay
            The display.

        Raises
        ------
        ValueError
            Several texts and no `row`; an unknown `target`.
        """
        row, outputs = self._position(), self._outputs()
        words = [self._weights(row, output) for output in outputs]
        plain = Passage((piece, None) for piece in self.explanation.tokens[row])
        n_bars = max(len(output_words[:max_entries]) for output_words in words)
        width = WIDTH if len(outputs) == 1 else NARROW_WIDTH
        self.axes_ = take_stacks(
            ax,
            _text_and_bar_heights(ax, plain, width, len(outputs), n_bars, max_lines),
            n_stacks=len(outputs),
            width=width,
            around=MARGIN_HEIGHT,
            n_columns=N_COLUMNS,
            caller=f"{type(self).__name__}.plot",
        )
        self.figure_ = self.axes_[0, 0].figure
        bar_kwargs: Style = {"kind": "words", "max_entries": max_entries}
        bar_kwargs |= {"names": plain.replace_undrawable, "fonts": plain.families}
        self._draw_bars(self.axes_[1], outputs, words, bar_kw, **bar_kwargs)
        for upper, output in zip(self.axes_[0], outputs, strict=True):
            write_plain_title(upper, self._title(row, output))
        settle_layout(self.figure_)
        largest = largest_weight(words)

        def colour_of(mark: tuple[float, int]) -> tuple[str, float]:
            weight, _ = mark
            return UP_COLOUR if weight > 0 else DOWN_COLOUR, highlight(weight, largest)

        self.texts_ = [
            Passage(self._mark_pieces(row, output_words, largest)).draw(
                upper, colour_of, max_lines
            )[0]
            for upper, output_words in zip(self.axes_[0], words, strict=True)
        ]
        return self

    def _label(self, output: int) -> str:
        """Label of the axis along which the bars are drawn."""
        return f"{shorten(self._response(output), 48)} (what a word adds)"

    def _mark_pieces(
        self, row: int, words: Weights, largest: float
    ) -> Iterator[tuple[str, tuple[float, int] | None]]:
        """Yield pieces of the text with marks: the weight drawn, and the position."""
        weights = dict(zip(words.features.tolist(), words.weights, strict=True))
        tokens, features = self.explanation.tokens, self.explanation.token_features
        pairs = zip(tokens[row], features[row], strict=True)
        for position, (piece, feature) in enumerate(pairs):
            weight = weights.get(feature, 0.0)
            yield piece, (weight, position) if highlight(weight, largest) else None

    def to_frame(self) -> Any:
        """Weights of the words that are selected, as a table.

        Returns
        -------
        pandas.DataFrame
            A row for each word and output, the largest weights of an output first:
            columns "output", "word", "weight", "standard_error" (NaN where there is
            none) and "n_occurrences".

        Raises
        ------
        ImportError
            pandas is not installed.
        """
        return self._weights_frame(self._columns)

    def _columns(self, row: int, words: Weights) -> dict[str, NDArray[Any]]:
        features = np.array(self.explanation.token_features[row], dtype=np.intp)
        n_words = len(self.explanation.feature_names)
        n_occurrences = np.bincount(features[features >= 0], minlength=n_words)
        return {
            "word": words.names,
            "weight": words.weights,
            "standard_error": words.errors,
            "n_occurrences": n_occurrences[words.features],
        }


def _text_and_bar_heights(
    ax: Axes,
    passage: Passage,
    width: float,
    n_outputs: int,
    n_bars: int,
    max_lines: int,
) -> tuple[float, float]:
    """Heights of a text and of its bars, in inches."""
    height = None
    if hasattr(ax, "get_subplotspec"):  # one axes, which is divided up
        width, height = axes_inches(ax)
        width /= min(n_outputs, N_COLUMNS)
    text_height = passage.height((1 - MARGIN) * width, TITLE_LINES, max_lines)
    if height is None:
        return text_height, max(0.6, BAR_PITCH * n_bars)
    height /= -(-n_outputs // N_COLUMNS)
    text_height = min(text_height, 0.5 * height)
    return text_height, height - text_height
