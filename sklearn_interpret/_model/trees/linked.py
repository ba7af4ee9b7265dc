"""Responses that are known functions of sums of trees, and those functions."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from sklearn_interpret._model.response import CENTERED_LOG_PROBA
from sklearn_interpret._model.tags import unfrozen
from sklearn_interpret._model.trees import read_trees
from sklearn_interpret._model.trees.additive import (
    AdditiveTrees,
    as_answered,
    sum_of_trees,
)
from sklearn_interpret.exceptions import NonFiniteResponseError, UnreadableModelError

# Libraries that add up in single precision differ by this much from the sum of trees.
_TOLERANCE = 1e-5

# Scores that are closer than this, relative to their size, are the same: which class
# wins must not hang on the order in which trees were added up.
_SAME_SCORE = 1e-12


@dataclass(frozen=True, eq=False)
class LinkedTrees(AdditiveTrees):
    """A response that is a function of a sum of trees.

    Build it with :func:`linked_trees`.

    Parameters
    ----------
    model, values, base : object
        The sum, as in :class:`AdditiveTrees`.
    link : callable or None, default=None
        Sums (n, n_sums) to responses (n, n_outputs); None where they are the same.
    refusal : UnreadableModelError or None, default=None
        Why the response is no plain sum of trees.
    """

    link: Callable | None = None
    refusal: UnreadableModelError | None = None

    def check(self, response, X, codes):
        """Refuse trees that do not give what the model itself returns.

        Parameters
        ----------
        response, X, codes : object
            As in :meth:`AdditiveTrees.check`.
        """
        if self.link is None:
            super().check(response, X, codes)
            return
        asked = response(X)
        added = self.values[self.model.ensemble.apply_codes(codes)]
        scale = 1 + (np.abs(self.base) + np.abs(added).sum(axis=1)).max(axis=1)
        found = self.link(self.base + added.sum(axis=1))
        allowed = _TOLERANCE * scale[:, None] * (1 + np.abs(asked))
        if found.shape != asked.shape or np.any(np.abs(found - asked) > allowed):
            raise UnreadableModelError(
                f"The response of {type(unfrozen(response.estimator)).__name__} is not "
                "the function of the trees that were read from it."
            )

    def finished(self, sums):
        """Responses where the sums of the trees are known.

        Parameters
        ----------
        sums : ndarray of shape (..., n_sums)
            Sums of trees.

        Returns
        -------
        ndarray of shape (..., n_outputs)

        Raises
        ------
        NonFiniteResponseError
            A response is infinite, such as the logarithm of a probability of zero.
        """
        if self.link is None:
            return sums
        responses = self.link(sums.reshape(-1, sums.shape[-1]))
        if not np.isfinite(responses).all():
            raise NonFiniteResponseError(
                "The model's response is not finite for some rows that mix the values "
                "of two rows of X."
            )
        return responses.reshape(*sums.shape[:-1], -1)


def linked_trees(response):
    """Read a model whose response is a known function of a sum of its trees.

    Beside plain sums these are the probabilities and labels of boosted classifiers, the
    labels of forests, logarithms of probabilities, and predictions with a log link.

    Parameters
    ----------
    response : Response
        The model, and how it is asked.

    Returns
    -------
    LinkedTrees

    Raises
    ------
    UnreadableModelError
        Saying why the model can't be read, or what its trees add up to instead.
    """
    model = read_trees(response.estimator)
    try:
        trees = sum_of_trees(model, response)
    except UnreadableModelError as error:
        link = _link(model, response)
        if link is None:
            raise
        trees = model.ensemble
        return LinkedTrees(model, trees.value, trees.base, link, error)
    return LinkedTrees(model, trees.values, trees.base)


def _link(model, response):
    """From sums of trees to the response, None where that is not known."""
    method = response.method
    if callable(method):
        return None
    if method == "predict" and response.classes is not None:
        scores = {model.raw_method, model.response_method}
        return _labels(model, response) if "predict_proba" in scores else None
    logarithm = method == "predict_log_proba"
    needed = "predict_proba" if logarithm or method == CENTERED_LOG_PROBA else method
    if model.link is None or needed != model.response_method:
        return None

    def link(sums):
        answers = model.response(sums)
        if logarithm:
            with np.errstate(divide="ignore"):
                answers = np.log(answers)
        return response.read(as_answered(answers, model.classes))

    return link


def _labels(model, response):
    """From sums of trees to predicted classes, a 0/1 column for each."""
    several = isinstance(model.classes, list)
    known = model.classes if several else [model.classes]
    # Positions stand for the classes.
    classes = [np.arange(len(labels)) for labels in known]
    reader = replace(response, classes=classes if several else classes[0])

    def link(sums):
        scores = as_answered(sums, model.classes)
        parts = zip(scores if several else [scores], known, strict=True)
        winners = [_winners(part, len(labels)) for part, labels in parts]
        return reader.read(np.column_stack(winners) if several else winners[0])

    return link


def _winners(scores, n_classes):
    """Position of the largest score, the first one where they are the same."""
    if scores.shape[1] < n_classes:  # one signed column speaks for two classes
        return (scores[:, 0] > 0).astype(np.intp)
    most = scores.max(axis=1, keepdims=True)
    size = np.abs(scores).max(axis=1, keepdims=True)
    return (scores >= most - _SAME_SCORE * size).argmax(axis=1)
