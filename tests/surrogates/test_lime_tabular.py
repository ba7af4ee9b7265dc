"""LimeTabular: against closed forms, regressions by hand, and lime."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_iris, make_friedman1
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import (
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.metrics import r2_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeRegressor

from sklearn_interpret.exceptions import (
    LowFidelityWarning,
    UndefinedFidelityWarning,
    UnreadableModelError,
)
from sklearn_interpret.surrogates import LimeDisplay, LimeTabular
from sklearn_interpret.surrogates._local_fits import (
    SELECTIONS,
    Neighbourhood,
    fit_locally,
)

SURROUNDINGS = [
    {},
    {"sample_around": "instance"},
    {"correlated": True},
    {"sample_around": "instance", "correlated": True},
]


def lime_of(estimator, **params):
    return LimeTabular(
        estimator,
        **{"random_state": 0, "n_samples": 200, "min_fidelity": None} | params,
    )


@pytest.fixture(scope="module")
def curved():
    """A model that is not linear, and its rows."""
    X, y = make_friedman1(150, 6, random_state=0)
    model = DecisionTreeRegressor(max_depth=5, random_state=0).fit(X, y)
    return FrozenEstimator(model), X


def mixed(n=80):
    """Numbers, whole numbers, a category, a boolean and missing values."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "length": rng.normal(size=n).astype(np.float32),
            "count": rng.integers(0, 9, size=n),
            "colour": pd.Categorical(rng.choice(["red", "green", "blue"], size=n)),
            "new": rng.choice([True, False], size=n),
        }
    )
    frame.loc[::7, "length"] = np.nan
    y = frame["count"] + 2.0 * (frame["colour"] == "red") - frame["new"]
    encode = make_column_transformer(
        (OneHotEncoder(sparse_output=False), ["colour"]), remainder="passthrough"
    )
    return frame, y, make_pipeline(encode, HistGradientBoostingRegressor(max_iter=10))


@pytest.mark.parametrize("params", SURROUNDINGS)
def test_weights_of_a_linear_model_are_its_own(params):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 5)) * [1, 10, 0.1, 100, 3] + [0, 5, 0, -1000, 2]
    y = X @ [1, -2, 30, 0.1, 0] + 4
    inspector = lime_of(
        LinearRegression(), discretize=False, kernel_width=10, **params
    ).fit(X, y)
    model, explanation = inspector.estimator_, inspector.explain(X[:4])
    expected = np.broadcast_to(model.coef_, (4, 5))
    assert_allclose(explanation.values, expected, rtol=1e-6, atol=1e-9)
    assert_allclose(explanation.intercepts, model.intercept_, rtol=1e-6)
    assert_allclose(explanation.fidelity, 1)
    prediction = explanation.local_predictions
    assert_allclose(prediction, model.predict(X[:4]), rtol=1e-6)
    sums = explanation.intercepts + (explanation.values * X[:4]).sum(axis=1)
    assert_allclose(sums, prediction, rtol=1e-6)


def test_weights_of_bins_are_differences_of_means():
    # Two independent features, additive: the weight of a bin is the mean there minus
    # the mean elsewhere, whatever the other feature does.
    X = np.stack(np.meshgrid(np.arange(8.0), np.arange(8.0)), axis=-1).reshape(-1, 2)
    y = X[:, 0] ** 2 + 3 * X[:, 1]
    inspector = lime_of(
        DecisionTreeRegressor(random_state=0), n_samples=4096, method="sampling"
    ).fit(X, y)
    explanation = inspector.explain([[7.0, 0.0]])
    squares, ends = np.arange(8.0) ** 2, np.arange(8) > 5
    expected = [squares[ends].mean() - squares[~ends].mean(), 3 * (0.5 - 4.5)]
    assert_allclose(explanation.values[0], expected, rtol=0.01)
    assert explanation.texts(0) == ["x0 > 5", "x1 <= 1"]


