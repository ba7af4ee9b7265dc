"""The display of importances from predictors, inspectors and folds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator

from sklearn_interpret._model.scoring import resolve_metrics
from sklearn_interpret._plotting.displays import Display
from sklearn_interpret._plotting.sources import (
    Data,
    ForwardedSignature,
    check_same_in_folds,
    fold_estimators,
    fold_rows,
    inspectors_of_folds,
    is_inspector,
)
from sklearn_interpret.importance._drop_column import DropColumnImportance
from sklearn_interpret.importance._partial_dependence import (
    PartialDependenceImportance,
)
from sklearn_interpret.importance._permutation import PermutationImportance
from sklearn_interpret.importance._permutation_test import PermutationTest


class ImportanceSources(Display):
    """Constructors of a display of importances, on one or two samples of rows."""

    _kinds = (
        PermutationImportance,
        DropColumnImportance,
        PartialDependenceImportance,
        PermutationTest,
    )

    @ForwardedSignature
    def from_estimator(
        cls,
        estimator: Any,
        X: Any = None,
        y: ArrayLike | None = None,
        *,
        X_test: Any = None,
        y_test: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        test_sample_weight: ArrayLike | None = None,
        score_name: str | None = None,
        ax: Any = None,
        **params: Any,
    ) -> Self:
        """Find the importances of a fitted predictor's features, and draw them.

        Parameters
        ----------
        estimator : fitted predictor or inspector
            A predictor is inspected by :class:`PermutationImportance` as it is. A
            fitted inspector of this family is shown as it is, and not fitted again.
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features), \
default=None
            Rows to inspect on; not needed for a fitted inspector.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs), default=None
            Their targets.
        X_test : {array-like, sparse matrix, DataFrame} of shape (n_samples, \
n_features), default=None
            Rows that the predictor was not fitted on, to show beside. A fitted
            :class:`PermutationImportance` is repeated on them with its parameters.
        y_test : array-like of shape (n_samples,) or (n_samples, n_outputs), \
default=None
            Their targets.
        sample_weight, test_sample_weight : array-like of shape (n_samples,), \
default=None
            Weights of the rows.
        score_name : str, default=None
            Which of several scores to show; None shows the first.
        ax : matplotlib Axes, default=None
            As in `plot`.
        **params : dict
            Parameters of :class:`PermutationImportance`, and of `plot`.

        Returns
        -------
        display : object
            The display, drawn.

        Raises
        ------
        NotFittedError
            The estimator is not fitted.
        TypeError
            An inspector of another family, an unknown parameter, or test rows for an
            inspector other than :class:`PermutationImportance`.
        ValueError
            Parameters of an inspector that is already fitted; an unknown score;
            rows or targets missing.
        """
        test = Data(X_test, y_test, test_sample_weight)
        if X_test is None and any(part is not None for part in test):
            raise ValueError("y_test and test_sample_weight need X_test.")
        given = {"targets": y, "score_name": score_name, "test": test}
        names = None, None
        return cls._of_estimator(
            estimator, X, sample_weight, params, names, ax, **given
        )

    @classmethod
    def _from_inspector(cls, inspector, X, sample_weight, *, score_name, test):
        arrays = _arrays(inspector, score_name)
        if test.X is not None:
            repeated = _arrays(cls._repeated(inspector, test), score_name)
            arrays["test_importances"] = repeated["importances"]
        return cls(**arrays)

    @ForwardedSignature
    def from_cv_results(
        cls,
        cv_results: Mapping[str, Any],
        X: Any,
        y: ArrayLike | None = None,
        *,
        sample_weight: ArrayLike | None = None,
        score_name: str | None = None,
        ax: Any = None,
        **params: Any,
    ) -> Self:
        """Draw the importances of the models of a cross-validation, and their mean.

        Parameters
        ----------
        cv_results : dict
            Result of :func:`~sklearn.model_selection.cross_validate` with
            ``return_estimator=True``. Its estimators are predictors, or inspectors of
            this family, which are shown as they are. With ``return_indices=True`` each
            predictor is inspected on its own rows of training, else on all rows; and
            on its rows of test, which stand beside, as :class:`PermutationImportance`
            is too.
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
            The rows that went to `cross_validate`.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs), default=None
            Their targets.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows that predictors are inspected on.
        score_name : str, default=None
            As in `from_estimator`.
        ax : matplotlib Axes, default=None
            As in `plot`.
        **params : dict
            Parameters of :class:`PermutationImportance`, and of `plot`.

        Returns
        -------
        display : object
            The display, drawn: bars for the means, and a point for each fold.

        Raises
        ------
        ValueError
            No key "estimator"; indices of other rows; an unknown score.
        TypeError
            Inspectors of another kind, or an unknown parameter.
        """
        estimators = fold_estimators(cv_results)
        parameters, _, looks = cls._split(params, is_inspector(estimators[0]))
        data = Data(X, y, sample_weight)
        rows = fold_rows(cv_results, data)
        inspectors = inspectors_of_folds(
            estimators,
            data if rows is None else [train for train, _ in rows],
            parameters,
            kinds=cls._kinds,
            display=cls.__name__,
        )
        folds = [_arrays(inspector, score_name) for inspector in inspectors]
        check_same_in_folds([fold["feature_names"] for fold in folds], "features")
        check_same_in_folds([fold["importance_name"] for fold in folds], "quantities")
        kept = ("feature_names", "importance_name", "no_effect")
        arrays = {name: folds[0][name] for name in kept}
        arrays["importances"] = _fold_means(folds)
        if rows is not None and isinstance(inspectors[0], PermutationImportance):
            tests = [
                _arrays(cls._repeated(inspector, test), score_name)
                for inspector, (_, test) in zip(inspectors, rows, strict=True)
            ]
            arrays["test_importances"] = _fold_means(tests)
        return cls(**arrays, draws_name="folds").plot(ax=ax, **looks)

    @classmethod
    def _repeated(cls, inspector, data):
        """The inspector's like, fitted on other rows."""
        if not isinstance(inspector, PermutationImportance):
            raise TypeError(
                f"{cls.__name__} repeats a PermutationImportance on test rows, and no "
                f"{type(inspector).__name__}."
            )
        settings = clone(inspector).get_params(deep=False)
        settings["estimator"] = FrozenEstimator(inspector.estimator_)
        repeated = type(inspector)(**settings)
        return repeated.fit(data.X, data.y, sample_weight=data.sample_weight)


