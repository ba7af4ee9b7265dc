"""Sections of the report: what they say of models whose answers are known."""

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeRegressor

from sklearn_interpret.report import InspectionReport, Table


def numbers(n=120, p=3):
    X = np.random.default_rng(0).normal(size=(n, p))
    return pd.DataFrame(X, columns=list("abcdefgh"[:p]))


def section(estimator, X, y, name, **options):
    """One section, which must not have been refused."""
    report = InspectionReport(
        estimator, sections=[name], checks=[], random_state=0, **options
    )
    (found,) = report.fit(X, y).sections_
    return found


def test_overview_compares_with_a_linear_model_and_with_none():
    X = numbers()
    found = section(LinearRegression(), X, X["a"], "overview")
    assert found.summary == (
        "On rows not seen in training (120 rows, 3 features), the model removes 100% "
        "of the squared error of a model without features; a linear model 100%."
    )
    scores, _, columns = found.parts
    assert scores.columns["model"] == ["the model", "a linear model", "no features"]
    assert scores.columns["removed"][-1] == "0.0%"
    assert columns.columns["distinct"] == [120, 120, 120]


def test_overview_of_a_useless_model():
    X = numbers()
    y = np.random.default_rng(1).normal(size=120)
    found = section(DecisionTreeRegressor(random_state=0), X, y, "overview")
    assert "predicts no better than a model without features" in found.summary


def test_importance_names_what_matters():
    X = numbers()
    found = section(LinearRegression(), X, 3 * X["b"], "importance")
    assert found.summary == "Only b matters clearly more than chance."
    table = next(part for part in found.parts if isinstance(part, Table))
    assert table.columns["feature"][0] == "b"
    assert table.columns["SAGE, share"][0] == "100.0%"
    np.testing.assert_allclose(table.columns["drop column"][1:], 0, atol=1e-12)


def test_importance_of_a_classifier_without_probabilities():
    X = numbers()
    found = section(LinearSVC(), X, np.where(X["b"] > 0, "yes", "no"), "importance")
    assert found.summary == "Only b matters clearly more than chance."
    _, table = found.parts
    assert "SAGE, share" not in table.columns


def test_effects_have_a_direction():
    X = numbers()
    y = 2 * X["a"] - 3 * X["b"]
    found = section(LinearRegression(), X, y, "effects")
    assert "down by" in found.summary.split("with b")[0]
    assert "up by" in found.summary.split("with b")[1]
    assert "Regions differ" not in found.summary


def test_effects_differ_between_regions():
    X = numbers(300)
    y = np.where(X["b"] > 0, 2, -2) * X["a"]
    model = DecisionTreeRegressor(min_samples_leaf=10, random_state=0)
    found = section(model, X, y, "effects")
    assert found.summary.endswith("Regions differ in the effect of b and a.")


def test_interactions_of_an_additive_model_and_of_a_product():
    X = numbers(200)
    found = section(LinearRegression(), X, X["a"] + X["c"], "interactions")
    assert found.summary == (
        "Single features explain 100% of the variance of predictions; no pair adds "
        "0.1 %."
    )
    tree = DecisionTreeRegressor(max_depth=6, random_state=0)
    found = section(tree, X, np.sign(X["a"]) * np.sign(X["b"]), "interactions")
    assert "the strongest pair, a and b," in found.summary


