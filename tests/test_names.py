"""Names say what they hold: words that could name anything are rare."""

import ast
from collections import Counter
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "sklearn_interpret"

# Each could name anything. In a comprehension of one line one of them can be right.
VAGUE = {
    "all_but",
    "alone",
    "apart",
    "drawn",
    "found",
    "given",
    "got",
    "held",
    "kept",
    "known",
    "looks",
    "made",
    "next_",
    "one",
    "ones",
    "other",
    "others",
    "own",
    "part",
    "parts",
    "place",
    "placed",
    "rest",
    "right_",
    "same",
    "shown",
    "such",
    "taken",
    "these",
    "thing",
    "things",
    "those",
    "way",
    "ways",
    "what",
    "which",
    "whole",
}
# Share of all bindings that may be vague.
MOST = 0.01


def bindings(tree):
    """Names of the variables, attributes and parameters that a source binds."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr
        elif isinstance(node, ast.arg) and node.arg not in ("self", "cls"):
            yield node.arg


@pytest.mark.thorough
def test_few_names_could_name_anything():
    n_bindings, vague = 0, Counter()
    for path in PACKAGE.rglob("*.py"):
        for name in bindings(ast.parse(path.read_text(encoding="utf-8"))):
            n_bindings += 1
            if name.strip("_") in VAGUE:
                vague[f"{path.relative_to(PACKAGE)}: {name}"] += 1
    share = vague.total() / n_bindings
    assert share <= MOST, f"{share:.1%} of names: {vague.most_common(20)}"
