"""Kernels and distances between rows, and the rows that represent the others."""
