"""Choice of a row and an output of an explanation."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from numbers import Integral
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_interpret._model._sklearn_compat import safe_indexing
from sklearn_interpret._model.responses.response import contrast_name
from sklearn_interpret._model.rows.arrays import as_rows
from sklearn_interpret._model.rows.features import shortened

if TYPE_CHECKING:
    from sklearn_interpret.explanations._attributions import Explanation
    from sklearn_interpret.explanations._interactions import InteractionExplanation

    Attributions = TypeVar("Attributions", Explanation, InteractionExplanation)


def row_position(row: Any, n_rows: int, sample: str = "row") -> int:
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
    position = row.__index__()
    if not -n_rows <= position < n_rows:
        raise ValueError(
            f"row={row!r} is not one of the {n_rows} {sample}s, which are counted from "
            "0."
        )
    return position % n_rows


def names_of_rows(data: Any, n_rows: int) -> NDArray[Any]:
    """Labels of rows in the index of a pandas table, else their positions."""
    if hasattr(data, "iloc"):
        return np.asarray(data.index, dtype=object)
    return np.arange(n_rows)


def are_positions(names: ArrayLike) -> bool:
    """Whether names of rows say no more than their positions."""
    return np.array_equal(names, np.arange(np.size(names)))


def take_rows(data: Any, positions: NDArray[np.intp] | list[int]) -> Any:
    """Rows of a table, or entries of a list of texts or an array of images."""
    if len(getattr(data, "shape", ())) == 2:
        return as_rows(data).native_at(positions)
    return safe_indexing(data, positions)


def output_position(names: Iterable[Any], target: Any) -> int:
    """Position of the output that `target` names.

    Parameters
    ----------
    names : sequence
        Class labels, or positions of outputs.
    target : class label, int, dict or None
        A name, a position if the names are not numbers, the contrast of which the
        output is, or None for the only output.
    """
    names = list(names)
    if isinstance(target, dict):  # the one output of a contrast has its name
        target = contrast_name(target)
    if target is None:
        if len(names) == 1:
            return 0
        raise ValueError(
            f"There are {len(names)} outputs: choose one by target=, out of "
            f"{_names_text(names)}."
        )
    equal = [position for position, name in enumerate(names) if _is_same(name, target)]
    if len(equal) == 1:
        return equal[0]
    numbered = any(isinstance(name, Integral) for name in names)
    is_position = isinstance(target, Integral) and not isinstance(target, bool)
    if is_position and not numbered and 0 <= target < len(names):
        return int(target)
    raise ValueError(
        f"target={target!r} is not an output; there are {_names_text(names)}."
    )


def one_output(explanation: Attributions, target: Any) -> Attributions:
    """The explanation of one output alone, without an axis of outputs."""
    output = output_position(explanation.output_names, target)
    if explanation.values.ndim == 2:
        return explanation
    arrays = "values", "base_values", "predictions", "standard_errors"
    fields: dict[str, Any] = {
        name: getattr(explanation, name)[..., output]
        for name in arrays
        if getattr(explanation, name, None) is not None
    }
    names = (explanation.output_names[output],)
    return replace(explanation, output_names=names, **fields)


def _is_same(name: Any, target: Any) -> bool:
    try:
        return bool(name == target)
    except (TypeError, ValueError):  # arrays and the like
        return False


def _names_text(names: list[Any]) -> str:
    return shortened([n.item() if isinstance(n, np.generic) else n for n in names])
