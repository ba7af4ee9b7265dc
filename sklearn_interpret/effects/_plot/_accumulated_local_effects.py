"""Display of accumulated local effects."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from sklearn_interpret._core.statistics.grids import interpolate
from sklearn_interpret._model.responses.response import drop_single_output
from sklearn_interpret._model.rows.dates import days
from sklearn_interpret._model.rows.tables import with_outputs
from sklearn_interpret._plotting.panels.effects import EffectDisplay
from sklearn_interpret.effects._accumulated_local_effects import AccumulatedLocalEffects

if TYPE_CHECKING:
    from sklearn_interpret._plotting.panels.lines import Effect
    from sklearn_interpret._plotting.sources import Data


@dataclass(eq=False, repr=False)
class AccumulatedLocalEffectsDisplay(EffectDisplay):
    """Accumulated local effects (ALE) of features and pairs.

    Build it with `from_estimator` or `from_cv_results`, or from arrays of your own.
    The effects are centred at zero by default, which a thin line marks; those of pairs
    are free of both main effects, and their colours diverge from zero.

    Parameters
    ----------
    edges : list
        For each entry, the edges of shape (K + 1,), or the levels in order; a pair of
        those for pairs.
    effects : list of ndarray of shape (K + 1,), (levels,) or (K1 + 1, K2 + 1)
        The effects at the edges or levels; with several outputs these lead.
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
        Ranks the entries for `max_entries`; None takes the spread of the effects.
    by_similarity : list of bool or pair of bool, default=None
        Which axes have levels ordered by similarity, as their labels then say.
    standard_errors : list of ndarray or None, default=None
        Standard errors of `effects`, drawn as bands where there are no ends of bands.
    intervals_low, intervals_high : list of ndarray or None, default=None
        Ends of the confidence bands, of the shapes of `effects`.
    confidence_level : float, default=None
        Level of those bands, for the legend.
    interval_counts : list of ndarray, default=None
        Of pairs, the total weight of the rows in each cell: between edges, or at
        levels. Cells without rows are hatched, and the colours leave them out.
    fold_effects : list of ndarray of shape (n_folds, ...), default=None
        The effects of several models, of which `effects` is the mean. Bands
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
    sklearn_interpret.effects.AccumulatedLocalEffects : The numbers.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.ensemble import RandomForestRegressor
    >>> from sklearn_interpret.effects import AccumulatedLocalEffectsDisplay
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = RandomForestRegressor(20, random_state=0).fit(X, y)
    >>> display = AccumulatedLocalEffectsDisplay.from_estimator(
    ...     model, X, features=["bmi", ("bmi", "bp")], confidence_level=0.95
    ... )
    >>> len(display.bands_[0]), display.contours_[1] is None
    (1, False)
    """

    _kinds = (AccumulatedLocalEffects,)
    _first_fold_names = ("edges", "by_similarity", "interval_counts", "standard_errors")
    _fold_name = "fold_effects"
    _mean_names = ("effects",)
    _names_missing_in_folds = ("intervals_low", "intervals_high")
    _quantity = "Accumulated local effect, mean 0"
    _pair_quantity = "Interaction alone, second-order ALE"
    _zero = True

    edges: list[Any]
    effects: list[Any]
    _: KW_ONLY
    by_similarity: list[Any] | None = None
    standard_errors: list[Any] | None = None
    intervals_low: list[Any] | None = None
    intervals_high: list[Any] | None = None
    confidence_level: float | None = None
    interval_counts: list[Any] | None = None
    fold_effects: list[Any] | None = None

    @property
    def _band_text(self) -> str:
        if self.confidence_level is None:
            if self.intervals_low is None:
                return super()._band_text
            return "this model's curve, confidence band"
        return f"this model's curve, {100 * self.confidence_level:g} %"

    @classmethod
    def _from_folds(
        cls, inspectors: Sequence[AccumulatedLocalEffects], data: Data, **choices: Any
    ) -> Self:
        return super()._from_folds(on_common_edges(inspectors), data, **choices)

    @classmethod
    def _settings_of(
        cls, inspector: AccumulatedLocalEffects, X: Any, **settings: Any
    ) -> dict[str, Any]:
        return {"confidence_level": inspector.confidence_level}

    def _entry_effect(self, entry: int) -> Effect:
        errors, effects = self.standard_errors, self.effects[entry]
        n_axes = self._n_axes(entry)
        effect_kwargs: dict[str, Any] = self._entry_band(
            entry, effects, errors, self.fold_effects
        )
        intervals = {"low": self.intervals_low, "high": self.intervals_high}
        for name, ends in intervals.items():
            if self.fold_effects is not None or ends is None or ends[entry] is None:
                continue
            effect_kwargs[name] = with_outputs(ends[entry], n_axes)
        if self.interval_counts is not None and n_axes == 2:
            effect_kwargs["counts"] = np.asarray(self.interval_counts[entry])
        if self.by_similarity is not None:
            effect_kwargs["by_similarity"] = tuple(
                np.atleast_1d(self.by_similarity[entry])
            )
        return self._make_effect(entry, self.edges[entry], effects, **effect_kwargs)


def on_common_edges(
    inspectors: Sequence[AccumulatedLocalEffects],
) -> Sequence[AccumulatedLocalEffects]:
    """Copies of inspectors, with effects interpolated at the edges of all of them."""
    if inspectors[0].n_intervals != "auto":
        return inspectors
    inspectors = list(map(copy, inspectors))
    curves = ("effects_", "standard_errors_")
    for inspector in inspectors:
        for name in ("edges_", *curves):
            setattr(inspector, name, [*getattr(inspector, name)])
    for entry, axes in enumerate(inspectors[0].axes_):
        if len(axes) > 1 or axes[0].categorical:
            continue
        all_edges = np.unique(
            np.concatenate([inspector.edges_[entry] for inspector in inspectors])
        )
        for inspector in inspectors:
            edges = inspector.edges_[entry]
            for name in curves:
                by_entry = getattr(inspector, name)  # a list of the copy
                values = np.atleast_2d(by_entry[entry])
                interpolated = interpolate(days(all_edges), days(edges), values)
                by_entry[entry] = drop_single_output(interpolated.T)
            inspector.edges_[entry] = all_edges
    return inspectors
