"""Results as tables: of every class, of several outputs, and as displays draw them."""

import json
import sys
from inspect import isabstract

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import make_scorer, mean_absolute_error
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from sklearn_interpret import (
    additive,
    adversarial,
    counterfactuals,
    decomposition,
    effects,
    importance,
    influence,
    interactions,
    linear,
    prototypes,
    report,
    rules,
    shapley,
    surrogates,
)
from tests.instances import ARGUMENTS, OF_TEXTS

# What they say is of single rows, and in the table of the explanation.
OF_ROWS_ALONE = {
    adversarial.FastGradientSign,
    adversarial.HopSkipJump,
    adversarial.MinimalPerturbation,
    adversarial.OnePixelAttack,
    adversarial.ProjectedGradient,
    adversarial.SubstituteAttack,
    counterfactuals.Anchors,
    counterfactuals.ExactCounterfactual,
    counterfactuals.GrowingSpheres,
    counterfactuals.WachterCounterfactual,
    decomposition.NeighborContributions,
    surrogates.LimeImage,
    surrogates.LimeTabular,
    *OF_TEXTS,
}
X, Y = load_iris(return_X_y=True, as_frame=True)
PATIENTS, PROGRESSION = load_diabetes(return_X_y=True, as_frame=True)
FEW = PATIENTS[["bmi", "bp", "s5"]]
LINES = FrozenEstimator(LogisticRegression(max_iter=1000).fit(X, Y))
TREE = FrozenEstimator(DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, Y))
WITH_PRODUCTS = make_pipeline(PolynomialFeatures(2), LinearRegression())


def test_every_estimator_with_results_has_them_as_a_table():
    without = {c for c in {*ARGUMENTS, *OF_TEXTS} if not hasattr(c, "to_frame")}
    assert without == OF_ROWS_ALONE
    assert all(hasattr(each, "explain") for each in without)
    for each in ARGUMENTS.keys() - without:
        assert hasattr(each, "to_text"), each
        assert hasattr(each, "to_dict"), each
        assert not isabstract(each)


OF_OUTPUTS = [
    (effects.PartialDependence(LINES, grid_resolution=3), 4 * 3),
    (effects.AccumulatedLocalEffects(LINES, n_intervals=3, features=[2]), 4),
    (effects.IndividualConditionalExpectation(LINES, grid_resolution=2), 8 * 151),
    (interactions.HStatistic(LINES, subsample=20, random_state=0), 10),
    (interactions.PartialDependenceInteraction(LINES, grid_resolution=2), 6),
    (interactions.VariableInteractionNetwork(LINES, n_repeats=2, random_state=0), None),
    (interactions.FunctionalDecomposition(TREE, subsample=20, random_state=0), None),
    (shapley.TreeSHAP(TREE), 4),
    (surrogates.GlobalSurrogate(LINES, random_state=0), None),
]


@pytest.mark.parametrize(
    ("inspector", "n_lines"), OF_OUTPUTS, ids=[type(i).__name__ for i, _ in OF_OUTPUTS]
)
def test_each_of_several_outputs_has_its_lines(inspector, n_lines):
    inspector = clone(inspector).fit(X, Y)
    table = inspector.to_frame()
    counts = table["output"].value_counts()
    assert sorted(counts.index) == [0, 1, 2]
    if n_lines is not None:
        assert set(counts) == {n_lines}
    found = inspector.to_dict()
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert found["names"]["outputs"] == [0, 1, 2]
    assert len(found["results"]) == len(table)
    assert inspector.to_text().count("\n") >= len(table)


def test_terms_of_several_classes_have_names_of_their_own():
    table = additive.GAMClassifier(n_splines=4, smoothing=1.0).fit(X, Y).to_frame()
    assert table.index.is_unique
    assert len(table) == 12
    path = linear.SparseLinearClassifier(n_features_to_select=2).fit(X, Y)
    drawn = path.to_frame().query("selected").set_index(["class", "feature"])["coef"]
    for (label, name), coef in drawn.items():
        assert path.coef_[label, X.columns.get_loc(name)] == coef
    assert set(path.to_frame()["alpha"]) == set(path.alphas_)


