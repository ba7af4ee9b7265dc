"""The numbers of effects, tables of them, and displays of them, entry by entry."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from sklearn_interpret._plotting.colours import OKABE_ITO, colours
from sklearn_interpret._plotting.panels.displays import PanelDisplay
from sklearn_interpret._plotting.panels.lines import (
    LinePanel,
    Looks,
    Series,
    SurfacePanel,
    level_places,
)
from sklearn_interpret._plotting.surfaces import colour_limits
from sklearn_interpret._plotting.tables import stacked
from sklearn_interpret.effects._plot._sources import EffectSources

N_ERRORS = 2.0
# Columns of a table, in their order.
COLUMNS = (
    *("method", "feature", "feature2", "output", "x", "x2"),
    *("value", "low", "high", "slope", "slope_std", "row", "fold"),
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
    by_similarity: tuple = (False, False)  # which of them stand in such an order
    counts: np.ndarray | None = None  # weight of the rows in a pair's cells

    @property
    def levels(self):
        """Levels of a single feature that is a category, or None."""
        return self.places[0] if self.levelled[0] else None

    def levels_in(self, order):
        """Levels, and whether they stand in an order by similarity."""
        if order == "levels" or self.levels is None:
            return self.levels, self.by_similarity[0]
        # Of the output that varies most.
        varied = self.values[np.argmax(spreads(self.values))]
        return self.levels[np.argsort(-varied, kind="stable")], False

    @property
    def held(self):
        """Which values (G1, G2) of a pair rest on rows: those beside a cell of some."""
        if self.counts is None or not self.counts.size:
            return np.isfinite(self.values).all(axis=0)
        held = self.counts > 0
        if not self.levelled[0]:
            held = np.pad(held, ((1, 0), (0, 0))) | np.pad(held, ((0, 1), (0, 0)))
        if not self.levelled[1]:
            held = np.pad(held, ((0, 0), (1, 0))) | np.pad(held, ((0, 0), (0, 1)))
        return held

    def series(self, output, label, colour, levels=None):
        """One output of a one-way effect as a line.

        Along a category, x are positions among `levels`, by default its own.
        """
        (places,) = self.places
        if self.levelled[0]:
            places = level_places(places, places if levels is None else levels)
        return Series(
            np.asarray(places, dtype=np.float64),
            self.values[output],
            None if self.low is None else self.low[output],
            None if self.high is None else self.high[output],
            None if self.folds is None else self.folds[:, output],
            label,
            colour,
        )


def spreads(values):
    """Standard deviation of each output's effect (k, ...) over its known points."""
    flat = values.reshape(len(values), -1)
    known = np.isfinite(flat).all(axis=0)
    return flat[:, known].std(axis=1) if known.any() else np.zeros(len(flat))


def check_order(order):
    """Refuse an unknown order of levels."""
    if order not in ("levels", "effect"):
        raise ValueError(f"order={order!r} must be 'levels' or 'effect'.")


def with_outputs(values, n_axes):
    """The array with an axis of outputs in front."""
    values = np.asarray(values, dtype=np.float64)
    return values[None] if values.ndim == n_axes else values


def fold_band(folds, n_axes):
    """Folds (n_folds, k, ...), and one standard deviation to each side of their mean.

    They are given with or without the axis of outputs.
    """
    folds = np.asarray(folds, dtype=np.float64)
    folds = folds[:, None] if folds.ndim == n_axes + 1 else folds
    mean, std = folds.mean(axis=0), folds.std(axis=0)
    return {"low": mean - std, "high": mean + std, "folds": folds}


def error_band(values, errors, n_axes):
    """`N_ERRORS` standard errors to each side."""
    values, reach = (with_outputs(part, n_axes) for part in (values, errors))
    return {"low": values - N_ERRORS * reach, "high": values + N_ERRORS * reach}


def effect_columns(effect, outputs, slope_std=None, **extra):
    """Blocks of columns of one effect, for each output its mean and then its folds.

    Parameters
    ----------
    effect : Effect
        The numbers.
    outputs : sequence
        Names of the outputs.
    slope_std : ndarray of shape (k, G) or None
        Of the means.
    **extra : object
        Columns of one value.

    Returns
    -------
    list of dict of column name to array or value
    """
    blocks = []
    for output, name in zip(range(len(effect.values)), outputs, strict=True):
        fixed = {**_names(effect), **extra, "output": name, **_points(effect.places)}
        block = {**fixed, "value": effect.values[output].ravel()}
        for part in ("low", "high"):
            if getattr(effect, part) is not None:
                block[part] = getattr(effect, part)[output].ravel()
        if slope_std is not None:
            block["slope_std"] = slope_std[output]
        blocks.append(block)
        for fold, values in enumerate(() if effect.folds is None else effect.folds):
            blocks.append({**fixed, "value": values[output].ravel(), "fold": fold})
    return blocks


