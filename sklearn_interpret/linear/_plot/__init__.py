"""Displays of linear models."""
