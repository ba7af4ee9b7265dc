"""Display of a feature's Shapley values along its values."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, Self, TypeGuard

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_interpret._core.statistics.residual_interactions import residual_strengths
from sklearn_interpret._plotting.axes import SIDE_NAME_LENGTH, side_legend
from sklearn_interpret._plotting.colours import (
    DOWN_COLOUR,
    NEUTRAL_COLOUR,
    colours,
    feature_map,
    shade,
    stand_out,
)
from sklearn_interpret._plotting.curves import (
    HISTOGRAM_HEIGHT,
    draw_histogram,
    draw_shares,
)
from sklearn_interpret._plotting.feature_values import FeatureReader
from sklearn_interpret._plotting.labels import (
    date_label,
    date_ticks,
    label_levels,
    literal,
    plain_number_ticks,
    shorten,
    wrap_name,
    write_near,
)
from sklearn_interpret._plotting.points import (
    clipped_range,
    draw_shaded_points,
    jitter_positions,
    point_area,
)
from sklearn_interpret._plotting.sources import check_numbers
from sklearn_interpret._plotting.surfaces import colour_limits
from sklearn_interpret.explanations import Explanation
from sklearn_interpret.explanations._selection import output_position
from sklearn_interpret.shapley._plot._base import ShapleyDisplay, add_colour_bar

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.collections import PathCollection
    from matplotlib.colorbar import Colorbar
    from matplotlib.patches import Rectangle

    from sklearn_interpret._plotting.axes import Style
    from sklearn_interpret._plotting.feature_values import FeatureValues
    from sklearn_interpret._plotting.sources import Data

MAX_SEARCH_ROWS = 5000  # rows by which the feature that colours points is chosen
MAX_JOINT_LEVELS = 60  # joint values of a group along the axis
MAX_COLOURS = 6  # colours of levels, with the grey of the rarest levels


@dataclass(eq=False, repr=False)
class ShapleyDependenceDisplay(ShapleyDisplay):
    """Shapley values of a feature along its values, one point for each row.

    Build it with `from_estimator` or `from_explanation`. Where points above one value
    spread, other features interact with this one; the points are coloured by the
    one that does so most. Of a pair of features it draws the interaction values, along
    the values of the first and coloured by those of the second.

    Parameters
    ----------
    explanation : Explanation
        The explained rows, with their data.
    feature : int, str or pair of these
        The feature, or group of features, by position or name. Of a pair, the entry
        of `interaction_values` is drawn, half of their joint effect; of a
        feature paired with itself, its main effect.
    along : int or str, default=None
        For a group of features, the one of them (position in the group, or column
        name) whose values stand along the axis. None takes the joint levels.
    color_by : "auto", None, int or str, default="auto"
        The feature that colours the points. "auto" takes the one of the largest mean
        absolute interaction value, where `interaction_values` are given. Otherwise it
        takes the one whose groups of values explain most of the remaining spread of the
        Shapley values among rows of similar values of the feature, an approximation.
        It takes none where nothing is left, and of a pair the second feature.
    interaction_values : ndarray of shape (n_rows, n_features, n_features) or \
(n_rows, n_features, n_features, n_outputs), default=None
        Shapley interaction values of the rows. `from_estimator` of a pair asks the
        inspector for them.
    target : class label or int, default=None
        The output to draw; None takes the only one.
    response_name : str, default=None
        Response that the values add up to; None says "response".
    categorical_features : "auto", None, bool mask or list of ints and strs, \
