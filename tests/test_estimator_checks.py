"""The contract's checks notice an inspector that breaks it."""

import warnings
from dataclasses import fields, replace

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.feature_selection import VarianceThreshold
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.tree import DecisionTreeRegressor
from sklearn.utils.validation import check_is_fitted

from sklearn_interpret import estimator_checks as checks
from sklearn_interpret._model.rows.sample import Sample
from sklearn_interpret._model.rows.validation import check_rows, check_weights
from sklearn_interpret.effects import IndividualConditionalExpectation as ICE
from sklearn_interpret.effects import PartialDependence
from sklearn_interpret.explanations import Explanation
from sklearn_interpret.importance import PermutationImportance
from sklearn_interpret.influence import DeletionDiagnostics, RegressionInfluence
from sklearn_interpret.shapley import TreeSHAP
from tests.instances import instances_for_any_data


class WritesToInput(PartialDependence):
    def fit(self, X, y=None, sample_weight=None):
        super().fit(X, y, sample_weight)
        if hasattr(X, "iloc"):
            X.iloc[0, 0] = 99
        else:
            X[0, 0] = 99
        return self


class ChangesDtypes(PartialDependence):
    def fit(self, X, y=None, sample_weight=None):
        return super().fit(X.astype(object), y, sample_weight)


class ForgetsWeights(PartialDependence):
    def fit(self, X, y=None, sample_weight=None):
        return super().fit(X, y)


class KeepsZeroWeights(ICE):
    def fit(self, X, y=None, sample_weight=None):
        if sample_weight is not None:
            sample_weight = np.maximum(sample_weight, 1e-3)
        return super().fit(X, y, sample_weight)


class CentresOnBatch(PartialDependence):
    def transform(self, X):
        out = super().transform(X)
        return out - out.mean(axis=0)


class TakesDatesForOtherDays(PartialDependence):
    def transform(self, X):
        kinds = [dtype.kind for dtype in getattr(X, "dtypes", [])]
        return super().transform(X) + ("M" in kinds)


class DependsOnJobs(PartialDependence):
    def transform(self, X):
        return super().transform(X) + (self.n_jobs or 1)


class UsesGlobalState(PartialDependence):
    def transform(self, X):
        np.random.random()  # noqa: NPY002
        return super().transform(X)


class CountsCalls(PartialDependence):
    def transform(self, X):
        self.n_calls = getattr(self, "n_calls", 0) + 1
        return super().transform(X) * self.n_calls


class Remembers(PartialDependence):
    def fit(self, X, y=None, sample_weight=None):
        super().fit(X, y, sample_weight)
        self.n_fits = getattr(self, "n_fits", 0) + 1
        if self.n_fits > 1:
            self.again = True
        return self


class FitsFrozen(PartialDependence):
    def fit(self, X, y=None, sample_weight=None):
        if isinstance(self.estimator, FrozenEstimator):
            self.estimator.estimator.fit(X, y)
        return super().fit(X, y, sample_weight)


class FitsTheGiven(PartialDependence):
    def fit(self, X, y=None, sample_weight=None):
        super().fit(X, y, sample_weight)
        self.estimator.fit(X, y)
        return self


class RemembersFailures(PartialDependence):
    def fit(self, X, y=None, sample_weight=None):
        try:
            return super().fit(X, y, sample_weight)
        except Exception:
            self.average_ = []
            raise


class WritesToSparse(PartialDependence):
    def fit(self, X, y=None, sample_weight=None):
        if hasattr(X, "sum_duplicates"):
            X.sum_duplicates()
        return super().fit(X, y, sample_weight)


class IgnoresMasks(PartialDependence):
    def fit(self, X, y=None, sample_weight=None):
        return super().fit(np.asarray(X), y, sample_weight)


class RefitsInSilence(PartialDependence):
    def fit(self, X, y=None, sample_weight=None):
        model = self.estimator
        self.estimator = clone(model)
        super().fit(X, y, sample_weight)
        self.estimator = model
        return self


