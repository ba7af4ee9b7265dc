"""Arrays of the display of a global surrogate, and their computation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_interpret._core.statistics.losses import agreement
from sklearn_interpret._model.responses.response import make_response
from sklearn_interpret._model.rows.arrays import as_rows
from sklearn_interpret._model.rows.validation import check_weights
from sklearn_interpret._model.surrogates.inner_predictors import innermost_name
from sklearn_interpret._model.surrogates.surrogate_predictions import (
    SurrogatePredictions,
)
from sklearn_interpret._plotting.displays import Display
from sklearn_interpret._plotting.sources import check_numbers, response_name
from sklearn_interpret.explanations._selection import output_position
from sklearn_interpret.surrogates._global import GlobalSurrogate, rows_inside
from sklearn_interpret.surrogates._leaves_and_coefficients import (
    leaves_of,
    read_surrogate,
    row_of_output,
)

if TYPE_CHECKING:
    from sklearn_interpret._plotting.displays import SplitParams
    from sklearn_interpret._plotting.sources import Data
    from sklearn_interpret.surrogates._leaves_and_coefficients import Leaf

MOST_OUTPUTS = 10  # panels of one figure


@dataclass(eq=False, repr=False)
class SurrogateArrays(Display):
    """Base of the display: its arrays, output by output."""

    _kinds = (GlobalSurrogate,)
    _choices = frozenset({"target", "response_name", "model_name", "surrogate_name"})
    _shows_rows = _weighs_rows = True

    responses: ArrayLike
    surrogate_responses: ArrayLike | None = None
    _: KW_ONLY
    trees: Sequence[dict[str, Any]] | None = None
    leaves: ArrayLike | None = None
    coefficients: ArrayLike | None = None
    deviations: ArrayLike | None = None
    column_names: Any = None
    output_names: Any = None
    target: Any = None
    sample_weight: ArrayLike | None = None
    agreement: float | None = None
    response_name: str = "response"
    model_name: str | None = None
    surrogate_name: str | None = None

    @classmethod
    def _parameter_names(cls) -> set[str]:
        # The surrogate is fitted to all outputs, of which the display shows one.
        return super()._parameter_names() - {"target"}

    @classmethod
    def _split_params(cls, params: dict[str, Any], fitted: bool) -> SplitParams:
        split = super()._split_params(params, fitted)
        # No output of the surrogate is a contrast, unless it is fitted to it.
        if not fitted and isinstance(split.choices.get("target"), dict):
            split.inspector["target"] = split.choices["target"]
        return split

    @classmethod
    def _from_inspector(
        cls, inspector: GlobalSurrogate, data: Data, **choices: Any
    ) -> Self:
        return cls(**{**surrogate_arrays(inspector, data), **choices})

    def _table(self, name: str) -> Any:
        """One of the arrays as (n, k), checked, or None."""
        array, n_rows = getattr(self, name), len(np.asarray(self.responses))
        if array is None:
            return None
        shapes, owner = [(n_rows,), (n_rows, None)], "the rows of responses"
        return check_numbers(array, name, shapes, owner, finite=False).reshape(
            n_rows, -1
        )

    def _responses(self) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
        """Responses of model and surrogate, (n, k) each; the second may be None."""
        values = self._table("responses")
        surrogate = self._table("surrogate_responses")
        if surrogate is not None and surrogate.shape != values.shape:
            raise ValueError(
                f"surrogate_responses has shape {surrogate.shape}, and responses "
                f"{values.shape}."
            )
        return values, surrogate

    def _weights(self) -> NDArray[np.float64]:
        if self.sample_weight is None:
            return np.ones(len(np.asarray(self.responses)))
        return self._table("sample_weight")[:, 0]

    def _names(self) -> list[Any]:
        """Names of all outputs."""
        n_outputs = self._table("responses").shape[1]
        names = list(self._named_outputs(n_outputs))
        if len(names) != n_outputs:
            raise ValueError(
                f"output_names has {len(names)} names for {n_outputs} outputs."
            )
        return names

    def _shown_outputs(self) -> list[int]:
        """Positions of the outputs that are drawn."""
        names = self._names()
        if self.target is not None:
            return [output_position(names, self.target)]
        if len(names) > MOST_OUTPUTS:
            first_names = ", ".join(map(repr, names[:MOST_OUTPUTS]))
            raise ValueError(
                f"There are {len(names)} outputs, too many for one figure: choose one "
                f"by target=, out of {first_names}, ..."
            )
        return list(range(len(names)))

    def _tree(self, output: int) -> dict[str, Any]:
        """The tree of an output."""
        trees = list(self.trees or ())
        return trees[output] if len(trees) > 1 else trees[0]

    def _leaves(self, output: int) -> list[Leaf]:
        """The leaves of an output's tree, from left to right."""
        responses, surrogate_responses = self._responses()
        nodes = self._table("leaves")
        if nodes is None:
            raise ValueError("leaves is None: the node of each row is needed.")
        nodes = nodes[:, output if nodes.shape[1] > 1 else 0]
        if surrogate_responses is not None:
            surrogate_responses = surrogate_responses[:, output]
        tree, weights = self._tree(output), self._weights()
        return leaves_of(
            tree, nodes, responses[:, output], surrogate_responses, weights
        )

    def _are_shares(self) -> bool:
        """Whether one tree gives shares of all classes, and all are shown."""
        values = self._table("responses")
        one_tree = self.trees is not None and len(list(self.trees)) == 1
        if not one_tree or self.target is not None or values.shape[1] == 1:
            return False
        return bool(values.min() >= 0 and np.allclose(values.sum(axis=1), 1))

    def _columns(
        self, output: int
    ) -> tuple[list[str], NDArray[np.float64], NDArray[np.float64]]:
        """Names, coefficients and deviations of the columns, for an output."""
        coefficients = row_of_output(self.coefficients, output)
        deviations = np.ones(len(coefficients))
        if self.deviations is not None:
            deviations = row_of_output(self.deviations, output)
        names = self.column_names
        names = [f"x{j}" for j in range(len(coefficients))] if names is None else names
        return list(map(str, names)), coefficients, deviations


def surrogate_arrays(inspector: GlobalSurrogate, data: Data) -> dict[str, Any]:
    """Constructor arguments with the responses of model and surrogate to rows."""
    rows = as_rows(data.X)
    weights = check_weights(data.sample_weight, rows)
    rows, weights = rows_inside(inspector, rows, weights)
    response = make_response(
        inspector.estimator_, inspector.response_method, inspector.target
    )
    surrogate = SurrogatePredictions(inspector.surrogate_, response)
    agreed_share = None
    if hasattr(inspector, "agreement_"):
        model_labels = inspector.black_box_predict(rows.native)
        agreed_share = agreement(model_labels, inspector.predict(rows.native), weights)
    output_names = list(inspector.output_names_)
    content = read_surrogate(inspector.surrogate_, output_names, rows, weights)
    return {
        "responses": response(rows.native),
        "surrogate_responses": surrogate.responses(rows.native),
        "sample_weight": weights,
        "agreement": agreed_share,
        "output_names": output_names,
        "response_name": response_name(inspector),
        "model_name": innermost_name(inspector.estimator_),
        "surrogate_name": innermost_name(inspector.surrogate_),
        **({} if content is None else content._asdict()),
    }
