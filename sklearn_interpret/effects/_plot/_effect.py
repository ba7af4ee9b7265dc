"""The base of displays of one inspector's effects, entry by entry."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
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
from sklearn_interpret._plotting.panels.lines import (
    LinePanel,
    Looks,
    SurfacePanel,
    spreads,
)
from sklearn_interpret._plotting.sources import (
    check_same_in_folds,
    outputs_have_names,
    response_name,
)
from sklearn_interpret._plotting.surfaces import colour_limits

MAX_DATA_ROWS = 5000  # rows of the data that a display keeps, at most


def most_varied(effects):
    """Positions of the outputs that are drawn, each with a colour, in their order."""
    n_outputs = len(effects[0].values) if effects else 0
    if n_outputs <= len(PALETTE):
        return np.arange(n_outputs)
    found = np.sum([spreads(effect.values) for effect in effects], axis=0)
    return np.sort(np.argsort(-found, kind="stable")[: len(PALETTE)])


@dataclass(kw_only=True, eq=False, repr=False)
class EffectDisplay(FoldsMixin, Display, EntryDisplay):
    """Base of displays of one inspector's effects, entry by entry.

    A subclass has its inspector, the name of the quantity (`_what`), and the numbers of
    one entry (`_effect`). It lists the arguments of its constructor that are fitted
    attributes of the inspector: the places of the effects and what else of the first
    fold is enough (`_points`), the numbers whose means over folds are taken (`_means`,
    the effects first), those that exist without folds only (`_spreads`), and the
    argument for the effects fold by fold (`_by_fold`).
    """

    _choices = frozenset({"features"})
    _options = {"order": ("levels", "effect")}
    _shows_rows = _inspects_again = True
    _points: ClassVar[tuple[str, ...]]
    _means: ClassVar[tuple[str, ...]]
    _spreads: ClassVar[tuple[str, ...]] = ()
    _by_fold: ClassVar[str]
    _what: ClassVar[str | None] = None
    _left_out: ClassVar[list[str]] = []  # columns without an effect
    _zero = False
    _parts = (*EntryDisplay._parts, "contours", "heatmaps", "points", "colorbars")

    feature_names: list[Any]
    output_names: list[Any] | None = None
    response_name: str = "response"
    categorical: list[Any] | None = None
    data: list[Any] | None = None
    importances: ArrayLike | None = None

    @classmethod
    def _from_inspector(cls, inspector, data, *, features: Any = None, **choices):
        names = (*cls._points, *cls._means, *cls._spreads)
        arrays = {name: getattr(inspector, f"{name}_", None) for name in names}
        entries = chosen_entries(inspector, features)
        return cls._made([inspector], arrays, data, entries, choices)

    @classmethod
    def _from_folds(cls, inspectors, data, **choices):
        check_outputs(inspectors)
        first, effects = inspectors[0], f"{cls._means[0]}_"
        arrays = {name: getattr(first, f"{name}_") for name in cls._points}
        arrays |= {name: _mean(inspectors, f"{name}_") for name in cls._means}
        parts = zip(*(getattr(one, effects) for one in inspectors), strict=True)
        arrays[cls._by_fold] = list(map(np.stack, parts))
        entries = range(len(first.axes_))
        return cls._made(inspectors, arrays, data, entries, choices)

    @classmethod
    def _made(cls, inspectors, arrays, data, entries, choices):
        """The display of those entries of the inspectors."""
        first = inspectors[0]
        by_feature = [
            getattr(one, "feature_importances_", np.zeros(one.n_features_in_))
            for one in inspectors
        ]
        importances = np.mean(by_feature, axis=0)
        if "grid_values" in arrays:
            for name in arrays.keys() - {"missing_average"}:
                arrays[name] = arrays[name] and [
                    increasing(values, axes)
                    for values, axes in zip(arrays[name], first.axes_, strict=True)
                ]
        arrays = {
            **arrays,
            "feature_names": first.effect_names_,
            "categorical": [
                tuple(axis.categorical for axis in axes) for axes in first.axes_
            ],
            "data": data_along(first, data),
            "importances": [
                importances[columns[0]] if len(axes) == 1 else np.nan
                for axes, columns in zip(first.axes_, first.features_, strict=True)
            ],
        }
        picked = {
            name: None if values is None else [values[entry] for entry in entries]
            for name, values in arrays.items()
        }
        display = cls(
            **picked,
            output_names=output_texts(first),
            response_name=response_name(first),
            **cls._settings_of(first, data.X, **choices),
        )
        display._left_out = first._left_out
        return display

    @classmethod
    def _settings_of(cls, inspector, X, **settings):
        """Arguments of the constructor that are not one per entry."""
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
        looks = Looks.of_arguments(locals())
        return self._draw(ax, looks, n_cols, max_entries, share_y)

    def _draw(self, ax, looks, n_cols, max_entries, share_y):
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
        if self._left_out:
            notes.append(f"Left out: {shortened(self._left_out, 3)}")
        if len(shown) < len(drawable):
            notes.append(f"The {len(shown)} most important of {len(drawable)}")
        n_lines = max((len(p.series) for p, _ in panels if p.values_along), default=0)
        n_outputs = len(effects[0].values) if effects else 0
        if n_lines > 1 and len(looks.outputs) < n_outputs:
            notes.append(f"The {len(looks.outputs)} most varied of {n_outputs} outputs")
        note = "\n".join(notes) or None
        self._render(panels, ax, looks, n_cols=n_cols, share_y=share_y, note=note)
        return self

    def _drawable(self, looks):
        """Entries that can be drawn with these options."""
        return range(self._n_entries)

    def _band(self, entry, values, errors, folds):
        """Bands of an entry: over folds, else of standard errors, else none."""
        errors, n_axes = errors and errors[entry], self._n_axes(entry)
        if folds is not None:
            errors = 0.0 if errors is None else errors
            return fold_band(folds[entry], n_axes, self._splits, errors)
        return {} if errors is None else error_band(values, errors, n_axes)

    def _panels(self, effect, entry, looks):
        """Panels of one entry, each with the panel below it, or None."""
        if len(effect.names) == 1:
            return [(self._line_panel(effect, looks.outputs, looks), None)]
        what = self._shown()
        held = np.where(effect.held, effect.values, np.nan)
        limits = colour_limits(held, self._zero, self._negligible())
        return [
            (SurfacePanel(effect, o, limits, what, self._of(o), self._zero), None)
            for o in range(len(effect.values))
        ]

    def _line_panel(self, effect, outputs, looks, names=None, **parts):
        """A panel with a line for each of the outputs, by default named as such."""
        levels, by_similarity = effect.levels_in(looks.order)
        names = names or self._named_outputs(len(effect.values))
        palette = colours(len(outputs))
        return LinePanel(
            effect.names[0],
            [
                effect.series(output, names[output], colour, levels)
                for output, colour in zip(outputs, palette, strict=True)
            ],
            self._shown(),
            self._of(None if len(self.output_names or [0]) > 1 else 0),
            levels=levels,
            data=None if effect.data is None else effect.data[0],
            zero=self._zero,
            missing=None if effect.missing is None else effect.missing[outputs],
            by_similarity=by_similarity,
            **parts,
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
            "model" where models are compared, "feature2" and "x2" where there are
            pairs, "low" and "high" where there are bands, "fold" where there are folds
            (missing for their mean), and "row" where rows have curves of their own
            (missing for the averages).
        """
        blocks = []
        for entry in range(self._n_entries):
            blocks += self._frame_blocks(entry)
        return self._long_frame(blocks)

    def _frame_blocks(self, entry):
        effect = self._effect(entry)
        return effect_columns(effect, self._named_outputs(len(effect.values)))


