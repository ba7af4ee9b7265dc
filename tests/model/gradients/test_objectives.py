"""Losses are those that models minimise, and slopes of parameters their differences."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import (
    GammaRegressor,
    HuberRegressor,
    LinearRegression,
    LogisticRegression,
    PoissonRegressor,
    Ridge,
    RidgeClassifier,
    TweedieRegressor,
)
from sklearn.metrics import log_loss, mean_tweedie_deviance
from sklearn.model_selection import GridSearchCV
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from sklearn_interpret._model.gradients.objectives import read_objective
from sklearn_interpret.exceptions import UnreadableModelError

X, CLASSES = load_iris(return_X_y=True)
NAMES = np.array(["a", "b", "c"])[CLASSES]
NUMBERS = X @ [1.0, -0.5, 0.5, 1.0] + 0.1 * np.sin(9 * X[:, 0])
SEVERAL = np.c_[NUMBERS, X[:, 0] ** 2]
NETWORK = {"hidden_layer_sizes": (4, 3), "solver": "lbfgs", "random_state": 0}
NETWORK |= {"max_iter": 2000, "alpha": 1.0}

MODELS = [
    (LinearRegression(), NUMBERS),
    (Ridge(), SEVERAL),
    (HuberRegressor(max_iter=1000), NUMBERS),
    (RidgeClassifier(), NAMES),
    (RidgeClassifier(), NAMES == "a"),
    (LogisticRegression(max_iter=1000), NAMES),
    (LogisticRegression(max_iter=1000), NAMES == "b"),
    (LinearSVC(), NAMES),
    (LinearSVC(), NAMES == "b"),
    (PoissonRegressor(), NUMBERS),
    (GammaRegressor(), NUMBERS),
    (TweedieRegressor(power=1.5), NUMBERS),
    (TweedieRegressor(power=3), NUMBERS),
    (TweedieRegressor(power=0, link="log"), NUMBERS),
    (TweedieRegressor(power=0), NUMBERS),
    (MLPClassifier(**NETWORK), NAMES),
    (MLPClassifier(activation="tanh", **NETWORK), NAMES == "b"),
    (MLPRegressor(activation="logistic", **NETWORK), SEVERAL),
    (make_pipeline(StandardScaler(), LogisticRegression()), NAMES),
]


def parameters_of(model):
    """Arrays of weights and intercepts, layer by layer."""
    model = model[-1] if hasattr(model, "steps") else model
    if hasattr(model, "coefs_"):
        return list(zip(model.coefs_, model.intercepts_, strict=True))
    model.coef_ = np.atleast_2d(model.coef_)
    model.intercept_ = np.atleast_1d(np.asarray(model.intercept_, dtype=float))
    return [(model.coef_.T, model.intercept_)]


@pytest.mark.parametrize(("model", "y"), MODELS, ids=lambda part: str(part)[:60])
def test_slopes_along_parameters_equal_differences(model, y):
    model.fit(X, y)
    parameters = parameters_of(model)
    targets = read_objective(model).targets(y)[::7]
    found = read_objective(model).gradients(X[::7], targets)
    expected = []
    for weights, intercepts in parameters:
        for cells in (weights, intercepts):
            for cell in np.ndindex(cells.shape):
                own = cells[cell]
                step = 1e-5 * (1 + abs(own))
                ends = []
                for end in (own - step, own + step):
                    cells[cell] = end
                    ends.append(read_objective(model).losses(X[::7], targets))
                cells[cell] = own
                expected.append((ends[1] - ends[0]) / (2 * step))
    expected = np.array(expected).T
    assert found.shape == expected.shape
    assert_allclose(found, expected, rtol=0, atol=1e-6 * np.abs(expected).max())


class Counts(PoissonRegressor):
    """A subclass that changes nothing."""


def test_losses_are_those_of_the_field():
    model = MLPClassifier(**NETWORK).fit(X, NAMES)
    objective = read_objective(FrozenEstimator(model))
    losses = objective.losses(X, objective.targets(NAMES))
    assert_allclose(losses.mean(), log_loss(NAMES, model.predict_proba(X)))
    for model, power in [
        (PoissonRegressor(), 1),
        (Counts(), 1),
        (GammaRegressor(), 2),
        (TweedieRegressor(power=1.3), 1.3),
        (TweedieRegressor(power=0, link="log"), 0),
    ]:
        objective = read_objective(model.fit(X, NUMBERS))
        deviance = mean_tweedie_deviance(NUMBERS, model.predict(X), power=power)
        losses = objective.losses(X, objective.targets(NUMBERS))
        assert_allclose(2 * losses.mean(), deviance)


@pytest.mark.parametrize(
    ("model", "y"), [(m, y) for m, y in MODELS if hasattr(m, "C")], ids=str
)
def test_slopes_of_a_fitted_model_and_its_penalty_cancel(model, y):
    """The model has made the objective small: C times the losses, and the penalty."""
    model = model.set_params(tol=1e-10, max_iter=100_000).fit(X, y)
    objective = read_objective(model)
    inputs = X.shape[1]
    total = objective.gradients(X, objective.targets(y)).sum(axis=0)
    weights = np.atleast_2d(model.coef_)
    slopes = total.reshape(inputs + 1, -1)[:inputs].T
    assert_allclose(model.C * slopes, -weights, rtol=0, atol=1e-3 * abs(weights).max())


def test_searches_are_seen_through():
    search = GridSearchCV(Ridge(), {"alpha": [1.0]}).fit(X, NUMBERS)
    alone = Ridge().fit(X, NUMBERS)
    targets = read_objective(search).targets(NUMBERS)
    assert_allclose(
        read_objective(search).gradients(X, targets),
        read_objective(alone).gradients(X, targets),
    )


@pytest.mark.parametrize(
    "model",
    [
        SVC(),
        LinearSVC(loss="hinge", C=1e-3, max_iter=100_000),
        RandomForestClassifier(2),
        TweedieRegressor(power=1.5, link="identity"),
    ],
    ids=str,
)
def test_other_losses_are_not_known(model):
    with pytest.raises(UnreadableModelError, match=r"loss of .* is not known"):
        read_objective(model.fit(X, CLASSES + 1))


def test_targets_that_the_model_does_not_know():
    objective = read_objective(LogisticRegression(max_iter=1000).fit(X, NAMES))
    with pytest.raises(ValueError, match=r"label 'd'.*\['a', 'b', 'c'\]"):
        objective.targets(np.where(NAMES == "b", "d", NAMES))
    objective = read_objective(LinearRegression().fit(X, NUMBERS))
    with pytest.raises(ValueError, match="Input y contains NaN"):
        objective.targets(np.where(NUMBERS > 3, np.nan, NUMBERS))
