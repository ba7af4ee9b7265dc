"""LIME for images."""

from collections.abc import Callable, Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from sklearn_interpret._core.local.masks import independent_masks
from sklearn_interpret._model._sklearn_compat import Interval
from sklearn_interpret._model.parallel import limit_threads, run, slices
from sklearn_interpret._model.rows.images import Images, as_image_rows, rounded
from sklearn_interpret._model.rows.segments import (
    checked_segments,
    colour_segments,
    default_number,
)
from sklearn_interpret.surrogates._base import BaseLocalSurrogate
from sklearn_interpret.surrogates._base_fitting import arrays_of, by_output
from sklearn_interpret.surrogates._base_image_explanation import ImageExplanation
from sklearn_interpret.surrogates._base_masked import MaskedSurroundings


class LimeImage(BaseLocalSurrogate):
    r"""Linear surrogates around single images, in their segments (LIME).

    The model is asked about copies of the image in which half of its segments are
    hidden; a small linear model of what is seen is fitted to its answers, in which
    copies that show more count more. Its weights are the explanation: what it adds to
    the response that a segment is seen. Its R^2 on the copies tells how far to trust
    it.

    Parameters
    ----------
    estimator : estimator
        Any predictor; a clone of it is fitted. Pass a fitted one as
        ``FrozenEstimator(model)``. It is asked with images of the very shape and dtype
        in which they are given, and as many as fit into memory at once.
    image_shape : tuple of int, default=None
        ``(height, width)`` or ``(height, width, channels)`` of images that are given as
        rows of a table. None takes rows as strips of pixels, of height one.
    segmentation : callable, default=None
        ``f(image)`` of an image, (height, width) or (height, width, channels), to
        whole-number labels of its pixels, (height, width), such as scikit-image's
        `slic`. None takes k-means on colours and positions.
    n_segments : int, default=None
        About how many segments the default segmentation finds. None takes 50, and in
        small images one for four pixels; of a strip one for each pixel, up to 50.
    hide_color : float or array-like of shape (channels,), default=None
        What hides a segment. None takes its mean colour; for a segment of one pixel,
        that of the image.
    n_features_to_select : int or None, default=None
        How many segments a surrogate uses, exactly, if there are so many. None takes
        all.
    n_samples : int, default=1000
        How many copies the model is asked about; where there are no more sets of
        segments than this, all of them, and nothing is left to chance.
    kernel_width : float or None, default=None
        Width of the kernel that weighs copies, in cosine distances from the image. None
        takes 0.25.
    feature_selection : {"lars", "forward", "highest_weights", "none"}, default="lars"
        How segments are chosen: in the order of least angle regression, one after the
        other by what they explain, by their weights beside all others, or not at all.
    surrogate : estimator or None, default=None
        What is fitted to the chosen segments, such as a ridge regression or a short
        tree; it needs `coef_` or `feature_importances_`, and `sample_weight` in its
        `fit`. None takes least squares.
    min_fidelity : float or None, default=0.2
        R^2 below which :class:`~sklearn_interpret.exceptions.LowFidelityWarning` is
        raised; None never warns.
    response_method : str, list of str or callable, default="auto"
        "auto" asks regressors for `predict` and classifiers for `predict_proba`, else
        `decision_function`. A method's name, several of which the first that exists is
        taken, "centered_log_proba", or a callable ``f(estimator, X)``.
    target : class label or int, default=None
        Output to keep. None keeps the only one, the positive class of a binary
        classifier, or all.
    random_state : int, RandomState or None, default=None
        Draws the samples, once in `fit`.
    n_jobs : int or None, default=None
        Workers, which share the images to explain.
    verbose : int, default=0
        Verbosity of the loop.

    Attributes
    ----------
    estimator_ : estimator
        The fitted model.
    image_shape_ : tuple of int
        Height, width and, if any, channels of the images.
    segments_ : ndarray of shape (n_samples, height, width)
        Segments of the images of `fit`, from 0 on. Computed when first asked for.
    stability_ : float
        Mean Jaccard similarity of the five strongest segments over redraws of the
        samples, from 0 to 1. Computed when first asked for.
    response_method_ : str or callable
        What is explained.
    output_names_ : list
        Class labels, or positions of outputs.
    n_features_in_ : int
        Number of pixels and channels, where images are rows of a table.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, where the input has string column names.
    classes_ : ndarray
        Class labels of a classifier.

    Raises
    ------
    ValueError
        In `fit`: images that do not have `image_shape`, pixels that are no numbers, a
        `hide_color` that pixels cannot have, a fitted model passed bare without `y`.
        Labels of `segmentation` that do not fit the image.

    See Also
    --------
    LimeImageDisplay : Draws the weights over the image.
    LimeTabular : For rows of a table.
    LimeText : For texts.

    Notes
    -----
    `fit` and `explain` take images as an array of shape (n, height, width), grey, or
    (n, height, width, channels), in colour, or flattened: a table with a row of pixels
    for each, in any container, with `image_shape`.

    With z the segments that are seen in a copy, s the share of them, and f(z) the
    response to it, the surrogate is

    .. math:: \min_{g} \sum_z \exp\left(-\frac{(1 - \sqrt{s})^2}{2 \sigma^2}\right)
        \left(f(z) - g(z)\right)^2,

    linear in z. Each segment is seen in half of the copies. These are scrambled Sobol
    points, which make explanations vary less than independent draws do. All randomness
    is drawn in `fit`, and images with as many segments get the same copies: the same
    image always gets the same explanation. All outputs are explained from the same
    answers.

    The default segmentation is deterministic. A weight speaks of the segments as they
    are cut, and of what hides them: a segment of one colour is not hidden by its mean
    colour, and gets no weight however much the model looks at it. Compare with another
    `hide_color` where that matters.

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

    _parameter_constraints = {
        **BaseLocalSurrogate._parameter_constraints,
        "image_shape": [list, tuple, None],
        "segmentation": [callable, None],
        "n_segments": [Interval(Integral, 1, None, closed="left"), None],
        "hide_color": [Real, "array-like", None],
    }
    _caches = (*BaseLocalSurrogate._caches, "_segments")
    # Asked by the checks of the contract: other columns are no pixels.
    _takes_numbers_only = True

    def __init__(
        self,
        estimator: Any,
        *,
        image_shape: Sequence[int] | None = None,
        segmentation: Callable[..., Any] | None = None,
        n_segments: int | None = None,
        hide_color: Any = None,
        n_features_to_select: int | None = None,
        n_samples: int = 1000,
        kernel_width: float | None = None,
        feature_selection: str = "lars",
        surrogate: Any = None,
        min_fidelity: float | None = 0.2,
        response_method: str | Sequence[str] | Callable[..., Any] = "auto",
        target: Any = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            estimator,
            n_features_to_select=n_features_to_select,
            n_samples=n_samples,
            kernel_width=kernel_width,
            feature_selection=feature_selection,
            surrogate=surrogate,
            min_fidelity=min_fidelity,
            response_method=response_method,
            target=target,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        self.image_shape = image_shape
        self.segmentation = segmentation
        self.n_segments = n_segments
        self.hide_color = hide_color

    def _check_rows(self, X, *, reset):
        rows = as_image_rows(X)
        if rows is None:
            rows = super()._check_rows(X, reset=reset)
            shape = self._shape_of_rows(rows)
        else:
            shape = rows.native.shape[1:]
            self._check_given_shape(shape)
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

    def _shape_of_rows(self, rows):
        """Shape of the image in a row of a table."""
        given = self._given_shape()
        if given is None:
            return 1, rows.n_columns
        if np.prod(given) != rows.n_columns:
            raise ValueError(
                f"image_shape={self.image_shape!r} has {np.prod(given)} numbers, but X "
                f"has {rows.n_columns} columns."
            )
        return given

    def _check_given_shape(self, shape):
        given = self._given_shape()
        if given is not None and given != shape:
            raise ValueError(
                f"image_shape={self.image_shape!r}, but X has images of the shape "
                f"{shape}."
            )

    def _given_shape(self):
        """The parameter as a tuple."""
        given = self.image_shape
        if given is None:
            return None
        whole = all(isinstance(n, Integral) and n > 0 for n in given)
        if len(given) not in (2, 3) or not whole:
            raise ValueError(
                f"image_shape={given!r} must be (height, width) or (height, width, "
                "channels), positive whole numbers."
            )
        return tuple(int(n) for n in given)

    def _prepare(self, sample):
        self._segments = None
        _ = sample.rows.pixels  # refuses what is no number

    def _surroundings(self, seed):
        return _HiddenSegments(
            self._response, self.hide_color, self.n_samples, self.kernel_width, seed
        )

    def _fits(self, rows, surroundings):
        if rows.segments is None:
            rows.segments = self._cut(rows)
        return super()._fits(rows, surroundings)

    def _cut(self, rows):
        """Segments of images, a list."""
        cut = _Segmentation(self.segmentation, self.n_segments)
        step = -(-rows.n_rows // effective_n_jobs(self.n_jobs))
        tasks = [(cut, rows.pixels[part]) for part in slices(rows.n_rows, step)]
        found = run(_all_cut, tasks, n_jobs=self.n_jobs, verbose=self.verbose)
        return [labels for part in found for labels in part]

    @property
    def segments_(self) -> NDArray[np.intp]:
        """Segments of the images of `fit`, found when first asked for."""
        check_is_fitted(self)
        if self._segments is None:
            self._segments = np.stack(self._cut(self._inspected))
        return self._segments

    def _describe(self, rows, fits, **fields):
        sizes = [len(fit.coefficients) for fit in fits]
        found = arrays_of(fits, list(map(np.arange, sizes)), max(sizes))
        return ImageExplanation(
            **by_output(found),
            **fields,
            data=rows.native,
            segments=np.stack(rows.segments),
            images=rows.pixels,
        )


class _HiddenSegments(MaskedSurroundings):
    """Copies of images with some of their segments hidden.

    Parameters
    ----------
    response : Response
        The model.
    colour : float, array-like or None
        What hides; None is the mean colour.
    n_samples, kernel_width, seed : object
        As :class:`MaskedSurroundings` takes them.
    """

    def __init__(self, response, colour, n_samples, kernel_width, seed):
        super().__init__(response, independent_masks, n_samples, kernel_width, seed)
        self.colour = colour

    def _samples(self, rows):
        return rows

    def _apart(self, sample):
        return sample.n_segments, sample.masker(self.colour), sample.at_once


class _Segmentation:
    """How images are cut: by the user's function, or by colours.

    Parameters
    ----------
    function : callable or None
        The user's.
    n_segments : int or None
        How many are wanted else.
    """

    def __init__(self, function, n_segments):
        self.function = function
        self.n_segments = n_segments

    def __call__(self, image):
        """Segments of an image, (height, width)."""
        if self.function is None:
            n_segments = self.n_segments or default_number(image.shape)
            return colour_segments(image, n_segments)
        labels = self.function(image.copy())
        source = f"segmentation={self.function!r}"
        return checked_segments(labels, image.shape, source)


def _all_cut(cut, images):
    # Threads would change the last bits.
    with limit_threads(1):
        return [cut(image) for image in images]


def _check_colour(colour, images):
    """Refuse a colour that the images cannot have."""
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
        if not np.array_equal(rounded(numbers, dtype), np.rint(numbers)):
            raise ValueError(f"hide_color={colour!r} does not fit the dtype {dtype}.")
