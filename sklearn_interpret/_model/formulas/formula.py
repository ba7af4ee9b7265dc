"""Which formula computes the responses of a model, or why no formula does.

A formula is read only if the methods that compute the responses are those of a class
whose formula is known, none overridden (:mod:`formula_class`), and if it gives the
model's own responses to rows (:class:`Formula`). All methods that use formulas read
them by :func:`read_formula`.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sklearn_interpret._model.rows.base import Rows
from sklearn_interpret.exceptions import UnreadableModelError


class Comparison(NamedTuple):
    """Responses of a model to some rows, and those of its formula."""

    expected: NDArray[np.float64]  # of the model, (n_rows, n_outputs)
    computed: NDArray[np.float64]  # of the formula
    tolerance: NDArray[np.float64]  # largest differences that count as rounding

    def agrees(self) -> bool:
        """Whether the shapes are equal, and no responses differ by more."""
        same_shape = self.expected.shape == self.computed.shape
        return same_shape and not np.any(
            np.abs(self.computed - self.expected) > self.tolerance
        )


class Formula(ABC):
    """A formula read from a model; :meth:`check` compares it with the model on rows."""

    @property
    @abstractmethod
    def _mismatch(self) -> str:
        """Why the formula can't be used where the model does not follow it."""

    def agrees(self, rows: Rows) -> bool:
        """Whether formula and model agree on rows."""
        return all(comparison.agrees() for comparison in self._comparisons(rows))

    def check(self, rows: Rows) -> None:
        """Raise an UnreadableModelError unless formula and model agree on rows."""
        if not self.agrees(rows):
            raise UnreadableModelError(self._mismatch)

    @abstractmethod
    def _comparisons(self, rows: Rows) -> Iterator[Comparison]:
        """Comparisons of model and formula on batches of rows."""


def read_formula(
    readers: Iterable[Callable[..., Any]],
    *model: Any,
    rows: Rows | None = None,
    required: bool = False,
) -> Any:
    """The first formula that can be read from a model, or None.

    Parameters
    ----------
    readers : iterable of callables
        Each takes `model`, and raises an UnreadableModelError where it can't read it.
    *model : object
        What readers take: an estimator or a response, and how to read it.
    rows : Rows, default=None
        Rows on which a `Formula` must give the model's responses; None compares nothing
        here.
    required : bool, default=False
        Whether to raise the readers' reasons instead of returning None, for a method
        that was asked for by name.

    Raises
    ------
    UnreadableModelError
        With `required`; it says why each reader fails.
    """
    reasons = []
    for read in readers:
        try:
            result = read(*model)
            if rows is not None:
                result.check(rows)
            return result
        except UnreadableModelError as error:
            # The error itself would keep this frame, and with it the caller's arrays,
            # in memory until garbage is collected.
            reasons.append(str(error))
    if required:
        raise UnreadableModelError(" ".join(reasons))
    return None


@contextmanager
def errors_in(subject: str, readable: str | None = None) -> Iterator[None]:
    """Name a part of the model in its errors, and say what can be read instead."""
    try:
        yield
    except UnreadableModelError as error:
        hint = "" if readable is None else f" What can be read: {readable}."
        raise UnreadableModelError(f"{subject}: {error}{hint}") from error
