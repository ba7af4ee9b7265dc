"""The README keeps what it promises: its commands, example, picture and links."""

import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language):
    """Return the contents of the README's fenced blocks of a language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)


def test_two_commands_of_one_line_each():
    """The first runs the quickstart and the second the tests, in a new environment."""
    commands = blocks("sh")
    assert len(commands) == 2
    assert all(command.count("\n") == 1 for command in commands)
    assert all(command.startswith("python3 -m venv .venv &&") for command in commands)
    assert commands[0].endswith(" doc/examples/quickstart.py\n")
    assert commands[1].endswith(" .venv/bin/pytest -n 2\n")


def test_ci_runs_the_commands_of_the_readme():
    """What ``.ci/run`` finds in the README are these commands, and it runs both."""
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    (search,) = re.findall(r"<\((grep .* README\.md)\)", script)
    found = subprocess.run(
        ["sh", "-c", search], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout
    assert found == "".join(blocks("sh"))
    assert 'eval "${commands[0]}"' in script
    assert 'eval "${commands[1]} --thorough"' in script
    assert os.access(ROOT / ".ci" / "run", os.X_OK)


@pytest.mark.thorough
def test_example_runs(tmp_path, monkeypatch, capsys):
    """The example prints one line per feature and saves its figure."""
    monkeypatch.chdir(tmp_path)
    (example,) = blocks("python")
    assert len(example.splitlines()) <= 10
    exec(compile(example, "README.md", "exec"), {})
    assert len(capsys.readouterr().out.splitlines()) == 10
    assert [file.name for file in tmp_path.iterdir()] == ["effects.png"]


def test_links_and_picture_exist():
    """Every relative link leads to a file, and the picture stays small."""
    links = re.findall(r"\]\(([^)#:]+)\)", README)
    assert [link for link in links if not (ROOT / link).exists()] == []
    (picture,) = (link for link in links if link.endswith(".png"))
    assert 5_000 < (ROOT / picture).stat().st_size < 80_000
