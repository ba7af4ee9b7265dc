"""What is public is entered wherever it has to be: one test lists all that is missing.

It takes seconds, before any contract runs; doc/add_a_method.rst says what the entries
are for. That pages are well formed and linked is seen when the site is built.
"""

import importlib
import inspect
import re
from functools import cache
from pathlib import Path

from sklearn.base import BaseEstimator

from tests.instances import ARGUMENTS, FITTED, OF_TEXTS
from tests.plotting.drawings import DISPLAYS
from tests.test_public_api import PROMISED, PUBLIC

ROOT = Path(__file__).parents[1]
STUBS = {path.parent.name: path for path in ROOT.glob("sklearn_interpret/*/*.pyi")}


@cache
def words(pattern):
    """Words of the files that a pattern matches, with and without what is dotted."""
    text = "\n".join(path.read_text("utf-8") for path in ROOT.glob(pattern))
    return {*re.findall(r"\w+", text), *re.findall(r"[\w.]*\w", text)}


def public_objects():
    """Family, name and object of what the public modules declare public."""
    for module in PUBLIC:
        for name in importlib.import_module(module).__all__:
            found = getattr(importlib.import_module(module), name)
            yield module.removeprefix("sklearn_interpret."), name, found


def is_abstract(public_class):
    # The base's hook is abstract, though scikit-learn's classes have no ABCMeta.
    members = (getattr(public_class, name) for name in dir(public_class))
    return any(getattr(member, "__isabstractmethod__", False) for member in members)


def is_estimator(public_object):
    """Whether it is a class of estimators that users make, and that they fit."""
    is_class = inspect.isclass(public_object)
    return (
        is_class
        and issubclass(public_object, BaseEstimator)
        and not is_abstract(public_object)
        and public_object not in FITTED
    )


def entries(family, name, public_object):
    """Each place where an object has to be entered, and whether it is there."""
    full_name = f"sklearn_interpret.{family}.{name}"
    yield "doc/api.rst", full_name in words("doc/api.rst")
    yield "a page of doc/user_guide", name in words("doc/user_guide/*.rst")
    estimator, display = is_estimator(public_object), name.endswith("Display")
    if estimator or display:
        yield "an example in the docstring", ">>> " in public_object.__doc__
        yield f"a test in tests/{family}", name in words(f"tests/{family}/test_*.py")
        if family in STUBS:
            stub = f"sklearn_interpret/{family}/*.pyi"
            yield f"{stub}, by .ci/make_stubs.py", name in words(stub)
            typed = f"tests/typing/{family}.py"
            yield typed, name in words(typed)
    if display:
        yield "DISPLAYS of tests/plotting/drawings.py", name in DISPLAYS
    if estimator:
        yield "the table of README.md", name in words("README.md")
        yield "tests/instances.py", public_object in {*ARGUMENTS, *OF_TEXTS}
        signatures = f"tests/{PROMISED.name}"
        yield signatures, f"{family}.{name}" in words(signatures)
        yield "a paper in the docstring", "https://doi.org/" in public_object.__doc__
        as_table = {"to_frame", "to_text", "to_dict"} <= {*dir(public_object)}
        yield "ResultsMixin or explain", as_table or hasattr(public_object, "explain")


def test_what_is_public_is_entered_everywhere():
    missing = [
        f"{family}.{name}: {place}"
        for family, name, public_object in public_objects()
        for place, is_there in entries(family, name, public_object)
        if not is_there
    ]
    assert not missing, "\n".join(["enter", *missing])


def test_no_entry_is_left_over():
    public = {f"{family}.{name}": each for family, name, each in public_objects()}
    listed = re.findall(
        r"^   sklearn_interpret\.([\w.]+)", (ROOT / "doc/api.rst").read_text(), re.M
    )
    assert sorted(listed) == sorted(public)
    estimators = {each for each in public.values() if is_estimator(each)}
    assert {*ARGUMENTS, *OF_TEXTS} == estimators
    assert all(ARGUMENTS.values())
    displays = {n.rpartition(".")[2] for n in public if n.endswith("Display")}
    assert displays == DISPLAYS.keys()
    promised = PROMISED.read_text("utf-8").splitlines()
    assert {line.partition("(")[0] for line in promised} <= public.keys()
