"""Display of one prediction's Shapley values, as steps from the base value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from sklearn_interpret._inspectors.nested_groups import (
    Entry,
    append_group_sums,
    group_entries,
)
from sklearn_interpret._model.rows.number_format import column_texts, number_beside
from sklearn_interpret._plotting.axes import axes_inches
from sklearn_interpret._plotting.colours import ink, paper, shade
from sklearn_interpret._plotting.feature_values import FeatureReader
from sklearn_interpret._plotting.labels import (
    CHARACTERS_PER_INCH,
    literal,
    shorten,
    write_near,
)
from sklearn_interpret._plotting.ranked_bars import (
    draw_signed_arrows,
    draw_spreads,
    finish_rows,
    label_ends,
    name_pitch,
    others_text,
    row_height,
)
from sklearn_interpret.shapley._break_down import BreakDownExplanation
from sklearn_interpret.shapley._plot._base import ShapleyDisplay
from sklearn_interpret.shapley._plot._groups import Line, Lines, grouped_lines

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import LineCollection

    from sklearn_interpret._plotting.axes import Style
    from sklearn_interpret.explanations import Explanation

STEP_HEIGHT = 0.72  # share of the height of a line
# Standard errors to each side of a step's end: 95 % of normal errors are within.
N_ERRORS = 2.0


class ShapleyWaterfallDisplay(ShapleyDisplay):
    """One prediction, taken apart step by step: from the base value to the prediction.

    Build it with `from_estimator` or `from_explanation`. From the bottom up, each arrow
    starts where the one below it ended; the strongest are on top, and features beyond
    `max_entries` are the first step. Where the explanation has groups, the arrow of a
    group spans the smaller arrows of its members, which are below it. If features are
    in more than two groups, one in the other, only features have arrows, and the groups
    are a tree on the left.

    The explanation of a :class:`BreakDown` has steps of its own, which are numbered and
    drawn in their order from the top down; those beyond `max_entries` are the last one.

    Parameters
    ----------
    explanation : Explanation
        The explained row, or several of which `row` is drawn.
    row : int, default=None
        Position of the row to draw; None takes the only one.
    target : class label or int, default=None
        The output to draw; None takes the only one.
    response_name : str, default=None
        Response that the values add up to; None says "response".

    Attributes
    ----------
    figure_ : matplotlib Figure
        The figure drawn on.
    ax_ : matplotlib Axes
        The axes drawn on.
    ups_, downs_ : PolyCollection
        The steps up and down, from the top.
    labels_ : list of Text
        The sizes of the steps, written at their points, from the top.
    base_line_, prediction_line_ : Line2D
        Where the steps start and end.
    errors_ : LineCollection or None
        Two standard errors to each side of the steps' ends, for sampled values.

    See Also
    --------
    ShapleyForceDisplay : The same in one line, or for many rows.

    Examples
    --------
    >>> from sklearn_interpret.explanations import Explanation
    >>> from sklearn_interpret.shapley import ShapleyWaterfallDisplay
    >>> explanation = Explanation(
    ...     [[1.0, -3.0], [0.5, 2.0]], [10.0, 10.0], feature_names=["age", "income"]
    ... )
    >>> display = ShapleyWaterfallDisplay.from_explanation(explanation, row=0)
    >>> display.to_frame()
      feature  shapley_value  start   end
    0  income           -3.0   11.0   8.0
    1     age            1.0   10.0  11.0

    A group is a step that spans the steps of its members:

    >>> explanation = Explanation(
    ...     [[0.5, 0.25, -1.0]],
    ...     [3.0],
    ...     feature_names=["latitude", "longitude", "rooms"],
    ...     groups={"location": ["latitude", "longitude"]},
    ... )
    >>> display = ShapleyWaterfallDisplay.from_explanation(explanation)
    >>> display.to_frame().fillna("-")
          group    feature  shapley_value  start   end
    0         -      rooms          -1.00   3.75  2.75
    1  location          -           0.75   3.00  3.75
    2  location   latitude           0.50   3.25  3.75
    3  location  longitude           0.25   3.00  3.25
    """

    def _one_row(self) -> Explanation:
        explanation = self._drawn_explanation()
        if len(explanation) > 1:
            raise ValueError(
                f"The explanation has {len(explanation)} rows: choose one by row=, "
                "counted from 0."
            )
        return explanation

    def plot(
        self,
        ax: Any = None,
        *,
        max_entries: int | None = 20,
        step_kw: dict[str, Any] | None = None,
    ) -> Self:
        """Draw one step for each feature, or the steps of a break-down.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            None makes a figure.
        max_entries : int, default=20
            Largest number of steps; None shows all features.
        step_kw : dict, default=None
            Style of the arrows.

        Returns
        -------
        self : object
            The display.
        """
        explanation = self._one_row()
        steps = self._make_steps(explanation, max_entries)
        size = (7.0, row_height(len(steps.names), name_pitch(steps.names)) + 0.3)
        ax = self._take_axes(ax, size)
        steps.lines.write_names(ax, steps.names)
        self._draw_steps(ax, steps, step_kw)
        self._connect_steps(ax, steps)
        self.errors_ = self._draw_errors(ax, steps)
        self._mark_ends(ax, explanation, np.ptp([*steps.starts, *steps.ends]))
        self._move_crossed_labels(ax, steps)
        label = shorten(self._append_row_name(self._response()), 60)
        if self.errors_ is not None:
            label += "\n(thin lines: two standard errors to each side)"
        finish_rows(ax, literal(label), hidden=("top", "right", "left"))
        return self

    def _make_steps(self, explanation: Explanation, max_entries: int | None) -> Steps:
        """Steps of an explanation of one row and one output, at most `max_entries`.

        Steps of a break-down are in its order, from above; other steps by strength.
        """
        if downwards := isinstance(explanation, BreakDownExplanation):
            lines, names = self._lines_in_order(explanation, max_entries)
        else:
            lines, names = self._lines_by_strength(explanation, max_entries)
        members = [line.features for line in lines.lines]
        sizes = np.array([explanation.values[0, list(step)].sum() for step in members])
        if downwards:
            starts, ends = (each[::-1] for each in _edges(sizes[::-1], lines.depths))
        else:
            starts, ends = _edges(sizes, lines.depths)
        base = explanation.base_values[0]
        errors = _step_errors(explanation, members)
        return Steps(lines, names, sizes, base + starts, base + ends, errors, downwards)

    def _lines_by_strength(
        self, explanation: Explanation, max_entries: int | None
    ) -> tuple[Lines, list[str]]:
        """Lines of features and groups, the strongest on top, and their names."""
        entries = group_entries(explanation.groups, explanation.feature_names)
        (values,) = append_group_sums(explanation.values, entries)
        lines = grouped_lines(entries, np.abs(values), max_entries)
        return lines, [
            line.name(columns=explanation.columns)
            if line.is_group or len(line.entries) > 1
            else self._entry_texts([line.features], in_full=True)[0]
            for line in lines.lines
        ]

    def _lines_in_order(
        self, explanation: BreakDownExplanation, max_entries: int | None
    ) -> tuple[Lines, list[str]]:
        """Lines of a break-down in its order, and their names."""
        members, remaining = _steps_in_order(explanation, max_entries)
        texts = self._entry_texts(members, in_full=True)
        names = [f"{number}. {text}" for number, text in enumerate(texts, start=1)]
        if remaining:
            members = [*members, remaining]
            names.append(others_text(len(remaining), explanation.columns))
        lines = [
            Line(tuple(Entry(explanation.feature_names[j], j, ()) for j in step))
            for step in members
        ]
        return Lines(lines, [], False), names

    def _draw_steps(self, ax: Axes, steps: Steps, style: Style | None) -> None:
        """Arrows, and the size of each step at its point."""
        starts, ends, half_widths = steps.starts, steps.ends, steps.half_widths
        edges = np.concatenate([starts, ends, ends - half_widths, ends + half_widths])
        low, high = edges.min(), edges.max()
        span = (high - low) or max(abs(low), 1.0) * 0.1
        sizes = ends - starts
        texts = column_texts(sizes, signed=True)
        # The numbers at the arrows need room within the axes.
        inches = (max(map(len, texts)) + 2) / CHARACTERS_PER_INCH
        margin = max(0.08, inches / max(axes_inches(ax)[0] - 2 * inches, 1.0)) * span
        ax.set_xlim(low - margin, high + margin)
        self.ups_, self.downs_ = draw_signed_arrows(
            ax, starts, ends, steps.positions, steps.heights, 0.015 * span, style
        )
        outer_ends = np.where(sizes >= 0, ends + half_widths, ends - half_widths)
        self.labels_ = label_ends(ax, outer_ends, steps.positions, sizes, signed=True)

    def _move_crossed_labels(self, ax: Axes, steps: Steps) -> None:
        """Move numbers that a vertical line would cross to their arrows' tails."""
        from matplotlib.patheffects import withStroke

        lines = [
            np.ravel(line.get_xdata())[0]
            for line in (self.base_line_, self.prediction_line_)
        ]
        per_inch = np.ptp(ax.get_xlim()) / axes_inches(ax)[0]
        signs = np.where(steps.ends >= steps.starts, 1, -1)
        # The error line may be longer than the arrow.
        inner_ends = signs * steps.ends - steps.half_widths
        tails = signs * np.minimum(signs * steps.starts, inner_ends)
        for label, tail, sign in zip(self.labels_, tails, signs, strict=True):
            # Where neither side is free, the lines are interrupted.
            label.set_path_effects([withStroke(linewidth=3, foreground=paper(ax))])
            width = (len(label.get_text()) + 2) / CHARACTERS_PER_INCH * per_inch
            is_crossed_at_point, is_crossed_at_tail = (
                any(0 < side * (line - start) < width for line in lines)
                for start, side in ((label.xy[0], sign), (tail, -sign))
            )
            if is_crossed_at_point and not is_crossed_at_tail:
                gap, _ = label.get_position()
                label.xy = tail, label.xy[1]
                label.set(position=(-gap, 0), ha="right" if sign > 0 else "left")

    def _connect_steps(self, ax: Axes, steps: Steps) -> None:
        """Thin lines from each step to the next."""
        # Upwards, a step ends where the step above it starts, or the group above it
        # ends; downwards, it starts where the step above it ends.
        x = steps.starts if steps.downwards else steps.ends
        half = steps.heights / 2
        low, high = steps.positions[1:] + half[1:], steps.positions[:-1] - half[:-1]
        ax.vlines(x[1:], low, high, color=shade(ax, 0.45), linewidth=0.8)

    def _draw_errors(self, ax: Axes, steps: Steps) -> LineCollection | None:
        has_error = steps.half_widths > 0
        if not has_error.any():
            return None
        low = (steps.ends - steps.half_widths)[has_error]
        high = (steps.ends + steps.half_widths)[has_error]
        positions = steps.positions[has_error]
        return draw_spreads(ax, positions, low, high, linewidth=1.2, zorder=3)

    def _mark_ends(self, ax: Axes, explanation: Explanation, span: float) -> None:
        """Lines and numbers at the base value and at the prediction."""
        base = explanation.base_values[0]
        prediction = explanation.predictions_or_sums[0]
        line_style: Style = {"linewidth": 0.9, "zorder": 0.8}
        dashed: dict[str, Any] = {"color": shade(ax, 0.5), "linestyle": "--"}
        self.base_line_ = ax.axvline(base, **dashed, **line_style)
        self.prediction_line_ = ax.axvline(prediction, color=ink(ax), **line_style)
        base_is_left = base <= prediction
        for response, name, on_left in (
            (base, "base value", base_is_left),
            (prediction, "prediction f(x)", not base_is_left),
        ):
            text_style: Style = {"xycoords": ax.get_xaxis_transform(), "va": "bottom"}
            text_style["ha"] = "right" if on_left else "left"
            text = f"{name}\n{number_beside(response, span)}"
            write_near(
                ax, text, (response, 1.0), (-3 if on_left else 3, 2), **text_style
            )

    def to_frame(self) -> Any:
        """Numbers drawn, as a DataFrame, all steps on lines of their own.

        Returns
        -------
        pandas.DataFrame
            One line per step, from the top down, with the columns "feature" ("a:b" for
            a step of two), "value" (in the data, where there is one; a tuple for two),
            "shapley_value" (or what the explanation calls its values, as "contribution"
            of a break-down), "start", "end", and "standard_error" where the values are
            sampled (missing for several features). Where there are groups, their steps
            have no feature, and the column "group" is first ("outer / inner" for a
            group within another).
        """
        explanation = self._one_row()
        steps = self._make_steps(explanation, None)
        table = FeatureReader(explanation).table(range(explanation.values.shape[1]))[0]
        features = np.array(explanation.feature_names, dtype=object)
        names, entries = [], []
        for line in steps.lines.lines:
            step = list(line.features)
            names.append(None if line.is_group else ":".join(features[step]))
            cells = [None] if line.is_group else table[step]
            entries.append(cells[0] if len(cells) == 1 else tuple(cells))
        groups = [line.entries[0].group for line in steps.lines.lines]
        columns: dict[str, Any] = {
            "group": np.array(groups, dtype=object),
            "feature": np.array(names, dtype=object),
            "value": entries,
            self._column: steps.sizes,
            "start": steps.starts,
            "end": steps.ends,
        }
        if explanation.groups is None:
            del columns["group"]
        if explanation.data is None:
            del columns["value"]
        if explanation.standard_errors is not None:
            columns["standard_error"] = steps.errors
        return self._frame(columns)


