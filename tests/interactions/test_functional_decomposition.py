"""Components against the definition, by enumeration of all coalitions."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingRegressor,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    VotingRegressor,
)
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression, PoissonRegressor
from sklearn.multioutput import MultiOutputRegressor
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVR
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from sklearn_interpret._model.formulas.trees.tree_response import read_trees
from sklearn_interpret.additive import GAMClassifier, GAMRegressor
from sklearn_interpret.interactions import FunctionalDecomposition
from sklearn_interpret.shapley import TreeSHAP

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 4)).round(1)
Y = X[:, 0] * X[:, 1] + X[:, 2] * (X[:, 3] > 0) + X[:, 0]
LABELS = np.digitize(Y, [-0.5, 1.0])
WEIGHTS = RNG.integers(1, 4, 60).astype(float)
WITH_GAPS = np.where(RNG.random(X.shape) < 0.1, np.nan, X)
FRAME = pd.DataFrame(X, columns=list("abcd")).assign(
    d=pd.Categorical(np.where(X[:, 3] > 0.5, "up", np.where(X[:, 3] < 0, "low", "mid")))
)
TREE = {"max_depth": 4, "random_state": 0}
FEW = {"n_estimators": 5, **TREE}
BY_NAME = make_column_transformer((OneHotEncoder(), ["d"]), remainder="passthrough")


def margin(model, X):
    return model.decision_function(X)


def mean_responses(respond, rows, background, weights, players):
    """Mean response to each coalition of each row, by coalition."""
    frame, own = pd.DataFrame(background), pd.DataFrame(rows)
    values = {}
    for size in range(len(players) + 1):
        for coalition in combinations(range(len(players)), size):
            columns = [column for player in coalition for column in players[player]]
            means = []
            for row in range(len(own)):
                mixed = frame.copy()
                for column in columns:
                    name = frame.columns[column]
                    filled = own[name].iloc[[row] * len(mixed)]
                    mixed[name] = filled.set_axis(mixed.index)
                taken = mixed if hasattr(background, "columns") else mixed.to_numpy()
                means.append(np.average(respond(taken), axis=0, weights=weights))
            values[coalition] = np.array(means)
    return values


def by_definition(values, members):
    """The component of a set, from the values of coalitions."""
    return sum(
        (-1) ** (len(members) - size) * values[subset]
        for size in range(len(members) + 1)
        for subset in combinations(members, size)
    )


MODELS = {
    "tree": (DecisionTreeRegressor(**TREE), X, Y, "predict"),
    "stump": (DecisionTreeRegressor(max_depth=1), X, Y, "predict"),
    "no split": (DecisionTreeRegressor(min_samples_leaf=60), X, Y, "predict"),
    "forest": (RandomForestRegressor(**FEW), X, Y, "predict"),
    "two targets": (RandomForestRegressor(**FEW), X, np.c_[Y, X[:, 1]], "predict"),
    "forest, labels": (RandomForestClassifier(**FEW), X, LABELS, "predict_proba"),
    "extra trees": (ExtraTreesClassifier(**FEW), X, LABELS, "predict_proba"),
    "tree, labels": (DecisionTreeClassifier(**TREE), X, LABELS, "predict_proba"),
    "boosting": (GradientBoostingRegressor(**FEW), X, Y, "predict"),
    "boosting, labels": (GradientBoostingClassifier(**FEW), X, LABELS, margin),
    "bagging": (BaggingRegressor(n_estimators=3, random_state=0), X, Y, "predict"),
    "voting": (
        VotingRegressor(
            [("a", RandomForestRegressor(**FEW)), ("b", LinearRegression())]
        ),
        X,
        Y,
        "predict",
    ),
    "ada boost": (AdaBoostClassifier(n_estimators=3), X, LABELS, margin),
    "histograms": (
        HistGradientBoostingRegressor(max_iter=5, min_samples_leaf=5),
        WITH_GAPS,
        Y,
        "predict",
    ),
    "histograms, labels": (
        HistGradientBoostingClassifier(max_iter=3, min_samples_leaf=5),
        X,
        LABELS,
        margin,
    ),
    "categories": (
        HistGradientBoostingRegressor(
            max_iter=5, min_samples_leaf=5, categorical_features="from_dtype"
        ),
        FRAME,
        Y,
        "predict",
    ),
    "pipeline of trees": (
        make_pipeline(BY_NAME, RandomForestRegressor(**FEW)),
        FRAME,
        Y,
        "predict",
    ),
    "scaled trees": (
        make_pipeline(StandardScaler(), RandomForestRegressor(**FEW)),
        X,
        Y,
        "predict",
    ),
    "line": (LinearRegression(), X, Y, "predict"),
    "lines": (LinearRegression(), X, np.c_[Y, X[:, 1]], "predict"),
    "logistic": (LogisticRegression(), X, LABELS, margin),
    "pipeline of lines": (
        make_pipeline(BY_NAME, LinearRegression()),
        FRAME,
        Y,
        "predict",
    ),
    "additive": (GAMRegressor(terms=[0, 1, (2, 3)], n_splines=5), X, Y, "predict"),
    "additive, labels": (GAMClassifier(n_splines=5), X, LABELS > 0, margin),
    "kernel": (SVR(), X, Y, "predict"),
    "neighbors": (KNeighborsRegressor(), X, Y, "predict"),
    "poisson": (PoissonRegressor(), X, np.abs(Y), lambda m, X: np.log(m.predict(X))),
    "several": (MultiOutputRegressor(SVR()), X, np.c_[Y, X[:, 1]], "predict"),
    "bayes": (GaussianNB(), X, LABELS, "predict_proba"),
}


def respond_with(model, method):
    """The response of a fitted model."""
    if method == "predict":
        return model.predict
    if method == "predict_proba":
        return model.predict_proba
    return lambda X: method(model, X)


def check_components(model, data, method):
    """Components of a fitted model's response are those of the definition."""
    take = data.iloc if hasattr(data, "columns") else data
    rows, background, weights = take[:3], take[20:32], WEIGHTS[20:32]
    inspector = FunctionalDecomposition(FrozenEstimator(model), max_order=4)
    inspector.fit(background, sample_weight=weights)
    explanation = inspector.explain(rows)
    respond = respond_with(model, method)
    players = [(column,) for column in range(4)]
    values = mean_responses(respond, rows, background, weights, players)
    found = dict(
        zip(inspector.interactions_, np.moveaxis(explanation.values, 1, 0), strict=True)
    )
    for size in range(1, 5):
        for members in combinations(range(4), size):
            expected = by_definition(values, members)
            component = found.get(members, 0.0)
            np.testing.assert_allclose(component, expected, rtol=0, atol=1e-10)
    np.testing.assert_allclose(explanation.base_values, values[()], atol=1e-10)
    np.testing.assert_allclose(explanation.predictions, respond(rows), atol=1e-10)
    np.testing.assert_allclose(explanation.remainder, 0, atol=1e-10)


