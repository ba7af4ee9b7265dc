"""The regressions that tests of conditional importance rest on, and their check."""

import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import stats
from sklearn.linear_model import LinearRegression

from sklearn_interpret._model.rows.arrays import as_rows
from sklearn_interpret.exceptions import WeakNuisanceWarning
from sklearn_interpret.importance import ConditionalImportanceTest, _nuisance
from sklearn_interpret.importance._nuisance import (
    AdditiveModel,
    Nuisance,
    Structure,
    residual_dependence,
)

WEIGHTS, PARTS = np.ones(400), np.arange(400) % 10


def test_the_default_nuisance_takes_weights_for_copies(X):
    times = np.random.default_rng(0).integers(0, 4, size=400)
    y = X[:, 0] * X[:, 2] + np.random.default_rng(1).normal(size=400)
    weighted = AdditiveModel().fit(X, y, times.tolist())
    repeated = AdditiveModel().fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    assert_allclose(weighted.predict(X), repeated.predict(X), rtol=1e-6)
    assert weighted.predict(X).shape == (400,)
    both = AdditiveModel().fit(X, np.column_stack([y, -y]))
    assert_allclose(both.predict(X) @ [1, 1], 0, atol=1e-6)


@pytest.mark.thorough(after=1)
@pytest.mark.parametrize("model", [None, LinearRegression()])
@pytest.mark.parametrize("n_targets", [1, 11])
def test_what_residuals_depend_on_is_found(X, model, n_targets):
    """Trees check the additive model; it checks others."""
    others, rng = as_rows(X), np.random.default_rng(1)
    noise = rng.normal(size=(400, n_targets))
    dependent = noise + 2 * np.sin(3 * X[:, :1])
    nuisance = Nuisance(model, None)
    given = others, nuisance, WEIGHTS, PARTS, np.arange(400)
    pvalue, share = residual_dependence(dependent, *given)
    assert pvalue < 1e-6
    assert share > 0.3
    pvalue, share = residual_dependence(noise, *given)
    assert pvalue > 0.01
    assert share < 0.05


def test_many_columns_are_checked_by_trees():
    rng = np.random.default_rng(0)
    others = as_rows(rng.normal(size=(400, 120)))
    residuals = rng.normal(size=(400, 1)) + 2 * np.sign(others.numbers(3))[:, None]
    given = others, Nuisance(LinearRegression(), None), WEIGHTS, PARTS, np.arange(400)
    assert residual_dependence(residuals, *given)[0] < 1e-6


def surface(design, rng, n_rows):
    """Two columns, their joint effect, and the deviation of the noise."""
    first = rng.normal(size=n_rows)
    if design == "jump":
        return {"a": first, "b": rng.normal(size=n_rows)}, (first > 0) * 1.0, 0.3
    level = rng.integers(0, 3, n_rows)
    levels = pd.Categorical(np.array(["x", "y", "z"])[level])
    if design == "dose by site":
        return {"a": levels, "b": first}, np.array([1, 0, -1])[level] * first, 1.0
    other = rng.integers(0, 3, n_rows)
    table = 1.5 * np.array([[1, 0, -1], [-1, 1, 0], [0, -1, 1]])
    return {"a": levels, "b": other.astype(str)}, table[level, other], 1.0


@pytest.mark.thorough
@pytest.mark.parametrize("design", ["jump", "dose by site", "two categories"])
def test_residuals_of_what_a_surface_drives_are_not_correlated(design):
    """Two targets that only depend on the same surface, at few rows.

    Of 40 runs with a share of 7 %, more than 7 are rejected in less than 1 %.
    """
    n_rejected = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        columns, mean, size = surface(design, rng, 100)
        frame = pd.DataFrame(columns)
        targets = mean + size * rng.normal(size=(2, 100))
        products = np.prod(
            [
                target - AdditiveModel().fit(frame, target).predict(frame)
                for target in targets
            ],
            axis=0,
        )
        n_rejected += stats.ttest_1samp(products, 0).pvalue < 0.05
    assert n_rejected <= 7


@pytest.mark.thorough
@pytest.mark.parametrize("test", ["gcm", "pcm", "hrt"])
def test_a_feature_driven_by_the_surface_of_the_target_is_not_needed(test):
    """The first feature is needed; that which shares its surface is not."""
    pvalues = []
    for seed in range(2):
        rng = np.random.default_rng(seed)
        columns, mean, _ = surface("dose by site", rng, 100)
        noise = rng.normal(size=(2, 100))
        frame = pd.DataFrame({**columns, "driven": mean + noise[0]})
        found = ConditionalImportanceTest(test=test, n_samples=99, random_state=seed)
        pvalues.append(found.fit(frame, mean + noise[1]).pvalues_[2])
    assert min(pvalues) > 0.02


