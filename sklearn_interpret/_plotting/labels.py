"""Names, numbers and tick labels that stay readable."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from numbers import Integral
from textwrap import fill, wrap
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import isotonic_regression

from sklearn_interpret._model.rows.number_format import number_text
from sklearn_interpret._plotting.colours import ink, paper

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.text import Annotation

NAME_WIDTH = 36  # characters of a name
LEVEL_WIDTH = 16  # characters of a level along an axis
NUMERIC = re.compile(r"[\d.,]{2}")
# Letters in an inch of a label of 10 points, for names of wide letters: most names are
# narrower.
CHARACTERS_PER_INCH = 11
# Small lines below each other, or upright labels next to each other, in an inch.
UPRIGHT_PER_INCH = 7.5
# Letters of an axis' label of 10 points for an inch of the axis: most letters are
# narrow, and a label may be a bit longer than its axis.
ALONGSIDE_PER_INCH = 12
NICE_STEPS = (1, 2, 2.5, 5, 10)  # round distances of ticks
# Names of responses, of a class and of a number.
OF_CLASSES = (
    "probability",
    "log-odds",
    "log-probability",
    "centered log-probability",
    "decision function",
)
OF_NUMBERS = ("prediction", "log", "margin", "response")
OF_TIMES = ("survival probability", "cumulative hazard")
AND = " and "  # between the conditions of a rule
JOIN = " \N{MULTIPLICATION SIGN} "  # between the features of a pair
_NO_BREAK = "\N{NO-BREAK SPACE}"
_AROUND_SIGN = r" (?=[<>=≤≥≠])|(?<=[<>=≤≥≠]) "
# Label of the learner's intervals where the rows left out are not known.
ASSUMED_FOLDS = "95 %, assuming K folds"


def shorten(name: object, most: int = NAME_WIDTH) -> str:
    """A name of at most `most` characters: its beginning and its end.

    The cut is not within a number, unless the name is one.

    Parameters
    ----------
    name : object
        The name.
    most : int, default=36
        Largest number of characters.

    Examples
    --------
    >>> from sklearn_interpret._plotting.labels import shorten
    >>> shorten("a_rather_long_name", 11)
    'a_rat…_name'
    """
    text = " ".join(str(name).split())
    if len(text) <= most:
        return text
    head = most // 2
    tail = len(text) - (most - head - 1)
    before, after = text[:head], text[tail:]
    if NUMERIC.match(text[head - 1 : head + 1]):
        before = re.sub(r"(?<=[^\d.,])[\d.,]+$", "", before)
    if NUMERIC.match(text[tail - 1 : tail + 1]):
        after = re.sub(r"^[\d.,]+(?=[^\d.,])", "", after)
    return f"{before}…{after}"


def shorten_all(
    names: Sequence[object],
    most: int = NAME_WIDTH,
    fit: Callable[[str, int], str] = shorten,
) -> list[str]:
    """Names of at most `most` characters each, which differ where the names do.

    Names that would look alike leave out their common beginning, or stay whole.

    Parameters
    ----------
    names : sequence
        The names.
    most : int, default=36
        Largest number of characters.
    fit : callable, default=shorten
        Shortens a name to a number of characters.

    Returns
    -------
    list of str

    Examples
    --------
    >>> from sklearn_interpret._plotting.labels import shorten_all
    >>> shorten_all(["Time since first diagnosis", "Time since last diagnosis"], 23)
    ['Time si…first diagnosis', 'Time si…last diagnosis']
    """
    full_names = list(map(str, names))
    texts = [fit(name, most) for name in full_names]
    positions: dict[str, list[int]] = {}
    for i, text in enumerate(texts):
        positions.setdefault(text, []).append(i)
    for alike in positions.values():
        group = [" ".join(full_names[i].split()) for i in alike]
        if len(set(group)) > 1:
            different = _shorten_by_difference(group, most, fit)
            for i, text in zip(alike, different, strict=True):
                texts[i] = text
    return texts


def _shorten_by_difference(
    names: list[str], most: int, fit: Callable[[str, int], str]
) -> list[str]:
    """Names with a common beginning, shortened to show where they differ."""
    head, alike = most // 3, 0
    while len({name[: alike + 1] for name in names}) == 1:
        alike += 1
    word = max(names[0].rfind(mark, 0, alike) for mark in " _-./:") + 1
    start = word if word > head + 1 else alike
    if start <= head + 1:
        return names
    return shorten_all([f"{name[:head]}…{name[start:]}" for name in names], most, fit)


def literal(text: object) -> str:
    """Text that matplotlib draws literally, without reading "$" as mathematics."""
    return str(text).replace("$", r"\$")


def write_near(
    ax: Axes,
    text: str,
    point: Any,
    offset: Any = (0, 0),
    *,
    over: float | None = None,
    **style_kwargs: Any,
) -> Annotation:
    """Write small letters at an offset in points from a point (x, y) of the data.

    `over` is the opacity of the paper behind them, which interrupts what they cross.
    """
    style_kwargs = {"textcoords": "offset points", "fontsize": "small", **style_kwargs}
    style_kwargs.setdefault("color", ink(ax))
    if over is not None:
        paper_behind = {"facecolor": paper(ax), "edgecolor": "none", "pad": 0.8}
        style_kwargs["bbox"] = {**paper_behind, "alpha": over}
    return ax.annotate(literal(text), point, xytext=offset, **style_kwargs)


def literal_lines(text: object, most: int = 60) -> str:
    """A text whose lines have at most `most` characters each, drawn literally."""
    return literal("\n".join(shorten(line, most) for line in str(text).split("\n")))


def wrap_name(name: object, width: int = NAME_WIDTH) -> str:
    """A long name over two lines, shortened if it needs more.

    A name of two lines keeps its break, unless only another one leaves it whole.

    Parameters
    ----------
    name : object
        The name.
    width : int, default=36
        Largest number of characters in a line.
    """
    lines = str(name).split("\n")
    fits = len(str(name)) <= 2 * width
    text = shorten(name, 2 * width)
    if len(text) <= width:
        return text
    if len(lines) == 2 and (not fits or max(map(len, lines)) <= width):
        return "\n".join(shorten(line, width) for line in lines)
    positions = range(max(len(text) - width, width // 2) - 1, width)
    # Between words if that can be, and never within a number.
    spaces = [i + 1 for i in positions if text[i] == " "]
    marks = [i for i in positions if text[i] in "_-./:" and not text[i + 1].isdigit()]
    cut = (spaces or [i + 1 for i in marks] or [width])[-1]
    return f"{text[:cut].rstrip()}\n{text[cut:].lstrip()}"


def lines_of(conditions: Sequence[str], letters: int, most: int) -> list[str]:
    """Conditions in words, within a number of lines and of letters per line.

    A condition that fits into a line is not split, nor a bound from its sign.
    """
    unbroken = [
        re.sub(" " if len(each) + 4 <= letters else _AROUND_SIGN, _NO_BREAK, each)
        for each in conditions
    ]
    words = f"{_NO_BREAK}and ".join(unbroken)
    lines = [line.replace(_NO_BREAK, " ") for line in wrap(words, letters)]
    if len(lines) > most:
        lines = [*lines[: most - 1], shorten(" ".join(lines[most - 1 :]), letters)]
    return lines


def join_names(names: Sequence[str], most: int, *, two_lines: bool) -> str:
    """The names of a pair, on one line of a number of characters or on two."""
    if len(JOIN.join(names)) <= most:
        return JOIN.join(names)
    if two_lines:
        first, second = (shorten(name, most - 2) for name in names)
        return f"{first}{JOIN.rstrip()}\n{second}"
    # A short name leaves its room to the longer one.
    room = most - len(JOIN)
    longest = max(room // 2, room - min(map(len, names)))
    return JOIN.join(shorten(name, longest) for name in names)


def two_lines(first_line: str, second_line: str, most: int = 44) -> str:
    """Axis label with a second line in brackets.

    Lines of more than `most` characters are wrapped.
    """
    if not second_line[1:2].isupper():
        second_line = second_line[:1].lower() + second_line[1:]
    lines = shorten(first_line, 44), f"({second_line})"
    return literal("\n".join(fill(line, most) for line in lines))


def tick_positions(n: int, most: int) -> NDArray[np.intp]:
    """Evenly spaced positions of at most `most` of `n` tick labels."""
    return np.arange(0, n, max(1, -(-n // max(most, 1))))


def move_apart(
    positions: ArrayLike, pitch: float, low: float, high: float
) -> NDArray[np.float64]:
    """Positions of labels at least `pitch` apart, as near to these as possible.

    Examples
    --------
    >>> from sklearn_interpret._plotting.labels import move_apart
    >>> move_apart([0.5, 0.1, 0.52], 0.1, 0, 1).round(3).tolist()
    [0.46, 0.1, 0.56]
    """
    wanted = np.asarray(positions, dtype=np.float64)
    order = np.argsort(wanted, kind="stable")
    shifts = pitch * np.arange(len(wanted))
    # Least squares, for labels that stay in their order.
    free = isotonic_regression(wanted[order] - shifts).x if len(wanted) else wanted
    moved = np.empty(len(wanted))
    moved[order] = np.clip(free, low, high - shifts.max(initial=0)) + shifts
    return moved


def label_levels(
    ax: Axes,
    levels: Sequence[str],
    *,
    axis_name: str = "x",
    share: float = 1.0,
    most: int = LEVEL_WIDTH,
) -> None:
    """Name the levels of a category along an axis, thinned and rotated when crowded.

    Parameters
    ----------
    ax : Axes
        With the levels at 0, 1, ...
    levels : sequence of str
        Names.
    axis_name : {"x", "y"}, default="x"
        The axis.
    share : float, default=1.0
        Share of the axes' present size that it keeps when a colour bar comes in.
    most : int, default=16
        Largest number of characters of a name.
    """
    box, figure = ax.get_position(), ax.figure.figure
    if axis_name == "y":
        height = box.height * figure.get_figheight()
        ticks = tick_positions(len(levels), int(height * UPRIGHT_PER_INCH))
        texts = [literal(shorten(levels[tick], most)) for tick in ticks]
        ax.set_yticks(ticks, texts, fontsize=None if len(texts) <= 12 else "small")
        return
    width = share * box.width * figure.get_figwidth()
    ticks = tick_positions(len(levels), int(width * UPRIGHT_PER_INCH))
    texts = [literal(shorten(levels[tick], LEVEL_WIDTH)) for tick in ticks]
    ax.set_xticks(ticks, texts, **_label_style(texts, width))


def thinned_text(axis: Axis, n_levels: int) -> str:
    """Words for an axis' label on how many levels have names, if not all of them do."""
    n_named = len(axis.get_ticklocs())
    return f"\n({n_named} of {n_levels} are named)" if n_named < n_levels else ""


