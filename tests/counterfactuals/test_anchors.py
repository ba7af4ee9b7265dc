"""Anchors of tables: what rules say, for whom they hold, and whether that is true."""

from itertools import combinations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_iris
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils.validation import validate_data

from sklearn_interpret._core.local.anchors import Anchor
from sklearn_interpret.counterfactuals import Anchors
from sklearn_interpret.exceptions import NoAnchorWarning
from sklearn_interpret.explanations import Condition
from tests.speeds import examples

# Where the model's limits are no edges of bins, some rows have no rule.
noise = pytest.mark.filterwarnings(
    "ignore::sklearn_interpret.exceptions.NoAnchorWarning"
)


class ByRule(ClassifierMixin, BaseEstimator):
    """A classifier that is a function of the rows."""

    def __init__(self, rule):
        self.rule = rule

    def fit(self, X, y=None):
        self.classes_ = np.array(["no", "yes"])
        validate_data(self, X, skip_check_array=True)
        return self

    def predict(self, X):
        return np.where(self.rule(X), "yes", "no")


def by_rule(rule, X, **params):
    params = {"random_state": 0, "n_samples": 500, **params}
    return Anchors(FrozenEstimator(ByRule(rule).fit(X)), **params).fit(X)


@pytest.fixture(scope="module")
def numbers():
    return np.random.default_rng(0).normal(size=(400, 4))


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 80, size=300),
            "income": rng.gamma(2.0, 20.0, size=300).astype(np.float32),
            "job": pd.Categorical(rng.choice(["cook", "nurse", "smith"], size=300)),
            "owner": rng.random(300) < 0.5,
            "constant": 1.0,
        }
    )
    frame.loc[::7, "income"] = np.nan
    return frame


@pytest.mark.parametrize("dtype", [int, np.float32])
def test_a_column_of_two_whole_numbers_has_two_values(dtype):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"smokes": rng.integers(2, size=200).astype(dtype)})
    X["age"] = rng.normal(40, 9, 200)
    inspector = by_rule(lambda X: np.asarray(X)[:, 0] == 1, X)
    explanation = inspector.explain(X.iloc[[0, 1, 2, 3, 4]])
    texts = [explanation.text(row) for row in range(5)]
    assert texts == [f"smokes = {value:g}" for value in X["smokes"][:5]]
    assert_array_equal(
        explanation.holds(X), X["smokes"].to_numpy() == X[["smokes"]].to_numpy()[:5]
    )


def test_the_rule_of_a_conjunction(numbers):
    def rule(X):
        return (X[:, 1] > np.quantile(numbers[:, 1], 0.75, method="inverted_cdf")) & (
            X[:, 3] <= np.quantile(numbers[:, 3], 0.25, method="inverted_cdf")
        )

    yes = numbers[rule(numbers)]
    explanation = by_rule(rule, numbers).explain(yes[:3])
    for found in explanation.rules:
        assert [condition.feature for condition in found] == [1, 3]
    assert_array_equal(explanation.status, "found")
    assert_array_equal(explanation.answers, "yes")
    assert_array_equal(explanation.precision, 1)
    assert_allclose(explanation.coverage, len(yes) / len(numbers))


def coverage(rule, X):
    """Share of the rows for which all conditions hold."""
    return np.logical_and.reduce([c.holds(X) for c in rule], initial=True).mean()


def precision_of(rule, row, model, X, rng, n_draws=1000):
    """Precision of a rule, by a loop over its conditions."""
    Z = X[rng.integers(len(X), size=n_draws)]
    for condition in rule:
        known, unmet = X[condition.holds(X)], ~condition.holds(Z)
        j = condition.feature
        Z[unmet, j] = rng.choice(known[:, j], size=unmet.sum())
    return np.mean(model.predict(Z) == model.predict(row[None]))


@pytest.fixture(scope="module")
def iris():
    """A forest, its rows, and anchors of some of them."""
    X, y = load_iris(return_X_y=True)
    model = RandomForestClassifier(5, random_state=0).fit(X, y)
    inspector = Anchors(FrozenEstimator(model), random_state=0, n_samples=500).fit(X)
    with pytest.warns(NoAnchorWarning, match="more bins"):
        return model, X, X[::9], inspector.explain(X[::9])


def test_rules_hold_for_their_rows_and_coverage_is_counted(iris):
    _, X, rows, explanation = iris
    assert explanation.holds(rows).diagonal().all()
    assert explanation.holds(X).shape == (len(rows), len(X))
    assert_allclose(explanation.coverage, explanation.holds(X).mean(axis=1))


def test_reasons_say_no_more_than_is_proved():
    inspector = Anchors(RandomForestClassifier())
    for low in (0.8, 0.9497):
        reason = inspector._why_no_rule(Anchor((), False, 0.99, low, 1.0, 1.0))
        assert f"at least {str(low)[:5]} only" in reason


