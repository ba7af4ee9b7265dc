"""Parameters without a row equal those of a fit without it."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import approx_fprime, minimize

from sklearn_interpret._core.influence.score_models import ScoreModel
from sklearn_interpret._core.statistics.score_losses import (
    HalfSquared,
    HalfTweedie,
    HuberWithScale,
    Logistic,
    Softmax,
    SquaredHinge,
)
from tests.speeds import examples

LOSSES = [
    HalfSquared(),
    Logistic(),
    Softmax(),
    SquaredHinge(),
    HalfTweedie(1),
    HalfTweedie(2),
    HalfTweedie(1.5),
]


def name(loss):
    """Name of a loss in the test's."""
    return type(loss).__name__


def targets_of(loss, n_rows, rng):
    """Targets that a loss takes: of two outputs, of two, or of three classes."""
    if isinstance(loss, Softmax):
        return np.eye(3)[rng.integers(0, 3, n_rows)]
    if isinstance(loss, Logistic):
        return rng.integers(0, 2, (n_rows, 1)).astype(float)
    if isinstance(loss, SquaredHinge):
        return rng.choice([-1.0, 1.0], (n_rows, 2))
    if isinstance(loss, HalfSquared):
        return rng.normal(size=(n_rows, 2))
    return rng.exponential(size=(n_rows, 1)) + 0.1


def model_of(loss, seed=0, n_rows=25, d=3, weighted=True, penalty=0.3):
    """A model of random columns with an intercept, at its optimum."""
    rng = np.random.default_rng(seed)
    design = np.c_[rng.normal(size=(n_rows, d - 1)), np.ones(n_rows)]
    targets = targets_of(loss, n_rows, rng)
    weights = rng.integers(0, 3, n_rows).astype(float) if weighted else np.ones(n_rows)
    penalties = np.full((d, targets.shape[1]), penalty)
    penalties[-1] = 0
    start, by_row = np.zeros(penalties.shape), 0.01 * penalties
    return ScoreModel(
        design, targets, weights, penalties, by_row, loss, start
    ).at_optimum()


def refitted(model, kept):
    """Parameters by a general solver."""
    design, targets = model.design[kept], model.targets[kept]
    weights, shape = model.weights[kept], model.parameters.shape

    def objective(flat):
        parameters = flat.reshape(shape)
        scores = design @ parameters
        slopes = weights[:, None] * model.loss.slopes(targets, scores)
        penalty = model.penalty + weights.sum() * model.row_penalty
        gradient = design.T @ slopes + penalty * parameters
        value = weights @ model.loss.values(targets, scores)
        return value + (penalty * parameters**2).sum() / 2, gradient.ravel()

    options = {"maxiter": 10_000, "gtol": 1e-10, "ftol": 1e-16}
    start = model.parameters.ravel()
    solved = minimize(objective, start, jac=True, method="L-BFGS-B", options=options)
    return solved.x.reshape(shape)


def each(n_rows):
    """Lists of one row each."""
    return list(np.arange(n_rows)[:, None])


@pytest.mark.parametrize("loss", LOSSES, ids=name)
def test_slopes_and_curvatures_equal_differences(loss):
    rng = np.random.default_rng(0)
    targets = targets_of(loss, 6, rng)
    scores = rng.normal(size=targets.shape)
    for row in range(6):
        target = targets[row : row + 1]

        def value(score, target=target):
            return loss.values(target, score[None])[0]

        def slope(score, target=target):
            return loss.slopes(target, score[None])[0]

        found = loss.slopes(target, scores[[row]])[0]
        expected = approx_fprime(scores[row], value, 1e-6)
        assert_allclose(found, expected, rtol=0, atol=1e-4 * (1 + abs(found).max()))
        found = loss.curvatures(target, scores[[row]])[0]
        expected = approx_fprime(scores[row], slope, 1e-6).reshape(found.shape)
        assert_allclose(found, expected, rtol=0, atol=1e-4 * (1 + abs(found).max()))


@pytest.mark.parametrize("loss", [HalfSquared(), HalfTweedie(1.5)], ids=name)
def test_means_are_targets_without_a_slope(loss):
    scores = np.linspace(-2, 2, 5)[:, None]
    assert_allclose(loss.slopes(loss.means(scores), scores), 0, atol=1e-15)


def test_the_mean_slope_over_classes_is_zero():
    loss, scores = Logistic(), np.linspace(-40, 40, 5)[:, None]
    shares, ones = loss.means(scores), np.ones_like(scores)
    no, yes = loss.slopes(0 * ones, scores), loss.slopes(ones, scores)
    assert_allclose(shares * yes, -loss.means(-scores) * no, rtol=1e-12)


