"""Write the inventories of other projects' objects that pages and examples name.

Run ``python doc/inventories/make.py`` where a page names something new. An inventory
is a text of names, kinds and addresses in Sphinx's first format; the anchors of the
addresses are added when it is read. The names are those that pages, examples and
docstrings speak of and that exist in the installed libraries; the addresses follow each
site's own rule.
"""

import importlib
import inspect
import re
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
PAGES = {
    "sklearn": "modules/generated/{}.html",
    "numpy.random": "reference/random/generator.html",
    "numpy": "reference/generated/{}.html",
    "scipy": "reference/generated/{}.html",
    "pandas": "reference/api/{}.html",
    "matplotlib.pyplot": "api/_as_gen/{}.html",
}
SHORT = {"np": "numpy", "pd": "pandas", "plt": "matplotlib.pyplot"}
PYTHON = {
    "exceptions": ["ValueError", "TypeError", "Exception", "Warning", "UserWarning"]
}
PYTHON |= {"stdtypes": ["list", "dict", "str", "tuple"], "functions": ["int", "float"]}


def used():
    """Return the full names that pages, examples and docstrings speak of."""
    names = set()
    for file in [
        *(ROOT / "doc").rglob("*"),
        *(ROOT / "sklearn_interpret").rglob("*.py"),
    ]:
        made = {"_build", "auto_examples", "generated"} & set(file.parts)
        if file.suffix in {".py", ".rst"} and not made:
            text = file.read_text(encoding="utf-8")
            if "sklearn_interpret" in file.relative_to(ROOT).parts:
                # What the package itself imports is no concern of its pages.
                text = re.sub(r"^(from|import) .*", "", text, flags=re.MULTILINE)
                text = re.sub(r"\b(np|pd)\.", "", text)
            names |= set(names_in(text.replace("...     ", "")))
    return sorted(names)


def names_in(text):
    """Yield the full names that one text speaks of."""
    imports = r"from ([\w.]+) import (?:\(([^)]*)\)|([\w, ]+))"
    for module, many, few in re.findall(imports, text):
        for name in re.findall(r"\w+", many or few):
            yield f"{module}.{name}"
    for short, rest in re.findall(
        r"\b(np|pd|plt)\.((?:linalg\.|random\.)?\w+)\(", text
    ):
        yield f"{SHORT[short]}.{rest}"
    yield from re.findall(r"\b(?:sklearn|numpy|scipy)\.(?:\w+\.)*\w+", text)


def project_of(name):
    """Return which part of `PAGES` a full name belongs to."""
    return next((start for start in PAGES if name.startswith(f"{start}.")), None)


def kind_of(name):
    """Return the kind of a public object as Sphinx calls it; None for others."""
    module, _, short = name.rpartition(".")
    if project_of(name) is None or "._" in name:
        return None
    try:
        found = getattr(importlib.import_module(module), short, None)
    except ImportError:
        return None
    if inspect.isclass(found):
        return "class"
    return "function" if callable(found) else None


def main():
    """Write a file for each project."""
    lines = {start.partition(".")[0]: [] for start in PAGES}
    for name in used():
        if kind := kind_of(name):
            address = PAGES[project_of(name)].format(name)
            lines[name.partition(".")[0]].append(f"{name} {kind} {address}")
    lines["python"] = [
        f"{name} class library/{page}.html" for page in PYTHON for name in PYTHON[page]
    ]
    for project, found in lines.items():
        head = [
            "# Sphinx inventory version 1",
            f"# Project: {project}",
            "# Version: stable",
        ]
        text = "\n".join([*head, *found]) + "\n"
        (HERE / f"{project}.inv").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
