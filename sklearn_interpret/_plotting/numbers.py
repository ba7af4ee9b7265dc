"""Numbers as texts and as ticks, whatever their size."""

import numpy as np

from sklearn_interpret._plotting.labels import NICE_STEPS

MINUS = "\N{MINUS SIGN}"  # as matplotlib writes it


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
    >>> from sklearn_interpret._plotting.numbers import number_text
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
    >>> from sklearn_interpret._plotting.numbers import number_beside
    >>> number_beside(152.1335, 40.0), number_beside(152.1335, 0.01)
    ('152.1', '152.1335')
    """
    if span > 0 and 1e-6 <= abs(value) < 1e9:
        decimals = int(np.clip(2 - np.floor(np.log10(span)), 0, 9))
        text = f"{abs(value):.{decimals}f}"
        return (MINUS if value < 0 and float(text) else "") + text
    return number_text(value, 4)


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
