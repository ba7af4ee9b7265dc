"""Regression diagnostics equal their definitions, refits, R and statsmodels."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import stats
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import (
    GammaRegressor,
    LinearRegression,
    LogisticRegression,
    PoissonRegressor,
    Ridge,
    RidgeClassifier,
    TweedieRegressor,
)
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, PolynomialFeatures
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeRegressor

from sklearn_interpret.exceptions import BalancedClassesWarning, UnreadableModelError
from sklearn_interpret.influence import RegressionInfluence
from tests.speeds import examples

RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 3)) * [1, 10, 0.1] + [0, 5, 1]
Y = X @ [1, 0.2, -5] + RNG.normal(size=30)
LABELS = np.where(X[:, 0] + RNG.logistic(size=30) > 0, "yes", "no")
POSITIVE = RNG.gamma(2, np.exp(0.3 * X[:, 0]) / 2) + 0.05
COUNTS = RNG.poisson(np.exp(0.5 + 0.4 * X[:, 0]))
COPIES = RNG.integers(1, 4, 30)
SHARP = {"tol": 1e-12, "max_iter": 100_000}
LASSO = {"l1_ratio": 1, "solver": "saga", "tol": 1}
if LogisticRegression().penalty == "l2":  # until scikit-learn 1.7
    LASSO["penalty"] = "elasticnet"
NO_PENALTY = {"alpha": 0, "solver": "newton-cholesky", "tol": 1e-12}

# Of each model its targets and whether the dispersion is known.
MODELS = {
    "logistic": (LogisticRegression(C=1e12, **SHARP), LABELS, True),
    "poisson": (PoissonRegressor(**NO_PENALTY), COUNTS, True),
    "gamma": (GammaRegressor(**NO_PENALTY), POSITIVE, False),
    "tweedie": (TweedieRegressor(power=1.5, **NO_PENALTY), POSITIVE, False),
}
BY_ROW = (
    "leverages_",
    "cooks_distances_",
    "dfbeta_",
    "dfbetas_",
    "dffits_",
    "covratio_",
    "residuals_standardized_",
    "residuals_studentized_",
    "sigma_",
    "influential_",
)


def measures(inspector):
    return {name: getattr(inspector, name) for name in BY_ROW}


def assert_equal_measures(one, other, rtol=1e-8, atol=1e-9, without=()):
    for name in BY_ROW:
        if name not in without:
            pair = getattr(one, name), getattr(other, name)
            assert_allclose(*pair, rtol=rtol, atol=atol, err_msg=name)


def slow_least_squares(design, y, penalty, weights):
    """All measures from fits without each row, row by row."""

    def fit(kept):
        root = np.sqrt(kept)
        information = (design.T * kept) @ design + np.diag(penalty)
        parameters = np.linalg.solve(information, design.T @ (kept * y))
        deviance = np.sum((root * (y - design @ parameters)) ** 2)
        hats = (design.T * kept).T @ np.linalg.inv(information)
        hats = np.einsum("nd,nd->n", hats, design)
        dof = kept.sum() - hats.sum()
        return parameters, information, hats, np.sqrt(deviance / dof)

    b, information, hats, s = fit(weights)
    covariance = np.linalg.inv(information)
    found = {name: [] for name in BY_ROW}
    for i, (x, target, weight, hat) in enumerate(
        zip(design, y, weights, hats, strict=True)
    ):
        kept = weights * (np.arange(len(y)) != i)
        other, of_others, _, sigma = fit(kept)
        change = b - other
        # Of a new observation, with the other rows' standard deviation.
        spread = 1 / weight + x @ np.linalg.inv(of_others) @ x
        row = {
            "leverages_": hat,
            "dfbeta_": change,
            "sigma_": sigma,
            "cooks_distances_": change @ information @ change / hats.sum() / s**2,
            "dfbetas_": change / sigma / np.sqrt(np.diag(covariance)),
            "dffits_": x @ change / sigma / np.sqrt(x @ covariance @ x),
            "covratio_": np.linalg.det(sigma**2 * np.linalg.inv(of_others))
            / np.linalg.det(s**2 * covariance),
            "residuals_studentized_": (target - x @ other) / sigma / np.sqrt(spread),
            "residuals_standardized_": (target - x @ b)
            * np.sqrt(weight)
            / (s * np.sqrt(1 - hat)),
        }
        for name, value in row.items():
            found[name].append(value)
    return {name: np.array(values) for name, values in found.items() if values}


@pytest.mark.parametrize("weights", [np.ones(30), COPIES], ids=["once", "copies"])
@pytest.mark.parametrize(
    "model",
    [
        LinearRegression(),
        LinearRegression(fit_intercept=False),
        Ridge(alpha=3.0),
        Ridge(alpha=0.5, fit_intercept=False),
        TweedieRegressor(power=0, **NO_PENALTY),
    ],
    ids=str,
)
def test_least_squares(model, weights):
    """Each measure is what its definition gives by fits without each row."""
    inspector = RegressionInfluence(model).fit(X, Y, sample_weight=weights)
    design = np.c_[X, np.ones(30)] if model.fit_intercept else X
    penalty = np.zeros(design.shape[1])
    penalty[:3] = model.alpha if isinstance(model, Ridge) else 0
    slow = slow_least_squares(design, Y, penalty, weights)
    assert len(slow) == len(BY_ROW) - 1
    for name, expected in slow.items():
        found = getattr(inspector, name)
        assert_allclose(found, expected, rtol=1e-8, atol=1e-10, err_msg=name)


# Brownlee's stack loss data, as in R's `stackloss`.
# Rows 4, 6 and 11 of what R 4.2 gives for each model m:
#   cbind(dfbetas(m)[, c(2, 3, 1)], dffits(m), covratio(m), cooks.distance(m),
#         hatvalues(m), rstandard(m), rstudent(m), influence(m)$sigma)
#   x <- c(0.5, 1.2, -0.7, 2.1, 0.3, -1.4, 1.8, -0.2, 0.9, -1.1, 3, -0.6), and so on;
#   m <- lm(y ~ x + z), lm(y ~ x + z, weights = w), glm(b ~ x + z, binomial, control),
#   glm(k ~ x + z, poisson, control); control <- glm.control(1e-20, maxit = 100)
SMALL = np.array(
    [
        [0.5, 1.2, -0.7, 2.1, 0.3, -1.4, 1.8, -0.2, 0.9, -1.1, 3, -0.6],  # x
        [2, 7, 1, 8, 2, 8, 1, 8, 2, 8, 4, 5],  # z
        [1.1, 2.9, -0.4, 5.2, 0.2, 0.8, 2.1, 2.2, 1.4, 1, 1.5, 0.9],  # y
        [1.5, 0.5, 1, 2, 0.8, 1.2, 1, 1.3, 0.7, 1, 0.6, 0.4],  # w, whose sum is 12
        [1, 0, 0, 1, 0, 1, 1, 0, 1, 0, 1, 0],  # b
        [2, 4, 1, 7, 0, 1, 3, 2, 2, 1, 4, 1],  # k
    ]
)
R_SAYS = {
    "lm": """
        1.55394327529 1.49363487521 -1.00806894706 2.19807980881 0.321675743262
        0.934986657889 0.391723623291 2.08700710643 2.73907579834 0.6317731049
        0.228452449774 -0.162758306145 -0.00158350300114 -0.368122772316 1.87825654182
        0.0490418133309 0.318678161418 -0.560846340859 -0.538260719313 0.863957660474
        -4.81876790341 -0.499534609735 0.0750417117836 -5.46322407046 0.00783722759753
        1.67081193785 0.395648040132 -2.76703638684 -6.75210941472 0.339794742897
        """,
    "weighted lm": """
        2.90582599005 2.46762206547 -1.53411926149 4.16709746597 0.366612961403
        2.94279370205 0.641545982733 2.22097345238 3.11484535318 0.554973827446
        0.250045379574 -0.149585904186 -0.0180428729773 -0.362438658355 2.11051780605
        0.0479612320199 0.37735765808 -0.48724628235 -0.465561710976 0.814585927354
        -3.34462717627 0.127503471978 -0.337218696481 -3.82850067625 0.00538877146288
        0.783891275049 0.233575954589 -2.77785157695 -6.93504403046 0.311763622447
        """,
    "binomial": """
        0.423096383792 0.36374564557 -0.247484233907 0.583939350162 2.00089058203
        0.0984463165772 0.40635041862 0.87651651707 0.794617932986 1.24187428649
        -0.93355819762 0.665157560534 -0.0283383455409 1.36302201141 0.363122418992
        0.998324304795 0.241562382358 2.35087220878 2.5422591464 0.973376533658
        0.176282392793 0.0110458444772 -0.00510433177987 0.191685818362 1.73602586803
        0.0102897910281 0.218877984064 0.459740691783 0.434984908682 1.26959312619
        """,
    "poisson": """
        0.451994726659 0.654312790731 -0.455628231444 0.953820219133 2.52731541177
        0.149428142648 0.562925533765 0.575314820658 0.58360920646 0.684521027892
        0.110702706274 -0.0443310705568 -0.0292219455267 -0.139443823144 1.80057399375
        0.00311641406002 0.228400209268 -0.182277015534 -0.181246261245 0.711188664622
        -1.45856659431 0.384360472209 -0.227404059396 -1.97229253757 1.17556174225
        0.426459275589 0.552587123849 -1.07349944508 -1.0430767878 0.604890319118
        """,
}
OF_R = {
    "lm": (LinearRegression(), 2, 1e-8),
    "weighted lm": (LinearRegression(), 2, 1e-8),
    "binomial": (LogisticRegression(C=1e12, **SHARP), 4, 1e-6),
    "poisson": (PoissonRegressor(**NO_PENALTY), 5, 1e-8),
}


@pytest.mark.parametrize("name", OF_R)
def test_numbers_of_r(name):
    """Weights of R are precisions, by which rows are not counted: n - p - 1 remain."""
    model, target, rtol = OF_R[name]
    weights = SMALL[3] if name == "weighted lm" else np.ones(12)
    inspector = RegressionInfluence(model).fit(SMALL[:2].T, SMALL[target], weights)
    # One, but for weights.
    unit = np.sqrt((inspector.residual_dof_ - weights) / (12 - 3 - 1))
    found = [
        *(inspector.dfbetas_ / unit[:, None]).T,
        inspector.dffits_ / unit,
        inspector.covratio_ * unit**6,
        inspector.cooks_distances_,
        inspector.leverages_,
        inspector.residuals_standardized_,
        inspector.residuals_studentized_ / (unit if target == 2 else 1),
        inspector.sigma_ * unit,
    ]
    expected = np.array(R_SAYS[name].split(), dtype=np.float64).reshape(3, 10)
    assert_allclose(np.transpose(found)[[3, 5, 10]], expected, rtol=rtol)


def of_r(model, y, known):
    """R's measures of a GLM, from its formulas, by whole matrices."""
    design = np.c_[X, np.ones(30)]
    n, p = design.shape
    if isinstance(model, LogisticRegression):
        y, mean = (y == model.classes_[1]) * 1.0, model.predict_proba(X)[:, 1]
        variance, working = mean * (1 - mean), mean * (1 - mean)
        deviances = -2 * np.log(np.where(y == 1, mean, 1 - mean))
    else:
        mean = model.predict(X)
        power = {PoissonRegressor: 1, GammaRegressor: 2}.get(type(model), 1.5)
        variance, working = mean**power, mean ** (2 - power)
        deviances = {
            1: 2 * (y * np.log(np.maximum(y, 1e-300) / mean) - y + mean),
            2: 2 * (y / mean - 1 - np.log(np.maximum(y, 1e-300) / mean)),
            1.5: 4 * (np.sqrt(y) - np.sqrt(mean)) ** 2 / np.sqrt(mean),
        }[power]
    residuals = np.sign(y - mean) * np.sqrt(deviances)
    pearson = (y - mean) / np.sqrt(variance)
    root = np.sqrt(working)[:, None] * design
    inverse = np.linalg.inv(root.T @ root)
    hat = np.diag(root @ inverse @ root.T)
    phi = 1 if known else np.sum(pearson**2) / (n - p)
    total = np.sum(residuals**2)
    sigma = np.sqrt((total - residuals**2 / (1 - hat)) / (n - p - 1))
    dfbeta = root @ inverse * (residuals / (1 - hat))[:, None]
    jackknifed = np.sqrt(residuals**2 + hat * pearson**2 / (1 - hat))
    e_star = residuals / (sigma * np.sqrt(1 - hat))
    return {
        "leverages_": hat,
        "sigma_": sigma,
        "dfbeta_": dfbeta,
        "dfbetas_": dfbeta / np.outer(sigma, np.sqrt(np.diag(inverse))),
        "dffits_": residuals * np.sqrt(hat) / (sigma * (1 - hat)),
        "covratio_": 1 / ((1 - hat) * ((n - p - 1 + e_star**2) / (n - p)) ** p),
        "cooks_distances_": (pearson / (1 - hat)) ** 2 * hat / (phi * p),
        "residuals_standardized_": residuals / np.sqrt(phi * (1 - hat)),
        "residuals_studentized_": np.sign(y - mean)
        * jackknifed
        / (1 if known else sigma),
        "dispersion_": phi,
    }


