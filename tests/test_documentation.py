"""The pages under ``doc/`` can be read, and notes of changes are found."""

import pkgutil
import re
import tomllib
from importlib import import_module
from pathlib import Path

import sklearn_interpret

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


def test_each_display_is_explained():
    """Each public display, and no other class, has a section and a picture."""
    modules = [
        import_module(f"sklearn_interpret.{module.name}")
        for module in pkgutil.iter_modules(sklearn_interpret.__path__)
        if module.ispkg and not module.name.startswith("_")
    ]
    public = {n for m in modules for n in m.__all__ if n.endswith("Display")}
    page = (DOC / "user_guide" / "reading_figures.rst").read_text("utf-8")
    script = (DOC / "_ext" / "reading.py").read_text("utf-8")
    found = [
        re.findall(r"^\.\. _read-(\w+Display):$", page, re.MULTILINE),
        re.findall(r"^\.\. reading:: (\w+)$", page, re.MULTILINE),
        re.findall(r"^@of\(\w+\.(\w+)", script, re.MULTILINE),
    ]
    assert [sorted(names) for names in found] == [sorted(public)] * len(found)
