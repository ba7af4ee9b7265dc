"""Numbers as text: one format for figures, tables, texts and HTML."""

from collections.abc import Iterator
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_interpret._model.rows.axes import label_text
from sklearn_interpret._model.rows.dates import date_text, dates_within, is_date

MINUS = "\N{MINUS SIGN}"  # as matplotlib writes it
SMALLEST_P = 1e-4  # smaller p-values are written as below it
NOISE = 1e-9  # numbers below this share of a column's largest are rounding errors
FEWEST_DIGITS = 3  # of thresholds
MOST_DIGITS = 17  # as many digits determine any double
LARGEST_WHOLE = 1e15  # whole numbers below are written in full: doubles hold them
# Doubles hold all decimals of as many digits; computed numbers mostly have more.
_EXACT_DIGITS = np.finfo(np.float64).precision


def number_text(value: float, digits: int = 3, *, signed: bool = False) -> str:
    """A number of any size in few characters.

    Parameters
    ----------
    value : float
        The number.
    digits : int, default=3
        Significant digits; whole numbers below a million keep all digits.
    signed : bool, default=False
        Whether positive numbers have a sign, too.

    Examples
    --------
    >>> from sklearn_interpret._model.rows.number_format import number_text
    >>> number_text(1234.56), number_text(1.234e9), number_text(2.0, signed=True)
    ('1235', '1.23e9', '+2')
    """
    size = abs(value)
    if value == 0:
        text = "0"
    elif 1e-4 <= size < 10**6 - 0.5:
        no_decimals = size >= 10**digits or float(value).is_integer()
        text = f"{size:.0f}" if no_decimals else f"{size:.{digits}g}"
        if "e" in text:  # rounded up to a power of ten
            text = f"{float(text):.0f}"
    else:
        text = f"{size:.{digits}g}"
        if "e" in text:
            mantissa, exponent = text.split("e")
            text = f"{mantissa}e{int(exponent)}".replace("-", MINUS)
    sign = MINUS if value < 0 else "+" if signed and value != 0 else ""
    return sign + text


def p_text(pvalue: float) -> str:
    """A p-value in few characters; "" for NaN.

    Examples
    --------
    >>> from sklearn_interpret._model.rows.number_format import p_text
    >>> p_text(0.04975), p_text(1e-9)
    ('p = 0.0498', 'p < 0.0001')
    """
    if np.isnan(pvalue):
        return ""
    if pvalue < SMALLEST_P:
        return f"p < {SMALLEST_P:.4f}"
    return f"p = {number_text(pvalue)}"


def column_texts(
    values: ArrayLike, digits: int = 3, *, signed: bool = False
) -> list[str]:
    """Numbers of one column with the same number of decimals.

    Parameters
    ----------
    values : array-like of shape (n,)
        The numbers; NaN becomes "".
    digits : int, default=3
        Significant digits of the largest; whole numbers below a million keep theirs.
        Decimals that are zero in all numbers are left out.
    signed : bool, default=False
        Whether positive numbers have a sign, too.

    Returns
    -------
    list of str

    Examples
    --------
    >>> from sklearn_interpret._model.rows.number_format import column_texts
    >>> column_texts([2.345, 0.1, 1e-17]), column_texts([3, 20], signed=True)
    (['2.35', '0.10', '0.00'], ['+3', '+20'])
    """
    numbers = np.asarray(values, dtype=np.float64)
    largest = np.abs(numbers[np.isfinite(numbers)]).max(initial=0.0)
    # The power of the rounded number: 9.996 is 10.0.
    power = int(f"{largest:.{digits - 1}e}".split("e")[1])
    unit, exponent = 1.0, ""
    if largest > 0 and not -4 <= power < 6:  # all in units of a power of ten
        unit, exponent = 10.0 ** max(power, -300), f"e{power}".replace("-", MINUS)
        power = 0
    decimals = max(digits - 1 - power, 0)
    sizes = [f"{abs(number) / unit:.{decimals}f}" for number in numbers]
    while decimals and all(size.endswith("0") for size in sizes if size[0].isdigit()):
        sizes, decimals = ([size.removesuffix("0") for size in sizes], decimals - 1)
    return [
        _signed_text(number, size.removesuffix("."), exponent, signed)
        for number, size in zip(numbers, sizes, strict=True)
    ]


