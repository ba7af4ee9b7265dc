"""Segments of images: patches of pixels that are left out together."""

import math

import numpy as np
from scipy.ndimage import uniform_filter
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

# So far apart in colour, as a share of the image's range, is as far as a segment is
# wide: less makes stripes along edges, more makes squares.
_COMPACTNESS = 0.2
# Means are found on about so many pixels, and then all pixels join the nearest.
_PIXELS_LOOKED_AT = 2**14
_PIXELS_AT_ONCE = 2**18
_N_ITERATIONS = 20
_MOST_SEGMENTS = 50


def default_number(shape):
    """How many segments an image is cut into unless the user says it.

    Parameters
    ----------
    shape : tuple of int
        Height, width and, if any, channels.

    Returns
    -------
    int
        50; in small images fewer, of four pixels. A strip may have one for each pixel.
    """
    height, width = shape[:2]
    least = 4 if min(height, width) > 1 else 1
    return min(_MOST_SEGMENTS, -(-height * width // least))


def colour_segments(image, n_segments):
    """Connected patches of like colour: k-means on colours and positions.

    Means start on a grid, so that nothing is left to chance; threads of BLAS and OpenMP
    may change the last bits, and should be limited to one. Pieces that hang together
    become segments of their own; those that are small join the neighbour with which
    they share most of their border.

    Parameters
    ----------
    image : ndarray of shape (height, width[, channels])
        Colours; missing ones are passed over.
    n_segments : int
        About how many; from the number of pixels on each pixel is one.

    Returns
    -------
    ndarray of shape (height, width), intp
        Segments, numbered as they appear, row by row.

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
    grid = _grid(height, width, n_segments)
    colours = _scaled(image)
    labels = _nearest_means(colours, grid)
    smallest = max(height * width // (4 * n_segments), min(height, width, 2))
    return _numbered(_connected(labels, smallest))


def _grid(height, width, n_segments):
    """Rows and columns of the means at the start."""
    n_rows = round(math.sqrt(n_segments * height / width))
    n_rows = min(max(n_rows, 1), height, n_segments)
    return n_rows, min(max(round(n_segments / n_rows), 1), width)


def _scaled(image):
    """Colours as shares of the image's range, a whole range apart at compactness."""
    colours = image.reshape(*image.shape[:2], -1).astype(np.float64)
    known = np.isfinite(colours)
    if not known.all():
        middle = colours[known].mean() if known.any() else 0.0
        colours = np.where(known, colours, middle)
    low, high = colours.min(), colours.max()
    if high > low:
        # The difference of huge numbers may overflow, that of halves does not.
        colours = (colours / 2 - low / 2) / (high / 2 - low / 2)
    else:
        colours = np.zeros_like(colours)
    return colours / (_COMPACTNESS * math.sqrt(colours.shape[2]))


def _nearest_means(colours, grid):
    """The mean that each pixel is nearest to, (height, width)."""
    from sklearn.cluster import KMeans  # late: nothing else needs it

    height, width = colours.shape[:2]
    step = max(1, int(math.sqrt(height * width / _PIXELS_LOOKED_AT)))
    if height // step < 2 * grid[0] or width // step < 2 * grid[1]:
        step = 1
    if step > 1:
        smooth = uniform_filter(colours, size=(step, step, 0), mode="nearest")
        colours = uniform_filter(colours, size=(3, 3, 0), mode="nearest")
        looked_at = smooth[step // 2 :: step, step // 2 :: step]
    else:
        looked_at = colours
    rows = np.arange(height) * (grid[0] / height)
    columns = np.arange(width) * (grid[1] / width)
    places = rows[step // 2 :: step], columns[step // 2 :: step]
    points = _points(looked_at, *places)
    means = KMeans(
        grid[0] * grid[1],
        init=_cell_means(points, *places, grid),
        n_init=1,
        max_iter=_N_ITERATIONS,
        random_state=0,
    ).fit(points)
    if step == 1:
        return means.labels_.reshape(height, width)
    at_once = max(1, _PIXELS_AT_ONCE // width)
    return np.concatenate(
        [
            means.predict(
                _points(
                    colours[start : start + at_once],
                    rows[start : start + at_once],
                    columns,
                )
            ).reshape(-1, width)
            for start in range(0, height, at_once)
        ]
    )


def _points(colours, rows, columns):
    """Colours and positions side by side, a pixel in a row."""
    shape = colours.shape[:2]
    parts = [
        np.broadcast_to(rows[:, None, None], (*shape, 1)),
        np.broadcast_to(columns[:, None], (*shape, 1)),
        colours,
    ]
    return np.concatenate(parts, axis=2).reshape(shape[0] * shape[1], -1)


def _cell_means(points, rows, columns, grid):
    """Means of the cells of the grid, where k-means begins."""
    cells = rows.astype(np.intp)[:, None] * grid[1] + columns.astype(np.intp)
    return segment_means(points, cells.reshape(-1), grid[0] * grid[1])


def segment_means(points, segments, n_segments):
    """Means of points by segment, of those that are known.

    Parameters
    ----------
    points : ndarray of shape (n, p)
        Missing values are passed over.
    segments : ndarray of shape (n,), intp
        Where each point belongs; every segment has one.
    n_segments : int
        How many segments there are.

    Returns
    -------
    ndarray of shape (n_segments, p)
        NaN where nothing is known.
    """
    means = np.empty((n_segments, points.shape[1]))
    for column, mean in zip(points.T, means.T, strict=True):
        known = ~np.isnan(column)
        weights = np.where(known, column, 0.0)
        counts = np.bincount(segments, known, n_segments)
        sums = np.bincount(segments, weights, n_segments)
        with np.errstate(invalid="ignore"):
            mean[:] = sums / counts
    return means


def _connected(labels, smallest):
    """Pieces that hang together, small ones joined to a neighbour."""
    pieces = _pieces(labels)
    while True:
        sizes = np.bincount(pieces.reshape(-1))
        small = sizes < smallest
        if len(sizes) == 1 or not small.any():
            return pieces
        pieces = _joined(pieces, small)


def _neighbours(labels):
    """Pairs of labels of pixels side by side, below each other."""
    beside = labels[:, :-1].reshape(-1), labels[:, 1:].reshape(-1)
    below = labels[:-1].reshape(-1), labels[1:].reshape(-1)
    return [np.concatenate(pair) for pair in zip(beside, below, strict=True)]


def _pieces(labels):
    """Connected pieces of equal label."""
    pixels = np.arange(labels.size).reshape(labels.shape)
    left, right = _neighbours(labels)
    one, other = _neighbours(pixels)
    same = left == right
    return _components(one[same], other[same], labels.size).reshape(labels.shape)


def _components(one, other, n):
    graph = coo_array((np.ones(len(one), dtype=bool), (one, other)), shape=(n, n))
    return connected_components(graph, directed=False)[1].astype(np.intp)


def _joined(pieces, small):
    """Each small piece made one with the neighbour of the longest common border."""
    n = len(small)
    left, right = _neighbours(pieces)
    ends = left != right
    left, right = left[ends], right[ends]
    pairs = np.concatenate([left * n + right, right * n + left])
    pairs, lengths = np.unique(pairs, return_counts=True)
    one, other = np.divmod(pairs, n)
    mine = small[one]
    one, other, lengths = one[mine], other[mine], lengths[mine]
    order = np.lexsort((other, -lengths, one))
    first = order[np.unique(one[order], return_index=True)[1]]
    return _components(one[first], other[first], n)[pieces]


def _numbered(labels):
    """Labels 0, 1, ... in the order in which they appear."""
    _, first, codes = np.unique(labels, return_index=True, return_inverse=True)
    numbers = np.empty(len(first), dtype=np.intp)
    numbers[np.argsort(first)] = np.arange(len(first))
    return numbers[codes].reshape(labels.shape)


def checked_segments(labels, shape, source):
    """Labels that the user's function gave, as numbers 0, 1, ... in their order.

    Parameters
    ----------
    labels : array-like of shape (height, width)
        Whole numbers.
    shape : tuple of int
        Height, width and, if any, channels of the image.
    source : str
        Where they come from, for the error.

    Returns
    -------
    ndarray of shape (height, width), intp

    Raises
    ------
    ValueError
        Labels of another shape, or no whole numbers.
    """
    labels = np.asarray(labels)
    if labels.shape != tuple(shape[:2]) or labels.dtype.kind not in "iub":
        raise ValueError(
            f"{source} gave labels of the shape {labels.shape} and the dtype "
            f"{labels.dtype} for an image of the shape {tuple(shape)}; whole numbers "
            f"of the shape {tuple(shape[:2])} are needed."
        )
    _, codes = np.unique(labels, return_inverse=True)
    return codes.reshape(labels.shape).astype(np.intp)
