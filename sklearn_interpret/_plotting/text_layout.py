"""Passages of text: fonts for their letters, lines of a width, marks behind words."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from textwrap import fill, wrap
from typing import TYPE_CHECKING, Any

from sklearn_interpret._plotting.axes import axes_inches, is_constrained, make_room
from sklearn_interpret._plotting.labels import CHARACTERS_PER_INCH, literal
from sklearn_interpret._plotting.points import POINTS_PER_INCH

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

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


def families_for(text: str) -> tuple[list[str], frozenset[Any]]:
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


def drawable(text: str, missing: frozenset[Any]) -> str:
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
        self, families: list[str], size: float, figure: Figure | None = None
    ) -> None:
        from matplotlib.font_manager import FontProperties
        from matplotlib.textpath import text_to_path

        self._font = FontProperties(family=families, size=size)
        self._rulers = [(text_to_path, 1.0)]
        if figure is not None and hasattr(figure.canvas, "get_renderer"):
            scale = POINTS_PER_INCH / figure.figure.dpi
            self._rulers.append((figure.canvas.get_renderer(), scale))
        self._widths = {}

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
    mark: object  # the mark behind them; None for none
    line: int  # number of the line
    left: float  # where they begin, from the left, in points


def wrapped_passage(
    pieces: list[tuple[str, list[bool] | tuple[float, int] | None]],
    width: float,
    measure: Measure,
    most_lines: int,
) -> tuple[list[Run], int, bool]:
    """Break a passage into lines: their runs, how many lines, and whether it was cut.

    `pieces` are pairs of letters and the mark behind them (None for none).
    `measure` gives the width of a text in points, as `width` is. Where there are more
    than `most_lines`, the last one ends in an ellipsis.
    """
    lines, used = [[]], 0.0
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
        run for line, parts in enumerate(lines) for run in _runs(line, parts, measure)
    ]
    return runs, len(lines), cut


def _groups(
    pieces: list[tuple[str, list[bool] | tuple[float, int] | None]],
    width: float,
    measure: Measure,
) -> Iterator[list[tuple[str, list[bool] | tuple[float, int] | None]]]:
    """Lists of pieces that share a line; an empty one ends a line."""
    word = []
    for piece, mark in pieces:
        for part in re.split(r"(\s+)", piece) if mark is None else [piece]:
            if mark is not None or not part.isspace():
                word += [(part, mark)] if part else []
                continue
            yield from _broken(word, width, measure)
            word = []
            yield [] if "\n" in part else [(" ", None)]
    yield from _broken(word, width, measure)


def _broken(
    word: list[tuple[str, list[bool] | tuple[float, int] | None]],
    width: float,
    measure: Measure,
) -> Iterator[list[tuple[str, list[bool] | tuple[float, int] | None]]]:
    """A word as one group, or letter by letter if it is too wide for a line."""
    if sum(measure(text) for text, _ in word) <= width:
        yield from [word] if word else []
        return
    for text, mark in word:
        # Marked words stay whole: scripts without spaces then break between them.
        whole = mark is not None and len(text) <= 12
        yield from [[(part, mark)] for part in ([text] if whole else text)]


def _end_in_ellipsis(line: int, width: float, measure: Measure) -> None:
    end = f" {ELLIPSIS}"
    while line and sum(measure(text) for text, _ in line) + measure(end) > width:
        line.pop()
    if line and line[-1] == (" ", None):
        line.pop()
    line.append((end, None))


def _runs(
    line: int,
    parts: list[tuple[str, list[bool] | tuple[float, int] | None]],
    measure: Measure,
) -> Iterator[Run]:
    """Runs of a line: neighbours without a mark, and letters of a word, are one."""
    left, text, behind = 0.0, "", None
    for part, mark in [*parts, ("", object())]:
        if text and mark is not behind:
            inked = text.lstrip()
            start = left + measure(text[: len(text) - len(inked)])
            if inked:
                yield Run(inked.rstrip(), behind, line, start)
            left += measure(text)
            text = ""
        text += part
        behind = mark


def draw_passage(
    ax: Axes, runs: list[Run], families: list[str], colour_of: Callable[..., Any]
) -> list[Any]:
    """Draw runs from the upper left corner of an axes, at their size in print."""
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
            xytext=(run.left, -LETTER_SIZE * (LINE_HEIGHT * run.line + 1.2)),
            textcoords="offset points",
            va="baseline",
            fontsize=LETTER_SIZE,
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


class Passage:
    """A text to be drawn, with marks behind some of its pieces.

    Parameters
    ----------
    pieces : iterable of (str, object)
        The text in pieces, each with its mark, None for nothing.
    """

    def __init__(
        self, pieces: Iterator[Any] | list[tuple[str, list[bool] | None]]
    ) -> None:
        pieces = list(pieces)
        text = "".join(piece for piece, _ in pieces)
        self.families, self._missing = families_for(text)
        self._pieces = [
            ("\n".join(map(self.drawable, piece.split("\n"))), mark)
            for piece, mark in pieces
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
        self, ax: Axes, colour_of: Callable[..., Any], most_lines: int
    ) -> tuple[list[Any], list[Run], Measure]:
        """Draw the text on an axes whose place is settled.

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


def settle_layout(figure: Figure) -> None:
    """Give axes the places that their titles and labels leave them."""
    if is_constrained(figure):
        figure.figure.draw_without_rendering()
    else:
        make_room(figure)


def draw_text(
    take: Callable[..., Any],
    pieces: list[tuple[str, list[bool] | None]],
    title: list[str],
    *,
    colour_of: Callable[..., Any],
    most_lines: int,
) -> tuple[list[Any], list[Run], Measure]:
    """Draw a text with marks behind some of its pieces, and a title above it.

    Parameters
    ----------
    take : callable
        ``take(size)``: the axes, in a new figure of this width and height in inches.
    pieces : list of (str, object)
        As in `Passage`.
    title : list of str
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
    title = [part for line in title for part in wrap(line, TITLE_LETTERS)]
    size = TEXT_WIDTH + 0.2, passage.height(TEXT_WIDTH, len(title), most_lines)
    ax = take(size)
    title_text(ax, "\n".join(title))
    settle_layout(ax.figure)
    return passage.draw(ax, partial(colour_of, ax), most_lines)


def write_title(ax: Axes, lines: list[str], inches: float, *, own_figure: bool) -> Any:
    """Write lines above an axes, wrapped to a width in inches.

    A figure of its own grows by their height.
    """
    most = max(int(CHARACTERS_PER_INCH * inches), LEAST_LETTERS)
    text = literal("\n".join(fill(line, most) for line in lines))
    title = ax.set_title(text, fontsize="medium", loc="left")
    if own_figure:
        height = TITLE_LINE * (text.count("\n") + 1)
        ax.figure.set_figheight(ax.figure.get_figheight() + height)
    return title


def strike_out(ax: Axes, runs: list[Run], measure: Measure, **style: Any) -> Any:
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
    corner = ScaledTranslation(0, 1, ax.transAxes)
    place = ax.figure.dpi_scale_trans + corner
    lines = LineCollection(segments, transform=place, clip_on=False, **style)
    lines.set_in_layout(False)
    return ax.add_collection(lines, autolim=False)
