"""The contract of an inspector: one template `fit`, one hook per method."""

from abc import abstractmethod
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.frozen import FrozenEstimator
from sklearn.utils import check_consistent_length
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    process_routing,
)
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import (
    check_is_fitted,
    validate_data,
)

from sklearn_interpret._model._sklearn_compat import (
    CallbackSupportMixin,
    Interval,
    StrOptions,
    callback_subcontext,
    callback_task,
    fit_context,
    propagated_callbacks,
    root_callback_context,
    routing_enabled,
    with_callbacks,
)
from sklearn_interpret._model.response import (
    CENTERED_LOG_PROBA,
    RESPONSE_METHODS,
    check_is_predictor,
    is_fitted,
    make_response,
)
from sklearn_interpret._model.rows.base import Rows
from sklearn_interpret._model.rows.containers import as_rows
from sklearn_interpret._model.sampling import check_weights, choose_rows
from sklearn_interpret._model.tags import (
    check_predictor_is_fitted,
    has_tags,
    is_classifier,
    requires_y,
    tags_of,
    unfrozen,
    weight_parameter,
)

__all__ = ["BaseInspector", "Sample"]


@dataclass(frozen=True)
class Sample:
    """The rows that an inspection works on.

    Parameters
    ----------
    rows : Rows
        Rows of positive weight, cut to `subsample`.
    y : ndarray or None
        Their targets.
    weights : ndarray of shape (n_rows,)
        Their weights; not to be written to.
    kept : ndarray of shape (n_rows,), or None
        Their positions in the input; None for all of it.
    """

    rows: Rows
    y: Any
    weights: np.ndarray
    kept: np.ndarray | None

    @property
    def index(self):
        """Positions of the rows in the input."""
        return np.arange(self.rows.n_rows) if self.kept is None else self.kept


def _estimator_has(name):
    """Whether the fitted, or else the given, estimator has a method."""

    def check(self):
        getattr(getattr(self, "estimator_", self.estimator), name)
        return True

    return check


