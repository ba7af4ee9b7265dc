"""How the comparison of effects is made from predictors and inspectors."""

from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from sklearn_interpret._plotting.parameters import split_parameters
from sklearn_interpret.base import BaseInspector
from sklearn_interpret.effects._plot._compared import (
    COMPARED,
    centred_effect,
    checked_methods,
    method_of,
)
from sklearn_interpret.effects._plot._sources import (
    chosen_entries,
    data_along,
    inspected,
    inspected_folds,
    output_texts,
    response_text,
)


class FromMethods:
    """The ways to a comparison that start from a fitted predictor or inspectors."""

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        *,
        feature: int | str,
        methods: Sequence[str] = tuple(COMPARED),
        sample_weight: ArrayLike | None = None,
        ax: Any = None,
        **params: Any,
    ) -> Self:
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
        methods : sequence of str, default=("partial_dependence", \
"conditional_dependence", "accumulated_local_effects")
            Effects to draw, of those three.
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
        cv_results: Mapping[str, Any],
        X: Any,
        *,
        feature: int | str,
        methods: Sequence[str] = tuple(COMPARED),
        sample_weight: ArrayLike | None = None,
        ax: Any = None,
        **params: Any,
    ) -> Self:
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
        methods : sequence of str, default=("partial_dependence", \
"conditional_dependence", "accumulated_local_effects")
            Effects to draw, of those three.
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


def _refuse_pairs(feature):
    if not isinstance(feature, str | Integral):
        raise TypeError(f"feature={feature!r} must be one feature: an int or a str.")
