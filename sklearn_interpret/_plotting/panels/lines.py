"""Panels with lines along one feature or a surface over two."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_interpret._model.rows.axes import label_text
from sklearn_interpret._model.rows.base import label_key
from sklearn_interpret._model.rows.dates import days, is_date
from sklearn_interpret._plotting.axes import Slot, Style, letters_along, merge_styles
from sklearn_interpret._plotting.colours import (
    NEUTRAL_COLOUR,
    PALETTE,
    feature_map,
    ink,
    shade,
    stand_out,
    unused_colours,
)
from sklearn_interpret._plotting.curves import (
    draw_aside,
    draw_band,
    draw_curves,
    draw_line,
    draw_rug,
    draw_shares,
    draw_thin_lines,
    name_axes,
    note_empty,
    rug_handle,
)
from sklearn_interpret._plotting.labels import (
    LEVEL_WIDTH,
    NAME_WIDTH,
    date_label,
    date_ticks,
    label_levels,
    level_inches,
    level_side_inches,
    literal,
    thinned_text,
    tidy_number_ticks,
    two_lines,
    wrap_name,
)
from sklearn_interpret._plotting.points import draw_positions, jitter_positions
from sklearn_interpret._plotting.surfaces import (
    cell_bounds,
    colour_scale,
    draw_colour_bar,
    draw_contours,
    draw_empty_cells,
    draw_heat_map,
)

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.cm import ScalarMappable
    from matplotlib.lines import Line2D
    from matplotlib.typing import ColorType

OWNERS = "this model's", "learner's"  # whose curve is within a band
LEARNER_BAND = "learner's curve, 95 %"
ERROR_BAND = "± 2 std errors"
MODEL_BAND = f"this model's curve, {ERROR_BAND}"
BY_SIMILARITY = "\n(ordered by similarity)"
FOLD_SHIFT = 0.12  # distance of the folds' points from that of their mean
BAR_SHARE = 0.6  # share of its width that an axes with a colour bar keeps
# More levels are below each other, which leaves room for names: 12 slanted names fill
# the width of a panel.
MANY_LEVELS = 12
NAME_LENGTH = 30  # characters of a level there
LEVEL_HEIGHT = 0.18  # inches of a level there
MOST_LEVELS = 120  # that a panel has room for: it is 22 inches high
EFFECT = "effect"  # group id of the lines, by which later displays find them
# Labels of the data in legends.
VALUES = "values in the data"
SHARES = "share of the rows"
ROWS = "rows"
JITTERED = "rows (jittered at levels)"
NO_ROWS = "no rows"


@dataclass
class PlotOptions:
    """Options of a drawing; see `plot`."""

    rug: bool = True
    band: bool = True
    band_text: str = MODEL_BAND
    learner_text: str = LEARNER_BAND
    order: str = "levels"
    kind: str = "curves"
    outputs: Any = None  # positions of the outputs that are drawn as lines of a panel
    line_kw: Style | None = None
    band_kw: Style | None = None
    fold_kw: Style | None = None
    rug_kw: Style | None = None
    contour_kw: Style | None = None
    heatmap_kw: Style | None = None
    points_kw: Style | None = None
    curve_kw: Style | None = None
    residual_kw: Style | None = None

    @classmethod
    def of_arguments(cls, arguments: dict[str, Any]) -> PlotOptions:
        """The options among the arguments of a `plot`; others have their defaults."""
        names = cls.__dataclass_fields__
        return cls(**{name: arguments[name] for name in names & arguments.keys()})


@dataclass
class Artists:
    """Artists of one panel."""

    lines: list[Line2D] = field(default_factory=list)
    bands: list[Artist] = field(default_factory=list)
    fold_lines: list[list[Line2D]] = field(default_factory=list)
    curves: Any = None
    missing: list[Line2D] = field(default_factory=list)
    marks: list[Line2D] = field(default_factory=list)
    rug: Any = None
    contours: Any = None
    heatmaps: Any = None
    points: Any = None
    colorbars: Any = None
    scale: Any = None  # colours of the curves, for a colour bar
    # Of the legend: handles by label.
    entries: dict[str, Any] = field(default_factory=dict)


class Panel(Protocol):
    """Axes of a display: how much space they need, and how they are drawn."""

    @property
    def values_along(self) -> Literal["x", "y"] | None:
        """The axis of the values, which other panels may share."""

    def slot(self, below: bool) -> Slot:
        """Space that the panel needs."""

    def draw(self, ax: Axes, options: PlotOptions) -> Artists:
        """Draw on an axes; return the artists."""

    def tidy_numbers(self, ax: Axes) -> None:
        """Few ticks on a small panel of a grid."""

    def label(self, ax: Axes, *, with_y: bool = True) -> None:
        """Name the axes."""


@dataclass(frozen=True)
class Series:
    """One line: numbers along x, with a band and one thin line per fold."""

    x: NDArray[np.float64]
    y: NDArray[np.float64]
    low: NDArray[np.float64] | None = None
    high: NDArray[np.float64] | None = None
    folds: NDArray[np.float64] | None = None
    label: Any = None
    colour: Any = None
    dates: np.dtype[Any] | None = None  # dtype of dates; x has their days
    as_points: bool = False  # whether there is nothing between the points

    def map_y(
        self, change: Callable[[NDArray[np.float64]], NDArray[np.float64]]
    ) -> Series:
        """The line, with a function applied to its numbers along y."""
        arrays = {name: getattr(self, name) for name in ("y", "low", "high")}
        mapped: dict[str, Any] = {
            name: change(each) for name, each in arrays.items() if each is not None
        }
        return replace(self, **mapped)


@dataclass(frozen=True)
class Effect:
    """The effect of one feature, or of a pair, on k outputs at G points or G1 x G2."""

    names: tuple[str, ...]  # one or two features
    places: tuple[NDArray[Any], ...]  # the points of each: values or levels
    levelled: tuple[bool, ...]  # which features are categories
    values: NDArray[np.float64]  # (k, G) or (k, G1, G2): the effect
    low: NDArray[np.float64] | None = None  # lower ends of the bands
    high: NDArray[np.float64] | None = None  # upper ends of the bands
    # (n_folds, k, ...): the effect of each fold's model.
    folds: NDArray[np.float64] | None = None
    data: tuple[NDArray[Any], ...] | None = None  # the features' values in the data
    # Ends of cells, if values belong to cells.
    bounds: tuple[NDArray[Any], ...] | None = None
    # Which features have levels that are ordered by similarity.
    by_similarity: tuple[bool, ...] = (False, False)
    # Weight of the rows in a pair's cells.
    counts: NDArray[np.float64] | None = None
    missing: NDArray[np.float64] | None = None  # (k,): the effect of a missing value

    @property
    def levels(self) -> NDArray[Any] | None:
        """Levels of a single feature that is a category, or None."""
        return self.places[0] if self.levelled[0] else None

    def levels_in(self, order: str) -> tuple[NDArray[Any] | None, bool]:
        """Levels in an order, and whether they are ordered by similarity."""
        if order == "levels" or self.levels is None:
            return self.levels, self.by_similarity[0]
        # Levels are in the order of the output that varies most.
        varied = self.values[np.argmax(spreads(self.values))]
        return self.levels[np.argsort(-varied, kind="stable")], False

    @property
    def has_rows(self) -> NDArray[np.bool_]:
        """Mask of the values (G1, G2) of a pair that border on a cell with rows."""
        if self.counts is None or not self.counts.size:
            return np.logical_and.reduce(np.isfinite(self.values))
        mask: NDArray[np.bool_] = self.counts > 0
        if not self.levelled[0]:
            mask = np.pad(mask, ((1, 0), (0, 0))) | np.pad(mask, ((0, 1), (0, 0)))
        if not self.levelled[1]:
            mask = np.pad(mask, ((0, 0), (1, 0))) | np.pad(mask, ((0, 0), (0, 1)))
        return mask

    def swap_features(self) -> Effect:
        """The effect of a pair, with its features in the other order."""
        swapped_fields = self._map_values(lambda values: values.swapaxes(1, 2))
        for name in ("names", "places", "levelled", "data"):
            swapped_fields[name] = getattr(self, name) and getattr(self, name)[::-1]
        return replace(self, **swapped_fields)

    def by_level(self, output: int) -> Effect:
        """One output of a pair, as a curve for each level of the second feature."""
        curve_fields = self._map_values(lambda values: values[output].T)
        for name in ("names", "places", "levelled"):
            curve_fields[name] = getattr(self, name)[:1]
        return replace(self, **curve_fields)

    def _map_values(self, change: Callable[..., Any]) -> dict[str, Any]:
        """The values and the ends of their bands, with a function applied to them."""
        arrays = {name: getattr(self, name) for name in ("values", "low", "high")}
        return {n: change(each) for n, each in arrays.items() if each is not None}

    def series(
        self,
        output: int,
        label: object,
        colour: ColorType,
        levels: Sequence[Any] | NDArray[Any] | None = None,
    ) -> Series:
        """One output of a one-way effect as a line.

        Along a category, x are positions among `levels`, by default the effect's.
        """
        (places,) = self.places
        if self.levelled[0]:
            places = level_places(places, places if levels is None else levels)
        return Series(
            np.asarray(days(places), dtype=np.float64),
            self.values[output],
            None if self.low is None else self.low[output],
            None if self.high is None else self.high[output],
            None if self.folds is None else self.folds[:, output],
            label,
            colour,
            places.dtype if is_date(places) else None,
        )


def spreads(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Standard deviation of each output's effect (k, ...) over its finite points."""
    flat = values.reshape(len(values), -1)
    is_finite = np.isfinite(flat).all(axis=0)
    return flat[:, is_finite].std(axis=1) if is_finite.any() else np.zeros(len(flat))


