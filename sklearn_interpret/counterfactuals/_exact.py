"""The provably nearest counterfactuals of linear models and of trees."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass, replace
from numbers import Real
from time import monotonic
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sklearn_interpret._core.search.linear_program import share_slack
from sklearn_interpret._core.search.programs import Goal
from sklearn_interpret._model._sklearn_compat import Interval, StrOptions
from sklearn_interpret._model.actions.actionability import LARGEST_INTEGER
from sklearn_interpret._model.actions.linear_search import LinearSearch
from sklearn_interpret._model.actions.problem import SearchProblem
from sklearn_interpret._model.formulas.formula import read_formula
from sklearn_interpret._model.formulas.linear import LinearModel, read_linear
from sklearn_interpret._model.formulas.trees.nearest import TreeSearch
from sklearn_interpret._model.formulas.trees.tree_response import read_trees
from sklearn_interpret._model.parallel import run
from sklearn_interpret._model.rows.features import resolve_keys
from sklearn_interpret.counterfactuals._base import BaseCounterfactual, SearchResult

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from sklearn_interpret._model.actions.actionability import Actionability
    from sklearn_interpret._model.actions.target import TargetOutcome
    from sklearn_interpret._model.rows.base import Rows
    from sklearn_interpret._model.rows.sample import Sample

# Parameters that may make a target impossible, in the order in which they are tried.
_LIMITS = (
    "constraints",
    "permitted_range",
    "direction",
    "features_to_vary",
    "max_changes",
)


@dataclass(eq=False, repr=False)
class ExactCounterfactual(BaseCounterfactual):
    """The nearest rows for which a linear model or trees reach a target, with a proof.

    Trees cut each feature into cells, within which they answer alike. A search by
    changes of one and two features gives a first row; branch and bound over the cells,
    by linear programs, proves it the nearest or finds nearer ones [1]_, [2]_. In linear
    models the features of largest gain per cost move first; whole numbers, levels,
    several classes and few changes take a small program.

    Parameters
    ----------
    estimator : estimator
        A linear model or a model of trees, or a pipeline that ends in one, if the steps
        before work column by column. It is cloned and fitted; pass a fitted one as
        :class:`~sklearn.frozen.FrozenEstimator`.
    desired : "other", class label or (low, high), default="other"
        The target outcome: another class, this class, a probability of `target` in an
        interval, or of a regressor a prediction in an interval. None stands for an open
        end.
    target : class label or int, default=None
        The class whose probability is meant.
    features_to_vary : list of ints or strs, or bool mask, default=None
        Features that may change; None means all.
    permitted_range : dict, "any" or None, default=None
        The values that features may take: (low, high) of a number or date; levels of
        a category. A value that lies outside may enter, or stay as it is. None, or a
        feature left out, means the values of `fit`: numbers from the lowest to the
        highest, extended to the row's own where that lies beyond; known levels. "any"
        lifts that. A feature with two whole numbers in `fit` takes only these in either
        case. A missing value may be filled, unless its feature has a `direction`.
    direction : dict, default=None
        Which way features may go: "increase" or "decrease".
    categorical_features : "auto", None, or list of ints or strs, default="auto"
        Features without order, or a boolean mask of them; None means none. "auto" takes
        categories, strings and booleans by dtype.
    max_changes : int, default=None
        Largest number of features that may change.
    distance : {"mad", "std", "gower"} or dict, default="mad"
        Changes add up, each in units of its feature's median absolute deviation (the
        standard deviation where that is zero), standard deviation, or range over the
        number of features; a change of a category, or of a missing value, counts as
        one unit. A dict gives the cost of a unit, and leaves "mad" for the others.
    n_counterfactuals : int, default=1
        Number of rows to find. Each is the nearest that leaves features with at least
        half of the changes of each row before it as they were: it is at least half as
        far from those as the nearest is from the explained row.
    steps : dict, "exact" or None, default=None
        Steps of numbers: a feature that changes takes a multiple of its step. None, or
        a feature left out, means that of the values of `fit`: 1 where all are whole,
        else the last of their decimals, but not below six significant digits of the
        largest value or a thousandth of the median absolute deviation, whichever is
        finer. "exact" allows all numbers of a column's dtype.
    constraints : list of (dict, float), default=None
        Linear constraints on numbers: coefficients by feature, and the upper bound of
        the sum of coefficient times value, to a relative 1e-9. Rows found keep them,
        even if the explained row does not; a missing number keeps none, and is filled.
    time_limit : float, default=10.0
        Seconds for each explained row, where the model has trees, after which the
        nearest so far is returned, with a lower bound. Zero leaves it at the first row
        found.
    objective : {"distance", "n_changed"}, default="distance"
        Whether to find the nearest row, or the nearest of those with the fewest
        changes.
    margin : float, default=0.0
        Required margin of the score: of the winning class over the others, or inside
        the interval, in units of the sum of the trees or of the linear function.
    region : bool, default=False
        Whether to widen each row found to a box in which all rows provably satisfy the
        target: `low` and `high` of the explanation. In models of trees each side of
        each changed number, then of the others, moves by one cell in turn until none
        can; in linear models the numbers share the slack of the function. They share
        the slack of `constraints`, too. Categories stay, and with `max_changes` all
        unchanged features.
    n_jobs : int or None, default=None
        Workers, which share the rows to explain.
    verbose : int or None, default=None
        1 prints the share done and the time left, 0 nothing. None writes one line to
        the standard error of calls that will take more than five seconds.

    Attributes
    ----------
    estimator_ : estimator
        The fitted model.
    classes_ : ndarray of shape (n_classes,)
        Class labels, of a classifier.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, where X has names that are strings.

    See Also
    --------
    RowExplanation : What `explain` returns, `lower_bounds` and `optimal` included.

    Notes
    -----
    The explanation has `lower_bounds`, below which no row satisfies the target, and
    `optimal`, which is true where the row found is proved the nearest to a relative
    1e-6 (4e-4 of linear models on single-precision numbers, whose sums are rounded), of
    those that change by multiples of `steps`. A linear model moves columns of more than
    1000 steps as real numbers, which are then rounded away from the row: the row found
    is at most the cost of one step farther than the nearest.
    With ``objective="n_changed"`` they speak of rows with as few changes. Where
    rounding decides, the model itself is asked; an end of all probabilities or
    predictions, which rounding alone reaches (a probability of 1), is impossible. With
    ``steps="exact"`` a threshold is passed by the next number that the model
    distinguishes from it. With `constraints` a number in models of trees goes no
    farther than a hundred times what makes up for all others of a constraint, which
    "impossible" takes for granted.

    The status "impossible" is proved; which parameter is the reason is sought in the
    time that is left, and may stay unknown.

    References
    ----------
    .. [1] Z. Cui, W. Chen, Y. He and Y. Chen (2015). "Optimal action extraction for
       random forests and boosted trees." KDD. https://doi.org/10.1145/2783258.2783281
    .. [2] A. Parmentier and T. Vidal (2021). "Optimal counterfactual explanations in
       tree ensembles." ICML. https://doi.org/10.48550/arXiv.2106.06631

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from sklearn_interpret.counterfactuals import ExactCounterfactual
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> tree = DecisionTreeClassifier(max_depth=2, random_state=0)
    >>> exact = ExactCounterfactual(tree, desired=1)
    >>> explanation = exact.fit(X, y).explain(X.iloc[:2])
    >>> explanation.optimal
    array([ True,  True])
    >>> explanation.to_frame()[["row", "feature", "before"]]
       row            feature  before
    0    0   petal width (cm)     0.2
    1    1   petal width (cm)     0.2
    """

    _: KW_ONLY
    constraints: list[tuple[dict[Any, float], float]] | None = None
    time_limit: float = 10.0
    objective: str = "distance"
    margin: float = 0.0
    region: bool = False
    n_jobs: int | None = None
    verbose: int | None = None

    _for_any_model = "GrowingSpheres and WachterCounterfactual take any model."

    _parameter_constraints = {
        **BaseCounterfactual._parameter_constraints,
        "constraints": [list, tuple, None],
        "time_limit": [Interval(Real, 0, None, closed="left")],
        "objective": [StrOptions({"distance", "n_changed"})],
        "margin": [Interval(Real, 0, None, closed="left")],
        "region": ["boolean"],
    }

    def _make_actionability(
        self, rows: Rows, weights: NDArray[np.float64]
    ) -> Actionability:
        actionability = super()._make_actionability(rows, weights)
        constraints = self.constraints or ()
        coefficients = np.zeros((len(constraints), rows.n_columns))
        bounds = np.zeros(len(constraints))
        for i, constraint in enumerate(constraints):
            by_column, bounds[i] = _parse_constraint(
                constraint, rows, actionability.categorical
            )
            coefficients[i, list(by_column)] = list(by_column.values())
        return actionability.with_constraints(coefficients, bounds)

    def _fit_search(
        self, sample: Sample, outcome: TargetOutcome, actionability: Actionability
    ) -> None:
        search_class = _search_class(outcome.estimator)
        problem = SearchProblem(outcome, actionability, sample.rows)
        self._searcher = search_class(problem, self.margin)

    def _search(
        self, problem: SearchProblem, index: NDArray[np.intp]
    ) -> Iterable[SearchResult]:
        return run(
            self._search_row,
            [(problem, row) for row in index.tolist()],
            n_jobs=self.n_jobs,
        )

    def _search_row(self, problem: SearchProblem, row: int) -> SearchResult:
        deadline = monotonic() + self.time_limit
        seconds = self.time_limit / self.n_counterfactuals
        goal = Goal(seconds, self.objective, self.max_changes)
        nearest, lower_bound = self._searcher.nearest(problem, row, goal)
        if nearest is not None:
            values = self._add_further_rows(problem, row, goal, nearest, deadline)
            reason = ""
            if len(values) < self.n_counterfactuals:
                reason = f"only {len(values)} rows were found that are apart"
            return SearchResult(values, reason, lower_bound)
        reason = f"nothing was found within time_limit={self.time_limit}"
        if isinstance(self._searcher, LinearSearch):
            reason = "no multiples of the steps of numbers were found; try smaller ones"
        if lower_bound == np.inf:
            reason = self._why_impossible(problem, row, deadline)
        nothing = np.empty((0, problem.values.shape[1]))
        return SearchResult(nothing, reason, lower_bound)

    def _add_further_rows(
        self,
        problem: SearchProblem,
        row: int,
        goal: Goal,
        nearest: NDArray[np.float64],
        deadline: float,
    ) -> NDArray[np.float64]:
        """The nearest encoded row, and further ones, each far from all rows before it.

        The searches for further rows share the time that is left.
        """
        counterfactuals, origin = [nearest], problem.values[[row]]
        costs = problem.actionability.costs
        while len(counterfactuals) < self.n_counterfactuals:
            latest = counterfactuals[-1][None]
            (changes,) = problem.actionability.changes(latest, origin)
            # Costs of very small changes would underflow.
            change_costs = changes / changes.max() * costs
            seconds = (deadline - monotonic()) / (
                self.n_counterfactuals - len(counterfactuals)
            )
            goal = replace(
                goal,
                change_shares=(*goal.change_shares, change_costs / change_costs.sum()),
                time_limit=max(seconds, 0.0),
            )
            following, _ = self._searcher.nearest(problem, row, goal)
            if following is None:
                break
            counterfactuals.append(following)
        return np.array(counterfactuals)

    def _why_impossible(self, problem: SearchProblem, row: int, deadline: float) -> str:
        """The limit without which there would be a row, if it is found in time."""
        texts = {name: name for name in _LIMITS if getattr(self, name) is not None}
        if self.permitted_range is None:
            texts["permitted_range"] = "the range of the data (permitted_range=None)"
        elif self.permitted_range == "any":
            del texts["permitted_range"]
        limits = list(texts)
        is_proved = True  # that the row stays impossible without any one limit
        for number, name in enumerate(limits):
            seconds = (deadline - monotonic()) / (len(limits) - number)
            is_possible, is_impossible = self._search_without_limits(
                [name], problem, row, seconds
            )
            if is_possible:
                leaves = "leave" if name == "constraints" else "leaves"
                return f"{texts[name]} {leaves} no row that satisfies the target"
            is_proved &= is_impossible
        if limits and is_proved:
            is_possible, is_proved = self._search_without_limits(
                limits, problem, row, deadline - monotonic()
            )
            if is_possible:
                return "no single limit is the reason: several of them together are"
        if is_proved:
            return "no row at all satisfies the target"
        return (
            "no row satisfies the target; the reason was not found within "
            f"time_limit={self.time_limit}"
        )

    def _search_without_limits(
        self, limits: list[str], problem: SearchProblem, row: int, seconds: float
    ) -> tuple[bool, bool]:
        """Whether a row is found without some limits, and whether none is possible.

        Both are False where the search does not decide in time.
        """
        if self.time_limit and seconds <= 0:
            return False, False
        actionability, max_changes = problem.actionability, self.max_changes
        for name in limits:
            if name == "max_changes":
                max_changes = None
            else:
                actionability = actionability.without_limits(name)
        goal = Goal(max(seconds, 0.0), "any", max_changes)
        values, lower_bound = self._searcher.nearest(
            problem.with_actionability(actionability), row, goal
        )
        return values is not None, lower_bound == np.inf

    def _proofs(
        self, results: list[SearchResult], problem: SearchProblem
    ) -> dict[str, NDArray[Any]]:
        lower_bounds = np.array([result.lower_bound for result in results])
        nearest, rounding = np.full(len(results), np.inf), np.zeros(len(results))
        for row, result in enumerate(results):
            distances = problem.distances(result.values, [row])
            nearest[row] = distances[:1].min(initial=np.inf)
            changed = result.values[:1] != problem.values[row]
            rounding[row] = (changed * self._searcher.step_costs).max(initial=0)
        smallest_possible = nearest * (1 - self._searcher.relative_gap) - rounding
        is_optimal = (smallest_possible <= lower_bounds) & np.isfinite(nearest)
        proofs = {"lower_bounds": lower_bounds, "optimal": is_optimal}
        if self.region:
            proofs["low"], proofs["high"] = self._regions(results, problem)
        return proofs

    def _regions(
        self, results: list[SearchResult], problem: SearchProblem
    ) -> NDArray[np.float64]:
        """Lowest and highest values (2, n_found, n_columns) of boxes around rows found.

        The box of a row that is unchanged is the row itself.
        """
        actionability, boxes = problem.actionability, []
        goal = Goal(self.time_limit, max_changes=self.max_changes)
        for row, result in enumerate(results):
            for values in result.values:
                low = high = values
                if not problem.fulfilled[row]:
                    low, high = self._searcher.region(problem, row, values, goal)
                    low, high = _constrained_box(actionability, values, low, high)
                    low, high = actionability.shrink_to_dtypes(low, high, values)
                boxes.append((low, high))
        ends = np.reshape(boxes, (-1, 2, problem.values.shape[1])).swapaxes(0, 1)
        ends[..., actionability.categorical] = np.nan
        largest = LARGEST_INTEGER * actionability.grid.steps
        # Less 1e-9, because the ends of grids are rounded.
        is_unbounded = actionability.stepped & (np.abs(ends) >= largest * (1 - 1e-9))
        return np.where(is_unbounded, np.copysign(np.inf, ends), ends)

    def _sort_keys(
        self, values: NDArray[np.float64], origins: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        distances = super()._sort_keys(values, origins)
        if self.objective == "distance":
            return distances
        n_changed = self._actionability.n_changed(values, origins)
        return np.lexsort((distances, n_changed)).argsort().astype(np.float64)


def _constrained_box(
    actionability: Actionability,
    values: NDArray[np.float64],
    low: NDArray[np.float64],
    high: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The box around an encoded row, cut so that all its rows keep the constraints."""
    if not len(actionability.bounds):
        return low, high
    # Moves down of all columns, then moves up: how far each may go, and what a unit of
    # it adds to the sum of each constraint.
    rooms = np.append(values - low, high - values)
    added = np.hstack([-actionability.coefficients, actionability.coefficients])
    losses = np.maximum(added, 0).T * (rooms[:, None] > 0)
    (excess,), *_ = actionability.excess(values[None])
    slack = np.maximum(-excess, 0)
    moves, _ = share_slack(rooms, losses, slack, np.tile(actionability.integer, 2))
    down, up = np.split(moves, 2)
    return np.maximum(low, values - down), np.minimum(high, values + up)


