"""Docstrings are contracts: complete, in order, and true to the signatures."""

import ast
import importlib
import inspect
import re
import types
import typing
from collections import defaultdict
from functools import cached_property

import numpy as np
import pytest
from sklearn.base import is_classifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from sklearn_interpret.base import BaseInspector
from tests.instances import ARGUMENTS, OF_TEXTS, instances, wraps_a_model
from tests.test_public_api import PUBLIC

validation = pytest.importorskip("numpydoc.validate")
scraping = pytest.importorskip("numpydoc.docscrape")

# What is not asked for: each with its reason.
NOT_ASKED = {
    "ES01": "one sentence is enough where it says all",
    "SA01": "links stand in the text",
    "EX01": "asked for where it makes sense, below",
    "SS05": "a summary says what is given: 'Effect of each feature', 'Predictions of'",
    "RT02": "`self` is named, as everywhere in scikit-learn",
}


# Parameters that mean something else, or less, from class to class.
OWN_MEANING = {
    "n_intervals",
    "perturbation",
    "centered",
    "confidence_level",
    "cv",
    "desired",
    "direction",
    "feature_groups",  # some take "correlation"
    "features",
    "interactions",
    "link",
    "loss",
    "method",
    "n_repeats",
    "response_method",
    "scoring",
    "tolerance",
    "target",  # of searches it is a class to reach, which is no contrast
}


WITH_NAMES = {"feature_names_in_", "classes_"}


def public_objects(module_name):
    """Full names of public classes and functions, and of the classes' own methods."""
    names = []
    module = importlib.import_module(module_name)
    for name in module.__all__:
        names.append(f"{module_name}.{name}")
        if inspect.isclass(getattr(module, name)):
            methods = own_methods(getattr(module, name))
            names += [f"{module_name}.{name}.{method}" for method in methods]
    return names


def signatures(module_name):
    """Public callables of a module that have a signature of their own, by name."""
    found = {name: resolved(name) for name in public_objects(module_name)}
    return {
        name: (called, inspect.signature(called))
        for name, called in found.items()
        if not isinstance(called, property | cached_property)
        and not issubclass_of(called, Exception)
    }


def own_methods(public_class):
    """Public methods and properties that our modules define, inherited ones too."""
    for name, member in inspect.getmembers(public_class):
        member = member.fget if isinstance(member, property) else member
        member = member.func if isinstance(member, cached_property) else member
        if not name.startswith("_") and inspect.isroutine(member):
            module = getattr(inspect.unwrap(member), "__module__", None) or ""
            if module.startswith("sklearn_interpret"):
                yield name


def resolved(full_name):
    """The object of a full name."""
    module_name = max(
        (name for name in PUBLIC if full_name.startswith(f"{name}.")), key=len
    )
    found = importlib.import_module(module_name)
    for part in full_name.removeprefix(f"{module_name}.").split("."):
        found = getattr(found, part)
    return found


def section(documented, name):
    """Entries of a section of a parsed docstring, one for each name."""
    return {
        part.strip("*"): (entry.type, " ".join(entry.desc))
        for entry in documented[name]
        for part in entry.name.split(", ")
    }


@pytest.mark.thorough
@pytest.mark.parametrize("module", PUBLIC)
def test_numpydoc(module):
    errors = [
        (name, error)
        for name in public_objects(module)
        for error in validation.validate(name)["errors"]
    ]
    assert [found for found in errors if found[1][0] not in NOT_ASKED] == []


ESTIMATORS = sorted({*ARGUMENTS, *OF_TEXTS}, key=lambda c: c.__name__)
CLASSES = [
    found
    for module in PUBLIC
    for found in map(resolved, public_objects(module))
    if inspect.isclass(found)
    and not issubclass(found, Exception)
    and not found.__name__.endswith("Mixin")
]


def without(text, name, classes):
    """Names of the classes whose docstring has no such text in a section."""
    sections = {c: "\n".join(scraping.ClassDoc(c)[name]) for c in classes}
    return [c.__name__ for c, section in sections.items() if text not in section]


def test_classes_have_examples():
    assert without(">>> ", "Examples", CLASSES) == []


def test_methods_have_papers():
    assert without("https://doi.org/", "References", ESTIMATORS) == []


@pytest.mark.parametrize("module", PUBLIC)
def test_documented_defaults_are_those_of_the_signature(module):
    for name, (found, signature) in signatures(module).items():
        documented = section(scraping.FunctionDoc(found), "Parameters")
        for parameter in signature.parameters.values():
            if parameter.name not in documented:
                continue
            kind = documented[parameter.name][0]
            default = re.search(r"default=(.*)$", kind, re.DOTALL)
            if parameter.default is inspect.Parameter.empty:
                assert default is None, (name, parameter)
            else:
                assert default is not None, (name, parameter)
                assert ast.literal_eval(default[1]) == parameter.default, name


