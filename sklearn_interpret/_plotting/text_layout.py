"""Passages of text: fonts for their letters, lines of a width, marks behind words.

A passage comes as pieces, which are broken into lines; letters of a line that have the
same mark are a run, and each run is drawn as one text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from textwrap import fill, wrap
from typing import TYPE_CHECKING, Any, NamedTuple

from sklearn_interpret._plotting.axes import axes_inches, settle_layout
from sklearn_interpret._plotting.labels import CHARACTERS_PER_INCH, literal
from sklearn_interpret._plotting.points import POINTS_PER_INCH

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import LineCollection
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.text import Annotation, Text

TEXT_WIDTH = 7.0  # inches of a text that is drawn alone
LETTER_SIZE = 10.5  # points
LINE_HEIGHT = 1.65  # in sizes of the letters
STRIKE_HEIGHT = 0.28  # of a line through letters above their base, in their size
TITLE_LETTERS = 80  # in a line of the title of a text
LEAST_TITLE_LETTERS = 16  # in a line of a title, however narrow its axes are
TITLE_LINE_HEIGHT = 0.25  # inches
ELLIPSIS = "…"
# Replaces a letter that no font has.
BOX = "\N{WHITE SQUARE}"
# Names of fonts of wide coverage, which are often installed.
WIDE_FONTS = (
    "Noto Sans CJK JP, Noto Sans CJK SC, Noto Sans JP, Noto Sans SC, "
    "Source Han Sans, IPAexGothic, WenQuanYi Zen Hei, WenQuanYi Micro Hei, "
    "Droid Sans Fallback, Hiragino Sans, PingFang SC, Yu Gothic, Meiryo, "
    "Microsoft YaHei, SimHei, Malgun Gothic, Arial Unicode MS, Noto Sans, "
    "Noto Sans Arabic, Noto Sans Devanagari, Noto Emoji, Segoe UI Symbol"
)


class Piece(NamedTuple):
    """Letters, and the mark behind them."""

    text: str
    mark: Any  # any object; None for no mark


SPACE = Piece(" ", None)


def families_for(text: str) -> tuple[list[str], frozenset[str]]:
    """Font families in which a text can be drawn, and letters that none of them has."""
    import matplotlib

    families = list(matplotlib.rcParams["font.family"])
    missing = {letter for letter in text if letter.isprintable()}
    for family in families:
        missing -= _letters_in(family)
    for family in WIDE_FONTS.split(", "):
        if not missing:
            break
        if missing & _letters_in(family):
            families.append(family)
            missing -= _letters_in(family)
    return families, frozenset(missing)


@lru_cache(maxsize=64)
def _letters_in(family: str) -> frozenset[str]:
    """Letters that a font family has; none where it is not installed."""
    from matplotlib.font_manager import FontProperties, findfont, get_font

    try:
        path = findfont(FontProperties(family=[family]), fallback_to_default=False)
    except ValueError:
        return frozenset()
    return frozenset(map(chr, get_font(path).get_charmap()))


def replace_undrawable(text: str, missing: frozenset[str]) -> str:
    """A text with boxes for letters without a font, and spaces for control letters."""
    return "".join(
        BOX if letter in missing else letter if letter.isprintable() else " "
        for letter in text
    )


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
        than in print: the larger width counts.
    """

    def __init__(
        self, families: list[str], size: float, figure: Figure | SubFigure | None = None
    ) -> None:
        from matplotlib.font_manager import FontProperties
        from matplotlib.textpath import text_to_path

        self._font = FontProperties(family=families, size=size)
        self._rulers: list[tuple[Any, float]] = [(text_to_path, 1.0)]
        if figure is not None and hasattr(figure.canvas, "get_renderer"):
            scale = POINTS_PER_INCH / figure.figure.dpi
            self._rulers.append((figure.canvas.get_renderer(), scale))
        self._widths: dict[str, float] = {}

    def __call__(self, text: str) -> float:
        """Width of a text; spaces at its ends count."""
        if text not in self._widths:
            self._widths[text] = max(
                scale * (self._width(ruler, f"|{text}|") - self._width(ruler, "||"))
                for ruler, scale in self._rulers
            )
        return self._widths[text]

    def _width(self, ruler: Any, text: str) -> float:
        return ruler.get_text_width_height_descent(text, self._font, False)[0]


@dataclass(frozen=True)
class Run:
    """Letters in one line that look the same."""

    text: str  # the letters
    mark: Any  # the mark behind the letters, or None
    line: int  # number of the line
    left: float  # where they begin, from the left, in points


class WrappedPassage(NamedTuple):
    """A passage broken into lines."""

    runs: list[Run]
    n_lines: int
    was_cut: bool  # whether lines were left out at the end


