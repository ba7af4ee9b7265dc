"""Displays of panels, and the bands and tables of the effects that they show."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_interpret._core.statistics.refits import Splits, learner_half_width
from sklearn_interpret._model.rows.tables import effect_blocks, with_outputs
from sklearn_interpret._plotting.axes import add_legend, legend_entries, take_axes
from sklearn_interpret._plotting.displays import DisplayMixin, FoldsMixin
from sklearn_interpret._plotting.labels import (
    date_label,
    date_ticks,
    literal,
    wrap_name,
)
from sklearn_interpret._plotting.panels.lines import (
    EFFECT,
    JITTERED,
    LEARNER_BAND,
    MODEL_BAND,
    NO_ROWS,
    OWNERS,
    ROWS,
    SHARES,
    VALUES,
    Effect,
    earlier_lines,
)
from sklearn_interpret._plotting.surfaces import draw_colour_bar

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.legend import Legend

    from sklearn_interpret._inspectors.sklearn_bases import DataFrame
    from sklearn_interpret._plotting.axes import Canvas
    from sklearn_interpret._plotting.panels.lines import Artists, Panel, PlotOptions

# Curves of probabilities with a smaller range are drawn as constant. Chosen by hand:
# far above rounding errors, and far below what anyone decides by.
_LEAST_RANGE_OF_PROBABILITIES = 1e-6
N_ERRORS = 2.0  # half-width of a band in standard errors: about 95 %
# Columns of a table, in their order.
COLUMNS = (
    *("term", "method", "model", "feature", "feature2", "region", "output", "x"),
    *("x2", "value", "low", "high", "slope", "slope_std", "row", "fold"),
)


def fold_band(
    folds: ArrayLike, n_axes: int, splits: Splits | None, errors: ArrayLike = 0.0
) -> dict[str, NDArray[np.float64]]:
    """Folds (n_folds, k, ...), and the learner's band around their mean.

    `errors` are standard errors of the mean that are due to the rows. `folds` and
    `errors` may lack the axis of outputs. A single fold has no band.
    """
    effects = np.asarray(folds, dtype=np.float64)
    effects = effects[:, None] if effects.ndim == n_axes + 1 else effects
    if len(effects) < 2:
        return {"folds": effects}
    errors = with_outputs(errors, n_axes)
    reach = learner_half_width(effects, splits, standard_errors=errors)
    mean = effects.mean(axis=0)
    return {"low": mean - reach, "high": mean + reach, "folds": effects}


def error_band(
    values: ArrayLike, errors: ArrayLike, n_axes: int
) -> dict[str, NDArray[np.float64]]:
    """`N_ERRORS` standard errors to each side."""
    middle, reach = (
        with_outputs(values, n_axes),
        N_ERRORS * with_outputs(errors, n_axes),
    )
    return {"low": middle - reach, "high": middle + reach}


def effect_columns(
    effect: Effect, outputs: Sequence[Any], slope_std: Any = None, **extra: Any
) -> list[dict[str, Any]]:
    """Blocks of columns of one effect: for each output the mean, then the folds.

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
    numbers = {"value": effect.values, "low": effect.low, "high": effect.high}
    numbers |= {"slope_std": slope_std}
    numbers = {name: each for name, each in numbers.items() if each is not None}
    names, places = effect.names, effect.places
    blocks = effect_blocks(names, places, numbers, outputs, **extra)
    for fold, values in enumerate(() if effect.folds is None else effect.folds):
        numbers = {"value": values}
        blocks += effect_blocks(names, places, numbers, outputs, fold=fold, **extra)
    if effect.missing is not None:
        numbers = {"value": effect.missing[:, None]}
        blocks += effect_blocks(names, ([np.nan],), numbers, outputs, **extra)
    return blocks


def curve_columns(
    effect: Effect,
    outputs: Sequence[Any],
    curves: ArrayLike,
    rows: ArrayLike,
    slopes: ArrayLike | None = None,
) -> list[dict[str, Any]]:
    """Blocks of columns of one effect's curves (k, n, ...), a line per row and point.

    `rows` are the rows (n,) that the curves belong to, `slopes` (k, n, G) their slopes.
    """
    numbers = {"value": curves} | ({} if slopes is None else {"slope": slopes})
    return effect_blocks(effect.names, effect.places, numbers, outputs, rows)


