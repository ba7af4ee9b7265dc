"""Attack by labels alone: closed forms, trees by hand, tables, bad input."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_iris
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from sklearn_interpret.adversarial import HopSkipJump
from sklearn_interpret.exceptions import NoCounterfactualWarning
from tests.speeds import examples

X, Y = load_iris(return_X_y=True)
DUALS = {"inf": 1, "2": 2, "1": np.inf}
ORDERS = {"inf": np.inf, "2": 2, "1": 1}


class Labels(ClassifierMixin, BaseEstimator):
    """A classifier that has nothing but `predict`, by a function of rows."""

    def __init__(self, answer=None):
        self.answer = answer

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.n_features_in_ = np.shape(X)[1]
        self.n_asked_ = []
        return self

    def predict(self, X):
        self.n_asked_.append(len(X))
        return self.classes_[self.answer(np.asarray(X)).astype(int)]


@pytest.mark.thorough(after=1)
@pytest.mark.parametrize("norm", ORDERS)
@given(seed=st.integers(0, 1000), n_features=st.integers(1, 4))
@examples(5)
def test_near_the_closed_form_of_a_linear_model(norm, seed, n_features):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(60, n_features))
    y = rows @ rng.normal(size=n_features) > 0
    model = LogisticRegression().fit(rows, y)
    attack = HopSkipJump(
        FrozenEstimator(model), norm=norm, units="raw", bounds=(-99, 99), random_state=0
    ).fit(rows)
    found = attack.explain(rows[:10])
    nearest = np.abs(model.decision_function(rows[:10]))
    nearest /= np.linalg.norm(model.coef_[0], DUALS[norm])
    assert found.valid.all()
    assert (model.predict(found.rows) != model.predict(rows[:10])).all()
    assert (found.distances >= nearest * (1 - 1e-9)).all()
    assert found.distances.sum() <= 1.2 * nearest.sum()
    sizes = np.linalg.norm(found.perturbations, ORDERS[norm], axis=1)
    assert_allclose(found.distances, sizes)


def nearest_by_leaves(tree, row, answer):
    """Distance to the nearest leaf of another answer, from the boxes of all leaves."""
    parts, least = [(0, np.full(len(row), -np.inf), np.full(len(row), np.inf))], np.inf
    while parts:
        node, low, high = parts.pop()
        feature, at = tree.feature[node], tree.threshold[node]
        if tree.children_left[node] < 0:
            if tree.value[node, 0].argmax() != answer:
                step = np.maximum(np.maximum(low - row, row - high), 0)
                least = min(least, np.linalg.norm(step))
            continue
        below, above = high.copy(), low.copy()
        below[feature], above[feature] = min(high[feature], at), max(low[feature], at)
        parts += [
            (tree.children_left[node], low, below),
            (tree.children_right[node], above, high),
        ]
    return least


def test_trees_are_attacked_at_their_thresholds():
    model = DecisionTreeClassifier(max_depth=4, random_state=0).fit(X, Y)
    attack = HopSkipJump(FrozenEstimator(model), units="raw", random_state=0).fit(X)
    found = attack.explain(X)
    nearest = [
        nearest_by_leaves(model.tree_, row, answer)
        for row, answer in zip(X, model.predict(X), strict=True)
    ]
    assert found.valid.all()
    # Trees compare floats of single precision.
    assert (found.distances >= np.array(nearest) - 1e-6).all()
    assert_allclose(found.distances.mean(), np.mean(nearest), rtol=0.1)
    assert found.n_changed.max() <= 2


@pytest.mark.thorough
def test_nearer_than_known_rows_and_farther_steps_help():
    model = FrozenEstimator(RandomForestClassifier(20, random_state=0).fit(X, Y))
    rows = X[50:150]
    distances = []
    for n_steps in (1, 8):
        attack = HopSkipJump(model, n_steps=n_steps, units="raw", random_state=0)
        distances.append(attack.fit(X).explain(rows).distances)
    answers = model.predict(X)
    between = np.linalg.norm(rows[:, None] - X, axis=2)
    between[answers[50:150, None] == answers] = np.inf
    for found in distances:
        assert (found <= between.min(axis=1)).all()
    assert distances[1].mean() < distances[0].mean()


def test_only_labels_are_asked_for_and_of_all_rows_at_once():
    model = Labels(lambda X: X[:, 0] + X[:, 1] > 1)
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(50, 3))
    attack = HopSkipJump(model, units="raw", random_state=0)
    attack.fit(rows, rows[:, 0] > 0)
    n_calls = []
    for some in (rows[:1], rows[:40]):
        attack.estimator_.n_asked_.clear()
        found = attack.explain(some)
        n_calls.append(len(attack.estimator_.n_asked_))
        assert found.valid.all()
        exact = np.abs(some[:, :2].sum(axis=1) - 1) / np.sqrt(2)
        assert found.distances.mean() <= 1.3 * exact.mean()
    assert n_calls[1] < 3 * n_calls[0]


def test_whole_numbers_alone():
    """Draws are rounded at random: short ones change some of the columns too."""
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 17, (200, 12))
    model = LogisticRegression(max_iter=9999).fit(rows, rows.sum(axis=1) > 96)
    attack = HopSkipJump(FrozenEstimator(model), units="raw", random_state=0)
    found = attack.fit(rows).explain(rows[:30])
    nearest = np.abs(model.decision_function(rows[:30])) / np.linalg.norm(model.coef_)
    assert found.rows.dtype == rows.dtype
    assert found.valid.all()
    assert found.distances.mean() <= 1.5 * nearest.mean()


def test_an_interval_of_a_regressor_and_rows_within_it():
    model = LinearRegression().fit(X[:, :3], X[:, 3])
    attack = HopSkipJump(FrozenEstimator(model), desired=(1.5, 2.0), random_state=0)
    found = attack.fit(X[:, :3]).explain(X[:, :3])
    predictions = model.predict(found.rows)
    assert ((predictions >= 1.5) & (predictions <= 2.0)).all()
    inside = found.status == "unchanged"
    assert inside.any()
    assert not found.distances[inside].any()


def test_missing_numbers_stay_missing():
    holes = X.copy()
    holes[::3, 1] = np.nan
    attack = HopSkipJump(HistGradientBoostingClassifier(max_iter=5), random_state=0)
    found = attack.fit(holes, Y).explain(holes[:60], Y[:60])
    assert found.valid.all()
    assert_array_equal(np.isnan(found.rows), np.isnan(holes[:60]))


def test_farther_known_rows_where_the_nearest_do_not_hold():
    """The nearest by the free column satisfy the target by the frozen one only."""
    rng = np.random.default_rng(0)
    rows = rng.uniform(-0.5, 0.5, (100, 2))
    rows[:40, 0] += 5
    rows[40:45, 1] += 5
    model = Labels(lambda X: (X[:, 0] > 2) | (X[:, 1] > 2))
    attack = HopSkipJump(model, features_to_vary=[1], units="raw", random_state=0)
    attack.fit(rows, rows[:, 0] > 2)
    found = attack.explain(rows[60:])
    assert found.valid.all()
    assert_allclose(found.rows[:, 1], 2, atol=1e-4)


def test_no_known_row_satisfies_the_target():
    model = Labels(lambda X: X[:, 0] > 2)
    attack = HopSkipJump(model, features_to_vary=[1], random_state=0)
    rows = np.array([[0.0, 1.0], [3.0, 2.0], [4.0, 3.0]])
    attack.fit(rows, [0, 1, 1])
    with pytest.warns(NoCounterfactualWarning, match="for 3 of 3 rows"):
        found = attack.explain(rows)
    assert_array_equal(found.status, "failed")
    assert found.reasons[0].startswith("with its fixed features no near known row")
    assert_array_equal(found.rows, rows)
    assert attack.robust_score(rows) == 1


def test_robust_scores_fall_with_the_size():
    attack, rows, y = HopSkipJump(SVC(), random_state=0).fit(X, Y), X[::3], Y[::3]
    curve = attack.robustness_curve(rows, y, sizes=[0, 0.2, 0.5, 9])
    assert curve[0] == attack.score(rows, y)
    assert (np.diff(curve) <= 0).all()
    assert curve[-1] == attack.robust_score(rows, y) == 0


def test_the_warning_points_at_the_call():
    X = np.arange(10.0)[:, None]
    model = DecisionTreeClassifier().fit(X, X[:, 0] > 4)
    attack = HopSkipJump(FrozenEstimator(model), bounds=(0, 4)).fit(X[:4])
    with pytest.warns(NoCounterfactualWarning, match="nothing was found") as record:
        attack.explain(X[:2])
    assert record[0].filename == __file__
