"""Progress of a call: its loops count their items; the share done is reported.

Loops in methods go over `with_progress(items)`. `shows_progress` decorates a method
whose progress is printed, as its parameter `verbose` says, and reported to callbacks.
"""

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import wraps
from time import monotonic
from typing import Any, TypeVar, cast

from sklearn_interpret._model._sklearn_compat import (
    callback_task,
    has_callbacks,
    report_percent,
    root_callback_context,
    warn,
    with_callbacks,
)
from sklearn_interpret._model.row_limit import (
    COSTLY_SECONDS,
    cost_is_said,
    counting_rows,
    duration_in_words,
)
from sklearn_interpret.exceptions import CostlyInspectionWarning

T = TypeVar("T")
_Method = TypeVar("_Method", bound=Callable[..., Any])

# Progress of the call that runs in this thread; workers have none.
_current: ContextVar["_Progress | None"] = ContextVar("progress", default=None)

# Callbacks see each percent as a task, so that progress bars know the share done.
PERCENTS = 100
# Seconds between printed lines.
_SECONDS = 1.0
# Calls of more seconds say so in one line.
_LONG = 5.0
# Share of these times that passes before the first estimate: the first items may take
# longer than others.
_SHARE_OBSERVED = 0.2


def with_progress(items: Any, total: int | None = None) -> Any:
    """The items of a loop; where progress is shown, each item that ends is counted.

    There are `total` of them, by default len(items).
    """
    progress = _current.get()
    if progress is None:
        return items
    return progress.count(items, len(items) if total is None else total)


def phases(number: int) -> Iterator[int]:
    """An iterator whose `next` begins each of the phases of a call in turn."""
    return iter(with_progress(range(number)))


@dataclass(eq=False)
class _Loop:
    """A running loop: the number of its items, and how many of them are done."""

    n_items: int
    n_done: int = 0


class _Progress:
    """The share done of a call: nested loops count as parts of the outer one's item."""

    def __init__(self, estimator: Any, call: str, context: Any) -> None:
        self.estimator, self._context = estimator, context
        self._name = f"{type(estimator).__name__}.{call}"
        self._verbose = getattr(estimator, "verbose", 0)
        self._loops: list[_Loop] = []  # the outermost first
        self._percent, self._unsaid = 0, [_LONG, COSTLY_SECONDS]
        self._start = self._printed = monotonic()
        self._print("0 % done")

    def count(self, items: Iterable[T], total: int) -> Iterator[T]:
        """The items of a loop; a second one within an item shows once it is further."""
        loop, depth = _Loop(max(total, 1)), len(self._loops)
        self._loops.append(loop)
        try:
            for item in items:
                yield item
                loop.n_done += 1
                self._update()
        finally:
            if loop in self._loops:  # with all loops inside that were not finished
                del self._loops[depth:]

    def _update(self) -> None:
        """Report the share done, if it has reached another percent."""
        done, item_share = 0.0, 1.0
        for loop in self._loops:
            item_share /= loop.n_items
            done += loop.n_done * item_share
        percent = int(PERCENTS * done)
        if not self._percent < percent < PERCENTS:  # the end reports the last one
            return
        self._report_until(percent)
        now = monotonic()
        if self._verbose is None:
            self._say_if_long(now - self._start, done)
        if now - self._printed >= _SECONDS:
            self._printed = now
            left = duration_in_words((now - self._start) * (1 - done) / done)
            self._print(f"{percent} % done, {left} left")

    def end(self) -> None:
        """Report what is left, and the time that the call took."""
        self._report_until(PERCENTS)
        seconds = monotonic() - self._start
        self._print(f"100 % done in {duration_in_words(seconds)}")

    def _report_until(self, percent: int) -> None:
        if has_callbacks(self.estimator):
            for _ in range(self._percent, percent):
                report_percent(self._context, self.estimator)
        self._percent = percent

    def _say_if_long(self, seconds: float, done: float) -> None:
        """Say once that the call takes long, and warn once that it is costly."""
        while self._unsaid and seconds > _SHARE_OBSERVED * self._unsaid[0]:
            if cost_is_said() or seconds / done < self._unsaid[0]:
                return
            left = duration_in_words(seconds * (1 - done) / done)
            if self._unsaid.pop(0) == _LONG:
                text = f"[{self._name}] {self._percent} % done, about {left} left"
                print(f"{text} (verbose=0 leaves this out)", file=sys.stderr)  # noqa: T201
            else:
                warn(
                    f"Allow about {left} for the rest of {self._name}: fewer rows or "
                    "features, a smaller budget, or more workers (n_jobs) take less.",
                    CostlyInspectionWarning,
                )

    def _print(self, text: str) -> None:
        if self._verbose:
            print(f"[{self._name}] {text}", flush=True)  # noqa: T201


@contextmanager
def progress_of(estimator: Any, call: str, context: Any = None) -> Iterator[None]:
    """Print the progress of a call as `verbose` says; report it to the callbacks.

    Rows that the call sends to the model are counted.
    """
    if not _is_watched(estimator):
        with counting_rows(estimator):
            yield
        return
    progress = _Progress(estimator, call, context)
    token = _current.set(progress)
    try:
        with counting_rows(estimator):
            yield
    finally:
        _current.reset(token)
    progress.end()


def shows_progress(method: _Method) -> _Method:
    """Decorate a method of an estimator to show its progress."""
    name = method.__name__

    @with_callbacks
    def shown(self: Any, *args: Any, **kwargs: Any) -> Any:
        context = root_callback_context(self, PERCENTS, name)
        with callback_task(context, self), progress_of(self, name, context):
            return method(self, *args, **kwargs)

    @wraps(method)
    def shown_if_watched(self: Any, *args: Any, **kwargs: Any) -> Any:
        if has_callbacks(self) and _is_watched(self):
            return shown(self, *args, **kwargs)
        with progress_of(self, name):
            return method(self, *args, **kwargs)

    return cast(_Method, shown_if_watched)


def _is_watched(estimator: Any) -> bool:
    """Whether to show progress of an estimator, unless it is part of its own call."""
    progress = _current.get()
    if progress is not None and progress.estimator is estimator:
        return False
    verbose = getattr(estimator, "verbose", 0)
    if verbose is None and progress is None:
        return True
    return bool(verbose) or has_callbacks(estimator)
