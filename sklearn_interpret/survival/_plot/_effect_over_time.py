"""Display of effects at each time."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_interpret._model.responses.predictors import innermost
from sklearn_interpret._model.rows.dates import days
from sklearn_interpret._model.rows.tables import with_outputs
from sklearn_interpret._plotting.curves import (
    BAR_HEIGHT,
    draw_rug,
    draw_shares,
    rug_handle,
)
from sklearn_interpret._plotting.displays import Display
from sklearn_interpret._plotting.panels.displays import EntryDisplay
from sklearn_interpret._plotting.panels.entries import (
    data_of_entries,
    find_entries,
    sort_by_grid,
)
from sklearn_interpret._plotting.panels.lines import (
    SHARES,
    VALUES,
    Effect,
    PlotOptions,
    SurfacePanel,
    level_shares,
)
from sklearn_interpret._plotting.sources import response_name
from sklearn_interpret._plotting.surfaces import cell_bounds, colour_limits
from sklearn_interpret.effects import PartialDependence

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from sklearn_interpret._plotting.panels.lines import Artists
    from sklearn_interpret._plotting.sources import Data


@dataclass(frozen=True)
class _TimePanel(SurfacePanel):
    """A heat map over a feature and time, with marks of the feature's values."""

    marked: NDArray[Any] | None = None  # the feature's values in the data

    def draw(self, ax: Axes, options: PlotOptions) -> Artists:
        """Draw on an axes; return the artists."""
        artists, places = super().draw(ax, options), self.effect.places[0]
        if not options.rug or self.marked is None or not len(places):
            return artists
        # Marks are below the cells, whose colours would hide them.
        low, high = ax.get_ylim()
        ax.set_ylim(low - (high - low) * BAR_HEIGHT / (1 - BAR_HEIGHT), high)
        if self.effect.levelled[0]:
            text, shares = SHARES, level_shares(self.marked, places)
            artists.rug = draw_shares(ax, shares, options.rug_kw)
        else:
            text, ends = VALUES, days(places)
            values = days(self.marked)
            artists.rug = draw_rug(ax, values, ends.min(), ends.max(), options.rug_kw)
        artists.entries[text] = rug_handle(artists.rug)
        return artists


