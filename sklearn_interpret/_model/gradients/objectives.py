"""Training objectives of models: losses of rows, slopes of parameters.

:func:`read_objective` reads a fitted model's objective; :func:`score_model_at_optimum`
and :func:`network_model` make of it a model of `_core.influence`, which can be fitted
without some rows. Checks and warnings follow, then what is read for each class.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import (
    GammaRegressor,
    HuberRegressor,
    LinearRegression,
    LogisticRegression,
    PoissonRegressor,
    Ridge,
    RidgeClassifier,
    TweedieRegressor,
)
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.svm import LinearSVC
from sklearn.utils import check_array

from sklearn_interpret._core.influence.networks import (
    LayerFactors,
    NetworkModel,
    minimise_objective,
)
from sklearn_interpret._core.influence.score_models import ScoreModel
from sklearn_interpret._core.statistics.score_losses import (
    Brier,
    HalfHuber,
    HalfSquared,
    HalfTweedie,
    HuberWithScale,
    Logistic,
    Loss,
    Softmax,
    SquaredHinge,
)
from sklearn_interpret._model._sklearn_compat import (
    BaseSearchCV,
    has_independent_labels,
    warn,
    weights_of_classes,
)
from sklearn_interpret._model.formulas.formula_class import (
    ModelClass,
    computes_as,
    formula_class,
)
from sklearn_interpret._model.formulas.last_step import steps_and_model
from sklearn_interpret._model.formulas.linear import coefficient_table, has_log_link
from sklearn_interpret._model.gradients.functions import numbers_of
from sklearn_interpret._model.gradients.models import Network
from sklearn_interpret._model.responses.predictors import is_classifier, unfrozen
from sklearn_interpret._model.rows.base import copy_of
from sklearn_interpret.exceptions import (
    BalancedClassesWarning,
    OtherTrainingRowsWarning,
    UnconvergedDeletionWarning,
    UnreadableModelError,
)

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

# Squared distance from the optimum, in units of the sum of the squared steps that leave
# out single rows, above which parameters count as fitted on other rows. Chosen by hand:
# solvers that stop early stay below.
_FAR = 0.1


class LinearLayer:
    """Scores of a linear model, as a network of one layer."""

    def __init__(self, model: BaseEstimator) -> None:
        self.coefs = [coefficient_table(model).T]
        self.n_outputs = self.width = self.coefs[0].shape[1]
        self.intercepts = [np.broadcast_to(np.ravel(model.intercept_), self.n_outputs)]

    @property
    def parameters(self) -> NDArray[np.float64]:
        """Weights (inputs by outputs) before intercepts."""
        return np.append(self.coefs[0], self.intercepts[0])

    def activations(self, X: Any) -> list[NDArray[np.float64]]:
        """The rows, and the scores."""
        inputs = numbers_of(X)
        return [inputs, inputs @ self.coefs[0] + self.intercepts[0]]

    def scores_at(
        self, inputs: NDArray[np.float64], parameters: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Scores (n_rows, c, k) at c parameters each, (c, n_parameters)."""
        c, d = len(parameters), len(self.coefs[0]) + 1
        table = parameters.reshape(c, d, self.n_outputs).transpose(1, 0, 2)
        # One product of matrices for all.
        scores = with_ones(inputs) @ table.reshape(d, c * self.n_outputs)
        return scores.reshape(len(inputs), c, self.n_outputs)

    def scores_by_row(
        self, inputs: NDArray[np.float64], parameters: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Scores (n_rows, k) of each row at parameters of its own."""
        table = parameters.reshape(len(inputs), -1, self.n_outputs)
        return np.einsum("np,npk->nk", inputs, table[:, :-1]) + table[:, -1]


class ScoreFunction(Protocol):
    """Scores of rows, by values of hidden layers or leaves of trees."""

    @property
    def n_outputs(self) -> int:
        """Number of scores of a row."""

    @property
    def width(self) -> int:
        """Numbers that a row takes while its scores are computed."""

    def activations(self, X: Any) -> list[NDArray[Any]]:
        """The inputs of scores, values of hidden layers, and the scores (n, k)."""


@dataclass(frozen=True, eq=False)
class ScoredModel:
    """A model by its scores: their losses, and what they predict.

    Parameters
    ----------
    score_function : ScoreFunction
        Gives the scores of rows.
    loss : loss of `score_losses`
        The loss of scores.
    model : estimator
        The model itself, without the steps before it.
    classes : ndarray or None
        Class labels, in the order of the scores.
    before : Pipeline or None
        Steps that make the columns of the network.
    """

    score_function: ScoreFunction
    loss: Loss
    model: BaseEstimator
    classes: NDArray[Any] | None = None
    before: BaseEstimator | None = None

    def targets(self, y: NDArray[Any]) -> NDArray[np.float64]:
        """Targets (n_rows, k) as the loss takes them."""
        y = np.asarray(y)
        y = y.reshape(len(y), -1)
        if self.classes is None:
            y = check_array(y, dtype=np.float64, input_name="y")
            if y.shape[1] != self.score_function.n_outputs:
                raise ValueError(
                    f"y has {y.shape[1]} columns; the model has "
                    f"{self.score_function.n_outputs} outputs."
                )
            return y
        if not np.isin(y, self.classes).all():
            raise ValueError(
                f"y has the label {y[~np.isin(y, self.classes)].tolist()[0]!r}, which "
                f"the model does not know; its classes are {self.classes.tolist()}."
            )
        indicators = (y == self.classes).astype(np.float64)
        if len(self.classes) == 2 and not isinstance(self.loss, Softmax):
            indicators = indicators[:, 1:]
        signed = isinstance(self.loss, SquaredHinge | HalfSquared)
        return 2 * indicators - 1 if signed else indicators

    @property
    def loss_scale(self) -> float:
        """The factor from halves, summed over outputs, to squared error or deviance."""
        halved = isinstance(self.loss, HalfSquared | HalfTweedie | HalfHuber)
        return 2 / self.score_function.n_outputs if halved else 1.0

    def losses(self, X: Any, targets: NDArray[np.float64]) -> NDArray[np.float64]:
        """Losses of rows as they are minimised, (n_rows,)."""
        return self.loss.values(targets, self.activations(X)[-1])

    def activations(self, X: Any) -> list[NDArray[np.float64]]:
        """The columns that the model gets, hidden values, and scores."""
        if self.before is not None:
            X = self.before.transform(copy_of(X))  # some steps work in place
        return self.score_function.activations(X)

    @property
    def has_probabilities(self) -> bool:
        """Whether scores make probabilities of classes."""
        return isinstance(self.loss, Logistic | Softmax | Brier)

    def probabilities(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Probabilities of classes, of scores (..., k)."""
        if isinstance(self.loss, Softmax):
            return softmax(scores, axis=-1)
        is_probability = isinstance(self.loss, Brier)
        probabilities = scores if is_probability else expit(scores)
        if scores.shape[-1] > 1:  # of each class against the rest
            return probabilities / probabilities.sum(axis=-1, keepdims=True)
        rest = 1 - scores if is_probability else expit(-scores)
        return np.concatenate([rest, probabilities], axis=-1)

    def predictions(self, scores: NDArray[np.float64]) -> NDArray[Any]:
        """Classes, or numbers, of scores (..., k); without an axis of one output."""
        is_single = scores.shape[-1] == 1
        if self.classes is not None:
            threshold = 0.5 if isinstance(self.loss, Brier) else 0.0
            winner = scores[..., 0] > threshold if is_single else scores.argmax(axis=-1)
            return self.classes[winner.astype(np.intp)]
        numbers = np.exp(scores) if isinstance(self.loss, HalfTweedie) else scores
        return numbers[..., 0] if is_single else numbers


class Objective(ScoredModel):
    """Losses of rows, which a model has made small, and slopes of its parameters."""

    score_function: Network | LinearLayer

    def factors(
        self, X: Any, targets: NDArray[np.float64]
    ) -> list[tuple[NDArray[np.float64], NDArray[np.float64]]]:
        """Slopes of each row's loss along the parameters, layer by layer.

        Returns
        -------
        list of (inputs, slopes)
            For each layer, (n_rows, d + 1) and (n_rows, k): the slope along the weight
            from input i to output j is ``inputs[:, i] * slopes[:, j]``. The last input
            is one, for the intercept.
        """
        *inputs, scores = self.activations(X)
        slopes = [self.loss.slopes(targets, scores)]
        if isinstance(self.score_function, Network):
            slopes = self.score_function.backpropagate(inputs, slopes[0])
        return list(zip(map(with_ones, inputs), slopes, strict=True))

    def gradients(self, X: Any, targets: NDArray[np.float64]) -> NDArray[np.float64]:
        """Slopes of each row's loss along all parameters, (n_rows, n_parameters).

        Layer by layer, weights (inputs by outputs) before intercepts.
        """
        return np.hstack(
            [
                np.einsum("ni,nj->nij", inputs, slopes).reshape(len(inputs), -1)
                for inputs, slopes in self.factors(X, targets)
            ]
        )


def read_objective(estimator: BaseEstimator) -> Objective:
    """The objective of a fitted model; an UnreadableModelError says why not."""
    before, model = best_steps_and_model(estimator)
    loss = _loss_of(model)
    if loss is None:
        raise UnreadableModelError(
            f"The loss of {type(model).__name__} is not known. What can be read: "
            "LinearRegression, Ridge, RidgeClassifier, LogisticRegression, "
            "HuberRegressor, PoissonRegressor, GammaRegressor, TweedieRegressor with "
            'the link "log", LinearSVC with the loss "squared_hinge", MLPClassifier '
            "and MLPRegressor, alone or at the end of a pipeline."
        )
    is_network = isinstance(model, MLPClassifier | MLPRegressor)
    if has_independent_labels(model):
        raise UnreadableModelError("its labels do not exclude each other.")
    score_function = Network(model) if is_network else LinearLayer(model)
    classes = model.classes_ if is_classifier(model) else None
    return Objective(score_function, loss, model, classes, before)


def best_steps_and_model(
    estimator: BaseEstimator,
) -> tuple[BaseEstimator | None, BaseEstimator]:
    """Steps of a pipeline, or None, and its last one; of a search, those of the best.

    Parameters
    ----------
    estimator : fitted estimator
        A model, a pipeline, or a search over them.
    """
    model = unfrozen(estimator)
    if computes_as(model, BaseSearchCV):
        return best_steps_and_model(model.best_estimator_)
    return steps_and_model(model)


def with_ones(inputs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Inputs (n_rows, d + 1) with a last column of ones, for the intercept."""
    return np.hstack([inputs, np.ones((len(inputs), 1))])


def score_model_at_optimum(
    estimator: BaseEstimator, X: Any, y: NDArray[Any], weights: NDArray[np.float64]
) -> ScoreModel:
    """A fitted model of linear scores as one that can be fitted without some rows.

    Steps of a pipeline before it stay as they are. An UnreadableModelError says what
    is not known.

    Returns
    -------
    ScoreModel
        At the optimum, to rounding.
    """
    return score_model_as_fitted(estimator, X, y, weights).at_optimum()


def score_model_as_fitted(
    estimator: BaseEstimator, X: Any, y: NDArray[Any], weights: NDArray[np.float64]
) -> ScoreModel:
    """As `score_model_at_optimum`, at the parameters that the model has."""
    objective = read_objective(estimator)
    if isinstance(objective.score_function, Network):
        raise UnreadableModelError("a network has no linear scores.")
    model = objective.model
    inputs, score_function = objective.activations(X)[0], objective.score_function
    if isinstance(model, HuberRegressor):
        return _huber_model(objective, inputs, objective.targets(y), weights)
    design, parameters = inputs, score_function.coefs[0]
    n_inputs = len(parameters)
    if model.fit_intercept:
        design = with_ones(inputs)
        del inputs  # may be a copy of X
        parameters = np.vstack([parameters, score_function.intercepts[0]])
    of_coefficients, per_unit_weight, intercept_share = _penalties_of(model)
    penalties = np.full(parameters.shape, of_coefficients, dtype=np.float64)
    penalties[n_inputs:] = of_coefficients * intercept_share
    row_penalties = np.zeros(parameters.shape)
    row_penalties[:n_inputs] = per_unit_weight
    targets = objective.targets(y)
    if getattr(model, "class_weight", None) is not None:
        if isinstance(objective.loss, Logistic | SquaredHinge) and targets.shape[1] > 1:
            raise UnreadableModelError(
                "class_weight, where it fits each class against the rest, is not the "
                "same for all boundaries."
            )
        weights = weights * weights_of_classes(model, y, weights)
    return ScoreModel(
        design, targets, weights, penalties, row_penalties, objective.loss, parameters
    )


def _huber_model(
    objective: Objective,
    inputs: NDArray[np.float64],
    targets: NDArray[np.float64],
    weights: NDArray[np.float64],
) -> ScoreModel:
    """As `score_model_as_fitted`; the scale is a score, of the column of ones alone."""
    model, size = objective.model, (inputs.shape[1] + 1, 2)
    parameters, penalty = np.zeros(size), np.zeros(size)
    parameters[:, 0] = objective.score_function.parameters
    parameters[-1, 1] = model.scale_
    penalty[:-1, 0] = 2 * model.alpha
    fixed = np.zeros(size, dtype=bool)
    fixed[:-1, 1], fixed[-1, 0] = True, not model.fit_intercept
    return ScoreModel(
        with_ones(inputs),
        np.repeat(targets, 2, axis=1),
        weights,
        penalty,
        np.zeros(size),
        HuberWithScale(model.epsilon),
        parameters,
        fixed=fixed,
    )


def check_is_optimum(
    estimator: BaseEstimator, model: BaseEstimator, distance: float
) -> None:
    """Warn where a frozen model's parameters are far from the optimum of the rows.

    A model that was fitted here had these rows. Where its residuals vanish, the error
    that its solver tolerates is larger than them.
    """
    if isinstance(estimator, FrozenEstimator) and distance > _FAR:
        warn(
            "Pass the rows and weights that the model was trained on, and train it "
            f"until it converges: the objective of the {type(model).__name__} is not "
            "least at its parameters. (The squared step to the optimum is "
            f"{distance:.2g} times the sum of those of the single rows.)",
            OtherTrainingRowsWarning,
        )


def has_balanced_classes(model: object) -> bool:
    """Whether the weights of the classes follow their numbers of rows."""
    return isinstance(getattr(model, "class_weight", None), str)


def warn_of_balanced_classes(model: BaseEstimator) -> None:
    """Warn if weights of classes that change without a row are held as they are."""
    if has_balanced_classes(model):
        warn(
            "Use DeletionDiagnostics, which fits again, or pass class_weight as a "
            f"dict: the {type(model).__name__} has class_weight="
            f"{model.class_weight!r}, which weighs all rows anew when one is left out, "
            "and these changes keep the weights of all rows.",
            BalancedClassesWarning,
        )


def check_converged(model: BaseEstimator, converged: NDArray[np.bool_]) -> None:
    """Warn of rows, or groups, without which no optimum of the objective was found."""
    if not converged.all():
        failed = np.flatnonzero(~converged)
        few = ", ".join(map(str, failed[:5])) + ", ..." * (len(failed) > 5)
        warn(
            f"Ignore the changes without {few} ({len(failed)} of {len(converged)} "
            "rows or groups): no optimum of the objective of the "
            f"{type(model).__name__} was found without them. There may be none, as "
            "where classes are separable and there is no penalty, or where a scale is "
            "zero.",
            UnconvergedDeletionWarning,
        )


def network_model(
    estimator: BaseEstimator,
    X: Any,
    y: NDArray[Any],
    weights: NDArray[np.float64],
    damping: float = 0.0,
) -> tuple[float, NetworkModel]:
    """A fitted network as one that can do without some rows; earlier steps stay.

    Returns
    -------
    distance : float
        From the end of the training to a minimum of the objective.
    NetworkModel
        The network at this minimum, as near as L-BFGS comes.
    """
    objective = read_objective(estimator)
    network = objective.score_function
    if not isinstance(network, Network):
        raise UnreadableModelError("a model of linear scores is no network.")
    model, targets = objective.model, objective.targets(y)
    inputs = objective.activations(X)[0]
    # Each batch has the whole penalty.
    batch_size = model.batch_size
    if batch_size == "auto":
        batch_size = min(200, len(inputs))  # scikit-learn's
    n_batches = 1 if model.solver == "lbfgs" else np.ceil(len(inputs) / batch_size)
    penalty = np.concatenate(
        [
            np.append(np.full(coefs.shape, n_batches * model.alpha), 0 * bias)
            for coefs, bias in zip(model.coefs_, model.intercepts_, strict=True)
        ]
    )
    without_steps = replace(objective, before=None)
    value_and_gradient = partial(
        _value_and_gradient, without_steps, network, inputs, targets, penalty
    )

    def model_at(parameters: NDArray[np.float64]) -> NetworkModel:
        changed = network.with_parameters(parameters)
        *hidden, scores = changed.activations(inputs)
        slopes = [
            changed.backpropagate(hidden, np.broadcast_to(unit, scores.shape))
            for unit in np.eye(scores.shape[1])
        ]
        by_layer = [np.stack(layer, axis=1) for layer in zip(*slopes, strict=True)]
        return NetworkModel(
            list(map(LayerFactors, map(with_ones, hidden), by_layer)),
            objective.loss.slopes(targets, scores),
            objective.loss.curvatures(targets, scores),
            weights,
            penalty,
            parameters,
            damping,
            value_and_gradient,
            network.is_smooth,
        )

    trained = model_at(network.parameters)
    optimum = minimise_objective(value_and_gradient, trained.parameters, weights)
    return trained.distance, model_at(optimum)


def _value_and_gradient(
    objective: Objective,
    network: Network,
    inputs: NDArray[np.float64],
    targets: NDArray[np.float64],
    penalty: NDArray[np.float64],
    parameters: NDArray[np.float64],
    weights: NDArray[np.float64],
) -> tuple[float, NDArray[np.float64]]:
    """Value and gradient of a network's objective, at some parameters and weights."""
    changed = replace(objective, score_function=network.with_parameters(parameters))
    losses = changed.losses(inputs, targets)
    gradient = np.concatenate(
        [
            ((layer_inputs * weights[:, None]).T @ slopes).ravel()
            for layer_inputs, slopes in changed.factors(inputs, targets)
        ]
    )
    value = float(weights @ losses + penalty @ parameters**2 / 2)
    return value, gradient + penalty * parameters


class _Penalties(NamedTuple):
    """Factors of half the squares of parameters in an objective."""

    of_coefficients: NDArray[np.float64] | float
    per_unit_weight: float = 0.0  # of coefficients, for each unit of the rows' weight
    intercept_share: float = 0.0  # of intercepts, as a share of that of coefficients


def _penalties_of(model: BaseEstimator) -> _Penalties:
    """The penalties of a fitted linear model."""
    if getattr(model, "positive", False):
        raise UnreadableModelError("its coefficients are bounded: positive=True.")
    if isinstance(model, LinearSVC | LogisticRegression):
        ratio = getattr(model, "l1_ratio_", getattr(model, "l1_ratio", 0))
        if getattr(model, "penalty", "l2") in ("l1", "elasticnet") or any(
            np.ravel(ratio)  # None means no penalty
        ):
            raise UnreadableModelError("its penalty is no sum of squares.")
        C = np.ravel(model.C_ if hasattr(model, "C_") else model.C)
        penalty = 0.0 if getattr(model, "penalty", "l2") is None else 1 / C
        # LIBLINEAR penalises the intercept as the weight of a constant column.
        by_liblinear = isinstance(model, LinearSVC) or model.solver == "liblinear"
        intercept_share = model.intercept_scaling**-2.0 if by_liblinear else 0.0
        return _Penalties(penalty, intercept_share=intercept_share)
    if isinstance(model, Ridge | RidgeClassifier):
        return _Penalties(np.asarray(model.alpha))
    return _Penalties(0.0, per_unit_weight=getattr(model, "alpha", 0.0))


def _loss_of(model: BaseEstimator) -> Loss | None:
    """The loss of a fitted model; None if it is not known."""
    known_class = formula_class(model, _LOSSES)
    return None if known_class is None else _LOSSES[known_class](model)


def _loss_of_classes(model: BaseEstimator) -> Logistic | Softmax:
    scheme, binary = getattr(model, "multi_class", None), len(model.classes_) == 2
    if binary and scheme == "multinomial":
        raise UnreadableModelError('it has multi_class="multinomial" for two classes.')
    # Before scikit-learn 1.8 each class may be fitted against the rest.
    one_vs_rest = binary or scheme == "ovr" or model.solver == "liblinear"
    return Logistic() if one_vs_rest else Softmax()


def _loss_of_margins(model: BaseEstimator) -> SquaredHinge | None:
    return SquaredHinge() if model.loss == "squared_hinge" else None


def _loss_of_deviances(model: BaseEstimator) -> HalfTweedie | HalfSquared | None:
    if has_log_link(model):
        if isinstance(model, PoissonRegressor | GammaRegressor):
            return HalfTweedie(1 if isinstance(model, PoissonRegressor) else 2)
        return HalfTweedie(model.power)
    return HalfSquared() if model.power == 0 else None


def _loss_of_network(model: BaseEstimator) -> Loss:
    if model.out_activation_ == "softmax":
        return Softmax()
    if model.out_activation_ == "logistic":
        return Logistic()
    return HalfTweedie(1) if model.out_activation_ == "exp" else HalfSquared()


_LOSSES: dict[ModelClass, Callable[[BaseEstimator], Loss | None]] = {
    HuberRegressor: lambda model: HalfHuber(model.epsilon * model.scale_),
    LogisticRegression: _loss_of_classes,
    LinearSVC: _loss_of_margins,
    PoissonRegressor: _loss_of_deviances,
    GammaRegressor: _loss_of_deviances,
    TweedieRegressor: _loss_of_deviances,
    MLPClassifier: _loss_of_network,
    MLPRegressor: _loss_of_network,
    LinearRegression: lambda model: HalfSquared(),
    Ridge: lambda model: HalfSquared(),
    RidgeClassifier: lambda model: HalfSquared(),
}
