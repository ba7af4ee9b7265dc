"""scikit-learn's base classes and decorators, with types for static checkers.

`DataFrame` is for annotations: pandas is imported only where it is needed.
"""

# ruff: noqa: F401  -- names are imported here for the other modules

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from sklearn_interpret._model.rows.plain import from_plain, to_plain

if TYPE_CHECKING:
    from pandas import DataFrame

    F = TypeVar("F", bound=Callable[..., Any])
    # mypy takes this for true. A class without stubs is Any to it, and so would be
    # every attribute of a subclass, those that do not exist among them.
    MYPY: Literal[False] = False
    if MYPY:

        class _BaseEstimator:
            def __sklearn_tags__(self) -> Any: ...
            def __getstate__(self) -> Any: ...
            def __setstate__(self, state: Any) -> None: ...

        class _TransformerMixin: ...

        class ClassNamePrefixFeaturesOutMixin:
            def get_feature_names_out(self, input_features: Any = None) -> Any: ...

        class ClassifierMixin:
            def score(
                self, X: Any, y: Any, sample_weight: ArrayLike | None = None
            ) -> float: ...

        class RegressorMixin:
            def score(
                self, X: Any, y: Any, sample_weight: ArrayLike | None = None
            ) -> float: ...

        class ClusterMixin:
            def fit_predict(
                self, X: Any, y: Any = None, **kwargs: Any
            ) -> NDArray[np.intp]: ...

        class MetaEstimatorMixin: ...

        class _SelectorMixin(_TransformerMixin): ...

    else:
        from sklearn.base import BaseEstimator as _BaseEstimator
        from sklearn.base import (
            ClassifierMixin,
            ClassNamePrefixFeaturesOutMixin,
            ClusterMixin,
            MetaEstimatorMixin,
            RegressorMixin,
        )
        from sklearn.base import TransformerMixin as _TransformerMixin
        from sklearn.feature_selection import SelectorMixin as _SelectorMixin

    class BaseEstimator(_BaseEstimator):
        def get_params(self, deep: bool = True) -> dict[str, Any]: ...
        def set_params(self, **params: Any) -> Self: ...
        def get_metadata_routing(self) -> Any: ...
        def set_fit_request(self, **requests: bool | str | None) -> Self: ...
        def set_score_request(self, **requests: bool | str | None) -> Self: ...

    class TransformerMixin(_TransformerMixin):
        def fit_transform(
            self, X: Any, y: ArrayLike | None = None, **fit_params: Any
        ) -> NDArray[np.float64]: ...
        def set_output(self, *, transform: str | None = None) -> Self: ...

    class SelectorMixin(_SelectorMixin):
        def _transform(self, X: Any) -> Any: ...
        def get_support(self, indices: bool = False) -> NDArray[Any]: ...
        def transform(self, X: Any) -> NDArray[np.float64]: ...
        def inverse_transform(self, X: Any) -> NDArray[np.float64]: ...
        def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]: ...
        def fit_transform(
            self, X: Any, y: ArrayLike | None = None, **fit_params: Any
        ) -> NDArray[np.float64]: ...

    class CallbackSupportMixin:
        def set_callbacks(self, *callbacks: Any) -> Self: ...

    def available_if(check: Callable[[Any], Any]) -> Callable[[F], F]: ...
    def fit_context(*, prefer_skip_nested_validation: bool) -> Callable[[F], F]: ...
    def with_callbacks(method: F) -> F: ...

else:
    DataFrame = Any
    from sklearn.base import (
        BaseEstimator,
        ClassifierMixin,
        ClassNamePrefixFeaturesOutMixin,
        ClusterMixin,
        MetaEstimatorMixin,
        RegressorMixin,
        TransformerMixin,
    )
    from sklearn.feature_selection import SelectorMixin
    from sklearn.utils.metaestimators import available_if

    from sklearn_interpret._model._sklearn_compat import (
        CallbackSupportMixin,
        fit_context,
        with_callbacks,
    )


def feature_names_out(
    self: Any, input_features: ArrayLike | None = None
) -> NDArray[np.object_]:
    """Names of the columns that `transform` returns.

    Parameters
    ----------
    input_features : array-like of str or None, default=None
        Names of the input features if `fit` saw none.

    Returns
    -------
    ndarray of str objects
        One for each column: the name of a feature, a group, a pair or a term, followed
        by that of the output if there are several.
    """
    check_is_fitted(self)
    return np.array(self._column_names(input_features), dtype=object)


def plain_state(self: Any) -> Any:
    """State of an estimator with frames and dicts as plain arrays: a `__getstate__`."""
    return to_plain(BaseEstimator.__getstate__(self))


def set_plain_state(self: Any, state: Any) -> None:
    """Set the state of an estimator from a plain one: a `__setstate__`."""
    BaseEstimator.__setstate__(self, from_plain(state))
