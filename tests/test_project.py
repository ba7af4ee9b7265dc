"""The files around the package agree with one another."""

import re
import tomllib
from pathlib import Path

import pytest

from sklearn_interpret import __version__

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))[
    "project"
]
OLDEST = (ROOT / ".ci" / "oldest.txt").read_text(encoding="utf-8")
PINS = re.findall(r"^([\w-]+)==([\d.]+)\.\*$", OLDEST, re.MULTILINE)


def lower_bounds(requirements):
    """Return the lower bound of each requirement, by name."""
    found = [re.match(r"([\w-]+)[^>]*>=([\d.]+)", text) for text in requirements]
    return {match[1]: match[2] for match in found if match}


@pytest.mark.parametrize(("name", "version"), PINS)
def test_oldest_versions_are_the_lower_bounds(name, version):
    """What ``.ci/oldest`` installs is what the project promises to work with."""
    tested = PROJECT["dependencies"] + PROJECT["optional-dependencies"]["test"]
    assert lower_bounds(tested)[name] == version


def test_every_dependency_is_tested_at_its_oldest():
    """No dependency of the package is left out of ``.ci/oldest.txt``."""
    assert lower_bounds(PROJECT["dependencies"]).keys() <= dict(PINS).keys()


def test_extras_agree_on_pandas():
    """Those extras that ask for pandas ask for the same."""
    extras = PROJECT["optional-dependencies"].values()
    asked = [
        bounds["pandas"] for bounds in map(lower_bounds, extras) if "pandas" in bounds
    ]
    assert len(asked) >= 2
    assert set(asked) == {dict(PINS)["pandas"]}


def test_version_is_the_newest_in_the_release_notes_and_the_citation():
    """A release changes all three."""
    notes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.search(r"^## ([\d.]+) \(", notes, re.MULTILINE)[1] == __version__
    assert re.search(r"^version: (.*)$", citation, re.MULTILINE)[1] == __version__


def test_workflows_start_at_the_oldest_python():
    """The matrix of tests begins with what ``requires-python`` promises."""
    workflow = (ROOT / ".github" / "workflows" / "tests.yml").read_text("utf-8")
    (oldest,) = re.findall(r'python: \["([\d.]+)"', workflow)
    assert PROJECT["requires-python"] == f">={oldest}"


def test_hooks_need_no_network():
    """Every hook runs a tool of the environment."""
    hooks = (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")
    assert set(re.findall(r"repo: (\w+)", hooks)) == {"local"}
    assert hooks.count("- id:") == hooks.count("language: system")
