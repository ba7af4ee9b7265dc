"""A simple model that is taught the answers of another, and how closely it follows."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn import config_context
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.compose import make_column_transformer
from sklearn.ensemble import GradientBoostingRegressor, RandomForestRegressor
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectFromModel, SelectKBest, f_regression
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import (
    LinearRegression,
    LogisticRegression,
    Ridge,
    TweedieRegressor,
)
from sklearn.metrics import accuracy_score, log_loss, mean_absolute_error, r2_score
from sklearn.model_selection import GridSearchCV
from sklearn.multioutput import MultiOutputRegressor
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
from sklearn.svm import SVR, LinearSVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils.estimator_checks import check_estimator

from sklearn_interpret._core.statistics.losses import r_squared
from sklearn_interpret._model.rows.number_format import rounded_between
from sklearn_interpret.estimator_checks._wraps import check_delegation
from sklearn_interpret.exceptions import LowFidelityWarning, UndefinedFidelityWarning
from sklearn_interpret.surrogates import GlobalSurrogate

WEIGHTS = np.arange(80) % 4 + 1.0


@pytest.fixture(scope="module")
def table():
    """Rows, numbers and three labels."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 4)).round(2)
    y = X[:, 0] * 2 + X[:, 1] * X[:, 2]
    return X, y, np.array(["a", "b", "c"])[np.digitize(y, [-1, 1])]


def taught(model, X, y, **params):
    """A surrogate of a model that is fitted already."""
    return GlobalSurrogate(FrozenEstimator(model.fit(X, y)), **params).fit(X)


def test_fidelity_by_hand(table):
    X, y, _ = table
    model = SVR().fit(X, y)
    surrogate = GlobalSurrogate(FrozenEstimator(model), surrogate=LinearRegression())
    surrogate.fit(X, sample_weight=WEIGHTS)
    f = model.predict(X)
    g = LinearRegression().fit(X, f, sample_weight=WEIGHTS).predict(X)
    mean = (WEIGHTS * f).sum() / WEIGHTS.sum()
    by_hand = 1 - (WEIGHTS * (f - g) ** 2).sum() / (WEIGHTS * (f - mean) ** 2).sum()
    assert surrogate.fidelity_ == pytest.approx(by_hand, abs=1e-12)
    assert surrogate.fidelity_score(X, WEIGHTS) == surrogate.fidelity_
    assert_allclose(surrogate.predict(X), g)
    assert_array_equal(surrogate.black_box_predict(X), f)
    assert surrogate.score(X, y) == pytest.approx(r2_score(y, g))


@pytest.mark.parametrize("scale", [1e-200, 1e-9, 1.0, 1e200])
def test_r_squared_is_that_of_scikit_learn(scale):
    f, g = np.random.default_rng(0).normal(size=(2, 30, 3))
    f[:, 1] = 0.1
    g[:, 1] = 0.2
    found = r_squared(scale * f, scale * g, WEIGHTS[:30])
    expected = r2_score(f, g, sample_weight=WEIGHTS[:30], multioutput="raw_values")
    expected[1] = np.nan  # of a constant
    assert_allclose(found, expected)
    assert_array_equal(r_squared(f, f, WEIGHTS[:30]), [1, np.nan, 1])


def test_a_tree_taught_by_its_like_is_perfect(table):
    X, y, labels = table
    one = taught(DecisionTreeRegressor(max_depth=3, random_state=0), X, y)
    assert one.fidelity_ == pytest.approx(1, abs=1e-12)
    assert_allclose(one.predict(X), one.black_box_predict(X))
    model = DecisionTreeClassifier(max_depth=3, random_state=0)
    other = taught(model, X, labels, surrogate=DecisionTreeRegressor(random_state=0))
    assert other.fidelity_ == pytest.approx(1, abs=1e-12)
    assert other.agreement_ == 1
    assert_allclose(other.predict_proba(X), model.predict_proba(X))
    assert_array_equal(other.predict(X), model.predict(X))


