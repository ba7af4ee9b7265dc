"""Checks of the report: each finds its fault, and passes a table without it."""

import re
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy import special
from sklearn.compose import make_column_transformer
from sklearn.ensemble import GradientBoostingRegressor, RandomForestRegressor
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from sklearn_interpret.report import InspectionReport, SkoreCheck
from sklearn_interpret.report._checks import CHECKS
from sklearn_interpret.report._inspection_report import _SECTIONS
from sklearn_interpret.report._results import titled

N_ROWS = 300
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N_ROWS, 4))
NOISE = RNG.normal(size=N_ROWS)
Y = 2 * X[:, 0] + X[:, 1] * (X[:, 2] > 0) + 1.5 * X[:, 2] + 0.5 * NOISE
HIGH = np.quantile(Y, 0.97)
LABELS = np.digitize(Y, [-1, 1])
LINEAR, CLASSES = LinearRegression(), LogisticRegression()
FOREST = RandomForestRegressor(10, min_samples_leaf=3, random_state=0)
CODES = RNG.integers(8, size=N_ROWS)
LEVELS = np.array([2.0, -2.0, 1.0, -1.0, 3.0, 0.0, -3.0, 1.0])
COPIED = np.column_stack([X, X[:, 0] + 0.1 * RNG.normal(size=N_ROWS)])
OPPOSED = np.sign(X[:, 1]) * X[:, 0]
SPIKES = np.column_stack([np.where(np.arange(N_ROWS) % 40 == 0, 90.0, 0.0), X])
COPIES = X[:, :1] + 1e-3 * RNG.normal(size=(N_ROWS, 3))
TREE, TREE_OF_CLASSES = DecisionTreeRegressor(random_state=0), DecisionTreeClassifier()

# Model, rows and targets with the fault of each check.
FAULTS = {
    "chance": [(LINEAR, X, NOISE), (CLASSES, X, NOISE > 0)],
    "overfit": [(TREE, X, Y + 2 * NOISE), (TREE_OF_CLASSES, X, LABELS % 2)],
    "companions outside": [(LINEAR, COPIED, Y), (CLASSES, COPIED, LABELS)],
    "opposite": [(GradientBoostingRegressor(n_estimators=40), X, OPPOSED)],
    "folds": [(LINEAR, np.hstack([COPIES, X[:, 1:]]), Y)],
    "background": [(LINEAR, SPIKES, SPIKES.sum(axis=1))],
    "ordinal": [
        (LINEAR, np.column_stack([X, CODES]), Y + LEVELS[CODES]),
        (CLASSES, np.column_stack([X, CODES]), Y + LEVELS[CODES] > 0),
    ],
    "leakage": [
        (LINEAR, np.column_stack([X, Y]), Y),
        (GaussianNB(), np.column_stack([X, LABELS + NOISE / 50]), LABELS),
    ],
    "range": [(LINEAR, X, np.exp(Y)), (LINEAR, X, 1 / (1 + np.exp(-3 * Y)))],
    "imbalance": [(CLASSES, X, Y > HIGH), (CLASSES, X, np.digitize(Y, [0, HIGH]))],
    "noise": [(TREE, X, NOISE)],
    "slices": [(LINEAR, X, Y + np.where(X[:, 0] > 0.5, 8, 1) * NOISE)],
    # Copies of a feature count several times for a naive classifier.
    "calibration": [
        (GaussianNB(), np.hstack([COPIED, COPIED, COPIED]), Y + 2 * NOISE > 0),
        (TREE_OF_CLASSES, X, LABELS),
    ],
}
COUNTS = np.random.default_rng(1).poisson(4, N_ROWS).clip(0, 9)
SOUND = {
    "ordinal": [
        (FOREST, np.column_stack([X, COUNTS]), Y + (COUNTS - 4) ** 2 / 4),
        (CLASSES, np.column_stack([X, COUNTS]), Y + np.sqrt(COUNTS) > 2),
    ],
    "range": [(FOREST, X, np.exp(Y)), (LINEAR, X, Y)],
}


def checked(model, X, y, *names, **weights):
    """The checks of some names, by name."""
    report = InspectionReport(model, checks=names or "all", sections=[], random_state=0)
    return {one.name: one for one in report.fit(X, y, **weights).checks_}


