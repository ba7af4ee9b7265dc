"""Pairs that interact in residuals are found, and noise has none."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from sklearn_interpret._core.additive.pairs import Groups, PairSums, interacting_pairs


def interaction_pvalue(first, second, residuals, level=1.0):
    """P-value of the interaction of two columns of levels."""
    columns, ones = (first, second), np.ones(len(residuals))
    groups = [Groups.of_counts(np.bincount(codes), True, False) for codes in columns]
    codes = {j: groups[j].of_values[column] for j, column in enumerate(columns)}
    by_column = dict(enumerate(groups))
    sums = PairSums.of_rows(codes, by_column, [(0, 1)], residuals, ones, ones)
    return sums.pvalue(0, *groups, level)


SETTINGS = {"most": 3, "level": 0.05}
NUMBERS = np.zeros(5, dtype=bool)


@pytest.mark.parametrize(
    "product",
    [
        lambda a, b: a * b,
        lambda a, b: a * b**2,
        lambda a, b: (a > 0) * (b > 0),
        lambda a, b: np.sin(a) * np.abs(b),
        lambda a, b: np.sin(4 * a) * (b > 0),
    ],
)
def test_the_pair_is_found(product):
    X = np.random.default_rng(0).normal(size=(500, 5))
    values = product(X[:, 1], X[:, 4])
    residuals = values - values.mean() + np.random.default_rng(1).normal(size=500)
    pairs = interacting_pairs(X, NUMBERS, residuals, np.ones(500), **SETTINGS)
    assert pairs[0] == (1, 4)
    pairs = interacting_pairs(
        X, NUMBERS, residuals, np.ones(500), **SETTINGS, skip=[(1, 4)]
    )
    assert (1, 4) not in pairs


@pytest.mark.parametrize("n_levels", [2, 3, 30])
@pytest.mark.parametrize("other", ["number", "levels", "missing"])
def test_pairs_with_levels(n_levels, other):
    """Codes of levels have no order: bins of neighbours would miss the pair."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 5))
    X[:, 1] = rng.integers(0, n_levels, 600)
    signs = (-1.0) ** X[:, 1]
    size = X[:, 4].copy()
    if other == "levels":
        X[:, 4] = rng.integers(0, 3, 600)
        size = X[:, 4] - 1
    if other == "missing":
        X[:200, 4] = np.nan
        size = np.where(np.isnan(X[:, 4]), 1.0, -1.0)
    residuals = signs * size + rng.normal(size=600)
    are_levels = np.array([False, True, False, False, other == "levels"])
    pairs = interacting_pairs(X, are_levels, residuals, np.ones(600), **SETTINGS)
    assert pairs[0] == (1, 4)


@pytest.mark.thorough
@pytest.mark.parametrize("kind", ["numbers", "levels"])
@pytest.mark.parametrize("noise", ["normal", "heavy"])
def test_noise_has_few_pairs(kind, noise):
    rng, n_found = np.random.default_rng(0), 0
    for _ in range(150):
        X = rng.standard_t(3, size=(100, 6))
        if kind == "levels":
            X[:, :3] = rng.integers(0, [2, 4, 9], size=(100, 3))
        residuals = rng.normal(size=100) if noise == "normal" else X[:, 5]
        n_found += bool(
            interacting_pairs(
                X[:, :5],
                np.repeat([kind == "levels", False], [3, 2]),
                residuals,
                np.ones(100),
                **SETTINGS,
            )
        )
    assert n_found <= 15  # 7.5 are expected; more than 15 in less than 1 % of the cases


def test_effects_of_the_columns_are_taken_off():
    """Columns that depend on each other have cells of very different sizes."""
    rng = np.random.default_rng(0)
    first = rng.integers(0, 4, 400)
    second = np.where(rng.uniform(size=400) < 0.7, first, rng.integers(0, 4, 400))
    X = np.column_stack([first, second]).astype(float)
    residuals = 3.0 * (first == 1) - 5.0 * (second == 2) + rng.normal(size=400)
    given = X, np.ones(2, bool), residuals, np.ones(400)
    assert interacting_pairs(*given, most=1, level=0.05) == []
    # The same as the F test of two nested least squares fits.
    flags = [X[:, [j]] == np.arange(4) for j in (0, 1)]
    cells = (flags[0][:, :, None] & flags[1][:, None]).reshape(400, -1)
    fits = [np.column_stack(flags).astype(float), cells.astype(float)]
    ranks = [np.linalg.matrix_rank(design) for design in fits]
    squares = [
        ((residuals - design @ np.linalg.lstsq(design, residuals)[0]) ** 2).sum()
        for design in fits
    ]
    ratio = (squares[0] - squares[1]) / squares[1]
    ratio *= (400 - ranks[1]) / (ranks[1] - ranks[0])
    expected = stats.f.sf(ratio, ranks[1] - ranks[0], 400 - ranks[1])
    assert_allclose(interaction_pvalue(first, second, residuals), expected)


@pytest.mark.parametrize("size", [0.0, 0.5, 1.0])
def test_pvalues_up_to_the_level_are_exact(size):
    """Levels that are rare or do not meet, and effects of single columns."""
    rng = np.random.default_rng(0)
    exact, bounded = [], []
    for _ in range(100):
        first = rng.integers(0, 5, 200)
        second = np.where(rng.random(200) < 0.6, first // 2, rng.integers(0, 3, 200))
        residuals = rng.normal(size=200) + size * (first == second) + size * first
        given = first, second, residuals
        exact.append(interaction_pvalue(*given))
        bounded.append(interaction_pvalue(*given, 0.05))
    exact, bounded = np.array(exact), np.array(bounded)
    assert_array_equal(bounded[exact <= 0.05], exact[exact <= 0.05])
    assert (bounded[exact > 0.05] > 0.05).all()
    assert size or (bounded == 1).any()


def test_weights_are_repeated_rows():
    rng = np.random.default_rng(0)
    X, residuals = rng.normal(size=(80, 4)), rng.normal(size=80)
    residuals += 0.5 * X[:, 0] * X[:, 2]
    rows = rng.permutation(np.repeat(np.arange(80), 2))
    settings = {"most": 6, "level": np.inf}
    numbers = NUMBERS[:4]
    weighted = interacting_pairs(X, numbers, residuals, np.full(80, 2.0), **settings)
    repeated = interacting_pairs(
        X[rows], numbers, residuals[rows], np.ones(160), **settings
    )
    assert weighted == repeated


def test_constant_columns_and_residuals():
    X = np.random.default_rng(0).normal(size=(50, 3))
    X[:, 1] = 2.0
    given = NUMBERS[:3], X[:, 0] * X[:, 2], np.ones(50)
    assert interacting_pairs(X, given[0], np.zeros(50), given[2], **SETTINGS) == []
    assert interacting_pairs(X, *given, **SETTINGS) == [(0, 2)]
    assert interacting_pairs(X[:, :1], NUMBERS[:1], *given[1:], **SETTINGS) == []
