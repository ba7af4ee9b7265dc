"""Looks that all displays share."""