@pytest.mark.thorough(after=2)
@pytest.mark.parametrize("name", MODELS)
def test_components_are_those_of_the_definition(name):
    estimator, data, y, method = MODELS[name]
    check_components(estimator.fit(data, y), data, method)


def boosting_of(package):
    """A small model of another library."""
    if package == "xgboost":
        model = pytest.importorskip(package).XGBRegressor(n_estimators=5, max_depth=3)
    elif package == "lightgbm":
        model = pytest.importorskip(package).LGBMRegressor(
            n_estimators=5, min_child_samples=5, verbose=-1
        )
    else:
        model = pytest.importorskip(package).CatBoostRegressor(
            iterations=5, depth=3, verbose=0, allow_writing_files=False
        )
    return model


@pytest.mark.parametrize("package", ["xgboost", "lightgbm", "catboost"])
def test_components_of_other_libraries(package):
    model = boosting_of(package).fit(X, Y)
    trees = read_trees(model)

    def margin_of_trees(model, X):
        return trees.ensemble.raw(trees.encode(np.asarray(X)))[:, 0]

    check_components(model, X, margin_of_trees)


@pytest.mark.parametrize("max_order", [1, 2, 3])
@pytest.mark.parametrize("name", ["forest", "kernel", "additive", "line"])
def test_lower_orders_are_parts_of_higher_ones(name, max_order):
    estimator, data, y, _ = MODELS[name]
    model = FrozenEstimator(estimator.fit(data, y))
    whole = FunctionalDecomposition(model, max_order=4).fit(data[:20]).explain(data[:5])
    part = FunctionalDecomposition(model, max_order=max_order).fit(data[:20])
    part = part.explain(data[:5])
    known = [s for s in whole.interactions if len(s) <= max_order]
    assert list(part.interactions) == known
    np.testing.assert_allclose(part.values, whole.values[:, : len(known)], atol=1e-10)
    others = whole.values[:, len(known) :].sum(axis=1)
    np.testing.assert_allclose(part.remainder, others, atol=1e-10)


@pytest.mark.parametrize("name", ["forest", "forest, labels", "histograms", "kernel"])
def test_groups_of_features_are_taken_together(name):
    estimator, data, y, method = MODELS[name]
    model = estimator.fit(data, y)
    groups = {"pair": [0, 2]}
    inspector = FunctionalDecomposition(
        FrozenEstimator(model), max_order=3, feature_groups=groups
    ).fit(data[:20])
    explanation = inspector.explain(data[:4])
    respond, weights = respond_with(model, method), np.ones(20)
    values = mean_responses(respond, data[:4], data[:20], weights, inspector.features_)
    for place, members in enumerate(explanation.interactions):
        expected = by_definition(values, members)
        np.testing.assert_allclose(explanation.values[:, place], expected, atol=1e-10)
    np.testing.assert_allclose(explanation.remainder, 0, atol=1e-10)


