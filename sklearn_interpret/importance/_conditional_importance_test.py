"""Tests whether a feature is needed, given the other features.

`ConditionalTests` computes them; here are parameters, checks and warnings.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field, replace
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.stats import t
from sklearn.base import is_classifier
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d

from sklearn_interpret._core.statistics.covariance_tests import adjusted_pvalues
from sklearn_interpret._inspectors.params import estimator_dataclass
from sklearn_interpret._inspectors.refitting import RefittingMixin
from sklearn_interpret._model._sklearn_compat import (
    HasMethods,
    Interval,
    StrOptions,
    warn,
)
from sklearn_interpret._model.parallel import limit_blas, run
from sklearn_interpret._model.rows.validation import FitArguments, target_numbers
from sklearn_interpret.exceptions import InspectionWarning, WeakNuisanceWarning
from sklearn_interpret.importance._base import (
    BaseImportance,
    random_folds,
    rows_by_weight,
)
from sklearn_interpret.importance._conditional_tests import ConditionalTests
from sklearn_interpret.importance._nuisance import (
    AdditiveModel,
    Learner,
    Nuisance,
    class_flags,
)
from sklearn_interpret.importance._redrawn import Redraw

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from sklearn_interpret._model.rows.sample import Sample
    from sklearn_interpret.importance._conditional_tests import Finding
    from sklearn_interpret.importance._nuisance import Dependence

# Residuals whose p-value, times the number of tests, is below this raise a warning.
_WEAK_LEVEL = 0.01
# Most features that a warning names.
_MOST_NAMED = 5
# Fewest rows: two folds of two rows.
_FEWEST_ROWS = 4
# Kinds of dtypes that are neither numbers nor categories.
_REFUSED = {"c": "Complex data", "M": "Dates", "m": "Durations"}


@estimator_dataclass
class ConditionalImportanceTest(RefittingMixin, BaseImportance):
    """Whether a feature tells about the target what the other features don't.

    The null hypothesis is that target and feature are independent given the other
    features. Permutation importance and its tests ask a different question: whether the
    model uses the feature, which it may do for one that others could replace.

    Parameters
    ----------
    estimator : estimator, default=None
        A model of the target; clones of it are fitted, also of a ``FrozenEstimator``.
        "loco" and "hrt" compare its losses, and "pcm" takes from it how the feature
        changes the prediction. P-values of "pcm" stay valid if the model is poor, and
        "gcm" does not use it. None is an additive model with interactions.
    test : {"pcm", "gcm", "hrt", "loco"}, default="pcm"
        "gcm" tests whether the residuals of target and feature, given the other
        features, are correlated; "pcm" finds any dependence of the mean, interactions
        too. "hrt" compares a model's loss with those for redrawn values of the feature,
        and "loco" the losses of models with and without it. See Notes.
    nuisance : regressor or None, default=None
        Clones of it predict target and feature from the other features. None is a
        generalised additive model, with surfaces for the pairs of features on which its
        residuals depend, a curve for each level where one is a category or a flag, and
        jumps.
    feature_groups : dict of str to list, default=None
        Features that are tested together.
    cv : int, cross-validation splitter, iterable of splits, or None, default=5
        Folds of the models of "loco", of the scores of the nuisance regressions (for
        "hrt" the leverages of the default one give these), and of the residuals of a
        `nuisance` other than the default. A number makes random folds; others, as in
        :func:`~sklearn.model_selection.cross_val_predict`, have to hold out each row
        once.
    n_splits : int, default=8
        Random splits into halves for "pcm", each of which gives a direction that the
        other half tests. With few splits the p-values depend on `random_state`; time
        grows with their number.
    correction : {"holm", "bh"} or None, default="holm"
        Adjustment of the p-values for their number: "holm" bounds the probability of
        any false rejection, "bh" (Benjamini-Hochberg) the expected share of false ones.
    alpha : float, default=0.05
        Features with adjusted p-values below it are selected; intervals have the
        level 1 - `alpha`.
    sampler : {"residuals", "gaussian"} or callable, default="residuals"
        How "hrt" redraws a feature: its predicted mean given the others plus residuals,
        permuted among rows with residuals of similar size; or normal noise around a
        linear prediction. Columns of few levels are drawn by predicted probabilities. A
        callable is called as ``sampler(X, columns, rng)`` and returns new values of
        shape (n_rows, n_columns), drawn given the other columns.
    n_samples : int, default=200
        Number of draws for "hrt"; its smallest p-value is 1 / (1 + `n_samples`).
    max_rows : int, default=None
        Largest number of rows that a call sends to the model; an error before says what
        is possible. None is no limit.
    random_state : int, RandomState or None, default=None
        Seed of the folds and the draws. The models keep their own seeds.
    n_jobs : int or None, default=None
        Number of workers that test features.
    verbose : int or None, default=None
        1 prints the share done and the time left, 0 nothing. None writes one line to
        the standard error of calls that will take more than five seconds.

    Attributes
    ----------
    estimator_ : estimator
        The model fitted on all rows. The default model predicts numbers, or the
        probabilities of classes (of two classes that of the second).
    statistics_ : ndarray of shape (n_players,)
        "gcm" has Hotelling's, the square of Student's for two numbers, the others a
        mean divided by its deviation.
    pvalues_ : ndarray of shape (n_players,)
        P-value of each feature, or feature group.
    adjusted_pvalues_ : ndarray of shape (n_players,)
        The same, adjusted for their number.
    importances_ : ndarray of shape (n_players,)
        "gcm" and "pcm": share of the variance of the target's residuals that those of
        the feature, or of its effect, explain. "hrt" and "loco": increase of
        the squared error (the Brier score of classes) with a redrawn feature, or
        without it.
    intervals_low_, intervals_high_ : ndarray of shape (n_players,)
        Ends of the intervals of the importances, with "loco".
    nuisance_scores_ : ndarray of shape (n_players, 2)
        Held-out R² of the predictions of target and feature from the other features;
        with "pcm", of the feature's effect on the prediction. NaN where the test has no
        such regression.
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
        In `fit`: no targets, fewer than four rows, or `test` can't redraw a
        feature.

    Warns
    -----
    WeakNuisanceWarning
        If residuals of a nuisance regression depend on the other features.
    InspectionWarning
        If `n_samples` is too small for any feature to be selected.

    See Also
    --------
    PermutationTest : Whether a model's importance of a feature is more than chance.
    DropColumnImportance : Scores without a feature, in folds.

    Notes
    -----
    Targets are numbers, also counts, or labels of classes, which make one regression
    each. Text, and labels given to a classifier, are classes.

    "gcm" and "pcm" are valid if the products of the errors of both nuisance regressions
    are small; more rows then make them smaller. "gcm" has power against dependence
    whose sign is the same everywhere; it misses an effect that is positive for some
    values of the other features, and negative for others. "pcm" learns the form of the
    dependence on half of the rows and tests it on the other half, in `n_splits` splits.
    The mean of these tests is compared with a normal distribution that is wider than
    its own in the limit of many rows, so that it rejects less than its level. "hrt" is
    valid if the feature is redrawn from its true distribution given the others; which
    model is taken only matters for the power. A single `nuisance` model of all rows
    predicts it: one that follows every row, such as a forest, makes draws that are too
    close to the values, and no power is left.
    "loco" is valid if both models are consistent, and otherwise tells about these
    models; it has intervals.

    Rows that have both a rare class and a rare flag may be missing by chance, and with
    them nearly all the variance of the products of both errors. "gcm" and "pcm" take
    the variance that independent errors have where that is larger, and then reject less
    than their level.

    The check of the nuisance regressions regresses their residuals on the other
    features, with trees after the default nuisance (extremely randomised ones below
    1000 rows, boosted ones above), and with the default one after another. It can only
    find what these can fit. A row counts once in it, whatever its weight.

    Models that refer to columns by name or position, or have a parameter for each, are
    fitted with a constant column instead of without it.

    `max_rows` counts the redrawn rows of "hrt". Models that are fitted again, for all
    tests, predict each row a few times, which does not count.

    References
    ----------
    Shah, R. D. & Peters, J. (2020). The hardness of conditional independence testing
    and the generalised covariance measure. Annals of Statistics 48(3).
    https://doi.org/10.1214/19-AOS1857

    Lundborg, A. R., Kim, I., Shah, R. D. & Samworth, R. J. (2024). The projected
    covariance measure for assumption-lean variable significance testing. Annals of
    Statistics 52(6). https://doi.org/10.1214/24-AOS2447

    Tansey, W., Veitch, V., Zhang, H., Rabadan, R. & Blei, D. M. (2022). The holdout
    randomization test for feature selection in black box models. Journal of
    Computational and Graphical Statistics 31(1).
    https://doi.org/10.1080/10618600.2021.1923520

    Williamson, B. D., Gilbert, P. B., Simon, N. R. & Carone, M. (2023). A general
    framework for inference on algorithm-agnostic variable importance. Journal of the
    American Statistical Association 118(543).
    https://doi.org/10.1080/01621459.2021.2003200

    Examples
    --------
    The target depends on the first feature; the second is a noisy copy of it.

    >>> import numpy as np
    >>> from sklearn_interpret.importance import ConditionalImportanceTest
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 2))
    >>> X[:, 1] += X[:, 0]
    >>> test = ConditionalImportanceTest(random_state=0)
    >>> test.fit(X, X[:, 0] ** 2 + rng.normal(size=300)).get_support()
    array([ True, False])
    """

    # Positional, as in all inspectors.
    estimator: Any = field(default=None, kw_only=False)
    test: str = "pcm"
    nuisance: Any = None
    feature_groups: dict[str, Any] | None = None
    cv: Any = 5
    n_splits: int = 8
    correction: str | None = "holm"
    alpha: float = 0.05
    sampler: str | Callable[..., Any] = "residuals"
    n_samples: int = 200
    max_rows: int | None = None
    random_state: int | np.random.RandomState | None = None
    n_jobs: int | None = None
    verbose: int | None = None

    statistics_: NDArray[np.float64] = field(init=False)
    pvalues_: NDArray[np.float64] = field(init=False)
    adjusted_pvalues_: NDArray[np.float64] = field(init=False)
    intervals_low_: NDArray[np.float64] = field(init=False)
    intervals_high_: NDArray[np.float64] = field(init=False)
    nuisance_scores_: NDArray[np.float64] = field(init=False)

    _parameter_constraints = {
        **BaseImportance._parameter_constraints,
        "test": [StrOptions({"pcm", "gcm", "hrt", "loco"})],
        "n_splits": [Interval(Integral, 1, None, closed="left")],
        "nuisance": [HasMethods(["fit", "predict"]), None],
        "correction": [StrOptions({"holm", "bh"}), None],
        "alpha": [Interval(Real, 0, 1, closed="neither")],
        "sampler": [StrOptions({"residuals", "gaussian"}), callable],
        "n_samples": [Interval(Integral, 1, None, closed="left")],
    }

    # P-values take the sum of the weights for the number of rows.
    _errors_count_rows = True

    def _get_estimator(self) -> AdditiveModel | BaseEstimator:
        return AdditiveModel() if self.estimator is None else super()._get_estimator()

    def _check_rows(self, X: Any, *, reset: bool) -> Any:
        rows = super()._check_rows(X, reset=reset)
        if sparse.issparse(X) and not self.__sklearn_tags__().input_tags.sparse:
            raise TypeError(
                f"X is a sparse matrix, which {type(self).__name__} takes with "
                "test='loco' and an estimator that takes it; X.toarray() is dense."
            )
        for j, name in enumerate(rows.names):
            dtype = rows.column_array(j).dtype
            if dtype.kind in _REFUSED:
                raise ValueError(
                    f"{_REFUSED[dtype.kind]} not supported: the feature {name!r} of X "
                    f"has dtype {dtype}; features are numbers or categories."
                )
        return rows

    def _fit_estimator(self, arguments: FitArguments, context: Any) -> None:
        y = arguments.y
        if self.estimator is None and y is not None:
            outcomes, _ = self._numeric_targets(np.asarray(y))
            y = outcomes[:, 0] if outcomes.shape[1] == 1 else outcomes
        elif is_classifier(self._get_estimator()) and np.asarray(y).shape[1:] == (1,):
            y = column_or_1d(y, warn=True)
        super()._fit_estimator(arguments._replace(y=y), context)

    def _make_response(self) -> None:
        """None: the tests fit models of parts of the rows."""

    def _measure(self, sample: Sample, response: None) -> NDArray[np.float64]:
        """Importances (n_players,), and the results of the test."""
        self._checked_targets(sample.y)
        if sample.rows.n_rows < _FEWEST_ROWS:
            raise ValueError(
                f"{type(self).__name__} needs at least {_FEWEST_ROWS} rows of positive "
                f"weight, but X has n_samples = {sample.rows.n_rows}."
            )
        rng = check_random_state(self.random_state)
        tests = self._make_tests(sample, rng)
        seeds = rng.randint(np.iinfo(np.int32).max, size=len(self.features_))
        tasks = [
            (tests, columns, seed)
            for columns, seed in zip(self.features_, seeds, strict=True)
        ]
        test_feature: Callable[..., Finding] = getattr(ConditionalTests, self.test)
        with limit_blas(1):  # the nuisance regressions have small matrices
            tests.prepare(self.test)
            findings = list(run(test_feature, tasks, n_jobs=self.n_jobs))
        self.statistics_, self.pvalues_, importances, errors, dofs = (
            np.array([getattr(finding, name) for finding in findings])
            for name in ("statistic", "pvalue", "importance", "error", "dof")
        )
        self.adjusted_pvalues_ = adjusted_pvalues(self.pvalues_, self.correction)
        self.nuisance_scores_ = np.array([finding.scores for finding in findings])
        if self.test == "loco":
            half_widths = t.isf(self.alpha / 2, dofs) * errors
            self.intervals_low_ = importances - half_widths
            self.intervals_high_ = importances + half_widths
        self._warn_of_weakness([finding.dependence for finding in findings])
        self._warn_of_few_draws()
        return importances

    def _more_columns(self) -> dict[str, NDArray[Any]]:
        columns = super()._more_columns() | {
            "selected": self.adjusted_pvalues_ < self.alpha
        }
        scores = zip(("target R²", "feature R²"), self.nuisance_scores_.T, strict=True)
        return columns | {name: r2 for name, r2 in scores if not np.isnan(r2).all()}

    def _result_facts(self) -> dict[str, Any]:
        return {"test": self.test, "correction": self.correction or "none"}

    def _numeric_targets(
        self, y: NDArray[Any]
    ) -> tuple[NDArray[np.float64], NDArray[Any] | None]:
        """Targets as numbers (n_rows, q), and the labels of classes or None."""
        if y.dtype.kind in _REFUSED:
            raise ValueError(
                f"{_REFUSED[y.dtype.kind]} not supported: y has dtype {y.dtype}; "
                "targets are numbers or labels."
            )
        if y.dtype.names is not None:
            target_numbers(y)  # refuses an event and a time
        if y.dtype.kind in "biuf" and not is_classifier(self._get_estimator()):
            numbers = y.astype(np.float64).reshape(len(y), -1)
            if not np.isfinite(numbers).all():
                raise ValueError("Input y contains NaN or infinity.")
            return numbers, None
        if y.ndim > 1 and y.shape[1] > 1:
            raise ValueError(f"y must be a vector of labels; it has shape {y.shape}.")
        labels = y.ravel()
        check_classification_targets(labels)
        classes = np.unique(labels)
        return class_flags(labels, classes), classes

    def _make_tests(
        self, original: Sample, rng: np.random.RandomState
    ) -> ConditionalTests:
        """The tests on a sample, with a row for each unit of weight."""
        sample = rows_by_weight(original)
        y, weights = sample.y, sample.weights
        if y.ndim == 2 and y.shape[1] == 1:
            y = y[:, 0]
        outcomes, classes = self._numeric_targets(y)
        nuisance = Nuisance(self.nuisance, weights if np.ptp(weights) > 0 else None)
        if self.nuisance is not None and is_classifier(self.nuisance):
            raise TypeError("nuisance must be a regressor, also for classes.")
        if self.estimator is None:
            learner = Nuisance(None, nuisance.weights)(outcomes)
        else:
            labels = classes if is_classifier(self._get_estimator()) else None
            learner = Learner(
                self._clone(), y, self._parameters_with_weights(sample), labels
            )
        strata = np.zeros(len(y)) if classes is None else y
        half_folds = self._half_folds(original, sample, strata, rng)
        if not isinstance(self.cv, Integral):  # halves of each of its folds
            strata = half_folds // 2
        n_splits = self.n_splits if self.test == "pcm" else 0
        return ConditionalTests(
            sample.rows,
            outcomes,
            weights,
            learner,
            nuisance,
            half_folds,
            [random_folds(strata, 2, rng) == 0 for _ in range(n_splits)],
            # Without weights, equal rows are different rows.
            sample.index if (original.weights != 1).any() else np.arange(len(y)),
            Redraw(self.sampler, self.n_samples),
        )

    def _half_folds(
        self,
        original: Sample,
        sample: Sample,
        strata: NDArray[Any],
        rng: np.random.RandomState,
    ) -> NDArray[np.intp]:
        """Half fold of each row, (n_rows,): fold k has the half folds 2 k and 2 k + 1.

        Rows in even half folds train the tests, and rows in odd ones test.
        """
        if isinstance(self.cv, Integral):
            n_halves = min(2 * self.cv, sample.rows.n_rows // 2 * 2)
            return random_folds(strata, n_halves, rng)
        n_rows = original.rows.n_rows
        fold_of_input_row = np.full(original.index.max() + 1, -1)
        test_sets = [test for _, test in self._splits(original, original.y, self.cv)]
        for fold, test in enumerate(test_sets):
            fold_of_input_row[original.index[test]] = fold
        held_out = np.concatenate(test_sets)
        if len(held_out) != n_rows or len(np.unique(held_out)) < n_rows:
            raise ValueError("cv must hold out each row of positive weight once.")
        folds = fold_of_input_row[sample.index]
        return 2 * folds + random_folds(folds, 2, rng)

    def _warn_of_weakness(self, dependence: list[tuple[Dependence, ...]]) -> None:
        """Warn of features whose nuisance regressions leave a dependence.

        `dependence` has a pair for each feature: of the target's and its own residuals.
        """
        # Arrays (n_features, 2), for target and feature.
        pvalues, r2 = np.moveaxis(np.array(dependence), 2, 0)
        weak = np.flatnonzero(pvalues.min(axis=1) * pvalues.size < _WEAK_LEVEL)
        if not len(weak):
            return
        weaker = pvalues.argmin(axis=1)  # 0 for the target, 1 for the feature
        weaker_r2 = np.take_along_axis(r2, weaker[:, None], axis=1)[:, 0]
        weak = weak[np.argsort(-weaker_r2[weak], kind="stable")]
        descriptions = [
            f"{self.player_names_[i]!r} (R² = {weaker_r2[i]:.2f}, "
            f"{('target', 'feature')[weaker[i]]})"
            for i in weak[:_MOST_NAMED]
        ]
        more = f" and {len(weak) - _MOST_NAMED} more" if len(weak) > _MOST_NAMED else ""
        advice = "more rows, or nuisance=a flexible regressor"
        if self.nuisance is not None:
            advice = "nuisance=None, the additive model, or a more flexible regressor"
        if self.test == "hrt" and self.sampler == "gaussian":
            advice = 'sampler="residuals"'
        warn(
            f"Try {advice}: for {', '.join(descriptions)}{more} the residuals of "
            "nuisance regressions still depend on the other features, so that p-values "
            "may be too small.",
            WeakNuisanceWarning,
        )

    def _warn_of_few_draws(self) -> None:
        """Warn if p-values of "hrt" can't be small enough for any selection."""
        if self.test != "hrt":
            return
        n_tests = len(self.features_) if self.correction == "holm" else 1
        smallest_pvalue = n_tests / (1 + self.n_samples)
        if smallest_pvalue >= self.alpha:
            warn(
                f"Use n_samples={int(n_tests / self.alpha) + 1} or more: with "
                f"{self.n_samples} no feature can be selected, since the smallest "
                f"adjusted p-value is {smallest_pvalue:.3g}.",
                InspectionWarning,
            )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if tags.classifier_tags is not None:
            tags.target_tags = replace(tags.target_tags, multi_output=False)
            tags.classifier_tags = replace(tags.classifier_tags, multi_label=False)
        # Nuisance regressions and their check take no sparse rows.
        tags.input_tags.sparse &= self.test == "loco"
        return tags

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        return self._spread_to_features(self.adjusted_pvalues_ < self.alpha)
