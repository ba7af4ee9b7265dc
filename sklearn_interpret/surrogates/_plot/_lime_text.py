"""Display of a text with its words highlighted, and their weights as bars."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np

from sklearn_interpret._model.rows.samples import as_texts
from sklearn_interpret._plotting.axes import axes_inches, is_constrained, take_stacks
from sklearn_interpret._plotting.bars import check_count
from sklearn_interpret._plotting.colours import DOWN_COLOUR, UP_COLOUR
from sklearn_interpret._plotting.labels import literal, shorten
from sklearn_interpret._plotting.points import POINTS_PER_INCH
from sklearn_interpret._plotting.text_layout import (
    LINE_HEIGHT,
    Measure,
    draw_passage,
    drawable,
    families_for,
    wrapped_passage,
)
from sklearn_interpret.surrogates._lime_text import (
    LimeText,
    TextExplanation,
    highlight,
)
from sklearn_interpret.surrogates._plot._base import LocalDisplay, draw_weights

LETTER_SIZE, TITLE_SIZE = 10.5, 11.0
TITLE_HEIGHT = 3.0 * TITLE_SIZE
WIDTH, NARROW_WIDTH, N_COLUMNS = 7.0, 4.8, 3
# Share of the width that is not for the text: margins, and what a screen adds.
MARGIN = 0.09
# Inches: from bar to bar, and what stands around them in an own figure.
BAR_PITCH, AROUND = 0.3, 0.95
# Inches that the layout of an own figure leaves beside the text.
PADDING = 0.1


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
        What the weights add to; None says "response".

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
    def _as_rows(cls, X):
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
        check_count(max_entries, "max_entries")
        check_count(max_lines, "max_lines")
        row, outputs = self._position(), self._outputs()
        words = [self._weights(row, output) for output in outputs]
        self._families, self._missing = families_for("".join(self._pieces(row)))
        heights = self._heights(ax, row, words, max_entries, max_lines)
        self.axes_ = take_stacks(
            ax,
            heights,
            n_stacks=len(outputs),
            width=_width(len(outputs)),
            around=AROUND,
            n_columns=N_COLUMNS,
            caller=f"{type(self).__name__}.plot",
        )
        self.figure_ = self.axes_[0, 0].figure
        reach = max(one.reach for one in words)
        largest = max(one.largest for one in words)
        drawn = [
            draw_weights(
                below,
                self._drawn(one.rounded(largest)),
                reach=reach,
                most=max_entries,
                label=f"{shorten(self._response(output), 48)} (what a word adds)",
                what="words",
                note=self._note(output),
                families=self._families,
                style=bar_kw,
            )
            for below, one, output in zip(self.axes_[1], words, outputs, strict=True)
        ]
        self.bars_, self.errors_ = map(list, zip(*drawn, strict=True))
        sizes = [(_width(len(outputs)) - PADDING, heights[0])] * len(outputs)
        if ax is not None:
            if is_constrained(self.figure_):
                self.figure_.figure.draw_without_rendering()  # settles the layout
            sizes = map(axes_inches, self.axes_[0])
        self.texts_ = [
            self._draw_text(upper, size, row, output, one, largest, max_lines)
            for upper, size, output, one in zip(
                self.axes_[0], sizes, outputs, words, strict=True
            )
        ]
        return self

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
        return self._frame(self._columns)

    def _columns(self, row, words):
        features = np.array(self.explanation.token_features[row], dtype=np.intp)
        n_words = len(self.explanation.feature_names)
        times = np.bincount(features[features >= 0], minlength=n_words)
        return {
            "word": words.names,
            "weight": words.weights,
            "standard_error": words.errors,
            "n_occurrences": times[words.features],
        }

    def _pieces(self, row):
        return self.explanation.tokens[row]

    def _heights(self, ax, row, words, max_entries, max_lines):
        """Heights of the text and of the bars, in inches."""
        width, height = _width(len(words)), None
        if hasattr(ax, "get_subplotspec"):  # one axes, which is divided up
            width, height = axes_inches(ax)
            width /= min(len(words), N_COLUMNS)
        plain = [(piece, None) for piece in self._drawable(row)]
        measure = Measure(self._families, LETTER_SIZE)
        room = (1 - MARGIN) * width * POINTS_PER_INCH
        _, n_lines, _ = wrapped_passage(plain, room, measure, max_lines)
        text = TITLE_HEIGHT + LINE_HEIGHT * LETTER_SIZE * (n_lines + 0.9)
        text /= POINTS_PER_INCH
        if height is not None:
            height /= -(-len(words) // N_COLUMNS)
            text = min(text, 0.5 * height)
            return text, height - text
        n_bars = max(len(one) for one in words)
        n_bars = n_bars if max_entries is None else min(n_bars, max_entries)
        return text, max(0.6, BAR_PITCH * n_bars)

    def _drawn(self, words):
        """Words with boxes for letters that no font has."""
        names = [drawable(name, self._missing) for name in words.names]
        return replace(words, names=names)

    def _drawable(self, row):
        """The pieces of the text, with boxes for letters that no font has."""
        for piece in self._pieces(row):
            lines = piece.split("\n")
            yield "\n".join(drawable(line, self._missing) for line in lines)

    def _draw_text(self, ax, size, row, output, words, largest, max_lines):
        """The response, and the text with something behind its words of some weight."""
        ax.set_axis_off()
        title = ax.annotate(
            literal(self._title(row, output)),
            (0, 1),
            xycoords="axes fraction",
            va="top",
            fontsize=TITLE_SIZE,
            annotation_clip=False,
        )
        title.set_in_layout(False)
        width, height = (POINTS_PER_INCH * inches for inches in size)
        room = int((height - TITLE_HEIGHT) / (LINE_HEIGHT * LETTER_SIZE) + 0.3)
        runs, _, _ = wrapped_passage(
            self._marked(row, words, largest),
            width,
            Measure(self._families, LETTER_SIZE, ax.figure),
            max(1, min(max_lines, room)),
        )

        def colour_of(mark):
            colour = UP_COLOUR if mark[0] > 0 else DOWN_COLOUR
            return (colour, highlight(mark[0], largest))

        return draw_passage(
            ax, runs, self._families, LETTER_SIZE, colour_of, top=TITLE_HEIGHT
        )

    def _marked(self, row, words, largest):
        """Pieces of the text, each with its weight and place where that is seen."""
        weights = dict(zip(words.features.tolist(), words.weights, strict=True))
        features = self.explanation.token_features[row]
        pairs = zip(self._drawable(row), features, strict=True)
        for place, (piece, feature) in enumerate(pairs):
            weight = weights.get(feature, 0.0)
            yield piece, (weight, place) if highlight(weight, largest) else None


def _width(n_outputs):
    """Width of a text in an own figure, in inches."""
    return WIDTH if n_outputs == 1 else NARROW_WIDTH
