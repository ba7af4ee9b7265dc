"""Pairs of features as groups of bars."""

from dataclasses import dataclass

import numpy as np

from sklearn_interpret._plotting.bars import name_rows, ranked
from sklearn_interpret._plotting.labels import JOIN


@dataclass(frozen=True)
class Group:
    """Lines of one kind, the strongest first."""

    title: str  # what they are
    names: list  # one name, or those of a pair
    values: np.ndarray  # (n_lines,): strengths
    spreads: np.ndarray  # (n_lines,): standard deviations, NaN where unknown
    n_others: int  # number of those that share the last line, which is their mean

    def __len__(self):
        return len(self.names)

    @property
    def is_spread(self):
        """Whether there are standard deviations."""
        return bool(np.isfinite(self.spreads).any())


def known_pairs(pairwise):
    """Positions (n_pairs, 2) of the pairs j < k that have a strength."""
    upper = np.triu(np.ones_like(pairwise, dtype=bool), 1)
    return np.argwhere(upper & ~np.isnan(pairwise))


def make_group(title, names, values, spreads, max_entries):
    """The strongest of them, and one line for the mean of the others."""
    shown, rest = ranked(values, max_entries)
    names = [names[place] for place in shown]
    kept = values[shown]
    spreads = np.full(len(values), np.nan) if spreads is None else spreads
    spreads = spreads[shown]
    if len(rest):
        names.append((f"mean of {len(rest)} others",))
        kept = np.append(kept, values[rest].mean())
        spreads = np.append(spreads, np.nan)
    return Group(title, names, kept, spreads, len(rest))


def name_lines(ax, groups):
    """Name the lines of all groups, one left free in between; the places of each."""
    names = []
    for group in groups:
        names += [JOIN.join(name) for name in group.names] + [""]
    name_rows(ax, names[:-1])
    n_lines = len(names) - 1
    starts = np.cumsum([0, *(len(group) + 1 for group in groups)])
    return [
        n_lines - 1.0 - start - np.arange(len(group))
        for start, group in zip(starts, groups, strict=False)
    ]