@pytest.mark.parametrize("perturbation", ["interventional", "path_dependent"])
def test_shapley_values_are_those_of_trees(perturbation):
    model = FrozenEstimator(RandomForestRegressor(10, random_state=0).fit(X, Y))
    inspector = FunctionalDecomposition(model, max_order=4, perturbation=perturbation)
    explanation = inspector.fit(X).explain(X[:9])
    known = TreeSHAP(model, perturbation=perturbation).fit(X)
    np.testing.assert_allclose(
        explanation.to_explanation().values, known.explain(X[:9]).values, atol=1e-12
    )
    pairs = explanation.to_index("SII").order(2)
    expected = known.interaction_values(X[:9])
    for place, (i, j) in enumerate(pairs.interactions):
        np.testing.assert_allclose(
            pairs.values[:, place], 2 * expected[:, i, j], atol=1e-12
        )


@pytest.mark.parametrize("name", ["forest", "two targets", "line", "neighbors"])
@pytest.mark.parametrize("max_order", [1, 2, 4])
def test_shares_are_covariances_with_the_response(name, max_order):
    estimator, data, y, _ = MODELS[name]
    model = FrozenEstimator(estimator.fit(data, y))
    inspector = FunctionalDecomposition(model, max_order=max_order)
    inspector.fit(data, sample_weight=WEIGHTS)
    explanation = inspector.explain(data)
    parts = np.concatenate(
        [explanation.values, explanation.remainder[:, None]], axis=1
    ).reshape(len(data), -1, len(inspector.output_names_))
    whole = explanation.predictions.reshape(len(data), 1, -1)
    means = [np.average(part, axis=0, weights=WEIGHTS) for part in (parts, whole)]
    products = (parts - means[0]) * (whole - means[1])
    variances = np.average((whole - means[1]) ** 2, axis=0, weights=WEIGHTS)
    expected = np.average(products, axis=0, weights=WEIGHTS) / variances
    *shares, rest = expected
    shares = np.array(shares).reshape(inspector.shares_.shape)
    np.testing.assert_allclose(inspector.shares_, shares, atol=1e-12)
    np.testing.assert_allclose(inspector.unexplained_, np.squeeze(rest), atol=1e-12)
    total = inspector.shares_.sum(axis=0) + inspector.unexplained_
    np.testing.assert_allclose(total, 1, atol=1e-12)


def test_shares_of_correlated_features_sum_to_one():
    """Variances of ten features that rise together are a fifth of that of their sum."""
    rng = np.random.default_rng(0)
    together = 0.7 * rng.normal(size=(300, 1)) + 0.7 * rng.normal(size=(300, 10))
    model = LinearRegression().fit(together, together.sum(axis=1))
    inspector = FunctionalDecomposition(FrozenEstimator(model)).fit(together)
    whole = model.predict(together).var()
    assert inspector.variances_.sum() / whole < 0.3
    assert inspector.shares_.sum() == pytest.approx(1)
    against = np.array([1.0, *[-0.1] * 9])
    model = LinearRegression().fit(together, together @ against)
    inspector = FunctionalDecomposition(FrozenEstimator(model)).fit(together)
    assert inspector.shares_.min() < 0
    assert inspector.shares_.sum() == pytest.approx(1)


def test_a_constant_response_has_no_shares():
    for estimator in (LinearRegression(), DummyRegressor(), SVR()):
        model = FrozenEstimator(estimator.fit(X, np.full(len(X), 0.1)))
        inspector = FunctionalDecomposition(model).fit(X)
        assert not inspector.shares_.any()
        assert inspector.unexplained_ == 0


def test_variances_beyond_the_largest_float_are_refused():
    model = FrozenEstimator(DecisionTreeRegressor().fit(X[:9], 1e200 * Y[:9]))
    inspector = FunctionalDecomposition(model).fit(X[:9])
    for name in ("variances_", "shares_", "unexplained_", "feature_importances_"):
        with pytest.raises(ValueError, match="beyond the largest float"):
            getattr(inspector, name)


@pytest.mark.parametrize("max_order", [10**5, 10**18])
@pytest.mark.parametrize("name", ["forest", "histograms", "kernel", "line", "additive"])
def test_an_order_beyond_all_players_is_that_of_all(name, max_order):
    """No array and no loop has the size of the order that was asked for."""
    estimator, data, y, _ = MODELS[name]
    model = FrozenEstimator(estimator.fit(data, y))
    found = FunctionalDecomposition(model, max_order=max_order).fit(data[:20])
    whole = FunctionalDecomposition(model, max_order=4).fit(data[:20])
    assert found.interactions_ == whole.interactions_
    expected = whole.explain(data[:5]).values
    np.testing.assert_array_equal(found.explain(data[:5]).values, expected)