def curve_columns(effect, outputs, curves, rows, slopes=None):
    """Blocks of columns of one effect's curves (k, n, ...), a line per row and point.

    `rows` are the rows (n,) that the curves belong to, `slopes` (k, n, G) their slopes.
    """
    n_points = int(np.prod(curves.shape[2:]))
    places = _points(effect.places).items()
    places = {name: np.tile(values, len(rows)) for name, values in places}
    fixed = {**_names(effect), **places, "row": np.repeat(rows, n_points)}
    blocks = []
    for output, name in zip(range(len(curves)), outputs, strict=True):
        block = {**fixed, "output": name, "value": curves[output].ravel()}
        if slopes is not None:
            block["slope"] = slopes[output].ravel()
        blocks.append(block)
    return blocks


def _names(effect):
    return dict(zip(("feature", "feature2"), effect.names, strict=False))


def _points(places):
    """Columns x (and x2) of all points of a grid, the second axis fastest."""
    grids = np.meshgrid(*places, indexing="ij")
    return dict(zip(("x", "x2"), map(np.ravel, grids), strict=False))


def long_frame(blocks, caller):
    """One DataFrame of all blocks; columns that no block has are left out."""
    table = stacked(blocks, caller=caller)
    table = table[[name for name in COLUMNS if name in table]]
    return table.astype({name: "Int64" for name in ("row", "fold") if name in table})


def most_varied(effects):
    """Positions of the outputs whose lines have a colour each, in their order."""
    n_outputs = len(effects[0].values) if effects else 0
    if n_outputs <= len(OKABE_ITO):
        return np.arange(n_outputs)
    found = np.sum([spreads(effect.values) for effect in effects], axis=0)
    return np.sort(np.argsort(-found, kind="stable")[: len(OKABE_ITO)])


@dataclass(kw_only=True, eq=False, repr=False)
class EffectDisplay(EffectSources, PanelDisplay):
    """Base of displays of one inspector's effects, entry by entry.

    A subclass names its inspector and its arrays (see `EffectSources`) and what it
    shows (`_what`), and gives the numbers of one entry (`_effect`).
    """

    _what = None
    _zero = False
    _parts = (*PanelDisplay._parts, "contours", "heatmaps", "points", "colorbars")

    feature_names: list[Any]
    output_names: list[Any] | None = None
    response_name: str = "response"
    categorical: list[Any] | None = None
    data: list[Any] | None = None
    importances: ArrayLike | None = None

    @abstractmethod
    def _effect(self, entry):
        """Numbers of one entry, as an `Effect`."""

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
            Show the most important entries alone, the first of them first, where there
            are more. None shows all; the figure grows with them.
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

    @property
    def _n_entries(self):
        return len(self.feature_names)

    def _drawable(self, looks):
        """Entries that can be drawn so."""
        return range(self._n_entries)

    def _most_important(self, entries, max_entries):
        if max_entries is None or max_entries >= len(entries):
            return list(entries)
        importances = [self._importance(entry) for entry in entries]
        order = np.argsort(importances, kind="stable")[::-1][:max_entries]
        return [entries[place] for place in order]

    def _importance(self, entry):
        """As given, else the spread of the effect over its grid."""
        if self.importances is not None and np.isfinite(self.importances[entry]):
            return self.importances[entry]
        values = self._effect(entry).values
        return np.nanstd(values) if np.isfinite(values).any() else 0.0

    def _entry(self, entry, places, values, **parts):
        """An `Effect` from the arrays of one entry, with an axis of outputs each."""
        name = self.feature_names[entry]
        names = (name,) if isinstance(name, str) else tuple(name)
        if len(names) == 1:
            places = (places,)
        places = tuple(map(np.asarray, places))
        levelled = self._levelled(entry, places)
        data = None if self.data is None else self.data[entry]
        if data is not None and len(names) == 1:
            data = (data,)
        return Effect(
            names,
            places,
            levelled,
            with_outputs(values, len(names)),
            data=data,
            **parts,
        )

    def _n_axes(self, entry):
        return 1 if isinstance(self.feature_names[entry], str) else 2

    def _band(self, entry, values, errors, folds):
        """Bands of an entry: over folds, else of standard errors, else none."""
        if folds is not None:
            return fold_band(folds[entry], self._n_axes(entry))
        if errors is not None and errors[entry] is not None:
            return error_band(values, errors[entry], self._n_axes(entry))
        return {}

    def _levelled(self, entry, places):
        if self.categorical is None:
            return tuple(place.dtype.kind not in "iuf" for place in places)
        return tuple(np.atleast_1d(self.categorical[entry]).tolist())

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
            (self._surface(effect, output, limits), None) for output in range(n_outputs)
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
        """Size of rounding errors beside the display's largest effect."""
        largest = [
            np.abs(values[np.isfinite(values)]).max(initial=0.0)
            for values in (self._effect(e).values for e in range(self._n_entries))
        ]
        return max(1e-9 * max(largest), 1e-12)

    def _surface(self, effect, output, limits):
        return SurfacePanel(
            effect.names,
            effect.places,
            effect.levelled,
            effect.values[output],
            limits,
            self._shown(),
            self._of(output),
            bounds=effect.bounds,
            held=effect.held,
            counts=effect.counts,
            data=effect.data,
            diverging=self._zero,
            by_similarity=effect.by_similarity,
        )

    def _outputs(self, n_outputs):
        """Names of the outputs; positions where they have none."""
        return range(n_outputs) if self.output_names is None else self.output_names

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
