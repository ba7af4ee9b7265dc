"""Segments of images: patches of pixels that are left out together."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import uniform_filter
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from sklearn_interpret._model.rows.images import segment_means

# Share of the image's colour range that counts as much as the width of a segment: less
# gives stripes along edges, more gives squares. Chosen by hand.
_COMPACTNESS = 0.2
# Pixels that k-means is fitted on, 128 by 128: larger images are sampled, for speed.
_PIXELS_FOR_MEANS = 2**14
# Iterations of k-means, which starts on a grid; later iterations change little.
_N_ITERATIONS = 20
# Default number of segments of all but small images.
_DEFAULT_SEGMENTS = 50


def default_number(shape: Sequence[int]) -> int:
    """Number of segments that an image of this shape is cut into by default.

    It is 50, or fewer in small images: segments have at least four pixels on average,
    or one in a strip.
    """
    height, width = shape[:2]
    min_pixels = 4 if min(height, width) > 1 else 1
    return min(_DEFAULT_SEGMENTS, -(-height * width // min_pixels))


def colour_segments(image: NDArray[np.float64], n_segments: int) -> NDArray[np.intp]:
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
    grid = _grid_of_means(height, width, n_segments)
    labels = _assign_means(_scale_colours(image), grid)
    smallest = max(height * width // (4 * n_segments), min(height, width, 2))
    return _connect_pieces(labels, smallest)


def _grid_of_means(height: int, width: int, n_segments: int) -> tuple[int, int]:
    """Number of rows and columns of the initial grid of means."""
    n_rows = round(math.sqrt(n_segments * height / width))
    n_rows = min(max(n_rows, 1), height, n_segments)
    return n_rows, min(max(round(n_segments / n_rows), 1), width)


def _scale_colours(image: NDArray[np.float64]) -> NDArray[np.float64]:
    """Colours in units of the image's range times the compactness."""
    colours = image.reshape(*image.shape[:2], -1).astype(np.float64)
    finite = np.isfinite(colours)
    if not finite.all():
        middle = colours[finite].mean() if finite.any() else 0.0
        colours = np.where(finite, colours, middle)
    low, high = colours.min(), colours.max()
    if high > low:
        # Halves first: the difference of huge numbers may overflow.
        colours = (colours / 2 - low / 2) / (high / 2 - low / 2)
    else:
        colours = np.zeros_like(colours)
    return colours / (_COMPACTNESS * math.sqrt(colours.shape[2]))


def _assign_means(
    colours: NDArray[np.float64], grid: tuple[int, int]
) -> NDArray[np.intp]:
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
    points = _pixel_points(smooth[sample, sample], rows[sample], columns[sample])
    # It starts from the means of the cells of the grid.
    rows_of_cells = rows[sample].astype(np.intp)[:, None] * grid[1]
    cells = (rows_of_cells + columns[sample].astype(np.intp)).reshape(-1)
    means = KMeans(
        grid[0] * grid[1],
        init=segment_means(points, cells, grid[0] * grid[1]),
        n_init=1,
        max_iter=_N_ITERATIONS,
        random_state=0,
    ).fit(points)
    return means.predict(_pixel_points(colours, rows, columns)).reshape(height, width)


def _pixel_points(
    colours: NDArray[np.float64],
    rows: NDArray[np.float64],
    columns: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Positions and colours of the pixels, one pixel per row."""
    points = np.dstack([*np.meshgrid(rows, columns, indexing="ij"), colours])
    return points.reshape(-1, points.shape[2])


def _connect_pieces(labels: NDArray[np.intp], smallest: int) -> NDArray[np.intp]:
    """Connected pieces of equal label; small ones join a neighbour."""
    pieces = _connected_pieces(labels)
    while True:
        n_pixels = np.bincount(pieces.reshape(-1))
        small = n_pixels < smallest
        if len(n_pixels) == 1 or not small.any():
            return pieces
        pieces = _join_small(pieces, small)


def _neighbours(labels: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Labels of all adjacent pixels: left or upper ones, and right or lower ones."""
    first = labels[:, :-1].reshape(-1), labels[:-1].reshape(-1)
    second = labels[:, 1:].reshape(-1), labels[1:].reshape(-1)
    return np.concatenate(first), np.concatenate(second)


def _connected_pieces(labels: NDArray[np.intp]) -> NDArray[np.intp]:
    """Connected pieces of equal label, numbered as they appear."""
    pixels = np.arange(labels.size).reshape(labels.shape)
    left, right = _neighbours(labels)
    first, second = _neighbours(pixels)
    equal = left == right
    pieces = _component_of_nodes(first[equal], second[equal], labels.size)
    return pieces.reshape(labels.shape)


def _component_of_nodes(
    first: NDArray[np.intp], second: NDArray[np.intp], n_nodes: int
) -> NDArray[np.intp]:
    """Component of each node of a graph with edges from first to second nodes."""
    edges = np.ones(len(first), dtype=bool), (first, second)
    graph = coo_array(edges, shape=(n_nodes, n_nodes))
    return connected_components(graph, directed=False)[1].astype(np.intp)


def _join_small(pieces: NDArray[np.intp], small: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Pieces after each small one joined the neighbour with the longest border."""
    n_pieces = len(small)
    left, right = _neighbours(pieces)
    # Pairs of neighbours as one number each, and the lengths of their borders.
    pairs = np.concatenate([left * n_pieces + right, right * n_pieces + left])
    pairs, lengths = np.unique(pairs, return_counts=True)
    first, second = np.divmod(pairs, n_pieces)
    is_border = small[first] & (first != second)
    first, second, lengths = first[is_border], second[is_border], lengths[is_border]
    # The first of each small piece has the longest border.
    order = np.lexsort((second, -lengths, first))
    longest = order[np.unique(first[order], return_index=True)[1]]
    return _component_of_nodes(first[longest], second[longest], n_pieces)[pieces]


def checked_segments(
    labels: Any, shape: Sequence[int], source: str
) -> NDArray[np.intp]:
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
