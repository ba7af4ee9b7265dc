"""Displays of interactions from predictors, inspectors and folds."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from sklearn_interpret._model.responses.response import count_outputs, make_response
from sklearn_interpret._model.rows.arrays import as_rows
from sklearn_interpret._plotting.displays import Display
from sklearn_interpret._plotting.sources import response_name
from sklearn_interpret.explanations._selection import output_position


class InteractionSources(Display):
    """Constructors of a display of one output's interactions."""

    # The response and the output of an inspector, for labels.
    response_name: str | None = None
    output_name: Any = None
    strength_name: str
    # Strengths by the names of their arrays, with an axis of folds in front.
    _by_fold: Any = None

    def _set_response(self, inspector: Any, target: Any) -> Self:
        """Set the response and the output of the inspector; return the display."""
        output = output_position(inspector.output_names_, target)
        self.response_name = response_name(inspector)
        self.output_name = inspector.output_names_[output]
        return self

    def _strength_label(self) -> str:
        """Name of the strengths, and of the response."""
        if self.response_name is None:
            return self.strength_name
        response = self._response_label([self.output_name], 0)
        return f"{self.strength_name}\n{response}"

    @classmethod
    def _check_request(cls, estimator: Any, X: Any, parameters: dict[str, Any]) -> None:
        """Refuse several outputs without a target, before the inspection runs."""
        if parameters.get("target") is None:
            method = parameters.get("response_method", "auto")
            response = make_response(estimator, method)
            n_outputs = count_outputs(response, as_rows(X).take([0]))
            output_position(response.output_names(n_outputs), None)


def one_output(
    values: NDArray[np.float64], n_axes: int, output: int
) -> NDArray[np.float64]:
    """Values of one output, if there is an axis of outputs."""
    return values[output] if np.ndim(values) > n_axes else values
