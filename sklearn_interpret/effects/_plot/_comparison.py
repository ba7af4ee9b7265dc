"""Display of several effects of one feature on one axes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from sklearn_interpret._model.rows.base import label_key
from sklearn_interpret._model.rows.tables import with_outputs
from sklearn_interpret._plotting.colours import colours
from sklearn_interpret._plotting.displays import Display, FoldsMixin, ModelsMixin
from sklearn_interpret._plotting.panels.displays import (
    PanelDisplay,
    effect_columns,
    fold_band,
)
from sklearn_interpret._plotting.panels.entries import find_entries
from sklearn_interpret._plotting.panels.lines import (
    Effect,
    LinePanel,
    PlotOptions,
    level_places,
)
from sklearn_interpret._plotting.sources import (
    Taker,
    fold_estimators,
    inspectors_of_folds,
    is_inspector,
    keyword_names,
    parameter_names,
    split_keywords,
    splits_of,
)
from sklearn_interpret.base import BaseInspector
from sklearn_interpret.effects._plot._accumulated_local_effects import (
    AccumulatedLocalEffectsDisplay,
    on_common_edges,
)
from sklearn_interpret.effects._plot._conditional_dependence import (
    ConditionalDependenceDisplay,
)
from sklearn_interpret.effects._plot._effect import EffectDisplay, check_outputs
from sklearn_interpret.effects._plot._partial_dependence import PartialDependenceDisplay

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from sklearn.base import BaseEstimator

    from sklearn_interpret._core.statistics.refits import Splits
    from sklearn_interpret._plotting.displays import LabelNames
    from sklearn_interpret._plotting.sources import Data
    from sklearn_interpret.effects._base import BaseEffect

# Displays of the methods that can be compared, and names of the methods in legends.
COMPARED: dict[str, type[EffectDisplay]] = {
    "partial_dependence": PartialDependenceDisplay,
    "conditional_dependence": ConditionalDependenceDisplay,
    "accumulated_local_effects": AccumulatedLocalEffectsDisplay,
}
TEXTS = {
    "partial_dependence": "partial dependence",
    "conditional_dependence": "M-plot (conditional mean)",
    "accumulated_local_effects": "accumulated local effects",
}


@dataclass(eq=False, repr=False)
class EffectComparisonDisplay(ModelsMixin, FoldsMixin, Display, PanelDisplay):
    """Several effects of one feature, all centred at zero over the rows.

    They are the effects of one model by several methods, or of several models by one
    method (`from_estimators`).

    With dependent features the three differ: partial dependence averages over rows that
    the data does not have, the conditional mean (M-plot) includes the effects of
    correlated features, and accumulated local effects do neither.

    `from_estimator` and `from_cv_results` take predictors; `from_estimator` also takes
    a list of fitted inspectors, which are drawn as they are.

    Parameters
    ----------
    points : list of ndarray of shape (G,)
        For each line, the values or levels at which the effect is known.
    effects : list of ndarray of shape (G,)
        For each line, the effect; with several outputs these lead, as in (k, G).
    methods : list of str
        Name of the method of each line.
    feature_name : str
        The feature.
    output_names : list, default=None
        Names of the outputs; None where there is one that needs no name.
    response_name : str, default="response"
        Name of the response, for labels.
    fold_effects : list of ndarray of shape (n_folds, ...), default=None
        The effects of several models, of which `effects` are the means. Bands
        are then intervals of 95 % for the learner's curves, of models on other data.
    categorical : bool, default=None
        Whether the feature is a category; None takes it so if its values are not
        numbers.
    data : ndarray of shape (n,), default=None
        The feature's values in the data, to be marked on the axes.
    by_similarity : bool, default=False
        Whether the levels are ordered by similarity, as the label then says.
        All methods share one order: that of accumulated local effects, if they are
        shown, since these accumulate along it.
    models : list of str, default=None
        Name of the model of each line, where models are compared by one method.

    Attributes
    ----------
    figure_ : matplotlib Figure
        The figure drawn on.
    axes_ : ndarray of matplotlib Axes of shape (n_rows, n_columns)
        The axes, None where there is no panel.
    lines_ : list of list of Line2D
        For each panel (output), one line per method or model.
    bands_ : list of list of artist
        For each panel, one band (or set of error bars) per method.
    fold_lines_ : list of list of list of Line2D
        For each panel and method, one line per fold.
    rug_ : list of LineCollection or None
        The marks of the data at the bottom of each panel.
    legend_ : matplotlib Legend
        The legend.

    References
    ----------
    Apley, D. W. & Zhu, J. (2020). Visualizing the effects of predictor variables in
    black box supervised learning models. Journal of the Royal Statistical Society B
    82(4). https://doi.org/10.1111/rssb.12377

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.ensemble import RandomForestRegressor
    >>> from sklearn_interpret.effects import EffectComparisonDisplay
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = RandomForestRegressor(20, random_state=0).fit(X, y)
    >>> display = EffectComparisonDisplay.from_estimator(model, X, feature="s1")
    >>> len(display.lines_[0])
    3
    """

    _choices = frozenset({"feature", "methods", "centered"})
    _options = {"order": ("levels", "effect")}
    _leading = ("feature",)

    points: list[Any]
    effects: list[Any]
    _: KW_ONLY
    methods: list[str]
    feature_name: str
    output_names: list[Any] | None = None
    response_name: str = "response"
    fold_effects: list[Any] | None = None
    categorical: bool | None = None
    data: Any = None
    by_similarity: bool = False
    models: list[str] | None = None

    @classmethod
    def _takers(cls, method: str) -> list[Taker]:
        kinds = [display._kinds[0] for display in COMPARED.values()]
        takers = [Taker(parameter_names(kind) - {"features"}, kind) for kind in kinds]
        takers.append(Taker(keyword_names(cls.plot), cls.plot))
        if method == "from_estimators":
            choices = Taker(cls._choices - {"methods"}, cls._from_inspector)
            return [choices, Taker({"effect"}, cls._plot_models), *takers]
        return [Taker(cls._choices, cls._from_inspector), *takers]

    @classmethod
    def _plot_estimator(
        cls,
        estimator: Any,
        data: Data,
        params: dict[str, Any],
        names: LabelNames,
        ax: Axes,
    ) -> Self:
        if isinstance(estimator, BaseInspector):
            raise TypeError(
                f"{cls.__name__} compares several effects: pass the predictor, or a "
                f"list of fitted inspectors; got {type(estimator).__name__}."
            )
        if not isinstance(estimator, list | tuple):
            return cls._draw_comparison([[estimator]], data, params, names, ax)
        methods = [method_of(inspector, cls.__name__) for inspector in estimator]
        params = {**params, "methods": methods}
        return cls._draw_comparison([estimator], data, params, names, ax)

    @classmethod
    def _plot_folds(
        cls,
        cv_results: Mapping[str, Any],
        data: Data,
        params: dict[str, Any],
        names: LabelNames,
        ax: Axes,
        **settings: Any,
    ) -> Self:
        folds = [[estimator] for estimator in fold_estimators(cv_results)]
        splits = splits_of(cv_results)
        return cls._draw_comparison(
            folds, data, params, names, ax, again=True, splits=splits
        )

    @classmethod
    def _plot_models(
        cls,
        models: dict[str, BaseEstimator],
        data: Data,
        names: LabelNames,
        ax: Axes,
        *,
        effect: str = "partial_dependence",
        **params: Any,
    ) -> Self:
        """The display of one effect of the models, drawn.

        effect : {"partial_dependence", "conditional_dependence", \
"accumulated_local_effects"}, default="partial_dependence"
            The effect to draw, of each model.
        """
        if effect not in COMPARED:
            raise ValueError(f"effect={effect!r} must be one of {', '.join(COMPARED)}.")
        folds = [[model] for model in models.values()]
        params["methods"] = effect
        return cls._draw_comparison(folds, data, params, names, ax, models=list(models))

    @classmethod
    def _draw_comparison(
        cls,
        folds: Sequence[Sequence[Any]],
        data: Data,
        params: dict[str, Any],
        names: LabelNames,
        ax: Axes,
        *,
        again: bool = False,
        models: list[str] | None = None,
        splits: Splits | None = None,
    ) -> Self:
        """Draw the display of each fold's predictor, of inspectors or of models."""
        if params.get("centered", True) is None:
            params = {name: params[name] for name in params.keys() - {"centered"}}
        methods = check_methods(params.get("methods", COMPARED))
        kinds = [COMPARED[method]._kinds[0] for method in methods]
        takers = [cls._choices, keyword_names(cls.plot), *map(parameter_names, kinds)]
        choices, plot_kwargs, *parameters = split_keywords(params, takers)
        feature = choices.get("feature")
        if not isinstance(feature, str | Integral):
            raise TypeError(
                f"feature={feature!r} must be one feature: an int or a str."
            )
        inspectors = {}
        for position, (method, method_params) in enumerate(
            zip(methods, parameters, strict=True)
        ):
            # A fold has one predictor for all methods, or an inspector for each.
            estimators = [fold[position % len(fold)] for fold in folds]
            method_data = data
            if is_inspector(estimators[0]) and not again:
                # Weights only define the mean that becomes zero.
                method_data = data._replace(sample_weight=None)
            else:
                method_params = {**method_params, "features": [feature]}
            inspectors[method] = inspectors_of_folds(
                estimators,
                method_data,
                method_params,
                kinds=COMPARED[method]._kinds,
                display=cls.__name__,
                again=again,
            )
            check_outputs(inspectors[method])
        inspectors_of_lines = list(inspectors.values())
        if models is not None:  # they were passed as folds, of one method
            methods = methods * len(models)
            inspectors_of_lines = [[inspector] for inspector in inspectors_of_lines[0]]
        make = cls._from_folds if again else cls._from_inspector
        choices |= {"methods": methods}
        display = make(inspectors_of_lines, data, models=models, **choices)
        display._splits = splits
        display._name_response(*names, inspectors_of_lines[0])
        return display.plot(ax=ax, **plot_kwargs)

    @classmethod
    def _from_folds(
        cls, inspectors: Sequence[Sequence[Any]], data: Data, **choices: Any
    ) -> Self:
        return cls._from_inspector(inspectors, data, folds=True, **choices)

    @classmethod
    def _from_inspector(
        cls,
        inspectors: Sequence[Sequence[Any]],
        data: Data,
        *,
        feature: int | str | None = None,
        methods: Sequence[str] = tuple(COMPARED),
        centered: bool | None = None,
        models: list[str] | None = None,
        folds: bool = False,
    ) -> Self:
        """The display of the inspectors of each method or model, one per fold.

        feature : int or str, default=None
            The feature (or feature group), which must be given.
        methods : sequence of str, default=("partial_dependence", \
"conditional_dependence", "accumulated_local_effects")
            Effects to draw, of those three; inspectors are drawn as they are.
        centered : bool, default=None
            Whether effects are centred; None leaves that to each method.
        """
        points, fold_effects, by_similarity = [], [], False
        for method, fold_inspectors in zip(methods, inspectors, strict=True):
            curves = []
            if method == "accumulated_local_effects":
                fold_inspectors = on_common_edges(fold_inspectors)
            for inspector in fold_inspectors:
                (entry,) = find_entries(inspector, feature)
                display = COMPARED[method]._from_inspector(
                    inspector, data, features=feature
                )
                effect, mean = (
                    display._entry_effect(0),
                    mean_at_rows(inspector, entry, data),
                )
                curves.append(effect.values - mean[:, None])
                by_similarity |= inspector.axes_[entry][0].by_similarity
            points.append(effect.places[0])
            fold_effects.append(np.stack(curves))
        return cls(
            points,
            [curves.mean(axis=0) for curves in fold_effects],
            methods=list(methods),
            models=models,
            feature_name=display.feature_names[0],
            output_names=display.output_names,
            response_name=display.response_name,
            fold_effects=fold_effects if folds else None,
            categorical=effect.levelled[0],
            data=effect.data and effect.data[0],
            by_similarity=by_similarity,
        )

    def plot(
        self,
        ax: Any = None,
        *,
        n_cols: int = 3,
        order: str = "levels",
        share_y: bool = True,
        rug: bool = True,
        band: bool = True,
        line_kw: dict[str, Any] | None = None,
        band_kw: dict[str, Any] | None = None,
        fold_kw: dict[str, Any] | None = None,
        rug_kw: dict[str, Any] | None = None,
    ) -> Self:
        """Draw all methods, or models, on one panel; one panel per output.

        Parameters
        ----------
        ax : matplotlib Axes or array of Axes, default=None
            None makes a figure. A single axes is drawn on as it is where there is one
            panel, and divided into a grid where there are several. An array has one
            axes per panel.
        n_cols : int, default=3
            Largest number of panels in a row, of a grid made here.
        order : {"levels", "effect"}, default="levels"
            Order of levels: as they were inspected, or from the largest effect of the
            first method down.
        share_y : bool, default=True
            Give the panels the same range of values.
        rug : bool, default=True
            Mark the data at the bottom.
        band : bool, default=True
            Draw the bands over folds, where there are any.
        line_kw : dict, default=None
            Style of lines and of the points of categories.
        band_kw : dict, default=None
            Style of the bands.
        fold_kw : dict, default=None
            Style of the folds' thin lines.
        rug_kw : dict, default=None
            Style of the marks at the bottom.

        Returns
        -------
        self : object
            The display.
        """
        options = PlotOptions.of_arguments(locals())
        effects = self._line_effects()
        panels = [
            self._output_panel(effects, output, order)
            for output in range(len(effects[0].values))
        ]
        self._render_panels(panels, ax, options, n_cols=n_cols, share_y=share_y)
        return self

    def _line_effects(self) -> list[Effect]:
        """One `Effect` per line."""
        effects = []
        for position, values in enumerate(self.effects):
            points = np.asarray(self.points[position])
            bands: dict[str, Any] = {}
            levelled = self.categorical
            if levelled is None:
                levelled = points.dtype.kind not in "iufmM"
            if self.fold_effects is not None:
                bands = fold_band(self.fold_effects[position], 1, self._splits)
            values = with_outputs(values, 1)
            effect = Effect(
                (self.feature_name,), (points,), (levelled,), values, **bands
            )
            effects.append(effect)
        return effects

    def _output_panel(
        self, effects: list[Effect], output: int, order: str
    ) -> LinePanel:
        """All lines on one output."""
        levels, by_similarity = self._merge_levels(effects), self.by_similarity
        levels_by_effect, _ = effects[0].levels_in(order)
        if order == "effect" and levels is not None and levels_by_effect is not None:
            # NaN, sorted last, for levels that the first effect lacks.
            places = level_places(levels, levels_by_effect)
            levels = [
                levels[position] for position in np.argsort(places, kind="stable")
            ]
            by_similarity = False
        outputs = self._named_outputs(len(effects[0].values))
        several_outputs = len(outputs) > 1
        names = [TEXTS.get(method, method) for method in self.methods]
        quantity, palette = "Centred effect", _method_colours(self.methods)
        if self.models is not None:
            quantity, palette = f"Centred {names[0]}", colours(len(names))
            names = self.models
        series = [
            effect.series(output, name, colour, levels=levels)
            for effect, name, colour in zip(effects, names, palette, strict=True)
        ]
        return LinePanel(
            self.feature_name,
            series,
            self._response_label(self.output_names, None if several_outputs else 0),
            quantity,
            levels=levels,
            data=self.data,
            title=outputs[output] if several_outputs else None,
            zero=True,
            by_similarity=by_similarity,
        )

    def _merge_levels(self, effects: list[Effect]) -> list[Any] | None:
        """Levels of all lines in one order, or None for a feature without levels."""
        if effects[0].levels is None:
            return None
        # Accumulated local effects are first: their levels may be ordered by
        # similarity.
        is_later = [method != "accumulated_local_effects" for method in self.methods]
        levels: dict[Any, Any] = {}
        for position in np.argsort(is_later, kind="stable"):
            effect = effects[position]
            for level in effect.places[0]:
                levels.setdefault(label_key(level), level)
        return list(levels.values())

    def to_frame(self) -> Any:
        """Numbers drawn, as a long DataFrame.

        Returns
        -------
        pandas.DataFrame
            One line per point, with the columns "method", "feature", "output", "x"
            and "value"; "model" where there are several; "low", "high" and "fold"
            where there are folds ("fold" is missing for their mean).
        """
        blocks = []
        for position, effect in enumerate(self._line_effects()):
            line: dict[str, Any] = {"method": self.methods[position]}
            if self.models is not None:
                line["model"] = self.models[position]
            outputs = self._named_outputs(len(effect.values))
            blocks += effect_columns(effect, outputs, **line)
        return self._long_frame(blocks)