@pytest.mark.parametrize("name", MODELS)
def test_formulas_of_r(name):
    model, y, known = MODELS[name]
    inspector = RegressionInfluence(model).fit(X, y)
    for measure, expected in of_r(inspector.estimator_, y, known).items():
        found = getattr(inspector, measure)
        assert_allclose(found, expected, rtol=1e-5, atol=1e-6, err_msg=measure)


PENALISED = [
    (LogisticRegression(**SHARP), LABELS),
    (LogisticRegression(solver="liblinear", **SHARP), LABELS),
    (PoissonRegressor(alpha=0.1, **SHARP), COUNTS),
    (TweedieRegressor(power=0, alpha=0.5, **SHARP), Y),
    *((model, y) for model, y, _ in MODELS.values()),
]


@pytest.mark.parametrize(("model", "y"), PENALISED, ids=lambda part: str(part)[:60])
def test_refits(model, y):
    """Parameters, and the deviance of the others, are those of a model without a row.

    Copies of a row are left out together.
    """
    inspector = RegressionInfluence(model, approximation="refit")
    inspector.fit(X, y, sample_weight=COPIES)
    fitted = inspector.estimator_
    for row in (0, 11):
        kept = np.arange(30) != row
        other = clone(model).fit(X[kept], y[kept], sample_weight=COPIES[kept])
        change = np.append(fitted.coef_ - other.coef_, fitted.intercept_)
        change[-1:] -= other.intercept_
        assert_allclose(inspector.dfbeta_[row], change, rtol=1e-5, atol=1e-5)
    one_step = RegressionInfluence(model).fit(X, y, sample_weight=COPIES)
    assert_allclose(one_step.leverages_, inspector.leverages_)
    for name in ("sigma_", "residuals_studentized_", "covratio_", "dffits_"):
        near = getattr(one_step, name), getattr(inspector, name)
        assert np.corrcoef(*near)[0, 1] > 0.9, name


