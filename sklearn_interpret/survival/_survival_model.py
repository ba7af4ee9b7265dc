"""The survival or cumulative hazard function of a model, at some times."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, MetaEstimatorMixin, RegressorMixin, clone
from sklearn.utils import Tags
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    process_routing,
)
from sklearn.utils.validation import check_is_fitted

from sklearn_interpret._model._sklearn_compat import routing_enabled
from sklearn_interpret._model.formulas.last_step import steps_and_model
from sklearn_interpret._model.leave_out.training import transform_by_steps
from sklearn_interpret._model.responses.predictors import final_step, tags_of
from sklearn_interpret._model.rows.arrays import as_rows
from sklearn_interpret._model.rows.number_format import number_text

# Names of the responses.
_RESPONSES = {
    "survival": "survival probability",
    "cumulative_hazard": "cumulative hazard",
}
# Quantiles of the times of events that are the times by default.
_QUANTILES = (0.1, 0.3, 0.5, 0.7, 0.9)


@dataclass(eq=False, repr=False)
class SurvivalModel(MetaEstimatorMixin, RegressorMixin, BaseEstimator):
    """A survival model as a regressor: what it predicts for each of some times.

    Inspectors of it show all times at once: an output of its `predict` is the survival
    probability, or the cumulative hazard, at one time.

    Parameters
    ----------
    estimator : estimator
        A model of scikit-survival with `predict_survival_function` or
        `predict_cumulative_hazard_function`, or a pipeline that ends in one. `fit`
        fits a clone of it; a :class:`~sklearn.frozen.FrozenEstimator` stays as it is.
    response_method : {"survival", "cumulative_hazard"}, default="survival"
        The function of time: the probability of no event until a time, or the hazard
        that has added up until then.
    times : array-like of shape (n_times,), default=None
        Increasing times. None: the quantiles 10, 30, 50, 70 and 90 % of the times of
        events in `y`, so that folds of a cross-validation have times of their own.

    Attributes
    ----------
    estimator_ : estimator
        The fitted model.
    times_ : ndarray of shape (n_times,)
        The times.
    output_names_ : list of str
        Names of the outputs, as "t = 365".
    response_name_ : str
        Name of the response.
    n_features_in_ : int
        Number of columns that the model was fitted on.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the columns, if the model has them.

    Raises
    ------
    TypeError
        In `fit`: a model without this function of time.
    ValueError
        In `fit`: times that do not increase, or that the model does not know.

    See Also
    --------
    sklearn_interpret.survival.EffectOverTimeDisplay : Effects of features at each time.

    Notes
    -----
    Functions of survival trees and of their forests are averages of leaves: inspectors
    read them as trees. Other models are called. `score` is that of the model, the
    concordance of its risk scores with the times of events.

    References
    ----------
    H. Ishwaran, U. B. Kogalur, E. H. Blackstone and M. S. Lauer (2008). Random survival
    forests. https://doi.org/10.1214/08-AOAS169

    Examples
    --------
    Any model with such a function will do: here rows survive until a time of their own.

    >>> import numpy as np
    >>> from sklearn.linear_model import LinearRegression
    >>> from sklearn_interpret.survival import SurvivalModel
    >>> class Deterministic(LinearRegression):
    ...     def predict_survival_function(self, X):
    ...         return [lambda t, end=end: (t < end) * 1.0 for end in self.predict(X)]
    >>> X, y = np.array([[1.0], [2.0], [3.0]]), np.array([1.0, 2.0, 3.0])
    >>> model = SurvivalModel(Deterministic(), times=[0.5, 1.5]).fit(X, y)
    >>> model.predict([[1.0], [2.0]])
    array([[1., 0.],
           [1., 1.]])
    >>> model.output_names_
    ['t = 0.5', 't = 1.5']
    """

    estimator: Any
    _: KW_ONLY
    response_method: str = "survival"
    times: ArrayLike | None = None

    # `fit` passes all of its parameters to that of `estimator`.
    _passes_fit_parameters: ClassVar[bool] = True

    def fit(self, X: Any, y: Any = None, **params: Any) -> Self:
        """Fit a clone of the model, and choose the times.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
            Rows.
        y : structured array of shape (n_samples,), default=None
            Whether there was an event, and the time of it or of censoring. A frozen
            model needs none if `times` are given.
        **params : dict
            Parameters of the model's `fit`, such as `sample_weight`; routed as metadata
            where scikit-learn's metadata routing is enabled.

        Returns
        -------
        self : object
            The fitted model.
        """
        if self.response_method not in _RESPONSES:
            raise ValueError(
                f"response_method={self.response_method!r} must be one of "
                f"{', '.join(_RESPONSES)}."
            )
        model = final_step(self.estimator)
        if not hasattr(type(model), self._method):
            raise TypeError(
                f"{type(model).__name__} has no {self._method}, which response_method="
                f"{self.response_method!r} takes."
            )
        if routing_enabled():
            params = process_routing(self, "fit", **params).estimator.fit
        self.estimator_ = clone(self.estimator).fit(X, y, **params)
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))
        self.times_ = self._choose_times(y)
        (function,) = self._functions(as_rows(X).take(np.array([0])).native)
        self._check_are_known(*getattr(function, "domain", (-np.inf, np.inf)))
        self.output_names_ = _names_of_times(self.times_)
        self.response_name_ = _RESPONSES[self.response_method]
        return self

    def predict(self, X: Any) -> NDArray[np.float64]:
        """The survival probability, or the cumulative hazard, at each time.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_times)
            A column for each time.
        """
        check_is_fitted(self)
        functions, times = self._functions(X), self.times_
        values = [np.ravel(function(times)) for function in functions]
        return np.array(values, dtype=np.float64).reshape(len(values), len(times))

    def score(self, X: Any, y: Any) -> float:
        """The score of the model, mostly the concordance of its risk scores.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
            Rows.
        y : structured array of shape (n_samples,)
            Whether there was an event, and the time of it or of censoring.

        Returns
        -------
        float
            The score.
        """
        check_is_fitted(self)
        return self.estimator_.score(X, y)

    def get_metadata_routing(self) -> MetadataRouter:
        """Routing of metadata: to the model's `fit`.

        Returns
        -------
        MetadataRouter
            Metadata of the model's `fit`.
        """
        mapping = MethodMapping().add(caller="fit", callee="fit")
        router = MetadataRouter(owner=self)
        return router.add(estimator=self.estimator, method_mapping=mapping)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        inner = tags_of(self.estimator)
        tags.input_tags, tags.target_tags = inner.input_tags, inner.target_tags
        return tags

    @property
    def _method(self) -> str:
        """The method of the model that returns functions of time."""
        return f"predict_{self.response_method}_function"

    def _functions(self, X: Any) -> Any:
        """The function of time of each row."""
        # Pipelines have these methods only where scikit-survival adds them.
        steps, model = steps_and_model(self.estimator_)
        return getattr(model, self._method)(transform_by_steps(steps, X))

    def _choose_times(self, y: Any) -> NDArray[np.float64]:
        """The times that were asked for, or quantiles of the times of events."""
        if self.times is None:
            if y is None:
                raise ValueError("times=None takes the times of events: pass y.")
            ends = np.asarray(y)
            if ends.dtype.names is not None:
                event, time = ends.dtype.names
                ends = ends[time][ends[event]]
            return np.unique(np.quantile(ends, _QUANTILES, method="inverted_cdf"))
        times = np.array(self.times, dtype=np.float64, ndmin=1)
        if times.ndim > 1 or not len(times) or not (np.diff(times) > 0).all():
            raise ValueError(f"times={self.times!r} must be increasing numbers.")
        return times

    def _check_are_known(self, low: float, high: float) -> None:
        """Refuse times at which the functions are not defined."""
        outside = self.times_[~((low <= self.times_) & (self.times_ <= high))]
        if len(outside):
            raise ValueError(
                f"times={self.times!r} has {number_text(outside[0])}, but the "
                f"functions of {type(final_step(self.estimator_)).__name__} are "
                f"defined from {number_text(low)} to {number_text(high)}."
            )


def _names_of_times(times: NDArray[np.float64]) -> list[str]:
    """Names of outputs, with as many digits as tell them apart."""
    for digits in (4, 8, 17):
        names = [f"t = {number_text(time, digits)}" for time in times]
        if len(set(names)) == len(names):
            break
    return names
