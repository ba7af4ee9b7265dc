"""Offsets, weights that are precisions, and targets that vary more than they should."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import (
    GammaRegressor,
    LinearRegression,
    LogisticRegression,
    PoissonRegressor,
)
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, PolynomialFeatures, StandardScaler

from sklearn_interpret.exceptions import OverdispersionWarning
from sklearn_interpret.linear import CoefficientInference, LinearEffectDisplay
from tests.partitions import in_batches
from tests.speeds import examples

FIRST = [0.1, 0.4, 0.5, 0.9, 1.2, 1.3, 1.7, 1.8, 2.2, 2.4, 2.9, 3.0]
SECOND = [1.2, -0.3, 0.8, -1.1, 0.4, 2.0, -0.6, 0.1, 1.5, -1.4, 0.7, -0.2]
X = np.column_stack([FIRST, SECOND])
EXPOSURE = np.array([0.5, 2, 1, 4, 3, 0.8, 2.5, 1.5, 6, 0.7, 1.1, 5])
COUNTS = np.array([1, 2, 0, 6, 4, 3, 4, 1, 19, 1, 5, 12])
LABELS = np.array([0, 0, 1, 0, 1, 1, 1, 0, 1, 0, 1, 1])
LOG = np.log(EXPOSURE)
WITH_OFFSET = np.column_stack([X[:, 0], LOG, X[:, 1]])

POISSON = PoissonRegressor(alpha=0, tol=1e-8, max_iter=1000)
GAMMA = GammaRegressor(alpha=0, tol=1e-8, max_iter=1000)
LOGISTIC = LogisticRegression(C=np.inf, tol=1e-8, max_iter=1000)
MODELS = {
    "poisson": (POISSON, COUNTS),
    "rates": (POISSON, COUNTS / EXPOSURE),
    "gamma": (GAMMA, COUNTS + 0.5),
    "logistic": (LOGISTIC, LABELS),
    "least squares": (LinearRegression(), COUNTS),
}
# From statsmodels 0.15.0, with D = np.column_stack([X, np.ones(12)]):
#   m = sm.GLM(y, D, family=family, offset=LOG, freq_weights=EXPOSURE)  # or var_weights
#   start = m.fit(tol=1e-14).params
#   f = m.fit(start_params=start, tol=1e-14, cov_type="HC0", use_t=name == "gamma")
# and of least squares sm.WLS(y, D, weights=EXPOSURE).fit(cov_type="HC3", use_t=True):
# weights, their errors (f.params, f.bse), and 1 - f.deviance / f.null_deviance.
# Keys: model, covariance, whether there is an offset, and what weights are.
REFERENCES = {
    ("poisson", "model", True, None): (
        [0.349919723795, 0.266176682566, -0.034100186207],
        [0.164344203081, 0.140668054401, 0.363103530856],
        0.586897603667,
    ),
    ("poisson", "HC0", True, None): (
        [0.349919723795, 0.266176682566, -0.034100186207],
        [0.101516428940, 0.072424568321, 0.260055518495],
        0.586897603667,
    ),
    ("rates", "HC0", False, "precision"): (
        [0.349919723795, 0.266176682566, -0.034100186207],
        [0.101516428940, 0.072424568321, 0.260055518495],
        0.586897603667,
    ),
    ("poisson", "model", True, "frequency"): (
        [0.273434785055, 0.243452903606, 0.150856850444],
        [0.093531049717, 0.069510691679, 0.213432836749],
        0.723073540580,
    ),
    ("poisson", "HC0", True, "frequency"): (
        [0.273434785055, 0.243452903606, 0.150856850444],
        [0.046772150366, 0.024737054573, 0.125407387707],
        0.723073540580,
    ),
    ("logistic", "model", True, None): (
        [1.643006479851, 2.208889825860, -2.676347733983],
        [1.312809997509, 1.260043597362, 1.820600069533],
        0.482050119269,
    ),
    ("logistic", "HC0", True, None): (
        [1.643006479851, 2.208889825860, -2.676347733983],
        [0.916478971222, 0.710768959868, 1.078355830306],
        0.482050119269,
    ),
    ("gamma", "model", True, None): (
        [0.293559281753, 0.287348024697, 0.246629201291],
        [0.138382662713, 0.128936272961, 0.253698419226],
        0.425766022435,
    ),
    ("gamma", "model", False, "precision"): (
        [0.534896651709, 0.208874929913, 1.043544472684],
        [0.205934134072, 0.188424439689, 0.399663604496],
        0.425196969161,
    ),
    ("gamma", "HC0", False, "precision"): (
        [0.534896651709, 0.208874929913, 1.043544472684],
        [0.159101884146, 0.188213889324, 0.388366450855],
        0.425196969161,
    ),
    ("least squares", "model", False, "precision"): (
        [3.859048414999, 2.955670671565, 0.942442190187],
        [1.751065715258, 1.602180122998, 3.398354714844],
        None,
    ),
    ("least squares", "HC0", False, "precision"): (
        [3.859048414999, 2.955670671565, 0.942442190187],
        [1.024895692442, 1.881465761940, 2.424613817716],
        None,
    ),
    ("least squares", "HC1", False, "precision"): (
        [3.859048414999, 2.955670671565, 0.942442190187],
        [1.183447607845, 2.172529528254, 2.799702880678],
        None,
    ),
    ("least squares", "HC2", False, "precision"): (
        [3.859048414999, 2.955670671565, 0.942442190187],
        [1.292932207730, 2.867233801429, 3.148895521203],
        None,
    ),
    ("least squares", "HC3", False, "precision"): (
        [3.859048414999, 2.955670671565, 0.942442190187],
        [1.717346181350, 4.479643474054, 4.198327545326],
        None,
    ),
}
RESULTS = (
    "coef_",
    "standard_errors_",
    "pvalues_",
    "intervals_low_",
    "intervals_high_",
    "dispersion_",
    "r2_",
    "adjusted_r2_",
    "intercept_",
)


def results(inspector):
    return np.concatenate([np.ravel(getattr(inspector, name)) for name in RESULTS])


def fitted(name, covariance="model", offset=True, weights=None, **parameters):
    """An inspector, fitted, of a model and its targets by name."""
    model, y = MODELS[name]
    inspector = CoefficientInference(
        model,
        covariance=covariance,
        offset=1 if offset else None,
        weights=weights or "frequency",
        **parameters,
    )
    rows = WITH_OFFSET if offset else X
    return inspector.fit(rows, y, sample_weight=EXPOSURE if weights else None)


@pytest.mark.parametrize(("key", "expected"), REFERENCES.items(), ids=str)
def test_tables_of_statsmodels(key, expected):
    inspector = fitted(*key)
    coef, errors, explained = expected
    assert_allclose(inspector.coef_, coef, rtol=1e-8)
    assert_allclose(inspector.standard_errors_, errors, rtol=1e-8)
    if explained is not None:
        assert_allclose(inspector.r2_, explained, rtol=1e-10)
    assert inspector.term_names_[-1] == "intercept"
    precise = key[-1] != "frequency"
    n_rows = 12 if precise else EXPOSURE.sum()
    assert inspector.residual_dof_ == pytest.approx(n_rows - 3)


@pytest.mark.parametrize("parameters", [{}, {"interval": "profile"}], ids=str)
@pytest.mark.parametrize("dispersion", ["model", "quasi"])
def test_rates_have_the_table_of_counts_with_an_offset(dispersion, parameters):
    parameters = {"dispersion": dispersion, **parameters}
    counts = fitted("poisson", **parameters)
    rates = fitted("rates", offset=False, weights="precision", **parameters)
    # The intercept is the model's own, to its tolerance.
    assert_allclose(results(rates), results(counts), rtol=1e-6)


def test_least_squares_with_an_offset_is_that_of_the_rest():
    y = COUNTS - LOG
    inspector = CoefficientInference(LinearRegression(), covariance="HC3", offset=1)
    found = results(inspector.fit(WITH_OFFSET, COUNTS))
    inspector.set_params(offset=None)
    assert_allclose(found, results(inspector.fit(X, y)), rtol=1e-9)


@examples(5)
@given(st.floats(-8, 8), st.sampled_from(["model", "HC0", "HC1", "HC2", "HC3"]))
def test_the_scale_of_precisions_does_not_matter(power, covariance):
    inspector = CoefficientInference(
        LinearRegression(), weights="precision", covariance=covariance
    )
    one = inspector.fit(X, COUNTS, sample_weight=EXPOSURE)
    expected = one.standard_errors_, one.pvalues_, one.r2_, one.adjusted_r2_
    other = inspector.fit(X, COUNTS, sample_weight=EXPOSURE * 10.0**power)
    found = other.standard_errors_, other.pvalues_, other.r2_, other.adjusted_r2_
    for pair in zip(found, expected, strict=True):
        assert_allclose(*pair, rtol=1e-8)


@pytest.mark.thorough(after=1)
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("covariance", ["model", "HC0"])
@pytest.mark.parametrize("name", ["poisson", "gamma", "logistic", "least squares"])
def test_partitions(name, covariance, intercept):
    """Of a frozen model, whose weights are those with the offset."""
    model, y = MODELS[name]
    inspector = CoefficientInference(
        clone(model).set_params(fit_intercept=intercept),
        covariance=covariance,
        offset=1,
        weights="precision",
    )
    inspector.fit(WITH_OFFSET, y, sample_weight=EXPOSURE)
    expected = results(inspector)
    inspector.set_params(estimator=FrozenEstimator(inspector.estimator_))
    for n_partitions in (1, 4):
        batches = in_batches(WITH_OFFSET, y, EXPOSURE, n_partitions)
        assert_allclose(results(inspector.fit(batches)), expected, rtol=1e-7)


def test_hc3_of_precisions_over_partitions():
    inspector = fitted("least squares", "HC3", False, "precision")
    expected = results(inspector)
    inspector.set_params(estimator=FrozenEstimator(inspector.estimator_))
    inspector.fit(in_batches(X, COUNTS, EXPOSURE, 3))
    assert_allclose(results(inspector), expected, rtol=1e-8)


@pytest.mark.parametrize(
    ("name", "target"), [("poisson", None), ("logistic", None), ("logistic", 0)]
)
def test_the_model_has_the_weights_with_the_offset(name, target):
    """Predictions, effects and the table agree; signs turn with the class."""
    inspector = fitted(name, target=target)
    assert inspector.term_names_ == ["x0", "x2", "intercept"]
    assert inspector.get_feature_names_out().tolist() == ["x0", "x2"]
    sign = 1 if target is None else -1
    effects = inspector.transform(WITH_OFFSET)
    scores = effects.sum(axis=1) + inspector.intercept_ + sign * LOG
    assert inspector.intercept_ == pytest.approx(inspector.coef_[-1])
    if name == "poisson":
        assert_allclose(np.exp(scores), inspector.predict(WITH_OFFSET))
    else:
        assert_allclose(sign * scores, inspector.decision_function(WITH_OFFSET))
    explanation = inspector.explain(WITH_OFFSET)
    assert explanation.feature_names == ("x0", "x2")
    assert_allclose(explanation.values, effects)
    assert_allclose(explanation.base_values, inspector.intercept_ + sign * LOG)
    assert np.abs(explanation.additivity_error()).max() < 1e-12
    assert inspector.to_frame().index.tolist() == ["x0", "x2", "intercept"]
    display = LinearEffectDisplay.from_estimator(inspector, WITH_OFFSET)
    assert sorted(display.to_frame()["term"]) == ["x0", "x2"]


FRAME = pd.DataFrame(WITH_OFFSET, columns=["dose", "log_days", "age"]).assign(
    site=np.tile(["a", "b", "c"], 4)
)


def test_offsets_behind_steps():
    """Encoders and products beside it; a step that changes it is refused."""
    steps = make_column_transformer(
        (OneHotEncoder(drop="first"), ["site"]),
        (PolynomialFeatures(2, include_bias=False), ["dose", "age"]),
        ("passthrough", ["log_days"]),
        verbose_feature_names_out=False,
    )
    model = make_pipeline(steps, POISSON)
    inspector = CoefficientInference(model, offset="log_days", dispersion="quasi")
    inspector.fit(FRAME, COUNTS)
    names = ["site_b", "site_c", "dose", "age", "dose^2", "dose age", "age^2"]
    assert inspector.term_names_ == [*names, "intercept"]
    assert inspector.explain(FRAME).feature_names == tuple(names)
    assert np.abs(inspector.explain(FRAME).additivity_error()).max() < 1e-10
    columns = steps.fit_transform(FRAME)[:, :-1]
    found = CoefficientInference(POISSON, offset=7, dispersion="quasi")
    found.fit(np.column_stack([columns, LOG]), COUNTS)
    assert_allclose(results(inspector), results(found), rtol=1e-7)
    search = GridSearchCV(model, {"poissonregressor__tol": [1e-8]}, cv=2)
    inspector.set_params(estimator=search).fit(FRAME, COUNTS)
    assert_allclose(results(inspector), results(found), rtol=1e-7)
    # Another feature of the same values is a term, as long as names tell them apart.
    same = FRAME.assign(age=FRAME["log_days"])
    inspector = CoefficientInference(model, offset="log_days", dispersion="quasi")
    assert "age" in inspector.fit(same, COUNTS).term_names_
    numbers = FRAME.drop(columns="site")
    for step in (StandardScaler(), PolynomialFeatures(2, include_bias=False)):
        inspector.set_params(estimator=make_pipeline(step, POISSON))
        if isinstance(step, StandardScaler):
            with pytest.raises(ValueError, match=r"offset='log_days' is .*passthrough"):
                inspector.fit(numbers, COUNTS)
        else:
            inspector.set_params(estimator__polynomialfeatures__degree=1)
            assert "log_days" not in inspector.fit(numbers, COUNTS).term_names_


def test_an_offset_alone():
    """The intercept is the logarithm of the rate; the terms explain nothing."""
    inspector = CoefficientInference(POISSON, offset="log_days")
    inspector.fit(FRAME[["log_days"]], COUNTS)
    rate = COUNTS.sum() / EXPOSURE.sum()
    assert_allclose(inspector.coef_, [np.log(rate)])
    assert_allclose(inspector.standard_errors_, COUNTS.sum() ** -0.5)
    assert inspector.r2_ == pytest.approx(0, abs=1e-12)


def test_bad_offsets():
    inspector = CoefficientInference(POISSON, offset="days")
    with pytest.raises(ValueError, match="unknown feature 'days'"):
        inspector.fit(FRAME[["dose", "log_days"]], COUNTS)
    encoder = make_column_transformer(
        (OneHotEncoder(drop="first"), ["site"]), remainder="passthrough"
    )
    inspector.set_params(estimator=make_pipeline(encoder, POISSON), offset="site")
    with pytest.raises(ValueError, match="offset takes a column of finite numbers"):
        inspector.fit(FRAME, COUNTS)
    frozen = FrozenEstimator(clone(POISSON).fit(WITH_OFFSET, COUNTS))
    inspector = CoefficientInference(frozen, offset=1)
    with pytest.raises(ValueError, match=r"weight one, and the frozen Poisson.* has 0"):
        inspector.fit(WITH_OFFSET, COUNTS)


def test_a_feature_that_is_called_intercept():
    """Without an intercept it is a column like others."""
    frame = pd.DataFrame(X, columns=["dose", "intercept"])
    inspector = CoefficientInference(LinearRegression(fit_intercept=False))
    expected = inspector.fit(X, COUNTS).standard_errors_
    assert_allclose(inspector.fit(frame, COUNTS).standard_errors_, expected)


# Overdispersion


def wide_counts(n_rows=200):
    """Rows, and counts whose variance is four means."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(n_rows, 2))
    mean = np.exp(1 + 0.5 * rows[:, 0])
    return rows, rng.negative_binomial(mean / 3, 1 / 4)


