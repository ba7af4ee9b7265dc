"""Decimals: numbers of few digits, as they are written down."""

import numpy as np

from sklearn_interpret._model.rows.number_format import FEWEST_DIGITS, rounded_text

# Doubles hold all decimals of as many digits; computed numbers mostly have more.
_DIGITS = np.finfo(np.float64).precision


def as_decimal(number: float | np.floating) -> float:
    """The double nearest to the shortest decimal of a number of any precision.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_interpret._model.rows.decimals import as_decimal
    >>> float(np.float32(0.1)), as_decimal(np.float32(0.1))
    (0.10000000149011612, 0.1)
    """
    return float(str(number))


def short_threshold(below: float, above: float) -> float:
    """The number of fewest digits, three or more, next above a value.

    It is at least the first number, and less than the second.

    Examples
    --------
    >>> from sklearn_interpret._model.rows.decimals import short_threshold
    >>> short_threshold(2.71828, 2.7192)
    2.719
    """
    for digits in range(FEWEST_DIGITS, 18):
        short = float(rounded_text(below, down=False, digits=digits))
        if below <= short < above:
            return short
    return float(below)


def decimal_text(entry: object) -> str | None:
    """All digits of a number, or None: of no number, or of more than 15 digits.

    Examples
    --------
    >>> from sklearn_interpret._model.rows.decimals import decimal_text
    >>> decimal_text(1234567.25), decimal_text(14.0), decimal_text(1 / 3)
    ('1234567.25', '14', None)
    """
    if isinstance(entry, int | np.integer) and not isinstance(entry, bool):
        return str(entry)
    if not isinstance(entry, float | np.floating) or not np.isfinite(entry):
        return None
    text = repr(as_decimal(entry)).removesuffix(".0")
    digits = text.partition("e")[0].replace(".", "").lstrip("-0")
    return text if len(digits) <= _DIGITS else None
