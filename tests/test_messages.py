"""Warnings and errors say what to do."""

import ast
from copy import copy
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

import sklearn_interpret
from sklearn_interpret.adversarial import (
    AdversarialPatch,
    FastGradientSign,
    HopSkipJump,
    MinimalPerturbation,
    OnePixelAttack,
    ProjectedGradient,
)
from sklearn_interpret.counterfactuals import (
    ExactCounterfactual,
    GrowingSpheres,
    TextCounterfactual,
    WachterCounterfactual,
)
from sklearn_interpret.decomposition import (
    NaiveBayesContributions,
    NeighborContributions,
    TreePathContributions,
)
from sklearn_interpret.effects import (
    AccumulatedLocalEffects,
    AccumulatedLocalEffectsDisplay,
    PartialDependence,
    PartialDependenceDisplay,
)
from sklearn_interpret.exceptions import UnreadableModelError
from sklearn_interpret.importance import SAGE
from sklearn_interpret.influence import (
    DeletionDiagnostics,
    InfluenceFunctions,
    PredictionWeights,
    RegressionInfluence,
)
from sklearn_interpret.interactions import HStatistic, PartialDependenceInteraction
from sklearn_interpret.linear import CoefficientInference
from sklearn_interpret.prototypes import KMedoids, MMDCritic
from sklearn_interpret.report import InspectionReport
from sklearn_interpret.shapley import LinearSHAP, ShapleyValues, TreeSHAP
from sklearn_interpret.surrogates import GlobalSurrogate, LimeTabular

X = np.random.default_rng(0).normal(size=(30, 3))
LABELS = (X[:, 0] > 0).astype(int)

# Verbs that a warning begins with.
ADVICE = {
    *("Allow", "Do", "Fit", "Give", "Ignore", "Inspect", "Leave", "Pass", "Raise"),
    *("Remove", "Scale", "Take", "Try", "Use"),
}


def first_words():
    """File and first word of each message that is warned of, in the sources."""
    for path in sorted(Path(sklearn_interpret.__file__).parent.rglob("*.py")):
        source = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(source)) if "warn(" in source else ():
            name = getattr(node, "func", None)
            if getattr(name, "id", None) == "warn":
                text = node.args[0]
                start = text.values[0] if isinstance(text, ast.JoinedStr) else text
                yield path.name, getattr(start, "value", None)


def test_warnings_begin_with_advice():
    starts = list(first_words())
    assert len(starts) > 30
    given = [name for name, text in starts if not isinstance(text, str)]
    # Those of interactions and of announced rows get their advice.
    assert sorted(given) == ["_base.py", "row_limit.py"]
    words = {text.split()[0] for _, text in starts if isinstance(text, str)}
    assert words <= ADVICE


@pytest.mark.parametrize(
    ("inspector", "advice"),
    [
        (TreeSHAP(SVC()), "KernelSHAP takes any model."),
        (LinearSHAP(SVC()), "KernelSHAP takes any model."),
        (ShapleyValues(SVC(), algorithm="tree"), "KernelSHAP takes any model."),
        (TreePathContributions(SVC()), "BreakDown and KernelSHAP take any model."),
        (NaiveBayesContributions(SVC()), "BreakDown and KernelSHAP take any model."),
        (NeighborContributions(SVC()), "BreakDown and KernelSHAP take any model."),
        (InfluenceFunctions(SVC()), "DeletionDiagnostics takes any model."),
        (PredictionWeights(SVC()), "DeletionDiagnostics takes any model."),
        (RegressionInfluence(SVC()), "DeletionDiagnostics takes any model."),
        (CoefficientInference(SVC()), "PermutationTest tests the features of any"),
        (ExactCounterfactual(SVC()), "GrowingSpheres and WachterCounterfactual take"),
        (FastGradientSign(KNeighborsClassifier()), "HopSkipJump takes any model"),
        (ProjectedGradient(KNeighborsClassifier()), "HopSkipJump takes any model"),
        (MinimalPerturbation(KNeighborsClassifier()), "HopSkipJump takes any model"),
        (AdversarialPatch(KNeighborsClassifier()), "HopSkipJump takes any model"),
        (PartialDependence(SVC(), method="tree"), 'method="auto" takes any model.'),
        (AccumulatedLocalEffects(SVC(), method="tree"), 'method="auto" takes any'),
        (HStatistic(SVC(), method="tree"), 'method="auto" takes any model.'),
        (PartialDependenceInteraction(SVC(), method="tree"), 'method="auto" takes any'),
        (LimeTabular(SVC(), method="tree"), 'method="auto" takes any model.'),
    ],
    ids=lambda given: type(given).__name__,
)
def test_errors_name_what_takes_any_model(inspector, advice):
    with pytest.raises(UnreadableModelError) as error:
        inspector.fit(X, LABELS)
    assert str(error.value).count(advice) == 1


