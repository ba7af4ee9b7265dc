"""Deletion diagnostics: the model without each of its training rows (Cook, 1977).

The model is fitted again without each row, or an exact shortcut is taken, as
`_model/leave_out` decides. The changes of responses, losses or parameters are measured.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_consistent_length

from sklearn_interpret._core.statistics.losses import log_loss, squared, zero_one
from sklearn_interpret._core.statistics.score_losses import SquaredHinge
from sklearn_interpret._core.statistics.weighted import shares_of
from sklearn_interpret._inspectors.params import estimator_dataclass
from sklearn_interpret._inspectors.refitting import RefittingMixin
from sklearn_interpret._inspectors.results import ResultsMixin
from sklearn_interpret._model._sklearn_compat import StrOptions, warn
from sklearn_interpret._model.formulas.last_step import steps_and_model
from sklearn_interpret._model.leave_out.deletions import make_deletions
from sklearn_interpret._model.leave_out.training import Training
from sklearn_interpret._model.progress import shows_progress, with_progress
from sklearn_interpret._model.responses.predictors import (
    check_has_classes,
    weight_parameter,
)
from sklearn_interpret._model.responses.response import (
    drop_single_output,
    make_response,
)
from sklearn_interpret._model.rows.base import copy_of
from sklearn_interpret._model.rows.features import shortened
from sklearn_interpret._model.rows.validation import (
    check_not_missing,
    empty_for_no_rows,
    target_numbers,
)
from sklearn_interpret.exceptions import CostlyInspectionWarning
from sklearn_interpret.explanations import TrainingExplanation
from sklearn_interpret.influence._groups import (
    influence_blocks,
    read_groups,
    removal_text,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from sklearn_interpret._model.responses.response import Response
    from sklearn_interpret._model.rows.base import Rows
    from sklearn_interpret._model.rows.sample import Sample

# Megabytes of changes above which a warning is raised, chosen by hand.
_MANY_MEGABYTES = 500
# Names of the changes in explanations, by the parameter `what`.
_CHANGE_NAMES = {
    "prediction": "change of the response",
    "parameters": "change of the response",
    "loss": "change of the loss",
}


@estimator_dataclass
class DeletionDiagnostics(ResultsMixin, RefittingMixin):
    r"""Changes of a model that is fitted again without a training row.

    A row without which the model differs is influential: it deserves a look, for it may
    be an error, or the only one of its kind. Any model will do. Whole groups of rows
    can be left out as well.

    Parameters
    ----------
    estimator : estimator
        The predictor to inspect; clones of it are fitted without rows. A
        ``FrozenEstimator(model)`` is taken to be what a fit on the rows gives.
    rows : array-like of int, or of bool of shape (n_samples,), default=None
        Training rows that are left out, one at a time; None means all.
    what : {"prediction", "parameters", "loss"}, default="prediction"
        Quantity whose change `influence_` measures. :meth:`explain` has changes of the
        loss for "loss", and else of the response.
    groups : array-like of shape (n_samples,), default=None
        A label for each training row: rows of one label are left out together. Results
        are in the sorted order of the labels, ``numpy.unique(groups)``.
    response_method : str, list of str or callable, default="auto"
        The model's response: "predict", and of classifiers "predict_proba", or else
        "decision_function". The loss is the squared error of predictions, the log loss
        of probabilities, the squared hinge of a decision function, or whether a class
        is wrong.
    target : class label, int or dict, default=None
        The output, or the contrast {output: weight}, whose changes are measured; None
        means all. Losses are of all.
    subsample : int, float or None, default=None
        How many rows the responses are compared on. All training rows are left out,
        however many.
    random_state : int, RandomState or None, default=None
        Source of the subsample. The model draws from its own `random_state`: all fits
        start from the same one, and where it is None the changes are partly random.
    n_jobs : int or None, default=None
        Workers that fit models.
    verbose : int or None, default=None
        1 prints the share done and the time left, 0 nothing. None writes one line to
        the standard error of calls that will take more than five seconds.

    Attributes
    ----------
    estimator_ : estimator
        The model that was fitted on all rows.
    influence_ : ndarray of shape (n,)
        Mean absolute change, for each row, or group, that is left out: over the rows
        compared (with their weights) and outputs, or over the parameters.
    prediction_changes_ : ndarray of shape (n, m) or (n, m, n_outputs)
        Change of the response to each row compared; not for ``what="parameters"``.
    loss_changes_ : ndarray of shape (n, m)
        Change of their loss, for ``what="loss"``.
    parameter_changes_ : ndarray of shape (n, n_parameters)
        Of a model with `coef_` and `intercept_`, at the end of a pipeline too: change
        of the coefficients (inputs by outputs), and then of the intercepts. Not there
        where a fit has another number of them.
    method_ : {"refit", "newton", "neighbors", "sufficient_statistics"}
        How models without rows were found: by fitting, or exactly without.
    row_indices_ : ndarray of shape (n,)
        Positions of the rows left out; there are none with `groups`.
    group_labels_ : ndarray of shape (n_groups,) or None
        Labels of the groups, in the order of the results; None without `groups`.
    sample_indices_ : ndarray of shape (m,)
        Positions of the rows compared.
    output_names_ : list
        Class labels, or positions, of the outputs.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, where the input has string column names.
    classes_ : ndarray
        Class labels of a classifier.

    Raises
    ------
    ValueError
        In `fit`: targets missing; a model that cannot be fitted without some row; a
        class that is gone with a row, where the response has no value for that.

    Warns
    -----
    CostlyInspectionWarning
        In `fit`: the changes are about to take more than 500 MB.

    See Also
    --------
    sklearn_interpret.influence.InfluenceTreeDisplay : What influential rows have in
        common.

    Notes
    -----
    With :math:`\hat f` the model and :math:`\hat f_{-i}` the one without row
    :math:`i`, all its weight included, the change of the response to row :math:`j` is
    :math:`\hat f_{-i}(x_j) - \hat f(x_j)`, and likewise of parameters and losses:
    where that of a loss is positive, leaving the row out hurts. Molnar's influence of
    row :math:`i` is :math:`\frac1m \sum_j |\hat f_{-i}(x_j) - \hat f(x_j)|`.

    A pipeline is fitted again as a whole. No fit is needed, and the results are those
    of fits to 1e-6, for

    - least squares, ridge, logistic and softmax regression, Poisson, gamma and Tweedie
      regression and linear support vector machines with squared hinge ("newton"):
      Newton steps from the optimum, to rounding, of all rows to that of the others.
      Changes are measured against this optimum, which a solver's tolerance may miss;
    - k nearest neighbours ("neighbors"): the next neighbours step in. Where distances
      are equal, another neighbour than in a fit may;
    - Gaussian, multinomial, Bernoulli and complement naive Bayes
      ("sufficient_statistics"): the row is taken out of counts and moments;

    alone, or behind steps that a fit without the row leaves as they are: those that
    work row by row (scikit-learn's :class:`~sklearn.preprocessing.Normalizer`,
    functions, polynomials, a :class:`~sklearn.frozen.FrozenEstimator`), and encoders of
    categories, also in a :class:`~sklearn.compose.ColumnTransformer`, as long as each
    level is found in another row. A scaler is fitted again, and the model with it;
    freeze it to hold it fixed, as :class:`InfluenceFunctions` holds all steps. Nothing
    is a shortcut for balanced classes (fits count those of the other rows, and weigh
    them anew), positive coefficients, a class that is gone with a row, steps of Newton
    that do not converge, or, without a penalty, separable classes and parameters that
    the other rows do not determine.

    Models fitted without rows are kept for :meth:`explain`, and n times m changes in
    `prediction_changes_`: of many rows choose some by `rows` and `subsample`. A class
    that is gone with a row has the probability zero.

    References
    ----------
    Cook, R. D. (1977). Detection of influential observation in linear regression.
    Technometrics 19(1). https://doi.org/10.1080/00401706.1977.10489493

    Molnar, C. (2022). Interpretable Machine Learning, chapter "Influential Instances".
    https://christophm.github.io/interpretable-ml-book/

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LinearRegression
    >>> from sklearn_interpret.influence import DeletionDiagnostics
    >>> X, y = np.array([[0.0], [1.0], [2.0], [9.0]]), np.array([0.0, 1.0, 2.0, 0.0])
    >>> diagnostics = DeletionDiagnostics(LinearRegression()).fit(X, y)
    >>> diagnostics.influence_.round(3)
    array([0.53 , 0.034, 0.401, 2.745])
    >>> diagnostics.parameter_changes_[3].round(2)
    array([ 1.08, -0.99])
    """

    rows: ArrayLike | None = None
    what: str = "prediction"
    groups: ArrayLike | None = None
    response_method: str | Sequence[str] | Callable[..., Any] = "auto"
    target: Any = None
    subsample: float | None = None
    random_state: int | np.random.RandomState | None = None
    n_jobs: int | None = None
    verbose: int | None = None

    output_names_: list[Any] = field(init=False)
    influence_: NDArray[np.float64] = field(init=False)
    prediction_changes_: NDArray[np.float64] = field(init=False)
    loss_changes_: NDArray[np.float64] = field(init=False)
    parameter_changes_: NDArray[np.float64] = field(init=False)
    method_: Literal["refit", "newton", "neighbors", "sufficient_statistics"] = field(
        init=False
    )
    row_indices_: NDArray[np.intp] = field(init=False)
    group_labels_: NDArray[Any] | None = field(init=False)
    sample_indices_: NDArray[np.intp] = field(init=False)

    _parameter_constraints = {
        **RefittingMixin._parameter_constraints,
        "rows": "no_validation",
        "what": [StrOptions(set(_CHANGE_NAMES))],
        "groups": ["array-like", None],
    }

    def _make_response(self) -> Response:
        if self.what == "loss" and self.target is not None:
            raise ValueError(
                f"target={self.target!r} must be None for what='loss': a loss is that "
                "of all outputs."
            )
        return make_response(self.estimator_, self.response_method, self.target)

    def _choose_sample(
        self, rows: Rows, y: ArrayLike | None, weights: NDArray[np.float64]
    ) -> Sample:
        self._training = self._make_training(rows, self._checked_targets(y), weights)
        self._positive_rows = np.flatnonzero(weights > 0)
        return super()._choose_sample(rows, y, weights)

    def _make_training(
        self, rows: Rows, y: NDArray[np.float64], weights: NDArray[np.float64]
    ) -> Training:
        """The model and its rows, with weights if `fit` takes nothing else."""
        params, unfitted = self._fit_input.params, self._clone()
        del self._fit_input
        if not params:
            weights = np.ones(rows.n_rows)
        has_others = params.keys() - {weight_parameter(unfitted)}
        return Training(
            self.estimator_, unfitted, rows, y, params, None if has_others else weights
        )

    def _inspect(self, sample: Sample, response: Response) -> None:
        training = self._training
        deleted = self._choose_deleted(training)
        del self._training, self._positive_rows
        self._deletions = make_deletions(
            training, response, deleted, n_jobs=self.n_jobs
        )
        self.method_ = self._deletions.method
        self.sample_indices_ = sample.index
        before = self._deletions.baseline(response, sample.rows.native)
        self.output_names_ = response.output_names(before.shape[1])
        parameters = self._deletions.parameters()
        if parameters is not None:
            fitted, parameters_without = parameters
            self.parameter_changes_ = parameters_without - fitted
        if self.what != "parameters":
            self._measure(sample, response, before, len(deleted))
            return
        if parameters is None:
            raise ValueError(
                "what='parameters' needs a model with coef_ and intercept_, of as many "
                f"numbers in each fit; {type(self.estimator_).__name__} has none."
            )
        self.influence_ = np.abs(self.parameter_changes_).mean(axis=1)

    def _measure(
        self,
        sample: Sample,
        response: Response,
        before: NDArray[np.float64],
        n_deletions: int,
    ) -> None:
        """Set the changes of responses (n_rows, k) and losses, and their mean size."""
        (n_rows, n_outputs), has_losses = before.shape, self.what == "loss"
        megabytes = 8e-6 * n_deletions * n_rows * (n_outputs + has_losses)
        if megabytes > _MANY_MEGABYTES:
            warn(
                "Leave out fewer rows (rows=) or compare fewer (subsample=): changes "
                f"for {n_rows} rows in {n_deletions} fits take {megabytes:.0f} MB.",
                CostlyInspectionWarning,
            )
        changes = np.empty((n_deletions, n_rows, n_outputs))
        self.prediction_changes_ = changes if n_outputs > 1 else changes[:, :, 0]
        measured = changes
        if has_losses:
            self.loss_changes_ = np.empty((n_deletions, n_rows))
            measured = self.loss_changes_[:, :, None]
            losses_of = _losses_of_rows(response, sample.y, n_outputs)
        shares = shares_of(sample.weights)
        self.influence_ = np.empty(n_deletions)
        responses = self._deletions.responses(response, sample.rows.native)
        for i, after in enumerate(with_progress(responses, n_deletions)):
            changes[i] = after - before
            if has_losses:
                self.loss_changes_[i] = losses_of(after) - losses_of(before)
            self.influence_[i] = (shares @ np.abs(measured[i])).mean()

    def _choose_deleted(self, training: Training) -> list[NDArray[np.intp]]:
        """Positions of the rows that each deletion removes together.

        Sets the attributes that describe the deletions, and the fields of explanations.
        """
        n_rows, native = training.rows.n_rows, training.rows.native
        self.group_labels_ = None
        if self.groups is None:
            self.row_indices_ = self._positive_rows
            if self.rows is not None:
                self.row_indices_ = _check_positions(self.rows, n_rows)
            names = getattr(native, "index", np.arange(n_rows))[self.row_indices_]
            self._training_fields = {
                "training_data": training.rows.native_at(self.row_indices_),
                "training_targets": training.y[self.row_indices_],
                "training_names": names.tolist(),
            }
            return list(self.row_indices_[:, None])
        if self.rows is not None:
            raise ValueError(
                "rows must be None where groups are given: all groups are left out."
            )
        self.group_labels_, group_of_row = read_groups(self.groups, n_rows)
        self._training_fields = {"training_names": self.group_labels_.tolist()}
        groups = range(len(self.group_labels_))
        return [np.flatnonzero(group_of_row == group) for group in groups]

    @empty_for_no_rows
    @shows_progress
    def explain(self, X: Any, y: ArrayLike | None = None) -> TrainingExplanation:
        """Changes for each of some rows without each training row, or group.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs), default=None
            Their targets, for ``what="loss"``; None takes the model's predictions.

        Returns
        -------
        TrainingExplanation
            Changes of their losses, for ``what="loss"``, or else of the responses, when
            a training row or group is left out.

        Raises
        ------
        ValueError
            Several outputs, of which `target` chooses none; bad input.
        """
        rows, response = self._check_rows(X, reset=False), self._make_response()
        before = self._deletions.baseline(response, rows.native)
        measure = self._make_measure(response, rows, y, before.shape[1])
        responses = self._deletions.responses(response, rows.native)
        values = np.empty((rows.n_rows, len(self.influence_)))
        for i, after in enumerate(with_progress(responses, values.shape[1])):
            values[:, i] = measure(after) - measure(before)
        return TrainingExplanation(
            values,
            predictions=drop_single_output(before.T).T,
            data=rows.native,
            feature_names=rows.names,
            output_names=response.output_names(before.shape[1]),
            response_name=self._response_name,
            target_name=self._target_name,
            value_name=removal_text(_CHANGE_NAMES[self.what], self.groups),
            **self._training_fields,
        )

    def _result_blocks(self) -> list[dict[str, Any]]:
        """A line for each row, or group, that is left out, the most influential first:
        columns "training_row" (its name, or that of the group) and "value", its
        `influence_`.
        """
        return influence_blocks(self._overall_explanation())

    def _result_units(self) -> dict[str, str]:
        return {"value": self._overall_explanation().value_name}

    def _overall_explanation(self) -> TrainingExplanation:
        """`influence_` as an explanation, for displays."""
        names: Any = getattr(self, "feature_names_in_", None)
        return TrainingExplanation(
            self.influence_[None],
            feature_names=names,
            target_name=self._target_name,
            value_name=removal_text(
                f"mean absolute change of the {self.what}", self.groups
            ),
            **self._training_fields,
        )

    def _make_measure(
        self, response: Response, rows: Rows, y: ArrayLike | None, n_outputs: int
    ) -> Callable[[NDArray[np.float64]], NDArray[np.float64]]:
        """A function from responses (m, k) to what `influence_` measures, (m,)."""
        if self.what != "loss":
            if n_outputs > 1:
                raise ValueError(
                    "target=None: the model has several outputs, "
                    f"{shortened(self.output_names_)}; name one, or take what='loss'."
                )
            return lambda responses: responses[:, 0]
        if y is None:
            y = self.estimator_.predict(copy_of(rows.native))
        check_not_missing(y)
        check_consistent_length(rows.native, y)
        return _losses_of_rows(response, np.asarray(y), n_outputs)


def _losses_of_rows(
    response: Response, y: NDArray[Any], n_outputs: int
) -> Callable[[NDArray[np.float64]], NDArray[np.float64]]:
    """A function from responses (m, n_outputs) to the losses of rows, (m,)."""
    classes, method = response.classes, response.method
    if classes is None and method == "predict":
        targets = target_numbers(y.reshape(len(y), -1))
        return partial(squared, targets)
    losses = {
        "predict": zero_one,
        "predict_proba": log_loss,
        "decision_function": SquaredHinge().values,
    }
    _, model = steps_and_model(response.estimator)
    by_class = isinstance(classes, np.ndarray) and n_outputs in (1, len(classes))
    shape = getattr(model, "decision_function_shape", "ovr")
    by_pair = n_outputs > 1 and method == "decision_function" and shape == "ovo"
    if not by_class or by_pair or method not in losses:
        check_has_classes(response.estimator)
        name = method if isinstance(method, str) else response.name
        raise ValueError(
            f"what='loss' knows no loss of response_method={name!r} here: take "
            f"{', '.join(losses)}, of a classifier of one output."
        )
    targets = (y[:, None] == classes).astype(np.float64)
    unknown = y[~targets.any(axis=1)]
    if len(unknown):
        label = unknown[:1].tolist()[0]
        raise ValueError(f"y has {label!r}, which is no class of the model.")
    if method == "decision_function":
        targets = 2 * targets[:, -n_outputs:] - 1
    return partial(losses[method], targets)


def _check_positions(rows: Any, n_rows: int) -> NDArray[np.intp]:
    """Positions of training rows, from positions or flags."""
    positions = np.asarray(rows)
    if positions.dtype.kind == "b" and positions.shape == (n_rows,):
        positions = np.flatnonzero(positions)
    is_list = positions.ndim == 1 and positions.dtype.kind in "iu" and positions.size
    if not is_list or len(np.unique(positions)) < len(positions):
        raise ValueError(
            f"rows={rows!r} must be None, distinct positions of training rows, or one "
            f"flag for each of the {n_rows} rows."
        )
    if positions.min() < 0 or positions.max() >= n_rows:
        raise ValueError(
            f"rows has {positions.min()} to {positions.max()}, but there are {n_rows} "
            "rows, counted from 0."
        )
    return positions.astype(np.intp)
