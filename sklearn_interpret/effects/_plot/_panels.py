"""Panels of effect displays: numbers and labels of one axes, and how it is drawn."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sklearn_interpret._model.axes import label_text
from sklearn_interpret._model.rows import label_key
from sklearn_interpret._plotting.curves import (
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
    literal,
    tidy_number_ticks,
    two_lines,
)
from sklearn_interpret._plotting.surfaces import (
    cell_bounds,
    draw_contours,
    draw_heat_map,
    draw_positions,
    jittered,
)

BESIDE_BAR = 0.6  # share of its width that an axes keeps beside a colour bar
BESIDE_MEAN = 0.12  # how far from the mean's point those of the folds stand


@dataclass
class Looks:
    """What the user may choose about a drawing; see `plot`."""

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
    """What was drawn on one panel."""

    lines: list = field(default_factory=list)
    bands: list = field(default_factory=list)
    folds: list = field(default_factory=list)
    curves: Any = None
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
    """Lines along one feature.

    Parameters
    ----------
    name : str
        The feature.
    series : list of Series
        The lines. Along a category, x are positions of `levels`.
    what, of : str
        What is shown, and of which response.
    levels : ndarray or None
        Levels of a category.
    data : ndarray or None
        The feature's values (labels) in the data.
    title : object or None
        Output, where that is not told by colours.
    curves : ndarray of shape (n, G) or None
        One thin curve per row, behind the first line.
    zero : bool
        Whether zero is a reference.
    """

    name: str
    series: list
    what: str
    of: str
    levels: np.ndarray | None = None
    data: np.ndarray | None = None
    title: Any = None
    curves: np.ndarray | None = None
    zero: bool = False

    shares_y = True
    has_bar = False

    def draw(self, ax, looks):
        """Draw on an axes; return the artists."""
        artists = Artists()
        if self.zero:
            ax.axhline(0, color="0.75", linewidth=0.8, zorder=0.5)
        if self.curves is not None and len(self.curves):
            x, colour = self.series[0].x, self.series[0].colour
            artists.curves = draw_curves(ax, x, self.curves, colour, looks.curve_kw)
        offsets = _offsets(len(self.series)) if self.levels is not None else None
        for place, series in enumerate(self.series):
            shift = 0.0 if offsets is None else offsets[place]
            self._draw_series(ax, series, series.x + shift, looks, artists)
        ax.margins(y=0.1)
        if not any(len(series.x) for series in self.series):
            note_empty(ax, "no observed value")
        elif looks.rug and self.data is not None:
            artists.rug = self._draw_data(ax, looks.rug_kw)
        self._tidy_x(ax)
        return artists

    def _draw_series(self, ax, series, x, looks, artists):
        as_points = self.levels is not None
        # Black stands out against a sheaf of coloured curves.
        colour = series.colour if self.curves is None else "black"
        if series.folds is not None:
            artists.folds.append(
                draw_thin_lines(
                    ax,
                    x + BESIDE_MEAN * as_points / len(self.series),
                    series.folds,
                    colour,
                    looks.fold_kw,
                    as_points=as_points,
                )
            )
        if looks.band and series.low is not None:
            artists.bands.append(
                draw_band(
                    ax,
                    x,
                    series.low,
                    series.high,
                    colour,
                    looks.band_kw,
                    as_points=as_points,
                )
            )
        line = draw_line(ax, x, series.y, colour, looks.line_kw, as_points=as_points)
        artists.lines.append(line)

    def _draw_data(self, ax, style):
        if self.levels is not None:
            places = level_places(self.data, self.levels)
            counts = np.bincount(
                places[np.isfinite(places)].astype(np.intp), minlength=len(self.levels)
            )
            return draw_shares(ax, counts / max(len(self.data), 1), style)
        ends = np.concatenate([series.x for series in self.series])
        return draw_rug(ax, self.data, ends.min(), ends.max(), style)

    def _tidy_x(self, ax):
        if self.levels is not None:
            label_levels(ax, list(map(level_text, self.levels)))
            ax.set_xlim(-0.6, max(len(self.levels), 1) - 0.4)

    def tidy_numbers(self, ax):
        """Few ticks on a small panel of our own arranging."""
        if self.levels is None:
            tidy_number_ticks(ax, np.concatenate([s.x for s in self.series]))

    def label(self, ax, *, with_y=True):
        """Name the axes."""
        y = two_lines(self.what, self.of) if with_y else None
        name_axes(ax, self.name, y, self.title)


class SpreadPanel(LinePanel):
    """Standard deviation of slopes, below the curves that have them."""

    shares_y = False

    def draw(self, ax, looks):
        """Draw on an axes, from zero upwards; return the artists."""
        (series,) = self.series
        artists = Artists()
        artists.lines.append(
            draw_line(ax, series.x, series.y, series.colour, looks.line_kw)
        )
        ax.set_ylim(bottom=0)
        return artists

    def label(self, ax, *, with_y=True):
        """Name the axes."""
        name_axes(ax, self.name, self.what if with_y else None)


@dataclass(frozen=True)
class SurfacePanel:
    """An effect of two features on one output.

    Parameters
    ----------
    names : pair of str
        The features.
    places : pair of ndarray
        Values or levels along them.
    levelled : pair of bool
        Which of them are categories.
    values : ndarray of shape (G1, G2)
        The effect.
    limits : pair of float
        Range of the colours.
    what, of : str
        What is shown, and of which response.
    bounds : pair of ndarray or None
        Ends of the cells, where values belong to cells and not to points.
    data : pair of ndarray or None
        The features' values in the data.
    diverging : bool
        Whether zero is the middle.
    """

    names: tuple
    places: tuple
    levelled: tuple
    values: np.ndarray
    limits: tuple
    what: str
    of: str
    bounds: tuple | None = None
    data: tuple | None = None
    diverging: bool = False

    shares_y = False
    has_bar = True

    def draw(self, ax, looks):
        """Draw on an axes; return the artists."""
        artists = Artists()
        if 0 in self.values.shape:
            note_empty(ax, "no observed value")
            return artists
        smooth = min(self.values.shape) > 1 and not any(self.levelled)
        if smooth and self.bounds is None:
            shown = artists.contour = draw_contours(
                ax,
                *self.places,
                self.values,
                self.limits,
                looks.contour_kw,
                diverging=self.diverging,
            )
        else:
            bounds = [self._cell_bounds(side) for side in (0, 1)]
            shown = artists.heat_map = draw_heat_map(
                ax,
                *bounds,
                self.values,
                self.limits,
                looks.heatmap_kw,
                diverging=self.diverging,
            )
        if looks.rug and self.data is not None:
            x, y = (self._positions(side) for side in (0, 1))
            artists.points = draw_positions(ax, x, y, looks.points_kw)
        for side, which in enumerate("xy"):
            if self.levelled[side]:
                levels = list(map(level_text, self.places[side]))
                label_levels(ax, levels, which=which, share=BESIDE_BAR)
        artists.colorbar = ax.figure.colorbar(shown, ax=ax)
        artists.colorbar.set_label(two_lines(self.what, self.of))
        return artists

    def _cell_bounds(self, side):
        if self.levelled[side]:
            return np.arange(len(self.places[side]) + 1) - 0.5
        if self.bounds is None:
            return cell_bounds(self.places[side])
        bounds = self.bounds[side]
        if bounds[0] < bounds[1]:
            return bounds
        # The first cell goes from a value to itself: give it a width to be seen.
        return cell_bounds(self.places[side])

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
        name_axes(ax, self.names[0], literal(self.names[1]))


def level_text(level):
    """A level as it stands on an axis; whole numbers without their ".0"."""
    if isinstance(level, float) and level.is_integer():
        return f"{level:.0f}"
    return label_text(level)


def level_places(values, levels):
    """Position among `levels` of each value, as floats; NaN for others."""
    known = {label_key(level): place for place, level in enumerate(levels)}
    return np.array([known.get(label_key(v), np.nan) for v in values], dtype=float)


def _offsets(n_series):
    """Where several points at one level stand beside each other."""
    if n_series == 1:
        return [0.0]
    return np.linspace(-0.25, 0.25, n_series)
