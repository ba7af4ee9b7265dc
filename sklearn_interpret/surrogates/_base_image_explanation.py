"""Result of LIME for images: weights of segments."""

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sklearn_interpret._choosing import output_position
from sklearn_interpret.surrogates._base_explanation import LocalExplanation


@dataclass(frozen=True, eq=False, repr=False)
class ImageExplanation(LocalExplanation):
    """Weights of a surrogate on the segments of each image.

    The features are segments, which differ from image to image. Where an image has
    fewer of them than another, the last values are zero.

    Parameters
    ----------
    values : array-like of shape (n_rows, n_segments[, n_outputs])
        What it adds to the response that a segment is seen.
    base_values : array-like of shape (n_rows[, n_outputs])
        Intercepts of the surrogate: what it answers with everything hidden.
    predictions : array-like of shape (n_rows[, n_outputs]), default=None
        The model's responses to the images.
    data : {ndarray, sparse matrix, DataFrame} of n_rows rows, default=None
        The images, in the container in which they were given.
    feature_names : sequence of str, default=None
        A name for each segment; None makes up ``segment 0``, ``segment 1``...
    output_names : sequence, default=None
        A class label or position for each output; None makes up positions.
    standard_errors : array-like of the shape of `values`, default=None
        Standard errors of the weights, for the choice of the samples.
    columns : None, default=None
        Segments are no columns.
    fidelity : array-like of shape (n_rows[, n_outputs]), default=None
        Weighted R^2 of the surrogate on the samples around each image.
    local_predictions : array-like of shape (n_rows[, n_outputs]), default=None
        What the surrogate predicts for the images.
    selected : array-like of the shape of `values`, default=None
        Which segments the surrogate uses; None takes those whose weight is not zero.
    scales : array-like of shape (n_segments,), default=None
        Not of use here; None means one.
    conditions : array-like of shape (n_rows, n_segments), default=None
        Not of use here.
    segments : array-like of shape (n_rows, height, width)
        The segment that each pixel belongs to, from 0 on.
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

    segments: np.ndarray = field(kw_only=True)
    images: np.ndarray = field(kw_only=True)

    _arrays_by_row: ClassVar[tuple] = (
        *LocalExplanation._arrays_by_row,
        "segments",
        "images",
    )
    # Asked by the checks of the contract.
    _features_are_columns: ClassVar[bool] = False

    def __post_init__(self):
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
        whole = segments.dtype.kind in "iu"
        if not whole or (segments < 0).any() or (segments >= n_segments).any():
            raise ValueError(
                f"segments must be whole numbers from 0 to {n_segments - 1}, one for "
                "each column of values."
            )
        self._set("segments", segments.astype(np.intp, copy=False))
        self._set("images", images)

    def maps(self, output: Any = None) -> NDArray[np.float64]:
        """Weights pixel by pixel: each has that of its segment.

        Parameters
        ----------
        output : class label or int, default=None
            Name of the output; None takes the only one, or all.

        Returns
        -------
        ndarray of shape (n_rows, height, width[, n_outputs])
            The axis of outputs is there if there are several and None is chosen.

        Raises
        ------
        ValueError
            No such output.
        """
        values = self.values
        if output is not None:
            place = output_position(self.output_names, output)
            values = values if values.ndim == 2 else values[:, :, place]
        rows = np.arange(len(self))[:, None, None]
        return values[rows, self.segments]

    def _check_data(self):
        if self.columns is not None:
            raise ValueError("columns is given, but segments are no columns of data.")
        if self.data is not None and self.data.shape[0] != len(self):
            raise ValueError(
                f"data has {self.data.shape[0]} rows, but values has {len(self)}."
            )

    def _data_rows(self, taken):
        images = isinstance(self.data, np.ndarray)
        return self.data[taken] if images else super()._data_rows(taken)

    def _data_array(self):
        return None

    def _entries(self, row, features):
        return [""] * len(features)
