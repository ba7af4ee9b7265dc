"""All that displays draw is seen and read in any style."""

from itertools import cycle, pairwise

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.collections import LineCollection
from matplotlib.colors import to_rgb, to_rgba_array
from matplotlib.lines import Line2D
from matplotlib.text import Annotation, Text

from tests.plotting.drawings import DRAWINGS, EACH_DRAWING

OTHER_STYLES = ("dark_background", "ggplot")
TEXT, LINE = 3.0, 1.8  # least contrasts


def luminance(colours):
    """Relative luminance of colours (..., 3) between 0 and 1, after WCAG 2."""
    linear = np.where(
        colours <= 0.04045, colours / 12.92, ((colours + 0.055) / 1.055) ** 2.4
    )
    return linear @ [0.2126, 0.7152, 0.0722]


def contrasts(colour, pixels):
    one, others = luminance(np.array(to_rgb(colour))), luminance(pixels)
    return (np.maximum(one, others) + 0.05) / (np.minimum(one, others) + 0.05)


def rendered(figure):
    """Pixels of the figure, between 0 and 1, the lowest row first."""
    figure.canvas.draw()
    return np.asarray(figure.canvas.buffer_rgba())[::-1, :, :3] / 255


def texts_of(figure):
    return [
        text
        for text in figure.findobj(Text)
        if text.get_visible() and text.get_text().strip()
    ]


def lines_of(figure):
    """Lines of the displays' own, without the style's grid, ticks and colour bars."""
    lines = []
    for ax in figure.axes:
        if ax.get_label() != "<colorbar>":
            lines += [*ax.lines, *(c for c in ax.collections if is_lines(c))]
        if ax.get_legend() is not None:
            lines += ax.get_legend().findobj(Line2D)
    return [line for line in lines if line.get_visible()]


def is_lines(artist):
    return isinstance(artist, LineCollection)


def places_of(line):
    """Where a line is, in pixels, and the colour of each place."""
    if is_lines(line):
        parts, colours = line.get_segments(), to_rgba_array(line.get_color())
        parts = [line.get_transform().transform(part) for part in parts]
    else:
        marked = line.get_linestyle() in ("None", "none", "")
        colours = line.get_color()
        if marked:  # hollow marks are seen by their edges
            edge, face = line.get_markeredgecolor(), line.get_markerfacecolor()
            colours = edge if line.get_markeredgewidth() >= 1 else face
        parts = [line.get_transform().transform(line.get_xydata())]
        colours = to_rgba_array(colours)
    for part, colour in zip(parts, np.resize(colours, (len(parts), 4)), strict=True):
        # Also between the ends, for what is long.
        share = np.linspace(0, 1, 5)[:, None]
        inner = [a + (b - a) * share for a, b in pairwise(part)]
        yield np.concatenate([part, *inner]), colour[:3]


def at(pixels, places):
    places = places[np.isfinite(places).all(axis=1)]  # a line may have gaps
    columns, rows = np.round(places).astype(int).T
    inside = (rows >= 0) & (columns >= 0)
    inside &= (rows < pixels.shape[0]) & (columns < pixels.shape[1])
    return pixels[rows[inside], columns[inside]]


def too_faint(figure):
    """Texts and lines that are hard to tell from what is beneath them."""
    figure.draw_without_rendering()
    figure.set_layout_engine("none")  # laid out once
    texts, lines, faint = texts_of(figure), lines_of(figure), []
    places = [text.get_window_extent() for text in texts]
    looks = [text.get_color() for text in texts]
    for text in texts:
        if text.get_bbox_patch() is None and not isinstance(text, Annotation):
            text.set_visible(False)  # quicker to draw
        text.set_color((0, 0, 0, 0))  # what has a box or an arrow keeps it
    beneath = rendered(figure)
    for text, box, colour in zip(texts, places, looks, strict=True):
        rows = slice(max(int(box.y0), 0), int(box.y1) + 1)
        under = beneath[rows, max(int(box.x0), 0) : int(box.x1) + 1]
        if under.size and np.median(contrasts(colour, under)) < TEXT:
            faint.append(text.get_text())
    for line in lines:
        line.set_visible(False)
    beneath = rendered(figure)
    for line in lines:
        for part, colour in places_of(line):
            under = at(beneath, part)
            if not len(under):
                continue
            found = contrasts(colour, under)
            for effect in line.get_path_effects() or []:  # a halo
                found = np.maximum(found, contrasts(effect._gc["foreground"], under))
            # An edge may begin and end below nodes.
            if np.quantile(found, 0.75) < LINE:
                faint.append((line, colour))
    return faint


def drawn_in(style, draw):
    """What is too faint in a drawing in a style."""
    with plt.style.context(style):
        figure = draw().figure_
        figure.set_dpi(60)
        return too_faint(figure)


@pytest.mark.parametrize(("name", "draw"), EACH_DRAWING)
def test_seen_and_read(name, draw):
    assert drawn_in("default", draw) == []


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("name", "style"), [*zip(DRAWINGS, cycle(OTHER_STYLES), strict=False)]
)
def test_seen_and_read_in_other_styles(name, style):
    """Displays take the styles in turns: all draw with the same parts."""
    assert drawn_in(style, DRAWINGS[name][0]) == []


@pytest.mark.parametrize(
    "kind", ["PermutationImportanceDisplay", "HStatisticDisplay", "LimeDisplay"]
)
def test_no_grid_runs_through_the_numbers_in_rows(kind):
    with plt.style.context("ggplot"):
        figure = DRAWINGS[kind][0]().figure_
        figure.canvas.draw()
    (ax, *_) = figure.axes
    lines = ax.yaxis.get_gridlines()
    assert not any(line.get_visible() and line.get_linewidth() for line in lines)
