"""Images, as arrays of their own shape or as rows of a table of pixels."""

from functools import cached_property

import numpy as np

from sklearn_interpret._model.parallel import batch_rows
from sklearn_interpret._model.rows.arrays import ArrayRows
from sklearn_interpret._model.rows.samples import SampleRows
from sklearn_interpret._model.rows.segments import segment_means

# Models that take images need much memory for each: no more of them at once, but for
# a few.
_BYTES_AT_ONCE, _FEW = 2**24, 16


class Images:
    """Images and the container that holds them.

    As much of :class:`~sklearn_interpret._model.rows.base.Rows` as samples have.

    Parameters
    ----------
    rows : SampleRows or Rows
        An array of images, or a table with a row of pixels for each.
    shape : tuple of int
        Height, width and, if any, channels.
    segments : list of ndarray of shape (height, width), default=None
        Their segments, where these are known.

    Raises
    ------
    ValueError
        Pixels that are no numbers.
    """

    def __init__(self, rows, shape, segments=None):
        self.rows = rows
        self.shape = shape
        self.segments = segments
        self.named = rows.named
        self.native = rows.native
        self.n_rows = rows.n_rows

    @property
    def row_bytes(self):
        """Memory that one image takes, about, in bytes."""
        return self.rows.row_bytes

    def take(self, index):
        """Images at the integer positions `index`."""
        segments = self.segments and [self.segments[i] for i in index]
        return Images(self.rows.take(index), self.shape, segments)

    def part(self, rows):
        """Images of a slice."""
        segments = self.segments and self.segments[rows]
        return Images(self.rows.part(rows), self.shape, segments)

    @cached_property
    def pixels(self):
        """Pixels as an array of shape (n_rows, height, width[, channels])."""
        rows, shape = self.rows, (self.n_rows, *self.shape)
        if _is_numeric(rows):
            return rows.native.reshape(shape)
        columns = [_numbers(rows, j) for j in range(rows.n_columns)]
        return np.stack(columns, axis=1).reshape(shape)

    def __getstate__(self):
        return {k: v for k, v in self.__dict__.items() if k != "pixels"}

    def __iter__(self):
        """Go through the images, which can be copied with segments left out."""
        copies = _ArrayCopies if _is_numeric(self.rows) else _TableCopies
        for i in range(self.n_rows):
            one = self.rows.take(np.array([i]))
            yield copies(one, self.pixels[i], self.segments[i])


def _is_numeric(rows):
    """Whether all pixels are numbers of one dtype in an array."""
    kinds = SampleRows, ArrayRows
    return isinstance(rows, kinds) and rows.native.dtype.kind in "biuf"


def _numbers(rows, j):
    """A column of pixels, NaN where they are missing."""
    values = rows.values(j)
    if values.dtype.kind not in "biuf":
        raise ValueError(
            f"The column {rows.names[j]!r} of X has the dtype {values.dtype}: the "
            "pixels of an image must be numbers."
        )
    return values.astype(np.float64)


def as_image_rows(X):
    """Wrap images that have a shape of their own.

    Parameters
    ----------
    X : object
        What the user passed in.

    Returns
    -------
    SampleRows or None
        Of an array, (n, height, width) or (n, height, width, channels); None where `X`
        is neither such an array nor a list of images: then it is a table of pixels.

    Raises
    ------
    ValueError
        Images of several shapes, none at all, or what are no images.
    """
    if isinstance(X, list | tuple) and np.ndim(X[0] if len(X) else 0) >= 2:
        X = _stacked(X)
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
            "of 1 is required by LimeImage."
        )
    return SampleRows(X)


def _stacked(images):
    """A list of images as an array."""
    shapes = {np.shape(image) for image in images}
    if len(shapes) > 1:
        raise ValueError(
            f"X has images of the shapes {sorted(shapes)}; all must have the same."
        )
    return np.asarray(images)


class _Copies:
    """Copies of one image in which segments are hidden.

    Parameters
    ----------
    row : SampleRows or Rows
        The image.
    pixels : ndarray of shape (height, width[, channels])
        The same, in its shape.
    segments : ndarray of shape (height, width), intp
        Its segments, from 0 on.
    """

    def __init__(self, row, pixels, segments):
        self.row = row
        self.pixels = pixels
        self.segments = segments
        self.n_segments = int(segments.max()) + 1

    @property
    def at_once(self):
        """How many to make at once."""
        row_bytes = self.row.row_bytes
        most = max(_FEW, _BYTES_AT_ONCE // max(row_bytes, 1))
        return min(batch_rows(row_bytes), most)

    def hidden(self, colour):
        """The image with everything hidden.

        Parameters
        ----------
        colour : float, ndarray of shape (channels,) or None
            What hides; None takes the mean colour of each segment, and for a segment
            of one pixel, which is all of that colour, the mean colour of the image.

        Returns
        -------
        ndarray of the shape of the image
            Not rounded.
        """
        shape = self.pixels.shape
        if colour is not None:
            return np.broadcast_to(np.asarray(colour, dtype=np.float64), shape)
        points = self.pixels.reshape(self.segments.size, -1).astype(np.float64)
        flat = self.segments.reshape(-1)
        means = segment_means(points, flat, self.n_segments)
        single = np.bincount(flat) == 1
        means[single] = segment_means(points, np.zeros_like(flat), 1)
        return means[flat].reshape(shape)


class _ArrayCopies(_Copies):
    """Copies of an image in an array."""

    def masker(self, colour):
        """A function of the segments that are kept, (m, n_segments), to copies."""
        dtype = self.pixels.dtype
        bits = _bits_of(dtype)
        image, hidden = (
            np.ascontiguousarray(array).reshape(-1).view(bits)
            for array in (self.pixels, rounded(self.hidden(colour), dtype))
        )
        # Bit by bit, several times faster than to choose between numbers.
        change, seen = image ^ hidden, ~bits.type(0)
        segments = np.repeat(self.segments, image.size // self.segments.size)

        def copies(kept):
            made = np.where(kept, seen, bits.type(0)).take(segments, axis=1)
            made &= change
            made ^= hidden
            return made.view(dtype).reshape(len(kept), *self.row.native.shape[1:])

        return copies


def _bits_of(dtype):
    """Unsigned integers that the numbers of a dtype are one or more of."""
    size = next(size for size in (8, 4, 2, 1) if dtype.itemsize % size == 0)
    return np.dtype(f"u{size}")


class _TableCopies(_Copies):
    """Copies of an image in a table, whose columns may have dtypes of their own."""

    def masker(self, colour):
        """A function of the segments that are kept, (m, n_segments), to copies."""
        columns = range(self.row.n_columns)
        pixels = self.pixels.reshape(-1)
        segments = self.segments.reshape(-1)
        segments = np.repeat(segments, len(pixels) // len(segments))
        levels = [
            self._levels(*entry)
            for entry in zip(
                columns, pixels, self.hidden(colour).reshape(-1), strict=True
            )
        ]

        def copies(kept):
            codes = kept.astype(np.intp)
            return self.row.tiles(0, 1, len(kept)).replaced(
                list(columns), levels, [codes[None, :, j] for j in segments]
            )

        return copies

    def _levels(self, j, pixel, hidden):
        """A pixel hidden and shown, in the column's dtype."""
        whole = self.row.values(j).dtype.kind in "biu"
        return self.row.cast(j, np.array([np.rint(hidden) if whole else hidden, pixel]))


def rounded(values, dtype):
    """Numbers in a dtype, to the nearest where that has whole numbers only."""
    if dtype.kind in "biu":
        values = np.rint(values)
    return values.astype(dtype)