def all_samples(X, weights, own, width, *, discretize):
    """Every row that can be drawn, as the surrogate sees it, and what it weighs."""
    levels, seen, chances = [], [], []
    for values, mine in zip(X.T, own, strict=True):
        there, codes = np.unique(values, return_inverse=True)
        share = np.bincount(codes, weights) / weights.sum()
        if discretize:
            cuts = np.repeat(values, weights)
            cuts = np.quantile(cuts, [0.25, 0.5, 0.75], method="inverted_cdf")
            same = np.searchsorted(cuts, there) == np.searchsorted(cuts, mine)
            seen.append(same.astype(float))
            squares = 1.0 * ~same
        else:
            mean = there @ share
            spread = np.sqrt((there - mean) ** 2 @ share)
            seen.append((there - mean) / spread)
            squares = ((there - mine) / spread) ** 2
        levels.append(there)
        chances.append(share * np.exp(-squares / (2 * width**2)))

    def grid(parts):
        return np.stack(np.meshgrid(*parts, indexing="ij"), -1).reshape(-1, X.shape[1])

    return grid(levels), grid(seen), grid(chances).prod(axis=1)


@pytest.mark.parametrize("discretize", [True, False])
@pytest.mark.parametrize("kind", ["regressor", "classifier"])
def test_surrogates_of_trees_are_those_of_all_samples(kind, discretize):
    rng = np.random.default_rng(0)
    X = rng.integers(0, [5, 7, 4], size=(60, 3)) ** 1.5
    weights = rng.integers(1, 4, size=60)
    y = X[:, 0] * (X[:, 1] > 4) - X[:, 2] + rng.normal(size=60)
    if kind == "regressor":
        model = RandomForestRegressor(5, random_state=0)
    else:
        model = RandomForestClassifier(5, random_state=0)
        y = np.digitize(y, [-2, 2])
    model.fit(X, y)
    inspector = lime_of(FrozenEstimator(model), discretize=discretize, kernel_width=0.8)
    inspector.set_params(n_features_to_select=2).fit(X, sample_weight=weights)
    assert inspector.method_ == "tree"
    explanation = inspector.explain(X[:3])
    for row in range(3):
        drawn, seen, counts = all_samples(
            X, weights, X[row], 0.8, discretize=discretize
        )
        answers = inspector._response(drawn)
        for output, answer in enumerate(answers.T):
            at = (row, slice(None)) if answers.shape[1] == 1 else (row, ..., output)
            used = np.flatnonzero(explanation.selected[at])
            assert len(used) == 2
            by_hand = LinearRegression().fit(seen[:, used], answer, counts)
            found = explanation.effects[at][used]
            assert_allclose(found, by_hand.coef_, atol=1e-9)
            if not discretize:
                by_hand = LinearRegression().fit(drawn[:, used], answer, counts)
            found = explanation.base_values[row].reshape(-1)[output]
            assert_allclose(found, by_hand.intercept_, atol=1e-9)
    assert_array_equal(explanation.standard_errors, 0)
    assert inspector.stability_ == 1


def test_exact_surrogates_are_those_of_many_samples(curved):
    model, X = curved
    exact = lime_of(model, kernel_width=1).fit(X).explain(X[:4])
    many = lime_of(model, kernel_width=1, method="sampling", n_samples=2**13)
    many = many.fit(X).explain(X[:4])
    assert (np.abs(exact.values - many.values) < 4 * many.standard_errors).all()


@pytest.mark.parametrize(
    ("params", "name"),
    [
        ({"correlated": True}, "correlated=True"),
        ({"sample_around": "instance"}, "sample_around='instance'"),
        ({"surrogate": Ridge()}, "surrogate=Ridge"),
    ],
)
def test_what_needs_samples(curved, params, name):
    model, X = curved
    assert lime_of(model, **params).fit(X).method_ == "sampling"
    with pytest.raises(ValueError, match=name):
        lime_of(model, method="tree", **params).fit(X)


def test_models_that_are_no_trees():
    X, y = make_friedman1(50, 5, random_state=0)
    assert lime_of(LinearRegression()).fit(X, y).method_ == "sampling"
    with pytest.raises(UnreadableModelError):
        lime_of(LinearRegression(), method="tree").fit(X, y)


@pytest.mark.parametrize("params", [{}, {"discretize": False}])
def test_fidelity_and_weights_by_hand(curved, params):
    model, X = curved
    inspector = lime_of(
        model, n_features_to_select=3, kernel_width=1.5, method="sampling", **params
    ).fit(X)
    explanation = inspector.explain(X[:3])
    for row, around in enumerate(
        inspector._sampler.neighbourhoods(inspector._marginals.rows)
    ):
        if row == 3:
            break
        used = np.flatnonzero(explanation.selected[row])
        assert len(used) == 3
        design, answers = around.design[:, used], around.responses[:, 0]
        by_hand = LinearRegression().fit(design, answers, sample_weight=around.weights)
        assert_allclose(explanation.effects[row, used], by_hand.coef_, atol=1e-9)
        score = r2_score(answers, by_hand.predict(design), sample_weight=around.weights)
        assert_allclose(explanation.fidelity[row], score, atol=1e-12)


