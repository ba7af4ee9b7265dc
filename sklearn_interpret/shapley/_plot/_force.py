"""Display of predictions between the features that push them up and down."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from sklearn_interpret._model.rows.number_format import column_texts, number_beside
from sklearn_interpret._plotting.axes import axes_inches, side_legend
from sklearn_interpret._plotting.colours import (
    NEUTRAL_COLOUR,
    colours,
    ink,
    paper,
    shade,
    sign_colours,
    stand_out,
    text_on,
)
from sklearn_interpret._plotting.labels import (
    literal,
    plain_number_ticks,
    shorten,
    write_near,
)
from sklearn_interpret._plotting.ranked_bars import (
    draw_signed_arrows,
    others_text,
    sign_legend,
)
from sklearn_interpret.shapley._plot._base import strongest_features
from sklearn_interpret.shapley._plot._rows import OrderedRowsDisplay, draw_steps

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import Collection, PolyCollection
    from matplotlib.legend import Legend

    from sklearn_interpret._plotting.axes import Style
    from sklearn_interpret.explanations import Explanation

# Heights in units of the y axis, whose zero is the middle of the arrows: height of the
# arrows, position of the first line of names below them, distance of the lines, and
# position of the names of both ends above the arrows.
ARROW_HEIGHT = 0.8
FIRST_LINE = -0.85
LINE_HEIGHT = 0.52
END_NAMES_HEIGHT = 0.55
MOST_LINES = 5  # of names
MOST_IN_LEGEND = 14  # areas
SMALL_CHARACTERS_PER_INCH = 13
NO_LINE = -1  # line of a label that has no room


class ShapleyForceDisplay(OrderedRowsDisplay):
    """Predictions where the forces of the features balance, for one row or many.

    Build it with `from_estimator` or `from_explanation`. For one row, arrows along a
    line lead to the prediction: from the left those of features that raise it, from the
    right those of features that lower it, the strongest next to it. Many rows stand
    side by side: below the line of predictions what raises them, above it what
    lowers them, in one colour for each of the strongest features.

    Parameters
    ----------
    explanation : Explanation
        The explained rows.
    row : int, default=None
        Position of a row to draw alone; None draws all rows.
    target : class label or int, default=None
        The output to draw; None takes the only one.
    response_name : str, default=None
        Response that the values add up to; None says "response".
    order : {"similarity", "prediction", "input"}, int or str, default="similarity"
        In which order several rows stand: rows with similar Shapley values side by
        side (hierarchical clustering), by the prediction, as they were given, or by
        the values of a feature, given by position or name.

    Attributes
    ----------
    figure_ : matplotlib Figure
        The figure drawn on.
    ax_ : matplotlib Axes
        The axes drawn on.
    row_order_ : ndarray of int of shape (n_rows,)
        Positions of the rows as drawn, from the left.
    ups_, downs_ : PolyCollection or None
        The arrows of one row, those next to the prediction first.
    labels_ : list of Text
        Text below the arrows of one row.
    areas_ : list of PolyCollection
        The areas of several rows, one for each feature drawn, that of the other
        features last.
    base_line_, prediction_line_ : artist
        Lines at the base value and at the prediction.
    legend_ : matplotlib Legend or None
        The legend.

    See Also
    --------
    ShapleyWaterfallDisplay : One row, with a line for each feature.

    References
    ----------
    .. [1] Z. Bar-Joseph, D. K. Gifford and T. S. Jaakkola, "Fast optimal leaf ordering
       for hierarchical clustering", Bioinformatics 17, 2001.
       https://doi.org/10.1093/bioinformatics/17.suppl_1.S22

    Examples
    --------
    >>> from sklearn_interpret.explanations import Explanation
    >>> from sklearn_interpret.shapley import ShapleyForceDisplay
    >>> explanation = Explanation(
    ...     [[1.0, -3.0], [0.5, 2.0], [0.0, 1.0]], [10.0, 10.0, 10.0],
    ...     feature_names=["age", "income"],
    ... )
    >>> display = ShapleyForceDisplay.from_explanation(explanation, order="prediction")
    >>> display.row_order_
    array([0, 2, 1])
    >>> one = ShapleyForceDisplay.from_explanation(explanation, row=1)
    >>> [text.get_text() for text in one.labels_]
    ['income (+2.0)', 'age (+0.5)']
    """

    def plot(
        self,
        ax: Any = None,
        *,
        max_entries: int | None = 7,
        force_kw: dict[str, Any] | None = None,
    ) -> Self:
        """Draw one row as a line of arrows, or several as areas.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            None makes a figure.
        max_entries : int, default=7
            Largest number of arrows or colours, the other features' included; None
            draws each feature on its own.
        force_kw : dict, default=None
            Style of the arrows or areas.

        Returns
        -------
        self : object
            The display.
        """
        explanation = self._drawn_explanation()
        self.row_order_ = self._row_order(explanation)
        selected, contributions, _ = strongest_features(explanation, max_entries)
        is_one_row = len(explanation) == 1
        ax = self._take_axes(ax, (9.0, 3.0 if is_one_row else 4.2))
        self.ups_: PolyCollection | None = None
        self.downs_: PolyCollection | None = None
        self.labels_: list[Any] = []
        self.areas_: list[Any] = []
        draw = self._draw_one if is_one_row else self._draw_many
        draw(ax, explanation, contributions, selected, force_kw)
        return self

    def _draw_one(
        self,
        ax: Axes,
        explanation: Explanation,
        contributions: NDArray[np.float64],
        selected: NDArray[np.intp],
        style: Style | None,
    ) -> None:
        """Arrows of one row that meet at the prediction, with names below them."""
        (pushes,), base = contributions, explanation.base_values[0]
        prediction = explanation.predictions_or_sums[0]
        segments = force_segments(prediction, pushes)
        far, near = segments.far, segments.near
        edges = np.concatenate([far, near, [base, prediction]])
        low, high = edges.min(), edges.max()
        span = (high - low) or max(abs(low), 1.0) * 0.1
        ax.set_xlim(low - 0.05 * span, high + 0.05 * span)
        plain_number_ticks(ax, most=8)
        heights = np.zeros(len(far))
        self.ups_, self.downs_ = draw_signed_arrows(
            ax, far, near, heights, ARROW_HEIGHT, 0.008 * span, style, notched=True
        )
        names = _add_others(self._entry_texts([(j,) for j in selected]), explanation)
        lowest = self._name_pushes(ax, (far + near) / 2, pushes, names)
        highest = self._mark_ends(ax, prediction, base, high - low)
        ax.set_ylim(lowest - 0.45, highest + 0.5)
        ax.set_yticks([])
        ax.set_xlabel(literal(shorten(self._append_row_name(self._response()), 60)))
        ax.spines[["top", "right", "left"]].set_visible(False)
        self.legend_: Legend | None = sign_legend(
            ax, "raises the prediction", "lowers the prediction"
        )

    def _name_pushes(
        self,
        ax: Axes,
        centres: NDArray[np.float64],
        pushes: NDArray[np.float64],
        names: list[str],
    ) -> float:
        """Write names below the arrows, if there is room; return the lowest height."""
        numbers = column_texts(pushes, signed=True)
        texts = [
            f"{name} ({value})" for name, value in zip(names, numbers, strict=True)
        ]
        lines, text_centres = _place_labels(ax, centres, texts, MOST_LINES)
        # The same transparency is invisible on dark paper.
        alpha = 0.6 if text_on(paper(ax)) == "black" else 1.0
        for k in np.flatnonzero(lines != NO_LINE):
            (colour,) = sign_colours(pushes[[k]])
            colour = stand_out(colour, ax, is_text=True)
            y = FIRST_LINE - LINE_HEIGHT * lines[k]
            line_x = [centres[k], centres[k], text_centres[k]]
            line_y = [-ARROW_HEIGHT / 2, y + 0.32, y + 0.18]
            line_style: Style = {"linewidth": 0.9, "alpha": alpha, "zorder": 1}
            ax.plot(line_x, line_y, color=colour, **line_style)
            text_style: Style = {"ha": "center", "va": "center", "color": colour}
            point = text_centres[k], y
            text = write_near(ax, texts[k], point, over=1, zorder=3, **text_style)
            self.labels_.append(text)
        return FIRST_LINE - LINE_HEIGHT * lines.max(initial=0)

    def _mark_ends(
        self, ax: Axes, prediction: float, base: float, span: float
    ) -> float:
        """Draw lines at both ends, with names above; return the height of the names."""
        ends = np.array([prediction, base])
        texts = [
            f"{name} = {number_beside(end, span)}"
            for name, end in zip(("prediction f(x)", "base value"), ends, strict=True)
        ]
        lines, text_centres = _place_labels(ax, ends, texts, 2)
        heights, end_lines = END_NAMES_HEIGHT + LINE_HEIGHT * lines, []
        end_styles = (ink(ax), "-"), (shade(ax, 0.65), "--")
        for k, (colour, dashes) in enumerate(end_styles):
            line_style: Style = {"linewidth": 1.2, "linestyle": dashes, "zorder": 2.5}
            y = [-ARROW_HEIGHT / 2, heights[k]]
            end_lines += ax.plot([ends[k]] * 2, y, color=colour, **line_style)
            text_style: Style = {"ha": "center", "va": "bottom", "color": colour}
            point = text_centres[k], heights[k] + 0.03
            write_near(ax, texts[k], point, over=1, **text_style)
        self.prediction_line_, self.base_line_ = end_lines
        return heights.max()

    def _draw_many(
        self,
        ax: Axes,
        explanation: Explanation,
        contributions: NDArray[np.float64],
        selected: NDArray[np.intp],
        style: Style | None,
    ) -> None:
        """An area for each feature: below the prediction where it raises it."""
        ordered = explanation[self.row_order_]
        predictions = ordered.predictions_or_sums
        segments = force_segments(predictions, contributions[self.row_order_])
        n_single = len(selected)
        # Black is the line's colour.
        palette = [each for each in colours(n_single + 1) if each != "#000000"]
        palette = palette[:n_single]
        palette += [NEUTRAL_COLOUR] * (contributions.shape[1] - n_single)
        areas = zip(segments.far.T, segments.near.T, palette, strict=True)
        self.areas_ = [
            _draw_area(ax, far, near, colour, style) for far, near, colour in areas
        ]
        linewidth = 1.3 if len(predictions) <= 200 else 0.8
        line = draw_steps(ax, predictions, color=ink(ax), linewidth=linewidth)
        base_style = {"color": shade(ax, 0.75), "linewidth": 1.0, "linestyle": "--"}
        base = draw_steps(ax, ordered.base_values, **base_style)
        self.prediction_line_, self.base_line_ = line, base
        ax.set_xlim(-0.5, len(predictions) - 0.5)
        ax.margins(y=0.04)
        plain_number_ticks(ax, "y")
        ax.spines[["top", "right"]].set_visible(False)
        names = _add_others(
            [explanation.feature_names[j] for j in selected], explanation
        )
        self.legend_ = side_legend(
            ax,
            [line, base, *self.areas_[:MOST_IN_LEGEND]],
            ["prediction f(x)", "base value", *names[:MOST_IN_LEGEND]],
            title="below f(x): raises it\nabove f(x): lowers it",
        )
        ax.set_ylabel(literal(shorten(self._response(), 40)))
        self._name_order(ax, explanation)


class ForceSegments(NamedTuple):
    """Ends of segments that push towards a prediction, of the shape (p,) or (n, p)."""

    far: NDArray[np.float64]  # from the prediction
    near: NDArray[np.float64]


def force_segments(
    prediction: NDArray[np.float64] | float, contributions: NDArray[np.float64]
) -> ForceSegments:
    """Segments that push towards the prediction, from below and from above.

    Positive contributions stand below the prediction and negative ones above it, the
    first of each kind next to it.
    """
    up = np.maximum(contributions, 0.0)
    down = np.maximum(-contributions, 0.0)
    offsets = np.where(
        contributions > 0, up - np.cumsum(up, axis=-1), np.cumsum(down, axis=-1) - down
    )
    near = np.asarray(prediction)[..., None] + offsets
    return ForceSegments(near - contributions, near)


def _add_others(names: list[str], explanation: Explanation) -> list[str]:
    """The names, and one for the net push of the features that have none."""
    n_others = len(explanation.feature_names) - len(names)
    if not n_others:
        return names
    return [*names, f"{others_text(n_others, explanation.columns)}, net"]


def _place_labels(
    ax: Axes, centres: NDArray[np.float64], texts: list[str], n_lines: int
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Lines and centres of texts, as in `label_lines`."""
    limits = ax.get_xlim()
    per_character = np.ptp(limits) / axes_inches(ax)[0] / SMALL_CHARACTERS_PER_INCH
    widths = np.array([len(text) + 2 for text in texts]) * per_character
    return label_lines(centres, widths, limits, n_lines)


