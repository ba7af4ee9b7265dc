"""Display of a rule that is sufficient for one prediction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from sklearn_interpret._model.rows.arrays import as_rows
from sklearn_interpret._model.rows.dates import days
from sklearn_interpret._model.rows.number_format import (
    number_text,
    rounded_text,
    value_text,
)
from sklearn_interpret._model.rows.texts import as_texts
from sklearn_interpret._plotting.colours import PALETTE, ink
from sklearn_interpret._plotting.curves import name_axes, note_empty
from sklearn_interpret._plotting.labels import response_label
from sklearn_interpret._plotting.text_layout import draw_text
from sklearn_interpret.counterfactuals._anchors import Anchors
from sklearn_interpret.counterfactuals._anchors_text import AnchorsText
from sklearn_interpret.counterfactuals._plot._base import (
    DATA_HEIGHT,
    ROW_VALUE,
    FeatureColumn,
    FeaturesDisplay,
    tint,
)
from sklearn_interpret.explanations import RuleExplanation

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from sklearn_interpret._plotting.axes import Style
    from sklearn_interpret._plotting.sources import Data
    from sklearn_interpret.explanations import Condition

MOST_LINES = 14  # of a text; a longer text ends in an ellipsis
_ALWAYS = "always: the rule has no conditions"


@dataclass(eq=False, repr=False)
class AnchorsDisplay(FeaturesDisplay):
    """The rule of one row, sufficient for the model to keep its answer.

    Build it with `from_estimator` or `from_explanation`. Each condition has a panel:
    the distribution of the feature, in colour the values for which the condition holds,
    and the row's own value as a line. Of a text, the words of the rule are marked. The
    title has the answer, the rule's precision with its bounds, and its coverage.

    Parameters
    ----------
    explanation : RuleExplanation
        The explained row or text, or several of which `row` is drawn; with its data.
    row : int, default=None
        Position of the row to draw; None takes the only one.
    background : {array-like, DataFrame} of shape (n_samples, n_features), default=None
        Rows whose distribution is drawn. None takes those that the inspector was fitted
        on, and of an explanation alone those explained, if there are several.

    Attributes
    ----------
    figure_ : matplotlib Figure
        The figure drawn on.
    axes_ : ndarray of Axes of shape (n_panels,)
        One for each condition, or one for the text.
    title_ : Text
        The answer, the precision and the coverage, of a table.
    legend_ : Legend or None
        Meaning of the colour, the line and the bars, of a table.
    spans_ : list of list of Polygon
        For each panel what is coloured.
    texts_ : list of Annotation
        The parts of a text.

    See Also
    --------
    Anchors : Finds rules of rows.
    AnchorsText : Finds words of texts.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_interpret.counterfactuals import AnchorsDisplay
    >>> from sklearn_interpret.explanations import Condition, RuleExplanation
    >>> explanation = RuleExplanation(
    ...     rules=[(Condition(0, "age", high=37.0),)],
    ...     precision=[0.98],
    ...     precision_low=[0.95],
    ...     precision_high=[1.0],
    ...     coverage=[0.25],
    ...     answers=["yes"],
    ...     status=["found"],
    ...     data=np.array([[30.0, 2.0]]),
    ... )
    >>> background = np.arange(20.0, 60.0).reshape(20, 2)
    >>> display = AnchorsDisplay.from_explanation(explanation, background=background)
    >>> display.to_frame()
        condition feature  value
    0  age <= 37     age   30.0
    """

    _kinds = (Anchors, AnchorsText)
    _explanation_kind = RuleExplanation

    explanation: RuleExplanation
    _: KW_ONLY
    row: int | None = None
    background: ArrayLike | None = None

    @classmethod
    def _check_request(cls, estimator: Any, X: Any, parameters: dict[str, Any]) -> None:
        if _are_texts(X):
            raise TypeError("X has texts: pass a fitted AnchorsText, not its model.")

    @classmethod
    def _as_rows(cls, X: Any) -> Any:
        return as_texts(X) if _are_texts(X) else as_rows(X)

    @classmethod
    def _from_inspector(
        cls, inspector: Anchors | AnchorsText, data: Data, **choices: Any
    ) -> Self:
        if isinstance(inspector, Anchors):
            choices = {"background": inspector._marginals.rows.native, **choices}
        return super()._from_inspector(inspector, data, **choices)

    def plot(
        self, ax: Any = None, *, n_cols: int = 3, span_kw: dict[str, Any] | None = None
    ) -> Self:
        """Draw the rule.

        Parameters
        ----------
        ax : matplotlib Axes or array of Axes, default=None
            None makes a figure. A single axes is divided up for several conditions.
        n_cols : int, default=3
            Largest number of panels side by side.
        span_kw : dict, default=None
            Style of the coloured areas behind the data.

        Returns
        -------
        self : AnchorsDisplay
            The display.

        Raises
        ------
        TypeError
            No `RuleExplanation`.
        ValueError
            Several rows and no `row`; an explanation without data.
        """
        row = self._position()
        if self.explanation.data is None:
            raise ValueError("The explanation has no data: the row cannot be drawn.")
        self.spans_: list[Any] = []
        self.texts_: list[Any] = []
        if _are_texts(self.explanation.data):
            self._draw_text(ax, row)
            return self
        rule, values = self.explanation.rules[row], self._values_of_row(row)
        background = self._background_rows()
        columns = [
            FeatureColumn(
                background,
                condition.feature,
                condition.name,
                [value, *_interval_ends(condition)],
            )
            for condition, value in zip(rule, values, strict=True)
        ]
        title = self._title(row)
        self._take_panels(ax, columns, title, n_cols=n_cols, height=DATA_HEIGHT)
        if not columns:
            self.axes_[0].set_axis_off()
            note_empty(self.axes_[0], _ALWAYS)
        for panel, column, condition, value in zip(
            self.axes_, columns, rule, values, strict=False
        ):
            # A single row has no distribution.
            column.draw(panel, 0.0 if background.n_rows == 1 else 1.0)
            self._mark_condition(panel, column, condition, value, span_kw)
        self._draw_legend()
        return self

    def _values_of_row(self, row: int) -> list[float]:
        """The value of the row in the feature of each condition."""
        data = as_rows(self.explanation.data)
        return [
            data.displayed(condition.feature)[row]
            for condition in self.explanation.rules[row]
        ]

    def _mark_condition(
        self,
        ax: Axes,
        column: FeatureColumn,
        condition: Condition,
        value: float,
        style: Style | None,
    ) -> None:
        """Colour the values that satisfy the condition, and mark the row's value."""
        left, right = ax.get_xlim()
        low = left if condition.low is None else days(condition.low)
        high = right if condition.high is None else days(condition.high)
        if condition.only is not None:
            low, high = condition.only - 0.25, condition.only + 0.25
        spans = [(low, high)]
        if condition.levels is not None:
            positions = np.array([column.position(level) for level in condition.levels])
            half = (right - left) / 200 if column.levels is None else 0.5
            spans = [(x - half, x + half) for x in positions[np.isfinite(positions)]]
        span_style: Style = {"color": tint(ax, PALETTE[0]), "linewidth": 0}
        span_style |= {"zorder": 0.5, "label": "the condition holds"}
        span_style |= style or {}
        self.spans_.append(
            [ax.axvspan(*np.clip(span, left, right), **span_style) for span in spans]
        )
        position = column.position(value)
        if np.isfinite(position):
            line_style: Style = {"color": ink(ax), "lw": 1.5, "label": ROW_VALUE}
            ax.plot([position] * 2, [0, 1], zorder=3, **line_style)
        name_axes(ax, x=condition)

    def _title(self, row: int) -> list[str]:
        """The answer, and the precision and coverage of the rule."""
        explanation = self.explanation
        numbers = [
            number_text(explanation.precision[row]),
            rounded_text(explanation.precision_low[row], down=True),
            rounded_text(explanation.precision_high[row], down=False),
            number_text(explanation.coverage[row]),
        ]
        label = response_label("prediction", target_name=self.target_name)
        label = self._append_row_name(label)
        lines = [f"{label}: {value_text(explanation.answers[row])}"]
        lines.append("precision {} ({} to {}), coverage {}".format(*numbers))
        if explanation.status[row] != "found":
            lines.append(f"{explanation.status[row]}: {explanation.reasons[row]}")
        return lines

    def _draw_text(self, ax: Axes, row: int) -> None:
        """The text, with the words of the rule behind a colour."""
        text, rule = list(self.explanation.data)[row], self.explanation.rules[row]
        title = self._title(row) + ([] if rule else [_ALWAYS])
        self.texts_, *_ = draw_text(
            lambda size: self._take_grid(ax, 1, 1, size).main[0],
            _mark_words(text, rule),
            title,
            colour_of=lambda ax, _: tint(ax, PALETTE[0]),
            most_lines=MOST_LINES,
        )

    def to_frame(self) -> Any:
        """Conditions of the rule drawn, as a table.

        Returns
        -------
        pandas.DataFrame
            A row for each condition: "condition" (in words), and of a table "feature"
            and "value" (the row's own).

        Raises
        ------
        ImportError
            pandas is not installed.
        """
        row, data = self._position(), self.explanation.data
        rule = self.explanation.rules[row]
        columns: dict[str, list[Any]] = {
            "condition": [str(condition) for condition in rule]
        }
        if not _are_texts(data):
            columns["feature"] = [condition.name for condition in rule]
            columns["value"] = self._values_of_row(row)
        return self._frame(columns)


def _interval_ends(condition: Condition) -> list[Any]:
    """Ends of the interval of a condition, which the axis has to show."""
    return [end for end in (condition.low, condition.high) if end is not None]


def _are_texts(X: Any) -> bool:
    """Whether `X` holds texts, not rows of a table."""
    shape = getattr(X, "shape", None)
    if shape is None:
        return bool(len(X)) and isinstance(X[0], str)
    return len(shape) == 1


def _mark_words(text: str, rule: Sequence[Any]) -> list[tuple[str, Any]]:
    """Pieces of a text; words of the rule have a mark, each its own."""
    if not rule:
        return [(text, None)]
    tokens = rule[0].split(text)
    words = {(condition.word, condition.number) for condition in rule}
    in_rule = [key in words for key in tokens.keys] + [False]
    pairs = zip(tokens.pieces, tokens.features, strict=True)
    return [(piece, [piece] if in_rule[feature] else None) for piece, feature in pairs]
