"""Display of a feature's Shapley values along its values."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from sklearn_interpret._core.statistics.residual_interactions import residual_strengths
from sklearn_interpret._plotting.axes import SIDE_WIDTH, side_legend
from sklearn_interpret._plotting.colours import (
    DOWN_COLOUR,
    NEUTRAL_COLOUR,
    colours,
    feature_map,
    seen,
    shade,
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
    wrapped,
    write_near,
)
from sklearn_interpret._plotting.points import (
    clipped_range,
    draw_shaded_points,
    jittered,
    point_area,
)
from sklearn_interpret._plotting.sources import checked_numbers
from sklearn_interpret._plotting.surfaces import colour_limits
from sklearn_interpret.explanations import Explanation
from sklearn_interpret.explanations._selection import output_position
from sklearn_interpret.shapley._plot._base import ShapleyDisplay, add_colour_bar

MAX_ROWS = 5000  # in which the colouring feature is searched
MAX_JOINT_LEVELS = 60  # of a group along the axis
MAX_COLOURS = 6  # of levels, the grey of the rarest included


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
    >>> display.ax_.get_xlabel()
    'age'
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
        inspector,
        data,
        *,
        feature: int | str | tuple[int | str, int | str] | None = None,
        interaction_values: ArrayLike | None = None,
        **choices,
    ):
        """The display of a feature.

        feature : int, str or pair of these, default=None
            The feature to draw, which must be named.
        """
        if feature is None:
            raise TypeError(f"{cls.__name__} draws one feature: pass feature=.")
        able = _is_pair(feature) and hasattr(inspector, "interaction_values")
        if able and interaction_values is None:
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
        explanation, reader, feature = self._read()
        own = self._own_values(reader, feature)
        attributions, what = self._drawn(explanation, feature)
        companion = self._companion(explanation, reader, feature, own)
        self.color_feature_ = None if companion is None else companion.name
        ax = self._take(ax, (6.4, 4.4))
        ax.axhline(0, color=shade(ax, 0.45), linewidth=0.9, zorder=1)
        x, self.missing_area_ = _places(ax, own)
        self._draw_points(ax, x, attributions, companion, point_kw or {}, colorbar)
        ax.margins(y=0.08)
        self.histogram_ = None
        if histogram:
            low, high = ax.get_ylim()
            ax.set_ylim(low - 1.1 * HISTOGRAM_HEIGHT * (high - low), high)
            self.histogram_ = _draw_data(ax, own, histogram_kw)
        plain_number_ticks(ax, "y")
        name = explanation.feature_names[feature]
        if not _is_pair(self.feature) and own.name != name:
            what += f" of {shorten(name, 24)}"
        label = wrapped(date_label(own.name, own.date_dtype))
        if own.levels is not None:
            label += "\n(points are spread sideways within a level)"
        ax.set_xlabel(literal(label))
        ax.set_ylabel(literal(f"{shorten(self._response(), 44)}\n({what})"))
        ax.spines[["top", "right"]].set_visible(False)
        return self

    def _read(self):
        """The output drawn, a reader of its data, and the feature's position."""
        explanation = self._one_output()
        reader = FeatureReader(explanation, self.categorical_features)
        first = self.feature[0] if _is_pair(self.feature) else self.feature
        feature = reader.position(first, "feature")
        if not reader.has_data:
            raise ValueError(
                "The explanation has no data: the values of the feature are needed for "
                "the axis."
            )
        return explanation, reader, feature

    def _drawn(self, explanation, feature):
        """Numbers of the rows, and their name."""
        if not _is_pair(self.feature):
            return explanation.values[:, feature], explanation.value_name
        if self.interaction_values is None:
            raise ValueError(
                f"feature={self.feature!r} is a pair: pass interaction_values, which "
                "the inspector may have (`interaction_values`)."
            )
        second = self._second(FeatureReader(explanation))
        names = [shorten(explanation.feature_names[j], 16) for j in (feature, second)]
        what = f"half the interaction value of\n{' and '.join(names)}"
        if second == feature:
            what = f"main effect of {names[0]}"
        return self._interactions(explanation)[:, feature, second], what

    def _second(self, reader):
        """Position of the second feature of a pair."""
        return reader.position(self.feature[1], "feature")

    def _own_values(self, reader, feature):
        """Values along the axis."""
        if self.along is not None:
            return reader.member_values(feature, self.along, "along")
        own = reader.feature_values(feature)
        if own is not None:
            return own
        own = reader.joint_values(feature)
        if len(own.levels) > MAX_JOINT_LEVELS:
            raise ValueError(
                f"The feature {own.name!r} is a group with {len(own.levels)} joint "
                "values: choose by along= which of its columns stands along the axis, "
                f"out of {', '.join(map(repr, reader.members(feature)))}."
            )
        return own

    def _companion(self, explanation, reader, feature, own):
        """Values of the feature that colours the points, or None."""
        if self.color_by is None:
            return None
        if not (isinstance(self.color_by, str) and self.color_by == "auto"):
            place = reader.position(self.color_by, "color_by")
            return reader.any_values(place)
        if _is_pair(self.feature):
            second = self._second(reader)
            return None if second == feature else reader.any_values(second)
        others = [
            j
            for j in range(len(explanation.feature_names))
            if j != feature and not reader.is_group(j)
        ]
        if not others:
            return None
        if self.interaction_values is not None:
            interactions = self._interactions(explanation)[:, feature, others]
            strengths = np.abs(interactions).mean(axis=0)
            least = 1e-9 * np.abs(explanation.values[:, feature]).mean()
        else:
            some = _evenly(len(explanation), MAX_ROWS)
            strengths = residual_strengths(
                explanation.values[some, feature],
                own.numbers[some],
                [reader.feature_values(j).numbers[some] for j in others],
            )
            least = 0.0
        best = int(np.argmax(strengths))
        return reader.feature_values(others[best]) if strengths[best] > least else None

    def _interactions(self, explanation):
        """Interaction values (n_rows, n_features, n_features) of the output."""
        n_rows, p = explanation.values.shape
        names = self.explanation.output_names
        shapes = [(n_rows, p, p, len(names)), (n_rows, p, p)][: 1 + (len(names) == 1)]
        given, of = self.interaction_values, "this explanation"
        array = checked_numbers(given, "interaction_values", shapes, of)
        if array.ndim == 4:
            array = array[..., output_position(names, self.target)]
        return array

    def _draw_points(self, ax, x, y, companion, style, explained):
        """Points coloured by a scale of numbers, by levels, or in one colour."""
        area = 1.4 * point_area(len(x))
        self.points_, self.grey_points_ = [], None
        self.colorbar_ = self.legend_ = None
        if companion is None:
            self.points_ = [_draw_plain(ax, x, y, DOWN_COLOUR, style, area)]
        elif companion.levels is not None:
            handles, labels = self._draw_levels(ax, x, y, companion, style, area)
            if explained:
                title = literal(shorten(companion.name, SIDE_WIDTH))
                looks = {"title": title, "scatterpoints": 1, "markerscale": 1.6}
                self.legend_ = side_legend(ax, handles, labels, **looks)
        else:
            numbers = companion.numbers
            limits = colour_limits(np.array(clipped_range(numbers)), False)
            looks = {"area": area, "limits": limits}
            points, grey = draw_shaded_points(ax, x, y, numbers, style, **looks)
            self.points_, self.grey_points_ = [points][: points is not None], grey
            if explained and points is not None and points.get_array() is not None:
                self.colorbar_ = _add_bar(ax, points, companion)

    def _draw_levels(self, ax, x, y, companion, style, area):
        """One colour for each level, grey for the rarest; handles and their labels."""
        numbers, texts = companion.numbers, companion.level_texts
        named = np.arange(len(texts))
        if len(texts) > MAX_COLOURS:
            counts = np.bincount(numbers[companion.known].astype(np.intp))
            named = np.sort(np.argsort(-counts, kind="stable")[: MAX_COLOURS - 1])
        palette = colours(len(named))
        if companion.ordered:
            palette = list(feature_map(ax)(np.linspace(0, 1, len(named))))
        labels = []
        for level, colour in zip(named, palette, strict=True):
            mask = numbers == level
            if mask.any():
                points = _draw_plain(ax, x[mask], y[mask], colour, style, area)
                self.points_.append(points)
                labels.append(texts[level])
        left = ~np.isin(numbers, named)
        if not left.any():
            return self.points_, labels
        grey = _draw_plain(ax, x[left], y[left], NEUTRAL_COLOUR, style, area)
        self.grey_points_ = grey
        n_others = len(texts) - len(named)
        rest = [f"{n_others} others"] * (n_others > 0)
        rest += ["missing"] * (not companion.known.all())
        return [*self.points_, grey], [*labels, ", ".join(rest)]

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
        explanation, reader, feature = self._read()
        own = self._own_values(reader, feature)
        number = "interaction_value" if _is_pair(self.feature) else self._column
        columns = {"x": own.cells(), number: self._drawn(explanation, feature)[0]}
        companion = self._companion(explanation, reader, feature, own)
        if companion is not None:
            columns["color"] = companion.cells()
        return self._frame(columns)


