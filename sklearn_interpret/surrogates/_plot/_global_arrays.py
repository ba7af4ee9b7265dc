"""What the display of a global surrogate holds, checked when it is asked for."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sklearn_interpret._choosing import output_position
from sklearn_interpret.surrogates._plot._leaves import leaves_of

MOST_OUTPUTS = 10


class SurrogateArrays:
    """Base of the display: its arrays, output by output."""

    def __init__(
        self,
        responses: ArrayLike,
        surrogate_responses: ArrayLike | None = None,
        *,
        trees: Sequence[dict[str, Any]] | None = None,
        leaves: ArrayLike | None = None,
        coefficients: ArrayLike | None = None,
        deviations: ArrayLike | None = None,
        column_names: Any = None,
        output_names: Any = None,
        target: Any = None,
        sample_weight: ArrayLike | None = None,
        agreement: float | None = None,
        response_name: str = "response",
        model_name: str | None = None,
        surrogate_name: str | None = None,
    ) -> None:
        self.responses = responses
        self.surrogate_responses = surrogate_responses
        self.trees = trees
        self.leaves = leaves
        self.coefficients = coefficients
        self.deviations = deviations
        self.column_names = column_names
        self.output_names = output_names
        self.target = target
        self.sample_weight = sample_weight
        self.agreement = agreement
        self.response_name = response_name
        self.model_name = model_name
        self.surrogate_name = surrogate_name

    def _table(self, name):
        """One of the arrays as (n, k), checked, or None."""
        given = getattr(self, name)
        if given is None:
            return None
        table = np.asarray(given)
        table = table[:, None] if table.ndim == 1 else table
        n_rows = len(np.asarray(self.responses))
        if table.ndim != 2 or len(table) != n_rows or not table.size:
            raise ValueError(
                f"{name} has shape {np.shape(given)}; {n_rows} rows are needed, "
                "and one or more columns."
            )
        return table

    def _responses(self):
        """What model and surrogate answer, (n, k) each; the second may be None."""
        values = self._table("responses").astype(np.float64)
        answers = self._table("surrogate_responses")
        if answers is not None and answers.shape != values.shape:
            raise ValueError(
                f"surrogate_responses has shape {answers.shape}, and responses "
                f"{values.shape}."
            )
        return values, None if answers is None else answers.astype(np.float64)

    def _weights(self):
        if self.sample_weight is None:
            return np.ones(len(np.asarray(self.responses)))
        return self._table("sample_weight")[:, 0].astype(np.float64)

    def _names(self):
        """Names of all outputs."""
        n_outputs = self._table("responses").shape[1]
        names = range(n_outputs) if self.output_names is None else self.output_names
        names = list(names)
        if len(names) != n_outputs:
            raise ValueError(
                f"output_names has {len(names)} names for {n_outputs} outputs."
            )
        return names

    def _shown_outputs(self):
        """Positions of the outputs that are drawn."""
        names = self._names()
        if self.target is not None:
            return [output_position(names, self.target)]
        if len(names) > MOST_OUTPUTS:
            shown = ", ".join(map(repr, names[:MOST_OUTPUTS]))
            raise ValueError(
                f"There are {len(names)} outputs, too many for one figure: choose one "
                f"by target=, out of {shown}, ..."
            )
        return list(range(len(names)))

    def _tree(self, output):
        """The tree of an output."""
        trees = list(self.trees)
        return trees[output] if len(trees) > 1 else trees[0]

    def _leaves(self, output):
        """The leaves of an output's tree, from left to right."""
        values, answers = self._responses()
        nodes = self._table("leaves")
        if nodes is None:
            raise ValueError("leaves is None: the node of each row is needed.")
        nodes = nodes[:, output if nodes.shape[1] > 1 else 0]
        answers = None if answers is None else answers[:, output]
        tree = self._tree(output)
        return leaves_of(tree, nodes, values[:, output], answers, self._weights())

    def _lines(self, output):
        """Names, coefficients and deviations of the columns, for an output."""
        coefficients = np.atleast_2d(np.asarray(self.coefficients, np.float64))
        deviations = np.ones(coefficients.shape[1])
        if self.deviations is not None:
            deviations = np.asarray(self.deviations, np.float64)
        coefficients, deviations = (
            table[output] if len(table) > 1 else table[0]
            for table in (coefficients, np.atleast_2d(deviations))
        )
        names = self.column_names
        names = [f"x{j}" for j in range(len(coefficients))] if names is None else names
        return list(map(str, names)), coefficients, deviations