def cases(table):
    """Parameters of tests: names of checks with their cases."""
    return [(name, *case) for name, listed in table.items() for case in listed]


@pytest.mark.thorough(after=1)
@pytest.mark.parametrize(("name", "model", "X", "y"), cases(FAULTS))
def test_fault_is_found(name, model, X, y):
    """The check warns, and its numbers say so."""
    for found in checked(model, X, y, *name.split()).values():
        assert found.verdict == "warned", found.finding
        assert found.advice
        assert not np.isnan(found.statistic)


@pytest.mark.parametrize(("name", "model", "X", "y"), cases(SOUND))
def test_no_fault_is_no_warning(name, model, X, y):
    """The check passes."""
    found = checked(model, X, y, name)[name]
    assert found.verdict == "passed", found.finding


def skipped(found):
    """Names of the checks that do not apply."""
    return {name for name, one in found.items() if one.verdict == "skipped"}


@pytest.mark.thorough(after=1)
@pytest.mark.parametrize(
    ("model", "y", "without"),
    [
        (FOREST, Y, {"imbalance", "calibration", "ordinal"}),
        (CLASSES, LABELS, {"range", "ordinal"}),
    ],
)
def test_sound_models_pass_all_checks(model, y, without):
    """With weights; findings are sentences with a number."""
    weights = np.random.default_rng(0).uniform(0.5, 2, N_ROWS)
    found = checked(model, X, y, sample_weight=weights)
    assert skipped(found) == without
    for name, one in found.items():
        assert one.verdict != "warned", one.finding
        assert one.title == CHECKS[name].title
        assert one.title.endswith("?")
        assert one.finding.endswith(".")
        assert one.verdict == "skipped" or re.search(r"\d|No region", one.finding)


def test_texts():
    """Only what needs no columns applies to texts."""
    texts = ["good film", "bad film", "very good", "so bad"] * 15
    model = make_pipeline(CountVectorizer(), LogisticRegression())
    labels = np.array(["good" in text for text in texts])
    found = checked(model, texts, labels)
    of_texts = {"chance", "overfit", "imbalance", "calibration"}
    assert set(found) - skipped(found) == of_texts


def test_frozen_model():
    """Checks that refit do not apply, and say why."""
    found = checked(FrozenEstimator(LinearRegression().fit(X, Y)), X, Y)
    assert {"overfit", "leakage", "folds", "noise"} <= skipped(found)
    assert "given fitted" in found["folds"].finding
    assert found["chance"].verdict == "passed"


@pytest.mark.thorough
def test_frozen_model_without_targets():
    """Checks that need no targets and no refits are left."""
    for model in (LinearRegression().fit(X, Y), LogisticRegression().fit(X, LABELS)):
        found = checked(FrozenEstimator(model), X, None)
        left = set(found) - skipped(found)
        assert left == {"companions", "outside", "opposite", "background"}


@pytest.mark.parametrize("error", [TypeError, ValueError])
def test_errors_of_methods_are_no_reasons(error, monkeypatch):
    """A refusal is a sentence of its own; any other error says that it is one."""

    @titled("Is it lucky?", "targets")
    def luck(inspection):
        raise error("no luck.")

    monkeypatch.setitem(CHECKS, "chance", luck)
    monkeypatch.setitem(_SECTIONS, "overview", luck)
    report = InspectionReport(LINEAR, checks=["chance"], sections=["overview"])
    report.fit(X, Y)
    for text in (report.checks_[0].finding, report.sections_[0].summary):
        assert text == "Could not be computed: no luck."
    assert report.checks_[0].verdict == "skipped"
    found = checked(FrozenEstimator(LinearRegression().fit(X, Y)), X, None, "chance")
    assert found["chance"].finding.startswith("The rows have no targets,")


def test_one_feature():
    """Nothing to share, to permute against, or to rank."""
    found = checked(LINEAR, X[:, :1], Y)
    of_several = {"companions", "outside", "opposite", "folds", "leakage", "noise"}
    assert of_several <= skipped(found)
    assert "one feature" in found["noise"].finding


