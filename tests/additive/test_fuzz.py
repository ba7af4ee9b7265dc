"""Anything that a user may give the family: an error on purpose, or numbers."""

from tests.fuzzing import fuzz
from tests.instances import ADDITIVE


def test_anything(request):
    fuzz(request, {c: rows[0] for c, rows in ADDITIVE.items()})
