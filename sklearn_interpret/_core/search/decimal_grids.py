"""Multiples of decimal steps: the values that columns may take."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

# Significant digits of a column's largest value that steps keep at least, where its
# numbers have more: as many as are printed by default, and as single precision holds.
_DIGITS = 6
# Digits of the column's spread that steps keep at least: steps of 1e-3 of the spread
# hardly lengthen the distances to counterfactuals.
_SPREAD_DIGITS = 3
# Larger powers of ten are not exact in double precision.
_LARGEST_EXPONENT = 22

# Some of the columns of a grid.
_Columns = int | slice | NDArray[np.intp]


def decimal_step(values: NDArray[np.float64], dtype: np.dtype, spread: float) -> float:
    """The step of the decimals of a column; zero where it is too small for one.

    Parameters
    ----------
    values : ndarray of shape (n,)
        Numbers of the column, NaN where they are missing.
    dtype : numpy dtype
        The dtype of the column.
    spread : float
        Spread of the values.

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
    float_type = dtype.type if dtype.kind == "f" else np.float64
    # Exponents of ten: below the finest, decimals are finer than numbers of the dtype.
    finest = int(np.ceil(np.log10(np.float64(np.spacing(float_type(largest))))))
    by_digits = int(np.floor(np.log10(largest))) + 1 - _DIGITS
    by_spread = int(np.floor(np.log10(spread))) - _SPREAD_DIGITS
    step = max(min(by_digits, by_spread), finest)
    # A coarser step is enough if all numbers are multiples of it.
    for exponent in (0, *range(-1, step, -1)):
        grid = DecimalGrid.of([_power_of_ten(exponent)], [dtype])
        # Few values refute most exponents.
        if exponent >= finest and all(
            (grid.nearest(some, 0) == some).all() for some in (values[:100], values)
        ):
            step = exponent
            break
    return _power_of_ten(step) if abs(step) <= _LARGEST_EXPONENT else 0.0


def _power_of_ten(exponent: int) -> float:
    return float(f"1e{exponent}")


@dataclass(frozen=True, eq=False)
class DecimalGrid:
    """Multiples of a step by column; all numbers where the step is zero.

    A multiple is the number of the column's dtype that is nearest to the decimal.

    Parameters
    ----------
    numerators, denominators : ndarray of shape (n_columns,)
        The steps as fractions.
    dtypes : list of numpy dtype
        The dtypes of the columns.
    """

    numerators: NDArray[np.float64]
    denominators: NDArray[np.float64]
    dtypes: list[np.dtype]

    @classmethod
    def of(cls, steps: Iterable[float], dtypes: Iterable[np.dtype]) -> DecimalGrid:
        """The grid of some steps (n_columns,)."""
        distinct, position = np.unique(list(steps), return_inverse=True)
        fractions = [Fraction(repr(step)) for step in distinct.tolist()]
        numerators = np.array([float(fraction.numerator) for fraction in fractions])
        denominators = np.array([float(fraction.denominator) for fraction in fractions])
        numerators, denominators = numerators[position], denominators[position]
        return cls(numerators, denominators, list(dtypes))

    @cached_property
    def steps(self) -> NDArray[np.float64]:
        """Steps of the columns."""
        return self.numerators / self.denominators

    def nearest(
        self, values: NDArray[np.float64] | float, columns: _Columns = slice(None)
    ) -> NDArray[np.float64]:
        """The nearest multiples, of values whose last axis has some columns."""
        positions = np.arange(len(self.dtypes))[columns]
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
                in_dtype = rounded.astype(self.dtypes[j])
            rounded = np.where(positions == j, in_dtype, rounded)
        return np.where(free, values, rounded) if free.any() else rounded

    @cached_property
    def _lower_precision(self) -> list[int]:
        """Columns whose dtype has less than double precision."""
        return [
            j
            for j, dtype in enumerate(self.dtypes)
            if dtype.kind == "f" and dtype.itemsize < 8 and self.numerators[j]
        ]

    def down(
        self, values: NDArray[np.float64] | float, columns: _Columns = slice(None)
    ) -> NDArray[np.float64]:
        """The largest multiples that are not above values."""
        nearest = self.nearest(values, columns)
        less = self.nearest(nearest - self.steps[columns], columns)
        return np.where(nearest > values, less, nearest)

    def up(
        self, values: NDArray[np.float64] | float, columns: _Columns = slice(None)
    ) -> NDArray[np.float64]:
        """The smallest multiples that are not below values."""
        return 0.0 - self.down(0.0 - np.asarray(values), columns)