@dataclass(frozen=True)
class Shades:
    """Values of a feature that colours curves."""

    name: str  # the feature
    values: NDArray[Any]  # one per curve: numbers, or labels
    levels: NDArray[Any] | None = None  # of a category

    @property
    def limits(self) -> tuple[float, float]:
        """Range of the numbers, dates as days."""
        finite = days(self.values[np.isfinite(self.values)])
        return (finite.min(), finite.max()) if len(finite) else (0.0, 1.0)

    @property
    def dates(self) -> np.dtype[Any] | None:
        """Dtype of dates, or None."""
        return self.values.dtype if is_date(self.values) else None

    def colours(self, ax: Axes) -> list[ColorType]:
        """A colour for each value; grey for missing values and levels without one."""
        if self.levels is None:
            low, high = self.limits
            shares = (days(self.values) - low) / ((high - low) or 1.0)
            shades = feature_map(ax).with_extremes(bad=NEUTRAL_COLOUR)
            return list(shades(np.ma.masked_invalid(shares)))
        palette = dict(zip(map(label_key, self.levels), PALETTE, strict=False))
        return [palette.get(label_key(v), NEUTRAL_COLOUR) for v in self.values]

    def entries(self, ax: Axes) -> dict[str, Line2D]:
        """Handles of the legend by label, for a category."""
        from matplotlib.lines import Line2D

        if self.levels is None:
            return {}
        texts = list(map(level_text, self.levels))[: len(PALETTE)]
        palette = dict(zip(texts, PALETTE, strict=False))
        if len(self.levels) > len(PALETTE):
            palette["others"] = NEUTRAL_COLOUR
        return {
            f"{self.name}: {text}": Line2D([], [], color=stand_out(colour, ax))
            for text, colour in palette.items()
        }