def test_wide_counts_are_warned_of():
    rows, y = wide_counts()
    inspector = CoefficientInference(POISSON)
    with pytest.warns(OverdispersionWarning, match=r'dispersion="quasi": targets vary'):
        plain = inspector.fit(rows, y).standard_errors_
    frozen = FrozenEstimator(inspector.estimator_)
    with pytest.warns(OverdispersionWarning, match="Poisson's distribution"):
        CoefficientInference(frozen).fit(in_batches(rows, y, None, 4))
    with pytest.warns(OverdispersionWarning):
        CoefficientInference(POISSON, interval="profile").fit(rows, y)
    # Whatever takes account of it says nothing, and nor do counts of a Poisson.
    quasi = CoefficientInference(POISSON, dispersion="quasi").fit(rows, y)
    assert quasi.dispersion_ == pytest.approx(4, rel=0.3)
    assert_allclose(quasi.standard_errors_, plain * quasi.dispersion_**0.5)
    CoefficientInference(POISSON, covariance="HC0").fit(rows, y)
    rng = np.random.default_rng(0)
    for mean in (0.05, 1, 20):
        y = rng.poisson(mean * np.exp(0.5 * rows[:, 0]))
        CoefficientInference(POISSON).fit(rows, y)


@pytest.mark.parametrize("weights", ["frequency", "precision"])
def test_counts_of_small_exposures_are_not_wide(weights):
    """Squared residuals by tiny means have a long tail; the test does not."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        rows, exposure = rng.normal(size=(50, 2)), rng.gamma(0.5, 2.0, 50) + 0.01
        y = rng.poisson(exposure * np.exp(0.3 * rows[:, 0]))
        if weights == "precision":
            inspector = CoefficientInference(POISSON, weights=weights)
            inspector.fit(rows, y / exposure, sample_weight=exposure)
        else:
            columns = np.column_stack([rows, np.log(exposure)])
            CoefficientInference(POISSON, offset=2).fit(columns, y)


def litters(concentration, n_litters=60, size=12):
    """A row of each class for each litter, with numbers of animals as weights."""
    rng = np.random.default_rng(1)
    dose = rng.normal(size=(n_litters, 1))
    share = 1 / (1 + np.exp(-dose[:, 0] / 2))
    if concentration is not None:
        share = rng.beta(concentration * share, concentration * (1 - share))
    ill = rng.binomial(size, share)
    y = np.repeat([1, 0], n_litters)
    return np.vstack([dose, dose]), y, np.concatenate([ill, size - ill]).astype(float)


def test_litters_are_warned_of():
    """Rows of the same terms are one binomial target, as R's cbind(ill, well)."""
    rows, y, weights = litters(3.0)
    inspector = CoefficientInference(LOGISTIC)
    with pytest.warns(OverdispersionWarning, match="rows of equal terms vary"):
        plain = inspector.fit(rows, y, sample_weight=weights)
    errors, share = plain.standard_errors_, plain.predict_proba(rows[:60])[:, 1]
    quasi = CoefficientInference(LOGISTIC, dispersion="quasi")
    quasi.fit(rows, y, sample_weight=weights)
    ill = weights[:60]
    pearson = (ill - 12 * share) ** 2 / (12 * share * (1 - share))
    assert_allclose(quasi.dispersion_, pearson.sum() / 58, rtol=1e-6)
    assert_allclose(quasi.standard_errors_, errors * quasi.dispersion_**0.5)
    # Student's t with 58 degrees of freedom, of scipy.stats.t.ppf(0.975, 58).
    half = quasi.intervals_high_ - quasi.coef_
    assert_allclose(half, 2.0017174830120923 * quasi.standard_errors_)
    kept = weights > 0
    frozen = FrozenEstimator(quasi.estimator_)
    batches = in_batches(rows[kept], y[kept], weights[kept], 5)
    found = CoefficientInference(frozen, dispersion="quasi").fit(batches)
    assert_allclose(results(found), results(quasi), rtol=1e-7)
    # Copies of the rows are what their weights say.
    copies = weights.astype(int)
    found = CoefficientInference(LOGISTIC, dispersion="quasi")
    found.fit(np.repeat(rows, copies, axis=0), np.repeat(y, copies))
    assert_allclose(results(found), results(quasi), rtol=1e-7)
    rows, y, weights = litters(None)
    CoefficientInference(LOGISTIC).fit(rows, y, sample_weight=weights)


