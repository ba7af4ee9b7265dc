"""Labels, legends and titles have room, and leave it to the panels."""

import pickle

import matplotlib.pyplot as plt
import numpy as np
import pytest

from sklearn_interpret._plotting.labels import shorten
from sklearn_interpret.effects import PartialDependenceDisplay

GRID = np.linspace(0, 1, 5)


def display(n_outputs, levels=None, n_entries=1):
    points = GRID if levels is None else np.array(levels)
    values = np.arange(n_outputs)[:, None] + np.ones(len(points))
    return PartialDependenceDisplay(
        [points] * n_entries,
        [values] * n_entries,
        feature_names=[f"feature {place}" for place in range(n_entries)],
        output_names=[f"an output with a long name {k}" for k in range(n_outputs)],
    )


def extents(figure):
    """Boxes in inches: panels without labels, and all that is drawn, by axes."""
    figure.canvas.draw()
    unit = figure.dpi
    panels = [ax.get_window_extent().bounds for ax in figure.axes]
    return [np.array(bounds) / unit for bounds in panels]


@pytest.mark.parametrize("n_outputs", [1, 2, 7, 15])
def test_legends_do_not_squeeze_panels(n_outputs):
    figure = display(n_outputs).plot().figure_
    ((_, _, _, height),) = extents(figure)
    assert height > 2.9
    for legend in figure.legends:
        box = legend.get_window_extent()
        assert box.x0 >= 0
        assert box.x1 <= figure.bbox.x1


@pytest.mark.parametrize("n_levels", [3, 12, 40])
@pytest.mark.parametrize("n_entries", [1, 4])
def test_long_levels_do_not_squeeze_panels(n_levels, n_entries):
    levels = [f"the level numbered {k}" for k in range(n_levels)]
    figure = display(1, levels, n_entries).plot().figure_
    assert min(height for *_, height in extents(figure)) > 1.9


def test_titles_and_legends_keep_apart():
    figure = display(3).plot().figure_
    title = figure.suptitle("A title of the user's")
    figure.canvas.draw()
    (legend,) = figure.legends
    above = title.get_window_extent()
    assert not above.overlaps(legend.get_window_extent())
    assert not above.overlaps(figure.axes[0].get_window_extent())
    assert figure.axes[0].get_window_extent().y0 > legend.get_window_extent().y1


def test_legends_on_given_axes_stand_outside_the_data():
    _, (ax, other) = plt.subplots(1, 2, layout="constrained", figsize=(9, 4))
    drawn = display(3).plot(ax=ax)
    ax.figure.canvas.draw()
    box = drawn.legend_.get_window_extent()
    assert not box.overlaps(ax.get_window_extent())
    assert not box.overlaps(other.get_window_extent())


@pytest.mark.parametrize("before", [True, False])
def test_a_title_of_given_axes_stands_above_the_legend(before):
    _, ax = plt.subplots(layout="constrained")
    if before:
        ax.set_title("A title of the user's")
    drawn = display(3).plot(ax=ax)
    ax.set_title("A title of the user's")
    ax.figure.canvas.draw()
    title, legend = ax.title.get_window_extent(), drawn.legend_.get_window_extent()
    assert title.y0 > legend.y0 + 0.9 * legend.height
    assert title.y1 <= ax.figure.bbox.y1
    assert legend.y0 >= ax.get_window_extent().y1
    ax.legend(drawn.lines_[0], "abc", loc="upper left")  # in its stead, and within
    ax.figure.canvas.draw()
    above = ax.title.get_window_extent().y0 - ax.get_window_extent().y1
    assert 0 < above < 0.15 * ax.figure.dpi
    pickle.loads(pickle.dumps(ax.figure))


@pytest.mark.parametrize(
    ("name", "most", "short"),
    [
        ("temperature between 12.75 and 13", 20, "temperatur… and 13"),
        ("depth at 1234567 and deeper still", 20, "depth at …per still"),
        ("123456789", 5, "12…89"),
        ("abc", 5, "abc"),
    ],
)
def test_names_are_not_cut_within_numbers(name, most, short):
    assert shorten(name, most) == short
