"""Names, numbers and tick labels that stay readable."""

from numbers import Integral

import numpy as np

NAME_WIDTH = 36
LEVEL_WIDTH = 16
CHARACTERS_PER_INCH = 11
UPRIGHT_PER_INCH = 7.5
NICE_STEPS = (1, 2, 2.5, 5, 10)
MINUS = "\N{MINUS SIGN}"  # as matplotlib writes it


def shorten(name, most=NAME_WIDTH):
    """A name of at most `most` characters: its beginning and its end.

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
    name = " ".join(str(name).split())
    if len(name) <= most:
        return name
    head = most // 2
    return f"{name[:head]}…{name[len(name) - (most - head - 1) :]}"


def literal(text):
    """Text that matplotlib draws as it stands, without taking "$" for mathematics."""
    return str(text).replace("$", r"\$")


def literal_lines(text, most=60):
    """A text line by line, each of at most so many characters, drawn as it stands."""
    return literal("\n".join(shorten(line, most) for line in str(text).split("\n")))


def wrapped(name, width=NAME_WIDTH):
    """A long name over two lines, shortened only if it needs more than these.

    Parameters
    ----------
    name : object
        The name.
    width : int, default=36
        Largest number of characters in a line.
    """
    name = shorten(name, 2 * width)
    if len(name) <= width:
        return name
    least = max(len(name) - width, width // 2)
    places = range(least - 1, width)
    # Between words if that can be, and never within a number.
    spaces = [p + 1 for p in places if name[p] == " "]
    marks = [p + 1 for p in places if name[p] in "_-./:" and not name[p + 1].isdigit()]
    cut = (spaces or marks or [width])[-1]
    return f"{name[:cut].rstrip()}\n{name[cut:].lstrip()}"


def number_text(value, digits=3, *, signed=False):
    """A number in few characters, whatever its size.

    Parameters
    ----------
    value : float
        The number.
    digits : int, default=3
        Significant digits; whole numbers below a million keep all of theirs.
    signed : bool, default=False
        Whether positive numbers have a sign, too.

    Examples
    --------
    >>> from sklearn_interpret._plotting.labels import number_text
    >>> number_text(1234.56), number_text(1.234e9), number_text(2.0, signed=True)
    ('1235', '1.23e9', '+2')
    """
    size = abs(value)
    if value == 0:
        text = "0"
    elif 1e-4 <= size < 10**6 - 0.5:
        whole = size >= 10**digits or float(value).is_integer()
        text = f"{size:.0f}" if whole else f"{size:.{digits}g}"
        if "e" in text:  # rounded up to a power of ten
            text = f"{float(text):.0f}"
    else:
        text = f"{size:.{digits}g}"
        if "e" in text:
            mantissa, exponent = text.split("e")
            text = f"{mantissa}e{int(exponent)}".replace("-", MINUS)
    sign = MINUS if value < 0 else "+" if signed and value != 0 else ""
    return sign + text


def number_beside(value, span):
    """A number with as many decimals as changes of the size `span` need.

    Examples
    --------
    >>> from sklearn_interpret._plotting.labels import number_beside
    >>> number_beside(152.1335, 40.0), number_beside(152.1335, 0.01)
    ('152.1', '152.1335')
    """
    if span > 0 and 1e-6 <= abs(value) < 1e9:
        decimals = int(np.clip(2 - np.floor(np.log10(span)), 0, 9))
        text = f"{abs(value):.{decimals}f}"
        return (MINUS if value < 0 and float(text) else "") + text
    return number_text(value, 4)


def two_lines(what, of):
    """Axis label that says what is shown, and of what, without being too long."""
    return literal(f"{what}\nof {shorten(of)}")


def shown_ticks(n, most):
    """Evenly spaced positions of at most `most` of `n` tick labels."""
    return np.arange(0, n, max(1, -(-n // max(most, 1))))


def label_levels(ax, levels, *, which="x", share=1.0):
    """Name the levels of a category along an axis, thinned and rotated when crowded.

    Parameters
    ----------
    ax : Axes
        With the levels at 0, 1, ...
    levels : sequence of str
        Names.
    which : {"x", "y"}, default="x"
        The axis.
    share : float, default=1.0
        Share of the axes' present size that it keeps when a colour bar comes in.
    """
    box, figure = ax.get_position(), ax.figure.figure
    if which == "y":
        height = box.height * figure.get_figheight()
        places = shown_ticks(len(levels), int(height * UPRIGHT_PER_INCH))
        texts = [literal(shorten(levels[place], LEVEL_WIDTH)) for place in places]
        ax.set_yticks(places, texts, fontsize=None if len(texts) <= 12 else "small")
        return
    width = share * box.width * figure.get_figwidth()
    places = shown_ticks(len(levels), int(width * UPRIGHT_PER_INCH))
    texts = [literal(shorten(levels[place], LEVEL_WIDTH)) for place in places]
    ax.set_xticks(places, texts, **_label_style(texts, width))


def _label_style(texts, width):
    """Level as long as the labels fit, then slanted, then upright."""
    if sum(map(len, texts)) + 2 * len(texts) <= CHARACTERS_PER_INCH * width:
        return {"rotation": 0}
    if len(texts) <= 12:
        return {"rotation": 40, "ha": "right", "rotation_mode": "anchor"}
    return {"rotation": 90, "fontsize": "small"}


def tidy_number_ticks(ax, values, which="x", most=6):
    """Few ticks, at whole numbers where all values are whole."""
    from matplotlib.ticker import MaxNLocator

    whole = bool(len(values)) and bool(np.all(values == np.round(values)))
    axis = ax.xaxis if which == "x" else ax.yaxis
    locator = MaxNLocator(nbins=most, steps=NICE_STEPS, integer=whole)
    axis.set_major_locator(locator)


def plain_number_ticks(ax, which="x", most=6):
    """Few round ticks without an offset that readers would have to add."""
    from matplotlib.ticker import MaxNLocator, ScalarFormatter

    axis = ax.xaxis if which == "x" else ax.yaxis
    axis.set_major_locator(MaxNLocator(nbins=most, steps=NICE_STEPS))
    low, high = sorted(ax.get_xlim() if which == "x" else ax.get_ylim())
    # Numbers that agree in many digits would be all the same without one.
    alike = abs(low / 2 + high / 2) / 1e8 > high - low
    formatter = ScalarFormatter(useOffset=bool(alike))
    formatter.set_powerlimits((-4, 6))
    axis.set_major_formatter(formatter)


def response_of(name, output_names, output):
    """The response, and which output of it where that has a name."""
    if output_names is None or output is None:
        return name
    return f"{name}[{output_names[output]}]"


def drawn_response(name, output_names, output):
    """The response that is drawn, with its output where there are several.

    Parameters
    ----------
    name : str or None
        What the response is called.
    output_names : sequence
        Class labels or positions.
    output : int
        Position of the output.

    Returns
    -------
    str
        A single output belongs to a name that is given; without such a name it is
        shown, unless it is the position that makes up for one.
    """
    single = len(output_names) == 1
    if name is not None:
        return response_of(name, None if single else output_names, output)
    made_up = isinstance(output_names[0], Integral) and output_names[0] == 0
    return response_of("response", None if single and made_up else output_names, output)
