"""Importance of features."""

from sklearn_interpret.importance._conditional_importance_test import (
    ConditionalImportanceTest,
)
from sklearn_interpret.importance._drop_column import DropColumnImportance
from sklearn_interpret.importance._partial_dependence import PartialDependenceImportance
from sklearn_interpret.importance._permutation import PermutationImportance
from sklearn_interpret.importance._permutation_test import PermutationTest
from sklearn_interpret.importance._plot._conditional_importance import (
    ConditionalImportanceDisplay,
)
from sklearn_interpret.importance._plot._permutation import PermutationImportanceDisplay
from sklearn_interpret.importance._sage import SAGE

__all__ = [
    "SAGE",
    "ConditionalImportanceDisplay",
    "ConditionalImportanceTest",
    "DropColumnImportance",
    "PartialDependenceImportance",
    "PermutationImportance",
    "PermutationImportanceDisplay",
    "PermutationTest",
]
