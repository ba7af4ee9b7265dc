"""Scores of fitted models as functions of the input with vector-Jacobian products.

The class of the largest score wins. Scores are a decision function, logits or
probabilities; for a support vector machine of several classes, the differences between
pairs of classes; for a regressor, the prediction.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.gaussian_process import GaussianProcessClassifier, GaussianProcessRegressor
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC, SVR, NuSVC, NuSVR

from sklearn_interpret._model._sklearn_compat import BaseSearchCV
from sklearn_interpret._model.formulas.formula import errors_in
from sklearn_interpret._model.formulas.formula_class import formula_class
from sklearn_interpret._model.formulas.linear import (
    check_is_linear,
    coefficient_table,
    has_log_link,
)
from sklearn_interpret._model.gradients.functions import (
    Affine,
    Chain,
    Function,
    Smooth,
    numbers_of,
)
from sklearn_interpret._model.gradients.kernels import ProcessKernel, named_kernel
from sklearn_interpret._model.gradients.steps import read_steps
from sklearn_interpret._model.responses.model_difference import ModelDifference
from sklearn_interpret._model.responses.predictors import is_classifier, unfrozen
from sklearn_interpret.exceptions import UnreadableModelError

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator


# An array of floats, whose shape docstrings say.
_Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Scores:
    """Scores of a model, and which classes they compare.

    Parameters
    ----------
    function : function
        Rows to scores, see `functions`.
    pairs : list of (int, int) or None
        For scores that compare two classes each, the two classes: the score is positive
        where the first wins. None where there is a score for each class, or output.
    """

    function: Function
    pairs: list[tuple[int, int]] | None = None

    @property
    def are_linear(self) -> bool:
        """Whether the scores are known to be linear in the columns."""
        functions = getattr(self.function, "functions", [self.function])
        return all(isinstance(function, Affine) for function in functions)

    def differences(
        self,
        better: NDArray[np.intp] | int,
        worse: NDArray[np.intp] | int,
        n_classes: int,
    ) -> _Array:
        """Weights (n, k) of the scores in the margin of one class over another."""
        identity = np.eye(n_classes)
        if self.pairs is None:
            return identity[better] - identity[worse]
        weights = np.zeros((n_classes, n_classes, len(self.pairs)))
        for pair, (first, second) in enumerate(self.pairs):
            weights[first, second, pair], weights[second, first, pair] = 1, -1
        return weights[better, worse]


# The pair of the one score of two classes.
_SECOND_OVER_FIRST = [(1, 0)]


def read_scores(estimator: BaseEstimator) -> Scores:
    """Scores of a fitted model, with the slopes of their formula.

    An UnreadableModelError says why they are not known.
    """
    model = unfrozen(estimator)
    with errors_in(f"slopes of {type(model).__name__} are not known"):
        known_class = formula_class(model, _READERS)
        if known_class is None:
            check_is_linear(model)
            return _read_linear(model)
    return _READERS[known_class](model)


def _read_search(search: BaseEstimator) -> Scores:
    return read_scores(search.best_estimator_)


def _read_pipeline(pipeline: BaseEstimator) -> Scores:
    name = type(unfrozen(pipeline[-1])).__name__
    with errors_in(f"its last step {name} can't be read"):
        last = read_scores(pipeline[-1])
    steps = read_steps(pipeline.steps[:-1])
    return Scores(Chain([*steps, last.function]), last.pairs)


def _as_columns(outputs: _Array) -> _Array:
    """Outputs of a model as (n_rows, k)."""
    outputs = numbers_of(outputs)
    return outputs[:, None] if outputs.ndim == 1 else outputs


def _read_linear(model: BaseEstimator) -> Scores:
    coefficients = coefficient_table(model).T
    if not is_classifier(model):
        function = Affine(lambda X: _as_columns(model.predict(X)), coefficients)
        if has_log_link(model):
            return Scores(_exponentiate(model.predict, coefficients))
        return Scores(function)
    function = Affine(lambda X: _as_columns(model.decision_function(X)), coefficients)
    return Scores(function, _SECOND_OVER_FIRST if coefficients.shape[1] == 1 else None)


def _exponentiate(predict: Callable[[Any], Any], coefficients: _Array) -> Smooth:
    """The exponential of a linear function, as `predict` returns it."""

    def vjp_rule(X: _Array, weights: _Array) -> _Array:
        return (weights * _as_columns(predict(X))) @ coefficients.T

    return Smooth(lambda X: _as_columns(predict(X)), vjp_rule)


def _read_support_vectors(model: BaseEstimator) -> Scores:
    if callable(model.kernel):
        raise UnreadableModelError("its kernel is a callable.")
    kernel = named_kernel(
        model.kernel, gamma=model._gamma, degree=model.degree, coef0=model.coef0
    )
    points = numbers_of(model.support_vectors_)
    dual, pairs = numbers_of(model.dual_coef_), None
    if is_classifier(model):
        pairs = _SECOND_OVER_FIRST
        if len(model.classes_) > 2:
            dual, pairs = _dual_of_pairs(dual, model.n_support_)

    if model.kernel == "linear":
        slopes = points.T @ dual.T
        return Scores(
            Affine(lambda X: numbers_of(X) @ slopes + model.intercept_, slopes), pairs
        )

    def call(X: Any) -> _Array:
        return kernel(numbers_of(X), points) @ dual.T + model.intercept_

    return Scores(
        Smooth(call, lambda X, weights: kernel.vjp(X, points, weights @ dual)), pairs
    )


def _dual_of_pairs(
    dual: _Array, n_support: NDArray[np.intp]
) -> tuple[_Array, list[tuple[int, int]]]:
    """Coefficients (n_pairs, n_vectors) of the machines of all pairs, and the pairs.

    scikit-learn's table has a column for each vector, with its coefficients against
    each other class, in the order of the classes.
    """
    ends = np.cumsum(n_support)
    vectors_of_class = [
        slice(end - n, end) for n, end in zip(n_support, ends, strict=True)
    ]
    pairs = list(combinations(range(len(n_support)), 2))
    coefficients = np.zeros((len(pairs), dual.shape[1]))
    for pair, (first, second) in enumerate(pairs):
        of_first, of_second = vectors_of_class[first], vectors_of_class[second]
        coefficients[pair, of_first] = dual[second - 1, of_first]
        coefficients[pair, of_second] = dual[first, of_second]
    return coefficients, pairs


# Slopes of activations, from their values.
_SLOPES = {
    "identity": lambda values: 1.0,
    "logistic": lambda values: values * (1 - values),
    "tanh": lambda values: 1 - values**2,
    "relu": lambda values: values > 0,
}
_ACTIVATIONS = {
    "identity": lambda sums: sums,
    "logistic": expit,
    "tanh": np.tanh,
    "relu": lambda sums: np.maximum(sums, 0),
}


class Network:
    """A multi-layer perceptron up to its output activation."""

    def __init__(self, model: BaseEstimator | SimpleNamespace) -> None:
        self.model = model
        self.n_outputs = np.shape(model.intercepts_[-1])[-1]
        self.width = max(np.shape(bias)[-1] for bias in model.intercepts_)
        self.is_smooth = model.activation != "relu"

    @property
    def parameters(self) -> _Array:
        """Layer by layer, weights (inputs by outputs) before intercepts."""
        pairs = zip(self.model.coefs_, self.model.intercepts_, strict=True)
        return np.concatenate([array.ravel() for pair in pairs for array in pair])

    def activations(self, X: Any) -> list[_Array]:
        """The rows, the values of hidden layers, and the outputs."""
        model, values = self.model, [numbers_of(X)]
        last = len(model.coefs_) - 1
        for layer, (weights, bias) in enumerate(
            zip(model.coefs_, model.intercepts_, strict=True)
        ):
            sums = values[-1] @ weights + bias
            name = "identity" if layer == last else model.activation
            values.append(_ACTIVATIONS[name](sums))
        return values

    def __call__(self, X: Any) -> _Array:
        return self.activations(X)[-1]

    def scores_at(self, inputs: _Array, parameters: _Array) -> _Array:
        """Outputs (n_rows, c, k) at c parameters each, (c, n_parameters)."""
        return self._stack_networks(parameters)(inputs).transpose(1, 0, 2)

    def score_changes(
        self, parameters: _Array, changes: _Array
    ) -> Callable[[_Array], _Array]:
        """Changes of the outputs of rows with the parameters, (n_rows, c, k)."""
        changed = self._stack_networks(parameters + changes)
        unchanged = self.with_parameters(parameters)
        return lambda inputs: (
            changed(inputs).transpose(1, 0, 2) - unchanged(inputs)[:, None]
        )

    def scores_by_row(self, inputs: _Array, parameters: _Array) -> _Array:
        """Outputs (n_rows, k) of each row at parameters of its own."""
        return self._stack_networks(parameters)(inputs[:, None])[:, 0]

    def _stack_networks(self, parameters: _Array) -> Network:
        """Networks at parameters (c, n_parameters), with outputs (c, n_rows, k)."""
        coefs, biases, start = [], [], 0
        for bias, weights in zip(
            self.model.intercepts_, self.model.coefs_, strict=True
        ):
            stop = start + bias.size + weights.size
            table = parameters[:, start:stop].reshape(len(parameters), -1, bias.size)
            coefs.append(table[:, :-1])
            biases.append(table[:, -1:])
            start = stop
        activation = self.model.activation
        return Network(
            SimpleNamespace(coefs_=coefs, intercepts_=biases, activation=activation)
        )

    def with_parameters(self, parameters: _Array) -> Network:
        """The network with other parameters, (n_parameters,)."""
        network = self._stack_networks(parameters[None])
        network.model.coefs_ = [coefs[0] for coefs in network.model.coefs_]
        network.model.intercepts_ = [bias[0, 0] for bias in network.model.intercepts_]
        return network

    def vjp(self, X: Any, weights: _Array) -> _Array:
        *inputs, _ = self.activations(X)
        return self.backpropagate(inputs, weights)[0] @ self.model.coefs_[0].T

    def backpropagate(self, inputs: list[_Array], weights: _Array) -> list[_Array]:
        """Slopes along the sums of each layer, from the slopes along the last layer."""
        slope_at, slopes = _SLOPES[self.model.activation], [weights]
        for values, coefs in zip(inputs[:0:-1], self.model.coefs_[:0:-1], strict=True):
            slopes.append((slopes[-1] @ coefs.T) * slope_at(values))
        return slopes[::-1]


def _read_network(model: BaseEstimator) -> Scores:
    network = Network(model)
    if model.out_activation_ == "exp":
        exponential = Smooth(np.exp, lambda sums, weights: weights * np.exp(sums))
        return Scores(Chain([network, exponential]))
    return Scores(
        network, _SECOND_OVER_FIRST if model.out_activation_ == "logistic" else None
    )


def _read_process(model: BaseEstimator) -> Scores:
    """The mean of a Gaussian process."""
    kernel = ProcessKernel(model.kernel_)
    scale = np.atleast_1d(model._y_train_std)
    dual = _as_columns(model.alpha_) * scale

    def call(X: Any) -> _Array:
        return kernel(numbers_of(X), model.X_train_) @ dual + model._y_train_mean

    return Scores(
        Smooth(call, lambda X, weights: kernel.vjp(X, model.X_train_, weights @ dual.T))
    )


def _read_process_of_classes(model: BaseEstimator) -> Scores:
    """The latent mean, whose sign is the class."""
    if len(model.classes_) > 2:
        raise UnreadableModelError("it has several processes.")
    inner = model.base_estimator_
    kernel, points = ProcessKernel(inner.kernel_), inner.X_train_
    dual = (inner.y_train_ - inner.pi_)[:, None]
    function = Smooth(
        lambda X: kernel(numbers_of(X), points) @ dual,
        lambda X, weights: kernel.vjp(X, points, weights @ dual.T),
    )
    return Scores(function, _SECOND_OVER_FIRST)


@dataclass(frozen=True, eq=False)
class _SideBySide:
    """Functions of one score each, side by side."""

    functions: list[Function]

    def __call__(self, X: Any) -> _Array:
        return np.hstack([function(X) for function in self.functions])

    def vjp(self, X: Any, weights: _Array) -> _Array:
        columns = np.split(weights, weights.shape[1], axis=1)
        pairs = zip(self.functions, columns, strict=True)
        return np.sum([function.vjp(X, column) for function, column in pairs], axis=0)


def _read_one_against_rest(model: BaseEstimator) -> Scores:
    if model.multilabel_:
        raise UnreadableModelError("its labels do not exclude each other.")
    scores = [read_scores(estimator) for estimator in model.estimators_]
    if len(scores) == 1:
        return scores[0]
    if any(score.pairs != _SECOND_OVER_FIRST for score in scores):
        raise UnreadableModelError("its estimators have no single score.")
    return Scores(_SideBySide([score.function for score in scores]))


@dataclass(frozen=True, eq=False)
class _WeightedSum:
    """A weighted sum of functions."""

    weights: list[float]
    functions: list[Function]

    def __call__(self, X: Any) -> _Array:
        terms = zip(self.weights, self.functions, strict=True)
        return np.sum([weight * function(X) for weight, function in terms], axis=0)

    def vjp(self, X: Any, weights: _Array) -> _Array:
        terms = zip(self.weights, self.functions, strict=True)
        return np.sum([f.vjp(X, weight * weights) for weight, f in terms], axis=0)


def _read_difference(difference: ModelDifference) -> Scores:
    weights, functions = [], []
    for weight, response in difference.terms():
        model = response.estimator
        if is_classifier(model) or response.method != "predict":
            raise UnreadableModelError("its models are no regressors that predict.")
        weights.append(weight)
        functions.append(read_scores(model).function)
    return Scores(_WeightedSum(weights, functions))


_READERS = {
    SVC: _read_support_vectors,
    NuSVC: _read_support_vectors,
    SVR: _read_support_vectors,
    NuSVR: _read_support_vectors,
    MLPClassifier: _read_network,
    MLPRegressor: _read_network,
    GaussianProcessRegressor: _read_process,
    GaussianProcessClassifier: _read_process_of_classes,
    OneVsRestClassifier: _read_one_against_rest,
    BaseSearchCV: _read_search,
    ModelDifference: _read_difference,
    Pipeline: _read_pipeline,
}
