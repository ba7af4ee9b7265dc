"""Penalised least squares: solutions, criteria, their slopes, and tests of terms."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats
from scipy.special import softmax

from sklearn_interpret._core.additive import smoothing
from sklearn_interpret._core.additive.inference import smoothing_covariance, term_test
from sklearn_interpret._core.additive.smoothing import (
    NormalEquations,
    PenalisedFit,
    bounds,
    choose_smoothing,
)
from sklearn_interpret.additive import GAMRegressor

RNG = np.random.default_rng(0)
DESIGN = np.column_stack([np.ones(50), RNG.normal(size=(50, 5))])
WEIGHTS = RNG.uniform(0.5, 2, 50)
Z = DESIGN @ [0.0, 1.0, -1.0, 0.5, 0.0, 0.0] + RNG.normal(size=50)
Z -= WEIGHTS @ Z / WEIGHTS.sum()
PENALTIES = np.array([[0, 0, 1.0, 2.0, 0, 0], [0, 0, 0, 1.0, 1.0, 3.0]])
RHO = np.array([0.3, 1.2])
CRITERIA = [PenalisedFit.restricted_likelihood, PenalisedFit.cross_validation]


def equations(dispersion=None):
    """Sums over the rows."""
    return NormalEquations(
        (WEIGHTS * DESIGN.T) @ DESIGN,
        DESIGN.T @ (WEIGHTS * Z),
        WEIGHTS @ Z**2,
        50.0,
        PENALTIES,
        dispersion,
    )


def test_the_solution_is_that_of_augmented_least_squares():
    fit = PenalisedFit(equations(), RHO)
    sizes = np.exp(RHO) @ PENALTIES
    rows = np.vstack([np.sqrt(WEIGHTS)[:, None] * DESIGN, np.diag(np.sqrt(sizes))])
    targets = np.append(np.sqrt(WEIGHTS) * Z, np.zeros(6))
    expected, (least,), *_ = np.linalg.lstsq(rows, targets)
    assert_allclose(fit.coefficients, expected, atol=1e-10)
    assert_allclose(fit.minimum, least)
    assert_allclose(fit.penalty, sizes @ expected**2)
    assert_allclose(fit.inverse, np.linalg.inv(fit.matrix), rtol=1e-9)
    hat = rows[:50] @ np.linalg.pinv(rows)[:, :50]
    assert_allclose(fit.dof.sum(), np.trace(hat))
    assert fit.n_free == 2
    assert_allclose(fit.dispersion, least / 48)
    left = 50 - np.trace(hat)
    score = 50 * np.log((fit.minimum - fit.penalty) / left**2)
    assert_allclose(fit.cross_validation()[0], score)


@pytest.mark.parametrize("dispersion", [None, 0.8])
@pytest.mark.parametrize("criterion", CRITERIA, ids=lambda c: c.__name__)
def test_slopes_and_curvatures_are_those_of_differences(criterion, dispersion):
    sums, step = equations(dispersion), 1e-4
    _, gradient, hessian = criterion(PenalisedFit(sums, RHO))
    for k, move in enumerate(step * np.eye(2)):
        ends = [criterion(PenalisedFit(sums, RHO + side * move)) for side in (1, -1)]
        (high, above, _), (low, below, _) = ends
        assert_allclose((high - low) / (2 * step), gradient[k], rtol=1e-5)
        assert_allclose((above - below) / (2 * step), hessian[k], rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("dispersion", [None, 0.8])
@pytest.mark.parametrize("method", ["reml", "gcv"])
def test_criteria_are_least_where_they_end(method, dispersion):
    sums = equations(dispersion)
    criterion = dict(zip(["reml", "gcv"], CRITERIA, strict=True))[method]
    found = choose_smoothing(PenalisedFit(sums, sums.balanced), method, sums.balanced)
    value = criterion(found)[0]
    low, high = bounds(sums.balanced, 50)
    for near in found.log_smoothing + 0.3 * RNG.normal(size=(20, 2)):
        other = PenalisedFit(sums, near.clip(low, high))
        assert criterion(other)[0] >= value - 1e-3
        loss = other.loss(method, other.minimum - other.penalty, other.coefficients)
        assert_allclose(loss, criterion(other)[0])


def test_balanced_penalties_weigh_as_the_rows():
    sums = equations()
    weighed = np.exp(sums.balanced) * PENALTIES.sum(axis=1)
    assert_allclose(weighed, PENALTIES @ np.diag(sums.products))


def test_the_score_test_by_its_definition():
    """Zhang and Lin's score of a term, whose functions have penalties of one size."""
    sums = replace(equations(), penalties=np.array([[0, 0, 0, 1.0, 1.0, 1.0]]))
    part, phi = slice(3, 6), 1.3
    found = []
    for rho, dof in [(0.0, 40.0), (2.0, 40.0), (0.0, np.inf)]:
        fit = PenalisedFit(sums, np.array([rho]))
        found.append(term_test(fit, part, *fit.information_matrices([part]), phi, dof))
    # The least squares fit of the others leaves a score for each of its functions.
    root = np.sqrt(WEIGHTS)[:, None] * DESIGN
    left = np.eye(50) - root[:, :3] @ np.linalg.pinv(root[:, :3])
    score = root[:, part].T @ left @ (np.sqrt(WEIGHTS) * Z)
    covariance = phi * root[:, part].T @ left @ root[:, part]
    shares = 1 / np.diag(sums.products)[part]
    mean = shares @ np.diag(covariance)
    statistic = shares @ score**2 / mean
    dof = mean**2 / (shares @ covariance**2 @ shares)
    assert_allclose([one[0] for one in found], statistic, rtol=1e-6)
    assert_allclose(found[0][1], stats.f.sf(statistic, dof, 40.0), rtol=1e-6)
    assert_allclose(found[1][1], found[0][1], rtol=1e-6)
    assert_allclose(found[2][1], stats.chi2.sf(dof * statistic, dof), rtol=1e-6)


