"""Display of predictions between the features that push them up and down."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from sklearn_interpret._model.rows.number_format import column_texts, number_beside
from sklearn_interpret._plotting.axes import axes_inches, side_legend
from sklearn_interpret._plotting.colours import (
    NEUTRAL_COLOUR,
    READ,
    colours,
    ink,
    paper,
    seen,
    shade,
    sign_colours,
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
from sklearn_interpret.shapley._plot._base import strongest
from sklearn_interpret.shapley._plot._rows import OrderedRowsDisplay, draw_steps

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import Collection, PolyCollection
    from matplotlib.legend import Legend

    from sklearn_interpret._plotting.axes import Style
    from sklearn_interpret.explanations import Explanation

# Height of the arrows; heights of the first line of names below them, and from line to
# line; most lines of names, and height of the names of both ends above the arrows.
ARROW_HEIGHT = 0.8
FIRST_LINE, LINE_HEIGHT, N_LINES, ENDS_LINE = -0.85, 0.52, 5, 0.55
MOST_NAMED = 14  # areas in the legend
SMALL_PER_INCH = 13  # small letters per inch


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
        explanation = self._rows()
        self.row_order_ = self._row_order(explanation)
        selected, contributions, _ = strongest(explanation, max_entries)
        single = len(explanation) == 1
        ax = self._take(ax, (9.0, 3.0 if single else 4.2))
        self.ups_: PolyCollection | None = None
        self.downs_: PolyCollection | None = None
        self.labels_: list[Any] = []
        self.areas_: list[Any] = []
        draw = self._draw_one if single else self._draw_many
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
        far, near = force_edges(prediction, pushes)
        edges = np.concatenate([far, near, [base, prediction]])
        low, high = edges.min(), edges.max()
        span = (high - low) or max(abs(low), 1.0) * 0.1
        ax.set_xlim(low - 0.05 * span, high + 0.05 * span)
        plain_number_ticks(ax, most=8)
        arrow_args = np.zeros(len(far)), ARROW_HEIGHT, 0.008 * span, style
        arrows = draw_signed_arrows(ax, far, near, *arrow_args, notched=True)
        self.ups_, self.downs_ = arrows
        names = _with_others(self._entries([(j,) for j in selected]), explanation)
        lowest = self._name_pushes(ax, (far + near) / 2, pushes, names)
        highest = self._mark_ends(ax, prediction, base, high - low)
        ax.set_ylim(lowest - 0.45, highest + 0.5)
        ax.set_yticks([])
        ax.set_xlabel(literal(shorten(self._of_row(self._response()), 60)))
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
        """Names below the arrows, if there is room; and the height of the lowest."""
        numbers = column_texts(pushes, signed=True)
        texts = [
            f"{name} ({value})" for name, value in zip(names, numbers, strict=True)
        ]
        lines, places = _lines(ax, centres, texts, N_LINES)
        # The same transparency is invisible on dark paper.
        alpha = 0.6 if text_on(paper(ax)) == "black" else 1.0
        for k in np.flatnonzero(lines >= 0):
            (colour,) = sign_colours(pushes[[k]])
            colour, y = seen(colour, ax, READ), FIRST_LINE - LINE_HEIGHT * lines[k]
            x = [centres[k], centres[k], places[k]]
            line_style: Style = {"linewidth": 0.9, "alpha": alpha, "zorder": 1}
            line_style["color"] = colour
            ax.plot(x, [-ARROW_HEIGHT / 2, y + 0.32, y + 0.18], **line_style)
            text_style: Style = {"ha": "center", "va": "center", "zorder": 3}
            text_style["color"] = colour
            name = write_near(ax, texts[k], (places[k], y), over=1, **text_style)
            self.labels_.append(name)
        return FIRST_LINE - LINE_HEIGHT * lines.max(initial=0)

    def _mark_ends(
        self, ax: Axes, prediction: float, base: float, span: float
    ) -> float:
        """Lines at both ends with names above them; and the height of the names."""
        ends = np.array([prediction, base])
        texts = [
            f"{name} = {number_beside(end, span)}"
            for name, end in zip(("prediction f(x)", "base value"), ends, strict=True)
        ]
        lines, places = _lines(ax, ends, texts, 2)
        heights, end_lines = ENDS_LINE + LINE_HEIGHT * lines, []
        for k, (colour, dashes) in enumerate(((ink(ax), "-"), (shade(ax, 0.65), "--"))):
            line_style: Style = {"linewidth": 1.2, "linestyle": dashes, "zorder": 2.5}
            y = [-ARROW_HEIGHT / 2, heights[k]]
            end_lines += ax.plot([ends[k]] * 2, y, color=colour, **line_style)
            text_style: Style = {"ha": "center", "va": "bottom", "color": colour}
            text_style["over"] = 1
            write_near(ax, texts[k], (places[k], heights[k] + 0.03), **text_style)
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
        """An area for each part: those that raise a prediction are below it."""
        ordered = explanation[self.row_order_]
        predictions = ordered.predictions_or_sums
        far, near = force_edges(predictions, contributions[self.row_order_])
        # Black is the line's colour.
        n_alone = len(selected)
        palette = [c for c in colours(n_alone + 1) if c != "#000000"][:n_alone]
        palette += [NEUTRAL_COLOUR] * (contributions.shape[1] - n_alone)
        self.areas_ = [
            _draw_area(ax, outer, inner, colour, style)
            for outer, inner, colour in zip(far.T, near.T, palette, strict=True)
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
        names = _with_others(
            [explanation.feature_names[j] for j in selected], explanation
        )
        self.legend_ = side_legend(
            ax,
            [line, base, *self.areas_[:MOST_NAMED]],
            ["prediction f(x)", "base value", *names[:MOST_NAMED]],
            title="below f(x): raises it\nabove f(x): lowers it",
        )
        ax.set_ylabel(literal(shorten(self._response(), 40)))
        self._name_order(ax, explanation)


def force_edges(
    prediction: NDArray[np.float64] | float, contributions: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Segments that push towards the prediction, from below and from above.

    Positive contributions stand below the prediction and negative ones above it, the
    first of each kind next to it. Returns the end of each segment that is away from the
    prediction, and the one towards it, of the shape (p,) or (n, p) of `contributions`.
    """
    up = np.maximum(contributions, 0.0)
    down = np.maximum(-contributions, 0.0)
    before = np.where(
        contributions > 0, up - np.cumsum(up, axis=-1), np.cumsum(down, axis=-1) - down
    )
    near = np.asarray(prediction)[..., None] + before
    return near - contributions, near


