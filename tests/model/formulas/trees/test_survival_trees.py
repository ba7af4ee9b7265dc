"""Trees, forests and boosting of scikit-survival, read as trees."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.compose import make_column_transformer
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from sklearn_interpret._model.formulas.trees.tree_response import (
    read_trees,
    tree_response,
)
from sklearn_interpret._model.responses.response import make_response
from sklearn_interpret.decomposition import TreePathContributions
from sklearn_interpret.effects import AccumulatedLocalEffects, PartialDependence
from sklearn_interpret.exceptions import UnreadableModelError
from sklearn_interpret.importance import PermutationImportance
from sklearn_interpret.interactions import HStatistic
from sklearn_interpret.shapley import ExactShapley, TreeSHAP
from sklearn_interpret.survival import SurvivalModel

pytest.importorskip("sksurv")
from sksurv import datasets, preprocessing
from sksurv.ensemble import (
    ExtraSurvivalTrees,
    GradientBoostingSurvivalAnalysis,
    RandomSurvivalForest,
)
from sksurv.linear_model import CoxPHSurvivalAnalysis
from sksurv.metrics import as_concordance_index_ipcw_scorer
from sksurv.tree import ExtraSurvivalTree, SurvivalTree
from sksurv.util import Surv

FEW = {"n_estimators": 8, "random_state": 0}
BOOSTING = {"n_estimators": 15, "random_state": 0}
TREES = [
    SurvivalTree(random_state=0),
    SurvivalTree(max_depth=3, max_features="sqrt", random_state=0),
    SurvivalTree(low_memory=True, random_state=0),
    ExtraSurvivalTree(max_leaf_nodes=9, random_state=0),
    RandomSurvivalForest(**FEW),
    RandomSurvivalForest(**FEW, bootstrap=False, max_features=None),
    RandomSurvivalForest(**FEW, max_samples=0.5, min_samples_leaf=10),
    RandomSurvivalForest(**FEW, low_memory=True),
    ExtraSurvivalTrees(**FEW),
    ExtraSurvivalTrees(**FEW, low_memory=True, bootstrap=True),
]
OF_TIME = [model for model in TREES if not model.low_memory]
BOOSTED = [
    GradientBoostingSurvivalAnalysis(**BOOSTING),
    GradientBoostingSurvivalAnalysis(**BOOSTING, dropout_rate=0.4),
    GradientBoostingSurvivalAnalysis(**BOOSTING, subsample=0.5, max_depth=1),
    GradientBoostingSurvivalAnalysis(**BOOSTING, n_iter_no_change=3),
    GradientBoostingSurvivalAnalysis(**BOOSTING, loss="squared", dropout_rate=0.2),
    GradientBoostingSurvivalAnalysis(**BOOSTING, loss="ipcwls"),
]
TIMES = [1, 30.5, 365, 1000, 2000]


def short(model):
    """Name of a model for pytest."""
    return repr(model).replace("\n", "").replace(" ", "")


def numbers():
    """A table of numbers, and survival targets."""
    X, y = datasets.load_whas500()
    return X.astype(float)[["age", "bmi", "chf", "hr", "los", "sysbp"]], y


def categories():
    """A table with categories, and survival targets."""
    X, y = datasets.load_veterans_lung_cancer()
    return X.drop(columns="Months_from_Diagnosis"), y


def assert_equal(actual, expected):
    """Equal to 1e-10 of the largest number."""
    assert_allclose(actual, expected, rtol=0, atol=1e-10 * np.abs(expected).max())


X, Y = numbers()


@pytest.mark.parametrize("model", [*TREES, *BOOSTED], ids=short)
def test_values_sum_to_the_response(model):
    model.fit(X, Y)
    loaded = pickle.loads(pickle.dumps(model))
    trees = read_trees(loaded)
    predictions = model.predict(X)
    assert_equal(trees.response(trees.raw(X))[:, 0], predictions)
    explanation = TreeSHAP(FrozenEstimator(loaded)).fit(X).explain(X[:40])
    sums = explanation.values.sum(axis=1) + explanation.base_values
    is_time = getattr(model, "loss", "coxph") != "coxph"
    expected = np.log(predictions) if is_time else predictions
    assert_equal(sums, expected[:40])
    paths = TreePathContributions(FrozenEstimator(model)).fit(X).explain(X[:40])
    sums = paths.values.sum(axis=1) + paths.base_values
    assert_equal(sums, expected[:40])


@pytest.mark.parametrize("response_method", ["survival", "cumulative_hazard"])
@pytest.mark.parametrize("model", OF_TIME, ids=short)
def test_functions_of_time_are_averages_of_leaves(model, response_method):
    model = SurvivalModel(model, response_method=response_method, times=TIMES)
    model.fit(X, Y)
    inner = getattr(model.estimator_, f"predict_{response_method}_function")
    functions = np.array([function(TIMES) for function in inner(X)])
    assert_array_equal(model.predict(X), functions)
    assert_equal(read_trees(model).raw(X), functions)
    explanation = TreeSHAP(FrozenEstimator(model)).fit(X).explain(X[:40])
    sums = explanation.values.sum(axis=1) + explanation.base_values
    assert_equal(sums, functions[:40])
    assert list(explanation.output_names) == model.output_names_


def risk_and_time():
    """The risk score, and the survival at some times, of a forest."""
    forest = RandomSurvivalForest(**FEW).fit(X, Y)
    return [forest, SurvivalModel(FrozenEstimator(forest), times=TIMES).fit(X)]


@pytest.mark.parametrize("model", risk_and_time(), ids=["risk", "survival"])
def test_trees_equal_brute_force(model):
    frozen, few = FrozenEstimator(model), X[:60]
    weights = np.arange(60) % 3
    options = {"features": ["age", ("age", "hr")], "grid_resolution": 4}
    curves = [
        PartialDependence(frozen, **options, method=method)
        .fit(few, sample_weight=weights)
        .average_
        for method in ("tree", "brute")
    ]
    for of_trees, brute in zip(*curves, strict=True):
        assert_equal(of_trees, brute)
    of_trees, brute = (
        HStatistic(frozen, features=["age", "hr", "los"], method=method)
        .fit(few, sample_weight=weights)
        .pairwise_
        for method in ("tree", "brute")
    )
    assert_equal(of_trees, brute)
    of_trees, exact = (
        inspector.fit(few, sample_weight=weights).explain(X[:5]).values
        for inspector in (TreeSHAP(frozen), ExactShapley(frozen))
    )
    assert_equal(of_trees, exact)
    slopes = AccumulatedLocalEffects(frozen, features=["age"]).fit(few)
    opaque = AccumulatedLocalEffects(frozen, features=["age"], response_method=_predict)
    for of_trees, called in zip(slopes.effects_, opaque.fit(few).effects_, strict=True):
        assert_equal(of_trees, called)


def _predict(model, X):
    return model.predict(X)


@pytest.mark.parametrize(
    "encoder",
    [
        preprocessing.OneHotEncoder(),
        make_column_transformer(
            (OneHotEncoder(), ["Celltype", "Treatment", "Prior_therapy"]),
            (StandardScaler(), ["Age_in_years", "Karnofsky_score"]),
        ),
    ],
    ids=["sksurv", "sklearn"],
)
def test_pipelines(encoder):
    rows, y = categories()
    pipeline = make_pipeline(encoder, RandomSurvivalForest(**FEW)).fit(rows, y)
    frozen = FrozenEstimator(pipeline)
    around = SurvivalModel(frozen, times=[50, 200]).fit(rows)
    for model in (pipeline, around):
        tree_response(make_response(model), additive=True)
        inspectors = [kind(FrozenEstimator(model)) for kind in (TreeSHAP, ExactShapley)]
        of_trees, exact = (
            inspector.fit(rows[:20]).explain(rows[:4]).values
            for inspector in inspectors
        )
        assert_equal(of_trees, exact)


def test_forests_of_weighted_and_missing_rows():
    rows = X.mask(X.quantile(0.95) < X)
    weights = np.arange(len(X)) % 2 + 1.0
    forest = RandomSurvivalForest(**FEW).fit(rows, Y, sample_weight=weights)
    model = SurvivalModel(FrozenEstimator(forest), times=TIMES).fit(rows)
    assert_equal(read_trees(forest).raw(rows)[:, 0], forest.predict(rows))
    assert_equal(read_trees(model).raw(rows), model.predict(rows))


def test_models_that_are_not_averages_are_called():
    for inner in (CoxPHSurvivalAnalysis(), BOOSTED[0]):
        model = SurvivalModel(inner, times=TIMES).fit(X, Y)
        functions = model.estimator_.predict_survival_function(X[:9])
        expected = [function(TIMES) for function in functions]
        assert_array_equal(model.predict(X[:9]), expected)
        with pytest.raises(UnreadableModelError, match="are not averages of trees"):
            read_trees(model)
        explanation = ExactShapley(FrozenEstimator(model)).fit(X[:20]).explain(X[:3])
        sums = explanation.values.sum(axis=1) + explanation.base_values
        assert_equal(sums, expected[:3])


def test_times_outside_of_the_training_times():
    with pytest.raises(ValueError, match=r"has 5000, but .* defined from 0 to 2358"):
        SurvivalModel(CoxPHSurvivalAnalysis(), times=[10, 5000]).fit(X, Y)


def test_importance_is_a_loss_of_concordance():
    rows, y = X[:200], Surv.from_arrays(*[Y[name][:200] for name in Y.dtype.names])
    forest = RandomSurvivalForest(**FEW).fit(rows, y)
    options = {"n_repeats": 2, "random_state": 0}

    def importances(model):
        return PermutationImportance(model, **options).fit(rows, y).importances_mean_

    expected = importances(FrozenEstimator(forest))
    inspector = PermutationImportance(RandomSurvivalForest(**FEW), **options)
    inspector.fit(rows, y)
    assert inspector.baseline_score_ == forest.score(rows, y)
    assert_equal(inspector.importances_mean_, expected)
    assert_equal(importances(SurvivalModel(RandomSurvivalForest(**FEW))), expected)
    # Weights against censoring change the score.
    scorer = as_concordance_index_ipcw_scorer(RandomSurvivalForest(**FEW), tau=1000.0)
    weighted = importances(scorer)
    assert np.abs(weighted - expected).max() > 1e-4
    for model in (FrozenEstimator(scorer.fit(rows, y)), SurvivalModel(scorer)):
        assert_equal(importances(model), weighted)
    trees = read_trees(scorer)
    assert_equal(trees.raw(rows)[:, 0], scorer.predict(rows))