@pytest.mark.parametrize(
    "surrogate",
    [
        make_pipeline("passthrough", Ridge()),
        MultiOutputRegressor(make_pipeline("passthrough", Ridge())),
        TweedieRegressor(alpha=0, tol=1e-10, max_iter=1000),
    ],
)
@pytest.mark.parametrize("routing", [False, True])
def test_weights_reach_the_surrogate(table, surrogate, routing):
    X, _, labels = table
    model = FrozenEstimator(LogisticRegression().fit(X, labels))
    kept = WEIGHTS > 2
    inspector = GlobalSurrogate(model, surrogate=surrogate, min_fidelity=None)
    with config_context(enable_metadata_routing=routing):
        weighted = inspector.fit(X, sample_weight=np.where(kept, 1.0, 1e-12))
    alone = GlobalSurrogate(model, surrogate=surrogate).fit(X[kept])
    assert_allclose(weighted.predict_proba(X), alone.predict_proba(X), atol=1e-6)


def test_classes_from_probabilities(table):
    X, _, labels = table
    one = taught(LogisticRegression(), X, labels)
    shares = one.predict_proba(X)
    assert shares.shape == (80, 3)
    assert_allclose(shares.sum(axis=1), 1)
    assert_array_equal(one.predict(X), one.classes_[shares.argmax(axis=1)])
    assert one.output_names_ == ["a", "b", "c"]
    assert one.score(X, labels) == accuracy_score(labels, one.predict(X))
    same = (one.predict(X) == one.black_box_predict(X)).mean()
    assert one.agreement_ == pytest.approx(same)
    assert not hasattr(one, "decision_function")


def test_probabilities_of_a_regressor_stay_probabilities(table):
    X, _, labels = table
    for y in (labels, labels == "a"):
        one = taught(LogisticRegression(), X, y, surrogate=LinearRegression())
        far = one.predict_proba(20 * X)
        assert one.surrogate_.predict(20 * X).min() < 0
        assert (far >= 0).all()
        assert_allclose(far.sum(axis=1), 1)
        assert_array_equal(one.classes_[far.argmax(axis=1)], one.predict(20 * X))


@pytest.mark.parametrize(
    "method",
    ["predict_proba", "predict_log_proba", "decision_function", "predict"]
    + ["centered_log_proba"],
)
@pytest.mark.parametrize("target", [None, "no", "yes"])
def test_two_classes_by_any_response(table, method, target):
    X, y, _ = table
    labels = np.where(y > 0, "yes", "no")
    model = LogisticRegression().fit(X, labels)
    one = GlobalSurrogate(
        FrozenEstimator(model),
        surrogate=KNeighborsRegressor(1),
        response_method=method,
        target=target,
    ).fit(X)
    assert_array_equal(one.predict(X), model.predict(X))
    assert one.agreement_ == one.fidelity_ == 1
    assert one.fidelity_score(X[::2]) == 1
    if method == "predict_proba":
        assert_allclose(one.predict_proba(X), model.predict_proba(X))
    if method == "decision_function" and target is None:
        assert_allclose(one.decision_function(X), model.decision_function(X))
    assert hasattr(one, "predict_proba") == (method in ("predict_proba", "predict"))


def test_one_output_of_several(table):
    X, _, labels = table
    one = taught(LogisticRegression(), X, labels, target="b")
    assert one.output_names_ == ["b"]
    assert not hasattr(one, "agreement_")
    assert not hasattr(one, "predict_proba")
    with pytest.raises(ValueError, match=r"cannot predict labels.*target='b'"):
        one.predict(X)


def test_a_classifier_learns_labels(table):
    X, _, labels = table
    model = LogisticRegression()
    tree = DecisionTreeClassifier(max_depth=3, random_state=0)
    one = taught(model, X, labels, surrogate=tree, min_fidelity=None)
    learnt = DecisionTreeClassifier(max_depth=3, random_state=0).fit(
        X, model.predict(X)
    )
    assert_array_equal(one.predict(X), learnt.predict(X))
    assert one.agreement_ == learnt.score(X, model.predict(X))
    expected = r2_score(model.predict_proba(X), learnt.predict_proba(X))
    assert one.fidelity_ == pytest.approx(expected)
    few = taught(
        model,
        X,
        labels,
        surrogate=GaussianNB(),
        subset=without_c(model),
        min_fidelity=None,
    )
    assert few.surrogate_.classes_.tolist() == ["a", "b"]
    assert (few.predict_proba(X)[:, 2] == 0).all()


