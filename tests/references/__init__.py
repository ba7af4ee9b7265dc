"""Slow, literal implementations of the definitions, for tests alone."""
