"""Bounds as text, rounded so that the text stays true."""

from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal

import numpy as np


def rounded_text(value, *, down, digits=3):
    """A number with `digits` significant digits, rounded down or up."""
    context = Context(prec=digits, rounding=ROUND_FLOOR if down else ROUND_CEILING)
    rounded = context.plus(Decimal(repr(float(value))))
    return f"{float(rounded):.{digits}g}"


def only_number(values, low, high):
    """The one of two whole numbers in the interval (low, high], or None.

    Also None if there are more values, or fractions. An end of None is open.
    """
    if len(values) != 2 or not np.array_equal(values, np.rint(values)):
        return None
    low, high = -np.inf if low is None else low, np.inf if high is None else high
    inside = [float(value) for value in values if low < value <= high]
    return inside[0] if len(inside) == 1 else None


def interval_text(low, high, change=np.inf):
    """An interval as text, with the digits that its width or `change` needs.

    Ends are rounded inward: the interval in the text lies within the true one.
    """
    if np.isinf(low) and np.isinf(high):
        return "anything"
    span = np.fmin(change, high - low)
    if np.isinf(low):
        return f"at most {_end_text(high, span)}"
    least = _end_text(low, span, down=False)
    if np.isinf(high):
        return f"at least {least}"
    return f"{least} to {_end_text(high, span)}"


def _end_text(value, span, *, down=True):
    """A number of at least four digits, and of those that resolve `span` / 100."""
    size, digits = abs(value), 4
    if 1 < size / span < np.inf:
        digits = max(digits, min(int(np.log10(size / span)) + 3, 17))
    if size < 1e6:
        digits = max(digits, len(str(int(size))))
    return rounded_text(value, down=down, digits=digits)


def entry_text(entry, digits=4):
    """A level, or a number with `digits` significant digits (None: all)."""
    if not isinstance(entry, float | np.floating):
        return str(entry)
    if digits is None:
        return repr(float(entry)).removesuffix(".0")
    return f"{entry:.{digits}g}"
