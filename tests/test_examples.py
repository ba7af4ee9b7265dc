"""Every script under ``doc/examples`` runs, quietly, without a screen, and draws."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted((ROOT / "doc" / "examples").rglob("*.py"))


def run_example(script, folder):
    """Run an example in an interpreter of its own, where warnings are errors."""
    return subprocess.run(
        [sys.executable, "-W", "error", str(script)],
        cwd=folder,
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT), "MPLBACKEND": "Agg"},
    )


@pytest.mark.parametrize("script", EXAMPLES, ids=lambda script: script.stem)
def test_example_runs_and_saves_figures(script, tmp_path):
    """It ends well, warns of nothing, and leaves its figures in ``figures/``."""
    run = run_example(script, tmp_path)
    assert run.returncode == 0, run.stderr
    assert run.stderr == ""
    assert [path.name for path in tmp_path.iterdir()] == ["figures"]
    figures = sorted((tmp_path / "figures").iterdir())
    assert figures
    assert all(figure.read_bytes().startswith(b"\x89PNG") for figure in figures)
    assert "figures" in run.stdout
