"""Displays of effects over time."""
