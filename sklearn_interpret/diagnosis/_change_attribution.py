"""What moved the mean response, and the mean loss, from one table to another.

The mean of the Shapley values of the new rows, with the old rows as background, splits
the difference of the means. Exchanging the explained row and the row of the background
changes the sign of every value, so the values of the old rows with the new rows as
background are the terms of the same mean by old row: both samples give their errors.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.utils import check_consistent_length, check_random_state
from sklearn.utils.validation import check_is_fitted

from sklearn_interpret._core.statistics.covariance_tests import adjusted_pvalues
from sklearn_interpret._core.statistics.two_samples import two_sample_intervals
from sklearn_interpret._core.statistics.weighted import Moments, shares_of
from sklearn_interpret._inspectors.params import estimator_dataclass
from sklearn_interpret._inspectors.players import players_of
from sklearn_interpret._inspectors.refitting import RefittingMixin
from sklearn_interpret._inspectors.results import ResultsMixin
from sklearn_interpret._model._sklearn_compat import Interval, StrOptions
from sklearn_interpret._model.progress import shows_progress
from sklearn_interpret._model.replacement.coupled_rows import RowGains, gains_of_pairs
from sklearn_interpret._model.responses.predictors import is_classifier
from sklearn_interpret._model.responses.response import plain_responses
from sklearn_interpret._model.responses.row_losses import ROW_LOSS_NAMES, RowLoss
from sklearn_interpret._model.rows.arrays import as_rows
from sklearn_interpret._model.rows.sample import Sample
from sklearn_interpret._model.rows.tables import as_objects
from sklearn_interpret._model.rows.validation import check_not_missing, check_weights
from sklearn_interpret.diagnosis._change import Change, Changes
from sklearn_interpret.diagnosis._losses import losses_of_rows, losses_of_sample
from sklearn_interpret.shapley import ShapleyValues

if TYPE_CHECKING:
    from sklearn_interpret._model.responses.response import Response
    from sklearn_interpret._model.rows.base import Rows

# Most coalitions of `method="exact"` with models that are called: all of 15 features.
_MOST_COALITIONS = 2**15
# Algorithms of exact values: by a formula, and by calls of the model.
_EXACT = "tree", "linear", "exact"
# The least that ShapleyValues accepts: then it only shows which formula it can read.
_FEWEST_COALITIONS = 4
# Folds of the model of the loss: it never sees a loss that it is compared with.
_N_FOLDS = 5
# The model of the loss: small, since single losses say little about their mean.
_LOSS_TREES = {"max_iter": 50, "max_leaf_nodes": 8, "early_stopping": False}
# Values below this share of the numbers that were subtracted are rounding errors.
_ROUNDING = 1e-12
# Contribution to a loss of what its mean at given features gained.
TARGETS = "targets given features"


@estimator_dataclass
class ChangeAttribution(ResultsMixin, RefittingMixin):
    """What moved the mean response, and the mean loss, between two tables.

    The change of the mean response from the old rows z to the new rows x is the sum of
    the features' contributions

    .. math:: c_j = \\mathrm{mean}_x\\, \\mathrm{mean}_z\\, \\phi_j(x, z), \\qquad
        \\sum_j c_j = \\mathrm{mean}_x f(x) - \\mathrm{mean}_z f(z),

    with the Shapley values :math:`\\phi_j(x, z)` of f between two rows: the mean
    Shapley values of the new rows with the old rows as background. The model is the
    same for both tables, so only the distribution of the features can move the mean
    response.

    With targets, the change of the mean loss is the sum of contributions of the
    features and of "targets given features". For the former, a model of the loss given
    the features is fitted to the old rows, and the change of its mean is split in the
    same way. The latter is the rest: at the same features, the loss has changed.

    Parameters
    ----------
    estimator : estimator
        The predictor; a clone of it is fitted on the old rows. Pass a fitted one as
        ``FrozenEstimator(model)``, best with old rows that it has not seen.
    loss : {"auto", "squared_error", "absolute_error", "log_loss", "brier", \
            "zero_one"}, callable or None, default="auto"
        Loss whose change is split if `fit` and `compare` get targets. "auto" is the
        squared error of regressors, and the log loss of classifiers, or the share of
        wrong classes without probabilities. A callable ``loss(y, prediction)`` returns
        one number for each row. None splits no loss.
    method : {"auto", "exact", "sampling"}, default="auto"
        "exact" takes all rows of both tables for each other: fast for trees and linear
        models; other models may have up to 15 features, and are evaluated for all
        coalitions of these. "sampling" takes random pairs of an old and a new row.
        "auto" is "exact" for trees and linear models.
    n_permutations : int, default=16
        Number of random orders of the features with "sampling", for each row.
    feature_groups : dict of str to list, default=None
        Features that contribute together, as one.
    response_method : str, list of str or callable, default="auto"
        The response. "auto" takes `predict` of regressors, and of classifiers
        `predict_proba` or else `decision_function`.
    target : class label or int, default=None
        Output to keep. None keeps the only one, the positive class of a binary
        classifier, or all.
    cv : int, cross-validation splitter, iterable of splits, or None, default=None
        Folds for the losses of the old rows, unless the estimator is frozen: they are
        those of clones that have not seen the row.
    correction : {"holm", "bh"} or None, default="holm"
        Adjustment of the p-values of all features, outputs and tables of a call.
    alpha : float, default=0.05
        Intervals have the level 1 - `alpha`.
    subsample : int, float or None, default=None
        Number or share of the old rows to use; None takes all.
    random_state : int, RandomState or None, default=None
        Draws the subsample, pairs and orders, and the folds of the model of the loss.
    n_jobs : int or None, default=None
        Number of workers.
    verbose : int or None, default=None
        1 prints the share done and the time left, 0 nothing. None writes one line to
        the standard error of calls that will take more than five seconds.

    Attributes
    ----------
    estimator_ : estimator
        The fitted model.
    base_values_ : float or ndarray of shape (k,)
        Mean response to the old rows.
    standard_errors_ : float or ndarray of shape (k,)
        Standard error of this mean.
    method_ : {"exact", "sampling"}
        The method.
    features_, player_names_ : list
        Columns and name of each feature or group.
    output_names_ : list
        Class labels, or positions of outputs.
    n_features_in_, feature_names_in_, classes_ : int, ndarray, ndarray
        Number of features; their names, if the columns have any; class labels.

    Raises
    ------
    ValueError
        In `fit`: ``method="exact"`` with a model that is called and more than 15
        features.

    See Also
    --------
    ErrorSlices : Where the loss is large.
    sklearn_interpret.shapley.ShapleyValues : Single predictions.

    Notes
    -----
    Sampled contributions also sum to the change exactly, since each row is in pairs of
    its share of all rows. They are exact for additive models.

    Standard errors come from the contributions by new row, and by old row; those of
    pairs include the sampling. Intervals and p-values are Student's, with Welch's
    degrees of freedom. They take rows for independent.

    A feature contributes through the model: a column may change without one. One of two
    correlated columns gets what the model takes from it, whichever was the cause.
    Contributions to the loss are only as good as the model of the loss, five small
    boosted models, each of which is compared with losses that it has not seen. What
    they miss, such as rows unlike all old ones, is in "targets given features", like
    all of it with fewer than 50 old rows.

    References
    ----------
    Zhang, H., Singh, H., Ghassemi, M. & Joshi, S. (2023). "Why did the model fail?":
    attributing model performance changes to distribution shifts. ICML.
    https://doi.org/10.48550/arXiv.2210.10769

    Budhathoki, K., Janzing, D., Bloebaum, P. & Ng, H. (2021). Why did the distribution
    change? AISTATS. https://doi.org/10.48550/arXiv.2102.13384

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.ensemble import RandomForestRegressor
    >>> from sklearn_interpret.diagnosis import ChangeAttribution
    >>> rng = np.random.default_rng(0)
    >>> X, X_new = rng.normal(size=(300, 3)), rng.normal(size=(200, 3))
    >>> X_new[:, 1] += 1
    >>> y = X[:, 0] + 2 * X[:, 1]
    >>> model = RandomForestRegressor(20, max_depth=4, random_state=0)
    >>> change = ChangeAttribution(model).fit(X, y).compare(X_new)
    >>> bool(abs(change.values.sum() - (change.new - change.old)) < 1e-10)
    True
    >>> [bool(p < 0.05) for p in change.adjusted_pvalues]
    [False, True, False]
    """

    loss: str | Callable[..., Any] | None = "auto"
    method: str = "auto"
    n_permutations: int = 16
    feature_groups: dict[str, Any] | None = None
    response_method: str | Sequence[str] | Callable[..., Any] = "auto"
    target: Any = None
    cv: Any = None
    correction: str | None = "holm"
    alpha: float = 0.05
    subsample: float | None = None
    random_state: int | np.random.RandomState | None = None
    n_jobs: int | None = None
    verbose: int | None = None

    base_values_: float | NDArray[np.float64] = field(init=False)
    standard_errors_: float | NDArray[np.float64] = field(init=False)
    method_: str = field(init=False)
    features_: list[tuple[int, ...]] = field(init=False)
    player_names_: list[str] = field(init=False)
    output_names_: list[Any] = field(init=False)

    _parameter_constraints = {
        **RefittingMixin._parameter_constraints,
        "loss": [StrOptions({"auto", *ROW_LOSS_NAMES}), callable, None],
        "method": [StrOptions({"auto", "exact", "sampling"})],
        "n_permutations": [Interval(Integral, 2, None, closed="left")],
        "cv": ["cv_object"],
        "correction": [StrOptions({"holm", "bh"}), None],
        "alpha": [Interval(Real, 0, 1, closed="neither")],
    }

    _errors_count_rows = True
    # What `fit` computes comes from one fit; clones are fitted in `compare`.
    _refits = False
    _caches = (*RefittingMixin._caches, "_old_losses")

    def _inspect(self, sample: Sample, response: Response) -> None:
        self.features_, self.player_names_ = players_of(self, sample.rows)
        self._response, self._old = response, sample
        self._old_losses: NDArray[np.float64] | None = None
        self._seed = check_random_state(self.random_state).randint(2**31 - 1)
        moments = Moments.of_rows(
            plain_responses(response, sample.rows), sample.weights
        )
        self.output_names_ = response.output_names(len(moments.mean))
        self.base_values_ = _drop_single(moments.mean)
        self.standard_errors_ = _drop_single(moments.standard_error)
        self.method_, self._explainer = self._choose_method(sample, response)

    def _choose_method(
        self, sample: Sample, response: Response
    ) -> tuple[str, ShapleyValues | None]:
        """The method, and what explains new rows exactly against the old ones."""
        if self.method == "sampling":
            return "sampling", None
        is_asked = self.method == "exact"
        explainer = _explainer(
            self.estimator_,
            sample,
            budget=_MOST_COALITIONS if is_asked else _FEWEST_COALITIONS,
            **self._shapley_parameters(),
        )
        if explainer.algorithm_ in _EXACT[: 2 + is_asked]:
            return "exact", explainer
        if is_asked:
            raise ValueError(
                f'method="exact" takes at most 15 features of this model, and there '
                f"are {len(self.features_)}: join some by feature_groups, or use "
                'method="sampling".'
            )
        return "sampling", None

    def _shapley_parameters(self) -> dict[str, Any]:
        """Parameters of the Shapley values of the response."""
        return {
            "feature_groups": self._named_groups(),
            "response_method": self._response.method,
            "target": self.target,
            "n_jobs": self.n_jobs,
        }

    def _named_groups(self) -> dict[str, list[int]] | None:
        """The groups by positions of columns."""
        columns = dict(zip(self.player_names_, self.features_, strict=True))
        groups = self.feature_groups or {}
        return {str(name): list(columns[str(name)]) for name in groups} or None

    @shows_progress
    def compare(
        self,
        X_new: Any,
        y_new: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Any:
        """Split the change from the rows of `fit` to new rows.

        Parameters
        ----------
        X_new : {array-like, sparse matrix, DataFrame} of shape \
                (n_samples, n_features), or dict
            New rows. A dict has several tables by name, each as X, (X, y) or
            (X, y, sample_weight).
        y_new : array-like of shape (n_samples,), default=None
            Targets of the new rows; with those of `fit`, the change of the loss is
            split, too.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the new rows.

        Returns
        -------
        Change or Changes
            The change; of a dict, a mapping of its names to changes.

        Raises
        ------
        ValueError
            Targets here that `fit` had not, or that do not fit the loss.
        """
        check_is_fitted(self)
        several = isinstance(X_new, Mapping)
        tables = X_new if several else {"": (X_new, y_new, sample_weight)}
        if several and (y_new is not None or sample_weight is not None or not tables):
            raise ValueError(
                "A dict of tables needs at least one, each with its own targets and "
                "weights: {name: (X, y, sample_weight)}."
            )
        changes = {}
        for name, table in tables.items():
            parts = table if isinstance(table, tuple) else (table,)
            changes[str(name)] = self._change(*self._new_sample(*parts))
        _adjust(changes, self.correction)
        return Changes(changes) if several else changes[""]

    def _new_sample(
        self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None
    ) -> tuple[Sample, RowLoss | None]:
        """New rows, and the loss to split if there is one."""
        rows = self._check_rows(X, reset=False)
        weights = check_weights(sample_weight, rows, count_rows=True)
        row_loss = None
        if y is not None and self.loss is not None:
            check_not_missing(y)
            check_consistent_length(rows.native, y)
            if self._old.y is None:
                raise ValueError(
                    "The change of a loss takes targets of both tables: pass y to fit, "
                    "too, or no y_new."
                )
            row_loss = RowLoss.of_model(self._loss_of_model(), self.estimator_)
        return Sample.of_positive_weight(rows, y, weights), row_loss

    def _loss_of_model(self) -> Any:
        has_probabilities = hasattr(self.estimator_, "predict_proba")
        is_label = is_classifier(self.estimator_) and not has_probabilities
        return "zero_one" if self.loss == "auto" and is_label else self.loss

    def _change(self, new: Sample, row_loss: RowLoss | None) -> Change:
        """The change from the old rows to new ones."""
        old, explainer = self._old, self._explainer
        rng = np.random.default_rng(self._seed)
        if explainer is None:
            n_couplings = -(-self.n_permutations // 2)
            gains = gains_of_pairs(
                self._response,
                self.features_,
                (old, new),
                n_couplings,
                rng,
                self.n_jobs,
            )
        else:
            parameters = self._shapley_parameters()
            parameters["algorithm"] = explainer.algorithm_
            reverse = _explainer(self.estimator_, new, **parameters)
            gains = RowGains(-_values(reverse, old.rows), _values(explainer, new.rows))
        means = [
            shares_of(sample.weights) @ plain_responses(self._response, sample.rows)
            for sample in (old, new)
        ]
        change = self._with_intervals(
            gains, (old.weights, new.weights), means, self.player_names_
        )
        return replace(
            change,
            output_names=self.output_names_,
            response_name=self._response_name,
            loss=None if row_loss is None else self._loss_change(new, row_loss, rng),
        )

    def _with_intervals(
        self,
        gains: RowGains,
        weights: tuple[NDArray[np.float64], NDArray[np.float64]],
        means: Sequence[NDArray[np.float64]],
        names: Sequence[str],
    ) -> Change:
        """A change from the contributions by row and the means of both tables."""
        moments = [Moments.of_rows(*each) for each in zip(gains, weights, strict=True)]
        values = moments[1].mean
        size = np.abs(means).sum(axis=0) + np.abs(values).sum(axis=0)
        intervals = two_sample_intervals(values, moments, self.alpha, _ROUNDING * size)
        errors, low, high, pvalues = map(_drop_single, intervals)
        old_mean, new_mean = map(_drop_single, means)
        return Change(
            _drop_single(values),
            errors,
            low,
            high,
            pvalues,
            pvalues,
            old_mean,
            new_mean,
            feature_names=list(names),
            output_names=[0],
            alpha=self.alpha,
        )

    def _loss_change(
        self, new: Sample, row_loss: RowLoss, rng: np.random.Generator
    ) -> Change:
        """The change of the mean loss."""
        losses = self._old_losses
        if losses is None:
            losses = self._old_losses = losses_of_sample(self, self._old, row_loss)
        is_known = ~np.isnan(losses)
        old = Sample(
            self._old.rows.take(np.flatnonzero(is_known)),
            losses[is_known],
            self._old.weights[is_known],
        )
        new = replace(new, y=losses_of_rows(row_loss, new.rows, new.y))
        gains = self._gains_of_loss_model(old, new, rng)
        samples = old, new
        means = [shares_of(sample.weights) @ sample.y[:, None] for sample in samples]
        change = self._with_intervals(
            gains, (old.weights, new.weights), means, [*self.player_names_, TARGETS]
        )
        loss = row_loss.loss
        name = loss if isinstance(loss, str) else getattr(loss, "__name__", "loss")
        return replace(change, response_name=name)

    def _gains_of_loss_model(
        self, old: Sample, new: Sample, rng: np.random.Generator
    ) -> RowGains:
        """Contributions by row of the features, and last of the targets given these."""
        n_old, n_players = old.rows.n_rows, len(self.features_)
        columns = _coded_columns(old.rows.joined(new.rows))
        coded_new = Sample(as_rows(columns[n_old:]), None, new.weights)
        gains = RowGains(
            np.zeros((n_old, n_players + 1, 1)),
            np.zeros((new.rows.n_rows, n_players + 1, 1)),
        )
        fold_of_row = rng.permutation(n_old) % min(_N_FOLDS, n_old)
        for fold in range(fold_of_row.max() + 1):
            test = np.flatnonzero(fold_of_row == fold)
            # A single old row is in no other fold.
            train = np.flatnonzero(fold_of_row != fold) if n_old > 1 else test
            model = HistGradientBoostingRegressor(
                **_LOSS_TREES, random_state=self._seed
            )
            # Binning with weights takes much longer.
            weights = None if np.ptp(old.weights) == 0 else old.weights[train]
            model.fit(columns[:n_old][train], old.y[train], sample_weight=weights)
            coded = Sample(as_rows(columns[:n_old][test]), None, old.weights[test])
            settings = {"feature_groups": self._named_groups(), "n_jobs": self.n_jobs}
            reverse, forward = (
                _explainer(model, each, **settings) for each in (coded_new, coded)
            )
            share = old.weights[test].sum() / old.weights.sum()
            gains.old[test, :-1] = -_values(reverse, coded.rows)
            gains.new[:, :-1] += share * _values(forward, coded_new.rows)
            # The rest of the loss; old rows have it with the other sign.
            gains.old[test, -1, 0] = model.predict(columns[:n_old][test]) - old.y[test]
            gains.new[:, -1, 0] -= share * model.predict(columns[n_old:])
        rest = shares_of(old.weights) @ gains.old[:, -1]
        gains.new[:, -1, 0] += new.y + rest
        return gains

    def _result_blocks(self) -> list[dict[str, Any]]:
        """A line for each output: columns "output", "mean", the mean response to the
        old rows, and "standard_error". `compare` returns the changes from it.
        """
        return [
            {
                "output": as_objects(self.output_names_),
                "mean": np.ravel(self.base_values_),
                "standard_error": np.ravel(self.standard_errors_),
            }
        ]

    def _result_facts(self) -> dict[str, Any]:
        return {"method": self.method_}

    def _result_units(self) -> dict[str, str]:
        return dict.fromkeys(("mean", "standard_error"), self._response_name)


def _explainer(model: Any, background: Sample, **parameters: Any) -> ShapleyValues:
    """Shapley values of a fitted model with all rows of a sample as background."""
    explainer = ShapleyValues(
        FrozenEstimator(model), subsample=background.rows.n_rows, **parameters
    )
    return explainer.fit(background.rows.native, sample_weight=background.weights)


def _values(explainer: ShapleyValues, rows: Rows) -> NDArray[np.float64]:
    """Shapley values of rows, (n_rows, n_players, k)."""
    values = explainer.explain(rows.native).values
    return values if values.ndim == 3 else values[:, :, None]


def _coded_columns(rows: Rows) -> NDArray[np.float64]:
    """Columns as numbers; those of levels as codes."""
    columns = np.empty((rows.n_rows, rows.n_columns))
    for j, is_number in enumerate(rows.are_numbers):
        columns[:, j] = rows.numbers(j) if is_number else rows.encode_column(j)[0]
    return columns


def _drop_single(numbers: Any) -> Any:
    """Numbers (..., k) without the last axis if k is one."""
    return numbers[..., 0] if numbers.shape[-1] == 1 else numbers


def _adjust(changes: dict[str, Change], correction: str | None) -> None:
    """Adjust the p-values of all changes together, and those of losses together."""
    for of_loss in (False, True):
        parts = {name: each.loss if of_loss else each for name, each in changes.items()}
        known = {name: part for name, part in parts.items() if part is not None}
        if not known:
            continue
        pvalues = np.concatenate([part.pvalues.ravel() for part in known.values()])
        adjusted = adjusted_pvalues(pvalues, correction)
        ends = np.cumsum([part.pvalues.size for part in known.values()])[:-1]
        for (name, part), own in zip(
            known.items(), np.split(adjusted, ends), strict=True
        ):
            part = replace(part, adjusted_pvalues=own.reshape(part.pvalues.shape))
            changes[name] = replace(changes[name], loss=part) if of_loss else part
