"""Images: arrays of images, or rows of a table of pixels."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_interpret._model.parallel import batch_rows
from sklearn_interpret._model.rows.arrays import ArrayRows
from sklearn_interpret._model.rows.base import Rows, round_to_dtype
from sklearn_interpret._model.rows.texts import SampleRows

# Bytes of the images of one call of the model: a network's layers take tens of times
# the memory of an image.
_BYTES_PER_CALL = 2**24
# Least number of images in a call: each call has a cost of its own.
_FEWEST_PER_CALL = 16


class Images:
    """Images in a container, with the part of the interface of `Rows` for samples.

    Parameters
    ----------
    rows : SampleRows or Rows
        An array of images, or a table with one row of pixels per image.
    shape : tuple of int
        Height, width and, if any, channels.
    segments : sequence of ndarray of shape (height, width), default=()
        Segments of the images, if computed.
    """

    def __init__(
        self,
        rows: Rows | SampleRows,
        shape: tuple[int, ...],
        segments: Sequence[NDArray[np.intp]] = (),
    ) -> None:
        self.rows: Any = rows
        self.shape = shape
        self.segments = segments
        self.named = rows.named
        self.native = rows.native
        self.n_rows = rows.n_rows

    @property
    def row_bytes(self) -> int:
        """Approximate memory of one image, in bytes."""
        return self.rows.row_bytes

    def take(self, index: NDArray[np.intp] | list[int]) -> Images:
        """Images at the integer positions `index`."""
        segments = self.segments and [self.segments[i] for i in index]
        return Images(self.rows.take(index), self.shape, segments)

    def sliced(self, rows: slice) -> Images:
        """Images of a slice."""
        segments = self.segments and self.segments[rows]
        return Images(self.rows.sliced(rows), self.shape, segments)

    @cached_property
    def pixels(self) -> NDArray[np.float64]:
        """Pixels, (n_rows, height, width[, channels]); all must be numbers."""
        rows, shape = self.rows, (self.n_rows, *self.shape)
        if _is_numeric(rows):
            return rows.native.reshape(shape)
        columns = [_pixel_column(rows, j) for j in range(rows.n_columns)]
        return np.stack(columns, axis=1).reshape(shape)

    def __getstate__(self) -> dict[str, Any]:
        return {k: v for k, v in self.__dict__.items() if k != "pixels"}

    def __iter__(self) -> Iterator[_Image]:
        """Yield the images one by one, as makers of copies with hidden segments."""
        kind = _ArrayImage if _is_numeric(self.rows) else _TableImage
        for i in range(self.n_rows):
            yield kind(self.rows.take(np.array([i])), self.pixels[i], self.segments[i])


def _is_numeric(rows: Rows | SampleRows) -> bool:
    """Whether all pixels are numbers of one dtype in an array."""
    has_dtype = isinstance(rows, SampleRows | ArrayRows)
    return has_dtype and rows.native.dtype.kind in "biuf"


def _pixel_column(rows: Rows, j: int) -> NDArray[np.float64]:
    """A column of pixels, missing ones as NaN."""
    values = rows.column_array(j)
    if values.dtype.kind not in "biuf":
        raise ValueError(
            f"The column {rows.names[j]!r} of X has the dtype {values.dtype}: the "
            "pixels of an image must be numbers."
        )
    return values.astype(np.float64)


def as_image_rows(X: Any) -> SampleRows | None:
    """Wrap an array or list of images as `SampleRows`.

    Returns None for anything else: a table of pixels. A ValueError refuses images of
    several shapes, and no images.
    """
    if isinstance(X, list | tuple) and np.ndim(X[0] if len(X) else 0) >= 2:
        shapes = {np.shape(image) for image in X}
        if len(shapes) > 1:
            raise ValueError(
                f"X has images of the shapes {sorted(shapes)}; all must have the same."
            )
        X = np.asarray(X)
    if getattr(X, "ndim", 2) < 3:
        return None
    X = np.asarray(X)
    if X.ndim > 4 or X.dtype.kind not in "biuf":
        raise ValueError(
            f"X has the shape {X.shape} and the dtype {X.dtype}; images are numbers of "
            "the shape (n, height, width) or (n, height, width, channels), or rows of "
            "pixels."
        )
    if not X.size:
        raise ValueError(
            f"Found array with 0 sample(s) or pixels (shape={X.shape}) while a minimum "
            "of 1 is required."
        )
    return SampleRows(X)


def as_image_shape(image_shape: Sequence[int] | None) -> tuple[int, ...] | None:
    """The parameter `image_shape` as a tuple, or None."""
    if image_shape is None:
        return None
    are_positive = all(isinstance(n, Integral) and n > 0 for n in image_shape)
    if len(image_shape) not in (2, 3) or not are_positive:
        raise ValueError(
            f"image_shape={image_shape!r} must be (height, width) or (height, width, "
            "channels), positive whole numbers."
        )
    return tuple(int(n) for n in image_shape)


def shape_of_rows(image_shape: Sequence[int] | None, n_columns: int) -> tuple[int, ...]:
    """The shape of images that are rows of a table; by default strips of height 1."""
    shape = as_image_shape(image_shape) or (1, n_columns)
    if np.prod(shape) != n_columns:
        raise ValueError(
            f"image_shape={image_shape!r} has {np.prod(shape)} numbers, but X has "
            f"{n_columns} columns."
        )
    return shape


class _Image:
    """One image, and copies of it with some segments hidden.

    `row` holds it in its container, `pixels` in its shape; segments are 0, 1, ...
    """

    def __init__(
        self, row: Any, pixels: NDArray[np.float64], segments: NDArray[np.intp]
    ) -> None:
        self.row = row
        self.pixels = pixels
        self.n_segments = int(segments.max()) + 1
        self._segments = segments.reshape(-1)
        # The segment of each number: a pixel has one number per channel.
        n_channels = pixels.size // segments.size
        self.segment_of = np.repeat(self._segments, n_channels)

    @property
    def copies_per_call(self) -> int:
        """Number of copies per call of the model."""
        row_bytes = self.row.row_bytes
        most_images = max(_FEWEST_PER_CALL, _BYTES_PER_CALL // max(row_bytes, 1))
        return min(batch_rows(row_bytes), most_images)

    def hide_all(self, colour: ArrayLike | None) -> NDArray[np.float64]:
        """The numbers of the image with all segments hidden, not rounded.

        A colour of None is the mean colour of each segment. A segment of one pixel
        would not change, and gets the mean colour of the image.
        """
        if colour is not None:
            numbers = np.asarray(colour, dtype=np.float64)
            return np.broadcast_to(numbers, self.pixels.shape).reshape(-1)
        segments = self._segments
        points = self.pixels.reshape(segments.size, -1).astype(np.float64)
        means = segment_means(points, segments, self.n_segments)
        has_one_pixel = np.bincount(segments) == 1
        means[has_one_pixel] = segment_means(points, np.zeros_like(segments), 1)
        return means[segments].reshape(-1)


class _ArrayImage(_Image):
    """An image in an array."""

    def masker(self, colour: ArrayLike | None) -> Callable[[NDArray[np.bool_]], Any]:
        """A function from masks of kept segments, (m, n_segments), to copies."""
        dtype = self.pixels.dtype
        size = min(dtype.itemsize, 8)
        bits = np.dtype(f"u{size}")
        image, hidden = (
            np.ascontiguousarray(numbers).reshape(-1).view(bits)
            for numbers in (self.pixels, round_to_dtype(self.hide_all(colour), dtype))
        )
        # Bitwise operations are several times faster than np.where on the numbers.
        change, all_bits = image ^ hidden, ~bits.type(0)
        segment_of = np.repeat(self.segment_of, dtype.itemsize // size)

        def copies(visible: NDArray[np.bool_]) -> NDArray[Any]:
            images = np.where(visible, all_bits, bits.type(0)).take(segment_of, axis=1)
            images &= change
            images ^= hidden
            return images.view(dtype).reshape(len(visible), *self.row.native.shape[1:])

        return copies


class _TableImage(_Image):
    """An image in a table, whose columns may have several dtypes."""

    def masker(self, colour: ArrayLike | None) -> Callable[[NDArray[np.bool_]], Any]:
        """A function from masks of kept segments, (m, n_segments), to copies."""
        columns = list(range(self.row.n_columns))
        hidden, pixels = self.hide_all(colour), self.pixels.reshape(-1)
        levels = [self._hidden_and_visible(j, hidden[j], pixels[j]) for j in columns]

        def copies(visible: NDArray[np.bool_]) -> Any:
            codes = visible.astype(np.intp)
            return self.row.tiles(0, 1, len(visible)).replace(
                columns, levels, [codes[None, :, j] for j in self.segment_of]
            )

        return copies

    def _hidden_and_visible(self, j: int, hidden: float, pixel: float) -> Any:
        """The hidden and the visible value of a pixel, in the column's dtype."""
        if self.row.column_array(j).dtype.kind in "biu":
            hidden = np.rint(hidden)
        return self.row.cast(j, np.array([hidden, pixel]))


def segment_means(
    points: NDArray[np.float64], segments: NDArray[np.intp], n_segments: int
) -> NDArray[np.float64]:
    """Means (n_segments, p) of each segment's points (n, p), ignoring missing ones."""
    means = np.empty((n_segments, points.shape[1]))
    for column, mean in zip(points.T, means.T, strict=True):
        present = ~np.isnan(column)
        weights = np.where(present, column, 0.0)
        counts = np.bincount(segments, present, n_segments)
        sums = np.bincount(segments, weights, n_segments)
        with np.errstate(invalid="ignore"):
            mean[:] = sums / counts
    return means
