"""Display of conditional dependence, the M-plot."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any

from sklearn_interpret._plotting.panels.effects import EffectDisplay
from sklearn_interpret.effects._conditional_dependence import ConditionalDependence

if TYPE_CHECKING:
    from sklearn_interpret._plotting.panels.lines import Effect


@dataclass(eq=False, repr=False)
class ConditionalDependenceDisplay(EffectDisplay):
    """Mean responses over intervals of features (M-plot).

    Build it with `from_estimator` or `from_cv_results`, or from arrays of your own.

    Parameters
    ----------
    edges : list
        For each entry, the edges of shape (K + 1,), or the levels; a pair of those
        for pairs.
    centers : list
        For each entry, where the interval's mean is drawn, of shape (K,), or the
        levels; a pair of those for pairs.
    average : list of ndarray of shape (K,) or (K1, K2)
        Mean response in each interval; with several outputs these lead.
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
        Standard errors, of the shapes of `average`. Bands reach two of them to each
        side.
    fold_averages : list of ndarray of shape (n_folds, ...), default=None
        The averages of several models, of which `average` is the mean. Bands
        are then intervals of 95 % for the learner's curve, of models on other data.

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
    rug_ : list of LineCollection or None
        The marks of the data at the bottom of each panel.
    contours_ : list of QuadContourSet or None
        None throughout: the means belong to cells.
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
    sklearn_interpret.effects.ConditionalDependence : The numbers.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import LinearRegression
    >>> from sklearn_interpret.effects import ConditionalDependenceDisplay
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = LinearRegression().fit(X, y)
    >>> display = ConditionalDependenceDisplay.from_estimator(
    ...     model, X, features=["bmi"], n_intervals=10
    ... )
    >>> len(display.lines_[0][0].get_xdata())
    10
    """

    _kinds = (ConditionalDependence,)
    _first_fold_names = ("edges", "centers", "standard_errors")
    _mean_names, _fold_name = ("average",), "fold_averages"
    _quantity = "Conditional mean"

    edges: list[Any]
    centers: list[Any]
    average: list[Any]
    _: KW_ONLY
    standard_errors: list[Any] | None = None
    fold_averages: list[Any] | None = None

    def _entry_effect(self, entry: int) -> Effect:
        average = self.average[entry]
        effect_kwargs = self._entry_band(
            entry, average, self.standard_errors, self.fold_averages
        )
        if not isinstance(self.feature_names[entry], str):
            effect_kwargs["bounds"] = self.edges[entry]
        return self._make_effect(entry, self.centers[entry], average, **effect_kwargs)
