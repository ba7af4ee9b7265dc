"""DeletionDiagnostics against plain refits without each row."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.compose import make_column_transformer
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
from sklearn.metrics import log_loss
from sklearn.naive_bayes import BernoulliNB, ComplementNB, GaussianNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    StandardScaler,
)
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from sklearn_interpret._model.responses.response import make_response
from sklearn_interpret.exceptions import CostlyInspectionWarning, NonFiniteResponseError
from sklearn_interpret.influence import (
    DeletionDiagnostics,
    InfluenceFunctions,
    RegressionInfluence,
    _deletion_diagnostics,
)

RNG = np.random.default_rng(0)
N = 24
X = RNG.normal(size=(N, 3)).round(2)
NUMBERS = X[:, 0] + RNG.normal(size=N).round(2)
POSITIVE = np.exp(NUMBERS)
TWO = np.where(NUMBERS > 0, "yes", "no")
THREE = np.array(["low", "mid", "high"])[np.digitize(NUMBERS, [-0.5, 0.5])]
COUNTS = RNG.integers(0, 5, size=(N, 3)).astype(float)
WEIGHTS = RNG.integers(1, 4, size=N).astype(float)
TIGHT = {"tol": 1e-12, "max_iter": 10000}
NEWTON_STEPS = {"solver": "newton-cholesky", "tol": 1e-10}

NEWTON = [
    (LinearRegression(), NUMBERS),
    (LinearRegression(fit_intercept=False), np.c_[NUMBERS, POSITIVE]),
    (Ridge(alpha=2.0), NUMBERS),
    (RidgeClassifier(), THREE),
    (LogisticRegression(**TIGHT), TWO),
    (LogisticRegression(class_weight={"yes": 3.0, "no": 1.0}, **TIGHT), TWO),
    (LogisticRegression(fit_intercept=False, **TIGHT), THREE),
    (LogisticRegression(**TIGHT), THREE),
    (PoissonRegressor(**NEWTON_STEPS), POSITIVE),
    (GammaRegressor(alpha=0.1, **NEWTON_STEPS), POSITIVE),
    (TweedieRegressor(power=1.5, **NEWTON_STEPS), POSITIVE),
    (LinearSVC(**TIGHT), TWO),
    (LinearSVC(**TIGHT), THREE),
]
COUNTED = [
    (GaussianNB(), THREE),
    (GaussianNB(priors=[0.3, 0.7], var_smoothing=0.1), TWO),
    (MultinomialNB(), THREE),
    (BernoulliNB(alpha=0.5), TWO),
    (ComplementNB(), THREE),
]
WEIGHTED = [("newton", *pair) for pair in NEWTON]
WEIGHTED += [("sufficient_statistics", *pair) for pair in COUNTED]
WEIGHTED += [("refit", DecisionTreeClassifier(max_depth=2, random_state=0), THREE)]
NEIGHBORS = [
    (KNeighborsClassifier(3), THREE),
    (KNeighborsClassifier(3, weights="distance"), TWO),
    (KNeighborsRegressor(2), np.c_[NUMBERS, POSITIVE]),
    (KNeighborsRegressor(4, weights="distance", metric="manhattan"), NUMBERS),
    (KNeighborsRegressor(4, weights=lambda d: np.exp(-d)), NUMBERS),
]


class OtherRidge(Ridge):
    """A subclass that fits in a way of its own."""

    def fit(self, X, y, sample_weight=None):
        shrunk = Ridge(alpha=len(y)).fit(X, y, sample_weight)
        self.coef_, self.intercept_ = shrunk.coef_, shrunk.intercept_
        return self


def table_for(model):
    """Counts for a model of counts."""
    return COUNTS if isinstance(model, MultinomialNB | ComplementNB) else X


def responses_without(model, table, y, kept, weights=None, method="auto"):
    """Responses to all rows of a model fitted on some of them."""
    given = {} if weights is None else {"sample_weight": weights[kept]}
    part = table.iloc[kept] if hasattr(table, "iloc") else table[kept]
    fitted = clone(model).fit(part, y[kept], **given)
    return make_response(fitted, method)(table)


def changes(model, table, y, groups=None, **how):
    """Changes of the responses, by plain refits."""
    groups = np.arange(len(y)) if groups is None else groups
    everything = np.ones(len(y), dtype=bool)
    base = responses_without(model, table, y, everything, **how)
    found = [
        responses_without(model, table, y, groups != group, **how) - base
        for group in np.unique(groups)
    ]
    found = np.array(found)
    return found[:, :, 0] if found.shape[2] == 1 else found


def mean_sizes(found, weights=None):
    """Mean absolute change over rows and outputs."""
    sizes = np.abs(found.reshape(*found.shape[:2], -1)).mean(axis=2)
    return np.average(sizes, axis=1, weights=weights)


@pytest.mark.thorough(after=5)
@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weighted"])
@pytest.mark.parametrize(("method", "model", "y"), WEIGHTED)
def test_equals_refits(method, model, y, weights):
    table = table_for(model)
    found = DeletionDiagnostics(model).fit(table, y, sample_weight=weights)
    expected = changes(model, table, y, weights=weights)
    assert found.method_ == method
    assert_allclose(found.prediction_changes_, expected, atol=1e-6)
    assert_allclose(found.influence_, mean_sizes(expected, weights), atol=1e-6)


@pytest.mark.parametrize(("model", "y"), NEIGHBORS)
def test_neighbors_equal_refits(model, y):
    found = DeletionDiagnostics(model).fit(X, y)
    assert found.method_ == "neighbors"
    assert_allclose(found.prediction_changes_, changes(model, X, y), atol=1e-12)


@pytest.mark.parametrize(
    ("method", "model", "y"),
    [
        ("newton", Ridge(), NUMBERS),
        ("newton", LogisticRegression(**TIGHT), THREE),
        ("neighbors", KNeighborsClassifier(3), TWO),
        ("sufficient_statistics", GaussianNB(), TWO),
        ("refit", DecisionTreeClassifier(max_depth=2, random_state=0), TWO),
    ],
)
def test_groups_of_rows(method, model, y):
    groups = np.array(["b", "a", "d", "c"])[np.arange(N) % 4]
    found = DeletionDiagnostics(model, groups=groups).fit(X, y)
    assert_array_equal(found.group_labels_, list("abcd"))
    expected = changes(model, X, y, groups)
    assert found.method_ == method
    assert_allclose(found.prediction_changes_, expected, atol=1e-6)
    assert not hasattr(found, "row_indices_")
    target = None if expected.ndim == 2 else "low"
    explanation = found.set_params(target=target).explain(X[:2])
    assert explanation.training_names == ("a", "b", "c", "d")
    assert explanation.training_data is None


@pytest.mark.parametrize(
    ("method", "steps"),
    [
        ("newton", [Normalizer()]),
        ("newton", [FunctionTransformer(np.exp), PolynomialFeatures(2)]),
        ("newton", ["passthrough"]),
        ("newton", [FrozenEstimator(StandardScaler().fit(X))]),
        ("refit", [StandardScaler()]),
        # No step of its own state, but not row by row.
        ("refit", [FunctionTransformer(lambda X: X - X.mean(axis=0))]),
    ],
)
def test_pipelines_are_fitted_again_as_a_whole(method, steps):
    model = make_pipeline(*steps, Ridge())
    found = DeletionDiagnostics(model).fit(X, NUMBERS)
    assert found.method_ == method
    assert_allclose(found.prediction_changes_, changes(model, X, NUMBERS), atol=1e-9)


@pytest.mark.thorough(after=2)
@pytest.mark.parametrize(
    ("method", "encoder", "towns"),
    [
        ("newton", OneHotEncoder(drop="first"), "AABBB"),
        ("newton", OrdinalEncoder(), "AABBB"),
        ("newton", OneHotEncoder(categories=[["A", "B", "C"]]), "AABBC"),
        ("refit", OneHotEncoder(handle_unknown="ignore"), "ABBBB"),
        ("refit", OneHotEncoder(min_frequency=2, handle_unknown="ignore"), "AABBB"),
    ],
)
def test_encoders_stay_where_their_levels_do(method, encoder, towns):
    frame = pd.DataFrame(X[:10], columns=list("abc"))
    frame["town"] = list(towns[0] + towns[1:] * 3)[:10]
    if method == "newton":
        frame.loc[9, "town"] = frame["town"][0]
    chosen = make_column_transformer((encoder, ["town"]), remainder="passthrough")
    model = make_pipeline(chosen, Ridge())
    found = DeletionDiagnostics(model).fit(frame, NUMBERS[:10])
    assert found.method_ == method
    expected = changes(model, frame, NUMBERS[:10])
    assert_allclose(found.prediction_changes_, expected, atol=1e-9)


@pytest.mark.parametrize("last", [KNeighborsRegressor(3), GaussianNB()])
def test_other_shortcuts_behind_steps(last):
    model, y = make_pipeline(Normalizer(), last), (NUMBERS > 0).astype(int)
    found = DeletionDiagnostics(model).fit(X, y)
    assert found.method_ != "refit"
    assert_allclose(found.prediction_changes_, changes(model, X, y), atol=1e-9)


@pytest.mark.parametrize(
    ("model", "y"),
    [
        (LogisticRegression(class_weight="balanced", **TIGHT), TWO),
        (LinearRegression(positive=True), NUMBERS),
        (OtherRidge(), NUMBERS),
        (LinearSVC(C=0.1, loss="hinge", random_state=0, max_iter=10**5), TWO),
    ],
)
def test_no_shortcut_where_it_is_not_exact(model, y):
    found = DeletionDiagnostics(model, rows=[0, 5]).fit(X, y)
    assert found.method_ == "refit"
    expected = changes(model, X, y)[[0, 5]]
    assert_allclose(found.prediction_changes_, expected, atol=1e-9)


@pytest.mark.parametrize("C", [1.0, 300.0, 1e5])
def test_nearly_separable_classes(C):
    table = np.array([[-3.0], [-2], [-1], [1], [2], [3]])
    y = (table[:, 0] > 0).astype(int)
    model = LogisticRegression(C=C, solver="newton-cholesky", tol=1e-12)
    found = DeletionDiagnostics(model).fit(table, y)
    own = clone(model).fit(table, y)
    for i in range(6):
        other = clone(model).fit(np.delete(table, i, axis=0), np.delete(y, i))
        change = other.coef_[0, 0] - own.coef_[0, 0]
        assert_allclose(found.parameter_changes_[i, 0], change, atol=1e-5)
    functions = InfluenceFunctions(model).fit(table, y)
    assert_allclose(functions.parameter_changes_, found.parameter_changes_, rtol=0.03)
    diagnostics = RegressionInfluence(model, approximation="refit").fit(table, y)
    assert_allclose(diagnostics.dfbeta_, -found.parameter_changes_, atol=1e-7)


@pytest.mark.parametrize("row", [None, 3], ids=["separable", "separable without one"])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_classes_that_are_separable_have_no_optimum(row):
    y = (X[:, 0] > 0).astype(int)
    if row is not None:
        y[row] = 1 - y[row]
    model = LogisticRegression(C=np.inf)
    found = DeletionDiagnostics(model).fit(X, y)
    assert found.method_ == "refit"
    assert_allclose(found.prediction_changes_, changes(model, X, y), atol=1e-9)


@pytest.mark.parametrize("twice", [False, True], ids=["leverage one", "rank deficient"])
def test_parameters_that_the_others_do_not_determine(twice):
    alone = np.zeros((N, 1))
    alone[3] = 1.0
    table = np.hstack([X, X[:, :1] if twice else alone])
    found = DeletionDiagnostics(LinearRegression()).fit(table, NUMBERS)
    assert found.method_ == "refit"
    expected = changes(LinearRegression(), table, NUMBERS)
    assert_allclose(found.prediction_changes_, expected, atol=1e-9)


def test_a_variance_that_one_row_makes_is_not_left_to_rounding():
    table, y = X.copy(), np.where(np.arange(N) < 5, "few", "many")
    table[:5, 0] = [0.1, 0.101, 0.102, 0.099, 1e6]
    found = DeletionDiagnostics(GaussianNB()).fit(table, y)
    assert found.method_ == "sufficient_statistics"
    expected = changes(GaussianNB(), table, y)
    assert_allclose(found.prediction_changes_, expected, atol=1e-6)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_model_of_one_row_that_gives_no_numbers_is_refused():
    with pytest.raises(NonFiniteResponseError, match="not finite"):
        DeletionDiagnostics(GaussianNB()).fit([[0.0, 1.0], [1.0, 0.0]], [0, 1])


@pytest.mark.parametrize(
    "model",
    [
        DecisionTreeClassifier(max_depth=3, random_state=0),
        LogisticRegression(**TIGHT),
        GaussianNB(),
        KNeighborsClassifier(3),
    ],
)
def test_a_class_that_is_gone_has_zeros(model):
    y = TWO.astype(object)
    y[4] = "just one"
    found = DeletionDiagnostics(model).fit(X, y)
    assert found.method_ == "refit"
    kept = np.arange(N) != 4
    without = clone(model).fit(X[kept], y[kept]).predict_proba(X)
    expected = np.hstack([np.zeros((N, 1)), without])
    with_all = clone(model).fit(X, y).predict_proba(X)
    assert_allclose(found.prediction_changes_[4], expected - with_all, atol=1e-9)


def test_a_decision_function_has_no_column_for_a_class_that_is_gone():
    y = THREE.copy()
    y[y == "low"] = "mid"
    y[4] = "low"
    diagnostics = DeletionDiagnostics(RidgeClassifier())
    with pytest.raises(ValueError, match="no column for the class 'low'"):
        diagnostics.fit(X, y)


def test_a_model_that_cannot_be_fitted_without_a_row():
    y = np.zeros(N)
    y[7] = 1.0
    diagnostics = DeletionDiagnostics(LogisticRegression())
    with pytest.raises(ValueError, match="without row 7 of the n_samples=24 rows"):
        diagnostics.fit(X, y)


@pytest.mark.parametrize(
    "method",
    [
        *("predict_proba", "decision_function", "predict"),
        *("predict_log_proba", "centered_log_proba"),
    ],
)
@pytest.mark.parametrize("y", [TWO, THREE], ids=["two", "three"])
def test_responses_of_a_classifier(method, y):
    model = LogisticRegression(**TIGHT)
    found = DeletionDiagnostics(model, response_method=method).fit(X, y)
    assert found.method_ == "newton"
    expected = changes(model, X, y, method=method)
    assert_allclose(found.prediction_changes_, expected, atol=2e-6)


def test_target():
    model = LogisticRegression(**TIGHT)
    found = DeletionDiagnostics(model, target="mid").fit(X, THREE)
    expected = changes(model, X, THREE)[:, :, 2]
    assert found.output_names_ == ["mid"]
    assert_allclose(found.prediction_changes_, expected, atol=1e-6)
    explanation = found.explain(X[:5])
    assert_allclose(explanation.values, expected[:, :5].T, atol=1e-6)


def test_parameters():
    model = make_pipeline(StandardScaler(), Ridge())
    found = DeletionDiagnostics(model, what="parameters").fit(X, NUMBERS)
    own = clone(model).fit(X, NUMBERS)[-1]
    for i in range(N):
        kept = np.arange(N) != i
        other = clone(model).fit(X[kept], NUMBERS[kept])[-1]
        expected = np.append(other.coef_ - own.coef_, other.intercept_ - own.intercept_)
        assert_allclose(found.parameter_changes_[i], expected, atol=1e-9)
    sizes = np.abs(found.parameter_changes_).mean(axis=1)
    assert_allclose(found.influence_, sizes)
    assert not hasattr(found, "prediction_changes_")


def test_parameters_of_several_outputs_stand_input_by_input():
    found = DeletionDiagnostics(LogisticRegression(**TIGHT)).fit(X, THREE)
    own = LogisticRegression(**TIGHT).fit(X, THREE)
    other = LogisticRegression(**TIGHT).fit(X[1:], THREE[1:])
    expected = np.append(
        (other.coef_ - own.coef_).T.ravel(), other.intercept_ - own.intercept_
    )
    assert_allclose(found.parameter_changes_[0], expected, atol=1e-6)


@pytest.mark.parametrize(
    ("model", "y"),
    [
        (Ridge(), NUMBERS),
        (Ridge(), np.c_[NUMBERS, POSITIVE]),
        (MLPRegressor(hidden_layer_sizes=2, max_iter=2, random_state=0), NUMBERS),
    ],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_squared_losses(model, y):
    found = DeletionDiagnostics(model, what="loss", rows=range(4)).fit(X, y)
    base = clone(model).fit(X, y).predict(X)
    for i in range(4):
        kept = np.arange(N) != i
        other = clone(model).fit(X[kept], y[kept]).predict(X)
        expected = (other - y) ** 2 - (base - y) ** 2
        expected = expected.reshape(N, -1).mean(axis=1)
        assert_allclose(found.loss_changes_[i], expected, atol=1e-9)
    sizes = np.abs(found.loss_changes_).mean(axis=1)
    assert_allclose(found.influence_, sizes)
    assert_allclose(found.explain(X, y).values, found.loss_changes_.T)


def loss_of_rows(response, y, fitted):
    """The loss that goes with a response, row by row, by scikit-learn where it can."""
    if response == "predict_proba":
        proba, labels = fitted.predict_proba(X), fitted.classes_
        rows = zip(y, proba, strict=True)
        return [log_loss([label], [p], labels=labels) for label, p in rows]
    if response == "predict":
        return (fitted.predict(X) != y).astype(float)
    scores = fitted.decision_function(X).reshape(N, -1)
    signs = np.where(y[:, None] == fitted.classes_[-scores.shape[1] :], 1, -1)
    return (np.maximum(1 - signs * scores, 0) ** 2).sum(axis=1)


@pytest.mark.parametrize("response", ["predict_proba", "predict", "decision_function"])
@pytest.mark.parametrize("y", [TWO, THREE], ids=["two", "three"])
def test_losses_of_classes(response, y):
    model = LogisticRegression(**TIGHT)
    found = DeletionDiagnostics(model, what="loss", response_method=response)
    found.fit(X, y)
    base = loss_of_rows(response, y, clone(model).fit(X, y))
    kept = np.arange(N) != 2
    other = loss_of_rows(response, y, clone(model).fit(X[kept], y[kept]))
    assert_allclose(found.loss_changes_[2], np.subtract(other, base), atol=1e-5)
    own = clone(model).fit(X, y).predict(X)
    assert_allclose(found.explain(X).values, found.explain(X, own).values)


def test_an_explanation_of_a_frame():
    frame = pd.DataFrame(X, columns=list("abc"), index=[f"row {i}" for i in range(N)])
    frame["town"] = pd.Categorical(np.array(["A", "B"])[np.arange(N) % 2])
    model = make_pipeline(
        make_column_transformer((OneHotEncoder(), ["town"]), remainder="passthrough"),
        Ridge(),
    )
    y = pd.Series(NUMBERS, index=frame.index, name="cost")
    before = frame.copy(deep=True)
    found = DeletionDiagnostics(model, rows=[5, 2]).fit(frame, y)
    pd.testing.assert_frame_equal(frame, before)
    expected = changes(model, frame, NUMBERS)[[5, 2]]
    assert_allclose(found.prediction_changes_, expected, atol=1e-9)
    explanation = found.explain(frame.iloc[:3])
    assert_allclose(explanation.values, expected[:, :3].T, atol=1e-9)
    assert explanation.training_names == ("row 5", "row 2")
    assert explanation.training_data.equals(frame.iloc[[5, 2]])
    assert explanation.training_targets.tolist() == NUMBERS[[5, 2]].tolist()
    assert explanation.target_name == "cost"
    assert explanation.feature_names == ("a", "b", "c", "town")


def test_parameters_need_the_same_number_in_each_fit():
    """Without its only row, a category has no column."""
    frame = pd.DataFrame({"town": ["A"] * (N - 1) + ["B"]})
    model = make_pipeline(OneHotEncoder(handle_unknown="ignore"), Ridge())
    found = DeletionDiagnostics(model).fit(frame, NUMBERS)
    assert not hasattr(found, "parameter_changes_")
    with pytest.raises(ValueError, match="what='parameters'"):
        found.set_params(what="parameters").fit(frame, NUMBERS)


def test_sparse_counts():
    table = sparse.csr_array(COUNTS)
    found = DeletionDiagnostics(MultinomialNB()).fit(table, TWO)
    assert found.method_ == "sufficient_statistics"
    expected = changes(MultinomialNB(), COUNTS, TWO)
    assert_allclose(found.prediction_changes_, expected, atol=1e-9)


def test_rows_and_subsample():
    everything = DeletionDiagnostics(Ridge()).fit(X, NUMBERS)
    flags = np.arange(N) % 5 == 0
    found = DeletionDiagnostics(Ridge(), rows=flags, subsample=7, random_state=0)
    found.fit(X, NUMBERS)
    assert found.row_indices_.tolist() == [0, 5, 10, 15, 20]
    assert len(found.sample_indices_) == 7
    expected = everything.prediction_changes_[flags][:, found.sample_indices_]
    assert_allclose(found.prediction_changes_, expected, atol=1e-12)
    names = found.explain(X[:1]).training_names
    assert names == (0, 5, 10, 15, 20)


def test_rows_of_weight_zero_are_not_left_out():
    weights = np.where(np.arange(N) < 4, 0.0, 1.0)
    for model in (Ridge(), DecisionTreeClassifier(max_depth=2, random_state=0)):
        y = NUMBERS if isinstance(model, Ridge) else TWO
        found = DeletionDiagnostics(model).fit(X, y, sample_weight=weights)
        without = DeletionDiagnostics(model).fit(X[4:], y[4:])
        assert found.row_indices_.tolist() == list(range(4, N))
        assert_allclose(found.influence_, without.influence_, atol=1e-12)


def test_all_the_weight_of_a_row_is_left_out():
    """A row of weight two is a group of two rows."""
    heavy = DeletionDiagnostics(Ridge()).fit(X, NUMBERS, sample_weight=WEIGHTS)
    counts = WEIGHTS.astype(int)
    groups = np.repeat(np.arange(N), counts)
    copies = DeletionDiagnostics(Ridge(), groups=groups)
    copies.fit(np.repeat(X, counts, axis=0), np.repeat(NUMBERS, counts))
    assert_allclose(heavy.influence_, copies.influence_, atol=1e-12)
    assert_allclose(heavy.parameter_changes_, copies.parameter_changes_, atol=1e-12)


@pytest.mark.parametrize(
    ("model", "y"),
    [
        (KNeighborsClassifier(3), TWO),
        (GaussianNB(), TWO),
        (LogisticRegression(**TIGHT), TWO),
        (DecisionTreeClassifier(max_depth=2, random_state=0), TWO),
    ],
)
def test_a_frozen_model(model, y):
    frozen = FrozenEstimator(clone(model).fit(X, y))
    found = DeletionDiagnostics(frozen).fit(X, y)
    fitted = DeletionDiagnostics(model).fit(X, y)
    assert found.method_ == fitted.method_
    assert_allclose(found.influence_, fitted.influence_, atol=1e-9)


@pytest.mark.parametrize("model", [KNeighborsClassifier(3), GaussianNB()])
def test_a_frozen_model_of_other_rows_has_no_shortcut(model):
    frozen = FrozenEstimator(clone(model).fit(X[:12], TWO[:12]))
    assert DeletionDiagnostics(frozen).fit(X, TWO).method_ == "refit"


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        ({"rows": []}, "rows="),
        ({"rows": [1, 1]}, "rows="),
        ({"rows": [0.5]}, "rows="),
        ({"rows": [True, False]}, "rows="),
        ({"rows": [-1]}, "rows has -1"),
        ({"rows": [N]}, "counted from 0"),
        ({"groups": [1, 2]}, "groups has the shape"),
        ({"groups": "site"}, "groups"),
        ({"groups": [1] * N}, "no row would stay"),
        ({"groups": np.array([1, "a"] * (N // 2), object)}, "groups has labels"),
        ({"groups": list(range(N)), "rows": [0]}, "rows must be None"),
        ({"what": "loss", "target": "yes"}, "target='yes'"),
        ({"what": "loss", "response_method": "predict_log_proba"}, "no loss of"),
    ],
)
def test_bad_parameters(bad, words):
    with pytest.raises(ValueError, match=words):
        DeletionDiagnostics(LogisticRegression(), **bad).fit(X, TWO)


@pytest.mark.parametrize("n_classes", [3, 4])
def test_scores_of_pairs_of_classes_have_no_loss(n_classes):
    model = make_pipeline(StandardScaler(), SVC(decision_function_shape="ovo"))
    y = np.arange(N) % n_classes
    with pytest.raises(ValueError, match="knows no loss"):
        DeletionDiagnostics(model, what="loss", rows=[0]).fit(X, y)


def test_bad_rows_to_explain():
    found = DeletionDiagnostics(LogisticRegression(), what="loss").fit(X, TWO)
    with pytest.raises(ValueError, match="y has 'maybe'"):
        found.explain(X[:2], ["yes", "maybe"])
    with pytest.raises(ValueError, match="inconsistent"):
        found.explain(X[:2], ["yes"])
    several = DeletionDiagnostics(LogisticRegression()).fit(X, THREE)
    with pytest.raises(ValueError, match="target=None"):
        several.explain(X[:2])


def test_targets_are_needed():
    frozen = FrozenEstimator(Ridge().fit(X, NUMBERS))
    with pytest.raises(ValueError, match="requires y to be passed"):
        DeletionDiagnostics(frozen).fit(X)


def test_one_row():
    with pytest.raises(ValueError, match="n_samples=1"):
        DeletionDiagnostics(LinearRegression()).fit(X[:1], NUMBERS[:1])


def test_many_changes_are_announced(monkeypatch):
    monkeypatch.setattr(_deletion_diagnostics, "_MANY_MEGABYTES", 8e-6 * N * N - 1e-9)
    with pytest.warns(CostlyInspectionWarning, match="Leave out fewer rows"):
        DeletionDiagnostics(LinearRegression()).fit(X, NUMBERS)
    DeletionDiagnostics(LinearRegression(), rows=[0, 5]).fit(X, NUMBERS)
