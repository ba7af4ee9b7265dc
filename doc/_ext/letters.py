"""Letters in circles at parts of a figure.

A place is a function that returns a point in pixels, and by how much its letter is off
it, in points to the right and up.
"""

import matplotlib.pyplot as plt
import numpy as np

STRIP = 0.22  # inches above a figure, for letters
UP = "up"  # off its point, in the strip above


def at(artist, x=0.5, y=0.5, off=(0, 0)):
    """Return a place in the box of an artist, from 0 (left, bottom) to 1."""

    def pixels():
        box = artist.get_window_extent()
        return box.x0 + x * box.width, box.y0 + y * box.height

    return pixels, off


def point(ax, x, y, off=(0, 0)):
    """Return the place of a point of the data."""
    return lambda: ax.transData.transform((x, y)), off


def across(ax, x, y, off=(0, 0)):
    """Return the place above a value at a share of the height."""
    return lambda: ax.get_xaxis_transform().transform((x, y)), off


def words(part):
    """Return the text with this part in the current figure."""
    return next(t for t in plt.gcf().findobj(plt.Text) if part in t.get_text())


def columns(legend, number):
    """Draw a legend again, in this number of columns."""
    texts = [text.get_text() for text in legend.get_texts()]
    plt.gcf().legend(
        legend.legend_handles,
        texts,
        loc="outside lower center",
        ncols=number,
        frameon=False,
    )
    legend.remove()


def along(line, share, off=(0, 0)):
    """Return a place on a line, at a share of its points."""
    x, y = line.get_data()
    k = round(share * (len(x) - 1))
    return point(line.axes, line.convert_xunits(x[k]), line.convert_yunits(y[k]), off)


def edge(band, share, off=(0, 0)):
    """Return a place on the upper edge of a band."""

    def pixels():
        corners = band.get_transform().transform(band.get_paths()[0].vertices)
        x = np.quantile(corners[:, 0], share)
        near = corners[np.argsort(np.abs(corners[:, 0] - x))[:4]]
        return near[np.argmax(near[:, 1])]

    return pixels, off


def letter(figure, places):
    """Write A, B, C... at the places, with a line to a point that they are off."""
    height = figure.get_size_inches()[1]
    figure.get_layout_engine().set(rect=(0, 0, 1, 1 - STRIP / height))
    for _ in range(2):  # until the layout has settled
        figure.draw_without_rendering()
    inverse = figure.transFigure.inverted()
    for k, (pixels, off) in enumerate(places):
        x, y = inverse.transform(pixels())
        if off == UP:
            off = 0, 72 * (height * (1 - y) - STRIP / 2)
        note = plt.Annotation(
            "ABCDEFG"[k],
            (x, y),
            off,
            "figure fraction",
            "offset points",
            ha="center",
            va="center",
            color="white",
            fontsize=9,
            fontweight="bold",
            bbox={"boxstyle": "circle,pad=0.2", "fc": "0.2", "ec": "white"},
            arrowprops={"arrowstyle": "-", "color": "0.2", "lw": 1, "shrinkB": 0},
            annotation_clip=False,
            zorder=99,
        )
        note.set_in_layout(False)
        figure.add_artist(note)