def _method_colours(methods: list[str]) -> list[str]:
    """Colours of the methods; those of `COMPARED` have the same in all figures."""
    unlisted = [method for method in methods if method not in COMPARED]
    all_methods = [*COMPARED, *unlisted]
    colour_of = dict(zip(all_methods, colours(len(all_methods)), strict=True))
    return [colour_of[method] for method in methods]


def check_methods(methods: str | Iterable[str]) -> list[str]:
    """The names as a list.

    Raises
    ------
    ValueError
        An unknown name, a name twice, or none.
    """
    names = [methods] if isinstance(methods, str) else list(methods)
    if not names or len(set(names)) < len(names) or set(names) - set(COMPARED):
        raise ValueError(
            f"methods={names!r} must be distinct names out of {', '.join(COMPARED)}."
        )
    return names


def method_of(inspector: Any, display: str) -> str:
    """Name of the method that an inspector applies."""
    kinds = {name: display._kinds[0] for name, display in COMPARED.items()}
    for name, kind in kinds.items():
        if isinstance(inspector, kind):
            return name
    class_names = ", ".join(kind.__name__ for kind in kinds.values())
    raise TypeError(
        f"{display} takes a fitted predictor, or a list of fitted inspectors out of "
        f"{class_names}; the list has {type(inspector).__name__}."
    )


def mean_at_rows(inspector: BaseEffect, entry: int, data: Data) -> NDArray[np.float64]:
    """Weighted means (k,) over the rows of the effect of an entry."""
    one_way = [len(axes) == 1 for axes in inspector.axes_]
    n_outputs = len(inspector.output_names_)
    first_column = n_outputs * sum(one_way[:entry])
    # `set_output` may have chosen a frame.
    at_rows = np.asarray(inspector.transform(data.X), dtype=np.float64)
    at_rows = at_rows[:, first_column : first_column + n_outputs]
    weights = data.sample_weight
    weights = np.ones(len(at_rows)) if weights is None else weights
    is_finite = np.isfinite(at_rows).all(axis=1)
    weights = np.asarray(weights)[is_finite]
    if not np.any(weights > 0):
        return np.zeros(n_outputs)
    return np.average(at_rows[is_finite], axis=0, weights=weights)
