"""Displays of decompositions."""