class Mark(NamedTuple):
    """A row that is marked on the lines."""

    text: str  # its name, for the legend
    x: float  # its position along the feature
    values: Sequence[float] | NDArray[np.float64]  # on each line


@dataclass(frozen=True)
class LinePanel:
    """Lines along one feature."""

    name: str  # the feature
    series: list[Series]  # the lines; along a category, x are positions of `levels`
    first_line: str  # of the label of the values: mostly the response
    second_line: str  # mostly the quantity shown
    levels: Sequence[Any] | NDArray[Any] | None = None  # levels of a category
    data: NDArray[Any] | None = None  # the feature's values (labels) in the data
    title: Any = None  # the output, where colours do not show it
    # (n, G): one thin curve per row, behind the first line.
    curves: NDArray[np.float64] | None = None
    shades: Shades | None = None  # the feature that colours the curves
    zero: bool = False  # whether a line marks zero
    # For each line, its value where the feature is missing.
    missing: ArrayLike | None = None
    by_similarity: bool = False  # whether levels are ordered by similarity
    mark: Mark | None = None

    @property
    def has_bar(self) -> bool:
        """Whether the panel has a colour bar."""
        return self.shades is not None and self.shades.levels is None

    @property
    def has_levels(self) -> bool:
        """Whether the feature is a category."""
        return self.levels is not None

    @property
    def across(self) -> bool:
        """Whether levels stand below each other, and values go to the right."""
        return len(self.level_texts) > MANY_LEVELS

    @property
    def values_along(self) -> Literal["x", "y"]:
        """The axis of the values, which other panels may share."""
        return "x" if self.across else "y"

    @property
    def level_texts(self) -> list[str]:
        """Names of the levels."""
        return [] if self.levels is None else list(map(level_text, self.levels))

    def slot(self, below: bool) -> Slot:
        """Space that the panel needs."""
        if not self.across:
            return Slot(below, self.has_bar, level_inches(self.level_texts))
        level_width = level_side_inches(self.level_texts, NAME_LENGTH)
        height = levels_height(len(self.level_texts))
        return Slot(below, self.has_bar, level_width=level_width, height=height)

    @property
    def dates(self) -> np.dtype[Any] | None:
        """Dtype of the dates along the feature, or None."""
        return self.series[0].dates

    @property
    def _places(self) -> NDArray[np.float64]:
        """Places along the feature of all lines."""
        return np.concatenate([series.x for series in self.series])

    def draw(self, ax: Axes, options: PlotOptions) -> Artists:
        """Draw on an axes; return the artists."""
        artists, n_earlier = Artists(), len(earlier_lines(ax))
        if self.zero and not n_earlier:
            line = ax.axvline if self.across else ax.axhline
            # Above a style's grid.
            line(0, color=shade(ax, 0.35), linewidth=0.8, zorder=0.9)
        colours = unused_colours([series.colour for series in self.series], ax)
        if self.curves is not None and len(self.curves):
            self._draw_curves(ax, self.curves, colours[0], options.curve_kw, artists)
        n_series = len(self.series)
        shifts = np.zeros(n_series)
        if self.has_levels:  # points at a level stand side by side
            shifts = np.linspace(-0.25, 0.25, n_series) if n_series > 1 else shifts
            shifts = shifts + 0.18 * min(n_earlier / n_series, 2)
        style = _line_style(options.line_kw)
        if "color" in style:
            colours = [style["color"]] * n_series
        for series, colour, shift in zip(self.series, colours, shifts, strict=True):
            x = series.x + shift
            self._draw_series(ax, series, x, colour, style, options, artists)
        if self.missing is not None:
            artists.missing = self._draw_missing(ax, self.missing, colours)
        if self.mark is not None:
            self._draw_marks(ax, self.mark, colours, shifts, artists)
        ax.margins(x=0.1 if self.across else None, y=None if self.across else 0.1)
        if not len(self._places):
            note_empty(ax, "no observed value")
        elif options.rug and self.data is not None:
            self._draw_data(ax, self.data, options.rug_kw, artists)
        if self.has_levels:
            self._name_levels(ax, again=n_earlier > 0)
        date_ticks(ax, self.dates)
        return artists

    def _draw_curves(
        self,
        ax: Axes,
        curves: NDArray[np.float64],
        colour: ColorType,
        style: Style | None,
        artists: Artists,
    ) -> None:
        from matplotlib.lines import Line2D

        shades, x = self.shades, self.series[0].x
        colours = [colour] if shades is None else shades.colours(ax)
        artists.curves = draw_curves(ax, x, curves, colours, style, across=self.across)
        if shades is None:
            handle = Line2D([], [], color=stand_out(colour, ax), alpha=0.6, linewidth=1)
            artists.entries[f"{len(curves)} rows"] = handle
            return
        if self.has_bar:
            artists.scale = colour_scale(feature_map(ax), shades.limits)
        artists.entries |= shades.entries(ax)

    def _draw_series(
        self,
        ax: Axes,
        series: Series,
        x: NDArray[np.float64],
        colour: ColorType,
        style: Style,
        options: PlotOptions,
        artists: Artists,
    ) -> None:
        form = {"as_points": self.has_levels or series.as_points, "across": self.across}
        line_colour, entries = colour, artists.entries
        if self.curves is not None and "color" not in style:
            # Black (or white) stands out among many coloured curves.
            used = [line.get_color() for line in earlier_lines(ax)]
            line_colour = colour if ink(ax) in used else ink(ax)
        text = self._series_text(series, style)
        style = style if text is None else {**style, "label": text}
        line = draw_line(ax, x, series.y, line_colour, style, **form)
        line.set_gid(EFFECT)
        artists.lines.append(line)
        if text is None and series.folds is not None:
            text = "mean of the folds' models"
        elif text is None and self.curves is not None:
            text = "mean over all rows"
        if text is not None:
            entries[text] = line
        if series.folds is not None:
            shifted = x + FOLD_SHIFT * self.has_levels / len(self.series)
            folds = draw_thin_lines(
                ax, shifted, series.folds, line_colour, options.fold_kw, **form
            )
            artists.fold_lines.append(folds)
            entries.setdefault(f"{len(folds)} folds", folds[0])
        if options.band and series.low is not None and series.high is not None:
            low, high, band_kw = series.low, series.high, options.band_kw
            band = draw_band(ax, x, low, high, line_colour, band_kw, **form)
            artists.bands.append(band)
            text = options.band_text
            if series.folds is not None:
                text = options.learner_text
            entries.setdefault(text, band)

    def _series_text(self, series: Series, style: Style) -> str | None:
        """Text of a line in a legend: the user's label, the output, both or None."""
        several = len(self.series) > 1
        labels = [style.get("label"), series.label if several else None]
        return ", ".join(str(text) for text in labels if text is not None) or None

    def _draw_marks(
        self,
        ax: Axes,
        mark: Mark,
        colours: Sequence[ColorType],
        shifts: NDArray[np.float64],
        artists: Artists,
    ) -> None:
        """A large point on each line, at one row's value."""
        from matplotlib.lines import Line2D

        style: Style = {"markersize": 9, "markeredgecolor": ink(ax), "zorder": 4}
        form = {"as_points": True, "across": self.across}
        for colour, shift, value in zip(colours, shifts, mark.values, strict=True):
            point = draw_line(ax, [mark.x + shift], [value], colour, style, **form)
            artists.marks.append(point)
        colour = NEUTRAL_COLOUR if len(mark.values) > 1 else point.get_color()
        handle = Line2D([], [], linestyle="none", marker="o", color=colour, **style)
        artists.entries[mark.text] = handle

    def _draw_missing(
        self, ax: Axes, values: ArrayLike, colours: Sequence[ColorType]
    ) -> list[Line2D]:
        """Marks to the right of the lines."""
        ends = self._places
        low, high = (ends.min(), ends.max()) if len(ends) else (0.0, 1.0)
        x = high + 0.08 * (high - low or 1.0)
        return draw_aside(ax, x, values, colours, "missing")

    def _draw_data(
        self, ax: Axes, data: NDArray[Any], style: Style | None, artists: Artists
    ) -> None:
        """Mark the data, unless another display has marked them."""
        text = SHARES if self.has_levels else VALUES
        if any(lines.get_label() == text for lines in ax.collections):
            return
        if self.levels is not None:
            shares = level_shares(data, self.levels)
            artists.rug = draw_shares(ax, shares, style, across=self.across)
        else:
            ends = self._places
            artists.rug = draw_rug(ax, days(data), ends.min(), ends.max(), style)
        artists.rug.set_label(text)
        artists.entries[text] = rug_handle(artists.rug, across=self.across)

    def _name_levels(self, ax: Axes, *, again: bool) -> None:
        """Name the levels; refuse levels that differ from an earlier display's."""
        side = "y" if self.across else "x"
        axis = getattr(ax, f"{side}axis")
        before = [text.get_text() for text in axis.get_ticklabels()]
        most = NAME_LENGTH if self.across else LEVEL_WIDTH
        label_levels(ax, self.level_texts, axis_name=side, most=most)
        ends = -0.6, max(len(self.level_texts), 1) - 0.4
        if self.across:  # from the top downwards
            ax.set_ylim(*ends[::-1])
        else:
            ax.set_xlim(*ends)
        if again and before != [text.get_text() for text in axis.get_ticklabels()]:
            raise ValueError(
                f"The axes show levels of another feature than {self.name!r}, or in "
                "another order. Draw both with order='levels' and one order of levels."
            )

    def tidy_numbers(self, ax: Axes) -> None:
        """Few ticks on a small panel of a grid."""
        if not self.has_levels and self.dates is None:
            tidy_number_ticks(ax, self._places)

    def label(self, ax: Axes, *, with_y: bool = True) -> None:
        """Name the axes."""
        most = letters_along(ax, int(not self.across))
        values = two_lines(self.first_line, self.second_line, most)
        width = min(letters_along(ax, int(self.across)), NAME_WIDTH)
        name = literal(wrap_name(date_label(self.name, self.dates), width))
        name += BY_SIMILARITY if self.by_similarity else ""
        if self.has_levels:
            axis = ax.yaxis if self.across else ax.xaxis
            name += thinned_text(axis, len(self.level_texts))
        if self.across:
            name_axes(ax, title=self.title)
            ax.set(xlabel=values, ylabel=name)
            return
        name_axes(ax, y=values if with_y else None, title=self.title)
        ax.set_xlabel(name)


