"""Importance of features by fitting without them (LOCO)."""

from collections.abc import Callable, Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import check_cv
from sklearn.utils import Bunch

from sklearn_interpret._model._sklearn_compat import StrOptions
from sklearn_interpret._model.parallel import run
from sklearn_interpret._model.perturbation.removal import remover
from sklearn_interpret._model.scoring import check_weights_are_taken, resolve_metrics
from sklearn_interpret._model.tags import is_classifier
from sklearn_interpret.importance._base import RefittingImportance

_ROUNDING = 1e-12


class DropColumnImportance(RefittingImportance):
    """How much worse a model is that never saw a feature (LOCO).

    In each fold of a cross-validation the model is fitted with all features, and once
    more without each one of them. The importance of a feature is how much the score on
    the held-out rows falls without it (or how much the loss rises). Features that say
    the same have none each, for the others stand in; put into one group they have
    theirs.

    Parameters
    ----------
    estimator : estimator
        The predictor to inspect; a clone of it is fitted on all rows, and others in
        each fold. Of a fitted one, passed as ``FrozenEstimator(model)``, clones of the
        model are fitted in the folds.
    cv : int, cross-validation splitter, iterable of splits, or None, default=None
        Folds; None and a number as in
        :func:`~sklearn.model_selection.cross_val_score`.
    scoring : str, callable, list, tuple, set or dict, default=None
        Scorers, by name or as ``scorer(estimator, X, y)``, or losses as
        ``loss(y_true, y_pred)``; None is the estimator's own `score`. Several have
        their results in `results_`, and the first one's are the main ones.
    removal : {"auto", "drop", "constant"}, default="auto"
        "drop" fits on a table without the feature's columns. "constant" lets them
        hold one value in all rows, from which nothing is to be learnt; the model then
        sees the columns that it speaks of. "auto" is "constant" for estimators that
        name columns (a :class:`~sklearn.compose.ColumnTransformer`, categorical
        features or constraints by position or name), and else "drop". The last column
        that is left is never dropped but constant.
    feature_groups : dict of str to list, default=None
        Features that are left out together.
    threshold : float, default=0.0
        Features of larger importance are selected.
    response_method : str, list of str or callable, default="auto"
        What losses compare with the targets.
    n_jobs : int or None, default=None
        Workers that fit models.
    verbose : int, default=0
        Verbosity of the loop.

    Attributes
    ----------
    estimator_ : estimator
        The model that was fitted on all rows.
    importances_ : ndarray of shape (n_players, n_folds)
        Importance of each feature, or feature group, in each fold.
    importances_mean_, importances_std_ : ndarray of shape (n_players,)
        Their mean and standard deviation over the folds.
    baseline_scores_ : ndarray of shape (n_folds,)
        Scores (or losses) on the held-out rows with all features.
    feature_importances_ : ndarray of shape (n_features_in_,)
        Mean importance of each feature; members of a group all have the group's.
    results_ : dict of str to Bunch
        For each score `importances`, `importances_mean`, `importances_std` and
        `baseline_scores`.
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
        In `fit`: targets missing; a scorer that takes no weights where rows have
        different ones; an estimator that can't be fitted without a feature.

    See Also
    --------
    PermutationImportance : Asks one fitted model, which takes no further fit.

    Notes
    -----
    It takes (number of features + 1) x (number of folds) fits. Folds share most of
    their rows of training, so that the deviation over folds is no standard error.

    References
    ----------
    Lei, J., G'Sell, M., Rinaldo, A., Tibshirani, R. J. & Wasserman, L. (2018).
    Distribution-free predictive inference for regression. Journal of the American
    Statistical Association 113(523). https://doi.org/10.1080/01621459.2017.1307116

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LinearRegression
    >>> from sklearn_interpret.importance import DropColumnImportance
    >>> X = np.random.default_rng(0).normal(size=(100, 3))
    >>> importance = DropColumnImportance(LinearRegression(), cv=4)
    >>> importance.fit(X, 2 * X[:, 0] + X[:, 2]).importances_mean_.round(2)
    array([0.93, 0.  , 0.19])
    """

    _parameter_constraints = {
        **RefittingImportance._parameter_constraints,
        "cv": ["cv_object"],
        "scoring": "no_validation",
        "removal": [StrOptions({"auto", "drop", "constant"})],
    }

    def __init__(
        self,
        estimator: Any,
        *,
        cv: Any = None,
        scoring: Any = None,
        removal: str = "auto",
        feature_groups: dict[str, Any] | None = None,
        threshold: float = 0.0,
        response_method: str | Sequence[str] | Callable[..., Any] = "auto",
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.cv = cv
        self.scoring = scoring
        self.removal = removal
        self.feature_groups = feature_groups
        self.threshold = threshold
        self.response_method = response_method
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _measure(self, sample, response, on_block):
        y = self._targets(sample)
        metrics = resolve_metrics(self.scoring, self.estimator_, self.response_method)
        weighted = np.ptp(sample.weights) > 0
        if weighted:
            check_weights_are_taken(metrics)
        weights = sample.weights if weighted else None
        estimator = self._unfitted()
        remove = remover(estimator, self.removal)
        data = (sample.rows, y, weights)
        tasks = [
            (
                (estimator, remove, columns, name),
                data,
                (train, test),
                self._fit_parameters(sample.index[train]),
                metrics,
            )
            for train, test in self._splits(sample, y)
            for columns, name in self._left_out()
        ]
        found = []
        for scores in run(_scores, tasks, n_jobs=self.n_jobs, verbose=self.verbose):
            found.append(scores)
            on_block()
        n_players = len(self.features_)
        scores = np.array(found).reshape(-1, n_players + 1, len(metrics))
        return self._set_results(scores.transpose(2, 1, 0), metrics)

    def _left_out(self):
        """What each of a fold's models does without: nothing, then each player."""
        return [((), None), *zip(self.features_, self.player_names_, strict=True)]

    def _splits(self, sample, y):
        """Positions within the sample of the rows of training and of test."""
        cv = check_cv(self.cv, y, classifier=is_classifier(self.estimator_))
        given = not (
            self.cv is None
            or isinstance(self.cv, Integral | Real)
            or hasattr(self.cv, "split")
        )
        splits = cv.split(sample.rows.native, y)
        if not given:
            return list(splits)
        # Given positions count rows of weight zero, which the sample has not.
        places = np.full(sample.index.max() + 1, -1)
        places[sample.index] = np.arange(len(sample.index))
        return [tuple(_present(places, part) for part in split) for split in splits]

    def _set_results(self, scores, metrics):
        """Set the fitted attributes from scores (n_metrics, 1 + n_players, n_folds)."""
        self.results_ = {}
        for metric, (baseline, *without) in zip(metrics, scores, strict=True):
            without = np.array(without)
            importances = metric.worse * (without - baseline)
            # What differs by rounding alone must not be selected for it.
            size = np.maximum(np.abs(without), np.abs(baseline))
            importances[np.abs(importances) <= _ROUNDING * size] = 0.0
            self.results_[metric.name] = Bunch(
                importances=importances,
                importances_mean=importances.mean(axis=1),
                importances_std=importances.std(axis=1),
                baseline_scores=baseline,
            )
        first = self.results_[metrics[0].name]
        self.baseline_scores_ = first.baseline_scores
        return first.importances


def _present(places, part):
    """Places within the sample of those given positions that it has."""
    part = np.asarray(part)
    if part.dtype == bool:
        part = np.flatnonzero(part)
    found = places[part[part < len(places)]]
    return found[found >= 0]


def _scores(model, data, split, fit_params, metrics):
    """Scores on held-out rows of a model that was fitted without some features."""
    estimator, remove, columns, name = model
    rows, y, weights = data
    train, test = split
    if columns:
        rows = remove(rows, columns)
    X_train, X_test = rows.take(train).native, rows.take(test).native
    try:
        fitted = clone(estimator).fit(X_train, y[train], **fit_params)
    except Exception as error:
        if name is None:
            raise
        raise ValueError(
            f"The estimator can't be fitted without {name!r}: {error} "
            'removal="constant" leaves it all columns.'
        ) from error
    weights = None if weights is None else weights[test]
    return [metric(fitted, X_test, y[test], weights) for metric in metrics]
