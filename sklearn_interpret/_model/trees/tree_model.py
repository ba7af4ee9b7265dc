"""A fitted model read as a sum of trees."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from scipy.special import expit, softmax

from sklearn_interpret._core.trees.structure.ensemble import TreeEnsemble

# Response = link(raw * link_scale), by the link's name.
LINKS = {
    "identity": lambda raw: raw,
    "logistic": expit,
    "softmax": lambda raw: softmax(raw, axis=1),
    "exp": np.exp,
    # The score of an isolation forest, from the path length over the expected one.
    "isolation": lambda raw: -(2.0**-raw),
}


@dataclass(frozen=True, eq=False)
class TreeModel:
    """A fitted model as an ensemble of trees, and its methods in terms of their sum.

    Build it with :func:`~sklearn_interpret._model.trees.read_trees`.

    Parameters
    ----------
    ensemble : TreeEnsemble
        The trees.
    encoder : callable
        From rows, in the model's container, to the numbers that its trees compare.
    columns : ndarray of shape (ensemble.n_features,), intp
        The input column that each feature of the trees is made from.
    n_columns : int
        Number of input columns.
    raw_method : str or None
        Method of the model that returns ``ensemble.raw``; None where none does.
    raw_params : dict
        Arguments that this method needs for it, beside the rows.
    link : str or None
        The response is ``link(link_scale * raw)``, see `LINKS`. None where it is no
        such function of the raw output.
    link_scale : float
        What the raw output is multiplied by first.
    response_method : str or None
        Method of the model that returns the response; None where the link is.
    classes : ndarray, list of ndarray, or None
        Class labels of a classifier; a list for several outputs, whose columns then
        stand side by side.
    cover : {"weight", "rows", "hessian", "mixed"}
        What the ensemble's cover counts: the weight of the training rows, their number
        (the library keeps no other), or the sum of second derivatives of the loss;
        "mixed" where members differ.
    """

    ensemble: TreeEnsemble
    encoder: Callable
    columns: np.ndarray
    n_columns: int
    raw_method: str | None
    link: str | None = "identity"
    link_scale: float = 1.0
    response_method: str | None = None
    raw_params: dict = field(default_factory=dict)
    classes: object = None
    cover: str = "weight"

    def encode(self, X):
        """Rows as the numbers that the trees compare: (n_rows, ensemble.n_features).

        In the ensemble's precision, NaN where missing, categories as positions.
        """
        return self.encoder(X)

    def raw(self, X):
        """Sum of the trees for rows: float64 of shape (n_rows, k)."""
        return self.ensemble.raw(self.encode(X))

    def response(self, raw):
        """What `response_method` makes of raw outputs (n_rows, k).

        Probabilities of several outputs stand side by side; a single column of
        probabilities becomes that of both classes.
        """
        if self.link is None:
            raise ValueError("This model's response is no known function of its trees.")
        response = LINKS[self.link](raw * self.link_scale)
        both = self.link == "logistic" and self.response_method == "predict_proba"
        if both and response.shape[1] == 1:
            return np.hstack([1 - response, response])
        return response

    def raw_response(self, estimator, X):
        """Raw outputs (n_rows, k) that the fitted model itself returns for rows."""
        if self.raw_method is None:
            raise ValueError("No method of this model returns the sum of its trees.")
        raw = getattr(estimator, self.raw_method)(X, **self.raw_params)
        if isinstance(raw, list):  # one array per output
            return np.hstack(raw)
        return np.asarray(raw).reshape(len(raw), -1)

    def as_returned(self, outputs):
        """Outputs side by side as a method returns them: a list for several targets."""
        if not isinstance(self.classes, list):
            return outputs
        ends = np.cumsum([len(labels) for labels in self.classes])
        return np.split(outputs, ends[:-1], axis=1)


def response_fields(estimator, link):
    """Fields of a TreeModel for a library's response, given the link's name or None."""
    classes = getattr(estimator, "classes_", None)
    if classes is not None and len(classes) == 0:
        classes = None
    method = "predict" if classes is None else "predict_proba"
    return {
        "link": link,
        "response_method": None if link is None else method,
        "classes": classes,
    }
