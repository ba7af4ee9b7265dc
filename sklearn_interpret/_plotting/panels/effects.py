"""Effects of features and of pairs: their numbers, bands and tables."""

from dataclasses import dataclass, replace

import numpy as np

from sklearn_interpret._plotting.panels.lines import Series, level_places
from sklearn_interpret._plotting.tables import stacked

N_ERRORS = 2.0
# Columns of a table, in their order.
COLUMNS = (
    *("term", "method", "feature", "feature2", "output", "x", "x2"),
    *("value", "low", "high", "slope", "slope_std", "row", "fold"),
)


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
    by_similarity: tuple = (False, False)  # which of them are ordered by similarity
    counts: np.ndarray | None = None  # weight of the rows in a pair's cells

    @property
    def levels(self):
        """Levels of a single feature that is a category, or None."""
        return self.places[0] if self.levelled[0] else None

    def levels_in(self, order):
        """Levels in an order, and whether they are ordered by similarity."""
        if order == "levels" or self.levels is None:
            return self.levels, self.by_similarity[0]
        # The order of the output that varies most.
        varied = self.values[np.argmax(spreads(self.values))]
        return self.levels[np.argsort(-varied, kind="stable")], False

    @property
    def held(self):
        """Mask of the values (G1, G2) of a pair that border on a cell with rows."""
        if self.counts is None or not self.counts.size:
            return np.isfinite(self.values).all(axis=0)
        held = self.counts > 0
        if not self.levelled[0]:
            held = np.pad(held, ((1, 0), (0, 0))) | np.pad(held, ((0, 1), (0, 0)))
        if not self.levelled[1]:
            held = np.pad(held, ((0, 0), (1, 0))) | np.pad(held, ((0, 0), (0, 1)))
        return held

    def swapped(self):
        """The effect of a pair, with its features in the other order."""
        turned = {
            name: getattr(self, name).swapaxes(1, 2)
            for name in ("values", "low", "high")
            if getattr(self, name) is not None
        }
        for name in ("names", "places", "levelled", "data"):
            turned[name] = getattr(self, name) and getattr(self, name)[::-1]
        return replace(self, **turned)

    def by_level(self, output):
        """One output of a pair, as a curve for each level of the second feature."""
        curves = {
            name: getattr(self, name)[output].T
            for name in ("values", "low", "high")
            if getattr(self, name) is not None
        }
        firsts = {"places": self.places[:1], "levelled": self.levelled[:1]}
        return replace(self, names=self.names[:1], **firsts, **curves)

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


def spreads(values):
    """Standard deviation of each output's effect (k, ...) over its known points."""
    flat = values.reshape(len(values), -1)
    known = np.isfinite(flat).all(axis=0)
    return flat[:, known].std(axis=1) if known.any() else np.zeros(len(flat))


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
    grids = np.meshgrid(*places, indexing="ij")
    return dict(zip(("x", "x2"), map(np.ravel, grids), strict=False))


def long_frame(blocks, caller):
    """One DataFrame of all blocks; columns that no block has are left out."""
    table = stacked(blocks, caller=caller)
    table = table[[name for name in COLUMNS if name in table]]
    return table.astype({name: "Int64" for name in ("row", "fold") if name in table})
