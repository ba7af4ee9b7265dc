"""Predictions of linear smoothers are weighted sums of the training targets."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.base import clone
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, WhiteKernel
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import BayesianRidge, Lasso, LinearRegression, Ridge, RidgeCV
from sklearn.preprocessing import SplineTransformer

from sklearn_interpret._model.rows.arrays import as_rows
from sklearn_interpret._model.training_weights.smoothers import read_smoother
from sklearn_interpret.additive import GAMRegressor
from sklearn_interpret.exceptions import UnreadableModelError
from tests.model.training_weights.agreement import assert_weights, fit, training_data
from tests.speeds import examples

MODELS = [
    LinearRegression(),
    LinearRegression(fit_intercept=False),
    Ridge(2.0),
    Ridge(2.0, fit_intercept=False),
    KernelRidge(alpha=0.5),
    KernelRidge(alpha=0.5, kernel="rbf", gamma=0.1),
    GaussianProcessRegressor(RBF(2.0), alpha=0.1, optimizer=None),
    GaussianProcessRegressor(RBF(), alpha=0.1, optimizer=None, normalize_y=True),
    GaussianProcessRegressor(RBF(2.0) + WhiteKernel(0.3), optimizer=None),
]
# They choose the parameter of smoothing by the targets.
CHOOSING = [
    RidgeCV(),
    RidgeCV(cv=3),
    BayesianRidge(),
    BayesianRidge(fit_intercept=False),
]


def data(seed=0, n=50, p=4, weighted=True):
    """Rows, targets, weights of which some are zero, new rows."""
    rng = np.random.default_rng(seed)
    X, new = rng.normal(size=(n, p)) + 1, rng.normal(size=(10, p))
    y = X[:, 0] + rng.normal(size=n) + 3 * rng.normal()
    return X, y, rng.integers(0, 4, n).astype(float) if weighted else None, new


@given(
    model=st.sampled_from([*MODELS, *CHOOSING]),
    seed=st.integers(0, 2**16),
    p=st.sampled_from([1, 4, 80]),
    weighted=st.booleans(),
    changed=st.integers(0, 49),
)
@examples(100)
def test_sums_are_predictions_and_weights_are_slopes(model, seed, p, weighted, changed):
    weighted = weighted and not isinstance(model, GaussianProcessRegressor)
    X, y, sample_weight, new = data(seed, p=p, weighted=weighted)
    model = fit(clone(model), X, y, sample_weight)
    weights = assert_weights(read_smoother, model, X, y, new, sample_weight)
    if getattr(model, "fit_intercept", getattr(model, "normalize_y", False)):
        assert_allclose(weights.sum(axis=1), 1, rtol=1e-12)
    if type(model) in {type(chooser) for chooser in CHOOSING}:
        return
    before = model.predict(new)
    y[changed] += 1
    change = fit(model, X, y, sample_weight).predict(new) - before
    assert_allclose(weights[:, changed], change, atol=1e-11)


@pytest.mark.parametrize("p", [4, 80])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_sparse_rows(p, weighted, fit_intercept):
    rng = np.random.default_rng(0)
    X, y, sample_weight, _ = data(p=p, weighted=weighted)
    X = sparse.csr_array(np.where(rng.random(X.shape) < 0.4, X, 0))
    dense = X[:7].toarray()
    squares = LinearRegression(fit_intercept=fit_intercept)
    rtol = 1e-4  # of the solver, which scikit-learn < 1.7 fixes
    if hasattr(squares, "tol"):
        squares.tol, rtol = 1e-14, 1e-10
    for model in (Ridge(1.0, fit_intercept=fit_intercept, tol=1e-14), squares):
        arguments = read_smoother, fit(model, X, y, sample_weight), X, y
        weights = assert_weights(*arguments, X[:7], sample_weight, rtol)
        of_dense = assert_weights(*arguments, dense, sample_weight, rtol)
        assert_allclose(of_dense, weights, atol=1e-12)


def test_several_outputs_have_the_same_weights():
    X, y, weights, new = data()
    y = np.column_stack([y, -y, y**2])
    for model in (Ridge(np.ones(3)), LinearRegression(), KernelRidge()):
        assert_weights(read_smoother, fit(model, X, y, weights), X, y, new, weights)
    process = GaussianProcessRegressor(normalize_y=True, alpha=0.5, optimizer=None)
    assert_weights(read_smoother, process.fit(X, y), X, y, new)


def test_splines_come_as_the_rows_of_the_last_step():
    X, y, weights, new = data(n=200)
    splines = SplineTransformer().fit(X)
    X, new = splines.transform(X), splines.transform(new)
    model = fit(Ridge(0.1), X, y, weights)
    assert_weights(read_smoother, model, X, y, new, weights)


ADDITIVE = {
    "numbers": {},
    "lines": {"terms": {"a": "linear", "b": "linear", "level": "category"}},
    "cyclic": {"terms": {"hour": "cyclic", "a": "spline"}, "periods": {"hour": 24}},
    "by": {"terms": ["a", "b", "level"], "by": {"a": "level", "b": "count"}},
    "surfaces": {"interactions": [("a", "b"), ("level", "b"), ("level", "count")]},
    "searched": {"interactions": "auto", "max_terms": 3},
    "unshrunk": {"shrinkage": False, "knots": "quantile", "n_splines": 8},
    "by gcv": {"smoothing": "gcv", "extrapolation": "constant"},
}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n", [200, 1500])  # merged rows, products by histograms
@pytest.mark.parametrize("arguments", ADDITIVE.values(), ids=ADDITIVE)
@pytest.mark.filterwarnings("ignore::sklearn_interpret.exceptions.ExtrapolationWarning")
def test_additive_models(arguments, n, weighted):
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    rows = pandas.DataFrame(
        {
            "a": rng.normal(size=n + 20),
            "b": rng.exponential(size=n + 20),
            "level": rng.choice(list("xyz"), n + 20),
            "count": rng.integers(0, 5, n + 20),
            "hour": rng.uniform(0, 24, n + 20),
        }
    )
    means = np.sin(2 * rows["a"]) + rows["a"] * rows["b"] + (rows["level"] == "y")
    y = (20 + means + rng.normal(size=n + 20)).to_numpy()[:n]
    X, new = rows[:n], rows[n:]
    sample_weight = rng.integers(0, 4, n).astype(float) if weighted else None
    model = fit(GAMRegressor(**arguments), X, y, sample_weight)
    weights = assert_weights(read_smoother, model, X, y, new, sample_weight, 1e-10)
    assert_allclose(weights.sum(axis=1), 1, rtol=1e-12)
    if weighted:
        assert not weights[:, sample_weight == 0].any()


@pytest.mark.filterwarnings("ignore::sklearn_interpret.exceptions.ExtrapolationWarning")
def test_missing_levels_of_additive_models_and_slopes():
    X, y, sample_weight, new = data(n=120)
    X[::7, 0], new[::3, 0] = np.nan, np.nan
    # Other targets would choose other smoothing parameters.
    model = GAMRegressor(missing="level", smoothing=2.0, interactions=[(0, 1)])
    fit(model, X, y, sample_weight)
    weights = assert_weights(read_smoother, model, X, y, new, sample_weight)
    before = model.predict(new)
    y[5] += 1
    change = fit(model, X, y, sample_weight).predict(new) - before
    assert_allclose(weights[:, 5], change, atol=1e-10)


def test_an_additive_model_of_other_rows():
    _, y, _, _ = data()
    labels = np.array(["u", "v"] * 25, dtype=object)[:, None]
    model = GAMRegressor().fit(labels, y)
    with pytest.raises(UnreadableModelError, match="not fitted on these rows"):
        read_smoother(model, training_data(np.full_like(labels, "w"), y))


def test_columns_that_depend_on_each_other():
    X, y, weights, new = data()
    X, new = np.c_[X, X[:, 0] - X[:, 1]], np.c_[new, new[:, 0] - new[:, 1]]
    model = fit(LinearRegression(), X, y, weights)
    assert_weights(read_smoother, model, X, y, new, weights, 1e-10)


def test_readers_can_be_pickled():
    X, y, weights, new = data()
    for model in (Ridge(), KernelRidge()):
        reader = read_smoother(fit(model, X, y, weights), training_data(X, y, weights))
        again = pickle.loads(pickle.dumps(reader))
        assert_allclose(again.weights(as_rows(new)), reader.weights(as_rows(new)))


class _Shifted(Ridge):
    def predict(self, X):
        return super().predict(X) + 1


@pytest.mark.parametrize(
    "model, reason",
    [
        (Lasso(), "not known to be linear"),
        (GAMRegressor(link="log"), "the log of its predictions"),
        (GAMRegressor(family="poisson"), "the log of its predictions"),
        (GAMRegressor(offset=0), "adds an offset"),
        (GAMRegressor(monotonic_cst={0: 1}), "monotonic_cst"),
        (LinearRegression(positive=True), "positive=True"),
        (Ridge(positive=True), "positive=True"),
        (_Shifted(), "with predict of its own"),
        (Ridge(np.array([1.0, 2.0])), "different penalties"),
        (KernelRidge(alpha=[1.0, 2.0]), "different penalties"),
    ],
    ids=str,
)
def test_other_models_are_refused(model, reason):
    X, y, _, _ = data()
    y = np.exp(y / 4).round() + 1
    if np.ndim(getattr(model, "alpha", 0)):
        y = np.c_[y, y]
    with pytest.raises(UnreadableModelError, match=reason):
        read_smoother(model.fit(X, y), training_data(X, y))


def test_a_singular_kernel_is_refused():
    X, y, _, _ = data()
    with pytest.warns(UserWarning, match="Singular"):
        model = KernelRidge(alpha=0.0).fit(np.zeros_like(X), y)
    with pytest.raises(UnreadableModelError, match="singular"):
        read_smoother(model, training_data(np.zeros_like(X), y))