def wrap_passage(
    pieces: Iterable[tuple[str, Any]], width: float, measure: Measure, most_lines: int
) -> WrappedPassage:
    """Break a passage into lines.

    `measure` gives the width of a text in points, as `width` is. Where there are more
    than `most_lines`, the last one ends in an ellipsis.
    """
    lines: list[list[Piece]] = [[]]
    used = 0.0
    for group in _line_groups(pieces, width, measure):
        size = sum(measure(text) for text, _ in group)
        if not group or (used and used + size > width):
            lines.append([])
            used = 0.0
        if used or group != [SPACE]:  # no line begins with a space
            lines[-1] += group
            used += size
        if len(lines) > most_lines:
            break
    was_cut = len(lines) > most_lines
    while len(lines) > 1 and not lines[-1]:
        lines.pop()
    if was_cut:
        lines = lines[:most_lines]
        _end_in_ellipsis(lines[-1], width, measure)
    runs = [
        run
        for number, line in enumerate(lines)
        for run in _make_runs(number, line, measure)
    ]
    return WrappedPassage(runs, len(lines), was_cut)


def _line_groups(
    pieces: Iterable[tuple[str, Any]], width: float, measure: Measure
) -> Iterator[list[Piece]]:
    """Pieces that must share a line: a word, or a space; an empty list ends a line."""
    word: list[Piece] = []
    for letters, mark in pieces:
        if mark is not None:  # a marked piece is not split at its spaces
            word += [Piece(letters, mark)] if letters else []
            continue
        for text in re.split(r"(\s+)", letters):
            if not text.isspace():
                word += [Piece(text, None)] if text else []
                continue
            yield from _break_word(word, width, measure)
            word = []
            yield [] if "\n" in text else [SPACE]
    yield from _break_word(word, width, measure)


def _break_word(
    word: list[Piece], width: float, measure: Measure
) -> Iterator[list[Piece]]:
    """A word as one group, or letter by letter if it is too wide for a line."""
    if sum(measure(text) for text, _ in word) <= width:
        if word:
            yield word
        return
    for text, mark in word:
        # Short marked words stay whole: scripts without spaces break between them.
        is_whole = mark is not None and len(text) <= 12
        for letters in [text] if is_whole else text:
            yield [Piece(letters, mark)]


def _end_in_ellipsis(line: list[Piece], width: float, measure: Measure) -> None:
    """Put an ellipsis at the end of a line, in place of pieces that leave no room."""
    end = f" {ELLIPSIS}"
    while line and sum(measure(text) for text, _ in line) + measure(end) > width:
        line.pop()
    if line and line[-1] == SPACE:
        line.pop()
    line.append(Piece(end, None))


def _make_runs(number: int, line: list[Piece], measure: Measure) -> Iterator[Run]:
    """Runs of a line: neighbouring pieces with the same mark are joined."""
    left, text, run_mark = 0.0, "", None
    last = Piece("", object())  # its mark is new, and ends the last run
    for letters, mark in [*line, last]:
        if text and mark is not run_mark:
            visible = text.lstrip()
            start = left + measure(text[: len(text) - len(visible)])
            if visible:
                yield Run(visible.rstrip(), run_mark, number, start)
            left += measure(text)
            text = ""
        text += letters
        run_mark = mark


def draw_passage(
    ax: Axes, runs: list[Run], families: list[str], colour_of: Callable[[Any], Any]
) -> list[Annotation]:
    """Draw runs from the upper left corner of an axes, at their size in print."""
    texts = []
    for run in runs:
        box = None
        if run.mark is not None:
            box = {
                "boxstyle": "round,pad=0.12,rounding_size=0.2",
                "facecolor": colour_of(run.mark),
                "edgecolor": "none",
            }
        text = ax.annotate(
            run.text,
            (0, 1),
            xycoords="axes fraction",
            xytext=(run.left, -LETTER_SIZE * (LINE_HEIGHT * run.line + 1.2)),
            textcoords="offset points",
            va="baseline",
            fontsize=LETTER_SIZE,
            fontfamily=families,
            parse_math=False,
            annotation_clip=False,
            bbox=box,
            # Boxes lie below the letters of their neighbours.
            zorder=3 if box is None else 2,
        )
        text.set_in_layout(False)
        texts.append(text)
    return texts


