"""How displays of one inspector's effects are made from predictors and inspectors."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from sklearn_interpret._plotting.parameters import split_parameters
from sklearn_interpret.base import BaseInspector
from sklearn_interpret.effects._plot._sources import (
    chosen_entries,
    data_along,
    inspected,
    inspected_folds,
    output_texts,
    response_text,
)


class FromInspectors(ABC):
    """The ways to a display that start from a fitted predictor or inspector."""

    _kind: type | None = None

    @classmethod
    @abstractmethod
    def _read(cls, inspector):
        """Constructor arguments (one per entry) that hold the inspector's results."""

    @classmethod
    @abstractmethod
    def _read_folds(cls, inspectors):
        """The same for the inspectors of several folds."""

    @classmethod
    def _read_looks(cls, inspector):
        """Constructor arguments that are not one per entry."""
        return {}

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        *,
        features: Any = None,
        sample_weight: ArrayLike | None = None,
        ax: Any = None,
        **params: Any,
    ) -> Self:
        """Compute the effects of a fitted predictor on `X`, and draw them.

        Parameters
        ----------
        estimator : fitted predictor or inspector
            A predictor is inspected on `X` as it is. A fitted inspector of the kind
            that the display shows is drawn as it is, and not fitted again.
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
            Rows to inspect on, whose values are also marked on the axes.
        features : None, int, str, bool mask, or list of ints, strs and pairs, \
default=None
            Features to show; None shows all. Of a fitted inspector, which of its
            entries.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.
        ax : matplotlib Axes or array of Axes, default=None
            As in `plot`.
        **params : dict
            Parameters of the inspector (such as `target` or `response_method`), and
            of `plot`.

        Returns
        -------
        display : object
            The display, drawn.

        Raises
        ------
        NotFittedError
            The estimator is not fitted.
        TypeError
            An inspector of another kind, or an unknown parameter.
        ValueError
            Parameters of the inspector beside one that is fitted; bad input.
        """
        parameters, looks = split_parameters(
            params, [cls._kind], cls.plot, cls.__name__
        )
        entries = None
        if isinstance(estimator, BaseInspector):
            entries = features
            parameters = {n: v for n, v in parameters.items() if n not in looks}
        else:
            parameters["features"] = features
        inspector = inspected(
            estimator,
            X,
            cls._kind,
            sample_weight=sample_weight,
            parameters=parameters,
            display=cls.__name__,
        )
        arrays = cls._read(inspector)
        display = cls._made(
            [inspector], arrays, X, sample_weight, chosen_entries(inspector, entries)
        )
        return display.plot(ax=ax, **looks)

    @classmethod
    def from_cv_results(
        cls,
        cv_results: Mapping[str, Any],
        X: Any,
        *,
        features: Any = None,
        sample_weight: ArrayLike | None = None,
        ax: Any = None,
        **params: Any,
    ) -> Self:
        """Draw the effects of the models of a cross-validation, and their mean.

        All models are inspected on the same rows and over the same grid, so that the
        curves differ by the models alone.

        Parameters
        ----------
        cv_results : dict
            Result of :func:`~sklearn.model_selection.cross_validate` with
            ``return_estimator=True``. Its estimators are predictors, or inspectors of
            the kind that the display shows, whose parameters are then taken.
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
            Rows to inspect all models on.
        features : None, int, str, bool mask, or list of ints, strs and pairs, \
default=None
            Features to show; None shows all (those of the inspectors).
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.
        ax : matplotlib Axes or array of Axes, default=None
            As in `plot`.
        **params : dict
            Parameters of the inspector, and of `plot`.

        Returns
        -------
        display : object
            The display, drawn: the mean over folds, a band of one standard deviation
            over folds to each side, and one thin line per fold.

        Raises
        ------
        ValueError
            No key "estimator"; models with different outputs.
        TypeError
            Inspectors of another kind, or an unknown parameter.
        """
        parameters, looks = split_parameters(
            params, [cls._kind], cls.plot, cls.__name__
        )
        if features is not None:
            parameters["features"] = features
        inspectors = inspected_folds(
            cv_results,
            X,
            cls._kind,
            sample_weight=sample_weight,
            parameters=parameters,
            display=cls.__name__,
        )
        entries = chosen_entries(inspectors[0], None)
        arrays = cls._read_folds(inspectors)
        display = cls._made(inspectors, arrays, X, sample_weight, entries)
        return display.plot(ax=ax, **looks)

    @classmethod
    def _made(cls, inspectors, arrays, X, sample_weight, entries):
        """The display of those entries of the inspectors."""
        first = inspectors[0]
        importances = np.mean(
            [
                getattr(i, "feature_importances_", np.zeros(i.n_features_in_))
                for i in inspectors
            ],
            axis=0,
        )
        arrays = {
            **arrays,
            "feature_names": first.effect_names_,
            "categorical": [
                tuple(axis.categorical for axis in axes) for axes in first.axes_
            ],
            "data": data_along(first, X, sample_weight),
            "importances": [
                importances[columns[0]] if len(axes) == 1 else np.nan
                for axes, columns in zip(first.axes_, first.features_, strict=True)
            ],
        }
        picked = {
            name: None if values is None else [values[entry] for entry in entries]
            for name, values in arrays.items()
        }
        return cls(
            **picked,
            output_names=output_texts(first),
            response_name=response_text(first),
            **cls._read_looks(first),
        )


def stacked(inspectors, attribute):
    """One array per entry, with the inspectors (folds) along a first axis."""
    lists = [getattr(inspector, attribute) for inspector in inspectors]
    return [np.stack(parts) for parts in zip(*lists, strict=True)]


def folds_mean(stacks):
    """Mean over folds, entry by entry."""
    return [stack.mean(axis=0) for stack in stacks]


def running_mean(inspectors, attribute):
    """Mean over folds, entry by entry, without holding more than two of them."""
    means = []
    for entry, first in enumerate(getattr(inspectors[0], attribute)):
        if first is None:
            means.append(None)
            continue
        total = np.array(first)
        for inspector in inspectors[1:]:
            total += getattr(inspector, attribute)[entry]
        means.append(total / len(inspectors))
    return means
