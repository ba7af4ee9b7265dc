"""Long tables of the numbers that a display draws."""

import numpy as np

from sklearn_interpret._plotting.tables import import_pandas

COLUMNS = (
    "method",
    "feature",
    "feature2",
    "output",
    "x",
    "x2",
    "value",
    "low",
    "high",
    "slope",
    "slope_std",
    "row",
    "fold",
)
WHOLE = ("row", "fold")
NUMBERS = ("value", "low", "high", "slope", "slope_std")


def effect_columns(effect, outputs, slope_std=None, **extra):
    """Blocks of columns of one effect: its mean, then each fold.

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
    list of dict of column name to array
    """
    places = _points(effect.places)
    names = dict(zip(("feature", "feature2"), effect.names, strict=False))
    blocks = []
    for output, name in zip(range(len(effect.values)), outputs, strict=True):
        fixed = {**names, **extra, "output": name, **places}
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
    """Blocks of columns of one effect's curves, one line per row and point.

    Parameters
    ----------
    effect : Effect
        Names and places.
    outputs : sequence
        Names of the outputs.
    curves : ndarray of shape (k, n, G) or (k, n, G1, G2)
        The curves.
    rows : ndarray of shape (n,)
        Which row each belongs to.
    slopes : ndarray of shape (k, n, G), optional
        Their slopes.
    """
    names = dict(zip(("feature", "feature2"), effect.names, strict=False))
    n_points = int(np.prod(curves.shape[2:]))
    places = {
        name: _tiled(values, len(rows))
        for name, values in _points(effect.places).items()
    }
    blocks = []
    for output, name in zip(range(len(curves)), outputs, strict=True):
        block = {**names, "output": name, **places, "value": curves[output].ravel()}
        if slopes is not None:
            block["slope"] = slopes[output].ravel()
        blocks.append({**block, "row": np.repeat(rows, n_points)})
    return blocks


def _points(places):
    """Columns x (and x2) of all points of a grid, the second axis fastest."""
    if len(places) == 1:
        return {"x": places[0]}
    first, second = places
    return {
        "x": np.repeat(first, len(second)),
        "x2": _tiled(second, len(first)),
    }


def _tiled(values, times):
    # np.tile would take tuples in an object array apart.
    return values[np.tile(np.arange(len(values)), times)]


def long_frame(blocks, caller):
    """One DataFrame of all blocks; columns that no block has are left out.

    Parameters
    ----------
    blocks : list of dict
        Columns, each an array or one value for all.
    caller : str
        Who makes the table, for the error.

    Returns
    -------
    pandas.DataFrame
    """
    pandas = import_pandas(caller)
    columns = {}
    for name in COLUMNS:
        if any(name in block for block in blocks):
            parts = [_column(block, name) for block in blocks]
            columns[name] = _joined(name, np.concatenate(parts), pandas)
    return pandas.DataFrame(columns)


def _column(block, name):
    """A block's column; missing throughout where the block lacks it."""
    n_lines = len(block["value"])
    if name in NUMBERS + WHOLE:
        values = np.asarray(block.get(name, np.nan), dtype=np.float64)
        return np.broadcast_to(values, n_lines)
    column = np.empty(n_lines, dtype=object)
    values = block.get(name)
    if isinstance(values, np.ndarray):
        values = values.tolist()
    else:
        values = [values] * n_lines
    for line, value in enumerate(values):  # a slice would take tuples apart
        column[line] = value
    return column


def _joined(name, values, pandas):
    if name in WHOLE:
        return pandas.array(values, dtype="Int64")
    if name in NUMBERS:
        return values
    if name in ("x", "x2", "output") and all(
        isinstance(value, int | float) and not isinstance(value, bool)
        for value in values
    ):
        kinds = {type(value) for value in values}
        return values.astype(np.int64 if kinds == {int} else np.float64)
    return pandas.Series(values, dtype=object)
