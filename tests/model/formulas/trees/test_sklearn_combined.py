"""Scikit-learn's sums of models of trees, read and asked."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.ensemble import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingClassifier,
    BaggingRegressor,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    IsolationForest,
    RandomForestClassifier,
    RandomForestRegressor,
    RandomTreesEmbedding,
    StackingRegressor,
    VotingClassifier,
    VotingRegressor,
)
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from sklearn_interpret._model.formulas.trees.tree_response import read_trees
from sklearn_interpret.exceptions import UnreadableModelError
from tests.model.formulas.trees.agreement import (
    assert_read,
    assert_same_outputs,
    telling_inputs,
)
from tests.model.formulas.trees.data import labels, table

# Bagging


FOREST = RandomForestRegressor(3, random_state=0)
BOOSTING = GradientBoostingRegressor(n_estimators=4, max_depth=2, random_state=0)
BAGGING = BaggingRegressor(n_estimators=2, max_features=0.5, random_state=0)


@pytest.mark.parametrize(
    "parameters",
    [
        {"max_features": 0.6},
        {"max_features": 0.8, "bootstrap_features": True},
        {"estimator": FOREST, "max_features": 3},
        {"estimator": BOOSTING},
        {"estimator": HistGradientBoostingRegressor(max_iter=4), "max_features": 4},
        {"estimator": BAGGING},
    ],
    ids=str,
)
def test_bagging_regressors(parameters):
    X, y = table()
    estimator = BaggingRegressor(n_estimators=4, random_state=0, **parameters)
    model = assert_read(estimator.fit(X, y), X, missing=False)
    assert_array_equal(model.columns, range(5))


def test_bagging_on_missing_values():
    X, y = table(missing=True)
    estimator = BaggingRegressor(n_estimators=4, max_features=3, random_state=0)
    assert_read(estimator.fit(X, y), X)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    "parameters",
    [
        {"max_features": 0.6},
        {"estimator": ExtraTreesClassifier(3, max_depth=3, random_state=0)},
        # Some members see but one class.
        {"max_samples": 3, "n_estimators": 10},
    ],
    ids=str,
)
def test_bagging_classifiers(parameters, n_classes):
    X, y = table()
    parameters = {"n_estimators": 4, **parameters}
    estimator = BaggingClassifier(random_state=0, **parameters)
    model = assert_read(
        estimator.fit(X, labels(y, n_classes, names=True)), X, missing=False
    )
    assert model.raw_method == "predict_proba"
    assert_array_equal(model.classes, estimator.classes_)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_bagging_of_scores(n_classes):
    """The scores add up, the probabilities do not."""
    X, y = table()
    member = GradientBoostingClassifier(n_estimators=3, random_state=0)
    estimator = BaggingClassifier(
        member, n_estimators=3, max_features=4, random_state=0
    )
    model = assert_read(estimator.fit(X, labels(y, n_classes)), X, missing=False)
    assert model.raw_method == "decision_function"
    assert model.link is None
    assert model.response_method is None
    with pytest.raises(ValueError, match="no known function"):
        model.response(model.raw(X))


def test_bagging_of_models_with_categories():
    X, y = table(400)
    X[:, :3] = np.abs(np.round(X[:, :3] * 3)) % 9
    member = HistGradientBoostingRegressor(max_iter=4, categorical_features=[0])
    estimator = BaggingRegressor(member, n_estimators=6, max_features=3, random_state=3)
    estimator.fit(np.round(X * 5) % 11, y)
    model = assert_read(estimator, np.round(X * 5) % 11)
    # Each way to encode the columns has features of its own.
    assert model.ensemble.n_features == 6 * 3
    for place, columns in enumerate(estimator.estimators_features_):
        assert_array_equal(model.columns[3 * place : 3 * place + 3], columns)
    X[:, 0] = np.arange(400) % 30
    assert_same_outputs(model, estimator, X)


def test_bagging_hands_arrays_on():
    """Missing values of a frame become what the members can take."""
    pandas = pytest.importorskip("pandas")
    X, y = table(missing=True)
    X = pandas.DataFrame(np.abs(np.round(X)), columns=list("abcde")).astype("Int64")
    member = HistGradientBoostingRegressor(max_iter=4, categorical_features=[0])
    estimator = BaggingRegressor(member, n_estimators=3, max_features=4, random_state=0)
    assert_read(estimator.fit(X, y), X)


# Voting


def test_voting_regressor():
    X, y = table()
    estimator = VotingRegressor(
        [
            ("tree", DecisionTreeRegressor(max_depth=4, random_state=0)),
            ("forest", RandomForestRegressor(3, random_state=0)),
            ("gone", "drop"),
            ("boosting", HistGradientBoostingRegressor(max_iter=4)),
        ],
        weights=[1, 2, 50, 0.5],
    ).fit(X, y)
    model = assert_read(estimator, X, missing=False)
    # Trees that compare in single and in double precision, in one ensemble.
    assert model.ensemble.precision == np.float64
    assert_array_equal(model.columns, range(5))
    assert model.cover == "mixed"
    rows = telling_inputs(
        read_trees(estimator.estimators_[0]), X, n_rows=1000, missing=False
    )
    assert_same_outputs(model, estimator, rows)


def test_voting_of_trees_with_and_without_categories():
    X, y = table(missing=True)
    boosting = HistGradientBoostingRegressor(max_iter=4, categorical_features=[0])
    X[:, 0] = np.abs(X[:, 0])
    estimator = VotingRegressor(
        [
            ("tree", DecisionTreeRegressor(max_depth=4, random_state=0)),
            ("boosting", boosting),
        ]
    ).fit(X, y)
    model = assert_read(estimator, X)
    assert_array_equal(model.columns, [0, 1, 2, 3, 4, 0, 1, 2, 3, 4])


@pytest.mark.parametrize("n_classes", [2, 3])
def test_voting_classifier(n_classes):
    X, y = table()
    estimator = VotingClassifier(
        [
            ("tree", DecisionTreeClassifier(max_depth=4, random_state=0)),
            ("forest", RandomForestClassifier(3, random_state=0)),
        ],
        voting="soft",
        weights=[3, 1],
    ).fit(X, labels(y, n_classes, names=True))
    assert_read(estimator, X, missing=False)


# AdaBoost


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("depth", [1, 4])
def test_ada_boost_classifier(n_classes, depth):
    X, y = table()
    estimator = AdaBoostClassifier(
        DecisionTreeClassifier(max_depth=depth, random_state=0),
        n_estimators=6,
        random_state=0,
    ).fit(X, labels(y, n_classes, names=True))
    model = assert_read(estimator, X, missing=False)
    assert model.raw_method == "decision_function"
    assert model.ensemble.n_outputs == (1 if n_classes == 2 else 3)


def test_ada_boost_that_stops_early():
    X, y = table()
    estimator = AdaBoostClassifier(
        DecisionTreeClassifier(random_state=0), n_estimators=6, random_state=0
    )
    model = assert_read(estimator.fit(X, labels(y, 3)), X, missing=False)
    assert model.ensemble.n_trees == 1


# What can't be read


TREE = DecisionTreeRegressor(random_state=0)
COUNTS = HistGradientBoostingRegressor(loss="poisson", max_iter=2)


@pytest.mark.parametrize(
    "estimator, reason",
    [
        (AdaBoostRegressor(TREE, n_estimators=2), "weighted median"),
        (BaggingRegressor(LinearRegression()), "its member LinearRegression"),
        (BaggingRegressor(COUNTS), "predict of its members is not a plain sum"),
        (
            VotingRegressor([("a", TREE), ("b", LinearRegression())]),
            "its member LinearRegression",
        ),
        (StackingRegressor([("a", TREE)]), "not a known model of trees"),
        (make_pipeline(LinearRegression()), "its last step LinearRegression"),
        (LinearRegression(), "not a known model of trees"),
        (RandomTreesEmbedding(n_estimators=2), "not a known model of trees"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_refused_regressors(estimator, reason):
    X, y = table()
    name = type(estimator).__name__
    with pytest.raises(UnreadableModelError, match=f"{name} can't be read.*{reason}"):
        read_trees(estimator.fit(X, np.abs(y)))


STUMPS = RandomForestClassifier(2, max_depth=1, random_state=0)
OF_SCORES = HistGradientBoostingClassifier(max_iter=2)


@pytest.mark.parametrize(
    "estimator, reason",
    [
        (VotingClassifier([("a", STUMPS)], voting="hard"), "voting='soft' is"),
        (
            VotingClassifier([("a", OF_SCORES)], voting="soft"),
            "predict_proba of its members is not a plain sum",
        ),
        (
            AdaBoostClassifier(STUMPS, n_estimators=2, random_state=0),
            "only the votes of single trees",
        ),
        (BaggingClassifier(LogisticRegression(), n_estimators=2), "its member Log"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_refused_classifiers(estimator, reason):
    X, y = table()
    with pytest.raises(UnreadableModelError, match=reason):
        read_trees(estimator.fit(X, labels(y, 2)))


def test_a_single_class_is_refused():
    X, _ = table()
    estimator = AdaBoostClassifier(n_estimators=2, random_state=0).fit(
        X, np.ones(len(X))
    )
    with pytest.raises(UnreadableModelError, match="single class"):
        read_trees(estimator)


def test_the_message_says_what_can_be_read():
    with pytest.raises(TypeError, match=r"What can be read: .*RandomForest"):
        read_trees(object())


@pytest.mark.parametrize(
    "estimator",
    [
        TREE,
        FOREST,
        IsolationForest(),
        BOOSTING,
        HistGradientBoostingClassifier(),
        BAGGING,
        VotingRegressor([("a", TREE)]),
        AdaBoostClassifier(),
        make_pipeline("passthrough", TREE),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_what_is_not_fitted_says_so(estimator):
    with pytest.raises(NotFittedError):
        read_trees(clone(estimator))