def without_c(model):
    return lambda X: model.predict(X) != "c"


def test_labels_without_probabilities(table):
    X, _, labels = table
    tree = DecisionTreeClassifier(max_depth=3, random_state=0)
    with pytest.raises(ValueError, match=r"scoring=.*decision_function.*accuracy"):
        taught(LinearSVC(), X, labels, surrogate=tree)
    with pytest.raises(ValueError, match=r"LinearSVC has no predict_proba"):
        taught(LogisticRegression(), X, labels, surrogate=LinearSVC())
    one = taught(LinearSVC(), X, labels, surrogate=tree, scoring="accuracy")
    assert one.fidelity_ == one.agreement_ > 0.7


def test_scorings(table):
    X, y, labels = table
    one = taught(SVR(), X, y, scoring="neg_mean_absolute_error")
    f, g = one.black_box_predict(X), one.predict(X)
    assert one.fidelity_ == pytest.approx(-mean_absolute_error(f, g))
    two = taught(SVR(), X, y, scoring=mean_absolute_error)
    assert two.fidelity_ == pytest.approx(mean_absolute_error(f, g))
    weighted = two.fidelity_score(X, WEIGHTS)
    assert weighted == pytest.approx(mean_absolute_error(f, g, sample_weight=WEIGHTS))
    three = taught(LogisticRegression(), X, labels, scoring="neg_log_loss")
    expected = log_loss(three.black_box_predict(X), three.predict_proba(X))
    assert three.fidelity_ == pytest.approx(-expected)


def test_subset(table):
    X, y, _ = table

    def right(X):
        return X[:, 0] > 0

    model = SVR().fit(X, y)
    one = GlobalSurrogate(FrozenEstimator(model), subset=right, random_state=0).fit(X)
    alone = GlobalSurrogate(FrozenEstimator(model), random_state=0).fit(X[right(X)])
    assert_array_equal(one.predict(X), alone.predict(X))
    assert one.fidelity_ == alone.fidelity_ == one.fidelity_score(X)
    fitted = GlobalSurrogate(SVR(), subset=right).fit(X, y)
    assert_array_equal(fitted.black_box_predict(X), model.predict(X))
    with pytest.raises(ValueError, match="subset holds for no row"):
        one.fidelity_score(X[~right(X)])


def test_low_fidelity_is_warned_of(table):
    X, *_ = table
    wave = np.cos(9 * X[:, 0])
    model = FrozenEstimator(KNeighborsRegressor(1).fit(X, wave))
    surrogate = LinearRegression()
    with pytest.warns(
        LowFidelityWarning, match=r"\(r2\) of 0.118, below min_fidelity=0.2"
    ):
        GlobalSurrogate(model, surrogate=surrogate).fit(X)
    for params in ({"min_fidelity": None}, {"scoring": "neg_mean_absolute_error"}):
        GlobalSurrogate(model, surrogate=surrogate, **params).fit(X)


NAMED = ["size", "season", "holiday"]


