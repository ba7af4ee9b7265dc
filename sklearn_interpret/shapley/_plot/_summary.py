"""Display of all Shapley values, one swarm of points for each feature."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from sklearn_interpret._plotting.colours import feature_map, shade
from sklearn_interpret._plotting.feature_values import FeatureReader
from sklearn_interpret._plotting.labels import literal, shorten
from sklearn_interpret._plotting.points import (
    clipped_range,
    draw_shaded_points,
    point_area,
    shares_of_range,
    swarm_offsets,
    swarm_sizes,
)
from sklearn_interpret._plotting.ranked_bars import finish_rows, name_rows, row_height
from sklearn_interpret.explanations import Explanation
from sklearn_interpret.shapley._plot._base import (
    ShapleyDisplay,
    add_colour_bar,
    strongest_features,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PathCollection
    from matplotlib.colorbar import Colorbar

    from sklearn_interpret._plotting.axes import Style

# Sums of the other features lengthen the axis at most by this factor.
MOST_STRETCHED = 1.5


@dataclass(eq=False, repr=False)
class ShapleySummaryDisplay(ShapleyDisplay):
    """All Shapley values of an output: a swarm of points (beeswarm) for each feature.

    Build it with `from_estimator` or `from_explanation`. Each point is a row. Its place
    along the axis is the feature's Shapley value, its colour the feature's value, from
    low to high; the scale of colours leaves out 5 % of the values at each end. Points
    at nearly the same place stand side by side. Features beyond `max_entries` share
    the last line, which shows the sum of their Shapley values.

    Parameters
    ----------
    explanation : Explanation
        The explained rows; without data the points have one colour.
    target : class label or int, default=None
        The output to draw; None takes the only one.
    response_name : str, default=None
        Response that the values add up to; None says "response".
    categorical_features : "auto", None, bool mask or list of ints and strs, \
