"""Settings for the tests and for the doctests of the package and the documentation."""

import os
import sys

import pytest

# Before anything imports matplotlib: no test may need a screen.
os.environ["MPLBACKEND"] = "Agg"


@pytest.fixture(autouse=True)
def close_figures():
    """Leave no figure behind, without importing matplotlib for tests that draw none."""
    yield
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is not None:
        pyplot.close("all")
