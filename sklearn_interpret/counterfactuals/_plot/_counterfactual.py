"""Display of the changes that counterfactuals make to one row, feature by feature."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from textwrap import fill
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_interpret._model.rows.arrays import as_rows
from sklearn_interpret._plotting.axes import axes_inches
from sklearn_interpret._plotting.colours import colours, ink, stand_out
from sklearn_interpret._plotting.counterfactual_labels import CounterfactualLabelsMixin
from sklearn_interpret._plotting.curves import note_empty
from sklearn_interpret._plotting.labels import CHARACTERS_PER_INCH, literal, write_near
from sklearn_interpret._plotting.ranked_bars import draw_arrows
from sklearn_interpret.counterfactuals._exact import ExactCounterfactual
from sklearn_interpret.counterfactuals._growing_spheres import GrowingSpheres
from sklearn_interpret.counterfactuals._plot._base import (
    DATA_HEIGHT,
    ROW_VALUE,
    FeatureColumn,
    FeaturesDisplay,
    tint,
)
from sklearn_interpret.counterfactuals._wachter import WachterCounterfactual
from sklearn_interpret.explanations import RowExplanation

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PolyCollection

    from sklearn_interpret._plotting.axes import Style
    from sklearn_interpret._plotting.sources import Data

# Inches: height of a line, an arrow below a text, and the smallest height at which the
# text has room.
LINE_HEIGHT = 0.45
MIN_HEIGHT_WITH_TEXT = 0.25
# Shares of a line: an arrow's middle and breadth, and how far above a text stands.
ARROW_POSITION = 0.28
ARROW_HEIGHT = 0.26
TEXT_GAP = 0.22
# Shares of an axes: width of the point of an arrow, largest height of all lines.
HEAD_WIDTH = 0.025
MAX_LINES_HEIGHT = 0.65


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
    legend_ : Legend or None
        Meaning of the dashed line, the boxes and the bars.
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
    def _from_inspector(cls, inspector: Any, data: Data, **choices: Any) -> Self:
        choices = {"background": inspector._actionability.fit_rows.native, **choices}
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
        indices = np.flatnonzero(self.explanation.origin == row)
        columns = self._columns(row, indices)
        largest = dict(list(columns.items())[:max_entries])
        title = self._title(row, indices)
        if len(largest) < len(columns):
            title.append(
                f"(the {len(largest)} largest of {len(columns)} changes are drawn)"
            )
        height = DATA_HEIGHT + LINE_HEIGHT * max(len(indices), 1)
        self._take_panels(ax, largest.values(), title, n_cols=n_cols, height=height)
        self.before_lines_: list[Any] = []
        self.arrows_: list[Any] = []
        self.boxes_: list[Any] = []
        if not largest:
            self.axes_[0].set_axis_off()
            reason = self.explanation.reasons[row] or "it satisfies the target already"
            text = fill(f"{self.explanation.status[row]}: {reason}", 48)
            note_empty(self.axes_[0], literal(text))
        for panel, (j, column) in zip(self.axes_, largest.items(), strict=False):
            self._draw_changes(panel, column, j, row, indices, arrow_kw)
        self._draw_legend()
        return self

    def _columns(self, row: int, indices: NDArray[np.intp]) -> dict[int, FeatureColumn]:
        """The changed features by position, the farthest moves first."""
        background, data = self._background_rows(), as_rows(self.explanation.data)
        rows = as_rows(self.explanation.rows)
        columns, sizes = {}, {}
        for j in np.flatnonzero(self.explanation.changed[indices].any(axis=0)).tolist():
            before = data.column_array(j)[row]
            after = rows.column_array(j)[indices].tolist()
            name = self.explanation.feature_names[j]
            columns[j] = FeatureColumn(background, j, name, [before, *after])
            sizes[j] = max(columns[j].change(before, value) for value in after)
        farthest_first = sorted(sizes, key=lambda j: sizes[j], reverse=True)
        return {j: columns[j] for j in farthest_first}

    def _draw_changes(
        self,
        ax: Axes,
        column: FeatureColumn,
        j: int,
        row: int,
        indices: NDArray[np.intp],
        style: Style | None,
    ) -> None:
        """The value of the row, and a line for each row found that differs in it."""
        before = as_rows(self.explanation.data).column_array(j)[row]
        after = as_rows(self.explanation.rows).column_array(j)[indices]
        start, n_lines = column.position(before), len(indices)
        low, high = self.explanation.low, self.explanation.high
        if low is None or high is None:
            low = high = np.full(self.explanation.changed.shape, np.nan)
        pitch = min(LINE_HEIGHT / axes_inches(ax)[1], MAX_LINES_HEIGHT / n_lines)
        column.draw(ax, 1 - n_lines * pitch)
        line_style: Style = {"color": ink(ax), "lw": 1, "label": ROW_VALUE}
        (line,) = ax.plot([start] * 2, [0, 1], "--", zorder=1.5, **line_style)
        self.before_lines_.append(line)
        self.arrows_.append([])
        self.boxes_.append([])
        for k in np.flatnonzero(self.explanation.changed[indices, j]).tolist():
            position = 1 - (k + 1 - ARROW_POSITION) * pitch
            height = ARROW_HEIGHT * pitch
            start_of_box, end_of_box = low[indices[k], j], high[indices[k], j]
            colour, end = colours(n_lines)[k], column.position(after[k])
            self.arrows_[-1].append(
                _draw_arrow(ax, start, end, position, height, colour, style)
            )
            if start_of_box < end_of_box:
                left, right = np.clip([start_of_box, end_of_box], *ax.get_xlim())
                box_style: Style = {"color": tint(ax, colour), "zorder": 1.8}
                box_style["label"] = "values that will do as well"
                box = ax.barh(
                    position, right - left, 0.9 * height, left=left, **box_style
                )
                self.boxes_[-1].append(box)
            if pitch * axes_inches(ax)[1] > MIN_HEIGHT_WITH_TEXT:
                text = _change_text(column, before, after[k], start_of_box, end_of_box)
                _write_over(ax, text, start, end, position + TEXT_GAP * pitch)
        if n_lines > 1:
            numbers = np.arange(n_lines) + 1
            positions = 1 - (numbers - ARROW_POSITION) * pitch
            ax.set_yticks(positions, numbers, fontsize="small")

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
        indices, _ = np.nonzero(self.explanation.changed)
        is_of_row = self.explanation.origin[indices] == self._position()
        names = [self._row_name] * np.count_nonzero(is_of_row)
        return table[is_of_row].assign(row=names).reset_index(drop=True)


def _change_text(
    column: FeatureColumn, before: float, after: float, low: float, high: float
) -> str:
    """Text of a change to a value, or to an interval if there is a box."""
    size = abs(column.position(after) - column.position(before))
    end = column.text(after, size)
    if low < high:
        end = column.interval_text(low, high, size)
    return f"{column.text(before, size)} → {end}"


def _draw_arrow(
    ax: Axes,
    start: float,
    end: float,
    position: float,
    height: float,
    colour: str,
    style: Style | None,
) -> PolyCollection:
    """An arrow, with a point where it ends if it is too short to be seen."""
    head = HEAD_WIDTH * np.ptp(ax.get_xlim())
    if abs(end - start) < head / 3:
        ax.plot([end], [position], "o", color=stand_out(colour, ax), markersize=4)
    ends = np.array([start]), np.array([end]), np.array([position])
    return draw_arrows(ax, *ends, height, head, colour, style)


def _write_over(ax: Axes, text: str, start: float, end: float, position: float) -> None:
    """A text over an arrow, from its start to the side with more room."""
    left, right = ax.get_xlim()
    inches = len(text) / CHARACTERS_PER_INCH
    room_left = (start - left) / (right - left) * axes_inches(ax)[0]
    room_right = axes_inches(ax)[0] - room_left
    if end < start:
        is_to_left = room_left > min(inches, room_right)
    else:
        is_to_left = room_right < min(inches, room_left)
    text_style: Style = {"ha": "right" if is_to_left else "left"}
    text_style["annotation_clip"] = False
    offset = (-3 if is_to_left else 3, 0)
    write_near(ax, text, (start, position), offset, **text_style)