class AcceptsNoTargets(PartialDependence):
    def fit(self, X, y=None, sample_weight=None):
        return super().fit(X, np.arange(len(X)) if y is None else y, sample_weight)


class Predicts(PartialDependence):
    def predict(self, X):
        return super().predict(X) + 1

    def predict_proba(self, X):
        return np.ones((len(X), 1))


class CountsNamesWrongly(PartialDependence):
    def get_feature_names_out(self, input_features=None):
        return super().get_feature_names_out(input_features)[1:]


class FillsInDefaults(PartialDependence):
    def fit(self, X, y=None, sample_weight=None):
        self.features = list(range(X.shape[1]))
        return super().fit(X, y, sample_weight)


class AcceptsAnything(PartialDependence):
    def fit(self, X, y=None, sample_weight=None):
        if not isinstance(self.verbose, int):
            self.verbose = 0
        return super().fit(X, y, sample_weight)


class HasNoIdea(PartialDependence):
    def fit(self, X, y=None, sample_weight=None):
        try:
            return super().fit(X, y, sample_weight)
        except Exception as error:
            raise ValueError("something is wrong with features") from error


class AnswersUnfitted(PartialDependence):
    def predict(self, X):
        return np.zeros(len(X))


class MissesThePrediction(TreeSHAP):
    def explain(self, X):
        explanation = super().explain(X)
        return replace(explanation, values=0.9 * explanation.values)


class KeepsSilent(TreeSHAP):
    def explain(self, X):
        return replace(super().explain(X), predictions=None)


class LosesTheRows(TreeSHAP):
    def explain(self, X):
        return replace(super().explain(X), data=None)


class LosesTheNames(TreeSHAP):
    def explain(self, X):
        return replace(super().explain(X), feature_names=None)


class TransformsOtherwise(TreeSHAP):
    def transform(self, X):
        return np.abs(super().transform(X))


class NamesBackwards(TreeSHAP):
    def get_feature_names_out(self, input_features=None):
        return super().get_feature_names_out(input_features)[::-1]


class RunsNames(TreeSHAP):
    def explain(self, X):
        explanation = super().explain(X)
        parts = {field.name: getattr(explanation, field.name) for field in FIELDS}
        return Unescaped(**parts)


FIELDS = fields(Explanation)


class Unescaped(Explanation):
    def _repr_html_(self):
        return "".join(self.feature_names)


class DependsOnTheBatch(TreeSHAP):
    def explain(self, X):
        explanation = super().explain(X)
        return replace(explanation, values=explanation.values + 1e-9 * len(X))


class DependsOnTheWorkers(TreeSHAP):
    def interaction_values(self, X):
        return super().interaction_values(X) + 1e-9 * (self.n_jobs or 1)


class LeansToOneSide(TreeSHAP):
    def interaction_values(self, X):
        return np.triu(super().interaction_values(X))


class SharesTooMuch(TreeSHAP):
    def interaction_values(self, X):
        return 2 * super().interaction_values(X)


class NamesTwice(PermutationImportance):
    def to_frame(self):
        frame = super().to_frame()
        return frame.set_axis(["feature", *frame.columns[1:-1], "feature"], axis=1)


class SaysTwice(PermutationImportance):
    def to_frame(self):
        frame = super().to_frame()
        return frame.iloc[[*range(len(frame)), 0]]


class TellsMore(PermutationImportance):
    def to_text(self, digits=4):
        return super().to_text(digits) + "\nsum  123.4"


class LeavesLinesOut(PermutationImportance):
    def to_dict(self):
        found = super().to_dict()
        return found | {"results": found["results"][1:]}


class WritesInfinity(PermutationImportance):
    def to_dict(self):
        return super().to_dict() | {"facts": {"largest": np.inf}}


class IsAlwaysReady(PermutationImportance):
    def to_text(self, digits=4):
        return super().to_text(digits) if hasattr(self, "importances_") else ""


class LosesRowNames(TreeSHAP):
    def explain(self, X):
        return replace(super().explain(X), data=np.asarray(X))


