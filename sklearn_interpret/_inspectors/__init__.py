"""Bases of inspectors that several families share."""
