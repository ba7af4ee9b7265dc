"""Growing spheres: rows drawn around the explained one (Laugel et al. 2018)."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from numbers import Integral, Real
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from sklearn_interpret._model._sklearn_compat import Interval
from sklearn_interpret.counterfactuals._heuristic import (
    BaseHeuristicCounterfactual,
    Candidates,
)

if TYPE_CHECKING:
    from sklearn_interpret._model.actions.actionability import Actionability
    from sklearn_interpret._model.actions.problem import SearchProblem
    from sklearn_interpret._model.actions.target import TargetOutcome
    from sklearn_interpret._model.rows.sample import Sample

# Largest number of spheres inwards, and of layers outwards, where the last is
# 1.2**60 = 56 000 times as thick as the first.
_MAX_LAYERS = 60
# Radius of the smallest sphere: the least normal number.
_MIN_RADIUS = np.finfo(float).tiny
# Ratio of the thickness of a layer to the thickness of the layer within it: layers of
# equal thickness would need many calls to reach far. Chosen by hand.
_THICKENING = 1.2
# Spheres or layers of a row in one call of the model: larger numbers save calls, but
# ask about rows beyond the layer that is sought.
_LAYERS_PER_CALL = 4
# Number of nearest rows on target of each call that become candidates: the nearest row
# before refinement need not be the nearest after it.
_CANDIDATES_PER_CALL = 2


class _LayerSearch(NamedTuple):
    """Result of one call of the model about layers around rows."""

    has_target: NDArray[np.bool_]  # (n_rows, n_layers): whether a row is on target
    nearest: Candidates  # the nearest rows on target


@dataclass(eq=False, repr=False)
class GrowingSpheres(BaseHeuristicCounterfactual):
    r"""Counterfactuals in growing spheres (Laugel et al.).

    Rows are drawn in spheres around the explained row, smaller ones until none of them
    satisfies the target, then in layers farther and farther out until some do. Needless
    changes are undone, the others are made as small as the target allows.

    Parameters
    ----------
    estimator : estimator
        Any predictor; a clone of it is fitted. Pass a fitted one as
        ``FrozenEstimator(model)``.
    desired : "other", class label or (low, high), default="other"
        The target outcome: any other class, a class, or an interval of the probability
        of the positive class or of `target`; of a regressor an interval of the
        prediction. None is an open end.
    target : class label or int, default=None
        The class whose probability, or the output of which, `desired` is an interval.
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
        Number of rows to find. Each is at least half as far from those before it as the
        nearest is from the explained row.
    steps : dict, "exact" or None, default=None
        Steps of numbers: a feature that changes takes a multiple of its step. None, or
        a feature left out, means that of the values of `fit`: 1 where all are whole,
        else the last of their decimals, but not below six significant digits of the
        largest value or a thousandth of the median absolute deviation, whichever is
        finer. "exact" allows all numbers of a column's dtype.
    n_samples : int, default=100
        Number of rows drawn in each sphere and layer.
    first_radius : float, default=1.0
        Radius of the first sphere, in the unit of `distance`.
    decrease : float, default=2.0
        Divisor of the radius as long as rows in the sphere satisfy the target.
    max_rows : int, default=None
        Largest number of rows that a call sends to the model; an error before says what
        is possible. None is no limit.
    random_state : int, RandomState or None, default=None
        Draws directions, depths and new categories, once in `fit`.
    n_jobs : int or None, default=None
        Workers, which share the rows to explain.
    verbose : int or None, default=None
        1 prints the share done and the time left, 0 nothing. None writes one line to
        the standard error of calls that will take more than five seconds.

    Attributes
    ----------
    estimator_ : estimator
        The fitted model.
    n_features_in_, feature_names_in_, classes_ : int, ndarray, ndarray
        Number of features; their names, where the columns have any; class labels.

    Raises
    ------
    ValueError
        In `fit`: a target, a range, a direction or a distance that does not fit the
        model or the table.
    TypeError
        In `fit`: a sparse table.

    See Also
    --------
    WachterCounterfactual : Descends to the target.

    Notes
    -----
    Directions are drawn once, and are the same for all rows and radii. Between radii a
    and b, rows are spread evenly; categories and missing values change with the
    probability :math:`1 - \exp(-b)`. Each layer is a fifth thicker than the one within.

    Near rows of `fit` that satisfy the target are candidates too, projected on the
    values that the explained row may take, and so are the rows that a short search of
    :class:`WachterCounterfactual` finds by changes of single features. Refinement
    undoes changes, the costliest first, and then moves the numbers back in parts, as
    long as the model's answer satisfies the target. The rows of a call are searched
    together: each question goes to the model for all of them.

    References
    ----------
    Laugel, T., Lesot, M.-J., Marsala, C., Renard, X. & Detyniecki, M. (2018).
    Comparison-based inverse classification for interpretability in machine learning.
    Proceedings of IPMU 2018. https://doi.org/10.1007/978-3-319-91473-2_9

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from sklearn_interpret.counterfactuals import GrowingSpheres
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = RandomForestClassifier(n_estimators=20, random_state=0)
    >>> inspector = GrowingSpheres(model, max_changes=3, random_state=0).fit(X, y)
    >>> explanation = inspector.explain(X[50:52])
    >>> explanation.status
    array(['found', 'found'], dtype=object)
    >>> bool((inspector.predict(explanation.rows) != inspector.predict(X[50:52])).all())
    True
    """

    _: KW_ONLY
    n_samples: int = 100
    first_radius: float = 1.0
    decrease: float = 2.0
    max_rows: int | None = None
    random_state: int | np.random.RandomState | None = None
    n_jobs: int | None = None
    verbose: int | None = None

    _parameter_constraints = {
        **BaseHeuristicCounterfactual._parameter_constraints,
        "n_samples": [Interval(Integral, 1, 10**6, closed="both")],
        "first_radius": [Interval(Real, 0, None, closed="neither")],
        "decrease": [Interval(Real, 1, None, closed="neither")],
    }

    _where_searched: ClassVar[str] = "near the rows of fit, nor in the spheres"

    def _fit_search(
        self, sample: Sample, outcome: TargetOutcome, actionability: Actionability
    ) -> None:
        super()._fit_search(sample, outcome, actionability)
        rng = check_random_state(self.random_state)
        shape = self.n_samples, len(actionability.vary)
        directions = rng.normal(size=shape)
        directions[:, ~actionability.movable] = 0
        lengths = np.linalg.norm(directions, axis=1, keepdims=True)
        self._directions = np.divide(
            directions, lengths, out=directions, where=lengths > 0
        )
        self._volume_draws = rng.uniform(size=(self.n_samples, 1))
        # Whether each draw changes a category or a missing number, and to what.
        self._change_draws = rng.uniform(size=shape)
        value_draws = rng.uniform(size=shape)
        self._drawn_values = np.zeros(shape)
        for j in np.flatnonzero(actionability.vary).tolist():
            values = self._grid_values[self._grid_columns == j]
            if len(values):
                ranks = (value_draws[:, j] * len(values)).astype(np.intp)
                self._drawn_values[:, j] = values[ranks]
            else:
                self._change_draws[:, j] = np.inf  # never changed

    def _n_asked_per_row(self) -> int:
        return _LAYERS_PER_CALL * self.n_samples

    def _find_candidates(
        self, problem: SearchProblem, index: NDArray[np.intp], starts: Candidates
    ) -> Candidates:
        radius, searches = self._shrink(problem, index)
        limits = self._largest_radii(problem, index, starts)
        searches += self._grow(problem, index, radius, limits)
        return Candidates.of_blocks(search.nearest for search in searches)

    def _shrink(
        self, problem: SearchProblem, index: NDArray[np.intp]
    ) -> tuple[NDArray[np.float64], list[_LayerSearch]]:
        """Radii (n,) of the largest spheres without a row on target, by shrinking."""
        searches = []
        radius = np.full(len(index), float(self.first_radius))
        active = np.arange(len(index))
        factor = 1 / self.decrease
        factors = factor ** np.arange(_LAYERS_PER_CALL)
        for _ in range(_MAX_LAYERS // _LAYERS_PER_CALL):
            outer = np.maximum(radius[active, None] * factors, _MIN_RADIUS)
            inner = np.zeros_like(outer)
            searches.append(self._search_layers(problem, index[active], inner, outer))
            has_target = searches[-1].has_target
            n_too_large = has_target.cumprod(axis=1).sum(axis=1)
            shrunk = radius[active] * factor**n_too_large
            radius[active] = np.maximum(shrunk, _MIN_RADIUS)
            active = active[has_target.all(axis=1)]
            if not len(active):
                break
        return radius, searches

    def _grow(
        self,
        problem: SearchProblem,
        index: NDArray[np.intp],
        radius: NDArray[np.float64],
        limits: NDArray[np.float64],
    ) -> list[_LayerSearch]:
        """Search layers outside of spheres until a row on target is met."""
        searches = []
        radius, thickness = radius.copy(), radius.copy()
        active = np.arange(len(index))
        powers = np.arange(_LAYERS_PER_CALL)
        for _ in range(_MAX_LAYERS // _LAYERS_PER_CALL):
            active = active[radius[active] < limits[active]]
            if not len(active):
                break
            layers = thickness[active, None] * _THICKENING**powers
            outer = radius[active, None] + layers.cumsum(axis=1)
            inner = outer - layers
            searches.append(self._search_layers(problem, index[active], inner, outer))
            radius[active] = outer[:, -1]
            thickness[active] *= _THICKENING**_LAYERS_PER_CALL
            active = active[~searches[-1].has_target.any(axis=1)]
        return searches

    def _largest_radii(
        self, problem: SearchProblem, index: NDArray[np.intp], starts: Candidates
    ) -> NDArray[np.float64]:
        """Largest radii of spheres (n,): distances of the nearest starts."""
        radii = np.full(len(index), np.inf)
        origins = problem.values[starts.owner]
        changes = problem.actionability.changes(starts.values, origins)
        lengths = np.linalg.norm(changes * problem.actionability.costs, axis=1)
        np.minimum.at(radii, np.searchsorted(index, starts.owner), lengths)
        return radii

    def _search_layers(
        self,
        problem: SearchProblem,
        index: NDArray[np.intp],
        inner: NDArray[np.float64],
        outer: NDArray[np.float64],
    ) -> _LayerSearch:
        """Ask about rows between spheres of radii (n, n_layers) around some rows."""
        index = np.repeat(index, outer.shape[1])
        drawn = self._draw_rows(problem, index, inner.ravel(), outer.ravel())
        on_target = problem.holds(*drawn)
        has_target = np.any(on_target.reshape(*outer.shape, -1), axis=2)
        nearest = drawn.take(on_target).nearest(problem, _CANDIDATES_PER_CALL)
        return _LayerSearch(has_target, nearest)

    def _draw_rows(
        self,
        problem: SearchProblem,
        index: NDArray[np.intp],
        inner: NDArray[np.float64],
        outer: NDArray[np.float64],
    ) -> Candidates:
        """Rows drawn between two spheres around each of some rows."""
        actionability = problem.actionability
        dimension = max(actionability.movable.sum(), 1)
        inner, outer = inner[:, None, None], outer[:, None, None]
        # Uniform in the volume between the spheres.
        inner_volume = (inner / outer) ** dimension
        volume = inner_volume + self._volume_draws * (1 - inner_volume)
        radius = outer * volume ** (1 / dimension)
        origins = problem.values[index][:, None]
        values = origins + self._directions * (radius / actionability.costs)
        have_no_directions = actionability.categorical | np.isnan(origins)
        change_probability = -np.expm1(-outer)
        changed = have_no_directions & (self._change_draws < change_probability)
        values = np.where(changed, self._drawn_values, values)
        owner = np.repeat(index, self.n_samples)
        values = values.reshape(len(owner), -1)
        return Candidates(problem.projected(values, owner), owner)
