"""Write the table of families and the rooms that are only their own.

It is computed from the imports, and stands in doc/architecture.rst. Run this script
after a change of imports between rooms; a test fails while the table is stale.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests.test_arrows import MODULES, PACKAGE, own_imports, room

PAGE = Path(__file__).parents[1] / "doc" / "architecture.rst"
BEGIN, END = ".. begin of family rooms\n", ".. end of family rooms\n"
FAMILIES = sorted({room(name)[1] for name in MODULES} - {None})
# They import families by name when these are asked for.
TOP = {PACKAGE, f"{PACKAGE}.__main__"}


def folder_of(name: str) -> str:
    """The folder of the package that a module stands in, or the module's own name."""
    return name.removeprefix(PACKAGE).lstrip(".").partition(".")[0]


ROOMS = {"_core", "_model", "_plotting", "_inspectors", "explanations"}
# Modules outside of the rooms: nothing but a user asks for them.
ROOTS = {name for name in MODULES if folder_of(name) not in ROOMS} - TOP


def reached(roots: set[str]) -> set[str]:
    """Modules that are imported by some, directly or not, and the folders' own."""
    modules, waiting = set(), set(roots)
    while waiting:
        name = waiting.pop()
        modules.add(name)
        imported = own_imports()[name] | {name.rpartition(".")[0]}
        waiting |= (imported & MODULES.keys()) - modules
    return modules


def users(family: str) -> set[str]:
    """Families that import a family, directly or through others."""
    direct = {
        room(name)[1]
        for name, imported in own_imports().items()
        if name not in TOP and room(name)[1] != family
        for other in imported
        if room(other)[1] == family
    }
    return direct.union(*map(users, direct))


def own_rooms(family: str) -> set[str]:
    """Modules of the rooms that serve a family, and none but those that import it."""
    apart = {family, *users(family)}
    inside = {name for name in ROOTS if room(name)[1] == family}
    outside = {name for name in ROOTS if room(name)[1] not in apart}
    own = reached(inside) - reached(outside)
    return {name for name in own if folder_of(name) in ROOMS}


def described(modules: set[str]) -> str:
    """Modules in words: a folder of which none is missing by its name alone."""
    files = {name for name, path in MODULES.items() if path.name != "__init__.py"}
    texts = []
    for folder in sorted({name.rpartition(".")[0] for name in modules & files}):
        members = {name for name in files if name.rpartition(".")[0] == folder}
        text = f"``{folder.removeprefix(f'{PACKAGE}.').replace('.', '/')}/``"
        if not members <= modules:
            names = sorted(name.rpartition(".")[2] for name in members & modules)
            text += ": " + ", ".join(f"``{name}``" for name in names)
        texts.append(text)
    return "; ".join(texts) or "none"


def table() -> str:
    """The table in reStructuredText."""
    lines = [
        ".. list-table::",
        "   :header-rows: 1",
        "   :widths: 16 60 24",
        "",
        "   * - family",
        "     - rooms that are only its own",
        "     - families that use it",
    ]
    for family in FAMILIES:
        names = ", ".join(f"``{name}``" for name in sorted(users(family)))
        lines += [
            f"   * - ``{family}``",
            f"     - {described(own_rooms(family))}",
            f"     - {names or 'none'}",
        ]
    return "\n".join(lines) + "\n"


def page() -> str:
    """The page with the table of now."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{table()}\n{END}{after}"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