class BaseInspector(CallbackSupportMixin, MetaEstimatorMixin, BaseEstimator):
    """Base of all inspectors.

    A subclass stores its parameters in `__init__`, adds to `_parameter_constraints`
    and fills `_inspect(sample, response)`.
    """

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
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
    }

    # Attributes that are only kept at hand, and made again rather than pickled.
    _at_hand: ClassVar[tuple] = ()

    def __getstate__(self):
        state = super().__getstate__()
        return {**state, **{name: None for name in self._at_hand if name in state}}

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
            and altered copies of them, in the container given here.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs), default=None
            Targets. Not needed where `estimator` is a
            :class:`~sklearn.frozen.FrozenEstimator`.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights. They weigh every average of the inspection, as if a
            row of weight two stood twice, and go to the estimator's `fit` where that
            takes them (also to the last step of a pipeline).
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
            Bad input; `y` missing although the estimator has to be fitted.
        """
        check_is_predictor(self.estimator)
        self._forget()
        rows = self._check_rows(X, reset=True)
        weights = check_weights(sample_weight, rows)
        if y is not None:
            check_consistent_length(rows.native, y)
        context = root_callback_context(self, max_subtasks=2)
        with callback_task(context, self):
            part = callback_subcontext(context, "fit-estimator")
            self._fit_estimator(rows.native, y, sample_weight, params, part)
            response = self._make_response()
            sample = self._choose_sample(rows, y, weights)
            part = callback_subcontext(context, "inspect", max_subtasks=None)
            with callback_task(part, self):
                self._inspect(sample, response, _block_reporter(part, self))
        return self

    @abstractmethod
    def _inspect(self, sample, response, on_block):
        """Compute the fitted attributes.

        Parameters
        ----------
        sample : Sample
            The rows to inspect the model on.
        response : Response
            The model.
        on_block : callable
            To be called after each block of work.
        """

    def _make_response(self):
        """How the fitted model is asked; `_inspect` gets it."""
        return make_response(
            self.estimator_, self.response_method, getattr(self, "target", None)
        )

    def _forget(self):
        """Drop what an earlier `fit` found: other parameters may find less."""
        for name in list(vars(self)):
            if name.endswith("_") and not name.startswith("_"):
                delattr(self, name)

    def _check_rows(self, X, *, reset):
        """Wrap `X`, checking its shape, its feature names and their number."""
        rows = as_rows(X)
        for count, what in ((rows.n_rows, "sample"), (rows.n_columns, "feature")):
            if count == 0:
                raise ValueError(
                    f"Found array with 0 {what}(s) (shape={rows.native.shape}) while a "
                    f"minimum of 1 is required by {type(self).__name__}."
                )
        if rows.named and len(set(rows.names)) < rows.n_columns:
            twice = next(name for name in rows.names if rows.names.count(name) > 1)
            raise ValueError(f"X has the column name {twice!r} more than once.")
        validate_data(self, rows.native, reset=reset, skip_check_array=True)
        return rows

    def _fit_estimator(self, X, y, sample_weight, params, context):
        """Set `estimator_`: a fitted clone, or the frozen model as it is."""
        if isinstance(self.estimator, FrozenEstimator):
            check_predictor_is_fitted(self.estimator)
            # Images have no columns to be counted.
            if has_tags(self.estimator) and getattr(X, "ndim", 2) < 3:
                model = unfrozen(self.estimator)
                _check_fits(model, X)
            self.estimator_ = self.estimator
            with callback_task(context, self):
                return
        if y is None and requires_y(self.estimator):
            raise ValueError(self._missing_y_message())
        fit_params = self._estimator_fit_params(sample_weight, params)
        estimator = clone(self.estimator)
        with propagated_callbacks(context, estimator), callback_task(context, self):
            self.estimator_ = estimator.fit(X, y, **fit_params)

    def _missing_y_message(self):
        name = type(self).__name__
        message = f"{name} requires y to be passed, but the target y is None."
        if is_fitted(self.estimator):
            message += (
                " The estimator is fitted: to inspect it as it is, pass "
                "sklearn.frozen.FrozenEstimator(estimator); passed bare, a clone of it "
                "is fitted again."
            )
        return message

    def _estimator_fit_params(self, sample_weight, params):
        if routing_enabled():
            routed = process_routing(self, "fit", sample_weight=sample_weight, **params)
            return routed.estimator.fit
        if sample_weight is None:
            return params
        name = weight_parameter(self.estimator)
        return params if name is None else {**params, name: sample_weight}

    def _choose_sample(self, rows, y, weights):
        """What `_inspect` gets to work on."""
        random_state = getattr(self, "random_state", None)
        subsample = getattr(self, "subsample", None)
        return self._draw_sample(rows, y, weights, random_state, subsample)

    def _draw_sample(self, rows, y, weights, random_state, subsample):
        """Drop rows of weight zero and draw the subsample."""
        y = None if y is None else np.asarray(y)
        if subsample is None and (weights > 0).all():
            return Sample(rows, y, weights, None)
        kept = np.flatnonzero(weights > 0)
        y = None if y is None else y[kept]
        stratified = y is not None and y.ndim == 1 and is_classifier(self.estimator_)
        drawn = choose_rows(
            len(kept),
            subsample,
            stratify=y if stratified else None,
            random_state=random_state,
        )
        kept = kept[drawn]
        if len(kept) < rows.n_rows:
            rows = rows.take(kept)
        return Sample(rows, None if y is None else y[drawn], weights[kept], kept)

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
            What the estimator predicts.
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
        self,
        X: Any,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
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
            What goes to the estimator's `fit`.
        """
        mapping = MethodMapping().add(caller="fit", callee="fit")
        return (
            MetadataRouter(owner=self)
            .add_self_request(self)
            .add(estimator=self.estimator, method_mapping=mapping)
        )

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        inner = tags_of(self.estimator)
        tags.estimator_type = inner.estimator_type
        for part in (
            "target_tags",
            "classifier_tags",
            "regressor_tags",
            "input_tags",
            "no_validation",
            "non_deterministic",
        ):
            setattr(tags, part, getattr(inner, part))
        return tags


def _check_fits(model, X):
    """Check the number and names of columns against those that a model was fitted on.

    CatBoost keeps names under a name of its own. It checks them itself, but takes
    columns in another order.
    """
    names = getattr(model, "feature_names_", None)
    if names is None:
        validate_data(model, X, reset=False, skip_check_array=True)
        return
    rows = as_rows(X)
    if rows.named and rows.names != list(names) and set(rows.names) == set(names):
        raise ValueError(
            "The feature names should match those that were passed during fit. Feature "
            "names must be in the same order as they were in fit."
        )


def _block_reporter(context, estimator):
    """A function that tells callbacks of one finished block of work."""

    def report():
        part = callback_subcontext(context, "block")
        with callback_task(part, estimator):
            pass

    return report
