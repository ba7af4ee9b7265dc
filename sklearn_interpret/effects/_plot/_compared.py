"""The effects that can be drawn beside each other, and their common zero."""

from dataclasses import dataclass

import numpy as np

from sklearn_interpret.effects._accumulated_local_effects import (
    AccumulatedLocalEffects,
)
from sklearn_interpret.effects._conditional_dependence import ConditionalDependence
from sklearn_interpret.effects._partial_dependence import PartialDependence


@dataclass(frozen=True)
class Compared:
    """A method: its inspector, what it is called, and where its results are."""

    kind: type
    text: str
    points: str
    values: str


COMPARED = {
    "partial_dependence": Compared(
        PartialDependence, "partial dependence", "grid_values_", "average_"
    ),
    "conditional_dependence": Compared(
        ConditionalDependence, "M-plot (conditional mean)", "centers_", "average_"
    ),
    "accumulated_local_effects": Compared(
        AccumulatedLocalEffects, "accumulated local effects", "edges_", "effects_"
    ),
}


def checked_methods(methods):
    """The names as a list.

    Raises
    ------
    ValueError
        An unknown name, a name twice, or none.
    """
    methods = [methods] if isinstance(methods, str) else list(methods)
    if not methods or len(set(methods)) < len(methods) or set(methods) - set(COMPARED):
        raise ValueError(
            f"methods={methods!r} must be distinct names out of {', '.join(COMPARED)}."
        )
    return methods


def method_of(inspector, display):
    """Name of the method that an inspector applies."""
    for name, compared in COMPARED.items():
        if isinstance(inspector, compared.kind):
            return name
    kinds = ", ".join(compared.kind.__name__ for compared in COMPARED.values())
    raise TypeError(
        f"{display} takes a fitted predictor, or a list of fitted inspectors out of "
        f"{kinds}; the list has {type(inspector).__name__}."
    )


def centred_effect(inspector, values, entry, X, sample_weight):
    """An effect (k, G), less its weighted mean over the rows of `X`."""
    one_way = [len(axes) == 1 for axes in inspector.axes_]
    k = len(inspector.output_names_)
    first = k * sum(one_way[:entry])
    at_rows = _bare_transform(inspector, X)[:, first : first + k]
    weights = np.ones(len(at_rows)) if sample_weight is None else sample_weight
    known = np.isfinite(at_rows).all(axis=1)
    mean = np.zeros(k)
    if np.any(np.asarray(weights)[known] > 0):
        mean = np.average(at_rows[known], axis=0, weights=np.asarray(weights)[known])
    return np.asarray(values).reshape(k, -1) - mean[:, None]


def _bare_transform(inspector, X):
    """`transform` as an array, whatever container `set_output` chooses."""
    return np.asarray(inspector.transform(X), dtype=np.float64)
