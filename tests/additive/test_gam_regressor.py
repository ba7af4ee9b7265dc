"""GAMRegressor against dense references, mgcv, and what it promises."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit
from scipy.stats import gamma, kstest, nbinom, t
from sklearn.linear_model import PoissonRegressor
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_interpret.additive import GAMClassifier, GAMRegressor
from sklearn_interpret.exceptions import ExtrapolationWarning, OverdispersionWarning
from tests.references.additive import fitted_values, restricted_likelihood


def table(n_rows=120, n_values=40, seed=0):
    """Two features of few values, the second of no use, and targets."""
    rng = np.random.default_rng(seed)
    X = rng.integers(n_values, size=(n_rows, 2)) / n_values
    X[:2] = [[0, 0], [1, 1]]
    return X, np.sin(2 * np.pi * X[:, 0]) + rng.normal(size=n_rows) / 2


X, Y = table()


@pytest.mark.parametrize("shrinkage", [True, False])
@pytest.mark.parametrize("smoothing", ["reml", "gcv", 3.0])
def test_equals_dense_least_squares(shrinkage, smoothing):
    weights = np.random.default_rng(1).uniform(0.5, 2, size=len(Y))
    model = GAMRegressor(n_splines=8, smoothing=smoothing, shrinkage=shrinkage)
    model.fit(X, Y, sample_weight=weights)
    expected = fitted_values(X, Y, weights, 8, model.smoothing_, shrinkage)
    assert_allclose(model.predict(X), expected, atol=1e-8)


def test_restricted_likelihood_is_that_of_gaussian_processes():
    model = GAMRegressor(n_splines=8, smoothing=3.0).fit(X, Y)
    expected = restricted_likelihood(X, Y, 8, model.smoothing_)
    assert model.reml_ == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize("seed", range(3))
def test_restricted_likelihood_is_greatest(seed):
    X, y = table(seed=seed)
    model = GAMRegressor(n_splines=8).fit(X, y)
    rho = np.log(model.smoothing_)
    best = restricted_likelihood(X, y, 8, np.exp(rho))
    for k in range(len(rho)):
        for step in (-0.3, 0.3):
            moved = rho + step * (np.arange(len(rho)) == k)
            assert restricted_likelihood(X, y, 8, np.exp(moved)) < best + 1e-4


def test_cross_validation_score_is_least():
    model = GAMRegressor(n_splines=8, smoothing="gcv", shrinkage=False).fit(X, Y)

    def score(smoothing):
        hat = [
            fitted_values(X, row, np.ones(len(Y)), 8, smoothing, False)
            for row in np.eye(len(Y))
        ]
        residuals = Y - np.transpose(hat) @ Y
        return residuals @ residuals / (len(Y) - np.trace(hat)) ** 2

    best = score(model.smoothing_)
    for factors in ((2, 1), (0.5, 1), (1, 2), (1, 0.5)):
        assert score(model.smoothing_ * factors) > best * (1 - 1e-6)


def test_rounding_of_many_values_costs_little():
    rng = np.random.default_rng(0)
    X = rng.random((3000, 2))
    y = np.sin(2 * np.pi * X[:, 0]) + rng.normal(size=3000) / 10
    model = GAMRegressor(n_splines=12).fit(X, y)
    expected = fitted_values(X, y, np.ones(3000), 12, model.smoothing_, True)
    standard_error = model.predict(X, return_std=True)[1]
    assert np.sqrt(np.mean((model.predict(X) - expected) ** 2)) < (
        0.05 * standard_error.mean()
    )


def test_equals_mgcv():
    # R 4.2, mgcv 1.8-41:
    # i <- 1:200; x <- (i * 0.618034) %% 1; u <- (i * 0.324718) %% 1
    # y <- sin(2 * pi * x) + cos(37 * i)
    # m <- gam(y ~ s(x, bs="ps", k=10) + s(u, bs="ps", k=10), method="REML")
    # summary(m)$s.table; m$sig2; predict(m, se=TRUE)
    i = np.arange(1, 201)
    X = np.stack([i * 0.618034 % 1, i * 0.324718 % 1], axis=1)
    y = np.sin(2 * np.pi * X[:, 0]) + np.cos(37 * i)
    model = GAMRegressor(n_splines=10, shrinkage=False).fit(X, y)
    # Its knots reach a thousandth of the range further.
    mean, error = model.predict(X[:3], return_std=True)
    assert_allclose(mean, [-0.64533725, 0.97523797, -0.79472676], rtol=1e-4)
    # Its errors take the smoothing parameters for known.
    assert (error > [0.1115, 0.1130, 0.1426]).all()
    # With 60 digits, by an inverse for each smoothing parameter of the grid:
    assert_allclose(error, [0.13368421, 0.13453260, 0.18764291], rtol=1e-7)
    assert_allclose(model.effective_dof_, [4.8058201, 1.0001604], rtol=1e-3)
    assert model.scale_ == pytest.approx(0.51482805, rel=1e-4)
    assert model.deviance_explained_ == pytest.approx(0.50082564, rel=1e-4)


def test_a_straight_line_and_its_test_are_those_of_least_squares():
    model = GAMRegressor(terms={0: "linear", 1: "linear"}, shrinkage=False).fit(X, Y)
    design = np.column_stack([np.ones(len(Y)), X])
    coefficients, rest, *_ = np.linalg.lstsq(design, Y)
    assert_allclose(model.predict(X), design @ coefficients, rtol=1e-9)
    errors = np.sqrt(np.diag(np.linalg.inv(design.T @ design)) * rest / (len(Y) - 3))
    ratios = (coefficients / errors)[1:]
    assert_allclose(model.statistics_, ratios**2, rtol=1e-8)
    assert_allclose(model.pvalues_, 2 * t.sf(abs(ratios), len(Y) - 3))
    x, y = X[:, :1], np.random.default_rng(0).poisson(np.exp(X[:, 0]))
    model = GAMRegressor(terms={0: "linear"}, shrinkage=False, family="poisson")
    expected = PoissonRegressor(alpha=0, tol=1e-10, solver="newton-cholesky").fit(x, y)
    assert_allclose(model.fit(x, y).predict(x), expected.predict(x), 1e-6)


def test_noise_vanishes_and_effects_sum_to_the_prediction():
    rng = np.random.default_rng(3)
    X = rng.random((500, 4))
    y = np.sin(2 * np.pi * X[:, 0]) + rng.normal(size=500)
    model = GAMRegressor().fit(X, y)
    effects = model.transform(X)
    assert_allclose(effects.sum(axis=1) + model.intercept_, model.predict(X))
    assert model.effective_dof_[0] > 3
    assert model.effective_dof_[1:].sum() < 2
    assert model.pvalues_[0] < 1e-10


def mixed(n_rows=300):
    """A frame of numbers, categories, hours, and targets."""
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(
        {
            "age": rng.integers(20, 80, n_rows).astype(float),
            "sex": rng.choice(["f", "m"], n_rows),
            "hour": rng.integers(0, 24, n_rows),
            "z": rng.normal(size=n_rows).round(1),
        }
    )
    y = np.cos(2 * np.pi * frame["hour"] / 24) + (frame["sex"] == "f") * (
        frame["age"] / 20
    )
    return frame, y.to_numpy() + rng.normal(size=n_rows) / 3


TERMS = {
    "age": "spline",
    "sex": "category",
    "hour": "cyclic",
    "z": "linear",
    ("age", "z"): "tensor",
}


def test_all_kinds_of_terms():
    frame, y = mixed()
    model = GAMRegressor(
        terms=TERMS, n_splines={"age": 8}, by={"age": "sex"}, periods={"hour": 24}
    ).fit(frame, y)
    assert model.term_names_.tolist() == ["age:sex", "sex", "hour", "z", "age:z"]
    assert model.score(frame, y) > 0.9
    effects = model.transform(frame)
    assert_allclose(effects.mean(axis=0), 0, atol=1e-10)
    # Nothing is collinear.
    assert np.diag(model.covariance_).max() < 1e3
    # A curve that closes.
    _, ends, _ = model.partial_effect("hour", [0, 24])
    assert ends[0] == pytest.approx(ends[1], abs=1e-12)
    # Flat for one sex, and not for the other.
    values, curve, errors = model.partial_effect("age:sex")
    of_men = values[:, 1] == "m"
    assert np.ptp(curve[of_men]) < 0.5 < 2 < np.ptp(curve[~of_men])
    assert (errors > 0).all()
    # At the rows, a term is what `transform` says.
    for k, name in enumerate(model.term_names_):
        at = frame[name.split(":")].to_numpy()
        _, found, _ = model.partial_effect(name, at if at.shape[1] > 1 else at[:, 0])
        assert_allclose(found, effects[:, k], atol=1e-10)
    residuals = model.partial_residuals(frame, y) - effects
    assert_allclose(residuals.T, np.tile(y - model.predict(frame), (5, 1)))
    assert model.to_frame().index.tolist() == model.term_names_.tolist()


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_an_offset_and_terms_are_named_in_frames_of_both_kinds(library):
    chosen = pytest.importorskip(library)
    frame, y = mixed()
    offset = frame["z"].to_numpy()
    columns = {name: frame[name].to_list() for name in frame}
    X = chosen.DataFrame({**columns, "log_time": offset.tolist()})
    terms = {**TERMS, ("age", "sex"): "tensor"}
    model = GAMRegressor(
        terms=terms, periods={"hour": 24}, n_splines=6, offset="log_time"
    ).fit(X, y + offset)
    plain = GAMRegressor(terms=terms, periods={"hour": 24}, n_splines=6).fit(frame, y)
    assert_allclose(model.predict(X), plain.predict(frame) + offset)
    residuals = model.partial_residuals(X, y + offset)
    assert_allclose(residuals, plain.partial_residuals(frame, y))


@pytest.mark.parametrize(
    "labels",
    [
        [-7, 0, 10**9],
        [0.5, -1.0, 1e-12],
        ["", "b c", "$x_1$"],
        [1, "1", "one"],
        [False, True, True],
        [("a", 1), ("a", 2), "a"],
    ],
)
def test_levels_are_labels_of_any_kind(labels):
    codes = np.random.default_rng(0).integers(3, size=90)
    y = np.array([1.0, 4.0, 9.0])[codes]
    levels = np.empty(3, dtype=object)
    levels[:] = labels
    values = [labels[code] for code in codes]
    means = [np.mean(y[[other == value for other in values]]) for value in values]
    for dtype in (object, "category"):
        X = pd.DataFrame({"kind": pd.Series(levels[codes]).astype(dtype)})
        model = GAMRegressor(terms={"kind": "category"}, shrinkage=False).fit(X, y)
        assert_allclose(model.predict(X), means, rtol=1e-6)
        shown = model.partial_effect("kind")[0].tolist()
        assert sorted(map(repr, shown)) == sorted(map(repr, dict.fromkeys(labels)))


def test_categories_without_rows_are_unseen_levels():
    town = pd.Categorical(["a", "b"] * 10, categories=["a", "b", "c"])
    X = pd.DataFrame({"town": town})
    model = GAMRegressor().fit(X, np.arange(20.0) % 2)
    assert model.partial_effect("town")[0].tolist() == ["a", "b"]
    other = pd.DataFrame({"town": pd.Categorical(["c"], town.categories)})
    with pytest.raises(ValueError, match="'town' has the value 'c'"):
        model.predict(other)
    assert model.set_params(handle_unknown="zero").transform(other)[0, 0] == 0


@pytest.mark.parametrize("values", [[2.0], [0.0, 1.0], [0.0, 1.0, 5.0]])
@pytest.mark.parametrize("knots", ["uniform", "quantile"])
@pytest.mark.parametrize("shrinkage", [True, False])
def test_few_values_have_fewer_degrees_of_freedom(values, knots, shrinkage):
    rng = np.random.default_rng(0)
    codes = rng.integers(len(values), size=200)
    x, y = np.array(values)[codes], np.array([0.0, 3.0, 1.0])[codes]
    y += rng.normal(size=200) / 10
    model = GAMRegressor(knots=knots, shrinkage=shrinkage).fit(x[:, None], y)
    assert model.effective_dof_[0] <= len(values) - 1 + 1e-6
    at = model.predict(np.array(values)[:, None])
    means = [y[codes == code].mean() for code in range(len(values))]
    assert_allclose(at, means, atol=0.02)


def of_values(values, **parameters):
    """A model of one column, which has these values, and the column."""
    rng = np.random.default_rng(0)
    x = np.resize(np.array(values, dtype=float), 300)
    y = np.sin(x) + rng.normal(size=300) / 10
    return GAMRegressor(**parameters).fit(x[:, None], y), x


@pytest.mark.parametrize("knots", ["uniform", "quantile"])
@pytest.mark.parametrize("n_values", [2, 5, 12, 15, 40])
def test_there_are_at_most_as_many_splines_as_values(n_values, knots):
    values = np.arange(n_values) ** 1.5
    model, _ = of_values(values, knots=knots)
    n_splines = len(model._terms[0].term.coordinates)
    assert n_splines == min(n_values, 20)
    at, effects, errors = model.partial_effect(0)
    if n_values > 12:
        assert_allclose(at[[0, -1]], values[[0, -1]])
        return
    assert_allclose(at, values)
    # Straight from value to value, with errors that are no larger in between.
    middles = (values[1:] + values[:-1]) / 2
    _, between, errors_between = model.partial_effect(0, middles)
    assert_allclose(between, (effects[1:] + effects[:-1]) / 2, atol=1e-9)
    assert (errors_between <= np.maximum(errors[1:], errors[:-1]) + 1e-9).all()


@pytest.mark.parametrize("values", [[7], [0, 12], [0, 6, 12, 18]])
def test_few_values_go_round(values):
    model, x = of_values(values, terms={0: "cyclic"}, periods={0: 24})
    assert len(model._terms[0].term.coordinates) == max(len(values), 3)
    assert_allclose(model.predict(x[:, None] + 24), model.predict(x[:, None]))


def test_few_values_rise():
    model, _ = of_values([0, 1, 2, 3, 4], monotonic_cst={0: 1})
    assert (np.diff(model.partial_effect(0)[1]) > -1e-9).all()


def test_default_values_are_not_in_wide_gaps():
    rng = np.random.default_rng(0)
    model, x = of_values([*rng.uniform(0, 1, 100), *rng.uniform(8, 10, 100), 20.0])
    at, _, _ = model.partial_effect(0)
    low, middle, high = x[x <= 1], x[(x > 1) & (x < 20)], [20.0]
    for values in (low, middle, high):
        assert {np.min(values), np.max(values)} <= set(at)
    inside = [(at >= np.min(v)) & (at <= np.max(v)) for v in (low, middle, high)]
    assert np.any(inside, axis=0).all()


REPEATED = [
    {"terms": {("age", "z"): "tensor"}},
    {"terms": {("age", "sex"): "tensor", "sex": "category"}},
    {"terms": ["age", "sex"], "by": {"age": "sex"}},
    {"terms": {"hour": "cyclic"}, "by": {"hour": "z"}, "periods": {"hour": 24}},
    {"terms": ["age"], "monotonic_cst": {"age": -1}},
]


@pytest.mark.parametrize("parameters", REPEATED)
def test_weights_are_copies_of_rows_whatever_the_terms(parameters):
    frame, y = mixed(120)
    weights = np.random.default_rng(0).integers(0, 4, size=len(y))
    kept = np.repeat(np.arange(len(y)), weights)
    one = GAMRegressor(**parameters, n_splines=6, smoothing=2.0)
    one.fit(frame, y, sample_weight=weights)
    two = GAMRegressor(**parameters, n_splines=6, smoothing=2.0)
    two.fit(frame.iloc[kept], y[kept])
    rows = frame.iloc[kept]
    assert_allclose(one.predict(rows), two.predict(rows), rtol=1e-8)
    assert_allclose(one.effective_dof_, two.effective_dof_, rtol=1e-8)
    assert_allclose(one.pvalues_, two.pvalues_, rtol=1e-6, atol=1e-9)
    if "monotonic_cst" in parameters:
        assert (np.diff(one.partial_effect("age")[1]) < 1e-9).all()


@pytest.mark.parametrize("extrapolation", ["linear", "constant", "error"])
def test_cyclic_terms_go_round(extrapolation):
    rng = np.random.default_rng(0)
    x = rng.uniform(3, 15, size=(300, 1))  # a part of the circle
    x[:12, 0] = np.linspace(1, 24, 12)
    y = np.cos(x[:, 0] / 24 * 2 * np.pi) + rng.normal(size=300) / 10
    model = GAMRegressor(
        terms={0: "cyclic"}, periods={0: 24}, extrapolation=extrapolation
    ).fit(x, y)
    at = np.linspace(-30, 60, 50)[:, None]
    assert_allclose(model.predict(at), model.predict(at + 48), atol=1e-10)
    _, curve, _ = model.partial_effect(0, x[:, 0].min() + [-1e-5, 0, 1e-5])
    before, after = np.diff(curve)
    assert before == pytest.approx(after, abs=1e-7)  # no kink where it closes


def test_a_pair_leaves_out_what_has_a_term_of_its_own():
    rng = np.random.default_rng(0)
    X = rng.random((400, 2))
    y = np.sin(3 * X[:, 0]) * X[:, 1] + rng.normal(size=400) / 10
    alone = GAMRegressor(terms=[(0, 1)]).fit(X, y)
    both = GAMRegressor(terms=[0, 1, (0, 1)]).fit(X, y)
    assert alone.coef_.shape == (63,)
    assert both.coef_.shape == (19 + 19 + 49,)
    assert alone.score(X, y) == pytest.approx(both.score(X, y), abs=0.02)


def test_a_number_that_multiplies_a_curve_has_its_straight_line_once():
    """Else the model is collinear, and the intercept anything."""
    terms = {0: "spline", 1: "linear"}
    model = GAMRegressor(terms=terms, by={0: 1}, n_splines=6, shrinkage=False)
    assert model.fit(X, Y).coef_.shape == (5 + 1,)
    assert np.diag(model.covariance_).max() < 100
    del terms[1]
    assert model.fit(X, Y).coef_.shape == (6,)


@pytest.mark.parametrize("sign", [1, -1])
def test_monotone_terms(sign):
    rng = np.random.default_rng(2)
    x = rng.random((150, 1))
    y = sign * np.sin(5 * x[:, 0]) + rng.normal(size=150) / 3
    model = GAMRegressor(monotonic_cst={0: sign}).fit(x, y)
    _, curve, _ = model.partial_effect(0, np.linspace(-1, 2, 500))
    assert (sign * np.diff(curve) > -1e-12).all()
    free = GAMRegressor().fit(x, y).partial_effect(0)[1]
    assert (sign * np.diff(free) < 0).any()
    counts = rng.poisson(np.exp(y))
    x = np.hstack([x, np.ones_like(x)])
    model.set_params(family="poisson", shrinkage=False).fit(x, counts)
    assert (sign * np.diff(model.partial_effect(0)[1]) > -1e-12).all()


@pytest.mark.parametrize("missing", ["error", "level"])
@pytest.mark.parametrize("sign", [1, -1])
def test_monotone_lines_and_curves_of_levels(sign, missing):
    """Those that go the other way are flat; others are as without the constraint."""
    rng = np.random.default_rng(2)
    x, z, levels = (
        rng.random(300),
        rng.normal(size=300),
        rng.permutation([*"abc"] * 100),
    )
    slopes = np.select([levels == "a", levels == "b"], [4.0, -4.0], 1.0)
    y = slopes * x + 0.5 * z + rng.normal(size=300) / 3
    X = pd.DataFrame({"x": x, "z": z, "level": levels})
    if missing == "level":
        X.loc[::17, "x"] = np.nan
    parameters = {
        "terms": {"x": "spline", "z": "linear", "level": "category"},
        "by": {"x": "level"},
        "missing": missing,
    }
    free = GAMRegressor(**parameters).fit(X, y)
    held = GAMRegressor(**parameters, monotonic_cst={"x": sign, "z": sign}).fit(X, y)

    def rises(model, term, values):
        return sign * np.diff(model.partial_effect(term, values)[1])

    x = np.linspace(-1, 2, 50)
    curves = [np.array([[v, one] for v in x], dtype=object) for one in "abc"]
    for level, values in zip("abc", curves, strict=True):
        assert (rises(held, "x:level", values) > -1e-12).all(), level
    assert min(rises(free, "x:level", values).min() for values in curves) < -0.01
    line = rises(held, "z", x).sum()
    expected = rises(free, "z", x).sum()
    assert line == pytest.approx(max(expected, 0), rel=0.3, abs=1e-12)


def test_a_log_link_of_normal_targets_and_shares_of_trials():
    rng = np.random.default_rng(4)
    x = rng.random((400, 1))
    mean = np.exp(np.sin(4 * x[:, 0]))
    model = GAMRegressor(link="log").fit(x, mean + rng.normal(size=400) / 5)
    assert_allclose(model.predict(x), mean, atol=0.15)
    trials = rng.integers(1, 9, size=400)
    hits = rng.binomial(trials, mean / 4)
    model = GAMRegressor(family="binomial", n_splines=8)
    shares = model.fit(x, hits / trials, sample_weight=trials).predict(x)
    single = np.concatenate(
        [np.arange(k) < h for k, h in zip(trials, hits, strict=True)]
    )
    model.fit(np.repeat(x, trials, axis=0), single)
    assert_allclose(model.predict(x), shares, rtol=1e-6)


@pytest.mark.parametrize("extrapolation", ["linear", "constant"])
def test_extrapolation(extrapolation):
    model = GAMRegressor(terms=[0], extrapolation=extrapolation).fit(X, Y)
    _, (low, a, b, end, c, d), _ = model.partial_effect(
        0, [-0.1, -1e-6, 0, 1, 1 + 1e-6, 1.1]
    )
    _, far, _ = model.partial_effect(0, [-9, 9])
    assert_allclose(far, [low, d])  # constant beyond a tenth of the range
    if extrapolation == "constant":
        assert_allclose([low, a, c, d], [b, b, end, end])
    else:
        slopes = (b - a) * 1e5, (c - end) * 1e5
        assert_allclose([b - low, d - end], slopes, rtol=1e-6)
    with pytest.raises(ValueError, match="extrapolation='error'"):
        model.set_params(extrapolation="error").fit(X, Y).predict([[2.0, 0.0]])


def test_missing_values_are_a_level():
    X, y = table()
    X[::6, 0], y[::6] = np.nan, 5.0
    with pytest.raises(ValueError, match=r"NaN: the feature 'x0' .* missing='level'"):
        GAMRegressor().fit(X, y)
    model = GAMRegressor(missing="level", n_splines=8).fit(X, y)
    assert model.predict([[np.nan, 0.5]])[0] == pytest.approx(5, abs=0.1)
    # Where none were missing.
    with pytest.raises(ValueError, match="handle_unknown='zero'"):
        model.predict([[0.5, np.nan]])
    model.set_params(handle_unknown="zero")
    assert model.transform([[0.5, np.nan]])[0, 1] == 0


def test_unseen_levels():
    frame, y = mixed()
    model = GAMRegressor(terms=["sex", "z"]).fit(frame, y)
    other = frame[:3].assign(sex=["f", "x", "m"])
    with pytest.raises(ValueError, match="'sex' has the value 'x'"):
        model.predict(other)
    effects = model.set_params(handle_unknown="zero").transform(other)
    assert effects[1, 0] == 0
    assert (effects[[0, 2], 0] != 0).all()


def test_an_offset_is_added():
    rng = np.random.default_rng(0)
    X = np.stack([rng.random(400), rng.uniform(-1, 2, 400)], axis=1)
    y = rng.poisson(np.exp(np.sin(3 * X[:, 0]) + X[:, 1]))
    model = GAMRegressor(family="poisson", offset=1).fit(X, y)
    assert model.term_names_.tolist() == ["x0"]
    predictor = model.transform(X)[:, 0] + model.intercept_ + X[:, 1]
    assert_allclose(model.predict(X), np.exp(predictor))
    assert model.predict([[0.5, 1.0]]) == pytest.approx(
        np.e * model.predict([[0.5, 0]])
    )


@pytest.mark.parametrize(
    "family, link", [("poisson", None), ("gamma", "log"), ("gamma", "inverse")]
)
def test_families_find_the_mean_and_intervals_the_targets(family, link):
    rng = np.random.default_rng(1)
    X = rng.random((1500, 1))
    mean = np.exp(1 + np.sin(2 * np.pi * X[:, 0]))
    if family == "poisson":
        y = rng.poisson(mean)
    else:
        y = rng.gamma(3, mean / 3)
    model = GAMRegressor(family=family, link=link).fit(X, y)
    found, error = model.predict(X, return_std=True)
    assert np.abs(found / mean - 1).mean() < 0.1
    assert 0.85 < np.mean(np.abs(found - mean) < 1.96 * error) <= 1
    if family == "gamma":
        assert model.scale_ == pytest.approx(1 / 3, rel=0.15)
    low, high = model.predict_interval(X, alpha=0.2)
    assert 0.76 < np.mean((low <= y) & (y <= high)) < 0.9


def counts(dispersed, n_rows=300):
    """Counts of a Poisson, or a wider, distribution, and their features."""
    rng = np.random.default_rng(0)
    X = rng.random((n_rows, 2))
    mean = np.exp(2 + np.sin(6 * X[:, 0]))
    return X, rng.poisson(mean * (rng.gamma(2, 0.5, n_rows) if dispersed else 1)), mean


def test_overdispersion_is_warned_of_and_estimated():
    X, y, mean = counts(dispersed=True)
    with pytest.warns(OverdispersionWarning, match="family='quasipoisson' or 'nega"):
        plain = GAMRegressor(family="poisson").fit(X, y)
    assert plain.scale_ == 1
    residuals = (y - plain.predict(X)) / np.sqrt(plain.predict(X))
    assert plain.dispersion_ == pytest.approx(
        residuals @ residuals / plain.residual_dof_, 0.01
    )
    for family in ("quasipoisson", "negative_binomial"):
        model = GAMRegressor(family=family).fit(X, y)
        assert model.pvalues_[0] < 1e-10
        assert plain.pvalues_[1] < 1e-3 < 0.05 < model.pvalues_[1]
        found, error = model.predict(X, return_std=True)
        assert np.mean(np.abs(found - mean) < 1.96 * error) > 0.9
        low, high = model.predict_interval(X)
        assert 0.92 < np.mean((low <= y) & (y <= high)) < 0.99
    assert model.theta_ == pytest.approx(2, rel=0.2)
    assert model.dispersion_ == pytest.approx(1, abs=0.15)


def test_counts_that_are_not_dispersed_are_not_warned_of():
    X, y, _ = counts(dispersed=False)
    plain = GAMRegressor(family="poisson").fit(X, y)
    model = GAMRegressor(family="negative_binomial").fit(X, y)
    assert_allclose(model.predict(X), plain.predict(X), rtol=0.1)
    rng = np.random.default_rng(0)
    for seed in range(10):  # rare events: Pearson's statistic has a long tail
        X = np.random.default_rng(seed).random((50, 1))
        y = rng.poisson(0.03, 50)
        if y.any():
            GAMRegressor(family="poisson", n_splines=6).fit(X, y)


def test_dispersion_of_shares_is_by_rows_not_trials():
    rng = np.random.default_rng(0)
    X, trials = rng.random((300, 1)), rng.integers(2, 9, 300)
    p = expit(np.sin(6 * X[:, 0]))
    y = rng.binomial(trials, p) / trials
    model = GAMRegressor(family="binomial").fit(X, y, sample_weight=trials)
    assert model.dispersion_ == pytest.approx(1, abs=0.2)
    assert 290 < model.residual_dof_ < 300
    y = rng.binomial(trials, rng.beta(p, 1 - p)) / trials
    with pytest.warns(OverdispersionWarning, match="Use family='quasibinomial'"):
        model.fit(X, y, sample_weight=trials)
    quasi = GAMRegressor(family="quasibinomial").fit(X, y, sample_weight=trials)
    assert quasi.scale_ == quasi.dispersion_
    assert quasi.scale_ > 1.5
    # By Student's distribution.
    line = GAMRegressor(
        terms={0: "linear"}, shrinkage=False, family="quasibinomial"
    ).fit(X, y, sample_weight=trials)
    assert line.pvalues_[0] == pytest.approx(
        2 * t.sf(np.sqrt(line.statistics_[0]), line.residual_dof_), rel=1e-6
    )


def test_extrapolation_is_warned_of_once():
    rng = np.random.default_rng(0)
    X = rng.random((200, 2))
    X[X[:, 1] < 0.3, 1] = 0  # a gap
    y = rng.poisson(np.exp(X[:, 0]))
    model = GAMRegressor(family="poisson").fit(X, y)
    cross_val_score(model, X[:, :1], y, cv=4)  # held-out rows are not warned of
    new = np.array([[0.5, 0.5], [1.2, 0.5], [-0.3, 0.2], [0.5, 0.0], [0.5, 0.1]])
    with pytest.warns(ExtrapolationWarning) as found:
        model.predict(new)
    assert len(found) == 1
    assert "'x0' in 2 of 5 row(s), 'x1' in 2 of 5 row(s)" in str(found[0].message)
    with pytest.warns(ExtrapolationWarning, match="'x0' in 2 of 5"):
        GAMClassifier().fit(X, y > 1).predict_proba(new)
    model.transform(new)
    model.partial_effect(1)


@pytest.mark.parametrize("scale", [1e-200, 1e155])
def test_columns_of_any_scale(scale):
    terms = {0: "spline", 1: "linear"}
    expected = GAMRegressor(terms=terms, n_splines=6).fit(X, Y)
    model = GAMRegressor(terms=terms, n_splines=6).fit(scale * X, Y)
    assert_allclose(model.predict(scale * X), expected.predict(X))
    with pytest.raises(ValueError, match="'x0' has values from 0 to 1e-300; accepted"):
        model.fit(1e-300 * X, Y)


@pytest.mark.thorough
@pytest.mark.parametrize("family", ["normal", "poisson", "binomial"])
def test_bands_allow_for_the_choice_of_smoothness(family):
    """Of few rows, whose curves are often taken for straight lines, or nothing."""
    covered = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        x = rng.random((40, 1))
        truth = 1.5 * np.exp(-(((x[:, 0] - 0.5) / 0.12) ** 2))
        truth = truth * 1.5 if family == "binomial" else truth
        y = {
            "normal": truth + rng.normal(size=40) / 2,
            "poisson": rng.poisson(np.exp(truth + 0.5)),
            "binomial": rng.random(40) < expit(truth - truth.mean()),
        }[family]
        model = GAMRegressor(family=family, n_splines=12).fit(x, y)
        _, effects, errors = model.partial_effect(0, x[:, 0])
        reach = t.ppf(0.975, model.residual_dof_) * errors
        covered.append(np.mean(np.abs(effects - truth + truth.mean()) < reach))
    assert np.mean(covered) > 0.9


def test_added_covariance_is_that_of_a_mixture():
    model = GAMRegressor(terms={0: "linear"}).fit(X, Y)
    x = (X[:, 0] - X[:, 0].mean()) / X[:, 0].std()
    n, square, score = len(Y), ((Y - Y.mean()) ** 2).sum(), x @ Y
    center = np.log(n)
    rho = np.arange(center - 7 - np.log1p(n), center + 30, 0.01)
    slopes = score / (n + np.exp(rho))
    least = square - score * slopes
    loss = (n - 1) * np.log(least) + np.log(n + np.exp(rho)) - rho
    shares = np.exp(-(loss - loss.min()) / 2 - rho)
    moment = model.scale_ / (n + np.exp(rho)) + (slopes - model.coef_[0]) ** 2
    expected = shares @ moment / shares.sum()
    assert model.covariance_[1, 1] == pytest.approx(expected, rel=0.02)
    fixed = GAMRegressor(terms={0: "linear"}, smoothing=1.0).fit(X, Y)
    assert fixed.covariance_[1, 1] == pytest.approx(fixed.scale_ / (n + 1))


def test_intervals_of_known_means_are_those_of_the_distribution():
    X = np.repeat([[0.0], [1.0]], 100000, axis=0)
    y = np.tile([1.0, 3.0], 100000)
    model = GAMRegressor(terms={0: "linear"}, family="poisson").fit(X, y)
    low, high = model.predict_interval(X[:1])
    expected = nbinom.ppf([0.025, 0.975], 1e9, 1 / (1 + 2e-9))
    assert_array_equal([low[0], high[0]], expected)
    model.set_params(family="gamma").fit(X, y)
    low, high = model.predict_interval(X[:1])
    expected = gamma.ppf([0.025, 0.975], 1 / model.scale_, scale=2 * model.scale_)
    assert_allclose([low[0], high[0]], expected, rtol=1e-3)


def test_normal_intervals_cover_targets():
    shares = []
    for seed in range(10):
        X, y = table(600, seed=seed)
        new, targets = table(600, seed=100 + seed)
        low, high = GAMRegressor().fit(X, y).predict_interval(new)
        shares.append(np.mean((low < targets) & (targets < high)))
    assert np.mean(shares) == pytest.approx(0.95, abs=0.01)


@pytest.mark.thorough
@pytest.mark.parametrize("shrinkage", [True, False])
def test_bands_cover_the_mean_and_pvalues_of_noise_are_uniform(shrinkage):
    """Bands on average over the rows (Nychka 1988), whatever the smoothness."""
    covered, pvalues = [], []
    for seed in range(120):
        rng = np.random.default_rng(seed)
        X = rng.random((150, 2))
        mean = 1.5 * np.sin(2 * np.pi * X[:, 0])
        model = GAMRegressor(n_splines=10, shrinkage=shrinkage)
        model.fit(X, mean + rng.normal(size=150))
        found, error = model.predict(X, return_std=True)
        covered.append(np.mean(np.abs(found - mean) < 1.96 * error))
        pvalues.append(model.pvalues_[1])
    assert 0.95 < np.mean(covered) < 0.99
    assert kstest(pvalues, "uniform").pvalue > 0.05


def test_the_score_of_a_term_is_that_of_the_model_without_it():
    X, y = table(n_rows=400)
    y += 0.2 * X[:, 1]
    model = GAMRegressor(n_splines=8, smoothing=3.0, shrinkage=False).fit(X, y)
    hat = [
        fitted_values(X[:, :1], row, np.ones(len(y)), 8, [3.0], False)
        for row in np.eye(len(y))
    ]
    left = np.eye(len(y)) - np.transpose(hat)
    term = model._terms[1].term
    functions = term.evaluate([X[:, 1]])
    score = functions.T @ left @ y
    covariance = model.scale_ * functions.T @ left @ functions
    sizes = np.square(functions).sum(axis=0)
    draws = np.random.default_rng(0).multivariate_normal(0 * score, covariance, 40_000)
    (rough,) = term.penalties
    grid = np.exp(np.linspace(-10, 20, 100_000))
    dof = (1 / (1 + grid[:, None] * rough / sizes)).sum(axis=1)
    weights = 1 / (sizes + rough * np.interp(-4, -dof, grid))
    law = draws**2 @ weights
    assert model.statistics_[1] == pytest.approx(score**2 @ weights / law.mean(), 0.02)
    assert model.pvalues_[1] == pytest.approx(
        (law > score**2 @ weights).mean(), abs=0.01
    )


@pytest.mark.parametrize("shrinkage", [True, False])
def test_columns_that_say_nothing(shrinkage):
    """A constant, a copy, one of two values, and one of a single level."""
    X, y = table()
    constant = np.full(len(y), 7.0)
    X = np.column_stack([X, constant, X[:, 0], X[:, 0] > 0.5, constant])
    terms = {j: "category" if j == 5 else "spline" for j in range(6)}
    model = GAMRegressor(terms=terms, shrinkage=shrinkage).fit(X, y)
    assert np.isfinite(model.predict(X)).all()
    assert_allclose(model.transform(X)[:, 2], 0, atol=1e-9)
    assert model.pvalues_[2] > 0.999
    assert_allclose(model.effective_dof_[[2, 5]], 0, atol=1e-5)


def test_targets_that_are_met_exactly():
    model = GAMRegressor(terms=[0]).fit(X, 3 + 2 * X[:, 0])
    assert_allclose(model.predict(X), 3 + 2 * X[:, 0], rtol=1e-4)
    model.fit(X, np.full(len(X), 2.0))
    assert_allclose(model.predict(X), 2)
    assert model.deviance_explained_ == 0


def test_two_rows_are_the_fewest():
    model = GAMRegressor().fit([[0.0], [1.0]], [0.0, 1.0])
    with pytest.warns(ExtrapolationWarning, match="'x0' in 1 of 1 row"):
        assert model.predict([[0.5]]) == pytest.approx(0.5)
    with pytest.raises(ValueError, match="1 sample"):
        GAMRegressor().fit([[0.0]], [1.0])
    with pytest.raises(ValueError, match="of positive weight"):
        GAMRegressor().fit([[0.0], [1.0]], [0.0, 1.0], sample_weight=[2, 0])


def test_quantile_knots_follow_skewed_features():
    rng = np.random.default_rng(0)
    x = np.exp(rng.normal(size=(800, 1)) * 2)
    y = np.sin(2 * np.log(x[:, 0])) + rng.normal(size=800) / 5
    errors = [
        np.mean((GAMRegressor(knots=knots).fit(x, y).predict(x) - y) ** 2)
        for knots in ("uniform", "quantile")
    ]
    assert errors[1] < 0.1 < errors[0]


def test_grid_search_over_terms():
    grid = {
        "gamregressor__terms": [{0: "linear"}, {0: "spline"}],
        "gamregressor__n_splines": [5, 10],
    }
    search = GridSearchCV(make_pipeline(StandardScaler(), GAMRegressor()), grid, cv=3)
    assert search.fit(X, Y).best_params_["gamregressor__terms"] == {0: "spline"}
    grid = {"smoothing": ["reml", "gcv", 1e9], "n_splines": [{0: 5}, 9]}
    search = GridSearchCV(GAMRegressor(), grid, cv=3).fit(X, Y)
    assert search.best_params_["smoothing"] != 1e9


@pytest.mark.parametrize(
    "parameters, message",
    [
        ({"terms": {0: "smooth"}}, "kind 'smooth'"),
        ({"terms": {(0, 1): "spline"}}, "kind 'spline'"),
        ({"terms": {(0, 1, 0): "tensor"}}, "one feature or a pair"),
        ({"terms": []}, "there is no term"),
        ({"terms": [0, 0]}, "more than once"),
        ({"terms": [7]}, "position 7"),
        ({"terms": {0: "cyclic"}}, "periods needs the period of 'x0'"),
        ({"terms": {0: "cyclic"}, "periods": {0: -1}}, "periods has the period -1"),
        ({"periods": {0: 1}}, "periods is for a term 'cyclic'"),
        ({"terms": {0: "linear"}, "by": {0: 1}}, "by is for"),
        ({"by": {0: 0}}, "vary with itself"),
        ({"monotonic_cst": {0: 2}}, "accepted are -1, 0 and 1"),
        ({"terms": [1], "monotonic_cst": {0: 1}}, "'x0' has none of these"),
        ({"by": {0: 1}, "monotonic_cst": {0: 1}}, "or 'linear', also with a curve for"),
        ({"n_splines": {0: 3}}, "takes 4 or more"),
        ({"terms": [0], "n_splines": {1: 5}}, "is no term"),
        ({"offset": "x"}, "offset has the name 'x'"),
        ({"link": "logit"}, "does not go with family='normal'"),
        ({"family": "poisson"}, "takes numbers from 0 on"),
        ({"family": "gamma"}, "takes numbers above 0"),
        ({"family": "binomial"}, "takes shares from 0 to 1"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        GAMRegressor(**parameters).fit(X, Y)


def test_bad_input():
    model = GAMRegressor().fit(X, Y)
    with pytest.raises(ValueError, match="'z' is not among the terms: 'x0', 'x1'"):
        model.partial_effect("z")
    with pytest.raises(ValueError, match="alpha=2"):
        model.predict_interval(X, alpha=2)
    with pytest.raises(ValueError, match="has no intervals"):
        GAMRegressor(family="binomial").fit(X, Y > 0).predict_interval(X)
    with pytest.raises(ValueError, match="all targets are zero"):
        GAMRegressor(family="poisson").fit(X, np.zeros(len(Y)))
    with pytest.raises(ValueError, match="a term 'category' takes it"):
        GAMRegressor(terms={0: "spline"}).fit([["a"], ["b"]], [0.0, 1.0])


def test_partial_effects_of_what_is_not_there():
    X = np.array([["a", 0.0], ["b", 1.0], ["a", 2.0]] * 5, dtype=object)
    y = np.arange(15.0)
    model = GAMRegressor(terms=[0, 1, (0, 1)], n_splines=4).fit(X, y)
    for term in ((0, 1), ("x0", "x1"), "x0:x1", np.int64(2)):
        assert len(model.partial_effect(term)[0]) == 6
    for term in (3, -1, "z", None, (1, 0)):
        with pytest.raises(
            ValueError, match="is not among the terms: 'x0', 'x1', 'x0:x"
        ):
            model.partial_effect(term)
    for term, values in ((0, "a"), (1, [[1.0, 2.0]]), (2, [1.0, 2.0]), (2, [[1.0]])):
        with pytest.raises(ValueError, match="values has the shape"):
            model.partial_effect(term, values)
    unseen = {0: ["c"], 1: [np.nan], 2: np.array([["c", 1.0]], dtype=object)}
    for term, values in unseen.items():
        with pytest.raises(ValueError, match="which fit did not see"):
            model.partial_effect(term, values)
    model.set_params(handle_unknown="zero")
    assert [model.partial_effect(*pair)[1][0] for pair in unseen.items()] == [0, 0, 0]


@pytest.mark.parametrize("lack", [None, np.nan])
def test_missing_levels_are_refused_unless_asked_for(lack):
    X = pd.DataFrame({"town": pd.Series(["a", "b", lack] * 10, dtype=object)})
    y = np.arange(30.0)
    with pytest.raises(ValueError, match="'town' has missing values; missing='level'"):
        GAMRegressor().fit(X, y)
    model = GAMRegressor(missing="level").fit(X, y)
    assert len(model.partial_effect("town")[0]) == 3
    model = GAMRegressor().fit(X[:2], y[:2])
    with pytest.raises(ValueError, match=f"'town' has the value {lack}, which"):
        model.predict(X)
    model = GAMRegressor(missing="level").fit(y[:, None], y)
    with pytest.raises(ValueError, match="'x0' has the value nan, which fit did not"):
        model.predict([[np.nan]])


def test_terms_of_many_splines_vanish_too():
    rng = np.random.default_rng(0)
    x, y = rng.random(1000), rng.normal(size=1000)
    few, many = (GAMRegressor(n_splines=n).fit(x[:, None], y) for n in (20, 200))
    assert_allclose(many.effective_dof_, few.effective_dof_, atol=0.1)
    line = (GAMRegressor(n_splines=n).fit(x[:, None], y + x) for n in (20, 200))
    few, many = (model.effective_dof_ for model in line)
    assert_allclose(many, few, atol=0.1)