def _label_style(texts: list[str], width: float) -> dict[str, Any]:
    """Style of tick labels: horizontal if they fit, else slanted or upright."""
    if sum(map(len, texts)) + 2 * len(texts) <= CHARACTERS_PER_INCH * width:
        return {"rotation": 0}
    if len(texts) <= 12:
        return {"rotation": 40, "ha": "right", "rotation_mode": "anchor"}
    return {"rotation": 90, "fontsize": "small"}


def level_inches(levels: Sequence[str]) -> float:
    """Height in inches that the names of levels take below a panel of a grid."""
    texts = [shorten(level, LEVEL_WIDTH) for level in levels]
    longest = max(map(len, texts), default=0)
    angle = _label_style(texts, 2.6).get("rotation", 0)
    return float(np.sin(np.radians(angle)) * longest / CHARACTERS_PER_INCH)


def level_side_inches(levels: Sequence[str], most: int = LEVEL_WIDTH) -> float:
    """Width in inches that the names of levels take to the left of a panel."""
    longest = max((len(shorten(level, most)) for level in levels), default=0)
    return longest / CHARACTERS_PER_INCH


def tidy_number_ticks(
    ax: Axes, values: NDArray[np.float64], axis_name: str = "x", most: int = 6
) -> None:
    """Few ticks, at whole numbers where all values are whole."""
    from matplotlib.ticker import MaxNLocator

    are_integers = bool(len(values)) and bool(np.all(values == np.round(values)))
    locator = MaxNLocator(nbins=most, steps=NICE_STEPS, integer=are_integers)
    getattr(ax, f"{axis_name}axis").set_major_locator(locator)