def test_single_classes_are_never_wide():
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 2, size=(300, 2)).astype(float)
    y = rng.random(300) < np.where(rows[:, 0] != rows[:, 1], 0.9, 0.1)
    CoefficientInference(LOGISTIC).fit(rows, y)  # lack of fit, and no more
    inspector = CoefficientInference(LOGISTIC, dispersion="quasi")
    with pytest.raises(ValueError, match=r"no more of these are left than the 2 param"):
        inspector.fit(rows[:, :1], y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert inspector.fit(rows, y).dispersion_ > 20


@pytest.mark.filterwarnings("ignore::sklearn_interpret.exceptions.SeparationWarning")
def test_separated_trials():
    """Those at infinite log-odds do not vary."""
    rows, y, weights = litters(3.0)
    apart = np.vstack([np.column_stack([rows, np.zeros(120)]), [[0.0, 1.0]] * 2])
    y, weights = np.append(y, [1, 1]), np.append(weights, [3.0, 40.0])
    quasi = CoefficientInference(LOGISTIC, dispersion="quasi")
    found = quasi.fit(apart, y, sample_weight=weights)
    errors, dispersion = found.standard_errors_, found.dispersion_
    expected = quasi.fit(rows, y[:120], sample_weight=weights[:120])
    assert_allclose(errors[[0, 2]], expected.standard_errors_, rtol=1e-6)
    assert dispersion == pytest.approx(expected.dispersion_, rel=1e-6)
    separated = quasi.fit(rows, rows[:, 0] > 0, sample_weight=weights[:120] + 1)
    assert np.isnan(separated.standard_errors_).all()