def _parse_constraint(
    constraint: Any, rows: Rows, categorical: NDArray[np.bool_]
) -> tuple[dict[int, float], float]:
    """Coefficients by column, and the bound, of a valid constraint."""
    if not isinstance(constraint, tuple | list) or len(constraint) != 2:
        raise ValueError(
            f"constraints has {constraint!r}; pairs (coefficients by feature, bound) "
            "are accepted."
        )
    coefficients, bound = constraint
    coefficients = resolve_keys(
        coefficients, rows.names, named=rows.named, parameter="constraints"
    )
    for number in (*coefficients.values(), bound):
        if not (isinstance(number, Real) and np.isfinite(float(number))):
            raise ValueError(
                f"constraints has the number {number!r} in {constraint!r}; finite "
                "numbers are accepted."
            )
    for j in coefficients:
        if categorical[j]:
            raise ValueError(
                f"constraints has a coefficient of {rows.names[j]!r}, which is a "
                "category; numbers are accepted."
            )
    if not any(coefficients.values()):
        raise ValueError(f"constraints has {constraint!r}, without a coefficient.")
    return coefficients, float(bound)


def _search_class(estimator: BaseEstimator) -> type[LinearSearch | TreeSearch]:
    """The class that searches a model of this kind."""
    model = read_formula([read_linear, read_trees], estimator, required=True)
    return LinearSearch if isinstance(model, LinearModel) else TreeSearch
