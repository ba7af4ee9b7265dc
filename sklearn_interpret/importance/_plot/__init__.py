"""Display of importances."""

from sklearn_interpret.importance._plot._permutation import PermutationImportanceDisplay

__all__ = ["PermutationImportanceDisplay"]
