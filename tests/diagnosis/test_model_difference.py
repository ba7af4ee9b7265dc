"""Differences of models against what is computed of each model."""

import pickle
from functools import partial

import numpy as np
import pytest
from sklearn.base import clone, is_regressor
from sklearn.datasets import load_diabetes, load_iris
from sklearn.ensemble import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import (
    Lasso,
    LinearRegression,
    LogisticRegression,
    PoissonRegressor,
    QuantileRegressor,
    Ridge,
)
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsRegressor
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVR
from sklearn.tree import DecisionTreeRegressor
from sklearn.utils import get_tags

from sklearn_interpret._model.actions.target import TargetOutcome
from sklearn_interpret._model.formulas.linear import read_linear
from sklearn_interpret._model.formulas.trees.tree_response import read_trees
from sklearn_interpret._model.gradients.models import read_scores
from sklearn_interpret.counterfactuals import ExactCounterfactual
from sklearn_interpret.diagnosis import ModelDifference
from sklearn_interpret.effects import (
    AccumulatedLocalEffects,
    PartialDependence,
    PartialDependenceDisplay,
)
from sklearn_interpret.exceptions import UnreadableModelError
from sklearn_interpret.importance import SAGE, PermutationImportance
from sklearn_interpret.interactions import FunctionalDecomposition, HStatistic
from sklearn_interpret.report import InspectionReport
from sklearn_interpret.shapley import (
    BreakDown,
    ExactShapley,
    LinearSHAP,
    ShapleyValues,
    TreeSHAP,
)

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
X, y = X.iloc[:150, [0, 1, 2, 3, 8]], y[:150]
FLOWERS, KINDS = load_iris(return_X_y=True, as_frame=True)
FLOWERS, KINDS = FLOWERS[::2], np.array(["a", "b", "c"])[KINDS[::2]]
WEIGHTS = 2, -0.5


def forest(seed=0):
    return RandomForestRegressor(5, max_depth=3, random_state=seed).fit(X, y)


def hist(**params):
    return HistGradientBoostingRegressor(max_iter=5, **params).fit(X, y)


def boosting(**params):
    return GradientBoostingRegressor(n_estimators=5, random_state=0, **params).fit(X, y)


def scaled(model):
    return make_pipeline(StandardScaler(), model).fit(X, y)


MODELS_OF_TREES = {
    "forests": lambda: [forest(), forest(1)],
    "quantiles": lambda: [
        boosting(loss="quantile", alpha=alpha) for alpha in (0.9, 0.1)
    ],
    "hist and forest": lambda: [hist(), forest()],
    "pipelines": lambda: [scaled(forest()), scaled(boosting())],
    "pipeline and hist": lambda: [
        scaled(DecisionTreeRegressor(max_depth=3)),
        hist(categorical_features=[1]),
    ],
}
of_trees = pytest.mark.parametrize(
    "make", MODELS_OF_TREES.values(), ids=MODELS_OF_TREES
)


@pytest.fixture
def asked(monkeypatch):
    """Numbers of rows that were sent to models of some classes."""
    asked = []

    def counted(predict):
        def count(self, X):
            asked.append(len(X))
            return predict(self, X)

        return count

    for kind in (
        RandomForestRegressor,
        GradientBoostingRegressor,
        HistGradientBoostingRegressor,
    ):
        monkeypatch.setattr(kind, "predict", counted(kind.predict))
    return asked


def combined(results):
    """The weighted sum of results of both models."""
    first, second = map(np.asarray, results)
    return WEIGHTS[0] * first + WEIGHTS[1] * second


def close(actual, expected, tolerance=1e-10):
    scale = max(1, np.abs(expected).max())
    np.testing.assert_allclose(actual, expected, atol=tolerance * scale, rtol=0)


@of_trees
def test_predictions_are_summed(make):
    models = make()
    predictions = [model.predict(X) for model in models]
    close(ModelDifference(models, WEIGHTS).predict(X), combined(predictions))