def test_small_losses_keep_their_digits():
    far = np.array([[40.0, 0.0]])
    losses = (
        Logistic().values(np.ones((1, 1)), far[:, :1]),
        Softmax().values(np.eye(2)[:1], far),
    )
    assert_allclose(losses, np.exp(-40), rtol=1e-12)
    assert_allclose(Logistic().slopes(1, far[:, :1]), -np.exp(-40), rtol=1e-12)


def test_squared_error_of_a_log_link():
    """Half of it, whatever the sign of the target."""
    targets, scores = np.array([[-1.0], [0.0], [3.0]]), np.log([[1.0], [2.0], [3.0]])
    assert_allclose(HalfTweedie(0).values(targets, scores), [2, 2, 0], atol=1e-15)


class Counting(HalfTweedie):
    """Counts how often the objective is evaluated."""

    def values(self, targets, scores):
        self.calls.append(1)
        return super().values(targets, scores)


def test_rounding_of_the_objective_stops_nothing():
    """Sums of many losses differ by rounding alone near the optimum."""
    rng = np.random.default_rng(0)
    design = np.c_[rng.normal(size=(10_000, 4)), np.ones(10_000)]
    targets = rng.poisson(1.0, size=(10_000, 1)).astype(float)
    loss, nothing = Counting(1), np.zeros((5, 1))
    object.__setattr__(loss, "calls", [])
    model = ScoreModel(
        design, targets, np.ones(10_000), nothing, nothing, loss, nothing
    )
    for _ in range(3):
        model = replace(model, parameters=model.parameters + 1e-9).at_optimum()
    assert len(loss.calls) < 40


@pytest.mark.thorough(after=3)
@pytest.mark.parametrize("loss", LOSSES, ids=name)
@given(seed=st.integers(0, 1000))
@examples(5)
def test_without_a_row(loss, seed):
    model = model_of(loss, seed)
    found, _ = model.without(each(8))
    for row in range(8):
        expected = refitted(model, np.arange(25) != row)
        assert_allclose(
            model.design @ found[row], model.design @ expected, rtol=0, atol=1e-5
        )


@pytest.mark.parametrize("loss", LOSSES, ids=name)
def test_without_groups(loss):
    model = model_of(loss)
    groups = [np.arange(5), np.array([3]), np.array([1, 20])]
    found, converged = model.without(groups)
    assert converged.all()
    for parameters, rows in zip(found, groups, strict=True):
        expected = refitted(model, np.delete(np.arange(25), rows))
        assert_allclose(
            model.design @ parameters, model.design @ expected, rtol=0, atol=1e-5
        )
    assert_allclose(found[1], model.without([[3]])[0][0], atol=1e-9)


def test_one_step_is_exact_for_squares():
    model = replace(model_of(HalfSquared()), row_penalty=np.zeros((3, 2))).at_optimum()
    (one, _), (many, _) = (model.without(each(25), of) for of in (np.inf, 0.0))
    assert_allclose(one, many, rtol=1e-9, atol=1e-11)


def test_one_newton_step_is_the_formula_with_the_leverage():
    """Pregibon (1981): the score's residual over one less the leverage."""
    model = model_of(Logistic(), weighted=False, penalty=0.0)
    shares = 1 / (1 + np.exp(-model.design @ model.parameters))
    weights = (shares * (1 - shares))[:, 0]
    inverse = np.linalg.inv((model.design.T * weights) @ model.design)
    leverages = weights * np.einsum("ni,ij,nj->n", model.design, inverse, model.design)
    residuals = (shares - model.targets)[:, 0] / (1 - leverages)
    expected = model.parameters[:, 0] + residuals[:, None] * (model.design @ inverse)
    found = model.without(each(25), precision=np.inf)[0][:, :, 0]
    assert_allclose(found, expected, rtol=1e-9, atol=1e-10)


def test_weights_are_copies():
    model = model_of(Logistic())
    twice = np.repeat(np.arange(25), model.weights.astype(int))
    copies = ScoreModel(
        model.design[twice],
        model.targets[twice],
        np.ones(len(twice)),
        model.penalty,
        model.row_penalty,
        model.loss,
        model.parameters,
    ).at_optimum()
    assert_allclose(copies.parameters, model.parameters, atol=1e-9)
    row = int(np.flatnonzero(model.weights == 2)[0])
    expected, _ = copies.without([np.flatnonzero(twice == row)])
    assert_allclose(model.without([[row]])[0], expected, atol=1e-9)