default="auto"
        Columns of the data that are categories.

    Attributes
    ----------
    figure_ : matplotlib Figure
        The figure drawn on.
    ax_ : matplotlib Axes
        The axes drawn on.
    color_feature_ : str or None
        The feature that colours the points.
    points_ : list of PathCollection
        Points with a known value of the colouring feature, one collection for a
        scale of colours and one for each colour of levels.
    grey_points_ : PathCollection or None
        Points without one.
    missing_area_ : artist or None
        The strip in which rows without a value of the feature stand.
    histogram_ : artist or None
        How the data are distributed, at the bottom.
    colorbar_ : Colorbar or None
        The colour bar of numbers.
    legend_ : matplotlib Legend or None
        The legend of levels.

    See Also
    --------
    ShapleySummaryDisplay : All features together.

    Examples
    --------
    >>> from sklearn_interpret.explanations import Explanation
    >>> from sklearn_interpret.shapley import ShapleyDependenceDisplay
    >>> explanation = Explanation(
    ...     [[1.0, -3.0], [0.5, 2.0]], [10.0, 10.0],
    ...     data=[[30, 2.5], [25, 9.0]], feature_names=["age", "income"],
    ... )
    >>> display = ShapleyDependenceDisplay.from_explanation(explanation, feature="age")
    >>> display.ax_.get_xlabel().splitlines()
    ['age', '(bars: number of rows)']
    """

    _leading = ("feature",)

    explanation: Explanation
    _: KW_ONLY
    feature: int | str | tuple[int | str, int | str]
    along: int | str | None = None
    color_by: int | str | None = "auto"
    interaction_values: ArrayLike | None = None
    target: Any = None
    response_name: str | None = None
    categorical_features: Any = "auto"

    @classmethod
    def _from_inspector(
        cls,
        inspector: Any,
        data: Data,
        *,
        feature: int | str | tuple[int | str, int | str] | None = None,
        interaction_values: ArrayLike | None = None,
        **choices: Any,
    ) -> Self:
        """The display of a feature.

        feature : int, str or pair of these, default=None
            The feature to draw, which must be named.
        """
        if feature is None:
            raise TypeError(f"{cls.__name__} draws one feature: pass feature=.")
        has_interactions = _is_pair(feature) and hasattr(
            inspector, "interaction_values"
        )
        if has_interactions and interaction_values is None:
            interaction_values = inspector.interaction_values(data.X)
        choices |= {"feature": feature, "interaction_values": interaction_values}
        return super()._from_inspector(inspector, data, **choices)

    def plot(
        self,
        ax: Any = None,
        *,
        histogram: bool = True,
        colorbar: bool = True,
        point_kw: dict[str, Any] | None = None,
        histogram_kw: dict[str, Any] | None = None,
    ) -> Self:
        """Draw one point for each row.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            None makes a figure.
        histogram : bool, default=True
            Show at the bottom how the data are distributed.
        colorbar : bool, default=True
            Explain the colours, by a bar or a legend.
        point_kw : dict, default=None
            Style of the points.
        histogram_kw : dict, default=None
            Style of the histogram's bars.

        Returns
        -------
        self : object
            The display.
        """
        explanation, reader, feature = self._read_explanation()
        x_values = self._x_values(reader, feature)
        y, y_name = self._y_values(explanation, reader, feature)
        colour_values = self._colour_values(explanation, reader, feature, x_values)
        self.color_feature_ = None if colour_values is None else colour_values.name
        ax = self._take_axes(ax, (6.4, 4.4))
        ax.axhline(0, color=shade(ax, 0.45), linewidth=0.9, zorder=1)
        x, self.missing_area_ = _set_x_axis(ax, x_values)
        self._draw_points(ax, x, y, colour_values, point_kw or {}, colorbar)
        ax.margins(y=0.08)
        self.histogram_ = None
        if histogram:
            low, high = ax.get_ylim()
            ax.set_ylim(low - 1.1 * HISTOGRAM_HEIGHT * (high - low), high)
            self.histogram_ = _draw_data(ax, x_values, histogram_kw)
        plain_number_ticks(ax, "y")
        name = explanation.feature_names[feature]
        if not _is_pair(self.feature) and x_values.name != name:
            y_name += f" of {shorten(name, 24)}"
        label = wrap_name(date_label(x_values.name, x_values.date_dtype))
        if x_values.levels is not None:
            label += "\n(points are spread sideways within a level)"
        if self.histogram_ is not None:
            label += "\n(bars: number of rows)"
        ax.set_xlabel(literal(label))
        ax.set_ylabel(literal(f"{shorten(self._response(), 44)}\n({y_name})"))
        ax.spines[["top", "right"]].set_visible(False)
        return self

    def _read_explanation(self) -> tuple[Explanation, FeatureReader, int]:
        """The output drawn, a reader of its data, and the first feature's position."""
        explanation = self._one_output()
        reader = FeatureReader(explanation, self.categorical_features)
        key: Any = self.feature[0] if _is_pair(self.feature) else self.feature
        feature = reader.position(key, "feature")
        if not reader.has_data:
            raise ValueError(
                "The explanation has no data: the values of the feature are needed for "
                "the axis."
            )
        return explanation, reader, feature

    def _y_values(
        self, explanation: Explanation, reader: FeatureReader, feature: int
    ) -> tuple[NDArray[np.float64], str]:
        """Values of the rows along the y axis, and their name."""
        if not _is_pair(self.feature):
            return explanation.values[:, feature], explanation.value_name
        if self.interaction_values is None:
            raise ValueError(
                f"feature={self.feature!r} is a pair: pass interaction_values, which "
                "the inspector may have (`interaction_values`)."
            )
        second = self._second_position(reader)
        names = [shorten(explanation.feature_names[j], 16) for j in (feature, second)]
        name = f"half the interaction value of\n{' and '.join(names)}"
        if second == feature:
            name = f"main effect of {names[0]}"
        pairs = self._interactions(explanation, self.interaction_values)
        return pairs[:, feature, second], name

    def _second_position(self, reader: FeatureReader) -> int:
        """Position of the second feature of a pair."""
        return reader.position(self.feature[1], "feature")  # type: ignore[index]

    def _x_values(self, reader: FeatureReader, feature: int) -> FeatureValues:
        """Values of the rows along the x axis."""
        if self.along is not None:
            return reader.member_values(feature, self.along, "along")
        x_values = reader.feature_values(feature)
        if x_values is not None:
            return x_values
        x_values = reader.joint_values(feature)
        n_levels = len(x_values.level_texts)
        if n_levels > MAX_JOINT_LEVELS:
            raise ValueError(
                f"The feature {x_values.name!r} is a group with "
                f"{n_levels} joint values: choose by along= which of its "
                "columns stands along the axis, out of "
                f"{', '.join(map(repr, reader.members(feature)))}."
            )
        return x_values

    def _colour_values(
        self,
        explanation: Explanation,
        reader: FeatureReader,
        feature: int,
        x_values: FeatureValues,
    ) -> FeatureValues | None:
        """Values of the feature that colours the points, or None.

        By default the feature that interacts most: by interaction values if they are
        given, else by how well the feature predicts the residuals along x.
        """
        if self.color_by is None:
            return None
        if not (isinstance(self.color_by, str) and self.color_by == "auto"):
            position = reader.position(self.color_by, "color_by")
            return reader.any_values(position)
        if _is_pair(self.feature):
            second = self._second_position(reader)
            return None if second == feature else reader.any_values(second)
        candidates = {
            j: values
            for j in range(len(explanation.feature_names))
            if j != feature and (values := reader.feature_values(j)) is not None
        }
        if not candidates:
            return None
        if self.interaction_values is not None:
            pairs = self._interactions(explanation, self.interaction_values)
            strengths = np.abs(pairs[:, feature, [*candidates]]).mean(axis=0)
            rounding = 1e-9 * np.abs(explanation.values[:, feature]).mean()
        else:
            rows = _spaced_positions(len(explanation), MAX_SEARCH_ROWS)
            strengths = residual_strengths(
                explanation.values[rows, feature],
                x_values.numbers[rows],
                np.array([values.numbers[rows] for values in candidates.values()]),
            )
            rounding = 0.0
        best = int(np.argmax(strengths))
        return [*candidates.values()][best] if strengths[best] > rounding else None

    def _interactions(
        self, explanation: Explanation, values: ArrayLike
    ) -> NDArray[np.float64]:
        """Interaction values (n_rows, n_features, n_features) of the output."""
        shape = (*explanation.values.shape, explanation.values.shape[1])
        names = self.explanation.output_names
        shapes = [(*shape, len(names))]
        if len(names) == 1:
            shapes.append(shape)
        array = check_numbers(values, "interaction_values", shapes, "this explanation")
        if array.ndim == 4:
            array = array[..., output_position(names, self.target)]
        return array

    def _draw_points(
        self,
        ax: Axes,
        x: NDArray[np.float64],
        y: NDArray[np.float64],
        colour_values: FeatureValues | None,
        style: Style,
        has_legend: bool,
    ) -> None:
        """Points coloured by a scale of numbers, by levels, or in one colour."""
        area = 1.4 * point_area(len(x))
        self.points_, self.grey_points_ = [], None
        self.colorbar_ = self.legend_ = None
        if colour_values is None:
            self.points_ = [_draw_one_colour(ax, x, y, DOWN_COLOUR, style, area)]
        elif colour_values.levels is not None:
            handles, labels = self._draw_levels(ax, x, y, colour_values, style, area)
            if has_legend:
                title = literal(shorten(colour_values.name, SIDE_NAME_LENGTH))
                self.legend_ = side_legend(
                    ax, handles, labels, title=title, scatterpoints=1, markerscale=1.6
                )
        else:
            numbers = colour_values.numbers
            limits = colour_limits(np.array(clipped_range(numbers)))
            points, grey = draw_shaded_points(
                ax, x, y, numbers, style, area=area, limits=limits
            )
            self.grey_points_ = grey
            if points is not None:
                self.points_ = [points]
                if has_legend and points.get_array() is not None:
                    self.colorbar_ = _add_bar(ax, points, colour_values)

    def _draw_levels(
        self,
        ax: Axes,
        x: NDArray[np.float64],
        y: NDArray[np.float64],
        colour_values: FeatureValues,
        style: Style,
        area: float,
    ) -> tuple[list[PathCollection], list[str]]:
        """One colour for each level, grey for the rarest; handles and their labels."""
        numbers, texts = colour_values.numbers, colour_values.level_texts
        coloured = np.arange(len(texts))
        if len(texts) > MAX_COLOURS:
            counts = np.bincount(numbers[colour_values.is_observed].astype(np.intp))
            coloured = np.sort(np.argsort(-counts, kind="stable")[: MAX_COLOURS - 1])
        palette = colours(len(coloured))
        if colour_values.ordered:
            palette = list(feature_map(ax)(np.linspace(0, 1, len(coloured))))
        labels = []
        for level, colour in zip(coloured, palette, strict=True):
            rows = numbers == level
            if rows.any():
                points = _draw_one_colour(ax, x[rows], y[rows], colour, style, area)
                self.points_.append(points)
                labels.append(texts[level])
        rows = ~np.isin(numbers, coloured)
        if not rows.any():
            return self.points_, labels
        grey = _draw_one_colour(ax, x[rows], y[rows], NEUTRAL_COLOUR, style, area)
        self.grey_points_ = grey
        n_others = len(texts) - len(coloured)
        grey_texts = [f"{n_others} others"] if n_others > 0 else []
        if not colour_values.is_observed.all():
            grey_texts.append("missing")
        return [*self.points_, grey], [*labels, ", ".join(grey_texts)]

    def to_frame(self) -> Any:
        """Numbers drawn, as a DataFrame.

        Returns
        -------
        pandas.DataFrame
            One line per row, with the columns "x" (the feature's value, missing ones
            included), "shapley_value" (or what the explanation calls its values; of a
            pair "interaction_value"), and "color" (the value of the feature that
            colours the points) where there is one.
        """
        explanation, reader, feature = self._read_explanation()
        x_values = self._x_values(reader, feature)
        y_column = "interaction_value" if _is_pair(self.feature) else self._column
        y, _ = self._y_values(explanation, reader, feature)
        columns = {"x": x_values.cells(), y_column: y}
        colour_values = self._colour_values(explanation, reader, feature, x_values)
        if colour_values is not None:
            columns["color"] = colour_values.cells()
        return self._frame(columns)


