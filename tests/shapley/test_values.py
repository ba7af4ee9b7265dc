"""ShapleyValues takes what suits the model, and says the same as that."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.decomposition import PCA
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    StackingRegressor,
)
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor

from sklearn_interpret.exceptions import UnreadableModelError
from sklearn_interpret.shapley import (
    ExactShapley,
    KernelSHAP,
    LinearSHAP,
    ShapleySampling,
    ShapleyValues,
    TreeSHAP,
)

RNG = np.random.default_rng(0)
X = RNG.normal(size=(150, 4))
Y = X[:, 0] * X[:, 1] + X[:, 2]
WIDE = RNG.normal(size=(60, 12))
NEIGHBORS = KNeighborsRegressor(3)


NUMBERS, LABELS, MANY = (X, Y), (X, Y > 0), (WIDE, WIDE[:, 0])
TREE = DecisionTreeRegressor(random_state=0)
BOOSTING = GradientBoostingClassifier(n_estimators=3, random_state=0)
PROBABILITIES = {"response_method": "predict_proba"}


@pytest.mark.parametrize(
    ("model", "data", "params", "algorithm"),
    [
        (HistGradientBoostingRegressor(max_iter=3), NUMBERS, {}, "tree"),
        (RandomForestClassifier(3, random_state=0), LABELS, {}, "tree"),
        (BOOSTING, LABELS, {}, "tree"),
        (make_pipeline(StandardScaler(), TREE), NUMBERS, {}, "tree"),
        # Only asking the model is exact for a link of a sum.
        (BOOSTING, LABELS, PROBABILITIES, "exact"),
        (Ridge(), NUMBERS, {}, "linear"),
        (make_pipeline(StandardScaler(), LogisticRegression()), LABELS, {}, "linear"),
        (LogisticRegression(), LABELS, PROBABILITIES, "exact"),
        (make_pipeline(PCA(), LinearRegression()), NUMBERS, {}, "exact"),
        (StackingRegressor([("one", Ridge())], cv=2), NUMBERS, {}, "exact"),
        (NEIGHBORS, NUMBERS, {}, "exact"),
        (NEIGHBORS, NUMBERS, {"budget": 15}, "kernel"),
        (NEIGHBORS, NUMBERS, {"budget": 16}, "exact"),
        (NEIGHBORS, MANY, {}, "kernel"),
        (NEIGHBORS, MANY, {"feature_groups": {"g": slice(0, 3)}}, "exact"),
        (NEIGHBORS, NUMBERS, {"response_method": lambda m, X: X[:, 0]}, "exact"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_the_choice(model, data, params, algorithm):
    inspector = ShapleyValues(model, random_state=0, subsample=8, **params).fit(*data)
    assert inspector.algorithm_ == algorithm
    explanation = inspector.explain(data[0][:2])
    assert np.abs(explanation.additivity_error()).max() < 1e-9


@pytest.mark.parametrize(
    ("algorithm", "kind", "own"),
    [
        ("tree", TreeSHAP, {}),
        ("exact", ExactShapley, {}),
        ("kernel", KernelSHAP, {"n_coalitions": 12}),
        ("permutation", ShapleySampling, {"n_permutations": 4}),
    ],
)
def test_it_says_what_the_chosen_one_says(algorithm, kind, own):
    model = DecisionTreeRegressor(max_depth=4, random_state=0).fit(X, Y)
    common = {"feature_groups": {"g": [1, 2]}, "background": X[:9], "random_state": 3}
    chosen = kind(FrozenEstimator(model), **own, **common).fit(X)
    inspector = ShapleyValues(
        FrozenEstimator(model), algorithm=algorithm, budget=own and 12, **common
    )
    if not own:
        inspector.set_params(budget=None)
    if algorithm == "permutation":
        inspector.set_params(budget=8)
    inspector.fit(X)
    found, expected = inspector.explain(X[:6]), chosen.explain(X[:6])
    assert_array_equal(found.values, expected.values)
    assert_array_equal(found.base_values, expected.base_values)
    assert found.feature_names == expected.feature_names
    if expected.standard_errors is None:
        assert found.standard_errors is None
    else:
        assert_array_equal(found.standard_errors, expected.standard_errors)
    assert inspector.player_names_ == chosen.player_names_
    assert_array_equal(inspector.background_, X[:9])
    shares_pairs = hasattr(chosen, "interaction_values")
    assert hasattr(inspector, "interaction_values") == shares_pairs
    if shares_pairs:
        pairs = chosen.interaction_values(X[:3])
        assert_array_equal(inspector.interaction_values(X[:3]), pairs)
    copy = pickle.loads(pickle.dumps(inspector))
    assert_array_equal(copy.explain(X[:6]).values, expected.values)


def test_linear_models_and_weights():
    model, weights = Ridge().fit(X, Y), RNG.integers(0, 3, len(X))
    inspector = ShapleyValues(FrozenEstimator(model))
    inspector.fit(X, sample_weight=weights)
    expected = LinearSHAP(FrozenEstimator(model)).fit(X, sample_weight=weights)
    found = inspector.explain(X[:5])
    assert_array_equal(found.values, expected.explain(X[:5]).values)
    assert inspector.base_values_ == expected.base_values_
    assert not hasattr(inspector, "interaction_values")


def test_how_many_rows_stand_for_absent_features():
    trees = DecisionTreeRegressor(max_depth=3, random_state=0)
    for model, wanted, expected in (
        (trees, {}, 150),
        (trees, {"subsample": 20}, 20),
        (NEIGHBORS, {}, 100),
        (NEIGHBORS, {"subsample": 1.0}, 150),
        (NEIGHBORS, {"subsample": 0.1}, 15),
    ):
        inspector = ShapleyValues(model, random_state=0, **wanted).fit(X, Y)
        assert len(inspector.background_) == expected
    importances = inspector.feature_importances_
    assert importances.shape == (4,)
    assert importances.min() > 0


@pytest.mark.parametrize(
    ("params", "error", "message"),
    [
        ({"algorithm": "deep"}, ValueError, "'algorithm' parameter"),
        ({"budget": 1}, ValueError, "'budget' parameter"),
        ({"subsample": "all"}, ValueError, "'subsample' parameter"),
        ({"algorithm": "tree"}, UnreadableModelError, "KNeighborsRegressor"),
        ({"algorithm": "linear"}, UnreadableModelError, "KNeighborsRegressor"),
        ({"target": 2}, ValueError, "target=2"),
        ({"background": X[:, :2]}, ValueError, "features"),
    ],
    ids=lambda value: str(value) if isinstance(value, str | dict) else "",
)
def test_bad_parameters(params, error, message):
    params.setdefault("subsample", 5)
    with pytest.raises(error, match=message):
        ShapleyValues(NEIGHBORS, **params).fit(X, Y)


@pytest.mark.parametrize(
    ("model", "y", "method"),
    [
        (
            GradientBoostingClassifier(n_estimators=10, random_state=0),
            Y > 0,
            "predict_proba",
        ),
        (
            HistGradientBoostingRegressor(loss="poisson", max_iter=10),
            np.exp(Y),
            "predict",
        ),
    ],
    ids=["probabilities", "log link"],
)
def test_links_of_sums_of_trees_are_valued_by_their_own_game(model, y, method):
    """TreeSHAP rescales margins and says so; ShapleyValues evaluates the response."""
    frozen, background, rows = FrozenEstimator(model.fit(X, y)), X[:20], X[20:28]
    params = {"response_method": method, "background": background}
    exact = ExactShapley(frozen, **params).fit(X).explain(rows)
    chosen = ShapleyValues(frozen, **params).fit(X).explain(rows)
    rescaled = TreeSHAP(frozen, **params).fit(X).explain(rows)
    assert_array_equal(chosen.values, exact.values)
    assert chosen.approximation is exact.approximation is None
    assert rescaled.approximation == rescaled[0].approximation == "rescaled margins"
    assert "(rescaled margins)" in repr(rescaled)
    apart = np.abs(rescaled.values - exact.values).max()
    assert apart > 0.02 * np.abs(exact.values).max()
    margins = TreeSHAP(frozen, background=background).fit(X).explain(rows)
    assert margins.approximation is None
    assert "margins" not in repr(margins)


def test_a_budget_beyond_all_bounds():
    wide = np.eye(22)
    model = FrozenEstimator(KNeighborsRegressor(2).fit(wide, np.arange(22)))
    inspector = ShapleyValues(model, budget=10**18)
    with pytest.raises(ValueError, match="n_coalitions=1000000000000000000 of 22"):
        inspector.fit(wide)


def test_the_smallest_budget():
    inspector = ShapleyValues(NEIGHBORS, algorithm="permutation", budget=2)
    assert inspector.fit(X, Y).explain(X[:2]).values.shape == (2, 4)