def _with_others(names: list[str], explanation: Explanation) -> list[str]:
    """The names, and one for the net push of the features that have none."""
    n_others = len(explanation.feature_names) - len(names)
    net_text = others_text(n_others, explanation.columns)
    return names + ([f"{net_text}, net"] if n_others else [])


def _lines(
    ax: Axes, centres: NDArray[np.float64], texts: list[str], n_lines: int
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Lines and centres of texts, as in `label_lines`."""
    limits = ax.get_xlim()
    per_character = np.ptp(limits) / axes_inches(ax)[0] / SMALL_PER_INCH
    widths = np.array([len(text) + 2 for text in texts]) * per_character
    return label_lines(centres, widths, limits, n_lines)


def label_lines(
    centres: NDArray[np.float64],
    widths: NDArray[np.float64],
    limits: tuple[float, float],
    n_lines: int,
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Lines of text on which labels do not overlap, the first labels served first.

    Returns the line of each label (-1 where there is no room), and the centres, moved
    so that labels end within the limits.
    """
    low, high = limits
    half = np.asarray(widths) / 2
    centres = np.maximum(np.minimum(centres, high - half), low + half)
    lines = np.full(len(centres), -1, dtype=np.intp)
    for label in range(len(centres)):
        is_apart = (
            np.abs(centres[:label] - centres[label]) >= half[:label] + half[label]
        )
        occupied = set(lines[:label][~is_apart].tolist())
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
    """One part's pushes in all rows, as one artist."""
    from matplotlib.collections import PolyCollection

    edges = np.arange(len(far) + 1) - 0.5
    x = np.repeat(edges, 2)[1:-1]
    outward = np.column_stack([x, np.repeat(far, 2)])
    backward = np.column_stack([x, np.repeat(near, 2)])[::-1]
    area_style: Style = {"facecolor": colour, "edgecolor": "none", "alpha": 0.9}
    area_style["zorder"] = 1.5
    area = PolyCollection([np.vstack([outward, backward])], **area_style)
    area.set(**(style or {}))
    return ax.add_collection(area)
