"""From predictors and inspectors to the arrays that are shown."""

import numpy as np
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.utils.validation import check_is_fitted

from sklearn_interpret._model.response import check_is_predictor
from sklearn_interpret._model.rows.containers import as_rows
from sklearn_interpret._model.scoring import resolve_metrics
from sklearn_interpret._model.tags import check_predictor_is_fitted
from sklearn_interpret._plotting.parameters import refuse_settings
from sklearn_interpret._plotting.sources import fold_estimators
from sklearn_interpret.base import BaseInspector
from sklearn_interpret.importance._base import BaseImportance
from sklearn_interpret.importance._drop_column import DropColumnImportance
from sklearn_interpret.importance._partial_dependence import (
    PartialDependenceImportance,
)
from sklearn_interpret.importance._permutation import PermutationImportance
from sklearn_interpret.importance._permutation_test import PermutationTest


def inspector_arrays(estimator, train, test, *, parameters, score_name, display):
    """Constructor arguments that hold the importances of a predictor or inspector.

    `train` and `test` are triples (X, y, sample_weight).
    """
    inspector = _inspected(estimator, train, parameters, display)
    arrays = _arrays(inspector, score_name)
    if test[0] is None:
        _refuse_targets_alone(test)
        return arrays
    repeated = _repeated(inspector, test, display)
    arrays["test_importances"] = _arrays(repeated, score_name)["importances"]
    return arrays


def fold_arrays(cv_results, data, *, parameters, score_name, display):
    """The same for the models of a cross-validation, whose folds are the draws."""
    estimators = fold_estimators(cv_results)
    splits = _splits(cv_results, data[0], len(estimators))
    folds = [
        _fold(estimator, data, split, parameters, score_name, display)
        for estimator, split in zip(estimators, splits, strict=True)
    ]
    first = folds[0]
    if any(fold["feature_names"] != first["feature_names"] for fold in folds):
        raise ValueError(
            "The folds' inspectors speak of different features, or groups of them: "
            "their importances cannot be averaged."
        )
    kept = ("feature_names", "importance_name", "no_effect")
    arrays = {name: first[name] for name in kept}
    for name in ("importances", "test_importances"):
        if name in first:
            arrays[name] = np.stack([f[name].mean(axis=1) for f in folds], axis=1)
    return {**arrays, "draws_name": "folds"}


def _fold(estimator, data, split, parameters, score_name, display):
    """Arrays of one fold, on its own rows where these are known."""
    _refuse_others(estimator, display)
    if isinstance(estimator, BaseImportance):
        refuse_settings(estimator, parameters)
        check_is_fitted(estimator)
        if not isinstance(estimator, PermutationImportance):
            return _arrays(estimator, score_name)
    if isinstance(estimator, PermutationImportance):
        settings = estimator.get_params(deep=False)
        parameters = {n: v for n, v in settings.items() if n != "estimator"}
        estimator = estimator.estimator_
    train, test = (data, (None, None, None))
    if split is not None:
        train, test = (_taken(data, part) for part in split)
    return inspector_arrays(
        estimator,
        train,
        test,
        parameters=parameters,
        score_name=score_name,
        display=display,
    )


def _splits(cv_results, X, n_folds):
    """Positions of each fold's rows of training and of test, or None."""
    if "indices" not in cv_results:
        return [None] * n_folds
    indices = cv_results["indices"]
    splits = list(zip(indices["train"], indices["test"], strict=True))
    n_rows = as_rows(X).n_rows
    largest = max(int(part.max(initial=0)) for split in splits for part in split)
    if largest >= n_rows:
        raise ValueError(
            f"cv_results has the index {largest}, but X has {n_rows} rows: pass the "
            "rows that went to cross_validate."
        )
    return splits


def _taken(data, index):
    """Rows, targets and weights at positions."""
    X, y, sample_weight = data
    return (
        as_rows(X).take(index).native,
        None if y is None else np.asarray(y)[index],
        None if sample_weight is None else np.asarray(sample_weight)[index],
    )


def _inspected(estimator, data, parameters, display):
    """A fitted predictor's inspector on the rows, or the fitted one given."""
    _refuse_others(estimator, display)
    if isinstance(estimator, BaseImportance):
        check_is_fitted(estimator)
        refuse_settings(estimator, parameters, data[2])
        return estimator
    check_is_predictor(estimator)
    check_predictor_is_fitted(estimator)
    X, y, sample_weight = data
    if X is None:
        raise ValueError(
            f"{display} inspects a predictor on rows: pass X and y, or a fitted "
            "inspector."
        )
    inspector = PermutationImportance(FrozenEstimator(estimator), **parameters)
    return inspector.fit(X, y, sample_weight=sample_weight)


def _repeated(inspector, data, display):
    """The inspector's like, fitted on other rows."""
    if not isinstance(inspector, PermutationImportance):
        raise TypeError(
            f"{display} repeats a PermutationImportance on test rows, and no "
            f"{type(inspector).__name__}."
        )
    X, y, sample_weight = data
    settings = clone(inspector).get_params(deep=False)
    settings["estimator"] = FrozenEstimator(inspector.estimator_)
    repeated = type(inspector)(**settings)
    return repeated.fit(X, y, sample_weight=sample_weight)


def _refuse_others(estimator, display):
    """An inspector of another family answers another question: say so."""
    if isinstance(estimator, BaseInspector) and not isinstance(
        estimator, BaseImportance
    ):
        raise TypeError(
            f"{display} shows importances; got {type(estimator).__name__}, which "
            "inspects something else. Pass its estimator_, or another display."
        )


def _refuse_targets_alone(test):
    _, y, sample_weight = test
    if y is not None or sample_weight is not None:
        raise ValueError("y_test and test_sample_weight need X_test.")


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
    """What the importances are, for the axis."""
    if isinstance(inspector, PermutationTest):
        return "The model's own importance"
    if isinstance(inspector, PartialDependenceImportance):
        return "Partial dependence importance\n(standard deviation of the curve)"
    change = _change(inspector, score_name)
    if isinstance(inspector, DropColumnImportance):
        return f"Drop-column importance\n({change} without the feature)"
    kind = "Conditional permutation" if inspector.conditional else "Permutation"
    return f"{kind} importance\n({change})"


def _change(inspector, score_name):
    """What becomes of which score."""
    metrics = resolve_metrics(
        inspector.scoring, inspector.estimator_, inspector.response_method
    )
    metric = {one.name: one for one in metrics}.get(score_name, metrics[0])
    name = metric.name
    if inspector.scoring is None:
        name = {"r2": "R squared", "zero_one": "accuracy"}.get(metric.row_loss, name)
    if getattr(inspector, "comparison", None) == "ratio":
        return f"ratio of losses: {name}"
    return f"{'increase' if metric.worse > 0 else 'decrease'} of {name}"
