"""Panels with lines along one feature or a surface over two."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from sklearn_interpret._model.rows.axes import label_text
from sklearn_interpret._model.rows.base import label_key
from sklearn_interpret._model.rows.dates import days, is_date
from sklearn_interpret._plotting.axes import Slot, letters_along, merged_style
from sklearn_interpret._plotting.colours import (
    NEUTRAL_COLOUR,
    PALETTE,
    feature_map,
    ink,
    seen,
    shade,
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
    wrapped,
)
from sklearn_interpret._plotting.points import draw_positions, jittered
from sklearn_interpret._plotting.surfaces import (
    cell_bounds,
    colour_scale,
    draw_colour_bar,
    draw_contours,
    draw_empty_cells,
    draw_heat_map,
)

OWNERS = "this model's", "learner's"  # whose curve a band holds
LEARNER_BAND = "learner's curve, 95 %"
ERROR_BAND = "± 2 std errors"
MODEL_BAND = f"this model's curve, {ERROR_BAND}"
BY_SIMILARITY = "\n(ordered by similarity)"
FOLD_SHIFT = 0.12  # distance of the folds' points from that of their mean
BAR_SHARE = 0.6  # share of its width that an axes with a colour bar keeps
MANY_LEVELS = 12  # more levels are below each other, which leaves room for names
NAME_LENGTH = 30  # characters of a level there
MOST_ROWS, PITCH = 120, 0.18  # largest number of names, and inches per name
EFFECT = "effect"  # group id of the lines, by which later displays find them
VALUES, SHARES = "values in the data", "share of the rows"
ROWS, JITTERED, NO_ROWS = "rows", "rows (jittered at levels)", "no rows"


@dataclass
class Looks:
    """Options of a drawing; see `plot`."""

    rug: bool = True
    band: bool = True
    band_text: str = MODEL_BAND
    learner_text: str = LEARNER_BAND
    order: str = "levels"
    kind: str = "curves"
    outputs: Any = None  # positions of those drawn together as lines
    line_kw: dict | None = None
    band_kw: dict | None = None
    fold_kw: dict | None = None
    rug_kw: dict | None = None
    contour_kw: dict | None = None
    heatmap_kw: dict | None = None
    points_kw: dict | None = None
    curve_kw: dict | None = None
    residual_kw: dict | None = None

    @classmethod
    def of_arguments(cls, arguments):
        """Those options that are among the arguments of a `plot`."""
        names = cls.__dataclass_fields__
        return cls(**{name: arguments[name] for name in names & arguments.keys()})


@dataclass
class Artists:
    """Artists of one panel."""

    lines: list = field(default_factory=list)
    bands: list = field(default_factory=list)
    fold_lines: list = field(default_factory=list)
    curves: Any = None
    missing: list = field(default_factory=list)
    marks: list = field(default_factory=list)
    rug: Any = None
    contours: Any = None
    heatmaps: Any = None
    points: Any = None
    colorbars: Any = None
    scale: Any = None  # colours of the curves, for a colour bar
    entries: dict = field(default_factory=dict)  # of the legend: handles by label


@dataclass(frozen=True)
class Series:
    """One line: numbers along x, with a band and one thin line per fold."""

    x: np.ndarray
    y: np.ndarray
    low: np.ndarray | None = None
    high: np.ndarray | None = None
    folds: np.ndarray | None = None
    label: Any = None
    colour: Any = None
    dates: Any = None  # dtype of the dates that x are the days of
    as_points: bool = False  # whether there is nothing between the points

    def changed(self, change):
        """The line with its numbers along y changed."""
        arrays = {name: getattr(self, name) for name in ("y", "low", "high")}
        return replace(
            self, **{n: change(y) for n, y in arrays.items() if y is not None}
        )


@dataclass(frozen=True)
class Effect:
    """Numbers of one entry."""

    names: tuple  # one or two features
    places: tuple  # values or levels along them
    levelled: tuple  # which of them are categories
    values: np.ndarray  # (k, G) or (k, G1, G2): the effect
    low: np.ndarray | None = None  # lower ends of the bands
    high: np.ndarray | None = None  # upper ends of the bands
    # (n_folds, k, ...): the effect of each fold's model.
    folds: np.ndarray | None = None
    data: tuple | None = None  # the features' values in the data
    bounds: tuple | None = None  # ends of cells, where values belong to these
    by_similarity: tuple = (False, False)  # which of them are ordered by similarity
    counts: np.ndarray | None = None  # weight of the rows in a pair's cells
    missing: np.ndarray | None = None  # (k,): the effect of a missing value

    @property
    def levels(self):
        """Levels of a single feature that is a category, or None."""
        return self.places[0] if self.levelled[0] else None

    def levels_in(self, order):
        """Levels in an order, and whether they are ordered by similarity."""
        if order == "levels" or self.levels is None:
            return self.levels, self.by_similarity[0]
        # The order of the output that varies most.
        varied = self.values[np.argmax(spreads(self.values))]
        return self.levels[np.argsort(-varied, kind="stable")], False

    @property
    def held(self):
        """Mask of the values (G1, G2) of a pair that border on a cell with rows."""
        if self.counts is None or not self.counts.size:
            return np.isfinite(self.values).all(axis=0)
        held = self.counts > 0
        if not self.levelled[0]:
            held = np.pad(held, ((1, 0), (0, 0))) | np.pad(held, ((0, 1), (0, 0)))
        if not self.levelled[1]:
            held = np.pad(held, ((0, 0), (1, 0))) | np.pad(held, ((0, 0), (0, 1)))
        return held

    def swapped(self):
        """The effect of a pair, with its features in the other order."""
        turned = self._changed(lambda values: values.swapaxes(1, 2))
        for name in ("names", "places", "levelled", "data"):
            turned[name] = getattr(self, name) and getattr(self, name)[::-1]
        return replace(self, **turned)

    def by_level(self, output):
        """One output of a pair, as a curve for each level of the second feature."""
        curves = self._changed(lambda values: values[output].T)
        for name in ("names", "places", "levelled"):
            curves[name] = getattr(self, name)[:1]
        return replace(self, **curves)

    def _changed(self, change):
        """The values and the ends of their bands, changed."""
        arrays = {name: getattr(self, name) for name in ("values", "low", "high")}
        return {n: change(each) for n, each in arrays.items() if each is not None}

    def series(self, output, label, colour, levels=None):
        """One output of a one-way effect as a line.

        Along a category, x are positions among `levels`, by default its own.
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


