"""LinearSHAP: closed forms, enumerated games, pipelines, sparse rows, bad input."""

import pickle
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestRegressor
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.linear_model import (
    LinearRegression,
    LogisticRegression,
    PoissonRegressor,
    Ridge,
    SGDClassifier,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, SplineTransformer, StandardScaler

from sklearn_interpret.exceptions import AdditivityWarning, UnreadableModelError
from sklearn_interpret.shapley import LinearSHAP
from tests.references.gaussian import conditional_values
from tests.references.shapley import enumerated
from tests.shapley.truth import interventional_truth
from tests.speeds import examples

pd = pytest.importorskip("pandas")

RNG = np.random.default_rng(0)
X = RNG.normal(size=(80, 5)) @ RNG.normal(size=(5, 5)) + [0, 1, 20, -3, 0]
Y = X @ [1.0, -2, 0, 0.5, 1] + RNG.normal(size=80)
THREE = np.digitize(Y, np.quantile(Y, [0.3, 0.6]))
WEIGHTS = RNG.uniform(0.1, 3, 80)
KINDS = ["interventional", "correlation"]
kinds = pytest.mark.parametrize("perturbation", KINDS)


def inspected(model, rows=X, **params):
    """An inspector of a fitted model with some rows as its background."""
    weights = params.pop("sample_weight", None)
    return LinearSHAP(FrozenEstimator(model), **params).fit(rows, sample_weight=weights)


def moments(rows, weights=None):
    mean = np.average(rows, axis=0, weights=weights)
    return mean, np.cov(rows.T, aweights=weights, ddof=0)


# The quantity


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["equal", "weights"])
def test_interventional_values_are_those_of_the_game(weights):
    model = Ridge().fit(X, Y)
    explanation = inspected(model, sample_weight=weights).explain(X[:4])
    expected = interventional_truth(model.predict, X[:4], X, weights=weights)[..., 0]
    assert_allclose(explanation.values, expected, atol=1e-12)
    base = np.average(model.predict(X), weights=weights)
    assert_allclose(explanation.base_values, base)
    assert explanation.standard_errors is None


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["equal", "weights"])
@pytest.mark.parametrize("groups", [None, {"g": [0, 3]}], ids=["alone", "groups"])
def test_correlated_values_are_those_of_conditional_means(weights, groups):
    model = Ridge().fit(X, Y)
    inspector = inspected(
        model, perturbation="correlation", feature_groups=groups, sample_weight=weights
    )
    explanation = inspector.explain(X[:4])
    expected = conditional_values(
        model.coef_, *moments(X, weights), X[:4], inspector.features_
    )
    assert_allclose(explanation.values, expected, atol=1e-9)
    assert explanation.standard_errors is None
    base = np.average(model.predict(X), weights=weights)
    assert_allclose(inspector.base_values_, base)


@kinds
@examples(10)
@given(seed=st.integers(0, 2**16))
def test_efficiency_and_dummies(perturbation, seed):
    """Shares add up, and columns without variance or coefficient get what is due."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(30, 4)).round(1) * 10.0 ** rng.integers(-3, 4, 4)
    rows[:, 1] = 0.1
    model = LinearRegression().fit(rows, rng.normal(size=30))
    model.coef_[2] = 0
    inspector = inspected(model, rows, perturbation=perturbation)
    explanation = inspector.explain(rows)
    size = np.abs(explanation.values).max() + np.abs(explanation.predictions).max()
    assert np.abs(explanation.additivity_error()).max() <= 1e-10 * size
    assert_array_equal(explanation.values[:, 1], 0)
    if perturbation == "interventional":
        assert_array_equal(explanation.values[:, 2], 0)


def test_what_correlation_changes():
    """The model looks at one of two columns that say the same."""
    rows = np.repeat(RNG.normal(size=(50, 1)), 2, axis=1)
    model = LinearRegression().fit(rows, rows[:, 0])
    model.coef_[:] = [2, 0]
    alone = inspected(model, rows).explain(rows[:3]).values
    shared = inspected(model, rows, perturbation="correlation").explain(rows[:3]).values
    assert_array_equal(alone[:, 1], 0)
    assert_allclose(shared, alone[:, :1] / 2 * [1, 1])


@kinds
@pytest.mark.parametrize("target", [None, 2])
def test_several_outputs(perturbation, target):
    model = LogisticRegression(max_iter=1000).fit(X, THREE)
    inspector = inspected(model, perturbation=perturbation, target=target)
    explanation = inspector.explain(X[:4])
    assert inspector.response_method_ == "decision_function"
    shown = [0, 1, 2] if target is None else [2]
    assert list(explanation.output_names) == shown
    scores = model.decision_function(X[:4])[:, shown]
    assert_allclose(explanation.predictions.reshape(4, -1), scores)
    if perturbation == "interventional":
        expected = (X[:4] - X.mean(axis=0))[:, :, None] * model.coef_[shown].T
    else:
        expected = conditional_values(model.coef_[shown].T, *moments(X), X[:4])
    values = explanation.values.reshape(expected.shape)
    assert_allclose(values, expected, atol=1e-9)


def test_binary_classes():
    model = LogisticRegression(max_iter=1000).fit(X, Y > 0)
    explanation = inspected(model).explain(X[:4])
    expected = interventional_truth(model.decision_function, X[:4], X)[..., 0]
    assert_allclose(explanation.values, expected, atol=1e-10)
    first = inspected(model, target=False).explain(X[:4])
    assert_allclose(first.values, -explanation.values)


def test_margins_of_log_links():
    model = PoissonRegressor().fit(X, np.exp(Y / 9))
    inspector = inspected(model)
    assert inspector.response_method_ == "margin"
    explanation = inspector.explain(X[:4])
    assert_allclose(explanation.predictions, np.log(model.predict(X[:4])))
    expected = model.coef_ * (X[:4] - X.mean(axis=0))
    assert_allclose(explanation.values, expected, atol=1e-12)


# Pipelines


def people():
    """Numbers with gaps and words, and a target."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 90, 70).astype(float),
            "town": rng.choice(["Bern", "Chur", "Genf"], 70),
            "height": rng.normal(170, 10, 70),
        }
    )
    y = frame["age"] * 0.1 + (frame["town"] == "Chur") * 3 + frame["height"] * 0.05
    frame.loc[::7, "age"] = np.nan
    return frame, y


