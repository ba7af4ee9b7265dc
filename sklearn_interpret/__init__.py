"""Model inspection estimators for scikit-learn."""

from importlib import import_module
from typing import Any

from sklearn_interpret._version import __version__

_submodules = [
    "additive",
    "adversarial",
    "base",
    "counterfactuals",
    "datasets",
    "decomposition",
    "diagnosis",
    "effects",
    "estimator_checks",
    "exceptions",
    "explanations",
    "importance",
    "influence",
    "interactions",
    "linear",
    "partitions",
    "prototypes",
    "report",
    "rules",
    "shapley",
    "surrogates",
    "survival",
]

__all__ = ["__version__", *_submodules]


def __dir__() -> Any:
    return __all__


def __getattr__(name: str) -> Any:
    # Families are imported at their first use, as scipy does.
    if name in _submodules:
        return import_module(f"sklearn_interpret.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
