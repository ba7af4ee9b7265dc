"""Two speeds: what every run tries, and what `pytest --thorough` tries beside."""

from math import ceil

import pytest
from hypothesis import settings

# Examples of a property that names no number of its own, by profile of hypothesis.
EXAMPLES = {"quick": 8, "thorough": 30}


def examples(n):
    """Settings of a property of n examples; the quick run tries a share of them."""
    share = settings.default.max_examples / EXAMPLES["thorough"]
    return settings(max_examples=ceil(n * share))


def first(values, n=1):
    """Values to parametrize by: the first n in every run, all in a thorough one."""
    return [*values[:n], *more(values[n:])]


def more(values):
    """Values, or tuples of them, that a thorough run alone parametrizes by."""
    return [
        pytest.param(*(v if isinstance(v, tuple) else (v,)), marks=pytest.mark.thorough)
        for v in values
    ]
