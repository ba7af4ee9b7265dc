"""Linear and logistic regression of few features, along the lasso path.

The base class follows the path until the requested number of features is selected. The
two estimators say what the targets and the loss of the path are.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from numbers import Integral
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax
from sklearn.base import is_regressor
from sklearn.utils import check_array
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from sklearn_interpret._core.statistics.lasso_path import (
    LogLoss,
    SquaredError,
    lasso_path,
)
from sklearn_interpret._inspectors import predictor
from sklearn_interpret._inspectors.sklearn_bases import (
    ClassifierMixin,
    RegressorMixin,
    SelectorMixin,
)
from sklearn_interpret._model._sklearn_compat import Interval, warn
from sklearn_interpret._model.rows.arrays import with_days
from sklearn_interpret._model.rows.base import default_names
from sklearn_interpret._model.rows.tables import as_objects
from sklearn_interpret._model.rows.validation import check_scale, check_scales
from sklearn_interpret.exceptions import SkippedSizeWarning

if TYPE_CHECKING:
    from sklearn_interpret._model.rows.base import Rows
    from sklearn_interpret._model.rows.sample import Sample

# Relative standard deviation below which targets are constant.
_CONSTANT = 1e-12


class _PathTargets(NamedTuple):
    """What the path is fitted to; its predictions are multiplied and shifted back."""

    values: NDArray[np.float64]  # (n_rows, K)
    loss: SquaredError | LogLoss
    origin: float  # added to predictions
    unit: float  # by which predictions are multiplied


@dataclass(kw_only=True, eq=False, repr=False)
class SparseLinearModel(SelectorMixin, predictor.BasePredictor):
    """Base of sparse linear models.

    A subclass says what is fitted (`_path_targets`).
    """

    n_features_to_select: int | None = None

    coef_: NDArray[np.float64] = field(init=False)
    entry_order_: NDArray[np.intp] = field(init=False)
    alpha_: float = field(init=False)
    alphas_: NDArray[np.float64] = field(init=False)
    coef_path_: NDArray[np.float64] = field(init=False)
    scale_: NDArray[np.float64] = field(init=False)

    _result_own_units = frozenset({"coef"})

    _parameter_constraints = {
        "n_features_to_select": [Interval(Integral, 1, None, closed="left"), None]
    }

    @abstractmethod
    def _path_targets(
        self, y: NDArray[Any], weights: NDArray[np.float64]
    ) -> _PathTargets:
        """What the path is fitted to, with weights that sum to one."""

    def _fit(self, sample: Sample) -> None:
        check_scales(sample.rows)
        X, size = self._as_numbers(sample.rows), self.n_features_to_select
        if size is not None and size > X.shape[1]:
            raise ValueError(
                f"n_features_to_select={size} is too large: X has n_features="
                f"{X.shape[1]}."
            )
        weights = sample.weights / sample.weights.sum()
        targets = self._path_targets(sample.y, weights)
        path = lasso_path(X, targets.values, weights, targets.loss, size)
        selected = len(path.sizes) - 1
        if size is not None:
            selected = _last_of_size(path.sizes, size)
        unit = targets.unit
        coefs = unit * np.moveaxis(path.coefficients, (0, 1, 2), (2, 1, 0))
        intercepts = targets.origin + unit * path.intercepts[selected]
        if is_regressor(self):
            coefs, intercepts = coefs[0], float(intercepts[0])
        self.alphas_, self.coef_path_ = unit * path.penalties, coefs
        self.alpha_ = float(self.alphas_[selected])
        self.coef_ = coefs[..., selected].copy()
        self.intercept_, self.scale_ = intercepts, path.scale
        self.entry_order_ = np.array(path.order, dtype=np.intp)

    def _as_numbers(self, rows: Rows) -> NDArray[np.float64]:
        """Rows as an array of numbers."""
        native = with_days(rows)
        return check_array(native, dtype=np.float64, estimator=self, input_name="X")

    def _result_blocks(self) -> list[dict[str, Any]]:
        """A line for each feature and penalty, the features in the order in which they
        entered: columns "class" of a classifier, "feature", "alpha", "coef",
        "coef_per_std" (for one standard deviation of the feature) and "selected", which
        is true at the penalty of the model.
        """
        n_features, n_alphas = self.coef_path_.shape[-2:]
        paths = self.coef_path_.reshape(-1, n_features, n_alphas)
        names = getattr(self, "feature_names_in_", default_names(n_features))
        labels = getattr(self, "classes_", [None])[-len(paths) :]
        blocks = []
        for label, path in zip(labels, paths, strict=True):
            used = [j for j in self.entry_order_ if path[j].any()]
            block: dict[str, Any] = {}
            if label is not None:
                block["class"] = np.repeat(label, n_alphas * len(used))
            block |= {
                "feature": as_objects(names)[used].repeat(n_alphas),
                "alpha": np.tile(self.alphas_, len(used)),
                "coef": path[used].ravel(),
                "coef_per_std": (path * self.scale_[:, None])[used].ravel(),
                "selected": np.tile(self.alphas_ == self.alpha_, len(used)),
            }
            blocks.append(block)
        return blocks

    def _text_blocks(self) -> list[dict[str, Any]]:
        columns = "class", "feature", "coef", "coef_per_std"
        return [
            {name: block[name][block["selected"]] for name in columns if name in block}
            for block in self._result_blocks()
        ]

    def _result_facts(self) -> dict[str, Any]:
        intercept = np.asarray(self.intercept_).tolist()
        return {"alpha": self.alpha_, "intercept": intercept}

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self, "coef_")
        return np.any(np.atleast_2d(self.coef_), axis=0)

    def _linear_scores(self, X: Any) -> NDArray[np.float64]:
        """Values of the linear functions, (n_rows,) or (n_rows, n_outputs)."""
        check_is_fitted(self, "coef_")
        X = self._as_numbers(self._check_rows(X, reset=False))
        return X @ self.coef_.T + self.intercept_


class SparseLinearRegressor(RegressorMixin, SparseLinearModel):
    """Linear regression of exactly as many features as asked for.

    The penalty of the lasso is lowered until this number of features has coefficients
    other than zero, and just before the next one enters. Features are standardized for
    that. The model is also a selector: `transform` keeps these features.

    Parameters
    ----------
    n_features_to_select : int or None, default=None
        How many features the model uses. None follows the path to its end.

    Attributes
    ----------
    coef_ : ndarray of shape (`n_features_in_`,)
        Coefficients of the features as they are given.
    intercept_ : float
        Intercept.
    entry_order_ : ndarray of int
        Features in the order in which they first enter; also those that leave again.
    alpha_ : float
        The penalty, in the unit of that of :class:`~sklearn.linear_model.Lasso`.
    alphas_ : ndarray of shape (n_alphas,)
        Penalties where features enter or leave, from the smallest one that leaves none
        down to where the path was stopped.
    coef_path_ : ndarray of shape (`n_features_in_`, n_alphas)
        Coefficients at these; between them they are on a straight line.
    scale_ : ndarray of shape (`n_features_in_`,)
        Standard deviations by which features were divided; 1 for constant ones.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Their names, where X has names that are all strings.

    Warns
    -----
    SkippedSizeWarning
        The path has nowhere exactly this number of features, as with copies, constant
        features, or fewer rows than features. The next smaller number is taken.

    See Also
    --------
    SparseLinearClassifier : The same for classes.
    SparsePathDisplay : Draws the path.
    sklearn.linear_model.LassoLars : The lasso for a given penalty.

    Notes
    -----
    The path is exact (Efron et al. 2004): no penalty lies between two that were tried.
    It may pass a number of features more than once, since features may leave again:
    the first stretch counts. Where that ends as a feature leaves, the model is that
    half-way along the stretch. Of equally good features, the first one enters. The end
    of the path is least squares.

    Coefficients are shrunk, as the lasso's are. For those of least squares, put the
    model before a :class:`~sklearn.linear_model.LinearRegression` in a pipeline. Their
    p-values would not know of the selection.

    A row of weight two is as good as two rows.

    References
    ----------
    Efron, B., Hastie, T., Johnstone, I. & Tibshirani, R. (2004). Least angle
    regression. Annals of Statistics 32(2). https://doi.org/10.1214/009053604000000067

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn_interpret.linear import SparseLinearRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = SparseLinearRegressor(n_features_to_select=3).fit(X, y)
    >>> model.get_feature_names_out(), model.entry_order_
    (array(['bmi', 'bp', 's5'], dtype=object), array([2, 8, 3]))
    """

    intercept_: float

    def _path_targets(
        self, y: NDArray[Any], weights: NDArray[np.float64]
    ) -> _PathTargets:
        check_scale(y, "y")
        mean = weights @ y
        deviation = np.sqrt(weights @ np.square(y - mean))
        if deviation <= _CONSTANT * np.abs(y).max():
            return _PathTargets(np.zeros((len(y), 1)), SquaredError(), mean, 1.0)
        standardised = ((y - mean) / deviation)[:, None]
        return _PathTargets(standardised, SquaredError(), mean, deviation)

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Predictions for rows.

        Parameters
        ----------
        X : {array-like, DataFrame} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Numbers.
        """
        return self._linear_scores(X)


