"""Display of effects at each time."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_interpret._model.responses.predictors import innermost
from sklearn_interpret._model.rows.dates import days
from sklearn_interpret._model.rows.number_format import number_text
from sklearn_interpret._plotting.curves import BAR_HEIGHT
from sklearn_interpret._plotting.panels import lines
from sklearn_interpret._plotting.panels.effects import EffectDisplay
from sklearn_interpret._plotting.surfaces import colour_limits
from sklearn_interpret.effects import PartialDependence

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from sklearn_interpret._plotting.axes import Slot


@dataclass(frozen=True)
class _TimePanel(lines.SurfacePanel):
    """A heat map over a feature and time, with marks of the feature's values."""

    marked: NDArray[Any] | None = None  # the feature's values in the data

    def slot(self, below: bool) -> Slot:
        """Space that the panel needs: of many times, some are named."""
        return replace(super().slot(below), height=0.0)

    def draw(self, ax: Axes, options: lines.PlotOptions) -> lines.Artists:
        """Draw on an axes; return the artists."""
        artists, places = super().draw(ax, options), self.effect.places[0]
        if options.rug and self.marked is not None and len(places):
            # Below the cells, whose colours would hide the marks.
            low, high = ax.get_ylim()
            ax.set_ylim(low - (high - low) * BAR_HEIGHT / (1 - BAR_HEIGHT), high)
            levels = places if self.effect.levelled[0] else None
            marked = self.marked, levels, days(places)
            lines.mark_data(artists, ax, *marked, options.rug_kw)
        return artists


@dataclass(eq=False, repr=False)
class EffectOverTimeDisplay(EffectDisplay):
    """Effects of features on the predictions of a survival model at each time.

    Colours are the partial dependence of a
    :class:`~sklearn_interpret.survival.SurvivalModel`: values of a feature are along x.
    Each of the model's times is a row of cells of the same height, the first at the
    bottom: nothing is drawn between the times. All panels have one scale of colours.

    Build it with `from_estimator` or `from_cv_results`, or from arrays of your own.

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
    output_names : list of str, default=None
        Names of the times.
    response_name : str, default="response"
        Name of the response, for labels.
    categorical : list of bool, default=None
        Which features are categories; None takes those whose values are not numbers.
    data : list of ndarray of shape (n,), default=None
        The features' values in the data, to be marked on the axes.
    importances : list of float, default=None
        Ranks the features for `max_entries`; None takes the spread of the averages.
    fold_averages : list of ndarray of shape (n_folds, n_times, G), default=None
        The averages of several models, of which `average` is the mean.
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

    Raises
    ------
    ValueError
        If times do not increase, or an average has not a row for each time and a column
        for each point.

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
    ['feature', 'output', 'x', 'value']
    """

    _kinds = (PartialDependence,)
    _first_fold_names = ("grid_values",)
    _mean_names, _fold_name = ("average",), "fold_averages"
    _artist_names = ("heatmaps", "rug", "colorbars")

    grid_values: list[Any]
    average: list[Any]
    times: ArrayLike
    _: KW_ONLY
    fold_averages: list[Any] | None = None
    centered: bool = False

    def __post_init__(self) -> None:
        times = np.asarray(self.times, dtype=np.float64)
        if times.ndim != 1 or not (np.diff(times) > 0).all():
            raise ValueError(f"times={self.times!r} must be increasing numbers.")
        for name, grid, average in zip(
            self.feature_names, self.grid_values, self.average, strict=True
        ):
            # A single time may have no axis.
            shape, needed = np.atleast_2d(average).shape, (len(times), len(grid))
            if shape != needed and not isinstance(grid, tuple):  # pairs are not drawn
                raise ValueError(
                    f"average of {name!r} has the shape {shape}; {len(times)} times "
                    f"and {len(grid)} values need {needed}."
                )

    @classmethod
    def _settings_of(cls, inspector: Any, X: Any, **settings: Any) -> dict[str, Any]:
        times = getattr(innermost(inspector.estimator_), "times_", None)
        if times is None or len(times) != len(inspector.output_names_):
            raise ValueError(
                f"{cls.__name__} shows a SurvivalModel at all of its times: pass one, "
                "or an inspector of one without target."
            )
        return {"times": times, "centered": inspector.centered}

    def plot(  # type: ignore[override]  # heat maps have no lines
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
        options = lines.PlotOptions.of_arguments(locals())
        return self._draw_entries(ax, options, n_cols, max_entries, False)

    def _entry_panels(
        self, effect: lines.Effect, entry: int, options: lines.PlotOptions
    ) -> list[tuple[lines.Panel, lines.Panel | None]]:
        """The heat map of one feature; all have one scale of colours."""
        if len(effect.names) > 1:
            raise ValueError(f"{type(self).__name__} shows single features, no pairs.")
        (grid,), (levelled,) = effect.places, effect.levelled
        times = np.array([number_text(time, 6) for time in np.asarray(self.times)])
        over_time = lines.Effect(
            (effect.names[0], "time"),
            (grid, times),
            (levelled, True),
            effect.values.T[None],
        )
        averages = np.concatenate(list(map(np.ravel, self.average)))
        marked = None if effect.data is None else np.asarray(effect.data[0])
        limits = colour_limits(averages, diverging=self.centered)
        quantity = f"{'Centred partial' if self.centered else 'Partial'} dependence"
        texts = self._response_text(None), quantity
        panel = _TimePanel(over_time, 0, limits, *texts, self.centered, marked)
        return [(panel, None)]

    def _entry_effect(self, entry: int) -> lines.Effect:
        return self._make_effect(entry, self.grid_values[entry], self.average[entry])