@dataclass(frozen=True)
class Steps:
    """Steps of one row, listed from the top."""

    lines: Lines
    names: list[str]
    sizes: NDArray[np.float64]
    starts: NDArray[np.float64]
    ends: NDArray[np.float64]
    # Standard errors: zero where values are exact, NaN for several features.
    errors: NDArray[np.float64]
    # Whether each step starts where the step above it ends, not the step below it.
    downwards: bool

    @property
    def positions(self) -> NDArray[np.intp]:
        """Heights of the steps; the last step has the height 0."""
        return np.arange(len(self.names))[::-1]

    @property
    def heights(self) -> NDArray[np.float64]:
        """Heights of the arrows."""
        return STEP_HEIGHT * self.lines.heights

    @property
    def half_widths(self) -> NDArray[np.float64]:
        """Half lengths of the error lines around the steps' ends."""
        return N_ERRORS * np.nan_to_num(self.errors)


def _edges(
    sizes: NDArray[np.float64], depths: NDArray[np.intp]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Starts and ends of steps, of which the lowest starts at zero.

    A group starts where the lowest step within it starts, and ends where the highest
    one ends.
    """
    starts, ends, edge = np.zeros(len(sizes)), np.zeros(len(sizes)), 0.0
    for k in range(len(sizes))[::-1]:
        n_inside = int(np.argmin(np.append(depths[k + 1 :] > depths[k], False)))
        starts[k] = starts[k + n_inside] if n_inside else edge
        edge = edge if n_inside else edge + sizes[k]
        ends[k] = edge
    return starts, ends


def _steps_in_order(
    explanation: BreakDownExplanation, max_entries: int | None
) -> tuple[list[tuple[int, ...]], tuple[int, ...]]:
    """Features of each step, in the order of the break-down; the remaining features."""
    steps = explanation.steps(0)
    if max_entries is None or len(steps) <= max_entries:
        return steps, ()
    remaining = [feature for step in steps[max_entries - 1 :] for feature in step]
    return steps[: max_entries - 1], tuple(remaining)


def _step_errors(
    explanation: Explanation, members: list[tuple[int, ...]]
) -> NDArray[np.float64]:
    """Standard errors of the steps; zero where values are exact."""
    if explanation.standard_errors is None:
        return np.zeros(len(members))
    errors = explanation.standard_errors[0]
    return np.array([errors[step[0]] if len(step) == 1 else np.nan for step in members])
