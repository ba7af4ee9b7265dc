"""Display of partial dependence."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sklearn_interpret._plotting.panels.effects import EffectDisplay
from sklearn_interpret._plotting.panels.lines import ERROR_BAND
from sklearn_interpret.effects._partial_dependence import PartialDependence

if TYPE_CHECKING:
    from sklearn_interpret._plotting.panels.lines import Effect


@dataclass(eq=False, repr=False)
class PartialDependenceDisplay(EffectDisplay):
    """Partial dependence curves and surfaces.

    Build it with `from_estimator` or `from_cv_results`, or from arrays of your own.

    Parameters
    ----------
    grid_values : list
        For each entry, the points along it: an array of shape (G,), or a pair of those.
    average : list of ndarray of shape (G,) or (G1, G2)
        The partial dependence; with several outputs these lead, as in (k, G).
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
    standard_errors : list of ndarray, default=None
        Standard errors, of the shapes of `average`.
    shape_standard_errors : list of ndarray or None, default=None
        Standard errors of the centred curves, None for an entry without. Bands reach
        two of them to each side, or else two of `standard_errors`; the legend names
        the one drawn.
    missing_average : list of float, ndarray of shape (k,) or None, default=None
        The average with the feature missing, where it has missing values.
    fold_averages : list of ndarray of shape (n_folds, ...), default=None
        The averages of several models, of which `average` is the mean. Bands
        are then intervals of 95 % for the learner's curve, of models on other data.
    centered : bool, default=False
        Whether the averages are centred, which the axis label then says.

    Attributes
    ----------
    figure_ : matplotlib Figure
        The figure drawn on.
    axes_ : ndarray of matplotlib Axes of shape (n_rows, n_columns)
        The axes, None where there is no panel.
    lines_ : list of list of Line2D
        For each panel, one line per output.
    bands_ : list of list of artist
        For each panel, one band (or set of error bars) per output.
    fold_lines_ : list of list of list of Line2D
        For each panel and output, one line per fold.
    missing_ : list of list of Line2D
        For each panel, one mark per output where values are missing.
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
    sklearn_interpret.effects.PartialDependence : The numbers.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import LinearRegression
    >>> from sklearn_interpret.effects import PartialDependenceDisplay
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = LinearRegression().fit(X, y)
    >>> display = PartialDependenceDisplay.from_estimator(
    ...     model, X, features=["bmi", "bp"]
    ... )
    >>> display.axes_.shape
    (1, 2)
    >>> display.to_frame().columns.tolist()
    ['feature', 'output', 'x', 'value', 'low', 'high']
    """

    _kinds = (PartialDependence,)
    _first_fold_names = ("grid_values", "standard_errors")
    _mean_names, _fold_name = ("average", "missing_average"), "fold_averages"
    _names_missing_in_folds = ("shape_standard_errors",)
    _artist_names = (*EffectDisplay._artist_names, "missing")

    grid_values: list[Any]
    average: list[Any]
    _: KW_ONLY
    standard_errors: list[Any] | None = None
    shape_standard_errors: list[Any] | None = None
    missing_average: list[Any] | None = None
    fold_averages: list[Any] | None = None
    centered: bool = False

    @classmethod
    def _settings_of(
        cls, inspector: PartialDependence, X: Any, **settings: Any
    ) -> dict[str, Any]:
        return {"centered": inspector.centered}

    @property
    def _band_text(self) -> str:
        of_level = self.shape_standard_errors is None and not self.centered
        return f"this model's {'level' if of_level else 'shape'}, {ERROR_BAND}"

    def _quantity_name(self) -> str:
        return "Centred partial dependence" if self.centered else "Partial dependence"

    def _entry_effect(self, entry: int) -> Effect:
        average, errors = self.average[entry], self.shape_standard_errors
        if errors is None or errors[entry] is None:
            errors = self.standard_errors
        effect_kwargs = self._entry_band(entry, average, errors, self.fold_averages)
        if self.missing_average is not None and self.missing_average[entry] is not None:
            effect_kwargs["missing"] = np.atleast_1d(self.missing_average[entry])
        return self._make_effect(
            entry, self.grid_values[entry], average, **effect_kwargs
        )
