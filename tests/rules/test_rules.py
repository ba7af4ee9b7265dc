"""What all classifiers of rules promise: what they say is what they predict."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris

from sklearn_interpret._inspectors.condition_space import threshold
from sklearn_interpret._model.rows.base import Rows
from sklearn_interpret.exceptions import IdentifierWarning, NoRuleWarning
from sklearn_interpret.explanations import Condition
from sklearn_interpret.rules import (
    BayesianRuleListClassifier,
    OneRClassifier,
    RIPPERClassifier,
    Rule,
    RuleFitClassifier,
    RuleFitRegressor,
    SkopeRulesClassifier,
)
from tests.references.rules import first_rule, predicted_by_text, rule_holds
from tests.speeds import examples

# Few samples are enough for what is tested here.
pytestmark = [
    pytest.mark.filterwarnings(f"ignore::sklearn_interpret.exceptions.{name}")
    for name in ("DisagreeingChainsWarning", "NoRuleWarning")
]

LISTS = [
    OneRClassifier(),
    OneRClassifier(strategy="uniform"),
    RIPPERClassifier(random_state=0),
    RIPPERClassifier(prune=False, min_weight=1),
    BayesianRuleListClassifier(alpha=0.1, n_chains=1, n_samples=100, random_state=0),
]
every_list = pytest.mark.parametrize("model", LISTS, ids=str)
SKOPE = SkopeRulesClassifier(n_estimators=5, random_state=0)
every_model = pytest.mark.parametrize("model", [*LISTS, SKOPE], ids=str)
RULE_FIT = RuleFitClassifier(max_rules=8, learning_rate=0.2, n_folds=2, random_state=0)
every_classifier = pytest.mark.parametrize("model", [*LISTS, SKOPE, RULE_FIT], ids=str)
any_number_of_classes = st.sampled_from([1, 2, 3, 12])


def random_table(rng, n_rows):
    """Return rows of numbers, categories and flags, some of them missing."""
    X = np.empty((n_rows, 5), dtype=object)
    X[:, 0] = rng.normal(size=n_rows) * 10.0 ** rng.integers(-3, 4)
    X[:, 1] = rng.integers(5, size=n_rows).astype(float)
    X[:, 2] = rng.choice(["a", "b", "c"], size=n_rows)
    X[:, 3] = rng.random(n_rows) < 0.5
    X[:, 4] = 1.0
    for j in rng.choice(5, size=2, replace=False):
        X[rng.random(n_rows) < 0.2, j] = np.nan
    return X


def random_case(seed, n_classes=3):
    """Return a table, classes that depend on it in part, and new rows."""
    rng = np.random.default_rng(seed)
    few = n_classes < 9
    X = random_table(rng, int(rng.integers(1 if few else 60, 80)))
    score = np.array([(row[1] == 3) + (row[2] == "a") + (row[0] > 0) for row in X])
    noise = rng.random(len(X)) < (0.2 if few else 0.8)
    y = np.where(noise, rng.integers(n_classes, size=len(X)), score % n_classes)
    new = random_table(rng, 30)
    new[:5, 2] = "unseen"
    new[5:8, 0] = 1e300
    new[8:11, 0] = -1e300
    return X, y, new


@every_list
@examples(8)
@given(seed=st.integers(0, 2**32 - 1), n_classes=any_number_of_classes)
def test_rules_evaluated_by_hand_give_the_predictions(model, seed, n_classes):
    X, y, new = random_case(seed, n_classes)
    weights = np.random.default_rng(seed).choice([0.1, 0.3, 2.0], size=len(X))
    model.fit(X, y, sample_weight=weights)
    rules, text = model.rules_, model.to_text(digits=None)
    for rows in (X, new):
        fired = [first_rule(rules, row) for row in rows]
        assert_array_equal(model.decision_rule(rows), fired)
        shares = [rules[k].shares for k in fired]
        assert_allclose(model.predict_proba(rows), shares, rtol=0, atol=1e-12)
        by_row = [{f"x{j}": value for j, value in enumerate(row)} for row in rows]
        read = [predicted_by_text(text, row) for row in by_row]
        assert model.predict(rows).astype(str).tolist() == read
        holds = [[rule_holds(rule, row) for rule in rules] for row in rows]
        assert_array_equal(model.transform(rows), np.array(holds, dtype=float))
    # What rules say of the rows of fit.
    fired, alpha = model.decision_rule(X), getattr(model, "alpha", 0)
    for k, rule in enumerate(rules):
        own, classes = weights[fired == k], y[fired == k]
        assert rule.coverage == pytest.approx(own.sum() / weights.sum())
        if len(own):
            of_class = [own[classes == label].sum() for label in model.classes_]
            prior = alpha * len(of_class)
            expected = (np.array(of_class) + alpha) / (own.sum() + prior)
            assert_allclose(rule.shares, expected)
            assert rule.precision == pytest.approx(max(of_class) / own.sum())
        else:
            assert rule.precision is None


@every_model
@examples(8)
@given(seed=st.integers(0, 2**32 - 1), n_classes=any_number_of_classes)
def test_no_condition_is_redundant(model, seed, n_classes):
    X, y, _ = random_case(seed, n_classes)
    model.fit(X, y)
    rules = model.rules_
    assert not rules[-1].conditions
    assert len({rule.conditions for rule in rules}) == len(rules)
    for rule in rules[:-1]:
        features = [condition.feature for condition in rule.conditions]
        assert features
        assert len(set(features)) == len(features)
        assert rule.coverage > 0
        for condition in rule.conditions:
            assert not condition.holds(X).all(), str(condition)


@every_model
def test_constant_columns_leave_the_default(model):
    X = np.ones((12, 2))
    model.fit(X, np.repeat(["a", "b"], [4, 8]))
    assert [rule.conditions for rule in model.rules_] == [()]
    sums = np.array([4, 8]) + getattr(model, "alpha", 0)
    assert_allclose(model.predict_proba(X[:2]), [sums / sums.sum()] * 2)
    assert model.to_text().split()[-1] == "b"


# Also a regressor, and the classifiers that draw at random or prune.
AT_RANDOM = [
    RIPPERClassifier(random_state=0),
    BayesianRuleListClassifier(n_samples=50, random_state=0),
    SKOPE,
    RULE_FIT,
    RuleFitRegressor(max_rules=20, n_folds=2, random_state=0),
]


@pytest.mark.thorough(after=2)
@pytest.mark.parametrize("model", AT_RANDOM, ids=str)
def test_the_seed_decides(model):
    X, y = load_digits(return_X_y=True)
    found = [
        clone(model).set_params(random_state=seed).fit(X[:200], y[:200] % 2)
        for seed in (0, 1)
    ]
    one, other = (getattr(m, "posterior_", m.rules_) for m in found)
    assert one != other


@every_classifier
def test_one_class_only(model):
    X = np.arange(20.0).reshape(10, 2)
    model.fit(X, ["only"] * 10)
    assert model.predict([[99, -99]]).tolist() == ["only"]
    assert_array_equal(model.predict_proba(X), np.ones((10, 1)))


@every_classifier
def test_one_row(model):
    model.fit([[1.0, np.nan]], ["a"])
    assert model.predict([[5.0, 2.0], [np.nan, np.nan]]).tolist() == ["a", "a"]


@pytest.mark.thorough(after=3)
@every_classifier
def test_columns_that_are_all_missing(model):
    X = np.column_stack([np.full(20, np.nan), np.arange(20)])
    y = np.arange(20) >= 10
    assert model.fit(X, y).score(X, y) >= 0.9


@every_classifier
def test_many_classes(model):
    y = np.repeat(list("abcdef"), 12)
    X = np.repeat(np.arange(6), 12) + np.tile([0.1, 0.2, 0.3], len(y) // 3)
    if isinstance(model, BayesianRuleListClassifier):
        # A list of five rules takes a longer chain.
        model = clone(model).set_params(n_samples=300)
    model.fit(X[:, None], y)
    assert model.predict_proba(X[:, None]).shape == (len(y), 6)
    if model.get_params().get("strategy") != "uniform":
        assert model.score(X[:, None], y) == 1


@pytest.mark.parametrize("model", [LISTS[2], SKOPE], ids=str)
def test_a_class_of_no_weight_is_never_predicted(model):
    X, y = load_iris(return_X_y=True)
    model = clone(model).fit(X, y, sample_weight=y != 1)
    assert model.classes_.tolist() == [0, 1, 2]
    assert (model.predict_proba(X)[:, 1] == 0).all()


@every_classifier
def test_infinite_numbers_are_refused(model):
    with pytest.raises(ValueError, match="infinity"):
        model.fit([[1.0], [np.inf]], [0, 1])


@pytest.mark.parametrize(
    ("model", "library"),
    [
        *((model, "pandas") for model in [*LISTS, SKOPE, RULE_FIT]),
        *((model, "polars") for model in [LISTS[0], RULE_FIT]),
    ],
)
def test_frames_are_taken_as_they_are(model, library):
    frames = pytest.importorskip(library)
    rng = np.random.default_rng(0)
    columns = {
        "age": rng.integers(18, 60, size=200).astype(float).tolist(),
        "job": rng.choice(["cook", "nurse", "smith"], size=200).tolist(),
    }
    y = (np.array(columns["age"]) > 40) & (np.array(columns["job"]) != "cook")
    columns["job"][:3] = [None] * 3
    model.fit(frames.DataFrame(columns), y)
    names = {c.name for rule in model.rules_ for c in rule.conditions}
    assert names <= {"age", "job"}
    as_objects = np.array(list(columns.values()), dtype=object).T
    again = type(model)(**model.get_params()).fit(as_objects, y)
    assert_array_equal(
        model.predict_proba(frames.DataFrame(columns)), again.predict_proba(as_objects)
    )


def test_categorical_features_are_levels():
    X = np.array([[1.0], [2.0], [3.0]] * 10)
    y = X[:, 0] == 2
    model = OneRClassifier(categorical_features=[0]).fit(X, y)
    assert [str(rule) for rule in model.rules_] == [
        "x0 = 1",
        "x0 = 2",
        "x0 = 3",
        "otherwise",
    ]
    assert model.predict([[2.5], [2.0]]).tolist() == [False, True]


@pytest.mark.parametrize(
    "model",
    [
        *LISTS,
        SKOPE,
        RULE_FIT,
        RuleFitRegressor(max_rules=20, n_folds=2, random_state=0),
    ],
    ids=str,
)
def test_an_identifier_is_left_out(model):
    """Without a warning, it silenced the ensembles, and each list was made of it."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"number": rng.normal(size=200), "kind": list("uvwx") * 50})
    y = 2 * (frame["number"] > 0) + (frame["kind"] == "u")
    y = y + 0.1 if isinstance(model, RuleFitRegressor) else y > 1
    alone = clone(model).fit(frame, y)
    frame.insert(0, "id", [f"customer {i}" for i in range(200)])
    with pytest.warns(IdentifierWarning, match="Leave 'id' out of X"):
        model = clone(model).fit(frame, y)
    assert not any(c.feature == 0 for rule in model.rules_ for c in rule.conditions)
    frame["id"] = "another"
    assert model.score(frame, y) > alone.score(frame[["number", "kind"]], y) - 0.01


