"""Display of one prediction's Shapley values, as steps from the base value."""

from typing import Any, Self

import numpy as np

from sklearn_interpret._choosing import predictions_of
from sklearn_interpret._plotting.attributions import draw_arrows, name_rows
from sklearn_interpret._plotting.axes import axes_inches, take_single
from sklearn_interpret._plotting.labels import (
    CHARACTERS_PER_INCH,
    DOWN_COLOUR,
    UP_COLOUR,
    literal,
    shorten,
)
from sklearn_interpret._plotting.layouts import row_height
from sklearn_interpret._plotting.numbers import (
    number_beside,
    number_text,
    plain_number_ticks,
)
from sklearn_interpret._plotting.tables import import_pandas
from sklearn_interpret.shapley._break_down import BreakDownExplanation
from sklearn_interpret.shapley._plot._base import ShapleyDisplay
from sklearn_interpret.shapley._plot._features import FeatureReader
from sklearn_interpret.shapley._plot._waterfall_lines import waterfall_lines

STEP_HEIGHT = 0.72
N_ERRORS = 2.0


class ShapleyWaterfallDisplay(ShapleyDisplay):
    """One prediction, taken apart step by step: from the base value to the prediction.

    Build it with `from_estimator` or `from_explanation`. From the bottom up, each arrow
    starts where the one below it ended; the strongest are on top, and features beyond
    `max_display` are the first step.

    The explanation of a :class:`BreakDown` has steps of its own, which are numbered and
    drawn in their order from the top down; those beyond `max_display` are the last one.

    Parameters
    ----------
    explanation : Explanation
        The explained row, or several of which `row` is drawn.
    row : int, default=None
        Position of the row to draw; None takes the only one.
    target : class label or int, default=None
        The output to draw; None takes the only one.
    response_name : str, default=None
        What the values are shares of; None says "response".

    Attributes
    ----------
    figure_ : matplotlib Figure
        The figure drawn on.
    ax_ : matplotlib Axes
        The axes drawn on.
    ups_, downs_ : PolyCollection
        The steps up and down, from the top.
    labels_ : list of Text
        The sizes of the steps beside them, from the top.
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
    """

    def _one_row(self):
        explanation = self._rows()
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
        max_display: int | None = 12,
        step_kw: dict[str, Any] | None = None,
    ) -> Self:
        """Draw one step for each feature, or those of the explanation's own.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            None makes a figure.
        max_display : int, default=12
            Largest number of steps; None shows all features.
        step_kw : dict, default=None
            Style of the arrows.

        Returns
        -------
        self : object
            The display.
        """
        explanation = self._one_row()
        lines = waterfall_lines(explanation, max_display)
        names, starts, ends = lines.names, lines.starts, lines.ends
        ax = take_single(ax, (7.0, row_height(len(names)) + 0.3), caller=self._caller())
        self.figure_, self.ax_ = ax.figure, ax
        name_rows(ax, names)
        reach = N_ERRORS * np.nan_to_num(lines.errors)
        self._draw_steps(ax, starts, ends, reach, step_kw)
        self._connect(ax, starts if lines.downwards else ends)
        self.errors_ = self._draw_errors(ax, ends, reach)
        self._mark_ends(ax, explanation, np.ptp([*starts, *ends]))
        label = shorten(self._response(), 60)
        if self.errors_ is not None:
            label += "\n(black: two standard errors to each side)"
        ax.set_xlabel(literal(label))
        ax.spines[["top", "right", "left"]].set_visible(False)
        return self

    def _draw_steps(self, ax, starts, ends, reach, style):
        """Arrows, connecting lines, and the size of each step beside its point."""
        low, high = _range(starts, ends)
        low, high = min(low, (ends - reach).min()), max(high, (ends + reach).max())
        span = (high - low) or max(abs(low), 1.0) * 0.1
        texts = [number_text(step, signed=True) for step in ends - starts]
        # What is beside the arrows needs room within the axes.
        inches = (max(map(len, texts)) + 2) / CHARACTERS_PER_INCH
        margin = max(0.08, inches / max(axes_inches(ax)[0] - 2 * inches, 1.0)) * span
        ax.set_xlim(low - margin, high + margin)
        places = np.arange(len(starts))[::-1]
        up = ends >= starts
        self.ups_, self.downs_ = (
            draw_arrows(
                ax,
                starts[mask],
                ends[mask],
                places[mask],
                STEP_HEIGHT,
                0.015 * span,
                colour,
                style,
            )
            for mask, colour in ((up, UP_COLOUR), (~up, DOWN_COLOUR))
        )
        outer = np.where(up, ends + reach, ends - reach)
        self.labels_ = list(map(self._label_step, texts, outer, places, ends - starts))
        plain_number_ticks(ax)

    def _connect(self, ax, meetings):
        """Thin lines from each step to the next, where the lower one meets the upper.

        A step taken from below ends where the one above it starts, and the other way
        round.
        """
        places, half = np.arange(len(meetings))[::-1], STEP_HEIGHT / 2
        ax.vlines(
            meetings[1:],
            places[1:] + half,
            places[:-1] - half,
            color="0.6",
            linewidth=0.8,
        )

    def _label_step(self, text, outer, place, step):
        colour = UP_COLOUR if step > 0 else DOWN_COLOUR if step < 0 else "0.4"
        return self.ax_.annotate(
            text,
            (outer, place),
            xytext=(-4 if step < 0 else 4, 0),
            textcoords="offset points",
            ha="right" if step < 0 else "left",
            va="center",
            fontsize="small",
            color=colour,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.5},
        )

    def _draw_errors(self, ax, ends, reach):
        if not reach.any():
            return None
        known = reach > 0
        places = np.arange(len(ends))[::-1][known]
        ends, reach = ends[known], reach[known]
        return ax.hlines(
            places, ends - reach, ends + reach, color="black", linewidth=1.2, zorder=3
        )

    def _mark_ends(self, ax, explanation, span):
        """Lines and numbers at the base value and at the prediction."""
        base = explanation.base_values[0]
        prediction = predictions_of(explanation)[0]
        style = {"linewidth": 0.9, "zorder": 0.8}
        self.base_line_ = ax.axvline(base, color="0.5", linestyle="--", **style)
        self.prediction_line_ = ax.axvline(prediction, color="black", **style)
        for place, text, beside in (
            (base, "base value\nE[f(X)]", prediction),
            (prediction, "prediction\nf(x)", base),
        ):
            left = place < beside or (place == beside and text.startswith("base"))
            ax.annotate(
                f"{text} = {number_beside(place, span)}",
                (place, 1.0),
                xycoords=ax.get_xaxis_transform(),
                xytext=(-3 if left else 3, 2),
                textcoords="offset points",
                ha="right" if left else "left",
                va="bottom",
                fontsize="small",
            )

    def to_frame(self) -> Any:
        """Numbers drawn, as a DataFrame, all steps on lines of their own.

        Returns
        -------
        pandas.DataFrame
            One line per step, from the top down, with the columns "feature" ("a:b" for
            a step of two), "value" (in the data, where there is one; a tuple for two),
            "shapley_value" (of a break-down "contribution"), "start", "end", and
            "standard_error" where the values are sampled.
        """
        pandas = import_pandas(self._caller("to_frame"))
        explanation = self._one_row()
        lines = waterfall_lines(explanation, None)
        table = FeatureReader(explanation).table(range(explanation.values.shape[1]))[0]
        entries = [tuple(table[list(step)]) for step in lines.members]
        own = isinstance(explanation, BreakDownExplanation)
        features = np.array(explanation.feature_names, dtype=object)
        columns = {
            "feature": [":".join(features[list(step)]) for step in lines.members],
            "value": [each[0] if len(each) == 1 else each for each in entries],
            "contribution" if own else "shapley_value": lines.sizes,
            "start": lines.starts,
            "end": lines.ends,
        }
        if explanation.data is None:
            del columns["value"]
        if explanation.standard_errors is not None:
            columns["standard_error"] = lines.errors
        return pandas.DataFrame(columns)


def _range(starts, ends):
    edges = np.concatenate([starts, ends])
    return edges.min(), edges.max()