def steps(sparse_threshold):
    return make_column_transformer(
        (OneHotEncoder(), ["town"]),
        (make_pipeline(SimpleImputer(add_indicator=True), StandardScaler()), ["age"]),
        (SplineTransformer(n_knots=3), ["height"]),
        sparse_threshold=sparse_threshold,
    )


def pipeline_truth(model, rows, background):
    """Values where absent columns of a frame come from the background's rows."""

    def value(coalition, row):
        mixed = background.copy()
        for name in coalition:
            column = rows.columns[name]
            one = rows[column].iloc[[row] * len(background)]
            mixed[column] = one.set_axis(background.index)
        return model.predict(mixed).mean()

    return np.array(
        [
            enumerated(lambda s, i=i: value(s, i), rows.shape[1])
            for i in range(len(rows))
        ]
    )


@pytest.mark.parametrize("threshold", [0, 1], ids=["dense", "sparse"])
def test_raw_columns_are_the_players(threshold):
    frame, y = people()
    model = make_pipeline(steps(threshold), Ridge()).fit(frame, y)
    assert sparse.issparse(model[0].transform(frame)) == threshold
    explanation = inspected(model, frame[20:]).explain(frame[:5])
    expected = pipeline_truth(model, frame[:5], frame[20:])
    assert_allclose(explanation.values, expected, atol=1e-10)
    assert explanation.feature_names == ("age", "town", "height")


def test_correlated_columns_of_a_pipeline():
    """One-hot columns determine each other; the players' columns go together."""
    frame, y = people()
    model = make_pipeline(steps(0), Ridge()).fit(frame, y)
    explanation = inspected(model, frame, perturbation="correlation").explain(frame[:4])
    derived = model[0].transform(frame)
    members = [[3, 4], [0, 1, 2], list(range(5, derived.shape[1]))]
    expected = conditional_values(
        model[1].coef_, *moments(derived), derived[:4], members
    )
    assert_allclose(explanation.values, expected, atol=1e-7)


# Rows


@kinds
def test_containers_give_the_same(perturbation):
    zeros = np.where(RNG.random(X.shape) < 0.6, 0, X)
    model = Ridge().fit(zeros, Y)
    dense = inspected(model, zeros, perturbation=perturbation).explain(zeros)
    for kind in (sparse.csr_array, sparse.csc_matrix, sparse.coo_array):
        rows = kind(zeros)
        found = inspected(model, rows, perturbation=perturbation).explain(rows)
        assert_allclose(found.values, dense.values, atol=1e-11)
        assert sparse.issparse(found.data)
    frame = pd.DataFrame(zeros, columns=list("abcde"))
    named = LinearSHAP(Ridge(), perturbation=perturbation).fit(frame, Y)
    assert_allclose(named.explain(frame).values, dense.values, atol=1e-11)
    assert named.player_names_ == list("abcde")


