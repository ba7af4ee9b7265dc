"""Notes of changes under ``doc/`` are found by what makes the list of them."""

import re
import tomllib
from pathlib import Path

DOC = Path(__file__).parents[1] / "doc"


def test_fragments_are_named_by_kind():
    """towncrier would pass over a file with another name."""
    settings = tomllib.loads((DOC.parent / "pyproject.toml").read_text("utf-8"))
    kinds = "|".join(k["directory"] for k in settings["tool"]["towncrier"]["type"])
    names = {file.name for file in (DOC / "changes").iterdir()} - {"README.md"}
    usual = re.compile(rf"(\d+|\+[a-z0-9-]+)\.({kinds})\.md")
    assert [name for name in sorted(names) if not usual.fullmatch(name)] == []
