"""Properties at two speeds; conftest.py chooses what else the quick run leaves out."""

from math import ceil

from hypothesis import settings

# Examples of a property that names no number of its own, by profile of hypothesis.
EXAMPLES = {"quick": 8, "thorough": 30}


def examples(n):
    """Settings of a property of n examples; the quick run tries a share of them."""
    share = settings.default.max_examples / EXAMPLES["thorough"]
    return settings(max_examples=ceil(n * share))
