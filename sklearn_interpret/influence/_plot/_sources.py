"""Displays of influence from predictors, inspectors and explanations."""

from __future__ import annotations

from typing import Any, Self

from numpy.typing import ArrayLike

from sklearn_interpret._plotting.displays import ExplanationDisplay
from sklearn_interpret._plotting.sources import (
    Data,
    NamedParameters,
    inspector_of,
    is_inspector,
)
from sklearn_interpret.explanations import TrainingExplanation
from sklearn_interpret.influence._deletion_diagnostics import DeletionDiagnostics
from sklearn_interpret.influence._influence_functions import InfluenceFunctions


class InfluenceSources(ExplanationDisplay):
    """Constructors of the displays of a `TrainingExplanation`."""

    _kinds = (DeletionDiagnostics, InfluenceFunctions)
    _explanation_kind = TrainingExplanation

    @NamedParameters
    def from_estimator(
        cls,
        estimator: Any,
        X: Any = None,
        y: ArrayLike | None = None,
        *,
        sample_weight: ArrayLike | None = None,
        target_name: str | None = None,
        ax: Any = None,
        **params: Any,
    ) -> Self:
        """Find the influence of training rows, or take it from a fitted inspector.

        Parameters
        ----------
        estimator : fitted predictor or inspector
            A fitted inspector of influence is used as it is, and not fitted again. A
            predictor is inspected by :class:`DeletionDiagnostics` on the rows that it
            was trained on.
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features), \
default=None
            Of a fitted inspector the rows to explain; None shows its `influence_` or
            `self_influence_`. Of a predictor its training rows.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs), default=None
            Their targets.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of a predictor's training rows.
        target_name : str, default=None
            What labels call the target.
        ax : matplotlib Axes, default=None
            As in `plot`.
        **params : dict
            Parameters of the inspector, for a predictor, of the display's constructor,
            and of `plot`.

        Returns
        -------
        display : object
            The display, drawn.

        Raises
        ------
        NotFittedError
            The estimator is not fitted.
        TypeError
            An inspector of something else, or an unknown parameter.
        ValueError
            Parameters of an inspector that is already fitted; bad input.
        """
        fitted = is_inspector(estimator, cls._kinds)
        parameters, choices, looks = cls._split(params, fitted)
        inspector = inspector_of(
            estimator,
            Data(X, y, sample_weight),
            parameters,
            kinds=cls._kinds,
            display=cls.__name__,
        )
        explained = fitted and X is not None
        explanation = inspector.explain(X, y) if explained else inspector._overall()
        display = cls(explanation, **choices)
        display._call([inspector], target_name, None)
        return display.plot(ax=ax, **looks)

    def _checked(self):
        """The explanation, which must be one of training rows."""
        if not isinstance(self.explanation, TrainingExplanation):
            raise TypeError(
                f"{type(self).__name__} draws a TrainingExplanation; got "
                f"{type(self.explanation).__name__}."
            )
        return self.explanation
