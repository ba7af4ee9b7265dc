"""Displays of additive models."""
