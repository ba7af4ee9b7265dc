"""Survival models of scikit-survival under every inspector, bare and frozen."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator

from sklearn_interpret.exceptions import UnreadableModelError
from sklearn_interpret.importance import SAGE, PermutationImportance, PermutationTest
from sklearn_interpret.influence import PredictionWeights
from sklearn_interpret.report import InspectionReport
from sklearn_interpret.survival import SurvivalModel
from tests.instances import INSPECTORS, OF_TEXTS, quick_arguments
from tests.test_common import NOTHING_SELECTED, OF_NOISE, ignoring

pytest.importorskip("sksurv")
from sksurv import datasets
from sksurv.linear_model import CoxPHSurvivalAnalysis
from sksurv.svm import FastSurvivalSVM
from sksurv.tree import SurvivalTree

MODELS = {
    "tree": SurvivalTree(max_depth=3, random_state=0),
    "cox": CoxPHSurvivalAnalysis(),
    "svm": FastSurvivalSVM(max_iter=100, random_state=0),
    "survival": SurvivalModel(SurvivalTree(max_depth=3), times=[100, 1000]),
}
REASONS = (
    "y has the fields fstat and lenfol",
    "is fitted with a penalty",
    "the model has 2 outputs",
    "norm='2.0' of changes is not among those that trees are searched for",
)
# What needs a number, or a class, for each row.
OF_NUMBERS = r"y has the fields fstat and lenfol, and a number for each row"


@pytest.fixture(scope="module")
def table():
    X, y = datasets.load_whas500()
    return X.astype(float)[["age", "bmi", "hr", "afb", "sysbp"]][:100], y[:100]


@ignoring(*OF_NOISE, also=["Optimization did not converge", *NOTHING_SELECTED])
@pytest.mark.thorough
@pytest.mark.parametrize("frozen", [False, True], ids=["bare", "frozen"])
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize(
    "inspector_class",
    [c for c in INSPECTORS if c not in OF_TEXTS],
    ids=lambda c: c.__name__,
)
def test_results_or_a_reason(inspector_class, name, frozen, table):
    X, y = table
    model = clone(MODELS[name])
    arguments = dict(quick_arguments(inspector_class, model))
    if "desired" in arguments:
        median = np.median(model.fit(X, y).predict(X))
        arguments["desired"] = (median, None)
    model = FrozenEstimator(model.fit(X, y)) if frozen else clone(model)
    try:
        inspector = inspector_class(model, **arguments).fit(X, y)
    except UnreadableModelError:
        return
    except (TypeError, ValueError) as error:
        if not any(text in str(error) for text in REASONS):
            raise
        return
    has_table = hasattr(inspector, "to_dict")
    assert len(
        inspector.to_dict()["results"] if has_table else inspector.explain(X[:2])
    )


@pytest.mark.parametrize("inspector_class", [SAGE, PredictionWeights, PermutationTest])
def test_survival_targets_are_no_numbers(inspector_class, table):
    with pytest.raises(TypeError, match=OF_NUMBERS):
        inspector_class(MODELS["cox"]).fit(*table)


def test_reports_leave_out_what_needs_numbers(table):
    report = InspectionReport(
        FrozenEstimator(clone(MODELS["tree"]).fit(*table)),
        sections=["overview", "importance", "effects"],
        checks=["range", "outside"],
        random_state=0,
    ).fit(*table)
    overview, importance, effects = report.sections_
    assert "scores are of one. The model's own score is" in overview.summary
    # SAGE is not among them.
    assert importance.code.startswith("PermutationImportanceDisplay")
    assert len(importance.code.splitlines()) == 1
    assert "age" in effects.summary
    assert [check.verdict for check in report.checks_] == ["skipped", "passed"]


def test_machines_of_support_vectors_are_called(table):
    X, y = table
    model = clone(MODELS["svm"]).fit(X, y)
    inspector = PermutationImportance(FrozenEstimator(model), random_state=0)
    assert inspector.fit(X, y).baseline_score_ == model.score(X, y)