def test_balanced_classes_change_without_a_row():
    """No refit keeps their weights; one step does, as with a dict of these weights."""
    model = LogisticRegression(class_weight="balanced", **SHARP)
    with pytest.raises(
        ValueError, match=r'"refit" takes .*\'balanced\' of the Logistic'
    ):
        RegressionInfluence(model, approximation="refit").fit(X, LABELS)
    with pytest.warns(BalancedClassesWarning, match="weighs all rows anew"):
        found = RegressionInfluence(model).fit(X, LABELS)
    classes, counts = np.unique(LABELS, return_counts=True)
    fixed = dict(zip(classes.tolist(), len(LABELS) / (2 * counts), strict=True))
    model.set_params(class_weight=fixed)
    expected = RegressionInfluence(model).fit(X, LABELS)
    assert_allclose(found.dfbeta_, expected.dfbeta_, rtol=1e-5)
    refit = RegressionInfluence(model, approximation="refit").fit(X, LABELS)
    changes = refit.estimator_.coef_ - clone(model).fit(X[1:], LABELS[1:]).coef_
    assert_allclose(refit.dfbeta_[:1, :-1], changes, rtol=1e-5)


def test_integer_weights_are_copies():
    """Variances are those of repeated rows, and copies share a leverage."""
    weighted = RegressionInfluence(PoissonRegressor(**NO_PENALTY))
    weighted.fit(X, COUNTS, sample_weight=COPIES)
    repeated = RegressionInfluence(PoissonRegressor(**NO_PENALTY))
    repeated.fit(np.repeat(X, COPIES, axis=0), np.repeat(COUNTS, COPIES))
    shares = np.repeat(weighted.leverages_ / COPIES, COPIES)
    assert_allclose(repeated.leverages_, shares, rtol=1e-7)
    for name in ("effective_dof_", "residual_dof_", "dispersion_"):
        assert_allclose(getattr(weighted, name), getattr(repeated, name), rtol=1e-9)
    # Of rows that stand there once all measures are the same.
    alone = COPIES == 1
    for name in BY_ROW:
        of_copies = getattr(repeated, name)[np.repeat(alone, COPIES)]
        found = getattr(weighted, name)[alone]
        assert_allclose(found, of_copies, rtol=1e-6, atol=1e-9, err_msg=name)


