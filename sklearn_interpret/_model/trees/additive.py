"""Whether a response is the plain sum of a model's trees, and which one."""

from dataclasses import dataclass

import numpy as np

from sklearn_interpret._model.tags import unfrozen
from sklearn_interpret._model.trees import read_trees
from sklearn_interpret._model.trees.tree_model import TreeModel
from sklearn_interpret.exceptions import UnreadableModelError

# Libraries that add up in single precision differ by this much from the sum of trees.
_TOLERANCE = 1e-5


@dataclass(frozen=True, eq=False)
class AdditiveTrees:
    """A response that is a sum of trees.

    Build it with :func:`additive_trees`.

    Parameters
    ----------
    model : TreeModel
        The trees.
    values : ndarray of shape (n_nodes, n_outputs)
        What each leaf adds to the response; zero at other nodes.
    base : ndarray of shape (n_outputs,)
        The response without any tree.
    """

    model: TreeModel
    values: np.ndarray
    base: np.ndarray

    def check(self, response, X, codes):
        """Refuse trees whose sum is not what the model itself returns.

        Parameters
        ----------
        response : Response
            The model.
        X : native container
            Rows.
        codes : ndarray of shape (n_rows, n_features), int
            Their codes.

        Raises
        ------
        UnreadableModelError
            The sum differs from the response.
        ValueError
            Whatever the model has to say of the rows.
        """
        asked = response(X)
        added = self.values[self.model.ensemble.apply_codes(codes)]
        scale = np.abs(self.base) + np.abs(added).sum(axis=1)
        added = self.base + added.sum(axis=1)
        if added.shape != asked.shape or np.any(
            np.abs(added - asked) > _TOLERANCE * scale
        ):
            raise UnreadableModelError(
                f"The response of {_name(response)} is not the sum of the trees that "
                "were read from it."
            )


def additive_trees(response):
    """Read a model whose response is the plain sum of its trees.

    That is so for `predict` of regressors without a link function, `predict_proba` of
    single trees and forests, and `decision_function` of boosted classifiers.

    Parameters
    ----------
    response : Response
        The model, and how it is asked.

    Returns
    -------
    AdditiveTrees

    Raises
    ------
    UnreadableModelError
        Saying why the model can't be read, or what its trees add up to instead.
    """
    return sum_of_trees(read_trees(response.estimator), response)


def sum_of_trees(model, response):
    """The same for a model that was read.

    Parameters
    ----------
    model : TreeModel
        The trees.
    response : Response
        The model, and how it is asked.

    Returns
    -------
    AdditiveTrees

    Raises
    ------
    UnreadableModelError
        Saying what the trees add up to instead.
    """
    methods = _additive_methods(model)
    labels = response.method == "predict" and response.classes is not None
    if callable(response.method) or response.method not in methods or labels:
        method = response.method
        method = repr(method) if callable(method) else f'response_method="{method}"'
        instead = " or ".join(f'response_method="{name}"' for name in sorted(methods))
        raise UnreadableModelError(
            f"{method} of {_name(response)} is not the plain sum of its trees"
            + (f"; {instead} is." if instead else ".")
        )
    k = model.ensemble.n_outputs
    # The response picks columns: let it do so with those of the identity.
    picked = response.read(as_answered(np.eye(k), model.classes))
    trees = model.ensemble
    return AdditiveTrees(model, trees.value @ picked, trees.base @ picked)


def _additive_methods(model):
    """Methods that return the sum of the trees as it is."""
    methods = set()
    if model.raw_method is not None and not model.raw_params:
        methods.add(model.raw_method)
    if model.link == "identity" and model.link_scale == 1:
        methods.add(model.response_method)
    return methods - {None}


def as_answered(outputs, classes):
    """Outputs side by side as a method returns them: a list for several targets."""
    if not isinstance(classes, list):
        return outputs
    ends = np.cumsum([len(labels) for labels in classes])
    return np.split(outputs, ends[:-1], axis=1)


def _name(response):
    return type(unfrozen(response.estimator)).__name__
