"""Displays of effects."""