def test_weights_of_samples_by_hand(curved):
    model, X = curved
    inspector = lime_of(model, discretize=False, kernel_width=0.8).fit(X)
    around = next(inspector._sampler.neighbourhoods(inspector._marginals.rows))
    own = (X[0] - X.mean(axis=0)) / X.std(axis=0)
    expected = np.exp(-((around.design - own) ** 2).sum(axis=1) / (2 * 0.8**2))
    ratio = around.weights / expected
    assert_allclose(ratio, ratio[0])


@pytest.mark.parametrize("selection", SELECTIONS)
@pytest.mark.parametrize("size", [1, 4, 6, 9])
def test_exactly_so_many_features(curved, selection, size):
    model, X = curved
    X = np.column_stack([X, X[:, 0], np.ones(len(X))])  # a copy, and a constant
    model = FrozenEstimator(LinearRegression().fit(X, model.predict(X[:, :6])))
    inspector = lime_of(model, n_features_to_select=size, feature_selection=selection)
    selected = inspector.fit(X).explain(X[:3]).selected
    expected = 8 if selection == "none" else min(size, 8)
    assert (selected.sum(axis=1) == expected).all()


def test_injected_samples_give_ridge_regressions():
    rng = np.random.default_rng(0)
    design = rng.integers(0, 2, size=(300, 8)).astype(float)
    answers = design @ rng.normal(size=(8, 1)) + rng.normal(size=(300, 1))
    weights = rng.uniform(size=300)
    around = Neighbourhood(design, answers, weights, origin=np.ones(8))
    fit = fit_locally(around, 4, "forward", Ridge(alpha=1))
    used = np.flatnonzero(fit.selected[:, 0])
    ridge = Ridge(alpha=1).fit(design[:, used], answers[:, 0], sample_weight=weights)
    assert_allclose(fit.coefficients[used, 0], ridge.coef_, atol=1e-10)
    assert_allclose(fit.intercept, ridge.intercept_, atol=1e-10)
    prediction = ridge.predict(np.ones((1, 4)))
    assert_allclose(fit.prediction, prediction, atol=1e-10)


def test_a_short_tree_as_surrogate(curved):
    model, X = curved
    tree = DecisionTreeRegressor(max_depth=2, random_state=0)
    for discretize in (True, False):
        inspector = lime_of(model, surrogate=tree, discretize=discretize).fit(X)
        explanation = inspector.explain(X[:2])
        assert_allclose(explanation.effects.sum(axis=1), 1)
        around = next(inspector._sampler.neighbourhoods(inspector._marginals.rows))
        mean = np.average(around.responses[:, 0], weights=around.weights)
        assert_allclose(explanation.base_values[0], mean)
        assert explanation.standard_errors is None
        assert (explanation.fidelity > 0.1).all()


class TakesNoWeights(LinearRegression):
    def fit(self, X, y):
        return super().fit(X, y)


@pytest.mark.parametrize(
    ("surrogate", "error", "message"),
    [
        (Ridge, TypeError, "surrogate must be an estimator.*got the class Ridge"),
        (StandardScaler(), ValueError, "surrogate"),
        (LogisticRegression(), ValueError, "LogisticRegression is a classifier"),
        (TakesNoWeights(), ValueError, "TakesNoWeights takes no sample_weight"),
        (make_pipeline(Ridge()), ValueError, "Pipeline takes no sample_weight"),
    ],
)
def test_what_is_no_surrogate(curved, surrogate, error, message):
    model, X = curved
    with pytest.raises(error, match=message):
        lime_of(model, surrogate=surrogate).fit(X)


@pytest.mark.parametrize("params", [*SURROUNDINGS, {"discretize": False}])
@pytest.mark.parametrize("width", [5e-324, 1e-300, 1e300])
def test_kernels_of_any_width(curved, width, params):
    model, X = curved
    explanation = lime_of(model, kernel_width=width, **params).fit(X).explain(X[:3])
    assert np.isfinite(explanation.values).all()
    assert np.isfinite(explanation.standard_errors).all()
    wide = lime_of(model, kernel_width=1e9, **params).fit(X).explain(X[:3])
    if width > 1:
        assert_allclose(explanation.values, wide.values, atol=1e-12)


