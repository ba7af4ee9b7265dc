"""Sections of the report."""

SECTIONS = {}
