"""Scores on rows that lack some of the model's classes, or have others."""

from inspect import signature

import numpy as np
import pytest
from sklearn import metrics
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from sklearn_interpret._model.responses.scoring import resolve_metrics
from sklearn_interpret.importance import DropColumnImportance, PermutationImportance
from sklearn_interpret.influence import InfluenceDisplay
from sklearn_interpret.surrogates import GlobalSurrogate

RNG = np.random.default_rng(0)
X = RNG.normal(size=(90, 3))
PLACES = np.digitize(X[:, 0] + RNG.normal(size=90) / 2, [-0.5, 0.7])
SCORER = metrics.make_scorer(
    metrics.log_loss, greater_is_better=False, response_method="predict_proba"
)
_MANY_CLASSES = "labels" in signature(metrics.brier_score_loss).parameters
# Of numbers, scikit-learn takes the last one of the rows for the positive class.
LABELS = [["a", "b", "c"], [3, 5, 9], ["a", "b"], [1, 2], [False, True]]


def by_hand(scoring, probabilities, places, weights):
    """The mean loss of rows whose classes have these places."""
    rows = np.arange(len(places))
    if scoring == "log":
        losses = -np.log(probabilities[rows, places])
    else:
        errors = probabilities - np.eye(probabilities.shape[1])[places]
        losses = (errors**2).sum(axis=1) / (2 if probabilities.shape[1] == 2 else 1)
    return np.average(losses, weights=weights)


@pytest.mark.parametrize("labels", LABELS)
@pytest.mark.parametrize("lacking", [0, -1])
@pytest.mark.parametrize(
    ("scoring", "loss", "sign"),
    [
        ("neg_log_loss", "log", -1),
        ("neg_brier_score", "brier", -1),
        (metrics.log_loss, "log", 1),
        (metrics.brier_score_loss, "brier", 1),
        (SCORER, "log", -1),
    ],
)
def test_rows_without_a_class(labels, lacking, scoring, loss, sign):
    """Columns of probabilities are those of the model's classes."""
    if loss == "brier" and len(labels) > 2 and not _MANY_CLASSES:
        pytest.skip("this scikit-learn has no such score")
    places = np.minimum(PLACES, len(labels) - 1)
    y = np.array(labels)[places]
    model = LogisticRegression().fit(X, y)
    some = y != model.classes_[lacking]
    weights = RNG.uniform(0.5, 2, some.sum())
    (metric,) = resolve_metrics(scoring, model)
    expected = by_hand(loss, model.predict_proba(X[some]), places[some], weights)
    found = metric(FrozenEstimator(model), X[some], y[some], weights)
    np.testing.assert_allclose(found, sign * expected, rtol=1e-12)


def test_top_classes_and_undefined_areas():
    """Ranks count all classes; an area without one of its two classes is no number."""
    y = np.array(["a", "b", "c"])[PLACES]
    model, some = LogisticRegression().fit(X, y), y != "c"
    (metric,) = resolve_metrics("top_k_accuracy", model)
    scores = model.decision_function(X[some])
    first_two = np.argsort(-scores, axis=1)[:, :2] == PLACES[some][:, None]
    expected = first_two.any(axis=1).mean()
    assert metric(model, X[some], y[some], None) == pytest.approx(expected)
    (metric,) = resolve_metrics("roc_auc_ovr", model)
    with (
        pytest.warns(UndefinedMetricWarning),
        pytest.raises(ValueError, match=r"got (np\.float64\()?nan"),
    ):
        metric(model, X[some], y[some], None)


@pytest.mark.parametrize("scoring", ["neg_log_loss", "top_k_accuracy"])
def test_other_classes_are_refused(scoring):
    y = np.array(["a", "b", "c"])[PLACES]
    model = LogisticRegression().fit(X[y != "c"], y[y != "c"])
    (metric,) = resolve_metrics(scoring, model)
    for some in (y != "a", y == "c"):
        with pytest.raises(ValueError, match="y has the class 'c', and the classes of"):
            metric(model, X[some], y[some], None)


@pytest.mark.parametrize("inspector", [PermutationImportance, GlobalSurrogate])
def test_scores_that_a_model_cannot_have(inspector):
    with pytest.raises(ValueError, match=r"scoring cannot.*predict_proba"):
        inspector(LinearRegression(), scoring="neg_log_loss").fit(X, X[:, 0])


@pytest.mark.thorough
def test_inspectors_score_rows_without_a_class():
    """Permutation and drop-column importance, fidelity, removal of rows."""
    y = np.array(["a", "b", "c"])[PLACES]
    order = np.argsort(PLACES, kind="stable")[::-1]  # folds without one or two classes
    model, some = LogisticRegression().fit(X, y), y != "c"
    by_scores, by_pairs = (
        PermutationImportance(
            FrozenEstimator(model), scoring="neg_log_loss", n_repeats=200, **options
        ).fit(X[some], y[some])
        for options in ({"random_state": 0}, {"method": "exact"})
    )
    np.testing.assert_allclose(
        by_scores.importances_mean_, by_pairs.importances_mean_, rtol=0.1, atol=0.01
    )
    splits = [(np.delete(order, np.s_[i : i + 5]), order[i : i + 5]) for i in (0, 85)]
    dropped = DropColumnImportance(
        LogisticRegression(), scoring="neg_log_loss", cv=splits
    ).fit(X, y)
    train, test = splits[0]
    whole, without = (
        -np.mean(fitted.predict_log_proba(Z[test])[np.arange(5), PLACES[test]])
        for Z in (X, X[:, 1:])
        for fitted in [LogisticRegression().fit(Z[train], y[train])]
    )
    np.testing.assert_allclose(dropped.importances_[0, 0], without - whole)
    surrogate = GlobalSurrogate(
        FrozenEstimator(model),
        surrogate=DecisionTreeClassifier(max_depth=2, random_state=0),
        scoring="neg_log_loss",
    ).fit(X[some & (model.predict(X) != "c")])
    assert surrogate.fidelity_ <= 0
    removed = InfluenceDisplay.from_removal(
        LogisticRegression(),
        X,
        y,
        influence=np.arange(90.0),
        scoring="neg_log_loss",
        X_test=X[some],
        y_test=y[some],
        random_state=0,
    )
    assert np.isfinite(removed.removal["scores"]).all()
