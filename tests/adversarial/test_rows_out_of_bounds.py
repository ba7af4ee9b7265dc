"""Rows outside of the bounds: they enter these or stay, and lower bounds are kept."""

from itertools import product

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier
from sklearn.svm import SVC, SVR

from sklearn_interpret.adversarial import (
    FastGradientSign,
    HopSkipJump,
    MinimalPerturbation,
    OnePixelAttack,
    ProjectedGradient,
)

pytestmark = pytest.mark.filterwarnings(
    "ignore::sklearn_interpret.exceptions.NoCounterfactualWarning"
)
ORDERS = {"inf": np.inf, "2": 2, "1": 1}
MODELS = {
    "linear": [LogisticRegression(C=100.0), LinearRegression(), RidgeClassifier()],
    "trees": [
        RandomForestClassifier(4, random_state=0),
        RandomForestRegressor(3, random_state=0),
    ],
    "vectors": [SVC(C=10.0)],
}


def small_problem(rng, kind):
    """A model, its whole numbers, bounds, rows outside of them, and a target."""
    X = rng.integers(-3, 4, size=(14, rng.integers(1, 4)))
    y = rng.integers(0, rng.choice([2, 3]), len(X))
    y[:2] = 0, 1
    model = clone(MODELS[kind][rng.integers(len(MODELS[kind]))]).fit(X, y)
    low = rng.integers(-3, 2)
    bounds = {
        j: (low - 0.5, low + 2.0) for j in range(X.shape[1]) if rng.random() < 0.8
    }
    rows = X[:2].astype(float)
    odd = rng.random(rows.shape) < 0.4
    rows[odd] = rng.choice([-5.0, 5.0, 0.5, -1.5, 6.0], odd.sum())
    if not hasattr(model, "classes_"):
        least = float(rng.choice(model.predict(X)))
        target = {"desired": (least, None)}
        return model, X, bounds, rows, target, lambda answers, own: answers >= least
    if rng.random() < 0.5:
        return model, X, bounds, rows, {}, lambda answers, own: answers != own
    wanted = int(rng.choice(model.classes_))
    target = {"target": wanted}
    return model, X, bounds, rows, target, lambda answers, own: answers == wanted


@pytest.mark.thorough(after=1)
@pytest.mark.parametrize(
    ("kind", "tens"), [*product(["linear", "trees"], range(4)), ("vectors", 0)]
)
def test_against_every_row(kind, tens):
    n_entered = 0
    for seed in range(10 * tens, 10 * tens + 10):
        rng = np.random.default_rng(seed)
        model, X, bounds, rows, target, holds = small_problem(rng, kind)
        norm = str(rng.choice(["inf", "1"] if kind == "trees" else list(ORDERS)))
        epsilon, quick = float(rng.choice([0.5, 1, 2, 4])), {"random_state": 0}
        size = {"norm": norm, "units": "raw"}
        attacks = [
            MinimalPerturbation(None, **size),
            HopSkipJump(None, n_steps=2, n_draws=6, **size, **quick),
            OnePixelAttack(None, population_size=8, n_generations=3, **quick),
        ]
        if kind != "trees":
            attacks.append(FastGradientSign(None, epsilon=epsilon, **size))
            steps = {"epsilon": epsilon, "n_steps": 6}
            attacks.append(ProjectedGradient(None, **steps, **size, **quick))
        ends = [
            bounds.get(j, (X[:, j].min(), X[:, j].max())) for j in range(X.shape[1])
        ]
        attacks = [
            attack.set_params(
                estimator=FrozenEstimator(model), bounds=bounds, **target
            ).fit(X)
            for attack in attacks
        ]
        for row in rows:
            own = model.predict(row[None])
            values = [
                np.append(np.arange(np.ceil(low), np.floor(high) + 1), value)
                for value, (low, high) in zip(row, ends, strict=True)
            ]
            every = np.array(list(product(*values)))
            reached = every[holds(model.predict(every), own)]
            sizes = np.linalg.norm(reached - row, ORDERS[norm], axis=1)
            least = sizes.min(initial=np.inf)
            for attack in attacks:
                where = f"seed {seed}, {row.tolist()}, {type(attack).__name__}"
                found = attack.explain(row[None])
                after = found.rows[0].astype(float)
                assert (after == every).all(axis=1).any(), where
                reaches = holds(model.predict(after[None]), own)
                assert found.valid[0] == reaches[0], where
                n_entered += ((after != row) & (np.abs(row) > 4)).sum()
                if hasattr(attack, "epsilon"):
                    assert found.distances[0] <= epsilon, where
                if attack is not attacks[0] or found.status == ["unchanged"]:
                    continue
                if found.lower_bounds is not None:
                    assert found.lower_bounds[0] <= least * (1 + 1e-9), where
                assert found.status != ["impossible"] or np.isinf(least), where
                if kind == "trees" and np.isfinite(least):
                    assert found.distances[0] <= least * (1 + 1e-6), where
    assert n_entered


@pytest.mark.parametrize(
    "model",
    [SVR(), GaussianProcessRegressor(alpha=0.1)],
    ids=lambda model: type(model).__name__,
)
def test_targets_that_no_known_row_satisfies(model):
    """Then there is no start: the model is not asked about no rows."""
    X = np.random.default_rng(0).normal(size=(30, 3))
    model.fit(X, X[:, 0])
    attack = MinimalPerturbation(FrozenEstimator(model), desired=(1e3, None)).fit(X)
    assert attack.explain(X[:2]).status.tolist() == ["failed"] * 2
