"""Passages of text: fonts for their letters, lines of a width, marks behind words."""

import re
from dataclasses import dataclass
from functools import lru_cache

from sklearn_interpret._plotting.points import POINTS_PER_INCH

LINE_HEIGHT = 1.65  # in sizes of the letters
ELLIPSIS = "…"
# Replaces a letter that no font has.
BOX = "\N{WHITE SQUARE}"
# Fonts of wide coverage, which are often installed.
WIDE_FONTS = (
    "Noto Sans CJK JP",
    "Noto Sans CJK SC",
    "Noto Sans JP",
    "Noto Sans SC",
    "Source Han Sans",
    "IPAexGothic",
    "WenQuanYi Zen Hei",
    "WenQuanYi Micro Hei",
    "Droid Sans Fallback",
    "Hiragino Sans",
    "PingFang SC",
    "Yu Gothic",
    "Meiryo",
    "Microsoft YaHei",
    "SimHei",
    "Malgun Gothic",
    "Arial Unicode MS",
    "Noto Sans",
    "Noto Sans Arabic",
    "Noto Sans Devanagari",
    "Noto Emoji",
    "Segoe UI Symbol",
)


def families_for(text):
    """Font families in which a text can be drawn, and letters that none of them has."""
    import matplotlib

    families = list(matplotlib.rcParams["font.family"])
    missing = {letter for letter in text if letter.isprintable()}
    for family in families:
        missing -= _letters_in(family)
    for family in WIDE_FONTS:
        if not missing:
            break
        if missing & _letters_in(family):
            families.append(family)
            missing -= _letters_in(family)
    return families, frozenset(missing)


@lru_cache(maxsize=64)
def _letters_in(family):
    """Letters that a font family has; none where it is not installed."""
    from matplotlib.font_manager import FontProperties, findfont, get_font

    try:
        path = findfont(FontProperties(family=[family]), fallback_to_default=False)
    except ValueError:
        return frozenset()
    return frozenset(map(chr, get_font(path).get_charmap()))


def drawable(text, missing):
    """A text in one line, with boxes for letters that cannot be drawn."""
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

    def __init__(self, families, size, figure=None):
        from matplotlib.font_manager import FontProperties
        from matplotlib.textpath import text_to_path

        self._font = FontProperties(family=families, size=size)
        self._rulers = [(text_to_path, 1.0)]
        if figure is not None and hasattr(figure.canvas, "get_renderer"):
            scale = POINTS_PER_INCH / figure.figure.dpi
            self._rulers.append((figure.canvas.get_renderer(), scale))
        self._widths = {}

    def __call__(self, text):
        """Width of a text; spaces at its ends count."""
        if text not in self._widths:
            self._widths[text] = max(
                scale * (self._width(ruler, f"|{text}|") - self._width(ruler, "||"))
                for ruler, scale in self._rulers
            )
        return self._widths[text]

    def _width(self, ruler, text):
        return ruler.get_text_width_height_descent(text, self._font, False)[0]


@dataclass(frozen=True)
class Run:
    """Letters in one line that look the same."""

    text: str  # the letters
    mark: object  # what is behind them; None for nothing
    line: int  # number of the line
    left: float  # where they begin, from the left, in points


def wrapped_passage(pieces, width, measure, most_lines):
    """Break a passage into lines: their runs, how many lines, and whether it was cut.

    `pieces` are pairs of letters and a mark, what is behind them (None for nothing).
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


def _groups(pieces, width, measure):
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


def _broken(word, width, measure):
    """A word as one group, or letter by letter if it is too wide for a line."""
    if sum(measure(text) for text, _ in word) <= width:
        yield from [word] if word else []
        return
    for text, mark in word:
        # Marked words stay whole: scripts without spaces then break between them.
        whole = mark is not None and len(text) <= 12
        yield from [[(part, mark)] for part in ([text] if whole else text)]


def _end_in_ellipsis(line, width, measure):
    end = f" {ELLIPSIS}"
    while line and sum(measure(text) for text, _ in line) + measure(end) > width:
        line.pop()
    if line and line[-1] == (" ", None):
        line.pop()
    line.append((end, None))


def _runs(line, parts, measure):
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


def draw_passage(ax, runs, families, size, colour_of, *, top=0.0):
    """Draw runs from the upper left corner of an axes, at their size in print.

    `colour_of` gives the colour, with its opacity, for a mark; `top` is the room above
    the first line, in points.
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
