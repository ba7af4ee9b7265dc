"""Imports run one way: displays, methods, base, model rooms, core, numpy.

All imports are read off the sources, also those inside functions.
"""

import ast
import importlib
import sys
from collections import Counter
from functools import cache
from pathlib import Path

import sklearn_interpret

ROOT = Path(sklearn_interpret.__file__).parent
PACKAGE = "sklearn_interpret"
# What every installation has. Anything else is not named, or imported late by its name.
REQUIRED = {"sklearn", "numpy", "scipy", "joblib", "threadpoolctl", "matplotlib"}
# Where all private names of scikit-learn are.
COMPAT = f"{PACKAGE}._model._sklearn_compat"
# Where a table of pandas is named, for checkers of types only.
# Private to users, shared by all layers above the model's rooms.
SELECTION = f"{PACKAGE}.explanations._selection"
# Whose task it is to choose among the others of their family.
CHOOSING = {
    f"{PACKAGE}.adversarial._substitute",
    f"{PACKAGE}.prototypes._nearest_prototype",
    f"{PACKAGE}.report._skore",
    f"{PACKAGE}.shapley._values",
}
MOST_MODULES = 16


def module_name(path):
    """Full name of the module in a file."""
    parts = path.relative_to(ROOT.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in sorted(ROOT.rglob("*.py"))}


def is_for_types(node):
    """Whether a statement is `if TYPE_CHECKING:`, which never runs."""
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


