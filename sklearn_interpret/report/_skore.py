"""The checks of a report as checks of skore's reports."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any, ClassVar

from sklearn.base import clone
from sklearn.frozen import FrozenEstimator

from sklearn_interpret.report._checks import CHECKS
from sklearn_interpret.report._inspection_report import InspectionReport


@dataclass(frozen=True)
class SkoreCheck:
    """A check that skore's estimator and cross-validation reports can run.

    It has skore's interface for checks of one's own, `skore.Check`.

    Parameters
    ----------
    name : str
        Name of the check in `InspectionReport`.
    random_state : int, default=0
        Draws what the check draws.

    Examples
    --------
    >>> from sklearn_interpret.report import SkoreCheck
    >>> checks = [SkoreCheck(name) for name in ("leakage", "companions")]
    >>> checks[0].code, checks[0].severity
    ('SKI-leakage', 'tip')

    With a report of skore: ``report.checks.add(checks)``.
    """

    name: str
    random_state: int = 0

    docs_url: ClassVar[str | None] = None
    report_types: ClassVar[list[str]] = ["estimator", "cross-validation"]
    severity: ClassVar[str] = "tip"
    slow: ClassVar[bool] = True

    @property
    def code(self) -> str:
        """Identifier, for skore's `ignore`."""
        return f"SKI-{self.name}"

    @property
    def title(self) -> str:
        """The question that the check answers."""
        return CHECKS[self.name].title

    def check_function(self, report: Any) -> str | None:
        """Return the finding and the advice of a check that warns, else None.

        Parameters
        ----------
        report : skore.EstimatorReport or skore.CrossValidationReport
            The report. Of an estimator's, the test rows are inspected.

        Returns
        -------
        str or None
            The text that skore shows.

        Raises
        ------
        skore.CheckNotApplicable
            If the check does not apply.
        """
        if hasattr(report, "split_indices"):
            model, cv = clone(report.estimator), list(report.split_indices)
            rows = report.X, report.y
        else:
            model, cv = FrozenEstimator(report.estimator_), None
            rows = report.X_test, report.y_test
        inspected = InspectionReport(
            model,
            cv=cv,
            sections=[],
            checks=[self.name],
            random_state=self.random_state,
        ).fit(*rows)
        (check,) = inspected.checks_
        if check.verdict == "skipped":
            raise import_module("skore").CheckNotApplicable(check.finding)
        return f"{check.finding} {check.advice}" if check.verdict == "warned" else None
