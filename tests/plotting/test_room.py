"""Labels, legends and titles have room, and leave it to the panels."""

import pickle
from functools import partial
from itertools import count, repeat

import matplotlib.pyplot as plt
import numpy as np
import pytest
from numpy.testing import assert_allclose

from sklearn_interpret._plotting.axes import legend_columns
from sklearn_interpret._plotting.labels import shorten
from sklearn_interpret.effects import (
    IndividualConditionalExpectationDisplay,
    PartialDependenceDisplay,
)
from sklearn_interpret.prototypes import PrototypeDisplay
from tests.figures import LEAVES, draw, text_faults
from tests.plotting.drawings import (
    DISPLAYS,
    DRAWINGS,
    EACH_DRAWING,
    class_of,
    lengthen_names,
    patch_axes,
)

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


def test_levels_without_a_name_are_counted():
    levels = [f"town {k:03}" for k in range(105)]
    _, ax = plt.subplots()
    drawn = display(1, levels).plot(ax=ax).axes_[0, 0]
    n_named = len(drawn.get_yticks())
    assert drawn.get_ylabel() == f"feature 0\n({n_named} of 105 are named)"
    (whole,) = display(1, levels).plot().axes_.flat
    assert whole.get_ylabel() == "feature 0"
    pair = PartialDependenceDisplay(
        [(np.array(levels), GRID)], [np.ones((105, 5))], feature_names=[("town", "age")]
    ).plot()
    assert "of 105 are named" in pair.axes_[0, 0].get_xlabel()
    for figure in (ax.figure, whole.figure, pair.figure_):
        assert text_faults(figure) == []


@pytest.mark.parametrize("given", [False, True])
@pytest.mark.parametrize("label", ["8", "a long name of class 8"])
def test_titles_of_images_keep_apart(label, given):
    pixels = np.random.default_rng(0).random((600, 16))
    labels = np.full(600, label)
    chosen = [*range(488, 500)], [123, 456]
    images = PrototypeDisplay(pixels, *chosen, image_shape=(4, 4), y=labels)
    images.plot(plt.subplots()[1] if given else None)
    titles = [panel.get_title() for panel in images.axes_.flat]
    for kind, rows, n in (("prototype", chosen[0], 0), ("criticism", chosen[1], 12)):
        for row, title in zip(rows, titles[n:], strict=False):
            assert title.startswith(f"{kind} {row}")
            assert title.endswith("8")
    assert text_faults(images.figure_) == []


def test_a_long_entry_leaves_the_columns_of_a_legend_to_short_ones():
    short, note = list("abcdefghij"), "a note on bands that is far longer"
    assert legend_columns(short, 5.0) == 6
    assert legend_columns([*short, note], 7.0) > 2
    assert legend_columns([note] * 3, 4.0) == 1


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


STYLES = "default", "dark_background", "ggplot", "seaborn-v0_8"
N_PANELS = 1, 2, 4, 21
# Surrogate trees of more outputs are refused.
MOST_PANELS = {"GlobalSurrogateDisplay": 7}


def panels_of(name, n_panels):
    return DISPLAYS[name].panels(min(n_panels, MOST_PANELS.get(name, n_panels)))


@pytest.mark.thorough
@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("long", [False, True])
@pytest.mark.parametrize("name", DRAWINGS)
def test_all_texts_have_room(name, long, style, monkeypatch):
    if long:
        lengthen_names(monkeypatch, class_of(name))
    draws = [*DRAWINGS[name]]
    if DISPLAYS[name].panels:
        draws += [partial(panels_of, name, n) for n in N_PANELS]
    with plt.style.context(style):
        for draw in draws:
            figure = draw().figure_
            assert text_faults(figure) == []
            plt.close(figure)


WIDE, PAGE, NARROW = (14, 4), (6.8, 6), (3, 3.5)  # inches
# Displays of several panels, and of numbers in cells, have no room in a narrow figure.
NEED_WIDTH = {
    *("RegionalEffectDisplay", "SmoothTermDisplay", "PrototypeDisplay"),
    *("FunctionalDecompositionDisplay", "CeterisParibusDisplay", "AnchorsDisplay"),
    *("RuleFitDisplay", "ShapleyHeatmapDisplay", "PartialDependenceDisplay"),
    *("ShapleyInteractionDisplay", "EffectOverTimeDisplay"),
}
GIVEN = [
    *(("CeterisParibusDisplay", WIDE), ("RuleFitDisplay", PAGE)),
    *(("RulesDisplay", NARROW), ("ConditionalImportanceDisplay", NARROW)),
]
GIVEN += [
    (name, size)
    for size in (WIDE, PAGE, NARROW)
    for name in DRAWINGS
    if (name, size) not in GIVEN and not (size is NARROW and name in NEED_WIDTH)
]