class SpreadPanel(LinePanel):
    """Standard deviation of slopes, below the curves that have them."""

    def draw(self, ax: Axes, options: PlotOptions) -> Artists:
        """Draw on an axes, from zero upwards; return the artists."""
        (series,) = self.series
        (colour,) = unused_colours([series.colour], ax)
        line = draw_line(ax, series.x, series.y, colour, options.line_kw)
        ax.autoscale(axis="y")
        ax.set_ylim(bottom=0)
        date_ticks(ax, self.dates)
        return Artists(lines=[line])

    def label(self, ax: Axes, *, with_y: bool = True) -> None:
        """Name the axes."""
        name = date_label(self.name, self.dates)
        name_axes(ax, name, self.first_line if with_y else None)


@dataclass(frozen=True)
class SurfacePanel:
    """An effect of two features on one output."""

    effect: Effect
    output: int
    limits: tuple[float, float]  # range of the colours
    first_line: str  # of the label of the values: mostly the response
    second_line: str  # mostly the quantity shown
    diverging: bool = False  # whether zero is the middle

    values_along = None

    @property
    def _places(self) -> tuple[Any, Any]:
        """Numbers or levels along each side, dates as days."""
        first, second = map(days, self.effect.places)
        return first, second

    def _date_dtype(self, side: int) -> np.dtype[Any] | None:
        places = self.effect.places[side]
        is_dates = is_date(places) and not self.effect.levelled[side]
        return places.dtype if is_dates else None

    def _level_texts(self, side: int) -> list[str]:
        if not self.effect.levelled[side]:
            return []
        return list(map(level_text, self.effect.places[side]))

    def slot(self, below: bool) -> Slot:
        """Space that the panel needs."""
        x_texts, y_texts = self._level_texts(0), self._level_texts(1)
        level_height = level_inches(x_texts)
        level_width = level_side_inches(y_texts, NAME_LENGTH)
        height = levels_height(len(y_texts))
        return Slot(below, True, level_height, level_width, height)

    def draw(self, ax: Axes, options: PlotOptions) -> Artists:
        """Draw on an axes; return the artists."""
        artists, values = Artists(), self.effect.values[self.output]
        if 0 in values.shape:
            note_empty(ax, "no observed value")
            return artists
        smooth = min(values.shape) > 1 and not any(self.effect.levelled)
        cells, (x, y) = None, self._places
        if smooth and self.effect.bounds is None:
            style = options.contour_kw
            surface: ScalarMappable = draw_contours(
                ax, x, y, values, self.limits, style, diverging=self.diverging
            )
            artists.contours = surface
            if self.effect.counts is not None:
                cells = draw_empty_cells(ax, x, y, self.effect.counts == 0)
        else:
            x, y = self._cell_bounds(0), self._cell_bounds(1)
            style = options.heatmap_kw
            surface = draw_heat_map(
                ax, x, y, values, self.limits, style, diverging=self.diverging
            )
            artists.heatmaps = surface
            cells = draw_empty_cells(ax, x, y, ~self.effect.has_rows)
        if cells is not None:
            artists.entries[NO_ROWS] = cells
        if options.rug and self.effect.data is not None:
            x, y = (self._positions(side, self.effect.data[side]) for side in (0, 1))
            artists.points = draw_positions(ax, x, y, options.points_kw)
            text = JITTERED if any(self.effect.levelled) else ROWS
            artists.entries[text] = artists.points
        for side, axis_name in enumerate("xy"):
            date_ticks(ax, self._date_dtype(side), axis_name)
            levels = self._level_texts(side)
            if levels:
                most = NAME_LENGTH if axis_name == "y" else LEVEL_WIDTH
                label_levels(
                    ax, levels, axis_name=axis_name, share=BAR_SHARE, most=most
                )
        text = two_lines(self.first_line, self.second_line, letters_along(ax, 1))
        artists.colorbars = draw_colour_bar(ax, surface, text)
        return artists

    def _cell_bounds(self, side: int) -> NDArray[np.float64]:
        if self.effect.levelled[side]:
            return np.arange(len(self.effect.places[side]) + 1, dtype=np.float64) - 0.5
        if self.effect.bounds is not None:
            bounds = days(self.effect.bounds[side])
            if bounds[0] < bounds[1]:
                return bounds
        # A first cell without width gets a width, to be visible.
        return cell_bounds(self._places[side])

    def _positions(self, side: int, values: NDArray[Any]) -> NDArray[np.float64]:
        if not self.effect.levelled[side]:
            return days(values)
        return jitter_positions(
            level_places(values, self.effect.places[side]), seed=side
        )

    def tidy_numbers(self, ax: Axes) -> None:
        """Few ticks on a small panel of a grid."""
        for side, axis_name in enumerate("xy"):
            if not self.effect.levelled[side] and self._date_dtype(side) is None:
                tidy_number_ticks(ax, self._places[side], axis_name, most=4)

    def label(self, ax: Axes, *, with_y: bool = True) -> None:
        """Name the axes."""
        most = letters_along(ax, 1)
        names = [
            date_label(name, self._date_dtype(side))
            for side, name in enumerate(self.effect.names)
        ]
        second = wrap_name(names[1], min(most, NAME_WIDTH))
        name_axes(ax, names[0], literal(second))
        for side, axis in enumerate((ax.xaxis, ax.yaxis)):
            text = axis.get_label_text()
            text += BY_SIMILARITY if self.effect.by_similarity[side] else ""
            if self.effect.levelled[side]:
                text += thinned_text(axis, len(self.effect.places[side]))
            axis.set_label_text(text)


