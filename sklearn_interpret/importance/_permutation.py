"""Permutation importance: loss of score after permuting a feature's values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import Bunch, check_random_state

from sklearn_interpret._inspectors.params import estimator_dataclass
from sklearn_interpret._model._sklearn_compat import Interval, StrOptions
from sklearn_interpret._model.conditionals.similar_rows import similar_rows
from sklearn_interpret._model.formulas.last_step import steps_and_model
from sklearn_interpret._model.leave_out.out_of_bag import (
    has_out_of_bag_rows,
    out_of_bag_model,
)
from sklearn_interpret._model.replacement.all_pairs import all_pairs_scores
from sklearn_interpret._model.replacement.permuted import (
    PermutedScores,
    check_several_rows,
)
from sklearn_interpret._model.replacement.permuted_partitions import (
    scores_in_partitions,
)
from sklearn_interpret._model.responses.scoring import (
    check_are_means,
    check_weights_are_taken,
    resolve_metrics,
)
from sklearn_interpret._model.rows.partitioned import PartitionedSample
from sklearn_interpret._model.rows.sample import Sample
from sklearn_interpret.importance._base import AnySample, BaseImportance, summarise

if TYPE_CHECKING:
    from sklearn_interpret._model.responses.response import Response
    from sklearn_interpret._model.responses.scoring import Metric
    from sklearn_interpret._model.rows.base import Rows

Scoring = str | Callable[..., Any]


@estimator_dataclass
class PermutationImportance(BaseImportance):
    """Loss of score when a feature's values are permuted among rows.

    The more the model relies on the feature, the worse it scores with permuted values:

    .. math:: \\frac{1}{n(n-1)} \\sum_{i \\ne i'} L(y_i, f(x_{i'j}, x_{i,-j}))
        - \\frac{1}{n} \\sum_i L(y_i, f(x_i))

    over all pairs of rows, or an estimate of it from random permutations.

    Parameters
    ----------
    estimator : estimator
        The model; a clone of it is fitted. Pass a fitted one as
        ``FrozenEstimator(model)``, and rows that it has not seen.
    scoring : str, callable, list, tuple, set or dict, default=None
        Scorers, by name or as ``scorer(estimator, X, y)``, or losses as ``loss(y_true,
        y_pred)``, such as those of :mod:`sklearn.metrics` whose names do not end in
        "score". None is the estimator's own `score`.
    n_repeats : int, default=10
        Number of random permutations of each feature.
    comparison : {"difference", "ratio"}, default="difference"
        "ratio" divides the loss after by the loss before: 1 means no importance. It
        takes losses, and scores derived from one: ``"neg_..."``, accuracy, R squared.
    method : {"permutation", "exact", "split", "oob"}, default="permutation"
        "permutation" and "split" permute at random, among all rows or between two
        random halves. "exact" is the mean over all pairs of rows, without repeats, for
        losses that are means over rows. It is fast for linear models and models of
        trees: see Notes. "oob" permutes the training rows of a forest or of bagging,
        and each row is predicted by the members that have not seen it: no other rows
        are needed.
    feature_groups : dict of str to list, default=None
        Features whose values are permuted together.
    conditional : bool, default=False
        Whether values are permuted only between rows that are similar in the other
        features: those in the same leaf of a tree that predicts the feature from them.
    threshold : float, default=0.0
        The importance above which `transform` keeps a feature.
    max_rows : int, default=None
        Largest number of rows that a call sends to the model; an error before says what
        is possible. None is no limit.
    response_method : str, list of str or callable, default="auto"
        Response of the model that losses compare with the targets. "auto" is `predict`
        of regressors and `predict_proba` of classifiers; for losses of
        :mod:`sklearn.metrics` it is the response that they are defined for.
    subsample : int, float or None, default=None
        Number or share of the rows to use; None takes all.
    random_state : int, RandomState or None, default=None
        Seed of the subsample and the permutations.
    n_jobs : int or None, default=None
        Number of workers.
    verbose : int or None, default=None
        1 prints the share done and the time left, 0 nothing. None writes one line to
        the standard error of calls that will take more than five seconds.

    Attributes
    ----------
    estimator_ : estimator
        The fitted model.
    importances_ : ndarray of shape (n_players, n_repeats)
        Importance of each feature or group in each repeat; one column with
        ``method="exact"``.
    importances_mean_, importances_std_ : ndarray of shape (n_players,)
        Their mean and standard deviation over the repeats.
    feature_importances_ : ndarray of shape (`n_features_in_`,)
        The mean for each feature; members of a group have the group's.
    baseline_score_ : float
        Score, or loss, of the original rows.
    results_ : dict of str to Bunch
        For each score `importances`, `importances_mean`, `importances_std` and
        `baseline_score`. The attributes are those of the first.
    features_ : list of tuple of int
        Columns of each feature or group.
    player_names_ : list of str
        Their names.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if the input has string column names.
    classes_ : ndarray
        Class labels of a classifier.

    Raises
    ------
    ValueError
        In `fit`: if there are no targets, a score has no ratio or no mean over pairs,
        or a scorer does not take the weights of rows.

    Warns
    -----
    CostlyInspectionWarning
        In `fit`: if ``method="exact"`` is about to take more than a minute.

    Notes
    -----
    The model predicts all rows ``1 + n_repeats x n_players`` times. With
    ``method="exact"`` it predicts each row with each distinct value of each player, but
    only a few rows if its trees can be read, or if it is a sum of functions of single
    players: a linear model, possibly after steps that work column by column, or trees
    each of which splits on one player only. For such sums ``method="exact"`` just sorts
    columns if the loss is a squared, absolute or relative error, R squared, or the
    accuracy of a linear classifier of two classes.

    Features that can replace each other all have little importance: make them a group.
    A row with a value from another one may be unlike all training rows;
    ``conditional=True`` avoids that, and measures the information of a feature beyond
    the others. Its leaves have ten rows or more, and splits that chance could explain
    are pruned: a feature independent of the others is permuted among all rows.

    ``method="oob"`` scores the mean prediction of the members that have not seen the
    row, as `oob_score_` of forests does; a frozen model needs the rows that it was
    fitted on, in their order. Rows that all members have seen are left out.

    Values of rows of larger weight are used more often. With ``method="exact"`` a row
    of weight two counts as two rows, and the importance is the mean over rows of the
    mean over the rows from which they may take values.

    `fit` also takes rows in partitions, see :mod:`sklearn_interpret.partitions`, with
    scores that are means over rows, and without ``conditional=True`` and
    ``method="exact"``. The results are those of the same rows in memory. It reads the
    rows once for their weights, and then twice for as many permuted columns as half of
    scikit-learn's `working_memory` holds, at least two. A repeat has a permuted column
    of each feature; one more stands for the rows as they are. `n_jobs` is not used.

    References
    ----------
    Breiman, L. (2001). Random forests. Machine Learning 45(1).
    https://doi.org/10.1023/A:1010933404324

    Fisher, A., Rudin, C., Dominici, F. (2019). All models are wrong, but many are
    useful: learning a variable's importance by studying an entire class of prediction
    models simultaneously. Journal of Machine Learning Research 20(177).
    https://doi.org/10.48550/arXiv.1801.01489

    Molnar, C., König, G., Bischl, B., Casalicchio, G. (2023). Model-agnostic feature
    importance and effects with dependent features: a conditional subgroup approach.
    Data Mining and Knowledge Discovery 38. https://doi.org/10.1007/s10618-022-00901-9

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.ensemble import HistGradientBoostingRegressor
    >>> from sklearn.frozen import FrozenEstimator
    >>> from sklearn.model_selection import train_test_split
    >>> from sklearn_interpret.importance import PermutationImportance
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    >>> model = HistGradientBoostingRegressor(max_iter=20, random_state=0)
    >>> frozen = FrozenEstimator(model.fit(X_train, y_train))
    >>> inspector = PermutationImportance(frozen, method="exact").fit(X_test, y_test)
    >>> best = inspector.feature_importances_.argsort()[::-1][:2]
    >>> sorted(map(str, inspector.feature_names_in_[best]))
    ['bmi', 's5']
    """

    scoring: Scoring | list[Scoring] | dict[str, Scoring] | None = None
    n_repeats: int = 10
    comparison: str = "difference"
    method: str = "permutation"
    feature_groups: dict[str, Any] | None = None
    conditional: bool = False
    threshold: float = 0.0
    max_rows: int | None = None
    response_method: str | Sequence[str] | Callable[..., Any] = "auto"
    subsample: float | None = None
    random_state: int | np.random.RandomState | None = None
    n_jobs: int | None = None
    verbose: int | None = None

    baseline_score_: float = field(init=False)
    results_: dict[str, Bunch] = field(init=False)

    _parameter_constraints = {
        **BaseImportance._parameter_constraints,
        "scoring": "no_validation",
        "n_repeats": [Interval(Integral, 1, None, closed="left")],
        "comparison": [StrOptions({"difference", "ratio"})],
        "method": [StrOptions({"permutation", "exact", "split", "oob"})],
        "conditional": ["boolean"],
    }

    _takes_partitions = True

    @property
    def _weights_count_rows(self) -> bool:
        return self.method == "exact"

    def _choose_sample(
        self, rows: Rows, y: ArrayLike | None, weights: NDArray[np.float64]
    ) -> Sample:
        sample = super()._choose_sample(rows, y, weights)
        if self.method != "oob":
            return sample
        _, model = steps_and_model(self.estimator_)
        if not has_out_of_bag_rows(model):
            raise ValueError(
                "method='oob' takes forests and bagging of scikit-learn with bootstrap "
                "samples, where members of some rows alone can be averaged, and not "
                f"{model!r}: other methods take any model."
            )
        self._out_of_bag, kept = out_of_bag_model(
            self.estimator_, rows.n_rows, sample.index
        )
        return sample.take(kept)

    def _measure(self, sample: AnySample, response: Response) -> NDArray[np.float64]:
        sample = self._check_has_targets(sample)
        metrics = resolve_metrics(self.scoring, self.estimator_, self.response_method)
        self._check_comparison(metrics)
        if isinstance(sample, PartitionedSample):
            baseline, scores = self._score_partitions(sample, metrics)
        else:
            baseline, scores = self._score_permuted(sample, metrics)
        self.results_ = {}
        for i, metric in enumerate(metrics):
            importances = self._compare(metric, baseline[i], scores[:, :, i])
            self.results_[metric.name] = summarise(
                importances, baseline_score=float(baseline[i])
            )
        first = self.results_[metrics[0].name]
        self.baseline_score_ = first.baseline_score
        return first.importances

    def _result_facts(self) -> dict[str, Any]:
        return {
            f"baseline {name}": result.baseline_score
            for name, result in self.results_.items()
        }

    def _score_permuted(
        self, sample: Sample, metrics: list[Metric]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Scores of the rows (n_metrics,), and of the permuted rows.

        The latter are (n_players, r, n_metrics), with r repeats.
        """
        check_several_rows(sample.rows.n_rows)
        model, players = self.estimator_, self.features_
        strata: list[Any] = [None] * len(players)
        if self.conditional:
            strata = [
                similar_rows(sample.rows, columns, sample.weights)
                for columns in players
            ]
        if self.method == "exact":
            return all_pairs_scores(
                model, sample, players, metrics, strata, self.n_jobs
            )
        if (sample.weights != sample.weights[0]).any():
            check_weights_are_taken(metrics)
        draw = self.method
        if self.method == "oob":
            draw, model = "permutation", self._out_of_bag
        permuted = PermutedScores(model, sample, metrics, draw)
        scores = permuted.scores(players, self._draw_seeds(), strata, self.n_jobs)
        return permuted.baseline, scores

    def _score_partitions(
        self, sample: PartitionedSample, metrics: list[Metric]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The scores of `_score_permuted`, for rows in partitions."""
        for name, value, accepted in (
            ("method", self.method, ("permutation", "split")),
            ("conditional", self.conditional, (False,)),
        ):
            if value not in accepted:
                raise ValueError(
                    f"{name}={value!r} needs all rows in memory; for rows in "
                    f"partitions {' and '.join(map(repr, accepted))} can be used."
                )
        check_are_means(metrics)
        return scores_in_partitions(
            self.estimator_,
            sample,
            self.features_,
            metrics,
            self.method,
            self._draw_seeds(),
        )

    def _draw_seeds(self) -> NDArray[np.intp]:
        """Seeds of the permutations (n_players, n_repeats)."""
        return check_random_state(self.random_state).randint(
            np.iinfo(np.int32).max, size=(len(self.features_), self.n_repeats)
        )

    def _check_comparison(self, metrics: list[Metric]) -> None:
        """Refuse ratios of scores that are not derived from a loss."""
        for metric in metrics:
            if self.comparison == "ratio" and metric.orientation is None:
                raise ValueError(
                    f"comparison='ratio' divides losses, but {metric.name!r} of "
                    "scoring is not known to be derived from a loss."
                )

    def _compare(
        self, metric: Metric, before: float, after: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Importances from scores before and after a permutation."""
        if self.comparison == "difference":
            # Not the sign times the difference, which may be minus zero.
            return metric.worse * after - metric.worse * before
        loss_before = metric.as_loss(before)
        loss_after: Any = metric.as_loss(after)
        if not loss_before > 0:
            raise ValueError(
                f"comparison='ratio' divides by the loss of the original rows, but "
                f"that of {metric.name!r} is {loss_before:g}."
            )
        return loss_after / loss_before