def test_what_is_added_to_an_additive_model():
    rng = np.random.default_rng(0)
    frame, mean = [], 0
    for design in ("jump", "dose by site"):
        columns, effect, _ = surface(design, rng, 300)
        frame.append(pd.DataFrame(columns).add_prefix(design[0]))
        mean = mean + effect
    frame = pd.concat(frame, axis=1)
    frame["flag"] = rng.integers(0, 2, 300)
    frame["missing"] = np.where(rng.uniform(size=300) < 0.3, np.nan, frame["db"])
    mean = mean + frame["flag"] * frame["jb"]
    target = mean + 0.3 * rng.normal(size=300)
    before = frame.copy()
    model = AdditiveModel().fit(frame, target)
    pd.testing.assert_frame_equal(frame, before)
    (structure,) = model.structures_
    assert {(2, 3), (1, 4)} <= set(structure.pairs)
    assert any(j == 0 and abs(cut) < 0.1 for j, cut in structure.jumps)
    assert np.var(mean - model.predict(frame)) < 0.1 * np.var(mean)
    # Levels are told apart by their labels, and unknown ones have no effect.
    few = frame.iloc[[7, 3, 12]].copy()
    few["da"] = few["da"].astype(str)
    assert_allclose(model.predict(few), model.predict(frame)[[7, 3, 12]])
    few["da"] = "unknown"
    assert np.isfinite(model.predict(few)).all()


def test_nothing_is_added_to_what_fits(X):
    for target in (X[:, 0], np.sin(X[:, 0]), np.zeros(400), np.full(400, 0.1)):
        (structure,) = AdditiveModel().fit(X, target).structures_
        assert structure == Structure()


@pytest.fixture
def known_structure(monkeypatch):
    """Function that makes an additive model of one structure, without a search."""

    def make(structure):
        monkeypatch.setattr(
            _nuisance._Regression,
            "search",
            lambda regression: (regression.fit_structure(structure), structure),
        )
        return AdditiveModel()

    return make


def test_rows_on_one_side_of_a_jump_have_a_model(X, known_structure):
    rows = np.flatnonzero(X[:, 0] < 0)
    table, target = X[rows], X[rows, 1]
    jump = known_structure(Structure(jumps=((0, 0.0),))).fit(table, target)
    plain = known_structure(Structure()).fit(table, target)
    assert_allclose(jump.predict(X), plain.predict(X))


def test_leverages_give_residuals_of_models_without_the_row(X, known_structure):
    """Of models with the smoothness of that of all rows, up to its uncertainty."""
    table, target = X[:60, :2], X[:60, 0] ** 2 + X[:60, 2]
    model = known_structure(Structure()).fit(table, target)
    means, leverages = model.predict_with_leverages(table)
    assert_allclose(means[:, 0], model.predict(table))
    held_out = (target - means[:, 0]) / (1 - leverages[:, 0])
    without = [
        target[i] - AdditiveModel().fit(*kept).predict(table[[i]])[0]
        for i in range(60)
        for kept in [(np.delete(table, i, axis=0), np.delete(target, i))]
    ]
    error = held_out - without
    # Models without the row at an end extrapolate, not always along a straight line.
    is_inside = (table > table.min(axis=0)) & (table < table.max(axis=0))
    error = error[is_inside.all(axis=1)]
    assert np.sqrt(np.mean(error**2)) < 0.05 * np.std(without)


@pytest.mark.thorough
@pytest.mark.parametrize("design", ["dose by site", "two categories"])
def test_the_check_sees_surfaces_in_few_rows(design, known_structure):
    """Of regressions without surfaces, at 100 rows, in one of the two residuals."""
    n_seen = 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        columns, mean, size = surface(design, rng, 100)
        frame, parts, pvalues = pd.DataFrame(columns), rng.permutation(100), []
        for target in mean + size * rng.normal(size=(2, 100)):
            plain = known_structure(Structure()).fit(frame, target)
            residuals = (target - plain.predict(frame))[:, None]
            given = Nuisance(None, None), np.ones(100), parts, np.arange(100)
            pvalues.append(residual_dependence(residuals, as_rows(frame), *given)[0])
        n_seen += 4 * min(pvalues) < 0.01
    assert n_seen >= 8


@pytest.mark.thorough
def test_weights_are_no_dependence():
    """A row that counts twice has its noise once: it does not predict itself."""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        rows = rng.normal(size=(100, 2))
        target = rows[:, 0] + rng.normal(size=100)
        weights = rng.integers(1, 4, size=100)
        found = ConditionalImportanceTest(test="gcm", cv=2, random_state=seed)
        with warnings.catch_warnings():
            warnings.simplefilter("error", WeakNuisanceWarning)
            found.fit(rows, target, sample_weight=weights)


def test_each_row_is_one_observation_of_the_check(X):
    times = np.random.default_rng(0).integers(1, 4, 400)
    copies = np.repeat(np.arange(400), times)
    residuals = np.random.default_rng(1).normal(size=(400, 1))
    nuisance = Nuisance(None, None)
    together = residual_dependence(
        residuals[copies],
        as_rows(X[copies]),
        nuisance,
        np.ones(len(copies)),
        np.arange(len(copies)) % 10,
        copies,
    )
    apart = residual_dependence(
        residuals[copies],
        as_rows(X[copies]),
        nuisance,
        np.ones(len(copies)),
        np.arange(len(copies)) % 10,
        np.arange(len(copies)),
    )
    assert together[0] > 0.01
    assert apart[0] < 1e-6