def test_precision_holds_on_fresh_draws(iris):
    model, X, rows, explanation = iris
    rng = np.random.default_rng(1)
    true = np.array(
        [
            precision_of(rule, row, model, X, rng)
            for row, rule in zip(rows, explanation.rules, strict=True)
        ]
    )
    found = explanation.status == "found"
    assert found.any()
    assert np.mean(true[found] >= 0.95) >= 0.95
    slack = 0.03  # of the 1000 draws
    assert (true >= explanation.precision_low - slack).all()
    assert (true <= explanation.precision_high + slack).all()


def test_rules_are_as_wide_as_any(iris):
    """Against all rules of the row's own bins."""
    model, X, rows, explanation = iris
    rng = np.random.default_rng(2)
    edges = np.quantile(X, [0.25, 0.5, 0.75], axis=0, method="inverted_cdf")
    for one, row in zip(explanation[::3], rows[::3], strict=True):
        ends = [[None, *edges[:, j].tolist(), None] for j in range(4)]
        bins = [np.searchsorted(edges[:, j], row[j]) for j in range(4)]
        conditions = [
            Condition(j, f"x{j}", ends[j][bins[j]], ends[j][bins[j] + 1])
            for j in range(4)
        ]
        wider = [
            rule
            for size in range(5)
            for rule in combinations(conditions, size)
            if one.status[0] == "failed" or coverage(rule, X) > one.coverage[0] + 1e-9
        ]
        for rule in wider:
            assert precision_of(rule, row, model, X, rng) < 0.97


def test_categories_booleans_and_missing_values(people):
    def rule(X):
        return np.asarray(X["income"].isna() & (X["job"] == "nurse") & ~X["owner"])

    yes = people[rule(people)]
    explanation = by_rule(rule, people).explain(yes[:2])
    assert explanation.text(0) == "income is missing and job = nurse and owner = False"
    assert_array_equal(explanation.holds(people)[0], rule(people))
    assert explanation.feature_names == tuple(people.columns)
    assert explanation.to_frame().index.equals(yes.index[:2])


@noise
def test_polars_gives_what_pandas_gives(people):
    def by_pandas(X):
        return np.asarray((X["age"] > 60) & (X["job"] == "cook"))

    def by_polars(X):
        return ((X["age"] > 60) & (X["job"] == "cook")).to_numpy()

    frame = people.drop(columns="income")
    same = pl.DataFrame(
        {
            name: frame[name].astype(str).tolist()
            if name == "job"
            else frame[name].to_numpy()
            for name in frame
        }
    )
    one = by_rule(by_pandas, frame).explain(frame[:10])
    other = by_rule(by_polars, same).explain(same[:10])
    assert [one.text(row) for row in range(10)] == [other.text(r) for r in range(10)]
    assert_array_equal(one.precision, other.precision)
    assert_array_equal(one.holds(frame), other.holds(same))


@noise
def test_unseen_levels_are_in_no_rule(people):
    known = people.astype({"job": object})
    inspector = by_rule(lambda X: np.asarray(X["age"] > 40), known)
    rows = known[:3].assign(job="pilot")
    explanation = inspector.explain(rows)
    assert not any(c.name == "job" for rule in explanation.rules for c in rule)
    assert explanation.holds(rows).diagonal().all()


def test_the_reason_where_no_rule_is_found(people):
    # Only the level that `fit` did not see is answered so.
    known = people.astype({"job": object})
    inspector = by_rule(lambda X: np.asarray(X["job"] == "pilot"), known)
    with pytest.warns(NoAnchorWarning, match=r"1 of 2 rows; row 1: the precision"):
        found = inspector.explain(known[:2].assign(job=["cook", "pilot"]))
    assert found.status.tolist() == ["found", "failed"]
    assert found.reasons[0] == ""
    assert "not 0.95" in found.reasons[1]


def test_a_model_that_always_answers_alike(numbers):
    explanation = by_rule(lambda X: X[:, 0] > -99, numbers).explain(numbers[:1])
    assert explanation.rules[0] == ()
    assert explanation.text(0) == "always"
    assert explanation.coverage[0] == pytest.approx(1)
    assert explanation.holds(numbers).all()


def test_a_single_row():
    X = np.array([[1.0, 2.0]])
    explanation = by_rule(lambda X: X[:, 0] > 0, X).explain(X)
    assert explanation.rules[0] == ()


@pytest.mark.parametrize(
    ("discretize", "expected"),
    [
        (2, Condition(0, "x0", low=1.0)),
        (4, Condition(0, "x0", low=2.0)),
        (False, Condition(0, "x0", levels=(3.0,))),
    ],
)
def test_bins(discretize, expected):
    X = np.tile(np.arange(4.0), 50)[:, None]
    inspector = by_rule(lambda X: X[:, 0] > 1.5, X, discretize=discretize)
    assert inspector.explain([[3.0]]).rules[0] == (expected,)


def test_integers_and_categories_by_position():
    X = np.random.default_rng(0).integers(3, size=(200, 3))
    inspector = by_rule(lambda X: X[:, 1] == 2, X, categorical_features=[1])
    (rule,) = inspector.explain(np.array([[0, 2, 1]])).rules
    assert rule == (Condition(1, "x1", levels=(2,)),)
    assert str(rule[0]) == "x1 = 2"


