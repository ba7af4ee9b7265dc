"""Survival models as regressors with an output for each time."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_diabetes
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from sklearn_interpret.effects import PartialDependence, PartialDependenceDisplay
from sklearn_interpret.importance import PermutationImportance
from sklearn_interpret.shapley import ExactShapley, ShapleyWaterfallDisplay
from sklearn_interpret.survival import SurvivalModel
from tests.survival.data import LogisticEnds, logistic_hazard, logistic_survival

CHECKS = parametrize_with_checks([SurvivalModel(LogisticEnds())]).args[1]
# They need one prediction for each row, and here is one for each time.
OF_ONE_OUTPUT = (
    "check_estimator_sparse_array",
    "check_estimator_sparse_matrix",
    "check_regressors_train",
)
TIMES = [100.0, 150.0, 151.25]


@pytest.fixture(scope="module")
def table():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    return X[["bmi", "bp", "s5"]] * 30, y


@pytest.mark.parametrize(
    ("estimator", "check"),
    [pair for pair in CHECKS if pair[1].func.__name__ not in OF_ONE_OUTPUT],
    ids=lambda part: getattr(part, "func", type(part)).__name__,
)
def test_check_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize(
    ("response_method", "function", "name"),
    [
        ("survival", logistic_survival, "survival probability"),
        ("cumulative_hazard", logistic_hazard, "cumulative hazard"),
    ],
)
def test_predictions_are_the_functions_at_the_times(
    table, response_method, function, name
):
    X, y = table
    model = SurvivalModel(
        LogisticEnds(), response_method=response_method, times=TIMES
    ).fit(X, y)
    ends = LinearRegression().fit(X, y).predict(X)
    assert_allclose(model.predict(X), function(ends[:, None], TIMES), rtol=1e-12)
    assert model.score(X, y) == LinearRegression().fit(X, y).score(X, y)
    assert model.output_names_ == ["t = 100", "t = 150", "t = 151.2"]
    assert model.response_name_ == name


def test_times_by_default_are_observed_quantiles(table):
    X, y = table
    model = SurvivalModel(LogisticEnds()).fit(X, y)
    assert len(model.times_) == 5
    assert set(model.times_) <= set(y)
    # Of survival targets, those of events alone.
    targets = np.array(
        list(zip(y > 100, y, strict=True)), dtype=[("event", bool), ("time", float)]
    )
    frozen = FrozenEstimator(LogisticEnds().fit(X, y))
    times = SurvivalModel(frozen).fit(X, targets).times_
    events = np.sort(y[y > 100])
    assert_array_equal(times[2], events[(len(events) - 1) // 2])


def test_names_tell_times_apart(table):
    model = SurvivalModel(LogisticEnds(), times=[1000.01, 1000.02]).fit(*table)
    assert model.output_names_ == ["t = 1000.01", "t = 1000.02"]


@pytest.mark.parametrize("times", [[], [2.0, 1.0], [1.0, 1.0], [[1.0]], [1.0, np.nan]])
def test_times_must_increase(table, times):
    with pytest.raises(ValueError, match=r"times=.* must be increasing numbers"):
        SurvivalModel(LogisticEnds(), times=times).fit(*table)


def test_bad_input(table):
    X, y = table
    with pytest.raises(ValueError, match="response_method='risk' must be one of"):
        SurvivalModel(LogisticEnds(), response_method="risk").fit(X, y)
    with pytest.raises(TypeError, match="has no predict_survival_function, which"):
        SurvivalModel(LinearRegression()).fit(X, y)
    with pytest.raises(ValueError, match="times=None takes the times of events"):
        SurvivalModel(FrozenEstimator(LogisticEnds().fit(X, y))).fit(X)


def test_frozen_models_stay_and_others_are_cloned(table):
    X, y = table
    inner = LogisticEnds().fit(X, y)
    model = SurvivalModel(FrozenEstimator(inner), times=TIMES).fit(X)
    assert model.estimator_.estimator is inner
    assert_array_equal(model.feature_names_in_, X.columns)
    unfitted = SurvivalModel(LogisticEnds(), times=TIMES)
    assert clone(unfitted).fit(X, y).estimator_ is not unfitted.estimator
    again = pickle.loads(pickle.dumps(model))
    assert_array_equal(again.predict(X), model.predict(X))
    search = GridSearchCV(unfitted, {"estimator__fit_intercept": [True, False]})
    assert search.fit(X, y).best_params_ == {"estimator__fit_intercept": True}


def test_outputs_of_inspectors_have_the_times_in_their_names(table):
    X, y = table
    model = SurvivalModel(LogisticEnds(), times=TIMES)
    inspector = PartialDependence(model, features=["bmi"]).fit(X, y)
    assert list(inspector.output_names_) == ["t = 100", "t = 150", "t = 151.2"]
    assert set(inspector.to_frame()["output"]) == set(inspector.output_names_)
    assert inspector.to_dict()["names"]["response"] == "survival probability"
    one = PartialDependence(model, features=["bmi"], target=1).fit(X, y)
    assert list(one.output_names_) == ["t = 150"]
    steps = make_pipeline(StandardScaler(), model)
    assert list(PartialDependence(steps).fit(X, y).output_names_) == list(
        inspector.output_names_
    )
    explanation = ExactShapley(model, subsample=20).fit(X, y).explain(X[:3])
    display = ShapleyWaterfallDisplay.from_explanation(
        explanation, row=0, target="t = 150"
    )
    assert "Survival probability at t = 150" in display.ax_.get_xlabel()
    display = PartialDependenceDisplay.from_estimator(
        SurvivalModel(LogisticEnds(), times=150).fit(X, y), X, features=["bmi"]
    )
    assert display.axes_[0, 0].get_ylabel().startswith("Survival probability at t = ")


def test_weights_go_to_models_that_take_them(table):
    X, y = table
    weights = np.arange(len(X)) % 3
    model = SurvivalModel(make_pipeline(StandardScaler(), LogisticEnds()), times=TIMES)
    inspector = PartialDependence(model, features=["bmi"])
    fitted = inspector.fit(X, y, sample_weight=weights).estimator_
    rows = np.repeat(np.arange(len(X)), weights)
    # The scaler takes no weights, but does not change a linear model.
    repeated = clone(model).fit(X.iloc[rows], y.iloc[rows])
    assert_allclose(fitted.predict(X), repeated.predict(X), rtol=1e-8)


def test_importance_takes_the_score_of_the_model(table):
    X, y = table
    model = SurvivalModel(LogisticEnds(), times=TIMES)
    options = {"n_repeats": 2, "random_state": 0}
    ours, inner = (
        PermutationImportance(estimator, **options).fit(X, y).importances_mean_
        for estimator in (model, LogisticEnds())
    )
    assert_allclose(ours, inner, rtol=1e-10)
