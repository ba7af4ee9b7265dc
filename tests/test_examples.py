"""The quickstart runs; the site runs the scripts of the gallery, warnings as errors."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "doc" / "examples"
QUICKSTART = FOLDER / "quickstart.py"
GALLERY = sorted(FOLDER.glob("*/plot_*.py"))


def test_quickstart_runs_in_an_interpreter_of_its_own(tmp_path):
    """It ends well, warns of nothing where warnings are errors, and saves figures."""
    run = subprocess.run(
        [sys.executable, "-W", "error", str(QUICKSTART)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT), "MPLBACKEND": "Agg"},
    )
    assert run.returncode == 0, run.stderr
    assert run.stderr == ""
    assert [path.name for path in tmp_path.iterdir()] == ["figures"]
    saved = sorted((tmp_path / "figures").iterdir())
    report = saved.pop([path.name for path in saved].index("report.html"))
    assert report.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert saved
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in saved)
    assert "figures" in run.stdout


def test_names_of_examples_differ():
    """The gallery has one page for each name, whatever its folder."""
    names = [script.name for script in GALLERY]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize(
    "folder", sorted({script.parent for script in GALLERY}), ids=lambda path: path.name
)
def test_folder_has_a_heading(folder):
    """A title that is underlined, and a sentence."""
    title, line, _, sentence = (folder / "README.txt").read_text().splitlines()[:4]
    assert line == len(title) * "-"
    assert sentence
