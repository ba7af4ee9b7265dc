"""Display of several effects of one feature on one axes."""

from numbers import Integral

import numpy as np

from sklearn_interpret._plotting.labels import colours
from sklearn_interpret.base import BaseInspector
from sklearn_interpret.effects._plot._base import PanelDisplay
from sklearn_interpret.effects._plot._compared import (
    COMPARED,
    centred_effect,
    checked_methods,
    method_of,
)
from sklearn_interpret.effects._plot._effect import (
    Effect,
    fold_band,
    response_of,
    with_outputs,
)
from sklearn_interpret.effects._plot._frames import effect_columns, long_frame
from sklearn_interpret.effects._plot._panels import LinePanel, Looks
from sklearn_interpret.effects._plot._sources import (
    chosen_entries,
    data_along,
    inspected,
    inspected_folds,
    output_texts,
    response_text,
    split_parameters,
)


class EffectComparisonDisplay(PanelDisplay):
    """Several effects of one feature, all centred at zero over the rows.

    With dependent features the three part: partial dependence averages over rows that
    the data does not have, the conditional mean (M-plot) mixes in the effects of the
    features that go along with this one, and accumulated local effects do neither.

    Parameters
    ----------
    points : list of ndarray of shape (G,)
        For each method, the values or levels at which its effect is known.
    effects : list of ndarray of shape (G,)
        For each method, the effect; with several outputs these lead, as in (k, G).
    methods : list of str
        Name of each method.
    feature_name : str
        The feature.
    output_names : list, default=None
        Names of the outputs; None where there is one that needs no name.
    response_name : str, default="response"
        What the values are effects on.
    fold_effects : list of ndarray of shape (n_folds, ...), default=None
        The effects of several models, of which `effects` are the means. Bands then
        reach one standard deviation over folds to each side.
    categorical : bool, default=None
        Whether the feature is a category; None takes it so if its values are not
        numbers.
    data : ndarray of shape (n,), default=None
        The feature's values in the data, to be marked on the axes.

    Attributes
    ----------
    figure_ : matplotlib Figure
        The figure drawn on.
    axes_ : ndarray of matplotlib Axes of shape (n_rows, n_columns)
        The axes, None where there is no panel.
    lines_ : list of list of Line2D
        For each panel (output), one line per method.
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

    def __init__(
        self,
        points,
        effects,
        *,
        methods,
        feature_name,
        output_names=None,
        response_name="response",
        fold_effects=None,
        categorical=None,
        data=None,
    ):
        self.points = points
        self.effects = effects
        self.methods = methods
        self.feature_name = feature_name
        self.output_names = output_names
        self.response_name = response_name
        self.fold_effects = fold_effects
        self.categorical = categorical
        self.data = data

    @classmethod
    def from_estimator(
        cls,
        estimator,
        X,
        *,
        feature,
        methods=tuple(COMPARED),
        sample_weight=None,
        ax=None,
        **params,
    ):
        """Compute several effects of a feature in a fitted predictor; draw them.

        Parameters
        ----------
        estimator : fitted predictor, or list of fitted inspectors
            A predictor is inspected on `X` as it is. Inspectors (of the classes that
            `methods` stand for) are drawn as they are, and not fitted again; `methods`
            is then not looked at.
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
            Rows to inspect on, and over which the effects are centred.
        feature : int or str
            The feature (or feature group).
        methods : sequence of {"partial_dependence", "conditional_dependence", \
"accumulated_local_effects"}
            Effects to draw.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.
        ax : matplotlib Axes or array of Axes, default=None
            As in `plot`.
        **params : dict
            Parameters of the inspectors, each given to those that have it, and of
            `plot`.

        Returns
        -------
        display : EffectComparisonDisplay
            The display, drawn.

        Raises
        ------
        NotFittedError
            The estimator is not fitted.
        TypeError
            An unknown parameter; inspectors of another kind.
        ValueError
            An unknown method; bad input.
        """
        if isinstance(estimator, BaseInspector):
            raise TypeError(
                f"{cls.__name__} compares several effects: pass the predictor, or a "
                f"list of fitted inspectors; got {type(estimator).__name__}."
            )
        _refuse_pairs(feature)
        if isinstance(estimator, list | tuple):
            return cls._of_fitted(estimator, X, feature, sample_weight, ax, params)
        methods = checked_methods(methods)
        parameters, looks = cls._split(params, methods)
        inspectors = {
            method: [
                inspected(
                    estimator,
                    X,
                    COMPARED[method].kind,
                    sample_weight=sample_weight,
                    parameters={**parameters[method], "features": [feature]},
                    display=cls.__name__,
                )
            ]
            for method in methods
        }
        display = cls._made(inspectors, X, sample_weight, feature)
        return display.plot(ax=ax, **looks)

    @classmethod
    def _of_fitted(cls, given, X, feature, sample_weight, ax, params):
        methods = checked_methods([method_of(i, cls.__name__) for i in given])
        parameters, looks = cls._split(params, methods)
        inspectors = {
            method: [
                inspected(
                    inspector,
                    X,
                    COMPARED[method].kind,
                    sample_weight=None,
                    parameters=parameters[method],
                    display=cls.__name__,
                )
            ]
            for method, inspector in zip(methods, given, strict=True)
        }
        display = cls._made(inspectors, X, sample_weight, feature)
        return display.plot(ax=ax, **looks)

    @classmethod
    def from_cv_results(
        cls,
        cv_results,
        X,
        *,
        feature,
        methods=tuple(COMPARED),
        sample_weight=None,
        ax=None,
        **params,
    ):
        """Draw several effects of a feature in the models of a cross-validation.

        Parameters
        ----------
        cv_results : dict
            Result of :func:`~sklearn.model_selection.cross_validate` with
            ``return_estimator=True``, whose estimators are predictors.
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
            Rows to inspect all models on, and over which the effects are centred.
        feature : int or str
            The feature (or feature group).
        methods : sequence of {"partial_dependence", "conditional_dependence", \
"accumulated_local_effects"}
            Effects to draw.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.
        ax : matplotlib Axes or array of Axes, default=None
            As in `plot`.
        **params : dict
            Parameters of the inspectors, each given to those that have it, and of
            `plot`.

        Returns
        -------
        display : EffectComparisonDisplay
            The display, drawn: for each method the mean over folds, a band of one
            standard deviation over folds to each side, and one thin line per fold.
        """
        _refuse_pairs(feature)
        methods = checked_methods(methods)
        parameters, looks = cls._split(params, methods)
        inspectors = {
            method: inspected_folds(
                cv_results,
                X,
                COMPARED[method].kind,
                sample_weight=sample_weight,
                parameters={**parameters[method], "features": [feature]},
                display=cls.__name__,
            )
            for method in methods
        }
        display = cls._made(inspectors, X, sample_weight, feature, folds=True)
        return display.plot(ax=ax, **looks)

    @classmethod
    def _split(cls, params, methods):
        """Parameters of each method, and looks."""
        kinds = {method: COMPARED[method].kind for method in methods}
        given, looks = split_parameters(params, kinds.values(), cls.plot, cls.__name__)
        parameters = {
            method: {n: v for n, v in given.items() if n in kind._get_param_names()}
            for method, kind in kinds.items()
        }
        return parameters, looks

    @classmethod
    def _made(cls, inspectors, X, sample_weight, feature, *, folds=False):
        points, fold_effects = [], []
        for method, parts in inspectors.items():
            compared = COMPARED[method]
            (entry,) = chosen_entries(parts[0], feature)
            points.append(getattr(parts[0], compared.points)[entry])
            curves = [
                centred_effect(
                    part, getattr(part, compared.values)[entry], entry, X, sample_weight
                )
                for part in parts
            ]
            fold_effects.append(np.stack(curves))
        first = next(iter(inspectors.values()))[0]
        (entry,) = chosen_entries(first, feature)
        return cls(
            points,
            [curves.mean(axis=0) for curves in fold_effects],
            methods=list(inspectors),
            feature_name=first.effect_names_[entry],
            output_names=output_texts(first),
            response_name=response_text(first),
            fold_effects=fold_effects if folds else None,
            categorical=first.axes_[entry][0].categorical,
            data=data_along(first, X, sample_weight)[entry],
        )

    def plot(
        self,
        ax=None,
        *,
        n_cols=3,
        share_y=True,
        rug=True,
        band=True,
        line_kw=None,
        band_kw=None,
        fold_kw=None,
        rug_kw=None,
    ):
        """Draw all methods on one panel; one panel per output.

        Parameters
        ----------
        ax : matplotlib Axes or array of Axes, default=None
            None makes a figure. A single axes is drawn on as it is where there is one
            panel, and divided into a grid where there are several. An array has one
            axes per panel.
        n_cols : int, default=3
            Largest number of panels in a row, of a grid made here.
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
        looks = Looks(
            rug=rug,
            band=band,
            line_kw=line_kw,
            band_kw=band_kw,
            fold_kw=fold_kw,
            rug_kw=rug_kw,
        )
        effects = self._effects()
        panels = [
            (self._panel(effects, output), None)
            for output in range(len(effects[0].values))
        ]
        self._render(panels, ax, looks, n_cols=n_cols, share_y=share_y)
        return self

    def _effects(self):
        """One `Effect` per method."""
        made = []
        for place, (points, values) in enumerate(
            zip(self.points, self.effects, strict=True)
        ):
            points, parts = np.asarray(points), {}
            levelled = self.categorical
            if levelled is None:
                levelled = points.dtype.kind not in "iuf"
            if self.fold_effects is not None:
                parts = fold_band(self.fold_effects[place], n_axes=1)
            made.append(
                Effect(
                    (self.feature_name,),
                    (points,),
                    (levelled,),
                    with_outputs(values, 1),
                    **parts,
                )
            )
        return made

    def _panel(self, effects, output):
        """All methods on one output."""
        levels = effects[0].places[0] if effects[0].levelled[0] else None
        several = len(effects[0].values) > 1
        texts = [getattr(COMPARED.get(m), "text", m) for m in self.methods]
        series = [
            effect.series(output, text, colour, levels=levels)
            for effect, text, colour in zip(
                effects, texts, colours(len(effects)), strict=True
            )
        ]
        return LinePanel(
            self.feature_name,
            series,
            "Centred effect",
            response_of(self.response_name, self.output_names, None if several else 0),
            levels=levels,
            data=self.data,
            title=_output_name(self.output_names, output) if several else None,
            zero=True,
        )

    def to_frame(self):
        """Numbers drawn, as a long DataFrame.

        Returns
        -------
        pandas.DataFrame
            One line per point, with the columns "method", "feature", "output", "x"
            and "value"; "low", "high" and "fold" where there are folds ("fold" is
            missing for their mean).
        """
        blocks = []
        for method, effect in zip(self.methods, self._effects(), strict=True):
            outputs = [
                _output_name(self.output_names, o) for o in range(len(effect.values))
            ]
            blocks += effect_columns(effect, outputs, method=method)
        return long_frame(blocks, f"{type(self).__name__}.to_frame")


def _refuse_pairs(feature):
    if not isinstance(feature, str | Integral):
        raise TypeError(f"feature={feature!r} must be one feature: an int or a str.")


def _output_name(names, output):
    return output if names is None else names[output]