def _fold_means(folds):
    """Mean importances over the draws, one column for each fold."""
    return np.stack([fold["importances"].mean(axis=1) for fold in folds], axis=1)


def _arrays(inspector, score_name):
    """Constructor arguments that hold what an inspector found."""
    results = getattr(inspector, "results_", {})
    if score_name is not None and score_name not in results:
        known = ", ".join(map(repr, results)) or "none to choose from"
        raise ValueError(
            f"score_name={score_name!r} is not a score of the "
            f"{type(inspector).__name__}, which has {known}."
        )
    importances = inspector.importances_
    if score_name is not None:
        importances = results[score_name].importances
    arrays = {
        "importances": importances,
        "feature_names": list(inspector.player_names_),
        "importance_name": _text(inspector, score_name),
        "no_effect": float(getattr(inspector, "comparison", None) == "ratio"),
    }
    if isinstance(inspector, DropColumnImportance):
        arrays["draws_name"] = "folds"
    if isinstance(inspector, PermutationTest):
        arrays |= {
            "null_importances": inspector.null_importances_,
            "pvalues": inspector.pvalues_,
            "alpha": inspector.alpha,
        }
    return arrays


def _text(inspector, score_name):
    """Label of the axis of importances."""
    if isinstance(inspector, PermutationTest):
        if inspector.importance_getter == "permutation":
            return "Importance on held-out rows\n(mean increase of loss / its rms)"
        return "The model's own importance"
    if isinstance(inspector, PartialDependenceImportance):
        return "Partial dependence importance\n(standard deviation of the curve)"
    change = _change(inspector, score_name)
    if isinstance(inspector, DropColumnImportance):
        return f"Drop-column importance\n({change} without the feature)"
    kind = "Conditional permutation" if inspector.conditional else "Permutation"
    return f"{kind} importance\n({change})"


def _change(inspector, score_name):
    """Label of a permutation importance: the score and its comparison."""
    metrics = resolve_metrics(
        inspector.scoring, inspector.estimator_, inspector.response_method
    )
    metric = {one.name: one for one in metrics}.get(score_name, metrics[0])
    name = metric.name
    if inspector.scoring is None:
        name = {"r2": "R²", "zero_one": "accuracy"}.get(metric.row_loss, name)
    if getattr(inspector, "comparison", None) == "ratio":
        return f"ratio of losses: {name}"
    return f"{'increase' if metric.worse > 0 else 'decrease'} of {name}"
