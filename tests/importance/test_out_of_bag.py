"""Permutation importance on the rows that members of a forest have not seen."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import is_classifier
from sklearn.datasets import load_diabetes, load_iris
from sklearn.ensemble import (
    BaggingClassifier,
    BaggingRegressor,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import accuracy_score, log_loss, r2_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from sklearn_interpret.importance import PermutationImportance

SEED = {"random_state": 0}
MODELS = [
    RandomForestRegressor(20, **SEED),
    RandomForestRegressor(20, max_samples=0.5, **SEED),
    ExtraTreesRegressor(20, bootstrap=True, **SEED),
    BaggingRegressor(Ridge(), 20, max_features=0.7, **SEED),
    RandomForestClassifier(20, max_depth=3, **SEED),
    BaggingClassifier(LogisticRegression(max_iter=500), 20, **SEED),
    make_pipeline(StandardScaler(), RandomForestClassifier(20, **SEED)),
]


def table(model):
    kind = load_iris if is_classifier(model) else load_diabetes
    return kind(return_X_y=True)


def predicted(model, X):
    """Mean predictions of the members that have not seen the rows, in a loop."""
    steps, forest = (model[:-1], model[-1]) if hasattr(model, "steps") else ([], model)
    X = steps.transform(X) if steps else X
    predictions = []
    for i in range(len(X)):
        of_members = []
        for j, (member, rows) in enumerate(
            zip(forest.estimators_, forest.estimators_samples_, strict=True)
        ):
            if i not in rows:
                columns = slice(None)
                if hasattr(forest, "estimators_features_"):
                    columns = forest.estimators_features_[j]
                x = X[i : i + 1, columns]
                probabilities = hasattr(member, "predict_proba")
                of_members += list(
                    member.predict_proba(x) if probabilities else member.predict(x)
                )
        predictions.append(np.mean(of_members, axis=0))
    return np.array(predictions)


@pytest.mark.parametrize("model", MODELS, ids=lambda m: type(m).__name__)
def test_definition(model):
    X, y = table(model)
    X, y = X[::9], y[::9]
    model.fit(X, y)
    inspector = PermutationImportance(
        FrozenEstimator(model), method="oob", n_repeats=1, random_state=0
    ).fit(X, y)

    def score(rows):
        values = predicted(model, rows)
        if hasattr(model, "classes_"):
            return accuracy_score(y, model.classes_[values.argmax(axis=1)])
        return r2_score(y, values)

    assert_allclose(inspector.baseline_score_, score(X), rtol=1e-12)
    # The same permutations as of a model that scores in the same way.
    seed = inspector._draw_seeds()[1, 0]
    permuted = X.copy()
    donors = np.random.RandomState(seed).permutation(len(X))
    permuted[:, 1] = X[donors, 1]
    expected = score(X) - score(permuted)
    assert_allclose(inspector.importances_[1, 0], expected, atol=1e-12)


def test_score_is_the_forests():
    X, y = load_diabetes(return_X_y=True)
    model = RandomForestRegressor(50, oob_score=True, **SEED)
    inspector = PermutationImportance(model, method="oob", n_repeats=2, **SEED)
    assert_allclose(
        inspector.fit(X, y).baseline_score_, inspector.estimator_.oob_score_
    )
    X, y = load_iris(return_X_y=True)
    model = RandomForestClassifier(50, oob_score=True, **SEED)
    inspector = PermutationImportance(
        model, method="oob", scoring=[log_loss, "accuracy"], n_repeats=2, **SEED
    ).fit(X, y)
    probabilities = inspector.estimator_.oob_decision_function_
    assert_allclose(inspector.baseline_score_, log_loss(y, probabilities))
    assert_allclose(
        inspector.results_["accuracy"].baseline_score, inspector.estimator_.oob_score_
    )


def test_noise_is_not_important_by_its_number_of_values():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=(300, 2)), rng.integers(0, 2, 300)])
    y = X[:, 0] > 0
    importances = []
    for seed in range(8):
        order = rng.permutation(300)
        noise = np.column_stack([X[:, 0], X[order, 1:]])
        model = RandomForestClassifier(60, random_state=seed)
        inspector = PermutationImportance(model, method="oob", random_state=seed)
        inspector.fit(noise, np.where(rng.random(300) < 0.3, ~y, y))
        importances.append(inspector.importances_mean_)
        impurity = inspector.estimator_.feature_importances_
        assert impurity[1] > 3 * impurity[2]  # the noise of many values
    means = np.mean(importances, axis=0)
    errors = np.std(importances, axis=0) / np.sqrt(8)
    assert means[0] > 0.05
    assert (np.abs(means[1:]) < 3 * errors[1:] + 0.003).all()


def test_containers_and_groups():
    X, y = load_iris(return_X_y=True, as_frame=True)
    labels = np.array(["a", "b", "c"])[y]
    model = RandomForestClassifier(20, **SEED)
    settings = {"method": "oob", "n_repeats": 2, "random_state": 0}
    frame = PermutationImportance(model, **settings).fit(X, labels)
    array = PermutationImportance(model, **settings).fit(X.to_numpy(), labels)
    columns = PermutationImportance(model, **settings)
    columns.fit(sparse.csr_array(X.to_numpy()), labels)
    assert_array_equal(frame.importances_, array.importances_)
    assert_array_equal(columns.importances_, array.importances_)
    grouped = PermutationImportance(
        model, feature_groups={"petal": [2, 3]}, conditional=True, **settings
    ).fit(X, labels)
    assert grouped.importances_.shape == (3, 2)
    weights = np.where(np.arange(150) < 20, 0.0, 1.0)
    PermutationImportance(model, **settings).fit(X, labels, sample_weight=weights)
    few = RandomForestClassifier(2, **SEED)  # some rows are in all bags
    inspector = PermutationImportance(few, **settings).fit(X, labels)
    assert np.isfinite(inspector.importances_).all()
    votes = BaggingClassifier(LinearSVC(), 10, **SEED)
    PermutationImportance(votes, **settings).fit(X, labels)
    PermutationImportance(model, subsample=0.5, **settings).fit(X, labels)
    multi = RandomForestRegressor(10, **SEED)
    PermutationImportance(multi, **settings).fit(X, np.column_stack([y, y**2]))
    assert isinstance(X, pd.DataFrame)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (LogisticRegression(max_iter=500), "takes forests and bagging"),
        (RandomForestClassifier(5, bootstrap=False), "other methods take any model"),
    ],
)
def test_other_models(model, message):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match=message):
        PermutationImportance(model, method="oob").fit(X, y)


def test_other_rows():
    X, y = load_iris(return_X_y=True)
    model = FrozenEstimator(RandomForestClassifier(5, **SEED).fit(X, y))
    with pytest.raises(ValueError, match="the rows that the frozen model"):
        PermutationImportance(model, method="oob").fit(X[:50], y[:50])


def test_several_targets():
    X, y = load_diabetes(return_X_y=True)
    y = np.c_[y > 100, y > 200]
    model = RandomForestClassifier(5, random_state=0)
    with pytest.raises(ValueError, match="takes classifiers of one target, and y has"):
        PermutationImportance(model, method="oob").fit(X, y)
    inspector = PermutationImportance(
        RandomForestRegressor(5, random_state=0), method="oob", random_state=0
    ).fit(X, y)
    assert len(inspector.importances_mean_) == X.shape[1]