@pytest.mark.thorough(after=4)
@pytest.mark.parametrize(("name", "size"), GIVEN)
def test_texts_have_room_on_given_axes(name, size, monkeypatch):
    _, ax = plt.subplots(figsize=size, layout="constrained")
    patch_axes(monkeypatch, class_of(name), repeat(ax))
    assert text_faults(DRAWINGS[name][0]().figure_) == []


def draw_on(monkeypatch, size, name, place=0):
    """A drawing of a display on axes in a constrained figure of some size."""
    _, ax = plt.subplots(figsize=size, layout="constrained")
    patch_axes(monkeypatch, class_of(name), repeat(ax))
    return DRAWINGS[name][place]()


def test_titles_of_several_labels_keep_apart(monkeypatch):
    _, ax = plt.subplots(figsize=(6.8, 3), layout="constrained")
    patch_axes(monkeypatch, class_of("LimeImageDisplay"), repeat(ax))
    assert text_faults(DISPLAYS["LimeImageDisplay"].panels(3).figure_) == []


def test_ticks_of_a_small_colour_bar_keep_apart(monkeypatch):
    figure = draw_on(monkeypatch, (4, 3), "AdversarialDisplay", 2).figure_
    assert text_faults(figure) == []


def test_a_table_fills_a_wide_axes(monkeypatch):
    display = draw_on(monkeypatch, WIDE, "ShapleyInteractionDisplay")
    draw(display.figure_)
    box = display.ax_.get_window_extent()
    assert box.x0 < 0.2 * display.figure_.bbox.width
    assert box.height > 0.6 * display.figure_.bbox.height
    square = class_of("ShapleyInteractionDisplay").plot(display, plt.subplots()[1])
    assert square.ax_.get_aspect() == 1


def test_faults_of_texts_are_noticed():
    figure, (left, _) = plt.subplots(1, 2)
    left.text(0.5, 0.5, "one")
    left.text(0.52, 0.51, "another")
    figure.text(0.7, 0.5, "in the way")
    figure.text(0.99, 0.01, "outside")
    faults = text_faults(figure)
    assert ("one", "another") in faults
    assert ("outside", LEAVES) in faults
    assert any(text == "in the way" and "axes" in on for text, on in faults)


def texts_beyond(figure):
    """Texts that leave a figure."""
    return [text for text, fault in text_faults(figure) if fault == LEAVES]


@pytest.mark.thorough(after=6)
@pytest.mark.parametrize(("name", "draw"), EACH_DRAWING)
def test_texts_stay_within_a_figure_without_a_layout(name, draw, monkeypatch):
    axes = (plt.subplots()[1] for _ in count())
    patch_axes(monkeypatch, class_of(name), axes)
    assert texts_beyond(draw().figure_) == []


def test_room_is_made_only_where_nobody_else_arranges_axes():
    wide = display(1, [f"the level numbered {k}" for k in range(14)])
    for layout in ("tight", "constrained"):
        figure, ax = plt.subplots(layout=layout)
        wide.plot(ax=ax)
        assert figure.subplotpars.left == plt.rcParams["figure.subplot.left"]
    left, _ = plt.figure().subfigures(1, 2)  # they share their margins
    wide.plot(ax=left.subplots())
    assert left.subplotpars.left == plt.rcParams["figure.subplot.left"]
    place = 0.1, 0.1, 0.8, 0.8  # as the user will have it
    moved = plt.subplots()[1]
    moved.set_position(place)
    for ax in (plt.figure().add_axes(place), moved):
        wide.plot(ax=ax)
        assert_allclose(ax.get_position().bounds, place)


def test_a_colour_bar_of_two_panels_stays_beside_them():
    _, ax = plt.subplots()
    ax.set_title("a title that has no room " * 5)
    grid = [GRID, np.array([GRID, GRID**2])]
    drawn = IndividualConditionalExpectationDisplay(
        *([part] for part in (*grid, GRID)),
        feature_names=["age"],
        derivative_std=[GRID],
        color_by="income",
        color_values=GRID[:2],
    ).plot(ax=ax)
    panels = [one.get_position().x1 for one in drawn.axes_.flat]
    assert max(panels) < drawn.colorbars_[0].ax.get_position().x0


def test_texts_without_end_leave_half_of_the_figure_to_the_axes():
    _, ax = plt.subplots()
    ax.set_title("endless " * 100)
    display(1).plot(ax=ax)
    assert ax.get_position().width > 0.38