def seasons(n=80):
    """A number, categories with and without order, a flag, and what they give."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "heat": rng.normal(size=n),
            "size": pd.Categorical(
                rng.choice(["S", "M", "L"], n), ["S", "M", "L"], True
            ),
            "season": rng.choice(["WINTER", "SUMMER", "FALL"], n),
            "holiday": rng.choice([True, False], n),
        }
    )
    y = X["heat"] + X["size"].cat.codes + 3 * (X["season"] == "WINTER") - X["holiday"]
    return X, y.to_numpy()


def with_dummies(X):
    codes = X.assign(size=X["size"].cat.codes, holiday=X["holiday"] * 1)
    return pd.get_dummies(codes, columns=["season"]).to_numpy(np.float64)


@pytest.mark.parametrize(
    "surrogate",
    [Ridge(), GridSearchCV(Ridge(), {"alpha": [1.0]}), make_pipeline(Ridge())],
    ids=["plain", "searched", "last step"],
)
def test_surrogates_that_take_no_categories_get_them_encoded(surrogate):
    X, y = seasons()
    model = make_pipeline(
        encoder(*NAMED), DecisionTreeRegressor(max_depth=4, random_state=0)
    ).fit(X, y)
    one = GlobalSurrogate(FrozenEstimator(model), surrogate=surrogate).fit(X)
    design = with_dummies(X)
    assert_allclose(
        one.predict(X), Ridge().fit(design, model.predict(X)).predict(design)
    )
    assert one.feature_importances_.shape == (4,)


def test_weights_go_to_encoded_surrogates():
    X, y = seasons()
    model = make_pipeline(
        encoder(*NAMED), DecisionTreeRegressor(max_depth=4, random_state=0)
    ).fit(X, y)
    one = GlobalSurrogate(FrozenEstimator(model), surrogate=Ridge())
    design = with_dummies(X)
    expected = Ridge().fit(design, model.predict(X), sample_weight=WEIGHTS)
    found = one.fit(X, sample_weight=WEIGHTS).predict(X)
    assert_allclose(found, expected.predict(design))


def test_encoded_surrogates_of_labels_and_of_several_outputs():
    X, y = seasons()
    labels = np.digitize(y, [0, 2])
    model = make_pipeline(
        encoder(*NAMED), DecisionTreeClassifier(max_depth=4, random_state=0)
    )
    model = FrozenEstimator(model.fit(X, labels))
    one = GlobalSurrogate(model, surrogate=LogisticRegression()).fit(X)
    assert one.agreement_ > 0.7
    three = GlobalSurrogate(
        model, surrogate=GradientBoostingRegressor(random_state=0)
    ).fit(X)
    assert three.fidelity_ > 0.9
    assert three.predict_proba(X).shape == (80, 3)


def test_surrogates_with_encoders_of_their_own_are_left_alone():
    X, y = seasons()
    model = FrozenEstimator(make_pipeline(encoder(*NAMED), Ridge()).fit(X, y))
    own = make_pipeline(encoder(*NAMED), Ridge())
    for surrogate in (own, GridSearchCV(own, {"ridge__alpha": [1.0]})):
        one = GlobalSurrogate(model, surrogate=surrogate).fit(X)
        assert type(one.surrogate_) is type(surrogate)
        assert len(getattr(one.surrogate_, "best_estimator_", one.surrogate_)) == 2


@pytest.mark.parametrize("surrogate", [None, Ridge()])
@pytest.mark.parametrize("library", ["pandas", "with a zone", "polars", "objects"])
def test_dates_are_numbers(surrogate, library):
    zone = "UTC" if library == "with a zone" else None
    when = pd.date_range("2020-01-01", periods=20, tz=zone)
    X = pd.DataFrame({"x": np.arange(20.0), "when": when})
    if library == "polars":
        X = pytest.importorskip("polars").from_pandas(X)
    X = X.to_numpy(dtype=object) if library == "objects" else X
    of_its_own = make_pipeline(FunctionTransformer(first_column), Ridge())
    inspector = GlobalSurrogate(of_its_own, surrogate=surrogate)
    found = inspector.fit(X, np.arange(20.0)).feature_importances_
    # The dates grow as the column that the model reads.
    assert_allclose(found.sum(), found[0] + found[1])
    assert_allclose(inspector.predict(X), inspector.black_box_predict(X), atol=3)


def first_column(X):
    first = X[:, :1] if isinstance(X, np.ndarray) else X[["x"]]
    return np.asarray(first, dtype=np.float64)


def test_missing_values_where_the_model_takes_them(table):
    X, y, _ = table
    X = X.copy()
    X[::7, 0] = np.nan
    one = taught(DecisionTreeRegressor(max_depth=3, random_state=0), X, y)
    assert one.fidelity_ == pytest.approx(1, abs=1e-12)
    colours = pd.DataFrame({"c": ["r", "g", None, "b"] * 20, "x": X[:, 1]})
    model = make_pipeline(
        encoder("c"), DecisionTreeRegressor(max_depth=2, random_state=0)
    )
    two = taught(model, colours, y, random_state=0)
    assert two.fidelity_ > 0.9
    whole = np.nan_to_num(X)
    for rows in (whole, pd.DataFrame(whole)):
        strict = taught(LinearRegression(), rows, y)
        with pytest.raises(ValueError, match="contains NaN"):
            strict.predict(type(rows)(X) if rows is not whole else X)


def encoder(*columns):
    return make_column_transformer((OneHotEncoder(), columns), remainder="passthrough")


def test_sparse_rows(table):
    X, y, _ = table
    thin = sparse.csr_matrix(np.where(np.abs(X) > 1, X, 0))
    dense = thin.toarray()
    for surrogate in (None, Ridge()):
        one, other = (
            taught(Ridge(), rows, y, surrogate=surrogate, random_state=0)
            for rows in (thin, dense)
        )
        assert one.fidelity_ == pytest.approx(other.fidelity_, abs=1e-6)
        assert_allclose(one.feature_importances_, other.feature_importances_, 1e-4)


def test_importances(table):
    X, y, labels = table
    model = LogisticRegression()
    linear = taught(model, X, labels, surrogate=Ridge(), min_fidelity=None)
    expected = np.abs(linear.surrogate_.coef_).mean(axis=0) * X.std(axis=0)
    assert_allclose(linear.feature_importances_, expected)
    each = MultiOutputRegressor(make_pipeline(StandardScaler(), Ridge()))
    one = taught(model, X, labels, surrogate=each)
    assert_allclose(one.feature_importances_, expected, rtol=1e-2)
    none = taught(SVR(), X, y, surrogate=KNeighborsRegressor(3))
    assert not hasattr(none, "feature_importances_")
    chosen = SelectFromModel(GlobalSurrogate(SVR(), random_state=0), max_features=2)
    chosen.fit(X, 3 * X[:, 0])
    assert chosen.get_support()[0]


def test_several_outputs(table):
    X, y, labels = table
    both = np.stack([y, -y + X[:, 3]], axis=1)
    for surrogate in (None, SVR(), DecisionTreeRegressor(max_depth=2, random_state=0)):
        one = taught(LinearRegression(), X, both, surrogate=surrogate)
        f, g = one.black_box_predict(X), one.predict(X)
        assert g.shape == (80, 2)
        assert one.fidelity_ == pytest.approx(r2_score(f, g))
    two = np.stack([labels, np.where(y > 0, "u", "d")], axis=1)
    model = DecisionTreeClassifier(max_depth=2, random_state=0)
    one = taught(model, X, two, surrogate=DecisionTreeRegressor(random_state=0))
    assert_array_equal(one.predict(X), model.predict(X))
    for mine, of_model in zip(
        one.predict_proba(X), model.predict_proba(X), strict=True
    ):
        assert_allclose(mine, of_model)
    with pytest.raises(ValueError, match="learns one label of each row"):
        taught(model, X, two, surrogate=DecisionTreeClassifier(random_state=0))


def test_importances_for_all_outputs_name_none(table):
    X, y, _ = table
    both = np.stack([y, -y], axis=1)
    forest = RandomForestRegressor(5, random_state=0)
    one = taught(LinearRegression(), X, both, surrogate=forest, min_fidelity=None)
    assert list(one.to_frame().columns) == ["feature", "importance"]


def test_independent_labels(table):
    X, y, _ = table
    flags = np.stack([y > 0, X[:, 3] > 0], axis=1).astype(int)
    model = KNeighborsClassifier(1)
    surrogate = KNeighborsRegressor(1)
    one = taught(model, X, flags, surrogate=surrogate)
    assert_array_equal(one.predict(X), model.predict(X))


@pytest.mark.parametrize("value", [0.0, 0.1, 1e6])
def test_constant_responses_and_one_row_have_no_r_squared(table, value):
    X, _, _ = table
    flat = np.ones((80, 2))
    for rows, y in ((X, np.full(80, value)), (X[:1], [value]), (flat, X[:, 0])):
        with pytest.warns(UndefinedFidelityWarning, match="R² is undefined"):
            one = taught(DecisionTreeRegressor(random_state=0), rows, y)
        assert np.isnan(one.fidelity_)
        assert np.isnan(one.set_params(min_fidelity=None).fit(rows, y).fidelity_)
    one.set_params(scoring="neg_mean_absolute_error").fit(flat, X[:, 0])
    assert one.fidelity_ == pytest.approx(0, abs=1e-12)


def test_fidelity_is_the_mean_over_the_outputs_that_vary(table):
    X, y, _ = table
    targets = np.stack([y, np.full(80, 0.3)], axis=1)
    alone = taught(DecisionTreeRegressor(random_state=0), X, y)
    both = taught(DecisionTreeRegressor(random_state=0), X, targets)
    assert both.fidelity_ == pytest.approx(alone.fidelity_, abs=1e-9)


class TakesNoWeights(RegressorMixin, BaseEstimator):
    """A regressor whose `fit` takes no weights."""

    def fit(self, X, y):
        self.mean_ = y.mean(axis=0)
        return self

    def predict(self, X):
        return np.full(len(X), self.mean_)


def score_without_weights(f, g):
    return 1.0


BAD = {
    "a class": ({"surrogate": Ridge}, TypeError, "got the class Ridge: pass Ridge()"),
    "no estimator": ({"surrogate": 3}, TypeError, "surrogate must be an estimator"),
    "labels of numbers": (
        {"surrogate": DecisionTreeClassifier(random_state=0)},
        ValueError,
        "DecisionTreeClassifier is a classifier.*predicts none",
    ),
    "accuracy of numbers": (
        {"scoring": "accuracy"},
        ValueError,
        "compares labels, but FrozenEstimator is no classifier",
    ),
    "no scorer": ({"scoring": "acuracy"}, ValueError, "acuracy"),
    "no number": (
        {"scoring": lambda f, g, sample_weight: None},
        ValueError,
        "must be a number",
    ),
    "no rows": (
        {"subset": lambda X: X[:, 0] > 99},
        ValueError,
        "subset holds for no row",
    ),
    "positions": ({"subset": lambda X: [0, 1]}, ValueError, "a boolean for each"),
    "too few flags": ({"subset": lambda X: [True]}, ValueError, "each of the 80 rows"),
    "a region by name": ({"subset": "x > 3"}, ValueError, "subset"),
    "a word": ({"min_fidelity": "high"}, ValueError, "min_fidelity"),
    "weights not taken": (
        {"surrogate": TakesNoWeights()},
        ValueError,
        "the fit of TakesNoWeights takes no sample_weight",
    ),
    "weights not scored": (
        {"scoring": score_without_weights},
        ValueError,
        "takes no sample_weight",
    ),
}


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_importances_of_columns_of_any_scale(table, scale):
    X, y, _ = table
    one = taught(LinearRegression(), X, y, surrogate=LinearRegression())
    far = X * [scale, 1, 1, 1]
    params = {"surrogate": Largest(), "min_fidelity": None}
    other = taught(LinearRegression(), far, y, **params)
    assert other.feature_importances_[0] == pytest.approx(
        scale * np.std(X[:, 0]), rel=1e-9
    )
    assert one.feature_importances_[0] == pytest.approx(
        np.std(X[:, 0]) * abs(one.surrogate_.coef_[0])
    )


def test_coefficients_of_two_learnt_labels_of_three(table):
    X, _, labels = table
    model = LogisticRegression().fit(X, labels)
    params = {"surrogate": LogisticRegression(), "min_fidelity": None}
    params["subset"] = lambda X: model.predict(X) != "b"
    inspector = GlobalSurrogate(FrozenEstimator(model), **params).fit(X)
    result = inspector.to_frame().set_index(["output", "column"])["coef"].unstack()
    (coef,) = inspector.surrogate_.coef_
    expected = [-coef, np.full(4, np.nan), coef]
    assert_allclose(result.loc[["a", "b", "c"], ["x0", "x1", "x2", "x3"]], expected)


def test_outputs_with_other_columns_have_no_table_of_coefficients(table):
    X, _, _ = table
    selection = make_pipeline(SelectKBest(f_regression, k=1), LinearRegression())
    targets = np.stack([X[:, 0], X[:, 2]], axis=1)
    params = {"surrogate": MultiOutputRegressor(selection), "min_fidelity": None}
    inspector = taught(LinearRegression(), X, targets, **params)
    assert inspector.to_frame().columns.tolist() == ["feature", "importance"]


class Largest(RegressorMixin, BaseEstimator):
    """Has a coefficient of one for each column."""

    def fit(self, X, y, sample_weight=None):
        self.coef_, self.intercept_ = np.ones(X.shape[1]), 0.0
        self.mean_ = y.mean()
        return self

    def predict(self, X):
        return np.full(len(X), self.mean_)


@pytest.mark.parametrize("case", BAD)
def test_bad_input(table, case):
    X, y, _ = table
    params, error, message = BAD[case]
    model = FrozenEstimator(LinearRegression().fit(X, y))
    with pytest.raises(error, match=message):
        GlobalSurrogate(model, **params).fit(X, sample_weight=WEIGHTS)


def test_equal_weights_need_not_be_taken(table):
    X, y, _ = table
    one = GlobalSurrogate(
        FrozenEstimator(LinearRegression().fit(X, y)),
        surrogate=TakesNoWeights(),
        min_fidelity=None,
        scoring=score_without_weights,
    )
    assert one.fit(X, sample_weight=np.full(80, 2.0)).fidelity_ == 1


def test_before_fit(table):
    X, y, _ = table
    one = GlobalSurrogate(LogisticRegression())
    for ask in (one.predict, one.predict_proba, one.black_box_predict):
        with pytest.raises(NotFittedError):
            ask(X)
    with pytest.raises(NotFittedError):
        one.fidelity_score(X)
    assert not hasattr(one, "feature_importances_")
    with pytest.raises(ValueError, match="FrozenEstimator"):
        GlobalSurrogate(SVR().fit(X, y)).fit(X)
    with pytest.raises(ValueError, match="score needs y"):
        GlobalSurrogate(SVR()).fit(X, y).score(X)


class AnswersForTheModel(GlobalSurrogate):
    def black_box_predict(self, X):
        return self.predict(X)


class ScoresTheModel(GlobalSurrogate):
    def score(self, X, y=None, sample_weight=None):
        return self.estimator_.score(X, y, sample_weight)


@pytest.mark.parametrize("broken", [AnswersForTheModel, ScoresTheModel])
def test_a_broken_promise_is_noticed(broken):
    for model in (RandomForestRegressor(3, random_state=0), LogisticRegression()):
        check_delegation(GlobalSurrogate(model, random_state=0))
    with pytest.raises(AssertionError):
        check_delegation(broken(RandomForestRegressor(3, random_state=0)))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_scikit_learn_checks_do_not_warn_by_default():
    """Also where the surrogate is linear and fits one output at a time."""
    check_estimator(GlobalSurrogate(LinearRegression(), surrogate=LinearRegression()))


@pytest.mark.parametrize(
    ("threshold", "values", "text"),
    [
        (16.79512, [16.7, 16.9], "16.8"),
        (19.545, [19.54, 19.55], "19.54"),
        (-0.00123456, [-0.0013, 0.1], "\N{MINUS SIGN}0.00123"),
        (1000.25, [1000.2, 1000.3], "1000.2"),
        (0.5, [0.0, 1.0, np.nan], "0.5"),
        (1.5e-9, [1e-9, 2e-9], "1.5e\N{MINUS SIGN}09"),
        (3e12, [1e12, 5e12], "3e+12"),
    ],
)
def test_thresholds_are_rounded_as_far_as_rows_allow(threshold, values, text):
    assert rounded_between(threshold, np.array(values)) == text
