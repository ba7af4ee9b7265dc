"""Logistic regression of few features."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax
from sklearn.utils.multiclass import check_classification_targets

from sklearn_interpret._core.statistics.lasso_path import LogLoss
from sklearn_interpret._inspectors.predictor import MostProbableClassMixin
from sklearn_interpret.linear._sparse_linear_model import SparseLinearModel


class SparseLinearClassifier(MostProbableClassMixin, SparseLinearModel):
    """Logistic regression of exactly as many features as asked for.

    The lasso penalty is lowered until so many features have a coefficient that is not
    zero, and just before the next one enters. Features are standardized for that. The
    model is also a selector: `transform` keeps these features.

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
        The path has nowhere exactly so many features, as with copies of features,
        constant ones, or fewer rows than features. The next smaller number that it has
        is taken.

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

    def _targets(self, y, shares):
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(
                "y must have at least two classes among rows of positive weight; got "
                f"one class: {self.classes_.tolist()[0]!r}."
            )
        flags = (codes[:, None] == np.arange(len(self.classes_))).astype(np.float64)
        return flags[:, 1:] if len(self.classes_) == 2 else flags, LogLoss(), 0.0, 1.0

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
        scores = self._scores(X)
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
        scores = self._scores(X)
        if scores.shape[1] == 1:
            scores = np.column_stack([np.zeros(len(scores)), scores])
        return log_softmax(scores, axis=1)