def spreads(values):
    """Standard deviation of each output's effect (k, ...) over its known points."""
    flat = values.reshape(len(values), -1)
    known = np.isfinite(flat).all(axis=0)
    return flat[:, known].std(axis=1) if known.any() else np.zeros(len(flat))


@dataclass(frozen=True)
class Shades:
    """Values of a feature that colours curves."""

    name: str  # the feature
    values: np.ndarray  # one per curve: numbers, or labels
    levels: np.ndarray | None = None  # of a category

    @property
    def limits(self):
        """Range of the numbers, dates as days."""
        known = days(self.values[np.isfinite(self.values)])
        return (known.min(), known.max()) if len(known) else (0.0, 1.0)

    @property
    def dates(self):
        """Dtype of dates, or None."""
        return self.values.dtype if is_date(self.values) else None

    def colours(self, ax):
        """A colour for each value; grey for missing ones and others."""
        if self.levels is None:
            low, high = self.limits
            shares = (days(self.values) - low) / ((high - low) or 1.0)
            shades = feature_map(ax).with_extremes(bad=NEUTRAL_COLOUR)
            return list(shades(np.ma.masked_invalid(shares)))
        palette = dict(zip(map(label_key, self.levels), PALETTE, strict=False))
        return [palette.get(label_key(v), NEUTRAL_COLOUR) for v in self.values]

    def entries(self, ax):
        """Handles of the legend by label, for a category."""
        from matplotlib.lines import Line2D

        if self.levels is None:
            return {}
        texts = list(map(level_text, self.levels))[: len(PALETTE)]
        palette = dict(zip(texts, PALETTE, strict=False))
        if len(self.levels) > len(PALETTE):
            palette["others"] = NEUTRAL_COLOUR
        return {
            f"{self.name}: {text}": Line2D([], [], color=seen(colour, ax))
            for text, colour in palette.items()
        }