@pytest.mark.parametrize("name", ["n_features_to_select", "n_samples"])
@pytest.mark.parametrize("count", [True, 10**20])
def test_counts_that_are_no_counts(curved, name, count):
    model, X = curved
    with pytest.raises(ValueError, match=f"{name!r} parameter of LimeTabular"):
        lime_of(model, **{name: count}).fit(X)


@pytest.mark.parametrize("params", [*SURROUNDINGS, {"discretize": False}])
def test_numbers_without_a_finite_variance_are_refused_by_name(params):
    X = pd.DataFrame({"a": [1.0, 2, 3, 4], "far": [1e308, -1e308, 1e200, 0]})
    model = FrozenEstimator(DummyRegressor().fit(X, X["a"]))
    with pytest.raises(
        ValueError, match=r"feature 'far' has values as large as 1e\+308"
    ):
        lime_of(model, **params).fit(X)


@pytest.mark.parametrize("params", SURROUNDINGS)
@pytest.mark.parametrize("dtype", [np.int64, np.uint64, np.int8])
def test_the_ends_of_whole_numbers(dtype, params):
    ends = np.iinfo(dtype)
    X = np.array([[ends.min, 0], [ends.max, 1], [7, 2], [9, 3]] * 5, dtype=dtype)
    model = DecisionTreeRegressor(max_depth=2, random_state=0)
    inspector = lime_of(model, **params).fit(X, np.arange(20))
    assert np.isfinite(inspector.explain(X).values).all()


@pytest.mark.parametrize("selection", ["lars", "forward", "highest_weights"])
@pytest.mark.parametrize("scale", [1e-200, 1e70])
def test_weights_follow_the_scale_of_the_response(curved, scale, selection):
    model, X = curved

    def explained(scale):
        def response(estimator, X):
            return scale * estimator.predict(X)

        inspector = lime_of(
            model,
            response_method=response,
            feature_selection=selection,
            n_features_to_select=3,
            n_samples=64,
        )
        return inspector.fit(X).explain(X[:3])

    one, other = explained(1.0), explained(scale)
    for name in ("values", "standard_errors", "base_values"):
        expected = scale * getattr(one, name)
        assert_allclose(getattr(other, name), expected, rtol=1e-6, atol=1e-9 * scale)
    assert_allclose(other.fidelity, one.fidelity, rtol=1e-9)


@pytest.mark.parametrize("form", ["csr", "bsr"])
def test_sparse_rows_are_explained_as_dense_ones(form):
    X, y = make_friedman1(40, 6, random_state=0)
    X[X < 0.6] = 0
    inspector = lime_of(LinearRegression())
    dense = inspector.fit(X, y).explain(X[:3])
    table = sparse.csr_array(X).asformat(form)
    found = inspector.fit(table, y).explain(table)[:3]
    assert_allclose(found.values, dense.values, atol=1e-9)


def test_a_surrogate_that_tells_nothing_about_features(curved):
    model, X = curved
    silent = HistGradientBoostingRegressor(max_iter=1)
    with pytest.raises(TypeError, match="neither coef_ nor feature_importances_"):
        lime_of(model, surrogate=silent).fit(X).explain(X[:1])


@pytest.mark.parametrize("params", SURROUNDINGS)
def test_tables_of_all_kinds(params):
    frame, y, model = mixed()
    before = frame.copy()
    inspector = lime_of(model, n_samples=64, **params).fit(frame, y)
    pd.testing.assert_frame_equal(frame, before)
    explanation = inspector.explain(frame[:9])
    assert explanation.texts(0)[0] == "length is missing"
    assert explanation.texts(0)[2] == f"colour = {frame['colour'][0]}"
    assert explanation.texts(0)[3] == f"new = {frame['new'][0]}"
    assert np.isfinite(explanation.values).all()
    alone = inspector.explain(frame[4:5])
    assert_array_equal(alone.values[0], explanation.values[4])


class Recorder(LinearRegression):
    """Keeps what it was asked about."""

    def predict(self, X):
        self.seen_ = [*getattr(self, "seen_", []), X]
        return super().predict(X)