default="auto"
        Columns of the data that are categories. Categories without an order are grey.

    Attributes
    ----------
    figure_ : matplotlib Figure
        The figure drawn on.
    ax_ : matplotlib Axes
        The axes drawn on.
    points_ : list of PathCollection or None
        For each feature drawn, from the strongest down, its points with a colour. Their
        array holds the place of each value between low (0) and high (1).
    grey_points_ : list of PathCollection or None
        The same for points without a place between low and high.
    other_points_ : PathCollection or None
        Points of the other features' sums.
    colorbar_ : Colorbar or None
        The colour bar.

    See Also
    --------
    ShapleyImportanceDisplay : The means of the sizes alone.
    ShapleyDependenceDisplay : One feature, with its values along the axis.

    Examples
    --------
    >>> from sklearn_interpret.explanations import Explanation
    >>> from sklearn_interpret.shapley import ShapleySummaryDisplay
    >>> explanation = Explanation(
    ...     [[1.0, -3.0], [0.5, 2.0]], [10.0, 10.0],
    ...     data=[[30, 2.5], [25, 9.0]], feature_names=["age", "income"],
    ... )
    >>> display = ShapleySummaryDisplay.from_explanation(explanation)
    >>> [text.get_text() for text in display.ax_.get_yticklabels()]
    ['income', 'age']
    """

    explanation: Explanation
    _: KW_ONLY
    target: Any = None
    response_name: str | None = None
    categorical_features: Any = "auto"

    def plot(
        self,
        ax: Any = None,
        *,
        max_entries: int | None = 20,
        colorbar: bool = True,
        point_kw: dict[str, Any] | None = None,
    ) -> Self:
        """Draw one swarm for each feature, the strongest on top.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            None makes a figure.
        max_entries : int, default=20
            Largest number of lines; None shows all features.
        colorbar : bool, default=True
            Draw a colour bar next to the axes.
        point_kw : dict, default=None
            Style of the points.

        Returns
        -------
        self : object
            The display.
        """
        explanation = self._one_output()
        selected, contributions, names = strongest_features(explanation, max_entries)
        ax = self._take_axes(ax, (7.0, row_height(len(names), 0.4)))
        ax.axvline(0, color=shade(ax, 0.45), linewidth=0.9, zorder=1)
        for line in range(len(names)):
            ax.axhline(line, color=shade(ax, 0.25), linewidth=0.7, zorder=0.5)
        name_rows(ax, names)
        limits = _x_limits(contributions, len(selected))
        grey_notes = self._draw_swarms(
            ax, explanation, selected, contributions.T, limits, point_kw
        )
        margin = 0.04 * (limits[1] - limits[0]) or max(abs(limits[0]), 1.0) * 0.05
        low, high = ax.set_xlim(limits[0] - margin, limits[1] + margin)
        label = f"{shorten(self._response(), 60)}\n({explanation.value_name})"
        if grey_notes:
            label += f"\n(grey: {', '.join(grey_notes)})"
        n_beyond = ((contributions < low) | (contributions > high)).sum()
        if n_beyond:
            label += f"\n(sums of other features beyond the axis: {n_beyond})"
        finish_rows(ax, literal(label), hidden=("top", "right", "left"))
        has_colours = any(points is not None for points in self.points_)
        has_bar = colorbar and has_colours and explanation.data is not None
        self.colorbar_ = self._add_colorbar(ax) if has_bar else None
        return self

    def _draw_swarms(
        self,
        ax: Axes,
        explanation: Explanation,
        selected: NDArray[np.intp],
        contributions: NDArray[np.float64],
        limits: tuple[float, float],
        style: Style | None,
    ) -> list[str]:
        """Set the points, line by line; return notes on the grey points.

        `contributions` are (n_lines, n_rows); the last line may sum the other features.
        """
        area, n_lines = point_area(len(explanation)), len(contributions)
        n_bins, diameter = swarm_sizes(ax, n_lines, area)
        reader = FeatureReader(explanation, self.categorical_features)
        self.points_: list[PathCollection | None] = []
        self.grey_points_: list[PathCollection | None] = []
        notes: list[str] = []
        self.other_points_ = None
        for line, x in enumerate(contributions):
            is_sum = line == len(selected)
            shades, note = np.full(len(x), np.nan), None
            if not is_sum:
                shades, note = _value_shades(reader, selected[line])
            if note is not None and note not in notes:
                notes.append(note)
            offsets = swarm_offsets(x, limits, n_bins=n_bins, diameter=diameter)
            y = n_lines - 1 - line + offsets
            coloured, grey = draw_shaded_points(ax, x, y, shades, style, area=area)
            if is_sum:
                self.other_points_ = grey
            else:
                self.points_.append(coloured)
                self.grey_points_.append(grey)
        return notes

    def _add_colorbar(self, ax: Axes) -> Colorbar:
        from matplotlib.cm import ScalarMappable

        scale = ScalarMappable(cmap=feature_map(ax))
        bar = add_colour_bar(ax, scale, "Feature value", ticks=[], aspect=35)
        bar.set_ticks([0, 1], labels=["low", "high"])
        bar.ax.tick_params(length=0)
        bar.ax.yaxis.labelpad = -8
        return bar

    def to_frame(self) -> Any:
        """Numbers drawn, as a long DataFrame, all features on lines of their own.

        Returns
        -------
        pandas.DataFrame
            One line per feature and row, from the strongest feature down, with the
            columns "feature", "row", "value" (the feature's value in the data, where
            there is one) and "shapley_value" (or what the explanation calls its
            values).
        """
        explanation = self._one_output()
        rows = {"row": explanation.row_names}
        return self._long_table(explanation, rows, by_feature=True)


def _x_limits(contributions: NDArray[np.float64], n_single: int) -> tuple[float, float]:
    """Ends of the axis, at which the sums of many other features may be cut."""
    low, high = contributions.min(), contributions.max()
    single = contributions[:, :n_single]
    largest = np.abs(single).max(initial=0.0)
    if largest > 0:
        room = (MOST_STRETCHED - 1) * largest
        low, high = max(low, single.min() - room), min(high, single.max() + room)
    return low, high


def _value_shades(
    reader: FeatureReader, feature: int
) -> tuple[NDArray[np.float64], str | None]:
    """Shades of a feature's values, from 0 to 1, and a note on values without a shade.

    Without data all points have the first colour; NaN is grey.
    """
    n_rows = reader.n_rows
    if not reader.has_data:
        return np.zeros(n_rows), None
    values = reader.feature_values(feature)
    if values is None:
        return np.full(n_rows, np.nan), "groups of columns"
    if not values.ordered:
        return np.full(n_rows, np.nan), "categories without order"
    if values.levels is None:
        limits = clipped_range(values.numbers)
    else:
        limits = (0.0, max(len(values.levels) - 1.0, 0.0))
    note = None if values.is_observed.all() else "missing values"
    return shares_of_range(values.numbers, *limits), note