def test_levels_of_few_rows_are_no_identifier(recwarn):
    rows = pd.DataFrame({"a": [f"level {i}" for i in range(10)]})
    OneRClassifier().fit(rows, [0, 1] * 5)
    rows = pd.DataFrame({"a": [f"level {i // 2}" for i in range(40)]})
    OneRClassifier().fit(rows, np.arange(40) // 2 % 2)
    rows = pd.DataFrame({"a": [f"level {i}" for i in range(40)]})
    asked = OneRClassifier(categorical_features=np.array([0])).fit(rows, [0, 1] * 20)
    assert len(asked.rules_) > 2
    assert not [w for w in recwarn if w.category is IdentifierWarning]


@every_model
def test_each_column_of_levels_is_encoded_once(model, monkeypatch):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.choice([f"l{i}" for i in range(30)], size=300)})
    y = frame["a"].str[1:].astype(int) % 3 == 0
    model = clone(model).fit(frame, y)
    encode, calls = Rows.encode_column, []
    monkeypatch.setattr(
        Rows, "encode_column", lambda rows, j: calls.append(j) or encode(rows, j)
    )
    assert_array_equal(
        model.predict(frame), model.classes_[model.predict_proba(frame).argmax(1)]
    )
    assert calls == [0, 0]  # once for each method
    assert len(model.rules_) > 1


