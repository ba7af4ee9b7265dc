"""Display of the paths from the base value to predictions, one line for each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_interpret._plotting.axes import merge_styles, side_legend
from sklearn_interpret._plotting.colours import (
    NEUTRAL_COLOUR,
    PALETTE,
    colours,
    feature_map,
    shade,
    stand_out,
)
from sklearn_interpret._plotting.labels import literal, shorten
from sklearn_interpret._plotting.points import MANY_POINTS, clipped_range
from sklearn_interpret._plotting.ranked_bars import finish_rows, name_rows, row_height
from sklearn_interpret._plotting.surfaces import colour_limits
from sklearn_interpret.explanations import Explanation
from sklearn_interpret.explanations._selection import row_position
from sklearn_interpret.shapley._plot._base import (
    ShapleyDisplay,
    check_explanation,
    strongest_features,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import ListedColormap
    from matplotlib.legend import Legend

    from sklearn_interpret._plotting.axes import Style


_MOST_COLOURED = len(PALETTE)  # largest number of lines with a colour of their own
_MOST_IN_LEGEND = 20  # largest number of lines in the legend
_FAINT_OPACITY = 0.35  # of the lines that are not highlighted, if some are


class ShapleyDecisionDisplay(ShapleyDisplay):
    """Paths from the base value to predictions, one line for each row or output.

    Build it with `from_estimator` or `from_explanation`. A line starts at the base
    value, at the bottom, moves by one feature's Shapley value at a time, the strongest
    feature last, and ends at the prediction, at the top. Its colour is that of the
    prediction, from low to high. Of one row of several outputs, `target` left out, each
    output has a line. Features beyond `max_entries` are the first step, by their sum.

    Parameters
    ----------
    explanation : Explanation
        The explained rows.
    row : int, default=None
        Position of a row to draw alone; None draws all rows.
    target : class label or int, default=None
        The output to draw; None takes the only one, or all outputs of a single row.
    response_name : str, default=None
        Response that the values add up to; None says "response".

    Attributes
    ----------
    figure_ : matplotlib Figure
        The figure drawn on.
    ax_ : matplotlib Axes
        The axes drawn on.
    lines_ : LineCollection
        All lines, one for each row or output.
    named_lines_ : LineCollection or None
        Those drawn again in a colour of their own: highlighted rows, or outputs.
    base_line_ : Line2D or None
        The base value, where all lines have the same.
    legend_ : matplotlib Legend or None
        The legend.

    See Also
    --------
    ShapleyWaterfallDisplay : One row, with the size of each step.

    Examples
    --------
    >>> from sklearn_interpret.explanations import Explanation
    >>> from sklearn_interpret.shapley import ShapleyDecisionDisplay
    >>> explanation = Explanation(
    ...     [[1.0, -3.0], [0.5, 2.0]], [10.0, 10.0], feature_names=["age", "income"]
    ... )
    >>> display = ShapleyDecisionDisplay.from_explanation(explanation)
    >>> display.lines_.get_segments()[0].tolist()
    [[10.0, -0.5], [11.0, 0.5], [8.0, 1.5]]
    """

    def plot(
        self,
        ax: Any = None,
        *,
        max_entries: int | None = 20,
        highlight: ArrayLike | None = None,
        line_kw: dict[str, Any] | None = None,
    ) -> Self:
        """Draw one line for each row, or for each output of one row.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            None makes a figure.
        max_entries : int, default=20
            Largest number of steps; None shows all features.
        highlight : int, list of ints or bool mask, default=None
            Positions of the rows whose lines stand out, and are named.
        line_kw : dict, default=None
            Style of all lines.

        Returns
        -------
        self : object
            The display.

        Raises
        ------
        ValueError
            Several rows of several outputs, of which one is to be chosen; a position
            in `highlight` outside the rows.
        """
        paths = self._make_paths()
        explanation = paths.explanation
        highlighted = paths.coloured_outputs()
        if highlight is not None:
            highlighted = paths.positions(highlight)
        selected, contributions, names = strongest_features(explanation, max_entries)
        if paths.row is not None:
            names[: len(selected)] = self._entry_texts([(j,) for j in selected])
        ax = self._take_axes(ax, (7.0, row_height(len(names))))
        levels = _cumulate_contributions(explanation.base_values, contributions)
        self._draw_paths(ax, levels, paths, highlighted, line_kw)
        for edge in np.arange(len(names) + 1) - 0.5:
            ax.axhline(edge, color=shade(ax, 0.25), linewidth=0.7, zorder=0.5)
        name_rows(ax, names)
        ax.set_ylim(-0.5, len(names) - 0.5)
        if paths.by_output:
            response = self._response_label(self.explanation.output_names)
        else:
            response = self._response()
        dashed = "" if self.base_line_ is None else "dashed "
        note = f"lines lead from the {dashed}base value, below,\nto f(x), on top"
        if paths.row is None and self.lines_.get_array() is not None:
            which = "unnamed lines" if highlighted else "they"
            note += f"; {which} are coloured by f(x)"
        response = response if paths.row is None else self._append_row_name(response)
        label = literal(f"{shorten(response, 60)}\n({note})")
        finish_rows(ax, label, hidden=("top", "right", "left"))
        return self

    def _draw_paths(
        self,
        ax: Axes,
        levels: NDArray[np.float64],
        paths: Paths,
        highlighted: list[int],
        style: Style | None,
    ) -> None:
        """Draw lines through levels (n_lines, n_steps + 1), and highlight some."""
        from matplotlib.collections import LineCollection

        heights = np.arange(levels.shape[1]) - 0.5
        points = np.stack([levels, np.broadcast_to(heights, levels.shape)], axis=2)
        low, high = levels.min(), levels.max()
        margin = 0.04 * (high - low) or max(abs(low), 1.0) * 0.05
        ax.set_xlim(low - margin, high + margin)
        is_faint = len(highlighted) > 0 and not paths.by_output
        line_style: Style = {
            "linewidth": 1.4 if len(levels) <= 50 else 0.8,
            "alpha": _FAINT_OPACITY if is_faint else 0.85,
            "rasterized": levels.size > 10 * MANY_POINTS,
            "zorder": 2,
        }
        if paths.by_output:
            line_style["color"] = NEUTRAL_COLOUR
        line_style = merge_styles(line_style, style, LineCollection)
        self.lines_ = LineCollection(list(points), **line_style)
        if not {"color", "edgecolor"} & line_style.keys():
            predictions = paths.explanation.predictions_or_sums
            limits = colour_limits(np.array(clipped_range(predictions)))
            self.lines_.set(array=predictions, cmap=_line_map(ax), clim=limits)
        ax.add_collection(self.lines_)
        base_values = levels[:, 0]
        self.base_line_ = None
        if np.ptp(base_values) <= 1e-9 * np.abs(base_values).max():
            dashed: Style = {"color": shade(ax, 0.5), "linestyle": "--"}
            x = base_values[0]
            self.base_line_ = ax.axvline(x, linewidth=0.9, zorder=0.8, **dashed)
        self.named_lines_: LineCollection | None = None
        self.legend_: Legend | None = None
        if highlighted:
            self._draw_highlighted(ax, points, paths, highlighted)

    def _draw_highlighted(
        self,
        ax: Axes,
        points: NDArray[np.float64],
        paths: Paths,
        highlighted: list[int],
    ) -> None:
        """Draw some lines in colours of their own, and name them in the legend."""
        from matplotlib.collections import LineCollection
        from matplotlib.lines import Line2D

        palette = [stand_out(colour, ax) for colour in colours(len(highlighted))]
        line_style: Style = {"linewidth": 2.0, "color": palette, "zorder": 2.5}
        self.named_lines_ = LineCollection(list(points[highlighted]), **line_style)
        ax.add_collection(self.named_lines_)
        handles = [Line2D([], [], color=colour, linewidth=2.0) for colour in palette]
        labels = [paths.names[position] for position in highlighted]
        n_others = len(points) - len(highlighted)
        if paths.by_output and n_others:
            handles.append(Line2D([], [], color=NEUTRAL_COLOUR))
            labels.append(f"{n_others} others")
        title = "output" if paths.by_output else "row"
        self.legend_ = side_legend(
            ax, handles[:_MOST_IN_LEGEND], labels[:_MOST_IN_LEGEND], title=title
        )

    def _make_paths(self) -> Paths:
        """Rows, or outputs of one row, that have a line each."""
        positions = self._positions()
        several = check_explanation(self.explanation).values[0, 0].size > 1
        if self.target is None and several and len(positions) == 1:
            row = self.explanation[positions]
            outputs = Explanation(
                row.values[0].T,
                row.base_values[0],
                predictions=row.predictions_or_sums[0],
                feature_names=row.feature_names,
            )
            return Paths(outputs, list(row.output_names), row, by_output=True)
        rows = self._drawn_explanation()
        only_row = rows if len(rows) == 1 else None
        names = np.asarray(self._row_names)[positions].tolist()
        return Paths(rows, names, only_row, by_output=False)

    def to_frame(self) -> Any:
        """Numbers drawn, as a long DataFrame, all features on lines of their own.

        Returns
        -------
        pandas.DataFrame
            One line per row (or output) and feature, the strongest feature first, with
            the columns "row" or "output", "feature", "value" (in the data, where there
            is one), "shapley_value" (or what the explanation calls its values), "start"
            and "end" (of the line's step).
        """
        paths = self._make_paths()
        explanation = paths.explanation

        def ends_of(values: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
            levels = _cumulate_contributions(explanation.base_values, values)[:, ::-1]
            return {"start": levels[:, 1:], "end": levels[:, :-1]}

        lines = {"output" if paths.by_output else "row": paths.names}
        data = explanation if paths.row is None else paths.row
        return self._long_table(explanation, lines, cells=ends_of, data=data)


@dataclass(frozen=True)
class Paths:
    """Rows, or outputs of one row in place of rows, that have a line each."""

    explanation: Explanation
    names: list[Any]  # of rows or outputs
    row: Explanation | None  # the only row, whose values of features can be shown
    by_output: bool

    def coloured_outputs(self) -> list[int]:
        """Outputs with a colour of their own: all, or the largest changes of many."""
        if not self.by_output:
            return []
        changes = self.explanation.predictions_or_sums - self.explanation.base_values
        order = np.argsort(-np.abs(changes), kind="stable")
        n_named = len(order) if len(order) <= _MOST_COLOURED else _MOST_COLOURED - 1
        return np.sort(order[:n_named]).tolist()

    def positions(self, highlight: ArrayLike) -> list[int]:
        """Positions of the rows to highlight."""
        if self.by_output:
            raise ValueError("highlight is for rows; the lines are outputs of one row.")
        rows = np.atleast_1d(np.asarray(highlight))
        if rows.dtype == bool and rows.shape == (len(self.names),):
            rows = np.flatnonzero(rows)
        return [row_position(row, len(self.names)) for row in rows.tolist()]


def _cumulate_contributions(
    base_values: NDArray[np.float64], contributions: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Each line's value before the first step and after each, from the bottom."""
    steps = np.column_stack([base_values, contributions[:, ::-1]])
    return np.cumsum(steps, axis=1)


def _line_map(ax: Axes) -> ListedColormap:
    """Colours from low to high that stand out in thin lines too."""
    from matplotlib.colors import ListedColormap

    return ListedColormap(
        [stand_out(colour, ax) for colour in feature_map(ax)(range(0, 256, 5))]
    )
