"""Patches pasted on images against the definition, pixel by pixel."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from sklearn_interpret._core.local.patch_transforms import paste, random_paste


def bilinear(patch, row, column):
    """The value of a patch between the centres of its pixels."""
    (h, w) = patch.shape
    row, column = np.clip(row - 0.5, 0, h - 1), np.clip(column - 0.5, 0, w - 1)
    total = 0.0
    for i in range(h):
        for j in range(w):
            near = max(0, 1 - abs(row - i)) * max(0, 1 - abs(column - j))
            total += near * patch[i, j]
    return total


def pasted(image, patch, place, scale, degrees):
    """An image with a patch: each pixel turned back to where it is on the patch."""
    h, w = patch.shape
    angle, image = np.deg2rad(degrees), image.copy()
    cos, sin = np.cos(angle), np.sin(angle)
    box = scale * (h * abs(cos) + w * abs(sin)), scale * (h * abs(sin) + w * abs(cos))
    for i in range(image.shape[0]):
        for j in range(image.shape[1]):
            y = i + 0.5 - place[0] - box[0] / 2
            x = j + 0.5 - place[1] - box[1] / 2
            row = (cos * y + sin * x) / scale + h / 2
            column = (-sin * y + cos * x) / scale + w / 2
            if 0 <= row < h and 0 <= column < w:
                image[i, j] = bilinear(patch, row, column)
    return image


def by_matrix(image, patch, matrix):
    covered = (np.diff(matrix.indptr) > 0).reshape(image.shape)
    return np.where(covered, (matrix @ patch.ravel()).reshape(image.shape), image)


@given(
    seed=st.integers(0, 10**6),
    scale=st.sampled_from([0.4, 1.0, 1.3, 3.0]),
    degrees=st.sampled_from([0.0, 17.0, -33.0, 121.0]),
)
def test_pixel_by_pixel(seed, scale, degrees):
    rng = np.random.default_rng(seed)
    image, patch = rng.random(rng.integers(1, 9, 2)), rng.random(rng.integers(1, 5, 2))
    place = rng.uniform(-2, 5, size=2)
    matrix = paste(place, image.shape, patch.shape, scale, degrees)
    expected = pasted(image, patch, place, scale, degrees)
    assert_allclose(by_matrix(image, patch, matrix), expected, atol=1e-9)
    sums = matrix.sum(axis=1)
    assert_allclose(sums[np.diff(matrix.indptr) > 0], 1)


@given(seed=st.integers(0, 10**6))
def test_whole_pixels_are_copied(seed):
    """Without a turn and in its own size a patch is not blurred, wherever it is."""
    rng = np.random.default_rng(seed)
    image, patch = rng.random((7, 8)), rng.random(rng.integers(1, 7, 2))
    h, w = patch.shape
    matrix = random_paste(rng.random(4), image.shape, patch.shape, (1.0, 1.0), 0.0)
    found = by_matrix(image, patch, matrix)
    row, column = np.divmod(np.flatnonzero(np.diff(matrix.indptr))[0], 8)
    expected = image.copy()
    expected[row : row + h, column : column + w] = patch
    assert_array_equal(found, expected)


def test_all_places_are_drawn():
    shares = np.random.default_rng(0).random((300, 4))
    drawn = {
        np.flatnonzero(np.diff(random_paste(s, (4, 5), (2, 3), (1, 1), 0).indptr))[0]
        for s in shares
    }
    assert drawn == {0, 1, 2, 5, 6, 7, 10, 11, 12}


@pytest.mark.parametrize("share", [0.0, 1 - 1e-16])
def test_random_places_are_inside(share):
    """The whole box is, where it has room; else the patch is in the middle."""
    shares = np.full(4, share)
    matrix = random_paste(shares, (20, 21), (3, 5), (0.5, 2.0), 30.0)
    area = (0.25 if share == 0 else 4) * 15
    assert abs((np.diff(matrix.indptr) > 0).sum() - area) <= 0.35 * area
    wide = random_paste(shares, (4, 4), (3, 3), (2.0, 2.0), 0.0)
    assert (np.diff(wide.indptr) > 0).all()


def test_a_quarter_turn():
    patch = np.arange(6.0).reshape(2, 3)
    matrix = paste((0, 0), (3, 2), (2, 3), degrees=90)
    found = (matrix @ patch.ravel()).reshape(3, 2)
    assert_allclose(found, np.rot90(patch))
