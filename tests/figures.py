"""Figures that are drawn to be read, or to see that they can be."""

import numpy as np
from matplotlib.legend import Legend
from matplotlib.text import Text

# Pixels by which texts may reach into each other: the boxes of letters have margins.
TOUCH = 2.0
LEAVES = "leaves the figure"


def draw(figure):
    """Draw everything where it stands: the layout takes as long again."""
    figure.set_layout_engine("none")
    figure.draw_without_rendering()


def all_texts(figure):
    """Everything that stands written on the figure, as it is drawn."""
    draw(figure)
    return [
        text.get_text().replace(r"\$", "$").replace("\n", "")
        for text in figure.findobj(Text)
        if text.get_visible()
    ]


def row_names(display):
    """Names along the vertical axis, as they are drawn."""
    return [
        text.get_text().replace(r"\$", "$").replace("\n", "")
        for text in display.ax_.get_yticklabels()
    ]


def tick_texts(ax):
    """Texts of ticks within the range of an axes; others are not drawn."""
    if not ax.axison:
        return []
    return [
        text
        for axis in (ax.xaxis, ax.yaxis)
        for tick in axis.get_major_ticks()
        for text in (tick.label1, tick.label2)
        if np.ptp([*axis.get_view_interval(), tick.get_loc()])
        <= np.ptp(axis.get_view_interval()) * (1 + 1e-9)
    ]


def shown_texts(figure):
    """Texts that a drawn figure shows, each with the axes that it is written within.

    It is None for what stands around an axes: titles, labels, ticks, legends.
    """
    found, owner = [], figure.legends + figure.texts
    for ax in figure.axes:
        found += [(text, ax) for text in ax.texts]
        around = [ax.title, ax._left_title, ax._right_title, *tick_texts(ax)]
        if ax.axison:
            around += [ax.xaxis.label, ax.yaxis.label]
            around += [ax.xaxis.get_offset_text(), ax.yaxis.get_offset_text()]
        found += [(text, None) for text in around]
        legends = ax.findobj(Legend)
        for legend in legends:
            middle = np.mean(legend.get_window_extent().get_points(), axis=0)
            within = ax if ax.get_window_extent().contains(*middle) else None
            found += [(text, within) for text in legend.findobj(Text)]
    for artist in owner:
        found += [(text, None) for text in artist.findobj(Text)]
    return [
        (text, ax)
        for text, ax in found
        if text.get_visible() and text.get_text().strip()
    ]


def corners(text):
    """Corners of the box of a text, turned as it is, in pixels: (4, 2)."""
    angle = text.get_rotation()
    middle = np.mean(Text.get_window_extent(text).get_points(), axis=0)
    text.set_rotation(0)
    half = np.maximum(Text.get_window_extent(text).size - TOUCH, 0) / 2
    text.set_rotation(angle)
    cos, sin = np.cos(np.radians(angle)), np.sin(np.radians(angle))
    turn = np.array([[cos, sin], [-sin, cos]])
    return middle + (half * [[-1, -1], [1, -1], [1, 1], [-1, 1]]) @ turn


def overlap(one, other):
    """Whether rectangles, by their corners, have points in common."""
    sides = [box[k + 1] - box[k] for box in (one, other) for k in (0, 1)]
    return not any(
        (one @ side).max() <= (other @ side).min()
        or (other @ side).max() <= (one @ side).min()
        for side in sides
    )


def box_corners(artist):
    """Corners of an artist's box in pixels."""
    (left, low), (right, high) = artist.get_window_extent().get_points()
    return np.array([[left, low], [right, low], [right, high], [left, high]])


def text_faults(figure):
    """Texts that leave the figure, or are written on others or on an axes.

    Texts within an axes may be anywhere in it.
    """
    figure.draw_without_rendering()
    texts = [(text.get_text(), corners(text), ax) for text, ax in shown_texts(figure)]
    faults = [
        (text, LEAVES)
        for text, box, _ in texts
        if (box.min(axis=0) < -TOUCH).any()
        or (box.max(axis=0) > figure.bbox.max + TOUCH).any()
    ]
    low = np.array([box.min(axis=0) for _, box, _ in texts])
    high = np.array([box.max(axis=0) for _, box, _ in texts])
    near = ((low[:, None] < high) & (low < high[:, None])).all(axis=2)
    for i, k in zip(*np.nonzero(np.triu(near, 1)), strict=True):
        if overlap(texts[i][1], texts[k][1]):
            faults.append((texts[i][0], texts[k][0]))
    # What is around a frame, and what hides one, stays apart from it.
    frames = [ax for ax in figure.axes if ax.axison and ax.get_visible()]
    for frame in frames:
        box = box_corners(frame)
        faults += [
            (text, f"on the axes {frame.get_title() or frame.get_xlabel()!r}")
            for text, own, ax in texts
            if ax is not frame and overlap(own, box)
        ]
    return faults
