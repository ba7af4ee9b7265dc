"""Every public estimator keeps scikit-learn's contract and ours."""

import importlib
import inspect
import pkgutil
from unittest import SkipTest

import pytest
from sklearn.base import BaseEstimator
from sklearn.utils.estimator_checks import parametrize_with_checks

import sklearn_interpret
from sklearn_interpret.estimator_checks import inspector_checks
from tests.instances import ARGUMENTS, ASKING, OF_TEXTS, estimators


def public_estimators():
    """Return the concrete estimator classes that public modules declare public."""
    found = pkgutil.walk_packages(sklearn_interpret.__path__, "sklearn_interpret.")
    names = [module.name for module in found if "._" not in module.name]
    lifted = {
        getattr(module, name)
        for module in map(importlib.import_module, names)
        for name in getattr(module, "__all__", ())
    }
    classes = [entry for entry in lifted if inspect.isclass(entry)]
    return sorted(
        (c for c in classes if issubclass(c, BaseEstimator) and not _is_abstract(c)),
        key=lambda c: c.__name__,
    )


def _is_abstract(c):
    # The base's hook is abstract, though scikit-learn's classes have no ABCMeta.
    return any(
        getattr(getattr(c, name), "__isabstractmethod__", False) for name in dir(c)
    )


def instances():
    """Return every row of the table around two models, the first around all."""
    return [
        estimator_class(model, **arguments)
        for estimator_class, rows in ARGUMENTS.items()
        for position, arguments in enumerate(rows)
        if position > 0 or estimator_class not in ASKING
        for model in estimators(estimator_class)[: None if position == 0 else 2]
    ]


def short(inspector):
    """Return a name of an instance for pytest."""
    parameters = inspector.get_params(deep=False)
    defaults = type(inspector)(parameters.pop("estimator")).get_params(deep=False)
    own = [f"{k}={v}" for k, v in parameters.items() if v is not defaults[k]]
    return f"{type(inspector).__name__}({', '.join(own)})"


def with_checks_of_scikit_learn(instances):
    """Parametrize by a list; pytest dislikes the generator of scikit-learn 1.6."""
    mark = parametrize_with_checks(instances)
    names, values = mark.args
    return pytest.mark.parametrize(names, list(values), **mark.kwargs)


def test_the_table_has_every_public_estimator():
    known = {*ARGUMENTS, *OF_TEXTS}
    assert public_estimators() == sorted(known, key=lambda c: c.__name__)
    assert all(ARGUMENTS.values())


# Of a model that is no better than chance no feature is worth its place.
nothing_selected = pytest.mark.filterwarnings("ignore:No features were selected")


# Some of scikit-learn's tables have one row, or constant columns.
@nothing_selected
@pytest.mark.filterwarnings(
    "ignore::sklearn_interpret.exceptions.ConstantFeatureWarning"
)
@with_checks_of_scikit_learn(
    [
        estimator_class(model, **ARGUMENTS[estimator_class][0])
        for estimator_class in sorted(ARGUMENTS, key=lambda c: c.__name__)
        for model in estimators(estimator_class)
    ]
)
def test_scikit_learn_check(estimator, check):
    check(estimator)


@nothing_selected
@pytest.mark.parametrize(
    "check", [pytest.param(check, id=name) for name, check in inspector_checks()]
)
@pytest.mark.parametrize(
    "inspector",
    [
        pytest.param(one, id=f"{short(one)}-{type(one.estimator).__name__}")
        for one in instances()
    ],
)
def test_inspector_check(inspector, check):
    try:
        check(inspector)
    except SkipTest as reason:  # an optional library is absent
        pytest.skip(str(reason))
