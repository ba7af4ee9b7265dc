"""Weights of many models: sums, distributions, and changes of single targets."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn import __version__ as sklearn_version
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.decomposition import PCA
from sklearn.ensemble import (
    BaggingClassifier,
    BaggingRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, Matern, WhiteKernel
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import BayesianRidge, LinearRegression, Ridge, RidgeCV
from sklearn.neighbors import (
    KNeighborsClassifier,
    KNeighborsRegressor,
    RadiusNeighborsClassifier,
    RadiusNeighborsRegressor,
)
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, SplineTransformer, StandardScaler
from sklearn.tree import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreeRegressor,
)
from sklearn.utils.fixes import parse_version

from sklearn_interpret.additive import GAMRegressor
from sklearn_interpret.influence import PredictionWeights

# Largest differences of weighted sums and predictions, relative to the sum of the sizes
# of what is added up.
ROUNDING = 1e-12
# XGBoost and LightGBM sum gradients, or keep the values of leaves, in single precision.
SINGLE = 1e-6
# HistGradientBoosting has gradients in single precision, and sums in double.
HISTOGRAMS = 1e-8
# Normal equations of surfaces that nearly explain each other: factors lose digits.
CROWDED = 1e-10

N, M = 90, 12


def table(n, seed):
    """Numbers, a flag and levels."""
    rng = np.random.default_rng(seed)
    columns = {"a": rng.normal(size=n), "b": rng.normal(size=n)}
    columns |= {"c": rng.normal(size=n).round(1), "flag": rng.integers(0, 2, n) * 1.0}
    return pd.DataFrame(columns | {"level": rng.choice(list("uvw"), n)})


FRAME, NEW_FRAME = table(N, 0), table(M, 1)
X, NEW = (frame.drop(columns="level").to_numpy() for frame in (FRAME, NEW_FRAME))
GAPS, NEW_GAPS = (np.where(rows < -1, np.nan, rows) for rows in (X, NEW))
NOISE = np.random.default_rng(2)
Y = 3 + X[:, 0] ** 2 + X[:, 1] + (FRAME["level"] == "u") + NOISE.normal(size=N)
Y = Y.to_numpy()
LABELS = np.array(["low", "mid", "high"])[np.digitize(Y, [3.5, 5])]
OUTPUTS = np.column_stack([Y, np.exp(X[:, 2])])
TWO_LABELS = np.column_stack([LABELS, np.where(X[:, 2] > 0, "up", "down")])
WEIGHTS = NOISE.integers(0, 4, N).astype(float)


@dataclass
class Case:
    """A model, its rows and targets, and what is true of its weights."""

    model: Any
    y: Any = None
    X: Any = None
    new: Any = None
    rtol: float = ROUNDING
    # Whether weights are not negative and sum to one.
    is_mean: bool = False
    takes_weights: bool = True
    # What a target is changed by, where the structure stays: 1.0 where predictions are
    # linear in it, little where it decides splits, 0 where it chooses more.
    change: float = 1.0
    # A part of a model that is not always installed.
    library: str | None = None

    def fit(self, weighted, y=None):
        """A fitted inspector, the rows to explain, and the targets."""
        y = self.targets if y is None else y
        model = self.model
        if self.library is not None:
            name, arguments = model
            model = getattr(pytest.importorskip(self.library), name)(**arguments)
        weights = {"sample_weight": WEIGHTS} if weighted else {}
        rows = X if self.X is None else self.X
        return PredictionWeights(clone(model)).fit(rows, y, **weights)

    @property
    def targets(self):
        return Y if self.y is None else self.y

    @property
    def explained(self):
        return NEW if self.new is None else self.new


def gaussian_votes(distances):
    """Votes of neighbours, those within a radius as arrays of several lengths."""
    if distances.dtype == object:
        return np.array([np.exp(-row) for row in distances], dtype=object)
    return np.exp(-distances)


def trees(model, y=None, **options):
    return Case(model, y, is_mean=True, **{"change": 1e-5, **options})


def boosted(model, **options):
    return Case(model, **{"change": 1e-5, **options})


def histogram(X=X, new=NEW, **parameters):
    given = {"max_iter": 15, "min_samples_leaf": 5, "random_state": 0, **parameters}
    model = HistGradientBoostingRegressor(**given)
    return Case(model, None, X, new, HISTOGRAMS, change=0)


def neighbors(model, y=None, **options):
    return Case(model, y, is_mean=True, takes_weights=False, **options)


def of_library(library, name, X=X, new=NEW, **parameters):
    return Case((name, parameters), None, X, new, SINGLE, change=0, library=library)


def process(*args, **kwargs):
    model = GaussianProcessRegressor(*args, optimizer=None, **kwargs)
    return Case(model, takes_weights=False)


def gam(rtol=ROUNDING, **parameters):
    # Other targets would choose other smoothing parameters.
    change = 1.0 if "smoothing" in parameters else 0
    return Case(GAMRegressor(**parameters), None, FRAME, NEW_FRAME, rtol, change=change)


BOOSTED = {"n_estimators": 15, "min_samples_leaf": 5, "random_state": 0}
FEW = {"n_estimators": 6, "random_state": 0}
LARGE = {"min_samples_leaf": 4, **FEW}
FIRST = {"random_state": 0}
HAS_GAPS = {"X": GAPS, "new": NEW_GAPS}
BY_LEVEL = make_column_transformer(
    (OneHotEncoder(), ["level"]), (StandardScaler(), ["a", "b", "c"])
)
OF_FRAMES = {"X": FRAME, "new": NEW_FRAME}
BALANCED = {"class_weight": "balanced"}
XGBOOST = {"n_estimators": 10, "max_depth": 3, "n_jobs": 1}
LIGHTGBM = {"n_estimators": 10, "min_child_samples": 5, "verbose": -1, "n_jobs": 1}

CASES = {
    # Trees
    "tree": trees(DecisionTreeRegressor(max_depth=4, **FIRST)),
    "tree, full": trees(DecisionTreeRegressor(**FIRST), OUTPUTS),
    "tree, leaves": trees(DecisionTreeRegressor(max_leaf_nodes=8, **FIRST)),
    "tree, pruned": trees(DecisionTreeRegressor(ccp_alpha=0.05, **FIRST)),
    "tree, missing values": trees(
        DecisionTreeRegressor(max_depth=4, **FIRST), **HAS_GAPS
    ),
    "extra tree": trees(ExtraTreeRegressor(max_depth=4, **FIRST)),
    "tree of classes": trees(
        DecisionTreeClassifier(max_depth=3, **FIRST), LABELS, change=0
    ),
    "tree of two classes each": trees(
        DecisionTreeClassifier(max_depth=3, criterion="entropy", **BALANCED, **FIRST),
        TWO_LABELS,
        change=0,
    ),
    # Forests
    "forest": trees(RandomForestRegressor(**FEW)),
    "forest, outputs": trees(RandomForestRegressor(**LARGE), OUTPUTS),
    "forest, few rows each": trees(RandomForestRegressor(max_samples=0.3, **FEW)),
    "forest, all rows each": trees(
        RandomForestRegressor(bootstrap=False, max_features=1, **LARGE)
    ),
    "forest, poisson": trees(RandomForestRegressor(criterion="poisson", **LARGE), Y**2),
    "forest, missing values": trees(RandomForestRegressor(**LARGE), **HAS_GAPS),
    "forest of classes": trees(RandomForestClassifier(**LARGE), LABELS, change=0),
    "forest, balanced": trees(
        RandomForestClassifier(criterion="log_loss", **BALANCED, **LARGE),
        LABELS,
        change=0,
    ),
    "forest, balanced samples": trees(
        RandomForestClassifier(
            max_samples=40, class_weight="balanced_subsample", **LARGE
        ),
        TWO_LABELS,
        change=0,
    ),
    "forest without a seed": trees(RandomForestRegressor(6), change=0),
    "extra trees": trees(ExtraTreesRegressor(**LARGE)),
    "extra trees, random": trees(
        ExtraTreesRegressor(max_features=1, **FEW), OUTPUTS, change=1.0
    ),
    "extra trees, bootstrap": trees(
        ExtraTreesRegressor(bootstrap=True, max_samples=0.5, **FEW)
    ),
    "extra trees of classes": trees(
        ExtraTreesClassifier(class_weight={"low": 1, "mid": 5, "high": 0.2}, **LARGE),
        LABELS,
        change=0,
    ),
    "extra trees, balanced": trees(
        ExtraTreesClassifier(class_weight="balanced_subsample", **LARGE),
        LABELS,
        change=0,
    ),
    "bagging": trees(BaggingRegressor(**FEW)),
    "bagging, subsets": trees(
        BaggingRegressor(max_samples=0.5, max_features=0.5, **FEW)
    ),
    "bagging, no bootstrap": trees(
        BaggingRegressor(ExtraTreeRegressor(), max_samples=0.4, bootstrap=False, **FEW),
        takes_weights=False,
    ),
    "bagging of features": trees(
        BaggingRegressor(
            DecisionTreeRegressor(max_depth=3), bootstrap_features=True, **FEW
        )
    ),
    "bagging of classes": trees(
        BaggingClassifier(DecisionTreeClassifier(max_depth=3, **BALANCED), **FEW),
        LABELS,
        change=0,
    ),
    # Neighbours
    "neighbours": neighbors(KNeighborsRegressor(), OUTPUTS),
    "neighbours, nearer more": neighbors(KNeighborsRegressor(7, weights="distance")),
    "neighbours, manhattan": neighbors(KNeighborsRegressor(4, metric="manhattan")),
    "neighbours, cosine": neighbors(KNeighborsRegressor(4, metric="cosine")),
    "neighbours, minkowski": neighbors(KNeighborsRegressor(4, p=3, algorithm="brute")),
    "nearest": neighbors(KNeighborsRegressor(1)),
    "neighbours of classes": neighbors(KNeighborsClassifier(), LABELS, change=0),
    "neighbours, two classes each": neighbors(
        KNeighborsClassifier(3, weights="distance"), TWO_LABELS, change=0
    ),
    "radius": neighbors(RadiusNeighborsRegressor(3.0), OUTPUTS),
    "radius, nearer more": neighbors(
        RadiusNeighborsRegressor(3.0, weights="distance", metric="chebyshev")
    ),
    "radius of classes": neighbors(RadiusNeighborsClassifier(3.0), LABELS, change=0),
    "neighbours, votes": neighbors(
        KNeighborsClassifier(5, weights=gaussian_votes), TWO_LABELS, change=0
    ),
    "radius, votes": neighbors(
        RadiusNeighborsClassifier(3.0, weights=gaussian_votes), LABELS, change=0
    ),
    # Boosting
    "boosting": boosted(GradientBoostingRegressor(**BOOSTED)),
    "boosting, deep": boosted(
        GradientBoostingRegressor(max_depth=None, max_leaf_nodes=12, **BOOSTED)
    ),
    "boosting, stumps": boosted(GradientBoostingRegressor(max_depth=1, **BOOSTED)),
    "boosting, samples": boosted(
        GradientBoostingRegressor(subsample=0.5, max_features=2, **BOOSTED)
    ),
    "boosting, from zero": boosted(GradientBoostingRegressor(init="zero", **BOOSTED)),
    "boosting, stopped": boosted(
        GradientBoostingRegressor(n_iter_no_change=2, **BOOSTED)
    ),
    "histograms": histogram(),
    "histograms, ridge": histogram(l2_regularization=3.0, max_leaf_nodes=5),
    "histograms, stopped": histogram(early_stopping=True, n_iter_no_change=2),
    "histograms, missing values": histogram(GAPS, NEW_GAPS),
    "histograms, levels": histogram(
        FRAME.astype({"level": "category"}),
        NEW_FRAME.astype({"level": "category"}),
        categorical_features=["level"],
    ),
    "xgboost": of_library("xgboost", "XGBRegressor", **XGBOOST),
    "xgboost, ridge": of_library(
        "xgboost", "XGBRegressor", GAPS, NEW_GAPS, reg_lambda=5, gamma=0.1, **XGBOOST
    ),
    "xgboost, leaves": of_library(
        "xgboost",
        "XGBRegressor",
        grow_policy="lossguide",
        max_leaves=5,
        base_score=0.5,
        **XGBOOST,
    ),
    "lightgbm": of_library("lightgbm", "LGBMRegressor", **LIGHTGBM),
    "lightgbm, ridge": of_library(
        "lightgbm",
        "LGBMRegressor",
        GAPS,
        NEW_GAPS,
        reg_lambda=2,
        num_leaves=5,
        **LIGHTGBM,
    ),
    # Linear smoothers
    "least squares": Case(LinearRegression(), OUTPUTS),
    "least squares, no intercept": Case(LinearRegression(fit_intercept=False)),
    **{
        f"ridge, {solver}": Case(Ridge(2.0, solver=solver), OUTPUTS)
        for solver in ("auto", "svd", "cholesky")
    },
    **{
        f"ridge, {solver}": Case(
            Ridge(2.0, solver=solver, tol=1e-12, max_iter=100_000, **FIRST)
        )
        for solver in ("lsqr", "sparse_cg", "sag", "saga")
    },
    "ridge of choice": Case(RidgeCV([0.1, 1.0, 10.0]), change=0),
    "ridge of choice, folds": Case(RidgeCV([0.1, 1.0, 10.0], cv=3), change=0),
    "Bayesian ridge": Case(BayesianRidge(), change=0),
    "kernel ridge": Case(KernelRidge(alpha=0.5), OUTPUTS),
    **{
        f"kernel ridge, {kernel}": Case(KernelRidge(alpha=0.5, kernel=kernel))
        for kernel in ("rbf", "laplacian", "polynomial", "cosine")
    },
    "process": process(RBF(2.0), alpha=0.1),
    "process, scaled": process(Matern(1.5), alpha=0.2, normalize_y=True),
    "process, noise": process(RBF(2.0) + WhiteKernel(0.3)),
    # Splines and additive models
    "splines": Case(make_pipeline(SplineTransformer(), Ridge(0.1))),
    "splines, quantiles": Case(
        make_pipeline(
            SplineTransformer(4, degree=2, knots="quantile", extrapolation="linear"),
            Ridge(0.1),
        ),
        OUTPUTS,
    ),
    "splines, scaled": Case(
        make_pipeline(StandardScaler(), SplineTransformer(6), BayesianRidge()), change=0
    ),
    "additive": gam(),
    "additive, one penalty": gam(smoothing=1.0, interactions=[("a", "b")]),
    "additive, searched": gam(CROWDED, interactions="auto", max_terms=3),
    "additive, by level": gam(terms=["a", "level"], by={"a": "level"}, smoothing=0.5),
    "additive, scaled": Case(
        make_pipeline(StandardScaler(), GAMRegressor(smoothing=1.0))
    ),
    # Pipelines
    "scaled neighbours": neighbors(
        make_pipeline(StandardScaler(), PCA(2), KNeighborsRegressor())
    ),
    "scaled forest of frames": trees(
        make_pipeline(BY_LEVEL, RandomForestRegressor(**LARGE)), **OF_FRAMES
    ),
    "ridge of frames": Case(make_pipeline(BY_LEVEL, Ridge()), OUTPUTS, **OF_FRAMES),
    "boosting of components": boosted(
        make_pipeline(PCA(3, **FIRST), GradientBoostingRegressor(**BOOSTED))
    ),
    "classes of frames": trees(
        make_pipeline(BY_LEVEL, ExtraTreesClassifier(**LARGE)),
        LABELS,
        change=0,
        **OF_FRAMES,
    ),
}


if parse_version(sklearn_version) < parse_version("1.8"):
    # Its trees do not predict the means of leaves where they saw missing values.
    for name in ("tree, missing values", "forest, missing values"):
        del CASES[name]


def each_case(condition=lambda case: True):
    chosen = {name: case for name, case in CASES.items() if condition(case)}
    return pytest.mark.parametrize("case", chosen.values(), ids=chosen)


def quiet(test):
    """Without warnings that are beside the point."""
    for text in (
        "ignore:When fitting Bagging.*bootstrap=True",
        "ignore::sklearn_interpret.exceptions.ExtrapolationWarning",
    ):
        test = pytest.mark.filterwarnings(text)(test)
    return test


def assert_sums(base, weights, targets, predictions, rtol):
    """Assert that weighted sums are predictions, to the sizes of what they add."""
    size = np.abs(base) + np.abs(weights) @ np.abs(targets)
    error = np.abs(base + weights @ targets - predictions)
    assert (error <= rtol * size).all(), (error / np.maximum(size, 1e-300)).max()


def outputs_of(model, y, rows):
    """Predictions and targets: of a classifier probabilities and indicators."""
    if not hasattr(model, "classes_"):
        return model.predict(rows), y
    classes, probabilities = model.classes_, model.predict_proba(rows)
    if not isinstance(classes, list):
        classes, probabilities, y = [classes], [probabilities], y[:, None]
    indicators = [y[:, [j]] == labels for j, labels in enumerate(classes)]
    return np.hstack(probabilities), np.hstack(indicators).astype(float)


@each_case()
@pytest.mark.parametrize("weighted", [False, True], ids=["equal", "weighted"])
@quiet
def test_sums_are_predictions(case, weighted):
    inspector = case.fit(weighted and case.takes_weights)
    explanation, model = inspector.explain(case.explained), inspector.estimator_
    weights, base = explanation.values, explanation.base_values
    targets = explanation.target_values
    assert_sums(base, weights, targets, explanation.predictions, case.rtol)
    if not base.any():
        predictions, targets = outputs_of(model, case.targets, case.explained)
        assert_sums(0.0, weights, targets, predictions, case.rtol)
    if case.is_mean:
        assert weights.min() >= 0
        assert_allclose(weights.sum(axis=1), 1, rtol=1e-12)


def structure(model):
    """Splits of the trees of a model; nothing of models without trees."""
    model = model[-1] if isinstance(model, Pipeline) else model
    stages = np.ravel(getattr(model, "estimators_", [model])).tolist()
    parts = [tree.tree_ for tree in stages if hasattr(tree, "tree_")]
    return [array for t in parts for array in (t.feature, t.threshold)]


@each_case(lambda case: case.change)
@quiet
def test_a_weight_is_the_change_by_a_target(case):
    inspector = case.fit(case.takes_weights)
    weights, before = inspector.transform(case.explained), inspector.estimator_
    predictions = before.predict(case.explained)
    n_unchanged = 0
    for i in np.flatnonzero(WEIGHTS):
        y = case.targets.copy()
        y[i] += case.change
        after = case.fit(case.takes_weights, y).estimator_
        if not all(map(np.array_equal, structure(before), structure(after))):
            continue
        n_unchanged += 1
        slopes = (after.predict(case.explained) - predictions) / case.change
        expected = weights[:, i] if slopes.ndim == 1 else weights[:, [i, i]]
        assert_allclose(slopes, expected, atol=max(case.rtol, 1e-12) * 30 / case.change)
        if n_unchanged == 4:
            break
    assert n_unchanged == 4


TABLES = {
    "one feature": (X[:, :1], Y, NEW[:, :1]),
    "three rows": (X[:3], Y[:3], NEW),
    "repeated rows": (np.repeat(X, 2, axis=0), np.repeat(Y, 2) + np.arange(180), NEW),
    "a constant feature": (np.c_[X, np.ones(N)], Y, np.c_[NEW, np.ones(M)]),
    "a constant target": (X, np.full(N, 7), NEW),
    "a far target": (X, Y + 1e6, NEW),
    "integers": (X, np.arange(N), NEW),
    "single precision": (X.astype(np.float32), Y, NEW.astype(np.float32)),
    "lists": (X.tolist(), Y.tolist(), NEW.tolist()),
    "polars": None,
}
OF_TABLES = {
    "forest": RandomForestRegressor(**FEW),
    "neighbours": KNeighborsRegressor(2),
    "boosting": GradientBoostingRegressor(**BOOSTED),
    "ridge": Ridge(),
    "process": GaussianProcessRegressor(alpha=0.1, optimizer=None, normalize_y=True),
    "additive": GAMRegressor(),
}


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
@pytest.mark.parametrize("model", OF_TABLES.values(), ids=OF_TABLES)
@quiet
def test_tables_of_many_kinds(model, table):
    if table is None:
        polars = pytest.importorskip("polars")
        table = polars.DataFrame(X), polars.Series("y", Y), polars.DataFrame(NEW)
    rows, y, new = table
    inspector = PredictionWeights(model).fit(rows, y)
    weights, targets = inspector.transform(new), np.asarray(y, dtype=float)
    # Ridge solves in the precision of its rows.
    is_single = getattr(rows, "dtype", None) == np.float32 and isinstance(model, Ridge)
    rtol = SINGLE if is_single else CROWDED if isinstance(model, GAMRegressor) else None
    predictions = inspector.predict(new)
    assert_sums(0.0, weights, targets, predictions, rtol or ROUNDING)
    kept = PredictionWeights(model, n_kept=3).fit(rows, y).transform(new)
    assert kept.nnz <= 3 * len(weights)
