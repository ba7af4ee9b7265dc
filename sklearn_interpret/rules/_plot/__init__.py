"""Displays of rules."""
