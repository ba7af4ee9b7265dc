"""Display of the changes that counterfactuals make to one row, feature by feature."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from textwrap import fill
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from sklearn_interpret._model.rows.arrays import as_rows
from sklearn_interpret._plotting.axes import axes_inches
from sklearn_interpret._plotting.colours import colours, ink, seen
from sklearn_interpret._plotting.counterfactual_labels import CounterfactualLabelsMixin
from sklearn_interpret._plotting.curves import note_empty
from sklearn_interpret._plotting.labels import CHARACTERS_PER_INCH, literal, write_near
from sklearn_interpret._plotting.ranked_bars import draw_arrows
from sklearn_interpret.counterfactuals._exact import ExactCounterfactual
from sklearn_interpret.counterfactuals._growing_spheres import GrowingSpheres
from sklearn_interpret.counterfactuals._plot._base import (
    DATA_HEIGHT,
    FeatureColumn,
    FeaturesDisplay,
    tint,
)
from sklearn_interpret.counterfactuals._wachter import WachterCounterfactual
from sklearn_interpret.explanations import RowExplanation

# Inches of a line: an arrow below a text, for which there has to be room.
LINE_HEIGHT, LEAST_HEIGHT = 0.45, 0.25
# Shares of a line: an arrow's middle and breadth, and how far above a text stands.
ARROW_PLACE, ARROW_HEIGHT, TEXT_GAP = 0.28, 0.26, 0.22
# Shares of an axes: the point of an arrow, and all lines together at most.
HEAD, MOST_LINES = 0.025, 0.65


@dataclass(eq=False, repr=False)
class CounterfactualDisplay(CounterfactualLabelsMixin, FeaturesDisplay):
    """Changes to one row after which the model's answer satisfies the target.

    Build it with `from_estimator` or `from_explanation`. Each changed feature has a
    panel in its own units: an arrow from its value (dashed line) to that of the row
    found, above the distribution of the data. Several rows found have a line each,
    with the same number and colour in all panels. Where the explanation has boxes, a
    bar shows which values will do as well. The title has the model's response before
    and after; where nothing was found, the reason is drawn.

    Parameters
    ----------
    explanation : RowExplanation
        The explained row, or several of which `row` is drawn.
    row : int, default=None
        Position of the row to draw; None takes the only one.
    target : class label or int, default=None
        The output that the title speaks of; None takes the only one, or the class of
        the largest response.
    response_name : str, default=None
        Name of the response; None takes that of the explanation.
    background : {array-like, DataFrame} of shape (n_samples, n_features), default=None
        Rows whose distribution is drawn. None takes the rows that the inspector was
        fitted on, and of an explanation alone those explained.

    Attributes
    ----------
    figure_ : matplotlib Figure
        The figure drawn on.
    axes_ : ndarray of Axes of shape (n_panels,)
        One for each changed feature, the largest changes first, in standard deviations.
    title_ : Text
        The responses, and how far the rows found are.
    before_lines_ : list of Line2D
        The row's own values, one for each panel.
    arrows_ : list of list of PolyCollection
        For each panel the arrows, from the top.
    boxes_ : list of list of BarContainer
        For each panel the values that will do as well.

    See Also
    --------
    ExactCounterfactual : The nearest rows, for linear models and trees.
    GrowingSpheres : Near rows, for any model; also for a predictor given here.

    Notes
    -----
    Numbers are rounded, ends of boxes inward; `to_frame` has them as they are.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_interpret.counterfactuals import CounterfactualDisplay
    >>> from sklearn_interpret.explanations import RowExplanation
    >>> explanation = RowExplanation(
    ...     rows=np.array([[30.0, 2.5]]),
    ...     origin=[0],
    ...     valid=[True],
    ...     distances=[0.5],
    ...     status=["found"],
    ...     data=np.array([[30.0, 2.0]]),
    ...     feature_names=["age", "income"],
    ... )
    >>> display = CounterfactualDisplay.from_explanation(explanation)
    >>> display.to_frame()[["feature", "before", "after"]]
      feature  before  after
    0  income     2.0    2.5
    """

    _kinds = (GrowingSpheres, WachterCounterfactual, ExactCounterfactual)
    _explanation_kind = RowExplanation

    explanation: RowExplanation
    _: KW_ONLY
    row: int | None = None
    target: Any = None
    response_name: str | None = None
    background: ArrayLike | None = None

    @classmethod
    def _from_inspector(cls, inspector, data, **choices):
        choices = {"background": inspector._actionability.known.native, **choices}
        return super()._from_inspector(inspector, data, **choices)

    def plot(
        self,
        ax: Any = None,
        *,
        max_entries: int | None = 9,
        n_cols: int = 3,
        arrow_kw: dict[str, Any] | None = None,
    ) -> Self:
        """Draw the changes.

        Parameters
        ----------
        ax : matplotlib Axes or array of Axes, default=None
            None makes a figure. A single axes is divided up for several features.
        max_entries : int, default=9
            Largest number of features; None shows all that change.
        n_cols : int, default=3
            Largest number of panels side by side.
        arrow_kw : dict, default=None
            Style of the arrows.

        Returns
        -------
        self : CounterfactualDisplay
            The display.

        Raises
        ------
        TypeError
            No `RowExplanation`.
        ValueError
            Several rows and no `row`; an unknown `target`.
        """
        row = self._position()
        found = np.flatnonzero(self.explanation.origin == row)
        columns = self._columns(row, found)
        shown = dict(list(columns.items())[:max_entries])
        title = self._title(row, found)
        if len(shown) < len(columns):
            title.append(
                f"(the {len(shown)} largest of {len(columns)} changes are drawn)"
            )
        height = DATA_HEIGHT + LINE_HEIGHT * max(len(found), 1)
        self._take_panels(ax, shown.values(), title, n_cols=n_cols, height=height)
        self.before_lines_: list[Any] = []
        self.arrows_: list[Any] = []
        self.boxes_: list[Any] = []
        if not shown:
            self.axes_[0].set_axis_off()
            reason = self.explanation.reasons[row] or "it satisfies the target already"
            text = fill(f"{self.explanation.status[row]}: {reason}", 48)
            note_empty(self.axes_[0], literal(text))
        for panel, (j, column) in zip(self.axes_, shown.items(), strict=False):
            self._draw_changes(panel, column, j, row, found, arrow_kw)
        return self

    def _columns(self, row, found):
        """The changed features by position, those that move farthest first."""
        known, data = self._known(), as_rows(self.explanation.data)
        rows = as_rows(self.explanation.rows)
        columns, sizes = {}, {}
        for j in np.flatnonzero(self.explanation.changed[found].any(axis=0)).tolist():
            before, after = (
                data.column_array(j)[row],
                rows.column_array(j)[found].tolist(),
            )
            name = self.explanation.feature_names[j]
            columns[j] = FeatureColumn(known, j, name, [before, *after])
            sizes[j] = max(columns[j].change(before, value) for value in after)
        return {j: columns[j] for j in sorted(sizes, key=sizes.get, reverse=True)}

    def _draw_changes(self, ax, column, j, row, found, style):
        """The row's own value, and a line for each row found that differs."""
        before = as_rows(self.explanation.data).column_array(j)[row]
        after = as_rows(self.explanation.rows).column_array(j)[found]
        start, n_lines = column.place(before), len(found)
        boxes = self.explanation.low, self.explanation.high
        if boxes[0] is None or boxes[1] is None:
            boxes = [np.full(self.explanation.changed.shape, np.nan)] * 2
        pitch = min(LINE_HEIGHT / axes_inches(ax)[1], MOST_LINES / n_lines)
        column.draw(ax, 1 - n_lines * pitch)
        (line,) = ax.plot([start] * 2, [0, 1], "--", color=ink(ax), lw=1, zorder=1.5)
        self.before_lines_.append(line)
        self.arrows_.append([])
        self.boxes_.append([])
        for k in np.flatnonzero(self.explanation.changed[found, j]).tolist():
            place, height = 1 - (k + 1 - ARROW_PLACE) * pitch, ARROW_HEIGHT * pitch
            low, high = (ends[found[k], j] for ends in boxes)
            colour, end = colours(n_lines)[k], column.place(after[k])
            self.arrows_[-1].append(
                _draw_arrow(ax, start, end, place, height, colour, style)
            )
            if low < high:
                left, right = np.clip([low, high], *ax.get_xlim())
                looks = {"color": tint(ax, colour), "zorder": 1.8}
                box = ax.barh(place, right - left, 0.9 * height, left=left, **looks)
                self.boxes_[-1].append(box)
            if pitch * axes_inches(ax)[1] > LEAST_HEIGHT:
                text = _change_text(column, before, after[k], low, high)
                _write_over(ax, text, start, end, place + TEXT_GAP * pitch)
        if n_lines > 1:
            numbers = np.arange(n_lines) + 1
            places = 1 - (numbers - ARROW_PLACE) * pitch
            ax.set_yticks(places, numbers, fontsize="small")

    def to_frame(self) -> Any:
        """Changes drawn, as a table, all of them.

        Returns
        -------
        pandas.DataFrame
            Columns as those of :meth:`RowExplanation.to_frame`, of the row drawn.

        Raises
        ------
        ImportError
            pandas is not installed.
        """
        table = self.explanation.to_frame()
        found, _ = np.nonzero(self.explanation.changed)
        drawn = self.explanation.origin[found] == self._position()
        names = [self._row_name] * np.count_nonzero(drawn)
        return table[drawn].assign(row=names).reset_index(drop=True)


