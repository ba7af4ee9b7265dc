"""Base of the inspectors that attribute responses by the formula of the model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_interpret._inspectors.attribution import BaseAttribution
from sklearn_interpret._inspectors.params import estimator_dataclass


@estimator_dataclass
class BaseFormulaAttribution(BaseAttribution):
    """Base of the inspectors that read the trees or the weights of the model."""

    perturbation: str = "interventional"
    background: Any = None
    feature_groups: dict[str, Any] | None = None
    response_method: str | Sequence[str] = "auto"
    target: Any = None
    subsample: float | None = None
    random_state: int | np.random.RandomState | None = None
    n_jobs: int | None = None
    verbose: int | None = None

    response_method_: str = field(init=False)

    _parameter_constraints = {
        **BaseAttribution._parameter_constraints,
        "background": "no_validation",
        "response_method": [str, list, tuple],
    }

    def _players(self, columns: NDArray[np.intp]) -> NDArray[np.intp]:
        """Player of each column that the model gets, from the input column of each."""
        player = np.empty(self.n_features_in_, dtype=np.intp)
        for position, members in enumerate(self.features_):
            player[list(members)] = position
        return player[columns]