def test_weights_of_small_size_keep_their_digits():
    tiny = FEW.assign(bp=FEW["bp"] * 1e6)
    path = linear.SparseLinearRegressor().fit(tiny, PROGRESSION)
    (line,) = (line for line in path.to_text().splitlines() if line.startswith("bp"))
    assert float(line.split()[1]) == pytest.approx(path.coef_[1], rel=1e-3)


def test_several_scores_are_named():
    scoring = {"r2": "r2", "mae": make_scorer(mean_absolute_error)}
    inspector = importance.PermutationImportance(
        LinearRegression(), scoring=scoring, n_repeats=2, random_state=0
    ).fit(FEW, PROGRESSION)
    table = inspector.to_frame()
    assert table["scoring"].tolist() == ["r2"] * 3 + ["mae"] * 3
    by_name = table.set_index(["scoring", "feature"])["importance"]
    for name, result in inspector.results_.items():
        assert_allclose(by_name[name][list(FEW)], result.importances_mean)
    assert inspector.to_text().startswith("baseline r2  ")


def same_numbers(inspector, display, *columns, on):
    """Hold numbers of a table and of a display to each other, by their names."""
    drawn = display.to_frame()
    one, two = (t.set_index(on)[list(columns)] for t in (inspector.to_frame(), drawn))
    assert one.index.is_unique
    assert_allclose(one.loc[two.index].astype(float), two.astype(float))
    assert len(one) == len(two)


def fitted(kind, model=WITH_PRODUCTS, **params):
    return kind(FrozenEstimator(clone(model).fit(FEW, PROGRESSION)), **params).fit(
        FEW, PROGRESSION
    )


@pytest.mark.thorough(after=1)
@pytest.mark.parametrize(
    "kind", ["AccumulatedLocalEffects", "PartialDependence", "ConditionalDependence"]
)
def test_effects_are_those_drawn(kind):
    inspector = fitted(getattr(effects, kind), features=["bmi", ("bmi", "s5")])
    display = getattr(effects, f"{kind}Display").from_estimator(inspector, FEW)
    table = display.to_frame()
    found = inspector.to_frame()
    for column in ("feature", "feature2"):
        assert table[column].fillna("").tolist() == found[column].fillna("").tolist()
    assert_allclose(found[["x", "x2", "value"]], table[["x", "x2", "value"]])
    errors = found.get("shape_standard_error", found["standard_error"])
    errors = errors.fillna(found["standard_error"])
    assert_allclose(found["value"] + 2 * errors, table["high"])


def test_curves_of_rows_are_those_drawn():
    inspector = fitted(
        effects.IndividualConditionalExpectation, features=["bp"], grid_resolution=4
    )
    display = effects.IndividualConditionalExpectationDisplay.from_estimator(
        inspector, FEW
    )
    one, two = inspector.to_frame(), display.to_frame()
    assert one["row"].isna().sum() == 4
    pd.testing.assert_frame_equal(
        one.drop(columns="output"), two[list(one.columns.drop("output"))]
    )


def test_a_missing_value_has_its_line():
    table = FEW.assign(bmi=FEW["bmi"].mask(FEW["bmi"] > 0.1))
    model = DecisionTreeRegressor(max_depth=3, random_state=0)
    inspector = effects.PartialDependence(model, features=["bmi", "bp"])
    found = inspector.fit(table, PROGRESSION).to_frame()
    (line,) = found.index[found["x"].isna()]
    assert found.loc[line, "feature"] == "bmi"
    assert found.loc[line, "value"] == inspector.missing_average_[0]


def test_importances_are_those_drawn():
    inspector = fitted(importance.PermutationImportance, n_repeats=3, random_state=0)
    display = importance.PermutationImportanceDisplay.from_estimator(inspector)
    drawn = display.to_frame().query("repeat.isna()")
    found = inspector.to_frame()
    assert found["feature"].tolist() == drawn["feature"].tolist()
    assert_allclose(found[["importance", "std"]], drawn[["importance", "std"]])