class PanelDisplay(DisplayMixin, ABC):
    """Base of displays that are made of panels."""

    # Artists of the panels that become attributes.
    _artist_names: tuple[str, ...] = ("lines", "bands", "fold_lines", "rug")

    @abstractmethod
    def to_frame(self) -> Any:
        """Numbers drawn, as a long DataFrame."""

    @property
    def _band_text(self) -> str:
        """Text of the bands in the legend."""
        return MODEL_BAND

    def _render_panels(
        self,
        panels: Sequence[Panel],
        ax: Any,
        options: PlotOptions,
        *,
        n_cols: int,
        share_y: bool,
        note: str | None = None,
        below: Sequence[Panel | None] = (),
    ) -> Canvas:
        """Draw panels, and some `below` them; set figure, axes and artists."""
        pairs = list(zip_longest(panels, below))
        slots = [panel.slot(lower is not None) for panel, lower in pairs]
        canvas = take_axes(
            ax, slots, n_columns=n_cols, caller=f"{type(self).__name__}.plot"
        )
        options.band_text = self._band_text
        if isinstance(self, FoldsMixin):
            options.learner_text = self._learner_text(LEARNER_BAND)
        again = [bool(earlier_lines(upper)) for upper in canvas.main]
        earlier = earlier_legend(canvas) if any(again) else None
        artists = [
            panel.draw(ax, options)
            for panel, ax in zip(panels, canvas.main, strict=True)
        ]
        lower = [
            None if panel is None or ax is None else panel.draw(ax, options)
            for (_, panel), ax in zip(pairs, canvas.below, strict=True)
        ]
        if share_y:
            _share_values(panels, canvas.main)
        if getattr(self, "response_name", None) == "probability":
            _flatten_rounding(panels, canvas.main)
        self._label_panels(pairs, canvas, share_y, again)
        _draw_scales(panels, artists, canvas)
        self.figure_, self.axes_ = canvas.figure, canvas.axes
        self._set_artists(artists, lower)
        entries = {} if earlier is None else legend_entries(earlier)[0]
        for panel_artists in artists:
            entries |= {**panel_artists.entries, **entries}
        if JITTERED in entries:
            entries.pop(ROWS, None)
        order = sorted(entries, key=_rank_in_legend)
        handles = [entries[text] for text in order]
        self.legend_ = add_legend(canvas, handles, order, note=note, earlier=earlier)
        if self.legend_ is not None:
            self.legend_.set_gid(EFFECT)
        return canvas

    def _long_frame(self, blocks: list[dict[str, Any]]) -> DataFrame:
        """One DataFrame of all blocks; columns that no block has are left out."""
        table = self._frame(*blocks)
        table = table[[name for name in COLUMNS if name in table]]
        integers = [name for name in ("region", "row", "fold") if name in table]
        return table.astype(dict.fromkeys(integers, "Int64"))

    def _label_panels(
        self,
        pairs: Sequence[tuple[Panel, Panel | None]],
        canvas: Canvas,
        share_y: bool,
        again: list[bool],
    ) -> None:
        starts_row = canvas.starts_row or [True] * len(pairs)
        arranged = canvas.starts_row is not None
        for i, (panel, below) in enumerate(pairs):
            if again[i]:
                continue
            ax, lower = canvas.main[i], canvas.below[i]
            along_y = panel.values_along == pairs[i - 1][0].values_along == "y"
            leads = starts_row[i] or not along_y
            panel.label(ax, with_y=leads)
            if arranged:
                panel.tidy_numbers(ax)
                if share_y and not leads:
                    ax.tick_params(labelleft=False)
            if below is not None and lower is not None:
                below.label(lower, with_y=leads)
                if arranged:
                    ax.set_xlabel("")
                    ax.tick_params(labelbottom=False)

    def _set_artists(self, artists: list[Artists], lower: list[Artists | None]) -> None:
        for name in self._artist_names:
            setattr(self, f"{name}_", [getattr(panel, name) for panel in artists])


