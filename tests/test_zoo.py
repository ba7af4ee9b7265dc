"""Every predictor of scikit-learn, under every inspector that takes it.

A cell of model and inspector ends in results or in an error that says what to do.
Results of a method that reads the model are those of an opaque copy, which can only be
asked.
"""

import warnings
from contextlib import suppress
from itertools import combinations
from operator import attrgetter
from unittest import SkipTest

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import BaseEstimator, clone, is_classifier, is_regressor
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import TransformedTargetRegressor
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingClassifier,
    BaggingRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    StackingClassifier,
    StackingRegressor,
    VotingClassifier,
    VotingRegressor,
)
from sklearn.feature_selection import RFE, SelectFromModel
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import Lasso, LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    TunedThresholdClassifierCV,
)
from sklearn.multiclass import (
    OneVsOneClassifier,
    OneVsRestClassifier,
    OutputCodeClassifier,
)
from sklearn.multioutput import (
    ClassifierChain,
    MultiOutputClassifier,
    MultiOutputRegressor,
    RegressorChain,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, SplineTransformer, StandardScaler
from sklearn.semi_supervised import SelfTrainingClassifier
from sklearn.svm import SVC, SVR
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils import all_estimators, get_tags
from sklearn.utils._test_common.instance_generator import _construct_instances

from sklearn_interpret.effects import (
    AccumulatedLocalEffects,
    ConditionalDependence,
    IndividualConditionalExpectation,
    PartialDependence,
)
from sklearn_interpret.estimator_checks._results import all_results
from sklearn_interpret.importance import (
    SAGE,
    PartialDependenceImportance,
    PermutationImportance,
)
from sklearn_interpret.interactions import FunctionalDecomposition, HStatistic
from sklearn_interpret.shapley import BreakDown, ShapleyValues
from tests.fuzzing import is_on_purpose
from tests.instances import ARGUMENTS, INSPECTORS, suited_to_any_data

RNG = np.random.default_rng(0)
X = np.round(RNG.uniform(0.1, 4, size=(60, 3)), 2)
SIGNAL = X[:, 0] * X[:, 1] + X[:, 2]
NUMBERS = np.round(SIGNAL + RNG.uniform(0, 0.5, size=len(X)), 2)
SEVERAL = np.column_stack([NUMBERS, X[:, 0]])
TWO = np.where(np.median(SIGNAL) < SIGNAL, "yes", "no")
THREE = np.digitize(SIGNAL, np.quantile(SIGNAL, [0.3, 0.6]))

# Predictors made of predictors; those without parameters here are as scikit-learn's own
# tests make them.
STUMP, TREE = DecisionTreeClassifier(max_depth=1), DecisionTreeRegressor(max_depth=3)
FEW = {"n_estimators": 3, "random_state": 0}
COMBINED = [
    AdaBoostClassifier(STUMP, **FEW),
    AdaBoostRegressor(TREE, **FEW),
    BaggingClassifier(LogisticRegression(), max_features=2, **FEW),
    BaggingRegressor(TREE, max_features=2, **FEW),
    BaggingRegressor(Ridge(), **FEW),
    CalibratedClassifierCV(RandomForestClassifier(3, random_state=0), cv=2),
    ClassifierChain(LogisticRegression()),
    FixedThresholdClassifier(LogisticRegression(), threshold=0.3),
    GradientBoostingClassifier(init="zero", **FEW),
    GradientBoostingRegressor(init=Ridge(), **FEW),
    GridSearchCV(SVC(), {"C": [0.1, 1]}, cv=2),
    GridSearchCV(Ridge(), {"alpha": [0.1, 1]}, cv=2),
    HistGradientBoostingClassifier(max_iter=3, categorical_features=[2]),
    HistGradientBoostingRegressor(max_iter=3, loss="poisson"),
    MultiOutputClassifier(LogisticRegression()),
    MultiOutputRegressor(Ridge()),
    OneVsOneClassifier(LogisticRegression()),
    OneVsRestClassifier(SVC()),
    OutputCodeClassifier(LogisticRegression(), random_state=0),
    RFE(LinearRegression(), n_features_to_select=2),
    RegressorChain(Ridge()),
    SelfTrainingClassifier(LogisticRegression()),
    SVC(kernel="linear"),
    SVR(kernel="poly", degree=2),
    StackingClassifier([("a", STUMP), ("b", LogisticRegression())], cv=2),
    StackingRegressor([("a", TREE), ("b", Ridge())], cv=2),
    TransformedTargetRegressor(Ridge(), func=np.log, inverse_func=np.exp),
    TunedThresholdClassifierCV(LogisticRegression(), cv=2),
    VotingClassifier([("a", STUMP), ("b", LogisticRegression())], voting="soft"),
    VotingClassifier([("a", STUMP), ("b", LogisticRegression())]),
    VotingRegressor([("a", TREE), ("b", RandomForestRegressor(3, random_state=0))]),
    make_pipeline(MinMaxScaler(), RandomForestRegressor(3, random_state=0)),
    make_pipeline(SelectFromModel(Lasso(0.1)), Ridge()),
    make_pipeline(StandardScaler(), SplineTransformer(n_knots=3), LogisticRegression()),
]


class Clipped(RandomForestRegressor):
    """Looks like a forest, and answers otherwise for some rows."""

    def predict(self, X):
        """Nothing above the upper quartile."""
        return np.minimum(super().predict(X), np.quantile(NUMBERS, 0.75))


class Rare(LogisticRegression):
    """Has predictions of its own that differ in few rows."""

    def predict_proba(self, X):
        """Certain far away."""
        shares = super().predict_proba(X)
        return np.where(shares > 0.98, 1.0, np.where(shares < 0.02, 0.0, shares))


class WithBasis(Ridge):
    """Has coefficients of columns that it makes itself."""

    def fit(self, X, y):
        """Fit on squares too."""
        super().fit(np.hstack([X, np.square(X)]), y)
        self.n_features_in_ = X.shape[1]
        return self

    def predict(self, X):
        """Predict with squares."""
        return np.hstack([X, np.square(X)]) @ self.coef_ + self.intercept_


COMBINED += [Clipped(5, random_state=0), Rare(C=100), WithBasis()]


def plain_predictors():
    """An instance of every class of scikit-learn that predicts."""
    for _, kind in all_estimators():
        if hasattr(kind, "predict") and not kind.__module__.startswith("sklearn.pip"):
            if kind is DummyClassifier:  # "stratified" draws its answers
                continue
            with warnings.catch_warnings(), suppress(SkipTest):
                warnings.simplefilter("ignore", FutureWarning)  # deprecated classes
                yield from list(_construct_instances(kind))[:1]


def name_of(model):
    """The class, and the inner one."""
    inner = getattr(model, "estimator", None)
    return type(model).__name__ + ("" if inner is None else f"-{type(inner).__name__}")


def fitted(model):
    """The model and targets that it takes; None where it takes none of ours."""
    kinds = [NUMBERS, SEVERAL]
    if is_classifier(model):
        kinds = [
            TWO,
            THREE,
            np.column_stack([TWO, TWO[::-1]]),
            (SEVERAL > 2).astype(int),
        ]
    elif not is_regressor(model):
        kinds = [None, *kinds]
    for y in kinds:
        try:
            return clone(model).fit(X, y), y
        except (ValueError, TypeError, IndexError):  # the last: chains
            continue
    return None


class Opaque(BaseEstimator):
    """A predictor that can only be asked."""

    def __init__(self, model):
        self.model = model
        self.n_features_in_ = model.n_features_in_

    def fit(self, X, y=None):
        """Learn nothing."""
        return self

    def __getattr__(self, name):
        methods = "predict", "predict_proba", "predict_log_proba", "decision_function"
        if name in (*methods, "classes_", "score") and "model" in vars(self):
            return getattr(self.model, name)
        raise AttributeError(name)

    def __sklearn_tags__(self):
        return get_tags(self.model)

    def __sklearn_is_fitted__(self):
        return True


def explained(inspector):
    """Values and base values of a few rows."""
    explanation = inspector.explain(X[:5])
    return [explanation.values, explanation.base_values]


def components(inspector):
    """Components of a few rows, by set of features; those not there are zero."""
    values = inspector.explain(X[:5]).values
    sets = [tuple(one) for one in inspector.interactions_]
    everything = [s for k in range(1, 4) for s in combinations(range(3), k)]
    zero = np.zeros((5, *values.shape[2:]))
    return [values[:, sets.index(s)] if s in sets else zero for s in everything]


# Inspectors that may read a model, deterministic or seeded, and what is compared.
BOTH_WAYS = [
    (PartialDependence, {"grid_resolution": 5}, attrgetter("average_")),
    (IndividualConditionalExpectation, {"grid_resolution": 4}, attrgetter("curves_")),
    (AccumulatedLocalEffects, {"n_intervals": 4}, attrgetter("effects_")),
    (ConditionalDependence, {"n_intervals": 4}, attrgetter("average_")),
    (HStatistic, {}, lambda inspector: [inspector.pairwise_, inspector.overall_]),
    (FunctionalDecomposition, {"max_order": 3}, components),
    (ShapleyValues, {"subsample": 1.0}, explained),
    (BreakDown, {"subsample": None}, explained),
]
OF_LOSSES = [
    (PartialDependenceImportance, {"grid_resolution": 4}),
    (PermutationImportance, {"method": "exact"}),
    (SAGE, {"n_permutations": 4, "subsample": 20, "random_state": 0}),
]


def results(kind, params, model, y, results_of):
    """Results of an inspector, or the error that it raises on purpose."""
    try:
        return results_of(kind(FrozenEstimator(model), **params).fit(X, y))
    except (ValueError, TypeError) as error:
        if not is_on_purpose(error):
            raise
        return error


def check_same(kind, params, model, y, results_of):
    """Compare results of reading a model with those of asking an opaque copy."""
    read, asked = (
        results(kind, params, m, y, results_of) for m in (model, Opaque(model))
    )
    if isinstance(read, Exception) and isinstance(asked, Exception):
        return
    assert not isinstance(read, Exception), read
    assert not isinstance(asked, Exception), asked
    for one, two in zip(read, asked, strict=True):
        size = max(np.nanmax(np.abs(two), initial=0), 1e-3)
        assert_allclose(one, two, rtol=0, atol=1e-6 * size)


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("model", [*plain_predictors(), *COMBINED], ids=name_of)
def test_every_model_under_every_inspector(model):
    made = fitted(model)
    if made is None:
        return
    model, y = made
    wrong = []

    def attempt(check, kind, *arguments):
        try:
            check(kind, *arguments)
        except Exception as error:
            wrong.append(f"{kind.__name__}: {type(error).__name__} {error}"[:500])

    scored = hasattr(model, "decision_function")
    method = "decision_function" if scored else ["predict_proba", "predict"]
    scoring = "accuracy" if is_classifier(model) else "neg_mean_squared_error"
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for kind in INSPECTORS:
            first = suited_to_any_data(kind, ARGUMENTS[kind][0], model)
            attempt(results, kind, first, model, y, lambda one: all_results(one, X[:5]))
        for kind, params, results_of in BOTH_WAYS:
            asked = params | {"response_method": method}
            attempt(check_same, kind, asked, model, y, results_of)
        for kind, params in OF_LOSSES:
            if kind is PermutationImportance:
                params = params | {"scoring": scoring}
            importances = lambda one: [one.feature_importances_]  # noqa: E731
            attempt(check_same, kind, params, model, y, importances)
    assert not wrong, "\n".join(wrong)
