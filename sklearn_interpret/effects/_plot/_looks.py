"""What may be chosen about a drawing, what was drawn, and how levels are found."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sklearn_interpret._model.rows.axes import label_text
from sklearn_interpret._model.rows.base import label_key


@dataclass
class Looks:
    """What the user may choose about a drawing; see `plot`."""

    rug: bool = True
    band: bool = True
    line_kw: dict | None = None
    band_kw: dict | None = None
    fold_kw: dict | None = None
    rug_kw: dict | None = None
    contour_kw: dict | None = None
    heatmap_kw: dict | None = None
    points_kw: dict | None = None
    curve_kw: dict | None = None


@dataclass
class Artists:
    """What was drawn on one panel."""

    lines: list = field(default_factory=list)
    bands: list = field(default_factory=list)
    folds: list = field(default_factory=list)
    curves: Any = None
    missing: list = field(default_factory=list)
    rug: Any = None
    contour: Any = None
    heat_map: Any = None
    points: Any = None
    colorbar: Any = None


def level_text(level):
    """A level as it stands on an axis; whole numbers without their ".0"."""
    if isinstance(level, float) and level.is_integer():
        return f"{level:.0f}"
    return label_text(level)


def level_places(values, levels):
    """Position among `levels` of each value, as floats; NaN for others."""
    known = {label_key(level): place for place, level in enumerate(levels)}
    return np.array([known.get(label_key(v), np.nan) for v in values], dtype=float)
