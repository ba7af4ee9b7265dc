"""Which training rows made the model what it is."""

from sklearn_interpret.influence._deletion_diagnostics import DeletionDiagnostics

__all__ = ["DeletionDiagnostics"]