@pytest.mark.parametrize("params", SURROUNDINGS)
def test_whole_numbers_stay_whole_and_inside(params):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.integers(0, 5, 50), "b": rng.normal(size=50)})
    inspector = lime_of(Recorder(), **params).fit(frame, frame["a"])
    inspector.explain(frame[:2])
    for seen in inspector.estimator_.seen_:
        assert seen.dtypes.tolist() == frame.dtypes.tolist()
        assert seen["a"].between(0, 4).all()


def test_samples_serve_all_rows_and_are_asked_once():
    X, y = make_friedman1(50, 5, random_state=0)
    inspector = lime_of(Recorder()).fit(X, y)
    asked = sum(map(len, inspector.estimator_.seen_))
    inspector.explain(X)
    assert sum(map(len, inspector.estimator_.seen_)) == asked + 50


def test_correlated_samples_keep_means_and_covariances():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 3)) @ [[1, 0.9, 0], [0, 0.3, 0], [0, 0, 5]] + [0, 4, 0]
    inspector = lime_of(Recorder(), correlated=True, n_samples=4096).fit(X, X[:, 0])
    drawn = max(inspector.estimator_.seen_, key=len)
    assert_allclose(drawn.mean(axis=0), X.mean(axis=0), atol=0.05)
    expected = np.cov(X.T, bias=True)
    sizes = np.sqrt(np.outer(expected.diagonal(), expected.diagonal()))
    assert_allclose(np.cov(drawn.T) / sizes, expected / sizes, atol=0.02)


def test_classes_have_explanations_of_their_own():
    X, y = load_iris(return_X_y=True)
    y = np.array(["a", "b", "c"])[y]
    inspector = lime_of(LogisticRegression(max_iter=1000), n_features_to_select=2)
    explanation = inspector.fit(X, y).explain(X[::50])
    assert explanation.values.shape == (3, 4, 3)
    assert explanation.output_names == ("a", "b", "c")
    assert (explanation.selected.sum(axis=1) == 2).all()
    one = inspector.set_params(target="b").fit(X, y).explain(X[::50])
    assert_allclose(one.values, explanation.values[:, :, 1])
    assert_allclose(one.fidelity, explanation.fidelity[:, 1])


@pytest.mark.parametrize("rows", [[0], [3, 3, 3]])
@pytest.mark.parametrize("sample_around", ["training", "instance"])
def test_rows_that_do_not_vary_are_too_few(curved, rows, sample_around):
    model, X = curved
    inspector = lime_of(model, sample_around=sample_around)
    with pytest.raises(ValueError, match=f"no feature varies over its {len(rows)} sam"):
        inspector.fit(X[rows])


def test_a_constant_response_has_no_r_squared(curved):
    _, X = curved
    constant = FrozenEstimator(DummyRegressor().fit(X, np.full(len(X), 0.1)))
    inspector = lime_of(constant, min_fidelity=0.2).fit(X[:2])
    with pytest.warns(UndefinedFidelityWarning, match="2 of 2 rows.*R² is undefined"):
        explanation = inspector.explain(X[:2])
    assert np.isnan(explanation.fidelity).all()
    assert_allclose(explanation.values, 0, atol=1e-12)
    assert "R² undefined" in repr(explanation)
    assert "<td>R² undefined</td>" in explanation._repr_html_()
    display = LimeDisplay.from_explanation(explanation, row=0)
    assert "local R² undefined" in display.axes_[0].get_title()
    inspector.set_params(min_fidelity=None).explain(X[:2])


def test_html_has_the_fidelity_of_each_row_and_output(curved):
    _, X = curved
    labels = np.digitize(X[:, 0], [0.3, 0.7])
    model = FrozenEstimator(LogisticRegression().fit(X, labels))
    explanation = lime_of(model).fit(X).explain(X[:7])
    html = explanation._repr_html_()
    texts = [f"<td>R² = {share:.3g}</td>" for share in explanation.fidelity[:5].ravel()]
    places = [html.index(text) for text in texts]
    assert len(texts) == 15
    assert places == sorted(places)


def test_low_fidelity_is_told(curved):
    model, X = curved
    inspector = lime_of(model, min_fidelity=1.0).fit(X)
    with pytest.warns(LowFidelityWarning, match="3 of 3 rows"):
        inspector.explain(X[:3])
    inspector.set_params(min_fidelity=None).explain(X[:3])