@of_trees
def test_shapley_values_of_trees_add_up(make):
    def values(model):
        return TreeSHAP(model).fit(X).transform(X[:9])

    models = make()
    expected = combined([values(FrozenEstimator(model)) for model in models])
    close(values(ModelDifference(models, WEIGHTS)), expected)


@of_trees
def test_shapley_values_along_paths_add_up(make):
    def values(model):
        inspector = TreeSHAP(model, perturbation="path_dependent")
        return inspector.fit(X).transform(X[:9])

    models = make()
    expected = combined([values(FrozenEstimator(model)) for model in models])
    close(values(ModelDifference(models, WEIGHTS)), expected)


@of_trees
def test_effects_of_trees_add_up_without_asking(make, asked):
    models = make()
    difference = ModelDifference(models, WEIGHTS)
    for inspector, name in (
        (PartialDependence, "average_"),
        (AccumulatedLocalEffects, "effects_"),
    ):
        asked.clear()
        curves = getattr(inspector(difference).fit(X), name)
        assert sum(asked) <= 2 * len(models) * 8  # rows that are compared
        by_model = [
            getattr(inspector(FrozenEstimator(model)).fit(X), name) for model in models
        ]
        for curve, *of_models in zip(curves, *by_model, strict=True):
            close(curve, combined(of_models))


@of_trees
def test_what_is_not_linear_equals_the_general_method(make, asked):
    difference = ModelDifference(make(), WEIGHTS)
    asked.clear()
    exact = HStatistic(difference).fit(X[:40])
    assert sum(asked) <= 2 * 2 * 40
    # A subclass that may predict anything is asked.
    general = HStatistic(Unknown(difference.models, WEIGHTS)).fit(X[:40])
    for name in ("overall_", "pairwise_", "overall_unnormalized_"):
        close(getattr(exact, name), getattr(general, name), 1e-8)


class Unknown(ModelDifference):
    """A difference with a method that no reader knows."""

    def predict(self, X):
        return super().predict(X)


def test_overridden_methods_are_not_read():
    difference = Unknown([forest(), forest(1)])
    with pytest.raises(UnreadableModelError, match="with predict of its own"):
        read_trees(difference)
    with pytest.raises(UnreadableModelError, match="with predict of its own"):
        read_linear(difference)


@pytest.mark.parametrize(
    "make",
    [
        partial(SAGE, background=X, method="exact"),
        partial(PermutationImportance, method="exact"),
    ],
    ids=["SAGE", "permutation"],
)
def test_importances_equal_those_of_the_general_method(make):
    models = [forest(), hist()]
    target = models[0].predict(X) - y
    results = [
        make(kind(models, WEIGHTS)).fit(X, target).feature_importances_
        for kind in (ModelDifference, Unknown)
    ]
    close(*results, 1e-8)


def test_components_add_up():
    models = [forest(), hist()]
    inspectors = [
        FunctionalDecomposition(model, max_order=2).fit(X[:50])
        for model in (ModelDifference(models, WEIGHTS), *map(FrozenEstimator, models))
    ]
    difference, *by_model = [inspector.explain(X[:4]) for inspector in inspectors]
    values = [dict(zip(e.interactions, e.values.T, strict=True)) for e in by_model]
    for found, components in zip(
        difference.interactions, difference.values.T, strict=True
    ):
        zero = np.zeros(4)
        close(components, combined([each.get(found, zero) for each in values]), 1e-9)


def test_nearest_row_is_found_by_the_trees(asked):
    difference = ModelDifference([forest(), forest(1)])
    low, high = np.quantile(difference.predict(X), [0.1, 0.9])
    row = X[difference.predict(X) <= low][:1]
    search = ExactCounterfactual(difference, desired=(high, None)).fit(X)
    changed = search.set_output(transform="pandas").transform(row)
    assert difference.predict(changed)[0] >= high


LINEAR = {
    "pipelines": lambda: [scaled(Ridge()), scaled(Lasso())],
    "plain": lambda: [Ridge().fit(X, y), QuantileRegressor(alpha=0).fit(X, y)],
    "mixed": lambda: [scaled(Ridge()), LinearRegression().fit(X, y)],
    "sparse columns": lambda: [
        make_pipeline(OneHotEncoder(handle_unknown="ignore"), Ridge()).fit(X, y),
        scaled(Ridge()),
    ],
}