def _is_pair(feature: Any) -> TypeGuard[tuple[int | str, int | str]]:
    return isinstance(feature, tuple | list) and len(feature) == 2


def _spaced_positions(n_rows: int, most: int) -> NDArray[np.intp]:
    """Positions of at most `most` rows, evenly spaced."""
    if n_rows <= most:
        return np.arange(n_rows)
    return np.linspace(0, n_rows - 1, most).round().astype(np.intp)


def _set_x_axis(
    ax: Axes, x_values: FeatureValues
) -> tuple[NDArray[np.float64], Rectangle | None]:
    """Coordinates of the rows; and the strip of missing values at the axis' end."""
    observed = x_values.is_observed
    if x_values.levels is not None:
        texts = x_values.level_texts
        x = jitter_positions(np.where(observed, x_values.numbers, len(texts)), seed=0)
        strip = None
        if not observed.all():
            texts = [*texts, "missing"]
            strip = _draw_strip(ax, len(texts) - 1.5, len(texts) - 0.5)
        ax.set_xlim(-0.6, len(texts) - 0.4)
        label_levels(ax, texts, share=0.85)
        return x, strip
    low, high = 0.0, 0.0
    if observed.any():
        low, high = x_values.numbers[observed].min(), x_values.numbers[observed].max()
    span = (high - low) or max(abs(low), 1.0) * 0.1
    ax.set_xlim(low - 0.04 * span, high + 0.04 * span)
    plain_number_ticks(ax)
    date_ticks(ax, x_values.date_dtype)
    if observed.all():
        return x_values.numbers, None
    ticks = [tick for tick in ax.get_xticks() if low <= tick <= high + 0.04 * span]
    ax.set_xticks(ticks if observed.any() else [])
    left, right = high + 0.06 * span, high + 0.18 * span
    ax.set_xlim(low - 0.04 * span, right)
    middle = (left + right) / 2
    text_style: Style = {"ha": "center", "va": "top", "color": shade(ax, 0.7)}
    text_style["xycoords"] = ax.get_xaxis_transform()
    write_near(ax, "missing", (middle, -0.02), **text_style)
    x = x_values.numbers.copy()
    x[~observed] = (
        middle + jitter_positions(np.zeros((~observed).sum()), seed=0) * 0.12 * span
    )
    return x, _draw_strip(ax, left, right)