def date_ticks(
    ax: Axes, dtype: np.dtype[Any] | None, axis_name: str = "x", most: int = 6
) -> None:
    """Ticks at dates along an axis of days; nothing for a dtype of numbers."""
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

    if dtype is None or dtype.kind == "m":
        return
    axis = getattr(ax, f"{axis_name}axis")
    locator = AutoDateLocator(minticks=3, maxticks=most)
    axis.set_major_locator(locator)
    axis.set_major_formatter(ConciseDateFormatter(locator))


def date_label(name: str, dtype: np.dtype[Any] | None) -> str:
    """Name of a feature along an axis, with the unit of durations."""
    return f"{name} (days)" if dtype is not None and dtype.kind == "m" else name


def plain_number_ticks(ax: Axes, axis_name: str = "x", most: int = 6) -> None:
    """Few round ticks, without an offset that readers must add."""
    from matplotlib.ticker import MaxNLocator, ScalarFormatter

    axis = getattr(ax, f"{axis_name}axis")
    axis.set_major_locator(MaxNLocator(nbins=most, steps=NICE_STEPS))
    low, high = sorted(axis.get_view_interval())
    # Numbers that agree in many digits would look equal without an offset.
    alike = abs(low / 2 + high / 2) / 1e8 > high - low
    formatter = ScalarFormatter(useOffset=bool(alike))
    formatter.set_powerlimits((-4, 6))
    axis.set_major_formatter(formatter)


