"""Permutation test of importances (PIMP)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from sklearn_interpret._core.statistics.permutations import (
    DISTRIBUTIONS,
    POSITIVE_DISTRIBUTIONS,
    mean_to_root_mean_square,
    random_donors,
    upper_tail,
)
from sklearn_interpret._inspectors.params import estimator_dataclass
from sklearn_interpret._inspectors.refitting import RefittingMixin
from sklearn_interpret._model._sklearn_compat import (
    Interval,
    StrOptions,
    parameters_of_rows,
    warn,
)
from sklearn_interpret._model.parallel import run
from sklearn_interpret._model.replacement.all_pairs import loss_increases
from sklearn_interpret._model.responses.native_importances import native_importances
from sklearn_interpret._model.responses.predictors import is_classifier
from sklearn_interpret._model.row_limit import announce_rows, rows_sent
from sklearn_interpret._model.rows.sample import Sample
from sklearn_interpret.exceptions import FixedSumWarning
from sklearn_interpret.importance._base import (
    BaseImportance,
    random_folds,
    rows_by_weight,
)

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

# Folds of the held-out importances, as in scikit-learn's cross-validation.
_N_FOLDS = 5
# Relative differences of sums of importances below this are rounding errors.
_ROUNDING = 1e-9


@estimator_dataclass
class PermutationTest(RefittingMixin, BaseImportance):
    """Whether importances are larger than those of uninformative features (PIMP).

    The model is refitted to targets that are shuffled among the rows, so that features
    and targets are unrelated. The importances of these models are due to chance and
    bias: they sample the null distribution of each feature's importance, which gives
    its p-value.

    Parameters
    ----------
    estimator : estimator
        The predictor to inspect; clones of it are fitted. Clones of a
        ``FrozenEstimator(model)`` are fitted too, but its own importances are those of
        the fitted model.
    n_permutations : int, default=100
        Number of shuffles of the targets.
    distribution : {"empirical", "normal", "lognormal", "gamma"}, default="empirical"
        "empirical" is (1 + number of shuffles with an importance at least as large) /
        (1 + `n_permutations`), valid for any importances. "normal" and "lognormal" take
        the importances of the shuffles, or their logarithms, as normal, with Student's
        t for their estimated spread; "gamma" is fitted by maximum likelihood. P-values
        may then be small with few shuffles, but are only as good as the distribution.
    alpha : float, default=0.05
        Features with p-values below it are selected.
    importance_getter : str or callable, default="permutation"
        "permutation" is permutation importance in five folds, on rows that the model
        was not fitted on, relative to the scale of the errors: see Notes. Others are
        the model's own, which may have a fixed sum: "auto" takes `coef_` (absolute,
        summed over
        outputs) or `feature_importances_` of the model or of the last step of a
        pipeline; another string is the path of an attribute, such as
        ``"named_steps.model.coef_"``; a callable is called with the fitted model.
    feature_groups : dict of str to list, default=None
        Features that are tested together: permuted together, or by the sum of the
        model's own importances.
    max_rows : int, default=None
        Largest number of rows that a call sends to the model; an error before says what
        is possible. None is no limit.
    random_state : int, RandomState or None, default=None
        Seed of the shuffles and the folds. The models keep their own seeds.
    n_jobs : int or None, default=None
        Number of workers that fit models.
    verbose : int or None, default=None
        1 prints the share done and the time left, 0 nothing. None writes one line to
        the standard error of calls that will take more than five seconds.

    Attributes
    ----------
    estimator_ : estimator
        The fitted model.
    pvalues_ : ndarray of shape (n_players,)
        The p-value of each feature, or feature group.
    null_importances_ : ndarray of shape (n_permutations, n_players)
        Importances of the models fitted to shuffled targets.
    importances_ : ndarray of shape (n_players, 1)
        Importances of the model; with "permutation" between -1 and 1.
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
        In `fit`: if there are no targets, the model has no importances or not one per
        feature, or importances are not positive although the distribution is.

    Warns
    -----
    FixedSumWarning
        If the model's own importances have the same sum for all targets.

    See Also
    --------
    PermutationImportance : How much the model relies on a feature, in units of a score.

    Notes
    -----
    With "permutation" the importance of a feature is the mean, over all rows, of the
    increase of a row's loss when the feature's values are those of other rows, divided
    by the root mean square of these increases. The loss is the squared error of
    regressors, and the Brier score of classifiers (0-1 without probabilities). Rows are
    held out from the model that explains them. Values come from all rows of the fold if
    the trees can be read, and else from five rows. An uninformative feature has an
    importance around zero, with a spread that does not depend on the quality of the
    other features: its p-values are uniform, also in the presence of strong features.
    On training rows, or in units of the loss, they would not be: models of shuffled
    targets have larger errors and fit more noise.

    The model's own importances lack this property. Impurity importances have a fixed
    sum, of which a strong feature leaves less to the others than with shuffled targets,
    and coefficients grow with the error: p-values of all but the strongest features are
    then too large.

    The cost is 5 x (`n_permutations` + 1) + 1 fits of the model, or `n_permutations` +
    1 with the model's own importances. Weights that are whole numbers count copies of
    rows, if these are at most ten times the rows; with others, a row gets a shuffled
    target from a row drawn with probability proportional to its weight.

    A small p-value shows that the model uses a feature more than by chance, not how
    much; of correlated features the model may use any one.

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
    >>> test = PermutationTest(model, n_permutations=24, random_state=0)
    >>> test.fit(X, X[:, 1]).get_support()
    array([False,  True, False])
    >>> float(test.pvalues_[1])
    0.04
    """

    n_permutations: int = 100
    distribution: str = "empirical"
    alpha: float = 0.05
    importance_getter: str | Callable[..., Any] = "permutation"
    feature_groups: dict[str, Any] | None = None
    max_rows: int | None = None
    random_state: int | np.random.RandomState | None = None
    n_jobs: int | None = None
    verbose: int | None = None

    pvalues_: NDArray[np.float64] = field(init=False)
    null_importances_: NDArray[np.float64] = field(init=False)

    _parameter_constraints = {
        **BaseImportance._parameter_constraints,
        "n_permutations": [Interval(Integral, 1, None, closed="left")],
        "distribution": [StrOptions(set(DISTRIBUTIONS))],
        "alpha": [Interval(Real, 0, 1, closed="both")],
        "importance_getter": [str, callable],
    }

    def _make_response(self) -> None:
        """None: `_measure` uses the models that it fits."""

    def _measure(self, sample: Sample, response: None) -> NDArray[np.float64]:
        y = self._checked_targets(sample.y)
        if y.ndim == 2 and y.shape[1] == 1:
            sample = replace(sample, y=y[:, 0])
        rng = check_random_state(self.random_state)
        seeds = rng.randint(np.iinfo(np.int32).max, size=self.n_permutations)
        estimator, getter = self._clone(), self.importance_getter
        if getter == "permutation":
            _check_has_folds(self.estimator_, sample)
            sample = rows_by_weight(sample)
            params = self._parameters_with_weights(sample)
            refits = _Refits(estimator, params, getter, self.features_)
            observed = refits.held_out_importances(sample, rng)
        else:
            params = self._fit_parameters(sample.index)
            refits = _Refits(estimator, params, getter, self.features_)
            observed = refits.native_importances(self.estimator_, sample)
        # Those with shuffled targets send about as many rows as the first one.
        announce_rows(
            self.n_permutations * rows_sent(),
            {"n_permutations": self.n_permutations, "rows for each": rows_sent()},
            "Use fewer n_permutations, features (feature_groups) or rows",
        )
        tasks = [(refits, sample, seed) for seed in seeds]
        null = run(_Refits.null_importances, tasks, n_jobs=self.n_jobs)
        self.null_importances_ = np.stack(list(null))
        self._check_distribution()
        self._warn_of_fixed_sum(observed)
        self.pvalues_ = upper_tail(observed, self.null_importances_, self.distribution)
        return observed[:, None]

    def _warn_of_fixed_sum(self, observed: NDArray[np.float64]) -> None:
        """Warn if importances have a fixed sum: p-values depend on other features."""
        importances = np.vstack([observed, self.null_importances_])
        sums = importances.sum(axis=1)
        sums = sums[sums != 0]  # without models that use no feature
        vary = np.ptp(importances, axis=0).any()
        if len(self.features_) < 2 or len(sums) < 2 or not vary:
            return
        if np.ptp(sums) <= _ROUNDING * np.abs(sums).max():
            warn(
                'Use importance_getter="permutation", which has no fixed sum: '
                f"importance_getter={self.importance_getter!r} returns importances "
                f"that sum to {sums[0]:g} for all targets. A strong feature leaves "
                "less to the others than with shuffled targets, and their p-values "
                "are too large.",
                FixedSumWarning,
            )

    def _check_distribution(self) -> None:
        """Refuse a distribution of positive numbers if importances are not positive."""
        null = self.null_importances_
        varies = np.ptp(null, axis=0) > 0
        not_positive = np.flatnonzero((null <= 0).any(axis=0) & varies)
        if self.distribution in POSITIVE_DISTRIBUTIONS and len(not_positive):
            raise ValueError(
                f"distribution={self.distribution!r} is for positive importances; with "
                f"shuffled targets {self.player_names_[not_positive[0]]!r} has others: "
                'use "empirical" or "normal".'
            )

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        return self._spread_to_features(self.pvalues_ < self.alpha)


def _check_has_folds(estimator: BaseEstimator, sample: Sample) -> None:
    """Refuse targets without a loss by row, and too few rows for two folds."""
    if is_classifier(estimator) and sample.y.ndim > 1:
        raise ValueError(
            'importance_getter="permutation" takes classifiers of one target, but y '
            f"has the shape {sample.y.shape}: name the model's own importances."
        )
    if sample.rows.n_rows < 4:
        raise ValueError(
            'importance_getter="permutation" needs two folds of at least two rows, but '
            f"X has n_samples = {sample.rows.n_rows} of positive weight."
        )


@dataclass(frozen=True, eq=False)
class _Refits:
    """Fits of a model, and the importances of players in them."""

    estimator: BaseEstimator
    fit_params: dict[str, Any]
    getter: str | Callable[..., Any]
    players: list[tuple[int, ...]]

    def null_importances(self, sample: Sample, seed: int) -> NDArray[np.float64]:
        """Importances of the players with shuffled targets."""
        rng = np.random.RandomState(seed)
        # A permutation of the targets, or draws in the shares of unequal weights.
        sample = replace(sample, y=sample.y[random_donors(sample.weights, rng)])
        if self.getter == "permutation":
            return self.held_out_importances(sample, rng)
        model = clone(self.estimator)
        model.fit(sample.rows.native, sample.y, **self.fit_params)
        return self.native_importances(model, sample)

    def native_importances(
        self, model: BaseEstimator, sample: Sample
    ) -> NDArray[np.float64]:
        """A model's own importances, summed over the members of each player."""
        importances = native_importances(model, self.getter, sample.rows.n_columns)
        return np.array([importances[list(columns)].sum() for columns in self.players])

    def held_out_importances(
        self, sample: Sample, rng: np.random.RandomState
    ) -> NDArray[np.float64]:
        """Mean loss increases of held-out rows, relative to their root mean square."""
        X, y, weights = sample.rows.native, sample.y, sample.weights
        increases = np.empty((len(self.players), len(y)))
        n_folds = min(_N_FOLDS, len(y) // 2)
        folds, scales = random_folds(y, n_folds, rng), _loss_scales(y, weights)
        for fold in range(folds.max() + 1):
            train, test = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
            params = parameters_of_rows(X, self.fit_params, train)
            X_train = sample.rows.take(train).native
            model = clone(self.estimator).fit(X_train, y[train], **params)
            held_out = Sample(sample.rows.take(test), y[test], weights[test])
            increases[:, test] = loss_increases(
                model, held_out, self.players, scales, rng
            )
        return mean_to_root_mean_square(increases, weights)


def _loss_scales(
    y: NDArray[np.float64], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """One over the variance of each numeric output; ones for labels."""
    if y.dtype.kind not in "biuf":
        return np.ones(1)
    outputs = y.reshape(len(y), -1).astype(np.float64)
    centred = outputs - np.average(outputs, axis=0, weights=weights)
    variance = np.average(centred**2, axis=0, weights=weights)
    return 1 / np.where(variance > 0, variance, 1.0)