@cache
def import_statements(path):
    """Statements of a source that import, each with whether it does so for types."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    statements, found = [(node, is_for_types(node)) for node in tree.body], []
    while statements:
        node, for_types = statements.pop()
        if isinstance(node, ast.Import | ast.ImportFrom):
            found.append((node, for_types))
        for block in ("body", "orelse", "finalbody", "handlers", "cases"):
            inner = getattr(node, block, ())
            statements += ((statement, for_types) for statement in inner)
    return found


def imported_names(path, with_types=True):
    """Full names of everything that a source imports, attributes included."""
    for node, for_types in import_statements(path):
        if for_types and not with_types:
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        else:
            assert node.level == 0, f"{path} has a relative import"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@cache
def names():
    """Full names of all that is imported, by module."""
    return {name: set(imported_names(path)) for name, path in MODULES.items()}


def module_of(imported):
    """The module that is imported, or that the imported thing is taken from."""
    own = imported.partition(".")[0] == PACKAGE
    return imported if not own or imported in MODULES else imported.rpartition(".")[0]


def imports():
    """Modules that are imported, by module."""
    return {name: set(map(module_of, imported)) for name, imported in names().items()}


@cache
def needed_imports():
    """Modules that are imported to run, not for types alone, by module."""
    return {
        name: set(map(module_of, imported_names(path, with_types=False)))
        for name, path in MODULES.items()
    }


@cache
def own_imports():
    """Modules of the package that are imported, by module."""
    return {
        name: {other for other in others if other.partition(".")[0] == PACKAGE}
        for name, others in imports().items()
    }


def room(name):
    """Which room of the house a module stands in: kind and family."""
    parts = name.split(".")[1:]
    if not parts:
        return "top", None
    first, inside = parts[0], parts[1:]
    if first == "__main__":
        return "top", None
    if first in ("_core", "_model", "_plotting", "_version", "exceptions"):
        return first, None
    if first in ("base", "_inspectors", "datasets", "explanations", "partitions"):
        return "base", None
    if first == "estimator_checks":
        return "checks", None
    if not inside:
        return "family", first
    return ("display" if inside[0].startswith("_plot") else "method"), first


# Which rooms each room may import from. The exceptions' names are for everyone above
# the core.
BELOW = {"base", "_model", "_core", "exceptions"}
ALLOWED = {
    "_core": {"_core"},
    "_model": {"_model", "_core", "exceptions"},
    "base": BELOW,
    # Of another family, its public classes, as any user has them.
    "method": {"method", "family", *BELOW},
    "display": {"display", "method", "family", "_plotting", *BELOW},
    "_plotting": {"_plotting", *BELOW},
    # A model of our own stands where readers of formulas see it.
    "family": {"method", "display", "_model"},
    "checks": {"checks", "family", "base", "exceptions", "top"},
    "top": {"_version", "family"},
    "exceptions": set(),
    "_version": set(),
}


def broken(is_wrong, imported=None):
    """Pairs of a module and something that it imports, where that is wrong."""
    return [
        (name, other)
        for name, others in (imported or own_imports()).items()
        for other in sorted(others)
        if is_wrong(name, other)
    ]


def test_every_module_has_a_room():
    assert {room(name)[0] for name in MODULES} <= ALLOWED.keys()


def test_arrows_run_one_way():
    def is_wrong(name, other):
        (kind, family), (other_kind, other_family) = room(name), room(other)
        of_a_family = other_kind in ("method", "display")
        return other_kind not in ALLOWED[kind] or (
            of_a_family and other_family != family
        )

    assert broken(is_wrong) == []


def estimators_of(family):
    """Modules of a family that hold a public estimator."""
    public = importlib.import_module(family)
    members = (getattr(public, name) for name in public.__all__)
    return {member.__module__ for member in members if hasattr(member, "fit")}


def test_methods_share_modules_that_hold_no_method():
    families = [name for name in MODULES if room(name)[0] == "family"]
    methods = set().union(*map(estimators_of, families))

    def is_wrong(name, other):
        is_method = room(name)[0] == "method" and name not in CHOOSING
        return is_method and other in methods - {name}

    assert broken(is_wrong) == []


def is_private(name):
    return name.startswith("_") and not name.startswith("__")


def test_nothing_private_is_taken_from_another_module():
    """A name with a leading underscore, class or function, stays in its module."""
    own = {
        name: {one for one in imported if one.partition(".")[0] == PACKAGE}
        - set(MODULES)
        for name, imported in names().items()
    }
    assert broken(lambda _, other: is_private(other.rpartition(".")[2]), own) == []


def test_private_modules_are_imported_within_their_folder():
    def is_wrong(name, other):
        folder, _, last = other.rpartition(".")
        # A family takes its displays from its `_plot`.
        inside = folder in (name, f"{name}._plot") or name.startswith(f"{folder}.")
        return is_private(last) and not inside and other not in {COMPAT, SELECTION}

    assert broken(is_wrong) == []


def test_private_names_of_scikit_learn_are_in_one_module():
    def is_wrong(name, other):
        return other.startswith("sklearn.") and "._" in other and name != COMPAT

    assert broken(is_wrong, names()) == []


def test_other_packages():
    def is_wrong(name, other):
        kind, _ = room(name)
        allowed = REQUIRED
        if kind == "_core":
            allowed = {"numpy", "scipy"}
        elif kind not in ("_plotting", "display"):
            allowed = REQUIRED - {"matplotlib"}
        package = other.partition(".")[0]
        return package not in {PACKAGE, *allowed, *sys.stdlib_module_names}

    assert broken(is_wrong, needed_imports()) == []


def test_folders_are_tables_of_contents():
    """No folder has more modules than one reads through."""
    files = [path for path in MODULES.values() if path.name != "__init__.py"]
    sizes = Counter(path.parent for path in files)
    assert {path: n for path, n in sizes.items() if n > MOST_MODULES} == {}


def test_there_are_no_circles():
    """Importing in any order works, for the graph of what runs has no circle.

    Imports for types alone may lead back: two classes may name each other.
    """
    needed = needed_imports()
    settled = set()
    while True:
        waiting = MODULES.keys() - settled
        free = {
            name
            for name in waiting
            if needed[name] & MODULES.keys() - {name} <= settled
        }
        if not free:
            break
        settled |= free
    assert MODULES.keys() - settled == set()
