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
    estimator: Any = dataclass(kw_only=True, eq=False, repr=False)(cls)
    signature = inspect.signature(estimator.__init__)
    first, *parameters = signature.parameters.values()  # `self` comes first
    parameters.sort(key=lambda parameter: (parameter.kind, names.index(parameter.name)))
    estimator.__init__.__signature__ = signature.replace(
        parameters=[first, *parameters]
    )
    return estimator


@estimator_dataclass
class SampleInspector(BaseInspector):
    """Base of the inspectors of responses to a sample of the rows."""

    max_rows: int | None = None
    response_method: str | Sequence[str] | Callable[..., Any] = "auto"
    target: Any = None
    subsample: float | None = None
    random_state: int | np.random.RandomState | None = None
    n_jobs: int | None = None
    verbose: int | None = None
    output_names_: list[Any] = field(init=False)
