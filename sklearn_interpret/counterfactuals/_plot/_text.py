"""Display of a text with the words struck out that change the prediction."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from sklearn_interpret._model.rows.number_format import number_text
from sklearn_interpret._model.rows.texts import as_texts
from sklearn_interpret._plotting.colours import UP_COLOUR, stand_out
from sklearn_interpret._plotting.displays import OneRowDisplay
from sklearn_interpret._plotting.labels import shorten
from sklearn_interpret._plotting.text_layout import draw_text, strike_out
from sklearn_interpret.counterfactuals._text import TextCounterfactual
from sklearn_interpret.explanations import RemovalExplanation
from sklearn_interpret.explanations._selection import output_position

# Opacity of the colour behind words that are struck out.
_OPACITY = 0.2


class TextCounterfactualDisplay(OneRowDisplay):
    """A text with the words struck out whose removal changes the prediction.

    Build it with `from_estimator` or `from_explanation`. The title has what the model
    predicts with these words and without them, its response, and whether it is proved
    that no fewer words will do; or why nothing was found.

    Parameters
    ----------
    explanation : RemovalExplanation
        The explained text, or several of which `row` is drawn.
    row : int, default=None
        Position of the text to draw; None takes the only one.
    target : class label or int, default=None
        The output whose response the title has; None takes the only one, or that of
        the class that is predicted for the text.
    response_name : str, default=None
        Name of the response; None takes that of the explanation.

    Attributes
    ----------
    figure_ : matplotlib Figure
        The figure drawn on.
    ax_ : matplotlib Axes
        The axes drawn on.
    texts_ : list of Annotation
        The parts of the text.
    strikes_ : LineCollection
        The lines through words.

    See Also
    --------
    TextCounterfactual : Finds the words.
    RemovalExplanation.to_html : The same as HTML.

    Notes
    -----
    Letters that neither matplotlib's font nor another one that is installed has are
    drawn as boxes. Name a font in matplotlib's setting "font.family" for more.

    Examples
    --------
    >>> from sklearn_interpret.counterfactuals import TextCounterfactualDisplay
    >>> from sklearn_interpret.explanations import RemovalExplanation
    >>> explanation = RemovalExplanation(
    ...     pieces=[["a", " ", "free", " ", "phone"]],
    ...     removed=[[False, False, True, False, False]],
    ...     words=[["free"]],
    ...     texts=["a  phone"],
    ...     answers=["fine"],
    ...     original_answers=["spam"],
    ...     status=["found"],
    ...     optimal=[True],
    ... )
    >>> display = TextCounterfactualDisplay.from_explanation(explanation)
    >>> display.to_frame()
       word  start  end
    0  free      2    6
    """

    _kinds, _explanation_kind = (TextCounterfactual,), RemovalExplanation
    _sample = "text"

    @classmethod
    def _as_rows(cls, X: Any) -> Any:
        return as_texts(X)

    def plot(
        self,
        ax: Any = None,
        *,
        max_lines: int = 14,
        strike_kw: dict[str, Any] | None = None,
    ) -> Self:
        """Draw the text.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            None makes a figure.
        max_lines : int, default=14
            Largest number of lines of the text; a longer one ends in an ellipsis.
        strike_kw : dict, default=None
            Style of the lines through words.

        Returns
        -------
        self : TextCounterfactualDisplay
            The display.

        Raises
        ------
        ValueError
            Several texts and no `row`; an unknown `target`.
        """
        from matplotlib.colors import to_rgba

        row = self._position()
        pairs = zip(
            self.explanation.pieces[row], self.explanation.removed[row], strict=True
        )
        pieces = [(piece, [removed] if removed else None) for piece, removed in pairs]
        self.texts_, runs, measure = draw_text(
            lambda size: self._take_axes(ax, size),
            pieces,
            self._title(row),
            colour_of=lambda ax, _: to_rgba(stand_out(UP_COLOUR, ax), _OPACITY),
            most_lines=max_lines,
        )
        style = {"color": stand_out(UP_COLOUR, self.ax_), "linewidth": 1.4, "zorder": 4}
        self.strikes_ = strike_out(
            self.ax_,
            [run for run in runs if run.mark is not None],
            measure,
            **style | (strike_kw or {}),
        )
        return self

    def to_frame(self) -> Any:
        """Where the words that are removed stand, as a table.

        Returns
        -------
        pandas.DataFrame
            A row for each place: columns "word", "start" and "end", of which
            ``text[start:end]`` is the word.

        Raises
        ------
        ImportError
            pandas is not installed.
        """
        row = self._position()
        text = "".join(self.explanation.pieces[row])
        spans = self.explanation.spans(row)
        return self._frame(
            {
                "word": [text[start:end] for start, end in spans],
                "start": [start for start, _ in spans],
                "end": [end for _, end in spans],
            }
        )

    def _title(self, row: int) -> list[str]:
        """Prediction and response before and after, and how many words were removed."""
        explanation = self.explanation
        n_words = len(explanation.words[row])
        is_found = explanation.status[row] == "found"
        of_target = f" of {self.target_name}" if self.target_name else ""
        heading = f"Prediction{of_target}"
        answers = [shorten(explanation.original_answers[row], 24)]
        responses = self._responses(row)
        if is_found:
            answers.append(shorten(explanation.answers[row], 24))
            proof = ": no fewer will do" if explanation.optimal[row] else ""
            last_line = f"{n_words} word{'' if n_words == 1 else 's'} struck out{proof}"
        else:
            reasons = explanation.status[row], explanation.reasons[row]
            last_line = ": ".join(filter(None, reasons))
        lines = [f"{self._append_row_name(heading)}: {' → '.join(answers)}"]
        if responses is not None:
            label, numbers = responses
            numbers = [number_text(x) for x in numbers[: len(answers)]]
            lines.append(f"{shorten(label, 48)}: {' → '.join(numbers)}")
        return [*lines, last_line]

    def _responses(self, row: int) -> tuple[str, list[Any]] | None:
        """Name of the response, and its values before and after; None if unknown."""
        explanation = self.explanation
        names = list(explanation.output_names)
        before, after = explanation.original_predictions, explanation.predictions
        original = explanation.original_answers[row]
        if before is None or after is None:
            return None
        output = 0
        if self.target is not None or len(names) > 1:
            target = (
                original if self.target is None and original in names else self.target
            )
            output = output_position(names, target)
        label = self._response_label(names, output)
        return label, [
            np.ravel(predictions[row])[output] for predictions in (before, after)
        ]
