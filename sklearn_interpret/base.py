"""Base of the estimators that wrap a model: one template `fit`, one hook."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import wraps
from numbers import Integral, Real
from typing import Any, ClassVar, Self, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.utils import check_consistent_length
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    process_routing,
)
from sklearn.utils.validation import check_is_fitted

from sklearn_interpret._inspectors.sklearn_bases import (
    BaseEstimator,
    CallbackSupportMixin,
    MetaEstimatorMixin,
    available_if,
    fit_context,
    plain_state,
    set_plain_state,
    with_callbacks,
)
from sklearn_interpret._model._sklearn_compat import (
    Interval,
    StrOptions,
    callback_subcontext,
    callback_task,
    check_feature_names_in,
    propagated_callbacks,
    root_callback_context,
    routing_enabled,
    warn,
)
from sklearn_interpret._model.adapters.adapt import as_predictor
from sklearn_interpret._model.progress import PERCENTS, progress_of
from sklearn_interpret._model.responses.model_difference import ModelDifference
from sklearn_interpret._model.responses.predictors import (
    RESPONSE_METHODS,
    check_fits_rows,
    check_is_predictor,
    is_classifier,
    is_fitted,
    requires_y,
    tags_of,
    unfrozen,
    weight_parameter,
)
from sklearn_interpret._model.responses.response import (
    CENTERED_LOG_PROBA,
    make_response,
)
from sklearn_interpret._model.rows.arrays import as_rows
from sklearn_interpret._model.rows.base import Rows, default_name
from sklearn_interpret._model.rows.partitioned import PartitionedSample, read_head
from sklearn_interpret._model.rows.sample import Sample
from sklearn_interpret._model.rows.validation import (
    FitArguments,
    check_not_missing,
    check_rows,
    check_weights,
)
from sklearn_interpret.exceptions import RefitWarning, UnreadableModelError
from sklearn_interpret.partitions import Partitions

__all__ = ["BaseInspector", "Sample"]

# Classes of estimators that stay as they were fitted.
_FROZEN = FrozenEstimator, ModelDifference
_F = TypeVar("_F", bound=Callable[..., Any])


def _estimator_has(name: str) -> Callable[..., Any]:
    """Check for `available_if`: the (fitted) estimator has a method."""

    def check(self: BaseInspector) -> bool:
        fitted = hasattr(self, "estimator_")
        getattr(self.estimator_ if fitted else self._get_estimator(), name)
        return True

    return check


def _strings_message(model: BaseEstimator, X: Any) -> str:
    """Message of a model that cannot be fitted to strings: where they are."""
    name, rows = type(model).__name__, as_rows(X)
    columns = [
        column
        for j, column in enumerate(rows.names)
        if rows.column_array(j).dtype.kind in "OUS"
    ]
    if not columns:
        return f"{name} takes no strings, but y has some: it needs numbers."
    return (
        f"{name} takes no strings, but X has some in {', '.join(columns)}. Encode them "
        "in a pipeline: make_pipeline(make_column_transformer((OneHotEncoder(), "
        f'{columns}), remainder="passthrough"), model).'
    )


def _unfitted_on_failure(fit: _F) -> _F:
    """Wrap `fit` to delete fitted attributes if it fails or is interrupted."""

    @wraps(fit)
    def fit_or_reset(self: BaseInspector, *args: Any, **kwargs: Any) -> BaseInspector:
        vars(self).pop("_adapted", None)  # the model may have changed
        try:
            return fit(self, *args, **kwargs)
        except BaseException as error:
            self._reset()
            if isinstance(error, UnreadableModelError):
                models = self._get_estimator(), self.estimator
                name, own_name = (type(unfrozen(model)).__name__ for model in models)
                # The name alone, not the text of the model.
                message = re.sub(rf"{name}\b(?!\()", own_name, str(error), count=1)
                if self._for_any_model not in message:
                    message += f" {self._for_any_model}"
                error.args = (message,)
            raise

    return cast(_F, fit_or_reset)


@dataclass(eq=False, repr=False)
class BaseInspector(CallbackSupportMixin, MetaEstimatorMixin, BaseEstimator):
    """Base of all inspectors.

    A subclass stores its parameters in `__init__`, or is a dataclass of them, adds to
    `_parameter_constraints` and fills `_inspect(sample, response)`.

    Parameters
    ----------
    estimator : estimator
        The predictor to inspect; a clone of it is fitted.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> from sklearn_interpret.base import BaseInspector
    >>> class PredictionRange(BaseInspector):
    ...     def __init__(self, estimator, *, response_method="auto"):
    ...         self.estimator = estimator
    ...         self.response_method = response_method
    ...
    ...     def _inspect(self, sample, response):
    ...         predictions = response(sample.rows.native)
    ...         self.low_, self.high_ = predictions.min(), predictions.max()
    >>> inspector = PredictionRange(LinearRegression()).fit([[0], [1], [2]], [1, 3, 5])
    >>> bool(abs(inspector.high_ - inspector.low_ - 4) < 1e-9)
    True
    """

    estimator: Any
    estimator_: Any = field(init=False)
    n_features_in_: int = field(init=False)
    feature_names_in_: NDArray[np.object_] = field(init=False)

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "response_method": [
            StrOptions({"auto", CENTERED_LOG_PROBA, *RESPONSE_METHODS}),
            list,
            tuple,
            callable,
        ],
        "subsample": [
            Interval(Integral, 1, None, closed="left"),
            Interval(Real, 0, 1, closed="right"),
            None,
        ],
        "random_state": ["random_state"],
        "n_jobs": [
            Interval(Integral, None, -1, closed="right"),
            Interval(Integral, 1, None, closed="left"),
            None,
        ],
        "background": "no_validation",
        "cv": ["cv_object"],
        "max_rows": [Interval(Integral, 1, None, closed="left"), None],
        "verbose": ["verbose", None],
        "feature_groups": [dict, None],
        "target": "no_validation",
    }

    # Attributes that are caches: not pickled, rebuilt on demand.
    _caches: ClassVar[tuple[str, ...]] = ()

    # A model of another library and what stands for it, which is made once for a fit.
    _adapted: ClassVar[tuple[Any, Any]] = (None, None)

    # What takes any model, a sentence for an UnreadableModelError.
    _for_any_model: ClassVar[str] = ""

    # Why targets are needed, also with a FrozenEstimator.
    _why_targets: ClassVar[str] = ""

    # Whether `fit` takes rows in partitions.
    _takes_partitions = False

    # Whether standard errors use the sum of the weights as the number of rows.
    _errors_count_rows = False

    def __getstate__(self) -> dict[str, Any]:
        state = plain_state(self)
        return {**state, **{name: None for name in self._caches if name in state}}

    __setstate__ = set_plain_state

    @_unfitted_on_failure
    @with_callbacks
    @fit_context(prefer_skip_nested_validation=False)
    def fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        **params: Any,
    ) -> Self:
        """Fit a clone of `estimator` and inspect it on `X`.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
            Rows to fit the estimator on, and to inspect it on. The model sees them,
            and perturbed copies of them, in the container given here. Methods that add
            up over rows also take a Dask DataFrame or Array and
            :class:`~sklearn_interpret.partitions.RowBatches`, with a frozen model.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs), default=None
            Targets. Not needed if `estimator` is a
            :class:`~sklearn.frozen.FrozenEstimator`.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights of every average of the inspection: a row of weight two
            counts as two rows. They are also passed to the estimator's `fit`, or to
            that of the last step of a pipeline, if it takes them. Standard errors over
            the rows use the sum of the weights as the number of rows, and so depend on
            their scale.
        **params : dict
            Further parameters of the estimator's `fit`; routed as metadata where
            scikit-learn's metadata routing is enabled.

        Returns
        -------
        self : object
            The fitted inspector.

        Raises
        ------
        ValueError
            If the input is invalid, or `y` is missing and the estimator must be fitted.

        Warns
        -----
        RefitWarning
            If the estimator is already fitted: a clone of it is fitted again.
        """
        check_is_predictor(self._get_estimator())
        self._reset()
        partitions = Partitions.from_input(X, y, sample_weight)
        if partitions is not None:
            X, y, sample_weight = read_head(self, partitions), None, None
            if not self._is_frozen:
                raise TypeError(
                    f"{type(self).__name__} fits no model to rows in partitions: pass "
                    "a fitted one as sklearn.frozen.FrozenEstimator(model)."
                )
        rows = self._check_rows(X, reset=True)
        weights = check_weights(sample_weight, rows, count_rows=self._errors_count_rows)
        if y is not None:
            check_not_missing(y)
            check_consistent_length(rows.native, y)
        context = root_callback_context(self, max_subtasks=2)
        with callback_task(context, self):
            task = callback_subcontext(context, "fit-estimator")
            arguments = FitArguments(rows.native, y, sample_weight, params)
            self._fit_estimator(arguments, task)
            response = self._make_response()
            self._target_name = getattr(y, "name", None) or None  # of a Series
            self._response_name = getattr(response, "name", "response")
            if partitions is None:
                sample: Any = self._choose_sample(rows, y, weights)
            else:
                sample = PartitionedSample(partitions, rows)
            task = callback_subcontext(context, "inspect", max_subtasks=PERCENTS)
            with callback_task(task, self), progress_of(self, "fit", task):
                self._inspect(sample, response)
        return self

    @abstractmethod
    def _inspect(self, sample: Sample, response: Any) -> None:
        """Compute the fitted attributes; the loops of `run` show the progress.

        Parameters
        ----------
        sample : Sample
            Rows to inspect the model on.
        response : Response
            Responses of the model, or what else `_make_response` returns.
        """

    def _get_estimator(self) -> Any:
        """The estimator to inspect: a hook for a default."""
        adapted, predictor = self._adapted
        if adapted is self.estimator:
            return predictor
        predictor = as_predictor(self.estimator)
        if predictor is not self.estimator:
            vars(self)["_adapted"] = self.estimator, predictor
        return predictor

    @property
    def _is_frozen(self) -> bool:
        """Whether the model stays as it was fitted."""
        return isinstance(self._get_estimator(), _FROZEN)

    def _reset(self) -> None:
        """Delete all fitted attributes: `fit` may set fewer with other parameters."""
        for name in list(vars(self)):
            if name.endswith("_") and not name.startswith("_"):
                delattr(self, name)

    def _check_rows(self, X: Any, *, reset: bool) -> Any:
        """Validated `Rows` of `X`; a hook for texts and images."""
        return check_rows(self, X, reset=reset)

    def _make_response(self: Any) -> Any:
        """The model's response that `_inspect` gets."""
        target = getattr(self, "target", None)
        return make_response(self.estimator_, self.response_method, target)

    def _choose_sample(
        self, rows: Rows, y: ArrayLike | None, weights: NDArray[np.float64]
    ) -> Sample:
        """The sample that `_inspect` gets."""
        sample = Sample.of_positive_weight(rows, y, weights)
        subsample = getattr(self, "subsample", None)
        return self._draw(sample, subsample, getattr(self, "random_state", None))

    def _checked_targets(self, y: ArrayLike | None) -> NDArray[Any]:
        """Targets as an array; an error if there are none."""
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is "
                f"None: {self._why_targets}"
            )
        return np.asarray(y)

    def _draw(
        self,
        sample: Sample,
        subsample: float | None,
        random_state: int | np.random.RandomState | None,
    ) -> Sample:
        """A subsample, stratified by class for classifiers."""
        stratified = is_classifier(self.estimator_)
        return sample.draw(subsample, random_state, stratified=stratified)

    def _fit_estimator(self, arguments: FitArguments, context: Any) -> None:
        """Set `estimator_`: a fitted clone, or the frozen model as it is."""
        model, X, y = self._get_estimator(), arguments.X, arguments.y
        if self._is_frozen:
            check_fits_rows(model, X)
            self.estimator_ = model
            with callback_task(context, self):
                return
        if not hasattr(model, "fit"):
            raise TypeError(
                f"{type(model).__name__} has no method fit: to inspect it as it is, "
                "pass sklearn.frozen.FrozenEstimator(model)."
            )
        if y is None and requires_y(model):
            raise ValueError(self._missing_y_message())
        if tags_of(model).requires_fit and is_fitted(model):
            warn(
                "Pass sklearn.frozen.FrozenEstimator(estimator) to inspect it as it "
                "is, or sklearn.base.clone(estimator) to fit it here: the "
                f"{type(self.estimator).__name__} is fitted already, and "
                f"{type(self).__name__} fits a clone of it again, on the rows given "
                "to fit.",
                RefitWarning,
            )
        fit_params = self._estimator_fit_params(arguments)
        estimator = clone(model)
        with propagated_callbacks(context, estimator), callback_task(context, self):
            try:
                self.estimator_ = estimator.fit(X, y, **fit_params)
            except ValueError as error:
                if "could not convert string to float" not in str(error):
                    raise
                raise ValueError(_strings_message(model, X)) from error

    def _missing_y_message(self) -> str:
        name = type(self).__name__
        message = f"{name} requires y to be passed, but the target y is None."
        if is_fitted(self._get_estimator()):
            message += (
                " The estimator is fitted: to inspect it as it is, pass "
                "sklearn.frozen.FrozenEstimator(estimator); otherwise a clone of it is "
                "fitted again."
            )
        return message

    def _estimator_fit_params(self, arguments: FitArguments) -> dict[str, Any]:
        """Parameters of the estimator's `fit`, its weights among them."""
        sample_weight, params = arguments.sample_weight, arguments.params
        if routing_enabled():
            routed = process_routing(self, "fit", sample_weight=sample_weight, **params)
            return routed.estimator.fit
        if sample_weight is None:
            return params
        name = weight_parameter(self._get_estimator())
        return params if name is None else {**params, name: sample_weight}

    def _names_out(
        self: Any,
        input_features: ArrayLike | None,
        players: Iterable[tuple[Sequence[int], str]],
    ) -> tuple[list[str], list[str]]:
        """Names of features or groups, and suffixes of outputs.

        `players` are pairs of columns and name. Columns without a name in `fit` get the
        one in `input_features`.
        """
        feature_names = check_feature_names_in(self, input_features)
        names = [
            feature_names[columns[0]]
            if len(columns) == 1 and name == default_name(columns[0])
            else name
            for columns, name in players
        ]
        several = len(self.output_names_) > 1
        return names, [f"_{name}" for name in self.output_names_] if several else [""]

    @property
    def classes_(self) -> Any:
        """Class labels of a classifier."""
        return self.estimator_.classes_

    @available_if(_estimator_has("predict"))
    def predict(self, X: Any) -> NDArray[Any]:
        """Predictions of `estimator_`.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_outputs)
            Predictions of the estimator.
        """
        check_is_fitted(self)
        return self.estimator_.predict(X)

    @available_if(_estimator_has("predict_proba"))
    def predict_proba(self, X: Any) -> NDArray[Any]:
        """Class probabilities of `estimator_`.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Probabilities, in the order of `classes_`.
        """
        check_is_fitted(self)
        return self.estimator_.predict_proba(X)

    @available_if(_estimator_has("predict_log_proba"))
    def predict_log_proba(self, X: Any) -> NDArray[Any]:
        """Logarithms of the class probabilities of `estimator_`.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Logarithms, in the order of `classes_`.
        """
        check_is_fitted(self)
        return self.estimator_.predict_log_proba(X)

    @available_if(_estimator_has("decision_function"))
    def decision_function(self, X: Any) -> NDArray[Any]:
        """Decision function of `estimator_`.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            Scores.
        """
        check_is_fitted(self)
        return self.estimator_.decision_function(X)

    @available_if(_estimator_has("score"))
    def score(
        self, X: Any, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> float:
        """Score of `estimator_`.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs), default=None
            Targets.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights, for estimators whose score takes them.

        Returns
        -------
        float
            The score.
        """
        check_is_fitted(self)
        if sample_weight is None:
            return self.estimator_.score(X, y)
        return self.estimator_.score(X, y, sample_weight=sample_weight)

    def get_metadata_routing(self) -> MetadataRouter:
        """Routing of metadata: `sample_weight` is used here and passed on.

        Returns
        -------
        MetadataRouter
            Metadata that goes to the estimator's `fit`.
        """
        mapping = MethodMapping().add(caller="fit", callee="fit")
        return (
            MetadataRouter(owner=self)
            .add_self_request(self)
            .add(estimator=self._get_estimator(), method_mapping=mapping)
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = tags_of(self._get_estimator())
        tags.estimator_type = inner.estimator_type
        for name in (
            "target_tags",
            "classifier_tags",
            "regressor_tags",
            "input_tags",
            "no_validation",
            "non_deterministic",
        ):
            setattr(tags, name, getattr(inner, name))
        return tags
