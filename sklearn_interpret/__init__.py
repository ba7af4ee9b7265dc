"""Model inspection estimators for scikit-learn."""

from sklearn_interpret._version import __version__

__all__ = ["__version__"]
