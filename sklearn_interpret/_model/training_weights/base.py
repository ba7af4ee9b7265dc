"""What readers of training weights return, and what they get."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from sklearn_interpret._model.rows.base import Rows


@dataclass(frozen=True, eq=False)
class TrainingData:
    """The rows that a model was fitted on.

    Parameters
    ----------
    rows : Rows
        The rows, as the last step of the model gets them.
    targets : ndarray of shape (n, k)
        Targets; of a classifier, an indicator of each class.
    weights : ndarray of shape (n,)
        Weights of the rows in `fit`; ones without.
    """

    rows: Rows
    targets: NDArray[np.float64]
    weights: NDArray[np.float64]


class TrainingWeights(ABC):
    """Weights of the training targets in predictions.

    f(x) = offset + sum_i w_i(x) (y_i - offset). The offset is zero but where training
    starts from a fixed prediction: it then weighs what the targets differ by.

    A reader makes it from a fitted model and its `TrainingData`, or raises
    UnreadableModelError with the reason. All outputs have the same weights.

    Attributes
    ----------
    offset : float
        The fixed prediction from which training starts.
    """

    offset: float = 0.0

    @property
    @abstractmethod
    def row_bytes(self) -> int:
        """Bytes of working memory that an explained row takes, its weights included."""

    @abstractmethod
    def weights(self, rows: Rows) -> NDArray[np.float64]:
        """Weights (m, n) of the training rows in the predictions of rows.

        Rows are as the last step of the model gets them.
        """


# A reader takes the last step of a fitted model, and its training data.
Reader = Any
