"""Contents of an inspection report: checks, and sections with figures and tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np


class NotApplicable(Exception):
    """A section or a check does not apply; the message says why, in one sentence."""


@dataclass(frozen=True)
class Check:
    """Result of a check of a model and its explanations.

    Parameters
    ----------
    name : str
        Name, as in the parameter `checks` of the report.
    title : str
        The question that the check answers.
    verdict : {"passed", "warned", "skipped"}
        "skipped" if the check does not apply.
    statistic : float or None
        The number that is compared with `threshold`; None if skipped.
    threshold : float or None
        Beyond it the check warns.
    finding : str
        The result in one sentence, or why the check was skipped.
    advice : str
        The next step where the check warns.

    Examples
    --------
    >>> from sklearn_interpret.report import Check
    >>> check = Check("imbalance", "Are classes rare?", "warned", 0.01, 0.05, "1 %", "")
    >>> check.verdict
    'warned'
    """

    name: str
    title: str
    verdict: str
    statistic: float | None
    threshold: float | None
    finding: str
    advice: str


@dataclass(frozen=True)
class Figure:
    """A figure of a report.

    Parameters
    ----------
    svg : str
        The drawing, for a page of HTML.
    caption : str
        The sentence below it; also its text alternative.

    Examples
    --------
    >>> from sklearn_interpret.report import Figure
    >>> Figure("<svg></svg>", "Nothing").caption
    'Nothing'
    """

    svg: str
    caption: str


@dataclass(frozen=True)
class Table:
    """A table of a report.

    Parameters
    ----------
    columns : dict of str to sequence
        Cells of each column, texts or numbers; the first column names the rows.
    caption : str
        The sentence above it.

    Examples
    --------
    >>> from sklearn_interpret.report import Table
    >>> Table({"feature": ["age"], "missing": [0]}, "Columns").caption
    'Columns'
    """

    columns: dict[str, Sequence[Any]]
    caption: str


@dataclass
class Section:
    """A section of a report.

    Parameters
    ----------
    name : str
        Name, as in the parameter `sections` of the report.
    title : str
        Heading.
    summary : str
        The result in one sentence, or why the section does not apply.
    parts : sequence of Figure and Table, default=()
        Its content, in order.
    notes : sequence of str, default=()
        Warnings of the inspectors.
    code : str, default=""
        How to compute the same.

    Examples
    --------
    >>> from sklearn_interpret.report import Section
    >>> Section("importance", "What matters", "Age matters most.").parts
    ()
    """

    name: str
    title: str
    summary: str
    parts: Sequence[Figure | Table] = ()
    notes: Sequence[str] = ()
    code: str = ""


class SectionResult(NamedTuple):
    """Result of a function of a section, as in `Section`."""

    summary: str
    parts: Sequence[Figure | Table] = ()
    code: str = ""


class CheckResult(NamedTuple):
    """Result of a function of a check, as in `Check`."""

    statistic: float
    threshold: float
    warns: bool | np.bool_
    finding: str
    advice: str


class Titled(Protocol):
    """A function of an `Inspection`, with a title and the names of its needs."""

    __name__: str
    title: Any
    needs: list[str]

    def __call__(self, inspection: Any, /) -> Any: ...


def titled(title: Any, needs: str = "") -> Callable[[Callable[..., Any]], Titled]:
    """Decorator that gives a section or a check its title and its needs.

    `needs` are conditions of `Inspection.require`, split at spaces: the function is
    called if all of them hold. It returns a `SectionResult` or a `CheckResult`.
    """

    def decorate(function: Any) -> Titled:
        function.title, function.needs = title, needs.split()
        return function

    return decorate


def join_names(names: list[str], max_names: int = 3) -> str:
    """Names as a list in words."""
    names = [str(name) for name in names]
    if len(names) > max_names:
        names = [*names[:max_names], f"{len(names) - max_names} more"]
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