def plain_log_ticks(ax: Axes, width: float) -> None:
    """Few ticks on a logarithmic x axis of a width in inches, with plain numbers."""
    from matplotlib.ticker import LogLocator

    low, high = sorted(ax.get_xlim())
    decade_inches = width / np.log10(high / low)
    steps = [1]
    if decade_inches > 1.7:
        steps = [1, 2, 5]
    if decade_inches > 3:
        steps = [1, 2, 3, 5]
    ax.xaxis.set_major_locator(LogLocator(subs=steps))
    ax.xaxis.set_major_formatter(lambda value, _: number_text(value))
    ax.xaxis.set_minor_formatter("")


def row_text(name: object, sample: str = "row") -> str:
    """The name of a row in a text: strings are unchanged, numbers as in "row 3"."""
    return shorten(name if isinstance(name, str) else f"{sample} {name}")


def response_label(
    response_name: str | None,
    output_name: Any = None,
    target_name: str | None = None,
    unit: str | None = None,
) -> str:
    """Name of the response, for an axis.

    Parameters
    ----------
    response_name : str or None
        The response: "prediction", "probability", "log-odds"..., or words of the
        user.
    output_name : class label or int, default=None
        The output; None where there is one without a name, or where several are shown.
    target_name : str, default=None
        Name of the target.
    unit : str, default=None
        Unit of the response.

    Examples
    --------
    >>> from sklearn_interpret._plotting.labels import response_label
    >>> response_label("prediction", target_name="cnt", unit="bikes")
    'Prediction of cnt (bikes)'
    >>> response_label("probability", "Healthy"), response_label("log-odds", 1, "spam")
    ('Probability of Healthy', 'Log-odds of spam = 1')
    """
    name = "response" if response_name is None else str(response_name)
    of_classes = name in OF_CLASSES
    is_number = isinstance(output_name, Integral) and not isinstance(output_name, bool)
    if output_name is None:
        subject = target_name if name in OF_NUMBERS else None
    elif target_name is not None and not isinstance(output_name, str):
        subject = f"{target_name} = {output_name}"
    else:
        kind = "class " if of_classes else "output "
        subject = f"{kind if is_number else ''}{output_name}"
    if name == "log":
        subject = subject or "the prediction"
    is_ours = name in (*OF_CLASSES, *OF_NUMBERS, *OF_TIMES)
    text = name[:1].upper() + name[1:] if is_ours else name
    if subject is not None:
        text += f" {'at' if name in OF_TIMES else 'of'} {subject}"
    return text if unit is None else f"{text} ({unit})"


def drawn_output_name(
    response_name: str | None, output_names: Sequence[Any] | None, output: int | None
) -> Any:
    """Name of the output that is drawn, or None if labels do not need it.

    Labels do not need the name of a single output if this is a mere position, or if the
    user has named the response.
    """
    if output_names is None or output is None:
        return None
    if len(output_names) == 1:
        made_up = isinstance(output_names[0], Integral) and output_names[0] == 0
        ours = *OF_CLASSES, *OF_NUMBERS, *OF_TIMES
        user_named = response_name not in (None, *ours)
        if user_named or (made_up and response_name not in OF_CLASSES):
            return None
    return output_names[output]
