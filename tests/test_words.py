"""Docstrings, comments and pages are written in words that the field uses."""

import ast
import io
import re
import tokenize
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
# Words over which readers stumbled: idioms, and pronouns without a noun.
WORDS = (
    r"as wished|wish(?:es|ed)?|stands? beside|beside|hangs? on|hang together"
    r"|none that|that is no|so often|so many|worth|of so|ways? down|in company|kin"
    r"|kept at hand|made again|as (?:far|long|near) as there|asks? itself"
)
ODD = re.compile(rf"\b(?:{WORDS})\b", re.IGNORECASE)
# Places where they are right.
ALLOWED = {"that is None", "that is no predictor"}
SOURCES = sorted((ROOT / "sklearn_interpret").rglob("*.py"))
PAGES = sorted((ROOT / "doc").glob("*.rst")) + sorted(
    (ROOT / "doc" / "user_guide").glob("*.rst")
)


def prose(path):
    """Docstrings and comments of a module, or the text of a page."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        return [text]
    documented = ast.Module, ast.ClassDef, ast.FunctionDef
    nodes = [n for n in ast.walk(ast.parse(text)) if isinstance(n, documented)]
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return [
        *(docstring for n in nodes if (docstring := ast.get_docstring(n))),
        *(token.string for token in tokens if token.type == tokenize.COMMENT),
    ]


@pytest.mark.thorough
@pytest.mark.parametrize("paths", [SOURCES, PAGES], ids=["package", "pages"])
def test_no_odd_words(paths):
    found = []
    for path in paths:
        for text in prose(path):
            for match in ODD.finditer(text):
                context = " ".join(text[match.start() : match.end() + 20].split())
                if not any(context.startswith(right) for right in ALLOWED):
                    found.append((path.name, context))
    assert found == []
