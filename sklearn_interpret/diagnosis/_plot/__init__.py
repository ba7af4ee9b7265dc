"""Displays of slices and changes."""
