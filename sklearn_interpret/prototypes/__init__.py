"""Prototypes: rows that stand for the others, and rows that none of them stands for."""

from sklearn_interpret.prototypes._k_medoids import KMedoids
from sklearn_interpret.prototypes._mmd_critic import MMDCritic
from sklearn_interpret.prototypes._nearest_prototype import (
    NearestPrototypeClassifier,
    NearestPrototypeRegressor,
)
from sklearn_interpret.prototypes._plot._prototype import PrototypeDisplay

__all__ = [
    "KMedoids",
    "MMDCritic",
    "NearestPrototypeClassifier",
    "NearestPrototypeRegressor",
    "PrototypeDisplay",
]
