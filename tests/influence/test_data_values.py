"""What training rows are worth, against definitions by slow loops."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.datasets import load_diabetes, load_digits, load_iris
from sklearn.ensemble import (
    BaggingClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor

from sklearn_interpret.exceptions import UnreadableModelError
from sklearn_interpret.influence import (
    DataValues,
    InfluenceDisplay,
    InfluenceTreeDisplay,
)
from tests.references.shapley import enumerated

IRIS, SPECIES = load_iris(return_X_y=True)


def few(n=9, classes=True):
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, 2))
    return X, (rng.integers(3, size=n) if classes else rng.normal(size=n))


@pytest.mark.parametrize("classes", [True, False])
def test_neighbors_are_enumerated(classes):
    """Each row predicted from the others, and rows of validation from all."""
    X, y = few(8, classes)
    kind = KNeighborsClassifier if classes else KNeighborsRegressor
    new, answers = few(4, classes)[0], y[:4]
    center = 0 if classes else y.mean()

    def value_for(row, answer, members):
        order = sorted(members, key=lambda j: np.sum((X[j] - row) ** 2))

        def value(coalition):
            near = [y[members[j]] for j in coalition]
            ranks = [order.index(members[j]) for j in coalition]
            near = [near[k] for k in np.argsort(ranks)[:3]]
            if classes:
                return sum(label == answer for label in near) / 3
            return -((sum(t - center for t in near) / 3 - (answer - center)) ** 2)

        return enumerated(value, len(members))

    sums = np.zeros(8)
    for i in range(8):
        others = [j for j in range(8) if j != i]
        sums[others] += value_for(X[i], y[i], others)
    inspector = DataValues(kind(3)).fit(X, y)
    assert inspector.method_ == "neighbors"
    assert_allclose(inspector.values_, sums / 7, atol=1e-12)
    valid = DataValues(kind(3), validation=(new, answers)).fit(X, y)
    by_row = [
        value_for(r, a, list(range(8))) for r, a in zip(new, answers, strict=True)
    ]
    assert_allclose(valid.values_, np.mean(by_row, axis=0), atol=1e-12)
    errors = np.std(by_row, axis=0, ddof=1) / 2
    assert_allclose(valid.standard_errors_, errors, atol=1e-12)


def largest_difference(a, b):
    return np.abs(a - b).max()


@pytest.mark.parametrize("metric", ["infinity", "chebyshev", largest_difference])
def test_metrics(metric):
    X, y = few()
    by_name = DataValues(KNeighborsClassifier(2, metric=metric)).fit(X, y)
    by_power = DataValues(KNeighborsClassifier(2, p=np.inf)).fit(X, y)
    assert_array_equal(by_name.values_, by_power.values_)


@pytest.mark.parametrize(
    "model",
    [
        RandomForestClassifier(12, random_state=0),
        BaggingClassifier(n_estimators=12, max_features=2, random_state=0),
        RandomForestRegressor(12, random_state=0, max_samples=0.4),
        ExtraTreesRegressor(12, bootstrap=True, random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_out_of_bag(model):
    inspector = DataValues(model).fit(IRIS, SPECIES)
    assert inspector.method_ == "out_of_bag"
    fitted = inspector.estimator_
    scores = [[] for _ in SPECIES]
    columns = getattr(fitted, "estimators_features_", [slice(None)] * 12)
    for member, sample, features in zip(
        fitted.estimators_, fitted.estimators_samples_, columns, strict=True
    ):
        predicted = member.predict(IRIS[:, features])
        for i in set(range(150)) - set(sample.tolist()):
            is_class = hasattr(fitted, "classes_")
            error = predicted[i] - SPECIES[i]
            scores[i].append(float(error == 0) if is_class else -(error**2))
    expected = [np.mean(s) if s else np.nan for s in scores]
    assert_allclose(inspector.values_, expected, atol=1e-12)
    i = int(np.argmax([len(s) for s in scores]))
    error = np.std(scores[i], ddof=1) / np.sqrt(len(scores[i]))
    assert_allclose(inspector.standard_errors_[i], error, atol=1e-12)


@pytest.mark.parametrize(
    "model",
    [
        make_pipeline(StandardScaler(), KNeighborsClassifier(7)),
        RandomForestClassifier(60, random_state=0),
    ],
)
def test_wrong_labels_have_small_values(model):
    X, y = load_digits(return_X_y=True)
    X, y = X[:600], y[:600].copy()
    rng = np.random.default_rng(0)
    wrong = rng.random(600) < 0.1
    y[wrong] = (y[wrong] + rng.integers(1, 10, wrong.sum())) % 10
    values = DataValues(model).fit(X, y).values_
    assert roc_auc_score(wrong, -values) > 0.97


def test_tables_and_labels():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    X.index = [f"row {i}" for i in range(len(X))]
    of_frame = DataValues(KNeighborsRegressor()).fit(X, y)
    of_array = DataValues(KNeighborsRegressor()).fit(X.to_numpy(), y)
    assert_array_equal(of_frame.values_, of_array.values_)
    frame = of_frame.to_frame()
    assert frame["row"].iloc[0] == f"row {np.argmin(of_frame.values_)}"
    named = np.array(["a", "b", "c"])[SPECIES]
    text = DataValues(KNeighborsClassifier()).fit(IRIS, named)
    coded = DataValues(KNeighborsClassifier()).fit(IRIS, SPECIES)
    assert_allclose(text.values_, coded.values_, atol=1e-12)
    X_few, y_few = few(40)
    stored = DataValues(KNeighborsClassifier()).fit(sparse.csr_array(X_few), y_few)
    dense = DataValues(KNeighborsClassifier()).fit(X_few, y_few)
    assert_allclose(stored.values_, dense.values_, atol=1e-12)
    both = DataValues(KNeighborsRegressor()).fit(X, np.column_stack([y, y]))
    assert_allclose(both.values_, of_array.values_, atol=1e-9)


def test_frozen_models():
    forest = RandomForestRegressor(10, random_state=0).fit(IRIS, SPECIES)
    frozen = DataValues(FrozenEstimator(forest)).fit(IRIS, SPECIES)
    fresh = DataValues(RandomForestRegressor(10, random_state=0)).fit(IRIS, SPECIES)
    assert_array_equal(frozen.values_, fresh.values_)
    with pytest.raises(ValueError, match="rows that the frozen model was fitted on"):
        DataValues(FrozenEstimator(forest)).fit(IRIS[:50], SPECIES[:50])


@pytest.mark.parametrize(
    ("model", "params", "error", "message"),
    [
        (LinearRegression(), {}, UnreadableModelError, "DeletionDiagnostics takes any"),
        (ExtraTreesRegressor(3), {}, UnreadableModelError, "bootstrap samples"),
        (DecisionTreeRegressor(), {}, UnreadableModelError, "forests and bagging"),
        (
            KNeighborsRegressor(weights="distance"),
            {},
            UnreadableModelError,
            "neighbours of equal weight",
        ),
        (KNeighborsRegressor(150), {}, ValueError, "151 rows or more; fit has 150"),
        (
            RandomForestRegressor(3),
            {"validation": (IRIS, SPECIES)},
            ValueError,
            "validation must be None",
        ),
        (
            KNeighborsRegressor(),
            {"validation": (IRIS, SPECIES[:5])},
            ValueError,
            "inconsistent numbers",
        ),
        *(
            (KNeighborsRegressor(), {"validation": given}, ValueError, message)
            for given, message in (
                ((IRIS, None), "rows and their targets"),
                ((IRIS, SPECIES, SPECIES), "rows and their targets"),
                ((IRIS, IRIS), "must have 1 known targets"),
                ((IRIS, np.full(150, np.nan)), "must have 1 known targets"),
            )
        ),
    ],
)
def test_bad_input(model, params, error, message):
    with pytest.raises(error, match=message):
        DataValues(model, **params).fit(IRIS, SPECIES)


def test_drawings():
    X = pd.DataFrame(IRIS)
    inspector = DataValues(KNeighborsClassifier()).fit(X, SPECIES)
    bars = InfluenceDisplay.from_estimator(inspector, max_entries=4)
    smallest = np.argsort(inspector.values_, kind="stable")
    assert bars.to_frame()["training_row"].tolist() == smallest.tolist()
    curves = InfluenceDisplay.from_removal(
        KNeighborsClassifier(),
        *(X, SPECIES, inspector.values_),
        sizes=[0, 30, 60],
        n_draws=2,
        both_ends=True,
    )
    texts = [text.get_text() for text in curves.legend_.get_texts()]
    assert texts[:2] == ["the largest first", "the smallest first"]
    frame = curves.to_frame()
    ends = frame[frame["draw"].isna()]
    assert ends["influence"].tolist() == ["largest"] * 3 + ["smallest"] * 3
    assert_allclose(ends["score"].iloc[3:], curves.smallest_line_.get_ydata())
    # Without good rows the score falls, without bad ones it does not.
    assert ends["score"].iloc[2] < ends["score"].iloc[5]


def test_displays_of_values():
    X, y = load_iris(return_X_y=True)
    inspector = DataValues(RandomForestClassifier(3, random_state=0)).fit(X, y)
    assert np.isnan(inspector.values_).any()
    display = InfluenceDisplay.from_estimator(inspector, max_entries=5)
    frame = display.to_frame()
    assert_array_equal(frame["value"], np.sort(inspector.values_)[: len(frame)])
    assert len(frame) == np.isfinite(inspector.values_).sum()
    tree = InfluenceTreeDisplay.from_estimator(inspector)
    known = inspector.values_[np.isfinite(inspector.values_)]
    leaves = tree.to_frame()
    assert_allclose(np.average(leaves["mean"], weights=leaves["n_rows"]), known.mean())
    with pytest.raises(ValueError, match="DataValues explains no other rows"):
        InfluenceDisplay.from_estimator(inspector, X, y)
    removal = InfluenceDisplay.from_removal(
        make_pipeline(StandardScaler(), KNeighborsClassifier()),
        X,
        y,
        np.arange(150.0),
        sizes=[0, 5],
        both_ends=True,
        line_kw={"color": "red"},
    )
    assert "InfluenceDisplay" in repr(removal)
    assert removal.ax_.get_ylabel() == "Accuracy"
    assert removal.line_.get_color() != removal.smallest_line_.get_color()


@pytest.mark.parametrize(
    "model",
    [
        RandomForestRegressor(20, random_state=0),
        RandomForestClassifier(20, random_state=0),
        KNeighborsClassifier(),
        KNeighborsRegressor(),
    ],
)
def test_frozen_models_need_their_rows(model):
    X, y = load_iris(return_X_y=True)
    frozen = FrozenEstimator(model.fit(X, y))
    DataValues(frozen).fit(X, y)
    order = np.random.default_rng(0).permutation(150)
    with pytest.raises(UnreadableModelError, match="needs the rows, in their order"):
        DataValues(frozen).fit(X, y[order])
    weights = np.arange(1.0, 151.0)
    if "Forest" in type(model).__name__:
        frozen = FrozenEstimator(model.fit(X, y, sample_weight=weights))
        DataValues(frozen).fit(X, y, sample_weight=weights)
