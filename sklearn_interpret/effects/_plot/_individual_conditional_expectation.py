"""Display of individual conditional expectation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from sklearn_interpret._core.statistics.grids import derivative
from sklearn_interpret._model.rows.dates import days
from sklearn_interpret._model.rows.tables import with_outputs
from sklearn_interpret._plotting.panels.displays import (
    curve_columns,
    effect_columns,
    fold_band,
)
from sklearn_interpret._plotting.panels.effects import EffectDisplay, colour_feature
from sklearn_interpret._plotting.panels.lines import PlotOptions, Shades, SpreadPanel
from sklearn_interpret.effects._individual_conditional_expectation import (
    IndividualConditionalExpectation,
)

if TYPE_CHECKING:
    from sklearn_interpret._plotting.panels.lines import Artists, Effect, Panel, Series


@dataclass(eq=False, repr=False)
class IndividualConditionalExpectationDisplay(EffectDisplay):
    """Curves of single rows, with their average on top (ICE).

    Build it with `from_estimator` or `from_cv_results`, or from arrays of your own.
    Each output has a panel of its own. Where there are slopes, a smaller panel below
    shows their standard deviation over the rows (d-ICE): zero where the feature does
    not interact. The slopes themselves are drawn by ``plot(kind="derivatives")``. Of
    pairs the average is shown.

    Parameters
    ----------
    grid_values : list
        For each entry, the points along it: an array of shape (G,), or a pair of those.
    curves : list of ndarray of shape (n, G) or (n, G1, G2)
        One curve per row; with several outputs these lead, as in (k, n, G).
    average : list of ndarray of shape (G,) or (G1, G2)
        Mean of the curves; with several outputs these lead.
    feature_names : list of str or pair of str
        Name of each entry.
    output_names : list, default=None
        Names of the outputs; None where there is one that needs no name.
    response_name : str, default="response"
        Name of the response, for labels.
    categorical : list of bool or pair of bool, default=None
        Which axes are categories; None takes those whose values are not numbers.
    data : list of ndarray of shape (n,), or pair of those, default=None
        The features' values in the data, to be marked on the axes.
    importances : list of float, default=None
        Ranks the entries for `max_entries`; None takes the spread of the averages.
    derivatives : list of ndarray of shape (n, G) or None, default=None
        Slopes of the curves.
    derivative_std : list of ndarray of shape (G,) or None, default=None
        Standard deviation of the slopes over the rows.
    rows : ndarray of shape (n,), default=None
        Which row of the data each curve belongs to, for the table.
    color_by : str, default=None
        Name of the feature that colours the curves. In `from_estimator` and
        `from_cv_results`, its name or position.
    color_values : ndarray of shape (n,), default=None
        Its value for each curve: numbers, or levels of a category.
    color_levels : sequence, default=None
        The levels in order, if it is a category.
    fold_averages : list of ndarray of shape (n_folds, ...), default=None
        The averages of several models, of which `average` is the mean. Bands
        are then intervals of 95 % for the learner's curve, of models on other data.
    centered : bool, default=False
        Whether the curves are centred, which the axis label then says.

    Attributes
    ----------
    figure_ : matplotlib Figure
        The figure drawn on.
    axes_ : ndarray of matplotlib Axes of shape (n_rows, n_columns)
        The axes, None where there is no panel.
    lines_ : list of list of Line2D
        For each panel, the average.
    curves_ : list of LineCollection or None
        The curves of each panel.
    curve_rows_ : ndarray
        Positions of the curves drawn.
    spread_lines_ : list of Line2D or None
        For each panel, the standard deviation of the slopes below it.
    bands_ : list of list of artist
        For each panel, the band over folds.
    fold_lines_ : list of list of list of Line2D
        For each panel, one line per fold.
    rug_ : list of LineCollection or None
        The marks of the data at the bottom of each panel.
    contours_ : list of QuadContourSet or None
        Contours of each panel.
    heatmaps_ : list of QuadMesh or None
        Heat maps of each panel.
    points_ : list of PathCollection or None
        The data's points on each panel.
    colorbars_ : list of Colorbar or None
        Colour bars of each panel.
    legend_ : matplotlib Legend or None
        The legend.

    See Also
    --------
    sklearn_interpret.effects.IndividualConditionalExpectation : The numbers.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.ensemble import RandomForestRegressor
    >>> from sklearn_interpret.effects import IndividualConditionalExpectationDisplay
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = RandomForestRegressor(20, random_state=0).fit(X, y)
    >>> display = IndividualConditionalExpectationDisplay.from_estimator(
    ...     model, X, features=["bmi"], center="start", n_curves=50
    ... )
    >>> len(display.curves_[0].get_segments())
    50
    """

    _kinds = (IndividualConditionalExpectation,)
    _first_fold_names, _fold_name = ("grid_values",), "fold_averages"
    _mean_names = ("average", "curves", "derivatives", "derivative_std")
    _choices = EffectDisplay._choices | {"color_by"}
    _options = EffectDisplay._options | {"kind": ("curves", "derivatives")}
    _artist_names = (*EffectDisplay._artist_names, "curves")

    grid_values: list[Any]
    curves: list[Any]
    average: list[Any]
    _: KW_ONLY
    derivatives: list[Any] | None = None
    derivative_std: list[Any] | None = None
    rows: NDArray[np.intp] | None = None
    color_by: str | None = None
    color_values: NDArray[Any] | None = None
    color_levels: Any = None
    fold_averages: list[Any] | None = None
    centered: bool = False

    @classmethod
    def _settings_of(
        cls,
        inspector: IndividualConditionalExpectation,
        X: Any,
        *,
        color_by: int | str | None = None,
        **settings: Any,
    ) -> dict[str, Any]:
        rows = inspector.sample_indices_
        settings = {"centered": inspector.center is not None, "rows": rows}
        if color_by is not None:
            feature = colour_feature(inspector, X, color_by, rows)
            settings["color_by"] = feature.name
            settings["color_values"] = feature.values
            settings["color_levels"] = feature.levels
        return settings

    def _quantity_name(self) -> str:
        return "Centred ICE" if self.centered else "ICE"

    def _entry_effect(self, entry: int) -> Effect:
        average, errors = self.average[entry], None
        if self.fold_averages is not None:
            curves = self._entry_curves(entry)
            errors = {entry: curves.std(axis=1) / np.sqrt(max(curves.shape[1] - 1, 1))}
        band = self._entry_band(entry, average, errors, self.fold_averages)
        return self._make_effect(entry, self.grid_values[entry], average, **band)

    def plot(
        self,
        ax: Any = None,
        *,
        kind: str = "curves",
        n_curves: int | None = 100,
        random_state: int | np.random.RandomState | None = 0,
        n_cols: int = 3,
        max_entries: int | None = 20,
        order: str = "levels",
        share_y: bool = True,
        rug: bool = True,
        band: bool = True,
        curve_kw: dict[str, Any] | None = None,
        line_kw: dict[str, Any] | None = None,
        band_kw: dict[str, Any] | None = None,
        fold_kw: dict[str, Any] | None = None,
        rug_kw: dict[str, Any] | None = None,
        contour_kw: dict[str, Any] | None = None,
        heatmap_kw: dict[str, Any] | None = None,
        points_kw: dict[str, Any] | None = None,
    ) -> Self:
        """Draw one panel per entry and output.

        Parameters
        ----------
        ax : matplotlib Axes or array of Axes, default=None
            None makes a figure. A single axes is drawn on as it is where there is one
            panel, and divided into a grid where there are several. An array has one
            axes per panel, and behind these one per panel of slopes.
        kind : {"curves", "derivatives"}, default="curves"
            Draw the curves, or their slopes (d-ICE) of the numeric features.
        n_curves : int, default=100
            Largest number of curves to draw; None draws all.
        random_state : int, RandomState or None, default=0
            Draws those curves, the same ones on every panel.
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
            Draw the band over folds, where there are any.
        curve_kw : dict, default=None
            Style of the curves.
        line_kw : dict, default=None
            Style of the averages.
        band_kw : dict, default=None
            Style of the bands.
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
        self.curve_rows_ = self._choose_curve_rows(n_curves, random_state)
        options = PlotOptions.of_arguments(locals())
        return self._draw_entries(ax, options, n_cols, max_entries, share_y)

    def _choose_curve_rows(
        self, n_curves: int | None, random_state: int | np.random.RandomState | None
    ) -> NDArray[np.intp]:
        """Positions of the rows whose curves are drawn, at random."""
        n_rows = self._entry_curves(0).shape[1]
        if n_curves is None or n_curves >= n_rows:
            return np.arange(n_rows)
        draw = check_random_state(random_state)
        return np.sort(draw.choice(n_rows, n_curves, replace=False))

    def _entry_curves(self, entry: int) -> NDArray[np.float64]:
        """Curves (k, n, G) or (k, n, G1, G2) of an entry."""
        return with_outputs(self.curves[entry], 1 + self._n_axes(entry))

    def _drawable_entries(self, options: PlotOptions) -> Sequence[int]:
        if options.kind == "curves":
            return super()._drawable_entries(options)
        entries = [
            entry
            for entry in range(self._n_entries)
            if _entry_array(self.derivatives, entry, 2) is not None
        ]
        if not entries:
            raise ValueError(
                "kind='derivatives' needs slopes: inspect numeric features with "
                "derivative=True."
            )
        return entries

    def _entry_panels(
        self, effect: Effect, entry: int, options: PlotOptions
    ) -> list[tuple[Panel, Panel | None]]:
        if len(effect.names) > 1:
            return super()._entry_panels(effect, entry, options)
        curves = self._entry_curves(entry)
        if options.kind == "derivatives":
            curves = _entry_array(self.derivatives, entry, 2)
            effect = self._slope_effect(effect)
        curves = curves[:, self.curve_rows_]
        n_outputs = len(curves)
        outputs = self._named_outputs(n_outputs)
        panels: list[tuple[Panel, Panel | None]] = []
        for output in range(n_outputs):
            # Titles name the outputs, so that the legend has one colour.
            panel_kwargs: dict[str, Any] = {
                "title": outputs[output] if n_outputs > 1 else None
            }
            panel_kwargs |= {"curves": curves[output], "shades": self._curve_shades()}
            panel = self._line_panel(effect, [output], options, **panel_kwargs)
            if options.kind == "derivatives":
                panel = replace(panel, second_line="Slope of ICE", zero=True)
            below = self._spread_panel(entry, output, panel.series[0])
            panels.append((panel, below))
        return panels

    def _slope_effect(self, effect: Effect) -> Effect:
        """The slope of an average along a number, with its band over folds."""
        x = days(effect.places[0])
        band: dict[str, Any] = {}
        if effect.folds is not None:
            band = fold_band(derivative(effect.folds, x), 1, self._splits)
        return replace(effect, values=derivative(effect.values, x), **band)

    def _curve_shades(self) -> Shades | None:
        """The feature that colours the curves drawn, or None."""
        if self.color_values is None:
            return None
        values, levels = np.asarray(self.color_values), self.color_levels
        if levels is None and values.dtype.kind not in "iufmM":
            levels = list(dict.fromkeys(values.tolist()))
        return Shades(self.color_by or "", values[self.curve_rows_], levels)

    def _spread_panel(
        self, entry: int, output: int, series: Series
    ) -> SpreadPanel | None:
        """The panel of the spread of slopes, in the style of a line, or None."""
        spread = _entry_array(self.derivative_std, entry, 1)
        if spread is None:
            return None
        series = replace(series, y=spread[output], low=None, high=None, folds=None)
        return SpreadPanel(self.feature_names[entry], [series], "Std of slopes", "")

    def _set_artists(self, artists: list[Artists], lower: list[Artists | None]) -> None:
        super()._set_artists(artists, lower)
        self.spread_lines_ = [
            None if panel_artists is None else panel_artists.lines[0]
            for panel_artists in lower
        ]

    def _frame_blocks(self, entry: int) -> list[dict[str, Any]]:
        effect = self._entry_effect(entry)
        outputs = self._named_outputs(len(effect.values))
        curves = self._entry_curves(entry)
        rows = np.arange(curves.shape[1]) if self.rows is None else self.rows
        spread = _entry_array(self.derivative_std, entry, 1)
        slopes = _entry_array(self.derivatives, entry, 2)
        return [
            *effect_columns(effect, outputs, slope_std=spread),
            *curve_columns(effect, outputs, curves, rows, slopes),
        ]


def _entry_array(by_entry: Sequence[Any] | None, entry: int, n_axes: int) -> Any:
    """The numbers of one entry with an axis of outputs, or None."""
    if by_entry is None or by_entry[entry] is None:
        return None
    return with_outputs(by_entry[entry], n_axes)
