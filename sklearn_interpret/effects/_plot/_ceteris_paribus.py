"""Display of ceteris paribus profiles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_interpret._model.rows.arrays import as_rows
from sklearn_interpret._model.rows.base import is_missing
from sklearn_interpret._model.rows.dates import days
from sklearn_interpret._plotting.displays import ModelsMixin
from sklearn_interpret._plotting.labels import row_text
from sklearn_interpret._plotting.panels.displays import effect_columns, fold_band
from sklearn_interpret._plotting.panels.entries import find_entries
from sklearn_interpret._plotting.panels.lines import Mark, level_places
from sklearn_interpret.effects._individual_conditional_expectation import (
    GridInspector,
    IndividualConditionalExpectation,
    inspect_row,
)
from sklearn_interpret.effects._plot._effect import EffectDisplay, check_outputs
from sklearn_interpret.explanations._selection import names_of_rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from sklearn.base import BaseEstimator

    from sklearn_interpret._plotting.displays import LabelNames
    from sklearn_interpret._plotting.panels.lines import (
        Effect,
        LinePanel,
        Panel,
        PlotOptions,
    )
    from sklearn_interpret._plotting.sources import Data


@dataclass(eq=False, repr=False)
class CeterisParibusDisplay(ModelsMixin, EffectDisplay):
    """Predictions of one row as its features vary one by one (ceteris paribus).

    Also known as what-if curves: each is the curve of individual conditional
    expectation of that row. The row's own value is marked. All outputs share a panel;
    of several models each output has a panel, with a line per model.

    Build it with `from_estimator`, `from_estimators` or `from_cv_results`, or from
    arrays of your own. The data `X` determine the grids and the rug, and `row` says
    which of its rows is drawn. Only this row is predicted, at each point of the grids.

    Parameters
    ----------
    grid_values : list of ndarray of shape (G,)
        For each feature, the points along it.
    profiles : list of ndarray of shape (G,), (k, G) or (m, k, G)
        For each feature, the predictions of the row there, by output and, with several
        models, by model.
    feature_names : list of str
        Name of each feature.
    output_names : list, default=None
        Names of the outputs; None where there is one that needs no name.
    response_name : str, default="response"
        Name of the response, for labels.
    categorical : list of bool, default=None
        Which features are categories; None takes those whose values are not numbers.
    data : list of ndarray of shape (n,), default=None
        The features' values in the data, to be marked on the axes.
    importances : list of float, default=None
        Ranks the features for `max_entries`; None takes the spread of the profiles.
    row_values : list
        For each feature, the row's own value.
    prediction : ndarray of shape (k,) or (m, k)
        The row's own prediction.
    row : object, default=0
        Name of the row: its label in a pandas index, or its position in the data.
    models : list of str, default=None
        Names of the models, which get a line each. Without names, several models are
        those of folds: their mean is drawn, with a band for the learner's curve.

    Attributes
    ----------
    figure_ : matplotlib Figure
        The figure drawn on.
    axes_ : ndarray of matplotlib Axes of shape (n_rows, n_columns)
        The axes, None where there is no panel.
    lines_ : list of list of Line2D
        For each panel, one line per output or model.
    marks_ : list of list of Line2D
        For each panel, the row's own point on each line. It is missing where the row
        has no value.
    missing_ : list of list of Line2D
        For each panel, the row's prediction on each line, where its value is missing.
    bands_ : list of list of artist
        For each panel, the bands over folds.
    fold_lines_ : list of list of list of Line2D
        For each panel and line, one line per fold.
    rug_ : list of LineCollection or None
        The marks of the data at the bottom of each panel.
    legend_ : matplotlib Legend or None
        The legend.

    See Also
    --------
    sklearn_interpret.effects.IndividualConditionalExpectationDisplay : All rows.

    References
    ----------
    Biecek, P. & Burzykowski, T. (2021). Explanatory Model Analysis, chapter 10.
    Chapman and Hall/CRC. https://ema.drwhy.ai/ceterisParibus.html

    Goldstein, A., Kapelner, A., Bleich, J. & Pitkin, E. (2015). Peeking inside the
    black box. Journal of Computational and Graphical Statistics 24(1).
    https://doi.org/10.1080/10618600.2014.907095

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.ensemble import RandomForestRegressor
    >>> from sklearn.linear_model import LinearRegression
    >>> from sklearn_interpret.effects import CeterisParibusDisplay
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> models = {
    ...     "forest": RandomForestRegressor(20, random_state=0).fit(X, y),
    ...     "linear": LinearRegression().fit(X, y),
    ... }
    >>> display = CeterisParibusDisplay.from_estimators(
    ...     models, X, features=["bmi", "bp"], row=7
    ... )
    >>> [text.get_text() for text in display.legend_.get_texts()]
    ['forest', 'linear', 'row 7', 'values in the data']
    """

    _kinds, _inspects_with = (IndividualConditionalExpectation,), GridInspector
    _choices = EffectDisplay._choices | {"row"}
    _quantity = "Ceteris paribus"
    _artist_names = ("lines", "marks", "missing", "bands", "fold_lines", "rug")

    grid_values: list[Any]
    profiles: list[Any]
    _: KW_ONLY
    row_values: list[Any]
    prediction: ArrayLike
    row: Any = 0
    models: list[str] | None = None

    @classmethod
    def _parameter_names(cls) -> set[str]:
        # Parameters of the curves of all rows.
        unused = {"center", "derivative", "subsample", "random_state"}
        return super()._parameter_names() - unused

    @classmethod
    def _plot_models(
        cls,
        models: dict[str, BaseEstimator],
        data: Data,
        names: LabelNames,
        ax: Axes,
        **params: Any,
    ) -> Self:
        folds = {"estimator": list(models.values())}
        return cls._plot_folds(folds, data, params, names, ax, models=list(models))

    @classmethod
    def _from_inspector(cls, inspector: Any, data: Data, **choices: Any) -> Self:
        return cls._from_folds([inspector], data, **choices)

    @classmethod
    def _from_folds(
        cls,
        inspectors: Sequence[GridInspector],
        data: Data,
        *,
        row: int = 0,
        features: Any = None,
        **models: Any,
    ) -> Self:
        row_inspectors = [
            inspect_row(inspector, data.X, row, find_entries(inspector, features))
            for inspector in inspectors
        ]
        check_outputs(row_inspectors)
        first = row_inspectors[0]
        profiles = zip(
            *(inspector.average_ for inspector in row_inspectors), strict=True
        )
        arrays = {
            "grid_values": first.grid_values_,
            "profiles": list(map(np.stack, profiles)),
        }
        settings = {
            **models,
            "row": names_of_rows(data.X, as_rows(data.X).n_rows)[row],
            "row_values": first.row_values_,
            "prediction": np.stack(
                [inspector.prediction_ for inspector in row_inspectors]
            ),
        }
        entries = range(len(first.axes_))
        return cls._from_arrays(row_inspectors, arrays, data, entries, settings)

    def _profiles_by_model(
        self, entry: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Profiles (m, k, G) of an entry and predictions (m, k)."""
        predictions = np.atleast_2d(self.prediction)
        return np.reshape(self.profiles[entry], (*predictions.shape, -1)), predictions

    def _entry_effect(self, entry: int) -> Effect:
        """One feature, with the mean over models."""
        profiles, predictions = self._profiles_by_model(entry)
        are_folds = self.models is None and len(profiles) > 1
        band = fold_band(profiles, 1, self._splits) if are_folds else {}
        grid, mean = self.grid_values[entry], profiles.mean(axis=0)
        effect = self._make_effect(entry, grid, mean, **band)
        if is_missing(self.row_values[entry]) and effect.levels is None:
            return replace(effect, missing=predictions.mean(axis=0))
        return effect

    def _entry_panels(
        self, effect: Effect, entry: int, options: PlotOptions
    ) -> list[tuple[Panel, Panel | None]]:
        profiles, predictions = self._profiles_by_model(entry)
        if self.models is None:
            panel = self._line_panel(effect, options.outputs, options)
            mean_predictions = predictions.mean(axis=0)[options.outputs]
            return [(self._mark_row(panel, entry, mean_predictions), None)]
        names = self._named_outputs(len(effect.values))
        panels: list[tuple[Panel, Panel | None]] = []
        for output in options.outputs:
            model_lines = replace(effect, values=profiles[:, output], missing=None)
            panel_kwargs: dict[str, Any] = {"names": self.models}
            panel_kwargs["title"] = names[output] if len(names) > 1 else None
            panel = self._line_panel(
                model_lines, range(len(profiles)), options, **panel_kwargs
            )
            panels.append((self._mark_row(panel, entry, predictions[:, output]), None))
        return panels

    def _mark_row(
        self, panel: LinePanel, entry: int, predictions: NDArray[np.float64]
    ) -> LinePanel:
        """The panel with the row's own value on each line."""
        value = self.row_values[entry]
        if panel.levels is not None:
            (value,) = level_places([value], panel.levels)
        elif is_missing(value):
            return replace(panel, missing=predictions)
        return replace(panel, mark=Mark(row_text(self.row), days(value), predictions))

    def _frame_blocks(self, entry: int) -> list[dict[str, Any]]:
        if self.models is None:
            return super()._frame_blocks(entry)
        effect, blocks = self._entry_effect(entry), []
        outputs = self._named_outputs(len(effect.values))
        for model, values, predictions in zip(
            self.models, *self._profiles_by_model(entry), strict=True
        ):
            missing = None if effect.missing is None else predictions
            model_effect = replace(effect, values=values, missing=missing)
            blocks += effect_columns(model_effect, outputs, model=model)
        return blocks
