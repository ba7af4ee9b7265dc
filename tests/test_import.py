"""Importing the package stays cheap: what is optional or heavy is imported when used.

scikit-learn itself may import pandas where it finds it. Hence both what our modules ask
for by name and what they add to scikit-learn's own import is looked at.
"""

import json
import os
import pkgutil
import subprocess
import sys
from pathlib import Path

import sklearn_interpret

ROOT = Path(__file__).parents[1]

# Found by what the user passes in, or needed only when something is drawn.
LATE = {
    "matplotlib",
    "pandas",
    "polars",
    "pyarrow",
    "narwhals",
    "dask",
    "distributed",
    "xgboost",
    "lightgbm",
    "catboost",
    "shap",
    "skimage",
    "tqdm",
    "jinja2",
    "skops",
}

PROBE = """
import builtins, importlib, json, sys
import sklearn.base

before = set(sys.modules)
asked = set()
original = builtins.__import__

def spy(name, globals=None, *args, **kwargs):
    if (globals or {}).get("__name__", "").startswith("sklearn_interpret"):
        asked.add(name)
    return original(name, globals, *args, **kwargs)

builtins.__import__ = spy
for module in sys.argv[1:]:
    importlib.import_module(module)
print(json.dumps({"asked": sorted(asked), "added": sorted(set(sys.modules) - before)}))
"""


def public_modules():
    """Return the package and its public subpackages and modules, by full name."""
    found = pkgutil.iter_modules(sklearn_interpret.__path__, "sklearn_interpret.")
    names = [module.name for module in found]
    public = [name for name in names if not name.rpartition(".")[2].startswith("_")]
    return ["sklearn_interpret", *public]


def first_words(names):
    """Return the names of the top-level packages of modules."""
    return {name.partition(".")[0] for name in names}


def test_nothing_optional_is_imported():
    """No module of ours asks for an optional package, or brings one in by another."""
    modules = public_modules()
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", PROBE, *modules],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    assert run.returncode == 0, run.stderr
    seen = json.loads(run.stdout)
    assert set(modules) <= set(seen["added"])
    assert first_words(seen["asked"]) & LATE == set()
    assert first_words(seen["added"]) & LATE == set()
