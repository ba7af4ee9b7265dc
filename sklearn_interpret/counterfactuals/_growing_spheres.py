"""Growing spheres."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from numbers import Integral, Real
from typing import ClassVar

import numpy as np
from sklearn.utils import check_random_state

from sklearn_interpret._model._sklearn_compat import Interval
from sklearn_interpret.counterfactuals._heuristic import (
    BaseHeuristicCounterfactual,
    nearest_of_each,
)

_MOST_LAYERS = 60
# Radius of the smallest sphere: the least normal number.
_SMALLEST = np.finfo(float).tiny
# Ratio of the thickness of a layer to that of the one within.
_THICKENING = 1.2
# Spheres or layers of a row in one call of the model.
_TOGETHER = 4
# Nearest rows of each call that become candidates.
_FOLLOWED = 2


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
    random_state: int | np.random.RandomState | None = None
    n_jobs: int | None = None
    verbose: int | None = None

    _parameter_constraints = {
        **BaseHeuristicCounterfactual._parameter_constraints,
        "n_samples": [Interval(Integral, 1, 10**6, closed="both")],
        "first_radius": [Interval(Real, 0, None, closed="neither")],
        "decrease": [Interval(Real, 1, None, closed="neither")],
    }

    _tried: ClassVar[str] = "near the rows of fit, nor in the spheres"

    def _fit_search(self, sample, outcome, actionability):
        super()._fit_search(sample, outcome, actionability)
        rng = check_random_state(self.random_state)
        shape = self.n_samples, len(actionability.vary)
        directions = rng.normal(size=shape)
        directions[:, ~actionability.moving] = 0
        lengths = np.linalg.norm(directions, axis=1, keepdims=True)
        self._directions = np.divide(
            directions, lengths, out=directions, where=lengths > 0
        )
        self._depths = rng.uniform(size=(self.n_samples, 1))
        self._chances = rng.uniform(size=shape)
        self._drawn = self._draw_values(rng.uniform(size=shape), actionability)

    def _draw_values(self, points, actionability):
        """The value that each sample changes a category or a missing number to."""
        drawn = np.zeros(points.shape)
        for j in np.flatnonzero(actionability.vary).tolist():
            values = self._grid_values[self._grid_columns == j]
            if len(values):
                drawn[:, j] = values[(points[:, j] * len(values)).astype(np.intp)]
            else:
                self._chances[:, j] = np.inf
        return drawn

    def _rows_each(self):
        return _TOGETHER * self.n_samples

    def _candidates(self, problem, index, starts, owner):
        values, of = [starts[:0]], [owner[:0]]

        def met(rows, inner, outer):
            """Mask of layers with rows that satisfy the target; keeps the nearest."""
            around = np.repeat(index[rows], _TOGETHER)
            samples, its = self._layer(problem, around, inner.ravel(), outer.ravel())
            holds = problem.holds(samples, its)
            samples, its = samples[holds], its[holds]
            near = nearest_of_each(problem.distances(samples, its), its, _FOLLOWED)
            values.append(samples[near])
            of.append(its[near])
            return holds.reshape(*outer.shape, -1).any(axis=2)

        powers, shrinking = np.arange(_TOGETHER), 1 / self.decrease
        radius = np.full(len(index), float(self.first_radius))
        rows = np.arange(len(index))
        for _ in range(_MOST_LAYERS // _TOGETHER):
            outer = np.maximum(radius[rows, None] * shrinking**powers, _SMALLEST)
            some = met(rows, np.zeros_like(outer), outer)
            n_met = some.cumprod(axis=1).sum(axis=1)
            radius[rows] = np.maximum(radius[rows] * shrinking**n_met, _SMALLEST)
            rows = rows[some.all(axis=1)]
            if not len(rows):
                break
        reach = self._reach(problem, index, starts, owner)
        thickness, rows = radius.copy(), np.arange(len(index))
        for _ in range(_MOST_LAYERS // _TOGETHER):
            rows = rows[radius[rows] < reach[rows]]
            if not len(rows):
                break
            layers = thickness[rows, None] * _THICKENING**powers
            outer = radius[rows, None] + layers.cumsum(axis=1)
            some = met(rows, outer - layers, outer)
            radius[rows] = outer[:, -1]
            thickness[rows] *= _THICKENING**_TOGETHER
            rows = rows[~some.any(axis=1)]
        return np.concatenate(values), np.concatenate(of)

    def _reach(self, problem, index, starts, owner):
        """Largest radii of spheres: to the nearest known row on target."""
        reach = np.full(len(index), np.inf)
        changes = problem.actionability.changes(starts, problem.values[owner])
        lengths = np.linalg.norm(changes * problem.actionability.costs, axis=1)
        np.minimum.at(reach, np.searchsorted(index, owner), lengths)
        return reach

    def _layer(self, problem, index, inner, outer):
        """Rows drawn between two spheres around each of some rows."""
        actionability = problem.actionability
        size = max(actionability.moving.sum(), 1)
        inner, outer = inner[:, None, None], outer[:, None, None]
        share = (inner / outer) ** size
        radius = outer * (share + self._depths * (1 - share)) ** (1 / size)
        origins = problem.values[index][:, None]
        values = origins + self._directions * (radius / actionability.costs)
        jumps = actionability.categorical | np.isnan(origins)
        changed = jumps & (self._chances < -np.expm1(-outer))
        values = np.where(changed, self._drawn, values)
        of = np.repeat(index, self.n_samples)
        return problem.projected(values.reshape(len(of), -1), of), of