def level_text(level: object) -> str:
    """A level as text on an axis; whole numbers without their ".0"."""
    if isinstance(level, float) and level.is_integer():
        return f"{level:.0f}"
    return label_text(level)


def level_places(values: Iterable[Any], levels: Iterable[Any]) -> NDArray[np.float64]:
    """Position of each value among `levels`, as floats; NaN for other values."""
    codes = {label_key(level): code for code, level in enumerate(levels)}
    return np.array([codes.get(label_key(v), np.nan) for v in values], dtype=float)


def level_shares(
    data: NDArray[Any], levels: Sequence[Any] | NDArray[Any]
) -> NDArray[np.float64]:
    """Share of the data at each level."""
    positions = level_places(data, levels)
    codes = positions[np.isfinite(positions)].astype(np.intp)
    return np.bincount(codes, minlength=len(levels)) / max(len(data), 1)


def earlier_lines(ax: Axes) -> list[Line2D]:
    """Lines of the displays that have drawn on an axes before."""
    return [line for line in ax.lines if line.get_gid() == EFFECT]


def _line_style(style: Style | None) -> dict[str, str]:
    """Style of a line under matplotlib's full names."""
    from matplotlib.lines import Line2D

    return merge_styles({}, style, Line2D)


def levels_height(n_levels: int) -> float:
    """Height in inches of a panel with `n_levels` names along y."""
    return LEVEL_HEIGHT * min(n_levels, MOST_LEVELS) + 1 if n_levels else 0.0
