"""Attacks within a budget: closed forms, brute force, tables, bad input."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.linear_model import Lasso, LinearRegression, LogisticRegression
from sklearn.model_selection import cross_validate
from sklearn.multioutput import MultiOutputClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, StandardScaler
from sklearn.svm import SVC

from sklearn_interpret.adversarial import FastGradientSign, ProjectedGradient
from sklearn_interpret.exceptions import UnreadableModelError
from tests.references.models import watched
from tests.speeds import examples

X, Y = load_iris(return_X_y=True)
ORDERS = {"inf": np.inf, "2": 2, "1": 1}
BOTH = pytest.mark.parametrize("attack_class", [FastGradientSign, ProjectedGradient])


@pytest.mark.thorough(after=1)
@pytest.mark.parametrize("norm", ORDERS)
@given(seed=st.integers(0, 1000), epsilon=st.floats(0.01, 2))
@examples(15)
def test_one_step_is_the_best_of_a_linear_model(norm, seed, epsilon):
    """No row within the budget and the bounds has a larger margin."""
    rng = np.random.default_rng(seed)
    rows, y = rng.normal(size=(40, 3)), rng.integers(0, 2, 40)
    attack = FastGradientSign(
        LogisticRegression(), epsilon=epsilon, norm=norm, bounds=(-2, 2), units="raw"
    ).fit(rows, y)
    some = rows[:5].clip(-2, 2)
    found = attack.explain(some)
    away = np.where(attack.predict(some) == 1, -1, 1)
    reached = attack.decision_function(found.rows) * away
    assert (found.distances <= epsilon).all()
    assert (np.abs(found.rows) <= 2).all()
    for row, best, way in zip(some, reached, away, strict=True):
        draws = rng.normal(size=(500, 3)) * rng.choice([0, 1], (500, 3))
        sizes = np.linalg.norm(draws, ORDERS[norm], axis=1)
        steps = epsilon * draws / np.maximum(sizes, 1e-9)[:, None]
        tried = (row + steps).clip(-2, 2)
        assert (attack.decision_function(tried) * way <= best + 1e-9).all()


def test_fewest_steps_and_restarts():
    model = LogisticRegression(max_iter=1000)
    attack = ProjectedGradient(model, n_steps=1, n_restarts=0)
    assert attack.fit(X, Y).explain(X[:3]).rows.shape == (3, 4)


def test_the_sign_of_the_slope():
    model = LogisticRegression().fit(X[:100], Y[:100])
    attack = FastGradientSign(
        FrozenEstimator(model), epsilon=0.25, units="raw", bounds=(-9, 9)
    )
    found = attack.fit(X).explain(X[:1])
    assert_allclose(found.perturbations, 0.25 * np.sign(model.coef_))
    assert_allclose(found.distances, 0.25)


@pytest.mark.parametrize("norm", ORDERS)
@pytest.mark.parametrize(
    "model",
    [
        SVC(),
        MLPClassifier((8,), solver="lbfgs", alpha=1.0, max_iter=999, random_state=0),
        GaussianNB(),
    ],
    ids=lambda model: type(model).__name__,
)
def test_many_steps_succeed_at_least_as_often(model, norm):
    shared, several = {"epsilon": 0.5, "norm": norm}, {"n_steps": 10, "random_state": 0}
    model = FrozenEstimator(model.fit(X, Y))
    rows, y = X[::6], Y[::6]
    one = FastGradientSign(model, **shared).fit(X).explain(rows, y)
    many = ProjectedGradient(model, **shared, **several).fit(X).explain(rows, y)
    assert (many.valid >= one.valid).all()
    assert many.valid.sum() > (one.status == "unchanged").sum()
    assert_array_equal(many.valid, model.predict(many.rows) != y)
    assert (many.distances <= 0.5 * (1 + 1e-9)).all()
    assert (many.rows >= X.min(axis=0)).all()
    assert (many.rows <= X.max(axis=0)).all()


def test_a_single_step_stays_where_many_end_lower():
    shared, rows, y = {"epsilon": 0.1}, X[50:], Y[50:]
    few = {"n_steps": 1, "step_size": 1e-3, "n_restarts": 0}
    model = FrozenEstimator(SVC().fit(rows, y))
    one = FastGradientSign(model, **shared).fit(rows).explain(rows, y)
    many = ProjectedGradient(model, **shared, **few).fit(rows).explain(rows, y)
    assert (one.status == "failed").any()
    assert_array_equal(many.rows, one.rows)


@BOTH
def test_a_class_is_reached(attack_class):
    attack = attack_class(SVC(), target=2, epsilon=1.0).fit(X, Y)
    found = attack.explain(X)
    assert_array_equal(found.valid, attack.predict(found.rows) == 2)
    assert_array_equal(found.status == "unchanged", attack.predict(X) == 2)
    assert (found.status[50:100] == "found").any()
    failed = found.status == "failed"
    assert all("epsilon=1.0; the margin went" in text for text in found.reasons[failed])


@BOTH
@pytest.mark.parametrize(
    "model", [LinearRegression(), GaussianProcessRegressor(optimizer=None)], ids=str
)
@pytest.mark.parametrize("desired", [(None, 1.0), (1.2, None), (0.2, 1.2)])
def test_an_interval_is_reached(attack_class, model, desired):
    rows, y = X[:, :3], X[:, 3]
    attack = attack_class(model, desired=desired, epsilon=0.5).fit(rows, y)
    found = attack.explain(rows)
    low, high = (np.nan if end is None else end for end in desired)
    answers = attack.predict(found.rows)
    assert_array_equal(found.valid, ~(answers < low) & ~(answers > high))
    assert (found.status == "found").any()
    assert attack.robust_score(rows) == np.mean(found.status != "found")


def test_one_of_several_outputs():
    model = LinearRegression()
    attack = FastGradientSign(model, desired=(None, 2.0), target=1, epsilon=0.5)
    attack.fit(X[:, :2], X[:, 2:])
    found = attack.explain(X[:, :2])
    assert_array_equal(found.valid, attack.predict(found.rows)[:, 1] <= 2.0)
    assert (found.status == "found").any()


@BOTH
def test_missing_numbers_stay_missing(attack_class):
    class Zeros(ClassifierMixin, BaseEstimator):
        """The sign of a sum in which missing numbers are zero."""

        def fit(self, X, y):
            self.classes_ = np.unique(y)
            return self

        def decision_function(self, X):
            return np.nan_to_num(np.asarray(X)).sum(axis=1)

        def predict(self, X):
            return self.classes_[(self.decision_function(X) > 0).astype(int)]

        def __sklearn_tags__(self):
            tags = super().__sklearn_tags__()
            tags.input_tags.allow_nan = True
            return tags

    rows = np.array([[0.1, np.nan, 1.0], [-0.1, 0.1, np.nan], [1.0, 2.0, -2.0]])
    attack = attack_class(Zeros(), epsilon=2.0).fit(rows, [1, 0, 1])
    found = attack.explain(rows)
    assert not attack.by_formula_
    assert_array_equal(np.isnan(found.rows), np.isnan(rows))
    assert found.valid.all()


@BOTH
@pytest.mark.parametrize("n_columns", [1, 3])
def test_one_row_one_feature_and_constant_columns(attack_class, n_columns):
    rows = np.zeros((30, n_columns))
    rows[:, 0] = np.linspace(-1, 1, 30)
    attack = attack_class(LogisticRegression(), epsilon=3.0).fit(rows, rows[:, 0] > 0)
    found = attack.explain(rows[:1])
    assert found.valid.all()
    assert not found.rows[:, 1:].any()
    assert found.rows[0, 0] <= 1


@BOTH
def test_pipelines_and_cross_validation(attack_class):
    model = make_pipeline(
        StandardScaler(), MLPClassifier((5,), solver="lbfgs", alpha=1.0)
    )
    attack = attack_class(model.set_params(mlpclassifier__random_state=0))
    results = cross_validate(attack, X, Y, cv=3, return_estimator=True)
    for fitted in results["estimator"]:
        assert fitted.by_formula_
        assert fitted.robust_score(X, Y) < fitted.score(X, Y)


@pytest.mark.thorough(after=1)
@BOTH
def test_robustness_curves(attack_class):
    attack, rows, y = attack_class(SVC()).fit(X, Y), X[::3], Y[::3]
    weights = np.where(y == 0, 0.0, 1.0)
    sizes = [0, 0.25, 0.5, 1.0]
    curve = attack.robustness_curve(rows, y, sizes=sizes, sample_weight=weights)
    assert curve[0] == attack.score(rows, y, sample_weight=weights)
    assert (np.diff(curve) < 0).all()
    attack.set_params(epsilon=0.5)
    at_half = attack.robust_score(rows, y, sample_weight=weights)
    assert_allclose(curve[2], at_half)


def test_differences_follow_any_smooth_model():
    """The attack on a formula and that on its values agree."""
    model = LogisticRegression(max_iter=500).fit(X, Y)
    by_formula = FastGradientSign(FrozenEstimator(model), epsilon=0.4).fit(X)

    class Wrapped(ClassifierMixin, BaseEstimator):
        """Probabilities of the model alone."""

        def fit(self, X, y=None):
            self.classes_ = model.classes_
            return self

        def predict_proba(self, X):
            return model.predict_proba(X)

        def predict(self, X):
            return model.predict(X)

    by_values = FastGradientSign(Wrapped(), epsilon=0.4).fit(X, Y)
    assert by_formula.by_formula_
    assert not by_values.by_formula_
    first, second = by_formula.explain(X), by_values.explain(X)
    assert_allclose(first.rows, second.rows, rtol=0, atol=1e-7)


@BOTH
@pytest.mark.parametrize(
    "model",
    [
        RandomForestClassifier(3, random_state=0),
        make_pipeline(StandardScaler(), RandomForestClassifier(3, random_state=0)),
    ],
    ids=["forest", "pipeline"],
)
def test_trees_get_an_error_that_names_what_to_use(attack_class, model):
    with pytest.raises(UnreadableModelError, match=r"HopSkipJump.*MinimalPerturbation"):
        attack_class(model).fit(X, Y)


@BOTH
def test_steps_get_an_error_too(attack_class):
    with pytest.raises(UnreadableModelError, match=r"change in steps.*HopSkipJump"):
        attack_class(KNeighborsClassifier(1)).fit(X, Y)
    bins = KBinsDiscretizer(3, strategy="uniform")
    model = make_pipeline(bins, LogisticRegression())
    with pytest.raises(UnreadableModelError, match="change in steps"):
        attack_class(model).fit(X, Y)


@BOTH
def test_few_features_with_slopes_are_enough(attack_class):
    rows = np.random.default_rng(0).normal(size=(60, 100))
    model = Lasso(alpha=0.2).fit(rows, rows[:, 3])
    attack = attack_class(FrozenEstimator(model), desired=(0.5, None), epsilon=2.0)
    found = attack.fit(rows).explain(rows)
    assert (found.status == "found").any()
    assert set(np.flatnonzero(found.changed.any(axis=0))) == {3}


@BOTH
@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"target": 7}, "target=7"),
        ({"desired": (0, 1)}, "classifier"),
        ({"bounds": ("low", "high")}, "bounds"),
        ({"bounds": (1, 0)}, "bounds has"),
        ({"bounds": {0: 1}}, "bounds has"),
        ({"bounds": {9: (0, 1)}}, "bounds"),
        ({"bounds": ([0, 0], [1, 1])}, "each of 4"),
    ],
)
def test_bad_parameters(attack_class, parameters, message):
    attack = attack_class(LogisticRegression(max_iter=1000), **parameters)
    with pytest.raises(ValueError, match=message):
        attack.fit(X, Y)


@BOTH
def test_bad_input(attack_class):
    with pytest.raises(ValueError, match="interval"):
        attack_class(LinearRegression()).fit(X, Y)
    outputs = MultiOutputClassifier(LogisticRegression(max_iter=1000))
    with pytest.raises(ValueError, match="one set of classes"):
        attack_class(outputs).fit(X, np.c_[Y, Y])
    attack = attack_class(LogisticRegression(max_iter=1000)).fit(X, Y)
    with pytest.raises(ValueError, match=r"labels 7.*no classes"):
        attack.explain(X[:2], [0, 7])
    with pytest.raises(ValueError, match="inconsistent"):
        attack.explain(X[:2], [0])


def test_arrays_as_bounds():
    low, high = X.min(axis=0), X.max(axis=0)
    first = FastGradientSign(SVC(), epsilon=5.0).fit(X, Y).explain(X)
    attack = FastGradientSign(SVC(), epsilon=5.0, bounds=(low, high)).fit(X, Y)
    assert_allclose(attack.explain(X).rows, first.rows)


def test_huge_whole_numbers_as_sizes():
    attack = ProjectedGradient(SVC(), epsilon=10**20, step_size=10**20, n_steps=2)
    attack.set_params(random_state=0).fit(X, Y)
    assert attack.explain(X[:4]).valid.all()
    assert_array_equal(attack.robustness_curve(X[:4], sizes=[0, 10**20]), [1, 0])


@pytest.mark.parametrize("sizes", [[-1, np.nan], [np.nan], [0.1, None], [-1]])
def test_sizes_of_a_curve_are_not_negative(sizes):
    attack = FastGradientSign(SVC()).fit(X, Y)
    with pytest.raises(ValueError, match=r"sizes=\[.*must hold numbers that are not"):
        attack.robustness_curve(X, sizes=sizes)


@BOTH
@pytest.mark.parametrize("n_rows", [1, 40])
def test_linear_models_are_asked_once(attack_class, n_rows, monkeypatch):
    attack = attack_class(LogisticRegression(max_iter=999), epsilon=0.5).fit(X, Y)
    rows = X[60 : 60 + n_rows]
    attack.explain(rows)
    asked = watched(monkeypatch, LogisticRegression, "decision_function")
    found = attack.explain(rows)
    # About the rows, and about those that it returns.
    assert len(asked) == 2
    assert_array_equal(found.valid, attack.predict(found.rows) != attack.predict(rows))
    assert_array_equal(found.answers, attack.predict(found.rows))
    assert_array_equal(found.predictions, attack.decision_function(found.rows))


def test_a_wrapper_may_change_scores_alone():
    class Turned(FrozenEstimator):
        def decision_function(self, X):
            return -self.estimator.decision_function(X)

    model = Turned(LogisticRegression(max_iter=999).fit(X, Y))
    found = FastGradientSign(model, epsilon=0.5).fit(X).explain(X)
    assert_array_equal(found.original_answers, model.predict(X))
    assert_array_equal(found.valid, model.predict(found.rows) != model.predict(X))