def _draw_strip(ax: Axes, left: float, right: float) -> Rectangle:
    return ax.axvspan(left, right, color=shade(ax, 0.06), linewidth=0, zorder=0.2)


def _draw_data(ax: Axes, x_values: FeatureValues, style: Style | None) -> Artist | None:
    """The distribution of the data, at the bottom."""
    if x_values.levels is None:
        return draw_histogram(ax, x_values.numbers[x_values.is_observed], style)
    n_levels = len(x_values.levels) + (not x_values.is_observed.all())
    codes = np.where(
        x_values.is_observed, x_values.numbers, len(x_values.levels)
    ).astype(np.intp)
    counts = np.bincount(codes, minlength=n_levels)
    return draw_shares(ax, counts / max(len(codes), 1), style)


def _add_bar(
    ax: Axes, points: PathCollection, colour_values: FeatureValues
) -> Colorbar:
    """A colour bar, with pointed ends where numbers are beyond them."""
    from matplotlib.ticker import MaxNLocator

    is_observed = colour_values.is_observed
    numbers, (low, high) = colour_values.numbers[is_observed], points.get_clim()
    is_below, is_above = numbers.min() < low, numbers.max() > high
    extend = "both" if is_below else "max"
    if not is_above:
        extend = "min" if is_below else "neither"
    are_integers = bool(np.all(numbers == np.round(numbers)))
    ticks = MaxNLocator(nbins=6, integer=are_integers)
    note = "" if is_observed.all() else "\n(grey: missing)"
    name = date_label(shorten(colour_values.name), colour_values.date_dtype)
    bar = add_colour_bar(ax, points, name + note, extend=extend, ticks=ticks)
    date_ticks(bar.ax, colour_values.date_dtype, "y")
    bar.solids.set_alpha(1)  # type: ignore[union-attr]
    return bar


def _draw_one_colour(
    ax: Axes,
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    colour: str,
    style: Style,
    area: float,
) -> Any:
    """Points in one colour."""
    shades = np.full(len(x), np.nan)
    style = {"facecolor": [stand_out(colour, ax)], **style}
    return draw_shaded_points(ax, x, y, shades, style, area=area)[1]
