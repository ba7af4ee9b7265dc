"""Multiples of decimal steps: the values that columns may take."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Significant digits of a measured column, by its largest value.
_DIGITS = 6
# But a step is at most this share of the column's spread, as powers of ten.
_SPREAD_DIGITS = 3
# Larger powers of ten are no doubles.
_LARGEST_EXPONENT = 22


def decimal_step(values: NDArray[np.float64], dtype: type, spread: bool) -> Any:
    """The step of the decimals of a column; zero where it is too small for one.

    Parameters
    ----------
    values : ndarray of shape (n,)
        Numbers of the column, NaN where they are missing.
    dtype : numpy dtype
        The dtype whose numbers they are.
    spread : float
        Their spread.

    Returns
    -------
    float
        1 where all numbers are whole, else a power of ten.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_interpret._core.search.decimal_grids import decimal_step
    >>> decimal_step(np.array([1.5, 2.25]), np.dtype(float), 0.375)
    0.01
    """
    values = values[np.isfinite(values)]
    largest = np.abs(values).max(initial=0.0)
    if largest == 0:
        return 1.0
    exact = dtype.type if dtype.kind == "f" else np.float64
    # Finer decimals are not told apart by the dtype.
    finest = int(np.ceil(np.log10(np.float64(np.spacing(exact(largest))))))
    last = int(np.floor(np.log10(largest))) + 1 - _DIGITS
    last = max(min(last, int(np.floor(np.log10(spread))) - _SPREAD_DIGITS), finest)
    for exponent in (0, *range(-1, last, -1)):
        grid = DecimalGrid.of([_power_of_ten(exponent)], [dtype])
        some, every = values[:100], values
        if exponent >= finest and all(
            (grid.nearest(part, 0) == part).all() for part in (some, every)
        ):
            last = exponent
            break
    return _power_of_ten(last) if abs(last) <= _LARGEST_EXPONENT else 0.0


def _power_of_ten(exponent: Any) -> Any:
    return float(f"1e{exponent}")


@dataclass(frozen=True, eq=False)
class DecimalGrid:
    """Multiples of a step by column; all numbers where the step is zero.

    Each is the number of the column's dtype that is nearest to the decimal.

    Parameters
    ----------
    numerators, denominators : ndarray of shape (n_columns,)
        The steps as fractions.
    dtypes : list of numpy dtype
        The dtypes of the columns.
    """

    numerators: np.ndarray
    denominators: np.ndarray
    dtypes: list

    @classmethod
    def of(cls, steps: Any, dtypes: Any) -> Any:
        """The grid of some steps (n_columns,)."""
        fractions = [Fraction(repr(float(step))) for step in steps]
        numerators = np.array([float(part.numerator) for part in fractions])
        denominators = np.array([float(part.denominator) for part in fractions])
        return cls(numerators, denominators, list(dtypes))

    @cached_property
    def steps(self) -> Any:
        """Steps of the columns."""
        return self.numerators / self.denominators

    def nearest(self, values: NDArray[np.float64], columns: Any = slice(None)) -> Any:
        """The nearest multiples, of values whose last axis has some columns."""
        columns = np.arange(len(self.dtypes))[columns]
        numerators, denominators = self.numerators[columns], self.denominators[columns]
        free = numerators == 0
        units = np.where(free, 1.0, numerators)
        rounded = np.asarray(values * (denominators / units))
        np.rint(rounded, out=rounded)
        if (units != 1).any():
            rounded *= units
        rounded /= denominators
        rounded += 0.0  # no negative zeros
        for j in self._lower_precision:
            with np.errstate(over="ignore"):
                held = rounded.astype(self.dtypes[j])
            rounded = np.where(columns == j, held, rounded)
        return np.where(free, values, rounded) if free.any() else rounded

    @cached_property
    def _lower_precision(self) -> Any:
        """Columns whose dtype has less than double precision."""
        return [
            j
            for j, dtype in enumerate(self.dtypes)
            if dtype.kind == "f" and dtype.itemsize < 8 and self.numerators[j]
        ]

    def down(self, values: NDArray[np.float64], columns: Any = slice(None)) -> Any:
        """The largest multiples that are not above values."""
        nearest = self.nearest(values, columns)
        less = self.nearest(nearest - self.steps[columns], columns)
        return np.where(nearest > values, less, nearest)

    def up(self, values: NDArray[np.float64], columns: Any = slice(None)) -> Any:
        """The smallest multiples that are not below values."""
        return 0.0 - self.down(0.0 - np.asarray(values), columns)
