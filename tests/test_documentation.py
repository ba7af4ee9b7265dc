"""What is said of the package under ``doc/`` is complete.

That pages are well formed and linked is seen when the site is built, with warnings as
errors. What their examples print is checked by pytest itself, as doctests.
"""

import importlib
import pkgutil
import re
from pathlib import Path

import sklearn_interpret

DOC = Path(__file__).parents[1] / "doc"
KINDS = {"feature", "change", "fix", "speed", "removal"}


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
    """Each change is ``<subject>.<kind>.md`` and says something."""
    fragments = [
        file for file in (DOC / "changes").iterdir() if file.name != "README.md"
    ]
    assert fragments
    for fragment in fragments:
        subject, kind, suffix = fragment.name.split(".")
        assert re.fullmatch(r"[a-z0-9-]+", subject)
        assert kind in KINDS
        assert suffix == "md"
        assert fragment.read_text(encoding="utf-8").strip()