@pytest.mark.parametrize("name", LINEAR)
@pytest.mark.parametrize("perturbation", ["interventional", "correlation"])
def test_shapley_values_of_linear_models_add_up(name, perturbation):
    if (name, perturbation) == ("sparse columns", "correlation"):
        return  # the columns of both models are jointly normal there: another game

    def values(model):
        inspector = LinearSHAP(model, perturbation=perturbation, random_state=0)
        return inspector.fit(X).transform(X[:9])

    models = LINEAR[name]()
    expected = combined([values(FrozenEstimator(model)) for model in models])
    # Pseudoinverses of covariances round more.
    tolerance = 1e-10 if perturbation == "interventional" else 1e-8
    close(values(ModelDifference(models, WEIGHTS)), expected, tolerance)


def test_any_two_linear_functions_are_one():
    models = [Ridge().fit(X, y), Lasso().fit(X, y)]
    read = read_linear(ModelDifference(models))
    close(read.coefficients[:, 0], models[0].coef_ - models[1].coef_)
    assert not read.steps
    assert ShapleyValues(ModelDifference(models)).fit(X).algorithm_ == "linear"


def test_scores_of_linear_classifiers_add_up():
    models = [LogisticRegression(C=c, max_iter=5000) for c in (1, 0.1)]
    models = [model.fit(FLOWERS, KINDS) for model in models]
    difference = ModelDifference(models, response_method="decision_function")
    values = [
        LinearSHAP(model).fit(FLOWERS).transform(FLOWERS[:5])
        for model in (difference, *map(FrozenEstimator, models))
    ]
    close(values[0], values[1] - values[2])
    with pytest.raises(UnreadableModelError, match="link of a linear function"):
        LinearSHAP(ModelDifference(models)).fit(FLOWERS)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_probabilities_of_forests_add_up(n_classes):
    rows = np.isin(KINDS, ["a", "b", "c"][:n_classes])
    flowers, kinds = FLOWERS[rows], KINDS[rows]
    models = [
        RandomForestClassifier(5, max_depth=2, random_state=seed).fit(flowers, kinds)
        for seed in (0, 1)
    ]
    difference = ModelDifference(models, WEIGHTS)
    probabilities = combined([model.predict_proba(flowers) for model in models])
    expected = probabilities[:, 1] if n_classes == 2 else probabilities
    close(difference.predict(flowers), expected)
    values = [
        TreeSHAP(model).fit(flowers).transform(flowers[:5])
        for model in (difference, *map(FrozenEstimator, models))
    ]
    close(values[0], combined(values[1:]))
    contrast = {0: 1, 1: -1}
    if n_classes == 3:
        curves = PartialDependence(difference, target=contrast).fit(flowers)
        assert curves.output_names_ == ["0 - 1"]
        (every,) = [PartialDependence(difference).fit(flowers)]
        for curve, outputs in zip(curves.average_, every.average_, strict=True):
            close(np.squeeze(curve), outputs[0] - outputs[1])


@pytest.mark.parametrize("n_classes", [2, 3])
def test_scores_of_boosting_add_up(n_classes):
    rows = np.isin(KINDS, ["a", "b", "c"][:n_classes])
    flowers, kinds = FLOWERS[rows], KINDS[rows]
    models = [
        HistGradientBoostingClassifier(max_iter=3).fit(flowers, kinds),
        GradientBoostingClassifier(n_estimators=3).fit(flowers, kinds),
    ]
    scores = ModelDifference(models, WEIGHTS, response_method="decision_function")
    values = [
        TreeSHAP(model).fit(flowers).transform(flowers[:5])
        for model in (scores, *map(FrozenEstimator, models))
    ]
    close(values[0], combined(values[1:]))
    # Probabilities are no sum of trees: the general method takes them.
    probabilities = ModelDifference(models, WEIGHTS)
    with pytest.raises(UnreadableModelError, match="not the plain sum of its trees"):
        TreeSHAP(probabilities).fit(flowers)
    values = [
        ExactShapley(model).fit(flowers).transform(flowers[:5])
        for model in (probabilities, *map(FrozenEstimator, models))
    ]
    close(values[0], combined(values[1:]))