class Passage:
    """A text to be drawn, with marks behind some of its pieces.

    Parameters
    ----------
    pieces : iterable of (str, object)
        The text in pieces, each with its mark, None for nothing.
    """

    def __init__(self, pieces: Iterable[tuple[str, Any]]) -> None:
        pieces = list(pieces)
        all_letters = "".join(text for text, _ in pieces)
        self.families, self._missing = families_for(all_letters)
        self._pieces = [
            Piece("\n".join(map(self.replace_undrawable, text.split("\n"))), mark)
            for text, mark in pieces
        ]

    def replace_undrawable(self, text: str) -> str:
        """A line with boxes for letters without a font."""
        return replace_undrawable(text, self._missing)

    def height(self, width: float, n_title_lines: int, most_lines: int) -> float:
        """Height in inches of the text and its title, for a width in inches."""
        measure = Measure(self.families, LETTER_SIZE)
        points = width * POINTS_PER_INCH
        wrapped = wrap_passage(self._pieces, points, measure, most_lines)
        n_lines = wrapped.n_lines + n_title_lines + 1
        return LINE_HEIGHT * LETTER_SIZE * n_lines / POINTS_PER_INCH

    def draw(
        self, ax: Axes, colour_of: Callable[[Any], Any], most_lines: int
    ) -> tuple[list[Annotation], list[Run], Measure]:
        """Draw the text on an axes whose size is settled.

        `colour_of` gives the colour, with its opacity, for a mark. Returns the texts,
        their runs, and what measures their widths.
        """
        width, height = (POINTS_PER_INCH * inches for inches in axes_inches(ax))
        most_lines = min(most_lines, int(height / (LINE_HEIGHT * LETTER_SIZE) + 0.09))
        measure = Measure(self.families, LETTER_SIZE, ax.figure)
        runs = wrap_passage(self._pieces, width, measure, max(1, most_lines)).runs
        return draw_passage(ax, runs, self.families, colour_of), runs, measure


def write_plain_title(ax: Axes, title: str) -> None:
    """Write a title above an axes for a text, which has no frame."""
    ax.set_axis_off()
    ax.set_title(literal(title), loc="left", fontsize="medium")


def draw_text(
    take: Callable[[tuple[float, float]], Axes],
    pieces: Iterable[tuple[str, Any]],
    title: Iterable[str],
    *,
    colour_of: Callable[[Axes, Any], Any],
    most_lines: int,
) -> tuple[list[Annotation], list[Run], Measure]:
    """Draw a text with marks behind some of its pieces, and a title above it.

    Parameters
    ----------
    take : callable
        ``take(size)``: the axes, in a new figure of this width and height in inches.
    pieces : list of (str, object)
        As in `Passage`.
    title : iterable of str
        Lines of the title.
    colour_of : callable
        ``colour_of(ax, mark)``: the colour behind a piece.
    most_lines : int
        Largest number of lines; a longer text ends in an ellipsis.

    Returns
    -------
    texts : list of Annotation
        The runs.
    runs : list of Run
        The runs of letters that the texts show.
    measure : Measure
        Gives their widths.
    """
    passage = Passage(pieces)
    lines = [line for text in title for line in wrap(text, TITLE_LETTERS)]
    ax = take((TEXT_WIDTH + 0.2, passage.height(TEXT_WIDTH, len(lines), most_lines)))
    letters = int(1.3 * CHARACTERS_PER_INCH * axes_inches(ax)[0])
    lines = [part for line in lines for part in wrap(line, max(letters, 1))]
    write_plain_title(ax, "\n".join(lines))
    settle_layout(ax.figure)
    return passage.draw(ax, partial(colour_of, ax), most_lines)


def write_title(
    ax: Axes, lines: Sequence[str], inches: float, *, own_figure: bool
) -> Text:
    """Write lines above an axes, wrapped to a width in inches.

    A figure of its own grows by their height.
    """
    most = max(int(CHARACTERS_PER_INCH * inches), LEAST_TITLE_LETTERS)
    text = literal("\n".join(fill(line, most) for line in lines))
    title = ax.set_title(text, fontsize="medium", loc="left")
    if own_figure:
        height = TITLE_LINE_HEIGHT * (text.count("\n") + 1)
        figure = ax.figure.figure
        figure.set_figheight(figure.get_figheight() + height)
    return title


def strike_out(
    ax: Axes, runs: list[Run], measure: Measure, **style: Any
) -> LineCollection:
    """Lines through runs that `draw_text` has drawn, as one LineCollection."""
    from matplotlib.collections import LineCollection
    from matplotlib.transforms import ScaledTranslation

    segments = []
    for run in runs:
        height = -LETTER_SIZE * (LINE_HEIGHT * run.line + 1.2 - STRIKE_HEIGHT)
        ends = run.left, run.left + measure(run.text)
        segments.append(
            [(end / POINTS_PER_INCH, height / POINTS_PER_INCH) for end in ends]
        )
    # A transform of matplotlib's type stubs is more general than it is.
    corner = ScaledTranslation(0, 1, ax.transAxes)  # type: ignore[arg-type]
    inches = ax.figure.dpi_scale_trans + corner
    lines = LineCollection(segments, transform=inches, clip_on=False, **style)
    lines.set_in_layout(False)
    ax.add_collection(lines, autolim=False)
    return lines
