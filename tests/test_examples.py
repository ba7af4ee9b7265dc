"""Every script under ``doc/examples`` runs, quietly, without a screen, and draws."""

import os
import runpy
import subprocess
import sys
from pathlib import Path

import matplotlib
import pytest
import sklearn

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted((ROOT / "doc" / "examples").rglob("*.py"))
QUICKSTART = ROOT / "doc" / "examples" / "quickstart.py"


def check_figures(folder, printed):
    """The script has left its figures in ``figures/``, and says so."""
    assert [path.name for path in folder.iterdir()] == ["figures"]
    figures = sorted((folder / "figures").iterdir())
    assert figures
    assert all(figure.read_bytes().startswith(b"\x89PNG") for figure in figures)
    assert "figures" in printed


def test_quickstart_runs_in_an_interpreter_of_its_own(tmp_path):
    """It ends well and warns of nothing, where warnings are errors."""
    run = subprocess.run(
        [sys.executable, "-W", "error", str(QUICKSTART)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT), "MPLBACKEND": "Agg"},
    )
    assert run.returncode == 0, run.stderr
    assert run.stderr == ""
    check_figures(tmp_path, run.stdout)


@pytest.mark.parametrize(
    "script", [e for e in EXAMPLES if e != QUICKSTART], ids=lambda script: script.stem
)
def test_example_runs_and_saves_figures(script, tmp_path, monkeypatch, capfd):
    """It ends well and warns of nothing; here, for an interpreter takes seconds."""
    monkeypatch.chdir(tmp_path)
    with sklearn.config_context(), matplotlib.rc_context():
        runpy.run_path(str(script), run_name="__main__")
    printed = capfd.readouterr()
    assert printed.err == ""
    check_figures(tmp_path, printed.out)
