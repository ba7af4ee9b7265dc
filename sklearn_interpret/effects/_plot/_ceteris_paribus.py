"""Display of ceteris paribus profiles."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from sklearn_interpret._model.rows.base import is_missing
from sklearn_interpret._plotting.displays import ModelsMixin
from sklearn_interpret._plotting.panels.displays import (
    EntryDisplay,
    effect_columns,
    fold_band,
)
from sklearn_interpret._plotting.panels.lines import Looks, level_places
from sklearn_interpret._plotting.sources import (
    fold_estimators,
    inspectors_of_folds,
    is_inspector,
    refuse_other_inspectors,
)
from sklearn_interpret.effects._ceteris_paribus import GridInspector, with_profiles
from sklearn_interpret.effects._individual_conditional_expectation import (
    IndividualConditionalExpectation,
)
from sklearn_interpret.effects._plot._effect import (
    EffectDisplay,
    check_outputs,
    chosen_entries,
)


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
    profiles : list of ndarray of shape (G,) or (k, G)
        For each feature, the predictions of the row there; with several models these
        lead, as in (m, G) or (m, k, G).
    row_values : list
        For each feature, the row's own value.
    prediction : float or ndarray of shape (k,), (m,) or (m, k)
        The row's own prediction.
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
    row : int, default=0
        Position of the row in the data.
    models : list of str, default=None
        Names of the models, where there are several.
    fold_profiles : list of ndarray of shape (n_folds, ...), default=None
        The profiles of several models, of which `profiles` are the means. Bands then
        reach one standard deviation over folds to each side.

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

    _kinds = (IndividualConditionalExpectation,)
    _choices = EffectDisplay._choices | {"row"}
    _what = "Ceteris paribus"
    _parts = (*EntryDisplay._parts, "marks", "missing")

    grid_values: list[Any]
    profiles: list[Any]
    _: KW_ONLY
    row_values: list[Any]
    prediction: ArrayLike
    row: int = 0
    models: list[str] | None = None
    fold_profiles: list[Any] | None = None

    @classmethod
    def _parameter_names(cls):
        curves_of_all = {"center", "derivative", "subsample", "random_state"}
        return super()._parameter_names() - curves_of_all

    @classmethod
    def _of_estimator(cls, estimator, data, params, names, ax):
        return cls._drawn([estimator], data, params, names, ax)

    @classmethod
    def _of_folds(cls, cv_results, data, params, names, ax):
        estimators = fold_estimators(cv_results)
        return cls._drawn(estimators, data, params, names, ax, again=True)

    @classmethod
    def _of_models(cls, models, data, names, ax, **params):
        parts = list(models.values()), data, params, names, ax
        return cls._drawn(*parts, models=list(models))

    @classmethod
    def _drawn(cls, estimators, data, params, names, ax, *, again=False, models=None):
        """The display of one model, of those of folds, or of named ones, drawn."""
        for estimator in estimators:
            refuse_other_inspectors(estimator, cls._kinds, cls.__name__)
        fitted = is_inspector(estimators[0])
        parameters, choices, looks = cls._split(params, fitted and not again)
        inspectors = inspectors_of_folds(
            estimators,
            cls._data(data, fitted),
            parameters,
            kinds=(GridInspector, *cls._kinds),
            display=cls.__name__,
            again=again,
        )
        display = cls._from_folds(inspectors, data, models=models, **choices)
        display._call(inspectors, *names)
        return display.plot(ax=ax, **looks)

    @classmethod
    def _from_folds(cls, inspectors, data, *, row=0, features=None, models=None):
        own = [
            with_profiles(one, data.X, row, chosen_entries(one, features))
            for one in inspectors
        ]
        check_outputs(own)
        first, predictions = own[0], np.stack([one.prediction_ for one in own])
        stacks = list(map(np.stack, zip(*(one.profiles_ for one in own), strict=True)))
        arrays = {"grid_values": [axis.values for (axis,) in first.axes_]}
        if models is not None:
            arrays["profiles"] = stacks
        else:
            arrays["profiles"] = [stack.mean(axis=0) for stack in stacks]
            arrays["fold_profiles"] = stacks if len(own) > 1 else None
            predictions = predictions.mean(axis=0)
        settings = {"row": row, "models": models, "prediction": predictions}
        settings["row_values"] = first.row_values_
        return cls._made(own, arrays, data, range(len(stacks)), settings)

    @classmethod
    def _settings_of(cls, inspector, X, **settings):
        return settings

    @property
    def _predictions(self):
        """The row's predictions (m, k), by model and output."""
        n_models = 1 if self.models is None else len(self.models)
        return np.reshape(self.prediction, (n_models, -1)).astype(np.float64)

    def _effect(self, entry):
        """One feature; of several models their mean, with the models as folds."""
        profiles, parts = self.profiles[entry], {}
        if self.models is not None:
            parts["folds"] = fold_band(profiles, n_axes=1)["folds"]
            profiles = parts["folds"].mean(axis=0)
        elif self.fold_profiles is not None:
            parts = fold_band(self.fold_profiles[entry], n_axes=1)
        effect = self._entry(entry, self.grid_values[entry], profiles, **parts)
        if is_missing(self.row_values[entry]) and effect.levels is None:
            return replace(effect, missing=self._predictions.mean(axis=0))
        return effect

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
        mark_kw: dict[str, Any] | None = None,
        band_kw: dict[str, Any] | None = None,
        fold_kw: dict[str, Any] | None = None,
        rug_kw: dict[str, Any] | None = None,
    ) -> Self:
        """Draw one panel per feature; of several models one per feature and output.

        Of more than 7 outputs, those that vary most are drawn.

        Parameters
        ----------
        ax : matplotlib Axes or array of Axes, default=None
            None makes a figure. A single axes is drawn on as it is where there is one
            panel, and divided into a grid where there are several. An array has one
            axes per panel.
        n_cols : int, default=3
            Largest number of panels in a row, of a grid made here.
        max_entries : int, default=20
            Largest number of features, those whose profiles vary most. None shows all;
            the figure grows with them.
        order : {"levels", "effect"}, default="levels"
            Order of the levels: as they were inspected, or from the largest prediction
            down.
        share_y : bool, default=True
            Give the panels the same range of values.
        rug : bool, default=True
            Mark the data at the bottom: ticks (quantiles where there are many), or bars
            for the share of each level.
        band : bool, default=True
            Draw the bands over folds, where there are any.
        line_kw : dict, default=None
            Style of lines and of the points of categories.
        mark_kw : dict, default=None
            Style of the row's own points.
        band_kw : dict, default=None
            Style of the bands.
        fold_kw : dict, default=None
            Style of the folds' thin lines.
        rug_kw : dict, default=None
            Style of the ticks and bars at the bottom.

        Returns
        -------
        self : object
            The display.
        """
        looks = Looks.of(locals())
        return self._draw(ax, looks, n_cols, max_entries, share_y)

    def _panels(self, effect, entry, looks):
        predictions = self._predictions
        if self.models is None:
            panel = self._line_panel(effect, looks.outputs, looks)
            marked = self._marked(panel, entry, predictions[0, looks.outputs])
            return [(marked, None)]
        names, panels = self._named_outputs(len(effect.values)), []
        for output in looks.outputs:
            lines = replace(effect, values=effect.folds[:, output], missing=None)
            lines = replace(lines, folds=None)
            panel = self._line_panel(lines, range(len(self.models)), looks, self.models)
            if len(names) > 1:
                panel = replace(panel, title=names[output])
            else:
                panel = replace(panel, of=self._of(0))
            panels.append((self._marked(panel, entry, predictions[:, output]), None))
        return panels

    def _marked(self, panel, entry, predictions):
        """The panel with the row's own value on each line."""
        value = self.row_values[entry]
        if panel.levels is not None:
            (value,) = level_places([value], panel.levels)
        elif is_missing(value):
            return replace(panel, missing=predictions)
        return replace(panel, mark=(f"row {self.row}", value, predictions))

    def _frame_blocks(self, entry):
        if self.models is None:
            return super()._frame_blocks(entry)
        effect, blocks = self._effect(entry), []
        outputs = self._named_outputs(len(effect.values))
        for place, model in enumerate(self.models):
            parts = {"values": effect.folds[place], "folds": None}
            if effect.missing is not None:
                parts["missing"] = self._predictions[place]
            blocks += effect_columns(replace(effect, **parts), outputs, model=model)
        return blocks
