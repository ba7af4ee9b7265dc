"""Errors of means in cells of few rows, by loops and in closed form."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import norm, t

from sklearn_interpret._core.effects.cell_errors import cell_errors
from sklearn_interpret._core.statistics.weighted import Moments


def moments_of(cells):
    """Moments of lists of values, one list for each cell."""
    values = np.concatenate([np.asarray(cell, dtype=float) for cell in cells])
    groups = np.repeat(np.arange(len(cells)), list(map(len, cells)))
    ones = np.ones(len(values))
    return Moments.of_groups(values[:, None], groups, len(cells), ones)


def by_loops(cells, scales):
    """The definition, cell by cell; all cells have rows that differ, or one row."""
    n_cells, shown = len(cells), []
    for c, rows in enumerate(cells):
        if len(rows) > 1:
            shown.append((len(rows) - 1, len(rows) * np.var(rows)))
            continue
        near = [i for i in range(c - 2, c + 3) if 0 <= i < n_cells and i != c]
        ratio = scales[c] / sum(scales[i] for i in near)
        apart = rows[0] - ratio * sum(np.mean(cells[i]) for i in near)
        shown.append((0.69, 0.69 * apart**2))
    errors = []
    for c, rows in enumerate(cells):
        if len(rows) > 10:
            errors.append(np.std(rows, ddof=1) / np.sqrt(len(rows)))
            continue
        radius, degrees = 0, 0.0
        while True:
            near = [i for i in range(n_cells) if abs(i - c) <= radius]
            degrees = sum(shown[i][0] for i in near)
            if degrees >= 10 or len(near) == n_cells:
                break
            radius = max(1, 2 * radius)
        size = sum(shown[i][0] * scales[i] ** 2 for i in near)
        variance = sum(shown[i][1] for i in near) / size * scales[c] ** 2
        student = t.ppf(0.975, max(degrees, 1)) / norm.ppf(0.975)
        errors.append(student * np.sqrt(variance / len(rows)))
    return errors


@pytest.mark.parametrize("sizes", [(1,), (1, 2, 3), (5, 12), (1, 30), (2, 2, 4)])
@pytest.mark.parametrize("n_cells", [2, 3, 9, 40])
def test_the_definition(n_cells, sizes):
    rng = np.random.default_rng(0)
    cells = [rng.normal(size=rng.choice(sizes)) for _ in range(n_cells)]
    scales = rng.random(n_cells) + 0.1
    found = cell_errors(moments_of(cells), scales)[:, 0]
    assert_allclose(found, by_loops(cells, scales), rtol=1e-9)


def test_cells_of_many_rows_have_the_error_of_their_own_mean():
    rng = np.random.default_rng(0)
    cells = [rng.normal(scale=k + 1, size=11 + k) for k in range(5)]
    expected = [np.std(cell, ddof=1) / np.sqrt(len(cell)) for cell in cells]
    assert_allclose(cell_errors(moments_of(cells))[:, 0], expected, rtol=1e-12)


def test_means_in_proportion_to_the_scales_are_exact():
    scales = np.random.default_rng(0).random(20) + 0.1
    cells = [[3 * scale] for scale in scales]
    assert_allclose(cell_errors(moments_of(cells), scales), 0, atol=1e-14)


def test_rows_without_variance_say_so_only_where_nothing_moves():
    """A weight of three may be one row: its variance is that of its neighbours."""
    rng = np.random.default_rng(0)
    means = rng.normal(size=(30, 1))
    weighted = Moments(np.full((30, 1), 3.0), means, np.zeros((30, 1)))
    assert_allclose(cell_errors(weighted).mean(), 1, rtol=0.4)
    still = Moments(np.full((30, 1), 3.0), np.zeros((30, 1)), np.zeros((30, 1)))
    assert_array_equal(cell_errors(still), np.zeros((30, 1)))


def test_a_single_row_has_no_error_and_equal_rows_have_none_to_show():
    assert np.isnan(cell_errors(moments_of([[2.0]]))).all()
    assert_array_equal(cell_errors(moments_of([[2.0, 2.0]])), [[0.0]])


def test_cells_without_rows_are_passed_over():
    cells = [[1.0, 3.0], [], [2.0], [], [7.0, 4.0]]
    found = cell_errors(moments_of(cells), np.arange(1.0, 6.0))[:, 0]
    some = cell_errors(moments_of(cells[::2]), np.array([1.0, 3.0, 5.0]))[:, 0]
    assert_allclose(found, [some[0], 0, some[1], 0, some[2]], rtol=1e-12)


def test_levels_far_apart_do_not_widen_each_other():
    """Only where hardly any level has two rows are means of levels compared."""
    rng = np.random.default_rng(0)
    cells = [100 * k + rng.normal(size=8 if k else 1) for k in range(6)]
    moments = moments_of(cells)
    errors = cell_errors(moments, ordered=False)[:, 0]
    assert_allclose(errors * np.sqrt([1, *[8] * 5]), 1, atol=0.5)
    alone = moments_of([cell[:1] for cell in cells])
    assert (cell_errors(alone, ordered=False) > 10).all()


def test_outputs_do_not_mix():
    rng = np.random.default_rng(0)
    values, groups = rng.normal(size=(30, 3)), np.arange(30) // 2
    values[:, 1] = 0.0
    together = cell_errors(Moments.of_groups(values, groups, 15, np.ones(30)))
    for k in range(3):
        one = Moments.of_groups(values[:, [k]], groups, 15, np.ones(30))
        assert_allclose(together[:, [k]], cell_errors(one), rtol=1e-12)
    assert not together[:, 1].any()


@pytest.mark.parametrize("size", [1e-200, 1e200])
def test_scales_of_any_size(size):
    rng = np.random.default_rng(0)
    moments, scales = moments_of(rng.normal(size=(20, 1))), rng.random(20) + 0.1
    expected = cell_errors(moments, scales)
    assert_allclose(cell_errors(moments, scales * size), expected, rtol=1e-9)
