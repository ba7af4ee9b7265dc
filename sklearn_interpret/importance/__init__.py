"""Which features the model needs."""

from sklearn_interpret.importance._permutation import PermutationImportance

__all__ = ["PermutationImportance"]
