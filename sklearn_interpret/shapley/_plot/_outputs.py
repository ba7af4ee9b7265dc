"""Which output of an explanation is drawn."""

from dataclasses import replace

import numpy as np

from sklearn_interpret._choosing import output_position
from sklearn_interpret._plotting.labels import drawn_response
from sklearn_interpret.explanations import Explanation


def checked(explanation):
    """The explanation, if it is one and there is something to draw.

    Raises
    ------
    TypeError
        Something else.
    ValueError
        No rows, no features, or values that are not finite.
    """
    if not isinstance(explanation, Explanation):
        raise TypeError(
            f"An Explanation is needed; got {type(explanation).__name__}. Its values "
            "alone become one by Explanation(values, base_values)."
        )
    n_rows, n_features = explanation.values.shape[:2]
    for count, what in ((n_rows, "rows"), (n_features, "features")):
        if not count:
            raise ValueError(f"The explanation has no {what}: nothing to draw.")
    for name in ("values", "base_values", "predictions"):
        array = getattr(explanation, name)
        if array is None or np.isfinite(array).all():
            continue
        bad = np.flatnonzero(~np.isfinite(array).reshape(n_rows, -1).all(axis=1))
        raise ValueError(
            f"The explanation's {name} are not finite in row {bad[0]} ({len(bad)} such "
            "rows)."
        )
    return explanation


def one_output(explanation, target):
    """The explanation of one output alone, without an axis of outputs."""
    output = output_position(explanation, target)
    if explanation.values.ndim == 2:
        return explanation

    def pick(array):
        return None if array is None else array[..., output]

    return replace(
        explanation,
        values=pick(explanation.values),
        base_values=pick(explanation.base_values),
        predictions=pick(explanation.predictions),
        standard_errors=pick(explanation.standard_errors),
        output_names=(explanation.output_names[output],),
    )


def output_text(explanation, target, response_name):
    """The response drawn, with its output where there are several."""
    output = output_position(explanation, target)
    return drawn_response(response_name, explanation.output_names, output)