def test_rows_of_weight_zero_are_left_out():
    weights = np.r_[0, np.ones(28), 0]
    inspector = RegressionInfluence(LinearRegression()).fit(X, Y, sample_weight=weights)
    others = RegressionInfluence(LinearRegression()).fit(X[1:-1], Y[1:-1])
    assert inspector.row_indices_.tolist() == list(range(1, 29))
    assert_equal_measures(inspector, others)
    assert inspector.to_frame().index.tolist() == list(range(1, 29))


@pytest.mark.parametrize("name", MODELS)
def test_units_of_columns_do_not_matter_to_glms(name):
    model, y, _ = MODELS[name]
    model = clone(model).set_params(C=np.inf) if name == "logistic" else model
    expected = RegressionInfluence(model).fit(X, y)
    fitted = clone(model).fit(X, y)
    scales = np.array([1e-5, 1.0, 1e5])
    fitted.coef_ = fitted.coef_ / scales
    inspector = RegressionInfluence(FrozenEstimator(fitted)).fit(X * scales, y)
    for part in ("one_step", "refit"):
        inspector.set_params(approximation=part).fit(X * scales, y)
        expected.set_params(approximation=part).fit(X, y)
        changes = inspector.dfbeta_ * [*scales, 1]
        assert_allclose(changes, expected.dfbeta_, rtol=1e-5, atol=1e-5)
        assert_allclose(inspector.leverages_, expected.leverages_, rtol=1e-6)


