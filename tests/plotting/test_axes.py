"""Taking axes, and importing matplotlib late."""

import sys

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.gridspec import GridSpec
from matplotlib.lines import Line2D

from sklearn_interpret._plotting.axes import (
    Slot,
    figure_size,
    fixed_spaces,
    grid_shape,
    import_late,
    merge_styles,
    take_axes,
)


def test_absent_matplotlib_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match="SomeDisplay needs matplotlib"):
        import_late("matplotlib.pyplot", "SomeDisplay")


def test_short_and_full_names_of_a_style_are_one():
    style = merge_styles({"linewidth": 2, "color": "blue"}, {"lw": 5}, Line2D)
    assert style == {"linewidth": 5, "color": "blue"}


@pytest.mark.parametrize(
    "n_panels, n_columns, shape",
    [(1, 3, (1, 1)), (3, 3, (1, 3)), (4, 3, (2, 2)), (7, 3, (3, 3)), (5, 1, (5, 1))],
)
def test_grids(n_panels, n_columns, shape):
    assert grid_shape(n_panels, n_columns) == shape
    canvas = take_axes(None, [Slot()] * n_panels, n_columns=n_columns, caller="x")
    assert canvas.axes.shape == shape
    assert sum(ax is not None for ax in canvas.axes.flat) == n_panels
    assert canvas.main == [ax for ax in canvas.axes.flat if ax is not None]


def test_no_columns():
    with pytest.raises(ValueError, match="n_cols=0 must be at least 1"):
        take_axes(None, [Slot()], n_columns=0, caller="x")


@pytest.mark.parametrize("below", [False, True])
@pytest.mark.parametrize("bar", [False, True])
@pytest.mark.parametrize("n_panels", [31, 300])
def test_fixed_spaces_leave_panels_of_good_size(below, bar, n_panels):
    slots = [Slot(below, bar, level_height=0.7)] * n_panels
    shape = grid_shape(n_panels, 3)
    size = figure_size(shape, slots)
    n_rows = shape[0] * (2 if below else 1)
    spec = GridSpec(n_rows, 3, **fixed_spaces((n_rows, 3), size, slots))
    bottoms, tops, lefts, rights = spec.get_grid_positions(Figure(figsize=size))
    assert np.min(rights - lefts) * size[0] > 1.5
    assert np.min(tops - bottoms) * size[1] > 0.8
    assert bottoms.min() > 0
    assert rights.max() < 1
