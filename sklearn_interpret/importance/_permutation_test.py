"""Permutation test of importances (PIMP)."""

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from sklearn_interpret._core.statistics.permutations import (
    DISTRIBUTIONS,
    POSITIVE_DISTRIBUTIONS,
    random_donors,
    upper_tail,
)
from sklearn_interpret._model._sklearn_compat import Interval, StrOptions
from sklearn_interpret._model.own_importances import own_importances
from sklearn_interpret._model.parallel import run
from sklearn_interpret.importance._base import RefittingImportance


class PermutationTest(RefittingImportance):
    """Whether importances are larger than those of uninformative features (PIMP).

    The model is fitted again and again to targets that are shuffled among the rows, to
    which the features are unrelated. The importances that it still finds are those that
    chance, and the bias of the importances, give to each feature. An importance that
    shuffles rarely reach has a small p-value.

    Parameters
    ----------
    estimator : estimator
        The predictor to inspect; a clone of it is fitted. Of a
        ``FrozenEstimator(model)`` the importances that it has are tested, and clones
        of the model are fitted to shuffled targets.
    n_permutations : int, default=100
        How often the targets are shuffled.
    distribution : {"empirical", "normal", "lognormal", "gamma"}, default="empirical"
        "empirical" is (1 + number of shuffles with an importance at least as large) /
        (1 + `n_permutations`), valid for any importances. The others are fitted by
        maximum likelihood to the importances of the shuffles: few shuffles then give
        small p-values, which are as good as the distribution fits.
    alpha : float, default=0.05
        Features with p-values below it are selected.
    importance_getter : str or callable, default="auto"
        Where the model's importances are: "auto" takes `coef_` (absolute, summed over
        outputs) or `feature_importances_` of the model or of the last step of a
        pipeline; another string is the path of an attribute, such as
        "named_steps.model.coef_"; a callable is called with the fitted model.
    feature_groups : dict of str to list, default=None
        Features that are tested together, by the sum of their importances.
    random_state : int, RandomState or None, default=None
        Shuffles the targets. The models' own seeds are theirs.
    n_jobs : int or None, default=None
        Workers that fit models.
    verbose : int, default=0
        Verbosity of the loop.

    Attributes
    ----------
    estimator_ : estimator
        The fitted model.
    pvalues_ : ndarray of shape (n_players,)
        The p-value of each feature, or feature group.
    null_importances_ : ndarray of shape (n_permutations, n_players)
        Importances of the models of shuffled targets.
    importances_ : ndarray of shape (n_players, 1)
        Importances of the model.
    importances_mean_, importances_std_ : ndarray of shape (n_players,)
        The same, and zeros, as all importances have them.
    feature_importances_ : ndarray of shape (n_features_in_,)
        Importance of each feature; members of a group all have the group's.
    features_ : list of tuple of int
        Columns of each player.
    player_names_ : list of str
        Names of features and groups.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where the input has string column names.
    classes_ : ndarray
        Class labels of a classifier.

    Raises
    ------
    ValueError
        In `fit`: targets missing; a model without importances, or with another number
        of them than features; importances that are not positive where a distribution
        needs that.

    See Also
    --------
    PermutationImportance : Has importances of any model, and can be tested itself:
        ``PermutationTest(PermutationImportance(model))``.

    Notes
    -----
    It takes `n_permutations` fits of the model. With weights, a shuffled row of weight
    w takes its target from a row drawn in the shares of the weights.

    A small p-value says that the model uses a feature more than by chance, not how
    much; of correlated features the model may use any one. The null hypothesis is that
    no feature is informative. Impurity importances have a fixed sum, of which a strong
    feature leaves the others less than shuffled targets do: their p-values are then too
    large. Permutation importances have no such sum.

    References
    ----------
    Altmann, A., Toloşi, L., Sander, O. & Lengauer, T. (2010). Permutation importance:
    a corrected feature importance measure. Bioinformatics 26(10).
    https://doi.org/10.1093/bioinformatics/btq134

    Phipson, B. & Smyth, G. K. (2010). Permutation p-values should never be zero.
    Statistical Applications in Genetics and Molecular Biology 9(1).
    https://doi.org/10.2202/1544-6115.1585

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.tree import DecisionTreeRegressor
    >>> from sklearn_interpret.importance import PermutationTest
    >>> X = np.random.default_rng(0).normal(size=(80, 3))
    >>> model = DecisionTreeRegressor(max_depth=3, random_state=0)
    >>> test = PermutationTest(model, random_state=0).fit(X, X[:, 1])
    >>> test.get_support()
    array([False,  True, False])
    >>> round(float(test.pvalues_[1]), 4)
    0.0099
    """

    _parameter_constraints = {
        **RefittingImportance._parameter_constraints,
        "n_permutations": [Interval(Integral, 1, None, closed="left")],
        "distribution": [StrOptions(set(DISTRIBUTIONS))],
        "alpha": [Interval(Real, 0, 1, closed="both")],
        "importance_getter": [str, callable],
    }

    def __init__(
        self,
        estimator: Any,
        *,
        n_permutations: int = 100,
        distribution: str = "empirical",
        alpha: float = 0.05,
        importance_getter: str | Callable[..., Any] = "auto",
        feature_groups: dict[str, Any] | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.n_permutations = n_permutations
        self.distribution = distribution
        self.alpha = alpha
        self.importance_getter = importance_getter
        self.feature_groups = feature_groups
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _make_response(self):
        """None: the model's importances are all that is used."""

    def _measure(self, sample, response, on_block):
        y = self._targets(sample)
        getter = self.importance_getter
        observed = own_importances(self.estimator_, getter, self.n_features_in_)
        observed = self._by_player(observed)
        rng = check_random_state(self.random_state)
        seeds = rng.randint(np.iinfo(np.int32).max, size=self.n_permutations)
        fit_params = self._fit_parameters(sample.index)
        data = (sample.rows.native, y, sample.weights, fit_params)
        tasks = [(seed, self._unfitted(), data, getter) for seed in seeds]
        null = []
        for of_shuffle in run(
            _null_importances, tasks, n_jobs=self.n_jobs, verbose=self.verbose
        ):
            null.append(self._by_player(of_shuffle))
            on_block()
        self.null_importances_ = np.stack(null)
        self._check_distribution()
        self.pvalues_ = upper_tail(observed, self.null_importances_, self.distribution)
        return observed[:, None]

    def _by_player(self, importances):
        """Importances of features, summed over the members of each player."""
        return np.array([importances[list(c)].sum() for c in self.features_])

    def _check_distribution(self):
        """Refuse a distribution of positive numbers for others."""
        null = self.null_importances_
        bad = np.flatnonzero((null <= 0).any(axis=0) & (np.ptp(null, axis=0) > 0))
        if self.distribution in POSITIVE_DISTRIBUTIONS and len(bad):
            raise ValueError(
                f"distribution={self.distribution!r} takes positive importances only; "
                f"under shuffled targets {self.player_names_[bad[0]]!r} has others: "
                'use "empirical" or "normal".'
            )

    def _get_support_mask(self):
        check_is_fitted(self)
        return self._by_feature(self.pvalues_ < self.alpha)


def _null_importances(seed, estimator, data, getter):
    """Importances of the features where the targets are shuffled."""
    X, y, weights, fit_params = data
    donors = random_donors(weights, np.random.RandomState(seed))
    model = clone(estimator).fit(X, y[donors], **fit_params)
    return own_importances(model, getter, X.shape[1])
