"""Importance of features by refits without them (LOCO)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import Bunch

from sklearn_interpret._inspectors.params import estimator_dataclass
from sklearn_interpret._inspectors.refitting import RefittingMixin
from sklearn_interpret._model._sklearn_compat import StrOptions
from sklearn_interpret._model.parallel import run
from sklearn_interpret._model.responses.scoring import (
    check_weights_are_taken,
    resolve_metrics,
)
from sklearn_interpret.importance._base import (
    BaseImportance,
    drop_columns,
    hold_constant,
    names_columns,
    summarise,
)

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from sklearn_interpret._model.responses.response import Response
    from sklearn_interpret._model.responses.scoring import Metric
    from sklearn_interpret._model.rows.base import Rows
    from sklearn_interpret._model.rows.sample import Sample


# Relative differences of scores below this are rounding errors, and count as zero.
_ROUNDING = 1e-12


@estimator_dataclass
class DropColumnImportance(RefittingMixin, BaseImportance):
    """Loss of score when the model is fitted without a feature (LOCO).

    In each fold of a cross-validation the model is fitted with all features, and again
    without each of them. The importance of a feature is the fall of the score on
    held-out rows (or the rise of the loss) without it. A feature that others can
    replace has none: put such features into one group.

    Parameters
    ----------
    estimator : estimator
        The predictor to inspect; clones of it are fitted on all rows, and in each
        fold. A ``FrozenEstimator(model)`` is refitted only in the folds.
    cv : int, cross-validation splitter, iterable of splits, or None, default=None
        Folds; None and a number as in
        :func:`~sklearn.model_selection.cross_val_score`.
    scoring : str, callable, list, tuple, set or dict, default=None
        Scorers, by name or as ``scorer(estimator, X, y)``, or losses as
        ``loss(y_true, y_pred)``; None is the estimator's own `score`. Results of
        several are in `results_`; the other attributes are those of the first.
    removal : {"auto", "drop", "constant"}, default="auto"
        "drop" removes the feature's columns; if none would remain, it makes them
        constant. "constant" gives them one value in all rows.
        "auto" is "constant" for estimators that refer to columns by name or position,
        or have a parameter for each (a :class:`~sklearn.compose.ColumnTransformer`,
        categorical features, constraints, length scales), and else "drop".
    feature_groups : dict of str to list, default=None
        Features that are removed together.
    threshold : float, default=0.0
        Features of larger importance are selected.
    response_method : str, list of str or callable, default="auto"
        Response of the model that losses compare with the targets.
    n_jobs : int or None, default=None
        Number of workers that fit models.
    verbose : int or None, default=None
        1 prints the share done and the time left, 0 nothing. None writes one line to
        the standard error of calls that will take more than five seconds.

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
    feature_importances_ : ndarray of shape (`n_features_in_`,)
        Mean importance of each feature; members of a group have the group's.
    results_ : dict of str to Bunch
        For each score `importances`, `importances_mean`, `importances_std` and
        `baseline_scores`.
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
        In `fit`: if there are no targets, a scorer does not take the weights of rows,
        or the estimator can't be fitted without a feature.

    See Also
    --------
    PermutationImportance : Evaluates one fitted model, without further fits.

    Notes
    -----
    The cost is (number of features + 1) x (number of folds) fits. Folds share most of
    their training rows, so the deviation over folds is not a standard error.

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

    cv: Any = None
    scoring: Any = None
    removal: str = "auto"
    feature_groups: dict[str, Any] | None = None
    threshold: float = 0.0
    response_method: str | Sequence[str] | Callable[..., Any] = "auto"
    n_jobs: int | None = None
    verbose: int | None = None

    baseline_scores_: NDArray[np.float64] = field(init=False)
    results_: dict[str, Bunch] = field(init=False)

    _parameter_constraints = {
        **BaseImportance._parameter_constraints,
        "scoring": "no_validation",
        "removal": [StrOptions({"auto", "drop", "constant"})],
    }

    def _measure(self, sample: Sample, response: Response) -> NDArray[np.float64]:
        y = self._checked_targets(sample.y)
        metrics = resolve_metrics(self.scoring, self.estimator_, self.response_method)
        has_weights = np.ptp(sample.weights) > 0
        if has_weights:
            check_weights_are_taken(metrics)
        estimator = self._clone()
        is_constant = self.removal == "constant"
        if self.removal == "auto":
            is_constant = names_columns(estimator, self._fit_parameters(sample.index))
        refits = _Refits(
            estimator,
            hold_constant if is_constant else drop_columns,
            sample,
            sample.weights if has_weights else None,
            metrics,
        )
        # The first model keeps all columns.
        removals = [((), None), *zip(self.features_, self.player_names_, strict=True)]
        tasks = []
        for train, test in self._splits(sample, y, self.cv):
            fit_params = self._fit_parameters(sample.index[train])
            tasks += [
                (refits, fit_params, train, test, columns, name)
                for columns, name in removals
            ]
        results = list(run(_Refits.score_without, tasks, n_jobs=self.n_jobs))
        scores = np.reshape(results, (-1, len(removals), len(metrics)))
        return self._set_results(scores.transpose(2, 1, 0), metrics)

    def _set_results(
        self, scores: NDArray[np.float64], metrics: list[Metric]
    ) -> NDArray[np.float64]:
        """Set the fitted attributes from scores (n_metrics, 1 + n_players, n_folds)."""
        self.results_ = {}
        for metric, metric_scores in zip(metrics, scores, strict=True):
            baseline, reduced = metric_scores[0], metric_scores[1:]
            importances = metric.worse * (reduced - baseline)
            # Features must not be selected for rounding errors.
            size = np.maximum(np.abs(reduced), np.abs(baseline))
            importances[np.abs(importances) <= _ROUNDING * size] = 0.0
            self.results_[metric.name] = summarise(
                importances, baseline_scores=baseline
            )
        first = self.results_[metrics[0].name]
        self.baseline_scores_ = first.baseline_scores
        return first.importances

    def _result_facts(self) -> dict[str, Any]:
        return {
            f"baseline {name}": float(result.baseline_scores.mean())
            for name, result in self.results_.items()
        }


@dataclass(frozen=True, eq=False)
class _Refits:
    """Fits of the model without some columns, and their scores."""

    estimator: BaseEstimator
    remove: Callable[[Rows, Sequence[int]], Rows]
    sample: Sample
    weights: NDArray[np.float64] | None  # of the scores; None where all are equal
    metrics: list[Metric]

    def score_without(
        self,
        fit_params: dict[str, Any],
        train: NDArray[np.intp],
        test: NDArray[np.intp],
        columns: tuple[int, ...],
        name: str | None,
    ) -> list[float]:
        """Scores of a fold without the columns of the player `name`, if any."""
        rows, y = self.sample.rows, self.sample.y
        if columns:
            rows = self.remove(rows, columns)
        X_train, X_test = rows.take(train).native, rows.take(test).native
        try:
            fitted = clone(self.estimator).fit(X_train, y[train], **fit_params)
        except Exception as error:
            if name is None:
                raise
            raise ValueError(
                f"The estimator can't be fitted without {name!r}: {error} "
                'removal="constant" keeps all columns.'
            ) from error
        weights = None if self.weights is None else self.weights[test]
        return [metric(fitted, X_test, y[test], weights) for metric in self.metrics]
