"""Displays of surrogates."""