def test_a_row_that_alone_determines_a_column():
    """Along what no other row determines, the parameters stay."""
    rng = np.random.default_rng(0)
    design = np.c_[rng.normal(size=(10, 2)), np.zeros(10), np.ones(10)]
    design[3, 2] = 1
    targets = rng.normal(size=(10, 1))
    start = np.zeros((4, 1))
    model = ScoreModel(
        design, targets, np.ones(10), start, start, HalfSquared(), start
    ).at_optimum()
    without, _ = model.without([[3], [4]])
    assert_allclose(without[0, 2], model.parameters[2])
    rest = np.delete(design, 3, axis=0)[:, [0, 1, 3]]
    expected = np.linalg.lstsq(rest, np.delete(targets, 3, axis=0))[0]
    assert_allclose(without[0, [0, 1, 3]], expected)


def test_columns_that_say_the_same():
    model = model_of(HalfSquared(), weighted=False, penalty=0.0)
    double = ScoreModel(
        np.c_[model.design, model.design[:, 0]],
        model.targets,
        model.weights,
        *[np.zeros((4, 2))] * 2,
        model.loss,
        np.zeros((4, 2)),
    ).at_optimum()
    first, second = (m.without(each(5))[0] for m in (model, double))
    assert_allclose(double.design @ second, model.design @ first, atol=1e-9)


def test_all_rows_stand_alone():
    start = np.zeros((4, 1))
    model = ScoreModel(
        np.eye(4)[:2], np.ones((2, 1)), np.ones(2), start, start, HalfSquared(), start
    ).at_optimum()
    found, _ = model.without(each(2))
    assert_allclose(found, [model.parameters] * 2, atol=1e-12)


@pytest.mark.parametrize("loss", LOSSES, ids=name)
def test_distance_from_the_optimum(loss):
    model = model_of(loss)
    assert_allclose(model.distance(model.parameters), 0, atol=1e-15)
    assert model.distance(model.parameters + 1) > 0.1
    other = model_of(loss, seed=1, weighted=False)
    same_rows = model_of(loss, seed=1, weighted=True)
    assert other.distance(same_rows.parameters) > 0.01


@pytest.mark.parametrize("loss", LOSSES, ids=name)
def test_damping_keeps_parameters_near(loss):
    """The objective has a penalty of the distance from the parameters of all rows."""
    model = replace(model_of(loss, weighted=False), damping=3.0)
    kept = np.arange(25) != 4
    pulled = model.damping * model.parameters
    for deleted in [[[4]], [[4], [5, 6]]]:  # single rows, and groups
        found = model.without(deleted)[0][0]
        slopes = model.loss.slopes(model.targets[kept], model.design[kept] @ found)
        penalty = model.penalty + 24 * model.row_penalty + model.damping
        gradient = model.design[kept].T @ slopes + penalty * found - pulled
        assert_allclose(gradient, 0, atol=1e-7)
    assert_allclose(model.at_optimum().parameters, model.parameters, atol=1e-9)


def test_derivatives_of_a_loss_with_a_scale():
    rng = np.random.default_rng(0)
    loss, step = HuberWithScale(1.35), 1e-6
    targets = np.repeat(rng.normal(size=(30, 1)), 2, axis=1)
    scores = np.c_[3 * rng.normal(size=30), rng.uniform(0.5, 2, 30)]
    for place, move in enumerate(step * np.eye(2)):
        for values, slopes in [
            (loss.values, loss.slopes(targets, scores)[:, place]),
            (loss.slopes, loss.curvatures(targets, scores)[:, place]),
        ]:
            ends = values(targets, scores + move), values(targets, scores - move)
            assert_allclose((ends[0] - ends[1]) / (2 * step), slopes, atol=1e-6)


@pytest.mark.parametrize("loss", [Logistic(), HalfTweedie(1), HalfSquared()], ids=name)
def test_second_steps_that_are_left_out_are_small(loss):
    model = model_of(loss, n_rows=60, weighted=False)
    model = replace(model, row_penalty=0 * model.row_penalty).at_optimum()
    exact, found = (model.without(each(60), of)[0] for of in (0.0, 0.02))
    sizes = np.abs(exact - model.parameters).max(axis=(1, 2))
    assert (np.abs(found - exact).max(axis=(1, 2)) <= 0.05 * sizes + 1e-9).all()


