"""The numbers of one effect, and the tables of them."""

from dataclasses import dataclass

import numpy as np

from sklearn_interpret._plotting.tables import import_pandas
from sklearn_interpret.effects._plot._panels import Series, level_places

N_ERRORS = 2.0
# Columns of a table; those of whole numbers and of numbers may be missing.
COLUMNS = ["method", "feature", "feature2", "output", "x", "x2"]
NUMBERS = ["value", "low", "high", "slope", "slope_std"]
WHOLE = ["row", "fold"]


@dataclass(frozen=True)
class Effect:
    """Numbers of one entry."""

    names: tuple  # one or two features
    places: tuple  # values or levels along them
    levelled: tuple  # which of them are categories
    values: np.ndarray  # (k, G) or (k, G1, G2): the effect
    low: np.ndarray | None = None  # lower ends of the bands
    high: np.ndarray | None = None  # upper ends of the bands
    # (n_folds, k, ...): the effect of each fold's model.
    folds: np.ndarray | None = None
    data: tuple | None = None  # the features' values in the data
    bounds: tuple | None = None  # ends of cells, where values belong to these

    @property
    def levels(self):
        """Levels of a single feature that is a category, or None."""
        return self.places[0] if self.levelled[0] else None

    def series(self, output, label, colour, levels=None):
        """One output of a one-way effect as a line.

        Along a category, x are positions among `levels`, by default its own.
        """
        (places,) = self.places
        if self.levelled[0]:
            places = level_places(places, places if levels is None else levels)
        return Series(
            np.asarray(places, dtype=np.float64),
            self.values[output],
            None if self.low is None else self.low[output],
            None if self.high is None else self.high[output],
            None if self.folds is None else self.folds[:, output],
            label,
            colour,
        )


def with_outputs(values, n_axes):
    """The array with an axis of outputs in front."""
    values = np.asarray(values, dtype=np.float64)
    return values[None] if values.ndim == n_axes else values


def fold_band(folds, n_axes):
    """Folds (n_folds, k, ...), and one standard deviation to each side of their mean.

    They are given with or without the axis of outputs.
    """
    folds = np.asarray(folds, dtype=np.float64)
    folds = folds[:, None] if folds.ndim == n_axes + 1 else folds
    mean, std = folds.mean(axis=0), folds.std(axis=0)
    return {"low": mean - std, "high": mean + std, "folds": folds}


def error_band(values, errors, n_axes):
    """`N_ERRORS` standard errors to each side."""
    values, reach = (with_outputs(part, n_axes) for part in (values, errors))
    return {"low": values - N_ERRORS * reach, "high": values + N_ERRORS * reach}


def effect_columns(effect, outputs, slope_std=None, **extra):
    """Blocks of columns of one effect, for each output its mean and then its folds.

    Parameters
    ----------
    effect : Effect
        The numbers.
    outputs : sequence
        Names of the outputs.
    slope_std : ndarray of shape (k, G) or None
        Of the means.
    **extra : object
        Columns of one value.

    Returns
    -------
    list of dict of column name to array or value
    """
    blocks = []
    for output, name in zip(range(len(effect.values)), outputs, strict=True):
        fixed = {**_names(effect), **extra, "output": name, **_points(effect.places)}
        block = {**fixed, "value": effect.values[output].ravel()}
        for part in ("low", "high"):
            if getattr(effect, part) is not None:
                block[part] = getattr(effect, part)[output].ravel()
        if slope_std is not None:
            block["slope_std"] = slope_std[output]
        blocks.append(block)
        for fold, values in enumerate(() if effect.folds is None else effect.folds):
            blocks.append({**fixed, "value": values[output].ravel(), "fold": fold})
    return blocks


def curve_columns(effect, outputs, curves, rows, slopes=None):
    """Blocks of columns of one effect's curves (k, n, ...), a line per row and point.

    `rows` are the rows (n,) that the curves belong to, `slopes` (k, n, G) their slopes.
    """
    n_points = int(np.prod(curves.shape[2:]))
    places = _points(effect.places).items()
    places = {name: np.tile(values, len(rows)) for name, values in places}
    fixed = {**_names(effect), **places, "row": np.repeat(rows, n_points)}
    blocks = []
    for output, name in zip(range(len(curves)), outputs, strict=True):
        block = {**fixed, "output": name, "value": curves[output].ravel()}
        if slopes is not None:
            block["slope"] = slopes[output].ravel()
        blocks.append(block)
    return blocks


def _names(effect):
    return dict(zip(("feature", "feature2"), effect.names, strict=False))


def _points(places):
    """Columns x (and x2) of all points of a grid, the second axis fastest."""
    if len(places) == 1:
        return {"x": places[0]}
    first, second = places
    return {"x": np.repeat(first, len(second)), "x2": np.tile(second, len(first))}


def long_frame(blocks, caller):
    """One DataFrame of all blocks; columns that no block has are left out."""
    pandas = import_pandas(caller)
    columns = {}
    for name in COLUMNS + NUMBERS + WHOLE:
        if not any(name in block for block in blocks):
            continue
        if name in COLUMNS:
            cells = [cell for block in blocks for cell in _cells(block, name)]
            columns[name] = pandas.Series(cells, dtype=_cell_type(name, cells))
            continue
        parts = [
            np.broadcast_to(block.get(name, np.nan), len(block["value"]))
            for block in blocks
        ]
        kind = "Int64" if name in WHOLE else "float64"
        columns[name] = pandas.Series(np.concatenate(parts), dtype=kind)
    return pandas.DataFrame(columns)


def _cells(block, name):
    """A block's column as a list; None throughout where the block lacks it."""
    values = block.get(name)
    if isinstance(values, np.ndarray):
        return values.tolist()
    return [values] * len(block["value"])


def _cell_type(name, cells):
    """Numbers have their own type where a column has nothing else."""
    numeric = all(
        isinstance(cell, int | float) and not isinstance(cell, bool) for cell in cells
    )
    if name not in ("x", "x2", "output") or not numeric:
        return object
    return np.int64 if set(map(type, cells)) == {int} else np.float64
