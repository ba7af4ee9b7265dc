"""Simple models that stand in for a complex one."""

from sklearn_interpret.surrogates._global import GlobalSurrogate
from sklearn_interpret.surrogates._plot import GlobalSurrogateDisplay

__all__ = ["GlobalSurrogate", "GlobalSurrogateDisplay"]
