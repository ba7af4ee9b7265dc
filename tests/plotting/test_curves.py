"""Histograms behind curves."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from numpy.testing import assert_allclose

from sklearn_interpret._plotting.curves import draw_histogram


@pytest.mark.parametrize("unit", [1, 0.1, 7])
@pytest.mark.parametrize("n_values", [13, 40, 100, 1000])
def test_bars_hold_as_many_steps_each(n_values, unit):
    """Of whole numbers and the like; else bars stand like the teeth of a comb."""
    values = unit * np.arange(3, 3 + n_values)
    _, ax = plt.subplots()
    ax.set_xlim(values[0] - unit, values[-1] + unit)
    bars = [path.vertices for path in draw_histogram(ax, values, None).get_paths()]
    heights = [bar[:, 1].max() for bar in bars]
    assert_allclose(heights[:-1], heights[0])
    assert heights[-1] <= heights[0] * (1 + 1e-9)
    widths = [np.ptp(bar[:, 0]) / unit for bar in bars]
    assert_allclose(widths, np.round(widths[0]))
    assert_allclose(bars[0][:, 0].min(), values[0] - unit / 2)


def test_bars_of_other_numbers_are_of_equal_width():
    values = np.random.default_rng(0).normal(size=400)
    _, ax = plt.subplots()
    ax.set_xlim(-4, 4)
    bars = [
        path.vertices[:, 0] for path in draw_histogram(ax, values, None).get_paths()
    ]
    assert_allclose(np.ptp(bars, axis=1), np.ptp(values) / 30)
    assert np.min(bars) == values.min()
    assert np.max(bars) == values.max()
