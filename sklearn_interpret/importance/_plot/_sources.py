"""Constructors of displays of importances, from predictors, inspectors and folds."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator

from sklearn_interpret._model.responses.scoring import resolve_metrics
from sklearn_interpret._plotting.displays import Display, FoldsMixin
from sklearn_interpret._plotting.sources import Data, check_same_in_folds
from sklearn_interpret.importance._drop_column import DropColumnImportance
from sklearn_interpret.importance._partial_dependence import PartialDependenceImportance
from sklearn_interpret.importance._permutation import PermutationImportance
from sklearn_interpret.importance._permutation_test import PermutationTest
from sklearn_interpret.importance._sage import SAGE


class ImportanceSources(FoldsMixin, Display):
    """Constructors of a display of importances, on one or two samples of rows."""

    _kinds = (
        PermutationImportance,
        DropColumnImportance,
        PartialDependenceImportance,
        PermutationTest,
        SAGE,
    )
    _choices = frozenset({"X_test", "y_test", "test_sample_weight", "score_name"})
    _without = frozenset({"target_name", "unit"})
    _inspects_training_rows = True

    @classmethod
    def _from_inspector(
        cls,
        inspector: Any,
        data: Data,
        *,
        X_test: Any = None,
        y_test: ArrayLike | None = None,
        test_sample_weight: ArrayLike | None = None,
        score_name: str | None = None,
    ) -> Self:
        """The display of a fitted inspector's importances.

        X_test : {array-like, sparse matrix, DataFrame} of shape (n_samples, \
n_features), default=None
            Rows that the predictor was not fitted on, for a second bar. A fitted
            :class:`PermutationImportance` is repeated on them with its parameters.
        y_test : array-like of shape (n_samples,) or (n_samples, n_outputs), \
default=None
            Targets of the test rows.
        test_sample_weight : array-like of shape (n_samples,), default=None
            Weights of the test rows.
        score_name : str, default=None
            The score to show, of several; None shows the first.
        """
        test = Data(X_test, y_test, test_sample_weight)
        if X_test is None and any(array is not None for array in test):
            raise ValueError("y_test and test_sample_weight need X_test.")
        arrays = _importance_arrays(inspector, score_name)
        if X_test is not None:
            repeated = _importance_arrays(cls._refit_on(inspector, test), score_name)
            arrays["test_importances"] = repeated["importances"]
        return cls(**arrays)

    @classmethod
    def _from_folds(
        cls,
        inspectors: list[Any],
        data: Data,
        *,
        tests: Any = None,
        score_name: str | None = None,
    ) -> Self:
        """The display of the mean importances.

        score_name : str, default=None
            As in `from_estimator`.
        """
        folds = [_importance_arrays(inspector, score_name) for inspector in inspectors]
        check_same_in_folds([fold["feature_names"] for fold in folds], "features")
        check_same_in_folds([fold["importance_name"] for fold in folds], "quantities")
        shared = ("feature_names", "importance_name", "no_effect")
        arrays = {name: folds[0][name] for name in shared}
        arrays["importances"] = _fold_means(folds)
        if tests is not None and isinstance(inspectors[0], PermutationImportance):
            repeated = map(cls._refit_on, inspectors, tests)
            tests = [
                _importance_arrays(inspector, score_name) for inspector in repeated
            ]
            arrays["test_importances"] = _fold_means(tests)
        return cls(**{**arrays, "draws_name": "folds"})

    @classmethod
    def _refit_on(cls, inspector: Any, data: Data) -> Any:
        """A clone of the inspector, fitted on other rows with the same model."""
        if not isinstance(inspector, PermutationImportance):
            raise TypeError(
                f"{cls.__name__} repeats a PermutationImportance on test rows, and no "
                f"{type(inspector).__name__}."
            )
        settings = clone(inspector).get_params(deep=False)
        settings["estimator"] = FrozenEstimator(inspector.estimator_)
        repeated = type(inspector)(**settings)
        return repeated.fit(data.X, data.y, sample_weight=data.sample_weight)


def _fold_means(folds: list[dict[str, Any]]) -> NDArray[np.float64]:
    """Mean importances over the draws, one column for each fold."""
    return np.stack([fold["importances"].mean(axis=1) for fold in folds], axis=1)


def _importance_arrays(inspector: Any, score_name: str | None) -> dict[str, Any]:
    """Constructor arguments of the importances of an inspector."""
    results = getattr(inspector, "results_", {})
    if score_name is not None and score_name not in results:
        score_names = ", ".join(map(repr, results)) or "none to choose from"
        raise ValueError(
            f"score_name={score_name!r} is not a score of the "
            f"{type(inspector).__name__}, which has {score_names}."
        )
    importances = inspector.importances_
    if score_name is not None:
        importances = results[score_name].importances
    arrays = {
        "importances": importances,
        "feature_names": list(inspector.player_names_),
        "importance_name": _axis_label(inspector, score_name),
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
    if isinstance(inspector, SAGE) and inspector.method_ == "sampling":
        arrays["standard_errors"] = inspector.standard_errors_
    return arrays


def _axis_label(inspector: Any, score_name: str | None) -> str:
    """Label of the axis of importances."""
    if isinstance(inspector, PermutationTest):
        if inspector.importance_getter == "permutation":
            return "Importance on held-out rows\n(mean increase of loss / its rms)"
        return "The model's own importance"
    if isinstance(inspector, PartialDependenceImportance):
        return "Partial dependence importance\n(standard deviation of the curve)"
    if isinstance(inspector, SAGE):
        name = getattr(inspector.loss_, "__name__", str(inspector.loss_))
        return f"SAGE value\n(decrease of {name.replace('_', ' ')})"
    change = _score_change_text(inspector, score_name)
    if isinstance(inspector, DropColumnImportance):
        return f"Drop-column importance\n({change} without the feature)"
    kind = "Conditional permutation" if inspector.conditional else "Permutation"
    return f"{kind} importance\n({change})"


def _score_change_text(inspector: Any, score_name: str | None) -> str:
    """Label of a permutation importance: the score and its comparison."""
    metrics = resolve_metrics(
        inspector.scoring, inspector.estimator_, inspector.response_method
    )
    by_name = {metric.name: metric for metric in metrics}
    metric = by_name.get(score_name or "", metrics[0])
    name = metric.name
    if inspector.scoring is None:
        name = {"r2": "R²", "zero_one": "accuracy"}.get(str(metric.row_loss), name)
    if getattr(inspector, "comparison", None) == "ratio":
        return f"ratio of losses: {name}"
    return f"{'increase' if metric.worse > 0 else 'decrease'} of {name}"
