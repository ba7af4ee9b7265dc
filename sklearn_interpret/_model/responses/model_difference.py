"""The weighted sum of the responses of fitted models, as a fitted regressor.

Readers of formulas know the class: sums of trees and linear functions add up.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import KW_ONLY, asdict, dataclass
from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.frozen import FrozenEstimator
from sklearn.utils import InputTags, Tags

from sklearn_interpret._model._sklearn_compat import VisualBlock
from sklearn_interpret._model.adapters.adapt import as_predictor
from sklearn_interpret._model.responses.predictors import (
    check_has_classes,
    check_is_predictor,
    check_predictor_is_fitted,
    is_fitted,
    tags_of,
    unfrozen,
)
from sklearn_interpret._model.responses.response import (
    Response,
    ResponseMethod,
    make_response,
)


@dataclass(eq=False, repr=False)
class ModelDifference(RegressorMixin, BaseEstimator):
    """Difference, or any weighted sum, of the responses of fitted models.

    It is a fitted regressor. Inspectors of it show where two models differ, such as an
    old and a new model, or two quantile regressors. Inspectors that read the trees of
    each model, or its linear function, also read those of the difference. Other
    inspectors call the models.

    Parameters
    ----------
    models : list of fitted predictors
        Regressors, or classifiers of the same classes, that were fitted on the same
        columns. They are not fitted again, and may be of different kinds, such as
        pipelines.
    weights : list of float, default=(1, -1)
        Weight of the response of each model: the first one minus the second.
    response_method : str, list of str or callable, default="auto"
        Response of each model. "auto": `predict` of regressors, and of classifiers
        `predict_proba`, else `decision_function`, else `predict` as 0 and 1. Or one of
        these names, ``"predict_log_proba"``, ``"centered_log_proba"``, a list of names
        (the model's first method of the list is used), or ``f(estimator, X)``. For two
        classes, the output is that of the positive class; for more, one per class.

    Attributes
    ----------
    n_features_in_ : int
        Number of columns that the models were fitted on.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the columns, if the models have them.

    Raises
    ------
    ValueError
        In `fit` and `predict`: models of different columns, classes or numbers of
        outputs; weights that are not one finite number for each model.
    sklearn.exceptions.NotFittedError
        In `fit` and `predict`: a model that is not fitted.

    See Also
    --------
    sklearn.frozen.FrozenEstimator : A fitted model as an estimator.

    Notes
    -----
    Like a :class:`~sklearn.frozen.FrozenEstimator`, it stays fitted: `fit` and
    :func:`~sklearn.base.clone` return the object itself. Inspectors need no `y`, unless
    they compare predictions with targets. For the contrast of two classes of one model,
    pass ``target={"B": 1, "A": -1}`` to the inspector.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import Ridge
    >>> from sklearn_interpret.diagnosis import ModelDifference
    >>> from sklearn_interpret.shapley import LinearSHAP
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> old, new = Ridge(1.0).fit(X, y), Ridge(0.1).fit(X, y)
    >>> difference = ModelDifference([new, old])
    >>> values = LinearSHAP(difference).fit(X).transform(X[:5])
    >>> changes = (new.coef_ - old.coef_) * (X[:5] - X.mean()).to_numpy()
    >>> values[0, :4].round(2), changes[0, :4].round(2)
    (array([-1.07, -6.29, 11.31,  2.19]), array([-1.07, -6.29, 11.31,  2.19]))
    """

    models: Sequence[Any]
    weights: Sequence[float] = (1, -1)
    _: KW_ONLY
    response_method: ResponseMethod = "auto"

    def terms(self) -> list[tuple[float, Response]]:
        """Weight and response of each model, which are checked to go together.

        Returns
        -------
        list of (float, Response)
            A pair for each model.
        """
        models, weights = list(self.models), list(self.weights)
        are_finite = all(isinstance(w, Real) and np.isfinite(w) for w in weights)
        if not models or len(models) != len(weights) or not are_finite:
            raise ValueError(
                f"weights={self.weights!r} must have one finite number for each of "
                f"{len(models)} models, at least one."
            )
        predictors = self._predictors()
        for model in predictors:
            check_is_predictor(model)
            check_predictor_is_fitted(model)
            check_has_classes(model)
        for name in ("n_features_in_", "feature_names_in_"):
            hasattr(self, name)  # raises an error where models disagree
        responses = [make_response(model, self.response_method) for model in predictors]
        labels = [_listed(response.classes) for response in responses]
        for other in labels[1:]:
            if other != labels[0]:
                raise ValueError(
                    "models must all be regressors, or classifiers of the same "
                    f"classes: the classes are {labels[0]!r} and {other!r}."
                )
        return list(zip(map(float, weights), responses, strict=True))

    def fit(self, X: Any = None, y: Any = None, **params: Any) -> Self:
        """Check the models, which stay as they are.

        Parameters
        ----------
        X : object, default=None
            Ignored.
        y : object, default=None
            Ignored.
        **params : dict
            Ignored.

        Returns
        -------
        self : object
            The object itself.
        """
        self.terms()
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Weighted sum of the models' responses.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_outputs)
            The sums.
        """
        sums, is_single = [], False
        for weight, response in self.terms():
            raw = response.raw(X)
            is_single |= getattr(raw, "dtype", None) == np.float32
            sums.append(weight * response.read(raw))
        check_equal_outputs(term.shape[1] for term in sums)
        total = np.sum(sums, axis=0)
        # Single precision says how far the sum is rounded.
        total = total.astype(np.float32) if is_single else total
        return total[:, 0] if total.shape[1] == 1 else total

    @property
    def n_features_in_(self) -> int:
        """Number of columns that the models were fitted on."""
        return self._shared("n_features_in_")

    @property
    def feature_names_in_(self) -> NDArray[np.object_]:
        """Names of the columns that the models were fitted on."""
        return self._shared("feature_names_in_")

    def _predictors(self) -> list[Any]:
        """The models, those of other libraries as scikit-learn estimators."""
        frozen = map(FrozenEstimator, self.models)
        return [unfrozen(as_predictor(model)) for model in frozen]

    def _shared(self, name: str) -> Any:
        """An attribute that is equal in all models that have it."""
        models = [
            model
            for model in self._predictors()
            # CatBoost saves no number of features to files.
            if hasattr(model, name) and getattr(model, "n_features_in_", True)
        ]
        values = [getattr(model, name) for model in models]
        if not values:
            raise AttributeError(f"The models have no {name}.")
        # LightGBM writes blanks in names as underlines.
        texts = [str(_listed(value)).replace(" ", "_") for value in values]
        if len(different := list(dict.fromkeys(texts))) > 1:
            raise ValueError(
                f"models must be fitted on the same columns: their {name} are "
                f"{' and '.join(different)}."
            )
        return values[0]

    def __sklearn_clone__(self) -> Self:
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return all(map(is_fitted, self._predictors()))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        inputs = [asdict(tags_of(model).input_tags) for model in self._predictors()]
        shared = {name: all(each[name] for each in inputs) for name in inputs[0]}
        tags.input_tags = InputTags(**shared)
        tags._skip_test = True  # as FrozenEstimator: checks would fit it
        return tags

    def _sk_visual_block_(self) -> Any:
        names = [
            f"{weight:g} x {type(unfrozen(model)).__name__}"
            for weight, model in zip(self.weights, self.models, strict=False)
        ]
        return VisualBlock("parallel", list(self.models), names=names)


def check_equal_outputs(counts: Iterable[int]) -> None:
    """Refuse models of different numbers of outputs."""
    different = sorted(set(counts))
    if len(different) > 1:
        raise ValueError(
            f"models must have as many outputs as each other: they have {different}."
        )


def _listed(values: Any) -> Any:
    """Labels or names without arrays, which compare entry by entry."""
    if isinstance(values, list):
        return list(map(_listed, values))
    return values.tolist() if isinstance(values, np.ndarray) else values