@pytest.mark.parametrize("rho", [[0.3, 1.2], [35.0, 34.0]])
def test_information_does_not_drown_in_large_penalties(rho):
    fit = PenalisedFit(equations(), np.array(rho))
    parts, products = [slice(2, 4), slice(3, 6)], fit.equations.products
    for part, found in zip(parts, fit.information_matrices(parts), strict=True):
        others = np.delete(np.arange(6), part)
        cross = products[others, part]
        explained = np.linalg.solve(fit.matrix[np.ix_(others, others)], cross)
        expected = products[part, part] - cross.T @ explained
        assert_allclose(found, expected, rtol=1e-10)


@pytest.mark.parametrize("rho", [[0.3, 1.2], [33.0, 33.0]])
def test_smoothing_covariance_is_that_of_a_fit_for_each_parameter(rho):
    """Of terms that have vanished, too."""
    fit = PenalisedFit(equations(), np.array(rho))
    balanced, expected = fit.equations.balanced, 0
    low, _ = bounds(balanced, 50.0)
    for k in range(2):
        grid = np.arange(low[k], balanced[k] + 15)
        trials = np.tile(rho, (len(grid), 1))
        trials[:, k] = grid
        fits = [PenalisedFit(fit.equations, trial) for trial in trials]
        losses = np.array([f.profiled_loss(f.minimum) + f.log_ratio for f in fits])
        for share, one in zip(softmax(-losses / 2 - grid), fits, strict=True):
            moved = one.coefficients - fit.coefficients
            grown = 0.7 * (one.inverse - fit.inverse) + np.outer(moved, moved)
            expected += share * grown
    found = smoothing_covariance(fit, 0.7)
    assert_allclose(found, expected, atol=1e-11 * np.abs(expected).max())


@pytest.mark.parametrize(("n_rows", "n_terms"), [(400, 4), (60, 12)])
def test_the_start_is_nearer_than_the_balance(n_rows, n_terms, monkeypatch):
    """Fewer steps, to an optimum that is no worse, also of few rows of many terms."""
    rng, n_fits = np.random.default_rng(0), []
    X = rng.uniform(size=(n_rows, n_terms))
    y = np.sin(6 * X[:, 0]) + X[:, 1] + 0.3 * rng.normal(size=n_rows)
    criterion = PenalisedFit.restricted_likelihood

    def counted(fit):
        n_fits[-1] += 1
        return criterion(fit)

    monkeypatch.setitem(smoothing._CRITERIA, "reml", counted)
    found = []
    for start in (NormalEquations.start, NormalEquations.balanced):
        monkeypatch.setattr(NormalEquations, "start", start)
        n_fits.append(0)
        found.append(GAMRegressor().fit(X, y).reml_)
    assert found[0] >= found[1] - 1e-6
    assert n_fits[0] < n_fits[1]
