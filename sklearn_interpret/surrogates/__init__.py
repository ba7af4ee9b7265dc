"""Simple models that stand in for a complex one."""

from sklearn_interpret.surrogates._global import GlobalSurrogate

__all__ = ["GlobalSurrogate"]
