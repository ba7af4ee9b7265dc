"""A panel with an effect of two features."""

from dataclasses import dataclass

import numpy as np

from sklearn_interpret._plotting.curves import name_axes, note_empty
from sklearn_interpret._plotting.labels import (
    label_levels,
    literal,
    tidy_number_ticks,
    two_lines,
    wrapped,
)
from sklearn_interpret._plotting.surfaces import (
    cell_bounds,
    draw_colour_bar,
    draw_contours,
    draw_heat_map,
    draw_positions,
    jittered,
)
from sklearn_interpret.effects._plot._looks import (
    Artists,
    level_places,
    level_text,
)

BESIDE_BAR = 0.6  # share of its width that an axes keeps beside a colour bar


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

    @property
    def has_levels(self):
        """Whether there are names along x."""
        return self.levelled[0]

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
        artists.colorbar = draw_colour_bar(ax, shown, two_lines(self.what, self.of))
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
        name_axes(ax, self.names[0], literal(wrapped(self.names[1])))
