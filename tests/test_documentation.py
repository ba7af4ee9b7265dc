"""The pages under ``doc/`` are well formed, complete and linked.

What their examples print is checked by pytest itself, which runs them as doctests.
"""

import importlib
import pkgutil
import re
from pathlib import Path

import pytest
from docutils.core import publish_doctree
from docutils.nodes import reference, system_message

import sklearn_interpret

DOC = Path(__file__).parents[1] / "doc"
PAGES = sorted(DOC.rglob("*.rst"))
KINDS = {"feature", "change", "fix", "speed", "removal"}


def page_id(page):
    """Return a short name of a page for pytest."""
    return page.relative_to(DOC).as_posix()


def read(page):
    """Return the page as a tree of docutils, with its problems kept inside."""
    source = page.read_text(encoding="utf-8")
    settings = {"halt_level": 5, "warning_stream": False}
    return publish_doctree(source, str(page), settings_overrides=settings)


def public_names():
    """Return the full names of what the public modules declare public."""
    found = pkgutil.iter_modules(sklearn_interpret.__path__, "sklearn_interpret.")
    modules = [
        importlib.import_module(module.name)
        for module in found
        if not module.name.rpartition(".")[2].startswith("_")
    ]
    return sorted(f"{m.__name__}.{name}" for m in modules for name in m.__all__)


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_page_is_well_formed(page):
    """Plain docutils reads the page without any complaint."""
    problems = read(page).findall(system_message)
    # Level 1 is a remark, as on headings that recur.
    assert [node.astext() for node in problems if node["level"] > 1] == []


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_links_lead_to_files(page):
    """Every link to a file of the documentation leads somewhere."""
    targets = [
        node["refuri"] for node in read(page).findall(reference) if "refuri" in node
    ]
    local = [target for target in targets if "//" not in target]
    assert [to for to in local if not (page.parent / to).is_file()] == []


def test_every_page_can_be_reached():
    """From the index one comes to every page."""
    seen, waiting = set(), [DOC / "index.rst"]
    while waiting:
        page = waiting.pop()
        if page in seen or page.suffix != ".rst":
            continue
        seen.add(page)
        links = [node.get("refuri", "") for node in read(page).findall(reference)]
        waiting += [(page.parent / link).resolve() for link in links if link]
    assert sorted(seen) == PAGES


def test_api_page_names_everything_public():
    """``doc/api.rst`` and the ``__all__`` of the public modules agree."""
    text = (DOC / "api.rst").read_text(encoding="utf-8")
    listed = re.findall(r"^- ``(sklearn_interpret[\w.]+)``", text, re.MULTILINE)
    assert sorted(listed) == public_names()


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
