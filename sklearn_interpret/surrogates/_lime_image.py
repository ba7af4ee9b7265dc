"""LIME for images (Ribeiro, Singh & Guestrin 2016)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from sklearn_interpret._core.local.masks import independent_masks
from sklearn_interpret._inspectors.params import estimator_dataclass
from sklearn_interpret._model._sklearn_compat import Interval
from sklearn_interpret._model.parallel import limit_threads, run, slices
from sklearn_interpret._model.rows.base import round_to_dtype
from sklearn_interpret._model.rows.images import (
    Images,
    as_image_rows,
    as_image_shape,
    shape_of_rows,
)
from sklearn_interpret._model.surrogates.segments import (
    checked_segments,
    colour_segments,
    default_number,
)
from sklearn_interpret.explanations._selection import output_position
from sklearn_interpret.surrogates._base import (
    BaseLocalSurrogate,
    MaskedSample,
    MaskSampler,
)
from sklearn_interpret.surrogates._local_explanation import LocalExplanation
from sklearn_interpret.surrogates._local_fits import drop_output_axis, fields_of

if TYPE_CHECKING:
    from sklearn_interpret._model.rows.sample import Sample
    from sklearn_interpret.surrogates._base import Sampler
    from sklearn_interpret.surrogates._local_fits import LocalFit


@dataclass(frozen=True, eq=False, repr=False)
class ImageExplanation(LocalExplanation):
    """Weights of a surrogate on the segments of each image.

    The features are segments, which differ between images. Images with fewer segments
    than others have zeros in the last values.

    Parameters
    ----------
    values : array-like of shape (n_rows, n_segments[, n_outputs])
        Effect on the response of showing a segment.
    base_values : array-like of shape (n_rows[, n_outputs])
        Intercepts of the surrogate: its prediction with everything hidden.
    predictions, data, feature_names, output_names : array-like, default=None
        As in :class:`LocalExplanation`, of images and their segments.
    response_name, target_name : str, default=None
        As in :class:`~sklearn_interpret.explanations.Explanation`.
    standard_errors : array-like of the shape of `values`, default=None
        Sampling standard errors of the weights.
    columns : None, default=None
        Segments are not columns.
    approximation : str, default=None
        As in :class:`~sklearn_interpret.explanations.Explanation`.
    value_name : str, default="weight"
        As in :class:`~sklearn_interpret.explanations.Explanation`.
    groups : dict, default=None
        As in :class:`~sklearn_interpret.explanations.Explanation`.
    partial : bool, default=False
        As in :class:`~sklearn_interpret.explanations.Explanation`.
    fidelity, local_predictions, selected : array-like, default=None
        As in :class:`LocalExplanation`.
    scales, conditions : array-like, default=None
        Not used.
    segments : array-like of shape (n_rows, height, width)
        Segment of each pixel, counted from 0.
    images : array-like of shape (n_rows, height, width[, channels])
        The images.

    Raises
    ------
    ValueError
        Parts that do not fit each other.

    Examples
    --------
    >>> from sklearn_interpret.surrogates import ImageExplanation
    >>> explanation = ImageExplanation(
    ...     values=[[0.5, -2.0]],
    ...     base_values=[1.0],
    ...     segments=[[[0, 0, 1], [0, 1, 1]]],
    ...     images=[[[0, 0, 9], [0, 9, 9]]],
    ... )
    >>> explanation.maps()
    array([[[ 0.5,  0.5, -2. ],
            [ 0.5, -2. , -2. ]]])
    """

    segments: NDArray[np.intp] = field(kw_only=True)
    images: NDArray[Any] = field(kw_only=True)

    _arrays_by_row: ClassVar[tuple[str, ...]] = (
        *LocalExplanation._arrays_by_row,
        "segments",
        "images",
    )
    _features_are_columns: ClassVar[bool] = False

    def __post_init__(self) -> None:
        values = np.shape(self.values)
        if self.feature_names is None and len(values) > 1:
            names = tuple(f"segment {segment}" for segment in range(values[1]))
            self._set("feature_names", names)
        super().__post_init__()
        n_rows, n_segments = self.values.shape[:2]
        segments, images = np.asarray(self.segments), np.asarray(self.images)
        if segments.ndim != 3 or len(segments) != n_rows:
            raise ValueError(
                f"segments has the shape {segments.shape}; (n_rows, height, width) is "
                f"needed, with {n_rows} rows."
            )
        if images.ndim not in (3, 4) or images.shape[:3] != segments.shape:
            raise ValueError(
                f"images has the shape {images.shape}; that of segments, "
                f"{segments.shape}, or one with channels behind it is needed."
            )
        are_integers = segments.dtype.kind in "iu"
        if not are_integers or (segments < 0).any() or (segments >= n_segments).any():
            raise ValueError(
                f"segments must be whole numbers from 0 to {n_segments - 1}, one for "
                "each column of values."
            )
        self._set("segments", segments.astype(np.intp, copy=False))
        self._set("images", images)

    def maps(self, output: Any = None) -> NDArray[np.float64]:
        """Return the weights of pixels: those of their segments.

        Parameters
        ----------
        output : class label or int, default=None
            Name of the output; None takes the only one, or all.

        Returns
        -------
        ndarray of shape (n_rows, height, width[, n_outputs])
            There is an axis of outputs if there are several and `output` is None.

        Raises
        ------
        ValueError
            No such output.
        """
        values = self.values
        if output is not None:
            position = output_position(self.output_names, output)
            values = values if values.ndim == 2 else values[:, :, position]
        rows = np.arange(len(self))[:, None, None]
        return values[rows, self.segments]


@estimator_dataclass
class LimeImage(BaseLocalSurrogate[ImageExplanation]):
    r"""Linear surrogates around single images, in their segments (LIME).

    The model predicts copies of the image in which half of its segments are hidden. A
    small linear model of the visible segments is fitted to the responses; copies that
    show more have larger weights. Its coefficients are the effects of showing a
    segment, its R² on the copies shows how far to trust them.

    Parameters
    ----------
    estimator : estimator
        Any predictor; a clone of it is fitted. Pass a fitted one as
        ``FrozenEstimator(model)``. It gets images in the shape and dtype of the input,
        in batches that fit into memory.
    image_shape : (height, width) or (height, width, channels), default=None
        Shape of images that are rows of a table. None takes rows as strips of pixels,
        of height one.
    segmentation : callable, default=None
        ``f(image)`` returns integer labels of the pixels, (height, width), like
        scikit-image's `slic`. None takes k-means on colours and positions.
    n_segments : int, default=None
        Approximate number of segments of the default segmentation. None takes 50, but
        at most one for four pixels, or one for each pixel of a strip.
    hide_color : float or array-like of shape (channels,), default=None
        Colour of hidden segments. None takes the segment's mean colour, or that of the
        image for a segment of one pixel.
    n_features_to_select : int or None, default=None
        Number of segments that a surrogate uses, or all if there are fewer. None takes
        all.
    n_samples : int, default=1000
        Number of copies that the model predicts. If there are at most this many sets of
        segments, all are taken, and nothing is random.
    kernel_width : float or None, default=None
        Width of the kernel of copies, in cosine distance from the image. None takes
        0.25.
    feature_selection : {"lars", "forward", "highest_weights", "none"}, default="lars"
        Selection of segments: by least angle regression, by forward selection, by their
        weights in a regression on all segments, or none.
    surrogate : estimator or None, default=None
        Estimator that is fitted to the selected segments, such as a ridge regression or
        a short tree; it needs `coef_` or `feature_importances_`, and `sample_weight` in
        its
        `fit`. None takes least squares.
    min_fidelity : float or None, default=0.2
        R² below which :class:`~sklearn_interpret.exceptions.LowFidelityWarning` is
        raised; None never warns.
    max_rows : int, default=None
        Largest number of rows that a call sends to the model; an error before says what
        is possible. None is no limit.
    response_method : str, list of str or callable, default="auto"
        "auto" takes `predict` of regressors, and of classifiers `predict_proba` or else
        `decision_function`. Or names of methods, of which the first that exists is
        taken, "centered_log_proba", or a callable ``f(estimator, X)``.
    target : class label, int or dict, default=None
        Output to keep, or a contrast {output: weight}. None keeps the only one, the
        positive class of a binary classifier, or all.
    random_state : int, RandomState or None, default=None
        Seed of the samples, which are drawn once in `fit`.
    n_jobs : int or None, default=None
        Workers, which share the images to explain.
    verbose : int or None, default=None
        1 prints the share done and the time left, 0 nothing. None writes one line to
        the standard error of calls that will take more than five seconds.

    Attributes
    ----------
    estimator_ : estimator
        The fitted model.
    image_shape_ : tuple of int
        Height, width and, if any, channels of the images.
    segments_ : ndarray of shape (n_samples, height, width)
        Segments of the images of `fit`, counted from 0. Computed on first access.
    stability_ : float
        Mean Jaccard similarity of the five strongest segments between draws of the
        samples, from 0 to 1. Computed on first access.
    response_method_, output_names_ : str or callable, list
        The explained response; class labels, or positions of outputs.
    n_features_in_, feature_names_in_, classes_ : int, ndarray, ndarray
        Number and names of columns, if images are rows of a table; class labels.

    Raises
    ------
    ValueError
        Images that do not have `image_shape`, pixels that are not numbers, a
        `hide_color` that does not fit the pixels, segments that do not fit the image.

    See Also
    --------
    LimeImageDisplay : Draws the weights over the image.
    LimeTabular : For rows of a table.
    LimeText : For texts.

    Notes
    -----
    `fit` and `explain` take images as an array of shape (n, height, width), grey, or
    (n, height, width, channels), in colour, or flattened: a table with one row of
    pixels per image, in any container, with `image_shape`.

    With z the visible segments of a copy, s their share, and f(z) the response to the
    copy, the surrogate is

    .. math:: \min_{g} \sum_z \exp\left(-\frac{(1 - \sqrt{s})^2}{2 \sigma^2}\right)
        \left(f(z) - g(z)\right)^2,

    linear in z. Each segment is visible in half of the copies. These are scrambled
    Sobol points, whose explanations vary less than those of independent draws. They are
    drawn in `fit`, and are the same for images with equal numbers of segments: the same
    image always gets the same explanation. All outputs are explained from the same
    copies.

    Weights depend on the segmentation and on `hide_color`: a segment of one colour is
    not hidden by its mean colour, and gets no weight, whatever the model does with it.
    Compare with another `hide_color` if that matters.

    References
    ----------
    Ribeiro, M. T., Singh, S. & Guestrin, C. (2016). "Why should I trust you?":
    explaining the predictions of any classifier. Proceedings of KDD 2016.
    https://doi.org/10.1145/2939672.2939778

    Garreau, D. & Mardaoui, D. (2021). What does LIME really see in images? Proceedings
    of ICML 139. https://doi.org/10.48550/arXiv.2102.06307

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn_interpret.surrogates import LimeImage
    >>> X, y = load_digits(return_X_y=True)
    >>> model = LogisticRegression(C=0.001, max_iter=200)
    >>> inspector = LimeImage(model, image_shape=(8, 8), target=0, random_state=0)
    >>> explanation = inspector.fit(X, y).explain(X[:1])
    >>> explanation.maps().shape
    (1, 8, 8)
    >>> bool(explanation.fidelity[0] > 0.8)
    True
    """

    image_shape: Sequence[int] | None = None
    segmentation: Callable[..., Any] | None = None
    n_segments: int | None = None
    hide_color: Any = None
    n_features_to_select: int | None = None
    n_samples: int = 1000
    kernel_width: float | None = None
    feature_selection: str = "lars"
    surrogate: Any = None

    image_shape_: tuple[int, ...] = field(init=False)

    _parameter_constraints = {
        **BaseLocalSurrogate._parameter_constraints,
        "image_shape": [list, tuple, None],
        "segmentation": [callable, None],
        "n_segments": [Interval(Integral, 1, None, closed="left"), None],
        "hide_color": [Real, "array-like", None],
    }
    _caches = (*BaseLocalSurrogate._caches, "_segments")
    # Read by the estimator checks: pixels must be numbers.
    _takes_numbers_only = True

    def _check_rows(self, X: Any, *, reset: bool) -> Any:
        if not reset:
            check_is_fitted(self)
        rows, image_shape = as_image_rows(X), as_image_shape(self.image_shape)
        if rows is None:
            rows = super()._check_rows(X, reset=reset)
            shape = shape_of_rows(self.image_shape, rows.n_columns)
        else:
            shape = rows.native.shape[1:]
            if image_shape not in (None, shape):
                raise ValueError(
                    f"image_shape={self.image_shape!r}, but X has images of the shape "
                    f"{shape}."
                )
        if reset:
            self.image_shape_ = shape
        elif shape != self.image_shape_:
            raise ValueError(
                f"X has images of the shape {shape}; those of fit have the shape "
                f"{self.image_shape_}."
            )
        images = Images(rows, shape)
        _check_colour(self.hide_color, images)
        return images

    def _fit_samplers(self, sample: Sample) -> None:
        self._segments: NDArray[np.intp] | None = None
        self._images = cast(Images, sample.rows)
        _ = self._images.pixels  # raises an error if pixels are not numbers

    def _make_sampler(self, seed: list[int]) -> Sampler:
        return MaskSampler(
            self._response,
            partial(_masked_image, colour=self.hide_color),
            independent_masks,
            self.n_samples,
            self.kernel_width,
            seed,
        )

    def _fit_rows(self, rows: Images, sampler: Sampler) -> list[LocalFit]:
        if not rows.segments:
            rows.segments = self._find_segments(rows)
        return super()._fit_rows(rows, sampler)

    def _find_segments(self, rows: Images) -> list[NDArray[np.intp]]:
        """Segments of images, a list of arrays (height, width)."""
        segment = partial(
            _segment_image, function=self.segmentation, n_segments=self.n_segments
        )
        # As many blocks as workers; the last block may be smaller.
        step = -(-rows.n_rows // effective_n_jobs(self.n_jobs))
        tasks = [(segment, rows.pixels[block]) for block in slices(rows.n_rows, step)]
        blocks = run(_segment_block, tasks, n_jobs=self.n_jobs)
        return [labels for block in blocks for labels in block]

    @property
    def segments_(self) -> NDArray[np.intp]:
        """Segments of the images of `fit`, computed on first access."""
        check_is_fitted(self)
        if self._segments is None:
            self._segments = np.stack(self._find_segments(self._images))
        return self._segments

    def _explanation(
        self, rows: Images, fits: list[LocalFit], **fields: Any
    ) -> ImageExplanation:
        n_segments = [len(fit.coefficients) for fit in fits]
        positions = list(map(np.arange, n_segments))
        return ImageExplanation(
            **drop_output_axis(fields_of(fits, positions, max(n_segments))),
            **fields,
            segments=np.stack(rows.segments),
            images=rows.pixels,
        )


def _masked_image(image: Any, colour: Any) -> MaskedSample:
    """An image whose segments a colour can hide, for `MaskSampler`."""
    return MaskedSample(image.n_segments, image.masker(colour), image.copies_per_call)


def _segment_image(
    image: NDArray[np.float64],
    function: Callable[..., Any] | None,
    n_segments: int | None,
) -> NDArray[np.intp]:
    """Segments of an image by the user's function or by k-means: (height, width)."""
    if function is None:
        return colour_segments(image, n_segments or default_number(image.shape))
    return checked_segments(
        function(image.copy()), image.shape, f"segmentation={function!r}"
    )


def _segment_block(
    segment: Callable[..., Any], images: NDArray[np.float64]
) -> list[NDArray[np.intp]]:
    """Segments of each of a block of images."""
    # The images are too small for threads.
    with limit_threads(1):
        return [segment(image) for image in images]


def _check_colour(colour: Any, images: Images) -> None:
    """Refuse a colour that does not fit the images."""
    if colour is None:
        return
    try:
        numbers = np.asarray(colour, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"hide_color={colour!r} must be a number, or one for each channel: {error}"
        ) from error
    channels = images.shape[2:]
    if numbers.shape not in {(), channels}:
        raise ValueError(
            f"hide_color={colour!r} must be a number"
            + (f", or one for each of the {channels[0]} channels." if channels else ".")
        )
    dtype = getattr(images.native, "dtype", np.dtype(np.float64))
    if not isinstance(dtype, np.dtype) or dtype.kind not in "biu":
        return
    with np.errstate(invalid="ignore"):
        if not np.array_equal(round_to_dtype(numbers, dtype), np.rint(numbers)):
            raise ValueError(f"hide_color={colour!r} does not fit the dtype {dtype}.")
