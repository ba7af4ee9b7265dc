"""Scikit-learn's naive Bayes classifiers as a prior and a term for each feature."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.naive_bayes import (
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    GaussianNB,
    MultinomialNB,
)

from sklearn_interpret._model.formulas.formula_class import formula_class
from sklearn_interpret._model.formulas.last_step import LastStep, last_step
from sklearn_interpret._model.responses.response import Response, make_response

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

# An array of floats, whose shape docstrings say.
_Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class NaiveBayesOdds:
    """Joint log-likelihoods of classes, one against the other or against their mean.

    Build it with :func:`naive_bayes_odds`.
    """

    step: LastStep
    response: Response  # has the names of the outputs
    contrasts: _Array  # (n_classes, k)

    @property
    def name(self) -> str:
        """Name of the explained response."""
        two = len(self.contrasts) == 2
        return "log-odds" if two else "centered log-probability"

    def output_names(self, n_outputs: int) -> list[Any]:
        """Names of the outputs."""
        return self.response.output_names(n_outputs)

    def prior(self) -> _Array:
        """Part of the response without features: (k,)."""
        model = self.step.model
        if isinstance(model, ComplementNB) and len(model.classes_) > 1:
            return np.zeros(self.contrasts.shape[1])
        if isinstance(model, GaussianNB):
            with np.errstate(divide="ignore"):
                logs = np.log(model.class_prior_)
        else:
            logs = model.class_log_prior_
        return (logs - logs.max()) @ self.contrasts  # equal priors give zero

    def terms(self, X: Any) -> tuple[_Array, _Array]:
        """Terms (m, n_columns, k) of the columns of rows, and the model's sums."""
        inputs, model = self.step.inputs(X), self.step.model
        logs = model.predict_joint_log_proba(inputs)
        sums = (logs @ self.contrasts).astype(logs.dtype)  # in the model's precision
        numbers = inputs.toarray() if issparse(inputs) else np.asarray(inputs)
        terms_of = _TERMS[formula_class(model, _TERMS)]
        terms = terms_of(model, numbers) @ self.contrasts
        return self.step.sum_by_input_column(terms, axis=1), sums


def naive_bayes_odds(estimator: BaseEstimator, target: Any = None) -> NaiveBayesOdds:
    """Log-odds of two classes; of more, log-probabilities minus their mean.

    Parameters
    ----------
    estimator : fitted estimator
        A naive Bayes classifier, or a pipeline that ends in one; an
        UnreadableModelError says why it can't be read.
    target : class label or dict, default=None
        The class to keep, or a contrast {class: weight}; None is the second of two, and
        all of more.

    Returns
    -------
    NaiveBayesOdds
    """
    step = last_step(estimator, tuple(_TERMS))
    response = make_response(estimator, "predict_proba", target)
    n_classes = len(step.model.classes_)
    if n_classes == 2:
        contrasts = np.array([[-1.0], [1.0]]) * response.read([[-1.0, 1.0]])
    else:
        contrasts = (np.eye(n_classes) - 1 / n_classes) @ response.read(
            np.eye(n_classes)
        )
    return NaiveBayesOdds(step, response, contrasts)


# Terms of a classifier: log-likelihoods of each column's number in each class, of rows
# (m, n_columns): (m, n_columns, n_classes).


def _gaussian_terms(model: BaseEstimator, X: _Array) -> _Array:
    deviations = X[:, :, None] - model.theta_.T
    variances = model.var_.T
    return -0.5 * (np.log(2 * np.pi * variances) + deviations**2 / variances)


def _count_terms(model: BaseEstimator, X: _Array) -> _Array:
    return X[:, :, None] * model.feature_log_prob_.T


def _bernoulli_terms(model: BaseEstimator, X: _Array) -> _Array:
    is_present = X if model.binarize is None else model.binarize < X
    is_present = is_present[:, :, None].astype(np.float64)
    log_present = model.feature_log_prob_.T
    log_absent = np.log1p(-np.exp(log_present))
    return is_present * (log_present - log_absent) + log_absent


def _categorical_terms(model: BaseEstimator, X: _Array) -> _Array:
    codes = X.astype(np.intp)
    by_column = [
        table[:, codes[:, j]].T for j, table in enumerate(model.feature_log_prob_)
    ]
    return np.stack(by_column, axis=1)


_TERMS = {
    GaussianNB: _gaussian_terms,
    MultinomialNB: _count_terms,
    ComplementNB: _count_terms,
    BernoulliNB: _bernoulli_terms,
    CategoricalNB: _categorical_terms,
}