def test_models_in_single_precision_are_read():
    xgboost = pytest.importorskip("xgboost")
    models = [
        xgboost.XGBRegressor(n_estimators=4, max_depth=2, random_state=0).fit(X, y),
        forest(),
    ]
    difference = ModelDifference(models, WEIGHTS)
    assert difference.predict(X).dtype == np.float32
    values = [
        TreeSHAP(model).fit(X).transform(X[:5])
        for model in (difference, *map(FrozenEstimator, models))
    ]
    close(values[0], combined(values[1:]))
    assert ShapleyValues(difference).fit(X).algorithm_ == "tree"


def test_names_with_blanks_as_lightgbm_writes_them():
    lightgbm = pytest.importorskip("lightgbm")
    models = [
        make(n_estimators=4, max_depth=2, random_state=0).fit(FLOWERS, KINDS == "a")
        for make in (
            RandomForestClassifier,
            partial(lightgbm.LGBMClassifier, verbose=-1),
        )
    ]
    difference = ModelDifference(models, WEIGHTS)
    expected = combined([model.predict_proba(FLOWERS)[:, 1] for model in models])
    close(PartialDependence(difference).fit(FLOWERS).predict(FLOWERS), expected)


def test_models_of_any_kind_are_asked():
    models = [scaled(KNeighborsRegressor()), forest(), scaled(Ridge())]
    difference = ModelDifference(models, [1, 0.5, -1.5])
    values = [
        ExactShapley(model).fit(X[:20]).transform(X[:3])
        for model in (difference, *map(FrozenEstimator, models))
    ]
    close(values[0], values[1] + 0.5 * values[2] - 1.5 * values[3])
    assert BreakDown(difference).fit(X).transform(X[:2]).shape == (2, X.shape[1])
    with pytest.raises(UnreadableModelError, match="its member Pipeline"):
        TreeSHAP(difference).fit(X)


def test_slopes_add_up():
    network = MLPRegressor(
        hidden_layer_sizes=(5,),
        solver="lbfgs",
        max_iter=5000,
        activation="tanh",
        random_state=0,
    )
    models = [scaled(network), scaled(SVR())]
    scores = read_scores(ModelDifference(models, WEIGHTS)).function
    close(scores(X)[:, 0], combined([model.predict(X) for model in models]))
    slopes = [
        read_scores(model).function.vjp(X, np.ones((len(X), 1)))
        for model in (ModelDifference(models, WEIGHTS), *models)
    ]
    close(slopes[0], combined(slopes[1:]))


def test_it_stays_fitted():
    difference = ModelDifference([forest(), hist()], WEIGHTS)
    assert difference.fit(X, y) is difference
    assert difference.fit() is difference
    assert clone(difference) is difference
    assert is_regressor(difference)
    assert get_tags(difference).input_tags.allow_nan
    assert not get_tags(ModelDifference([scaled(Ridge())], [1])).input_tags.allow_nan
    assert difference.n_features_in_ == X.shape[1]
    assert difference.feature_names_in_.tolist() == X.columns.tolist()
    restored = pickle.loads(pickle.dumps(difference))
    np.testing.assert_array_equal(restored.predict(X), difference.predict(X))
    scores = cross_val_score(difference, X, y, cv=3)
    assert scores[0] == difference.score(X[:50], y[:50])
    html = difference._repr_html_()
    assert "2 x RandomForestRegressor" in html
    assert "-0.5 x HistGradientBoostingRegressor" in html


def test_inspectors_take_it_bare_or_frozen():
    difference = ModelDifference([forest(), hist()])
    for model in (difference, FrozenEstimator(difference)):
        inspector = PartialDependence(model).fit(X)
        assert inspector.estimator_ is model
        close(inspector.predict(X), difference.predict(X))
    display = PartialDependenceDisplay.from_estimator(difference, X)
    assert display.to_frame().shape[0] > 0


