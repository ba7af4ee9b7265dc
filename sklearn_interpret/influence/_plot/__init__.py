"""Displays of influence."""
