"""KernelSHAP where it does not ask about all coalitions, and where it does."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import config_context
from sklearn.ensemble import GradientBoostingRegressor, RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.neural_network import MLPRegressor

from sklearn_interpret.exceptions import CostlyInspectionWarning
from sklearn_interpret.shapley import ExactShapley, KernelSHAP, TreeSHAP
from tests.references.memory import peak_memory
from tests.shapley.test_games import Formula, of_model

RNG = np.random.default_rng(0)
X = RNG.uniform(size=(60, 9))
Y = 4 * np.sin(3 * X[:, 0] * X[:, 1]) + 5 * (X[:, 2] - 0.5) ** 2 + X[:, 3] * X[:, 4]
BACKGROUND, ROWS = X[:6], X[6:12]
BOOSTING = GradientBoostingRegressor(n_estimators=30, random_state=0).fit(X, Y)


def smooth(rows):
    """A function with interactions of up to four columns."""
    return np.sin(2 * rows[:, 0] * rows[:, 1]) + rows[:, 2:6].prod(axis=1) * 8


def relative_error(found, truth):
    return ((found - truth) ** 2).sum() / (truth**2).sum()


# All coalitions


@pytest.mark.parametrize("n_coalitions", [2**9, 10**6, "auto"])
def test_all_coalitions_are_exact(n_coalitions):
    exact = of_model(ExactShapley, BOOSTING, BACKGROUND)
    inspector = of_model(KernelSHAP, BOOSTING, BACKGROUND, n_coalitions=n_coalitions)
    explanation = inspector.explain(ROWS)
    assert_allclose(explanation.values, exact.explain(ROWS).values, atol=1e-10)
    assert_array_equal(explanation.standard_errors, 0)
    pairs = inspector.interaction_values(ROWS)
    assert_allclose(pairs, exact.interaction_values(ROWS), atol=1e-10)


@pytest.mark.parametrize("n_coalitions", [4, 5, 30, 33, 511, 512])
def test_no_more_coalitions_than_asked_for(n_coalitions):
    asked = []

    def model(rows):
        asked.append(len(rows))
        return smooth(rows)

    inspector = of_model(
        KernelSHAP, Formula(model), BACKGROUND, n_coalitions=n_coalitions
    )
    asked.clear()
    inspector.explain(ROWS)
    n_paired = (n_coalitions - 2) // 2 * 2
    assert sum(asked) == len(ROWS) * (1 + n_paired * len(BACKGROUND))


def test_rows_with_few_active_players_are_exact():
    background = np.where(np.arange(9) < 5, BACKGROUND, 0.5)
    rows = np.where(np.arange(9) < 5, ROWS, 0.5)
    rows[0, 5:] = 0.7
    exact = of_model(ExactShapley, Formula(smooth), background).explain(rows)
    inspector = of_model(KernelSHAP, Formula(smooth), background, n_coalitions=40)
    explanation = inspector.explain(rows)
    assert (explanation.standard_errors[0] > 0).all()
    assert_array_equal(explanation.standard_errors[1:], 0)
    assert_allclose(explanation.values[1:], exact.values[1:], atol=1e-12)
    assert_array_equal(explanation.values[1:, 5:], 0)


# Some of them


@pytest.mark.parametrize(
    ("n_coalitions", "of_trees", "of_formula"), [(64, 2e-3, 2e-2), (256, 1e-4, 1e-5)]
)
def test_values_are_close_to_exact(n_coalitions, of_trees, of_formula):
    for model, bound in ((BOOSTING, of_trees), (Formula(smooth), of_formula)):
        exact = of_model(ExactShapley, model, BACKGROUND).explain(ROWS).values
        inspector = of_model(KernelSHAP, model, BACKGROUND, n_coalitions=n_coalitions)
        explanation = inspector.explain(ROWS)
        assert relative_error(explanation.values, exact) < bound
        assert np.abs(explanation.additivity_error()).max() < 1e-10


def test_interaction_values_are_close_to_exact():
    exact = of_model(ExactShapley, Formula(smooth), BACKGROUND)
    inspector = of_model(KernelSHAP, Formula(smooth), BACKGROUND, n_coalitions=256)
    truth, found = exact.interaction_values(ROWS), inspector.interaction_values(ROWS)
    assert relative_error(found, truth) < 1e-3
    assert_array_equal(found, found.swapaxes(1, 2))
    values = inspector.explain(ROWS).values
    assert_allclose(found.sum(axis=2), values, atol=1e-12)


def test_a_multiple_of_a_model_has_that_multiple_of_values():
    inspectors = [
        of_model(KernelSHAP, Formula(model), BACKGROUND, n_coalitions=60)
        for model in (smooth, lambda rows: 100 - 3 * smooth(rows))
    ]
    one, other = (inspector.explain(ROWS) for inspector in inspectors)
    assert_allclose(other.values, -3 * one.values, atol=1e-9)
    assert_allclose(other.standard_errors, 3 * one.standard_errors, rtol=1e-6)


def test_probabilities_of_all_classes_have_values_that_sum_to_zero():
    model = RandomForestClassifier(5, random_state=0).fit(X, np.digitize(Y, [1, 2]))
    inspector = of_model(KernelSHAP, model, BACKGROUND, n_coalitions=40)
    explanation = inspector.explain(ROWS)
    assert explanation.values.shape == explanation.standard_errors.shape == (6, 9, 3)
    assert_allclose(explanation.values.sum(axis=2), 0, atol=1e-12)
    assert inspector.interaction_values(ROWS).shape == (6, 9, 9, 3)


# The same values


@pytest.mark.parametrize("ask", ["transform", "interaction_values"])
def test_a_row_gets_the_same_alone_among_others_and_from_workers(ask):
    params = {"background": BACKGROUND, "n_coalitions": 50}
    rows = X[6:26].copy()
    rows[::3, 8] = 0.5
    background = BACKGROUND.copy()
    background[:, 8] = 0.5  # games of eight players and of nine
    params["background"] = background
    inspector = of_model(KernelSHAP, BOOSTING, **params)
    whole = getattr(inspector, ask)(rows)
    order = RNG.permutation(len(rows))
    assert_array_equal(getattr(inspector, ask)(rows[order]), whole[order])
    for row in (0, 1):
        alone = getattr(inspector, ask)(rows[row : row + 1])
        assert_array_equal(alone, whole[row : row + 1])
    assert not inspector._attributor.__getstate__()["_surrogates"]
    copy = pickle.loads(pickle.dumps(inspector))
    assert_array_equal(getattr(copy, ask)(rows), whole)
    shared = of_model(KernelSHAP, BOOSTING, n_jobs=2, **params)
    assert_array_equal(getattr(shared, ask)(rows), whole)
    again = of_model(KernelSHAP, BOOSTING, random_state=1, **params)
    assert (getattr(again, ask)(rows) != whole).any()


def test_models_whose_answers_depend_on_the_batch():
    model = MLPRegressor(hidden_layer_sizes=(9, 9), max_iter=2000, random_state=0)
    inspector = of_model(KernelSHAP, model.fit(X, Y), BACKGROUND, n_coalitions=50)
    whole = inspector.explain(ROWS).values
    alone = [inspector.explain(row[None]).values for row in ROWS]
    assert_allclose(np.concatenate(alone), whole, atol=1e-12)


def test_no_more_surrogates_are_kept_than_memory_allows():
    inspector = of_model(KernelSHAP, BOOSTING, BACKGROUND, n_coalitions=50)
    with config_context(working_memory=0.04):
        inspector.interaction_values(ROWS)
    assert len(inspector._attributor._surrogates) == 1


def test_all_coalitions_of_sixteen_players():
    """Twice as many as are allowed where they are not all."""
    slopes = np.linspace(-1, 1, 16)
    model = Formula(lambda rows: rows @ slopes + rows[:, :3].prod(axis=1))
    background, row = np.zeros((1, 16)), np.ones((1, 16))
    inspector = of_model(KernelSHAP, model, background, n_coalitions=2**16)
    explanation = inspector.explain(row)
    expected = slopes + np.where(np.arange(16) < 3, 1 / 3, 0)
    assert_allclose(explanation.values[0], expected, atol=1e-12)
    assert_array_equal(explanation.standard_errors, 0)
    with pytest.raises(ValueError, match="n_coalitions=65534 of 16 players are more"):
        of_model(KernelSHAP, model, background, n_coalitions=2**16 - 2)


def test_nearly_all_coalitions_cost_more_than_all():
    model, background = Formula(lambda rows: rows[:, 0]), np.zeros((1, 15))
    with pytest.warns(CostlyInspectionWarning, match="32766 coalitions of 15 players"):
        of_model(KernelSHAP, model, background, n_coalitions=2**15 - 2)
    of_model(KernelSHAP, model, background, n_coalitions=2**15)


def test_memory_beyond_the_working_memory_is_told_of():
    wide = np.zeros((2, 400))
    model = Formula(lambda rows: rows[:, 0])
    message = r"feature_groups.*2848 coalitions of 400 players take about 86 MiB"
    with (
        config_context(working_memory=32),
        pytest.warns(CostlyInspectionWarning, match=message),
    ):
        of_model(KernelSHAP, model, wide, n_coalitions=2848)
    of_model(KernelSHAP, model, wide)


@pytest.mark.thorough
@pytest.mark.parametrize("n_players", [30, 200])
def test_the_default_number_of_coalitions_fits_the_working_memory(n_players):
    rng = np.random.default_rng(0)
    model = Formula(lambda rows: rows[:, 0] * rows[:, 1] + rows[:, 2])
    background, rows = rng.normal(size=(2, 2, n_players))
    with config_context(working_memory=12):
        inspector = of_model(KernelSHAP, model, background)
        peak = peak_memory(lambda: inspector.interaction_values(rows))
    assert 8 * 2**20 < peak < 13 * 2**20


def test_the_least_number_of_coalitions_identifies_main_effects():
    slopes = np.arange(200.0)
    model, rows = Formula(lambda rows: rows @ slopes), np.ones((1, 200))
    with (
        config_context(working_memory=0),
        pytest.warns(CostlyInspectionWarning, match="404 coalitions of 200 players"),
    ):
        inspector = of_model(KernelSHAP, model, 0 * rows)
    assert_allclose(inspector.explain(rows).values[0], slopes, rtol=0, atol=1e-6)


def test_thousands_of_players():
    rng = np.random.default_rng(1)
    slopes = rng.normal(size=1500)
    background, row = rng.normal(size=(1, 1500)), rng.normal(size=(1, 1500))
    inspector = of_model(
        KernelSHAP, Formula(lambda rows: rows @ slopes), background, n_coalitions=200
    )
    explanation = inspector.explain(row)
    assert np.abs(explanation.additivity_error()).max() < 1e-9
    truth = (row - background) * slopes
    # So few coalitions tell little of each, and the errors say so.
    apart = np.abs(explanation.values - truth)
    assert 0.85 <= (apart <= 1.96 * explanation.standard_errors).mean() <= 1


def test_groups_and_trees():
    groups = {"pair": [0, 1]}
    trees = TreeSHAP(
        FrozenEstimator(BOOSTING), background=BACKGROUND, feature_groups=groups
    ).fit(X)
    inspector = of_model(
        KernelSHAP, BOOSTING, BACKGROUND, feature_groups=groups, n_coalitions=200
    )
    values = trees.explain(ROWS).values
    assert relative_error(inspector.explain(ROWS).values, values) < 1e-4


@pytest.mark.parametrize("n_coalitions", [3, 0, 64.0, "all", None])
def test_bad_numbers_of_coalitions(n_coalitions):
    with pytest.raises(ValueError, match="'n_coalitions' parameter"):
        KernelSHAP(FrozenEstimator(BOOSTING), n_coalitions=n_coalitions).fit(X)
