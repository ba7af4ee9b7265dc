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
    """A fitted model as an ensemble of trees, and how to get from the one to the other.

    Build it with :func:`~sklearn_interpret._model.trees.read_trees`.

    Parameters
    ----------
    ensemble : TreeEnsemble
        The trees.
    encoder : callable
        Rows, in the container that the model takes, to the numbers that its trees
        compare.
    columns : ndarray of shape (ensemble.n_features,), intp
        The input column that each feature of the trees is made from.
    n_columns : int
        Number of input columns.
    raw_method : str or None
        Method of the model that returns ``ensemble.raw``; None where none does.
    raw_params : dict
        Arguments that the method needs for it, beside the rows.
    link : str or None
        The response is ``link(link_scale * raw)``: "identity", "logistic", "softmax",
        "exp" or "isolation". None where it is no such function of the raw output.
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
        """Rows as the numbers that the trees compare.

        Parameters
        ----------
        X : {array-like, dataframe, sparse matrix} of shape (n_rows, n_columns)
            As the model itself takes them.

        Returns
        -------
        ndarray of shape (n_rows, ensemble.n_features)
            In the ensemble's precision, NaN where missing, categories as positions.
        """
        return self.encoder(X)

    def raw(self, X):
        """Sum of the trees for rows: float64 of shape (n_rows, k)."""
        return self.ensemble.raw(self.encode(X))

    def response(self, raw):
        """What the model makes of raw outputs.

        Parameters
        ----------
        raw : ndarray of shape (n_rows, k)
            Raw outputs.

        Returns
        -------
        ndarray of shape (n_rows, n_outputs)
            As `response_method` returns it; the probabilities of several outputs side
            by side. A single column of probabilities becomes that of both classes.

        Raises
        ------
        ValueError
            The link is not known.
        """
        if self.link is None:
            raise ValueError("This model's response is no known function of its trees.")
        response = LINKS[self.link](raw * self.link_scale)
        both = self.link == "logistic" and self.response_method == "predict_proba"
        if both and response.shape[1] == 1:
            return np.hstack([1 - response, response])
        return response

    def asked(self, estimator, X):
        """Raw outputs that the model itself gives for rows, as (n_rows, k).

        Parameters
        ----------
        estimator : fitted estimator
            The model that was read.
        X : as the model takes it
            Rows.

        Returns
        -------
        ndarray of shape (n_rows, k)
        """
        if self.raw_method is None:
            raise ValueError("No method of this model returns the sum of its trees.")
        answer = getattr(estimator, self.raw_method)(X, **self.raw_params)
        if isinstance(answer, list):  # one array per output
            return np.hstack(answer)
        return np.asarray(answer).reshape(len(answer), -1)
