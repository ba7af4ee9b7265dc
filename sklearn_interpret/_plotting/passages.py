"""Passages of text, wrapped to a width, with something behind some of the words."""

import re
from dataclasses import dataclass

# In sizes of the letters.
LINE_HEIGHT = 1.65
POINTS_PER_INCH = 72.0
ELLIPSIS = "…"


@dataclass(frozen=True)
class Run:
    """Letters that stand in one line and look the same.

    Parameters
    ----------
    text : str
        The letters.
    mark : object
        What is behind them; None for nothing.
    line : int
        Number of the line.
    left : float
        Where they begin, from the left, in points.
    """

    text: str
    mark: object
    line: int
    left: float


class Measure:
    """Widths of texts in points.

    Parameters
    ----------
    families : list of str
        Font families.
    size : float
        Size of the letters in points.
    figure : Figure, default=None
        Where they are drawn. Letters that are fitted to a screen's points are wider
        than in print: what is wider counts.
    """

    def __init__(self, families, size, figure=None):
        from matplotlib.font_manager import FontProperties
        from matplotlib.textpath import text_to_path

        self._font = FontProperties(family=families, size=size)
        self._rulers = [(text_to_path, 1.0)]
        if figure is not None and hasattr(figure.canvas, "get_renderer"):
            scale = POINTS_PER_INCH / figure.figure.dpi
            self._rulers.append((figure.canvas.get_renderer(), scale))
        self._known = {}

    def __call__(self, text):
        """Width of a text; spaces at its ends count."""
        if text not in self._known:
            widths = [
                scale * (self._width(ruler, f"|{text}|") - self._width(ruler, "||"))
                for ruler, scale in self._rulers
            ]
            self._known[text] = max(widths)
        return self._known[text]

    def _width(self, ruler, text):
        return ruler.get_text_width_height_descent(text, self._font, False)[0]


def wrapped_passage(pieces, width, measure, most_lines):
    """Break a passage into lines.

    Parameters
    ----------
    pieces : sequence of (str, object)
        Letters, and what is behind them: None for nothing.
    width : float
        Of the lines, in points.
    measure : callable
        Width of a text in points.
    most_lines : int
        Largest number of lines; what is cut off has an ellipsis in its place.

    Returns
    -------
    runs : list of Run
        From left to right and line by line.
    n_lines : int
        How many lines there are.
    cut : bool
        Whether something was cut off.
    """
    lines, cut = [[]], False
    at = 0.0
    for cluster in _clusters(pieces):
        if cluster == "\n":
            lines.append([])
            at = 0.0
            continue
        size = sum(measure(text) for text, _ in cluster)
        space = cluster[0][0].isspace()
        if at and not space and at + size > width and size <= width:
            lines.append([])
            at = 0.0
        for text, mark in cluster if size <= width else _letters(cluster):
            step = measure(text)
            if at and at + step > width:
                lines.append([])
                at = 0.0
            if at or not text.isspace():  # no line begins with a space
                lines[-1].append((text, mark))
                at += step
        if len(lines) > most_lines:
            cut = True
            break
    while len(lines) > 1 and not lines[-1]:
        lines.pop()
    if cut:
        lines = lines[:most_lines]
        _end_in_ellipsis(lines[-1], width, measure)
    runs = [
        run for line, parts in enumerate(lines) for run in _runs(line, parts, measure)
    ]
    return runs, len(lines), cut


def _clusters(pieces):
    """Pieces that are not parted by spaces, single spaces, and ends of lines."""
    cluster = []
    for piece, mark in pieces:
        for part in re.split(r"(\s+)", piece) if mark is None else [piece]:
            if not part:
                continue
            if not part.isspace() or mark is not None:
                cluster.append((part, mark))
                continue
            if cluster:
                yield cluster
                cluster = []
            if "\n" in part:
                yield "\n"
            else:
                yield [(" ", None)]
    if cluster:
        yield cluster


def _letters(cluster):
    """Parts of a cluster that is too wide for a line: where it may be broken.

    Words stay whole where they can, so that scripts without spaces break between them.
    """
    for text, mark in cluster:
        whole = mark is not None and len(text) <= 12
        yield from [(text, mark)] if whole else [(letter, mark) for letter in text]


def _end_in_ellipsis(line, width, measure):
    end = f" {ELLIPSIS}"
    while line and sum(measure(text) for text, _ in line) + measure(end) > width:
        line.pop()
    if line and line[-1] == (" ", None):
        line.pop()
    line.append((end, None))


def _runs(line, parts, measure):
    """Runs of a line: neighbours without a mark, and letters of a word, are one."""
    left, text, standing = 0.0, "", None
    for part, mark in [*parts, ("", object())]:
        if text and mark is not standing:
            inked = text.lstrip()
            start = left + measure(text[: len(text) - len(inked)])
            if inked:
                yield Run(inked.rstrip(), standing, line, start)
            left += measure(text)
            text = ""
        text += part
        standing = mark


def draw_passage(ax, runs, families, size, colour_of, *, top=0.0):
    """Draw runs from the upper left corner of an axes, at their size in print.

    Parameters
    ----------
    ax : Axes
        Where to draw.
    runs : list of Run
        As :func:`wrapped_passage` has them.
    families : list of str
        Font families.
    size : float
        Of the letters, in points.
    colour_of : callable
        The colour, with its opacity, for a mark.
    top : float, default=0.0
        Room above the first line, in points.

    Returns
    -------
    list of Annotation
        One for each run.
    """
    drawn = []
    for run in runs:
        behind = None
        if run.mark is not None:
            behind = {
                "boxstyle": "round,pad=0.12,rounding_size=0.2",
                "facecolor": colour_of(run.mark),
                "edgecolor": "none",
            }
        text = ax.annotate(
            run.text,
            (0, 1),
            xycoords="axes fraction",
            xytext=(run.left, -top - size * (LINE_HEIGHT * run.line + 1.2)),
            textcoords="offset points",
            va="baseline",
            fontsize=size,
            fontfamily=families,
            parse_math=False,
            annotation_clip=False,
            bbox=behind,
            # Boxes lie below the letters of their neighbours.
            zorder=3 if behind is None else 2,
        )
        text.set_in_layout(False)
        drawn.append(text)
    return drawn
