"""Panels with lines along one feature or a surface over two; displays of panels."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sklearn_interpret._model.rows.axes import label_text
from sklearn_interpret._model.rows.base import label_key
from sklearn_interpret._plotting.axes import Slot, add_legend, take_axes
from sklearn_interpret._plotting.colours import ink, shade
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
)
from sklearn_interpret._plotting.labels import (
    label_levels,
    level_inches,
    literal,
    tidy_number_ticks,
    two_lines,
    wrapped,
)
from sklearn_interpret._plotting.points import draw_positions, jittered
from sklearn_interpret._plotting.surfaces import (
    cell_bounds,
    draw_colour_bar,
    draw_contours,
    draw_heat_map,
)

ERROR_BAND = "± 2 standard errors"
BY_SIMILARITY = "\n(ordered by similarity)"
BESIDE_MEAN = 0.12  # how far from the mean's point those of the folds stand
BESIDE_BAR = 0.6  # share of its width that an axes keeps beside a colour bar


@dataclass
class Looks:
    """Options of a drawing; see `plot`."""

    rug: bool = True
    band: bool = True
    line_kw: dict | None = None
    band_kw: dict | None = None
    fold_kw: dict | None = None
    rug_kw: dict | None = None
    contour_kw: dict | None = None
    heatmap_kw: dict | None = None
    points_kw: dict | None = None
    curve_kw: dict | None = None


@dataclass
class Artists:
    """Artists of one panel."""

    lines: list = field(default_factory=list)
    bands: list = field(default_factory=list)
    folds: list = field(default_factory=list)
    curves: Any = None
    missing: list = field(default_factory=list)
    rug: Any = None
    contour: Any = None
    heat_map: Any = None
    points: Any = None
    colorbar: Any = None


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


@dataclass(frozen=True)
class LinePanel:
    """Lines along one feature."""

    name: str  # the feature
    series: list  # the lines; along a category, x are positions of `levels`
    what: str  # what is shown
    of: str  # of which response
    levels: np.ndarray | None = None  # levels of a category
    data: np.ndarray | None = None  # the feature's values (labels) in the data
    title: Any = None  # the output, where colours do not show it
    # (n, G): one thin curve per row, behind the first line.
    curves: np.ndarray | None = None
    zero: bool = False  # whether zero is a reference
    missing: Any = None  # for each line, its value where the feature is missing
    by_similarity: bool = False  # whether like levels stand together

    shares_y = True
    has_bar = False

    @property
    def has_levels(self):
        """Whether there are names along x."""
        return self.levels is not None

    @property
    def level_texts(self):
        """Names along x."""
        return list(map(level_text, self.levels)) if self.has_levels else []

    @property
    def _places(self):
        """Where the lines are along x, all together."""
        return np.concatenate([series.x for series in self.series])

    def draw(self, ax, looks):
        """Draw on an axes; return the artists."""
        artists = Artists()
        if self.zero:
            ax.axhline(0, color=shade(ax, 0.35), linewidth=0.8, zorder=0.5)
        if self.curves is not None and len(self.curves):
            x, colour = self.series[0].x, self.series[0].colour
            artists.curves = draw_curves(ax, x, self.curves, colour, looks.curve_kw)
        shifts = np.zeros(len(self.series))
        if self.has_levels and len(shifts) > 1:  # points at a level stand side by side
            shifts = np.linspace(-0.25, 0.25, len(shifts))
        for series, shift in zip(self.series, shifts, strict=True):
            self._draw_series(ax, series, series.x + shift, looks, artists)
        if self.missing is not None:
            artists.missing = self._draw_missing(ax)
        ax.margins(y=0.1)
        if not len(self._places):
            note_empty(ax, "no observed value")
        elif looks.rug and self.data is not None:
            artists.rug = self._draw_data(ax, looks.rug_kw)
        if self.has_levels:
            label_levels(ax, self.level_texts)
            ax.set_xlim(-0.6, max(len(self.levels), 1) - 0.4)
        return artists

    def _draw_series(self, ax, series, x, looks, artists):
        as_points = self.has_levels
        # Black (or white) is visible among many coloured curves.
        colour = series.colour if self.curves is None else ink(ax)
        if series.folds is not None:
            shifted = x + BESIDE_MEAN * as_points / len(self.series)
            lines = draw_thin_lines(
                ax, shifted, series.folds, colour, looks.fold_kw, as_points=as_points
            )
            artists.folds.append(lines)
        if looks.band and series.low is not None:
            ends = series.low, series.high
            band = draw_band(ax, x, *ends, colour, looks.band_kw, as_points=as_points)
            artists.bands.append(band)
        line = draw_line(ax, x, series.y, colour, looks.line_kw, as_points=as_points)
        artists.lines.append(line)

    def _draw_missing(self, ax):
        """Marks to the right of the lines."""
        ends = self._places
        low, high = (ends.min(), ends.max()) if len(ends) else (0.0, 1.0)
        place = high + 0.08 * (high - low or 1.0)
        colours = [series.colour for series in self.series]
        return draw_aside(ax, place, self.missing, colours, "missing")

    def _draw_data(self, ax, style):
        if self.has_levels:
            places = level_places(self.data, self.levels)
            known = places[np.isfinite(places)].astype(np.intp)
            counts = np.bincount(known, minlength=len(self.levels))
            return draw_shares(ax, counts / max(len(self.data), 1), style)
        ends = self._places
        return draw_rug(ax, self.data, ends.min(), ends.max(), style)

    def tidy_numbers(self, ax):
        """Few ticks on a small panel of our own arranging."""
        if not self.has_levels:
            tidy_number_ticks(ax, self._places)

    def label(self, ax, *, with_y=True):
        """Name the axes."""
        y = two_lines(self.what, self.of) if with_y else None
        name_axes(ax, self.name, y, self.title)
        if self.by_similarity:
            ax.set_xlabel(ax.get_xlabel() + BY_SIMILARITY)


class SpreadPanel(LinePanel):
    """Standard deviation of slopes, below the curves that have them."""

    shares_y = False

    def draw(self, ax, looks):
        """Draw on an axes, from zero upwards; return the artists."""
        (series,) = self.series
        line = draw_line(ax, series.x, series.y, series.colour, looks.line_kw)
        ax.set_ylim(bottom=0)
        return Artists(lines=[line])

    def label(self, ax, *, with_y=True):
        """Name the axes."""
        name_axes(ax, self.name, self.what if with_y else None)


@dataclass(frozen=True)
class SurfacePanel:
    """An effect of two features on one output."""

    names: tuple  # the features
    places: tuple  # values or levels along them
    levelled: tuple  # which of them are categories
    values: np.ndarray  # (G1, G2): the effect
    limits: tuple  # range of the colours
    what: str  # what is shown
    of: str  # of which response
    # Ends of the cells, where values belong to cells and not to points.
    bounds: tuple | None = None
    data: tuple | None = None  # the features' values in the data
    diverging: bool = False  # whether zero is the middle
    by_similarity: tuple = (False, False)  # along which like levels stand together

    shares_y = False
    has_bar = True

    @property
    def has_levels(self):
        """Whether there are names along x."""
        return self.levelled[0]

    @property
    def level_texts(self):
        """Names along x."""
        return list(map(level_text, self.places[0])) if self.has_levels else []

    def draw(self, ax, looks):
        """Draw on an axes; return the artists."""
        artists = Artists()
        if 0 in self.values.shape:
            note_empty(ax, "no observed value")
            return artists
        smooth = min(self.values.shape) > 1 and not any(self.levelled)
        numbers = {"values": self.values, "limits": self.limits}
        numbers["diverging"] = self.diverging
        if smooth and self.bounds is None:
            style = looks.contour_kw
            shown = draw_contours(ax, *self.places, **numbers, style=style)
            artists.contour = shown
        else:
            bounds = [self._cell_bounds(side) for side in (0, 1)]
            style = looks.heatmap_kw
            shown = draw_heat_map(ax, *bounds, **numbers, style=style)
            artists.heat_map = shown
        if looks.rug and self.data is not None:
            x, y = (self._positions(side) for side in (0, 1))
            artists.points = draw_positions(ax, x, y, looks.points_kw)
        for side, which in enumerate("xy"):
            if self.levelled[side]:
                levels = list(map(level_text, self.places[side]))
                label_levels(ax, levels, which=which, share=BESIDE_BAR)
        artists.colorbar = draw_colour_bar(ax, shown, two_lines(self.what, self.of))
        return artists

    def _cell_bounds(self, side):
        if self.levelled[side]:
            return np.arange(len(self.places[side]) + 1) - 0.5
        bounds = None if self.bounds is None else self.bounds[side]
        # A first cell that goes from a value to itself gets a width to be seen.
        if bounds is None or bounds[0] >= bounds[1]:
            return cell_bounds(self.places[side])
        return bounds

    def _positions(self, side):
        values = self.data[side]
        if not self.levelled[side]:
            return values
        return jittered(level_places(values, self.places[side]), seed=side)

    def tidy_numbers(self, ax):
        """Few ticks on a small panel of our own arranging."""
        for side, which in enumerate("xy"):
            if not self.levelled[side]:
                tidy_number_ticks(ax, self.places[side], which, most=4)

    def label(self, ax, *, with_y=True):
        """Name the axes."""
        name_axes(ax, self.names[0], literal(wrapped(self.names[1])))
        if self.by_similarity[0]:
            ax.set_xlabel(ax.get_xlabel() + BY_SIMILARITY)
        if self.by_similarity[1]:
            ax.set_ylabel(ax.get_ylabel() + BY_SIMILARITY)


class PanelDisplay(ABC):
    """Base of displays that are made of panels."""

    _band_text = ERROR_BAND

    @abstractmethod
    def to_frame(self) -> Any:
        """Numbers drawn, as a long DataFrame."""

    def _render(self, panels, ax, looks, *, n_cols, share_y, note=None):
        """Draw pairs (panel, panel below or None); set figure, axes and artists."""
        slots = [
            Slot(below is not None, panel.has_bar, level_inches(panel.level_texts))
            for panel, below in panels
        ]
        canvas = take_axes(
            ax, slots, n_columns=n_cols, caller=f"{type(self).__name__}.plot"
        )
        main = [panel for panel, _ in panels]
        artists = [p.draw(one, looks) for p, one in zip(main, canvas.main, strict=True)]
        lower = [
            None if panel is None else panel.draw(one, looks)
            for (_, panel), one in zip(panels, canvas.below, strict=True)
        ]
        alike = [one for p, one in zip(main, canvas.main, strict=True) if p.shares_y]
        if share_y and len(alike) > 1:
            limits = np.array([one.get_ylim() for one in alike])
            for one in alike:
                one.set_ylim(limits.min(), limits.max())
        self._label(panels, canvas, share_y)
        self.figure_, self.axes_ = canvas.figure, canvas.axes
        self._publish(artists, lower)
        entries = self._legend_entries(main, artists)
        self.legend_ = add_legend(canvas, *entries, note=note)
        return canvas

    def _label(self, panels, canvas, share_y):
        for place, (panel, below) in enumerate(panels):
            ax, lower = canvas.main[place], canvas.below[place]
            arranged = canvas.starts_row is not None
            leads = not (
                arranged
                and panel.shares_y
                and not canvas.starts_row[place]
                and panels[place - 1][0].shares_y
            )
            panel.label(ax, with_y=leads)
            if arranged:
                panel.tidy_numbers(ax)
                if share_y and not leads:
                    ax.tick_params(labelleft=False)
            if below is not None:
                below.label(lower, with_y=leads)
                if arranged:
                    ax.set_xlabel("")
                    ax.tick_params(labelbottom=False)

    def _publish(self, artists, lower):
        self.lines_ = [drawn.lines for drawn in artists]
        self.bands_ = [drawn.bands for drawn in artists]
        self.fold_lines_ = [drawn.folds for drawn in artists]
        self.rug_ = [drawn.rug for drawn in artists]

    def _legend_entries(self, panels, artists):
        """Handles and labels, read off the first panel of lines."""
        for panel, drawn in zip(panels, artists, strict=True):
            if panel.shares_y and drawn.lines:
                break
        else:
            return [], []
        handles, labels = [], []
        if len(drawn.lines) > 1:
            handles += drawn.lines
            labels += [str(series.label) for series in panel.series]
        elif drawn.folds:
            handles.append(drawn.lines[0])
            labels.append("mean of the folds' models")
        if drawn.folds:
            handles.append(drawn.folds[0][0])
            labels.append(f"{len(drawn.folds[0])} folds")
        if drawn.bands:
            handles.append(drawn.bands[0])
            labels.append("± 1 std over folds" if drawn.folds else self._band_text)
        return handles, labels


def level_text(level):
    """A level as text on an axis; whole numbers without their ".0"."""
    if isinstance(level, float) and level.is_integer():
        return f"{level:.0f}"
    return label_text(level)


def level_places(values, levels):
    """Position among `levels` of each value, as floats; NaN for others."""
    known = {label_key(level): place for place, level in enumerate(levels)}
    return np.array([known.get(label_key(v), np.nan) for v in values], dtype=float)
