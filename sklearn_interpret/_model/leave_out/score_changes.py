"""Changes of a model's scores without each of some lists of training rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sklearn_interpret._model.parallel import slices, working_bytes
from sklearn_interpret._model.responses.predictors import is_classifier

if TYPE_CHECKING:
    from sklearn_interpret._model.gradients.objectives import ScoredModel

# Most changes of scores in a block of rows (32 MB).
_BLOCK_SIZE = 2**22
# Bytes of a change: eight floats, for temporary arrays of the same size.
_CHANGE_BYTES = 64


class ScoreChanges(ABC):
    """Changes of the scores of rows without each deletion: rows removed together.

    Attributes
    ----------
    scored_model : ScoredModel
        The model, its loss, and what its scores mean.
    inputs : ndarray of shape (n, d)
        Inputs of the scores of the training rows: `inputs_of` them.
    weights : ndarray of shape (n,)
        Weights of the training rows.
    deletion_of_row : ndarray of shape (n,)
        The deletion that removes each training row.
    """

    scored_model: ScoredModel
    inputs: NDArray[Any]
    weights: NDArray[np.float64]
    deletion_of_row: NDArray[np.intp]

    def inputs_of(self, X: Any) -> NDArray[Any]:
        """The inputs of the scores of rows, (m, d): numbers, or leaves of trees."""
        return self.scored_model.activations(X)[0]

    @abstractmethod
    def scores(self, inputs: NDArray[Any]) -> NDArray[np.float64]:
        """Scores (m, k) of the model of all rows."""

    @abstractmethod
    def changes(
        self, inputs: NDArray[Any], deletions: Any = slice(None)
    ) -> NDArray[np.float64]:
        """Changes (m, n_deletions, k) of the scores without some deletions' rows."""

    @abstractmethod
    def own_changes(self) -> NDArray[np.float64]:
        """Changes (n, k) of each training row's scores by the deletion of itself."""

    @abstractmethod
    def losses_after_refit(
        self, mask: NDArray[np.bool_], y: NDArray[Any], weights: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Losses (n,) of the training rows by a model fitted to those of a mask."""

    @property
    def parameter_changes(self) -> NDArray[np.float64]:
        """Changes (n_deletions, n_parameters) of the parameters, if there are any."""
        name = type(self.scored_model.model).__name__
        raise AttributeError(f"{name} has no parameters: its trees have leaves.")

    @property
    def n_deletions(self) -> int:
        """Number of deletions."""
        return int(self.deletion_of_row.max()) + 1

    def row_blocks(self, n_rows: int, n_deletions: int) -> Iterator[slice]:
        """Slices of rows whose changes by some deletions fit in memory."""
        return self._blocks(n_rows, n_deletions, _BLOCK_SIZE)

    def deletion_blocks(self, n_rows: int) -> Iterator[slice]:
        """Slices of deletions whose changes of some rows fit in memory."""
        return self._blocks(self.n_deletions, n_rows, _BLOCK_SIZE)

    def _blocks(self, length: int, n_others: int, most: float) -> Iterator[slice]:
        size = int(min(most, working_bytes() / _CHANGE_BYTES))
        return slices(
            length, max(1, size // (n_others * self.scored_model.score_function.width))
        )

    def check_keeps_classes(self, mask: NDArray[np.bool_], y: NDArray[Any]) -> None:
        """Refuse to fit again to the rows of a mask if a class is lost."""
        if not is_classifier(self.scored_model.model):
            return
        lost_classes = np.setdiff1d(y, y[mask])
        if len(lost_classes):
            raise ValueError(
                f"Without row {np.flatnonzero(~mask)[0]} there is none of the class "
                f"{lost_classes.tolist()[0]!r}: the model can't be fitted again."
            )