class EntryDisplay(PanelDisplay):
    """Base of displays of effects; an entry is a feature or a pair of features."""

    feature_names: list[Any]
    # Lists with a value for each entry, or None.
    data: Any
    importances: Any
    categorical: Any = None

    @abstractmethod
    def _entry_effect(self, entry: int) -> Effect:
        """Numbers of one entry, as an `Effect`."""

    @property
    def _n_entries(self) -> int:
        return len(self.feature_names)

    def _most_important(
        self, entries: Sequence[int], max_entries: int | None
    ) -> list[int]:
        if max_entries is None or max_entries >= len(entries):
            return list(entries)
        importances = [self._importance(entry) for entry in entries]
        order = np.argsort(-np.array(importances), kind="stable")[:max_entries]
        return [entries[i] for i in order]

    def _importance(self, entry: int) -> float:
        """The user's importance, else the spread of the effect over its grid."""
        if self.importances is not None and np.isfinite(self.importances[entry]):
            return self.importances[entry]
        values = self._entry_effect(entry).values
        return float(np.nanstd(values)) if np.isfinite(values).any() else 0.0

    def _make_effect(
        self, entry: int, places: Any, values: ArrayLike, **fields: Any
    ) -> Effect:
        """An `Effect` from the arrays of one entry, which get an axis of outputs."""
        name = self.feature_names[entry]
        names = (name,) if isinstance(name, str) else tuple(name)
        if len(names) == 1:
            places = (places,)
        places = tuple(map(np.asarray, places))
        levelled = self._are_levels(entry, places)
        data = None if self.data is None else self.data[entry]
        if data is not None and len(names) == 1:
            data = (data,)
        return Effect(
            names,
            places,
            levelled,
            with_outputs(values, len(names)),
            data=data,
            **fields,
        )

    def _n_axes(self, entry: int) -> int:
        return 1 if isinstance(self.feature_names[entry], str) else 2

    def _are_levels(
        self, entry: int, places: tuple[NDArray[Any], ...]
    ) -> tuple[bool, ...]:
        if self.categorical is None:
            return tuple(values.dtype.kind not in "iufmM" for values in places)
        return tuple(np.atleast_1d(self.categorical[entry]).tolist())


def earlier_legend(canvas: Canvas) -> Legend | None:
    """The legend of a display that has drawn on the axes before, or None."""
    owners = [canvas.frame, *canvas.main]
    legends = [ax.get_legend() for ax in owners if ax is not None]
    for legend in [*canvas.figure.legends, *legends]:
        if legend is not None and legend.get_gid() == EFFECT:
            return legend
    return None


def _rank_in_legend(text: str) -> int:
    """Rank of an entry: lines first, then bands and folds, then marks of the data."""
    if text in (VALUES, SHARES, ROWS, JITTERED, NO_ROWS):
        return 2
    return int(text.startswith(OWNERS) or text.endswith((" folds", " band")))


def _share_values(panels: Sequence[Panel], axes: list[Axes]) -> None:
    """Give all panels of lines one range of values."""
    pairs = [(p.values_along, ax) for p, ax in zip(panels, axes, strict=True)]
    alike = [(side, ax) for side, ax in pairs if side is not None]
    if len(alike) < 2:
        return
    for side, ax in alike:  # an earlier display may have fixed the range
        ax.autoscale(axis=side)
    limits = [getattr(ax, f"get_{side}lim")() for side, ax in alike]
    for side, ax in alike:
        getattr(ax, f"set_{side}lim")(np.min(limits), np.max(limits))


def _flatten_rounding(panels: Sequence[Panel], axes: list[Axes]) -> None:
    """Draw probabilities that differ by next to nothing as what they are, constant."""
    for panel, ax in zip(panels, axes, strict=True):
        if (side := panel.values_along) is None:
            continue
        low, high = getattr(ax, f"get_{side}lim")()
        if abs(high - low) < _LEAST_RANGE_OF_PROBABILITIES:
            middle = (low + high) / 2
            getattr(ax, f"set_{side}lim")(middle - 0.05, middle + 0.05)


def _draw_scales(panels: Sequence[Any], artists: list[Artists], canvas: Canvas) -> None:
    """Draw colour bars of coloured curves, to the right of their panels."""
    for i, panel in enumerate(panels):
        if artists[i].scale is not None:
            pair = [ax for ax in (canvas.main[i], canvas.below[i]) if ax]
            name = date_label(panel.shades.name, panel.shades.dates)
            bar = draw_colour_bar(pair, artists[i].scale, literal(wrap_name(name)))
            date_ticks(bar.ax, panel.shades.dates, "y")
            artists[i].colorbars = bar
