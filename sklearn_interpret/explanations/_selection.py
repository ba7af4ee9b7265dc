"""Choice of a row and an output of an explanation."""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sklearn_interpret._model._sklearn_compat import safe_indexing
from sklearn_interpret._model.rows.arrays import as_rows
from sklearn_interpret._model.rows.features import shortened

if TYPE_CHECKING:
    from pandas import DataFrame

    from sklearn_interpret.explanations._base import BaseExplanation


def row_position(row: int, n_rows: int, sample: str = "row") -> int:
    """Nonnegative position of a row.

    Parameters
    ----------
    row : int
        The user's position; negative ones count from the end.
    n_rows : int
        Number of rows.
    sample : str, default="row"
        Word for a row in errors.
    """
    if not hasattr(row, "__index__") or isinstance(row, bool):
        raise TypeError(f"row={row!r} must be the position (int) of one {sample}.")
    place = row.__index__()
    if not -n_rows <= place < n_rows:
        raise ValueError(
            f"row={row!r} is not one of the {n_rows} {sample}s, which are counted from "
            "0."
        )
    return place % n_rows


def names_of_rows(data: DataFrame | NDArray[Any] | None, n_rows: int) -> NDArray[Any]:
    """Labels of rows in the index of a pandas table, else their positions."""
    if hasattr(data, "iloc"):
        return np.asarray(data.index, dtype=object)
    return np.arange(n_rows)


def are_positions(names: NDArray[Any]) -> bool:
    """Whether names of rows say no more than their positions."""
    return np.array_equal(names, np.arange(len(names)))


def take_rows(
    data: DataFrame | NDArray[np.float64], positions: NDArray[np.intp]
) -> DataFrame | NDArray[np.float64]:
    """Rows of a table, or entries of a list of texts or an array of images."""
    if len(getattr(data, "shape", ())) == 2:
        return as_rows(data).native_at(positions)
    return safe_indexing(data, positions)


def output_position(
    names: list[bool | str] | tuple[Any, ...], target: bool | str | None
) -> int:
    """Position of the output that `target` names.

    Parameters
    ----------
    names : sequence
        Class labels, or positions of outputs.
    target : class label, int or None
        A name, a position if the names are not numbers, or None for the only output.
    """
    names = list(names)
    if target is None:
        if len(names) == 1:
            return 0
        raise ValueError(
            f"There are {len(names)} outputs: choose one by target=, out of "
            f"{_listed(names)}."
        )
    found = [place for place, name in enumerate(names) if _same(name, target)]
    if len(found) == 1:
        return found[0]
    numbered = any(isinstance(name, Integral) for name in names)
    position = isinstance(target, Integral) and not isinstance(target, bool)
    if position and not numbered and 0 <= target < len(names):
        return int(target)
    raise ValueError(f"target={target!r} is not an output; there are {_listed(names)}.")


def one_output(explanation: BaseExplanation, target: Any) -> BaseExplanation:
    """The explanation of one output alone, without an axis of outputs."""
    output = output_position(explanation.output_names, target)
    if explanation.values.ndim == 2:
        return explanation
    arrays = "values", "base_values", "predictions", "standard_errors"
    known = {name: getattr(explanation, name, None) for name in arrays}
    return replace(
        explanation,
        output_names=(explanation.output_names[output],),
        **{name: each[..., output] for name, each in known.items() if each is not None},
    )


def _same(name: bool | str, target: bool | str) -> bool:
    try:
        return bool(name == target)
    except (TypeError, ValueError):  # arrays and the like
        return False


def _listed(names: list[bool | str]) -> str:
    return shortened([n.item() if isinstance(n, np.generic) else n for n in names])
