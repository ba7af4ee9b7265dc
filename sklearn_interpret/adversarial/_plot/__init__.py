"""Displays of attacks."""