@pytest.mark.thorough
def test_mixed_table_with_missing_values():
    """Categories, booleans and missing values; two columns say the same."""
    rng = np.random.default_rng(0)
    city = rng.choice(["a", "b", "c"], 200)
    X = pd.DataFrame(
        {
            "age": np.where(rng.random(200) < 0.1, np.nan, rng.normal(40, 9, 200)),
            "city": pd.Categorical(city),
            "district": np.char.add(city, "1").astype(object),
            "member": rng.random(200) < 0.5,
        }
    )
    y = X.age.fillna(40) / 20 + 2.0 * (city == "a") + X.member + rng.normal(size=200)
    levels = OneHotEncoder(handle_unknown="ignore")
    columns = make_column_transformer(
        (levels, ["city", "district"]), (SimpleImputer(), ["age", "member"])
    )
    X["member"] = X.member.astype(int)
    found = checked(make_pipeline(columns, LinearRegression()), X, y)
    assert {"imbalance", "calibration", "ordinal"} == skipped(found)
    assert found["companions"].verdict == "warned"
    assert "district" in found["companions"].finding
    assert "city" in found["companions"].finding


def test_several_classes_and_no_probabilities():
    """Predicted classes stand for probabilities."""
    names = "chance", "overfit", "imbalance", "opposite", "noise"
    found = checked(LinearSVC(), X, LABELS, *names)
    assert {one.verdict for one in found.values()} == {"passed"}


def test_weights_count():
    """Rows of small weight hardly speak."""
    y = np.where(np.arange(N_ROWS) < 200, Y, -Y)
    weights = np.where(np.arange(N_ROWS) < 200, 1.0, 1e-6)
    weighted = checked(LINEAR, X, y, "chance", sample_weight=weights)["chance"]
    assert weighted.statistic < checked(LINEAR, X, y, "chance")["chance"].statistic
    rare = checked(CLASSES, X, y > 0, "imbalance", sample_weight=np.where(y > 0, 1, 99))
    assert rare["imbalance"].verdict == "warned"
    heavier = checked(LINEAR, X, Y, "overfit", sample_weight=np.full(N_ROWS, 7.0))
    once = checked(LINEAR, X, Y, "overfit")
    assert heavier["overfit"].statistic == pytest.approx(once["overfit"].statistic)


def test_large_targets_give_the_same_verdict():
    found, of_large = (checked(TREE, X, c * Y, "overfit") for c in (1, 2.0**330))
    assert of_large["overfit"].verdict == found["overfit"].verdict
    assert of_large["overfit"].statistic == pytest.approx(found["overfit"].statistic)


def test_numbers_that_are_categories_are_no_codes():
    """A category dtype says so already."""
    frame = pd.DataFrame(X, columns=list("abcd")).assign(code=pd.Categorical(CODES))
    levels = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), ["code"]), remainder="passthrough"
    )
    model = make_pipeline(levels, LinearRegression())
    assert skipped(checked(model, frame, Y + LEVELS[CODES], "ordinal")) == {"ordinal"}


def test_reports_of_skore_run_checks():
    """Findings of checks that warn; None of those that pass."""
    skore = pytest.importorskip("skore")
    report = skore.EstimatorReport(
        LinearRegression().fit(COPIED, Y), X_test=COPIED, y_test=Y
    )
    assert "of the variance" in SkoreCheck("companions").check_function(report)
    assert SkoreCheck("chance").check_function(report) is None
    with pytest.raises(skore.CheckNotApplicable, match="given fitted"):
        SkoreCheck("overfit").check_function(report)


@pytest.mark.thorough
@pytest.mark.parametrize("n_rows", [20, 200])
@pytest.mark.parametrize("spread", [1, 5])
def test_calibrated_probabilities_are_rarely_blamed(n_rows, spread):
    """At most 2 % of 300 models whose probabilities are right."""
    rng, n_warned = np.random.default_rng(0), 0
    for _ in range(300):
        probabilities = special.expit(spread * rng.normal(size=n_rows))
        hits = rng.random(n_rows) < probabilities
        if hits.all() or not hits.any():
            continue
        inspection = SimpleNamespace(
            scoring="neg_log_loss",
            held_out_positions=np.arange(n_rows),
            sample=SimpleNamespace(weights=np.ones(n_rows), y=hits),
            held_out_responses=np.column_stack([1 - probabilities, probabilities]),
            target_columns=lambda y: np.column_stack([~y, y]).astype(float),
        )
        n_warned += CHECKS["calibration"](inspection)[2]
    assert n_warned <= 6
