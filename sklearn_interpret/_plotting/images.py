"""Images: their shapes, their colours, and options for drawing them."""

from __future__ import annotations

from math import prod
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.image import AxesImage

# Images of at most this number of pixels across are drawn with visible pixels.
_FEW_PIXELS = 100
# Images whose sides differ by more than this factor are stretched, to be seen at all.
_MOST_ELONGATED = 6


def check_image_shape(shape: Any, n_features: int) -> None:
    """Refuse anything but the shape of an image of `n_features` numbers."""
    has_sizes = isinstance(shape, tuple | list) and all(
        isinstance(size, Integral) for size in shape
    )
    if not has_sizes or len(shape) not in (2, 3) or prod(shape) != n_features:
        raise ValueError(
            f"image_shape={shape!r} must be (height, width) or (height, width, "
            f"channels) of an image of {n_features} numbers."
        )


def as_drawable_image(image: NDArray[Any]) -> NDArray[np.float64]:
    """An image as numbers from 0 to 1, grey or in three colours."""
    if image.ndim == 3 and image.shape[2] not in (3, 4):
        image = image.mean(axis=2)
    image = image[..., :3] if image.ndim == 3 else image
    low, high = 0.0, 255.0
    if image.dtype != np.uint8 or image.ndim == 2:
        image = image.astype(np.float64)
        finite = image[np.isfinite(image)]
        low, high = (finite.min(), finite.max()) if len(finite) else (0.0, 1.0)
        if image.ndim == 3 and low >= 0 and high <= 1:  # colours as they are
            low, high = 0.0, 1.0
    shares = (image - low) / (high - low) if high > low else image * 0.0 + 0.5
    return np.clip(np.nan_to_num(shares), 0, 1)


def draw_image(ax: Axes, image: NDArray[np.float64], **style_kwargs: Any) -> AxesImage:
    """Draw an image without ticks; a grey one on the scale from 0 to 1."""
    shape = image.shape[:2]
    is_elongated = max(shape) > _MOST_ELONGATED * min(shape)
    has_few_pixels = max(shape) <= _FEW_PIXELS
    style_kwargs = {"cmap": "gray", "vmin": 0, "vmax": 1, **style_kwargs}
    style_kwargs["aspect"] = "auto" if is_elongated else "equal"
    interpolation = "nearest" if has_few_pixels else "antialiased"
    style_kwargs.setdefault("interpolation", interpolation)
    ax.set(xticks=[], yticks=[])
    ax.grid(visible=False)
    return ax.imshow(image, **style_kwargs)