@pytest.mark.parametrize("module", PUBLIC)
def test_signatures_are_printed_as_they_are_written(module):
    """Annotations that are evaluated spell aliases out: ArrayLike fills a screen."""
    for name, (_, signature) in signatures(module).items():
        kinds = [p.annotation for p in signature.parameters.values()]
        for kind in [*kinds, signature.return_annotation]:
            assert isinstance(kind, str | None) or kind is signature.empty, name


def issubclass_of(found, parent):
    """Whether an object is a class below another."""
    return inspect.isclass(found) and issubclass(found, parent)


@pytest.fixture(scope="module", params=ESTIMATORS, ids=lambda c: c.__name__)
def fitted(request):
    """A class, and its instances of the table, fitted."""
    public_class = request.param
    X = np.random.default_rng(0).normal(size=(40, 5)).round(1)
    y = X[:, 0] + X[:, 1]
    labels = np.where(X[:, 0] > 0, "up", "down")
    if public_class in OF_TEXTS:
        model = make_pipeline(CountVectorizer(), LogisticRegression())
        texts = ["one word", "two words"] * 20
        return public_class, [public_class(model).fit(texts, labels)]
    return public_class, [
        estimator.fit(X, labels if is_classifier(estimator) else y)
        for estimator in instances(public_class)
    ]


# Two columns separate the labels, chains are short, and nuisance regressions quick.
@pytest.mark.filterwarnings("ignore::sklearn_interpret.exceptions.SeparationWarning")
@pytest.mark.filterwarnings(
    "ignore::sklearn_interpret.exceptions.DisagreeingChainsWarning"
)
@pytest.mark.filterwarnings("ignore::sklearn_interpret.exceptions.WeakNuisanceWarning")
def test_fitted_attributes_are_the_documented_ones(fitted):
    """All that `fit` sets is documented, and all that is documented is there."""
    public_class, estimators = fitted
    documented = set(section(scraping.ClassDoc(public_class), "Attributes"))
    found = {
        name
        for estimator in estimators
        for name in dir(estimator)  # also what is found when it is asked for
        if name.endswith("_") and not name.startswith("_")
        if hasattr(estimator, name)  # before scikit-learn 1.8 others are listed too
    }
    # What is there for classifiers, and for tables with names.
    at_times = {"classes_"} if public_class in OF_TEXTS else WITH_NAMES
    if wraps_a_model(public_class):
        assert documented == found | at_times
        assert issubclass(public_class, BaseInspector)
    else:
        assert found <= documented <= found | at_times
        assert not issubclass(public_class, BaseInspector)


def holds(kind, value):
    """Whether a value is of an annotated type."""
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if hasattr(origin, "__value__"):  # NumPy 2.5 declares NDArray by `type`
        return holds(origin.__value__[inner], value)
    if kind is typing.Any:
        return True
    if origin in (typing.Union, types.UnionType):
        return any(holds(one, value) for one in inner)
    if origin is typing.Literal:
        return value in inner
    if origin is np.ndarray:
        (scalar,) = typing.get_args(inner[1])
        return isinstance(value, np.ndarray) and (
            scalar is typing.Any or issubclass(value.dtype.type, scalar)
        )
    if origin is list:
        return isinstance(value, list) and all(holds(*inner, one) for one in value)
    if origin is dict:
        return isinstance(value, dict) and all(
            holds(inner[0], key) and holds(inner[1], one) for key, one in value.items()
        )
    if origin is tuple and inner[-1] is not ...:
        return len(value) == len(inner) and all(map(holds, inner, value))
    if origin is tuple:
        return isinstance(value, tuple) and all(holds(inner[0], one) for one in value)
    return isinstance(value, origin or kind)


@pytest.mark.filterwarnings("ignore::sklearn_interpret.exceptions.SeparationWarning")
@pytest.mark.filterwarnings(
    "ignore::sklearn_interpret.exceptions.DisagreeingChainsWarning"
)
@pytest.mark.filterwarnings("ignore::sklearn_interpret.exceptions.WeakNuisanceWarning")
def test_fitted_attributes_have_their_declared_types(fitted):
    """Editors and checkers of types know every documented attribute."""
    public_class, estimators = fitted
    declared = typing.get_type_hints(public_class)
    for name in section(scraping.ClassDoc(public_class), "Attributes"):
        member = inspect.getattr_static(public_class, name, None)
        if isinstance(member, property):
            declared[name] = typing.get_type_hints(member.fget)["return"]
        for estimator in estimators:
            if hasattr(estimator, name):
                value = getattr(estimator, name)
                assert holds(declared[name], value), (name, declared[name], value)


def test_parameters_of_one_name_have_one_meaning():
    """Where classes share a parameter, its documented type is the same."""
    meanings = defaultdict(set)
    for public_class in ESTIMATORS:
        parameters = section(scraping.ClassDoc(public_class), "Parameters")
        for name in parameters.keys() - OWN_MEANING:
            # A default, which follows the cost, is no part of the meaning.
            meanings[name].add(parameters[name][0].partition(", default=")[0])
    assert {name: kinds for name, kinds in meanings.items() if len(kinds) > 1} == {}