def test_conditional_tests_are_those_drawn():
    test = importance.ConditionalImportanceTest(test="gcm", cv=2, random_state=0)
    test.fit(FEW, PROGRESSION)
    display = importance.ConditionalImportanceDisplay.from_estimator(test)
    drawn, found = display.to_frame(), test.to_frame()
    pd.testing.assert_frame_equal(found[drawn.columns], drawn)
    assert_allclose(found["pvalue"].sort_values(), np.sort(test.pvalues_))


def test_interactions_are_those_drawn():
    inspector = fitted(interactions.HStatistic, subsample=50, random_state=0)
    display = interactions.HStatisticDisplay.from_estimator(inspector)
    drawn, found = display.to_frame(), inspector.to_frame()
    assert found["feature"].tolist() == drawn["feature"].tolist()
    assert_allclose(found["strength"], drawn["strength"])
    order = np.argsort(-inspector.overall_)
    assert_allclose(found["unnormalized"][:3], inspector.overall_unnormalized_[order])


def test_other_tables_are_those_drawn():
    trees = fitted(shapley.TreeSHAP, DecisionTreeRegressor(max_depth=3))
    display = shapley.ShapleyImportanceDisplay.from_estimator(trees, FEW)
    same_numbers(trees, display, "importance", on="feature")
    tree = DecisionTreeRegressor(max_depth=3, random_state=0)
    parts = fitted(interactions.FunctionalDecomposition, tree)
    display = interactions.FunctionalDecompositionDisplay.from_estimator(parts, FEW)
    same_numbers(parts, display, "share", on="interaction")
    tested = linear.CoefficientInference(LinearRegression()).fit(FEW, PROGRESSION)
    display = linear.CoefficientDisplay.from_estimator(tested)
    drawn, weights = display.to_frame().set_index("term"), tested.to_frame()
    pd.testing.assert_frame_equal(weights[list(drawn)].drop("intercept"), drawn)
    path = linear.SparseLinearRegressor().fit(FEW, PROGRESSION)
    display = linear.SparsePathDisplay.from_estimator(path)
    same_numbers(path, display, "coef_per_std", on=["feature", "alpha"])
    chosen = prototypes.MMDCritic(n_prototypes=3, n_criticisms=2).fit(FEW)
    display = prototypes.PrototypeDisplay.from_estimator(chosen, FEW)
    pd.testing.assert_frame_equal(chosen.to_frame(), display.to_frame())
    explained = influence.InfluenceFunctions(LinearRegression()).fit(FEW, PROGRESSION)
    display = influence.InfluenceDisplay.from_estimator(explained)
    pd.testing.assert_frame_equal(explained.to_frame(), display.to_frame())
    surrogate = fitted(surrogates.GlobalSurrogate, random_state=0)
    display = surrogates.GlobalSurrogateDisplay.from_estimator(surrogate, FEW)
    drawn = display.to_frame().drop(columns="output")
    pd.testing.assert_frame_equal(surrogate.to_frame(), drawn)


def test_text_of_weights_reads_like_a_summary():
    """The numbers are those of statsmodels 0.15.0, OLS(y, add_constant(X))."""
    X, y = np.array([[1.0], [2.0], [3.0], [4.0]]), np.array([1000.0, 1200, 1150, 1400])
    inspector = linear.CoefficientInference(LinearRegression()).fit(X, y)
    assert inspector.to_text(3).splitlines() == [
        "model         LinearRegression",
        "rows          4",
        "residual dof  2",
        "R²            0.808",
        "adjusted R²   0.711",
        "dispersion    7875",
        "covariance    model",
        "interval      wald, 95 %",
        "",
        "term       coef  standard_error  statistic  pvalue    low  high",
        "x0          115            39.7       2.90   0.101  -55.8   286",
        "intercept   900             109       8.28  0.0143    432  1368",
    ]
    found = inspector.to_dict()
    assert found["facts"]["R²"] == inspector.r2_
    assert found["results"][0]["coef"] == inspector.coef_[0]
    assert found["names"]["target"] is None
    with pytest.raises(ValueError, match="digits == 0"):
        inspector.to_text(digits=0)


