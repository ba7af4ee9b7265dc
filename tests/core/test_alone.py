"""The core stands alone: it imports numpy, scipy and itself."""

import ast
import sys
from pathlib import Path

import sklearn_interpret._core

CORE = Path(sklearn_interpret._core.__file__).parent
MODULES = sorted(CORE.rglob("*.py"))


def imported_names(source):
    """Full names of all modules that a source imports, wherever it does."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield "." * node.level + (node.module or "")


def test_imports_nothing_but_numpy_and_scipy():
    allowed = {"numpy", "scipy"} | set(sys.stdlib_module_names)
    others = [
        (module.stem, name)
        for module in MODULES
        for name in imported_names(module.read_text(encoding="utf-8"))
        if name.partition(".")[0] not in allowed
        and not name.startswith("sklearn_interpret._core")
    ]
    assert MODULES
    assert others == []
