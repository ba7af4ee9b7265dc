"""Attack by many steps along the slopes, within a budget (Madry et al. 2018)."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from sklearn_interpret._core.search.norm_balls import project_onto_ball
from sklearn_interpret._model._sklearn_compat import Interval
from sklearn_interpret._model.progress import with_progress
from sklearn_interpret.adversarial._base import AttackResult, BaseGradientAttack, Budget

if TYPE_CHECKING:
    from sklearn_interpret._model.actions.actionability import Actionability
    from sklearn_interpret._model.actions.problem import SearchProblem
    from sklearn_interpret._model.actions.target import TargetOutcome
    from sklearn_interpret._model.rows.sample import Sample

# Default size of a step, in units of epsilon over the number of steps: rows reach the
# end of the budget and can move along it (Madry et al. 2018).
_RELATIVE_STEP_SIZE = 2.5


class _Climbs(NamedTuple):
    """The rows that n climbs end with: on target, or of the largest margin."""

    values: NDArray[np.float64]  # (n, p)
    margins: NDArray[np.float64]  # (n,)
    succeeded: NDArray[np.bool_]  # (n,)


@dataclass(eq=False, repr=False)
class ProjectedGradient(BaseGradientAttack):
    r"""Many small steps along the slopes of the model, within a budget (Madry et al.).

    From the row itself, all steps go towards the class to which a single step of the
    full size comes nearest; from a random start, each step goes towards the class that
    is nearest to winning at the current point. The search for a row ends as soon as its
    target is satisfied.

    Parameters
    ----------
    estimator : estimator
        A model with slopes; a clone of it is fitted. Pass a fitted one as
        ``FrozenEstimator(model)``.
    epsilon : float, default=0.3
        Largest size of the perturbation, in `norm` and `units`.
    n_steps : int, default=40
        Number of steps from each start.
    step_size : float, default=None
        Size of a step, as `epsilon`; None means 2.5 times `epsilon` over `n_steps`.
    n_restarts : int, default=1
        Number of further starts, at random within the budget, of rows for which the
        steps from the row itself do not succeed.
    target : class label or int, default=None
        The class to be reached; None means any other than the row's own. Of a regressor
        with several outputs, the output.
    desired : (low, high), default=None
        Of a regressor: the interval to be reached, with None for an open end.
    norm : {"inf", "2", "1"}, default="inf"
        Norm of the perturbation.
    units : {"std", "raw"}, default="std"
        Unit of the numbers: the standard deviation of their feature in `fit`, or the
        number itself.
    bounds : (low, high) or dict, default=None
        Limits of the numbers: a pair of numbers, or of arrays of one for each feature,
        or pairs by feature. None, or a feature left out, means the lowest and
        highest in `fit`. A number that lies outside may enter, or stays as it is.
    features_to_vary : list of ints or strs, or bool mask, default=None
        Features that may change; None means all numbers. Categories stay.
    random_state : int, RandomState or None, default=None
        For the starts, which are the same for all rows.
    n_jobs : int or None, default=None
        Workers, which share the rows.
    verbose : int or None, default=None
        1 prints the share done and the time left, 0 nothing. None writes one line to
        the standard error of calls that will take more than five seconds.

    Attributes
    ----------
    estimator_ : estimator
        The fitted model.
    by_formula_ : bool
        Whether slopes follow from the model's formula, rather than from differences of
        its responses.
    n_features_in_, feature_names_in_, classes_ : int, ndarray, ndarray
        Number of features; their names, where the columns have any; class labels.

    Raises
    ------
    UnreadableModelError
        In `fit`: a model whose responses change in steps, such as trees.
    ValueError
        In `fit`: a class, an interval or bounds that do not fit the model or the
        table.
    TypeError
        In `fit`: a sparse table.

    See Also
    --------
    FastGradientSign : One step.
    MinimalPerturbation : The smallest step that is enough.

    Notes
    -----
    From :math:`x_0`, the row itself or a random start,

    .. math:: x_{t+1} = \Pi\left(x_t +
        \arg\max_{\|\delta\| \le \alpha} \delta^\top \nabla (f_k - f_y)(x_t)\right)

    where y is the row's own class, k the other class (from a random start the best one
    at :math:`x_t`), and :math:`\Pi` the projection on the ball of radius `epsilon` and
    the bounds. If neither a row on the way succeeds nor the one of
    :class:`FastGradientSign`, the one with the largest margin is returned. Where scores
    are linear and `target` is None, this is the latter, but for rows outside of their
    bounds.

    References
    ----------
    Madry, A., Makelov, A., Schmidt, L., Tsipras, D. & Vladu, A. (2018). Towards deep
    learning models resistant to adversarial attacks. ICLR.
    https://doi.org/10.48550/arXiv.1706.06083

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> from sklearn_interpret.adversarial import ProjectedGradient
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> attack = ProjectedGradient(SVC(), epsilon=0.3, random_state=0).fit(X, y)
    >>> explanation = attack.explain(X[70:73], y[70:73])
    >>> explanation.valid
    array([ True, False,  True])
    >>> bool((explanation.distances <= 0.3).all())
    True
    """

    estimator: Any
    _: KW_ONLY
    epsilon: float = 0.3
    n_steps: int = 40
    step_size: float | None = None
    n_restarts: int = 1
    target: Any = None
    desired: tuple[float | None, float | None] | None = None
    norm: str = "inf"
    units: str = "std"
    bounds: Any = None
    features_to_vary: Any = None
    random_state: int | np.random.RandomState | None = None
    n_jobs: int | None = None
    verbose: int | None = None

    _parameter_constraints = {
        **BaseGradientAttack._parameter_constraints,
        "n_steps": [Interval(Integral, 1, None, closed="left")],
        "step_size": [Interval(Real, 0, None, closed="neither"), None],
        "n_restarts": [Interval(Integral, 0, None, closed="left")],
    }

    def _fit_search(
        self, sample: Sample, outcome: TargetOutcome, actionability: Actionability
    ) -> None:
        super()._fit_search(sample, outcome, actionability)
        rng = check_random_state(self.random_state)
        shape = self.n_restarts, len(actionability.vary)
        # Slopes that give the directions of random starts, and their sizes as fractions
        # of epsilon.
        self._start_directions = rng.normal(size=shape)
        self._start_fractions = rng.uniform(size=self.n_restarts)

    def _attack(self, problem: SearchProblem, index: NDArray[np.intp]) -> AttackResult:
        budget = Budget(problem, index, self.epsilon)
        best, rivals = self._one_step(budget)
        if self._is_linear:  # no other row has a larger margin
            return AttackResult(best)
        remaining = np.flatnonzero(~problem.holds(best, index))
        margins = np.full(len(index), np.inf)
        failed = problem, best[remaining], index[remaining]
        margins[remaining] = self._margins.margins_at(*failed).margin
        starts = [(np.zeros(budget.low.shape[1]), 0.0)]
        starts += zip(self._start_directions, self._start_fractions, strict=True)
        # Only from the row itself all steps go towards the same rival.
        rivals_of_starts = [rivals, *[None] * self.n_restarts]
        for (direction, fraction), rivals_of_start in zip(
            with_progress(starts), rivals_of_starts, strict=True
        ):
            if not len(remaining):
                break
            remaining_budget = budget.take(remaining)
            slopes = np.tile(direction, (len(remaining), 1))
            perturbations = remaining_budget.farthest(slopes, fraction * budget.epsilon)
            if rivals_of_start is not None:
                rivals_of_start = rivals_of_start[remaining]
            climbs = self._climb(remaining_budget, perturbations, rivals_of_start)
            is_better = climbs.succeeded | (climbs.margins > margins[remaining])
            best[remaining[is_better]] = climbs.values[is_better]
            margins[remaining[is_better]] = climbs.margins[is_better]
            remaining = remaining[~climbs.succeeded]
        return AttackResult(best)

    def _climb(
        self,
        budget: Budget,
        perturbations: NDArray[np.float64],
        rivals_of_start: NDArray[np.intp] | None,
    ) -> _Climbs:
        """Climb from some perturbations (n, p), until rows satisfy the target.

        `rivals_of_start` (n,) are the rivals that rows move towards; None takes the
        best rival in each step.
        """
        problem, n = budget.problem, len(perturbations)
        size = self.step_size or _RELATIVE_STEP_SIZE * budget.epsilon / self.n_steps
        climbs = _Climbs(budget.origins.copy(), np.full(n, -np.inf), np.zeros(n, bool))
        active = np.arange(n)  # the rows that still climb
        for _ in with_progress(range(self.n_steps + 1)):
            index = budget.index[active]
            values = budget.take(active).rows_after(perturbations)
            rival, margin, _ = self._margins.margins_at(problem, values, index)
            reached = np.flatnonzero(margin >= 0)
            holds = np.zeros(len(active), dtype=bool)
            holds[reached] = problem.holds(values[reached], index[reached])
            is_better = holds | (margin > climbs.margins[active])
            climbs.values[active[is_better]] = values[is_better]
            climbs.margins[active[is_better]] = margin[is_better]
            climbs.succeeded[active] = holds
            active, index, values = active[~holds], index[~holds], values[~holds]
            if not len(active):
                break
            rival = (
                rival[~holds] if rivals_of_start is None else rivals_of_start[active]
            )
            slopes = self._margins.slopes(problem, values, index, rival)
            active_budget = budget.take(active)
            moved = active_budget.farthest(slopes, float(size), perturbations[~holds])
            perturbations = project_onto_ball(moved, budget.epsilon, budget.norm)
        return climbs
