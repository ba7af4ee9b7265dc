"""Which sample and output of an explanation is meant, and what it is called."""

from numbers import Integral

import numpy as np

from sklearn_interpret._model.tags import is_classifier


def row_position(row, n_rows, sample="row"):
    """Position of a row, counted from the front.

    Parameters
    ----------
    row : int
        The position that the user gave; negative ones count from the end.
    n_rows : int
        How many there are.
    sample : str, default="row"
        What a row is called in errors.

    Returns
    -------
    int

    Raises
    ------
    TypeError
        No whole number.
    ValueError
        Not one of the rows.
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


def output_position(explanation, target):
    """Position of the output that `target` names.

    Raises
    ------
    ValueError
        Not one of the outputs, or None where there are several; both list the names.
    """
    names = list(explanation.output_names)
    if target is None:
        if len(names) == 1:
            return 0
        raise ValueError(
            f"The explanation has {len(names)} outputs: choose one by target=, out of "
            f"{_listed(names)}."
        )
    found = [place for place, name in enumerate(names) if _same(name, target)]
    if len(found) == 1:
        return found[0]
    numbered = any(isinstance(name, Integral) for name in names)
    position = isinstance(target, Integral) and not isinstance(target, bool)
    if position and not numbered and 0 <= target < len(names):
        return int(target)
    raise ValueError(
        f"target={target!r} is not an output of the explanation; its outputs are "
        f"{_listed(names)}."
    )


def predictions_of(explanation):
    """Predictions; where none are given, what base values and attributions sum to."""
    if explanation.predictions is not None:
        return explanation.predictions
    return explanation.base_values + explanation.values.sum(axis=1)


def response_text(inspector, explanation):
    """What the values are shares of: the model's method, and the output if one of many.

    An inspector that settles its response in `fit` says so in `response_method_`.
    """
    method = getattr(inspector, "response_method_", None)
    method = getattr(inspector, "response_method", "auto") if method is None else method
    predictor = getattr(inspector, "estimator_", None)
    classifies = predictor is not None and is_classifier(predictor)
    regresses = predictor is not None and not classifies
    if callable(method):
        method = getattr(method, "__name__", type(method).__name__)
    elif method == "auto" or not isinstance(method, str):
        method = "predict" if regresses else "response"
    one = explanation.values.ndim == 2
    if one and (classifies or getattr(inspector, "target", None) is not None):
        return f"{method}[{explanation.output_names[0]}]"
    return method


def _same(name, target):
    try:
        return bool(name == target)
    except (TypeError, ValueError):  # arrays and the like
        return False


def _listed(names, most=10):
    plain = [name.item() if isinstance(name, np.generic) else name for name in names]
    shown = ", ".join(map(repr, plain[:most]))
    return shown + (", ..." if len(names) > most else "")
