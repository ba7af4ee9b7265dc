"""Search for the smallest set of words whose removal changes an answer, and proofs.

:func:`smallest_removal` searches best-first, and asks any model (Martens & Provost,
2014). Where the model is linear in the counts of words, :func:`linear_hint` gives good
sets to begin with, and a lower bound of the size.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

# Sets of words, bool (m, n_words).
_Sets = NDArray[np.bool_]
# For each set the margin of the answer without it, and whether it satisfies the target.
_Replies = Iterable[tuple[float, bool]]

# Number of tangents or chords that bound the square root: chords are off by 1/256 at
# most, near zero.
_N_LINES = 64
# Relative rounding error of a sum, in units of the sizes of its terms.
_ROUNDING = 1e-9


def smallest_removal(
    n_words: int,
    max_words: int,
    n_rounds: int,
    n_sets: int,
    hints: Sequence[_Sets] = (),
    bound: int = 1,
) -> Generator[_Sets, _Replies, RemovalSearch]:
    """Best-first search for the smallest set (Martens & Provost 2014, SEDC).

    A generator: it yields sets, and the caller sends the replies to them. It returns a
    `RemovalSearch`.

    Parameters
    ----------
    n_words : int
        Number of words.
    max_words : int
        Largest number of words that may be removed.
    n_rounds : int
        Largest number of sets that are extended.
    n_sets : int
        Largest number of sets evaluated to prove that no smaller set suffices.
    hints : sequence of ndarray (m, n_words), default=()
        Sets to begin with.
    bound : int, default=1
        Smaller sets are known not to suffice.
    """
    search = RemovalSearch(n_words, min(max_words, n_words), bound)
    for sets in hints:
        yield from search.ask(sets)
    if not search.proved:
        margins = yield from search.ask(np.eye(n_words, dtype=bool))
        search.bound = max(search.bound, min(2, search.size))
    if not search.proved:
        # If effects are additive, the words with the largest effects suffice.
        rank = np.empty(n_words, dtype=int)
        rank[np.argsort(-margins, kind="stable")] = np.arange(n_words)
        yield from search.ask(rank <= np.arange(search.max_words)[:, None])
        yield from search.restore_words()
    for _ in range(n_rounds):
        extended = search.next_sets()
        if search.proved or extended is None:
            break
        yield from search.ask(extended)
        yield from search.restore_words()
    yield from search.prove(n_sets)
    return search


@dataclass
class RemovalSearch:
    """State of the search: the best set, a lower bound and known margins.

    Parameters
    ----------
    n_words : int
        Number of words.
    max_words : int
        Largest number of words that may be removed.
    bound : int
        Smaller sets do not suffice.

    Attributes
    ----------
    best : ndarray of shape (n_words,), bool
        The smallest set found, None before there is one.
    """

    n_words: int
    max_words: int
    bound: int
    best: NDArray[np.bool_] | None = None
    # The order of sets that suffice, of the best one: its size, then minus its margin.
    _best_rank: tuple[float, float] = (np.inf, 0.0)
    # Heap of the sets that do not suffice: minus the margin, a number that decides
    # between equal margins, and the set.
    _open: list[tuple[float, int, NDArray[np.bool_]]] = field(default_factory=list)
    _margins: dict[bytes, float] = field(default_factory=dict)  # by set

    @property
    def size(self) -> int:
        """Size of the smallest set found; one more than allowed before there is one."""
        return int(min(self._best_rank[0], self.max_words + 1))

    @property
    def proved(self) -> bool:
        """Whether no smaller set suffices, or no set at all."""
        return self.bound >= self.size

    def ask(self, sets: _Sets) -> Generator[_Sets, _Replies, NDArray[np.float64]]:
        """Yield the new ones of `sets`; return the margins of all sets."""
        keys = [row.tobytes() for row in np.packbits(sets, axis=1)]
        fresh = [index for index, key in enumerate(keys) if key not in self._margins]
        if fresh:
            replies = yield sets[fresh]
            for index, (margin, suffices) in zip(fresh, replies, strict=True):
                self._margins[keys[index]] = margin
                # Smaller sets first; of equal sizes, the set of the largest margin.
                rank = sets[index].sum(), -margin
                if not suffices:
                    heappush(self._open, (-margin, len(self._margins), sets[index]))
                elif rank < self._best_rank:
                    self.best, self._best_rank = sets[index], rank
        return np.array([self._margins[key] for key in keys])

    def next_sets(self) -> _Sets | None:
        """The open set of best margin plus each word, if below the best size."""
        while self._open:
            removed = heappop(self._open)[-1]
            if removed.sum() + 1 < self.size:
                return removed | np.eye(self.n_words, dtype=bool)[~removed]
        return None

    def restore_words(self) -> Generator[_Sets, _Replies, None]:
        """Return single words of the best set to the text as long as that suffices."""
        size = None
        while self.best is not None and not self.proved and size != self.size:
            size = self.size
            yield from self.ask(
                self.best & ~np.eye(self.n_words, dtype=bool)[self.best]
            )

    def prove(self, n_sets: int) -> Generator[_Sets, _Replies, None]:
        """Evaluate all smaller sets, size by size, as long as `n_sets` allows."""
        while not self.proved:
            n_sets -= comb(self.n_words, self.bound)
            if n_sets < 0:
                return
            words = list(combinations(range(self.n_words), self.bound))
            sets = np.zeros((len(words), self.n_words), dtype=bool)
            np.put_along_axis(sets, np.array(words), True, axis=1)
            yield from self.ask(sets)
            self.bound = min(self.bound + 1, self.size)


def linear_hint(
    effects: NDArray[np.float64],
    sizes: NDArray[np.float64],
    total: float,
    offset: float,
    norm: str | None,
    max_words: int,
) -> tuple[NDArray[np.bool_], int]:
    """Sets of words without which a linear function is nonnegative, and a bound.

    Without a set S of words the function has the sign of f(S) = A - sum_S a + b N(S).
    N(S) is the norm of the other words: 1 without a norm, 1 - sum_S q ("l1"), or the
    root of this ("l2"). For "l2", f is bounded by functions that are linear in sum_S q.

    Parameters
    ----------
    effects : ndarray of shape (n_words,)
        Effect of each word: a.
    sizes : ndarray of shape (n_words,)
        Contribution of each word to the norm or its square, which is one: q.
    total : float
        Sum of the effects: A.
    offset : float
        Value of the function without words: b.
    norm : {None, "l1", "l2"}
        Normalisation of the counts.
    max_words : int
        Size of the largest set.

    Returns
    -------
    sets : ndarray of shape (n_sets, n_words), bool
        Candidates of the sizes around the smallest for which f is nonnegative.
    bound : int
        For smaller sets f is proved to be negative.
    """
    slopes, constants = _bounding_lines(sizes, offset, norm)
    # By line: what the removal of each word adds to the bound, the best word first.
    gains = -effects - offset * slopes[:, None] * sizes
    order = np.argsort(-gains, axis=1, kind="stable")
    gains = np.maximum(np.take_along_axis(gains, order, axis=1), 0)
    bounds = total + offset * (constants + slopes)[:, None] + np.cumsum(gains, axis=1)
    # Each tangent bounds f. Of the chords, only the one on the right segment does; the
    # segment is unknown, so the largest bound is taken.
    bound_of_size = bounds.min(axis=0) if offset > 0 else bounds.max(axis=0)
    terms = abs(total) + np.abs(effects).sum() + abs(offset)
    possible = np.flatnonzero(bound_of_size[:max_words] >= -_ROUNDING * terms)
    bound = int(possible[0]) + 1 if len(possible) else max_words + 1
    # The value of f itself at these sets, by line and size.
    remaining = np.maximum(1 - np.cumsum(sizes[order], axis=1), 0)
    norms = remaining ** {None: 0.0, "l1": 1.0, "l2": 0.5}[norm]
    values = total - np.cumsum(effects[order], axis=1) + offset * norms
    best_line = values.argmax(axis=0)[:max_words]
    suffices = np.flatnonzero(values.max(axis=0)[:max_words] >= 0)
    size = suffices[0] + 1 if len(suffices) else max_words
    tried_sizes = np.arange(max(size - 1, 1), min(size + 1, max_words) + 1)
    sets = np.zeros((len(tried_sizes), len(effects)), dtype=bool)
    for position, tried in enumerate(tried_sizes):
        sets[position, order[best_line[tried - 1], :tried]] = True
    return sets, bound


def _bounding_lines(
    sizes: NDArray[np.float64], offset: float, norm: str | None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Slopes and constants of lines in 1 - sum_S q that bound b N(S) from above."""
    if norm is None:
        return np.zeros(1), np.ones(1)
    if norm == "l1":
        return np.ones(1), np.zeros(1)
    least = np.sqrt(max(0.0, 1 - sizes.sum()))
    roots = np.linspace(least, 1, _N_LINES + 1)
    # Ends of tangents (there is none at zero), which are equal, or ends of chords.
    low, high = roots[1:] if offset > 0 else roots[:-1], roots[1:]
    # The line through the points (low^2, low) and (high^2, high) of the root.
    return 1 / (low + high), low * high / (low + high)
