"""Bad input to TreeSHAP: an error that says what is wrong and what is accepted."""

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.ensemble import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    IsolationForest,
    RandomForestRegressor,
)
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeRegressor

from sklearn_interpret.exceptions import AdditivityWarning, UnreadableModelError
from sklearn_interpret.shapley import TreeSHAP
from tests.model.formulas.trees.data import labels, table

pd = pytest.importorskip("pandas")

X, Y = table(80, 4)
TWO, THREE = labels(Y, 2), labels(Y, 3)
FRAME = pd.DataFrame(X, columns=["alpha", "beta", "gamma", "delta"])
FOREST = RandomForestRegressor(3, max_depth=3, random_state=0)
ASKED = ["explain", "transform", "interaction_values"]


# Models


@pytest.mark.parametrize(
    ("model", "y"),
    [(LinearRegression(), Y), (make_pipeline(PCA(), FOREST), Y)],
    ids=lambda value: type(value).__name__,
)
@pytest.mark.parametrize("perturbation", ["interventional", "path_dependent"])
def test_models_whose_trees_cannot_be_read(model, y, perturbation):
    inspector = TreeSHAP(model, perturbation=perturbation)
    with pytest.raises(UnreadableModelError) as caught:
        inspector.fit(X, y)
    message = str(caught.value)
    assert type(model).__name__ in message
    for readable in ("RandomForest*", "HistGradientBoosting*", "XGBoost", "Pipeline"):
        assert readable in message
    assert isinstance(caught.value, TypeError)


def test_an_outlier_detector_needs_no_targets():
    inspector = TreeSHAP(IsolationForest(n_estimators=3, random_state=0)).fit(X)
    assert inspector.explain(X).values.shape == X.shape


def test_importances_before_fit():
    with pytest.raises(NotFittedError):
        TreeSHAP(FOREST).feature_importances_  # noqa: B018


# The background


@pytest.mark.parametrize(
    ("background", "message"),
    [
        (X[:, :3], "3 features"),
        (np.hstack([X, X]), "8 features"),
        (X[:0], r"0 sample\(s\)"),
        (X[0], "2D array"),
        ("median", "background"),
        (3, "background"),
        (object(), "background"),
        (FRAME[["beta", "alpha", "gamma", "delta"]], "same order"),
        (FRAME.rename(columns={"beta": "Beta"}), "unseen at fit time"),
        (FRAME.drop(columns="beta"), "missing"),
        (FRAME[:0], r"0 sample\(s\)"),
    ],
)
def test_backgrounds_that_are_no_rows_of_the_model(background, message):
    rows = FRAME if isinstance(background, pd.DataFrame) else X
    with pytest.raises((ValueError, TypeError), match=message):
        TreeSHAP(FOREST, background=background).fit(rows, Y)


def test_a_background_that_is_not_looked_at():
    inspector = TreeSHAP(FOREST, perturbation="path_dependent", background=X)
    with pytest.raises(ValueError, match=r"path_dependent.*background=None"):
        inspector.fit(X, Y)


# The response


BOOSTING = GradientBoostingClassifier(n_estimators=2, random_state=0)
COUNTS = HistGradientBoostingRegressor(loss="poisson", max_iter=2)


@pytest.mark.parametrize(
    ("model", "y", "method"),
    [(BOOSTING, TWO, "predict_proba"), (COUNTS, np.abs(Y), "predict")],
)
def test_functions_of_the_sum_have_no_path_dependent_values(model, y, method):
    inspector = TreeSHAP(model, perturbation="path_dependent", response_method=method)
    with pytest.raises(ValueError, match=f'{method}".*interventional'):
        inspector.fit(X, y)


@pytest.mark.parametrize(
    ("y", "method"),
    [(THREE, "predict_proba"), (TWO, "predict"), (TWO, "predict_log_proba")],
)
def test_responses_that_are_no_function_of_one_sum(y, method):
    with pytest.raises(UnreadableModelError, match=f'{method}"') as caught:
        TreeSHAP(BOOSTING, response_method=method).fit(X, y)
    assert 'response_method="auto"' in str(caught.value)


# The rows to explain


@pytest.mark.parametrize("name", ASKED)
@pytest.mark.parametrize("where", ["rows", "background", "fit"])
def test_missing_values_that_the_model_refuses(name, where):
    gaps = X.copy()
    gaps[3, 1] = np.nan
    model = GradientBoostingRegressor(n_estimators=3, random_state=0).fit(X, Y)
    background = gaps if where == "background" else None
    inspector = TreeSHAP(FrozenEstimator(model), background=background)
    if where == "rows":
        inspector.fit(X)
        with pytest.raises(ValueError, match="NaN"):
            getattr(inspector, name)(gaps)
    else:
        with pytest.raises(ValueError, match="NaN"):
            inspector.fit(gaps if where == "fit" else X)


def test_sums_beyond_the_largest_float_are_an_error():
    tree = DecisionTreeRegressor(max_depth=2, random_state=0).fit(X, Y)
    leaves = tree.tree_.value
    leaves[:] = np.where(leaves > np.median(Y), 1.7e308, -1.7e308)
    low, high = X[tree.predict(X) < 0][:1], X[tree.predict(X) > 0][:1]
    inspector = TreeSHAP(FrozenEstimator(tree), background=low).fit(X)
    for ask in (inspector.explain, inspector.interaction_values):
        with pytest.raises(ValueError, match="values of row 1 are not finite"):
            ask(np.vstack([low, high]))


# A model that answers otherwise than its trees


def test_a_model_that_is_not_the_sum_of_its_trees_is_told_of(monkeypatch):
    predict = DecisionTreeRegressor.predict
    shifted = lambda self, X: predict(self, X) + 1e-3 * X[:, 0]  # noqa: E731
    monkeypatch.setattr(DecisionTreeRegressor, "predict", shifted)
    inspector = TreeSHAP(DecisionTreeRegressor(max_depth=3)).fit(X, Y)
    with pytest.warns(AdditivityWarning, match=r"miss the prediction of \d+ of 80"):
        explanation = inspector.explain(X)
    assert np.abs(explanation.additivity_error()).max() > 1e-4
