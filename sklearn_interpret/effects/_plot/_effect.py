"""The base of displays of one inspector's effects, entry by entry."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from sklearn_interpret._plotting.colours import OKABE_ITO, colours
from sklearn_interpret._plotting.panels.displays import EntryDisplay
from sklearn_interpret._plotting.panels.effects import (
    effect_columns,
    error_band,
    fold_band,
    long_frame,
    spreads,
)
from sklearn_interpret._plotting.panels.lines import LinePanel, Looks
from sklearn_interpret._plotting.surfaces import colour_limits
from sklearn_interpret.effects._plot._sources import EffectSources


def check_order(order):
    """Refuse an unknown order of levels."""
    if order not in ("levels", "effect"):
        raise ValueError(f"order={order!r} must be 'levels' or 'effect'.")


def most_varied(effects):
    """Positions of the outputs that are drawn, each with a colour, in their order."""
    n_outputs = len(effects[0].values) if effects else 0
    if n_outputs <= len(OKABE_ITO):
        return np.arange(n_outputs)
    found = np.sum([spreads(effect.values) for effect in effects], axis=0)
    return np.sort(np.argsort(-found, kind="stable")[: len(OKABE_ITO)])


@dataclass(kw_only=True, eq=False, repr=False)
class EffectDisplay(EffectSources, EntryDisplay):
    """Base of displays of one inspector's effects, entry by entry.

    A subclass has its inspector and its arrays (see `EffectSources`), the name of the
    quantity (`_what`), and the numbers of one entry (`_effect`).
    """

    _what = None
    _zero = False
    _parts = (*EntryDisplay._parts, "contours", "heatmaps", "points", "colorbars")

    feature_names: list[Any]
    output_names: list[Any] | None = None
    response_name: str = "response"
    categorical: list[Any] | None = None
    data: list[Any] | None = None
    importances: ArrayLike | None = None

    def plot(
        self,
        ax: Any = None,
        *,
        n_cols: int = 3,
        max_entries: int | None = 20,
        order: str = "levels",
        share_y: bool = True,
        rug: bool = True,
        band: bool = True,
        line_kw: dict[str, Any] | None = None,
        band_kw: dict[str, Any] | None = None,
        fold_kw: dict[str, Any] | None = None,
        rug_kw: dict[str, Any] | None = None,
        contour_kw: dict[str, Any] | None = None,
        heatmap_kw: dict[str, Any] | None = None,
        points_kw: dict[str, Any] | None = None,
    ) -> Self:
        """Draw one panel per entry; for a pair, one per output.

        Of more than 7 outputs, the lines of those that vary most are drawn. More than
        12 levels stand below each other. A colour of `line_kw` is that of bands, too; a
        label goes into the legend. Further displays on the same axes (``ax=axes_`` of
        the first one) take other colours, and join its legend.

        Parameters
        ----------
        ax : matplotlib Axes or array of Axes, default=None
            None makes a figure. A single axes is drawn on as it is where there is one
            panel, and divided into a grid where there are several. An array has one
            axes per panel.
        n_cols : int, default=3
            Largest number of panels in a row, of a grid made here.
        max_entries : int, default=20
            Largest number of entries, the most important ones. None shows all; the
            figure grows with them.
        order : {"levels", "effect"}, default="levels"
            Order of the levels of features alone: as they were inspected, or from the
            largest effect down.
        share_y : bool, default=True
            Give the panels of features alone the same range of values.
        rug : bool, default=True
            Mark the data: ticks at the bottom (quantiles where there are many), bars
            for the share of each level, points on pairs.
        band : bool, default=True
            Draw bands and error bars, where there are any.
        line_kw : dict, default=None
            Style of lines and of the points of categories.
        band_kw : dict, default=None
            Style of bands and error bars.
        fold_kw : dict, default=None
            Style of the folds' thin lines.
        rug_kw : dict, default=None
            Style of the ticks and bars at the bottom.
        contour_kw : dict, default=None
            Style of contours (pairs of numeric features).
        heatmap_kw : dict, default=None
            Style of heat maps (other pairs).
        points_kw : dict, default=None
            Style of the data's points on pairs.

        Returns
        -------
        self : object
            The display.
        """
        looks = Looks.of(locals())
        return self._draw(ax, looks, n_cols, max_entries, share_y)

    def _draw(self, ax, looks, n_cols, max_entries, share_y):
        check_order(looks.order)
        drawable = self._drawable(looks)
        shown = self._most_important(drawable, max_entries)
        effects = [self._effect(entry) for entry in shown]
        looks.outputs = most_varied(effects)
        panels = [
            panel
            for entry, effect in zip(shown, effects, strict=True)
            for panel in self._panels(effect, entry, looks)
        ]
        notes = []
        if len(shown) < len(drawable):
            notes.append(f"The {len(shown)} most important of {len(drawable)}")
        n_lines = max((len(p.series) for p, _ in panels if p.values_along), default=0)
        n_outputs = len(effects[0].values) if effects else 0
        if 1 < n_lines < n_outputs:
            notes.append(f"The {n_lines} most varied of {n_outputs} outputs")
        note = "\n".join(notes) or None
        self._render(panels, ax, looks, n_cols=n_cols, share_y=share_y, note=note)
        return self

    def _drawable(self, looks):
        """Entries that can be drawn with these options."""
        return range(self._n_entries)

    def _band(self, entry, values, errors, folds):
        """Bands of an entry: over folds, else of standard errors, else none."""
        if folds is not None:
            return fold_band(folds[entry], self._n_axes(entry))
        if errors is not None and errors[entry] is not None:
            return error_band(values, errors[entry], self._n_axes(entry))
        return {}

    def _panels(self, effect, entry, looks):
        """Panels of one entry, each with the panel below it, or None."""
        n_outputs = len(effect.values)
        outputs = self._outputs(n_outputs)
        if len(effect.names) == 1:
            palette = colours(len(looks.outputs))
            series = [
                (o, outputs[o], colour)
                for o, colour in zip(looks.outputs, palette, strict=True)
            ]
            return [(self._line_panel(effect, series, looks), None)]
        held = np.where(effect.held, effect.values, np.nan)
        limits = colour_limits(held, self._zero, self._negligible())
        return [
            (self._surface(effect, o, limits, (self._shown(), self._of(o))), None)
            for o in range(n_outputs)
        ]

    def _line_panel(self, effect, series, looks, title=None, curves=None, shades=None):
        """A panel of lines: for each an output, its name and a colour."""
        levels, by_similarity = effect.levels_in(looks.order)
        return LinePanel(
            effect.names[0],
            [effect.series(*one, levels=levels) for one in series],
            self._shown(),
            self._of(None if len(effect.values) > 1 else 0),
            levels=levels,
            data=None if effect.data is None else effect.data[0],
            title=title,
            curves=curves,
            shades=shades,
            zero=self._zero,
            by_similarity=by_similarity,
        )

    def _negligible(self):
        """Size of rounding errors, relative to the display's largest effect."""
        largest = [
            np.abs(values[np.isfinite(values)]).max(initial=0.0)
            for values in (self._effect(e).values for e in range(self._n_entries))
        ]
        return max(1e-9 * max(largest), 1e-12)

    def _of(self, output):
        return self._response_label(self.output_names, output)

    def _shown(self):
        """Name of the quantity."""
        return self._what

    def to_frame(self) -> Any:
        """Numbers drawn, as a long DataFrame.

        Returns
        -------
        pandas.DataFrame
            One line per point, with the columns "feature", "output", "x" and "value";
            "feature2" and "x2" where there are pairs, "low" and "high" where there
            are bands, "fold" where there are folds (missing for their mean), and
            "row" where rows have curves of their own (missing for the averages).
        """
        blocks = []
        for entry in range(self._n_entries):
            blocks += self._frame_blocks(entry)
        return long_frame(blocks, f"{type(self).__name__}.to_frame")

    def _frame_blocks(self, entry):
        effect = self._effect(entry)
        return effect_columns(effect, self._outputs(len(effect.values)))
