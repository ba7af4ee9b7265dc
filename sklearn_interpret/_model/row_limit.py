"""Rows that a call of an inspector sends to the model: counted, announced, limited.

`counting_rows` begins the count of a call, `ask_model` adds to it, and `announce_rows`
says before how many rows there will be. More than the inspector's `max_rows` are an
error, before they are sent.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from math import inf
from typing import Any, TypeVar

from sklearn_interpret._model._sklearn_compat import warn
from sklearn_interpret.exceptions import CostlyInspectionWarning

T = TypeVar("T")

# Rows above which a warning is raised: at a million rows a second, as small models
# predict, they take two minutes.
_MANY_ROWS = 10**8
# Calls of more seconds raise a warning, so that users can stop them early.
COSTLY_SECONDS = 60.0
# Seconds of a call of the model above which it is slow: shorter ones measure other
# programs, too.
SLOW_CALL = 0.2


@dataclass(eq=False)
class RowCount:
    """Rows that a running call has sent to the model, and the most that it may send."""

    inspector: Any = None
    limit: float = inf
    outer: "RowCount | None" = None  # of the call that made this one
    n_sent: int = 0
    announced: bool = False
    warned: bool = False


# The count of the call that runs in this thread.
_current: ContextVar[RowCount | None] = ContextVar("rows", default=None)


@contextmanager
def counting_rows(inspector: Any = None) -> Iterator[RowCount]:
    """Count the rows of a call of an inspector, unless it is part of its own call."""
    outer = _current.get()
    if outer is not None and outer.inspector is inspector:
        yield outer
        return
    limit = getattr(inspector, "max_rows", None)
    count = RowCount(inspector, inf if limit is None else limit, outer)
    token = _current.set(count)
    try:
        yield count
    finally:
        _current.reset(token)


def ask_model(function: Callable[[Any], T], X: Any, n_rows: int) -> T:
    """What a method of the model returns for a number of rows, which are counted."""
    counts = _running()
    for count in counts:
        if count.n_sent + n_rows > count.limit:
            raise ValueError(
                f"max_rows={count.limit} is reached: {count.n_sent} rows were sent to "
                f"the model, and its next call has {n_rows}. Pass fewer rows, ask for "
                "less, or allow more rows."
            )
    token = _current.set(None)  # the model may be made of models
    try:
        return function(X)
    finally:
        _current.reset(token)
        add_rows(n_rows)


def add_rows(n_rows: int) -> None:
    """Count rows that were sent to the model, by this process or a worker."""
    for count in _running():
        count.n_sent += n_rows


def rows_left() -> float:
    """Number of rows that may still be sent to the model."""
    return min((count.limit - count.n_sent for count in _running()), default=inf)


def rows_sent() -> int:
    """Number of rows that the innermost running call has sent."""
    return next((count.n_sent for count in _running()), 0)


def needs_one_process() -> bool:
    """Whether rows have to be counted one call of the model after the other.

    Workers do not know of the limit; announced rows are within it.
    """
    counts = _running()
    return bool(counts) and not counts[0].announced and rows_left() < inf


def announce_rows(
    n_rows: float,
    parts: dict[str, int],
    advice: str,
    *,
    power: int = 1,
    seconds: Callable[[], float] = float,
) -> None:
    """Refuse more rows than are left; warn before very many, or minutes.

    Parameters
    ----------
    n_rows : int
        Number of rows that are about to be sent to the model, or an upper bound.
    parts : dict of str to int
        Numbers by name, whose product is `n_rows`, or nearly.
    advice : str
        How to send fewer.
    power : int, default=1
        Power of the first part that the number grows with.
    seconds : callable, default=float
        Returns the time that they take, zero if it is not known; called where there is
        no limit.
    """
    counts = _running()
    name, n_units = next(iter(parts.items()))
    product = " x ".join(f"{number:.0f} {part}" for part, number in parts.items())
    for count in counts:
        count.announced = True
        left = count.limit - count.n_sent
        if n_rows > left:
            possible = int(n_units * (left / n_rows) ** (1 / power) + 1e-9)
            raise ValueError(
                f"max_rows={count.limit} is less than the {count.n_sent + n_rows:.0f} "
                f"rows that go to the model ({product}): {possible} of the {n_units} "
                f"{name} are possible. {advice}."
            )
    duration = 0.0 if cost_is_said() or rows_left() < inf else seconds()
    if cost_is_said() or not (n_rows > _MANY_ROWS or duration > COSTLY_SECONDS):
        return
    for count in counts:
        count.warned = True
    time = f", which takes about {duration_in_words(duration)}" if duration else ""
    sent = (
        f"up to {n_rows:.0f} rows go to the model," if n_rows else "trees are read at"
    )
    warn(f"{advice}: {sent} {product}{time}.", CostlyInspectionWarning)


def cost_is_said() -> bool:
    """Whether a warning has said that the call takes long."""
    return any(count.warned for count in _running())


def duration_in_words(seconds: float) -> str:
    """A duration in its largest unit, rounded."""
    for unit, size in (("days", 86400), ("hours", 3600), ("minutes", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{max(seconds, 1):.0f} seconds"


def _running() -> list[RowCount]:
    """Counts of the running calls, the innermost first."""
    counts, count = [], _current.get()
    while count is not None:
        counts.append(count)
        count = count.outer
    return counts
