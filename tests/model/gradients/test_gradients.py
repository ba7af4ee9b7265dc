"""Slopes of models and steps equal central differences."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA, FactorAnalysis, TruncatedSVD
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import SelectKBest
from sklearn.gaussian_process import GaussianProcessClassifier, GaussianProcessRegressor
from sklearn.gaussian_process.kernels import (
    RBF,
    ConstantKernel,
    DotProduct,
    Matern,
    WhiteKernel,
)
from sklearn.impute import SimpleImputer
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.linear_model import (
    LogisticRegression,
    Perceptron,
    PoissonRegressor,
    Ridge,
    SGDClassifier,
)
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    PolynomialFeatures,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    SplineTransformer,
    StandardScaler,
)
from sklearn.svm import SVC, SVR, LinearSVC, NuSVC

from sklearn_interpret._model.gradients.functions import Differences
from sklearn_interpret._model.gradients.models import read_scores
from sklearn_interpret.exceptions import UnreadableModelError
from tests.speeds import examples

X, CLASSES = load_iris(return_X_y=True)
NUMBERS = X @ [1.0, -2.0, 0.5, 3.0] + np.sin(X[:, 0]) + 10
ROWS = X[::9] + np.random.default_rng(0).normal(scale=0.1, size=X[::9].shape)

CLASSIFIERS = [
    LogisticRegression(max_iter=1000),
    SGDClassifier(random_state=0),
    *(SVC(kernel=kernel, coef0=0.5) for kernel in ("linear", "poly", "rbf", "sigmoid")),
    NuSVC(),
    *(
        MLPClassifier((6, 5), activation=name, solver="lbfgs", alpha=1, random_state=0)
        for name in ("relu", "tanh", "logistic", "identity")
    ),
    OneVsRestClassifier(SVC()),
    *(
        make_pipeline(*steps, SVC())
        for steps in (
            (StandardScaler(),),
            (RobustScaler(with_scaling=False), MinMaxScaler(), MaxAbsScaler()),
            (MinMaxScaler(clip=True),),
            ("passthrough", PCA(2, whiten=True)),
            (TruncatedSVD(2),),
            (FactorAnalysis(2),),
            (PolynomialFeatures(3), StandardScaler()),
            (Normalizer("l1"),),
            (Normalizer("l2"),),
            (Normalizer("max"),),
            (FunctionTransformer(np.log1p),),
            (FunctionTransformer(lambda Z: Z[:, :1] * Z[:, 1:]),),
            (FunctionTransformer(),),
            (PowerTransformer(),),
            (QuantileTransformer(n_quantiles=20), SplineTransformer()),
            (SimpleImputer(), SelectKBest(k=2)),
            (Nystroem(n_components=5, random_state=0),),
            (Nystroem(kernel="poly", n_components=3, random_state=0),),
            (RBFSampler(random_state=0),),
            (make_union(StandardScaler(), PCA(2), "passthrough"),),
            (
                make_column_transformer(
                    (make_pipeline(StandardScaler(), PCA(1)), [3, 0]),
                    (KBinsDiscretizer(3, strategy="uniform"), [1]),
                ),
            ),
        )
    ),
]
REGRESSORS = [
    Ridge(),
    PoissonRegressor(),
    SVR(),
    MLPRegressor(hidden_layer_sizes=(6,), solver="lbfgs", random_state=0, max_iter=50),
    GaussianProcessRegressor(
        ConstantKernel() * RBF() + WhiteKernel(), normalize_y=True
    ),
    GaussianProcessRegressor(RBF([1.0, 2, 3, 1]) * DotProduct(), alpha=1.0),
]


def check_slopes(function, rows, tolerance=1e-6):
    """The pull of random weights equals that of differences."""
    weights = np.random.default_rng(1).normal(size=function(rows).shape)
    expected = Differences(function).vjp(rows, weights)
    found = function.vjp(rows, weights)
    assert_allclose(found, expected, rtol=0, atol=tolerance * np.abs(expected).max())


def classes_by_scores(scores, rows, n_classes):
    """The class that wins most comparisons with others."""
    outputs = scores.function(rows)
    wins = np.zeros((len(rows), n_classes))
    for better in range(n_classes):
        for worse in range(n_classes):
            if better != worse:
                pair = np.full(len(rows), better), np.full(len(rows), worse)
                weights = scores.differences(*pair, n_classes)
                wins[:, better] += (weights * outputs).sum(axis=1) > 0
    return wins.argmax(axis=1)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("model", CLASSIFIERS, ids=lambda model: str(model)[:40])
def test_scores_of_classifiers(model, n_classes):
    model.fit(X, np.minimum(CLASSES, n_classes - 1))
    scores = read_scores(model)
    found = classes_by_scores(scores, ROWS, n_classes)
    assert_array_equal(found, model.predict(ROWS))
    check_slopes(scores.function, ROWS)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("model", REGRESSORS, ids=lambda model: str(model)[:40])
def test_scores_of_regressors(model):
    model.fit(X, NUMBERS)
    scores = read_scores(model)
    assert_allclose(scores.function(ROWS)[:, 0], model.predict(ROWS), rtol=1e-10)
    check_slopes(scores.function, ROWS)


STEPS = [
    StandardScaler(),
    RobustScaler(),
    PCA(3),
    PolynomialFeatures(2),
    MaxAbsScaler(),
    Nystroem(n_components=6, random_state=0),
    RBFSampler(n_components=8, random_state=0),
    FunctionTransformer(np.tanh),
    PowerTransformer(),
]
ENDS = [
    LogisticRegression(max_iter=200),
    SGDClassifier(random_state=0),
    Perceptron(),
    LinearSVC(),
    *(SVC(kernel=kernel) for kernel in ("linear", "poly", "rbf", "sigmoid")),
    MLPClassifier((4,), activation="tanh", max_iter=20, random_state=0),
    OneVsRestClassifier(LogisticRegression(max_iter=200)),
]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@given(
    steps=st.lists(st.sampled_from(STEPS), max_size=3),
    end=st.sampled_from(ENDS),
    two=st.booleans(),
    seed=st.integers(0, 1000),
)
@examples(15)
def test_any_chain_of_steps(steps, end, two, seed):
    model = make_pipeline(*map(clone, steps), clone(end))
    model.fit(X, np.minimum(CLASSES, 2 - two))
    rng = np.random.default_rng(seed)
    rows = X[rng.integers(0, 150, 5)] + rng.normal(scale=0.1, size=(5, 4))
    check_slopes(read_scores(model).function, rows)


def test_process_of_two_classes():
    model = GaussianProcessClassifier().fit(X, CLASSES == 1)
    scores = read_scores(model)
    assert_array_equal(classes_by_scores(scores, ROWS, 2) > 0, model.predict(ROWS))
    check_slopes(scores.function, ROWS)


@pytest.mark.parametrize(
    "model",
    [
        CalibratedClassifierCV(LogisticRegression(max_iter=1000)),
        GaussianNB(),
        SVC(kernel=lambda A, B: A @ B.T),
        GaussianProcessClassifier(Matern()),
    ],
)
def test_other_models_are_refused(model):
    model.fit(X, CLASSES)
    with pytest.raises(UnreadableModelError):
        read_scores(model)


def test_frames_with_categories():
    names = list("abcd")
    frame = pd.DataFrame(X, columns=names).assign(kind=np.array(["u", "v"] * 75))
    model = make_pipeline(
        make_column_transformer(
            (make_pipeline(StandardScaler(), PowerTransformer()), ["c", "a"]),
            (FunctionTransformer(np.exp, feature_names_out="one-to-one"), ["d"]),
            (OneHotEncoder(), ["kind"]),
        ),
        LogisticRegression(max_iter=1000),
    ).fit(frame, CLASSES)
    function = read_scores(model).function
    rows = frame.iloc[::9]
    weights = np.random.default_rng(1).normal(size=(len(rows), 3))
    gradients = function.vjp(rows, weights)
    assert_array_equal(gradients[:, [1, 4]], 0)
    for j, name in ((0, "a"), (2, "c"), (3, "d")):
        low, high = (rows.assign(**{name: rows[name] + h}) for h in (-1e-5, 1e-5))
        rise = (weights * (function(high) - function(low))).sum(axis=1)
        assert_allclose(gradients[:, j], rise / 2e-5, atol=1e-6)


def test_unknown_steps_are_named():
    model = make_pipeline(OneHotEncoder(), RandomForestClassifier(2)).fit(X, CLASSES)
    with pytest.raises(UnreadableModelError, match="RandomForestClassifier"):
        read_scores(model)
