"""The pages under ``doc/`` can be read, and notes of changes are found."""

import re
import tomllib
from pathlib import Path

DOC = Path(__file__).parents[1] / "doc"
BUILT = {"generated", "auto_examples", "_build"}


def test_fragments_are_named_by_kind():
    """towncrier would pass over a file with another name."""
    settings = tomllib.loads((DOC.parent / "pyproject.toml").read_text("utf-8"))
    kinds = "|".join(k["directory"] for k in settings["tool"]["towncrier"]["type"])
    names = {file.name for file in (DOC / "changes").iterdir()} - {"README.md"}
    usual = re.compile(rf"(\d+|\+[a-z0-9-]+)\.({kinds})\.md")
    assert [name for name in sorted(names) if not usual.fullmatch(name)] == []


def test_code_fits_its_box():
    """The column of a page shows 84 characters of code; more would be cut."""
    pages = [page for page in DOC.rglob("*.rst") if not set(page.parts) & BUILT]
    assert len(pages) > 25
    code = re.compile(r" *(>>>|\.\.\.)( |$)")
    long = {
        f"{page.name}:{number}"
        for page in pages
        for number, line in enumerate(page.read_text("utf-8").splitlines(), 1)
        if code.match(line) and len(line) > 84 + len(line) - len(line.lstrip())
    }
    assert not long
