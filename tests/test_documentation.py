"""What is said of the package under ``doc/`` is complete.

That pages are well formed and linked is seen when the site is built, with warnings as
errors. What their examples print is checked by pytest itself, as doctests.
"""

import importlib
import pkgutil
import re
import tomllib
from pathlib import Path

import sklearn_interpret

DOC = Path(__file__).parents[1] / "doc"


def public_names():
    """Return the full names of what the public modules declare public."""
    found = pkgutil.iter_modules(sklearn_interpret.__path__, "sklearn_interpret.")
    modules = [
        importlib.import_module(module.name)
        for module in found
        if not module.name.rpartition(".")[2].startswith("_")
    ]
    return sorted(f"{m.__name__}.{name}" for m in modules for name in m.__all__)


def test_api_page_names_everything_public():
    """``doc/api.rst`` and the ``__all__`` of the public modules agree."""
    text = (DOC / "api.rst").read_text(encoding="utf-8")
    listed = re.findall(r"^   (sklearn_interpret[\w.]+)", text, re.MULTILINE)
    assert sorted(listed) == public_names()


def test_every_public_name_is_in_the_guide():
    """A page of the guide speaks of every public class and function."""
    pages = (DOC / "user_guide").glob("*.rst")
    said = set(re.findall(r"\w+", " ".join(p.read_text("utf-8") for p in pages)))
    short = {name.rpartition(".")[2] for name in public_names()}
    assert sorted(short - said) == []


def test_fragments_are_named_by_kind():
    """towncrier would pass over a file with another name."""
    settings = tomllib.loads((DOC.parent / "pyproject.toml").read_text("utf-8"))
    kinds = "|".join(k["directory"] for k in settings["tool"]["towncrier"]["type"])
    names = {file.name for file in (DOC / "changes").iterdir()} - {"README.md"}
    usual = re.compile(rf"(\d+|\+[a-z0-9-]+)\.({kinds})\.md")
    assert [name for name in sorted(names) if not usual.fullmatch(name)] == []
