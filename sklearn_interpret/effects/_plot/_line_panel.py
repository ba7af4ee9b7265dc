"""A panel with lines along one feature."""

from dataclasses import dataclass
from typing import Any

import numpy as np

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
    tidy_number_ticks,
    two_lines,
)
from sklearn_interpret.effects._plot._looks import (
    Artists,
    level_places,
    level_text,
)

BESIDE_MEAN = 0.12  # how far from the mean's point those of the folds stand


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
    missing : sequence of float or None
        For each line, its value where the feature is missing.
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
    missing: Any = None

    shares_y = True
    has_bar = False

    @property
    def has_levels(self):
        """Whether there are names along x."""
        return self.levels is not None

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
        if self.missing is not None:
            artists.missing = self._draw_missing(ax)
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

    def _draw_missing(self, ax):
        """Marks to the right of the lines."""
        ends = np.concatenate([series.x for series in self.series])
        low, high = (ends.min(), ends.max()) if len(ends) else (0.0, 1.0)
        place = high + 0.08 * (high - low or 1.0)
        colours = [series.colour for series in self.series]
        return draw_aside(ax, place, self.missing, colours, "missing")

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


def _offsets(n_series):
    """Where several points at one level stand beside each other."""
    if n_series == 1:
        return [0.0]
    return np.linspace(-0.25, 0.25, n_series)