@examples(15)
@given(
    st.lists(st.floats(-1, 1), min_size=3, max_size=3),
    st.lists(st.floats(-1e3, 1e3), min_size=3, max_size=3),
    st.floats(-6, 6),
)
def test_units_do_not_matter(powers, shifts, power):
    """Nor where zero is: of columns, and of the targets."""
    scales, scale = 10.0 ** np.array(powers), 10.0**power
    inspector = RegressionInfluence(LinearRegression()).fit(X, Y)
    other = RegressionInfluence(LinearRegression())
    other.fit(scales * (X + shifts), scale * (Y + 100))
    units = ("dfbeta_", "dfbetas_", "sigma_")
    assert_equal_measures(inspector, other, rtol=1e-6, atol=1e-6, without=units)
    assert_allclose(
        inspector.dfbeta_[:, :3],
        other.dfbeta_[:, :3] * scales / scale,
        rtol=1e-5,
        atol=1e-6 * np.abs(inspector.dfbeta_[:, :3]).max(),
    )


def test_rank_deficient_designs():
    """Fits are those of the columns that count; coefficients those of a refit."""
    wide = np.c_[X, X[:, 0], np.full(30, 0.1), X[:, 1] - X[:, 2]]
    inspector = RegressionInfluence(LinearRegression()).fit(wide, Y)
    plain = RegressionInfluence(LinearRegression()).fit(X, Y)
    parameters = ("dfbeta_", "dfbetas_", "influential_")
    assert_equal_measures(inspector, plain, without=parameters)
    assert inspector.effective_dof_ == pytest.approx(4)
    full = LinearRegression().fit(wide, Y)
    for row in (0, 3):
        kept = np.arange(30) != row
        other = LinearRegression().fit(wide[kept], Y[kept])
        change = inspector.dfbeta_[row]
        assert_allclose(change[:-1], full.coef_ - other.coef_, atol=1e-10)
        assert_allclose(change[-1], full.intercept_ - other.intercept_, atol=1e-10)
    assert_allclose(inspector.dfbeta_[:, 4], 0, atol=1e-14)
    assert np.isnan(inspector.dfbetas_[:, 4]).all()


