"""Display of the effects of a linear model's terms on rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import is_classifier

from sklearn_interpret._model.rows.number_format import value_text
from sklearn_interpret._plotting.axes import side_legend
from sklearn_interpret._plotting.colours import (
    NEUTRAL_COLOUR,
    PALETTE,
    paper,
    shade,
    stand_out,
)
from sklearn_interpret._plotting.displays import Display
from sklearn_interpret._plotting.labels import two_lines
from sklearn_interpret._plotting.points import draw_points
from sklearn_interpret._plotting.ranked_bars import (
    append_combined,
    draw_boxes,
    finish_rows,
    name_rows,
    quartiles,
    rank_entries,
    row_height,
)
from sklearn_interpret._plotting.sources import check_numbers
from sklearn_interpret.explanations._selection import row_position
from sklearn_interpret.linear._coefficient_inference import CoefficientInference

if TYPE_CHECKING:
    from sklearn_interpret._plotting.axes import Style
    from sklearn_interpret._plotting.sources import Data

_WIDTH, _LEGEND_WIDTH = 6.0, 1.5  # inches
_BOX_HEIGHT = 0.7  # share of a line
_BOX_COLOUR = PALETTE[5]  # not used for rows
# Markers of rows, which differ in shape and colour.
_MARKERS = "XDsv^<>Po*"
# Numbers of a box, in the table.
_COLUMNS = ("minimum", "first_quartile", "median", "third_quartile", "maximum")


@dataclass(eq=False, repr=False)
class LinearEffectDisplay(Display):
    """Effects of a linear model's features on rows, weight times value, as boxes.

    Terms of one feature, such as the levels of a category, are summed, unless a step of
    a pipeline mixes features. Unlike weights, effects can be compared: they
    are in the unit of the linear predictor. Boxes reach from quartile to quartile,
    whiskers to the smallest and the largest effect. Terms beyond `max_entries`, those
    whose effects differ least between rows, share the last line, which shows the sum of
    their effects. Build it with `from_estimator`, or from arrays of your own.

    Parameters
    ----------
    effects : array-like of shape (n_samples, n_terms)
        Effects.
    term_names : sequence of str
        Name of each term.
    values : array-like of shape (n_samples, n_terms), default=None
        Values of the rows. If one row is marked, names are followed by its values.
    row_names : sequence, default=None
        Names of the rows; None takes positions.
    response_name : str, default="prediction"
        Name of the sum of the effects, for the axis.
    output_names : sequence, default=None
        The class of log-odds alone.

    Attributes
    ----------
    figure_ : matplotlib Figure
        The figure drawn on.
    ax_ : matplotlib Axes
        The axes drawn on.
    boxes_ : BarContainer
        The boxes, from the top down.
    whiskers_ : LineCollection
        Their whiskers.
    points_ : list of PathCollection
        For each marked row its effects.
    zero_ : Line2D
        The line of no effect.
    legend_ : Legend or None
        The names of the marked rows.

    See Also
    --------
    sklearn_interpret.linear.CoefficientInference : Its `transform` returns the effects.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> from sklearn_interpret.linear import LinearEffectDisplay
    >>> X, y = [[1, 0], [2, 1], [3, 1], [4, 3], [6, 2]], [1.1, 1.9, 3.2, 3.9, 6.0]
    >>> model = LinearRegression().fit(X, y)
    >>> display = LinearEffectDisplay.from_estimator(model, X, y, rows=[0])
    >>> display.to_frame()[["term", "minimum", "median", "maximum"]].round(2)
      term  minimum  median  maximum
    0   x0     1.03    3.10      6.2
    1   x1    -0.32   -0.11      0.0
    """

    _kinds = (CoefficientInference,)
    _without = frozenset()
    _shows_rows = True

    effects: ArrayLike
    _: KW_ONLY
    term_names: Sequence[str]
    values: ArrayLike | None = None
    row_names: Sequence[Any] | None = None
    response_name: str = "prediction"
    output_names: Sequence[Any] | None = None

    @classmethod
    def _from_inspector(cls, inspector: CoefficientInference, data: Data) -> Self:
        explanation = inspector.explain(data.X)
        return cls(
            explanation.values,
            term_names=explanation.feature_names,
            values=explanation._data_array(),
            row_names=list(explanation.row_names),
            response_name=explanation.response_name or "prediction",
            output_names=explanation.output_names if is_classifier(inspector) else None,
        )

    def plot(
        self,
        ax: Any = None,
        *,
        rows: Sequence[int] = (),
        max_entries: int | None = 20,
        box_kw: dict[str, Any] | None = None,
        point_kw: dict[str, Any] | None = None,
    ) -> Self:
        """Draw a box for each term, that of the most different effects on top.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            None makes a figure.
        rows : sequence of int, default=()
            Positions of rows to mark, at most ten.
        max_entries : int, default=20
            Largest number of lines; None shows all.
        box_kw : dict, default=None
            Style of the boxes.
        point_kw : dict, default=None
            Style of the marks.

        Returns
        -------
        self : LinearEffectDisplay
            The display.

        Raises
        ------
        ValueError
            Effects of another shape than the names, or not finite; an unknown row, or
            too many; a `max_entries` that is not a positive whole number.
        """
        effects = self._check_effects()
        rows = [row_position(row, len(effects)) for row in rows]
        if len(rows) > len(_MARKERS):
            raise ValueError(
                f"rows has {len(rows)} rows to mark; at most {len(_MARKERS)} can be "
                "distinguished."
            )
        selected, remaining = rank_entries(effects.std(axis=0), max_entries)
        lines = append_combined(effects.T, selected, remaining, np.sum)
        names = self._term_texts(selected, rows)
        if len(remaining):
            names.append(f"sum of {len(remaining)} other terms")
        size = (_WIDTH + _LEGEND_WIDTH * bool(rows), row_height(len(names)))
        ax = self._take_axes(ax, size)
        ax.use_sticky_edges = False
        places = np.arange(len(names))[::-1]
        self.boxes_, self.whiskers_ = draw_boxes(
            ax, places, lines, _BOX_COLOUR, box_kw, _BOX_HEIGHT
        )
        if len(remaining):
            self.boxes_.patches[-1].set_color(NEUTRAL_COLOUR)
        self._mark_rows(lines, places, rows, point_kw)
        name_rows(ax, names)
        self.zero_ = ax.axvline(0, color=shade(ax, 0.6), linewidth=0.9, zorder=0.9)
        response = self._response_label(self.output_names, 0)
        label = two_lines("Effect: weight times value", response)
        finish_rows(ax, f"{label}\n(boxes: middle half; whiskers: all rows)")
        return self

    def _term_texts(self, selected: NDArray[np.intp], rows: list[int]) -> list[str]:
        """Names of terms, with their values in the marked row if there is one only."""
        names = [str(self.term_names[term]) for term in selected]
        if self.values is None or len(rows) != 1:
            return names
        values = np.asarray(self.values)[:, selected].T
        texts = [value_text(column[rows[0]], column) for column in values]
        return [f"{name} = {text}" for name, text in zip(names, texts, strict=True)]

    def _mark_rows(
        self,
        lines: NDArray[np.float64],
        places: NDArray[np.intp],
        rows: list[int],
        style: Style | None,
    ) -> None:
        """Points of rows, and a legend of their names."""
        ax, self.points_, self.legend_ = self.ax_, [], None
        palette = [colour for colour in PALETTE[1:] if colour != _BOX_COLOUR]
        for position, row in enumerate(rows):
            point_style: Style = {"color": stand_out(palette[position], ax), "s": 40}
            point_style |= {"marker": _MARKERS[position], "zorder": 3, "linewidth": 0.6}
            point_style["edgecolor"] = paper(ax)
            points = draw_points(ax, lines[:, row], places, style, **point_style)
            self.points_.append(points)
        if rows:
            names = range(lines.shape[1]) if self.row_names is None else self.row_names
            texts = [names[row] for row in rows]
            self.legend_ = side_legend(
                ax, self.points_, texts, title="Row", corner="lower right"
            )

    def _check_effects(self) -> NDArray[np.float64]:
        """Effects (n_rows, n_terms), after a check of their shape."""
        n_terms = len(self.term_names)
        shapes, owner = [(None, n_terms)], f"{n_terms} term names"
        return check_numbers(self.effects, "effects", shapes, owner)

    def to_frame(self) -> Any:
        """Numbers of the boxes, as a DataFrame.

        Returns
        -------
        pandas.DataFrame
            A line for each term, that of the most different effects first: columns
            "term", "minimum", "first_quartile", "median", "third_quartile" and
            "maximum".

        Raises
        ------
        ImportError
            pandas is not installed.
        """
        effects = self._check_effects()
        order, _ = rank_entries(effects.std(axis=0), None)
        columns = dict(zip(_COLUMNS, quartiles(effects.T[order]), strict=True))
        return self._frame({"term": [self.term_names[j] for j in order], **columns})