def _is_pair(feature):
    return isinstance(feature, tuple | list) and len(feature) == 2


def _evenly(n_rows, most):
    """Positions of at most `most` rows, evenly spaced."""
    if n_rows <= most:
        return np.arange(n_rows)
    return np.linspace(0, n_rows - 1, most).round().astype(np.intp)


def _places(ax, own):
    """Positions of the rows along the axis; missing values have a strip at its end."""
    known, texts = own.known, own.levels and own.level_texts
    if texts is not None:
        x = jittered(np.where(known, own.numbers, len(texts)), seed=0)
        strip = None
        if not known.all():
            texts = [*texts, "missing"]
            strip = _strip(ax, len(texts) - 1.5, len(texts) - 0.5)
        ax.set_xlim(-0.6, len(texts) - 0.4)
        label_levels(ax, texts, share=0.85)
        return x, strip
    low, high = 0.0, 0.0
    if known.any():
        low, high = own.numbers[known].min(), own.numbers[known].max()
    span = (high - low) or max(abs(low), 1.0) * 0.1
    ax.set_xlim(low - 0.04 * span, high + 0.04 * span)
    plain_number_ticks(ax)
    date_ticks(ax, own.date_dtype)
    if known.all():
        return own.numbers, None
    ticks = [tick for tick in ax.get_xticks() if low <= tick <= high + 0.04 * span]
    ax.set_xticks(ticks if known.any() else [])
    left, right = high + 0.06 * span, high + 0.18 * span
    ax.set_xlim(low - 0.04 * span, right)
    middle = (left + right) / 2
    looks = {"ha": "center", "va": "top", "color": shade(ax, 0.7)}
    looks["xycoords"] = ax.get_xaxis_transform()
    write_near(ax, "missing", (middle, -0.02), **looks)
    x = own.numbers.copy()
    x[~known] = middle + jittered(np.zeros((~known).sum()), seed=0) * 0.12 * span
    return x, _strip(ax, left, right)


