"""Values of training rows: Shapley values of neighbours, out-of-bag scores."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.metrics import pairwise_distances
from sklearn.neighbors import VALID_METRICS, KNeighborsClassifier, KNeighborsRegressor
from sklearn.utils import check_consistent_length

from sklearn_interpret._core.influence.neighbor_values import (
    agreement_values,
    squared_error_values,
)
from sklearn_interpret._inspectors.params import estimator_dataclass
from sklearn_interpret._inspectors.results import ResultsMixin
from sklearn_interpret._model.formulas.formula_class import computes_as
from sklearn_interpret._model.formulas.last_step import steps_and_model
from sklearn_interpret._model.leave_out.out_of_bag import (
    as_array,
    has_out_of_bag_rows,
    members_of,
)
from sklearn_interpret._model.leave_out.training import transform_by_steps
from sklearn_interpret._model.parallel import rows_in_memory, slices
from sklearn_interpret._model.progress import with_progress
from sklearn_interpret._model.responses.predictors import is_classifier
from sklearn_interpret._model.responses.response import make_response
from sklearn_interpret._model.rows.arrays import as_rows
from sklearn_interpret._model.rows.sample import Sample
from sklearn_interpret._model.rows.tables import as_objects
from sklearn_interpret._model.training_weights.agreement import (
    are_missed,
    refuse_other_rows,
    rows_to_check,
)
from sklearn_interpret._model.training_weights.base import TrainingData
from sklearn_interpret._model.training_weights.readers import read_weights
from sklearn_interpret.base import BaseInspector
from sklearn_interpret.exceptions import UnreadableModelError
from sklearn_interpret.explanations import TrainingExplanation

if TYPE_CHECKING:
    from sklearn_interpret._model.rows.base import Rows

_NEIGHBORS = KNeighborsClassifier, KNeighborsRegressor


@estimator_dataclass
class DataValues(ResultsMixin, BaseInspector):
    r"""How much each training row helps to predict others, or how well it is predicted.

    Compare values with each other: rows of the smallest ones are the first to look at,
    since wrong labels often are among them. Of k nearest neighbours it is the Shapley
    value of the row in a game of training rows (Jia et al., 2019); the value of a set
    of rows S for a row with the target y is

    .. math:: v(S) = \frac{1}{k} \sum_{i \in N_k(S)} [y_i = y] \quad \text{or} \quad
        -\Bigl(\frac{1}{k} \sum_{i \in N_k(S)} y_i - y\Bigr)^2

    with the k rows of S that are nearest, :math:`N_k(S)`, and targets less their mean.
    Zero is the value of a row that adds nothing: most rows are above it, also where
    targets have no relation to the features, since no rows predict no class.

    Of forests and bagging it is how well the row is predicted: the mean score of its
    predictions by members that were not fitted to it (Kwon & Zou, 2023), 1 if right, 0
    if wrong; or minus the squared error, which is never above zero.

    Parameters
    ----------
    estimator : estimator
        KNeighborsClassifier or KNeighborsRegressor with uniform weights, or a forest or
        bagging with bootstrap samples, alone or at the end of a pipeline; a clone of it
        is fitted. Pass a fitted one as ``FrozenEstimator(model)``, and to `fit` the
        rows that it was trained on.
    validation : tuple of (X, y), default=None
        Rows that neighbours predict. None takes each row of `fit`, predicted from the
        others.
    verbose : int or None, default=None
        1 prints the share done and the time left, 0 nothing. None writes one line to
        the standard error of calls that will take more than five seconds.

    Attributes
    ----------
    estimator_ : estimator
        The fitted model.
    method_ : {"neighbors", "out_of_bag"}
        The definition of the values, by the kind of model.
    values_ : ndarray of shape (n_samples,)
        Value of each row; NaN if all members were fitted to it.
    standard_errors_ : ndarray of shape (n_samples,)
        Standard errors of the values, as means over the predicted rows, with the
        training rows held fixed, or over members. NaN of less than two.
    n_features_in_, feature_names_in_, classes_ : int, ndarray, ndarray
        Number of features; their names, where the columns have any; class labels.

    Raises
    ------
    UnreadableModelError
        In `fit`: another model, neighbours with other weights, or a frozen model of
        other rows, as far as its predictions tell.
    ValueError
        In `fit`: `y` missing, no more rows than neighbours, a frozen model of more
        rows, or `validation` for a forest.

    See Also
    --------
    InfluenceFunctions : Changes of the loss without each row.
    InfluenceDisplay : Draws the values, or scores without rows of small values.

    Notes
    -----
    Values of neighbours with `validation` sum to the score of all rows less that of
    none. Without, a row has no part in its own prediction, and its value is the mean
    over those of the n - 1 other rows: the sum is n / (n - 1) times the score. Values
    take the time of the distances from all training rows to each predicted row, and of
    sorting them. Rows at the same distance count as nearer in the order in which they
    are given: identical ones may have different values.

    A forest may be fitted with `sample_weight`; its rows count equally in the values.

    References
    ----------
    Jia, R., Dao, D., Wang, B., Hubis, F. A., Gurel, N. M., Li, B., Zhang, C., Spanos,
    C. & Song, D. (2019). Efficient task-specific data valuation for nearest neighbor
    algorithms. Proceedings of the VLDB Endowment 12(11).
    https://doi.org/10.14778/3342263.3342637

    Kwon, Y. & Zou, J. (2023). Data-OOB: out-of-bag estimate as a simple and efficient
    data value. International Conference on Machine Learning 40.
    https://doi.org/10.48550/arXiv.2304.07718

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from sklearn_interpret.influence import DataValues
    >>> X, y = load_iris(return_X_y=True)
    >>> y[[3, 77, 140]] = [2, 0, 0]  # wrong labels
    >>> inspector = DataValues(KNeighborsClassifier()).fit(X, y)
    >>> np.sort(np.argsort(inspector.values_)[:3])
    array([  3,  77, 140])
    """

    validation: tuple[Any, ArrayLike] | None = None
    verbose: int | None = None

    method_: str = field(init=False)
    values_: NDArray[np.float64] = field(init=False)
    standard_errors_: NDArray[np.float64] = field(init=False)

    _for_any_model = "DeletionDiagnostics takes any model."
    _why_targets = (
        "values depend on the targets, also where the model is a FrozenEstimator."
    )
    # Copies of a row are neighbours of each other.
    _refits = True

    _parameter_constraints = {
        **BaseInspector._parameter_constraints,
        "validation": [tuple, list, None],
    }

    def fit(  # type: ignore[override]  # weights are those of the model
        self, X: Any, y: ArrayLike | None = None, **params: Any
    ) -> Self:
        """Fit a clone of `estimator`, and value its training rows.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
            Training rows.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs), default=None
            Targets, which are required.
        **params : dict
            Further parameters of the model's `fit`.

        Returns
        -------
        self : object
            The fitted inspector.

        Raises
        ------
        ValueError
            Bad input, or a model and rows that cannot be valued.
        """
        return super().fit(X, y, **params)

    def _make_response(self) -> Any:
        _, model = steps_and_model(self.estimator_)
        if any(computes_as(model, kind) for kind in _NEIGHBORS):
            self.method_ = "neighbors"
            if model.weights not in ("uniform", None):
                raise UnreadableModelError(
                    f"DataValues takes neighbours of equal weight, and weights="
                    f"{model.weights!r}."
                )
        elif has_out_of_bag_rows(model):
            self.method_ = "out_of_bag"
            if self.validation is not None:
                raise ValueError(
                    "validation must be None: rows of a forest are predicted by the "
                    "members that were not fitted to them."
                )
        else:
            raise UnreadableModelError(
                "DataValues takes KNeighborsClassifier, KNeighborsRegressor, and "
                f"forests and bagging with bootstrap samples; got {model!r}. "
                f"{self._for_any_model}"
            )
        return make_response(self.estimator_, "auto", None)

    def _choose_sample(
        self, rows: Any, y: ArrayLike | None, weights: NDArray[np.float64]
    ) -> Sample:
        targets = self._checked_targets(y)
        if self.method_ == "neighbors" and np.ptp(weights):
            raise ValueError(
                "sample_weight differs between rows, and models of nearest neighbours "
                "take no weights: pass None."
            )
        self._weights_of_fit = weights
        return Sample(rows, targets, np.ones(rows.n_rows))

    def _inspect(self, sample: Sample, response: Any) -> None:
        response(sample.rows.take([0]).native)  # the model's own checks
        steps, model = steps_and_model(self.estimator_)
        rows = transform_by_steps(steps, sample.rows.native)
        targets = _targets(model, sample.y)
        if self._is_frozen:
            _check_training_rows(model, as_rows(rows), targets, self._weights_of_fit)
        score = self._neighbor_scores if self.method_ == "neighbors" else _member_scores
        counts, sums, squares = np.zeros((3, sample.rows.n_rows))
        for values, is_counted in score(steps, model, rows, targets):
            counts += is_counted.sum(axis=0)
            sums += (is_counted * values).sum(axis=0)
            squares += (is_counted * values**2).sum(axis=0)
        with np.errstate(invalid="ignore", divide="ignore"):
            self.values_ = sums / counts
            variances = np.maximum(squares / counts - self.values_**2, 0.0)
            errors = np.sqrt(variances / (counts - 1))
        self.standard_errors_ = np.where(counts > 1, errors, np.nan)
        self._training_fields = {
            "training_data": sample.rows.native,
            "training_targets": sample.y,
        }

    def _neighbor_scores(
        self, steps: Any, model: Any, rows: Any, targets: NDArray[np.float64]
    ) -> Iterator[tuple[NDArray[np.float64], NDArray[np.float64]]]:
        """Yield values (m, n) of all rows for predicted rows, and which of them count.

        A row does not count for its own prediction.
        """
        n, k, n_own = len(targets), model.n_neighbors, int(self.validation is None)
        if k > n - n_own:
            raise ValueError(
                f"n_neighbors={k} takes {k + n_own} rows or more; fit has {n}."
            )
        neighbors = clone(model).fit(rows, targets[:, 0])
        predicted, expected = as_rows(rows), targets
        if self.validation is not None:
            if len(self.validation) != 2 or self.validation[1] is None:
                raise ValueError("validation must be rows and their targets: (X, y).")
            X, y = self.validation
            valid = self._check_rows(X, reset=False)
            check_consistent_length(valid.native, y)
            predicted = as_rows(transform_by_steps(steps, valid.native))
            expected = _targets(model, np.asarray(y))
            if expected.shape[1] != targets.shape[1] or np.isnan(expected).any():
                raise ValueError(
                    f"validation must have {targets.shape[1]} known targets for each "
                    "row, as fit has."
                )
        center = 0.0 if is_classifier(model) else targets.mean(axis=0)
        # Distances and positions of all rows, and a dozen arrays of values.
        blocks = slices(len(expected), rows_in_memory(120 * n))
        for block in with_progress(list(blocks)):
            order = _nearest_first(neighbors, rows, predicted.sliced(block).native)
            if n_own:
                is_own = order == np.arange(block.start, block.stop)[:, None]
                order = order[~is_own].reshape(len(order), n - 1)
            values, is_counted = np.zeros((2, len(order), n))
            near, y = targets[order] - center, expected[block] - center
            by_rank = sum(
                agreement_values(1.0 * (output == y_of[:, None]), k)
                if is_classifier(model)
                else squared_error_values(output, y_of, k)
                for output, y_of in zip(near.T.swapaxes(1, 2), y.T, strict=True)
            )
            np.put_along_axis(values, order, by_rank / targets.shape[1], axis=1)
            np.put_along_axis(is_counted, order, 1.0, axis=1)
            yield values, is_counted

    def _overall_explanation(self) -> TrainingExplanation:
        return TrainingExplanation(
            self.values_[None],
            **self._training_fields,
            value_name="value of the row",
            smallest_first=True,
        )

    def _result_blocks(self) -> list[dict[str, Any]]:
        """A line for each row of `fit`, the smallest value first: columns "row",
        "value" and "standard_error".
        """
        order = np.argsort(self.values_, kind="stable")
        names = as_objects(self._overall_explanation().training_names)
        return [
            {
                "row": names[order],
                "value": self.values_[order],
                "standard_error": self.standard_errors_[order],
            }
        ]


def _check_training_rows(
    model: Any, rows: Rows, targets: NDArray[np.float64], weights: NDArray[np.float64]
) -> None:
    """Refuse rows that a model was not fitted on, as far as its predictions tell."""
    checked = rows_to_check(rows)
    predictions = model.predict(checked.native)
    if is_classifier(model):
        if targets.shape[1] > 1:
            return
        targets = (targets == np.arange(len(model.classes_))).astype(np.float64)
        predictions = model.predict_proba(checked.native)
    try:
        reader = read_weights(model, TrainingData(rows, targets, weights))
    except UnreadableModelError:  # bagging of other models
        return
    shares = reader.weights(checked)
    predictions, size = predictions.reshape(len(shares), -1), shares @ np.abs(targets)
    if are_missed(
        model, shares @ targets, predictions, size, targets.std(axis=0)
    ).any():
        refuse_other_rows(model, "the rows")


def _nearest_first(neighbors: Any, rows: Any, predicted: Any) -> NDArray[np.intp]:
    """Positions (m, n) of all rows by their distance from predicted ones."""
    metric = neighbors.effective_metric_
    if callable(metric) or metric in VALID_METRICS["brute"]:
        # Sorting all distances takes a third of the time of a search for n neighbours.
        params = neighbors.effective_metric_params_
        distances = pairwise_distances(predicted, rows, metric=metric, **params)
        return np.argsort(distances, axis=1, kind="stable")
    order: NDArray[np.intp] = neighbors.kneighbors(
        predicted, n_neighbors=neighbors.n_samples_fit_, return_distance=False
    )
    return order


def _targets(model: Any, y: NDArray[Any]) -> NDArray[np.float64]:
    """Targets (n, k) as numbers: positions of classes."""
    columns = y.reshape(len(y), -1)
    if not is_classifier(model):
        return columns.astype(np.float64)
    classes = model.classes_ if isinstance(model.classes_, list) else [model.classes_]
    codes = np.empty(columns.shape)
    for output, (labels, column) in enumerate(zip(classes, columns.T, strict=True)):
        positions = np.minimum(np.searchsorted(labels, column), len(labels) - 1)
        unknown = labels[positions] != column
        if unknown.any():
            raise ValueError(f"y has the unknown class {column[unknown][0]!r}.")
        codes[:, output] = positions
    return codes


def _member_scores(
    steps: Any, model: Any, rows: Any, targets: NDArray[np.float64]
) -> Iterator[tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """Yield scores (1, n) of each member, and which rows are out of its bag."""
    rows = as_array(rows)
    for member, columns, unseen in with_progress(list(members_of(model, len(targets)))):
        X = rows[:, columns]
        predictions = member.predict(X).reshape(len(targets), -1)
        if is_classifier(model):
            scores = (predictions == targets).mean(axis=1)
        else:
            scores = -np.square(predictions - targets).mean(axis=1)
        yield scores[None], unseen[None].astype(np.float64)
