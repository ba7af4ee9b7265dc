"""Checks of the report on tables with and without the fault that each looks for."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestRegressor
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeRegressor

from sklearn_interpret.report import InspectionReport, SkoreCheck
from sklearn_interpret.report._checks import CHECKS

FOREST = RandomForestRegressor(20, min_samples_leaf=3, random_state=0)
RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 4))
NOISE = RNG.normal(size=300)
Y = X[:, 0] + np.abs(X[:, 1]) + 0.3 * NOISE
CODES = RNG.integers(10, size=300)


def changed(j, values):
    """The table with another column."""
    return np.column_stack([X[:, :j], values, X[:, j + 1 :]])


# By check: model, rows and targets with the fault, and without.
CASES = {
    "chance": [(FOREST, X, NOISE), (FOREST, X, Y)],
    "overfit": [
        (DecisionTreeRegressor(random_state=0), X, X[:, 0] + 2 * NOISE),
        (FOREST, X, Y),
    ],
    "companions": [(FOREST, changed(2, X[:, 0] + 0.1 * NOISE), Y), (FOREST, X, Y)],
    "outside": [(FOREST, changed(1, X[:, 0] + 0.1 * NOISE), Y), (FOREST, X, Y)],
    "opposite": [(FOREST, X, np.sign(X[:, 1]) * X[:, 0]), (FOREST, X, Y)],
    "folds": [
        (DecisionTreeRegressor(random_state=0), X[:100], (X[:, 0] + 2 * NOISE)[:100]),
        (FOREST, X, Y),
    ],
    "background": [
        (LinearRegression(), np.exp(3 * np.abs(X)), np.exp(3 * np.abs(X)).sum(axis=1)),
        (FOREST, X, Y),
    ],
    "ordinal": [
        (
            FOREST,
            changed(2, CODES),
            Y + np.array([0, 3, 1, 4, 0, 3, 2, 0, 4, 1])[CODES],
        ),
        (FOREST, changed(2, CODES), Y + 0.3 * CODES),
    ],
    "leakage": [(FOREST, changed(3, 2 * Y + 0.01 * NOISE), Y), (FOREST, X, Y)],
    "range": [(LinearRegression(), X, np.exp(X[:, 0])), (FOREST, X, np.exp(X[:, 0]))],
    "imbalance": [
        (LogisticRegression(), X, X[:, 0] > 1.8),
        (LogisticRegression(), X, X[:, 0] > 0.5),
    ],
    "noise": [
        (DecisionTreeRegressor(random_state=0), X, 0.2 * X[:, 0] + NOISE),
        (FOREST, X, Y),
    ],
}


def check(name, model, X, y, sample_weight=None):
    report = InspectionReport(model, sections=[], checks=[name], random_state=0)
    (found,) = report.fit(X, y, sample_weight).checks_
    return found


def test_every_check_has_cases():
    assert list(CASES) == list(CHECKS)


@pytest.mark.parametrize("name", CASES)
def test_fault_is_found_and_its_absence_too(name):
    faulty, sound = (check(name, *case) for case in CASES[name])
    assert (faulty.verdict, sound.verdict) == ("warned", "passed")
    assert faulty.finding.endswith(".")
    assert faulty.advice.endswith(".")
    assert faulty.title.endswith("?")


def test_names_are_those_of_the_table():
    frame = pd.DataFrame(changed(2, X[:, 0] + 0.1 * NOISE), columns=list("abcd"))
    found = check("companions", FOREST, frame, Y)
    assert "above .8: c and a" in found.finding


def test_frozen_models_texts_and_single_features_are_skipped():
    frozen = FrozenEstimator(LinearRegression().fit(X, Y))
    for name in ("overfit", "folds", "leakage", "noise"):
        assert check(name, frozen, X, Y).verdict == "skipped"
    text = make_pipeline(TfidfVectorizer(), LogisticRegression())
    words = ["good film", "bad film", "good plot", "bad star"] * 10
    found = check("companions", text, words, [1, 0, 1, 0] * 10)
    assert found.finding == "The rows are texts, and this is for tables."
    assert check("outside", LinearRegression(), X[:, :1], Y).verdict == "skipped"


def test_all_on_a_mixed_table_of_three_classes_with_weights():
    table = pd.DataFrame(X, columns=list("abcd")).assign(
        city=pd.Categorical(np.array(["Rome", "Oslo", "<b>"])[CODES % 3])
    )
    table.loc[::9, "b"] = np.nan
    y = np.array(["x", "y", "z"])[np.digitize(X[:, 0], [-0.5, 0.5])]
    model = HistGradientBoostingClassifier(
        max_iter=10, categorical_features="from_dtype", random_state=0
    )
    report = InspectionReport(model, sections=[], cv=3, random_state=0)
    report.fit(table, y, np.linspace(0.5, 1.5, 300))
    verdicts = {one.name: one.verdict for one in report.checks_}
    skipped = {name for name, verdict in verdicts.items() if verdict == "skipped"}
    assert skipped == {"ordinal", "range"}
    assert verdicts["chance"] == verdicts["imbalance"] == "passed"


def test_reports_of_skore_run_checks():
    skore = pytest.importorskip("skore")
    report = skore.EstimatorReport(
        LinearRegression().fit(X, Y), X_test=changed(2, X[:, 0]), y_test=Y
    )
    assert "above .8" in SkoreCheck("companions").check_function(report)
    assert SkoreCheck("chance").check_function(report) is None
    with pytest.raises(skore.CheckNotApplicable, match="given fitted"):
        SkoreCheck("overfit").check_function(report)
