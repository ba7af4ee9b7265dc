"""Weighted statistics, grids, losses and null distributions."""
