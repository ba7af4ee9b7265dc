"""Searches for rows: targets of the answer, and constraints on changes."""
