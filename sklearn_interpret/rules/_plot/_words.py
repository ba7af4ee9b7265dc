"""Rules in words, over a few lines."""

import re
from textwrap import wrap

from sklearn_interpret._plotting.labels import shorten

_NO_BREAK = "\N{NO-BREAK SPACE}"
_AROUND_SIGN = r" (?=[<>=])|(?<=[<>=]) "


def lines_of(conditions, letters, most):
    """Conditions in words, over at most so many lines of so many letters.

    A condition that fits into a line is not parted, and a bound not from its sign.
    """
    whole = [
        re.sub(" " if len(each) + 4 <= letters else _AROUND_SIGN, _NO_BREAK, each)
        for each in conditions
    ]
    words = f"{_NO_BREAK}and ".join(whole)
    lines = [line.replace(_NO_BREAK, " ") for line in wrap(words, letters)]
    if len(lines) > most:
        lines = [*lines[: most - 1], shorten(" ".join(lines[most - 1 :]), letters)]
    return lines
