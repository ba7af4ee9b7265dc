"""Prototypes: rows that stand for the others, and rows that none of them stands for."""

from sklearn_interpret.prototypes._k_medoids import KMedoids

__all__ = ["KMedoids"]
