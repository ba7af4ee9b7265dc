"""Segments of images: patches of pixels that are left out together."""

import math

import numpy as np
from scipy.ndimage import uniform_filter
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from sklearn_interpret._model.rows.images import segment_means

# Share of the image's colour range that counts as much as the width of a segment: less
# gives stripes along edges, more gives squares.
_COMPACTNESS = 0.2
# Pixels that k-means is fitted on: larger images are sampled, for speed.
_PIXELS_FOR_MEANS = 2**14
# Iterations of k-means, which starts on a grid and changes little after these.
_N_ITERATIONS = 20
# Default number of segments of all but small images.
_MOST_SEGMENTS = 50


def default_number(shape):
    """Number of segments that an image of this shape is cut into by default.

    It is 50, or fewer in small images: segments have at least four pixels on average,
    or one in a strip.
    """
    height, width = shape[:2]
    least = 4 if min(height, width) > 1 else 1
    return min(_MOST_SEGMENTS, -(-height * width // least))


def colour_segments(image, n_segments):
    """Connected patches of similar colour: k-means on colours and positions.

    Means start on a grid, so nothing is random; but threads of BLAS and OpenMP may
    change the last bits, and should be limited to one. Each connected piece becomes a
    segment; a small one joins the neighbour with the longest common border.

    The image has the shape (height, width[, channels]); missing colours are ignored.
    The segments (height, width) are numbered as they appear, row by row. With as many
    segments as pixels, each pixel is a segment.

    References
    ----------
    Achanta, R., Shaji, A., Smith, K., Lucchi, A., Fua, P. & Suesstrunk, S. (2012).
    SLIC superpixels compared to state-of-the-art superpixel methods. IEEE Transactions
    on Pattern Analysis and Machine Intelligence 34(11).
    https://doi.org/10.1109/TPAMI.2012.120
    """
    height, width = image.shape[:2]
    if n_segments >= height * width:
        return np.arange(height * width).reshape(height, width)
    labels = _nearest_means(_scaled(image), _grid(height, width, n_segments))
    smallest = max(height * width // (4 * n_segments), min(height, width, 2))
    return _connected(labels, smallest)


def _grid(height, width, n_segments):
    """Number of rows and columns of the initial grid of means."""
    n_rows = round(math.sqrt(n_segments * height / width))
    n_rows = min(max(n_rows, 1), height, n_segments)
    return n_rows, min(max(round(n_segments / n_rows), 1), width)


def _scaled(image):
    """Colours in units of the image's range times the compactness."""
    colours = image.reshape(*image.shape[:2], -1).astype(np.float64)
    known = np.isfinite(colours)
    if not known.all():
        middle = colours[known].mean() if known.any() else 0.0
        colours = np.where(known, colours, middle)
    low, high = colours.min(), colours.max()
    if high > low:
        # Halves first: the difference of huge numbers may overflow.
        colours = (colours / 2 - low / 2) / (high / 2 - low / 2)
    else:
        colours = np.zeros_like(colours)
    return colours / (_COMPACTNESS * math.sqrt(colours.shape[2]))


def _nearest_means(colours, grid):
    """Index of the nearest mean of each pixel, (height, width)."""
    from sklearn.cluster import KMeans  # slow to import, and used only here

    height, width = colours.shape[:2]
    step = max(1, int(math.sqrt(height * width / _PIXELS_FOR_MEANS)))
    if height // step < 2 * grid[0] or width // step < 2 * grid[1]:
        step = 1
    rows = np.arange(height) * (grid[0] / height)
    columns = np.arange(width) * (grid[1] / width)
    # For large images k-means is fitted on a sample of smoothed pixels.
    sample = slice(step // 2, None, step)
    smooth = colours
    if step > 1:
        smooth = uniform_filter(colours, size=(step, step, 0), mode="nearest")
        colours = uniform_filter(colours, size=(3, 3, 0), mode="nearest")
    points = _points(smooth[sample, sample], rows[sample], columns[sample])
    means = KMeans(
        grid[0] * grid[1],
        init=_cell_means(points, rows[sample], columns[sample], grid),
        n_init=1,
        max_iter=_N_ITERATIONS,
        random_state=0,
    ).fit(points)
    return means.predict(_points(colours, rows, columns)).reshape(height, width)


def _points(colours, rows, columns):
    """Positions and colours of the pixels, one pixel per row."""
    shape = colours.shape[:2]
    parts = [
        np.broadcast_to(rows[:, None, None], (*shape, 1)),
        np.broadcast_to(columns[:, None], (*shape, 1)),
        colours,
    ]
    return np.concatenate(parts, axis=2).reshape(shape[0] * shape[1], -1)


def _cell_means(points, rows, columns, grid):
    """Means of the cells of the grid: the start of k-means."""
    cells = rows.astype(np.intp)[:, None] * grid[1] + columns.astype(np.intp)
    return segment_means(points, cells.reshape(-1), grid[0] * grid[1])


def _connected(labels, smallest):
    """Connected pieces of equal label; small ones join a neighbour."""
    pieces = _pieces(labels)
    while True:
        sizes = np.bincount(pieces.reshape(-1))
        small = sizes < smallest
        if len(sizes) == 1 or not small.any():
            return pieces
        pieces = _joined(pieces, small)


def _neighbours(labels):
    """Labels of all adjacent pixels: left or upper ones, and right or lower ones."""
    first = labels[:, :-1].reshape(-1), labels[:-1].reshape(-1)
    second = labels[:, 1:].reshape(-1), labels[1:].reshape(-1)
    return np.concatenate(first), np.concatenate(second)


def _pieces(labels):
    """Connected pieces of equal label, numbered as they appear."""
    pixels = np.arange(labels.size).reshape(labels.shape)
    left, right = _neighbours(labels)
    one, other = _neighbours(pixels)
    same = left == right
    return _components(one[same], other[same], labels.size).reshape(labels.shape)


def _components(one, other, n):
    graph = coo_array((np.ones(len(one), dtype=bool), (one, other)), shape=(n, n))
    return connected_components(graph, directed=False)[1].astype(np.intp)


def _joined(pieces, small):
    """Pieces after each small one joined the neighbour with the longest border."""
    n = len(small)
    left, right = _neighbours(pieces)
    pairs = np.concatenate([left * n + right, right * n + left])
    pairs, lengths = np.unique(pairs, return_counts=True)
    one, other = np.divmod(pairs, n)
    borders = small[one] & (one != other)
    one, other, lengths = one[borders], other[borders], lengths[borders]
    order = np.lexsort((other, -lengths, one))
    first = order[np.unique(one[order], return_index=True)[1]]
    return _components(one[first], other[first], n)[pieces]


def checked_segments(labels, shape, source):
    """The user's integer labels as 0, 1, ... in the same order."""
    try:
        labels = np.asarray(labels)
    except ValueError:  # lists of several lengths
        labels = np.asarray(None)
    if labels.shape != tuple(shape[:2]) or labels.dtype.kind not in "iub":
        raise ValueError(
            f"{source} returned labels of the shape {labels.shape} and the dtype "
            f"{labels.dtype} for an image of the shape {tuple(shape)}; whole numbers "
            f"of the shape {tuple(shape[:2])} are needed."
        )
    _, codes = np.unique(labels, return_inverse=True)
    return codes.reshape(labels.shape).astype(np.intp)