def _change_text(column, before, after, low, high):
    """A change in words; to the ends of the interval if there is a box."""
    size = abs(column.place(after) - column.place(before))
    end = column.text(after, size)
    if low < high:
        end = column.interval_text(low, high, size)
    return f"{column.text(before, size)} → {end}"


def _draw_arrow(ax, start, end, place, height, colour, style):
    """An arrow, with a point where it ends if it is too short to be seen."""
    head = HEAD * np.ptp(ax.get_xlim())
    if abs(end - start) < head / 3:
        ax.plot([end], [place], "o", color=seen(colour, ax), markersize=4)
    ends = np.array([start]), np.array([end]), np.array([place])
    return draw_arrows(ax, *ends, height, head, colour, style)


def _write_over(ax, text, start, end, place):
    """A text over an arrow, from its start to the side with more room."""
    left, right = ax.get_xlim()
    inches = len(text) / CHARACTERS_PER_INCH
    room = (start - left) / (right - left) * axes_inches(ax)[0]
    other = axes_inches(ax)[0] - room
    backwards = room > min(inches, other) if end < start else other < min(inches, room)
    looks = {"ha": "right" if backwards else "left", "annotation_clip": False}
    write_near(ax, text, (start, place), (-3 if backwards else 3, 0), **looks)
