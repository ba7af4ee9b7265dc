"""Linear regression of few features."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin

from sklearn_interpret._core.statistics.lasso_path import SquaredError
from sklearn_interpret._model.validation import check_scale
from sklearn_interpret.linear._sparse_linear_model import SparseLinearModel

_CONSTANT = 1e-12  # standard deviation of a constant target, in units of its size


class SparseLinearRegressor(RegressorMixin, SparseLinearModel):
    """Linear regression of exactly as many features as asked for.

    The penalty of the lasso is lowered until so many features have a coefficient that
    is not zero, and just before the next one enters. Features are standardized for
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
        The path has nowhere exactly so many features, as with copies of features,
        constant ones, or fewer rows than features. The next smaller number that it has
        is taken.

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

    def _targets(self, y, shares):
        check_scale(y, "y")
        start = shares @ y
        unit = np.sqrt(shares @ np.square(y - start))
        if unit <= _CONSTANT * np.abs(y).max():
            return np.zeros((len(y), 1)), SquaredError(), start, 1.0
        return ((y - start) / unit)[:, None], SquaredError(), start, unit

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
        return self._scores(X)
