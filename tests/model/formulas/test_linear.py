"""Which models are read as linear functions, and which are refused."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.compose import TransformedTargetRegressor
from sklearn.cross_decomposition import PLSRegression
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import (
    ARDRegression,
    BayesianRidge,
    ElasticNet,
    ElasticNetCV,
    GammaRegressor,
    HuberRegressor,
    Lars,
    Lasso,
    LassoCV,
    LassoLarsIC,
    LinearRegression,
    LogisticRegression,
    LogisticRegressionCV,
    MultiTaskLasso,
    OrthogonalMatchingPursuit,
    Perceptron,
    PoissonRegressor,
    QuantileRegressor,
    Ridge,
    RidgeClassifier,
    RidgeClassifierCV,
    RidgeCV,
    SGDClassifier,
    SGDRegressor,
    TweedieRegressor,
)
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import SplineTransformer, StandardScaler
from sklearn.svm import SVC, LinearSVC, LinearSVR
from sklearn.tree import DecisionTreeRegressor

from sklearn_interpret._model.formulas.linear import explained_linear, read_linear
from sklearn_interpret._model.rows.arrays import as_rows
from sklearn_interpret.additive import GAMRegressor
from sklearn_interpret.exceptions import UnreadableModelError

RNG = np.random.default_rng(0)
X = RNG.normal(size=(90, 4))
Y = X @ [1.0, -2, 0, 0.5] + 0.3 * RNG.normal(size=90)
TWO = np.where(Y > 0, "yes", "no")
THREE = np.digitize(Y, [-1, 1])
BOTH = np.stack([Y, X[:, 1] - Y], axis=1)

REGRESSORS = [
    ARDRegression(),
    BayesianRidge(),
    ElasticNet(alpha=0.1),
    ElasticNetCV(cv=2),
    HuberRegressor(),
    Lars(),
    Lasso(alpha=0.1),
    LassoCV(cv=2),
    LassoLarsIC(),
    LinearRegression(),
    LinearRegression(fit_intercept=False),
    LinearSVR(random_state=0, max_iter=10_000),
    OrthogonalMatchingPursuit(),
    QuantileRegressor(alpha=0.01),
    Ridge(),
    RidgeCV(),
    SGDRegressor(random_state=0),
    TweedieRegressor(power=0),
    TweedieRegressor(power=0, link="identity"),
    make_pipeline(StandardScaler(), SplineTransformer(n_knots=4), Ridge()),
    make_pipeline("passthrough", Ridge()),
]
SEVERAL = [LinearRegression(), Ridge(fit_intercept=False), MultiTaskLasso(alpha=0.1)]
CLASSIFIERS = [
    LinearDiscriminantAnalysis(),
    LinearSVC(random_state=0),
    LogisticRegression(),
    Perceptron(random_state=0),
    RidgeClassifier(),
    RidgeClassifierCV(),
    SGDClassifier(random_state=0),
    SGDClassifier(random_state=0, loss="log_loss"),
    make_pipeline(StandardScaler(), LogisticRegression()),
]
WITH_LOG = [
    PoissonRegressor(),
    GammaRegressor(),
    TweedieRegressor(power=1),
    TweedieRegressor(power=1.5),
    TweedieRegressor(power=0, link="log"),
    make_pipeline(StandardScaler(), PoissonRegressor()),
]


def kind(model):
    """Name of a model for pytest."""
    return type(model).__name__


def assert_read(model, answer, **asked):
    """The linear function is the model's answer."""
    explained = explained_linear(FrozenEstimator(model), **asked)
    explained.check(as_rows(X))
    derived = explained.model.derived_columns(X)
    answer = np.asarray(answer).reshape(len(X), -1)
    assert_allclose(explained.model.margin(derived), answer, atol=1e-9)
    assert_allclose(explained.predictions(X), answer, atol=1e-9)
    return explained


@pytest.mark.parametrize("model", REGRESSORS, ids=kind)
def test_regressors(model):
    model.fit(X, Y)
    explained = assert_read(model, model.predict(X))
    assert explained.method == "predict"
    assert explained.output_names(1) == [0]
    assert_read(model, model.predict(X), response_method="predict")


@pytest.mark.parametrize("model", SEVERAL, ids=kind)
def test_several_outputs(model):
    model.fit(X, BOTH)
    explained = assert_read(model, model.predict(X))
    assert explained.output_names(2) == [0, 1]
    assert_read(model, model.predict(X)[:, 1], target=1)


@pytest.mark.parametrize("model", CLASSIFIERS, ids=kind)
def test_two_classes(model):
    """The margin speaks for the second class, and its negative for the first."""
    model.fit(X, TWO)
    scores = model.decision_function(X)
    explained = assert_read(model, scores)
    assert explained.method == "decision_function"
    assert explained.output_names(1) == ["yes"]
    assert_read(model, scores, target="yes")
    first = assert_read(model, -scores, target="no")
    assert first.output_names(1) == ["no"]


@pytest.mark.filterwarnings("ignore::FutureWarning")  # defaults that will change
@pytest.mark.parametrize("y", [TWO, THREE], ids=["two", "three"])
def test_a_cross_validated_classifier(y):
    model = LogisticRegressionCV(cv=2, Cs=2).fit(X, y)
    assert_read(model, model.decision_function(X))


@pytest.mark.parametrize("model", CLASSIFIERS, ids=kind)
def test_three_classes(model):
    model.fit(X, THREE)
    scores = model.decision_function(X)
    explained = assert_read(model, scores)
    assert explained.output_names(3) == [0, 1, 2]
    one = assert_read(model, scores[:, 2], target=2)
    assert one.output_names(1) == [2]