def _strip(ax, left, right):
    return ax.axvspan(left, right, color=shade(ax, 0.06), linewidth=0, zorder=0.2)


def _draw_data(ax, own, style):
    """The distribution of the data, at the bottom."""
    if own.levels is None:
        return draw_histogram(ax, own.numbers[own.known], style)
    n_places = len(own.levels) + (not own.known.all())
    codes = np.where(own.known, own.numbers, len(own.levels)).astype(np.intp)
    counts = np.bincount(codes, minlength=n_places)
    return draw_shares(ax, counts / max(len(codes), 1), style)


def _add_bar(ax, points, companion):
    """A colour bar, with points where numbers are beyond its ends."""
    from matplotlib.ticker import MaxNLocator

    known, (low, high) = companion.numbers[companion.known], points.get_clim()
    beyond = (known.min() < low) + 2 * (known.max() > high)
    whole = bool(np.all(known == np.round(known)))
    looks = {"extend": ("neither", "min", "max", "both")[beyond]}
    looks["ticks"] = MaxNLocator(nbins=6, integer=whole)
    note = "" if companion.known.all() else "\n(grey: missing)"
    name = date_label(shorten(companion.name), companion.date_dtype)
    bar = add_colour_bar(ax, points, name + note, **looks)
    date_ticks(bar.ax, companion.date_dtype, "y")
    bar.solids.set_alpha(1)
    return bar


def _draw_plain(ax, x, y, colour, style, area):
    """Points in one colour."""
    shades = np.full(len(x), np.nan)
    style = {"facecolor": [seen(colour, ax)], **style}
    return draw_shaded_points(ax, x, y, shades, style, area=area)[1]