def _signed_text(value: float, size: str, exponent: str, signed: bool) -> str:
    """Text of the size of a number, with its sign; nothing for a missing one."""
    if np.isnan(value):
        return ""
    if size[0].isdigit() and float(size) == 0:
        return size
    return (MINUS if value < 0 else "+" if signed else "") + size + exponent


def number_beside(value: float, span: float) -> str:
    """A number with as many decimals as changes of the size `span` need.

    Examples
    --------
    >>> from sklearn_interpret._model.rows.number_format import number_beside
    >>> number_beside(152.1335, 40.0), number_beside(152.1335, 0.01)
    ('152.1', '152.1335')
    >>> number_beside(5e-9, 0.2)
    '0.000'
    """
    if span > 0 and 1e-6 <= max(abs(value), span) < 1e9:
        decimals = int(np.clip(2 - np.floor(np.log10(span)), 0, 9))
        text = f"{abs(value):.{decimals}f}"
        return (MINUS if value < 0 and float(text) else "") + text
    return number_text(value, 4)


def value_text(value: Any, column: NDArray[Any] | None = None) -> str:
    """A short text of a value, as exact as the differences in its column."""
    number = isinstance(value, int | float | np.integer | np.floating)
    if not number or isinstance(value, bool) or not np.isfinite(value):
        return label_text(value)
    value = float(value)
    if value.is_integer() and 1e6 <= abs(value) < LARGEST_WHOLE:
        return f"{value:.0f}".replace("-", MINUS)
    if column is None or column.dtype.kind != "f":
        return number_text(value, 4)
    finite = column[np.isfinite(column)].astype(np.float64)
    if abs(value) < NOISE * np.abs(finite).max():
        return "0"
    text = number_text(value, 4)
    if not np.array_equal(finite, np.round(finite)):
        text = number_beside(value, finite.max() / 2 - finite.min() / 2)
    # A column of few large numbers does not say how exact small ones are.
    return text if text.strip(f"0.{MINUS}") else number_text(value, 2)


def entry_text(entry: Any, digits: int | None = 4, *, signed: bool = False) -> str:
    """A level, or a number for plain text: as `number_text`, with the sign "-".

    `digits` None writes all digits.

    Examples
    --------
    >>> from sklearn_interpret._model.rows.number_format import entry_text
    >>> entry_text("nurse"), entry_text(-12345.678), entry_text(0.1 + 0.2, None)
    ('nurse', '-12346', '0.30000000000000004')
    """
    if not isinstance(entry, float | np.floating):
        return date_text(entry) if is_date(entry) else str(entry)
    if digits is None:
        return repr(float(entry)).removesuffix(".0")
    return number_text(float(entry), digits, signed=signed).replace(MINUS, "-")


def rounded_text(value: float, *, down: bool, digits: int = 3) -> str:
    """A number with `digits` significant digits, rounded down or up."""
    context = Context(prec=digits, rounding=ROUND_FLOOR if down else ROUND_CEILING)
    return entry_text(float(context.plus(Decimal(repr(float(value))))), digits)


def only_number(
    values: NDArray[np.float64], low: float | None, high: float | None
) -> float | None:
    """The one of two whole numbers in the interval (low, high], or None.

    Also None if there are more values, or fractions. An end of None is open.
    """
    if len(values) != 2 or not np.array_equal(values, np.rint(values)):
        return None
    low, high = -np.inf if low is None else low, np.inf if high is None else high
    inside = [float(value) for value in values if low < value <= high]
    return inside[0] if len(inside) == 1 else None


def interval_text(
    low: float,
    high: float,
    change: float = np.inf,
    date_dtype: np.dtype[Any] | None = None,
) -> str:
    """An interval as text, with the digits that its width or `change` needs.

    Ends are rounded inward: the interval in the text lies within the true one. Ends of
    dates are days.
    """
    if np.isinf(low) and np.isinf(high):
        return "anything"
    if date_dtype is not None:
        smallest, largest = map(date_text, dates_within(low, high, date_dtype))
        if np.isinf(low):
            return f"at most {largest}"
        return f"at least {smallest}" if np.isinf(high) else f"{smallest} to {largest}"
    span = np.fmin(change, high - low)
    if np.isinf(low):
        return f"at most {_end_text(high, span)}"
    smallest = _end_text(low, span, down=False)
    if np.isinf(high):
        return f"at least {smallest}"
    return f"{smallest} to {_end_text(high, span)}"


