"""Tables of regressions equal those of statsmodels and R, and slow root searches."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import optimize, stats
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import (
    GammaRegressor,
    HuberRegressor,
    LassoCV,
    LinearRegression,
    LogisticRegression,
    PoissonRegressor,
    Ridge,
    TweedieRegressor,
)
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    OneHotEncoder,
    PolynomialFeatures,
    SplineTransformer,
)
from sklearn.tree import DecisionTreeRegressor

from sklearn_interpret._core.statistics import weighted
from sklearn_interpret.exceptions import (
    DependentTermsWarning,
    OtherTrainingRowsWarning,
    SeparationWarning,
    UnreadableModelError,
)
from sklearn_interpret.linear import CoefficientInference
from tests.references.memory import peak_memory
from tests.speeds import examples

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3)) * [1, 10, 0.1] + [0, 5, 1]
NUMBERS = X @ [1, 0.2, -5] + RNG.normal(size=60) * (1 + np.abs(X[:, 0]))
LABELS = np.where(X[:, 0] + RNG.logistic(size=60) > 0, "yes", "no")
POSITIVE = RNG.gamma(2, np.exp(0.3 * X[:, 0]) / 2) + 0.05
COUNTS = RNG.poisson(np.exp(0.5 + 0.4 * X[:, 0]))
COPIES = RNG.integers(1, 4, 60)
NO_PENALTY = {"alpha": 0, "solver": "newton-cholesky"}
# The default tolerance of a solver must not show: these stop early.
MODELS = {
    "logistic": (LogisticRegression(C=np.inf, tol=1e-3, max_iter=1000), LABELS),
    "poisson": (PoissonRegressor(**NO_PENALTY, tol=1e-2), COUNTS),
    "gamma": (GammaRegressor(**NO_PENALTY, tol=1e-2), POSITIVE),
    "tweedie": (TweedieRegressor(power=1.5, **NO_PENALTY, tol=1e-2), POSITIVE),
}
TABLE = (
    "coef_",
    "standard_errors_",
    "statistics_",
    "pvalues_",
    "intervals_low_",
    "intervals_high_",
)


def table(inspector):
    return np.array([getattr(inspector, name) for name in TABLE])


def table_of(peer):
    """The table of a fitted model of statsmodels."""
    low, high = np.transpose(peer.conf_int())
    return np.array([peer.params, peer.bse, peer.tvalues, peer.pvalues, low, high])


def glm(name, design, y, **fit):
    """A model of statsmodels, from weights that are settled: its errors lag a step."""
    api = pytest.importorskip("statsmodels.api")
    log = api.families.links.Log()
    family = {
        "logistic": api.families.Binomial(),
        "poisson": api.families.Poisson(),
        "gamma": api.families.Gamma(link=log),
        "tweedie": api.families.Tweedie(var_power=1.5, link=log),
    }[name]
    peer = api.GLM(y, design, family=family)
    first = peer.fit(tol=1e-13)
    return peer.fit(start_params=first.params, tol=1e-13, **fit)


@pytest.fixture(params=[10**6, 40], ids=["one block", "blocks"])
def row_blocks(request, monkeypatch):
    """Numbers of entries for which all rows are one block, or ten are."""
    monkeypatch.setattr(weighted, "_BLOCK", request.param)


@pytest.mark.usefixtures("row_blocks")
@pytest.mark.parametrize("covariance", ["model", "HC0", "HC1", "HC2", "HC3"])
@pytest.mark.parametrize("intercept", [True, False])
def test_least_squares_of_statsmodels(covariance, intercept):
    api = pytest.importorskip("statsmodels.api")
    design = np.c_[X, np.ones(60)] if intercept else X
    kind = {"model": "nonrobust"}.get(covariance, covariance)
    peer = api.OLS(NUMBERS, design, hasconst=intercept).fit(cov_type=kind, use_t=True)
    model = LinearRegression(fit_intercept=intercept)
    inspector = CoefficientInference(model, covariance=covariance).fit(X, NUMBERS)
    assert_allclose(table(inspector), table_of(peer), rtol=1e-9)
    assert_allclose(inspector.covariance_, peer.cov_params(), rtol=1e-9)
    assert_allclose(inspector.dispersion_, peer.scale, rtol=1e-10)
    assert_allclose(inspector.r2_, peer.rsquared, rtol=1e-10)
    assert_allclose(inspector.adjusted_r2_, peer.rsquared_adj, rtol=1e-10)
    assert inspector.residual_dof_ == pytest.approx(peer.df_resid)
    assert not hasattr(inspector, "exponentiated_")


@pytest.mark.usefixtures("row_blocks")
@pytest.mark.parametrize("covariance", ["model", "HC0"])
@pytest.mark.parametrize("name", MODELS)
def test_glms_of_statsmodels(name, covariance):
    model, y = MODELS[name]
    y_peer = (y == "yes") * 1.0 if name == "logistic" else y
    kind = {"model": "nonrobust"}.get(covariance, covariance)
    student = name in ("gamma", "tweedie")
    peer = glm(name, np.c_[X, np.ones(60)], y_peer, cov_type=kind, use_t=student)
    inspector = CoefficientInference(model, covariance=covariance).fit(X, y)
    assert_allclose(table(inspector), table_of(peer), rtol=1e-8)
    assert_allclose(inspector.dispersion_, peer.scale, rtol=1e-9)
    explained = 1 - peer.deviance / peer.null_deviance
    assert_allclose(inspector.r2_, explained, rtol=1e-8)
    assert_allclose(inspector.exponentiated_, np.exp(peer.params), rtol=1e-9)


@pytest.mark.parametrize("name", ["logistic", "poisson"])
def test_quasi_dispersion_of_statsmodels(name):
    model, y = MODELS[name]
    y_peer = (y == "yes") * 1.0 if name == "logistic" else y
    peer = glm(name, np.c_[X, np.ones(60)], y_peer, scale="X2", use_t=True)
    inspector = CoefficientInference(model, dispersion="quasi").fit(X, y)
    assert_allclose(table(inspector), table_of(peer), rtol=1e-8)
    assert_allclose(inspector.dispersion_, peer.scale, rtol=1e-9)


LOOMS = pd.DataFrame(
    {"wool": np.repeat(["A", "B"], 27), "tension": np.tile(np.repeat([*"LMH"], 9), 2)}
)


def looms_model():
    levels = OneHotEncoder(
        categories=[["A", "B"], ["L", "M", "H"]], drop="first", sparse_output=False
    )
    steps = make_column_transformer(
        (levels, ["wool", "tension"]), verbose_feature_names_out=False
    )
    return make_pipeline(steps, PoissonRegressor(**NO_PENALTY))


def deviance(name, y, mean):
    if name == "logistic":
        return -2 * np.log(np.where(y == "yes", mean, 1 - mean)).sum()
    if name == "poisson":
        return 2 * (y * np.log(np.maximum(y, 1e-300) / mean) - y + mean).sum()
    return 2 * (y / mean - np.log(y / mean) - 1).sum()


def slow_ends(name, inspector, y, term, level):
    """Ends of an interval by profile: a search for roots of a search for least values.

    Parameters are in units of their standard errors.
    """
    design = np.c_[X, np.ones(60)]
    best, errors = inspector.coef_, inspector.standard_errors_
    others = np.arange(4) != term

    def least(at):
        def value(moves):
            parameters = best.copy()
            parameters[term] = at
            parameters[others] += moves * errors[others]
            scores = design @ parameters
            mean = 1 / (1 + np.exp(-scores)) if name == "logistic" else np.exp(scores)
            return deviance(name, y, mean)

        return optimize.minimize(value, np.zeros(3), tol=1e-12, method="BFGS").fun

    start = least(best[term])
    known = inspector.dispersion_ == 1
    test = stats.chi2(1) if known else stats.f(1, 56)
    height = test.ppf(level) * inspector.dispersion_
    return [
        optimize.brentq(
            lambda at: least(at) - start - height,
            best[term],
            best[term] + far,
            rtol=1e-9,
        )
        for far in np.array([-5, 5]) * errors[term]
    ]


@pytest.mark.thorough(after=2)
@pytest.mark.parametrize(
    ("name", "dispersion"),
    [
        ("logistic", "model"),
        ("poisson", "model"),
        ("poisson", "quasi"),
        ("gamma", "model"),
    ],
)
def test_profiles_equal_a_slow_search(name, dispersion):
    model, y = MODELS[name]
    inspector = CoefficientInference(
        model, interval="profile", confidence_level=0.9, dispersion=dispersion
    ).fit(X, y)
    for term in (0, 3):
        slow = slow_ends(name, inspector, y, term, 0.9)
        found = inspector.intervals_low_[term], inspector.intervals_high_[term]
        assert_allclose(found, slow, rtol=0, atol=1e-5 * np.ptp(slow))


@pytest.mark.thorough
@examples(2)
@given(st.integers(0, 2**32 - 1), st.floats(-8, 2))
@example(0, -6.0)
def test_profiles_of_any_counts_end(seed, power):
    """At the height, or with a warning; also of rates that are next to nothing."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(20, 2))
    y = 10**power * rng.poisson(np.exp(1 + 0.3 * x[:, 0]))
    model = PoissonRegressor(**NO_PENALTY, tol=1e-9, max_iter=1000)
    inspector = CoefficientInference(model, interval="profile")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        inspector.fit(x, y)
    low, high = inspector.intervals_low_, inspector.intervals_high_
    lost = np.isnan(low + high)
    assert lost.any() == any("did not converge" in str(w.message) for w in caught)
    middle = inspector.coef_[~lost]
    assert ((low[~lost] < middle) & (middle < high[~lost])).all()
    # In units of the dispersion the numbers are counts.
    assert np.isfinite(table(inspector.set_params(dispersion="quasi").fit(x, y))).all()


