"""Passages of text: fonts for their letters, lines of a width, marks behind words."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from textwrap import fill, wrap
from typing import TYPE_CHECKING, Any

from sklearn_interpret._plotting.axes import axes_inches, is_constrained, make_room
from sklearn_interpret._plotting.labels import CHARACTERS_PER_INCH, literal
from sklearn_interpret._plotting.points import POINTS_PER_INCH

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import LineCollection
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.text import Annotation, Text

# Letters and the mark behind them, which may be any object; None for no mark.
Piece = tuple[str, Any]

LINE_HEIGHT = 1.65  # in sizes of the letters
# Of a text that is drawn alone: inches, and points.
TEXT_WIDTH, LETTER_SIZE = 7.0, 10.5
TITLE_LETTERS = 80  # in a line of the title of a text
# Least number of letters in a line of a title, and height of such a line in inches.
LEAST_LETTERS, TITLE_LINE = 16, 0.25
STRIKE_HEIGHT = 0.28  # of a line through letters above their base, in their size
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


def drawable(text: str, missing: frozenset[str]) -> str:
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
        than in print: what is wider counts.
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
    mark: Any  # the mark behind them; None for none
    line: int  # number of the line
    left: float  # where they begin, from the left, in points


def wrapped_passage(
    pieces: Iterable[Piece], width: float, measure: Measure, most_lines: int
) -> tuple[list[Run], int, bool]:
    """Break a passage into lines: their runs, how many lines, and whether it was cut.

    `measure` gives the width of a text in points, as `width` is. Where there are more
    than `most_lines`, the last one ends in an ellipsis.
    """
    lines: list[list[Piece]] = [[]]
    used = 0.0
    for group in _groups(pieces, width, measure):
        size = sum(measure(text) for text, _ in group)
        if not group or (used and used + size > width):
            lines.append([])
            used = 0.0
        if used or group != [(" ", None)]:  # no line begins with a space
            lines[-1] += group
            used += size
        if len(lines) > most_lines:
            break
    cut = len(lines) > most_lines
    while len(lines) > 1 and not lines[-1]:
        lines.pop()
    if cut:
        lines = lines[:most_lines]
        _end_in_ellipsis(lines[-1], width, measure)
    runs = [
        run for number, line in enumerate(lines) for run in _runs(number, line, measure)
    ]
    return runs, len(lines), cut


def _groups(
    pieces: Iterable[Piece], width: float, measure: Measure
) -> Iterator[list[Piece]]:
    """Lists of pieces that share a line; an empty one ends a line."""
    word: list[Piece] = []
    for letters, mark in pieces:
        for text in re.split(r"(\s+)", letters) if mark is None else [letters]:
            if mark is not None or not text.isspace():
                word += [(text, mark)] if text else []
                continue
            yield from _broken(word, width, measure)
            word = []
            yield [] if "\n" in text else [(" ", None)]
    yield from _broken(word, width, measure)


def _broken(word: list[Piece], width: float, measure: Measure) -> Iterator[list[Piece]]:
    """A word as one group, or letter by letter if it is too wide for a line."""
    if sum(measure(text) for text, _ in word) <= width:
        yield from [word] if word else []
        return
    for text, mark in word:
        # Marked words stay whole: scripts without spaces then break between them.
        unbroken = mark is not None and len(text) <= 12
        yield from [[(letters, mark)] for letters in ([text] if unbroken else text)]


def _end_in_ellipsis(line: list[Piece], width: float, measure: Measure) -> None:
    end = f" {ELLIPSIS}"
    while line and sum(measure(text) for text, _ in line) + measure(end) > width:
        line.pop()
    if line and line[-1] == (" ", None):
        line.pop()
    line.append((end, None))


def _runs(number: int, line: list[Piece], measure: Measure) -> Iterator[Run]:
    """Runs of a line: neighbours without a mark, and letters of a word, are one."""
    left, text, run_mark = 0.0, "", None
    for letters, mark in [*line, ("", object())]:
        if text and mark is not run_mark:
            inked = text.lstrip()
            start = left + measure(text[: len(text) - len(inked)])
            if inked:
                yield Run(inked.rstrip(), run_mark, number, start)
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

    def __init__(self, pieces: Iterable[Piece]) -> None:
        pieces = list(pieces)
        self.families, self._missing = families_for("".join(t for t, _ in pieces))
        self._pieces = [
            ("\n".join(map(self.drawable, text.split("\n"))), mark)
            for text, mark in pieces
        ]

    def drawable(self, text: str) -> str:
        """A line with boxes for letters without a font."""
        return drawable(text, self._missing)

    def height(self, width: float, n_title_lines: int, most_lines: int) -> float:
        """Height in inches of the text and its title, for a width in inches."""
        measure = Measure(self.families, LETTER_SIZE)
        room = width * POINTS_PER_INCH
        _, n_lines, _ = wrapped_passage(self._pieces, room, measure, most_lines)
        n_lines += n_title_lines + 1
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
        runs, *_ = wrapped_passage(self._pieces, width, measure, max(1, most_lines))
        return draw_passage(ax, runs, self.families, colour_of), runs, measure


def title_text(ax: Axes, title: str) -> None:
    """Write a title above an axes for a text, which has no frame."""
    ax.set_axis_off()
    ax.set_title(literal(title), loc="left", fontsize="medium")


def settle_layout(figure: Figure | SubFigure) -> None:
    """Give axes the room that their titles and labels leave."""
    if is_constrained(figure):
        figure.figure.draw_without_rendering()
    else:
        make_room(figure)


def draw_text(
    take: Callable[[tuple[float, float]], Axes],
    pieces: Iterable[Piece],
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
    title_text(ax, "\n".join(lines))
    settle_layout(ax.figure)
    return passage.draw(ax, partial(colour_of, ax), most_lines)


def write_title(
    ax: Axes, lines: Sequence[str], inches: float, *, own_figure: bool
) -> Text:
    """Write lines above an axes, wrapped to a width in inches.

    A figure of its own grows by their height.
    """
    most = max(int(CHARACTERS_PER_INCH * inches), LEAST_LETTERS)
    text = literal("\n".join(fill(line, most) for line in lines))
    title = ax.set_title(text, fontsize="medium", loc="left")
    if own_figure:
        height = TITLE_LINE * (text.count("\n") + 1)
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
