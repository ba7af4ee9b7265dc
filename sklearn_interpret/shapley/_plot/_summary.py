"""Display of all Shapley values, one swarm of points for each feature."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np

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
    strongest,
)

MOST_STRETCHED = 1.5  # factor by which sums of the other features may lengthen the axis


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
        shown, parts, names = strongest(explanation, max_entries)
        ax = self._take(ax, (7.0, row_height(len(names), 0.4)))
        ax.axvline(0, color=shade(ax, 0.45), linewidth=0.9, zorder=1)
        for place in range(len(names)):
            ax.axhline(place, color=shade(ax, 0.25), linewidth=0.7, zorder=0.5)
        name_rows(ax, names)
        limits = _limits(parts, len(shown))
        notes = self._draw_swarms(ax, explanation, shown, parts.T, limits, point_kw)
        margin = 0.04 * (limits[1] - limits[0]) or max(abs(limits[0]), 1.0) * 0.05
        low, high = ax.set_xlim(limits[0] - margin, limits[1] + margin)
        label = f"{shorten(self._response(), 60)}\n({explanation.value_name})"
        if notes:
            label += f"\n(grey: {', '.join(notes)})"
        beyond = ((parts < low) | (parts > high)).sum()
        if beyond:
            label += f"\n(sums of other features beyond the axis: {beyond})"
        finish_rows(ax, literal(label), hidden=("top", "right", "left"))
        coloured = any(points is not None for points in self.points_)
        has_bar = colorbar and coloured and explanation.data is not None
        self.colorbar_ = self._add_colorbar(ax) if has_bar else None
        return self

    def _draw_swarms(self, ax, explanation, shown, lines, limits, style):
        """Set the points; return notes on the grey ones."""
        area = point_area(len(explanation))
        n_bins, diameter = swarm_sizes(ax, len(lines), area)
        reader = FeatureReader(explanation, self.categorical_features)
        self.points_, self.grey_points_, notes = [], [], []
        self.other_points_ = None
        for line, along in enumerate(lines):
            rest = line == len(shown)
            shades, note = (
                (np.full(len(along), np.nan), None)
                if rest
                else _shades(reader, shown[line])
            )
            if note is not None and note not in notes:
                notes.append(note)
            offsets = swarm_offsets(along, limits, n_bins=n_bins, diameter=diameter)
            places = len(lines) - 1 - line + offsets
            drawn = draw_shaded_points(ax, along, places, shades, style, area=area)
            if rest:
                self.other_points_ = drawn[1]
            else:
                self.points_.append(drawn[0])
                self.grey_points_.append(drawn[1])
        return notes

    def _add_colorbar(self, ax):
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


def _limits(parts, n_alone):
    """Ends of the axis, at which the sums of many other features may be cut."""
    low, high = parts.min(), parts.max()
    alone = parts[:, :n_alone]
    reach = np.abs(alone).max(initial=0.0)
    if reach > 0:
        room = (MOST_STRETCHED - 1) * reach
        low, high = max(low, alone.min() - room), min(high, alone.max() + room)
    return low, high


def _shades(reader, feature):
    """Places of a feature's values between low and high, and a note on grey ones.

    Without data all points have the first colour.
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
    note = None if values.known.all() else "missing values"
    return shares_of_range(values.numbers, *limits), note
