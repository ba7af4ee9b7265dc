"""The inspection report: one page that shows, checks and advises."""

from sklearn_interpret.report._inspection_report import InspectionReport
from sklearn_interpret.report._results import Check, Figure, Section, Table
from sklearn_interpret.report._skore import SkoreCheck

__all__ = ["Check", "Figure", "InspectionReport", "Section", "SkoreCheck", "Table"]
