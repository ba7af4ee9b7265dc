"""Estimators as dataclasses of their parameters, and parameters that many share."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar, dataclass_transform

import numpy as np

from sklearn_interpret.base import BaseInspector

T = TypeVar("T")


@dataclass_transform(kw_only_default=True, eq_default=False, field_specifiers=(field,))
def estimator_dataclass(cls: type[T]) -> type[T]:
    """Make an estimator a dataclass of its parameters, inherited ones after its own."""
    names = [name for kind in cls.__mro__ for name in inspect.get_annotations(kind)]
    made: Any = dataclass(kw_only=True, eq=False, repr=False)(cls)
    signature = inspect.signature(made.__init__)
    own, *others = signature.parameters.values()
    others.sort(key=lambda given: (given.kind, names.index(given.name)))
    made.__init__.__signature__ = signature.replace(parameters=[own, *others])
    return made


@estimator_dataclass
class SampleInspector(BaseInspector):
    """Base of the inspectors of responses to a sample of the rows."""

    response_method: str | Sequence[str] | Callable[..., Any] = "auto"
    target: Any = None
    subsample: float | None = None
    random_state: int | np.random.RandomState | None = None
    n_jobs: int | None = None
    verbose: int | None = None
    output_names_: list[Any] = field(init=False)
