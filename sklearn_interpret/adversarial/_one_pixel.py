"""Attack by few features, changed by any amount (Su, Vargas & Sakurai 2019)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from sklearn_interpret._model._sklearn_compat import Interval
from sklearn_interpret._model.progress import with_progress
from sklearn_interpret._model.rows.images import shape_of_rows
from sklearn_interpret.adversarial._base import AttackResult, BaseAttack

if TYPE_CHECKING:
    from sklearn_interpret._model.actions.actionability import Actionability
    from sklearn_interpret._model.actions.problem import SearchProblem
    from sklearn_interpret._model.actions.target import TargetOutcome
    from sklearn_interpret._model.rows.base import Rows
    from sklearn_interpret._model.rows.sample import Sample
    from sklearn_interpret.explanations import RowExplanation

# Step of a child from its first parent, as a multiple of the difference of the second
# and third parent: F of Su et al. (2019).
_DIFFERENTIAL_WEIGHT = 0.5


@dataclass(eq=False, repr=False)
class OnePixelAttack(BaseAttack):
    r"""Few pixels or features, changed by any amount (Su, Vargas & Sakurai).

    Differential evolution searches for pixels, and values for them, that bring the
    model as near to the target as possible. The search for a row ends as soon as its
    target is satisfied. In a table a pixel is a feature: the attack changes `n_pixels`
    numbers.

    Parameters
    ----------
    estimator : estimator
        Any predictor; a clone of it is fitted. Pass a fitted one as
        ``FrozenEstimator(model)``.
    n_pixels : int, default=1
        Number of pixels that may change.
    image_shape : (height, width) or (height, width, channels), default=None
        Of images as rows of pixels, in C order: a pixel is then a place with all its
        channels. None means that each feature is one.
    population_size : int, default=100
        Number of candidates of a generation.
    n_generations : int, default=100
        Number of generations.
    target : class label or int, default=None
        The class to be reached; None means any other than the row's own. Of a regressor
        with several outputs, the output.
    desired : (low, high), default=None
        Of a regressor: the interval to be reached, with None for an open end.
    bounds : (low, high) or dict, default=None
        Limits of the numbers: a pair of numbers, or of arrays of one for each feature,
        or pairs by feature. None, an infinite end, or a feature left out,
        means the lowest and highest in `fit`. A number that lies outside may enter, or
        stays as it is.
    features_to_vary : list of ints or strs, or bool mask, default=None
        Features that may change; None means all numbers. Categories stay.
    max_rows : int, default=None
        Largest number of rows that a call sends to the model; an error before says what
        is possible. None is no limit.
    random_state : int, RandomState or None, default=None
        For the first candidates and their crossings, which are the same for all rows.
    n_jobs : int or None, default=None
        Workers, which share the rows.
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
        In `fit`: a class, an interval, bounds or a shape that the model or the table
        has no place for.
    TypeError
        In `fit`: a sparse table.

    See Also
    --------
    HopSkipJump : Small changes of all features, of any model too.
    MinimalPerturbation : The smallest change in the norm 1 keeps to few features.

    Notes
    -----
    A candidate is a list of pixels: coordinates, and a value for each channel between
    its bounds. Of generation g, the child of candidate i is

    .. math:: x_i(g + 1) = x_{r_1}(g) + 0.5 \, (x_{r_2}(g) - x_{r_3}(g))

    with distinct candidates :math:`r_1, r_2, r_3` at random; it takes the place of i if
    the model's margin is larger. Values stop at their bounds, places go on at the other
    side of the image. Half of the first candidates have values at their bounds.

    Distances are numbers of pixels that changed.

    References
    ----------
    Su, J., Vargas, D. V. & Sakurai, K. (2019). One pixel attack for fooling deep neural
    networks. IEEE Transactions on Evolutionary Computation, 23(5), 828-841.
    https://doi.org/10.1109/TEVC.2019.2890858

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn_interpret.adversarial import OnePixelAttack
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> attack = OnePixelAttack(LogisticRegression(max_iter=1000), random_state=0)
    >>> explanation = attack.fit(X, y).explain(X[70:73], y[70:73])
    >>> explanation.valid
    array([ True,  True,  True])
    >>> explanation.n_changed
    array([0, 1, 1])
    """

    estimator: Any
    _: KW_ONLY
    n_pixels: int = 1
    image_shape: Sequence[int] | None = None
    population_size: int = 100
    n_generations: int = 100
    target: Any = None
    desired: tuple[float | None, float | None] | None = None
    bounds: Any = None
    features_to_vary: Any = None
    max_rows: int | None = None
    random_state: int | np.random.RandomState | None = None
    n_jobs: int | None = None
    verbose: int | None = None

    _parameter_constraints = {
        **BaseAttack._parameter_constraints,
        "n_pixels": [Interval(Integral, 1, None, closed="left")],
        "image_shape": [tuple, list, None],
        "population_size": [Interval(Integral, 4, None, closed="left")],
        "n_generations": [Interval(Integral, 1, None, closed="left")],
    }

    _budget = "n_pixels"
    # Changes are counted, whatever their size.
    norm, units = "0", "raw"

    def _ranges(
        self, rows: Rows, categorical: NDArray[np.bool_]
    ) -> dict[int, tuple[float, float]]:
        ranges = super()._ranges(rows, categorical)
        return {j: _finite_range(ends, rows.numbers(j)) for j, ends in ranges.items()}

    def _fit_search(
        self, sample: Sample, outcome: TargetOutcome, actionability: Actionability
    ) -> None:
        # The columns of each pixel, (*axes, n_channels): axes are height and width, or
        # the features that vary.
        self._columns_of_pixels = np.flatnonzero(actionability.vary)[:, None]
        if self.image_shape is not None:
            n_columns = len(actionability.vary)
            shape = (*shape_of_rows(self.image_shape, n_columns), 1)[:3]
            self._columns_of_pixels = np.arange(n_columns).reshape(shape)
        self._seed = check_random_state(self.random_state).randint(2**31 - 1)

    def _n_asked_per_row(self) -> int:
        return 2 * self.population_size  # candidates, and their projections

    def _why_failed(self) -> str:
        return f"no row that reaches the target was found with n_pixels={self.n_pixels}"

    def _make_explanation(
        self, problem: SearchProblem, result: AttackResult
    ) -> RowExplanation:
        explanation = super()._make_explanation(problem, result)
        changed = np.any(explanation.changed[:, self._columns_of_pixels], axis=-1)
        n_changed = changed.reshape(len(changed), -1).sum(axis=1)
        return replace(explanation, distances=n_changed)

    def _attack(self, problem: SearchProblem, index: NDArray[np.intp]) -> AttackResult:
        # Of all rows: the best candidate so far, and its margin. Of active rows: the
        # population (n, size, n_pixels, n_numbers) and the margins (n, size).
        best, best_margins = problem.values[index], np.full(len(index), -np.inf)
        random = np.random.RandomState(self._seed)
        active = np.arange(len(index) if self._columns_of_pixels.size else 0)
        candidates = self._first_candidates(random)
        population = np.broadcast_to(candidates, (len(active), *candidates.shape))
        children = population
        margins = np.full(population.shape[:2], -np.inf)
        for _ in with_progress(range(self.n_generations + 1)):
            if not len(active):
                break
            values, child_margins = self._evaluate(problem, index[active], children)
            best_child = np.arange(len(active)), child_margins.argmax(axis=1)
            is_better = child_margins[best_child] > best_margins[active]
            better_rows = active[is_better]
            best[better_rows] = values[best_child][is_better]
            best_margins[better_rows] = child_margins[best_child][is_better]
            survives = (child_margins > margins)[..., None, None]
            population = np.where(survives, children, population)
            margins = np.maximum(child_margins, margins)
            # A row is done if its margin is not negative and the model's answer agrees.
            continues = best_margins[active] < 0
            reached = active[~continues]
            continues[~continues] = ~problem.holds(best[reached], index[reached])
            active, margins = active[continues], margins[continues]
            population = population[continues]
            children = self._cross_candidates(random, population)
        return AttackResult(best)

    def _first_candidates(self, random: np.random.RandomState) -> NDArray[np.float64]:
        """The first candidates, (population_size, n_pixels, n_axes + n_channels).

        Places and values are shares of their ranges; half of the values are extreme.
        """
        *axes, n_channels = self._columns_of_pixels.shape
        n_numbers = len(axes) + n_channels
        shape = self.population_size, int(self.n_pixels), n_numbers
        candidates = random.uniform(size=shape)
        extreme = candidates[: len(candidates) // 2, :, len(axes) :]
        np.rint(extreme, out=extreme)
        return candidates

    def _cross_candidates(
        self, random: np.random.RandomState, population: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Children of candidates, of three parents each; Su et al., equation 3."""
        order = random.permutation(population.shape[1])
        base, minuend, subtrahend = (
            population[:, np.roll(order, shift)] for shift in range(3)
        )
        children = base + _DIFFERENTIAL_WEIGHT * (minuend - subtrahend)
        n_axes = self._columns_of_pixels.ndim - 1
        children[..., :n_axes] %= 1
        return np.clip(children, 0, 1, out=children)

    def _evaluate(
        self,
        problem: SearchProblem,
        index: NDArray[np.intp],
        candidates: NDArray[np.float64],
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Rows with candidate pixels (n, population_size, n_columns), and margins."""
        *axes, _ = self._columns_of_pixels.shape
        places = (candidates[..., : len(axes)] * axes).astype(np.intp)
        places = np.moveaxis(np.minimum(places, np.subtract(axes, 1)), -1, 0)
        columns = self._columns_of_pixels[tuple(places)]
        origins = problem.values[index]
        row = np.arange(len(index))[:, None, None, None]
        candidate = np.arange(candidates.shape[1])[:, None, None]
        low, high = problem.actionability.permitted_limits(origins)
        low, high = (  # a column that may not change at all stays as it is
            np.where(low > high, origins, end)[row, columns] for end in (low, high)
        )
        values = np.repeat(origins[:, None], candidates.shape[1], axis=1)
        shares = candidates[..., len(axes) :]
        values[row, candidate, columns] = low + shares * (high - low)
        shape, owner = values.shape, np.repeat(index, candidates.shape[1])
        values = problem.projected(values.reshape(len(owner), -1), owner)
        return values.reshape(shape), problem.margins(values, owner).reshape(shape[:2])


def _finite_range(
    ends: tuple[float, float], values: NDArray[np.float64]
) -> tuple[float, float]:
    """Ends to draw between: infinite ends become the lowest or highest value."""
    numbers = np.append(values, ends)
    numbers = numbers[np.isfinite(numbers)]
    if not len(numbers):
        return 0.0, 0.0
    low, high = ends
    return (
        low if np.isfinite(low) else numbers.min(),
        high if np.isfinite(high) else numbers.max(),
    )
