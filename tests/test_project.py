"""The files around the package agree with one another."""

import re
import tomllib
from pathlib import Path

import pytest

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
        lower_bounds(extra)["pandas"] for extra in extras if "pandas" in str(extra)
    ]
    assert len(asked) >= 2
    assert set(asked) == {dict(PINS)["pandas"]}