def test_labels_that_do_not_exclude_each_other():
    model = RidgeClassifier().fit(X, (BOTH > 0).astype(int))
    explained = assert_read(model, model.decision_function(X))
    assert explained.output_names(2) == [0, 1]


@pytest.mark.parametrize("model", WITH_LOG, ids=kind)
def test_logarithmic_links(model):
    model.fit(X, np.exp(Y / 2))
    explained = assert_read(model, np.log(model.predict(X)))
    assert explained.method == "margin"
    with pytest.raises(UnreadableModelError, match=r"predict.*exponential"):
        explained_linear(model, "predict")


def test_sparse_coefficients_and_single_precision():
    model = SGDClassifier(random_state=0, penalty="l1").fit(X, TWO).sparsify()
    assert sparse.issparse(model.coef_)
    assert_read(model, model.decision_function(X))
    single = X.astype(np.float32)
    model = Ridge().fit(single, Y.astype(np.float32))
    explained = explained_linear(model)
    explained.check(as_rows(single))
    assert explained.predictions(single).dtype == np.float32


# SciPy 1.18 does not want what scikit-learn's `fit` hands to it.
@pytest.mark.filterwarnings("ignore:.*arguments of dtype=float16:DeprecationWarning")
def test_half_precision():
    half = X.astype(np.float16)
    model = LinearRegression().fit(half, Y.astype(np.float16))
    assert model.predict(half).dtype == np.float16
    explained = explained_linear(model)
    explained.check(as_rows(half))
    assert explained.predictions(half).dtype == np.float16
    model.coef_[1] += 0.1  # of the size of some hundred rounding errors
    altered = explained_linear(model)
    model.coef_[1] -= 0.1
    with pytest.raises(UnreadableModelError, match="not the linear function"):
        altered.check(as_rows(half))


def test_steps_that_work_in_place_get_copies():
    model = make_pipeline(StandardScaler(copy=False), Ridge()).fit(X.copy(), Y)
    before = X.copy()
    explained = assert_read(model, model.predict(X.copy()))
    explained.predictions(X)
    assert_array_equal(X, before)


def test_a_kernel_machine_that_is_linear_after_all():
    model = SVC(kernel="linear").fit(X, TWO)
    assert_read(model, model.decision_function(X))
    with pytest.raises(UnreadableModelError, match="kernel 'rbf' is not linear"):
        read_linear(SVC().fit(X, TWO))
    with pytest.raises(UnreadableModelError, match="pairs of classes vote"):
        read_linear(SVC(kernel="linear").fit(X, THREE))


def test_a_pipeline_within_a_pipeline():
    inner = make_pipeline(StandardScaler(), SplineTransformer(n_knots=3), Ridge())
    model = make_pipeline(StandardScaler(), inner).fit(X, Y)
    explained = assert_read(model, model.predict(X))
    assert_array_equal(explained.model.columns, np.repeat(range(4), 5))


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (DecisionTreeRegressor(random_state=0), "not a known linear"),
        (KNeighborsRegressor(), "not a known linear"),
        (TransformedTargetRegressor(LinearRegression()), "transforms its target"),
        (GAMRegressor(n_splines=4), "not a known linear"),
        (PLSRegression(), "not a known linear"),
        (make_pipeline(PCA(), Ridge()), "PCA mixes columns"),
        (make_pipeline(StandardScaler(), KNeighborsRegressor()), "last step KNeigh"),
    ],
    ids=[
        "tree",
        "neighbours",
        "transformed",
        "basis",
        "centred",
        "mixing step",
        "last step",
    ],
)
def test_models_that_are_not_linear(model, message):
    with pytest.raises(UnreadableModelError, match=message) as caught:
        read_linear(FrozenEstimator(model.fit(X, Y)))
    assert kind(model) in str(caught.value)
    assert "LogisticRegression*" in str(caught.value)
    assert "PoissonRegressor" in str(caught.value)


class Clipped(Ridge):
    """Has coefficients, and answers otherwise."""

    def predict(self, X):
        """Nothing below zero."""
        return np.maximum(super().predict(X), 0)


def test_a_subclass_with_predictions_of_its_own():
    with pytest.raises(UnreadableModelError, match="Ridge with predict of its own"):
        read_linear(Clipped().fit(X, Y))


def test_coefficients_that_do_not_make_the_responses():
    model = LinearRegression().fit(X, Y)
    explained = explained_linear(model)
    model.coef_ = model.coef_ + [0.1, 0, 0, 0]
    with pytest.raises(UnreadableModelError, match=r"not the linear function.*coef_"):
        explained.check(as_rows(X))


@pytest.mark.parametrize(
    "method", ["predict_proba", "predict", "predict_log_proba", "centered_log_proba"]
)
def test_responses_that_are_not_linear(method):
    model = LogisticRegression().fit(X, TWO)
    with pytest.raises(UnreadableModelError, match=rf'"{method}".*"auto"'):
        explained_linear(model, method)
    explained_linear(model, ["decision_function", method])


def test_targets_that_are_none():
    model = LogisticRegression().fit(X, TWO)
    with pytest.raises(ValueError, match="not a class"):
        explained_linear(model, target="maybe")
    with pytest.raises(ValueError, match="out of range"):
        explained_linear(Ridge().fit(X, BOTH), target=2)
