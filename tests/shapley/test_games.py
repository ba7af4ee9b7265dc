"""Shapley values of any model: exact ones, and those of permutations."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit, logit
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.ensemble import GradientBoostingClassifier, RandomForestRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.tree import DecisionTreeRegressor

from sklearn_interpret.exceptions import (
    CostlyInspectionWarning,
    SaturatedResponseWarning,
)
from sklearn_interpret.shapley import (
    BreakDown,
    ExactShapley,
    KernelSHAP,
    ShapleySampling,
)
from tests.shapley.truth import assert_values, interventional_truth

pd = pytest.importorskip("pandas")

RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 4))
Y = X[:, 0] * X[:, 1] + np.maximum(X[:, 2], 0) + X[:, 3]
THREE = np.digitize(Y, [-0.5, 0.8])
FOREST = RandomForestRegressor(5, max_depth=4, random_state=0).fit(X, Y)
BACKGROUND = X[:8]


class Formula(RegressorMixin, BaseEstimator):
    """A model that is a function of the rows."""

    def __init__(self, function):
        self.function = function

    def fit(self, X, y=None):
        return self

    def __sklearn_is_fitted__(self):
        return True

    def predict(self, X):
        return self.function(np.asarray(X))


def of_model(kind, model, background=BACKGROUND, **params):
    """An inspector of a fitted model with a background of its own."""
    params.setdefault("random_state", 0)
    inspector = kind(FrozenEstimator(model), background=background, **params)
    return inspector.fit(background)


# The probability of the first column's value, 1 of large ones.
STEEP = Formula(lambda rows: np.where(rows[:, 0] > 5, 1.0, expit(rows[:, 0])))

# All coalitions of so few players are within what KernelSHAP takes by itself.
KINDS = [ExactShapley, ShapleySampling, KernelSHAP]


# What is exact


@pytest.mark.parametrize("p", [1, 2, 5, 12])
def test_exact_values_are_those_of_enumeration(p):
    rng = np.random.default_rng(p)
    background, rows = rng.normal(size=(3, p)), rng.normal(size=(2, p))
    scale = rng.normal(size=p)

    def model(rows):
        return np.sin(rows @ scale) + np.prod(rows[:, :4], axis=1)

    truth = interventional_truth(model, rows, background)
    inspector = of_model(ExactShapley, Formula(model), background)
    assert_values(inspector, rows, truth)
    if p <= 5:
        pairs = interventional_truth(model, rows, background, order=2)
        found = inspector.interaction_values(rows)
        assert_allclose(found, pairs[..., 0], atol=1e-12)
        assert_allclose(found.sum(axis=2), truth[..., 0], atol=1e-12)


def test_outputs_groups_and_weights():
    model = LogisticRegression().fit(X, THREE)
    members, groups = [[0, 2], [1], [3]], {"pair": [0, 2]}
    weights = np.arange(8.0)
    inspector = ExactShapley(
        FrozenEstimator(model), feature_groups=groups, subsample=None
    ).fit(BACKGROUND, sample_weight=weights)
    for order in (1, 2):
        truth = interventional_truth(
            model.predict_proba,
            X[8:11],
            BACKGROUND,
            weights=weights,
            members=members,
            order=order,
        )
        if order == 1:
            assert_values(inspector, X[8:11], truth)
        else:
            found = inspector.interaction_values(X[8:11])
            assert_allclose(found, truth, atol=1e-12)
    assert inspector.player_names_ == ["pair", "x1", "x3"]
    one = ExactShapley(FrozenEstimator(model), target=2).fit(BACKGROUND)
    assert one.explain(X[:2]).values.shape == (2, 4)


def test_a_row_with_idle_players_asks_less():
    asked = []

    def model(rows):
        asked.append(len(rows))
        return rows[:, 0] * rows[:, 1] + rows[:, 2] ** 2

    background = np.array([[1.0, 2.0, 3.0], [1.0, 0.0, 3.0]])
    inspector = of_model(ExactShapley, Formula(model), background)
    asked.clear()
    row = np.array([[1.0, 1.0, 3.0]])
    assert_array_equal(inspector.explain(row).values, [[0, 0, 0]])
    assert asked == [1]
    row = np.array([[3.0, 4.0, 3.0]])
    truth = interventional_truth(model, row, background)
    asked.clear()
    assert_values(inspector, row, truth)
    assert sum(asked) == 1 + 2 * 2


def test_links():
    model = GradientBoostingClassifier(n_estimators=5, random_state=0).fit(X, Y > 0)
    plain = of_model(ExactShapley, model)
    linked = of_model(ExactShapley, model, link="logit")
    explanation = linked.explain(X[:5])
    assert_allclose(expit(linked.base_values_), plain.base_values_)
    assert_allclose(explanation.predictions, logit(model.predict_proba(X[:5])[:, 1]))
    assert np.abs(explanation.additivity_error()).max() < 1e-12
    with pytest.raises(ValueError, match="link='logit' takes mean responses"):
        of_model(ExactShapley, LinearRegression().fit(X, 9 + Y), link="logit")


@pytest.mark.parametrize(
    ("kind", "n_jobs"), [(kind, None) for kind in (*KINDS, BreakDown)] + [(KINDS[0], 2)]
)
def test_probabilities_without_log_odds_are_clipped(kind, n_jobs):
    inspector = of_model(kind, STEEP, link="logit", n_jobs=n_jobs)
    rows = X[:5].copy()
    rows[:, 0], rows[[1, 3], 0] = 0.5, 9.0
    with pytest.warns(SaturatedResponseWarning, match="of 2 of 5 rows"):
        explanation = inspector.explain(rows)
    assert np.isfinite(explanation.values).all()
    assert np.abs(explanation.additivity_error()).max() < 1e-12
    assert_allclose(explanation.predictions[[1, 3]], -np.log(np.finfo(float).eps))
    alone = inspector.explain(rows[:1])
    assert_allclose(alone.values, explanation.values[:1], atol=1e-12)


def test_a_background_without_log_odds():
    with pytest.warns(SaturatedResponseWarning, match="of the background"):
        of_model(ExactShapley, STEEP, np.full((3, 4), 9.0), link="logit")


@pytest.mark.parametrize("kind", [*KINDS, BreakDown])
def test_responses_whose_differences_are_beyond_the_largest_float(kind):
    model = Formula(lambda rows: np.where(rows[:, 0] > 0, 1.7e308, -1.7e308))
    down, up = sorted(np.vstack([BACKGROUND[:1], -BACKGROUND[:1]]).tolist())
    with pytest.raises(ValueError, match=r"response is beyond 1e\+75"):
        of_model(kind, model, np.array([down])).explain([up])


def test_much_work_is_told_of_beforehand(monkeypatch):
    monkeypatch.setattr("sklearn_interpret._model.row_limit._MANY_ROWS", 100)
    inspector = of_model(ExactShapley, FOREST)
    with pytest.warns(CostlyInspectionWarning, match="feature_groups.*226 rows"):
        inspector.explain(X[10:12])


def test_too_many_players():
    wide = np.zeros((2, 21))
    with pytest.raises(ValueError, match=r"21 players \(at most 20\): use TreeSHAP"):
        ExactShapley(LinearRegression()).fit(wide, [0, 1])
    groups = {"two": [0, 1]}
    ExactShapley(LinearRegression(), feature_groups=groups).fit(wide, [0, 1])


# What is sampled


@pytest.mark.parametrize("n_permutations", [24, 60])
def test_all_orders_are_exact(n_permutations):
    truth = of_model(ExactShapley, FOREST).explain(X[:5]).values
    found = of_model(ShapleySampling, FOREST, n_permutations=n_permutations)
    explanation = found.explain(X[:5])
    assert_allclose(explanation.values, truth, atol=1e-12)
    assert_array_equal(explanation.standard_errors, 0)


@pytest.mark.thorough
@pytest.mark.parametrize("antithetic", [True, False])
def test_standard_errors_are_honest(antithetic):
    rng = np.random.default_rng(0)
    background, rows = rng.normal(size=(4, 6)), rng.normal(size=(3, 6))

    def model(rows):
        parts = (
            rows[:, 0] * rows[:, 1] * rows[:, 2],
            np.sin(2 * rows[:, 3] * rows[:, 4]),
        )
        return sum(parts) + rows[:, 5] * rows[:, 0]

    truth = of_model(ExactShapley, Formula(model), background).explain(rows).values
    covered = []
    for seed in range(200):
        inspector = of_model(
            ShapleySampling,
            Formula(model),
            background,
            n_permutations=40,
            antithetic=antithetic,
            random_state=seed,
        )
        explanation = inspector.explain(rows)
        apart = np.abs(explanation.values - truth)
        covered.append(apart <= 1.96 * explanation.standard_errors + 1e-12)
        assert np.abs(explanation.additivity_error()).max() < 1e-12
    share = np.mean(covered, axis=0)
    assert 0.9 <= share.mean() <= 0.99
    assert share.min() > 0.85


@pytest.mark.parametrize("kind", [KernelSHAP, ShapleySampling])
@pytest.mark.parametrize("budget", [4, 6, 9, 12])
def test_errors_of_the_smallest_budgets_are_honest(kind, budget):
    """Of a tree, a smooth function and a product: 90 % at least, and no false zeros."""
    rng = np.random.default_rng(0)
    rows, background = rng.uniform(size=(8, 5)), rng.uniform(size=(4, 5))
    tree = DecisionTreeRegressor(max_depth=4, random_state=0)
    tree.fit(rng.uniform(size=(60, 5)), rng.normal(size=60))

    def smooth(rows):
        return np.tanh(3 * rows @ [1, -1, 2, 1, -2]) + np.tanh(rows @ [3, 1, 0, -2, 1])

    params = {"n_coalitions": budget}
    if kind is ShapleySampling:
        params = {"n_permutations": budget // 2, "antithetic": budget != 9}
    covered = []
    for model in (tree, Formula(smooth), Formula(lambda rows: (2 * rows).prod(axis=1))):
        truth = of_model(ExactShapley, model, background).explain(rows).values
        for seed in range(10):
            inspector = of_model(kind, model, background, random_state=seed, **params)
            explanation = inspector.explain(rows)
            apart = np.abs(explanation.values - truth)
            errors = explanation.standard_errors
            assert not ((apart > 1e-9) & (errors < 1e-12)).any()
            covered.append(apart <= 1.96 * errors + 1e-12)
    assert np.mean(covered) >= 0.9


@pytest.mark.parametrize(
    ("kind", "params"),
    [(KernelSHAP, {"n_coalitions": 12}), (ShapleySampling, {"n_permutations": 2})],
)
def test_what_looks_linear_is_not_taken_to_be(kind, params):
    """One coalition, which is not among those asked about, has some more."""
    background, row = np.zeros((1, 5)), np.ones((1, 5))
    model = Formula(lambda rows: rows.sum(axis=1) + (rows @ [1, 1, 1, -1, -1] > 2) / 99)
    truth = of_model(ExactShapley, model, background).explain(row).values
    explanation = of_model(kind, model, background, **params).explain(row)
    assert (np.abs(explanation.values - truth) > 1e-4).all()
    assert (explanation.standard_errors > 1e-5).all()


@pytest.mark.parametrize("antithetic", [True, False])
def test_orders_that_agree_by_chance_are_not_believed(antithetic):
    """Of two features the one that comes last gets everything."""
    background, row = np.zeros((1, 7)), np.ones((1, 7))
    model = Formula(lambda rows: rows[:, :3].prod(axis=1))
    for seed in range(50):
        inspector = of_model(
            ShapleySampling,
            model,
            background,
            n_permutations=4,
            antithetic=antithetic,
            random_state=seed,
        )
        assert (inspector.explain(row).standard_errors > 0.01).all()


@pytest.mark.parametrize(("antithetic", "n_permutations"), [(True, 5), (False, 5)])
def test_no_order_is_drawn_twice(antithetic, n_permutations):
    inspector = of_model(
        ShapleySampling, FOREST, n_permutations=n_permutations, antithetic=antithetic
    )
    for n_players in (3, 4):
        orders = inspector._attributor._draw_orders(n_players)
        assert len(np.unique(orders, axis=0)) == len(orders) == 5 + antithetic


@pytest.mark.parametrize(
    ("kind", "parameter"),
    [(ShapleySampling, "n_permutations"), (KernelSHAP, "n_coalitions")],
)
def test_budgets_beyond_all_bounds(kind, parameter):
    found = of_model(kind, FOREST, **{parameter: 10**18}).explain(X[:1])
    assert_allclose(found.values, of_model(ExactShapley, FOREST).explain(X[:1]).values)
    wide = np.zeros((2, 30))
    with pytest.raises(ValueError, match=f"{parameter}=1000000000000000000 of 30"):
        of_model(kind, Formula(lambda rows: rows[:, 0]), wide, **{parameter: 10**18})


def test_additive_models_need_one_order():
    model = LinearRegression().fit(X, Y)
    expected = (X[:3] - BACKGROUND.mean(axis=0)) * model.coef_
    inspector = of_model(ShapleySampling, model, n_permutations=2)
    explanation = inspector.explain(X[:3])
    assert_allclose(explanation.values, expected, atol=1e-12)


def test_as_many_rows_as_orders_and_no_more():
    asked = []

    def model(rows):
        asked.append(len(rows))
        return rows.sum(axis=1)

    rng = np.random.default_rng(0)
    background = rng.normal(size=(3, 30))
    inspector = of_model(ShapleySampling, Formula(model), background, n_permutations=4)
    asked.clear()
    inspector.explain(rng.normal(size=(2, 30)))
    assert sum(asked) <= 2 + 2 * 4 * 29 * 3


# What all of them keep


@pytest.mark.parametrize("kind", KINDS)
def test_missing_values_constant_columns_and_one_feature(kind):
    gaps = X.copy()
    gaps[::3, 0], gaps[:, 1] = np.nan, 1.0
    model = RandomForestRegressor(5, random_state=0).fit(gaps, Y)
    explanation = of_model(kind, model, gaps[:8]).explain(gaps[8:12])
    assert_array_equal(explanation.values[:, 1], 0)
    truth = interventional_truth(model.predict, gaps[8:12], gaps[:8])
    assert_allclose(explanation.values, truth[..., 0], atol=1e-12)
    model = RandomForestRegressor(5, random_state=0).fit(X[:, :1], Y)
    explanation = of_model(kind, model, X[:8, :1]).explain(X[:1, :1])
    assert_allclose(
        explanation.values[0, 0],
        explanation.predictions[0] - explanation.base_values[0],
    )
