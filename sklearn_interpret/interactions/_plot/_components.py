"""Base of the displays of components of a response."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sklearn_interpret._core.statistics.weighted import shares_of_variance
from sklearn_interpret._plotting.displays import ExplanationDisplay
from sklearn_interpret._plotting.sources import check_numbers
from sklearn_interpret.explanations import InteractionExplanation
from sklearn_interpret.explanations._selection import one_output, output_position
from sklearn_interpret.interactions._functional_decomposition import (
    FunctionalDecomposition,
)

ROUNDING = 1e-12  # shares below this are rounding errors


class ComponentDisplay(ExplanationDisplay):
    """Base of the displays of an `InteractionExplanation`."""

    _kinds = (FunctionalDecomposition,)
    _explanation_kind = InteractionExplanation

    def _output_explanation(self) -> InteractionExplanation:
        """The explanation of the output that is drawn, without an axis of outputs."""
        explanation = self._check_explanation()
        n_sets = len(explanation.interactions)
        shapes = [(None, n_sets), (None, n_sets, None)]
        check_numbers(explanation.values, "values", shapes, f"{n_sets} interactions")
        return one_output(explanation, self.target)

    def _full_response_label(self) -> str:
        names = self.explanation.output_names
        return self._response_label(names, output_position(names, self.target))


def variances_and_shares(
    explanation: InteractionExplanation,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Variances of the components over the rows, and their shares of the total.

    The last variance and the last share are those of the remainder.
    """
    components = np.column_stack([explanation.values, explanation.remainder])
    predictions = explanation.predictions[:, None]
    variances = components.var(axis=0)
    shares = shares_of_variance(
        variances,
        sums=(components + predictions).var(axis=0),
        total=predictions.var(axis=0),
        mean=predictions.mean(axis=0),
    )
    return variances, shares