@noise
def test_several_classes():
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])
    model = DecisionTreeClassifier(max_depth=3, random_state=0)
    inspector = Anchors(model, random_state=0, n_samples=300).fit(X, names[y])
    explanation = inspector.explain(X[[0, 51, 120]])
    assert_array_equal(explanation.answers, names)


def test_regressors_have_a_tolerance(numbers):
    y = 10 * (numbers[:, 2] > 0) + 0.01 * numbers[:, 0]

    def stepped(X):
        return np.column_stack([X[:, 2] > 0, X[:, 0] / 100])

    model = make_pipeline(FunctionTransformer(stepped), LinearRegression())
    inspector = Anchors(model, random_state=0, n_samples=500).fit(numbers, y)
    row = numbers[[np.argmax(numbers[:, 2])]]
    explanation = inspector.explain(row)
    assert [c.feature for c in explanation.rules[0]] == [2]
    assert_allclose(explanation.answers[0], 10, atol=0.1)
    wide = inspector.set_params(tolerance=20.0).fit(numbers, y).explain(row)
    assert wide.rules[0] == ()


@noise
def test_coverage_is_counted_on_some_of_the_rows(numbers):
    inspector = by_rule(lambda X: X[:, 0] > 0, numbers, n_coverage_samples=40)
    coverage = inspector.explain(numbers[:5]).coverage
    assert_allclose(coverage * 40, np.rint(coverage * 40), atol=1e-9)


def test_weights_count_in_coverage_and_draws():
    X = np.array([[0.0], [1.0]] * 20)
    weights = np.tile([1.0, 9.0], 20)
    model = FrozenEstimator(ByRule(lambda X: X[:, 0] > 0.5).fit(X))
    inspector = Anchors(model, discretize=False, random_state=0)
    explanation = inspector.fit(X, sample_weight=weights).explain([[1.0], [0.0]])
    assert_allclose(explanation.coverage, [0.9, 0.1])


def test_missing_values_go_to_the_model():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    X[rng.random(X.shape) < 0.2] = np.nan
    y = np.isnan(X[:, 0]).astype(int)
    model = HistGradientBoostingClassifier(max_iter=5)
    inspector = Anchors(model, random_state=0, n_samples=200).fit(X, y)
    explanation = inspector.explain(X[y == 1][:1])
    assert explanation.text(0) == "x0 is missing"
    assert_array_equal(explanation.holds(X)[0], y == 1)


@noise
def test_perturbed_rows_are_asked_once():
    asked = []

    def rule(X):
        asked.append(len(X))
        return (X[:, 0] > 0) & (X[:, 1] > 0)

    X = np.random.default_rng(0).normal(size=(200, 6))
    inspector = by_rule(rule, X, discretize=2)
    asked.clear()
    inspector.explain(X[:1])
    assert 0 < sum(asked) < 5000


def test_a_model_that_scales_in_place(numbers):
    model = make_pipeline(StandardScaler(copy=False), DecisionTreeClassifier())
    model.fit(numbers.copy(), numbers[:, 0] > 0)
    X = numbers.copy()
    inspector = Anchors(FrozenEstimator(model), discretize=2, random_state=0)
    (rule,) = inspector.fit(X).explain(X[[X[:, 0].argmax()]]).rules
    assert [condition.feature for condition in rule] == [0]
    assert_array_equal(X, numbers)


@noise
def test_several_outputs(numbers):
    Y = np.column_stack([numbers[:, 0] > 0, numbers[:, 1] > 0]).astype(int)
    row = numbers[np.abs(numbers[:, :2]).min(axis=1).argmax()][None]
    for model in (DecisionTreeClassifier(), DecisionTreeRegressor()):
        inspector = Anchors(model, discretize=2, random_state=0, n_samples=500)
        explanation = inspector.fit(numbers, Y).explain(row)
        assert {condition.feature for condition in explanation.rules[0]} == {0, 1}
        assert explanation.answers[0] == (row[0, :2] > 0).tolist()


@given(
    st.integers(0, 10**6),
    st.integers(1, 5),
    st.sampled_from([2, 4, False]),
    st.sampled_from([0.6, 0.9]),
)
@examples(15)
@noise
def test_any_table(seed, n_columns, discretize, precision):
    rng = np.random.default_rng(seed)
    X = rng.integers(4, size=(30, n_columns)).astype(float)
    X[rng.random(X.shape) < 0.1] = np.nan
    weights = rng.normal(size=n_columns)
    inspector = by_rule(
        lambda X: np.nan_to_num(X, nan=-1) @ weights > 0,
        X,
        discretize=discretize,
        precision=precision,
        n_samples=100,
    )
    explanation = inspector.explain(X[:4])
    assert explanation.holds(X)[:, :4].diagonal().all()
    assert_allclose(explanation.coverage, explanation.holds(X).mean(axis=1))
    found = explanation.status == "found"
    assert_array_equal(explanation.precision_low >= precision, found)
    alone = inspector.explain(X[3:4])
    assert alone.text(0) == explanation.text(3)
    assert alone.precision[0] == explanation.precision[3]