@pytest.mark.parametrize("approximation", ["one_step", "refit"])
def test_copies_of_a_column_in_a_glm(approximation):
    wide = np.c_[X, X[:, 0], np.full(30, 0.1)]
    inspectors = [
        RegressionInfluence(
            PoissonRegressor(alpha=0, **SHARP), approximation=approximation
        ).fit(columns, COUNTS)
        for columns in (X, wide)
    ]
    parameters = ("dfbeta_", "dfbetas_", "influential_")
    assert_equal_measures(*inspectors, rtol=1e-5, atol=1e-6, without=parameters)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("model", [LinearRegression(), PoissonRegressor(**NO_PENALTY)])
def test_one_constant_column(model, fit_intercept):
    """Each row has the same leverage, and Cook's distances follow from errors."""
    if isinstance(model, PoissonRegressor):  # whose Hessian would be singular
        model = PoissonRegressor(alpha=0, **SHARP)
    model = clone(model).set_params(fit_intercept=fit_intercept)
    inspector = RegressionInfluence(model).fit(np.ones((30, 1)), COUNTS)
    assert_allclose(inspector.leverages_, 1 / 30)
    errors, spread = COUNTS - COUNTS.mean(), COUNTS.mean()
    if isinstance(model, LinearRegression):
        spread = COUNTS.var(ddof=1)
    expected = errors**2 / spread * 30 / 29**2
    assert_allclose(inspector.cooks_distances_, expected, rtol=1e-6)


def test_directions_that_the_model_leaves_out():
    """LinearRegression may leave out directions of small columns; so do measures."""
    uneven = X * [1, 1e4, 1e-6]
    inspector = RegressionInfluence(LinearRegression()).fit(uneven, Y)
    assert inspector.effective_dof_ == pytest.approx(inspector.estimator_.rank_ + 1)
    residuals = Y - inspector.predict(uneven)
    spread = np.sqrt(inspector.dispersion_ * (1 - inspector.leverages_))
    assert_allclose(inspector.residuals_standardized_, residuals / spread, rtol=1e-7)


