"""Which features the model needs."""

from sklearn_interpret.importance._drop_column import DropColumnImportance
from sklearn_interpret.importance._partial_dependence import (
    PartialDependenceImportance,
)
from sklearn_interpret.importance._permutation_test import PermutationTest

__all__: list[str] = [
    "DropColumnImportance",
    "PartialDependenceImportance",
    "PermutationTest",
]
