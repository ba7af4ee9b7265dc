"""The stubs of the families say what the displays' signatures say."""

import runpy
from pathlib import Path

import pytest

pytest.importorskip("numpydoc")
pytest.importorskip("ruff")
SCRIPT = Path(__file__).parents[1] / ".ci" / "make_stubs.py"


@pytest.mark.thorough
def test_stubs_are_fresh():
    made = runpy.run_path(str(SCRIPT))["stubs"]()
    stale = {
        path.parent.name for path, text in made.items() if path.read_text() != text
    }
    assert stale == set(), "run python .ci/make_stubs.py"