class KeepsOtherColumns(PermutationImportance):
    def transform(self, X):
        return super().transform(X)[:, ::-1]


BROKEN = [
    (WritesToInput, "array_not_changed"),
    (WritesToInput, "frame_equals_array"),
    (WritesToInput, "model_sees_frames"),
    (ChangesDtypes, "model_sees_array"),
    (ChangesDtypes, "model_sees_frames"),
    (TakesDatesForOtherDays, "dates_are_days"),
    (ForgetsWeights, "weights_equal_repeated_rows"),
    (KeepsZeroWeights, "zero_weights_are_left_out"),
    (CentresOnBatch, "rows_are_independent"),
    (DependsOnJobs, "jobs_are_independent"),
    (UsesGlobalState, "same_seed_same_result"),
    (CountsCalls, "looking_changes_nothing"),
    (CountsCalls, "copies"),
    (Remembers, "refit_forgets"),
    (FitsFrozen, "frozen_is_not_refitted"),
    (FitsTheGiven, "given_estimator_is_cloned"),
    (AcceptsNoTargets, "fitted_bare_without_y"),
    (Predicts, "delegation"),
    (Predicts, "has_what_the_estimator_has"),
    (CountsNamesWrongly, "feature_names_out"),
    (CountsNamesWrongly, "output_frames"),
    (FillsInDefaults, "parameters_are_kept"),
    (AcceptsAnything, "bad_parameters"),
    (HasNoIdea, "bad_parameters"),
    (HasNoIdea, "unknown_feature_lists_near_matches"),
    (HasNoIdea, "no_predictor"),
    (HasNoIdea, "unfitted_frozen"),
    (AnswersUnfitted, "not_fitted"),
    (RemembersFailures, "failed_fit_is_forgotten"),
    (WritesToSparse, "sparse_not_changed"),
    (IgnoresMasks, "masked_arrays_are_refused"),
    (RefitsInSilence, "refit_warns"),
    (MissesThePrediction, "explanation_adds_up"),
    (KeepsSilent, "explanation_adds_up"),
    (LosesTheRows, "explanation_describes_the_rows"),
    (LosesTheNames, "explanation_describes_the_rows"),
    (TransformsOtherwise, "explanation_equals_transform"),
    (NamesBackwards, "explanation_equals_transform"),
    (RunsNames, "explanation_escapes_names"),
    (DependsOnTheBatch, "rows_are_independent"),
    (DependsOnTheWorkers, "jobs_are_independent"),
    (LeansToOneSide, "interaction_values_add_up"),
    (SharesTooMuch, "interaction_values_add_up"),
    (KeepsOtherColumns, "selected_columns"),
    (NamesTwice, "frame_names_each_line"),
    (SaysTwice, "frame_names_each_line"),
    (TellsMore, "numbers_of_the_text_are_in_the_frame"),
    (LeavesLinesOut, "dict_survives_json"),
    (WritesInfinity, "dict_survives_json"),
    (IsAlwaysReady, "tables_need_fit"),
    (LosesRowNames, "explanation_survives_json"),
]


def run_check(name, estimator):
    """Run a check by its name; nothing where it does not apply."""
    found = dict(checks.estimator_checks_generator(estimator))
    if f"check_{name}" in found:
        found[f"check_{name}"](estimator)


TREE = DecisionTreeRegressor(max_depth=3, random_state=0)
SOUND = {
    PartialDependence: {"estimator": LinearRegression(), "grid_resolution": 5},
    ICE: {"estimator": LinearRegression(), "grid_resolution": 5},
    TreeSHAP: {"estimator": TREE},
    PermutationImportance: {
        "estimator": LinearRegression(),
        "n_repeats": 2,
        "threshold": -1e9,
    },
}


@pytest.mark.parametrize(
    ("broken", "name"), BROKEN, ids=[f"{b.__name__}-{n}" for b, n in BROKEN]
)
def test_a_broken_promise_is_noticed(broken, name):
    sound = broken.__base__
    with pytest.raises((AssertionError, ValueError)):
        run_check(name, broken(**SOUND[sound]))
    run_check(name, sound(**SOUND[sound]))


