"""Display of prototypes and criticisms."""

from sklearn_interpret.prototypes._plot._prototype import PrototypeDisplay

__all__ = ["PrototypeDisplay"]
