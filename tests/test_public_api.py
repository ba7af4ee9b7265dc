"""The public face: names, parameters and defaults stay as they are promised."""

import importlib
import inspect
import pkgutil
from importlib.resources import files
from pathlib import Path

import pytest

import sklearn_interpret
from sklearn_interpret import decomposition, influence
from sklearn_interpret._model.rows.lazy import lazy_for_dask
from tests.instances import ARGUMENTS, FITTED, OF_TEXTS, wraps_a_model

PUBLIC = [
    module.name
    for module in pkgutil.walk_packages(
        sklearn_interpret.__path__, "sklearn_interpret."
    )
    if "._" not in module.name
]

# One line for each estimator: what its constructor takes, in order, and the defaults.
PROMISED = Path(__file__).with_name("public_signatures.txt")

# Neighbours vote alike, whatever their rows weigh; weights of training rows are those
# that a frozen model was fitted with, and no others.
WITHOUT_WEIGHTS = {
    decomposition.NeighborContributions,
    influence.DataValues,
    influence.PredictionWeights,
}

ESTIMATORS = sorted(
    {*ARGUMENTS, *OF_TEXTS}, key=lambda c: (c.__module__, c.__qualname__)
)
every_class = pytest.mark.parametrize(
    "public_class", ESTIMATORS, ids=lambda c: c.__name__
)


def signature_of(public_class):
    """What a constructor takes, without annotations."""
    parameters = inspect.signature(public_class).parameters.values()
    bare = inspect.Signature([p.replace(annotation=p.empty) for p in parameters])
    family = FITTED.get(public_class, public_class.__module__.split(".")[1])
    return f"{family}.{public_class.__name__}{bare}"


def test_parameters_and_defaults():
    """A wrapped model or selector comes first; all else is passed by keyword."""
    promised = PROMISED.read_text(encoding="utf-8").splitlines()
    assert sorted(map(signature_of, [*ESTIMATORS, *FITTED])) == promised


@every_class
def test_fit_takes_the_same_everywhere(public_class):
    """Parameters of a wrapped model's `fit` are taken too."""
    parameters = inspect.signature(public_class.fit).parameters
    expected = ["self", "X", "y", "sample_weight"]
    if public_class in WITHOUT_WEIGHTS:
        expected.remove("sample_weight")
    else:
        assert parameters["sample_weight"].default is None
    if wraps_a_model(public_class):
        expected.append("params")
        assert parameters["params"].kind is inspect.Parameter.VAR_KEYWORD
    assert list(parameters) == expected
    assert parameters["y"].default is None


@every_class
def test_few_classes_stand_above_it(public_class):
    """A reader follows a method through at most four classes of the package."""
    above = [
        base.__name__
        for base in public_class.__mro__[1:]
        if base.__module__.startswith("sklearn_interpret.")
        # Stand-ins for classes that older versions of scikit-learn lack.
        and not base.__module__.endswith("._sklearn_compat")
    ]
    assert len(above) <= 4, above


@every_class
def test_transform_is_lazy_for_dask(public_class):
    """A class that defines `transform` is a `lazy_transformer`."""
    defined = (vars(base).get("transform") for base in public_class.__mro__)
    transform = next(filter(None, defined), None)
    if transform is not None and transform.__module__.startswith("sklearn_interpret."):
        lazy = lazy_for_dask(transform)
        assert transform.__code__ is lazy.__code__


def test_public_modules():
    assert sorted(PUBLIC) == [
        "sklearn_interpret.additive",
        "sklearn_interpret.adversarial",
        "sklearn_interpret.base",
        "sklearn_interpret.counterfactuals",
        "sklearn_interpret.datasets",
        "sklearn_interpret.decomposition",
        "sklearn_interpret.diagnosis",
        "sklearn_interpret.effects",
        "sklearn_interpret.estimator_checks",
        "sklearn_interpret.exceptions",
        "sklearn_interpret.explanations",
        "sklearn_interpret.importance",
        "sklearn_interpret.influence",
        "sklearn_interpret.interactions",
        "sklearn_interpret.linear",
        "sklearn_interpret.partitions",
        "sklearn_interpret.prototypes",
        "sklearn_interpret.report",
        "sklearn_interpret.rules",
        "sklearn_interpret.shapley",
        "sklearn_interpret.surrogates",
        "sklearn_interpret.survival",
    ]


@pytest.mark.parametrize("name", ["sklearn_interpret", *PUBLIC])
def test_declared_names(name):
    """Present, once each, and nothing else of ours is public."""
    module = importlib.import_module(name)
    assert len(set(module.__all__)) == len(module.__all__)
    for declared in module.__all__:
        assert hasattr(module, declared), declared
    ours = {
        attribute
        for attribute, value in vars(module).items()
        if not attribute.startswith("_")
        and not inspect.ismodule(value)
        and getattr(value, "__module__", "") == name
    }
    assert ours <= set(module.__all__)


@pytest.mark.parametrize("name", PUBLIC)
def test_star_import(name):
    found = {}
    exec(f"from {name} import *", found)
    del found["__builtins__"]
    assert found.keys() == set(importlib.import_module(name).__all__)


def test_families_are_listed_on_top():
    assert [
        f"sklearn_interpret.{name}"
        for name in sklearn_interpret.__all__
        if name != "__version__"
    ] == PUBLIC
    assert "effects" in dir(sklearn_interpret)


def test_types_are_declared():
    assert files(sklearn_interpret).joinpath("py.typed").is_file()


def annotated(function):
    """Names in a signature that lack an annotation, the return value among them."""
    signature = inspect.signature(function)
    bare = [
        p.name
        for p in signature.parameters.values()
        if p.annotation is inspect.Parameter.empty and p.name != "self"
    ]
    if signature.return_annotation is inspect.Signature.empty:
        bare.append("return")
    return bare


@every_class
def test_public_signatures_are_annotated(public_class):
    for method_name, method in inspect.getmembers(public_class):
        if method_name != "__init__" and method_name.startswith("_"):
            continue
        if isinstance(method, property):
            method = method.fget
        if inspect.isfunction(inspect.unwrap(method)) and inspect.unwrap(
            method
        ).__module__.startswith("sklearn_interpret"):
            assert annotated(inspect.unwrap(method)) == [], method_name