def test_table_of_rules():
    X = np.array([[0.0]] * 6 + [[1.0]] * 6)
    frame = OneRClassifier().fit(X, ["a"] * 6 + ["b"] * 6).to_frame()
    assert frame["rule"].tolist() == ["x0 = 0", "x0 = 1", "otherwise"]
    assert frame.columns.tolist() == [
        "rule",
        "prediction",
        "coverage",
        "precision",
        "share of a",
        "share of b",
        "n_rows",
    ]
    assert frame["coverage"].tolist() == [0.5, 0.5, 0]
    assert frame["precision"].isna().tolist() == [False, False, True]


def test_table_of_rules_without_shares():
    model = OneRClassifier().fit([[0.0], [1.0]], [0, 1])
    model.rules_ = [Rule((), prediction=1.5, coverage=0.2)]
    assert model.to_frame().columns.tolist() == ["rule", "prediction", "coverage"]


def test_words_have_all_digits():
    condition = Condition(0, "x0", low=0.123456789, high=1234567.0)
    assert str(condition) == "0.123456789 < x0 <= 1234567"
    assert condition.to_text() == "0.123456789 < x0 <= 1234567"
    assert Condition(0, "x0", levels=(0.123456789,)).to_text() == "x0 = 0.123456789"


@examples(200)
@given(
    st.floats(-1e308, 1e308, allow_subnormal=False),
    st.floats(-1e308, 1e308, allow_subnormal=False),
)
def test_thresholds_part_their_neighbours(one, other):
    below, above = sorted([one, other])
    for a, b in ((below, above), (below, np.nextafter(below, np.inf))):
        if a < b:
            assert a <= threshold(a, b) < b


