"""Result of a local method: how much each feature gave to each prediction."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Explanation:
    """Attributions of predictions to features."""

    values: np.ndarray
