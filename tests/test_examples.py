"""The quickstart runs; the site runs the scripts of the gallery, warnings as errors."""

import runpy
from functools import partial
from pathlib import Path

import pytest

from sklearn_interpret import report

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "doc" / "examples"
QUICKSTART = FOLDER / "quickstart.py"
GALLERY = sorted(FOLDER.glob("*/plot_*.py"))


@pytest.mark.thorough
def test_quickstart_saves_figures_and_a_report(tmp_path, monkeypatch, capsys):
    """A short report: continuous integration runs the script as it is."""
    short = partial(report.InspectionReport, checks=["chance"], sections=["overview"])
    monkeypatch.setattr(report, "InspectionReport", short)
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(QUICKSTART), run_name="__main__")
    assert "figures" in capsys.readouterr().out
    assert [path.name for path in tmp_path.iterdir()] == ["figures"]
    saved = sorted((tmp_path / "figures").iterdir())
    page = saved.pop([path.name for path in saved].index("report.html"))
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert saved
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in saved)


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
