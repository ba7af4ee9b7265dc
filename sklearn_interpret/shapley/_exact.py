"""Shapley values from all coalitions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any

from sklearn_interpret._inspectors.dependence import error_of_dependence
from sklearn_interpret._inspectors.params import estimator_dataclass
from sklearn_interpret._inspectors.players import NESTING_CONSTRAINTS
from sklearn_interpret._inspectors.sklearn_bases import available_if
from sklearn_interpret.shapley import _base
from sklearn_interpret.shapley._base import (
    AllCoalitions,
    BaseCoalitional,
    NestedCoalitions,
)

if TYPE_CHECKING:
    from sklearn_interpret.shapley._base import Attributor

# Largest number of players: the model is called for each of a million coalitions.
MOST_PLAYERS = 20
# Largest number of coalitions before each player, in all, if groups nest: their masks
# take some hundred megabytes.
MOST_NESTED = 2**20


@estimator_dataclass
class ExactShapley(BaseCoalitional):
    r"""Shapley values of any model, from all coalitions of features.

    The Shapley value of a feature is its fair share of the difference between the
    response to a row and the mean response:

    .. math:: \phi_j = \sum_{S \not\ni j} \frac{|S|!\,(p - |S| - 1)!}{p!}
        \left(v(S \cup j) - v(S)\right)

    v(S) is the mean response to the background's rows with the features in S replaced
    by those of the explained row.

    Parameters
    ----------
    estimator : estimator
        Any predictor; a clone of it is fitted. Pass a fitted one as
        ``FrozenEstimator(model)``.
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
    max_rows : int, default=None
        Largest number of rows that a call sends to the model; an error before says what
        is possible. None is no limit.
    link : {"identity", "logit"}, default="identity"
        Function of the mean responses that are attributed; "logit" maps probabilities
        to log-odds, and 0 and 1 to -36 and 36 with a warning.
    background : {array-like, sparse matrix, DataFrame}, default=None
        Rows that replace absent features; all are used, with equal weights. None draws
        `subsample` of the rows of `fit`, with their weights.
    feature_groups : dict of str to list or dict, or "correlation", default=None
        Features that are one player of the game or, with `within_groups`, are credited
        together; dicts nest groups in groups. "correlation", for `within_groups` alone,
        makes a binary tree of the features by the correlations of their ranks.
    response_method : str, list of str or callable, default="auto"
        "auto" takes `predict` of regressors, and of classifiers `predict_proba` or else
        `decision_function`. Or names of methods, of which the first that exists is
        taken, "centered_log_proba", or a callable ``f(estimator, X)``.
    target : class label, int or dict, default=None
        Output to keep, or a contrast {output: weight}. None keeps the only one, the
        positive class of a binary classifier, or all.
    subsample : int, float or None, default=100
        Number or share of the rows of `fit` in the background; None takes all.
    random_state : int, RandomState or None, default=None
        Draws the subsample.
    n_jobs : int or None, default=None
        Number of workers, among which the rows to explain are split.
    verbose : int or None, default=None
        1 prints the share done and the time left, 0 nothing. None writes one line to
        the standard error of calls that will take more than five seconds.

    Attributes
    ----------
    estimator_ : estimator
        The fitted model.
    base_values_ : float or ndarray of shape (k,)
        The mean response over the background, after the link; with `dependence`, over
        all rows of `fit` if `background` is None.
    background_ : {ndarray, sparse matrix, DataFrame}
        The rows of the background.
    feature_importances_ : ndarray of shape (`n_features_in_`,)
        Mean absolute attribution over the drawn rows of `fit`, and over outputs.
        Computed on first access.
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
    ValueError
        In `fit`: more than 20 players. With ``link="logit"``, mean responses that are
        not probabilities.

    Warns
    -----
    SaturatedResponseWarning
        If mean responses of 0 or 1 are clipped, with ``link="logit"``.

    See Also
    --------
    TreeSHAP : Exact for models of trees, at a fraction of the cost.
    ShapleySampling : For more features, from permutations.

    Notes
    -----
    For a row with a features that differ from the background, the model gets :math:`2^a
    - 2` rows for each row of the background, and two more. Features with the same value
    in the row and all of the background have a Shapley value of zero at no cost.

    References
    ----------
    Shapley, L. S. (1953). A value for n-person games. Contributions to the Theory of
    Games 2. https://doi.org/10.1515/9781400881970-018

    Strumbelj, E. & Kononenko, I. (2014). Explaining prediction models and individual
    predictions with feature contributions. Knowledge and Information Systems 41.
    https://doi.org/10.1007/s10115-013-0679-x

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> from sklearn_interpret.shapley import ExactShapley
    >>> X, y = load_iris(return_X_y=True)
    >>> inspector = ExactShapley(SVC(), target=0, random_state=0).fit(X, y)
    >>> explanation = inspector.explain(X[:2])
    >>> explanation.values.shape
    (2, 4)
    >>> bool(abs(explanation.additivity_error()).max() < 1e-12)
    True
    """

    within_groups: bool = False
    causal_order: Sequence[Any] | None = None
    dependence: Any = None

    dependence_: Any = field(init=False)
    dependence_error_ = property(error_of_dependence)
    dependence_errors_: dict[str, float] = field(init=False)

    _parameter_constraints = {
        **BaseCoalitional._parameter_constraints,
        **NESTING_CONSTRAINTS,
    }

    interaction_values = available_if(_base.has_one_level)(_base.interaction_values)

    def _make_attributor(self) -> Attributor:
        hierarchy, n_players = self._nesting.hierarchy, len(self.features_)
        if hierarchy is not None:
            if hierarchy.n_coalitions > MOST_NESTED:
                raise ValueError(
                    f"ExactShapley evaluates all coalitions that the groups allow, "
                    f"up to {hierarchy.n_coalitions} for {n_players} players (at most "
                    f"{MOST_NESTED}): use TreeSHAP or LinearSHAP where the model "
                    "allows it, ShapleySampling, or smaller groups."
                )
            return NestedCoalitions(hierarchy)
        if n_players > MOST_PLAYERS:
            raise ValueError(
                f"ExactShapley evaluates all coalitions, which are too many for "
                f"{n_players} players (at most {MOST_PLAYERS}): use TreeSHAP or "
                "LinearSHAP where the model allows it, KernelSHAP or ShapleySampling, "
                "or join features by feature_groups."
            )
        return AllCoalitions()
