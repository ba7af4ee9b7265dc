"""The base of displays of one inspector's effects, entry by entry."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import validate_data

from sklearn_interpret._model.rows.arrays import as_rows
from sklearn_interpret._model.rows.axes import values_along
from sklearn_interpret._model.rows.features import feature_index, shortened
from sklearn_interpret._plotting.colours import PALETTE, colours
from sklearn_interpret._plotting.displays import Display, FoldsMixin
from sklearn_interpret._plotting.panels.displays import (
    EntryDisplay,
    effect_columns,
    error_band,
    fold_band,
)
from sklearn_interpret._plotting.panels.entries import (
    data_of_entries,
    find_entries,
    sort_by_grid,
)
from sklearn_interpret._plotting.panels.lines import (
    LinePanel,
    PlotOptions,
    SurfacePanel,
    spreads,
)
from sklearn_interpret._plotting.sources import (
    check_same_in_folds,
    outputs_have_names,
    response_name,
)
from sklearn_interpret._plotting.surfaces import colour_limits

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from sklearn_interpret._plotting.panels.lines import Effect, Panel
    from sklearn_interpret._plotting.sources import Data
    from sklearn_interpret.effects._base import BaseEffect


def most_varied_outputs(effects: list[Effect]) -> NDArray[np.intp]:
    """Increasing positions of the outputs that are drawn: one for each colour."""
    n_outputs = len(effects[0].values) if effects else 0
    if n_outputs <= len(PALETTE):
        return np.arange(n_outputs)
    total_spreads = np.sum([spreads(effect.values) for effect in effects], axis=0)
    return np.sort(np.argsort(-total_spreads, kind="stable")[: len(PALETTE)])


@dataclass(kw_only=True, eq=False, repr=False)
class EffectDisplay(FoldsMixin, Display, EntryDisplay):
    """Base of displays of one inspector's effects, entry by entry.

    A subclass has its inspector, the name of the quantity (`_quantity`), and the
    numbers of one entry (`_entry_effect`). It also lists the arguments of its
    constructor that are fitted attributes of the inspector.
    """

    _choices = frozenset({"features"})
    _options = {"order": ("levels", "effect")}
    _shows_rows = _inspects_again = True
    # Names of arguments that are attributes of the inspector. With several folds, they
    # are those of the first fold, means over folds (the effects are named first), or
    # missing.
    _first_fold_names: ClassVar[tuple[str, ...]]
    _mean_names: ClassVar[tuple[str, ...]]
    _names_missing_in_folds: ClassVar[tuple[str, ...]] = ()
    _fold_name: ClassVar[str]  # argument with the effects of each fold
    _quantity: ClassVar[str] = ""
    _pair_quantity: ClassVar[str] = ""  # of pairs, by default the same
    _left_out = list[str]()  # columns without an effect
    _zero = False  # whether effects are differences from zero
    _artist_names = (
        *EntryDisplay._artist_names,
        "contours",
        "heatmaps",
        "points",
        "colorbars",
    )

    feature_names: list[Any]
    output_names: list[Any] | None = None
    response_name: str = "response"
    categorical: list[Any] | None = None
    data: list[Any] | None = None
    importances: ArrayLike | None = None

    @classmethod
    def _from_inspector(
        cls, inspector: BaseEffect, data: Data, *, features: Any = None, **choices: Any
    ) -> Self:
        names = (*cls._first_fold_names, *cls._mean_names, *cls._names_missing_in_folds)
        arrays = {name: getattr(inspector, f"{name}_", None) for name in names}
        entries = find_entries(inspector, features)
        return cls._from_arrays([inspector], arrays, data, entries, choices)

    @classmethod
    def _from_folds(cls, inspectors: Sequence[Any], data: Data, **choices: Any) -> Self:
        check_outputs(inspectors)
        first = inspectors[0]
        arrays = {name: getattr(first, f"{name}_") for name in cls._first_fold_names}
        arrays |= {
            name: _mean_over_folds(inspectors, f"{name}_") for name in cls._mean_names
        }
        by_fold = [
            getattr(inspector, f"{cls._mean_names[0]}_") for inspector in inspectors
        ]
        arrays[cls._fold_name] = list(map(np.stack, zip(*by_fold, strict=True)))
        entries = range(len(first.axes_))
        return cls._from_arrays(inspectors, arrays, data, entries, choices)

    @classmethod
    def _from_arrays(
        cls,
        inspectors: Sequence[BaseEffect],
        arrays: dict[str, Any],
        data: Data,
        entries: list[int] | range,
        choices: dict[str, Any],
    ) -> Self:
        """The display of some entries, from arrays of all entries."""
        first = inspectors[0]
        by_feature = [
            getattr(
                inspector, "feature_importances_", np.zeros(inspector.n_features_in_)
            )
            for inspector in inspectors
        ]
        importances = np.mean(by_feature, axis=0)
        if "grid_values" in arrays:
            for name in arrays.keys() - {"missing_average"}:
                arrays[name] = arrays[name] and [
                    sort_by_grid(values, axes)
                    for values, axes in zip(arrays[name], first.axes_, strict=True)
                ]
        arrays = {
            **arrays,
            "feature_names": first.effect_names_,
            "categorical": [
                tuple(axis.categorical for axis in axes) for axes in first.axes_
            ],
            "data": data_of_entries(first, data),
            "importances": [
                importances[columns[0]] if len(axes) == 1 else np.nan
                for axes, columns in zip(first.axes_, first.features_, strict=True)
            ],
        }
        arrays_of_entries: dict[str, Any] = {
            name: None if values is None else [values[entry] for entry in entries]
            for name, values in arrays.items()
        }
        display = cls(
            **arrays_of_entries,
            output_names=output_texts(first),
            response_name=response_name(first),
            **cls._settings_of(first, data.X, **choices),
        )
        display._left_out = first._left_out
        return display

    @classmethod
    def _settings_of(cls, inspector: Any, X: Any, **settings: Any) -> dict[str, Any]:
        """Arguments of the constructor that have no value for each entry."""
        return settings

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

        Of more than 12 outputs, the lines of those that vary most are drawn. More than
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
        options = PlotOptions.of_arguments(locals())
        return self._draw_entries(ax, options, n_cols, max_entries, share_y)

    def _draw_entries(
        self,
        ax: Axes,
        options: PlotOptions,
        n_cols: int,
        max_entries: int | None,
        share_y: bool,
    ) -> Self:
        drawable = self._drawable_entries(options)
        entries = self._most_important(drawable, max_entries)
        effects = [self._entry_effect(entry) for entry in entries]
        options.outputs = most_varied_outputs(effects)
        pairs = [
            pair
            for entry, effect in zip(entries, effects, strict=True)
            for pair in self._entry_panels(effect, entry, options)
        ]
        panels, below = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
        notes = []
        if self._left_out:
            notes.append(f"Left out: {shortened(self._left_out, 3)}")
        if len(entries) < len(drawable):
            notes.append(f"The {len(entries)} most important of {len(drawable)}")
        lines = [panel for panel in panels if isinstance(panel, LinePanel)]
        n_lines = max((len(panel.series) for panel in lines), default=0)
        n_outputs = len(effects[0].values) if effects else 0
        if n_lines > 1 and len(options.outputs) < n_outputs:
            notes.append(
                f"The {len(options.outputs)} most varied of {n_outputs} outputs"
            )
        layout: dict[str, Any] = {"n_cols": n_cols, "share_y": share_y, "below": below}
        note = "\n".join(notes) or None
        self._render_panels(panels, ax, options, note=note, **layout)
        return self

    def _drawable_entries(self, options: PlotOptions) -> Sequence[int]:
        """Entries that can be drawn with these options."""
        return range(self._n_entries)

    def _entry_band(
        self,
        entry: int,
        values: NDArray[np.float64],
        standard_errors: Sequence[Any] | Mapping[int, Any] | None,
        folds: Sequence[Any] | None,
    ) -> dict[str, NDArray[np.float64]]:
        """Bands of an entry: over folds, else of standard errors, else none."""
        n_axes = self._n_axes(entry)
        errors = None if standard_errors is None else standard_errors[entry]
        if folds is not None:
            errors = 0.0 if errors is None else errors
            return fold_band(folds[entry], n_axes, self._splits, errors)
        return {} if errors is None else error_band(values, errors, n_axes)

    def _entry_panels(
        self, effect: Effect, entry: int, options: PlotOptions
    ) -> list[tuple[Panel, Panel | None]]:
        """Panels of one entry, each with the panel below it, or None."""
        if len(effect.names) == 1:
            return [(self._line_panel(effect, options.outputs, options), None)]
        quantity = self._pair_quantity or self._quantity_name()
        supported = np.where(effect.has_rows, effect.values, np.nan)
        limits = colour_limits(
            supported, diverging=self._zero, negligible=self._rounding_size()
        )
        panels: list[tuple[Panel, Panel | None]] = []
        for output in range(len(effect.values)):
            response = self._response_text(output)
            panel = SurfacePanel(
                effect, output, limits, response, quantity, diverging=self._zero
            )
            panels.append((panel, None))
        return panels

    def _line_panel(
        self,
        effect: Effect,
        outputs: Sequence[int] | NDArray[np.intp],
        options: PlotOptions,
        names: Sequence[Any] | None = None,
        **panel_kwargs: Any,
    ) -> LinePanel:
        """A panel with a line for each output, by default under the output's name."""
        levels, by_similarity = effect.levels_in(options.order)
        names = names or self._named_outputs(len(effect.values))
        palette = colours(len(outputs))
        return LinePanel(
            effect.names[0],
            [
                effect.series(output, names[output], colour, levels)
                for output, colour in zip(outputs, palette, strict=True)
            ],
            self._response_text(None if len(self.output_names or [0]) > 1 else 0),
            self._quantity_name(),
            levels=levels,
            data=None if effect.data is None else effect.data[0],
            zero=self._zero,
            missing=None if effect.missing is None else effect.missing[outputs],
            by_similarity=by_similarity,
            **panel_kwargs,
        )

    def _rounding_size(self) -> float:
        """Size of rounding errors, relative to the display's largest effect."""
        largest = 0.0
        for entry in range(self._n_entries):
            values = self._entry_effect(entry).values
            largest = np.abs(values[np.isfinite(values)]).max(initial=largest)
        return max(1e-9 * largest, 1e-12)

    def _response_text(self, output: int | None) -> str:
        return self._response_label(self.output_names, output)

    def _quantity_name(self) -> str:
        """Name of the quantity."""
        return self._quantity

    def to_frame(self) -> Any:
        """Numbers drawn, as a long DataFrame.

        Returns
        -------
        pandas.DataFrame
            One line per point, with the columns "feature", "output", "x" and "value";
            "model" where models are compared, "feature2" and "x2" where there are
            pairs, "low" and "high" where there are bands, "fold" where there are folds
            (missing for their mean), and "row" where rows have curves of their own
            (missing for the averages).
        """
        blocks = []
        for entry in range(self._n_entries):
            blocks += self._frame_blocks(entry)
        return self._long_frame(blocks)

    def _frame_blocks(self, entry: int) -> list[dict[str, Any]]:
        effect = self._entry_effect(entry)
        return effect_columns(effect, self._named_outputs(len(effect.values)))


