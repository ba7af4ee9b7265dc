"""Contributions of features to log-odds of naive Bayes (Mozina et al., 2004)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sklearn_interpret._inspectors.attribution import Attributions, BaseAttribution
from sklearn_interpret._inspectors.params import estimator_dataclass
from sklearn_interpret._model.formulas.naive_bayes import naive_bayes_odds
from sklearn_interpret._model.parallel import rows_in_memory, slices

if TYPE_CHECKING:
    from sklearn_interpret._model.formulas.naive_bayes import NaiveBayesOdds
    from sklearn_interpret._model.rows.base import Rows
    from sklearn_interpret._model.rows.sample import Sample


@estimator_dataclass
class NaiveBayesContributions(BaseAttribution):
    """Log-odds of a naive Bayes classifier as the prior's plus one term per feature.

    Features are independent given the class, so the log-odds of two classes are

    .. math:: \\log\\frac{P(1 \\mid x)}{P(0 \\mid x)} = \\log\\frac{P(1)}{P(0)}
        + \\sum_j \\log\\frac{P(x_j \\mid 1)}{P(x_j \\mid 0)}

    Of more classes, the response to each is its log-probability minus the mean of those
    of all classes, and terms of the classes sum to zero.

    Parameters
    ----------
    estimator : estimator
        GaussianNB, MultinomialNB, ComplementNB, BernoulliNB or CategoricalNB of
        scikit-learn, or a pipeline that ends in one and whose other steps work column
        by column; a clone of it is fitted. Pass a fitted one as
        ``FrozenEstimator(model)``. Texts are not taken: count their words first, and
        the terms are those of the words.
    target : class label, int or dict, default=None
        Class to keep, or a contrast {class: weight}. None keeps the second of two
        classes, or all.

    Attributes
    ----------
    estimator_ : estimator
        The fitted model.
    base_values_ : float or ndarray of shape (k,)
        Contribution of the prior; zero for ComplementNB, which has none.
    feature_importances_ : ndarray of shape (`n_features_in_`,)
        Mean absolute term over the rows of `fit`, mean over outputs. Computed at its
        first use.
    output_names_ : list
        Class labels.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, where the input has string column names.
    classes_ : ndarray
        Class labels.

    Raises
    ------
    UnreadableModelError
        In `fit`: the model is no naive Bayes classifier of scikit-learn, or comes
        behind a step that mixes columns.

    Notes
    -----
    The sums are exact; so are probabilities, the logistic function of log-odds or the
    softmax of centered log-probabilities. Terms of ComplementNB are those of its own
    weights. A large term may mean little: it is measured from a likelihood ratio of
    one, not from the feature's mean term.

    References
    ----------
    Mozina, M., Demsar, J., Kattan, M., & Zupan, B. (2004). Nomograms for visualization
    of naive Bayesian classifier. PKDD 2004.
    https://doi.org/10.1007/978-3-540-30116-5_32

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn_interpret.decomposition import NaiveBayesContributions
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> inspector = NaiveBayesContributions(GaussianNB(), target=2).fit(X, y)
    >>> inspector.explain(X[-1:]).to_frame().round(1).to_numpy()
    array([[ 0.4,  0.4, 74.5, 37.3]])
    """

    target: Any = None

    _for_any_model = "BreakDown and KernelSHAP take any model."

    def _make_response(self) -> NaiveBayesOdds:
        return naive_bayes_odds(self.estimator_, self.target)

    def _fit_base_values(
        self, sample: Sample, response: NaiveBayesOdds
    ) -> NDArray[np.float64]:
        self._odds = response
        return response.prior()

    def _attribute(self, rows: Rows) -> Attributions:
        n_classes, n_outputs = self._odds.contrasts.shape
        # Of each column, as doubles: three arrays by class, and the terms by output.
        row_bytes = 8 * len(self._odds.step.columns) * (3 * n_classes + n_outputs)
        batches = slices(rows.n_rows, rows_in_memory(row_bytes + rows.row_bytes))
        terms = [self._odds.terms(rows.sliced(batch).native) for batch in batches]
        values, predictions = map(np.concatenate, zip(*terms, strict=True))
        return Attributions(values, predictions, {"value_name": "contribution"})