@pytest.mark.parametrize("model", [LinearRegression(), PoissonRegressor(**NO_PENALTY)])
@pytest.mark.parametrize("approximation", ["one_step", "refit"])
def test_leverage_one(model, approximation):
    """A row that alone determines a parameter has no measures; the others have theirs.

    As in R, but for its sigma, and dfbeta of zero, of that row.
    """
    alone = np.c_[X, np.arange(30) == 4]
    inspector = RegressionInfluence(model, approximation=approximation)
    inspector.fit(alone, COUNTS)
    assert inspector.leverages_[4] == 1
    for name, values in measures(inspector).items():
        if name not in ("leverages_", "influential_"):
            assert np.isnan(values[4]).all(), name
            assert np.isfinite(np.delete(values, 4, axis=0)).all(), name
    assert inspector.influential_[4]
    if isinstance(model, LinearRegression):
        kept = np.arange(30) != 4
        others = RegressionInfluence(model).fit(X[kept], COUNTS[kept])
        found = np.delete(inspector.dffits_, 4)
        assert_allclose(found, others.dffits_, rtol=1e-9)


def test_exact_fits_have_no_studentized_residuals():
    """Instead of those of rounding errors."""
    exact = X @ [1.0, 2.0, 3.0] + 7
    inspector = RegressionInfluence(LinearRegression()).fit(X, exact)
    assert_allclose(inspector.dfbeta_, 0, atol=1e-12)
    assert np.isnan(inspector.residuals_studentized_).all()
    assert np.isnan(inspector.cooks_distances_).all()


def test_marks_of_r():
    inspector = RegressionInfluence(LinearRegression()).fit(X, Y)
    n, k = 30, 4
    marks = np.c_[
        np.abs(inspector.dfbetas_) > 1,
        np.abs(inspector.dffits_) > 3 * np.sqrt(k / (n - k)),
        np.abs(1 - inspector.covratio_) > 3 * k / (n - k),
        stats.f.cdf(inspector.cooks_distances_, k, n - k) > 0.5,
        inspector.leverages_ > 3 * k / n,
    ]
    assert inspector.influential_.tolist() == marks.any(axis=1).tolist()
    assert 0 < inspector.influential_.sum() < 30


def test_one_row_more_than_parameters():
    """No degree of freedom is left without a row, so that there is no sigma."""
    inspector = RegressionInfluence(LinearRegression()).fit(X[:5], Y[:5])
    assert np.isnan(inspector.sigma_).all()
    assert np.isfinite(inspector.cooks_distances_).all()
    assert np.isnan(inspector.residuals_studentized_).all()


@pytest.mark.parametrize(
    ("model", "n_rows"),
    [
        (LinearRegression(), 1),
        (LinearRegression(), 2),
        (LinearRegression(), 4),
        (PoissonRegressor(**NO_PENALTY), 4),
        (Ridge(), 1),
    ],
    ids=str,
)
def test_too_few_rows(model, n_rows):
    with pytest.raises(ValueError, match=f"n_samples={n_rows}, .* no residual"):
        RegressionInfluence(model).fit(X[:n_rows], COUNTS[:n_rows] + 1)


def test_a_penalty_leaves_residuals_of_few_rows():
    inspector = RegressionInfluence(Ridge(alpha=100.0)).fit(X[:3], Y[:3])
    assert inspector.effective_dof_ < 3
    assert np.isfinite(inspector.cooks_distances_).all()


def test_frames_and_pipelines():
    """Parameters are those of the columns that the model gets; rows keep names."""
    frame = pd.DataFrame(
        X, columns=["a", "b", "c"], index=[f"row {i}" for i in range(30)]
    )
    inspector = RegressionInfluence(LinearRegression()).fit(frame, Y)
    assert inspector.parameter_names_ == ["a", "b", "c", "intercept"]
    table = inspector.to_frame()
    assert table.index.tolist() == frame.index.tolist()
    assert table.columns.tolist() == [
        "leverage",
        "residual_standardized",
        "residual_studentized",
        "sigma",
        "dffits",
        "covratio",
        "cooks_distance",
        "influential",
        *(f"dfbeta_{name}" for name in inspector.parameter_names_),
        *(f"dfbetas_{name}" for name in inspector.parameter_names_),
    ]
    assert_allclose(table["dfbetas_b"], inspector.dfbetas_[:, 1])
    steps = PolynomialFeatures(2, include_bias=False)
    piped = RegressionInfluence(make_pipeline(steps, Ridge())).fit(frame, Y)
    assert piped.parameter_names_[3:5] == ["a^2", "a b"]
    made = RegressionInfluence(Ridge()).fit(steps.fit_transform(X), Y)
    assert_equal_measures(piped, made)
    nameless = make_pipeline(FunctionTransformer(np.abs), LinearRegression())
    inspector = RegressionInfluence(nameless).fit(X, Y)
    assert inspector.parameter_names_ == ["x0", "x1", "x2", "intercept"]
    through = LinearRegression(fit_intercept=False)
    inspector = RegressionInfluence(through).fit(X, Y)
    assert inspector.parameter_names_ == ["x0", "x1", "x2"]


