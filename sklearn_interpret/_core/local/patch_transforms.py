"""Rotation, scaling and pasting of patches as linear maps of pixels."""

from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy import sparse


def random_paste(
    shares: NDArray[np.float64],
    image_shape: tuple[int, int],
    patch_shape: tuple[int, int],
    scale: tuple[float, float],
    max_rotation: float,
) -> sparse.csr_array:
    """The pasting matrix for a random position, size and angle.

    Parameters
    ----------
    shares : ndarray of shape (4,)
        Relative positions of the angle, the size, the row and the column in their
        ranges: uniform numbers in [0, 1).
    image_shape, patch_shape : (int, int)
        Height and width.
    scale : (float, float)
        Least and largest size, in units of the patch's size.
    max_rotation : float
        Largest angle to either side, in degrees.

    Returns
    -------
    csr_array of shape (n_image_pixels, n_patch_pixels)
        As returned by :func:`paste`.
    """
    degrees = (2 * shares[0] - 1) * max_rotation
    size = scale[0] + shares[1] * (scale[1] - scale[0])
    room = np.array(image_shape) - _bounding_box(patch_shape, size, degrees)
    # Whole pixels, so that a patch is not blurred without rotation or scaling.
    corners = np.floor(shares[2:] * (np.floor(room) + 1))
    corner = np.where(room >= 0, corners, room / 2)
    return paste(corner, image_shape, patch_shape, size, degrees)


def paste(
    corner: NDArray[np.float64] | tuple[float, float],
    image_shape: tuple[int, int],
    patch_shape: tuple[int, int],
    scale: float = 1.0,
    degrees: float = 0.0,
) -> sparse.csr_array:
    """Weights of the pixels of a patch in each pixel of an image: rows sum to one.

    Pixels whose centre the patch does not cover have an empty row. Interpolation is
    bilinear between the centres of the patch's pixels.

    Parameters
    ----------
    corner : (float, float)
        Row and column of the upper left corner of the box around the pasted patch.
    image_shape, patch_shape : (int, int)
        Height and width.
    scale, degrees : float
        Scale factor and rotation of the patch.

    Returns
    -------
    csr_array of shape (n_image_pixels, n_patch_pixels)
    """
    centre = np.asarray(corner) + _bounding_box(patch_shape, scale, degrees) / 2
    pixels = np.indices(image_shape).reshape(2, -1).T
    cos, sin = _rotation(degrees)
    rotation_back = np.array([[cos, -sin], [sin, cos]])
    size = np.array(patch_shape)
    # Positions of the image's pixels on the patch: row and column, (n_pixels, 2).
    positions = (pixels + 0.5 - centre) @ rotation_back / scale + size / 2
    covered = np.flatnonzero(((positions >= 0) & (positions < size)).all(axis=1))
    positions = np.clip(positions[covered] - 0.5, 0, size - 1)
    lower = np.floor(positions).astype(np.intp)
    upper, upper_weight = np.minimum(lower + 1, size - 1), positions - lower
    # Each covered pixel has the weights of four pixels of the patch.
    neighbours, weights = [], []
    ends = (lower, 1 - upper_weight), (upper, upper_weight)
    for (rows, row_weights), (columns, column_weights) in product(ends, ends):
        neighbours.append(rows[:, 0] * size[1] + columns[:, 1])
        weights.append(row_weights[:, 0] * column_weights[:, 1])
    cells = np.tile(covered, 4), np.concatenate(neighbours)
    shape = (len(pixels), size.prod())
    return sparse.csr_array((np.concatenate(weights), cells), shape=shape)


def _bounding_box(
    patch_shape: tuple[int, int], scale: float, degrees: float
) -> NDArray[np.float64]:
    """Height and width of the box around a pasted patch."""
    cos, sin = np.abs(_rotation(degrees))
    return scale * np.array([[cos, sin], [sin, cos]]) @ np.array(patch_shape)


def _rotation(degrees: float) -> tuple[float, float]:
    """Cosine and sine of an angle."""
    return np.cos(np.deg2rad(degrees)), np.sin(np.deg2rad(degrees))
