"""Displays of Shapley values."""
