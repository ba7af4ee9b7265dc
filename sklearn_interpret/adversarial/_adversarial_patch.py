"""Attack by one patch for all images, pasted anywhere (Brown et al. 2017)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import cached_property
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from sklearn_interpret._core.local.masks import quasi_random_points
from sklearn_interpret._core.local.patch_transforms import paste, random_paste
from sklearn_interpret._inspectors.results import ResultsMixin
from sklearn_interpret._model._sklearn_compat import Interval
from sklearn_interpret._model.actions.problem import SearchProblem
from sklearn_interpret._model.gradients.margins import Margins
from sklearn_interpret._model.parallel import batch_rows, run, slices
from sklearn_interpret._model.progress import with_progress
from sklearn_interpret._model.rows.images import shape_of_rows
from sklearn_interpret._model.rows.sample import Sample
from sklearn_interpret.adversarial._base import AttackResult, BaseAttack

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from sklearn_interpret._model.actions.actionability import Actionability
    from sklearn_interpret._model.actions.target import TargetOutcome
    from sklearn_interpret._model.rows.base import Rows

# The numbers below are chosen by hand.
# Width of the logistic curve of margins that counts rows as sent to the target,
# relative to their mean margin: a wide one counts rows that are far from it.
_RELATIVE_WIDTH = 0.05
# Weight of the earlier steps in the direction of a step: slopes differ from one
# transformation of the patch to the next.
_MOMENTUM = 0.9
# Number of random patches of extreme pixels from which starts are chosen, and of the
# rows and transformations on which they are compared: few, as all are asked about.
_N_SCREENED = 128
_MAX_SCREENING_ROWS = 100
_MAX_SCREENING_TRANSFORMS = 16


class _Overlay(NamedTuple):
    """A patch laid on an image, or on each of several: (..., n_columns)."""

    numbers: NDArray[np.float64]
    covered: NDArray[np.bool_]  # whether the patch covers a number


@dataclass(eq=False, repr=False)
class AdversarialPatch(ResultsMixin, BaseAttack):
    r"""One patch that sends all images it is pasted on to a class (Brown et al.).

    The patch is learned in `fit`, over random places, sizes and angles. `apply` pastes
    it on images.

    Parameters
    ----------
    estimator : estimator
        A model with slopes, of images as rows of pixels; a clone of it is fitted. Pass
        a fitted one as ``FrozenEstimator(model)``.
    target : class label or int, default=None
        The class to be reached; None means any other than the row's own. Of a regressor
        with several outputs, the output.
    desired : (low, high), default=None
        Of a regressor: the interval to be reached, with None for an open end.
    image_shape : (height, width) or (height, width, channels), default=None
        Shape of the images, of which a row has the numbers in this order. None takes
        rows as strips of pixels, of height one.
    patch_shape : float or (int, int), default=0.3
        Height and width of the patch in pixels, or the share of each side of the image.
    scale : float or (low, high), default=1.0
        Size at which the patch is pasted, relative to its own: a number, or the range
        that sizes are drawn from.
    max_rotation : float, default=0.0
        Largest angle to either side at which the patch is pasted, in degrees.
    n_transforms : int, default=64
        How many places, sizes and angles are drawn, evenly; best a power of two.
    n_steps : int, default=100
        Number of steps from each start.
    step_size : float, default=0.1
        Size of a step, as a share of the range of the pixels.
    n_restarts : int, default=4
        Number of further starts: the best of some random patches.
    subsample : int, float or None, default=500
        How many rows of `fit` the patch is learned on: a number, a share, or all.
    bounds : (low, high) or dict, default=None
        Limits of the numbers: a pair of numbers, or of arrays of one for each feature,
        or pairs by feature. None, or a feature left out, means the lowest and
        highest in `fit`. A number that lies outside may enter, or stays as it is.
    features_to_vary : list of ints or strs, or bool mask, default=None
        Features that may change; None means all numbers. Categories stay.
    random_state : int, RandomState or None, default=None
        Draws the subsample, the starts, and the places, sizes and angles.
    n_jobs : int or None, default=None
        Workers, which share the starts in `fit`, and the rows.
    verbose : int or None, default=None
        1 prints the share done and the time left, 0 nothing. None writes one line to
        the standard error of calls that will take more than five seconds.

    Attributes
    ----------
    estimator_ : estimator
        The fitted model.
    patch_ : ndarray of shape (height, width[, channels])
        The patch.
    success_rates_ : ndarray of shape (n_transforms,)
        At each place, size and angle drawn, the share of the rows that the patch was
        learned on that it sends to the target.
    image_shape_ : tuple of int
        Height, width and, if any, channels of the images.
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
        In `fit`: images that do not have `image_shape`, a patch that is larger than
        they are, or a class, an interval or bounds that the model or the table has no
        place for.
    TypeError
        In `fit`: a sparse table.

    See Also
    --------
    ProjectedGradient : A perturbation for each row.

    Notes
    -----
    With :math:`m_x(x')` the margin of the model's answer to :math:`x'`, which comes
    from :math:`x`, and :math:`A_t(p, x)` the image x on which the patch p is pasted by
    the transformation t,

    .. math:: p = \arg\max_p \sum_t \sum_x w_x\,\sigma\left(m_x(A_t(p, x)) /
        \tau\right)

    over the rows x that do not satisfy the target without it, by their weights. The
    sigmoid :math:`\sigma` counts the rows that are sent; :math:`\tau` is a twentieth of
    the mean distance from the boundary without the patch. Each step follows the slopes
    at one transformation, with momentum. Of several starts that is kept which sends
    most.

    Places are whole pixels: an upright patch of its own size is pasted as it is, others
    with bilinear interpolation. Pixels stay within their own bounds.

    `explain` and the robust scores paste the patch where it was drawn and sends most
    rows of `fit`, the same for all rows. Distances are numbers of features that change,
    and the sizes of a robustness curve are scales of the patch.

    References
    ----------
    Brown, T. B., Mané, D., Roy, A., Abadi, M. & Gilmer, J. (2017). Adversarial patch.
    https://doi.org/10.48550/arXiv.1712.09665

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn_interpret.adversarial import AdversarialPatch
    >>> X, y = load_digits(return_X_y=True)
    >>> attack = AdversarialPatch(
    ...     LogisticRegression(max_iter=2000), target=8, image_shape=(8, 8),
    ...     patch_shape=(4, 4), bounds=(0, 16), n_steps=20, n_restarts=0, random_state=0
    ... )
    >>> attack.fit(X, y).patch_.shape
    (4, 4)
    >>> patched = attack.apply(X[:100], random_state=0)
    >>> before, after = attack.predict(X[:100]) == 8, attack.predict(patched) == 8
    >>> bool(after.sum() > before.sum())
    True
    """

    estimator: Any
    _: KW_ONLY
    target: Any = None
    desired: tuple[float | None, float | None] | None = None
    image_shape: Sequence[int] | None = None
    patch_shape: float | tuple[int, int] = 0.3
    scale: float | tuple[float, float] = 1.0
    max_rotation: float = 0.0
    n_transforms: int = 64
    n_steps: int = 100
    step_size: float = 0.1
    n_restarts: int = 4
    subsample: float | None = 500
    bounds: Any = None
    features_to_vary: Any = None
    random_state: int | np.random.RandomState | None = None
    n_jobs: int | None = None
    verbose: int | None = None

    patch_: NDArray[np.float64] = field(init=False)
    success_rates_: NDArray[np.float64] = field(init=False)
    image_shape_: tuple[int, ...] = field(init=False)
    by_formula_: bool = field(init=False)

    _parameter_constraints = {
        **BaseAttack._parameter_constraints,
        "image_shape": [list, tuple, None],
        "patch_shape": [Interval(Real, 0, 1, closed="right"), list, tuple],
        "scale": [Interval(Real, 0, None, closed="neither"), list, tuple],
        "max_rotation": [Interval(Real, 0, 180, closed="both")],
        "n_transforms": [Interval(Integral, 1, None, closed="left")],
        "n_steps": [Interval(Integral, 1, None, closed="left")],
        "step_size": [Interval(Real, 0, None, closed="neither")],
        "n_restarts": [Interval(Integral, 0, None, closed="left")],
    }

    _budget = "scale"
    # A patch is limited by its size alone.
    norm, units = "inf", "raw"

    def _choose_sample(
        self, rows: Any, y: ArrayLike | None, weights: NDArray[np.float64]
    ) -> Any:
        # All rows: they give the bounds. The subsample is drawn later.
        return Sample.of_positive_weight(rows, y, weights)

    def _make_actionability(
        self, rows: Rows, weights: NDArray[np.float64]
    ) -> Actionability:
        actionability = super()._make_actionability(rows, weights)
        actionability.norm = 0
        return actionability

    def _fit_search(
        self, sample: Sample, outcome: TargetOutcome, actionability: Actionability
    ) -> None:
        shape = shape_of_rows(self.image_shape, sample.rows.n_columns)
        self.image_shape_ = shape
        self._image_sides = shape[0], shape[1]
        self._patch_sides = _resolve_patch_shape(self.patch_shape, self._image_sides)
        n_channels = shape[2] if len(shape) > 2 else 1
        patch_size = int(np.prod(self._patch_sides)), n_channels
        random = check_random_state(self.random_state)
        rng = np.random.default_rng(random.randint(2**31))
        self._transform_points = quasi_random_points(self.n_transforms, 4, rng)
        extreme_patches = random.randint(0, 2, (_N_SCREENED, *patch_size))
        sample = self._draw(sample, self.subsample, random)
        problem = SearchProblem(outcome, actionability, sample.rows)
        margins = Margins(problem)
        self.by_formula_ = margins.by_formula
        ascent = _PatchAscent(
            problem,
            margins,
            sample.weights,
            [self._paste_matrix(point) for point in self._transform_points],
            self.n_steps,
            self.step_size,
            *_pixel_limits(problem, n_channels),
        )
        starts = [np.full(patch_size, 0.5)]
        if self.n_restarts:
            extreme_patches = extreme_patches.astype(np.float64)
            starts += ascent.best_starts(extreme_patches, self.n_restarts)
        tasks = [(ascent, start) for start in starts]
        patches = run(_PatchAscent.climb, tasks, n_jobs=self.n_jobs)
        patch, success_rates = max(patches, key=lambda p: p.success_rates.mean())
        self.patch_ = patch.reshape(*self._patch_sides, *shape[2:])
        self.success_rates_ = success_rates
        self._best_transform = int(success_rates.argmax())

    def _result_blocks(self) -> list[dict[str, Any]]:
        """A line for each place, size and angle drawn: columns "transform" (its
        position) and "success_rate".
        """
        rates = self.success_rates_
        return [{"transform": np.arange(len(rates)), "success_rate": rates}]

    def _paste_matrix(self, point: NDArray[np.float64]) -> csr_array:
        """Weights of the patch's pixels in the pixels of an image.

        The place, size and angle are at a point in the unit cube of dimension 4.
        """
        sides = self._image_sides, self._patch_sides
        scale = _scale_range(self.scale)
        return random_paste(point, *sides, scale, self.max_rotation)

    def _attack(self, problem: SearchProblem, index: NDArray[np.intp]) -> AttackResult:
        matrix = self._paste_matrix(self._transform_points[self._best_transform])
        overlay = _make_overlay(matrix, self._patch_pixels)
        return AttackResult(
            _paste_overlay(problem.actionability, problem.values[index], overlay)
        )

    @property
    def _patch_pixels(self) -> NDArray[np.float64]:
        """The patch as (n_pixels, n_channels)."""
        return self.patch_.reshape(np.prod(self._patch_sides), -1)

    def _default_sizes(self, budget: str) -> NDArray[np.float64]:
        return np.linspace(0, 2 * _scale_range(self.scale)[1], 11)

    def _why_failed(self) -> str:
        return "the patch does not send the row where it should"

    def apply(
        self,
        X: Any,
        *,
        places: ArrayLike | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> Any:
        """Paste the patch on images.

        Parameters
        ----------
        X : {array-like, DataFrame} of shape (n_samples, n_features)
            Images as rows of pixels, or an array of the shape ``(n_samples, height,
            width[, channels])``.
        places : array-like of shape (2,) or (n_samples, 2), default=None
            Row and column of the patch's upper left pixel, of all images or of each;
            it is upright and of its own size. None draws place, size and angle for
            each image as in `fit`.
        random_state : int, RandomState or None, default=None
            Draws them.

        Returns
        -------
        {ndarray, DataFrame} of the shape of X
            The images with the patch, in their own container and dtype.

        Raises
        ------
        ValueError
            Images of another shape; places at which the patch is not inside.
        """
        check_is_fitted(self)
        shape, flat = np.shape(X), X
        if len(shape) > 2:
            if shape[1:] != self.image_shape_:
                raise ValueError(
                    f"X has images of the shape {shape[1:]}; those of fit have the "
                    f"shape {self.image_shape_}."
                )
            flat = np.reshape(X, (shape[0], -1))
        rows = self._check_rows(flat, reset=False)
        actionability, index = self._actionability, np.arange(rows.n_rows)
        origins = actionability.encode(rows)
        sides = self._image_sides, self._patch_sides
        if places is None:
            random = check_random_state(random_state)
            points = random.uniform(size=(rows.n_rows, 4))
            matrices: Iterable[csr_array] = map(self._paste_matrix, points)
        else:
            corners = _check_places(places, rows.n_rows, *sides)
            matrices = (paste(corner, *sides) for corner in corners)
        overlays = [_make_overlay(matrix, self._patch_pixels) for matrix in matrices]
        overlay_of_rows = _Overlay(*map(np.stack, zip(*overlays, strict=True)))
        values = _paste_overlay(actionability, origins, overlay_of_rows)
        returning = actionability.survives_encoding(rows, origins)
        pasted = actionability.decode(values, origins, rows, index, returning)
        return np.reshape(pasted, shape) if len(shape) > 2 else pasted


class _LearnedPatch(NamedTuple):
    """The end of a gradient ascent."""

    pixels: NDArray[np.float64]  # (n_pixels, n_channels)
    success_rates: NDArray[np.float64]  # (n_transforms,)


@dataclass(frozen=True)
class _PatchAscent:
    """The gradient ascent of a patch, from a start.

    Parameters
    ----------
    problem : SearchProblem
        The rows that the patch is learned on.
    margins : Margins
        The margins of these rows.
    weights : ndarray of shape (n_rows,)
        The weights of these rows.
    matrices : list of csr_array
        How the patch is pasted: one for each transformation.
    n_steps, step_size : int, float
        As the parameters of the attack.
    low, high : ndarray of shape (n_channels,)
        Lowest and highest pixels of the patch.
    """

    problem: SearchProblem
    margins: Margins
    weights: NDArray[np.float64]
    matrices: list[csr_array]
    n_steps: int
    step_size: float
    low: NDArray[np.float64]
    high: NDArray[np.float64]

    def climb(self, start: NDArray[np.float64]) -> _LearnedPatch:
        """The patch after all steps from a start, in fractions of the pixels' range."""
        patch, velocity = self._pixels(start), np.zeros(start.shape)
        for step in with_progress(range(self.n_steps)):
            matrix = self.matrices[step % len(self.matrices)]
            slopes = self._pixel_slopes(matrix, patch)
            velocity = _MOMENTUM * velocity + (1 - _MOMENTUM) * slopes
            largest = np.abs(velocity).max()
            if largest > 0:
                move = self.step_size * velocity / largest * (self.high - self.low)
                patch = np.clip(patch + move, self.low, self.high)
        rates = [self._success_rate(matrix, patch) for matrix in self.matrices]
        return _LearnedPatch(patch, np.array(rates))

    def _pixels(self, fractions: NDArray[np.float64]) -> NDArray[np.float64]:
        """Pixels of a patch from fractions of their range."""
        return self.low + fractions * (self.high - self.low)

    @cached_property
    def _attacked_rows(self) -> NDArray[np.intp]:
        """Positions of the rows that miss the target; of all rows if all meet it."""
        # If all rows satisfy the target already, the patch should keep them there.
        index = np.flatnonzero(~self.problem.fulfilled)
        return index if len(index) else np.arange(self.problem.rows.n_rows)

    @cached_property
    def _margin_width(self) -> float:
        """Width of the logistic curve of margins."""
        index = self._attacked_rows
        _, margins, _ = self.margins.margins_at(
            self.problem, self.problem.values[index], index
        )
        mean_margin = np.average(np.abs(margins), weights=self.weights[index])
        return _RELATIVE_WIDTH * mean_margin or 1.0

    def best_starts(
        self, starts: NDArray[np.float64], number: int
    ) -> list[NDArray[np.float64]]:
        """The `number` starts that send the most of few rows at few transformations."""
        index = self._attacked_rows
        index = index[:: -(-len(index) // _MAX_SCREENING_ROWS)]
        n_sent = np.zeros(len(starts))
        for matrix in self.matrices[:_MAX_SCREENING_TRANSFORMS]:
            for k, start in enumerate(starts):
                values = self._paste_on_rows(matrix, self._pixels(start), index)
                _, margins, _ = self.margins.margins_at(self.problem, values, index)
                n_sent[k] += self.weights[index] @ expit(margins / self._margin_width)
        return list(starts[np.argsort(-n_sent, kind="stable")[:number]])

    def _pixel_slopes(
        self, matrix: csr_array, patch: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Slopes of the number of rows that are sent, per pixel of the patch."""
        problem, index, slopes = self.problem, self._attacked_rows, np.zeros(1)
        for batch in slices(len(index), batch_rows(problem.rows.row_bytes)):
            rows = index[batch]
            values = self._paste_on_rows(matrix, patch, rows)
            rival, margins, _ = self.margins.margins_at(problem, values, rows)
            sent_fraction = expit(margins / self._margin_width)
            weights = self.weights[rows] * sent_fraction * (1 - sent_fraction)
            slopes = slopes + weights @ self.margins.slopes(
                problem, values, rows, rival
            )
        return matrix.T @ slopes.reshape(matrix.shape[0], -1)

    def _success_rate(self, matrix: csr_array, patch: NDArray[np.float64]) -> float:
        """The fraction of attacked rows that satisfy the target under the patch."""
        index = self._attacked_rows
        holds = self.problem.holds(self._paste_on_rows(matrix, patch, index), index)
        return np.average(holds, weights=self.weights[index])

    def _paste_on_rows(
        self, matrix: csr_array, patch: NDArray[np.float64], index: NDArray[np.intp]
    ) -> NDArray[np.float64]:
        """Encoded rows under a patch."""
        origins = self.problem.values[index]
        return _paste_overlay(
            self.problem.actionability, origins, _make_overlay(matrix, patch)
        )


def _make_overlay(matrix: csr_array, patch: NDArray[np.float64]) -> _Overlay:
    """The overlay of a patch (n_pixels, n_channels) on an image."""
    covered = np.repeat(np.diff(matrix.indptr) > 0, patch.shape[1])
    return _Overlay((matrix @ patch).reshape(-1), covered)


def _paste_overlay(
    actionability: Actionability, origins: NDArray[np.float64], overlay: _Overlay
) -> NDArray[np.float64]:
    """Encoded rows under a patch, projected on the values of their columns."""
    replaced = overlay.covered & ~np.isnan(origins)
    values = np.where(replaced, overlay.numbers, origins)
    return actionability.projected(values, origins)


def _pixel_limits(
    problem: SearchProblem, n_channels: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Lowest and highest number of each channel that any cell may take."""
    low, high = problem.actionability.permitted_limits(problem.values)
    free = low < high
    low, high = (
        # Cells without a bound have the known value in its place.
        np.where(np.isfinite(limit), limit, problem.values)
        for limit in (low, high)
    )
    low = np.where(free, low, np.inf).reshape(-1, n_channels).min(axis=0)
    high = np.where(free, high, -np.inf).reshape(-1, n_channels).max(axis=0)
    fixed = low > high
    return np.where(fixed, 0, low), np.where(fixed, 0, high)


def _resolve_patch_shape(
    patch_shape: Any, image_sides: tuple[int, int]
) -> tuple[int, int]:
    """Height and width of the patch."""
    height, width = image_sides
    if isinstance(patch_shape, Real):
        fraction = float(patch_shape)
        return max(1, round(fraction * height)), max(1, round(fraction * width))
    are_whole = all(isinstance(n, Integral) and int(n) > 0 for n in patch_shape)
    if (
        not are_whole
        or len(patch_shape) != 2
        or (np.array(patch_shape) > image_sides).any()
    ):
        raise ValueError(
            f"patch_shape={patch_shape!r} must be (height, width), whole numbers from "
            f"1 to those of the image, {image_sides}, or a share of its sides."
        )
    return int(patch_shape[0]), int(patch_shape[1])


def _scale_range(scale: Any) -> tuple[float, float]:
    """Least and largest size of a pasted patch."""
    limits = (scale, scale) if isinstance(scale, Real) else tuple(scale)
    is_pair = len(limits) == 2 and all(isinstance(limit, Real) for limit in limits)
    if not is_pair or not 0 < limits[0] <= limits[1] < np.inf:
        raise ValueError(
            f"scale={scale!r} must be a positive number, or a range (low, high) of "
            "such, low <= high."
        )
    return limits[0], limits[1]


def _check_places(
    places: ArrayLike,
    n_rows: int,
    image_sides: tuple[int, int],
    patch_sides: tuple[int, int],
) -> NDArray[np.float64]:
    """A place for each row, (n_rows, 2)."""
    try:
        corners = np.broadcast_to(np.asarray(places, dtype=float), (n_rows, 2))
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"places={places!r} must hold a row and a column, for all images or for "
            f"each of {n_rows}."
        ) from error
    last_corner = np.subtract(image_sides, patch_sides)
    is_inside = ((corners >= 0) & (corners <= last_corner)).all(axis=1)
    if not is_inside.all():
        raise ValueError(
            f"places has {corners[~is_inside][0].tolist()}; from [0, 0] to "
            f"{last_corner.tolist()} "
            f"a patch of the shape {patch_sides} is inside of the image."
        )
    return corners
