"""Shapley values by the estimator that suits the model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field
from numbers import Integral
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.frozen import FrozenEstimator
from sklearn.utils.validation import check_is_fitted

from sklearn_interpret._inspectors.attribution import Attributions, BaseAttribution
from sklearn_interpret._inspectors.dependence import (
    DEPENDENCE_CONSTRAINTS,
    NO_DEPENDENCE,
)
from sklearn_interpret._inspectors.params import estimator_dataclass
from sklearn_interpret._inspectors.players import (
    NESTING_CONSTRAINTS,
    nesting_of,
    players_of,
)
from sklearn_interpret._inspectors.sklearn_bases import available_if
from sklearn_interpret._model._sklearn_compat import Interval, StrOptions
from sklearn_interpret._model.formulas.formula import read_formula
from sklearn_interpret._model.formulas.linear import explained_linear
from sklearn_interpret._model.formulas.trees.tree_response import explained_response
from sklearn_interpret._model.rows.base import Rows
from sklearn_interpret._model.rows.sample import Sample
from sklearn_interpret.shapley import _base
from sklearn_interpret.shapley._base import TOLERANCE_CONSTRAINTS
from sklearn_interpret.shapley._exact import MOST_PLAYERS, ExactShapley
from sklearn_interpret.shapley._kernel import KernelSHAP
from sklearn_interpret.shapley._linear import LinearSHAP
from sklearn_interpret.shapley._sampling import ShapleySampling
from sklearn_interpret.shapley._tree import TreeSHAP

_ESTIMATORS: dict[str, type[Any]] = {
    "tree": TreeSHAP,
    "linear": LinearSHAP,
    "exact": ExactShapley,
    "kernel": KernelSHAP,
    "permutation": ShapleySampling,
}

# Default number of background rows of the algorithms that call the model for each.
_BACKGROUND_ROWS = 100
# Default number of coalitions, up to which "auto" is exact: all of ten players.
_BUDGET = 2**10


def _has_interaction_values(inspector: Any) -> bool:
    """Whether the chosen estimator has interaction values."""
    _base.has_one_level(inspector)
    algorithm = getattr(inspector, "algorithm_", inspector.algorithm)
    estimator = _ESTIMATORS.get(algorithm)  # None for "auto" before `fit`
    return estimator is None or hasattr(estimator, "interaction_values")


@estimator_dataclass
class ShapleyValues(BaseAttribution):
    """Shapley values of any model, by the estimator that suits it.

    The Shapley value of a feature is its fair share of the difference between the
    response to a row and the mean response; :class:`ExactShapley` has the formula.

    Parameters
    ----------
    estimator : estimator
        Any predictor; a clone of it is fitted. Pass a fitted one as
        ``FrozenEstimator(model)``.
    algorithm : str, default="auto"
        "tree" is :class:`TreeSHAP`, "linear" :class:`LinearSHAP`, "exact"
        :class:`ExactShapley`, "kernel" :class:`KernelSHAP`, "permutation"
        :class:`ShapleySampling`. "auto" takes the first of these that can explain the
        response exactly, and else "kernel", or "permutation" with `within_groups` or
        a `causal_order`. With `max_rows` it takes "kernel" instead of "exact", whose
        values are the same if the rows suffice for all coalitions.
    budget : int or None, default=None
        Largest number of coalitions that are evaluated for each row. "auto" takes
        "exact" if there are no more, "kernel" evaluates this number, and "permutation"
        takes as many permutations as it allows. None is 1024 for "auto", enough for 10
        features, and the default of the other estimators.
    tolerance : float, default=None
        Largest error of a row's values that is allowed, as a share of its largest
        value: "kernel" and "permutation" evaluate no more coalitions of a row once
        2.5 times its largest standard error is below. None evaluates all.
    max_rows : int, default=None
        Largest number of rows that a call sends to the model: fewer coalitions are
        evaluated if needed, and an error before says what is possible. None is no
        limit.
    background : {array-like, sparse matrix, DataFrame}, default=None
        Rows that replace absent features; all are used, with equal weights. None draws
        `subsample` of the rows of `fit`, with their weights.
    feature_groups : dict of str to list or dict, or "correlation", default=None
        Features that are one player of the game or, with `within_groups`, are credited
        together; dicts nest groups in groups. "correlation", for `within_groups` alone,
        makes a binary tree of the features by the correlations of their ranks.
    within_groups : bool, default=False
        Whether each feature gets a value inside its groups (Owen, 1977; Winter, 1989):
        the members of a group join one after the other, and share its value.
    causal_order : list of lists of features, default=None
        All features or groups, causes first: each joins after those of earlier lists
        (Frye et al., 2020). None takes all orders.
    dependence : str, regressor, callable or None, default=None
        How absent features depend on the present ones. None takes them from the
        background as they are; other kinds give :math:`v(S) = E[f(X) | X_S = x_S]`,
        estimated from all rows of `fit`, or of `background`. "gaussian" and "copula"
        draw from normal distributions, of numbers or of ranks and levels, once for each
        row of the background; "neighbors" weighs as many nearest rows; "regression", or
        a regressor, is fitted to the response for each coalition. A callable
        ``sampler(X, columns, n_draws)`` returns `n_draws` rows for each row of X, with
        its values at the positions `columns`. "auto" takes the smallest
        `dependence_error_`.
    response_method : str, list of str or callable, default="auto"
        The explained response. "auto" depends on the algorithm: "tree" and "linear"
        explain the sum of trees or the linear function (margins of boosted classifiers,
        log-odds of logistic regression), the others `predict_proba`, else
        `decision_function`, of classifiers and `predict` of regressors.
    target : class label, int or dict, default=None
        Output to keep, or a contrast {output: weight}. None keeps the only one, the
        positive class of a binary classifier, or all.
    subsample : int, float or None, default=None
        Number or share of the rows of `fit` in the background. None takes all for
        "tree" and "linear", which costs little, and 100 for the others.
    random_state : int, RandomState or None, default=None
        Seed of the subsample and of sampled coalitions or permutations.
    n_jobs : int or None, default=None
        Number of workers.
    verbose : int or None, default=None
        1 prints the share done and the time left, 0 nothing. None writes one line to
        the standard error of calls that will take more than five seconds.

    Attributes
    ----------
    algorithm_ : str
        The algorithm that was chosen.
    inspector_ : estimator
        The fitted estimator of that algorithm.
    estimator_ : estimator
        The fitted model.
    base_values_ : float or ndarray of shape (k,)
        The mean response over the background; with `dependence`, over all rows of `fit`
        if `background` is None.
    background_ : {ndarray, sparse matrix, DataFrame}
        The rows of the background.
    feature_importances_ : ndarray of shape (`n_features_in_`,)
        Mean absolute Shapley value over the rows of `fit` that were drawn, mean over
        outputs. Computed on first access.
    features_, player_names_ : list
        Columns and name of each player.
    dependence_ : str, regressor or callable
        The kind of dependence, with `dependence`.
    dependence_error_ : float
        Mean of (f(X) - v(S))**2 over held-out rows and random coalitions: what one kind
        has less than another is nearer to the true v. Computed on first access.
    dependence_errors_ : dict of str to float
        The same for each kind, with ``dependence="auto"``.
    response_method_, output_names_ : str or callable, list
        The explained response; class labels, or positions of outputs.
    n_features_in_, feature_names_in_, classes_ : int, ndarray, ndarray
        Number of features; their names, if the columns have any; class labels.

    Raises
    ------
    UnreadableModelError
        In `fit`, with "tree" or "linear": if the model or the response is not of that
        kind.
    ValueError
        In `fit`: too many features for "exact".

    Notes
    -----
    "auto" never trades exactness for speed: if the response is a link function of a sum
    of trees (the probabilities of boosting), for which :class:`TreeSHAP` rescales
    margins, the model itself is evaluated.

    References
    ----------
    Lundberg, S. M. & Lee, S.-I. (2017). A unified approach to interpreting model
    predictions. Advances in Neural Information Processing Systems 30.
    https://doi.org/10.48550/arXiv.1705.07874

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.ensemble import HistGradientBoostingRegressor
    >>> from sklearn.svm import SVR
    >>> from sklearn_interpret.shapley import ShapleyValues
    >>> X, y = load_diabetes(return_X_y=True)
    >>> ShapleyValues(HistGradientBoostingRegressor()).fit(X, y).algorithm_
    'tree'
    >>> inspector = ShapleyValues(SVR(), subsample=20, random_state=0)
    >>> inspector.fit(X[:, :4], y).algorithm_
    'exact'
    >>> inspector.explain(X[:2, :4]).values.shape
    (2, 4)
    """

    algorithm: str = "auto"
    budget: int | None = None
    tolerance: float | None = None
    max_rows: int | None = None
    background: Any = None
    feature_groups: dict[str, Any] | str | None = None
    within_groups: bool = False
    causal_order: Sequence[Any] | None = None
    dependence: Any = None
    response_method: str | Sequence[str] | Callable[..., Any] = "auto"
    target: Any = None
    subsample: float | None = None
    random_state: int | np.random.RandomState | None = None
    n_jobs: int | None = None
    verbose: int | None = None

    algorithm_: Literal["tree", "linear", "exact", "kernel", "permutation"] = field(
        init=False
    )
    inspector_: BaseAttribution = field(init=False)
    dependence_: Any = field(init=False)
    dependence_errors_: dict[str, float] = field(init=False)

    _parameter_constraints = {
        **BaseAttribution._parameter_constraints,
        **NESTING_CONSTRAINTS,
        **DEPENDENCE_CONSTRAINTS,
        "algorithm": [StrOptions({"auto", *_ESTIMATORS})],
        **TOLERANCE_CONSTRAINTS,
        "budget": [Interval(Integral, 2, None, closed="left"), None],
    }

    def _inspect(self, sample: Sample, response: Any) -> None:
        super()._inspect(sample, response)
        # The chosen estimator may explain another response method.
        self.response_method_ = self.inspector_.response_method_
        self.output_names_ = self.inspector_.output_names_

    def _choose_sample(
        self, rows: Rows, y: ArrayLike | None, weights: NDArray[np.float64]
    ) -> Sample:
        sample = Sample.of_positive_weight(rows, y, weights)
        self.algorithm_, self._all_rows = self._choose_algorithm(sample), sample
        subsample = self.subsample
        if subsample is None and self.algorithm_ not in ("tree", "linear"):
            subsample = _BACKGROUND_ROWS
        return self._draw(sample, subsample, self.random_state)

    def _choose_algorithm(self, sample: Sample) -> Any:
        """The algorithm: the user's, or the first that is exact within the budget."""
        if self.algorithm != "auto":
            return self.algorithm
        rows = sample.rows
        response = self.estimator_, self.response_method, self.target
        if self.dependence is None:
            trees = read_formula([explained_response], *response)
            if trees is not None and trees.additive and trees.agrees(rows):
                return "tree"
            if read_formula([explained_linear], *response, rows=rows) is not None:
                return "linear"
        self.features_, self.player_names_ = players_of(self, rows)
        hierarchy = nesting_of(self, sample).hierarchy
        n_coalitions = 2 ** len(self.features_)
        if hierarchy is not None:
            n_coalitions = hierarchy.n_coalitions
        budget = _BUDGET if self.budget is None else self.budget
        is_adjustable = self.max_rows is not None and hierarchy is None
        if n_coalitions <= min(budget, 2**MOST_PLAYERS) and not is_adjustable:
            return "exact"
        return "kernel" if hierarchy is None else "permutation"

    def _fit_base_values(
        self, background: Sample, response: Any
    ) -> NDArray[np.float64]:
        inspector = _ESTIMATORS[self.algorithm_](
            FrozenEstimator(self.estimator_),
            feature_groups=self.feature_groups,
            response_method=self.response_method,
            target=self.target,
            random_state=self.random_state,
            n_jobs=self.n_jobs,
        )
        rows, subsample = background, None
        if self.dependence is not None and self.background is None:
            # Conditional distributions are estimated from all rows.
            rows, subsample = self._all_rows, background.rows.n_rows
        del self._all_rows
        self._set_choices(inspector, subsample)
        inspector.fit(rows.rows.native, sample_weight=rows.weights)
        for name in ("dependence_", "dependence_errors_"):
            if hasattr(inspector, name):
                setattr(self, name, getattr(inspector, name))
        self.inspector_, self._response_name = inspector, inspector._response_name
        # Groups by correlation are those of the rows that it has drawn.
        self._nesting = inspector._nesting
        return np.atleast_1d(inspector.base_values_)

    def _set_choices(self, inspector: Any, subsample: int | None) -> None:
        """Set parameters that not all estimators have, and the budget."""
        inspector.set_params(subsample=subsample, **self._budget_parameters())
        choices = {
            "within_groups": self.within_groups,
            "causal_order": self.causal_order,
            "dependence": self.dependence,
        }
        for name, choice in choices.items():
            if name in inspector.get_params(deep=False):
                inspector.set_params(**{name: choice})
            elif choice is not None and choice is not False:
                raise ValueError(f'algorithm="{self.algorithm_}" takes no {name}.')
        # Exact algorithms, and those that send each row once, keep them anyway.
        for name in ("tolerance", "max_rows"):
            if name in inspector.get_params(deep=False):
                inspector.set_params(**{name: getattr(self, name)})

    @property
    def _takes_no_rows(self) -> bool:
        return getattr(self.inspector_, "_takes_no_rows", False)

    @property
    def dependence_error_(self) -> float:
        """Mean squared error of conditional means at rows that they were not fitted to.

        Computed on first access, from the rows of `fit`.
        """
        check_is_fitted(self)
        if self.dependence is None:
            raise AttributeError(NO_DEPENDENCE)
        inspector: Any = self.inspector_
        return inspector.dependence_error_

    def _budget_parameters(self) -> dict[str, Any]:
        """Parameters of the chosen estimator that follow from the budget."""
        if self.budget is None:
            return {}
        if self.algorithm_ == "kernel":
            return {"n_coalitions": max(self.budget, 4)}  # as it takes
        if self.algorithm_ == "permutation":
            # All coalitions of a permutation but the empty and the grand one.
            n_coalitions = max(len(self.features_) - 1, 1)
            return {"n_permutations": max(2, self.budget // n_coalitions)}
        return {}

    def _attribute(self, rows: Rows) -> Attributions:
        return self.inspector_._attribute(rows)

    def _pair_values(self, rows: Rows) -> NDArray[np.float64]:
        inspector: Any = self.inspector_
        return inspector._pair_values(rows)

    interaction_values = available_if(_has_interaction_values)(_base.interaction_values)
