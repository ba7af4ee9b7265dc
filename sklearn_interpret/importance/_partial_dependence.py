"""Importance of features as the variation of their partial dependence."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.frozen import FrozenEstimator

from sklearn_interpret._inspectors.params import SampleInspector, estimator_dataclass
from sklearn_interpret._model._sklearn_compat import StrOptions
from sklearn_interpret._model.rows.sample import Sample
from sklearn_interpret.effects import PartialDependence
from sklearn_interpret.importance._base import BaseImportance

if TYPE_CHECKING:
    from sklearn_interpret._model.responses.response import Response

# A range of a curve below this, relative to its size, is rounding error.
_ROUNDING = 1e-12


@estimator_dataclass
class PartialDependenceImportance(BaseImportance, SampleInspector):
    """Variation of the partial dependence along a feature.

    The standard deviation of the partial dependence over the points of its grid; for
    categories a quarter of its range, another estimate of it. No targets are needed,
    and the quality of the model's predictions does not matter. A feature that acts only
    through interactions may have a flat curve, and then has no importance.

    Parameters
    ----------
    estimator : estimator
        The predictor to inspect; a clone of it is fitted. Pass a fitted one as
        ``FrozenEstimator(model)``.
    categorical_features : "auto", None, or list of ints or strs, default="auto"
        Features whose values are levels. "auto" takes the category, object, string
        and boolean columns of a DataFrame.
    feature_groups : dict of str to list, default=None
        Features that move together as one, over their observed joint values.
    grid_resolution : int, default=100
        Largest number of points along a numeric feature, and of joint values of a
        group.
    percentiles : tuple of two floats, default=(0.05, 0.95)
        Quantiles between which the equally spaced points lie.
    custom_values : dict of feature to array-like, default=None
        Points to use instead, in the feature's units.
    method : {"auto", "tree", "brute"}, default="auto"
        As :class:`~sklearn_interpret.effects.PartialDependence` takes it.
    threshold : float, default=0.0
        Features of larger importance are selected.
    max_rows : int, default=None
        Largest number of rows that a call sends to the model; an error before says what
        is possible. None is no limit.
    response_method : str, list of str or callable, default="auto"
        "auto" is `predict` of regressors, and `predict_proba`, else
        `decision_function`, of classifiers. Also a method's name, a list of names of
        which the first found is used, "centered_log_proba", or ``f(estimator, X)``.
    target : class label, int or dict, default=None
        Output to keep, or a contrast {output: weight}. None keeps the only one, the
        positive class of a binary classifier, or the mean importance over all.
    subsample : int, float or None, default=None
        Number or share of the rows to average over; None takes all.
    random_state : int, RandomState or None, default=None
        Draws the subsample.
    n_jobs : int or None, default=None
        Number of workers.
    verbose : int or None, default=None
        1 prints the share done and the time left, 0 nothing. None writes one line to
        the standard error of calls that will take more than five seconds.

    Attributes
    ----------
    estimator_ : estimator
        The fitted model.
    effect_ : PartialDependence
        The fitted partial dependence; its display shows the curves.
    importances_ : ndarray of shape (n_players, 1)
        Importance of each feature, or feature group, in the unit of the response.
    importances_mean_, importances_std_ : ndarray of shape (n_players,)
        The same importances, and zeros.
    feature_importances_ : ndarray of shape (`n_features_in_`,)
        Importance of each feature; members of a group have the group's.
    features_ : list of tuple of int
        Columns of each player.
    player_names_ : list of str
        Names of features and groups.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if the input has string column names.
    classes_ : ndarray
        Class labels of a classifier.

    Raises
    ------
    ValueError
        In `fit`: unknown features, a grid that cannot be built, a non-finite response,
        a fitted model not frozen without `y`.
    UnreadableModelError
        In `fit` with "tree": the trees can't be read, or the response is neither their
        sum nor a link function of it.

    See Also
    --------
    sklearn_interpret.effects.PartialDependence : The curves; its
        `feature_importances_` weight the points by the number of rows near them.

    References
    ----------
    Greenwell, B. M., Boehmke, B. C. & McCarthy, A. J. (2018). A simple and effective
    model-based variable importance measure.
    https://doi.org/10.48550/arXiv.1805.04755

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LinearRegression
    >>> from sklearn_interpret.importance import PartialDependenceImportance
    >>> X = np.random.default_rng(0).uniform(size=(200, 3))
    >>> importance = PartialDependenceImportance(LinearRegression())
    >>> importance.fit(X, 2 * X[:, 0] + X[:, 2]).feature_importances_.round(2)
    array([0.51, 0.  , 0.27])
    """

    categorical_features: ArrayLike | None = "auto"
    feature_groups: dict[str, Any] | None = None
    grid_resolution: int = 100
    percentiles: tuple[float, float] = (0.05, 0.95)
    custom_values: dict[Any, Any] | None = None
    method: str = "auto"
    threshold: float = 0.0

    effect_: PartialDependence = field(init=False)

    _parameter_constraints = {
        **PartialDependence._parameter_constraints,
        **BaseImportance._parameter_constraints,
        "method": [StrOptions({"auto", "tree", "brute"})],
    }

    def _measure(self, sample: Sample, response: Response) -> NDArray[np.float64]:
        settings = self.get_params(deep=False)
        for name in ("estimator", "threshold", "subsample", "random_state", "verbose"):
            del settings[name]
        effect = PartialDependence(FrozenEstimator(self.estimator_), **settings)
        effect.fit(sample.rows.native, sample_weight=sample.weights)
        self.effect_ = effect
        by_columns = {
            columns: _variation(average, axes[0].categorical)
            for columns, average, axes in zip(
                effect.features_, effect.average_, effect.axes_, strict=True
            )
        }
        return np.array([[by_columns[columns]] for columns in self.features_])


def _variation(average: NDArray[np.float64], categorical: bool) -> float:
    """Variation of a curve (G,), or mean variation of several (k, G)."""
    curves = np.atleast_2d(average)
    ranges = np.ptp(curves, axis=1) if curves.shape[1] else np.zeros(len(curves))
    varies = ranges > _ROUNDING * np.abs(curves).max(axis=1, initial=0.0)
    if not varies.any():  # a feature must not be selected for rounding errors
        return 0.0
    # Greenwell et al. (2018): a quarter of the range estimates a standard deviation.
    variations = ranges / 4 if categorical else curves.std(axis=1, ddof=1)
    return np.where(varies, variations, 0.0).mean()
