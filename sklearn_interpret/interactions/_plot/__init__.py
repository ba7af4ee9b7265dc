"""Displays of interactions."""