@pytest.mark.thorough
def test_a_report_of_a_difference():
    difference = ModelDifference([forest(), scaled(Ridge())])
    report = InspectionReport(FrozenEstimator(difference), sections=["effects"])
    assert "Shapley" in report.fit(X, y).to_text()


def test_arrays_and_frames_with_categories():
    frame = X.assign(sex=X["sex"].astype("category"))
    model = HistGradientBoostingRegressor(max_iter=5).fit(frame, y)
    models = [model, clone(model).set_params(learning_rate=0.5).fit(frame, y)]
    values = [
        TreeSHAP(each).fit(frame).transform(frame[:5])
        for each in (ModelDifference(models, WEIGHTS), *map(FrozenEstimator, models))
    ]
    close(values[0], combined(values[1:]))


def test_several_outputs():
    targets = np.column_stack([y, -y, X["age"]])
    models = [
        RandomForestRegressor(3, max_depth=2, random_state=0).fit(X, targets),
        LinearRegression().fit(X, targets),
    ]
    difference = ModelDifference(models)
    assert difference.predict(X).shape == (len(X), 3)
    assert PartialDependence(difference).fit(X).output_names_ == [0, 1, 2]
    with pytest.raises(ValueError, match=r"as many outputs .* they have \[1, 3\]"):
        ModelDifference([models[0], forest()]).predict(X)
    with pytest.raises(ValueError, match=r"as many outputs .* they have \[1, 3\]"):
        read_trees(ModelDifference([models[0], forest()]))
    with pytest.raises(ValueError, match=r"as many outputs .* they have \[1, 3\]"):
        read_linear(ModelDifference([models[1], Ridge().fit(X, y)]))


@pytest.mark.parametrize(
    ("models", "params", "message"),
    [
        (lambda: [forest()], {}, "one finite number for each of 1 models"),
        (list, {"weights": ()}, "one finite number for each of 0 models, at least one"),
        (lambda: [forest()], {"weights": [np.nan]}, "one finite number for each"),
        (lambda: [forest()], {"weights": ["1"]}, "one finite number for each"),
        (
            lambda: [forest(), Ridge().fit(X.iloc[:, :2], y)],
            {},
            "the same columns: their n_features_in_ are 5 and 2",
        ),
        (
            lambda: [forest(), Ridge().fit(X.rename(columns={"age": "old"}), y)],
            {},
            "the same columns: their feature_names_in_ are",
        ),
        (
            lambda: [forest(), LogisticRegression(max_iter=9999).fit(X, y > 100)],
            {},
            r"the classes are None and \[False, True\]",
        ),
        (
            lambda: [
                GradientBoostingClassifier(n_estimators=1).fit(X, y > 100),
                GradientBoostingClassifier(n_estimators=1).fit(X, 1 * (y > 90) + 1),
            ],
            {},
            r"the classes are \[False, True\] and \[1, 2\]",
        ),
        (lambda: [forest(), hist()], {"response_method": "predict_proba"}, "has none"),
    ],
)
def test_errors(models, params, message):
    difference = ModelDifference(models(), **params)
    with pytest.raises(ValueError, match=message):
        difference.fit(X)
    with pytest.raises(ValueError, match=message):
        difference.predict(X)


def test_models_must_be_fitted_predictors():
    with pytest.raises(NotFittedError):
        ModelDifference([forest(), Ridge()]).predict(X)
    with pytest.raises(NotFittedError):
        PartialDependence(ModelDifference([forest(), Ridge()])).fit(X)
    with pytest.raises(TypeError, match="a predictor is needed"):
        ModelDifference([forest(), StandardScaler().fit(X)]).fit(X)


def test_log_links_are_asked():
    models = [PoissonRegressor().fit(X, y), Ridge().fit(X, y)]
    difference = ModelDifference(models)
    with pytest.raises(UnreadableModelError, match="exponential of a linear function"):
        LinearSHAP(difference).fit(X)
    assert ShapleyValues(difference, random_state=0).fit(X).algorithm_ != "linear"
    assert TargetOutcome.of_model(difference, (0, None)).interval == (0, np.inf)