def test_errors_on_texts_name_what_takes_any_model():
    model = make_pipeline(CountVectorizer(), SVC())
    inspector = TextCounterfactual(model, method="exact")
    with pytest.raises(UnreadableModelError, match='method="auto" takes any model'):
        inspector.fit(["good film", "bad film"], [1, 0])


class WithoutClasses(ClassifierMixin, BaseEstimator):
    """A classifier by hand, whose author has forgotten `classes_`."""

    def fit(self, X, y=None):
        """Learn nothing."""
        self.fitted_ = True
        return self

    def predict_proba(self, X):
        """The first column decides."""
        second = 1 / (1 + np.exp(-np.asarray(X)[:, 0]))
        return np.column_stack([1 - second, second])

    def predict(self, X):
        """The likelier label."""
        return (self.predict_proba(X)[:, 1] > 0.5).astype(int)


@pytest.mark.parametrize(
    "inspector",
    [
        AdversarialPatch,
        partial(DeletionDiagnostics, what="loss"),
        ExactCounterfactual,
        partial(ExactCounterfactual, desired=(0.9, None)),
        FastGradientSign,
        GlobalSurrogate,
        GrowingSpheres,
        HopSkipJump,
        InspectionReport,
        MinimalPerturbation,
        OnePixelAttack,
        ProjectedGradient,
        SAGE,
        WachterCounterfactual,
    ],
)
def test_a_classifier_without_classes(inspector):
    model = FrozenEstimator(WithoutClasses().fit(X))
    with pytest.raises(ValueError, match="WithoutClasses is a classifier without cla"):
        inspector(model).fit(X, LABELS)


def test_a_classifier_without_classes_has_effects():
    model = FrozenEstimator(WithoutClasses().fit(X))
    assert PartialDependence(model).fit(X).output_names_ == [0, 1]


TEXTS_IN_X = pd.DataFrame({"size": X[:, 0], "smoker": np.where(LABELS, "yes", "no")})


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (TEXTS_IN_X, X[:, 1], "X has some in smoker. Encode them in a pipeline"),
        (X, TEXTS_IN_X["smoker"], "y has some: it needs numbers"),
    ],
)
def test_strings_that_a_model_does_not_take_are_named(X, y, message):
    with pytest.raises(ValueError, match=rf"Regression takes no strings.*{message}"):
        ShapleyValues(LinearRegression()).fit(X, y)


@pytest.mark.parametrize("y", [X[:, 0], LABELS, LABELS > 0, pd.Series(LABELS)])
@pytest.mark.parametrize(
    "display", [PartialDependenceDisplay, AccumulatedLocalEffectsDisplay]
)
def test_targets_in_the_place_of_features(display, y):
    model = KNeighborsClassifier().fit(X, LABELS)
    with pytest.raises(ValueError, match=r"30 entries, but X has 3.*are no features"):
        display.from_estimator(model, X, y)


def test_explanations_name_their_displays():
    explanation = ShapleyValues(LinearRegression()).fit(X, X[:, 0]).explain(X[:2])
    with pytest.raises(AttributeError, match="from_explanation` of ShapleyWaterfall"):
        explanation.plot()
    with pytest.raises(AttributeError, match=r"no attribute 'nothing'$"):
        _ = explanation.nothing
    assert not hasattr(copy(explanation), "plot")


class Booster:
    """A fitted model without `fit`."""

    def predict(self, X):
        return X[:, 0]


def test_boosters_are_no_estimators():
    with pytest.raises(TypeError, match=r"no method fit: .*FrozenEstimator"):
        ShapleyValues(Booster()).fit(X)


def test_numbers_of_prototypes_are_positional():
    assert KMedoids(3).fit(X).get_params()["n_clusters"] == 3
    assert MMDCritic(3, n_criticisms=2).fit(X).get_params()["n_prototypes"] == 3
