"""Influence functions: a model without some of its training rows (Koh & Liang, 2017).

The scores of rows change without each training row, or group of rows, and their losses
with the scores. Of linear models and networks, Newton steps from the optimum change the
parameters; of trees, the values of leaves change to first order.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_consistent_length
from sklearn.utils.validation import check_is_fitted

from sklearn_interpret._inspectors.params import estimator_dataclass
from sklearn_interpret._inspectors.results import ResultsMixin
from sklearn_interpret._model._sklearn_compat import Interval, StrOptions
from sklearn_interpret._model.gradients import objectives
from sklearn_interpret._model.leave_out.parametric_changes import (
    read_parametric_changes,
)
from sklearn_interpret._model.leave_out.tree_changes import read_tree_changes
from sklearn_interpret._model.parallel import run, slices
from sklearn_interpret._model.progress import progress_of, shows_progress, with_progress
from sklearn_interpret._model.responses.response import make_response
from sklearn_interpret._model.rows.sample import Sample
from sklearn_interpret._model.rows.validation import empty_for_no_rows
from sklearn_interpret._model.training_weights.tree_scores import is_tree_model
from sklearn_interpret.base import BaseInspector
from sklearn_interpret.explanations import TrainingExplanation
from sklearn_interpret.influence._groups import (
    influence_blocks,
    read_groups,
    removal_text,
)

if TYPE_CHECKING:
    from sklearn_interpret._model.leave_out.score_changes import ScoreChanges

# Most changes of scores in a chunk that fits the cache, chosen by hand.
_CACHED_SIZE = 2**15


@estimator_dataclass
class InfluenceFunctions(ResultsMixin, BaseInspector):
    r"""Changes without each training row, found without fitting again.

    Parameters of the model without a row come from Newton steps that begin at those of
    the model with it; trees keep their splits, and the values of their leaves change.
    The influence of the row on another is by how much the loss of that one rises:
    positive values say that it hurts to leave the training row out.

    Parameters
    ----------
    estimator : estimator
        A linear, logistic or generalized linear model, a HuberRegressor, a LinearSVC or
        a multi-layer perceptron; a tree, a forest or bagged trees; gradient boosting of
        scikit-learn (both kinds), XGBoost or LightGBM with the squared error or the log
        loss. It stands alone or at the end of a pipeline; a clone of it is fitted. Pass
        a fitted one as ``FrozenEstimator(model)``, and to `fit` the rows that it was
        trained on. Steps before the model stay as they are when a row is left out.
    damping : float, default=0.0
        Keeps parameters near those of all rows: half of it, times the squared
        distance from these, is added to the objective of the rows that are left, in
        which squared errors and deviances count by half. Zero for trees.
    scaling : {"sum", "mean"}, default="sum"
        "sum" gives the change itself. "mean" divides it by the row's share of the
        weight of all rows, which multiplies it by the number of rows where all weigh
        the same, as in Koh & Liang (2017).
    groups : array-like of shape (n_samples,), default=None
        A label for each row of `fit`. Rows of one label are left out together, and
        groups take the place of rows in all results.
    n_jobs : int or None, default=None
        Workers that fit models in :meth:`check`.
    verbose : int or None, default=None
        1 prints the share done and the time left, 0 nothing. None writes one line to
        the standard error of calls that will take more than five seconds.

    Attributes
    ----------
    estimator_ : estimator
        The fitted model.
    parameter_changes_ : ndarray of shape (n_samples, n_parameters)
        By how much the parameters change without each row: weights (inputs by outputs)
        before intercepts, layer by layer. Trees have none.
    self_influence_ : ndarray of shape (n_samples,)
        Influence of each row on itself: by how much its own loss rises without it. Of
        a group, the weighted mean over its rows. Computed on first access; of trees,
        this takes as long as to explain all training rows.
    group_labels_ : ndarray of shape (n_groups,) or None
        Labels of the groups, in the order of the results; None without `groups`.
    n_features_in_, feature_names_in_, classes_ : int, ndarray, ndarray
        Number of features; their names, where the columns have any; class labels.

    Raises
    ------
    UnreadableModelError
        In `fit`: the objective of the model is not known, or not smooth; the rows do
        not give the values of the leaves of frozen trees, which were fitted on others.
    ValueError
        In `fit`: `y` missing, also for a frozen model; a network whose matrix is not
        positive definite without a larger `damping`; a `damping` of trees.

    Warns
    -----
    BalancedClassesWarning
        In `fit`: the model has ``class_weight="balanced"``.
    OtherTrainingRowsWarning
        In `fit`: the objective of a frozen model is not least at its parameters, so
        that the rows, or the weights, are not those that it was trained on, or its
        training was stopped early. The model is then moved to the optimum of the rows
        given.
    UnconvergedDeletionWarning
        In `fit`: no optimum was found without some row.

    See Also
    --------
    TrainingExplanation : What `explain` returns.

    Notes
    -----
    The objective of a model is the sum of the losses of the rows, each times its
    weight, and a penalty; :math:`\hat\theta` is where it is least, and
    :math:`\hat\theta_{-i}` where it is without row i. The influence of i on j is

    .. math:: I_{ij} = L(z_j, \hat\theta_{-i}) - L(z_j, \hat\theta),

    and :math:`I_{ij} \, W / w_i` with ``scaling="mean"``, where W is the sum of the
    weights. Weights of classes, balanced ones too, stay those of all rows. To first
    order that is

    .. math:: \nabla L(z_j, \hat\theta)^\top H^{-1} \nabla L(z_i, \hat\theta),

    with H the mean Hessian: minus the :math:`I_{up,loss}` of Koh & Liang. A weight of
    two is two copies of a row, which are left out together.

    The losses are the models' own: the squared error (the mean over outputs), minus the
    log-likelihood of the class, the unit deviance of Poisson, gamma and Tweedie models,
    the squared hinge, and Huber's loss: with r the residual, s the fitted `scale_` of
    all rows and :math:`\epsilon` the parameter, it is :math:`r^2` up to
    :math:`|r| = \epsilon s` and :math:`2 \epsilon s |r| - (\epsilon s)^2` beyond, in
    squared units of the target. That is s times the row's term
    :math:`s\, H_\epsilon(r / s)` of the objective of
    :class:`~sklearn.linear_model.HuberRegressor`. (The weights without a row are found
    with a scale of their own.) Those of :class:`DeletionDiagnostics` are
    the same, but for deviances, Huber's loss, and ridge regression of classes. The
    target of an explained row may be left out; it is then what the model itself
    predicts, and its squared error or deviance can only rise.

    Linear models take as many Newton steps as matter, with the Hessian of the rows that
    are left; of least squares and ridge regression the first is exact. Where these
    steps do not get shorter, they are halved until they lower the objective.

    Networks are first trained to the end, by L-BFGS from where they are; changes are
    those from there. Smooth ones (``activation`` "tanh", "logistic" or "identity") take
    up to ten steps down, with the Gauss-Newton matrix of the rows that are left: on
    sets of a hundred rows, correlations with fits from the same start are mostly above
    0.9 where ``alpha`` is 0.01 or more. A network of ``activation="relu"`` ends on
    kinks of its objective, where slopes do not say what lies behind: it takes one step,
    which may be right with ``alpha=1``, and is not with a small one. :meth:`check`
    tells. Where the penalty is small, a network may need a `damping`; the least is 1e-5
    of the largest entry of the diagonal. Up to 5000 parameters the matrix is
    factorised; beyond that one step is solved by conjugate gradients, which takes
    minutes.

    Trees keep their splits. Their scores F (the raw scores of boosting; otherwise
    predictions and probabilities) are functions of the weights w of the training rows,
    and change by :math:`-w_i \, \partial F / \partial w_i` without row i, to first
    order; without a group, by the sum over its rows. The leaves of a forest have means:
    that of a leaf changes by minus the row's share of its weight, times what the target
    is above the mean. A leaf of one row, or of equal targets, does not change at all:
    forests need a larger ``min_samples_leaf``. A leaf of boosted trees has a Newton
    step from the scores before it, which depend on the row through all earlier leaves
    (LeafInfluence, Sharchilev and others, 2018). The first order is inaccurate where a
    row makes up much of a leaf. The start of boosting is a function of the weights,
    too; the rows drawn for each tree stay as in `fit`, which needs an integer
    ``random_state`` of boosting. New splits, which a fit without the row may have, are
    left out.

    The loss of boosted classes is the log loss. That of classes by means of leaves is
    the squared error of the probabilities (the Brier score: half the sum over two
    classes, the sum over more), which gini trees minimise: pure leaves have an infinite
    log loss.

    All rows together take n_samples x n_parameters numbers. Sparse rows are made dense.

    Directions that no row determines (columns that say the same, say) stay as they are.

    References
    ----------
    Koh, P. W. & Liang, P. (2017). Understanding black-box predictions via influence
    functions. Proceedings of the 34th International Conference on Machine Learning.
    https://doi.org/10.48550/arXiv.1703.04730

    Sharchilev, B., Ustinovskiy, Y., Serdyukov, P. & de Rijke, M. (2018). Finding
    influential training samples for gradient boosted decision trees. Proceedings of the
    35th International Conference on Machine Learning.
    https://doi.org/10.48550/arXiv.1802.06640

    Pregibon, D. (1981). Logistic regression diagnostics. The Annals of Statistics 9(4).
    https://doi.org/10.1214/aos/1176345513

    Bae, J., Ng, N., Lo, A., Ghassemi, M. & Grosse, R. (2022). If influence functions
    are the answer, then what is the question? Advances in Neural Information Processing
    Systems 35. https://doi.org/10.48550/arXiv.2209.05364

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn_interpret.influence import InfluenceFunctions
    >>> X, y = load_iris(return_X_y=True)
    >>> y[[3, 77, 140]] = [2, 0, 0]  # wrong labels
    >>> inspector = InfluenceFunctions(LogisticRegression(max_iter=1000)).fit(X, y)
    >>> np.sort(np.argsort(-inspector.self_influence_)[:3])
    array([  3,  77, 140])
    >>> inspector.explain(X[:2], y[:2]).values.shape
    (2, 150)
    """

    damping: float = 0.0
    scaling: str = "sum"
    groups: ArrayLike | None = None
    n_jobs: int | None = None
    verbose: int | None = None

    group_labels_: NDArray[Any] | None = field(init=False)

    _for_any_model = "DeletionDiagnostics takes any model."
    _why_targets = (
        "the losses of the training rows depend on it, also where the model is a "
        "FrozenEstimator."
    )
    _caches = ("_own_influence",)

    _parameter_constraints = {
        **BaseInspector._parameter_constraints,
        "damping": [Interval(Real, 0, None, closed="left")],
        "scaling": [StrOptions({"sum", "mean"})],
        "groups": ["array-like", None],
    }

    # A weight is the number of copies of a row, which are left out together.
    _weights_count_rows = _refits = True

    def _make_response(self) -> Any:
        objectives.warn_of_balanced_classes(
            objectives.best_steps_and_model(self.estimator_)[1]
        )
        return make_response(self.estimator_, "auto", None)

    def _choose_sample(
        self, rows: Any, y: ArrayLike | None, weights: NDArray[np.float64]
    ) -> Any:
        # Rows of weight zero, too, are among those that samples are drawn from.
        return Sample(rows, self._checked_targets(y), weights)

    def _inspect(self, sample: Sample, response: Any) -> None:
        # The model checks the rows itself.
        response(sample.rows.native)
        training = sample
        sample = Sample.of_positive_weight(training.rows, training.y, training.weights)
        self._response, self._sample = response, sample
        self.group_labels_, deletion_of_row = None, np.arange(sample.rows.n_rows)
        if self.groups is not None:
            self.group_labels_, deletion_of_row = read_groups(
                self.groups, training.rows.n_rows, sample.index
            )
        self._changes = self._read_changes(training, sample, deletion_of_row)
        self._scored = self._changes.scored_model
        self._targets = self._scored.targets(sample.y)
        weights = np.bincount(deletion_of_row, self._changes.weights)
        shares = weights / weights.sum()
        scales = 1 / shares if self.scaling == "mean" else np.ones(len(shares))
        self._scales, self._loss_scales = scales, self._scored.loss_scale * scales
        self._own_influence: NDArray[np.float64] | None = None

    def _read_changes(
        self, training: Sample, sample: Sample, deletion_of_row: NDArray[np.intp]
    ) -> ScoreChanges:
        """Changes of scores without each row, or group, of positive weight."""
        _, model = objectives.best_steps_and_model(self.estimator_)
        if is_tree_model(model):
            if self.damping:
                raise ValueError(
                    f"damping={self.damping!r}: the {type(model).__name__} has no "
                    "parameters to keep, only 0 is accepted."
                )
            return read_tree_changes(self.estimator_, training, sample, deletion_of_row)
        changes = read_parametric_changes(
            self.estimator_, sample, deletion_of_row, self.damping
        )
        objectives.check_is_optimum(self.estimator_, model, changes.distance)
        return changes

    @property
    def parameter_changes_(self) -> NDArray[np.float64]:
        """Changes of the parameters without each row: (n_deletions, n_parameters)."""
        check_is_fitted(self)
        return self._changes.parameter_changes

    @property
    def self_influence_(self) -> NDArray[np.float64]:
        """Increase of each row's own loss without it: (n_deletions,)."""
        check_is_fitted(self)
        if self._own_influence is None:
            changes, weights = self._changes, self._sample.weights
            with progress_of(self, "self_influence_"):
                scores = changes.scores(changes.inputs)
                after = self._scored.loss.values(
                    self._targets, scores + changes.own_changes()
                )
            after -= self._scored.loss.values(self._targets, scores)
            sums = np.bincount(changes.deletion_of_row, weights * after)
            means = sums / np.bincount(changes.deletion_of_row, weights)
            self._own_influence = self._loss_scales * means
        return self._own_influence

    def _loss_changes(
        self,
        inputs: NDArray[Any],
        targets: NDArray[np.float64],
        deletions: NDArray[np.intp],
    ) -> NDArray[np.float64]:
        """Changes of rows' losses without deletions' rows, (n_rows, n_deletions)."""
        loss, scores = self._scored.loss, self._changes.scores(inputs)
        with np.errstate(invalid="ignore", divide="ignore"):
            before = loss.values(targets, scores)
        undefined = np.flatnonzero(~np.isfinite(before))
        if len(undefined):
            row = undefined[0]
            raise ValueError(
                f"y holds {targets[row].tolist()} for row {row}, for which the "
                f"loss of the {type(self._scored.model).__name__} is not defined."
            )
        slopes = loss.slopes(targets, scores)[:, None]
        half_curvatures = loss.curvatures(targets, scores) / 2
        loss_changes = np.empty((len(inputs), len(deletions)))
        blocks = self._changes.row_blocks(len(inputs), len(deletions))
        for block in with_progress(list(blocks)):
            score_changes = self._changes.changes(inputs[block], deletions)
            chunk_rows = max(1, _CACHED_SIZE // score_changes[0].size)
            for chunk in slices(len(score_changes), chunk_rows):
                steps = score_changes[chunk]
                rows = slice(block.start + chunk.start, block.start + chunk.stop)
                _write_second_order_changes(
                    steps, slopes[rows], half_curvatures[rows], loss_changes[rows]
                )
                # Most steps are within reach of the second order.
                if max(steps.max(), -steps.min()) <= loss.reach:
                    continue
                is_far = (np.abs(steps) > loss.reach).any(axis=2)
                row, change = np.divmod(np.flatnonzero(is_far), is_far.shape[1])
                position = row + rows.start
                after = loss.values(
                    targets[position], scores[position] + steps[row, change]
                )
                loss_changes[position, change] = after - before[position]
        return loss_changes

    @empty_for_no_rows
    @shows_progress
    def explain(self, X: Any, y: ArrayLike | None = None) -> TrainingExplanation:
        """Influence of each training row, or group, on each of some rows.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs), default=None
            Their targets; None takes what the model predicts.

        Returns
        -------
        TrainingExplanation
            Increase of the loss of each row without each training row.
        """
        rows = self._check_rows(X, reset=False)
        predictions = self._response(rows.native)
        inputs, scored = self._changes.inputs_of(rows.native), self._scored
        if y is None:
            y = scored.predictions(self._changes.scores(inputs))
        else:
            check_consistent_length(rows.native, y)
        values = self._loss_changes(
            inputs, scored.targets(np.asarray(y)), np.arange(self._changes.n_deletions)
        )
        if np.any(self._loss_scales != 1):
            values *= self._loss_scales
        n_outputs = predictions.shape[1]
        return self._explanation(
            values,
            "change of the loss",
            predictions=predictions[:, 0] if n_outputs == 1 else predictions,
            data=rows.native,
            output_names=self._response.output_names(n_outputs),
            response_name=self._response_name,
        )

    def _result_blocks(self) -> list[dict[str, Any]]:
        """A line for each row, or group, that is left out, the most influential first:
        columns "training_row" (its name, or that of the group) and "value", its
        `self_influence_`.
        """
        return influence_blocks(self._overall_explanation())

    def _result_units(self) -> dict[str, str]:
        return {"value": self._overall_explanation().value_name}

    def _overall_explanation(self) -> TrainingExplanation:
        """`self_influence_` as an explanation, for displays."""
        return self._explanation(self.self_influence_[None], "change of its own loss")

    def _explanation(
        self, values: NDArray[np.float64], change: str, **row_fields: Any
    ) -> TrainingExplanation:
        """Explanation with values (n_rows, n_deletions), and fields of the rows."""
        sample = self._sample
        training: dict[str, Any] = {
            "training_data": sample.rows.native,
            "training_targets": sample.y,
            "training_names": getattr(sample.rows.native, "index", sample.index),
        }
        if self.group_labels_ is not None:
            training = {"training_names": self.group_labels_.tolist()}
        return TrainingExplanation(
            values,
            **training,
            **row_fields,
            feature_names=sample.rows.names,
            target_name=self._target_name,
            value_name=removal_text(change, self.groups),
        )

    @shows_progress
    def influence_on(
        self, functional: Callable[[Any, NDArray[Any]], float], X: Any, y: Any
    ) -> NDArray[np.float64]:
        """Influence of each training row, or group, on a number made of predictions.

        Parameters
        ----------
        functional : callable
            ``functional(y, predictions)`` returns a number: a score, a gap between
            groups of rows, the loss of the worst of them. Predictions are the columns
            of `predict_proba` where the model is fitted to probabilities, and else what
            `predict` returns.
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
            Rows to predict.
        y : object
            Passed to `functional` as it is.

        Returns
        -------
        ndarray of shape (n_training,)
            Increase of the number without each training row.

        Raises
        ------
        ValueError
            `functional` returns no finite number.
        """
        rows = self._check_rows(X, reset=False)
        self._response(rows.native)  # the model's own checks
        scored, changes = self._scored, self._changes
        inputs = changes.inputs_of(rows.native)
        scores = changes.scores(inputs)[:, None]

        def values_at(scores: NDArray[np.float64]) -> list[float]:
            if scored.has_probabilities:
                predictions = scored.probabilities(scores)
            else:
                predictions = scored.predictions(scores)
            return [
                _finite_number(functional(y, predictions[:, i]))
                for i in range(scores.shape[1])
            ]

        (before,) = values_at(scores)
        after = np.empty(changes.n_deletions)
        for block in with_progress(list(changes.deletion_blocks(len(inputs)))):
            after[block] = values_at(scores + changes.changes(inputs, block))
        return (after - before) * self._scales

    @shows_progress
    def check(self, k: int = 10) -> float:
        """Fit again without some rows, and compare with the estimated changes.

        Parameters
        ----------
        k : int, default=10
            How many rows, or groups: those with the largest `self_influence_`, by size.
            Each is left out alone.

        Returns
        -------
        float
            Correlation between the changes of the losses of all training rows and their
            estimates. NaN where nothing changes.

        Notes
        -----
        The last step of a pipeline is fitted, which counts balanced classes anew; a
        network from its weights at the minimum, by L-BFGS, and compared with one that
        is so fitted to all rows. Trees are fitted with their own ``random_state`` and
        find new splits: the correlation is low where these matter more than the values
        of leaves, or where a forest draws other rows.
        """
        check_is_fitted(self)
        if not (isinstance(k, Integral) and k >= 1):
            raise ValueError(f"k={k!r}; a positive integer is accepted.")
        most_influential = np.argsort(-np.abs(self.self_influence_), kind="stable")[:k]
        changes, sample = self._changes, self._sample
        estimated = self._loss_changes(changes.inputs, self._targets, most_influential)
        masks = [np.ones(sample.rows.n_rows, dtype=bool)]
        masks += [changes.deletion_of_row != group for group in most_influential]
        tasks = [(mask, sample.y, sample.weights) for mask in masks]
        before, *after = run(changes.losses_after_refit, tasks, n_jobs=self.n_jobs)
        refitted = (np.array(after) - before).T
        with np.errstate(invalid="ignore", divide="ignore"):
            return float(np.corrcoef(estimated.ravel(), refitted.ravel())[0, 1])


def _write_second_order_changes(
    steps: NDArray[np.float64],
    slopes: NDArray[np.float64],
    half_curvatures: NDArray[np.float64],
    out: NDArray[np.float64],
) -> None:
    """Write (slope + step * curvature / 2) * step into `out` (m, n_changes).

    `steps` are changes of scores, (m, n_changes, k).
    """
    if steps.shape[2] == 1:  # without sums, in a third of the time
        factors = steps * half_curvatures
        factors += slopes
        np.multiply(factors, steps, out=out[:, :, None])
    else:
        factors = steps @ half_curvatures
        factors += slopes
        np.einsum("nck,nck->nc", factors, steps, out=out)


def _finite_number(value: Any) -> float:
    """A finite number that a functional has returned."""
    number = np.asarray(value)
    if number.ndim == 0 and number.dtype.kind in "biuf" and np.isfinite(number):
        return float(number)
    raise ValueError(f"functional returned {value!r}; a finite number is needed.")