@dataclass(frozen=True)
class LinePanel:
    """Lines along one feature."""

    name: str  # the feature
    series: list  # the lines; along a category, x are positions of `levels`
    what: str  # the quantity shown
    of: str  # the response
    levels: np.ndarray | None = None  # levels of a category
    data: np.ndarray | None = None  # the feature's values (labels) in the data
    title: Any = None  # the output, where colours do not show it
    # (n, G): one thin curve per row, behind the first line.
    curves: np.ndarray | None = None
    shades: Shades | None = None  # the feature that colours the curves
    zero: bool = False  # whether a line marks zero
    missing: Any = None  # for each line, its value where the feature is missing
    by_similarity: bool = False  # whether levels are ordered by similarity
    mark: tuple | None = None  # name of a row, its place, and its value on each line

    @property
    def has_bar(self):
        """Whether the panel has a colour bar."""
        return self.shades is not None and self.shades.levels is None

    @property
    def has_levels(self):
        """Whether the feature is a category."""
        return self.levels is not None

    @property
    def across(self):
        """Whether levels stand below each other, and values go to the right."""
        return self.has_levels and len(self.levels) > MANY_LEVELS

    @property
    def values_along(self):
        """The axis of the values, which other panels may share."""
        return "x" if self.across else "y"

    @property
    def level_texts(self):
        """Names of the levels."""
        return list(map(level_text, self.levels)) if self.has_levels else []

    def slot(self, below):
        """Space that the panel needs."""
        if not self.across:
            return Slot(below, self.has_bar, level_inches(self.level_texts))
        side = level_side_inches(self.level_texts, NAME_LENGTH)
        height = levels_height(len(self.levels))
        return Slot(below, self.has_bar, side=side, height=height)

    @property
    def dates(self):
        """Dtype of the dates along the feature, or None."""
        return self.series[0].dates

    @property
    def _places(self):
        """Places along the feature of all lines."""
        return np.concatenate([series.x for series in self.series])

    def draw(self, ax, looks):
        """Draw on an axes; return the artists."""
        artists, n_earlier = Artists(), len(earlier_lines(ax))
        if self.zero and not n_earlier:
            line = ax.axvline if self.across else ax.axhline
            # Above a style's grid.
            line(0, color=shade(ax, 0.35), linewidth=0.8, zorder=0.9)
        colours = unused_colours([series.colour for series in self.series], ax)
        if self.curves is not None and len(self.curves):
            self._draw_curves(ax, colours[0], looks.curve_kw, artists)
        n_series = len(self.series)
        shifts = np.zeros(n_series)
        if self.has_levels:  # points at a level stand side by side
            shifts = np.linspace(-0.25, 0.25, n_series) if n_series > 1 else shifts
            shifts = shifts + 0.18 * min(n_earlier / n_series, 2)
        style = _line_style(looks.line_kw)
        if "color" in style:
            colours = [style["color"]] * n_series
        for series, colour, shift in zip(self.series, colours, shifts, strict=True):
            x = series.x + shift
            self._draw_series(ax, series, x, colour, style, looks, artists)
        if self.missing is not None:
            artists.missing = self._draw_missing(ax, colours)
        if self.mark is not None:
            self._draw_marks(ax, colours, shifts, artists)
        ax.margins(**{self.values_along: 0.1})
        if not len(self._places):
            note_empty(ax, "no observed value")
        elif looks.rug and self.data is not None:
            self._draw_data(ax, looks.rug_kw, artists)
        if self.has_levels:
            self._name_levels(ax, again=n_earlier > 0)
        date_ticks(ax, self.dates)
        return artists

    def _draw_curves(self, ax, colour, style, artists):
        from matplotlib.lines import Line2D

        shades, x = self.shades, self.series[0].x
        each = [colour] if shades is None else shades.colours(ax)
        artists.curves = draw_curves(
            ax, x, self.curves, each, style, across=self.across
        )
        if shades is None:
            handle = Line2D([], [], color=seen(colour, ax), alpha=0.6, linewidth=1)
            artists.entries[f"{len(self.curves)} rows"] = handle
        elif self.has_bar:
            artists.scale = colour_scale(feature_map(ax), shades.limits)
        artists.entries |= {} if shades is None else shades.entries(ax)

    def _draw_series(self, ax, series, x, colour, style, looks, artists):
        as_points = self.has_levels or series.as_points
        kind = {"as_points": as_points, "across": self.across}
        shown, entries = colour, artists.entries
        if self.curves is not None and "color" not in style:
            # Black (or white) stands out among many coloured curves.
            taken = [line.get_color() for line in earlier_lines(ax)]
            shown = colour if ink(ax) in taken else ink(ax)
        text = self._series_text(series, style)
        style = style if text is None else {**style, "label": text}
        line = draw_line(ax, x, series.y, shown, style, **kind)
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
                ax, shifted, series.folds, shown, looks.fold_kw, **kind
            )
            artists.fold_lines.append(folds)
            entries.setdefault(f"{len(folds)} folds", folds[0])
        if looks.band and series.low is not None:
            ends = series.low, series.high
            band = draw_band(ax, x, *ends, shown, looks.band_kw, **kind)
            artists.bands.append(band)
            text = looks.band_text
            if series.folds is not None:
                text = looks.learner_text
            entries.setdefault(text, band)

    def _series_text(self, series, style):
        """Text of a line in a legend: the user's label, the output, both or None."""
        several = len(self.series) > 1
        parts = [style.get("label"), series.label if several else None]
        return ", ".join(str(part) for part in parts if part is not None) or None

    def _draw_marks(self, ax, colours, shifts, artists):
        """A large point on each line, at one row's value."""
        from matplotlib.lines import Line2D

        text, place, values = self.mark
        style = {"markersize": 9, "markeredgecolor": ink(ax), "zorder": 4}
        kind = {"as_points": True, "across": self.across}
        for colour, shift, value in zip(colours, shifts, values, strict=True):
            mark = draw_line(ax, [place + shift], [value], colour, style, **kind)
            artists.marks.append(mark)
        shown = NEUTRAL_COLOUR if len(values) > 1 else mark.get_color()
        handle = Line2D([], [], linestyle="none", marker="o", color=shown, **style)
        artists.entries[text] = handle

    def _draw_missing(self, ax, colours):
        """Marks to the right of the lines."""
        ends = self._places
        low, high = (ends.min(), ends.max()) if len(ends) else (0.0, 1.0)
        place = high + 0.08 * (high - low or 1.0)
        return draw_aside(ax, place, self.missing, colours, "missing")

    def _draw_data(self, ax, style, artists):
        """Mark the data, unless another display has done so."""
        text = SHARES if self.has_levels else VALUES
        if any(lines.get_label() == text for lines in ax.collections):
            return
        if self.has_levels:
            places = level_places(self.data, self.levels)
            known = places[np.isfinite(places)].astype(np.intp)
            counts = np.bincount(known, minlength=len(self.levels))
            shares = counts / max(len(self.data), 1)
            artists.rug = draw_shares(ax, shares, style, across=self.across)
        else:
            ends = self._places
            artists.rug = draw_rug(ax, days(self.data), ends.min(), ends.max(), style)
        artists.rug.set_label(text)
        artists.entries[text] = rug_handle(artists.rug, across=self.across)

    def _name_levels(self, ax, *, again):
        """Name the levels; refuse other ones than another display has."""
        side = "y" if self.across else "x"
        axis = getattr(ax, f"{side}axis")
        before = [text.get_text() for text in axis.get_ticklabels()]
        names = {"most": NAME_LENGTH} if self.across else {}
        label_levels(ax, self.level_texts, which=side, **names)
        ends = -0.6, max(len(self.levels), 1) - 0.4
        if self.across:  # from the top downwards
            ax.set_ylim(*ends[::-1])
        else:
            ax.set_xlim(*ends)
        if again and before != [text.get_text() for text in axis.get_ticklabels()]:
            raise ValueError(
                f"The axes show levels of another feature than {self.name!r}, or in "
                "another order. Draw both with order='levels' and one order of levels."
            )

    def tidy_numbers(self, ax):
        """Few ticks on a small panel of a grid."""
        if not self.has_levels and self.dates is None:
            tidy_number_ticks(ax, self._places)

    def label(self, ax, *, with_y=True):
        """Name the axes."""
        most = letters_along(ax, int(not self.across))
        values = two_lines(self.what, self.of, most)
        width = min(letters_along(ax, int(self.across)), NAME_WIDTH)
        name = literal(wrapped(date_label(self.name, self.dates), width))
        name += BY_SIMILARITY if self.by_similarity else ""
        if self.has_levels:
            axis = ax.yaxis if self.across else ax.xaxis
            name += thinned_text(axis, len(self.levels))
        if self.across:
            name_axes(ax, title=self.title)
            ax.set(xlabel=values, ylabel=name)
            return
        name_axes(ax, y=values if with_y else None, title=self.title)
        ax.set_xlabel(name)


