"""Influence at fixed trees, against slow fits of the same structure."""

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import config_context
from sklearn.base import clone, is_classifier
from sklearn.datasets import load_diabetes, load_iris
from sklearn.ensemble import (
    BaggingClassifier,
    BaggingRegressor,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss, log_loss, mean_squared_error
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from sklearn_interpret._core.statistics.score_losses import (
    HalfSquared,
    Logistic,
    Softmax,
)
from sklearn_interpret.exceptions import BalancedClassesWarning, UnreadableModelError
from sklearn_interpret.influence import InfluenceFunctions, PredictionWeights
from tests.influence.held_structure import (
    boosted_scores,
    indicators,
    leaf_means,
    leaves_of,
    without_each_row,
)

RNG = np.random.default_rng(0)
X, CLASSES = load_iris(return_X_y=True)
ORDER = RNG.permutation(150)[:60]
X, CLASSES = X[ORDER], CLASSES[ORDER]
# Noise, so that classes are not separable.
CLASSES = np.where(RNG.random(60) < 0.2, RNG.integers(0, 3, 60), CLASSES)
LABELS = np.array(["a", "b", "c"])[CLASSES]
SECOND = LABELS != "a"
NUMBERS = X[:, 0] + RNG.normal(size=60)
COUNTS = RNG.integers(1, 4, 60).astype(float)
NEW, NEW_ROWS = X[:9], slice(9)

SMALL = {"n_estimators": 4, "max_depth": 2, "random_state": 0}
HIST = {"max_iter": 4, "min_samples_leaf": 4, "early_stopping": False}
BOOSTING = [
    (GradientBoostingRegressor(**SMALL), NUMBERS),
    (GradientBoostingClassifier(**SMALL), SECOND),
    (GradientBoostingClassifier(**SMALL), LABELS),
    (GradientBoostingClassifier(init="zero", **SMALL), SECOND),
    (HistGradientBoostingRegressor(**HIST), NUMBERS),
    (HistGradientBoostingClassifier(l2_regularization=2.0, **HIST), SECOND),
    (HistGradientBoostingClassifier(l2_regularization=0.5, **HIST), LABELS),
]
FORESTS = [
    (DecisionTreeRegressor(min_samples_leaf=5), np.column_stack([NUMBERS, X[:, 1]])),
    (DecisionTreeClassifier(min_samples_leaf=5), LABELS),
    (RandomForestRegressor(5, min_samples_leaf=3, random_state=0), NUMBERS),
    (RandomForestClassifier(5, min_samples_leaf=3, random_state=0), SECOND),
    (ExtraTreesClassifier(5, min_samples_leaf=3, random_state=0), LABELS),
    (BaggingRegressor(DecisionTreeRegressor(max_depth=2), 4, random_state=0), NUMBERS),
    (BaggingClassifier(DecisionTreeClassifier(max_depth=2), random_state=0), LABELS),
]


def model_name(part):
    return None if isinstance(part, np.ndarray) else str(part)[:40]


def losses_of(model, targets, scores):
    """Losses of scores (m, k)."""
    if not is_classifier(model):
        return 2 / targets.shape[-1] * HalfSquared().values(targets, scores)
    return (Logistic() if targets.shape[-1] == 1 else Softmax()).values(targets, scores)


def assert_is_influence(inspector, scores_of, targets, weights, loss=losses_of):
    """Changes of losses by finite differences of scores, (m, n)."""
    before, changes = scores_of(weights), without_each_row(scores_of, weights)
    targets, model = targets[:, None], inspector.estimator_
    after = loss(model, targets, before[:, None] + changes)
    expected = after - loss(model, targets, before[:, None])
    found = inspector.explain(NEW, _targets_of(inspector)[NEW_ROWS]).values
    # Losses are of second order in small changes.
    assert_allclose(found, expected, rtol=0, atol=1e-3 * np.abs(expected).max())
    inputs = inspector._changes.inputs_of(NEW)
    atol = 1e-6 * np.abs(changes).max()
    assert_allclose(inspector._changes.changes(inputs), changes, rtol=0, atol=atol)
    return expected


def _targets_of(inspector):
    return inspector._sample.y


def assert_boosting_is_influence(model, rows, y, weights, in_bag=None, start=None):
    given = {} if weights is None else {"sample_weight": weights}
    inspector = InfluenceFunctions(model).fit(rows, y, **given)
    fitted = inspector.estimator_
    leaves, targets = leaves_of(fitted, rows), indicators(fitted, y)
    new = leaves_of(fitted, NEW)

    def scores_of(weights):
        return boosted_scores(fitted, leaves, targets, weights, new, in_bag, start)

    weights = np.ones(len(rows)) if weights is None else weights
    assert_is_influence(inspector, scores_of, targets[NEW_ROWS], weights)
    return inspector


@pytest.mark.parametrize(("model", "y"), BOOSTING, ids=model_name)
@pytest.mark.parametrize("weights", [None, COUNTS], ids=["equal", "weighted"])
def test_boosting_without_a_row_at_fixed_structure(model, y, weights):
    start = np.zeros(1) if getattr(model, "init", None) == "zero" else None
    inspector = assert_boosting_is_influence(model, X, y, weights, start=start)
    values = inspector.explain(X, y).values
    assert_allclose(inspector.self_influence_, np.diag(values), rtol=1e-2, atol=1e-6)


@pytest.mark.parametrize(
    ("model", "y"),
    [
        (GradientBoostingRegressor(subsample=0.6, **SMALL), NUMBERS),
        (GradientBoostingClassifier(subsample=0.6, **SMALL), SECOND),
        (GradientBoostingClassifier(subsample=0.6, **SMALL), LABELS),
    ],
)
def test_rows_out_of_bag_do_not_move_the_tree(model, y):
    inspector = InfluenceFunctions(model).fit(X, y)
    in_bag = inspector._changes.leaf_scores.stages.rules.in_bag
    assert (in_bag.sum(axis=1) == 36).all()
    assert_boosting_is_influence(model, X, y, None, in_bag)


@pytest.mark.parametrize("y", [NUMBERS, SECOND, LABELS], ids=["y", "two", "three"])
@pytest.mark.parametrize("histogram", [False, True])
def test_rows_held_out_have_no_influence(y, histogram):
    classifies = y is not NUMBERS
    if histogram:
        kind = HistGradientBoostingRegressor, HistGradientBoostingClassifier
        model = kind[classifies](
            max_iter=4, min_samples_leaf=4, early_stopping=True, random_state=0
        )
    else:
        kind = GradientBoostingRegressor, GradientBoostingClassifier
        model = kind[classifies](n_iter_no_change=5, **SMALL)
    inspector = InfluenceFunctions(model).fit(X, y)
    assert (inspector.self_influence_ == 0).sum() == 6  # a tenth


@pytest.mark.parametrize(("model", "y"), FORESTS, ids=model_name)
@pytest.mark.parametrize("weights", [None, COUNTS], ids=["equal", "weighted"])
@pytest.mark.filterwarnings("ignore:When fitting Bagging.*bootstrap=True")
def test_forests_without_a_row_at_fixed_structure(model, y, weights):
    given = {} if weights is None else {"sample_weight": weights}
    inspector = InfluenceFunctions(model).fit(X, y, **given)
    fitted = inspector.estimator_
    trees = getattr(fitted, "estimators_", [fitted])
    whole = [np.arange(len(X))]
    samples = getattr(fitted, "estimators_samples_", whole)
    targets = indicators(fitted, y)
    # Where weights draw the samples, trees do not weigh them again.
    shares = inspector._changes.leaf_scores.shares
    draws = shares[:, [0]].nnz and weights is not None and samples is not whole

    def scores_of(weights):
        return leaf_means(trees, samples, X, targets, weights, NEW)

    weights = np.ones(len(X)) if weights is None else weights
    if draws and np.abs(scores_of(weights) - _scores(inspector)).max() > 1e-9:
        weights = np.ones(len(X))

    def squares(model, targets, scores):
        squares = (targets - scores) ** 2
        of_classes = is_classifier(model)
        return squares.sum(axis=-1) if of_classes else squares.mean(axis=-1)

    assert_is_influence(inspector, scores_of, targets[NEW_ROWS], weights, squares)


def _scores(inspector):
    return inspector._changes.scores(inspector._changes.inputs_of(NEW))


def test_deletions_from_a_tree():
    """The mean of a leaf without a row, to first order in its share."""
    tree = DecisionTreeRegressor(min_samples_leaf=20).fit(X, NUMBERS)
    inspector = InfluenceFunctions(FrozenEstimator(tree)).fit(X, NUMBERS)
    leaves, row = tree.apply(X), 7
    inside = leaves == leaves[row]
    others = inside & (np.arange(60) != row)
    share, mean = 1 / inside.sum(), NUMBERS[inside].mean()
    change = (NUMBERS[others].mean() - mean) * (1 - share)
    error = (NUMBERS - mean)[inside]
    found = inspector.explain(X, NUMBERS).values[:, row]
    assert_allclose(found[inside], (change - error) ** 2 - error**2)
    assert (found[~inside] == 0).all()


def test_losses_are_metrics():
    two = RandomForestClassifier(4, min_samples_leaf=5, random_state=0)
    for model, y, metric in [
        (GradientBoostingRegressor(**SMALL), NUMBERS, mean_squared_error),
        (GradientBoostingClassifier(**SMALL), LABELS, log_loss),
        (two, SECOND, lambda y, shares: brier_score_loss(y, shares[:, 1])),
    ]:
        inspector = InfluenceFunctions(model).fit(X, y)
        changes = inspector.influence_on(metric, X, y)
        means = inspector.explain(X, y).values.mean(axis=0)
        assert_allclose(changes, means, atol=1e-2 * np.abs(means).max())
    gains = inspector.influence_on(lambda y, found: found[0, 1], X[:1], None)
    first = inspector._changes.changes(inspector._changes.inputs[:1])[0, :, 0]
    assert_allclose(gains, first, atol=1e-14)


@pytest.mark.parametrize("loss", ["squared", "log"])
def test_groups_add_up_to_first_order(loss):
    y = NUMBERS if loss == "squared" else LABELS
    kind = (
        GradientBoostingRegressor if loss == "squared" else GradientBoostingClassifier
    )
    groups = np.array(list("xyz"))[np.arange(60) % 3]
    single = InfluenceFunctions(kind(**SMALL)).fit(X, y)
    grouped = InfluenceFunctions(kind(**SMALL), groups=groups).fit(X, y)
    inputs = single._changes.inputs
    by_row = single._changes.changes(inputs)
    sums = np.stack([by_row[:, groups == g].sum(axis=1) for g in "xyz"], axis=1)
    assert_allclose(grouped._changes.changes(inputs), sums, atol=1e-12)
    explanation = grouped.explain(X, y)
    assert explanation.training_names == ("x", "y", "z")
    own = explanation.values[np.arange(60), np.arange(60) % 3]
    expected = [own[groups == g].mean() for g in "xyz"]
    assert_allclose(grouped.self_influence_, expected, rtol=1e-2)


@pytest.mark.parametrize("subsample", [1.0, 0.5])
def test_squared_error_moves_predictions_by_weights_of_targets(subsample):
    """A row of weight w moves a prediction as w new targets at the prediction do."""
    model = GradientBoostingRegressor(subsample=subsample, **SMALL)
    inspector = InfluenceFunctions(model).fit(X, NUMBERS)
    weights = PredictionWeights(model).fit(X, NUMBERS).transform(NEW)
    assert_allclose(weights @ NUMBERS, _scores(inspector)[:, 0])
    changes = inspector._changes.changes(inspector._changes.inputs_of(NEW))[:, :, 0]
    # Twice all weights change nothing: the derivatives along them sum to zero.
    assert_allclose(changes.sum(axis=1), 0, atol=1e-12)
    one_step = clone(model).set_params(n_estimators=1, learning_rate=1.0, subsample=1)
    weights = PredictionWeights(one_step).fit(X, NUMBERS).transform(NEW)
    inspector = InfluenceFunctions(one_step).fit(X, NUMBERS)
    changes = inspector._changes.changes(inspector._changes.inputs_of(NEW))[:, :, 0]
    residuals = NUMBERS - (weights @ NUMBERS)[:, None]
    assert_allclose(changes, -weights * residuals, atol=1e-12)


def test_rows_without_weight():
    """They are drawn, but have no influence, and no column."""
    weights = COUNTS * (np.arange(60) % 4 > 0)
    model = GradientBoostingClassifier(subsample=0.5, **SMALL)
    inspector = InfluenceFunctions(model).fit(X, LABELS, sample_weight=weights)
    names = inspector.explain(NEW).training_names
    assert_array_equal(names, np.flatnonzero(weights))
    assert len(inspector.self_influence_) == 45
    shares = weights[weights > 0] / weights.sum()
    scaled = InfluenceFunctions(model, scaling="mean")
    scaled.fit(X, LABELS, sample_weight=weights)
    assert_allclose(scaled.self_influence_ * shares, inspector.self_influence_)


def test_pipelines_frames_searches_and_missing_values():
    frame = pd.DataFrame(X, columns=list("abcd")).set_index(NUMBERS)
    frame.iloc[::7, 1] = np.nan
    model = HistGradientBoostingClassifier(**HIST)
    expected = InfluenceFunctions(model).fit(frame.to_numpy(), LABELS)
    expected = expected.explain(frame.to_numpy()[:4], LABELS[:4]).values
    steps = make_pipeline(StandardScaler(), model)
    grid = {"histgradientboostingclassifier__max_iter": [4]}
    for estimator in (model, steps, GridSearchCV(steps, grid, cv=2)):
        inspector = InfluenceFunctions(estimator).fit(frame, LABELS)
        found = inspector.explain(frame.iloc[:4], LABELS[:4])
        assert_allclose(found.values, expected, atol=1e-8)
        assert found.training_names == tuple(NUMBERS)
    assert -1 <= inspector.check(2) <= 1
    level = pd.Categorical.from_codes(CLASSES, ["x", "y", "z"])
    InfluenceFunctions(model).fit(frame.assign(level=level), LABELS).check(1)


def test_classes_that_weigh():
    model = HistGradientBoostingClassifier(class_weight={0: 1, 1: 3, 2: 2}, **HIST)
    weights = np.array([1.0, 3.0, 2.0])[CLASSES]
    expected = InfluenceFunctions(clone(model).set_params(class_weight=None))
    expected.fit(X, LABELS, sample_weight=weights)
    found = InfluenceFunctions(model).fit(X, LABELS)
    assert_allclose(found.self_influence_, expected.self_influence_, rtol=1e-5)
    with pytest.warns(BalancedClassesWarning, match="keep the weights of all rows"):
        InfluenceFunctions(model.set_params(class_weight="balanced")).fit(X, LABELS)


@pytest.mark.parametrize(
    ("model", "y"), [BOOSTING[1], BOOSTING[5], FORESTS[2]], ids=model_name
)
def test_frozen_models_take_their_own_rows_only(model, y):
    frozen = InfluenceFunctions(FrozenEstimator(clone(model).fit(X, y)))
    frozen.fit(X, y)
    others = [(X[::-1], y, None), (X, y[::-1], None), (X[:40], y[:40], None)]
    # Weights of a forest may only be those of its draws.
    others += [] if hasattr(model, "bootstrap") else [(X, y, COUNTS)]
    for rows, targets, weights in others:
        with pytest.raises(UnreadableModelError):
            frozen.fit(rows, targets, sample_weight=weights)
    with pytest.raises(ValueError, match="requires y"):
        frozen.fit(X)


def test_one_row_has_the_values_that_it_has_among_others():
    inspector = InfluenceFunctions(GradientBoostingClassifier(**SMALL)).fit(X, LABELS)
    together = inspector.explain(X, LABELS).values
    alone = [inspector.explain(X[[i]], LABELS[[i]]).values[0] for i in range(9)]
    assert_allclose(together[:9], alone, rtol=1e-10, atol=1e-14)
    with config_context(working_memory=0.01):
        assert_allclose(inspector.explain(X, LABELS).values, together, atol=1e-14)
        again = inspector.influence_on(log_loss, X, LABELS)
    assert_allclose(inspector.influence_on(log_loss, X, LABELS), again, atol=1e-14)


def test_what_trees_do_not_have():
    inspector = InfluenceFunctions(GradientBoostingRegressor(**SMALL)).fit(X, NUMBERS)
    with pytest.raises(AttributeError, match="has no parameters"):
        inspector.parameter_changes_  # noqa: B018
    with pytest.raises(ValueError, match=r"damping=0\.5"):
        InfluenceFunctions(GradientBoostingRegressor(), damping=0.5).fit(X, NUMBERS)
    assert len(inspector.to_frame()) == 60
    copy = pickle.loads(pickle.dumps(inspector))
    assert_allclose(copy.self_influence_, inspector.self_influence_)
    with pytest.raises(ValueError, match="y has 2 columns"):
        inspector.explain(X[:1], [[1.0, 2.0]])
    with pytest.raises(ValueError, match="inconsistent numbers"):
        inspector.explain(X[:1], [1.0, 2.0])


@pytest.mark.parametrize(
    ("model", "y", "reason"),
    [
        (GradientBoostingRegressor(loss="huber"), NUMBERS, "loss='huber'"),
        (GradientBoostingClassifier(loss="exponential"), SECOND, "loss='exponential'"),
        (GradientBoostingClassifier(subsample=0.5), SECOND, "integer random_state"),
        (GradientBoostingClassifier(init=LogisticRegression()), SECOND, "starts from"),
        (HistGradientBoostingRegressor(loss="poisson"), NUMBERS - 2, "loss='poisson'"),
        (RandomForestRegressor(2, criterion="absolute_error"), NUMBERS, "the mean"),
        (BaggingClassifier(LogisticRegression()), SECOND, "no tree"),
        (DecisionTreeClassifier(), np.c_[SECOND, SECOND], "columns of labels"),
    ],
    ids=model_name,
)
def test_other_trees_are_refused(model, y, reason):
    with pytest.raises(UnreadableModelError, match=reason):
        InfluenceFunctions(model).fit(X, y)


def test_trees_without_splits():
    """A mean of zero is one to rounding only."""
    y = NUMBERS - NUMBERS.mean()
    for model in (
        HistGradientBoostingRegressor(max_iter=2, min_samples_leaf=60),
        GradientBoostingRegressor(n_estimators=2, min_samples_leaf=60),
        DecisionTreeRegressor(min_samples_leaf=60),
    ):
        inspector = InfluenceFunctions(model).fit(X, y)
        changes = inspector._changes.changes(inspector._changes.inputs[:1])[0, :, 0]
        assert_allclose(changes, -y / 60, atol=1e-12)


def test_each_class_needs_a_row():
    model = HistGradientBoostingClassifier(**HIST)
    with pytest.raises(ValueError, match=r"are of 1 class: .* rows of all 2"):
        InfluenceFunctions(model).fit(X, np.zeros(60))
    with pytest.raises(ValueError, match=r"are of 2 classes: .* rows of all 3"):
        InfluenceFunctions(model).fit(X, LABELS, sample_weight=1.0 * (LABELS != "a"))


def test_fits_without_rows_are_followed():
    """Where splits hardly change: `check` compares with real fits."""
    table, y = load_diabetes(return_X_y=True)
    table, y = table[:200, [2, 8]], y[:200]
    model = GradientBoostingRegressor(
        n_estimators=10, max_depth=1, min_samples_leaf=40, random_state=0
    )
    assert InfluenceFunctions(model).fit(table, y).check(5) > 0.3
    alone = np.arange(200) == 3
    inspector = InfluenceFunctions(
        GradientBoostingClassifier(n_estimators=2, random_state=0)
    ).fit(table, alone)
    with pytest.raises(ValueError, match="none of the class"):
        inspector.check(200)


LIBRARIES = {
    "XGBRegressor": NUMBERS,
    "XGBClassifier two": SECOND.astype(int),
    "XGBClassifier": CLASSES,
    "LGBMRegressor": NUMBERS,
    "LGBMClassifier two": SECOND,
    "LGBMClassifier": LABELS,
}


@pytest.mark.parametrize("name", LIBRARIES)
@pytest.mark.parametrize("weights", [None, COUNTS], ids=["equal", "weighted"])
@pytest.mark.parametrize("l2", [0.0, 2.0])
def test_other_libraries(name, weights, l2):
    """xgboost and lightgbm."""
    is_xgb, params = name.startswith("XGB"), {"n_estimators": 4, "reg_lambda": l2}
    library = pytest.importorskip("xgboost" if is_xgb else "lightgbm")
    params |= {"max_depth": 2} if is_xgb else {"min_child_samples": 4, "verbose": -1}
    model = getattr(library, name.split()[0])(n_jobs=1, **params)
    rows = np.where(X > 6.5, np.nan, X)
    y = LIBRARIES[name]
    inspector = InfluenceFunctions(model).fit(rows, y)
    assert_array_equal(inspector.self_influence_.shape, 60)
    assert_boosting_is_influence(model, X, y, weights)
    frozen = InfluenceFunctions(FrozenEstimator(inspector.estimator_))
    with pytest.raises(UnreadableModelError, match="frozen model needs the rows"):
        frozen.fit(rows, y[::-1])


@pytest.mark.parametrize(
    ("name", "params", "reason"),
    [
        ("XGBClassifier", {"scale_pos_weight": 2.0}, "scale_pos_weight"),
        ("XGBRegressor", {"objective": "count:poisson"}, "max_delta_step"),
        ("LGBMClassifier", {"is_unbalance": True}, "is_unbalance"),
        ("LGBMClassifier", {"objective": "multiclassova"}, "multiclassova"),
    ],
)
def test_other_settings_of_libraries(name, params, reason):
    """xgboost and lightgbm."""
    is_xgb = name.startswith("XGB")
    library = pytest.importorskip("xgboost" if is_xgb else "lightgbm")
    quiet = {} if is_xgb else {"verbose": -1}
    model = getattr(library, name)(n_estimators=3, n_jobs=1, **quiet, **params)
    y = CLASSES if reason == "multiclassova" else SECOND.astype(int)
    with pytest.raises(UnreadableModelError, match=reason):
        InfluenceFunctions(model).fit(X, y)


def test_a_fixed_start_of_xgboost():
    xgboost = pytest.importorskip("xgboost")
    model = xgboost.XGBClassifier(n_estimators=3, base_score=0.3, max_depth=2)
    start = np.array([np.log(0.3 / 0.7)])
    assert_boosting_is_influence(model, X, SECOND.astype(int), None, start=start)
