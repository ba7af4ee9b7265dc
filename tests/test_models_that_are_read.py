"""The tables of models that are read say what the readers are."""

import runpy
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / ".ci" / "make_model_table.py"
MADE = runpy.run_path(str(SCRIPT))


@pytest.mark.parametrize("path", MADE["PAGES"], ids=lambda path: path.name)
def test_tables_are_those_of_the_readers(path):
    text = path.read_text(encoding="utf-8")
    assert text == MADE["page"](path), f"run python .ci/{SCRIPT.name}"
    assert "XGBoost" in text