def test_stability(curved):
    model, X = curved
    sampled = lime_of(model, n_samples=16, method="sampling").fit(X)
    scores = sampled.stability_score(X[:4], n_redraws=3)
    assert scores.shape == (4,)
    assert ((scores > 0) & (scores < 1)).all()
    assert 0 < sampled.stability_ < 1
    more = lime_of(model, n_samples=2048, method="sampling").fit(X)
    assert more.stability_score(X[:4], n_redraws=3).mean() > scores.mean()
    linear = lime_of(LinearRegression(), discretize=False).fit(X, X @ np.arange(6))
    assert linear.stability_ == 1


@pytest.mark.parametrize(
    ("params", "name"), [({"n_redraws": 1}, "n_redraws"), ({"n_features": 0}, "n_feat")]
)
def test_stability_of_bad_numbers(curved, params, name):
    model, X = curved
    with pytest.raises(ValueError, match=name):
        lime_of(model).fit(X).stability_score(X[:1], **params)


@pytest.mark.parametrize(
    "X",
    [np.eye(3)[:2], 1 + np.eye(5)[:, [0, 0]]],
    ids=["two rows and a constant column", "twins"],
)
@pytest.mark.parametrize("params", [*SURROUNDINGS, {"discretize": False}])
def test_tables_in_which_little_happens(X, params):
    model = FrozenEstimator(LinearRegression().fit(X, X.sum(axis=1)))
    explanation = lime_of(model, n_samples=16, **params).fit(X).explain(X)
    assert np.isfinite(explanation.values).all()
    assert_allclose(explanation.predictions, X.sum(axis=1))


def test_missing_values_are_a_bin_of_their_own_or_the_mean():
    X, y = make_friedman1(120, 4 + 1, random_state=0)
    X[::3, 1] = np.nan
    model = HistGradientBoostingRegressor(max_iter=20).fit(X, y)
    for discretize in (True, False):
        inspector = lime_of(FrozenEstimator(model), discretize=discretize).fit(X)
        explanation = inspector.explain(X[:6])
        assert np.isfinite(explanation.values).all()
        assert (explanation.fidelity > 0).all()


def test_categories_that_were_never_seen():
    frame, y, model = mixed()
    frame["colour"] = frame["colour"].astype(object)
    model[0].set_params(onehotencoder__handle_unknown="ignore")
    inspector = lime_of(model, n_samples=64).fit(frame, y)
    row = frame[1:2].assign(colour="violet")
    explanation = inspector.explain(row)
    assert explanation.texts(0)[2] == "colour is new"
    assert explanation.values[0, 2] == 0


def test_many_features():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 1500))
    model = FrozenEstimator(Ridge().fit(X, X[:, :5].sum(axis=1)))
    explanation = lime_of(model, n_samples=128, n_features_to_select=5).fit(X)
    assert explanation.explain(X[:1]).selected.sum() == 5


def test_samples_and_weights_of_lime_give_its_coefficients():
    lime_tabular = pytest.importorskip("lime.lime_tabular")
    X, y = make_friedman1(200, 8, random_state=0)
    model = DecisionTreeRegressor(max_depth=6, random_state=0).fit(X, y)
    explainer = lime_tabular.LimeTabularExplainer(X, mode="regression", random_state=0)
    taken = {}
    inner = explainer.base.explain_instance_with_data

    def spy(data, labels, distances, *args, **kwargs):
        weights = explainer.base.kernel_fn(distances)
        taken.update(data=data, labels=labels, weights=weights)
        return inner(data, labels, distances, *args, **kwargs)

    explainer.base.explain_instance_with_data = spy
    theirs = explainer.explain_instance(X[0], model.predict, num_features=4)
    answers = taken["labels"][:, -1:]
    around = Neighbourhood(taken["data"], answers, taken["weights"], origin=np.ones(8))
    fit = fit_locally(around, 4, "forward", Ridge(alpha=1))
    used = np.flatnonzero(fit.selected[:, 0])
    expected = dict(theirs.local_exp[1])
    assert set(used.tolist()) == set(map(int, expected))
    found = [fit.coefficients[j, 0] for j in expected]
    assert_allclose(found, list(expected.values()), atol=1e-8)
    assert_allclose(fit.fidelity, theirs.score, atol=1e-8)