def test_other_rows_have_nearly_linear_gradients():
    rng = np.random.default_rng(0)
    design = np.c_[rng.normal(size=(400, 3)), np.ones(400)]
    targets = (design[:, :1] + 0.05 * rng.normal(size=(400, 1)) > 0).astype(float)
    penalty = np.array([[1e-3], [1e-3], [1e-3], [0]])
    start = np.zeros((4, 1))
    model = ScoreModel(
        design, targets, np.ones(400), penalty, start, Logistic(), start
    ).at_optimum()
    flat = ~model._nonlinear_rows(length := 0.1, precision := 0.02)
    assert 200 < flat.sum() < 400
    for direction in rng.normal(size=(20, 4)):
        step = np.linalg.cholesky(model._inverse) @ direction
        step *= np.sqrt(length) / np.linalg.norm(direction)
        scores = design @ (model.parameters[:, 0] + step)
        missing = Logistic().slopes(targets, scores[:, None]) - model._slopes
        missing = missing[:, 0] - model._curvatures[:, 0, 0] * (design @ step)
        missing = missing[flat] @ design[flat]
        missing_length = np.sqrt(missing @ model._inverse @ missing)
        assert 0 < missing_length < precision * np.sqrt(length) / 4
    # Long changes overflow, and rows of zeros never matter.
    model = replace(model, design=design * (np.arange(400) > 0)[:, None])
    assert model._nonlinear_rows(1e9, precision).tolist() == [False] + 399 * [True]


def hard_model(seed, loss):
    """Few rows, nearly separable, with weights, ties, and far or tiny columns."""
    rng = np.random.default_rng(seed)
    n_rows, d = int(rng.integers(6, 20)), int(rng.integers(1, 4))
    columns = rng.normal(size=(n_rows, d)).round(int(rng.integers(0, 4)))
    targets = targets_of(loss, n_rows, rng)
    if isinstance(loss, Logistic):
        far = np.argsort(columns[:, 0])[-int(rng.integers(2, 4)) :]
        targets[:] = 0
        targets[far] = 1
    weights = rng.choice([np.ones(n_rows), 10.0 ** rng.uniform(-3, 3, n_rows)])
    penalty = np.full((d + 1, targets.shape[1]), 10.0 ** -rng.uniform(0, 5))
    penalty[-1] = 0
    start = np.zeros(penalty.shape)
    design = np.c_[columns, np.ones(n_rows)]
    made = ScoreModel(design, targets, weights, penalty, start, loss, start)
    shift = rng.choice([0.0, 1e6])
    return replace(made, design=np.c_[columns + shift, np.ones(n_rows)]).at_optimum()


def largest_slope(model, parameters, kept):
    """The largest entry of the gradient along centred columns of unit weight."""
    design = model.design - np.append(model.design[:, :-1].mean(axis=0), 0)
    scores, weights = model.design @ parameters, kept * model.weights
    slopes = weights[:, None] * model.loss.slopes(model.targets, scores)
    gradient = np.abs(design.T @ slopes + model.penalty * parameters)
    return (gradient / (weights @ np.abs(design) + 1)[:, None]).max()


@pytest.mark.parametrize("loss", [Logistic(), Softmax(), SquaredHinge()], ids=name)
@given(seed=st.integers(0, 10_000))
@examples(12)
def test_the_gradient_is_zero_without_any_row(loss, seed):
    model = hard_model(seed, loss)
    n_rows = len(model.design)
    found, converged = model.without(each(n_rows))
    for row in np.flatnonzero(converged):
        kept = np.arange(n_rows) != row
        assert largest_slope(model, found[row], kept) < 1e-8
    if not isinstance(loss, Softmax):  # a class may be gone
        assert converged.all()


@pytest.mark.parametrize("loss", [Logistic(), SquaredHinge()], ids=name)
@given(seed=st.integers(0, 10_000))
@examples(10)
def test_precision_holds_where_classes_are_nearly_separable(loss, seed):
    model = hard_model(seed, loss)
    (exact, _), (found, _) = (
        model.without(each(len(model.design)), precision) for precision in (0.0, 0.02)
    )
    changes, errors = (
        np.abs(model.design @ (one - other)).max(axis=(1, 2))
        for one, other in ((exact, model.parameters), (found, exact))
    )
    assert (errors <= 0.05 * changes + 1e-6 * (1 + changes.max())).all()


def test_classes_without_an_optimum_do_not_converge():
    design = np.c_[[-3.0, -2, -1, 1, 2, 3], np.ones(6)]
    nothing = np.zeros((2, 1))
    model = ScoreModel(
        design,
        design[:, :1].clip(0, 1),
        np.ones(6),
        nothing,
        nothing,
        Logistic(),
        nothing,
    ).at_optimum()
    assert not model.without(each(6))[1].any()
