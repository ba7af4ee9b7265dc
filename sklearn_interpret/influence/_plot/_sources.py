"""Displays of influence from predictors, inspectors and explanations."""

from __future__ import annotations

from typing import Any, Self

from numpy.typing import ArrayLike

from sklearn_interpret._plotting.displays import ExplanationDisplay
from sklearn_interpret._plotting.sources import ForwardedSignature, is_inspector
from sklearn_interpret.explanations import TrainingExplanation
from sklearn_interpret.influence._deletion_diagnostics import DeletionDiagnostics
from sklearn_interpret.influence._influence_functions import InfluenceFunctions


class InfluenceSources(ExplanationDisplay):
    """Constructors of the displays of a `TrainingExplanation`."""

    _kinds = (DeletionDiagnostics, InfluenceFunctions)
    _explanation_kind = TrainingExplanation
    _shows_rows = False

    @ForwardedSignature
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
        # A predictor is inspected on these rows, and shows what was found of all.
        explains = X is not None and is_inspector(estimator, cls._kinds)
        names, rows = (target_name, None), (X, y) if explains else None
        return cls._of_estimator(
            estimator, X, sample_weight, params, names, ax, targets=y, rows=rows
        )

    @classmethod
    def _from_inspector(cls, inspector, X, sample_weight, *, rows, **choices):
        explanation = inspector.explain(*rows) if rows else inspector._overall()
        return cls(explanation, **choices)
