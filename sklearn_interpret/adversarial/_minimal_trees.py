"""The smallest perturbations of tree models."""

from sklearn_interpret.exceptions import UnreadableModelError


class TreePerturbation:
    """Finds the nearest rows that a tree model answers as wished."""

    def __init__(self, known, time_limit):
        raise UnreadableModelError("Trees are not read yet.")
