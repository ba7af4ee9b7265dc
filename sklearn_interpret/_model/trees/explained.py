"""Which outputs of a model of trees are explained, as functions of its trees."""

from dataclasses import dataclass, replace

import numpy as np

from sklearn_interpret._core.trees.structure.ensemble import TreeEnsemble
from sklearn_interpret._model.response import Response, make_response
from sklearn_interpret._model.trees import read_trees
from sklearn_interpret._model.trees.additive import as_answered
from sklearn_interpret._model.trees.tree_model import LINKS, TreeModel
from sklearn_interpret.exceptions import UnreadableModelError

# Links that turn each output into one response, whatever the other outputs are, and
# their derivatives as functions of the response.
_SLOPES = {
    "identity": lambda response: np.ones_like(response),
    "logistic": lambda response: response * (1 - response),
    "exp": lambda response: response,
}


@dataclass(frozen=True, eq=False)
class ExplainedTrees:
    """Outputs of a model of trees that are to be explained.

    Build it with :func:`explained_trees`.

    Parameters
    ----------
    model : TreeModel
        The model that was read.
    ensemble : TreeEnsemble
        Its trees, with the explained outputs only.
    response : Response
        Picks these outputs from all, and knows their names.
    link : str
        The explained response is the link of the sum of the trees, times `sign`, plus
        `offset`: "identity", "logistic" or "exp".
    sign, offset : float
        Those numbers: -1 and 1 for the probability of the first class.
    """

    model: TreeModel
    ensemble: TreeEnsemble
    response: Response
    link: str = "identity"
    sign: float = 1.0
    offset: float = 0.0

    @property
    def method(self):
        """A method of the model that returns it, or "margin" where none does."""
        if self.link != "identity":
            return self.response.method
        name = self.model.raw_method
        public = name is not None and not name.startswith("_")
        return name if public and not self.model.raw_params else "margin"

    def of_margin(self, margin):
        """Explained response where the sum of the trees is known."""
        return self.offset + self.sign * LINKS[self.link](
            margin * self.model.link_scale
        )

    def slope(self, margin):
        """Derivative of `of_margin`."""
        scale = self.model.link_scale
        return self.sign * scale * _SLOPES[self.link](LINKS[self.link](margin * scale))

    def output_names(self, n_outputs):
        """Names of the explained outputs."""
        return self.response.output_names(n_outputs)

    def predictions(self, X):
        """What the model itself answers for rows.

        Parameters
        ----------
        X : native container
            Rows.

        Returns
        -------
        ndarray of shape (n_rows, k)
            In the precision of the model's answers. Where no method of the model
            returns the sum of its trees, that sum.
        """
        answer = self._answer(X)
        if self.link == "identity" and self.model.raw_method is None:
            return answer
        classes = self.model.classes if self.link == "identity" else None
        read = self.response.read(as_answered(answer, classes))
        return read.astype(np.float32 if answer.dtype == np.float32 else np.float64)

    def _answer(self, X):
        """What the model returns, in its own precision; one array."""
        estimator = self.response.estimator
        if self.link != "identity":
            return np.asarray(getattr(estimator, self.response.method)(X))
        if self.model.raw_method is None:
            return self.ensemble.raw(self.model.encode(X))
        return self.model.asked(estimator, X)


def explained_trees(estimator, response_method="auto", target=None):
    """Choose outputs of a model of trees.

    Parameters
    ----------
    estimator : fitted estimator
        The model.
    response_method : str or list of str, default="auto"
        "auto" explains the sum of the trees: probabilities of forests, margins of
        boosting. Otherwise a method of the model.
    target : class label or int, default=None
        Output to keep.

    Returns
    -------
    ExplainedTrees

    Raises
    ------
    UnreadableModelError
        The model can't be read, or the response is no function of one sum of trees.
    """
    model = read_trees(estimator)
    response = make_response(estimator, "auto", target)
    if isinstance(response_method, str) and response_method == "auto":
        return _raw(model, response)
    asked = make_response(estimator, response_method, target)
    if callable(asked.method):
        raise UnreadableModelError(
            "A callable response_method can't be explained by the trees alone."
        )
    labels = asked.method == "predict" and asked.classes is not None
    if asked.method == model.raw_method and not model.raw_params and not labels:
        return _raw(model, asked)
    if asked.method == model.response_method and not labels:
        if model.link == "identity" and model.link_scale == 1:
            return _raw(model, asked)
        if model.link in _SLOPES and model.ensemble.n_outputs == 1:
            return _linked(model, asked)
    name = type(estimator).__name__
    raise UnreadableModelError(
        f'response_method="{asked.method}" of {name} can\'t be explained by its trees: '
        'only their sum can (response_method="auto"), and responses that are a '
        "logistic or exponential function of one sum."
    )


def _raw(model, response):
    """Explain the sum of the trees."""
    if model.raw_method != "predict_proba" and response.classes is not None:
        # One signed column speaks for two classes, as in a decision function.
        response = replace(response, method="decision_function")
    trees = model.ensemble
    picked = response.read(as_answered(np.eye(trees.n_outputs), model.classes))
    chosen = replace(trees, value=trees.value @ picked, base=trees.base @ picked)
    return ExplainedTrees(model, chosen, response)


def _linked(model, response):
    """Explain a function of the one sum of the trees."""
    if model.link == "logistic" and response.target == 0:
        return ExplainedTrees(model, model.ensemble, response, model.link, -1.0, 1.0)
    return ExplainedTrees(model, model.ensemble, response, model.link)
