"""Cost of importing the package, beyond importing scikit-learn.

Run as ``python benchmarks/import_time.py``, with the package installed. Each import is
timed in interpreters of its own, in turns, by the processor time that the process has
used; the least of the repeats counts, as all disturbance only adds. Two ratios are
printed, each of which may be at most ``LIMIT``:

- ``import sklearn_interpret`` over ``import sklearn.base``, scikit-learn's own import;
- ``import sklearn_interpret.effects`` over an import of those modules of scikit-learn,
  numpy, scipy and joblib that it loads, which no inspector can do without. What is left
  is the cost of our own modules.

The bare ratio of ``sklearn_interpret.effects`` to ``sklearn.base`` is printed too, and
so is ``sklearn.inspection``, the part of scikit-learn with the same purpose.
"""

import argparse
import subprocess
import sys

LIMIT = 1.3
FLOOR = "the modules of others that it needs"

TIMED = """
import time
start = time.process_time()
{statement}
print(time.process_time() - start)
"""


def run(code):
    """Return the output of some code in a fresh interpreter."""
    return subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    ).stdout


def foreign_modules(module):
    """Return, in the order of loading, modules of others that a module brings."""
    listing = run(f"import sys, {module}\nprint(*sys.modules, sep='\\n')").split()
    bare = set(run("import sys\nprint(*sys.modules, sep='\\n')").split())
    return [
        name
        for name in listing
        if name not in bare and not name.startswith("sklearn_interpret")
    ]


def floor_statement(module):
    """Return a statement that imports all that a module brings, but not itself.

    Modules that cannot be imported by their name, as some that compiled code registers,
    are left out: they are loaded by those that need them.
    """
    names = foreign_modules(module)
    attempt = (
        "import importlib\n"
        f"for name in {names!r}:\n"
        "    try:\n"
        "        importlib.import_module(name)\n"
        "    except ImportError:\n"
        "        pass\n"
    )
    return attempt


def measure(statements, repeats):
    """Return the least processor time of each statement, in seconds."""
    best = dict.fromkeys(statements, float("inf"))
    for _ in range(repeats):
        for name, statement in statements.items():
            seconds = float(run(TIMED.format(statement=statement)))
            best[name] = min(best[name], seconds)
    return best


def main():
    """Print the times and ratios; return 1 if a ratio exceeds the limit."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--repeats", type=int, default=10)
    repeats = parser.parse_args().repeats

    modules = [
        "sklearn.base",
        "sklearn.inspection",
        "sklearn_interpret",
        "sklearn_interpret.effects",
    ]
    statements = {module: f"import {module}" for module in modules}
    statements[FLOOR] = floor_statement("sklearn_interpret.effects")
    best = measure(statements, repeats)
    for name, seconds in best.items():
        print(f"{seconds * 1e3:8.1f} ms  {name}")

    package = best["sklearn_interpret"] / best["sklearn.base"]
    effects = best["sklearn_interpret.effects"] / best[FLOOR]
    bare = best["sklearn_interpret.effects"] / best["sklearn.base"]
    print(f"{package:8.2f}     sklearn_interpret / sklearn.base (limit {LIMIT})")
    print(f"{effects:8.2f}     sklearn_interpret.effects / {FLOOR} (limit {LIMIT})")
    print(f"{bare:8.2f}     sklearn_interpret.effects / sklearn.base")
    return int(max(package, effects) > LIMIT)


if __name__ == "__main__":
    sys.exit(main())
