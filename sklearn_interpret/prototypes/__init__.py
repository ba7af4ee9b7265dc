"""Rows that represent the others, and rows that nothing represents."""

from sklearn_interpret.prototypes._mmd_critic import MMDCritic

__all__ = ["MMDCritic"]
