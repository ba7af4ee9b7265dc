"""Display of all Shapley values as a heat map, similar rows side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from sklearn_interpret._plotting.colours import ink, shade
from sklearn_interpret._plotting.labels import literal, plain_number_ticks, shorten
from sklearn_interpret._plotting.points import clipped_range
from sklearn_interpret._plotting.ranked_bars import name_rows, row_height
from sklearn_interpret._plotting.surfaces import draw_heat_map
from sklearn_interpret.shapley._plot._base import add_colour_bar, strongest_features
from sklearn_interpret.shapley._plot._rows import OrderedRowsDisplay, draw_steps

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from sklearn_interpret.explanations import Explanation

# Inches: height of the curve of predictions, gap below it, and height of a line.
CURVE_HEIGHT = 0.8
GAP = 0.12
LINE_HEIGHT = 0.3
TAIL_SHARE = 0.01  # largest share of values beyond the ends of the colours


class ShapleyHeatmapDisplay(OrderedRowsDisplay):
    """Shapley values as a heat map: a column for each row, a line for each feature.

    Build it with `from_estimator` or `from_explanation`. The strongest feature is on
    top, and above it a curve of the predictions. Rows with similar Shapley values stand
    side by side, so that predictions that come about alike are seen as blocks. Features
    beyond `max_entries` share the last line, which shows the sum of their Shapley
    values. The colours are centred at zero, and end where 1 % of the values of the
    single features lie beyond.

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
        In which order the rows stand: rows with similar Shapley values side by side
        (hierarchical clustering), by the prediction, as they were given, or by the
        values of a feature, given by position or name.

    Attributes
    ----------
    figure_ : matplotlib Figure
        The figure drawn on.
    ax_ : matplotlib Axes
        The axes drawn on.
    row_order_ : ndarray of int of shape (n_rows,)
        Positions of the rows as drawn, from the left.
    heatmap_ : QuadMesh
        The heat map; its array (n_lines, n_rows) has the last line first.
    curve_ax_ : matplotlib Axes
        Axes of the curve, within `ax_`.
    prediction_line_, base_line_ : Line2D
        The curve, and the base values.
    colorbar_ : Colorbar or None
        The colour bar.

    See Also
    --------
    ShapleyForceDisplay : The same rows as areas that add up to the predictions.
    ShapleySummaryDisplay : The values of each feature, whatever the row.

    Examples
    --------
    >>> from sklearn_interpret.explanations import Explanation
    >>> from sklearn_interpret.shapley import ShapleyHeatmapDisplay
    >>> explanation = Explanation(
    ...     [[1.0, -3.0], [0.5, 2.0], [0.0, 1.0]], [10.0, 10.0, 10.0],
    ...     feature_names=["age", "income"],
    ... )
    >>> display = ShapleyHeatmapDisplay.from_explanation(
    ...     explanation, order="prediction"
    ... )
    >>> display.heatmap_.get_array().tolist()
    [[1.0, 0.0, 0.5], [-3.0, 1.0, 2.0]]
    """

    def plot(
        self,
        ax: Any = None,
        *,
        max_entries: int | None = 20,
        colorbar: bool = True,
        heatmap_kw: dict[str, Any] | None = None,
    ) -> Self:
        """Draw the heat map, and the predictions above it.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            None makes a figure.
        max_entries : int, default=20
            Largest number of lines; None shows all features.
        colorbar : bool, default=True
            Draw a colour bar next to the axes.
        heatmap_kw : dict, default=None
            Style of the heat map.

        Returns
        -------
        self : object
            The display.
        """
        explanation = self._drawn_explanation()
        self.row_order_ = self._row_order(explanation)
        ordered = explanation[self.row_order_]
        selected, contributions, names = strongest_features(ordered, max_entries)
        height = row_height(len(names), LINE_HEIGHT) + CURVE_HEIGHT
        ax = self._take_axes(ax, (7.6, height))
        sizes = np.abs(contributions)
        single_sizes = sizes[:, : len(selected)].ravel()
        limit = clipped_range(single_sizes, TAIL_SHARE)[1] or 1.0
        # Lines count from the bottom, features from the top: the columns are reversed.
        x, y = (np.arange(count + 1) - 0.5 for count in contributions.shape)
        self.heatmap_ = draw_heat_map(
            ax,
            x,
            y,
            contributions[:, ::-1],
            (-limit, limit),
            heatmap_kw,
            diverging=True,
        )
        name_rows(ax, names)
        ax.grid(visible=False)
        ax.spines[:].set_visible(False)
        self._name_order(ax, explanation)
        self._draw_curve(ax, ordered, height)
        self.colorbar_ = None
        if colorbar:
            bar_kwargs = {"extend": "both" if sizes.max() > limit else "neither"}
            name = self.explanation.value_name
            self.colorbar_ = add_colour_bar(ax, self.heatmap_, name, **bar_kwargs)
        return self

    def _draw_curve(self, ax: Axes, ordered: Explanation, height: float) -> None:
        """Predictions above the heat map, within the axes."""
        share = CURVE_HEIGHT / (height - 1.0)  # of the axes
        n_lines = len(ax.get_yticks())
        n_lines_with_curve = n_lines / (1 - share - GAP / height)
        ax.set(xlim=(-0.5, len(ordered) - 0.5), ylim=(-0.5, n_lines_with_curve - 0.5))
        curve = self.curve_ax_ = ax.inset_axes((0, 1 - share, 1, share), sharex=ax)
        line_style = {"linewidth": 1.0, "linestyle": "--", "color": shade(curve, 0.65)}
        self.base_line_ = draw_steps(curve, ordered.base_values, **line_style)
        line_style = {"linewidth": 1.2, "color": ink(curve)}
        predictions = ordered.predictions_or_sums
        self.prediction_line_ = draw_steps(curve, predictions, **line_style)
        curve.margins(y=0.1)
        plain_number_ticks(curve, "y", most=3)
        curve.tick_params(axis="x", bottom=False, labelbottom=False)
        curve.spines[["top", "right", "bottom"]].set_visible(False)
        title = f"{shorten(self._response(), 44)}: f(x), dashed the base value"
        curve.set_title(literal(title), loc="left", fontsize="small")