def increasing(values, axes):
    """Numbers (..., G) or (..., G1, G2) of an entry, or its grids, by sorted grids."""
    orders = [axis.order for axis in axes]
    if isinstance(values, tuple):
        return tuple(grid[order] for grid, order in zip(values, orders, strict=True))
    return None if values is None else values[(..., *np.ix_(*orders))]


def check_outputs(inspectors):
    """Refuse models of different outputs or responses."""
    check_same_in_folds([list(one.output_names_) for one in inspectors], "outputs")
    check_same_in_folds(list(map(response_name, inspectors)), "responses")


def output_texts(inspector):
    """Names of the outputs, or None for a single output that needs none."""
    names = list(inspector.output_names_)
    return names if len(names) > 1 or outputs_have_names(inspector) else None


def _mean(inspectors, attribute):
    """Mean over folds, entry by entry, or None."""
    lists = [getattr(inspector, attribute, None) for inspector in inspectors]
    if lists[0] is None:
        return None
    return [
        None if parts[0] is None else sum(parts) / len(parts)
        for parts in zip(*lists, strict=True)
    ]


def data_along(inspector, data):
    """Values (n,) of each entry's features in some of the rows; of pairs a pair."""
    rows = as_rows(data.X)
    validate_data(inspector, rows.native, reset=False, skip_check_array=True)
    kept = np.arange(rows.n_rows)
    if data.sample_weight is not None:
        kept = np.flatnonzero(np.asarray(data.sample_weight) > 0)
    if len(kept) > MAX_DATA_ROWS:
        draw = np.random.default_rng(0).choice(len(kept), MAX_DATA_ROWS, replace=False)
        kept = kept[np.sort(draw)]
    rows = rows.take(kept)
    values = [
        tuple(values_along(axis.columns, rows, axis.categorical) for axis in axes)
        for axes in inspector.axes_
    ]
    return [entry if len(entry) > 1 else entry[0] for entry in values]


def values_of(inspector, X, feature, kept):
    """Name, values in some rows, and levels (None of a number) of a single feature."""
    rows = as_rows(X)
    validate_data(inspector, rows.native, reset=False, skip_check_array=True)
    column = feature_index(feature, rows.names, named=rows.named, parameter="color_by")
    if max(kept, default=-1) >= rows.n_rows:
        raise ValueError(
            f"color_by={feature!r} needs the rows that were inspected; X has "
            f"{rows.n_rows} rows, and row {max(kept)} has a curve."
        )
    rows = rows.take(kept)
    categorical = bool(inspector.categorical_features_[column])
    values = values_along((column,), rows, categorical)
    levels = list(rows.encode((column,))[1]) if categorical else None
    return rows.names[column], values, levels


def chosen_entries(inspector, features):
    """Positions of the entries of a fitted inspector that `features` names."""
    if features is None:
        return list(range(len(inspector.effect_names_)))
    if isinstance(features, str | Integral):
        features = [features]
    if {type(feature) for feature in features} <= {bool, np.bool_}:
        features = np.flatnonzero(features).tolist()
    chosen = []
    for entry in features:
        names = tuple(entry) if isinstance(entry, tuple | list) else (entry,)
        found = [
            place for place, axes in enumerate(inspector.axes_) if _named(axes, names)
        ]
        if not found:
            raise ValueError(
                f"The fitted {type(inspector).__name__} has no entry {entry!r}; it has "
                f"{inspector.effect_names_!r}."
            )
        chosen.append(found[0])
    return chosen


def _named(axes, names):
    """Whether axes have these names, or positions of single columns."""
    keys = [
        {axis.name, *(axis.columns if len(axis.columns) == 1 else ())} for axis in axes
    ]
    return len(keys) == len(names) and all(
        name in key for name, key in zip(names, keys, strict=True)
    )