def test_chosen_rows_and_proved_counterfactuals():
    X = numbers()
    model = LogisticRegression()
    found = section(model, X, X["a"] > 0, "rows", rows=[5, 7])
    captions = [part.caption for part in found.parts]
    again = section(model, X, X["a"] > 0, "rows", rows=np.arange(120) == 7)
    of_second = [part.caption.replace("row 1", "row 2") for part in again.parts]
    assert of_second == captions[len(captions) // 2 :]
    assert (
        captions[0]
        == "Chosen row 1 (row 5): contributions to the log-odds of class True"
    )
    assert captions[1].endswith("the probability of class True as one feature changes")
    proved = [c for c in captions if c.endswith("another prediction, proved")]
    assert len(proved) == 2


def test_rows_are_named_as_in_the_frame():
    X = numbers().set_axis([f"id{i}" for i in range(120)])
    found = section(LinearRegression(), X, X["a"], "rows", rows=[3])
    assert "row id3" in found.parts[0].caption


def test_rows_are_named_as_given_where_others_have_no_weight():
    X = numbers(60).to_numpy()
    weights = np.where(np.arange(60) < 20, 0.0, 1.0)
    report = InspectionReport(
        LinearRegression(), sections=["training"], checks=[], random_state=0
    ).fit(X, X[:, 0] + X[:, 1] ** 2, weights)
    typical, *_ = tables = report.sections_[0].parts
    assert min(min(table.columns["row"]) for table in tables) >= 20
    np.testing.assert_array_equal(typical.columns["x0"], X[typical.columns["row"], 0])


def test_training_rows_with_a_wrong_label_are_found():
    X = numbers(200)
    y = (X["a"] + X["b"] > 0).to_numpy(copy=True)
    sure = int(np.argmax((X["a"] + X["b"]).to_numpy()))
    y[sure] = ~y[sure]
    found = section(LogisticRegression(), X, y, "training")
    table = next(p for p in found.parts if "least expected" in p.caption)
    assert table.columns["row"][0] == sure
    assert found.summary.startswith("1 of 200 rows")


def test_surrogates_of_a_linear_model():
    X = numbers()
    found = section(LinearRegression(), X, X["a"], "surrogates")
    assert "a linear model with R² 1.00" in found.summary


def test_constant_model():
    X = numbers()
    report = InspectionReport(DummyRegressor(), rows=[0], random_state=0)
    report.fit(X, X["a"])
    summaries = {found.name: found.summary for found in report.sections_}
    assert summaries["importance"] == "No feature matters clearly more than chance."
    assert summaries["interactions"] == "The prediction is the same for all rows."
    assert summaries["surrogates"] == "The prediction is the same for all rows."


def test_texts():
    X = ["good film", "bad film", "good plot", "bad star"] * 10
    model = make_pipeline(TfidfVectorizer(), LogisticRegression())
    report = InspectionReport(model, random_state=0).fit(X, [1, 0, 1, 0] * 10)
    summaries = {found.name: found.summary for found in report.sections_}
    assert "the model removes" in summaries["overview"]
    assert summaries["effects"] == "The rows are texts, and this is for tables."
    assert "chance" in [check.name for check in report.checks_]


@pytest.mark.parametrize("targets", [True, False])
def test_frozen_model_on_a_mixed_table(targets):
    rng = np.random.default_rng(0)
    X = numbers(60).assign(
        city=pd.Categorical(rng.choice(["Rome", "Oslo", "<b>"], 60)), flag=True
    )
    X.loc[::7, "a"] = np.nan
    y = rng.choice(["x", "y", "z"], 60, p=[0.6, 0.3, 0.1])
    y[X["b"] > 0.5] = "y"
    model = HistGradientBoostingClassifier(
        max_iter=2, categorical_features="from_dtype", random_state=0
    ).fit(X, y)
    report = InspectionReport(FrozenEstimator(model), checks=[], random_state=0)
    report.fit(X, y if targets else None, np.linspace(0.5, 1.5, 60))
    refused = {found.name for found in report.sections_ if not found.parts}
    assert refused == (set() if targets else {"importance"})


def test_bad_parameters():
    X = numbers()
    for options, message in [
        ({"sections": ["effect"]}, "sections has 'effect'; accepted are 'all'"),
        ({"checks": "luck"}, "checks has 'luck'"),
        ({"rows": [500]}, "must be positions of rows of X"),
        ({"max_features": 0}, "max_features"),
    ]:
        with pytest.raises(ValueError, match=message):
            InspectionReport(LinearRegression(), **options).fit(X, X["a"])


def test_same_seed_same_report():
    X = numbers()
    pages = [
        InspectionReport(
            LinearRegression(),
            sections=["importance", "rows"],
            checks=[],
            rows=[0],
            random_state=0,
        )
        .fit(X, X["a"] * X["b"])
        .sections_
        for _ in range(2)
    ]
    for one, other in zip(*pages, strict=True):
        assert one.summary == other.summary
        assert one.parts == other.parts