def check_outputs(inspectors: Sequence[BaseEffect]) -> None:
    """Refuse models of different outputs or responses."""
    check_same_in_folds(
        [list(inspector.output_names_) for inspector in inspectors], "outputs"
    )
    check_same_in_folds(list(map(response_name, inspectors)), "responses")


def output_texts(inspector: BaseEffect) -> list[Any] | None:
    """Names of the outputs, or None for a single output that needs none."""
    names = list(inspector.output_names_)
    return names if len(names) > 1 or outputs_have_names(inspector) else None


def _mean_over_folds(
    inspectors: Sequence[BaseEffect], attribute: str
) -> list[Any] | None:
    """Mean over folds, entry by entry, or None."""
    by_fold = [getattr(inspector, attribute, None) for inspector in inspectors]
    if by_fold[0] is None:
        return None
    return [
        None if fold_values[0] is None else sum(fold_values) / len(fold_values)
        for fold_values in zip(*by_fold, strict=True)
    ]


class ColourFeature(NamedTuple):
    """The feature whose values colour the curves of rows."""

    name: str
    values: NDArray[Any]  # of the rows that have curves
    levels: list[Any] | None  # None of a number


def colour_feature(
    inspector: BaseEffect, X: Any, feature: int | str, indices: NDArray[np.intp]
) -> ColourFeature:
    """The feature that is named, at the rows that have curves."""
    rows = as_rows(X)
    validate_data(inspector, rows.native, reset=False, skip_check_array=True)
    column = feature_index(feature, rows.names, named=rows.named, parameter="color_by")
    if max(indices, default=-1) >= rows.n_rows:
        raise ValueError(
            f"color_by={feature!r} needs the rows that were inspected; X has "
            f"{rows.n_rows} rows, and row {max(indices)} has a curve."
        )
    rows = rows.take(indices)
    categorical = bool(inspector.categorical_features_[column])
    values = values_along((column,), rows, categorical)
    levels = list(rows.encode((column,))[1]) if categorical else None
    return ColourFeature(rows.names[column], values, levels)