def test_text_stays_sparse():
    """Words as features; those that a text has not get less than their mean."""
    words = np.array([f"word{j}" for j in range(3000)])
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(words, 30)) for _ in range(200)]
    counts = CountVectorizer().fit_transform(texts)
    model = SGDClassifier(random_state=0).fit(counts, np.arange(200) % 2)
    explanation = inspected(model, counts).explain(counts[:20])
    mean = counts.toarray().mean(axis=0)
    expected = (counts[:20].toarray() - mean) * model.coef_
    assert_allclose(explanation.values, expected, atol=1e-10)


@kinds
@pytest.mark.parametrize("many", [False, True], ids=["few", "many"])
def test_a_row_alone_gets_the_same(perturbation, many):
    rows = np.c_[X, RNG.normal(size=(80, 15))] if many else X
    model = Ridge().fit(rows, Y)
    inspector = inspected(model, rows, perturbation=perturbation, random_state=0)
    together = inspector.explain(rows)
    alone = np.concatenate([inspector.explain(rows[[i]]).values for i in range(80)])
    same = partial(assert_allclose, rtol=1e-10, atol=1e-10)
    same(alone, together.values)
    backwards = inspector.explain(rows[::-1]).values
    same(backwards[::-1], together.values)
    sampled = many and perturbation == "correlation"
    assert (together.standard_errors is not None) == sampled
    copy = pickle.loads(pickle.dumps(inspector))
    assert_array_equal(copy.explain(rows).values, together.values)
    workers = LinearSHAP(
        FrozenEstimator(model), perturbation=perturbation, random_state=0, n_jobs=2
    ).fit(rows)
    same(workers.explain(rows).values, together.values)


@kinds
def test_small_tables(perturbation):
    """One row, one column, columns that do not vary."""
    one = inspected(Ridge().fit(X, Y), X[:1], perturbation=perturbation)
    assert_array_equal(one.explain(X[:1]).values, 0)
    expected = one.estimator_.coef_ * (X[1:3] - X[0])
    assert_allclose(one.explain(X[1:3]).values, expected)
    single = inspected(Ridge().fit(X[:, :1], Y), X[:, :1], perturbation=perturbation)
    found = single.explain(X[:5, :1])
    assert_allclose(
        found.values[:, 0], found.predictions - single.base_values_, atol=1e-12
    )


def test_the_background_and_importances():
    model = Ridge().fit(X, Y)
    inspector = inspected(model, background=X[:7])
    expected = model.coef_ * (X - X[:7].mean(axis=0))
    assert_allclose(inspector.explain(X).values, expected, atol=1e-12)
    sizes = np.abs(expected).mean(axis=0)
    assert_allclose(inspector.feature_importances_, sizes)
    drawn = inspected(model, subsample=20, random_state=0)
    others = inspected(model, subsample=20, random_state=1)
    assert drawn.base_values_ != others.base_values_


# Bad input


def test_models_and_responses_that_are_not_linear():
    with pytest.raises(UnreadableModelError, match="RandomForestRegressor can't be"):
        LinearSHAP(RandomForestRegressor(2, random_state=0)).fit(X, Y)
    classifier = LinearSHAP(
        LogisticRegression(max_iter=1000), response_method="predict_proba"
    )
    with pytest.raises(UnreadableModelError, match=r'predict_proba".*"auto"'):
        classifier.fit(X, Y > 0)


def test_answers_that_are_not_linear_are_told(monkeypatch):
    inspector = LinearSHAP(Ridge()).fit(X, Y)
    predict = Ridge.predict
    # Linear in the rows that it was fitted on, and not beyond.
    cut = lambda self, X: np.minimum(predict(self, X), 100)  # noqa: E731
    monkeypatch.setattr(Ridge, "predict", cut)
    with pytest.warns(AdditivityWarning, match=r"1 of 2 rows.*row 1"):
        inspector.explain(np.array([X[0], 1000 * np.sign(inspector.estimator_.coef_)]))


def test_missing_values_are_the_models_affair():
    rows = X.copy()
    rows[3, 1] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        inspected(Ridge().fit(X, Y), rows)
    with pytest.raises(ValueError, match="NaN"):
        inspected(Ridge().fit(X, Y)).explain(rows)


@pytest.mark.thorough
def test_covariances_that_fill_the_memory():
    rows = sparse.csr_array((5, 20_000))
    model = Ridge().fit(rows, np.arange(5.0))
    with pytest.raises(ValueError, match=r"covariance of 20000 columns.*10000"):
        inspected(model, rows, perturbation="correlation")


def test_values_beyond_the_largest_float_are_an_error():
    model = LinearRegression().fit(np.eye(2), [0, 1])
    model.coef_, model.intercept_ = np.array([1.0, 0.0]), 0.0
    inspector = LinearSHAP(FrozenEstimator(model), background=[[-1.7e308, 0]])
    with pytest.raises(ValueError, match=r"response is beyond 1e\+75"):
        inspector.fit(np.eye(2))