def test_frozen_models_and_labels():
    model = LogisticRegression(**SHARP).fit(X, LABELS)
    frozen = RegressionInfluence(FrozenEstimator(model)).fit(X, LABELS)
    fitted = RegressionInfluence(LogisticRegression(**SHARP)).fit(X, LABELS == "yes")
    assert frozen.estimator_.estimator is model
    assert_equal_measures(frozen, fitted, rtol=1e-6, atol=1e-7)
    inspector = RegressionInfluence(FrozenEstimator(model))
    with pytest.raises(ValueError, match=r"requires y .* residuals need the targets"):
        inspector.fit(X)
    with pytest.raises(ValueError, match=r"y has the label 'other'.*'no', 'yes'"):
        inspector.fit(X, np.where(LABELS == "yes", "yes", "other"))
    inspector = RegressionInfluence(FrozenEstimator(LinearRegression().fit(X, Y)))
    with pytest.raises(ValueError, match="Input y contains NaN"):
        inspector.fit(X, np.where(Y > 1, np.nan, Y))


@pytest.mark.parametrize(
    ("model", "y"),
    [
        (DecisionTreeRegressor(), Y),
        (RidgeClassifier(), LABELS),
        (LinearRegression(positive=True), Y),
        (LinearSVC(), LABELS),
        (MLPClassifier((2,), solver="lbfgs", alpha=1, max_iter=2000), LABELS),
        (LogisticRegression(**LASSO), LABELS),
        (TweedieRegressor(power=1, link="identity", alpha=0, max_iter=1), POSITIVE),
    ],
    ids=str,
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_other_models(model, y):
    with pytest.raises(UnreadableModelError):
        RegressionInfluence(model).fit(X, y)


def test_bad_input():
    with pytest.raises(ValueError, match=r"'approximation' .* must be .*Got 'exact'"):
        RegressionInfluence(LinearRegression(), approximation="exact").fit(X, Y)
    several = np.arange(30) % 3
    against_the_rest = LogisticRegression().fit(X, several)
    against_the_rest.solver = "liblinear"  # which older versions allow
    for model in (LogisticRegression(), FrozenEstimator(against_the_rest)):
        with pytest.raises(ValueError, match=r"Only binary .* 3 classes"):
            RegressionInfluence(model).fit(X, several)
    with pytest.raises(ValueError, match=r"y should be a 1d array.*\(30, 2\)"):
        RegressionInfluence(LinearRegression()).fit(X, np.c_[Y, Y])
    with pytest.raises(NotFittedError):
        RegressionInfluence(LinearRegression()).to_frame()


def test_a_fit_that_has_stopped_far_from_the_optimum():
    """Newton's first step from there leads to means beyond all numbers."""
    x = 4 * np.random.default_rng(0).normal(size=(300, 1))
    y = np.random.default_rng(1).poisson(np.exp(1.2 * x[:, 0] - 6))
    near = PoissonRegressor(**NO_PENALTY).fit(x, y)
    expected = RegressionInfluence(FrozenEstimator(near)).fit(x, y)
    far = clone(near).fit(x, y)
    far.coef_, far.intercept_ = 0 * near.coef_, -6.0
    found = RegressionInfluence(FrozenEstimator(far)).fit(x, y)
    assert_allclose(found.leverages_, expected.leverages_, rtol=1e-6)
