"""Influence functions against fits without rows, and on odd input."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.datasets import load_diabetes, load_iris
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import (
    GammaRegressor,
    HuberRegressor,
    Lasso,
    LinearRegression,
    LogisticRegression,
    PoissonRegressor,
    Ridge,
    RidgeClassifier,
    TweedieRegressor,
)
from sklearn.metrics import (
    mean_gamma_deviance,
    mean_poisson_deviance,
    mean_squared_error,
    roc_auc_score,
)
from sklearn.model_selection import GridSearchCV
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, scale
from sklearn.svm import LinearSVC

from sklearn_interpret._core.influence import networks
from sklearn_interpret._core.statistics.score_losses import HalfSquared, HalfTweedie
from sklearn_interpret._model.gradients.objectives import read_objective
from sklearn_interpret.exceptions import (
    BalancedClassesWarning,
    OtherTrainingRowsWarning,
    UnconvergedDeletionWarning,
    UnreadableModelError,
)
from sklearn_interpret.influence import InfluenceFunctions

SHARP = {"tol": 1e-10, "max_iter": 100_000}
FLOWERS, CLASSES = load_iris(return_X_y=True)
FLOWERS, CLASSES = scale(FLOWERS[::2]), CLASSES[::2]
X, NUMBERS = load_diabetes(return_X_y=True)
X, NUMBERS = scale(X[:90, :5]), NUMBERS[:90] / 50
LARGE = NUMBERS > 3

SQUARES = [
    (LinearRegression(), X, NUMBERS),
    (LinearRegression(fit_intercept=False), X, NUMBERS),
    (Ridge(), X, np.c_[NUMBERS, NUMBERS**2]),
    (RidgeClassifier(), FLOWERS, CLASSES),
]
OTHERS = [
    (LogisticRegression(**SHARP), X, LARGE),
    (LogisticRegression(class_weight={False: 1, True: 2}, **SHARP), X, LARGE),
    (LogisticRegression(fit_intercept=False, **SHARP), FLOWERS, CLASSES),
    (PoissonRegressor(**SHARP), X, NUMBERS),
    (GammaRegressor(**SHARP), X, NUMBERS),
    (TweedieRegressor(power=1.5, **SHARP), X, NUMBERS),
    (LinearSVC(C=0.1, **SHARP), FLOWERS, CLASSES),
]
LINEAR = SQUARES + OTHERS


def model_name(part):
    return None if isinstance(part, np.ndarray) else str(part)[:60]


every_linear = pytest.mark.parametrize(("model", "rows", "y"), LINEAR, ids=model_name)


def losses(model, rows, y, known=None):
    """Losses of rows, whose classes are those of a known model."""
    objective = read_objective(known or model)
    targets = objective.targets(y)
    halved = isinstance(objective.loss, HalfSquared | HalfTweedie)
    factor = 2 / targets.shape[1] if halved else 1
    return factor * read_objective(model).losses(rows, targets)


def changes_of_losses(model, rows, y, parts, weights=None, some=None):
    """What fits without parts of the rows change: (n_some, n_parts)."""
    some = (rows, y) if some is None else some

    def fitted(kept):
        given = {} if weights is None else {"sample_weight": weights[kept]}
        return clone(model).fit(rows[kept], y[kept], **given)

    everything = fitted(np.ones(len(rows), dtype=bool))
    before = losses(everything, *some)
    found = []
    for part in parts:
        kept = ~np.isin(np.arange(len(rows)), part)
        found.append(losses(fitted(kept), *some, everything) - before)
    return np.array(found).T


def parameters_of(model):
    """Coefficients, input by input, and intercepts."""
    coef = np.atleast_2d(model.coef_)
    return np.append(coef.T, np.broadcast_to(model.intercept_, len(coef)))


def assert_follows(found, expected, worst=0.05):
    """Correlated, and no pair off by more than a part of the largest."""
    assert np.corrcoef(found.ravel(), expected.ravel())[0, 1] >= 0.999
    assert np.abs(found - expected).max() <= worst * np.abs(expected).max()


@pytest.mark.thorough(after=3)
@every_linear
@pytest.mark.parametrize("weighted", [False, True])
def test_models_follow_refits(model, rows, y, weighted):
    """Losses and parameters; exactly, where losses are squares."""
    weights = np.random.default_rng(0).integers(1, 4, len(rows)) if weighted else None
    inspector = InfluenceFunctions(model).fit(rows, y, sample_weight=weights)
    some = np.arange(0, len(rows), 3)
    expected = changes_of_losses(model, rows, y, some, weights)
    found = inspector.explain(rows, y).values[:, some]
    own, changed = inspector.self_influence_[some], np.diag(expected[some])
    if any(model is exact for exact, *_ in SQUARES):
        assert_allclose(found, expected, rtol=1e-8, atol=1e-8 * np.abs(expected).max())
        assert_allclose(own, changed, rtol=1e-8)
    assert_follows(found, expected)
    assert_follows(own, changed)
    assert inspector.check(5) > 0.999
    kept = np.arange(len(rows)) != 3
    given = {"sample_weight": weights[kept]} if weighted else {}
    refit = clone(model).fit(rows[kept], y[kept], **given)
    changes = parameters_of(refit) - parameters_of(inspector.estimator_)
    atol = 0.05 * np.abs(changes).max()
    assert_allclose(inspector.parameter_changes_[3], changes, rtol=0, atol=atol)


@pytest.mark.parametrize("params", [{}, {"fit_intercept": False, "alpha": 1.0}])
def test_robust_regression_follows_refits(params):
    rng = np.random.default_rng(0)
    table = rng.normal(size=(100, 5))
    y = table @ rng.normal(size=5) + rng.normal(size=100)
    y[::10] += 15 * rng.normal(size=10)
    model = HuberRegressor(**params, **SHARP)
    inspector = InfluenceFunctions(model).fit(table, y)
    loss = read_objective(inspector.estimator_).loss

    def lost(kept):
        fitted = clone(model).fit(table[kept], y[kept])
        return 2 * loss.values(y[:, None], fitted.predict(table)[:, None])

    every = np.arange(100)
    before = lost(every >= 0)
    expected = np.array([lost(every != row) - before for row in every]).T
    assert_follows(inspector.explain(table, y).values, expected)
    assert inspector.check(5) > 0.999
    model = FrozenEstimator(clone(model).fit(table[::2], y[::2]))
    with pytest.warns(OtherTrainingRowsWarning, match="that the model was trained on"):
        InfluenceFunctions(model).fit(table[1::2], y[1::2])


def test_balanced_classes_keep_the_weights_of_all_rows():
    model = LogisticRegression(class_weight="balanced", **SHARP)
    counts = np.bincount(LARGE)
    fixed = dict(zip([False, True], len(LARGE) / (2 * counts), strict=True))
    with pytest.warns(BalancedClassesWarning, match="keep the weights of all rows"):
        found = InfluenceFunctions(model).fit(X, LARGE)
    model = clone(model).set_params(class_weight=fixed)
    expected = InfluenceFunctions(model).fit(X, LARGE)
    assert_allclose(found.self_influence_, expected.self_influence_, rtol=1e-6)


@pytest.mark.parametrize(
    ("model", "deviance"),
    [
        (LinearRegression(), mean_squared_error),
        (TweedieRegressor(power=0, **SHARP), mean_squared_error),
        (PoissonRegressor(**SHARP), mean_poisson_deviance),
        (GammaRegressor(**SHARP), mean_gamma_deviance),
    ],
)
def test_losses_are_metrics(model, deviance):
    found = InfluenceFunctions(model).fit(X, NUMBERS).explain(X[:9], NUMBERS[:9])
    without = clone(model).fit(X[1:], NUMBERS[1:])
    before, after = (
        deviance(NUMBERS[:9], fitted.predict(X[:9]))
        for fitted in (clone(model).fit(X, NUMBERS), without)
    )
    assert_allclose(found.values[:, 0].mean(), after - before, rtol=0.01)


@every_linear
def test_groups_follow_refits(model, rows, y):
    # All classes stay.
    groups = np.array(list("abcde"))[np.arange(len(rows)) % 5]
    inspector = InfluenceFunctions(model, groups=groups).fit(rows, y)
    parts = [np.flatnonzero(groups == label) for label in "abcde"]
    expected = changes_of_losses(model, rows, y, parts)
    explanation = inspector.explain(rows, y)
    assert_follows(explanation.values, expected)
    assert explanation.training_names == tuple("abcde")
    assert explanation.training_data is None
    own = [expected[part, i].mean() for i, part in enumerate(parts)]
    assert_allclose(inspector.self_influence_, own, rtol=1e-3)
    assert inspector.check(2) > 0.999


def test_groups_of_rows_without_weight():
    weights = np.ones(len(X))
    weights[:2] = 0
    groups = np.r_[["only here"] * 2, np.arange(2, len(X)).astype(str)]
    inspector = InfluenceFunctions(Ridge(), groups=groups)
    inspector.fit(X, NUMBERS, sample_weight=weights)
    expected = InfluenceFunctions(Ridge()).fit(X[2:], NUMBERS[2:])
    order = inspector.group_labels_.astype(int) - 2
    assert_array_equal(inspector.explain(X[:1]).training_names, inspector.group_labels_)
    assert_array_equal(np.sort(order), np.arange(len(X) - 2))
    assert_allclose(
        inspector.self_influence_, expected.self_influence_[order], rtol=1e-9
    )


def test_first_order_is_the_formula_of_koh_and_liang():
    """Many copies of the rows: one of them changes little."""
    copies = np.tile(np.arange(len(X)), 20)
    model = LogisticRegression(C=1e-2, **SHARP).fit(X[copies], LARGE[copies])
    inspector = InfluenceFunctions(FrozenEstimator(model), scaling="mean")
    inspector.fit(X[copies], LARGE[copies])
    found = inspector.explain(X, LARGE).values[:, : len(X)]
    design = np.c_[X, np.ones(len(X))]
    shares = model.predict_proba(X)[:, 1]
    gradients = design * (shares - LARGE)[:, None]
    hessian = (design.T * (shares * (1 - shares))) @ design / len(X)
    hessian += np.diag([100.0] * 5 + [0]) / len(copies)
    expected = gradients @ np.linalg.solve(hessian, gradients.T)
    assert_allclose(found, expected, rtol=0, atol=0.01 * np.abs(expected).max())


@pytest.mark.parametrize("groups", [None, np.arange(len(X)) % 7])
def test_scaling(groups):
    weights = np.random.default_rng(0).integers(1, 4, len(X))
    shares = weights / weights.sum()
    if groups is not None:
        shares = np.bincount(groups, shares)
    by_sum, by_mean = (
        InfluenceFunctions(Ridge(), scaling=scaling, groups=groups).fit(
            X, NUMBERS, sample_weight=weights
        )
        for scaling in ("sum", "mean")
    )
    for found, expected in [
        (by_mean.self_influence_, by_sum.self_influence_),
        (by_mean.explain(X, NUMBERS).values, by_sum.explain(X, NUMBERS).values),
        (by_mean.influence_on(gap, X, None), by_sum.influence_on(gap, X, None)),
    ]:
        assert_allclose(found, expected / shares)
    assert_allclose(by_mean.parameter_changes_, by_sum.parameter_changes_)


def gap(y, predictions):
    """How much more is predicted for some rows."""
    return predictions[::2].mean() - predictions[1::2].mean()


@every_linear
def test_own_predictions_are_targets_without_y(model, rows, y):
    inspector = InfluenceFunctions(model).fit(rows, y)
    explanation = inspector.explain(rows[:5])
    own = inspector.predict(rows[:5])
    expected = inspector.explain(rows[:5], own).values
    assert_allclose(explanation.values, expected, rtol=1e-4, atol=1e-7)
    assert_array_equal(explanation.training_targets, y)
    if not hasattr(inspector, "classes_"):
        assert (explanation.values >= 0).all()


@every_linear
def test_predictions_of_scores_are_the_models(model, rows, y):
    model = clone(model).fit(rows, y)
    objective = read_objective(model)
    scores = objective.activations(rows)[-1]
    assert_allclose(objective.predictions(scores), model.predict(rows), rtol=1e-9)
    if objective.has_probabilities:
        found = objective.probabilities(scores)
        assert_allclose(found, model.predict_proba(rows), rtol=1e-9)


@pytest.mark.thorough(after=2)
@pytest.mark.parametrize(
    ("model", "functional"),
    [
        (LogisticRegression(**SHARP), lambda y, shares: roc_auc_score(y, shares[:, 1])),
        (LogisticRegression(**SHARP), lambda y, shares: gap(y, shares[:, 1])),
        (PoissonRegressor(**SHARP), gap),
        (LinearRegression(), lambda y, found: np.square(y - found)[::3].max()),
        (LinearSVC(C=0.1, **SHARP), lambda y, labels: (y == labels).mean()),
    ],
)
def test_influence_on_a_number(model, functional):
    inspector = InfluenceFunctions(model).fit(X, LARGE)
    method = "predict_proba" if hasattr(inspector, "predict_proba") else "predict"

    def number(fitted):
        return functional(LARGE, getattr(fitted, method)(X))

    def refitted(row):
        return clone(model).fit(np.delete(X, row, 0), np.delete(LARGE, row))

    before = number(inspector.estimator_)
    expected = [number(refitted(row)) - before for row in range(len(X))]
    found = inspector.influence_on(functional, X, LARGE)
    assert np.corrcoef(found, expected)[0, 1] > 0.99


@pytest.mark.parametrize("returned", [np.nan, [1.0, 2.0], "much", None])
def test_a_functional_returns_a_number(returned):
    inspector = InfluenceFunctions(Ridge()).fit(X, NUMBERS)
    with pytest.raises(ValueError, match="functional returned"):
        inspector.influence_on(lambda y, found: returned, X, NUMBERS)


def test_check_after_another_model():
    inspector = InfluenceFunctions(quick_network(True)).fit(X[:20], NUMBERS[:20])
    inspector.set_params(estimator=Ridge()).fit(X, NUMBERS)
    assert_allclose(inspector.check(2), 1)


def test_check_on_odd_input():
    inspector = InfluenceFunctions(Ridge()).fit(X, NUMBERS)
    for k in (0, 1.5, "all"):
        with pytest.raises(ValueError, match="k="):
            inspector.check(k)
    nothing = InfluenceFunctions(Ridge()).fit(X, np.zeros(len(X)))
    assert np.isnan(nothing.check(3))
    alone = np.r_[True, np.zeros(len(X) - 1, dtype=bool)]
    inspector = InfluenceFunctions(LogisticRegression(**SHARP))
    with pytest.warns(UnconvergedDeletionWarning, match="without 0 "):
        inspector.fit(X, alone)  # an infinite intercept
    with pytest.raises(ValueError, match="none of the class"):
        inspector.check(1)


def test_damping_keeps_parameters_near():
    """Ridge, with a penalty of the distance from the parameters of all rows."""
    inspector = InfluenceFunctions(Ridge(), damping=10).fit(X, NUMBERS)
    design, row = np.c_[X, np.ones(len(X))], 4
    model = inspector.estimator_
    residual = NUMBERS[row] - model.predict(X[[row]])[0]
    rest = np.delete(design, row, axis=0)
    hessian = rest.T @ rest + np.diag([11.0] * 5 + [10.0])
    expected = -np.linalg.solve(hessian, design[row] * residual)
    assert_allclose(inspector.parameter_changes_[row], expected, rtol=1e-3)
    grouped = InfluenceFunctions(Ridge(), damping=10, groups=np.arange(len(X)))
    changes = grouped.fit(X, NUMBERS).parameter_changes_
    assert_allclose(changes[row], expected, rtol=1e-6)


def quick_network(regresses, **params):
    """A small network that is trained to the end."""
    kind = MLPRegressor if regresses else MLPClassifier
    params = {"hidden_layer_sizes": (4,), "activation": "tanh", **params}
    return kind(**params, alpha=1.0, solver="lbfgs", random_state=0, **SHARP)


@pytest.mark.thorough(after=1)
@pytest.mark.parametrize("activation", ["tanh", "logistic"])
def test_networks_follow_refits_from_the_same_start(activation):
    model = quick_network(False, activation=activation)
    inspector = InfluenceFunctions(model).fit(FLOWERS, CLASSES)
    model = inspector.estimator_

    def refitted(kept):
        again = quick_network(False, activation=activation, warm_start=True)
        again.fit(FLOWERS, CLASSES)
        again.coefs_ = [part.copy() for part in model.coefs_]
        again.intercepts_ = [part.copy() for part in model.intercepts_]
        return losses(again.fit(FLOWERS[kept], CLASSES[kept]), FLOWERS, CLASSES)

    every = np.arange(len(FLOWERS))
    before, some = refitted(every), every[::5]
    expected = np.array([refitted(every != row) - before for row in some]).T
    found = inspector.explain(FLOWERS, CLASSES).values[:, some]
    assert np.corrcoef(found.ravel(), expected.ravel())[0, 1] >= 0.9
    assert inspector.check(10) >= 0.9
    assert_allclose(
        inspector.self_influence_,
        np.diag(inspector.explain(FLOWERS, CLASSES).values),
        rtol=1e-3,
        atol=1e-6,
    )


def test_a_network_without_hidden_values_is_ridge():
    """Layers of an identity have many parameters for one function."""
    y = scale(NUMBERS)
    model = quick_network(True, hidden_layer_sizes=(2,), activation="identity")
    inspector = InfluenceFunctions(model).fit(X, y)
    direct = InfluenceFunctions(LinearRegression()).fit(X, y)
    found, expected = (i.explain(X, y).values.ravel() for i in (inspector, direct))
    assert np.corrcoef(found, expected)[0, 1] > 0.9


@pytest.mark.thorough(after=1)
@pytest.mark.parametrize("groups", [None, np.arange(len(CLASSES)) % 9])
def test_conjugate_gradients_find_the_same(groups, monkeypatch):
    # With kinks there is one step, as for many parameters.
    model = quick_network(False, activation="relu").fit(FLOWERS, CLASSES)
    inspector = InfluenceFunctions(FrozenEstimator(model), damping=0.1, groups=groups)
    expected = inspector.fit(FLOWERS, CLASSES).parameter_changes_
    monkeypatch.setattr(networks, "_MOST_FACTORISED", 1)
    monkeypatch.setattr(networks, "_MOST_NUMBERS", 1000)
    found = inspector.fit(FLOWERS, CLASSES).parameter_changes_
    assert_allclose(found, expected, rtol=0, atol=1e-4 * np.abs(expected).max())
    monkeypatch.setattr(networks, "_MOST_CONJUGATE_STEPS", 2)
    with pytest.raises(ValueError, match=r"damping=0\.1"):
        inspector.fit(FLOWERS, CLASSES)


def test_a_network_far_from_a_minimum_is_moved_there():
    """A row that is sure of the wrong class has a slope, and no curvature."""
    model = quick_network(False).set_params(alpha=0.1, max_iter=5).set_params(tol=1e9)
    model.fit(X, LARGE)
    model.coefs_[-1] *= 1e3
    model.coefs_[0] *= 1e3
    inspector = InfluenceFunctions(FrozenEstimator(model))
    with pytest.warns(OtherTrainingRowsWarning, match="until it converges"):
        inspector.fit(X, LARGE)
    assert np.isfinite(inspector.explain(X, LARGE).values).all()


@pytest.mark.thorough(after=1)
@pytest.mark.parametrize("alpha", [0.01, 0.1])
def test_networks_that_regress_follow_refits(alpha):
    rng = np.random.default_rng(0)
    table = rng.normal(size=(80, 2))
    y = scale(np.sin(2 * table[:, 0]) + table[:, 1] + 0.2 * rng.normal(size=80))
    model = quick_network(True).set_params(alpha=alpha)
    assert InfluenceFunctions(model).fit(table, y).check(12) >= 0.9


@pytest.mark.thorough
def test_rows_that_the_model_was_not_trained_on():
    for model, y in [(LogisticRegression(), LARGE), (quick_network(False), LARGE)]:
        half = FrozenEstimator(clone(model).fit(X[::2], y[::2]))
        with pytest.warns(
            OtherTrainingRowsWarning, match="that the model was trained on"
        ):
            InfluenceFunctions(half).fit(X[1::2], y[1::2])
        InfluenceFunctions(half).fit(X[::2], y[::2])
    halfway = MLPClassifier(random_state=0, max_iter=500, tol=1.0).fit(X, LARGE)
    with pytest.warns(OtherTrainingRowsWarning, match="until it converges"):
        InfluenceFunctions(FrozenEstimator(halfway), damping=1.0).fit(X, LARGE)


@pytest.mark.parametrize(
    "model",
    [
        PoissonRegressor(alpha=0),
        GammaRegressor(alpha=0),
        HuberRegressor(),
        LogisticRegression(C=1e6),
    ],
    ids=str,
)
# Without a penalty, there may be no optimum without a row.
@pytest.mark.filterwarnings(
    "ignore::sklearn_interpret.exceptions.UnconvergedDeletionWarning"
)
def test_a_model_that_is_fitted_here_has_these_rows(model):
    """Without residuals, the tolerance of a solver is many steps of single rows."""
    table = np.random.default_rng(0).normal(size=(3, 2))
    y = np.exp(table @ [0.5, -0.2])
    y = y > np.median(y) if isinstance(model, LogisticRegression) else y
    InfluenceFunctions(model).fit(table, y)  # warnings are errors


@pytest.mark.parametrize(
    "model", [LogisticRegression(), PoissonRegressor(), LinearSVC()], ids=str
)
def test_default_tolerances_are_near_enough(model):
    InfluenceFunctions(model).fit(X, LARGE)


def test_pipelines_frames_and_searches():
    frame = pd.DataFrame(X, columns=list("abcde")).set_index(NUMBERS)
    steps = make_pipeline(StandardScaler(), Ridge())
    search = GridSearchCV(steps, {"ridge__alpha": [1.0]}, cv=2)
    table = steps[0].fit_transform(X)
    expected = InfluenceFunctions(Ridge()).fit(table, NUMBERS)
    expected = expected.explain(table[:3], NUMBERS[:3])
    for model in (steps, search):
        inspector = InfluenceFunctions(model).fit(frame, NUMBERS)
        found = inspector.explain(frame.iloc[:3], NUMBERS[:3])
        assert_allclose(found.values, expected.values, rtol=1e-8, atol=1e-12)
        assert found.training_names == tuple(NUMBERS)
        assert found.feature_names == tuple("abcde")
        assert inspector.check(3) > 0.999


def test_steps_that_work_in_place_change_nothing():
    model = make_pipeline(StandardScaler(copy=False), Ridge()).fit(X.copy(), NUMBERS)
    expected = InfluenceFunctions(make_pipeline(StandardScaler(), Ridge()))
    expected = expected.fit(X, NUMBERS).explain(X[:3], NUMBERS[:3]).values
    given = X.copy()
    inspector = InfluenceFunctions(FrozenEstimator(model)).fit(given, NUMBERS)
    found = inspector.explain(given[:3], NUMBERS[:3]).values
    assert_array_equal(given, X)
    assert_allclose(found, expected, rtol=1e-8, atol=1e-12)


def test_training_rows_are_named_by_their_place_in_fit():
    weights = np.arange(len(X)) > 1
    inspector = InfluenceFunctions(Ridge()).fit(X, NUMBERS, sample_weight=weights)
    assert inspector.explain(X[:1]).training_names == tuple(range(2, len(X)))


def test_sparse_rows():
    of_arrays = InfluenceFunctions(Ridge()).fit(X, NUMBERS)
    of_sparse = InfluenceFunctions(FrozenEstimator(of_arrays.estimator_))
    of_sparse.fit(sparse.csr_array(X), NUMBERS)
    found = of_sparse.explain(sparse.csr_array(X[:4]), NUMBERS[:4]).values
    assert_allclose(found, of_arrays.explain(X[:4], NUMBERS[:4]).values, rtol=1e-8)


def test_columns_without_meaning():
    """Constant columns, columns that say the same, more columns than rows."""
    odd = np.c_[X, X[:, 0], np.ones(len(X))]
    expected = InfluenceFunctions(LinearRegression()).fit(X, NUMBERS)
    found = InfluenceFunctions(LinearRegression()).fit(odd, NUMBERS)
    assert_allclose(found.self_influence_, expected.self_influence_, rtol=1e-7)
    # Where columns say the same, weights are the smallest, with and without a row.
    other = np.random.default_rng(1).normal(size=(4, odd.shape[1]))
    other[:, -1] = 1
    refits = changes_of_losses(
        LinearRegression(), odd, NUMBERS, range(9), some=(other, NUMBERS[:4])
    )
    values = found.explain(other, NUMBERS[:4]).values[:, :9]
    assert_allclose(values, refits, rtol=1e-7, atol=1e-8)
    wide = np.random.default_rng(0).normal(size=(6, 9))
    found = InfluenceFunctions(LinearRegression()).fit(wide, NUMBERS[:6])
    assert np.isfinite(found.self_influence_).all()
    assert_allclose(found.parameter_changes_, 0, atol=1e-9)


def test_a_row_that_stands_alone():
    """Leverage one: its column keeps its weight, which no other row asks for."""
    alone = np.c_[X, np.arange(len(X)) == 7]
    for model, y in [(LinearRegression(), NUMBERS), (PoissonRegressor(alpha=0), LARGE)]:
        rows = np.delete(np.arange(len(X)), 7)
        found = InfluenceFunctions(model).fit(alone, y)
        assert np.isfinite(found.self_influence_).all()
        expected = clone(model).fit(X[rows], y[rows]).coef_
        after = found.estimator_.coef_ + found.parameter_changes_[7, :-1]
        assert_allclose(after[:-1], expected, rtol=0, atol=0.01)


def test_one_row():
    found = InfluenceFunctions(Ridge()).fit(X[:1], NUMBERS[:1])
    assert found.explain(X[:2], NUMBERS[:2]).values.shape == (2, 1)
    assert np.isfinite(found.self_influence_).all()


def test_models_that_are_not_read():
    for model in (Lasso(), TransformedTargetRegressor(Ridge())):
        with pytest.raises(UnreadableModelError, match="LinearRegression"):
            InfluenceFunctions(model).fit(X, NUMBERS)
    with pytest.raises(UnreadableModelError, match="bounded"):
        InfluenceFunctions(Ridge(positive=True)).fit(X, NUMBERS)
    several = np.c_[LARGE, ~LARGE].astype(int)
    with pytest.raises(UnreadableModelError, match="labels"):
        InfluenceFunctions(RidgeClassifier()).fit(X, several)


def frozen(model, y):
    return InfluenceFunctions(FrozenEstimator(model.fit(X, y))).fit(X, y)


@pytest.mark.parametrize(
    ("model", "y", "asked", "message"),
    [
        (LogisticRegression(), LARGE.astype(str), ["no"], "y has the label 'no'"),
        (PoissonRegressor(), NUMBERS, [-1.0], "not defined"),
        (GammaRegressor(), NUMBERS, [0.0], "not defined"),
        (Ridge(), NUMBERS, [np.nan], "NaN"),
        (Ridge(), NUMBERS, [[1.0, 2.0]], "y has 2 columns"),
        (Ridge(), NUMBERS, [1.0, 2.0], "inconsistent numbers"),
    ],
)
def test_targets_that_do_not_fit(model, y, asked, message):
    with pytest.raises(ValueError, match=message):
        frozen(model, y).explain(X[:1], asked)


def test_missing_values_and_targets():
    with_nan = X.copy()
    with_nan[3, 2] = np.nan
    model = FrozenEstimator(Ridge().fit(X, NUMBERS))
    with pytest.raises(ValueError, match="NaN"):
        InfluenceFunctions(model).fit(with_nan, NUMBERS)
    with pytest.raises(ValueError, match="NaN"):
        InfluenceFunctions(model).fit(X, NUMBERS).explain(with_nan)
    with pytest.raises(ValueError, match="requires y"):
        InfluenceFunctions(model).fit(X)


def test_wrong_labels_have_the_largest_self_influence():
    y = LARGE.copy()
    flipped = [2, 30, 61]
    easy = np.c_[X, 3 * LARGE + np.random.default_rng(0).normal(size=len(X)) / 3]
    y[flipped] = ~y[flipped]
    inspector = InfluenceFunctions(LogisticRegression(**SHARP)).fit(easy, y)
    first = np.argsort(-inspector.self_influence_)[:3]
    assert_array_equal(np.sort(first), flipped)
