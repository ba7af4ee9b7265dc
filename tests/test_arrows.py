"""Imports run one way: displays, methods, base, model rooms, core, numpy.

All imports are read off the sources, also those inside functions.
"""

import ast
import importlib
import sys
from pathlib import Path

import pytest

import sklearn_interpret

ROOT = Path(sklearn_interpret.__file__).parent
PACKAGE = "sklearn_interpret"
# What every installation has. Anything else is not named, or imported late by its name.
REQUIRED = {"sklearn", "numpy", "scipy", "joblib", "threadpoolctl", "matplotlib"}


def module_name(path):
    """Full name of the module in a file."""
    parts = path.relative_to(ROOT.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in sorted(ROOT.rglob("*.py"))}


def imports(name):
    """Full names of the modules that a module imports, anywhere in its source."""
    found = set()
    for node in ast.walk(ast.parse(MODULES[name].read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name} has a relative import"
            inner = {f"{node.module}.{alias.name}" for alias in node.names}
            modules = inner & MODULES.keys()
            found |= modules
            if len(modules) < len(inner):
                found.add(node.module)
    return found


def own_imports(name):
    """Those of our own."""
    return {other for other in imports(name) if other.partition(".")[0] == PACKAGE}


def room(name):
    """Which room of the house a module stands in: family and kind."""
    parts = name.split(".")[1:]
    if not parts:
        return "top", None
    family, inside = parts[0], parts[1:]
    if family in ("_core", "_model", "_plotting", "_version", "exceptions"):
        return family, None
    if family in ("base", "explanations", "_choosing"):
        return "base", None
    if family == "estimator_checks":
        return "checks", None
    if not inside:
        return "family", family
    return ("display" if inside[0].startswith("_plot") else "method"), family


# Which rooms each room may import from. The exceptions' names are for everyone above
# the core.
ALLOWED = {
    "_core": {"_core"},
    "_model": {"_model", "_core", "exceptions"},
    "base": {"base", "_model", "_core", "exceptions"},
    # Of another family, its public classes, as any user has them.
    "method": {"method", "family", "base", "_model", "_core", "exceptions"},
    "display": {"display", "method", "family", "_plotting", "base", "_model", "_core"}
    | {"exceptions"},
    "_plotting": {"_plotting", "base", "_model", "_core", "exceptions"},
    "family": {"method", "display"},
    "checks": {"checks", "family", "base", "exceptions", "top"},
    "top": {"_version", "family"},
    "exceptions": set(),
    "_version": set(),
}


def test_every_module_has_a_room():
    assert {room(name)[0] for name in MODULES} <= ALLOWED.keys()


@pytest.mark.parametrize("name", MODULES)
def test_arrows_run_one_way(name):
    kind, family = room(name)
    wrong = []
    for other in own_imports(name):
        other_kind, other_family = room(other)
        if other_kind not in ALLOWED[kind] or (
            other_kind in ("method", "display") and other_family != family
        ):
            wrong.append(other)
    assert wrong == []


# Whose task it is to choose among the others of their family.
CHOOSING = {f"{PACKAGE}.shapley._values"}


def methods_of(family):
    """Modules of a family that hold a public estimator: a method."""
    public = importlib.import_module(family)
    members = (getattr(public, name) for name in public.__all__)
    return {member.__module__ for member in members if hasattr(member, "fit")}


@pytest.mark.parametrize(
    "name", [n for n in MODULES if room(n)[0] == "method" and n not in CHOOSING]
)
def test_methods_share_with_their_family_what_is_no_method(name):
    family = name.rpartition(".")[0]
    assert own_imports(name) & methods_of(family) - {name} == set()


@pytest.mark.parametrize("name", MODULES)
def test_nothing_private_is_taken_from_another_module(name):
    """Neither by import nor by reaching into a module: a leading underscore is home."""
    tree = ast.parse(MODULES[name].read_text(encoding="utf-8"))
    taken = [
        f"{node.module}.{alias.name}"
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module.startswith(PACKAGE)
        for alias in node.names
        if alias.name.startswith("_")
        and f"{node.module}.{alias.name}" not in MODULES
        and not alias.name.startswith("__")
    ]
    assert taken == []


@pytest.mark.parametrize("name", MODULES)
def test_private_names_of_scikit_learn_are_in_the_seams_alone(name):
    private = {
        other
        for other in private_names(name)
        if other.startswith("sklearn.") and "._" in other
    }
    if name != f"{PACKAGE}._model._sklearn_compat":
        assert private == set()


def private_names(name):
    """Full names of everything that a module imports, attributes included."""
    for node in ast.walk(ast.parse(MODULES[name].read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@pytest.mark.parametrize("name", MODULES)
def test_other_packages(name):
    allowed = REQUIRED | set(sys.stdlib_module_names)
    kind, _ = room(name)
    if kind == "_core":
        allowed = {"numpy", "scipy"} | set(sys.stdlib_module_names)
    elif kind not in ("_plotting", "display"):
        allowed -= {"matplotlib"}
    others = {
        other
        for other in imports(name) - own_imports(name)
        if other.partition(".")[0] not in allowed
    }
    assert others == set()


def test_there_are_no_circles():
    """Importing in any order works, for the graph of all imports has no circle."""
    graph = {name: own_imports(name) for name in MODULES}
    settled = set()
    while True:
        free = {
            name for name in graph.keys() - settled if graph[name] - {name} <= settled
        }
        if not free:
            break
        settled |= free
    assert graph.keys() - settled == set()