@dataclass(eq=False, repr=False)
class EffectOverTimeDisplay(Display, EntryDisplay):
    """Effects of features on the predictions of a survival model at each time.

    Colours are the partial dependence of a
    :class:`~sklearn_interpret.survival.SurvivalModel`: values of a feature are along x,
    and the model's times along y. All panels have one scale of colours.

    Build it with `from_estimator`, or from arrays of your own.

    Parameters
    ----------
    grid_values : list of ndarray of shape (G,)
        For each feature, the points along it.
    average : list of ndarray of shape (n_times, G)
        The partial dependence at each time.
    times : ndarray of shape (n_times,)
        The times, increasing.
    feature_names : list of str
        Name of each feature.
    response_name : str, default="response"
        Name of the response, for labels.
    categorical : list of bool, default=None
        Which features are categories; None takes those whose values are not numbers.
    data : list of ndarray of shape (n,), default=None
        The features' values in the data, to be marked on the axes.
    importances : list of float, default=None
        Ranks the features for `max_entries`; None takes the spread of the averages.
    centered : bool, default=False
        Whether the averages are centred, at each time.

    Attributes
    ----------
    figure_ : matplotlib Figure
        The figure drawn on.
    axes_ : ndarray of matplotlib Axes of shape (n_rows, n_columns)
        The axes, None where there is no panel.
    heatmaps_ : list of QuadMesh
        Heat map of each panel.
    rug_ : list of LineCollection or None
        The marks of the data at the bottom of each panel.
    colorbars_ : list of Colorbar
        Colour bars of each panel.
    legend_ : matplotlib Legend or None
        The legend.

    See Also
    --------
    sklearn_interpret.survival.SurvivalModel : The predictions at each time.
    sklearn_interpret.effects.PartialDependence : The numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_interpret.survival import EffectOverTimeDisplay
    >>> ages, times = np.array([40, 50, 60, 70]), np.array([100, 200, 300])
    >>> survival = np.exp(-np.outer(times, ages) / 2e4)
    >>> display = EffectOverTimeDisplay(
    ...     [ages], [survival], times, feature_names=["age"]
    ... ).plot()
    >>> display.to_frame().columns.tolist()
    ['feature', 'x', 'time', 'value']
    """

    _kinds = (PartialDependence,)
    _choices = frozenset({"features"})
    _shows_rows = True
    _artist_names = ("heatmaps", "rug", "colorbars")

    grid_values: list[Any]
    average: list[Any]
    times: ArrayLike
    _: KW_ONLY
    feature_names: list[Any]
    response_name: str = "response"
    categorical: list[Any] | None = None
    data: list[Any] | None = None
    importances: ArrayLike | None = None
    centered: bool = False

    @classmethod
    def _from_inspector(
        cls, inspector: PartialDependence, data: Data, *, features: Any = None
    ) -> Self:
        times = getattr(innermost(inspector.estimator_), "times_", None)
        if times is None or len(times) != len(inspector.output_names_):
            raise ValueError(
                f"{cls.__name__} shows a SurvivalModel at all of its times: pass one, "
                "or an inspector of one without target."
            )
        entries = find_entries(inspector, features)
        axes = [inspector.axes_[entry] for entry in entries]
        if any(len(pair) > 1 for pair in axes):
            raise ValueError(f"{cls.__name__} shows single features, and no pairs.")
        grid_values, average = (
            [sort_by_grid(values[entry], inspector.axes_[entry]) for entry in entries]
            for values in (inspector.grid_values_, inspector.average_)
        )
        data_of_all = data_of_entries(inspector, data)
        return cls(
            grid_values,
            average,
            times,
            feature_names=[inspector.effect_names_[entry] for entry in entries],
            response_name=response_name(inspector),
            categorical=[axis.categorical for (axis,) in axes],
            data=[data_of_all[entry] for entry in entries],
            centered=inspector.centered,
        )

    def plot(
        self,
        ax: Any = None,
        *,
        n_cols: int = 3,
        max_entries: int | None = 20,
        rug: bool = True,
        rug_kw: dict[str, Any] | None = None,
        heatmap_kw: dict[str, Any] | None = None,
    ) -> Self:
        """Draw a heat map for each feature.

        Parameters
        ----------
        ax : matplotlib Axes or array of Axes, default=None
            None makes a figure. A single axes is drawn on as it is where there is one
            panel, and divided into a grid where there are several. An array has one
            axes per panel.
        n_cols : int, default=3
            Largest number of panels in a row, of a grid made here.
        max_entries : int, default=20
            Largest number of features, the most important ones. None shows all.
        rug : bool, default=True
            Mark the data: ticks at the bottom (quantiles where there are many), bars
            for the share of each level.
        rug_kw : dict, default=None
            Style of the ticks and bars at the bottom.
        heatmap_kw : dict, default=None
            Style of the heat maps.

        Returns
        -------
        self : object
            The display.
        """
        options = PlotOptions.of_arguments(locals())
        entries = self._most_important(range(self._n_entries), max_entries)
        numbers = [np.ravel(self.average[entry]) for entry in entries]
        limits = colour_limits(np.concatenate(numbers), diverging=self.centered)
        quantity = f"{'Centred partial' if self.centered else 'Partial'} dependence"
        panels = [
            _TimePanel(
                self._entry_effect(entry),
                0,
                limits,
                self._response_label(None),
                quantity,
                diverging=self.centered,
                marked=None if self.data is None else np.asarray(self.data[entry]),
            )
            for entry in entries
        ]
        note = None
        if len(entries) < self._n_entries:
            note = f"The {len(entries)} most important of {self._n_entries}"
        self._render_panels(
            panels, ax, options, n_cols=n_cols, share_y=False, note=note
        )
        return self

    def to_frame(self) -> Any:
        """Numbers drawn, as a long DataFrame.

        Returns
        -------
        pandas.DataFrame
            One line per point, with the columns "feature", "x", "time" and "value".
        """
        blocks = []
        for name, grid, average in zip(
            self.feature_names, self.grid_values, self.average, strict=True
        ):
            times = np.repeat(self.times, len(grid))
            x = np.tile(np.asarray(grid), np.size(self.times))
            values = np.ravel(average)
            blocks.append({"feature": name, "x": x, "time": times, "value": values})
        return self._frame(*blocks)

    def _entry_effect(self, entry: int) -> Effect:
        """The effect of a feature, over the feature and time."""
        grid, times = np.asarray(self.grid_values[entry]), np.asarray(self.times)
        (levelled,) = self._are_levels(entry, (grid,))
        x_bounds = np.empty(0) if levelled else cell_bounds(days(grid))
        # No time is negative.
        y_bounds = np.maximum(cell_bounds(times), min(times[0], 0))
        return Effect(
            (self.feature_names[entry], "time"),
            (grid, times),
            (levelled, False),
            with_outputs(self.average[entry], 1).T[None],
            bounds=(x_bounds, y_bounds),
        )