class NamesTrainingRowsByPlace(DeletionDiagnostics):
    def explain(self, X, y=None):
        explanation = super().explain(X, y)
        return replace(explanation, training_names=range(len(explanation.values.T)))


class SaysItRefuses(DeletionDiagnostics):
    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags = replace(tags.target_tags, multi_output=False)
        if tags.classifier_tags is not None:
            tags.classifier_tags = replace(tags.classifier_tags, multi_class=False)
        return tags


@pytest.mark.parametrize("name", ["frame_equals_array", "zero_weights_are_left_out"])
def test_other_names_of_training_rows_are_noticed(name):
    with pytest.raises(AssertionError, match="training_names"):
        run_check(name, NamesTrainingRowsByPlace(LinearRegression()))
    run_check(name, DeletionDiagnostics(LinearRegression()))


@pytest.mark.parametrize(
    ("model", "doing"),
    [(LinearRegression(), "two targets"), (LogisticRegression(), "three classes")],
    ids=str,
)
def test_tags_that_refuse_in_vain_are_noticed(model, doing):
    with pytest.raises(AssertionError, match=f"{doing}: nothing was raised"):
        run_check("tags_of_the_estimator", SaysItRefuses(model))
    run_check("tags_of_the_estimator", DeletionDiagnostics(model))
    run_check("tags_of_the_estimator", RegressionInfluence(model))


def test_checks_are_those_of_what_an_estimator_can_do():
    def names(estimator):
        return {name for name, _ in checks.estimator_checks_generator(estimator)}

    every = names(KMeans())
    of_trees = names(TreeSHAP(DecisionTreeRegressor(random_state=0)))
    of_effects = names(PartialDependence(LinearRegression()))
    predictor = names(DecisionTreeRegressor(random_state=0))
    assert {"check_rows_are_independent", "check_scale_of_weights"} <= predictor
    assert predictor <= every <= of_effects < of_trees
    assert "check_delegation" in of_effects - every
    assert "check_feature_names_out" in every - predictor
    assert "check_explanation_adds_up" in of_trees - of_effects


class WeightedLine(RegressorMixin, BaseEstimator):
    """A predictor of our own kind: rows, weights and sample, but no model inside."""

    def fit(self, X, y=None, sample_weight=None):
        rows = check_rows(self, X, reset=True)
        sample = Sample.of_positive_weight(rows, y, check_weights(sample_weight, rows))
        first = np.asarray(sample.rows.native)[:, 0]
        root = np.sqrt(sample.weights / sample.weights.mean())
        self.line_ = np.polyfit(first, sample.y, 1, w=root)
        return self

    def predict(self, X):
        check_is_fitted(self)
        rows = check_rows(self, X, reset=False)
        return np.polyval(self.line_, np.asarray(rows.native)[:, 0])


@pytest.mark.parametrize(
    "estimator",
    [
        WeightedLine(),
        LinearDiscriminantAnalysis(),
        AgglomerativeClustering(),
        VarianceThreshold(0.5),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_estimators_that_wrap_no_model_pass(estimator):
    """Predictors, clusterers and selectors."""
    checks.check_estimator(estimator)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_all_at_once():
    """The checks themselves are run for every class in test_common."""
    inspector = instances_for_any_data(PartialDependence)[0]
    before = clone(inspector)
    checks.check_estimator(inspector)
    assert repr(inspector) == repr(before)
    assert not hasattr(inspector, "estimator_")


def test_an_absent_library_is_said(monkeypatch):
    def skip(inspector):
        raise checks.SkipTest("no such library")

    found = [("check_this", skip)]
    monkeypatch.setattr(checks, "estimator_checks_generator", lambda _: found)
    with pytest.warns(checks.SkipTestWarning, match="check_this is skipped: no such"):
        checks.check_estimator(PartialDependence(LinearRegression()))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found.clear()
        checks.check_estimator(PartialDependence(LinearRegression()))