class SpreadPanel(LinePanel):
    """Standard deviation of slopes, below the curves that have them."""

    def draw(self, ax, looks):
        """Draw on an axes, from zero upwards; return the artists."""
        (series,) = self.series
        (colour,) = unused_colours([series.colour], ax)
        line = draw_line(ax, series.x, series.y, colour, looks.line_kw)
        ax.autoscale(axis="y")
        ax.set_ylim(bottom=0)
        date_ticks(ax, self.dates)
        return Artists(lines=[line])

    def label(self, ax, *, with_y=True):
        """Name the axes."""
        name = date_label(self.name, self.dates)
        name_axes(ax, name, self.what if with_y else None)


@dataclass(frozen=True)
class SurfacePanel:
    """An effect of two features on one output."""

    effect: Effect
    output: int
    limits: tuple  # range of the colours
    what: str  # the quantity shown
    of: str  # the response
    diverging: bool = False  # whether zero is the middle

    values_along = None
    has_bar = True

    @property
    def _places(self):
        """Numbers or levels along each side, dates as days."""
        return tuple(map(days, self.effect.places))

    def _date_dtype(self, side):
        places = self.effect.places[side]
        is_dates = is_date(places) and not self.effect.levelled[side]
        return places.dtype if is_dates else None

    def _level_texts(self, side):
        levels = self.effect.places[side] if self.effect.levelled[side] else []
        return list(map(level_text, levels))

    def slot(self, below):
        """Space that the panel needs."""
        ticks, side = level_inches(self._level_texts(0)), self._level_texts(1)
        width = level_side_inches(side, NAME_LENGTH)
        return Slot(below, True, ticks, width, levels_height(len(side)))

    def draw(self, ax, looks):
        """Draw on an axes; return the artists."""
        artists, values = Artists(), self.effect.values[self.output]
        if 0 in values.shape:
            note_empty(ax, "no observed value")
            return artists
        smooth = min(values.shape) > 1 and not any(self.effect.levelled)
        numbers = {"values": values, "limits": self.limits}
        numbers["diverging"] = self.diverging
        if smooth and self.effect.bounds is None:
            style = looks.contour_kw
            shown = draw_contours(ax, *self._places, **numbers, style=style)
            artists.contours = shown
        else:
            bounds = [self._cell_bounds(side) for side in (0, 1)]
            style = looks.heatmap_kw
            shown = draw_heat_map(ax, *bounds, **numbers, style=style)
            artists.heatmaps = shown
        cells = None
        if artists.heatmaps is not None:
            cells = draw_empty_cells(ax, *bounds, ~self.effect.held)
        elif self.effect.counts is not None:
            cells = draw_empty_cells(ax, *self._places, self.effect.counts == 0)
        if cells is not None:
            artists.entries[NO_ROWS] = cells
        if looks.rug and self.effect.data is not None:
            x, y = (self._positions(side) for side in (0, 1))
            artists.points = draw_positions(ax, x, y, looks.points_kw)
            text = JITTERED if any(self.effect.levelled) else ROWS
            artists.entries[text] = artists.points
        for side, which in enumerate("xy"):
            date_ticks(ax, self._date_dtype(side), which)
            levels = self._level_texts(side)
            if levels:
                most = {"most": NAME_LENGTH} if which == "y" else {}
                label_levels(ax, levels, which=which, share=BAR_SHARE, **most)
        most = letters_along(ax, 1)
        text = two_lines(self.what, self.of, most)
        artists.colorbars = draw_colour_bar(ax, shown, text)
        return artists

    def _cell_bounds(self, side):
        if self.effect.levelled[side]:
            return np.arange(len(self.effect.places[side]) + 1) - 0.5
        bounds = self.effect.bounds and days(self.effect.bounds[side])
        # A first cell without width gets one, to be visible.
        if bounds is None or bounds[0] >= bounds[1]:
            return cell_bounds(self._places[side])
        return bounds

    def _positions(self, side):
        values = self.effect.data[side]
        if not self.effect.levelled[side]:
            return days(values)
        return jittered(level_places(values, self.effect.places[side]), seed=side)

    def tidy_numbers(self, ax):
        """Few ticks on a small panel of a grid."""
        for side, which in enumerate("xy"):
            if not self.effect.levelled[side] and self._date_dtype(side) is None:
                tidy_number_ticks(ax, self._places[side], which, most=4)

    def label(self, ax, *, with_y=True):
        """Name the axes."""
        most = letters_along(ax, 1)
        names = [
            date_label(name, self._date_dtype(side))
            for side, name in enumerate(self.effect.names)
        ]
        second = wrapped(names[1], min(most, NAME_WIDTH))
        name_axes(ax, names[0], literal(second))
        for side, axis in enumerate((ax.xaxis, ax.yaxis)):
            text = axis.get_label_text()
            text += BY_SIMILARITY if self.effect.by_similarity[side] else ""
            if self.effect.levelled[side]:
                text += thinned_text(axis, len(self.effect.places[side]))
            axis.set_label_text(text)


def level_text(level):
    """A level as text on an axis; whole numbers without their ".0"."""
    if isinstance(level, float) and level.is_integer():
        return f"{level:.0f}"
    return label_text(level)


def level_places(values, levels):
    """Position among `levels` of each value, as floats; NaN for others."""
    known = {label_key(level): place for place, level in enumerate(levels)}
    return np.array([known.get(label_key(v), np.nan) for v in values], dtype=float)


def earlier_lines(ax):
    """Lines of the displays that have drawn on an axes before."""
    return [line for line in ax.lines if line.get_gid() == EFFECT]


def _line_style(style):
    """Style of a line under matplotlib's full names."""
    from matplotlib.lines import Line2D

    return merged_style({}, style, Line2D)


def levels_height(n_levels):
    """Height in inches of a panel with `n_levels` names along y."""
    return PITCH * min(n_levels, MOST_ROWS) + 1 if n_levels else 0.0