def label_lines(
    centres: NDArray[np.float64],
    widths: NDArray[np.float64],
    limits: tuple[float, float],
    n_lines: int,
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Lines of text on which labels do not overlap, the first labels served first.

    Returns the line of each label (`NO_LINE` where there is no room), and the centres,
    moved so that labels end within the limits.
    """
    low, high = limits
    half_widths = np.asarray(widths) / 2
    centres = np.minimum(centres, high - half_widths)
    centres = np.maximum(centres, low + half_widths)
    lines = np.full(len(centres), NO_LINE, dtype=np.intp)
    for label in range(len(centres)):
        distances = np.abs(centres[:label] - centres[label])
        overlaps = distances < half_widths[:label] + half_widths[label]
        occupied = set(lines[:label][overlaps].tolist())
        free = [line for line in range(n_lines) if line not in occupied]
        if free:
            lines[label] = free[0]
    return lines, centres


def _draw_area(
    ax: Axes,
    far: NDArray[np.float64],
    near: NDArray[np.float64],
    colour: str,
    style: Style | None,
) -> Collection:
    """The contributions of one feature to all rows, as one artist."""
    from matplotlib.collections import PolyCollection

    edges = np.arange(len(far) + 1) - 0.5
    x = np.repeat(edges, 2)[1:-1]
    outward = np.column_stack([x, np.repeat(far, 2)])
    backward = np.column_stack([x, np.repeat(near, 2)])[::-1]
    area_style: Style = {"facecolor": colour, "edgecolor": "none", "alpha": 0.9}
    area = PolyCollection([np.vstack([outward, backward])], zorder=1.5, **area_style)
    area.set(**(style or {}))
    return ax.add_collection(area)