@pytest.mark.parametrize(
    ("below", "above", "expected"),
    [(1.9, 3.0, 2.5), (3, 4, 3.5), (3, 10, 6), (0.1357, 0.1423, 0.14), (0, 1, 0.5)],
)
def test_thresholds_are_short(below, above, expected):
    assert threshold(below, above) == expected


IMBALANCED = np.random.default_rng(0).normal(size=(300, 3))
SCORE = IMBALANCED @ [1.2, 0.8, 0] + np.random.default_rng(1).logistic(size=300)
RARE, RARER = (np.where(least < SCORE, "ill", "healthy") for least in (2.5, 4.2))
OF_RARE = [
    OneRClassifier(min_bin_size=60),
    RIPPERClassifier(random_state=0),
    BayesianRuleListClassifier(n_chains=1, n_samples=100, random_state=0),
    SkopeRulesClassifier(max_depth=1, random_state=0),
    RuleFitClassifier(max_rules=20, random_state=0),
]


@pytest.mark.parametrize("model", OF_RARE, ids=str)
def test_a_class_that_is_never_predicted_is_named(model):
    with pytest.warns(NoRuleWarning, match=r"the class 'ill' \(9 of 300") as caught:
        model.fit(IMBALANCED, RARER)
    assert caught[0].filename == __file__
    assert set(model.predict(IMBALANCED)) == {"healthy"}


@pytest.mark.thorough(after=2)
@every_classifier
def test_balanced_classes_are_rows_that_weigh_as_much(model):
    """Shares are of weighted classes; coverage counts the rows as they are."""
    model = clone(model).set_params(class_weight="balanced")
    model.fit(IMBALANCED, RARE)
    found = model.predict(IMBALANCED)
    assert np.mean(found[RARE == "ill"] == "ill") > 0.5
    holds = model.transform(IMBALANCED).astype(bool).T
    shown = [str(rule) for rule in model.rules_]
    assert model.get_feature_names_out().tolist() == shown
    votes = isinstance(model, SkopeRulesClassifier | RuleFitClassifier)
    first = None if votes else model.decision_rule(IMBALANCED)
    for k, rule in enumerate(model.rules_):
        n_rows = holds[k].sum() if votes else np.sum(first == k)
        if rule.conditions:
            assert rule.n_rows == pytest.approx(n_rows)
        assert rule.coverage == pytest.approx(rule.n_rows / 300)
    factors = {label: 150 / np.sum(label == RARE) for label in model.classes_}
    again = clone(model).set_params(class_weight=factors).fit(IMBALANCED, RARE)
    assert_allclose(again.predict_proba(IMBALANCED), model.predict_proba(IMBALANCED))
