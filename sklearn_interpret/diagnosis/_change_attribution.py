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

    With targets, the change of the mean loss is split, too. Models of the loss given
    the features are fitted to the old rows, and the change of their mean is split in
    the same way. The rest is the contribution of "targets given features": the loss has
    changed at the same features.

    Parameters
    ----------
    estimator : estimator
        The predictor; a clone of it is fitted on the old rows. Pass a fitted predictor
        as ``FrozenEstimator(model)``, with old rows that it has not seen.
    loss : {"auto", "squared_error", "absolute_error", "log_loss", "brier", \
            "zero_one"}, callable or None, default="auto"
        Loss whose change is split if `fit` and `compare` get targets. "auto" is the
        squared error of regressors, and the log loss of classifiers. A callable
        ``loss(y, prediction)`` returns one number for each row. None splits no loss.
    n_permutations : int, default=16
        Number of random orders of the features for each row, with
        ``method_="sampling"``: see Notes.
    feature_groups : dict of str to list, default=None
        Features whose contribution is computed together.
    response_method : str, list of str or callable, default="auto"
        The response. "auto" takes `predict` of regressors, and of classifiers
        `predict_proba` or else `decision_function`.
    target : class label, int or dict, default=None
        Output to keep, or a contrast {output: weight}. None keeps the only one, the
        positive class of a binary classifier, or all.
    cv : int, cross-validation splitter, iterable of splits, or None, default=None
        Folds in which clones are fitted for the losses of the old rows, unless the
        estimator is frozen. No clone has seen the rows whose losses it gives.
    alpha : float, default=0.05
        Intervals have the level 1 - `alpha`.
    max_rows : int, default=None
        Largest number of rows that a call sends to the model; an error before says what
        is possible. None is no limit.
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
        Standard errors of `base_values_`.
    method_ : {"exact", "sampling"}
        "exact" if all old rows are the background of each new row, "sampling" if random
        pairs of rows are.
    features_, player_names_ : list
        Columns and name of each feature or group.
    output_names_ : list
        Class labels, or positions of outputs.
    n_features_in_, feature_names_in_, classes_ : int, ndarray, ndarray
        Number of features; their names, if the columns have any; class labels.

    See Also
    --------
    ErrorSlices : Where the loss is large.
    sklearn_interpret.shapley.ShapleyValues : Single predictions.

    Notes
    -----
    All old rows are the background of each new row if the model is a sum of trees, or
    linear. For any other model, random pairs of an old and a new row are sampled. In a
    random order, the old values are replaced by the new values one by one, and then in
    the reverse order: ``2 * (n_features - 1)`` predictions. These contributions sum to
    the change exactly, too, and are exact for additive models.

    Standard errors come from the contributions of single old and new rows, and include
    the sampling. Those of a loss include the differences between its models (jackknife
    over folds). Intervals and p-values use Student's t distribution with Welch's
    degrees of freedom, and assume independent rows. P-values are adjusted for all
    features, outputs and tables of a call (Holm), those of losses separately.

    A feature that the model does not use has no contribution to the mean response. Of
    two correlated features, the one that the model uses has the contribution,
    whichever was the cause. The loss is predicted by five small boosted models, each
    compared with losses that it has not seen. Their errors, for instance for rows
    unlike all old rows, are in "targets given features". With fewer than about 50 old
    rows, it has the whole change.

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
    >>> print(change.values.round(2), (change.new - change.old).round(2))
    [-0.01  2.06  0.  ] 2.05
    >>> change.adjusted_pvalues.round(2)
    array([1., 0., 1.])
    """

    loss: str | Callable[..., Any] | None = "auto"
    n_permutations: int = 16
    feature_groups: dict[str, Any] | None = None
    response_method: str | Sequence[str] | Callable[..., Any] = "auto"
    target: Any = None
    cv: Any = None
    alpha: float = 0.05
    max_rows: int | None = None
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
        "n_permutations": [Interval(Integral, 2, None, closed="left")],
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
        explainer = self._make_explainer(sample, budget=_FEWEST_COALITIONS)
        is_read = explainer.algorithm_ in ("tree", "linear")
        self.method_ = "exact" if is_read else "sampling"
        self._explainer = explainer if is_read else None

    def _make_explainer(self, background: Sample, **parameters: Any) -> ShapleyValues:
        """Shapley values of the response with rows as background."""
        return _explainer(
            self.estimator_,
            background,
            feature_groups=self._named_groups(),
            response_method=self._response.method,
            target=self.target,
            n_jobs=self.n_jobs,
            **parameters,
        )

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
        changes = _adjusted(
            [
                self._change(*(table if isinstance(table, tuple) else (table,)))
                for table in tables.values()
            ]
        )
        losses = iter(_adjusted([each.loss for each in changes if each.loss]))
        changes = [
            replace(each, loss=next(losses)) if each.loss else each for each in changes
        ]
        by_name = dict(zip(map(str, tables), changes, strict=True))
        return Changes(by_name) if several else changes[0]

    def _change(
        self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None
    ) -> Change:
        """The change from the old rows to new ones."""
        rows = self._check_rows(X, reset=False)
        weights = check_weights(sample_weight, rows, count_rows=True)
        new, old = Sample.of_positive_weight(rows, y, weights), self._old
        rng = np.random.default_rng(self._seed)
        means = [_mean(plain_responses(self._response, e.rows), e) for e in (old, new)]
        if self._explainer is None:
            n_couplings = -(-self.n_permutations // 2)
            settings = n_couplings, rng, self.n_jobs
            gains = gains_of_pairs(
                self._response, self.features_, (old, new), *settings
            )
        else:
            algorithm = self._explainer.algorithm_
            reverse = self._make_explainer(new, algorithm=algorithm)
            gains = RowGains(
                -_values(reverse, old.rows), _values(self._explainer, new.rows)
            )
        has_loss = y is not None and self.loss is not None
        return self._with_intervals(
            gains,
            (old, new),
            means,
            feature_names=list(self.player_names_),
            output_names=self.output_names_,
            response_name=self._response_name,
            loss=self._loss_change(self.loss, new, rng) if has_loss else None,
        )

    def _with_intervals(
        self,
        gains: RowGains,
        samples: tuple[Sample, Sample],
        means: Sequence[NDArray[np.float64]],
        *further: Moments,
        **names: Any,
    ) -> Change:
        """A change from the contributions by row and the means of both tables."""
        moments = [
            Moments.of_rows(each, sample.weights)
            for each, sample in zip(gains, samples, strict=True)
        ]
        values = moments[1].mean
        size = np.abs(means).sum(axis=0) + np.abs(values).sum(axis=0)
        intervals = two_sample_intervals(
            values, [*moments, *further], self.alpha, _ROUNDING * size
        )
        arrays = {**intervals._asdict(), "values": values, "old": means[0]}
        arrays |= {"new": means[1], "adjusted_pvalues": intervals.pvalues}
        numbers = {name: _drop_single(array) for name, array in arrays.items()}
        return Change(alpha=self.alpha, **numbers, **names)

    def _loss_change(self, loss: Any, new: Sample, rng: np.random.Generator) -> Change:
        """The change of the mean loss."""
        if self._old.y is None:
            raise ValueError(
                "The change of a loss takes targets of both tables: pass y to fit, "
                "too, or no y_new."
            )
        check_not_missing(new.y)
        check_consistent_length(new.rows.native, new.y)
        row_loss = RowLoss.of_model(loss, self.estimator_)
        if self._old_losses is None:
            self._old_losses = losses_of_sample(self, self._old, row_loss)
        old = replace(self._old, y=self._old_losses)
        old = old.take(np.flatnonzero(~np.isnan(self._old_losses)))
        new = replace(new, y=losses_of_rows(row_loss, new.rows, new.y))
        gains, of_models = self._gains_of_loss_model(old, new, rng)
        return self._with_intervals(
            gains,
            (old, new),
            [_mean(sample.y[:, None], sample) for sample in (old, new)],
            of_models,
            feature_names=[*self.player_names_, TARGETS],
            output_names=[0],
            response_name=getattr(row_loss.loss, "__name__", row_loss.loss),
        )

    def _gains_of_loss_model(
        self, old: Sample, new: Sample, rng: np.random.Generator
    ) -> tuple[RowGains, Moments]:
        """Contributions by row of the features, and last of the targets given these.

        Also the errors of the models of the loss.
        """
        n_old, groups = old.rows.n_rows, self._named_groups()
        columns = _coded_columns(old.rows.joined(new.rows))
        coded_old, coded_new = (
            replace(sample, rows=as_rows(part))
            for sample, part in zip((old, new), np.split(columns, [n_old]), strict=True)
        )
        by_row = np.zeros((len(columns), len(self.features_) + 1, 1))
        gains = RowGains(*np.split(by_row, [n_old]))
        is_weighted, by_fold = np.ptp(old.weights) > 0, []
        fold_of_row = rng.permutation(n_old) % min(_N_FOLDS, n_old)
        for fold in range(fold_of_row.max() + 1):
            # A single old row is in no other fold.
            train = coded_old.take(np.flatnonzero((fold_of_row != fold) | (n_old == 1)))
            positions = np.flatnonzero(fold_of_row == fold)
            test = coded_old.take(positions)
            model = HistGradientBoostingRegressor(
                **_LOSS_TREES, random_state=self._seed
            )
            # Binning with weights takes much longer.
            weights = train.weights if is_weighted else None
            model.fit(train.rows.native, train.y, sample_weight=weights)
            reverse, forward = (
                _explainer(model, each, feature_groups=groups, n_jobs=self.n_jobs)
                for each in (coded_new, test)
            )
            share = test.weights.sum() / old.weights.sum()
            reverse_values = -_values(reverse, coded_old.rows)
            gains.old[positions, :-1] = reverse_values[positions]
            of_fold = _mean(reverse_values, old)
            by_fold.append(np.vstack([of_fold, -of_fold.sum(axis=0)]))
            gains.new[:, :-1] += share * _values(forward, coded_new.rows)
            # The rest of the loss; old rows have it with the other sign.
            gains.old[positions, -1, 0] = model.predict(test.rows.native) - test.y
            gains.new[:, -1, 0] -= share * model.predict(coded_new.rows.native)
        gains.new[:, -1, 0] += new.y + _mean(gains.old[:, -1], old)
        # The jackknife of the models, as moments of a sample of folds.
        n_folds = len(by_fold)
        moments = Moments.of_rows(np.array(by_fold), np.ones(n_folds))
        return gains, replace(moments, m2=moments.m2 * (n_folds - 1) ** 2)

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
    return numbers[..., 0][()] if numbers.shape[-1] == 1 else numbers


def _mean(values: NDArray[np.float64], sample: Sample) -> NDArray[np.float64]:
    """Weighted mean over the rows."""
    return np.tensordot(shares_of(sample.weights), values, axes=1)


def _adjusted(changes: list[Change]) -> list[Change]:
    """Changes with p-values that are adjusted for all of them together."""
    sizes = [change.pvalues.size for change in changes]
    pvalues = [change.pvalues.ravel() for change in changes]
    adjusted = adjusted_pvalues(np.concatenate([*pvalues, []]), "holm")
    return [
        replace(change, adjusted_pvalues=part.reshape(change.pvalues.shape))
        for change, part in zip(
            changes, np.split(adjusted, np.cumsum(sizes)), strict=False
        )
    ]