class SparseLinearClassifier(ClassifierMixin, SparseLinearModel):
    """Logistic regression of exactly as many features as asked for.

    The penalty of the lasso is lowered until this number of features has coefficients
    other than zero, and just before the next one enters. Features are standardized for
    that. The model is also a selector: `transform` keeps these features.

    Parameters
    ----------
    n_features_to_select : int or None, default=None
        How many features the model uses. None follows the path to its end. With three
        classes and more, a feature is in use if any class has a coefficient for it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    coef_ : ndarray of shape (1, `n_features_in_`) or (n_classes, `n_features_in_`)
        Coefficients of the features as they are given; of two classes, those of the
        second one.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Intercepts.
    entry_order_ : ndarray of int
        Features in the order in which they first enter; also those that leave again.
    alpha_ : float
        The penalty of the mean log-loss, glmnet's lambda. In the unit of
        :class:`~sklearn.linear_model.LogisticRegression` it is 1 / (n_samples C).
    alphas_ : ndarray of shape (n_alphas,)
        Penalties where coefficients come or go, from the smallest one that leaves none
        down to where the path was stopped.
    coef_path_ : ndarray of shape (1 or n_classes, `n_features_in_`, n_alphas)
        Coefficients at these.
    scale_ : ndarray of shape (`n_features_in_`,)
        Standard deviations by which features were divided; 1 for constant ones.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Their names, where X has names that are all strings.

    Warns
    -----
    SkippedSizeWarning
        The path has nowhere exactly this number of features, as with copies, constant
        features, or fewer rows than features. The next smaller number is taken.

    See Also
    --------
    SparseLinearRegressor : The same for numbers.
    SparsePathDisplay : Draws the path.
    sklearn.linear_model.LogisticRegression : With ``l1_ratio=1``, that for a given
        penalty.

    Notes
    -----
    The path is followed from one change to the next (Park & Hastie 2007), each to
    rounding: no penalty lies between two that were tried. It may pass a number of
    features more than once, since features may leave again: the first stretch counts.
    Where that ends as a feature leaves, the model is that half-way along the stretch.
    Of equally good features, the first one enters. The path ends at a millionth of the
    first penalty.

    Three classes and more have one multinomial model, with coefficients for each class
    that come and go one by one (glmnet's `type.multinomial="ungrouped"`).

    Coefficients are shrunk, as the lasso's are. For those without a penalty, put the
    model before a :class:`~sklearn.linear_model.LogisticRegression` in a pipeline.
    Their p-values would not know of the selection.

    A row of weight two is as good as two rows.

    References
    ----------
    Park, M. Y. & Hastie, T. (2007). L1-regularization path algorithm for generalized
    linear models. Journal of the Royal Statistical Society B 69(4).
    https://doi.org/10.1111/j.1467-9868.2007.00607.x

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn_interpret.linear import SparseLinearClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = SparseLinearClassifier(n_features_to_select=2).fit(X, y)
    >>> model.get_feature_names_out()
    array(['petal length (cm)', 'petal width (cm)'], dtype=object)
    """

    classes_: NDArray[Any]
    intercept_: NDArray[np.float64]

    def _path_targets(
        self, y: NDArray[Any], weights: NDArray[np.float64]
    ) -> _PathTargets:
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(
                "y must have at least two classes among rows of positive weight; got "
                f"one class: {self.classes_.tolist()[0]!r}."
            )
        flags = (codes[:, None] == np.arange(len(self.classes_))).astype(np.float64)
        flags = flags[:, 1:] if len(self.classes_) == 2 else flags
        return _PathTargets(flags, LogLoss(), 0.0, 1.0)

    predict = predictor.most_probable_class

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Scores of rows.

        Parameters
        ----------
        X : {array-like, DataFrame} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            Log-odds of the second of two classes; scores of more, whose softmax is the
            probabilities.
        """
        scores = self._linear_scores(X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Probabilities of the classes.

        Parameters
        ----------
        X : {array-like, DataFrame} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Probabilities, in the order of `classes_`.
        """
        return np.exp(self.predict_log_proba(X))

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Logarithms of the probabilities of the classes.

        Parameters
        ----------
        X : {array-like, DataFrame} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Logarithms, in the order of `classes_`.
        """
        scores = self._linear_scores(X)
        if scores.shape[1] == 1:
            scores = np.column_stack([np.zeros(len(scores)), scores])
        return log_softmax(scores, axis=1)


def _last_of_size(sizes: NDArray[np.intp], size: int) -> int:
    """Position of the last point with `size` features, or the next smaller number."""
    available = sizes[sizes <= size].max()
    if available < size:
        warn(
            "Pass another n_features_to_select: the lasso path has nowhere exactly "
            f"n_features_to_select={size} features, and {available} are selected, the "
            "next smaller number that it has.",
            SkippedSizeWarning,
        )
    return np.flatnonzero(sizes == available)[-1]
