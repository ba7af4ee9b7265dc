"""The contract's checks notice an inspector that breaks it."""

import re
import warnings
from dataclasses import fields, replace

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeRegressor

from sklearn_interpret import estimator_checks as checks
from sklearn_interpret.effects import IndividualConditionalExpectation as ICE
from sklearn_interpret.effects import PartialDependence
from sklearn_interpret.explanations import Explanation
from sklearn_interpret.importance import PermutationImportance
from sklearn_interpret.shapley import TreeSHAP
from tests.instances import ARGUMENTS, estimators


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
        self.estimator.fit(X, y)
        return super().fit(X, y, sample_weight)


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


BROKEN = [
    (WritesToInput, "array_not_changed"),
    (WritesToInput, "frame_not_changed"),
    (WritesToInput, "mixed_frame_not_changed"),
    (ChangesDtypes, "model_sees_array"),
    (ChangesDtypes, "model_sees_pandas"),
    (ForgetsWeights, "weights_equal_repeated_rows"),
    (KeepsZeroWeights, "zero_weights_are_left_out"),
    (CentresOnBatch, "rows_are_independent"),
    (DependsOnJobs, "jobs_are_independent"),
    (UsesGlobalState, "global_random_state_untouched"),
    (CountsCalls, "looking_changes_nothing"),
    (CountsCalls, "copies"),
    (Remembers, "refit_forgets"),
    (FitsFrozen, "frozen_is_not_refitted"),
    (FitsTheGiven, "given_estimator_is_cloned"),
    (AcceptsNoTargets, "fitted_bare_without_y"),
    (Predicts, "delegation"),
    (Predicts, "has_what_the_estimator_has"),
    (CountsNamesWrongly, "feature_names_out"),
    (CountsNamesWrongly, "pandas_output"),
    (CountsNamesWrongly, "polars_output"),
    (FillsInDefaults, "parameters_are_kept"),
    (AcceptsAnything, "bad_parameters"),
    (HasNoIdea, "bad_parameters"),
    (HasNoIdea, "unknown_feature_lists_near_matches"),
    (HasNoIdea, "no_predictor"),
    (HasNoIdea, "unfitted_frozen"),
    (AnswersUnfitted, "not_fitted"),
]


@pytest.mark.parametrize(
    ("broken", "name"), BROKEN, ids=[f"{b.__name__}-{n}" for b, n in BROKEN]
)
def test_a_broken_promise_is_noticed(broken, name):
    check = getattr(checks, f"check_{name}")
    model = LinearRegression()
    with pytest.raises((AssertionError, ValueError)):
        check(broken(model, grid_resolution=5))
    sound = ICE if issubclass(broken, ICE) else PartialDependence
    check(sound(model, grid_resolution=5))


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


class RoundsWithTheBatch(TreeSHAP):
    def explain(self, X):
        explanation = super().explain(X)
        return replace(explanation, values=explanation.values + 1e-9 * len(X))


class RoundsWithTheWorkers(TreeSHAP):
    def interaction_values(self, X):
        return super().interaction_values(X) + 1e-9 * (self.n_jobs or 1)


class LeansToOneSide(TreeSHAP):
    def interaction_values(self, X):
        return np.triu(super().interaction_values(X))


class SharesTooMuch(TreeSHAP):
    def interaction_values(self, X):
        return 2 * super().interaction_values(X)


BROKEN_LOCALLY = [
    (MissesThePrediction, "explanation_adds_up"),
    (KeepsSilent, "explanation_adds_up"),
    (LosesTheRows, "explanation_describes_the_rows"),
    (LosesTheNames, "explanation_describes_the_rows"),
    (TransformsOtherwise, "explanation_equals_transform"),
    (NamesBackwards, "explanation_equals_transform"),
    (RunsNames, "explanation_escapes_names"),
    (RoundsWithTheBatch, "explanation_of_a_row_alone"),
    (RoundsWithTheWorkers, "explanation_of_a_row_alone"),
    (LeansToOneSide, "interaction_values_add_up"),
    (SharesTooMuch, "interaction_values_add_up"),
]


@pytest.mark.parametrize(
    ("broken", "name"),
    BROKEN_LOCALLY,
    ids=[f"{b.__name__}-{n}" for b, n in BROKEN_LOCALLY],
)
def test_a_broken_promise_of_an_explanation_is_noticed(broken, name):
    check = getattr(checks, f"check_{name}")
    model = DecisionTreeRegressor(max_depth=3)
    with pytest.raises(AssertionError):
        check(broken(model))
    check(TreeSHAP(model))
    check(PartialDependence(model))  # nothing is asked of it


def test_each_check_is_listed_once_and_documented():
    listed = dict(checks.inspector_checks())
    assert sorted([*listed, "check_inspector", "inspector_checks"]) == checks.__all__
    for name, check in listed.items():
        assert check.__name__ == name
        assert re.match(r"\S.*[.]\n", check.__doc__)


@pytest.mark.filterwarnings("ignore:No features were selected")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.parametrize("kind", ["regressor", "classifier"])
@pytest.mark.parametrize(
    "estimator_class", [PartialDependence, PermutationImportance, TreeSHAP]
)
def test_all_at_once(estimator_class, kind):
    """The checks themselves are run for every class in test_common."""
    model = estimators(estimator_class)[kind == "classifier"]
    inspector = estimator_class(model, **ARGUMENTS[estimator_class][0])
    before = clone(inspector)
    checks.check_inspector(inspector)
    assert repr(inspector) == repr(before)
    assert not hasattr(inspector, "estimator_")


def test_an_absent_library_is_said(monkeypatch):
    def skip(inspector):
        raise checks.SkipTest("no such library")

    monkeypatch.setattr(checks, "inspector_checks", lambda: [("check_this", skip)])
    with pytest.warns(checks.SkipTestWarning, match="check_this is skipped: no such"):
        checks.check_inspector(PartialDependence(LinearRegression()))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        monkeypatch.setattr(checks, "inspector_checks", list)
        checks.check_inspector(PartialDependence(LinearRegression()))
