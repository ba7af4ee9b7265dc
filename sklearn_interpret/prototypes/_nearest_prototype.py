"""Predictions by the nearest prototype, for classes and for numbers."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils import Tags, get_tags
from sklearn.utils.validation import check_is_fitted

from sklearn_interpret._inspectors.results import ResultsMixin
from sklearn_interpret._inspectors.sklearn_bases import (
    BaseEstimator,
    ClassifierMixin,
    RegressorMixin,
    fit_context,
    plain_state,
    set_plain_state,
)
from sklearn_interpret._model._sklearn_compat import HasMethods
from sklearn_interpret._model.rows.validation import (
    check_labels,
    check_rows,
    check_targets,
)
from sklearn_interpret.prototypes._mmd_critic import MMDCritic
from sklearn_interpret.prototypes._tables import add_row_values

if TYPE_CHECKING:
    from sklearn_interpret._model.rows.base import Rows


@dataclass(eq=False, repr=False)
class _NearestPrototype(ResultsMixin, BaseEstimator):
    """Base of the classifier and the regressor: prototypes and their targets."""

    selector: Any = None

    selector_: Any = field(init=False)
    prototype_indices_: NDArray[np.intp] = field(init=False)
    prototypes_: Any = field(init=False)
    prototype_targets_: NDArray[Any] = field(init=False)
    n_features_in_: int = field(init=False)
    feature_names_in_: NDArray[np.object_] = field(init=False)

    __getstate__, __setstate__ = plain_state, set_plain_state

    _parameter_constraints = {"selector": [HasMethods(["fit", "transform"]), None]}

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self._unfitted_selector()).input_tags
        return tags

    def _unfitted_selector(self) -> Any:
        if self.selector is not None:
            return self.selector
        return MMDCritic(n_criticisms=0, by_class=isinstance(self, ClassifierMixin))

    @abstractmethod
    def _read_targets(self, rows: Rows, y: Any) -> NDArray[Any]:
        """Checked targets of the rows; a classifier sets `classes_`."""

    @fit_context(prefer_skip_nested_validation=False)
    def fit(
        self, X: Any, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Select the prototypes.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
            Rows, as the selector takes them.
        y : array-like of shape (n_samples,), default=None
            Their targets, which are needed.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows, for a selector that takes them.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        rows = check_rows(self, X, reset=True)
        targets = self._read_targets(rows, y)
        params = {} if sample_weight is None else {"sample_weight": sample_weight}
        self.selector_ = clone(self._unfitted_selector()).fit(X, targets, **params)
        self.prototype_indices_ = np.asarray(self.selector_.prototype_indices_)
        self.prototypes_ = rows.native_at(self.prototype_indices_)
        self.prototype_targets_ = targets[self.prototype_indices_]
        return self

    def _result_blocks(self) -> list[dict[str, Any]]:
        """A line for each prototype: columns "row" (its position), "y" (its target) and
        its values, by the names of the features.
        """
        columns = {"row": self.prototype_indices_, "y": self.prototype_targets_}
        return [add_row_values(columns, self.prototypes_)]

    def prototype_of(self, X: Any) -> NDArray[np.intp]:
        """Which prototype is nearest to each row.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,), int
            Positions in `prototypes_`.
        """
        check_is_fitted(self, "selector_")
        check_rows(self, X, reset=False)
        if hasattr(self.selector_, "predict"):
            return self.selector_.predict(X)
        return np.asarray(self.selector_.transform(X)).argmax(axis=1)

    def predict(self, X: Any) -> NDArray[Any]:
        """Targets of the nearest prototypes.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Class labels or numbers.
        """
        nearest = self.prototype_of(X)
        return self.prototype_targets_[nearest]


class NearestPrototypeClassifier(ClassifierMixin, _NearestPrototype):
    """Classifier that says: this row is like that prototype, hence of its class.

    A selector chooses prototypes among the rows. Each has the class that it has in the
    data, and a row gets the class of the prototype that is nearest to it.

    Parameters
    ----------
    selector : estimator, default=None
        Selector of the prototypes, such as :class:`KMedoids`; None takes
        :class:`MMDCritic`, ten prototypes of each class. Fitted on X and y, it has
        `prototype_indices_`, positions among the rows; its `predict` says which of
        them is nearest to a row, or, where it has none, its `transform` how alike a
        row and each of them are.

    Attributes
    ----------
    selector_ : estimator
        The fitted selector.
    prototype_indices_ : ndarray of shape (n_prototypes,), int
        Positions of the prototypes among the rows.
    prototypes_ : {ndarray, sparse matrix, DataFrame} of n_prototypes rows
        The prototypes.
    prototype_targets_ : ndarray of shape (n_prototypes,)
        Their classes.
    classes_ : ndarray of shape (n_classes,)
        Class labels. One that no prototype has is never predicted.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Their names, where X has names that are all strings.

    See Also
    --------
    NearestPrototypeRegressor : The same for numbers.
    sklearn.neighbors.KNeighborsClassifier : Keeps all rows.

    References
    ----------
    Bien, J. & Tibshirani, R. (2011). Prototype selection for interpretable
    classification. Annals of Applied Statistics 5(4).
    https://doi.org/10.1214/11-AOAS495

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn_interpret.prototypes import KMedoids, NearestPrototypeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> selector = KMedoids(n_clusters=9, random_state=0)
    >>> model = NearestPrototypeClassifier(selector=selector).fit(X, y)
    >>> round(model.score(X, y), 2)
    0.95
    >>> X[60], model.prototypes_[model.prototype_of(X[[60]])]
    (array([5. , 2. , 3.5, 1. ]), array([[5. , 2.3, 3.3, 1. ]]))
    """

    classes_: NDArray[Any]

    def _read_targets(self, rows: Rows, y: Any) -> NDArray[Any]:
        self.classes_, positions = check_labels(self, rows, y)
        return self.classes_[positions]

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """One for the class of the nearest prototype, zero for the others.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Probabilities, in the order of `classes_`.
        """
        return (self.predict(X)[:, None] == self.classes_).astype(np.float64)


class NearestPrototypeRegressor(RegressorMixin, _NearestPrototype):
    """Regressor that says: this row is like that prototype, hence has its target.

    A selector chooses prototypes among the rows. Each has the target that it has in the
    data, and a row gets the target of the prototype that is nearest to it.

    Parameters
    ----------
    selector : estimator, default=None
        Selector of the prototypes, such as :class:`KMedoids`; None takes
        :class:`MMDCritic`, ten prototypes. Fitted on X and y, it has
        `prototype_indices_`, positions among the rows; its `predict` says which of
        them is nearest to a row, or, where it has none, its `transform` how alike a
        row and each of them are.

    Attributes
    ----------
    selector_ : estimator
        The fitted selector.
    prototype_indices_ : ndarray of shape (n_prototypes,), int
        Positions of the prototypes among the rows.
    prototypes_ : {ndarray, sparse matrix, DataFrame} of n_prototypes rows
        The prototypes.
    prototype_targets_ : ndarray of shape (n_prototypes,)
        Their targets.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Their names, where X has names that are all strings.

    See Also
    --------
    NearestPrototypeClassifier : The same for classes.
    sklearn.neighbors.KNeighborsRegressor : Keeps all rows.

    Notes
    -----
    A prediction is the target of a single row, noise and all, not a mean.

    References
    ----------
    Bien, J. & Tibshirani, R. (2011). Prototype selection for interpretable
    classification. Annals of Applied Statistics 5(4).
    https://doi.org/10.1214/11-AOAS495

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn_interpret.prototypes import KMedoids, NearestPrototypeRegressor
    >>> measures = load_iris().data
    >>> X, y = measures[:, :3], measures[:, 3]
    >>> selector = KMedoids(n_clusters=9, random_state=0)
    >>> model = NearestPrototypeRegressor(selector=selector).fit(X, y)
    >>> round(model.score(X, y), 2)
    0.91
    >>> model.predict(X[[60]]), model.prototypes_[model.prototype_of(X[[60]])]
    (array([1.1]), array([[5.5, 2.4, 3.8]]))
    """

    prototype_targets_: NDArray[np.float64]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        # A step function of few values fits poorly.
        tags.regressor_tags.poor_score = True
        return tags

    def _read_targets(self, rows: Rows, y: Any) -> NDArray[Any]:
        return check_targets(self, rows, y, dtype=np.float64)