def test_profiles_of_least_squares_are_walds():
    wald = CoefficientInference(LinearRegression()).fit(X, NUMBERS)
    profile = CoefficientInference(LinearRegression(), interval="profile")
    assert_allclose(table(profile.fit(X, NUMBERS)), table(wald))


def test_profiles_far_from_normal():
    """Few rows, nearly separated: intervals reach ten errors to one side."""
    x = np.array([[0.0], [1], [2], [3], [4], [5], [6], [7]])
    y = [0, 0, 0, 1, 0, 1, 1, 1]
    model = LogisticRegression(C=np.inf)
    inspector = CoefficientInference(model, interval="profile").fit(x, y)
    low, high = inspector.intervals_low_, inspector.intervals_high_
    middle = inspector.coef_
    assert ((low < middle) & (middle < high)).all()
    # From uniroot on R's glm.fit.
    assert_allclose([low[0], high[0]], [0.185737954859, 4.187586193253], rtol=1e-6)


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("power", [1.5, 2])
def test_profiles_of_few_rows_end(power, seed):
    """Far below the targets curvatures are many times the expected ones."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(12, 3))
    y = rng.gamma(2, np.exp(x @ [0.5, -0.3, 0.0]))
    model = TweedieRegressor(power=power, link="log", **NO_PENALTY, tol=1e-9)
    inspector = CoefficientInference(model, interval="profile").fit(x, y)
    assert (inspector.intervals_low_ < inspector.coef_).all()
    assert (inspector.intervals_high_ > inspector.coef_).all()


# Copies of a class are not independent of each other.
@pytest.mark.filterwarnings(
    "ignore::sklearn_interpret.exceptions.OverdispersionWarning"
)
@pytest.mark.parametrize("covariance", ["model", "HC0", "HC1", "HC2", "HC3"])
@pytest.mark.parametrize("name", ["least squares", *MODELS])
def test_weights_are_copies(name, covariance):
    model, y = {**MODELS, "least squares": (LinearRegression(), NUMBERS)}[name]
    settings = {"covariance": covariance}
    if name != "least squares":
        settings = {"covariance": {"HC1": "HC0"}.get(covariance, "model")}
        if covariance == "HC3":
            settings = {"interval": "profile", "dispersion": "quasi"}
    weighted = CoefficientInference(model, **settings)
    weighted.fit(X, y, sample_weight=COPIES)
    repeated = CoefficientInference(model, **settings)
    repeated.fit(np.repeat(X, COPIES, axis=0), np.repeat(y, COPIES))
    assert_allclose(table(weighted), table(repeated), rtol=1e-8)
    for part in ("dispersion_", "r2_", "adjusted_r2_", "residual_dof_"):
        assert_allclose(getattr(weighted, part), getattr(repeated, part), rtol=1e-9)


@examples(10)
@given(
    st.sampled_from([*MODELS]),
    st.lists(st.floats(-5, 5), min_size=3, max_size=3),
    st.floats(-100, 100),
)
def test_units_do_not_matter(name, powers, shift):
    """Weights are as much smaller; also where a solver does not get there."""
    model, y = MODELS[name]
    one = CoefficientInference(model, interval="profile").fit(X, y)
    scales = 10.0 ** np.array(powers)
    fitted = clone(model).fit(X, y)
    fitted.coef_ = fitted.coef_ / scales
    fitted.intercept_ = fitted.intercept_ - shift * fitted.coef_.ravel()[0]
    other = CoefficientInference(FrozenEstimator(fitted), interval="profile")
    other.fit(X * scales + [shift, 0, 0], y)
    found = table(other)[:, :3]
    found[[0, 1, 4, 5]] *= scales
    assert_allclose(found, table(one)[:, :3], rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("name", ["least squares", *MODELS])
def test_effects_sum_to_the_linear_predictor(name):
    model, y = {**MODELS, "least squares": (LinearRegression(), NUMBERS)}[name]
    frame = pd.DataFrame(X, columns=["age", "dose", "size"])
    steps = make_pipeline(PolynomialFeatures(2, include_bias=False), model)
    inspector = CoefficientInference(steps).fit(frame, y)
    names = ["age", "dose", "size", "age^2", "age dose", "age size", "dose^2"]
    names += ["dose size", "size^2"]
    assert inspector.term_names_ == [*names, "intercept"]
    assert inspector.get_feature_names_out().tolist() == names
    effects = inspector.transform(frame[:7])
    score = (
        {"logistic": inspector.estimator_.decision_function}
        if name == "logistic"
        else {}
    )
    answers = score.get(name, inspector.predict)(frame[:7])
    if name not in ("logistic", "least squares"):
        answers = np.log(answers)
    assert_allclose(effects.sum(axis=1) + inspector.intercept_, answers, rtol=1e-12)
    found = inspector.set_output(transform="pandas").transform(frame[:2])
    assert found.columns.tolist() == names


def test_splines_and_searches():
    """Terms of a pipeline have its names, also within a search."""
    steps = make_pipeline(
        SplineTransformer(n_knots=3, degree=2, include_bias=False), LinearRegression()
    )
    search = GridSearchCV(steps, {"splinetransformer__n_knots": [3]}, cv=2)
    expected = CoefficientInference(steps).fit(X, NUMBERS)
    assert expected.term_names_[:2] == ["x0_sp_0", "x0_sp_1"]
    found = CoefficientInference(search).fit(X, NUMBERS)
    assert_allclose(table(found), table(expected), rtol=1e-9)
    nameless = make_pipeline(FunctionTransformer(np.cbrt), LinearRegression())
    inspector = CoefficientInference(nameless).fit(X, NUMBERS)
    assert inspector.term_names_ == ["x0", "x1", "x2", "intercept"]


def test_frame():
    inspector = CoefficientInference(MODELS["poisson"][0]).fit(X, COUNTS)
    frame = inspector.to_frame()
    assert frame.index.tolist() == ["x0", "x1", "x2", "intercept"]
    assert_allclose(frame.to_numpy()[:, :6].T, table(inspector))
    low, high = inspector.intervals_low_, inspector.intervals_high_
    ratios = np.exp([inspector.coef_, low, high])
    assert_allclose(frame.to_numpy()[:, 6:].T, ratios)
    assert CoefficientInference(LinearRegression()).fit(
        X, NUMBERS
    ).to_frame().shape == (4, 6)


@pytest.mark.parametrize("interval", ["wald", "profile"])
def test_target_turns_the_signs(interval):
    model, y = MODELS["logistic"]
    yes = CoefficientInference(model, interval=interval).fit(X, y)
    no = CoefficientInference(model, interval=interval, target="no").fit(X, y)
    turned = [yes.coef_, yes.standard_errors_, -yes.statistics_, yes.pvalues_]
    expected = [-turned[0], *turned[1:], -yes.intervals_high_, -yes.intervals_low_]
    assert_allclose(table(no), expected, rtol=1e-7)
    assert_allclose(no.exponentiated_, 1 / yes.exponentiated_, rtol=1e-7)
    assert_allclose(no.transform(X), -yes.transform(X))
    assert (yes.intercept_, no.output_names_) == (-no.intercept_, ["no"])
    assert yes.to_frame()["class"].tolist() == ["yes"] * 4
    assert no.to_frame().columns[0] == "class"
    assert (no.r2_, no.dispersion_) == pytest.approx((yes.r2_, 1))
    with pytest.raises(
        ValueError, match=r"target='maybe' is not a class .*'no', 'yes'"
    ):
        no.set_params(target="maybe").fit(X, y)
    with pytest.raises(ValueError, match="target=1 is out of range"):
        CoefficientInference(LinearRegression(), target=1).fit(X, NUMBERS)


def test_features_are_explained_by_their_columns():
    """Levels and splines of a feature are one; products of two are their own."""
    inspector = CoefficientInference(looms_model()).fit(LOOMS, np.arange(54) % 7)
    assert inspector.term_names_ == ["wool_B", "tension_M", "tension_H", "intercept"]
    explanation = inspector.explain(LOOMS[20:40])
    effects = inspector.transform(LOOMS[20:40])
    assert explanation.feature_names == ("wool", "tension")
    expected = np.c_[effects[:, 0], effects[:, 1:].sum(axis=1)]
    assert_allclose(explanation.values, expected, rtol=1e-12)
    log_means = np.log(inspector.predict(LOOMS[20:40]))
    assert_allclose(explanation.predictions, log_means, rtol=1e-9)
    assert_allclose(explanation.additivity_error(), 0, atol=1e-12)
    assert (explanation.response_name, explanation.value_name) == ("log", "effect")
    mixed = make_pipeline(PolynomialFeatures(2, include_bias=False), LinearRegression())
    explanation = CoefficientInference(mixed).fit(X, NUMBERS).explain(X)
    assert explanation.feature_names[3:5] == ("x0^2", "x0 x1")
    assert_allclose(explanation.data[:, 4], X[:, 0] * X[:, 1])


PENALISED = [
    (Ridge(), NUMBERS),
    (LassoCV(), NUMBERS),
    (LogisticRegression(), LABELS),
    (LogisticRegression(C=1e10), LABELS),
    (PoissonRegressor(), COUNTS),
    (GammaRegressor(alpha=1e-6), POSITIVE),
    (make_pipeline(FunctionTransformer(), TweedieRegressor(power=0)), NUMBERS),
]


@pytest.mark.parametrize(("model", "y"), PENALISED, ids=lambda part: str(part)[:50])
def test_penalties_are_refused(model, y):
    with pytest.raises(
        ValueError, match=r"fitted with a penalty, which shrinks .*C=np"
    ):
        CoefficientInference(model).fit(X, y)


def test_no_penalty_by_any_name():
    expected = CoefficientInference(LinearRegression()).fit(X, NUMBERS)
    for model in (Ridge(alpha=0), TweedieRegressor(power=0, alpha=0)):
        assert_allclose(
            table(CoefficientInference(model).fit(X, NUMBERS)),
            table(expected),
            rtol=1e-8,
        )


def test_dependent_columns():
    """The others are as they would be without one of them."""
    columns = np.c_[X[:, 0], X[:, 1:] @ [2, 3], X[:, 1:], np.zeros(60)]
    for model, y in (
        (LinearRegression(), NUMBERS),
        (LogisticRegression(C=np.inf, max_iter=10_000), LABELS),
        (GammaRegressor(alpha=0, max_iter=10_000), POSITIVE),
    ):
        expected = CoefficientInference(model, interval="profile").fit(X, y)
        with pytest.warns(DependentTermsWarning, match=r"of 'x1', 'x2', 'x3', 'x4'\."):
            found = CoefficientInference(model, interval="profile").fit(columns, y)
        assert_allclose(table(found)[:, [0, 5]], table(expected)[:, [0, 3]], rtol=1e-7)
        assert np.isnan(table(found)[1:, 1:5]).all()
        assert np.isfinite(found.coef_).all()
        assert_allclose(found.dispersion_, expected.dispersion_, rtol=1e-8)
    constant = np.c_[X, np.full(60, 3.0)]
    with pytest.warns(DependentTermsWarning, match="of 'x3', 'intercept'"):
        CoefficientInference(LinearRegression()).fit(constant, NUMBERS)


def test_separated_classes():
    inspector = CoefficientInference(LogisticRegression(C=np.inf))
    with pytest.warns(SeparationWarning, match="some rows' classes without .*: 'x0'"):
        inspector.fit(X, X[:, 0] > 0.2)
    assert np.isnan(table(inspector)[1:]).all()
    assert_allclose(inspector.coef_[:3], inspector.estimator_.coef_[0])
    # Certain of many rows, but not separated.
    y = X[:, 0] > 0
    strong = np.c_[30 * X[:, 0]]
    y[np.abs(X[:, 0]).argsort()[4]] ^= True
    assert np.isfinite(table(inspector.fit(strong, y))).all()


@pytest.mark.parametrize("name", ["logistic", "poisson"])
@pytest.mark.parametrize("interval", ["wald", "profile"])
def test_a_separated_term_leaves_the_others_theirs(name, interval):
    """They are those of the rows that are not separated."""
    some = np.arange(60) < 8
    model, y = MODELS[name]
    y = np.where(some, "yes" if name == "logistic" else 0, y)
    inspector = CoefficientInference(model, interval=interval)
    expected = table(inspector.fit(X[~some], y[~some]))
    explained = inspector.r2_
    with pytest.warns(SeparationWarning, match="more rows: 'x3'"):
        inspector.fit(np.c_[X, some], y)
    found = table(inspector)
    assert_allclose(found[:, [0, 1, 2, 4]], expected, rtol=1e-6)
    assert found[0, 3] == inspector.estimator_.coef_.ravel()[3]
    assert np.isnan(found[1:, 3]).all()
    assert explained < inspector.r2_ < 1


@examples(8)
@given(st.integers(0, 2**32 - 1), st.integers(4, 14))
def test_any_separation(seed, n_rows):
    """What grows with a vanishing penalty is lost; the others are its limits."""
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 3, size=(n_rows, 2)).astype(float)
    y = x @ rng.integers(-2, 3, size=2) + rng.integers(0, 3, size=n_rows) > 1
    if len(np.unique(y)) < 2:
        return
    limits = []
    for C in (1e6, 1e9):
        model = LogisticRegression(C=C, tol=1e-12, solver="newton-cholesky")
        model.set_params(max_iter=1000).fit(x, y)
        limits.append(np.append(model.coef_, model.intercept_))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = LogisticRegression(C=np.inf, max_iter=10_000)
        inspector = CoefficientInference(model).fit(x, y)
    known = np.isfinite(inspector.standard_errors_)
    assert_allclose(inspector.coef_[known], limits[1][known], rtol=1e-3, atol=1e-3)
    grow = np.abs(limits[1] - limits[0]) > 0.1
    assert not (known & grow).any()
    dependent = np.linalg.matrix_rank(np.c_[x, np.ones(n_rows)]) < 3
    if not grow.any() and not dependent:
        assert known.all()


def test_separated_and_dependent_terms():
    """Each is named by its own warning; of few rows left, nothing is known."""
    some = np.arange(60) < 8
    inspector = CoefficientInference(MODELS["logistic"][0])
    columns, y = np.c_[X, some, 2 * X[:, 0]], (LABELS == "yes") | some
    with (
        pytest.warns(SeparationWarning, match=r"more rows: 'x3'\."),
        pytest.warns(DependentTermsWarning, match=r"of 'x0', 'x4'\."),
    ):
        inspector.fit(columns, y)
    assert np.isnan(inspector.pvalues_).tolist() == [1, 0, 0, 1, 1, 0]
    # Three rows of one place are not separated, and leave one residual for the two.
    x, y = [[0], [1], [1], [1], [2]], [0, 0, 1, 1, 1]
    with pytest.warns(SeparationWarning, match="'x0', 'intercept'"):
        inspector.set_params(dispersion="quasi").fit(x, y)
    assert np.isnan(table(inspector)[1:]).all()


def test_counts_that_are_all_zero():
    model = PoissonRegressor(**NO_PENALTY).fit(X, COUNTS)
    model.intercept_ = -np.inf  # as scikit-learn's fit ends
    with pytest.raises(ValueError, match="weights of the PoissonRegressor are not fin"):
        CoefficientInference(FrozenEstimator(model)).fit(X, np.zeros(60))


def test_rare_counts():
    """Some means are next to nothing, where targets are zero; nothing is separated."""
    x = 4 * RNG.normal(size=(3000, 2))
    y = RNG.poisson(np.exp(1.2 * x[:, 0] - 6))
    peer = glm("poisson", np.c_[x, np.ones(3000)], y)
    inspector = CoefficientInference(PoissonRegressor(**NO_PENALTY)).fit(x, y)
    assert_allclose(table(inspector)[:3], table_of(peer)[:3], rtol=1e-6)
    assert_allclose(inspector.r2_, 1 - peer.deviance / peer.null_deviance, rtol=1e-8)


def test_other_training_rows():
    model = FrozenEstimator(LinearRegression().fit(X[::2], NUMBERS[::2]))
    with pytest.warns(OtherTrainingRowsWarning, match="that the model was trained on"):
        CoefficientInference(model).fit(X[1::2], NUMBERS[1::2])
    inspector = CoefficientInference(model).fit(X[::2], NUMBERS[::2])
    assert inspector.residual_dof_ == pytest.approx(26)


def test_a_model_that_is_fitted_here_has_these_rows():
    """Without residuals, the tolerance of its solver is many steps of single rows."""
    model, means = PoissonRegressor(alpha=0), np.exp(X @ [0.3, 0.1, 0] + 2)
    inspector = CoefficientInference(model).fit(X, means)
    assert_allclose(inspector.coef_[:3], [0.3, 0.1, 0], atol=0.01)


def test_saturated_counts():
    """No residual is left, and none needed; the solver may stop early."""
    model = PoissonRegressor(alpha=0)
    inspector = CoefficientInference(model).fit([[0], [1]], [3, 5])
    assert_allclose(inspector.standard_errors_, [(1 / 3 + 1 / 5) ** 0.5, 3**-0.5])
    assert inspector.r2_ == pytest.approx(1)
    with pytest.raises(ValueError, match="more rows than parameters: n_samples=2"):
        inspector.set_params(dispersion="quasi").fit([[0], [1]], [3, 5])


def test_a_perfect_fit():
    inspector = CoefficientInference(LinearRegression()).fit(X, X @ [1, 2, 0] + 4)
    assert_allclose(inspector.coef_, [1, 2, 0, 4], atol=1e-9)
    assert inspector.r2_ == pytest.approx(1)


def test_bad_input():
    inspector = CoefficientInference(LinearRegression())
    with pytest.raises(ValueError, match=r"requires y .* residuals need"):
        CoefficientInference(FrozenEstimator(LinearRegression().fit(X, NUMBERS))).fit(X)
    with pytest.raises(
        ValueError, match=r"needs more rows than parameters: n_samples=4"
    ):
        inspector.fit(X[:4], NUMBERS[:4])
    for model in (DecisionTreeRegressor(), HuberRegressor(alpha=0)):
        with pytest.raises(UnreadableModelError):
            CoefficientInference(model).fit(X, NUMBERS)
    model = LogisticRegression(C=np.inf, max_iter=10_000)
    with pytest.raises(ValueError, match=r"Only binary classification .* 3 classes"):
        CoefficientInference(model).fit(X, np.digitize(NUMBERS, [-5, 0]))
    model.set_params(class_weight="balanced")
    with pytest.raises(
        ValueError, match=r"class_weight='balanced' .*=None is accepted"
    ):
        CoefficientInference(model).fit(X, LABELS)
    model, y = MODELS["logistic"]
    with pytest.raises(
        ValueError, match=r'"HC3" is known .* LogisticRegression .*"HC0"'
    ):
        CoefficientInference(model, covariance="HC3").fit(X, y)
    with pytest.raises(ValueError, match=r'interval="profile" .*"HC0" does not'):
        CoefficientInference(model, covariance="HC0", interval="profile").fit(X, y)


# Many rows


def test_blocks_of_nearly_dependent_columns(monkeypatch):
    """Normal equations would lose all digits; singular values keep some."""
    near = np.c_[X, X[:, 0] + 1e-6 * RNG.normal(size=60)]
    whole = CoefficientInference(LinearRegression()).fit(near, NUMBERS)
    monkeypatch.setattr(weighted, "_BLOCK", 40)
    blocks = CoefficientInference(LinearRegression()).fit(near, NUMBERS)
    assert_allclose(table(blocks), table(whole), rtol=1e-6)
    constant = np.c_[X, np.full(60, 7.0)]
    with pytest.warns(DependentTermsWarning, match="'x3'"):
        table_of_three = table(
            CoefficientInference(LinearRegression()).fit(constant, NUMBERS)
        )
    assert np.isnan(table_of_three[1:, 3]).all()


@pytest.mark.thorough
@pytest.mark.parametrize("model", [LinearRegression(), LogisticRegression(C=np.inf)])
def test_memory_is_that_of_the_design_and_some_columns(model):
    X = RNG.normal(size=(200_000, 20))
    y = X[:, 0] + RNG.normal(size=len(X))
    y = (y > 0).astype(int) if isinstance(model, LogisticRegression) else y
    frozen = FrozenEstimator(clone(model).fit(X, y))
    peak = peak_memory(lambda: CoefficientInference(frozen).fit(X, y))
    assert peak < X.nbytes + 15 * y.nbytes
