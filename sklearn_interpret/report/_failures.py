"""Where the model fails: the section of a report, and its check."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sklearn_interpret._model.rows.number_format import number_text
from sklearn_interpret.diagnosis import ErrorSlicesDisplay, SliceLossDisplay
from sklearn_interpret.report._page import drawn
from sklearn_interpret.report._results import CheckResult, SectionResult, Table, titled

if TYPE_CHECKING:
    from sklearn_interpret.report._inspection import Inspection

# A slice counts as worse with a smaller adjusted p-value, and at least this multiple of
# the loss elsewhere (errors twice as large). Models of real tables are often worse at
# the edges: benchmarks/bench_report_checks.py counts 3 false alarms in 100 tables, and
# 7 with a multiple of 3.
_PVALUE = 0.01
_LOSS_RATIO = 4.0


@titled("Where it fails", "table targets")
def failures(inspection: Inspection) -> SectionResult:
    """Slices of the rows with a larger loss than elsewhere."""
    inspector = inspection.error_slices
    loss = "log loss" if inspection.classifies else "squared error"
    worst = inspector.slices_[0]
    bars = ErrorSlicesDisplay.from_estimator(inspector)
    figures: list[Any] = [drawn(bars, f"Slices with a large {loss}")]
    summary = f"No slice was found with a {loss} larger than chance explains."
    if worst.adjusted_pvalue < inspector.alpha:
        around = SliceLossDisplay.from_estimator(inspector)
        figures.append(drawn(around, f"The {loss} around the first slice"))
        means = map(number_text, (worst.mean_loss, worst.mean_loss_elsewhere))
        summary = (
            f"Where {worst} ({worst.share:.1%} of the rows), the mean {loss} is "
            f"{', elsewhere '.join(means)} (adjusted p = {worst.adjusted_pvalue:.2g})."
        )
    names = "share", "mean_loss", "mean_loss_elsewhere", "low", "high"
    columns: dict[str, Any] = {"slice": list(map(str, inspector.slices_))}
    for name in (*names, "adjusted_pvalue"):
        title = name.replace("_", " ")
        columns[title] = [getattr(entry, name) for entry in inspector.slices_]
    caption = (
        "Mean held-out losses in the half of the rows that did not find the slice; "
        "low, high: 95 % interval of the difference of the means"
    )
    code = "ErrorSlicesDisplay.from_estimator(ErrorSlices(model).fit(X, y))"
    return SectionResult(summary, [*figures, Table(columns, caption)], code)


@titled("Is the model worse in a part of the rows?", "table targets")
def check_slices(inspection: Inspection) -> CheckResult:
    """Loss of the slice with the smallest p-value, relative to the loss elsewhere."""
    inspector = inspection.error_slices
    worst = inspector.slices_[0]
    ratio = worst.mean_loss / max(worst.mean_loss_elsewhere, np.finfo(float).tiny)
    finding = (
        f"Where {worst} ({worst.share:.1%} of the rows), the held-out loss is "
        f"{number_text(ratio)} times the loss elsewhere (adjusted p = "
        f"{worst.adjusted_pvalue:.2g})."
    )
    advice = (
        "Look at these rows: their targets may be noisy, the training rows may be too "
        "few, or a feature may be missing."
    )
    warns = worst.adjusted_pvalue < _PVALUE and ratio > _LOSS_RATIO
    return CheckResult(ratio, _LOSS_RATIO, warns, finding, advice)