def _end_text(value: float, span: float, *, down: bool = True) -> str:
    """A number of at least four digits, and of those that resolve `span` / 100."""
    size, digits = abs(value), 4
    if 1 < size / span < np.inf:
        digits = max(digits, min(int(np.log10(size / span)) + 3, MOST_DIGITS))
    if size < 1e6:
        digits = max(digits, len(str(int(size))))
    return rounded_text(value, down=down, digits=digits)


def rounded_between(threshold: float, values: NDArray[Any]) -> str:
    """A threshold in few digits that splits numbers as it does itself.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_interpret._model.rows.number_format import rounded_between
    >>> rounded_between(16.79512, np.array([16.7, 16.9]))
    '16.8'
    """
    below = values[values <= threshold].max(initial=-np.inf)
    above = values[values > threshold].min(initial=np.inf)
    for text in _roundings(threshold):
        if below <= float(text) < above:
            break
    number = float(text)
    if 1e-4 <= abs(number) < 1e6:
        text = np.format_float_positional(number, trim="-")
    return text.replace("-", MINUS)


def with_same_decimals(texts: list[str]) -> list[str]:
    """Numbers, with as many zeros at their ends that all have the same decimals.

    Examples
    --------
    >>> from sklearn_interpret._model.rows.number_format import with_same_decimals
    >>> with_same_decimals(["16.8", "9", "1e7"])
    ['16.8', '9.0', '1e7']
    """
    decimals_of = [len(text.partition(".")[2]) for text in texts if "e" not in text]
    n_decimals = max(decimals_of, default=0)

    def pad(text: str) -> str:
        if "e" in text or not n_decimals:
            return text
        integer, _, decimals = text.partition(".")
        return f"{integer}.{decimals:0<{n_decimals}}"

    return list(map(pad, texts))


def _roundings(number: float) -> Iterator[str]:
    """A number in more and more digits, rounded to nearest and down."""
    for digits in range(FEWEST_DIGITS, MOST_DIGITS + 1):
        nearest = f"{number:.{digits}g}"
        yield nearest
        if number and float(nearest) > number:
            unit = 10.0 ** (np.floor(np.log10(abs(number))) - digits + 1)
            yield f"{float(nearest) - unit:.{digits}g}"


def as_decimal(number: float | np.floating) -> float:
    """The double nearest to the shortest decimal of a number of any precision.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_interpret._model.rows.number_format import as_decimal
    >>> float(np.float32(0.1)), as_decimal(np.float32(0.1))
    (0.10000000149011612, 0.1)
    """
    return float(str(number))


def short_threshold(below: float, above: float) -> float:
    """The number of fewest digits, three or more, next above a value.

    It is at least the first number, and less than the second.

    Examples
    --------
    >>> from sklearn_interpret._model.rows.number_format import short_threshold
    >>> short_threshold(2.71828, 2.7192)
    2.719
    """
    for digits in range(FEWEST_DIGITS, MOST_DIGITS + 1):
        short = float(rounded_text(below, down=False, digits=digits))
        if below <= short < above:
            return short
    return float(below)


def decimal_text(entry: Any) -> str | None:
    """All digits of a number, or None: of no number, or of more than 15 digits.

    Examples
    --------
    >>> from sklearn_interpret._model.rows.number_format import decimal_text
    >>> decimal_text(1234567.25), decimal_text(14.0), decimal_text(1 / 3)
    ('1234567.25', '14', None)
    """
    if isinstance(entry, int | np.integer) and not isinstance(entry, bool):
        return str(entry)
    if not isinstance(entry, float | np.floating) or not np.isfinite(entry):
        return None
    text = repr(as_decimal(entry)).removesuffix(".0")
    digits = text.partition("e")[0].replace(".", "").lstrip("-0")
    return text if len(digits) <= _EXACT_DIGITS else None
