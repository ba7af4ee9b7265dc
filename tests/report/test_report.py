"""Sections of the report: what they say of models whose answers are known."""

import re

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GroupKFold, StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeRegressor

from sklearn_interpret.report import InspectionReport, Table

TREE = DecisionTreeRegressor(random_state=0)


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
        "On rows not seen in training (120 rows, 3 features), the model has R² 1 (1 to "
        "1 over folds) and RMSE 0 (0 to 0 over folds): it removes 100% of the squared "
        "error of a model without features; a linear model 100%."
    )
    _, scores, _, _, columns = found.parts
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


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(3))
def test_importance_of_noise_names_no_feature(seed):
    # Of thirty columns of noise one often has an interval above zero.
    table = np.random.default_rng(seed).normal(size=(120, 31))
    X = pd.DataFrame(table[:, 1:]).add_prefix("x")
    found = section(LinearRegression(), X, table[:, 0], "importance")
    assert "x" not in found.summary.replace("expla", "")
    found = section(LinearRegression(), X, table[:, 0] + 2 * X["x7"], "importance")
    assert found.summary == "Only x7 matters clearly more than chance."


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
    X = numbers(150, 2)
    y = np.where(X["b"] > 0, 2, -2) * X["a"]
    model = DecisionTreeRegressor(min_samples_leaf=10, random_state=0)
    found = section(model, X, y, "effects")
    assert found.summary.endswith("Regions differ in the effect of b and a.")


def test_interactions_of_an_additive_model_and_of_a_product():
    X = numbers()
    found = section(LinearRegression(), X, X["a"] + X["c"], "interactions")
    assert found.summary == (
        "Single features explain 100% of the variance of predictions; no pair adds "
        "0.1 %."
    )
    tree = DecisionTreeRegressor(max_depth=6, random_state=0)
    found = section(tree, X, np.sign(X["a"]) * np.sign(X["b"]), "interactions")
    assert "the strongest pair, a and b," in found.summary


@pytest.mark.thorough
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
    assert "(id3)" in found.parts[0].caption


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
    X = numbers(60, 2)
    report = InspectionReport(DummyRegressor(), rows=[0], random_state=0)
    report.fit(X, X["a"])
    summaries = {found.name: found.summary for found in report.sections_}
    assert summaries["importance"].startswith("The model does not predict better")
    assert summaries["interactions"] == "The prediction is the same for all rows."
    assert summaries["surrogates"] == "The prediction is the same for all rows."


def test_texts():
    X = ["good film", "bad film", "good plot", "bad star"] * 10
    model = make_pipeline(TfidfVectorizer(), LogisticRegression())
    report = InspectionReport(model, random_state=0).fit(X, [1, 0, 1, 0] * 10)
    summaries = {found.name: found.summary for found in report.sections_}
    assert "the model has accuracy 1 (" in summaries["overview"]
    assert summaries["effects"] == "The rows are texts, and this is for tables."
    assert "chance" in [check.name for check in report.checks_]


@pytest.mark.thorough
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
    assert refused == (set() if targets else {"failures", "importance"})


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


@pytest.mark.thorough
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


def test_overview_has_the_scores_that_people_ask_for():
    X = numbers(300)
    y = np.where(X["a"] + np.random.default_rng(1).normal(size=300) > 0, "yes", "no")
    cv = StratifiedKFold(4)
    found = section(LogisticRegression(), X, y, "overview", cv=cv)
    table = found.parts[0].columns
    assert table["score"] == ["accuracy", "ROC AUC"]
    for place, scoring in enumerate(["accuracy", "roc_auc"]):
        scores = cross_val_score(LogisticRegression(), X, y, cv=cv, scoring=scoring)
        np.testing.assert_allclose(table["mean"][place], scores.mean())
        np.testing.assert_allclose(
            [table[f"fold {k}"][place] for k in range(1, 5)], scores
        )
    assert f"accuracy {table['mean'][0]:.3f}".rstrip("0") in found.summary
    assert "calibration" not in found.summary
    captions = [part.caption for part in found.parts]
    assert "Share of class yes against its predicted probability" in captions[3]


def test_residuals_of_a_regressor_are_drawn():
    X = numbers()
    captions = [p.caption for p in section(TREE, X, X["a"], "overview").parts]
    assert "Residuals against predictions of held-out rows" in captions


def test_the_most_frequent_level_is_not_the_missing_one():
    X = pd.DataFrame({"a": np.arange(40.0), "b": ["u"] * 10 + [None] * 30})
    encode = make_column_transformer((OneHotEncoder(), ["b"]), remainder="passthrough")
    model = make_pipeline(encode, LinearRegression())
    columns = section(model, X, X["a"], "overview").parts[-1].columns
    assert columns["values"] == ["0 to 39", "most often u"]


@pytest.mark.thorough
def test_counterfactuals_change_what_may_change():
    X = numbers()
    options = {
        "rows": [3],
        "features_to_vary": ["b"],
        "permitted_range": {"b": (-9, 9)},
    }
    y = X["a"] + X["b"]
    found = section(LinearRegression(), X, y, "rows", **options)
    free = section(LinearRegression(), X, y, "rows", rows=[3])
    assert found.parts[-1].svg != free.parts[-1].svg


@pytest.mark.thorough
def test_no_fold_splits_a_group():
    X, groups = numbers(), np.arange(120) // 6
    shift = np.random.default_rng(0).normal(size=20)[groups]
    X["place"] = shift
    y = X["a"] + np.random.default_rng(1).normal(size=20)[groups]
    report = InspectionReport(TREE, sections=["overview"], checks=[], random_state=0)
    scores = [
        report.fit(X, y, **params).sections_[0].parts[0].columns["mean"][0]
        for params in ({}, {"groups": groups})
    ]
    assert scores[1] < scores[0] - 0.1
    with pytest.raises(ValueError, match="cv=3 does not split by the groups"):
        clone(report).set_params(cv=3).fit(X, y, groups=groups)
    report.set_params(cv=GroupKFold(4)).fit(X, y, groups=groups)
    expected = cross_val_score(TREE, X, y, groups=groups, cv=GroupKFold(4))
    mean = report.sections_[0].parts[0].columns["mean"][0]
    np.testing.assert_allclose(mean, expected.mean())


@pytest.mark.thorough
def test_groups_are_routed():
    X, groups = numbers(), np.arange(120) // 6
    report = InspectionReport(
        TREE, cv=GroupKFold(4), sections=["overview"], checks=[], random_state=0
    )
    plain = report.fit(X, X["a"] ** 2, groups=groups).sections_[0].summary
    with config_context(enable_metadata_routing=True):
        routed = report.fit(X, X["a"] ** 2, groups=groups).sections_[0].summary
    assert routed == plain


def test_no_drawing_has_an_id_twice():
    found = section(LinearRegression(), numbers(), numbers()["a"] ** 2, "importance")
    for part in found.parts:
        ids = re.findall(r' id="([^"]+)"', getattr(part, "svg", ""))
        assert len(ids) == len(set(ids))