def test_text_of_terms_says_what_was_fitted():
    model = additive.GAMRegressor(terms=["bmi", "s5"]).fit(FEW, PROGRESSION)
    head, _, table = model.to_text().partition("\n\n")
    facts = dict(line.split("  ", 1) for line in head.splitlines())
    assert facts["family"].strip() == "normal"
    assert facts["rows"].strip() == "442"
    assert float(facts["deviance explained"]) == pytest.approx(
        model.deviance_explained_, abs=5e-5
    )
    assert [line.split()[0] for line in table.splitlines()] == ["term", "bmi", "s5"]
    assert model.to_frame().attrs["family"] == "normal"


def test_checks_of_the_report_are_a_table_a_text_and_a_dict():
    page = report.InspectionReport(
        LinearRegression(), sections=["overview"], cv=2, random_state=0
    )
    page.fit(FEW[:60], PROGRESSION[:60])
    table, text, found = page.to_frame(), page.to_text(), page.to_dict()
    assert table["name"].tolist() == [check.name for check in page.checks_]
    assert set(table["verdict"]) <= {"passed", "warned", "skipped"}
    lines = text.splitlines()
    assert sum(not line.startswith(" ") for line in lines) == len(table)
    for check in page.checks_:
        (line,) = (line for line in lines if check.title in line)
        assert line.startswith(f"{check.verdict}: ")
        advised = f"    {check.advice}".replace("\N{MINUS SIGN}", "-") in lines
        assert advised == (check.verdict == "warned")
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert [line["finding"] for line in found["results"]] == table["finding"].tolist()
    (section,) = found["sections"]
    assert section["name"] == "overview"
    captions = [part.caption for part in page.sections_[0].parts]
    named = [table["caption"] for table in section["tables"]] + section["figures"]
    assert sorted(named) == sorted(captions)
    features = section["tables"][-1]["lines"]
    assert [line["feature"] for line in features] == list(FEW)


def test_a_feature_with_the_name_of_a_column_keeps_its_values():
    table = FEW.rename(columns={"bmi": "row", "bp": "kind"})
    chosen = prototypes.MMDCritic(n_prototypes=3, n_criticisms=0).fit(table)
    found = chosen.to_frame()
    assert found["row"].tolist() == chosen.prototype_indices_.tolist()
    assert_allclose(found["row (value)"], table["row"].iloc[found["row"]])


def test_tables_need_pandas_texts_and_dicts_do_not(monkeypatch):
    numbers, model = FEW.to_numpy(), DecisionTreeRegressor(max_depth=3)
    tree = shapley.TreeSHAP(model).fit(numbers, PROGRESSION)
    rule = rules.OneRClassifier().fit(X.to_numpy(), Y)
    monkeypatch.setitem(sys.modules, "pandas", None)
    for each in (tree, rule):
        with pytest.raises(ImportError, match="to_frame requires pandas"):
            each.to_frame()
        assert len(each.to_dict()["results"]) >= 3
        assert each.to_text().count("\n") >= 2


@pytest.mark.parametrize("kind", [list, pd.Series])
def test_dict_of_texts_has_the_texts(kind):
    texts = ["good film", "bad film", "very good", "very bad"]
    model = make_pipeline(CountVectorizer(), LogisticRegression()).fit(
        texts, [1, 0] * 2
    )
    if kind is pd.Series:
        texts = pd.Series(texts, index=list("abcd"))
    inspector = surrogates.LimeText(FrozenEstimator(model), random_state=0).fit(texts)
    found = inspector.explain(texts[:2]).to_dict()
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert [line["data"] for line in found["rows"]] == ["good film", "bad film"]
    names = [line["row"] for line in found["rows"]]
    assert names == ([0, 1] if kind is list else ["a", "b"])
    assert {line["feature"] for line in found["results"]} >= {"good", "bad", "film"}
